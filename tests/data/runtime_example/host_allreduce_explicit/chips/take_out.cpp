// Chip orchestration take_out (host_allreduce_explicit.pld:27).
#include "pld/orch.h"

PLD_API PTO2OrchestrationConfig aicpu_orchestration_config(const ChipTaskArgs&) {
  return PTO2OrchestrationConfig{.expected_arg_count = 3};
}

// args: win (in), y (out); win_ctx
PLD_API void aicpu_orchestration_entry(const ChipTaskArgs& a) {
  const ChipTensor& win = a.tensor(0).ref();
  const ChipTensor& y = a.tensor(1).ref();
  const uint64_t win_ctx = a.scalar(0);

  PTO2_SCOPE() {
    // stage_out(win, y, win_ctx)
    PLD_LOC(29);
    CoreTaskArgs p0;
    p0.add_input(win);
    p0.add_output(y);
    p0.add_scalar(win_ctx);
    rt_submit_aiv_task(0, p0);
  }
}
