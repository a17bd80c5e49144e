// Host functions: the C++ function of each, and what the tables of the program say about it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "codegen/device/builtin.h"
#include "codegen/function.h"

namespace pldc {

// What a host function dispatches to.
struct ChipRef {
  const Function* function = nullptr;     // an orchestration, or a kernel that runs by itself
  std::optional<BuiltinVariant> builtin;  // or a host collective
  std::string name;                       // C++ name
};

// All chips of a program, in order of first use. Names are unique.
class ChipTable {
 public:
  const std::string& name_of(const Function* function);
  const std::string& name_of(const BuiltinVariant& variant);
  const std::vector<ChipRef>& all() const { return chips_; }

 private:
  const std::string& add(ChipRef ref);
  std::vector<ChipRef> chips_;
};

struct HostDim {
  std::optional<std::int64_t> extent;
  std::string symbol;  // of a dynamic dim; empty for an expression such as M * 2
  bool per_rank = false;
};
struct HostParam {
  std::string name;  // as the user knows it
  ParamDirection direction = ParamDirection::In;
  DType dtype = DType::FP32;
  bool scalar = false;
  std::vector<HostDim> dims;
  Span place;
  int own_axis = -1;  // every device uses only its own index along this axis; with ranks as processes
};
struct HostSlot {
  std::string name;
  std::string size;  // C++ expression
  std::optional<std::int64_t> bytes;
  std::uint32_t line = 0;  // of a size that may be too large; else 0
  bool signal = false;
};
struct HostDomain {
  std::string name;
  std::vector<std::int64_t> devices;  // empty: all
  std::vector<HostSlot> slots;
};
struct RankLimit {
  std::string collective;
  std::int64_t count = 0;
  bool exact = false;
  Span place;
};
struct HostEntry {
  const Function* function = nullptr;
  std::string name;  // as the user knows it
  std::string cpp_name;
  std::string text;  // of the C++ function
  std::vector<HostParam> params;
  std::vector<HostDomain> domains;
  std::vector<RankLimit> limits;
  std::vector<std::string> signal_slots;  // allocations that are signals of collectives in kernels
  std::vector<std::string> sub_workers;   // C++ names
  std::int64_t max_device = -1;
  bool single_rank = false;
};

// Fills everything but name and cpp_name; adds to the limits. False after an error.
bool emit_host(const EmitEnv& env, const Function* function, ChipTable& chips, HostEntry& out);
// The entry of a program without a host function: dispatches `function` once, to device 0.
bool emit_single_rank(const EmitEnv& env, const Function* function, ChipTable& chips, HostEntry& out);

// Parameters as the tables describe them; reports those that cannot be passed.
bool describe_params(const EmitEnv& env, const Function* function, std::vector<HostParam>& out);
// Marks the axes that a loop over all ranks indexes and finds the largest constant device.
void describe_ranks(const EmitEnv& env, const Function* function, HostEntry& out);

}  // namespace pldc
