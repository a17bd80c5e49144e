#include "passes/simplify/analyzer.h"

#include "passes/simplify/rules.h"

namespace pldc::simplify {

namespace {

// How deep the results of rules are simplified again, and how often the whole expression is: both are the reference's
// figures and visible in what long chains become.
constexpr int kMaxDepth = 5;
constexpr int kRounds = 2;

}  // namespace

const Expr* Analyzer::simplify(const Expr* e) {
  for (int round = 0; round < kRounds; ++round) {
    const Expr* next = rewrite(e);
    if (next == e) break;
    e = next;
  }
  return e;
}

const Expr* Analyzer::rewrite(const Expr* e) {
  if (e->kind != ExprKind::Binary && e->kind != ExprKind::Unary && e->kind != ExprKind::Cast) return e;
  const auto known = stable_.find(e);
  if (known != stable_.end() && known->second == epoch_) return e;
  const Expr* result = e;
  if (e->kind == ExprKind::Binary) {
    result = rewrite_binary(static_cast<const Binary*>(e));
  } else if (e->kind == ExprKind::Unary) {
    result = rewrite_unary(static_cast<const Unary*>(e));
  } else {
    const auto* cast = static_cast<const Cast*>(e);
    const Expr* operand = rewrite(cast->operand);
    if (operand != cast->operand) result = ctx().cast(operand, *scalar_dtype(e->type), e->span);
  }
  if (result == e) stable_[e] = epoch_;
  return result;
}

template <class Op>
const Expr* Analyzer::apply_rules(Op op, const Expr* e, DType dtype) {
  const Match::Bounds bounds_of = [this](const Expr* x) { return bounds(x); };
  for (const Rule& rule : rules_for(op)) {
    if (rule.arithmetic && is_unsigned_int(dtype)) continue;
    Match match;
    if (!match.matches(rule.pattern, e) || !match.holds(rule.condition, bounds_of) ||
        !match.may_copy(rule.copied)) {
      continue;
    }
    const Expr* result = match.build(rule.result, folder_, dtype, e->span);
    if (result == nullptr) continue;
    if (depth_ < kMaxDepth) {
      ++depth_;
      result = rewrite(result);
      --depth_;
    }
    return result;
  }
  return e;
}

const Expr* Analyzer::rewrite_binary(const Binary* e) {
  const Expr* lhs = rewrite(e->lhs);
  const Expr* rhs = rewrite(e->rhs);
  const Expr* same = e;
  if (lhs != e->lhs || rhs != e->rhs) same = ctx().binary_of_type(e->op, lhs, rhs, e->type, e->span);
  const bool logic = is_logical(e->op);
  if (!logic && !(int_dtype(lhs) && int_dtype(rhs))) return same;

  // The reader promotes without casts; rules see the operands as they take part in the operation.
  const Expr* node = same;
  if (!logic) {
    const Expr* left = lhs;
    const Expr* right = rhs;
    folder_.promote(left, right);
    if (left != lhs || right != rhs) node = ctx().binary_of_type(e->op, left, right, e->type, e->span);
    lhs = left;
    rhs = right;
  }
  if (const Expr* folded = folder_.fold(e->op, lhs, rhs, e->span)) return folded;
  const DType dtype = is_comparison(e->op) ? *int_dtype(lhs) : scalar_dtype(e->type).value_or(DType::INDEX);
  const Expr* result = apply_rules(e->op, node, dtype);
  return result != node ? result : same;
}

const Expr* Analyzer::rewrite_unary(const Unary* e) {
  const Expr* operand = rewrite(e->operand);
  const Expr* node = operand != e->operand ? ctx().unary(e->op, operand, e->span) : e;
  if (e->op != UnaryOp::Not && !int_dtype(operand)) return node;
  if (const Expr* folded = folder_.fold(e->op, operand, e->span)) return folded;
  return apply_rules(e->op, node, int_dtype(operand).value_or(DType::INDEX));
}

Interval Analyzer::bounds(const Expr* e) {
  if (const auto value = const_int(e)) return Interval::point(*value);
  if (const auto* var = dyn<Var>(e)) {
    const auto known = vars_.find(var);
    if (known != vars_.end()) return known->second;
    return default_range(scalar_dtype(var->type).value_or(DType::BOOL));
  }
  const auto known = bounds_.find(e);
  if (known != bounds_.end() && known->second.epoch == epoch_) return known->second.interval;
  const Interval result = compute_bounds(e);
  bounds_[e] = {result, epoch_};
  return result;
}

Interval Analyzer::compute_bounds(const Expr* e) {
  if (const auto* binary = dyn<Binary>(e)) {
    const Interval result = interval_of(binary->op, bounds(binary->lhs), bounds(binary->rhs));
    const auto dtype = int_dtype(e);
    return dtype && is_unsigned_int(*dtype) && !result.within(range_of(*dtype)) ? range_of(*dtype) : result;
  }
  if (const auto* unary = dyn<Unary>(e)) {
    if (is_unsigned_int(int_dtype(e).value_or(DType::BOOL))) return {};
    if (unary->op == UnaryOp::Neg) return negate(bounds(unary->operand));
    if (unary->op == UnaryOp::Abs) return absolute(bounds(unary->operand));
    return unary->op == UnaryOp::Not ? Interval{0, 1} : Interval{};
  }
  if (const auto* cast = dyn<Cast>(e)) {
    const auto to = int_dtype(e);
    if (!to) return {};
    const Interval range = range_of(*to);
    const Interval inner = int_dtype(cast->operand) ? bounds(cast->operand) : Interval{};
    return inner.within(range) ? inner : range;
  }
  return {};
}

void Analyzer::bind(const Var* var, Interval interval) {
  const auto [place, added] = vars_.try_emplace(var, interval);
  undo_.push_back({var, added ? std::nullopt : std::optional(place->second)});
  place->second = interval;
}

void Analyzer::restore(std::size_t vars, std::size_t facts) {
  if (undo_.size() != vars || facts_.size() != facts) ++epoch_;
  facts_.resize(facts);
  for (; undo_.size() > vars; undo_.pop_back()) {
    const Undo& undo = undo_.back();
    if (undo.before) {
      vars_[undo.var] = *undo.before;
    } else {
      vars_.erase(undo.var);
    }
  }
}

}  // namespace pldc::simplify
