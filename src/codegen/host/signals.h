// What the collectives inside of kernels say about the number of ranks. After LowerCompositeOps nothing in the text tells
// that a signal belonged to a collective, so this looks at the program as it was read.
#pragma once

#include "codegen/host/host.h"

namespace pldc {

// Adds to the entry what the kernels that host function `name` of `seen` reaches demand: limits of ranks, and the windows
// that are signals (by the names of their allocations).
void describe_signals(const Program& seen, Name name, HostEntry& out);

}  // namespace pldc
