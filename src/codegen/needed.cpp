#include "codegen/needed.h"

#include "ir/check_op.h"
#include "ir/walk.h"

namespace pldc {

bool is_pure(const Expr* value) {
  switch (value->kind) {
    case ExprKind::Submit:
      return false;
    case ExprKind::Call: {
      const auto* call = static_cast<const Call*>(value);
      if (!call->is_op()) return false;
      const Effects& effects = op_info(call->op).effects;
      if (call->op == OpId::tensor_create || call->op == OpId::tensor_full ||
          call->op == OpId::pld_tensor_window || call->op == OpId::pld_tensor_alloc_window_buffer ||
          call->op == OpId::pld_system_get_comm_ctx) {
        return true;
      }
      return !effects.side_effect && effects.result_aliases < 0;
    }
    case ExprKind::Var:
    case ExprKind::ConstInt:
    case ExprKind::ConstFloat:
    case ExprKind::ConstBool:
    case ExprKind::Binary:
    case ExprKind::Unary:
    case ExprKind::Cast:
    case ExprKind::MakeTuple:
    case ExprKind::TupleGet:
      return true;
  }
  return true;
}

void Needed::add(Body body, bool results) {
  walk_stmts(body, [&](const Stmt* stmt) {
    const auto* assign = dyn<AssignStmt>(stmt);
    if (assign != nullptr && is_pure(assign->value)) pure_.emplace(assign->var, assign->value);
  });
  walk_stmts(body, [&](const Stmt* stmt) {
    if (!results && stmt->kind == StmtKind::Return) return;
    const auto* assign = dyn<AssignStmt>(stmt);
    if (assign != nullptr && is_pure(assign->value)) return;
    for_each_expr(stmt, [&](const Expr* e) { need(e); });
  });
}

void Needed::add_reads(Body body) {
  walk_stmts(body, [&](const Stmt* stmt) { for_each_expr(stmt, [&](const Expr* e) { need(e); }); });
}

void Needed::need(const Expr* value) {
  // Program order respects what a dummy task waits for, and its C++ form takes no tasks.
  if (op_call(value, OpId::system_task_dummy) != nullptr) return;
  walk_expr(value, [&](const Expr* e) {
    const auto* var = dyn<Var>(e);
    if (var == nullptr || !needed_.insert(var).second) return;
    const auto found = pure_.find(var);
    // The size of a window is computed where its domain is opened.
    if (found == pure_.end() || op_call(found->second, OpId::pld_tensor_alloc_window_buffer) != nullptr)
      return;
    need(found->second);
  });
}

}  // namespace pldc
