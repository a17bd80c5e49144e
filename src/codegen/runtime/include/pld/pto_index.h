// Copyright The pldc authors. SPDX-License-Identifier: Apache-2.0
//
// Sequences, gather, scatter, sorting, random numbers.
#pragma once
#include <bit>

#include "pld/pto_math.h"

namespace pto {
namespace impl {

[[noreturn]] inline void index_error(const char* op, int64_t index, int64_t limit) {
  ::pld::sim::fail("%s: index %lld is outside of 0 to %lld", op, static_cast<long long>(index),
                   static_cast<long long>(limit - 1));
}
inline int64_t check_index(const char* op, int64_t index, int64_t limit) {
  if (index < 0 || index >= limit) index_error(op, index, limit);
  return index;
}

// A sorted pair: value and the bits of its index, in two neighbouring lanes.
struct Pair {
  float value;
  uint32_t index;
};

// Stable merge sort of n <= 32 pairs, descending by value, then ascending by index.
inline void sort_pairs(Pair* p, int64_t n) {
  for (int64_t i = 1; i < n; ++i) {
    const Pair x = p[i];
    int64_t j = i;
    for (; j > 0 && (p[j - 1].value < x.value || (p[j - 1].value == x.value && p[j - 1].index > x.index));
         --j) {
      p[j] = p[j - 1];
    }
    p[j] = x;
  }
}

// Merges `count` descending runs of pairs into out; ties take the lower-numbered run. Stops when a run ends
// if `until_exhausted`. Returns the number of pairs written.
inline int64_t merge_runs(float* out, const float* const* runs, const int64_t* lengths, int count,
                          bool until_exhausted) {
  int64_t at[4] = {};
  int64_t written = 0;
  for (;;) {
    int best = -1;
    for (int k = 0; k < count; ++k) {
      if (at[k] < lengths[k] && (best < 0 || runs[k][2 * at[k]] > runs[best][2 * at[best]])) best = k;
    }
    if (best < 0) return written;
    out[2 * written] = runs[best][2 * at[best]];
    out[2 * written + 1] = runs[best][2 * at[best] + 1];
    ++written;
    if (++at[best] == lengths[best] && until_exhausted) return written;
  }
}

}  // namespace impl

// d[0, k] = start + k (or - k), wrapping.
template <class D, class V>
inline void TCI(const D& d, V start, bool descending = false) {
  using T = typename D::DType;
  using C = impl::Calc<T>;
  const C first = static_cast<C>(static_cast<T>(start));
  for (int64_t r = 0; r < d.GetValidRow(); ++r) {
    for (int64_t c = 0; c < d.GetValidCol(); ++c) {
      const C k = static_cast<C>(c);
      d.at(r, c) = static_cast<T>(descending ? first - k : first + k);
    }
  }
}

// 1 on and below (upper: on and above) the diagonal column = row + diagonal, else 0.
template <class D>
inline void TTRI(const D& d, int32_t diagonal, bool upper) {
  using T = typename D::DType;
  for (int64_t r = 0; r < d.GetValidRow(); ++r) {
    for (int64_t c = 0; c < d.GetValidCol(); ++c) {
      const bool one = upper ? c >= r + diagonal : c <= r + diagonal;
      d.at(r, c) = static_cast<T>(one ? 1 : 0);
    }
  }
}

// d[i, j] = s.flat[index[i, j]], flat over the physical columns of s.
template <class D, class S, class I>
inline void TGATHER(const D& d, const S& s, const I& index) {
  for (int64_t r = 0; r < d.GetValidRow(); ++r) {
    for (int64_t c = 0; c < d.GetValidCol(); ++c) {
      const int64_t k =
          impl::check_index("TGATHER", static_cast<int64_t>(index.at(r, c)), int64_t{S::Rows} * S::Cols);
      d.at(r, c) = s.at(k / S::Cols, k % S::Cols);
    }
  }
}
template <class D, class S, class I, class Tmp>
inline void TGATHER(const D& d, const S& s, const I& index, const Tmp&) {
  TGATHER(d, s, index);
}

// Each offset names the byte position in s of the 32 bytes that follow in d.
template <class D, class S, class O>
inline void TGATHERB(const D& d, const S& s, const O& offsets) {
  using T = typename D::DType;
  constexpr int64_t k = 32 / static_cast<int64_t>(sizeof(T));
  const int64_t limit = int64_t{S::Rows} * S::Cols * static_cast<int64_t>(sizeof(typename S::DType)) - 32;
  const unsigned char* base = reinterpret_cast<const unsigned char*>(s.data());
  for (int64_t r = 0; r < offsets.GetValidRow(); ++r) {
    for (int64_t q = 0; q < offsets.GetValidCol() && q * k < d.GetValidCol(); ++q) {
      const int64_t at = static_cast<int64_t>(offsets.at(r, q));
      if (at > limit) continue;  // out of range: the block stays as it is
      for (int64_t j = 0; j < k; ++j)
        d.at(r, q * k + j) = *reinterpret_cast<const T*>(base + at + j * static_cast<int64_t>(sizeof(T)));
    }
  }
}

// Marked columns, by pattern: 1, 2 even and odd; 3 to 6 column % 4 == 0 to 3; 7 all.
enum class MaskPattern { P0101 = 1, P1010 = 2, P0001 = 3, P0010 = 4, P0100 = 5, P1000 = 6, P1111 = 7 };
namespace impl {
constexpr int64_t mask_stride(MaskPattern p) {
  return p == MaskPattern::P1111 ? 1 : (static_cast<int>(p) <= 2 ? 2 : 4);
}
constexpr int64_t mask_first(MaskPattern p) {
  return p == MaskPattern::P1111
             ? 0
             : (static_cast<int>(p) <= 2 ? static_cast<int>(p) - 1 : static_cast<int>(p) - 3);
}
}  // namespace impl

// Compacts the marked columns; element types have one width and the bits are kept.
template <MaskPattern P, class D, class S>
inline void TGATHER(const D& d, const S& s) {
  static_assert(sizeof(typename D::DType) == sizeof(typename S::DType), "TGATHER: one element width");
  for (int64_t r = 0; r < d.GetValidRow(); ++r) {
    for (int64_t c = 0; c < d.GetValidCol(); ++c) {
      d.at(r, c) = std::bit_cast<typename D::DType>(s.at(r, c * impl::mask_stride(P) + impl::mask_first(P)));
    }
  }
}
// The inverse; unmarked columns of d keep their contents.
template <MaskPattern P, class D, class S>
inline void TSCATTER(const D& d, const S& s) {
  for (int64_t r = 0; r < s.GetValidRow(); ++r) {
    for (int64_t c = 0; c < s.GetValidCol(); ++c)
      d.at(r, c * impl::mask_stride(P) + impl::mask_first(P)) = s.at(r, c);
  }
}

// d.flat[index[i, j]] = s[i, j]; the last write wins, other cells keep their contents.
template <class D, class S, class I>
inline void TSCATTER(const D& d, const S& s, const I& index) {
  for (int64_t r = 0; r < s.GetValidRow(); ++r) {
    for (int64_t c = 0; c < s.GetValidCol(); ++c) {
      const int64_t k =
          impl::check_index("TSCATTER", static_cast<int64_t>(index.at(r, c)), int64_t{D::Rows} * D::Cols);
      d.at(k / D::Cols, k % D::Cols) = s.at(r, c);
    }
  }
}

// The columns (+ offset) of each row whose value compares true with k, ascending; count[0, r] = how many
// there are.
template <class D, class N, class S, class V>
inline void TGATHER_CMP(const D& d, const N& count, const S& s, V k, CmpMode mode, int64_t offset = 0) {
  using T = typename S::DType;
  const auto kv = static_cast<impl::Value<T>>(static_cast<T>(k));
  for (int64_t r = 0; r < s.GetValidRow(); ++r) {
    int64_t n = 0;
    for (int64_t c = 0; c < s.GetValidCol(); ++c) {
      const auto x = static_cast<impl::Value<T>>(s.at(r, c));
      const bool hit = mode == CmpMode::EQ   ? x == kv
                       : mode == CmpMode::NE ? x != kv
                       : mode == CmpMode::LT ? x < kv
                       : mode == CmpMode::LE ? x <= kv
                       : mode == CmpMode::GT ? x > kv
                                             : x >= kv;
      if (!hit) continue;
      if (n < d.GetValidCol()) d.at(r, n) = static_cast<typename D::DType>(c + offset);
      ++n;
    }
    count.at(0, r) = static_cast<typename N::DType>(n);
  }
}

// Global memory by index. Row mode: d[r, :] = g[index[r], :]; element mode: d[i, j] = g.flat[index[i, j]].
enum class GatherMode { Row, Elem };
enum class GatherOOB { Undefined, Clamp, Wrap, Zero };
namespace impl {
template <GatherOOB OOB>
inline int64_t bounded(int64_t index, int64_t limit) {
  const int64_t huge = static_cast<int64_t>(static_cast<uint32_t>(index));  // negative counts as huge
  if (huge < limit) return huge;
  if constexpr (OOB == GatherOOB::Clamp) return limit - 1;
  if constexpr (OOB == GatherOOB::Wrap) return huge % limit;
  if constexpr (OOB == GatherOOB::Zero) return -1;
  index_error("MGATHER", index, limit);
}
}  // namespace impl

template <GatherMode MODE, GatherOOB OOB = GatherOOB::Undefined, class D, class G, class I>
inline void MGATHER(const D& d, const G& g, const I& index) {
  using T = typename D::DType;
  const int64_t width = g.GetShape(4);
  const int64_t rows = g.rows();
  const auto address = [&](int64_t row, int64_t col) {
    int64_t at = col * g.GetStride(4);
    for (int i = 3; i >= 0; --i) {
      at += row % g.GetShape(i) * g.GetStride(i);
      row /= g.GetShape(i);
    }
    ::pld::sim::observe_cell(g.data() + at, static_cast<int32_t>(sizeof(T)), ::pld::sim::AccessKind::read);
    return g.data() + at;
  };
  for (int64_t r = 0; r < d.GetValidRow(); ++r) {
    for (int64_t c = 0; c < d.GetValidCol(); ++c) {
      int64_t k = 0;
      if constexpr (MODE == GatherMode::Row) {
        k = impl::bounded<OOB>(static_cast<int64_t>(index.data()[r]), rows);
        d.at(r, c) = k < 0 ? T{} : ::pld::remote::load(address(k, c));
      } else {
        k = impl::bounded<OOB>(static_cast<int64_t>(index.at(r, c)), rows * width);
        d.at(r, c) = k < 0 ? T{} : ::pld::remote::load(address(k / width, k % width));
      }
    }
  }
}
// g.flat[index[i, j]] = s[i, j], ascending; the last write wins.
template <class G, class S, class I>
inline void MSCATTER(const G& g, const S& s, const I& index) {
  const int64_t width = g.GetShape(4);
  for (int64_t r = 0; r < s.GetValidRow(); ++r) {
    for (int64_t c = 0; c < s.GetValidCol(); ++c) {
      int64_t row = impl::check_index("MSCATTER", static_cast<int64_t>(index.at(r, c)), g.rows() * width);
      int64_t at = row % width * g.GetStride(4);
      row /= width;
      for (int i = 3; i >= 0; --i) {
        at += row % g.GetShape(i) * g.GetStride(i);
        row /= g.GetShape(i);
      }
      ::pld::sim::observe_cell(g.data() + at, static_cast<int32_t>(sizeof(typename G::DType)),
                               ::pld::sim::AccessKind::write);
      ::pld::remote::store(g.data() + at, static_cast<typename G::DType>(s.at(r, c)));
    }
  }
}

// Each group of 32 columns of a row, descending by value; (value, index bits) interleaved.
template <class D, class S, class I>
inline void TSORT32(const D& d, const S& s, const I& index) {
  static_assert(std::is_same_v<typename S::DType, float> && sizeof(typename I::DType) == 4,
                "TSORT32: float values with 32-bit indices");
  for (int64_t r = 0; r < s.GetValidRow(); ++r) {
    for (int64_t c0 = 0; c0 < s.GetValidCol(); c0 += 32) {
      impl::Pair p[32];
      const int64_t n = s.GetValidCol() - c0 < 32 ? s.GetValidCol() - c0 : 32;
      for (int64_t j = 0; j < n; ++j)
        p[j] = {s.at(r, c0 + j), static_cast<uint32_t>(index.at(I::Rows == 1 ? 0 : r, c0 + j))};
      impl::sort_pairs(p, n);
      for (int64_t j = 0; j < n; ++j) {
        d.at(r, 2 * (c0 + j)) = p[j].value;
        d.at(r, 2 * (c0 + j) + 1) = std::bit_cast<float>(p[j].index);
      }
    }
  }
}

// Merges groups of four sorted runs of block_len elements (two per pair); an incomplete last group is left
// alone.
template <class D, class S>
inline void TMRGSORT(const D& d, const S& s, int64_t block_len) {
  for (int64_t r = 0; r < s.GetValidRow(); ++r) {
    for (int64_t c = 0; c + 4 * block_len <= s.GetValidCol(); c += 4 * block_len) {
      const float* runs[4];
      int64_t lengths[4];
      for (int k = 0; k < 4; ++k) runs[k] = &s.at(r, c + k * block_len), lengths[k] = block_len / 2;
      impl::merge_runs(&d.at(r, c), runs, lengths, 4, false);
    }
  }
}
// Merges two to four sorted tiles, row by row.
template <bool EXHAUSTED, class D, class... S>
inline void TMRGSORT_TILES(const D& d, const S&... s) {
  static_assert(sizeof...(S) >= 2 && sizeof...(S) <= 4, "TMRGSORT_TILES: two to four sources");
  for (int64_t r = 0; r < d.GetValidRow(); ++r) {
    const float* runs[] = {static_cast<const float*>(&s.at(r, 0))...};
    const int64_t lengths[] = {s.GetValidCol() / 2 ...};
    impl::merge_runs(&d.at(r, 0), runs, lengths, static_cast<int>(sizeof...(S)), EXHAUSTED);
  }
}

// Philox-4x32 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC 2011). Lane l of a group of
// 256 columns takes the counter plus l; its four words go to columns l, 64 + l, 128 + l, 192 + l. After each
// group the counter advances by a quarter of the physical columns.
template <int ROUNDS, class D>
inline void TRANDOM(const D& d, uint32_t k0, uint32_t k1, uint32_t c0, uint32_t c1, uint32_t c2,
                    uint32_t c3) {
  static_assert(ROUNDS == 7 || ROUNDS == 10, "TRANDOM: 7 or 10 rounds");
  using T = typename D::DType;
  uint32_t base[4] = {c0, c1, c2, c3};
  const auto advance = [](uint32_t* c, uint32_t by) {
    uint64_t carry = by;
    for (int i = 0; i < 4 && carry != 0; ++i) {
      carry += c[i];
      c[i] = static_cast<uint32_t>(carry);
      carry >>= 32;
    }
  };
  for (int64_t r = 0; r < d.GetValidRow(); ++r) {
    for (int64_t g = 0; g < d.GetValidCol(); g += 256) {
      for (uint32_t lane = 0; lane < 64; ++lane) {
        uint32_t x[4] = {base[0], base[1], base[2], base[3]};
        advance(x, lane);
        uint32_t key0 = k0, key1 = k1;
        for (int i = 0; i < ROUNDS; ++i) {
          const uint64_t p0 = uint64_t{0xD2511F53u} * x[0], p1 = uint64_t{0xCD9E8D57u} * x[2];
          const uint32_t y[4] = {static_cast<uint32_t>(p1 >> 32) ^ x[1] ^ key0, static_cast<uint32_t>(p1),
                                 static_cast<uint32_t>(p0 >> 32) ^ x[3] ^ key1, static_cast<uint32_t>(p0)};
          for (int k = 0; k < 4; ++k) x[k] = y[k];
          key0 += 0x9E3779B9u;
          key1 += 0xBB67AE85u;
        }
        for (int w = 0; w < 4; ++w) {
          const int64_t c = g + w * 64 + lane;
          if (c < d.GetValidCol()) d.at(r, c) = static_cast<T>(x[w]);
        }
      }
      advance(base, static_cast<uint32_t>(D::Cols / 4));
    }
  }
}

}  // namespace pto
