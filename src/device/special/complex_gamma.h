// The gamma function, its reciprocal and logarithm, digamma and trigamma of complex arguments. complex<float> runs in double.
#pragma once
#include "gamma.h"

// The complex<float> form of a function of complex<double>.
#define BC_SPECIAL_COMPLEX1(name) \
  BC_FN complex64 name(complex64 a) { return narrow(name(widen(a))); }
#define BC_SPECIAL_COMPLEX2(name) \
  BC_FN complex64 name(complex64 a, complex64 b) { return narrow(name(widen(a), widen(b))); }

namespace bc {
namespace special_rows {

BC_FN complex128 conjugate(complex128 z) { return {z.re, -z.im}; }
BC_FN complex128 plus_real(complex128 z, double x) { return {z.re + x, z.im}; }
BC_FN complex128 reciprocal_of(complex128 z) { return complex128(1.0, 0.0) / z; }
BC_FN double square_size(complex128 z) { return z.re * z.re + z.im * z.im; }
BC_FN bool is_real(complex128 z) { return z.im == 0.0; }
/// Tells whether z is 0, -1, -2, ..., where SciPy's complex functions are NaN.
BC_FN bool is_pole(complex128 z) { return z.im == 0.0 && z.re <= 0.0 && z.re == floor(z.re); }
BC_FN bool has_nan(complex128 z) { return z.re != z.re || z.im != z.im; }
/// sin(pi z), from the exact distance of the real part to a whole number.
BC_FN complex128 sin_pi(complex128 z) {
  const double y = pi() * z.im;
  return {sin_pi(z.re) * cosh(y), cos_pi(z.re) * sinh(y)};
}

/// log(gamma(z)) by Stirling's formula (DLMF 5.11.1), for |z| >= 10 away from the negative axis.
BC_FN complex128 loggamma_far(complex128 z) {
  const complex128 v = reciprocal_of(z);
  return plus_real(plus_real(z, -0.5) * log(z) - z, 0.9189385332046728) + v * stirling(v * v);
}
/// The number of steps up that Stirling's formula needs from Re z >= 1/2.
BC_FN int steps_to_far(complex128 z) { return z.re < 10.0 && fabs(z.im) < 10.0 ? static_cast<int>(ceil(10.0 - z.re)) : 0; }
/// z (z + 1) ... (z + n - 1) and how often its argument has passed pi, for Im z >= 0.
BC_FN complex128 rising(complex128 z, int n, double& turns) {
  complex128 product(1.0, 0.0);
  turns = 0.0;
  for (int i = 0; i < n; ++i) {
    const complex128 next = product * plus_real(z, i);
    if (product.im >= 0.0 && next.im < 0.0) turns += 1.0;
    product = next;
  }
  return product;
}
/// The branch of log(sin(pi z)) that is analytic for Im z > 0 and real at 1/2.
BC_FN complex128 log_sin_pi(complex128 z) {
  const double turn = pi() * (0.5 - z.re);
  if (z.im < 5.0) {
    const complex128 l = log(sin_pi(z));
    return {l.re, l.im + 2.0 * pi() * rint((turn - l.im) * 0.15915494309189535)};
  }
  const double size = exp(-2.0 * pi() * z.im);
  const complex128 rest = log1p(complex128(-size * cos_pi(2.0 * z.re), -size * sin_pi(2.0 * z.re)));
  return {pi() * z.im - 0.6931471805599453 + rest.re, turn + rest.im};
}
/// For Re z >= 1/2 and Im z >= 0: near the zeros 1 and 2 by the series around 2, else by Stirling's formula from a shifted point
/// (Hare, Journal of Algorithms 25, 1997).
BC_FN complex128 loggamma_right(complex128 z) {
  const complex128 one = plus_real(z, -1.0), two = plus_real(z, -2.0);
  if (square_size(two) < 0.33) return two * loggamma_2(two);
  if (square_size(one) < 0.33) return one * loggamma_2(one) - log1p(one);
  const int n = steps_to_far(z);
  double turns;
  const complex128 product = rising(z, n, turns), far = loggamma_far(plus_real(z, n));
  if (n == 0) return far;
  const complex128 l = log(product);
  return {far.re - l.re, far.im - (l.im + 2.0 * pi() * turns)};
}
/// The analytic branch that is real on the positive axis, with the cut on the negative one.
BC_RARE complex128 loggamma(complex128 z) {
  if (has_nan(z)) return {nan(), nan()};
  if (is_pole(z)) return {nan(), nan()};
  if (is_real(z)) return {gammaln(z.re), z.re < 0.0 ? copysign(pi(), z.im) * floor(z.re) : z.im};
  const complex128 up(z.re, fabs(z.im));
  complex128 r;
  if (z.re >= 0.5)
    r = loggamma_right(up);
  else {
    // By reflection; 1 - z lies in the lower half-plane.
    const complex128 s = log_sin_pi(up), other = conjugate(loggamma_right(complex128(1.0 - up.re, up.im)));
    r = {1.1447298858494002 - s.re - other.re, -s.im - other.im};
  }
  return z.im < 0.0 ? conjugate(r) : r;
}
/// Tells whether the reflection formula's factors stay in range.
BC_FN bool reflects(complex128 z) { return z.re > -150.0 && fabs(z.im) < 50.0; }
BC_FN complex128 gamma_right(complex128 z) {
  const int n = steps_to_far(z);
  double turns;
  const complex128 r = exp(loggamma_far(plus_real(z, n)));
  return n == 0 ? r : r / rising(z, n, turns);
}
BC_FN complex128 rgamma_right(complex128 z) {
  const int n = steps_to_far(z);
  double turns;
  const complex128 r = exp(-loggamma_far(plus_real(z, n)));
  return n == 0 ? r : r * rising(z, n, turns);
}
BC_RARE complex128 gamma(complex128 z) {
  if (is_pole(z) || has_nan(z)) return {nan(), nan()};
  if (is_real(z)) return {gamma(z.re), z.im};
  if (z.re >= 0.5) return gamma_right(z);
  if (!reflects(z)) return exp(loggamma(z));
  return complex128(pi(), 0.0) / sin_pi(z) * rgamma_right(complex128(1.0 - z.re, -z.im));
}
BC_RARE complex128 rgamma(complex128 z) {
  if (is_real(z)) return {rgamma(z.re), z.im};
  if (has_nan(z)) return {nan(), nan()};
  if (z.re >= 0.5) return rgamma_right(z);
  if (!reflects(z)) return exp(-loggamma(z));
  return sin_pi(z) * gamma_right(complex128(1.0 - z.re, -z.im)) * 0.3183098861837907;
}

/// pi cot(pi z)
BC_FN complex128 pi_cot_pi(complex128 z) {
  if (fabs(z.im) > 8.0) return {0.0, -copysign(pi(), z.im)};
  const double s = sin_pi(z.re), c = cos_pi(z.re), sh = sinh(pi() * z.im), ch = cosh(pi() * z.im), size = s * s + sh * sh;
  return {pi() * s * c / size, -pi() * sh * ch / size};
}
BC_RARE complex128 digamma(complex128 z) {
  if (is_pole(z) || has_nan(z)) return {nan(), nan()};
  if (is_real(z)) return {digamma(z.re), z.im};
  const complex128 near((z.re - digamma_root()) - digamma_root_lo(), z.im);
  if (square_size(near) < 0.25) return near * digamma_near_root(near);
  complex128 sum(0.0, 0.0);
  if (z.re < 0.5) {
    sum = -pi_cot_pi(z);
    z = complex128(1.0 - z.re, -z.im);
  }
  for (int n = steps_to_far(z); n > 0; --n) {
    sum = sum - reciprocal_of(z);
    z.re += 1.0;
  }
  const complex128 v = reciprocal_of(z), u = v * v;
  return sum + (log(z) - v * 0.5 - u * digamma_tail(u));
}
/// The derivative of digamma.
BC_RARE complex128 trigamma(complex128 z) {
  complex128 sum(0.0, 0.0);
  double sign = 1.0;
  if (z.re < 0.5) {
    const complex128 s = reciprocal_of(sin_pi(z)) * pi();
    sum = fabs(z.im) > 200.0 ? sum : s * s;
    sign = -1.0;
    z = complex128(1.0 - z.re, -z.im);
  }
  for (int n = steps_to_far(z); n > 0; --n) {
    const complex128 v = reciprocal_of(z);
    sum = sum + v * v * sign;
    z.re += 1.0;
  }
  const complex128 v = reciprocal_of(z), u = v * v;
  return sum + (v + u * 0.5 + u * v * trigamma_tail(u)) * sign;
}
BC_FN double trigamma(double x) { return zeta(2.0, x); }

BC_SPECIAL_COMPLEX1(loggamma)
BC_SPECIAL_COMPLEX1(gamma)
BC_SPECIAL_COMPLEX1(rgamma)
BC_SPECIAL_COMPLEX1(digamma)
BC_SPECIAL_COMPLEX1(trigamma)
BC_SPECIAL_FLOAT1(trigamma)

}  // namespace special_rows
}  // namespace bc
