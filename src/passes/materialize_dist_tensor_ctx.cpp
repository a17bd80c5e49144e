// Gives every function a communication-context parameter for each distributed tensor it takes, and every call
// the contexts to pass.
//
// A kernel then finds rank, rank count and peers in an argument; where a tensor came from need not be known
// again by code generation. Only host orchestrators, which own the windows, still ask for contexts.
#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "frontend/text.h"
#include "ir/auto_name.h"
#include "ir/op.h"
#include "ir/rewrite.h"
#include "passes/pass.h"
#include "passes/trace.h"
#include "support/diag/pass.h"

namespace pldc {

namespace {

struct CtxParam {
  std::size_t param;  // position of the distributed tensor
  const Var* ctx;
};
using Plan = std::vector<CtxParam>;
using Plans = std::unordered_map<Name, Plan>;

// `<base>_ctx`, `<base>_ctx_1`, ... for the contexts of one function's tensors.
class CtxNames {
 public:
  CtxNames() = default;
  explicit CtxNames(const Function* function) : used_(function) {}

  void add(std::string_view name) { used_.add(name); }
  std::string make(const Var* tensor) {
    std::string_view stem = auto_name_stem(tensor->name.text());
    if (stem.empty()) stem = tensor->name.text();
    // Names are never freed, so the search goes on where it ended last time.
    int& next = next_[std::string(stem)];
    for (;;) {
      const int k = next++;
      std::string name = k == 0 ? fmt::format("{}_ctx", stem) : fmt::format("{}_ctx_{}", stem, k);
      if (used_.has(name)) continue;
      used_.add(name);
      return name;
    }
  }

 private:
  NamePool used_;
  std::unordered_map<std::string, int> next_;
};

class CtxRewriter : public Rewriter {
 public:
  CtxRewriter(PassEnv& env, ParamTracer& tracer, const Plans& plans)
      : Rewriter(env.ir), env_(env), tracer_(tracer), plans_(plans) {}

  const Function* function(const Function* f) override {
    function_ = f;
    names_ = CtxNames(f);
    ctx_of_.clear();
    tuples_.clear();
    Function n = *f;
    if (const auto plan = plans_.find(f->name); plan != plans_.end()) {
      std::vector<Param> params(f->params.begin(), f->params.end());
      for (const CtxParam& p : plan->second) {
        params.push_back({p.ctx, ParamDirection::In, {}});
        names_.add(p.ctx->name.text());
        ctx_of_[f->params[p.param].var] = p.ctx;
      }
      n.params = ctx().list(params);
    }
    n.body = body(f->body);
    const bool same_body = n.body.data() == f->body.data() && n.body.size() == f->body.size();
    return same_body && n.params.data() == f->params.data() ? f : ctx().make(n);
  }

  void stmt(const Stmt* s, std::vector<const Stmt*>& out) override {
    // Queries made for the expressions of this statement go directly before it, those of inner statements
    // inside.
    std::vector<const Stmt*> outer;
    outer.swap(pending_);
    if (const auto* loop = dyn<ForStmt>(s)) seed_carries(loop->iter_args, loop->return_vars);
    if (const auto* loop = dyn<WhileStmt>(s)) seed_carries(loop->iter_args, loop->return_vars);
    span_ = s->span;
    const Stmt* rebuilt = rebuild(s);
    out.insert(out.end(), pending_.begin(), pending_.end());
    out.push_back(rebuilt);
    pending_.swap(outer);
    note_definitions(s);
  }

  const Expr* expr(const Expr* e) override {
    if (const Call* query = op_call(e, OpId::pld_system_get_comm_ctx)) return context_query(query);
    const Expr* rewritten = Rewriter::expr(e);
    const auto* call = dyn<Call>(rewritten);
    if (call != nullptr && !call->is_op()) {
      const auto plan = plans_.find(call->function);
      if (plan == plans_.end()) return rewritten;
      Call n = *call;
      n.args = with_contexts(n.function, n.args, plan->second, e);
      n.attrs = with_directions(n.attrs, n.args.size() - call->args.size());
      return ctx().make(n);
    }
    if (const auto* submit = dyn<Submit>(rewritten)) {
      const auto plan = plans_.find(submit->function);
      if (plan == plans_.end()) return rewritten;
      Submit n = *submit;
      n.args = with_contexts(n.function, n.args, plan->second, e);
      n.attrs = with_directions(n.attrs, n.args.size() - submit->args.size());
      return ctx().make(n);
    }
    return rewritten;
  }

