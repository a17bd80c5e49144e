// Copyright The pldc authors. SPDX-License-Identifier: Apache-2.0
//
// Bodies of Races: vector clocks as in FastTrack (Flanagan, Freund, PLDI 2009), over intervals of bytes. Included by
// watch.cpp only.
#pragma once
#include <map>

#include "pld/runtime_watch.h"

namespace pld {

// What a wait needs to be told about one signal cell: its last values, oldest first.
struct Notified {
  int32_t value;
  Clock clock;  // of all who had a part in the value
  int thread;   // who gave it, and when
  uint32_t time;
  int64_t device;
  int32_t line;
};

struct Races::State {
  explicit State(const Machine& machine) : machine_(machine) { clear(); }

  void clear() {
    clocks_.clear();
    clocks_.resize(1 + machine_.workers.size());
    for (size_t i = 0; i < clocks_.size(); ++i) clocks_[i].of(static_cast<int>(i)) = 1;
    cores_.clear();
    cells_.clear();
    shadows_.clear();
    seen_.clear();
    reported_.clear();
    texts_.clear();
    more_ = 0;
  }

  // ---- clocks ----

  int core(int64_t device, int number) {
    int& at = cores_[Pair{device, number}];
    if (at == 0) {
      at = static_cast<int>(clocks_.size());
      clocks_.push_back({});
      clocks_.back().of(at) = 1;
    }
    return at;
  }
  const Clock& clock(int thread) const { return clocks_[static_cast<size_t>(thread)]; }
  void release(int thread, Clock& into) {
    Clock& mine = clocks_[static_cast<size_t>(thread)];
    into.join(mine);
    ++mine.of(thread);
  }
  void acquire(int thread, const Clock& from) { clocks_[static_cast<size_t>(thread)].join(from); }

  // ---- signals ----

  void notified(const int32_t* cell, const sim::Agent& agent, int32_t value, bool add) {
    Queue<Notified>& history = cells_[cell];
    Notified now{value, {}, agent.clock, clock(agent.clock).of(agent.clock), agent.device, sim::context.line};
    if (add && !history.empty()) now.clock = history.back().clock;
    release(agent.clock, now.clock);
    history.push_back(std::move(now));
    if (history.size() > kHistory) history.pop_front();
  }

  // A wait has ended. It could have ended with the first of the last values that were right, but not with one from before
  // what the waiting thread knows of: it is ordered after what had led to that value.
  void waited(const int32_t* cell, const sim::Agent& agent, int32_t want, sim::Compare compare) {
    const Queue<Notified>* found = cells_.find(cell);
    if (found == nullptr) return;
    const Queue<Notified>& history = *found;
    size_t i = history.size();
    while (i > 0 && !sim::holds(history[i - 1].value, want, compare)) --i;
    if (i == 0) return;
    const auto known = [&](const Notified& n) { return n.time <= clock(agent.clock).of(n.thread); };
    while (i > 1 && !known(history[i - 1]) && sim::holds(history[i - 2].value, want, compare)) --i;
    const Notified& seen = history[i - 1];
    // The cell is 0 before anybody notifies it.
    if (i == 1 && history.size() < kHistory && !known(seen) && sim::holds(0, want, compare)) return;
    acquire(agent.clock, seen.clock);
    seen_[Pair{seen.device, agent.device}] = {machine_.signal_name(cell, nullptr), seen.line,
                                              sim::context.line};
  }

  // ---- accesses ----

  void access(const Region& region, const sim::Access& a, const sim::Agent& agent) {
    int64_t run = a.element_bytes;  // contiguous
    int axis = 5;
    while (axis > 0 && (a.shape[axis - 1] == 1 || a.stride[axis - 1] * a.element_bytes == run))
      run *= a.shape[--axis];
    int64_t runs = 1, span = 0;
    for (int i = 0; i < 5; ++i) {
      if (i < axis) runs *= a.shape[i];
      span += (a.shape[i] - 1) * a.stride[i] * a.element_bytes;
    }
    const int64_t start = static_cast<const char*>(a.base) - region.base;
    const Ref me(new Entry{agent.clock, clock(agent.clock).of(agent.clock), a.kind, agent.device, agent.core,
                           sim::context.kernel != nullptr ? sim::context.kernel : sim::context.chip,
                           sim::context.line, start, start + span + a.element_bytes, 0});
    Owned<Shadow>& of_region = shadows_[region.base];
    if (of_region == nullptr) of_region.reset(new Shadow);
    Shadow& shadow = *of_region;
    for (int64_t n = 0; n < runs; ++n) {
      int64_t at = start, rest = n;
      for (int i = axis; i-- > 0;) {
        at += rest % a.shape[i] * a.stride[i] * a.element_bytes;
        rest /= a.shape[i];
      }
      touch(region, shadow, at, at + run, me);
    }
  }

