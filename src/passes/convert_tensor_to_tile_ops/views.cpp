// Other shapes of the same elements, and other elements of the same bytes.
#include "ir/contiguous.h"
#include "passes/convert_tensor_to_tile_ops/conversions.h"

namespace pldc::tiling {

const Expr* reshape(Lowering& op) {
  const Expr* tile = op.tile(0);
  if (tile == nullptr) return nullptr;
  const Expr* shaped = op.op(OpId::tile_reshape, {tile, op.arg(1)});
  const auto* valid = op.count() > 2 ? dyn<MakeTuple>(op.arg(2)) : nullptr;
  if (valid == nullptr || valid->elements.empty()) return shaped;
  if (valid->elements.size() != 2)
    return op.no_form("a valid_shape of other than two axes", "one of a matrix", "reshape to two dimensions");
  return op.op(OpId::tile_set_validshape,
               {op.bind("reshaped", shaped), valid->elements[0], valid->elements[1]});
}

const Expr* transpose(Lowering& op) {
  const Expr* tile = op.tile(0);
  return tile != nullptr ? op.op(OpId::tile_transpose, {tile, op.arg(1), op.arg(2)}) : nullptr;
}

// A tile has its rows one after the other whatever its tensor says; bytes that follow each other down a column are looked at
// in a transposed copy.
const Expr* reinterpret(Lowering& op) {
  const std::size_t along = contiguous_axis(op.tensor(0));
  const bool shaped = op.count() > 1;
  if (along == 0 || (!shaped && byte_width(op.tensor(0)->dtype) == byte_width(op.result()->dtype)))
    return same_op(op);
  if (along > 1)
    return op.no_form("bytes that follow each other along an axis before the last two",
                      "bytes of rows or columns",
                      "transpose the tensor after it has been looked at as another dtype");
  const Expr* tile = op.tile(0);
  if (tile == nullptr) return nullptr;
  const auto turned = [&](std::string_view name, const Expr* value) {
    return op.bind(name, OpId::tile_transpose, {value, op.index(-2), op.index(-1)});
  };
  const Expr* rows = turned("columns", tile);
  const Expr* bytes =
      shaped ? same_call(op, op.row.tile, {rows, op.arg(1)}) : same_call(op, op.row.tile, {rows});
  if (shaped || bytes == nullptr) return bytes;
  return op.op(OpId::tile_transpose, {op.bind("bytes", bytes), op.index(-2), op.index(-1)});
}

const Expr* view(Lowering& op) {
  if (find_attr(op.call->kwargs, "layout") != nullptr)
    return op.no_form("another layout of what is computed on", "another shape",
                      "use pl.tensor.transpose, which swaps the axes of the values");
  const Expr* tile = op.tile(0);
  if (tile == nullptr || op.result() == nullptr) return nullptr;
  const Expr* shaped = op.reshape(tile, op.result()->shape);
  const List<const Expr*> valid = valid_shape_of(op.result());
  if (same_dims(valid, op.result()->shape)) return shaped;
  if (valid.size() != 2)
    return op.no_form("a valid_shape of other than two axes", "one of a matrix", "view it as a matrix");
  return op.op(OpId::tile_set_validshape, {op.bind("viewed", shaped), valid[0], valid[1]});
}

}  // namespace pldc::tiling
