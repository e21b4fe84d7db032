// The error functions, their inverses, and the normal distribution's. Real arguments; float runs in double.
#pragma once
#include "gamma.h"

namespace bc {
namespace special_rows {

/// e^(-x^2 scale), scale a power of two, with what the square's rounding loses.
BC_FN double exp_minus_square(double x, double scale) {
  const double s = x * x, lo = fma(x, x, -s), e = exp(-s * scale);
  return s * scale > 750.0 ? 0.0 : fma(-e, lo * scale, e);
}
/// e^(x^2) erfc(x) for x >= 0, by the expansion of (1 + 2 x) e^(x^2) erfc(x) over all x (Shepherd & Laframboise, Mathematics of
/// Computation 36, 1981).
BC_FN double erfcx_positive(double x) {
  if (x > 1e9) return 0.5641895835477563 / x;
  return erfcx_scaled((x - 3.75) / (x + 3.75)) / (1.0 + 2.0 * x);
}
BC_FN double erf(double x) {
  const double a = fabs(x);
  if (a < 1.0) return x * erf_near(x * x);
  if (x != x) return x;
  return a > 6.0 ? copysign(1.0, x) : copysign(1.0 - exp_minus_square(a, 1.0) * erfcx_positive(a), x);
}
BC_FN double erfc(double x) {
  if (x != x) return x;
  if (x < 0.5) return x > -1.0 ? 1.0 - x * erf_near(x * x) : (x < -6.0 ? 2.0 : 2.0 - exp_minus_square(x, 1.0) * erfcx_positive(-x));
  return exp_minus_square(x, 1.0) * erfcx_positive(x);
}
BC_FN double erfcx(double x) {
  if (x != x) return x;
  if (x >= 0.0) return erfcx_positive(x);
  if (x < -26.7) return inf();
  const double s = x * x, lo = fma(x, x, -s), e = exp(s);
  return 2.0 * fma(e, lo, e) - erfcx_positive(-x);
}
/// erfinv(x) for x > 0 by w = -log(1 - x^2) (Giles, GPU Computing Gems, 2011, for the variables; the polynomials are our own).
/// Without branches, so that loops vectorise: every polynomial runs, inside its interval.
BC_FN double inverse_error(double x, double w) {
  const bool near = w < 4.0;
  const double s = sqrt(w), s1 = s < 2.0 ? 2.0 : s, s2 = s < 4.0 ? 4.0 : s, s3 = s < 10.0 ? 10.0 : s;
  const double first = erfinv_0(near ? w : 4.0), second = erfinv_1(s1 < 4.0 ? s1 : 4.0), third = erfinv_2(s2 < 10.0 ? s2 : 10.0),
               fourth = erfinv_3(s3);
  return near ? x * first : s * (s < 4.0 ? second : (s < 10.0 ? third : fourth));
}
/// erfinv(x) for 0 <= x < 1 and y = 1 - x, of which the smaller is exact.
BC_FN double inverse_error_parts(double x, double y) {
  // -log(1 - x^2), near x = 0 with what the subtraction loses.
  const double square = -x * x, near = 1.0 + square, u = x < 0.5 ? near : y * (2.0 - y), rest = x < 0.5 ? (square - (near - 1.0)) / u : 0.0;
  return inverse_error(x, -(log(u) + rest));
}
BC_FN double erfinv(double x) {
  const double a = fabs(x), y = 1.0 - a;
  const bool inside = a < 1.0;
  const double r = inverse_error_parts(inside ? a : 0.0, inside ? y : 1.0);
  return inside ? copysign(r, x) : (a == 1.0 ? copysign(inf(), x) : nan());
}
/// erfcinv for 0 <= y <= 1, else NaN.
BC_FN double erfcinv_lower(double y) {
  const bool inside = y > 0.0 && y <= 1.0;
  const double r = inverse_error_parts(inside ? 1.0 - y : 0.0, inside ? y : 1.0);
  return inside ? r : (y == 0.0 ? inf() : nan());
}
BC_FN double erfcinv(double y) {
  const bool upper = y > 1.0;
  const double r = erfcinv_lower(upper ? 2.0 - y : y);
  return upper ? -r : r;
}
BC_FN double ndtr(double x) {
  if (x != x) return x;
  const double z = x * 0.7071067811865476;
  if (fabs(z) < 1.0) return fma(0.5 * z, erf_near(z * z), 0.5);
  const double tail = 0.5 * exp_minus_square(x, 0.5) * erfcx_positive(fabs(z));
  return x < 0.0 ? tail : 1.0 - tail;
}
BC_FN double log_ndtr(double x) {
  if (x != x) return x;
  const double z = x * 0.7071067811865476;
  if (x < -1.0) return x == -inf() ? x : log(0.5 * erfcx_positive(-z)) - 0.5 * x * x;
  return log1p(-0.5 * (z < 0.5 ? 1.0 - z * erf_near(z * z) : exp_minus_square(x, 0.5) * erfcx_positive(z)));
}
/// Dawson's integral. Without branches, so that loops vectorise: every fit runs, inside its interval.
BC_FN double dawsn_fast(double a, u32&) {
  const double x = fabs(a), near = x < 1.5 ? x : 1.5, middle = x < 1.5 ? 1.5 : (x < 3.5 ? x : 3.5),
               y = x < 3.5 ? 3.5 : (x < 0x1p1000 ? x : 0x1p1000);
  const double v = 1.0 / y, u = v * v, outer = u < 0.03333333333333333 ? 0.03333333333333333 : u,
               far = u < 0.03333333333333333 ? u : 0.03333333333333333;
  const double tail = 0.5 * v * (u < 0.03333333333333333 ? dawsn_far(far) : dawsn_outer(outer));
  const double r = x < 1.5 ? near * dawsn_near(near * near) : (x < 3.5 ? dawsn_middle(middle) : tail);
  return copysign(x < inf() ? r : (x == x ? 0.0 : x), a);
}
/// -i erf(i x)
BC_FN double erfi_fast(double x, u32& flag) {
  const double size = fabs(x), inside = size < 28.0 ? size : 28.0, s = inside * inside, e = exp(0.5 * s);
  const double r = 1.1283791670955126 * dawsn_fast(inside, flag) * fma(e, fma(inside, inside, -s), e) * e;
  return copysign(size < 28.0 ? r : (x == x ? inf() : x), x);
}
BC_RARE double dawsn(double x) {
  u32 flag = 0;
  return dawsn_fast(x, flag);
}
BC_RARE double erfi(double x) {
  u32 flag = 0;
  return erfi_fast(x, flag);
}
/// The inverse of ndtr.
BC_FN double ndtri(double p) {
  const bool upper = p > 0.5;
  const double r = 1.4142135623730951 * erfcinv_lower(2.0 * (upper ? 1.0 - p : p));
  return upper ? r : 0.0 - r;
}

/// The inverse of log_ndtr, without branches: erfinv(1 - 2 p) for p = e^y, with w = -log(4 p (1 - p)) from y itself, which does not
/// underflow.
BC_FN double ndtri_exp_fast(double y, u32& flag) {
  const double inside = y < 0.0 && y > -780.0 ? y : -1.0, rest = -expm1(inside);
  const double half = (inside + 0.6931471805599453) + 2.3190468138462996e-17, w = -(log(rest) + (inside + 1.3862943611198906));
  const double r = 1.4142135623730951 * inverse_error(fabs(expm1(half)), w > 0.0 ? w : 0.0);
  flag |= y <= -780.0 ? 1u : 0u;
  return y < 0.0 ? (half < 0.0 ? -r : r) : (y == 0.0 ? inf() : nan());
}
/// Below -780 by Newton's method on log_ndtr.
BC_RARE double ndtri_exp(double y) {
  u32 flag = 0;
  const double inside = ndtri_exp_fast(y, flag);
  if (flag == 0 || y == -inf()) return flag == 0 ? inside : y;
  double x = -sqrt(-2.0 * y - log(-4.0 * pi() * y));
  for (int i = 0; i < 3; ++i) {
    const double scaled = erfcx_positive(-0.7071067811865476 * x);
    x -= (log(0.5 * scaled) - 0.5 * x * x - y) * scaled * 1.2533141373155003;
  }
  return x;
}

BC_SPECIAL_FLOAT1(erf)
BC_SPECIAL_FLOAT1(erfc)
BC_SPECIAL_FLOAT1(erfcx)
BC_SPECIAL_FLOAT1(erfinv)
BC_SPECIAL_FLOAT1(erfcinv)
BC_SPECIAL_FLOAT1(ndtr)
BC_SPECIAL_FLOAT1(log_ndtr)
BC_SPECIAL_FLOAT1(ndtri)
BC_SPECIAL_FLOAT1(ndtri_exp)
BC_SPECIAL_FLOAT_FAST1(ndtri_exp_fast)
BC_SPECIAL_FLOAT1(dawsn)
BC_SPECIAL_FLOAT1(erfi)
BC_SPECIAL_FLOAT_FAST1(dawsn_fast)
BC_SPECIAL_FLOAT_FAST1(erfi_fast)

}  // namespace special_rows
}  // namespace bc