  // The races found, for people; empty if there are none.
  Text report() const {
    Text all;
    for (const Text& t : texts_) all += (all.empty() ? "" : "\n") + t;
    if (more_ > 0) all += text("\n%lld more races are not shown", static_cast<long long>(more_));
    return all;
  }

 private:
  static constexpr size_t kHistory = 16;  // values of a cell
  static constexpr size_t kShown = 10;

  struct Entry {
    int thread;
    uint32_t time;
    sim::AccessKind kind;
    int64_t device;
    int core;
    const char* kernel;
    int32_t line;
    int64_t first, end;  // bytes of the buffer
    int owners;
  };
  // One of the owners of an entry.
  class Ref {
   public:
    Ref() = default;
    explicit Ref(Entry* e) : e_(e) { ++e_->owners; }
    Ref(const Ref& other) : e_(other.e_) {
      if (e_ != nullptr) ++e_->owners;
    }
    Ref& operator=(const Ref& other) {
      const Ref old = *this;
      drop();
      e_ = other.e_;
      if (e_ != nullptr) ++e_->owners;
      return *this;
    }
    ~Ref() { drop(); }
    const Entry* operator->() const { return e_; }
    const Entry& operator*() const { return *e_; }
    bool empty() const { return e_ == nullptr; }

   private:
    void drop() {
      if (e_ != nullptr && --e_->owners == 0) delete e_;
    }
    Entry* e_ = nullptr;
  };

  // One stretch of bytes: the last plain write, and what came after it.
  struct Stretch {
    int64_t end;
    Ref write;
    Array<Ref> later;  // plain reads and indivisible accesses, the last of each thread and kind
  };
  using Shadow = std::map<int64_t, Stretch>;  // by begin

  struct Seen {
    Text cell;
    int32_t notified, waited;  // lines
  };

  struct Pair {
    int64_t first, second;
    bool operator<(const Pair& o) const { return first != o.first ? first < o.first : second < o.second; }
  };

  static bool indivisible(sim::AccessKind k) {
    return k == sim::AccessKind::atomic || k == sim::AccessKind::notify || k == sim::AccessKind::wait;
  }
  static bool reads_only(sim::AccessKind k) {
    return k == sim::AccessKind::read || k == sim::AccessKind::wait;
  }

  static void split(Shadow& s, int64_t at) {
    auto next = s.upper_bound(at);
    if (next == s.begin()) return;
    auto here = next;
    --here;
    if (here->first == at || here->second.end <= at) return;
    Stretch rest = here->second;
    here->second.end = at;
    s.emplace_hint(next, at, std::move(rest));
  }

  void touch(const Region& region, Shadow& s, int64_t begin, int64_t end, const Ref& me) {
    split(s, begin);
    split(s, end);
    int64_t at = begin;
    for (auto i = s.lower_bound(begin); i != s.end() && i->first < end; ++i) {
      meet(region, i->second.write, me, i->first, i->second.end);
      for (const Ref& other : i->second.later) meet(region, other, me, i->first, i->second.end);
    }
    if (me->kind == sim::AccessKind::write) {
      s.erase(s.lower_bound(begin), s.lower_bound(end));
      s[begin] = {end, me, {}};
      return;
    }
    while (at < end) {
      auto i = s.lower_bound(at);
      if (i == s.end() || i->first > at) {
        const int64_t stop = i == s.end() || i->first > end ? end : i->first;
        s.emplace_hint(i, at, Stretch{stop, {}, {me}});
        at = stop;
        continue;
      }
      bool known = false;
      for (Ref& r : i->second.later) {
        if (r->thread != me->thread || r->kind != me->kind) continue;
        r = me;
        known = true;
      }
      if (!known) i->second.later.push_back(me);
      at = i->second.end;
    }
  }

