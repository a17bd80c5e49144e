// Which buffer the tensors of an orchestration are: a parameter or a tensor that a statement makes. Used by
// FuseCreateAssembleToSlice and DeriveCallDirections (passes.md 2.24, 2.9). Reports nothing; refers to the function
// it was made for.
#pragma once

#include <unordered_map>
#include <unordered_set>

#include "passes/trace.h"

namespace pldc {

// Followed are other names, writebacks, results of calls and submits that return a parameter, and carries. A variable
// that may be one of several buffers has no root; it is ambiguous.
class BufferRoots {
 public:
  BufferRoots(ParamTracer& tracer, const Function* function);

  // The parameter or the variable of the making statement; null if unknown or ambiguous.
  const Var* root(const Expr* value) const;
  // The result of a loop or branch that hands over different buffers, and other names of such.
  bool ambiguous(const Expr* value) const;

 private:
  void collect(Body body);
  void carries(List<IterArg> args, List<const Var*> results, Body body);
  void assign(const AssignStmt* stmt);
  // What `value` is another name for, or null.
  const Expr* source(const Expr* value) const;
  void join(const Var* result, const Expr* one, const Expr* other);

  ParamTracer& tracer_;
  std::unordered_map<const Var*, const Var*> roots_;
  std::unordered_map<const Var*, const Expr*> tuples_;
  std::unordered_set<const Var*> ambiguous_;
};

}  // namespace pldc
