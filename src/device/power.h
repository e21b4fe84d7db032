// Roots, hypot and powers of real floats.
#pragma once
#include "hyperbolic.h"

namespace bc {

#if BC_CUDA

BC_NATIVE1(cbrt, cbrtf, cbrt)
BC_NATIVE2(hypot, hypotf, hypot)
BC_NATIVE2(power, powf, pow)

#else

/// A third of the exponent as a first guess, Halley's steps, then one Newton step with the exact residual.
BC_FN float cbrt(float x) {
  float a = fabs(x);
  bool plain = a > 0 && a < limits<float>::inf(), tiny = a < 0x1p-60f, huge = a > 0x1p60f;
  a *= tiny ? 0x1p48f : (huge ? 0x1p-48f : 1.0f);
  float t = bits_as<float>(static_cast<u32>((static_cast<u64>(bits_as<u32>(a)) * 0xaaaaaaabull) >> 33) + 0x2a50c300u);
  float cube = t * t * t;
  t = t * (cube + 2.0f * a) / (2.0f * cube + a);
  float square = t * t, square_lo = fma(t, t, -square);
  float residual = fma(square_lo, t, fma(square, t, -a));
  t = t - residual / (3.0f * square);
  return plain ? copysign(t * (tiny ? 0x1p-16f : (huge ? 0x1p16f : 1.0f)), x) : x;
}
BC_FN double cbrt(double x) {
  double a = fabs(x);
  bool plain = a > 0 && a < limits<double>::inf(), tiny = a < 0x1p-300, huge = a > 0x1p300;
  a *= tiny ? 0x1p600 : (huge ? 0x1p-600 : 1.0);
  u64 high = bits_as<u64>(a) >> 32;
  double t = bits_as<double>((((high * 0xaaaaaaabull) >> 33) + 0x2a9f8400ull) << 32);
  double cube = t * t * t;
  t = t * (cube + 2.0 * a) / (2.0 * cube + a);
  cube = t * t * t;
  t = t * (cube + 2.0 * a) / (2.0 * cube + a);
  double square = t * t, square_lo = fma(t, t, -square);
  double residual = fma(square_lo, t, fma(square, t, -a));
  t = t - residual / (3.0 * square);
  return plain ? copysign(t * (tiny ? 0x1p-200 : (huge ? 0x1p200 : 1.0)), x) : x;
}

BC_FN float hypot(float x, float y) {
  double a = static_cast<double>(x), b = static_cast<double>(y);
  float r = static_cast<float>(sqrt(fma(a, a, b * b)));
  return fabs(x) == limits<float>::inf() || fabs(y) == limits<float>::inf() ? limits<float>::inf() : r;
}
/// Scales both by a power of two so that no square overflows or vanishes, then mends the square root by its residual.
BC_FN double hypot(double x, double y) {
  double a = fabs(x), b = fabs(y);
  double big = a < b ? b : a, small = a < b ? a : b;
  bool up = big > 0x1p510, down = big < 0x1p-450;
  double scale = up ? 0x1p-600 : (down ? 0x1p600 : 1.0), back = up ? 0x1p600 : (down ? 0x1p-600 : 1.0);
  big *= scale;
  small *= scale;
  double s = fma(big, big, small * small), h = sqrt(s);
  double square = h * h, square_lo = fma(h, h, -square);
  double big_square = big * big, big_lo = fma(big, big, -big_square);
  double error = ((big_square - square) + (big_lo - square_lo)) + small * small;
  h = h > 0 ? h + error / (2.0 * h) : h;
  double r = h * back;
  return a == limits<double>::inf() || b == limits<double>::inf() ? limits<double>::inf() : r;
}

// What is special about x^y comes by itself where log |x| is -inf of 0 and infinite or NaN of those, and y log |x| is 0 where a factor is:
// then e^(y log |x|) is 1, 0, inf or NaN as it should be. Left are the signs.

/// log |x| of any |x|, given that of finite numbers above 0.
template <class T, class L>
BC_INLINE L power_log(T a, L log_x) {
  L special = a == T(0) ? -limits<L>::inf() : static_cast<L>(a);
  return a > T(0) && a < limits<T>::inf() ? log_x : special;
}
/// x^y, given |x|^y: negative to an odd power of a negative number, NaN to one that is not whole.
template <class T>
BC_INLINE T power_sign(T x, T y, T r) {
  T half_y = y * T(0.5);
  bool whole = rint(y) == y, odd = whole && rint(half_y) != half_y;
  r = odd ? copysign(r, x) : r;
  return x < T(0) && !whole && x > -limits<T>::inf() ? limits<T>::nan() : r;
}

/// In double: log2(|x|) to 2^-44, then 2^(y log2 |x|).
BC_FN float power(float x, float y) {
  double k, f;
  log_split(static_cast<double>(fabs(x)), k, f);
  double s = f / (2.0 + f), z = s * s;
  double log_x = fma(
      k, 0x1.62e42fefa39efp-1,
      s * fma(z, BC_P5(z, 0.6666666667580468, 0.39999995620765655, 0.28572109257663947, 0.22176185000742174, 0.19584199819640552), 2.0));
  double n, r = exp_reduce(clamp(static_cast<double>(y) * log_x, -110.0, 95.0), n);
  double p = fma(r * r,
                 BC_P7(r, 0.5000000000426332, 0.16666666784428688, 0.04166666440821906, 0.008333281811315122, 0.0013889196534129556,
                       0.00019908941630500265, 2.4708470254351516e-05),
                 1.0 + r);
  double power_of_two = bits_as<double>((bits_as<u64>(n) - bits_as<u64>(0x1.8p52) + 1023) << 52);
  // In floats, of which a vector holds twice as many, and not by the doubles' own infinities.
  float a = fabs(x), of = static_cast<float>(p * power_of_two);
  bool to_zero = (a < 1.0f) != (y < 0.0f);
  of = a == 0.0f || a == limits<float>::inf() || fabs(y) == limits<float>::inf() ? (to_zero ? 0.0f : limits<float>::inf()) : of;
  of = x != x || y != y ? x + y : of;
  return power_sign(x, y, (a == 1.0f && y == y) || x == 1.0f || y == 0.0f ? 1.0f : of);
}

/// The logarithm in two doubles (the first terms of 2 artanh(f / (2 + f)) exactly enough), so that y log x keeps 64 bits.
BC_FN double power(double x, double y) {
  double k, f;
  log_split(fabs(x), k, f);
  double m = f + 1.0, d = m + 1.0, d_lo = m - (d - 1.0), inverse = 1.0 / d;
  double s = f * inverse, s_lo = (fma(-s, d, f) - s * d_lo) * inverse;
  double z = s * s, z_lo = fma(s, s, -z) + 2.0 * s * s_lo;
  constexpr double kThird2 = 0x1.5555555555555p-1, kThird2Lo = 0x1.5555555555555p-55;
  double rest = BC_P8(z, 0.3999999999999998, 0.2857142857144384, 0.22222222217789586, 0.18181818844035322, 0.15384558424025785,
                      0.133362647310131, 0.11675774920190497, 0.11981809806316894);
  double q = z * kThird2, q_lo = fma(z, kThird2, -q) + fma(z * z, rest, fma(z, kThird2Lo, z_lo * kThird2));
  double w = 2.0 + q, w_lo = ((2.0 - w) + q) + q_lo;
  double l = s * w, l_lo = fma(s, w, -l) + fma(s, w_lo, s_lo * w);
  double big = k * NaturalBase::hi<double>(), sum = big + l;
  double sum_lo = ((big - sum) + l) + fma(k, NaturalBase::lo<double>(), l_lo);
  double log_x = sum + sum_lo, log_lo = (sum - log_x) + sum_lo;
  log_x = power_log(fabs(x), log_x);
  double e = y * log_x, e_lo = fma(y, log_x, -e) + y * log_lo;
  bool inside = fabs(e) < 800.0;
  e = clamp(log_x == 0.0 || y == 0.0 ? 0.0 : e, -800.0, 800.0);
  double n_magic = fma(e, 0x1.71547652b82fep+0, 0x1.8p52), n = n_magic - 0x1.8p52;
  double r = fma(n, -NaturalBase::hi<double>(), e) + fma(n, -NaturalBase::lo<double>(), inside ? e_lo : 0.0);
  return power_sign(x, y, scale_by(1.0 + (r + exp_tail(r)), n_magic));
}

#endif

BC_LIFT1(cbrt)
#if !BC_CUDA
/// Of a half, whose cube is far from a float's ends: Halley's step leaves 3e-5 of the first guess's error, a twentieth of its last place.
BC_FN half cbrt(half h) {
  float x = static_cast<float>(h), a = fabs(x);
  float t = bits_as<float>(static_cast<i32>(static_cast<float>(bits_as<i32>(a)) * 0x1.555556p-2f) + 0x2a50c300);
  float cube = t * t * t;
  t = t * (cube + 2.0f * a) / (2.0f * cube + a);
  return half(a > 0.0f && a < limits<float>::inf() ? copysign(t, x) : x);
}
#endif
BC_LIFT2(hypot)
BC_LIFT2(power)

}  // namespace bc
