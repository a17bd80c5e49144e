// Copying a tensor into a larger one, repeated along one axis: the copies are stores into the target.
#include <string>

#include "passes/convert_tensor_to_tile_ops/conversions.h"

namespace pldc::tiling {

namespace {

constexpr std::size_t kNoAxis = 3;

// The axis along which the input is repeated; kNoAxis: none.
std::size_t repeated_axis(List<const Expr*> from, List<const Expr*> to) {
  for (std::size_t axis = 0; axis < from.size(); ++axis) {
    if (const_int(from[axis]) == 1 && const_int(to[axis]) != 1) return axis;
  }
  return kNoAxis;
}

}  // namespace

const Expr* expand_clone(Lowering& op) {
  const Expr* target = op.memory(1);
  if (target == nullptr) return nullptr;
  const TensorType* input = op.tensor(0);
  const auto* whole = dyn<TensorType>(target->type);
  if (input == nullptr || whole == nullptr || whole->shape.size() != 3 || input->shape.size() != 3)
    return op.no_form("tensors of other than three axes", "three axes", "reshape the operands");
  const List<const Expr*> to = whole->shape;
  const std::size_t axis = repeated_axis(input->shape, to);
  const Expr* zero = op.index(0);
  const auto place = [&](const Expr* first) { return op.tuple({first, zero, zero}); };
  const auto rows = [&](const char* step) { return "expand_clone_d" + std::to_string(axis) + "_" + step; };

  if (axis == 1) {
    const std::string result = rows("result");
    return op.carry_loop(
        {"i", "expand_clone_acc", result}, to[0], target,
        [&](const Var* at, const Var* carried) -> const Expr* {
          const List<const Expr*> shape = op.ir().list({op.index(1), op.index(1), input->shape[2]});
          const Expr* part =
              op.on_chip(0) ? op.op(OpId::tile_slice, {op.tile(0), op.tuple(shape), place(at)})
                            : op.load(op.arg(0), op.ir().list({static_cast<const Expr*>(at), zero, zero}),
                                      shape, shape);
          if (part == nullptr) return carried;
          const Var* one = op.bind(rows("input"), part);
          const Var* space =
              op.bind(rows("target"), op.create(op.ir().list({op.index(1), to[1], to[2]}), input->dtype));
          const Var* spread = op.bind(rows("col"), OpId::tile_col_expand, {space, one});
          return op.bind(rows("store"), op.store(spread, place(at), carried));
        });
  }
  const Expr* tile = op.tile(0, "expand_clone_input");
  if (tile == nullptr) return nullptr;
  if (axis == kNoAxis) return op.store(tile, place(zero), target);
  if (axis == 2) {
    const Var* space = op.bind(rows("target"), op.create(to, input->dtype));
    const Var* spread = op.bind(rows("row"), OpId::tile_row_expand, {space, tile});
    return op.store(spread, place(zero), target);
  }
  const std::string result = rows("result");
  return op.carry_loop({"i", "expand_clone_acc", result}, to[0], target,
                       [&](const Var* at, const Var* carried) -> const Expr* {
                         return op.bind(rows("store"), op.store(tile, place(at), carried));
                       });
}

}  // namespace pldc::tiling
