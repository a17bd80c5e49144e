// Gather, scatter and sort on tiles (ops.md 1.11).
#include <algorithm>

#include "ir/rules/rule.h"
#include "support/diag/op.h"

namespace pldc {

namespace {

bool index_dtype(const RuleCall& call, std::size_t i, DType index, DType element) {
  if (bit_width(element) == 16 && index == DType::INT16) return true;
  return call.one_of(i, index, {DType::INT32});
}

}  // namespace

const Type* rule_TileGather(const RuleCall& call) {
  const TileType* src = call.tile(0);
  const TileType* index = call.tile(1);
  if (!call.one_of(0, src->dtype, {DType::FP16, DType::FP32, DType::INT16, DType::INT32})) return nullptr;
  if (!index_dtype(call, 1, index->dtype, src->dtype)) return nullptr;
  return make_tile(call, src->dtype, index->shape, MemSpace::Vec);
}

bool mask_stride(const RuleCall& call, std::int64_t& stride) {
  const std::int64_t pattern = call.integer("mask_pattern", 0);
  if (pattern < 1 || pattern > 7) {
    call.diags.report<diag::op_value>(call.span, "mask_pattern", call.name(), "from 1 to 7", pattern);
    return false;
  }
  stride = pattern <= 2 ? 2 : pattern <= 6 ? 4 : 1;
  return true;
}

bool masked_shape(const RuleCall& call, Dims shape, std::int64_t stride, Dims& result) {
  if (!call.rank_at_least(0, shape.size(), 1)) return false;
  std::vector<const Expr*> dims(shape.begin(), shape.end());
  if (const auto columns = const_int(dims.back())) {
    if (*columns % stride != 0) {
      call.diags.report<diag::op_extent>(call.place(0), dims.size() - 1, call.operand(0), call.name(),
                                         fmt::format("divisible by {}", stride), *columns);
      return false;
    }
    dims.back() = dim_const(call.ctx, *columns / stride);
  } else if (stride > 1) {
    dims.back() = call.ctx.binary(BinaryOp::FloorDiv, dims.back(), dim_const(call.ctx, stride));
  }
  result = call.ctx.list(dims);
  return true;
}

bool mask_dtype(const RuleCall& call, DType from, DType& to) {
  to = call.dtype("output_dtype").value_or(from);
  if (bit_width(to) == bit_width(from)) return true;
  call.diags.report<diag::op_value>(call.span, "output_dtype", call.name(),
                                    fmt::format("a dtype of {} bits", bit_width(from)), name_of(to));
  return false;
}

const Type* rule_TileGatherMask(const RuleCall& call) {
  std::int64_t stride = 1;
  Dims shape;
  DType dtype{};
  const TileType* src = call.tile(0);
  if (!mask_stride(call, stride) || !masked_shape(call, src->shape, stride, shape)) return nullptr;
  if (!mask_dtype(call, src->dtype, dtype)) return nullptr;
  return make_tile(call, dtype, shape, MemSpace::Vec);
}

bool compare_ok(const RuleCall& call, DType dtype, Dims shape, DType& counts, std::int64_t& columns) {
  if (!call.rank_is(0, shape.size(), 2)) return false;
  if (!call.one_of(0, dtype, {DType::FP16, DType::FP32, DType::INT16, DType::INT32})) return false;
  if (const auto value = scalar_dtype(call.type(1)); value && *value != dtype) {
    call.diags.report<diag::op_dtype>(call.place(1), call.operand(1), call.name(), name_of(dtype),
                                      name_of(*value));
    return false;
  }
  columns = call.integer("out_cols", 0);
  if (columns <= 0) {
    call.diags.report<diag::op_value>(call.span, "out_cols", call.name(), "positive", columns);
    return false;
  }
  counts = call.dtype("count_dtype").value_or(DType::INT32);
  if (counts != DType::INT32 && counts != DType::UINT32) {
    call.diags.report<diag::op_value>(call.span, "count_dtype", call.name(), "INT32 or UINT32",
                                      name_of(counts));
    return false;
  }
  return true;
}

const Type* rule_TileGatherCompare(const RuleCall& call) {
  const TileType* src = call.tile(0);
  DType counts{};
  std::int64_t columns = 0;
  if (!compare_ok(call, src->dtype, src->shape, counts, columns)) return nullptr;
  Context& ctx = call.ctx;
  const Type* found =
      make_tile(call, DType::INT32, ctx.list({src->shape[0], dim_const(ctx, columns)}), MemSpace::Vec);
  const Type* count = make_tile(call, counts, ctx.list({dim_const(ctx, 1), src->shape[0]}), MemSpace::Vec);
  return ctx.tuple(ctx.list({found, count}));
}

const Type* rule_TileGatherb(const RuleCall& call) {
  const TileType* src = call.tile(0);
  const TileType* offset = call.tile(1);
  if (!call.rank_is(1, offset->shape.size(), 2) || !call.one_of(1, offset->dtype, {DType::UINT32}))
    return nullptr;
  const DType dtype = call.dtype("output_dtype").value_or(src->dtype);
  const std::int64_t block = 32 / static_cast<std::int64_t>(byte_width(dtype));
  const auto columns = const_int(offset->shape[1]);
  if (!columns || *columns % 8 != 0) {
    call.diags.report<diag::op_extent>(call.place(1), 1, call.operand(1), call.name(),
                                       "a constant multiple of 8", describe(offset->shape[1]));
    return nullptr;
  }
  return make_tile(call, dtype, call.ctx.list({offset->shape[0], dim_const(call.ctx, *columns * block)}),
                   MemSpace::Vec);
}

const Type* rule_TileMGather(const RuleCall& call) {
  const TensorType* mem = call.tensor(0);
  const TileType* tile = call.tile(1);
  const TensorType* tensor = call.tensor(1);
  const Dims index = tile != nullptr ? tile->shape : tensor->shape;
  const DType index_type = tile != nullptr ? tile->dtype : tensor->dtype;
  if (!call.one_of(1, index_type, {DType::INT32}) || !call.rank_is(1, index.size(), 2)) return nullptr;
  const MemSpace space = call.space("target_memory").value_or(MemSpace::Vec);
  if (space != MemSpace::Vec && space != MemSpace::Mat) {
    call.diags.report<diag::op_memory>(call.span, call.name(), "the result", "Vec or Mat", name_of(space));
    return nullptr;
  }
  Dims shape = index;
  if (call.integer("coalesce", 0) == 0) {
    if (!call.rank_at_least(0, mem->shape.size(), 2)) return nullptr;
    const bool row = is_const(index[0], 1);
    if (!row && !is_const(index[1], 1)) {
      call.diags.report<diag::op_extent>(call.place(1), 0, call.operand(1), call.name(),
                                         "1, or dimension 1 must be, as it lists row numbers",
                                         describe(index[0]));
      return nullptr;
    }
    std::vector<const Expr*> dims(mem->shape.begin(), mem->shape.end());
    dims[0] = row ? index[1] : index[0];
    shape = call.ctx.list(dims);
  }
  // scratch, then valid_shape: the tuple is the valid shape.
  Dims valid;
  for (std::size_t i = 2; i < call.count(); ++i) {
    if (dyn<TupleType>(call.type(i)) == nullptr) continue;
    const auto given = call.tuple(i);
    if (!given) return nullptr;
    if (given->size() != shape.size()) {
      call.diags.report<diag::op_tuple_rank>(call.place(i), "valid_shape", call.name(), "the result",
                                             shape.size(), given->size());
      return nullptr;
    }
    valid = *given;
  }
  return make_tile(call, mem->dtype, shape, space, valid);
}

const Type* rule_TileScatter(const RuleCall& call) {
  const TileType* dst = call.tile(0);
  const TileType* src = call.tile(1);
  const TileType* index = call.tile(2);
  if (!call.one_of(0, dst->dtype,
                   {DType::INT8, DType::INT16, DType::INT32, DType::FP16, DType::FP32, DType::BF16})) {
    return nullptr;
  }
  if (!call.same_dtype(0, 1, dst->dtype, src->dtype)) return nullptr;
  const DType wanted = byte_width(dst->dtype) == 4 ? DType::INT32 : DType::INT16;
  if (!call.one_of(2, index->dtype, {wanted})) return nullptr;
  return rule_SameAs0(call);
}

bool spreads(const RuleCall& call, Dims from, Dims to, std::size_t target) {
  std::int64_t stride = 1;
  if (!mask_stride(call, stride)) return false;
  if (from.empty() || from.size() != to.size()) {
    call.diags.report<diag::op_shapes>(call.span, call.name(), describe(from), describe(to));
    return false;
  }
  for (std::size_t i = 0; i < from.size(); ++i) {
    const bool last = i + 1 == from.size();
    const auto have = const_int(to[i]);
    const auto need = const_int(from[i]);
    const std::int64_t factor = last ? stride : 1;
    if (!have || !need || *have == *need * factor) continue;
    call.diags.report<diag::op_extent>(
        call.place(target), i, call.operand(target), call.name(),
        last ? fmt::format("{}, {} columns times the stride {}", *need * factor, *need, stride)
             : fmt::format("{}", *need),
        *have);
    return false;
  }
  return true;
}

const Type* rule_TileScatterMask(const RuleCall& call) {
  const TileType* dst = call.tile(0);
  const TileType* src = call.tile(1);
  if (!call.same_dtype(0, 1, dst->dtype, src->dtype) || !spreads(call, src->shape, dst->shape, 0))
    return nullptr;
  return rule_SameAs0(call);
}

bool gathers_rows(const RuleCall& call, DType dtype, Dims shape) {
  const TensorType* src = call.tensor(1);
  const auto to = call.tuple(2);
  const auto from = call.tuple(3);
  const auto box = call.tuple(4);
  if (!to || !from || !box || !call.same_dtype(0, 1, dtype, src->dtype)) return false;
  if (!call.tuple_rank(2, to->size(), shape.size(), 0) ||
      !call.tuple_rank(3, from->size(), src->shape.size(), 1)) {
    return false;
  }
  if (!call.tuple_rank(4, box->size(), src->shape.size(), 1) || !call.positive(4, *box, true)) return false;
  WindowRead read{src->shape, valid_shape_of(src), *from, *box, {}, false, false, 3, 5};
  if (call.count() > 5) {
    const auto valid = call.tuple(5);
    if (!valid || !call.tuple_rank(5, valid->size(), src->shape.size(), 1)) return false;
    read.requested = *valid;
  }
  if (!read_window(call, read)) return false;
  if (box->size() != shape.size()) return true;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    // Transposed, rows of the source become columns.
    const std::size_t j = call.flag("transpose") && shape.size() == 2 ? 1 - i : i;
    const Expr* reach = read.requested.empty() ? (*box)[j] : read.requested[j];
    if (provably_lt(shape[i], dim_add(call.ctx, (*to)[i], reach)) != true) continue;
    call.diags.report<diag::op_writes_past>(call.place(2), call.name(), i, describe((*to)[i]),
                                            describe(reach), describe(shape[i]));
    return false;
  }
  return true;
}

