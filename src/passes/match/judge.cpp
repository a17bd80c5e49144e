#include "passes/match/judge.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "passes/match/schedule.h"
#include "support/diag/verify.h"

namespace pldc::match {
namespace {

// Events that all schedules together may run through.
constexpr std::size_t kScheduleWork = 4'000'000;

// All that is ever told to a cell.
struct Told {
  std::int64_t added = 0;    // by those that add a positive number
  std::int64_t largest = 0;  // that is set
  bool any = false;
  bool falls = false;  // something is set or taken away
  bool awaited = false;
  std::vector<Span> places;
  // No order gives it more.
  std::int64_t most() const { return largest + added; }
};

class Judge {
 public:
  Judge(const Trace& trace, Findings& findings) : trace_(trace), findings_(findings) {}

  void run() {
    collect();
    for_each_event(trace_, [&](const Event& e, std::int64_t device) {
      if (e.kind == EventKind::Wait && certain(e)) whether_reachable(e, device);
      if (e.kind == EventKind::Notify && certain(e)) whether_awaited(e, device);
    });
    // Where something is not known, only sums and progress can be argued with.
    if (!monotone_ && !exact_) return;
    std::vector<int> priority(trace_.devices.size());
    for (std::size_t d = 0; d < priority.size(); ++d) priority[d] = static_cast<int>(d);
    if (!explain(run_schedule(trace_, priority)) || monotone_ || forks_) return;
    // Each device as slow, and as fast, as can be.
    std::size_t work = events_;
    for (std::size_t d = 0; d < priority.size(); ++d) {
      for (const int extreme : {static_cast<int>(priority.size()), -1}) {
        work += events_;
        if (work > kScheduleWork) return;
        std::vector<int> order = priority;
        order[d] = extreme;
        if (!explain(run_schedule(trace_, order))) return;
      }
    }
  }

 private:
  bool certain(const Event& e) const { return !trace_.allocations[e.cell.allocation].uncertain; }
  const Allocation& allocation(const Event& e) const { return trace_.allocations[e.cell.allocation]; }
  std::int64_t rank(const Event& e, std::int64_t device) const {
    return trace_.domain_of(e).rank_of(device).value_or(device);
  }
  std::string cell(const Event& e) const { return fmt::format("'{}'{}", allocation(e).name, e.shown); }
  std::string wish(const Event& e) const {
    return fmt::format("{} {} {}", cell(e), e.cmp == WaitCmp::Eq ? "==" : ">=", e.value);
  }

  void collect() {
    for (const Events& events : trace_.devices) {
      forks_ = forks_ || std::any_of(events.begin(), events.end(),
                                     [](const Event& e) { return e.kind == EventKind::Fork; });
    }
    for_each_event(trace_, [&](const Event& e, std::int64_t) {
      ++events_;
      if (e.kind == EventKind::Collective) return;
      Told& told = told_[e.cell];
      if (e.kind == EventKind::Wait) {
        told.awaited = true;
        if (e.cmp == WaitCmp::Eq && certain(e)) monotone_ = false;
        return;
      }
      told.any = true;
      if (told.places.size() < 4 &&
          std::find(told.places.begin(), told.places.end(), e.place) == told.places.end()) {
        told.places.push_back(e.place);
      }
      if (e.op == NotifyOp::Set) {
        told.largest = std::max(told.largest, e.value);
      } else if (e.value > 0) {
        told.added += e.value;
      }
      if (e.op != NotifyOp::Set && e.value >= 0) return;
      told.falls = true;
      if (certain(e)) monotone_ = false;
    });
    for (const Allocation& a : trace_.allocations)
      exact_ = exact_ && !(a.uncertain && (a.cells || a.collective));
  }

  void whether_reachable(const Event& e, std::int64_t device) {
    const Told& told = told_[e.cell];
    // A cell starts at 0, and below 0 only what takes away leads.
    if (e.value <= 0 || told.most() >= e.value) return;
    const std::int64_t own = rank(e, device);
    if (told.any) {
      auto& found = findings_.add<diag::match_unreachable>(
          e.place, own, {std::to_string(own), wish(e), std::to_string(told.most())},
          "a wait counts from the start of the run: cells keep their value until something takes it away");
      for (const Span place : told.places) add_note(found, place, "this notifies the cell");
      return;
    }
    auto& found =
        findings_.add<diag::match_no_notify>(e.place, own, {std::to_string(own), wish(e)},
                                             "notify(signal, peer=..., offsets=...) reaches the cell of the "
                                             "rank `peer` that `offsets` name, which `wait` there "
                                             "must name too");
    // The likeliest slip is a wrong cell.
    for (const auto& [other, its] : told_) {
      if (other.allocation != e.cell.allocation || other.device != e.cell.device || !its.any) continue;
      add_note(found, its.places[0], "this notifies another cell of the same window");
      break;
    }
  }

  void whether_awaited(const Event& e, std::int64_t device) {
    const Allocation& window = allocation(e);
    if (window.read || window.collective || e.value <= 0 || told_[e.cell].awaited) return;
    if (trace_.domain_of(e).devices.size() == 1) return;  // alone there is nobody to wait for
    const std::int64_t own = rank(e, device);
    findings_.add<diag::match_no_wait>(e.place, own,
                                       {std::to_string(own), cell(e), std::to_string(rank(e, e.cell.device))},
                                       "wait for it before reading what it announces, or leave it out");
  }