 private:
  const Expr* context_query(const Call* query) {
    if (function_->is_host_orchestrator() || query->args.empty()) return query;
    if (const Var* found = context(query->args[0])) return found;
    env_.diags
        .report<diag::ctx_query_unresolved>(query->span, print_expr(query->args[0]), function_->name.text())
        .help(
            "ask for the context of a DistributedTensor that is a parameter of '{}', or take the context as "
            "a parameter",
            function_->name.text());
    return query;
  }

  // The context that goes with the value, or null.
  const Var* context(const Expr* value) {
    while (value != nullptr) {
      if (const auto* var = dyn<Var>(value)) {
        const auto found = ctx_of_.find(var);
        return found != ctx_of_.end() ? found->second : nullptr;
      }
      value = source(value);
    }
    return nullptr;
  }

  // What the value is another name for, one step; null: nothing known.
  const Expr* source(const Expr* value) {
    if (const auto* call = dyn<Call>(value)) {
      if (!call->is_op()) return argument_returned(call, 0, 1);
      const Effects& effects = op_info(call->op).effects;
      const int index = effects.result_aliases >= 0 ? effects.result_aliases : effects.result_view_of;
      return index >= 0 && static_cast<std::size_t>(index) < call->args.size()
                 ? call->args[static_cast<std::size_t>(index)]
                 : nullptr;
    }
    if (const auto* get = dyn<TupleGet>(value)) {
      const Expr* tuple = get->tuple;
      if (const auto* var = dyn<Var>(tuple)) {
        const auto found = tuples_.find(var);
        tuple = found != tuples_.end() ? found->second : nullptr;
      }
      return get->index >= 0 ? argument_returned(tuple, static_cast<std::size_t>(get->index), 0) : nullptr;
    }
    return nullptr;
  }

  const Expr* argument_returned(const Expr* value, std::size_t position, std::size_t results) {
    const auto* call = dyn<Call>(value);
    const auto* submit = dyn<Submit>(value);
    if (submit == nullptr && (call == nullptr || call->is_op())) return nullptr;
    const Function* callee = tracer_.function(call != nullptr ? call->function : submit->function);
    if (callee == nullptr || !plans_.contains(callee->name)) return nullptr;
    const std::vector<int>& returned = tracer_.returned_params(callee);
    if (position >= returned.size() || (results != 0 && returned.size() != results)) return nullptr;
    const int index = returned[position];
    const List<const Expr*> args = call != nullptr ? call->args : submit->args;
    if (index < 0 || static_cast<std::size_t>(index) >= args.size()) return nullptr;
    // Of a rewritten submit with runtime-allocated outputs the arguments behind the passed ones are contexts.
    const Expr* arg = args[static_cast<std::size_t>(index)];
    return is_distributed(arg->type) ? arg : nullptr;
  }

  List<const Expr*> with_contexts(Name callee, List<const Expr*> args, const Plan& plan, const Expr* call) {
    std::vector<const Expr*> all(args.begin(), args.end());
    std::unordered_map<const Expr*, const Var*> queried;  // one query for each distinct argument of the call
    for (const CtxParam& p : plan) {
      if (p.param >= args.size()) continue;  // allocated by the runtime
      const Expr* arg = args[p.param];
      const Var* found = context(arg);
      const auto* var = dyn<Var>(arg);
      if (found == nullptr && var != nullptr && function_->is_host_orchestrator()) {
        const Var*& query = queried[arg];
        if (query == nullptr) query = emit_query(var, call->span);
        found = query;
      }
      if (found == nullptr) {
        const Span place = arg->span.valid() ? arg->span : call->span;
        env_.diags
            .report<diag::ctx_argument_unresolved>(
                place, var != nullptr ? std::string(var->name.text()) : print_expr(arg),
                function_->name.text(), callee.text())
            .help("take the tensor as a parameter of '{}', so that its context comes with it",
                  function_->name.text());
        continue;
      }
      all.push_back(found);
    }
    return ctx().list(all);
  }

  const Var* emit_query(const Var* tensor, Span span) {
    const Type* type = ctx().simple(TypeKind::CommCtx);
    const Var* result = ctx().var(ctx().name(names_.make(tensor)), type, span);
    const Call* query = ctx().call(OpId::pld_system_get_comm_ctx,
                                   ctx().list({static_cast<const Expr*>(tensor)}), {}, {}, type, span);
    pending_.push_back(ctx().assign(result, query, span_));
    return result;
  }

  Attrs with_directions(Attrs attrs, std::size_t added) {
    std::vector<Attr> list(attrs.begin(), attrs.end());
    for (Attr& attr : list) {
      if (attr.key.text() != "arg_directions" || attr.value.kind != AttrKind::ArgDirectionList) continue;
      std::vector<ArgDirection> directions(attr.value.directions.begin(), attr.value.directions.end());
      directions.insert(directions.end(), added, ArgDirection::Scalar);
      attr.value.directions = ctx().list(directions);
    }
    return ctx().list(list);
  }

