// Copyright The pldc authors. SPDX-License-Identifier: Apache-2.0
//
// FIFOs between the cube core and the vector lanes of one block. A message is a copy of a tile's valid box.
// Split codes: 0 whole tile, 1 halves by rows, 2 halves by columns; lane L takes or gives the half that
// starts at L * ceil(extent / 2).
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

template <class T>
inline void send(PipeDir dir, int id, int lane, const T& t, int64_t row, int64_t col, int64_t rows,
                 int64_t cols) {
  using E = typename T::DType;
  ::pld::sim::Message* m = ::pld::sim::new_message(rows, cols, static_cast<int32_t>(sizeof(E)));
  copy_box(reinterpret_cast<E*>(m->data), cols, int64_t{1},
           static_cast<const E*>(t.data()) + row * T::row_step + col * T::col_step, T::row_step, T::col_step,
           rows, cols);
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
  const int64_t rows = t.GetValidRow(), cols = t.GetValidCol();
  if constexpr (DIR == PipeDir::ToAIC) {
    impl::send(DIR, ID, get_sub_block_id(args), t, 0, 0, rows, cols);
  } else {
    for (int lane = 0; lane < ::pld::sim::lanes(); ++lane) {
      if (split == 1 || split == 3) {
        const int64_t box = stride > 0 ? stride : ((split == 3 ? rows : int64_t{T::Rows}) + 1) / 2;
        const int64_t first = lane * box < rows ? lane * box : rows;
        impl::send(DIR, ID, lane, t, first, 0, rows - first < box ? rows - first : box, cols);
      } else if (split == 2 || split == 4) {
        const int64_t box = stride > 0 ? stride : ((split == 4 ? cols : int64_t{T::Cols}) + 1) / 2;
        const int64_t first = lane * box < cols ? lane * box : cols;
        impl::send(DIR, ID, lane, t, 0, first, rows, cols - first < box ? cols - first : box);
      } else {
        impl::send(DIR, ID, lane, t, 0, 0, rows, cols);
      }
    }
  }
}

template <PipeDir DIR, int ID, class T>
inline void TPOP([[maybe_unused]] const int64_t* args, T& t, int split) {
  const int dir = static_cast<int>(DIR);
  const int lane = DIR == PipeDir::ToAIV ? static_cast<int>(get_sub_block_id(args)) : 0;
  const ::pld::sim::Message& m = ::pld::sim::pop(dir, ID, lane);
  const int64_t rows = m.rows, cols = m.cols;
  impl::receive(t, m, 0, 0);
  if (DIR == PipeDir::ToAIC && split == 1) {
    const ::pld::sim::Message& second = ::pld::sim::pop(dir, ID, 1);
    impl::receive(t, second, rows, 0);
    impl::set_valid(t, rows + second.rows, cols);
  } else if (DIR == PipeDir::ToAIC && split == 2) {
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

// Barrier over all blocks and cores of the launch; counting event between the cores of a block.
inline void pld_syncall() { ::pld::sim::sync_all(); }
inline void pld_sync_set(int id) { ::pld::sim::set_event(id); }
inline void pld_sync_wait(int id) { ::pld::sim::wait_event(id); }
