// IncoreTileOps: kernels compute on tiles. AivSplitValid: regions divided over the vector cores stand in device code and
// do not nest.
#include <string>

#include "ir/walk.h"
#include "passes/verify/verifiers.h"
#include "support/diag/verify.h"

namespace pldc {

namespace {

// Tensor ops that kernels keep: they move single elements, name memory, or ask about it.
bool stays_on_tensors(std::string_view leaf) {
  for (const std::string_view kept :
       {"read", "write", "dim", "view", "slice", "reshape", "create", "alloc", "assemble", "reinterpret_view",
        "transpose", "get_block_idx", "get_block_num", "get_subblock_idx"}) {
    if (leaf == kept) return true;
  }
  return false;
}

void check_splits(Body body, bool in_core, bool in_region, DiagSink& diags) {
  for (const Stmt* s : body) {
    const auto* scope = dyn<ScopeStmt>(s);
    const bool region = scope != nullptr && scope->scope == ScopeKind::SplitAiv;
    if (region && in_region)
      diags.report<diag::nested_split_aiv>(s->span).help("put one region after the other");
    if (region && !in_core)
      diags.report<diag::misplaced_split_aiv>(s->span).help("put it into a kernel or a CORE_GROUP scope");
    const bool inner_core = in_core || (scope != nullptr && scope->scope == ScopeKind::InCore);
    for_each_body(s, [&](Body inner) { check_splits(inner, inner_core, in_region || region, diags); });
  }
}

}  // namespace

void verify_IncoreTileOps(const Program* program, DiagSink& diags) {
  for (const Function* f : program->functions) {
    if (!f->is_kernel()) continue;
    walk_stmts(f->body, [&](const Stmt* s) {
      for_each_expr(s, [&](const Expr* root) {
        walk_expr(root, [&](const Expr* e) {
          const auto* call = dyn<Call>(e);
          if (call == nullptr || !call->is_op()) return;
          const std::string_view name = op_info(call->op).name;
          if (name.substr(0, 7) != "tensor." || stays_on_tensors(name.substr(7))) return;
          if (find_op("tile." + std::string(name.substr(7))) == OpId::none_) return;
          diags.report<diag::tensor_op_in_kernel>(call->span, name, f->name.text())
              .help("load the operands into tiles and use tile.{}", name.substr(7));
        });
      });
    });
  }
}

void verify_AivSplitValid(const Program* program, DiagSink& diags) {
  for (const Function* f : program->functions) check_splits(f->body, f->is_kernel(), false, diags);
}

}  // namespace pldc
