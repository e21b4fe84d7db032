// Short functions over exponentials and logarithms: logistic, information, losses, Box and Cox's, angles in degrees, Wright's omega. Real
// arguments; float runs in double.
#pragma once
#include "gamma.h"

namespace bc {
namespace special_rows {

BC_FN double expit(double x) {
  const double e = exp(-fabs(x));
  return (x < 0.0 ? e : 1.0) / (1.0 + e);
}
BC_FN double log_expit(double x) { return (x < 0.0 ? x : -0.0) - log1p(exp(-fabs(x))); }
/// log(p / (1 - p)); near 1/2 from the distance to it.
BC_FN double logit(double p) {
  const double s = 2.0 * (p - 0.5);
  return p > 0.25 && p < 0.75 ? log1p(s) - log1p(-s) : log(p / (1.0 - p));
}
BC_FN double xlogy(double x, double y) { return x == 0.0 && y == y ? 0.0 : x * log(y); }
BC_FN double xlog1py(double x, double y) { return x == 0.0 && y == y ? 0.0 : x * log1p(y); }
BC_FN double entr(double x) { return x > 0.0 ? -x * log(x) : (x == 0.0 ? 0.0 : (x != x ? x : -inf())); }
/// log(x / y) for positive numbers, from the rounded quotient and what it lacks, which keeps all digits near 1. Where the quotient or the
/// numbers are near the ends of the range, `flag` is set.
BC_FN double log_ratio_fast(double x, double y, u32& flag) {
  const double ratio = x / y;
  flag |= ratio > 1e-280 && ratio < 1e280 && x > 1e-280 && y < 1e280 ? 0u : 1u;
  return log(ratio) + fma(-ratio, y, x) / x;
}
BC_FN double log_ratio(double x, double y) {
  u32 flag = 0;
  const double r = log_ratio_fast(x, y, flag);
  return flag == 0 ? r : log(x) - log(y);
}
BC_FN u32 not_positive(double x, double y) { return x > 0.0 && y > 0.0 ? 0u : 1u; }
BC_FN double rel_entr_fast(double x, double y, u32& flag) {
  flag |= not_positive(x, y);
  return x * log_ratio_fast(x, y, flag);
}
BC_FN double rel_entr(double x, double y) {
  if (x != x || y != y) return nan();
  if (x > 0.0 && y > 0.0) return x * log_ratio(x, y);
  return x == 0.0 && y >= 0.0 ? 0.0 : inf();
}
/// x log(x / y) - x + y, where the logarithm is given; near x = y from the series of (1 + t) log(1 + t) - t.
BC_FN double kl_div_of(double x, double y, double l) {
  const double t = (x - y) / y;
  double sum = 0.0;
  BC_UNROLL
  for (int k = 16; k >= 2; --k) sum = fma(-sum, t, 1.0 / (k * (k - 1.0)));
  return fabs(t) < 0.1 ? y * t * t * sum : fma(x, l, y - x);
}
BC_FN double kl_div_fast(double x, double y, u32& flag) {
  flag |= not_positive(x, y);
  return kl_div_of(x, y, log_ratio_fast(x, y, flag));
}
BC_FN double kl_div(double x, double y) {
  if (x != x || y != y) return nan();
  if (x > 0.0 && y > 0.0 && x < inf() && y < inf()) return kl_div_of(x, y, log_ratio(x, y));
  return x == 0.0 && y >= 0.0 ? y : inf();
}
BC_FN double huber(double delta, double r) {
  if (delta < 0.0) return inf();
  const double a = fabs(r);
  return a <= delta ? 0.5 * r * r : delta * (a - 0.5 * delta);
}
/// delta^2 (sqrt(1 + (r / delta)^2) - 1), without the difference of near numbers.
BC_FN double pseudo_huber(double delta, double r) {
  if (delta < 0.0) return inf();
  if (delta == 0.0 || r == 0.0) return r != r ? r : 0.0;
  const double v = r / delta;
  if (fabs(v) > 1e8) return delta * fabs(r) - delta * delta;
  return delta * delta * (v * v / (sqrt(1.0 + v * v) + 1.0));
}
/// (e^(l t) - 1) / l, where e^(l t) may overflow.
BC_FN double box_cox(double t, double l) {
  if (l * t > 709.0) return exp(0.5 * l * t) / l * exp(0.5 * l * t);
  return fabs(l) < 1e-19 || (t == 0.0 && fabs(l) < inf()) ? t : (fabs(l) < 1e-8 && fabs(l * t) < 1e-16 ? t : expm1(l * t) / l);
}
BC_FN double boxcox(double x, double l) {
  const double t = log(x);
  if (l * t > 709.0 && x > 0.0) return power(x, 0.5 * l) / l * power(x, 0.5 * l);
  return fabs(l * t) > 1.0 && x > 0.0 && l != 0.0 ? (power(x, l) - 1.0) / l : (x == 0.0 && l > 0.0 ? -1.0 / l : box_cox(t, l));
}
BC_FN double boxcox1p(double x, double l) { return x == -1.0 && l > 0.0 ? -1.0 / l : box_cox(log1p(x), l); }
/// log(1 + l y), where the product may overflow.
BC_FN double log1p_product(double l, double y) {
  const double p = l * y;
  return p < inf() ? log1p(p) : log(fabs(l)) + log(fabs(y));
}
BC_FN double inv_boxcox(double y, double l) { return l == 0.0 ? exp(y) : exp(log1p_product(l, y) / l); }
BC_FN double inv_boxcox1p(double y, double l) { return l == 0.0 ? expm1(y) : (fabs(l * y) < 1e-154 ? y : expm1(log1p_product(l, y) / l)); }
/// (e^x - 1) / x
BC_FN double exprel(double x) { return fabs(x) < 1e-16 ? 1.0 : (x == inf() ? x : expm1(x) / x); }
/// cos(x) - 1
BC_FN double cosm1(double x) {
  const double s = sin(0.5 * x);
  return 0.0 - 2.0 * s * s;
}
BC_FN double exp10(double x) { return power(10.0, x); }

/// The sine of r degrees and of quarters more, |r| <= 45.
BC_FN double sin_degrees(double r, double quarters) {
  const double odd = quarters - 2.0 * floor(0.5 * quarters), half = quarters - 4.0 * floor(0.25 * quarters);
  const double a = r * 0x1.1df46a2529d39p-6, v = odd != 0.0 ? cos(a) : sin(a);
  return half >= 2.0 ? -v : v;
}
BC_FN double sindg(double x) {
  const double r = fmod(x, 360.0), q = rint(r / 90.0), part = r - 90.0 * q;
  return part == 0.0 && q == 2.0 * rint(0.5 * q) ? copysign(0.0, x) : sin_degrees(part, q);
}
BC_FN double cosdg(double x) {
  const double r = fabs(fmod(x, 360.0)), q = rint(r / 90.0), part = r - 90.0 * q;
  return part == 0.0 && q != 2.0 * rint(0.5 * q) ? 0.0 : sin_degrees(part, q + 1.0);
}
/// The tangent of r degrees, |r| <= 45, exact at its end.
BC_FN double tan_degrees(double r) { return fabs(r) == 45.0 ? copysign(1.0, r) : tan(r * 0x1.1df46a2529d39p-6); }
/// The tangent of x degrees; inf at its poles.
BC_FN double tandg(double x) {
  const double r = fmod(x, 180.0), q = rint(r / 90.0), part = r - 90.0 * q;
  if (part == 0.0) return q == 0.0 || q == 2.0 || q == -2.0 ? copysign(0.0, x) : copysign(inf(), x);
  const double t = tan_degrees(part);
  return q == 1.0 || q == -1.0 ? -1.0 / t : t;
}
BC_FN double cotdg(double x) {
  const double r = fmod(x, 180.0), q = rint(r / 90.0), part = r - 90.0 * q;
  if (part == 0.0) return q == 0.0 || q == 2.0 || q == -2.0 ? copysign(inf(), x) : 0.0;
  const double t = tan_degrees(part);
  return q == 1.0 || q == -1.0 ? -t : 1.0 / t;
}
/// Degrees, minutes and seconds as radians.
BC_FN double radian(double d, double m, double s) { return ((d * 60.0 + m) * 60.0 + s) * 4.84813681109536e-06; }

/// Wright's omega function of a real number: w + log(w) = x. Two steps of Fritsch, Shafer and Crowley's fourth-order iteration (Lawrence,
/// Corless & Jeffrey, Algorithm 917, ACM TOMS 38, 2012). Without branches, so that loops vectorise.
BC_FN double wrightomega_fast(double x, u32&) {
  const double low = at_most(x, 1.0), high = at_least(x, 1.0), e = exp(low);
  const double middle = exp((low - 1.0) * (2.0 / 3.0)), far = high - log(high) * (1.0 - 1.0 / high);
  double w = x < 1.0 ? (x < -2.0 ? e : middle) : far;
  BC_UNROLL
  for (int i = 0; i < 2; ++i) {
    // For small w the logarithms of both would cancel.
    const double l = log(x < 1.0 ? e / w : w), r = x < 1.0 ? l - w : x - w - l;
    const double one = w + 1.0, two = 2.0 * one * fma(r, 2.0 / 3.0, one);
    w = fma(w, r * (two - r) / (one * (two - 2.0 * r)), w);
  }
  return x < -38.0 ? e : (x < 1e20 ? w : x);
}
BC_RARE double wrightomega(double x) {
  u32 flag = 0;
  return wrightomega_fast(x, flag);
}

BC_SPECIAL_FLOAT1(wrightomega)
BC_SPECIAL_FLOAT_FAST1(wrightomega_fast)
BC_SPECIAL_FLOAT1(expit)
BC_SPECIAL_FLOAT1(log_expit)
BC_SPECIAL_FLOAT1(logit)
BC_SPECIAL_FLOAT2(xlogy)
BC_SPECIAL_FLOAT2(xlog1py)
BC_SPECIAL_FLOAT1(entr)
BC_SPECIAL_FLOAT2(rel_entr)
BC_SPECIAL_FLOAT_FAST2(rel_entr_fast)
BC_SPECIAL_FLOAT2(kl_div)
BC_SPECIAL_FLOAT_FAST2(kl_div_fast)
BC_SPECIAL_FLOAT2(huber)
BC_SPECIAL_FLOAT2(pseudo_huber)
BC_SPECIAL_FLOAT2(boxcox)
BC_SPECIAL_FLOAT2(boxcox1p)
BC_SPECIAL_FLOAT2(inv_boxcox)
BC_SPECIAL_FLOAT2(inv_boxcox1p)
BC_SPECIAL_FLOAT1(exprel)
BC_SPECIAL_FLOAT1(cosm1)
BC_SPECIAL_FLOAT1(exp10)
BC_SPECIAL_FLOAT1(sindg)
BC_SPECIAL_FLOAT1(cosdg)
BC_SPECIAL_FLOAT1(tandg)
BC_SPECIAL_FLOAT1(cotdg)
BC_SPECIAL_FLOAT3(radian)

}  // namespace special_rows
}  // namespace bc
