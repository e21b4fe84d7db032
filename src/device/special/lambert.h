// Lambert's W function, the solutions of w e^w = z, on all branches (Corless, Gonnet, Hare, Jeffrey & Knuth, Advances in Computational
// Mathematics 5, 1996).
#pragma once
#include "complex_gamma.h"

namespace bc {
namespace special_rows {

/// The first value of the iteration; p = sqrt(2 (e z + 1)), or with the other sign where the branch begins at -1 / e too.
BC_FN complex128 lambertw_guess(complex128 z, double k, complex128 p, bool at_branch_point) {
  const double size = square_size(z);
  // Around the branch point w = -1 + p - p^2 / 3 ..., here as a quotient, which is good for larger p too.
  if (at_branch_point && k == 0.0) {
    if (size < 0.01) return z * (complex128(1.0, 0.0) - z);
    if (square_size(p) < 9.0) return plus_real(p / plus_real(p * (1.0 / 3.0), 1.0), -1.0);
  } else if (at_branch_point && square_size(p) < 1.0)
    return plus_real(p - p * p * (1.0 / 3.0), -1.0);
  const complex128 l = log(z);
  const complex128 first(l.re, l.im + 2.0 * pi() * k);
  return first - log(first);
}
/// The branch for real z in (-1 / e, 0) below -1, from log(-w) + w = log(-z) by Newton's method on w.
BC_FN double lambertw_below(double z) {
  const double l = log(-z);
  double w = l < -2.0 ? l - log(-l) : -1.0 - sqrt(2.0 * (-1.0 - l)) - (2.0 / 3.0) * (-1.0 - l);
  for (int i = 0; i < 12; ++i) {
    const double r = w + log(-w) - l, step = r / (1.0 + 1.0 / w);
    w -= step;
    if (fabs(step) < 1e-9 * fabs(w)) {
      w -= (w + log(-w) - l) / (1.0 + 1.0 / w);
      break;
    }
  }
  return w;
}
/// Branch 0 for real z > -1 / e that is not 0, p = sqrt(2 (e z + 1)) not near 0: the fourth-order step of Fritsch, Shafer & Crowley (CACM
/// Algorithm 443, 1973), from Winitzki's approximation (2003) for large z.
BC_FN double lambertw_real(double z, double p) {
  double w = p / (1.0 + p * (1.0 / 3.0)) - 1.0;
  if (z > 1.0) {
    const double l = log1p(z);
    w = l * (1.0 - log1p(l) / (2.0 + l));
  } else if (fabs(z) < 0.1)
    w = z / (1.0 + z);
  for (int i = 0; i < 8; ++i) {
    const double apart = log(z / w) - w, next = 1.0 + w, q = 2.0 * next * fma(2.0 / 3.0, apart, next);
    const double part = apart / next * ((q - apart) / (q - 2.0 * apart));
    w = fma(w, part, w);
    if (!(fabs(part) > 1e-4)) break;
  }
  return w;
}
/// Branch k; the cuts belong to the side above them.
BC_FN complex128 lambertw_branch_of(complex128 z, double k) {
  if (has_nan(z) || k != k) return {nan(), nan()};
  if (z.re == inf() || z.re == -inf()) return {inf(), z.im + 2.0 * pi() * k + (z.re > 0.0 ? 0.0 : pi())};
  if (z.re == 0.0 && z.im == 0.0) return k == 0.0 ? z : complex128(-inf(), 0.0);
  // e z + 1 with e in two numbers.
  const double e = 2.718281828459045, e_lo = 1.4456468917292502e-16, product = e * z.re;
  const complex128 q(2.0 * ((product + 1.0) + (fma(e, z.re, -product) + e_lo * z.re)), 2.0 * (e * z.im));
  // -1 / e is where branch 0 meets branch -1 (from above, with the cut) and branch 1 (from below).
  const bool at_branch_point = k == 0.0 || (k == -1.0 && z.im >= 0.0) || (k == 1.0 && z.im < 0.0);
  if (k == 0.0 && is_real(z) && q.re > 0.1225) return {fabs(z.re) > 1e-100 ? lambertw_real(z.re, sqrt(q.re)) : z.re, z.im};
  complex128 p = sqrt(q);
  if (k != 0.0) p = -p;
  if (at_branch_point && square_size(p) < 0.1225) return plus_real(p * lambertw_branch(p), -1.0);
  if (k == -1.0 && is_real(z) && z.re > -0.36787944117144233 && z.re < 0.0) return {lambertw_below(z.re), 0.0};
  complex128 w = lambertw_guess(z, k, p, at_branch_point);
  const complex128 l = log(z), goal(l.re, l.im + 2.0 * pi() * k);
  for (int i = 0; i < 40; ++i) {
    complex128 step;
    const complex128 next = plus_real(w, 1.0);
    if (square_size(w) > 1e4) {
      // Newton's method on w + log(w), which does not overflow; left of the axis the branch tells the side of the logarithm's cut.
      complex128 lw = log(w);
      if (w.re < 0.0 && k != 0.0) {
        lw = log(-w);
        lw.im += k > 0.0 ? pi() : -pi();
      }
      step = w * (w + lw - goal) / next;
    } else {
      // Halley's method on w - z e^-w.
      const complex128 f = w - z * exp(-w);
      step = f / (next - plus_real(w, 2.0) * f / (next * 2.0));
    }
    w = w - step;
    if (!(square_size(step) > 1e-24 * square_size(w))) break;
  }
  return w;
}
/// Branch `branch`, whose real part counts, cut off to a whole number. An imaginary part -0 is below the cuts, except where branch -1 is
/// real.
BC_RARE complex128 lambertw(complex128 z, complex128 branch) {
  const double k = trunc(branch.re);
  const bool below = is_real(z) && signbit(z.im), real_below = k == -1.0 && z.re > -0.36787944117144233 && z.re < 0.0;
  const complex128 w = lambertw_branch_of(complex128(z.re, below ? 0.0 : z.im), below && !real_below ? -k : k);
  return below && !real_below ? conjugate(w) : w;
}

}  // namespace special_rows
}  // namespace bc
