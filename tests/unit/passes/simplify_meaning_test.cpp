// Simplify keeps the value of every expression: random expressions of integers and conditions, computed before and after
// for random values of the variables.
#include <random>

#include "passes/simplify/analyzer.h"
#include "support/catch.h"

using namespace pldc;
using simplify::Analyzer;
using simplify::Interval;

namespace {

constexpr std::int64_t kOverflow = std::int64_t{1} << 62;

class World {
 public:
  explicit World(std::uint32_t seed) : random_(seed) {
    for (const char* name : {"x", "y", "z"})
      vars_.push_back(context_.var(context_.name(name), context_.scalar(DType::INT64)));
    for (const char* name : {"i", "j"})
      vars_.push_back(context_.var(context_.name(name), context_.scalar(DType::INDEX)));
    vars_.push_back(context_.var(context_.name("w"), context_.scalar(DType::INT32)));
  }

  int below(int n) { return std::uniform_int_distribution<int>(0, n - 1)(random_); }

  const Expr* integer(int depth) {
    if (depth == 0 || below(6) == 0) {
      if (below(2) == 0)
        return context_.const_int(below(13) - 4, below(2) == 0 ? DType::INDEX : DType::INT64);
      return vars_[static_cast<std::size_t>(below(static_cast<int>(vars_.size())))];
    }
    static constexpr BinaryOp kOps[] = {BinaryOp::Add, BinaryOp::Add, BinaryOp::Sub,      BinaryOp::Sub,
                                        BinaryOp::Mul, BinaryOp::Mul, BinaryOp::FloorDiv, BinaryOp::FloorMod,
                                        BinaryOp::Min, BinaryOp::Max};
    if (below(12) == 0) return context_.unary(UnaryOp::Neg, integer(depth - 1));
    const auto op = kOps[below(static_cast<int>(std::size(kOps)))];
    const Expr* lhs = integer(depth - 1);
    // Equal operands are what most rules are about.
    if (const auto* inner = dyn<Binary>(lhs); inner != nullptr && below(3) == 0) {
      return context_.binary(op, lhs, below(2) == 0 ? inner->lhs : inner->rhs);
    }
    return context_.binary(op, lhs, integer(depth - 1));
  }

  const Expr* condition(int depth) {
    if (depth > 0 && below(3) == 0) {
      if (below(4) == 0) return context_.unary(UnaryOp::Not, condition(depth - 1));
      return context_.binary(below(2) == 0 ? BinaryOp::And : BinaryOp::Or, condition(depth - 1),
                             condition(depth - 1));
    }
    static constexpr BinaryOp kOps[] = {BinaryOp::Eq, BinaryOp::Ne, BinaryOp::Lt,
                                        BinaryOp::Le, BinaryOp::Gt, BinaryOp::Ge};
    return context_.binary(kOps[below(6)], integer(2), integer(2));
  }

  // New values: INDEX variables are not negative, and inside the interval that the analyzer was told.
  void draw(Interval of_i) {
    for (const Var* v : vars_) values_[v] = below(41) - 20;
    values_[vars_[3]] = of_i.min + below(static_cast<int>(of_i.max - of_i.min + 1));
    values_[vars_[4]] = below(30);
  }

  // Nothing where the value is undefined or does not fit.
  std::optional<std::int64_t> value(const Expr* e) const {
    if (const auto constant = const_int(e)) return constant;
    if (const auto* flag = dyn<ConstBool>(e)) return flag->value ? 1 : 0;
    if (const auto* var = dyn<Var>(e)) return values_.at(var);
    if (const auto* cast = dyn<Cast>(e)) return value(cast->operand);
    if (const auto* unary = dyn<Unary>(e)) {
      const auto operand = value(unary->operand);
      if (!operand) return std::nullopt;
      return unary->op == UnaryOp::Neg ? -*operand : 1 - *operand;
    }
    const auto* binary = dyn<Binary>(e);
    REQUIRE(binary != nullptr);
    const auto lhs = value(binary->lhs);
    const auto rhs = value(binary->rhs);
    if (!lhs || !rhs) return std::nullopt;
    return apply(binary->op, *lhs, *rhs);
  }

  Context& ctx() { return context_; }
  const Var* i() const { return vars_[3]; }

