// NormalizeReturnOrder (26): makes kernels return their parameters by name and in parameter order. Contexts,
// directions and code generation then read off the return statement which argument a result is, without
// tracing.
#include <algorithm>
#include <numeric>
#include <unordered_map>

#include "ir/rewrite.h"
#include "ir/walk.h"
#include "passes/pass.h"
#include "passes/trace.h"

namespace pldc {

namespace {

// permutation[k] is the new place of the k-th returned value.
using Permutation = std::vector<std::size_t>;

// Where the returned values go so that those that are Out or InOut parameters stand in parameter order. Other
// values keep their places. Empty: nothing moves.
Permutation order_of_returns(const Function* f, const std::vector<int>& returned) {
  const auto is_output = [&](int param) {
    return param != ParamTracer::kNone &&
           f->params[static_cast<std::size_t>(param)].direction != ParamDirection::In;
  };
  const auto outputs = std::count_if(f->params.begin(), f->params.end(), [](const Param& param) {
    return param.direction != ParamDirection::In;
  });
  if (outputs == 0 || static_cast<std::size_t>(outputs) > returned.size()) return {};
  std::vector<std::size_t> places;
  for (std::size_t k = 0; k < returned.size(); ++k) {
    if (is_output(returned[k])) places.push_back(k);
  }
  std::vector<std::size_t> sorted = places;
  std::stable_sort(sorted.begin(), sorted.end(),
                   [&](std::size_t a, std::size_t b) { return returned[a] < returned[b]; });
  if (sorted == places) return {};
  Permutation out(returned.size());
  std::iota(out.begin(), out.end(), std::size_t{0});
  for (std::size_t k = 0; k < places.size(); ++k) out[sorted[k]] = places[k];
  return out;
}

template <class T>
std::vector<T> permuted(List<T> list, const Permutation& permutation) {
  std::vector<T> out(list.begin(), list.end());
  for (std::size_t k = 0; k < list.size(); ++k) out[permutation[k]] = list[k];
  return out;
}

// Replaces returned values by the parameters they are and puts them in order.
class ReturnRewriter : public Rewriter {
 public:
  ReturnRewriter(Context& context, ParamTracer& tracer, const Function* f, const Permutation& permutation)
      : Rewriter(context),
        tracer_(tracer),
        function_(f),
        permutation_(permutation),
        first_(first_return(f->body)) {}

  const Function* run() {
    const Function* f = Rewriter::function(function_);
    if (permutation_.empty() || f->return_types.size() != permutation_.size()) return f;
    Function n = *f;
    n.return_types = ctx().list(permuted(f->return_types, permutation_));
    return ctx().make(n);
  }

  void stmt(const Stmt* s, std::vector<const Stmt*>& out) override {
    const auto* ret = dyn<ReturnStmt>(s);
    if (ret == nullptr) {
      Rewriter::stmt(s, out);
      return;
    }
    std::vector<const Expr*> values;
    const std::vector<int>& returned = tracer_.returned_params(function_);
    const bool tuple = ret == first_ && ret->values.size() == 1 && returned.size() > 1 &&
                       std::find(returned.begin(), returned.end(), ParamTracer::kNone) == returned.end();
    for (std::size_t i = 0; tuple && i < returned.size(); ++i) values.push_back(parameter(returned[i]));
    for (const Expr* value : tuple ? List<const Expr*>() : ret->values) {
      // Like the reference, which looks at the first return only: it is the one that callers are told by.
      const bool explicit_wanted = ret == first_ && dyn<TensorType>(value->type) != nullptr;
      const int param = explicit_wanted ? tracer_.param_of(function_, value) : ParamTracer::kNone;
      values.push_back(param != ParamTracer::kNone ? function_->params[static_cast<std::size_t>(param)].var
                                                   : value);
    }
    if (!permutation_.empty() && values.size() == permutation_.size()) {
      values = permuted(List<const Expr*>(values), permutation_);
    }
    if (std::equal(values.begin(), values.end(), ret->values.begin(), ret->values.end())) {
      out.push_back(s);
      return;
    }
    ReturnStmt n = *ret;
    n.values = ctx().list(values);
    out.push_back(ctx().make(n));
  }

 private:
  const Expr* parameter(int index) const { return function_->params[static_cast<std::size_t>(index)].var; }

