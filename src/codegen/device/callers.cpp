#include "codegen/device/callers.h"

#include <algorithm>
#include <set>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "ir/check_op.h"
#include "ir/walk.h"

namespace pldc {

struct Callers::Index {
  struct Site {
    const Function* caller;
    List<const Expr*> args;
  };
  struct Values {
    std::unordered_map<const Var*, std::size_t> params;
    std::unordered_map<const Var*, std::vector<const Expr*>> sources;
  };
  std::unordered_map<Name, std::vector<Site>> sites;  // by callee
  std::unordered_map<const Function*, Values> values;
};

namespace {

// What a body yields for result number i, in its own list and in those of scopes.
void add_yielded(Body body, std::size_t i, std::vector<const Expr*>& out) {
  for (const Stmt* stmt : body) {
    if (const auto* scope = dyn<ScopeStmt>(stmt)) add_yielded(scope->body, i, out);
    const auto* yield = dyn<YieldStmt>(stmt);
    if (yield != nullptr && i < yield->values.size()) out.push_back(yield->values[i]);
  }
}

void add_sources(const Stmt* stmt, Callers::Index::Values& values) {
  const auto carried = [&](List<IterArg> args, List<const Var*> results, Body body) {
    for (std::size_t i = 0; i < args.size(); ++i) {
      std::vector<const Expr*> from = {args[i].init};
      add_yielded(body, i, from);
      for (const Var* var : {args[i].var, i < results.size() ? results[i] : nullptr}) {
        if (var == nullptr) continue;
        std::vector<const Expr*>& all = values.sources[var];
        all.insert(all.end(), from.begin(), from.end());
      }
    }
  };
  if (const auto* assign = dyn<AssignStmt>(stmt)) {
    values.sources[assign->var].push_back(assign->value);
  } else if (const auto* loop = dyn<ForStmt>(stmt)) {
    carried(loop->iter_args, loop->return_vars, loop->body);
  } else if (const auto* loop_while = dyn<WhileStmt>(stmt)) {
    carried(loop_while->iter_args, loop_while->return_vars, loop_while->body);
  } else if (const auto* branch = dyn<IfStmt>(stmt)) {
    for (std::size_t i = 0; i < branch->return_vars.size(); ++i) {
      std::vector<const Expr*>& all = values.sources[branch->return_vars[i]];
      add_yielded(branch->then_body, i, all);
      add_yielded(branch->else_body, i, all);
    }
  }
}

// Whether the last axis of the slice is that of its source.
bool keeps_rows(const Call* call) {
  const auto* source = dyn<TensorType>(call->args[0]->type);
  const auto* drop = dyn<MakeTuple>(argument(call, "drop_dims"));
  if (source == nullptr) return false;
  if (drop == nullptr) return true;
  const auto last = static_cast<std::int64_t>(source->shape.size()) - 1;
  return std::none_of(drop->elements.begin(), drop->elements.end(), [&](const Expr* axis) {
    const auto value = const_int(axis);
    return !value || *value < 0 || *value >= last;
  });
}

// Whether the slice takes a run of the first axis only.
bool leading_slice(const Call* call) {
  const auto* source = dyn<TensorType>(call->args[0]->type);
  const auto* extents = dyn<MakeTuple>(call->args[1]);
  if (source == nullptr || extents == nullptr || extents->elements.size() != source->shape.size())
    return false;
  bool whole = true;
  for (std::size_t i = source->shape.size(); i-- > 1;)
    whole = whole && same_dim(extents->elements[i], source->shape[i]);
  if (whole) return true;
  // Leading axes of one element do not spoil it: [1, 1, n] of [a, b, n].
  bool units = true;
  for (std::size_t i = 0; i < extents->elements.size(); ++i) {
    const bool one = const_int(extents->elements[i]) == 1;
    if (units && one) continue;
    if (units) {
      units = false;
      continue;  // a run of this axis
    }
    if (!same_dim(extents->elements[i], source->shape[i])) return false;
  }
  return true;
}

// One question. What is asked again on the way to its own answer does not speak against it.
class Packed {
 public:
  Packed(const Callers::Index& index, bool rows_only) : index_(index), rows_only_(rows_only) {}

