#include "passes/convert_tensor_to_tile_ops/homes.h"

#include "ir/walk.h"
#include "passes/convert_tensor_to_tile_ops/conversions.h"
#include "passes/trace.h"

namespace pldc::tiling {

namespace {

constexpr int kMaxDepth = 1000;  // of a chain of values, against texts that are not SSA

const Expr* value_at(const YieldStmt* yield, std::size_t i) {
  return yield != nullptr && i < yield->values.size() ? yield->values[i] : nullptr;
}

bool is_tensor(const Expr* e) { return e != nullptr && dyn<TensorType>(e->type) != nullptr; }

// Reads and writes of single elements, and questions about extents, work on tiles as on memory.
// The operand whose memory the result is; -1: none.
int written_operand(const Call* call) {
  return call->is_op() ? op_info(call->op).effects.result_aliases : -1;
}

}  // namespace

Homes::Homes(const Function* kernel) {
  for (const Param& param : kernel->params) params_.insert(param.var);
  collect(kernel->body);
  for (const Group& group : groups_) {
    if (group.carried != nullptr) groups_of_[group.carried] = &group;
    if (group.result != nullptr) groups_of_[group.result] = &group;
  }
  find_results(kernel);
  spread_wants();
  spread_tiles();
  plan_loads();
}

std::optional<std::size_t> Homes::result_of(const Var* created) const {
  const auto found = results_.find(created);
  return found != results_.end() ? std::optional(found->second) : std::nullopt;
}

bool Homes::only_for_matmul(const Var* slice) const {
  const auto found = uses_.find(slice);
  return found != uses_.end() && found->second.matmul > 0 &&
         found->second.other + found->second.elements == 0;
}

std::optional<DType> Homes::only_assembled_as(const Var* value) const {
  const auto found = uses_.find(value);
  if (found == uses_.end() || found->second.assembled == 0) return std::nullopt;
  const Use& use = found->second;
  return use.assembled == use.other && use.matmul + use.elements == 0 ? std::optional(use.assembled_as)
                                                                      : std::nullopt;
}

// ---- what there is -----------------------------------------------------------------------------------------------

void Homes::collect_carries(List<IterArg> args, List<const Var*> results, Body body) {
  const YieldStmt* yield = trailing_yield(body);
  for (std::size_t i = 0; i < args.size(); ++i) {
    if (!is_tensor(args[i].init)) continue;
    groups_.push_back(
        {args[i].var, i < results.size() ? results[i] : nullptr, {args[i].init, value_at(yield, i)}});
  }
}

void Homes::collect_call(const Call* call) {
  const Conversion* conversion = call->is_op() ? conversion_of(call->op) : nullptr;
  const bool product = call->op == OpId::tensor_matmul || call->op == OpId::tensor_matmul_acc;
  for (std::size_t i = 0; i < call->args.size(); ++i) {
    const auto* var = dyn<Var>(call->args[i]);
    if (!is_tensor(var)) continue;
    const bool accumulator = call->op == OpId::tensor_matmul_acc && i == 0;
    const bool elements =
        call->op == OpId::tensor_read || call->op == OpId::tensor_write || call->op == OpId::tensor_dim;
    Use& use = uses_[var];
    ++(product && !accumulator ? use.matmul : elements ? use.elements : use.other);
    const auto* target = dyn<TensorType>(call->args[0]->type);
    if (call->op == OpId::tensor_assemble && i == 1 && target != nullptr &&
        (use.assembled == 0 || use.assembled_as == target->dtype)) {
      ++use.assembled;
      use.assembled_as = target->dtype;
    }
    if (call->op == OpId::tensor_expand_clone && i == 1) wanted_in_memory_.insert(var);
    if (conversion != nullptr && conversion->takes == Takes::Tiles) wanted_as_tiles_.push_back(var);
    // Everything that is no op on tensors takes them where they are.
    const bool on_tensors = call->is_op() && op_category(op_info(call->op).name) == "tensor";
    if (!on_tensors && call->op != OpId::pld_tensor_remote_store) wanted_in_memory_.insert(var);
    // What is written through a view must be the memory itself.
    const auto defined = values_.find(var);
    const auto* view = defined != values_.end() ? dyn<Call>(defined->second) : nullptr;
    const Conversion* viewing = view != nullptr && view->is_op() ? conversion_of(view->op) : nullptr;
    if (viewing != nullptr && viewing->takes == Takes::View && written_operand(call) == static_cast<int>(i))
      wanted_in_memory_.insert(var);
  }
}

void Homes::collect(Body body) {
  for (const Stmt* s : body) {
    for_each_expr(s, [&](const Expr* root) {
      walk_expr(root, [&](const Expr* e) {
        if (const auto* call = dyn<Call>(e)) collect_call(call);
      });
    });
    if (const auto* assign = dyn<AssignStmt>(s)) {
      values_[assign->var] = assign->value;
      assigns_.push_back(assign);
    } else if (const auto* loop = dyn<ForStmt>(s)) {
      loops_.push_back(loop);
      collect_carries(loop->iter_args, loop->return_vars, loop->body);
    } else if (const auto* loop_while = dyn<WhileStmt>(s)) {
      collect_carries(loop_while->iter_args, loop_while->return_vars, loop_while->body);
    } else if (const auto* branch = dyn<IfStmt>(s)) {
      const YieldStmt* yields[2] = {trailing_yield(branch->then_body), trailing_yield(branch->else_body)};
      for (std::size_t i = 0; i < branch->return_vars.size(); ++i) {
        if (!is_tensor(branch->return_vars[i])) continue;
        groups_.push_back(
            {nullptr, branch->return_vars[i], {value_at(yields[0], i), value_at(yields[1], i)}});
      }
    }
    for_each_expr(s, [&](const Expr* root) {
      if (const auto* var = dyn<Var>(root)) ++uses_[var].other;
    });
    for_each_body(s, [&](Body inner) { collect(inner); });
  }
}

// ---- memory ------------------------------------------------------------------------------------------------------

void Homes::want_memory(const Expr* value) {
  const auto* var = dyn<Var>(value);
  if (is_tensor(var)) wanted_in_memory_.insert(var);
}

// What is wanted in memory must come from there.
void Homes::spread_wants() {
  for (const AssignStmt* assign : assigns_) {  // single elements are read and written where they are
    const auto* call = dyn<Call>(assign->value);
    if (call == nullptr || (call->op != OpId::tensor_view && call->op != OpId::tensor_reinterpret_view))
      continue;
    const auto use = uses_.find(assign->var);
    if (use != uses_.end() && use->second.matmul == 0 && use->second.other == 0) want_memory(assign->var);
  }
  for (std::size_t before = wanted_in_memory_.size() + 1; before != wanted_in_memory_.size();) {
    before = wanted_in_memory_.size();
    for (const AssignStmt* assign : assigns_) {
      if (!wanted_in_memory_.contains(assign->var)) continue;
      want_memory(assign->value);
      const auto* call = dyn<Call>(assign->value);
      if (call == nullptr || !call->is_op()) continue;
      const Effects& effects = op_info(call->op).effects;
      const int from = effects.result_aliases >= 0 ? effects.result_aliases : effects.result_view_of;
      if (from >= 0 && static_cast<std::size_t>(from) < call->args.size())
        want_memory(call->args[static_cast<std::size_t>(from)]);
    }
    for (const Group& group : groups_) {
      const bool wanted = (group.carried != nullptr && wanted_in_memory_.contains(group.carried)) ||
                          (group.result != nullptr && wanted_in_memory_.contains(group.result));
      if (!wanted) continue;
      want_memory(group.carried);
      want_memory(group.result);
      for (const Expr* value : group.values) want_memory(value);
    }
  }
}

// The tensor made in the kernel that `value` is the memory of: through writes, other names, and loops that hand over what
// they were given.
const Var* Homes::created_root(const Expr* value, bool& in_loop, int depth) const {
  const auto* var = dyn<Var>(value);
  if (var == nullptr || depth > kMaxDepth) return nullptr;
  if (const auto group = groups_of_.find(var); group != groups_of_.end()) {
    if (group->second->carried == nullptr) return nullptr;
    const Var* first = created_root(group->second->values[0], in_loop, depth + 1);
    if (first == nullptr || var == group->second->carried) return first;
    in_loop = true;
    return created_root(group->second->values[1], in_loop, depth + 1) == first ? first : nullptr;
  }
  const auto found = values_.find(var);
  if (found == values_.end()) return nullptr;
  const auto* call = dyn<Call>(found->second);
  if (call == nullptr) return created_root(found->second, in_loop, depth + 1);
  if (call->op == OpId::tensor_create || call->op == OpId::tensor_full) return var;
  const int from = written_operand(call);
  if (from < 0 || static_cast<std::size_t>(from) >= call->args.size()) return nullptr;
  return created_root(call->args[static_cast<std::size_t>(from)], in_loop, depth + 1);
}

// Whether one loop replaces every element of the tensor that it starts with: blocks side by side along one axis.
bool Homes::overwritten(const Var* created) const {
  const auto* whole = dyn<TensorType>(created->type);
  for (const ForStmt* loop : loops_) {
    for (const IterArg& arg : loop->iter_args) {
      if (arg.init != created) continue;
      const YieldStmt* yield = trailing_yield(loop->body);
      const auto at = static_cast<std::size_t>(&arg - loop->iter_args.data());
      const auto* last = dyn<Var>(value_at(yield, at));
      const auto value = last != nullptr ? values_.find(last) : values_.end();
      const Call* write = value != values_.end() ? op_call(value->second, OpId::tensor_assemble) : nullptr;
      if (write == nullptr || write->args[0] != arg.var) return false;
      const auto* offsets = dyn<MakeTuple>(write->args[2]);
      const auto* part = dyn<TensorType>(write->args[1]->type);
      if (offsets == nullptr || part == nullptr || part->shape.size() != whole->shape.size()) return false;
      if (part->view != nullptr && !part->view->valid_shape.empty()) return false;
      int moving = 0;
      for (std::size_t axis = 0; axis < whole->shape.size(); ++axis) {
        const auto extent = const_int(whole->shape[axis]);
        const auto step = const_int(part->shape[axis]);
        if (!extent || !step) return false;
        if (*extent == *step && const_int(offsets->elements[axis]) == 0) continue;
        const bool covers = offsets->elements[axis] == loop->loop_var && const_int(loop->start) == 0 &&
                            const_int(loop->step) == *step && const_int(loop->stop).value_or(0) >= *extent;
        if (!covers || ++moving > 1) return false;
      }
      return true;
    }
  }
  return false;
}

// Tensors that the kernel makes, fills in a loop and returns are memory that the caller provides.
void Homes::find_results(const Function* kernel) {
  const ReturnStmt* ret = first_return(kernel->body);
  for (std::size_t i = 0; ret != nullptr && i < ret->values.size(); ++i) {
    bool in_loop = false;
    const Var* created = created_root(ret->values[i], in_loop, 0);
    if (created == nullptr || results_.contains(created)) continue;
    const Call* made = static_cast<const Call*>(values_.at(created));
    const bool filled = made->op == OpId::tensor_full || find_attr(made->kwargs, "init_value") != nullptr;
    if (filled && !overwritten(created)) continue;
    if (in_loop || wanted_in_memory_.contains(created)) results_[created] = i;
  }
}

// ---- tiles -------------------------------------------------------------------------------------------------------

bool Homes::is_chip_value(const Expr* value) const {
  const auto* var = dyn<Var>(value);
  return var != nullptr && tiles_.contains(var);
}

void Homes::spread_tiles() {
  const auto computed = [&](const AssignStmt* assign) {
    if (!is_tensor(assign->var)) return false;
    const auto* call = dyn<Call>(assign->value);
    if (call == nullptr) {
      if (const auto* get = dyn<TupleGet>(assign->value)) {
        const auto* tuple = dyn<Var>(get->tuple);
        const auto made = tuple != nullptr ? values_.find(tuple) : values_.end();
        const auto* maker = made != values_.end() ? dyn<Call>(made->second) : nullptr;
        return maker != nullptr && maker->is_op() && conversion_of(maker->op) != nullptr;
      }
      return is_chip_value(assign->value);
    }
    const Conversion* conversion = call->is_op() ? conversion_of(call->op) : nullptr;
    if (conversion == nullptr) return false;
    switch (conversion->takes) {
      case Takes::Target:
        return is_chip_value(call->args[static_cast<std::size_t>(written_operand(call))]);
      case Takes::View:
        return is_chip_value(call->args[0]) || !wanted_in_memory_.contains(assign->var);
      case Takes::Tiles:
      case Takes::Itself:
        return !results_.contains(assign->var);
    }
    return false;
  };
  for (std::size_t before = tiles_.size() + 1; before != tiles_.size();) {
    before = tiles_.size();
    for (const AssignStmt* assign : assigns_) {
      if (computed(assign)) tiles_.insert(assign->var);
    }
    for (const Group& group : groups_) {
      if (!is_chip_value(group.values[0]) && !is_chip_value(group.values[1])) continue;
      if (group.carried != nullptr) tiles_.insert(group.carried);
      if (group.result != nullptr) tiles_.insert(group.result);
    }
  }
}

void Homes::plan_loads() {
  const auto plan = [&](const Expr* value) {
    const auto* var = dyn<Var>(value);
    if (var != nullptr && params_.contains(var) && is_tensor(var)) loaded_.insert(var);
  };
  for (const Var* var : wanted_as_tiles_) plan(var);
  for (const AssignStmt* assign : assigns_) {  // a view that does not stay in memory is of a tile
    const auto* call = dyn<Call>(assign->value);
    const Conversion* conversion = call != nullptr && call->is_op() ? conversion_of(call->op) : nullptr;
    const bool of_tile = conversion != nullptr && conversion->takes == Takes::View &&
                         tiles_.contains(assign->var) && call->op != OpId::tensor_slice;
    if (of_tile) plan(call->args[0]);
  }
  for (const Group& group : groups_) {
    const Var* any = group.carried != nullptr ? group.carried : group.result;
    if (any == nullptr || !tiles_.contains(any)) continue;
    for (const Expr* value : group.values) {
      if (value != nullptr) plan(value);
    }
  }
}

}  // namespace pldc::tiling
