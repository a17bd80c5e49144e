// Copyright The pldc authors. SPDX-License-Identifier: Apache-2.0
//
// Elementwise operations against the plain formula, for every element type, on full, partial, column and
// in-place tiles.

#include "pld/tensor.h"
#include "support/catch.h"
#include "tile_values.h"

using namespace pto;

namespace {

template <class T>
using Full = Tile<TileType::Vec, T, 7, 64>;
template <class T>
using Part = Tile<TileType::Vec, T, 7, 64, BLayout::RowMajor, -1, -1>;
template <class T>
using Column = Tile<TileType::Vec, T, 64, 1, BLayout::ColMajor>;

// The formulas, in double for floats (exact for these operations up to one rounding) and in 64 bits for
// integers.
template <class T>
T round_to(double x) {
  return static_cast<T>(static_cast<float>(x));
}
template <class T, class F, class I>
T binary(T a, T b, F f, I i) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(i(static_cast<int64_t>(a), static_cast<int64_t>(b)));
  } else {
    return round_to<T>(
        f(static_cast<double>(static_cast<float>(a)), static_cast<double>(static_cast<float>(b))));
  }
}

// Runs op(d, a, b) on all shapes and compares with ref(a, b) inside and with the old contents outside of the
// valid box.
template <class T, class Op, class Ref>
void check_binary(Op op, Ref ref, bool special = true) {
  test::Random r(sizeof(T));
  long wrong = 0;
  const auto run = [&](auto d, auto a, auto b, int64_t rows, int64_t cols) {
    using D = decltype(d);
    TASSIGN(a, 0x0);
    TASSIGN(b, 0x4000);
    test::fill(a, r, special);
    test::fill(b, r, special);
    std::vector<T> x, y, old;
    TASSIGN(d, 0x8000);
    test::fill(d, r);
    for (int64_t i = 0; i < D::Rows; ++i) {
      for (int64_t j = 0; j < D::Cols; ++j)
        x.push_back(a.at(i, j)), y.push_back(b.at(i, j)), old.push_back(d.at(i, j));
    }
    const auto compare = [&](const std::vector<T>& outside) {
      size_t k = 0;
      for (int64_t i = 0; i < D::Rows; ++i) {
        for (int64_t j = 0; j < D::Cols; ++j, ++k) {
          const T want = i < rows && j < cols ? ref(x[k], y[k]) : outside[k];
          if (!test::same(d.at(i, j), want)) ++wrong;
        }
      }
    };
    op(d, a, b);
    compare(old);
    TASSIGN(d, 0x0);  // in place of a
    op(d, a, b);
    compare(x);
  };
  run(Full<T>(), Full<T>(), Full<T>(), 7, 64);
  run(Part<T>(5, 23), Part<T>(5, 23), Part<T>(6, 40), 5, 23);
  run(Part<T>(3, 64), Full<T>(), Full<T>(), 3, 64);
  run(Part<T>(0, 0), Full<T>(), Full<T>(), 0, 0);
  run(Column<T>(), Column<T>(), Column<T>(), 64, 1);
  CHECK(wrong == 0);
}

template <class T, class Op, class Ref>
void check_scalar(Op op, Ref ref, T s) {
  test::Random r(3);
  Part<T> d(6, 50), a(6, 50);
  TASSIGN(a, 0x0);
  TASSIGN(d, 0x8000);
  test::fill(a, r, true);
  test::fill(d, r);
  op(d, a, s);
  long wrong = 0;
  for (int64_t i = 0; i < 6; ++i) {
    for (int64_t j = 0; j < 50; ++j) wrong += test::same(d.at(i, j), ref(a.at(i, j), s)) ? 0 : 1;
  }
  CHECK(wrong == 0);
}

#define OP2(NAME) [](auto& d, auto& a, auto& b) { NAME(d, a, b); }
#define OP2T(NAME) [](auto& d, auto& a, auto& b) { NAME(d, a, b, d); }
#define OPS(NAME) [](auto& d, auto& a, auto y) { NAME(d, a, y); }
#define OPST(NAME) [](auto& d, auto& a, auto y) { NAME(d, a, y, d); }

}  // namespace

