// Copyright The pldc authors. SPDX-License-Identifier: Apache-2.0
//
// 16-bit and 8-bit floating types: storage in integers, arithmetic in float. Conversions round to nearest,
// ties to even; they have no branches, so loops over them vectorise, and give the same bits with every
// compiler.
#pragma once
#include <bit>
#include <cstdint>

namespace pld {

// Magnitudes are below 2^31, so that signed comparisons, which vector units have, do.
constexpr int32_t select(bool condition, int32_t yes, int32_t no) {
  return no ^ ((yes ^ no) & -static_cast<int32_t>(condition));
}

// IEEE 754 binary16.
constexpr uint16_t to_half_bits(float value) {
  const uint32_t u = std::bit_cast<uint32_t>(value);
  const int32_t a = static_cast<int32_t>(u & 0x7fffffffu);
  // Normal: add just under half a unit of the last kept bit (plus that bit: ties to even), then rebias the
  // exponent.
  const int32_t rounded = (a >> 13) + (((a & 0x1fff) + 0xfff + ((a >> 13) & 1)) >> 13) - (112 << 10);
  const int32_t normal = select(rounded > 0x7c00, 0x7c00, rounded);
  // Below 2^-14 the result counts units of 2^-24, which is the unit in the last place of 0.5: let the
  // addition round.
  const int32_t small = std::bit_cast<int32_t>(std::bit_cast<float>(a) + 0.5f) - 0x3f000000;
  const int32_t nan = 0x7e00 | ((a >> 13) & 0x1ff);
  const int32_t finite = select(a < 0x38800000, small, normal);
  return static_cast<uint16_t>(((u >> 16) & 0x8000u) |
                               static_cast<uint32_t>(select(a > 0x7f800000, nan, finite)));
}

constexpr float from_half_bits(uint16_t bits) {
  const uint32_t sign = static_cast<uint32_t>(bits & 0x8000u) << 16;
  const int32_t h = bits & 0x7fff;
  const int32_t normal = (h << 13) + (112 << 23);
  const int32_t special = (h << 13) | 0x7f800000 | select(h > 0x7c00, 0x400000, 0);
  const int32_t small = std::bit_cast<int32_t>(static_cast<float>(h) * 0x1p-24f);
  const int32_t magnitude = select(h < 0x400, small, select(h >= 0x7c00, special, normal));
  return std::bit_cast<float>(sign | static_cast<uint32_t>(magnitude));
}

// bfloat16: the upper half of a binary32.
constexpr uint16_t to_bf16_bits(float value) {
  const uint32_t u = std::bit_cast<uint32_t>(value);
  const int32_t a = static_cast<int32_t>(u & 0x7fffffffu);
  const int32_t rounded = (a >> 16) + (((a & 0xffff) + 0x7fff + ((a >> 16) & 1)) >> 16);
  const int32_t nan = (a >> 16) | 0x40;
  return static_cast<uint16_t>(((u >> 16) & 0x8000u) |
                               static_cast<uint32_t>(select(a > 0x7f800000, nan, rounded)));
}
constexpr float from_bf16_bits(uint16_t bits) {
  return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16);
}

// FP8 E4M3FN: bias 7, no infinities, 0x7f is NaN; saturates to 448.
constexpr uint8_t to_e4m3_bits(float value) {
  const uint32_t u = std::bit_cast<uint32_t>(value);
  const uint32_t sign = (u >> 24) & 0x80u;
  const uint32_t a = u & 0x7fffffffu;
  const uint32_t rounded = ((a + 0x7ffffu + ((a >> 20) & 1u)) >> 20) - (120u << 3);
  const uint32_t normal = rounded > 0x7eu ? 0x7eu : rounded;
  // Below 2^-6 the result counts units of 2^-9, the unit in the last place of 2^14.
  const uint32_t small = std::bit_cast<uint32_t>(std::bit_cast<float>(a) + 0x1p14f) - 0x46800000u;
  const uint32_t finite = a < 0x3c800000u ? small : normal;
  return static_cast<uint8_t>(sign | (a > 0x7f800000u ? 0x7fu : finite));
}
constexpr float from_e4m3_bits(uint8_t bits) {
  const uint32_t sign = static_cast<uint32_t>(bits & 0x80u) << 24;
  const uint32_t h = bits & 0x7fu;
  const uint32_t normal = (h << 20) + (120u << 23);
  const uint32_t small = std::bit_cast<uint32_t>(static_cast<float>(static_cast<int32_t>(h)) * 0x1p-9f);
  const uint32_t magnitude = h == 0x7fu ? 0x7fc00000u : (h < 8u ? small : normal);
  return std::bit_cast<float>(sign | magnitude);
}

}  // namespace pld

struct half {
  uint16_t bits;
  half() = default;
  constexpr half(float value) : bits(pld::to_half_bits(value)) {}  // NOLINT: implicit, as the device type
  constexpr operator float() const { return pld::from_half_bits(bits); }
};

struct bfloat16_t {
  uint16_t bits;
  bfloat16_t() = default;
  constexpr bfloat16_t(float value)
      : bits(pld::to_bf16_bits(value)) {}  // NOLINT: implicit, as the device type
  constexpr operator float() const { return pld::from_bf16_bits(bits); }
};

struct float8_e4m3_t {
  uint8_t bits;
  float8_e4m3_t() = default;
  constexpr float8_e4m3_t(float value) : bits(pld::to_e4m3_bits(value)) {}  // NOLINT: implicit
  constexpr operator float() const { return pld::from_e4m3_bits(bits); }
};

// A power-of-two scale 2^(bits - 127); 255 is NaN.
struct float8_e8m0_t {
  uint8_t bits;
  float8_e8m0_t() = default;
  constexpr operator float() const {
    const uint32_t e = bits;
    return std::bit_cast<float>(e == 255u ? 0x7fc00000u : (e == 0u ? 0x00400000u : e << 23));
  }
};

static_assert(sizeof(half) == 2 && sizeof(bfloat16_t) == 2 && sizeof(float8_e4m3_t) == 1);
