// Copyright The pldc authors. SPDX-License-Identifier: Apache-2.0
//
// Where checks, traces and seeded schedules look at what kernels do with memory and signals. Included by watch.cpp
// only.
#pragma once
#include "pld/runtime_report.h"
#include "pld/runtime_watch.h"

namespace pld {

namespace {
Text of_rank(const Region& r) {  // host memory is of none
  return r.rank < 0 ? Text() : text(" (rank %lld)", static_cast<long long>(r.rank));
}
}  // namespace

const Region* Machine::inside(const char* p, int64_t bytes, sim::AccessKind kind) const {
  const Region* region = region_of(p);
  if (!options.check_bounds) return region;
  if (region != nullptr && bytes <= region->base + region->bytes - p) return region;
  Text where = "memory outside of every window and tensor";
  if (region == nullptr) {  // say what is near
    int64_t best = 1 << 20;
    for (const Region& r : regions) {
      const bool behind = p >= r.base + r.bytes;
      const int64_t distance = behind ? p - (r.base + r.bytes) : r.base - p;
      if (distance < 0 || distance >= best) continue;
      best = distance;
      where = text("memory outside of every window and tensor, %lld bytes %s %s%s",
                   static_cast<long long>(distance), behind ? "behind" : "before", r.name.c_str(),
                   of_rank(r).c_str());
    }
  } else {
    where = text("%s%s, which has %lld bytes, at offset %lld", region->name.c_str(), of_rank(*region).c_str(),
                 static_cast<long long>(region->bytes), static_cast<long long>(p - region->base));
  }
  static const char* const kNames[] = {"reads", "writes", "adds to", "notifies", "waits on"};
  const sim::Context& c = sim::context;
  throw Error(text("%s:%d: %s %s on rank %lld %s %lld bytes in %s", program.source, c.line,
                   c.kernel != nullptr ? "kernel" : "chip orchestration",
                   c.kernel != nullptr ? c.kernel : (c.chip != nullptr ? c.chip : "?"),
                   static_cast<long long>(c.agent->device), kNames[static_cast<int>(kind)],
                   static_cast<long long>(bytes), where.c_str()),
              4);
}

namespace {

sim::Access one_cell(const int32_t* cell, sim::AccessKind kind) {
  return {cell, {1, 1, 1, 1, 1}, {1, 1, 1, 1, 1}, 4, kind};
}

// The waiting thread has seen what it waited for; mutex held.
void seen_right(Machine& m, const int32_t* cell, int32_t want, sim::Compare c) {
  if (m.races == nullptr) return;
  const sim::Agent& agent = *sim::context.agent;
  m.races->waited(cell, agent, want, c);
  const Region* region = m.region_of(cell);
  if (region != nullptr && region->device >= 0)
    m.races->access(*region, one_cell(cell, sim::AccessKind::wait), agent);
}

Text line_argument() { return text("\"line\": %d", sim::context.line); }

}  // namespace

namespace sim {

bool observe(const Access& a) {
  if (context.agent == nullptr) return false;
  int64_t span = 1, count = 1;
  for (int i = 0; i < 5; ++i) {
    if (a.shape[i] <= 0) return false;
    span += (a.shape[i] - 1) * a.stride[i];
    count *= a.shape[i];
  }
  Agent& agent = *context.agent;
  Machine& m = *agent.machine;
  visible(m);
  const Lock lock(m.mutex);
  const Region* region = m.inside(static_cast<const char*>(a.base), span * a.element_bytes, a.kind);
  if (region == nullptr || region->device < 0) return false;
  if (m.races != nullptr) m.races->access(*region, a, agent);
  if (m.trace == nullptr) return false;
  const bool remote = region->device != agent.device;
  const bool writes = a.kind != AccessKind::read;
  const int64_t bytes = count * a.element_bytes;
  if (remote) m.trace->moved(agent.device, writes, bytes);
  static const char* const kVerbs[] = {"read", "write", "add to", "notify", "wait on"};
  agent.spans.push_back(
      m.trace->begin(agent.device, agent.core, remote ? "transfer" : "window",
                     text("%s %s", kVerbs[static_cast<int>(a.kind)], region->name.c_str()),
                     text("\"bytes\": %lld, \"of rank\": %lld, ", static_cast<long long>(bytes),
                          static_cast<long long>(region->device)) +
                         line_argument()));
  return true;
}

void observe_end() {
  Agent& agent = *context.agent;
  const Lock lock(agent.machine->mutex);
  agent.machine->trace->end(agent.spans.back());
  agent.spans.pop_back();
}

void notify_observed(int32_t* cell, int32_t value, bool add) {
  if (context.agent == nullptr) {
    add ? add_cell(cell, value) : set_cell(cell, value);
    return;
  }
  const Agent& agent = *context.agent;
  Machine& m = *agent.machine;
  visible(m);
  Lock lock(m.mutex);
  const Region* region = m.inside(reinterpret_cast<const char*>(cell), 4, AccessKind::notify);
  if (m.races != nullptr) {
    if (region != nullptr && region->device >= 0)
      m.races->access(*region, one_cell(cell, AccessKind::notify), agent);
    // Together with the notify itself: nobody else changes a cell between the two.
    const int32_t before = add ? __atomic_load_n(cell, __ATOMIC_SEQ_CST) : 0;
    const auto after = static_cast<int32_t>(static_cast<uint32_t>(before) + static_cast<uint32_t>(value));
    m.races->notified(cell, agent, after, add);
  }
  if (m.trace != nullptr) {
    m.trace->end(m.trace->begin(agent.device, agent.core, "signal", "notify " + m.signal_name(cell, nullptr),
                                text("\"%s\": %d, ", add ? "add" : "set", value) + line_argument()));
  }
  if constexpr (remote::enabled) {
    lock.unlock();
    if (remote::notify(cell, value, add)) return;
    lock.lock();
  }
  if (add) {
    __atomic_fetch_add(cell, value, __ATOMIC_SEQ_CST);
  } else {
    __atomic_store_n(cell, value, __ATOMIC_SEQ_CST);
  }
  m.wake(cell);
}

void wait_observed(const int32_t* cell, int32_t want, Compare c) {
  if (context.agent == nullptr) {
    if (!holds(get_cell(cell), want, c)) wait_cell(cell, want, c);
    return;
  }
  const Agent& agent = *context.agent;
  Machine& m = *agent.machine;
  visible(m);
  {
    const Lock lock(m.mutex);
    m.inside(reinterpret_cast<const char*>(cell), 4, AccessKind::wait);
  }
  const Spanned span(
      m, agent.device, agent.core, "wait",
      [&] { return text("wait %s %s %d", m.signal_name(cell, nullptr).c_str(), compare_name(c), want); },
      line_argument);
  if (!holds(get_cell(cell), want, c)) wait_cell(cell, want, c);
  const Lock lock(m.mutex);
  seen_right(m, cell, want, c);
}

bool test_observed(const int32_t* cell, int32_t want, Compare c) {
  if (context.agent == nullptr) return holds(get_cell(cell), want, c);
  Machine& m = *context.agent->machine;
  visible(m);
  const Lock lock(m.mutex);
  m.inside(reinterpret_cast<const char*>(cell), 4, AccessKind::wait);
  const bool right = holds(get_cell(cell), want, c);
  if (right) seen_right(m, cell, want, c);
  return right;
}

}  // namespace sim
}  // namespace pld
