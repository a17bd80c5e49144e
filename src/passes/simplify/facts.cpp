// What conditions tell about the integers in them, and what follows from that.
#include <algorithm>

#include "passes/simplify/analyzer.h"

namespace pldc::simplify {

namespace {

// e = base + offset
struct Offset {
  const Expr* base;
  std::int64_t offset;
};

Offset split(const Expr* e) {
  std::int64_t offset = 0;
  while (const auto* binary = dyn<Binary>(e)) {
    const auto value = const_int(binary->rhs);
    if (!value) break;
    const bool fits = binary->op == BinaryOp::Add   ? !__builtin_add_overflow(offset, *value, &offset)
                      : binary->op == BinaryOp::Sub ? !__builtin_sub_overflow(offset, *value, &offset)
                                                    : false;
    if (!fits) break;
    e = binary->lhs;
  }
  return {e, offset};
}

// Facts looked at in one search: programs of hand-written size have far fewer conditions around one place.
constexpr std::size_t kMaxFacts = 64;
constexpr std::int64_t kMaxDistance = std::int64_t{1} << 62;

}  // namespace

const Expr* Analyzer::negation(const Expr* condition) {
  return simplify(folder_.unary(UnaryOp::Not, condition, condition->span));
}

void Analyzer::learn(const Expr* condition) {
  const auto* test = dyn<Binary>(condition);
  if (test == nullptr) return;
  if (test->op == BinaryOp::And) {
    learn(test->lhs);
    learn(test->rhs);
    return;
  }
  if (!is_comparison(test->op) || !int_dtype(test->lhs) || !int_dtype(test->rhs)) return;
  if (test->op != BinaryOp::Lt && test->op != BinaryOp::Le && test->op != BinaryOp::Eq) return;
  const std::int64_t distance = test->op == BinaryOp::Lt ? -1 : 0;
  ++epoch_;
  const bool wraps = is_unsigned_int(*int_dtype(test->lhs));
  if (!wraps && !const_int(test->lhs) && !const_int(test->rhs)) {
    add_fact(test->lhs, test->rhs, distance);
    if (test->op == BinaryOp::Eq) add_fact(test->rhs, test->lhs, 0);
  }
  const Interval left = bounds(test->lhs);
  const Interval right = bounds(test->rhs);
  const Interval end = Interval::point(distance);
  Interval below{Interval::kNoMin, interval_of(BinaryOp::Add, right, end).max};
  Interval above{interval_of(BinaryOp::Sub, left, end).min, Interval::kNoMax};
  if (test->op == BinaryOp::Eq) {
    below = right;
    above = left;
  }
  if (const_int(test->rhs)) tighten(test->lhs, below);
  if (const_int(test->lhs)) tighten(test->rhs, above);
}

void Analyzer::tighten(const Expr* e, Interval interval) {
  const auto* var = dyn<Var>(e);
  if (var != nullptr) bind(var, intersect(bounds(var), interval));
}

void Analyzer::add_fact(const Expr* a, const Expr* b, std::int64_t distance) {
  // a + p - (b + q) <= d
  const Offset left = split(a);
  const Offset right = split(b);
  std::int64_t shift = 0;
  if (__builtin_sub_overflow(right.offset, left.offset, &shift)) return;
  if (__builtin_add_overflow(shift, distance, &distance)) return;
  if (distance > -kMaxDistance && distance < kMaxDistance)
    facts_.push_back({left.base, right.base, distance});
}

bool Analyzer::proves(const Expr* condition) {
  condition = simplify(condition);
  if (const auto* flag = dyn<ConstBool>(condition)) return flag->value;
  const auto* test = dyn<Binary>(condition);
  if (test == nullptr) return false;
  if (test->op == BinaryOp::And) return proves(test->lhs) && proves(test->rhs);
  return is_comparison(test->op) && int_dtype(test->lhs) && int_dtype(test->rhs) &&
         proves(test->op, test->lhs, test->rhs);
}

bool Analyzer::refutes(const Expr* condition) { return proves(negation(condition)); }

bool Analyzer::proves(BinaryOp comparison, const Expr* lhs, const Expr* rhs) {
  if (comparison == BinaryOp::Gt || comparison == BinaryOp::Ge) std::swap(lhs, rhs);
  const bool strict = comparison == BinaryOp::Lt || comparison == BinaryOp::Gt;
  if (comparison == BinaryOp::Ne) return proves_difference(lhs, rhs, -1) || proves_difference(rhs, lhs, -1);
  return proves_difference(lhs, rhs, strict ? -1 : 0) &&
         (comparison != BinaryOp::Eq || proves_difference(rhs, lhs, 0));
}

bool Analyzer::proves_difference(const Expr* a, const Expr* b, std::int64_t distance) {
  const auto at_most = [&](const Expr* difference) {
    return always(BinaryOp::Le, bounds(difference), Interval::point(distance));
  };
  const Expr* difference = simplify(folder_.binary(BinaryOp::Sub, a, b, a->span));
  if (at_most(difference)) return true;
  if (facts_.empty() || is_unsigned_int(*int_dtype(a)) || is_unsigned_int(*int_dtype(b))) return false;
  if (follows_from_facts(a, b, distance)) return true;
  // Either the rising or the falling variables: both at once would put each side of a fact for the other.
  for (const bool rising : {true, false}) {
    const Expr* end = symbolic_end(difference, rising, true);
    if (end != difference && at_most(simplify(end))) return true;
  }
  return false;
}

// Shortest ways in the graph with an edge from a to b of length d for each fact a - b <= d.
bool Analyzer::follows_from_facts(const Expr* a, const Expr* b, std::int64_t distance) {
  const Offset from = split(a);
  const Offset to = split(b);
  // from.base - to.base <= limit
  std::int64_t limit = 0;
  if (__builtin_sub_overflow(to.offset, from.offset, &limit)) return false;
  if (__builtin_add_overflow(limit, distance, &limit)) return false;
  struct Reached {
    const Expr* node;
    std::int64_t length;
  };
  std::vector<Reached> reached{{from.base, 0}};
  const std::size_t first = facts_.size() > kMaxFacts ? facts_.size() - kMaxFacts : 0;
  for (std::size_t round = first; round < facts_.size(); ++round) {
    bool shorter = false;
    for (std::size_t i = first; i < facts_.size(); ++i) {
      const Fact& fact = facts_[i];
      const auto is = [](const Expr* node) {
        return [node](const Reached& r) { return equal(r.node, node); };
      };
      const auto start = std::find_if(reached.begin(), reached.end(), is(fact.a));
      if (start == reached.end()) continue;
      std::int64_t length = 0;
      if (__builtin_add_overflow(start->length, fact.distance, &length)) continue;
      const auto end = std::find_if(reached.begin(), reached.end(), is(fact.b));
      if (end == reached.end()) {
        reached.push_back({fact.b, length});
      } else if (length < end->length) {
        end->length = length;
      } else {
        continue;
      }
      shorter = true;
    }
    if (!shorter) break;
  }
  return std::any_of(reached.begin(), reached.end(),
                     [&](const Reached& r) { return r.length <= limit && equal(r.node, to.base); });
}

// An expression that is never below `e`: variables with which `e` rises (or, if not `rising`, falls) are replaced by
// what they are at most (at least) according to a condition. `e` itself if nothing is known. `up`: whether the value
// looked for rises with `e`.
const Expr* Analyzer::symbolic_end(const Expr* e, bool rising, bool up) {
  if (e->kind == ExprKind::Var) {
    if (rising != up) return e;
    for (std::size_t i = facts_.size(); i > 0; --i) {
      const Fact& fact = facts_[i - 1];
      if ((up ? fact.a : fact.b) != e) continue;
      const Expr* shift = ctx().const_int(up ? fact.distance : -fact.distance, *int_dtype(e), e->span);
      return folder_.binary(BinaryOp::Add, up ? fact.b : fact.a, shift, e->span);
    }
    return e;
  }
  const auto* binary = dyn<Binary>(e);
  if (binary == nullptr) return e;
  const auto factor = const_int(binary->rhs);
  if (binary->op != BinaryOp::Add && binary->op != BinaryOp::Sub && !(binary->op == BinaryOp::Mul && factor))
    return e;
  const bool falls = binary->op == BinaryOp::Mul && *factor < 0;
  const Expr* lhs = symbolic_end(binary->lhs, rising, up != falls);
  const Expr* rhs = symbolic_end(binary->rhs, rising, up != (binary->op == BinaryOp::Sub));
  return lhs != binary->lhs || rhs != binary->rhs ? folder_.binary(binary->op, lhs, rhs, e->span) : e;
}

}  // namespace pldc::simplify
