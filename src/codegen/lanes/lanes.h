// Mixed kernels that use both vector lanes of a block, before ExpandMixedKernel has made a kernel for each core of them
// (ops.md S1): one core does the work of all.
#pragma once

#include "passes/pass.h"

namespace pldc {

// Kernels with split regions, or that shard, gather, or ask for their lane and are split: what differs between the lanes is
// computed once for each, statement by statement, anything else once. Afterwards there are no split regions, aiv_shard has
// the attribute `lane`, and aic_gather takes the halves of both lanes. Null after an error.
const Program* both_lanes(PassEnv& env, const Program* program);

}  // namespace pldc
