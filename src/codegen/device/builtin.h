// Kernels of the host collectives: each is one call of a template of pld/collectives.h.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "ir/expr.h"

namespace pldc {

// What distinguishes one builtin kernel from another; core_num is given to the launch, not to the kernel.
struct BuiltinVariant {
  OpId op;                          // one of builtin.tensor.*
  ReduceOp reduce = ReduceOp::Sum;  // allreduce, allreduce_ring, reduce_scatter
  DType dtype = DType::FP32;        // FP16 only for allreduce
  std::int64_t root = 0;            // broadcast
  std::int64_t width = 0;           // elements of a tile; 0: the widest that fits (decisions D27)
  friend bool operator==(const BuiltinVariant&, const BuiltinVariant&) = default;
};

// The variant that a call of a builtin.tensor.* op asks for; nothing for any other call.
std::optional<BuiltinVariant> builtin_variant(const Call* call);

// "builtin_tensor_allreduce__sum__fp32": the name of the chip, a C++ identifier.
std::string builtin_chip_name(const BuiltinVariant& variant);
// "allreduce": the name of the kernel in its chip.
std::string builtin_kernel_name(const BuiltinVariant& variant);
// One line for comments: "allreduce, mesh, Sum, FP32".
std::string builtin_title(const BuiltinVariant& variant);
// The text of kernels/<chip>/<kernel>.cpp.
std::string emit_builtin_kernel(const BuiltinVariant& variant);

}  // namespace pldc
