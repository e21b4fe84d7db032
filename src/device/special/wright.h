// Wright's generalized Bessel function of arguments that are not negative. Real arguments; float runs in double.
#pragma once
#include "gamma.h"

namespace bc {
namespace special_rows {

/// The k of the largest terms x^k / (k! gamma(a k + b)): k (a k + b)^a = x, by Newton's method on the logarithms.
BC_FN double wright_peak(double a, double b, double x) {
  const double l = log(x);
  double t = (l - a * log(a > 1e-300 ? a : 1e-300)) / (1.0 + a);
  if (t > 7.5) t = 7.5;
  for (int i = 0; i < 60; ++i) {
    const double k = exp(t), z = a * k + b;
    const double r = t + (a > 0.0 ? a * log(z) : 0.0) - l, step = r / (1.0 + a * a * k / z);
    t -= step;
    if (fabs(step) < 0.01) break;
  }
  return t > 0.0 ? rint(exp(t)) : 0.0;
}
/// The largest term; gamma(k + 1) = sqrt(2 pi k) (k / e)^k e^rest and the same for gamma(z), so that x^k becomes a power of
/// x / (k z^a), which is near 1 at the largest term.
BC_FN double wright_term(double a, double b, double x, double k) {
  const double z = fma(a, k, b);
  if (k < 10.0 || z < 10.0) {
    const double half = power(x, 0.5 * k);
    double below = 1.0;
    for (double i = 2.0; i <= k && k < 150.0; i += 1.0) below *= i;
    if (z < 170.0 && k < 150.0) return half * rgamma(z) / below * half;
    return exp(k * log(x) - gammaln(k + 1.0) - gammaln(z));
  }
  const double rest = exp(-stirling_rest(k) - stirling_rest(z)), z_lo = fma(a, k, -(z - b)) - ((z - (z - b)) - b);
  const double ratio = x / (k * power(z, a));
  const double e = 0.5 * (k + z), half = exp(e) * power(z, 0.25 - 0.5 * b);
  return 0.15915494309189535 / sqrt(k) * rest * half * power(ratio, k) * half * (1.0 + z_lo);
}
/// gamma(z) / gamma(z + a)
BC_FN double gamma_step(double a, double z) {
  if (z >= 10.0 && (z + a > 160.0)) return exp(-log_gamma_ratio(z, a));
  return z + a < 171.0 ? gamma(z) * rgamma(z + a) : exp(gammaln(z) - gammaln(z + a));
}
/// The sum of x^k / (k! gamma(a k + b)) over k >= 0: all terms are positive, so the sum from the largest outwards keeps its digits.
BC_RARE double wright_bessel(double a, double b, double x) {
  if (a != a || b != b || x != x || a < 0.0 || b < 0.0 || x < 0.0) return nan();
  if (a == inf() || b == inf()) return nan();
  if (x == inf()) return inf();
  if (x == 0.0) return rgamma(b);
  if (a == 0.0) return exp(x) * rgamma(b);
  double peak = wright_peak(a, b, x);
  if (b == 0.0 && peak == 0.0) peak = 1.0;  // the first term is 0
  const double largest = wright_term(a, b, x, peak);
  if (!(largest < inf())) return inf();
  double sum = 1.0, term = 1.0;
  for (double k = peak; k < peak + 1e5; k += 1.0) {
    term *= x / (k + 1.0) * gamma_step(a, fma(a, k, b));
    sum += term;
    if (term < 1e-17 * sum) break;
  }
  term = 1.0;
  for (double k = peak - 1.0; k >= 0.0; k -= 1.0) {
    const double z = fma(a, k, b);
    if (z == 0.0) break;
    term *= (k + 1.0) / x / gamma_step(a, z);
    sum += term;
    if (term < 1e-17 * sum) break;
  }
  return largest * sum;
}

BC_SPECIAL_FLOAT3(wright_bessel)

}  // namespace special_rows
}  // namespace bc
