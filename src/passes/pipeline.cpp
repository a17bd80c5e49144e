#include <algorithm>
#include <unordered_set>

#include "ir/op.h"
#include "ir/walk.h"
#include "passes/pass.h"

namespace pldc {

namespace {

using NeededBy = Span (*)(const Program*);

// For a statement that no text stands for: the begin of the input.
constexpr Span kSomewhere{1, 1};

Span place_of(Span exact, const Function* f) {
  if (exact.valid()) return exact;
  return f->name_span.valid() ? f->name_span : kSomewhere;
}

// The place of the first statement in a function accepted by `in` for which `is` holds.
template <class In, class Is>
Span find_stmt(const Program* program, In&& in, Is&& is) {
  for (const Function* f : program->functions) {
    if (!in(f)) continue;
    const Stmt* found = nullptr;
    walk_stmts(f->body, [&](const Stmt* stmt) {
      if (found == nullptr && is(stmt)) found = stmt;
    });
    if (found != nullptr) return place_of(found->span, f);
  }
  return {};
}

// The place of the first call of an op for which `is` holds.
template <class In, class Is>
Span find_op_call(const Program* program, In&& in, Is&& is) {
  for (const Function* f : program->functions) {
    if (!in(f)) continue;
    const Call* found = nullptr;
    walk_stmts(f->body, [&](const Stmt* stmt) {
      if (found != nullptr) return;
      for_each_expr(stmt, [&](const Expr* root) {
        walk_expr(root, [&](const Expr* e) {
          const auto* call = dyn<Call>(e);
          if (found == nullptr && call != nullptr && call->is_op() && is(call->op)) found = call;
        });
      });
    });
    if (found != nullptr) return place_of(found->span, f);
  }
  return {};
}

bool any_function(const Function*) { return true; }
bool is_kernel(const Function* f) { return f->is_kernel(); }
// Functions that the outliners take scopes out of.
bool is_outlining_parent(const Function* f) {
  return f->func_type == FuncType::Opaque || f->func_type == FuncType::Orchestration ||
         f->func_type == FuncType::Graph;
}

constexpr NeededBy never = nullptr;

Span inline_functions(const Program* program) {
  for (const Function* f : program->functions) {
    if (f->func_type == FuncType::Inline) return place_of(f->name_span, f);
  }
  return {};
}

Span unroll_loops(const Program* program) {
  return find_stmt(program, any_function, [](const Stmt* stmt) {
    const auto* loop = dyn<ForStmt>(stmt);
    return loop != nullptr && loop->for_kind == ForKind::Unroll;
  });
}

Span breaks_in_kernels(const Program* program) {
  return find_stmt(program, is_kernel, [](const Stmt* stmt) {
    return stmt->kind == StmtKind::Break || stmt->kind == StmtKind::Continue;
  });
}

Span hierarchy_scopes(const Program* program) {
  return find_stmt(
      program, [](const Function* f) { return f->func_type == FuncType::Opaque; },
      [](const Stmt* stmt) { return dyn_scope(stmt, ScopeKind::Hierarchy) != nullptr; });
}

Span incore_scopes(const Program* program) {
  return find_stmt(program, is_outlining_parent,
                   [](const Stmt* stmt) { return dyn_scope(stmt, ScopeKind::InCore) != nullptr; });
}

Span cluster_scopes(const Program* program) {
  return find_stmt(program, is_outlining_parent, [](const Stmt* stmt) {
    return dyn_scope(stmt, ScopeKind::Cluster) != nullptr || dyn_scope(stmt, ScopeKind::Spmd) != nullptr;
  });
}

// Scalars of a tensor, its extents and views of it stay tensor ops in kernels; everything else becomes tile
// ops.
Span tensor_ops_in_kernels(const Program* program) {
  return find_op_call(program, is_kernel, [](OpId op) {
    if (op == OpId::pld_tensor_put || op == OpId::pld_tensor_get || op == OpId::pld_tensor_remote_store)
      return true;
    const bool stays = op == OpId::tensor_read || op == OpId::tensor_write || op == OpId::tensor_dim ||
                       op == OpId::tensor_view;
    return !stays && op_category(op_info(op).name) == "tensor";
  });
}

Span unbound_valid_shape_symbols(const Program* program) {
  for (const Function* f : program->functions) {
    if (!f->is_kernel() && f->func_type != FuncType::Spmd) continue;
    std::unordered_set<const Expr*> bound;
    for (const Param& param : f->params) {
      const auto* tensor = dyn<TensorType>(param.var->type);
      if (tensor == nullptr) {
        bound.insert(param.var);
        continue;
      }
      for (const Expr* dim : tensor->shape) {
        walk_expr(dim, [&](const Expr* e) {
          if (e->kind == ExprKind::Var) bound.insert(e);
        });
      }
    }
    for (const Param& param : f->params) {
      const auto* tensor = dyn<TensorType>(param.var->type);
      if (tensor == nullptr || tensor->view == nullptr) continue;
      for (const Expr* dim : tensor->view->valid_shape) {
        bool unbound = false;
        walk_expr(dim, [&](const Expr* e) {
          unbound = unbound || (e->kind == ExprKind::Var && !bound.contains(e));
        });
        if (unbound) return place_of(param.type_span, f);
      }
    }
  }
  return {};
}

}  // namespace

const std::vector<PipelineEntry>& default_pipeline() {
  static const std::vector<PipelineEntry> entries = [] {
    std::vector<PipelineEntry> list = {
#define PLDC_STAGE(number, name, needed_by, reason) {number, #name, reason, nullptr, needed_by},
#include "passes/pipeline.def"
#undef PLDC_STAGE
    };
    for (PipelineEntry& entry : list) entry.pass = find_pass(entry.name);
    return list;
  }();
  return entries;
}

}  // namespace pldc
