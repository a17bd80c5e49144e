// What is known about integers at a place of the program, and the expression simplifier that uses it (passes.md 2.5 D).
//
// The rules are those of whole numbers: like the reference, they take for granted that no signed operation of the program
// overflows its dtype. Unsigned integers may wrap around; for them only constants are folded and order is used.
#pragma once

#include <unordered_map>
#include <vector>

#include "passes/simplify/fold.h"
#include "passes/simplify/interval.h"

namespace pldc::simplify {

class Analyzer {
 public:
  explicit Analyzer(Context& context) : folder_(context) {}

  // The expression in its simplest known form; the same pointer if no rule applies.
  const Expr* simplify(const Expr* e);
  // Whether the BOOL expression holds whenever this place is reached. False means only "not known".
  bool proves(const Expr* condition);
  bool proves(BinaryOp comparison, const Expr* lhs, const Expr* rhs);
  bool refutes(const Expr* condition);
  Interval bounds(const Expr* e);

  // A variable's values are in this interval. Of an INDEX without a bound it is taken for granted that it is not negative.
  void bind(const Var* var, Interval interval);

  // What has been learned since a mark is forgotten when the scope ends.
  class Scope {
   public:
    explicit Scope(Analyzer& analyzer)
        : analyzer_(analyzer), vars_(analyzer.undo_.size()), facts_(analyzer.facts_.size()) {}
    ~Scope() { analyzer_.restore(vars_, facts_); }
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    Analyzer& analyzer_;
    std::size_t vars_;
    std::size_t facts_;
  };
  // The condition, which is simplified, holds from here to the end of the scope.
  void assume(const Expr* condition) { learn(condition); }
  // The simplified negation.
  const Expr* negation(const Expr* condition);

  // To be called between statements: what is remembered of the expressions before does not pay there.
  void trim() {
    if (stable_.size() + bounds_.size() < 4096) return;
    stable_.clear();
    bounds_.clear();
  }

  Context& ctx() { return folder_.ctx(); }

 private:
  // a - b <= distance
  struct Fact {
    const Expr* a;
    const Expr* b;
    std::int64_t distance;
  };
  struct Undo {
    const Var* var;
    std::optional<Interval> before;
  };
  struct Entry {
    Interval interval;
    std::uint32_t epoch;
  };

  const Expr* rewrite(const Expr* e);
  const Expr* rewrite_binary(const Binary* e);
  const Expr* rewrite_unary(const Unary* e);
  template <class Op>
  const Expr* apply_rules(Op op, const Expr* e, DType dtype);
  Interval compute_bounds(const Expr* e);
  void restore(std::size_t vars, std::size_t facts);
  void learn(const Expr* condition);
  void tighten(const Expr* e, Interval interval);
  void add_fact(const Expr* a, const Expr* b, std::int64_t distance);
  // Whether a - b <= distance follows.
  bool proves_difference(const Expr* a, const Expr* b, std::int64_t distance);
  bool follows_from_facts(const Expr* a, const Expr* b, std::int64_t distance);
  const Expr* symbolic_end(const Expr* e, bool rising, bool up);

  Folder folder_;
  std::unordered_map<const Var*, Interval> vars_;
  std::vector<Undo> undo_;
  std::vector<Fact> facts_;
  // Results that hold until something else is known about a variable: expressions to which no rule applies, and bounds.
  // Every change starts a new epoch instead of clearing the maps.
  std::uint32_t epoch_ = 1;
  std::unordered_map<const Expr*, std::uint32_t> stable_;
  std::unordered_map<const Expr*, Entry> bounds_;
  int depth_ = 0;  // of results that are simplified again
};

}  // namespace pldc::simplify
