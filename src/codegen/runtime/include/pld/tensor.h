// Copyright The pldc authors. SPDX-License-Identifier: Apache-2.0
//
// Host-side tensors: strided, non-owning views of host memory or of a rank's window. Shapes, strides and
// offsets count elements. Every error throws pld::Error.
#pragma once
#include <exception>
#include <initializer_list>

#include "pld/dtype.h"
#include "pld/text.h"

namespace pld {

// A run that cannot go on; what() is the text after `error: `, exit_code that of the command line.
class Error : public std::exception {
 public:
  explicit Error(Text text, int exit_code = 1);
  Error(const Error&) = default;
  Error& operator=(const Error&) = default;
  ~Error() override;
  const char* what() const noexcept override;
  int exit_code() const { return exit_code_; }

 private:
  Text text_;
  int exit_code_;
};

using Extents = std::initializer_list<int64_t>;

struct Tensor {
  void* data = nullptr;  // first element of the view
  DType dtype = f32;
  int rank = 0;
  int64_t shape[kPldMaxRank + 3] = {};
  int64_t strides[kPldMaxRank + 3] = {};
  bool window = false;         // memory of a window (stays in place) rather than of the host
  const char* name = nullptr;  // parameter or window buffer, for messages

  // Row-major view of the shape over data.
  static Tensor packed(void* data, DType dtype, Extents shape, const char* name = nullptr);

  int64_t dim(int axis) const { return shape[axis < 0 ? axis + rank : axis]; }
  int64_t size() const;  // elements
  bool contiguous() const;

  // Index i of axis 0; the axis disappears.
  Tensor slice(int64_t i) const;
  // The box of `extents` at `offsets`; same rank, shares the memory. Out of range is an error.
  Tensor box(Extents extents, Extents offsets) const;
  // Removes axes of extent 1.
  Tensor drop(Extents axes) const;
  // Same elements in row-major order under another shape; the view must be contiguous.
  Tensor reshape(Extents new_shape) const;
  Tensor transpose(int a, int b) const;
  // Element at idx. Call Host::sync() first if a dispatch may be using it.
  template <class T>
  T& at(Extents idx) const {
    return *reinterpret_cast<T*>(element(idx, static_cast<int64_t>(sizeof(T))));
  }
  // Copies all elements from src, which has the same shape and dtype.
  void assign(const Tensor& src) const;

 private:
  char* element(Extents idx, int64_t bytes) const;
};

}  // namespace pld
