// Every rank has a block of as many rows for each other, of which only some count: it pushes the whole block and tells
// the receiver how many rows are good.
#include "passes/lower_composite/collectives.h"
#include "passes/lower_composite/ranks.h"

namespace pldc::composite {

const Expr* expand_all_to_all_v(Expansion& out) {
  if (!check_mesh_signal(out, 2)) return nullptr;
  const Expr* input = out.operand(0);
  const Expr* target = out.operand(1);
  const Expr* send_counts = out.operand(3);
  const Expr* recv_counts = out.operand(4);
  const Expr* size = out.tensor(1)->shape[1];
  if (!fits_vector_buffer(out, 1, {}, size, 1)) return nullptr;
  // Both are constants: the op's table demands it.
  const std::int64_t most = *const_int(out.tensor(1)->shape[0]) / *const_int(out.tensor(2)->shape[0]);
  const Expr* most_rows = out.index(most);
  const bool flat_counts = out.tensor(3)->shape.size() == 1;
  Ranks ranks(out, target);
  const Var* stage = make_stage(out, "aav_stage", 1, {}, size);
  ranks.each("dest", [&](const Var* dest) {
    const Var* count =
        out.bind("aav_count", OpId::tensor_read,
                 {send_counts, flat_counts ? out.tuple({dest}) : out.tuple({dest, out.index(0)})});
    const Var* rows = out.bind("aav_rows", out.min(out.cast(count, DType::INDEX), most_rows));
    const Var* sent = out.bind("aav_count_i32", out.cast(rows, DType::INT32));
    out.bind("aav_count_notify", OpId::pld_system_notify,
             {recv_counts, dest, out.tuple({ranks.own, out.index(0)}), sent},
             {{"op", AttrValue::of_int(static_cast<std::int64_t>(NotifyOp::Set))}});
    out.bind("aav_put", OpId::pld_tile_put,
             {target, dest, input, stage, out.tuple({out.mul(ranks.own_index(), most_rows), out.index(0)}),
              out.tuple({out.mul(dest, most_rows), out.index(0)}), out.tuple({most_rows, size})},
             {{"atomic", AttrValue::of_int(static_cast<std::int64_t>(AtomicType::None))}});
  });
  Barriers barriers(out, ranks, out.operand(2));
  barriers.meet();
  barriers.reset();
  return target;
}

}  // namespace pldc::composite
