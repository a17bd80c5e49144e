// AtomicAddDtypeValid: atomic adds have a dtype that the backend's memory can add. Only one backend
// generation of PyPTO has a gap there (BF16); none of this project's backends is of it, so the property
// always holds here.
#include "ir/check_op.h"
#include "ir/walk.h"
#include "passes/verify/verifiers.h"
#include "support/diag/verify.h"

namespace pldc {

namespace {

// The operand that an atomic add writes to, by the name that the op's table gives it; empty: no such op.
std::string_view atomic_target(OpId op) {
  if (op == OpId::tile_store) return "output_tensor";
  if (op == OpId::tensor_assemble) return "target";
  if (op == OpId::pld_tensor_put || op == OpId::pld_tile_put) return "dst";
  if (op == OpId::pld_tensor_remote_store || op == OpId::pld_tile_remote_store) return "target";
  return {};
}

}  // namespace

void verify_AtomicAddDtypeValid(const Program*, DiagSink&) {}

void find_bf16_atomic_adds(const Program* program, DiagSink& diags) {
  for (const Function* f : program->functions) {
    walk_stmts(f->body, [&](const Stmt* stmt) {
      for_each_expr(stmt, [&](const Expr* root) {
        walk_expr(root, [&](const Expr* e) {
          const auto* call = dyn<Call>(e);
          if (call == nullptr || !call->is_op() || atomic_target(call->op).empty()) return;
          const AttrValue* atomic = find_attr(call->kwargs, "atomic");
          if (atomic == nullptr || atomic->integer != static_cast<std::int64_t>(AtomicType::Add)) return;
          const Expr* target = argument(call, atomic_target(call->op));
          const auto* tensor = target != nullptr ? dyn<TensorType>(target->type) : nullptr;
          if (tensor == nullptr || tensor->dtype != DType::BF16) return;
          diags
              .report<diag::atomic_add_bf16>(call->span.valid() ? call->span : stmt->span,
                                             op_info(call->op).name)
              .help("add in FP32, or without atomic");
        });
      });
    });
  }
}

}  // namespace pldc
