#include "passes/control_flow/jumps.h"

#include <algorithm>
#include <unordered_set>

#include "ir/auto_name.h"
#include "ir/rewrite.h"
#include "ir/walk.h"
#include "passes/trace.h"
#include "support/diag/pass.h"

namespace pldc {

namespace {

using Stmts = std::vector<const Stmt*>;

// Each jump nests the statements after it one level deeper, and a text is read to a limited depth only.
constexpr int kMaxJumpDepth = 64;

bool is_loop(const Stmt* s) { return s->kind == StmtKind::For || s->kind == StmtKind::While; }

void append(Stmts& out, Body list) { out.insert(out.end(), list.begin(), list.end()); }

// Statements that a rewriting made and has to know again.
using Made = std::unordered_set<const Stmt*>;

class LoopVariable : public Rewriter {
 public:
  LoopVariable(Context& context, Made& made, const Var* from, const Var* to)
      : Rewriter(context), made_(made) {
    substitute(from, to);
  }
  void stmt(const Stmt* s, Stmts& out) override {
    Rewriter::stmt(s, out);
    if (made_.count(s) != 0) made_.insert(out.back());
  }

 private:
  Made& made_;
};

class JumpLowering : public Rewriter {
 public:
  JumpLowering(Context& context, DiagSink& diags, const std::function<bool(const Stmt*)>& wanted)
      : Rewriter(context), diags_(diags), wanted_(wanted) {}

  void stmt(const Stmt* s, Stmts& out) override {
    const bool lowered = is_loop(s) && wanted_(s);
    const Stmt* n = rebuild(s);  // inner loops first
    if (!lowered) {
      out.push_back(n);
      return;
    }
    if (const auto* loop = dyn<ForStmt>(n)) {
      lower_for(loop, out);
    } else {
      lower_while(static_cast<const WhileStmt*>(n), out);
    }
  }

 private:
  // --- what is known about the loop at hand
  struct Loop {
    List<IterArg> carries;
    std::vector<const Expr*> yielded;  // by the end of the body
    StmtKind jump = StmtKind::Break;   // which jump is being replaced
    int depth = 0;
    bool refused = false;
  };

  const Var* variable(std::string_view base, NameRole role, const Type* type, Span span) {
    return ctx().var(ctx().name(build_auto_name(base, {}, role, count_++)), type, span);
  }
  const Var* flag(std::string_view base, Span span) {
    return variable(base, NameRole::Tmp, ctx().scalar(DType::BOOL), span);
  }
  const Stmt* set(const Var* var, bool value, Span span) {
    return ctx().assign(var, ctx().const_bool(value, span), span);
  }

  void lower_while(const WhileStmt* loop, Stmts& out) {
    WhileStmt n = *loop;
    loop_ = {};
    loop_.carries = loop->iter_args;
    Stmts body = without_continue(loop->body);
    if (has(body, StmtKind::Break)) {
      const Var* left = flag("break", loop->span);
      out.push_back(set(left, false, loop->span));
      body = without_break(body, left);
      n.condition = and_not(loop->condition, left);
      n.comments = {};
    }
    n.body = ctx().list(body);
    out.push_back(ctx().make(n));
  }

