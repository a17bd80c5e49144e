// What values an integer expression of a host or chip function can have, as far as constants and the number of ranks tell.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <utility>

#include "ir/expr.h"

namespace pldc {

// Both ends belong to it.
struct Range {
  std::int64_t low;
  std::int64_t high;
};

// The value of a variable that is assigned once, or null.
using DefinitionOf = std::function<const Expr*(const Var*)>;

std::optional<Range> negated(const std::optional<Range>& range);
// Whether all values are values of the integer dtype. Nothing is any value, also of unsigned 64 bits.
bool fits(const std::optional<Range>& range, DType dtype);

// What is known of expressions through a few names behind names. Each expression is looked at once, for definitions that
// use others many times are trees of any size.
class SizeRanges {
 public:
  explicit SizeRanges(DefinitionOf definition) : definition_(std::move(definition)) {}

  std::optional<Range> of(const Expr* expr);
  // Whether the operation, computed in `dtype`, may have another result than in numbers without end.
  bool wraps(const Binary* expr, DType dtype);
  // Whether the expression is arithmetic on integers that may be computed a second time, and something in it may wrap.
  bool may_wrap(const Expr* expr);
  const Expr* definition(const Var* var) const { return definition_(var); }

 private:
  struct Wrap {
    bool may = false;
    bool repeatable = true;
  };
  using Key = std::pair<const Expr*, int>;  // and how many names may still be looked through
  std::optional<Range> range(const Expr* expr, int names);
  std::optional<Range> computed_range(const Expr* expr, int names);
  Wrap wrap(const Expr* expr, int names);
  Wrap computed_wrap(const Expr* expr, int names);

  DefinitionOf definition_;
  std::map<Key, std::optional<Range>> ranges_;
  std::map<Key, Wrap> wraps_;
};

}  // namespace pldc
