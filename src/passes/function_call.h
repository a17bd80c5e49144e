// Calls and submits of functions of the program, seen as one thing, and what wrappers do to the arguments that they
// pass on. Nothing here reports; views point into the program and live as long as it.
#pragma once

#include <optional>
#include <unordered_map>
#include <vector>

#include "ir/walk.h"

namespace pldc {

struct FunctionCall {
  Name callee;
  List<const Expr*> args;
  Attrs attrs;
  bool is_submit;
};

// Nothing for an expression that is neither a call of a function nor a submit.
inline std::optional<FunctionCall> function_call(const Expr* e) {
  if (const auto* call = dyn<Call>(e); call != nullptr && !call->is_op()) {
    return FunctionCall{call->function, call->args, call->attrs, false};
  }
  if (const auto* submit = dyn<Submit>(e)) {
    return FunctionCall{submit->function, submit->args, submit->attrs, true};
  }
  return std::nullopt;
}

// f(FunctionCall, expression, statement) for every one in a body, in textual order, inner ones after outer ones.
template <class F>
void for_each_function_call(Body body, F&& f) {
  walk_stmts(body, [&](const Stmt* stmt) {
    for_each_expr(stmt, [&](const Expr* root) {
      walk_expr(root, [&](const Expr* e) {
        if (const auto call = function_call(e)) f(*call, e, stmt);
      });
    });
  });
}

// The parameter that argument `index` is for, or null if there are more arguments than parameters. A submit may leave
// out outputs, which the runtime allocates; contexts, which are the last parameters, then directly follow the
// arguments that are passed.
const Param* param_for(const Function* callee, const FunctionCall& call, std::size_t index);
// The argument for parameter number `param`; null if the submit leaves it out.
const Expr* argument_for(const Function* callee, const FunctionCall& call, std::size_t param);

// Whether the first direction asks for more of an argument than the second: InOut > Out > In.
bool asks_more(ParamDirection wanted, ParamDirection current);

// Each wrapper with the directions that its parameters have in effect: the declared ones or those of the callees that
// the wrapper hands the very parameter to, whichever asks for more (InOut > Out > In). Wrappers may call wrappers, each
// other included: the answer is the least fixed point (passes.md 2.9, phase 0).
std::unordered_map<const Function*, std::vector<ParamDirection>> wrapper_directions(const Program* program);

}  // namespace pldc
