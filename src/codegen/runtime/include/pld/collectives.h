// Copyright The pldc authors. SPDX-License-Identifier: Apache-2.0
//
// The host collectives as kernels. They use only the instruction set, so they compile against the official
// headers too.
//
// Signals follow one protocol: a notify adds 1, a wait asks for at least the number of barriers passed so far
// in this call, the epilogue subtracts that number from the own cells. A fast rank is at most one barrier
// ahead, cells are zero after the call and the call can be repeated. W is the width of a tile in elements.
#pragma once
#include "pld/kernel.h"

namespace pld::collectives {

enum class Op { Sum, Max, Min, Prod };

// The widest tile of which two fill the vector buffer (192 KiB): the fewest barriers.
template <class T>
inline constexpr int kWide = 96 * 1024 / static_cast<int>(sizeof(T));

inline constexpr int kRingMaxRanks = 16;

template <class T, int W>
using Row = pto::Tile<pto::TileType::Vec, T, 1, W, pto::BLayout::RowMajor, 1, -1>;
template <class T>
using Line =
    pto::GlobalTensor<T, pto::Shape<1, 1, 1, 1, -1>, pto::Stride<-1, -1, -1, -1, 1>, pto::Layout::ND>;

template <class T>
AICORE inline Line<T> line(__gm__ T* p, int64_t n) {
  return Line<T>(p, pto::Shape<1, 1, 1, 1, -1>(n), pto::Stride<-1, -1, -1, -1, 1>(n, n, n, n));
}

AICORE inline int64_t axes(__gm__ int64_t* args, int i) {
  return static_cast<int64_t>(reinterpret_cast<__gm__ ChipTensor*>(args[i])->ndims);
}
AICORE inline int64_t elements(__gm__ int64_t* args, int i) {
  int64_t n = 1;
  for (int64_t a = 0; a < axes(args, i); ++a) n *= pld_dim(args, i, static_cast<int>(a));
  return n;
}

// One rank's side of the barriers of one call; the cell of peer p is cells[p * stride].
struct Barrier {
  __gm__ int32_t* cells;
  int64_t stride;
  __gm__ CommContext* ctx;
  int32_t me;
  int32_t n;
  int32_t passed;

