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

std::optional<Range> range_within(const Expr* expr, const DefinitionOf& definition, int names) {
  const std::optional<Range> any = range_of_dtype(dtype_of(expr));
  std::optional<Range> known;
  DType computed = dtype_of(expr);
  if (const auto constant = const_int(expr)) known = Range{*constant, *constant};
  if (const auto* var = dyn<Var>(expr); var != nullptr && definition && names > 0) {
    if (const Expr* value = definition(var)) known = range_within(value, definition, names - 1);
  }
  if (const auto* call = dyn<Call>(expr); call != nullptr && call->is_op()) {
    if (call->op == OpId::pld_system_world_size) known = Range{1, kMostRanks};
    if (call->op == OpId::tensor_dim) known = Range{0, std::numeric_limits<std::int64_t>::max()};
  }
  if (const auto* cast = dyn<Cast>(expr)) known = range_within(cast->operand, definition, names);
  if (const auto* binary = dyn<Binary>(expr);
      binary != nullptr && !is_comparison(binary->op) && !is_logical(binary->op)) {
    const auto a = range_within(binary->lhs, definition, names);
    const auto b = range_within(binary->rhs, definition, names);
    if (a && b) known = result_of(binary->op, *a, *b);
    computed = operand_dtype(binary);
  }
  return known && fits(known, computed) && fits(known, dtype_of(expr)) ? known : any;
}

bool may_wrap_within(const Expr* expr, const DefinitionOf& definition, int names, bool& repeatable) {
  if (const auto* binary = dyn<Binary>(expr)) {
    const bool left = may_wrap_within(binary->lhs, definition, names, repeatable);
    const bool right = may_wrap_within(binary->rhs, definition, names, repeatable);
    return wraps(binary, operand_dtype(binary), definition) || left || right;
  }
  if (const auto* unary = dyn<Unary>(expr)) {
    const bool inner = may_wrap_within(unary->operand, definition, names, repeatable);
    return unary->op == UnaryOp::Neg || inner;
  }
  if (const auto* cast = dyn<Cast>(expr)) {
    const bool inner = may_wrap_within(cast->operand, definition, names, repeatable);
    return !fits(range_of(cast->operand, definition), dtype_of(cast)) || inner;
  }
  if (const auto* call = dyn<Call>(expr)) {
    repeatable = repeatable && call->is_op() &&
                 (call->op == OpId::pld_system_world_size || call->op == OpId::tensor_dim);
    return false;
  }
  if (const auto* var = dyn<Var>(expr)) {
    const Expr* value = definition && names > 0 ? definition(var) : nullptr;
    bool again = true;
    return value != nullptr && dyn<Call>(value) == nullptr &&
           may_wrap_within(value, definition, names - 1, again) && again;
  }
  return false;
}

}  // namespace

std::optional<Range> range_of(const Expr* expr, const DefinitionOf& definition) {
  return range_within(expr, definition, kMostNames);
}

std::optional<Range> negated(const std::optional<Range>& range) {
  return range ? result_of(BinaryOp::Sub, Range{0, 0}, *range) : std::nullopt;
}

bool fits(const std::optional<Range>& range, DType dtype) {
  if (is_int(dtype) && is_unsigned_int(dtype) && bit_width(dtype) >= 64) return range && range->low >= 0;
  const std::optional<Range> limits = range_of_dtype(dtype);
  return range && limits && range->low >= limits->low && range->high <= limits->high;
}

bool wraps(const Binary* expr, DType dtype, const DefinitionOf& definition) {
  constexpr BinaryOp kMayWrap[] = {BinaryOp::Add, BinaryOp::Sub, BinaryOp::Mul, BinaryOp::Pow, BinaryOp::Shl};
  if (std::find(std::begin(kMayWrap), std::end(kMayWrap), expr->op) == std::end(kMayWrap)) return false;
  const auto a = range_of(expr->lhs, definition);
  const auto b = range_of(expr->rhs, definition);
  return !a || !b || !fits(result_of(expr->op, *a, *b), dtype);
}

bool may_wrap(const Expr* expr, const DefinitionOf& definition) {
  if (!is_int(dtype_of(expr))) return false;
  bool repeatable = true;
  return may_wrap_within(expr, definition, kMostNames, repeatable) && repeatable;
}

}  // namespace pldc
