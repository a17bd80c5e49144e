// Copyright The pldc authors. SPDX-License-Identifier: Apache-2.0
//
// What a generated chip orchestration includes. PLD_TARGET_PTOISA selects the official orchestration API; the
// embedded one has the same names and runs every submitted task at once, in program order, which is always a
// legal schedule because dependences point backwards.
#pragma once

#define PLD_API extern "C" __attribute__((visibility("default")))

#ifdef PLD_TARGET_PTOISA
#include <stddef.h>
#include <stdint.h>

#include "pto_orchestration_api.h"
#ifndef AICORE
#define AICORE
#endif
#define PLD_LOC(line) ((void)0)
#include "pld/views.h"
#else
#include <initializer_list>
#include <type_traits>

#include "pld/abi.h"
#include "pld/dtype.h"
#include "pld/half.h"
#include "pld/sim.h"
#include "pld/views.h"
#ifndef PLD_LOC
#define PLD_LOC(line) (::pld::sim::set_line(line))
#endif

// Arguments of a chip orchestration; the tensors and scalars belong to the caller.
struct ChipTaskArgs {
  struct TensorRef {
    const ChipTensor* tensor;
    const ChipTensor& ref() const { return *tensor; }
  };
  const ChipTensor* tensors;
  const uint64_t* scalars;
  int32_t tensor_count;
  int32_t scalar_count;

  TensorRef tensor(int32_t i) const {
    if (i < 0 || i >= tensor_count)
      ::pld::sim::fail("tensor argument %d of %d does not exist", i, tensor_count);
    return {tensors + i};
  }
  uint64_t scalar(int32_t j) const {
    if (j < 0 || j >= scalar_count)
      ::pld::sim::fail("scalar argument %d of %d does not exist", j, scalar_count);
    return scalars[j];
  }
};

struct PTO2TaskId {
  uint64_t raw = ~uint64_t{0};
  static PTO2TaskId invalid() { return {}; }
  bool is_valid() const { return raw != ~uint64_t{0}; }
};

enum class PTO2ScopeMode : uint8_t { AUTO, MANUAL };

// Intermediates of a scope are freed when it ends.
class PldScope {
 public:
  explicit PldScope(PTO2ScopeMode mode = PTO2ScopeMode::AUTO);
  ~PldScope();
  PldScope(const PldScope&) = delete;
  PldScope& operator=(const PldScope&) = delete;

 private:
  void* outer_;
  void* blocks_ = nullptr;
  friend ChipTensor* pld_scope_tensor(const struct TensorCreateInfo& info);
};
// Scopes nest, so each has a name of its own.
#define PLD_JOIN_(a, b) a##b
#define PLD_JOIN(a, b) PLD_JOIN_(a, b)
#define PTO2_SCOPE(...) if (PldScope PLD_JOIN(pld_scope_, __LINE__){__VA_ARGS__}; true)

// Shape and type of a tensor to be made. Extents are copied.
struct TensorCreateInfo {
  uint32_t shapes[kPldMaxRank];
  uint32_t ndims;
  DataType dtype;
  TensorCreateInfo(const uint32_t* extents, uint32_t n, DataType type) : shapes{}, ndims(n), dtype(type) {
    if (n < 1 || n > static_cast<uint32_t>(kPldMaxRank))
      ::pld::sim::fail("a tensor has 1 to 5 axes, not %u", n);
    for (uint32_t i = 0; i < n; ++i) shapes[i] = extents[i];
  }
};

// A zeroed tensor that lives until the innermost scope ends.
ChipTensor* pld_scope_tensor(const TensorCreateInfo& info);

// Tensors that a submission or alloc_tensors made, and the task.
class TaskOutputTensors {
 public:
  const ChipTensor& get_ref(int32_t i) const {
    if (i < 0 || i >= count_) ::pld::sim::fail("output tensor %d of %d does not exist", i, count_);
    return *tensors_[i];
  }
  PTO2TaskId task_id() const { return id_; }
  void add(ChipTensor* t) {
    if (count_ == kMax) ::pld::sim::fail("more than %d tensors are made by one call", kMax);
    tensors_[count_++] = t;
  }
  void set_id(PTO2TaskId id) { id_ = id; }

 private:
  static constexpr int32_t kMax = 64;
  ChipTensor* tensors_[kMax] = {};
  int32_t count_ = 0;
  PTO2TaskId id_;
};

template <class... Info>
inline TaskOutputTensors alloc_tensors(const Info&... info) {
  TaskOutputTensors out;
  (out.add(pld_scope_tensor(info)), ...);
  return out;
}

