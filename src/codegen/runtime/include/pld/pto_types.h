// Copyright The pldc authors. SPDX-License-Identifier: Apache-2.0
//
// Tiles, global tensors and the enumerations of the instruction set.
#pragma once
#include <type_traits>

#include "pld/half.h"
#include "pld/sim.h"

// Pipes and events: instructions complete before the next one starts, so there is nothing to order here.
enum pipe_t { PIPE_S, PIPE_V, PIPE_M, PIPE_MTE1, PIPE_MTE2, PIPE_MTE3, PIPE_FIX, PIPE_ALL };
enum event_t { EVENT_ID0, EVENT_ID1, EVENT_ID2, EVENT_ID3, EVENT_ID4, EVENT_ID5, EVENT_ID6, EVENT_ID7 };
inline void set_flag(pipe_t, pipe_t, event_t) {}
inline void wait_flag(pipe_t, pipe_t, event_t) {}
inline void pipe_barrier(pipe_t) {}

// Elementwise loops: iterations are independent because operands are equal or disjoint buffers.
#if defined(__clang__)
#pragma clang diagnostic ignored "-Wpass-failed"  // a loop around a libm call stays scalar
#define PLD_FOR(i, n) _Pragma("clang loop vectorize(assume_safety)") for (int64_t i = 0; i < (n); ++i)
#else
#define PLD_FOR(i, n) _Pragma("GCC ivdep") for (int64_t i = 0; i < (n); ++i)
#endif

namespace pto {

enum class TileType { Vec, Mat, Left, Right, Acc, Bias, Scaling };
enum class BLayout { RowMajor, ColMajor };
enum class SLayout { NoneBox, RowMajor, ColMajor };
enum class PadValue { Null, Zero, Max, Min };
enum class CompactMode { Null, Normal };
enum class Layout { ND, DN, NZ };
enum class RoundMode { CAST_NONE, CAST_RINT, CAST_ROUND, CAST_FLOOR, CAST_CEIL, CAST_TRUNC, CAST_ODD };
enum class SaturationMode { OFF, ON };
enum class CmpMode { EQ, NE, LT, LE, GT, GE };
enum class AtomicType { AtomicNone, AtomicAdd };

// Five extents; -1 is given to the constructor, either all five or exactly the dynamic ones in order.
template <int A, int B, int C, int D, int E>
struct Extents5 {
  static constexpr int kDynamic = (A < 0) + (B < 0) + (C < 0) + (D < 0) + (E < 0);
  int64_t v[5] = {A, B, C, D, E};

  constexpr Extents5() = default;
  template <class... I,
            class = std::enable_if_t<(sizeof...(I) == 5 || sizeof...(I) == kDynamic) && (sizeof...(I) > 0)>>
  constexpr explicit Extents5(I... given) {
    const int64_t values[] = {static_cast<int64_t>(given)...};
    const int64_t fixed[5] = {A, B, C, D, E};
    int next = 0;
    for (int i = 0; i < 5; ++i) {
      if constexpr (sizeof...(I) == 5) {
        v[i] = values[i];
      } else {
        v[i] = fixed[i] < 0 ? values[next++] : fixed[i];
      }
    }
  }
};

template <int A, int B, int C, int D, int E>
struct Shape : Extents5<A, B, C, D, E> {
  using Extents5<A, B, C, D, E>::Extents5;
};
template <int A, int B, int C, int D, int E>
struct Stride : Extents5<A, B, C, D, E> {
  using Extents5<A, B, C, D, E>::Extents5;
};

// A strided box of global memory. Does not own it; strides count elements.
template <class T, class ShapeT, class StrideT, Layout L = Layout::ND>
struct GlobalTensor {
  using DType = T;
  static constexpr Layout layout = L;
  static_assert(L != Layout::NZ, "the embedded library has no NZ global tensors");

  explicit GlobalTensor(T* pointer, const ShapeT& shape = ShapeT(), const StrideT& stride = StrideT())
      : data_(pointer), shape_(shape), stride_(stride) {}

  T* data() const { return data_; }
  int64_t GetShape(int i) const { return shape_.v[i]; }
  int64_t GetStride(int i) const { return stride_.v[i]; }
  int64_t rows() const { return shape_.v[0] * shape_.v[1] * shape_.v[2] * shape_.v[3]; }
  int64_t cols() const { return shape_.v[4]; }

