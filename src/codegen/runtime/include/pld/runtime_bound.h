// Copyright The pldc authors. SPDX-License-Identifier: Apache-2.0
//
// Tensor parameters of a run, and their values as text. Included by launcher.cpp only.
#pragma once
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "pld/fill.h"
#include "pld/program.h"

namespace pld {
namespace {

// A tensor parameter with its memory.
struct Bound {
  const ParamInfo* info;
  Text file;  // of --in, empty: none
  Array<int64_t> shape;
  Array<unsigned char> initial;  // packed; empty: zeros; of a part, if this process has no more
  Array<unsigned char> data;
};

// Of a packed tensor what has one index along one axis. Without such an axis: all of it.
struct Part {
  size_t inner;  // bytes behind the axis
  size_t outer;  // how often they stand there
  size_t step;   // bytes from one time to the next
  size_t first;
  Part(const Array<int64_t>& shape, DType dtype, int64_t axis, int64_t index)
      : inner(0), outer(1), step(0), first(0) {
    inner = static_cast<size_t>(size_of(dtype));
    for (size_t i = 0; i < shape.size(); ++i) {
      if (static_cast<int64_t>(i) < axis) outer *= static_cast<size_t>(shape[i]);
      if (static_cast<int64_t>(i) > axis) inner *= static_cast<size_t>(shape[i]);
    }
    step = inner;
    if (axis < 0) return;
    step = inner * static_cast<size_t>(shape[static_cast<size_t>(axis)]);
    first = inner * static_cast<size_t>(index);
    if (first >= step) outer = 0;  // there is no such index
  }
  size_t bytes() const { return inner * outer; }
  void take(unsigned char* part, const unsigned char* all) const {
    for (size_t o = 0; o < outer && inner != 0; ++o)
      std::memcpy(part + o * inner, all + first + o * step, inner);
  }
  void give(const unsigned char* part, unsigned char* all) const {
    for (size_t o = 0; o < outer && inner != 0; ++o)
      std::memcpy(all + first + o * step, part + o * inner, inner);
  }
  void clear(unsigned char* all) const {
    for (size_t o = 0; o < outer && inner != 0; ++o) std::memset(all + first + o * step, 0, inner);
  }
};

Text extents(const Array<int64_t>& shape) {
  Text s = "[";
  for (size_t i = 0; i < shape.size(); ++i) s += (i == 0 ? "" : ", ") + decimal(shape[i]);
  return s + "]";
}

// Takes memory for values of a parameter; where there is not so much, an error that says for which and how much.
template <class Take>
void take_memory(const Text& where, const Bound& b, Take&& take) {
  size_t bytes = static_cast<size_t>(size_of(b.info->dtype));
  bool countable = true;
  for (int64_t e : b.shape) {
    if (__builtin_mul_overflow(bytes, static_cast<size_t>(e), &bytes)) countable = false;
  }
  for (int64_t e : b.shape) {
    if (e == 0) bytes = 0, countable = true;
  }
  try {
    if (!countable) throw std::bad_alloc();
    take(bytes);
  } catch (const std::bad_alloc&) {
    throw Error(where + " is " + name_of(b.info->dtype) + " " + extents(b.shape) +
                ": there is no memory for its " + (countable ? decimal(bytes) : Text("more than 2^64")) +
                " bytes");
  }
}

// Enough digits to tell any two values of the type apart.
Text value_text(DType d, const void* p) {
  if (d == i64 || d == u64) {
    int64_t s = 0;
    std::memcpy(&s, p, 8);
    return d == i64 ? text("%lld", static_cast<long long>(s))
                    : text("%llu", static_cast<unsigned long long>(s));
  }
  return text("%.*g", d == f32 ? 9 : (d == f16 ? 5 : (d == bf16 ? 4 : 10)), fill::load(d, p));
}

Text index_text(const Bound& b, size_t element) {
  Text index;
  for (size_t i = b.shape.size(); i-- > 0;) {
    const size_t e = static_cast<size_t>(b.shape[i]);
    index = decimal(element % e) + (index.empty() ? "" : ", ") + index;
    element /= e;
  }
  return index;
}

// The bits of a scalar; `where` names it in messages.
uint64_t parse_scalar(const ParamInfo& p, const Text& value, const Text& where) {
  uint64_t bits = 0;
  char* end = nullptr;
  errno = 0;
  const Text takes = where + " takes " + name_of(p.dtype) + ", not '" + value + "'";
  if (p.dtype == b8) {
    if (value == "1" || value == "true" || value == "True") return 1;
    if (value == "0" || value == "false" || value == "False") return 0;
    throw Error(takes);
  }
  if (fill::is_float(p.dtype)) {
    const double v = std::strtod(value.c_str(), &end);
    if (end == value.c_str() || *end != 0) throw Error(takes);
    fill::store(p.dtype, v, &bits);
    // The type's conversion makes of what is too large an infinity or its largest value.
    const double size = __builtin_fabs(v), kept = __builtin_fabs(fill::load(p.dtype, &bits));
    const bool overflow =
        __builtin_isinf(v) ? errno == ERANGE : size > 1 && !(kept < 2 * size && size < 2 * kept);
    if (overflow) throw Error(takes + ": it is too large");
    return bits;
  }
  const bool is_signed = p.dtype == i8 || p.dtype == i16 || p.dtype == i32 || p.dtype == i64;
  const int width = static_cast<int>(size_of(p.dtype)) * 8;
  if (is_signed) {
    const int64_t v = std::strtoll(value.c_str(), &end, 10);
    const int64_t high = width == 64 ? INT64_MAX : (int64_t{1} << (width - 1)) - 1;
    if (end == value.c_str() || *end != 0 || errno != 0 || v > high || v < -high - 1) throw Error(takes);
    return static_cast<uint64_t>(v);
  }
  const uint64_t v = std::strtoull(value.c_str(), &end, 10);
  const uint64_t high = width == 64 ? UINT64_MAX : (uint64_t{1} << width) - 1;
  if (end == value.c_str() || *end != 0 || errno != 0 || v > high || value.find('-') != Text::npos)
    throw Error(takes);
  return v;
}

void print(const Bound& b) {
  std::printf("%s %s %s\n", b.info->name, name_of(b.info->dtype), extents(b.shape).c_str());
  const DType d = b.info->dtype;
  const size_t step = static_cast<size_t>(size_of(d));
  const size_t count = b.data.size() / step;
  const size_t row = b.shape.empty() || b.shape.back() == 0 ? 1 : static_cast<size_t>(b.shape.back());
  for (size_t i = 0; i < count; ++i) {
    const void* p = &b.data[i * step];
    std::fputs(value_text(d, p).c_str(), stdout);
    std::putchar((i + 1) % row == 0 ? '\n' : ' ');
  }
}

}  // namespace
}  // namespace pld
