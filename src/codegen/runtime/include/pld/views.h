// Copyright The pldc authors. SPDX-License-Identifier: Apache-2.0
//
// Views of tensors in a chip orchestration: new descriptors of the same memory. Only fields that the official ChipTensor has too
// are used, so this serves both libraries. Included by orch.h.
#pragma once
#include <cstdint>
#include <initializer_list>

// Stands for an absent part of MixedKernels.
inline constexpr int32_t kInvalidKernel = -1;

// A view that does not exist ends the run; the official library has nowhere to write why.
#ifdef PLD_TARGET_PTOISA
#define PLD_VIEW_FAIL(...) __builtin_trap()
#else
#define PLD_VIEW_FAIL(...) (::pld::sim::fail(__VA_ARGS__))
#endif

// An extent or offset of a tensor, of which a descriptor has 32 bits.
template <class T>
inline uint32_t pld_u32(T value) {
  if (value < 0 || static_cast<uint64_t>(value) > 0xffffffff) {
    PLD_VIEW_FAIL("an extent or offset is %lld; it must be from 0 to 4294967295",
                  static_cast<long long>(value));
  }
  return static_cast<uint32_t>(value);
}
// Removes axes of extent 1.
inline ChipTensor pld_drop(const ChipTensor& t, std::initializer_list<int64_t> axes) {
  ChipTensor v = t;
  v.ndims = 0;
  for (uint32_t i = 0; i < t.ndims; ++i) {
    bool drop = false;
    for (int64_t a : axes) drop = drop || a == static_cast<int64_t>(i);
    if (drop && t.shapes[i] != 1) PLD_VIEW_FAIL("axis %u of extent %u cannot be dropped", i, t.shapes[i]);
    if (drop) continue;
    v.shapes[v.ndims] = t.shapes[i];
    v.strides[v.ndims++] = t.strides[i];
  }
  return v;
}
// The part of t that begins at its first element.
inline ChipTensor pld_valid(const ChipTensor& t, std::initializer_list<int64_t> extents) {
  ChipTensor v = t;
  uint32_t i = 0;
  for (int64_t e : extents) {
    if (i >= t.ndims || e < 0 || e > static_cast<int64_t>(t.shapes[i])) {
      PLD_VIEW_FAIL("a valid extent of %lld does not fit dimension %u", static_cast<long long>(e), i);
    }
    if (e != static_cast<int64_t>(t.shapes[i])) v.is_contiguous = 0;
    v.shapes[i++] = static_cast<uint32_t>(e);
  }
  return v;
}
// The same elements, row-major, under another shape; t must be packed.
inline ChipTensor pld_reshape(const ChipTensor& t, std::initializer_list<int64_t> extents) {
  if (t.is_contiguous == 0) PLD_VIEW_FAIL("only a packed tensor can be reshaped");
  if (extents.size() < 1 || extents.size() > 5) PLD_VIEW_FAIL("a tensor has 1 to 5 axes");
  ChipTensor v = t;
  v.ndims = static_cast<uint32_t>(extents.size());
  uint64_t before = 1, after = 1;
  for (uint32_t i = 0; i < t.ndims; ++i) before *= t.shapes[i];
  uint32_t i = 0;
  for (int64_t e : extents) v.shapes[i++] = pld_u32(e);
  for (i = v.ndims; i-- > 0;) {
    v.strides[i] = static_cast<uint32_t>(after == 0 ? 1 : after);
    if (__builtin_mul_overflow(after, uint64_t{v.shapes[i]}, &after)) after = ~uint64_t{0};
  }
  if (before != after) {
    PLD_VIEW_FAIL("cannot reshape %llu elements into %llu", static_cast<unsigned long long>(before),
                  static_cast<unsigned long long>(after));
  }
  return v;
}
inline ChipTensor pld_transpose(const ChipTensor& t, int32_t a, int32_t b) {
  ChipTensor v = t;
  v.shapes[a] = t.shapes[b];
  v.shapes[b] = t.shapes[a];
  v.strides[a] = t.strides[b];
  v.strides[b] = t.strides[a];
  v.is_contiguous = 0;
  return v;
}
// An index of an array of n cells.
inline int64_t pld_cell(int64_t i, int64_t n) {
  if (i < 0 || i >= n) {
    PLD_VIEW_FAIL("an array of %lld cells has no cell %lld", static_cast<long long>(n),
                  static_cast<long long>(i));
  }
  return i;
}
