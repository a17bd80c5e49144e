// Chip orchestration put_in (host_allreduce_explicit.pld:22).
#include "pld/orch.h"

PLD_API PTO2OrchestrationConfig aicpu_orchestration_config(const ChipTaskArgs&) {
  return PTO2OrchestrationConfig{.expected_arg_count = 3};
}

// args: x (in), win (inout); win_ctx
PLD_API void aicpu_orchestration_entry(const ChipTaskArgs& a) {
  const ChipTensor& x = a.tensor(0).ref();
  const ChipTensor& win = a.tensor(1).ref();
  const uint64_t win_ctx = a.scalar(0);

  PTO2_SCOPE() {
    // stage_in(x, win, win_ctx)
    PLD_LOC(24);
    CoreTaskArgs p0;
    p0.add_input(x);
    p0.add_inout(win);
    p0.add_scalar(win_ctx);
    rt_submit_aiv_task(0, p0);
  }
}
