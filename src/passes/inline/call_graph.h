// The Inline functions of a program and what calls them: everything that InlineFunctions has to know, and refuse, before
// it copies a body.
#pragma once

#include <unordered_map>
#include <unordered_set>

#include "passes/pass.h"

namespace pldc::inlining {

struct InlineFunction {
  const Function* function;
  const ReturnStmt* ret = nullptr;          // the last statement; null: it returns nothing
  std::unordered_set<const Var*> assigned;  // variables that the body binds, parameters among them
};

class CallGraph {
 public:
  explicit CallGraph(const Program* program);

  bool empty() const { return inline_.empty(); }
  // Null for a function that is not Inline, or not here.
  const InlineFunction* find(Name name) const;
  // The Inline function that is called as the whole value of the statement, with the call; or null.
  const InlineFunction* called(const Stmt* stmt, const Call*& call) const;

  // Reports recursion, returns that are not at the end, and programs that would become too large. False if any.
  bool check(const Program* program, DiagSink& diags) const;

 private:
  bool check_cycles(DiagSink& diags, std::vector<const InlineFunction*>& callees_first) const;
  std::vector<const InlineFunction*> callees(const Function* f) const;

  std::unordered_map<Name, InlineFunction> inline_;
  std::vector<Name> order_;  // by name
};

}  // namespace pldc::inlining
