// What the functions of the host and of chips have in common in C++: scalars, loops, branches, carried values, names for
// memory, and the expansion of functions that are called. Derived classes add calls and operations.
#pragma once

#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "codegen/aliases.h"
#include "codegen/emit.h"
#include "codegen/expr.h"
#include "codegen/needed.h"

namespace pldc {

struct EmitEnv {
  Context& ir;
  DiagSink& diags;
  const Places& places;
  const Program& program;
  ReturnedParams& calls;
  bool official = false;  // for the official toolchain
  const std::unordered_set<const Function*>* cube =
      nullptr;             // kernels of no stated core that run on the matrix core
  bool processes = false;  // every rank is one and has host memory of its own
};

class FunctionEmitter {
 public:
  FunctionEmitter(const EmitEnv& env, std::string_view kind)
      : env_(env), scalar_(make_scalar_text()), kind_(kind), aliases_(env.calls) {}
  virtual ~FunctionEmitter() = default;
  FunctionEmitter(const FunctionEmitter&) = delete;
  FunctionEmitter& operator=(const FunctionEmitter&) = delete;

 protected:
  // --- what a derived class does ------------------------------------------------------------------------------------
  // A call of a function or a submit; `result` is null for a statement without a result.
  virtual void call_function(const Stmt* stmt, const Var* result, const Expr* call) = 0;
  // An operation that is the whole value of a statement.
  virtual void call_op(const Stmt* stmt, const Var* result, const Call* call) = 0;
  // `var` takes element `index` of the tuple that `call`, a call or submit bound to `tuple`, gives. Not asked for what is
  // another name for an argument.
  virtual void call_element(const Var*, const Var*, const Expr*, std::size_t) {}
  virtual void scope(const ScopeStmt* scope, bool tail) = 0;
  virtual void before_loop(Body) {}
  // Around statements that may not be executed: bodies of loops and branches.
  virtual void begin_optional() {}
  virtual void end_optional() {}
  virtual void before_statement(const Stmt*) {}
  // A call inside of a scalar expression; empty: not possible.
  virtual std::string nested_call(const Call* call) = 0;
  // The text of a symbol of a dynamic dim; empty: unknown.
  virtual std::string symbol(const Var* var) = 0;
  // The C++ type of a variable that holds one of several tensors.
  virtual std::string_view tensor_type() const = 0;
  // A carried tensor that is one of several; false if it cannot be a variable (an error was reported).
  virtual bool tensor_variable(const Var*) { return true; }

  // --- services -----------------------------------------------------------------------------------------------------
  // Looks at a body that is going to be emitted: aliases, uses. To be called before anything else. `results`: what it returns
  // is used.
  void look_at(Body body, bool results);
  void body(Body body, bool tail);
  void statement(const Stmt* stmt, bool tail);
  // Binds the parameters of `callee` to the values of the arguments and emits its body here. Results that are no
  // parameters are bound to `result`.
  void expand(const Function* callee, List<const Expr*> args, const Expr* call, const Var* result);

  // The C++ text of a tensor or array; empty and an error if there is none.
  std::string tensor(const Expr* value);
  // The variable at which the memory of the value begins, or null.
  const Var* root(const Expr* value) const;
  const Expr* unwrap(const Expr* value) const { return aliases_.unwrap(value); }
  const Aliases& aliases() const { return aliases_; }
  bool needed(const Var* var) const { return needed_(var); }
  int uses(const Var* var) const {
    const auto found = uses_.find(var);
    return found != uses_.end() ? found->second : 0;
  }
  // "{a, b, c}" of index expressions; the elements of a tuple.
  std::string extents(const Expr* tuple);
  std::string extents(List<const Expr*> list);
  // The same where they become a shape; nothing in it wraps.
  std::string shape_text(List<const Expr*> list);
  ScalarText size_text() const;
  // The value of a variable that is assigned once.
  DefinitionOf definitions() const;
  // The number of an axis of the first operand, counted from the front.
  std::string axis_of(const Call* call, std::size_t argument);
  List<const Expr*> elements(const Expr* tuple);
  // The variables that take elements of a tuple, with the index.
  const std::vector<std::pair<const Var*, std::size_t>>& elements_of(const Var* tuple) const;
  // A call for a comment: names without suffixes, no attributes.
  std::string brief(const Expr* value) const;
  void unsupported(const Expr* call, Span span);
  // Whether the statements at hand are those of a function that is called.
  bool expanding() const { return !expansions_.empty(); }
  bool failed() const { return env_.diags.error_count() != errors_; }
  void start(const Function* function) {
    function_ = function;
    errors_ = env_.diags.error_count();
  }

  const EmitEnv& env_;
  CppText out_;
  CppNames names_;
  ScalarText scalar_;
  const Function* function_ = nullptr;  // the one that the C++ function is made of

 private:
  static std::string braced(const ScalarText& text, List<const Expr*> list);
  ScalarText make_scalar_text();
  void assign(const AssignStmt* stmt);
  void for_loop(const ForStmt* loop);
  void while_loop(const WhileStmt* loop);
  void branch(const IfStmt* branch, bool tail);
  void yield(const YieldStmt* stmt);
  void leave(std::string_view text);
  void function_return(const ReturnStmt* stmt, bool tail);
  // The result of an expanded call is another name for the value.
  void bind_valid_symbols(const Type* param, const Type* argument);
  void bind_result(const Var* result, const Expr* value);
  // Declares a C++ variable for a carried value or a result, or makes it another name; the name is empty then.
  std::string carry(const Var* var, const Expr* init);
  std::string value_text(const Expr* value, const Type* type);

  std::string kind_;  // for messages: "a host function"
  std::uint32_t errors_ = 0;
  Aliases aliases_;
  Needed needed_;
  std::unordered_map<const Var*, int> uses_;
  std::unordered_map<const Var*, std::vector<std::pair<const Var*, std::size_t>>>
      taken_;  // elements of tuples
  std::unordered_map<const Var*, const Var*>
      bound_;  // parameters of expanded functions -> roots of the arguments
  struct Expansion {
    const Function* function;
    const Var* result;
    const Expr* call;
  };
  std::vector<Expansion> expansions_;
  // What an expanded function returned in place of the result, where it is no parameter.
  std::unordered_map<const Var*, std::vector<const Expr*>> returned_;
  struct Target {
    std::string name;  // empty: another name, nothing to assign
    const Type* type;
  };
  std::vector<std::vector<Target>> targets_;  // of the enclosing loops and branches
  int loops_ = 0;                             // around the statement at hand
};

}  // namespace pldc
