#include "passes/trace.h"

#include "ir/walk.h"

namespace pldc {

const YieldStmt* trailing_yield(Body body) {
  while (!body.empty()) {
    const Stmt* last = body.back();
    if (const auto* yield = dyn<YieldStmt>(last)) return yield;
    const auto* scope = dyn<ScopeStmt>(last);
    if (scope == nullptr || !yields_pass_through(scope->scope)) return nullptr;
    body = scope->body;
  }
  return nullptr;
}

const ReturnStmt* first_return(Body body) {
  for (const Stmt* stmt : body) {
    if (const auto* ret = dyn<ReturnStmt>(stmt)) return ret;
    const ReturnStmt* inner = nullptr;
    for_each_body(stmt, [&](Body b) {
      if (inner == nullptr) inner = first_return(b);
    });
    if (inner != nullptr) return inner;
  }
  return nullptr;
}

ParamTracer::ParamTracer(const Program* program) {
  for (const Function* f : program->functions) functions_.emplace(f->name, f);
}

const Function* ParamTracer::function(Name name) const {
  const auto found = functions_.find(name);
  return found != functions_.end() ? found->second : nullptr;
}

void ParamTracer::collect(Body body, Scope& scope) {
  const auto yielded = [](const YieldStmt* yield, std::size_t i) -> const Expr* {
    return yield != nullptr && i < yield->values.size() ? yield->values[i] : nullptr;
  };
  const auto carries = [&](List<IterArg> args, List<const Var*> results, Body inner) {
    const YieldStmt* yield = trailing_yield(inner);
    for (std::size_t i = 0; i < args.size(); ++i) {
      scope.defs.emplace(args[i].var, Def{DefKind::Carry, kNone, args[i].init, yielded(yield, i)});
      // The result is the carry's last value: one question for both.
      if (i < results.size())
        scope.defs.emplace(results[i], Def{DefKind::Assign, kNone, args[i].var, nullptr});
    }
  };
  for (const Stmt* stmt : body) {
    if (const auto* assign = dyn<AssignStmt>(stmt)) {
      scope.defs.emplace(assign->var, Def{DefKind::Assign, kNone, assign->value, nullptr});
    } else if (const auto* loop = dyn<ForStmt>(stmt)) {
      carries(loop->iter_args, loop->return_vars, loop->body);
    } else if (const auto* loop_while = dyn<WhileStmt>(stmt)) {
      carries(loop_while->iter_args, loop_while->return_vars, loop_while->body);
    } else if (const auto* branch = dyn<IfStmt>(stmt)) {
      const YieldStmt* then_yield = trailing_yield(branch->then_body);
      const YieldStmt* else_yield = trailing_yield(branch->else_body);
      for (std::size_t i = 0; i < branch->return_vars.size(); ++i) {
        scope.defs.emplace(branch->return_vars[i],
                           Def{DefKind::IfResult, kNone, yielded(then_yield, i), yielded(else_yield, i)});
      }
    }
    for_each_body(stmt, [&](Body inner) { collect(inner, scope); });
  }
}

ParamTracer::Scope& ParamTracer::scope_of(const Function* function) {
  const auto [at, fresh] = scopes_.try_emplace(function);
  Scope& scope = at->second;
  if (fresh) {
    for (std::size_t i = 0; i < function->params.size(); ++i) {
      scope.defs.emplace(function->params[i].var, Def{DefKind::Param, static_cast<int>(i), nullptr, nullptr});
    }
    collect(function->body, scope);
  }
  return scope;
}

int ParamTracer::param_of(const Function* function, const Expr* value) {
  return trace(scope_of(function), value, Ifs::Stop);
}

const Expr* ParamTracer::argument_returned(const Expr* call, std::size_t position, std::size_t results) {
  Name callee;
  List<const Expr*> args;
  if (const auto* plain = dyn<Call>(call); plain != nullptr && !plain->is_op()) {
    callee = plain->function;
    args = plain->args;
  } else if (const auto* submit = dyn<Submit>(call)) {
    callee = submit->function;
    args = submit->args;
  } else {
    return nullptr;
  }
  const Function* f = function(callee);
  if (f == nullptr) return nullptr;
  const std::vector<int>& returned = returned_params(f);
  if (position >= returned.size() || (results != 0 && returned.size() != results)) return nullptr;
  const int index = returned[position];
  return index != kNone && static_cast<std::size_t>(index) < args.size()
             ? args[static_cast<std::size_t>(index)]
             : nullptr;
}

const Expr* ParamTracer::step(const Scope& scope, const Expr* value) {
  if (const auto* call = dyn<Call>(value)) {
    if (!call->is_op()) return argument_returned(call, 0, 1);
    const int alias = op_info(call->op).effects.result_aliases;
    return alias >= 0 && static_cast<std::size_t>(alias) < call->args.size()
               ? call->args[static_cast<std::size_t>(alias)]
               : nullptr;
  }
  if (const auto* get = dyn<TupleGet>(value)) {
    return get->index >= 0 ? element(scope, get->tuple, static_cast<std::size_t>(get->index)) : nullptr;
  }
  return nullptr;
}

const Expr* ParamTracer::element(const Scope& scope, const Expr* tuple, std::size_t position) {
  if (const auto* var = dyn<Var>(tuple)) {
    const auto def = scope.defs.find(var);
    if (def == scope.defs.end() || def->second.kind != DefKind::Assign) return nullptr;
    tuple = def->second.value;
  }
  return argument_returned(tuple, position, 0);
}

int ParamTracer::trace_carry(Scope& scope, const Var* var, const Def& def, Ifs ifs) {
  if (dyn<TensorType>(var->type) == nullptr || def.second == nullptr) return kNone;
  Answers& answers = scope.answers[static_cast<std::size_t>(Ifs::Follow)];
  const std::size_t mark = answers.trail.size();
  answers.known[var] = kNone;  // in a program that is not SSA the initial value may lead back here
  answers.trail.push_back(var);
  const int initial = trace(scope, def.value, ifs);
  // Assume that the carry keeps its memory and see whether what the body yields then is that memory. Answers
  // found under an assumption that fails are forgotten.
  answers.known[var] = initial;
  if (initial != kNone && trace(scope, def.second, Ifs::Follow) == initial) return initial;
  while (answers.trail.size() > mark) {
    answers.known.erase(answers.trail.back());
    answers.trail.pop_back();
  }
  return kNone;
}

int ParamTracer::trace(Scope& scope, const Expr* value, Ifs ifs) {
  Answers& answers = scope.answers[static_cast<std::size_t>(ifs)];
  // A straight chain of names and writebacks can be as long as the function: no recursion for it.
  std::vector<const Var*> path;
  int answer = kNone;
  for (const Expr* at = value; at != nullptr;) {
    const auto* var = dyn<Var>(at);
    if (var == nullptr) {
      at = step(scope, at);
      continue;
    }
    if (const auto known = answers.known.find(var); known != answers.known.end()) {
      answer = known->second;
      break;
    }
    const auto found = scope.defs.find(var);
    if (found == scope.defs.end()) break;
    path.push_back(var);
    if (path.size() > scope.defs.size()) break;  // a cycle: the program is not SSA
    const Def& def = found->second;
    if (def.kind == DefKind::Assign) {
      at = def.value;
      continue;
    }
    if (def.kind == DefKind::Param) {
      answer = def.index;
    } else if (def.kind == DefKind::Carry) {
      answer = trace_carry(scope, var, def, ifs);
    } else if (ifs == Ifs::Follow && def.value != nullptr && def.second != nullptr) {
      const int one = trace(scope, def.value, ifs);
      if (one != kNone && trace(scope, def.second, ifs) == one) answer = one;
    }
    break;
  }
  for (const Var* var : path) {
    if (answers.known.insert_or_assign(var, answer).second) answers.trail.push_back(var);
  }
  return answer;
}

const std::vector<int>& ParamTracer::returned_params(const Function* function) {
  Scope& scope = scope_of(function);
  // A recursive call returns nothing known.
  if (scope.returned_done || scope.returned_busy) return scope.returned;
  scope.returned_busy = true;
  std::vector<int> returned;
  bool complete = true;
  if (const ReturnStmt* ret = first_return(function->body)) {
    const auto* tuple = ret->values.size() == 1 ? dyn<TupleType>(ret->values[0]->type) : nullptr;
    for (std::size_t i = 0; i < (tuple != nullptr ? tuple->elements.size() : ret->values.size()); ++i) {
      const Expr* value = tuple != nullptr ? element(scope, ret->values[0], i) : ret->values[i];
      returned.push_back(value != nullptr ? trace(scope, value, Ifs::Stop) : kNone);
      complete = complete && returned.back() != kNone;
    }
  }
  scope.returned = std::move(returned);
  if (!complete && function->is_wrapper()) fill_from_inner_call(function, scope, scope.returned.size());
  scope.returned_busy = false;
  scope.returned_done = true;
  return scope.returned;
}

void ParamTracer::fill_from_inner_call(const Function* wrapper, Scope& scope, std::size_t results) {
  const Expr* inner = nullptr;
  bool several = false;
  walk_stmts(wrapper->body, [&](const Stmt* stmt) {
    for_each_expr(stmt, [&](const Expr* root) {
      walk_expr(root, [&](const Expr* e) {
        const auto* call = dyn<Call>(e);
        const bool counts = (call != nullptr && !call->is_op()) || e->kind == ExprKind::Submit;
        if (!counts) return;
        const Name callee = call != nullptr ? call->function : static_cast<const Submit*>(e)->function;
        const pldc::Function* f = function(callee);
        if (f == nullptr || returned_params(f).size() != results) return;
        several = several || inner != nullptr;
        inner = e;
      });
    });
  });
  if (inner == nullptr || several) return;
  for (std::size_t i = 0; i < results; ++i) {
    if (scope.returned[i] != kNone) continue;
    const Expr* argument = argument_returned(inner, i, results);
    if (argument != nullptr) scope.returned[i] = trace(scope, argument, Ifs::Stop);
  }
}

}  // namespace pldc