TEMPLATE_TEST_CASE("add, subtract, multiply", "", float, half, bfloat16_t, int8_t, uint8_t, int16_t, uint16_t,
                   int32_t, uint32_t, int64_t, uint64_t) {
  using T = TestType;
  using U = uint64_t;
  const auto add = [](T a, T b) {
    return binary(
        a, b, [](double x, double y) { return x + y; }, [](int64_t x, int64_t y) { return U(x) + U(y); });
  };
  const auto sub = [](T a, T b) {
    return binary(
        a, b, [](double x, double y) { return x - y; }, [](int64_t x, int64_t y) { return U(x) - U(y); });
  };
  const auto mul = [](T a, T b) {
    return binary(
        a, b, [](double x, double y) { return x * y; }, [](int64_t x, int64_t y) { return U(x) * U(y); });
  };
  check_binary<T>(OP2(TADD), add);
  check_binary<T>(OP2(TSUB), sub);
  check_binary<T>(OP2(TMUL), mul);
  test::Random r(9);
  for (int i = 0; i < 3; ++i) {
    const T s = test::sample<T>(r);
    check_scalar<T>(OPS(TADDS), add, s);
    check_scalar<T>(OPS(TSUBS), sub, s);
    check_scalar<T>(OPS(TMULS), mul, s);
  }
  check_binary<T>([](auto& d, auto& a, auto& b) { TADDC(d, a, b, b); },
                  [&](T a, T b) { return add(add(a, b), b); });
  check_binary<T>([](auto& d, auto& a, auto& b) { TSUBC(d, a, b, b); },
                  [&](T a, T b) { return sub(sub(a, b), b); });
  check_scalar<T>([](auto& d, auto& a, T s) { TADDSC(d, a, s, a); },
                  [&](T a, T s) { return add(add(a, s), a); }, T(3));
  check_scalar<T>([](auto& d, auto& a, T s) { TSUBSC(d, a, s, a); },
                  [&](T a, T s) { return sub(sub(a, s), a); }, T(3));
}

TEMPLATE_TEST_CASE("maximum and minimum", "", float, half, bfloat16_t, int8_t, uint8_t, int16_t, uint16_t,
                   int32_t, uint32_t) {
  using T = TestType;
  using V = std::conditional_t<std::is_integral_v<T>, T, float>;
  const auto max = [](T a, T b) { return static_cast<V>(a) < static_cast<V>(b) ? b : a; };
  const auto min = [](T a, T b) { return static_cast<V>(b) < static_cast<V>(a) ? b : a; };
  check_binary<T>(OP2(TMAX), max);
  check_binary<T>(OP2(TMIN), min);
  check_scalar<T>(OPS(TMAXS), max, T(2));
  check_scalar<T>(OPS(TMINS), min, T(2));
}

TEST_CASE("a NaN on the left of max and min stays, one on the right is dropped") {
  Tile<TileType::Vec, float, 1, 8> a, b, d;
  TASSIGN(a, 0);
  TASSIGN(b, 64);
  TASSIGN(d, 128);
  for (int i = 0; i < 8; ++i) a.at(0, i) = i < 4 ? NAN : 1.0f, b.at(0, i) = i < 4 ? 1.0f : NAN;
  TMAX(d, a, b);
  CHECK(std::isnan(d.at(0, 0)));
  CHECK(d.at(0, 7) == 1.0f);
  TMIN(d, a, b);
  CHECK(std::isnan(d.at(0, 0)));
  CHECK(d.at(0, 7) == 1.0f);
}

