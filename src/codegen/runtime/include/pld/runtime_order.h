// Copyright The pldc authors. SPDX-License-Identifier: Apache-2.0
//
// Bodies of Order. Included by watch.cpp only.
#pragma once
#include <cstdio>
#include <cstdlib>

#include "pld/runtime_fiber.h"
#include "pld/runtime_watch.h"

namespace pld {

struct Order::Strand {
  Strand() = default;
  Strand(Order* o, void* (*r)(void*), void* a)
      : order(o), run(r), argument(a), fiber([](void* self) { static_cast<Strand*>(self)->begin(); }, this) {}
  void begin() {
    run(argument);
    Lock lock(order->machine_.mutex);
    done = true;
    order->go(order->choose(), lock);
  }
  Order* order = nullptr;
  void* (*run)(void*) = nullptr;
  void* argument = nullptr;
  Fiber fiber;
  sim::Context context;
  Running running;
  bool (*test)(const void*) = nullptr;  // null: can go on
  const void* object = nullptr;
  uint64_t priority = 0;
  bool done = false;
};

Order::Order(Machine& machine, uint64_t seed) : machine_(machine), state_(seed), style_(Style(seed % 3)) {
  strands_.push_back(new Strand);
  current_ = strands_.back();
  current_->priority = draw();
}
Order::~Order() {
  for (Strand* s : strands_) delete s;
}

void Order::start(void* (*run)(void*), void* argument) {
  strands_.push_back(new Strand(this, run, argument));
  strands_.back()->priority = draw();
}

void Order::wait(Lock& lock, bool (*ready)(const void*), const void* object) {
  while (!ready(object)) {
    Strand& self = *current_;
    self.test = ready;
    self.object = object;
    go(choose(), lock);
    self.test = nullptr;
  }
}

void Order::step() {
  Lock lock(machine_.mutex);
  go(choose(), lock);
}

void Order::finish(Lock& lock) {
  wait(
      lock,
      [](const void* o) {
        const Order& order = *static_cast<const Order*>(o);
        for (size_t i = 1; i < order.strands_.size(); ++i) {
          if (!order.strands_[i]->done) return false;
        }
        return true;
      },
      this);
}

uint64_t Order::draw() {  // splitmix64 (Steele, Lea, Flood 2014)
  uint64_t z = state_ += 0x9e3779b97f4a7c15ULL;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
  return z ^ (z >> 31);
}

Order::Strand& Order::choose() {
  machine_.wake_satisfied();
  Array<Strand*>& ready = ready_;
  ready.clear();
  bool stays = false;
  for (Strand* s : strands_) {
    if (s->done || (s->test != nullptr && !s->test(s->object))) continue;
    ready.push_back(s);
    stays = stays || s == current_;
  }
  if (ready.empty()) {  // the count of the active strands is wrong
    std::fprintf(stderr, "error: the seeded schedule has nobody who can go on\n");
    std::abort();
  }
  if (style_ == Style::stretches && stays && draw() % 16 != 0) return *current_;
  if (style_ != Style::priorities) return *ready[draw() % ready.size()];
  if (draw() % 16 == 0) current_->priority = draw() % 1024;
  Strand* best = ready.front();
  for (Strand* s : ready) {
    if (s->priority > best->priority) best = s;
  }
  return *best;
}

void Order::go(Strand& to, Lock& lock) {
  if (&to == current_) return;
  Strand& from = *current_;
  from.context = sim::context;
  if (from.context.agent != nullptr) from.context.agent->context = &from.context;
  sim::context = to.context;
  if (to.context.agent != nullptr) to.context.agent->context = &sim::context;
  std::swap(from.running, running);
  std::swap(to.running, running);
  current_ = &to;
  lock.unlock();
  Fiber::change(from.fiber, to.fiber, from.done);
  lock.lock();
}

void visible(Machine& m) {
  if (m.order == nullptr) return;
  m.order->step();
  sim::check_stop();
}

}  // namespace pld
