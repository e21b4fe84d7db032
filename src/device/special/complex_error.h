// Faddeeva's function w(z) = exp(-z^2) erfc(-i z), the error functions of complex arguments that are made of it, and Dawson's integral.
// complex<float> runs in double.
#pragma once
#include "complex_gamma.h"
#include "error.h"

namespace bc {
namespace special_rows {

/// re + i im = e^(-z^2) for z = x + i y, with what the squares and the product lose by rounding.
BC_FN void exp_minus_square_parts(double x, double y, double& re, double& im) {
  const double a = y * y, b = x * x, difference = a - b;
  const double rest = a > b ? (a - difference) - b : a - (difference + b);
  const double lo = rest + fma(y, y, -a) - fma(x, x, -b);
  const bool tiny = difference < -750.0 || b == inf();
  const double size = tiny ? 0.0 : exp(difference), corrected = size < inf() && lo == lo ? fma(size, lo, size) : size;
  const bool on_axis = tiny || x == 0.0 || y == 0.0;
  const double turn = on_axis ? 0.0 : 2.0 * x * y, turn_lo = on_axis ? 0.0 : fma(2.0 * x, y, -turn), s = sin(turn), c = cos(turn);
  re = on_axis ? corrected : corrected * fma(-turn_lo, s, c);
  im = on_axis ? 0.0 : -corrected * fma(turn_lo, c, s);
}
BC_FN complex128 exp_minus_square(complex128 z) {
  double re, im;
  exp_minus_square_parts(z.re, z.im, re, im);
  return {re, im};
}

/// w(x + i y) for x, y >= 0: the midpoint or the trapezoidal rule with the step h = sqrt(pi / 12) for w's integral, corrected by the
/// residue at z; the rule whose nodes are farther from z is taken (Al Azah & Chandler-Wilde, SIAM Journal on Numerical Analysis 59, 2021).
/// In real numbers, because programs of real numbers get no function of complex ones.
BC_RARE complex128 faddeeva(double x, double y) {
  if (!(x + y < 1e8)) {
    // i / (sqrt(pi) z)
    const double big = x > y ? x : y, small = x > y ? y : x, ratio = small / big,
                 scale = 0.5641895835477563 / (big * fma(ratio, ratio, 1.0));
    if (big == inf()) return {0.0, 0.0};
    return {scale * (x > y ? ratio : 1.0), scale * (x > y ? 1.0 : ratio)};
  }
  const double h = 0.5116633539732443, steps = x / h, part = steps - floor(steps);
  const bool residue = y < 6.139960247678931, whole = residue && part >= 0.25 && part <= 0.75;
  const double size = x * x + y * y, cross = 2.0 * x * y, offset = whole ? 1.0 : 0.5;
  double re = 0.0, im = 0.0;
  for (int k = 0; k < 12; ++k) {
    const double t = (k + offset) * h, along = fma(x - t, x + t, -y * y);
    const double weight = (whole ? faddeeva_whole(k) : faddeeva_half(k)) / fma(along, along, cross * cross);
    re = fma(weight, size + t * t, re);
    im = fma(weight, size - t * t, im);
  }
  const double middle = whole ? 0.5 / size : 0.0;
  re = 2.0 * h / pi() * y * (re + middle);
  im = 2.0 * h / pi() * x * (im + middle);
  if (residue) {
    const double grown = exp(2.0 * pi() / h * y) * (whole ? -1.0 : 1.0);
    const double above = 1.0 + grown * cos_pi(2.0 * steps), across = grown * sin_pi(2.0 * steps);
    const double scale = 2.0 / (above * above + across * across);
    double e_re, e_im;
    exp_minus_square_parts(x, y, e_re, e_im);
    re += (e_re * above - e_im * across) * scale;
    im += (e_re * across + e_im * above) * scale;
  }
  return {re, im};
}
BC_FN complex128 faddeeva_upper(double x, double y) {
  const complex128 w = faddeeva(fabs(x), y);
  return {w.re, x < 0.0 ? -w.im : w.im};
}
BC_RARE complex128 wofz(complex128 z) {
  if (has_nan(z)) return {nan(), nan()};
  if (z.re == 0.0) return {erfcx(z.im), z.re};
  if (z.im >= 0.0) return faddeeva_upper(z.re, z.im);
  const complex128 e = exp_minus_square(z), w = faddeeva_upper(-z.re, -z.im);
  return {2.0 * e.re - w.re, 2.0 * e.im - w.im};
}
/// The series of erf (DLMF 7.6.1) for |z| < 1.
BC_FN complex128 erf_series(complex128 z) {
  const complex128 square = -(z * z);
  complex128 term = z, sum = z;
  for (int n = 1; n < 20; ++n) {
    term = term * square * (1.0 / n);
    sum = sum + term * (1.0 / (2 * n + 1));
  }
  return sum * 1.1283791670955126;
}
/// erfc for Re z >= 0.
BC_FN complex128 erfc_right(complex128 z) { return exp_minus_square(z) * faddeeva_upper(-z.im, z.re); }
BC_RARE complex128 erf(complex128 z) {
  if (is_real(z)) return {erf(z.re), z.im};
  if (z.re == 0.0) return {z.re, erfi(z.im)};
  if (has_nan(z)) return {nan(), nan()};
  if (square_size(z) < 1.0) return erf_series(z);
  if (z.re >= 0.0) return complex128(1.0, 0.0) - erfc_right(z);
  return plus_real(erfc_right(-z), -1.0);
}
BC_RARE complex128 erfc(complex128 z) {
  if (is_real(z)) return {erfc(z.re), -z.im};
  if (z.re == 0.0) return {1.0, -erfi(z.im)};
  if (has_nan(z)) return {nan(), nan()};
  return z.re >= 0.0 ? erfc_right(z) : complex128(2.0, 0.0) - erfc_right(-z);
}
BC_FN complex128 erfcx(complex128 z) { return is_real(z) ? complex128(erfcx(z.re), -z.im) : wofz(times_i(z)); }
BC_FN complex128 erfi(complex128 z) { return over_i(erf(times_i(z))); }
BC_RARE complex128 dawsn(complex128 z) {
  if (is_real(z)) return {dawsn(z.re), z.im};
  if (has_nan(z)) return {nan(), nan()};
  if (square_size(z) < 1.0) {
    const complex128 factor = z * z * -2.0;
    complex128 term = z, sum = z;
    for (int n = 1; n < 32; ++n) {
      term = term * factor * (1.0 / (2 * n + 1));
      sum = sum + term;
    }
    return sum;
  }
  const double sign = z.im < 0.0 ? -1.0 : 1.0;
  return times_i(exp_minus_square(z) - faddeeva_upper(sign * z.re, sign * z.im)) * (sign * 0.886226925452758);
}

BC_SPECIAL_COMPLEX1(wofz)
BC_SPECIAL_COMPLEX1(erf)
BC_SPECIAL_COMPLEX1(erfc)
BC_SPECIAL_COMPLEX1(erfcx)
BC_SPECIAL_COMPLEX1(erfi)
BC_SPECIAL_COMPLEX1(dawsn)

}  // namespace special_rows
}  // namespace bc
