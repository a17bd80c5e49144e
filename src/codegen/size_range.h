// What values an integer expression of a host or chip function can have, as far as constants and the number of ranks tell.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "ir/expr.h"

namespace pldc {

// Both ends belong to it.
struct Range {
  std::int64_t low;
  std::int64_t high;
};

// The value of a variable that is assigned once, or null.
using DefinitionOf = std::function<const Expr*(const Var*)>;

// Nothing: any value, also of unsigned 64 bits.
std::optional<Range> range_of(const Expr* expr, const DefinitionOf& definition);
std::optional<Range> negated(const std::optional<Range>& range);
// Whether all values are values of the integer dtype.
bool fits(const std::optional<Range>& range, DType dtype);
// Whether the operation, computed in `dtype`, may have another result than in numbers without end.
bool wraps(const Binary* expr, DType dtype, const DefinitionOf& definition);
// Whether the expression is arithmetic on integers that may be computed a second time, and something in it may wrap.
bool may_wrap(const Expr* expr, const DefinitionOf& definition);

}  // namespace pldc
