// Verifiers of calls: where they may stand, whom they may name, and what may hang on them.
#include "ir/check_op.h"
#include "passes/function_call.h"
#include "passes/verify/verifiers.h"
#include "support/diag/verify.h"

namespace pldc {

namespace {

using Functions = std::unordered_map<Name, const Function*>;

Functions functions_of(const Program* program) {
  Functions out;
  for (const Function* f : program->functions) out.emplace(f->name, f);
  return out;
}

Span place_of(const Expr* e, const Stmt* stmt) { return e->span.valid() ? e->span : stmt->span; }

std::string_view called_name(const Call* call) {
  return call->is_op() ? op_info(call->op).name : call->function.text();
}

class NestedCalls {
 public:
  explicit NestedCalls(DiagSink& diags) : diags_(diags) {}

  void run(const Function* f) {
    walk_stmts(f->body, [&](const Stmt* s) {
      if (s->kind == StmtKind::Scope) return;  // a launch specification: count, predicate
      place_ = s->span;
      for_each_expr(s, [&](const Expr* e) { inside(e); });
      if (const auto* branch = dyn<IfStmt>(s)) {
        simple(branch->condition, "the condition of an if");
      } else if (const auto* loop = dyn<WhileStmt>(s)) {
        simple(loop->condition, "the condition of a while");
      } else if (const auto* counted = dyn<ForStmt>(s)) {
        for (const Expr* bound : {counted->start, counted->stop, counted->step})
          simple(bound, "a bound of a for");
      }
    });
  }

 private:
  void simple(const Expr* e, std::string_view where) {
    const auto* call = dyn<Call>(e);
    if (call == nullptr) return;
    diags_.report<diag::nested_call>(e->span.valid() ? e->span : place_, called_name(call), where)
        .help("bind the call to a variable before this statement, or run FlattenCallExpr");
  }

  // Attributes, keywords, launch specifications and dependencies may hold calls.
  void inside(const Expr* e) {
    switch (e->kind) {
      case ExprKind::Call:
        for (const Expr* arg : static_cast<const Call*>(e)->args)
          operand(arg, "the arguments of another call");
        break;
      case ExprKind::Submit:
        for (const Expr* arg : static_cast<const Submit*>(e)->args) operand(arg, "the arguments of a submit");
        break;
      case ExprKind::Binary:
        operand(static_cast<const Binary*>(e)->lhs, "an arithmetic expression");
        operand(static_cast<const Binary*>(e)->rhs, "an arithmetic expression");
        break;
      case ExprKind::Unary:
        operand(static_cast<const Unary*>(e)->operand, "an arithmetic expression");
        break;
      case ExprKind::Cast:
        operand(static_cast<const Cast*>(e)->operand, "a conversion");
        break;
      case ExprKind::MakeTuple:
        for (const Expr* element : static_cast<const MakeTuple*>(e)->elements) inside(element);
        break;
      case ExprKind::TupleGet:
        inside(static_cast<const TupleGet*>(e)->tuple);
        break;
      case ExprKind::Var:
      case ExprKind::ConstInt:
      case ExprKind::ConstFloat:
      case ExprKind::ConstBool:
        break;
    }
  }
  void operand(const Expr* e, std::string_view where) {
    simple(e, where);
    inside(e);
  }

  DiagSink& diags_;
  Span place_;
};

}  // namespace

void verify_NoNestedCalls(const Program* program, DiagSink& diags) {
  for (const Function* f : program->functions) NestedCalls(diags).run(f);
}

bool verify_callees(const Program* program, DiagSink& diags) {
  if (program->name.empty()) return true;  // a function alone calls others that are not in the text
  const Functions functions = functions_of(program);
  bool fine = true;
  for (const Function* f : program->functions) {
    for_each_function_call(f->body, [&](const FunctionCall& call, const Expr* e, const Stmt* stmt) {
      if (functions.count(call.callee) != 0) return;
      std::vector<std::string_view> names;
      for (const Function* other : program->functions) names.push_back(other->name.text());
      report_unknown_callee(diags, place_of(e, stmt), call.callee.text(), std::move(names));
      fine = false;
    });
  }
  return fine;
}

void verify_InlineFunctionsEliminated(const Program* program, DiagSink& diags) {
  const Functions functions = functions_of(program);
  for (const Function* f : program->functions) {
    if (f->func_type == FuncType::Inline) {
      diags.report<diag::inline_function_left>(f->name_span, f->name.text())
          .help("run InlineFunctions first");
    }
    for_each_function_call(f->body, [&](const FunctionCall& call, const Expr* e, const Stmt* stmt) {
      const Name callee = call.callee;
      const Span place = place_of(e, stmt);
      const auto found = functions.find(callee);
      if (found == functions.end()) {
        diags.report<diag::missing_callee>(place, callee.text())
            .help(
                "define '{}' in this program; a call of an Inline function must be the whole value of a "
                "statement",
                callee.text());
      } else if (found->second->func_type == FuncType::Inline) {
        diags.report<diag::inline_call_left>(place, callee.text())
            .note(found->second->name_span, "the Inline function")
            .help("bind the call to a variable in a statement of its own");
      }
    });
  }
}

void verify_OrchestrationReferencesResolved(const Program* program, DiagSink& diags) {
  const Functions functions = functions_of(program);
  for (const Function* f : program->functions) {
    if (f->func_type != FuncType::Orchestration) continue;
    for_each_function_call(f->body, [&](const FunctionCall& call, const Expr* e, const Stmt* stmt) {
      if (functions.count(call.callee) != 0) return;
      diags.report<diag::orchestration_missing_callee>(place_of(e, stmt), f->name.text(), call.callee.text())
          .help("define '{}' in this program", call.callee.text());
    });
  }
}

void verify_ManualDepsOnSubmitOnly(const Program* program, DiagSink& diags) {
  for (const Function* f : program->functions) {
    for_each_function_call(f->body, [&](const FunctionCall& call, const Expr* e, const Stmt* stmt) {
      if (find_attr(call.attrs, "manual_dep_edges") == nullptr) return;
      if (call.is_submit) {
        diags.report<diag::manual_deps_attr_on_submit>(place_of(e, stmt), call.callee.text())
            .help("move them into deps=[...]");
      } else {
        diags.report<diag::manual_deps_on_call>(place_of(e, stmt), call.callee.text())
            .help("launch '{}' with pl.submit and deps=[...]", call.callee.text());
      }
    });
  }
}

}  // namespace pldc
