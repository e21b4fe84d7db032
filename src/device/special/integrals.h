// Exponential, sine and cosine integrals. Real arguments; float runs in double.
#pragma once
#include "gamma.h"

namespace bc {
namespace special_rows {

BC_FN double euler() { return 0.5772156649015329; }
/// e^x factor, where e^x alone may overflow.
BC_FN double exp_times(double x, double factor) { return x > 700.0 ? exp(x - 60.0) * (factor * 0x1.79dbc9dc53c66p+86) : exp(x) * factor; }

BC_FN double exp1(double x) {
  if (!(x > 0.0)) return x == 0.0 ? inf() : nan();
  if (x <= 1.0) return x * e1_near(x) - (log(x) + euler());
  if (x > 750.0) return 0.0;
  const double v = 1.0 / x;
  return exp(-x) * v * (x < 4.0 ? e1_middle(v) : e1_far(v));
}
BC_FN double expi(double x) {
  if (x != x) return x;
  if (x < 0.0) return -exp1(-x);
  if (x <= 6.0) return x == 0.0 ? -inf() : (log(x) + euler()) + x * ei_near(x);
  if (x > 720.0) return inf();
  const double v = 1.0 / x, r = x < 12.0 ? ei_0(v) : (x < 24.0 ? ei_1(v) : (x < 48.0 ? ei_2(v) : ei_3(v)));
  return exp_times(x, r * v);
}
/// Up to 1 the power series (DLMF 8.19.8), beyond it the continued fraction (DLMF 8.19.17).
BC_RARE double expn(double order, double x) {
  if (x != x || order != order) return x + order;
  const double n = trunc(order);
  if (n < 0.0 || x < 0.0) return nan();
  if (x == 0.0) return n < 2.0 ? inf() : 1.0 / (n - 1.0);
  if (n == 0.0) return exp(-x) / x;
  if (n == 1.0) return exp1(x);
  if (x > 750.0) return 0.0;
  if (x <= 1.0) {
    double sum = 1.0 / (n - 1.0), power_term = 1.0;
    for (double m = 1.0; m < 30.0; m += 1.0) {
      power_term *= -x / m;
      if (m != n - 1.0)
        sum -= power_term / (m - (n - 1.0));
      else
        sum += power_term * (digamma(n) - log(x));
    }
    return sum;
  }
  double b = x + n, before_above = 1.0 / b, above = 1.0, before_below = 0.0, below = before_above;
  for (double i = 1.0; i < 500.0; i += 1.0) {
    const double factor = -i * (n - 1.0 + i);
    b += 2.0;
    const double next_above = fma(b, above, factor * before_above), next_below = fma(b, below, factor * before_below);
    const bool done = fabs(next_below * above - below * next_above) < 1e-16 * fabs(next_below * above);
    const double scale = fabs(next_above) > 1e100 ? 1e-100 : 1.0;
    before_above = above * scale;
    above = next_above * scale;
    before_below = below * scale;
    below = next_below * scale;
    if (done) break;
  }
  return below / above * exp(-x);
}

/// The auxiliary functions f and g of x >= 4 (DLMF 6.2.17): Si = pi / 2 - f cos(x) - g sin(x), Ci = f sin(x) - g cos(x).
BC_FN void sine_integral_parts(double x, double& f, double& g) {
  const double v = 1.0 / x, u = v * v;
  f = v * (sici_f_above(u) / sici_f_below(u));
  g = u * (sici_g_above(u) / sici_g_below(u));
}
BC_RARE double sici_si(double a) {
  const double x = fabs(a);
  if (x <= 4.0) return a * si_near(x * x);
  if (!(x < inf())) return x != x ? x : copysign(0.5 * pi(), a);
  double f, g;
  sine_integral_parts(x, f, g);
  return copysign(0.5 * pi() - f * cos(x) - g * sin(x), a);
}
BC_RARE double sici_ci(double a) {
  const double x = fabs(a);
  if (x <= 4.0) return x == 0.0 ? -inf() : (log(x) + euler()) + x * x * ci_near(x * x);
  if (!(x < inf())) return a > 0.0 ? 0.0 : nan();
  double f, g;
  sine_integral_parts(x, f, g);
  return f * sin(x) - g * cos(x);
}
// Without branches, so that loops vectorise:
BC_FN double sici_si_fast(double a, u32& flag) {
  const double x = fabs(a), near = at_most(x, 4.0), far = at_most(at_least(x, 4.0), 0x1p1000);
  double f, g;
  sine_integral_parts(far, f, g);
  const double wave = 0.5 * pi() - f * cos_fast(far, flag) - g * sin_fast(far, flag);
  const double r = x <= 4.0 ? near * si_near(near * near) : (x < inf() ? wave : (x == x ? 0.5 * pi() : x));
  return copysign(r, a);
}
BC_FN double sici_ci_fast(double a, u32& flag) {
  const double x = fabs(a), near = at_most(at_least(x, 0x1p-1074), 4.0), far = at_most(at_least(x, 4.0), 0x1p1000), t = near * near;
  double f, g;
  sine_integral_parts(far, f, g);
  const double wave = f * sin_fast(far, flag) - g * cos_fast(far, flag), small = (log(near) + euler()) + t * ci_near(t);
  const double r = x <= 4.0 ? (x == 0.0 ? -inf() : small) : wave;
  return x < inf() ? r : (a > 0.0 ? 0.0 : nan());
}
BC_FN double shichi_shi(double a) {
  const double x = fabs(a);
  if (x <= 6.0) return a * shi_near(x * x);
  return x != x ? x : copysign(0.5 * (expi(x) + exp1(x)), a);
}
BC_FN double shichi_chi(double a) {
  const double x = fabs(a);
  if (x <= 6.0) return x == 0.0 ? -inf() : (log(x) + euler()) + x * x * chi_near(x * x);
  return x != x ? x : 0.5 * (expi(x) - exp1(x));
}

/// Fresnel's integrals S and C (DLMF 7.2.7, 7.2.8), beyond 2 by the auxiliary functions (7.5.3, 7.5.4). Without branches, so that loops
/// vectorise.
BC_FN double fresnel_part(double a, bool is_s) {
  const double x = fabs(a), near = x < 2.0 ? x : 2.0, far = x < 2.0 ? 2.0 : (x < 1e150 ? x : 1e150), t = near * near, tt = t * t;
  const double series = is_s ? near * t * fresnel_s_near(tt) : near * fresnel_c_near(tt);
  // pi / 2 x^2 from its distance to the nearest whole number of turns.
  const double square = far * far, rest = fma(far, far, -square), turn = 0.5 * (fma(-4.0, rint(0.25 * square), square) + rest);
  const double v = 1.0 / square, u = v * v, w = 0.3183098861837907 / far;
  const double f = w * (fresnel_f_above(u) / fresnel_f_below(u)),
               g = 0.3183098861837907 * w * v * (fresnel_g_above(u) / fresnel_g_below(u));
  const double s = sin_pi(turn), c = cos_pi(turn), wave = is_s ? 0.5 - f * c - g * s : 0.5 + f * s - g * c;
  return copysign(x < 2.0 ? series : (x == x ? wave : x), a);
}
BC_FN double fresnel_s_fast(double x, u32&) { return fresnel_part(x, true); }
BC_FN double fresnel_c_fast(double x, u32&) { return fresnel_part(x, false); }
BC_RARE double fresnel_s(double x) { return fresnel_part(x, true); }
BC_RARE double fresnel_c(double x) { return fresnel_part(x, false); }

BC_SPECIAL_FLOAT1(fresnel_s)
BC_SPECIAL_FLOAT_FAST1(fresnel_s_fast)
BC_SPECIAL_FLOAT1(fresnel_c)
BC_SPECIAL_FLOAT_FAST1(fresnel_c_fast)
BC_SPECIAL_FLOAT1(exp1)
BC_SPECIAL_FLOAT1(expi)
BC_SPECIAL_FLOAT2(expn)
BC_SPECIAL_FLOAT1(sici_si)
BC_SPECIAL_FLOAT_FAST1(sici_si_fast)
BC_SPECIAL_FLOAT1(sici_ci)
BC_SPECIAL_FLOAT_FAST1(sici_ci_fast)
BC_SPECIAL_FLOAT1(shichi_shi)
BC_SPECIAL_FLOAT1(shichi_chi)

}  // namespace special_rows
}  // namespace bc
