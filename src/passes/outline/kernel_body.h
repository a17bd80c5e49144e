// The body of the function that a scope becomes.
#pragma once

#include "ir/auto_name.h"
#include "ir/rewrite.h"
#include "passes/outline/outliner.h"

namespace pldc::outlining {

// The body of the new function: a copy with variables of its own, in which stores to outside tensors have a result.
class KernelBody : public Rewriter {
 public:
  KernelBody(Context& context, const Interface& scope, const ScopeStmt* unwrapped)
      : Rewriter(context),
        targets_(scope.store_targets.begin(), scope.store_targets.end()),
        unwrapped_(unwrapped) {}

  const Var* parameter(const Var* input) {
    const Var* param = ctx().var(input->name, type(input->type), input->span);
    substitute(input, param);
    names_.add(input->name.text());
    return param;
  }

  const Var* define(const Var* v) override {
    const Var* n = ctx().var_like(v, type(v->type));
    substitute(v, n);
    names_.add(v->name.text());
    return n;
  }

  void stmt(const Stmt* s, std::vector<const Stmt*>& out) override {
    if (s == unwrapped_) {
      for (const Stmt* inner : unwrapped_->body) stmt(inner, out);
      return;
    }
    const auto* assign = dyn<AssignStmt>(s);
    const auto* eval = dyn<EvalStmt>(s);
    const Expr* value = assign != nullptr ? assign->value : eval != nullptr ? eval->value : nullptr;
    const Call* store = value != nullptr ? op_call(value, OpId::tile_store) : nullptr;
    const auto* target = store != nullptr && store->args.size() > 2 ? dyn<Var>(store->args[2]) : nullptr;
    if (targets_.count(target) == 0) {
      Rewriter::stmt(s, out);
      return;
    }
    const Expr* call = expr(value);
    const Var* bound = ctx().var(ctx().name(store_name(target)), call->type, s->span);
    if (assign != nullptr) {
      const Var* result = define(assign->var);
      out.push_back(ctx().assign(result, call, s->span, s->comments));
      out.push_back(ctx().assign(bound, result, s->span));
    } else {
      out.push_back(ctx().assign(bound, call, s->span, s->comments));
    }
  }

 private:
  std::string store_name(const Var* target) {
    const AutoName parts = parse_auto_name(target->name.text());
    std::string name = build_auto_name(parts.base, parts.qualifier, NameRole::Store, std::nullopt);
    if (names_.has(name)) return names_.fresh_like(name);
    names_.add(name);
    return name;
  }

  std::unordered_set<const Var*> targets_;
  const ScopeStmt* unwrapped_;
  NamePool names_;
};

}  // namespace pldc::outlining
