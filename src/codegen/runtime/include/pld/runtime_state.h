// Copyright The pldc authors. SPDX-License-Identifier: Apache-2.0
//
// State of a run on threads, shared by the parts of the runtime. Included by runtime.cpp only.
#pragma once
#include <atomic>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
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

namespace sim {

// A thread that runs kernels. Fields but `go` belong to the machine's mutex.
struct Agent {
  Machine* machine = nullptr;
  int64_t device = -1;
  const Context* context = nullptr;  // of its thread; chip, kernel and line are read from elsewhere

  enum class Wait : uint8_t { none, cell, message, event, join };
  Wait wait = Wait::none;
  const int32_t* cell = nullptr;  // Wait::cell
  int32_t want = 0;
  Compare compare = Compare::ge;
  const void* object = nullptr;  // Wait::message, Wait::event: what it waits for
  int number = 0;                // its direction or id, for the report
  std::atomic<int> go{0};        // set to 1 to let it go on, to 2 to make it stop
};

// FIFOs and events of one block, under the machine's mutex.
struct Pipes {
  struct Fifo {
    int direction;
    int id;
    int lane;
    std::deque<Message*> messages;
  };
  struct Event {
    int id;
    int count;
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
};

}  // namespace sim

// Memory that kernels may touch, for --check=bounds and for naming signals.
struct Region {
  const char* base;
  int64_t bytes;
  std::string name;  // as in a message: "comm_d0.sig_buf", "parameter xs"
  int64_t rank;      // domain rank, -1: host memory
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
  std::vector<Region> regions;

  std::thread watchdog;
  std::condition_variable watchdog_wake;
  int64_t deadline_ns = 0;  // steady clock, 0: none

  // With the mutex held:
  void let_go(sim::Agent& agent, int how = 1);   // takes it off the waiting list and counts it active
  void now_inactive();                           // one thread less can make progress
  bool wake_satisfied();                         // waiting agents whose cell satisfies them by now
  void fail(const std::string& text, int code);  // first error wins; stops everybody
  std::string describe(const char* headline) const;
  std::string signal_name(const int32_t* cell, std::string* notifiers) const;
  const Region* region_of(const void* address) const;

  // Blocks the calling agent; `ready` is looked at once more with the mutex held. Throws Stop.
  template <class F>
  void block(sim::Agent& agent, sim::Agent::Wait wait, F ready);

  Helper& helper();  // takes a free one or starts one; mutex held
  void worker_loop(Worker& w);
  void helper_loop(Helper& h);
  void watchdog_loop();
  void sync();
  void begin_run();
  void check_signals() const;
};

}  // namespace pld
