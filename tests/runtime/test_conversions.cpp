// Copyright The pldc authors. SPDX-License-Identifier: Apache-2.0
//
// Conversions between element types: rounding, saturation, in place.
#include <climits>

#include "pld/tensor.h"
#include "support/catch.h"
#include "tile_values.h"

using namespace pto;
using test::Part;
using test::Vec;

TEST_CASE("conversions to integers round by mode and saturate") {
  struct Case {
    float x;
    int want[5];  // rint, round, floor, ceil, trunc
  };
  const Case cases[] = {{2.5f, {2, 3, 2, 3, 2}}, {-2.5f, {-2, -3, -3, -2, -2}},
                        {1.2f, {1, 1, 1, 2, 1}}, {-1.8f, {-2, -2, -2, -1, -1}},
                        {3.0f, {3, 3, 3, 3, 3}}, {-0.5f, {0, -1, -1, 0, 0}}};
  const RoundMode modes[] = {RoundMode::CAST_RINT, RoundMode::CAST_ROUND, RoundMode::CAST_FLOOR,
                             RoundMode::CAST_CEIL, RoundMode::CAST_TRUNC};
  Vec<float, 1, 8> s;
  Vec<int32_t, 1, 8> d;
  TASSIGN(s, 0);
  TASSIGN(d, 0x100);
  for (const Case& c : cases) {
    for (int m = 0; m < 5; ++m) {
      TEXPANDS(s, c.x);
      TCVT(d, s, modes[m]);
      CHECK(d.at(0, 5) == c.want[m]);
    }
  }
  s.at(0, 0) = 3e9f, s.at(0, 1) = -3e9f, s.at(0, 2) = NAN, s.at(0, 3) = INFINITY, s.at(0, 4) = 2147483520.0f;
  TCVT(d, s, RoundMode::CAST_RINT);
  CHECK(d.at(0, 0) == INT_MAX);
  CHECK(d.at(0, 1) == INT_MIN);
  CHECK(d.at(0, 2) == 0);
  CHECK(d.at(0, 3) == INT_MAX);
  CHECK(d.at(0, 4) == 2147483520);
  Vec<float, 1, 32> w;
  Vec<int8_t, 1, 32> b;
  Vec<uint8_t, 1, 32> u;
  TASSIGN(w, 0);
  TASSIGN(b, 0x200);
  TASSIGN(u, 0x300);
  TEXPANDS(w, 200.0f);
  TCVT(b, w, RoundMode::CAST_RINT);
  TCVT(u, w, RoundMode::CAST_RINT);
  CHECK(b.at(0, 0) == 127);
  CHECK(u.at(0, 0) == 200);
  TEXPANDS(w, -5.0f);
  TCVT(u, w, RoundMode::CAST_RINT);
  CHECK(u.at(0, 0) == 0);
}

TEST_CASE("conversions between floats honour the mode on the target's grid") {
  Vec<float, 1, 16> s;
  Vec<half, 1, 16> h;
  Vec<bfloat16_t, 1, 16> b;
  TASSIGN(s, 0);
  TASSIGN(h, 0x100);
  TASSIGN(b, 0x200);
  const float x = 1.0f + 0x1p-10f / 4;  // a quarter of a half's unit above 1
  const auto as_half = [&](float v, RoundMode m) {
    TEXPANDS(s, v);
    TCVT(h, s, m);
    return h.at(0, 3).bits;
  };
  CHECK(as_half(x, RoundMode::CAST_RINT) == 0x3c00);
  CHECK(as_half(x, RoundMode::CAST_CEIL) == 0x3c01);
  CHECK(as_half(x, RoundMode::CAST_FLOOR) == 0x3c00);
  CHECK(as_half(x, RoundMode::CAST_TRUNC) == 0x3c00);
  CHECK(as_half(x, RoundMode::CAST_ODD) == 0x3c01);
  CHECK(as_half(-x, RoundMode::CAST_FLOOR) == 0xbc01);
  CHECK(as_half(-x, RoundMode::CAST_CEIL) == 0xbc00);
  CHECK(as_half(-x, RoundMode::CAST_TRUNC) == 0xbc00);
  CHECK(as_half(1.0f, RoundMode::CAST_ODD) == 0x3c00);
  CHECK(as_half(70000.0f, RoundMode::CAST_RINT) == 0x7c00);
  CHECK(as_half(70000.0f, RoundMode::CAST_TRUNC) == 0x7c00);
  CHECK(as_half(2e-8f, RoundMode::CAST_FLOOR) == 0x0000);
  CHECK(as_half(2e-8f, RoundMode::CAST_CEIL) == 0x0001);
  CHECK(as_half(-2e-8f, RoundMode::CAST_FLOOR) == 0x8001);
  TEXPANDS(s, 3.14159f);
  TCVT(b, s, RoundMode::CAST_RINT);
  CHECK(static_cast<float>(b.at(0, 0)) == 3.140625f);
  TCVT(h, b, RoundMode::CAST_RINT);
  CHECK(static_cast<float>(h.at(0, 0)) == 3.140625f);
}

TEST_CASE("conversions of integers, and in place") {
  Vec<int32_t, 2, 16> i;
  Vec<int16_t, 2, 16> n;
  Vec<float, 2, 16> f;
  TASSIGN(i, 0);
  TASSIGN(n, 0x400);
  TASSIGN(f, 0x800);
  TEXPANDS(i, 70000);
  TCVT(n, i, RoundMode::CAST_NONE);
  CHECK(n.at(1, 3) == static_cast<int16_t>(70000 - 65536));
  TEXPANDS(i, 16777217);
  TCVT(f, i, RoundMode::CAST_RINT);
  CHECK(f.at(1, 3) == 16777216.0f);
  // Wider than the source and in place; the buffers have the same pitch in elements.
  for (int r = 0; r < 2; ++r) {
    for (int c = 0; c < 16; ++c) n.at(r, c) = static_cast<int16_t>(100 * r + c - 50);
  }
  TASSIGN(i, 0x400);
  TCVT(i, n, RoundMode::CAST_NONE);
  bool right = true;
  for (int r = 0; r < 2; ++r) {
    for (int c = 0; c < 16; ++c) right = right && i.at(r, c) == 100 * r + c - 50;
  }
  CHECK(right);
  TCVT(n, i, RoundMode::CAST_NONE);  // narrower, in place
  CHECK(n.at(1, 15) == 65);
}
