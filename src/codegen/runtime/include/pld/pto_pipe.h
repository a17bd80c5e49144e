// Copyright The pldc authors. SPDX-License-Identifier: Apache-2.0
//
// FIFOs between the cube core and the vector lanes of one block. A message is a copy of a tile's valid box.
// Split codes: 0 whole tile, 1 halves by rows, 2 halves by columns; lane L takes or gives the half that
// starts at L * ceil(extent / 2). A block with one lane only, as before SplitVectorKernel, hands over whole tiles.
#pragma once
#include "pld/abi.h"
#include "pld/pto_move.h"

namespace pld::sim {

struct Message {
  int64_t rows;
  int64_t cols;
  int32_t element_bytes;
  unsigned char* data;  // row-major, packed
};

Message* new_message(int64_t rows, int64_t cols, int32_t element_bytes);
// Appends to / takes from the FIFO (direction, id, lane) of this block; pop waits and keeps the message until
// the next pop of this thread.
void push(int direction, int id, int lane, Message* message);
const Message& pop(int direction, int id, int lane);
int lanes();      // vector lanes of this block
void sync_all();  // waits for all blocks and cores of this launch
void set_event(int id);
void wait_event(int id);

}  // namespace pld::sim

namespace pto {

enum class PipeDir { ToAIV, ToAIC };

namespace impl {

struct Box {
  int64_t row, col, rows, cols;
};

// The half of a tile that a lane gets. `stride`: where the second one begins; 0: half of the tile.
template <class T>
inline Box half_of(const T& t, int split, int64_t stride, int lane) {
  const int64_t rows = t.GetValidRow(), cols = t.GetValidCol();
  if (split == 1 || split == 3) {
    const int64_t box = stride > 0 ? stride : ((split == 3 ? rows : int64_t{T::Rows}) + 1) / 2;
    const int64_t first = lane * box < rows ? lane * box : rows;
    return {first, 0, rows - first < box ? rows - first : box, cols};
  }
  if (split == 2 || split == 4) {
    const int64_t box = stride > 0 ? stride : ((split == 4 ? cols : int64_t{T::Cols}) + 1) / 2;
    const int64_t first = lane * box < cols ? lane * box : cols;
    return {0, first, rows, cols - first < box ? cols - first : box};
  }
  return {0, 0, rows, cols};
}

template <class T>
inline typename T::DType* corner(const T& t, int64_t row, int64_t col) {
  return t.data() + row * T::row_step + col * T::col_step;
}

template <class T>
inline void send(PipeDir dir, int id, int lane, const T& t, const Box& box) {
  using E = typename T::DType;
  ::pld::sim::Message* m = ::pld::sim::new_message(box.rows, box.cols, static_cast<int32_t>(sizeof(E)));
  copy_box(reinterpret_cast<E*>(m->data), box.cols, int64_t{1}, corner(t, box.row, box.col), T::row_step,
           T::col_step, box.rows, box.cols);
  ::pld::sim::push(static_cast<int>(dir), id, lane, m);
}

template <class T>
inline void receive(const T& t, const ::pld::sim::Message& m, int64_t row, int64_t col) {
  using E = typename T::DType;
  if (m.element_bytes != static_cast<int32_t>(sizeof(E)) || row + m.rows > T::Rows ||
      col + m.cols > T::Cols) {
    ::pld::sim::fail(
        "TPOP: a message of shape [%lld, %lld] with %d-byte elements does not fit a tile of shape [%d, %d]",
        static_cast<long long>(m.rows), static_cast<long long>(m.cols), m.element_bytes, T::Rows, T::Cols);
  }
  copy_box(t.data() + row * T::row_step + col * T::col_step, T::row_step, T::col_step,
           reinterpret_cast<const E*>(m.data), m.cols, int64_t{1}, m.rows, m.cols);
}

template <class T>
inline void set_valid(T& t, int64_t rows, int64_t cols) {
  if constexpr (T::ValidRow < 0 || T::ValidCol < 0) {
    t.SetValidShape(T::ValidRow < 0 ? rows : T::ValidRow, T::ValidCol < 0 ? cols : T::ValidCol);
  }
}

}  // namespace impl

template <PipeDir DIR, int ID, class T>
inline void TPUSH([[maybe_unused]] const int64_t* args, const T& t, int split,
                  [[maybe_unused]] int64_t stride = 0) {
  if constexpr (DIR == PipeDir::ToAIC) {
    impl::send(DIR, ID, get_sub_block_id(args), t, impl::half_of(t, 0, 0, 0));
  } else {
    const int lanes = ::pld::sim::lanes();
    for (int lane = 0; lane < lanes; ++lane)
      impl::send(DIR, ID, lane, t, impl::half_of(t, lanes > 1 ? split : 0, stride, lane));
  }
}

template <PipeDir DIR, int ID, class T>
inline void TPOP([[maybe_unused]] const int64_t* args, T& t, int split) {
  const int dir = static_cast<int>(DIR);
  const int lane = DIR == PipeDir::ToAIV ? static_cast<int>(get_sub_block_id(args)) : 0;
  const ::pld::sim::Message& m = ::pld::sim::pop(dir, ID, lane);
  const int64_t rows = m.rows, cols = m.cols;
  impl::receive(t, m, 0, 0);
  if (DIR == PipeDir::ToAIV || ::pld::sim::lanes() < 2) split = 0;
  if (split == 1) {
    const ::pld::sim::Message& second = ::pld::sim::pop(dir, ID, 1);
    impl::receive(t, second, rows, 0);
    impl::set_valid(t, rows + second.rows, cols);
  } else if (split == 2) {
    const ::pld::sim::Message& second = ::pld::sim::pop(dir, ID, 1);
    impl::receive(t, second, 0, cols);
    impl::set_valid(t, rows, cols + second.cols);
  } else {
    impl::set_valid(t, rows, cols);
  }
}

// The slot of the oldest popped message may be used again: a popped message is a copy, nothing to do.
template <PipeDir DIR, int ID>
inline void TFREE(const int64_t*) {}

}  // namespace pto

