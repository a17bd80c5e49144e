// Trees of literals and module constants are one number, as in the Python that the text is (format.md 2.9).
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
    std::int64_t result = 0;
    bool overflow = false;
    const std::int64_t x = a->value;
    const std::int64_t y = b->value;
    switch (op) {
      case BinaryOp::Add:
        overflow = __builtin_add_overflow(x, y, &result);
        break;
      case BinaryOp::Sub:
        overflow = __builtin_sub_overflow(x, y, &result);
        break;
      case BinaryOp::Mul:
        overflow = __builtin_mul_overflow(x, y, &result);
        break;
      case BinaryOp::FloorDiv:
      case BinaryOp::FloorMod: {
        if (x == std::numeric_limits<std::int64_t>::min() && y == -1) {
          overflow = true;
          break;
        }
        std::int64_t quotient = x / y;
        if (x % y != 0 && (x < 0) != (y < 0)) --quotient;
        result = op == BinaryOp::FloorDiv ? quotient : x - quotient * y;
        break;
      }
      case BinaryOp::Pow: {
        if (y < 0) return nullptr;
        result = 1;
        for (std::int64_t i = 0; i < y && !overflow; ++i) {
          overflow = __builtin_mul_overflow(result, x, &result);
          if (result == 0 || (result == 1 && x == 1)) break;
          if (i > 128 && x != -1) overflow = true;
        }
        break;
      }
      case BinaryOp::Shl:
        if (y < 0 || y > 62) {
          overflow = true;
        } else {
          overflow = __builtin_mul_overflow(x, std::int64_t{1} << y, &result);
        }
        break;
      case BinaryOp::Shr:
        if (y < 0) return nullptr;
        result = x >> std::min<std::int64_t>(y, 63);
        break;
      case BinaryOp::BitAnd:
        result = x & y;
        break;
      case BinaryOp::BitOr:
        result = x | y;
        break;
      case BinaryOp::BitXor:
        result = x ^ y;
        break;
      case BinaryOp::Or:
      case BinaryOp::Xor:
      case BinaryOp::And:
      case BinaryOp::Eq:
      case BinaryOp::Ne:
      case BinaryOp::Lt:
      case BinaryOp::Le:
      case BinaryOp::Gt:
      case BinaryOp::Ge:
      case BinaryOp::FloatDiv:
      case BinaryOp::Min:
      case BinaryOp::Max:
        return nullptr;
    }
    if (overflow) {
      diags_.report<diag::constant_overflow>(where).help("the value must fit 64 bits");
      return nullptr;
    }
    return ctx_.const_int(result, DType::INDEX, where);
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
