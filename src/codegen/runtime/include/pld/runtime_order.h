// Copyright The pldc authors. SPDX-License-Identifier: Apache-2.0
//
// The seeded schedule: the host, the ranks and their cores as fibers of one thread. Wherever one could see what another
// did, a generator decides who goes on; one seed gives one order. Included by runtime.cpp only.
#pragma once
#include "pld/runtime_fiber.h"
#include "pld/runtime_state.h"

namespace pld {

class Order {
 public:
  Order(Machine& machine, uint64_t seed) : machine_(machine), state_(seed), style_(Style(seed % 3)) {
    strands_.push_back(std::make_unique<Strand>());
    current_ = strands_.back().get();
    current_->priority = draw();
  }

  // A new strand; it begins when it is chosen. With the machine's mutex held, or before anything runs.
  void start(std::function<void()> run) {
    strands_.push_back(std::make_unique<Strand>([this, run = std::move(run)] {
      run();
      std::unique_lock lock(machine_.mutex);
      Strand& self = *current_;
      self.done = true;
      go(choose(), lock);
    }));
    strands_.back()->priority = draw();
  }

  // What a condition variable does for a thread. `ready` is called with the mutex held.
  template <class F>
  void wait(std::unique_lock<std::mutex>& lock, F ready) {
    while (!ready()) {
      Strand& self = *current_;
      self.test = [](void* f) { return (*static_cast<F*>(f))(); };
      self.object = &ready;
      go(choose(), lock);
      self.test = nullptr;
    }
  }

  // Somebody else may go on here.
  void step() {
    std::unique_lock lock(machine_.mutex);
    go(choose(), lock);
  }

  // Runs all other strands to their ends.
  void finish(std::unique_lock<std::mutex>& lock) {
    wait(lock, [this] {
      for (const auto& s : strands_) {
        if (s.get() != current_host() && !s->done) return false;
      }
      return true;
    });
  }

  uint64_t draw() {  // splitmix64 (Steele, Lea, Flood 2014)
    uint64_t z = state_ += 0x9e3779b97f4a7c15ULL;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
  }

 private:
  // Which orders a seed prefers; each finds errors that the others seldom meet.
  enum class Style : uint8_t {
    even,        // anybody at every step
    stretches,   // one goes on for a while
    priorities,  // the same one first, until it falls back (Burckhardt et al., ASPLOS 2010)
  };

  struct Strand {
    Strand() = default;
    explicit Strand(std::function<void()> run) : fiber(std::move(run)) {}
    Fiber fiber;
    sim::Context context;
    Running running;
    bool (*test)(void*) = nullptr;  // null: can go on
    void* object = nullptr;
    uint64_t priority = 0;
    bool done = false;
  };

  const Strand* current_host() const { return strands_.front().get(); }

  Strand& choose() {
    machine_.wake_satisfied();
    std::vector<Strand*>& ready = ready_;
    ready.clear();
    bool stays = false;
    for (const auto& s : strands_) {
      if (s->done || (s->test != nullptr && !s->test(s->object))) continue;
      ready.push_back(s.get());
      stays = stays || s.get() == current_;
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

  void go(Strand& to, std::unique_lock<std::mutex>& lock) {
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

  Machine& machine_;
  uint64_t state_;
  Style style_;
  std::vector<std::unique_ptr<Strand>> strands_;  // the host first
  std::vector<Strand*> ready_;
  Strand* current_ = nullptr;
};

// Waits with the mutex held, as a thread or as a fiber.
template <class F>
void Machine::pause(std::unique_lock<std::mutex>& lock, std::condition_variable& wake, F ready) {
  if (order != nullptr) {
    order->wait(lock, ready);
  } else {
    wake.wait(lock, ready);
  }
}

}  // namespace pld
