// Copyright The pldc authors. SPDX-License-Identifier: Apache-2.0
//
// Memory of ranks that are other processes (--target=mpi). A peer's window has addresses in a reserved range that is not
// mapped: the instructions that move data look for them here, whoever else uses one faults. With ranks as threads every
// function below is nothing. Defined in pld/mpi.cpp.
#pragma once
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace pld::remote {

#ifdef PLD_TARGET_MPI
inline constexpr bool enabled = true;
#else
inline constexpr bool enabled = false;
#endif

// The addresses of peers' windows; empty until the process has joined the others.
inline uintptr_t reserved = 0;
inline uintptr_t reserved_bytes = 0;

inline bool is_peer([[maybe_unused]] const void* p) {
  if constexpr (enabled) {
    return reinterpret_cast<uintptr_t>(p) - reserved < reserved_bytes;
  } else {
    return false;
  }
}

// A box of rows x cols elements in memory; steps count elements.
struct Place {
  const void* data;
  int64_t row, col;
};
struct Extent {
  int64_t rows, cols;
  size_t bytes;  // of an element
};

// From a peer into this process, complete on return; to a peer, complete before the next notify of this process.
void get(Place to, Place from, Extent e);
void put(Place to, Place from, Extent e);

enum class Element : uint8_t { f32, f16, bf16, i32, i16, i8 };

// Of this process or a peer.
bool is_window(const void* p);
// Adds packed values to a box in a window, each as one indivisible step for all processes.
void add(Place to, const void* values, Extent e, Element type);
// An indivisible step in memory that no other process sees; the results of ranks that meet there cannot be put together.
void local_atomic(const void* p, size_t bytes);
// Everything that this process put is there; then the cell is added to or set. False: not a cell of a window.
bool notify(int32_t* cell, int32_t value, bool add);
// Lets peers get at this process.
void progress();
// Memory of this thread until its next call.
void* scratch(size_t bytes);

template <class T>
inline T load(const T* p) {
  if constexpr (enabled) {
    if (is_peer(p)) {
      std::remove_const_t<T> value;
      get({&value, 1, 1}, {p, 1, 1}, {1, 1, sizeof(T)});
      return value;
    }
  }
  return *p;
}
template <class T>
inline void store(T* p, T value) {
  if constexpr (enabled) {
    if (is_peer(p)) {
      put({p, 1, 1}, {&value, 1, 1}, {1, 1, sizeof(T)});
      return;
    }
  }
  *p = value;
}

}  // namespace pld::remote