  void lower_for(const ForStmt* loop, Stmts& out) {
    loop_ = {};
    loop_.carries = loop->iter_args;
    Stmts body = without_continue(loop->body);
    if (!has(body, StmtKind::Break) || loop->for_kind != ForKind::Sequential) {
      ForStmt n = *loop;
      n.body = ctx().list(body);
      out.push_back(ctx().make(n));
      return;
    }
    const Span span = loop->span;
    const Var* left = flag("break", span);
    const Var* index = variable(parse_auto_name(loop->loop_var->name.text()).base, NameRole::Idx,
                                loop->loop_var->type, loop->loop_var->span);
    if (const_int(loop->step) == 0) {
      diags_.report<diag::loop_step_zero>(loop->step->span.valid() ? loop->step->span : span);
    }
    const Assigned assigned(loop->body);
    const Expr* stop = kept(loop->stop, "stop", assigned, out);
    const Expr* step = kept(loop->step, "step", assigned, out);
    out.push_back(ctx().assign(index, loop->start, span));
    out.push_back(set(left, false, span));

    if (assigned.has(loop->loop_var)) {
      // The body may change its own copy; the count goes on from the loop's.
      body.insert(body.begin(), ctx().assign(loop->loop_var, index, span));
    } else {
      const Body replaced = LoopVariable(ctx(), made_, loop->loop_var, index).body(ctx().list(body));
      body.assign(replaced.begin(), replaced.end());
    }
    body = without_break(body, left);
    const YieldStmt* yield = nullptr;
    if (carries() && !body.empty() && body.back()->kind == StmtKind::Yield) {
      const auto* last = static_cast<const YieldStmt*>(body.back());
      body.pop_back();
      yield = bound(last, body);
    }
    body.push_back(
        guard(left, {ctx().assign(index, ctx().binary(BinaryOp::Add, index, step, span), span)}, span));
    if (yield != nullptr) body.push_back(yield);

    WhileStmt n{};
    n.kind = StmtKind::While;
    n.span = span;
    n.condition = and_not(in_range(index, stop, step, span), left);
    n.iter_args = loop->iter_args;
    n.return_vars = loop->return_vars;
    n.body = ctx().list(body);
    out.push_back(ctx().make(n));
  }

  // The variables that a body assigns.
  class Assigned {
   public:
    explicit Assigned(Body body) {
      walk_stmts(body, [&](const Stmt* s) { for_each_def(s, [&](const Var* v) { vars_.insert(v); }); });
    }
    bool has(const Var* v) const { return vars_.count(v) != 0; }

   private:
    std::unordered_set<const Var*> vars_;
  };

  // A while reads its condition anew each time, a for its bounds once: what may change is read before the loop.
  const Expr* kept(const Expr* bound, std::string_view name, const Assigned& assigned, Stmts& out) {
    bool changes = false;
    walk_expr(bound, [&](const Expr* e) {
      const auto* var = dyn<Var>(e);
      changes = changes || e->kind == ExprKind::Call || (var != nullptr && assigned.has(var));
    });
    if (!changes) return bound;
    const Var* copy = variable(name, NameRole::Tmp, bound->type, bound->span);
    out.push_back(ctx().assign(copy, bound, bound->span));
    return copy;
  }

  const Expr* in_range(const Var* index, const Expr* stop, const Expr* step, Span span) {
    const Expr* up = ctx().binary(BinaryOp::Lt, index, stop, span);
    if (const auto value = const_int(step)) {
      return *value > 0 ? up : ctx().binary(BinaryOp::Gt, index, stop, span);
    }
    if (const auto* negative = dyn<Unary>(step);
        negative != nullptr && negative->op == UnaryOp::Neg && const_int(negative->operand).value_or(0) > 0) {
      return ctx().binary(BinaryOp::Gt, index, stop, span);
    }
    const Expr* zero = ctx().const_int(0, scalar_dtype(step->type).value_or(DType::INDEX), span);
    const Expr* down = ctx().binary(BinaryOp::Gt, index, stop, span);
    return ctx().binary(
        BinaryOp::Or, ctx().binary(BinaryOp::And, ctx().binary(BinaryOp::Gt, step, zero, span), up, span),
        ctx().binary(BinaryOp::And, ctx().binary(BinaryOp::Lt, step, zero, span), down, span), span);
  }

  const Expr* and_not(const Expr* condition, const Var* left) {
    return ctx().binary(BinaryOp::And, condition, ctx().unary(UnaryOp::Not, left, condition->span),
                        condition->span);
  }
  const Stmt* guard(const Var* left, const Stmts& rest, Span span) {
    IfStmt n{};
    n.kind = StmtKind::If;
    n.span = span;
    n.condition = ctx().unary(UnaryOp::Not, left, span);
    n.then_body = ctx().list(rest);
    return ctx().make(n);
  }

