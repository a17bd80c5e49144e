// Walks over the IR. All are templates over a callable, in the one traversal order of the project (format.md 1.7): call
// arguments before keywords before attributes; a loop's initial values before its bounds before its body.
#pragma once

#include "ir/module.h"

namespace pldc {

template <class F>
void for_each_attr_expr(Attrs attrs, F&& f) {
  for (const Attr& attr : attrs) {
    switch (attr.value.kind) {
      case AttrKind::Expr:
      case AttrKind::Var:
        f(attr.value.expr);
        break;
      case AttrKind::VarList:
        for (const Var* v : attr.value.vars) f(static_cast<const Expr*>(v));
        break;
      case AttrKind::VarPairList:
        for (const VarIntPair& pair : attr.value.var_pairs) f(static_cast<const Expr*>(pair.var));
        break;
      case AttrKind::Int:
      case AttrKind::Bool:
      case AttrKind::String:
      case AttrKind::Float:
      case AttrKind::DType:
      case AttrKind::MemSpace:
      case AttrKind::TensorLayout:
      case AttrKind::TileLayout:
      case AttrKind::PadValue:
      case AttrKind::ArgDirection:
      case AttrKind::ArgDirectionList:
      case AttrKind::IntList:
      case AttrKind::IntPairList:
        break;
    }
  }
}

// The direct operands of an expression.
template <class F>
void for_each_child(const Expr* expr, F&& f) {
  switch (expr->kind) {
    case ExprKind::Var:
    case ExprKind::ConstInt:
    case ExprKind::ConstFloat:
    case ExprKind::ConstBool:
      break;
    case ExprKind::Binary:
      f(static_cast<const Binary*>(expr)->lhs);
      f(static_cast<const Binary*>(expr)->rhs);
      break;
    case ExprKind::Unary:
      f(static_cast<const Unary*>(expr)->operand);
      break;
    case ExprKind::Cast:
      f(static_cast<const Cast*>(expr)->operand);
      break;
    case ExprKind::Call: {
      const auto* call = static_cast<const Call*>(expr);
      for (const Expr* arg : call->args) f(arg);
      for_each_attr_expr(call->kwargs, f);
      for_each_attr_expr(call->attrs, f);
      break;
    }
    case ExprKind::Submit: {
      const auto* submit = static_cast<const Submit*>(expr);
      for (const Expr* arg : submit->args) f(arg);
      for (const Expr* dep : submit->deps) f(dep);
      if (submit->core_num != nullptr) f(submit->core_num);
      if (submit->predicate != nullptr) f(submit->predicate);
      for_each_attr_expr(submit->attrs, f);
      break;
    }
    case ExprKind::MakeTuple:
      for (const Expr* e : static_cast<const MakeTuple*>(expr)->elements) f(e);
      break;
    case ExprKind::TupleGet:
      f(static_cast<const TupleGet*>(expr)->tuple);
      break;
  }
}

// The expression and everything below it, pre-order. Types are not entered.
template <class F>
void walk_expr(const Expr* expr, F&& f) {
  f(expr);
  for_each_child(expr, [&](const Expr* child) { walk_expr(child, f); });
}

// The expressions that a type mentions directly: dims, view fields, MemRef fields, the window; elements of tuples too.
template <class F>
void for_each_type_expr(const Type* type, F&& f) {
  const auto memref = [&](const MemRef* m) {
    if (m == nullptr) return;
    if (m->base != nullptr) f(static_cast<const Expr*>(m->base));
    if (m->byte_offset != nullptr) f(m->byte_offset);
    if (m->slot_index != nullptr) f(m->slot_index);
  };
  if (const auto* tensor = dyn<TensorType>(type)) {
    for (const Expr* dim : tensor->shape) f(dim);
    if (tensor->view != nullptr) {
      for (const Expr* dim : tensor->view->valid_shape) f(dim);
      for (const Expr* dim : tensor->view->stride) f(dim);
    }
    memref(tensor->memref);
    if (tensor->window != nullptr) f(static_cast<const Expr*>(tensor->window));
  } else if (const auto* tile = dyn<TileType>(type)) {
    for (const Expr* dim : tile->shape) f(dim);
    memref(tile->memref);
    if (tile->view != nullptr) {
      for (const Expr* dim : tile->view->valid_shape) f(dim);
      for (const Expr* dim : tile->view->stride) f(dim);
      if (tile->view->start_offset != nullptr) f(tile->view->start_offset);
    }
  } else if (const auto* tuple = dyn<TupleType>(type)) {
    for (const Type* element : tuple->elements) for_each_type_expr(element, f);
  }
}

// The expressions that a statement evaluates itself (not those of its bodies), attributes of scopes included. The slots
// of a communication domain name definitions of its own body and are not uses: they are left out.
template <class F>
void for_each_expr(const Stmt* stmt, F&& f) {
  switch (stmt->kind) {
    case StmtKind::Assign:
      f(static_cast<const AssignStmt*>(stmt)->value);
      break;
    case StmtKind::Eval:
      f(static_cast<const EvalStmt*>(stmt)->value);
      break;
    case StmtKind::Return:
      for (const Expr* value : static_cast<const ReturnStmt*>(stmt)->values) f(value);
      break;
    case StmtKind::Yield:
      for (const Expr* value : static_cast<const YieldStmt*>(stmt)->values) f(value);
      break;
    case StmtKind::If:
      f(static_cast<const IfStmt*>(stmt)->condition);
      break;
    case StmtKind::For: {
      const auto* loop = static_cast<const ForStmt*>(stmt);
      for (const IterArg& arg : loop->iter_args) f(arg.init);
      f(loop->start);
      f(loop->stop);
      f(loop->step);
      break;
    }
    case StmtKind::While: {
      const auto* loop = static_cast<const WhileStmt*>(stmt);
      for (const IterArg& arg : loop->iter_args) f(arg.init);
      f(loop->condition);
      break;
    }
    case StmtKind::Scope: {
      const auto* scope = static_cast<const ScopeStmt*>(stmt);
      if (scope->core_num != nullptr) f(scope->core_num);
      for_each_attr_expr(scope->attrs, f);
      break;
    }
    case StmtKind::Break:
    case StmtKind::Continue:
    case StmtKind::Inline:
      break;
  }
}

// The variables that a statement itself binds (format.md 1.7: loop variable, results, carries).
template <class F>
void for_each_def(const Stmt* stmt, F&& f) {
  if (const auto* assign = dyn<AssignStmt>(stmt)) {
    f(assign->var);
  } else if (const auto* loop = dyn<ForStmt>(stmt)) {
    f(loop->loop_var);
    for (const Var* v : loop->return_vars) f(v);
    for (const IterArg& arg : loop->iter_args) f(arg.var);
  } else if (const auto* loop_while = dyn<WhileStmt>(stmt)) {
    for (const Var* v : loop_while->return_vars) f(v);
    for (const IterArg& arg : loop_while->iter_args) f(arg.var);
  } else if (const auto* branch = dyn<IfStmt>(stmt)) {
    for (const Var* v : branch->return_vars) f(v);
  }
}

template <class F>
void for_each_body(const Stmt* stmt, F&& f) {
  if (const auto* branch = dyn<IfStmt>(stmt)) {
    f(branch->then_body);
    if (branch->has_else) f(branch->else_body);
  } else if (const auto* loop = dyn<ForStmt>(stmt)) {
    f(loop->body);
  } else if (const auto* loop_while = dyn<WhileStmt>(stmt)) {
    f(loop_while->body);
  } else if (const auto* scope = dyn<ScopeStmt>(stmt)) {
    f(scope->body);
  }
}

// All statements, nested ones included, pre-order.
template <class F>
void walk_stmts(Body body, F&& f) {
  for (const Stmt* stmt : body) {
    f(stmt);
    for_each_body(stmt, [&](Body inner) { walk_stmts(inner, f); });
  }
}

}  // namespace pldc
