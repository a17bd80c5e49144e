#include "passes/simplify/fold.h"

#include "ir/fold.h"
#include "passes/simplify/interval.h"

namespace pldc::simplify {

namespace {

bool is_index_like(DType d) { return d == DType::INDEX || d == DType::INT64; }

// An integer constant, not a constant with a float dtype.
const ConstInt* int_constant(const Expr* e) {
  const auto* constant = dyn<ConstInt>(e);
  return constant != nullptr && is_int(constant->dtype) ? constant : nullptr;
}

bool is_value(const Expr* e, std::int64_t value) {
  const ConstInt* constant = int_constant(e);
  return constant != nullptr && constant->value == value;
}

bool compare(BinaryOp op, std::int64_t a, std::int64_t b) {
  if (op == BinaryOp::Eq) return a == b;
  if (op == BinaryOp::Ne) return a != b;
  if (op == BinaryOp::Lt) return a < b;
  if (op == BinaryOp::Le) return a <= b;
  return op == BinaryOp::Gt ? a > b : a >= b;
}

}  // namespace

std::optional<DType> int_dtype(const Expr* e) {
  const auto dtype = scalar_dtype(e->type);
  return dtype && is_int(*dtype) ? dtype : std::nullopt;
}

bool equal(const Expr* a, const Expr* b) {
  if (a == b) return true;
  if (a->kind != b->kind) return false;
  if (const auto* x = dyn<ConstInt>(a)) {
    const auto* y = static_cast<const ConstInt*>(b);
    return x->value == y->value && x->dtype == y->dtype;
  }
  if (const auto* x = dyn<ConstBool>(a)) return x->value == static_cast<const ConstBool*>(b)->value;
  if (const auto* x = dyn<Binary>(a)) {
    const auto* y = static_cast<const Binary*>(b);
    return x->op == y->op && equal(x->lhs, y->lhs) && equal(x->rhs, y->rhs);
  }
  if (const auto* x = dyn<Unary>(a)) {
    const auto* y = static_cast<const Unary*>(b);
    return x->op == y->op && equal(x->operand, y->operand);
  }
  if (const auto* x = dyn<Cast>(a)) {
    return scalar_dtype(a->type) == scalar_dtype(b->type) &&
           equal(x->operand, static_cast<const Cast*>(b)->operand);
  }
  if (const auto* x = dyn<TupleGet>(a)) {
    const auto* y = static_cast<const TupleGet*>(b);
    return x->index == y->index && equal(x->tuple, y->tuple);
  }
  return false;
}

std::optional<std::int64_t> fold_ints(BinaryOp op, std::int64_t a, std::int64_t b, DType dtype) {
  const FoldedInt folded = fold_int(op, a, b);
  return folded.good() && range_of(dtype).contains(folded.value) ? std::optional(folded.value) : std::nullopt;
}

const Expr* Folder::fold_constants(BinaryOp op, const ConstInt* a, const ConstInt* b, Span span) {
  if (is_comparison(op)) return context_.const_bool(compare(op, a->value, b->value), span);
  const auto value = fold_ints(op, a->value, b->value, a->dtype);
  return value ? context_.const_int(*value, a->dtype, span) : nullptr;
}

const Expr* Folder::fold_neutral(BinaryOp op, const Expr* lhs, const Expr* rhs, Span span) {
  const auto zero_like = [&](const Expr* one) {
    return context_.const_int(0, static_cast<const ConstInt*>(one)->dtype, span);
  };
  if (op == BinaryOp::Add && is_value(lhs, 0)) return rhs;
  if ((op == BinaryOp::Add || op == BinaryOp::Sub) && is_value(rhs, 0)) return lhs;
  if (op == BinaryOp::Mul && (is_value(lhs, 0) || is_value(rhs, 1))) return lhs;
  if (op == BinaryOp::Mul && (is_value(lhs, 1) || is_value(rhs, 0))) return rhs;
  if (op == BinaryOp::FloorDiv && is_value(rhs, 1)) return lhs;
  if (op == BinaryOp::FloorMod && is_value(rhs, 1)) return zero_like(rhs);
  if (op == BinaryOp::Pow) {
    if (is_value(rhs, 0)) return context_.const_int(1, static_cast<const ConstInt*>(rhs)->dtype, span);
    if (is_value(rhs, 1) || is_value(lhs, 1)) return lhs;
  }
  if ((op == BinaryOp::Min || op == BinaryOp::Max) && lhs == rhs) return lhs;
  return nullptr;
}

const Expr* Folder::fold(BinaryOp op, const Expr* lhs, const Expr* rhs, Span span) {
  if (op == BinaryOp::And || op == BinaryOp::Or) {
    const bool absorbing = op == BinaryOp::Or;
    if (const auto* left = dyn<ConstBool>(lhs)) return left->value == absorbing ? lhs : rhs;
    if (const auto* right = dyn<ConstBool>(rhs)) return right->value == absorbing ? rhs : lhs;
    return nullptr;
  }
  if (!int_dtype(lhs) || !int_dtype(rhs)) return nullptr;
  const ConstInt* a = int_constant(lhs);
  const ConstInt* b = int_constant(rhs);
  if (a != nullptr && b != nullptr) {
    if (const Expr* folded = fold_constants(op, a, b, span)) return folded;
  }
  return fold_neutral(op, lhs, rhs, span);
}

const Expr* Folder::fold(UnaryOp op, const Expr* operand, Span span) {
  if (const auto* flag = dyn<ConstBool>(operand)) {
    return op == UnaryOp::Not ? context_.const_bool(!flag->value, span) : nullptr;
  }
  const ConstInt* constant = int_constant(operand);
  if (constant == nullptr || op == UnaryOp::Not) return nullptr;
  const DType dtype = constant->dtype;
  std::optional<std::int64_t> value = constant->value;
  if (op == UnaryOp::BitNot) {
    value = ~*value;
  } else if (op == UnaryOp::Neg || *value < 0) {
    value = fold_ints(BinaryOp::Sub, 0, *value, dtype);
  }
  return value && range_of(dtype).contains(*value) ? context_.const_int(*value, dtype, span) : nullptr;
}

void Folder::promote(const Expr*& lhs, const Expr*& rhs) {
  const auto left = int_dtype(lhs);
  const auto right = int_dtype(rhs);
  if (!left || !right || *left == *right || (is_index_like(*left) && is_index_like(*right))) return;
  const DType common = bit_width(*right) > bit_width(*left) ? *right : *left;
  const auto cast = [&](const Expr*& e, DType dtype) {
    if (dtype != common && !(is_index_like(dtype) && is_index_like(common)))
      e = context_.cast(e, common, e->span);
  };
  cast(lhs, *left);
  cast(rhs, *right);
}

const Expr* Folder::binary(BinaryOp op, const Expr* lhs, const Expr* rhs, Span span) {
  promote(lhs, rhs);
  if (const Expr* folded = fold(op, lhs, rhs, span)) return folded;
  return context_.binary(op, lhs, rhs, span);
}

const Expr* Folder::unary(UnaryOp op, const Expr* operand, Span span) {
  if (const Expr* folded = fold(op, operand, span)) return folded;
  return context_.unary(op, operand, span);
}

}  // namespace pldc::simplify
