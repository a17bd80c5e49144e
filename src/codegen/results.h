// Results of functions that others start: the runtime has no way back but the parameters.
#pragma once

#include "ir/context.h"

namespace pldc {

// Gives every host function, every orchestration that the host starts and every orchestration that nobody calls an Out
// parameter for each tensor that it returns and that is none of its Out and InOut parameters: `ret<i>` for result number
// i, the last of its tensors. The result is copied there; callers of such a function make a tensor of the size. A result whose shape
// the parameters do not determine stays as it is, and is refused where the function is generated.
const Program* results_to_parameters(Context& context, const Program* program);

}  // namespace pldc