// Arguments of one kernel task.
class CoreTaskArgs {
 public:
  struct LaunchSpec {
    int32_t block_num = 1;
    bool require_sync_start = false;
    void set_block_num(int32_t n) { block_num = n; }
    void set_core_num(int32_t n) { block_num = n; }
    void set_require_sync_start(bool on) { require_sync_start = on; }
  };
  LaunchSpec launch_spec;

  void add_input(const ChipTensor& t) { add(t); }
  void add_output(const ChipTensor& t) { add(t); }
  void add_inout(const ChipTensor& t) { add(t); }
  void add_output(const TensorCreateInfo& info) {
    ChipTensor* t = pld_scope_tensor(info);
    made_.add(t);
    add(*t);
  }
  void add_no_dep(const ChipTensor& t) { add(t); }
  void add_scalar(uint64_t bits) {
    if (scalar_count_ == kPldMaxKernelScalars)
      ::pld::sim::fail("a kernel takes at most %d scalars", kPldMaxKernelScalars);
    scalars_[scalar_count_++] = bits;
  }
  // Program order already respects every dependence.
  void set_dependencies(const PTO2TaskId*, int32_t) {}

  int32_t tensor_count() const { return tensor_count_; }
  int32_t scalar_count() const { return scalar_count_; }
  const ChipTensor* tensors() const { return tensors_; }
  const uint64_t* scalars() const { return scalars_; }
  const TaskOutputTensors& made() const { return made_; }

 private:
  void add(const ChipTensor& t) {
    if (scalar_count_ != 0) ::pld::sim::fail("the tensors of a task are added before its scalars");
    if (tensor_count_ == kPldMaxKernelTensors)
      ::pld::sim::fail("a kernel takes at most %d tensors", kPldMaxKernelTensors);
    tensors_[tensor_count_++] = t;
  }
  int32_t tensor_count_ = 0;
  int32_t scalar_count_ = 0;
  ChipTensor tensors_[kPldMaxKernelTensors];
  uint64_t scalars_[kPldMaxKernelScalars] = {};
  TaskOutputTensors made_;
};

// One task on a cube core and up to two vector lanes, running together.
struct MixedKernels {
  int32_t aic = kInvalidKernel;
  int32_t aiv0 = kInvalidKernel;
  int32_t aiv1 = kInvalidKernel;
};

TaskOutputTensors rt_submit_task(const MixedKernels& kernels, const CoreTaskArgs& args);
inline TaskOutputTensors rt_submit_aiv_task(int32_t func_id, const CoreTaskArgs& args) {
  return rt_submit_task({kInvalidKernel, func_id, kInvalidKernel}, args);
}
inline TaskOutputTensors rt_submit_aic_task(int32_t func_id, const CoreTaskArgs& args) {
  return rt_submit_task({func_id, kInvalidKernel, kInvalidKernel}, args);
}
PTO2TaskId rt_submit_dummy_task();

// ---- scalar access to tensors from the orchestration ----

inline void* pld_element(const ChipTensor& t, std::initializer_list<int64_t> index, uint32_t bytes) {
  if (index.size() != t.ndims) {
    ::pld::sim::fail("indices count (%u) must match tensor rank (%u)", static_cast<unsigned>(index.size()),
                     t.ndims);
  }
  uint64_t at = t.start_offset;
  uint32_t axis = 0;
  for (int64_t i : index) {
    if (i < 0 || i >= static_cast<int64_t>(t.shapes[axis])) {
      ::pld::sim::fail("index %lld of axis %u is outside of 0 to %lld", static_cast<long long>(i), axis,
                       static_cast<long long>(t.shapes[axis]) - 1);
    }
    at += static_cast<uint64_t>(i) * t.strides[axis++];
  }
  return reinterpret_cast<void*>(t.buffer.addr + at * bytes);
}
template <class T>
inline T pld_read(const ChipTensor& t, std::initializer_list<int64_t> index) {
  const auto* p = static_cast<const T*>(pld_element(t, index, sizeof(T)));
  ::pld::sim::observe_cell(p, static_cast<int32_t>(sizeof(T)), ::pld::sim::AccessKind::read);
  return ::pld::remote::load(p);
}
template <class T, class V>
inline void pld_write(const ChipTensor& t, std::initializer_list<int64_t> index, V value) {
  auto* p = static_cast<T*>(pld_element(t, index, sizeof(T)));
  ::pld::sim::observe_cell(p, static_cast<int32_t>(sizeof(T)), ::pld::sim::AccessKind::write);
  ::pld::remote::store(p, static_cast<T>(value));
}