  // The yield with its computed values bound to variables: they may read the loop variable, which changes before it.
  const YieldStmt* bound(const YieldStmt* yield, Stmts& out) {
    std::vector<const Expr*> values;
    bool differs = false;
    for (const Expr* value : yield->values) {
      if (value->kind != ExprKind::Var) {
        const Var* v = variable("yield", NameRole::Tmp, value->type, yield->span);
        out.push_back(ctx().assign(v, value, yield->span));
        value = v;
        differs = true;
      }
      values.push_back(value);
    }
    return differs ? ctx().yield(ctx().list(values), yield->span, yield->comments) : yield;
  }

  // --- bodies
  Stmts without_continue(Body body) {
    Stmts list(body.begin(), body.end());
    return has(list, StmtKind::Continue) ? without(StmtKind::Continue, list, nullptr) : list;
  }
  Stmts without_break(const Stmts& list, const Var* left) { return without(StmtKind::Break, list, left); }
  Stmts without(StmtKind jump, const Stmts& list, const Var* flag) {
    loop_.jump = jump;
    const YieldStmt* yield = trailing_yield(Body(list.data(), list.size()));
    loop_.yielded.clear();
    if (yield != nullptr) loop_.yielded.assign(yield->values.begin(), yield->values.end());
    defined_.clear();
    return lowered(list, flag);
  }

  static bool has(const Stmts& list, StmtKind kind) {
    return std::any_of(list.begin(), list.end(), [&](const Stmt* s) { return has_jump(s, kind); });
  }
  bool jumps(const Stmt* s) const { return has_jump(s, loop_.jump); }

  // What the loop's end would yield if the iteration ended here: the yielded variable if it has its value already, else
  // the carry.
  const Stmt* available(Span span) {
    std::vector<const Expr*> values;
    for (std::size_t i = 0; i < loop_.carries.size(); ++i) {
      const Var* v = i < loop_.yielded.size() ? dyn<Var>(loop_.yielded[i]) : nullptr;
      const bool ready = v != nullptr && std::find(defined_.begin(), defined_.end(), v) != defined_.end();
      values.push_back(ready ? v : loop_.carries[i].var);
    }
    return ctx().yield(ctx().list(values), span);
  }
  bool carries() const { return !loop_.carries.empty(); }

  // Whether the list ends with the jump, apart from a yield that a rewriting put behind it.
  bool ends_with_jump(Body list) const {
    std::size_t n = list.size();
    if (n > 1 && list[n - 1]->kind == StmtKind::Yield) --n;
    return n > 0 && list[n - 1]->kind == loop_.jump;
  }

  // The list without the jumps of the kind at hand. `flag`: set where one was. A list on the way to the loop's end ends
  // with the yield of the carries, and so does the result; so do, if there are carries, all branches made.
  Stmts lowered(const Stmts& list, const Var* flag) {
    Stmts out;
    const std::size_t mark = defined_.size();
    for (std::size_t k = 0; k < list.size(); ++k) {
      const Stmt* s = list[k];
      if (!jumps(s)) {
        out.push_back(s);
        for_each_def(s, [&](const Var* v) { defined_.push_back(v); });
        continue;
      }
      if (s->kind == loop_.jump) {
        if (flag != nullptr) out.push_back(set(flag, true, s->span));
        if (carries()) out.push_back(available(s->span));
        break;
      }
      if (loop_.depth == kMaxJumpDepth) {
        if (!loop_.refused) {
          diags_.report<diag::too_many_jumps>(s->span, kMaxJumpDepth)
              .help("join the conditions, or move part of the body into a function");
        }
        loop_.refused = true;
        break;
      }
      ++loop_.depth;
      const Stmts rest(list.begin() + static_cast<std::ptrdiff_t>(k) + 1, list.end());
      if (const auto* branch = dyn<IfStmt>(s)) {
        lower_if(branch, rest, flag, out);
      } else {
        lower_scope(static_cast<const ScopeStmt*>(s), rest, flag, out);
      }
      --loop_.depth;
      break;
    }
    defined_.resize(mark);
    return out;
  }