TEMPLATE_TEST_CASE("float division", "", float, half, bfloat16_t) {
  using T = TestType;
  const auto div = [](T a, T b) {
    return round_to<T>(static_cast<double>(static_cast<float>(a) / static_cast<float>(b)));
  };
  check_binary<T>(OP2(TDIV), div);
  check_scalar<T>(OPS(TDIVS), div, T(3.0f));
  check_scalar<T>([](auto& d, auto& a, T s) { TDIVS(d, s, a); }, [&](T a, T s) { return div(s, a); },
                  T(3.0f));
  const auto fmod = [](T a, T b) {
    return round_to<T>(
        std::fmod(static_cast<double>(static_cast<float>(a)), static_cast<double>(static_cast<float>(b))));
  };
  check_binary<T>(OP2(TFMOD), fmod);
  const auto rem = [](T a, T b) {
    const float y = static_cast<float>(b), m = std::fmod(static_cast<float>(a), y);
    return static_cast<T>(m != 0 && (m < 0) != (y < 0) ? m + y : m);
  };
  check_binary<T>(OP2T(TREM), rem);
  check_scalar<T>(OPST(TREMS), rem, T(-2.5f));
  check_scalar<T>(OPS(TFMODS), fmod, T(-2.5f));
}

TEMPLATE_TEST_CASE("integer division", "", int8_t, uint8_t, int16_t, uint16_t, int32_t, uint32_t, int64_t) {
  using T = TestType;
  const auto nonzero = [](T b) { return b == 0 ? T(1) : b; };
  const auto div = [](T a, T b) -> T {
    if (std::is_signed_v<T> && b == static_cast<T>(-1)) return static_cast<T>(0 - static_cast<uint64_t>(a));
    return static_cast<T>(a / b);
  };
  const auto fmod = [](T a, T b) -> T {
    return std::is_signed_v<T> && b == static_cast<T>(-1) ? T(0) : static_cast<T>(a % b);
  };
  const auto rem = [&](T a, T b) -> T {
    const T m = fmod(a, b);
    return m != 0 && (m < 0) != (b < 0) ? static_cast<T>(m + b) : m;
  };
  const auto with_nonzero = [&](auto op) {
    return [op, nonzero](auto& d, auto& a, auto& b) {
      for (int64_t i = 0; i < b.Rows; ++i) {
        for (int64_t j = 0; j < b.Cols; ++j) b.at(i, j) = nonzero(b.at(i, j));
      }
      op(d, a, b);
    };
  };
  check_binary<T>(with_nonzero(OP2(TDIV)), [&](T a, T b) { return div(a, nonzero(b)); });
  check_binary<T>(with_nonzero(OP2(TFMOD)), [&](T a, T b) { return fmod(a, nonzero(b)); });
  check_binary<T>(with_nonzero(OP2T(TREM)), [&](T a, T b) { return rem(a, nonzero(b)); });
  for (T s : {T(3), static_cast<T>(-1), static_cast<T>(-7)}) {
    check_scalar<T>(OPS(TDIVS), div, s);
    check_scalar<T>(OPS(TFMODS), fmod, s);
    check_scalar<T>(OPST(TREMS), rem, s);
  }
  Full<T> a, b;
  TASSIGN(a, 0);
  TASSIGN(b, 0x4000);
  TEXPANDS(a, 1);
  TEXPANDS(b, 1);
  b.at(2, 3) = 0;
  CHECK_THROWS_WITH(TDIV(a, a, b), Catch::Contains("TDIV: integer division by zero at [2, 3]"));
  CHECK_THROWS_WITH(TDIVS(a, a, T(0)), Catch::Contains("division by zero"));
}

