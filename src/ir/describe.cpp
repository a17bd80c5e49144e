#include "ir/describe.h"

#include <fmt/format.h>

#include "ir/expr.h"

namespace pldc {

namespace {

std::string describe_at(const Expr* e, int level) {
  switch (e->kind) {
    case ExprKind::Var:
      return std::string(static_cast<const Var*>(e)->name.text());
    case ExprKind::ConstInt:
      return fmt::format("{}", static_cast<const ConstInt*>(e)->value);
    case ExprKind::ConstFloat:
      return fmt::format("{}", static_cast<const ConstFloat*>(e)->value);
    case ExprKind::ConstBool:
      return static_cast<const ConstBool*>(e)->value ? "True" : "False";
    case ExprKind::Binary: {
      const auto* b = static_cast<const Binary*>(e);
      const BinaryInfo& info = info_of(b->op);
      if (b->op == BinaryOp::Min || b->op == BinaryOp::Max) {
        return fmt::format("{}({}, {})", info.text, describe_at(b->lhs, 0), describe_at(b->rhs, 0));
      }
      std::string text = fmt::format("{} {} {}", describe_at(b->lhs, info.level), info.text,
                                     describe_at(b->rhs, info.level + 1));
      return info.level < level ? "(" + text + ")" : text;
    }
    case ExprKind::Cast:
      return describe_at(static_cast<const Cast*>(e)->operand, level);
    case ExprKind::Call: {
      const auto* call = static_cast<const Call*>(e);
      return fmt::format("{}(...)", call->is_op() ? op_info(call->op).name : call->function.text());
    }
    case ExprKind::MakeTuple:
      return describe(static_cast<const MakeTuple*>(e)->elements);
    case ExprKind::Unary:
    case ExprKind::Submit:
    case ExprKind::TupleGet:
      return "(...)";
  }
  return "?";
}

std::string with_valid(std::string text, List<const Expr*> shape, List<const Expr*> valid) {
  if (valid.data() != shape.data()) text += " with valid part " + describe(valid);
  return text;
}

}  // namespace

std::string describe(const Expr* dim) { return describe_at(dim, 0); }

std::string describe(List<const Expr*> dims) {
  std::string text = "[";
  for (const Expr* dim : dims) {
    if (text.size() > 1) text += ", ";
    text += describe(dim);
  }
  return text + "]";
}

std::string describe(const Type* type) {
  if (type == nullptr) return "a value of unknown type";
  switch (type->kind) {
    case TypeKind::Scalar: {
      const std::string_view dtype = name_of(static_cast<const ScalarType*>(type)->dtype);
      // As they are spoken: an FP32, an INDEX, a UINT8.
      return fmt::format("{} {} scalar", dtype.find_first_of("BTU") == 0 ? "a" : "an", dtype);
    }
    case TypeKind::Tensor:
    case TypeKind::DistributedTensor: {
      const auto* t = static_cast<const TensorType*>(type);
      const auto valid =
          t->view != nullptr && !t->view->valid_shape.empty() ? t->view->valid_shape : t->shape;
      return with_valid(
          fmt::format("{} {} {}", type->kind == TypeKind::Tensor ? "a Tensor" : "a DistributedTensor",
                      name_of(t->dtype), describe(t->shape)),
          t->shape, valid);
    }
    case TypeKind::Tile: {
      const auto* t = static_cast<const TileType*>(type);
      const auto valid =
          t->view != nullptr && !t->view->valid_shape.empty() ? t->view->valid_shape : t->shape;
      return with_valid(fmt::format("a Tile {} {}", name_of(t->dtype), describe(t->shape)), t->shape, valid);
    }
    case TypeKind::Array: {
      const auto* a = static_cast<const ArrayType*>(type);
      return fmt::format("an Array of {} {}", a->extent, name_of(a->dtype));
    }
    case TypeKind::Tuple:
      return "a tuple";
    case TypeKind::Ptr:
      return "a Ptr";
    case TypeKind::MemRef:
      return "a MemRef";
    case TypeKind::WindowBuffer:
      return "a window buffer";
    case TypeKind::CommCtx:
      return "a CommCtx";
    case TypeKind::PrefetchAsyncContext:
      return "a PrefetchAsyncContext";
    case TypeKind::AsyncEvent:
      return "an AsyncEvent";
    case TypeKind::AsyncSession:
      return "an AsyncSession";
    case TypeKind::Unknown:
      return "a value of unknown type";
  }
  return "?";
}

}  // namespace pldc
