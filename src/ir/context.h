// Owner of all IR of one compilation, and the only place that makes nodes. Nodes are immutable once made; everything
// lives until the Context is destroyed.
#pragma once

#include <unordered_map>
#include <vector>

#include "ir/module.h"
#include "support/arena.h"
#include "support/name.h"

namespace pldc {

class Context {
 public:
  Context();
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  Arena& arena() { return arena_; }
  Name name(std::string_view text) { return names_.intern(text); }
  std::string_view text(std::string_view text) { return arena_.copy(text); }

  template <class T>
  List<T> list(const std::vector<T>& items) {
    return arena_.copy(items);
  }
  template <class T>
  List<T> list(std::initializer_list<T> items) {
    return arena_.copy(std::span<const T>(items.begin(), items.size()));
  }

  // --- types -------------------------------------------------------------------------------------------------
  const Type* scalar(DType dtype) const { return &scalars_[static_cast<std::size_t>(dtype)]; }
  // A type without fields: Ptr, MemRef, WindowBuffer, CommCtx, PrefetchAsyncContext, AsyncEvent, AsyncSession, Unknown.
  const Type* simple(TypeKind kind) const { return &simple_[static_cast<std::size_t>(kind)]; }
  const Type* unknown() const { return simple(TypeKind::Unknown); }
  const Type* array(DType dtype, std::int64_t extent);
  const Type* tuple(List<const Type*> elements);
  // `kind` is Tensor or DistributedTensor; `window` only for the latter. The view is canonicalised (format.md 3.3).
  const TensorType* tensor(TypeKind kind, DType dtype, List<const Expr*> shape,
                           const TensorView* view = nullptr, const MemRef* memref = nullptr,
                           const Var* window = nullptr);
  // `view`: all fields set (start from implicit_tile_view); canonicalised against the implicit view (format.md 3.5).
  const TileType* tile(DType dtype, List<const Expr*> shape, const MemRef* memref,
                       std::optional<MemSpace> space, const TileView* view = nullptr);
  const TensorType* with_window(const TensorType* type, const Var* window);

  // --- expressions -------------------------------------------------------------------------------------------
  const Var* var(Name name, const Type* type, Span span = {}, bool is_iter_arg = false);
  // Same name, span and carry flag, another type.
  const Var* var_like(const Var* var, const Type* type);
  const ConstInt* const_int(std::int64_t value, DType dtype = DType::INDEX, Span span = {});
  const ConstFloat* const_float(double value, DType dtype = DType::FP32, Span span = {});
  const ConstBool* const_bool(bool value, Span span = {});
  // The node's dtype: BOOL for comparisons and logic, else the wider operand's (equal width: the left one's; INDEX
  // counts 64). Operands are kept as they are: no cast is inserted (format.md 2.9.3).
  const Binary* binary(BinaryOp op, const Expr* lhs, const Expr* rhs, Span span = {});
  const Binary* binary_of_type(BinaryOp op, const Expr* lhs, const Expr* rhs, const Type* type,
                               Span span = {});
  const Unary* unary(UnaryOp op, const Expr* operand, Span span = {});
  const Cast* cast(const Expr* operand, DType dtype, Span span = {});
  const Call* call(OpId op, List<const Expr*> args, Attrs kwargs, Attrs attrs, const Type* type,
                   Span span = {});
  const Call* call(Name function, List<const Expr*> args, Attrs kwargs, Attrs attrs, const Type* type,
                   Span span = {});
  const Call* call_with_type(const Call* call, const Type* type);
  const MakeTuple* make_tuple(List<const Expr*> elements, Span span = {});
  const TupleGet* tuple_get(const Expr* tuple, std::int64_t index, Span span = {});

  // --- statements --------------------------------------------------------------------------------------------
  const AssignStmt* assign(const Var* var, const Expr* value, Span span = {},
                           List<std::string_view> comments = {});
  const EvalStmt* eval(const Expr* value, Span span = {}, List<std::string_view> comments = {});
  const ReturnStmt* ret(List<const Expr*> values, Span span = {}, List<std::string_view> comments = {});
  const YieldStmt* yield(List<const Expr*> values, Span span = {}, List<std::string_view> comments = {});
  // Copies of a node with other fields: fill a struct and pass it.
  template <class T>
  const T* make(const T& node) {
    return arena_.make<T>(node);
  }

  std::uint32_t var_count() const { return next_var_; }

 private:
  Arena arena_;
  NameTable names_;
  std::uint32_t next_var_ = 0;
  ScalarType scalars_[22];
  Type simple_[14];
  std::unordered_map<std::int64_t, const Type*> arrays_[22];
};

// The view that a tile of this shape and space has when none is written (format.md 3.5).
TileView implicit_tile_view(List<const Expr*> shape, std::optional<MemSpace> space);
// The view in force: the written one or the implicit one.
TileView effective_view(const TileType* type);
// The extents that hold data: view->valid_shape if given, else the shape.
List<const Expr*> valid_shape_of(const Type* type);

// Equality of dims as the type constructors see it: constants by value, binary and unary nodes structurally, anything
// else by identity.
bool same_dim(const Expr* a, const Expr* b);
bool same_dims(List<const Expr*> a, List<const Expr*> b);

}  // namespace pldc
