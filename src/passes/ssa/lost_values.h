// Values that a break or continue would lose under SSA: a loop hands on only what the end of its body yields, so what an
// iteration assigned before it jumped would be gone.
#pragma once

#include "passes/pass.h"

namespace pldc::ssa {

// The function with such loops written without jumps (passes/control_flow/jumps.h). The reference converts them as they
// are, and loses the values. Other loops keep their jumps. Reports a break from a parallel or pipelined loop that would
// lose a value.
const Function* keep_values(PassEnv& env, const Function* function);

}  // namespace pldc::ssa
