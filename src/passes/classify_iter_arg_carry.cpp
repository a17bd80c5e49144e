// ClassifyIterArgCarry (47): writes on each for loop of an orchestration which carries are bound to something new in
// each iteration, and how many task ids a carried one stands for.
//
// A carry whose body hands on the very buffer that it got needs no variable of its own in generated code; one that is
// rebound does. A task id that leaves a parallel loop means all its iterations, so it is kept as an array.
#include <fmt/format.h>

#include "ir/rewrite.h"
#include "passes/function_call.h"
#include "passes/pass.h"
#include "passes/trace.h"
#include "passes/trip_count.h"
#include "support/diag/pass.h"

namespace pldc {

namespace {

class CarryClassifier : public Rewriter {
 public:
  CarryClassifier(PassEnv& env, ParamTracer& tracer) : Rewriter(env.ir), env_(env), tracer_(tracer) {}

  const Function* function(const Function* f) override {
    if (f->func_type != FuncType::Orchestration) return f;
    defs_.clear();
    sizes_.clear();
    starts_.clear();
    collect(f->body);
    return Rewriter::function(f);
  }

  void stmt(const Stmt* s, std::vector<const Stmt*>& out) override {
    const ScopeStmt* scope = dyn_scope(s, ScopeKind::Runtime);
    const bool outer = manual_;
    if (scope != nullptr) manual_ = scope->manual;
    // Inner loops first: an outer carry can take its size from an inner result.
    const Stmt* rebuilt = rebuild(s);
    manual_ = outer;
    const auto* loop = dyn<ForStmt>(rebuilt);
    out.push_back(loop != nullptr && !loop->iter_args.empty() ? classify(loop) : rebuilt);
  }

 private:
  struct Def {
    std::size_t order;  // in textual order, to tell what stands before a loop
    const Expr* value;  // of an assignment
    const Expr* init;   // of a loop result: the initial value of its carry
  };

  void collect(Body body) {
    for (const Stmt* stmt : body) {
      if (const auto* assign = dyn<AssignStmt>(stmt)) {
        defs_.emplace(assign->var, Def{defs_.size(), assign->value, nullptr});
      } else if (const auto* loop = dyn<ForStmt>(stmt)) {
        starts_.emplace(loop->loop_var, defs_.size());
        results(loop->iter_args, loop->return_vars);
      } else if (const auto* loop_while = dyn<WhileStmt>(stmt)) {
        results(loop_while->iter_args, loop_while->return_vars);
      }
      for_each_body(stmt, [&](Body inner) { collect(inner); });
    }
  }
  void results(List<IterArg> args, List<const Var*> vars) {
    for (std::size_t i = 0; i < args.size() && i < vars.size(); ++i) {
      defs_.emplace(vars[i], Def{defs_.size(), nullptr, args[i].init});
    }
  }

  // The argument whose buffer result `position` of a call or submit is: the one that the callee returns, or, if that is
  // not known, the output with that number.
  const Expr* output_argument(const Expr* value, std::size_t position) {
    if (const Expr* known = tracer_.argument_returned(value, position, 0)) return known;
    const auto call = function_call(value);
    const AttrValue* directions = call ? find_attr(call->attrs, "arg_directions") : nullptr;
    if (directions == nullptr) return nullptr;
    for (std::size_t i = 0; i < call->args.size() && i < directions->directions.size(); ++i) {
      const ArgDirection d = directions->directions[i];
      const bool output =
          d == ArgDirection::InOut || d == ArgDirection::OutputExisting || d == ArgDirection::Output;
      if (output && position-- == 0) return call->args[i];
    }
    return nullptr;
  }

