// The gamma function and its kin: gamma, its reciprocal and logarithm, digamma, zeta, beta. Real arguments; float runs in double.
#pragma once
#include "fits.h"

// The float form of a function of doubles.
#define BC_SPECIAL_FLOAT1(name) \
  BC_FN float name(float a) { return static_cast<float>(name(static_cast<double>(a))); }
#define BC_SPECIAL_FLOAT_FAST1(name) \
  BC_FN float name(float a, u32& flag) { return static_cast<float>(name(static_cast<double>(a), flag)); }
#define BC_SPECIAL_FLOAT_FAST2(name) \
  BC_FN float name(float a, float b, u32& flag) { return static_cast<float>(name(static_cast<double>(a), static_cast<double>(b), flag)); }
#define BC_SPECIAL_FLOAT2(name) \
  BC_FN float name(float a, float b) { return static_cast<float>(name(static_cast<double>(a), static_cast<double>(b))); }
#define BC_SPECIAL_FLOAT_FAST3(name)                                                                               \
  BC_FN float name(float a, float b, float c, u32& flag) {                                                         \
    return static_cast<float>(name(static_cast<double>(a), static_cast<double>(b), static_cast<double>(c), flag)); \
  }
#define BC_SPECIAL_FLOAT3(name)                                                                              \
  BC_FN float name(float a, float b, float c) {                                                              \
    return static_cast<float>(name(static_cast<double>(a), static_cast<double>(b), static_cast<double>(c))); \
  }

