// The emitter of one chip orchestration: statements in chip.cpp, launches of kernels in launch.cpp, operations in ops.cpp.
#pragma once

#include <optional>

#include "codegen/chip/chip.h"

namespace pldc {

class ChipEmitter final : public FunctionEmitter {
 public:
  explicit ChipEmitter(const EmitEnv& env) : FunctionEmitter(env, "an orchestration") {}
  bool run(const Function* function, std::string_view name, ChipText& out);

 private:
  // How a kernel is started, where it is written: at a call, a submit, or a scope or wrapper around it.
  struct Launch {
    std::string blocks;  // number of SPMD blocks; empty: no SPMD
    bool sync_start = false;
    // The submit of a wrapper: its predicate and dependences are those of the kernel inside.
    const Submit* submit = nullptr;
    const Var* result = nullptr;
    // Parameters of a wrapper that its call hands over as inout, whatever the wrapper's own call says.
    std::vector<const Var*> kept;
  };
  struct Argument {
    const Param* param;
    ParamKind kind;
    ArgDirection direction = ArgDirection::Input;
    std::string text;                  // the tensor, or the bits of the scalar
    const TensorType* made = nullptr;  // allocated by the runtime
  };
  struct Part {
    const Function* kernel;
    std::vector<Argument> arguments;
  };
  // A group whose parts are being collected, to be started together.
  struct Gathering {
    const Function* group;
    std::size_t total;
    std::vector<Part> parts;
  };

  // FunctionEmitter
  void call_function(const Stmt* stmt, const Var* result, const Expr* call) override;
  void call_op(const Stmt* stmt, const Var* result, const Call* call) override;
  void call_element(const Var* var, const Var* tuple, const Expr* call, std::size_t index) override;
  void scope(const ScopeStmt* scope, bool tail) override;
  std::string nested_call(const Call* call) override;
  std::string symbol(const Var* var) override;
  std::string_view tensor_type() const override { return "ChipTensor"; }

  // chip.cpp
  void parameters(const Signature& signature);
  bool forwarded_only(const Var* scalar) const;
  bool escapes(Body body) const;
  bool used_behind(Body body) const;
  const Var* memory(const Var* view) const;

  // launch.cpp
  bool arguments(const Function* callee, List<const Expr*> args, Attrs attrs, Span span,
                 std::vector<Argument>& out);
  std::string scalar_bits(const Expr* value, DType dtype);
  void start_kernel(const Function* kernel, List<const Expr*> args, const Expr* call, const Var* result);
  void start_wrapper(const Function* wrapper, List<const Expr*> args, const Expr* call, const Var* result);
  void gather(const Function* kernel, List<const Expr*> args, const Expr* call);
  void submit(const std::vector<Part>& parts, const std::vector<Argument>& all, const std::string& start,
              const Expr* call, const Var* result, bool blocking);
  std::string outputs_name(const Var* result, const std::vector<Argument>& all);
  void dependencies(const std::string& task, const Submit* submit);
  bool on_cube(const Function* kernel) const {
    return kernel->func_type == FuncType::AIC || (env_.cube != nullptr && env_.cube->count(kernel) != 0);
  }
  int kernel_id(const Function* kernel, Signature signature, Span span);

  // ops.cpp
  void create(const Var* result, List<const Expr*> shape, DType dtype, const Expr* value, Span span);
  void slice(const Var* result, const Call* call);
  void view(const Var* result, const std::string& text);
  std::string u32_array(List<const Expr*> list, std::string_view prefix, Span span);
  std::string info(List<const Expr*> shape, DType dtype, Span span);
  // The official runtime gives an orchestration no access to elements. False after a report.
  bool may_touch_elements(const Call* call, Span span);
  std::string rank_query(const Call* call);
  // "ids[2]"; an index that is not constant is checked when it runs.
  std::string array_cell(const Call* call);

  ChipText* text_ = nullptr;
  Signature signature_;
  Launch launch_;
  Gathering* gathering_ = nullptr;
  int tasks_ = 0;
  std::unordered_map<const Var*, std::string> outputs_;  // result of a submit -> TaskOutputTensors
  std::unordered_map<const Var*, std::vector<int>>
      made_;  // result of a submit -> parameters that the runtime allocated
};

// Whether the blocks of the kernel wait for each other or for peers: then all must run at the same time.
bool waits(const Function* kernel);

}  // namespace pldc
