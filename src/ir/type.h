// Types. Immutable, arena-owned. A type may mention variables (dims, MemRef bases, windows), so types are compared
// through a variable mapping (same.h), never by pointer alone; equal pointers do mean equal types.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "ir/enums.h"
#include "support/name.h"

namespace pldc {

struct Expr;
struct Var;

// A sequence owned by the arena that owns the node it is in.
template <class T>
using List = std::span<const T>;

enum class TypeKind : std::uint8_t {
  Scalar,
  Tensor,
  DistributedTensor,
  Tile,
  Array,
  Tuple,
  Ptr,
  MemRef,        // type of a MemRef used as a value
  WindowBuffer,  // type of a window buffer used as a value
  CommCtx,
  PrefetchAsyncContext,
  AsyncEvent,
  AsyncSession,
  Unknown,
};

struct Type {
  TypeKind kind;
};

struct ScalarType : Type {
  DType dtype;
};

// Where a tensor or tile lives. `declared`: a user-pinned buffer known by its name alone; otherwise `base` is a
// variable of Ptr type, one per name and function.
struct MemRef {
  const Var* base = nullptr;          // null iff declared
  Name declared_name;                 // set iff declared
  const Expr* byte_offset = nullptr;  // null iff declared
  std::uint64_t size = 0;             // bytes
  std::uint32_t slot_count = 1;
  const Expr* slot_index = nullptr;  // may be null
  bool declared() const { return base == nullptr; }
};

struct TensorView {
  List<const Expr*> valid_shape;  // empty: the whole shape
  List<const Expr*> stride;       // elements; empty: packed
  TensorLayout layout = TensorLayout::ND;
  PadValue pad = PadValue::Null;
};

// kind Tensor or DistributedTensor. Constructed through Builder::tensor, which canonicalises the view (format.md 3.3):
// a valid_shape equal to the shape is dropped, and a view with only default fields becomes "no view" (null).
struct TensorType : Type {
  DType dtype;
  List<const Expr*> shape;  // elements per axis; INDEX expressions
  const TensorView* view = nullptr;
  const MemRef* memref = nullptr;
  // DistributedTensor only: the window it is a view of, named by the variable that its allocation binds. That
  // variable is the window's identity (decisions D15); null: not bound to a window.
  const Var* window = nullptr;
};

struct TileView {
  List<const Expr*> valid_shape;  // empty: the whole shape
  List<const Expr*> stride;
  const Expr* start_offset = nullptr;
  TileLayout blayout = TileLayout::RowMajor;
  TileLayout slayout = TileLayout::NoneBox;
  std::int64_t fractal = 512;
  PadValue pad = PadValue::Null;
  CompactMode compact = CompactMode::Null;
};

// Constructed through Builder::tile, which canonicalises the view against the implicit one (format.md 3.5).
struct TileType : Type {
  DType dtype;
  List<const Expr*> shape;
  const MemRef* memref = nullptr;  // present only together with a memory space
  std::optional<MemSpace> space;
  const TileView* view = nullptr;  // null: the implicit view of (shape, space)
};

struct ArrayType : Type {
  DType dtype;
  std::int64_t extent;
};

struct TupleType : Type {
  List<const Type*> elements;
};

// Checked down-casts, as<T> asserting and dyn<T> returning null.
template <class T>
constexpr bool holds(TypeKind kind);
template <>
constexpr bool holds<ScalarType>(TypeKind kind) {
  return kind == TypeKind::Scalar;
}
template <>
constexpr bool holds<TensorType>(TypeKind kind) {
  return kind == TypeKind::Tensor || kind == TypeKind::DistributedTensor;
}
template <>
constexpr bool holds<TileType>(TypeKind kind) {
  return kind == TypeKind::Tile;
}
template <>
constexpr bool holds<ArrayType>(TypeKind kind) {
  return kind == TypeKind::Array;
}
template <>
constexpr bool holds<TupleType>(TypeKind kind) {
  return kind == TypeKind::Tuple;
}
template <class T>
const T* dyn(const Type* type) {
  return type != nullptr && holds<T>(type->kind) ? static_cast<const T*>(type) : nullptr;
}

inline bool is_distributed(const Type* type) {
  return type != nullptr && type->kind == TypeKind::DistributedTensor;
}
inline bool is_plain_tensor(const Type* type) { return type != nullptr && type->kind == TypeKind::Tensor; }
inline bool is_unknown(const Type* type) { return type == nullptr || type->kind == TypeKind::Unknown; }
// The dtype of a scalar type, or nothing.
inline std::optional<DType> scalar_dtype(const Type* type) {
  const auto* scalar = dyn<ScalarType>(type);
  return scalar != nullptr ? std::optional(scalar->dtype) : std::nullopt;
}

}  // namespace pldc
