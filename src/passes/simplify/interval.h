// Intervals of 64-bit integers. The ends saturate: INT64_MIN and INT64_MAX mean "no bound", so a result that does not
// fit becomes unbounded on that side and never a wrong number.
#pragma once

#include <cstdint>
#include <limits>

#include "ir/expr.h"

namespace pldc::simplify {

struct Interval {
  static constexpr std::int64_t kNoMin = std::numeric_limits<std::int64_t>::min();
  static constexpr std::int64_t kNoMax = std::numeric_limits<std::int64_t>::max();

  std::int64_t min = kNoMin;
  std::int64_t max = kNoMax;

  static constexpr Interval point(std::int64_t value) { return {value, value}; }
  constexpr bool is_point() const { return min == max; }
  constexpr bool contains(std::int64_t value) const { return min <= value && value <= max; }
  constexpr bool within(Interval outer) const { return outer.min <= min && max <= outer.max; }
  friend constexpr bool operator==(Interval, Interval) = default;
};

// Empty intersections can only come from code that never runs; the first operand then stands.
Interval intersect(Interval a, Interval b);

// The values that `a op b` can take, for + - * // % min max and comparisons; division rounds down and takes the
// divisor to be different from 0. Everything for other operators.
Interval interval_of(BinaryOp op, Interval a, Interval b);
Interval negate(Interval a);
Interval absolute(Interval a);

// The values that a variable of this dtype can have.
Interval range_of(DType dtype);
// What may be assumed of a variable without knowing its value: an INDEX is not negative; nothing for other dtypes.
Interval default_range(DType dtype);

// Whether a comparison of values in these intervals holds in every case.
bool always(BinaryOp comparison, Interval a, Interval b);

}  // namespace pldc::simplify
