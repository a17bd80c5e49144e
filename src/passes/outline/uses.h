// The variables that statements refer to, types included.
#pragma once

#include "ir/walk.h"

namespace pldc::outlining {

template <class F>
void for_each_var_in_type(const Type* type, F&& f) {
  for_each_type_expr(type, [&](const Expr* dim) {
    walk_expr(dim, [&](const Expr* e) {
      if (const auto* v = dyn<Var>(e)) f(v);
    });
  });
}

// Operands first, then the types that calls bring.
template <class F>
void for_each_var_in(const Expr* root, F&& f) {
  if (const auto* v = dyn<Var>(root)) f(v);
  for_each_child(root, [&](const Expr* child) { for_each_var_in(child, f); });
  if (root->kind == ExprKind::Call) for_each_var_in_type(root->type, f);
}

// What the statement itself reads, not its bodies.
template <class F>
void for_each_use(const Stmt* stmt, F&& f) {
  for_each_expr(stmt, [&](const Expr* root) { for_each_var_in(root, f); });
  for_each_def(stmt, [&](const Var* v) { for_each_var_in_type(v->type, f); });
}

}  // namespace pldc::outlining
