// Copyright The pldc authors. SPDX-License-Identifier: Apache-2.0
//
// Conversions of the small float types against references that work with exact arithmetic on doubles.
#include <cmath>
#include <cstring>
#include <limits>

#include "pld/half.h"
#include "support/catch.h"

namespace {

// A format with `bits` mantissa bits and exponent bias `bias`; every finite value is an integer times 2^(1 -
// bias - bits).
struct Format {
  int exponent_bits;
  int mantissa_bits;
  bool has_infinity;
};

double decode(const Format& f, unsigned code) {
  const int bias = (1 << (f.exponent_bits - 1)) - 1;
  const unsigned mantissa = code & ((1u << f.mantissa_bits) - 1);
  const int exponent = static_cast<int>((code >> f.mantissa_bits) & ((1u << f.exponent_bits) - 1));
  const double sign = (code >> (f.exponent_bits + f.mantissa_bits)) & 1 ? -1.0 : 1.0;
  if (f.has_infinity && exponent == (1 << f.exponent_bits) - 1) {
    return mantissa == 0 ? sign * INFINITY : std::numeric_limits<double>::quiet_NaN();
  }
  if (exponent == 0) return sign * std::ldexp(mantissa, 1 - bias - f.mantissa_bits);
  return sign * std::ldexp((1u << f.mantissa_bits) + mantissa, exponent - bias - f.mantissa_bits);
}

// Nearest, ties to even, by scaling to integers.
unsigned encode(const Format& f, double x) {
  const int bias = (1 << (f.exponent_bits - 1)) - 1;
  const unsigned sign = std::signbit(x) ? 1u << (f.exponent_bits + f.mantissa_bits) : 0;
  const double a = std::fabs(x);
  const unsigned infinity = ((1u << f.exponent_bits) - 1) << f.mantissa_bits;
  if (a == 0) return sign;
  if (std::isinf(a)) return sign | infinity;
  int e = 0;
  std::frexp(a, &e);  // a = m * 2^e, m in [0.5, 1)
  int exponent = e - 1 + bias;
  if (exponent < 1) exponent = 1;
  const double units = std::nearbyint(std::ldexp(a, f.mantissa_bits + bias - exponent));
  const unsigned code =
      static_cast<unsigned>(units) + (static_cast<unsigned>(exponent - 1) << f.mantissa_bits);
  return sign | (code > infinity ? infinity : code);
}

float float_of(uint32_t bits) {
  float f;
  std::memcpy(&f, &bits, 4);
  return f;
}
uint32_t bits_of(float f) {
  uint32_t u;
  std::memcpy(&u, &f, 4);
  return u;
}

constexpr Format kHalf{5, 10, true};
constexpr Format kBf16{8, 7, true};

// Every code point, the midpoints between neighbours, and the floats next to both.
template <class To>
long check_neighbourhoods(const Format& f, To to) {
  long wrong = 0;
  for (unsigned code = 0; code < 0x10000; ++code) {
    const double x = decode(f, code);
    if (std::isnan(x)) continue;
    const double next = decode(f, (code & 0x8000u) | ((code + 1) & 0x7fffu));
    const double mid = std::isfinite(next) && std::isfinite(x) ? (x + next) / 2 : x;
    for (double centre : {x, mid}) {
      const float c = static_cast<float>(centre);
      for (float v : {c, std::nextafterf(c, INFINITY), std::nextafterf(c, -INFINITY)}) {
        if (to(v) != encode(f, static_cast<double>(v))) ++wrong;
      }
    }
  }
  return wrong;
}

}  // namespace

TEST_CASE("half to float is exact for all bit patterns") {
  long wrong = 0;
  for (unsigned code = 0; code < 0x10000; ++code) {
    const double want = decode(kHalf, code);
    const float got = pld::from_half_bits(static_cast<uint16_t>(code));
    if (std::isnan(want)) {
      // The payload moves up, the quiet bit is set.
      const uint32_t expected = ((code & 0x8000u) << 16) | 0x7fc00000u | ((code & 0x3ffu) << 13);
      if (bits_of(got) != expected) ++wrong;
    } else if (bits_of(got) != bits_of(static_cast<float>(want))) {
      ++wrong;
    }
  }
  CHECK(wrong == 0);
}

