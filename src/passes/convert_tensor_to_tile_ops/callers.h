// What a converted kernel needs of those who call it: memory for results that it used to compute, and parameters that say
// what it writes.
#pragma once

#include <unordered_map>

#include "passes/pass.h"

namespace pldc::tiling {

// Functions by name -> how many of their last parameters are memory for results.
using AddedResults = std::unordered_map<Name, std::size_t>;

// Calls of these functions get a new tensor for each added parameter. A wrapper, and a kernel that calls another one, has
// no memory of its own: it takes the tensors as parameters and passes them on. Null after a report.
const Program* provide_results(PassEnv& env, const Program* program, AddedResults added);

// Parameters declared as In that the function writes become Out, or InOut if it reads them too; what a function hands on
// is what the callee makes of it.
const Program* declare_writes(PassEnv& env, const Program* program);

}  // namespace pldc::tiling
