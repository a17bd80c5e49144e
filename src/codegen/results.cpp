#include "codegen/results.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "codegen/aliases.h"
#include "ir/rewrite.h"
#include "ir/walk.h"
#include "passes/function_call.h"

namespace pldc {
namespace {

// The new parameters of a function and where they stand.
struct Added {
  std::vector<std::size_t> results;  // numbers of the results that need one
  std::vector<const Expr*> values;   // what is returned there
  std::vector<const Var*> params;
  std::size_t position = 0;  // before the contexts
};

template <class T>
std::vector<T> with(List<T> list, std::size_t position, const std::vector<T>& more) {
  std::vector<T> out(list.begin(), list.end());
  out.insert(out.begin() + static_cast<std::ptrdiff_t>(std::min(position, out.size())), more.begin(),
             more.end());
  return out;
}

const Expr* zeros(Context& ir, std::size_t count) {
  return ir.make_tuple(ir.list(std::vector<const Expr*>(count, ir.const_int(0))));
}

// Whether the extents can be computed from those of the parameters.
bool is_bound(const TensorType* type, const Function* function) {
  std::unordered_set<const Expr*> known;
  for (const Param& p : function->params) {
    const auto* tensor = dyn<TensorType>(p.var->type);
    if (tensor != nullptr) known.insert(tensor->shape.begin(), tensor->shape.end());
  }
  bool bound = true;
  for (const Expr* extent : type->shape) {
    walk_expr(extent, [&](const Expr* e) {
      const bool leaf = e->kind == ExprKind::Var || e->kind == ExprKind::Call;
      if (leaf && !known.contains(e)) bound = false;
    });
  }
  return bound;
}

class ResultRewriter : public Rewriter {
 public:
  ResultRewriter(Context& context, const Program* program) : Rewriter(context), returned_(program) {
    std::unordered_set<Name> called, from_host;
    bool hosts = false;
    for (const Function* f : program->functions) {
      hosts = hosts || f->is_host_orchestrator();
      for_each_function_call(f->body, [&](const FunctionCall& call, const Expr*, const Stmt*) {
        if (call.callee != f->name) called.insert(call.callee);
        if (f->is_host_orchestrator()) from_host.insert(call.callee);
        if (call.is_submit) submitted_.insert(call.callee);
      });
    }
    for (const Function* f : program->functions) {
      if (f->is_kernel() || f->is_wrapper() || f->role == Role::SubWorker || submitted_.contains(f->name))
        continue;
      const bool started =
          f->is_host_orchestrator() || from_host.contains(f->name) || (!hosts && !called.contains(f->name));
      if (started) add_parameters(f);
    }
  }

  bool changes() const { return !added_.empty(); }

  const Function* function(const Function* f) override {
    const auto found = added_.find(f->name);
    current_ = found != added_.end() ? &found->second : nullptr;
    const Function* changed = Rewriter::function(f);
    if (current_ == nullptr) return changed;
    Function out = *changed;
    std::vector<Param> params;
    for (const Var* var : current_->params) params.push_back({var, ParamDirection::Out, {}});
    out.params = ctx().list(with(changed->params, current_->position, params));
    return ctx().make(out);
  }

  void stmt(const Stmt* s, std::vector<const Stmt*>& out) override {
    const auto* ret = dyn<ReturnStmt>(s);
    if (ret != nullptr && current_ != nullptr) return copy_results(ret, out);
    const auto* scope = dyn_scope(s, ScopeKind::Runtime);
    if (scope != nullptr && current_ != nullptr) return copy_in_scope(scope, out);
    const auto* assign = dyn<AssignStmt>(s);
    const auto* eval = dyn<EvalStmt>(s);
    const Expr* value = assign != nullptr ? assign->value : eval != nullptr ? eval->value : nullptr;
    const auto* call = value != nullptr ? dyn<Call>(value) : nullptr;
    const auto found = call != nullptr && !call->is_op() ? added_.find(call->function) : added_.end();
    if (found == added_.end()) return Rewriter::stmt(s, out);
    const Call* changed = with_results(static_cast<const Call*>(expr(call)), found->second, s->span, out);
    if (assign != nullptr) {
      out.push_back(ctx().assign(define(assign->var), changed, s->span));
    } else {
      out.push_back(ctx().eval(changed, s->span));
    }
  }

 private:
  void add_parameters(const Function* f) {
    const ReturnStmt* ret = first_return(f->body);
    if (ret == nullptr) return;
    const std::vector<int>& params = returned_.of(f);
    Added added;
    for (std::size_t i = 0; i < ret->values.size() && i < params.size(); ++i) {
      const auto* type = dyn<TensorType>(ret->values[i]->type);
      const bool written =
          params[i] >= 0 && f->params[static_cast<std::size_t>(params[i])].direction != ParamDirection::In;
      if (written || type == nullptr || is_distributed(type) || !is_bound(type, f)) continue;
      added.results.push_back(i);
      added.values.push_back(ret->values[i]);
      added.params.push_back(
          ctx().var(ctx().name(fmt::format("ret{}__out", i)), plain(type->dtype, type->shape), f->name_span));
    }
    if (added.results.empty()) return;
    while (added.position < f->params.size() &&
           f->params[added.position].var->type->kind != TypeKind::CommCtx) {
      ++added.position;
    }
    added_.emplace(f->name, std::move(added));
  }