TEST_CASE("float to half rounds to nearest even") {
  CHECK(check_neighbourhoods(kHalf, [](float v) { return pld::to_half_bits(v); }) == 0);
  long wrong = 0;
  for (uint64_t u = 0; u < (uint64_t{1} << 32); u += 1021) {
    const float v = float_of(static_cast<uint32_t>(u));
    if (std::isnan(v)) continue;
    if (pld::to_half_bits(v) != encode(kHalf, static_cast<double>(v))) ++wrong;
  }
  CHECK(wrong == 0);
}

TEST_CASE("float to bfloat16 rounds to nearest even") {
  CHECK(check_neighbourhoods(kBf16, [](float v) { return pld::to_bf16_bits(v); }) == 0);
  long wrong = 0;
  for (uint64_t u = 0; u < (uint64_t{1} << 32); u += 1021) {
    const float v = float_of(static_cast<uint32_t>(u));
    if (std::isnan(v)) continue;
    if (pld::to_bf16_bits(v) != encode(kBf16, static_cast<double>(v))) ++wrong;
  }
  CHECK(wrong == 0);
}

#if defined(__FLT16_MANT_DIG__) && !defined(__clang__)
TEST_CASE("float to half agrees with the compiler's type") {
  long wrong = 0;
  for (uint64_t u = 0; u < (uint64_t{1} << 32); u += 509) {
    const float v = float_of(static_cast<uint32_t>(u));
    if (std::isnan(v)) continue;
    const _Float16 h = static_cast<_Float16>(v);
    uint16_t want;
    std::memcpy(&want, &h, 2);
    if (pld::to_half_bits(v) != want) ++wrong;
  }
  CHECK(wrong == 0);
}
#endif

TEST_CASE("NaN stays NaN and keeps its sign") {
  for (uint32_t u : {0x7f800001u, 0x7fc00000u, 0xffffffffu, 0xff800001u}) {
    CHECK(std::isnan(static_cast<float>(half(float_of(u)))));
    CHECK(std::isnan(static_cast<float>(bfloat16_t(float_of(u)))));
    CHECK((half(float_of(u)).bits >> 15) == (u >> 31));
    CHECK((bfloat16_t(float_of(u)).bits >> 15) == (u >> 31));
  }
}

TEST_CASE("bfloat16 to float is exact") {
  for (unsigned code = 0; code < 0x10000; ++code) {
    if (bits_of(pld::from_bf16_bits(static_cast<uint16_t>(code))) != code << 16) FAIL(code);
  }
}

TEST_CASE("FP8 E4M3 conversions") {
  constexpr Format kE4m3{4, 3, false};
  for (unsigned code = 0; code < 0x100; ++code) {
    const float got = pld::from_e4m3_bits(static_cast<uint8_t>(code));
    if ((code & 0x7f) == 0x7f) {
      CHECK(std::isnan(got));
      continue;
    }
    CHECK(static_cast<double>(got) == decode(kE4m3, code));
    CHECK(pld::to_e4m3_bits(got) == code);
    if ((code & 0x7f) >= 0x7e) continue;
    const double mid = (decode(kE4m3, code) + decode(kE4m3, code + 1)) / 2;  // to the even neighbour
    CHECK(pld::to_e4m3_bits(static_cast<float>(mid)) == (code % 2 == 0 ? code : code + 1));
  }
  CHECK(pld::to_e4m3_bits(1e9f) == 0x7e);
  CHECK(pld::to_e4m3_bits(-INFINITY) == 0xfe);
}

TEST_CASE("half arithmetic of every pair of a sample rounds once") {
  // float holds sums and products of halves with enough bits that rounding twice is harmless: compare with
  // double.
  long wrong = 0;
  for (unsigned a = 0; a < 0x7c00; a += 37) {
    for (unsigned b = 3; b < 0xfc00; b += 101) {
      const half x = std::bit_cast<half>(static_cast<uint16_t>(a)),
                 y = std::bit_cast<half>(static_cast<uint16_t>(b));
      const double dx = static_cast<double>(static_cast<float>(x)),
                   dy = static_cast<double>(static_cast<float>(y));
      if (std::isnan(dy)) continue;
      if (half(x + y).bits != encode(kHalf, dx + dy) && dx + dy != 0) ++wrong;
      if (half(x * y).bits != encode(kHalf, dx * dy)) ++wrong;
      if (dy != 0 && half(x / y).bits != encode(kHalf, dx / dy)) ++wrong;
    }
  }
  CHECK(wrong == 0);
}
