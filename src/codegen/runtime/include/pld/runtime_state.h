// Copyright The pldc authors. SPDX-License-Identifier: Apache-2.0
//
// State of a run on threads, shared by the parts of the runtime. Included by runtime.cpp and checks.cpp.
#pragma once
#include <cstdlib>
#include <utility>

#include "pld/host.h"
#include "pld/orch.h"
#include "pld/pto_pipe.h"
#include "pld/runtime_remote.h"
#include "pld/runtime_threads.h"

namespace pld {

class Machine;

// Thrown through kernels of a run that is being ended; the reason is in the machine.
struct Stop {};

class Order;  // runtime_order.h
class Races;  // runtime_race.h
class Trace;  // runtime_trace.h

// A vector clock: how much of every thread has happened before; threads that are missing count as 0.
struct Clock {
  Array<uint32_t> at;
  uint32_t of(int thread) const {
    return static_cast<size_t>(thread) < at.size() ? at[static_cast<size_t>(thread)] : 0;
  }
  uint32_t& of(int thread) {
    if (static_cast<size_t>(thread) >= at.size()) at.resize(static_cast<size_t>(thread) + 1);
    return at[static_cast<size_t>(thread)];
  }
  void join(const Clock& other) {
    if (at.size() < other.at.size()) at.resize(other.at.size());
    for (size_t i = 0; i < other.at.size(); ++i) {
      if (at[i] < other.at[i]) at[i] = other.at[i];
    }
  }
};

template <class T>
void free_memory(T* p) {
  std::free(p);
}

// Windows of processes belong to the transport.
inline void free_window(unsigned char* p) {
  if constexpr (!remote::enabled) std::free(p);
}

namespace sim {

inline const Context nowhere{};

// A thread that runs kernels. Fields but `go` belong to the machine's mutex.
struct Agent {
  Machine* machine = nullptr;
  int64_t device = -1;
  const Context* context = &nowhere;  // of its thread; chip, kernel and line are read from elsewhere

  static constexpr int kAsleep = -1;
  enum class Wait : uint8_t { none, cell, message, event, join };
  Wait wait = Wait::none;
  const int32_t* cell = nullptr;  // Wait::cell
  int32_t want = 0;
  Compare compare = Compare::ge;
  const void* object = nullptr;  // Wait::message, Wait::event: what it waits for
  int number = 0;                // its direction or id, for the report
  bool polls = false;            // other processes may change what it waits for
  int go = 0;           // how it goes on: 1 as if nothing was, 2 it stops; kAsleep: it sleeps until then
  int core = 0;         // of the launch: block and lane, counted together
  int clock = 0;        // number of its clock in Races
  Array<size_t> spans;  // open transfers, with --trace
  Owned<CoreMemory, free_memory<CoreMemory>> memory;
};

void delete_message(Message* m);

// FIFOs and events of one block, under the machine's mutex.
struct Pipes {
  struct Fifo {
    int direction;
    int id;
    int lane;
    Queue<Owned<Message, delete_message>> messages;  // those that nobody takes end with it
    Queue<Clock> sent;                               // of the messages, with --check=races
  };
  struct Event {
    int id;
    int count;
    Clock set;
  };
  Array<Owned<Fifo>> fifos;  // their addresses stay valid
  Array<Owned<Event>> events;
  int lanes = 1;
  struct Launch* launch = nullptr;
};

// One rt_submit_task: all blocks and cores of it.
struct Launch {
  int parties = 1;
  int arrived = 0;
  int generation = 0;
  Clock arrivals[2];  // of even and odd generations: nobody leaves one before all have arrived there
};

}  // namespace sim

// Rows of `columns` cells each, aligned, every row on a line of its own behind a line break and two blanks.
Text table(const Array<Text>& cells, size_t columns);

// chip, kernel and line of a context are read by other threads for reports: relaxed atomics keep that
// defined.
template <class T>
T peek(const T& value) {
  return __atomic_load_n(&value, __ATOMIC_RELAXED);
}

// How long a kernel of a run that is being ended may take to notice.
inline constexpr int64_t kGraceNs = 2000000000;

// What else a thread is in the middle of; swapped together with sim::context.
struct Running {
  PldScope* scope = nullptr;  // innermost
  const ChipInfo* chip = nullptr;
  uint64_t tasks = 0;
  Owned<sim::Message, sim::delete_message> popped;  // the last message
};
inline thread_local Running running;

// Memory that kernels may touch, for reports and for naming signals.
struct Region {
  const char* base;
  int64_t bytes;
  Text name;            // as in a message: "comm_d0.sig_buf", "parameter xs"
  int64_t rank;         // domain rank, -1: host memory
  int64_t device = -1;  // whose window it is in
};

struct DomainState {
  struct SlotState {
    Text name;
    int64_t bytes;
    int64_t offset;
    SlotUse use;
  };
  Text name;
  Array<int64_t> devices;
  Array<SlotState> slots;
  int64_t window_bytes = 0;
  Array<Owned<unsigned char, free_window>> windows;  // by domain rank
  Array<CommContext> contexts;

