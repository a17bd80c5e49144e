// Copyright The pldc authors. SPDX-License-Identifier: Apache-2.0
//
// State of this process among the others, and its windows. Included by mpi.cpp only.
#pragma once
#define OMPI_SKIP_MPICXX 1  // the C++ bindings, which no compiler of today takes without warnings
#define MPICH_SKIP_MPICXX 1
#include <mpi.h>
#include <sched.h>
#include <sys/mman.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>

#include "pld/runtime_remote.h"
#include "pld/runtime_watch.h"

namespace pld::remote {
namespace {

// One window of MPI: a domain that this process is in.
struct Window {
  MPI_Comm comm;
  MPI_Win win;
  char* base;       // own memory
  int64_t bytes;    // of each rank's window
  uintptr_t first;  // reserved addresses: of rank 0
  uintptr_t step;   // and from one rank to the next
  int ranks;
  bool dirty;  // something was put that may not have arrived
};

// Calls of MPI are made by one thread at a time (MPI_THREAD_SERIALIZED): more is refused by some of its transports. Never
// taken by who holds a machine's mutex, and the other way round.
Mutex calls;
MPI_Comm world = MPI_COMM_NULL;    // collective calls
MPI_Comm control = MPI_COMM_NULL;  // messages about the run, to whoever polls
int me = 0;
int count = 1;
bool crowded = false;      // more processes than processors on this machine
Array<Window*> windows;    // owned
uintptr_t next_free = 0;   // of the reserved range
volatile int leaving = 0;  // being ended is no news

constexpr uintptr_t kPage = 4096;
// 16 TiB of addresses, of which nothing is memory.
constexpr size_t kReserve = size_t{1} << 44;
constexpr int64_t kMessage = int64_t{1} << 30;  // MPI counts with int

struct Target {
  Window* window = nullptr;
  int rank = 0;
  MPI_Aint at = 0;
};

// Where an address of a window is. With `calls` held.
Target locate(const void* p) {
  const auto a = reinterpret_cast<uintptr_t>(p);
  for (Window* w : windows) {
    const uintptr_t own = a - reinterpret_cast<uintptr_t>(w->base);
    if (own < static_cast<uintptr_t>(w->bytes)) {
      int rank = 0;
      MPI_Comm_rank(w->comm, &rank);
      return {w, rank, static_cast<MPI_Aint>(own)};
    }
    const uintptr_t there = a - w->first;
    if (there < w->step * static_cast<uintptr_t>(w->ranks))
      return {w, static_cast<int>(there / w->step), static_cast<MPI_Aint>(there % w->step)};
  }
  return {};
}

void drain(Window& w) {
  if (w.dirty) MPI_Win_flush_all(w.win);
  w.dirty = false;
}

// All that was put has arrived, and plain stores of this process are visible.
void drain() {
  for (Window* w : windows) drain(*w);
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
}

bool reserve() {
  if (reserved_bytes != 0) return true;
  for (size_t bytes = kReserve; bytes >= size_t{1} << 36; bytes /= 4) {
    void* p = mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED) continue;
    reserved = next_free = reinterpret_cast<uintptr_t>(p);
    reserved_bytes = bytes;
    return true;
  }
  return false;
}

}  // namespace

int64_t rank() { return me; }
int64_t ranks() { return count; }

void open(DomainState& d) {
  const int n = static_cast<int>(d.devices.size());
  for (int i = 0; i < n; ++i) {
    for (int k = 0; k < i; ++k) {
      if (d.devices[static_cast<size_t>(i)] == d.devices[static_cast<size_t>(k)])
        throw Error(text("domain %s names device %lld twice", d.name.c_str(),
                         static_cast<long long>(d.devices[static_cast<size_t>(i)])));
    }
  }
  const uintptr_t step = (static_cast<uintptr_t>(d.window_bytes) / kPage + 2) * kPage;
  const Lock lock(calls);
  if (step * static_cast<uintptr_t>(n) > reserved + reserved_bytes - next_free) {
    throw Error(text("domain %s: there are no addresses for %d windows of %lld bytes", d.name.c_str(), n,
                     static_cast<long long>(d.window_bytes)));
  }
  const uintptr_t first = next_free;
  next_free += step * static_cast<uintptr_t>(n);
  const int64_t own = d.rank_of(me);
  char* base = nullptr;
  if (own >= 0) {
    Array<int> members(static_cast<size_t>(n));
    for (int i = 0; i < n; ++i)
      members[static_cast<size_t>(i)] = static_cast<int>(d.devices[static_cast<size_t>(i)]);
    MPI_Group all, group;
    MPI_Comm_group(world, &all);
    MPI_Group_incl(all, n, members.data(), &group);
    auto* w = new Window{MPI_COMM_NULL, MPI_WIN_NULL, nullptr, d.window_bytes, first, step, n, false};
    MPI_Comm_create_group(world, group, 0, &w->comm);
    MPI_Win_allocate(static_cast<MPI_Aint>(d.window_bytes), 1, MPI_INFO_NULL, w->comm, &base, &w->win);
    std::memset(base, 0, static_cast<size_t>(d.window_bytes));
    MPI_Group_free(&group);
    MPI_Group_free(&all);
    MPI_Win_lock_all(MPI_MODE_NOCHECK, w->win);
    MPI_Win_sync(w->win);
    MPI_Barrier(w->comm);  // nobody writes before all are zero
    w->base = base;
    windows.push_back(w);
  }
  for (int i = 0; i < n; ++i) {
    void* p = i == own ? static_cast<void*>(base)
                       : reinterpret_cast<void*>(first + static_cast<uintptr_t>(i) * step);  // NOLINT
    d.windows.push_back(Owned<unsigned char, free_window>(static_cast<unsigned char*>(p)));
  }
}

void broadcast(void* data, size_t bytes, int64_t from) {
  const Lock lock(calls);
  auto* p = static_cast<char*>(data);
  for (auto left = static_cast<int64_t>(bytes); left > 0; left -= kMessage, p += kMessage)
    MPI_Bcast(p, static_cast<int>(left < kMessage ? left : kMessage), MPI_BYTE, static_cast<int>(from),
              world);
}

void transfer(void* data, size_t bytes, int64_t from, int64_t to) {
  if (from == to || (me != from && me != to)) return;
  const Lock lock(calls);
  auto* p = static_cast<char*>(data);
  for (auto left = static_cast<int64_t>(bytes); left > 0; left -= kMessage, p += kMessage) {
    const int size = static_cast<int>(left < kMessage ? left : kMessage);
    if (me == from) {
      MPI_Send(p, size, MPI_BYTE, static_cast<int>(to), 0, world);
    } else {
      MPI_Recv(p, size, MPI_BYTE, static_cast<int>(from), 0, world, MPI_STATUS_IGNORE);
    }
  }
}

}  // namespace pld::remote
