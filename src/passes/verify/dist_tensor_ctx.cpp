// DistTensorCtxMaterialized: only host orchestrators, which own the windows, ask for communication contexts;
// every other function gets them as parameters.
#include "ir/walk.h"
#include "passes/verify/verifiers.h"
#include "support/diag/verify.h"

namespace pldc {

void verify_DistTensorCtxMaterialized(const Program* program, DiagSink& diags) {
  for (const Function* f : program->functions) {
    if (f->is_host_orchestrator()) continue;
    walk_stmts(f->body, [&](const Stmt* stmt) {
      for_each_expr(stmt, [&](const Expr* root) {
        walk_expr(root, [&](const Expr* e) {
          if (op_call(e, OpId::pld_system_get_comm_ctx) == nullptr) return;
          diags.report<diag::ctx_query_left>(e->span.valid() ? e->span : stmt->span, f->name.text())
              .help("MaterializeDistTensorCtx replaces the query by a parameter");
        });
      });
    });
  }
}

}  // namespace pldc
