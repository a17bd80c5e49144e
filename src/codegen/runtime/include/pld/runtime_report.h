// Copyright The pldc authors. SPDX-License-Identifier: Apache-2.0
//
// What each rank waits for, as people read it. Included by watch.cpp only.
#pragma once
#include <cstdio>

#include "pld/runtime_state.h"

namespace pld {
namespace {

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

}  // namespace

// Of the table.
namespace {
constexpr size_t kColumns = 7;
}

Text Machine::signal_name(const int32_t* cell, Text* notifiers) const {
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
Text describe_cell(const Machine& m, const sim::Agent& a, int column, Text& notifiers) {
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

Text Machine::hint(const sim::Agent& a) const {
  if (a.wait != sim::Agent::Wait::cell) return {};
  const Text who = text("\n  rank %lld waits for %s", static_cast<long long>(a.device),
                        signal_name(a.cell, nullptr).c_str());
  const int32_t has = __atomic_load_n(a.cell, __ATOMIC_SEQ_CST);
  if (a.compare == sim::Compare::eq && has > a.want) {
    return who + text(" == %d and has missed it: the signal went on to %d; wait for >= %d (WaitCmp.Ge)",
                      a.want, has, a.want);
  }
  const Region* region = region_of(a.cell);
  if (region == nullptr || region->device < 0) return {};
  constexpr int kShown = 4;
  Text others;
  int count = 0;
  const auto* cells = reinterpret_cast<const int32_t*>(region->base);
  for (int64_t i = 0; i < region->bytes / 4 && count <= kShown; ++i) {
    const int32_t value = __atomic_load_n(cells + i, __ATOMIC_RELAXED);
    if (value == 0 || cells + i == a.cell) continue;
    others += count++ == kShown
                  ? Text(", ...")
                  : text("%s[%lld] = %d", count == 1 ? "" : ", ", static_cast<long long>(i), value);
  }
  if (has != 0 || count == 0) return {};
  return who + text(", which nobody has notified; notified are %s", others.c_str());
}

Text table(const Array<Text>& cells, size_t columns) {
  Array<int> width(columns);
  for (size_t i = 0; i < cells.size(); ++i) {
    const int size = static_cast<int>(cells[i].size());
    if (width[i % columns] < size) width[i % columns] = size;
  }
  Text out;
  for (size_t i = 0; i < cells.size(); ++i) {
    const size_t c = i % columns;
    out += text("%s%-*s", c == 0 ? "\n  " : "  ", c == columns - 1 ? 0 : width[c], cells[i].c_str());
  }
  return out;
}

// Of all ranks with work: what each waits for, or where it is.
void Machine::rows(Array<Text>& cells, Text& hints) const {
  Array<const sim::Agent*> agents;
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
  for (const sim::Agent* a : agents) {
    Text notifiers;
    for (size_t i = 0; i < kColumns; ++i)
      cells.push_back(describe_cell(*this, *a, static_cast<int>(i), notifiers));
  }
  for (const sim::Agent* a : agents) hints += hint(*a);
}

Text Machine::table_of(const Array<Text>& rows) {
  static const char* const kHeads[kColumns] = {"rank", "kernel", "source",           "signal",
                                               "has",  "wants",  "to be notified by"};
  Array<Text> cells;
  for (const char* head : kHeads) cells.push_back(head);
  for (const Text& cell : rows) cells.push_back(cell);
  return table(cells, kColumns);
}

Text Machine::describe(const char* headline) const {
  Array<Text> cells;
  Text hints, finished;
  rows(cells, hints);
  if (remote::enabled && cells.empty()) return headline;
  Text out = headline + table_of(cells) + hints;
  for (size_t r = 0; r < workers.size(); ++r) {
    if (!workers[r]->busy && runs(static_cast<int64_t>(r)))
      finished += text(finished.empty() ? "%zu" : ", %zu", r);
  }
  if (!finished.empty()) out += text("\n  ranks that have finished their work: %s", finished.c_str());
  return out;
}

}  // namespace pld
