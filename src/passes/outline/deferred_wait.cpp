#include "ir/walk.h"
#include "passes/outline/outliner.h"
#include "support/diag/pass.h"

namespace pldc::outlining {

namespace {

constexpr std::int64_t kMaxWaits = 64;

bool has_wait(const Expr* e) {
  bool found = false;
  walk_expr(
      e, [&](const Expr* part) { found = found || op_call(part, OpId::pld_system_defer_wait) != nullptr; });
  return found;
}
bool has_wait(Body body) {
  bool found = false;
  walk_stmts(body,
             [&](const Stmt* s) { for_each_expr(s, [&](const Expr* e) { found = found || has_wait(e); }); });
  return found;
}

class Checker {
 public:
  explicit Checker(DiagSink& diags) : diags_(diags) {}

  // The number of waits that the list registers.
  std::int64_t list(Body body) {
    std::int64_t waits = 0;
    for (const Stmt* s : body) waits = std::min(waits + stmt(s), std::int64_t{1} << 40);
    return waits;
  }

 private:
  void refuse(const Stmt* s, std::string_view what) {
    diags_.report<diag::deferred_wait_body>(s->span, what)
        .help("do this in a kernel that is launched before");
  }

  std::int64_t stmt(const Stmt* s) {
    switch (s->kind) {
      case StmtKind::Eval: {
        const Expr* value = static_cast<const EvalStmt*>(s)->value;
        if (op_call(value, OpId::pld_system_defer_wait) == nullptr) {
          refuse(s, "other calls as statements");
          return 0;
        }
        registered_ = true;
        return 1;
      }
      case StmtKind::Assign: {
        const auto* assign = static_cast<const AssignStmt*>(s);
        if (has_wait(assign->value)) {
          refuse(s, "a wait inside another expression");
        } else if (assign->var->type->kind != TypeKind::Scalar) {
          refuse(s, "tensor-valued assignments");
        } else if (registered_ && op_call(assign->value, OpId::tensor_read) != nullptr) {
          refuse(s, "a read of a tensor after the first wait");
        }
        return 0;
      }
      case StmtKind::If: {
        const auto* branch = static_cast<const IfStmt*>(s);
        const std::int64_t then_waits = list(branch->then_body);
        return std::max(then_waits, list(branch->else_body));
      }
      case StmtKind::For:
        return loop(static_cast<const ForStmt*>(s));
      case StmtKind::Yield:
        return 0;
      case StmtKind::Return:
      case StmtKind::Break:
      case StmtKind::Continue:
      case StmtKind::While:
      case StmtKind::Scope:
      case StmtKind::Inline:
        refuse(s, "this kind of statement");
        return 0;
    }
    return 0;
  }

  std::int64_t loop(const ForStmt* s) {
    if (s->for_kind != ForKind::Sequential && s->for_kind != ForKind::Unroll) {
      refuse(s, "a parallel or pipelined loop");
      return 0;
    }
    const std::int64_t waits = list(s->body);
    if (waits == 0) return 0;
    const auto start = const_int(s->start);
    const auto stop = const_int(s->stop);
    const auto step = const_int(s->step);
    constexpr std::int64_t kLimit = std::int64_t{1} << 30;
    const bool known = start && stop && step && *step != 0 && std::abs(*start) < kLimit &&
                       std::abs(*stop) < kLimit && std::abs(*step) < kLimit;
    const std::int64_t distance = !known ? 0 : *step > 0 ? *stop - *start : *start - *stop;
    if (distance <= 0) {
      diags_.report<diag::deferred_wait_loop>(s->span).help("write the bounds as numbers");
      return 0;
    }
    const std::int64_t stride = std::abs(*step);
    return std::min(waits * ((distance + stride - 1) / stride), std::int64_t{1} << 40);
  }

  DiagSink& diags_;
  bool registered_ = false;
};

}  // namespace

bool check_deferred_wait(DiagSink& diags, const ScopeStmt* scope, bool in_launch) {
  if (!has_wait(scope->body)) return false;
  const auto refuse = [&](std::string_view where) {
    diags.report<diag::deferred_wait_scope>(scope->span, where)
        .help("put the waits into a pl.at(level=pl.Level.CORE_GROUP) of their own");
  };
  if (in_launch) refuse("in a pl.spmd() or another launch");
  if (find_attr(scope->attrs, "predicate") != nullptr) refuse("in a task with a predicate");
  if (find_attr(scope->attrs, "allow_early_resolve") != nullptr) refuse("in a task with allow_early_resolve");
  const std::int64_t waits = Checker(diags).list(scope->body);
  if (waits > kMaxWaits) {
    diags.report<diag::deferred_wait_count>(scope->span, waits, kMaxWaits).help("wait in several tasks");
  }
  return true;
}

}  // namespace pldc::outlining
