// Copyright The pldc authors. SPDX-License-Identifier: Apache-2.0
//
// Blocking, waking, the deadlock report and the watchdog. Included by runtime.cpp only.
#pragma once
#include <sched.h>

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>

#include "pld/runtime_order.h"
#include "pld/runtime_state.h"

namespace pld {

int64_t now_ns() {
  timespec t{};
  clock_gettime(CLOCK_MONOTONIC, &t);
  return int64_t{t.tv_sec} * 1000000000 + t.tv_nsec;
}

std::string text(const char* format, ...) {
  va_list args;
  va_start(args, format);
  va_list again;
  va_copy(again, args);
  const int n = std::vsnprintf(nullptr, 0, format, args);
  va_end(args);
  std::string s(static_cast<size_t>(n > 0 ? n : 0), '\0');
  std::vsnprintf(s.data(), s.size() + 1, format, again);
  va_end(again);
  return s;
}

namespace {

// How long a kernel of a run that is being ended may take to notice.
inline constexpr int64_t kGraceNs = 2000000000;

// chip, kernel and line of a context are read by other threads for reports: relaxed atomics keep that
// defined.
template <class T>
T peek(const T& value) {
  return __atomic_load_n(&value, __ATOMIC_RELAXED);
}

const char* compare_name(sim::Compare c) {
  switch (c) {
    case sim::Compare::eq:
      return "==";
    case sim::Compare::ne:
      return "!=";
    case sim::Compare::gt:
      return ">";
    case sim::Compare::ge:
      return ">=";
    case sim::Compare::lt:
      return "<";
    case sim::Compare::le:
      return "<=";
  }
  return "?";
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
  agent.go.store(how, std::memory_order_release);
  agent.go.notify_one();
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
  if (!wake_satisfied()) fail(describe("deadlock: no rank can move"), 4);
}

void Machine::fail(const std::string& message, int code) {
  if (stopping) return;
  __atomic_store_n(&stopping, true, __ATOMIC_RELAXED);
  error = message;
  error_code = code;
  while (!waiting.empty()) let_go(*waiting.back(), 2);
  idle.notify_all();
}

template <class F>
void Machine::block(sim::Agent& agent, sim::Agent::Wait wait, F ready) {
  int how = 0;
  {
    std::unique_lock lock(mutex);
    if (stopping) throw Stop{};
    agent.wait = wait;
    if (wait == sim::Agent::Wait::cell) {
      __atomic_fetch_add(&sim::sleepers[sim::sleeper_slot(agent.cell)], 1, __ATOMIC_SEQ_CST);
    }
    if (ready()) {
      retire(agent);
      return;
    }
    waiting.push_back(&agent);
    now_inactive();  // may let this very agent go
    if (order != nullptr) order->wait(lock, [&] { return agent.go.load(std::memory_order_relaxed) != 0; });
  }
  while ((how = agent.go.load(std::memory_order_acquire)) == 0) agent.go.wait(0, std::memory_order_acquire);
  agent.go.store(0, std::memory_order_relaxed);
  if (how == 2) throw Stop{};
}

const Region* Machine::region_of(const void* address) const {
  const char* p = static_cast<const char*>(address);
  auto next = regions.upper_bound(p);
  if (next == regions.begin()) return nullptr;
  const Region& r = std::prev(next)->second;
  return p < r.base + r.bytes ? &r : nullptr;
}

void Machine::add_region(Region region) {
  if (region.bytes > 0) regions[region.base] = std::move(region);
}

std::string Machine::signal_name(const int32_t* cell, std::string* notifiers) const {
  const char* p = reinterpret_cast<const char*>(cell);
  for (const auto& d : domains) {
    for (size_t r = 0; r < d->windows.size(); ++r) {
      const char* base = reinterpret_cast<const char*>(d->windows[r].get());
      if (p < base || p >= base + d->window_bytes) continue;
      if (notifiers != nullptr) {
        const size_t n = d->devices.size();
        *notifiers =
            n == 1 ? text("nobody: the domain has one rank") : text("any other rank of %s:", d->name.c_str());
        for (size_t other = 0; n > 1 && n <= 16 && other < n; ++other) {
          if (other != r) *notifiers += text(" %lld", static_cast<long long>(d->devices[other]));
        }
        if (n > 16) *notifiers += text(" %zu ranks", n - 1);
      }
      for (const auto& s : d->slots) {
        if (p < base + s.offset || p >= base + s.offset + s.bytes) continue;
        return text("%s.%s[%lld]", d->name.c_str(), s.name.c_str(),
                    static_cast<long long>((p - base - s.offset) / 4));
      }
      return text("%s+%lld", d->name.c_str(), static_cast<long long>(p - base));
    }
  }
  if (notifiers != nullptr) *notifiers = text("unknown");
  const Region* region = region_of(cell);
  if (region == nullptr) return text("memory outside of every window");
  return text("%s[%lld]", region->name.c_str(), static_cast<long long>((p - region->base) / 4));
}

// The column of a table line that `agent` fills.
std::string describe_cell(const Machine& m, const sim::Agent& a, int column, std::string& notifiers) {
  using Wait = sim::Agent::Wait;
  const int32_t line = peek(a.context->line);
  const char* kernel = peek(a.context->kernel);
  const char* chip = peek(a.context->chip);
  switch (column) {
    case 0:
      return text("%lld", static_cast<long long>(a.device));
    case 1:
      return text("%s", kernel != nullptr ? kernel : (chip != nullptr ? chip : "-"));
    case 2:
      return line > 0 ? text("%s:%d", m.program.source, line) : text("%s", m.program.source);
    case 3:
      if (a.wait == Wait::cell) return m.signal_name(a.cell, &notifiers);
      if (a.wait == Wait::message)
        return text("pipe %d to the %s core", a.number % 64, a.number < 64 ? "vector" : "cube");
      if (a.wait == Wait::event)
        return a.number < 0 ? text("barrier of the launch") : text("event %d", a.number);
      return text("(running)");
    case 4:
      return a.wait == Wait::cell ? text("%d", __atomic_load_n(a.cell, __ATOMIC_SEQ_CST)) : text("-");
    case 5:
      return a.wait == Wait::cell ? text("%s %d", compare_name(a.compare), a.want) : text("-");
    default:
      if (a.wait == Wait::cell) return notifiers;
      return text(a.wait == Wait::message || a.wait == Wait::event ? "the other cores of the launch" : "-");
  }
}

std::string Machine::hint(const sim::Agent& a) const {
  if (a.wait != sim::Agent::Wait::cell) return {};
  const std::string who = text("\n  rank %lld waits for %s", static_cast<long long>(a.device),
                               signal_name(a.cell, nullptr).c_str());
  const int32_t has = __atomic_load_n(a.cell, __ATOMIC_SEQ_CST);
  if (a.compare == sim::Compare::eq && has > a.want) {
    return who + text(" == %d and has missed it: the signal went on to %d; wait for >= %d (WaitCmp.Ge)",
                      a.want, has, a.want);
  }
  const Region* region = region_of(a.cell);
  if (region == nullptr || region->device < 0) return {};
  constexpr int kShown = 4;
  std::string others;
  int count = 0;
  const auto* cells = reinterpret_cast<const int32_t*>(region->base);
  for (int64_t i = 0; i < region->bytes / 4 && count <= kShown; ++i) {
    const int32_t value = __atomic_load_n(cells + i, __ATOMIC_RELAXED);
    if (value == 0 || cells + i == a.cell) continue;
    others += count++ == kShown
                  ? std::string(", ...")
                  : text("%s[%lld] = %d", count == 1 ? "" : ", ", static_cast<long long>(i), value);
  }
  if (has != 0 || count == 0) return {};
  return who + text(", which nobody has notified; notified are %s", others.c_str());
}

std::string table(const std::vector<std::string>& cells, size_t columns) {
  std::vector<int> width(columns);
  for (size_t i = 0; i < cells.size(); ++i)
    width[i % columns] = std::max(width[i % columns], static_cast<int>(cells[i].size()));
  std::string out;
  for (size_t i = 0; i < cells.size(); ++i) {
    const size_t c = i % columns;
    out += text("%s%-*s", c == 0 ? "\n  " : "  ", c == columns - 1 ? 0 : width[c], cells[i].c_str());
  }
  return out;
}

// A table of all ranks with work: what each waits for, or where it is.
std::string Machine::describe(const char* headline) const {
  std::vector<const sim::Agent*> agents;
  const auto insert = [&agents](const sim::Agent* a) {  // by device, then in order
    agents.push_back(a);
    for (size_t i = agents.size() - 1; i > 0 && agents[i - 1]->device > a->device; --i)
      std::swap(agents[i], agents[i - 1]);
  };
  for (const auto& w : workers) {
    if (w->busy && w->agent.wait != sim::Agent::Wait::join) insert(&w->agent);
  }
  for (const auto& h : helpers) {
    if (h->run != nullptr) insert(&h->agent);
  }
  constexpr size_t kColumns = 7;
  static const char* const kHeads[kColumns] = {"rank", "kernel", "source",           "signal",
                                               "has",  "wants",  "to be notified by"};
  std::vector<std::string> cells;
  for (const char* head : kHeads) cells.push_back(head);
  for (const sim::Agent* a : agents) {
    std::string notifiers;
    for (size_t i = 0; i < kColumns; ++i)
      cells.push_back(describe_cell(*this, *a, static_cast<int>(i), notifiers));
  }
  std::string out = headline + table(cells, kColumns);
  for (const sim::Agent* a : agents) out += hint(*a);
  std::string finished;
  for (size_t r = 0; r < workers.size(); ++r) {
    if (!workers[r]->busy) finished += text(finished.empty() ? "%zu" : ", %zu", r);
  }
  if (!finished.empty()) out += text("\n  ranks that have finished their work: %s", finished.c_str());
  return out;
}

// Ends runs that take too long, and looks again at cells that plain stores may have changed.
void Machine::watchdog_loop() {
  std::unique_lock lock(mutex);
  while (!quit) {
    watchdog_wake.wait_for(lock, std::chrono::milliseconds(active == 0 && busy_workers == 0 ? 1000 : 10));
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
  static thread_local std::unique_ptr<CoreMemory, FreeMemory> of_thread;
  auto& memory = context.agent != nullptr ? context.agent->memory : of_thread;
  if (memory == nullptr) {
    void* p = nullptr;
    if (posix_memalign(&p, alignof(CoreMemory), sizeof(CoreMemory)) != 0) throw std::bad_alloc();
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
  std::string message = context.line > 0 ? text("%s:%d: ", a->machine->program.source, context.line)
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
  if (context.agent == nullptr) return;
  if (peek(context.agent->machine->stopping))
    throw Stop{};  // without the lock: polling loops call this often
}

void wake_cell(const int32_t* cell) {
  if (context.agent == nullptr) return;  // the watchdog looks, too
  Machine& m = *context.agent->machine;
  std::lock_guard lock(m.mutex);
  m.wake(cell);
}

// A peer on another core answers within a microsecond. With more threads than cores it may need this one: then the core
// is given away at once, and a few times, because the threads that share it take turns within microseconds, too.
struct Patience {
  int spins;
  int yields;
};
Patience patience(const Machine& m) {
  if (m.order != nullptr) return {0, 0};
  static const size_t cores = std::thread::hardware_concurrency();  // asks the system: not in every wait
  const size_t threads = m.threads.load(std::memory_order_relaxed);
  if (threads <= cores) return {2000, 2};
  return {0, threads <= 4 * cores ? 16 : 4};
}

void wait_cell(const int32_t* cell, int32_t want, Compare c) {
  Agent* a = context.agent;
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
