// Floating-point tools: fused multiply-add, Horner chains, rounding, neighbours, exponents, and the remainder family.
#pragma once
#include "integer.h"

// Functions that are too long to inline; the compiler drops those that a kernel does not use.
#if BC_CUDA
#define BC_LONG static __device__
#define BC_RARE static __device__ __noinline__
#define BC_EXACT BC_FN
#define BC_TABLE static __constant__ const  // compiles faster than a static array inside a function
// Branch-free forms, which clear `good` where the plain form must run; 16-bit floats are computed in float here too.
#define BC_LIFT1_GOOD(name)                            \
  template <class T, enable_if<is_small_float<T>> = 0> \
  BC_INLINE T name(T a, u32& good) {                   \
    return T(name(static_cast<float>(a), good));       \
  }
#define BC_NATIVE1(name, f32, f64)               \
  BC_FN float name(float a) { return ::f32(a); } \
  BC_FN double name(double a) { return ::f64(a); }
#define BC_NATIVE2(name, f32, f64)                           \
  BC_FN float name(float a, float b) { return ::f32(a, b); } \
  BC_FN double name(double a, double b) { return ::f64(a, b); }
#else
#define BC_LONG static inline
// Kernels call the rare functions in the support object instead of compiling them each time.
#if defined(BC_CPU_KERNEL)
#define BC_RARE extern __inline __attribute__((gnu_inline, noinline))
#elif defined(BC_CPU_SUPPORT)
#define BC_RARE __attribute__((noinline, used))
#else
#define BC_RARE static __attribute__((noinline, unused))
#endif
#define BC_EXACT BC_RARE
#define BC_TABLE static constexpr
#define BC_NOINLINE __attribute__((noinline, unused))
#define BC_NATIVE1(name, f32, f64)                         \
  BC_FN float name(float a) { return __builtin_##f32(a); } \
  BC_FN double name(double a) { return __builtin_##f64(a); }
#endif

// half and bfloat16 are computed in float and rounded once.
#define BC_LIFT1(name)                                 \
  template <class T, enable_if<is_small_float<T>> = 0> \
  BC_INLINE T name(T a) {                              \
    return T(name(static_cast<float>(a)));             \
  }
#define BC_LIFT2(name)                                            \
  template <class T, enable_if<is_small_float<T>> = 0>            \
  BC_INLINE T name(T a, T b) {                                    \
    return T(name(static_cast<float>(a), static_cast<float>(b))); \
  }
#define BC_LIFT1_FAST(name)                            \
  template <class T, enable_if<is_small_float<T>> = 0> \
  BC_INLINE T name(T a, u32& flag) {                   \
    return T(name(static_cast<float>(a), flag));       \
  }
#define BC_LIFT2_FAST(name)                                             \
  template <class T, enable_if<is_small_float<T>> = 0>                  \
  BC_INLINE T name(T a, T b, u32& flag) {                               \
    return T(name(static_cast<float>(a), static_cast<float>(b), flag)); \
  }

// Horner's rule, coefficients from the constant term up. Macros, so that unused chains instantiate no template.
#define BC_P2(x, a, b) fma(b, x, a)
#define BC_P3(x, a, ...) fma(BC_P2(x, __VA_ARGS__), x, a)
#define BC_P4(x, a, ...) fma(BC_P3(x, __VA_ARGS__), x, a)
#define BC_P5(x, a, ...) fma(BC_P4(x, __VA_ARGS__), x, a)
#define BC_P6(x, a, ...) fma(BC_P5(x, __VA_ARGS__), x, a)
#define BC_P7(x, a, ...) fma(BC_P6(x, __VA_ARGS__), x, a)
#define BC_P8(x, a, ...) fma(BC_P7(x, __VA_ARGS__), x, a)
#define BC_P9(x, a, ...) fma(BC_P8(x, __VA_ARGS__), x, a)
#define BC_P10(x, a, ...) fma(BC_P9(x, __VA_ARGS__), x, a)
#define BC_P11(x, a, ...) fma(BC_P10(x, __VA_ARGS__), x, a)
#define BC_P12(x, a, ...) fma(BC_P11(x, __VA_ARGS__), x, a)
#define BC_P13(x, a, ...) fma(BC_P12(x, __VA_ARGS__), x, a)

namespace bc {

#if BC_CUDA
BC_FN float fma(float a, float b, float c) { return ::fmaf(a, b, c); }
BC_FN double fma(double a, double b, double c) { return ::fma(a, b, c); }
#else
BC_FN float fma(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
BC_FN double fma(double a, double b, double c) { return __builtin_fma(a, b, c); }
#endif
/// sum of c[i] x^i
template <int N>
BC_INLINE double horner(double x, const double (&c)[N]) {
  double r = c[N - 1];
  BC_STRAIGHT
  for (int i = N - 2; i >= 0; i--) r = fma(r, x, c[i]);
  return r;
}
BC_NATIVE1(sqrt, sqrtf, sqrt)
BC_NATIVE1(rint, rintf, rint)
BC_NATIVE1(floor, floorf, floor)
BC_NATIVE1(ceil, ceilf, ceil)
BC_NATIVE1(trunc, truncf, trunc)
BC_LIFT1(sqrt)
BC_LIFT1(rint)
BC_LIFT1(floor)
BC_LIFT1(ceil)
BC_LIFT1(trunc)

#if BC_CUDA
// Quotients and roots without the operators' branches, so that several elements of a thread overlap. A seed of the special function unit
// and a Newton step whose residual is exact give the rounded result wherever no step leaves the normal range.
/// Clears `good` unless |x| >= least (so also for NaN): one instruction, as the comparisons are chained by predicate.
BC_FN void require_magnitude(float x, float least, u32& good) {
  asm("{.reg .pred p, q; .reg .f32 t; setp.ne.u32 q, %0, 0; abs.f32 t, %1; setp.ge.and.f32 p, t, %2, q; selp.u32 %0, 1, 0, p;}"
      : "+r"(good)
      : "f"(x), "f"(least));
}
BC_FN void require_magnitude_below(float x, float limit, u32& good) {
  asm("{.reg .pred p, q; .reg .f32 t; setp.ne.u32 q, %0, 0; abs.f32 t, %1; setp.lt.and.f32 p, t, %2, q; selp.u32 %0, 1, 0, p;}"
      : "+r"(good)
      : "f"(x), "f"(limit));
}
/// Clears `good` if the dividend is not suitable for quotient_fast.
BC_FN bool may_divide(float a) { return fabs(a) >= 0x1p-100f; }
/// a / b where |a| >= 2^-100: overflow and division by zero give NaN; a divisor that is too large for the seed gives zero.
BC_FN float quotient_fast(float a, float b, u32& good) {
  float seed, q;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(seed) : "f"(b));
  seed = fma(seed, fma(-b, seed, 1.0f), seed);
  q = a * seed;
  q = fma(fma(-b, q, a), seed, q);
  require_magnitude(q, 0x1p-126f, good);
  return q;
}
BC_FN float divide_fast(float a, float b, u32& good) {
  require_magnitude(a, 0x1p-100f, good);  // below this the residual would lose bits
  return quotient_fast(a, b, good);
}
/// a / b for callers that clear `good` themselves for a subnormal number, a zero or NaN.
BC_FN float quotient_unchecked(float a, float b, u32& good) {
  u32 any = 1;
  require_magnitude(a, 0x1p-100f, good);
  return quotient_fast(a, b, any);
}
/// 1 / a: one Newton step rounds correctly from the seed of every significand, and CUDA's own __frcp_rn takes no other.
BC_FN float reciprocal_fast(float a, u32& good) {
  float seed;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(seed) : "f"(a));
  seed = fma(seed, fma(-a, seed, 1.0f), seed);
  require_magnitude(seed, 0x1p-126f, good);
  return seed;
}
BC_FN float sqrt_fast(float a, u32& good) {
  float seed, r;
  asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(seed) : "f"(a));
  r = a * seed;
  r = fma(fma(-r, r, a), seed * 0.5f, r);
  require_magnitude(r, 0x1p-50f, good);
  return r;
}
template <class T, enable_if<is_small_float<T>> = 0>
BC_INLINE T divide_fast(T a, T b, u32& good) {
  return T(divide_fast(static_cast<float>(a), static_cast<float>(b), good));
}
template <class T, enable_if<is_small_float<T>> = 0>
BC_INLINE T quotient_unchecked(T a, T b, u32& good) {
  return divide_fast(a, b, good);
}
BC_LIFT1_GOOD(reciprocal_fast)
BC_LIFT1_GOOD(sqrt_fast)
#endif

template <class T, enable_if<is_float<T>> = 0>
BC_INLINE T abs(T a) {
  return fabs(a);
}
template <class T, enable_if<is_float<T>> = 0>
BC_INLINE T sign(T a) {
  return a > T(0.0f) ? T(1.0f) : (a < T(0.0f) ? T(-1.0f) : (a == T(0.0f) ? T(0.0f) : a));
}

// ---- exponents and neighbours
/// 2^k for a normal result.
template <class T, class K>
BC_INLINE T pow2(K k) {
  using L = float_layout<T>;
  return bits_as<T>(static_cast<typename L::uint>(static_cast<typename L::sint>(k) + L::kBias) << L::kMantissa);
}

BC_TFN T next_magnitude(T a, bool away) {
  using U = unsigned_of<T>;
  return bits_as<T>(static_cast<U>(bits_as<U>(a) + (away ? U(1) : static_cast<U>(~U(0)))));
}
template <class T, enable_if<is_float<T>> = 0>
BC_INLINE T nextafter(T a, T b) {
  using U = unsigned_of<T>;
  T step = next_magnitude(a, (a < b) == (a > T(0.0f)));
  T from_zero = copysign(bits_as<T>(U(1)), b);
  return isnan(a) || isnan(b) ? a + b : (a == b ? b : (a == T(0.0f) ? from_zero : step));
}
/// Distance to the next number: away from zero with the sign of `a` (float, double), or upwards (16 bits), as NumPy has it.
template <class T, enable_if<is_float<T>> = 0>
BC_INLINE T spacing(T a) {
  using U = unsigned_of<T>;
  if constexpr (is_small_float<T>) {
    return isfinite(a) ? nextafter(a, limits<T>::inf()) - a : limits<T>::nan();
  } else {
    T step = next_magnitude(a, true) - a;
    return isfinite(a) ? (a == T(0) ? bits_as<T>(U(1)) : step) : limits<T>::nan();
  }
}

/// Mantissa in [0.5, 1) and exponent with a = mantissa * 2^exponent; zero, infinity and NaN have exponent 0.
BC_TFN T native_frexp(T a, i32& exponent) {
  using L = float_layout<T>;
  bool tiny = fabs(a) < limits<T>::min(), plain = a != T(0) && isfinite(a);
  auto bits = bits_as<typename L::uint>(tiny ? a * T(0x1p54) : a);
  i32 e = static_cast<i32>((bits & L::kInf) >> L::kMantissa) - (L::kBias - 1) - (tiny ? 54 : 0);
  exponent = plain ? e : 0;
  return plain ? bits_as<T>((bits & ~L::kInf) | (static_cast<typename L::uint>(L::kBias - 1) << L::kMantissa)) : a;
}
BC_TFN T frexp_mantissa(T a) {
  i32 e;
  return T(native_frexp(static_cast<compute_of<T>>(a), e));
}
BC_TFN i32 frexp_exponent(T a) {
  i32 e;
  native_frexp(static_cast<compute_of<T>>(a), e);
  return e;
}

/// a * 2^n, rounded once: the first factor keeps the number normal, the second rounds it.
BC_TFN T ldexp(T a, i32 n) {
  using C = compute_of<T>;
  using L = float_layout<C>;
  i32 e;
  C m = native_frexp(static_cast<C>(a), e);
  n = n > 5000 ? 5000 : (n < -5000 ? -5000 : n);
  e += n;
  i32 first = e > L::kBias ? L::kBias : (e < 2 - L::kBias ? 2 - L::kBias : e);
  i32 rest = e - first;
  rest = rest > 100 ? 100 : (rest < -100 ? -100 : rest);
  return T(m * pow2<C>(first) * pow2<C>(rest));
}
template <class T>
BC_INLINE T ldexp(T a, i64 n) {
  return ldexp(a, static_cast<i32>(n > 5000 ? 5000 : (n < -5000 ? -5000 : n)));
}

BC_TFN T modf_integer(T a) { return trunc(a); }
BC_TFN T modf_fraction(T a) { return copysign(isinf(a) ? T(0.0f) : a - trunc(a), a); }

// ---- remainders
/// Exact fmod where the quotient fits the mantissa; sets `flag` elsewhere. The rounded quotient is right or one too large.
template <class T>
BC_INLINE T native_fmod_fast(T a, T b, u32& flag) {
  T x = fabs(a), y = fabs(b);
  T q = trunc(x / y);
  T r = fma(-q, y, x);
  r = r < T(0) ? r + y : r;
  bool far = q >= pow2<T>(float_layout<T>::kMantissa);
  flag |= static_cast<u32>(far && y > T(0) && x < limits<T>::inf());
  r = y == limits<T>::inf() && x < limits<T>::inf() ? x : r;
  return copysign(r, a);
}
BC_FN float fmod_fast(float a, float b, u32& flag) { return native_fmod_fast(a, b, flag); }
BC_FN double fmod_fast(double a, double b, u32& flag) { return native_fmod_fast(a, b, flag); }
#if BC_CUDA
BC_NATIVE2(fmod, fmodf, fmod)
#else
/// Subtracts multiples y * 2^k, largest first; each step is exact.
template <class T>
static BC_NOINLINE T fmod_far(T a, T b) {
  T x = fabs(a), y = fabs(b);
  i32 low;
  native_frexp(y, low);
  while (x >= y) {
    i32 high;
    native_frexp(x, high);
    i32 k = high - low - (float_layout<T>::kMantissa - 3);
    u32 flag = 0;
    x = native_fmod_fast(x, k > 0 ? ldexp(y, k) : y, flag);
  }
  return copysign(x, a);
}
BC_FN float fmod(float a, float b) {
  u32 flag = 0;
  float r = fmod_fast(a, b, flag);
  return flag ? fmod_far(a, b) : r;
}
BC_FN double fmod(double a, double b) {
  u32 flag = 0;
  double r = fmod_fast(a, b, flag);
  return flag ? fmod_far(a, b) : r;
}
#endif

/// Python's remainder (sign of the divisor) from C's.
template <class T>
BC_INLINE T remainder_from(T mod, T b) {
  T fixed = mod == T(0) ? copysign(T(0), b) : ((b < T(0)) != (mod < T(0)) ? mod + b : mod);
  return b == T(0) ? mod : fixed;
}
/// Python's floor division from C's remainder; rounds the quotient to the nearest integer as CPython and NumPy do.
template <class T>
BC_INLINE T floor_divide_from(T mod, T a, T b) {
  T div = (a - mod) / b;
  div = mod != T(0) && (b < T(0)) != (mod < T(0)) ? div - T(1) : div;
  T whole = floor(div);
  whole = div - whole > T(0.5) ? whole + T(1) : whole;
  T r = div == T(0) ? copysign(T(0), a / b) : whole;
  return b == T(0) ? a / b : r;
}
#define BC_REMAINDERS(T)                                                                           \
  BC_FN T remainder(T a, T b) { return remainder_from(fmod(a, b), b); }                            \
  BC_FN T floor_divide(T a, T b) { return floor_divide_from(fmod(a, b), a, b); }                   \
  BC_FN T remainder_fast(T a, T b, u32& flag) { return remainder_from(fmod_fast(a, b, flag), b); } \
  BC_FN T floor_divide_fast(T a, T b, u32& flag) { return floor_divide_from(fmod_fast(a, b, flag), a, b); }
BC_REMAINDERS(float)
BC_REMAINDERS(double)
#undef BC_REMAINDERS

/// Integer division by floating-point arithmetic, which vectorizes: the product with the reciprocal is off by at most one while both
/// numbers are below 2^51 (the flag is set where they are not), and the exact remainder corrects it.
template <class T>
struct Quotient {
  using F = conditional<sizeof(T) <= 2, float, double>;
  F floored, remainder;  ///< the remainder has the sign of the divisor
};
// Integers below 2^51 in size as doubles and back. Added to 1.5 * 2^52 they are the low bits of a double, so that both ways are an addition
// and a subtraction, which processors without vectors of 64-bit conversions do many at a time.
#if BC_CUDA
BC_INLINE double double_of_small(i64 a) { return static_cast<double>(a); }
BC_INLINE i64 small_of_double(double a) { return static_cast<i64>(a); }
#else
constexpr double kSmallIntegers = 6755399441055744.0;
BC_INLINE double double_of_small(i64 a) { return bits_as<double>(static_cast<u64>(a) + bits_as<u64>(kSmallIntegers)) - kSmallIntegers; }
BC_INLINE i64 small_of_double(double a) { return static_cast<i64>(bits_as<u64>(a + kSmallIntegers) - bits_as<u64>(kSmallIntegers)); }
#endif
template <class F, class T>
BC_INLINE F small_integer_as(T a) {
  if constexpr (sizeof(T) == 8)
    return static_cast<F>(double_of_small(static_cast<i64>(a)));
  else
    return static_cast<F>(a);
}
template <class T, class F>
BC_INLINE T small_integer_of(F a) {
  if constexpr (sizeof(T) <= 2)
    return static_cast<T>(static_cast<i32>(a));
  else
    return static_cast<T>(small_of_double(a));
}

template <class T>
BC_INLINE Quotient<T> divide_fast_integers(T a, T b, u32& flag) {
  using F = typename Quotient<T>::F;
  constexpr i64 kMost = i64(1) << 51;
  flag |= static_cast<u32>(b == 0);
  if constexpr (sizeof(T) == 8) {
    if constexpr (is_signed_int<T>)
      flag |= static_cast<u32>((a > kMost) | (a < -kMost) | (b > kMost) | (b < -kMost));
    else
      flag |= static_cast<u32>((a > static_cast<T>(kMost)) | (b > static_cast<T>(kMost)));
  }
  const F x = small_integer_as<F>(a), y = choose(b == 0, F(1), small_integer_as<F>(b));
  const F whole = floor(x * (F(1) / y)), rest = x - whole * y, size = fabs(y);
  const bool negative = y < F(0);
  const F left = choose(negative, -rest, rest);
  const F off = choose(left >= size, F(1), F(0)) - choose(left < F(0), F(1), F(0));
  const F fixed = left - off * size;
  return {whole + off, choose(negative, -fixed, fixed)};
}
template <class T, enable_if<is_int<T>> = 0>
BC_INLINE T floor_divide_fast(T a, T b, u32& flag) {
  return small_integer_of<T>(divide_fast_integers(a, b, flag).floored);
}
template <class T, enable_if<is_int<T>> = 0>
BC_INLINE T remainder_fast(T a, T b, u32& flag) {
  return small_integer_of<T>(divide_fast_integers(a, b, flag).remainder);
}

BC_LIFT2(fmod)
BC_LIFT2(remainder)
BC_LIFT2(floor_divide)
BC_LIFT2_FAST(fmod_fast)
BC_LIFT2_FAST(remainder_fast)
BC_LIFT2_FAST(floor_divide_fast)

}  // namespace bc
