// Copyright The pldc authors. SPDX-License-Identifier: Apache-2.0
//
// Files of a program whose ranks are processes (--target=mpi): rank 0 reads and writes them for all, or every rank its own, if
// the name has `{rank}`. Included by launcher.cpp only.
#pragma once
#include "pld/npy.h"
#include "pld/runtime_options.h"
#include "pld/runtime_remote.h"

namespace pld {
namespace {

#ifndef PLD_TARGET_MPI
bool speaks() { return true; }
bool names_rank(const Text&) { return false; }
const Text& own_file(const Text& file) { return file; }
Text rank_text() { return {}; }
npy::Values read_input(const ParamInfo&, const Text& file, const Text&) { return npy::read(file); }
void cut_part(const ParamInfo&, const Text&, const Text&, Array<int64_t>&, Array<unsigned char>&) {}
#else
constexpr const char* kRankMark = "{rank}";

// npos: the name is the same on all ranks.
size_t rank_mark(const Text& file) {
  size_t at = file.find('{');
  while (at != Text::npos && !file.has(at, kRankMark)) at = file.find('{', at + 1);
  return at;
}
bool names_rank(const Text& file) { return rank_mark(file) != Text::npos; }

// The first one says what all would say.
bool speaks() { return remote::rank() == 0; }
Text rank_text() { return text("rank %lld: ", static_cast<long long>(remote::rank())); }

Text file_of_rank(const Text& file, int64_t rank) {
  const size_t at = rank_mark(file);
  if (at == Text::npos) return file;
  return file.substr(0, at) + decimal(rank) + file_of_rank(file.substr(at + std::strlen(kRankMark)), rank);
}

Text own_file(const Text& file) { return file_of_rank(file, remote::rank()); }

// The ranks are what mpirun started; what needs all of them in one process is refused.
void use_processes(Options& o) {
  if (o.help) return;
  if (o.seeded) throw UsageError{"--schedule=seeded orders threads of one process: use --target=sim"};
  if (o.check_races) throw UsageError{"--check=races looks at all ranks in one process: use --target=sim"};
  if (!o.trace.empty() && remote::ranks() > 1 && !names_rank(o.trace))
    throw UsageError{"--trace writes a file for each rank: its name takes {rank}, as in trace-{rank}.json"};
  if (o.ranks != 0 && o.ranks != remote::ranks()) {
    throw Error(text("--ranks %lld, but mpirun started %lld process%s; start it with mpirun -n %lld",
                     static_cast<long long>(o.ranks), static_cast<long long>(remote::ranks()),
                     remote::ranks() == 1 ? "" : "es", static_cast<long long>(o.ranks)));
  }
  o.ranks = remote::ranks();
}

// The axis that the rank indexes, -1: none.
int64_t rank_axis(const ParamInfo& p) {
  for (int64_t i = 0; i < p.dims.count; ++i) {
    if (p.dims[i].per_rank) return i;
  }
  return -1;
}

template <class T>
void share_array(Array<T>& array, int64_t from) {
  uint64_t size = array.size();
  remote::broadcast(&size, sizeof size, from);
  array.resize(static_cast<size_t>(size));
  remote::broadcast(array.data(), array.size() * sizeof(T), from);
}
void share_text(Text& t, int64_t from) {
  Array<char> bytes(t.begin(), t.size());
  share_array(bytes, from);
  t = Text(bytes.data(), bytes.size());
}

// What `from` reads, on every rank; so is its error.
npy::Values read_on(const Text& file, int64_t from) {
  npy::Values a;
  Text error;
  if (remote::rank() == from) {
    try {
      a = npy::read(file);
    } catch (const Error& e) {
      error = e.what();
    }
  }
  share_text(error, from);
  if (!error.empty())
    throw Error(from == 0 ? error : error + text(" (rank %lld)", static_cast<long long>(from)));
  share_text(a.descr, from);
  share_array(a.shape, from);
  share_array(a.data, from);
  return a;
}

// Bytes of everything behind an axis, and how often that stands in front of it.
struct Parts {
  size_t inner = 1;
  size_t outer = 1;
  Parts(const Array<int64_t>& shape, int64_t axis, size_t element) : inner(element) {
    for (size_t i = 0; i < shape.size(); ++i) {
      if (static_cast<int64_t>(i) < axis) outer *= static_cast<size_t>(shape[i]);
      if (static_cast<int64_t>(i) > axis) inner *= static_cast<size_t>(shape[i]);
    }
  }
};

// The files of all ranks, put together along the axis that the rank indexes.
npy::Values read_parts(const ParamInfo& p, const Text& file, const Text& where) {
  const int64_t axis = rank_axis(p);
  if (axis < 0)
    throw Error(where + " has no axis that the rank indexes; give one file for all ranks, not " + file);
  npy::Values all;
  const int64_t n = remote::ranks();
  for (int64_t r = 0; r < n; ++r) {
    npy::Values part = read_on(file_of_rank(file, r), r);
    if (static_cast<int64_t>(part.shape.size()) == p.dims.count - 1) {  // without the axis
      Array<int64_t> shape;
      for (int64_t i = 0; i < p.dims.count; ++i)
        shape.push_back(i == axis ? 1 : part.shape[static_cast<size_t>(i < axis ? i : i - 1)]);
      part.shape = shape;
    }
    const bool fits =
        static_cast<int64_t>(part.shape.size()) == p.dims.count && part.shape[static_cast<size_t>(axis)] == 1;
    if (!fits || (r > 0 && (!(part.descr == all.descr) || !(part.shape == all.shape)))) {
      throw Error(where + ": " + file_of_rank(file, r) + " does not have " +
                  (fits ? "the shape and dtype of rank 0's file" : "the part of one rank") +
                  text(": its axis %lld, which the rank indexes, has to be 1 or missing",
                       static_cast<long long>(axis)));
    }
    if (r == 0) {
      all.descr = part.descr;
      all.shape = part.shape;
      all.data.resize(part.data.size() * static_cast<size_t>(n));
    }
    const Parts sizes(part.shape, axis, static_cast<size_t>(size_of(p.dtype)));
    for (size_t o = 0; o < sizes.outer && !part.data.empty(); ++o) {
      std::memcpy(&all.data[(o * static_cast<size_t>(n) + static_cast<size_t>(r)) * sizes.inner],
                  &part.data[o * sizes.inner], sizes.inner);
    }
  }
  all.shape[static_cast<size_t>(axis)] = n;
  return all;
}

npy::Values read_input(const ParamInfo& p, const Text& file, const Text& where) {
  return names_rank(file) ? read_parts(p, file, where) : read_on(file, 0);
}

// This rank's part of a result.
void cut_part(const ParamInfo& p, const Text& where, const Text& file, Array<int64_t>& shape,
              Array<unsigned char>& data) {
  const int64_t axis = rank_axis(p);
  if (axis < 0)
    throw Error(where + " has no axis that the rank indexes; give one file for all ranks, not " + file);
  const Parts sizes(shape, axis, static_cast<size_t>(size_of(p.dtype)));
  const auto n = static_cast<size_t>(shape[static_cast<size_t>(axis)]),
             r = static_cast<size_t>(remote::rank());
  Array<unsigned char> part(sizes.outer * sizes.inner);
  for (size_t o = 0; o < sizes.outer && !part.empty(); ++o)
    std::memcpy(&part[o * sizes.inner], &data[(o * n + r) * sizes.inner], sizes.inner);
  shape[static_cast<size_t>(axis)] = 1;
  data = std::move(part);
}
#endif

}  // namespace
}  // namespace pld
