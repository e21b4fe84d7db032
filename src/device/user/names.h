// The functions that users' C++ can call, put before it after the device library. Those of C and CUDA are implemented by the device
// library, so that a user's kernel gives the same bits as array expressions; a function that the library lacks is CUDA's on a GPU and the C
// library's on the CPU.
#pragma once
#if !BC_CUDA
#ifndef __device__
#define __device__ __attribute__((unused))
#endif
#ifndef __host__
#define __host__
#endif
#ifndef __forceinline__
#define __forceinline__ inline __attribute__((always_inline))
#endif
#ifndef __noinline__
#define __noinline__ __attribute__((noinline))
#endif
#ifndef __constant__
#define __constant__ static
#endif
#ifndef __BROADCLOTH_CPU__
#define BC_USER_BESSEL(name)       \
  extern "C" float name##f(float); \
  extern "C" double name(double);
BC_USER_BESSEL(j0)
BC_USER_BESSEL(j1)
BC_USER_BESSEL(y0)
BC_USER_BESSEL(y1)
#undef BC_USER_BESSEL
#define BC_USER_VECTORS(name, of, two, four)                               \
  struct alignas(two) name##2 { of x, y; };                                \
  struct name##3 { of x, y, z; };                                          \
  struct alignas(four) name##4 { of x, y, z, w; };                         \
  BC_INLINE name##2 make_##name##2(of x, of y) { return {x, y}; }          \
  BC_INLINE name##3 make_##name##3(of x, of y, of z) { return {x, y, z}; } \
  BC_INLINE name##4 make_##name##4(of x, of y, of z, of w) { return {x, y, z, w}; }
BC_USER_VECTORS(int, int, 8, 16)
BC_USER_VECTORS(float, float, 8, 16)
BC_USER_VECTORS(double, double, 16, 16)
#undef BC_USER_VECTORS
#endif
#endif

#ifndef INFINITY
#define INFINITY bc::limits<float>::inf()
#endif
#ifndef NAN
#define NAN bc::limits<float>::nan()
#endif
#ifndef FLT_MAX
#define FLT_MAX 0x1.fffffep127f
#define FLT_MIN 0x1p-126f
#define FLT_EPSILON 0x1p-23f
#endif
#ifndef DBL_MAX
#define DBL_MAX 0x1.fffffffffffffp1023
#define DBL_MIN 0x1p-1022
#define DBL_EPSILON 0x1p-52
#endif
#ifndef INT_MAX
#define INT_MAX 2147483647
#define INT_MIN (-2147483647 - 1)
#endif
#ifndef M_PI
#define M_PI 3.141592653589793
#define M_E 2.718281828459045
#endif

