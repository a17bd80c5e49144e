// Where yields stand and how many values they give: part of SSAForm, and asked of every program that is read.
#include "ir/walk.h"
#include "passes/trace.h"
#include "passes/verify/verifiers.h"
#include "support/diag/verify.h"

namespace pldc {

namespace {

class YieldCheck {
 public:
  explicit YieldCheck(DiagSink& diags) : diags_(diags) {}

  // `takes_yield`: something takes the values of a yield at the end of this list.
  void body(Body list, bool takes_yield) {
    for (std::size_t i = 0; i < list.size(); ++i) stmt(list[i], takes_yield && i + 1 == list.size());
  }

 private:
  void branch(Body list, std::size_t results, std::string_view owner, std::string_view part, Span span) {
    body(list, true);
    const YieldStmt* yield = trailing_yield(list);
    if (yield == nullptr) {
      if (results != 0) {
        diags_.report<diag::ssa_missing_yield>(span, owner, results, part)
            .help("end the body with pl.yield_ of {} values", results);
      }
    } else if (yield->values.size() != results) {
      diags_.report<diag::ssa_yield_count>(yield->span, yield->values.size(), owner, results)
          .help("yield {} values", results);
    }
  }

  template <class Loop>
  void loop(const Loop* n) {
    branch(n->body, n->return_vars.size(), "the loop", "its body", n->span);
    if (n->iter_args.size() == n->return_vars.size()) return;
    diags_
        .report<diag::carry_count_differs>(n->span, "loop", n->iter_args.size(),
                                           fmt::format("{} results", n->return_vars.size()))
        .help("name as many results as there are init_values");
  }

  void stmt(const Stmt* s, bool yield_allowed) {
    if (s->kind == StmtKind::Yield && !yield_allowed) {
      diags_.report<diag::ssa_misplaced_yield>(s->span).help(
          "move it to the end of the body of a loop or of a branch");
    } else if (const auto* n = dyn<IfStmt>(s)) {
      branch(n->then_body, n->return_vars.size(), "the if", "its first branch", s->span);
      if (n->has_else || !n->return_vars.empty()) {
        branch(n->else_body, n->return_vars.size(), "the if", "its else branch", s->span);
      }
    } else if (const auto* counted = dyn<ForStmt>(s)) {
      loop(counted);
    } else if (const auto* conditional = dyn<WhileStmt>(s)) {
      loop(conditional);
    } else if (const auto* scope = dyn<ScopeStmt>(s)) {
      body(scope->body, yield_allowed && yields_pass_through(scope->scope));
    }
  }

  DiagSink& diags_;
};

}  // namespace

void check_yields(const Function* f, DiagSink& diags) { YieldCheck(diags).body(f->body, false); }

}  // namespace pldc
