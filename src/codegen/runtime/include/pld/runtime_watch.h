// Copyright The pldc authors. SPDX-License-Identifier: Apache-2.0
//
// What the running half of the runtime (runtime.cpp) sees of the watching half (watch.cpp): seeded schedules, races,
// traces. All of it belongs to the machine's mutex. Included by both.
#pragma once
#include "pld/runtime_state.h"

namespace pld {

// The seeded schedule: the host, the ranks and their cores as fibers of one thread. Wherever one could see what another
// did, a generator decides who goes on; one seed gives one order.
class Order {
 public:
  Order(Machine& machine, uint64_t seed);
  ~Order();
  Order(const Order&) = delete;
  Order& operator=(const Order&) = delete;

  // A new strand; it begins when it is chosen. With the mutex held, or before anything runs.
  void start(void* (*run)(void*), void* argument);
  // What a condition variable does for a thread. `ready` is called with the mutex held.
  void wait(Lock& lock, bool (*ready)(const void*), const void* object);
  template <class F>
  void wait(Lock& lock, const F& ready) {
    wait(
        lock, [](const void* f) -> bool { return (*static_cast<const F*>(f))(); }, &ready);
  }
  // Somebody else may go on here.
  void step();
  // Runs all other strands to their ends.
  void finish(Lock& lock);
  uint64_t draw();

 private:
  struct Strand;
  // Which orders a seed prefers; each finds errors that the others seldom meet.
  enum class Style : uint8_t {
    even,        // anybody at every step
    stretches,   // one goes on for a while
    priorities,  // the same one first, until it falls back (Burckhardt et al., ASPLOS 2010)
  };
  Strand& choose();
  void go(Strand& to, Lock& lock);

  Machine& machine_;
  uint64_t state_;
  Style style_;
  Array<Strand*> strands_;  // owned; the host first
  Array<Strand*> ready_;
  Strand* current_ = nullptr;
};

// --check=races: two accesses to one byte of a window, at least one of them a write and not both of them indivisible,
// have to be ordered by dispatches, launches, or a notify that a wait has seen.
class Races {
 public:
  explicit Races(const Machine& machine);
  ~Races();
  Races(const Races&) = delete;
  Races& operator=(const Races&) = delete;
  void clear();

  static constexpr int kHost = 0;
  static int worker(int64_t device) { return static_cast<int>(device) + 1; }
  // The clock of another core than the first of a launch; those of one device's launches follow each other.
  int core(int64_t device, int number);
  // What `thread` has done so far happens before what whoever acquires `into` does next.
  void release(int thread, Clock& into);
  void acquire(int thread, const Clock& from);
  void order(int before, int after);

  void notified(const int32_t* cell, const sim::Agent& agent, int32_t value, bool add);
  void waited(const int32_t* cell, const sim::Agent& agent, int32_t want, sim::Compare compare);
  void access(const Region& region, const sim::Access& access, const sim::Agent& agent);
  Text report() const;  // the races found, for people; empty if there are none

 private:
  struct State;
  State* state_;  // owned
};

// --trace: what every rank did when, in the JSON that Perfetto and Chrome's about:tracing read. The spans of a track nest.
class Trace {
 public:
  using Id = size_t;

  Trace();
  // `arguments`: members of a JSON object, without the braces.
  Id begin(int64_t device, int core, const char* category, Text name, Text arguments);
  void end(Id id);
  // Bytes between a rank and the windows of others.
  void moved(int64_t device, bool sent, int64_t bytes);
  Text json(const Text& program) const;

 private:
  struct Span {
    int64_t device;
    int core;
    const char* category;
    Text name;
    Text arguments;
    int64_t begin, end;  // ns; end -1: not over
  };
  struct Totals {
    int64_t sent = 0, received = 0;
  };
  struct Count {
    int64_t device;
    int64_t at;
    Totals totals;
  };
  int64_t start_;
  Array<Span> spans_;
  Array<Count> counts_;
  Sorted<int64_t, Totals> totals_;  // by device
};

// A span that ends with its block; does nothing without --trace. Not with the mutex held.
class Spanned {
 public:
  template <class Name, class Arguments>
  Spanned(Machine& m, int64_t device, int core, const char* category, Name name, Arguments arguments)
      : machine_(m.trace == nullptr ? nullptr : &m) {
    if (machine_ == nullptr) return;
    const Lock lock(m.mutex);
    id_ = m.trace->begin(device, core, category, name(), arguments());
  }
  ~Spanned() {
    if (machine_ == nullptr) return;
    const Lock lock(machine_->mutex);
    machine_->trace->end(id_);
  }
  Spanned(const Spanned&) = delete;
  Spanned& operator=(const Spanned&) = delete;

 private:
  Machine* machine_;
  Trace::Id id_ = 0;
};

// Before anything that others can see or that sees others: with a seeded schedule, they may come first.
void visible(Machine& m);

}  // namespace pld
