#include "ir/context.h"

#include "support/check.h"

namespace pldc {

namespace {

constexpr std::size_t kDTypeCount = std::size(EnumNames<DType>::names);

DType dtype_or_index(const Expr* expr) { return scalar_dtype(expr->type).value_or(DType::INDEX); }

}  // namespace

Context::Context() {
  static_assert(std::size(decltype(scalars_){}) == kDTypeCount);
  for (std::size_t i = 0; i < kDTypeCount; ++i) scalars_[i] = {{TypeKind::Scalar}, static_cast<DType>(i)};
  for (std::size_t i = 0; i < std::size(simple_); ++i) simple_[i] = {static_cast<TypeKind>(i)};
  static_assert(std::size(decltype(simple_){}) == static_cast<std::size_t>(TypeKind::Unknown) + 1);
}

const Type* Context::array(DType dtype, std::int64_t extent) {
  const Type*& slot = arrays_[static_cast<std::size_t>(dtype)][extent];
  if (slot == nullptr) slot = arena_.make<ArrayType>(ArrayType{{TypeKind::Array}, dtype, extent});
  return slot;
}

const Type* Context::tuple(List<const Type*> elements) {
  return arena_.make<TupleType>(TupleType{{TypeKind::Tuple}, elements});
}

const TensorType* Context::tensor(TypeKind kind, DType dtype, List<const Expr*> shape, const TensorView* view,
                                  const MemRef* memref, const Var* window) {
  PLDC_CHECK(holds<TensorType>(kind), "tensor kind");
  PLDC_CHECK(window == nullptr || kind == TypeKind::DistributedTensor,
             "only distributed tensors have windows");
  if (view != nullptr && !view->valid_shape.empty() && same_dims(view->valid_shape, shape)) {
    TensorView cleared = *view;
    cleared.valid_shape = {};
    view = arena_.make<TensorView>(cleared);
  }
  if (view != nullptr && view->valid_shape.empty() && view->stride.empty() &&
      view->layout == TensorLayout::ND && view->pad == PadValue::Null) {
    view = nullptr;
  }
  return arena_.make<TensorType>(TensorType{{kind}, dtype, shape, view, memref, window});
}

const TileType* Context::tile(DType dtype, List<const Expr*> shape, const MemRef* memref,
                              std::optional<MemSpace> space, const TileView* view) {
  if (view != nullptr) {
    TileView v = *view;
    if (!v.valid_shape.empty() && same_dims(v.valid_shape, shape)) v.valid_shape = {};
    const TileView implicit = implicit_tile_view(shape, space);
    const bool trivial = v.valid_shape.empty() && v.stride.empty() && v.start_offset == nullptr &&
                         v.pad == PadValue::Null && v.compact == CompactMode::Null &&
                         v.blayout == implicit.blayout && v.slayout == implicit.slayout &&
                         v.fractal == implicit.fractal;
    view = trivial ? nullptr : arena_.make<TileView>(v);
  }
  return arena_.make<TileType>(TileType{{TypeKind::Tile}, dtype, shape, memref, space, view});
}

const TensorType* Context::with_window(const TensorType* type, const Var* window) {
  TensorType copy = *type;
  copy.window = window;
  return arena_.make<TensorType>(copy);
}

const Var* Context::var(Name name, const Type* type, Span span, bool is_iter_arg) {
  return arena_.make<Var>(Var{{ExprKind::Var, span, type}, name, next_var_++, is_iter_arg});
}

const Var* Context::var_like(const Var* like, const Type* type) {
  return var(like->name, type, like->span, like->is_iter_arg);
}

const ConstInt* Context::const_int(std::int64_t value, DType dtype, Span span) {
  return arena_.make<ConstInt>(ConstInt{{ExprKind::ConstInt, span, scalar(dtype)}, value, dtype});
}

const ConstFloat* Context::const_float(double value, DType dtype, Span span) {
  return arena_.make<ConstFloat>(ConstFloat{{ExprKind::ConstFloat, span, scalar(dtype)}, value, dtype});
}

const ConstBool* Context::const_bool(bool value, Span span) {
  return arena_.make<ConstBool>(ConstBool{{ExprKind::ConstBool, span, scalar(DType::BOOL)}, value});
}

const Binary* Context::binary(BinaryOp op, const Expr* lhs, const Expr* rhs, Span span) {
  DType dtype = DType::BOOL;
  if (!is_comparison(op) && !is_logical(op)) {
    const DType left = dtype_or_index(lhs);
    const DType right = dtype_or_index(rhs);
    dtype = bit_width(right) > bit_width(left) ? right : left;
  }
  return binary_of_type(op, lhs, rhs, scalar(dtype), span);
}

const Binary* Context::binary_of_type(BinaryOp op, const Expr* lhs, const Expr* rhs, const Type* type,
                                      Span span) {
  return arena_.make<Binary>(Binary{{ExprKind::Binary, span, type}, op, lhs, rhs});
}

const Unary* Context::unary(UnaryOp op, const Expr* operand, Span span) {
  const Type* type = op == UnaryOp::Not ? scalar(DType::BOOL) : operand->type;
  return arena_.make<Unary>(Unary{{ExprKind::Unary, span, type}, op, operand});
}

const Cast* Context::cast(const Expr* operand, DType dtype, Span span) {
  return arena_.make<Cast>(Cast{{ExprKind::Cast, span, scalar(dtype)}, operand});
}

const Call* Context::call(OpId op, List<const Expr*> args, Attrs kwargs, Attrs attrs, const Type* type,
                          Span span) {
  return arena_.make<Call>(Call{{ExprKind::Call, span, type}, op, Name{}, args, kwargs, attrs});
}

const Call* Context::call(Name function, List<const Expr*> args, Attrs kwargs, Attrs attrs, const Type* type,
                          Span span) {
  return arena_.make<Call>(Call{{ExprKind::Call, span, type}, OpId::none_, function, args, kwargs, attrs});
}

const Call* Context::call_with_type(const Call* call, const Type* type) {
  if (call->type == type) return call;
  Call copy = *call;
  copy.type = type;
  return arena_.make<Call>(copy);
}

const MakeTuple* Context::make_tuple(List<const Expr*> elements, Span span) {
  std::vector<const Type*> types;
  types.reserve(elements.size());
  for (const Expr* e : elements) types.push_back(e->type);
  return arena_.make<MakeTuple>(MakeTuple{{ExprKind::MakeTuple, span, tuple(list(types))}, elements});
}

const TupleGet* Context::tuple_get(const Expr* tuple, std::int64_t index, Span span) {
  const auto* type = dyn<TupleType>(tuple->type);
  const bool known = type != nullptr && index >= 0 && static_cast<std::size_t>(index) < type->elements.size();
  const Type* element = known ? type->elements[static_cast<std::size_t>(index)] : unknown();
  return arena_.make<TupleGet>(TupleGet{{ExprKind::TupleGet, span, element}, tuple, index});
}

const AssignStmt* Context::assign(const Var* var, const Expr* value, Span span,
                                  List<std::string_view> comments) {
  return arena_.make<AssignStmt>(AssignStmt{{StmtKind::Assign, span, comments}, var, value});
}

const EvalStmt* Context::eval(const Expr* value, Span span, List<std::string_view> comments) {
  return arena_.make<EvalStmt>(EvalStmt{{StmtKind::Eval, span, comments}, value});
}

const ReturnStmt* Context::ret(List<const Expr*> values, Span span, List<std::string_view> comments) {
  return arena_.make<ReturnStmt>(ReturnStmt{{StmtKind::Return, span, comments}, values});
}

const YieldStmt* Context::yield(List<const Expr*> values, Span span, List<std::string_view> comments) {
  return arena_.make<YieldStmt>(YieldStmt{{StmtKind::Yield, span, comments}, values});
}

TileView implicit_tile_view(List<const Expr*> shape, std::optional<MemSpace> space) {
  TileView view;
  const MemSpace where = space.value_or(MemSpace::Vec);
  const auto by_shape = [&] {
    if (shape.size() != 2) return TileLayout::RowMajor;
    const auto rows = const_int(shape[0]);
    const auto columns = const_int(shape[1]);
    return rows && columns && *columns == 1 && *rows > 1 ? TileLayout::ColMajor : TileLayout::RowMajor;
  };
  switch (where) {
    case MemSpace::DDR:
    case MemSpace::Vec:
    case MemSpace::Bias:
    case MemSpace::ScalarLocal:
      view.blayout = by_shape();
      break;
    case MemSpace::Mat:
    case MemSpace::Left:
      view.blayout = TileLayout::ColMajor;
      view.slayout = TileLayout::RowMajor;
      break;
    case MemSpace::Right:
      view.blayout = by_shape();
      view.slayout = TileLayout::ColMajor;
      break;
    case MemSpace::Acc:
      view.blayout = TileLayout::ColMajor;
      view.slayout = TileLayout::RowMajor;
      view.fractal = 1024;
      break;
    case MemSpace::LeftScale:
      view.slayout = TileLayout::RowMajor;
      view.fractal = 32;
      break;
    case MemSpace::RightScale:
      view.blayout = TileLayout::ColMajor;
      view.slayout = TileLayout::ColMajor;
      view.fractal = 32;
      break;
  }
  return view;
}

TileView effective_view(const TileType* type) {
  return type->view != nullptr ? *type->view : implicit_tile_view(type->shape, type->space);
}

List<const Expr*> valid_shape_of(const Type* type) {
  if (const auto* tensor = dyn<TensorType>(type)) {
    return tensor->view != nullptr && !tensor->view->valid_shape.empty() ? tensor->view->valid_shape
                                                                         : tensor->shape;
  }
  if (const auto* tile = dyn<TileType>(type)) {
    return tile->view != nullptr && !tile->view->valid_shape.empty() ? tile->view->valid_shape : tile->shape;
  }
  return {};
}

bool same_dim(const Expr* a, const Expr* b) {
  if (a == b) return true;
  if (a->kind != b->kind) return false;
  if (const auto* x = dyn<ConstInt>(a)) return x->value == static_cast<const ConstInt*>(b)->value;
  if (const auto* x = dyn<Binary>(a)) {
    const auto* y = static_cast<const Binary*>(b);
    return x->op == y->op && same_dim(x->lhs, y->lhs) && same_dim(x->rhs, y->rhs);
  }
  if (const auto* x = dyn<Unary>(a)) {
    const auto* y = static_cast<const Unary*>(b);
    return x->op == y->op && same_dim(x->operand, y->operand);
  }
  return false;
}

bool same_dims(List<const Expr*> a, List<const Expr*> b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (!same_dim(a[i], b[i])) return false;
  }
  return true;
}

}  // namespace pldc
