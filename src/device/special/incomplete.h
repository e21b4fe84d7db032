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
/// The series of P (DLMF 8.7.1) without its factor.
BC_FN double gammainc_series(double a, double x) {
  double term = 1.0, sum = 1.0;
  for (int n = 1; n < 2000; ++n) {
    term *= x / (a + n);
    sum += term;
    if (term < 1e-17 * sum) break;
  }
  return sum;
}
/// The continued fraction of Q (DLMF 8.9.2) without its factor, by the recurrence of numerators and denominators, which waits for no
/// division.
BC_FN double gammaincc_fraction(double a, double x) {
  double b = x + 1.0 - a, before_above = 1.0 / b, above = 1.0, before_below = 0.0, below = before_above;
  for (int i = 1; i < 2000; ++i) {
    const double factor = -i * (i - a);
    b += 2.0;
    const double next_above = fma(b, above, factor * before_above), next_below = fma(b, below, factor * before_below);
    const double change = next_below * above - below * next_above;
    const bool large = fabs(next_above) > 1e100;
    const double scale = large ? 1e-100 : 1.0;
    const bool done = fabs(change) < 1e-16 * fabs(next_below * above);
    before_above = above * scale;
    above = next_above * scale;
    before_below = below * scale;
    below = next_below * scale;
    if (done) break;
  }
  return below / above * a;
}
/// Q for small a and x, where 1 - P has no digits: the first term of P's alternating series apart (Gautschi, ACM TOMS 5, 1979).
BC_FN double gammaincc_small(double a, double x) {
  double sum = 0.0, power_term = 1.0;
  for (int n = 1; n < 60; ++n) {
    power_term *= -x / n;
    const double term = power_term / (a + n);
    sum += term;
    if (fabs(term) < 1e-18 * fabs(sum)) break;
  }
  const double log_part = a * log(x) - (a < 1.0 ? (a * (a - 1.0)) * gammaln_1_2(a + 1.0) : gammaln_positive(a + 1.0));
  return -expm1(log_part) - a * exp(log_part) * sum;
}
/// Tells whether Temme's uniform expansion serves: a >= 5 and |eta| <= 0.8.
BC_FN bool is_uniform(double a, double x) { return a >= 5.0 && x > 0.4 * a && x < 2.0 * a; }
/// Temme's uniform expansion (SIAM J. Math. Anal. 10, 1979; DLMF 8.12.3): Q, or P with `lower`; and nearly x^a e^-x / gamma(a + 1).
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
  factor = scale * (1.0 - r * (1.0 - 0.5 * r * (1.0 - r * (1.0 / 3.0))));
  const double z = eta * sqrt(0.5 * a), t = lower ? -z : z;
  // erfc(t) from the exponential that is there.
  const double half_erfc = t > 0.0 ? 0.5 * e * erfcx_positive(t) : 1.0 - 0.5 * e * erfcx_positive(-t);
  return lower ? half_erfc - rest : half_erfc + rest;
}
/// Tells whether Q is the smaller part, so that P is 1 - Q.
BC_FN bool upper_is_small(double a, double x) {
  return x > 1.5 ? x > a + 0.25 : (x > 0.5 ? x + 0.25 > a : a * log(x) > -0.6931471805599453);
}
/// P, or Q with `upper`, for a > 0 and finite x > 0; and x^a e^-x / gamma(a + 1), to few digits.
BC_RARE double gammainc_parts(double a, double x, bool upper, double& factor) {
  if (is_uniform(a, x)) return gammainc_uniform(a, x, !upper, factor);
  factor = gammainc_factor(a, x);
  if (!upper_is_small(a, x)) {
    const double p = factor * gammainc_series(a, x);
    return upper ? 1.0 - p : p;
  }
  const double q = x > 1.5 ? factor * gammaincc_fraction(a, x) : gammaincc_small(a, x);
  return upper ? q : 1.0 - q;
}
BC_FN double gammainc_part(double a, double x, bool upper) {
  double factor;
  return gammainc_parts(a, x, upper, factor);
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
/// Halley's step for a function of which `apart` is the value, `slope` the first derivative and `slope` (turn - slope) the second.
BC_FN double halley_step(double apart, double slope, double turn) {
  const double newton = -apart / slope, bend = 1.0 + 0.5 * newton * (turn - slope);
  return bend > 0.5 ? newton / bend : newton;
}
/// The x with P(a, x) = p and Q(a, x) = q = 1 - p, of which the smaller counts: Halley's method on the logarithms of that part and of x,
/// inside a bracket. The first guess is Wilson and Hilferty's, or the first term of the series (DiDonato & Morris, ACM TOMS 12, 1986).
BC_RARE double gammainc_inverse(double a, double p, double q) {
  if (a == inf()) return nan();
  const bool upper = q < p;
  const double goal = log(upper ? q : p), z = upper ? -ndtri(q) : ndtri(p), w = 1.0 / (9.0 * a);
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
    const double slope = (upper ? -a : a) * factor / part, step = halley_step(apart, slope, a - x);
    // The error after a step is about its cube.
    if (fabs(step) <= 1e-6) return fma(x, fma(0.5 * step, step, step), x);
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
/// x^a y^b / beta(a, b), y = 1 - x, and `whole` is beta(a, b) unless a and b are large; for large a and b from the distance to the maximum
/// (DiDonato & Morris, ACM TOMS 18, 1992).
BC_FN double betainc_factor(double a, double b, double x, double y, double whole) {
  if (a >= 10.0 && b >= 10.0) {
    const double s = a + b, l = x < y ? a - s * x : s * y - b;
    const double e = a * log_less(s * x / a, -l / a) + b * log_less(s * y / b, l / b);
    return 0.3989422804014327 * sqrt(a / s * b) * exp(e - (stirling_rest(a) + stirling_rest(b) - stirling_rest(s)));
  }
  const double first = x < 0.9 ? power(x, a) : exp(a * log1p(-y)), second = y < 0.9 ? power(y, b) : exp(b * log1p(-x));
  if (whole > 0.0 && whole < inf() && first > 1e-290 && second > 1e-290) return first * second / whole;
  return exp(a * (x < 0.9 ? log(x) : log1p(-y)) + b * (y < 0.9 ? log(y) : log1p(-x)) - betaln(a, b));
}
/// The continued fraction (DLMF 8.17.22), by the recurrence of numerators and denominators.
BC_FN double betainc_fraction(double a, double b, double x) {
  const double s = a + b;
  double before_above = 1.0, above = 1.0 - s * x / (a + 1.0), before_below = 1.0, below = 1.0;
  for (int m = 1; m < 20000; ++m) {
    const double m2 = 2.0 * m, even = m * (b - m) * x / ((a + m2 - 1.0) * (a + m2)),
                 odd = -(a + m) * (s + m) * x / ((a + m2) * (a + m2 + 1.0));
    const double middle_above = fma(even, before_above, above), middle_below = fma(even, before_below, below);
    const double next_above = fma(odd, above, middle_above), next_below = fma(odd, below, middle_below);
    const bool done = fabs(next_below * above - below * next_above) < 1e-16 * fabs(next_below * above);
    const double size = fabs(next_above), scale = size > 1e100 ? 1e-100 : (size < 1e-100 ? 1e100 : 1.0);
    before_above = middle_above * scale;
    before_below = middle_below * scale;
    above = next_above * scale;
    below = next_below * scale;
    if (done) break;
  }
  return below / above;
}
/// What betainc_factor is to get as beta(a, b).
BC_FN double betainc_whole(double a, double b) { return a >= 10.0 && b >= 10.0 ? 0.0 : beta(a, b); }
/// I_x(a, b) for positive finite numbers, y = 1 - x, and x^a y^b / beta(a, b).
BC_RARE double betainc_parts(double a, double b, double x, double y, double whole, double& factor) {
  factor = betainc_factor(a, b, x, y, whole);
  // Beyond the point where the other side's fraction converges faster, for a small b that side leaves no digits.
  if (x * (a + b + 2.0) <= a + 1.0 || (b < 1.0 && x < 0.9)) return factor * betainc_fraction(a, b, x) / a;
  const double r = 1.0 - factor * betainc_fraction(b, a, y) / b;
  return r < 0.5 && x < 0.999 && b < 1.0 ? factor * betainc_fraction(a, b, x) / a : r;
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

/// The x with I_x(a, b) = p, or 1 - x with `other`: Halley's method on the logarithms of the smaller part and of the odds x / (1 - x),
/// inside a bracket.
BC_RARE double betainc_inverse(double a, double b, double p, double q, bool other) {
  if (!(a > 0.0 && b > 0.0 && p >= 0.0 && q >= 0.0)) return nan();
  if (p == 0.0 || q == 0.0) return (p == 0.0) == other ? 1.0 : 0.0;
  if (a == inf() || b == inf()) return a == b ? nan() : ((a == inf()) == other ? 0.0 : 1.0);
  const bool upper = q < p;
  const double part_goal = upper ? q : p, goal = log(part_goal), whole = betainc_whole(a, b);
  double t;
  if (a >= 1.0 && b >= 1.0) {
    // Carter's approximation by the normal distribution (Abramowitz & Stegun 26.5.22).
    const double z = upper ? -ndtri(q) : ndtri(p), u = 1.0 / (2.0 * a - 1.0), v = 1.0 / (2.0 * b - 1.0), h = 2.0 / (u + v);
    const double l = (z * z - 3.0) / 6.0, w = -z * sqrt(h + l > 0.0 ? h + l : 0.0) / h - (v - u) * (l + 5.0 / 6.0 - 2.0 / (3.0 * h));
    t = -2.0 * w - log(b / a);
  } else {
    // From the first term of the smaller side's series, at most the mean.
    const double ln_beta = betaln(a, b), mean = log(a / b);
    t = upper ? -(goal + log(b) + ln_beta) / b : (goal + log(a) + ln_beta) / a;
    t = upper ? (t < mean ? mean : t) : (t > mean ? mean : t);
  }
  double low = 0.0, high = inf(), odds = exp(t < -700.0 ? -700.0 : (t > 700.0 ? 700.0 : t)), x = 0.0, y = 1.0;
  for (int i = 0; i < 200; ++i) {
    x = odds < 1.0 ? odds / (1.0 + odds) : 1.0 / (1.0 + 1.0 / odds);
    y = 1.0 / (1.0 + odds);
    if (x == 0.0 || y == 0.0) break;
    double factor;
    const double part = upper ? betainc_parts(b, a, y, x, whole, factor) : betainc_parts(a, b, x, y, whole, factor);
    const double apart = log(part) - goal;
    if ((apart > 0.0) != upper)
      high = odds;
    else
      low = odds;
    const double slope = (upper ? -factor : factor) / part, step = halley_step(apart, slope, a * y - b * x);
    const bool done = fabs(step) <= 1e-6;
    const double next = done ? fma(odds, fma(0.5 * step, step, step), odds) : next_inside(odds, step, low, high);
    if (done || next == odds) {
      x = next < 1.0 ? next / (1.0 + next) : 1.0 / (1.0 + 1.0 / next);
      y = 1.0 / (1.0 + next);
      break;
    }
    odds = next;
  }
  return other ? y : x;
}
BC_FN double betaincinv(double a, double b, double p) { return betainc_inverse(a, b, p, 1.0 - p, false); }
BC_FN double betainccinv(double a, double b, double q) { return betainc_inverse(a, b, 1.0 - q, q, false); }

// ---- distributions
BC_FN double bdtr(double k, double n, double p) {
  k = floor(k);
  n = trunc(n);
  if (!(p >= 0.0 && p <= 1.0) || !(n >= k) || !(k >= 0.0)) return nan();
  return n == k ? 1.0 : betainc_part(n - k, k + 1.0, 1.0 - p, p);
}
BC_FN double bdtrc(double k, double n, double p) {
  k = floor(k);
  n = trunc(n);
  if (!(p >= 0.0 && p <= 1.0) || !(n >= k)) return nan();
  if (k < 0.0) return 1.0;
  return n == k ? 0.0 : betainc_part(k + 1.0, n - k, p, 1.0 - p);
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
  if (!(p >= 0.0 && p <= 1.0) || !(k >= 0.0)) return nan();
  return betainc_part(n, k + 1.0, p, 1.0 - p);
}
BC_FN double nbdtrc(double k, double n, double p) {
  k = trunc(k);
  n = trunc(n);
  if (!(p >= 0.0 && p <= 1.0) || !(k >= 0.0)) return nan();
  return betainc_part(k + 1.0, n, 1.0 - p, p);
}
BC_FN double nbdtri(double k, double n, double y) {
  k = trunc(k);
  n = trunc(n);
  return !(y >= 0.0 && y <= 1.0) || !(k >= 0.0) ? nan() : betainc_inverse(n, k + 1.0, y, 1.0 - y, false);
}
BC_FN double pdtr(double k, double m) { return k < 0.0 || !(m >= 0.0) ? nan() : (m == 0.0 ? 1.0 : gammaincc(floor(k) + 1.0, m)); }
BC_FN double pdtrc(double k, double m) { return k < 0.0 || !(m >= 0.0) ? nan() : (m == 0.0 ? 0.0 : gammainc(floor(k) + 1.0, m)); }
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
  const double x = betainc_inverse(0.5 * a, 0.5 * b, p, 1.0 - p, false), y = betainc_inverse(0.5 * a, 0.5 * b, p, 1.0 - p, true);
  return b * x / (a * y);
}
BC_FN double gdtr(double a, double b, double x) { return x < 0.0 ? nan() : gammainc(b, a * x); }
BC_FN double gdtrc(double a, double b, double x) { return x < 0.0 ? nan() : gammaincc(b, a * x); }

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
BC_SPECIAL_FLOAT3(fdtr)
BC_SPECIAL_FLOAT3(fdtrc)
BC_SPECIAL_FLOAT3(fdtri)
BC_SPECIAL_FLOAT3(gdtr)
BC_SPECIAL_FLOAT3(gdtrc)

}  // namespace special_rows
}  // namespace bc
