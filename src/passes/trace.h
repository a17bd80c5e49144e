// Tracing a value back to the parameter whose memory it is (passes.md 2.8). Used by the outliners,
// NormalizeReturnOrder, MaterializeDistTensorCtx and the verifier of ReturnParamsExplicit.
#pragma once

#include <unordered_map>
#include <vector>

#include "ir/module.h"

namespace pldc {

// Answers are cached, so one tracer serves a whole pass over one (unchanged) program.
class ParamTracer {
 public:
  static constexpr int kNone = -1;

  explicit ParamTracer(const Program* program);
  // A function that a pass has made since.
  void add(const Function* function) { functions_.emplace(function->name, function); }

  // Position of the parameter of `function` that `value`, an expression of its body, is the memory of; or
  // kNone. Followed are: other names, writebacks (store, assemble, in-place ops), results of calls and
  // submits that return a parameter, and loops. A loop is passed only if its body yields the memory it was
  // given: what a loop computes anew is not the initial value, though the reference says so. Results of an if
  // count inside that question only.
  int param_of(const Function* function, const Expr* value);

  // For each value of the function's first return statement the parameter it is, or kNone. A returned tuple
  // counts as its elements.
  const std::vector<int>& returned_params(const Function* function);

  // The argument that a call or submit of a function gives back as its result number `position`; null if it gives back
  // none or `call` is nothing of the kind. `results`: how many results the function must have, 0 for any number.
  const Expr* argument_returned(const Expr* call, std::size_t position, std::size_t results);

  const Function* function(Name name) const;

 private:
  enum class DefKind : std::uint8_t { Param, Assign, Carry, IfResult };
  struct Def {
    DefKind kind;
    int index;           // Param: its position
    const Expr* value;   // Assign: the value; Carry: the initial value; IfResult: what the then branch yields
    const Expr* second;  // Carry: what the body yields; IfResult: what the else branch yields; null: unknown
  };
  // Whether the results of ifs are followed.
  enum class Ifs : std::uint8_t { Stop, Follow };
  struct Answers {
    std::unordered_map<const Var*, int> known;
    std::vector<const Var*> trail;  // order in which `known` grew
  };
  struct Scope {
    std::unordered_map<const Var*, Def> defs;
    Answers answers[2];  // by Ifs
    std::vector<int> returned;
    bool returned_done = false;
    bool returned_busy = false;
  };

  Scope& scope_of(const Function* function);
  static void collect(Body body, Scope& scope);
  int trace(Scope& scope, const Expr* value, Ifs ifs);
  int trace_carry(Scope& scope, const Var* var, const Def& def, Ifs ifs);
  // One step back, or null: what `value` is another name for.
  const Expr* step(const Scope& scope, const Expr* value);
  // What element `position` of a tuple is another name for, or null.
  const Expr* element(const Scope& scope, const Expr* tuple, std::size_t position);
  void fill_from_inner_call(const Function* wrapper, Scope& scope, std::size_t results);

  std::unordered_map<Name, const Function*> functions_;
  std::unordered_map<const Function*, Scope> scopes_;
};

// Scopes that a yield for the enclosing loop or branch may stand in: runtime scopes, split regions, domains.
constexpr bool yields_pass_through(ScopeKind kind) {
  return kind == ScopeKind::Runtime || kind == ScopeKind::SplitAiv || kind == ScopeKind::CommDomain;
}
// The trailing yield of a loop or branch body, looked for through such scopes; null if there is none.
const YieldStmt* trailing_yield(Body body);
// The first return statement in textual order; null if there is none.
const ReturnStmt* first_return(Body body);

}  // namespace pldc
