// The incomplete gamma and beta functions, their inverses, and the distributions that are made of them. Real arguments; float runs in
// double.
#pragma once
#include "error.h"

namespace bc {
namespace special_rows {

/// log(1 + t) - t, where 1 + t = ratio.
BC_FN double log_less(double ratio, double t) { return t > -0.29 && t < 0.41 ? log_tail(t) : log(ratio) - t; }

// ---- gamma
/// x^a e^-m for x > 0, where neither factor needs to be a number of its own.
BC_FN double power_times_exp(double x, double a, double m) {
#if BC_CUDA
  const double half = exp(-0.5 * m);
  return half * power(x, a) * half;
#else
  double k, f, t, rest;
  const bool tiny = x < 0x1p-1022;
  power_split(tiny ? x * 0x1p54 : x, k, f);
  power_product(tiny ? k - 54.0 : k, f, a, t, rest);
  const double whole = t + rest, sum = whole - m, part = sum - whole, e = exp(sum);
  return e < inf() ? fma(e, (whole - (sum - part)) - (m + part) + ((t - whole) + rest), e) : e;
#endif
}
/// x^a e^-x / gamma(a + 1)
BC_FN double gammainc_factor(double a, double x) {
  if (a >= 10.0) return exp(fma(a, log_less(x / a, (x - a) / a), -stirling_rest(a))) * 0.3989422804014327 / sqrt(a);
  double product, divisor;
  const double z = to_2_3(a, product, divisor);
  return power_times_exp(x, a, x) * (divisor / (a * gamma_2_3(z) * product));
}
/// The series of P (DLMF 8.7.1) without its factor, four terms at a time with one division.
BC_FN double gammainc_series(double a, double x) {
  const double x4 = (x * x) * (x * x);
  double term = 1.0, sum = 1.0, b = a;
  for (int n = 0; n < 500; ++n) {
    const double b1 = b + 1.0, b2 = b + 2.0, b3 = b + 3.0;
    b += 4.0;
    const double last2 = b3 * b, last3 = b2 * last2, part = term / (b1 * last3);
    sum = fma(part * x, fma(x, fma(x, b + x, last2), last3), sum);
    term = part * x4;
    if (term < 1e-17 * sum) break;
  }
  return sum;
}
/// The last two convergents below / above of a continued fraction, by the recurrence of numerators and denominators, which waits for no
/// division. Whether it has converged, and sizes, are looked at once in several steps.
struct Convergents {
  double before_above, above, before_below, below;
};
BC_INLINE void next_convergent(Convergents& c, double whole, double factor) {
  const double next_above = fma(whole, c.above, factor * c.before_above), next_below = fma(whole, c.below, factor * c.before_below);
  c.before_above = c.above;
  c.before_below = c.below;
  c.above = next_above;
  c.below = next_below;
}
/// Whether the convergents agree; if not, all are brought back into range.
BC_INLINE bool has_converged(Convergents& c) {
  const double product = c.below * c.before_above;
  if (fabs(product - c.before_below * c.above) < 1e-16 * fabs(product)) return true;
  const double size = fabs(c.above), scale = size > 1e100 ? 1e-100 : (size < 1e-100 ? 1e100 : 1.0);
  c.before_above *= scale;
  c.above *= scale;
  c.before_below *= scale;
  c.below *= scale;
  return false;
}
/// The continued fraction of Q (DLMF 8.9.2) without its factor.
BC_FN double gammaincc_fraction(double a, double x) {
  double b = x + 1.0 - a, n = 0.0;
  Convergents c{1.0 / b, 1.0, 0.0, 1.0 / b};
  for (int i = 0; i < 500; ++i) {
    BC_UNROLL
    for (int j = 0; j < 4; ++j) {
      n += 1.0;
      b += 2.0;
      next_convergent(c, b, -n * (n - a));
    }
    if (has_converged(c)) break;
  }
  return c.below / c.above * a;
}
/// Q for small a and x, where 1 - P has no digits: the first term of P's alternating series apart (Gautschi, ACM TOMS 5, 1979). Three terms
/// at a time with one division.
BC_FN double gammaincc_small(double a, double x) {
  double sum = 0.0, term = 1.0, b = a, n = 0.0;
  for (int i = 0; i < 20; ++i) {
    // x^k / k! / (a + k) for k = n + 1, n + 2, n + 3
    const double n1 = n + 1.0, n2 = n + 2.0, b1 = b + 1.0, b2 = b + 2.0;
    n += 3.0;
    b += 3.0;
    const double first = n2 * n, last = b1 * b2, part = term / ((n1 * first) * (last * b));
    sum -= (x * part) * fma(first, b2 * b, x * fma(-n, b1 * b, x * last));
    term = -part * (x * x * x) * (last * b);
    if (fabs(term) < 1e-18 * fabs(sum * b)) break;
  }
  const double log_part = a * log(x) - (a < 1.0 ? (a * (a - 1.0)) * gammaln_1_2(a + 1.0) : gammaln_positive(a + 1.0));
  const double less = expm1(log_part);
  return -fma(a * (1.0 + less), sum, less);
}
/// Tells whether Temme's uniform expansion serves: a >= 5 and |eta| <= 0.8.
BC_FN bool is_uniform(double a, double x) { return a >= 5.0 && x > 0.4 * a && x < 2.0 * a; }
/// Temme's uniform expansion (SIAM J. Math. Anal. 10, 1979; DLMF 8.12.3): Q, or P with `lower`; and x^a e^-x / gamma(a + 1).
BC_FN double gammainc_uniform(double a, double x, bool lower, double& factor) {
  const double mu = (x - a) / a, half_square = -log_less(1.0 + mu, mu);
  const double eta = copysign(sqrt(2.0 * half_square), mu), v = 1.0 / a, w = 1.25 * eta;
  double sum;
  if (a >= 20.0) {
    double c[8];
    at_argument<8>(temme_far, 20, w, c);
    sum = at_order<8>(c, fma(v, 40.0, -1.0));
  } else {
    double c[12];
    at_argument<12>(temme_near, 20, w, c);
    sum = at_order<12>(c, fma(v, 13.333333333333334, -1.6666666666666667));
  }
  const double e = exp(-a * half_square), scale = e * 0.3989422804014327 / sqrt(a), rest = scale * sum;
  const double r = stirling_rest(a);
  factor = scale * (1.0 - r * (1.0 - r * 0.5 * (1.0 - r * (1.0 / 3.0) * (1.0 - r * 0.25 * (1.0 - r * 0.2)))));
  const double z = eta * sqrt(0.5 * a), t = lower ? -z : z;
  // erfc(t) from the exponential that is there.
  const double outside = 0.5 * e * erfcx_positive(fabs(t)), half_erfc = t > 0.0 ? outside : 1.0 - outside;
  return lower ? half_erfc - rest : half_erfc + rest;
}
/// Tells whether Q is the smaller part, so that P is 1 - Q.
BC_FN bool upper_is_small(double a, double x) {
  return x > 1.5 ? x > a + 0.25 : (x > 0.5 ? x + 0.25 > a : a * log(x) > -0.6931471805599453);
}
/// P, or Q with `upper`, for a > 0 and finite x > 0; and x^a e^-x / gamma(a + 1).
BC_FN double gammainc_either(double a, double x, bool upper, double& factor) {
  if (is_uniform(a, x)) return gammainc_uniform(a, x, !upper, factor);
  factor = gammainc_factor(a, x);
  if (factor == 0.0) return (x > a) == upper ? 0.0 : 1.0;  // before the sums' terms overflow
  if (!upper_is_small(a, x)) {
    const double p = factor * gammainc_series(a, x);
    return upper ? 1.0 - p : p;
  }
  const double q = x > 1.5 ? factor * gammaincc_fraction(a, x) : gammaincc_small(a, x);
  return upper ? q : 1.0 - q;
}
BC_RARE double gammainc_parts(double a, double x, bool upper, double& factor) { return gammainc_either(a, x, upper, factor); }
/// Apart, so that what only the factor needs is left out.
BC_RARE double gammainc_part(double a, double x, bool upper) {
  double factor;
  return gammainc_either(a, x, upper, factor);
}
BC_FN double gammainc(double a, double x) {
  if (!(a >= 0.0 && x >= 0.0)) return nan();
  if (a == 0.0) return x > 0.0 ? 1.0 : nan();
  if (x == 0.0) return 0.0;
  if (a == inf()) return x == inf() ? nan() : 0.0;
  return x == inf() ? 1.0 : gammainc_part(a, x, false);
}
BC_FN double gammaincc(double a, double x) {
  if (!(a >= 0.0 && x >= 0.0)) return nan();
  if (a == 0.0) return x > 0.0 ? 0.0 : nan();
  if (x == 0.0) return 1.0;
  if (a == inf()) return x == inf() ? nan() : 1.0;
  return x == inf() ? 0.0 : gammainc_part(a, x, true);
}

/// The number after x for a root in (low, high) that is to be log(x) + step in the logarithm.
BC_FN double next_inside(double x, double step, double low, double high) {
  const double next = x * exp(step < -700.0 ? -700.0 : (step > 700.0 ? 700.0 : step));  // NaN for a step that is none
  if (next > low && next < high) return next;
  if (low > 0.0 && high < inf()) return sqrt(low) * sqrt(high);
  return low > 0.0 ? 16.0 * low : 0.0625 * high;
}
/// The normal distribution's quantile of a probability p <= 1 / 2, whose logarithm is l, to seven digits (Wichura, Applied Statistics 37,
/// 1988, Algorithm AS 241): to begin an iteration with.
BC_FN double roughly_ndtri(double p, double l) {
  const double q = p - 0.5, r = 0.180625 - q * q;
  if (p > 0.075) {
    return q * fma(fma(fma(59.10937472, r, 159.29113202), r, 50.434271938), r, 3.3871327179) /
           fma(fma(fma(67.1875636, r, 78.757757664), r, 17.895169469), r, 1.0);
  }
  const double root = sqrt(-l), s = root <= 5.0 ? root - 1.6 : root - 5.0;
  return root <= 5.0 ? -fma(fma(fma(0.17023821103, s, 1.3067284816), s, 2.75681539), s, 1.4234372777) /
                           fma(fma(0.12021132975, s, 0.7370016425), s, 1.0)
                     : -fma(fma(fma(0.017337203997, s, 0.42868294337), s, 3.081226386), s, 6.657905115) /
                           fma(fma(0.012258202635, s, 0.24197894225), s, 1.0);
}
/// The root's distance from u of a function F(u) with F' = slope, F'' = slope (turn - slope) and turn' = -bend, where newton is -F / slope:
/// the inverse function's Taylor series to the fourth power (Gil, Segura & Temme, SIAM J. Sci. Comput. 34, 2012), or Halley's step where
/// that is not exact.
BC_FN double root_distance(double newton, double slope, double turn, double bend, double bend_slope, bool& exact) {
  const double g = turn - slope, h = g * g - bend - slope * g, g_slope = -bend - slope * g;
  const double k = 2.0 * g * g_slope - bend_slope - slope * g * g - slope * g_slope + g * h;
  const double c2 = -0.5 * g, c3 = 0.5 * g * g - h * (1.0 / 6.0), c4 = g * (h * (5.0 / 12.0) - 0.625 * g * g) - k * (1.0 / 24.0);
  const double reach = fabs(newton) * (1.0 + fabs(g) + sqrt(fabs(h)) + sqrt(bend)), square = reach * reach;
  exact = fabs(newton) * (square * square) < 1e-15 && square < 0.01;
  if (exact) return newton * fma(newton, fma(newton, fma(newton, c4, c3), c2), 1.0);
  const double scale = 1.0 - c2 * newton;
  return scale > 0.5 ? newton / scale : newton;
}
/// x e^step for |step| < 0.01
BC_FN double moved(double x, double step) {
  return fma(x, step * fma(step, fma(step, fma(step, fma(step, 1.0 / 120.0, 1.0 / 24.0), 1.0 / 6.0), 0.5), 1.0), x);
}
/// The x with P(a, x) = p and Q(a, x) = q = 1 - p, of which the smaller counts: root_distance for the logarithms of that part and of x,
/// inside a bracket. The first guess is Wilson and Hilferty's, or the first term of the series (DiDonato & Morris, ACM TOMS 12, 1986).
BC_RARE double gammainc_inverse(double a, double p, double q) {
  if (a == inf()) return nan();
  const bool upper = q < p;
  const double goal = log(upper ? q : p), z = upper ? -roughly_ndtri(q, goal) : roughly_ndtri(p, goal), w = 1.0 / (9.0 * a);
  const double cube = 1.0 - w + z * sqrt(w);
  double t = a > 0.5 && cube > 0.2 ? log(a) + 3.0 * log(cube) : ((upper ? log1p(-q) : goal) + gammaln(a + 1.0)) / a;
  if (a <= 0.5 && upper && q < 0.1) t = log(-goal + 1e-3);
  if (t < -745.0) return exp(t);
  double low = 0.0, high = inf(), x = exp(t < 709.0 ? t : 709.0);
  for (int i = 0; i < 200; ++i) {
    double factor;
    const double part = gammainc_parts(a, x, upper, factor), apart = log(part) - goal;
    // Both parts as functions of the logarithm are log-concave, so that the method goes astray only where the part vanishes.
    if ((apart > 0.0) != upper)
      high = x;
    else
      low = x;
    const double slope = (upper ? -a : a) * factor / part;
    bool exact;
    const double step = root_distance(-apart / slope, slope, a - x, x, x, exact);
    if (exact) return moved(x, step);
    const double next = next_inside(x, step, low, high);
    if (next == x) break;
    x = next;
  }
  return x;
}
BC_FN double gammaincinv(double a, double p) {
  if (!(a >= 0.0 && p >= 0.0 && p <= 1.0)) return nan();
  if (p == 0.0 || a == 0.0) return 0.0;
  return p == 1.0 ? inf() : gammainc_inverse(a, p, 1.0 - p);
}
BC_FN double gammainccinv(double a, double q) {
  if (!(a >= 0.0 && q >= 0.0 && q <= 1.0)) return nan();
  if (q == 1.0 || a == 0.0) return 0.0;
  return q == 0.0 ? inf() : gammainc_inverse(a, 1.0 - q, q);
}

// ---- beta
/// Tells whether one parameter is large and the other one is not, nor 1 / 2.
BC_FN bool is_uneven(double a, double b) { return (a >= 10.0) != (b >= 10.0) && a != 0.5 && b != 0.5; }
/// beta(a, 1/2), for which gamma(a) / gamma(a + 1/2) is stepped up.
BC_FN double half_beta(double a) {
  const bool low = a < 8.0;
  // The factors in pairs: b^2 - 3.5^2, in which a small a would lose its digits, b^2 - 2.5^2 ..., the same of c.
  const double b = a + 3.5, c = a + 4.0, d = b * b, e = c * c;
  const double below = low ? ((a * (a + 7.0)) * (d - 6.25)) * ((d - 2.25) * (d - 0.25)) : 1.0;
  const double above = low ? ((e - 12.25) * (e - 6.25)) * ((e - 2.25) * (e - 0.25)) : 1.0;
  const double w = (low ? a + 8.0 : a) - 0.25;
  return half_beta_far(1.0 / (w * w)) * above / (below * sqrt(w));
}
/// gamma(small) gamma(large) / gamma(s) s^small for s = small + large, small < 10 <= large, by Stirling's formula (DLMF 5.11.1).
BC_FN double scaled_beta(double small, double large) {
  const double s = small + large;
  double product, divisor;
  const double z = to_2_3(small, product, divisor);
  const double e = large * log_less(s / large, small / large) + (stirling_rest(s) - stirling_rest(large));
  return gamma_2_3(z) * product / divisor * sqrt(s / large) * exp(-e);
}
/// gamma(s) for 10 <= s < 20, where `rest` is missing from s.
BC_FN double gamma_10_20(double s, double rest) {
  const bool high = s >= 17.0;
  const double t = high ? s - 10.0 : s - 8.0, b = s - 4.5;  // the next eight factors in pairs: b^2 - 12.25, b^2 - 6.25 ...
  double product, divisor;
  const double z = to_2_3(t, product, divisor), square = b * b, first = gamma_2_3(z) * product / divisor;
  const double eight = ((square - 12.25) * (square - 6.25)) * ((square - 2.25) * (square - 0.25)), two = high ? t * (t + 1.0) : 1.0;
  return fma(first * two * eight, rest * fma(s, 0.07, 1.6), first * two * eight);  // digamma(s), roughly
}
/// beta(a, b), but 0 where both are large, and scaled_beta where one is.
BC_FN double betainc_whole(double a, double b) {
  if (a >= 10.0 && b >= 10.0) return 0.0;
  if (a == 0.5 || b == 0.5) return half_beta(a == 0.5 ? b : a);
  if (is_uneven(a, b)) return a < b ? scaled_beta(a, b) : scaled_beta(b, a);
  const double s = a + b, part = s - a;
  double pa, da, pb, db, ps, ds;
  const double za = to_2_3(a, pa, da), zb = to_2_3(b, pb, db), above = gamma_2_3(za) * pa * (gamma_2_3(zb) * pb), below = da * db;
  if (s >= 10.0) return above / (below * gamma_10_20(s, (a - (s - part)) + (b - part)));
  const double zs = to_2_3(s, ps, ds);
  return above / below * (ds / (gamma_2_3(zs) * ps));
}
/// x^a y^b / beta(a, b), y = 1 - x, and `whole` is betainc_whole(a, b); for large a and b from the distance to the maximum
/// (DiDonato & Morris, ACM TOMS 18, 1992).
BC_FN double betainc_factor(double a, double b, double x, double y, double whole) {
  const double s = a + b;
  if (a >= 10.0 && b >= 10.0) {
    const double l = x < y ? a - s * x : s * y - b;
    const double e = a * log_less(s * x / a, -l / a) + b * log_less(s * y / b, l / b);
    return 0.3989422804014327 * sqrt(a / s * b) * exp(e - (stirling_rest(a) + stirling_rest(b) - stirling_rest(s)));
  }
  const bool uneven = is_uneven(a, b), x_scaled = uneven && a < b, y_scaled = uneven && b < a;
  const double first = a == 0.5 ? sqrt(x) : (x < 0.9 || x_scaled ? power(x_scaled ? s * x : x, a) : exp(a * log1p(-y)));
  const double second = b == 0.5 ? sqrt(y) : (y < 0.9 || y_scaled ? power(y_scaled ? s * y : y, b) : exp(b * log1p(-x)));
  if (whole > 0.0 && whole < inf() && first > 1e-290 && second > 1e-290 && first < 1e290 && second < 1e290) return first * second / whole;
  return exp(a * (x < 0.9 ? log(x) : log1p(-y)) + b * (y < 0.9 ? log(y) : log1p(-x)) - betaln(a, b));
}
/// I_x(a, b) by betainc_factor: the even part of the continued fraction DLMF 8.17.22, one step for two (DiDonato & Morris, ACM TOMS 18,
/// 1992).
BC_FN double betainc_fraction(double a, double b, double x, double y) {
  const double s = a + b, square = x * x, distance = (a > b ? s * y - b : a - s * x) + 1.0;
  double over = 1.0 / (a + 1.0), m = 0.0;
  Convergents c{1.0, a * distance * over, 0.0, 1.0};
  for (int i = 0; i < 10000; ++i) {
    BC_UNROLL
    for (int j = 0; j < 2; ++j) {
      const double before = (a + m) * (s + m);
      m += 1.0;
      const double at = a + m, part = m * (b - m) * over, factor = before * square * (part * over);
      over = 1.0 / (at + m + 1.0);
      next_convergent(c, fma(x, part, m) + at * fma(m, 2.0 - x, distance) * over, factor);
    }
    if (has_converged(c)) break;
  }
  return c.below / c.above;
}
/// I_x(a, b) for a small b and y = 1 - x < 0.001, where both are near 0 and 1 - I_y(b, a) would leave no digits: the logarithm of
/// I_y(b, a) by its series (DLMF 8.17.8), and of b beta(a, b) by Gauss' rule for the integral of digamma(1 + u) - digamma(a + u) to b.
BC_RARE double betainc_small(double a, double b, double y) {
  double log_whole = 0.0;
  for (int i = 0; i < 6; ++i) {
    const int node = i >> 1;
    const double x = (i & 1 ? a : 1.0) + 0.5 * b * (1.0 + 0.7745966692414834 * (node - 1));
    const double value = x >= 10.0 ? digamma_far(x) : digamma_near(x);
    log_whole += (i & 1 ? -value : value) * (node == 1 ? 8.0 : 5.0);
  }
  double sum = 0.0, term = b;
  for (double k = 1.0; k < 1000.0; ++k) {
    term *= (k - a) / k * y;
    sum += term / (b + k);
    if (fabs(term) <= 1e-17 * fabs(sum)) break;
  }
  // -expm1(log(1 + sum) + b ...), where both are below 0.03
  sum *= 1.0 - sum * (0.5 - sum * (1.0 / 3.0 - sum * (0.25 - sum * (0.2 - sum / 6.0))));
  const double l = b * (log(y) - log_whole / 18.0) + sum;
  return -l * (1.0 + l / 2.0 * (1.0 + l / 3.0 * (1.0 + l / 4.0 * (1.0 + l / 5.0 * (1.0 + l / 6.0 * (1.0 + l / 7.0))))));
}
/// I_x(a, b) for positive finite numbers, y = 1 - x, and x^a y^b / beta(a, b).
BC_RARE double betainc_parts(double a, double b, double x, double y, double whole, double& factor) {
  factor = betainc_factor(a, b, x, y, whole);
  // Beyond the point where the other side's fraction converges faster, for a small b that side leaves no digits.
  if (x * (a + b + 2.0) <= a + 1.0 || (b < 1.0 && x < 0.9)) return factor * betainc_fraction(a, b, x, y);
  const double r = 1.0 - factor * betainc_fraction(b, a, y, x);
  if (x >= 0.999) return r < 0.02 ? betainc_small(a, b, y) : r;
  return r < 0.5 && b < 1.0 ? factor * betainc_fraction(a, b, x, y) : r;
}
/// I_x(a, b) for y = 1 - x.
BC_RARE double betainc_part(double a, double b, double x, double y) {
  if (!(a >= 0.0 && b >= 0.0 && x >= 0.0 && y >= 0.0) || (a == b && (a == 0.0 || a == inf()))) return nan();
  if (x == 0.0 || y == 0.0) return x == 0.0 ? 0.0 : 1.0;
  if (a == 0.0 || b == 0.0 || a == inf() || b == inf()) return a == 0.0 || b == inf() ? 1.0 : 0.0;
  double factor;
  return betainc_parts(a, b, x, y, betainc_whole(a, b), factor);
}
BC_FN double betainc(double a, double b, double x) { return betainc_part(a, b, x, 1.0 - x); }
BC_FN double betaincc(double a, double b, double x) { return betainc_part(b, a, 1.0 - x, x); }

/// t^2 / df roughly, for Student's t with df >= 1 degrees of freedom and the probability 2 q of more than |t| (Hill, CACM
/// Algorithm 396, 1970); log_q is the logarithm of q.
BC_FN double t_square(double df, double q, double log_q) {
  const double a = 1.0 / (df - 0.5), b = 48.0 / (a * a), c = ((20700.0 * a / b - 98.0) * a - 16.0) * a + 96.36;
  const double d = ((94.5 / (b + c) - 3.0) / b + 1.0) * sqrt(a * 0.5 * pi()) * df;
  double y = exp(2.0 / df * (log(2.0 * d) + log_q));
  if (y > 0.05 + a || (df < 2.1 && q > 0.25)) {
    const double x = roughly_ndtri(q, log_q);
    y = x * x;
    const double less = df < 5.0 ? 0.3 * (df - 4.5) * (x + 0.6) : 0.0;
    const double e = (((0.05 * d * x - 5.0) * x - 7.0) * x - 2.0) * x + b + c + less;
    y = (((((0.4 * y + 6.3) * y + 36.0) * y + 94.5) / e - y - 3.0) / b + 1.0) * x;
    return expm1(a * y * y);
  }
  return ((1.0 / (((df + 6.0) / (df * y) - 0.089 * d - 0.822) * (df + 2.0) * 3.0) + 0.5 / (df + 4.0)) * y - 1.0) * (df + 1.0) / (df + 2.0) +
         1.0 / y;
}
/// The odds x / (1 - x) with I_x(a, b) = p = 1 - q: root_distance for the logarithms of the smaller part and of the odds, inside a bracket.
BC_FN double betainc_inverse_odds(double a, double b, double p, double q) {
  const bool upper = q < p;
  const double part_goal = upper ? q : p, goal = log(part_goal), whole = betainc_whole(a, b);
  double t = 0.0, odds = 0.0;
  if (b == 0.5 && a >= 0.5 && p < 0.99) {
    odds = 1.0 / t_square(2.0 * a, 0.5 * p, (upper ? log(p) : goal) - 0.6931471805599453);
  } else if (a == 0.5 && b >= 0.5 && q < 0.99) {
    odds = t_square(2.0 * b, 0.5 * q, (upper ? goal : log(q)) - 0.6931471805599453);
  } else if (a >= 1.0 && b >= 1.0) {
    // Carter's approximation by the normal distribution (Abramowitz & Stegun 26.5.22).
    const double z = upper ? -roughly_ndtri(q, goal) : roughly_ndtri(p, goal), u = 1.0 / (2.0 * a - 1.0), v = 1.0 / (2.0 * b - 1.0),
                 h = 2.0 / (u + v);
    const double l = (z * z - 3.0) / 6.0, w = -z * sqrt(h + l > 0.0 ? h + l : 0.0) / h - (v - u) * (l + 5.0 / 6.0 - 2.0 / (3.0 * h));
    t = -2.0 * w - log(b / a);
  } else {
    // From the first term of the smaller side's series, at most the mean.
    const double ln_beta = betaln(a, b), mean = log(a / b);
    t = upper ? -(goal + log(b) + ln_beta) / b : (goal + log(a) + ln_beta) / a;
    t = upper ? (t < mean ? mean : t) : (t > mean ? mean : t);
  }
  if (!(odds > 0.0 && odds < 1e300)) odds = exp(t < -700.0 ? -700.0 : (t > 700.0 ? 700.0 : t));
  double low = 0.0, high = inf();
  for (int i = 0; i < 200; ++i) {
    const double x = odds < 1.0 ? odds / (1.0 + odds) : 1.0 / (1.0 + 1.0 / odds), y = 1.0 / (1.0 + odds);
    if (x == 0.0 || y == 0.0) break;
    double factor;
    const double part = upper ? betainc_parts(b, a, y, x, whole, factor) : betainc_parts(a, b, x, y, whole, factor);
    const double apart = log(part) - goal;
    if ((apart > 0.0) != upper)
      high = odds;
    else
      low = odds;
    const double slope = (upper ? -factor : factor) / part, bend = (a + b) * (x * y);
    bool exact;
    const double step = root_distance(-apart / slope, slope, a * y - b * x, bend, bend * (y - x), exact);
    const double next = exact ? moved(odds, step) : next_inside(odds, step, low, high);
    if (exact || next == odds) return next;
    odds = next;
  }
  return odds;
}
/// The x with I_x(a, b) = p, or 1 - x with `other`.
BC_RARE double betainc_inverse(double a, double b, double p, double q, bool other) {
  if (!(a > 0.0 && b > 0.0 && p >= 0.0 && q >= 0.0)) return nan();
  if (p == 0.0 || q == 0.0) return (p == 0.0) == other ? 1.0 : 0.0;
  if (a == inf() || b == inf()) return a == b ? nan() : ((a == inf()) == other ? 0.0 : 1.0);
  const double odds = betainc_inverse_odds(a, b, p, q);
  return other ? 1.0 / (1.0 + odds) : (odds < 1.0 ? odds / (1.0 + odds) : 1.0 / (1.0 + 1.0 / odds));
}
BC_FN double betaincinv(double a, double b, double p) { return betainc_inverse(a, b, p, 1.0 - p, false); }
BC_FN double betainccinv(double a, double b, double q) { return betainc_inverse(a, b, 1.0 - q, q, false); }

// ---- distributions
/// I_x(a, k + 1) for a whole k >= 0, x + y = 1, as a sum of k + 1 positive terms (DLMF 8.17.5), or NaN where another way is better. y is
/// the exact one with `from_y`.
BC_FN double binomial_sum(double k, double a, double x, double y, bool from_y) {
  if (!(k <= 16.0 && a > 0.0 && a < 1e3)) return nan();
  const double start = from_y && y < 0.1 ? exp(a * log1p(-y)) : power(x, a);
  double term = 1.0, sum = 1.0;
  for (double j = 0.0; j < k; j += 1.0) {
    term *= (a + j) * y / (j + 1.0);
    sum += term;
  }
  return start > 1e-200 ? start * sum : nan();
}
/// Q(k + 1, m) for a whole k >= 0 as a sum of k + 1 positive terms (DLMF 8.4.8), or NaN where another way is better.
BC_FN double poisson_sum(double k, double m) {
  if (!(k <= 24.0 && m > 0.0 && m < 500.0)) return nan();
  double term = 1.0, sum = 1.0;
  for (double j = 1.0; j <= k; j += 1.0) {
    term *= m / j;
    sum += term;
  }
  return exp(-m) * sum;
}
BC_FN double bdtr(double k, double n, double p) {
  k = floor(k);
  n = trunc(n);
  if (!(p >= 0.0 && p <= 1.0) || !(n >= k) || !(k >= 0.0)) return nan();
  if (n == k) return 1.0;
  const double sum = binomial_sum(k, n - k, 1.0 - p, p, true);
  return sum == sum ? sum : betainc_part(n - k, k + 1.0, 1.0 - p, p);
}
BC_FN double bdtrc(double k, double n, double p) {
  k = floor(k);
  n = trunc(n);
  if (!(p >= 0.0 && p <= 1.0) || !(n >= k)) return nan();
  if (k < 0.0) return 1.0;
  if (n == k) return 0.0;
  const double sum = binomial_sum(k, n - k, 1.0 - p, p, true);
  return sum < 0.5 ? 1.0 - sum : betainc_part(k + 1.0, n - k, p, 1.0 - p);
}
BC_FN double bdtri(double k, double n, double y) {
  k = floor(k);
  n = trunc(n);
  if (!(y >= 0.0 && y <= 1.0) || !(k >= 0.0) || !(n > k)) return nan();
  return betainc_inverse(n - k, k + 1.0, y, 1.0 - y, true);
}
BC_FN double btdtr(double a, double b, double x) { return betainc(a, b, x); }
BC_FN double btdtri(double a, double b, double p) { return betaincinv(a, b, p); }
BC_FN double nbdtr(double k, double n, double p) {
  k = trunc(k);
  n = trunc(n);
  if (!(p >= 0.0 && p <= 1.0) || !(k >= 0.0) || !(n > 0.0)) return nan();
  const double sum = binomial_sum(k, n, p, 1.0 - p, false);
  return sum == sum ? sum : betainc_part(n, k + 1.0, p, 1.0 - p);
}
BC_FN double nbdtrc(double k, double n, double p) {
  k = trunc(k);
  n = trunc(n);
  if (!(p >= 0.0 && p <= 1.0) || !(k >= 0.0) || !(n > 0.0)) return nan();
  const double sum = binomial_sum(k, n, p, 1.0 - p, false);
  return sum < 0.5 ? 1.0 - sum : betainc_part(k + 1.0, n, 1.0 - p, p);
}
BC_FN double nbdtri(double k, double n, double y) {
  k = trunc(k);
  n = trunc(n);
  return !(y >= 0.0 && y <= 1.0) || !(k >= 0.0) ? nan() : betainc_inverse(n, k + 1.0, y, 1.0 - y, false);
}
BC_FN double pdtr(double k, double m) {
  if (k < 0.0 || !(m >= 0.0)) return nan();
  if (m == 0.0) return 1.0;
  const double sum = poisson_sum(floor(k), m);
  return sum == sum ? sum : gammaincc(floor(k) + 1.0, m);
}
BC_FN double pdtrc(double k, double m) {
  if (k < 0.0 || !(m >= 0.0)) return nan();
  if (m == 0.0) return 0.0;
  const double sum = poisson_sum(floor(k), m);
  return sum < 0.5 ? 1.0 - sum : gammainc(floor(k) + 1.0, m);
}
BC_FN double pdtri(double k, double y) { return k <= -1.0 || !(y >= 0.0 && y < 1.0) ? nan() : gammainccinv(trunc(k) + 1.0, y); }
BC_FN double chdtr(double v, double x) { return gammainc(0.5 * v, 0.5 * x); }
BC_FN double chdtrc(double v, double x) { return gammaincc(0.5 * v, 0.5 * x); }
BC_FN double chdtri(double v, double y) { return 2.0 * gammainccinv(0.5 * v, y); }
BC_FN double fdtr(double a, double b, double x) {
  if (!(a > 0.0 && b > 0.0 && x >= 0.0)) return nan();
  if (x == inf()) return 1.0;
  return betainc_part(0.5 * a, 0.5 * b, a * x / (b + a * x), b / (b + a * x));
}
BC_FN double fdtrc(double a, double b, double x) {
  if (!(a > 0.0 && b > 0.0 && x >= 0.0)) return nan();
  if (x == inf()) return 0.0;
  return betainc_part(0.5 * b, 0.5 * a, b / (b + a * x), a * x / (b + a * x));
}
BC_FN double fdtri(double a, double b, double p) {
  if (!(a > 0.0 && b > 0.0 && p > 0.0 && p <= 1.0)) return nan();
  if (p < 1.0 && a < inf() && b < inf()) return b / a * betainc_inverse_odds(0.5 * a, 0.5 * b, p, 1.0 - p);
  const double x = betainc_inverse(0.5 * a, 0.5 * b, p, 1.0 - p, false), y = betainc_inverse(0.5 * a, 0.5 * b, p, 1.0 - p, true);
  return b * x / (a * y);
}
BC_FN double gdtr(double a, double b, double x) { return x < 0.0 ? nan() : gammainc(b, a * x); }
BC_FN double gdtrc(double a, double b, double x) { return x < 0.0 ? nan() : gammaincc(b, a * x); }

// Student's t. With many degrees of freedom, which cost the incomplete beta function digits, by the normal deviate of the same probability
// in powers of 1 / df (Hill, CACM Algorithm 395, 1970).
BC_FN double t_normal_correction(double df, double y) {
  const double b = 48.0 * (df - 0.5) * (df - 0.5), s = y * y;
  return y * ((s + 3.0) / b - (((4.0 * s + 33.0) * s + 240.0) * s + 855.0) / (10.0 * b) / b);
}
/// The probability of more than |t|, for one sign.
BC_FN double t_tail(double df, double t) {
  const double square = t * t, whole = df + square;
  if (fabs(t) == inf()) return 0.0;
  if (df > 1e4) {
    const double y = sqrt((df - 0.5) * log1p(square / df));
    if (y < 20.0 || df > 1e6) return ndtr(-y - t_normal_correction(df, y));
  }
  if (square < 1e200 * df) return 0.5 * betainc_part(0.5 * df, 0.5, df / whole, square / whole);
  // The argument of the incomplete beta function would underflow; its first term is all there is.
  return power(sqrt(df) / fabs(t), df) / (df * beta(0.5 * df, 0.5));
}
BC_RARE double stdtr(double df, double t) {
  if (!(df > 0.0) || t != t) return nan();
  if (df == inf()) return ndtr(t);
  const double tail = t_tail(df, t);
  return t <= 0.0 ? tail : 1.0 - tail;
}
BC_RARE double stdtrit(double df, double p) {
  if (!(df > 0.0) || !(p >= 0.0 && p <= 1.0)) return nan();
  if (df == inf()) return ndtri(p);
  if (p == 0.0 || p == 1.0) return p == 1.0 ? inf() : -inf();
  if (p == 0.5) return 0.0;
  const double q = p < 0.5 ? p : 1.0 - p;
  double t;
  if (df > 1e4) {
    const double z = -ndtri(q);
    double y = z;
    for (int i = 0; i < 4; ++i) y = z - t_normal_correction(df, y);
    t = sqrt(df * expm1(y * y / (df - 0.5)));
  } else {
    const double odds = betainc_inverse_odds(0.5 * df, 0.5, 2.0 * q, fabs(1.0 - 2.0 * p));
    t = sqrt(df) / sqrt(odds);
  }
  return p > 0.5 ? t : -t;
}

BC_SPECIAL_FLOAT2(gammainc)
BC_SPECIAL_FLOAT2(gammaincc)
BC_SPECIAL_FLOAT2(gammaincinv)
BC_SPECIAL_FLOAT2(gammainccinv)
BC_SPECIAL_FLOAT3(betainc)
BC_SPECIAL_FLOAT3(betaincc)
BC_SPECIAL_FLOAT3(betaincinv)
BC_SPECIAL_FLOAT3(betainccinv)
BC_SPECIAL_FLOAT3(bdtr)
BC_SPECIAL_FLOAT3(bdtrc)
BC_SPECIAL_FLOAT3(bdtri)
BC_SPECIAL_FLOAT3(btdtr)
BC_SPECIAL_FLOAT3(btdtri)
BC_SPECIAL_FLOAT3(nbdtr)
BC_SPECIAL_FLOAT3(nbdtrc)
BC_SPECIAL_FLOAT3(nbdtri)
BC_SPECIAL_FLOAT2(pdtr)
BC_SPECIAL_FLOAT2(pdtrc)
BC_SPECIAL_FLOAT2(pdtri)
BC_SPECIAL_FLOAT2(chdtr)
BC_SPECIAL_FLOAT2(chdtrc)
BC_SPECIAL_FLOAT2(chdtri)
BC_SPECIAL_FLOAT2(stdtr)
BC_SPECIAL_FLOAT2(stdtrit)
BC_SPECIAL_FLOAT3(fdtr)
BC_SPECIAL_FLOAT3(fdtrc)
BC_SPECIAL_FLOAT3(fdtri)
BC_SPECIAL_FLOAT3(gdtr)
BC_SPECIAL_FLOAT3(gdtrc)

}  // namespace special_rows
}  // namespace bc
