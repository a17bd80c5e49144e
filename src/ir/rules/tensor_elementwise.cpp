// Element-wise, compare, expand and reduction rules of tensors (ops.md 1.2 to 1.7, 0.4).
#include <algorithm>

#include "ir/rules/rule.h"
#include "support/diag/op.h"

namespace pldc {

namespace {

// The valid part that an element-wise result takes over: windows are always taken as full.
Dims own_valid(const TensorType* tensor) {
  return tensor->kind == TypeKind::Tensor ? valid_shape_of(tensor) : tensor->shape;
}

DType scalar_of(const RuleCall& call, std::size_t i) {
  return scalar_dtype(call.type(i)).value_or(call.tensor(0)->dtype);
}

const Type* like_first(const RuleCall& call, DType dtype) {
  return make_tensor(call, dtype, call.tensor(0)->shape, own_valid(call.tensor(0)));
}

// Shape by broadcasting; the valid part only where both operands agree in shape and valid part.
const Type* combine(const RuleCall& call, DType dtype) {
  const TensorType* a = call.tensor(0);
  const TensorType* b = call.tensor(1);
  const auto shape = broadcast(call, a->shape, b->shape);
  if (!shape) return nullptr;
  Dims valid;
  if (a->kind == TypeKind::Tensor && b->kind == TypeKind::Tensor && same_dims(a->shape, b->shape) &&
      same_dims(valid_shape_of(a), valid_shape_of(b))) {
    valid = valid_shape_of(a);
  }
  return make_tensor(call, dtype, *shape, valid);
}

bool float_only(const RuleCall& call, std::initializer_list<DType> allowed) {
  return call.one_of(0, call.tensor(0)->dtype, allowed);
}

}  // namespace

const Type* rule_TensorUnary(const RuleCall& call) { return like_first(call, call.tensor(0)->dtype); }

const Type* rule_TensorFloatUnary(const RuleCall& call) {
  const DType dtype = call.tensor(0)->dtype;
  return like_first(call, is_float(dtype) ? dtype : DType::FP32);
}

const Type* rule_TensorLog(const RuleCall& call) {
  return float_only(call, {DType::FP16, DType::FP32}) ? rule_TensorUnary(call) : nullptr;
}

const Type* rule_TensorFp32Unary(const RuleCall& call) {
  if (call.tensor(0)->dtype == DType::FP32) return rule_TensorUnary(call);
  call.diags
      .report<diag::op_dtype>(call.place(0), call.operand(0), call.name(), "FP32 (the op is FP32-only)",
                              name_of(call.tensor(0)->dtype))
      .help("cast it to FP32 first");
  return nullptr;
}

const Type* rule_TensorNot(const RuleCall& call) {
  return float_only(call, {DType::INT16, DType::UINT16}) ? rule_TensorUnary(call) : nullptr;
}

const Type* rule_TensorCast(const RuleCall& call) {
  const DType from = call.tensor(0)->dtype;
  const DType to = call.dtype("target_type").value_or(from);
  if (from == to) {
    call.diags.report<diag::op_cast_same>(call.span, call.name(), name_of(to));
    return nullptr;
  }
  return like_first(call, to);
}

const Type* rule_TensorScalar(const RuleCall& call) {
  return like_first(call, promote(call.tensor(0)->dtype, scalar_of(call, 1)));
}

const Type* rule_TensorBinary(const RuleCall& call) {
  if (call.tensor(1) == nullptr) return rule_TensorScalar(call);
  return combine(call, promote(call.tensor(0)->dtype, call.tensor(1)->dtype));
}

const Type* rule_TensorPart(const RuleCall& call) {
  const auto shape = broadcast(call, call.tensor(0)->shape, call.tensor(1)->shape);
  if (!shape) return nullptr;
  return make_tensor(call, promote(call.tensor(0)->dtype, call.tensor(1)->dtype), *shape);
}

const Type* rule_TensorDiv(const RuleCall& call) {
  for (std::size_t i = 0; i < 2; ++i) {
    if (!call.one_of(i, call.tensor(i)->dtype, {DType::INT16, DType::INT32, DType::FP16, DType::FP32})) {
      return nullptr;
    }
  }
  const DType dtype = promote(call.tensor(0)->dtype, call.tensor(1)->dtype);
  if (call.flag("high_precision") && !is_float(dtype)) {
    call.diags.report<diag::op_value>(call.span, "high_precision", call.name(), "used only for FP16 or FP32",
                                      name_of(dtype));
    return nullptr;
  }
  return combine(call, dtype);
}

const Type* rule_TensorSubs(const RuleCall& call) {
  const std::initializer_list<DType> allowed = {DType::INT8, DType::INT16, DType::INT32,
                                                DType::FP16, DType::FP32,  DType::BF16};
  if (!call.one_of(0, call.tensor(0)->dtype, allowed) || !call.one_of(1, scalar_of(call, 1), allowed)) {
    return nullptr;
  }
  return like_first(call, call.tensor(0)->dtype);
}

const Type* rule_TensorCmp(const RuleCall& call) {
  const TensorType* a = call.tensor(0);
  const TensorType* b = call.tensor(1);
  if (b == nullptr) return make_tensor(call, promote(a->dtype, scalar_of(call, 1)), a->shape);
  const auto shape = broadcast(call, a->shape, b->shape);
  return shape ? make_tensor(call, promote(a->dtype, b->dtype), *shape) : nullptr;
}

// --- bits
// ----------------------------------------------------------------------------------------------------------

namespace {

bool bit_operands(const RuleCall& call) {
  const TensorType* a = call.tensor(0);
  const TensorType* b = call.tensor(1);
  if (!call.integer_dtype(0, a->dtype) || !call.integer_dtype(1, b->dtype)) return false;
  bool same = a->shape.size() == b->shape.size();
  for (std::size_t i = 0; same && i < a->shape.size(); ++i) {
    const auto x = const_int(a->shape[i]);
    const auto y = const_int(b->shape[i]);
    same = !x || !y || *x == *y;
  }
  if (same) return true;
  call.diags.report<diag::op_shapes>(call.span, call.name(), describe(a->shape), describe(b->shape))
      .help("the op requires both operands to have the same shape");
  return false;
}

}  // namespace

const Type* rule_TensorBit(const RuleCall& call) {
  if (!bit_operands(call)) return nullptr;
  const DType dtype = promote(call.tensor(0)->dtype, call.tensor(1)->dtype);
  if (call.op == OpId::tensor_xor) return make_tensor(call, dtype, call.tensor(0)->shape);
  return combine(call, dtype);
}

const Type* rule_TensorShift(const RuleCall& call) {
  return bit_operands(call) ? combine(call, call.tensor(0)->dtype) : nullptr;
}

const Type* rule_TensorBitScalar(const RuleCall& call) {
  const DType dtype = call.tensor(0)->dtype;
  if (!call.integer_dtype(0, dtype) || !call.integer_dtype(1, scalar_of(call, 1))) return nullptr;
  const DType result = promote(dtype, scalar_of(call, 1));
  if (call.op == OpId::tensor_xors) return make_tensor(call, result, call.tensor(0)->shape);
  return like_first(call, result);
}

const Type* rule_TensorShiftScalar(const RuleCall& call) {
  const DType dtype = call.tensor(0)->dtype;
  if (!call.integer_dtype(0, dtype) || !call.integer_dtype(1, scalar_of(call, 1))) return nullptr;
  if (const auto by = const_int(call.args[1]); by && *by < 0) {
    call.diags.report<diag::op_value>(call.place(1), call.operand(1), call.name(),
                                      "a non-negative shift count", *by);
    return nullptr;
  }
  return like_first(call, dtype);
}

// --- expand
// ------------------------------------------------------------------------------------------------------

namespace {

const Type* expand(const RuleCall& call, std::size_t one, std::size_t same) {
  const TensorType* t = call.tensor(0);
  const TensorType* v = call.tensor(1);
  if (!call.rank_at_least(0, t->shape.size(), 2) || !call.rank_at_least(1, v->shape.size(), 2))
    return nullptr;
  const std::size_t axis = v->shape.size() - one;
  if (!is_const(v->shape[axis], 1)) {
    call.diags.report<diag::op_extent>(call.place(1), axis, call.operand(1), call.name(), 1,
                                       describe(v->shape[axis]));
    return nullptr;
  }
  const auto a = const_int(t->shape[t->shape.size() - same]);
  const auto b = const_int(v->shape[v->shape.size() - same]);
  if (a && b && *a != *b) {
    call.diags.report<diag::op_shapes>(call.span, call.name(), describe(t->shape), describe(v->shape));
    return nullptr;
  }
  return like_first(call, promote(t->dtype, v->dtype));
}

}  // namespace

const Type* rule_TensorRowExpand(const RuleCall& call) { return expand(call, 1, 2); }
const Type* rule_TensorColExpand(const RuleCall& call) { return expand(call, 2, 1); }

const Type* rule_TensorExpands(const RuleCall& call) { return like_first(call, call.tensor(0)->dtype); }

const Type* rule_TensorExpandClone(const RuleCall& call) {
  const TensorType* input = call.tensor(0);
  const TensorType* target = call.tensor(1);
  if (!call.rank_is(0, input->shape.size(), 3) || !call.rank_is(1, target->shape.size(), 3)) return nullptr;
  std::size_t repeated = 0;
  for (std::size_t i = 0; i < 3; ++i) {
    if (same_dim(input->shape[i], target->shape[i])) continue;
    if (is_const(input->shape[i], 1)) {
      ++repeated;
    } else if (const_int(input->shape[i]) && const_int(target->shape[i])) {
      call.diags
          .report<diag::op_shapes>(call.span, call.name(), describe(input->shape), describe(target->shape))
          .help("dimensions are repeated from dimension 1 to the target's extent only");
      return nullptr;
    }
  }
  if (repeated > 1) {
    call.diags
        .report<diag::op_shapes>(call.span, call.name(), describe(input->shape), describe(target->shape))
        .help("at most one dimension may be repeated (at most one broadcast dimension)");
    return nullptr;
  }
  return make_tensor(call, promote(input->dtype, target->dtype), target->shape);
}

// --- reductions
// --------------------------------------------------------------------------------------------------

namespace {

const Type* reduce(const RuleCall& call, std::int64_t default_axis, DType dtype) {
  const TensorType* t = call.tensor(0);
  const auto rank = static_cast<std::int64_t>(t->shape.size());
  if (!call.rank_at_least(0, t->shape.size(), default_axis == -2 ? 2 : 1)) return nullptr;
  std::int64_t axis = call.integer("axis", default_axis);
  if (axis < -rank || axis >= rank) {
    call.diags.report<diag::op_value>(call.span, "axis", call.name(),
                                      fmt::format("from {} to {}", -rank, rank - 1), axis);
    return nullptr;
  }
  if (axis < 0) axis += rank;
  const Dims of = own_valid(t);
  for (std::size_t i = 0; i < of.size(); ++i) {
    if (!is_const(of[i], 0)) continue;
    call.diags.report<diag::op_empty_reduction>(call.place(0), call.name(), i);
    return nullptr;
  }
  std::vector<const Expr*> shape(t->shape.begin(), t->shape.end());
  std::vector<const Expr*> valid(of.begin(), of.end());
  const auto at = static_cast<std::ptrdiff_t>(axis);
  if (call.flag("keep_dim", true)) {
    shape[static_cast<std::size_t>(at)] = dim_const(call.ctx, 1);
    valid[static_cast<std::size_t>(at)] = dim_const(call.ctx, 1);
  } else {
    shape.erase(shape.begin() + at);
    valid.erase(valid.begin() + at);
    if (shape.empty()) return call.ctx.scalar(dtype);
  }
  return make_tensor(call, dtype, call.ctx.list(shape), call.ctx.list(valid));
}

}  // namespace

const Type* rule_TensorRowReduce(const RuleCall& call) { return reduce(call, -1, call.tensor(0)->dtype); }
const Type* rule_TensorRowArg(const RuleCall& call) { return reduce(call, -1, DType::INT32); }
const Type* rule_TensorColReduce(const RuleCall& call) { return reduce(call, -2, call.tensor(0)->dtype); }
const Type* rule_TensorColArg(const RuleCall& call) { return reduce(call, -2, DType::INT32); }

}  // namespace pldc
