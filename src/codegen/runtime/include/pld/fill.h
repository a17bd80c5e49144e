// Copyright The pldc authors. SPDX-License-Identifier: Apache-2.0
//
// The values of --random: floats are multiples of 1/8 in [-2, 2], so that sums and products are exact in any
// order, integers 0 to 7, BOOL 0 or 1; scalars the same, but at least 1. Element i of a parameter depends on
// the seed, the parameter's name and i only.
#pragma once
#include <cstring>

#include "pld/dtype.h"
#include "pld/half.h"

namespace pld::fill {

// The output function of SplitMix64 (Steele, Lea, Flood, "Fast splittable pseudorandom number generators",
// 2014).
constexpr uint64_t mix(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

// FNV-1a of the name, mixed with the seed.
constexpr uint64_t stream(uint64_t seed, const char* name) {
  uint64_t h = 0xcbf29ce484222325u;
  for (; *name != 0; ++name) h = (h ^ static_cast<unsigned char>(*name)) * 0x100000001b3u;
  return mix(seed + 0x9e3779b97f4a7c15u) ^ h;
}

constexpr uint64_t number(uint64_t stream, uint64_t i) {
  return mix(stream + (i + 1) * 0x9e3779b97f4a7c15u) >> 33;
}

constexpr bool is_float(DType d) { return d == f32 || d == f16 || d == bf16 || d == fp8e4m3; }

// The value as a double, for element i.
constexpr double value(DType dtype, uint64_t stream, uint64_t i, bool at_least_one = false) {
  const uint64_t n = number(stream, i);
  if (is_float(dtype)) {
    return at_least_one ? 1.0 + static_cast<double>(n % 9) / 8.0 : static_cast<double>(n % 33) / 8.0 - 2.0;
  }
  if (dtype == b8) return at_least_one ? 1.0 : static_cast<double>(n % 2);
  if (dtype == fp8e8m0) return 1.0;
  return at_least_one ? static_cast<double>(1 + n % 7) : static_cast<double>(n % 8);
}

// Stores a value as one element.
inline void store(DType dtype, double v, void* to) {
  const auto put = [to](auto x) { std::memcpy(to, &x, sizeof x); };
  switch (dtype) {
    case f32:
      return put(static_cast<float>(v));
    case f16:
      return put(half(static_cast<float>(v)));
    case bf16:
      return put(bfloat16_t(static_cast<float>(v)));
    case fp8e4m3:
      return put(float8_e4m3_t(static_cast<float>(v)));
    case i64:
      return put(static_cast<int64_t>(v));
    case u64:
      return put(static_cast<uint64_t>(v));
    case i32:
      return put(static_cast<int32_t>(v));
    case u32:
      return put(static_cast<uint32_t>(v));
    case i16:
      return put(static_cast<int16_t>(v));
    case u16:
      return put(static_cast<uint16_t>(v));
    case i8:
      return put(static_cast<int8_t>(v));
    case fp8e8m0:
      return put(static_cast<uint8_t>(127));
    default:
      return put(static_cast<uint8_t>(v));
  }
}

// One element as a double (64-bit integers beyond 2^53 lose bits).
inline double load(DType dtype, const void* from) {
  const auto get = [from](auto x) {
    std::memcpy(&x, from, sizeof x);
    return static_cast<double>(x);
  };
  switch (dtype) {
    case f32:
      return get(float{});
    case f16:
      return static_cast<double>(from_half_bits(static_cast<uint16_t>(get(uint16_t{}))));
    case bf16:
      return static_cast<double>(from_bf16_bits(static_cast<uint16_t>(get(uint16_t{}))));
    case fp8e4m3:
      return static_cast<double>(from_e4m3_bits(static_cast<uint8_t>(get(uint8_t{}))));
    case i64:
      return get(int64_t{});
    case u64:
      return get(uint64_t{});
    case i32:
      return get(int32_t{});
    case u32:
      return get(uint32_t{});
    case i16:
      return get(int16_t{});
    case u16:
      return get(uint16_t{});
    case i8:
      return get(int8_t{});
    default:
      return get(uint8_t{});
  }
}

}  // namespace pld::fill