  void lower_if(const IfStmt* s, const Stmts& rest, const Var* flag, Stmts& out) {
    const bool ours = !s->return_vars.empty() && made_.count(s) != 0;
    if (!s->return_vars.empty() && !ours) s = with_assignments(s);
    const bool then_jumps = !ours && ends_with_jump(s->then_body);
    const bool else_jumps = !ours && ends_with_jump(s->else_body);
    Stmts then_list(s->then_body.begin(), s->then_body.end());
    Stmts else_list(s->else_body.begin(), s->else_body.end());
    if (then_jumps || else_jumps) {
      // The way on goes through the other branch alone: the rest moves there.
      if (!then_jumps) append(then_list, rest);
      if (!else_jumps) append(else_list, rest);
      Stmts then_out = lowered(then_list, flag);
      finish(make_if(s, std::move(then_out), lowered(else_list, flag), true), out);
      return;
    }
    if (carries() && !ours) {
      // Never read if the branch is passed without a jump, but each end of the branch needs values.
      then_list.push_back(available(s->span));
      else_list.push_back(available(s->span));
    }
    const Var* own = flag;
    if (own == nullptr && !rest.empty()) {
      own = this->flag("continue", s->span);
      out.push_back(set(own, false, s->span));
    }
    Stmts then_out = lowered(then_list, own);
    Stmts else_out = lowered(else_list, own);
    IfStmt n = *s;
    n.then_body = ctx().list(then_out);
    n.else_body = ctx().list(else_out);
    n.has_else = s->has_else || carries() || loop_.jump == StmtKind::Break;
    n.comments = {};
    if (carries() && !ours) n.return_vars = phis(n.then_body);
    const IfStmt* made = ctx().make(n);
    made_.insert(made);
    out.push_back(made);
    guard_rest(made->return_vars, rest, own, s->span, out);
  }

  // Scopes that do not become functions of their own.
  void lower_scope(const ScopeStmt* s, const Stmts& rest, const Var* flag, Stmts& out) {
    if (carries() || !yields_pass_through(s->scope)) {
      const Stmt* jump = first_jump(s->body);
      diags_.report<diag::jump_out_of_scope>(jump->span, jump->kind == StmtKind::Break ? "break" : "continue")
          .note(s->span, "the with")
          .help("compute the condition inside the with, and jump after it");
      return;
    }
    const Var* own = flag;
    if (own == nullptr && !rest.empty()) {
      own = this->flag("continue", s->span);
      out.push_back(set(own, false, s->span));
    }
    ScopeStmt n = *s;
    n.body = ctx().list(lowered(Stmts(s->body.begin(), s->body.end()), own));
    out.push_back(ctx().make(n));
    guard_rest({}, rest, own, s->span, out);
  }

  // `rest` unless the flag is set. `results`: what the statement before gives for the carries.
  void guard_rest(List<const Var*> results, const Stmts& rest, const Var* flag, Span span, Stmts& out) {
    if (rest.empty()) return;
    std::vector<const Expr*> values(results.begin(), results.end());
    if (rest.size() == 1 && rest[0]->kind == StmtKind::Yield) {
      const auto* yield = static_cast<const YieldStmt*>(rest[0]);
      if (std::equal(values.begin(), values.end(), yield->values.begin(), yield->values.end())) {
        out.push_back(yield);
        return;
      }
    }
    const auto* old = static_cast<const IfStmt*>(guard(flag, {}, span));
    Stmts other;
    if (carries()) other.push_back(ctx().yield(ctx().list(values), span));
    finish(make_if(old, lowered(rest, flag), std::move(other), false), out);
  }

