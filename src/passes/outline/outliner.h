// Turning `with` scopes into functions: shared by OutlineHierarchyScopes, OutlineIncoreScopes and OutlineClusterScopes
// (passes.md 2.6, 2.7, 2.23). What a scope reads from outside becomes its parameters, what is needed after it its
// results; the scope's statement becomes a call, or a submit if it has a task id, dependencies, or conditions.
//
// Needs SSA. Reports to the DiagSink what cannot become a function.
#pragma once

#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "ir/auto_name.h"
#include "ir/context.h"
#include "passes/pass.h"
#include "passes/trace.h"

namespace pldc::outlining {

struct Kind {
  ScopeKind scope;
  FuncType function;
  std::string_view tag;            // in generated names: "incore"; empty: level and role of the scope
  bool store_targets = true;       // outside tensors that a tile.store writes are results, under new names
  bool callee_directions = false;  // parameters take the directions of the functions that they are passed to
  bool unwraps_spmd = false;       // an inner spmd scope becomes a launch specification of the call
};

// What the statements of a scope read and bind, seen from outside.
struct Interface {
  std::vector<const Var*> inputs;         // in order of first use
  std::vector<const Var*> defined;        // visible after the scope, in order
  std::vector<const Var*> store_targets;  // inputs that a tile.store writes, last stored first
  // Results of such stores among `defined` -> the target.
  std::unordered_map<const Var*, const Var*> stored;
};

class Outliner {
 public:
  Outliner(PassEnv& env, const Program* program, const Kind& kind);

  // The function with all scopes of the kind replaced by calls. New functions are collected in `made`.
  const Function* run(const Function* f);
  const std::vector<const Function*>& made() const { return made_; }

 private:
  friend class ScopeRewriter;

  std::string unique_name(std::string_view wanted, std::string_view function, NamePool& names);
  const Function* find(Name name) const;
  void add(const Function* f);

  PassEnv& env_;
  const Kind kind_;
  ParamTracer tracer_;
  std::unordered_map<Name, const Function*> functions_;
  std::vector<const Function*> made_;
  std::unordered_map<std::string, int> next_number_;
};

// The program with `changed` in place of the functions of these names and `made` added.
const Program* with_functions(Context& context, const Program* program,
                              const std::vector<const Function*>& changed,
                              const std::vector<const Function*>& made);

// The variables that the function binds, parameters included; others are symbols of dynamic dims.
std::unordered_set<const Var*> locals_of(const Function* f);
Interface interface_of(Body body, const std::unordered_set<const Var*>& locals, bool with_store_targets);

// How the function uses each of these outside tensors (passes.md 2.7, "Directions"). `function_of` may be empty; given
// a name it finds the function that is called.
std::vector<ParamDirection> directions_of(Body body, const Interface& scope,
                                          const std::unordered_map<Name, const Function*>* callees);

// Checks the contract of pld.system.defer_wait (passes.md 2.22). True if the body has one.
bool check_deferred_wait(DiagSink& diags, const ScopeStmt* scope, bool in_launch);

}  // namespace pldc::outlining
