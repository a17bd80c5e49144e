#include "passes/match/value.h"

#include <algorithm>

#include "ir/fold.h"

namespace pldc::match {
namespace {

using Extents = std::vector<std::optional<std::int64_t>>;

std::optional<std::int64_t> times(std::optional<std::int64_t> a, std::optional<std::int64_t> b) {
  std::int64_t r = 0;
  if (!a || !b || __builtin_mul_overflow(*a, *b, &r)) return std::nullopt;
  return r;
}
std::optional<std::int64_t> plus(std::optional<std::int64_t> a, std::optional<std::int64_t> b) {
  std::int64_t r = 0;
  if (!a || !b || __builtin_add_overflow(*a, *b, &r)) return std::nullopt;
  return r;
}

bool fits(std::int64_t value, DType dtype) {
  const unsigned bits = bit_width(dtype);
  if (bits >= 64) return is_signed_int(dtype) || value >= 0;
  const std::int64_t limit = std::int64_t{1} << (is_signed_int(dtype) ? bits - 1 : bits);
  return value < limit && value >= (is_signed_int(dtype) ? -limit : 0);
}

Value overflow() {
  Value v;
  v.overflowed = true;
  return v;
}

// The number as a value of the type, or unknown.
Value in_range(std::optional<std::int64_t> number, const Type* type) {
  const auto dtype = scalar_dtype(type);
  if (!number || !dtype) return {};
  if (*dtype == DType::BOOL) return Value::of(*number != 0 ? 1 : 0);
  if (!is_int(*dtype)) return {};
  return fits(*number, *dtype) ? Value::of(*number) : overflow();
}

std::optional<bool> compared(BinaryOp op, std::int64_t a, std::int64_t b) {
  if (op == BinaryOp::Eq) return a == b;
  if (op == BinaryOp::Ne) return a != b;
  if (op == BinaryOp::Lt) return a < b;
  if (op == BinaryOp::Le) return a <= b;
  if (op == BinaryOp::Gt) return a > b;
  if (op == BinaryOp::Ge) return a >= b;
  return std::nullopt;
}

}  // namespace

Value Value::of(View view) {
  Value v;
  v.kind = ValueKind::Window;
  v.view = std::make_shared<const View>(std::move(view));
  return v;
}

Value Value::of(std::vector<Value> elements) {
  Value v;
  v.kind = ValueKind::Tuple;
  v.elements = std::make_shared<const std::vector<Value>>(std::move(elements));
  return v;
}

bool same_value(const Value& a, const Value& b) {
  if (a.kind != b.kind) return false;
  switch (a.kind) {
    case ValueKind::Unknown:
      return false;
    case ValueKind::Int:
    case ValueKind::Buffer:
    case ValueKind::Context:
      return a.number == b.number;
    case ValueKind::Window:
      return a.view == b.view || (a.view->allocation == b.view->allocation &&
                                  a.view->dtype == b.view->dtype && a.view->shape == b.view->shape &&
                                  a.view->stride == b.view->stride && a.view->offset == b.view->offset);
    case ValueKind::Tuple:
      return std::equal(a.elements->begin(), a.elements->end(), b.elements->begin(), b.elements->end(),
                        same_value);
  }
  return false;
}

Value binary_value(BinaryOp op, const Value& a, const Value& b, const Type* operands, const Type* result) {
  if (is_logical(op)) {
    // One operand may decide alone.
    for (const Value* v : {&a, &b}) {
      if (v->kind == ValueKind::Int && op == BinaryOp::And && v->number == 0) return Value::of(0);
      if (v->kind == ValueKind::Int && op == BinaryOp::Or && v->number != 0) return Value::of(1);
    }
  }
  if (a.overflowed || b.overflowed) return overflow();
  if (a.kind != ValueKind::Int || b.kind != ValueKind::Int) return {};
  if (op == BinaryOp::And || op == BinaryOp::Or) return Value::of(op == BinaryOp::And ? b.number : a.number);
  if (op == BinaryOp::Xor) return Value::of((a.number != 0) != (b.number != 0) ? 1 : 0);
  const auto dtype = scalar_dtype(operands);
  if (!dtype || (*dtype != DType::BOOL && !is_int(*dtype))) return {};
  if (const auto decided = compared(op, a.number, b.number)) return Value::of(*decided ? 1 : 0);
  if (!is_int(*dtype)) return {};
  const FoldedInt folded = fold_int(op, a.number, b.number);
  if (folded.failure == FoldFailure::Overflow) return overflow();
  return folded.good() ? in_range(folded.value, result) : Value{};
}

Value unary_value(UnaryOp op, const Value& a, const Type* type) {
  if (a.overflowed) return overflow();
  if (a.kind != ValueKind::Int) return {};
  std::int64_t r = 0;
  switch (op) {
    case UnaryOp::Not:
      return Value::of(a.number == 0 ? 1 : 0);
    case UnaryOp::Neg:
      if (__builtin_sub_overflow(std::int64_t{0}, a.number, &r)) return overflow();
      return in_range(r, type);
    case UnaryOp::Abs:
      if (a.number >= 0) return in_range(a.number, type);
      if (__builtin_sub_overflow(std::int64_t{0}, a.number, &r)) return overflow();
      return in_range(r, type);
    case UnaryOp::BitNot:
      return in_range(~a.number, type);
  }
  return {};
}

Value cast_value(const Value& a, const Type* to) {
  if (a.overflowed) return overflow();
  Value v = in_range(a.integer(), to);
  v.over_ranks = a.over_ranks && v.kind == ValueKind::Int;
  return v;
}

void pack(View& view) {
  view.stride.assign(view.shape.size(), std::nullopt);
  std::optional<std::int64_t> stride = 1;
  for (std::size_t i = view.shape.size(); i-- > 0;) {
    view.stride[i] = stride;
    stride = times(stride, view.shape[i]);
  }
}

View reshaped(const View& view, Extents shape) {
  View packed = view;
  pack(packed);
  View out = view;
  out.shape = std::move(shape);
  // The strides of an extent of 1 do not matter.
  for (std::size_t i = 0; i < view.shape.size(); ++i) {
    if (view.shape[i] != 1 && (!view.stride[i] || view.stride[i] != packed.stride[i]))
      out.offset = std::nullopt;
  }
  pack(out);
  return out;
}

View sliced(const View& view, Extents shape, const Extents& offset) {
  View out = view;
  out.shape = std::move(shape);
  if (offset.size() != view.stride.size() || out.shape.size() != view.stride.size()) {
    out.offset = std::nullopt;
    pack(out);
    return out;
  }
  for (std::size_t i = 0; i < offset.size(); ++i)
    out.offset = plus(out.offset, times(offset[i], view.stride[i]));
  return out;
}

std::optional<std::int64_t> byte_of(const View& view, const Extents& index) {
  if (index.size() != view.stride.size()) return std::nullopt;
  std::optional<std::int64_t> at = view.offset;
  for (std::size_t i = 0; i < index.size(); ++i) {
    // The first element of an axis is known without the axis' stride.
    if (index[i] != 0) at = plus(at, times(index[i], view.stride[i]));
  }
  return times(at, byte_width(view.dtype));
}

}  // namespace pldc::match
