// Copyright The pldc authors. SPDX-License-Identifier: Apache-2.0
//
// Movement: global memory to tile and back, between tiles, padding, reshaping.
#pragma once
#include <cstring>
#include <limits>

#include "pld/pto_types.h"

namespace pto {
namespace impl {

// copy_box where one side or both are in windows of other processes.
template <class D, class S>
inline void copy_peer(D* d, int64_t d_row, int64_t d_col, const S* s, int64_t s_row, int64_t s_col,
                      int64_t rows, int64_t cols) {
  const bool there = ::pld::remote::is_peer(d), from_there = ::pld::remote::is_peer(s);
  if constexpr (std::is_same_v<D, S>) {
    if (!(there && from_there)) {
      const ::pld::remote::Extent e{rows, cols, sizeof(D)};
      if (there) {
        ::pld::remote::put({d, d_row, d_col}, {s, s_row, s_col}, e);
      } else {
        ::pld::remote::get({d, d_row, d_col}, {s, s_row, s_col}, e);
      }
      return;
    }
  }
  // Another type, or from one peer to another: by way of this process.
  S* packed =
      static_cast<S*>(::pld::remote::scratch(static_cast<size_t>(rows * cols) * (sizeof(S) + sizeof(D))));
  D* converted = reinterpret_cast<D*>(packed + rows * cols);
  if (from_there) ::pld::remote::get({packed, cols, 1}, {s, s_row, s_col}, {rows, cols, sizeof(S)});
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t c = 0; c < cols; ++c) {
      const D value = static_cast<D>(from_there ? packed[r * cols + c] : s[r * s_row + c * s_col]);
      (there ? converted[r * cols + c] : d[r * d_row + c * d_col]) = value;
    }
  }
  if (there) ::pld::remote::put({d, d_row, d_col}, {converted, cols, 1}, {rows, cols, sizeof(D)});
}

// Copies a rows x cols box; steps count elements. The boxes are disjoint or identical.
template <class D, class S>
inline void copy_box(D* d, int64_t d_row, int64_t d_col, const S* s, int64_t s_row, int64_t s_col,
                     int64_t rows, int64_t cols) {
  if (rows <= 0 || cols <= 0) return;
  if constexpr (::pld::remote::enabled) {
    if (::pld::remote::is_peer(d) || ::pld::remote::is_peer(s)) {
      copy_peer(d, d_row, d_col, s, s_row, s_col, rows, cols);
      return;
    }
  }
  if constexpr (std::is_same_v<D, S>) {
    constexpr size_t kSize = sizeof(D);
    if (cols == 1 && d_row == 1 && s_row == 1) {  // a column
      std::memmove(d, s, static_cast<size_t>(rows) * kSize);
      return;
    }
    if ((d_col == 1 || cols == 1) && (s_col == 1 || cols == 1)) {
      if (rows == 1 || (d_row == cols && s_row == cols)) {
        std::memmove(d, s, static_cast<size_t>(rows * cols) * kSize);
      } else {
        for (int64_t r = 0; r < rows; ++r) {
          std::memmove(d + r * d_row, s + r * s_row, static_cast<size_t>(cols) * kSize);
        }
      }
      return;
    }
    if (d_row == 1 && s_row == 1) {
      for (int64_t c = 0; c < cols; ++c) {
        std::memmove(d + c * d_col, s + c * s_col, static_cast<size_t>(rows) * kSize);
      }
      return;
    }
  }
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t c = 0; c < cols; ++c) d[r * d_row + c * d_col] = static_cast<D>(s[r * s_row + c * s_col]);
  }
}

// Adds v to *p as one indivisible step.
template <class T>
inline void atomic_add(T* p, T v) {
  if constexpr (std::is_integral_v<T>) {
    __atomic_fetch_add(p, v, __ATOMIC_RELAXED);
  } else {
    using Bits = std::conditional_t<sizeof(T) == 4, uint32_t, uint16_t>;
    Bits* bits = reinterpret_cast<Bits*>(p);
    Bits old = __atomic_load_n(bits, __ATOMIC_RELAXED);
    for (;;) {
      const T sum = static_cast<T>(static_cast<float>(std::bit_cast<T>(old)) + static_cast<float>(v));
      if (__atomic_compare_exchange_n(bits, &old, std::bit_cast<Bits>(sum), true, __ATOMIC_RELAXED,
                                      __ATOMIC_RELAXED)) {
        return;
      }
    }
  }
}

template <class T>
inline constexpr bool has_atomic_add =
    std::is_same_v<T, float> || std::is_same_v<T, half> || std::is_same_v<T, bfloat16_t> ||
    std::is_same_v<T, int32_t> || std::is_same_v<T, int16_t> || std::is_same_v<T, int8_t>;

