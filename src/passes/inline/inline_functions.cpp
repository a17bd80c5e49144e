// InlineFunctions (1): puts the bodies of Inline functions where they are called, and drops these functions. First of
// all passes, so that everything after it sees only functions that exist at run time.
#include <algorithm>

#include "ir/rewrite.h"
#include "ir/walk.h"
#include "passes/inline/call_graph.h"
#include "passes/inline/dump_marks.h"
#include "passes/pass.h"
#include "passes/ssa/needs.h"
#include "support/diag/pass.h"
#include "support/diag/verify.h"

namespace pldc {

namespace {

using inlining::CallGraph;
using inlining::InlineFunction;
using Stmts = std::vector<const Stmt*>;

struct Shared {
  PassEnv& env;
  const CallGraph& graph;
  std::uint32_t number = 0;  // of the next variable
};

bool mentions(const Expr* e, const Var* var) {
  bool found = false;
  walk_expr(e, [&](const Expr* part) { found = found || part == var; });
  return found;
}

bool launches(const Expr* e) {
  bool found = false;
  walk_expr(e, [&](const Expr* part) {
    const auto* call = dyn<Call>(part);
    found = found || part->kind == ExprKind::Submit || (call != nullptr && !call->is_op());
  });
  return found;
}

// How often the variables of a function are bound and read; made when first asked.
class Uses {
 public:
  explicit Uses(const Function* f) : function_(f) {}

  int definitions(const Var* v) { return counts_of(v).definitions; }
  int reads(const Var* v) { return counts_of(v).reads; }
  int element_reads(const Var* v) { return counts_of(v).element_reads; }

 private:
  struct Counts {
    int definitions = 0;
    int reads = 0;
    int element_reads = 0;  // of v[i]; counted as reads too
  };
  Counts counts_of(const Var* v) {
    if (!counted_) count();
    const auto found = counts_.find(v);
    return found != counts_.end() ? found->second : Counts{};
  }
  void count() {
    counted_ = true;
    for (const Param& param : function_->params) ++counts_[param.var].definitions;
    walk_stmts(function_->body, [&](const Stmt* s) {
      for_each_def(s, [&](const Var* v) { ++counts_[v].definitions; });
      for_each_expr(s, [&](const Expr* root) {
        walk_expr(root, [&](const Expr* e) {
          if (const auto* var = dyn<Var>(e)) ++counts_[var].reads;
          if (const auto* get = dyn<TupleGet>(e)) {
            if (const auto* var = dyn<Var>(get->tuple)) ++counts_[var].element_reads;
          }
        });
      });
    });
  }

  const Function* function_;
  bool counted_ = false;
  std::unordered_map<const Var*, Counts> counts_;
};

// Rewrites one function, or one copy of an Inline function's body with parameters replaced and variables renamed.
class Splicer : public Rewriter {
 public:
  Splicer(Shared& shared, const Function* f, bool copy)
      : Rewriter(shared.env.ir), shared_(shared), function_(f), copy_(copy), uses_(f) {}

  Body body(Body b) override {
    lists_.push_back({b, 0});
    Stmts out;
    for (std::size_t i = 0; i < b.size(); ++i) {
      lists_.back().index = i;
      stmt(b[i], out);
    }
    lists_.pop_back();
    if (std::equal(out.begin(), out.end(), b.begin(), b.end())) return b;
    return ctx().list(out);
  }

  void stmt(const Stmt* s, Stmts& out) override {
    const Call* call = nullptr;
    if (const InlineFunction* callee = shared_.graph.called(s, call)) {
      splice(*callee, call, s, out);
      return;
    }
    const bool loop = s->kind == StmtKind::For || s->kind == StmtKind::While;
    if (loop) loops_.push_back(s);
    statement_ = s->span;
    Rewriter::stmt(s, out);
    if (loop) loops_.pop_back();
  }

  const Expr* expr(const Expr* e) override {
    if (const auto* get = dyn<TupleGet>(e)) {
      const auto found = elements_.find(dyn<Var>(get->tuple));
      if (found != elements_.end() && get->index >= 0 &&
          static_cast<std::size_t>(get->index) < found->second.size()) {
        return found->second[static_cast<std::size_t>(get->index)];
      }
    }
    const auto* call = dyn<Call>(e);
    const auto* submit = dyn<Submit>(e);
    const Name callee = submit != nullptr                   ? submit->function
                        : call != nullptr && !call->is_op() ? call->function
                                                            : Name{};
    if (const InlineFunction* f = callee.empty() ? nullptr : shared_.graph.find(callee)) {
      shared_.env.diags.report<diag::inline_call_left>(e->span.valid() ? e->span : statement_, callee.text())
          .note(f->function->name_span, "the Inline function")
          .help("bind the call to a variable in a statement of its own");
    }
    return Rewriter::expr(e);
  }

  const Var* define(const Var* v) override {
    if (!copy_) return Rewriter::define(v);
    // Two assignments of one variable share one new variable; an assigned parameter is the caller's variable.
    if (!v->is_iter_arg) {
      if (const auto* known = dyn<Var>(mapped(v))) return known;
    }
    const Var* n = v->is_iter_arg ? ctx().var_like(v, type(v->type)) : fresh(v, type(v->type));
    substitute(v, n);
    return n;
  }

