// Where the operands of a call that is being read stand: a variable's own place is that of its definition.
#pragma once

#include <utility>
#include <vector>

#include "ir/authoring.h"

namespace pldc {

// Gives the operands that are variables copies which stand where they are used, so that messages point into the call.
// One copy for each variable: some checks ask whether two operands are the same.
class UsePlaces {
 public:
  explicit UsePlaces(Context& context) : ctx_(context) {}
  const Expr* operator()(const Expr* e, Span use) {
    const auto* var = dyn<Var>(e);
    if (var == nullptr) return e;
    for (const auto& [from, to] : copies_) {
      if (from == var) return to;
    }
    Var copy = *var;
    copy.span = use;
    copies_.emplace_back(var, ctx_.make(copy));
    return copies_.back().second;
  }
  AuthoringCall operator()(AuthoringCall call) {
    for (AuthoringArg& arg : call.args) arg.expr = (*this)(arg.expr, arg.span);
    for (AuthoringKeyword& k : call.keywords) k.arg.expr = (*this)(k.arg.expr, k.arg.span);
    return call;
  }

 private:
  Context& ctx_;
  std::vector<std::pair<const Var*, const Var*>> copies_;
};

}  // namespace pldc
