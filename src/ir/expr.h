// Expressions. Immutable, arena-owned; every node has the exact byte range of its text (of the node it replaces, if
// a pass made it) and its type.
#pragma once

#include <cstdint>
#include <string_view>

#include "ir/enums.h"
#include "ir/op.h"
#include "ir/type.h"
#include "support/source.h"

namespace pldc {

enum class ExprKind : std::uint8_t {
  Var,
  ConstInt,
  ConstFloat,
  ConstBool,
  Binary,
  Unary,
  Cast,
  Call,
  Submit,
  MakeTuple,
  TupleGet,
};

struct Expr {
  ExprKind kind;
  Span span;
  const Type* type;  // never null; Unknown where nothing is known
};

// A variable is known by its address, never by its name: the name is a hint that the printer makes unique.
struct Var : Expr {
  Name name;
  std::uint32_t id;  // dense within one Context, in order of creation
  bool is_iter_arg;  // carried by a loop (prints differently inside a type's dim, format.md 3.9)
};

struct ConstInt : Expr {
  std::int64_t value;
  DType dtype;  // not always an integer dtype (format.md 1.3)
};

struct ConstFloat : Expr {
  double value;
  DType dtype;
};

struct ConstBool : Expr {
  bool value;
};

// X(name, text, level): level is the printer's precedence (format.md 2.9.1), larger binds tighter.
#define PLDC_BINARY_OPS(X)                                                                                   \
  X(Or, "or", 1)                                                                                             \
  X(Xor, "xor", 2) X(And, "and", 3) X(Eq, "==", 5) X(Ne, "!=", 5) X(Lt, "<", 5) X(Le, "<=", 5) X(Gt, ">", 5) \
      X(Ge, ">=", 5) X(BitOr, "|", 6) X(BitXor, "^", 7) X(BitAnd, "&", 8) X(Shl, "<<", 9) X(Shr, ">>", 9)    \
          X(Add, "+", 10) X(Sub, "-", 10) X(Mul, "*", 11) X(FloatDiv, "/", 11) X(FloorDiv, "//", 11)         \
              X(FloorMod, "%", 11) X(Pow, "**", 13) X(Min, "min", 14) X(Max, "max", 14)
enum class BinaryOp : std::uint8_t {
#define X(name, text, level) name,
  PLDC_BINARY_OPS(X)
#undef X
};
struct BinaryInfo {
  std::string_view text;
  int level;
};
inline constexpr BinaryInfo kBinaryInfo[] = {
#define X(name, text, level) {text, level},
    PLDC_BINARY_OPS(X)
#undef X
};
constexpr const BinaryInfo& info_of(BinaryOp op) { return kBinaryInfo[static_cast<std::size_t>(op)]; }
constexpr bool is_comparison(BinaryOp op) { return op >= BinaryOp::Eq && op <= BinaryOp::Ge; }
constexpr bool is_logical(BinaryOp op) { return op <= BinaryOp::And; }

enum class UnaryOp : std::uint8_t { Neg, Not, BitNot, Abs };

struct Binary : Expr {
  BinaryOp op;
  const Expr* lhs;
  const Expr* rhs;
};

struct Unary : Expr {
  UnaryOp op;
  const Expr* operand;
};

// Scalar conversion; the target is scalar_dtype(type).
struct Cast : Expr {
  const Expr* operand;
};

// The value of a keyword or attribute: one of a closed set of kinds (format.md 6.1). Two values are equal only if they
// have the same kind.
enum class AttrKind : std::uint8_t {
  Int,
  Bool,
  String,
  Float,
  DType,
  MemSpace,
  TensorLayout,
  TileLayout,
  PadValue,
  ArgDirection,
  ArgDirectionList,
  IntList,
  VarList,
  Var,
  Expr,
  IntPairList,  // list of (int, int)
  VarPairList,  // list of (Var, int)
};

struct VarIntPair {
  const Var* var;
  std::int64_t value;
};
struct IntPair {
  std::int64_t first;
  std::int64_t second;
};

struct AttrValue {
  AttrKind kind = AttrKind::Int;
  union {
    std::int64_t integer;  // Int; Bool as 0/1; enum kinds as their number
    double real;
    const pldc::Expr* expr;  // Expr and Var
  };
  std::string_view text;                // String
  List<pldc::ArgDirection> directions;  // ArgDirectionList
  List<std::int64_t> ints;              // IntList
  List<const pldc::Var*> vars;          // VarList
  List<IntPair> int_pairs;              // IntPairList
  List<VarIntPair> var_pairs;           // VarPairList