TEMPLATE_TEST_CASE("bit operations and shifts", "", int8_t, uint8_t, int16_t, uint16_t, int32_t, uint32_t) {
  using T = TestType;
  check_binary<T>(OP2(TAND), [](T a, T b) { return static_cast<T>(a & b); });
  check_binary<T>(OP2(TOR), [](T a, T b) { return static_cast<T>(a | b); });
  check_binary<T>(OP2T(TXOR), [](T a, T b) { return static_cast<T>(a ^ b); });
  check_scalar<T>(
      OPS(TANDS), [](T a, T b) { return static_cast<T>(a & b); }, T(0x55));
  check_scalar<T>(
      OPS(TORS), [](T a, T b) { return static_cast<T>(a | b); }, T(0x55));
  check_scalar<T>(
      OPST(TXORS), [](T a, T b) { return static_cast<T>(a ^ b); }, T(0x55));
  constexpr int kBits = sizeof(T) * 8;
  for (int n = 0; n < kBits; n += 3) {
    check_scalar<T>([n](auto& d, auto& a, T) { TSHLS(d, a, n); },
                    [n](T a, T) { return static_cast<T>(static_cast<uint64_t>(a) << n); }, T(0));
    check_scalar<T>([n](auto& d, auto& a, T) { TSHRS(d, a, n); },
                    [n](T a, T) { return static_cast<T>(static_cast<int64_t>(a) >> n); }, T(0));
  }
  const auto small = [](auto op) {
    return [op](auto& d, auto& a, auto& b) {
      for (int64_t i = 0; i < b.Rows; ++i) {
        for (int64_t j = 0; j < b.Cols; ++j) b.at(i, j) = static_cast<T>(b.at(i, j) & (kBits - 1));
      }
      op(d, a, b);
    };
  };
  check_binary<T>(small(OP2(TSHL)),
                  [](T a, T b) { return static_cast<T>(static_cast<uint64_t>(a) << (b & (kBits - 1))); });
  check_binary<T>(small(OP2(TSHR)),
                  [](T a, T b) { return static_cast<T>(static_cast<int64_t>(a) >> (b & (kBits - 1))); });
  check_binary<T>([](auto& d, auto& a, auto&) { TNOT(d, a); }, [](T a, T) { return static_cast<T>(~a); });
}

TEMPLATE_TEST_CASE("negation, absolute value, relu", "", float, half, bfloat16_t, int8_t, uint8_t, int16_t,
                   int32_t) {
  using T = TestType;
  const auto unary = [](auto op, auto ref) {
    check_binary<T>([op](auto& d, auto& a, auto&) { op(d, a); }, [ref](T a, T) { return ref(a); });
  };
  if constexpr (std::is_integral_v<T>) {
    unary([](auto& d, auto& a) { TNEG(d, a); },
          [](T a) { return static_cast<T>(0 - static_cast<uint64_t>(a)); });
    unary([](auto& d, auto& a) { TABS(d, a); },
          [](T a) { return a < 0 ? static_cast<T>(0 - static_cast<uint64_t>(a)) : a; });
    unary([](auto& d, auto& a) { TRELU(d, a); }, [](T a) { return a > 0 ? a : T(0); });
  } else {
    unary([](auto& d, auto& a) { TNEG(d, a); }, [](T a) { return static_cast<T>(-static_cast<float>(a)); });
    unary([](auto& d, auto& a) { TABS(d, a); },
          [](T a) { return static_cast<T>(std::fabs(static_cast<float>(a))); });
    unary([](auto& d, auto& a) { TRELU(d, a); }, [](T a) { return static_cast<float>(a) > 0 ? a : T(0.0f); });
    check_scalar<T>(
        OPS(TLRELU),
        [](T a, T s) {
          return static_cast<float>(a) > 0 ? a
                                           : static_cast<T>(static_cast<float>(a) * static_cast<float>(s));
        },
        T(0.25f));
    check_binary<T>(OP2T(TPRELU), [](T a, T s) {
      return static_cast<float>(a) > 0 ? a : static_cast<T>(static_cast<float>(a) * static_cast<float>(s));
    });
  }
}

