// UseAfterDef: each variable that is read is a parameter, a symbol of a dynamic dim, or defined further up in
// the text.
#include <unordered_set>

#include "ir/walk.h"
#include "passes/verify/verifiers.h"
#include "support/diag/verify.h"

namespace pldc {

namespace {

// Symbols of dynamic dims: variables that types mention and that nothing needs to define.
class Symbols {
 public:
  explicit Symbols(const Program* program) {
    for (const Function* f : program->functions) {
      for (const Param& param : f->params) add(param.var->type);
      for (const Type* t : f->return_types) add(t);
      walk_stmts(f->body, [&](const Stmt* stmt) { for_each_def(stmt, [&](const Var* v) { add(v->type); }); });
    }
  }
  bool has(const Var* var) const { return symbols_.count(var) != 0; }

 private:
  void add(const Type* type) {
    if (!seen_.insert(type).second) return;
    for_each_type_expr(type, [&](const Expr* dim) {
      walk_expr(dim, [&](const Expr* e) {
        if (const auto* var = dyn<Var>(e)) symbols_.insert(var);
      });
    });
  }
  std::unordered_set<const Type*> seen_;
  std::unordered_set<const Var*> symbols_;
};

class Verifier {
 public:
  Verifier(const Symbols& symbols, DiagSink& diags) : symbols_(symbols), diags_(diags) {}

  void run(const Function* f) {
    for (const Param& param : f->params) defined_.insert(param.var);
    walk_stmts(f->body, [&](const Stmt* stmt) {
      for_each_def(stmt, [&](const Var* v) { defined_later_.insert(v); });
    });
    body(f->body);
  }

 private:
  void use(const Expr* root, Span place) {
    walk_expr(root, [&](const Expr* e) {
      const auto* var = dyn<Var>(e);
      if (var == nullptr || defined_.count(var) != 0) return;
      const bool later = defined_later_.count(var) != 0;
      if (!later && symbols_.has(var)) return;
      if (!reported_.insert(var).second) return;
      auto report = diags_.report<diag::use_before_definition>(place, var->name.text());
      if (later) {
        report.note(var->span, "'{}' is defined only here", var->name.text())
            .help("move the definition before the use");
      } else {
        report.help("define '{}' before this place, or declare it as a parameter or a dynamic dim",
                    var->name.text());
      }
    });
  }

  void body(Body list) {
    for (const Stmt* s : list) {
      if (const auto* loop = dyn<WhileStmt>(s)) {
        // The condition reads the carries.
        for (const IterArg& arg : loop->iter_args) use(arg.init, s->span);
        for (const IterArg& arg : loop->iter_args) defined_.insert(arg.var);
        use(loop->condition, s->span);
      } else {
        for_each_expr(s, [&](const Expr* e) { use(e, s->span); });
      }
      if (const auto* loop = dyn<ForStmt>(s)) {
        defined_.insert(loop->loop_var);
        for (const IterArg& arg : loop->iter_args) defined_.insert(arg.var);
      }
      for_each_body(s, [&](Body inner) { body(inner); });
      for_each_def(s, [&](const Var* v) { defined_.insert(v); });
    }
  }

  const Symbols& symbols_;
  DiagSink& diags_;
  std::unordered_set<const Var*> defined_;
  std::unordered_set<const Var*> defined_later_;
  std::unordered_set<const Var*> reported_;
};

}  // namespace

void verify_UseAfterDef(const Program* program, DiagSink& diags) {
  const Symbols symbols(program);
  for (const Function* f : program->functions) Verifier(symbols, diags).run(f);
}

}  // namespace pldc
