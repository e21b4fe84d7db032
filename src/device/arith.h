// Arithmetic, comparison and logic for every dtype, with NumPy's rules: integers wrap, bool adds as "or", NaN propagates.
#pragma once
#include "complex.h"

namespace bc {

BC_TFN T add(T a, T b) {
  if constexpr (is_bool<T>)
    return a | b;
  else if constexpr (is_int<T>)
    return static_cast<T>(static_cast<wrap_of<T>>(a) + static_cast<wrap_of<T>>(b));
  else
    return a + b;
}
BC_TFN T subtract(T a, T b) {
  if constexpr (is_bool<T>)
    return a ^ b;
  else if constexpr (is_int<T>)
    return static_cast<T>(static_cast<wrap_of<T>>(a) - static_cast<wrap_of<T>>(b));
  else
    return a - b;
}
BC_TFN T multiply(T a, T b) {
  if constexpr (is_bool<T>)
    return a & b;
  else if constexpr (is_int<T>)
    return static_cast<T>(static_cast<wrap_of<T>>(a) * static_cast<wrap_of<T>>(b));
  else
    return a * b;
}
BC_TFN T divide(T a, T b) { return a / b; }
BC_TFN T negative(T a) {
  if constexpr (is_int<T>)
    return static_cast<T>(wrap_of<T>(0) - static_cast<wrap_of<T>>(a));
  else
    return -a;
}
BC_TFN T positive(T a) { return a; }
BC_TFN T square(T a) { return multiply(a, a); }
BC_TFN T reciprocal(T a) {
  if constexpr (is_complex<T>) {
    using R = real_of<T>;
    bool by_re = (a.im < 0 ? -a.im : a.im) <= (a.re < 0 ? -a.re : a.re);
    R ratio = by_re ? a.im / a.re : a.re / a.im;
    R d = by_re ? a.re + a.im * ratio : a.re * ratio + a.im;
    return by_re ? T(R(1) / d, -ratio / d) : T(ratio / d, R(-1) / d);
  } else if constexpr (is_int<T>) {
    return cast<T>(1.0 / static_cast<double>(a));
  } else {
    return T(1.0f) / a;
  }
}

// ---- parts of numbers
BC_TFN real_of<T> real(T a) {
  if constexpr (is_complex<T>)
    return a.re;
  else
    return a;
}
BC_TFN real_of<T> imag(T a) {
  if constexpr (is_complex<T>)
    return a.im;
  else
    return cast<T>(false);
}
BC_TFN T conj(T a) {
  if constexpr (is_complex<T>)
    return T(a.re, -a.im);
  else
    return a;
}

/// Clears the sign bit of a float.
#if BC_CUDA
BC_FN float fabs(float a) { return ::fabsf(a); }  // becomes a modifier of the next instruction
BC_FN double fabs(double a) { return ::fabs(a); }
// Computed in float: NVRTC 13.0 wrongly merges two 16-bit masks of one word (seen on sm_90).
BC_FN half fabs(half a) { return half(fabs(static_cast<float>(a))); }
#else
BC_FN float fabs(float a) { return bits_as<float>(bits_as<u32>(a) & 0x7fffffffu); }
BC_FN double fabs(double a) { return bits_as<double>(bits_as<u64>(a) & 0x7fffffffffffffffull); }
BC_FN half fabs(half a) { return bits_as<half>(static_cast<u16>(a.bits & 0x7fffu)); }
#endif
BC_FN bfloat16 fabs(bfloat16 a) { return bits_as<bfloat16>(static_cast<u16>(a.bits & 0x7fffu)); }
template <class T, enable_if<is_float8<T>> = 0>
BC_INLINE T fabs(T a) {
  return bits_as<T>(static_cast<u8>(a.bits & 0x7fu));
}
BC_FN float copysign(float a, float b) { return bits_as<float>((bits_as<u32>(a) & 0x7fffffffu) | (bits_as<u32>(b) & 0x80000000u)); }
BC_FN double copysign(double a, double b) {
  constexpr u64 kSign = 0x8000000000000000ull;
  return bits_as<double>((bits_as<u64>(a) & ~kSign) | (bits_as<u64>(b) & kSign));
}
BC_FN half copysign(half a, half b) { return bits_as<half>(static_cast<u16>((a.bits & 0x7fffu) | (b.bits & 0x8000u))); }
BC_FN bfloat16 copysign(bfloat16 a, bfloat16 b) { return bits_as<bfloat16>(static_cast<u16>((a.bits & 0x7fffu) | (b.bits & 0x8000u))); }
template <class T, enable_if<is_float8<T>> = 0>
BC_INLINE T copysign(T a, T b) {
  return bits_as<T>(static_cast<u8>((a.bits & 0x7fu) | (b.bits & 0x80u)));
}
BC_FN bool signbit(float a) { return (bits_as<u32>(a) >> 31) != 0; }
BC_FN bool signbit(double a) { return (bits_as<u64>(a) >> 63) != 0; }
BC_FN bool signbit(half a) { return (a.bits >> 15) != 0; }
BC_FN bool signbit(bfloat16 a) { return (a.bits >> 15) != 0; }
template <class T, enable_if<is_float8<T>> = 0>
BC_INLINE bool signbit(T a) {
  return (a.bits >> 7) != 0;
}

// ---- classes of numbers
BC_TFN bool isnan(T a) {
  if constexpr (is_complex<T>)
    return a.re != a.re || a.im != a.im;
  else if constexpr (is_float<T>)
    return a != a;
  else
    return false;
}
BC_TFN bool isinf(T a) {
  if constexpr (is_complex<T>)
    return isinf(a.re) || isinf(a.im);
  else if constexpr (is_float<T>)
    return fabs(a) == limits<T>::inf();
  else
    return false;
}
BC_TFN bool isfinite(T a) {
  if constexpr (is_complex<T>)
    return isfinite(a.re) && isfinite(a.im);
  else if constexpr (is_float<T>)
    return fabs(a) < limits<T>::inf();
  else
    return true;
}
BC_TFN bool isposinf(T a) {
  if constexpr (is_float<T>)
    return a == limits<T>::inf();
  else
    return false;
}
BC_TFN bool isneginf(T a) {
  if constexpr (is_float<T>)
    return a == -limits<T>::inf();
  else
    return false;
}

// ---- comparison and logic
BC_TFN bool equal(T a, T b) { return a == b; }
BC_TFN bool not_equal(T a, T b) { return a != b; }
BC_TFN bool less(T a, T b) { return a < b; }
BC_TFN bool less_equal(T a, T b) { return a <= b; }
BC_TFN bool greater(T a, T b) { return a > b; }
BC_TFN bool greater_equal(T a, T b) { return a >= b; }
// The correct order of a signed and an unsigned integer, which have no common integer type.
BC_FN bool equal(i64 a, u64 b) { return a >= 0 && static_cast<u64>(a) == b; }
BC_FN bool less(i64 a, u64 b) { return a < 0 || static_cast<u64>(a) < b; }
BC_FN bool less(u64 a, i64 b) { return b >= 0 && a < static_cast<u64>(b); }
BC_FN bool equal(u64 a, i64 b) { return equal(b, a); }
BC_FN bool not_equal(i64 a, u64 b) { return !equal(a, b); }
BC_FN bool not_equal(u64 a, i64 b) { return !equal(b, a); }
BC_FN bool less_equal(i64 a, u64 b) { return !less(b, a); }
BC_FN bool less_equal(u64 a, i64 b) { return !less(b, a); }
BC_FN bool greater(i64 a, u64 b) { return less(b, a); }
BC_FN bool greater(u64 a, i64 b) { return less(b, a); }
BC_FN bool greater_equal(i64 a, u64 b) { return !less(a, b); }
BC_FN bool greater_equal(u64 a, i64 b) { return !less(a, b); }

BC_TFN bool logical_and(T a, T b) { return static_cast<bool>(nonzero(a) & nonzero(b)); }
BC_TFN bool logical_or(T a, T b) { return static_cast<bool>(nonzero(a) | nonzero(b)); }
BC_TFN bool logical_xor(T a, T b) { return nonzero(a) != nonzero(b); }
BC_TFN bool logical_not(T a) { return !nonzero(a); }

/// Selects one of two values by bit operations, because GCC turns successive selects into branches and then does not vectorize the loop.
BC_TFN T choose(bool condition, T a, T b) {
#if !BC_CUDA && !defined(__clang__)
  if constexpr (is_same<T, float> || is_same<T, double>) {
    using Bits = unsigned_of<T>;
    const Bits mask = Bits(0) - static_cast<Bits>(condition);
    return bits_as<T>((bits_as<Bits>(a) & mask) | (bits_as<Bits>(b) & ~mask));
  }
#endif
  return condition ? a : b;
}

// For equal values the result is the second, as in vector units and NumPy: this matters only for zeros of different sign.
BC_TFN T maximum(T a, T b) { return choose((a > b) | isnan(a), a, b); }
BC_TFN T minimum(T a, T b) { return choose((a < b) | isnan(a), a, b); }
BC_TFN T fmax(T a, T b) { return choose((a > b) | isnan(b), a, b); }
BC_TFN T fmin(T a, T b) { return choose((a < b) | isnan(b), a, b); }
BC_TFN T clip(T a, T lo, T hi) { return minimum(maximum(a, lo), hi); }
BC_TFN T where(bool condition, T a, T b) { return condition ? a : b; }

BC_TFN T heaviside(T a, T b) { return isnan(a) ? a : (a == T(0.0f) ? b : (a < T(0.0f) ? T(0.0f) : T(1.0f))); }

}  // namespace bc
