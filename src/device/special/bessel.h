// Bessel functions of whole order. Real arguments; float runs in double.
#pragma once
#include "../special.h"
#include "gamma.h"

namespace bc {
namespace special_rows {

BC_FN double i0e(double x) { return fabs(x) <= 16.0 ? i0(x) * exp(-fabs(x)) : i0_far(fabs(x)); }
BC_FN double i1e(double x) { return fabs(x) <= 16.0 ? bessel_i1(x) * exp(-fabs(x)) : copysign(bessel_i1_far(fabs(x)), x); }

/// sqrt(x) e^x K0(x) for x > 2
BC_FN double k0_scaled(double x) { return x < 8.0 ? k0_middle(1.0 / x) : k0_far(1.0 / x); }
BC_FN double k1_scaled(double x) { return x < 8.0 ? k1_middle(1.0 / x) : k1_far(1.0 / x); }
/// Up to 2 the form with the logarithm (DLMF 10.31.1).
BC_FN double k0_small(double x) { return k0_near(x * x) - log(0.5 * x) * i0(x); }
BC_FN double k1_small(double x) { return fma(log(0.5 * x), bessel_i1(x), 1.0 / x) + x * k1_near(x * x); }
BC_FN double k0(double x) {
  if (!(x > 0.0)) return x == 0.0 ? inf() : nan();
  return x <= 2.0 ? k0_small(x) : (x > 800.0 ? 0.0 : k0_scaled(x) * (exp(-x) / sqrt(x)));
}
BC_FN double k1(double x) {
  if (!(x > 0.0)) return x == 0.0 ? inf() : nan();
  return x <= 2.0 ? k1_small(x) : (x > 800.0 ? 0.0 : k1_scaled(x) * (exp(-x) / sqrt(x)));
}
BC_FN double k0e(double x) {
  if (!(x > 0.0)) return x == 0.0 ? inf() : nan();
  return x <= 2.0 ? k0_small(x) * exp(x) : k0_scaled(x) / sqrt(x);
}
BC_FN double k1e(double x) {
  if (!(x > 0.0)) return x == 0.0 ? inf() : nan();
  return x <= 2.0 ? k1_small(x) * exp(x) : k1_scaled(x) / sqrt(x);
}

/// Hankel's expansion from 8 on (DLMF 10.17.3): p cos(x - turn) - q sin(x - turn), the turn of 1/4 or 3/4 of pi taken by the sum of sine
/// and cosine.
BC_FN double hankel_wave(double x, double p, double q, double along, double across) {
  return 0.5641895835477563 / sqrt(x) * (p * along + q * across);
}
BC_RARE double j0(double a) {
  const double x = fabs(a);
  if (x <= 4.0) return j0_near(x * x);
  if (x <= 8.0) return j0_middle(x);
  if (!(x < inf())) return x != x ? x : 0.0;
  const double v = 1.0 / x, u = v * v, s = sin(x), c = cos(x);
  return hankel_wave(x, hankel_p0(u), v * hankel_q0(u), c + s, c - s);
}
BC_RARE double j1(double a) {
  const double x = fabs(a);
  if (x <= 4.0) return a * j1_near(x * x);
  if (x <= 8.0) return copysign(1.0, a) * j1_middle(x);
  if (!(x < inf())) return x != x ? x : copysign(0.0, a);
  const double v = 1.0 / x, u = v * v, s = sin(x), c = cos(x);
  return copysign(1.0, a) * hankel_wave(x, hankel_p1(u), v * hankel_q1(u), s - c, c + s);
}
BC_RARE double y0(double x) {
  if (!(x > 0.0)) return x == 0.0 ? -inf() : nan();
  if (x <= 2.0) return fma(0.6366197723675814 * log(0.5 * x), j0_near(x * x), y0_near(x * x));
  if (x <= 8.0) return x <= 4.5 ? y0_middle(x) : y0_far(x);
  if (x == inf()) return 0.0;
  const double v = 1.0 / x, u = v * v, s = sin(x), c = cos(x);
  return hankel_wave(x, hankel_p0(u), v * hankel_q0(u), s - c, c + s);
}
BC_RARE double y1(double x) {
  if (!(x > 0.0)) return x == 0.0 ? -inf() : nan();
  if (x <= 2.0) return x * fma(0.6366197723675814 * log(0.5 * x), j1_near(x * x), y1_near(x * x)) - 0.6366197723675814 / x;
  if (x <= 8.0) return x <= 4.5 ? y1_middle(x) : y1_far(x);
  if (x == inf()) return 0.0;
  const double v = 1.0 / x, u = v * v, s = sin(x), c = cos(x);
  return hankel_wave(x, hankel_p1(u), v * hankel_q1(u), negative(c + s), s - c);
}
// Forms without branches, in which all fits run, each inside its interval: so loops vectorise.
BC_FN double j0_fast(double a, u32& flag) {
  const double x = fabs(a), near = at_most(x, 4.0), middle = at_most(at_least(x, 4.0), 8.0), far = at_most(at_least(x, 8.0), 0x1p1000);
  const double v = 1.0 / far, u = v * v, s = sin_fast(far, flag), c = cos_fast(far, flag);
  const double wave = hankel_wave(far, hankel_p0(u), v * hankel_q0(u), c + s, c - s);
  const double r = x <= 4.0 ? j0_near(near * near) : (x <= 8.0 ? j0_middle(middle) : wave);
  return x < inf() ? r : (x == x ? 0.0 : x);
}
BC_FN double j1_fast(double a, u32& flag) {
  const double x = fabs(a), near = at_most(x, 4.0), middle = at_most(at_least(x, 4.0), 8.0), far = at_most(at_least(x, 8.0), 0x1p1000);
  const double v = 1.0 / far, u = v * v, s = sin_fast(far, flag), c = cos_fast(far, flag);
  const double wave = hankel_wave(far, hankel_p1(u), v * hankel_q1(u), s - c, c + s);
  const double r = x <= 4.0 ? near * j1_near(near * near) : (x <= 8.0 ? j1_middle(middle) : wave);
  return x < inf() ? (a < 0.0 ? -r : (a == 0.0 ? a : r)) : (x == x ? copysign(0.0, a) : x);
}
BC_FN double y0_fast(double x, u32& flag) {
  const double near = at_most(at_least(x, 0x1p-1074), 2.0), middle = at_most(at_least(x, 2.0), 4.5), outer = at_most(at_least(x, 4.5), 8.0);
  const double far = at_most(at_least(x, 8.0), 0x1p1000), v = 1.0 / far, u = v * v, s = sin_fast(far, flag), c = cos_fast(far, flag);
  const double wave = hankel_wave(far, hankel_p0(u), v * hankel_q0(u), s - c, c + s), t = near * near;
  const double small = fma(0.6366197723675814 * log(0.5 * near), j0_near(t), y0_near(t));
  const double r = x <= 2.0 ? small : (x <= 8.0 ? (x <= 4.5 ? y0_middle(middle) : y0_far(outer)) : wave);
  return x > 0.0 ? (x < inf() ? r : 0.0) : (x == 0.0 ? -inf() : nan());
}
BC_FN double y1_fast(double x, u32& flag) {
  const double near = at_most(at_least(x, 0x1p-1074), 2.0), middle = at_most(at_least(x, 2.0), 4.5), outer = at_most(at_least(x, 4.5), 8.0);
  const double far = at_most(at_least(x, 8.0), 0x1p1000), v = 1.0 / far, u = v * v, s = sin_fast(far, flag), c = cos_fast(far, flag);
  const double wave = hankel_wave(far, hankel_p1(u), v * hankel_q1(u), negative(c + s), s - c), t = near * near;
  const double small = near * fma(0.6366197723675814 * log(0.5 * near), j1_near(t), y1_near(t)) - 0.6366197723675814 / near;
  const double r = x <= 2.0 ? small : (x <= 8.0 ? (x <= 4.5 ? y1_middle(middle) : y1_far(outer)) : wave);
  return x > 0.0 ? (x < inf() ? r : 0.0) : (x == 0.0 ? -inf() : nan());
}
/// y0, and y1 besides: beyond 8 with the same sine and cosine.
BC_FN double y0_and_y1(double x, double& one) {
  if (x <= 8.0 || x == inf()) {
    one = y1(x);
    return y0(x);
  }
  const double v = 1.0 / x, u = v * v, s = sin(x), c = cos(x);
  one = hankel_wave(x, hankel_p1(u), v * hankel_q1(u), negative(c + s), s - c);
  return hankel_wave(x, hankel_p0(u), v * hankel_q0(u), s - c, c + s);
}
/// Y of whole order by its recurrence upwards, which is stable (DLMF 10.6.1); NaN where that takes more than 1e5 steps.
BC_RARE double yn(double order, double x) {
  if (order != order || x != x) return order + x;
  const double n = trunc(fabs(order));
  const double sign = order < 0.0 && is_odd(n) ? -1.0 : 1.0;
  if (n == 0.0) return y0(x);
  if (!(x > 0.0)) return x == 0.0 ? -inf() * sign : nan();
  double now, before = y0_and_y1(x, now);
  const double step = 2.0 / x;
  for (double k = 1.0; k < n && now > -inf(); k += 1.0) {
    const double after = fma(k * step, now, -before);
    before = now;
    now = after;
    if (k > 1e5) return nan();
  }
  return sign * now;
}
/// Up to order 10, in steps that all elements take.
BC_FN double yn_fast(double order, double x, u32& flag) {
  const double n = trunc(fabs(order)), step = 2.0 / x;
  double before = y0_fast(x, flag), now = y1_fast(x, flag), r = n == 0.0 ? before : now;
  BC_UNROLL
  for (int k = 1; k < 10; ++k) {
    const double after = fma(k * step, now, -before);
    before = now;
    now = after;
    r = n == k + 1 ? now : r;
  }
  flag |= n <= 10.0 && x > 0.0 && r > -inf() && r < inf() ? 0u : 1u;
  return order < 0.0 && is_odd(n) ? -r : r;
}
/// The spherical y of whole order (DLMF 10.49.5, 10.51.1).
BC_RARE double spherical_yn(double order, double x) {
  if (x != x || order != order) return x + order;
  order = trunc(order);
  if (order < 0.0) return nan();
  const double sign = x < 0.0 && !is_odd(order) ? -1.0 : 1.0;
  x = fabs(x);
  if (x == inf()) return 0.0;
  if (x == 0.0) return -inf();
  double before = sign * (-cos(x) / x);
  if (order == 0.0) return before;
  double now = (before - sign * sin(x)) / x;
  const double step = 1.0 / x;
  for (double k = 1.0; k < order && fabs(now) < inf(); k += 1.0) {
    const double after = fma((2.0 * k + 1.0) * step, now, -before);
    before = now;
    now = after;
    if (k > 1e5) return nan();
  }
  return now;
}

BC_SPECIAL_FLOAT1(i0e)
BC_SPECIAL_FLOAT1(i1e)
BC_SPECIAL_FLOAT1(k0)
BC_SPECIAL_FLOAT1(k1)
BC_SPECIAL_FLOAT1(k0e)
BC_SPECIAL_FLOAT1(k1e)
BC_SPECIAL_FLOAT1(j0)
BC_SPECIAL_FLOAT_FAST1(j0_fast)
BC_SPECIAL_FLOAT1(j1)
BC_SPECIAL_FLOAT_FAST1(j1_fast)
BC_SPECIAL_FLOAT1(y0)
BC_SPECIAL_FLOAT_FAST1(y0_fast)
BC_SPECIAL_FLOAT1(y1)
BC_SPECIAL_FLOAT_FAST1(y1_fast)
BC_SPECIAL_FLOAT2(yn)
BC_SPECIAL_FLOAT_FAST2(yn_fast)
BC_SPECIAL_FLOAT2(spherical_yn)

}  // namespace special_rows
}  // namespace bc
