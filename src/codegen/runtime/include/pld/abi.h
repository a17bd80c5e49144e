// Copyright The pldc authors. SPDX-License-Identifier: Apache-2.0
//
// Binary interface between host, chip orchestration and kernels: plain structures whose layout is fixed by
// the official runtime (the numbers are those that its public headers document). The embedded runtime uses
// the same layout so that one kernel text works with both.
//
// kernel_entry(int64_t* args):
//   args[0 .. T-1]    addresses of ChipTensor, in parameter order
//   args[T .. T+S-1]  scalars, each in the low bytes of 8; a communication context is the address of a
//   CommContext args[48]          address of a LocalContext (SPMD block identity) args[49]          address
//   of a GlobalContext (vector lane)
#pragma once
#include <cstddef>
#include <cstdint>

#ifndef __gm__
#define __gm__
#endif
#ifndef __aicore__
#define __aicore__
#endif
#ifndef AICORE
#define AICORE
#endif

enum class DataType : uint8_t {
  FLOAT32 = 0,
  FLOAT16 = 1,
  INT32 = 2,
  INT16 = 3,
  INT8 = 4,
  UINT8 = 5,
  BFLOAT16 = 6,
  INT64 = 7,
  UINT64 = 8,
  UINT16 = 9,
  UINT32 = 10,
  BOOL = 11,
  FP8E4M3FN = 12,
  FP8E8M0 = 13,
  FP4E2M1 = 14,
};

// Limits of the official runtime.
inline constexpr int kPldMaxRank = 5;             // axes of a tensor
inline constexpr int kPldMaxKernelTensors = 32;   // tensors of one kernel
inline constexpr int kPldMaxKernelScalars = 16;   // scalars of one kernel
inline constexpr int kPldMaxDomainRanks = 64;     // ranks of one communication domain
inline constexpr int kPldLocalContextSlot = 48;   // args[] index of the LocalContext
inline constexpr int kPldGlobalContextSlot = 49;  // args[] index of the GlobalContext
inline constexpr int kPldArgSlots = 50;           // length of args[]

// A strided view of device memory. Shapes, strides, start_offset and extent count elements; buffer.size
// counts bytes. Does not own the memory.
struct alignas(64) ChipTensor {
  struct Buffer {
    uint64_t addr;
    uint64_t size;
  };
  Buffer buffer;           // the whole allocation
  uint64_t owner_task_id;  // task that produced the buffer
  uint64_t start_offset;   // first element of the view
  int32_t version;
  uint32_t ndims;  // 1 .. 5
  DataType dtype;
  uint8_t manual_dep;
  uint8_t is_contiguous;
  uint8_t address_space;  // 0 host, 1 device (windows)
  uint32_t shapes[kPldMaxRank];
  uint64_t extent;  // elements from the first to one past the last of the view
  uint32_t strides[kPldMaxRank];
  uint8_t pad[36];

  // The box of the given shape at the given offsets (both of ndims elements); it shares the memory.
  ChipTensor view(const uint32_t* view_shapes, const uint32_t* offsets) const {
    ChipTensor v = *this;
    v.extent = 1;
    bool packed = true;
    uint64_t expected = 1;
    for (uint32_t i = ndims; i-- > 0;) {
      v.shapes[i] = view_shapes[i];
      v.start_offset += uint64_t{offsets[i]} * strides[i];
      if (view_shapes[i] == 0) {
        v.extent = 0;
      } else if (v.extent != 0) {
        v.extent += uint64_t{view_shapes[i] - 1} * strides[i];
      }
      packed = packed && (view_shapes[i] <= 1 || strides[i] == expected);
      expected *= view_shapes[i];
    }
    v.is_contiguous = packed ? 1 : 0;
    return v;
  }
};

// One rank's view of a communication domain. windowsIn[i] is the address, valid in this process, of the
// window of domain rank i; the same offset means the same slot on every rank.
struct CommContext {
  uint64_t workSpace;
  uint64_t workSpaceSize;
  uint32_t rankId;   // own index within the domain
  uint32_t rankNum;  // ranks of the domain
  uint64_t winSize;  // bytes of one window
  uint64_t windowsIn[kPldMaxDomainRanks];
  uint64_t windowsOut[kPldMaxDomainRanks];  // the same addresses as windowsIn
};

struct LocalContext {
  int32_t block_idx;
  int32_t block_num;
  uint64_t async_ctx[4];
};

struct GlobalContext {
  int32_t sub_block_id;
  uint64_t dma_workspace[4];
};

// What a chip orchestration says about itself.
struct PTO2OrchestrationConfig {
  int32_t expected_arg_count;  // tensors and scalars; fewer are refused
};

#define PLD_ABI_CHECKS                                                                          \
  static_assert(sizeof(ChipTensor) == 128 && alignof(ChipTensor) == 64);                        \
  static_assert(offsetof(ChipTensor, buffer) == 0 && offsetof(ChipTensor, start_offset) == 24); \
  static_assert(offsetof(ChipTensor, version) == 32 && offsetof(ChipTensor, ndims) == 36);      \
  static_assert(offsetof(ChipTensor, dtype) == 40 && offsetof(ChipTensor, shapes) == 44);       \
  static_assert(offsetof(ChipTensor, strides) == 72);                                           \
  static_assert(sizeof(CommContext) == 1056 && offsetof(CommContext, rankId) == 16);            \
  static_assert(offsetof(CommContext, rankNum) == 20 && offsetof(CommContext, winSize) == 24);  \
  static_assert(offsetof(CommContext, windowsIn) == 32 && offsetof(CommContext, windowsOut) == 544)

PLD_ABI_CHECKS;
static_assert(offsetof(ChipTensor, owner_task_id) == 16 && offsetof(ChipTensor, manual_dep) == 41);
static_assert(offsetof(ChipTensor, is_contiguous) == 42 && offsetof(ChipTensor, address_space) == 43);
static_assert(offsetof(ChipTensor, extent) == 64);
static_assert(offsetof(LocalContext, block_idx) == 0 && offsetof(LocalContext, block_num) == 4);
static_assert(offsetof(GlobalContext, sub_block_id) == 0);

inline int32_t get_block_idx(const int64_t* args) {
  return reinterpret_cast<const LocalContext*>(args[kPldLocalContextSlot])->block_idx;
}
inline int32_t get_block_num(const int64_t* args) {
  return reinterpret_cast<const LocalContext*>(args[kPldLocalContextSlot])->block_num;
}
inline int32_t get_sub_block_id(const int64_t* args) {
  return reinterpret_cast<const GlobalContext*>(args[kPldGlobalContextSlot])->sub_block_id;
}
