// Matrix products of tiles (ops.md 1.12).
#include "ir/rules/rule.h"
#include "support/diag/op.h"

namespace pldc {

namespace {

DType accumulator(DType d) { return is_float(d) ? DType::FP32 : DType::INT32; }

bool extents_differ(const Expr* a, const Expr* b) {
  const auto x = const_int(a);
  const auto y = const_int(b);
  return x && y && *x != *y;
}

// Operands l and r as [.., M, K] and [.., K, N].
struct Product {
  std::size_t l = 0;
  std::size_t r = 1;
  Dims lhs, rhs;  // shapes
  Dims lhs_valid, rhs_valid;
};

bool product(const RuleCall& call, std::size_t l, std::size_t r, Product& p) {
  p.l = l;
  p.r = r;
  p.lhs = call.tile(l)->shape;
  p.rhs = call.tile(r)->shape;
  p.lhs_valid = valid_shape_of(call.tile(l));
  p.rhs_valid = valid_shape_of(call.tile(r));
  return true;
}

bool inner_ok(const RuleCall& call, const Product& p) {
  const Expr* k_left = p.lhs.back();
  const Expr* k_right = p.rhs[p.rhs.size() - 2];
  if (extents_differ(k_left, k_right)) {
    call.diags.report<diag::op_inner>(call.place(p.r), call.name(), describe(k_left), call.operand(p.l),
                                      describe(k_right), call.operand(p.r));
    return false;
  }
  const Expr* valid_left = p.lhs_valid.back();
  const Expr* valid_right = p.rhs_valid[p.rhs_valid.size() - 2];
  if (provably_lt(valid_right, valid_left) == true) {
    call.diags.report<diag::op_inner>(call.place(p.r), call.name(), "valid " + describe(valid_left),
                                      call.operand(p.l), "valid " + describe(valid_right), call.operand(p.r));
    return false;
  }
  return true;
}

bool matrix_operands(const RuleCall& call, std::size_t l, std::size_t r, Product& p) {
  if (!product(call, l, r, p)) return false;
  if (!call.rank_is(l, p.lhs.size(), 2) || !call.rank_is(r, p.rhs.size(), 2)) return false;
  return inner_ok(call, p);
}

const Type* accumulator_tile(const RuleCall& call, DType dtype, Dims shape, Dims valid) {
  TileView view = implicit_tile_view(shape, MemSpace::Acc);
  view.valid_shape = valid;
  // Rows that hold data are stored without the gaps of the missing ones.
  if (!same_dims(shape, valid) && shape.size() == 2) view.compact = CompactMode::Normal;
  return call.ctx.tile(dtype, shape, nullptr, MemSpace::Acc, &view);
}

const Type* product_type(const RuleCall& call, const Product& p, DType dtype) {
  return accumulator_tile(call, dtype, call.ctx.list({p.lhs[0], p.rhs[1]}),
                          call.ctx.list({p.lhs_valid[0], p.rhs_valid[1]}));
}

bool bias_ok(const RuleCall& call, std::size_t i, DType dtype, const Expr* columns) {
  const TileType* bias = call.tile(i);
  if (!call.rank_is(i, bias->shape.size(), 2)) return false;
  if (!call.one_of(i, bias->dtype, {dtype})) return false;
  if (!is_const(bias->shape[0], 1)) {
    call.diags.report<diag::op_extent>(call.place(i), 0, call.operand(i), call.name(), 1,
                                       describe(bias->shape[0]));
    return false;
  }
  if (extents_differ(bias->shape[1], columns)) {
    call.diags.report<diag::op_extent>(call.place(i), 1, call.operand(i), call.name(), describe(columns),
                                       describe(bias->shape[1]));
    return false;
  }
  return true;
}

// The accumulator (argument 0) has the shape of the product.
bool accumulates(const RuleCall& call, const Product& p, DType dtype) {
  const TileType* acc = call.tile(0);
  if (!call.one_of(0, acc->dtype, {dtype})) return false;
  const std::size_t rank = acc->shape.size();
  if (!call.rank_at_least(0, rank, 2)) return false;
  if (extents_differ(acc->shape[rank - 2], p.lhs[p.lhs.size() - 2]) ||
      extents_differ(acc->shape[rank - 1], p.rhs.back())) {
    call.diags.report<diag::op_shapes>(call.place(0), call.name(), describe(acc->shape),
                                       describe(call.ctx.list({p.lhs[p.lhs.size() - 2], p.rhs.back()})));
    return false;
  }
  return true;
}

// The accumulator again. It may have been created elsewhere before its memory was known.
const Type* accumulator_type(const RuleCall& call) {
  const TileType* acc = call.tile(0);
  TileView view = implicit_tile_view(acc->shape, MemSpace::Acc);
  if (acc->space == MemSpace::Acc) view = effective_view(acc);
  view.valid_shape = valid_shape_of(acc);
  return call.ctx.tile(acc->dtype, acc->shape, nullptr, MemSpace::Acc, &view);
}

}  // namespace

const Type* rule_TileMatmul(const RuleCall& call) {
  Product p;
  if (!matrix_operands(call, 0, 1, p)) return nullptr;
  if (!call.same_dtype(0, 1, call.tile(0)->dtype, call.tile(1)->dtype)) return nullptr;
  return product_type(call, p, accumulator(call.tile(0)->dtype));
}

const Type* rule_TileMatmulAcc(const RuleCall& call) {
  Product p;
  if (!matrix_operands(call, 1, 2, p)) return nullptr;
  if (!call.same_dtype(1, 2, call.tile(1)->dtype, call.tile(2)->dtype)) return nullptr;
  if (!accumulates(call, p, accumulator(call.tile(1)->dtype))) return nullptr;
  return accumulator_type(call);
}

const Type* rule_TileMatmulBias(const RuleCall& call) {
  Product p;
  if (!matrix_operands(call, 0, 1, p)) return nullptr;
  if (!call.same_dtype(0, 1, call.tile(0)->dtype, call.tile(1)->dtype)) return nullptr;
  const DType dtype = accumulator(call.tile(0)->dtype);
  if (!bias_ok(call, 2, dtype, p.rhs[1])) return nullptr;
  return product_type(call, p, dtype);
}

const Type* rule_TileBatchMatmul(const RuleCall& call) {
  Product p;
  if (!product(call, 0, 1, p)) return nullptr;
  if (!call.rank_at_least(0, p.lhs.size(), 2) || !call.rank_at_least(1, p.rhs.size(), 2)) return nullptr;
  if (!inner_ok(call, p) || !call.same_dtype(0, 1, call.tile(0)->dtype, call.tile(1)->dtype)) return nullptr;
  const auto batch = broadcast(p.lhs.first(p.lhs.size() - 2), p.rhs.first(p.rhs.size() - 2));
  if (!batch) {
    call.diags.report<diag::op_shapes>(call.span, call.name(), describe(p.lhs), describe(p.rhs));
    return nullptr;
  }
  std::vector<const Expr*> shape = *batch;
  std::vector<const Expr*> valid = *batch;
  shape.push_back(p.lhs[p.lhs.size() - 2]);
  shape.push_back(p.rhs.back());
  valid.push_back(p.lhs_valid[p.lhs.size() - 2]);
  valid.push_back(p.rhs_valid.back());
  return accumulator_tile(call, accumulator(call.tile(0)->dtype), call.ctx.list(shape), call.ctx.list(valid));
}

const Type* rule_TileBatchMatmulAcc(const RuleCall& call) {
  Product p;
  if (!product(call, 1, 2, p)) return nullptr;
  if (!call.rank_at_least(1, p.lhs.size(), 2) || !call.rank_at_least(2, p.rhs.size(), 2)) return nullptr;
  if (!inner_ok(call, p) || !accumulates(call, p, accumulator(call.tile(1)->dtype))) return nullptr;
  return accumulator_type(call);
}

// --- one row
// -------------------------------------------------------------------------------------------------------

namespace {

// The accumulator holds whole blocks of 16 rows.
constexpr std::int64_t kBlockRows = 16;

bool row_operands(const RuleCall& call, std::size_t l, std::size_t r, Product& p) {
  if (!matrix_operands(call, l, r, p)) return false;
  if (!is_const(p.lhs[0], 1)) {
    call.diags.report<diag::op_extent>(call.place(l), 0, call.operand(l), call.name(), 1, describe(p.lhs[0]));
    return false;
  }
  return call.one_of(l, call.tile(l)->dtype, {DType::INT8, DType::FP16, DType::BF16, DType::FP32}) &&
         call.same_dtype(l, r, call.tile(l)->dtype, call.tile(r)->dtype);
}

const Type* row_type(const RuleCall& call, const Product& p, DType dtype) {
  const Dims shape = call.ctx.list({dim_const(call.ctx, kBlockRows), p.rhs[1]});
  return make_tile(call, dtype, shape, MemSpace::Acc, call.ctx.list({p.lhs_valid[0], p.rhs_valid[1]}));
}

}  // namespace

const Type* rule_TileGemv(const RuleCall& call) {
  Product p;
  if (!row_operands(call, 0, 1, p)) return nullptr;
  return row_type(call, p, accumulator(call.tile(0)->dtype));
}

const Type* rule_TileGemvAcc(const RuleCall& call) {
  Product p;
  if (!row_operands(call, 1, 2, p)) return nullptr;
  if (!call.one_of(0, call.tile(0)->dtype, {accumulator(call.tile(1)->dtype)})) return nullptr;
  const Dims shape = call.tile(0)->shape;
  if (!call.rank_is(0, shape.size(), 2)) return nullptr;
  if (extents_differ(shape[1], p.rhs[1])) {
    call.diags.report<diag::op_extent>(call.place(0), 1, call.operand(0), call.name(), describe(p.rhs[1]),
                                       describe(shape[1]));
    return nullptr;
  }
  return accumulator_type(call);
}

const Type* rule_TileGemvBias(const RuleCall& call) {
  Product p;
  if (!row_operands(call, 0, 1, p)) return nullptr;
  const DType dtype = accumulator(call.tile(0)->dtype);
  if (!bias_ok(call, 2, dtype, p.rhs[1])) return nullptr;
  return row_type(call, p, dtype);
}

// --- scaled products
// -------------------------------------------------------------------------------------------------

namespace {

// Operands at `first`: lhs, its scale, rhs, its scale.
bool scaled_operands(const RuleCall& call, std::size_t first, Product& p) {
  const std::size_t l = first;
  const std::size_t r = first + 2;
  if (!matrix_operands(call, l, r, p)) return false;
  for (const std::size_t i : {l, r}) {
    if (!call.one_of(i, call.tile(i)->dtype, {DType::FP8E4M3FN, DType::FP8E5M2})) return false;
    if (!call.one_of(i + 1, call.tile(i + 1)->dtype, {DType::FP8E8M0})) return false;
    if (!call.rank_is(i + 1, call.tile(i + 1)->shape.size(), 2)) return false;
  }
  const auto multiple = [&](std::size_t i, std::size_t axis, const Expr* extent, std::int64_t of) {
    const auto n = const_int(extent);
    if (!n || *n % of == 0) return true;
    call.diags.report<diag::op_extent>(call.place(i), axis, call.operand(i), call.name(),
                                       fmt::format("a multiple of {}", of), *n);
    return false;
  };
  return multiple(l, 0, p.lhs[0], 16) && multiple(l, 1, p.lhs[1], 64) && multiple(r, 1, p.rhs[1], 32);
}

}  // namespace

const Type* rule_TileMatmulMx(const RuleCall& call) {
  Product p;
  return scaled_operands(call, 0, p) ? product_type(call, p, DType::FP32) : nullptr;
}

const Type* rule_TileMatmulMxAcc(const RuleCall& call) {
  Product p;
  if (!scaled_operands(call, 1, p) || !accumulates(call, p, DType::FP32)) return nullptr;
  return accumulator_type(call);
}

const Type* rule_TileMatmulMxBias(const RuleCall& call) {
  Product p;
  if (!scaled_operands(call, 0, p) || !bias_ok(call, 4, DType::FP32, p.rhs[1])) return nullptr;
  return product_type(call, p, DType::FP32);
}

}  // namespace pldc