// Handing over where one core does the work of the matrix core and of both lanes: a lane's half of a tile, and the tile that
// the halves of both lanes are.
namespace pto::impl {

template <class D, class S>
inline void put_box(const D& d, int64_t row, int64_t col, const S& s, const Box& box) {
  if (row + box.rows > D::Rows || col + box.cols > D::Cols) {
    ::pld::sim::fail(
        "a part of shape [%lld, %lld] does not fit at [%lld, %lld] into a tile of shape [%d, %d]",
        static_cast<long long>(box.rows), static_cast<long long>(box.cols), static_cast<long long>(row),
        static_cast<long long>(col), D::Rows, D::Cols);
  }
  copy_box(corner(d, row, col), D::row_step, D::col_step, corner(s, box.row, box.col), S::row_step,
           S::col_step, box.rows, box.cols);
}

}  // namespace pto::impl

template <class D, class S>
inline void pld_shard(D& half, const S& whole, int split, int lane, int64_t stride) {
  const pto::impl::Box box = pto::impl::half_of(whole, split, stride, lane);
  pto::impl::put_box(half, 0, 0, whole, box);
  pto::impl::set_valid(half, box.rows, box.cols);
}

template <class D, class S, class S2>
inline void pld_gather(D& whole, const S& first, const S2& second, int split) {
  const pto::impl::Box a = pto::impl::half_of(first, 0, 0, 0), b = pto::impl::half_of(second, 0, 0, 0);
  pto::impl::put_box(whole, 0, 0, first, a);
  const int64_t row = split == 1 ? a.rows : 0, col = split == 2 ? a.cols : 0;
  if (row > 0 || col > 0) pto::impl::put_box(whole, row, col, second, b);
  const int64_t rows = split == 1 ? a.rows + b.rows : a.rows;
  pto::impl::set_valid(whole, rows, split == 2 ? a.cols + b.cols : a.cols);
}

// Barrier over all blocks and cores of the launch; counting event between the cores of a block.
inline void pld_syncall() { ::pld::sim::sync_all(); }
inline void pld_sync_set(int id) { ::pld::sim::set_event(id); }
inline void pld_sync_wait(int id) { ::pld::sim::wait_event(id); }
