// ConvertTensorToTileOps (11): kernels compute on tiles. Tensor ops become tile ops on what is loaded from the parameters,
// what a kernel computed and returned is stored into memory that its callers provide.
#include "passes/convert_tensor_to_tile_ops/callers.h"
#include "passes/convert_tensor_to_tile_ops/kernel.h"
#include "passes/map_functions.h"

namespace pldc {

const Program* run_ConvertTensorToTileOps(PassEnv& env, const Program* program) {
  const std::uint32_t errors = env.diags.error_count();
  tiling::AddedResults added;
  const Program* converted = map_functions(env, program, [&](const Function* f) {
    if (!f->is_kernel()) return f;
    const tiling::ConvertedKernel kernel = tiling::convert_kernel(env, f);
    if (kernel.added > 0) added[f->name] = kernel.added;
    return kernel.function;
  });
  if (converted == nullptr) return nullptr;
  if (!added.empty()) converted = tiling::provide_results(env, converted, std::move(added));
  if (env.diags.error_count() != errors) return nullptr;
  return tiling::declare_writes(env, converted);
}

}  // namespace pldc