  static void add_note(Findings::Finding& found, Span place, std::string text) {
    if (found.notes.size() >= 4) return;
    for (const auto& [at, what] : found.notes) {
      if (at == place) return;
    }
    found.notes.emplace_back(place, std::move(text));
  }

  // True if nothing is wrong with the run.
  bool explain(const Outcome& outcome) {
    for (const auto& [first, other] : outcome.mismatches) {
      differ(other, first);
    }
    bool plain = !outcome.mismatches.empty() || findings_.has(diag::match_no_notify) ||
                 findings_.has(diag::match_unreachable);
    for (const Blocked& b : outcome.blocked) {
      if (b.event->kind == EventKind::Collective) {
        plain = explain_join(outcome, b) || plain;
      } else {
        plain = explain_wait(outcome, b) || plain;
      }
    }
    if (!plain && !outcome.blocked.empty()) explain_circle(outcome);
    return outcome.blocked.empty() && outcome.mismatches.empty();
  }

  static constexpr const char* kOneOrder =
      "all ranks of a domain call the same collectives in the same order; move the call out of what only "
      "some ranks do";

  void differ(const Blocked& at, const Blocked& other) {
    const std::int64_t own = rank(*at.event, at.device);
    const std::int64_t their = rank(*other.event, other.device);
    auto& found = findings_.add<diag::match_order>(
        at.event->place, own,
        {std::to_string(own), at.event->collective, allocation(*at.event).name, std::to_string(their),
         other.event->collective, allocation(*other.event).name},
        kOneOrder);
    add_note(found, other.event->place, fmt::format("rank {} is here", their));
  }

  bool explain_join(const Outcome& outcome, const Blocked& at) {
    const Domain& domain = trace_.domain_of(*at.event);
    const std::int64_t own = rank(*at.event, at.device);
    std::set<std::int64_t> absent;
    bool told = false;
    for (std::size_t r = 0; r < domain.devices.size(); ++r) {
      const auto other = std::find_if(outcome.blocked.begin(), outcome.blocked.end(),
                                      [&](const Blocked& b) { return b.device == domain.devices[r]; });
      if (other == outcome.blocked.end()) {
        absent.insert(static_cast<std::int64_t>(r));
        continue;
      }
      const Event& e = *other->event;
      const bool together = e.kind == EventKind::Collective &&
                            e.cell.allocation == at.event->cell.allocation &&
                            e.cell.byte == at.event->cell.byte;
      if (together || e.kind != EventKind::Collective) continue;
      const std::int64_t their = rank(e, other->device);
      told = true;
      if (their < own) continue;  // said from there
      differ(at, *other);
    }
    if (absent.empty()) return told;
    findings_.add<diag::match_partial>(
        at.event->place, own,
        {at.event->collective, allocation(*at.event).name, std::to_string(own), rank_list(absent)},
        kOneOrder);
    return true;
  }

  // A wait that nothing will end any more, though the cell once had, or could have had, the value.
  bool explain_wait(const Outcome& outcome, const Blocked& at) {
    const Event& e = *at.event;
    const bool comes = std::any_of(outcome.unsent.begin(), outcome.unsent.end(),
                                   [&](const Blocked& b) { return b.event->cell == e.cell; });
    const Told& told = told_[e.cell];
    const bool passed = e.cmp == WaitCmp::Eq && at.has > e.value && !told.falls;
    if ((comes && !passed) || told.most() < e.value) return false;
    const std::int64_t own = rank(e, at.device);
    auto& found = findings_.add<diag::match_missed>(
        e.place, own, {std::to_string(own), wish(e), std::to_string(at.has)},
        e.cmp == WaitCmp::Eq
            ? "wait with cmp=pld.WaitCmp.Ge: a cell may pass a value before the rank looks at it"
            : "take back only what has been waited for");
    for (const Span place : told.places) add_note(found, place, "this notifies the cell");
    return true;
  }

  void explain_circle(const Outcome& outcome) {
    const Blocked& first = outcome.blocked.front();
    const std::int64_t own = rank(*first.event, first.device);
    const auto what = [&](const Event& e) {
      return e.kind == EventKind::Wait
                 ? wish(e)
                 : fmt::format("all ranks in the {} on '{}'", e.collective, allocation(e).name);
    };
    auto& found = findings_.add<diag::match_deadlock>(first.event->place, own,
                                                      {std::to_string(own), what(*first.event)},
                                                      "let every rank notify before it waits");
    for (const Blocked& b : outcome.unsent) {
      if (first.event->kind != EventKind::Wait || b.event->cell != first.event->cell) continue;
      add_note(found, b.event->place, fmt::format("rank {} would notify it here", rank(*b.event, b.device)));
      break;
    }
    for (const Blocked& b : outcome.blocked) {
      if (b.event == first.event) continue;
      add_note(found, b.event->place,
               fmt::format("rank {} waits here for {}", rank(*b.event, b.device), what(*b.event)));
    }
  }

  const Trace& trace_;
  Findings& findings_;
  std::map<Cell, Told> told_;
  std::size_t events_ = 0;
  bool monotone_ = true;
  bool exact_ = true;
  bool forks_ = false;
};

}  // namespace

void judge(const Trace& trace, Findings& findings) { Judge(trace, findings).run(); }

}  // namespace pldc::match