  const Type* plain(DType dtype, List<const Expr*> shape) {
    return ctx().tensor(TypeKind::Tensor, dtype, shape);
  }

  const Stmt* copy(const Expr* value, const Var* param, Span span) {
    const auto rank = static_cast<const TensorType*>(param->type)->shape.size();
    const Call* call =
        ctx().call(OpId::tensor_assemble, ctx().list<const Expr*>({param, value, zeros(ctx(), rank)}), {}, {},
                   param->type, span);
    return ctx().assign(ctx().var(param->name, param->type, span), call, span);
  }

  // What is made in a scope goes away at its end.
  void copy_in_scope(const ScopeStmt* scope, std::vector<const Stmt*>& out) {
    Rewriter::stmt(scope, out);
    std::unordered_set<const Expr*> defined;
    walk_stmts(scope->body,
               [&](const Stmt* s) { for_each_def(s, [&](const Var* v) { defined.insert(v); }); });
    bool returns = false;
    walk_stmts(scope->body, [&](const Stmt* s) { returns = returns || s->kind == StmtKind::Return; });
    const auto* rewritten = static_cast<const ScopeStmt*>(out.back());
    std::vector<const Stmt*> body(rewritten->body.begin(), rewritten->body.end());
    for (std::size_t k = 0; k < current_->results.size() && !returns; ++k) {
      if (!defined.contains(current_->values[k]) || !copied_.insert(current_->params[k]).second) continue;
      body.push_back(copy(expr(current_->values[k]), current_->params[k], scope->span));
    }
    if (body.size() == rewritten->body.size()) return;
    ScopeStmt longer = *rewritten;
    longer.body = ctx().list(body);
    out.back() = ctx().make(longer);
  }

  void copy_results(const ReturnStmt* ret, std::vector<const Stmt*>& out) {
    std::vector<const Expr*> values;
    for (const Expr* value : ret->values) values.push_back(expr(value));
    for (std::size_t k = 0; k < current_->results.size(); ++k) {
      if (current_->results[k] >= values.size()) continue;
      const Expr*& value = values[current_->results[k]];
      const Var* param = current_->params[k];
      if (!copied_.contains(param)) out.push_back(copy(value, param, ret->span));
      value = param;
    }
    out.push_back(ctx().ret(ctx().list(values), ret->span));
  }

  // The call with tensors of the results' sizes, made before it.
  const Call* with_results(const Call* call, const Added& added, Span span, std::vector<const Stmt*>& out) {
    std::vector<const Expr*> made;
    for (std::size_t k = 0; k < added.results.size(); ++k) {
      const Type* type = call->type;
      const auto* tuple = dyn<TupleType>(type);
      if (tuple != nullptr && added.results[k] < tuple->elements.size())
        type = tuple->elements[added.results[k]];
      const auto* tensor = dyn<TensorType>(type);
      if (tensor == nullptr) tensor = static_cast<const TensorType*>(added.params[k]->type);
      const Type* plain_type = plain(tensor->dtype, tensor->shape);
      const Var* var = ctx().var(added.params[k]->name, plain_type, span);
      const Attr dtype{ctx().name("dtype"), AttrValue::of_dtype(tensor->dtype)};
      out.push_back(ctx().assign(
          var,
          ctx().call(OpId::tensor_create, ctx().list<const Expr*>({ctx().make_tuple(tensor->shape)}),
                     ctx().list({dtype}), {}, plain_type, span),
          span));
      made.push_back(var);
    }
    std::vector<Attr> attrs(call->attrs.begin(), call->attrs.end());
    for (Attr& attr : attrs) {
      if (attr.value.kind != AttrKind::ArgDirectionList) continue;
      const std::vector<ArgDirection> more(made.size(), ArgDirection::OutputExisting);
      attr.value.directions = ctx().list(with(attr.value.directions, added.position, more));
    }
    return ctx().call(call->function, ctx().list(with(call->args, added.position, made)), call->kwargs,
                      ctx().list(attrs), call->type, call->span);
  }

  ReturnedParams returned_;
  std::unordered_set<Name> submitted_;
  std::unordered_map<Name, Added> added_;
  const Added* current_ = nullptr;
  std::unordered_set<const Var*> copied_;
};

}  // namespace

const Program* results_to_parameters(Context& context, const Program* program) {
  ResultRewriter rewriter(context, program);
  return rewriter.changes() ? rewriter.program(program) : program;
}

}  // namespace pldc
