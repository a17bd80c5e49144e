// Rank r adds up row r of all ranks. The second barrier lets the others read theirs before it is overwritten.
#include "passes/lower_composite/collectives.h"
#include "passes/lower_composite/ranks.h"

namespace pldc::composite {

const Expr* expand_reduce_scatter(Expansion& out) {
  if (!check_mesh_signal(out, 1)) return nullptr;
  const Expr* target = out.operand(0);
  const Expr* size = out.tensor(0)->shape[1];
  // The own row, the received one and the sum are alive together.
  if (!fits_vector_buffer(out, 0, {}, size, 3)) return nullptr;
  Ranks ranks(out, target);
  Barriers barriers(out, ranks, out.operand(1));
  barriers.meet();
  const auto own_row = [&] { return out.tuple({ranks.own, out.index(0)}); };
  const auto row = [&] { return out.tuple({out.index(1), size}); };
  const Var* initial = out.bind("acc_initial", OpId::tile_load, {target, own_row(), row(), row()},
                                {{"target_memory", AttrValue::of_mem(MemSpace::Vec)}});
  const Var* sum = ranks.combine(OpId::tile_add, initial, [&](const Var* peer) {
    return out.bind("recv", OpId::pld_tile_remote_load, {target, peer, own_row(), row()});
  });
  barriers.meet();
  out.bind("store_ret", OpId::tile_store, {sum, own_row(), target});
  barriers.reset();
  return target;
}

}  // namespace pldc::composite
