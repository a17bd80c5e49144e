// Element-wise, compare, expand and reduction rules of tiles (ops.md 1.1, 1.3 to 1.7).
#include "ir/rules/rule.h"
#include "support/diag/op.h"

namespace pldc {

namespace {

bool provably_differ(Dims a, Dims b) {
  if (a.size() != b.size()) return true;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const auto le = provably_le(a[i], b[i]);
    const auto ge = provably_le(b[i], a[i]);
    if (le == false || ge == false) return true;
  }
  return false;
}

// A tile of a broadcast shape. Its layout is that of the first operand; along each axis its valid extent is that of the
// first operand which is not stretched there.
const Type* broadcast_result(const RuleCall& call, std::initializer_list<const TileType*> operands,
                             DType dtype, Dims shape) {
  const TileType* like = *operands.begin();
  const Type* result = make_tile_like(call, like, dtype, shape);
  if (same_dims(like->shape, shape)) return result;
  std::vector<const Expr*> valid(shape.begin(), shape.end());
  for (std::size_t i = 1; i <= shape.size(); ++i) {  // from the last axis: shorter shapes have ones in front
    for (const TileType* tile : operands) {
      const Dims extents = valid_shape_of(tile);
      const std::size_t rank = tile->shape.size();
      if (i > rank || extents.size() != rank || !same_dim(tile->shape[rank - i], shape[shape.size() - i]))
        continue;
      valid[shape.size() - i] = extents[rank - i];
      break;
    }
  }
  TileView view = effective_view(static_cast<const TileType*>(result));
  view.valid_shape = call.ctx.list(valid);
  return call.ctx.tile(dtype, shape, nullptr, MemSpace::Vec, &view);
}

const Type* binary_result(const RuleCall& call, DType dtype) {
  const auto shape = broadcast(call, call.tile(0)->shape, call.tile(1)->shape);
  return shape ? broadcast_result(call, {call.tile(0), call.tile(1)}, dtype, *shape) : nullptr;
}

DType scalar_of(const RuleCall& call, std::size_t i) {
  return scalar_dtype(call.type(i)).value_or(call.tile(0)->dtype);
}

}  // namespace

const Type* rule_TileUnary(const RuleCall& call) {
  const TileType* tile = call.tile(0);
  if (call.op == OpId::tile_log && !call.one_of(0, tile->dtype, {DType::FP16, DType::FP32})) return nullptr;
  if (call.op == OpId::tile_rsqrt && call.count() > 1) {
    const TileType* tmp = call.tile(1);
    if (!call.same_dtype(0, 1, tile->dtype, tmp->dtype)) return nullptr;
    if (!call.rank_is(1, tmp->shape.size(), tile->shape.size())) return nullptr;
    if (provably_differ(tile->shape, tmp->shape)) {
      call.diags.report<diag::op_shapes>(call.span, call.name(), describe(tile->shape), describe(tmp->shape));
      return nullptr;
    }
  }
  return make_tile_like(call, tile, tile->dtype, tile->shape);
}

const Type* rule_TileFp32Unary(const RuleCall& call) {
  const TileType* tile = call.tile(0);
  if (tile->dtype != DType::FP32) {
    call.diags
        .report<diag::op_dtype>(call.place(0), call.operand(0), call.name(), "FP32 (the op is FP32-only)",
                                name_of(tile->dtype))
        .help("cast it to FP32 first");
    return nullptr;
  }
  return make_tile_like(call, tile, tile->dtype, tile->shape);
}

const Type* rule_TileNot(const RuleCall& call) {
  const TileType* tile = call.tile(0);
  if (!call.one_of(0, tile->dtype, {DType::INT16, DType::UINT16})) return nullptr;
  return make_tile_like(call, tile, tile->dtype, tile->shape);
}

const Type* rule_TilePrelu(const RuleCall& call) {
  const TileType* tile = call.tile(0);
  const TileType* slope = call.tile(1);
  if (!call.one_of(0, tile->dtype, {DType::FP16, DType::FP32})) return nullptr;
  if (!call.same_dtype(0, 1, tile->dtype, slope->dtype)) return nullptr;
  if (!call.rank_is(0, tile->shape.size(), 2)) return nullptr;
  if (provably_differ(tile->shape, slope->shape)) {
    call.diags.report<diag::op_shapes>(call.span, call.name(), describe(tile->shape), describe(slope->shape));
    return nullptr;
  }
  return make_tile_like(call, tile, tile->dtype, tile->shape);
}

const Type* rule_TileBinary(const RuleCall& call) {
  return binary_result(call, promote(call.tile(0)->dtype, call.tile(1)->dtype));
}

