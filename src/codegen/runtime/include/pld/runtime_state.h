// Copyright The pldc authors. SPDX-License-Identifier: Apache-2.0
//
// State of a run on threads, shared by the parts of the runtime. Included by runtime.cpp only.
#pragma once
#include <atomic>
#include <condition_variable>
#include <cstdlib>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "pld/host.h"
#include "pld/orch.h"
#include "pld/pto_pipe.h"
#include "pld/text.h"

namespace pld {

class Machine;

// Thrown through kernels of a run that is being ended; the reason is in the machine.
struct Stop {};

class Order;  // runtime_order.h
class Races;  // runtime_race.h
class Trace;  // runtime_trace.h

// A vector clock: how much of every thread has happened before; threads that are missing count as 0.
struct Clock {
  std::vector<uint32_t> at;
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

struct FreeMemory {
  void operator()(void* p) const { std::free(p); }
};

namespace sim {

inline const Context nowhere{};

// A thread that runs kernels. Fields but `go` belong to the machine's mutex.
struct Agent {
  Machine* machine = nullptr;
  int64_t device = -1;
  const Context* context = &nowhere;  // of its thread; chip, kernel and line are read from elsewhere

  enum class Wait : uint8_t { none, cell, message, event, join };
  Wait wait = Wait::none;
  const int32_t* cell = nullptr;  // Wait::cell
  int32_t want = 0;
  Compare compare = Compare::ge;
  const void* object = nullptr;  // Wait::message, Wait::event: what it waits for
  int number = 0;                // its direction or id, for the report
  std::atomic<int> go{0};        // set to 1 to let it go on, to 2 to make it stop
  int core = 0;                  // of the launch: block and lane, counted together
  int clock = 0;                 // number of its clock in Races
  std::vector<size_t> spans;     // open transfers, with --trace
  std::unique_ptr<CoreMemory, FreeMemory> memory;
};

// FIFOs and events of one block, under the machine's mutex.
struct Pipes {
  struct Fifo {
    int direction;
    int id;
    int lane;
    std::deque<Message*> messages;
    std::deque<Clock> sent;  // of the messages, with --check=races
  };
  struct Event {
    int id;
    int count;
    Clock set;
  };
  std::deque<Fifo> fifos;  // addresses stay valid
  std::deque<Event> events;
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

void delete_message(Message* m);
struct DeleteMessage {
  void operator()(Message* m) const { delete_message(m); }
};

}  // namespace sim

// Rows of `columns` cells each, aligned, every row on a line of its own behind a line break and two blanks.
std::string table(const std::vector<std::string>& cells, size_t columns);

// What else a thread is in the middle of; swapped together with sim::context.
struct Running {
  PldScope* scope = nullptr;  // innermost
  const ChipInfo* chip = nullptr;
  uint64_t tasks = 0;
  std::unique_ptr<sim::Message, sim::DeleteMessage> popped;  // the last message
};
inline thread_local Running running;

// Memory that kernels may touch, for reports and for naming signals.
struct Region {
  const char* base;
  int64_t bytes;
  std::string name;     // as in a message: "comm_d0.sig_buf", "parameter xs"
  int64_t rank;         // domain rank, -1: host memory
  int64_t device = -1;  // whose window it is in
};

struct DomainState {
  struct SlotState {
    std::string name;
    int64_t bytes;
    int64_t offset;
    SlotUse use;
  };
  std::string name;
  std::vector<int64_t> devices;
  std::vector<SlotState> slots;
  int64_t window_bytes = 0;
  std::vector<std::unique_ptr<unsigned char, void (*)(void*)>> windows;  // by domain rank
  std::vector<CommContext> contexts;

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
  std::unique_ptr<unsigned char[]> packed;
  bool write_back;
};

struct Task {
  const ChipInfo* chip;
  std::vector<ChipTensor> tensors;
  std::vector<uint64_t> scalars;
  std::vector<Staging> staging;
  Place place;
  Clock submitted;  // with --check=races
};

// A pool thread that runs blocks of SPMD launches and lanes of mixed tasks.
struct Helper {
  sim::Agent agent;
  std::condition_variable wake;
  void (*run)(void*) = nullptr;
  void* argument = nullptr;
  bool quit = false;
  std::thread thread;
};

struct Worker {
  sim::Agent agent;
  std::deque<std::unique_ptr<Task>> queue;
  bool busy = false;
  std::condition_variable wake;
  std::thread thread;
};

class Machine {
 public:
  Machine(const ProgramInfo& program, const RunOptions& options);
  ~Machine();
  void end_threads();

  const ProgramInfo& program;
  const RunOptions options;

  std::mutex mutex;
  // Threads that can make progress: the host function, workers with a task, helpers with a job. When it
  // reaches zero, everything has finished or nothing can move.
  int active = 0;
  std::vector<sim::Agent*> waiting;
  bool stopping = false;
  bool quit = false;
  bool abandoned = false;  // a kernel did not stop; threads and memory are left to the end of the process
  std::string error;
  int error_code = 0;

  std::vector<std::unique_ptr<Worker>> workers;  // by device
  int busy_workers = 0;
  std::condition_variable idle;  // busy_workers became 0

  std::atomic<size_t> threads{0};  // workers and helpers; read without the mutex

  std::vector<std::unique_ptr<Helper>> helpers;
  std::vector<Helper*> free_helpers;

  std::vector<std::unique_ptr<DomainState>> domains;
  size_t next_domain = 0;  // of this run
  std::vector<std::unique_ptr<unsigned char[]>> host_tensors;
  std::map<const char*, Region> regions;  // by base; they do not overlap

  std::unique_ptr<Order> order;  // seeded schedule
  std::unique_ptr<Races> races;  // --check=races
  std::unique_ptr<Trace> trace;  // --trace

  std::thread watchdog;
  std::condition_variable watchdog_wake;
  int64_t deadline_ns = 0;  // steady clock, 0: none

  // With the mutex held:
  void let_go(sim::Agent& agent, int how = 1);   // takes it off the waiting list and counts it active
  void now_inactive();                           // one thread less can make progress
  void wake(const int32_t* cell);                // who waits for what the cell has now
  bool wake_satisfied();                         // waiting agents whose cell satisfies them by now
  void fail(const std::string& text, int code);  // first error wins; stops everybody
  std::string describe(const char* headline) const;
  std::string hint(const sim::Agent& agent) const;  // what may be wrong with its wait: a line, or nothing
  std::string signal_name(const int32_t* cell, std::string* notifiers) const;
  const Region* region_of(const void* address) const;

  // Blocks the calling agent; `ready` is looked at once more with the mutex held. Throws Stop.
  template <class F>
  void block(sim::Agent& agent, sim::Agent::Wait wait, F ready);

  // Blocks the calling thread, with the mutex held.
  template <class F>
  void pause(std::unique_lock<std::mutex>& lock, std::condition_variable& wake, F ready);

  void add_region(Region region);
  Helper& helper();  // takes a free one or starts one; mutex held
  void worker_loop(Worker& w);
  void helper_loop(Helper& h);
  void watchdog_loop();
  void sync();
  void begin_run();
  void end_run();
  void check_signals() const;
  // The region that the bytes lie in; ends the run with --check=bounds if there is none.
  const Region* inside(const char* address, int64_t bytes, sim::AccessKind kind) const;
};

}  // namespace pld
