// Host collective allreduce, mesh, Sum, FP32.
#include "pld/orch.h"

PLD_API PTO2OrchestrationConfig aicpu_orchestration_config(const ChipTaskArgs&) {
  return PTO2OrchestrationConfig{.expected_arg_count = 5};
}

// args: data (inout), signal (inout); domain size, context, core_num
PLD_API void aicpu_orchestration_entry(const ChipTaskArgs& a) {
  const ChipTensor& data = a.tensor(0).ref();
  const ChipTensor& signal = a.tensor(1).ref();

  PTO2_SCOPE() {
    CoreTaskArgs p0;
    p0.add_inout(data);
    p0.add_inout(signal);
    p0.add_scalar(a.scalar(0));
    p0.add_scalar(a.scalar(1));
    p0.launch_spec.set_block_num(pld_from_u64<int32_t>(a.scalar(2)));
    p0.launch_spec.set_require_sync_start(true);
    rt_submit_aiv_task(0, p0);
  }
}