const Type* rule_TileGatherRow(const RuleCall& call) {
  return gathers_rows(call, call.tile(0)->dtype, call.tile(0)->shape) ? rule_SameAs0(call) : nullptr;
}

const Type* rule_TileMScatter(const RuleCall& call) {
  const TileType* src = call.tile(0);
  const TileType* index = call.tile(1);
  const TensorType* out = call.tensor(2);
  if (!call.one_of(0, src->dtype, {DType::FP16, DType::FP32, DType::INT16, DType::INT32})) return nullptr;
  if (!call.one_of(1, index->dtype, {DType::INT32}) || !call.same_dtype(0, 2, src->dtype, out->dtype))
    return nullptr;
  if (!call.rank_at_least(2, out->shape.size(), 1)) return nullptr;
  if (const_product(src->shape) && const_product(index->shape) && !same_dims(src->shape, index->shape)) {
    call.diags.report<diag::op_shapes>(call.span, call.name(), describe(src->shape), describe(index->shape));
    return nullptr;
  }
  return rule_SameAs2(call);
}

const Type* rule_TileScatterUpdate(const RuleCall& call) {
  const TileType* input = call.tile(0);
  if (!call.same_dtype(0, 2, input->dtype, call.tile(2)->dtype)) return nullptr;
  if (!call.one_of(1, call.tile(1)->dtype, {DType::INT16, DType::INT32, DType::INT64})) return nullptr;
  return rule_SameAs0(call);
}

