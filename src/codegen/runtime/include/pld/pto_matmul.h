// Copyright The pldc authors. SPDX-License-Identifier: Apache-2.0
//
// Matrix products. Float types accumulate in float, k ascending; int8 in int32, wrapping. The product is
// complete before an accumulator or a bias is added.
#pragma once
#include "pld/pto_types.h"

namespace pto {
namespace impl {

// One row of the product in out[0 .. n). Four steps of k at a time keep the row in registers; each element
// still adds its terms one by one, k ascending.
template <class Acc, class L, class R>
inline void product_row(Acc* out, const L& l, const R& r, int64_t row, int64_t n, int64_t k) {
  using C = Calc<Acc>;
  using E = typename R::DType;
  const auto left = [&](int64_t i) {
    return static_cast<C>(static_cast<Value<typename L::DType>>(l.at(row, i)));
  };
  const auto term = [](C x, E y) { return static_cast<C>(x * static_cast<C>(static_cast<Value<E>>(y))); };
  PLD_FOR(j, n) out[j] = Acc{};
  const int64_t blocked = k / 4 * 4;
  for (int64_t i = 0; i < blocked; i += 4) {
    const C x0 = left(i), x1 = left(i + 1), x2 = left(i + 2), x3 = left(i + 3);
    const E* b = &r.at(i, 0);
    PLD_FOR(j, n) {
      C sum = static_cast<C>(out[j]) + term(x0, b[j]);
      sum += term(x1, b[j + R::Cols]);
      sum += term(x2, b[j + 2 * R::Cols]);
      out[j] = static_cast<Acc>(sum + term(x3, b[j + 3 * R::Cols]));
    }
  }
  for (int64_t i = blocked; i < k; ++i) {
    const C x = left(i);
    const E* b = &r.at(i, 0);
    PLD_FOR(j, n) out[j] = static_cast<Acc>(static_cast<C>(out[j]) + term(x, b[j]));
  }
}

template <class A, class L, class R, class F>
inline void matmul(const char* op, const A& acc, const L& l, const R& r, F f) {
  using Acc = typename A::DType;
  static_assert(A::Loc == TileType::Acc && L::Loc == TileType::Left && R::Loc == TileType::Right,
                "a matrix product takes TileAcc, TileLeft and TileRight");
  static_assert(A::Rows == L::Rows && A::Cols == R::Cols && L::Cols == R::Rows, "M, N and K agree");
  static_assert(same_type<L, R>, "both factors have one element type");
  static_assert(std::is_same_v<Acc, float> ? is_float<typename L::DType>
                                           : std::is_same_v<Acc, int32_t> && sizeof(typename L::DType) == 1,
                "the accumulator is float for float factors, int32_t for 8-bit integers");
  const int64_t m = acc.GetValidRow(), n = acc.GetValidCol(), k = l.GetValidCol();
  if (l.GetValidRow() < m || r.GetValidCol() < n || r.GetValidRow() < k) {
    ::pld::sim::fail(
        "%s: factors with valid shapes [%lld, %lld] and [%lld, %lld] do not cover a result [%lld, %lld]", op,
        static_cast<long long>(l.GetValidRow()), static_cast<long long>(k),
        static_cast<long long>(r.GetValidRow()), static_cast<long long>(r.GetValidCol()),
        static_cast<long long>(m), static_cast<long long>(n));
  }
  Acc row[A::Cols];
  for (int64_t i = 0; i < m; ++i) {
    product_row(row, l, r, i, n, k);
    f(i, n, static_cast<const Acc*>(row));
  }
}

template <class A>
inline typename A::DType add_acc(typename A::DType x, typename A::DType y) {
  using C = Calc<typename A::DType>;
  return static_cast<typename A::DType>(static_cast<C>(x) + static_cast<C>(y));
}

}  // namespace impl

template <class A, class L, class R>
inline void TMATMUL(const A& acc, const L& l, const R& r) {
  impl::matmul("TMATMUL", acc, l, r, [&](int64_t i, int64_t n, const typename A::DType* row) {
    for (int64_t j = 0; j < n; ++j) acc.at(i, j) = row[j];
  });
}
// out = in + l * r; in and out are usually one tile.
template <class A, class B, class L, class R>
inline void TMATMUL_ACC(const A& out, const B& in, const L& l, const R& r) {
  impl::matmul("TMATMUL_ACC", out, l, r, [&](int64_t i, int64_t n, const typename A::DType* row) {
    for (int64_t j = 0; j < n; ++j) out.at(i, j) = impl::add_acc<A>(in.at(i, j), row[j]);
  });
}
// out = l * r + bias[0, :]
template <class A, class L, class R, class B>
inline void TMATMUL_BIAS(const A& out, const L& l, const R& r, const B& bias) {
  static_assert(impl::same_type<A, B>, "the bias has the accumulator's type");
  impl::matmul("TMATMUL_BIAS", out, l, r, [&](int64_t i, int64_t n, const typename A::DType* row) {
    for (int64_t j = 0; j < n; ++j) out.at(i, j) = impl::add_acc<A>(row[j], bias.at(0, j));
  });
}

// One row on the left.
template <class A, class L, class R>
inline void TGEMV(const A& acc, const L& l, const R& r) {
  TMATMUL(acc, l, r);
}
template <class A, class B, class L, class R>
inline void TGEMV_ACC(const A& out, const B& in, const L& l, const R& r) {
  TMATMUL_ACC(out, in, l, r);
}
template <class A, class L, class R, class B>
inline void TGEMV_BIAS(const A& out, const L& l, const R& r, const B& bias) {
  TMATMUL_BIAS(out, l, r, bias);
}

namespace impl {
template <class L, class SL, class R, class SR>
inline float scaled_product(const L& l, const SL& l_scale, const R& r, const SR& r_scale, int64_t i,
                            int64_t j) {
  float sum = 0.0f;
  for (int64_t k = 0; k < l.GetValidCol(); ++k) {
    const float x = static_cast<float>(l.at(i, k)) * static_cast<float>(l_scale.at(i, k / 32));
    sum += x * (static_cast<float>(r.at(k, j)) * static_cast<float>(r_scale.at(k / 32, j)));
  }
  return sum;
}
}  // namespace impl

// Microscaled product: each factor is scaled per 32 elements of k by a power of two.
template <class A, class L, class SL, class R, class SR>
inline void TMATMUL_MX(const A& acc, const L& l, const SL& l_scale, const R& r, const SR& r_scale) {
  for (int64_t i = 0; i < acc.GetValidRow(); ++i) {
    for (int64_t j = 0; j < acc.GetValidCol(); ++j)
      acc.at(i, j) = impl::scaled_product(l, l_scale, r, r_scale, i, j);
  }
}
// Six operands: (out, in, l, l_scale, r, r_scale) adds to an accumulator, (out, l, l_scale, r, r_scale, bias)
// adds a row.
template <class A, class B, class C, class D, class E, class F>
inline void TMATMUL_MX(const A& out, const B& b, const C& c, const D& d, const E& e, const F& f) {
  for (int64_t i = 0; i < out.GetValidRow(); ++i) {
    for (int64_t j = 0; j < out.GetValidCol(); ++j) {
      if constexpr (B::Loc == TileType::Acc) {
        out.at(i, j) = b.at(i, j) + impl::scaled_product(c, d, e, f, i, j);
      } else {
        static_assert(F::Loc == TileType::Bias, "TMATMUL_MX: the sixth operand is a bias");
        out.at(i, j) = impl::scaled_product(b, c, d, e, i, j) + f.at(0, j);
      }
    }
  }
}

}  // namespace pto
