#include "passes/lower_composite/collectives.h"
#include "passes/lower_composite/ranks.h"

namespace pldc::composite {

const Expr* expand_barrier(Expansion& out) {
  if (!check_mesh_signal(out, 0)) return nullptr;
  const Expr* signal = out.operand(0);
  Ranks ranks(out, signal);
  Barriers barriers(out, ranks, signal);
  barriers.meet();
  barriers.reset();
  return signal;
}

}  // namespace pldc::composite
