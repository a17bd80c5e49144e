// Copyright The pldc authors. SPDX-License-Identifier: Apache-2.0
//
// TCVT: conversion between element types with a rounding mode.
#pragma once
#include <limits>

#include "pld/pto_types.h"

namespace pto {
namespace impl {

// A real number to an integral value, still as a double. The mode is a constant once this is inlined.
inline double to_grid(double x, RoundMode mode) {
  switch (mode) {
    case RoundMode::CAST_RINT:
      return __builtin_nearbyint(x);
    case RoundMode::CAST_ROUND:
      return __builtin_round(x);
    case RoundMode::CAST_FLOOR:
      return __builtin_floor(x);
    case RoundMode::CAST_CEIL:
      return __builtin_ceil(x);
    case RoundMode::CAST_ODD: {
      const double t = __builtin_trunc(x);
      return t != x && __builtin_fmod(t, 2.0) == 0.0 ? t + (x < 0 ? -1.0 : 1.0) : t;
    }
    default:
      return __builtin_trunc(x);
  }
}

// Out of range saturates, NaN gives 0.
template <class D>
inline D saturate(double x) {
  constexpr double kLow = static_cast<double>(std::numeric_limits<D>::min());
  // One more than the maximum, which for 64 bits is not itself a double.
  constexpr double kLimit = sizeof(D) == 8 ? (std::is_signed_v<D> ? 0x1p63 : 0x1p64)
                                           : static_cast<double>(std::numeric_limits<D>::max()) + 1.0;
  if (!(x == x)) return D{0};
  if (x <= kLow) return std::numeric_limits<D>::min();
  if (x >= kLimit) return std::numeric_limits<D>::max();
  return static_cast<D>(x);
}

// float to half or bfloat16 under a directed mode: the nearest value, moved by one step where the mode asks.
// CAST_ROUND may give either neighbour on a tie and takes the even one; what overflows is infinite in every
// mode.
template <class D>
inline D narrow_float(float x, RoundMode mode) {
  const D nearest = static_cast<D>(x);
  if (mode == RoundMode::CAST_RINT || mode == RoundMode::CAST_NONE || mode == RoundMode::CAST_ROUND)
    return nearest;
  const float back = static_cast<float>(nearest);
  if (!(x == x) || back == x || __builtin_isinf(back)) return nearest;
  // The neighbour toward zero, then whether to take the next one away from it. The order of the bits without
  // the sign is the order of the magnitudes.
  const uint32_t magnitude = nearest.bits & 0x7fffu;
  const uint32_t lower = __builtin_fabsf(back) > __builtin_fabsf(x) ? magnitude - 1 : magnitude;
  const bool away = (mode == RoundMode::CAST_FLOOR && x < 0) || (mode == RoundMode::CAST_CEIL && x > 0) ||
                    (mode == RoundMode::CAST_ODD && (lower & 1u) == 0);
  D out;
  out.bits = static_cast<uint16_t>((lower + (away ? 1u : 0u)) | (x < 0 ? 0x8000u : 0u));
  return out;
}

template <class D, class S>
inline D convert(S x, [[maybe_unused]] RoundMode mode) {
  if constexpr (std::is_same_v<D, S>) {
    return x;
  } else if constexpr (std::is_same_v<D, bool>) {
    return x != S{};
  } else if constexpr (is_float<S> && (std::is_same_v<D, half> || std::is_same_v<D, bfloat16_t>)) {
    return narrow_float<D>(static_cast<float>(x), mode);
  } else if constexpr (is_float<S> && !is_float<D>) {
    return saturate<D>(to_grid(static_cast<double>(static_cast<float>(x)), mode));
  } else if constexpr (is_float<D>) {
    return static_cast<D>(static_cast<float>(x));  // integers beyond float's precision round to nearest even
  } else {
    return static_cast<D>(x);  // narrowing keeps the low bits
  }
}

}  // namespace impl

template <class D, class S>
inline void TCVT(const D& d, const S& s, RoundMode mode, SaturationMode = SaturationMode::ON) {
  using T = typename D::DType;
  using F = typename S::DType;
  const auto f = [mode](F x) -> T { return impl::convert<T>(x, mode); };
  if constexpr (sizeof(T) > sizeof(F)) {
    // In place a wider result overruns its source: go from the end.
    if (static_cast<const void*>(d.data()) == static_cast<const void*>(s.data())) {
      impl::check_covers("TCVT", d, s);
      for (int64_t r = d.GetValidRow(); r-- > 0;) {
        for (int64_t c = d.GetValidCol(); c-- > 0;) d.at(r, c) = f(s.at(r, c));
      }
      return;
    }
  }
  impl::map("TCVT", f, d, s);
}

}  // namespace pto
