#include "passes/buffer_roots.h"

#include "ir/walk.h"

namespace pldc {

BufferRoots::BufferRoots(ParamTracer& tracer, const Function* function) : tracer_(tracer) {
  for (const Param& param : function->params) {
    if (dyn<TensorType>(param.var->type) != nullptr) roots_[param.var] = param.var;
  }
  collect(function->body);
}

const Var* BufferRoots::root(const Expr* value) const {
  const auto* var = dyn<Var>(value);
  const auto found = var != nullptr ? roots_.find(var) : roots_.end();
  return found != roots_.end() ? found->second : nullptr;
}

bool BufferRoots::ambiguous(const Expr* value) const {
  const auto* var = dyn<Var>(value);
  return var != nullptr && ambiguous_.contains(var);
}

const Expr* BufferRoots::source(const Expr* value) const {
  if (value->kind == ExprKind::Var) return value;
  if (const auto* call = dyn<Call>(value); call != nullptr && call->is_op()) {
    const int alias = op_info(call->op).effects.result_aliases;
    return alias >= 0 && static_cast<std::size_t>(alias) < call->args.size()
               ? call->args[static_cast<std::size_t>(alias)]
               : nullptr;
  }
  if (const auto* get = dyn<TupleGet>(value)) {
    const auto* var = dyn<Var>(get->tuple);
    const auto found = var != nullptr ? tuples_.find(var) : tuples_.end();
    const Expr* tuple = found != tuples_.end() ? found->second : get->tuple;
    return get->index >= 0 ? tracer_.argument_returned(tuple, static_cast<std::size_t>(get->index), 0)
                           : nullptr;
  }
  return tracer_.argument_returned(value, 0, 1);
}

void BufferRoots::assign(const AssignStmt* stmt) {
  if (dyn<TupleType>(stmt->var->type) != nullptr) {
    tuples_[stmt->var] = stmt->value;
    return;
  }
  if (dyn<TensorType>(stmt->var->type) == nullptr) return;
  const Expr* from = source(stmt->value);
  if (from == nullptr) {
    roots_[stmt->var] = stmt->var;
    return;
  }
  if (const Var* known = root(from)) roots_[stmt->var] = known;
  if (ambiguous(from)) ambiguous_.insert(stmt->var);
}

void BufferRoots::join(const Var* result, const Expr* one, const Expr* other) {
  if (dyn<TensorType>(result->type) == nullptr) return;
  const Var* a = root(one);
  if (a != nullptr && a == root(other)) {
    roots_[result] = a;
  } else {
    ambiguous_.insert(result);
  }
}

void BufferRoots::carries(List<IterArg> args, List<const Var*> results, Body body) {
  for (const IterArg& arg : args) {
    if (const Var* known = root(arg.init)) roots_[arg.var] = known;
    if (ambiguous(arg.init)) ambiguous_.insert(arg.var);
  }
  collect(body);
  const YieldStmt* yield = trailing_yield(body);
  for (std::size_t i = 0; i < results.size() && i < args.size(); ++i) {
    join(results[i], args[i].init, yield != nullptr && i < yield->values.size() ? yield->values[i] : nullptr);
  }
}

void BufferRoots::collect(Body body) {
  for (const Stmt* stmt : body) {
    if (const auto* assignment = dyn<AssignStmt>(stmt)) {
      assign(assignment);
    } else if (const auto* loop = dyn<ForStmt>(stmt)) {
      carries(loop->iter_args, loop->return_vars, loop->body);
    } else if (const auto* loop_while = dyn<WhileStmt>(stmt)) {
      carries(loop_while->iter_args, loop_while->return_vars, loop_while->body);
    } else {
      for_each_body(stmt, [&](Body inner) { collect(inner); });
    }
    const auto* branch = dyn<IfStmt>(stmt);
    if (branch == nullptr) continue;
    const YieldStmt* yields[2] = {trailing_yield(branch->then_body), trailing_yield(branch->else_body)};
    for (std::size_t i = 0; i < branch->return_vars.size(); ++i) {
      const auto value = [&](const YieldStmt* yield) {
        return yield != nullptr && i < yield->values.size() ? yield->values[i] : nullptr;
      };
      join(branch->return_vars[i], value(yields[0]), value(yields[1]));
    }
  }
}

}  // namespace pldc
