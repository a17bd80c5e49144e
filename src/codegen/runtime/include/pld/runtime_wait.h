// Copyright The pldc authors. SPDX-License-Identifier: Apache-2.0
//
// Blocking, waking and the watchdog. Included by runtime.cpp only.
#pragma once
#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>

#include "pld/runtime_watch.h"

namespace pld {

namespace {

// Until let_go() gives a number, which is returned.
int sleep_until_gone(int& go) {
  for (;;) {
    int how = __atomic_load_n(&go, __ATOMIC_ACQUIRE);
    if (how > 0) return how;
    if (how == 0 && !__atomic_compare_exchange_n(&go, &how, sim::Agent::kAsleep, false, __ATOMIC_ACQ_REL,
                                                 __ATOMIC_ACQUIRE))
      continue;
    syscall(SYS_futex, &go, FUTEX_WAIT_PRIVATE, sim::Agent::kAsleep, nullptr, nullptr, 0);
  }
}

void retire(sim::Agent& agent) {
  if (agent.wait == sim::Agent::Wait::cell) {
    __atomic_fetch_sub(&sim::sleepers[sim::sleeper_slot(agent.cell)], 1, __ATOMIC_SEQ_CST);
  }
  agent.wait = sim::Agent::Wait::none;
}

}  // namespace

void Machine::let_go(sim::Agent& agent, int how) {
  size_t i = 0;
  while (waiting[i] != &agent) ++i;
  waiting[i] = waiting.back();
  waiting.pop_back();
  retire(agent);
  ++active;
  ++moves;
  // Behind the exchange the agent may be gone; whoever else sleeps at that address then looks again.
  if (__atomic_exchange_n(&agent.go, how, __ATOMIC_ACQ_REL) == sim::Agent::kAsleep)
    syscall(SYS_futex, &agent.go, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
}

void Machine::wake(const int32_t* cell) {
  for (size_t i = 0; i < waiting.size();) {
    sim::Agent* a = waiting[i];
    if (a->wait == sim::Agent::Wait::cell && a->cell == cell &&
        sim::holds(__atomic_load_n(cell, __ATOMIC_SEQ_CST), a->want, a->compare)) {
      let_go(*a);
    } else {
      ++i;
    }
  }
}

bool Machine::wake_satisfied() {
  bool any = false;
  for (size_t i = 0; i < waiting.size();) {
    sim::Agent* a = waiting[i];
    if (a->wait == sim::Agent::Wait::cell &&
        sim::holds(__atomic_load_n(a->cell, __ATOMIC_SEQ_CST), a->want, a->compare)) {
      let_go(*a);
      any = true;
    } else {
      ++i;
    }
  }
  return any;
}

void Machine::now_inactive() {
  if (--active > 0 || waiting.empty() || stopping) return;
  // A cell may have been changed by a plain store, which wakes nobody.
  if (wake_satisfied()) return;
  for (const sim::Agent* a : waiting) {
    if (a->polls) return;
  }
  fail(describe("deadlock: no rank can move"), 4);
}

void Machine::fail(const Text& message, int code) {
  if (stopping) return;
  __atomic_store_n(&stopping, true, __ATOMIC_RELAXED);
  error = message;
  error_code = code;
  while (!waiting.empty()) let_go(*waiting.back(), 2);
  idle.notify_all();
}

void Machine::block(sim::Agent& agent, sim::Agent::Wait wait, bool (*ready)(const void*),
                    const void* object) {
  if constexpr (remote::enabled)
    agent.polls = wait == sim::Agent::Wait::cell && remote::is_window(agent.cell);
  {
    Lock lock(mutex);
    if (stopping) throw Stop{};
    agent.wait = wait;
    if (wait == sim::Agent::Wait::cell) {
      __atomic_fetch_add(&sim::sleepers[sim::sleeper_slot(agent.cell)], 1, __ATOMIC_SEQ_CST);
    }
    if (ready(object)) {
      retire(agent);
      return;
    }
    waiting.push_back(&agent);
    now_inactive();  // may let this very agent go
    if (order != nullptr)
      order->wait(
          lock, [](const void* go) { return peek(*static_cast<const int*>(go)) != 0; }, &agent.go);
  }
  int how = 0;
  if constexpr (remote::enabled) how = agent.polls ? remote::wait(*this, agent) : 0;
  if (how == 0) how = sleep_until_gone(agent.go);
  __atomic_store_n(&agent.go, 0, __ATOMIC_RELAXED);
  if (how == 2) throw Stop{};
}

void Machine::pause(Lock& lock, Condition& wake, bool (*ready)(const void*), const void* object) {
  if (order != nullptr) {
    order->wait(lock, ready, object);
  } else {
    while (!ready(object)) wake.wait(lock);
  }
}

namespace {
// The first region that begins behind p.
size_t next_region(const Array<Region>& regions, const char* p) {
  size_t low = 0, high = regions.size();
  while (low < high) {
    const size_t middle = (low + high) / 2;
    if (regions[middle].base <= p) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}
}  // namespace

const Region* Machine::region_of(const void* address) const {
  const char* p = static_cast<const char*>(address);
  const size_t next = next_region(regions, p);
  if (next == 0) return nullptr;
  const Region& r = regions[next - 1];
  return p < r.base + r.bytes ? &r : nullptr;
}

void Machine::add_region(Region region) {
  if (region.bytes <= 0) return;
  const size_t next = next_region(regions, region.base);
  if (next > 0 && regions[next - 1].base == region.base) {
    regions[next - 1] = std::move(region);
  } else {
    regions.insert(next, std::move(region));
  }
}

void Machine::remove_regions(const void* begin, const void* end) {
  const auto before = [this](const void* p) {
    const size_t next = next_region(regions, static_cast<const char*>(p));
    return next > 0 && regions[next - 1].base == p ? next - 1 : next;
  };
  regions.erase(before(begin), before(end));
}

void Thread::start(void* (*run)(void*), void* argument) {
  const int failed = pthread_create(&thread_, nullptr, run, argument);
  if (failed != 0) throw Error(std::strerror(failed));
  started_ = true;
}

// Ends runs that take too long, and looks again at cells that plain stores may have changed.
void Machine::watchdog_loop() {
  Lock lock(mutex);
  while (!quit) {
    watchdog_wake.wait_until(lock, now_ns() + (active == 0 && busy_workers == 0 ? 1000000000 : 10000000));
    if (quit) return;
    if (order == nullptr) wake_satisfied();  // an order must not depend on the time
    if (order != nullptr && stopping && deadline_ns != 0 && now_ns() > deadline_ns + kGraceNs) {
      // A kernel computes for ever on the thread that would have to report it.
      std::fprintf(stderr, "error: %s\n", error.c_str());
      std::fflush(nullptr);
      std::_Exit(error_code);
    }
    if (deadline_ns != 0 && now_ns() > deadline_ns && !stopping) {
      fail(describe(text("timeout: the run did not end within %g seconds", options.timeout_seconds).c_str()),
           4);
    }
  }
}

namespace sim {

CoreMemory* make_memory() {
  static thread_local Owned<CoreMemory, free_memory<CoreMemory>> of_thread;
  auto& memory = context.agent != nullptr ? context.agent->memory : of_thread;
  if (memory == nullptr) {
    void* p = nullptr;
    if (posix_memalign(&p, alignof(CoreMemory), sizeof(CoreMemory)) != 0) {
      fail("there is no memory for a core, which has %zu bytes", sizeof(CoreMemory));
    }
    std::memset(p, 0, sizeof(CoreMemory));
    memory.reset(static_cast<CoreMemory*>(p));
  }
  return memory.get();
}

void fail(const char* format, ...) {
  va_list args;
  va_start(args, format);
  char buffer[1024];
  std::vsnprintf(buffer, sizeof buffer, format, args);
  va_end(args);
  const Agent* a = context.agent;
  if (a == nullptr) throw Error(buffer);
  Text message = context.line > 0 ? text("%s:%d: ", a->machine->program.source, context.line)
                                  : text("%s: ", a->machine->program.source);
  message += buffer;
  message +=
      text(" (%s %s, rank %lld)", context.kernel != nullptr ? "kernel" : "chip orchestration",
           context.kernel != nullptr ? context.kernel : context.chip, static_cast<long long>(a->device));
  throw Error(message);
}

void fail_peer(int64_t peer, uint32_t ranks) {
  fail("peer %lld is not a rank of the domain, which has ranks 0 to %u", static_cast<long long>(peer),
       ranks - 1);
}

void check_stop() {
  if constexpr (remote::enabled) remote::progress();
  if (context.agent == nullptr) return;
  if (peek(context.agent->machine->stopping))
    throw Stop{};  // without the lock: polling loops call this often
}

void wake_cell(const int32_t* cell) {
  if (context.agent == nullptr) return;  // the watchdog looks, too
  Machine& m = *context.agent->machine;
  const Lock lock(m.mutex);
  m.wake(cell);
}

// Those that this process may use.
size_t processors() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0) return static_cast<size_t>(CPU_COUNT(&set));
  const long n = sysconf(_SC_NPROCESSORS_ONLN);
  return n > 0 ? static_cast<size_t>(n) : 1;
}

// A peer on another core answers within a microsecond. With more threads than cores it may need this one: then the core
// is given away at once, and a few times, because the threads that share it take turns within microseconds, too.
struct Patience {
  int spins;
  int yields;
};
Patience patience(const Machine& m) {
  if (m.order != nullptr) return {0, 0};
  static const size_t cores = processors();  // asks the system: not in every wait
  const size_t threads = peek(m.threads);
  if (threads <= cores) return {2000, 2};
  return {0, threads <= 4 * cores ? 16 : 4};
}

void wait_cell(const int32_t* cell, int32_t want, Compare c) {
  Agent* a = context.agent;
  if constexpr (remote::enabled) remote::progress();
  const Patience p = a != nullptr ? patience(*a->machine) : Patience{0, 0};
  for (int i = 0; i < p.spins; ++i) {
    if (holds(get_cell(cell), want, c)) return;
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#endif
  }
  for (int i = 0; a == nullptr || i < p.yields; ++i) {
    if (holds(get_cell(cell), want, c)) return;
    sched_yield();
  }
  a->cell = cell;
  a->want = want;
  a->compare = c;
  a->machine->block(*a, Agent::Wait::cell,
                    [&] { return holds(__atomic_load_n(cell, __ATOMIC_SEQ_CST), want, c); });
}

}  // namespace sim
}  // namespace pld
