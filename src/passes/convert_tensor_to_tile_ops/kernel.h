// The body of one kernel: tensor ops become tile ops.
#pragma once

#include "passes/pass.h"

namespace pldc::tiling {

struct ConvertedKernel {
  const Function* function;
  // How many parameters were added at the end: memory for results that were computed and now are stored.
  std::size_t added = 0;
};

// Reports tensor ops that have no tile form, at their place; the result is then of no use.
ConvertedKernel convert_kernel(PassEnv& env, const Function* kernel);

}  // namespace pldc::tiling
