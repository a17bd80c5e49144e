// A plain evaluator of programs on integers, step by step as their text reads, and texts of random programs for it: what
// a pass must not change.
#pragma once

#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "ir/module.h"

namespace meaning {

// Scalars are one number, tuples several.
using Value = std::vector<std::int64_t>;

// Calls the first function of this name. Throws std::runtime_error on what no scalar program has, on the read of a
// variable without a value, and after very many steps.
Value evaluate(const pldc::Program* program, std::string_view function, const std::vector<Value>& arguments);

// What a random nest of statements may hold beside assignments, ifs and loops.
struct NestOptions {
  bool kernel = false;   // the function is InCore
  bool scopes = true;    // pl.at(level=pl.Level.CORE_GROUP)
  bool levels = false;   // pl.at with other levels, nested
  bool jumps = false;    // break and continue
  bool unroll = false;   // pl.unroll, steps of any sign
  bool helpers = false;  // calls of Inline functions, which call each other
};
// A program whose function `main(n)` returns a number. The variables a to d are set at its start.
std::string random_program(unsigned seed, const NestOptions& options = {});

}  // namespace meaning
