// Trees of literals and module constants are one number, as in the Python that the text is (format.md 2.9).
#include "ir/fold.h"

#include <cmath>
#include <limits>

#include "frontend/reader.h"
#include "support/diag/parse.h"

namespace pldc {

bool Reader::is_all_constant(const Expr* e) const {
  if (e->kind == ExprKind::ConstInt) return true;
  const auto* binary = dyn<Binary>(e);
  return binary != nullptr && is_all_constant(binary->lhs) && is_all_constant(binary->rhs);
}

const Expr* Reader::unfold_negative(const Expr* e) {
  const auto* i = dyn<ConstInt>(e);
  if (i == nullptr || i->value >= 0 || i->dtype != DType::INDEX || !i->span.valid()) return e;
  if (file_.text()[i->span.begin - file_.base()] != '-') return e;
  if (i->value == std::numeric_limits<std::int64_t>::min()) return e;
  return ctx_.unary(UnaryOp::Neg, ctx_.const_int(-i->value, i->dtype, {i->span.begin + 1, i->span.end}),
                    i->span);
}

// The negated constant, or null after a report.
const Expr* Reader::negated(const Expr* constant, Span where) {
  if (const auto* f = dyn<ConstFloat>(constant)) return ctx_.const_float(-f->value, f->dtype, where);
  const auto* i = static_cast<const ConstInt*>(constant);
  const FoldedInt folded = fold_int(BinaryOp::Sub, 0, i->value);
  if (!folded.good()) {
    diags_.report<diag::constant_overflow>(where).help("the value must fit 64 bits");
    return nullptr;
  }
  return ctx_.const_int(folded.value, i->dtype, where);
}

// Literals and module constants fold as in Python; null where they do not (format.md 2.9.3).
const Expr* Reader::fold(BinaryOp op, const Expr* lhs, const Expr* rhs, Span where) {
  const auto* a = dyn<ConstInt>(lhs);
  const auto* b = dyn<ConstInt>(rhs);
  const auto number = [](const Expr* e) {
    const auto* i = dyn<ConstInt>(e);
    return i != nullptr ? static_cast<double>(i->value) : static_cast<const ConstFloat*>(e)->value;
  };
  const auto is_number = [](const Expr* e) {
    return e->kind == ExprKind::ConstInt || e->kind == ExprKind::ConstFloat;
  };
  if (!is_number(lhs) || !is_number(rhs)) return nullptr;
  const bool divides = op == BinaryOp::FloatDiv || op == BinaryOp::FloorDiv || op == BinaryOp::FloorMod;
  if (divides && number(rhs) == 0) {
    diags_.report<diag::constant_division>(where).help("the divisor of a constant expression must not be 0");
    return nullptr;
  }
  if (a != nullptr && b != nullptr && op != BinaryOp::FloatDiv) {
    const FoldedInt folded = fold_int(op, a->value, b->value);
    if (folded.failure == FoldFailure::Overflow)
      diags_.report<diag::constant_overflow>(where).help("the value must fit 64 bits");
    return folded.good() ? ctx_.const_int(folded.value, DType::INDEX, where) : nullptr;
  }
  const double x = number(lhs);
  const double y = number(rhs);
  double result = 0;
  if (op == BinaryOp::Add) {
    result = x + y;
  } else if (op == BinaryOp::Sub) {
    result = x - y;
  } else if (op == BinaryOp::Mul) {
    result = x * y;
  } else if (op == BinaryOp::FloatDiv) {
    result = x / y;
  } else if (op == BinaryOp::FloorDiv) {
    result = std::floor(x / y);
  } else if (op == BinaryOp::FloorMod) {
    result = x - std::floor(x / y) * y;
  } else if (op == BinaryOp::Pow) {
    result = std::pow(x, y);
  } else {
    return nullptr;
  }
  return ctx_.const_float(result, DType::FP32, where);
}

}  // namespace pldc
