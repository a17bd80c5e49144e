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

// The contiguous stretches of a tensor's memory, in order of their addresses.
class Runs {
 public:
  explicit Runs(const Tensor& t) : at_(bytes_of(t).begin), run_(size_of(t.dtype)) {
    for (int i = 0; i < t.rank; ++i) {
      if (t.shape[i] == 1) continue;
      int k = rank_++;
      for (; k > 0 && step_[k - 1] < t.strides[i] * size_of(t.dtype); --k)
        step_[k] = step_[k - 1], count_[k] = count_[k - 1];
      step_[k] = t.strides[i] * size_of(t.dtype);
      count_[k] = t.shape[i];
    }
    while (rank_ > 0 && step_[rank_ - 1] == run_) run_ *= count_[--rank_];
  }
  Bytes operator*() const { return {at_, at_ + run_}; }
  // False: that was the last one.
  bool next() {
    for (int i = rank_; i-- > 0;) {
      at_ += step_[i];
      if (++index_[i] < count_[i]) return true;
      at_ -= step_[i] * count_[i];
      index_[i] = 0;
    }
    return false;
  }

 private:
  const char* at_;
  int64_t run_;
  int rank_ = 0;
  int64_t step_[8] = {}, count_[8] = {}, index_[8] = {};
};

// Neither is empty.
bool boxes_meet(const Tensor& a, const Tensor& b) {
  if (!bytes_of(a).meets(bytes_of(b))) return false;
  Runs x(a), y(b);
  for (;;) {
    if ((*x).meets(*y)) return true;
    if ((*x).begin < (*y).begin ? !x.next() : !y.next()) return false;
  }
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

const char* name_in_report(const Tensor& t) { return t.name != nullptr ? t.name : "a host tensor"; }

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

// What the dispatch may write, for share(); of this rank's with the values before. A dispatch that reads what another rank's
// has written ends the run: code generation refuses what it sees.
void Machine::record(int64_t device, const Args& args, Place place) {
  for (const Args::Item& item : args.tensors()) {
    const Tensor& t = item.tensor;
    if (item.dir == Dir::out || t.window || t.size() == 0) continue;
    for (const Owned<Written>& w : history) {
      if (w->device == device || !boxes_meet(w->tensor, t)) continue;
      throw Error(text(
          "this dispatch reads what the one of rank %lld in line %d has written to %s, and each rank has "
          "host memory of its own; use --target=sim, or a window",
          static_cast<long long>(w->device), w->place.line, name_in_report(t)));
    }
  }
  for (const Args::Item& item : args.tensors()) {
    if (item.dir == Dir::in || item.tensor.window || item.tensor.size() == 0) continue;
    const auto has = [&](const Array<Owned<Written>>& list) {
      bool known = false;
      for (const Owned<Written>& w : list)
        known = known || (w->device == device && same_box(w->tensor, item.tensor));
      return known;
    };
    if (!has(history)) history.push_back(Owned<Written>(new Written{device, item.tensor, place, {}}));
    if (is_parted(item.tensor) || has(written)) continue;
    written.push_back(Owned<Written>(new Written{device, item.tensor, place, {}}));
    if (device == remote::rank()) packed_in(item.tensor, written.back()->before).assign(item.tensor);
  }
}

void Machine::note_atomics(const Staging& s) {
  if (!remote::had_atomics(s.packed.begin(), s.packed.end())) return;
  const Bytes bytes = bytes_of(s.tensor);
  remote::local_atomic(bytes.begin, static_cast<size_t>(bytes.end - bytes.begin));
}

void Machine::note_parted(const EntryInfo& entry, const Params& params) {
  parted.clear();
  for (const ParamInfo& p : entry.params) {
    if (p.own_axis < 0) continue;
    const Bytes bytes = bytes_of(params[p.name]);
    parted.push_back({bytes.begin, bytes.end - bytes.begin, {}, -1});
  }
}

// Nobody else reads it before the end of the run.
bool Machine::is_parted(const Tensor& t) const {
  const Bytes bytes = bytes_of(t);
  for (const Region& r : parted) {
    if (bytes.meets({r.base, r.base + r.bytes})) return true;
  }
  return false;
}

void Machine::gather() {
  Array<unsigned char> values;
  for (const Owned<Written>& w : history) {
    if (w->device == 0 || !is_parted(w->tensor) || (remote::rank() != 0 && remote::rank() != w->device))
      continue;
    const Tensor packed = packed_in(w->tensor, values);
    if (remote::rank() != 0) packed.assign(w->tensor);
    remote::transfer(values.data(), values.size(), w->device, 0);
    if (remote::rank() == 0) w->tensor.assign(packed);
  }
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
    wrong = text(
        "%s:%d:%d: the dispatches of several ranks %s %s, and each rank has host memory of its own; use "
        "--target=sim, or a window",
        program.source, w->place.line, w->place.column,
        atomics != 0 ? "write, with atomic adds," : "write different values to one place of",
        name_in_report(w->tensor));
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