 private:
  struct Frame {
    Body list;
    std::size_t index;
  };

  const Var* fresh(const Var* like, const Type* type) {
    const std::string name = std::string(like->name.text()) + "_inline" + std::to_string(shared_.number++);
    return ctx().var(ctx().name(name), type, like->span);
  }

  // Copies the called function's body to `out`, and hands its result to what the statement does with it.
  void splice(const InlineFunction& callee, const Call* call, const Stmt* s, Stmts& out) {
    const Function* f = callee.function;
    DiagSink& diags = shared_.env.diags;
    const Span place = call->span.valid() ? call->span : s->span;
    if (call->args.size() != f->params.size()) {
      diags.report<diag::inline_arguments>(place, f->name.text(), f->params.size(), call->args.size())
          .note(f->name_span, "the Inline function")
          .help("pass one argument for each parameter");
      return;
    }
    const auto* assign = dyn<AssignStmt>(s);
    if (s->kind != StmtKind::Eval && (callee.ret == nullptr || callee.ret->values.empty())) {
      diags.report<diag::inline_no_value>(place, f->name.text())
          .note(f->name_span, "the Inline function")
          .help("return the value, or call the function as a statement");
      return;
    }
    statement_ = s->span;
    const std::uint32_t first_var = ctx().var_count();
    const std::size_t first = out.size();
    Splicer copy(shared_, f, true);
    std::vector<const Expr*> args;
    for (const Expr* arg : call->args) args.push_back(expr(arg));
    for (std::size_t i = 0; i < args.size(); ++i) {
      bind_symbols(copy, f->params[i].var->type, args[i]->type);
      if (needs_copy(callee, call, args, i, s)) {
        const Var* own = fresh(f->params[i].var, args[i]->type);
        out.push_back(ctx().assign(own, args[i], place));
        copy.substitute(f->params[i].var, own);
      } else {
        copy.substitute(f->params[i].var, args[i]);
      }
    }
    const Body statements = f->body.first(f->body.size() - (callee.ret != nullptr ? 1 : 0));
    const Body copied = copy.body(statements);
    out.insert(out.end(), copied.begin(), copied.end());
    std::vector<const Expr*> values;
    for (std::size_t i = 0; callee.ret != nullptr && i < callee.ret->values.size(); ++i) {
      values.push_back(copy.expr(callee.ret->values[i]));
    }
    if (s->kind == StmtKind::Return) {
      out.push_back(ctx().ret(ctx().list(values), s->span));
    } else if (assign != nullptr && values.size() == 1 && dyn<TupleType>(values[0]->type) == nullptr) {
      const Var* target = define(assign->var);
      if (values[0] != target) out.push_back(ctx().assign(target, values[0], s->span));
    } else if (assign != nullptr) {
      take_elements(callee, assign, std::move(values), first_var, first, out);
    }
    if (const AttrValue* marks = find_attr(call->attrs, "dump_vars")) {
      std::vector<const Var*> marked;
      for (const Var* v : marks->vars) marked.push_back(use(v));
      inlining::move_dump_marks(ctx(), marked, first, out);
    }
  }

  // A symbol of a parameter's shape is what the argument has there.
  static void bind_symbols(Splicer& copy, const Type* param, const Type* arg) {
    const auto* wanted = dyn<TensorType>(param);
    const auto* given = dyn<TensorType>(arg);
    if (wanted == nullptr || given == nullptr || wanted->shape.size() != given->shape.size()) return;
    for (std::size_t i = 0; i < wanted->shape.size(); ++i) {
      const auto* symbol = dyn<Var>(wanted->shape[i]);
      if (symbol != nullptr && copy.mapped(symbol) == nullptr && symbol != given->shape[i])
        copy.substitute(symbol, given->shape[i]);
    }
  }

  // Whether the parameter must be a variable of its own rather than the argument wherever it occurs. The reference copies
  // nothing; it then changes the caller's variable where the callee assigns its parameter, which is right only if nobody
  // looks at that variable again, and runs a launch in an argument as often as the parameter is read.
  bool needs_copy(const InlineFunction& callee, const Call* call, const std::vector<const Expr*>& args,
                  std::size_t i, const Stmt* s) {
    const Param& param = callee.function->params[i];
    if (launches(args[i])) return true;
    if (callee.assigned.count(param.var) == 0) return false;
    const auto* var = dyn<Var>(args[i]);
    const auto* written = dyn<Var>(call->args[i]);
    if (var == nullptr || written == nullptr) return true;
    for (std::size_t k = 0; k < args.size(); ++k) {
      if (k != i && mentions(args[k], var)) return true;
    }
    const auto* assign = dyn<AssignStmt>(s);
    if (param.direction != ParamDirection::In) return false;  // the same memory under a new name
    if (assign != nullptr && assign->var == written) return false;
    if (is_param(written)) return s->kind != StmtKind::Return || copy_;
    for (const Stmt* loop : loops_) {
      const auto* counted = dyn<ForStmt>(loop);
      if (counted != nullptr && counted->loop_var == written) return true;
    }
    return needed_later(written);
  }
  bool is_param(const Var* v) const {
    return copy_ && std::any_of(function_->params.begin(), function_->params.end(),
                                [&](const Param& param) { return param.var == v; });
  }
  bool needed_later(const Var* v) {
    // The return of a copy stands in none of its lists.
    const auto* ret = copy_ ? dyn<ReturnStmt>(function_->body.back()) : nullptr;
    for (const Expr* value : ret != nullptr ? ret->values : List<const Expr*>()) {
      if (mentions(value, v)) return true;
    }
    for (const Frame& list : lists_) {
      if (needs_.needed_after(list.list, list.index, v)) return true;
    }
    for (const Stmt* loop : loops_) {
      const auto* condition = dyn<WhileStmt>(loop);
      if (condition != nullptr && mentions(condition->condition, v)) return true;
      bool again = false;
      for_each_body(loop, [&](Body b) { again = again || needs_.reads_from_outside(b, v); });
      if (again) return true;
    }
    return false;
  }

