// A pass that looks at one function at a time.
#pragma once

#include <vector>

#include "passes/pass.h"

namespace pldc {

// The program with `change(f)`, a function, in the place of each function f: the same program if that is f every time,
// null if an error was reported on the way.
template <class Change>
const Program* map_functions(PassEnv& env, const Program* program, Change change) {
  const std::uint32_t errors = env.diags.error_count();
  std::vector<const Function*> functions;
  bool differs = false;
  for (const Function* f : program->functions) {
    functions.push_back(change(f));
    differs = differs || functions.back() != f;
  }
  if (env.diags.error_count() != errors) return nullptr;
  if (!differs) return program;
  Program n = *program;
  n.functions = env.ir.list(functions);
  return env.ir.make(n);
}

}  // namespace pldc
