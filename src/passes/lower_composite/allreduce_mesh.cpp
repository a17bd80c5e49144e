// All-reduce by reading from every peer: (P-1)*N elements a rank, two barriers for each tile of the vector.
#include "frontend/text.h"
#include "passes/lower_composite/collectives.h"
#include "passes/lower_composite/flat_tiles.h"
#include "passes/lower_composite/ranks.h"
#include "support/diag/pass.h"

namespace pldc::composite {

namespace {

// The whole target, in as many tiles as it takes.
const Expr* reduce_whole(Expansion& out) {
  const Expr* target = out.operand(0);
  const Expr* size = product_of(out, out.tensor(0)->shape);
  if (size == nullptr) return nullptr;
  Ranks ranks(out, target);
  FlatTiles tiles(out, out.tensor(0)->dtype);
  const std::int64_t width = tiles.width_for(size);
  tiles.look_at(out.bind("target_2d", OpId::tensor_view, {target, out.tuple({out.index(1), size})}), width);
  Barriers barriers(out, ranks, out.operand(1));
  barriers.meet();
  const Expr* step = out.index(width);
  out.loop("col", out.index(0), size, step, [&](const Var* column) {
    const auto valid = [&] { return out.min(step, out.sub(size, column)); };
    const Var* initial = tiles.load("acc_loaded", "acc_initial", column, valid());
    const Var* sum = ranks.combine(reduce_op(out), initial, [&](const Var* peer) {
      return tiles.receive("recv", peer, column, valid());
    });
    // Nobody may overwrite what another rank has yet to read. This is one barrier after the first and those of
    // the tiles before.
    const Expr* reached = out.add(out.div(column, step), out.index(2));
    barriers.meet("_chunk", out.bind("chunk_expected", out.cast(reached, DType::INT32)));
    tiles.store("store_value", "store_ret", sum, column, valid());
  });
  const Expr* tile_count = out.div(out.add(size, out.sub(step, out.index(1))), step);
  barriers.reset(
      out.bind("allreduce_reset_total", out.cast(out.add(out.index(1), tile_count), DType::INT32)));
  return target;
}

// Shape and valid part as a matrix, in whose upper left corner the valid part is.
struct Corner {
  const Expr* rows;
  const Expr* columns;
};
Corner as_matrix(Expansion& out, List<const Expr*> dims) {
  if (dims.size() < 2) return {out.index(1), product_of(out, dims)};
  return {product_of(out, dims.first(dims.size() - 1)), dims.back()};
}

// Whether the valid rows are the first ones: one part of an axis, all of the axes behind it, one of those before.
bool is_corner(List<const Expr*> shape, List<const Expr*> valid) {
  std::size_t cut = 0;
  while (cut + 1 < shape.size() && const_int(valid[cut]) == 1) ++cut;
  for (std::size_t i = cut + 1; i + 1 < shape.size(); ++i) {
    if (!same_dim(valid[i], shape[i])) return false;
  }
  return true;
}

// A target of which only a part holds data: one tile.
const Expr* reduce_part(Expansion& out) {
  const Expr* target = out.operand(0);
  const TensorType* type = out.tensor(0);
  const List<const Expr*> valid_shape = valid_shape_of(type);
  if (!is_corner(type->shape, valid_shape)) {
    out.error<diag::kernel_allreduce_valid_box>(0, print_type(type))
        .help("let the valid part be some of the rows and columns of the target seen as a matrix");
    return nullptr;
  }
  const Corner whole = as_matrix(out, type->shape);
  const Corner valid = as_matrix(out, valid_shape);
  if (whole.rows == nullptr || valid.rows == nullptr) return nullptr;
  const bool constant = const_int(valid.rows) && const_int(valid.columns);
  const Corner box = constant ? valid : whole;
  const auto rows = const_int(box.rows);
  const auto columns = const_int(box.columns);
  std::int64_t elements = 0;
  if (!rows || !columns || __builtin_mul_overflow(*rows, *columns, &elements) ||
      elements > kChunkBytes / byte_width(type->dtype)) {
    out.error<diag::kernel_allreduce_valid_large>(0, print_type(type), kChunkBytes)
        .help("reduce a window that is valid as a whole; it is taken apart into tiles");
    return nullptr;
  }
  const auto pair = [&](const Corner& c) { return out.tuple({c.rows, c.columns}); };
  const auto origin = [&] { return out.tuple({out.index(0), out.index(0)}); };
  Ranks ranks(out, target);
  const Var* matrix = out.bind("target_2d", OpId::tensor_view, {target, pair(whole), pair(valid)});
  Barriers barriers(out, ranks, out.operand(1));
  barriers.meet();
  const Var* initial = out.bind("acc_initial", OpId::tile_load, {matrix, origin(), pair(box), pair(valid)},
                                {{"target_memory", AttrValue::of_mem(MemSpace::Vec)}});
  const Var* sum = ranks.combine(reduce_op(out), initial, [&](const Var* peer) {
    return out.bind("recv", OpId::pld_tile_remote_load, {matrix, peer, origin(), pair(box), pair(valid)});
  });
  barriers.meet();
  out.bind("store_ret", OpId::tile_store, {sum, origin(), matrix});
  barriers.reset();
  return target;
}

}  // namespace

const Expr* expand_mesh_allreduce(Expansion& out) {
  if (!check_mesh_signal(out, 1)) return nullptr;
  const TensorType* type = out.tensor(0);
  return same_dims(type->shape, valid_shape_of(type)) ? reduce_whole(out) : reduce_part(out);
}

}  // namespace pldc::composite
