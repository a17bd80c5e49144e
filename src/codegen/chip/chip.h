// Chip orchestrations: chips/<chip>.cpp, and which kernels a chip has.
#pragma once

#include <string>
#include <vector>

#include "codegen/function.h"
#include "codegen/signature.h"

namespace pldc {

// A kernel as one chip uses it. A part of a group sees the arguments of all parts, so its ABI may differ from the natural
// one of its parameters.
struct ChipKernel {
  const Function* function;
  Signature signature;
};

struct ChipText {
  std::string text;
  std::vector<ChipKernel> kernels;  // in order of first use; the position is the func_id
};

// The orchestration of `function`: an orchestration, or a kernel or group that runs by itself. False after an error.
bool emit_chip(const EmitEnv& env, const Function* function, std::string_view name, ChipText& out);

}  // namespace pldc