  void meet(const Region& region, const Ref& before, const Ref& now, int64_t begin, int64_t end) {
    if (before.empty() || before->thread == now->thread) return;
    if (reads_only(before->kind) && reads_only(now->kind)) return;
    if (indivisible(before->kind) && indivisible(now->kind)) return;
    if (before->time <= clock(now->thread).of(before->thread)) return;
    const Text key =
        text("%s|%s:%d:%d|%s:%d:%d", region.name.c_str(), before->kernel, before->line,
             static_cast<int>(before->kind), now->kernel, now->line, static_cast<int>(now->kind));
    bool& known = reported_[key];
    if (known) return;
    known = true;
    if (texts_.size() == kShown) {
      ++more_;
      return;
    }
    texts_.push_back(describe(region, *before, *now, begin, end));
  }

  Text place(int32_t line) const {
    return line > 0 ? text("%s:%d", machine_.program.source, line) : Text(machine_.program.source);
  }

  Text describe(const Region& region, const Entry& a, const Entry& b, int64_t begin, int64_t end) const {
    static const char* const kVerbs[] = {"reads", "writes", "adds to", "notifies", "waits on"};
    const bool cores = a.device == b.device;
    Array<Text> cells = {"rank", "kernel", "source", "access", "bytes"};
    for (const Entry* e : {&a, &b}) {
      cells.push_back(cores ? text("%lld core %d", static_cast<long long>(e->device), e->core)
                            : text("%lld", static_cast<long long>(e->device)));
      cells.push_back(e->kernel);
      cells.push_back(place(e->line));
      cells.push_back(kVerbs[static_cast<int>(e->kind)]);
      cells.push_back(
          text("%lld..%lld", static_cast<long long>(e->first), static_cast<long long>(e->end - 1)));
    }
    Text out =
        text("race: bytes %lld..%lld of %s in the window of rank %lld: nothing orders these two accesses",
             static_cast<long long>(begin), static_cast<long long>(end - 1), region.name.c_str(),
             static_cast<long long>(region.device)) +
        table(cells, 5);
    const Text from = cells[5], to = cells[10];
    if (cores) {
      return out +
             text("\n  missing: between the cores of one launch only a barrier, an event or a pipe orders");
    }
    out += text("\n  missing: a signal that rank %s notifies after %s and rank %s waits for before %s",
                from.c_str(), place(a.line).c_str(), to.c_str(), place(b.line).c_str());
    const Seen* seen = seen_.find(Pair{a.device, b.device});
    if (seen == nullptr) {
      return out + text("\n  rank %s has waited for no signal of rank %s so far", to.c_str(), from.c_str());
    }
    return out + text(
                     "\n  the last signal of rank %s that rank %s has waited for is %s: notified at %s, "
                     "before that access; waited for at %s",
                     from.c_str(), to.c_str(), seen->cell.c_str(), place(seen->notified).c_str(),
                     place(seen->waited).c_str());
  }

  const Machine& machine_;
  Array<Clock> clocks_;
  Sorted<Pair, int> cores_;  // 0: not made yet, the host has that one
  Sorted<const int32_t*, Queue<Notified>> cells_;
  Sorted<const char*, Owned<Shadow>> shadows_;
  Sorted<Pair, Seen> seen_;  // last wait of the second device for the first
  Sorted<Text, bool> reported_;
  Array<Text> texts_;
  int64_t more_ = 0;
};

Races::Races(const Machine& machine) : state_(new State(machine)) {}
Races::~Races() { delete state_; }
void Races::clear() { state_->clear(); }
int Races::core(int64_t device, int number) {
  return number == 0 ? worker(device) : state_->core(device, number);
}
void Races::release(int thread, Clock& into) { state_->release(thread, into); }
void Races::acquire(int thread, const Clock& from) { state_->acquire(thread, from); }
void Races::order(int before, int after) {
  Clock c;
  release(before, c);
  acquire(after, c);
}
void Races::notified(const int32_t* cell, const sim::Agent& agent, int32_t value, bool add) {
  state_->notified(cell, agent, value, add);
}
void Races::waited(const int32_t* cell, const sim::Agent& agent, int32_t want, sim::Compare compare) {
  state_->waited(cell, agent, want, compare);
}
void Races::access(const Region& region, const sim::Access& access, const sim::Agent& agent) {
  state_->access(region, access, agent);
}
Text Races::report() const { return state_->report(); }

}  // namespace pld
