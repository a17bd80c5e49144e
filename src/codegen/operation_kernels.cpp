#include "codegen/operation_kernels.h"

#include "codegen/needed.h"
#include "ir/op.h"
#include "ir/rewrite.h"
#include "ir/walk.h"

namespace pldc {
namespace {

bool is_orchestration(const Function* f) {
  return !f->is_host_orchestrator() && f->role != Role::SubWorker &&
         (f->func_type == FuncType::Opaque || f->func_type == FuncType::Orchestration ||
          f->func_type == FuncType::Graph);
}

// The operation that the statement computes, if that takes a kernel.
const Call* computes(const Stmt* stmt) {
  const auto* assign = dyn<AssignStmt>(stmt);
  const auto* eval = dyn<EvalStmt>(stmt);
  const auto* call = dyn<Call>(assign != nullptr ? assign->value : eval != nullptr ? eval->value : nullptr);
  if (call == nullptr || !call->is_op()) return nullptr;
  const OpInfo& info = op_info(call->op);
  if (call->op == OpId::tensor_assemble) {
    const AttrValue* atomic = find_attr(call->kwargs, "atomic");
    return atomic != nullptr && atomic->integer != 0 ? call : nullptr;
  }
  const bool made = info.emit.emit != Emit::None || op_category(info.name) != "tensor";
  return made ? nullptr : call;
}

bool changes_memory(const Call* call) {
  const Effects& effects = op_info(call->op).effects;
  for (const Access access : effects.access) {
    if (access == Access::Write || access == Access::ReadWrite) return true;
  }
  return effects.side_effect;
}

bool is_wanted(const Stmt* stmt, const Call* call, const Needed& needed) {
  const auto* assign = dyn<AssignStmt>(stmt);
  return changes_memory(call) || (assign != nullptr && needed(assign->var));
}

// A scope that becomes a function is called whatever it computes, and with all that it reads.
Needed needed_in(Body body) {
  Needed needed;
  needed.add(body, true);
  walk_stmts(body, [&](const Stmt* stmt) {
    const auto* scope = dyn<ScopeStmt>(stmt);
    if (scope != nullptr && scope->scope != ScopeKind::Runtime) needed.add_reads(scope->body);
  });
  return needed;
}

class ScopeWriter : public Rewriter {
 public:
  using Rewriter::Rewriter;

  const Function* function(const Function* f) override {
    if (!is_orchestration(f)) return f;
    needed_ = needed_in(f->body);
    return Rewriter::function(f);
  }

  Body body(Body list) override {
    std::vector<const Stmt*> out;
    bool changed = false;
    for (std::size_t i = 0; i < list.size(); ++i) {
      const Call* call = computes(list[i]);
      if (call == nullptr || !is_wanted(list[i], call, needed_)) {
        stmt(list[i], out);
        changed = changed || out.back() != list[i];
        continue;
      }
      changed = true;
      std::vector<const Stmt*> inside = {list[i]};
      // The elements of a tuple of tensors are what the kernel gives.
      const auto* tuple = dyn<AssignStmt>(list[i]);
      while (i + 1 < list.size() && tuple != nullptr && takes_element(list[i + 1], tuple->var))
        inside.push_back(list[++i]);
      ScopeStmt scope{};
      scope.kind = StmtKind::Scope;
      scope.span = inside.front()->span;
      scope.scope = ScopeKind::InCore;
      scope.body = ctx().list(inside);
      out.push_back(ctx().make(scope));
    }
    return changed ? ctx().list(out) : list;
  }

  void stmt(const Stmt* s, std::vector<const Stmt*>& out) override {
    const bool kernel = dyn_scope(s, ScopeKind::InCore) != nullptr;
    if (kernel) {
      out.push_back(s);
    } else {
      Rewriter::stmt(s, out);
    }
  }

 private:
  static bool takes_element(const Stmt* stmt, const Var* tuple) {
    const auto* assign = dyn<AssignStmt>(stmt);
    const auto* get = assign != nullptr ? dyn<TupleGet>(assign->value) : nullptr;
    return get != nullptr && get->tuple == tuple;
  }

  Needed needed_;
};

}  // namespace

Span operation_in_orchestration(const Program* program) {
  Span place;
  for (const Function* f : program->functions) {
    if (!is_orchestration(f)) continue;
    const Needed needed = needed_in(f->body);
    walk_stmts(f->body, [&](const Stmt* stmt) {
      const Call* call = computes(stmt);
      if (place.valid() || call == nullptr || !is_wanted(stmt, call, needed)) return;
      place = call->span.valid() ? call->span : Span{1, 1};
    });
  }
  return place;
}

const Program* put_operations_into_scopes(Context& context, const Program* program) {
  return ScopeWriter(context).program(program);
}

}  // namespace pldc
