// The text of one device kernel.
#pragma once

#include <string>

#include "codegen/codegen.h"
#include "codegen/device/callers.h"
#include "codegen/emit.h"
#include "codegen/expr.h"
#include "codegen/placement.h"
#include "codegen/signature.h"

namespace pldc {

// What a kernel emitter gets. The kernel is in this form (codegen/normalize.h):
//   * SSA: every variable has one definition; loops and branches have explicit carries, results and trailing yields;
//   * no nested calls: a call is the whole value of an assignment, an eval or (of ops without effects) a direct element of
//     a shape or offset list;
//   * computes on tiles; in-core collectives are lowered to puts, gets, notifies and waits;
//   * contexts are parameters: system.get_comm_ctx does not occur;
//   * a return gives parameters or nothing.
// A break or continue may occur in loops.
struct KernelEnv {
  Context& ir;
  DiagSink& diags;
  const Places& places;         // lines for PLD_LOC, "file.pld:LINE" for comments
  const BuildOptions& options;  // line_map: write #line before each operation
  const Program& program;
  std::string_view chip;  // C++ names, for the head comment
  std::string_view kernel;
  const Signature& signature;  // ABI order of the parameters
  const TilePlacement& placement;
  const Callers& callers;
};

struct KernelText {
  std::string text;
  bool cube = false;  // only the memories of the matrix core are used
};

// The whole file kernels/<chip>/<kernel>.cpp. False after an error was reported (codes 750 to 799).
bool emit_kernel(const KernelEnv& env, const Function& kernel, KernelText& out);

}  // namespace pldc
