// Arithmetic and order of extents. Results are kept as plain as they can be made without knowing the
// variables' ranges: constants are folded and gathered, so that equal extents look equal.
#include <algorithm>

#include "ir/rules/rule.h"

namespace pldc {

namespace {

// e = base + constant, with base null for a constant.
struct Linear {
  const Expr* base = nullptr;
  std::int64_t constant = 0;
};

Linear linear(const Expr* e) {
  if (const auto value = const_int(e)) return {nullptr, *value};
  if (const auto* binary = dyn<Binary>(e)) {
    const auto right = const_int(binary->rhs);
    const auto left = const_int(binary->lhs);
    if (binary->op == BinaryOp::Add && right) {
      Linear l = linear(binary->lhs);
      return {l.base, l.constant + *right};
    }
    if (binary->op == BinaryOp::Add && left) {
      Linear l = linear(binary->rhs);
      return {l.base, l.constant + *left};
    }
    if (binary->op == BinaryOp::Sub && right) {
      Linear l = linear(binary->lhs);
      return {l.base, l.constant - *right};
    }
  }
  return {e, 0};
}

const Expr* with_constant(Context& context, const Expr* base, std::int64_t constant) {
  if (base == nullptr) return dim_const(context, constant);
  if (constant == 0) return base;
  return constant > 0 ? context.binary(BinaryOp::Add, base, dim_const(context, constant))
                      : context.binary(BinaryOp::Sub, base, dim_const(context, -constant));
}

bool same_base(const Linear& a, const Linear& b) {
  if (a.base == nullptr || b.base == nullptr) return a.base == b.base;
  return same_dim(a.base, b.base);
}

}  // namespace

const Expr* dim_const(Context& context, std::int64_t value) { return context.const_int(value, DType::INDEX); }

const Expr* dim_add(Context& context, const Expr* a, const Expr* b) {
  const Linear x = linear(a);
  const Linear y = linear(b);
  if (x.base == nullptr && y.base == nullptr) return dim_const(context, x.constant + y.constant);
  if (y.base == nullptr) return y.constant == 0 ? a : with_constant(context, x.base, x.constant + y.constant);
  if (x.base == nullptr) return x.constant == 0 ? b : with_constant(context, y.base, x.constant + y.constant);
  return context.binary(BinaryOp::Add, a, b);
}

const Expr* dim_sub(Context& context, const Expr* a, const Expr* b) {
  const Linear x = linear(a);
  const Linear y = linear(b);
  if (same_base(x, y)) return dim_const(context, x.constant - y.constant);
  if (y.base == nullptr) return with_constant(context, x.base, x.constant - y.constant);
  if (x.base == nullptr) {
    return context.binary(BinaryOp::Sub, dim_const(context, x.constant - y.constant), y.base);
  }
  return context.binary(BinaryOp::Sub, a, b);
}

const Expr* dim_mul(Context& context, const Expr* a, const Expr* b) {
  const auto x = const_int(a);
  const auto y = const_int(b);
  if (x && y) return dim_const(context, *x * *y);
  if ((x && *x == 1) || (y && *y == 0)) return b;
  if ((y && *y == 1) || (x && *x == 0)) return a;
  return context.binary(BinaryOp::Mul, a, b);
}

const Expr* dim_min(Context& context, const Expr* a, const Expr* b) {
  if (const auto order = provably_le(a, b)) return *order ? a : b;
  return context.binary(BinaryOp::Min, a, b);
}

const Expr* dim_max(Context& context, const Expr* a, const Expr* b) {
  if (const auto order = provably_le(a, b)) return *order ? b : a;
  return context.binary(BinaryOp::Max, a, b);
}

std::optional<std::int64_t> lower_bound(const Expr* e) {
  if (const auto value = const_int(e)) return value;
  const auto* binary = dyn<Binary>(e);
  if (binary == nullptr) return std::nullopt;
  const auto a = lower_bound(binary->lhs);
  const auto b = lower_bound(binary->rhs);
  if (binary->op == BinaryOp::Max) {
    if (a && b) return std::max(*a, *b);
    return a ? a : b;
  }
  if (!a || !b) return std::nullopt;
  if (binary->op == BinaryOp::Add) return *a + *b;
  if (binary->op == BinaryOp::Min) return std::min(*a, *b);
  if (binary->op == BinaryOp::Mul && *a >= 0 && *b >= 0) return *a * *b;
  if (binary->op == BinaryOp::Sub) {
    if (const auto most = upper_bound(binary->rhs)) return *a - *most;
  }
  return std::nullopt;
}

std::optional<std::int64_t> upper_bound(const Expr* e) {
  if (const auto value = const_int(e)) return value;
  const auto* binary = dyn<Binary>(e);
  if (binary == nullptr) return std::nullopt;
  const auto a = upper_bound(binary->lhs);
  const auto b = upper_bound(binary->rhs);
  if (binary->op == BinaryOp::Min) {
    if (a && b) return std::min(*a, *b);
    return a ? a : b;
  }
  if (!a || !b) return std::nullopt;
  if (binary->op == BinaryOp::Add) return *a + *b;
  if (binary->op == BinaryOp::Max) return std::max(*a, *b);
  if (binary->op == BinaryOp::Sub) {
    if (const auto least = lower_bound(binary->rhs)) return *a - *least;
  }
  return std::nullopt;
}

std::optional<bool> provably_le(const Expr* a, const Expr* b) {
  const Linear x = linear(a);
  const Linear y = linear(b);
  if (same_base(x, y)) return x.constant <= y.constant;
  const auto a_most = upper_bound(a);
  const auto b_least = lower_bound(b);
  if (a_most && b_least && *a_most <= *b_least) return true;
  const auto a_least = lower_bound(a);
  const auto b_most = upper_bound(b);
  if (a_least && b_most && *a_least > *b_most) return false;
  // min(.., b) <= b, a <= max(.., a)
  if (const auto* min = dyn<Binary>(a); min != nullptr && min->op == BinaryOp::Min) {
    if (provably_le(min->lhs, b) == true || provably_le(min->rhs, b) == true) return true;
  }
  if (const auto* max = dyn<Binary>(b); max != nullptr && max->op == BinaryOp::Max) {
    if (provably_le(a, max->lhs) == true || provably_le(a, max->rhs) == true) return true;
  }
  return std::nullopt;
}

std::optional<bool> provably_lt(const Expr* a, const Expr* b) {
  const auto reverse = provably_le(b, a);
  return reverse ? std::optional(!*reverse) : std::nullopt;
}

bool provably_negative(const Expr* e) {
  const auto most = upper_bound(e);
  return most && *most < 0;
}

std::optional<std::int64_t> const_product(Dims dims) {
  std::int64_t product = 1;
  for (const Expr* dim : dims) {
    const auto value = const_int(dim);
    if (!value || __builtin_mul_overflow(product, *value, &product)) return std::nullopt;
  }
  return product;
}

const Expr* dim_product(Context& context, Dims dims) {
  std::int64_t constant = 1;
  const Expr* rest = nullptr;
  for (const Expr* dim : dims) {
    if (const auto value = const_int(dim)) {
      constant *= *value;
    } else {
      rest = rest != nullptr ? context.binary(BinaryOp::Mul, rest, dim) : dim;
    }
  }
  if (rest == nullptr) return dim_const(context, constant);
  return constant == 1 ? rest : context.binary(BinaryOp::Mul, dim_const(context, constant), rest);
}

bool all_zero_valid(Dims valid) {
  return std::any_of(valid.begin(), valid.end(), [](const Expr* e) { return is_const(e, 0); });
}

}  // namespace pldc
