// The values that the match computes with: integers, windows, contexts, and "not known" for everything that is data.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "ir/expr.h"

namespace pldc::match {

// A view of a window. Extents, strides and the offset are in elements; nothing: not known.
struct View {
  std::size_t allocation = 0;
  DType dtype = DType::INT32;
  std::vector<std::optional<std::int64_t>> shape;
  std::vector<std::optional<std::int64_t>> stride;
  std::optional<std::int64_t> offset = 0;
};

enum class ValueKind : std::uint8_t { Unknown, Int, Window, Buffer, Context, Tuple };

struct Value {
  ValueKind kind = ValueKind::Unknown;
  bool over_ranks = false;  // world_size(), or the counter of a loop up to it
  bool overflowed = false;  // Unknown, because its dtype cannot hold it or a number that it is computed from
  std::int64_t number = 0;  // Int; Buffer: the allocation; Context: the domain
  std::shared_ptr<const View> view;
  std::shared_ptr<const std::vector<Value>> elements;

  static Value of(std::int64_t number, ValueKind kind = ValueKind::Int) {
    Value v;
    v.kind = kind;
    v.number = number;
    return v;
  }
  static Value of(View view);
  static Value of(std::vector<Value> elements);
  std::optional<std::int64_t> integer() const {
    return kind == ValueKind::Int ? std::optional(number) : std::nullopt;
  }
};

// The same value for certain.
bool same_value(const Value& a, const Value& b);

// Results on the dtype of `type`; unknown where an operand is, on overflow (and marked so), and for numbers that are no
// integers.
Value binary_value(BinaryOp op, const Value& a, const Value& b, const Type* operands, const Type* result);
Value unary_value(UnaryOp op, const Value& a, const Type* type);
Value cast_value(const Value& a, const Type* to);

// The strides of a packed tensor.
void pack(View& view);
// The view under another shape of the same elements; without an offset if the old one is not packed.
View reshaped(const View& view, std::vector<std::optional<std::int64_t>> shape);
// A rectangle of it that begins at `offset`.
View sliced(const View& view, std::vector<std::optional<std::int64_t>> shape,
            const std::vector<std::optional<std::int64_t>>& offset);
// The byte of an element, or nothing.
std::optional<std::int64_t> byte_of(const View& view, const std::vector<std::optional<std::int64_t>>& index);

}  // namespace pldc::match
