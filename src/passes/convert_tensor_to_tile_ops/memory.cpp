// Making tiles, moving data between memory and tiles, single elements.
#include "passes/convert_tensor_to_tile_ops/conversions.h"

namespace pldc::tiling {

namespace {

List<const Expr*> elements(const Expr* tuple) {
  const auto* list = dyn<MakeTuple>(tuple);
  return list != nullptr ? list->elements : List<const Expr*>();
}

}  // namespace

const Expr* create(Lowering& op) {
  const List<const Expr*> shape = elements(op.arg(0));
  const AttrValue* dtype = find_attr(op.call->kwargs, "dtype");
  const DType wanted = dtype != nullptr ? static_cast<DType>(dtype->integer) : DType::FP32;
  const AttrValue* value = find_attr(op.call->kwargs, "init_value");
  return value != nullptr ? op.full(shape, wanted, value->real) : op.create(shape, wanted);
}

const Expr* create_l1(Lowering& op) {
  const AttrValue* dtype = find_attr(op.call->kwargs, "dtype");
  if (dtype == nullptr) return nullptr;
  const std::int64_t transpose = op.integer("transpose", 0);
  if (transpose == 0)
    return op.create(elements(op.arg(0)), static_cast<DType>(dtype->integer), MemSpace::Mat);
  return op.op(OpId::tile_create, {op.arg(0)},
               {{"dtype", *dtype},
                {"target_memory", AttrValue::of_mem(MemSpace::Mat)},
                {"transpose", AttrValue::of_bool(true)}});
}

// A rectangle of memory is loaded; one of a tile is looked at. Axes of 1 are dropped afterwards.
const Expr* slice(Lowering& op) {
  const List<const Expr*> shape = elements(op.arg(1));
  const List<const Expr*> offsets = elements(op.arg(2));
  const List<const Expr*> given = op.count() > 3 ? elements(op.arg(3)) : List<const Expr*>();
  const bool dropping = op.count() > 4 && !elements(op.arg(4)).empty();
  const Expr* part = nullptr;
  if (op.on_chip(0)) {
    const Expr* tile = op.tile(0);
    part = given.empty() ? op.op(OpId::tile_slice, {tile, op.tuple(shape), op.tuple(offsets)})
                         : op.op(OpId::tile_slice, {tile, op.tuple(shape), op.tuple(offsets), op.arg(3)});
  } else {
    const MemSpace space = op.feeds_matmul ? MemSpace::Mat : MemSpace::Vec;
    part = op.load(op.arg(0), offsets, shape, given.empty() ? shape : given, space);
  }
  if (part == nullptr || !dropping || op.result() == nullptr) return part;
  return op.reshape(op.bind("slice_load", part), op.result()->shape);
}

const Expr* assemble(Lowering& op) {
  const Expr* target = op.arg(0);
  const AttrValue* atomic = find_attr(op.call->kwargs, "atomic");
  if (const auto* type = dyn<TileType>(target->type)) {
    if (atomic != nullptr && atomic->integer != 0)
      return op.no_form("an atomic addition into a value of the kernel", "one into a parameter",
                        "add the value and assemble the sum without atomic=");
    const Expr* source = op.tile(1);
    if (source == nullptr) return nullptr;
    return op.op(OpId::tile_assemble, {target, op.as_dtype(source, type->dtype, "assemble_cast"), op.arg(2)});
  }
  if (!op.on_chip(1)) return op.unconverted();
  return op.store(op.tile(1), op.arg(2), target, op.call->kwargs);
}

const Expr* read(Lowering& op) {
  const Expr* from = op.arg(0);
  const bool tile = dyn<TileType>(from->type) != nullptr;
  return tile ? op.op(OpId::tile_read, {from, op.arg(1)}) : op.unconverted();
}

const Expr* write(Lowering& op) {
  const Expr* target = op.arg(0);
  const bool tile = dyn<TileType>(target->type) != nullptr;
  return tile ? op.op(OpId::tile_write, {target, op.arg(1), op.arg(2)}) : op.unconverted();
}

}  // namespace pldc::tiling
