#include "passes/ssa/type_origin.h"

#include "ir/walk.h"

namespace pldc::ssa {

const Expr* same_memory_operand(const Expr* value) {
  const auto* call = dyn<Call>(value);
  if (call == nullptr || !call->is_op()) return nullptr;
  const int alias = op_info(call->op).effects.result_aliases;
  const bool known = alias >= 0 && static_cast<std::size_t>(alias) < call->args.size();
  return known ? call->args[static_cast<std::size_t>(alias)] : nullptr;
}

SourceOrigins::SourceOrigins(const Function* function) {
  for (const Param& param : function->params) vars_.emplace(param.var, param.var);
  collect(function->body);
}

Origin SourceOrigins::of(const Var* var) const {
  const auto found = vars_.find(var);
  return found != vars_.end() ? found->second : var;
}

Origin SourceOrigins::of(const Expr* value) const {
  while (const Expr* operand = same_memory_operand(value)) value = operand;
  const auto* var = dyn<Var>(value);
  return var != nullptr ? of(var) : static_cast<Origin>(value);
}

void SourceOrigins::collect(Body body) {
  // The first assignment decides: a name that is written again keeps its type.
  const auto carries = [&](List<IterArg> args, List<const Var*> results) {
    for (std::size_t i = 0; i < args.size(); ++i) {
      const Origin origin = of(args[i].init);
      vars_.emplace(args[i].var, origin);
      if (i < results.size()) vars_.emplace(results[i], origin);
    }
  };
  for (const Stmt* stmt : body) {
    if (const auto* assign = dyn<AssignStmt>(stmt)) {
      vars_.emplace(assign->var, of(assign->value));
    } else if (const auto* loop = dyn<ForStmt>(stmt)) {
      carries(loop->iter_args, loop->return_vars);
    } else if (const auto* loop_while = dyn<WhileStmt>(stmt)) {
      carries(loop_while->iter_args, loop_while->return_vars);
    }
    for_each_body(stmt, [&](Body inner) { collect(inner); });
  }
}

}  // namespace pldc::ssa
