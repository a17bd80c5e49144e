// Creation of tiles, and the halves of the vector lanes (ops.md 1.9, S2).
#include "ir/rules/rule.h"
#include "support/diag/op.h"

namespace pldc {

const Type* rule_TileCreate(const RuleCall& call) {
  const auto shape = call.tuple(0);
  if (!shape || !call.positive(0, *shape, false)) return nullptr;
  const MemSpace space = call.space("target_memory").value_or(MemSpace::Vec);
  TileView view = implicit_tile_view(*shape, space);
  if (call.flag("transpose")) {
    const TileLayout block = view.blayout;
    view.blayout = view.slayout;
    view.slayout = block;
  }
  if (call.flag("flat_layout")) {
    view.blayout = TileLayout::RowMajor;
    view.slayout = TileLayout::NoneBox;
  }
  return call.ctx.tile(call.dtype("dtype").value_or(DType::FP32), *shape, nullptr, space, &view);
}

bool constant_value(const RuleCall& call, std::size_t i) {
  const ExprKind kind = call.args[i]->kind;
  if (kind == ExprKind::ConstInt || kind == ExprKind::ConstFloat) return true;
  call.diags.report<diag::op_value>(call.place(i), call.operand(i), call.name(),
                                    "an integer or float constant", describe(call.type(i)));
  return false;
}

const Type* rule_TileFull(const RuleCall& call) {
  const auto shape = call.tuple(0);
  if (!shape || !call.positive(0, *shape, true) || !constant_value(call, 1)) return nullptr;
  return make_tile(call, call.dtype("dtype").value_or(DType::FP32), *shape, MemSpace::Vec);
}

bool sequence_ok(const RuleCall& call, Dims shape, DType dtype) {
  if (dtype != DType::INT16 && dtype != DType::INT32 && dtype != DType::UINT16 && dtype != DType::UINT32) {
    call.diags.report<diag::op_value>(call.span, "dtype", call.name(), "INT16, INT32, UINT16 or UINT32",
                                      name_of(dtype));
    return false;
  }
  if (const auto start = scalar_dtype(call.type(0)); start && *start != dtype) {
    call.diags.report<diag::op_dtype>(call.place(0), call.operand(0), call.name(), name_of(dtype),
                                      name_of(*start));
    return false;
  }
  if (shape.empty() || is_const(shape.back(), 1)) {
    call.diags.report<diag::op_extent>(call.place(1), shape.empty() ? 0 : shape.size() - 1, call.operand(1),
                                       call.name(), "more than 1", shape.empty() ? "none" : "1");
    return false;
  }
  return true;
}

const Type* rule_TileCi(const RuleCall& call) {
  const auto shape = call.tuple(1);
  const DType dtype = call.dtype("dtype").value_or(DType::INT32);
  if (!shape || !call.positive(1, *shape, true) || !sequence_ok(call, *shape, dtype)) return nullptr;
  return make_tile(call, dtype, *shape, MemSpace::Vec);
}

namespace {

// The optional valid shape behind the shape operand: positive and not larger.
bool created_valid(const RuleCall& call, std::size_t i, Dims shape, Dims& valid) {
  if (call.count() <= i) return true;
  const auto given = call.tuple(i);
  if (!given || !call.tuple_rank(i, given->size(), shape.size(), i - 1)) return false;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    const auto extent = const_int((*given)[d]);
    if (extent && *extent <= 0) {
      call.diags.report<diag::op_extent>(call.place(i), d, call.operand(i), call.name(), "positive", *extent);
      return false;
    }
    if (provably_lt(shape[d], (*given)[d]) == true) {
      call.diags.report<diag::op_valid_exceeds>(call.place(i), call.name(), describe((*given)[d]), d,
                                                describe(shape[d]));
      return false;
    }
  }
  valid = *given;
  return true;
}

}  // namespace

const Type* rule_TileTri(const RuleCall& call) {
  const auto shape = call.tuple(1);
  const DType dtype = call.dtype("dtype").value_or(DType::INT32);
  if (!shape || !call.rank_is(1, shape->size(), 2) || !call.positive(1, *shape, true)) return nullptr;
  const bool known = dtype == DType::INT8 || dtype == DType::UINT8 || dtype == DType::INT16 ||
                     dtype == DType::INT32 || dtype == DType::UINT16 || dtype == DType::UINT32 ||
                     dtype == DType::FP16 || dtype == DType::BF16 || dtype == DType::FP32;
  if (!known) {
    call.diags.report<diag::op_value>(call.span, "dtype", call.name(),
                                      "an integer dtype of 8 to 32 bits, FP16, BF16 or FP32", name_of(dtype));
    return nullptr;
  }
  if (const auto diagonal = scalar_dtype(call.type(0)); diagonal && *diagonal != DType::INT32) {
    call.diags.report<diag::op_dtype>(call.place(0), call.operand(0), call.name(), "INT32",
                                      name_of(*diagonal));
    return nullptr;
  }
  Dims valid;
  if (!created_valid(call, 2, *shape, valid)) return nullptr;
  return make_tile(call, dtype, *shape, MemSpace::Vec, valid);
}

