// NormalizeStmtStructure (6): makes every body a flat list, which the later passes and the property of that
// name ask for. The IR cannot represent anything else, so there is nothing to do; the pass exists because
// pipelines name it.
#include "passes/pass.h"

namespace pldc {

const Program* run_NormalizeStmtStructure(PassEnv&, const Program* program) { return program; }

}  // namespace pldc
