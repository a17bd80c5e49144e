// OutlineClusterScopes (10): turns pl.cluster() and pl.spmd() scopes into Group and Spmd functions, which launch kernels
// together. After OutlineIncoreScopes, so that what stands in these scopes is calls of kernels.
#include "passes/outline/outliner.h"

namespace pldc {

namespace {

const Program* outline(PassEnv& env, const Program* program, const outlining::Kind& kind) {
  const std::uint32_t errors = env.diags.error_count();
  outlining::Outliner outliner(env, program, kind);
  std::vector<const Function*> functions;
  for (const Function* f : program->functions) {
    const bool parent = f->func_type == FuncType::Opaque || f->func_type == FuncType::Orchestration ||
                        f->func_type == FuncType::Graph;
    functions.push_back(parent ? outliner.run(f) : f);
  }
  if (env.diags.error_count() != errors) return nullptr;
  return outlining::with_functions(env.ir, program, functions, outliner.made());
}

}  // namespace

const Program* run_OutlineClusterScopes(PassEnv& env, const Program* program) {
  outlining::Kind cluster{ScopeKind::Cluster, FuncType::Group, "cluster"};
  cluster.callee_directions = true;
  cluster.unwraps_spmd = true;
  program = outline(env, program, cluster);
  if (program == nullptr) return nullptr;
  outlining::Kind spmd{ScopeKind::Spmd, FuncType::Spmd, "spmd"};
  spmd.callee_directions = true;
  return outline(env, program, spmd);
}

}  // namespace pldc
