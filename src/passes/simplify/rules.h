// The table of rewriting rules (rules.def) in a form that can be matched.
//
// A rule is text: a pattern, a result and a condition in the syntax of the language. x, y and z stand for any
// expression, c, c1, c2 and c3 for integer constants; a letter that occurs again must stand for an equal expression.
// A number in a result has the dtype of the node that is rewritten (in comparisons: of its left operand), or, written
// `1:x`, that of what x stands for. A condition holds if it holds for all values within the bounds that are known.
#pragma once

#include <array>
#include <functional>
#include <string_view>
#include <vector>

#include "passes/simplify/fold.h"
#include "passes/simplify/interval.h"

namespace pldc::simplify {

inline constexpr std::size_t kLetterCount = 7;

struct Term {
  enum class Kind : std::uint8_t { Expr, Constant, Number, Bool, Binary, Unary };
  Kind kind = Kind::Number;
  BinaryOp op = BinaryOp::Add;
  UnaryOp unary = UnaryOp::Neg;
  int letter = -1;         // Expr, Constant; Number: whose dtype it has, or -1
  std::int64_t value = 0;  // Number, Bool
  const Term* lhs = nullptr;
  const Term* rhs = nullptr;
};

struct Rule {
  const Term* pattern;
  const Term* result;
  const Term* condition;  // null: always
  int copied;             // the letter that stands in the result more than once, or -1
  bool arithmetic;        // computes, which is right only where nothing wraps around
};

// The rules for nodes with this operator, in the order in which they are tried.
const std::vector<Rule>& rules_for(BinaryOp op);
const std::vector<Rule>& rules_for(UnaryOp op);

// What the letters of one rule stand for.
class Match {
 public:
  bool matches(const Term* pattern, const Expr* e);
  using Bounds = std::function<Interval(const Expr*)>;
  bool holds(const Term* condition, const Bounds& bounds) const;
  // Whether the letter stands for an expression that is small enough to be copied. Rules that split a comparison with
  // min or max copy the other side, and nested ones copy it again and again.
  bool may_copy(int letter) const;
  // The result with the letters filled in; null if a constant in it overflows.
  const Expr* build(const Term* result, Folder& folder, DType dtype, Span span) const;

 private:
  Interval interval(const Term* term, const Bounds& bounds) const;
  std::array<const Expr*, kLetterCount> letters_{};
};

}  // namespace pldc::simplify
