// Copyright The pldc authors. SPDX-License-Identifier: Apache-2.0
//
// Scalar arithmetic of the IR that C++ has no operator for. Both operands have one type; integers wrap.
#pragma once
#include <cstdint>
#include <limits>
#include <type_traits>

#ifdef PLD_TARGET_PTOISA
#define PLD_SCALAR_CHECK(condition, text) ((void)0)
#else
#include "pld/abi.h"
#include "pld/sim.h"
#define PLD_SCALAR_CHECK(condition, text) ((condition) ? (void)0 : ::pld::sim::fail(text))
#endif

// Python's //: the quotient rounded down.
template <class T>
AICORE inline T pld_floordiv(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    PLD_SCALAR_CHECK(b != 0, "integer division by zero");
    if constexpr (std::is_signed_v<T>) {
      if (b == -1) return static_cast<T>(0 - static_cast<uint64_t>(a));
      const T q = static_cast<T>(a / b);
      return static_cast<T>(q - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0));
    } else {
      return static_cast<T>(a / b);
    }
  } else {
    return static_cast<T>(__builtin_floorf(static_cast<float>(a) / static_cast<float>(b)));
  }
}

// Python's %: the remainder with the divisor's sign.
template <class T>
AICORE inline T pld_floormod(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    PLD_SCALAR_CHECK(b != 0, "integer remainder by zero");
    if constexpr (std::is_signed_v<T>) {
      if (b == -1) return T{0};
      const T r = static_cast<T>(a % b);
      return static_cast<T>(r != 0 && (r < 0) != (b < 0) ? r + b : r);
    } else {
      return static_cast<T>(a % b);
    }
  } else {
    const float y = static_cast<float>(b);
    const float r = __builtin_fmodf(static_cast<float>(a), y);
    return static_cast<T>(r != 0.0f && (r < 0.0f) != (y < 0.0f) ? r + y : r);
  }
}

// a to the power of b; a negative integer exponent gives the reciprocal, truncated.
template <class T>
AICORE inline T pld_pow(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    if constexpr (std::is_signed_v<T>) {
      if (b < 0) {
        PLD_SCALAR_CHECK(a != 0, "0 to a negative power");
        return a == 1 ? T{1} : (a == -1 ? static_cast<T>(b % 2 == 0 ? 1 : -1) : T{0});
      }
    }
    uint64_t result = 1;
    uint64_t base = static_cast<uint64_t>(a);
    for (uint64_t n = static_cast<uint64_t>(b); n != 0; n >>= 1) {
      if ((n & 1) != 0) result *= base;
      base *= base;
    }
    return static_cast<T>(result);
  } else {
    return static_cast<T>(__builtin_powf(static_cast<float>(a), static_cast<float>(b)));
  }
}

// Arithmetic of sizes: a result that does not fit its type ends the run.
#ifdef PLD_TARGET_PTOISA
#define PLD_SIZE_FAIL(a, sign, b) __builtin_trap()
#else
#define PLD_SIZE_FAIL(a, sign, b)                                                                         \
  ::pld::sim::fail("the size %lld " sign " %lld overflows, its limit is %llu", static_cast<long long>(a), \
                   static_cast<long long>(b),                                                             \
                   static_cast<unsigned long long>(std::numeric_limits<T>::max()))
#endif
#define PLD_SIZE_OP(name, sign)                                           \
  template <class T>                                                      \
  AICORE inline T pld_size_##name(T a, T b) {                             \
    T r{};                                                                \
    if (__builtin_##name##_overflow(a, b, &r)) PLD_SIZE_FAIL(a, sign, b); \
    return r;                                                             \
  }
PLD_SIZE_OP(add, "+")
PLD_SIZE_OP(sub, "-")
PLD_SIZE_OP(mul, "*")
#undef PLD_SIZE_OP
template <class T>
AICORE inline T pld_size_pow(T a, T b) {
  if (b < 0 || (a >= 0 && a < 2)) return pld_pow<T>(a, b);
  if constexpr (std::is_signed_v<T>) {
    if (a == -1) return pld_pow<T>(a, b);
  }
  T r{1};
  for (T i = 0; i < b; ++i) {  // at most 64 times
    if (__builtin_mul_overflow(r, a, &r)) PLD_SIZE_FAIL(a, "**", b);
  }
  return r;
}
template <class T>
AICORE inline T pld_size_shl(T a, T n) {
  T r{};
  if (a == 0 || n == 0) return a;
  if (n < 0 || n > 62 || __builtin_mul_overflow(a, int64_t{1} << n, &r)) PLD_SIZE_FAIL(a, "<<", n);
  return r;
}
template <class T, class From>
AICORE inline T pld_size_cast(From from) {
  T r{};
  if (__builtin_add_overflow(from, From{0}, &r)) PLD_SIZE_FAIL(0, "+", from);
  return r;
}

// Shifts by any count: of the width or more, or negative, it leaves 0, or the sign in an arithmetic right shift.
template <class T, class N>
AICORE inline T pld_shl(T a, N n) {
  const uint64_t count = static_cast<uint64_t>(static_cast<int64_t>(n));
  return count < sizeof(T) * 8 ? static_cast<T>(static_cast<uint64_t>(a) << count) : T{0};
}
template <class T, class N>
AICORE inline T pld_shr(T a, N n) {
  const uint64_t count = static_cast<uint64_t>(static_cast<int64_t>(n));
  const uint64_t last = sizeof(T) * 8 - 1;
  if (count > last) return std::is_signed_v<T> ? static_cast<T>(a >> last) : T{0};
  return static_cast<T>(a >> count);
}

template <class T>
AICORE inline T pld_abs(T a) {
  if constexpr (std::is_integral_v<T>) {
    if constexpr (std::is_signed_v<T>) {
      return a < 0 ? static_cast<T>(0 - static_cast<uint64_t>(a)) : a;
    } else {
      return a;
    }
  } else {
    return static_cast<T>(__builtin_fabsf(static_cast<float>(a)));
  }
}

// The next value of a loop variable; at the end of the type, where no stop is beyond it, it stays.
template <class T>
AICORE inline T pld_next(T i, std::common_type_t<T> step) {
  T next{};
  if (!__builtin_add_overflow(i, step, &next)) return next;
  if constexpr (std::is_signed_v<T>) {
    if (step < 0) return std::numeric_limits<T>::min();
  }
  return std::numeric_limits<T>::max();
}

template <class T>
AICORE constexpr T pld_min(T a, T b) {
  return b < a ? b : a;
}
template <class T>
AICORE constexpr T pld_max(T a, T b) {
  return a < b ? b : a;
}
AICORE constexpr float pld_inf() { return __builtin_inff(); }
