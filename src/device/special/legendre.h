// Associated Legendre functions: lpmv of real degree, and those of the spherical harmonics with their norm. Real arguments; float runs in
// double.
#pragma once
#include "gamma.h"

namespace bc {
namespace special_rows {

/// Gauss's series (DLMF 15.2.1), |t| <= 1/2.
BC_FN double hypergeometric_series(double a, double b, double c, double t) {
  double term = 1.0, sum = 1.0;
  for (int k = 0; k < 100000; ++k) {
    term *= (a + k) / (c + k) * ((b + k) / (k + 1.0)) * t;
    sum += term;
    if (!(fabs(term) > 1e-17 * fabs(sum)) && k + a > 0.0) break;
  }
  return sum;
}
/// F(-v, v + 1; m + 1; 1 - s) / m! for 0 < s <= 1/2 and v that is not whole (DLMF 15.8.10).
BC_FN double legendre_series_at_minus_1(double m, double v, double s) {
  double sum = 0.0;
  if (m > 0.0) {
    double term = gamma(m);
    for (double k = 0.0; k < m; k += 1.0) {
      sum += term;
      if (k < m - 1.0) term *= (k - v) * (v + 1.0 + k) * -s / ((k + 1.0) * (m - k - 1.0));
    }
    sum *= rgamma(m - v) * rgamma(m + v + 1.0);
  }
  double factor = rgamma(-v) * rgamma(v + 1.0) * rgamma(m + 1.0) * (is_odd(m) ? -1.0 : 1.0) * power(s, m), rest = 0.0;
  const double l = log(s);
  double psi = digamma(m - v) + digamma(m + v + 1.0) - digamma(1.0) - digamma(m + 1.0);
  for (double k = 0.0; k < 1e5; k += 1.0) {
    const double term = factor * (l + psi);
    rest += term;
    if (k > v && fabs(term) < 1e-17 * fabs(rest)) break;
    factor *= (m - v + k) * (m + v + 1.0 + k) * s / ((k + 1.0) * (k + m + 1.0));
    psi += 1.0 / (m - v + k) + 1.0 / (m + v + 1.0 + k) - 1.0 / (k + 1.0) - 1.0 / (k + m + 1.0);
  }
  return sum - rest;
}
/// gamma(v + m + 1) / gamma(v - m + 1)
BC_FN double legendre_factor(double m, double v) {
  double r = 1.0;
  for (double k = 1.0 - m; k <= m; k += 1.0) r *= v + k;
  return r;
}
/// P of order m >= 0 and a degree v >= -1/2 that is not whole and less than m + 2 (DLMF 14.3.1, 15.8.1).
BC_FN double legendre_low(double m, double v, double x) {
  const double factor = (is_odd(m) ? -1.0 : 1.0) * legendre_factor(m, v);
  if (x >= 0.0) {
    double root = 1.0;  // (sqrt(1 - x^2) / 2)^m / m!
    for (double k = 1.0; k <= m; k += 1.0) root *= 0.5 * sqrt((1.0 - x) * (1.0 + x)) / k;
    return factor * root * hypergeometric_series(m - v, m + v + 1.0, m + 1.0, 0.5 * (1.0 - x));
  }
  return factor * power((1.0 - x) / (1.0 + x), 0.5 * m) * legendre_series_at_minus_1(m, v, 0.5 * (1.0 + x));
}
/// P_v^m(x) for whole m >= 0, v >= -1/2 and |x| < 1: upwards in the degree (DLMF 14.10.3).
BC_FN double legendre_inside(double m, double v, double x) {
  double degree = m, before = 0.0, now = 1.0;
  if (v == floor(v)) {
    if (v < m) return 0.0;
    const double root = sqrt((1.0 - x) * (1.0 + x));
    for (double k = 0.0; k < m; k += 1.0) now *= -(2.0 * k + 1.0) * root;
  } else {
    degree = v < m + 1.0 ? v : m + (v - floor(v));
    now = legendre_low(m, degree, x);
    if (v < degree + 0.5) return now;
    before = now;
    degree += 1.0;
    now = legendre_low(m, degree, x);
  }
  for (; degree < v - 0.5; degree += 1.0) {
    const double after = ((2.0 * degree + 1.0) * x * now - (degree + m) * before) / (degree + 1.0 - m);
    before = now;
    now = after;
  }
  return now;
}
/// The associated Legendre function of whole order m and real degree v on [-1, 1], with the Condon-Shortley phase.
BC_RARE double lpmv(double m, double v, double x) {
  if (m != m || v != v || x != x) return nan();
  if (m != trunc(m) || fabs(x) > 1.0) return nan();
  if (v < -0.5) v = -v - 1.0;
  const double order = fabs(m);
  const bool whole = v == floor(v);
  if (order > v && whole) return m < 0.0 ? nan() : 0.0;
  if (fabs(x) == 1.0) {
    if (order > 0.0 && (x > 0.0 || whole)) return 0.0;
    if (order == 0.0 && (x > 0.0 || whole)) return x > 0.0 || !is_odd(v) ? 1.0 : -1.0;
  }
  if (order > 1e5 || v > 1e5) return nan();
  // At -1 degrees that are not whole have a pole, or a logarithm's.
  const double p = x == -1.0 ? copysign(inf(), -sin_pi(v)) : legendre_inside(order, v, x);
  return m < 0.0 ? (is_odd(order) ? -p : p) / legendre_factor(order, v) : p;
}

/// The next degree k of the recurrence of DLMF 14.10.3; `scale` is 1 / (k - order).
BC_FN double sph_legendre_step(double k, double order, double scale, double x, double now, double before) {
  return fma((2.0 * k - 1.0) * scale * x, now, -((k + order - 1.0) * scale) * before);
}
/// The associated Legendre function of whole n and m at cos(theta), with the norm of the spherical harmonics and the Condon-Shortley
/// phase: upwards in the degree from n = |m|. A power of two apart keeps what is tiny there.
BC_RARE double sph_legendre_p(double n, double m, double theta) {
  if (n != n || m != m || theta != theta || !(fabs(theta) < inf())) return nan();
  n = trunc(n);
  m = trunc(m);
  const double order = fabs(m);
  if (n < 0.0 || n > 1e5) return nan();
  if (order > n) return 0.0;
  const double x = cos(theta), s = fabs(sin(theta));
  double now = 0.28209479177387814, before = 0.0;
  int scaled = 0;
  for (double k = 1.0; k <= order; k += 1.0) {
    now *= -sqrt((2.0 * k + 1.0) / (2.0 * k)) * s;
    if (fabs(now) < 0x1p-600) {
      now *= 0x1p600;
      ++scaled;
    }
    if (scaled > 1000000) return 0.0;
  }
  if (scaled == 0 && n <= 80.0) {
    // Upwards without the norm (DLMF 14.10.3); the rest of it, (n - m)! (2 m)! / (n + m)! in two products, at the end.
    double above = 1.0, below = 1.0;
    for (double k = order + 1.0; k <= n; k += 1.0) {
      const double apart = k - order;
      const double after = sph_legendre_step(k, order, 1.0 / apart, x, now, before);
      above *= apart;
      below *= k + order;
      before = now;
      now = after;
    }
    now *= sqrt((2.0 * n + 1.0) / (2.0 * order + 1.0) * (above / below));
    return m < 0.0 && is_odd(order) ? -now : now;
  }
  double last = 0.0;  // the factor of `before`
  for (double k = order + 1.0; k <= n; k += 1.0) {
    const double factor = sqrt((2.0 * k - 1.0) * (2.0 * k + 1.0) / ((k - order) * (k + order)));
    const double after = factor * (x * now - last * before);
    last = 1.0 / factor;
    before = now;
    now = after;
    if (scaled > 0 && fabs(now) > 1.0) {
      now *= 0x1p-600;
      before *= 0x1p-600;
      --scaled;
    }
  }
  for (; scaled > 0 && now != 0.0; --scaled) now *= 0x1p-600;
  return m < 0.0 && is_odd(order) ? -now : now;
}

#if !BC_CUDA
/// Up to order 12 and degree 20, in steps that all elements take.
BC_FN double sph_legendre_p_fast(double n, double m, double theta, u32& flag) {
  n = trunc(n);
  m = trunc(m);
  const double order = fabs(m), x = cos_fast(theta, flag), s = fabs(sin_fast(theta, flag));
  double now = 0.28209479177387814, before = 0.0, above = 1.0, below = 1.0;
  BC_UNROLL
  for (int k = 1; k <= 12; ++k) now *= k <= order ? -sqrt((2.0 * k + 1.0) / (2.0 * k)) * s : 1.0;
  flag |= n >= 0.0 && n <= 20.0 && order <= 12.0 && fabs(now) >= 0x1p-600 ? 0u : 1u;
  double r = now;
  BC_UNROLL
  for (int j = 1; j <= 20; ++j) {
    const double k = order + j, after = sph_legendre_step(k, order, 1.0 / j, x, now, before);
    above *= k <= n ? static_cast<double>(j) : 1.0;
    below *= k <= n ? k + order : 1.0;
    before = now;
    now = after;
    r = k == n ? now : r;
  }
  r *= sqrt((2.0 * n + 1.0) / (2.0 * order + 1.0) * (above / below));
  return order > n ? 0.0 : (m < 0.0 && is_odd(order) ? -r : r);
}
BC_SPECIAL_FLOAT_FAST3(sph_legendre_p_fast)
#endif

BC_SPECIAL_FLOAT3(lpmv)
BC_SPECIAL_FLOAT3(sph_legendre_p)

}  // namespace special_rows
}  // namespace bc
