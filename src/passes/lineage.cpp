#include "passes/lineage.h"

#include <algorithm>
#include <unordered_set>

#include "ir/walk.h"

namespace pldc {

const CollectiveInfo* collective_info(OpId op) {
  using D = ArgDirection;
  // Source: passes.md 2.12 step 3 (coverage, dependents) and the table of 2.13.
  static const std::vector<CollectiveInfo> table = {
      {OpId::pld_tensor_allreduce,
       "allreduce",
       {{"src", 0, D::InOut, false}, {"signal", 1, D::InOut, false}},
       0,
       0,
       {1},
       1},
      {OpId::pld_tensor_barrier, "barrier", {{"signal", 0, D::InOut, false}}, 0, -1, {0}, 0},
      {OpId::pld_tensor_broadcast,
       "broadcast",
       {{"target", 0, D::InOut, false}, {"signal", 1, D::InOut, false}},
       0,
       0,
       {1},
       1},
      {OpId::pld_tensor_reduce_scatter,
       "reduce_scatter",
       {{"target", 0, D::InOut, false}, {"signal", 1, D::InOut, false}},
       0,
       0,
       {1},
       1},
      {OpId::pld_tensor_allgather,
       "allgather",
       {{"input", 0, D::Input, true}, {"target", 1, D::InOut, false}, {"signal", 2, D::InOut, false}},
       1,
       1,
       {2},
       2},
      {OpId::pld_tensor_all_to_all,
       "all_to_all",
       {{"input", 0, D::Input, true}, {"target", 1, D::InOut, false}, {"signal", 2, D::InOut, false}},
       1,
       1,
       {2},
       2},
      {OpId::pld_tensor_all_to_all_v,
       "all_to_all_v",
       {{"input", 0, D::Input, true},
        {"target", 1, D::InOut, false},
        {"signal", 2, D::InOut, false},
        {"send_counts", 3, D::Input, true},
        {"recv_counts", 4, D::InOut, false}},
       1,
       1,
       {2, 4},
       2},
  };
  for (const CollectiveInfo& info : table) {
    if (info.op == op) return &info;
  }
  return nullptr;
}

const Call* as_collective(const Expr* expr) {
  const auto* call = dyn<Call>(expr);
  return call != nullptr && call->is_op() && collective_info(call->op) != nullptr ? call : nullptr;
}

WindowLineage::WindowLineage(ParamTracer& tracer, Body body) : tracer_(tracer) {
  collect(body);
  for (std::size_t i = 0; i < allocations_.size(); ++i) {
    by_base_.emplace(allocations_[i].base, i);
    bases_[allocations_[i].base] = {allocations_[i].base};
  }
  spread();
  collect_views();
}

const WindowAllocation* WindowLineage::allocation(const Var* base) const {
  const auto found = by_base_.find(base);
  return found != by_base_.end() ? &allocations_[found->second] : nullptr;
}

void WindowLineage::collect_loop(List<IterArg> args, List<const Var*> results, Body body) {
  const YieldStmt* yield = trailing_yield(body);
  for (std::size_t i = 0; i < args.size(); ++i) {
    const Expr* yielded = yield != nullptr && i < yield->values.size() ? yield->values[i] : nullptr;
    defs_.push_back({args[i].var, DefKind::Carry, args[i].init, yielded});
    if (i < results.size()) defs_.push_back({results[i], DefKind::LoopResult, args[i].var, yielded});
  }
}

void WindowLineage::collect(Body body) {
  for (const Stmt* stmt : body) {
    if (const auto* assign = dyn<AssignStmt>(stmt)) {
      defs_.push_back({assign->var, DefKind::Value, assign->value, nullptr, assign});
      if (const Call* call = op_call(assign->value, OpId::pld_tensor_alloc_window_buffer)) {
        const AttrValue* name = find_attr(call->kwargs, "name");
        allocations_.push_back({assign,
                                call,
                                assign->var,
                                name != nullptr ? name->text : std::string_view{},
                                call->args.empty() ? nullptr : call->args[0],
                                {}});
      }
    } else if (const auto* loop = dyn<ForStmt>(stmt)) {
      defs_.push_back({loop->loop_var, DefKind::LoopVariable, nullptr, nullptr});
      collect_loop(loop->iter_args, loop->return_vars, loop->body);
    } else if (const auto* loop_while = dyn<WhileStmt>(stmt)) {
      collect_loop(loop_while->iter_args, loop_while->return_vars, loop_while->body);
    }
    for_each_body(stmt, [&](Body inner) { collect(inner); });
    if (const auto* branch = dyn<IfStmt>(stmt)) {
      const YieldStmt* yields[2] = {trailing_yield(branch->then_body), trailing_yield(branch->else_body)};
      for (std::size_t i = 0; i < branch->return_vars.size(); ++i) {
        const auto value = [&](const YieldStmt* yield) {
          return yield != nullptr && i < yield->values.size() ? yield->values[i] : nullptr;
        };
        defs_.push_back({branch->return_vars[i], DefKind::IfResult, value(yields[0]), value(yields[1])});
      }
    }
  }
}

const Expr* WindowLineage::source(const Expr* value) const {
  if (const auto* call = dyn<Call>(value)) {
    if (call->is_op()) {
      const Effects& effects = op_info(call->op).effects;
      const int index = effects.result_aliases >= 0 ? effects.result_aliases : effects.result_view_of;
      return index >= 0 && static_cast<std::size_t>(index) < call->args.size()
                 ? call->args[static_cast<std::size_t>(index)]
                 : nullptr;
    }
    return tracer_.argument_returned(call, 0, 1);
  }
  if (const auto* get = dyn<TupleGet>(value)) {
    const Expr* tuple = unwrap(get->tuple);
    return get->index >= 0 ? tracer_.argument_returned(tuple, static_cast<std::size_t>(get->index), 0)
                           : nullptr;
  }
  return nullptr;
}

// Sets of bases flow along definitions until nothing changes; in a body without loops one round does it.
void WindowLineage::spread() {
  for (const Def& def : defs_) {
    const auto [at, fresh] = values_.try_emplace(def.var, def.kind == DefKind::Value ? def.first : nullptr);
    if (!fresh) at->second = nullptr;
  }
  const auto flow = [&](const Var* to, const Expr* from) {
    while (from != nullptr && from->kind != ExprKind::Var) from = source(from);
    const auto known = from != nullptr ? bases_.find(static_cast<const Var*>(from)) : bases_.end();
    if (known == bases_.end() || from == to) return false;
    const std::vector<const Var*> add = known->second;
    std::vector<const Var*>& set = bases_[to];
    bool changed = false;
    for (const Var* base : add) {
      if (std::find(set.begin(), set.end(), base) != set.end()) continue;
      set.push_back(base);
      changed = true;
    }
    return changed;
  };
  for (bool changed = true; changed;) {
    changed = false;
    for (const Def& def : defs_) {
      if (by_base_.contains(def.var)) continue;
      changed = flow(def.var, def.first) || changed;
      changed = flow(def.var, def.second) || changed;
    }
  }
}

void WindowLineage::collect_views() {
  for (const Def& def : defs_) {
    const Call* call = op_call(def.first, OpId::pld_tensor_window);
    if (def.kind != DefKind::Value || call == nullptr || call->args.empty()) continue;
    const auto found = by_base_.find(base(call->args[0]));
    if (found != by_base_.end()) allocations_[found->second].views.push_back(def.stmt);
  }
}

const std::vector<const Var*>& WindowLineage::bases(const Expr* value) const {
  static const std::vector<const Var*> none;
  while (value != nullptr && value->kind != ExprKind::Var) value = source(value);
  const auto found = value != nullptr ? bases_.find(static_cast<const Var*>(value)) : bases_.end();
  return found != bases_.end() ? found->second : none;
}

const Var* WindowLineage::base(const Expr* value) const {
  const std::vector<const Var*>& all = bases(value);
  return all.size() == 1 ? all.front() : nullptr;
}

const Expr* WindowLineage::unwrap(const Expr* value) const {
  // As many steps as there are definitions: more would be a cycle, in a program that is not SSA.
  for (std::size_t steps = 0; steps <= defs_.size(); ++steps) {
    const auto* var = dyn<Var>(value);
    const auto found = var != nullptr ? values_.find(var) : values_.end();
    if (found == values_.end() || found->second == nullptr) break;
    value = found->second;
  }
  return value;
}

bool WindowLineage::gives_window(const Expr* value, bool collectives) {
  if (as_collective(value) != nullptr) return collectives;
  return value->kind == ExprKind::Var || op_call(value, OpId::pld_tensor_window) != nullptr;
}

const Var* WindowLineage::bound_base(const Def& def, bool collectives,
                                     const std::unordered_map<const Var*, const Var*>& bound) const {
  const auto base_of = [&](const Expr* e) -> const Var* {
    const auto found =
        e != nullptr && e->kind == ExprKind::Var ? bound.find(static_cast<const Var*>(e)) : bound.end();
    return found != bound.end() ? found->second : nullptr;
  };
  switch (def.kind) {
    case DefKind::Value:
      if (!gives_window(def.first, collectives)) return nullptr;
      if (const Call* call = as_collective(def.first)) {
        const std::size_t data = collective_info(call->op)->data;
        return data < call->args.size() ? base_of(call->args[data]) : nullptr;
      }
      if (const Call* call = op_call(def.first, OpId::pld_tensor_window)) {
        return call->args.empty() ? nullptr : base(call->args[0]);
      }
      return base_of(def.first);
    case DefKind::Carry:
      return base_of(def.first);
    case DefKind::LoopResult:
    case DefKind::IfResult:
      return base_of(def.first) == base_of(def.second) ? base_of(def.first) : nullptr;
    case DefKind::LoopVariable:
      return nullptr;
  }
  return nullptr;
}

std::unordered_map<const Var*, const Var*> WindowLineage::bound_variables(bool collectives) const {
  std::unordered_map<const Var*, const Var*> bound;
  std::unordered_set<const Var*> differing;  // only where a variable has several definitions
  for (bool changed = true; changed;) {
    changed = false;
    for (const Def& def : defs_) {
      if (!is_distributed(def.var->type) || differing.contains(def.var)) continue;
      const Var* base = bound_base(def, collectives, bound);
      if (base == nullptr) continue;
      const auto [at, fresh] = bound.try_emplace(def.var, base);
      changed = changed || fresh;
      if (at->second == base) continue;
      differing.insert(def.var);
      bound.erase(at);
      changed = true;
    }
  }
  return bound;
}

}  // namespace pldc
