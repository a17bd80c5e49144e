// Kernel stage_in of chip put_in (host_allreduce_explicit.pld:10). AIV.
#include "pld/kernel.h"

using namespace pto;

// args: x (in), win (inout), win_ctx
extern "C" __aicore__ void kernel_entry(__gm__ int64_t* args) {
  __gm__ float* x = pld_arg<float>(args, 0);
  __gm__ float* win = pld_arg<float>(args, 1);

  Tile<TileType::Vec, float, 1, 384> t;
  TASSIGN(t, 0x0);

  // t = tile.load(x, [0, 0], [1, 384])
  PLD_LOC(12);
  GlobalTensor<float, Shape<1, 1, 1, 1, 384>, Stride<384, 384, 384, 384, 1>, Layout::ND> x_0(x);
  TLOAD(t, x_0);
  set_flag(PIPE_MTE2, PIPE_MTE3, EVENT_ID0);
  wait_flag(PIPE_MTE2, PIPE_MTE3, EVENT_ID0);

  // tile.store(t, [0, 0], win)
  PLD_LOC(13);
  GlobalTensor<float, Shape<1, 1, 1, 1, 384>, Stride<384, 384, 384, 384, 1>, Layout::ND> win_0(win);
  TSTORE(win_0, t);

  // system.cacheinvalid(win, [1, 384], [0, 0])
  pipe_barrier(PIPE_ALL);
  pld_cacheinvalid();

  // system.fence()
  pld_fence();
  pipe_barrier(PIPE_ALL);
}
