// The emitter of one host function: statements and domains in host.cpp, dispatches in dispatch.cpp, operations in ops.cpp.
#pragma once

#include <map>

#include "codegen/host/hazards.h"
#include "codegen/host/host.h"
#include "codegen/host/out_reads.h"

namespace pldc {

class HostEmitter final : public FunctionEmitter {
 public:
  HostEmitter(const EmitEnv& env, ChipTable& chips, HostEntry& out)
      : FunctionEmitter(env, "a host function"),
        chips_(chips),
        entry_(out),
        out_reads_(env.program, env.calls) {}
  bool run(const Function* function);
  bool run_single(const Function* function);

 private:
  // A distributed tensor of the host: a view that is written where it is used, since it depends on the device.
  struct Window {
    std::size_t domain;
    std::string slot;
    std::string shape;  // "{1, 64}"
    DType dtype;
    std::string views;  // ".box(..)" and the like
    List<const Expr*> extents;
  };

  // FunctionEmitter
  void call_function(const Stmt* stmt, const Var* result, const Expr* call) override;
  void call_op(const Stmt* stmt, const Var* result, const Call* call) override;
  void scope(const ScopeStmt* scope, bool tail) override;
  void before_loop(Body body) override;
  void begin_optional() override { hazards_.begin_optional(); }
  void end_optional() override { hazards_.end_optional(); }
  void before_statement(const Stmt* stmt) override { note_place(stmt->span, {}); }
  std::string nested_call(const Call* call) override;
  std::string symbol(const Var* var) override;
  std::string_view tensor_type() const override { return "pld::Tensor"; }
  bool tensor_variable(const Var* var) override;

  // host.cpp
  void open_domain(const ScopeStmt* scope);
  std::string slot_size(const WindowSlot& slot);
  bool mark_signals(Body body);
  std::string finish(const std::string& body_text);

  // dispatch.cpp
  void dispatch(const Function* callee, const Expr* call, Span span);
  void collective(const Call* call, Span span);
  void limit_ranks(const Call* call, const std::vector<const Window*>& windows, Span span);
  void sub_worker(const Function* callee, const Expr* call, Span span);
  // The text of the device and whether it had to be bound to a name.
  std::string device_text(const Expr* device);
  const Expr* device_of(const Expr* call) const;
  const Window* window(const Expr* value);
  std::string window_text(const Window& w, const std::string& device) const;
  std::string context_text(const Expr* value, const std::string& device, Span span);
  ParamDirection direction_of(const Function* callee, std::size_t param) const;
  std::vector<HostAccess> accesses(const Function* callee, const Expr* call) const;
  HostAccess access(const Expr* value, const Expr* device) const;
  // The value through names and casts of integers, with constants folded; each is looked at once.
  const Expr* resolved(const Expr* value) const;
  const Expr* resolved(const Expr* value, std::unordered_map<const Expr*, const Expr*>& seen) const;
  const Expr* computed(const Expr* value, std::unordered_map<const Expr*, const Expr*>& seen) const;
  void collect_accesses(Body body, std::vector<HostAccess>& out) const;
  // For the parameters of which every device uses its own part only.
  void note_parts(const std::vector<HostAccess>& accesses);
  void note_whole(const Expr* tensor);
  void check_own_memory(const std::vector<HostAccess>& accesses, Span span);
  std::string_view adder(const Function* callee, const Expr* call, std::size_t index) const;
  std::string place(Span span) const;
  // Where the next code is, for errors of the host function at run time; empty `device`: of no dispatch.
  void note_place(Span span, std::string_view device);
  void sync_if(bool needed);

  // ops.cpp
  void create(const Var* result, const Call* call, Span span);
  void make_window(const Var* result, const Call* call, Span span);
  void assemble(const Call* call, Span span);
  void view(const Var* result, const Expr* from, const std::string& views);
  std::string slice_text(const Call* call);
  std::string element(const Call* call);

  ChipTable& chips_;
  HostEntry& entry_;
  mutable OutReads out_reads_;
  HostHazards hazards_;
  std::unordered_map<const Var*, int> parts_;  // own axes of tensors, -1: more of it is used
  bool whole_ = false;                         // some access may be to any tensor
  bool world_size_used_ = false;
  std::vector<std::string> domain_names_;  // C++ names, parallel to entry_.domains
  struct SlotRef {
    std::size_t domain;
    std::string name;
  };
  std::map<const Var*, SlotRef> slots_;  // looked up only
  std::unordered_map<const Var*, Window> windows_;
  std::unordered_map<const Var*, std::string> symbols_;            // dynamic dims in use -> C++ names
  std::vector<std::pair<std::string, std::string>> symbol_order_;  // C++ name, symbol
};

}  // namespace pldc
