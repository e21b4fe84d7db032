// Complex functions with the special values of C99 Annex G. complex<float> runs in double and is rounded once.
#pragma once
#include "power.h"

// Templates, so that compilers only skim what a kernel does not use.
#if BC_CUDA
#define BC_COMPLEX128                               \
  template <class R, enable_if<sizeof(R) == 8> = 0> \
  static __device__ complex<R>
#else
#define BC_COMPLEX128                               \
  template <class R, enable_if<sizeof(R) == 8> = 0> \
  static inline complex<R>
#endif
#define BC_COMPLEX64                                \
  template <class R, enable_if<sizeof(R) == 4> = 0> \
  BC_INLINE complex<R>

namespace bc {

BC_FN complex128 widen(complex64 z) { return {static_cast<double>(z.re), static_cast<double>(z.im)}; }
BC_FN complex64 narrow(complex128 z) { return {static_cast<float>(z.re), static_cast<float>(z.im)}; }
BC_FN complex128 times_i(complex128 z) { return {-z.im, z.re}; }
BC_FN complex128 over_i(complex128 z) { return {z.im, -z.re}; }

/// sum of c[i] z^i
template <int N>
BC_INLINE complex128 horner(complex128 z, const double (&c)[N]) {
  complex128 r(c[N - 1], 0.0);
  for (int i = N - 2; i >= 0; i--) r = complex128(fma(r.re, z.re, c[i] - r.im * z.im), fma(r.re, z.im, r.im * z.re));
  return r;
}

template <class R>
BC_INLINE R abs(complex<R> z) {
  return hypot(z.re, z.im);
}
#if !BC_CUDA
/// Without double, which hypot() widens to: a loop that takes pairs of floats apart and widens them is not vectorised. Both parts are
/// scaled by a power of two so that no square overflows or vanishes; the error is below 1 ulp, as one square and the sum's other part are
/// rounded.
BC_INLINE float abs(complex<float> z) {
  float a = fabs(z.re), b = fabs(z.im), big = a < b ? b : a;
  bool large = big > 0x1p62f, tiny = big < 0x1p-50f;
  float scale = large ? 0x1p-100f : (tiny ? 0x1p100f : 1.0f), back = large ? 0x1p100f : (tiny ? 0x1p-100f : 1.0f);
  float x = a * scale, y = b * scale, r = sqrt(fma(x, x, y * y)) * back;
  return a == limits<float>::inf() || b == limits<float>::inf() ? limits<float>::inf() : r;
}
#endif
template <class R>
BC_INLINE complex<R> sign(complex<R> z) {
  R size = hypot(z.re, z.im);
  bool inf_re = isinf(z.re), inf_im = isinf(z.im);
  R re = inf_re ? copysign(R(1), z.re) : (inf_im ? R(0) : z.re / size);
  R im = inf_im ? copysign(R(1), z.im) : (inf_re ? R(0) : z.im / size);
  bool bad = isnan(size) || (inf_re && inf_im);
  R none = bad ? limits<R>::nan() : R(0);
  return bad || size == R(0) ? complex<R>(none, none) : complex<R>(re, im);
}
template <class R>
BC_INLINE complex<R> rint(complex<R> z) {
  return {rint(z.re), rint(z.im)};
}
template <class R>
BC_INLINE R angle(complex<R> z) {
  return arctan2(z.im, z.re);
}
template <class T, enable_if<is_float<T>> = 0>
BC_INLINE T angle(T a) {
  return arctan2(T(0.0f), a);
}

/// e^x (cos y, sin y) scale, in two factors where e^x alone would overflow.
BC_LONG complex128 exp_polar(double x, double y, double scale) {
  bool big = x > 709.0 && x < 1500.0;
  double size = exp(big ? x - 709.0 : x), factor = big ? scale * exp(709.0) : scale;
  return {size * cos(y) * factor, y == 0.0 ? y : size * sin(y) * factor};
}
BC_COMPLEX128 exp(complex<R> z) {
  if (!isfinite(z.im)) {
    if (z.re == -limits<double>::inf()) return {0.0, copysign(0.0, z.im)};
    if (z.re == limits<double>::inf()) return {z.re, limits<double>::nan()};
    return {limits<double>::nan(), limits<double>::nan()};
  }
  return exp_polar(z.re, z.im, 1.0);
}
BC_COMPLEX128 expm1(complex<R> z) {
  // exp(z) - 1 = expm1(x) cos y - 2 sin^2(y/2) + i e^x sin y
  if (z.im == 0.0) return {expm1(z.re), z.im};
  if (!isfinite(z.re) || !isfinite(z.im) || z.re > 700.0) {
    complex128 e = exp(z);
    return {e.re - 1.0, e.im};
  }
  double s = sin(0.5 * z.im), e = expm1(z.re);
  return {fma(e, cos(z.im), -2.0 * s * s), (e + 1.0) * sin(z.im)};
}

/// log|z|: near the unit circle from |z|^2 - 1, computed with its rounding errors.
BC_LONG double log_abs(double x, double y) {
  double a = fabs(x), b = fabs(y);
  double big = a < b ? b : a, small = a < b ? a : b;
  if (big > 0.5 && big < 2.0 && small < 2.0) {
    double p = (big - 1.0) * (big + 1.0), lo = fma(big - 1.0, big + 1.0, -p), q = small * small, q_lo = fma(small, small, -q);
    double sum = p + q, rest = fabs(p) > q ? (p - sum) + q : (q - sum) + p;
    if (sum > -0.5) return 0.5 * log1p(sum + (rest + (lo + q_lo)));
  }
  if (big > 0x1p1000) return log(hypot(a * 0x1p-3, b * 0x1p-3)) + 0x1.0a2b23f3bab73p+1;
  if (big < 0x1p-900 && big > 0) return log(hypot(a * 0x1p200, b * 0x1p200)) - 0x1.1542457337d43p+7;
  return log(hypot(a, b));
}
BC_COMPLEX128 log(complex<R> z) { return {log_abs(z.re, z.im), arctan2(z.im, z.re)}; }
BC_COMPLEX128 log2(complex<R> z) {
  complex128 l = log(z);
  return {l.re * 0x1.71547652b82fep+0, l.im * 0x1.71547652b82fep+0};
}
BC_COMPLEX128 log10(complex<R> z) {
  complex128 l = log(z);
  return {l.re * 0x1.bcb7b1526e50ep-2, l.im * 0x1.bcb7b1526e50ep-2};
}
BC_COMPLEX128 log1p(complex<R> z) {
  // |1 + z|^2 - 1 = 2x + x^2 + y^2 keeps small arguments
  double a = fabs(z.re), b = fabs(z.im), angle = arctan2(z.im, z.re + 1.0);
  if (a < 0.5 && b < 0.5) {
    double p = z.re * (2.0 + z.re), q = z.im * z.im;
    if (z.re < 0 && p + q < -0.25 * fabs(p)) return {0.5 * log1p(p + q), angle};
    double d = 2.0 + z.re, d_lo = (2.0 - d) + z.re, p_lo = fma(z.re, d, -p) + z.re * d_lo, q_lo = fma(z.im, z.im, -q);
    double sum = p + q, rest = fabs(p) > q ? (p - sum) + q : (q - sum) + p;
    return {0.5 * log1p(sum + (rest + (p_lo + q_lo))), angle};
  }
  return {log_abs(z.re + 1.0, z.im), angle};
}

/// Kahan (1987): the root of the half sum, the other part by division.
BC_COMPLEX128 sqrt(complex<R> z) {
  double a = z.re, b = z.im;
  if (isinf(b)) return {limits<double>::inf(), b};
  if (isnan(a)) return {a, b == 0.0 ? a : a + b};
  if (isinf(a)) {
    double other = isnan(b) ? b : 0.0;
    return a > 0 ? complex128(a, isnan(b) ? b : copysign(0.0, b)) : complex128(other, isnan(b) ? a : copysign(limits<double>::inf(), b));
  }
  if (a == 0.0 && b == 0.0) return {0.0, b};
  double size = fabs(a) > fabs(b) ? fabs(a) : fabs(b);
  bool huge = size > 0x1p1000, tiny = size < 0x1p-900;
  double scale = huge ? 0x1p-4 : (tiny ? 0x1p108 : 1.0), back = huge ? 4.0 : (tiny ? 0x1p-54 : 1.0);
  a *= scale;
  b *= scale;
  double t = sqrt(0.5 * (hypot(a, b) + fabs(a)));
  double other = b / (2.0 * t);
  return a >= 0 ? complex128(t * back, other * back) : complex128(fabs(other) * back, copysign(t, b) * back);
}

// ---- trigonometric and hyperbolic
BC_COMPLEX128 cosh(complex<R> z) {
  double x = z.re, y = z.im;
  if (y == 0.0) return {cosh(x), isnan(x) ? y : copysign(0.0, signbit(x) != signbit(y) ? -1.0 : 1.0)};
  if (!isfinite(y)) {
    if (x == 0.0) return {limits<double>::nan(), copysign(0.0, signbit(x) != signbit(y) ? -1.0 : 1.0)};
    return isinf(x) ? complex128(limits<double>::inf(), limits<double>::nan()) : complex128(limits<double>::nan(), limits<double>::nan());
  }
  if (x == 0.0) return {cos(y), copysign(0.0, x) * sin(y)};
  if (fabs(x) > 700.0) {
    complex128 e = exp_polar(fabs(x), y, 0.5);
    return {e.re, signbit(x) ? -e.im : e.im};
  }
  return {cosh(x) * cos(y), sinh(x) * sin(y)};
}
BC_COMPLEX128 sinh(complex<R> z) {
  double x = z.re, y = z.im;
  if (y == 0.0) return {sinh(x), y};
  if (!isfinite(y)) {
    if (x == 0.0) return {x, limits<double>::nan()};
    return isinf(x) ? complex128(x, limits<double>::nan()) : complex128(limits<double>::nan(), limits<double>::nan());
  }
  if (x == 0.0) return {copysign(0.0, x) * cos(y), sin(y)};
  if (fabs(x) > 700.0) {
    complex128 e = exp_polar(fabs(x), y, 0.5);
    return {signbit(x) ? -e.re : e.re, e.im};
  }
  return {sinh(x) * cos(y), cosh(x) * sin(y)};
}
/// Kahan (1987): with t = tan y, b = 1 + t^2, s = sinh x: (b s sqrt(1 + s^2) + i t) / (1 + b s^2).
BC_COMPLEX128 tanh(complex<R> z) {
  double x = z.re, y = z.im;
  if (isinf(x)) return {copysign(1.0, x), isfinite(y) ? copysign(0.0, sin(y) * cos(y)) : copysign(0.0, y)};
  if (!isfinite(y)) return {x == 0.0 ? x : limits<double>::nan(), limits<double>::nan()};
  if (isnan(x)) return {x, y == 0.0 ? y : x};
  if (fabs(x) > 22.0) {
    double e = exp(-fabs(x));
    return {copysign(1.0, x), 4.0 * sin(y) * cos(y) * e * e};
  }
  double t = tan(y), b = 1.0 + t * t, s = sinh(x), r = sqrt(1.0 + s * s);
  if (isinf(t) || b > 0x1p500) return {r / s, 1.0 / t};
  double d = 1.0 + b * s * s;
  return {b * r * s / d, t / d};
}
BC_COMPLEX128 sin(complex<R> z) { return over_i(sinh(times_i(z))); }
BC_COMPLEX128 cos(complex<R> z) { return cosh(times_i(z)); }
BC_COMPLEX128 tan(complex<R> z) { return over_i(tanh(times_i(z))); }

// ---- inverse functions: Hull, Fairgrieve & Tang (1997); Kahan (1987)
BC_FN double positive_root(double x, double other, double size) { return x > 0 ? other * other / (size + x) : size - x; }

/// Gives arccos(|x|/..) parts for x, y >= 0: the real and imaginary magnitudes of arcsin(x + iy) and the real one of arccos.
BC_LONG void arcsin_parts(double x, double y, double& re_sin, double& re_cos, double& im) {
  if (x > 0x1p500 || y > 0x1p500) {
    im = log_abs(x, y) + 0x1.62e42fefa39efp-1;
    re_sin = arctan2(x, y);
    re_cos = arctan2(y, x);
    return;
  }
  double r = hypot(x + 1.0, y), s = hypot(x - 1.0, y), a = 0.5 * (r + s), b = x / a;
  double a_x = a + x;
  double r_side = y == 0.0 ? 0.0 : y * y / (r + (x + 1.0));
  double s_side = x <= 1.0 ? s + (1.0 - x) : (y == 0.0 ? 0.0 : y * y / (s + (x - 1.0)));
  if (y < 0x1p-500 && y > 0) {
    // y * y would vanish; the first terms of the series in y do
    if (x < 1.0) {
      double c = sqrt((1.0 - x) * (1.0 + x));
      re_sin = arcsin(x), re_cos = arccos(x), im = y / c;
      return;
    }
    if (x > 1.0) {
      double c = sqrt((x - 1.0) * (x + 1.0));
      re_sin = 0x1.921fb54442d18p+0, re_cos = y / c, im = log1p((x - 1.0) + c);
      return;
    }
    im = re_cos = sqrt(y);
    re_sin = 0x1.921fb54442d18p+0 - re_cos;
    return;
  }
  if (b <= 0.6417) {
    re_sin = arcsin(b);
    re_cos = arccos(b);
  } else {
    double d = sqrt(x <= 1.0 ? 0.5 * a_x * (r_side + s_side) : 0.0);
    if (x > 1.0) d = y * sqrt(0.5 * (a_x / (r + (x + 1.0)) + a_x / (s + (x - 1.0))));
    re_sin = arctan2(x, d);
    re_cos = arctan2(d, x);
  }
  if (a <= 1.5) {
    double m = x < 1.0 ? 0.5 * (r_side + (y == 0.0 ? 0.0 : y * y / s_side)) : 0.5 * (r_side + (s + (x - 1.0)));
    im = log1p(m + sqrt(m * (a + 1.0)));
  } else {
    im = log(a + sqrt(a * a - 1.0));
  }
}
BC_COMPLEX128 arcsin(complex<R> z) {
  double x = z.re, y = z.im, inf = limits<double>::inf(), nan = limits<double>::nan(), quarter = 0x1.921fb54442d18p-1;
  if (isnan(x)) return {x, isinf(y) ? y : x};
  if (isnan(y)) return isinf(x) ? complex128(y, x) : complex128(x == 0.0 ? x : nan, nan);
  if (isinf(y)) return {copysign(isinf(x) ? quarter : 0.0, x), y};
  if (isinf(x)) return {copysign(2 * quarter, x), copysign(inf, y)};
  double re, other, im;
  arcsin_parts(fabs(x), fabs(y), re, other, im);
  return {copysign(re, x), copysign(im, y)};
}
BC_COMPLEX128 arccos(complex<R> z) {
  double x = z.re, y = z.im, inf = limits<double>::inf(), nan = limits<double>::nan(), quarter = 0x1.921fb54442d18p-1;
  if (isnan(x)) return {nan, isinf(y) ? -y : nan};
  if (isnan(y)) return isinf(x) ? complex128(nan, -inf) : complex128(x == 0.0 ? 2 * quarter : nan, nan);
  if (isinf(y)) return {isinf(x) ? (x > 0 ? quarter : 3 * quarter) : 2 * quarter, -y};
  if (isinf(x)) return {x > 0 ? 0.0 : 4 * quarter, copysign(inf, -y)};
  double other, re, im;
  arcsin_parts(fabs(x), fabs(y), other, re, im);
  return {signbit(x) ? 4 * quarter - re : re, copysign(im, -y)};
}
BC_COMPLEX128 arcsinh(complex<R> z) { return over_i(arcsin(times_i(z))); }
BC_COMPLEX128 arccosh(complex<R> z) {
  complex128 c = arccos(z);
  if (isnan(c.re) && isnan(c.im)) return c;
  if (isnan(c.im)) return {c.im, c.re};
  if (isnan(c.re)) return {fabs(c.im), c.re};
  return {fabs(c.im), copysign(c.re, z.im)};
}
/// Real part log1p(4x / ((1 - x)^2 + y^2)) / 4, imaginary part half the angle of (1 - x)(1 + x) - y^2 + 2iy.
BC_COMPLEX128 arctanh(complex<R> z) {
  double x = fabs(z.re), y = fabs(z.im), half_pi = 0x1.921fb54442d18p+0;
  if (isnan(x)) return {isinf(y) ? copysign(0.0, z.re) : x, isinf(y) ? copysign(half_pi, z.im) : x};
  if (isnan(y)) return {isinf(x) ? copysign(0.0, z.re) : (x == 0.0 ? z.re : y), y};
  if (x > 0x1p500 || y > 0x1p500) {
    double big = x > y ? x : y, small = x > y ? y : x, ratio = small / big;
    double re = isinf(big) ? 0.0 : (x / big) / (big * (1.0 + ratio * ratio));
    return {copysign(re, z.re), copysign(half_pi, z.im)};
  }
  double gap = 1.0 - x, size = gap * gap + y * y;
  double re = 0.25 * log1p(4.0 * x / size);
  if (x == 1.0 && y < 0x1p-500) re = y == 0.0 ? limits<double>::inf() : 0.5 * (0x1.62e42fefa39efp-1 - log(y));
  double im = 0.5 * arctan2(2.0 * y, gap * (1.0 + x) - y * y);
  if (x == 1.0 && y == 0.0) im = 0.0;
  return {copysign(re, z.re), copysign(im, z.im)};
}
BC_COMPLEX128 arctan(complex<R> z) { return over_i(arctanh(times_i(z))); }

BC_COMPLEX128 exp2(complex<R> z) { return exp(z * 0x1.62e42fefa39efp-1); }

/// The product of two complex numbers whose parts are both NaN by the formula: an infinity times what is not 0 stays one (C99, annex
/// G.5.1).
BC_LONG complex128 recovered_product(complex128 a, complex128 b) {
  bool infinite = false;
  if (isinf(a.re) || isinf(a.im)) {
    a = {copysign(isinf(a.re) ? 1.0 : 0.0, a.re), copysign(isinf(a.im) ? 1.0 : 0.0, a.im)};
    b = {isnan(b.re) ? copysign(0.0, b.re) : b.re, isnan(b.im) ? copysign(0.0, b.im) : b.im};
    infinite = true;
  }
  if (isinf(b.re) || isinf(b.im)) {
    b = {copysign(isinf(b.re) ? 1.0 : 0.0, b.re), copysign(isinf(b.im) ? 1.0 : 0.0, b.im)};
    a = {isnan(a.re) ? copysign(0.0, a.re) : a.re, isnan(a.im) ? copysign(0.0, a.im) : a.im};
    infinite = true;
  }
  double inf = limits<double>::inf();
  return infinite ? complex128(inf * (a.re * b.re - a.im * b.im), inf * (a.re * b.im + a.im * b.re))
                  : complex128(limits<double>::nan(), limits<double>::nan());
}

/// a^n for 0 < |n| < 100 by the products that NumPy takes, in its order, so that overflow gives its infinities and NaNs.
BC_LONG complex128 power_by_squaring(complex128 a, i32 n) {
  if (n == 1) return a;
  if (n == 2 || n == 3) return n == 2 ? a * a : a * (a * a);
  complex128 r = {1.0, 0.0}, p = a;
  for (u32 m = static_cast<u32>(n < 0 ? -n : n); m != 0; m >>= 1) {
    if (m & 1u) r = r * p;
    p = p * p;
  }
  return n < 0 ? complex128(1.0, 0.0) / r : r;
}
/// a^b for finite a and real b with |b| < 2^1000. |a| is taken as `size` 2^`lift`, where hypot neither overflows nor loses places, and
/// |a|^b as a square where it leaves the range: a part of the result may still be inside.
BC_LONG complex128 power_by_angle(complex128 a, complex128 b) {
  double big = fabs(a.re) > fabs(a.im) ? fabs(a.re) : fabs(a.im);
  double lift = big > 0x1p1000 ? 4.0 : (big < 0x1p-960 ? -100.0 : 0.0), scale = lift > 0 ? 0x1p-4 : (lift < 0 ? 0x1p100 : 1.0);
  double size = hypot(a.re * scale, a.im * scale), factor = power(size, b.re), other = 1.0;
  if (lift != 0.0 || !(factor >= limits<double>::min() && factor < limits<double>::inf()))
    factor = other = power(size, 0.5 * b.re) * exp2(0.5 * b.re * lift);
  // The sign of a zero imaginary part is that of the product b log a, as NumPy's.
  double turn = arctan2(a.im, a.re) * b.re + (size < scale ? -b.im : b.im);
  return {factor * cos(turn) * other, turn == 0.0 ? turn : factor * sin(turn) * other};
}

/// Small whole exponents by squaring, as NumPy; real ones, and those whose products overflow on the way, by |a|^b and the angle, where the
/// logarithm's real part has two doubles' worth by `power`; others by exp(b log a).
BC_COMPLEX128 power(complex<R> a, complex<R> b) {
  double nan = limits<double>::nan();
  if (b.re == 0.0 && b.im == 0.0) return {1.0, 0.0};
  if (a.re == 0.0 && a.im == 0.0) return b.re > 0 ? complex128(0.0, 0.0) : complex128(nan, nan);
  bool real = b.im == 0.0 && isfinite(a) && fabs(b.re) < 0x1p1000;
  bool small = b.im == 0.0 && rint(b.re) == b.re && fabs(b.re) < 100;
  complex128 product = small ? power_by_squaring(a, static_cast<i32>(b.re)) : complex128(nan, nan);
  bool lost = b.re < 0 && product == complex128(0.0, 0.0);
  if (small && ((isfinite(product) && !lost) || !real)) return product;
  if (real) {
    complex128 r = power_by_angle(a, b);
    return small && !isfinite(r) ? product : r;
  }
  double l = log_abs(a.re, a.im), angle = arctan2(a.im, a.re);
  complex128 turned = {fma(b.re, l, -b.im * angle), fma(b.im, l, b.re * angle)};
  if (isnan(turned.re) && isnan(turned.im)) turned = recovered_product(b, {l, angle});
  return exp(turned);
}

#define BC_COMPLEX1(name) \
  BC_COMPLEX64 name(complex<R> z) { return narrow(name(widen(z))); }
BC_COMPLEX1(exp)
BC_COMPLEX1(exp2)
BC_COMPLEX1(expm1)
BC_COMPLEX1(log)
BC_COMPLEX1(log2)
BC_COMPLEX1(log10)
BC_COMPLEX1(log1p)
BC_COMPLEX1(sqrt)
BC_COMPLEX1(sin)
BC_COMPLEX1(cos)
BC_COMPLEX1(tan)
BC_COMPLEX1(sinh)
BC_COMPLEX1(cosh)
BC_COMPLEX1(tanh)
BC_COMPLEX1(arcsin)
BC_COMPLEX1(arccos)
BC_COMPLEX1(arctan)
BC_COMPLEX1(arcsinh)
BC_COMPLEX1(arccosh)
BC_COMPLEX1(arctanh)
#undef BC_COMPLEX1
BC_COMPLEX64 power(complex<R> a, complex<R> b) { return narrow(power(widen(a), widen(b))); }

}  // namespace bc
