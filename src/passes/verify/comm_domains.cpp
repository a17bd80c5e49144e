// CommDomainScopesMaterialized: every window allocation of a host function is a slot of one communication
// domain around it, and tensors refer to windows that are slots (decisions D15, D22).
#include <unordered_map>
#include <unordered_set>

#include "ir/walk.h"
#include "passes/verify/verifiers.h"
#include "support/check.h"
#include "support/diag/parse.h"
#include "support/diag/verify.h"

namespace pldc {

namespace {

class Check {
 public:
  Check(const Program* program, DiagSink& diags) : program_(program), diags_(diags) {}

  void run() {
    for (const Function* f : program_->functions) collect_slots(f->body);
    for (const Function* f : program_->functions) {
      for (const Param& param : f->params)
        type(param.var->type, param.var->span.valid() ? param.var->span : f->name_span);
      open_.clear();
      is_host_ = f->is_host_orchestrator();
      body(f->body);
    }
  }

 private:
  void collect_slots(Body b) {
    walk_stmts(b, [&](const Stmt* stmt) {
      const ScopeStmt* scope = dyn_scope(stmt, ScopeKind::CommDomain);
      if (scope == nullptr) return;
      if (scope->slots.empty()) {
        diags_.report<diag::domain_without_slots>(scope->span, scope->name_hint)
            .help("remove the scope, or name the windows that live in it");
      }
      std::unordered_set<const Var*> allocated;
      walk_stmts(scope->body, [&](const Stmt* inner) {
        const auto* assign = dyn<AssignStmt>(inner);
        if (assign != nullptr && op_call(assign->value, OpId::pld_tensor_alloc_window_buffer) != nullptr) {
          allocated.insert(assign->var);
        }
      });
      for (const WindowSlot& slot : scope->slots) add_slot(scope, slot, allocated);
    });
  }

  void add_slot(const ScopeStmt* scope, const WindowSlot& slot,
                const std::unordered_set<const Var*>& allocated) {
    PLDC_CHECK(slot.base != nullptr && slot.size != nullptr,
               "a slot of a domain lacks its window or its size");
    const auto [at, fresh] = slots_.try_emplace(slot.base, scope);
    if (!fresh) {
      diags_
          .report<diag::slot_in_two_domains>(scope->span, slot.base->name.text(), at->second->name_hint,
                                             scope->name_hint)
          .note(at->second->span, "the other scope")
          .help("a window lives in one domain: leave it in one of them");
      return;
    }
    if (!allocated.contains(slot.base)) {
      diags_.report<diag::slot_not_allocated>(scope->span, slot.base->name.text(), scope->name_hint)
          .help("the statement that allocates the window must stand inside the scope");
    }
  }

  void body(Body b) {
    for (const Stmt* stmt : b) {
      if (const auto* assign = dyn<AssignStmt>(stmt)) assignment(*assign);
      for_each_def(stmt, [&](const Var* v) { type(v->type, v->span.valid() ? v->span : stmt->span); });
      for_each_expr(stmt, [&](const Expr* root) {
        walk_expr(root, [&](const Expr* e) {
          if (e->kind == ExprKind::Call) type(e->type, e->span.valid() ? e->span : stmt->span);
        });
      });
      const ScopeStmt* scope = dyn_scope(stmt, ScopeKind::CommDomain);
      if (scope != nullptr) open_.push_back(scope);
      for_each_body(stmt, [&](Body inner) { body(inner); });
      if (scope != nullptr) open_.pop_back();
    }
  }

  bool in_open_domain(const Var* base) const {
    for (const ScopeStmt* scope : open_) {
      for (const WindowSlot& slot : scope->slots) {
        if (slot.base == base) return true;
      }
    }
    return false;
  }

  void assignment(const AssignStmt& assign) {
    if (!is_host_) return;
    if (const Call* call = op_call(assign.value, OpId::pld_tensor_alloc_window_buffer)) {
      // A slot of a scope elsewhere is reported as one that is not allocated there.
      if (in_open_domain(assign.var) || slots_.contains(assign.var)) return;
      const AttrValue* name = find_attr(call->kwargs, "name");
      diags_
          .report<diag::allocation_in_no_domain>(assign.span,
                                                 name != nullptr ? name->text : assign.var->name.text())
          .help("MaterializeCommDomainScopes puts allocations into domains");
      return;
    }
    const Call* call = op_call(assign.value, OpId::pld_tensor_window);
    const auto* base = call != nullptr && !call->args.empty() ? dyn<Var>(call->args[0]) : nullptr;
    const auto* tensor = dyn<TensorType>(assign.var->type);
    if (base == nullptr || tensor == nullptr || !slots_.contains(base) || tensor->window == base) return;
    diags_.report<diag::view_of_other_window>(
        assign.span, assign.var->name.text(), base->name.text(),
        tensor->window != nullptr ? tensor->window->name.text() : "no window");
  }

  // References to windows that no domain of the program has; each window once.
  void type(const Type* t, Span place) {
    if (const auto* tuple = dyn<TupleType>(t)) {
      for (const Type* element : tuple->elements) type(element, place);
      return;
    }
    const auto* tensor = dyn<TensorType>(t);
    if (tensor == nullptr || tensor->window == nullptr || slots_.contains(tensor->window)) return;
    if (!unknown_.insert(tensor->window).second) return;
    diags_.report<diag::undefined_window>(place, tensor->window->name.text())
        .help("the windows that tensors refer to are slots of communication domains");
  }

  const Program* program_;
  DiagSink& diags_;
  std::unordered_map<const Var*, const ScopeStmt*> slots_;
  std::unordered_set<const Var*> unknown_;
  std::vector<const ScopeStmt*> open_;
  bool is_host_ = false;
};

}  // namespace

void verify_CommDomainScopesMaterialized(const Program* program, DiagSink& diags) {
  Check(program, diags).run();
}

}  // namespace pldc
