#include "codegen/lanes/lane_values.h"

#include "ir/check_op.h"
#include "ir/op.h"
#include "ir/walk.h"

namespace pldc {

bool is_lane_number(const Expr* e) {
  return op_call(e, OpId::tile_get_subblock_idx) != nullptr ||
         op_call(e, OpId::tensor_get_subblock_idx) != nullptr;
}

bool is_shard(const Expr* e) {
  return op_call(e, OpId::tile_aiv_shard) != nullptr || op_call(e, OpId::tensor_aiv_shard) != nullptr;
}

bool is_gather(const Expr* e) {
  return op_call(e, OpId::tile_aic_gather) != nullptr || op_call(e, OpId::tensor_aic_gather) != nullptr;
}

List<const Expr*> yielded(Body body) {
  const auto* yield = body.empty() ? nullptr : dyn<YieldStmt>(body.back());
  return yield != nullptr ? yield->values : List<const Expr*>{};
}

LaneValues::LaneValues(const Function* kernel) {
  do {
    changed_ = false;
    scan(kernel->body, false);
  } while (changed_);
}

bool LaneValues::differs(const Expr* e) const {
  if (is_gather(e)) return false;
  if (const auto* var = dyn<Var>(e)) return differs(var);
  if (is_lane_number(e) || is_shard(e)) return true;
  bool found = false;
  for_each_child(e, [&](const Expr* child) { found = found || differs(child); });
  return found;
}

bool LaneValues::control_differs(const Stmt* stmt) const {
  if (const auto* branch = dyn<IfStmt>(stmt)) return differs(branch->condition);
  if (const auto* loop = dyn<WhileStmt>(stmt)) return differs(loop->condition);
  const auto* loop = dyn<ForStmt>(stmt);
  return loop != nullptr && (differs(loop->start) || differs(loop->stop) || differs(loop->step));
}

bool LaneValues::type_differs(const Type* type) const {
  bool found = false;
  for_each_type_expr(type, [&](const Expr* e) { found = found || differs(e); });
  return found;
}

void LaneValues::mark(const Var* var) { changed_ = differs_.insert(var).second || changed_; }

void LaneValues::own(const Expr* value) {
  const auto* var = dyn<Var>(value);
  if (var == nullptr || dyn<TileType>(var->type) == nullptr) return;
  mark(var);
  changed_ = owned_.insert(var).second || changed_;
}

void LaneValues::assign(const Var* var, const Expr* value, bool apart) {
  if (apart && is_gather(value)) lost_gather_ = value;
  if (apart || differs(value) || type_differs(var->type)) mark(var);
  if (!differs(var)) return;
  const auto* call = dyn<Call>(value);
  if (call == nullptr || !call->is_op()) {
    if (owned_.count(var) != 0) own(value);
    return;
  }
  const Effects& effects = op_info(call->op).effects;
  for (std::size_t i = 0; i < call->args.size(); ++i) {
    const auto is = [i](int operand) { return operand >= 0 && static_cast<std::size_t>(operand) == i; };
    const bool written = i < effects.access.size() &&
                         (effects.access[i] == Access::Write || effects.access[i] == Access::ReadWrite);
    if (written || is(effects.result_aliases) || (is(effects.result_view_of) && owned_.count(var) != 0))
      own(call->args[i]);
  }
}

void LaneValues::join(const Var* var, const Var* result, const Expr* init, const Expr* given) {
  for (const Expr* e : {init, given}) {
    if (e != nullptr && differs(e)) mark(var);
  }
  if (result != nullptr && (differs(var) || differs(result))) {
    mark(var);
    mark(result);
  }
  if (owned_.count(var) == 0 && (result == nullptr || owned_.count(result) == 0)) return;
  for (const Expr* e : {static_cast<const Expr*>(var), static_cast<const Expr*>(result), init, given}) {
    if (e != nullptr) own(e);
  }
}

void LaneValues::scan(Body body, bool apart) {
  for (const Stmt* stmt : body) {
    const bool inner = apart || control_differs(stmt);
    switch (stmt->kind) {
      case StmtKind::Assign: {
        const auto* assigned = static_cast<const AssignStmt*>(stmt);
        assign(assigned->var, assigned->value, apart);
        break;
      }
      case StmtKind::If: {
        const auto* branch = static_cast<const IfStmt*>(stmt);
        scan(branch->then_body, inner);
        scan(branch->else_body, inner);
        for (std::size_t i = 0; i < branch->return_vars.size(); ++i) {
          const Var* var = branch->return_vars[i];
          if (inner) mark(var);
          for (const Body b : {branch->then_body, branch->else_body}) {
            const List<const Expr*> values = yielded(b);
            if (i < values.size()) join(var, nullptr, nullptr, values[i]);
          }
        }
        break;
      }
      case StmtKind::For:
      case StmtKind::While: {
        const auto* loop = dyn<ForStmt>(stmt);
        const auto* conditional = dyn<WhileStmt>(stmt);
        const List<IterArg> carries = loop != nullptr ? loop->iter_args : conditional->iter_args;
        const List<const Var*> results = loop != nullptr ? loop->return_vars : conditional->return_vars;
        const Body inside = loop != nullptr ? loop->body : conditional->body;
        if (inner && loop != nullptr) mark(loop->loop_var);
        scan(inside, inner);
        const List<const Expr*> values = yielded(inside);
        for (std::size_t i = 0; i < carries.size(); ++i) {
          if (inner) mark(carries[i].var);
          join(carries[i].var, i < results.size() ? results[i] : nullptr, carries[i].init,
               i < values.size() ? values[i] : nullptr);
        }
        break;
      }
      case StmtKind::Scope:
        scan(static_cast<const ScopeStmt*>(stmt)->body, apart);
        break;
      case StmtKind::Eval:
      case StmtKind::Return:
      case StmtKind::Yield:
      case StmtKind::Break:
      case StmtKind::Continue:
      case StmtKind::Inline:
        break;
    }
  }
}

}  // namespace pldc