const Type* rule_TileDiv(const RuleCall& call) {
  const TileType* a = call.tile(0);
  const TileType* b = call.tile(1);
  for (std::size_t i = 0; i < 2; ++i) {
    if (!call.one_of(i, call.tile(i)->dtype, {DType::INT16, DType::INT32, DType::FP16, DType::FP32}))
      return nullptr;
  }
  if (!call.same_dtype(0, 1, a->dtype, b->dtype)) return nullptr;
  if (provably_differ(a->shape, b->shape) || provably_differ(valid_shape_of(a), valid_shape_of(b))) {
    call.diags.report<diag::op_shapes>(call.span, call.name(), describe(a), describe(b))
        .help("both operands need the same physical shape and the same valid_shape");
    return nullptr;
  }
  if (call.flag("high_precision") && !is_float(a->dtype)) {
    call.diags.report<diag::op_value>(call.span, "high_precision", call.name(), "used only for FP16 or FP32",
                                      name_of(a->dtype));
    return nullptr;
  }
  return make_tile_like(call, a, a->dtype, a->shape);
}

const Type* rule_TileBit(const RuleCall& call) {
  if (!call.integer_dtype(0, call.tile(0)->dtype) || !call.integer_dtype(1, call.tile(1)->dtype))
    return nullptr;
  return rule_TileBinary(call);
}

const Type* rule_TileXor(const RuleCall& call) { return rule_TileBit(call); }

const Type* rule_TileShift(const RuleCall& call) {
  if (!call.integer_dtype(0, call.tile(0)->dtype) || !call.integer_dtype(1, call.tile(1)->dtype))
    return nullptr;
  return binary_result(call, call.tile(0)->dtype);
}

const Type* rule_TileRem(const RuleCall& call) { return rule_TileBinary(call); }

const Type* rule_TileTernary(const RuleCall& call) {
  const auto first = broadcast(call, call.tile(0)->shape, call.tile(1)->shape);
  if (!first) return nullptr;
  const auto shape = broadcast(call, *first, call.tile(2)->shape);
  if (!shape) return nullptr;
  const DType dtype = promote(promote(call.tile(0)->dtype, call.tile(1)->dtype), call.tile(2)->dtype);
  return broadcast_result(call, {call.tile(0), call.tile(1), call.tile(2)}, dtype, *shape);
}

const Type* rule_TileScalar(const RuleCall& call) {
  return make_tile_like(call, call.tile(0), call.tile(0)->dtype, call.tile(0)->shape);
}

const Type* rule_TileSubs(const RuleCall& call) {
  const std::initializer_list<DType> allowed = {DType::INT8, DType::INT16, DType::INT32,
                                                DType::FP16, DType::FP32,  DType::BF16};
  if (!call.one_of(0, call.tile(0)->dtype, allowed) || !call.one_of(1, scalar_of(call, 1), allowed))
    return nullptr;
  return rule_TileScalar(call);
}

const Type* rule_TileBitScalar(const RuleCall& call) {
  if (!call.integer_dtype(0, call.tile(0)->dtype) || !call.integer_dtype(1, scalar_of(call, 1)))
    return nullptr;
  if (call.op == OpId::tile_shls || call.op == OpId::tile_shrs) {
    const auto by = const_int(call.args[1]);
    if (by && *by < 0) {
      call.diags.report<diag::op_value>(call.place(1), call.operand(1), call.name(),
                                        "a non-negative shift count", *by);
      return nullptr;
    }
  }
  return rule_TileScalar(call);
}

const Type* rule_TileRems(const RuleCall& call) {
  DType dtype = promote(call.tile(0)->dtype, scalar_of(call, 1));
  if (const TileType* tmp = call.tile(2)) dtype = promote(dtype, tmp->dtype);
  return make_tile_like(call, call.tile(0), dtype, call.tile(0)->shape);
}

const Type* rule_TileScalarTernary(const RuleCall& call) {
  const auto shape = broadcast(call, call.tile(0)->shape, call.tile(2)->shape);
  if (!shape) return nullptr;
  const DType dtype = promote(promote(call.tile(0)->dtype, scalar_of(call, 1)), call.tile(2)->dtype);
  return broadcast_result(call, {call.tile(0), call.tile(2)}, dtype, *shape);
}

const Type* rule_TileExpands(const RuleCall& call) {
  const TileType* tile = call.tile(0);
  return make_tile_like(call, tile, promote(tile->dtype, scalar_of(call, 1)), tile->shape);
}

