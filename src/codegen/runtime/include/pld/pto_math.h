// Copyright The pldc authors. SPDX-License-Identifier: Apache-2.0
//
// Elementwise arithmetic, bit operations, shifts and broadcasting forms.
//
// All results are rounded once to the element type: half and bfloat16 compute in float, whose extra bits make
// the second rounding harmless for + - * / and sqrt. Integers wrap. Integer division by zero ends the run.
#pragma once

// Not <cmath>: the builtins below are the functions of libm and cost no time to compile.
#include "pld/pto_exp.h"
#include "pld/pto_types.h"

namespace pto {
namespace impl {

template <class T>
inline T add(T a, T b) {
  return static_cast<T>(static_cast<Calc<T>>(a) + static_cast<Calc<T>>(b));
}
template <class T>
inline T sub(T a, T b) {
  return static_cast<T>(static_cast<Calc<T>>(a) - static_cast<Calc<T>>(b));
}
template <class T>
inline T mul(T a, T b) {
  return static_cast<T>(static_cast<Calc<T>>(a) * static_cast<Calc<T>>(b));
}
// Integers truncate toward zero; the one quotient that overflows wraps.
template <class T>
inline T div(T a, T b) {
  if constexpr (is_float<T>) {
    return static_cast<T>(static_cast<float>(a) / static_cast<float>(b));
  } else if constexpr (std::is_signed_v<T>) {
    return b == static_cast<T>(-1) ? sub(T{0}, a) : static_cast<T>(a / b);
  } else {
    return static_cast<T>(a / b);
  }
}
// Sign of the dividend (C).
template <class T>
inline T fmod(T a, T b) {
  if constexpr (is_float<T>) {
    return static_cast<T>(__builtin_fmodf(static_cast<float>(a), static_cast<float>(b)));
  } else if constexpr (std::is_signed_v<T>) {
    return b == static_cast<T>(-1) ? T{0} : static_cast<T>(a % b);
  } else {
    return static_cast<T>(a % b);
  }
}
// Sign of the divisor (Python's %).
template <class T>
inline T rem(T a, T b) {
  if constexpr (is_float<T>) {
    const float y = static_cast<float>(b);
    const float r = __builtin_fmodf(static_cast<float>(a), y);
    return static_cast<T>(r != 0.0f && (r < 0.0f) != (y < 0.0f) ? r + y : r);
  } else {
    const T r = fmod(a, b);
    return r != 0 && (r < 0) != (b < 0) ? static_cast<T>(r + b) : r;
  }
}
// A NaN on the left stays, one on the right is dropped.
template <class T>
inline T max(T a, T b) {
  return static_cast<Value<T>>(a) < static_cast<Value<T>>(b) ? b : a;
}
template <class T>
inline T min(T a, T b) {
  return static_cast<Value<T>>(b) < static_cast<Value<T>>(a) ? b : a;
}
template <class T>
inline T expf_of(T a) {
  return static_cast<T>(exp(static_cast<float>(a)));
}

// Shift counts of the width or more give 0, or the sign for an arithmetic right shift.
template <class T, class N>
inline T shl(T a, N n) {
  const auto count = static_cast<uint64_t>(static_cast<std::make_unsigned_t<N>>(n));
  return count >= sizeof(T) * 8 ? T{0} : static_cast<T>(static_cast<Calc<T>>(a) << count);
}
template <class T, class N>
inline T shr(T a, N n) {
  const auto count = static_cast<uint64_t>(static_cast<std::make_unsigned_t<N>>(n));
  const uint64_t last = sizeof(T) * 8 - 1;
  if constexpr (std::is_signed_v<T>) {
    return static_cast<T>(a >> (count > last ? last : count));
  } else {
    return count > last ? T{0} : static_cast<T>(static_cast<Calc<T>>(a) >> count);
  }
}

template <class D, class A, class B>
inline void check_binary() {
  static_assert(same_type<D, A> && same_type<D, B>, "operands and result have one element type");
  static_assert(D::isRowMajor == A::isRowMajor && D::isRowMajor == B::isRowMajor,
                "operands and result have one layout");
}

template <class D, class B>
inline void check_divisor(const char* op, const D& d, const B& b) {
  if constexpr (!is_float<typename B::DType>) {
    for (int64_t r = 0; r < d.GetValidRow(); ++r) {
      for (int64_t c = 0; c < d.GetValidCol(); ++c) {
        if (b.at(r, c) == 0) {
          ::pld::sim::fail("%s: integer division by zero at [%lld, %lld]", op, static_cast<long long>(r),
                           static_cast<long long>(c));
        }
      }
    }
  }
}
template <class T>
inline void check_scalar_divisor(const char* op, T v) {
  if constexpr (!is_float<T>) {
    if (v == 0) ::pld::sim::fail("%s: integer division by zero", op);
  }
}

template <class D, class A>
inline void check_scalar() {
  static_assert(same_type<D, A>, "operand and result have one element type");
  static_assert(D::isRowMajor && A::isRowMajor, "operations with a scalar take row-major tiles");
}

}  // namespace impl

#define PLD_BINARY(NAME, EXPR)                               \
  template <class D, class A, class B>                       \
  inline void NAME(const D& d, const A& a, const B& b) {     \
    impl::check_binary<D, A, B>();                           \
    using T = typename D::DType;                             \
    impl::map(                                               \
        #NAME, [](T x, T y) -> T { return EXPR; }, d, a, b); \
  }
#define PLD_BINARY_TMP(NAME, EXPR)                                   \
  template <class D, class A, class B, class Tmp>                    \
  inline void NAME(const D& d, const A& a, const B& b, const Tmp&) { \
    impl::check_binary<D, A, B>();                                   \
    using T = typename D::DType;                                     \
    impl::map(                                                       \
        #NAME, [](T x, T y) -> T { return EXPR; }, d, a, b);         \
  }
#define PLD_TERNARY(NAME, EXPR)                                      \
  template <class D, class A, class B, class C>                      \
  inline void NAME(const D& d, const A& a, const B& b, const C& c) { \
    impl::check_binary<D, A, B>();                                   \
    using T = typename D::DType;                                     \
    impl::map(                                                       \
        #NAME, [](T x, T y, T z) -> T { return EXPR; }, d, a, b, c); \
  }
#define PLD_SCALAR(NAME, EXPR)                         \
  template <class D, class A, class V>                 \
  requires std::is_convertible_v<V, typename D::DType> \
  inline void NAME(const D& d, const A& a, V scalar) { \
    impl::check_scalar<D, A>();                        \
    using T = typename D::DType;                       \
    const T y = static_cast<T>(scalar);                \
    impl::map(                                         \
        #NAME, [y](T x) -> T { return EXPR; }, d, a);  \
  }
#define PLD_SCALAR_TMP(NAME, EXPR)                                 \
  template <class D, class A, class V, class Tmp>                  \
  inline void NAME(const D& d, const A& a, V scalar, const Tmp&) { \
    impl::check_scalar<D, A>();                                    \
    using T = typename D::DType;                                   \
    const T y = static_cast<T>(scalar);                            \
    impl::map(                                                     \
        #NAME, [y](T x) -> T { return EXPR; }, d, a);              \
  }
#define PLD_UNARY(NAME, EXPR)                                         \
  template <class D, class A>                                         \
  inline void NAME(const D& d, const A& a) {                          \
    static_assert(impl::same_type<D, A>, #NAME ": one element type"); \
    using T = typename D::DType;                                      \
    impl::map(                                                        \
        #NAME, [](T x) -> T { return EXPR; }, d, a);                  \
  }

PLD_BINARY(TADD, impl::add(x, y))
PLD_BINARY(TSUB, impl::sub(x, y))
PLD_BINARY(TMUL, impl::mul(x, y))
PLD_BINARY(TMAX, impl::max(x, y))
PLD_BINARY(TMIN, impl::min(x, y))
PLD_BINARY(TAND, static_cast<T>(x& y))
PLD_BINARY(TOR, static_cast<T>(x | y))
PLD_BINARY_TMP(TXOR, static_cast<T>(x ^ y))
PLD_BINARY_TMP(TPRELU, static_cast<impl::Value<T>>(x) > 0 ? x : impl::mul(x, y))

template <class D, class A, class B>
inline void TDIV(const D& d, const A& a, const B& b) requires requires {
  typename A::DType;
  typename B::DType;
}
{
  impl::check_binary<D, A, B>();
  using T = typename D::DType;
  impl::check_divisor("TDIV", d, b);
  impl::map(
      "TDIV", [](T x, T y) -> T { return impl::div(x, y); }, d, a, b);
}
template <class D, class A, class B>
inline void TFMOD(const D& d, const A& a, const B& b) {
  impl::check_binary<D, A, B>();
  using T = typename D::DType;
  impl::check_divisor("TFMOD", d, b);
  impl::map(
      "TFMOD", [](T x, T y) -> T { return impl::fmod(x, y); }, d, a, b);
}
template <class D, class A, class B, class Tmp>
inline void TREM(const D& d, const A& a, const B& b, const Tmp&) {
  impl::check_binary<D, A, B>();
  using T = typename D::DType;
  impl::check_divisor("TREM", d, b);
  impl::map(
      "TREM", [](T x, T y) -> T { return impl::rem(x, y); }, d, a, b);
}

// The count's type may differ from the value's.
template <class D, class A, class B>
inline void TSHL(const D& d, const A& a, const B& b) {
  using T = typename D::DType;
  using N = typename B::DType;
  impl::map(
      "TSHL", [](T x, N n) -> T { return impl::shl(x, n); }, d, a, b);
}
template <class D, class A, class B>
inline void TSHR(const D& d, const A& a, const B& b) {
  using T = typename D::DType;
  using N = typename B::DType;
  impl::map(
      "TSHR", [](T x, N n) -> T { return impl::shr(x, n); }, d, a, b);
}
template <class D, class A, class N>
requires std::is_integral_v<N>
inline void TSHLS(const D& d, const A& a, N n) {
  impl::check_scalar<D, A>();
  using T = typename D::DType;
  impl::map(
      "TSHLS", [n](T x) -> T { return impl::shl(x, n); }, d, a);
}
template <class D, class A, class N>
requires std::is_integral_v<N>
inline void TSHRS(const D& d, const A& a, N n) {
  impl::check_scalar<D, A>();
  using T = typename D::DType;
  impl::map(
      "TSHRS", [n](T x) -> T { return impl::shr(x, n); }, d, a);
}

// Three operands, rounded after each step.
PLD_TERNARY(TADDC, impl::add(impl::add(x, y), z))
PLD_TERNARY(TSUBC, impl::sub(impl::sub(x, y), z))
template <class D, class A, class V, class C>
inline void TADDSC(const D& d, const A& a, V scalar, const C& c) {
  impl::check_scalar<D, A>();
  using T = typename D::DType;
  const T s = static_cast<T>(scalar);
  impl::map(
      "TADDSC", [s](T x, T z) -> T { return impl::add(impl::add(x, s), z); }, d, a, c);
}
template <class D, class A, class V, class C>
inline void TSUBSC(const D& d, const A& a, V scalar, const C& c) {
  impl::check_scalar<D, A>();
  using T = typename D::DType;
  const T s = static_cast<T>(scalar);
  impl::map(
      "TSUBSC", [s](T x, T z) -> T { return impl::sub(impl::sub(x, s), z); }, d, a, c);
}

PLD_SCALAR(TADDS, impl::add(x, y))
PLD_SCALAR(TSUBS, impl::sub(x, y))
PLD_SCALAR(TMULS, impl::mul(x, y))
PLD_SCALAR(TMAXS, impl::max(x, y))
PLD_SCALAR(TMINS, impl::min(x, y))
PLD_SCALAR(TANDS, static_cast<T>(x& y))
PLD_SCALAR(TORS, static_cast<T>(x | y))
PLD_SCALAR(TLRELU, static_cast<impl::Value<T>>(x) > 0 ? x : impl::mul(x, y))
PLD_SCALAR_TMP(TXORS, static_cast<T>(x ^ y))

template <class D, class A, class V>
requires std::is_convertible_v<V, typename D::DType>
inline void TDIVS(const D& d, const A& a, V scalar) {
  impl::check_scalar<D, A>();
  using T = typename D::DType;
  const T y = static_cast<T>(scalar);
  impl::check_scalar_divisor("TDIVS", y);
  impl::map(
      "TDIVS", [y](T x) -> T { return impl::div(x, y); }, d, a);
}
// scalar / tile
template <class D, class V, class A>
requires std::is_convertible_v<V, typename D::DType>
inline void TDIVS(const D& d, V scalar, const A& a) {
  impl::check_scalar<D, A>();
  using T = typename D::DType;
  const T x = static_cast<T>(scalar);
  impl::check_divisor("TDIVS", d, a);
  impl::map(
      "TDIVS", [x](T y) -> T { return impl::div(x, y); }, d, a);
}
template <class D, class A, class V>
inline void TFMODS(const D& d, const A& a, V scalar) {
  impl::check_scalar<D, A>();
  using T = typename D::DType;
  const T y = static_cast<T>(scalar);
  impl::check_scalar_divisor("TFMODS", y);
  impl::map(
      "TFMODS", [y](T x) -> T { return impl::fmod(x, y); }, d, a);
}
template <class D, class A, class V, class Tmp>
inline void TREMS(const D& d, const A& a, V scalar, const Tmp&) {
  impl::check_scalar<D, A>();
  using T = typename D::DType;
  const T y = static_cast<T>(scalar);
  impl::check_scalar_divisor("TREMS", y);
  impl::map(
      "TREMS", [y](T x) -> T { return impl::rem(x, y); }, d, a);
}

PLD_UNARY(TEXP, impl::expf_of(x))
PLD_UNARY(TLOG, static_cast<T>(__builtin_logf(static_cast<float>(x))))
PLD_UNARY(TSQRT, static_cast<T>(__builtin_sqrtf(static_cast<float>(x))))
PLD_UNARY(TRECIP, static_cast<T>(1.0f / static_cast<float>(x)))
PLD_UNARY(TNEG, impl::is_float<T> ? static_cast<T>(-static_cast<impl::Value<T>>(x)) : impl::sub(T{}, x))
PLD_UNARY(TRELU, static_cast<impl::Value<T>>(x) > 0 ? x : T{})
PLD_UNARY(TSIN, static_cast<T>(__builtin_sinf(static_cast<float>(x))))
PLD_UNARY(TCOS, static_cast<T>(__builtin_cosf(static_cast<float>(x))))

template <class D, class A>
inline void TRSQRT(const D& d, const A& a) {
  using T = typename D::DType;
  // In double, so that the quotient is not rounded twice in single precision.
  impl::map(
      "TRSQRT",
      [](T x) -> T {
        return static_cast<T>(
            static_cast<float>(1.0 / __builtin_sqrt(static_cast<double>(static_cast<float>(x)))));
      },
      d, a);
}
template <class D, class A, class Tmp>
inline void TRSQRT(const D& d, const A& a, const Tmp&) {
  TRSQRT(d, a);
}
template <class D, class A>
inline void TABS(const D& d, const A& a) {
  using T = typename D::DType;
  impl::map(
      "TABS",
      [](T x) -> T {
        if constexpr (impl::is_float<T>) {
          return static_cast<T>(__builtin_fabsf(static_cast<float>(x)));
        } else {
          return x < 0 ? impl::sub(T{}, x) : x;
        }
      },
      d, a);
}
template <class D, class A>
inline void TNOT(const D& d, const A& a) {
  using T = typename D::DType;
  impl::map(
      "TNOT", [](T x) -> T { return static_cast<T>(~x); }, d, a);
}

namespace impl {

// d = f(a, b) over the union of the valid boxes: where only one operand is valid, that operand; where none
// is, 0.
template <class F, class D, class A, class B>
inline void part(F f, const D& d, const A& a, const B& b) {
  using T = typename D::DType;
  for (int64_t r = 0; r < d.GetValidRow(); ++r) {
    for (int64_t c = 0; c < d.GetValidCol(); ++c) {
      const bool in_a = r < a.GetValidRow() && c < a.GetValidCol();
      const bool in_b = r < b.GetValidRow() && c < b.GetValidCol();
      d.at(r, c) = in_a ? (in_b ? f(a.at(r, c), b.at(r, c)) : a.at(r, c)) : (in_b ? b.at(r, c) : T{});
    }
  }
}

// d[r, c] = f(a[r, c], v[r]); the column vector may be a packed row-major carrier, read modulo its width.
template <class F, class D, class A, class V>
inline void by_row(const char* op, F f, const D& d, const A& a, const V& v) {
  using T = typename D::DType;
  static_assert(D::isRowMajor, "the destination of a row expansion is row-major");
  static_assert(same_type<D, A> && same_type<D, V>, "operands and result have one element type");
  check_covers(op, d, a);
  const int64_t rows = d.GetValidRow(), cols = d.GetValidCol();
  if (v.GetValidRow() < rows) shape_error(op, rows, 1, v.GetValidRow(), v.GetValidCol());
  for (int64_t r = 0; r < rows; ++r) {
    if constexpr (V::Cols == 1) {
      const T y = v.at(r, 0);
      map_line(
          cols, [y, f](T x) -> T { return f(x, y); }, &d.at(r, 0), static_cast<const T*>(&a.at(r, 0)));
    } else {
      for (int64_t c = 0; c < cols; ++c) d.at(r, c) = f(a.at(r, c), v.at(r, c % V::Cols));
    }
  }
}

// d[r, c] = f(a[r, c], v[c])
template <class F, class D, class A, class V>
inline void by_col(const char* op, F f, const D& d, const A& a, const V& v) {
  using T = typename D::DType;
  static_assert(same_type<D, A> && same_type<D, V>, "operands and result have one element type");
  static_assert(D::isRowMajor && V::isRowMajor, "a column expansion takes row-major tiles");
  check_covers(op, d, a);
  const int64_t rows = d.GetValidRow(), cols = d.GetValidCol();
  if (v.GetValidCol() < cols) shape_error(op, 1, cols, v.GetValidRow(), v.GetValidCol());
  for (int64_t r = 0; r < rows; ++r) {
    map_line(cols, f, &d.at(r, 0), static_cast<const T*>(&a.at(r, 0)), static_cast<const T*>(v.data()));
  }
}

}  // namespace impl

#define PLD_PART(NAME, FN)                                 \
  template <class D, class A, class B>                     \
  inline void NAME(const D& d, const A& a, const B& b) {   \
    using T = typename D::DType;                           \
    impl::part([](T x, T y) -> T { return FN; }, d, a, b); \
  }
PLD_PART(TPARTADD, impl::add(x, y))
PLD_PART(TPARTMUL, impl::mul(x, y))
PLD_PART(TPARTMAX, impl::max(x, y))
PLD_PART(TPARTMIN, impl::min(x, y))

#define PLD_EXPAND(SUFFIX, FN)                                            \
  template <class D, class A, class V>                                    \
  inline void TROWEXPAND##SUFFIX(const D& d, const A& a, const V& v) {    \
    using T = typename D::DType;                                          \
    impl::by_row(                                                         \
        "TROWEXPAND" #SUFFIX, [](T x, T y) -> T { return FN; }, d, a, v); \
  }                                                                       \
  template <class D, class A, class V>                                    \
  inline void TCOLEXPAND##SUFFIX(const D& d, const A& a, const V& v) {    \
    using T = typename D::DType;                                          \
    impl::by_col(                                                         \
        "TCOLEXPAND" #SUFFIX, [](T x, T y) -> T { return FN; }, d, a, v); \
  }
PLD_EXPAND(ADD, impl::add(x, y))
PLD_EXPAND(SUB, impl::sub(x, y))
PLD_EXPAND(MUL, impl::mul(x, y))
PLD_EXPAND(DIV, impl::div(x, y))
PLD_EXPAND(MAX, impl::max(x, y))
PLD_EXPAND(MIN, impl::min(x, y))
PLD_EXPAND(EXPDIF, impl::expf_of(impl::sub(x, y)))

template <class D, class V>
inline void TROWEXPAND(const D& d, const V& v) {
  using T = typename D::DType;
  static_assert(D::isRowMajor, "the destination of a row expansion is row-major");
  if (v.GetValidRow() < d.GetValidRow())
    impl::shape_error("TROWEXPAND", d.GetValidRow(), 1, v.GetValidRow(), 1);
  for (int64_t r = 0; r < d.GetValidRow(); ++r) {
    const T y = v.at(r, 0);
    impl::map_line(
        d.GetValidCol(), [y] { return y; }, &d.at(r, 0));
  }
}
template <class D, class V>
inline void TCOLEXPAND(const D& d, const V& v) {
  using T = typename D::DType;
  if (v.GetValidCol() < d.GetValidCol())
    impl::shape_error("TCOLEXPAND", 1, d.GetValidCol(), 1, v.GetValidCol());
  for (int64_t r = 0; r < d.GetValidRow(); ++r) {
    impl::map_line(
        d.GetValidCol(), [](T y) { return y; }, &d.at(r, 0), static_cast<const T*>(v.data()));
  }
}

#undef PLD_BINARY
#undef PLD_BINARY_TMP
#undef PLD_TERNARY
#undef PLD_SCALAR
#undef PLD_SCALAR_TMP
#undef PLD_UNARY
#undef PLD_PART
#undef PLD_EXPAND

}  // namespace pto
