// Elliptic integrals and Jacobi's functions of the parameter m. Real arguments; float runs in double.
#pragma once
#include "gamma.h"

namespace bc {
namespace special_rows {

/// The last step of duplication, from relative distances to the mean: of the first kind, and of the second (Carlson 1995).
BC_FN double carlson_rf_series(double u, double v) {
  const double w = -u - v, e2 = u * v - w * w, e3 = u * v * w;
  return 1.0 - e2 / 10.0 + e3 / 14.0 + e2 * e2 / 24.0 - 3.0 * e2 * e3 / 44.0 - 5.0 * e2 * e2 * e2 / 208.0 + 3.0 * e3 * e3 / 104.0 +
         e2 * e2 * e3 / 16.0;
}
BC_FN double carlson_rd_series(double u, double v) {
  const double w = -(u + v) / 3.0, uv = u * v, ww = w * w;
  const double e2 = uv - 6.0 * ww, e3 = (3.0 * uv - 8.0 * ww) * w, e4 = 3.0 * (uv - ww) * ww, e5 = uv * ww * w;
  return 1.0 - 3.0 * e2 / 14.0 + e3 / 6.0 + 9.0 * e2 * e2 / 88.0 - 3.0 * e4 / 22.0 - 9.0 * e2 * e3 / 52.0 + 3.0 * e5 / 26.0 -
         e2 * e2 * e2 / 16.0 + 3.0 * e3 * e3 / 40.0 + 3.0 * e2 * e4 / 20.0 + 45.0 * e2 * e2 * e3 / 272.0 - 9.0 * (e3 * e4 + e2 * e5) / 68.0;
}
/// Carlson's symmetric integral of the first kind, by duplication (Carlson, Numerical Algorithms 10, 1995; DLMF 19.36.1).
BC_RARE double carlson_rf(double x, double y, double z) {
  const double a0 = (x + y + z) / 3.0, dx = a0 - x, dy = a0 - y;
  const double spread = fabs(dx) > fabs(dy) ? fabs(dx) : fabs(dy), far = fabs(a0 - z) > spread ? fabs(a0 - z) : spread;
  double a = a0, scale = 1.0;
  for (int i = 0; i < 60 && far * scale * 400.0 > fabs(a); ++i, scale *= 0.25) {
    const double p = sqrt(x), q = sqrt(y), r = sqrt(z), l = p * q + p * r + q * r;
    x = 0.25 * (x + l);
    y = 0.25 * (y + l);
    z = 0.25 * (z + l);
    a = 0.25 * (a + l);
  }
  return carlson_rf_series(dx * scale / a, dy * scale / a) / sqrt(a);
}
/// K(1 - p). For p > 1, a negative parameter, by DLMF 19.7.2. Without branches, so that loops vectorise; and E below.
BC_FN double ellipkm1_fast(double p, u32&) {
  const bool inside = p > 0.0 && p < inf(), negative = p > 1.0;
  const double q = !inside ? 1.0 : (negative ? 1.0 / p : p);
  const double k = fma(-log(q), ellipk_log(q), ellipk_plain(q));
  return inside ? (negative ? k * sqrt(q) : k) : (p == 0.0 ? inf() : (p == inf() ? 0.0 : nan()));
}
BC_FN double ellipk_fast(double m, u32& flag) { return ellipkm1_fast(1.0 - m, flag); }
BC_RARE double ellipkm1(double p) {
  u32 flag = 0;
  return ellipkm1_fast(p, flag);
}
BC_FN double ellipk(double m) { return ellipkm1(1.0 - m); }
/// The arithmetic-geometric mean of numbers of one sign, by Gauss's relation to K (DLMF 19.8.5).
BC_FN double agm_fast(double a, double b, u32& flag) {
  const double size = fabs(a) < fabs(b) ? fabs(b) : fabs(a), q = (fabs(a) < fabs(b) ? fabs(a) : fabs(b)) / size, s = 1.0 + q;
  flag |= a * b > 0.0 && q > 1e-290 && size < 1e300 ? 0u : 1u;
  const double mean = 0.7853981633974483 * s * size / ellipkm1_fast(4.0 * q / (s * s), flag);
  return copysign(a == b ? size : mean, a);
}
BC_RARE double agm(double a, double b) {
  u32 flag = 0;
  const double r = agm_fast(a, b, flag);
  if (flag == 0) return r;
  if (a != a || b != b || (a > 0.0 && b < 0.0) || (a < 0.0 && b > 0.0)) return nan();
  if (a == 0.0 || b == 0.0) return fabs(a) == inf() || fabs(b) == inf() ? nan() : 0.0;
  if (fabs(a) == inf() || fabs(b) == inf()) return a + b;
  double x = fabs(a), y = fabs(b);
  for (int i = 0; i < 60 && fabs(x - y) > 1e-8 * x; ++i) {
    const double mean = 0.5 * x + 0.5 * y;
    y = sqrt(x) * sqrt(y);
    x = mean;
  }
  return copysign(0.5 * x + 0.5 * y, a);  // the next step, from which on all digits agree
}
/// The same, and Carlson's integral of the second kind of the numbers whose last is `z` (DLMF 19.36.2), by the same steps.
BC_RARE double carlson_rf_and_rd(double x, double y, double z, double& second) {
  const double a0 = (x + y + 3.0 * z) / 5.0, b0 = (x + y + z) / 3.0, dx = a0 - x, dy = a0 - y, ex = b0 - x, ey = b0 - y;
  const double spread = fabs(dx) > fabs(dy) ? fabs(dx) : fabs(dy), far = fabs(a0 - z) > spread ? fabs(a0 - z) : spread;
  double a = a0, b = b0, scale = 1.0, sum = 0.0;
  for (int i = 0; i < 60 && far * scale * 500.0 > fabs(a); ++i, scale *= 0.25) {
    const double p = sqrt(x), q = sqrt(y), r = sqrt(z), l = p * q + p * r + q * r;
    sum += scale / (r * (z + l));
    x = 0.25 * (x + l);
    y = 0.25 * (y + l);
    z = 0.25 * (z + l);
    a = 0.25 * (a + l);
    b = 0.25 * (b + l);
  }
  second = scale * carlson_rd_series(dx * scale / a, dy * scale / a) / (a * sqrt(a)) + 3.0 * sum;
  return carlson_rf_series(ex * scale / b, ey * scale / b) / sqrt(b);
}
/// E(phi, m) for sin, cos of |phi| <= pi / 2: the form whose terms have one sign (DLMF 19.25.9 for m < 0, else 19.25.10).
BC_FN double ellipe_part(double s, double c, double m) {
  // The square of a tiny sine would be denormal where the parameter is huge.
  const double cc = c * c, d = fma((1.0 - m) * s, s, cc), third = m * s * s * s / 3.0;
  if (m >= 0.0 && (m == 1.0 || d == 0.0)) return s;
  double second;
  const double first = m < 0.0 ? carlson_rf_and_rd(cc, d, 1.0, second) : carlson_rf_and_rd(cc, 1.0, d, second), p = 1.0 - m;
  if (m < 0.0) return s * first - third * second;
  return p * (s * first + third * second) + m * fabs(c) * s / sqrt(d);
}
BC_FN double ellipe_fast(double m, u32&) {
  const double p = 1.0 - m;
  const bool inside = p > 0.0 && p < inf(), negative = p > 1.0;
  const double q = !inside ? 1.0 : (negative ? 1.0 / p : p);
  const double e = fma(-log(q) * q, ellipe_log(q), ellipe_plain(q));
  return inside ? (negative ? e * sqrt(p) : e) : (p == 0.0 ? 1.0 : (p == inf() ? inf() : nan()));
}
BC_RARE double ellipe(double m) {
  u32 flag = 0;
  return ellipe_fast(m, flag);
}
/// phi = turns pi + rest, with pi in two numbers.
BC_FN double ellip_turns(double phi, double& rest) {
  const double n = rint(phi / pi());
  rest = fma(n, -0x1.1a62633145c07p-53, fma(n, -pi(), phi));
  return n;
}
BC_RARE double ellipkinc(double phi, double m) {
  if (phi == 0.0 && m < inf()) return phi;
  if (phi != phi || !(m <= 1.0)) return nan();
  if (fabs(phi) == inf()) return m == -inf() ? nan() : phi;
  if (m == -inf()) return 0.0;
  double r;
  const double n = ellip_turns(phi, r), s = sin(r), c = cos(r);
  if (m == 1.0) return n != 0.0 ? copysign(inf(), phi) : arcsinh(tan(r));
  const double f = s * carlson_rf(c * c, fma((1.0 - m) * s, s, c * c), 1.0);
  return n == 0.0 ? f : fma(2.0 * n, ellipkm1(1.0 - m), f);
}
BC_RARE double ellipeinc(double phi, double m) {
  if (phi != phi || !(m <= 1.0)) return nan();
  if (fabs(phi) == inf()) return phi;
  if (m == -inf()) return inf();
  double r;
  const double n = ellip_turns(phi, r), e = ellipe_part(sin(r), cos(r), m);
  return n == 0.0 ? e : fma(2.0 * n, ellipe_part(1.0, 0.0, m), e);
}

/// The arithmetic-geometric mean of 1 and sqrt(1 - m), 0 <= m < 1, and the seven pairs of numbers that it was made of: after so many steps
/// both are equal for all m.
BC_FN double jacobi_means(double m, double* a, double* b) {
  double mean = 1.0, other = 1.0 - m;
  BC_UNROLL
  for (int i = 0; i < 7; ++i) {
    a[i] = mean;
    b[i] = sqrt(other);
    const double half = 0.5 * (a[i] + b[i]);
    other = a[i] * b[i];
    mean = half;
  }
  return mean;
}
/// sn, cn and dn from sine and cosine of u times the mean, by the cotangent of the amplitude (Bulirsch, Numerische Mathematik 7, 1965).
BC_FN void jacobi_functions(double u, const double* a, const double* b, double mean, double s, double c, double& sn, double& cn,
                            double& dn) {
  const bool near = fabs(u) < 1e-20;
  double cot = (near ? 1.0 : c) / (near ? 1.0 : s), scaled = mean * cot;
  dn = 1.0;
  BC_UNROLL
  for (int i = 6; i >= 0; --i) {
    cot *= scaled;
    scaled *= dn;
    dn = (b[i] + cot) / (a[i] + cot);
    cot = scaled / a[i];
  }
  const double size = 1.0 / sqrt(fma(scaled, scaled, 1.0));
  sn = near ? u : copysign(size, s);
  cn = near ? 1.0 : scaled * copysign(size, s);
  dn = near ? 1.0 : dn;
}
/// The amplitude: the angle of cn and sn with the turns that u times the mean has made, from which it is less than a quarter turn apart.
BC_FN double jacobi_amplitude(double u, double w, double sn, double cn) {
  const double angle = arctan2(sn, cn);
  const double r = fma(6.283185307179586, rint((w - angle) * 0.15915494309189535), angle);
  return fabs(u) < 1e-20 ? u : r;
}
BC_FN void jacobi_fast(double u, double m, double& sn, double& cn, double& dn, double& w, u32& flag) {
  const bool inside = m >= 0.0 && m < 1.0;
  double a[7], b[7];
  const double mean = jacobi_means(inside ? m : 0.5, a, b);
  w = u * mean;
  flag |= inside ? 0u : 1u;
  jacobi_functions(u, a, b, mean, sin_fast(w, flag), cos_fast(w, flag), sn, cn, dn);
  flag |= w == w ? 0u : 1u;
}
BC_FN double ellipj_sn_fast(double u, double m, u32& flag) {
  double sn, cn, dn, w;
  jacobi_fast(u, m, sn, cn, dn, w, flag);
  return sn;
}
BC_FN double ellipj_cn_fast(double u, double m, u32& flag) {
  double sn, cn, dn, w;
  jacobi_fast(u, m, sn, cn, dn, w, flag);
  return cn;
}
BC_FN double ellipj_dn_fast(double u, double m, u32& flag) {
  double sn, cn, dn, w;
  jacobi_fast(u, m, sn, cn, dn, w, flag);
  return dn;
}
BC_FN double ellipj_ph_fast(double u, double m, u32& flag) {
  double sn, cn, dn, w;
  jacobi_fast(u, m, sn, cn, dn, w, flag);
  return jacobi_amplitude(u, w, sn, cn);
}
/// The functions for any u and m.
BC_RARE void jacobi(double u, double m, double& sn, double& cn, double& dn, double& ph) {
  if (!(m >= 0.0 && m <= 1.0) || !(fabs(u) < inf())) {
    sn = cn = dn = ph = nan();
    return;
  }
  if (m == 1.0) {
    sn = tanh(u);
    cn = dn = 1.0 / cosh(u);
    ph = 2.0 * arctan(tanh(0.5 * u));
    return;
  }
  double a[7], b[7];
  const double mean = jacobi_means(m, a, b), w = u * mean;
  jacobi_functions(u, a, b, mean, sin(w), cos(w), sn, cn, dn);
  ph = jacobi_amplitude(u, w, sn, cn);
}
BC_FN double ellipj_sn(double u, double m) {
  double sn, cn, dn, ph;
  jacobi(u, m, sn, cn, dn, ph);
  return sn;
}
BC_FN double ellipj_cn(double u, double m) {
  double sn, cn, dn, ph;
  jacobi(u, m, sn, cn, dn, ph);
  return cn;
}
BC_FN double ellipj_dn(double u, double m) {
  double sn, cn, dn, ph;
  jacobi(u, m, sn, cn, dn, ph);
  return dn;
}
BC_FN double ellipj_ph(double u, double m) {
  double sn, cn, dn, ph;
  jacobi(u, m, sn, cn, dn, ph);
  return ph;
}

BC_SPECIAL_FLOAT1(ellipkm1)
BC_SPECIAL_FLOAT_FAST1(ellipkm1_fast)
BC_SPECIAL_FLOAT2(agm)
BC_SPECIAL_FLOAT_FAST2(agm_fast)
BC_SPECIAL_FLOAT1(ellipk)
BC_SPECIAL_FLOAT_FAST1(ellipk_fast)
BC_SPECIAL_FLOAT1(ellipe)
BC_SPECIAL_FLOAT_FAST1(ellipe_fast)
BC_SPECIAL_FLOAT2(ellipkinc)
BC_SPECIAL_FLOAT2(ellipeinc)
BC_SPECIAL_FLOAT2(ellipj_ph)
BC_SPECIAL_FLOAT_FAST2(ellipj_ph_fast)
BC_SPECIAL_FLOAT2(ellipj_sn)
BC_SPECIAL_FLOAT_FAST2(ellipj_sn_fast)
BC_SPECIAL_FLOAT2(ellipj_cn)
BC_SPECIAL_FLOAT_FAST2(ellipj_cn_fast)
BC_SPECIAL_FLOAT2(ellipj_dn)
BC_SPECIAL_FLOAT_FAST2(ellipj_dn_fast)

}  // namespace special_rows
}  // namespace bc
