// The one private normalisation of the back end (decisions D24): it accepts the program as it stands after any pass and
// brings it into the form that code generation reads. What earlier passes have done is used as it is; idempotent.
#pragma once

#include "ir/context.h"
#include "support/diag.h"

namespace pldc {

// Null after an error: a pass reported one, or the program needs a pass that the project does not have.
// Afterwards: SSA, no nested calls outside of bounds, no Inline function, kernels compute on tiles, host collectives are
// builtins of one device, windows lie in domains, contexts are parameters.
const Program* normalize_for_codegen(Context& context, const Program* program, DiagSink& diags);

}  // namespace pldc
