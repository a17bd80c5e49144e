// Kernel reduce_rank of chip per_rank (mesh_by_hand.pld:10). AIV.
#include "pld/kernel.h"

using namespace pto;

// args: x (in), y (out), win (inout), sig (inout), win_ctx, sig_ctx
extern "C" __aicore__ void kernel_entry(__gm__ int64_t* args) {
  __gm__ float* x = pld_arg<float>(args, 0);
  __gm__ float* y = pld_arg<float>(args, 1);
  __gm__ float* win = pld_arg<float>(args, 2);
  __gm__ int32_t* sig = pld_arg<int32_t>(args, 3);
  __gm__ CommContext* win_ctx = pld_ctx(args, 4);
  __gm__ CommContext* sig_ctx = pld_ctx(args, 5);

  Tile<TileType::Vec, float, 1, 256> mine;
  TASSIGN(mine, 0x0);
  Tile<TileType::Vec, float, 1, 256> acc;
  TASSIGN(acc, 0x0);
  Tile<TileType::Vec, float, 1, 256> other;
  TASSIGN(other, 0x400);

  // me = system.rank(ctx); n = system.nranks(ctx)
  const int32_t me = pld_rank(win_ctx);
  const int32_t n = pld_nranks(win_ctx);

  // mine = tile.load(x, [0, 0], [1, 256])
  PLD_LOC(16);
  GlobalTensor<float, Shape<1, 1, 1, 1, 256>, Stride<256, 256, 256, 256, 1>, Layout::ND> x_0(x);
  TLOAD(mine, x_0);
  set_flag(PIPE_MTE2, PIPE_MTE3, EVENT_ID0);
  wait_flag(PIPE_MTE2, PIPE_MTE3, EVENT_ID0);

  // win = tile.store(mine, [0, 0], win)
  PLD_LOC(17);
  GlobalTensor<float, Shape<1, 1, 1, 1, 256>, Stride<256, 256, 256, 256, 1>, Layout::ND> win_0(win);
  TSTORE(win_0, mine);

  // system.cacheinvalid(win, [1, 256], [0, 0])
  pipe_barrier(PIPE_ALL);
  pld_cacheinvalid();

  // system.fence()
  pld_fence();

  for (int64_t peer = 0; peer < n; peer += 1) {
    if (peer != static_cast<int64_t>(me)) {
      // notify(sig, peer, [me, 0], 1, op=AtomicAdd)
      PLD_LOC(20);
      pipe_barrier(PIPE_ALL);
      comm::Signal sig_0(pld_peer(sig_ctx, sig + me, peer));
      comm::TNOTIFY(sig_0, 1, comm::NotifyOp::AtomicAdd);
    }
  }
  for (int64_t src = 0; src < n; src += 1) {
    if (src != static_cast<int64_t>(me)) {
      // wait(sig, [src, 0], 1, cmp=Ge)
      PLD_LOC(23);
      comm::Signal sig_1(sig + src);
      comm::TWAIT(sig_1, 1, comm::WaitCmp::GE);

      // system.cacheinvalid()
      pld_cacheinvalid();
    }
  }

  // acc = tile.load(win, [0, 0], [1, 256])
  PLD_LOC(24);
  GlobalTensor<float, Shape<1, 1, 1, 1, 256>, Stride<256, 256, 256, 256, 1>, Layout::ND> win_1(win);
  set_flag(PIPE_MTE3, PIPE_MTE2, EVENT_ID0);
  wait_flag(PIPE_MTE3, PIPE_MTE2, EVENT_ID0);
  TLOAD(acc, win_1);

  for (int64_t peer = 0; peer < n; peer += 1) {
    if (peer != static_cast<int64_t>(me)) {
      // other = remote_load(win, peer, [0, 0], [1, 256])
      PLD_LOC(27);
      GlobalTensor<float, Shape<1, 1, 1, 1, 256>, Stride<256, 256, 256, 256, 1>, Layout::ND> win_2(
          pld_peer(win_ctx, win, peer));
      TLOAD(other, win_2);
      set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
      wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);

      // acc = tile.add(acc, other)
      PLD_LOC(28);
      TADD(acc, acc, other);
      set_flag(PIPE_V, PIPE_MTE2, EVENT_ID0);
      wait_flag(PIPE_V, PIPE_MTE2, EVENT_ID0);
    }
  }

  // tile.store(acc, [0, 0], y)
  PLD_LOC(29);
  set_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
  wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
  GlobalTensor<float, Shape<1, 1, 1, 1, 256>, Stride<256, 256, 256, 256, 1>, Layout::ND> y_0(y);
  TSTORE(y_0, acc);
  pipe_barrier(PIPE_ALL);
}
