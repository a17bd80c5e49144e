// Which values of a host or chip function are the same memory, or the same handle, under other names.
#pragma once

#include <unordered_map>
#include <vector>

#include "passes/trace.h"

namespace pldc {

// Which of its parameters each function of a program returns. Unlike ParamTracer it looks through branches that agree.
class ReturnedParams {
 public:
  explicit ReturnedParams(const Program* program) : program_(program) {}
  const Function* function(Name name) const { return program_->find(name); }
  // For each value of the first return statement the position of the parameter, or ParamTracer::kNone.
  const std::vector<int>& of(const Function* function);

 private:
  const Program* program_;
  std::unordered_map<const Function*, std::vector<int>> known_;
};

class Aliases {
 public:
  // `calls` must outlive this.
  explicit Aliases(ReturnedParams& calls) : calls_(calls) {}
  // Takes in the definitions of a body. Bodies of several functions may be added.
  void add(Body body);

  // The variable at which the memory of the value begins: a parameter, what makes a tensor, a view, a window, a carry
  // or result that may be one of several. Not a variable (a call of something unknown, a constant): the value itself.
  const Expr* root(const Expr* value) const;
  // The value that the variable is bound to by an assignment, or null.
  const Expr* definition(const Var* var) const;
  // The same through other names: for scalars, tuples.
  const Expr* unwrap(const Expr* value) const;
  // The argument of the call or submit that its result number `index` is; null: none of them, or not known.
  const Expr* argument_returned(const Expr* call, std::size_t index, std::size_t results) const;

 private:
  enum class Kind : std::uint8_t { Value, Carry, LoopResult, IfResult };
  struct Def {
    Kind kind;
    const Expr* first =
        nullptr;  // Value; Carry: initial value; LoopResult: the carry; IfResult: of the first branch
    const Expr* second = nullptr;  // Carry: what the body yields; IfResult: of the second branch
  };
  void collect_loop(List<IterArg> args, List<const Var*> results, Body body);
  const Expr* step(const Var* var) const;
  bool keeps_value(const Var* var, const Def& carry) const;
  void remember(const Var* var, const Expr* result) const;

  ReturnedParams& calls_;
  std::unordered_map<const Var*, Def> defs_;
  mutable std::unordered_map<const Var*, const Expr*> roots_;
  mutable std::vector<const Var*> trail_;  // the order in which roots_ grew
};

}  // namespace pldc
