// Copyright The pldc authors. SPDX-License-Identifier: Apache-2.0
//
// What the embedded tile library needs from the runtime: core memories, the current place, errors, blocking
// waits, observation of memory accesses. Defined in pld/runtime.cpp.
#pragma once
#include <cstddef>
#include <cstdint>

#include "pld/remote.h"

namespace pld::sim {

// On-chip memories of one core, in bytes (A2/A3 sizes). Addresses given to TASSIGN are offsets into one of
// them.
inline constexpr uint64_t kUbBytes = 192 * 1024;
inline constexpr uint64_t kL1Bytes = 512 * 1024;
inline constexpr uint64_t kL0aBytes = 64 * 1024;
inline constexpr uint64_t kL0bBytes = 64 * 1024;
inline constexpr uint64_t kL0cBytes = 128 * 1024;
inline constexpr uint64_t kBiasBytes = 4 * 1024;
inline constexpr uint64_t kScalingBytes = 8 * 1024;  // of the left factor, then of the right one

struct CoreMemory {
  alignas(512) unsigned char ub[kUbBytes];
  unsigned char l1[kL1Bytes];
  unsigned char l0a[kL0aBytes];
  unsigned char l0b[kL0bBytes];
  unsigned char l0c[kL0cBytes];
  unsigned char bias[kBiasBytes];
  unsigned char scaling[kScalingBytes];
};

struct Agent;  // a thread that runs kernels, as the runtime sees it
struct Pipes;  // cross-core FIFOs of one block

// What the current thread is doing. A plain structure: a scheduler of fibers may swap it.
struct Context {
  const char* chip = nullptr;
  const char* kernel = nullptr;
  int32_t line = 0;  // of the .pld, 0 = unknown
  CoreMemory* memory = nullptr;
  Agent* agent = nullptr;
  Pipes* pipes = nullptr;
};
inline thread_local constinit Context context{};

// Relaxed atomics (plain moves): other threads read the place for reports.
inline void set_line(int32_t line) { __atomic_store_n(&context.line, line, __ATOMIC_RELAXED); }

CoreMemory* make_memory();  // zeroed, freed when the thread ends
inline CoreMemory& memory() {
  if (context.memory == nullptr) context.memory = make_memory();
  return *context.memory;
}

// Ends the run: throws pld::Error with the text, the kernel and the line.
[[noreturn]] void fail(const char* format, ...) __attribute__((format(printf, 1, 2), cold));
[[noreturn]] void fail_peer(int64_t peer, uint32_t ranks) __attribute__((cold));

// ---- signals ----

enum class Compare : uint8_t { eq, ne, gt, ge, lt, le };

inline bool holds(int32_t have, int32_t want, Compare c) {
  switch (c) {
    case Compare::eq:
      return have == want;
    case Compare::ne:
      return have != want;
    case Compare::gt:
      return have > want;
    case Compare::ge:
      return have >= want;
    case Compare::lt:
      return have < want;
    case Compare::le:
      return have <= want;
  }
  return false;
}

// Threads asleep on a cell, by a hash of its address. A notifier looks here after its update, a sleeper
// announces itself here before its last look at the cell; both are sequentially consistent, so one of them
// sees the other.
inline constexpr unsigned kSleeperSlots = 1024;
inline int32_t sleepers[kSleeperSlots] = {};
inline unsigned sleeper_slot(const int32_t* cell) {
  return static_cast<unsigned>(reinterpret_cast<uintptr_t>(cell) >> 2) % kSleeperSlots;
}

void wait_cell(const int32_t* cell, int32_t want, Compare c);  // returns when the condition holds
void wake_cell(const int32_t* cell);
void check_stop();  // throws if the run is being ended; for polling loops

inline void add_cell(int32_t* cell, int32_t value) {
  if constexpr (remote::enabled) {
    if (remote::notify(cell, value, true)) return;
  }
  __atomic_fetch_add(cell, value, __ATOMIC_SEQ_CST);
  if (__atomic_load_n(&sleepers[sleeper_slot(cell)], __ATOMIC_SEQ_CST) != 0) wake_cell(cell);
}
inline void set_cell(int32_t* cell, int32_t value) {
  if constexpr (remote::enabled) {
    if (remote::notify(cell, value, false)) return;
  }
  __atomic_store_n(cell, value, __ATOMIC_SEQ_CST);
  if (__atomic_load_n(&sleepers[sleeper_slot(cell)], __ATOMIC_SEQ_CST) != 0) wake_cell(cell);
}
inline int32_t get_cell(const int32_t* cell) { return __atomic_load_n(cell, __ATOMIC_ACQUIRE); }

// ---- observation: checks, traces, seeded schedules ----

enum class AccessKind : uint8_t { read, write, atomic, notify, wait };

// A strided box of elements, outermost axis first.
struct Access {
  const void* base;
  int64_t shape[5];
  int64_t stride[5];
  int32_t element_bytes;
  AccessKind kind;
};

inline bool observing = false;       // set while no kernel runs; the functions below are called only if it is
bool observe(const Access& access);  // before the access; true: observe_end() follows it
void observe_end();
void notify_observed(int32_t* cell, int32_t value, bool add);
void wait_observed(const int32_t* cell, int32_t want, Compare c);
bool test_observed(const int32_t* cell, int32_t want, Compare c);

// From before an access until its end.
class [[nodiscard]] Observed {
 public:
  Observed() = default;
  explicit Observed(const Access& access) : open_(observe(access)) {}
  ~Observed() {
    if (open_) observe_end();
  }
  Observed(const Observed&) = delete;
  Observed& operator=(const Observed&) = delete;

 private:
  bool open_ = false;
};

inline void observe_cell(const void* p, int32_t bytes, AccessKind kind) {
  if (observing) const Observed seen({p, {1, 1, 1, 1, 1}, {1, 1, 1, 1, 1}, bytes, kind});
}

}  // namespace pld::sim
