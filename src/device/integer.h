// Integer rules of NumPy: division by zero gives 0, the lowest value divided by -1 wraps, shifts beyond the width give 0 or the sign.
#pragma once
#include "arith.h"

namespace bc {

BC_FN u32 mul_high(u32 a, u32 b) { return static_cast<u32>((static_cast<u64>(a) * b) >> 32); }
BC_FN u64 mul_high(u64 a, u64 b) {
#if BC_CUDA
  return ::__umul64hi(a, b);
#else
  return static_cast<u64>((static_cast<unsigned __int128>(a) * b) >> 64);
#endif
}

/// `x` must not be 0.
BC_FN i32 count_leading_zeros(u64 x) {
#if BC_CUDA
  return ::__clzll(static_cast<i64>(x));
#else
  return __builtin_clzll(x);
#endif
}

/// Magnitude as an unsigned integer: correct for the lowest value too.
BC_TFN unsigned_of<T> magnitude(T a) {
  using U = unsigned_of<T>;
  if constexpr (is_signed_int<T>)
    return a < 0 ? static_cast<U>(wrap_of<T>(0) - static_cast<wrap_of<T>>(a)) : static_cast<U>(a);
  else
    return a;
}

/// Quotient of unsigned integers, b > 0. Up to 32 bits it runs in floating point, which is exact and vectorises.
template <class U>
BC_INLINE U quotient(U a, U b) {
#if BC_CUDA
  return static_cast<U>(a / b);
#else
  if constexpr (sizeof(U) <= 2) {
    return static_cast<U>(static_cast<i32>(static_cast<float>(a) / static_cast<float>(b)));
  } else if constexpr (sizeof(U) == 4) {
    // Subtracts 2^31 so that the result fits a signed integer, to which every vector unit can convert.
    double q = static_cast<double>(a) / static_cast<double>(b);
    bool high = q >= 0x1p31;
    return static_cast<U>(static_cast<i32>(high ? q - 0x1p31 : q)) + (high ? 0x80000000u : 0u);
  } else {
    return a / b;
  }
#endif
}

/// C's division without its undefined cases: x / 0 = 0; for magnitudes there is no divisor -1 that overflows.
BC_TFN T trunc_divide(T a, T b) {
  using U = unsigned_of<T>;
  U size = magnitude(b), zero = size == 0 ? U(1) : U(0);
  U q = quotient(magnitude(a), static_cast<U>(size | zero));
  q = zero != 0 ? U(0) : q;
  if constexpr (is_signed_int<T>)
    return (a ^ b) < 0 ? static_cast<T>(wrap_of<T>(0) - static_cast<wrap_of<T>>(q)) : static_cast<T>(q);
  else
    return q;
}

template <class T, enable_if<is_int<T>> = 0>
BC_INLINE T fmod(T a, T b) {
  return b == 0 ? T(0) : subtract(a, multiply(trunc_divide(a, b), b));
}
template <class T, enable_if<is_int<T>> = 0>
BC_INLINE T remainder(T a, T b) {
  T r = fmod(a, b);
  if constexpr (is_signed_int<T>)
    return add(r, static_cast<T>(r != 0 && (r ^ b) < 0 ? b : T(0)));
  else
    return r;
}
template <class T, enable_if<is_int<T>> = 0>
BC_INLINE T floor_divide(T a, T b) {
  T q = trunc_divide(a, b);
  if constexpr (is_signed_int<T>) {
    bool inexact = multiply(q, b) != a && b != 0;
    return subtract(q, static_cast<T>(inexact && (a ^ b) < 0 ? 1 : 0));
  } else {
    return q;
  }
}

/// Power by squaring, wrapping. A negative exponent (refused above this level for arrays) gives the truncated reciprocal.
template <class T, enable_if<is_int<T>> = 0>
BC_INLINE T power(T a, T b) {
  using U = wrap_of<T>;
  if constexpr (is_signed_int<T>) {
    if (b < 0) return a == 1 ? T(1) : (a == T(-1) ? ((b & 1) != 0 ? T(-1) : T(1)) : T(0));
  }
  U result = 1, base = static_cast<U>(a);
  for (unsigned_of<T> n = static_cast<unsigned_of<T>>(b); n != 0; n = static_cast<unsigned_of<T>>(n >> 1)) {
    if ((n & 1u) != 0) result *= base;
    base *= base;
  }
  return static_cast<T>(result);
}

BC_TFN T bitwise_and(T a, T b) { return static_cast<T>(a & b); }
BC_TFN T bitwise_or(T a, T b) { return static_cast<T>(a | b); }
BC_TFN T bitwise_xor(T a, T b) { return static_cast<T>(a ^ b); }
BC_TFN T invert(T a) {
  if constexpr (is_bool<T>)
    return !a;
  else
    return static_cast<T>(~a);
}
BC_TFN T left_shift(T a, T b) {
  using U = unsigned_of<T>;
  constexpr U kBits = static_cast<U>(8 * sizeof(T));
  U n = static_cast<U>(b);
  return n < kBits ? static_cast<T>(static_cast<wrap_of<T>>(a) << (n & (kBits - 1))) : T(0);
}
BC_TFN T right_shift(T a, T b) {
  using U = unsigned_of<T>;
  constexpr U kBits = static_cast<U>(8 * sizeof(T));
  U n = static_cast<U>(b), last = static_cast<U>(kBits - 1);
  if constexpr (is_signed_int<T>)
    return static_cast<T>(a >> (n < kBits ? n : last));
  else
    return n < kBits ? static_cast<T>(a >> (n & last)) : T(0);
}

template <class T>
BC_INLINE T gcd(T a, T b) {
  unsigned_of<T> x = magnitude(a), y = magnitude(b);
  while (y != 0) {
    unsigned_of<T> r = static_cast<unsigned_of<T>>(x % y);
    x = y;
    y = r;
  }
  return static_cast<T>(x);
}
template <class T>
BC_INLINE T lcm(T a, T b) {
  T g = gcd(a, b);
  using U = unsigned_of<T>;
  return g == 0 ? T(0) : static_cast<T>(static_cast<wrap_of<T>>(magnitude(a) / static_cast<U>(g)) * static_cast<wrap_of<T>>(magnitude(b)));
}

/// Number of ones in the magnitude, as NumPy counts.
BC_TFN u8 bit_count(T a) {
#if BC_CUDA
  return static_cast<u8>(sizeof(T) == 8 ? ::__popcll(static_cast<u64>(magnitude(a))) : ::__popc(static_cast<u32>(magnitude(a))));
#else
  return static_cast<u8>(sizeof(T) == 8 ? __builtin_popcountll(static_cast<u64>(magnitude(a)))
                                        : __builtin_popcount(static_cast<u32>(magnitude(a))));
#endif
}

template <class T, enable_if<is_int<T> || is_bool<T>> = 0>
BC_INLINE T abs(T a) {
  if constexpr (is_signed_int<T>)
    return a < 0 ? negative(a) : a;
  else
    return a;
}
template <class T, enable_if<is_int<T>> = 0>
BC_INLINE T sign(T a) {
  if constexpr (is_signed_int<T>)
    return static_cast<T>((a > 0 ? 1 : 0) - (a < 0 ? 1 : 0));
  else
    return static_cast<T>(a != 0 ? 1 : 0);
}
#define BC_ROUNDED_ALREADY(name)                             \
  template <class T, enable_if<is_int<T> || is_bool<T>> = 0> \
  BC_INLINE T name(T a) {                                    \
    return a;                                                \
  }
BC_ROUNDED_ALREADY(floor)
BC_ROUNDED_ALREADY(ceil)
BC_ROUNDED_ALREADY(trunc)
#undef BC_ROUNDED_ALREADY

}  // namespace bc
