// Copyright The pldc authors. SPDX-License-Identifier: Apache-2.0
//
// What kernels do with windows of other processes. Included by mpi.cpp only.
#pragma once
#include "pld/runtime_mpi.h"

namespace pld::remote {
namespace {

// Bytes from the first of the box to behind its last.
int64_t span(const Place& p, const Extent& e) {
  return ((e.rows - 1) * p.row + (e.cols - 1) * p.col + 1) * static_cast<int64_t>(e.bytes);
}
bool packed(const Place& p, const Extent& e) {
  return (e.cols == 1 || p.col == 1) && (e.rows == 1 || p.row == e.cols);
}

// With `calls` held. Ends the run if the box leaves the window.
Target target(const void* p, int64_t bytes) {
  const Target t = locate(p);
  if (t.window == nullptr)
    sim::fail("address %p belongs to the windows of other ranks, but to none that is open", p);
  if (t.at + bytes > t.window->bytes) {
    sim::fail("%lld bytes from byte %lld on of the window of domain rank %d, which has %lld bytes",
              static_cast<long long>(bytes), static_cast<long long>(t.at), t.rank,
              static_cast<long long>(t.window->bytes));
  }
  return t;
}

// The box as MPI describes it; committed.
MPI_Datatype type_of(const Place& p, const Extent& e) {
  MPI_Datatype row, box;
  const int cols = static_cast<int>(e.cols), bytes = static_cast<int>(e.bytes);
  if (p.col == 1 || e.cols == 1) {
    MPI_Type_contiguous(cols * bytes, MPI_BYTE, &row);
  } else {
    MPI_Type_create_hvector(cols, bytes, static_cast<MPI_Aint>(p.col * bytes), MPI_BYTE, &row);
  }
  MPI_Type_create_hvector(static_cast<int>(e.rows), 1, static_cast<MPI_Aint>(p.row * bytes), row, &box);
  MPI_Type_commit(&box);
  MPI_Type_free(&row);
  return box;
}

// One message for a packed box, one with a description of the box otherwise.
template <class F>
void transfer(const Place& here, const Target& t, const Place& there, const Extent& e, F call) {
  auto* p = static_cast<char*>(const_cast<void*>(here.data));  // NOLINT: MPI_Get takes what it writes
  if (packed(here, e) && packed(there, e)) {
    MPI_Aint at = t.at;
    for (int64_t left = e.rows * e.cols * static_cast<int64_t>(e.bytes); left > 0; left -= kMessage) {
      const int n = static_cast<int>(left < kMessage ? left : kMessage);
      call(p, n, MPI_BYTE, at, n, MPI_BYTE);
      p += kMessage, at += kMessage;
    }
    return;
  }
  MPI_Datatype mine = type_of(here, e), theirs = type_of(there, e);
  call(p, 1, mine, t.at, 1, theirs);
  MPI_Type_free(&mine);
  MPI_Type_free(&theirs);
}

template <class T>
uint32_t lane_sum(uint32_t a, uint32_t b) {
  using Bits = std::conditional_t<sizeof(T) == 2, uint16_t, uint8_t>;
  const T x = std::bit_cast<T>(static_cast<Bits>(a)), y = std::bit_cast<T>(static_cast<Bits>(b));
  if constexpr (std::is_integral_v<T>)
    return static_cast<Bits>(x + y);
  else
    return std::bit_cast<Bits>(static_cast<T>(static_cast<float>(x) + static_cast<float>(y)));
}

// `word` with `values` added to its elements whose first bytes are [first, last).
uint32_t word_sum(uint32_t word, uint32_t values, int first, int last, Element type) {
  const int bytes = type == Element::i8 ? 1 : 2;
  const uint32_t mask = bytes == 1 ? 0xff : 0xffff;
  for (int at = first; at < last; at += bytes) {
    const int shift = at * 8;
    const uint32_t a = word >> shift & mask, b = values >> shift & mask;
    uint32_t sum = 0;
    if (type == Element::f16) sum = lane_sum<half>(a, b);
    if (type == Element::bf16) sum = lane_sum<bfloat16_t>(a, b);
    if (type == Element::i16) sum = lane_sum<int16_t>(a, b);
    if (type == Element::i8) sum = lane_sum<int8_t>(a, b);
    word = (word & ~(mask << shift)) | sum << shift;
  }
  return word;
}

// Elements of one and two bytes: MPI does not know FP16 and BF16, and Open MPI's vectorized sums of narrow integers
// saturate where ours wrap. The words that have the elements are compared and swapped, many at a time.
void add_narrow(const Target& t, const char* values, int64_t bytes, Element type) {
  constexpr int kWords = 128;
  uint32_t old[kWords], wanted[kWords], found[kWords], given[kWords];
  const MPI_Aint end = t.at + bytes;
  for (MPI_Aint word = t.at & ~MPI_Aint{3}; word < end;) {
    const MPI_Aint begin = word;
    bool open[kWords];
    int n = 0;
    for (; n < kWords && word < end; ++n, word += 4) open[n] = true;
    const auto from = [&](int k) {
      return begin + 4 * k < t.at ? static_cast<int>(t.at - begin - 4 * k) : 0;
    };
    const auto to = [&](int k) {
      return end - begin - 4 * k < 4 ? static_cast<int>(end - begin - 4 * k) : 4;
    };
    for (int k = 0; k < n; ++k) {
      given[k] = 0;
      std::memcpy(reinterpret_cast<char*>(given + k) + from(k), values + (begin + 4 * k + from(k) - t.at),
                  static_cast<size_t>(to(k) - from(k)));
    }
    MPI_Get_accumulate(nullptr, 0, MPI_INT32_T, old, n, MPI_INT32_T, t.rank, begin, n, MPI_INT32_T, MPI_NO_OP,
                       t.window->win);
    MPI_Win_flush(t.rank, t.window->win);
    for (int left = n; left > 0;) {
      for (int k = 0; k < n; ++k) {
        if (!open[k]) continue;
        wanted[k] = word_sum(old[k], given[k], from(k), to(k), type);
        MPI_Compare_and_swap(wanted + k, old + k, found + k, MPI_INT32_T, t.rank, begin + 4 * k,
                             t.window->win);
      }
      MPI_Win_flush(t.rank, t.window->win);
      for (int k = 0; k < n; ++k) {
        if (!open[k]) continue;
        open[k] = found[k] != old[k];
        left -= open[k] ? 0 : 1;
        old[k] = found[k];
      }
    }
  }
}

struct Range {
  uintptr_t begin, end;
};
Mutex ranges_mutex;
Array<Range> ranges;  // of indivisible steps outside of windows

}  // namespace

void get(Place to, Place from, Extent e) {
  const Lock lock(calls);
  const Target t = target(from.data, span(from, e));
  drain(*t.window);  // what this process put there before
  transfer(to, t, from, e, [&](void* p, int n, MPI_Datatype mine, MPI_Aint at, int k, MPI_Datatype theirs) {
    MPI_Get(p, n, mine, t.rank, at, k, theirs, t.window->win);
  });
  MPI_Win_flush(t.rank, t.window->win);
}

void put(Place to, Place from, Extent e) {
  const Lock lock(calls);
  const Target t = target(to.data, span(to, e));
  drain(*t.window);  // two transfers to one place keep their order
  transfer(from, t, to, e, [&](void* p, int n, MPI_Datatype mine, MPI_Aint at, int k, MPI_Datatype theirs) {
    MPI_Put(p, n, mine, t.rank, at, k, theirs, t.window->win);
  });
  MPI_Win_flush_local(t.rank, t.window->win);
  t.window->dirty = true;
}

bool is_window(const void* p) {
  if (is_peer(p)) return true;
  const Lock lock(calls);
  return locate(p).window != nullptr;
}

// The own window, too: all updates of a cell are of one kind, or they are not indivisible for each other.
void add(Place to, const void* values, Extent e, Element type) {
  const Lock lock(calls);
  const Target t = target(to.data, span(to, e));
  drain(*t.window);
  const auto* from = static_cast<const char*>(values);
  const auto bytes = static_cast<int64_t>(e.bytes);
  const bool whole = packed(to, e);
  const int64_t runs = whole ? 1 : (to.col == 1 ? e.rows : e.rows * e.cols);
  const int64_t length = e.rows * e.cols / runs;
  for (int64_t i = 0; i < runs; ++i, from += length * bytes) {
    const int64_t offset = whole ? 0 : to.col == 1 ? i * to.row : i / e.cols * to.row + i % e.cols * to.col;
    Target run = t;
    run.at += static_cast<MPI_Aint>(offset * bytes);
    if (type != Element::f32 && type != Element::i32) {
      add_narrow(run, from, length * bytes, type);
      continue;
    }
    const int n = static_cast<int>(length);
    const MPI_Datatype whole_word = type == Element::f32 ? MPI_FLOAT : MPI_INT32_T;
    MPI_Accumulate(from, n, whole_word, t.rank, run.at, n, whole_word, MPI_SUM, t.window->win);
  }
  MPI_Win_flush_local(t.rank, t.window->win);
  t.window->dirty = true;
}

bool notify(int32_t* cell, int32_t value, bool add) {
  const Lock lock(calls);
  if (locate(cell).window == nullptr) return false;
  const Target t = target(cell, 4);
  drain();
  MPI_Accumulate(&value, 1, MPI_INT32_T, t.rank, t.at, 1, MPI_INT32_T, add ? MPI_SUM : MPI_REPLACE,
                 t.window->win);
  MPI_Win_flush(t.rank, t.window->win);
  return true;
}

void local_atomic(const void* p, size_t bytes) {
  constexpr size_t kMost = 64;
  const Range r{reinterpret_cast<uintptr_t>(p), reinterpret_cast<uintptr_t>(p) + bytes};
  const Lock lock(ranges_mutex);
  for (Range& known : ranges) {
    if (ranges.size() < kMost && (r.end < known.begin || r.begin > known.end)) continue;
    if (r.begin < known.begin) known.begin = r.begin;
    if (r.end > known.end) known.end = r.end;
    return;
  }
  ranges.push_back(r);
}

bool had_atomics(const void* begin, const void* end) {
  const Lock lock(ranges_mutex);
  for (const Range& r : ranges) {
    if (reinterpret_cast<uintptr_t>(begin) < r.end && r.begin < reinterpret_cast<uintptr_t>(end)) return true;
  }
  return false;
}

void clear_atomics() {
  const Lock lock(ranges_mutex);
  ranges.clear();
}

void* scratch(size_t bytes) {
  static thread_local Array<uint64_t> memory;
  if (memory.size() * 8 < bytes) memory.resize(bytes / 8 + 1);
  return memory.data();
}

}  // namespace pld::remote
