#include "ir/fold.h"

#include <algorithm>
#include <limits>

namespace pldc {

namespace {

constexpr FoldedInt kOverflow{0, FoldFailure::Overflow};
constexpr FoldedInt kNoInteger{0, FoldFailure::NoInteger};

FoldedInt divided(BinaryOp op, std::int64_t a, std::int64_t b) {
  if (b == 0) return {0, FoldFailure::ZeroDivisor};
  // The remainder of this pair is 0, but the machine traps on both.
  if (b == -1) {
    if (op == BinaryOp::FloorMod) return {0};
    return a == std::numeric_limits<std::int64_t>::min() ? kOverflow : FoldedInt{-a};
  }
  const std::int64_t rest = a % b;
  const bool down = rest != 0 && (rest < 0) != (b < 0);
  return {op == BinaryOp::FloorDiv ? a / b - (down ? 1 : 0) : rest + (down ? b : 0)};
}

FoldedInt power(std::int64_t base, std::int64_t exponent) {
  if (exponent < 0) return kNoInteger;
  std::int64_t result = 1;
  // |base| > 1 overflows after 63 steps at most, and the other bases alternate.
  if (base >= -1 && base <= 1) exponent = exponent % 2 == 0 && exponent > 0 ? 2 : exponent > 0 ? 1 : 0;
  for (; exponent > 0; --exponent) {
    if (__builtin_mul_overflow(result, base, &result)) return kOverflow;
  }
  return {result};
}

FoldedInt shifted_left(std::int64_t a, std::int64_t b) {
  if (b < 0) return kNoInteger;
  if (a == 0) return {0};
  if (b > 63) return kOverflow;
  const auto value = static_cast<std::int64_t>(static_cast<std::uint64_t>(a) << b);
  return value >> b == a ? FoldedInt{value} : kOverflow;
}

}  // namespace

FoldedInt fold_int(BinaryOp op, std::int64_t a, std::int64_t b) {
  std::int64_t r = 0;
  switch (op) {
    case BinaryOp::Add:
      return __builtin_add_overflow(a, b, &r) ? kOverflow : FoldedInt{r};
    case BinaryOp::Sub:
      return __builtin_sub_overflow(a, b, &r) ? kOverflow : FoldedInt{r};
    case BinaryOp::Mul:
      return __builtin_mul_overflow(a, b, &r) ? kOverflow : FoldedInt{r};
    case BinaryOp::FloorDiv:
    case BinaryOp::FloorMod:
      return divided(op, a, b);
    case BinaryOp::Pow:
      return power(a, b);
    case BinaryOp::Min:
      return {std::min(a, b)};
    case BinaryOp::Max:
      return {std::max(a, b)};
    case BinaryOp::BitAnd:
      return {a & b};
    case BinaryOp::BitOr:
      return {a | b};
    case BinaryOp::BitXor:
      return {a ^ b};
    case BinaryOp::Shl:
      return shifted_left(a, b);
    case BinaryOp::Shr:
      return b < 0 ? kNoInteger : FoldedInt{a >> std::min<std::int64_t>(b, 63)};
    case BinaryOp::Eq:
    case BinaryOp::Ne:
    case BinaryOp::Lt:
    case BinaryOp::Le:
    case BinaryOp::Gt:
    case BinaryOp::Ge:
    case BinaryOp::Or:
    case BinaryOp::Xor:
    case BinaryOp::And:
    case BinaryOp::FloatDiv:
      break;
  }
  return kNoInteger;
}

}  // namespace pldc
