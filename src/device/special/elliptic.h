// Elliptic integrals and Jacobi's functions of the parameter m. Real arguments; float runs in double.
#pragma once
#include "gamma.h"

namespace bc {
namespace special_rows {

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
  const double u = dx * scale / a, v = dy * scale / a, w = -u - v, e2 = u * v - w * w, e3 = u * v * w;
  const double sum = 1.0 - e2 / 10.0 + e3 / 14.0 + e2 * e2 / 24.0 - 3.0 * e2 * e3 / 44.0 - 5.0 * e2 * e2 * e2 / 208.0 +
                     3.0 * e3 * e3 / 104.0 + e2 * e2 * e3 / 16.0;
  return sum / sqrt(a);
}
/// Carlson's symmetric integral of the second kind (DLMF 19.36.2).
BC_RARE double carlson_rd(double x, double y, double z) {
  const double a0 = (x + y + 3.0 * z) / 5.0, dx = a0 - x, dy = a0 - y;
  const double spread = fabs(dx) > fabs(dy) ? fabs(dx) : fabs(dy), far = fabs(a0 - z) > spread ? fabs(a0 - z) : spread;
  double a = a0, scale = 1.0, sum = 0.0;
  for (int i = 0; i < 60 && far * scale * 500.0 > fabs(a); ++i, scale *= 0.25) {
    const double p = sqrt(x), q = sqrt(y), r = sqrt(z), l = p * q + p * r + q * r;
    sum += scale / (r * (z + l));
    x = 0.25 * (x + l);
    y = 0.25 * (y + l);
    z = 0.25 * (z + l);
    a = 0.25 * (a + l);
  }
  const double u = dx * scale / a, v = dy * scale / a, w = -(u + v) / 3.0, uv = u * v, ww = w * w;
  const double e2 = uv - 6.0 * ww, e3 = (3.0 * uv - 8.0 * ww) * w, e4 = 3.0 * (uv - ww) * ww, e5 = uv * ww * w;
  const double rest = 1.0 - 3.0 * e2 / 14.0 + e3 / 6.0 + 9.0 * e2 * e2 / 88.0 - 3.0 * e4 / 22.0 - 9.0 * e2 * e3 / 52.0 + 3.0 * e5 / 26.0 -
                      e2 * e2 * e2 / 16.0 + 3.0 * e3 * e3 / 40.0 + 3.0 * e2 * e4 / 20.0 + 45.0 * e2 * e2 * e3 / 272.0 -
                      9.0 * (e3 * e4 + e2 * e5) / 68.0;
  return scale * rest / (a * sqrt(a)) + 3.0 * sum;
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
/// E(phi, m) for sin, cos of |phi| <= pi / 2: the form whose terms have one sign (DLMF 19.25.9 for m < 0, else 19.25.10).
BC_FN double ellipe_part(double s, double c, double m) {
  const double cc = c * c, d = fma(1.0 - m, s * s, cc), s3 = s * s * s;
  if (m < 0.0) return s * carlson_rf(cc, d, 1.0) - m / 3.0 * s3 * carlson_rd(cc, d, 1.0);
  if (m == 1.0 || d == 0.0) return s;
  const double p = 1.0 - m;
  return p * (s * carlson_rf(cc, d, 1.0) + m / 3.0 * s3 * carlson_rd(cc, 1.0, d)) + m * fabs(c) * s / sqrt(d);
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
  const double f = s * carlson_rf(c * c, fma(1.0 - m, s * s, c * c), 1.0);
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

/// Jacobi's amplitude by descending Landen transformations (DLMF 22.20.3); the arcsine of the book as an arctangent that keeps its digits
/// near quarter periods.
BC_RARE double ellipj_ph(double u, double m) {
  if (!(m >= 0.0 && m <= 1.0) || !(fabs(u) < inf())) return nan();
  if (m == 1.0) return 2.0 * arctan(tanh(0.5 * u));
  double a = 1.0, b = sqrt(1.0 - m), ratio[10], other[10], scale = 1.0;
  int n = 0;
  while (n < 10 && fabs(a - b) > 1e-17 * a) {
    const double mean = 0.5 * (a + b), root = sqrt(a * b);
    ratio[n] = 0.5 * (a - b) / mean;
    other[n] = root / mean;
    a = mean;
    b = root;
    scale *= 2.0;
    ++n;
    if (fabs(ratio[n - 1]) < 1e-8) break;
  }
  double phi = scale * a * u;
  for (int i = n - 1; i >= 0; --i) {
    const double s = sin(phi), c = cos(phi), v = other[i] * s;
    phi = 0.5 * (phi + arctan2(ratio[i] * s, sqrt(fma(c, c, v * v))));
  }
  return phi;
}
BC_RARE double ellipj_sn(double u, double m) { return m == 1.0 ? tanh(u) : sin(ellipj_ph(u, m)); }
BC_RARE double ellipj_cn(double u, double m) { return m == 1.0 ? 1.0 / cosh(u) : cos(ellipj_ph(u, m)); }
BC_RARE double ellipj_dn(double u, double m) {
  if (m == 1.0) return 1.0 / cosh(u);
  const double phi = ellipj_ph(u, m), s = sin(phi), c = cos(phi);
  return sqrt(fma(1.0 - m, s * s, c * c));
}

BC_SPECIAL_FLOAT1(ellipkm1)
BC_SPECIAL_FLOAT_FAST1(ellipkm1_fast)
BC_SPECIAL_FLOAT1(ellipk)
BC_SPECIAL_FLOAT_FAST1(ellipk_fast)
BC_SPECIAL_FLOAT1(ellipe)
BC_SPECIAL_FLOAT_FAST1(ellipe_fast)
BC_SPECIAL_FLOAT2(ellipkinc)
BC_SPECIAL_FLOAT2(ellipeinc)
BC_SPECIAL_FLOAT2(ellipj_ph)
BC_SPECIAL_FLOAT2(ellipj_sn)
BC_SPECIAL_FLOAT2(ellipj_cn)
BC_SPECIAL_FLOAT2(ellipj_dn)

}  // namespace special_rows
}  // namespace bc