// Calls f(flat number, pointer) for every element in row-major order.
template <class T, class F>
inline void pld_for_each(const ChipTensor& t, F f) {
  T* base = reinterpret_cast<T*>(t.buffer.addr) + t.start_offset;
  uint64_t count = 1;
  for (uint32_t i = 0; i < t.ndims; ++i) count *= t.shapes[i];
  for (uint64_t n = 0; n < count; ++n) {
    uint64_t rest = n, at = 0;
    for (uint32_t i = t.ndims; i-- > 0;) {
      at += rest % t.shapes[i] * t.strides[i];
      rest /= t.shapes[i];
    }
    f(n, base + at);
  }
}
inline ::pld::sim::Observed pld_observe(const ChipTensor& t, ::pld::sim::AccessKind kind) {
  if (!::pld::sim::observing) return {};
  const auto bytes = static_cast<int32_t>(::pld::size_of(t.dtype));
  ::pld::sim::Access a{
      reinterpret_cast<const char*>(t.buffer.addr) + t.start_offset * static_cast<uint64_t>(bytes),
      {1, 1, 1, 1, 1},
      {1, 1, 1, 1, 1},
      bytes,
      kind};
  for (uint32_t i = 0; i < t.ndims; ++i) {
    const size_t at = 5 - t.ndims + i;
    a.shape[at] = t.shapes[i];
    a.stride[at] = t.strides[i];
  }
  return ::pld::sim::Observed(a);
}

template <class T, class V>
inline void pld_fill(const ChipTensor& t, V value) {
  const T v = static_cast<T>(value);
  const auto seen = pld_observe(t, ::pld::sim::AccessKind::write);
  pld_for_each<T>(t, [v](uint64_t, T* p) { *p = v; });
}

// ---- views: those that take more than the official descriptor tells ----

// The same bytes as elements of another type, with that type's extents. Axes before the last may have gaps if the
// extents keep them and only the last one changes with the width of the elements.
inline ChipTensor pld_reinterpret(const ChipTensor& t, DataType dtype,
                                  std::initializer_list<int64_t> extents) {
  const auto from = static_cast<uint64_t>(pld::size_of(t.dtype)),
             to = static_cast<uint64_t>(pld::size_of(dtype));
  ChipTensor v = t;
  v.dtype = dtype;
  if (t.start_offset * from % to != 0) ::pld::sim::fail("the first element is not aligned to the new type");
  v.start_offset = t.start_offset * from / to;
  uint64_t before = from, after = to;
  for (uint32_t i = 0; i < t.ndims; ++i) before *= t.shapes[i];
  for (int64_t e : extents) {
    if (__builtin_mul_overflow(after, uint64_t{pld_u32(e)}, &after))
      ::pld::sim::fail("the size of a view overflows, its limit is 18446744073709551615 bytes");
  }
  if (before != after || extents.size() < 1 || extents.size() > static_cast<size_t>(kPldMaxRank)) {
    ::pld::sim::fail("cannot look at %llu bytes as %llu", static_cast<unsigned long long>(before),
                     static_cast<unsigned long long>(after));
  }
  if (t.is_contiguous != 0) {
    v.shapes[0] = static_cast<uint32_t>(after / to);
    v.strides[0] = 1;
    v.ndims = 1;
    return pld_reshape(v, extents);
  }
  // Only along the axis whose elements follow each other there may be more or fewer of them.
  bool same = extents.size() == t.ndims;
  uint32_t i = 0;
  for (int64_t e : extents) {
    if (!same) break;
    if (static_cast<uint64_t>(e) == t.shapes[i]) {
      same = t.strides[i] * from % to == 0;
      v.strides[i] = static_cast<uint32_t>(t.strides[i] * from / to);
    } else {
      same = t.strides[i] == 1;
    }
    v.shapes[i++] = static_cast<uint32_t>(e);
  }
  if (!same) ::pld::sim::fail("a tensor with gaps cannot take this shape under another type");
  return v;
}
// t[offsets + p] = part[p]
void pld_assemble(const ChipTensor& t, const ChipTensor& part, std::initializer_list<int64_t> offsets);
#endif

#include "pld/scalar.h"

// Scalars travel in the low bytes of 8.
template <class T>
inline uint64_t pld_to_u64(T value) {
  union {
    uint64_t bits;
    T value;
  } u;
  u.bits = 0;
  u.value = value;
  return u.bits;
}
template <class T>
inline T pld_from_u64(uint64_t bits) {
  union {
    uint64_t bits;
    T value;
  } u;
  u.bits = bits;
  return u.value;
}
