// Bessel functions of real order and real argument. K, and J and Y, of two neighbouring orders in [-1/2, 3/2): near 0 by Temme's series,
// farther by fits in the order's square and the argument; then upwards in the order. J and I where they are small: power series, and from
// above by their recurrence. Float runs in double.
#pragma once
#include "bessel.h"

namespace bc {
namespace special_rows {

/// Orders up to which a recurrence may go; beyond it results are NaN.
BC_FN double last_order() { return 200000.0; }

/// The square of an order in the fits' variable.
BC_FN double order_variable(double square) { return fma(square, 0x1.c71c71c71c71cp-1, -1.0); }
/// The odd and even parts of 1 / gamma(1 + mu) for |mu| <= 1/2: odd mu + even (DLMF 5.7.1).
BC_FN void temme_gammas(double mu, double& odd, double& even) {
  const double o[] = {-0.5772156649015329,    0.04200263503409524,    0.04219773455554433,    -0.0072189432466631,
                      0.00021524167411495098, 2.013485478078824e-05,  -1.133027231981696e-06, -6.116095104481416e-09,
                      1.18127457048702e-09,   -7.782263439905071e-12, -5.100370287454476e-13};
  const double e[] = {1.0,
                      -0.6558780715202539,
                      0.16653861138229148,
                      -0.009621971527876973,
                      -0.0011651675918590652,
                      0.0001280502823881162,
                      -1.2504934821426706e-06,
                      -2.056338416977607e-07,
                      5.002007644469223e-09,
                      1.0434267116911005e-10,
                      -3.696805618642206e-12};
  odd = horner(mu * mu, o);
  even = horner(mu * mu, e);
}
/// What Temme's series for K and Y have in common (Journal of Computational Physics 19 and 21, 1975 and 1976): the first f, p and q, where
/// p and q are p0 / e and so on of the papers.
BC_FN void temme_start(double mu, double x, double& f, double& p, double& q) {
  double odd, even;
  temme_gammas(mu, odd, even);
  const double l = log(2.0 / x), s = mu * l, e = exp(s), below = 1.0 / e, t = s * s;
  const double sinh =
      fabs(s) < 1.0
          ? 1.0 +
                t / 6.0 * (1.0 + t / 20.0 * (1.0 + t / 42.0 * (1.0 + t / 72.0 * (1.0 + t / 110.0 * (1.0 + t / 156.0 * (1.0 + t / 210.0))))))
          : (e - below) / (2.0 * s);
  const double turn = pi() * mu;
  const double factor = fabs(mu) < 1e-4 ? 1.0 / (1.0 - turn * turn / 6.0) : turn / sin_near(turn);
  f = factor * (0.5 * (e + below) * odd + sinh * l * even);
  p = e / (even - mu * odd);
  q = below / (even + mu * odd);
}
/// exp(x) K of the orders mu and mu + 1, |mu| <= 1/2, x > 0.
BC_FN void k_base(double mu, double x, double& now, double& after) {
  const double m = mu * mu;
  if (x <= 2.0) {
    double f, p, q;
    temme_start(mu, x, f, p, q);
    p *= 0.5;
    q *= 0.5;
    const double t = 0.25 * x * x;
    double c = 1.0, first = f, second = p;
    for (int k = 1; k < 60; ++k) {
      const double inverse = 1.0 / (k * k - m);
      f = (k * f + p + q) * inverse;
      p *= (k + mu) * inverse;
      q *= (k - mu) * inverse;
      c *= t / k;
      first += c * f;
      second += c * (p - k * f);
      if (fabs(c * p) < 1e-18 * fabs(second) && fabs(c * f) < 1e-18 * fabs(first)) break;
    }
    const double scale = exp(x);
    now = scale * first;
    after = scale * second * 2.0 / x;
    return;
  }
  const double v = 1.0 / x, size = sqrt(0.5 * pi() * v), m1 = (mu + 1.0) * (mu + 1.0);
  double h, h1;
  if (x < 8.0) {
    double c[12];
    at_argument<12>(k_order_middle, 18, fma(v, 5.333333333333333, -1.6666666666666667), c);
    h = at_order<12>(c, order_variable(m));
    h1 = at_order<12>(c, order_variable(m1));
  } else {
    double c[8];
    at_argument<8>(k_order_far, 15, fma(v, 16.0, -1.0), c);
    h = at_order<8>(c, order_variable(m));
    h1 = at_order<8>(c, order_variable(m1));
  }
  now = size * fma((m - 0.25) * v, h, 1.0);
  after = size * fma((m1 - 0.25) * v, h1, 1.0);
}

/// J and Y of the orders mu and mu + 1, |mu| <= 1/2, for x > 5, by Hankel's P and Q.
BC_FN void jy_base(double mu, double x, double& j, double& j_after, double& y, double& y_after) {
  const double v = 1.0 / x, u = v * v, m = mu * mu, m1 = (mu + 1.0) * (mu + 1.0);
  double p[8], q[8];
  if (x < 9.0) {
    const double w = fma(u, 72.32142857142857, -1.8928571428571428);
    at_argument<8>(p_order_middle, 14, w, p);
    at_argument<8>(q_order_middle, 14, w, q);
  } else {
    const double w = fma(u, 162.0, -1.0);
    at_argument<8>(p_order_far, 14, w, p);
    at_argument<8>(q_order_far, 14, w, q);
  }
  const double p0 = fma((m - 0.25) * u, at_order<8>(p, order_variable(m)), 1.0), q0 = (m - 0.25) * v * at_order<8>(q, order_variable(m));
  const double p1 = fma((m1 - 0.25) * u, at_order<8>(p, order_variable(m1)), 1.0),
               q1 = (m1 - 0.25) * v * at_order<8>(q, order_variable(m1));
  const double turn = 0.5 * mu + 0.25, c = cos_pi(turn), d = sin_pi(turn), a = cos(x), b = sin(x), size = sqrt(2.0 / pi() * v);
  const double along = size * (a * c + b * d), across = size * (b * c - a * d);
  j = p0 * along - q0 * across;
  y = p0 * across + q0 * along;
  j_after = p1 * across + q1 * along;
  y_after = q1 * across - p1 * along;
}
/// Y of the orders mu and mu + 1, |mu| <= 1/2, for 0 < x <= 5.
BC_FN void y_base(double mu, double x, double& y, double& y_after) {
  const double m = mu * mu, turn = 0.5 * pi() * mu, t = -0.25 * x * x, s = sin_near(turn);
  double f, p, q;
  temme_start(mu, x, f, p, q);
  f *= 2.0 / pi();
  p /= pi();
  q /= pi();
  const double r = fabs(mu) < 1e-9 ? turn * pi() : 2.0 / mu * s * s;
  double c = 1.0, first = f + r * q, second = p;
  for (int k = 1; k < 60; ++k) {
    const double inverse = 1.0 / (k * k - m);
    f = (k * f + p + q) * inverse;
    p *= (k + mu) * inverse;
    q *= (k - mu) * inverse;
    c *= t / k;
    const double g = f + r * q;
    first += c * g;
    second += c * (p - k * g);
    if (fabs(c * p) < 1e-18 * fabs(second) && fabs(c * g) < 1e-18 * fabs(first)) break;
  }
  y = -first;
  y_after = -second * 2.0 / x;
}

/// Tells whether Hankel's expansions (DLMF 10.17, 10.40) have all digits.
BC_FN bool is_hankel_far(double v, double x) { return x > 30.0 && v * v < 2.0 * x; }
/// The sums over k of a(k) / x^k by k mod 4 (DLMF 10.17.1), for large x.
BC_FN void hankel_sums(double v, double x, double* sums) {
  const double four = 4.0 * v * v, scale = 0.125 / x;
  double term = 1.0;
  sums[0] = 1.0;
  sums[1] = sums[2] = sums[3] = 0.0;
  for (int k = 1; k < 200; ++k) {
    const double odd = 2.0 * k - 1.0, following = term * ((four - odd * odd) * scale / k);
    if (fabs(following) > fabs(term) && k > v) break;
    term = following;
    sums[k & 3] += term;
    if (fabs(term) < 1e-17) break;
  }
}
/// (x / 2)^v / gamma(v + 1) for v >= 0
BC_FN double power_over_gamma(double x, double v) {
  if (v <= 100.0) return power(0.5 * x, v) * rgamma(v + 1.0);
  const double u = 1.0 / (v * v), rest = (1.0 / 12.0 - u * (1.0 / 360.0 - u * (1.0 / 1260.0 - u / 1680.0))) / v;
  return power(1.3591409142295225 * x / v, v) * exp(-rest) / sqrt(2.0 * pi() * v);
}
/// The sum of t^k / (k! (v + 1) (v + 2) ... (v + k))
BC_FN double bessel_series(double v, double t) {
  double term = 1.0, sum = 1.0;
  for (int k = 1; k < 500; ++k) {
    term *= t / (k * (v + k));
    sum += term;
    if (fabs(term) <= 1e-17 * fabs(sum)) break;
  }
  return sum;
}
/// How many orders above v J or I are 1e-9 of what they are at v, x > 0: beyond them their recurrence downwards may begin at 0, with an
/// error of the square of that. From the other solution, which grows as these fall (Olver, Journal of Research NBS 71B, 1967).
BC_FN int orders_above(double v, double x, double sign) {
  double before = 0.0, now = 1.0;
  int k = 1;
  for (; fabs(now) < 1e9 && k < 2000000; ++k) {
    const double after = 2.0 * (v + k) / x * now + sign * before;
    before = now;
    now = after;
  }
  return k;
}

// ---- J and Y
/// J of order v >= 0 for x > 5.
BC_FN double j_from_base(double v, double x) {
  const double n = floor(v + 0.5), mu = v - n, twice = 2.0 / x;
  if (n > 20.0 && is_hankel_far(v, x)) {
    double s[4];
    hankel_sums(v, x, s);
    const double turn = 0.5 * v + 0.25, c = cos_pi(turn), d = sin_pi(turn), a = cos(x), b = sin(x);
    return sqrt(2.0 / (pi() * x)) * ((s[0] - s[2]) * (a * c + b * d) - (s[1] - s[3]) * (b * c - a * d));
  }
  double j, j_after, y, y_after;
  jy_base(mu, x, j, j_after, y, y_after);
  if (n <= 1.0) return n == 1.0 ? j_after : j;
  if (v <= x) {
    double now = j_after, before = j;
    for (double k = 1.0; k < n; k += 1.0) {
      const double next = twice * (mu + k) * now - before;
      before = now;
      now = next;
    }
    return now;
  }
  // Upwards J is lost beyond the argument. Downwards from far above v; its factor is known at mu and mu + 1.
  double above = 0.0, now = 1.0, wanted = 1.0;
  for (double k = v + orders_above(v, x, -1.0); k > v + 0.5; k -= 1.0) {
    const double below = twice * k * now - above;
    above = now;
    now = below;
  }
  above /= now;
  now = 1.0;
  for (double k = n; k > 0.5; k -= 1.0) {
    const double below = twice * (mu + k) * now - above;
    above = now;
    now = below;
    if (fabs(now) > 1e200) {
      now *= 1e-200;
      above *= 1e-200;
      wanted *= 1e-200;
    }
  }
  return fabs(j) > fabs(j_after) ? wanted / now * j : wanted / above * j_after;
}
/// Y of order v >= 0 for x > 0.
BC_FN double y_from_base(double v, double x) {
  const double n = floor(v + 0.5), mu = v - n, twice = 2.0 / x;
  if (n > 20.0 && is_hankel_far(v, x)) {
    double s[4];
    hankel_sums(v, x, s);
    const double turn = 0.5 * v + 0.25, c = cos_pi(turn), d = sin_pi(turn), a = cos(x), b = sin(x);
    return sqrt(2.0 / (pi() * x)) * ((s[0] - s[2]) * (b * c - a * d) + (s[1] - s[3]) * (a * c + b * d));
  }
  double j, j_after, before, now;
  if (x <= 5.0)
    y_base(mu, x, before, now);
  else
    jy_base(mu, x, j, j_after, before, now);
  if (n == 0.0) return before;
  for (double k = 1.0; k < n && fabs(now) < inf(); k += 1.0) {
    const double next = twice * (mu + k) * now - before;
    before = now;
    now = next;
  }
  return now;
}
BC_RARE double jv(double v, double x) {
  if (v != v || x != x) return v + x;
  const bool whole = v == floor(v);
  double sign = 1.0;
  if (x < 0.0) {
    if (!whole) return nan();
    sign = is_odd(v) ? -1.0 : 1.0;
    x = -x;
  }
  const double size = fabs(v);
  if (x == 0.0) return v == 0.0 ? 1.0 : (v > 0.0 || whole ? 0.0 : copysign(inf(), rgamma(v + 1.0)));
  if (x == inf() || size == inf()) return size == inf() ? nan() : 0.0;
  if (v < 0.0 && whole && is_odd(v)) sign = -sign;
  if ((v >= 0.0 || whole) && (x <= 5.0 || 0.25 * x * x <= 0.7 * (size + 1.0)))
    return sign * power_over_gamma(x, size) * bessel_series(size, -0.25 * x * x);
  if (size > last_order()) return nan();
  double j;
  if (x <= 5.0 || 0.25 * x * x <= 0.7 * (size + 1.0))
    j = power_over_gamma(x, size) * bessel_series(size, -0.25 * x * x);
  else
    j = j_from_base(size, x);
  return v >= 0.0 || whole ? sign * j : cos_pi(size) * j - sin_pi(size) * y_from_base(size, x);
}
BC_RARE double yv(double v, double x) {
  if (v != v || x != x || x < 0.0) return nan();
  const bool whole = v == floor(v);
  if (x == 0.0) {
    const double c = v < 0.0 ? cos_pi(v) : 1.0;
    return c != 0.0 ? -c * inf() : 0.0;
  }
  const double size = fabs(v);
  if (x == inf() || size > last_order()) return x == inf() && size < inf() ? 0.0 : nan();
  const double y = y_from_base(size, x);
  if (v >= 0.0) return y;
  return whole ? (is_odd(v) ? -y : y) : cos_pi(size) * y + sin_pi(size) * jv(size, x);
}

// ---- I and K
/// exp(x) K of the orders v and v + 1 for v >= 0 and x > 0, infinite beyond the largest number.
BC_FN void k_pair(double v, double x, double& now, double& after) {
  const double n = floor(v + 0.5), mu = v - n, twice = 2.0 / x;
  k_base(mu, x, now, after);
  for (double k = 1.0; k <= n && now < inf(); k += 1.0) {
    const double next = twice * (mu + k) * after + now;
    now = after;
    after = next;
  }
}
/// exp(x) K(v, x) for v >= 0 and x > 0.
BC_FN double k_scaled_of(double v, double x) {
  if (v > 20.0 && is_hankel_far(v, x)) {
    double s[4];
    hankel_sums(v, x, s);
    return sqrt(0.5 * pi() / x) * ((s[0] + s[2]) + (s[1] + s[3]));
  }
  double now, after;
  k_pair(v, x, now, after);
  return now;
}
/// exp(-x) I(v, x) for v >= 0 and x > 0.
BC_FN double i_scaled_of(double v, double x) {
  if (x <= 30.0 || 0.25 * x * x <= 2.0 * (v + 1.0)) {
    const double start = power_over_gamma(x, v);
    return start > 0.0 ? start * bessel_series(v, 0.25 * x * x) * exp(-x) : 0.0;
  }
  if (is_hankel_far(v, x)) {
    double s[4];
    hankel_sums(v, x, s);
    return ((s[0] + s[2]) - (s[1] + s[3])) / sqrt(2.0 * pi() * x);
  }
  // From K by the Wronskian (DLMF 10.28.2) and the quotient of neighbours.
  double now, after, above = 0.0, here = 1.0;
  k_pair(v, x, now, after);
  if (!(after < inf())) return 0.0;
  for (double k = v + orders_above(v, x, 1.0); k > v + 0.5; k -= 1.0) {
    const double below = 2.0 / x * k * here + above;
    above = here;
    here = below;
    if (here > 1e200) {
      here *= 1e-200;
      above *= 1e-200;
    }
  }
  return 1.0 / (x * (after + above / here * now));
}
/// e exp(x) for x of up to twice where the exponential overflows.
BC_FN double grown(double e, double x) {
  const double half = exp(0.5 * x);
  return e * half * half;
}
/// I(v, x), or exp(-|x|) I(v, x) with `scaled`.
BC_RARE double bessel_i(double v, double x, bool scaled) {
  if (v != v || x != x) return v + x;
  const bool whole = v == floor(v);
  double sign = 1.0;
  if (x < 0.0) {
    if (!whole) return nan();
    sign = is_odd(v) ? -1.0 : 1.0;
    x = -x;
  }
  const double size = fabs(v);
  if (x == 0.0) return v == 0.0 ? 1.0 : (v > 0.0 || whole ? 0.0 : copysign(inf(), rgamma(v + 1.0)));
  if (x == inf() || size > last_order()) return x == inf() && size < inf() ? (scaled ? 0.0 : sign * inf()) : nan();
  double e = i_scaled_of(size, x);
  if (v < 0.0 && !whole) e += 2.0 / pi() * sin_pi(size) * k_scaled_of(size, x) * exp(-2.0 * x);
  return sign * (scaled ? e : grown(e, x));
}
/// K(v, x), or exp(x) K(v, x) with `scaled`.
BC_RARE double bessel_k(double v, double x, bool scaled) {
  if (v != v || x != x || x < 0.0) return nan();
  if (x == 0.0) return inf();
  const double size = fabs(v);
  if (x == inf() || size > last_order()) return x == inf() && size < inf() ? 0.0 : nan();
  const double k = k_scaled_of(size, x);
  return scaled ? k : grown(k, -x);
}
BC_FN double iv(double v, double x) { return bessel_i(v, x, false); }
BC_FN double ive(double v, double x) { return bessel_i(v, x, true); }
BC_FN double kv(double v, double x) { return bessel_k(v, x, false); }
BC_FN double kve(double v, double x) { return bessel_k(v, x, true); }

BC_SPECIAL_FLOAT2(jv)
BC_SPECIAL_FLOAT2(yv)
BC_SPECIAL_FLOAT2(iv)
BC_SPECIAL_FLOAT2(ive)
BC_SPECIAL_FLOAT2(kv)
BC_SPECIAL_FLOAT2(kve)

}  // namespace special_rows
}  // namespace bc
