// Element by element: the tile op of the same name, operands brought to one shape and dtype.
#include <string>

#include "ir/rules.h"
#include "passes/convert_tensor_to_tile_ops/conversions.h"

namespace pldc::tiling {

namespace {

const TileType* tile_type(const Expr* e) { return e != nullptr ? dyn<TileType>(e->type) : nullptr; }

std::string_view leaf(const Lowering& op) { return op_leaf(op.name()); }

// As what the tensor op gives: tile ops keep the dtype of the tile. An integer beside a float is a float, and FP16 beside a bare
// literal, which is FP32 (format.md 4.2.1), is FP32, unless it is written as FP16 all the same.
const Expr* promoted(Lowering& op, const Expr* tile) {
  const TileType* type = tile_type(tile);
  if (type == nullptr || op.result() == nullptr) return tile;
  if (is_float(type->dtype) && op.assembled_as == type->dtype) return tile;
  return op.as_dtype(tile, op.result()->dtype, std::string(leaf(op)) + "_cast");
}

// The op over a tile and one column (`column`) or one row of it.
struct Expanding {
  OpId op, by_column, by_row;
  bool commutes;
};
constexpr Expanding kExpanding[] = {
    {OpId::tile_add, OpId::tile_row_expand_add, OpId::tile_col_expand_add, true},
    {OpId::tile_mul, OpId::tile_row_expand_mul, OpId::tile_col_expand_mul, true},
    {OpId::tile_sub, OpId::tile_row_expand_sub, OpId::tile_col_expand_sub, false},
    {OpId::tile_div, OpId::tile_row_expand_div, OpId::tile_col_expand_div, false},
    {OpId::tile_maximum, OpId::tile_row_expand_max, OpId::tile_col_expand_max, true},
    {OpId::tile_minimum, OpId::tile_row_expand_min, OpId::tile_col_expand_min, true},
};

bool is_one(const Expr* dim) { return const_int(dim) == 1; }

// One column of `wide`: all axes but the last agree, the last is 1.
bool is_column_of(List<const Expr*> narrow, List<const Expr*> wide) {
  const std::size_t rank = wide.size();
  return rank >= 2 && narrow.size() == rank && is_one(narrow[rank - 1]) && !is_one(wide[rank - 1]) &&
         same_dims(narrow.first(rank - 1), wide.first(rank - 1));
}
// One row of it: of two axes the first is 1.
bool is_row_of(List<const Expr*> narrow, List<const Expr*> wide) {
  return wide.size() == 2 && narrow.size() == 2 && is_one(narrow[0]) && !is_one(wide[0]) &&
         same_dim(narrow[1], wide[1]);
}

// The tile repeated over the shape; null after a report.
const Expr* expanded(Lowering& op, const Expr* tile, List<const Expr*> shape) {
  const TileType* type = tile_type(tile);
  if (same_dims(type->shape, shape)) return tile;
  const std::string name = std::string(leaf(op)) + "_expanded";
  if (type->shape.size() < shape.size()) {  // axes of 1 in front
    std::vector<const Expr*> padded(shape.size() - type->shape.size(), op.index(1));
    padded.insert(padded.end(), type->shape.begin(), type->shape.end());
    tile = op.bind(name, op.reshape(tile, op.ir().list(padded)));
    type = tile_type(tile);
    if (type == nullptr || same_dims(type->shape, shape)) return tile;
  }
  const bool column = is_column_of(type->shape, shape);
  if (!column && !is_row_of(type->shape, shape)) {
    if (shape.size() == 2 && is_one(type->shape[0]) && is_one(type->shape[1])) {
      const Expr* first = expanded(op, tile, op.ir().list({shape[0], op.index(1)}));
      return first != nullptr ? expanded(op, first, shape) : nullptr;
    }
    return op.no_form("operands that differ in other axes than the last or, of two, the first",
                      "one column or one row beside a whole tile", "reshape the operands to two dimensions");
  }
  const Expr* target = op.bind(name, op.create(shape, type->dtype));
  return op.bind(name, column ? OpId::tile_row_expand : OpId::tile_col_expand, {target, tile});
}

}  // namespace

const Expr* same_call(Lowering& op, OpId id, std::initializer_list<const Expr*> operands) {
  for (const Expr* operand : operands) {
    if (operand == nullptr) return nullptr;
  }
  return op.op(id, op.ir().list(operands), op.call->kwargs);
}

const Expr* same_op(Lowering& op) {
  std::vector<const Expr*> operands;
  for (std::size_t i = 0; i < op.count(); ++i) {
    operands.push_back(op.is_tensor(i) ? op.tile(i) : op.arg(i));
    if (operands.back() == nullptr) return nullptr;
  }
  return op.op(op.row.tile, op.ir().list(operands), op.call->kwargs);
}

const Expr* with_scalar(Lowering& op) {
  const Expr* tile = op.tile(0);
  if (tile == nullptr) return nullptr;
  return op.op(op.row.tile, op.ir().list({promoted(op, tile), op.arg(1)}), op.call->kwargs);
}

const Expr* on_floats(Lowering& op) {
  const Expr* tile = op.tile(0);
  if (tile == nullptr) return nullptr;
  return op.op(op.row.tile, op.ir().list({promoted(op, tile)}), op.call->kwargs);
}

const Expr* broadcasting(Lowering& op) {
  if (!op.is_tensor(1)) {
    if (op.row.tile == OpId::tile_maximum || op.row.tile == OpId::tile_minimum) {
      const Expr* tile = op.tile(0);
      if (tile == nullptr) return nullptr;
      const OpId id = op.row.tile == OpId::tile_maximum ? OpId::tile_maximums : OpId::tile_minimums;
      return op.op(id, {promoted(op, tile), op.arg(1)});
    }
    if (op.row.tile == OpId::tile_add) {
      const Expr* tile = op.tile(0);
      return tile != nullptr ? op.op(OpId::tile_adds, {promoted(op, tile), op.arg(1)}) : nullptr;
    }
  }
  const Expr* a = op.tile(0);
  const Expr* b = op.tile(1);
  if (tile_type(a) == nullptr || tile_type(b) == nullptr) return nullptr;
  if (const DType dtype = promote(tile_type(a)->dtype, tile_type(b)->dtype);
      tile_type(a)->dtype != tile_type(b)->dtype) {
    a = op.as_dtype(a, dtype, std::string(leaf(op)) + "_lhs_cast");
    b = op.as_dtype(b, dtype, std::string(leaf(op)) + "_rhs_cast");
  }
  const List<const Expr*> left = tile_type(a)->shape;
  const List<const Expr*> right = tile_type(b)->shape;
  if (same_dims(left, right)) return op.op(op.row.tile, op.ir().list({a, b}), op.call->kwargs);
  if (!op.flag("high_precision")) {
    for (const Expanding& row : kExpanding) {
      if (row.op != op.row.tile) continue;
      if (is_column_of(right, left)) return op.op(row.by_column, {a, b});
      if (is_row_of(right, left)) return op.op(row.by_row, {a, b});
      if (row.commutes && is_column_of(left, right)) return op.op(row.by_column, {b, a});
      if (row.commutes && is_row_of(left, right)) return op.op(row.by_row, {b, a});
    }
  }
  const List<const Expr*> shape = op.result() != nullptr ? op.result()->shape : left;
  a = expanded(op, a, shape);
  b = a != nullptr ? expanded(op, b, shape) : nullptr;
  return b != nullptr ? op.op(op.row.tile, op.ir().list({a, b}), op.call->kwargs) : nullptr;
}

const Expr* with_scratch(Lowering& op) {
  const Expr* tile = op.tile(0);
  const Expr* other = op.is_tensor(1) ? op.tile(1) : op.arg(1);
  if (tile == nullptr || other == nullptr) return nullptr;
  if (!op.is_tensor(1)) tile = promoted(op, tile);
  const TileType* type = tile_type(tile);
  const Var* scratch = op.bind("xor_tmp", op.create(type->shape, type->dtype));
  return same_call(op, op.row.tile, {tile, other, scratch});
}

const Expr* rsqrt(Lowering& op) {
  const Expr* tile = op.tile(0);
  if (tile == nullptr) return nullptr;
  tile = promoted(op, tile);
  if (!op.flag("high_precision")) return op.op(OpId::tile_rsqrt, {tile});
  const TileType* type = tile_type(tile);
  const Var* scratch = op.bind("rsqrt_tmp", op.create(type->shape, type->dtype));
  return op.op(OpId::tile_rsqrt, {tile, scratch});
}

// A bit for each element, then 1 or 0 for each bit.
const Expr* compare(Lowering& op) {
  const Expr* a = op.tile(0);
  const Expr* b = op.is_tensor(1) ? op.tile(1) : op.arg(1);
  if (tile_type(a) == nullptr || b == nullptr) return nullptr;
  const DType dtype = op.result() != nullptr ? op.result()->dtype : tile_type(a)->dtype;
  const List<const Expr*> shape = op.result() != nullptr ? op.result()->shape : tile_type(a)->shape;
  if (!op.is_tensor(1)) {
    a = promoted(op, a);
  } else {
    a = expanded(op, op.as_dtype(a, dtype, "cmp_lhs_cast"), shape);
    b = a != nullptr ? expanded(op, op.as_dtype(b, dtype, "cmp_rhs_cast"), shape) : nullptr;
    if (b == nullptr) return nullptr;
  }
  const DType result = is_float(dtype) && is_float(tile_type(a)->dtype) ? tile_type(a)->dtype : dtype;
  const Expr* bits = same_call(op, op.is_tensor(1) ? OpId::tile_cmp : OpId::tile_cmps, {a, b});
  const Var* mask = op.bind("cmp_mask", bits);
  const Var* one = op.bind("cmp_one", op.full(shape, result, 1));
  const Var* zero = op.bind("cmp_zero", op.full(shape, result, 0));
  const Var* scratch = op.bind("cmp_tmp", op.create(op.dims({1, 32}), DType::UINT8));
  return op.op(OpId::tile_sel, {mask, one, zero, scratch});
}

}  // namespace pldc::tiling