// Adds value(r, c) to every element of a box, each as one indivisible step.
template <class T, class F>
inline void add_box(T* p, int64_t row, int64_t col, int64_t rows, int64_t cols, F value) {
  if constexpr (::pld::remote::enabled) {
    if (rows <= 0 || cols <= 0) return;
    if (::pld::remote::is_window(p)) {
      using ::pld::remote::Element;
      constexpr Element kType = std::is_same_v<T, float>        ? Element::f32
                                : std::is_same_v<T, half>       ? Element::f16
                                : std::is_same_v<T, bfloat16_t> ? Element::bf16
                                : sizeof(T) == 4                ? Element::i32
                                : sizeof(T) == 2                ? Element::i16
                                                                : Element::i8;
      T* packed = static_cast<T*>(::pld::remote::scratch(static_cast<size_t>(rows * cols) * sizeof(T)));
      for (int64_t r = 0; r < rows; ++r) {
        for (int64_t c = 0; c < cols; ++c) packed[r * cols + c] = value(r, c);
      }
      ::pld::remote::add({p, row, col}, packed, {rows, cols, sizeof(T)}, kType);
      return;
    }
    ::pld::remote::local_atomic(p, static_cast<size_t>((rows - 1) * row + (cols - 1) * col + 1) * sizeof(T));
  }
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t c = 0; c < cols; ++c) atomic_add(p + r * row + c * col, value(r, c));
  }
}

template <class G>
inline ::pld::sim::Observed observe_global(const G& g, ::pld::sim::AccessKind kind) {
  if (!::pld::sim::observing) return {};
  ::pld::sim::Access a{g.data(), {}, {}, static_cast<int32_t>(sizeof(typename G::DType)), kind};
  for (int i = 0; i < 5; ++i) a.shape[i] = g.GetShape(i), a.stride[i] = g.GetStride(i);
  return ::pld::sim::Observed(a);
}

// Calls f(pointer, first row) for every 2-D plane of the 5-D box.
template <class G, class F>
inline void for_planes(const G& g, F f) {
  const int64_t n0 = g.GetShape(0), n1 = g.GetShape(1), n2 = g.GetShape(2), n3 = g.GetShape(3);
  int64_t row = 0;
  for (int64_t a = 0; a < n0; ++a) {
    for (int64_t b = 0; b < n1; ++b) {
      for (int64_t c = 0; c < n2; ++c, row += n3) {
        f(g.data() + a * g.GetStride(0) + b * g.GetStride(1) + c * g.GetStride(2), row);
      }
    }
  }
}

template <class T, class G>
inline void check_transfer(const char* op, const T& t, const G& g) {
  if (t.data() == nullptr) ::pld::sim::fail("%s: the tile has no address", op);
  if (g.rows() != t.GetValidRow() || g.cols() != t.GetValidCol()) {
    ::pld::sim::fail("%s: global tensor of %lld rows and %lld columns, tile with valid shape [%lld, %lld]",
                     op, static_cast<long long>(g.rows()), static_cast<long long>(g.cols()),
                     static_cast<long long>(t.GetValidRow()), static_cast<long long>(t.GetValidCol()));
  }
}

template <class T, class G>
inline constexpr bool layouts_fit = T::boxed || (G::layout == Layout::ND) == T::isRowMajor;

// The value that fills cells outside of the valid shape.
template <class T, PadValue P>
constexpr T pad_value() {
  if constexpr (P == PadValue::Zero || P == PadValue::Null) {
    return T{};
  } else if constexpr (is_float<T>) {
    return static_cast<T>(P == PadValue::Max ? std::numeric_limits<float>::infinity()
                                             : -std::numeric_limits<float>::infinity());
  } else {
    return P == PadValue::Max ? std::numeric_limits<T>::max() : std::numeric_limits<T>::min();
  }
}

}  // namespace impl

template <class TileT, class G>
inline void TLOAD(const TileT& t, const G& g) {
  static_assert(std::is_same_v<typename TileT::DType, std::remove_const_t<typename G::DType>>,
                "TLOAD: tile and global tensor have one element type");
  static_assert(TileT::Loc == TileType::Vec || TileT::Loc == TileType::Mat, "TLOAD: the tile is in UB or L1");
  static_assert(impl::layouts_fit<TileT, G>,
                "TLOAD: row-major tiles take ND tensors, column-major ones DN tensors");
  impl::check_transfer("TLOAD", t, g);
  const auto seen = impl::observe_global(g, ::pld::sim::AccessKind::read);
  impl::for_planes(g, [&](const typename G::DType* p, int64_t row) {
    impl::copy_box(&t.at(row, 0), TileT::row_step, TileT::col_step, p, g.GetStride(3), g.GetStride(4),
                   g.GetShape(3), g.GetShape(4));
  });
}