bool sorted_pairs(const RuleCall& call, Dims shape, DType dtype, Dims& result) {
  if (!call.rank_at_least(0, shape.size(), 1) || !call.one_of(0, dtype, {DType::FP16, DType::FP32}))
    return false;
  const auto columns = const_int(shape.back());
  if (columns && *columns % 32 != 0) {
    call.diags.report<diag::op_extent>(call.place(0), shape.size() - 1, call.operand(0), call.name(),
                                       "a multiple of 32", *columns);
    return false;
  }
  std::vector<const Expr*> dims(shape.begin(), shape.end());
  dims.back() = dim_mul(call.ctx, dims.back(), dim_const(call.ctx, 2));
  result = call.ctx.list(dims);
  return true;
}

const Type* rule_TileSort32(const RuleCall& call) {
  const TileType* src = call.tile(0);
  Dims shape;
  if (!sorted_pairs(call, src->shape, src->dtype, shape)) return nullptr;
  if (!call.one_of(1, call.tile(1)->dtype, {DType::UINT32})) return nullptr;
  return make_tile(call, src->dtype, shape, MemSpace::Vec);
}

bool run_length_ok(const RuleCall& call) {
  const auto length = const_int(call.args[1]);
  if (!length || (*length > 0 && *length % 64 == 0)) return true;
  call.diags.report<diag::op_value>(call.place(1), call.operand(1), call.name(), "a positive multiple of 64",
                                    *length);
  return false;
}

const Type* rule_TileMrgsort1(const RuleCall& call) {
  const TileType* src = call.tile(0);
  if (!call.one_of(0, src->dtype, {DType::FP16, DType::FP32}) || !run_length_ok(call)) return nullptr;
  return make_tile(call, src->dtype, src->shape, MemSpace::Vec);
}

const Type* rule_TileMrgsort2(const RuleCall& call) {
  const TileType* src = call.tile(0);
  if (!call.one_of(0, src->dtype, {DType::FP16, DType::FP32})) return nullptr;
  for (std::size_t i = 1; i < call.count(); ++i) {
    if (!call.same_dtype(0, i, src->dtype, call.tile(i)->dtype)) return nullptr;
  }
  return make_tile(call, src->dtype, call.tile(call.count() - 1)->shape, MemSpace::Vec);
}

}  // namespace pldc
