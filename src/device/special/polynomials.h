// Orthogonal polynomials of whole degree by their recurrences in the degree (DLMF 18.9). Real arguments; float runs in double.
//
// Near an end of the interval the three terms of a recurrence cancel. There it runs in differences of polynomials of neighbouring degrees,
// from the distance to that end (Reinsch's modification), which keeps all digits; the other end is the mirror image. Both are a step
//   t = p z value + q rest
// that makes the next value of t alone (rest is the negative value before it) or of value + t (rest is t), so that the fast forms run both
// at once. These take a fixed number of steps, of which each element keeps the result of its degree: loops over elements are vectorised.
#pragma once
#include "gamma.h"

namespace bc {
namespace special_rows {

/// The degree up to which the fast forms reach, and the one up to which recurrences run: values of larger degrees are NaN, but for those
/// that overflow on the way and for Chebyshev's on [-1, 1].
constexpr int kFastDegree = 24;
constexpr double kLargestDegree = 1e6;

/// A point of [-1, 1] beside what a recurrence takes of it.
struct PolynomialPoint {
  double z;  // the point in the middle, else the distance from the nearest end, mirrored to that of 1
  bool is_middle, mirrored;
};
/// `below` and `above` are x - 1 and x + 1, as exact as the caller has them.
BC_INLINE PolynomialPoint polynomial_point(double x, double below, double above) {
  const bool is_middle = fabs(x) <= 0.5, mirrored = x < 0.0 && !is_middle;
  return {is_middle ? x : (mirrored ? -above : below), is_middle, mirrored};
}
/// Two neighbouring degrees: the value, and the negative one before it or the difference from it.
struct PolynomialState {
  double value, rest;
};
BC_INLINE void next_degree(PolynomialState& s, bool is_middle, double p, double q) {
  const double t = fma(p, s.value, q * s.rest), before = s.value;
  s.value = is_middle ? t : s.value + t;
  s.rest = is_middle ? -before : t;
}
BC_FN double mirror(double value, bool mirrored, double n) { return mirrored && is_odd(n) ? -value : value; }

/// A polynomial p(n) of steps p(k + 1) for k = first, first + 1 ... from `start`: `of(k, 1 / (k + 1), p, q)` gives the factors of a step.
template <bool fast, class Factors>
BC_INLINE double polynomial_at_degree(double n, int first, PolynomialState start, bool is_middle, const Factors& of) {
  PolynomialState s = start;
  double p, q;
  if (fast) {
    double r = s.value;
    BC_UNROLL
    for (int k = 1; k < kFastDegree; ++k) {
      if (k < first) continue;
      of(static_cast<double>(k), 1.0 / (k + 1), p, q);
      next_degree(s, is_middle, p, q);
      r = n == k + 1 ? s.value : r;
    }
    return r;
  }
  for (double k = first; k < n && fabs(s.value) < inf(); k += 1.0) {
    if (k > kLargestDegree) return nan();
    of(k, 1.0 / (k + 1.0), p, q);
    next_degree(s, is_middle, p, q);
  }
  return s.value;
}

/// A polynomial of degree 0: 1 also at infinite x, and NaN for NaN.
BC_FN double constant_polynomial(double x) { return x == x ? 1.0 : x; }
/// Chebyshev's polynomials of degree n >= 0, p(1) = 2 x - (kind = 1) x.
template <bool fast>
BC_INLINE double chebyshev_polynomial(double n, bool is_first, double x, double below, double above) {
  const PolynomialPoint at = polynomial_point(x, below, above);
  const double double_z = 2.0 * at.z, slope = is_first ? at.z : double_z;
  const PolynomialState one = {at.is_middle ? slope : 1.0 + (is_first ? at.z : 1.0 + double_z),
                               at.is_middle ? -1.0 : (is_first ? at.z : 1.0 + double_z)};
  const double r = polynomial_at_degree<fast>(n, 1, one, at.is_middle, [&](double, double, double& p, double& q) {
    p = double_z;
    q = 1.0;
  });
  return n == 0.0 ? x * 0.0 + 1.0 : mirror(r, at.mirrored, n);
}
/// Gegenbauer's polynomial of degree n >= 0 by c(n) = C(n) / (2 a), which has a limit at a = 0.
template <bool fast>
BC_INLINE double gegenbauer_polynomial(double n, double a, double x, double below, double above) {
  const PolynomialPoint at = polynomial_point(x, below, above);
  // c(1) = x and c(2) = (1 + a) x^2 - 1/2, which is c(1) + (a x - 1/2) + (1 + a) (x - 1) x.
  const double y = at.mirrored ? -x : x, t = fma((1.0 + a) * at.z, y, at.is_middle ? -0.5 : fma(a, y, -0.5));
  const PolynomialState two = {at.is_middle ? t : y + t, at.is_middle ? -y : t};
  const double twice = 2.0 * a, less = twice - 1.0;
  double r = polynomial_at_degree<fast>(n, 2, two, at.is_middle, [&](double k, double scale, double& p, double& q) {
    p = (2.0 * k + twice) * scale * at.z;
    q = (k + less) * scale;
  });
  r = n == 1.0 ? y : r;
  return n == 0.0 ? constant_polynomial(x + a) : twice * mirror(r, at.mirrored, n);
}
template <bool fast>
BC_INLINE double legendre_polynomial(double n, double x, double below, double above) {
  const PolynomialPoint at = polynomial_point(x, below, above);
  const PolynomialState one = {at.is_middle ? at.z : 1.0 + at.z, at.is_middle ? -1.0 : at.z};
  const double r = polynomial_at_degree<fast>(n, 1, one, at.is_middle, [&](double k, double scale, double& p, double& q) {
    p = (2.0 * k + 1.0) * scale * at.z;
    q = k * scale;
  });
  return n == 0.0 ? constant_polynomial(x) : mirror(r, at.mirrored, n);
}
/// The generalized polynomial of Laguerre's of degree n >= 0, in differences everywhere.
template <bool fast>
BC_INLINE double laguerre_polynomial(double n, double a, double x) {
  const double first = a - x;
  const double r = polynomial_at_degree<fast>(n, 1, {1.0 + first, first}, false, [&](double k, double scale, double& p, double& q) {
    p = -scale * x;
    q = (k + a) * scale;
  });
  return n == 0.0 ? constant_polynomial(first) : r;
}
/// Hermite's polynomials of degree n >= 0, of which he(k + 1) = x he(k) - k he(k - 1), and twice that.
template <bool fast>
BC_INLINE double hermite_polynomial(double n, double x, double factor) {
  const double p1 = factor * x;
  const double r = polynomial_at_degree<fast>(n, 1, {p1, -1.0}, true, [&](double k, double, double& p, double& q) {
    p = p1;
    q = factor * k;
  });
  return n == 0.0 ? constant_polynomial(x) : r;
}

/// cos(n arccos(x)) or sin((n + 1) arccos(x)) / sin(arccos(x)), or their hyperbolic forms for x > 1: Chebyshev's functions of large and of
/// fractional degrees (DLMF 18.5.1, 18.5.2). Below -1 they have no real values; SciPy's are inf.
BC_FN double chebyshev_function(double n, bool is_first, double x, double below, double above) {
  const double square = -below * above;  // 1 - x^2
  if (x > 1.0) {
    const double t = log1p(below + sqrt(-square));
    return is_first ? cosh(n * t) : sinh((n + 1.0) * t) / sqrt(-square);
  }
  if (x < -1.0) return inf();
  const double m = is_first ? n : n + 1.0;
  if (fabs(x) <= 0.5) {
    // From the distance to a right angle, and whole right angles apart.
    const double t = m * arcsin(x), turn = 0.5 * m;
    const double c = cos_pi(turn), s = sin_pi(turn);
    return is_first ? fma(c, cos(t), s * sin(t)) : fma(s, cos(t), -c * sin(t)) / sqrt(square);
  }
  const double t = 2.0 * arcsin(sqrt(0.5 * (x < 0.0 ? above : -below)));
  if (x > 0.0) return is_first ? cos(m * t) : (t == 0.0 ? m : sin(m * t) / sqrt(square));
  // arccos(x) = pi - t
  const double c = cos_pi(m), s = sin_pi(m);
  if (is_first) return fma(c, cos(m * t), s * sin(m * t));
  return t == 0.0 ? (s == 0.0 ? -c * m : inf()) : fma(s, cos(m * t), -c * sin(m * t)) / sqrt(square);
}
/// Of any degree: T(-n) = T(n) and U(-n - 2) = -U(n).
BC_FN double chebyshev_of_any(double n, bool is_first, double x, double below, double above) {
  if (n != n || x != x) return n + x;
  if (is_first) n = fabs(n);
  const bool turned = !is_first && n < -1.0;
  if (turned) n = -2.0 - n;
  double r;
  if (n == -1.0 && !is_first)
    r = x * 0.0;
  else if (n == floor(n) && n < inf() && (n <= kFastDegree || !(fabs(x) <= 1.0)))
    r = chebyshev_polynomial<false>(n, is_first, x, below, above);
  else
    r = chebyshev_function(n, is_first, x, below, above);
  return turned ? -r : r;
}
/// The degree for the polynomial of a fast form, and the flag of others.
BC_FN double fast_degree(double n, double mapped, u32& flag) {
  const bool inside = mapped >= 0.0 && mapped <= kFastDegree && n == floor(n);
  flag |= inside ? 0u : 1u;
  return mapped;
}

// ---- The rows. Of other degrees than whole ones Legendre's and the later ones are NaN here: they are hypergeometric functions.
BC_RARE double eval_chebyt(double n, double x) { return chebyshev_of_any(n, true, x, x - 1.0, x + 1.0); }
BC_RARE double eval_chebyu(double n, double x) { return chebyshev_of_any(n, false, x, x - 1.0, x + 1.0); }
BC_RARE double eval_sh_chebyt(double n, double x) { return chebyshev_of_any(n, true, 2.0 * x - 1.0, 2.0 * (x - 1.0), 2.0 * x); }
BC_RARE double eval_sh_chebyu(double n, double x) { return chebyshev_of_any(n, false, 2.0 * x - 1.0, 2.0 * (x - 1.0), 2.0 * x); }
BC_RARE double eval_chebyc(double n, double x) { return 2.0 * chebyshev_of_any(n, true, 0.5 * x, 0.5 * (x - 2.0), 0.5 * (x + 2.0)); }
BC_RARE double eval_chebys(double n, double x) { return chebyshev_of_any(n, false, 0.5 * x, 0.5 * (x - 2.0), 0.5 * (x + 2.0)); }
BC_FN double chebyshev_fast(double n, bool is_first, double x, double below, double above, u32& flag) {
  const double degree = fast_degree(n, is_first ? fabs(n) : n, flag);
  return chebyshev_polynomial<true>(degree, is_first, x, below, above);
}
BC_FN double eval_chebyt_fast(double n, double x, u32& flag) { return chebyshev_fast(n, true, x, x - 1.0, x + 1.0, flag); }
BC_FN double eval_chebyu_fast(double n, double x, u32& flag) { return chebyshev_fast(n, false, x, x - 1.0, x + 1.0, flag); }
BC_FN double eval_sh_chebyt_fast(double n, double x, u32& flag) {
  return chebyshev_fast(n, true, 2.0 * x - 1.0, 2.0 * (x - 1.0), 2.0 * x, flag);
}
BC_FN double eval_sh_chebyu_fast(double n, double x, u32& flag) {
  return chebyshev_fast(n, false, 2.0 * x - 1.0, 2.0 * (x - 1.0), 2.0 * x, flag);
}
BC_FN double eval_chebyc_fast(double n, double x, u32& flag) {
  return 2.0 * chebyshev_fast(n, true, 0.5 * x, 0.5 * (x - 2.0), 0.5 * (x + 2.0), flag);
}
BC_FN double eval_chebys_fast(double n, double x, u32& flag) {
  return chebyshev_fast(n, false, 0.5 * x, 0.5 * (x - 2.0), 0.5 * (x + 2.0), flag);
}
/// P(-n - 1) = P(n)
BC_FN double legendre_degree(double n) { return n < 0.0 ? -1.0 - n : n; }
BC_FN double legendre_of_whole(double n, double x, double below, double above) {
  return n == floor(n) && fabs(n) < inf() ? legendre_polynomial<false>(legendre_degree(n), x, below, above) : nan();
}
BC_RARE double eval_legendre(double n, double x) { return legendre_of_whole(n, x, x - 1.0, x + 1.0); }
BC_RARE double eval_sh_legendre(double n, double x) { return legendre_of_whole(n, 2.0 * x - 1.0, 2.0 * (x - 1.0), 2.0 * x); }
BC_FN double eval_legendre_fast(double n, double x, u32& flag) {
  return legendre_polynomial<true>(fast_degree(n, legendre_degree(n), flag), x, x - 1.0, x + 1.0);
}
BC_FN double eval_sh_legendre_fast(double n, double x, u32& flag) {
  return legendre_polynomial<true>(fast_degree(n, legendre_degree(n), flag), 2.0 * x - 1.0, 2.0 * (x - 1.0), 2.0 * x);
}
/// Whether a degree is not whole, or below 0, where polynomials are 0.
BC_FN bool has_no_polynomial(double n) { return !(n >= 0.0 && n < inf()) || n != floor(n); }
BC_FN double without_polynomial(double n, double x) { return n == floor(n) && n < 0.0 ? x * 0.0 : nan(); }
BC_RARE double eval_gegenbauer(double n, double a, double x) {
  return has_no_polynomial(n) ? without_polynomial(n, x) : gegenbauer_polynomial<false>(n, a, x, x - 1.0, x + 1.0);
}
BC_FN double eval_gegenbauer_fast(double n, double a, double x, u32& flag) {
  return gegenbauer_polynomial<true>(fast_degree(n, n, flag), a, x, x - 1.0, x + 1.0);
}
BC_RARE double eval_genlaguerre(double n, double a, double x) {
  return has_no_polynomial(n) ? without_polynomial(n, x) : laguerre_polynomial<false>(n, a, x);
}
BC_FN double eval_genlaguerre_fast(double n, double a, double x, u32& flag) {
  return laguerre_polynomial<true>(fast_degree(n, n, flag), a, x);
}
BC_RARE double eval_laguerre(double n, double x) { return eval_genlaguerre(n, 0.0, x); }
BC_FN double eval_laguerre_fast(double n, double x, u32& flag) { return eval_genlaguerre_fast(n, 0.0, x, flag); }
BC_RARE double eval_hermite(double n, double x) { return has_no_polynomial(n) ? nan() : hermite_polynomial<false>(n, x, 2.0); }
BC_RARE double eval_hermitenorm(double n, double x) { return has_no_polynomial(n) ? nan() : hermite_polynomial<false>(n, x, 1.0); }
BC_FN double eval_hermite_fast(double n, double x, u32& flag) { return hermite_polynomial<true>(fast_degree(n, n, flag), x, 2.0); }
BC_FN double eval_hermitenorm_fast(double n, double x, u32& flag) { return hermite_polynomial<true>(fast_degree(n, n, flag), x, 1.0); }

#define BC_POLYNOMIAL2(name) \
  BC_SPECIAL_FLOAT2(name)    \
  BC_SPECIAL_FLOAT_FAST2(name##_fast)
#define BC_POLYNOMIAL3(name) \
  BC_SPECIAL_FLOAT3(name)    \
  BC_SPECIAL_FLOAT_FAST3(name##_fast)
BC_POLYNOMIAL2(eval_chebyt)
BC_POLYNOMIAL2(eval_chebyu)
BC_POLYNOMIAL2(eval_sh_chebyt)
BC_POLYNOMIAL2(eval_sh_chebyu)
BC_POLYNOMIAL2(eval_chebyc)
BC_POLYNOMIAL2(eval_chebys)
BC_POLYNOMIAL2(eval_legendre)
BC_POLYNOMIAL2(eval_sh_legendre)
BC_POLYNOMIAL3(eval_gegenbauer)
BC_POLYNOMIAL3(eval_genlaguerre)
BC_POLYNOMIAL2(eval_laguerre)
BC_POLYNOMIAL2(eval_hermite)
BC_POLYNOMIAL2(eval_hermitenorm)
#undef BC_POLYNOMIAL2
#undef BC_POLYNOMIAL3

}  // namespace special_rows
}  // namespace bc
