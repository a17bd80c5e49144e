// Gather, scatter, sort and matrix products of tensors (ops.md 1.11, 1.12).
#include <algorithm>

#include "ir/rules/rule.h"
#include "support/diag/op.h"

namespace pldc {

const Type* rule_TensorGather(const RuleCall& call) {
  const TensorType* input = call.tensor(0);
  const TensorType* index = call.tensor(1);
  const auto rank = static_cast<std::int64_t>(input->shape.size());
  if (!call.rank_is(1, index->shape.size(), input->shape.size())) return nullptr;
  if (!call.one_of(1, index->dtype, {DType::INT32, DType::INT16})) return nullptr;
  std::int64_t dim = call.integer("dim", -1);
  if (dim < -rank || dim >= rank) {
    call.diags.report<diag::op_value>(call.span, "dim", call.name(),
                                      fmt::format("from {} to {}", -rank, rank - 1), dim);
    return nullptr;
  }
  if (dim < 0) dim += rank;
  for (std::size_t i = 0; i < index->shape.size(); ++i) {
    if (static_cast<std::int64_t>(i) == dim || provably_lt(input->shape[i], index->shape[i]) != true)
      continue;
    call.diags.report<diag::op_extent>(call.place(1), i, call.operand(1), call.name(),
                                       fmt::format("at most {}", describe(input->shape[i])),
                                       describe(index->shape[i]));
    return nullptr;
  }
  return make_tensor(call, input->dtype, index->shape);
}

const Type* rule_TensorGatherMask(const RuleCall& call) {
  std::int64_t stride = 1;
  Dims shape;
  DType dtype{};
  const TensorType* input = call.tensor(0);
  if (!mask_stride(call, stride) || !masked_shape(call, input->shape, stride, shape)) return nullptr;
  if (!mask_dtype(call, input->dtype, dtype)) return nullptr;
  return make_tensor(call, dtype, shape);
}

const Type* rule_TensorGatherCompare(const RuleCall& call) {
  const TensorType* input = call.tensor(0);
  DType counts{};
  std::int64_t columns = 0;
  if (!compare_ok(call, input->dtype, input->shape, counts, columns)) return nullptr;
  Context& ctx = call.ctx;
  const Type* found = make_tensor(call, DType::INT32, ctx.list({input->shape[0], dim_const(ctx, columns)}));
  const Type* count = make_tensor(call, counts, ctx.list({dim_const(ctx, 1), input->shape[0]}));
  return ctx.tuple(ctx.list({found, count}));
}

const Type* rule_TensorPagedGather(const RuleCall& call) {
  const TensorType* src = call.tensor(0);
  if (!call.one_of(0, src->dtype, {DType::FP16, DType::BF16, DType::FP32, DType::INT8})) return nullptr;
  if (!call.rank_is(0, src->shape.size(), 2)) return nullptr;
  for (const std::size_t i : {std::size_t{1}, std::size_t{2}}) {
    const TensorType* t = call.tensor(i);
    if (t != nullptr && !call.one_of(i, t->dtype, {DType::INT32})) return nullptr;
  }
  for (const std::string_view key : {"block_size", "size", "max_indices"}) {
    const std::int64_t value = call.integer(key, 0);
    if (value > 0) continue;
    call.diags.report<diag::op_value>(call.span, key, call.name(), "positive", value);
    return nullptr;
  }
  const std::int64_t size = call.integer("size", 1);
  const std::int64_t column = call.integer("col_off", 0);
  if (column < 0) {
    call.diags.report<diag::op_value>(call.span, "col_off", call.name(), "at least 0", column);
    return nullptr;
  }
  if (const auto columns = const_int(src->shape[1]); columns && column + size > *columns) {
    call.diags.report<diag::op_reads_past>(call.span, call.name(), 1, column, size, *columns);
    return nullptr;
  }
  const bool transposed = call.flag("is_trans");
  if (transposed && call.space("space").value_or(MemSpace::Mat) != MemSpace::Mat) {
    call.diags.report<diag::op_memory>(call.span, call.name(), "the result of is_trans=True", "Mat",
                                       name_of(*call.space("space")));
    return nullptr;
  }
  const Expr* rows = dim_const(call.ctx, call.integer("max_indices", 1));
  const Expr* width = dim_const(call.ctx, size);
  return make_tensor(call, src->dtype,
                     transposed ? call.ctx.list({width, rows}) : call.ctx.list({rows, width}));
}

const Type* rule_TensorScatter(const RuleCall& call) {
  const TensorType* input = call.tensor(0);
  const TensorType* index = call.tensor(1);
  const TensorType* src = call.tensor(2);
  if (!call.rank_is(0, input->shape.size(), 2)) return nullptr;
  if (!call.same_dtype(0, 2, input->dtype, src->dtype)) return nullptr;
  if (!call.one_of(1, index->dtype, {DType::INT16, DType::INT32})) return nullptr;
  const std::int64_t dim = call.integer("dim", -1);
  if (dim != -1 && dim != 1) {
    call.diags.report<diag::op_value>(call.span, "dim", call.name(), "-1 (or 1), the last axis", dim);
    return nullptr;
  }
  if (src->shape.size() != 2 || index->shape.size() != 2 ||
      (const_product(index->shape) && const_product(src->shape) && !same_dims(index->shape, src->shape))) {
    call.diags.report<diag::op_shapes>(call.span, call.name(), describe(index->shape), describe(src->shape));
    return nullptr;
  }
  return rule_SameAs0(call);
}

const Type* rule_TensorScatterMask(const RuleCall& call) {
  const TensorType* input = call.tensor(0);
  const TensorType* dst = call.tensor(1);
  if (!call.same_dtype(0, 1, input->dtype, dst->dtype) || !spreads(call, input->shape, dst->shape, 1))
    return nullptr;
  return rule_SameAs1(call);
}

const Type* rule_TensorGatherRow(const RuleCall& call) {
  return gathers_rows(call, call.tensor(0)->dtype, call.tensor(0)->shape) ? rule_SameAs0(call) : nullptr;
}

const Type* rule_TensorScatterUpdate(const RuleCall& call) {
  const TensorType* input = call.tensor(0);
  const TensorType* src = call.tensor(2);
  if (input->shape.size() != 2 && input->shape.size() != 4) {
    call.diags.report<diag::op_rank>(call.place(0), call.operand(0), call.name(), "2 or 4",
                                     input->shape.size());
    return nullptr;
  }
  if (!call.same_dtype(0, 2, input->dtype, src->dtype)) return nullptr;
  if (!call.integer_dtype(1, call.tensor(1)->dtype)) return nullptr;
  const std::int64_t dim = call.integer("dim", -2);
  if (dim != -2) {
    call.diags.report<diag::op_value>(call.span, "dim", call.name(), "-2", dim);
    return nullptr;
  }
  return rule_SameAs0(call);
}

const Type* rule_TensorSort32(const RuleCall& call) {
  const TensorType* src = call.tensor(0);
  Dims shape;
  if (!sorted_pairs(call, src->shape, src->dtype, shape)) return nullptr;
  if (!call.one_of(1, call.tensor(1)->dtype, {DType::UINT32})) return nullptr;
  return make_tensor(call, src->dtype, shape);
}

const Type* rule_TensorMrgsort1(const RuleCall& call) {
  const TensorType* src = call.tensor(0);
  if (!call.one_of(0, src->dtype, {DType::FP16, DType::FP32}) || !run_length_ok(call)) return nullptr;
  return make_tensor(call, src->dtype, src->shape);
}

const Type* rule_TensorMrgsort2(const RuleCall& call) {
  const TensorType* src = call.tensor(0);
  if (!call.one_of(0, src->dtype, {DType::FP16, DType::FP32}) ||
      !call.rank_at_least(0, src->shape.size(), 1)) {
    return nullptr;
  }
  std::vector<const Expr*> shape(src->shape.begin(), src->shape.end());
  for (std::size_t i = 1; i < call.count(); ++i) {
    const TensorType* next = call.tensor(i);
    if (!call.same_dtype(0, i, src->dtype, next->dtype)) return nullptr;
    if (!call.rank_is(i, next->shape.size(), src->shape.size())) return nullptr;
    shape.back() = dim_add(call.ctx, shape.back(), next->shape.back());
  }
  return make_tensor(call, src->dtype, call.ctx.list(shape));
}

// --- matrix products
// -----------------------------------------------------------------------------------------------

namespace {

struct Matrix {
  std::vector<const Expr*> batch;
  const Expr* rows = nullptr;
  const Expr* columns = nullptr;
  const Expr* valid_rows = nullptr;
  const Expr* valid_columns = nullptr;
};

Matrix matrix_of(Context& ctx, const TensorType* t, bool transposed, bool left) {
  Matrix m;
  const Dims shape = t->shape;
  const Dims valid = valid_shape_of(t);
  if (shape.size() == 1) {
    const Expr* one = dim_const(ctx, 1);
    m = left ? Matrix{{}, one, shape[0], one, valid[0]} : Matrix{{}, shape[0], one, valid[0], one};
    return m;
  }
  const std::size_t r = shape.size() - 2;
  m.batch.assign(shape.begin(), shape.end() - 2);
  m.rows = shape[r];
  m.columns = shape[r + 1];
  m.valid_rows = valid[r];
  m.valid_columns = valid[r + 1];
  if (transposed) {
    std::swap(m.rows, m.columns);
    std::swap(m.valid_rows, m.valid_columns);
  }
  return m;
}

bool inner_ok(const RuleCall& call, std::size_t l, const Matrix& a, std::size_t r, const Matrix& b) {
  const auto x = const_int(a.columns);
  const auto y = const_int(b.rows);
  if (!x || !y || *x == *y) return true;
  call.diags.report<diag::op_inner>(call.place(r), call.name(), *x, call.operand(l), *y, call.operand(r));
  return false;
}

}  // namespace

const Type* rule_TensorMatmul(const RuleCall& call) {
  const TensorType* lhs = call.tensor(0);
  const TensorType* rhs = call.tensor(1);
  if (!call.rank_at_least(0, lhs->shape.size(), 1) || !call.rank_at_least(1, rhs->shape.size(), 1))
    return nullptr;
  const Matrix a = matrix_of(call.ctx, lhs, call.flag("a_trans"), true);
  const Matrix b = matrix_of(call.ctx, rhs, call.flag("b_trans"), false);
  if (!inner_ok(call, 0, a, 1, b)) return nullptr;
  const auto batch = broadcast(a.batch, b.batch);
  if (!batch) {
    call.diags.report<diag::op_shapes>(call.span, call.name(), describe(lhs->shape), describe(rhs->shape));
    return nullptr;
  }
  std::vector<const Expr*> shape = *batch;
  std::vector<const Expr*> valid = *batch;
  if (lhs->shape.size() > 1) {
    shape.push_back(a.rows);
    valid.push_back(a.valid_rows);
  }
  if (rhs->shape.size() > 1) {
    shape.push_back(b.columns);
    valid.push_back(b.valid_columns);
  }
  const DType dtype = call.dtype("out_dtype").value_or(promote(lhs->dtype, rhs->dtype));
  return make_tensor(call, dtype, call.ctx.list(shape), call.ctx.list(valid));
}

const Type* rule_TensorMatmulAcc(const RuleCall& call) {
  const TensorType* acc = call.tensor(0);
  if (!call.one_of(0, acc->dtype, {DType::FP32, DType::INT32})) return nullptr;
  if (!call.rank_at_least(0, acc->shape.size(), 2)) return nullptr;
  for (std::size_t i = 1; i < 3; ++i) {
    if (!call.rank_at_least(i, call.tensor(i)->shape.size(), 2)) return nullptr;
  }
  const Matrix a = matrix_of(call.ctx, call.tensor(1), call.flag("a_trans"), true);
  const Matrix b = matrix_of(call.ctx, call.tensor(2), call.flag("b_trans"), false);
  if (!inner_ok(call, 1, a, 2, b)) return nullptr;
  const std::size_t r = acc->shape.size() - 2;
  const auto differ = [](const Expr* x, const Expr* y) {
    return const_int(x) && const_int(y) && !same_dim(x, y);
  };
  if (differ(acc->shape[r], a.rows) || differ(acc->shape[r + 1], b.columns)) {
    call.diags.report<diag::op_shapes>(call.span, call.name(), describe(acc->shape),
                                       describe(call.ctx.list({a.rows, b.columns})));
    return nullptr;
  }
  return rule_SameAs0(call);
}

}  // namespace pldc
