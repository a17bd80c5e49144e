// Kernel stage_out of chip take_out (host_allreduce_explicit.pld:16). AIV.
#include "pld/kernel.h"

using namespace pto;

// args: win (in), y (out), win_ctx
extern "C" __aicore__ void kernel_entry(__gm__ int64_t* args) {
  __gm__ float* win = pld_arg<float>(args, 0);
  __gm__ float* y = pld_arg<float>(args, 1);

  Tile<TileType::Vec, float, 1, 384> t;
  TASSIGN(t, 0x0);

  // t = tile.load(win, [0, 0], [1, 384])
  PLD_LOC(18);
  GlobalTensor<float, Shape<1, 1, 1, 1, 384>, Stride<384, 384, 384, 384, 1>, Layout::ND> win_0(win);
  TLOAD(t, win_0);
  set_flag(PIPE_MTE2, PIPE_MTE3, EVENT_ID0);
  wait_flag(PIPE_MTE2, PIPE_MTE3, EVENT_ID0);

  // tile.store(t, [0, 0], y)
  PLD_LOC(19);
  GlobalTensor<float, Shape<1, 1, 1, 1, 384>, Stride<384, 384, 384, 384, 1>, Layout::ND> y_0(y);
  TSTORE(y_0, t);
  pipe_barrier(PIPE_ALL);
}