TEMPLATE_TEST_CASE("functions of one float", "", float, half, bfloat16_t) {
  using T = TestType;
  const auto near = [](auto op, auto f) {
    Full<T> d, a;
    TASSIGN(a, 0);
    TASSIGN(d, 0x8000);
    test::Random r(1);
    for (int64_t i = 0; i < 7; ++i) {
      for (int64_t j = 0; j < 64; ++j)
        a.at(i, j) = static_cast<T>(static_cast<float>(r.next() % 1000 + 1) / 128.0f);
    }
    op(d, a);
    long wrong = 0;
    for (int64_t i = 0; i < 7; ++i) {
      for (int64_t j = 0; j < 64; ++j) {
        const double want = f(static_cast<double>(static_cast<float>(a.at(i, j))));
        const double got = static_cast<double>(static_cast<float>(d.at(i, j)));
        const double tolerance = sizeof(T) == 4 ? 1e-6 : (std::is_same_v<T, half> ? 1e-3 : 8e-3);
        if (std::fabs(got - want) > tolerance * std::fabs(want) + (sizeof(T) == 4 ? 1e-6 : 1e-3)) ++wrong;
      }
    }
    CHECK(wrong == 0);
  };
  near([](auto& d, auto& a) { TEXP(d, a); }, [](double x) { return std::exp(x); });
  near([](auto& d, auto& a) { TLOG(d, a); }, [](double x) { return std::log(x); });
  near([](auto& d, auto& a) { TSQRT(d, a); }, [](double x) { return std::sqrt(x); });
  near([](auto& d, auto& a) { TRSQRT(d, a); }, [](double x) { return 1 / std::sqrt(x); });
  near([](auto& d, auto& a) { TRSQRT(d, a, d); }, [](double x) { return 1 / std::sqrt(x); });
  near([](auto& d, auto& a) { TRECIP(d, a); }, [](double x) { return 1 / x; });
  near([](auto& d, auto& a) { TSIN(d, a); }, [](double x) { return std::sin(x); });
  near([](auto& d, auto& a) { TCOS(d, a); }, [](double x) { return std::cos(x); });
  Tile<TileType::Vec, T, 1, 32> s;
  TASSIGN(s, 0);
  TEXPANDS(s, 0.0f);
  TLOG(s, s);
  CHECK(static_cast<float>(s.at(0, 0)) == -INFINITY);
  TEXPANDS(s, 0.0f);
  TRSQRT(s, s);
  CHECK(static_cast<float>(s.at(0, 0)) == INFINITY);
}

TEST_CASE("the exponential is within 1.01 units in the last place of a float") {
  double worst = 0;
  long wrong = 0;
  for (uint64_t bits = 0; bits < uint64_t{1} << 32; bits += 4001) {
    const float x = std::bit_cast<float>(static_cast<uint32_t>(bits));
    const float got = impl::exp(x);
    if (std::isnan(x)) {
      wrong += std::isnan(got) ? 0 : 1;
      continue;
    }
    const double want = std::exp(static_cast<double>(x));
    if (std::isinf(got) || std::isinf(static_cast<float>(want))) {
      wrong += got == static_cast<float>(want) ? 0 : 1;
      continue;
    }
    int exponent = 0;
    std::frexp(want, &exponent);
    worst = std::max(
        worst, std::fabs(static_cast<double>(got) - want) / std::ldexp(1.0, std::max(exponent - 24, -149)));
  }
  CHECK(wrong == 0);
  CHECK(worst < 1.01);
  CHECK(impl::exp(0.0f) == 1.0f);
  CHECK(impl::exp(-0.0f) == 1.0f);
  CHECK(impl::exp(INFINITY) == INFINITY);
  CHECK(impl::exp(-INFINITY) == 0.0f);
}