bool random_ok(const RuleCall& call, Dims shape, DType dtype) {
  for (std::size_t i = 0; i < 6; ++i) {
    const auto key = scalar_dtype(call.type(i));
    if (!key || *key == DType::INT32) continue;
    call.diags.report<diag::op_dtype>(call.place(i), call.operand(i), call.name(), "INT32", name_of(*key));
    return false;
  }
  if (!call.rank_is(6, shape.size(), 2) || !call.positive(6, shape, true)) return false;
  const std::int64_t rounds = call.integer("rounds", 10);
  if (rounds != 7 && rounds != 10) {
    call.diags.report<diag::op_value>(call.span, "rounds", call.name(), "7 or 10", rounds);
    return false;
  }
  if (dtype != DType::INT32 && dtype != DType::UINT32) {
    call.diags.report<diag::op_value>(call.span, "dtype", call.name(), "INT32 or UINT32", name_of(dtype));
    return false;
  }
  return true;
}

const Type* rule_TileRandom(const RuleCall& call) {
  const auto shape = call.tuple(6);
  const DType dtype = call.dtype("dtype").value_or(DType::UINT32);
  if (!shape || !random_ok(call, *shape, dtype)) return nullptr;
  Dims valid;
  if (!created_valid(call, 7, *shape, valid)) return nullptr;
  return make_tile(call, dtype, *shape, MemSpace::Vec, valid);
}

// --- vector lanes
// ------------------------------------------------------------------------------------------------

bool split_axis(const RuleCall& call, std::size_t rank, std::optional<std::size_t>& axis) {
  const std::int64_t split = call.integer("split", 0);
  if (split < 0 || split > 2) {
    call.diags.report<diag::op_value>(call.span, "split", call.name(),
                                      "0 (none), 1 (up-down) or 2 (left-right)", split);
    return false;
  }
  if (split == 0) return true;
  if (!call.rank_is(0, rank, 2)) return false;
  axis = split == 1 ? 0 : 1;
  return true;
}

const Expr* half_of(const RuleCall& call, const Expr* extent) {
  if (const auto n = const_int(extent)) return dim_const(call.ctx, (*n + 1) / 2);
  return call.ctx.binary(BinaryOp::FloorDiv, dim_add(call.ctx, extent, dim_const(call.ctx, 1)),
                         dim_const(call.ctx, 2));
}

bool lane_geometry(const RuleCall& call, Dims shape, Dims valid, bool shard, Dims& new_shape,
                   Dims& new_valid) {
  new_shape = shape;
  new_valid = valid;
  std::optional<std::size_t> axis;
  if (!split_axis(call, shape.size(), axis)) return false;
  if (!axis) return true;
  const auto change = [&](const Expr* e) {
    return shard ? half_of(call, e) : dim_mul(call.ctx, e, dim_const(call.ctx, 2));
  };
  const auto extent = const_int(shape[*axis]);
  if (shard && extent && *extent % 2 != 0) {
    call.diags.report<diag::op_extent>(call.place(0), *axis, call.operand(0), call.name(), "even", *extent);
    return false;
  }
  std::vector<const Expr*> s(shape.begin(), shape.end());
  std::vector<const Expr*> v(valid.begin(), valid.end());
  s[*axis] = change(s[*axis]);
  v[*axis] = change(v[*axis]);
  new_shape = call.ctx.list(s);
  new_valid = call.ctx.list(v);
  return true;
}

const Type* rule_TileShard(const RuleCall& call) {
  const TileType* tile = call.tile(0);
  Dims shape;
  Dims valid;
  if (!lane_geometry(call, tile->shape, valid_shape_of(tile), true, shape, valid)) return nullptr;
  return make_tile(call, tile->dtype, shape, MemSpace::Vec, valid);
}

const Type* rule_TileGatherLanes(const RuleCall& call) {
  const TileType* tile = call.tile(0);
  Dims shape;
  Dims valid;
  if (!lane_geometry(call, tile->shape, valid_shape_of(tile), false, shape, valid)) return nullptr;
  return make_tile(call, tile->dtype, shape, MemSpace::Mat, valid);
}

}  // namespace pldc
