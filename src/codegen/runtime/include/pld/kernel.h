// Copyright The pldc authors. SPDX-License-Identifier: Apache-2.0
//
// The only header that a generated kernel includes. PLD_TARGET_PTOISA selects the official headers, otherwise
// the embedded library is used; the kernel text is the same.
#pragma once

#ifdef PLD_TARGET_PTOISA
#include <cstdint>  // before pto-inst.hpp, which uses the fixed-width names without including them
#ifndef __gm__
#define __gm__
#endif
#ifndef __aicore__
#if defined(__CPU_SIM)
#define __aicore__
#else
#define __aicore__ [aicore]
#endif
#endif
#include <pto/pto-inst.hpp>

#include "intrinsic.h"
#include "platform_comm/comm_context.h"
#include "pto/comm/comm_types.hpp"
#include "pto/comm/pto_comm_inst.hpp"
#include "tensor.h"

static_assert(sizeof(ChipTensor) == 128 && sizeof(CommContext) == 1056);
static_assert(__builtin_offsetof(ChipTensor, start_offset) == 24 &&
              __builtin_offsetof(ChipTensor, shapes) == 44);
static_assert(__builtin_offsetof(ChipTensor, strides) == 72 && __builtin_offsetof(CommContext, rankId) == 16);
static_assert(__builtin_offsetof(CommContext, rankNum) == 20 &&
              __builtin_offsetof(CommContext, windowsIn) == 32);

#define PLD_LOC(line) ((void)0)
#define PLD_FAIL(...) return

template <class T>
AICORE inline T pld_read(__gm__ T* p) {
  return *p;
}
template <class T, class V>
AICORE inline void pld_write(__gm__ T* p, V value) {
  *p = static_cast<T>(value);
}
// Makes data that other cores wrote visible: drops this core's cached lines.
AICORE inline void pld_cacheinvalid() {
#if !defined(__CPU_SIM)
  dcci((__gm__ void*)0, cache_line_t::ENTIRE_DATA_CACHE, dcci_dst_t::CACHELINE_OUT);
#endif
}
// Orders this core's memory writes before what follows.
AICORE inline void pld_fence() {
  pipe_barrier(PIPE_ALL);
#if !defined(__CPU_SIM)
  dsb(DSB_DDR);
#endif
}
#else
#include "pld/abi.h"
#include "pld/comm.h"
#include "pld/large.h"
#include "pld/pto.h"
#include "pld/sim.h"

// Source line of the next operation that may wait or fail (the file is known from the kernel's table entry).
#ifndef PLD_LOC
#define PLD_LOC(line) (::pld::sim::set_line(line))
#endif
// Ends the run with an error that names kernel and line.
#define PLD_FAIL(...) (::pld::sim::fail(__VA_ARGS__))

// Coherent memory: the notify and wait instructions already order plain data, so nothing is left to do here.
inline void pld_cacheinvalid() {}
inline void pld_fence() {}
#endif

#include "pld/scalar.h"

// Address of the first element of tensor argument i.
template <class T>
AICORE inline __gm__ T* pld_arg(__gm__ int64_t* args, int i) {
  auto* t = reinterpret_cast<__gm__ ChipTensor*>(args[i]);
  return reinterpret_cast<__gm__ T*>(t->buffer.addr) + t->start_offset;
}

// Extent of an axis of tensor argument i, in elements.
AICORE inline int64_t pld_dim(__gm__ int64_t* args, int i, int axis) {
  return static_cast<int64_t>(reinterpret_cast<__gm__ ChipTensor*>(args[i])->shapes[axis]);
}

// Stride of an axis of tensor argument i, in elements.
AICORE inline int64_t pld_stride(__gm__ int64_t* args, int i, int axis) {
  return static_cast<int64_t>(reinterpret_cast<__gm__ ChipTensor*>(args[i])->strides[axis]);
}

// Scalar argument in slot `slot` of args (the number of tensors plus its own index).
template <class T>
AICORE inline T pld_scalar(__gm__ int64_t* args, int slot) {
  union {
    int64_t raw;
    T value;
  } u;
  u.raw = args[slot];
  return u.value;
}

// Communication context in slot `slot` of args.
AICORE inline __gm__ CommContext* pld_ctx(__gm__ int64_t* args, int slot) {
  return reinterpret_cast<__gm__ CommContext*>(args[slot]);
}
AICORE inline int32_t pld_rank(__gm__ CommContext* ctx) { return static_cast<int32_t>(ctx->rankId); }
AICORE inline int32_t pld_nranks(__gm__ CommContext* ctx) { return static_cast<int32_t>(ctx->rankNum); }

// What a task waits for at its end, registered in loops and branches on the way: at most 64 cells (pld.system.defer_wait).
class pld_deferred_waits {
 public:
  AICORE void add(__gm__ int32_t* cell, int32_t value, pto::comm::WaitCmp cmp, int line) {
    if (count_ == kMost) PLD_FAIL("a task registers more than %d deferred waits", kMost);
    items_[count_++] = {cell, value, cmp, line};
  }
  AICORE void wait() const {
    for (int i = 0; i < count_; ++i) {
      PLD_LOC(items_[i].line);
      pto::comm::Signal cell(items_[i].cell);
      pto::comm::TWAIT(cell, items_[i].value, items_[i].cmp);
    }
  }

 private:
  static constexpr int kMost = 64;
  struct Item {
    __gm__ int32_t* cell;
    int32_t value;
    pto::comm::WaitCmp cmp;
    int line;
  };
  Item items_[kMost] = {};
  int count_ = 0;
};

// The address on domain rank r that corresponds to the local window address p.
template <class T>
AICORE inline __gm__ T* pld_peer(__gm__ CommContext* ctx, __gm__ T* p, int64_t r) {
#ifndef PLD_TARGET_PTOISA
  if (r < 0 || r >= static_cast<int64_t>(ctx->rankNum)) ::pld::sim::fail_peer(r, ctx->rankNum);
#endif
  return reinterpret_cast<__gm__ T*>(ctx->windowsIn[r] +
                                     (reinterpret_cast<uint64_t>(p) - ctx->windowsIn[ctx->rankId]));
}
