// Where to point for an operand of a call.
#pragma once

#include "ir/expr.h"

namespace pldc {

// The operand's own place if it lies in the call, else that of the call: the place of a variable is its definition.
inline Span operand_span(const Call* call, const Expr* operand) {
  const Span whole = call->span;
  if (operand == nullptr || !operand->span.valid()) return whole;
  const Span own = operand->span;
  return !whole.valid() || (own.begin >= whole.begin && own.end <= whole.end) ? own : whole;
}

}  // namespace pldc
