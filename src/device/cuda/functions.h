// C's and CUDA's mathematics, for float and double; names of fast approximations are the accurate functions.
#pragma once

#define __BC_F1(name, fn)                              \
  BC_FN double name(double x) { return fn(x); }        \
  BC_FN float name(float x) { return fn(x); }          \
  BC_FN float name##f(float x) { return fn(x); }       \
  template <class T, bc::enable_if<bc::is_int<T>> = 0> \
  BC_INLINE double name(T x) {                         \
    return fn(static_cast<double>(x));                 \
  }
#define __BC_F2(name, fn)                                                                                \
  BC_FN double name(double x, double y) { return fn(x, y); }                                             \
  BC_FN float name(float x, float y) { return fn(x, y); }                                                \
  BC_FN float name##f(float x, float y) { return fn(x, y); }                                             \
  template <class A, class B, bc::enable_if<!bc::is_same<A, B> && __bc_number<A> && __bc_number<B>> = 0> \
  BC_INLINE double name(A x, B y) {                                                                      \
    return fn(static_cast<double>(x), static_cast<double>(y));                                           \
  }                                                                                                      \
  template <class T, bc::enable_if<bc::is_int<T>> = 0>                                                   \
  BC_INLINE double name(T x, T y) {                                                                      \
    return fn(static_cast<double>(x), static_cast<double>(y));                                           \
  }
template <class T>
constexpr bool __bc_number = bc::is_int<T> || bc::is_native_float<T>;

