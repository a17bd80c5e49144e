#include "passes/lower_composite/collectives.h"

namespace pldc::composite {

const Expr* expand_allgather(Expansion& out) {
  if (!check_plain_tensor(out, 0, "local_data", "[1, SIZE]")) return nullptr;
  return push_rows(out, {"ag_stage", "peer", "push"}, [&](const Var*) { return out.index(0); });
}

}  // namespace pldc::composite
