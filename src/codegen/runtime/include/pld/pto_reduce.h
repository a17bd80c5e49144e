// Copyright The pldc authors. SPDX-License-Identifier: Apache-2.0
//
// Reductions over the valid box. Row sums go left to right; half and bfloat16 row sums accumulate in float
// and round once. Everything else rounds to the element type after each step. Ties of max and min keep the
// first index.
#pragma once
#include "pld/pto_math.h"

namespace pto {
namespace impl {

// `results`: how many are asked for. None of nothing is fine: a lane that only keeps pace with the other one asks for none.
template <class S>
inline void check_nonempty(const char* op, const S& s, int64_t extent, int64_t results) {
  if (extent <= 0 && results > 0) {
    ::pld::sim::fail("%s: the reduced axis of a tile with valid shape [%lld, %lld] is empty", op,
                     static_cast<long long>(s.GetValidRow()), static_cast<long long>(s.GetValidCol()));
  }
}

// Fold of p[0 .. n), n >= 2, in any order: up to kWide partial results side by side, which are folded by halves, so that all
// of it vectorises. Of zeros of both signs the first is the result, as it is from left to right: max and min replace by what is
// strictly better.
template <class T, class F>
inline T fold_line(const T* p, int64_t n, F f) {
  constexpr int64_t kWide = 256;
  T lanes[kWide];
  int64_t width = n / 2 < kWide ? n / 2 : kWide;
  map_line(
      width, [](T x) { return x; }, lanes, p);
  int64_t c = width;
  for (; c + width <= n; c += width) map_line(width, f, lanes, static_cast<const T*>(lanes), p + c);
  map_line(n - c, f, lanes, static_cast<const T*>(lanes), p + c);
  for (; width > 1; width -= width / 2) {
    map_line(width / 2, f, lanes, static_cast<const T*>(lanes),
             static_cast<const T*>(lanes + width - width / 2));
  }
  if constexpr (std::is_floating_point_v<T>) {
    for (c = 0; lanes[0] == T(0) && c < n; ++c) {
      if (p[c] == T(0)) return p[c];
    }
  }
  return lanes[0];
}

// d[r, 0] = fold of s[r, :]; Acc is the type of the running value. Eight rows at a time: each row keeps its
// order, the rows together hide the latency of the additions. If Acc differs from the element type, chunks of
// the columns are converted first, which vectorises. ANY_ORDER: the order makes no difference; rows that are
// long enough are folded one by one.
template <class Acc, bool ANY_ORDER, class D, class S, class F>
inline void fold_rows(const char* op, const D& d, const S& s, F f) {
  static_assert(D::Cols == 1 && !D::isRowMajor, "a row reduction writes a column-major [R, 1] tile");
  static_assert(S::isRowMajor, "a row reduction reads a row-major tile");
  using T = typename S::DType;
  const int64_t rows = d.GetValidRow(), cols = s.GetValidCol();
  if (s.GetValidRow() < rows) shape_error(op, rows, 1, s.GetValidRow(), cols);
  check_nonempty(op, s, cols, rows);
  if constexpr (ANY_ORDER && std::is_same_v<Acc, T> && std::is_arithmetic_v<T>) {
    constexpr int64_t kLong = 128;  // from here on it is faster
    if (cols >= kLong) {
      for (int64_t r = 0; r < rows; ++r) d.at(r, 0) = fold_line(static_cast<const T*>(&s.at(r, 0)), cols, f);
      return;
    }
  }
  constexpr int64_t kRows = 8, kChunk = 64;
  for (int64_t first = 0; first < rows; first += kRows) {
    const int64_t height = rows - first < kRows ? rows - first : kRows;
    // The last block repeats its first row instead of being shorter.
    const auto row = [&](int64_t k) {
      return static_cast<const T*>(&s.at(k < height ? first + k : first, 0));
    };
    Acc acc[kRows];
    for (int64_t k = 0; k < kRows; ++k) acc[k] = static_cast<Acc>(row(k)[0]);
    if constexpr (std::is_same_v<Acc, T>) {
      const T* p[kRows];
      for (int64_t k = 0; k < kRows; ++k) p[k] = row(k);
      for (int64_t c = 1; c < cols; ++c) {
        for (int64_t k = 0; k < kRows; ++k) acc[k] = f(acc[k], p[k][c]);
      }
    } else {
      Acc chunk[kRows][kChunk];
      for (int64_t c = 1; c < cols; c += kChunk) {
        const int64_t width = cols - c < kChunk ? cols - c : kChunk;
        for (int64_t k = 0; k < kRows; ++k)
          map_line(
              width, [](T x) { return static_cast<Acc>(x); }, chunk[k], row(k) + c);
        for (int64_t j = 0; j < width; ++j) {
          for (int64_t k = 0; k < kRows; ++k) acc[k] = f(acc[k], chunk[k][j]);
        }
      }
    }
    for (int64_t k = 0; k < height; ++k) d.at(first + k, 0) = static_cast<T>(acc[k]);
  }
}

// d[0, c] = fold of s[:, c], row by row.
template <class D, class S, class F>
inline void fold_cols(const char* op, const D& d, const S& s, F f) {
  using T = typename S::DType;
  static_assert(same_type<D, S> && D::isRowMajor && S::isRowMajor,
                "a column reduction takes row-major tiles");
  const int64_t rows = s.GetValidRow(), cols = d.GetValidCol();
  if (s.GetValidCol() < cols) shape_error(op, 1, cols, rows, s.GetValidCol());
  check_nonempty(op, s, rows, cols);
  if (cols <= 0) return;
  T* out = d.data();
  map_line(
      cols, [](T x) { return x; }, out, static_cast<const T*>(&s.at(0, 0)));
  for (int64_t r = 1; r < rows; ++r) {
    map_line(cols, f, out, static_cast<const T*>(out), static_cast<const T*>(&s.at(r, 0)));
  }
}

// Index of the first extreme element; `better` is a strict comparison.
template <class D, class S, class F>
inline void arg_rows(const char* op, const D& d, const S& s, F better) {
  using V = Value<typename S::DType>;
  check_nonempty(op, s, s.GetValidCol(), d.GetValidRow());
  for (int64_t r = 0; r < d.GetValidRow(); ++r) {
    int64_t best = 0;
    for (int64_t c = 1; c < s.GetValidCol(); ++c) {
      if (better(static_cast<V>(s.at(r, c)), static_cast<V>(s.at(r, best)))) best = c;
    }
    d.at(r, 0) = static_cast<typename D::DType>(best);
  }
}
template <class D, class S, class F>
inline void arg_cols(const char* op, const D& d, const S& s, F better) {
  using V = Value<typename S::DType>;
  check_nonempty(op, s, s.GetValidRow(), d.GetValidCol());
  for (int64_t c = 0; c < d.GetValidCol(); ++c) {
    int64_t best = 0;
    for (int64_t r = 1; r < s.GetValidRow(); ++r) {
      if (better(static_cast<V>(s.at(r, c)), static_cast<V>(s.at(best, c)))) best = r;
    }
    d.at(0, c) = static_cast<typename D::DType>(best);
  }
}

}  // namespace impl

template <class D, class S, class Tmp>
inline void TROWSUM(const D& d, const S& s, const Tmp&) {
  using Acc = impl::Calc<typename S::DType>;
  impl::fold_rows<Acc, std::is_integral_v<Acc>>("TROWSUM", d, s, [](Acc x, Acc y) { return x + y; });
}

#define PLD_ROW(NAME, ANY_ORDER, FN)                                              \
  template <class D, class S, class Tmp>                                          \
  inline void NAME(const D& d, const S& s, const Tmp&) {                          \
    using T = typename S::DType;                                                  \
    impl::fold_rows<T, ANY_ORDER>(#NAME, d, s, [](T x, T y) -> T { return FN; }); \
  }
PLD_ROW(TROWPROD, std::is_integral_v<T>, impl::mul(x, y))
PLD_ROW(TROWMAX, true, impl::max(x, y))
PLD_ROW(TROWMIN, true, impl::min(x, y))
#undef PLD_ROW

#define PLD_COL(NAME, FN)                                           \
  template <class D, class S>                                       \
  inline void NAME(const D& d, const S& s) {                        \
    using T = typename S::DType;                                    \
    impl::fold_cols(#NAME, d, s, [](T x, T y) -> T { return FN; }); \
  }
PLD_COL(TCOLSUM, impl::add(x, y))
PLD_COL(TCOLPROD, impl::mul(x, y))
PLD_COL(TCOLMAX, impl::max(x, y))
PLD_COL(TCOLMIN, impl::min(x, y))
#undef PLD_COL

// The scratch tile allows a tree on the device; here the order is row by row either way.
template <class D, class S, class Tmp>
inline void TCOLSUM(const D& d, const S& s, const Tmp&, bool) {
  TCOLSUM(d, s);
}

#define PLD_ARG(NAME, FN, OP)                               \
  template <class D, class S, class Tmp>                    \
  inline void NAME(const D& d, const S& s, const Tmp&) {    \
    using V = impl::Value<typename S::DType>;               \
    impl::FN(#NAME, d, s, [](V x, V y) { return x OP y; }); \
  }
PLD_ARG(TROWARGMAX, arg_rows, >)
PLD_ARG(TROWARGMIN, arg_rows, <)
PLD_ARG(TCOLARGMAX, arg_cols, >)
PLD_ARG(TCOLARGMIN, arg_cols, <)
#undef PLD_ARG

}  // namespace pto
