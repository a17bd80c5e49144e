// Chip orchestration per_rank (mesh_by_hand.pld:32).
#include "pld/orch.h"

PLD_API PTO2OrchestrationConfig aicpu_orchestration_config(const ChipTaskArgs&) {
  return PTO2OrchestrationConfig{.expected_arg_count = 6};
}

// args: x (in), y (out), win (inout), sig (inout); win_ctx, sig_ctx
PLD_API void aicpu_orchestration_entry(const ChipTaskArgs& a) {
  const ChipTensor& x = a.tensor(0).ref();
  const ChipTensor& y = a.tensor(1).ref();
  const ChipTensor& win = a.tensor(2).ref();
  const ChipTensor& sig = a.tensor(3).ref();
  const uint64_t win_ctx = a.scalar(0);
  const uint64_t sig_ctx = a.scalar(1);

  PTO2_SCOPE() {
    // reduce_rank(x, y, win, sig, win_ctx, sig_ctx)
    PLD_LOC(35);
    CoreTaskArgs p0;
    p0.add_input(x);
    p0.add_output(y);
    p0.add_inout(win);
    p0.add_inout(sig);
    p0.add_scalar(win_ctx);
    p0.add_scalar(sig_ctx);
    rt_submit_aiv_task(0, p0);
  }
}