  bool parameter(const Function& function, std::size_t index) {
    if (function.is_host_orchestrator()) return true;  // of a host function: packed by the launcher
    if (!visiting_.insert({&function, index}).second) return true;
    const auto sites = index_.sites.find(function.name);
    if (sites == index_.sites.end()) return true;
    return std::all_of(sites->second.begin(), sites->second.end(), [&](const Callers::Index::Site& site) {
      return index >= site.args.size() || value(*site.caller, site.args[index]);
    });
  }

 private:
  bool value(const Function& function, const Expr* expr) {
    if (const auto* get = dyn<TupleGet>(expr)) return value(function, get->tuple);
    if (const auto* call = dyn<Call>(expr)) return result(function, call);
    if (const auto* submit = dyn<Submit>(expr)) return all(function, submit->args);
    const auto* var = dyn<Var>(expr);
    if (var == nullptr) return false;
    const Callers::Index::Values& values = index_.values.at(&function);
    if (const auto param = values.params.find(var); param != values.params.end())
      return parameter(function, param->second);
    if (!visited_.insert(var).second) return true;
    const auto sources = values.sources.find(var);
    return sources == values.sources.end() ||
           std::all_of(sources->second.begin(), sources->second.end(),
                       [&](const Expr* source) { return value(function, source); });
  }

  bool all(const Function& function, List<const Expr*> args) {
    return std::all_of(args.begin(), args.end(), [&](const Expr* arg) {
      return dyn<TensorType>(arg->type) == nullptr || value(function, arg);
    });
  }

  bool result(const Function& function, const Call* call) {
    if (!call->is_op()) return all(function, call->args);
    const bool host = function.is_host_orchestrator();
    const OpId op = call->op;
    if (op == OpId::tensor_create || op == OpId::tensor_full || op == OpId::pld_tensor_window) return true;
    // The host stages slices of its own tensors into packed memory; of a window it passes the place itself.
    const bool staged = host && !call->args.empty() && !is_distributed(call->args[0]->type);
    if (op == OpId::tensor_slice && rows_only_)
      return staged || (keeps_rows(call) && value(function, call->args[0]));
    if (op == OpId::tensor_slice) return staged || (leading_slice(call) && value(function, call->args[0]));
    if (op == OpId::tensor_transpose) return staged;
    return all(function, call->args);
  }

  const Callers::Index& index_;
  bool rows_only_;
  std::set<std::pair<const Function*, std::size_t>> visiting_;
  std::unordered_set<const Var*> visited_;
};

}  // namespace

Callers::Callers(const Program& program) {
  auto index = std::make_unique<Index>();
  for (const Function* function : program.functions) {
    Index::Values& values = index->values[function];
    for (std::size_t i = 0; i < function->params.size(); ++i)
      values.params.emplace(function->params[i].var, i);
    walk_stmts(function->body, [&](const Stmt* stmt) {
      add_sources(stmt, values);
      for_each_expr(stmt, [&](const Expr* root) {
        walk_expr(root, [&](const Expr* e) {
          const auto* call = dyn<Call>(e);
          const auto* submit = dyn<Submit>(e);
          if (call != nullptr && !call->is_op())
            index->sites[call->function].push_back({function, call->args});
          if (submit != nullptr) index->sites[submit->function].push_back({function, submit->args});
        });
      });
    });
  }
  index_ = std::move(index);
}

Callers::~Callers() = default;

bool Callers::always_packed(const Function& function, std::size_t param, bool rows_only) const {
  return Packed(*index_, rows_only).parameter(function, param);
}

}  // namespace pldc
