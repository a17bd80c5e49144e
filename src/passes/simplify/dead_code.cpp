#include "passes/simplify/dead_code.h"

#include <unordered_map>
#include <unordered_set>

#include "ir/rewrite.h"
#include "ir/walk.h"

namespace pldc::simplify {

namespace {

bool has_call(const Expr* value) {
  bool found = false;
  walk_expr(value, [&](const Expr* e) {
    found = found || e->kind == ExprKind::Call || e->kind == ExprKind::Submit;
  });
  return found;
}

// Every variable that the expression or a type in it reads.
template <class F>
void for_each_use(const Expr* value, F&& f);

template <class F>
void for_each_use(const Type* type, F&& f) {
  for_each_type_expr(type, [&](const Expr* dim) {
    walk_expr(dim, [&](const Expr* e) {
      if (e->kind == ExprKind::Var) f(static_cast<const Var*>(e));
    });
  });
}

template <class F>
void for_each_use(const Expr* value, F&& f) {
  walk_expr(value, [&](const Expr* e) {
    if (e->kind == ExprKind::Var) {
      f(static_cast<const Var*>(e));
    } else {
      for_each_use(e->type, f);
    }
  });
}

// What the statement reads itself, the types of what it binds and the sizes of windows included.
template <class F>
void for_each_use(const Stmt* stmt, F&& f) {
  for_each_expr(stmt, [&](const Expr* e) { for_each_use(e, f); });
  for_each_def(stmt, [&](const Var* v) { for_each_use(v->type, f); });
  if (const auto* scope = dyn_scope(stmt, ScopeKind::CommDomain)) {
    for (const WindowSlot& slot : scope->slots) {
      f(slot.base);
      for_each_use(slot.size, f);
    }
  }
}

// An assignment that may go if nobody reads its target. The task id of a submit stays: it is how the task is known.
const AssignStmt* removable(const Stmt* stmt) {
  const auto* assign = dyn<AssignStmt>(stmt);
  if (assign == nullptr || assign->var->type->kind != TypeKind::Scalar || has_call(assign->value))
    return nullptr;
  const bool task_id =
      assign->value->kind == ExprKind::TupleGet && scalar_dtype(assign->var->type) == DType::TASK_ID;
  return task_id ? nullptr : assign;
}

// Drops scalar assignments whose target no statement that stays reads.
class ScalarRemover : public Rewriter {
 public:
  using Rewriter::Rewriter;

  Body without_dead(Body root) {
    walk_stmts(root, [&](const Stmt* stmt) {
      if (const AssignStmt* assign = removable(stmt)) {
        candidates_[assign->var].push_back(assign);
      } else {
        for_each_use(stmt, [&](const Var* v) { mark(v); });
      }
    });
    while (!work_.empty()) {
      const auto found = candidates_.find(work_.back());
      work_.pop_back();
      if (found == candidates_.end()) continue;
      for (const AssignStmt* assign : found->second) for_each_use(assign, [&](const Var* v) { mark(v); });
    }
    for (const auto& [var, assigns] : candidates_) any_dead_ = any_dead_ || !live_.contains(var);
    return any_dead_ ? body(root) : root;
  }

  const Expr* expr(const Expr* e) override { return e; }
  void stmt(const Stmt* s, std::vector<const Stmt*>& out) override {
    const AssignStmt* assign = removable(s);
    if (assign == nullptr || live_.contains(assign->var)) Rewriter::stmt(s, out);
  }

 private:
  void mark(const Var* v) {
    if (live_.insert(v).second) work_.push_back(v);
  }

  std::unordered_map<const Var*, std::vector<const AssignStmt*>> candidates_;
  std::unordered_set<const Var*> live_;
  std::vector<const Var*> work_;
  bool any_dead_ = false;
};

// Drops results of ifs that nobody reads, and what the branches yield for them.
class ResultRemover : public Rewriter {
 public:
  using Rewriter::Rewriter;

