// Simplify (5 and 45): folds integer expressions, branches and loops that are decided, and drops scalars nobody reads.
#include <algorithm>
#include <unordered_map>

#include "ir/rewrite.h"
#include "ir/walk.h"
#include "passes/map_functions.h"
#include "passes/pass.h"
#include "passes/simplify/analyzer.h"
#include "passes/simplify/dead_code.h"
#include "support/diag/pass.h"

namespace pldc {

namespace {

using simplify::Analyzer;
using simplify::int_dtype;
using simplify::Interval;

// A bound of a folded loop replaces the loop variable at every use. Beyond this size the loop stays: copies of copies
// could grow without limit.
constexpr std::size_t kMaxCopiedNodes = 32;

class Simplifier : public Rewriter {
 public:
  explicit Simplifier(PassEnv& env) : Rewriter(env.ir), diags_(env.diags), analyzer_(env.ir) {}

  const Function* run(const Function* f) {
    const auto count = [&](const Var* v) { ++definitions_[v]; };
    for (const Param& param : f->params) count(param.var);
    walk_stmts(f->body, [&](const Stmt* s) { for_each_def(s, count); });
    const Body simplified = body(f->body);
    const Function* result = f;
    if (simplified.data() != f->body.data() || simplified.size() != f->body.size()) {
      Function n = *f;
      n.body = simplified;
      result = ctx().make(n);
    }
    return simplify::remove_dead_code(ctx(), result);
  }

  const Expr* expr(const Expr* e) override {
    if (e->kind == ExprKind::Var || in_memref_) return Rewriter::expr(e);
    const Expr* n = is_logic(e) ? logic(static_cast<const Binary*>(e)) : children(e);
    check_divisor(n);
    if (const Call* view = op_call(n, OpId::tensor_view)) return without_view(view);
    return analyzer_.simplify(n);
  }

  // Types are entered even while no variable is replaced: their extents are expressions like others.
  const Type* type(const Type* t) override {
    bool plain = true;
    for_each_type_expr(t, [&](const Expr* e) { plain = plain && e->kind == ExprKind::ConstInt; });
    return plain ? t : rebuild(t);
  }

  void stmt(const Stmt* s, std::vector<const Stmt*>& out) override {
    analyzer_.trim();
    switch (s->kind) {
      case StmtKind::Assign:
        assign(static_cast<const AssignStmt*>(s), out);
        return;
      case StmtKind::If:
        branch(static_cast<const IfStmt*>(s), out);
        return;
      case StmtKind::For:
        loop(static_cast<const ForStmt*>(s), out);
        return;
      case StmtKind::While: {
        const Nested nested(*this);
        out.push_back(rebuild(s));
        return;
      }
      case StmtKind::Scope: {
        if (static_cast<const ScopeStmt*>(s)->scope != ScopeKind::Spmd) {
          out.push_back(rebuild(s));
          return;
        }
        const Nested nested(*this);
        out.push_back(rebuild(s));
        return;
      }
      case StmtKind::Eval: {
        EvalStmt n = *static_cast<const EvalStmt*>(s);
        const Expr* value = whole(n.value);
        if (value != n.value) {
          n.value = value;
          s = ctx().make(n);
        }
        out.push_back(s);
        return;
      }
      case StmtKind::Return:
      case StmtKind::Yield:
      case StmtKind::Break:
      case StmtKind::Continue:
      case StmtKind::Inline:
        out.push_back(rebuild(s));
        return;
    }
  }

  // Places in memory keep their form: what allocates memory has written it.
  const MemRef* memref(const MemRef* m) override {
    in_memref_ = true;
    const MemRef* result = Rewriter::memref(m);
    in_memref_ = false;
    return result;
  }

 private:
  // The body of a loop, a branch or an spmd scope: what is learned in it ends with it.
  class Nested {
   public:
    explicit Nested(Simplifier& s) : s_(s), scope_(s.analyzer_) { ++s_.depth_; }
    ~Nested() { --s_.depth_; }
    Nested(const Nested&) = delete;
    Nested& operator=(const Nested&) = delete;

   private:
    Simplifier& s_;
    Analyzer::Scope scope_;
  };

  // A value of a statement: once more than the nodes in it.
  const Expr* whole(const Expr* e) { return analyzer_.simplify(expr(e)); }

  static bool is_logic(const Expr* e) {
    const auto* binary = dyn<Binary>(e);
    return binary != nullptr && is_logical(binary->op);
  }
  // The right operand need not be evaluated.
  const Expr* logic(const Binary* e) {
    const Expr* lhs = expr(e->lhs);
    ++unsure_;
    const Expr* rhs = expr(e->rhs);
    --unsure_;
    if (lhs == e->lhs && rhs == e->rhs) return e;
    return ctx().binary_of_type(e->op, lhs, rhs, e->type, e->span);
  }
  void check_divisor(const Expr* e) {
    const auto* binary = dyn<Binary>(e);
    if (binary == nullptr || unsure_ > 0 || !int_dtype(e)) return;
    if (binary->op != BinaryOp::FloorDiv && binary->op != BinaryOp::FloorMod) return;
    if (!const_int(binary->lhs) || const_int(binary->rhs) != 0) return;
    diags_.report<diag::constant_zero_division>(
        e->span, binary->op == BinaryOp::FloorDiv ? "division" : "remainder of a division");
  }

