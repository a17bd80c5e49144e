// Copyright The pldc authors. SPDX-License-Identifier: Apache-2.0
//
// Host tensors, arguments and parameters. Included by runtime.cpp only.
#pragma once
#include <cstring>
#include <utility>

#include "pld/host.h"
#include "pld/text.h"

namespace pld {

Error::Error(Text text, int exit_code) : text_(std::move(text)), exit_code_(exit_code) {}
Error::~Error() = default;
const char* Error::what() const noexcept { return text_.c_str(); }

// ---- tensors ----

namespace {
// Also with room behind it the count of bytes stays far from the end of the numbers.
constexpr int64_t kMaxTensorBytes = int64_t{1} << 60;

Text shape_text(const Tensor& t) {
  Text s;
  for (int i = 0; i < t.rank; ++i) s += text(i == 0 ? "%lld" : ", %lld", static_cast<long long>(t.shape[i]));
  return text("[%s]", s.c_str());
}
Text tensor_text(const Tensor& t) {
  return text("%s %s", t.name != nullptr ? t.name : "tensor", shape_text(t).c_str());
}
}  // namespace

Tensor Tensor::packed(void* data, DType dtype, Extents extents, const char* name) {
  Tensor t;
  if (extents.size() > sizeof t.shape / sizeof t.shape[0]) throw Error("a host tensor has at most 8 axes");
  t.data = data;
  t.dtype = dtype;
  t.name = name;
  bool empty = false;
  for (int64_t e : extents) {
    t.shape[t.rank++] = e;
    empty = empty || e == 0;
  }
  // Strides of a tensor without elements address nothing: 1 instead of what may not fit.
  int64_t stride = 1;
  int64_t bytes = size_of(dtype);
  for (int i = t.rank; i-- > 0;) {
    if (t.shape[i] < 0)
      throw Error(text("extent %d of %s is negative; an extent is 0 or more", i, tensor_text(t).c_str()));
    t.strides[i] = stride;
    if (empty) continue;
    if (__builtin_mul_overflow(bytes, t.shape[i], &bytes) || bytes > kMaxTensorBytes) {
      throw Error(text("the size of %s is more than the limit of %lld bytes", tensor_text(t).c_str(),
                       static_cast<long long>(kMaxTensorBytes)));
    }
    stride *= t.shape[i];
  }
  return t;
}

int64_t Tensor::size() const {
  int64_t n = 1;
  for (int i = 0; i < rank; ++i) n *= shape[i];
  return n;
}

bool Tensor::contiguous() const {
  int64_t stride = 1;
  for (int i = rank; i-- > 0;) {
    if (shape[i] != 1 && strides[i] != stride) return false;
    stride *= shape[i];
  }
  return true;
}

namespace {

char* advance(const Tensor& t, int64_t elements) {
  return static_cast<char*>(t.data) + elements * size_of(t.dtype);
}

// Calls f(byte offset in a, byte offset in b, elements) for runs of the last axis.
template <class F>
void for_runs(const Tensor& a, const Tensor& b, F f) {
  const int last = a.rank - 1;
  if (a.size() == 0) return;
  if (a.rank == 0) {
    f(0, 0, 1);
    return;
  }
  int64_t at[8] = {};
  for (;;) {
    int64_t x = 0, y = 0;
    for (int i = 0; i < last; ++i) x += at[i] * a.strides[i], y += at[i] * b.strides[i];
    f(x, y, a.shape[last]);
    int i = last - 1;
    while (i >= 0 && ++at[i] == a.shape[i]) at[i--] = 0;
    if (i < 0) return;
  }
}

}  // namespace

Tensor Tensor::slice(int64_t i) const {
  if (rank == 0 || i < 0 || i >= shape[0]) {
    throw Error(
        text("index %lld is outside of axis 0 of %s", static_cast<long long>(i), tensor_text(*this).c_str()));
  }
  Tensor t = *this;
  t.data = advance(*this, i * strides[0]);
  for (int k = 1; k < rank; ++k) t.shape[k - 1] = shape[k], t.strides[k - 1] = strides[k];
  --t.rank;
  return t;
}

Tensor Tensor::box(Extents extents, Extents offsets) const {
  if (static_cast<int>(extents.size()) != rank || static_cast<int>(offsets.size()) != rank) {
    throw Error(text("a slice with %zu extents and %zu offsets of %s", extents.size(), offsets.size(),
                     tensor_text(*this).c_str()));
  }
  Tensor t = *this;
  int64_t first = 0;
  for (int i = 0; i < rank; ++i) {
    const int64_t e = extents.begin()[i], o = offsets.begin()[i];
    if (o < 0 || e < 0 || o > shape[i] || e > shape[i] - o) {
      throw Error(text("slice of %s: offset %lld and extent %lld reach past the end of axis %d",
                       tensor_text(*this).c_str(), static_cast<long long>(o), static_cast<long long>(e), i));
    }
    t.shape[i] = e;
    first += o * strides[i];
  }
  t.data = advance(*this, first);
  return t;
}

Tensor Tensor::drop(Extents axes) const {
  Tensor t = *this;
  t.rank = 0;
  for (int i = 0; i < rank; ++i) {
    bool drop_it = false;
    for (int64_t a : axes) drop_it = drop_it || a == i;
    if (drop_it && shape[i] != 1)
      throw Error(text("axis %d of %s cannot be dropped", i, tensor_text(*this).c_str()));
    if (drop_it) continue;
    t.shape[t.rank] = shape[i];
    t.strides[t.rank++] = strides[i];
  }
  return t;
}

Tensor Tensor::reshape(Extents new_shape) const {
  if (!contiguous())
    throw Error(text("only a packed tensor can be reshaped: %s", tensor_text(*this).c_str()));
  Tensor t = packed(data, dtype, new_shape, name);
  t.window = window;
  if (t.size() != size()) {
    throw Error(text("cannot reshape %s into %s", tensor_text(*this).c_str(), shape_text(t).c_str()));
  }
  return t;
}

Tensor Tensor::transpose(int a, int b) const {
  if (a < 0) a += rank;
  if (b < 0) b += rank;
  Tensor t = *this;
  std::swap(t.shape[a], t.shape[b]);
  std::swap(t.strides[a], t.strides[b]);
  return t;
}

char* Tensor::element(Extents idx, int64_t bytes) const {
  if (static_cast<int>(idx.size()) != rank || bytes != size_of(dtype)) {
    throw Error(text("%zu indices and elements of %lld bytes for %s", idx.size(),
                     static_cast<long long>(bytes), tensor_text(*this).c_str()));
  }
  int64_t at = 0;
  for (int i = 0; i < rank; ++i) {
    const int64_t k = idx.begin()[i];
    if (k < 0 || k >= shape[i]) {
      throw Error(text("index %lld is outside of axis %d of %s", static_cast<long long>(k), i,
                       tensor_text(*this).c_str()));
    }
    at += k * strides[i];
  }
  return advance(*this, at);
}

void Tensor::assign(const Tensor& src) const {
  bool same = src.rank == rank && src.dtype == dtype;
  for (int i = 0; same && i < rank; ++i) same = src.shape[i] == shape[i];
  if (!same)
    throw Error(text("cannot assign %s to %s", tensor_text(src).c_str(), tensor_text(*this).c_str()));
  const int64_t bytes = size_of(dtype);
  const int64_t step = rank == 0 ? 1 : strides[rank - 1], src_step = rank == 0 ? 1 : src.strides[rank - 1];
  for_runs(*this, src, [&](int64_t x, int64_t y, int64_t n) {
    char* to = advance(*this, x);
    const char* from = advance(src, y);
    if (step == 1 && src_step == 1) {
      std::memmove(to, from, static_cast<size_t>(n * bytes));
      return;
    }
    for (int64_t i = 0; i < n; ++i) {
      std::memmove(to + i * step * bytes, from + i * src_step * bytes, static_cast<size_t>(bytes));
    }
  });
}

// ---- arguments and parameters ----

void Args::add(const Tensor& t, Dir dir) {
  if (!scalars_.empty()) throw Error("the tensors of a dispatch are added before its scalars");
  if (t.rank > kPldMaxRank)
    throw Error(text("a chip takes tensors of at most %d axes: %s", kPldMaxRank, tensor_text(t).c_str()));
  tensors_.push_back({t, dir});
}

const Tensor& Params::operator[](const char* name) const {
  for (const TensorSlot& s : tensors_) {
    if (s.name == name) return s.tensor;
  }
  throw Error(text("parameter %s has no tensor", name));
}
uint64_t Params::bits(const char* name) const {
  for (const Number& n : scalars_) {
    if (n.name == name) return n.bits;
  }
  throw Error(text("parameter %s has no value", name));
}
int64_t Params::dim(const char* symbol) const {
  for (const Number& n : dims_) {
    if (n.name == symbol) return static_cast<int64_t>(n.bits);
  }
  throw Error(text("dynamic dim %s has no value", symbol));
}
void Params::bind(const char* name, const Tensor& tensor) {
  for (TensorSlot& s : tensors_) {
    if (s.name == name) {
      s.tensor = tensor;
      return;
    }
  }
  tensors_.push_back({name, tensor});
}
void Params::bind_bits(const char* name, uint64_t bits) { scalars_.push_back({name, bits}); }
void Params::bind_dim(const char* symbol, int64_t value) {
  dims_.push_back({symbol, static_cast<uint64_t>(value)});
}

}  // namespace pld
