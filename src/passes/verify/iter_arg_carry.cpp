// IterArgCarryClassified: each carry of a for loop in an orchestration says whether it is bound anew in each
// iteration.
#include <fmt/format.h>

#include "ir/walk.h"
#include "passes/verify/verifiers.h"
#include "support/diag/verify.h"

namespace pldc {

void verify_IterArgCarryClassified(const Program* program, DiagSink& diags) {
  for (const Function* f : program->functions) {
    if (f->func_type != FuncType::Orchestration) continue;
    walk_stmts(f->body, [&](const Stmt* stmt) {
      const auto* loop = dyn<ForStmt>(stmt);
      if (loop == nullptr) return;
      for (std::size_t i = 0; i < loop->iter_args.size(); ++i) {
        const std::string_view carry = loop->iter_args[i].var->name.text();
        const AttrValue* rebind = find_attr(loop->attrs, fmt::format("iter_arg_rebind_{}", i));
        if (rebind == nullptr || rebind->kind != AttrKind::Bool) {
          diags.report<diag::carry_unclassified>(loop->span, carry, i).help("ClassifyIterArgCarry writes it");
          continue;
        }
        const AttrValue* size = find_attr(loop->attrs, fmt::format("iter_arg_array_size_{}", i));
        if (size != nullptr && !rebind->as_bool()) {
          diags.report<diag::carry_size_on_trivial>(loop->span, carry, i);
        }
      }
    });
  }
}

}  // namespace pldc
