// Host collective allreduce, mesh, Sum, FP32. AIV.
#include "pld/collectives.h"

// args: data (inout), signal (inout), domain size, context
extern "C" __aicore__ void kernel_entry(__gm__ int64_t* args) {
  pld::collectives::allreduce<pld::collectives::Op::Sum, float, pld::collectives::kWide<float>>(args);
}
