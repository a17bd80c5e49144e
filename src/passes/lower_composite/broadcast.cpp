// Every rank fetches the root's data, the root from itself. There is no barrier after it: a root that overwrites its
// data right away needs one of its own.
#include "passes/lower_composite/collectives.h"
#include "passes/lower_composite/ranks.h"

namespace pldc::composite {

const Expr* expand_broadcast(Expansion& out) {
  if (!check_mesh_signal(out, 1)) return nullptr;
  const Expr* target = out.operand(0);
  const List<const Expr*> shape = out.tensor(0)->shape;
  const List<const Expr*> rows = shape.empty() ? shape : shape.first(shape.size() - 1);
  const Expr* columns = shape.empty() ? out.index(1) : shape.back();
  if (!fits_vector_buffer(out, 0, rows, columns, 1)) return nullptr;
  Ranks ranks(out, target);
  Barriers barriers(out, ranks, out.operand(1));
  barriers.meet();
  const Var* stage = make_stage(out, "bcast_stage", 0, rows, columns);
  out.bind("get_ret", OpId::pld_tile_get, {target, out.int32(out.keyword("root", 0)), target, stage});
  barriers.reset();
  return target;
}

}  // namespace pldc::composite