// Stores the valid shape of t. From the accumulator the value is converted to the type of g (nearest even).
template <class TileT, class G, AtomicType ATOMIC = AtomicType::AtomicNone>
inline void TSTORE(const G& g, const TileT& t) {
  using T = typename TileT::DType;
  using D = typename G::DType;
  static_assert(std::is_same_v<T, D> || TileT::Loc == TileType::Acc,
                "TSTORE: tile and global tensor have one element type");
  static_assert(TileT::Loc == TileType::Vec || TileT::Loc == TileType::Acc || TileT::Loc == TileType::Mat,
                "TSTORE: the tile is in UB, L1 or L0C");
  static_assert(impl::layouts_fit<TileT, G>,
                "TSTORE: row-major tiles take ND tensors, column-major ones DN tensors");
  impl::check_transfer("TSTORE", t, g);
  if constexpr (ATOMIC == AtomicType::AtomicAdd) {
    static_assert(impl::has_atomic_add<D>,
                  "atomic add serves float, half, bfloat16_t, int32_t, int16_t and int8_t");
    const auto seen = impl::observe_global(g, ::pld::sim::AccessKind::atomic);
    impl::for_planes(g, [&](D* p, int64_t row) {
      impl::add_box(p, g.GetStride(3), g.GetStride(4), g.GetShape(3), g.GetShape(4),
                    [&](int64_t r, int64_t c) { return static_cast<D>(t.at(row + r, c)); });
    });
  } else {
    const auto seen = impl::observe_global(g, ::pld::sim::AccessKind::write);
    impl::for_planes(g, [&](D* p, int64_t row) {
      impl::copy_box(p, g.GetStride(3), g.GetStride(4), static_cast<const T*>(&t.at(row, 0)), TileT::row_step,
                     TileT::col_step, g.GetShape(3), g.GetShape(4));
    });
  }
}

// Copies the valid shape of d, also between memories; element types may differ when leaving the accumulator.
template <class D, class S>
inline void TMOV(const D& d, const S& s) {
  static_assert(impl::same_type<D, S> || S::Loc == TileType::Acc, "TMOV: one element type");
  impl::check_covers("TMOV", d, s);
  if (static_cast<const void*>(d.data()) == static_cast<const void*>(s.data()) && D::by_rows == S::by_rows)
    return;
  impl::copy_box(d.data(), D::row_step, D::col_step, static_cast<const typename S::DType*>(s.data()),
                 S::row_step, S::col_step, d.GetValidRow(), d.GetValidCol());
}

// d = the box of s that starts at (row, col).
template <class D, class S>
inline void TEXTRACT(const D& d, const S& s, int64_t row, int64_t col) {
  static_assert(impl::same_type<D, S> || S::Loc == TileType::Acc, "TEXTRACT: one element type");
  const int64_t rows = d.GetValidRow(), cols = d.GetValidCol();
  if (row < 0 || col < 0 || row + rows > S::Rows || col + cols > S::Cols) {
    ::pld::sim::fail("TEXTRACT: box [%lld, %lld] at (%lld, %lld) is outside of a tile of shape [%d, %d]",
                     static_cast<long long>(rows), static_cast<long long>(cols), static_cast<long long>(row),
                     static_cast<long long>(col), S::Rows, S::Cols);
  }
  impl::copy_box(d.data(), D::row_step, D::col_step,
                 static_cast<const typename S::DType*>(s.data()) + row * S::row_step + col * S::col_step,
                 S::row_step, S::col_step, rows, cols);
}

// Writes the valid shape of s into d, starting at (row, col).
template <class D, class S>
inline void TINSERT(const D& d, const S& s, int64_t row, int64_t col) {
  const int64_t rows = s.GetValidRow(), cols = s.GetValidCol();
  if (row < 0 || col < 0 || row + rows > D::Rows || col + cols > D::Cols) {
    ::pld::sim::fail("TINSERT: box [%lld, %lld] at (%lld, %lld) is outside of a tile of shape [%d, %d]",
                     static_cast<long long>(rows), static_cast<long long>(cols), static_cast<long long>(row),
                     static_cast<long long>(col), D::Rows, D::Cols);
  }
  impl::copy_box(d.data() + row * D::row_step + col * D::col_step, D::row_step, D::col_step,
                 static_cast<const typename S::DType*>(s.data()), S::row_step, S::col_step, rows, cols);
}