  const Expr* without_view(const Call* view) {
    if (view->args.size() != 1) return view;
    const auto* from = dyn<TensorType>(view->args[0]->type);
    const auto* to = dyn<TensorType>(view->type);
    const auto layout = [](const TensorType* t) {
      return t->view != nullptr ? t->view->layout : TensorLayout::ND;
    };
    return from != nullptr && to != nullptr && layout(from) == layout(to) ? view->args[0] : view;
  }

  void assign(const AssignStmt* s, std::vector<const Stmt*>& out) {
    const Expr* value = whole(s->value);
    const Var* var = define(s->var);
    const AssignStmt* n = s;
    if (value != s->value || var != s->var) {
      AssignStmt copy = *s;
      copy.value = value;
      copy.var = var;
      n = ctx().make(copy);
    }
    out.push_back(n);
    learn(s->var, value);
  }

  // After `var = value`.
  void learn(const Var* var, const Expr* value) {
    const auto dtype = int_dtype(var);
    if (!dtype || !int_dtype(value) || definitions_[var] != 1) return;
    const auto constant = const_int(value);
    if (constant && depth_ == 0 && simplify::range_of(*dtype).contains(*constant)) {
      substitute(var, value);
    } else {
      // Not clipped to INDEX's [0, inf): `left = r - 1` may be negative, and the branch that asks must stay.
      const Interval possible = simplify::range_of(*dtype);
      analyzer_.bind(var, simplify::intersect(analyzer_.bounds(value), possible));
    }
  }

  // Whether the expression reads a variable that is assigned more than once.
  bool changes(const Expr* value) {
    bool found = false;
    walk_expr(value, [&](const Expr* e) {
      found = found || (e->kind == ExprKind::Var && definitions_[static_cast<const Var*>(e)] > 1);
    });
    return found;
  }
  // Whether the value may stand wherever the variable stood, any number of times. Lists of variables, as in attributes,
  // can hold only variables; numbers are not listed there.
  bool may_replace(const Var* var, const Expr* value) {
    const DType dtype = scalar_dtype(value->type).value_or(DType::TASK_ID);
    if (value->kind != ExprKind::Var && dtype == DType::TASK_ID) return false;
    std::size_t nodes = 0;
    bool calls = false;
    walk_expr(value, [&](const Expr* e) {
      ++nodes;
      calls = calls || e->kind == ExprKind::Call || e->kind == ExprKind::Submit;
    });
    return !calls && nodes <= kMaxCopiedNodes && definitions_[var] == 1 && !changes(value);
  }
  void assume(const Expr* condition) {
    if (!changes(condition)) analyzer_.assume(condition);
  }

  Body branch_body(Body b, const Expr* condition) {
    const Nested nested(*this);
    assume(condition);
    return body(b);
  }

  void branch(const IfStmt* s, std::vector<const Stmt*>& out) {
    const Expr* condition = whole(s->condition);
    const bool taken = analyzer_.proves(condition);
    const bool refuted = !taken && analyzer_.refutes(condition);
    if (taken) {
      splice(branch_body(s->then_body, condition), s->return_vars, out);
      return;
    }
    if (refuted) {
      splice(branch_body(s->else_body, analyzer_.negation(condition)), s->return_vars, out);
      return;
    }
    IfStmt n = *s;
    n.condition = condition;
    n.then_body = branch_body(s->then_body, condition);
    if (s->has_else) n.else_body = branch_body(s->else_body, analyzer_.negation(condition));
    n.return_vars = defines(s->return_vars);
    const auto same_list = [](auto a, auto b) { return a.data() == b.data() && a.size() == b.size(); };
    const bool same = n.condition == s->condition && same_list(n.then_body, s->then_body) &&
                      same_list(n.else_body, s->else_body) && same_list(n.return_vars, s->return_vars);
    out.push_back(same ? s : ctx().make(n));
  }

  // The statements of a body that runs exactly once; its results stand for what it yields.
  void splice(Body b, List<const Var*> results, std::vector<const Stmt*>& out) {
    for (const Stmt* s : b) {
      const auto* yield = dyn<YieldStmt>(s);
      if (yield == nullptr || s != b.back()) {
        out.push_back(s);
        continue;
      }
      for (std::size_t i = 0; i < results.size() && i < yield->values.size(); ++i) {
        result_is(results[i], yield->values[i], yield->span, out);
      }
    }
  }

