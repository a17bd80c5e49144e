// Matrix products. Operands come from the matrix core's staging memory: a tensor is loaded there where it is used, a tile
// stays where it is unless it is transposed.
#include <string>

#include "passes/convert_tensor_to_tile_ops/conversions.h"

namespace pldc::tiling {

namespace {

// Operand i, transposed if wanted; a vector as a matrix of one row (`row`) or one column. Null after a report.
const Expr* factor(Lowering& op, std::size_t i, bool transposed, bool row) {
  const Expr* value = op.on_chip(i) ? op.tile(i) : op.arg(i);
  if (value == nullptr) return nullptr;
  std::string name(op.operand_name(i));
  if (const auto* tensor = dyn<TensorType>(value->type)) {
    const Expr* load = op.load_whole(value, MemSpace::Mat);
    if (load == nullptr) return nullptr;
    name += "_mat";
    value = op.bind(name, load);
    if (tensor->shape.size() == 1) {
      const Expr* one = op.index(1);
      value = op.bind(name, op.reshape(value, row ? op.ir().list({one, tensor->shape[0]})
                                                  : op.ir().list({tensor->shape[0], one})));
      return value;
    }
  } else if (transposed) {
    const auto* tile = dyn<TileType>(value->type);
    if (tile != nullptr && tile->space != MemSpace::Mat) {
      name += "_mat";
      value = op.bind(name, OpId::tile_move, {value}, {{"target_memory", AttrValue::of_mem(MemSpace::Mat)}});
    }
  }
  if (!transposed) return value;
  return op.bind(name + "_t", OpId::tile_transpose_view, {value});
}

// The accumulator holds FP32 or INT32; the tensor op rounds once to what it promises.
const Expr* as_promised(Lowering& op, const Expr* product) {
  const TensorType* wanted = op.result();
  const auto* type = dyn<TileType>(product->type);
  if (wanted == nullptr || type == nullptr) return product;
  if (!same_dims(type->shape, wanted->shape))
    product = op.reshape(op.bind("matmul_acc_tile", product), wanted->shape);
  if (type->dtype == wanted->dtype) return product;
  return op.cast_tile(op.bind("matmul_acc_tile", product), wanted->dtype, "rint");
}

}  // namespace

const Expr* matmul(Lowering& op) {
  const auto rank = [&](std::size_t i) { return op.tensor(i) != nullptr ? op.tensor(i)->shape.size() : 0; };
  if (rank(0) == 1 && rank(1) == 1)
    return op.no_form("two vectors", "at least one matrix", "use pl.tensor.mul and pl.tensor.row_sum");
  const Expr* a = factor(op, 0, op.flag("a_trans"), true);
  const Expr* b = a != nullptr ? factor(op, 1, op.flag("b_trans"), false) : nullptr;
  if (b == nullptr) return nullptr;
  const bool batched = op.shape_of(a).size() > 2 || op.shape_of(b).size() > 2;
  return as_promised(op, op.op(batched ? OpId::tile_batch_matmul : OpId::tile_matmul, {a, b}));
}

const Expr* matmul_acc(Lowering& op) {
  const Expr* acc = op.tile(0);
  const Expr* a = acc != nullptr ? factor(op, 1, op.flag("a_trans"), true) : nullptr;
  const Expr* b = a != nullptr ? factor(op, 2, op.flag("b_trans"), false) : nullptr;
  if (b == nullptr) return nullptr;
  const bool batched = op.shape_of(acc).size() > 2;
  if (batched && op.count() > 3)
    return op.no_form("a batch and a start condition", "a start condition for one product",
                      "start with pl.tensor.matmul before the loop");
  if (batched) return op.op(OpId::tile_batch_matmul_acc, {acc, a, b});
  if (op.count() > 3) return op.op(OpId::tile_matmul_acc, {acc, a, b, op.arg(3)});
  return op.op(OpId::tile_matmul_acc, {acc, a, b});
}

}  // namespace pldc::tiling