// d = the elements of s in row-major order of the physical shapes.
template <class D, class S>
inline void TRESHAPE(const D& d, const S& s) {
  static_assert(impl::same_type<D, S>, "TRESHAPE: one element type");
  static_assert(int64_t{D::Rows} * D::Cols == int64_t{S::Rows} * S::Cols,
                "TRESHAPE: as many elements as before");
  if constexpr (D::by_rows == S::by_rows || D::Rows == 1 || D::Cols == 1) {
    if (static_cast<const void*>(d.data()) == static_cast<const void*>(s.data())) return;
  }
  for (int64_t i = 0; i < int64_t{D::Rows} * D::Cols; ++i)
    d.at(i / D::Cols, i % D::Cols) = s.at(i / S::Cols, i % S::Cols);
}

// d[c, r] = s[r, c]. The scratch tile is not used.
template <class D, class S, class Tmp>
inline void TTRANS(const D& d, const S& s, const Tmp&) {
  static_assert(impl::same_type<D, S>, "TTRANS: one element type");
  const int64_t rows = d.GetValidRow(), cols = d.GetValidCol();
  if (s.GetValidRow() < cols || s.GetValidCol() < rows) {
    impl::shape_error("TTRANS", cols, rows, s.GetValidRow(), s.GetValidCol());
  }
  for (int64_t r0 = 0; r0 < rows; r0 += 16) {  // blocks keep both sides in the cache
    for (int64_t c = 0; c < cols; ++c) {
      for (int64_t r = r0; r < rows && r < r0 + 16; ++r) d.at(r, c) = s.at(c, r);
    }
  }
}

// All valid cells = value.
template <class D, class V>
inline void TEXPANDS(const D& d, V value) {
  const auto v = static_cast<typename D::DType>(value);
  impl::map(
      "TEXPANDS", [v] { return v; }, d);
}

// d = s inside the valid shape of s, the pad value of d's type elsewhere in d's valid shape. d may be s.
template <class D, class S>
inline void TFILLPAD(const D& d, const S& s) {
  static_assert(impl::same_type<D, S>, "TFILLPAD: one element type");
  const auto pad = impl::pad_value<typename D::DType, D::PadVal>();
  const int64_t rows = d.GetValidRow(), cols = d.GetValidCol();
  const int64_t kept_rows = s.GetValidRow() < rows ? s.GetValidRow() : rows;
  const int64_t kept_cols = s.GetValidCol() < cols ? s.GetValidCol() : cols;
  if (static_cast<const void*>(d.data()) != static_cast<const void*>(s.data()) ||
      D::row_step != S::row_step) {
    impl::copy_box(d.data(), D::row_step, D::col_step, static_cast<const typename S::DType*>(s.data()),
                   S::row_step, S::col_step, kept_rows, kept_cols);
  }
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t c = r < kept_rows ? kept_cols : 0; c < cols; ++c) d.at(r, c) = pad;
  }
}
template <class D, class S>
inline void TFILLPAD_INPLACE(const D& d, const S& s) {
  TFILLPAD(d, s);
}
template <class D, class S>
inline void TFILLPAD_EXPAND(const D& d, const S& s) {
  TFILLPAD(d, s);
}

// The valid columns of a, then those of b.
template <class D, class A, class B>
inline void TCONCAT(const D& d, const A& a, const B& b) {
  const int64_t left = a.GetValidCol();
  if (d.GetValidCol() != left + b.GetValidCol()) {
    impl::shape_error("TCONCAT", d.GetValidRow(), d.GetValidCol(), a.GetValidRow(), left + b.GetValidCol());
  }
  impl::copy_box(d.data(), D::row_step, D::col_step, static_cast<const typename A::DType*>(a.data()),
                 A::row_step, A::col_step, d.GetValidRow(), left);
  impl::copy_box(d.data() + left * D::col_step, D::row_step, D::col_step,
                 static_cast<const typename B::DType*>(b.data()), B::row_step, B::col_step, d.GetValidRow(),
                 b.GetValidCol());
}

}  // namespace pto

// Scalar access to global memory.
template <class T>
inline T pld_read(const T* p) {
  ::pld::sim::observe_cell(p, static_cast<int32_t>(sizeof(T)), ::pld::sim::AccessKind::read);
  return ::pld::remote::load(p);
}
template <class T, class V>
inline void pld_write(T* p, V value) {
  ::pld::sim::observe_cell(p, static_cast<int32_t>(sizeof(T)), ::pld::sim::AccessKind::write);
  ::pld::remote::store(p, static_cast<T>(value));
}
