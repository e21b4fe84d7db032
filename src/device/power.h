// Roots, hypot and powers of real floats.
#pragma once
#include "hyperbolic.h"

namespace bc {

#if BC_CUDA

BC_NATIVE1(cbrt, cbrtf, cbrt)
BC_FN float hypot(float x, float y) { return ::hypotf(x, y); }

#else

/// The distance of r from a^(-1/3) = r (1 - h)^(-1/3): h = 1 - a r^3.
BC_TFN T cbrt_defect(T a, T r) { return fma(-(a * r), r * r, T(1)); }
/// a^(1/3) from r near a^(-1/3), by a Newton step with the exact residual.
BC_TFN T cbrt_finish(T a, T r) {
  T inverse_square = r * r, t = a * inverse_square;
  T square = t * t, square_lo = fma(t, t, -square);
  T residual = fma(square_lo, t, fma(square, t, -a));
  return fma(residual * inverse_square, T(-1.0 / 3), t);
}
/// The first guess of the inverse root, with |h| <= 0.103, is a constant less a third of the number's bits.
BC_FN float cbrt(float x) {
  float a = fabs(x);
  bool plain = a > 0 && a < limits<float>::inf(), tiny = a < 0x1p-90f;
  a *= tiny ? 0x1p48f : 1.0f;
  float r = bits_as<float>(0x54a1f600 - static_cast<i32>(static_cast<float>(bits_as<i32>(a)) * (1.0f / 3)));
  float h = cbrt_defect(a, r);
  r = fma(r * h, BC_P3(h, 0.33333162f, 0.22335502f, 0.17415005f), r);
  float t = cbrt_finish(a, r);
  return plain ? copysign(tiny ? t * 0x1p-16f : t, x) : x;
}
BC_FN double cbrt(double x) {
  double a = fabs(x);
  bool plain = a > 0 && a < limits<double>::inf(), tiny = a < 0x1p-900;
  a *= tiny ? 0x1p600 : 1.0;
  double r = bits_as<double>((0x553ee800ull - (((bits_as<u64>(a) >> 32) * 0xaaaaaaabull) >> 33)) << 32);
  double h = cbrt_defect(a, r);
  r = fma(r * h, BC_P3(h, 0.333331622, 0.223355015, 0.174150047), r);
  h = cbrt_defect(a, r);
  r = fma(r * h, fma(h, 2.0 / 9, 1.0 / 3), r);
  double t = cbrt_finish(a, r);
  return plain ? copysign(tiny ? t * 0x1p-200 : t, x) : x;
}

BC_FN float hypot(float x, float y) {
  double a = static_cast<double>(x), b = static_cast<double>(y);
  float r = static_cast<float>(sqrt(fma(a, a, b * b)));
  return fabs(x) == limits<float>::inf() || fabs(y) == limits<float>::inf() ? limits<float>::inf() : r;
}
#endif

/// Scales both by a power of two so that no square overflows or vanishes, then mends the square root by its residual. On
/// CUDA too: NVIDIA's gives 105.00000000000001 for (63, 84).
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

// x^y = 2^(y log2 x), the logarithm as the first terms of 2 artanh((m - 1) / (m + 1)) in two numbers, so that y log x keeps what the result
// needs (Dekker, A floating-point technique for extending the available precision, 1971; Muller, Elementary Functions, 2016).

/// x = 2^k m with m in [sqrt(1/2), sqrt(2)), for normal x > 0.
BC_FN void power_split(float x, float& k, float& m) {
  u32 bits = bits_as<u32>(x) - 0x3f3504f3u;
  k = static_cast<float>(static_cast<i32>(bits) >> 23);
  m = bits_as<float>((bits & 0x007fffffu) + 0x3f3504f3u);
}
BC_FN void power_split(double x, double& k, double& m) {
  u64 bits = bits_as<u64>(x) + (0x3ff0000000000000ull - 0x3fe6a09e667f3bcdull);
  k = bits_as<double>(0x4330000000000000ull | (bits >> 52)) - (0x1p52 + 1023);
  m = bits_as<double>((bits & 0x000fffffffffffffull) + 0x3fe6a09e667f3bcdull);
}
/// (m - 1) / (m + 1) = s + s_lo
template <class T>
BC_INLINE void power_quotient(T m, T& s, T& s_lo) {
  T f = m - T(1), d = m + T(1), d_lo = m - (d - T(1)), inverse = T(1) / d;
  s = f * inverse;
  s_lo = (fma(-s, d, f) - s * d_lo) * inverse;
}
/// y log2(2^k m) = t + t_lo
BC_FN void power_product(float k, float m, float y, float& t, float& t_lo) {
  constexpr float kFirst = 0x1.715476p+1f, kFirstLo = 0x1.4ae0cp-25f, kThird = 0x1.ec709ep-1f, kThirdLo = -0x1.e2fe02p-28f;
  float s, s_lo;
  power_quotient(m, s, s_lo);
  float z = s * s, z_lo = fma(s, s, -z) + (s + s) * s_lo;
  float rest = BC_P3(z, 0.5770802f, 0.4118481f, 0.33785853f);
  float q = z * kThird, q_lo = fma(z, kThird, -q) + fma(z * z, rest, fma(z, kThirdLo, z_lo * kThird));
  float w = kFirst + q, w_lo = ((kFirst - w) + q) + (q_lo + kFirstLo);
  float l = s * w, l_lo = fma(s, w, -l) + fma(s, w_lo, s_lo * w);
  float sum = k + l, sum_lo = (l - (sum - k)) + l_lo;
  t = y * sum;
  t_lo = fma(y, sum, -t) + y * sum_lo;
}
/// y log(2^k m) = t + t_lo, to base e
BC_FN void power_product(double k, double m, double y, double& t, double& t_lo) {
  constexpr double kThird = 0x1.5555555555555p-1, kThirdLo = 0x1.5555555555555p-55;
  double s, s_lo;
  power_quotient(m, s, s_lo);
  double z = s * s, z_lo = fma(s, s, -z) + (s + s) * s_lo;
  double rest = BC_P8(z, 0.3999999999999998, 0.2857142857144384, 0.22222222217789586, 0.18181818844035322, 0.15384558424025785,
                      0.133362647310131, 0.11675774920190497, 0.11981809806316894);
  double q = z * kThird, q_lo = fma(z, kThird, -q) + fma(z * z, rest, fma(z, kThirdLo, z_lo * kThird));
  double w = 2.0 + q, w_lo = ((2.0 - w) + q) + q_lo;
  double l = s * w, l_lo = fma(s, w, -l) + fma(s, w_lo, s_lo * w);
  double big = k * NaturalBase::hi<double>(), sum = big + l;
  double sum_lo = ((big - sum) + l) + fma(k, NaturalBase::lo<double>(), l_lo);
  t = y * sum;
  t_lo = fma(y, sum, -t) + y * sum_lo;
}
/// 2^(t + t_lo) = 2^n p. The line through 1 is taken in two numbers, so that whole powers of whole numbers come out exact.
BC_FN float power_result(float t, float t_lo, float& n_magic) {
  n_magic = (t + t_lo) + 0x1.8p23f;
  float rest = t - (n_magic - 0x1.8p23f), r = rest + t_lo, r_lo = (rest - r) + t_lo;
  float v = r * 0x1.62e43p-1f, v_lo = fma(r, 0x1.62e43p-1f, -v) + fma(r, -0x1.05c61p-29f, r_lo * 0x1.62e43p-1f);
  float one = 1.0f + v, one_lo = (1.0f - one) + v;
  return one + fma(r * r, BC_P5(r, 0.24022648f, 0.055503603f, 0.009618542f, 0.0013391296f, 0.00015319529f), one_lo + v_lo);
}
/// e^(t + t_lo) = 2^n p
BC_FN double power_result(double t, double t_lo, double& n_magic) {
  n_magic = fma(t + t_lo, 0x1.71547652b82fep+0, 0x1.8p52);
  double n = n_magic - 0x1.8p52;
  double r = fma(n, -NaturalBase::hi<double>(), t) + fma(n, -NaturalBase::lo<double>(), t_lo);
  return 1.0 + (r + exp_tail(r));
}

/// x^y of any numbers: |x|^y, then what is special, then the signs.
template <class T>
BC_INLINE T native_power(T x, T y) {
  using L = float_layout<T>;
  constexpr T kFar = sizeof(T) == 4 ? T(200) : T(800);  // as logarithms: beyond the ends of the range
  T a = fabs(x), k, m, t, t_lo, n_magic;
  bool tiny = a < limits<T>::min();
  power_split(tiny ? a * pow2<T>(L::kMantissa + 1) : a, k, m);
  power_product(tiny ? k - T(L::kMantissa + 1) : k, m, y, t, t_lo);
  bool inside = fabs(t + t_lo) < kFar;
  t = inside ? t : clamp(t, -kFar, kFar);
  T p = power_result(t, inside ? t_lo : T(0), n_magic), of = scale_by(p, n_magic);
  bool to_zero = (a < T(1)) != (y < T(0));
  of = a == T(0) || a == limits<T>::inf() || fabs(y) == limits<T>::inf() ? (to_zero ? T(0) : limits<T>::inf()) : of;
  of = x != x || y != y ? x + y : of;
  of = (a == T(1) && y == y) || x == T(1) || y == T(0) ? T(1) : of;
  T half_y = y * T(0.5);
  bool whole = rint(y) == y, odd = whole && rint(half_y) != half_y;
  of = odd ? copysign(of, x) : of;
  return x < T(0) && !whole && x > -limits<T>::inf() ? limits<T>::nan() : of;
}
/// On CUDA too: NVIDIA's pow gives 2047.9999999999998 for 2^11.
BC_FN float power(float x, float y) { return native_power(x, y); }
BC_FN double power(double x, double y) { return native_power(x, y); }

#if !BC_CUDA

/// The same bits where x is normal and above zero and the result is normal; sets `flag` elsewhere.
template <class T>
BC_INLINE T native_power_fast(T x, T y, u32& flag) {
  using L = float_layout<T>;
  using U = typename L::uint;
  constexpr T kFar = sizeof(T) == 4 ? T(125.5) : T(708);
  T k, m, t, t_lo, n_magic;
  power_split(x, k, m);
  power_product(k, m, y, t, t_lo);
  U least = bits_as<U>(limits<T>::min());
  flag |= static_cast<u32>(bits_as<U>(x) - least >= L::kInf - least) | static_cast<u32>(!(fabs(t + t_lo) < kFar));
  T p = power_result(t, t_lo, n_magic);
  return bits_as<T>(bits_as<U>(p) + (bits_as<U>(n_magic) << L::kMantissa));
}
BC_FN float power_fast(float x, float y, u32& flag) { return native_power_fast(x, y, flag); }
BC_FN double power_fast(double x, double y, u32& flag) { return native_power_fast(x, y, flag); }
BC_FN double float_power_fast(double x, double y, u32& flag) { return native_power_fast(x, y, flag); }

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
#if !BC_CUDA
BC_LIFT2_FAST(power_fast)
#endif

}  // namespace bc
