// Airy functions and their derivatives: polynomials near 0, and farther the factors of exponentials and waves (DLMF 9.7) as polynomials.
// Real arguments; float runs in double.
#pragma once
#include "gamma.h"

namespace bc {
namespace special_rows {

/// 2/3 x^(3/2) as two numbers, for x > 0.
BC_FN double airy_zeta(double x, double& rest) {
  const double root = sqrt(x), root_rest = fma(-root, root, x) / (2.0 * root), p = x * root, p_rest = fma(x, root, -p) + x * root_rest;
  const double high = 2.0 * p / 3.0;
  rest = (fma(-3.0, high, 2.0 * p) + 2.0 * p_rest) / 3.0;
  return high;
}
/// The cosine and sine of zeta - pi / 4, and v = 1 / zeta.
BC_FN void airy_wave(double x, double& along, double& across, double& v) {
  double rest;
  const double zeta = airy_zeta(x, rest), s = sin(zeta), c = cos(zeta), a = 0.7071067811865476 * (c + s), b = 0.7071067811865476 * (s - c);
  v = 1.0 / zeta;
  along = fma(-rest, b, a);
  across = fma(rest, a, b);
}
/// Ai, or Bi with `second`, at -x for x > 4 (DLMF 9.7.9, 9.7.11).
BC_FN double airy_left(double x, bool second) {
  double along, across, v;
  airy_wave(x, along, across, v);
  const double u = v * v, p = v < 1.0 / 9.0 ? airy_p_far(u) : airy_p_middle(u), q = v * (v < 1.0 / 9.0 ? airy_q_far(u) : airy_q_middle(u));
  return 0.5641895835477563 / sqrt(sqrt(x)) * (second ? q * along - p * across : p * along + q * across);
}
/// The derivatives (DLMF 9.7.10, 9.7.12).
BC_FN double airy_left_slope(double x, bool second) {
  double along, across, v;
  airy_wave(x, along, across, v);
  const double u = v * v, r = v < 1.0 / 9.0 ? airy_r_far(u) : airy_r_middle(u), s = v * (v < 1.0 / 9.0 ? airy_s_far(u) : airy_s_middle(u));
  return 0.5641895835477563 * sqrt(sqrt(x)) * (second ? r * along + s * across : r * across - s * along);
}
/// What a function is that falls or grows as exp(sign zeta) by the scaled one, or the other way round.
BC_FN double airy_unscaled(double scaled, double zeta, double rest, double sign) {
  const double half = exp(0.5 * sign * zeta);
  return scaled * fma(sign, rest, 1.0) * half * half;
}
BC_FN double airy_without(double value, double x, double sign) { return x > 0.0 ? value * exp(sign * 2.0 / 3.0 * x * sqrt(x)) : value; }

/// Ai; with `scaled` times exp(zeta), for x >= 0 alone.
BC_RARE double airy_ai_of(double x, bool scaled) {
  if (x != x || (scaled && x < 0.0)) return nan();
  if (fabs(x) > 1e100) return 0.0;
  if (x < -4.0) return airy_left(-x, false);
  if (x < 2.125) {
    const double value = x < -2.0 ? airy_ai_0(x) : (x < 0.0 ? airy_ai_1(x) : airy_ai_2(x));
    return scaled ? airy_without(value, x, 1.0) : value;
  }
  double rest;
  const double zeta = airy_zeta(x, rest), v = 1.0 / zeta;
  const double value = 0.28209479177387814 / sqrt(sqrt(x)) * (v < 0.125 ? airy_ai_far(v) : airy_ai_middle(v));
  return scaled ? value : airy_unscaled(value, zeta, rest, -1.0);
}
/// The derivative of Ai.
BC_RARE double airy_aip_of(double x, bool scaled) {
  if (x != x || (scaled && x < 0.0)) return nan();
  if (fabs(x) > 1e100) return x < 0.0 ? nan() : 0.0;
  if (x < -4.0) return airy_left_slope(-x, false);
  if (x < 2.125) {
    const double value = x < -2.0 ? airy_aip_0(x) : (x < 0.0 ? airy_aip_1(x) : airy_aip_2(x));
    return scaled ? airy_without(value, x, 1.0) : value;
  }
  double rest;
  const double zeta = airy_zeta(x, rest), v = 1.0 / zeta;
  const double value = -0.28209479177387814 * sqrt(sqrt(x)) * (v < 0.125 ? airy_aip_far(v) : airy_aip_middle(v));
  return scaled ? value : airy_unscaled(value, zeta, rest, -1.0);
}
/// Bi; with `scaled` times exp(-zeta) for x > 0.
BC_RARE double airy_bi_of(double x, bool scaled) {
  if (x != x) return x;
  if (fabs(x) > 1e100) return x < 0.0 || scaled ? 0.0 : inf();
  if (x < -4.0) return airy_left(-x, true);
  if (x < 2.125) {
    const double value = x < -2.0 ? airy_bi_0(x) : (x < 0.0 ? airy_bi_1(x) : airy_bi_2(x));
    return scaled ? airy_without(value, x, -1.0) : value;
  }
  double rest;
  const double zeta = airy_zeta(x, rest);
  const double part =
      x < 6.0 ? (x < 4.0 ? airy_bi_3(x) : airy_bi_4(x)) : (x < 11.0 ? (x < 8.0 ? airy_bi_5(x) : airy_bi_6(x)) : airy_bi_far(1.0 / zeta));
  const double value = 0.5641895835477563 / sqrt(sqrt(x)) * part;
  return scaled ? value : airy_unscaled(value, zeta, rest, 1.0);
}
/// The derivative of Bi.
BC_RARE double airy_bip_of(double x, bool scaled) {
  if (x != x) return x;
  if (fabs(x) > 1e100) return x < 0.0 ? nan() : inf();
  if (x < -4.0) return airy_left_slope(-x, true);
  if (x < 2.125) {
    const double value = x < -2.0 ? airy_bip_0(x) : (x < 0.0 ? airy_bip_1(x) : airy_bip_2(x));
    return scaled ? airy_without(value, x, -1.0) : value;
  }
  double rest;
  const double zeta = airy_zeta(x, rest);
  const double part = x < 6.0 ? (x < 4.0 ? airy_bip_3(x) : airy_bip_4(x))
                              : (x < 11.0 ? (x < 8.0 ? airy_bip_5(x) : airy_bip_6(x)) : airy_bip_far(1.0 / zeta));
  const double value = 0.5641895835477563 * sqrt(sqrt(x)) * part;
  return scaled ? value : airy_unscaled(value, zeta, rest, 1.0);
}
BC_FN double airy_ai(double x) { return airy_ai_of(x, false); }
BC_FN double airy_aip(double x) { return airy_aip_of(x, false); }
BC_FN double airy_bi(double x) { return airy_bi_of(x, false); }
BC_FN double airy_bip(double x) { return airy_bip_of(x, false); }
BC_FN double airye_ai(double x) { return airy_ai_of(x, true); }
BC_FN double airye_aip(double x) { return airy_aip_of(x, true); }
BC_FN double airye_bi(double x) { return airy_bi_of(x, true); }
BC_FN double airye_bip(double x) { return airy_bip_of(x, true); }

BC_SPECIAL_FLOAT1(airy_ai)
BC_SPECIAL_FLOAT1(airy_aip)
BC_SPECIAL_FLOAT1(airy_bi)
BC_SPECIAL_FLOAT1(airy_bip)
BC_SPECIAL_FLOAT1(airye_ai)
BC_SPECIAL_FLOAT1(airye_aip)
BC_SPECIAL_FLOAT1(airye_bi)
BC_SPECIAL_FLOAT1(airye_bip)

}  // namespace special_rows
}  // namespace bc
