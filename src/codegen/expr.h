// Scalar expressions as C++, with the IR's integer semantics.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "codegen/size_range.h"
#include "ir/context.h"
#include "support/diag.h"

namespace pldc {

class ScalarText {
 public:
  // `var` gives the C++ text of a variable ("" if there is none: an error was reported or is due to be), `call` that of a
  // call that stands inside an expression (a read of a tensor, a rank query); null: no call is allowed.
  using VarText = std::function<std::string(const Var*)>;
  using CallText = std::function<std::string(const Call*)>;
  ScalarText(DiagSink& diags, VarText var, CallText call = {})
      : diags_(diags), var_(std::move(var)), call_(std::move(call)) {}

  // The value of a scalar expression; its C++ type is cpp_scalar_type of its dtype. Unknown forms are reported, and
  // "0" is returned.
  std::string operator()(const Expr* expr) const { return text(expr, 0); }
  // The value converted to the dtype (nothing is written if it has it already).
  std::string as(const Expr* expr, DType dtype) const;
  // The value as int64_t: extents, offsets, loop bounds.
  std::string index(const Expr* expr) const { return as(expr, DType::INDEX); }
  // For a place that multiplies or adds: in parentheses unless the text is an operand by itself.
  std::string operand(const Expr* expr) const { return text(expr, kUnaryLevel); }
  std::string index_operand(const Expr* expr) const;
  // The condition of an if or while.
  std::string condition(const Expr* expr) const;

  // The same for numbers that become sizes: arithmetic that may leave its type ends the run instead of wrapping. `definition`
  // gives the value of a variable, or null: what it is computed from is computed again, with checks.
  ScalarText for_sizes(DefinitionOf definition) const;

 private:
  static constexpr int kUnaryLevel = 15;
  std::string text(const Expr* expr, int level) const;
  std::string converted(const Expr* expr, DType dtype, int level) const;
  std::string binary(const Binary* expr, int level) const;
  std::string unary(const Unary* expr, int level) const;
  std::string cast(const Expr* from, DType to) const;
  // What of a variable's definition stands in its place; null: its name does.
  const Expr* shown_definition(const Var* var) const;
  // The checked form of an operation that may leave its type; empty: it needs none.
  std::string checked(const Binary* expr, DType dtype) const;
  DiagSink& diags_;
  VarText var_;
  CallText call_;
  std::shared_ptr<SizeRanges> sizes_;  // null: not a size
  mutable int shown_ = 0;              // definitions so far: they grow as trees
};

// The dtype in which the operation computes: both operands are converted to it (format.md 2.9.3).
DType operand_dtype(const Binary* expr);
// Of a scalar expression; INDEX where the type is not known.
DType dtype_of(const Expr* expr);

}  // namespace pldc