  // `target[i]` becomes the i-th returned expression.
  void take_elements(const InlineFunction& callee, const AssignStmt* assign, std::vector<const Expr*> values,
                     std::uint32_t first_var, std::size_t first, Stmts& out) {
    if (values.size() == 1 && !unpack(values, first, out)) {
      shared_.env.diags.report<diag::inline_tuple_value>(callee.ret->span, callee.function->name.text())
          .note(assign->span, "called here")
          .help("return the values one by one: return a, b");
      return;
    }
    const bool in_sequence = !copy_ && read_in_sequence(assign->var, values);
    for (const Expr*& value : values) {
      bool may_change = false;
      walk_expr(value, [&](const Expr* e) {
        const auto* v = dyn<Var>(e);
        may_change = may_change || (v != nullptr && v->id < first_var && (copy_ || uses_.definitions(v) > 1));
      });
      if (!may_change || in_sequence) continue;
      const Var* own = fresh(assign->var, value->type);
      out.push_back(ctx().assign(own, value, assign->span));
      value = own;
    }
    if (uses_.reads(assign->var) > uses_.element_reads(assign->var)) {
      out.push_back(ctx().assign(define(assign->var), ctx().make_tuple(ctx().list(values), assign->span),
                                 assign->span));
    }
    elements_[assign->var] = std::move(values);
  }

  // The elements of the one value, which has a tuple type, in place of it.
  static bool unpack(std::vector<const Expr*>& values, std::size_t first, Stmts& out) {
    const auto* tuple = dyn<MakeTuple>(values[0]);
    const auto* var = dyn<Var>(values[0]);
    for (std::size_t i = out.size(); tuple == nullptr && var != nullptr && i-- > first;) {
      const auto* made = dyn<AssignStmt>(out[i]);
      if (made == nullptr || made->var != var) continue;
      tuple = dyn<MakeTuple>(made->value);
      if (tuple == nullptr) return false;
      out.erase(out.begin() + static_cast<std::ptrdiff_t>(i));
    }
    if (tuple == nullptr) return false;
    values.assign(tuple->elements.begin(), tuple->elements.end());
    return true;
  }

  // Whether the statements directly behind this one are all that read the elements, and none of them assigns what a
  // later one of them reads.
  bool read_in_sequence(const Var* tuple, const std::vector<const Expr*>& values) {
    const Frame& at = lists_.back();
    std::vector<const Var*> assigned;
    int reads = 0;
    for (std::size_t k = at.index + 1; k < at.list.size(); ++k) {
      const auto* next = dyn<AssignStmt>(at.list[k]);
      const auto* get = next != nullptr ? dyn<TupleGet>(next->value) : nullptr;
      if (get == nullptr || get->tuple != tuple || get->index < 0 ||
          static_cast<std::size_t>(get->index) >= values.size()) {
        break;
      }
      for (const Var* v : assigned) {
        if (mentions(values[static_cast<std::size_t>(get->index)], v)) return false;
      }
      assigned.push_back(next->var);
      ++reads;
    }
    return reads == uses_.reads(tuple);
  }

  Shared& shared_;
  const Function* function_;
  bool copy_;
  Uses uses_;
  ssa::Needs needs_;
  Span statement_;
  std::vector<Frame> lists_;        // around the statement at hand
  std::vector<const Stmt*> loops_;  // the same
  std::unordered_map<const Var*, std::vector<const Expr*>> elements_;
};

}  // namespace

const Program* run_InlineFunctions(PassEnv& env, const Program* program) {
  const CallGraph graph(program);
  if (graph.empty()) return program;
  if (!graph.check(program, env.diags)) return nullptr;
  const std::uint32_t errors = env.diags.error_count();
  Shared shared{env, graph};
  std::vector<const Function*> functions;
  for (const Function* f : program->functions) {
    if (f->func_type != FuncType::Inline) functions.push_back(Splicer(shared, f, false).function(f));
  }
  if (env.diags.error_count() != errors) return nullptr;
  Program n = *program;
  n.functions = env.ir.list(functions);
  return env.ir.make(n);
}

}  // namespace pldc