 private:
  T* data_;
  ShapeT shape_;
  StrideT stride_;
};

// A two-dimensional tile in on-chip memory. Column-major NoneBox tiles are stored by columns, all others,
// boxed ones too, by rows.
template <TileType LOC, class T, int R, int C, BLayout BL = BLayout::RowMajor, int VR = R, int VC = C,
          SLayout SL = SLayout::NoneBox, int FRACTAL = 512, PadValue PAD = PadValue::Null,
          CompactMode COMPACT = CompactMode::Null>
struct Tile {
  using DType = T;
  static constexpr TileType Loc = LOC;
  static constexpr int Rows = R;
  static constexpr int Cols = C;
  static constexpr int ValidRow = VR;
  static constexpr int ValidCol = VC;
  static constexpr SLayout SFractal = SL;
  static constexpr PadValue PadVal = PAD;
  static constexpr bool boxed = SL != SLayout::NoneBox;
  static constexpr bool isRowMajor = BL == BLayout::RowMajor;
  // How the embedded library stores it. A Mat tile whose boxes are column-major is the transposed view of one whose
  // boxes are row-major.
  static constexpr bool by_rows = boxed ? LOC != TileType::Mat || SL != SLayout::ColMajor : isRowMajor;
  static constexpr int64_t row_step = by_rows ? C : 1;
  static constexpr int64_t col_step = by_rows ? 1 : R;

  static_assert(R > 0 && C > 0, "a tile has at least one element");
  static_assert(VR <= R && VC <= C, "the valid shape does not exceed the physical one");
  static_assert(boxed || !isRowMajor || (C * static_cast<int>(sizeof(T))) % 32 == 0,
                "a row of a row-major tile is a multiple of 32 bytes");
  static_assert(boxed || isRowMajor || (R * static_cast<int>(sizeof(T))) % 32 == 0,
                "a column of a column-major tile is a multiple of 32 bytes");
  static_assert(!boxed || (R % 16 == 0 && C % 16 == 0) ||
                    (FRACTAL == 512 && R % 16 == 0 && C * sizeof(T) % 32 == 0) ||
                    (FRACTAL == 512 && C % 16 == 0 && R * sizeof(T) % 32 == 0),
                "a boxed tile is a multiple of its inner box");

  Tile() = default;
  // The dynamic valid extents, or both.
  explicit Tile(int64_t valid) requires((VR < 0) != (VC < 0)) {
    set_valid(VR < 0 ? valid : VR, VC < 0 ? valid : VC);
  }
  Tile(int64_t valid_rows, int64_t valid_cols) { set_valid(valid_rows, valid_cols); }

  int64_t GetValidRow() const {
    if constexpr (VR >= 0) {
      return VR;
    } else {
      return valid_rows_;
    }
  }
  int64_t GetValidCol() const {
    if constexpr (VC >= 0) {
      return VC;
    } else {
      return valid_cols_;
    }
  }
  void SetValidShape(int64_t rows, int64_t cols) {
    static_assert(VR < 0 || VC < 0, "the valid shape of this tile is fixed by its type");
    set_valid(rows, cols);
  }

  T* data() const { return data_; }
  T& at(int64_t r, int64_t c) const { return data_[r * row_step + c * col_step]; }
  // One element, by its position in memory.
  T GetValue(int64_t offset) const { return data_[checked(offset)]; }
  void SetValue(int64_t offset, T value) { data_[checked(offset)] = value; }
  void assign(T* data) { data_ = data; }

 private:
  int64_t checked(int64_t offset) const {
    if (offset < 0 || offset >= int64_t{R} * C) {
      ::pld::sim::fail("element %lld is outside of a tile of shape [%d, %d]", static_cast<long long>(offset),
                       R, C);
    }
    return offset;
  }
  void set_valid(int64_t rows, int64_t cols) {
    if (rows < 0 || rows > R || cols < 0 || cols > C || (VR >= 0 && rows != VR) || (VC >= 0 && cols != VC)) {
      ::pld::sim::fail("valid shape [%lld, %lld] does not fit a tile of shape [%d, %d]",
                       static_cast<long long>(rows), static_cast<long long>(cols), R, C);
    }
    valid_rows_ = rows;
    valid_cols_ = cols;
  }

