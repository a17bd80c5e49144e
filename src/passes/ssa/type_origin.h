// Which values surely are the same memory as a variable: stands in for the reference's "very same type
// object" (passes.md 2.2), which a text does not carry. A value has the origin of another variable if it is
// that variable or the result of an op that hands back the memory of an operand; any other value is an origin
// of its own.
#pragma once

#include <unordered_map>

#include "ir/module.h"

namespace pldc::ssa {

// Identifies an origin: the address of a parameter, of a loop variable or of the expression that makes the
// value.
using Origin = const void*;

// The operand whose memory the value is, or null: nothing to follow.
const Expr* same_memory_operand(const Expr* value);

// Origins of the variables of a function as written, before versions exist.
class SourceOrigins {
 public:
  explicit SourceOrigins(const Function* function);
  Origin of(const Var* var) const;
  Origin of(const Expr* value) const;

 private:
  void collect(Body body);
  std::unordered_map<const Var*, Origin> vars_;
};

}  // namespace pldc::ssa
