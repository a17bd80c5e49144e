// OutlineHierarchyScopes (8): turns pl.at(level=...) scopes of Opaque functions into functions of that level. The
// outermost scopes come first, so that the scopes inside are found in their functions.
#include "passes/outline/outliner.h"

namespace pldc {

const Program* run_OutlineHierarchyScopes(PassEnv& env, const Program* program) {
  const std::uint32_t errors = env.diags.error_count();
  outlining::Kind kind{ScopeKind::Hierarchy, FuncType::Opaque, {}};
  kind.store_targets = false;
  outlining::Outliner outliner(env, program, kind);
  std::vector<const Function*> functions;
  for (const Function* f : program->functions) {
    functions.push_back(f->func_type == FuncType::Opaque ? outliner.run(f) : f);
  }
  if (env.diags.error_count() != errors) return nullptr;
  return outlining::with_functions(env.ir, program, functions, outliner.made());
}

}  // namespace pldc