  int64_t rank_of(int64_t device) const {
    for (size_t i = 0; i < devices.size(); ++i) {
      if (devices[i] == device) return static_cast<int64_t>(i);
    }
    return -1;
  }
};

// Copies between a strided host tensor and the packed one that a chip sees.
struct Staging {
  Tensor tensor;
  Array<unsigned char> packed;
  bool write_back;
};

struct Task {
  const ChipInfo* chip;
  Array<ChipTensor> tensors;
  Array<uint64_t> scalars;
  Array<Staging> staging;
  Place place;
  Clock submitted;  // with --check=races
};

// What a dispatch may write to host memory, and what was there before; only with a process per rank.
struct Written {
  int64_t device;
  Tensor tensor;
  Place place;
  Array<unsigned char> before;  // packed; of the own rank
};

// A pool thread that runs blocks of SPMD launches and lanes of mixed tasks.
struct Helper {
  sim::Agent agent;
  Condition wake;
  void (*run)(void*) = nullptr;
  void* argument = nullptr;
  bool quit = false;
  Thread thread;
};

struct Worker {
  sim::Agent agent;
  Queue<Owned<Task>> queue;
  bool busy = false;
  Condition wake;
  Thread thread;
};

class Machine {
 public:
  Machine(const ProgramInfo& program, const RunOptions& options);
  ~Machine();
  void end_threads();

  const ProgramInfo& program;
  const RunOptions options;

  Mutex mutex;
  // Threads that can make progress: the host function, workers with a task, helpers with a job. When it
  // reaches zero, everything has finished or nothing can move.
  int active = 0;
  Array<sim::Agent*> waiting;
  bool stopping = false;
  bool quit = false;
  bool abandoned = false;  // a kernel did not stop; threads and memory are left to the end of the process
  Text error;
  int error_code = 0;

  Array<Owned<Worker>> workers;  // by device
  int busy_workers = 0;
  Condition idle;  // busy_workers became 0

  size_t threads = 0;  // workers and helpers; changed with the mutex held, read without it

  Array<Owned<Helper>> helpers;
  Array<Helper*> free_helpers;

  Array<Owned<DomainState>> domains;
  size_t next_domain = 0;  // of this run
  Array<Array<unsigned char>> host_tensors;
  Array<Region> regions;          // by base; they do not overlap
  Array<Owned<Written>> written;  // since the last share()
  Array<Owned<Written>> history;  // of the run, without values
  Array<Region> parted;           // parameters of which every rank has its own part
  uint64_t moves = 0;             // how often a wait ended

  Owned<Order> order;  // seeded schedule
  Owned<Races> races;  // --check=races
  Owned<Trace> trace;  // --trace

  Thread watchdog;
  Condition watchdog_wake;
  int64_t deadline_ns = 0;  // steady clock, 0: none

  // With the mutex held:
  void let_go(sim::Agent& agent, int how = 1);  // takes it off the waiting list and counts it active
  void now_inactive();                          // one thread less can make progress
  void wake(const int32_t* cell);               // who waits for what the cell has now
  bool wake_satisfied();                        // waiting agents whose cell satisfies them by now
  void fail(const Text& text, int code);        // first error wins; stops everybody
  Text describe(const char* headline) const;
  void rows(Array<Text>& cells, Text& hints) const;  // of the table, and what follows it
  static Text table_of(const Array<Text>& rows);     // with the heads of its columns
  Text hint(const sim::Agent& agent) const;          // what may be wrong with its wait: a line, or nothing
  Text signal_name(const int32_t* cell, Text* notifiers) const;
  const Region* region_of(const void* address) const;

  // Blocks the calling agent; `ready` is looked at once more with the mutex held. Throws Stop.
  void block(sim::Agent& agent, sim::Agent::Wait wait, bool (*ready)(const void*), const void* object);
  template <class F>
  void block(sim::Agent& agent, sim::Agent::Wait wait, const F& ready) {
    block(
        agent, wait, [](const void* f) -> bool { return (*static_cast<const F*>(f))(); }, &ready);
  }

  // Blocks the calling thread, with the mutex held.
  void pause(Lock& lock, Condition& wake, bool (*ready)(const void*), const void* object);
  template <class F>
  void pause(Lock& lock, Condition& wake, const F& ready) {
    pause(
        lock, wake, [](const void* f) -> bool { return (*static_cast<const F*>(f))(); }, &ready);
  }

  void add_region(Region region);
  void remove_regions(const void* begin, const void* end);  // those that begin in there
  Helper& helper();                                         // takes a free one or starts one; mutex held
  void worker_loop(Worker& w);
  void helper_loop(Helper& h);
  void watchdog_loop();
  void sync();
  void begin_run();
  bool host_failed();
  // With a process per rank: what the dispatch may write; makes the host memory of all processes equal.
  void record(int64_t device, const Args& args, Place place);
  void note_parted(const EntryInfo& entry, const Params& params);
  bool is_parted(const Tensor& tensor) const;
  void share();
  void gather();                                     // at the end of a run: rank 0 gets the parts of results
  static void note_atomics(const Staging& staging);  // in the packed copy of what share() sees
  bool runs(int64_t device) const { return !remote::enabled || device == remote::rank(); }  // here
  void check_signals() const;
  void check_signals_everywhere() const;
  // The region that the bytes lie in; ends the run with --check=bounds if there is none.
  const Region* inside(const char* address, int64_t bytes, sim::AccessKind kind) const;
};

}  // namespace pld
