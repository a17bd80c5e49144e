// Copyright The pldc authors. SPDX-License-Identifier: Apache-2.0
//
// Communication instructions. Every rank's window is ordinary memory of this process; signals are 4-byte
// cells that are only touched by atomic operations and order the plain data around them.
#pragma once
#include "pld/pto_move.h"

namespace pto::comm {

enum class NotifyOp { AtomicAdd, Set };
enum class WaitCmp { EQ, NE, GT, GE, LT, LE };

using SignalBase = GlobalTensor<int32_t, Shape<1, 1, 1, 1, 1>, Stride<1, 1, 1, 1, 1>, Layout::ND>;

// One signal cell.
struct Signal : SignalBase {
  explicit Signal(int32_t* cell) : SignalBase(cell) {
    if (cell == nullptr || reinterpret_cast<uintptr_t>(cell) % 4 != 0) {
      ::pld::sim::fail("a signal cell is a 4-byte aligned address");
    }
  }
};

// Adds to or sets a cell, on any rank; what this thread wrote before is visible to whoever sees the new
// value.
inline void TNOTIFY(const Signal& s, int32_t value, NotifyOp op) {
  if (::pld::sim::observing) {
    ::pld::sim::notify_observed(s.data(), value, op == NotifyOp::AtomicAdd);
  } else if (op == NotifyOp::AtomicAdd) {
    ::pld::sim::add_cell(s.data(), value);
  } else {
    ::pld::sim::set_cell(s.data(), value);
  }
}

namespace impl {
constexpr ::pld::sim::Compare compare(WaitCmp c) {
  constexpr ::pld::sim::Compare kMap[] = {::pld::sim::Compare::eq, ::pld::sim::Compare::ne,
                                          ::pld::sim::Compare::gt, ::pld::sim::Compare::ge,
                                          ::pld::sim::Compare::lt, ::pld::sim::Compare::le};
  return kMap[static_cast<int>(c)];
}

template <class G, class F>
inline bool all_cells(const G& g, F f) {
  bool all = true;
  ::pto::impl::for_planes(g, [&](const int32_t* p, int64_t) {
    for (int64_t r = 0; r < g.GetShape(3); ++r) {
      for (int64_t c = 0; c < g.GetShape(4); ++c) all = all && f(p + r * g.GetStride(3) + c * g.GetStride(4));
    }
  });
  return all;
}
}  // namespace impl

// Blocks until every cell satisfies the comparison.
template <class G>
inline void TWAIT(const G& cells, int32_t value, WaitCmp cmp) {
  static_assert(std::is_same_v<typename G::DType, int32_t>, "TWAIT: signals are int32_t");
  const ::pld::sim::Compare c = impl::compare(cmp);
  impl::all_cells(cells, [&](const int32_t* p) {
    if (::pld::sim::observing) {
      ::pld::sim::wait_observed(p, value, c);
    } else if (!::pld::sim::holds(::pld::sim::get_cell(p), value, c)) {
      ::pld::sim::wait_cell(p, value, c);
    }
    return true;
  });
}

// Whether every cell satisfies the comparison now.
template <class G>
inline bool TTEST(const G& cells, int32_t value, WaitCmp cmp) {
  static_assert(std::is_same_v<typename G::DType, int32_t>, "TTEST: signals are int32_t");
  ::pld::sim::check_stop();
  const ::pld::sim::Compare c = impl::compare(cmp);
  return impl::all_cells(cells, [&](const int32_t* p) {
    if (::pld::sim::observing) return ::pld::sim::test_observed(p, value, c);
    return ::pld::sim::holds(::pld::sim::get_cell(p), value, c);
  });
}

namespace impl {

// d = s or d += s, element by element of two boxes of one shape.
template <AtomicType ATOMIC, class D, class S>
inline void copy_global(const char* op, const D& d, const S& s) {
  using T = typename D::DType;
  static_assert(std::is_same_v<T, std::remove_const_t<typename S::DType>>,
                "source and destination have one element type");
  bool same_strides = true;
  for (int i = 0; i < 5; ++i) {
    if (d.GetShape(i) != s.GetShape(i)) {
      ::pld::sim::fail("%s: axis %d has extent %lld in the destination and %lld in the source", op, i,
                       static_cast<long long>(d.GetShape(i)), static_cast<long long>(s.GetShape(i)));
    }
    same_strides = same_strides && (d.GetShape(i) == 1 || d.GetStride(i) == s.GetStride(i));
  }
  if constexpr (ATOMIC == AtomicType::AtomicNone) {
    const auto seen = ::pto::impl::observe_global(s, ::pld::sim::AccessKind::read);
    // Peers may be reading these bytes: the same memory is left alone, not rewritten.
    if (static_cast<const void*>(d.data()) == static_cast<const void*>(s.data()) && same_strides) return;
    const auto written = ::pto::impl::observe_global(d, ::pld::sim::AccessKind::write);
    for (int64_t a = 0; a < d.GetShape(0); ++a) {
      for (int64_t b = 0; b < d.GetShape(1); ++b) {
        for (int64_t c = 0; c < d.GetShape(2); ++c) {
          ::pto::impl::copy_box(
              d.data() + a * d.GetStride(0) + b * d.GetStride(1) + c * d.GetStride(2), d.GetStride(3),
              d.GetStride(4),
              static_cast<const T*>(s.data()) + a * s.GetStride(0) + b * s.GetStride(1) + c * s.GetStride(2),
              s.GetStride(3), s.GetStride(4), d.GetShape(3), d.GetShape(4));
        }
      }
    }
  } else {
    static_assert(::pto::impl::has_atomic_add<T>,
                  "atomic add serves float, half, bfloat16_t, int32_t, int16_t and int8_t");
    const auto seen = ::pto::impl::observe_global(s, ::pld::sim::AccessKind::read);
    const auto written = ::pto::impl::observe_global(d, ::pld::sim::AccessKind::atomic);
    for (int64_t a = 0; a < d.GetShape(0); ++a) {
      for (int64_t b = 0; b < d.GetShape(1); ++b) {
        for (int64_t c = 0; c < d.GetShape(2); ++c) {
          const auto* from = s.data() + a * s.GetStride(0) + b * s.GetStride(1) + c * s.GetStride(2);
          ::pto::impl::add_box(d.data() + a * d.GetStride(0) + b * d.GetStride(1) + c * d.GetStride(2),
                               d.GetStride(3), d.GetStride(4), d.GetShape(3), d.GetShape(4),
                               [&](int64_t row, int64_t col) {
                                 return static_cast<T>(
                                     ::pld::remote::load(from + row * s.GetStride(3) + col * s.GetStride(4)));
                               });
        }
      }
    }
  }
}

template <class Stage, class D>
inline void check_stage(const Stage& stage) {
  static_assert(std::is_same_v<typename Stage::DType, typename D::DType>,
                "the stage tile has the element type of the transfer");
  static_assert(Stage::Loc == TileType::Vec, "the stage tile is in the vector buffer");
  if (stage.data() == nullptr) ::pld::sim::fail("the stage tile of a transfer has no address");
}

}  // namespace impl

// Writes local memory to a peer's window. The stage tiles, which carry the data on the device, are left
// alone.
template <AtomicType ATOMIC = AtomicType::AtomicNone, class D, class S, class Stage>
inline void TPUT(const D& remote, const S& local, const Stage& stage) {
  impl::check_stage<Stage, D>(stage);
  impl::copy_global<ATOMIC>("TPUT", remote, local);
}
template <AtomicType ATOMIC = AtomicType::AtomicNone, class D, class S, class Stage>
inline void TPUT(const D& remote, const S& local, const Stage& ping, const Stage& pong) {
  impl::check_stage<Stage, D>(pong);
  TPUT<ATOMIC>(remote, local, ping);
}

// Reads a peer's window into local memory.
template <class D, class S, class Stage>
inline void TGET(const D& local, const S& remote, const Stage& stage) {
  impl::check_stage<Stage, D>(stage);
  impl::copy_global<AtomicType::AtomicNone>("TGET", local, remote);
}
template <class D, class S, class Stage>
inline void TGET(const D& local, const S& remote, const Stage& ping, const Stage& pong) {
  impl::check_stage<Stage, D>(pong);
  TGET(local, remote, ping);
}

}  // namespace pto::comm
