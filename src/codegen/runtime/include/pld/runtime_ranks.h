// Copyright The pldc authors. SPDX-License-Identifier: Apache-2.0
//
// Files of ranks: one for all, or one for each if the name has `{rank}`. Where ranks are processes (--target=mpi), rank 0
// reads and writes the former, every rank its own of the latter. Included by launcher.cpp only.
#pragma once
#include "pld/npy.h"
#include "pld/runtime_bound.h"
#include "pld/runtime_options.h"
#include "pld/runtime_remote.h"

namespace pld {
namespace {

constexpr const char* kRankMark = "{rank}";

// npos: the name is the same on all ranks.
size_t rank_mark(const Text& file) {
  size_t at = file.find('{');
  while (at != Text::npos && !file.has(at, kRankMark)) at = file.find('{', at + 1);
  return at;
}
bool names_rank(const Text& file) { return rank_mark(file) != Text::npos; }

Text file_of_rank(const Text& file, int64_t rank) {
  const size_t at = rank_mark(file);
  if (at == Text::npos) return file;
  return file.substr(0, at) + decimal(rank) + file_of_rank(file.substr(at + std::strlen(kRankMark)), rank);
}

// The axis that the rank indexes, along which files of ranks are put together.
int64_t rank_axis(const ParamInfo& p, const Text& where, const Text& file) {
  if (p.own_axis >= 0) return p.own_axis;
  for (int64_t i = 0; i < p.dims.count; ++i) {
    if (p.dims[i].per_rank) return i;
  }
  throw Error(where + " has no axis that the rank indexes; give one file for all ranks, not " + file);
}

// The part in the file of one rank has the axis with the extent 1, or does not have it. `all`: what the ranks before have.
void check_part(const ParamInfo& p, int64_t axis, const Text& where, const Text& file, npy::Values& part,
                const npy::Values* all) {
  Array<int64_t>& shape = part.shape;
  if (static_cast<int64_t>(shape.size()) == p.dims.count - 1) shape.insert(static_cast<size_t>(axis), 1);
  const bool fits =
      static_cast<int64_t>(shape.size()) == p.dims.count && shape[static_cast<size_t>(axis)] == 1;
  if (fits && (all == nullptr || (part.descr == all->descr && shape == all->shape))) return;
  throw Error(
      where + ": " + file + " does not have " +
      (fits ? "the shape and dtype of rank 0's file" : "the part of one rank") +
      text(": its axis %lld, which the rank indexes, has to be 1 or missing", static_cast<long long>(axis)));
}

// One rank's part of a result.
Bound part_of(const Bound& all, int64_t rank, const Text& where, const Text& file) {
  const ParamInfo& p = *all.info;
  const int64_t axis = rank_axis(p, where, file);
  const Part part(all.shape, p.dtype, axis, rank);
  Bound own{all.info, all.file, all.shape, {}, Array<unsigned char>(part.bytes())};
  part.take(own.data.data(), all.data.data());
  own.shape[static_cast<size_t>(axis)] = 1;
  return own;
}

#ifndef PLD_TARGET_MPI
bool speaks() { return true; }
const Text& own_file(const Text& file) { return file; }
Text rank_text() { return {}; }
// The ranks whose files this process writes: from the first to behind the last.
int64_t first_own() { return 0; }
int64_t behind_own(int64_t ranks) { return ranks; }
Part part_here(const ParamInfo& p, const Array<int64_t>& shape) { return {shape, p.dtype, -1, 0}; }

// `ranks`: of --ranks, 0 if it is not given.
npy::Values read_input(const ParamInfo& p, const Text& file, const Text& where, int64_t ranks) {
  if (!names_rank(file)) return npy::read(file);
  if (ranks == 0) throw UsageError{file + " is a file for each rank: give --ranks N"};
  const int64_t axis = rank_axis(p, where, file);
  npy::Values all;
  for (int64_t r = 0; r < ranks; ++r) {
    const Text name = file_of_rank(file, r);
    npy::Values part = npy::read(name);
    check_part(p, axis, where, name, part, r == 0 ? nullptr : &all);
    if (r == 0) {
      all.descr = part.descr;
      all.shape = part.shape;
      all.data.resize(part.data.size() * static_cast<size_t>(ranks));
    }
    if (!npy::fits(all.descr, p.dtype)) continue;  // an error for the caller
    Array<int64_t> shape = part.shape;
    shape[static_cast<size_t>(axis)] = ranks;
    Part(shape, p.dtype, axis, r).give(part.data.data(), all.data.data());
  }
  all.shape[static_cast<size_t>(axis)] = ranks;
  return all;
}
#else
// The first one says what all would say.
bool speaks() { return remote::rank() == 0; }
Text rank_text() { return text("rank %lld: ", static_cast<long long>(remote::rank())); }
Text own_file(const Text& file) { return file_of_rank(file, remote::rank()); }
int64_t first_own() { return remote::rank(); }
int64_t behind_own(int64_t) { return remote::rank() + 1; }

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

// Whether this process has all of the parameter: rank 0 has that of results, which it writes.
bool has_all(const ParamInfo& p) { return p.own_axis < 0 || (remote::rank() == 0 && p.dir != Dir::in); }

// What of a parameter this process has.
Part part_here(const ParamInfo& p, const Array<int64_t>& shape) {
  return {shape, p.dtype, has_all(p) ? -1 : p.own_axis, remote::rank()};
}

// What `from` reads: its dtype and shape on every rank, the elements on that one only. So is its error.
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
  return a;
}

// Of the array that rank 0 has, every rank gets its part.
void scatter(const ParamInfo& p, npy::Values& a) {
  if (!npy::fits(a.descr, p.dtype) || static_cast<int64_t>(a.shape.size()) != p.dims.count)
    return;  // an error for the caller
  if (p.own_axis < 0) return share_array(a.data, 0);
  Array<unsigned char> bytes;
  for (int64_t r = remote::ranks(); r-- > 0;) {
    if (remote::rank() != 0 && remote::rank() != r) continue;
    const Part part(a.shape, p.dtype, p.own_axis, r);
    bytes.resize(part.bytes());
    if (remote::rank() == 0) part.take(bytes.data(), a.data.data());
    remote::transfer(bytes.data(), bytes.size(), 0, r);
  }
  if (!has_all(p)) a.data = std::move(bytes);
}

// The files of all ranks, put together along the axis that the rank indexes.
npy::Values read_parts(const ParamInfo& p, const Text& file, const Text& where) {
  const int64_t axis = rank_axis(p, where, file);
  npy::Values all;
  const int64_t n = remote::ranks();
  for (int64_t r = 0; r < n; ++r) {
    npy::Values part = read_on(file_of_rank(file, r), r);
    check_part(p, axis, where, file_of_rank(file, r), part, r == 0 ? nullptr : &all);
    if (r == 0) {
      all.descr = part.descr;
      all.shape = part.shape;
    }
    if (!npy::fits(all.descr, p.dtype)) continue;  // an error for the caller
    Array<int64_t> shape = part.shape;
    const size_t bytes = Part(shape, p.dtype, -1, 0).bytes();
    shape[static_cast<size_t>(axis)] = n;
    if (p.own_axis >= 0) {
      if (p.dir != Dir::in && r != 0) {  // rank 0 has all
        if (remote::rank() == 0) part.data.resize(bytes);
        remote::transfer(part.data.data(), bytes, r, 0);
      }
    } else {
      share_array(part.data, r);
    }
    if (!has_all(p)) {
      if (remote::rank() == r) all.data = std::move(part.data);
      continue;
    }
    if (r == 0) all.data.resize(bytes * static_cast<size_t>(n));
    Part(shape, p.dtype, axis, r).give(part.data.data(), all.data.data());
  }
  all.shape[static_cast<size_t>(axis)] = n;
  return all;
}

npy::Values read_input(const ParamInfo& p, const Text& file, const Text& where, int64_t) {
  if (names_rank(file)) return read_parts(p, file, where);
  npy::Values all = read_on(file, 0);
  scatter(p, all);
  return all;
}

#endif

}  // namespace
}  // namespace pld
