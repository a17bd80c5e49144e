// Runs the events of all devices against each other in one order and tells who cannot go on.
//
// With notifies that only add and waits for "at least", the order does not matter: who is stuck in one is stuck in all.
#pragma once

#include <vector>

#include "passes/match/trace.h"

namespace pldc::match {

struct Blocked {
  const Event* event;  // a wait or a collective
  std::int64_t device;
  std::int64_t has;  // what the cell of a wait holds
};

struct Outcome {
  std::vector<Blocked> blocked;  // by device; empty: all came to their end
  // Notifies that nobody came to.
  std::vector<Blocked> unsent;
  // Collectives that ranks met in with different calls: the first, and one that differs from it.
  std::vector<std::pair<Blocked, Blocked>> mismatches;
};

// `priority`: for each device; whenever several can move, one with the smallest number does, a single event.
Outcome run_schedule(const Trace& trace, const std::vector<int>& priority);

}  // namespace pldc::match
