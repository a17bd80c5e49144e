// SSAForm: each variable has one definition, which is visible where the variable is read; loops and ifs hand
// values on through their yields only (yields.cpp).
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "ir/walk.h"
#include "passes/verify/verifiers.h"
#include "support/diag/verify.h"

namespace pldc {

namespace {

class SsaVerifier {
 public:
  explicit SsaVerifier(DiagSink& diags) : diags_(diags) {}

  void run(const Function* f) {
    for (const Param& param : f->params) define(param.var, param.var->span);
    body(f->body);
  }

 private:
  void define(const Var* var, Span place) {
    const auto [known, fresh] = defined_.emplace(var, place);
    if (!fresh) {
      diags_.report<diag::ssa_redefined>(place, var->name.text())
          .note(known->second, "first defined here")
          .help("run ConvertToSSA, or use another name");
    }
    if (visible_.insert(var).second) order_.push_back(var);
  }

  void use(const Expr* root, Span place) {
    walk_expr(root, [&](const Expr* e) {
      const auto* var = dyn<Var>(e);
      if (var == nullptr || visible_.count(var) != 0) return;
      const auto known = defined_.find(var);
      // A variable without any definition so far is a symbol, or a finding of UseAfterDef.
      if (known == defined_.end() || !reported_.insert(var).second) return;
      diags_.report<diag::ssa_out_of_scope>(place, var->name.text())
          .note(known->second, "defined here")
          .help("yield '{}' from that body and read the result instead", var->name.text());
    });
  }

  void leave(std::size_t mark) {
    while (order_.size() > mark) {
      visible_.erase(order_.back());
      order_.pop_back();
    }
  }

  void body(Body list) {
    for (const Stmt* s : list) stmt(s);
  }

  void branch(Body list) {
    const std::size_t mark = order_.size();
    body(list);
    leave(mark);
  }

  void loop(List<IterArg> carries, List<const Var*> results, Body list, const Expr* condition,
            const Var* loop_var, Span span) {
    const std::size_t mark = order_.size();
    if (loop_var != nullptr) define(loop_var, span);
    for (const IterArg& carry : carries) define(carry.var, span);
    if (condition != nullptr) use(condition, span);
    body(list);
    leave(mark);
    for (const Var* v : results) define(v, span);
  }

  void stmt(const Stmt* s) {
    switch (s->kind) {
      case StmtKind::Assign:
        use(static_cast<const AssignStmt*>(s)->value, s->span);
        define(static_cast<const AssignStmt*>(s)->var, s->span);
        break;
      case StmtKind::Yield:
      case StmtKind::Eval:
      case StmtKind::Return:
      case StmtKind::Break:
      case StmtKind::Continue:
      case StmtKind::Inline:
        for_each_expr(s, [&](const Expr* e) { use(e, s->span); });
        break;
      case StmtKind::If: {
        const auto* n = static_cast<const IfStmt*>(s);
        use(n->condition, s->span);
        branch(n->then_body);
        branch(n->else_body);
        for (const Var* v : n->return_vars) define(v, s->span);
        break;
      }
      case StmtKind::For: {
        const auto* n = static_cast<const ForStmt*>(s);
        for_each_expr(s, [&](const Expr* e) { use(e, s->span); });
        loop(n->iter_args, n->return_vars, n->body, nullptr, n->loop_var, s->span);
        break;
      }
      case StmtKind::While: {
        const auto* n = static_cast<const WhileStmt*>(s);
        for (const IterArg& arg : n->iter_args) use(arg.init, s->span);
        loop(n->iter_args, n->return_vars, n->body, n->condition, nullptr, s->span);
        break;
      }
      case StmtKind::Scope: {
        const auto* n = static_cast<const ScopeStmt*>(s);
        for_each_expr(s, [&](const Expr* e) { use(e, s->span); });
        body(n->body);
        break;
      }
    }
  }

  DiagSink& diags_;
  std::unordered_map<const Var*, Span> defined_;
  std::unordered_set<const Var*> visible_;
  std::vector<const Var*> order_;  // of visible_, for leaving a body
  std::unordered_set<const Var*> reported_;
};

}  // namespace

void verify_SSAForm(const Program* program, DiagSink& diags) {
  for (const Function* f : program->functions) {
    SsaVerifier(diags).run(f);
    check_yields(f, diags);
  }
}

}  // namespace pldc