  // A carry keeps the context of its initial value; it is known before the body is looked at.
  void seed_carries(List<IterArg> args, List<const Var*> results) {
    for (std::size_t i = 0; i < args.size(); ++i) {
      const Var* found = is_distributed(args[i].var->type) ? context(args[i].init) : nullptr;
      if (found == nullptr) continue;
      ctx_of_[args[i].var] = found;
      if (i < results.size()) ctx_of_[results[i]] = found;
    }
  }

  void note_definitions(const Stmt* s) {
    if (const auto* assign = dyn<AssignStmt>(s)) {
      if (dyn<TupleType>(assign->var->type) != nullptr) tuples_[assign->var] = assign->value;
      if (!is_distributed(assign->var->type)) return;
      const Var* found = context(assign->value);
      // Only a variable that is assigned again can have a context already: the old one no longer counts.
      if (found == nullptr) {
        ctx_of_.erase(assign->var);
      } else {
        ctx_of_[assign->var] = found;
      }
    } else if (const auto* loop = dyn<ForStmt>(s)) {
      check_carries(loop->iter_args, loop->body);
    } else if (const auto* loop_while = dyn<WhileStmt>(s)) {
      check_carries(loop_while->iter_args, loop_while->body);
    } else if (const auto* branch = dyn<IfStmt>(s)) {
      merge_branches(*branch);
    }
  }

  void check_carries(List<IterArg> args, Body body) {
    const YieldStmt* yield = trailing_yield(body);
    for (std::size_t i = 0; yield != nullptr && i < args.size() && i < yield->values.size(); ++i) {
      const auto seed = ctx_of_.find(args[i].var);
      const Var* yielded = seed != ctx_of_.end() ? context(yield->values[i]) : nullptr;
      if (yielded == nullptr || yielded == seed->second) continue;
      env_.diags
          .report<diag::ctx_carry_rebound>(yield->span, args[i].var->name.text(), function_->name.text(),
                                           seed->second->name.text(), yielded->name.text())
          .help("keep each tensor in a variable of its own inside the loop");
    }
  }

  void merge_branches(const IfStmt& branch) {
    const YieldStmt* yields[2] = {trailing_yield(branch.then_body), trailing_yield(branch.else_body)};
    if (yields[0] == nullptr || yields[1] == nullptr) return;
    for (std::size_t i = 0; i < branch.return_vars.size(); ++i) {
      const Var* result = branch.return_vars[i];
      if (!is_distributed(result->type) || i >= yields[0]->values.size() || i >= yields[1]->values.size())
        continue;
      const Var* first = context(yields[0]->values[i]);
      const Var* second = context(yields[1]->values[i]);
      if (first == nullptr || second == nullptr) continue;
      if (first == second) {
        ctx_of_[result] = first;
        continue;
      }
      env_.diags
          .report<diag::ctx_branches_differ>(branch.span, result->name.text(), function_->name.text(),
                                             first->name.text(), second->name.text())
          .help("use each tensor inside its own branch");
    }
  }

  PassEnv& env_;
  ParamTracer& tracer_;
  const Plans& plans_;
  const Function* function_ = nullptr;
  CtxNames names_;
  std::unordered_map<const Var*, const Var*> ctx_of_;
  std::unordered_map<const Var*, const Expr*> tuples_;  // tuple variable -> the call that made it
  std::vector<const Stmt*> pending_;
  Span span_;
};

Plans make_plans(Context& context, const Program* program) {
  Plans plans;
  for (const Function* f : program->functions) {
    Plan plan;
    CtxNames names(f);
    for (std::size_t i = 0; i < f->params.size(); ++i) {
      const Var* param = f->params[i].var;
      if (!is_distributed(param->type)) continue;
      const Name name = context.name(names.make(param));
      plan.push_back({i, context.var(name, context.simple(TypeKind::CommCtx), param->span)});
    }
    if (!plan.empty()) plans.emplace(f->name, std::move(plan));
  }
  return plans;
}

}  // namespace

const Program* run_MaterializeDistTensorCtx(PassEnv& env, const Program* program) {
  const Plans plans = make_plans(env.ir, program);
  if (plans.empty()) return program;
  const std::uint32_t errors = env.diags.error_count();
  ParamTracer tracer(program);
  const Program* result = CtxRewriter(env, tracer, plans).program(program);
  return env.diags.error_count() == errors ? result : nullptr;
}

}  // namespace pldc
