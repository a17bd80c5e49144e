// MaterializeRuntimeScopes (46): wraps the body of each orchestration, of each for loop and of each branch in it into a
// runtime scope.
//
// A buffer of the task runtime lives as long as the scope in which it is made. Code generation then need not invent
// scopes: they stand in the text. Inside a manual scope the program itself says what waits for what.
#include "ir/rewrite.h"
#include "passes/pass.h"

namespace pldc {

namespace {

class ScopeWriter : public Rewriter {
 public:
  using Rewriter::Rewriter;

  const Function* function(const Function* f) override {
    const AttrValue* automatic = find_attr(f->attrs, "auto_scope");
    const bool opted_out = automatic != nullptr && automatic->kind == AttrKind::Bool && !automatic->as_bool();
    if (f->func_type != FuncType::Orchestration || opted_out || f->requires_runtime_binding) return f;
    Function n = *f;
    n.body = wrapped(body(f->body), f->span);
    std::vector<Attr> attrs;
    for (const Attr& attr : f->attrs) {
      if (attr.key.text() != "auto_scope") attrs.push_back(attr);
    }
    attrs.push_back({ctx().name("auto_scope"), AttrValue::of_bool(false)});
    n.attrs = ctx().list(attrs);
    return ctx().make(n);
  }

  void stmt(const Stmt* s, std::vector<const Stmt*>& out) override {
    if (const auto* scope = dyn_scope(s, ScopeKind::Runtime); scope != nullptr && scope->manual) {
      out.push_back(s);
      return;
    }
    const Stmt* rebuilt = rebuild(s);
    if (const auto* loop = dyn<ForStmt>(rebuilt)) {
      ForStmt n = *loop;
      n.body = wrapped(n.body, n.span);
      rebuilt = ctx().make(n);
    } else if (const auto* branch = dyn<IfStmt>(rebuilt)) {
      IfStmt n = *branch;
      n.then_body = wrapped(n.then_body, n.span);
      if (n.has_else) n.else_body = wrapped(n.else_body, n.span);
      rebuilt = ctx().make(n);
    }
    out.push_back(rebuilt);
  }

 private:
  // A body that is an automatic scope already stays as it is.
  Body wrapped(Body inner, Span span) {
    const ScopeStmt* only = inner.size() == 1 ? dyn_scope(inner[0], ScopeKind::Runtime) : nullptr;
    if (only != nullptr && !only->manual) return inner;
    ScopeStmt scope{};
    scope.kind = StmtKind::Scope;
    scope.span = span;
    scope.scope = ScopeKind::Runtime;
    scope.body = inner;
    return ctx().list<const Stmt*>({ctx().make(scope)});
  }
};

}  // namespace

const Program* run_MaterializeRuntimeScopes(PassEnv& env, const Program* program) {
  return ScopeWriter(env.ir).program(program);
}

}  // namespace pldc
