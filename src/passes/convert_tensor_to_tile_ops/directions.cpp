// Directions of parameters from what the bodies do with them.
#include <algorithm>

#include "ir/check_op.h"
#include "passes/convert_tensor_to_tile_ops/callers.h"
#include "passes/function_call.h"
#include "passes/map_functions.h"
#include "passes/trace.h"

namespace pldc::tiling {

namespace {

// Reads and writes of a parameter's memory.
struct Touched {
  bool read = false;
  bool written = false;
};

// What one kernel does to the memory of its parameters.
class KernelAccesses {
 public:
  explicit KernelAccesses(const Function* kernel) : touched_(kernel->params.size()) {
    for (std::size_t i = 0; i < kernel->params.size(); ++i) {
      if (dyn<TensorType>(kernel->params[i].var->type) != nullptr) params_[kernel->params[i].var] = i;
    }
    collect(kernel->body);
  }
  const Touched& of(std::size_t param) const { return touched_[param]; }

 private:
  std::optional<std::size_t> param(const Expr* e) const {
    const auto* var = dyn<Var>(e);
    const auto found = var != nullptr ? params_.find(var) : params_.end();
    return found != params_.end() ? std::optional(found->second) : std::nullopt;
  }
  void alias(const Var* var, const Expr* of) {
    if (const auto known = param(of); known && dyn<TensorType>(var->type) != nullptr) params_[var] = *known;
  }

  void collect(Body body) {
    for (const Stmt* s : body) {
      for_each_expr(s, [&](const Expr* root) {
        walk_expr(root, [&](const Expr* e) {
          if (const auto* call = dyn<Call>(e); call != nullptr && call->is_op()) touch(call);
        });
      });
      if (const auto* assign = dyn<AssignStmt>(s)) {
        const auto* call = dyn<Call>(assign->value);
        alias(assign->var, call == nullptr ? assign->value : memory_of(call));
      } else if (const auto* loop = dyn<ForStmt>(s)) {
        carries(loop->iter_args, loop->return_vars);
      } else if (const auto* loop_while = dyn<WhileStmt>(s)) {
        carries(loop_while->iter_args, loop_while->return_vars);
      }
      for_each_body(s, [&](Body inner) { collect(inner); });
      if (const auto* branch = dyn<IfStmt>(s)) {
        const YieldStmt* yield = trailing_yield(branch->then_body);
        for (std::size_t i = 0; yield != nullptr && i < branch->return_vars.size(); ++i) {
          if (i < yield->values.size()) alias(branch->return_vars[i], yield->values[i]);
        }
      }
    }
  }
  void carries(List<IterArg> args, List<const Var*> results) {
    for (std::size_t i = 0; i < args.size(); ++i) {
      alias(args[i].var, args[i].init);
      if (i < results.size()) alias(results[i], args[i].init);
    }
  }
  const Expr* memory_of(const Call* call) const {
    if (!call->is_op()) return nullptr;
    const Effects& effects = op_info(call->op).effects;
    const int from = effects.result_aliases >= 0 ? effects.result_aliases : effects.result_view_of;
    const bool known = from >= 0 && static_cast<std::size_t>(from) < call->args.size();
    return known ? call->args[static_cast<std::size_t>(from)] : nullptr;
  }
  void touch(const Call* call) {
    for (std::size_t i = 0; i < call->args.size(); ++i) {
      const auto at = param(call->args[i]);
      if (!at) continue;
      const Access access = access_of(call, i);
      const bool view = memory_of(call) == call->args[i] && op_info(call->op).effects.result_view_of >= 0;
      if (view || access == Access::None) continue;
      touched_[*at].read = touched_[*at].read || access == Access::Read || access == Access::ReadWrite;
      touched_[*at].written = touched_[*at].written || access == Access::Write || access == Access::ReadWrite;
    }
  }

  std::unordered_map<const Var*, std::size_t> params_;
  std::vector<Touched> touched_;
};

using Directions = std::unordered_map<Name, std::vector<ParamDirection>>;

}  // namespace

const Program* declare_writes(PassEnv& env, const Program* program) {
  Directions directions;
  std::unordered_map<Name, const Function*> functions;
  for (const Function* f : program->functions) {
    functions[f->name] = f;
    std::vector<ParamDirection>& list = directions[f->name];
    for (const Param& param : f->params) list.push_back(param.direction);
    if (!f->is_kernel()) continue;
    const KernelAccesses accesses(f);
    for (std::size_t i = 0; i < list.size(); ++i) {
      if (list[i] != ParamDirection::In || !accesses.of(i).written) continue;
      list[i] = accesses.of(i).read ? ParamDirection::InOut : ParamDirection::Out;
    }
  }
  // A direction rises at most twice, so this ends.
  for (bool rising = true; rising;) {
    rising = false;
    for (const Function* f : program->functions) {
      std::vector<ParamDirection>& own = directions[f->name];
      for_each_function_call(f->body, [&](const FunctionCall& call, const Expr*, const Stmt*) {
        const auto callee = functions.find(call.callee);
        if (callee == functions.end()) return;
        for (std::size_t i = 0; i < call.args.size(); ++i) {
          const Param* param = param_for(callee->second, call, i);
          if (param == nullptr) continue;
          const auto position = static_cast<std::size_t>(param - callee->second->params.data());
          const ParamDirection wanted = directions[call.callee][position];
          for (std::size_t k = 0; k < own.size(); ++k) {
            if (f->params[k].var != call.args[i] || !asks_more(wanted, own[k])) continue;
            // What is submitted is ordered by the runtime, which asks the callee for its directions.
            if (call.is_submit && own[k] != ParamDirection::In) continue;
            own[k] = wanted;
            rising = true;
          }
        }
      });
    }
  }
  return map_functions(env, program, [&](const Function* f) {
    const std::vector<ParamDirection>& own = directions[f->name];
    std::vector<Param> params(f->params.begin(), f->params.end());
    bool differs = false;
    for (std::size_t i = 0; i < params.size(); ++i) {
      differs = differs || params[i].direction != own[i];
      params[i].direction = own[i];
    }
    if (!differs) return f;
    Function n = *f;
    n.params = env.ir.list(params);
    return env.ir.make(n);
  });
}

}  // namespace pldc::tiling
