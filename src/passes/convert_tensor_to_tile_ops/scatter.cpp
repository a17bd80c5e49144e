// Scattering by index. The hardware's scatter need not keep what it does not write, so the values and a mask are scattered
// into zeros, and the mask chooses between them and the old contents.
#include <string>

#include "passes/convert_tensor_to_tile_ops/conversions.h"

namespace pldc::tiling {

namespace {

constexpr std::int64_t kNotEqual = 1;

std::int64_t extent(const Expr* dim) { return const_int(dim).value_or(1); }

bool wide(DType dtype) { return dtype == DType::FP32 || dtype == DType::INT32 || dtype == DType::UINT32; }

// Names of the steps; each op has its own.
struct Names {
  std::string_view zero, values, mask_zero, ones, mask, predicate, scratch;
};

// `scattered` is the op over (destination, source).
template <class Scattered>
const Expr* blended(Lowering& op, const Names& names, const Expr* old, const Expr* source,
                    Scattered scattered) {
  const auto* type = dyn<TileType>(old->type);
  const auto* from = dyn<TileType>(source->type);
  if (type == nullptr || from == nullptr) return nullptr;
  const Var* zero = op.bind(names.zero, op.full(type->shape, type->dtype, 0));
  const Var* values = op.bind(names.values, scattered(zero, source));
  const Var* mask_zero = op.bind(names.mask_zero, op.full(type->shape, type->dtype, 0));
  const Var* ones = op.bind(names.ones, op.full(from->shape, type->dtype, 1));
  const Var* mask = op.bind(names.mask, scattered(mask_zero, ones));
  const Expr* nothing = is_float(type->dtype)
                            ? static_cast<const Expr*>(op.ir().const_float(0, DType::FP32, op.span))
                            : op.ir().const_int(0, type->dtype, op.span);
  const Var* predicate = op.bind(names.predicate, OpId::tile_cmps, {mask, nothing},
                                 {{"cmp_type", AttrValue::of_int(kNotEqual)}});
  const Var* scratch = op.bind(names.scratch, op.create(op.dims({1, 32}), DType::UINT8));
  return op.op(OpId::tile_sel, {predicate, values, old, scratch});
}

const Expr* sequence(Lowering& op, std::int64_t count) {
  if (count == 1) return op.full(op.dims({1, 1}), DType::INT32, 0);  // tile.ci makes no single number
  return op.op(OpId::tile_ci, {op.int32(0), op.tuple(op.dims({1, count}))},
               {{"dtype", AttrValue::of_dtype(DType::INT32)}, {"descending", AttrValue::of_bool(false)}});
}

// Positions are INT32 beside elements of four bytes and INT16 beside smaller ones.
const Expr* positions_for(Lowering& op, const Expr* positions, DType elements) {
  return wide(elements) ? positions : op.as_dtype(positions, DType::INT16, "scatter_idx_cast");
}

}  // namespace

// Row b of the index names columns of row b.
const Expr* scatter(Lowering& op) {
  const std::int64_t dim = op.integer("dim", -1);
  const Expr* old = op.vector(0);
  const Expr* index = op.vector(1);
  const Expr* source = op.vector(2);
  if (old == nullptr || index == nullptr || source == nullptr) return nullptr;
  const List<const Expr*> shape = op.shape_of(index);
  const List<const Expr*> whole = op.shape_of(old);
  if (shape.size() != 2 || (dim != -1 && dim != 1))
    return op.no_form("another axis than the last of a matrix", "dim=-1 of a matrix",
                      "transpose or reshape the operands");
  index = op.as_dtype(index, DType::INT32, "scatter_idx32");
  const std::int64_t rows = extent(shape[0]);
  const Var* numbers = op.bind("scatter_ci_rows", sequence(op, rows));
  const Var* column = op.bind("scatter_row_arange", op.reshape(numbers, op.dims({rows, 1})));
  const Var* base = op.bind("scatter_row_base", OpId::tile_muls, {column, op.int32(extent(whole[1]))});
  const Var* flat = op.bind("scatter_flat_idx", OpId::tile_row_expand_add, {index, base});
  const Expr* positions = positions_for(op, flat, op.tensor(0)->dtype);
  return blended(op,
                 {"scatter_values_zero", "scatter_values", "scatter_mask_zero", "scatter_ones",
                  "scatter_mask", "scatter_pred", "scatter_sel_tmp"},
                 old, source, [&](const Expr* to, const Expr* from) {
                   return op.op(OpId::tile_scatter, {to, from, positions});
                 });
}

// The index names whole rows.
const Expr* scatter_update(Lowering& op) {
  const Expr* old = op.vector(0);
  const Expr* index = op.vector(1);
  const Expr* source = op.vector(2);
  if (old == nullptr || index == nullptr || source == nullptr) return nullptr;
  const List<const Expr*> shape = op.shape_of(source);
  if (shape.size() != 2 || op.shape_of(old).size() != 2)
    return op.no_form("a tensor of other than two axes", "a matrix", "reshape it to two dimensions");
  const std::int64_t rows = extent(shape[0]);
  const std::int64_t columns = extent(shape[1]);
  const Var* numbers = op.bind("su_col", sequence(op, columns));
  const Var* like = op.bind("su_tmpl", op.full(op.dims({rows, columns}), DType::INT32, 0));
  const Var* spread = op.bind("su_col_nd", OpId::tile_col_expand, {like, numbers});
  const Var* column = op.bind("su_idx_flat", op.reshape(index, op.dims({rows, 1})));
  const Var* base = op.bind("su_row_base", OpId::tile_muls, {column, op.int32(columns)});
  const Var* flat = op.bind("su_flat_idx", OpId::tile_row_expand_add, {spread, base});
  const Expr* positions = positions_for(op, flat, op.tensor(0)->dtype);
  return blended(op, {"su_v0", "su_vals", "su_m0", "su_ones", "su_mask", "su_pred", "su_tmp"}, old, source,
                 [&](const Expr* to, const Expr* from) {
                   return op.op(OpId::tile_scatter, {to, from, positions});
                 });
}

// The columns of the source go to those that the pattern marks.
const Expr* scatter_mask(Lowering& op) {
  const Expr* source = op.vector(0);
  const Expr* old = op.vector(1);
  if (source == nullptr || old == nullptr) return nullptr;
  return blended(op,
                 {"scatter_mask_values_zero", "scatter_mask_values", "scatter_mask_mask_zero",
                  "scatter_mask_ones", "scatter_mask_mask", "scatter_mask_pred", "scatter_mask_sel_tmp"},
                 old, source, [&](const Expr* to, const Expr* from) {
                   return same_call(op, OpId::tile_scatter_mask, {to, from});
                 });
}

}  // namespace pldc::tiling