  Body without_dead(Body root) {
    walk_stmts(root, [&](const Stmt* stmt) {
      for_each_use(stmt, [&](const Var* v) { ++uses_[v]; });
      const auto* branch = dyn<IfStmt>(stmt);
      if (branch == nullptr || !well_formed(branch)) return;
      for (std::size_t i = 0; i < branch->return_vars.size(); ++i) {
        if (!has_call(yielded(branch->then_body, i)) && !has_call(yielded(branch->else_body, i))) {
          results_[branch->return_vars[i]] = {branch, i};
        }
      }
    });
    for (const auto& [var, place] : results_) {
      if (uses_[var] == 0) work_.push_back(var);
    }
    if (work_.empty()) return root;
    while (!work_.empty()) {
      const Var* var = work_.back();
      work_.pop_back();
      dead_.insert(var);
      const auto [branch, i] = results_[var];
      const auto drop = [&](const Var* v) {
        if (--uses_[v] == 0 && results_.contains(v)) work_.push_back(v);
      };
      for_each_use(var->type, drop);
      for_each_use(yielded(branch->then_body, i), drop);
      for_each_use(yielded(branch->else_body, i), drop);
    }
    return body(root);
  }

  const Expr* expr(const Expr* e) override { return e; }
  void stmt(const Stmt* s, std::vector<const Stmt*>& out) override {
    const auto* rebuilt = rebuild(s);
    const auto* branch = dyn<IfStmt>(rebuilt);
    if (branch == nullptr) {
      out.push_back(rebuilt);
      return;
    }
    std::vector<bool> keep;
    std::vector<const Var*> vars;
    for (const Var* v : branch->return_vars) {
      keep.push_back(!dead_.contains(v));
      if (keep.back()) vars.push_back(v);
    }
    if (vars.size() == keep.size()) {
      out.push_back(rebuilt);
      return;
    }
    IfStmt n = *branch;
    n.return_vars = ctx().list(vars);
    n.then_body = with_yields(n.then_body, keep);
    n.else_body = with_yields(n.else_body, keep);
    out.push_back(ctx().make(n));
  }

 private:
  struct Place {
    const IfStmt* branch;
    std::size_t index;
  };

  static const YieldStmt* last_yield(Body b) { return b.empty() ? nullptr : dyn<YieldStmt>(b.back()); }
  static const Expr* yielded(Body b, std::size_t i) { return last_yield(b)->values[i]; }
  static bool well_formed(const IfStmt* branch) {
    const auto fits = [&](Body b) {
      const YieldStmt* yield = last_yield(b);
      return yield != nullptr && yield->values.size() == branch->return_vars.size();
    };
    return fits(branch->then_body) && fits(branch->else_body);
  }
  Body with_yields(Body b, const std::vector<bool>& keep) {
    std::vector<const Stmt*> statements(b.begin(), b.end());
    YieldStmt n = *last_yield(b);
    std::vector<const Expr*> values;
    for (std::size_t i = 0; i < keep.size(); ++i) {
      if (keep[i]) values.push_back(n.values[i]);
    }
    statements.pop_back();
    n.values = ctx().list(values);
    if (!values.empty()) statements.push_back(ctx().make(n));
    return ctx().list(statements);
  }

  std::unordered_map<const Var*, std::size_t> uses_;
  std::unordered_map<const Var*, Place> results_;
  std::unordered_set<const Var*> dead_;
  std::vector<const Var*> work_;
};

}  // namespace

const Function* remove_dead_code(Context& context, const Function* function) {
  Body body = ScalarRemover(context).without_dead(function->body);
  body = ResultRemover(context).without_dead(body);
  body = ScalarRemover(context).without_dead(body);
  if (body.data() == function->body.data() && body.size() == function->body.size()) return function;
  Function n = *function;
  n.body = body;
  return context.make(n);
}

}  // namespace pldc::simplify
