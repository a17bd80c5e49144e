#include "codegen/expr.h"

#include <fmt/format.h>

#include "codegen/emit.h"
#include "frontend/text.h"
#include "support/diag/codegen.h"

namespace pldc {
namespace {

// Precedence of C++ operators, larger binds tighter. Not Python's: there `&` binds tighter than `==`.
constexpr int kOr = 4;
constexpr int kAnd = 5;
constexpr int kBit = 6;  // | ^ &: operands are always put in parentheses unless they are simple
constexpr int kEquality = 9;
constexpr int kRelation = 10;
constexpr int kShift = 11;
constexpr int kSum = 12;
constexpr int kProduct = 13;
constexpr int kUnary = 15;
constexpr int kPrimary = 16;

struct Operator {
  std::string_view text;
  int level;
};

Operator operator_of(BinaryOp op) {
  switch (op) {
    case BinaryOp::Or:
      return {"||", kOr};
    case BinaryOp::And:
      return {"&&", kAnd};
    case BinaryOp::Xor:
    case BinaryOp::Ne:
      return {"!=", kEquality};
    case BinaryOp::Eq:
      return {"==", kEquality};
    case BinaryOp::Lt:
      return {"<", kRelation};
    case BinaryOp::Le:
      return {"<=", kRelation};
    case BinaryOp::Gt:
      return {">", kRelation};
    case BinaryOp::Ge:
      return {">=", kRelation};
    case BinaryOp::BitOr:
      return {"|", kBit};
    case BinaryOp::BitXor:
      return {"^", kBit};
    case BinaryOp::BitAnd:
      return {"&", kBit};
    case BinaryOp::Shl:
      return {"<<", kShift};
    case BinaryOp::Shr:
      return {">>", kShift};
    case BinaryOp::Add:
      return {"+", kSum};
    case BinaryOp::Sub:
      return {"-", kSum};
    case BinaryOp::Mul:
      return {"*", kProduct};
    case BinaryOp::FloatDiv:
      return {"/", kProduct};
    case BinaryOp::FloorDiv:
      return {"pld_floordiv", kPrimary};
    case BinaryOp::FloorMod:
      return {"pld_floormod", kPrimary};
    case BinaryOp::Pow:
      return {"pld_pow", kPrimary};
    case BinaryOp::Min:
      return {"pld_min", kPrimary};
    case BinaryOp::Max:
      return {"pld_max", kPrimary};
  }
  return {"?", kPrimary};
}

std::string in_parentheses(std::string text, bool needed) { return needed ? "(" + text + ")" : text; }

std::string cast_to(std::string_view type, const std::string& text) {
  return fmt::format("static_cast<{}>({})", type, text);
}

// Types that C++ computes in int: the result has to be brought back.
bool computes_in_int(DType dtype) {
  return dtype == DType::INT8 || dtype == DType::INT16 || dtype == DType::UINT8 || dtype == DType::UINT16 ||
         dtype == DType::BOOL;
}
bool is_wide(DType dtype) { return bit_width(dtype) == 64; }
// INT64 and INDEX are one type in C++.
bool same_cpp_type(DType a, DType b) { return cpp_scalar_type(a) == cpp_scalar_type(b); }

// A literal is an int in C++, whatever its dtype says.
bool is_bare_literal(const Expr* expr) {
  const auto* constant = dyn<ConstInt>(expr);
  return constant != nullptr && !is_float(constant->dtype) && constant->value >= INT32_MIN &&
         constant->value <= INT32_MAX;
}

// C++ shifts by nothing else.
bool is_shift_count(const Expr* count, DType shifted) {
  const auto* constant = dyn<ConstInt>(count);
  return constant != nullptr && !is_float(constant->dtype) && constant->value >= 0 &&
         constant->value < bit_width(shifted);
}

}  // namespace

DType dtype_of(const Expr* expr) { return scalar_dtype(expr->type).value_or(DType::INDEX); }

DType operand_dtype(const Binary* expr) {
  if (is_logical(expr->op)) return DType::BOOL;
  const DType left = dtype_of(expr->lhs);
  const DType right = dtype_of(expr->rhs);
  // A float never becomes an integer behind the program's back.
  if (is_float(left) != is_float(right)) return is_float(left) ? left : right;
  const DType own = dtype_of(expr);
  if (!is_comparison(expr->op) && is_float(own) == is_float(left) && own != DType::BOOL) return own;
  return bit_width(right) > bit_width(left) ? right : left;
}

std::string ScalarText::as(const Expr* expr, DType dtype) const { return converted(expr, dtype, 0); }

std::string ScalarText::index_operand(const Expr* expr) const {
  return converted(expr, DType::INDEX, kUnary);
}

std::string ScalarText::condition(const Expr* expr) const { return converted(expr, DType::BOOL, 0); }

std::string ScalarText::converted(const Expr* expr, DType dtype, int level) const {
  if (const auto* constant = dyn<ConstInt>(expr)) {
    if (is_float(dtype)) return cpp_float(static_cast<double>(constant->value));
    if (dtype == DType::BOOL) return constant->value != 0 ? "true" : "false";
    if (is_int(dtype)) {
      const std::string text = cpp_int(constant->value);
      return in_parentheses(text, constant->value < 0 && text[0] == '-' && level > kUnary - 1);
    }
  }
  if (dtype == DType::BOOL && dtype_of(expr) != DType::BOOL) {
    return in_parentheses(text(expr, kEquality + 1) + " != 0", level > kEquality);
  }
  if (same_cpp_type(dtype_of(expr), dtype)) return text(expr, level);
  return cast(expr, dtype);
}

std::string ScalarText::cast(const Expr* from, DType to) const {
  const bool may_lose =
      sizes_ && is_int(to) && is_int(dtype_of(from)) && to != DType::BOOL && !fits(sizes_->of(from), to);
  return fmt::format("{}<{}>({})", may_lose ? "pld_size_cast" : "static_cast", cpp_scalar_type(to),
                     text(from, 0));
}

ScalarText ScalarText::for_sizes(DefinitionOf definition) const {
  ScalarText out = *this;
  out.sizes_ = std::make_shared<SizeRanges>(std::move(definition));
  out.shown_ = 0;
  return out;
}

const Expr* ScalarText::shown_definition(const Var* var) const {
  constexpr int kMostShown = 32;
  if (!sizes_ || shown_ >= kMostShown) return nullptr;
  const Expr* value = sizes_->definition(var);
  if (value == nullptr || !sizes_->may_wrap(value)) return nullptr;
  ++shown_;
  return value;
}

std::string ScalarText::checked(const Binary* expr, DType dtype) const {
  if (!sizes_ || !is_int(dtype) || dtype == DType::BOOL || !sizes_->wraps(expr, dtype)) return {};
  std::string_view name;
  if (expr->op == BinaryOp::Add) name = "add";
  if (expr->op == BinaryOp::Sub) name = "sub";
  if (expr->op == BinaryOp::Mul) name = "mul";
  if (expr->op == BinaryOp::Pow) name = "pow";
  if (expr->op == BinaryOp::Shl) name = "shl";
  if (name.empty()) return {};
  return fmt::format("pld_size_{}<{}>({}, {})", name, cpp_scalar_type(dtype), converted(expr->lhs, dtype, 0),
                     converted(expr->rhs, dtype, 0));
}

std::string ScalarText::text(const Expr* expr, int level) const {
  switch (expr->kind) {
    case ExprKind::Var: {
      const auto* var = static_cast<const Var*>(expr);
      if (const Expr* value = shown_definition(var)) return converted(value, dtype_of(var), level);
      std::string out = var_(var);
      if (out.empty()) {
        diags_.report<diag::codegen_no_value>(expr->span, plain_name(var->name.text()));
        out = "0";
      }
      return out;
    }
    case ExprKind::ConstInt: {
      const auto* constant = static_cast<const ConstInt*>(expr);
      if (is_float(constant->dtype)) return cpp_float(static_cast<double>(constant->value));
      return converted(expr, constant->dtype, level);
    }
    case ExprKind::ConstFloat: {
      const std::string text = cpp_float(static_cast<const ConstFloat*>(expr)->value);
      return in_parentheses(text, text[0] == '-' && level > kUnary - 1);
    }
    case ExprKind::ConstBool:
      return static_cast<const ConstBool*>(expr)->value ? "true" : "false";
    case ExprKind::Binary:
      return binary(static_cast<const Binary*>(expr), level);
    case ExprKind::Unary:
      return unary(static_cast<const Unary*>(expr), level);
    case ExprKind::Cast: {
      const auto* cast = static_cast<const Cast*>(expr);
      const DType dtype = dtype_of(cast);
      if (same_cpp_type(dtype_of(cast->operand), dtype) && !is_bare_literal(cast->operand)) {
        return text(cast->operand, level);
      }
      if (dtype == DType::BOOL) return converted(cast->operand, DType::BOOL, level);
      return this->cast(cast->operand, dtype);
    }
    case ExprKind::Call: {
      const auto* call = static_cast<const Call*>(expr);
      std::string out = call_ ? call_(call) : std::string();
      if (out.empty()) {
        diags_.report<diag::codegen_nested_call>(expr->span, print_expr(expr));
        out = "0";
      }
      return out;
    }
    case ExprKind::Submit:
    case ExprKind::MakeTuple:
    case ExprKind::TupleGet:
      break;
  }
  diags_.report<diag::codegen_nested_call>(expr->span, print_expr(expr));
  return "0";
}

std::string ScalarText::binary(const Binary* expr, int level) const {
  const Operator op = operator_of(expr->op);
  const DType dtype = operand_dtype(expr);
  const DType own = dtype_of(expr);
  const std::string_view type = cpp_scalar_type(dtype);
  if (type.empty() || dtype == DType::TASK_ID) {
    diags_.report<diag::codegen_scalar_form>(expr->span, info_of(expr->op).text, name_of(dtype))
        .help("cast the operands to FP32 or to an integer dtype");
    return "0";
  }
  std::string out;
  int out_level = op.level;
  DType out_dtype = is_comparison(expr->op) || is_logical(expr->op) ? DType::BOOL : dtype;

  if (std::string with_check = checked(expr, dtype); !with_check.empty()) {
    out = std::move(with_check);
    out_level = kPrimary;
  } else if (op.level == kShift && !is_shift_count(expr->rhs, dtype)) {
    out = fmt::format("{}<{}>({}, {})", expr->op == BinaryOp::Shl ? "pld_shl" : "pld_shr", type,
                      converted(expr->lhs, dtype, 0), text(expr->rhs, 0));
    out_level = kPrimary;
  } else if (op.level == kPrimary) {  // a helper: the type is written, so that literals need none
    out = fmt::format("{}<{}>({}, {})", op.text, type, converted(expr->lhs, dtype, 0),
                      converted(expr->rhs, dtype, 0));
  } else if (expr->op == BinaryOp::FloatDiv && !is_float(dtype)) {
    out = fmt::format("static_cast<double>({}) / static_cast<double>({})", text(expr->lhs, 0),
                      text(expr->rhs, 0));
    out = cast_to(cpp_scalar_type(own), out);
    out_level = kPrimary;
    out_dtype = own;
  } else {
    // Operands of the bit operators and of mixed logic stand in parentheses: compilers warn about bare ones.
    int left = op.level;
    int right = op.level + 1;
    if (op.level == kBit || op.level == kShift) left = right = kUnary;
    if (op.level == kOr || op.level == kAnd) left = right = kEquality;
    if (op.level == kEquality || op.level == kRelation) left = right = kShift;
    if (is_logical(expr->op)) {
      if (const auto* inner = dyn<Binary>(expr->lhs); inner != nullptr && inner->op == expr->op)
        left = op.level;
      if (expr->op == BinaryOp::Xor) left = right = kUnary;
    }
    std::string lhs = converted(expr->lhs, dtype, left);
    std::string rhs = converted(expr->rhs, dtype, right);
    // Two literals would be computed in int.
    if (is_wide(dtype) && is_bare_literal(expr->lhs) && (is_bare_literal(expr->rhs) || op.level == kShift) &&
        !is_comparison(expr->op)) {
      lhs = fmt::format("{}{{{}}}", type, converted(expr->lhs, dtype, 0));
    }
    if (dtype == DType::UINT16 && expr->op == BinaryOp::Mul)
      lhs = cast_to("uint32_t", lhs);  // 0xffff * 0xffff
    out = fmt::format("{} {} {}", lhs, op.text, rhs);
    const bool narrow = computes_in_int(dtype) && out_dtype != DType::BOOL;
    if (narrow || ((dtype == DType::FP16 || dtype == DType::BF16) && out_dtype != DType::BOOL)) {
      out = cast_to(type, out);
      out_level = kPrimary;
    }
  }
  if (!same_cpp_type(out_dtype, own)) {
    out = cast_to(cpp_scalar_type(own), out);
    out_level = kPrimary;
  }
  return in_parentheses(std::move(out), level > out_level);
}

std::string ScalarText::unary(const Unary* expr, int level) const {
  const DType dtype = dtype_of(expr->operand);
  const std::string_view type = cpp_scalar_type(dtype);
  std::string out;
  switch (expr->op) {
    case UnaryOp::Not:
      return in_parentheses("!" + converted(expr->operand, DType::BOOL, kUnary), level > kUnary);
    case UnaryOp::Abs:
      return fmt::format("pld_abs<{}>({})", type, converted(expr->operand, dtype, 0));
    case UnaryOp::Neg:
      if (sizes_ && is_int(dtype) && !fits(negated(sizes_->of(expr->operand)), dtype))
        return fmt::format("pld_size_sub<{}>(0, {})", type, converted(expr->operand, dtype, 0));
      out = "-" + text(expr->operand, kUnary);
      break;
    case UnaryOp::BitNot:
      out = "~" + text(expr->operand, kUnary);
      break;
  }
  if (out.size() > 1 && out[1] == '-') out = fmt::format("-({})", out.substr(1));  // "--" is another operator
  if (computes_in_int(dtype) || dtype == DType::FP16 || dtype == DType::BF16) return cast_to(type, out);
  return in_parentheses(std::move(out), level > kUnary);
}

}  // namespace pldc
