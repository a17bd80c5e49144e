// Copyright The pldc authors. SPDX-License-Identifier: Apache-2.0
//
// The exponential function without branches and calls, so that loops over it vectorise.
#pragma once
#include <bit>
#include <cstdint>

namespace pto::impl {

// Within 1.01 units in the last place; exact at 0 and for infinities, gradual underflow, a NaN stays one.
//
// x = k ln 2 + r with |r| <= ln 2 / 2, then the Taylor series of e^r up to r^7 (the rest is below 2^-27), then times 2^k
// in two steps, which also reach the subnormal numbers. Cody and Waite's split of ln 2: k times its first part is exact.
inline float exp(float x) {
  const float low = x < -104.0f ? -104.0f : x;
  const float in = low > 89.0f ? 89.0f : low;
  constexpr float kShift =
      12582912.0f;  // 1.5 * 2^23: adding it rounds to an integer, which stands in the low bits
  const float shifted = in * 1.44269504f + kShift;
  const float k = shifted - kShift;
  const float r = (in - k * 0.693359375f) - k * -2.12194440e-4f;
  const float tail =
      0.5f + r * (1.6666667e-1f +
                  r * (4.1666668e-2f + r * (8.3333338e-3f + r * (1.3888889e-3f + r * 1.9841270e-4f))));
  const float power = 1.0f + (r + r * r * tail);
  const int32_t n = std::bit_cast<int32_t>(shifted) - std::bit_cast<int32_t>(kShift);
  const int32_t half = n >> 1;
  return power * std::bit_cast<float>((half + 127) << 23) * std::bit_cast<float>((n - half + 127) << 23);
}

}  // namespace pto::impl
