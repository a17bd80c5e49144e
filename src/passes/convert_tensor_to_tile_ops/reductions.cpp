// Reductions of rows and columns: the tile forms take scratch space, keep the axis, and know the last axis and the first.
#include <algorithm>

#include "passes/convert_tensor_to_tile_ops/conversions.h"

namespace pldc::tiling {

namespace {

// Scratch rows hold at least this many elements: 512 bytes of the widest dtype that is reduced.
constexpr std::int64_t kScratchColumns = 128;

// The operand with at least two axes; null after a report.
const Expr* matrix(Lowering& op, std::int64_t wanted_axis, std::string_view remedy) {
  const Expr* tile = op.tile(0);
  const auto* type = tile != nullptr ? dyn<TileType>(tile->type) : nullptr;
  if (type == nullptr) return nullptr;
  const auto rank = static_cast<std::int64_t>(type->shape.size());
  const std::int64_t axis = op.integer("axis", wanted_axis);
  const bool fits = rank == 1 ? axis == -1 || axis == 0 || wanted_axis == -1
                              : (axis + rank) % rank == (wanted_axis + rank) % rank;
  if (!fits) {
    op.no_form("a reduction along another axis",
               wanted_axis == -1 ? "the last axis" : "the last axis but one", remedy);
    return nullptr;
  }
  if (rank > 1) return tile;
  return op.bind("reduce_row", op.reshape(tile, op.ir().list({op.index(1), type->shape[0]})));
}

// What the tensor op promises, if that is not what the tile op keeps.
const Expr* finished(Lowering& op, const Expr* reduced) {
  const TensorType* wanted = op.result();
  if (wanted == nullptr) {  // a scalar
    const Var* tile = op.bind("reduced", reduced);
    const auto rank = op.shape_of(tile).size();
    return op.op(OpId::tile_read, {tile, op.tuple(op.zeros(rank))});
  }
  if (same_dims(op.shape_of(reduced), wanted->shape)) return reduced;
  return op.reshape(op.bind("reduced", reduced), wanted->shape);
}

const Expr* along_rows(Lowering& op, bool wide_scratch) {
  const Expr* tile = matrix(op, -1, "transpose the tensor, or use the op for columns");
  const auto* type = tile != nullptr ? dyn<TileType>(tile->type) : nullptr;
  if (type == nullptr) return nullptr;
  std::vector<const Expr*> shape(type->shape.begin(), type->shape.end());
  if (wide_scratch) shape.back() = op.index(std::max(const_int(shape.back()).value_or(0), kScratchColumns));
  const Var* scratch = op.bind("tmp_tile", op.create(op.ir().list(shape), type->dtype));
  return finished(op, op.op(op.row.tile, {tile, scratch}));
}

const Expr* along_columns(Lowering& op, bool scratch) {
  const Expr* tile = matrix(op, -2, "transpose the tensor, or use the op for rows");
  const auto* type = tile != nullptr ? dyn<TileType>(tile->type) : nullptr;
  if (type == nullptr) return nullptr;
  if (!scratch) return finished(op, op.op(op.row.tile, {tile}));
  const Var* space = op.bind("tmp_tile", op.create(type->shape, type->dtype));
  return finished(op, op.op(op.row.tile, {tile, space}));
}

}  // namespace

const Expr* row_reduce(Lowering& op) { return along_rows(op, true); }
const Expr* row_index(Lowering& op) { return along_rows(op, false); }
const Expr* col_reduce(Lowering& op) { return along_columns(op, false); }
const Expr* col_index(Lowering& op) { return along_columns(op, true); }

}  // namespace pldc::tiling
