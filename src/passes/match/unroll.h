// Unrolls a host function for a number of devices: what each of them notifies, awaits and joins, in its order.
#pragma once

#include <functional>
#include <map>
#include <unordered_map>
#include <unordered_set>

#include "ir/module.h"
#include "passes/function_call.h"
#include "passes/lineage.h"
#include "passes/match/findings.h"
#include "passes/match/match.h"
#include "passes/match/trace.h"
#include "passes/match/value.h"

namespace pldc::match {

// Why a host function could not be unrolled to the end; thrown inside of the Unroller only.
struct GivenUp {
  enum class Why : std::uint8_t {
    Limit,      // more statements than the limit; `place` is the loop that runs then
    Data,       // what is not known decides whether the rest runs at all
    Ranks,      // the program is made for another number of ranks: `text` says which
    Recursion,  // calls that go too deep
    Reported    // a finding says what ends the program here
  };
  Why why;
  Span place;
  std::string text;
};

class Unroller {
 public:
  Unroller(const Program& program, const MatchOptions& options, Findings& findings, DiagSink& diags)
      : program_(program), options_(options), findings_(findings), diags_(diags) {}

  // Fills `trace`. False if the function was given up, after a note that says so.
  bool run(const Function* host, Trace& trace);

 private:
  static constexpr std::int64_t kHost = -1;     // Frame::device of a host function
  static constexpr std::int64_t kUnknown = -2;  // of a device that is not known
  enum class Flow : std::uint8_t { Next, Break, Continue, Return };

  struct Frame {
    std::int64_t device = kHost;
    std::unordered_map<const Var*, Value> values;
    std::vector<Value> yields;
    std::vector<Value> returned;
    Value block = Value::of(0);
    Value blocks = Value::of(1);
    Events deferred;  // waits at the end of the task
    bool host() const { return device == kHost; }
  };
  using Extents = std::vector<std::optional<std::int64_t>>;

  // ---- statements (unroll.cpp)
  Flow exec(Frame& f, Body body);
  Flow exec(Frame& f, const Stmt* stmt);
  Flow exec_if(Frame& f, const IfStmt* branch);
  Flow exec_for(Frame& f, const ForStmt* loop);
  Flow exec_while(Frame& f, const WhileStmt* loop);
  Flow exec_scope(Frame& f, const ScopeStmt* scope);
  Flow exec_uncertain_loop(Frame& f, List<IterArg> args, List<const Var*> results, Body body,
                           const Stmt* loop);
  Flow exec_maybe(Frame& f, Body body, const Stmt* whole);
  // Whether running it can tell anything: an event, an op with a peer, a call of a function that has such.
  bool tells(Body body);
  bool tells(const Function* function);
  void open_domain(const ScopeStmt* scope);
  // Runs `body` once for each block, at the same time.
  Flow launch(Frame& f, const Value& blocks, Span place, const std::function<void()>& body);

  // ---- expressions (unroll_expr.cpp)
  // A call of an op with what its arguments are.
  struct OpCall {
    const Call* call;
    std::vector<Value> args;
    // Of the operand of that name; unknown if the call has none.
    Value operator[](std::string_view operand) const;
    Extents extents(std::string_view operand) const;
  };
  Value eval(Frame& f, const Expr* e);
  Value eval_binary(Frame& f, const Binary* e);
  // Ends the match if what the program does here has no meaning for a divisor or a step of 0.
  void refuse_zero(const Frame& f, const Expr* e, const Value& value, std::string_view what);
  void check_size(const OpCall& window, const View& view);
  // A finding if `size`, of bytes or of an extent, is negative or overflows.
  void refuse_size(const std::string& what, const Value& size, Span place);
  Value eval_op(Frame& f, const OpCall& op);
  // What asks for ranks, windows, extents and blocks; nothing for other ops.
  std::optional<Value> eval_query(Frame& f, const OpCall& op);
  Value view_of(Frame& f, const OpCall& op, const Value& window);
  std::optional<std::int64_t> integer(Frame& f, const Expr* e) { return eval(f, e).integer(); }
  Value allocate(Frame& f, const Call* call, const Var* base);
  void host_index(Frame& f, const OpCall& op, const Extents& index);
  void touch_operands(const OpCall& op);
  Value rank(const Frame& f, const Value& context) const;

  // ---- calls of functions (unroll_call.cpp)
  struct Argument {
    Value value;
    Extents shape;  // of a tensor
  };
  Value call(Frame& f, const Expr* e, const FunctionCall& call);
  Value enter(Frame& caller, const Function* callee, const std::map<std::size_t, Argument>& args,
              std::int64_t device, Span place);
  Value as_declared(Frame& inner, const Value& value, const Type* declared);

  // ---- what is found (unroll_event.cpp)
  void notify(Frame& f, const OpCall& op);
  void wait(Frame& f, const OpCall& op);
  void collective(Frame& f, const OpCall& op);
  // The cell that the call addresses, or nothing: it is not known (the window is then uncertain), or out of bounds.
  std::optional<Event> cell_event(Frame& f, const OpCall& op, const Value& window);
  // The device of a peer, or nothing: not known, or outside of the domain.
  std::optional<std::int64_t> peer_device(Frame& f, const OpCall& op, const Value& window);
  void emit(std::int64_t device, Event event);
  void doubt(const Value& window, Span place);

  bool uncertain() const { return uncertain_ != 0; }
  void note_data(Span place);
  void step(Span place);
  Span place_of(const Expr* e) const { return e->span.valid() ? e->span : statement_; }

  const Program& program_;
  const MatchOptions& options_;
  Findings& findings_;
  DiagSink& diags_;
  Trace* trace_ = nullptr;
  const Function* host_ = nullptr;
  std::unordered_map<const Var*, std::size_t> allocation_of_;
  std::unordered_map<const Stmt*, bool> tells_stmt_;
  std::unordered_map<const Function*, bool> tells_function_;
  std::map<std::int64_t, Events*>
      out_;  // where the events of a device go now: itself, or a block of a launch
  std::vector<Span> loops_;
  Span statement_;
  std::uint64_t steps_ = 0;
  std::size_t events_ = 0;
  int depth_ = 0;
  int uncertain_ = 0;
  bool doubted_ = false;  // since the outermost uncertain piece began
};

}  // namespace pldc::match
