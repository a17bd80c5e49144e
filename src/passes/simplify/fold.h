// Constant folding and the making of scalar expressions with the promotion that the reader applies (format.md 2.9.3).
#pragma once

#include "ir/context.h"

namespace pldc::simplify {

// The dtype of an integer expression, or nothing for everything else.
std::optional<DType> int_dtype(const Expr* e);

// Same structure, same variables, constants of the same value and dtype. Calls are equal only if they are the same
// node: two reads of memory may differ.
bool equal(const Expr* a, const Expr* b);

// fold_int() of ir/fold.h; nothing where it fails and where the value does not fit `dtype`.
std::optional<std::int64_t> fold_ints(BinaryOp op, std::int64_t a, std::int64_t b, DType dtype);

class Folder {
 public:
  explicit Folder(Context& context) : context_(context) {}

  // What the operation is if its operands are constants, or if one is a neutral or absorbing element; null if it
  // cannot be folded. Integer and BOOL operands only.
  const Expr* fold(BinaryOp op, const Expr* lhs, const Expr* rhs, Span span);
  const Expr* fold(UnaryOp op, const Expr* operand, Span span);

  // The operation, folded if possible. Operands of different dtypes get a cast to the wider one, except that INDEX and
  // INT64 mix freely.
  const Expr* binary(BinaryOp op, const Expr* lhs, const Expr* rhs, Span span);
  const Expr* unary(UnaryOp op, const Expr* operand, Span span);
  // Casts the operands of an integer operation to their common dtype.
  void promote(const Expr*& lhs, const Expr*& rhs);

  Context& ctx() { return context_; }

 private:
  const Expr* fold_constants(BinaryOp op, const ConstInt* a, const ConstInt* b, Span span);
  const Expr* fold_neutral(BinaryOp op, const Expr* lhs, const Expr* rhs, Span span);

  Context& context_;
};

}  // namespace pldc::simplify
