// Expressions as a person would have written them: temporaries that passes made are replaced by what they stand for, and
// variables have their plain names. "data__ssa_v3" is "data", "t__tmp_v4" is "(me + 1) % pld.nranks(ctx)".
#pragma once

#include <string>
#include <unordered_map>

#include "ir/rewrite.h"

namespace pldc::trace {

class ShortText : private Rewriter {
 public:
  ShortText(Context& context, const Function* function);
  std::string of(const Expr* e);
  // Of an argument: a slice is shown as "xs[r, 0]", by its tensor and where it begins.
  std::string argument(const Expr* e);
  static std::string name(const Var* v);

 private:
  const Expr* expr(const Expr* e) override;

  std::unordered_map<const Var*, const Expr*> values_;  // null: several definitions
  int budget_ = 0;                                      // nodes that the text may still grow by
  int depth_ = 0;
};

}  // namespace pldc::trace
