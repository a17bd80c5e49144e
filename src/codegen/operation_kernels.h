// Operations on tensors that stand in an orchestration. Only kernels compute, so each gets a kernel of its own.
#pragma once

#include "ir/context.h"

namespace pldc {

// The first operation that an orchestration cannot do itself, and whose result somebody asks for; else an invalid span.
Span operation_in_orchestration(const Program* program);

// Puts each such operation into a core-group scope of its own, for OutlineIncoreScopes and ConvertTensorToTileOps. Needs SSA
// and flat calls.
const Program* put_operations_into_scopes(Context& context, const Program* program);

}  // namespace pldc