TEMPLATE_TEST_CASE("row and column expansion", "", float, half, int32_t, int16_t) {
  using T = TestType;
  Part<T> d(5, 37), a(5, 37);
  Tile<TileType::Vec, T, 16, 1, BLayout::ColMajor, 5, 1> v;
  Tile<TileType::Vec, T, 1, 64, BLayout::RowMajor, 1, 37> h;
  TASSIGN(a, 0);
  TASSIGN(d, 0x4000);
  TASSIGN(v, 0x8000);
  TASSIGN(h, 0x9000);
  test::Random r(5);
  test::fill(a, r);
  test::fill(v, r);
  test::fill(h, r);
  for (int i = 0; i < 16; ++i) {
    if (static_cast<float>(v.at(i, 0)) == 0) v.at(i, 0) = static_cast<T>(1);
  }
  for (int j = 0; j < 64; ++j) {
    if (static_cast<float>(h.at(0, j)) == 0) h.at(0, j) = static_cast<T>(1);
  }
  const auto check = [&](auto op, auto ref, bool by_row) {
    op();
    long wrong = 0;
    for (int64_t i = 0; i < 5; ++i) {
      for (int64_t j = 0; j < 37; ++j) {
        const T want = ref(a.at(i, j), by_row ? v.at(i, 0) : h.at(0, j));
        if (!test::same(d.at(i, j), want)) ++wrong;
      }
    }
    CHECK(wrong == 0);
  };
  const auto add = [](T x, T y) { return impl::add(x, y); };
  const auto sub = [](T x, T y) { return impl::sub(x, y); };
  const auto mul = [](T x, T y) { return impl::mul(x, y); };
  const auto div = [](T x, T y) { return impl::div(x, y); };
  const auto max = [](T x, T y) { return impl::max(x, y); };
  const auto min = [](T x, T y) { return impl::min(x, y); };
  check([&] { TROWEXPANDADD(d, a, v); }, add, true);
  check([&] { TROWEXPANDSUB(d, a, v); }, sub, true);
  check([&] { TROWEXPANDMUL(d, a, v); }, mul, true);
  check([&] { TROWEXPANDDIV(d, a, v); }, div, true);
  check([&] { TROWEXPANDMAX(d, a, v); }, max, true);
  check([&] { TROWEXPANDMIN(d, a, v); }, min, true);
  check([&] { TCOLEXPANDADD(d, a, h); }, add, false);
  check([&] { TCOLEXPANDSUB(d, a, h); }, sub, false);
  check([&] { TCOLEXPANDMUL(d, a, h); }, mul, false);
  check([&] { TCOLEXPANDDIV(d, a, h); }, div, false);
  check([&] { TCOLEXPANDMAX(d, a, h); }, max, false);
  check([&] { TCOLEXPANDMIN(d, a, h); }, min, false);
  check([&] { TROWEXPAND(d, v); }, [](T, T y) { return y; }, true);
  check([&] { TCOLEXPAND(d, h); }, [](T, T y) { return y; }, false);
  if constexpr (!std::is_integral_v<T>) {
    const auto expdif = [](T x, T y) {
      return static_cast<T>(impl::exp(static_cast<float>(impl::sub(x, y))));
    };
    check([&] { TROWEXPANDEXPDIF(d, a, v); }, expdif, true);
    check([&] { TCOLEXPANDEXPDIF(d, a, h); }, expdif, false);
  }
}

TEST_CASE("a packed carrier of a row expansion is read modulo its width") {
  Tile<TileType::Vec, float, 2, 16> d, a;
  Tile<TileType::Vec, float, 2, 8> v;
  TASSIGN(a, 0);
  TASSIGN(d, 0x400);
  TASSIGN(v, 0x800);
  TEXPANDS(a, 1.0f);
  for (int i = 0; i < 2; ++i) {
    for (int j = 0; j < 8; ++j) v.at(i, j) = static_cast<float>(10 * i + j);
  }
  TROWEXPANDADD(d, a, v);
  CHECK(d.at(1, 11) == 14.0f);
}

TEST_CASE("partial operands") {
  Tile<TileType::Vec, float, 4, 8, BLayout::RowMajor, -1, -1> d(4, 8), a(2, 8), b(4, 3);
  TASSIGN(a, 0);
  TASSIGN(b, 0x200);
  TASSIGN(d, 0x400);
  for (int i = 0; i < 4; ++i) {
    for (int j = 0; j < 8; ++j) a.at(i, j) = 2, b.at(i, j) = 5;
  }
  TPARTADD(d, a, b);
  CHECK(d.at(0, 0) == 7.0f);
  CHECK(d.at(1, 5) == 2.0f);
  CHECK(d.at(3, 1) == 5.0f);
  CHECK(d.at(3, 7) == 0.0f);
  TPARTMUL(d, a, b);
  CHECK(d.at(1, 2) == 10.0f);
  TPARTMAX(d, a, b);
  CHECK(d.at(1, 2) == 5.0f);
  TPARTMIN(d, a, b);
  CHECK(d.at(1, 2) == 2.0f);
}

