// Copyright The pldc authors. SPDX-License-Identifier: Apache-2.0
//
// What the cores of one launch tell each other: messages, events, barriers. Included by runtime.cpp only.
#pragma once
#include "pld/runtime_state.h"
#include "pld/runtime_watch.h"

namespace pld {
namespace sim {

Message* new_message(int64_t rows, int64_t cols, int32_t element_bytes) {
  auto* m = new Message{rows, cols, element_bytes, nullptr};
  m->data = new unsigned char[static_cast<size_t>(rows * cols * element_bytes) + 1];
  return m;
}

void delete_message(Message* m) {
  if (m == nullptr) return;
  delete[] m->data;
  delete m;
}

namespace {
Pipes::Fifo& fifo(Pipes& p, int direction, int id, int lane) {
  for (auto& f : p.fifos) {
    if (f->direction == direction && f->id == id && f->lane == lane) return *f;
  }
  p.fifos.push_back(Owned<Pipes::Fifo>(new Pipes::Fifo{direction, id, lane, {}, {}}));
  return *p.fifos.back();
}

Pipes::Event& event(Pipes& p, int id) {
  for (auto& e : p.events) {
    if (e->id == id) return *e;
  }
  p.events.push_back(Owned<Pipes::Event>(new Pipes::Event{id, 0, {}}));
  return *p.events.back();
}

Pipes& block_pipes() {
  if (context.pipes == nullptr) fail("a cross-core operation in a task that has one core only");
  return *context.pipes;
}

// A core by itself, which does the work of all cores before ExpandMixedKernel, hands data to itself.
bool alone(const Pipes& p) { return p.lanes == 0; }

void let_go_waiters(Machine& m, const void* object) {
  for (size_t i = 0; i < m.waiting.size();) {
    Agent* a = m.waiting[i];
    if ((a->wait == Agent::Wait::message || a->wait == Agent::Wait::event) && a->object == object) {
      m.let_go(*a);
    } else {
      ++i;
    }
  }
}
}  // namespace

void push(int direction, int id, int lane, Message* message) {
  Pipes& p = block_pipes();
  Machine& m = *context.agent->machine;
  visible(m);
  const Lock lock(m.mutex);
  Pipes::Fifo& f = fifo(p, direction, id, lane);
  f.messages.push_back(Owned<Message, delete_message>(message));
  if (m.races != nullptr) {
    f.sent.push_back({});
    m.races->release(context.agent->clock, f.sent.back());
  }
  let_go_waiters(m, &f);
}

const Message& pop(int direction, int id, int lane) {
  Pipes& p = block_pipes();
  Agent& a = *context.agent;
  Machine& m = *a.machine;
  Pipes::Fifo* f = nullptr;
  bool nothing = false;
  {
    const Lock lock(m.mutex);
    f = &fifo(p, direction, id, lane);
    nothing = f->messages.empty();
    a.object = f;
    a.number = direction * 64 + id;
  }
  if (nothing && alone(p))
    fail("takes from a pipe into which nothing was handed, in a task that has one core only");
  m.block(a, Agent::Wait::message, [&] { return !f->messages.empty(); });
  const Lock lock(m.mutex);
  running.popped = f->messages.pop_front();
  if (m.races != nullptr) {
    m.races->acquire(a.clock, f->sent.pop_front());
  }
  return *running.popped;
}

int lanes() {
  const Pipes& p = block_pipes();
  return alone(p) ? 1 : p.lanes;
}

// What a core by itself has handed over, it must have taken.
void check_taken(const Pipes& p) {
  for (size_t i = 0; alone(p) && i < p.fifos.size(); ++i) {
    if (!p.fifos[i]->messages.empty()) fail("hands data to another core, in a task that has one core only");
  }
}

void set_event(int id) {
  Pipes& p = block_pipes();
  Machine& m = *context.agent->machine;
  visible(m);
  const Lock lock(m.mutex);
  Pipes::Event& e = event(p, id);
  ++e.count;
  if (m.races != nullptr) m.races->release(context.agent->clock, e.set);
  let_go_waiters(m, &e);
}

void wait_event(int id) {
  Pipes& p = block_pipes();
  Agent& a = *context.agent;
  Machine& m = *a.machine;
  Pipes::Event* e = nullptr;
  {
    const Lock lock(m.mutex);
    e = &event(p, id);
    a.object = e;
    a.number = id;
  }
  for (;;) {  // several may be let go by one set
    bool taken = false;
    m.block(a, Agent::Wait::event, [&] { return e->count > 0; });
    {
      const Lock lock(m.mutex);
      if (e->count > 0) --e->count, taken = true;
      if (taken && m.races != nullptr) m.races->acquire(a.clock, e->set);
    }
    if (taken) return;
  }
}

void sync_all() {
  if (context.pipes == nullptr || context.pipes->launch == nullptr) return;
  Launch& l = *context.pipes->launch;
  Agent& a = *context.agent;
  Machine& m = *a.machine;
  int generation = 0;
  {
    const Lock lock(m.mutex);
    generation = l.generation;
    Clock& arrivals = l.arrivals[generation % 2];
    if (m.races != nullptr) {
      if (l.arrived == 0) arrivals = {};
      m.races->release(a.clock, arrivals);
    }
    a.object = &l;
    a.number = -1;
    if (++l.arrived == l.parties) {
      l.arrived = 0;
      ++l.generation;
      let_go_waiters(m, &l);
      if (m.races != nullptr) m.races->acquire(a.clock, arrivals);
      return;
    }
  }
  m.block(a, Agent::Wait::event, [&] { return l.generation != generation; });
  if (m.races == nullptr) return;
  const Lock lock(m.mutex);
  m.races->acquire(a.clock, l.arrivals[generation % 2]);
}

}  // namespace sim
}  // namespace pld
