// The static match of `pldc check --ranks N` (cli.md): the program is unrolled for each rank as far as ranks, loop
// counters and constants decide it, and what the ranks tell each other - notifies, waits, collectives - is run against each
// other without any data. Reported is only what goes wrong in every run, or in a run that the order of the ranks allows;
// what depends on data is left out, with a note (passes.md 4.2, 4.4; decisions D12).
#pragma once

#include <cstdint>
#include <vector>

#include "ir/context.h"
#include "passes/match/trace.h"
#include "support/diag.h"

namespace pldc {

struct MatchOptions {
  std::uint32_t ranks = 2;  // devices of the run
  std::uint64_t unroll_limit =
      4'000'000;  // statements that are looked at for one host function, all ranks together
};

// What the ranks tell each other in one host function.
struct MatchedHost {
  Name host;
  match::Trace trace;
  bool whole;  // false: it was given up, the trace ends somewhere
};

// Matches every host function that allocates windows. Findings go to `diags`; false if the passes that the match needs
// reported an error. `matched`, if there is one, gets what was matched.
bool match_ranks(Context& context, const Program* program, const MatchOptions& options, DiagSink& diags,
                 std::vector<MatchedHost>* matched = nullptr);

}  // namespace pldc
