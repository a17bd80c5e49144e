// Scopes that become functions which somebody launches may not stand where nothing can be launched: in kernels and kernel
// scopes, and for clusters in functions that are one already. Inline functions count where they are called.
#include <set>
#include <string>
#include <vector>

#include "passes/function_call.h"
#include "passes/verify/verifiers.h"
#include "support/diag/verify.h"

namespace pldc {

namespace {

// Code that runs on cores, or what launches one cluster; no name: it may launch anything.
struct Home {
  std::string name;  // as in a sentence
  Span span;
  bool on_core = false;
};

std::string_view refused_scope(const ScopeStmt* scope, const Home& home) {
  if (home.name.empty()) return {};
  if (scope->scope == ScopeKind::Cluster) return "a cluster";
  if (scope->scope == ScopeKind::Spmd) return "an spmd";
  if (home.on_core && scope->scope == ScopeKind::Hierarchy) return "a level";
  if (home.on_core && scope->scope == ScopeKind::Graph) return "a graph";
  return {};
}

class LaunchScopes {
 public:
  LaunchScopes(const Program* program, DiagSink& diags) : diags_(diags) {
    for (const Function* f : program->functions) {
      if (f->func_type == FuncType::Inline) inline_.emplace(f->name, f);
    }
  }

  void function(const Function* f) {
    Home home;
    home.span = f->name_span;
    home.on_core = f->is_kernel();
    if (f->is_kernel() || f->is_wrapper())
      home.name = fmt::format("the {} '{}'", home.on_core ? "kernel" : "launch function", f->name.text());
    body(f->body, home);
    // A worklist: chains of Inline functions have any length.
    while (!copied_.empty()) {
      const auto [callee, place] = copied_.back();
      copied_.pop_back();
      body(callee->body, place);
    }
  }

 private:
  void body(Body statements, const Home& home) {
    for (const Stmt* s : statements) {
      const auto* scope = dyn<ScopeStmt>(s);
      if (const std::string_view what = scope != nullptr ? refused_scope(scope, home) : ""; !what.empty()) {
        report(scope, what, home);
        continue;  // what stands in it is no worse than the scope itself
      }
      for_each_expr(s, [&](const Expr* root) { walk_expr(root, [&](const Expr* e) { call(e, home); }); });
      Home inner = home;
      if (scope != nullptr && scope->scope == ScopeKind::InCore && !home.on_core)
        inner = {"a kernel scope", scope->span, true};
      for_each_body(s, [&](Body nested) { body(nested, inner); });
    }
  }

  void call(const Expr* e, const Home& home) {
    const auto called = function_call(e);
    const auto callee = called && !home.name.empty() ? inline_.find(called->callee) : inline_.end();
    if (callee != inline_.end() && seen_.emplace(callee->second, home.on_core).second)
      copied_.emplace_back(callee->second, home);
  }

  void report(const ScopeStmt* scope, std::string_view what, const Home& home) {
    auto report = diags_.report<diag::launch_scope_in_kernel>(scope->span, what, home.name);
    report.note(home.span, "{}", home.on_core ? "this runs on the cores" : "this is one launch already");
    report.help("move the scope to the orchestration that launches it, around the launch");
  }

  DiagSink& diags_;
  std::unordered_map<Name, const Function*> inline_;
  std::set<std::pair<const Function*, bool>> seen_;
  std::vector<std::pair<const Function*, Home>> copied_;
};

}  // namespace

bool check_launch_scopes(const Program* program, DiagSink& diags) {
  const std::uint32_t errors = diags.error_count();
  LaunchScopes check(program, diags);
  for (const Function* f : program->functions) check.function(f);
  return diags.error_count() == errors;
}

}  // namespace pldc