// ---- rounding, signs, parts
BC_FN float __bc_fabs(float x) { return __builtin_fabsf(x); }
BC_FN double __bc_fabs(double x) { return __builtin_fabs(x); }
BC_FN float __bc_round(float x) { return __builtin_roundf(x); }
BC_FN double __bc_round(double x) { return __builtin_round(x); }
BC_FN float __bc_copysign(float x, float y) { return __builtin_copysignf(x, y); }
BC_FN double __bc_copysign(double x, double y) { return __builtin_copysign(x, y); }
__BC_F1(fabs, __bc_fabs)
__BC_F1(floor, bc::floor)
__BC_F1(ceil, bc::ceil)
__BC_F1(trunc, bc::trunc)
__BC_F1(rint, bc::rint)
__BC_F1(nearbyint, bc::rint)
__BC_F1(round, __bc_round)
__BC_F1(sqrt, bc::sqrt)
__BC_F2(copysign, __bc_copysign)
// If one operand is NaN, the result is the other one.
BC_FN float __bc_fmin(float x, float y) { return x < y || y != y ? x : y; }
BC_FN double __bc_fmin(double x, double y) { return x < y || y != y ? x : y; }
BC_FN float __bc_fmax(float x, float y) { return x > y || y != y ? x : y; }
BC_FN double __bc_fmax(double x, double y) { return x > y || y != y ? x : y; }
__BC_F2(fmin, __bc_fmin)
__BC_F2(fmax, __bc_fmax)
BC_FN float __bc_fdim(float x, float y) { return x <= y ? 0.0f : x - y; }
BC_FN double __bc_fdim(double x, double y) { return x <= y ? 0.0 : x - y; }
__BC_F2(fdim, __bc_fdim)
__BC_F2(fmod, bc::loop_fmod)
BC_FN float __bc_nextafter(float x, float y) { return bc::nextafter(x, y); }
BC_FN double __bc_nextafter(double x, double y) { return bc::nextafter(x, y); }
__BC_F2(nextafter, __bc_nextafter)
BC_FN float __bc_remainder(float x, float y) { return static_cast<float>(__builtin_remainder(x, y)); }
BC_FN double __bc_remainder(double x, double y) { return __builtin_remainder(x, y); }
__BC_F2(remainder, __bc_remainder)
BC_FN double fma(double a, double b, double c) { return __builtin_fma(a, b, c); }
BC_FN float fma(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
BC_FN float fmaf(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
BC_FN float ldexpf(float x, int n) { return bc::ldexp(x, n); }
BC_FN float ldexp(float x, int n) { return bc::ldexp(x, n); }
BC_FN double ldexp(double x, int n) { return bc::ldexp(x, n); }
BC_FN float scalbnf(float x, int n) { return bc::ldexp(x, n); }
BC_FN float scalbn(float x, int n) { return bc::ldexp(x, n); }
BC_FN double scalbn(double x, int n) { return bc::ldexp(x, n); }
BC_FN float scalblnf(float x, long n) { return bc::ldexp(x, static_cast<long long>(n)); }
BC_FN double scalbln(double x, long n) { return bc::ldexp(x, static_cast<long long>(n)); }
BC_FN float frexpf(float x, int* e) {
  *e = bc::frexp_exponent(x);
  return bc::frexp_mantissa(x);
}
BC_FN float frexp(float x, int* e) { return frexpf(x, e); }
BC_FN double frexp(double x, int* e) {
  *e = bc::frexp_exponent(x);
  return bc::frexp_mantissa(x);
}
BC_FN float modff(float x, float* whole) {
  *whole = bc::trunc(x);
  return bc::modf_fraction(x);
}
BC_FN float modf(float x, float* whole) { return modff(x, whole); }
BC_FN double modf(double x, double* whole) {
  *whole = bc::trunc(x);
  return bc::modf_fraction(x);
}
BC_FN int ilogbf(float x) { return __builtin_ilogbf(x); }
BC_FN int ilogb(float x) { return __builtin_ilogbf(x); }
BC_FN int ilogb(double x) { return __builtin_ilogb(x); }
BC_FN float logbf(float x) { return __builtin_logbf(x); }
BC_FN float logb(float x) { return __builtin_logbf(x); }
BC_FN double logb(double x) { return __builtin_logb(x); }
BC_FN long lrintf(float x) { return static_cast<long>(bc::rint(x)); }
BC_FN long lrint(double x) { return static_cast<long>(bc::rint(x)); }
BC_FN long long llrintf(float x) { return static_cast<long long>(bc::rint(x)); }
BC_FN long long llrint(double x) { return static_cast<long long>(bc::rint(x)); }
BC_FN long lroundf(float x) { return static_cast<long>(__builtin_roundf(x)); }
BC_FN long lround(double x) { return static_cast<long>(__builtin_round(x)); }
BC_FN long long llroundf(float x) { return static_cast<long long>(__builtin_roundf(x)); }
BC_FN long long llround(double x) { return static_cast<long long>(__builtin_round(x)); }

// ---- powers, exponentials, logarithms
BC_FN float __bc_rsqrt(float x) { return 1.0f / __builtin_sqrtf(x); }
BC_FN double __bc_rsqrt(double x) { return 1.0 / __builtin_sqrt(x); }
BC_FN float __bc_rcbrt(float x) { return 1.0f / bc::cbrt(x); }
BC_FN double __bc_rcbrt(double x) { return 1.0 / bc::cbrt(x); }
BC_FN float __bc_exp10(float x) { return static_cast<float>(bc::exp(static_cast<double>(x) * 2.302585092994045684)); }
BC_FN double __bc_exp10(double x) { return bc::power(10.0, x); }
__BC_F1(rsqrt, __bc_rsqrt)
__BC_F1(cbrt, bc::cbrt)
__BC_F1(rcbrt, __bc_rcbrt)
__BC_F1(exp, bc::exp)
__BC_F1(exp2, bc::exp2)
__BC_F1(exp10, __bc_exp10)
__BC_F1(expm1, bc::expm1)
__BC_F1(log, bc::log)
__BC_F1(log2, bc::log2)
__BC_F1(log10, bc::log10)
__BC_F1(log1p, bc::log1p)
__BC_F2(hypot, bc::hypot)
BC_FN float __bc_rhypot(float x, float y) { return 1.0f / bc::hypot(x, y); }
BC_FN double __bc_rhypot(double x, double y) { return 1.0 / bc::hypot(x, y); }
__BC_F2(rhypot, __bc_rhypot)
BC_FN float norm3df(float a, float b, float c) { return bc::hypot(bc::hypot(a, b), c); }
BC_FN double norm3d(double a, double b, double c) { return bc::hypot(bc::hypot(a, b), c); }
BC_FN float rnorm3df(float a, float b, float c) { return 1.0f / norm3df(a, b, c); }
BC_FN double rnorm3d(double a, double b, double c) { return 1.0 / norm3d(a, b, c); }
BC_FN float norm4df(float a, float b, float c, float d) { return bc::hypot(bc::hypot(a, b), bc::hypot(c, d)); }
BC_FN double norm4d(double a, double b, double c, double d) { return bc::hypot(bc::hypot(a, b), bc::hypot(c, d)); }
BC_FN float powf(float x, float y) { return bc::power(x, y); }
BC_FN float pow(float x, float y) { return bc::power(x, y); }
BC_FN double pow(double x, double y) { return bc::power(x, y); }
BC_FN double __bc_powi(double x, int n) {
  unsigned k = n < 0 ? 0u - static_cast<unsigned>(n) : static_cast<unsigned>(n);
  double r = 1.0;
  for (double p = x; k != 0; k >>= 1, p *= p) r = (k & 1u) != 0 ? r * p : r;
  return n < 0 ? 1.0 / r : r;
}
BC_FN float pow(float x, int n) { return static_cast<float>(__bc_powi(x, n)); }
BC_FN double pow(double x, int n) { return __bc_powi(x, n); }
template <class A, class B, bc::enable_if<!bc::is_same<A, B> && __bc_number<A> && __bc_number<B>> = 0>
BC_INLINE double pow(A x, B y) {
  return bc::power(static_cast<double>(x), static_cast<double>(y));
}
template <class T, bc::enable_if<bc::is_int<T>> = 0>
BC_INLINE double pow(T x, T y) {
  return bc::power(static_cast<double>(x), static_cast<double>(y));
}

// ---- circular and hyperbolic functions
__BC_F1(sin, bc::loop_sin)
__BC_F1(cos, bc::loop_cos)
__BC_F1(tan, bc::loop_tan)
__BC_F1(asin, bc::arcsin)
__BC_F1(acos, bc::arccos)
__BC_F1(atan, bc::arctan)
__BC_F2(atan2, bc::arctan2)
__BC_F1(sinh, bc::sinh)
__BC_F1(cosh, bc::cosh)
__BC_F1(tanh, bc::tanh)
__BC_F1(asinh, bc::arcsinh)
__BC_F1(acosh, bc::arccosh)
__BC_F1(atanh, bc::arctanh)
BC_FN void sincosf(float x, float* s, float* c) {
  *s = bc::loop_sin(x);
  *c = bc::loop_cos(x);
}
BC_FN void sincos(float x, float* s, float* c) { sincosf(x, s, c); }
BC_FN void sincos(double x, double* s, double* c) {
  *s = bc::loop_sin(x);
  *c = bc::loop_cos(x);
}
// Functions of pi * x: x is reduced before the multiplication, so that multiples of 1/2 are exact.
template <class T>
BC_INLINE T __bc_sinpi(T x) {
  T r = x - T(2) * bc::rint(x * T(0.5));
  T a = r > T(0.5) ? T(1) - r : (r < T(-0.5) ? T(-1) - r : r);
  return bc::loop_sin(a * T(3.14159265358979323846));
}
template <class T>
BC_INLINE T __bc_cospi(T x) {
  T a = __builtin_elementwise_abs(x - T(2) * bc::rint(x * T(0.5)));
  return a == T(0.5) ? T(0) : bc::loop_cos(a * T(3.14159265358979323846));
}
__BC_F1(sinpi, __bc_sinpi)
__BC_F1(cospi, __bc_cospi)
BC_FN void sincospif(float x, float* s, float* c) {
  *s = __bc_sinpi(x);
  *c = __bc_cospi(x);
}
BC_FN void sincospi(double x, double* s, double* c) {
  *s = __bc_sinpi(x);
  *c = __bc_cospi(x);
}

// ---- special functions: the C library's, which is in the process
extern "C" {
double __bc_libm_erf(double) __asm__("erf") __attribute__((const, nothrow));
double __bc_libm_erfc(double) __asm__("erfc") __attribute__((const, nothrow));
double __bc_libm_tgamma(double) __asm__("tgamma") __attribute__((const, nothrow));
double __bc_libm_lgamma(double) __asm__("lgamma") __attribute__((nothrow));
double __bc_libm_j0(double) __asm__("j0") __attribute__((const, nothrow));
double __bc_libm_j1(double) __asm__("j1") __attribute__((const, nothrow));
double __bc_libm_jn(int, double) __asm__("jn") __attribute__((const, nothrow));
double __bc_libm_y0(double) __asm__("y0") __attribute__((const, nothrow));
double __bc_libm_y1(double) __asm__("y1") __attribute__((const, nothrow));
double __bc_libm_yn(int, double) __asm__("yn") __attribute__((const, nothrow));
}
#define __BC_LIBM(name)                                                                                     \
  BC_FN float __bc_##name(float x) { return static_cast<float>(__bc_libm_##name(static_cast<double>(x))); } \
  BC_FN double __bc_##name(double x) { return __bc_libm_##name(x); }                                        \
  __BC_F1(name, __bc_##name)
__BC_LIBM(erf)
__BC_LIBM(erfc)
__BC_LIBM(tgamma)
__BC_LIBM(lgamma)
__BC_LIBM(j0)
__BC_LIBM(j1)
__BC_LIBM(y0)
__BC_LIBM(y1)
#undef __BC_LIBM
BC_FN float jnf(int n, float x) { return static_cast<float>(__bc_libm_jn(n, x)); }
BC_FN double jn(int n, double x) { return __bc_libm_jn(n, x); }
BC_FN float ynf(int n, float x) { return static_cast<float>(__bc_libm_yn(n, x)); }
BC_FN double yn(int n, double x) { return __bc_libm_yn(n, x); }
template <class T>
BC_INLINE T __bc_erfcx(T x) {
  double a = static_cast<double>(x);
  if (a < 25.0) return static_cast<T>(bc::exp(a * a) * __bc_libm_erfc(a));
  double t = 1.0 / (a * a);
  return static_cast<T>(0.56418958354775628695 / a * (1.0 - t * (0.5 - t * (0.75 - t * 1.875))));
}
__BC_F1(erfcx, __bc_erfcx)
/// Quantile of the standard normal: Acklam's rational approximation and one step of Halley's method.
BC_FN double __bc_normcdfinv(double p) {
  const double a[] = {-3.969683028665376e+01, 2.209460984245205e+02,  -2.759285104469687e+02,
                      1.383577518672690e+02,  -3.066479806614716e+01, 2.506628277459239e+00};
  const double b[] = {-5.447609879822406e+01, 1.615858368580409e+02, -1.556989798598866e+02, 6.680131188771972e+01, -1.328068155288572e+01};
  const double c[] = {-7.784894002430293e-03, -3.223964580411365e-01, -2.400758277161838e+00,
                      -2.549732539343734e+00, 4.374664141464968e+00,  2.938163982698783e+00};
  const double d[] = {7.784695709041462e-03, 3.224671290700398e-01, 2.445134137142996e+00, 3.754408661907416e+00};
  if (!(p > 0.0 && p < 1.0)) return p == 0.0 ? -__builtin_inf() : (p == 1.0 ? __builtin_inf() : __builtin_nan(""));
  bool tail = p < 0.02425 || p > 1.0 - 0.02425;
  double x;
  if (tail) {
    double q = bc::sqrt(-2.0 * bc::log(p < 0.5 ? p : 1.0 - p));
    x = (((((c[0] * q + c[1]) * q + c[2]) * q + c[3]) * q + c[4]) * q + c[5]) / ((((d[0] * q + d[1]) * q + d[2]) * q + d[3]) * q + 1.0);
    x = p < 0.5 ? x : -x;
  } else {
    double q = p - 0.5, r = q * q;
    x = (((((a[0] * r + a[1]) * r + a[2]) * r + a[3]) * r + a[4]) * r + a[5]) * q /
        (((((b[0] * r + b[1]) * r + b[2]) * r + b[3]) * r + b[4]) * r + 1.0);
  }
  for (int step = 0; step < 2; ++step) {
    double e = 0.5 * __bc_libm_erfc(-x * M_SQRT1_2) - p;
    double u = e * 2.5066282746310002 * bc::exp(x * x * 0.5);
    x -= u / (1.0 + x * u * 0.5);
  }
  return x;
}
BC_FN float __bc_normcdfinv(float p) { return static_cast<float>(__bc_normcdfinv(static_cast<double>(p))); }
BC_FN double __bc_normcdf(double x) { return 0.5 * __bc_libm_erfc(-x * M_SQRT1_2); }
BC_FN float __bc_normcdf(float x) { return static_cast<float>(__bc_normcdf(static_cast<double>(x))); }
__BC_F1(normcdf, __bc_normcdf)
__BC_F1(normcdfinv, __bc_normcdfinv)
BC_FN double __bc_erfcinv(double x) { return -M_SQRT1_2 * __bc_normcdfinv(0.5 * x); }
BC_FN float __bc_erfcinv(float x) { return static_cast<float>(__bc_erfcinv(static_cast<double>(x))); }
BC_FN double __bc_erfinv(double x) { return x < 0.0 ? __bc_erfcinv(1.0 + x) * -1.0 : __bc_erfcinv(1.0 - x); }
BC_FN float __bc_erfinv(float x) { return static_cast<float>(__bc_erfinv(static_cast<double>(x))); }
__BC_F1(erfcinv, __bc_erfcinv)
__BC_F1(erfinv, __bc_erfinv)
__BC_F1(cyl_bessel_i0, bc::i0)
__BC_F1(cyl_bessel_i1, bc::bessel_i1)

// ---- classes of numbers
#define __BC_CLASS(name, test)                         \
  BC_FN bool name(float x) { return test(x); }         \
  BC_FN bool name(double x) { return test(x); }        \
  template <class T, bc::enable_if<bc::is_int<T>> = 0> \
  BC_INLINE bool name(T x) {                           \
    return test(static_cast<double>(x));               \
  }
__BC_CLASS(isnan, __builtin_isnan)
__BC_CLASS(isinf, __builtin_isinf)
__BC_CLASS(isfinite, __builtin_isfinite)
__BC_CLASS(signbit, bc::signbit)
__BC_CLASS(isnormal, __builtin_isnormal)
#undef __BC_CLASS
BC_FN int __isnanf(float x) { return __builtin_isnan(x); }
BC_FN int __isinff(float x) { return __builtin_isinf(x); }
BC_FN int __finitef(float x) { return __builtin_isfinite(x); }
BC_FN int __isnan(double x) { return __builtin_isnan(x); }
BC_FN int __isinf(double x) { return __builtin_isinf(x); }
BC_FN int __finite(double x) { return __builtin_isfinite(x); }
BC_FN int finitef(float x) { return __builtin_isfinite(x); }
BC_FN int finite(double x) { return __builtin_isfinite(x); }
BC_FN float nanf(const char*) { return __builtin_nanf(""); }
BC_FN double nan(const char*) { return __builtin_nan(""); }

// ---- smallest, largest, absolute
#define __BC_MINMAX(T)                                      \
  BC_FN constexpr T min(T a, T b) { return b < a ? b : a; } \
  BC_FN constexpr T max(T a, T b) { return a < b ? b : a; }
__BC_MINMAX(int)
__BC_MINMAX(unsigned)
__BC_MINMAX(long)
__BC_MINMAX(unsigned long)
__BC_MINMAX(long long)
__BC_MINMAX(unsigned long long)
#undef __BC_MINMAX
BC_FN unsigned min(int a, unsigned b) { return min(static_cast<unsigned>(a), b); }
BC_FN unsigned min(unsigned a, int b) { return min(a, static_cast<unsigned>(b)); }
BC_FN unsigned max(int a, unsigned b) { return max(static_cast<unsigned>(a), b); }
BC_FN unsigned max(unsigned a, int b) { return max(a, static_cast<unsigned>(b)); }
BC_FN unsigned long min(long a, unsigned long b) { return min(static_cast<unsigned long>(a), b); }
BC_FN unsigned long max(long a, unsigned long b) { return max(static_cast<unsigned long>(a), b); }
BC_FN unsigned long min(unsigned long a, long b) { return min(a, static_cast<unsigned long>(b)); }
BC_FN unsigned long max(unsigned long a, long b) { return max(a, static_cast<unsigned long>(b)); }
BC_FN unsigned long long min(long long a, unsigned long long b) { return min(static_cast<unsigned long long>(a), b); }
BC_FN unsigned long long max(long long a, unsigned long long b) { return max(static_cast<unsigned long long>(a), b); }
BC_FN unsigned long long min(unsigned long long a, long long b) { return min(a, static_cast<unsigned long long>(b)); }
BC_FN unsigned long long max(unsigned long long a, long long b) { return max(a, static_cast<unsigned long long>(b)); }
BC_FN float min(float a, float b) { return __bc_fmin(a, b); }
BC_FN float max(float a, float b) { return __bc_fmax(a, b); }
BC_FN double min(double a, double b) { return __bc_fmin(a, b); }
BC_FN double max(double a, double b) { return __bc_fmax(a, b); }
BC_FN double min(float a, double b) { return __bc_fmin(static_cast<double>(a), b); }
BC_FN double min(double a, float b) { return __bc_fmin(a, static_cast<double>(b)); }
BC_FN double max(float a, double b) { return __bc_fmax(static_cast<double>(a), b); }
BC_FN double max(double a, float b) { return __bc_fmax(a, static_cast<double>(b)); }
BC_FN unsigned umin(unsigned a, unsigned b) { return min(a, b); }
BC_FN unsigned umax(unsigned a, unsigned b) { return max(a, b); }
BC_FN long long llmin(long long a, long long b) { return min(a, b); }
BC_FN long long llmax(long long a, long long b) { return max(a, b); }
BC_FN unsigned long long ullmin(unsigned long long a, unsigned long long b) { return min(a, b); }
BC_FN unsigned long long ullmax(unsigned long long a, unsigned long long b) { return max(a, b); }
BC_FN int abs(int x) { return __builtin_abs(x); }
BC_FN long abs(long x) { return __builtin_labs(x); }
BC_FN long long abs(long long x) { return __builtin_llabs(x); }
BC_FN long labs(long x) { return __builtin_labs(x); }
BC_FN long long llabs(long long x) { return __builtin_llabs(x); }
BC_FN float abs(float x) { return __builtin_fabsf(x); }
BC_FN double abs(double x) { return __builtin_fabs(x); }

// ---- CUDA's intrinsics
BC_FN float __sinf(float x) { return bc::loop_sin(x); }
BC_FN float __cosf(float x) { return bc::loop_cos(x); }
BC_FN float __tanf(float x) { return bc::loop_tan(x); }
BC_FN void __sincosf(float x, float* s, float* c) { sincosf(x, s, c); }
BC_FN float __tanhf(float x) { return bc::tanh(x); }
BC_FN float __expf(float x) { return bc::exp(x); }
BC_FN float __exp10f(float x) { return __bc_exp10(x); }
BC_FN float __logf(float x) { return bc::log(x); }
BC_FN float __log2f(float x) { return bc::log2(x); }
BC_FN float __log10f(float x) { return bc::log10(x); }
BC_FN float __powf(float x, float y) { return bc::power(x, y); }
BC_FN float __fdividef(float x, float y) { return x / y; }
BC_FN double fdivide(double x, double y) { return x / y; }
BC_FN float fdividef(float x, float y) { return x / y; }
BC_FN float __saturatef(float x) { return x > 0.0f ? (x < 1.0f ? x : 1.0f) : 0.0f; }
BC_FN float saturate(float x) { return __saturatef(x); }
BC_FN float __frsqrt_rn(float x) { return static_cast<float>(1.0 / __builtin_sqrt(static_cast<double>(x))); }
// Rounded to nearest, and never contracted.
#define __BC_EXACT_OPS(suffix)                                                                         \
  BC_FN float __fadd_##suffix(float a, float b) { _Pragma("clang fp contract(off)") return a + b; }    \
  BC_FN float __fsub_##suffix(float a, float b) { _Pragma("clang fp contract(off)") return a - b; }    \
  BC_FN float __fmul_##suffix(float a, float b) { _Pragma("clang fp contract(off)") return a * b; }    \
  BC_FN double __dadd_##suffix(double a, double b) { _Pragma("clang fp contract(off)") return a + b; } \
  BC_FN double __dsub_##suffix(double a, double b) { _Pragma("clang fp contract(off)") return a - b; } \
  BC_FN double __dmul_##suffix(double a, double b) { _Pragma("clang fp contract(off)") return a * b; } \
  BC_FN float __fmaf_##suffix(float a, float b, float c) { return __builtin_fmaf(a, b, c); }           \
  BC_FN double __fma_##suffix(double a, double b, double c) { return __builtin_fma(a, b, c); }         \
  BC_FN float __fdiv_##suffix(float a, float b) { return a / b; }                                      \
  BC_FN float __frcp_##suffix(float a) { return 1.0f / a; }                                            \
  BC_FN float __fsqrt_##suffix(float a) { return __builtin_sqrtf(a); }                                 \
  BC_FN double __ddiv_##suffix(double a, double b) { return a / b; }                                   \
  BC_FN double __drcp_##suffix(double a) { return 1.0 / a; }                                           \
  BC_FN double __dsqrt_##suffix(double a) { return __builtin_sqrt(a); }
__BC_EXACT_OPS(rn)
#undef __BC_EXACT_OPS
#undef __BC_F1
#undef __BC_F2