namespace bc {
namespace special_rows {

BC_FN double pi() { return 0x1.921fb54442d18p+1; }
BC_FN double inf() { return limits<double>::inf(); }
BC_FN double nan() { return limits<double>::nan(); }

/// |x|, or the end of the interval that a fit is for.
BC_FN double at_most(double x, double high) { return x < high ? x : high; }
BC_FN double at_least(double x, double low) { return x > low ? x : low; }
/// Columns of a table of factors of powers of s and v (fits.h), summed over v.
template <int some, int columns>
BC_INLINE void columns_at_argument(const double (*table)[columns], int rows, double v, double* out) {
  double c[some];
  for (int k = 0; k < some; ++k) c[k] = table[rows - 1][k];
  for (int j = rows - 2; j >= 0; --j) {
    BC_ROLLED
    for (int k = 0; k < some; ++k) c[k] = fma(c[k], v, table[j][k]);
  }
  for (int k = 0; k < some; ++k) out[k] = c[k];
}
/// All columns, which leaves factors of powers of s; at_order sums over s. Not more than eight at a time, which stay in registers.
template <int columns>
BC_INLINE void at_argument(const double (*table)[columns], int rows, double v, double* c) {
  constexpr int first = columns > 8 ? 8 : columns;
  columns_at_argument<first>(table, rows, v, c);
  if constexpr (columns > first)
    columns_at_argument<columns - first>(reinterpret_cast<const double(*)[columns]>(&table[0][first]), rows, v, c + first);
}
template <int columns>
BC_INLINE double at_order(const double* c, double s) {
  double sum = c[columns - 1];
  for (int k = columns - 2; k >= 0; --k) sum = fma(sum, s, c[k]);
  return sum;
}

/// Sine and tangent of |x| <= pi / 2, without the branch for large numbers.
#if BC_CUDA
BC_FN double sin_near(double x) { return sin(x); }
BC_FN double tan_near(double x) { return tan(x); }
#else
BC_FN double sin_near(double x) {
  u32 flag = 0;
  return sin_fast(x, flag);
}
BC_FN double tan_near(double x) {
  u32 flag = 0;
  return tan_fast(x, flag);
}
#endif

/// sin(pi x), from the exact distance to the nearest even number.
BC_FN double sin_pi(double x) {
  double r = x - 2.0 * rint(0.5 * x);
  r = r > 0.5 ? 1.0 - r : (r < -0.5 ? -1.0 - r : r);
  return sin_near(pi() * r);
}
BC_FN double cos_pi(double x) { return sin_near(pi() * (0.5 - fabs(x - 2.0 * rint(0.5 * x)))); }
BC_FN double tan_pi(double x) { return tan_near(pi() * (x - rint(x))); }

/// log(gamma(x)) less (x - 1/2) log(x) - x + log(2 pi) / 2, for x >= 10 (DLMF 5.11.1).
BC_FN double stirling_rest(double x) {
  const double v = 1.0 / x;
  return v * stirling(v * v);
}
/// z in [2, 3) a whole number away from 0 < x < 10: gamma(x) = gamma(z) product / divisor. Without branches, so that loops vectorise.
BC_FN double to_2_3(double x, double& product, double& divisor) {
  divisor = x < 1.0 ? x * (x + 1.0) : (x < 2.0 ? x : 1.0);
  const double n = floor(x) - 2.0;
  const double f1 = n >= 1.0 ? x - 1.0 : 1.0, f2 = n >= 2.0 ? x - 2.0 : 1.0, f3 = n >= 3.0 ? x - 3.0 : 1.0, f4 = n >= 4.0 ? x - 4.0 : 1.0;
  const double f5 = n >= 5.0 ? x - 5.0 : 1.0, f6 = n >= 6.0 ? x - 6.0 : 1.0, f7 = n >= 7.0 ? x - 7.0 : 1.0;
  product = ((f1 * f2) * (f3 * f4)) * ((f5 * f6) * f7);
  return x - n;
}
#if BC_CUDA
/// e^(sign log(gamma(x))) for x >= 10 by Stirling's formula, sign 1 or -1. The exponent is two numbers: rounded, one of 170 would cost a
/// hundred ulp.
BC_FN double exp_stirling(double x, double sign) {
  const double half = power(x, sign * (0.5 * x - 0.25)), rest = 0.9189385332046728 + stirling_rest(x);
  const double t = rest - x, lo = rest - (t + x), e = exp(sign * t);
  return half * fma(e, sign * lo, e) * half;
}
#else
/// (x - 1/2) log(x) - x + log(2 pi) / 2 + the rest of Stirling's formula in two numbers, for x >= 8 of up to 1e4; log_x is log(x).
BC_FN void stirling_exponent(double x, double& t, double& lo, double& log_x) {
  double k, m, p, p_lo;
  power_split(x, k, m);
  power_product(k, m, x - 0.5, p, p_lo);
  const double whole = p + p_lo;
  t = whole - x;
  const double part = t - whole;
  lo = (whole - (t - part)) - (x + part) + ((p - whole) + p_lo) + (stirling_rest(x) + 0.9189385332046728);
  log_x = whole / (x - 0.5);
}
/// e^(t + lo) for a small lo
BC_FN double exp_of_two(double t, double lo) {
  const double sum = t + lo, e = exp(sum);
  return e < inf() ? fma(e, (t - sum) + lo, e) : e;
}
BC_FN double exp_stirling(double x, double sign) {
  double t, lo, log_x;
  stirling_exponent(x, t, lo, log_x);
  return exp_of_two(sign * t, sign * lo);
}
#endif
/// A factor of the reflection formula (DLMF 5.5.3): gamma(-x) gamma(x) = -pi / (x sin(pi x)).
BC_FN double reflection(double x) { return -pi() / (x * sin_pi(x)); }

BC_FN double gamma(double x) {
  const double size = fabs(x), inside = size > 1e-20 && size < 200.0 ? size : 1.0;
  const bool pole = x < 0.0 && x == floor(x), far = inside >= 10.0, positive = x > 0.0;
  double product, divisor;
  const double z = to_2_3(far ? 2.0 : inside, product, divisor), near = gamma_2_3(z) * product;
  const double large = exp_stirling(far ? inside : 10.0, positive ? 1.0 : -1.0);
  double r = positive ? (far ? large : near / divisor) : reflection(pole ? 0.5 : x) * (far ? large : divisor / near);
  r = x > 172.0 ? inf() : (x < -200.0 ? copysign(0.0, sin_pi(x)) : r);
  r = size > 1e-20 ? r : 1.0 / x;
  return pole ? nan() : (x == x ? r : x);
}
/// gamma for functions that are called with one number at a time: only the side that x is on.
BC_FN double gamma_of_one(double x) {
  if (!(x > 1e-20 && x < 170.0)) return gamma(x);
  if (x >= 10.0) return exp_stirling(x, 1.0);
  double product, divisor;
  const double z = to_2_3(x, product, divisor);
  return gamma_2_3(z) * product / divisor;
}
/// Without branches, so that loops vectorise.
BC_FN double rgamma_fast(double x, u32&) {
  const double size = fabs(x), inside = size > 1e-20 && size < 200.0 ? size : 1.0;
  const bool far = inside >= 10.0, positive = x > 0.0;
  double product, divisor;
  const double z = to_2_3(far ? 2.0 : inside, product, divisor), near = gamma_2_3(z) * product;
  const double large = exp_stirling(far ? inside : 10.0, positive ? -1.0 : 1.0);
  // 1 / reflection(x), which is 0 where gamma has its poles
  const double turned = x * sin_pi(x) * -0.3183098861837907;
  double r = positive ? (far ? large : divisor / near) : turned * (far ? large : near / divisor);
  r = x > 200.0 ? 0.0 : (x < -200.0 ? copysign(inf(), turned) : r);
  r = size > 1e-20 ? r : x;
  return x < 0.0 && x == floor(x) ? 0.0 : (x == x ? r : x);
}
BC_RARE double rgamma(double x) {
  u32 flag = 0;
  const double size = fabs(x);
  if (!(size > 1e-20 && size < 10.0)) return rgamma_fast(x, flag);
  double product, divisor;
  const double z = to_2_3(size, product, divisor), near = gamma_2_3(z) * product;
  if (x > 0.0) return divisor / near;
  return x == floor(x) ? 0.0 : x * sin_pi(x) * -0.3183098861837907 * (near / divisor);
}
/// log(gamma(x)) for x > 0, without branches.
BC_FN double gammaln_positive(double x) {
  const bool far = x >= 10.0, low = x < 1.0;
  double product, divisor;
  const double z = to_2_3(far || x < 2.0 ? 2.0 : x, product, divisor), w = far ? x : 10.0;
  const double l = log(far || x < 2.0 ? x : product);
  const double large =
      w > 1e300 ? (w == inf() ? w : w * (l - 1.0)) : (w - 0.5) * (far ? l : 0.0) - w + 0.9189385332046728 + stirling_rest(w);
  const double t = low ? x + 1.0 : (x < 2.0 ? x : 2.0);
  // From the distances to 1 and 2 of x itself: x + 1 is rounded.
  const double small = (low ? x * (x - 1.0) : (1.0 - x) * (2.0 - x)) * gammaln_1_2(t) - (low ? l : -0.0);
  return far ? large : (x < 2.0 ? small + 0.0 : (z - 2.0) * gammaln_2_3(z) + l);
}
/// log(|gamma(x)|)
BC_FN double gammaln(double x) {
  const bool pole = x <= 0.0 && x == floor(x), positive = x > 0.0;
  const double size = fabs(x), of = gammaln_positive(size < 1e-20 ? 1.0 : size);
  double r = positive ? of : log(fabs(reflection(pole ? 0.5 : x))) - of;
  r = size < 1e-20 ? -log(size) : r;
  r = pole ? inf() : r;
  return x == x && size < inf() ? r : x;
}
BC_FN double loggamma(double x) { return x < 0.0 ? nan() : gammaln(x); }
/// Of positive numbers, whose logarithm needs no reflection.
BC_FN double gammaln_fast(double x, u32& flag) {
  flag |= x >= 1e-20 && x < inf() ? 0u : 1u;
  return gammaln_positive(x);
}
BC_FN double loggamma_fast(double x, u32& flag) { return gammaln_fast(x, flag); }
BC_FN double gammasgn(double x) {
  if (x != x) return x;
  if (x > 0.0) return 1.0;
  if (x == 0.0) return copysign(1.0, x);
  const double down = floor(x);
  if (down == x) return nan();
  return down == 2.0 * floor(0.5 * down) ? 1.0 : -1.0;
}

/// log(x) - 1 / (2 x) and the rest of digamma's expansion (DLMF 5.11.2), for x >= 10.
BC_FN double digamma_far(double x) {
  const double v = 1.0 / x, u = v * v;
  return log(x) - 0.5 * v - u * digamma_tail(u);
}
/// digamma for 0 < z < 10, at most eight steps away from [1, 2].
BC_FN double digamma_near(double z) {
  const bool low = z < 1.0;
  double above = low ? -1.0 : 0.0, below = low ? z : 1.0;  // the sum of 1 / (z - 1), 1 / (z - 2) ... as one quotient
  z += low ? 1.0 : 0.0;
  BC_UNROLL
  for (int i = 0; i < 8; ++i) {
    const bool step = z > 2.0;
    const double down = z - 1.0;
    z = step ? down : z;
    above = step ? fma(above, down, below) : above;
    below *= step ? down : 1.0;
  }
  return ((z - digamma_root()) - digamma_root_lo()) * digamma_1_2(z) + above / below;
}
BC_FN double digamma(double x) {
  const bool pole = x <= 0.0 && x == floor(x), negative = x < -0.5, step = x < 0.0 && !negative;
  const double safe = pole ? 0.25 : x, next = -1.0 / safe, turned = next - pi() / tan_pi(safe);
  const double z = negative ? fabs(safe) : (step ? safe + 1.0 : safe);
  const double positive = z >= 10.0 ? digamma_far(at_least(z, 10.0)) : digamma_near(at_most(z, 10.0));
  double sum = negative ? turned + positive : (step ? next + positive : positive);
  sum = x == inf() ? x : (pole ? nan() : sum);
  return x == 0.0 ? copysign(inf(), -x) : (x == x ? sum : x);
}
/// Of positive numbers, without the reflection.
BC_FN double digamma_fast(double x, u32& flag) {
  flag |= x > 0.0 && x < inf() ? 0u : 1u;
  const double far = digamma_far(at_least(x, 10.0)), near = digamma_near(at_most(x, 10.0));
  return x >= 10.0 ? far : near;
}

/// The sum of (q + k)^-s over k >= 0, q > 0 or s whole: the first terms, then Euler and Maclaurin's formula (DLMF 25.2.9, 25.11.5).
BC_FN double euler_maclaurin_sum(double s, double q) {
  double sum = 0.0, w = q;
  for (int k = 0; k < 9 || w <= 9.0; ++k, w += 1.0) {
    const double term = power(w, -s);
    sum += term;
    if (s > 1.0 && w > 0.0 && term < 1e-17 * fabs(sum)) return sum;
  }
  const double last = power(w, -s);
  sum += last * w / (s - 1.0) + 0.5 * last;
  double factor = s * last / w, term = factor * euler_maclaurin(1);
  sum += term;
  for (int k = 2; k <= 12 && fabs(term) > 1e-17 * fabs(sum); ++k) {
    factor *= (s + (2 * k - 3)) * (s + (2 * k - 2)) / (w * w);
    term = factor * euler_maclaurin(k);
    sum += term;
  }
  return sum;
}
#if !BC_CUDA
/// The same for 1 < s <= 5 (q + 9) / 2 and 0 < q <= 1e8, without branches: nine terms and the formula's twelve corrections, of which those
/// that are left out are below 1e-9 of a tail that is below 1e-10 of the sum where s is large.
BC_FN double zeta_fast(double s, double q, u32& flag) {
  const bool inside = s > 1.0 && q >= 1e-300 && q <= 1e8 && s <= 2.5 * (q + 9.0), one = s == 1.0;
  flag |= inside || (one && q == q) ? 0u : 1u;
  s = inside ? s : 2.0;
  q = inside ? q : 1.0;
  double w = q, sum = 0.0, last = 0.0;
  BC_UNROLL
  for (int k = 0; k < 10; ++k) {
    double t, lo, scale, m;
    power_split(w, scale, m);
    power_product(scale, m, -s, t, lo);
    last = exp_of_two(t, lo);
    sum += k < 9 ? last : 0.0;
    w += k < 9 ? 1.0 : 0.0;
  }
  const double v = 1.0 / w, u = v * v;
  double factor = s * v, rest = 0.0;
  BC_UNROLL
  for (int k = 1; k <= 12; ++k) {
    rest = fma(factor, euler_maclaurin(k), rest);
    factor *= (s + (2 * k - 1)) * ((s + 2 * k) * u);
  }
  sum += last * (w / (s - 1.0) + 0.5 + rest);
  return one ? inf() : sum;
}
BC_FN double trigamma_fast(double x, u32& flag) { return zeta_fast(2.0, x, flag); }
#endif
/// Hurwitz's zeta function.
BC_RARE double zeta(double s, double q) {
#if !BC_CUDA
  u32 flag = 0;
  const double r = zeta_fast(s, q, flag);
  if (flag == 0) return r;
#endif
  if (s != s || q != q) return s + q;
  if (s == 1.0) return inf();
  if (s < 1.0) return nan();
  if (q <= 0.0) {
    if (q == floor(q)) return q == -inf() ? nan() : inf();
    if (s != floor(s)) return nan();
    if (q < -1e4) return nan();  // so many terms
  }
  if (s == inf()) return q > 1.0 ? 0.0 : (q == 1.0 ? 1.0 : inf());
  if (q > 1e8) return (1.0 / (s - 1.0) + 0.5 / q) * power(q, 1.0 - s);
  return euler_maclaurin_sum(s, q);
}
/// zeta(x) - 1 for x >= 2; beyond 64 the terms 2^-x and 3^-x. Without branches, so that loops vectorise.
BC_FN double zetac_above_2(double x) {
  const double low = zetac_0(at_most(x, 8.0)), middle = zetac_1(at_most(at_least(x, 8.0), 24.0));
  const double high = zetac_2(at_most(at_least(x, 24.0), 64.0)), next = 1.0 + exp2(-0.5849625007211562 * x);
  return exp2(-x) * (x < 8.0 ? low : (x < 24.0 ? middle : (x > 64.0 ? next : high)));
}
/// zeta(x) less 1, or 0, for x >= -1/2. Without branches, so that loops vectorise.
BC_FN double zeta_less(double x, double less) {
  const double pole = at_most(x, 2.0), low = zeta_0_2(pole) / (pole - 1.0) - less, high = zetac_above_2(at_least(x, 2.0));
  return x < 2.0 ? (x == 1.0 ? inf() : low) : high + (1.0 - less);
}
BC_FN u32 beyond_zeta_less(double x) { return x >= -0.5 && x < inf() ? 0u : 1u; }
BC_FN double riemann_zeta_fast(double x, u32& flag) {
  flag |= beyond_zeta_less(x);
  return zeta_less(at_least(x, -0.5), 0.0);
}
BC_FN double zetac_fast(double x, u32& flag) {
  flag |= beyond_zeta_less(x);
  return zeta_less(at_least(x, -0.5), 1.0);
}
/// Riemann's zeta function for x < -1/2 by reflection (DLMF 25.4.1), with gamma(1 - x) by its parts.
BC_FN double zeta_reflected(double x) {
  if (x < -300.0) return x == -inf() ? nan() : (x == 2.0 * floor(0.5 * x) ? 0.0 : copysign(inf(), sin_pi(0.5 * x)));
  const double y = 1.0 - x, s = 2.0 * sin_pi(0.5 * x) * (y < 2.0 ? zeta_0_2(y) / (y - 1.0) : 1.0 + zetac_above_2(y));
  if (y < 10.0) return s * gamma(y) * power(2.0 * pi(), -y);
  const double half = power(y * 0.15915494309189535, 0.5 * y - 0.25);
  return s * half * exp(-y) * exp(stirling_rest(y)) * half;
}
BC_RARE double riemann_zeta(double x) {
  if (x < -0.5) return zeta_reflected(x);
  return x < inf() ? zeta_less(x, 0.0) : (x == inf() ? 1.0 : x);
}
/// zeta(x) - 1
BC_RARE double zetac(double x) {
  if (x < -0.5) return zeta_reflected(x) - 1.0;
  return x < inf() ? zeta_less(x, 1.0) : (x == inf() ? 0.0 : x);
}

/// log(gamma(a + m) / gamma(a)) for a >= 10 and a + m >= 10, from Stirling's formula without its large terms.
BC_FN double log_gamma_ratio(double a, double m) {
  const double b = a + m;
  return (a - 0.5) * log1p(m / a) + m * (log(b) - 1.0) + (stirling_rest(b) - stirling_rest(a));
}
/// log(beta(a, b)) for a >= b > 0, a >= 10.
BC_FN double betaln_large(double a, double b) {
  if (b < 10.0) return gammaln(b) - log_gamma_ratio(a, b);
  const double ratio = b / a, s = a + b;
  const double rest = stirling_rest(a) + stirling_rest(b) - stirling_rest(s);
  return 0.9189385332046728 - 0.5 * log(b) + rest - ((a - 0.5) * log1p(ratio) - b * log(ratio / (1.0 + ratio)));
}
BC_FN bool is_odd(double n) { return n != 2.0 * floor(0.5 * n); }
#if !BC_CUDA
/// gamma(x + rest) = e^(t + lo) above / below for 0 < x < 1e4 and a rest of rounding: the exponent by Stirling's formula from 10 on, below
/// it 0. Without branches, so that loops vectorise.
BC_FN void gamma_exponent(double x, double rest, double& t, double& lo, double& above, double& below) {
  const bool far = x >= 10.0;
  double product, divisor, log_x;
  const double z = to_2_3(far ? 2.0 : x, product, divisor), near = gamma_2_3(z) * product;
  stirling_exponent(far ? x : 10.0, t, lo, log_x);
  // The slope of the logarithm is log(x) - 1 / (2 x) ...
  lo = far ? fma(rest, log_x - 0.5 / x, lo) : 0.0;
  t = far ? t : 0.0;
  above = far ? 1.0 : near;
  below = far ? 1.0 : divisor;
}
/// The exponent of beta and the factor before it, a, b > 0.
BC_FN void beta_exponent(double a, double b, double& t, double& lo, double& factor) {
  const double s = a + b, part = s - a;
  double ta, la, na, da, tb, lb, nb, db, ts, ls, ns, ds;
  gamma_exponent(a, 0.0, ta, la, na, da);
  gamma_exponent(b, 0.0, tb, lb, nb, db);
  gamma_exponent(s, (a - (s - part)) + (b - part), ts, ls, ns, ds);
  const double first = ta + tb, w = first - ta, first_lo = (ta - (first - w)) + (tb - w);
  t = first - ts;
  const double v = t - first;
  lo = (first - (t - v)) - (ts + v) + (first_lo + (la + lb - ls));
  factor = na / da * (nb * ds / (db * ns));
}
BC_FN u32 beyond_gamma_exponent(double x) { return x > 0.0 && x < 1e4 ? 0u : 1u; }
BC_FN double beta_fast(double a, double b, u32& flag) {
  double t, lo, factor;
  beta_exponent(a, b, t, lo, factor);
  flag |= beyond_gamma_exponent(a) | beyond_gamma_exponent(b);
  return exp_of_two(t, lo) * factor;
}
BC_FN double betaln_fast(double a, double b, u32& flag) {
  double t, lo, factor;
  beta_exponent(a, b, t, lo, factor);
  flag |= beyond_gamma_exponent(a) | beyond_gamma_exponent(b) | (factor < inf() ? 0u : 1u);
  // Near 0, the logarithm of the product: its error is that of the product.
  const double whole = exp_of_two(t, lo) * factor;
  return whole > 0.125 && whole < 8.0 ? log(whole) : t + (lo + log(factor));
}
#endif
BC_RARE double beta(double a, double b) {
#if !BC_CUDA
  u32 flag = beyond_gamma_exponent(a) | beyond_gamma_exponent(b);
  if (flag == 0) return beta_fast(a, b, flag);
#endif
  if (a != a || b != b) return a + b;
  if (fabs(a) < fabs(b)) {
    const double t = a;
    a = b;
    b = t;
  }
  double sign = 1.0;
  if ((a <= 0.0 && a == floor(a)) || (b <= 0.0 && b == floor(b))) {
    // A pole, unless gamma(a + b) has one too: for whole n > 0 beside it the quotient is (-1)^n beta(1 - a - b, n).
    const double n = a > b ? a : b;
    if (n <= 0.0 || n != floor(n) || 1.0 - a - b <= 0.0) return inf();
    sign = is_odd(n) ? -1.0 : 1.0;
    const double other = 1.0 - a - b;
    a = n < other ? other : n;
    b = n < other ? n : other;
  }
  if (a > 100.0 && b > 0.0) return sign * (b < 10.0 ? gamma_of_one(b) * exp(-log_gamma_ratio(a, b)) : exp(betaln_large(a, b)));
  if (fabs(a) < 160.0 && a + b > -160.0) return sign * (gamma_of_one(a) * rgamma(a + b)) * gamma_of_one(b);
  if (a > 10.0 && a + b > 10.0) {
    const double half = exp(-0.5 * log_gamma_ratio(a, b));
    return half * gamma(b) * half;
  }
  return gammasgn(a) * gammasgn(b) * gammasgn(a + b) * exp(gammaln(a) + gammaln(b) - gammaln(a + b));
}
BC_RARE double betaln(double a, double b) {
#if !BC_CUDA
  u32 flag = beyond_gamma_exponent(a) | beyond_gamma_exponent(b);
  if (flag == 0) {
    const double r = betaln_fast(a, b, flag);
    if (flag == 0) return r;
  }
#endif
  if (a != a || b != b) return a + b;
  const double large = a < b ? b : a, small = a < b ? a : b;
  if (large >= 10.0 && small > 0.0) return betaln_large(large, small);
  if (large > 10.0 && large + small > 10.0) return gammaln(small) - log_gamma_ratio(large, small);
  const double r = fabs(beta(a, b));
  return (r > 1e-300 && r < 1e300) || (large == floor(large) && small == floor(small)) ? log(r) : gammaln(a) + gammaln(b) - gammaln(a + b);
}
#if !BC_CUDA
/// a + b = sum + rest
BC_FN void two_sum(double a, double b, double& sum, double& rest) {
  sum = a + b;
  const double part = sum - a;
  rest = (a - (sum - part)) + (b - part);
}
/// The whole number that r is where it is known to be one and has less than 14 digits.
BC_FN double as_whole(double r, bool whole) { return whole && fabs(r) < 1e13 ? rint(r) : r; }
/// Of a and a + m in (0, 1e4), where products of few factors may have their own rounding: whole numbers come out exact.
BC_FN double poch_fast(double a, double m, u32& flag) {
  double b, rest, ta, la, na, da, tb, lb, nb, db;
  two_sum(a, m, b, rest);
  flag |= beyond_gamma_exponent(a) | beyond_gamma_exponent(b);
  gamma_exponent(a, 0.0, ta, la, na, da);
  gamma_exponent(b, rest, tb, lb, nb, db);
  double t, lo;
  two_sum(tb, -ta, t, lo);
  const double r = exp_of_two(t, lo + (lb - la)) * (nb * da / (db * na));
  return as_whole(r, a == floor(a) && m == floor(m) && m >= 0.0);
}
/// Of -1 < n, k < 1e4; where n - k < -1 by the reflection of gamma(n - k + 1) (DLMF 5.5.3).
BC_FN double binom_fast(double n, double k, u32& flag) {
  double a, ra, b, rb, d, rd, c, rc, ta, la, na, da, tb, lb, nb, db, tc, lc, nc, dc;
  two_sum(n, 1.0, a, ra);
  two_sum(k, 1.0, b, rb);
  two_sum(n, -k, d, rd);
  const bool turned = d <= -1.0;
  two_sum(turned ? -d : d, turned ? 0.0 : 1.0, c, rc);
  rc += turned ? -rd : rd;
  flag |= beyond_gamma_exponent(a) | beyond_gamma_exponent(b) | beyond_gamma_exponent(c);
  gamma_exponent(a, ra, ta, la, na, da);
  gamma_exponent(b, rb, tb, lb, nb, db);
  gamma_exponent(c, rc, tc, lc, nc, dc);
  const double other = turned ? -tc : tc, other_lo = turned ? -lc : lc;
  double first, first_lo, sum, sum_lo;
  two_sum(ta, -tb, first, first_lo);
  two_sum(first, -other, sum, sum_lo);
  const double e = exp_of_two(sum, sum_lo + (first_lo + (la - lb - other_lo)));
  const double above = turned ? na * nc : na * dc, below = turned ? da * dc : da * nc;
  const double r = e * (db / nb) * (above / below) * (turned ? sin_pi(c) * 0.3183098861837907 : 1.0);
  return as_whole(r, n == floor(n) && k == floor(k));
}
#endif
/// gamma(a + m) / gamma(a)
BC_RARE double poch(double a, double m) {
#if !BC_CUDA
  u32 flag = 0;
  const double fast = poch_fast(a, m, flag);
  if (flag == 0) return fast;
#endif
  if (a != a || m != m) return a + m;
  if (m == floor(m) && fabs(m) <= 20.0) {
    double r = 1.0;
    for (double k = 0.0; k < m; k += 1.0) r *= a + k;
    double divisor = 1.0;
    for (double k = m; k < 0.0; k += 1.0) divisor *= a + k;
    return m < 0.0 ? 1.0 / divisor : r;
  }
  double b = a + m, sign = 1.0;
  const bool pole = b <= 0.0 && b == floor(b), zero = a <= 0.0 && a == floor(a);
  if (pole && !zero) return inf();
  if (zero && !pole) return 0.0;
  if (zero) {
    // Both have poles: (-1)^m gamma(1 - a) / gamma(1 - b).
    sign = is_odd(m) ? -1.0 : 1.0;
    const double t = a;
    a = 1.0 - b;
    b = 1.0 - t;
  }
  if (a >= 10.0 && b >= 10.0 && (a > 100.0 || b > 100.0)) return sign * exp(log_gamma_ratio(a, m));
  if (fabs(a) < 140.0 && fabs(b) < 140.0) return sign * gamma_of_one(b) * rgamma(a);
  return sign * gammasgn(a) * gammasgn(b) * exp(gammaln(b) - gammaln(a));
}
/// n over k: gamma(n + 1) / (gamma(k + 1) gamma(n - k + 1)).
BC_RARE double binom(double n, double k) {
#if !BC_CUDA
  u32 flag = 0;
  const double fast = binom_fast(n, k, flag);
  if (flag == 0) return fast;
#endif
  if (n != n || k != k) return n + k;
  if (n < 0.0 && n == floor(n)) return nan();
  double whole = rint(k);
  if (whole == k && (fabs(n) > 1e-8 || n == 0.0)) {
    const double rest = n - whole;
    if (n == rint(n) && rest >= 0.0 && rest < whole) whole = rest;  // the same by symmetry, with fewer factors
    if (whole < 0.0) return 0.0;
    if (whole < 30.0) {
      double above = 1.0, below = 1.0;
      for (double i = 1.0; i <= whole; i += 1.0) {
        above *= i + n - whole;
        below *= i;
        if (above > 1e50 || above < -1e50) {
          above /= below;
          below = 1.0;
        }
      }
      return above / below;
    }
  }
  if (k > 0.0 && n >= 1e10 * k) return exp(-betaln(1.0 + n - k, 1.0 + k) - log(n + 1.0));
  // For k far beyond n by reflection of gamma(n - k + 1): sin(pi (k - n)) gamma(n + 1) gamma(k - n) / (pi gamma(k + 1)).
  if (k - n > 1.0 && k > 10.0) return gamma(n + 1.0) * sin_pi(k - n) / pi() * exp(-log_gamma_ratio(k - n, n + 1.0));
  const double r = (n + 1.0) * beta(1.0 + n - k, 1.0 + k);
  if (fabs(r) > 1e-300 && fabs(r) < 1e300) return 1.0 / r;
  return gammasgn(n + 1.0) * gammasgn(k + 1.0) * gammasgn(n - k + 1.0) * exp(gammaln(n + 1.0) - gammaln(k + 1.0) - gammaln(n - k + 1.0));
}

BC_SPECIAL_FLOAT1(gamma)
BC_SPECIAL_FLOAT1(rgamma)
BC_SPECIAL_FLOAT_FAST1(rgamma_fast)
BC_SPECIAL_FLOAT1(gammaln)
BC_SPECIAL_FLOAT_FAST1(gammaln_fast)
BC_SPECIAL_FLOAT1(loggamma)
BC_SPECIAL_FLOAT_FAST1(loggamma_fast)
BC_SPECIAL_FLOAT1(gammasgn)
BC_SPECIAL_FLOAT1(digamma)
BC_SPECIAL_FLOAT_FAST1(digamma_fast)
BC_SPECIAL_FLOAT2(zeta)
BC_SPECIAL_FLOAT1(riemann_zeta)
BC_SPECIAL_FLOAT_FAST1(riemann_zeta_fast)
BC_SPECIAL_FLOAT1(zetac)
BC_SPECIAL_FLOAT_FAST1(zetac_fast)
BC_SPECIAL_FLOAT2(beta)
BC_SPECIAL_FLOAT2(betaln)
#if !BC_CUDA
BC_SPECIAL_FLOAT_FAST2(beta_fast)
BC_SPECIAL_FLOAT_FAST2(betaln_fast)
BC_SPECIAL_FLOAT_FAST2(zeta_fast)
BC_SPECIAL_FLOAT_FAST1(trigamma_fast)
BC_SPECIAL_FLOAT_FAST2(poch_fast)
BC_SPECIAL_FLOAT_FAST2(binom_fast)
#endif
BC_SPECIAL_FLOAT2(poch)
BC_SPECIAL_FLOAT2(binom)

}  // namespace special_rows
}  // namespace bc
