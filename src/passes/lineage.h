// Which window allocation a tensor of a host orchestrator stands for (decisions D9), and the seven host
// collectives described in one table. Shared by SynthesizeAllReduceSignals, MaterializeCommDomainScopes and
// LowerHostTensorCollectives, so that they cannot disagree. Reports nothing; refers to the program it was
// made for.
#pragma once

#include <string_view>
#include <unordered_map>
#include <vector>

#include "ir/op.h"
#include "passes/trace.h"

namespace pldc {

// One allocation statement of a host body and the views of it.
struct WindowAllocation {
  const AssignStmt* stmt;
  const Call* call;
  const Var* base;  // what the statement binds: the window's identity
  std::string_view name;
  const Expr* size;
  std::vector<const AssignStmt*> views;
};

// The seven collectives; null for other ops. Indices are positions in the argument list.
struct CollectiveInfo {
  struct Operand {
    std::string_view role;
    std::size_t index;
    ArgDirection direction;   // of the generated builtin's argument
    bool only_from_dispatch;  // gets its domain from dispatches alone and may be no window at all
  };
  OpId op;
  std::string_view name;          // without prefix, for messages: "allreduce"
  std::vector<Operand> operands;  // windows, in argument order
  std::size_t data;               // argument whose window the result is
  int coverage;                   // argument whose domain the others share; -1: none (barrier)
  std::vector<std::size_t> dependents;
  std::size_t signal;
};
const CollectiveInfo* collective_info(OpId op);
// The call if `expr` is one of the seven collectives.
const Call* as_collective(const Expr* expr);

class WindowLineage {
 public:
  WindowLineage(ParamTracer& tracer, Body body);

  const std::vector<WindowAllocation>& allocations() const { return allocations_; }
  const WindowAllocation* allocation(const Var* base) const;

  // The allocations that the value may stand for, in no particular order: through other names, results of
  // collectives and of functions that return a parameter, carries, and results of loops and branches. Empty:
  // none known.
  const std::vector<const Var*>& bases(const Expr* value) const;
  // The one allocation, or null if there is none or several.
  const Var* base(const Expr* value) const;

  // Follows other names to the defining expression; `value` itself if it is not a variable with one
  // definition.
  const Expr* unwrap(const Expr* value) const;

  // Variables whose type names their window -> the window's base: views, other names of such, carries that start with
  // such (a carry has the type of its initial value), results whose sources all are; results of collectives only if
  // `collectives` (decisions D10: they get the reference when they are lowered). In a program that is not SSA the
  // answer is for those definitions of the variable that can give it a window: see gives_window.
  std::unordered_map<const Var*, const Var*> bound_variables(bool collectives) const;
  // Whether an assignment of this value can bind its variable to a window.
  static bool gives_window(const Expr* value, bool collectives);

 private:
  enum class DefKind : std::uint8_t { Value, Carry, LoopResult, IfResult, LoopVariable };
  struct Def {
    const Var* var;
    DefKind kind;
    // Value: the value; Carry: initial value; LoopResult: the carry; IfResult: what the first branch yields.
    const Expr* first;
    // Carry and LoopResult: what the body yields; IfResult: what the second branch yields; null: unknown.
    const Expr* second;
    const AssignStmt* stmt = nullptr;  // Value
  };

  void collect(Body body);
  void collect_loop(List<IterArg> args, List<const Var*> results, Body body);
  void spread();
  void collect_views();
  // What `value` is another name for, one step; null: nothing.
  const Expr* source(const Expr* value) const;
  const Var* bound_base(const Def& def, bool collectives,
                        const std::unordered_map<const Var*, const Var*>& bound) const;

  ParamTracer& tracer_;
  std::vector<WindowAllocation> allocations_;
  std::unordered_map<const Var*, std::size_t> by_base_;
  std::vector<Def> defs_;
  std::unordered_map<const Var*, const Expr*> values_;  // null: several definitions
  std::unordered_map<const Var*, std::vector<const Var*>> bases_;
};

}  // namespace pldc