  T* data_ = nullptr;
  int64_t valid_rows_ = VR < 0 ? R : VR;
  int64_t valid_cols_ = VC < 0 ? C : VC;
};

template <class T, int M, int K, int VM = M, int VK = K>
using TileLeft = Tile<TileType::Left, T, M, K, BLayout::RowMajor, VM, VK, SLayout::RowMajor, 512>;
template <class T, int K, int N, int VK = K, int VN = N>
using TileRight = Tile<TileType::Right, T, K, N, BLayout::RowMajor, VK, VN, SLayout::ColMajor, 512>;
template <class T, int M, int N, int VM = M, int VN = N>
using TileAcc = Tile<TileType::Acc, T, M, N, BLayout::ColMajor, VM, VN, SLayout::RowMajor, 1024>;

// Places a tile at a byte offset of the memory of its kind.
template <TileType LOC, class T, int R, int C, BLayout BL, int VR, int VC, SLayout SL, int F, PadValue P,
          CompactMode M>
inline void TASSIGN(Tile<LOC, T, R, C, BL, VR, VC, SL, F, P, M>& tile, uint64_t address) {
  ::pld::sim::CoreMemory& m = ::pld::sim::memory();
  unsigned char* base = nullptr;
  uint64_t size = 0;
  const char* name = "";
  if constexpr (LOC == TileType::Vec) {
    base = m.ub, size = sizeof m.ub, name = "vector buffer";
  } else if constexpr (LOC == TileType::Mat) {
    base = m.l1, size = sizeof m.l1, name = "L1 buffer";
  } else if constexpr (LOC == TileType::Left) {
    base = m.l0a, size = sizeof m.l0a, name = "L0A buffer";
  } else if constexpr (LOC == TileType::Right) {
    base = m.l0b, size = sizeof m.l0b, name = "L0B buffer";
  } else if constexpr (LOC == TileType::Acc) {
    base = m.l0c, size = sizeof m.l0c, name = "L0C buffer";
  } else if constexpr (LOC == TileType::Bias) {
    base = m.bias, size = sizeof m.bias, name = "bias buffer";
  } else {
    base = m.scaling, size = sizeof m.scaling, name = "scaling buffer";
  }
  // A view of some columns of a wider tile ends before its last physical row does.
  constexpr int last = VC > 0 && BL == BLayout::RowMajor ? VC : C;
  constexpr uint64_t bytes = static_cast<uint64_t>((R - 1) * C + last) * sizeof(T);
  if (address > size || bytes > size - address) {
    ::pld::sim::fail("a tile of %llu bytes at address 0x%llx does not fit the %s of %llu bytes",
                     static_cast<unsigned long long>(bytes), static_cast<unsigned long long>(address), name,
                     static_cast<unsigned long long>(size));
  }
  if (address % sizeof(T) != 0) {
    ::pld::sim::fail("tile address 0x%llx is not a multiple of the element size %d",
                     static_cast<unsigned long long>(address), static_cast<int>(sizeof(T)));
  }
  tile.assign(reinterpret_cast<T*>(base + address));
}

namespace impl {

// The type in which arithmetic on T is done: float for the small floats; unsigned integers of at least 32
// bits for integers, whose conversion back wraps.
template <class T>
using Calc =
    std::conditional_t<std::is_same_v<T, float> || std::is_same_v<T, half> || std::is_same_v<T, bfloat16_t> ||
                           std::is_same_v<T, float8_e4m3_t> || std::is_same_v<T, float8_e8m0_t>,
                       float, std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>>;
template <class T>
inline constexpr bool is_float = std::is_same_v<Calc<T>, float>;
// The type in which values of T are compared: themselves, float for the small floats.
template <class T>
using Value = std::conditional_t<is_float<T>, float, T>;

template <class A, class B>
inline constexpr bool same_type = std::is_same_v<typename A::DType, typename B::DType>;

[[noreturn]] inline void shape_error(const char* op, int64_t dr, int64_t dc, int64_t r, int64_t c) {
  ::pld::sim::fail("%s: an operand has valid shape [%lld, %lld], the result needs [%lld, %lld]", op,
                   static_cast<long long>(r), static_cast<long long>(c), static_cast<long long>(dr),
                   static_cast<long long>(dc));
}

// An operand must be valid where the result is.
template <class D, class S>
inline void check_covers(const char* op, const D& d, const S& s) {
  if (s.GetValidRow() < d.GetValidRow() || s.GetValidCol() < d.GetValidCol()) {
    shape_error(op, d.GetValidRow(), d.GetValidCol(), s.GetValidRow(), s.GetValidCol());
  }
}

template <class F, class D, class... S>
inline void map_line(int64_t n, F f, D* d, const S*... s) {
  PLD_FOR(i, n) d[i] = f(s[i]...);
}

// d[r, c] = f(s[r, c]...) over the valid shape of d.
template <class F, class D, class... S>
inline void map([[maybe_unused]] const char* op, F f, const D& d, const S&... s) {
  (check_covers(op, d, s), ...);
  const int64_t rows = d.GetValidRow();
  const int64_t cols = d.GetValidCol();
  constexpr bool all_rows = D::by_rows && (S::by_rows && ...);
  constexpr bool all_cols = !D::by_rows && (!S::by_rows && ...);
  if constexpr (all_rows) {
    constexpr bool same_pitch = ((S::Cols == D::Cols) && ...);
    if (same_pitch && (cols == D::Cols || rows == 1)) {
      map_line(rows * cols, f, d.data(), s.data()...);
    } else {
      for (int64_t r = 0; r < rows; ++r)
        map_line(cols, f, &d.at(r, 0), static_cast<const typename S::DType*>(&s.at(r, 0))...);
    }
  } else if constexpr (all_cols) {
    for (int64_t c = 0; c < cols; ++c)
      map_line(rows, f, &d.at(0, c), static_cast<const typename S::DType*>(&s.at(0, c))...);
  } else {
    for (int64_t r = 0; r < rows; ++r) {
      for (int64_t c = 0; c < cols; ++c) d.at(r, c) = f(s.at(r, c)...);
    }
  }
}

}  // namespace impl
}  // namespace pto
