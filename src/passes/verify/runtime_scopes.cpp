// RuntimeScopesMaterialized: every orchestration says where its buffers' lifetimes end. An orchestration that
// still asks for automatic scopes (auto_scope absent or true) has none yet; auto_scope=False means that they
// stand in the body.
#include "passes/verify/verifiers.h"
#include "support/diag/verify.h"

namespace pldc {

void verify_RuntimeScopesMaterialized(const Program* program, DiagSink& diags) {
  for (const Function* f : program->functions) {
    if (f->func_type != FuncType::Orchestration || f->requires_runtime_binding) continue;
    const AttrValue* automatic = find_attr(f->attrs, "auto_scope");
    if (automatic != nullptr && automatic->kind == AttrKind::Bool && !automatic->as_bool()) continue;
    diags.report<diag::runtime_scopes_missing>(f->name_span.valid() ? f->name_span : f->span, f->name.text())
        .help("MaterializeRuntimeScopes writes them");
  }
}

}  // namespace pldc
