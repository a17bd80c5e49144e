// Types that hang on no operand, types of an operand, arrays and windows.
#include "ir/rules/rule.h"
#include "support/diag/op.h"

namespace pldc {

const Type* rule_Unknown(const RuleCall& call) { return call.ctx.unknown(); }

namespace {

// The result is the memory of an operand, but the call does not say where that lies.
const Type* operand_type(const RuleCall& call, std::size_t i) {
  if (i >= call.count()) return call.ctx.unknown();
  if (const auto* tensor = call.tensor(i)) {
    if (tensor->memref == nullptr) return tensor;
    return call.ctx.tensor(tensor->kind, tensor->dtype, tensor->shape, tensor->view, nullptr, tensor->window);
  }
  if (const auto* tile = call.tile(i)) {
    if (tile->memref == nullptr) return tile;
    const TileView view = effective_view(tile);
    return call.ctx.tile(tile->dtype, tile->shape, nullptr, tile->space, &view);
  }
  return call.type(i);
}

}  // namespace

const Type* rule_SameAs0(const RuleCall& call) { return operand_type(call, 0); }
const Type* rule_SameAs1(const RuleCall& call) { return operand_type(call, 1); }
const Type* rule_SameAs2(const RuleCall& call) { return operand_type(call, 2); }

const Type* rule_Ptr(const RuleCall& call) { return call.ctx.simple(TypeKind::Ptr); }
const Type* rule_ScalarIndex(const RuleCall& call) { return call.ctx.scalar(DType::INDEX); }
const Type* rule_ScalarInt32(const RuleCall& call) { return call.ctx.scalar(DType::INT32); }
const Type* rule_ScalarInt64(const RuleCall& call) { return call.ctx.scalar(DType::INT64); }
const Type* rule_ScalarBool(const RuleCall& call) { return call.ctx.scalar(DType::BOOL); }
const Type* rule_ScalarTaskId(const RuleCall& call) { return call.ctx.scalar(DType::TASK_ID); }
const Type* rule_CommCtx(const RuleCall& call) { return call.ctx.simple(TypeKind::CommCtx); }
const Type* rule_PrefetchContext(const RuleCall& call) {
  return call.ctx.simple(TypeKind::PrefetchAsyncContext);
}
const Type* rule_AsyncEvent(const RuleCall& call) { return call.ctx.simple(TypeKind::AsyncEvent); }
const Type* rule_AsyncSession(const RuleCall& call) { return call.ctx.simple(TypeKind::AsyncSession); }

const Type* rule_TestRaises(const RuleCall& call) {
  call.diags.report<diag::op_test_raises>(call.span, call.name());
  return nullptr;
}

// --- arrays
// ------------------------------------------------------------------------------------------------------

const Type* rule_ArrayCreate(const RuleCall& call) {
  const auto extent = const_int(call.args[0]);
  if (!extent || *extent <= 0) {
    call.diags.report<diag::op_value>(call.place(0), call.operand(0), call.name(), "a positive constant",
                                      describe(call.args[0]));
    return nullptr;
  }
  const DType dtype = call.dtype("dtype").value_or(DType::INT32);
  if (!is_int(dtype) && dtype != DType::BOOL && dtype != DType::TASK_ID) {
    call.diags.report<diag::op_value>(call.span, "dtype", call.name(), "an integer dtype, BOOL or TASK_ID",
                                      name_of(dtype));
    return nullptr;
  }
  return call.ctx.array(dtype, *extent);
}

namespace {

bool index_in_range(const RuleCall& call, const ArrayType* array) {
  const auto index = const_int(call.args[1]);
  if (!index || (*index >= 0 && *index < array->extent)) return true;
  call.diags.report<diag::op_value>(call.place(1), call.operand(1), call.name(),
                                    fmt::format("at least 0 and less than {}", array->extent), *index);
  return false;
}

}  // namespace

const Type* rule_ArrayGet(const RuleCall& call) {
  const auto* array = dyn<ArrayType>(call.type(0));
  if (array == nullptr || !index_in_range(call, array)) return nullptr;
  return call.ctx.scalar(array->dtype);
}

const Type* rule_ArrayUpdate(const RuleCall& call) {
  const auto* array = dyn<ArrayType>(call.type(0));
  if (array == nullptr || !index_in_range(call, array)) return nullptr;
  const auto value = scalar_dtype(call.type(2));
  if (value && *value != array->dtype && !(*value == DType::INDEX && is_int(array->dtype))) {
    call.diags.report<diag::op_dtype>(call.place(2), call.operand(2), call.name(), name_of(array->dtype),
                                      name_of(*value));
    return nullptr;
  }
  return call.type(0);
}

// --- windows
// -----------------------------------------------------------------------------------------------------

const Type* rule_Window(const RuleCall& call) {
  const auto shape = call.tuple(1);
  if (!shape) return nullptr;
  return call.ctx.tensor(TypeKind::DistributedTensor, call.dtype("dtype").value_or(DType::FP32), *shape);
}

const Type* rule_TileRemoteLoad(const RuleCall& call) {
  const auto* target = call.tensor(0);
  const auto offsets = call.tuple(2);
  const auto shape = call.tuple(3);
  if (target == nullptr || !offsets || !shape) return nullptr;
  Dims requested;
  if (call.count() > 4) {
    const auto given = call.tuple(4);
    if (!given) return nullptr;
    requested = *given;
  }
  // The last dimension of a padded load may run up to 15 elements past the end.
  constexpr std::int64_t kTailPadding = 15;
  const bool padded = call.flag("allow_physical_tail_padding");
  const Dims source_valid = valid_shape_of(target);
  std::vector<const Expr*> valid;
  for (std::size_t i = 0; i < shape->size(); ++i) {
    const Expr* available = (*shape)[i];
    const bool pads = padded && i == 1;
    if (i < source_valid.size() && i < offsets->size() &&
        (pads || !same_dim(source_valid[i], target->shape[i]))) {
      const Expr* end =
          pads ? dim_add(call.ctx, source_valid[i], dim_const(call.ctx, kTailPadding)) : source_valid[i];
      available = dim_min(call.ctx, rest_behind(call.ctx, end, (*offsets)[i]), available);
    }
    valid.push_back(i < requested.size() ? dim_min(call.ctx, requested[i], available) : available);
  }
  TileView view = implicit_tile_view(*shape, std::nullopt);
  view.valid_shape = call.ctx.list(valid);
  // A single column is kept column-major, unless the window's view says otherwise.
  const bool column = !shape->empty() && is_const(shape->back(), 1) && shape->size() > 1;
  if (column && !is_const((*shape)[shape->size() - 2], 1)) {
    const bool row_major = target->view != nullptr && target->view->layout == TensorLayout::ND;
    view.blayout = row_major ? TileLayout::RowMajor : TileLayout::ColMajor;
  }
  return call.ctx.tile(target->dtype, *shape, nullptr, std::nullopt, &view);
}

}  // namespace pldc