 private:
  // Written apart from the folder on purpose: division as the language defines it, rounding down.
  static std::optional<std::int64_t> apply(BinaryOp op, std::int64_t a, std::int64_t b) {
    if (op == BinaryOp::Eq) return a == b;
    if (op == BinaryOp::Ne) return a != b;
    if (op == BinaryOp::Lt) return a < b;
    if (op == BinaryOp::Le) return a <= b;
    if (op == BinaryOp::Gt) return a > b;
    if (op == BinaryOp::Ge) return a >= b;
    if (op == BinaryOp::And) return a != 0 && b != 0;
    if (op == BinaryOp::Or) return a != 0 || b != 0;
    std::int64_t r = 0;
    if (op == BinaryOp::Add) {
      r = a + b;
    } else if (op == BinaryOp::Sub) {
      r = a - b;
    } else if (op == BinaryOp::Min) {
      r = std::min(a, b);
    } else if (op == BinaryOp::Max) {
      r = std::max(a, b);
    } else if (op == BinaryOp::Mul) {
      if (__builtin_mul_overflow(a, b, &r)) return std::nullopt;
    } else {
      if (b == 0) return std::nullopt;
      const std::int64_t rest = ((a % b) + b) % b;
      r = op == BinaryOp::FloorDiv ? (a - rest) / b : rest;
    }
    if (r > kOverflow || r < -kOverflow) return std::nullopt;
    return r;
  }

  std::mt19937 random_;
  Context context_;
  std::vector<const Var*> vars_;
  std::unordered_map<const Var*, std::int64_t> values_;
};

}  // namespace

TEST_CASE("Simplify keeps the values of random expressions") {
  int changed = 0;
  int compared = 0;
  for (std::uint32_t seed = 0; seed < 20; ++seed) {
    World world(seed);
    for (int n = 0; n < 400; ++n) {
      Analyzer analyzer(world.ctx());
      const Interval range{world.below(5), 5 + world.below(6)};
      analyzer.bind(world.i(), range);
      const Expr* before = n % 3 == 0 ? world.condition(2) : world.integer(4);
      const Expr* after = analyzer.simplify(before);
      changed += after != before ? 1 : 0;
      const Interval bounds = analyzer.bounds(after);
      for (int draw = 0; draw < 20; ++draw) {
        world.draw(range);
        const auto expected = world.value(before);
        if (!expected) continue;
        ++compared;
        const auto found = world.value(after);
        INFO("seed " << seed << ", expression " << n);
        REQUIRE(found == expected);
        if (n % 3 != 0) REQUIRE(bounds.contains(*found));
      }
    }
  }
  CHECK(changed > 5000);
  CHECK(compared > 100000);
}

TEST_CASE("Simplify proves only what follows from the conditions") {
  int proved = 0;
  int checked = 0;
  for (std::uint32_t seed = 100; seed < 120; ++seed) {
    World world(seed);
    for (int n = 0; n < 400; ++n) {
      Analyzer analyzer(world.ctx());
      const Interval range{world.below(5), 5 + world.below(6)};
      analyzer.bind(world.i(), range);
      const Expr* first = world.condition(1);
      const Expr* second = world.condition(1);
      const Expr* question = world.condition(1);
      const Analyzer::Scope scope(analyzer);
      analyzer.assume(analyzer.simplify(first));
      analyzer.assume(analyzer.negation(second));
      const bool holds = analyzer.proves(question);
      const bool fails = !holds && analyzer.refutes(question);
      if (!holds && !fails) continue;
      ++proved;
      for (int draw = 0; draw < 200; ++draw) {
        world.draw(range);
        if (world.value(first) != 1 || world.value(second) != 0) continue;
        const auto answer = world.value(question);
        if (!answer) continue;
        ++checked;
        INFO("seed " << seed << ", question " << n);
        REQUIRE(*answer == (holds ? 1 : 0));
      }
    }
  }
  CHECK(proved > 500);
  CHECK(checked > 10000);
}

TEST_CASE("Simplify: intervals saturate") {
  using simplify::interval_of;
  const Interval all;
  const Interval big{Interval::kNoMax - 1, Interval::kNoMax - 1};
  CHECK(interval_of(BinaryOp::Add, big, big).max == Interval::kNoMax);
  CHECK(interval_of(BinaryOp::Mul, big, big).max == Interval::kNoMax);
  CHECK(interval_of(BinaryOp::Mul, all, Interval::point(0)) == Interval::point(0));
  CHECK(interval_of(BinaryOp::FloorDiv, Interval{-7, 7}, Interval::point(2)) == Interval{-4, 3});
  CHECK(interval_of(BinaryOp::FloorDiv, Interval{-7, 7}, Interval{-1, 1}) == all);
  CHECK(interval_of(BinaryOp::FloorDiv, Interval{0, Interval::kNoMax}, Interval{0, 4}) ==
        Interval{0, Interval::kNoMax});
  CHECK(interval_of(BinaryOp::FloorMod, Interval{-7, 7}, Interval::point(4)) == Interval{0, 3});
  CHECK(interval_of(BinaryOp::FloorMod, Interval{0, 2}, Interval::point(4)) == Interval{0, 2});
  CHECK(simplify::negate(all) == all);
  CHECK(simplify::absolute(Interval{-3, 2}) == Interval{0, 3});
  CHECK(simplify::range_of(DType::INT8) == Interval{-128, 127});
  CHECK(simplify::range_of(DType::UINT4) == Interval{0, 15});
}
