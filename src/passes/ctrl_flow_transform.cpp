// CtrlFlowTransform (3): removes break and continue from kernels. SSA merges values at the ends of bodies only, and
// hardware code has no jumps.
#include "ir/walk.h"
#include "passes/control_flow/jumps.h"
#include "passes/map_functions.h"
#include "passes/pass.h"

namespace pldc {

namespace {

// Loops whose iterations may run in any order cannot be left early, and are left as they are.
bool is_transformed(const Stmt* loop) {
  const auto* counted = dyn<ForStmt>(loop);
  if (counted != nullptr) return counted->for_kind == ForKind::Sequential && has_jump(counted->body);
  return has_jump(static_cast<const WhileStmt*>(loop)->body);
}

}  // namespace

const Program* run_CtrlFlowTransform(PassEnv& env, const Program* program) {
  return map_functions(env, program, [&](const Function* f) {
    return f->is_kernel() ? lower_jumps(env.ir, env.diags, f, is_transformed) : f;
  });
}

}  // namespace pldc