  AttrValue() : integer(0) {}
  static AttrValue of_int(std::int64_t v) { return scalar(AttrKind::Int, v); }
  static AttrValue of_bool(bool v) { return scalar(AttrKind::Bool, v ? 1 : 0); }
  static AttrValue of_dtype(pldc::DType v) { return scalar(AttrKind::DType, static_cast<std::int64_t>(v)); }
  static AttrValue of_mem(pldc::MemSpace v) {
    return scalar(AttrKind::MemSpace, static_cast<std::int64_t>(v));
  }
  static AttrValue of_layout(pldc::TensorLayout v) {
    return scalar(AttrKind::TensorLayout, static_cast<std::int64_t>(v));
  }
  static AttrValue of_tile_layout(pldc::TileLayout v) {
    return scalar(AttrKind::TileLayout, static_cast<std::int64_t>(v));
  }
  static AttrValue of_pad(pldc::PadValue v) {
    return scalar(AttrKind::PadValue, static_cast<std::int64_t>(v));
  }
  static AttrValue of_direction(pldc::ArgDirection v) {
    return scalar(AttrKind::ArgDirection, static_cast<std::int64_t>(v));
  }
  static AttrValue of_float(double v) {
    AttrValue a;
    a.kind = AttrKind::Float;
    a.real = v;
    return a;
  }
  static AttrValue of_string(std::string_view v) {
    AttrValue a;
    a.kind = AttrKind::String;
    a.text = v;
    return a;
  }
  static AttrValue of_expr(const pldc::Expr* v) {
    AttrValue a;
    a.kind = AttrKind::Expr;
    a.expr = v;
    return a;
  }
  static AttrValue of_var(const pldc::Var* v) {
    AttrValue a;
    a.kind = AttrKind::Var;
    a.expr = reinterpret_cast<const pldc::Expr*>(v);
    return a;
  }
  static AttrValue of_vars(List<const pldc::Var*> v) {
    AttrValue a;
    a.kind = AttrKind::VarList;
    a.vars = v;
    return a;
  }
  static AttrValue of_ints(List<std::int64_t> v) {
    AttrValue a;
    a.kind = AttrKind::IntList;
    a.ints = v;
    return a;
  }
  static AttrValue of_directions(List<pldc::ArgDirection> v) {
    AttrValue a;
    a.kind = AttrKind::ArgDirectionList;
    a.directions = v;
    return a;
  }
  bool as_bool() const { return integer != 0; }
  const pldc::Var* var() const { return reinterpret_cast<const pldc::Var*>(expr); }

 private:
  static AttrValue scalar(AttrKind kind, std::int64_t v) {
    AttrValue a;
    a.kind = kind;
    a.integer = v;
    return a;
  }
};

struct Attr {
  Name key;
  AttrValue value;
};
using Attrs = List<Attr>;

inline const AttrValue* find_attr(Attrs attrs, std::string_view key) {
  for (const Attr& attr : attrs) {
    if (attr.key.text() == key) return &attr.value;
  }
  return nullptr;
}

// A call of a registered op (`op` is set) or of a function of the program (`function` is set).
// `type` is the call's own result type: it may differ from the type of the variable it is assigned to (D26).
struct Call : Expr {
  OpId op;        // OpId::none_ for a function call
  Name function;  // empty for an op call
  List<const Expr*> args;
  Attrs kwargs;  // keywords, in stored (= printed) order
  Attrs attrs;   // compiler metadata, in stored order
  bool is_op() const { return op != OpId::none_; }
};

// Asynchronous launch of a function; its type is a tuple of the callee's results and a TASK_ID.
struct Submit : Expr {
  Name function;
  List<const Expr*> args;
  List<const Expr*> deps;
  const Expr* core_num;   // null: none
  const Expr* predicate;  // null: none
  Attrs attrs;            // dump_vars (printed as dumps=) included
  bool spmd;              // printed as pl.spmd_submit
  bool sync_start;
  bool allow_early_resolve;
};

struct MakeTuple : Expr {
  List<const Expr*> elements;
};

struct TupleGet : Expr {
  const Expr* tuple;
  std::int64_t index;
};

template <class T>
constexpr bool holds(ExprKind kind);
#define PLDC_EXPR_KIND(T)                  \
  template <>                              \
  constexpr bool holds<T>(ExprKind kind) { \
    return kind == ExprKind::T;            \
  }
PLDC_EXPR_KIND(Var)
PLDC_EXPR_KIND(ConstInt)
PLDC_EXPR_KIND(ConstFloat)
PLDC_EXPR_KIND(ConstBool)
PLDC_EXPR_KIND(Binary)
PLDC_EXPR_KIND(Unary)
PLDC_EXPR_KIND(Cast)
PLDC_EXPR_KIND(Call)
PLDC_EXPR_KIND(Submit)
PLDC_EXPR_KIND(MakeTuple)
PLDC_EXPR_KIND(TupleGet)
#undef PLDC_EXPR_KIND

template <class T>
const T* dyn(const Expr* expr) {
  return expr != nullptr && holds<T>(expr->kind) ? static_cast<const T*>(expr) : nullptr;
}

// The value of an integer constant, or nothing.
inline std::optional<std::int64_t> const_int(const Expr* expr) {
  const auto* constant = dyn<ConstInt>(expr);
  return constant != nullptr ? std::optional(constant->value) : std::nullopt;
}
inline const Call* op_call(const Expr* expr, OpId op) {
  const auto* call = dyn<Call>(expr);
  return call != nullptr && call->op == op ? call : nullptr;
}

}  // namespace pldc
