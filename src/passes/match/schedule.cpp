#include "passes/match/schedule.h"

#include <algorithm>
#include <map>
#include <set>

namespace pldc::match {
namespace {

class Simulation {
 public:
  Simulation(const Trace& trace, const std::vector<int>& priority) : trace_(trace), priority_(priority) {
    for (std::size_t d = 0; d < trace.devices.size(); ++d) {
      start(&trace.devices[d], static_cast<std::int64_t>(d), kNone);
    }
  }

  Outcome run() {
    while (!ready_.empty()) {
      const std::size_t p = ready_.begin()->second;
      if (!step(p)) ready_.erase({priority_of(p), p});
    }
    finish();
    return std::move(outcome_);
  }

 private:
  static constexpr std::size_t kNone = ~std::size_t{0};
  // A device, or one block of a launch on it.
  struct Process {
    const Events* events;
    std::int64_t device;
    std::size_t parent;
    std::size_t next = 0;
    std::size_t children = 0;
  };

  int priority_of(std::size_t p) const { return priority_[static_cast<std::size_t>(processes_[p].device)]; }
  void wake(std::size_t p) { ready_.insert({priority_of(p), p}); }

  void start(const Events* events, std::int64_t device, std::size_t parent) {
    processes_.push_back({events, device, parent});
    wake(processes_.size() - 1);
  }

  // False if the process cannot move now.
  bool step(std::size_t p) {
    if (processes_[p].children != 0) return false;
    if (processes_[p].next == processes_[p].events->size()) {
      const std::size_t parent = processes_[p].parent;
      if (parent != kNone && --processes_[parent].children == 0) {
        ++processes_[parent].next;
        wake(parent);
      }
      return false;
    }
    const Event& e = (*processes_[p].events)[processes_[p].next];
    if (e.kind == EventKind::Fork) {
      processes_[p].children = e.branches.size();
      for (const Events& branch : e.branches) start(&branch, processes_[p].device, p);
      return false;
    }
    if (!trace_.allocations[e.cell.allocation].uncertain) {
      if (e.kind == EventKind::Notify) notify(e);
      if (e.kind == EventKind::Wait && !passes(e)) {
        waiting_[e.cell].insert(p);
        return false;
      }
      if (e.kind == EventKind::Collective) return join(p, e);
    }
    ++processes_[p].next;
    return true;
  }

  void notify(const Event& e) {
    std::int64_t& cell = cells_[e.cell];
    // Cells are 32 bits wide and wrap.
    const std::int64_t sum = e.op == NotifyOp::Set ? e.value : cell + e.value;
    cell = static_cast<std::int32_t>(static_cast<std::uint32_t>(sum));
    const auto waiters = waiting_.find(e.cell);
    if (waiters == waiting_.end()) return;
    for (const std::size_t p : waiters->second) wake(p);
    waiting_.erase(waiters);
  }

  bool passes(const Event& e) const {
    const std::int64_t has = value_of(e.cell);
    return e.cmp == WaitCmp::Eq ? has == e.value : has >= e.value;
  }
  std::int64_t value_of(const Cell& cell) const {
    const auto found = cells_.find(cell);
    return found != cells_.end() ? found->second : 0;
  }

  bool join(std::size_t p, const Event& e) {
    const Cell key{e.cell.allocation, 0, e.cell.byte};
    std::map<std::int64_t, std::size_t>& entered = entered_[key];
    entered[processes_[p].device] = p;
    const Domain& domain = trace_.domain_of(e);
    if (entered.size() < domain.devices.size()) return false;
    const auto event_of = [&](std::size_t q) { return &(*processes_[q].events)[processes_[q].next]; };
    const std::size_t first = entered.begin()->second;
    for (const auto& [device, q] : entered) {
      if (event_of(q)->collective != event_of(first)->collective) {
        outcome_.mismatches.push_back(
            {{event_of(first), processes_[first].device, 0}, {event_of(q), device, 0}});
        break;
      }
    }
    for (const auto& [device, q] : entered) {
      ++processes_[q].next;
      wake(q);
    }
    entered.clear();
    return true;
  }

  void finish() {
    for (const Process& p : processes_) {
      if (p.next == p.events->size()) continue;
      const Event& e = (*p.events)[p.next];
      if (e.kind != EventKind::Fork) outcome_.blocked.push_back({&e, p.device, value_of(e.cell)});
      // The branches of a fork that is under way are processes of their own.
      for (std::size_t i = p.next + 1; i < p.events->size(); ++i) unsent((*p.events)[i], p.device);
    }
    std::stable_sort(outcome_.blocked.begin(), outcome_.blocked.end(),
                     [](const Blocked& a, const Blocked& b) { return a.device < b.device; });
  }

  void unsent(const Event& e, std::int64_t device) {
    if (e.kind == EventKind::Notify) outcome_.unsent.push_back({&e, device, 0});
    for (const Events& branch : e.branches) {
      for (const Event& inner : branch) unsent(inner, device);
    }
  }

  const Trace& trace_;
  const std::vector<int>& priority_;
  std::vector<Process> processes_;
  std::set<std::pair<int, std::size_t>> ready_;
  std::map<Cell, std::int64_t> cells_;
  std::map<Cell, std::set<std::size_t>> waiting_;
  std::map<Cell, std::map<std::int64_t, std::size_t>> entered_;
  Outcome outcome_;
};

}  // namespace

Outcome run_schedule(const Trace& trace, const std::vector<int>& priority) {
  return Simulation(trace, priority).run();
}

}  // namespace pldc::match
