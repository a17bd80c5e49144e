// Every rank pushes its row into the window of each, its own included.
#include "passes/lower_composite/collectives.h"
#include "passes/lower_composite/ranks.h"

namespace pldc::composite {

const Expr* expand_allgather(Expansion& out) {
  if (!check_plain_tensor(out, 0, "local_data", "[1, SIZE]") || !check_mesh_signal(out, 2)) return nullptr;
  const Expr* target = out.operand(1);
  const Expr* size = out.tensor(1)->shape[1];
  if (!fits_vector_buffer(out, 1, {}, size, 1)) return nullptr;
  Ranks ranks(out, target);
  const Var* stage = make_stage(out, "ag_stage", 1, {}, size);
  ranks.each("peer", [&](const Var* peer) {
    out.bind("push", OpId::pld_tile_put,
             {target, peer, out.operand(0), stage, out.tuple({ranks.own, out.index(0)}),
              out.tuple({out.index(0), out.index(0)}), out.tuple({out.index(1), size})},
             {{"atomic", AttrValue::of_int(static_cast<std::int64_t>(AtomicType::None))}});
  });
  Barriers barriers(out, ranks, out.operand(2));
  barriers.meet();
  barriers.reset();
  return target;
}

}  // namespace pldc::composite