  // The if with these branches; with results if there are carries, which both branches then yield.
  const IfStmt* make_if(const IfStmt* like, Stmts then_out, Stmts else_out, bool has_else) {
    IfStmt n = *like;
    if (!carries() && loop_.jump == StmtKind::Break) {
      then_out.push_back(ctx().yield({}, like->span));
      else_out.push_back(ctx().yield({}, like->span));
    }
    n.then_body = ctx().list(then_out);
    n.else_body = ctx().list(else_out);
    n.has_else = has_else || !else_out.empty();
    n.comments = {};
    if (carries()) n.return_vars = phis(ends_with_values(then_out) ? n.then_body : n.else_body);
    const IfStmt* made = ctx().make(n);
    made_.insert(made);
    return made;
  }
  // Whether the list's yield names values of the body rather than the carries alone.
  bool ends_with_values(const Stmts& list) const {
    const auto* yield = list.empty() ? nullptr : dyn<YieldStmt>(list.back());
    if (yield == nullptr) return false;
    for (std::size_t i = 0; i < yield->values.size() && i < loop_.carries.size(); ++i) {
      if (yield->values[i] != loop_.carries[i].var) return true;
    }
    return false;
  }

  void finish(const IfStmt* made, Stmts& out) {
    out.push_back(made);
    if (!carries()) return;
    const std::vector<const Expr*> values(made->return_vars.begin(), made->return_vars.end());
    out.push_back(ctx().yield(ctx().list(values), made->span));
  }

  List<const Var*> phis(Body branch) {
    std::vector<const Var*> out;
    const YieldStmt* yield = trailing_yield(branch);
    for (std::size_t i = 0; i < loop_.carries.size(); ++i) {
      const Expr* value = yield != nullptr && i < yield->values.size() ? yield->values[i] : nullptr;
      const auto* v = dyn<Var>(value);
      const std::string_view base = v != nullptr ? parse_auto_name(v->name.text()).base : "phi";
      out.push_back(variable(base, NameRole::Phi, loop_.carries[i].var->type, loop_.carries[i].var->span));
    }
    return ctx().list(out);
  }

  // The same if with assignments of its results in place of its yields.
  const IfStmt* with_assignments(const IfStmt* s) {
    const auto assigned = [&](Body branch) {
      Stmts out(branch.begin(), branch.end());
      const auto* yield = out.empty() ? nullptr : dyn<YieldStmt>(out.back());
      if (yield == nullptr) return branch;
      out.pop_back();
      for (std::size_t i = 0; i < yield->values.size() && i < s->return_vars.size(); ++i) {
        out.push_back(ctx().assign(s->return_vars[i], yield->values[i], yield->span));
      }
      return ctx().list(out);
    };
    IfStmt n = *s;
    n.then_body = assigned(s->then_body);
    n.else_body = assigned(s->else_body);
    n.return_vars = {};
    return ctx().make(n);
  }

  DiagSink& diags_;
  const std::function<bool(const Stmt*)>& wanted_;
  std::uint32_t count_ = 0;
  Loop loop_;
  std::vector<const Var*> defined_;  // on the way to the statement at hand
  Made made_;                        // ifs whose results, if any, are the carries
};

}  // namespace

bool has_jump(const Stmt* stmt, StmtKind kind) {
  if (stmt->kind == kind) return true;
  if (is_loop(stmt)) return false;
  bool found = false;
  for_each_body(stmt, [&](Body body) {
    for (const Stmt* s : body) found = found || has_jump(s, kind);
  });
  return found;
}

const Stmt* first_jump(Body body) {
  for (const Stmt* s : body) {
    if (s->kind == StmtKind::Break || s->kind == StmtKind::Continue) return s;
    if (is_loop(s)) continue;
    const Stmt* inner = nullptr;
    for_each_body(s, [&](Body b) {
      if (inner == nullptr) inner = first_jump(b);
    });
    if (inner != nullptr) return inner;
  }
  return nullptr;
}

bool has_jump(Body body) { return first_jump(body) != nullptr; }

const Function* lower_jumps(Context& context, DiagSink& diags, const Function* function,
                            const std::function<bool(const Stmt* loop)>& wanted) {
  return JumpLowering(context, diags, wanted).function(function);
}

}  // namespace pldc
