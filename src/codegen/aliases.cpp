#include "codegen/aliases.h"

#include "ir/op.h"
#include "ir/walk.h"

namespace pldc {

const std::vector<int>& ReturnedParams::of(const Function* function) {
  // A function that is on a way back to itself returns nothing that is known.
  const auto [entry, fresh] = known_.try_emplace(function);
  if (!fresh) return entry->second;
  std::vector<int> found;
  if (const ReturnStmt* ret = first_return(function->body)) {
    Aliases aliases(*this);
    aliases.add(function->body);
    for (const Expr* value : ret->values) {
      const Expr* root = aliases.root(value);
      int index = ParamTracer::kNone;
      for (std::size_t i = 0; i < function->params.size(); ++i) {
        if (function->params[i].var == root) index = static_cast<int>(i);
      }
      found.push_back(index);
    }
  }
  return known_[function] = std::move(found);
}

void Aliases::add(Body body) {
  for (const Stmt* stmt : body) {
    if (const auto* assign = dyn<AssignStmt>(stmt)) {
      defs_[assign->var] = {Kind::Value, assign->value, nullptr};
    } else if (const auto* loop = dyn<ForStmt>(stmt)) {
      collect_loop(loop->iter_args, loop->return_vars, loop->body);
    } else if (const auto* loop_while = dyn<WhileStmt>(stmt)) {
      collect_loop(loop_while->iter_args, loop_while->return_vars, loop_while->body);
    } else if (const auto* branch = dyn<IfStmt>(stmt)) {
      const YieldStmt* yields[2] = {trailing_yield(branch->then_body), trailing_yield(branch->else_body)};
      for (std::size_t i = 0; i < branch->return_vars.size(); ++i) {
        Def def{Kind::IfResult, nullptr, nullptr};
        if (yields[0] != nullptr && i < yields[0]->values.size()) def.first = yields[0]->values[i];
        if (yields[1] != nullptr && i < yields[1]->values.size()) def.second = yields[1]->values[i];
        defs_[branch->return_vars[i]] = def;
      }
    }
    for_each_body(stmt, [&](Body inner) { add(inner); });
  }
}

void Aliases::collect_loop(List<IterArg> args, List<const Var*> results, Body body) {
  const YieldStmt* yield = trailing_yield(body);
  for (std::size_t i = 0; i < args.size(); ++i) {
    const Expr* next = yield != nullptr && i < yield->values.size() ? yield->values[i] : nullptr;
    defs_[args[i].var] = {Kind::Carry, args[i].init, next};
    if (i < results.size()) defs_[results[i]] = {Kind::LoopResult, args[i].var, nullptr};
  }
}

const Expr* Aliases::definition(const Var* var) const {
  const auto found = defs_.find(var);
  return found != defs_.end() && found->second.kind == Kind::Value ? found->second.first : nullptr;
}

const Expr* Aliases::unwrap(const Expr* value) const {
  // Assignments to names cannot go in circles in SSA form; the bound is for texts that are not.
  for (int depth = 0; depth < 1000; ++depth) {
    const auto* var = dyn<Var>(value);
    const Expr* next = var != nullptr ? definition(var) : nullptr;
    if (next == nullptr) return value;
    value = next;
  }
  return value;
}

const Expr* Aliases::argument_returned(const Expr* value, std::size_t index, std::size_t results) const {
  const auto* call = dyn<Call>(value);
  const auto* submit = dyn<Submit>(value);
  if (submit == nullptr && (call == nullptr || call->is_op())) return nullptr;
  const Function* callee = calls_.function(call != nullptr ? call->function : submit->function);
  if (callee == nullptr) return nullptr;
  const std::vector<int>& returned = calls_.of(callee);
  if (index >= returned.size() || (results != 0 && returned.size() != results)) return nullptr;
  const int param = returned[index];
  const List<const Expr*> args = call != nullptr ? call->args : submit->args;
  if (param < 0 || static_cast<std::size_t>(param) >= args.size()) return nullptr;
  const Expr* arg = args[static_cast<std::size_t>(param)];
  // Behind the passed arguments of a submit with runtime-allocated outputs stand contexts.
  return arg->type->kind == TypeKind::CommCtx ? nullptr : arg;
}

// What the variable is another name for; null: it stands for itself.
const Expr* Aliases::step(const Var* var) const {
  const auto found = defs_.find(var);
  if (found == defs_.end()) return nullptr;
  const Def& def = found->second;
  switch (def.kind) {
    case Kind::Value: {
      const Expr* value = def.first;
      if (value->kind == ExprKind::Var) return value;
      if (const auto* call = dyn<Call>(value)) {
        if (!call->is_op()) return argument_returned(call, 0, 1);
        const Effects& effects = op_info(call->op).effects;
        int operand = effects.result_aliases;
        // Arrays are changed in place, and an extent that holds data changes nothing.
        if (call->op == OpId::array_update_element || call->op == OpId::tensor_set_validshape) operand = 0;
        if (operand < 0 || static_cast<std::size_t>(operand) >= call->args.size()) return nullptr;
        return call->args[static_cast<std::size_t>(operand)];
      }
      if (const auto* get = dyn<TupleGet>(value)) {
        const Expr* tuple = unwrap(get->tuple);
        const auto index = static_cast<std::size_t>(get->index);
        if (const auto* made = dyn<MakeTuple>(tuple)) {
          return index < made->elements.size() ? made->elements[index] : nullptr;
        }
        return argument_returned(tuple, index, 0);
      }
      return nullptr;
    }
    case Kind::Carry:
      return def.first;  // root asks first whether it keeps its value
    case Kind::LoopResult:
      return def.first;
    case Kind::IfResult: {
      if (def.first == nullptr || def.second == nullptr) return nullptr;
      const Expr* first = root(def.first);
      return first == root(def.second) ? first : nullptr;
    }
  }
  return nullptr;
}

void Aliases::remember(const Var* var, const Expr* result) const {
  if (roots_.insert_or_assign(var, result).second) trail_.push_back(var);
}

// A carry keeps its value if the body yields what it was given. To see that, the carry is taken for itself; what was
// found under that assumption is forgotten again if it does, since then it is what the carry starts with.
bool Aliases::keeps_value(const Var* var, const Def& carry) const {
  if (carry.second == nullptr) return false;
  const std::size_t mark = trail_.size();
  remember(var, var);
  if (root(carry.second) != var) return false;
  std::vector<const Var*> kept;
  for (std::size_t i = mark; i < trail_.size(); ++i) {
    const auto entry = roots_.find(trail_[i]);
    if (entry->second == var) {
      roots_.erase(entry);
    } else {
      kept.push_back(trail_[i]);
    }
  }
  trail_.resize(mark);
  trail_.insert(trail_.end(), kept.begin(), kept.end());
  return true;
}

const Expr* Aliases::root(const Expr* value) const {
  const auto* var = dyn<Var>(value);
  if (var == nullptr) return value;
  if (const auto found = roots_.find(var); found != roots_.end()) return found->second;
  const auto def = defs_.find(var);
  const bool changes =
      def != defs_.end() && def->second.kind == Kind::Carry && !keeps_value(var, def->second);
  const Expr* next = changes ? nullptr : step(var);
  const Expr* result = next != nullptr ? root(next) : var;
  // A call or constant under another name: the name.
  if (result->kind != ExprKind::Var) result = var;
  remember(var, result);
  return result;
}

}  // namespace pldc
