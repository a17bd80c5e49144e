#include <algorithm>

#include "passes/outline/outliner.h"
#include "passes/outline/uses.h"

namespace pldc::outlining {

namespace {

constexpr std::size_t kStoreTarget = 2;  // tile.store(tile, offsets, target)

class Collector {
 public:
  Collector(const std::unordered_set<const Var*>& locals, bool with_store_targets)
      : locals_(locals), with_store_targets_(with_store_targets) {}

  Interface run(Body body) {
    list(body, true);
    std::reverse(out_.store_targets.begin(), out_.store_targets.end());
    // Of several stores to one target the last counts.
    std::unordered_set<const Var*> seen;
    std::erase_if(out_.store_targets, [&](const Var* v) { return !seen.insert(v).second; });
    return std::move(out_);
  }

 private:
  void use(const Var* v) {
    if (inner_.count(v) != 0 || locals_.count(v) == 0) return;
    if (!inputs_.insert(v).second) return;
    // An extent that is a variable of the parent becomes a parameter too, before the one whose type names it. Valid
    // shapes do not: MaterializeValidShapeSymbols binds theirs.
    if (const auto* tensor = dyn<TensorType>(v->type)) {
      for (const Expr* extent : tensor->shape) use(extent);
    }
    out_.inputs.push_back(v);
  }
  void use(const Expr* e) {
    for_each_var_in(e, [&](const Var* v) { use(v); });
  }
  void define(const Var* v, bool visible) {
    for_each_var_in_type(v->type, [&](const Var* dim) { use(dim); });
    if (inner_.insert(v).second && visible) out_.defined.push_back(v);
  }

  void list(Body body, bool visible) {
    for (const Stmt* s : body) stmt(s, visible);
  }

  void stmt(const Stmt* s, bool visible) {
    switch (s->kind) {
      case StmtKind::Assign: {
        const auto* assign = static_cast<const AssignStmt*>(s);
        use(assign->value);
        store(assign->value, visible ? assign->var : nullptr);
        define(assign->var, visible);
        break;
      }
      case StmtKind::Eval:
        use(static_cast<const EvalStmt*>(s)->value);
        store(static_cast<const EvalStmt*>(s)->value, nullptr);
        break;
      case StmtKind::For: {
        const auto* loop = static_cast<const ForStmt*>(s);
        for (const IterArg& arg : loop->iter_args) use(arg.init);
        for (const Expr* bound : {loop->start, loop->stop, loop->step}) use(bound);
        define(loop->loop_var, false);
        for (const IterArg& arg : loop->iter_args) define(arg.var, false);
        list(loop->body, false);
        for (const Var* v : loop->return_vars) define(v, visible);
        break;
      }
      case StmtKind::While: {
        const auto* loop = static_cast<const WhileStmt*>(s);
        for (const IterArg& arg : loop->iter_args) use(arg.init);
        for (const IterArg& arg : loop->iter_args) define(arg.var, false);
        use(loop->condition);
        list(loop->body, false);
        for (const Var* v : loop->return_vars) define(v, visible);
        break;
      }
      case StmtKind::If: {
        const auto* branch = static_cast<const IfStmt*>(s);
        use(branch->condition);
        list(branch->then_body, false);
        list(branch->else_body, false);
        for (const Var* v : branch->return_vars) define(v, visible);
        break;
      }
      case StmtKind::Scope:
        for_each_expr(s, [&](const Expr* e) { use(e); });
        list(static_cast<const ScopeStmt*>(s)->body, visible);
        break;
      case StmtKind::Return:
      case StmtKind::Yield:
      case StmtKind::Break:
      case StmtKind::Continue:
      case StmtKind::Inline:
        for_each_expr(s, [&](const Expr* e) { use(e); });
        break;
    }
  }

  void store(const Expr* value, const Var* result) {
    const Call* call = with_store_targets_ ? op_call(value, OpId::tile_store) : nullptr;
    if (call == nullptr || call->args.size() <= kStoreTarget) return;
    const auto* target = dyn<Var>(call->args[kStoreTarget]);
    if (target == nullptr || inner_.count(target) != 0 || locals_.count(target) == 0) return;
    out_.store_targets.push_back(target);
    if (result != nullptr) out_.stored.emplace(result, target);
  }

