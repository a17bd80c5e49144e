// Where a program starts (cli.md, `--entry`).
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "ir/module.h"
#include "support/diag.h"

namespace pldc {

struct EntryChoice {
  std::vector<const Function*> functions;  // never empty
  bool single_rank = false;                // no host functions: one orchestration or kernel, on one rank
};

// All host functions, or the one that `name` names; in a program without one the orchestration, else the kernel, that nobody
// calls. Nothing after an error was reported. `place` is where the program stands, for an error about all of it.
std::optional<EntryChoice> choose_entries(const Program& program, std::string_view name, DiagSink& diags,
                                          Span place = {});

}  // namespace pldc
