// Removal of what nobody reads (passes.md 2.5 C): scalar assignments without calls, and results of ifs.
#pragma once

#include "ir/context.h"

namespace pldc::simplify {

// The very same function if nothing is dead. Loop carries stay, also unread ones, and so do ifs that become empty.
const Function* remove_dead_code(Context& context, const Function* function);

}  // namespace pldc::simplify
