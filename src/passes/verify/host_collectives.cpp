// Collectives that a host orchestrator calls take fewer dtypes than those in kernels; LowerHostTensorCollectives would
// find out, in the middle of a build.
#include "ir/check_op.h"
#include "ir/walk.h"
#include "passes/lineage.h"
#include "passes/verify/verifiers.h"

namespace pldc {

namespace {

// What scopes of these kinds hold becomes another function.
bool moves_out(const ScopeStmt* scope) {
  switch (scope->scope) {
    case ScopeKind::Runtime:
    case ScopeKind::CommDomain:
      return false;
    case ScopeKind::InCore:
    case ScopeKind::Hierarchy:
    case ScopeKind::Cluster:
    case ScopeKind::Graph:
    case ScopeKind::Spmd:
    case ScopeKind::SplitAiv:
      return true;
  }
  return true;
}

void check_body(Body body, DiagSink& diags) {
  for (const Stmt* s : body) {
    if (const auto* scope = dyn<ScopeStmt>(s); scope != nullptr && moves_out(scope)) continue;
    for_each_expr(s, [&](const Expr* root) {
      walk_expr(root, [&](const Expr* e) {
        if (const Call* call = as_collective(e)) check_host_collective(diags, call);
      });
    });
    for_each_body(s, [&](Body inner) { check_body(inner, diags); });
  }
}

}  // namespace

bool check_host_collectives(const Program* program, DiagSink& diags) {
  const std::uint32_t errors = diags.error_count();
  for (const Function* f : program->functions) {
    if (f->is_host_orchestrator()) check_body(f->body, diags);
  }
  return diags.error_count() == errors;
}

}  // namespace pldc
