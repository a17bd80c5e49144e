// LowerCompositeOps (13): replaces collectives in kernels, and sine and cosine, by what they consist of.
//
// Everything behind it, code generation included, then knows loads, stores, signals and arithmetic only. Host
// functions keep their collectives: LowerHostTensorCollectives makes dispatches of them.
#include <fmt/format.h>

#include "ir/auto_name.h"
#include "ir/check_op.h"
#include "ir/describe.h"
#include "ir/rewrite.h"
#include "ir/walk.h"
#include "passes/lineage.h"
#include "passes/lower_composite/collectives.h"
#include "support/diag/op.h"
#include "support/diag/pass.h"

namespace pldc {

namespace {

using composite::Expansion;

class Lowering : public Rewriter {
 public:
  explicit Lowering(PassEnv& env) : Rewriter(env.ir), env_(env) {}

  const Function* function(const Function* f) override {
    if (f->is_host_orchestrator()) return f;
    counter_ = 0;
    const Body lowered = body(f->body);
    if (lowered.data() == f->body.data() && lowered.size() == f->body.size()) return f;
    Function n = *f;
    n.body = lowered;
    return ctx().make(n);
  }

  // Nothing but statements changes.
  const Expr* expr(const Expr* e) override { return e; }
  const Var* define(const Var* v) override { return v; }

  void stmt(const Stmt* s, std::vector<const Stmt*>& out) override {
    if (const auto* assign = dyn<AssignStmt>(s)) {
      if (const Call* call = composite_call(assign->value)) {
        const std::size_t first = out.size();
        const Expr* value = expand(call, auto_name_stem(assign->var->name.text()), out);
        if (value != nullptr) out.push_back(ctx().assign(assign->var, value, s->span));
        return keep_comments(s, out, first);
      }
    } else if (const auto* eval = dyn<EvalStmt>(s)) {
      if (const Call* call = composite_call(eval->value)) {
        const std::size_t first = out.size();
        expand(call, "eval", out);
        return keep_comments(s, out, first);
      }
    } else if (const auto* ret = dyn<ReturnStmt>(s)) {
      return lower_return(ret, out);
    }
    report_nested(s);
    out.push_back(rebuild(s));
  }

 private:
  const Call* composite_call(const Expr* e) const {
    const auto* call = dyn<Call>(e);
    return call != nullptr && composite::expander_of(call->op) != nullptr ? call : nullptr;
  }

  // Appends the expansion and returns the value; null after a report.
  const Expr* expand(const Call* call, std::string_view base, std::vector<const Stmt*>& out) {
    for (const Expr* arg : call->args) report_nested(arg);
    if (!check_call(env_.diags, call) || !has_known_operands(call)) return nullptr;
    Expansion expansion(env_, call, base, counter_);
    const Expr* value = composite::expander_of(call->op)(expansion);
    const auto& statements = expansion.statements();
    out.insert(out.end(), statements.begin(), statements.end());
    return value;
  }

  void lower_return(const ReturnStmt* s, std::vector<const Stmt*>& out) {
    std::vector<const Expr*> values(s->values.begin(), s->values.end());
    bool changed = false;
    for (std::size_t i = 0; i < values.size(); ++i) {
      const Call* call = composite_call(values[i]);
      if (call == nullptr) continue;
      const std::string base = fmt::format("ret{}", i);
      const Expr* value = expand(call, base, out);
      if (value == nullptr) return;
      const std::string name = build_auto_name(base, "result", NameRole::Tmp, counter_++);
      const Var* result = ctx().var(ctx().name(name), call->type, call->span);
      out.push_back(ctx().assign(result, value, call->span));
      values[i] = result;
      changed = true;
    }
    if (!changed) report_nested(s);
    out.push_back(changed ? ctx().ret(ctx().list(values), s->span, s->comments) : s);
  }

  // Comments go to the first statement that stands for the call.
  void keep_comments(const Stmt* s, std::vector<const Stmt*>& out, std::size_t first) {
    if (s->comments.empty() || first >= out.size()) return;
    const auto* leading = dyn<AssignStmt>(out[first]);
    if (leading == nullptr) return;
    AssignStmt n = *leading;
    n.comments = s->comments;
    out[first] = ctx().make(n);
  }

  // A collective inside another expression has no place for its statements; it would reach code generation, which
  // does not know it. Sine and cosine it does know.
  void report_nested(const Expr* root) {
    walk_expr(root, [&](const Expr* e) {
      const Call* call = as_collective(e);
      if (call == nullptr) return;
      env_.diags.report<diag::kernel_collective_nested>(call->span, collective_info(call->op)->name)
          .help("assign its result to a variable in a statement before (FlattenCallExpr does that)");
    });
  }
  void report_nested(const Stmt* s) {
    for_each_expr(s, [&](const Expr* root) { report_nested(root); });
  }

  // What an operand is decides what is made of it; in texts whose types are not known it may be anything.
  bool has_known_operands(const Call* call) {
    for (std::size_t i = 0; i < call->args.size(); ++i) {
      const Expr* arg = call->args[i];
      if (arg->type->kind != TypeKind::Unknown) continue;
      env_.diags.report<diag::op_operand_kind>(arg->span.valid() ? arg->span : call->span,
                                               op_info(call->op).operands[i].name, op_info(call->op).name,
                                               "a value of known type", describe(arg->type));
      return false;
    }
    return true;
  }

  PassEnv& env_;
  std::uint32_t counter_ = 0;  // of generated names, in one function
};

}  // namespace

const Program* run_LowerCompositeOps(PassEnv& env, const Program* program) {
  const std::uint32_t errors = env.diags.error_count();
  const Program* result = Lowering(env).program(program);
  return env.diags.error_count() == errors ? result : nullptr;
}

}  // namespace pldc