  const std::unordered_set<const Var*>& locals_;
  const bool with_store_targets_;
  Interface out_;
  std::unordered_set<const Var*> inner_;
  std::unordered_set<const Var*> inputs_;
};

// Whether the call writes an outside tensor in place, and which argument that is; -1: no.
int written_argument(const Call* call) {
  if (call->op == OpId::tile_store && call->args.size() > kStoreTarget) return static_cast<int>(kStoreTarget);
  if (call->op == OpId::tensor_assemble && !call->args.empty()) return 0;
  return -1;
}
bool is_atomic(const Call* call) {
  const AttrValue* atomic = find_attr(call->kwargs, "atomic");
  return atomic != nullptr && atomic->integer != 0;
}

}  // namespace

std::unordered_set<const Var*> locals_of(const Function* f) {
  std::unordered_set<const Var*> out;
  for (const Param& param : f->params) out.insert(param.var);
  walk_stmts(f->body, [&](const Stmt* s) { for_each_def(s, [&](const Var* v) { out.insert(v); }); });
  return out;
}

Interface interface_of(Body body, const std::unordered_set<const Var*>& locals, bool with_store_targets) {
  return Collector(locals, with_store_targets).run(body);
}

std::vector<ParamDirection> directions_of(Body body, const Interface& scope,
                                          const std::unordered_map<Name, const Function*>* callees) {
  // Input or the result of a write to it -> the input.
  std::unordered_map<const Var*, std::size_t> memory;
  for (std::size_t i = 0; i < scope.inputs.size(); ++i) memory.emplace(scope.inputs[i], i);
  std::vector<bool> read(scope.inputs.size());
  std::vector<bool> written(scope.inputs.size());
  std::vector<ParamDirection> out(scope.inputs.size(), ParamDirection::In);
  const std::unordered_set<const Var*> targets(scope.store_targets.begin(), scope.store_targets.end());

  const auto reads = [&](const Expr* e) {
    for_each_var_in(e, [&](const Var* v) {
      const auto found = memory.find(v);
      if (found != memory.end()) read[found->second] = true;
    });
  };
  const auto passed = [&](Name callee, List<const Expr*> args) {
    const auto found = callees != nullptr ? callees->find(callee) : decltype(callees->end()){};
    if (callees == nullptr || found == callees->end()) return;
    for (std::size_t i = 0; i < args.size() && i < found->second->params.size(); ++i) {
      const auto* v = dyn<Var>(args[i]);
      const auto at = memory.find(v);
      if (v == nullptr || v->is_iter_arg || at == memory.end() || scope.inputs[at->second] != v) continue;
      ParamDirection& direction = out[at->second];
      direction = std::max(direction, found->second->params[i].direction);
    }
  };
  const auto value = [&](const Expr* root, const Var* result) {
    const auto* call = dyn<Call>(root);
    const auto* submit = dyn<Submit>(root);
    if (submit != nullptr) passed(submit->function, submit->args);
    if (call != nullptr && !call->is_op()) passed(call->function, call->args);
    const int argument = call != nullptr && call->is_op() ? written_argument(call) : -1;
    const auto* target = argument >= 0 ? dyn<Var>(call->args[static_cast<std::size_t>(argument)]) : nullptr;
    const auto found = target != nullptr ? memory.find(target) : memory.end();
    if (found == memory.end()) {
      reads(root);
      return;
    }
    const Var* input = scope.inputs[found->second];
    // A plain variable only: what a loop of the parent carries is told later.
    const bool tracked = call->op == OpId::tile_store ? targets.count(input) != 0 : !input->is_iter_arg;
    if (tracked) written[found->second] = true;
    if (is_atomic(call)) read[found->second] = true;
    const std::size_t index = found->second;
    for (std::size_t i = 0; i < call->args.size(); ++i) {
      if (i != static_cast<std::size_t>(argument)) reads(call->args[i]);
    }
    if (result != nullptr) memory.emplace(result, index);
  };
  walk_stmts(body, [&](const Stmt* s) {
    if (const auto* assign = dyn<AssignStmt>(s)) {
      value(assign->value, assign->var);
    } else if (const auto* eval = dyn<EvalStmt>(s)) {
      value(eval->value, nullptr);
    } else {
      for_each_expr(s, reads);
    }
  });
  for (std::size_t i = 0; i < out.size(); ++i) {
    if (written[i]) out[i] = std::max(out[i], read[i] ? ParamDirection::InOut : ParamDirection::Out);
  }
  return out;
}

}  // namespace pldc::outlining
