#include "passes/convert_tensor_to_tile_ops/lowering.h"

#include "ir/auto_name.h"
#include "ir/check_op.h"
#include "passes/convert_tensor_to_tile_ops/conversions.h"
#include "support/diag/pass.h"

namespace pldc::tiling {

std::string tile_name(std::string_view name) {
  const AutoName parts = parse_auto_name(name);
  return build_auto_name(parts.base, parts.qualifier, NameRole::Tile, std::nullopt);
}

// ---- operands ----------------------------------------------------------------------------------------------------

const Expr* Lowering::chip_value(std::size_t i) {
  const Expr* loaded = values_.loaded(call->args[i]);
  return loaded != nullptr ? loaded : arg(i);
}

const Expr* Lowering::tile(std::size_t i, std::string_view loaded_name) {
  const Expr* value = chip_value(i);
  if (dyn<TensorType>(value->type) == nullptr) return value;
  const Expr* load = load_whole(value);
  return load != nullptr ? bind(loaded_name, load) : nullptr;
}

const Expr* Lowering::vector(std::size_t i) { return tile(i, std::string(operand_name(i)) + "_vec"); }

const Expr* Lowering::memory(std::size_t i, std::string_view remedy) {
  const Expr* value = arg(i);
  if (dyn<TileType>(value->type) == nullptr) return value;
  const Operand* operand = operand_of(call, i);
  env.diags
      .report<diag::tile_where_memory>(span, name(), operand != nullptr ? operand->name : "operand",
                                       auto_name_stem(operand_name(i)))
      .help("{}", remedy);
  return nullptr;
}

std::string_view Lowering::operand_name(std::size_t i) {
  const auto* var = dyn<Var>(chip_value(i));
  return var != nullptr ? var->name.text() : std::string_view("value");
}

std::int64_t Lowering::integer(std::string_view keyword, std::int64_t otherwise) const {
  const AttrValue* value = find_attr(call->kwargs, keyword);
  return value != nullptr ? value->integer : otherwise;
}

// ---- statements --------------------------------------------------------------------------------------------------

const Var* Lowering::bind(std::string_view name, const Expr* value) {
  const Var* var = ir().var(ir().name(name), value->type, span);
  push(ir().assign(var, value, span));
  return var;
}

const Var* Lowering::carry_loop(
    const CarryNames& names, const Expr* stop, const Expr* initial,
    const std::function<const Expr*(const Var* variable, const Var* carried)>& body) {
  const Var* variable = ir().var(ir().name(names.variable), ir().scalar(DType::INDEX), span);
  const Var* carried = ir().var(ir().name(names.carried), initial->type, span, true);
  const Var* result = ir().var(ir().name(names.result), initial->type, span);
  const Body inner = block([&] { push(ir().yield(ir().list({body(variable, carried)}), span)); });
  push_carry_loop(variable, stop, {carried, initial}, result, inner);
  return result;
}

// ---- tiles -------------------------------------------------------------------------------------------------------

const Expr* Lowering::load(const Expr* from, List<const Expr*> offsets, List<const Expr*> shape,
                           List<const Expr*> valid, MemSpace space) {
  for (const Expr* extent : shape) {
    if (const_int(extent)) continue;
    const auto* var = dyn<Var>(from);
    env.diags
        .report<diag::tile_extent_unknown>(
            span, name(), var != nullptr ? auto_name_stem(var->name.text()) : std::string_view("the operand"))
        .help("take a slice of constant shape first, with a valid_shape for the part that there is");
    return nullptr;
  }
  const Expr* plain = op(OpId::tile_load, {from, tuple(offsets), tuple(shape), tuple(valid)},
                         {{"target_memory", AttrValue::of_mem(space)}});
  if (space != MemSpace::Mat) return plain;
  Call marked = *static_cast<const Call*>(plain);
  marked.attrs =
      ir().list({Attr{ir().name("__compiler_tensor_to_tile_mat_bridge"), AttrValue::of_bool(true)}});
  return ir().make(marked);
}

const Expr* Lowering::load_whole(const Expr* from, MemSpace space) {
  const auto* type = dyn<TensorType>(from->type);
  return load(from, zeros(type->shape.size()), type->shape, type->shape, space);
}

const Expr* Lowering::create(List<const Expr*> shape, DType dtype, MemSpace space) {
  return op(OpId::tile_create, {tuple(shape)},
            {{"dtype", AttrValue::of_dtype(dtype)}, {"target_memory", AttrValue::of_mem(space)}});
}

const Expr* Lowering::full(List<const Expr*> shape, DType dtype, double value) {
  const Expr* constant = is_float(dtype)
                             ? static_cast<const Expr*>(ir().const_float(value, DType::FP32, span))
                             : index(static_cast<std::int64_t>(value));
  return op(OpId::tile_full, {tuple(shape), constant}, {{"dtype", AttrValue::of_dtype(dtype)}});
}

const Expr* Lowering::cast_tile(const Expr* tile, DType dtype, std::string_view mode) {
  const auto number = static_cast<std::int64_t>(*parse_enum<CastMode>(mode));
  return op(OpId::tile_cast, {tile},
            {{"target_type", AttrValue::of_dtype(dtype)}, {"mode", AttrValue::of_int(number)}});
}

const Expr* Lowering::reshape(const Expr* tile, List<const Expr*> shape) {
  return op(OpId::tile_reshape, {tile, tuple(shape)});
}

const Expr* Lowering::as_dtype(const Expr* tile, DType dtype, std::string_view name) {
  const auto* type = dyn<TileType>(tile->type);
  if (type == nullptr || type->dtype == dtype) return tile;
  return bind(name, cast_tile(tile, dtype, "round"));
}

const Expr* Lowering::store(const Expr* tile, const Expr* offsets, const Expr* target, Attrs keywords) {
  const auto* from = dyn<TileType>(tile->type);
  const auto* to = dyn<TensorType>(target->type);
  // The accumulator is converted on its way out; everything else is stored as it is.
  if (from != nullptr && to != nullptr && from->space != MemSpace::Acc)
    tile = as_dtype(tile, to->dtype, "store_cast");
  return op(OpId::tile_store, ir().list({tile, offsets, target}), keywords);
}

List<const Expr*> Lowering::dims(std::initializer_list<std::int64_t> extents) {
  std::vector<const Expr*> list;
  for (const std::int64_t extent : extents) list.push_back(index(extent));
  return ir().list(list);
}

List<const Expr*> Lowering::zeros(std::size_t rank) {
  return ir().list(std::vector<const Expr*>(rank, index(0)));
}

List<const Expr*> Lowering::shape_of(const Expr* value) {
  if (const auto* tile = dyn<TileType>(value->type)) return tile->shape;
  const auto* tensor = dyn<TensorType>(value->type);
  return tensor != nullptr ? tensor->shape : List<const Expr*>();
}

const Expr* Lowering::no_form(std::string_view found, std::string_view allowed, std::string_view remedy) {
  env.diags.report<diag::tensor_op_no_tile_form>(span, name(), found, allowed).help("{}", remedy);
  return nullptr;
}

}  // namespace pldc::tiling
