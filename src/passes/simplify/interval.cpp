#include "passes/simplify/interval.h"

#include <algorithm>

namespace pldc::simplify {

namespace {

constexpr std::int64_t kNoMin = Interval::kNoMin;
constexpr std::int64_t kNoMax = Interval::kNoMax;

bool infinite(std::int64_t end) { return end == kNoMin || end == kNoMax; }

std::int64_t add_ends(std::int64_t a, std::int64_t b, std::int64_t unbounded) {
  std::int64_t sum = 0;
  if (infinite(a) || infinite(b)) return unbounded;
  if (__builtin_add_overflow(a, b, &sum)) return a < 0 ? kNoMin : kNoMax;
  return sum;
}

std::int64_t multiply_ends(std::int64_t a, std::int64_t b) {
  std::int64_t product = 0;
  if (a == 0 || b == 0) return 0;
  if (infinite(a) || infinite(b) || __builtin_mul_overflow(a, b, &product))
    return (a < 0) == (b < 0) ? kNoMax : kNoMin;
  return product;
}

// Rounds down; `b` is not 0.
std::int64_t divide_ends(std::int64_t a, std::int64_t b) {
  const bool negative = (a < 0) != (b < 0);
  if (infinite(a)) return negative ? kNoMin : kNoMax;
  if (infinite(b)) return negative && a != 0 ? -1 : 0;
  return a / b - (negative && a % b != 0 ? 1 : 0);
}

// An operation that is monotone in each operand takes its extremes at the corners.
template <class F>
Interval corners(Interval a, Interval b, F&& op) {
  const auto [min, max] =
      std::minmax({op(a.min, b.min), op(a.min, b.max), op(a.max, b.min), op(a.max, b.max)});
  return {min, max};
}

Interval divide(Interval a, Interval b) {
  if (b.min == 0) b.min = 1;
  if (b.max == 0) b.max = -1;
  if (b.min > b.max || b.contains(0)) return {};
  return corners(a, b, divide_ends);
}

Interval modulo(Interval a, Interval b) {
  if (b.min == 0) b.min = 1;
  if (b.min < 1 || b.min > b.max) return {};
  if (a.is_point() && b.is_point()) {
    const std::int64_t rest = a.min % b.min;
    return Interval::point(rest < 0 ? rest + b.min : rest);
  }
  const std::int64_t most = b.max == kNoMax ? kNoMax : b.max - 1;
  return {0, a.min >= 0 ? std::min(a.max, most) : most};
}

}  // namespace

Interval intersect(Interval a, Interval b) {
  const Interval both{std::max(a.min, b.min), std::min(a.max, b.max)};
  return both.min <= both.max ? both : a;
}

Interval interval_of(BinaryOp op, Interval a, Interval b) {
  switch (op) {
    case BinaryOp::Add:
      return {add_ends(a.min, b.min, kNoMin), add_ends(a.max, b.max, kNoMax)};
    case BinaryOp::Sub:
      return interval_of(BinaryOp::Add, a, negate(b));
    case BinaryOp::Mul:
      return corners(a, b, multiply_ends);
    case BinaryOp::FloorDiv:
      return divide(a, b);
    case BinaryOp::FloorMod:
      return modulo(a, b);
    case BinaryOp::Min:
      return {std::min(a.min, b.min), std::min(a.max, b.max)};
    case BinaryOp::Max:
      return {std::max(a.min, b.min), std::max(a.max, b.max)};
    case BinaryOp::Eq:
    case BinaryOp::Ne:
    case BinaryOp::Lt:
    case BinaryOp::Le:
    case BinaryOp::Gt:
    case BinaryOp::Ge:
      return {0, 1};
    case BinaryOp::Or:
    case BinaryOp::Xor:
    case BinaryOp::And:
    case BinaryOp::BitOr:
    case BinaryOp::BitXor:
    case BinaryOp::BitAnd:
    case BinaryOp::Shl:
    case BinaryOp::Shr:
    case BinaryOp::FloatDiv:
    case BinaryOp::Pow:
      return {};
  }
  return {};
}

Interval negate(Interval a) { return {a.max == kNoMax ? kNoMin : -a.max, a.min == kNoMin ? kNoMax : -a.min}; }

Interval absolute(Interval a) {
  if (a.min >= 0) return a;
  const Interval n = negate(a);
  return a.max <= 0 ? n : Interval{0, std::max(a.max, n.max)};
}

Interval range_of(DType dtype) {
  const unsigned bits = bit_width(dtype);
  if (!is_int(dtype) || bits >= 64) return dtype == DType::UINT64 ? Interval{0, kNoMax} : Interval{};
  if (is_unsigned_int(dtype)) return {0, (std::int64_t{1} << bits) - 1};
  const std::int64_t half = std::int64_t{1} << (bits - 1);
  return {-half, half - 1};
}

Interval default_range(DType dtype) { return dtype == DType::INDEX ? Interval{0, kNoMax} : Interval{}; }

bool always(BinaryOp comparison, Interval a, Interval b) {
  const auto less = [](std::int64_t x, std::int64_t y) { return x != kNoMax && y != kNoMin && x < y; };
  const auto less_or_equal = [](std::int64_t x, std::int64_t y) {
    return x != kNoMax && y != kNoMin && x <= y;
  };
  if (comparison == BinaryOp::Lt) return less(a.max, b.min);
  if (comparison == BinaryOp::Le) return less_or_equal(a.max, b.min);
  if (comparison == BinaryOp::Gt) return less(b.max, a.min);
  if (comparison == BinaryOp::Ge) return less_or_equal(b.max, a.min);
  if (comparison == BinaryOp::Eq) return a.is_point() && b.is_point() && a.min == b.min;
  return comparison == BinaryOp::Ne && (less(a.max, b.min) || less(b.max, a.min));
}

}  // namespace pldc::simplify