  // What a variable is another name for, or null.
  const Expr* alias_of(const Var* var, const Def& def) {
    if (def.init != nullptr) return dyn<ArrayType>(var->type) == nullptr ? def.init : nullptr;
    if (def.value->kind == ExprKind::Var) return def.value;
    if (const Call* assemble = op_call(def.value, OpId::tensor_assemble)) return assemble->args[0];
    const auto* get = dyn<TupleGet>(def.value);
    if (get == nullptr) return output_argument(def.value, 0);
    const auto* tuple = dyn<Var>(get->tuple);
    const auto found = tuple != nullptr ? defs_.find(tuple) : defs_.end();
    return found != defs_.end() && found->second.value != nullptr && get->index >= 0
               ? output_argument(found->second.value, static_cast<std::size_t>(get->index))
               : nullptr;
  }

  bool keeps_buffer(const ForStmt* loop, const Var* carry, const Expr* yielded) {
    // Nothing that is defined before the loop can be its carry; and names lead back in the text, never forth.
    const std::size_t start = starts_.at(loop->loop_var);
    std::size_t last = defs_.size();
    const auto* var = dyn<Var>(yielded);
    while (var != nullptr && var != carry) {
      const auto def = defs_.find(var);
      if (def == defs_.end() || def->second.order < start || def->second.order >= last) return false;
      last = def->second.order;
      var = dyn<Var>(alias_of(var, def->second));
    }
    return var == carry;
  }

  const Stmt* classify(const ForStmt* loop) {
    const YieldStmt* yield = trailing_yield(loop->body);
    std::vector<Attr> attrs;
    for (const Attr& attr : loop->attrs) {
      if (!attr.key.text().starts_with("iter_arg_rebind_") &&
          !attr.key.text().starts_with("iter_arg_array_size_"))
        attrs.push_back(attr);
    }
    for (std::size_t i = 0; i < loop->iter_args.size(); ++i) {
      const Var* carry = loop->iter_args[i].var;
      const Expr* yielded = yield != nullptr && i < yield->values.size() ? yield->values[i] : nullptr;
      const bool task_id = scalar_dtype(carry->type) == DType::TASK_ID;
      const bool rebind = yielded != nullptr && (task_id || !keeps_buffer(loop, carry, yielded));
      attrs.push_back({ctx().name(fmt::format("iter_arg_rebind_{}", i)), AttrValue::of_bool(rebind)});
      const std::int64_t size = rebind && task_id && manual_ ? array_size(loop, carry, yielded) : 0;
      if (size <= 0) continue;
      attrs.push_back({ctx().name(fmt::format("iter_arg_array_size_{}", i)), AttrValue::of_int(size)});
      if (i < loop->return_vars.size()) sizes_[loop->return_vars[i]] = size;
    }
    ForStmt n = *loop;
    n.attrs = ctx().list(attrs);
    return ctx().make(n);
  }

  std::int64_t array_size(const ForStmt* loop, const Var* carry, const Expr* yielded) {
    if (loop->for_kind == ForKind::Parallel) {
      const std::int64_t trips = trip_count(loop).value_or(0);
      if (trips == 0) {
        env_.diags.report<diag::carry_trip_count>(loop->span, carry->name.text())
            .help("give the loop constant bounds, or make it a pl.range");
      }
      return trips;
    }
    const auto* var = dyn<Var>(yielded);
    const auto inner = var != nullptr ? sizes_.find(var) : sizes_.end();
    return inner != sizes_.end() ? inner->second : 0;
  }

  PassEnv& env_;
  ParamTracer& tracer_;
  std::unordered_map<const Var*, Def> defs_;
  std::unordered_map<const Var*, std::size_t>
      starts_;  // loop variable -> number of definitions before the loop
  std::unordered_map<const Var*, std::int64_t> sizes_;  // loop result -> task ids in it
  bool manual_ = false;
};

}  // namespace

const Program* run_ClassifyIterArgCarry(PassEnv& env, const Program* program) {
  const std::uint32_t errors = env.diags.error_count();
  ParamTracer tracer(program);
  const Program* out = CarryClassifier(env, tracer).program(program);
  return env.diags.error_count() == errors ? out : nullptr;
}

}  // namespace pldc
