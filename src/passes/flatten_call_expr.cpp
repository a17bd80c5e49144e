// FlattenCallExpr (7): binds each call that stands inside another expression to a temporary of its own. The
// later passes look at one call per statement only.
#include "ir/auto_name.h"
#include "ir/rewrite.h"
#include "ir/same.h"
#include "ir/walk.h"
#include "passes/pass.h"

namespace pldc {

namespace {

// The order in which temporaries are numbered is part of the result (passes.md 2.4): operands are flattened
// inside first and taken out afterwards, arguments one by one, the operands of a binary node both at the end.
class Flattener : public Rewriter {
 public:
  using Rewriter::Rewriter;

  const Function* function(const Function* f) override {
    count_ = 0;
    return Rewriter::function(f);
  }

  const Expr* expr(const Expr* e) override {
    if (!flattening_) return Rewriter::expr(e);
    switch (e->kind) {
      case ExprKind::Call: {
        const auto* call = static_cast<const Call*>(e);
        Call n = *call;
        n.args = arguments(call->args);
        const Renaming renaming(*this);
        n.kwargs = attrs(call->kwargs);
        n.attrs = attrs(call->attrs);
        n.type = type(call->type);
        const bool same = n.args.data() == call->args.data() && n.type == call->type &&
                          n.kwargs.data() == call->kwargs.data() && n.attrs.data() == call->attrs.data();
        return same ? e : ctx().make(n);
      }
      case ExprKind::Submit: {
        // Dependencies and launch specification stay as they are.
        const auto* submit = static_cast<const Submit*>(e);
        Submit n = *submit;
        n.args = arguments(submit->args);
        const Renaming renaming(*this);
        n.deps = exprs(submit->deps);
        if (n.core_num != nullptr) n.core_num = expr(n.core_num);
        if (n.predicate != nullptr) n.predicate = expr(n.predicate);
        n.attrs = attrs(submit->attrs);
        n.type = type(submit->type);
        const bool same = n.args.data() == submit->args.data() && n.deps.data() == submit->deps.data() &&
                          n.core_num == submit->core_num && n.predicate == submit->predicate &&
                          n.attrs.data() == submit->attrs.data() && n.type == submit->type;
        return same ? e : ctx().make(n);
      }
      case ExprKind::Binary: {
        const auto* binary = static_cast<const Binary*>(e);
        const Expr* lhs = expr(binary->lhs);
        const Expr* rhs = expr(binary->rhs);
        lhs = extract(lhs);
        rhs = extract(rhs);
        if (lhs == binary->lhs && rhs == binary->rhs) return e;
        Binary n = *binary;
        n.lhs = lhs;
        n.rhs = rhs;
        return ctx().make(n);
      }
      case ExprKind::Unary: {
        Unary n = *static_cast<const Unary*>(e);
        const Expr* operand = extract(expr(n.operand));
        if (operand == n.operand) return e;
        n.operand = operand;
        return ctx().make(n);
      }
      case ExprKind::Cast: {
        Cast n = *static_cast<const Cast*>(e);
        const Expr* operand = extract(expr(n.operand));
        if (operand == n.operand) return e;
        n.operand = operand;
        return ctx().make(n);
      }
      case ExprKind::Var:
      case ExprKind::ConstInt:
      case ExprKind::ConstFloat:
      case ExprKind::ConstBool:
      case ExprKind::MakeTuple:
      case ExprKind::TupleGet:
        return Rewriter::expr(e);
    }
    return e;
  }

  void stmt(const Stmt* s, std::vector<const Stmt*>& out) override {
    // Temporaries of this statement go in front of it, in the list it stands in.
    std::vector<const Stmt*>* const outer = out_;
    out_ = &out;
    const Stmt* n = flatten(s);
    out.push_back(n);
    out_ = outer;
  }

 private:
  // While it lives, expressions have variables replaced but keep their calls: types, keywords and attributes.
  class Renaming {
   public:
    explicit Renaming(Flattener& f) : f_(f), before_(f.flattening_) { f.flattening_ = false; }
    ~Renaming() { f_.flattening_ = before_; }
    Renaming(const Renaming&) = delete;
    Renaming& operator=(const Renaming&) = delete;

   private:
    Flattener& f_;
    bool before_;
  };

  const Expr* flat(const Expr* e) {
    flattening_ = true;
    const Expr* out = expr(e);
    flattening_ = false;
    return out;
  }
  const Expr* flat_value(const Expr* e) { return extract(flat(e)); }

  List<const Expr*> arguments(List<const Expr*> args) {
    std::vector<const Expr*> out;
    bool differs = false;
    for (const Expr* arg : args) {
      out.push_back(extract(expr(arg)));
      differs = differs || out.back() != arg;
    }
    return differs ? ctx().list(out) : args;
  }

  const Expr* extract(const Expr* e) { return e->kind == ExprKind::Call ? bind(e) : e; }
  const Expr* bind(const Expr* e) {
    const std::string name = build_auto_name("t", {}, NameRole::Tmp, count_++);
    const Var* temporary = ctx().var(ctx().name(name), e->type, e->span);
    out_->push_back(ctx().assign(temporary, e, e->span));
    return temporary;
  }

