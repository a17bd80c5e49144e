// Every rank pushes row d of its input to rank d, which has it in the row of the sender.
#include "passes/lower_composite/collectives.h"
#include "passes/lower_composite/ranks.h"

namespace pldc::composite {

const Expr* expand_all_to_all(Expansion& out) {
  if (!check_plain_tensor(out, 0, "input", "[NR, SIZE]") || !check_mesh_signal(out, 2)) return nullptr;
  const Expr* target = out.operand(1);
  const Expr* size = out.tensor(1)->shape[1];
  if (!fits_vector_buffer(out, 1, {}, size, 1)) return nullptr;
  Ranks ranks(out, target);
  const Var* stage = make_stage(out, "aa_stage", 1, {}, size);
  ranks.each("dest", [&](const Var* dest) {
    out.bind("aa_put", OpId::pld_tile_put,
             {target, dest, out.operand(0), stage, out.tuple({ranks.own, out.index(0)}),
              out.tuple({dest, out.index(0)}), out.tuple({out.index(1), size})},
             {{"atomic", AttrValue::of_int(static_cast<std::int64_t>(AtomicType::None))}});
  });
  Barriers barriers(out, ranks, out.operand(2));
  barriers.meet();
  barriers.reset();
  return target;
}

}  // namespace pldc::composite