const Type* rule_TileCast(const RuleCall& call) {
  const TileType* tile = call.tile(0);
  const DType target = call.dtype("target_type").value_or(tile->dtype);
  if (target == tile->dtype) {
    call.diags.report<diag::op_cast_same>(call.span, call.name(), name_of(target));
    return nullptr;
  }
  return make_tile_like(call, tile, target, tile->shape);
}

// One bit an element: bytes of a row in a multiple of 32.
const Type* rule_TileCmp(const RuleCall& call) {
  const TileType* tile = call.tile(0);
  Dims shape = tile->shape;
  if (const TileType* other = call.tile(1)) {
    const auto common = broadcast(call, tile->shape, other->shape);
    if (!common) return nullptr;
    shape = *common;
  }
  if (shape.empty()) return make_tile(call, DType::UINT8, shape, MemSpace::Vec);
  Context& ctx = call.ctx;
  const auto bytes = [&](const Expr* bits) -> const Expr* {
    if (const auto n = const_int(bits)) return dim_const(ctx, (*n + 7) / 8);
    return ctx.binary(BinaryOp::FloorDiv, dim_add(ctx, bits, dim_const(ctx, 7)), dim_const(ctx, 8));
  };
  std::vector<const Expr*> packed(shape.begin(), shape.end());
  const Expr* row = bytes(packed.back());
  if (const auto n = const_int(row)) {
    packed.back() = dim_const(ctx, (*n + 31) / 32 * 32);
  } else {
    packed.back() =
        ctx.binary(BinaryOp::Mul,
                   ctx.binary(BinaryOp::FloorDiv, dim_add(ctx, row, dim_const(ctx, 31)), dim_const(ctx, 32)),
                   dim_const(ctx, 32));
  }
  const Dims of = valid_shape_of(tile);
  std::vector<const Expr*> valid(of.begin(), of.end());
  if (!valid.empty()) valid.back() = bytes(valid.back());
  return make_tile(call, DType::UINT8, ctx.list(packed), MemSpace::Vec, ctx.list(valid));
}

const Type* rule_TileSel(const RuleCall& call) {
  const auto shape = broadcast(call, call.tile(1)->shape, call.tile(2)->shape);
  if (!shape) return nullptr;
  return broadcast_result(call, {call.tile(1), call.tile(2)},
                          promote(call.tile(1)->dtype, call.tile(2)->dtype), *shape);
}

const Type* rule_TileSels(const RuleCall& call) {
  const TileType* mask = call.tile(0);
  const TileType* src = call.tile(1);
  if (!call.rank_is(0, mask->shape.size(), 2)) return nullptr;
  if (!call.one_of(0, mask->dtype,
                   {DType::INT8, DType::UINT8, DType::INT16, DType::UINT16, DType::INT32, DType::UINT32})) {
    return nullptr;
  }
  if (!call.one_of(1, src->dtype,
                   {DType::INT8, DType::UINT8, DType::INT16, DType::UINT16, DType::INT32, DType::UINT32,
                    DType::FP16, DType::FP32})) {
    return nullptr;
  }
  return make_tile_like(call, src, src->dtype, src->shape);
}

// --- expand
// ------------------------------------------------------------------------------------------------------

namespace {

// `vector` has extent 1 on its axis `one` (counted from the end) and equals the tile on axis `same`.
bool expands_ok(const RuleCall& call, Dims shape, Dims vector, std::size_t one, std::size_t same) {
  if (!call.rank_at_least(0, shape.size(), 2) || !call.rank_at_least(1, vector.size(), 2)) return false;
  const std::size_t axis = vector.size() - one;
  if (!is_const(vector[axis], 1)) {
    call.diags.report<diag::op_extent>(call.place(1), axis, call.operand(1), call.name(), 1,
                                       describe(vector[axis]));
    return false;
  }
  const auto a = const_int(shape[shape.size() - same]);
  const auto b = const_int(vector[vector.size() - same]);
  if (a && b && *a != *b) {
    call.diags.report<diag::op_shapes>(call.span, call.name(), describe(shape), describe(vector));
    return false;
  }
  return true;
}

bool floats_only(const RuleCall& call) {
  if (call.op != OpId::tile_row_expand_div && call.op != OpId::tile_col_expand_div) return true;
  return call.one_of(0, call.tile(0)->dtype, {DType::FP16, DType::FP32});
}

const Type* expand_result(const RuleCall& call) {
  return make_tile_like(call, call.tile(0), promote(call.tile(0)->dtype, call.tile(1)->dtype),
                        call.tile(0)->shape);
}

}  // namespace

const Type* rule_TileRowExpand(const RuleCall& call) {
  if (!expands_ok(call, call.tile(0)->shape, call.tile(1)->shape, 1, 2) || !floats_only(call)) return nullptr;
  return expand_result(call);
}