  AICORE void wait_for_all() {
    ++passed;
    pipe_barrier(PIPE_ALL);
    for (int32_t p = 0; p < n; ++p) {
      if (p == me) continue;
      pto::comm::Signal theirs(pld_peer(ctx, cells + me * stride, p));
      pto::comm::TNOTIFY(theirs, 1, pto::comm::NotifyOp::AtomicAdd);
    }
    for (int32_t p = 0; p < n; ++p) {
      if (p == me) continue;
      pto::comm::Signal mine(cells + p * stride);
      pto::comm::TWAIT(mine, passed, pto::comm::WaitCmp::GE);
    }
    pld_cacheinvalid();
  }
  AICORE void finish() {
    pipe_barrier(PIPE_ALL);
    for (int32_t p = 0; p < n; ++p) {
      if (p == me) continue;
      pto::comm::Signal mine(cells + p * stride);
      pto::comm::TNOTIFY(mine, -passed, pto::comm::NotifyOp::AtomicAdd);
    }
    pipe_barrier(PIPE_ALL);
  }
};

// The barrier over the signal in args[signal], with the context in args[ctx]; false if the signal is too
// small.
AICORE inline bool open_barrier(__gm__ int64_t* args, int signal, int ctx, Barrier& b) {
  b.cells = pld_arg<int32_t>(args, signal);
  b.stride = axes(args, signal) > 1 ? pld_dim(args, signal, 1) : 1;
  b.ctx = pld_ctx(args, ctx);
  b.me = pld_rank(b.ctx);
  b.n = pld_nranks(b.ctx);
  b.passed = 0;
  return pld_dim(args, signal, 0) >= b.n;
}
#define PLD_OPEN_BARRIER(b, args, signal, ctx)                                                          \
  ::pld::collectives::Barrier b;                                                                        \
  if (!::pld::collectives::open_barrier(args, signal, ctx, b)) {                                        \
    PLD_FAIL("the signal has %d rows, the domain %d ranks", static_cast<int>(pld_dim(args, signal, 0)), \
             b.n);                                                                                      \
  }

template <Op OP, class D, class A, class B>
AICORE inline void combine(D& d, A& a, B& b) {
  if constexpr (OP == Op::Sum) {
    TADD(d, a, b);
  } else if constexpr (OP == Op::Max) {
    TMAX(d, a, b);
  } else if constexpr (OP == Op::Min) {
    TMIN(d, a, b);
  } else {
    TMUL(d, a, b);
  }
}

// to = from, through the tile; both have its valid shape.
template <class L, class D>
AICORE inline void copy_line(L& to, L& from, D& tile) {
  TLOAD(tile, from);
  set_flag(PIPE_MTE2, PIPE_MTE3, EVENT_ID0);
  wait_flag(PIPE_MTE2, PIPE_MTE3, EVENT_ID0);
  TSTORE(to, tile);
  set_flag(PIPE_MTE3, PIPE_MTE2, EVENT_ID0);
  wait_flag(PIPE_MTE3, PIPE_MTE2, EVENT_ID0);
}

// acc = op over all ranks of n elements at p: the own ones first, then the peers' in ascending order.
template <Op OP, class T, int W>
AICORE inline void reduce_tile(const Barrier& b, __gm__ T* p, int64_t n, Row<T, W>& acc, Row<T, W>& other) {
  acc.SetValidShape(1, n);
  other.SetValidShape(1, n);
  Line<T> mine = line(p, n);
  TLOAD(acc, mine);
  for (int32_t r = 0; r < b.n; ++r) {
    if (r == b.me) continue;
    Line<T> theirs = line(pld_peer(b.ctx, p, r), n);
    TLOAD(other, theirs);
    set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
    wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
    combine<OP>(acc, acc, other);
    set_flag(PIPE_V, PIPE_MTE2, EVENT_ID0);
    wait_flag(PIPE_V, PIPE_MTE2, EVENT_ID0);
  }
}

// Below this many bytes a barrier costs more than reading everything from every rank.
inline constexpr int64_t kSplitBytes = 32 * 1024;

// Two such tiles stay in the first cache of a processor.
template <class T, int W>
inline constexpr int64_t kNear = W * sizeof(T) > 16384 ? 16384 / static_cast<int64_t>(sizeof(T)) : W;

// Every rank reduces its own part of the n elements at `data`, then takes the others' parts from those who did: 2 (P - 1)
// / P * n elements come to each (Thakur et al., "Optimization of collective communication operations in MPICH", 2005).
template <Op OP, class T, int W>
AICORE inline void allreduce_parts(Barrier& b, __gm__ T* data, int64_t n, Row<T, W>& acc, Row<T, W>& other) {
  const auto begin = [&](int64_t r) { return n * r / b.n; };
  for (int64_t first = begin(b.me); first < begin(b.me + 1); first += kNear<T, W>) {
    const int64_t size = pld_min(begin(b.me + 1) - first, kNear<T, W>);
    reduce_tile<OP>(b, data + first, size, acc, other);  // nobody else reads this part of this rank
    set_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
    wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
    Line<T> mine = line(data + first, size);
    TSTORE(mine, acc);
    set_flag(PIPE_MTE3, PIPE_MTE2, EVENT_ID0);
    wait_flag(PIPE_MTE3, PIPE_MTE2, EVENT_ID0);
  }
  b.wait_for_all();  // all parts are complete
  for (int32_t k = 1; k < b.n; ++k) {
    const int32_t r = (b.me + k) % b.n;  // not all from one at a time
    for (int64_t first = begin(r); first < begin(r + 1); first += kNear<T, W>) {
      const int64_t size = pld_min(begin(r + 1) - first, kNear<T, W>);
      other.SetValidShape(1, size);
      Line<T> theirs = line(pld_peer(b.ctx, data + first, r), size);
      Line<T> mine = line(data + first, size);
      copy_line(mine, theirs, other);
    }
  }
}

// args: data (inout), signal [P] or [P, lanes] (inout); size, context. Every rank's data becomes op over all
// ranks. Block k of the launch uses lane k of the signal; of C = min(blocks, lanes) blocks it does the tiles k, k + C, ...
// or, if there is much data, an equal share of it.
template <Op OP, class T, int W>
AICORE inline void allreduce(__gm__ int64_t* args) {
  __gm__ T* data = pld_arg<T>(args, 0);
  PLD_OPEN_BARRIER(barrier, args, 1, 3);
  const int64_t count = elements(args, 0);
  const int64_t block = get_block_idx(args);
  const int64_t blocks = pld_min(static_cast<int64_t>(get_block_num(args)), barrier.stride);
  if (block >= blocks) return;
  barrier.cells += block;

  Row<T, W> acc(W);
  Row<T, W> other(W);
  TASSIGN(acc, 0x0);
  TASSIGN(other, W * sizeof(T));
  barrier.wait_for_all();  // all data is there
  if (count * static_cast<int64_t>(sizeof(T)) >= kSplitBytes && barrier.n > 1) {
    const int64_t first = count * block / blocks;
    allreduce_parts<OP>(barrier, data + first, count * (block + 1) / blocks - first, acc, other);
    barrier.wait_for_all();  // everybody has taken the parts of this rank
    barrier.finish();
    return;
  }
  for (int64_t first = block * W; first < count; first += blocks * W) {
    const int64_t n = pld_min(count - first, static_cast<int64_t>(W));
    reduce_tile<OP>(barrier, data + first, n, acc, other);
    barrier.wait_for_all();  // everybody has read this tile
    Line<T> mine = line(data + first, n);
    TSTORE(mine, acc);
    set_flag(PIPE_MTE3, PIPE_MTE2, EVENT_ID0);
    wait_flag(PIPE_MTE3, PIPE_MTE2, EVENT_ID0);
  }
  barrier.finish();
}

// args: data (inout), signal [2 * (P - 1) + 1, P] (inout); size, context. Chunk k holds the elements from
// floor(count * k / P) to floor(count * (k + 1) / P). P - 1 rounds of reduction, then P - 1 of distribution;
// in each a rank pulls one chunk from its left neighbour. Row i of the signal is the barrier before round i,
// the last row the one at the end.
template <Op OP, class T, int W>
AICORE inline void allreduce_ring(__gm__ int64_t* args) {
  __gm__ T* data = pld_arg<T>(args, 0);
  __gm__ int32_t* signal = pld_arg<int32_t>(args, 1);
  __gm__ CommContext* ctx = pld_ctx(args, 3);
  const int32_t me = pld_rank(ctx);
  const int32_t n = pld_nranks(ctx);
  if (n == 1) return;
  if (n > kRingMaxRanks)
    PLD_FAIL("the ring allreduce serves at most %d ranks, the domain has %d", kRingMaxRanks, n);
  if (axes(args, 1) != 2 || pld_dim(args, 1, 1) != n || pld_dim(args, 1, 0) < 2 * (n - 1) + 1) {
    PLD_FAIL("the ring allreduce over %d ranks takes a signal of shape [%d, %d], not [%d, %d]", n,
             2 * (n - 1) + 1, n, static_cast<int>(pld_dim(args, 1, 0)),
             axes(args, 1) == 2 ? static_cast<int>(pld_dim(args, 1, 1)) : 1);
  }
  const int64_t count = elements(args, 0);
  const int32_t left = (me - 1 + n) % n;

  Row<T, W> acc(W);
  Row<T, W> other(W);
  TASSIGN(acc, 0x0);
  TASSIGN(other, W * sizeof(T));
  const int32_t half_rounds = n - 1;
  for (int32_t round = 0; round <= 2 * half_rounds; ++round) {
    Barrier barrier{signal + round * n, 1, ctx, me, n, 0};
    barrier.wait_for_all();
    if (round == 2 * half_rounds) break;
    const bool reduce = round < half_rounds;
    const int32_t k = reduce ? (me - round - 2 + 2 * n) % n : (me - (round - half_rounds) - 1 + n) % n;
    const int64_t end = count * (k + 1) / n;
    for (int64_t first = count * k / n; first < end; first += kNear<T, W>) {
      const int64_t width = pld_min(end - first, kNear<T, W>);
      acc.SetValidShape(1, width);
      Line<T> mine = line(data + first, width);
      Line<T> theirs = line(pld_peer(ctx, data + first, left), width);
      if (reduce) {
        other.SetValidShape(1, width);
        TLOAD(acc, mine);
        TLOAD(other, theirs);
        set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
        wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
        combine<OP>(acc, acc, other);
      } else {
        TLOAD(acc, theirs);
      }
      pipe_barrier(PIPE_ALL);
      TSTORE(mine, acc);
      pipe_barrier(PIPE_ALL);
    }
  }
  for (int32_t round = 0; round <= 2 * half_rounds; ++round) {
    Barrier barrier{signal + round * n, 1, ctx, me, n, 1};
    barrier.finish();
  }
}

// args: signal [P] (inout); size, context.
AICORE inline void barrier(__gm__ int64_t* args) {
  PLD_OPEN_BARRIER(all, args, 0, 2);
  all.wait_for_all();
  all.finish();
}

// args: target (inout), signal [P] (inout); size, context. Every rank's target becomes the root's.
template <class T, int W>
AICORE inline void broadcast(__gm__ int64_t* args, int32_t root) {
  __gm__ T* target = pld_arg<T>(args, 0);
  PLD_OPEN_BARRIER(barrier, args, 1, 3);
  if (root < 0 || root >= barrier.n) PLD_FAIL("broadcast: root %d is not one of %d ranks", root, barrier.n);
  const int64_t count = elements(args, 0);
  Row<T, W> tile(W);
  TASSIGN(tile, 0x0);
  for (int64_t first = 0; first < count; first += W) {
    const int64_t n = pld_min(count - first, static_cast<int64_t>(W));
    barrier.wait_for_all();
    if (barrier.me == root) continue;
    tile.SetValidShape(1, n);
    Line<T> theirs = line(pld_peer(barrier.ctx, target + first, root), n);
    Line<T> mine = line(target + first, n);
    copy_line(mine, theirs, tile);
  }
  barrier.wait_for_all();  // the root's data has been read
  barrier.finish();
}

// args: target [rows >= P, SIZE] (inout), signal [P] (inout); size, context. Row r of rank r becomes op over
// the ranks' rows r; other rows stay.
template <Op OP, class T, int W>
AICORE inline void reduce_scatter(__gm__ int64_t* args) {
  __gm__ T* target = pld_arg<T>(args, 0);
  PLD_OPEN_BARRIER(barrier, args, 1, 3);
  if (pld_dim(args, 0, 0) < barrier.n) {
    PLD_FAIL("reduce_scatter: the target has %d rows, the domain %d ranks",
             static_cast<int>(pld_dim(args, 0, 0)), barrier.n);
  }
  const int64_t count = pld_dim(args, 0, 1);
  __gm__ T* row = target + barrier.me * count;
  Row<T, W> acc(W);
  Row<T, W> other(W);
  TASSIGN(acc, 0x0);
  TASSIGN(other, W * sizeof(T));
  barrier.wait_for_all();
  for (int64_t first = 0; first < count; first += kNear<T, W>) {
    const int64_t n = pld_min(count - first, kNear<T, W>);
    reduce_tile<OP>(barrier, row + first, n, acc, other);  // nobody else reads this row of this rank
    set_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
    wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
    Line<T> mine = line(row + first, n);
    TSTORE(mine, acc);
    set_flag(PIPE_MTE3, PIPE_MTE2, EVENT_ID0);
    wait_flag(PIPE_MTE3, PIPE_MTE2, EVENT_ID0);
  }
  barrier.wait_for_all();  // the peers' rows have been read
  barrier.finish();
}

// Puts n elements to rank r.
template <class T, int W>
AICORE inline void put(const Barrier& b, __gm__ T* to, __gm__ T* from, int64_t n, int32_t r) {
  pto::Tile<pto::TileType::Vec, T, 1, W, pto::BLayout::RowMajor, -1, -1> stage(
      1, pld_min(n, static_cast<int64_t>(W)));
  TASSIGN(stage, 0x0);
  Line<T> theirs = line(pld_peer(b.ctx, to, r), n);
  Line<T> mine = line(from, n);
  pipe_barrier(PIPE_ALL);
  pto::comm::TPUT(theirs, mine, stage);
  pipe_barrier(PIPE_ALL);
}

// args: input [1, SIZE] (in), target [P, SIZE] (inout), signal [P] or [P, 1] (inout); size, context. Row r of
// every target becomes rank r's input.
template <class T, int W>
AICORE inline void allgather(__gm__ int64_t* args) {
  __gm__ T* input = pld_arg<T>(args, 0);
  __gm__ T* target = pld_arg<T>(args, 1);
  PLD_OPEN_BARRIER(barrier, args, 2, 4);
  const int64_t count = pld_dim(args, 1, 1);
  barrier.wait_for_all();  // everybody has read what an earlier call left in the target
  for (int32_t r = 0; r < barrier.n; ++r) put<T, W>(barrier, target + barrier.me * count, input, count, r);
  barrier.wait_for_all();
  barrier.finish();
}

// args: input [P, SIZE] (in), target [P, SIZE] (inout), signal (inout); size, context. Row s of rank r's
// target becomes row r of rank s's input.
template <class T, int W>
AICORE inline void all_to_all(__gm__ int64_t* args) {
  __gm__ T* input = pld_arg<T>(args, 0);
  __gm__ T* target = pld_arg<T>(args, 1);
  PLD_OPEN_BARRIER(barrier, args, 2, 4);
  const int64_t count = pld_dim(args, 1, 1);
  barrier.wait_for_all();
  for (int32_t r = 0; r < barrier.n; ++r) {
    put<T, W>(barrier, target + barrier.me * count, input + r * count, count, r);
  }
  barrier.wait_for_all();
  barrier.finish();
}

// args: input [P * MAX, SIZE] (in), target [P * MAX, SIZE] (inout), signal (inout), send_counts (in),
// recv_counts (inout); size, context. Block s of rank r's target becomes block r of rank s's input,
// recv_counts[s] what rank s meant to send, at most MAX rows. Full blocks travel; rows beyond the count mean
// nothing.
template <class T, int W>
AICORE inline void all_to_all_v(__gm__ int64_t* args) {
  __gm__ T* input = pld_arg<T>(args, 0);
  __gm__ T* target = pld_arg<T>(args, 1);
  __gm__ int32_t* send_counts = pld_arg<int32_t>(args, 3);
  __gm__ int32_t* recv_counts = pld_arg<int32_t>(args, 4);
  PLD_OPEN_BARRIER(barrier, args, 2, 6);
  const int64_t max_rows = pld_dim(args, 1, 0) / barrier.n;
  const int64_t count = max_rows * pld_dim(args, 1, 1);
  barrier.wait_for_all();
  for (int32_t r = 0; r < barrier.n; ++r) {
    const int32_t rows = pld_min(pld_read(send_counts + r), static_cast<int32_t>(max_rows));
    pipe_barrier(PIPE_ALL);
    pto::comm::Signal theirs(pld_peer(barrier.ctx, recv_counts + barrier.me, r));
    pto::comm::TNOTIFY(theirs, rows, pto::comm::NotifyOp::Set);
    put<T, W>(barrier, target + barrier.me * count, input + r * count, count, r);
  }
  barrier.wait_for_all();
  barrier.finish();
}

}  // namespace pld::collectives