  void result_is(const Var* result, const Expr* value, Span span, std::vector<const Stmt*>& out) {
    if (may_replace(result, value)) {
      substitute(result, value);
    } else {
      out.push_back(ctx().assign(define(result), value, span));
    }
  }

  void loop(const ForStmt* s, std::vector<const Stmt*>& out) {
    const Expr* start = whole(s->start);
    const Expr* stop = whole(s->stop);
    const Expr* step = whole(s->step);
    std::vector<const Expr*> inits;
    bool differs = start != s->start || stop != s->stop || step != s->step;
    for (const IterArg& arg : s->iter_args) {
      inits.push_back(whole(arg.init));
      differs = differs || inits.back() != arg.init;
    }
    if (s->for_kind == ForKind::Sequential && s->attrs.empty() && fold(s, start, stop, step, inits, out))
      return;

    ForStmt n = *s;
    n.start = start;
    n.stop = stop;
    n.step = step;
    std::vector<IterArg> iter_args;
    for (std::size_t i = 0; i < inits.size(); ++i) {
      iter_args.push_back({define(s->iter_args[i].var), inits[i]});
      differs = differs || iter_args.back().var != s->iter_args[i].var;
    }
    n.loop_var = define(s->loop_var);
    {
      const Nested nested(*this);
      learn_loop_var(s->loop_var, start, stop);
      n.body = body(s->body);
      forget(s->loop_var);
      if (n.loop_var != s->loop_var) substitute(s->loop_var, n.loop_var);
    }
    n.return_vars = defines(s->return_vars);
    n.attrs = attrs(s->attrs);
    differs = differs || n.body.data() != s->body.data() || n.body.size() != s->body.size() ||
              n.loop_var != s->loop_var || n.return_vars.data() != s->return_vars.data() ||
              n.attrs.data() != s->attrs.data();
    if (!differs) {
      out.push_back(s);
      return;
    }
    n.iter_args = ctx().list(iter_args);
    out.push_back(ctx().make(n));
  }

  void learn_loop_var(const Var* var, const Expr* start, const Expr* stop) {
    const auto first = const_int(start);
    const auto end = const_int(stop);
    if (!first || !end || *end <= *first || definitions_[var] != 1) return;
    if (*end == *first + 1) {
      substitute(var, start);
    } else {
      analyzer_.bind(var, {*first, *end - 1});
    }
  }

  // Whether a break or continue in the body belongs to the loop around it.
  static bool is_left_early(Body b) {
    return std::any_of(b.begin(), b.end(), [](const Stmt* s) {
      if (s->kind == StmtKind::Break || s->kind == StmtKind::Continue) return true;
      if (s->kind == StmtKind::For || s->kind == StmtKind::While) return false;
      bool found = false;
      for_each_body(s, [&](Body inner) { found = found || is_left_early(inner); });
      return found;
    });
  }

  // Fold B: a loop that surely runs zero times or once.
  bool fold(const ForStmt* s, const Expr* start, const Expr* stop, const Expr* step,
            const std::vector<const Expr*>& inits, std::vector<const Stmt*>& out) {
    const Expr* one = ctx().const_int(1, int_dtype(step).value_or(DType::INDEX), step->span);
    if (!int_dtype(start) || !int_dtype(stop) || !int_dtype(step)) return false;
    if (!analyzer_.proves(BinaryOp::Le, one, step)) return false;
    if (analyzer_.proves(BinaryOp::Le, stop, start)) {
      for (std::size_t i = 0; i < inits.size(); ++i) {
        const Var* result = s->return_vars[i];
        out.push_back(ctx().assign(define(result), inits[i], s->span));
        learn(result, inits[i]);
      }
      return true;
    }
    if (!may_replace(s->loop_var, start) || is_left_early(s->body)) return false;
    for (std::size_t i = 0; i < inits.size(); ++i) {
      if (!may_replace(s->iter_args[i].var, inits[i])) return false;
    }
    if (!analyzer_.proves(BinaryOp::Lt, start, stop)) return false;
    const Expr* next = analyzer_.simplify(ctx().binary(BinaryOp::Add, start, step, s->span));
    if (!analyzer_.proves(BinaryOp::Le, stop, next)) return false;
    substitute(s->loop_var, start);
    for (std::size_t i = 0; i < inits.size(); ++i) substitute(s->iter_args[i].var, inits[i]);
    splice(body(s->body), s->return_vars, out);
    return true;
  }

  DiagSink& diags_;
  Analyzer analyzer_;
  std::unordered_map<const Var*, int> definitions_;
  int depth_ = 0;
  int unsure_ = 0;  // depth of operands that may not be evaluated
  bool in_memref_ = false;
};

}  // namespace

const Program* run_Simplify(PassEnv& env, const Program* program) {
  return map_functions(env, program, [&](const Function* f) { return Simplifier(env).run(f); });
}

}  // namespace pldc
