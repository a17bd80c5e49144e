#include "codegen/size_range.h"

#include <algorithm>
#include <limits>

#include "codegen/expr.h"

namespace pldc {
namespace {

// More than any run has.
constexpr std::int64_t kMostRanks = 1 << 20;
// Of names behind names, which are looked through.
constexpr int kMostNames = 6;

std::optional<Range> range_of_dtype(DType dtype) {
  if (!is_int(dtype) || dtype == DType::TASK_ID) return {};
  if (dtype == DType::BOOL) return Range{0, 1};
  const auto bits = static_cast<int>(bit_width(dtype));
  if (is_unsigned_int(dtype)) {
    if (bits >= 64) return {};
    return Range{0, (std::int64_t{1} << bits) - 1};
  }
  if (bits >= 64)
    return Range{std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max()};
  return Range{-(std::int64_t{1} << (bits - 1)), (std::int64_t{1} << (bits - 1)) - 1};
}

std::optional<Range> result_of(BinaryOp op, const Range& a, const Range& b) {
  Range r{};
  if (op == BinaryOp::Add) {
    if (__builtin_add_overflow(a.low, b.low, &r.low) || __builtin_add_overflow(a.high, b.high, &r.high))
      return {};
    return r;
  }
  if (op == BinaryOp::Sub) {
    if (__builtin_sub_overflow(a.low, b.high, &r.low) || __builtin_sub_overflow(a.high, b.low, &r.high))
      return {};
    return r;
  }
  if (op == BinaryOp::Mul) {
    std::int64_t ends[4] = {};
    int n = 0;
    for (const std::int64_t x : {a.low, a.high}) {
      for (const std::int64_t y : {b.low, b.high}) {
        if (__builtin_mul_overflow(x, y, &ends[n++])) return {};
      }
    }
    const auto [low, high] = std::minmax_element(std::begin(ends), std::end(ends));
    return Range{*low, *high};
  }
  return {};
}

}  // namespace

std::optional<Range> SizeRanges::of(const Expr* expr) { return range(expr, kMostNames); }

std::optional<Range> negated(const std::optional<Range>& range) {
  return range ? result_of(BinaryOp::Sub, Range{0, 0}, *range) : std::nullopt;
}

bool fits(const std::optional<Range>& range, DType dtype) {
  if (is_int(dtype) && is_unsigned_int(dtype) && bit_width(dtype) >= 64) return range && range->low >= 0;
  const std::optional<Range> limits = range_of_dtype(dtype);
  return range && limits && range->low >= limits->low && range->high <= limits->high;
}

std::optional<Range> SizeRanges::range(const Expr* expr, int names) {
  const auto known = ranges_.find({expr, names});
  if (known != ranges_.end()) return known->second;
  const std::optional<Range> found = computed_range(expr, names);
  ranges_.insert_or_assign({expr, names}, found);
  return found;
}

std::optional<Range> SizeRanges::computed_range(const Expr* expr, int names) {
  const std::optional<Range> any = range_of_dtype(dtype_of(expr));
  std::optional<Range> known;
  DType computed = dtype_of(expr);
  if (const auto constant = const_int(expr)) known = Range{*constant, *constant};
  if (const auto* var = dyn<Var>(expr); var != nullptr && names > 0) {
    if (const Expr* value = definition_(var)) known = range(value, names - 1);
  }
  if (const auto* call = dyn<Call>(expr); call != nullptr && call->is_op()) {
    if (call->op == OpId::pld_system_world_size) known = Range{1, kMostRanks};
    if (call->op == OpId::tensor_dim) known = Range{0, std::numeric_limits<std::int64_t>::max()};
  }
  if (const auto* cast = dyn<Cast>(expr)) known = range(cast->operand, names);
  if (const auto* binary = dyn<Binary>(expr);
      binary != nullptr && !is_comparison(binary->op) && !is_logical(binary->op)) {
    const auto a = range(binary->lhs, names);
    const auto b = range(binary->rhs, names);
    if (a && b) known = result_of(binary->op, *a, *b);
    computed = operand_dtype(binary);
  }
  return known && fits(known, computed) && fits(known, dtype_of(expr)) ? known : any;
}

bool SizeRanges::wraps(const Binary* expr, DType dtype) {
  constexpr BinaryOp kMayWrap[] = {BinaryOp::Add, BinaryOp::Sub, BinaryOp::Mul, BinaryOp::Pow, BinaryOp::Shl};
  if (std::find(std::begin(kMayWrap), std::end(kMayWrap), expr->op) == std::end(kMayWrap)) return false;
  const auto a = of(expr->lhs);
  const auto b = of(expr->rhs);
  return !a || !b || !fits(result_of(expr->op, *a, *b), dtype);
}

bool SizeRanges::may_wrap(const Expr* expr) {
  if (!is_int(dtype_of(expr))) return false;
  const Wrap found = wrap(expr, kMostNames);
  return found.may && found.repeatable;
}

SizeRanges::Wrap SizeRanges::wrap(const Expr* expr, int names) {
  const auto known = wraps_.find({expr, names});
  if (known != wraps_.end()) return known->second;
  const Wrap found = computed_wrap(expr, names);
  wraps_.insert_or_assign({expr, names}, found);
  return found;
}

SizeRanges::Wrap SizeRanges::computed_wrap(const Expr* expr, int names) {
  if (const auto* binary = dyn<Binary>(expr)) {
    const Wrap left = wrap(binary->lhs, names), right = wrap(binary->rhs, names);
    return {left.may || right.may || wraps(binary, operand_dtype(binary)),
            left.repeatable && right.repeatable};
  }
  if (const auto* unary = dyn<Unary>(expr)) {
    const Wrap inner = wrap(unary->operand, names);
    return {unary->op == UnaryOp::Neg || inner.may, inner.repeatable};
  }
  if (const auto* cast = dyn<Cast>(expr)) {
    const Wrap inner = wrap(cast->operand, names);
    return {inner.may || !fits(of(cast->operand), dtype_of(cast)), inner.repeatable};
  }
  if (const auto* call = dyn<Call>(expr)) {
    return {false,
            call->is_op() && (call->op == OpId::pld_system_world_size || call->op == OpId::tensor_dim)};
  }
  if (const auto* var = dyn<Var>(expr)) {
    const Expr* value = names > 0 ? definition_(var) : nullptr;
    if (value == nullptr || dyn<Call>(value) != nullptr) return {};
    const Wrap inner = wrap(value, names - 1);
    return {inner.may && inner.repeatable, true};
  }
  return {};
}

}  // namespace pldc
