// Creation, views and movement of tensors (ops.md 1.8 to 1.10).
#include <algorithm>

#include "ir/contiguous.h"
#include "ir/rules/rule.h"
#include "support/diag/op.h"

namespace pldc {

namespace {

TensorView view_of(const TensorType* tensor) {
  return tensor->view != nullptr ? *tensor->view : TensorView{};
}

// Strides of a packed tensor; DN has its last two axes swapped.
Dims packed_strides(Context& ctx, Dims shape, TensorLayout layout) {
  std::vector<const Expr*> dims(shape.begin(), shape.end());
  const bool swapped = layout == TensorLayout::DN && dims.size() >= 2;
  if (swapped) std::swap(dims[dims.size() - 1], dims[dims.size() - 2]);
  std::vector<const Expr*> strides(dims.size());
  const Expr* next = dim_const(ctx, 1);
  for (std::size_t i = dims.size(); i > 0; --i) {
    strides[i - 1] = next;
    next = dim_mul(ctx, dims[i - 1], next);
  }
  if (swapped) std::swap(strides[strides.size() - 1], strides[strides.size() - 2]);
  return ctx.list(strides);
}

}  // namespace

const Type* rule_TensorCreate(const RuleCall& call) {
  const auto shape = call.tuple(0);
  if (!shape || !call.positive(0, *shape, false)) return nullptr;
  TensorView view;
  view.layout = static_cast<TensorLayout>(call.integer("layout", 0));
  return make_viewed(call, TypeKind::Tensor, call.dtype("dtype").value_or(DType::FP32), *shape, view);
}

const Type* rule_TensorCreateL1(const RuleCall& call) {
  const auto shape = call.tuple(0);
  if (!shape || !call.positive(0, *shape, false)) return nullptr;
  return make_tensor(call, call.dtype("dtype").value_or(DType::FP32), *shape);
}

const Type* rule_TensorFull(const RuleCall& call) {
  const auto shape = call.tuple(0);
  if (!shape || !call.positive(0, *shape, false) || !constant_value(call, 1)) return nullptr;
  return make_tensor(call, call.dtype("dtype").value_or(DType::FP32), *shape);
}

const Type* rule_TensorCi(const RuleCall& call) {
  const auto shape = call.tuple(1);
  const DType dtype = call.dtype("dtype").value_or(DType::INT32);
  if (!shape || !call.positive(1, *shape, false) || !sequence_ok(call, *shape, dtype)) return nullptr;
  return make_tensor(call, dtype, *shape);
}

const Type* rule_TensorRandom(const RuleCall& call) {
  const auto shape = call.tuple(6);
  const DType dtype = call.dtype("dtype").value_or(DType::UINT32);
  if (!shape || !random_ok(call, *shape, dtype)) return nullptr;
  return make_tensor(call, dtype, *shape);
}

const Type* rule_TensorDim(const RuleCall& call) {
  const auto axis = const_int(call.args[1]);
  const auto rank = static_cast<std::int64_t>(call.tensor(0)->shape.size());
  if (!axis || *axis < -rank || *axis >= rank) {
    call.diags.report<diag::op_value>(call.place(1), call.operand(1), call.name(),
                                      fmt::format("a constant axis from {} to {}", -rank, rank - 1),
                                      describe(call.args[1]));
    return nullptr;
  }
  return call.ctx.scalar(DType::INDEX);
}

const Type* rule_TensorRead(const RuleCall& call) {
  if (!indices_ok(call, call.tensor(0)->shape)) return nullptr;
  return call.ctx.scalar(call.tensor(0)->dtype);
}

const Type* rule_TensorWrite(const RuleCall& call) {
  if (!indices_ok(call, call.tensor(0)->shape) || !element_ok(call, call.tensor(0)->dtype)) return nullptr;
  return rule_SameAs0(call);
}

const Type* rule_TensorFillpad(const RuleCall& call) {
  PadValue pad{};
  if (!pad_value_ok(call, pad)) return nullptr;
  return make_tensor(call, call.tensor(0)->dtype, call.tensor(0)->shape);
}

const Type* rule_TensorFillpadExpand(const RuleCall& call) {
  const TensorType* t = call.tensor(0);
  const auto shape = call.tuple(1);
  TensorView view;
  if (!shape || !grows(call, t->shape, *shape) || !pad_value_ok(call, view.pad)) return nullptr;
  return make_viewed(call, TypeKind::Tensor, t->dtype, *shape, view);
}

const Type* rule_TensorSetValid(const RuleCall& call) {
  const TensorType* t = call.tensor(0);
  TensorView view = view_of(t);
  if (!valid_extents(call, t->shape, view.valid_shape)) return nullptr;
  return make_viewed(call, t->kind, t->dtype, t->shape, view, t->window);
}

const Type* rule_TensorConcat(const RuleCall& call) {
  const TensorType* a = call.tensor(0);
  const TensorType* b = call.tensor(1);
  if (!call.rank_is(0, a->shape.size(), 2) || !call.rank_is(1, b->shape.size(), 2)) return nullptr;
  if (!call.same_dtype(0, 1, a->dtype, b->dtype)) return nullptr;
  if (const_int(a->shape[0]) && const_int(b->shape[0]) && !same_dim(a->shape[0], b->shape[0])) {
    call.diags.report<diag::op_shapes>(call.span, call.name(), describe(a->shape), describe(b->shape));
    return nullptr;
  }
  return make_tensor(call, a->dtype,
                     call.ctx.list({a->shape[0], dim_add(call.ctx, a->shape[1], b->shape[1])}));
}

// --- views
// -------------------------------------------------------------------------------------------------------

const Type* rule_TensorSlice(const RuleCall& call) {
  const TensorType* t = call.tensor(0);
  const auto shape = call.tuple(1);
  const auto offsets = call.tuple(2);
  if (!shape || !offsets) return nullptr;
  if (!call.tuple_rank(1, shape->size(), t->shape.size(), 0)) return nullptr;
  if (!call.tuple_rank(2, offsets->size(), t->shape.size(), 0)) return nullptr;
  if (!call.positive(1, *shape, false)) return nullptr;
  WindowRead read{t->shape, valid_shape_of(t), *offsets, *shape, {}, call.flag("clamp"), false, 2, 3};
  if (call.count() > 3) {
    const auto valid = call.tuple(3);
    if (!valid) return nullptr;
    if (!valid->empty() && !call.tuple_rank(3, valid->size(), t->shape.size(), 0)) return nullptr;
    read.requested = *valid;
  }
  const auto region = read_window(call, read);
  if (!region) return nullptr;
  std::vector<const Expr*> kept(shape->begin(), shape->end());
  std::vector<const Expr*> valid(region->begin(), region->end());
  if (call.count() > 4 && !drop_dims(call, 4, kept, valid)) return nullptr;
  // Strides of the source are found again by MaterializeTensorStrides; the type does not carry them.
  TensorView view;
  view.valid_shape = call.ctx.list(valid);
  view.pad = static_cast<PadValue>(call.integer("pad_value", 0));
  return make_viewed(call, t->kind, t->dtype, call.ctx.list(kept), view, t->window);
}

const Type* rule_TensorAssemble(const RuleCall& call) {
  const TensorType* target = call.tensor(0);
  const TensorType* source = call.tensor(1);
  const auto offset = call.tuple(2);
  if (!offset || !call.tuple_rank(2, offset->size(), target->shape.size(), 0)) return nullptr;
  const bool narrows =
      source->dtype == DType::FP32 && (target->dtype == DType::FP16 || target->dtype == DType::BF16);
  if (!narrows && !call.same_dtype(0, 1, target->dtype, source->dtype)) return nullptr;
  if (!atomic_ok(call, target->dtype)) return nullptr;
  TensorView view = view_of(target);
  if (source->shape.size() == target->shape.size()) {
    const Dims written = valid_shape_of(source);
    const RegionWrite write{target->shape, valid_shape_of(target), *offset, written, written, 2};
    const auto valid = write_region(call, write);
    if (!valid) return nullptr;
    view.valid_shape = *valid;
  }
  return make_viewed(call, target->kind, target->dtype, target->shape, view, target->window);
}

namespace {

// An explicit valid part of a reshaped or transposed view: it lies inside the shape and may only narrow.
bool given_valid(const RuleCall& call, std::size_t i, Dims shape, Dims derived, Dims& valid) {
  const auto given = call.tuple(i);
  if (!given) return false;
  if (given->size() != shape.size()) {
    call.diags.report<diag::op_tuple_rank>(call.place(i), call.operand(i), call.name(), "the result",
                                           shape.size(), given->size());
    return false;
  }
  for (std::size_t d = 0; d < shape.size(); ++d) {
    if (provably_negative((*given)[d])) {
      call.diags.report<diag::op_negative>(call.place(i), d, call.operand(i), call.name(),
                                           describe((*given)[d]));
      return false;
    }
    const Expr* most = derived.empty() ? shape[d] : derived[d];
    if (provably_lt(most, (*given)[d]) == true) {
      call.diags.report<diag::op_valid_exceeds>(call.place(i), call.name(), describe((*given)[d]), d,
                                                describe(most));
      return false;
    }
  }
  valid = *given;
  return true;
}

}  // namespace

const Type* rule_TensorReshape(const RuleCall& call) {
  const TensorType* t = call.tensor(0);
  const auto shape = call.tuple(1);
  if (!shape || !call.positive(1, *shape, false) || !same_size(call, t->shape, *shape)) return nullptr;
  const auto derived = reshape_valid(call, t->shape, valid_shape_of(t), *shape);
  if (!derived) return nullptr;
  TensorView view;
  view.valid_shape = *derived;
  if (call.count() > 2 && !given_valid(call, 2, *shape, *derived, view.valid_shape)) return nullptr;
  return make_viewed(call, t->kind, t->dtype, *shape, view, t->window);
}

const Type* rule_TensorTranspose(const RuleCall& call) {
  const TensorType* t = call.tensor(0);
  const std::size_t rank = t->shape.size();
  std::size_t a = 0;
  std::size_t b = 0;
  if (!swapped_axes(call, rank, a, b)) return nullptr;
  TensorView view = view_of(t);
  const Dims packed = view.stride.empty() ? packed_strides(call.ctx, t->shape, view.layout) : view.stride;
  const Dims of = valid_shape_of(t);
  std::vector<const Expr*> shape(t->shape.begin(), t->shape.end());
  std::vector<const Expr*> valid(of.begin(), of.end());
  std::vector<const Expr*> strides(packed.begin(), packed.end());
  std::swap(shape[a], shape[b]);
  std::swap(valid[a], valid[b]);
  std::swap(strides[a], strides[b]);
  if (std::min(a, b) == rank - 2 && std::max(a, b) == rank - 1) {
    view.layout = view.layout == TensorLayout::DN ? TensorLayout::ND : TensorLayout::DN;
  }
  const Dims result = call.ctx.list(shape);
  view.valid_shape = call.ctx.list(valid);
  view.stride = call.ctx.list(strides);
  if (call.count() > 3 && !given_valid(call, 3, result, {}, view.valid_shape)) return nullptr;
  return make_viewed(call, t->kind, t->dtype, result, view, t->window);
}

const Type* rule_TensorView(const RuleCall& call) {
  const TensorType* t = call.tensor(0);
  const TensorView from = view_of(t);
  const AttrValue* layout = call.keyword("layout");
  if (call.count() < 2 && layout == nullptr) {
    call.diags.report<diag::op_operand_missing>(call.span, call.name(), "shape")
        .help("give at least one of shape and layout=");
    return nullptr;
  }
  TensorView view;
  view.layout = layout != nullptr ? static_cast<TensorLayout>(layout->integer) : from.layout;
  view.pad = from.pad;
  Dims shape = t->shape;
  Dims valid = valid_shape_of(t);
  const bool partial = !same_dims(shape, valid);
  if (view.layout == TensorLayout::DN && !call.rank_at_least(0, t->shape.size(), 2)) return nullptr;
  if (call.count() > 1) {
    const auto wanted = call.tuple(1);
    if (!wanted || !call.positive(1, *wanted, false) || !same_size(call, t->shape, *wanted)) return nullptr;
    shape = *wanted;
    if (call.count() > 2) {
      if (!given_valid(call, 2, shape, {}, view.valid_shape)) return nullptr;
    } else if (partial) {
      call.diags.report<diag::op_operand_missing>(call.span, call.name(), "valid_shape")
          .help("only {} of the source holds data: say which part of the new shape does", describe(valid));
      return nullptr;
    }
  } else if (view.layout != from.layout) {
    // The same memory read along the other axis: the transposed matrix.
    std::vector<const Expr*> s(shape.begin(), shape.end());
    std::vector<const Expr*> v(valid.begin(), valid.end());
    if (s.size() >= 2) {
      std::swap(s[s.size() - 1], s[s.size() - 2]);
      std::swap(v[v.size() - 1], v[v.size() - 2]);
    }
    shape = call.ctx.list(s);
    view.valid_shape = call.ctx.list(v);
  } else {
    view.valid_shape = valid;
  }
  view.stride = packed_strides(call.ctx, shape, view.layout);
  return make_viewed(call, t->kind, t->dtype, shape, view, t->window);
}

namespace {

// The strides of the same bytes as elements of another width.
Dims scaled_strides(const RuleCall& call, Dims strides, std::int64_t in, std::int64_t out,
                    std::size_t contiguous) {
  std::vector<const Expr*> scaled(strides.begin(), strides.end());
  for (std::size_t i = 0; i < scaled.size(); ++i) {
    if (i + 1 + contiguous == scaled.size() || in == out) continue;
    scaled[i] = in > out ? dim_mul(call.ctx, scaled[i], dim_const(call.ctx, in / out))
                         : call.ctx.binary(BinaryOp::FloorDiv, scaled[i], dim_const(call.ctx, out / in));
    if (const auto stride = const_int(strides[i])) scaled[i] = dim_const(call.ctx, *stride * in / out);
  }
  return call.ctx.list(scaled);
}

}  // namespace

std::size_t contiguous_axis(const TensorType* tensor) {
  const TensorView view = view_of(tensor);
  for (std::size_t i = view.stride.size(); i > 0; --i) {
    if (const_int(view.stride[i - 1]) == 1) return view.stride.size() - i;
  }
  return view.stride.empty() && view.layout == TensorLayout::DN && tensor->shape.size() >= 2 ? 1 : 0;
}

const Type* rule_TensorReinterpret(const RuleCall& call) {
  const TensorType* t = call.tensor(0);
  const DType dtype = call.dtype("dtype").value_or(t->dtype);
  std::optional<Dims> wanted;
  if (call.count() > 1) {
    wanted = call.tuple(1);
    if (!wanted) return nullptr;
  }
  Dims shape;
  TensorView view = view_of(t);
  const std::size_t along = contiguous_axis(t);
  if (!reinterpreted_shape(call, t->dtype, dtype, t->shape, wanted, shape, along)) return nullptr;
  if (wanted) {
    view = TensorView{};
  } else if (!view.valid_shape.empty() &&
             !reinterpreted_shape(call, t->dtype, dtype, valid_shape_of(t), {}, view.valid_shape, along)) {
    return nullptr;
  }
  view.stride = scaled_strides(call, view.stride, byte_width(t->dtype), byte_width(dtype), along);
  return make_viewed(call, t->kind, dtype, shape, view, t->window, t->memref);
}

// --- vector lanes
// ------------------------------------------------------------------------------------------------

const Type* rule_TensorShard(const RuleCall& call) {
  Dims shape;
  Dims valid;
  if (!lane_geometry(call, call.tensor(0)->shape, valid_shape_of(call.tensor(0)), true, shape, valid))
    return nullptr;
  return make_tensor(call, call.tensor(0)->dtype, shape, valid);
}

const Type* rule_TensorGatherLanes(const RuleCall& call) {
  Dims shape;
  Dims valid;
  if (!lane_geometry(call, call.tensor(0)->shape, valid_shape_of(call.tensor(0)), false, shape, valid)) {
    return nullptr;
  }
  return make_tensor(call, call.tensor(0)->dtype, shape, valid);
}

}  // namespace pldc
