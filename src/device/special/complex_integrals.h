// The exponential integrals, and products with logarithms, of complex arguments. complex<float> runs in double.
#pragma once
#include "complex_gamma.h"
#include "elementary.h"
#include "integrals.h"

namespace bc {
namespace special_rows {

/// E1(z): around the origin and the negative axis the power series (DLMF 6.6.2), which loses at most e^2 there; far along that axis the
/// asymptotic expansion (DLMF 6.12.1); elsewhere the continued fraction (DLMF 6.9.1, its even part) from the end, whose length follows
/// from its rate of convergence, exp(-4 sqrt(n) Re sqrt(z)).
BC_RARE complex128 exp1(complex128 z) {
  if (has_nan(z)) return {nan(), nan()};
  if (is_real(z)) {
    if (z.re > 0.0) return {exp1(z.re), -z.im};
    return z.re == 0.0 ? complex128(inf(), 0.0) : complex128(-expi(-z.re), -copysign(pi(), z.im));
  }
  const double size = hypot(z.re, z.im), spread = 0.5 * (size + z.re);
  if (spread <= 1.0 && size < 40.0) {
    complex128 term(1.0, 0.0), sum(0.0, 0.0);
    for (int n = 1; n < 200; ++n) {
      term = term * z * (-1.0 / n);
      sum = sum + term * (1.0 / n);
      if (n > size && square_size(term) < 1e-36 * square_size(sum) * n * n) break;
    }
    return -plus_real(log(z) + sum, 0.5772156649015329);
  }
  const complex128 e = exp(-z);
  if (spread <= 1.0) {
    const complex128 v = reciprocal_of(z);
    complex128 sum(1.0, 0.0);
    for (int n = 36; n >= 1; --n) sum = plus_real(sum * v * -static_cast<double>(n), 1.0);
    return e * v * sum;
  }
  const int n = static_cast<int>(88.0 / (spread < 88.0 ? spread : 88.0)) + 4;
  complex128 tail(0.0, 0.0);
  for (int k = n; k >= 1; --k) tail = complex128(static_cast<double>(k) * k, 0.0) / (plus_real(z, 2.0 * k + 1.0) - tail);
  return e / (plus_real(z, 1.0) - tail);
}
BC_RARE complex128 expi(complex128 z) {
  if (is_real(z)) return {expi(z.re), z.im};
  const complex128 r = exp1(-z);
  return {-r.re, copysign(pi(), z.im) - r.im};
}
BC_FN complex128 xlogy(complex128 x, complex128 y) { return x.re == 0.0 && x.im == 0.0 && !has_nan(y) ? complex128(0.0, 0.0) : x * log(y); }
BC_FN complex128 xlog1py(complex128 x, complex128 y) {
  return x.re == 0.0 && x.im == 0.0 && !has_nan(y) ? complex128(0.0, 0.0) : x * log1p(y);
}

BC_SPECIAL_COMPLEX1(exp1)
BC_SPECIAL_COMPLEX1(expi)
BC_SPECIAL_COMPLEX2(xlogy)
BC_SPECIAL_COMPLEX2(xlog1py)

}  // namespace special_rows
}  // namespace bc