const Type* rule_TileColExpand(const RuleCall& call) {
  if (!expands_ok(call, call.tile(0)->shape, call.tile(1)->shape, 2, 1) || !floats_only(call)) return nullptr;
  return expand_result(call);
}

const Type* rule_TileRowExpandAdd(const RuleCall& call) {
  const TileType* tile = call.tile(0);
  const TileType* row = call.tile(1);
  if (!call.rank_at_least(0, tile->shape.size(), 2) || !call.rank_at_least(1, row->shape.size(), 2))
    return nullptr;
  if (!call.one_of(0, tile->dtype, {DType::INT8, DType::INT16, DType::INT32, DType::FP16, DType::FP32})) {
    return nullptr;
  }
  if (!call.same_dtype(0, 1, tile->dtype, row->dtype)) return nullptr;
  return make_tile_like(call, tile, tile->dtype, tile->shape);
}

// --- reductions
// --------------------------------------------------------------------------------------------------

namespace {

bool reduces_something(const RuleCall& call, const TileType* tile) {
  // The second vector lane may run the same body over nothing: then every extent is 0, which is legal.
  const Dims valid = valid_shape_of(tile);
  std::size_t zeros = 0;
  std::size_t first = 0;
  for (std::size_t i = valid.size(); i > 0; --i) {
    if (!is_const(valid[i - 1], 0)) continue;
    ++zeros;
    first = i - 1;
  }
  if (zeros == 0 || zeros == valid.size()) return true;
  call.diags.report<diag::op_empty_reduction>(call.place(0), call.name(), first);
  return false;
}

bool scratch_fits(const RuleCall& call, bool exact) {
  const TileType* tile = call.tile(0);
  const TileType* tmp = call.count() > 1 ? call.tile(1) : nullptr;
  if (tmp == nullptr) return true;
  if (!call.same_dtype(0, 1, tile->dtype, tmp->dtype)) return false;
  if (!call.rank_is(1, tmp->shape.size(), tile->shape.size())) return false;
  for (std::size_t i = 0; i < tile->shape.size(); ++i) {
    const auto need = const_int(tile->shape[i]);
    const auto have = const_int(tmp->shape[i]);
    if (!need || !have || (exact ? *have == *need : *have >= *need)) continue;
    call.diags.report<diag::op_extent>(call.place(1), i, call.operand(1), call.name(),
                                       exact
                                           ? fmt::format("{}, to exactly match '{}'", *need, call.operand(0))
                                           : fmt::format("at least {} (undersized scratch)", *need),
                                       *have);
    return false;
  }
  return true;
}

const Type* reduce_tile(const RuleCall& call, bool rows, DType dtype) {
  const TileType* tile = call.tile(0);
  if (!call.rank_at_least(0, tile->shape.size(), 2) || !reduces_something(call, tile)) return nullptr;
  std::vector<const Expr*> shape(tile->shape.begin(), tile->shape.end());
  const Dims of = valid_shape_of(tile);
  std::vector<const Expr*> valid(of.begin(), of.end());
  const std::size_t axis = rows ? shape.size() - 1 : 0;
  shape[axis] = dim_const(call.ctx, 1);
  valid[axis] = is_const(valid[axis], 0) ? valid[axis] : dim_const(call.ctx, 1);
  TileView view = implicit_tile_view(call.ctx.list(shape), MemSpace::Vec);
  if (rows) view.blayout = TileLayout::ColMajor;
  view.valid_shape = call.ctx.list(valid);
  return call.ctx.tile(dtype, call.ctx.list(shape), nullptr, MemSpace::Vec, &view);
}

}  // namespace

const Type* rule_TileRowReduce(const RuleCall& call) {
  const TileType* tile = call.tile(0);
  if (call.op == OpId::tile_row_min &&
      !call.one_of(0, tile->dtype, {DType::INT16, DType::INT32, DType::FP16, DType::FP32})) {
    return nullptr;
  }
  if (!scratch_fits(call, false)) return nullptr;
  return reduce_tile(call, true, tile->dtype);
}

const Type* rule_TileRowArg(const RuleCall& call) {
  if (!scratch_fits(call, true)) return nullptr;
  return reduce_tile(call, true, DType::INT32);
}

const Type* rule_TileColReduce(const RuleCall& call) {
  if (!scratch_fits(call, false)) return nullptr;
  return reduce_tile(call, false, call.tile(0)->dtype);
}

const Type* rule_TileColArg(const RuleCall& call) {
  if (!scratch_fits(call, true)) return nullptr;
  return reduce_tile(call, false, DType::INT32);
}

}  // namespace pldc