TEST_CASE("shape and address errors are reported") {
  Part<float> a(5, 60), b(7, 64), d(7, 64);
  TASSIGN(a, 0);
  TASSIGN(b, 0x4000);
  TASSIGN(d, 0x8000);
  CHECK_THROWS_WITH(TADD(d, a, b),
                    Catch::Contains("TADD") && Catch::Contains("[5, 60]") && Catch::Contains("[7, 64]"));
  CHECK_THROWS_WITH(d.SetValidShape(8, 64), Catch::Contains("[8, 64] does not fit"));
  CHECK_THROWS_WITH(TASSIGN(d, 192 * 1024 - 1024), Catch::Contains("vector buffer of 196608 bytes"));
  CHECK_THROWS_WITH(TASSIGN(d, 0x2), Catch::Contains("multiple of the element size"));
  CHECK_NOTHROW(TASSIGN(d, 192 * 1024 - 7 * 256));
  // A slice of columns of the last tile in the buffer: 8 of 64 columns, starting at column 56.
  Tile<TileType::Vec, float, 7, 64, BLayout::RowMajor, 7, 8> slice;
  CHECK_NOTHROW(TASSIGN(slice, 192 * 1024 - 7 * 256 + 56 * 4));
}

TEST_CASE("scalar arithmetic") {
  CHECK(pld_floordiv(-7, 2) == -4);
  CHECK(pld_floordiv(7, -2) == -4);
  CHECK(pld_floordiv(int64_t{-8}, int64_t{2}) == -4);
  CHECK(pld_floordiv(INT32_MIN, -1) == INT32_MIN);
  CHECK(pld_floordiv(7u, 2u) == 3u);
  CHECK(pld_floordiv(-7.0f, 2.0f) == -4.0f);
  CHECK(pld_floormod(-7, 3) == 2);
  CHECK(pld_floormod(7, -3) == -2);
  CHECK(pld_floormod(INT32_MIN, -1) == 0);
  CHECK(pld_floormod(-7.5f, 2.0f) == 0.5f);
  CHECK_THROWS_WITH(pld_floordiv(1, 0), "integer division by zero");
  CHECK_THROWS_WITH(pld_floormod(1, 0), "integer remainder by zero");
  CHECK(pld_shl(int32_t{3}, 4) == 48);
  CHECK(pld_shl(int32_t{-3}, 1) == -6);
  CHECK(pld_shl(int32_t{1}, 31) == INT32_MIN);
  CHECK(pld_shl(int32_t{1}, int64_t{1} << 32) == 0);
  CHECK(pld_shl(int64_t{1}, -1) == 0);
  CHECK(pld_shl(uint8_t{0x81}, true) == 2);
  CHECK(pld_shr(int8_t{-128}, 3) == -16);
  CHECK(pld_shr(int8_t{-128}, 8) == -1);
  CHECK(pld_shr(int8_t{127}, -1) == 0);
  CHECK(pld_shr(uint64_t{1} << 63, 63) == 1);
  CHECK(pld_shr(UINT64_MAX, UINT64_MAX) == 0);
  CHECK(pld_pow(3, 4) == 81);
  CHECK(pld_pow(-1, -3) == -1);
  CHECK(pld_pow(2, -1) == 0);
  CHECK(pld_pow(int8_t{2}, int8_t{8}) == 0);
  CHECK(pld_pow(2.0f, 0.5f) == std::sqrt(2.0f));
  CHECK(pld_abs(INT32_MIN) == INT32_MIN);
  CHECK(pld_abs<int8_t>(-5) == 5);
  CHECK(static_cast<float>(pld_abs<half>(half(-2.0f))) == 2.0f);
  CHECK(pld_min(2, 3) == 2);
  CHECK(pld_max(2.5f, 3.0f) == 3.0f);
  CHECK(pld_inf() > 3e38f);
}
