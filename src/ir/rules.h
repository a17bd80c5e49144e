// Result types of ops (format.md 4.3, ops.md, passes.md 4).
#pragma once

#include "ir/context.h"
#include "support/diag.h"

namespace pldc {

// The type of a call of `op`; null after an error was reported, Unknown where the op has no result. Checks
// what the type depends on (shapes, dtypes, ranks, bounds that constants prove wrong); the count and kind of
// operands and keywords must have been checked (check_op.h). An operand of Unknown type makes the result
// Unknown.
const Type* deduce(Context& context, DiagSink& diags, OpId op, List<const Expr*> args, Attrs kwargs,
                   Span span);

// Promotion of two dtypes (ops.md 0.2); always defined.
DType promote(DType a, DType b);

// a op b as a dim: constants folded, neutral operands dropped.
const Expr* dim_add(Context& context, const Expr* a, const Expr* b);
const Expr* dim_sub(Context& context, const Expr* a, const Expr* b);
const Expr* dim_mul(Context& context, const Expr* a, const Expr* b);

}  // namespace pldc
