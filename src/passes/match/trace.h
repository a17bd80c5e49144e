// What the ranks of a program tell each other, found by unrolling it (unroll.h) and judged in judge.h.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "ir/enums.h"
#include "ir/expr.h"

namespace pldc::match {

struct Domain {
  std::string name;
  std::vector<std::int64_t> devices;  // ascending; the position of a device is its rank
  std::optional<std::int64_t> rank_of(std::int64_t device) const;
};

// One window. Cells are known by their byte offset in it.
struct Allocation {
  std::string name;
  std::size_t domain = 0;
  std::optional<std::int64_t> bytes;  // of each rank
  Span place;
  // Something that is not known may notify or wait here, or write over the cells: nothing can be said.
  bool uncertain = false;
  bool read = false;        // as data: a notify may be meant for a reader
  bool collective = false;  // the signal of a collective
  bool cells = false;       // of notifies and waits
};

struct Cell {
  std::size_t allocation = 0;
  std::int64_t device = 0;
  std::int64_t byte = 0;
  friend auto operator<=>(const Cell&, const Cell&) = default;
};

enum class EventKind : std::uint8_t { Notify, Wait, Collective, Fork };

struct Event {
  EventKind kind = EventKind::Notify;
  Span place;
  Cell cell;          // Collective: the signal, with the own device
  std::string shown;  // the cell as the text indexes it: "[2, 0]"
  std::int64_t value = 0;
  NotifyOp op = NotifyOp::AtomicAdd;
  WaitCmp cmp = WaitCmp::Ge;
  std::string collective;                    // "allreduce", with what must agree: "broadcast from root 1"
  std::vector<std::vector<Event>> branches;  // Fork: blocks of one launch, which run at the same time
};
using Events = std::vector<Event>;

struct Trace {
  std::vector<Domain> domains;
  std::vector<Allocation> allocations;
  std::vector<Events> devices;  // in the order in which the device runs them
  const Domain& domain_of(const Event& e) const { return domains[allocations[e.cell.allocation].domain]; }
};

// f(event, device) for all, those in forks included.
template <class F>
void for_each_event(const Events& events, std::int64_t device, F&& f) {
  for (const Event& e : events) {
    if (e.kind != EventKind::Fork) {
      f(e, device);
      continue;
    }
    for (const Events& branch : e.branches) for_each_event(branch, device, f);
  }
}
template <class F>
void for_each_event(const Trace& trace, F&& f) {
  for (std::size_t d = 0; d < trace.devices.size(); ++d) {
    for_each_event(trace.devices[d], static_cast<std::int64_t>(d), f);
  }
}

}  // namespace pldc::match
