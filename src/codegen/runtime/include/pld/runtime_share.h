// Copyright The pldc authors. SPDX-License-Identifier: Apache-2.0
//
// Host memory of a run with a process per rank (--target=mpi): every process has all of it, a dispatch writes to that of its
// rank, and Host::sync() makes all of them equal again. Included by runtime.cpp only.
#pragma once
#include "pld/runtime_state.h"
#include "pld/runtime_tensor.h"

namespace pld {
namespace {

struct Bytes {
  const char* begin;
  const char* end;
  bool meets(const Bytes& other) const { return begin < other.end && other.begin < end; }
};

Bytes bytes_of(const Tensor& t) {
  int64_t last = 0;
  for (int i = 0; i < t.rank; ++i) last += (t.shape[i] - 1) * t.strides[i];
  const auto* begin = static_cast<const char*>(t.data);
  return {begin, begin + (last + 1) * size_of(t.dtype)};
}

// The same elements, row-major in other memory.
Tensor packed_in(const Tensor& t, Array<unsigned char>& memory) {
  memory.resize(static_cast<size_t>(t.size() * size_of(t.dtype)));
  Tensor p = t;
  p.data = memory.data();
  int64_t stride = 1;
  for (int i = p.rank; i-- > 0;) p.strides[i] = stride, stride *= p.shape[i];
  return p;
}

bool same_box(const Tensor& a, const Tensor& b) {
  bool same = a.data == b.data && a.dtype == b.dtype && a.rank == b.rank;
  for (int i = 0; same && i < a.rank; ++i) same = a.shape[i] == b.shape[i] && a.strides[i] == b.strides[i];
  return same;
}

// Takes over what another rank changed. False: this rank or one before it changed the same element to something else.
bool merge(const Tensor& t, const Array<unsigned char>& base, const Array<unsigned char>& values) {
  Array<unsigned char> memory;
  const Tensor now = packed_in(t, memory);
  now.assign(t);
  const auto step = static_cast<size_t>(size_of(t.dtype));
  bool agreed = true;
  for (size_t at = 0; at < memory.size(); at += step) {
    if (std::memcmp(&values[at], &base[at], step) == 0) continue;
    agreed = agreed && (std::memcmp(&memory[at], &base[at], step) == 0 ||
                        std::memcmp(&memory[at], &values[at], step) == 0);
    std::memcpy(&memory[at], &values[at], step);
  }
  t.assign(now);
  return agreed;
}

}  // namespace

// What the dispatch may write, for share(); of this rank's with the values before.
void Machine::record(int64_t device, const Args& args, Place place) {
  for (const Args::Item& item : args.tensors()) {
    if (item.dir == Dir::in || item.tensor.window || item.tensor.size() == 0) continue;
    bool known = false;
    for (const Owned<Written>& w : written)
      known = known || (w->device == device && same_box(w->tensor, item.tensor));
    if (known) continue;
    written.push_back(Owned<Written>(new Written{device, item.tensor, place, {}}));
    if (device == remote::rank()) packed_in(item.tensor, written.back()->before).assign(item.tensor);
  }
}

void Machine::note_atomics(const Staging& s) {
  if (!remote::had_atomics(s.packed.begin(), s.packed.end())) return;
  const Bytes bytes = bytes_of(s.tensor);
  remote::local_atomic(bytes.begin, static_cast<size_t>(bytes.end - bytes.begin));
}

void Machine::share() {
  remote::meet(*this);
  Text wrong;
  bool compared = false;
  for (const Owned<Written>& w : written) {
    const Bytes bytes = bytes_of(w->tensor);
    bool alone = true;  // no other rank wrote near it
    for (const Owned<Written>& other : written)
      alone = alone && (other->device == w->device || !bytes.meets(bytes_of(other->tensor)));
    const bool own = w->device == remote::rank();
    Array<unsigned char> values;
    const Tensor packed = packed_in(w->tensor, values);
    if (own) packed.assign(w->tensor);
    remote::broadcast(values.data(), values.size(), w->device);
    if (alone) {
      if (!own) w->tensor.assign(packed);
      continue;
    }
    compared = true;
    unsigned char atomics = own && remote::had_atomics(bytes.begin, bytes.end) ? 1 : 0;
    remote::broadcast(&atomics, 1, w->device);
    if (!own) w->before.resize(values.size());
    remote::broadcast(w->before.data(), values.size(), w->device);
    const bool agreed = own || merge(w->tensor, w->before, values);
    if ((agreed && atomics == 0) || !wrong.empty()) continue;
    const char* name = w->tensor.name != nullptr ? w->tensor.name : "a host tensor";
    wrong = text(
        "%s:%d:%d: the dispatches of several ranks %s %s, and each rank has host memory of its own; use "
        "--target=sim, or a window",
        program.source, w->place.line, w->place.column,
        atomics != 0 ? "write, with atomic adds," : "write different values to one place of", name);
  }
  written.clear();
  remote::clear_atomics();
  if (!compared) return;
  // Not all see it, but all say it.
  const auto n = static_cast<int>(remote::ranks());
  const int first = n - remote::agree(wrong.empty() ? 0 : n - static_cast<int>(remote::rank()));
  if (first == n) return;
  int64_t length = static_cast<int64_t>(wrong.size());
  remote::broadcast(&length, sizeof length, first);
  wrong.resize(static_cast<size_t>(length));
  remote::broadcast(wrong.data(), wrong.size(), first);
  throw Error(wrong);
}

// Of each process its own windows; what one finds ends the run of all.
void Machine::check_signals_everywhere() const {
  if (!options.check_signals) return;
  int code = 0;
  Text wrong = "signals of another rank are not 0 at the end of the run";
  try {
    check_signals();
  } catch (const Error& e) {
    wrong = e.what();
    code = e.exit_code();
  }
  code = remote::agree(code);
  if (code != 0) throw Error(wrong, code);
}

}  // namespace pld
