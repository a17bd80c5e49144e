// Copyright The pldc authors. SPDX-License-Identifier: Apache-2.0
//
// Tiles of tests and sample values for them.
#pragma once
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "pld/kernel.h"

namespace test {

// Vector tiles, whole and with a valid box of their own.
template <class T, int R, int C>
using Vec = pto::Tile<pto::TileType::Vec, T, R, C>;
template <class T, int R, int C>
using Part = pto::Tile<pto::TileType::Vec, T, R, C, pto::BLayout::RowMajor, -1, -1>;

// A repeatable pseudo-random stream (a linear congruential generator with the constants of Knuth's MMIX).
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed * 2 + 1) {}
  uint64_t next() {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    return state_ >> 24;
  }

 private:
  uint64_t state_;
};

// Floats: multiples of 1/8 in [-16, 16] and now and then a special value; integers: all bits.
template <class T>
T sample(Random& r, bool special = false) {
  const uint64_t x = r.next();
  if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(x);
  } else {
    if (special && x % 13 == 0) {
      static const float kSpecial[] = {0.0f, -0.0f, INFINITY, -INFINITY, 1e-7f, 60000.0f, -6e-8f};
      return static_cast<T>(kSpecial[x / 13 % 7]);
    }
    return static_cast<T>((static_cast<float>(x % 257) - 128.0f) / 8.0f);
  }
}

template <class Tile>
void fill(Tile& t, Random& r, bool special = false) {
  for (int64_t i = 0; i < Tile::Rows; ++i) {
    for (int64_t j = 0; j < Tile::Cols; ++j) t.at(i, j) = sample<typename Tile::DType>(r, special);
  }
}

// Equal bits, or both NaN.
template <class T>
bool same(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    return a == b;
  } else {
    const float x = static_cast<float>(a), y = static_cast<float>(b);
    return (std::isnan(x) && std::isnan(y)) || (x == y && std::signbit(x) == std::signbit(y));
  }
}

}  // namespace test