  // A type of the target that holds a call under an operator reads it on its own, before the value does.
  const Type* flat_type(const Type* t) {
    bool calls = false;
    for_each_type_expr(t, [&](const Expr* dim) {
      walk_expr(dim, [&](const Expr* e) { calls = calls || e->kind == ExprKind::Call; });
    });
    if (!calls) return type(t);
    flattening_ = true;
    const Type* out = t;
    if (const auto* tensor = dyn<TensorType>(t)) {
      const auto shape = exprs(tensor->shape);
      const TensorView* view = tensor->view;
      if (view != nullptr) {
        TensorView v = *view;
        v.valid_shape = exprs(v.valid_shape);
        v.stride = exprs(v.stride);
        view = ctx().make(v);
      }
      out = ctx().tensor(tensor->kind, tensor->dtype, shape, view, tensor->memref, tensor->window);
    } else if (const auto* tile = dyn<TileType>(t)) {
      const auto shape = exprs(tile->shape);
      const TileView* view = tile->view;
      if (view != nullptr) {
        TileView v = *view;
        v.valid_shape = exprs(v.valid_shape);
        v.stride = exprs(v.stride);
        view = ctx().make(v);
      }
      out = ctx().tile(tile->dtype, shape, tile->memref, tile->space, view);
    }
    flattening_ = false;
    return type(out);
  }

  const Stmt* flatten(const Stmt* s) {
    switch (s->kind) {
      case StmtKind::Assign: {
        AssignStmt n = *static_cast<const AssignStmt*>(s);
        const Type* target = flat_type(n.var->type);
        const Expr* value = flat(n.value);
        if (target != n.var->type) {
          const Var* fresh = ctx().var_like(n.var, target);
          // Both sides of the assignment agree afterwards if they did before.
          const auto* before = dyn<Call>(n.value);
          const auto* call = dyn<Call>(value);
          if (before != nullptr && call != nullptr && same_type(before->type, n.var->type)) {
            value = ctx().call_with_type(call, target);
          }
          substitute(n.var, fresh);
          n.var = fresh;
        } else if (value == n.value) {
          return s;
        }
        n.value = value;
        return ctx().make(n);
      }
      case StmtKind::Eval: {
        EvalStmt n = *static_cast<const EvalStmt*>(s);
        const Expr* value = flat(n.value);
        if (value == n.value) return s;
        n.value = value;
        return ctx().make(n);
      }
      case StmtKind::Return: {
        ReturnStmt n = *static_cast<const ReturnStmt*>(s);
        const auto values = flat_values(n.values, false);
        if (values.data() == n.values.data()) return s;
        n.values = values;
        return ctx().make(n);
      }
      case StmtKind::Yield: {
        YieldStmt n = *static_cast<const YieldStmt*>(s);
        const auto values = flat_values(n.values, true);
        if (values.data() == n.values.data()) return s;
        n.values = values;
        return ctx().make(n);
      }
      case StmtKind::If: {
        const auto* old = static_cast<const IfStmt*>(s);
        IfStmt n = *old;
        n.condition = flat_value(n.condition);
        return rebuild(n.condition == old->condition ? s : ctx().make(n));
      }
      case StmtKind::For: {
        const auto* old = static_cast<const ForStmt*>(s);
        ForStmt n = *old;
        n.iter_args = flat_inits(n.iter_args);
        n.start = flat(n.start);
        n.stop = flat(n.stop);
        n.step = flat(n.step);
        n.start = extract(n.start);
        n.stop = extract(n.stop);
        n.step = extract(n.step);
        const bool same = n.start == old->start && n.stop == old->stop && n.step == old->step &&
                          n.iter_args.data() == old->iter_args.data();
        return rebuild(same ? s : ctx().make(n));
      }
      case StmtKind::While: {
        // The reference reads the condition's calls once, before the loop, and so do we: they are sizes and
        // window facts, which do not change.
        const auto* old = static_cast<const WhileStmt*>(s);
        WhileStmt n = *old;
        n.iter_args = flat_inits(n.iter_args);
        n.condition = flat_value(n.condition);
        const bool same = n.condition == old->condition && n.iter_args.data() == old->iter_args.data();
        return rebuild(same ? s : ctx().make(n));
      }
      case StmtKind::Scope:
      case StmtKind::Break:
      case StmtKind::Continue:
      case StmtKind::Inline:
        return rebuild(s);
    }
    return s;
  }

  List<IterArg> flat_inits(List<IterArg> args) {
    std::vector<IterArg> out;
    bool differs = false;
    for (const IterArg& arg : args) {
      out.push_back({arg.var, flat(arg.init)});
      differs = differs || out.back().init != arg.init;
    }
    return differs ? ctx().list(out) : args;
  }

  List<const Expr*> flat_values(List<const Expr*> values, bool submits_too) {
    std::vector<const Expr*> out;
    bool differs = false;
    for (const Expr* value : values) {
      const Expr* v = flat_value(value);
      if (submits_too && v->kind == ExprKind::Submit) v = bind(v);
      out.push_back(v);
      differs = differs || v != value;
    }
    return differs ? ctx().list(out) : values;
  }

  bool flattening_ = false;
  std::uint32_t count_ = 0;
  std::vector<const Stmt*>* out_ = nullptr;
};

}  // namespace

const Program* run_FlattenCallExpr(PassEnv& env, const Program* program) {
  return Flattener(env.ir).program(program);
}

}  // namespace pldc
