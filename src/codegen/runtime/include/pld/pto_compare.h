// Copyright The pldc authors. SPDX-License-Identifier: Apache-2.0
//
// Comparison to bit masks and selection. In a mask tile (any 8-, 16- or 32-bit integer), column c of a row is
// bit c % 8 of byte c / 8 of that row of the mask, least significant bit first; unused bits are 0.
#pragma once
#include <cstring>

#include "pld/pto_types.h"

namespace pto {
namespace impl {

template <class T>
inline bool compare(T a, T b, CmpMode mode) {
  using V = Value<T>;
  const V x = static_cast<V>(a), y = static_cast<V>(b);
  switch (mode) {
    case CmpMode::EQ:
      return x == y;
    case CmpMode::NE:
      return x != y;
    case CmpMode::LT:
      return x < y;
    case CmpMode::LE:
      return x <= y;
    case CmpMode::GT:
      return x > y;
    case CmpMode::GE:
      return x >= y;
  }
  return false;
}

template <class M>
inline unsigned char* mask_row(const M& mask, int64_t row) {
  static_assert(std::is_integral_v<typename M::DType> && M::isRowMajor, "a mask is a row-major integer tile");
  return reinterpret_cast<unsigned char*>(&mask.at(row, 0));
}

template <class M>
inline void check_mask(const char* op, const M&, int64_t rows, int64_t cols) {
  const int64_t row_bytes = int64_t{M::Cols} * static_cast<int64_t>(sizeof(typename M::DType));
  if (M::Rows < rows || row_bytes * 8 < cols) {
    ::pld::sim::fail("%s: a mask of shape [%d, %d] cannot hold [%lld, %lld] bits", op, M::Rows, M::Cols,
                     static_cast<long long>(rows), static_cast<long long>(cols));
  }
}

inline bool bit(const unsigned char* row, int64_t c) { return ((row[c >> 3] >> (c & 7)) & 1) != 0; }

// Packs f(r, c) over [rows, cols]. A byte is written when the elements that it stands for have been read, so the mask may lie
// where the operand does, as MemoryReuse puts it.
template <class M, class F>
inline void pack(const char* op, const M& mask, int64_t rows, int64_t cols, F f) {
  check_mask(op, mask, rows, cols);
  const size_t row_bytes = static_cast<size_t>(M::Cols) * sizeof(typename M::DType);
  for (int64_t r = 0; r < rows; ++r) {
    unsigned char* row = mask_row(mask, r);
    for (int64_t c = 0; c < cols; c += 8) {
      const int64_t width = cols - c < 8 ? cols - c : 8;
      unsigned bits = 0;
      for (int64_t k = 0; k < width; ++k) bits |= f(r, c + k) ? 1u << k : 0u;
      row[c >> 3] = static_cast<unsigned char>(bits);
    }
    const auto written = static_cast<size_t>((cols + 7) / 8);
    std::memset(row + written, 0, row_bytes - written);
  }
}

}  // namespace impl

template <class M, class A, class B>
inline void TCMP(const M& mask, const A& a, const B& b, CmpMode mode) {
  static_assert(impl::same_type<A, B>, "TCMP: one element type");
  impl::check_covers("TCMP", a, b);
  impl::pack("TCMP", mask, a.GetValidRow(), a.GetValidCol(),
             [&](int64_t r, int64_t c) { return impl::compare(a.at(r, c), b.at(r, c), mode); });
}

template <class M, class A, class V>
inline void TCMPS(const M& mask, const A& a, V scalar, CmpMode mode) {
  const auto v = static_cast<typename A::DType>(scalar);
  impl::pack("TCMPS", mask, a.GetValidRow(), a.GetValidCol(),
             [&](int64_t r, int64_t c) { return impl::compare(a.at(r, c), v, mode); });
}

// d = bit ? a : b
template <class D, class M, class A, class B, class Tmp>
inline void TSEL(const D& d, const M& mask, const A& a, const B& b, const Tmp&) {
  static_assert(impl::same_type<D, A> && impl::same_type<D, B>, "TSEL: one element type");
  impl::check_covers("TSEL", d, a);
  impl::check_covers("TSEL", d, b);
  impl::check_mask("TSEL", mask, d.GetValidRow(), d.GetValidCol());
  for (int64_t r = 0; r < d.GetValidRow(); ++r) {
    const unsigned char* bits = impl::mask_row(mask, r);
    for (int64_t c = 0; c < d.GetValidCol(); ++c) d.at(r, c) = impl::bit(bits, c) ? a.at(r, c) : b.at(r, c);
  }
}

// d = bit ? a : scalar
template <class D, class M, class A, class Tmp, class V>
inline void TSELS(const D& d, const M& mask, const A& a, const Tmp&, V scalar) {
  static_assert(impl::same_type<D, A>, "TSELS: one element type");
  impl::check_covers("TSELS", d, a);
  impl::check_mask("TSELS", mask, d.GetValidRow(), d.GetValidCol());
  const auto v = static_cast<typename D::DType>(scalar);
  for (int64_t r = 0; r < d.GetValidRow(); ++r) {
    const unsigned char* bits = impl::mask_row(mask, r);
    for (int64_t c = 0; c < d.GetValidCol(); ++c) d.at(r, c) = impl::bit(bits, c) ? a.at(r, c) : v;
  }
}

}  // namespace pto