  ParamTracer& tracer_;
  const Function* function_;
  const Permutation& permutation_;
  const ReturnStmt* first_;
};

using Permutations = std::unordered_map<Name, Permutation>;

// Reads of the results of reordered functions.
class CallerRewriter : public Rewriter {
 public:
  CallerRewriter(Context& context, const Permutations& permutations)
      : Rewriter(context), permutations_(permutations) {}

  const Expr* expr(const Expr* e) override {
    if (const auto* get = dyn<TupleGet>(e)) {
      const auto* var = dyn<Var>(get->tuple);
      const auto tracked = var != nullptr ? results_.find(var) : results_.end();
      const Permutation* p = tracked != results_.end() ? tracked->second : permutation_of(get->tuple);
      if (p != nullptr && get->index >= 0 && static_cast<std::size_t>(get->index) < p->size()) {
        TupleGet n = *static_cast<const TupleGet*>(children(e));
        n.index = static_cast<std::int64_t>((*p)[static_cast<std::size_t>(get->index)]);
        n.type = get->type;
        return ctx().make(n);
      }
    }
    const Permutation* p = permutation_of(e);
    if (p == nullptr) return Rewriter::expr(e);
    const Expr* n = children(e);
    const Type* ordered = reorder(n->type, *p);
    if (const auto* call = dyn<Call>(n)) return ctx().call_with_type(call, ordered);
    Submit submit = *static_cast<const Submit*>(n);
    submit.type = ordered;
    return ctx().make(submit);
  }

  void stmt(const Stmt* s, std::vector<const Stmt*>& out) override {
    const auto* assign = dyn<AssignStmt>(s);
    if (assign == nullptr) {
      Rewriter::stmt(s, out);
      return;
    }
    AssignStmt n = *assign;
    n.value = expr(assign->value);
    results_.erase(assign->var);
    if (const Permutation* p = permutation_of(assign->value)) {
      results_[assign->var] = p;
      const Type* ordered = reorder(assign->var->type, *p);
      if (ordered != assign->var->type) {
        n.var = ctx().var_like(assign->var, ordered);
        substitute(assign->var, n.var);
      }
    } else {
      n.var = define(assign->var);
    }
    out.push_back(n.value == assign->value && n.var == assign->var ? s : ctx().make(n));
  }

 private:
  const Permutation* permutation_of(const Expr* e) const {
    Name callee;
    if (const auto* call = dyn<Call>(e); call != nullptr && !call->is_op()) callee = call->function;
    if (const auto* submit = dyn<Submit>(e)) callee = submit->function;
    const auto found = permutations_.find(callee);
    return found != permutations_.end() ? &found->second : nullptr;
  }

  // The tuple of results in the new order; a submit's task id stays last.
  const Type* reorder(const Type* type, const Permutation& p) {
    const auto* tuple = dyn<TupleType>(type);
    if (tuple == nullptr || tuple->elements.size() < p.size()) return type;
    std::vector<const Type*> elements = permuted(tuple->elements.first(p.size()), p);
    elements.insert(elements.end(), tuple->elements.begin() + static_cast<std::ptrdiff_t>(p.size()),
                    tuple->elements.end());
    if (std::equal(elements.begin(), elements.end(), tuple->elements.begin())) return type;
    return ctx().tuple(ctx().list(elements));
  }

  const Permutations& permutations_;
  std::unordered_map<const Var*, const Permutation*> results_;
};

}  // namespace

const Program* run_NormalizeReturnOrder(PassEnv& env, const Program* program) {
  ParamTracer tracer(program);
  Permutations permutations;
  std::vector<const Function*> functions;
  for (const Function* f : program->functions) {
    if (!f->is_kernel() && !f->is_wrapper()) {
      functions.push_back(f);
      continue;
    }
    const Permutation permutation =
        f->is_kernel() ? order_of_returns(f, tracer.returned_params(f)) : Permutation{};
    functions.push_back(ReturnRewriter(env.ir, tracer, f, permutation).run());
    if (!permutation.empty()) permutations.emplace(f->name, permutation);
  }
  if (!permutations.empty()) {
    for (const Function*& f : functions) {
      if (!f->is_kernel()) f = CallerRewriter(env.ir, permutations).function(f);
    }
  }
  if (std::equal(functions.begin(), functions.end(), program->functions.begin())) return program;
  Program n = *program;
  n.functions = env.ir.list(functions);
  return env.ir.make(n);
}

}  // namespace pldc