namespace bc {
namespace user {

using size_t = decltype(sizeof(0));
using ptrdiff_t = decltype((char*)0 - (char*)0);
using int8_t = i8;
using int16_t = i16;
using int32_t = i32;
using int64_t = i64;
using uint8_t = u8;
using uint16_t = u16;
using uint32_t = u32;
using uint64_t = u64;
using bc::complex;
using bc::i64;

/// The 16-bit floats as C++ knows numbers: they become float where they are used, and float becomes them where it is stored.
template <bool Brain>
struct Small {
  using H = conditional<Brain, bc::bfloat16, bc::half>;
  H held;
  Small() = default;
  BC_INLINE Small(H h) : held(h) {}
  BC_INLINE Small(float f) : held(f) {}
  BC_INLINE Small(double d) : held(cast<H>(d)) {}
  BC_INLINE Small(int i) : held(cast<H>(static_cast<i64>(i))) {}
  BC_INLINE Small(unsigned i) : held(cast<H>(static_cast<i64>(i))) {}
  BC_INLINE Small(long i) : held(cast<H>(static_cast<i64>(i))) {}
  BC_INLINE Small(long long i) : held(cast<H>(static_cast<i64>(i))) {}
  BC_INLINE Small(bool b) : held(b ? 1.0f : 0.0f) {}
  BC_INLINE operator float() const { return static_cast<float>(held); }
  BC_INLINE Small& operator+=(float f) { return *this = static_cast<float>(*this) + f; }
  BC_INLINE Small& operator-=(float f) { return *this = static_cast<float>(*this) - f; }
  BC_INLINE Small& operator*=(float f) { return *this = static_cast<float>(*this) * f; }
  BC_INLINE Small& operator/=(float f) { return *this = static_cast<float>(*this) / f; }
};
using float16 = Small<false>;
using bfloat16 = Small<true>;

template <class T>
constexpr bool is_small = false;
template <bool Brain>
constexpr bool is_small<Small<Brain>> = true;
template <class T>
constexpr bool is_whole = is_int<T> || is_bool<T> || is_same<T, char>;
template <class T>
constexpr bool is_real_number = is_whole<T> || is_native_float<T> || is_small<T>;

/// A 16-bit float as float, any other number as it is.
template <class T>
BC_INLINE T plain(T a) {
  return a;
}
template <bool Brain>
BC_INLINE float plain(Small<Brain> a) {
  return a;
}
/// What C's mathematics takes: whole numbers as double.
template <class T>
BC_INLINE auto number(T a) {
  if constexpr (is_whole<T>)
    return static_cast<double>(a);
  else
    return plain(a);
}

template <class A, class B>
using real_meet = conditional<is_same<real_of<A>, double> || is_same<real_of<B>, double>, double,
                              conditional<is_same<real_of<A>, float> || is_same<real_of<B>, float>, float, double>>;
/// The type in which C's mathematics of two numbers runs; a whole number follows the other one.
template <class A, class B>
using meet = conditional<is_complex<A> || is_complex<B>, complex<real_meet<A, B>>, real_meet<A, B>>;
template <class C, class T>
BC_INLINE C as(T a) {
  if constexpr (is_same<C, T>)
    return a;
  else if constexpr (is_complex<C> && is_complex<T>)
    return C(static_cast<decltype(C::re)>(a.re), static_cast<decltype(C::re)>(a.im));
  else if constexpr (is_complex<C>)
    return C(static_cast<decltype(C::re)>(a));
  else
    return static_cast<C>(a);
}

#define BC_USER_UNARY(name, with) \
  template <class T>              \
  BC_INLINE auto name(T a) {      \
    return bc::with(number(a));   \
  }                               \
  BC_INLINE float name##f(float a) { return bc::with(a); }
BC_USER_UNARY(sin, sin)
BC_USER_UNARY(cos, cos)
BC_USER_UNARY(tan, tan)
BC_USER_UNARY(asin, arcsin)
BC_USER_UNARY(acos, arccos)
BC_USER_UNARY(atan, arctan)
BC_USER_UNARY(sinh, sinh)
BC_USER_UNARY(cosh, cosh)
BC_USER_UNARY(tanh, tanh)
BC_USER_UNARY(asinh, arcsinh)
BC_USER_UNARY(acosh, arccosh)
BC_USER_UNARY(atanh, arctanh)
BC_USER_UNARY(exp, exp)
BC_USER_UNARY(exp2, exp2)
BC_USER_UNARY(expm1, expm1)
BC_USER_UNARY(log, log)
BC_USER_UNARY(log2, log2)
BC_USER_UNARY(log10, log10)
BC_USER_UNARY(log1p, log1p)
BC_USER_UNARY(sqrt, sqrt)
BC_USER_UNARY(cbrt, cbrt)
BC_USER_UNARY(floor, floor)
BC_USER_UNARY(ceil, ceil)
BC_USER_UNARY(trunc, trunc)
BC_USER_UNARY(rint, rint)
BC_USER_UNARY(nearbyint, rint)
BC_USER_UNARY(fabs, fabs)
#undef BC_USER_UNARY

#if BC_CUDA
#define BC_USER_NATIVE(f) ::f
#else
#define BC_USER_NATIVE(f) __builtin_##f
#endif
#define BC_USER_LIBM1(name)                                               \
  BC_INLINE float name##f(float a) { return BC_USER_NATIVE(name##f)(a); } \
  BC_INLINE float name(float a) { return BC_USER_NATIVE(name##f)(a); }    \
  BC_INLINE double name(double a) { return BC_USER_NATIVE(name)(a); }     \
  template <class T>                                                      \
  BC_INLINE auto name(T a) {                                              \
    return name(number(a));                                               \
  }
#define BC_USER_LIBM2(name)                                                           \
  BC_INLINE float name##f(float a, float b) { return BC_USER_NATIVE(name##f)(a, b); } \
  template <class A, class B>                                                         \
  BC_INLINE auto name(A a, B b) {                                                     \
    using C = meet<decltype(plain(a)), decltype(plain(b))>;                           \
    if constexpr (is_same<C, float>)                                                  \
      return BC_USER_NATIVE(name##f)(C(a), C(b));                                     \
    else                                                                              \
      return BC_USER_NATIVE(name)(C(a), C(b));                                        \
  }
BC_USER_LIBM1(erf)
BC_USER_LIBM1(erfc)
BC_USER_LIBM1(tgamma)
BC_USER_LIBM1(lgamma)
BC_USER_LIBM1(exp10)
BC_USER_LIBM1(logb)
BC_USER_LIBM1(round)
BC_USER_LIBM2(fdim)
BC_USER_LIBM2(remainder)
#undef BC_USER_NATIVE
#define BC_USER_NATIVE(f) ::f
BC_USER_LIBM1(j0)
BC_USER_LIBM1(j1)
BC_USER_LIBM1(y0)
BC_USER_LIBM1(y1)
#undef BC_USER_LIBM1
#undef BC_USER_LIBM2
#undef BC_USER_NATIVE

#define BC_USER_BINARY(name, with)                                     \
  BC_INLINE float name##f(float a, float b) { return bc::with(a, b); } \
  template <class A, class B>                                          \
  BC_INLINE auto name(A a, B b) {                                      \
    using C = meet<decltype(plain(a)), decltype(plain(b))>;            \
    return bc::with(as<C>(plain(a)), as<C>(plain(b)));                 \
  }
BC_USER_BINARY(pow, power)
BC_USER_BINARY(atan2, arctan2)
BC_USER_BINARY(fmod, fmod)
BC_USER_BINARY(hypot, hypot)
BC_USER_BINARY(copysign, copysign)
BC_USER_BINARY(fmin, fmin)
BC_USER_BINARY(fmax, fmax)
BC_USER_BINARY(nextafter, nextafter)
#undef BC_USER_BINARY

template <class T>
BC_INLINE auto rsqrt(T a) {
  auto x = number(a);
  return decltype(x)(1) / bc::sqrt(x);
}
BC_INLINE float rsqrtf(float a) { return 1.0f / bc::sqrt(a); }
template <class T>
BC_INLINE auto rcbrt(T a) {
  auto x = number(a);
  return decltype(x)(1) / bc::cbrt(x);
}
template <class T>
BC_INLINE auto sinpi(T a) {
  auto x = number(a);
  using C = decltype(x);
  return bc::sin(C(3.141592653589793) * (x - C(2) * bc::rint(x * C(0.5))));
}
template <class T>
BC_INLINE auto cospi(T a) {
  auto x = number(a);
  using C = decltype(x);
  return bc::cos(C(3.141592653589793) * (x - C(2) * bc::rint(x * C(0.5))));
}
template <class T>
BC_INLINE auto normcdf(T a) {
  auto x = number(a);
  using C = decltype(x);
  return C(0.5) * erfc(x * C(-0.7071067811865476));
}
template <class T, class K>
BC_INLINE auto ldexp(T a, K k) {
  return bc::ldexp(number(a), static_cast<i32>(k));
}
template <class A, class B, class C>
BC_INLINE auto fma(A a, B b, C c) {
  using T = real_meet<meet<decltype(plain(a)), decltype(plain(b))>, decltype(number(c))>;
  return bc::fma(static_cast<T>(a), static_cast<T>(b), static_cast<T>(c));
}
BC_INLINE float fmaf(float a, float b, float c) { return bc::fma(a, b, c); }

template <class T>
BC_INLINE auto abs(T a) {
  return bc::abs(plain(a));
}
BC_INLINE i64 llabs(i64 a) { return a < 0 ? -a : a; }
template <class T, enable_if<!is_complex<T>> = 0>
BC_INLINE bool isnan(T a) {
  return bc::isnan(plain(a));
}
template <class T, enable_if<!is_complex<T>> = 0>
BC_INLINE bool isinf(T a) {
  return bc::isinf(plain(a));
}
template <class T, enable_if<!is_complex<T>> = 0>
BC_INLINE bool isfinite(T a) {
  return bc::isfinite(plain(a));
}
template <class T>
BC_INLINE bool signbit(T a) {
  return bc::signbit(number(a));
}
template <class A, class B>
BC_INLINE auto min(A first, B second) {
  auto a = plain(first);
  auto b = plain(second);
  using C = decltype(true ? a : b);
  if constexpr (is_native_float<C>)
    return bc::fmin(static_cast<C>(a), static_cast<C>(b));
  else
    return static_cast<C>(b) < static_cast<C>(a) ? static_cast<C>(b) : static_cast<C>(a);
}
template <class A, class B>
BC_INLINE auto max(A first, B second) {
  auto a = plain(first);
  auto b = plain(second);
  using C = decltype(true ? a : b);
  if constexpr (is_native_float<C>)
    return bc::fmax(static_cast<C>(a), static_cast<C>(b));
  else
    return static_cast<C>(a) < static_cast<C>(b) ? static_cast<C>(b) : static_cast<C>(a);
}

// ---- complex numbers, with the names of thrust
template <class R>
BC_INLINE R norm(complex<R> z) {
  return z.re * z.re + z.im * z.im;
}
template <class R>
BC_INLINE R arg(complex<R> z) {
  return bc::angle(z);
}
template <class R>
BC_INLINE complex<R> polar(R size, R angle) {
  return complex<R>(size * bc::cos(angle), size * bc::sin(angle));
}

#define BC_USER_MIXED(op)                                       \
  template <class R, class S, enable_if<is_real_number<S>> = 0> \
  BC_INLINE complex<R> operator op(complex<R> a, S b) {         \
    return a op complex<R>(static_cast<R>(b));                  \
  }                                                             \
  template <class R, class S, enable_if<is_real_number<S>> = 0> \
  BC_INLINE complex<R> operator op(S a, complex<R> b) {         \
    return complex<R>(static_cast<R>(a)) op b;                  \
  }                                                             \
  template <class R, class S>                                   \
  BC_INLINE complex<R>& operator op##=(complex<R>& a, S b) {    \
    return a = a op b;                                          \
  }
BC_USER_MIXED(+)
BC_USER_MIXED(-)
BC_USER_MIXED(/)
#undef BC_USER_MIXED
template <class R, class S, enable_if<is_real_number<S>> = 0>
BC_INLINE complex<R> operator*(complex<R> a, S b) {
  return complex<R>(a.re * static_cast<R>(b), a.im * static_cast<R>(b));
}
template <class R, class S, enable_if<is_real_number<S>> = 0>
BC_INLINE complex<R> operator*(S a, complex<R> b) {
  return complex<R>(static_cast<R>(a) * b.re, static_cast<R>(a) * b.im);
}
template <class R, class S>
BC_INLINE complex<R>& operator*=(complex<R>& a, S b) {
  return a = a * b;
}

#if !BC_CUDA
// ---- CUDA's intrinsics, as exact as the functions they stand for
BC_INLINE float __expf(float a) { return bc::exp(a); }
BC_INLINE float __exp10f(float a) { return exp10f(a); }
BC_INLINE float __logf(float a) { return bc::log(a); }
BC_INLINE float __log2f(float a) { return bc::log2(a); }
BC_INLINE float __log10f(float a) { return bc::log10(a); }
BC_INLINE float __sinf(float a) { return bc::sin(a); }
BC_INLINE float __cosf(float a) { return bc::cos(a); }
BC_INLINE float __tanf(float a) { return bc::tan(a); }
BC_INLINE float __powf(float a, float b) { return bc::power(a, b); }
BC_INLINE float __fdividef(float a, float b) { return a / b; }
BC_INLINE float __fsqrt_rn(float a) { return bc::sqrt(a); }
BC_INLINE float __frcp_rn(float a) { return 1.0f / a; }
BC_INLINE float __fmaf_rn(float a, float b, float c) { return bc::fma(a, b, c); }
BC_INLINE double __fma_rn(double a, double b, double c) { return bc::fma(a, b, c); }
BC_INLINE float __saturatef(float a) { return a > 0.0f ? (a < 1.0f ? a : 1.0f) : 0.0f; }
BC_INLINE int __popc(unsigned a) { return __builtin_popcount(a); }
BC_INLINE int __popcll(u64 a) { return __builtin_popcountll(a); }
BC_INLINE int __clz(int a) { return a == 0 ? 32 : __builtin_clz(static_cast<unsigned>(a)); }
BC_INLINE int __clzll(i64 a) { return a == 0 ? 64 : __builtin_clzll(static_cast<u64>(a)); }
BC_INLINE int __ffs(int a) { return __builtin_ffs(a); }
BC_INLINE int __ffsll(i64 a) { return __builtin_ffsll(a); }
#endif

}  // namespace user
}  // namespace bc

namespace thrust {
using namespace bc::user;
using bc::complex;
}  // namespace thrust
