// Trigonometric functions and their inverses. sin, cos and tan are the same code on every device: it gives the same bits, and NVRTC
// compiles it in a fraction of the time of its own. Branch-free with own minimax polynomials; reduction by half turns in three parts
// with fused multiply-adds (Cody & Waite 1980), and beyond its range by Payne & Hanek (1983).
#pragma once
#include "exp_log.h"

namespace bc {

/// pi in three parts, all positive: so a negative zero stays one.
BC_TFN constexpr T pi_part(int i) {
  if constexpr (sizeof(T) == 4)
    return i == 0 ? T(0x1.921fb4p+1) : (i == 1 ? T(0x1.4442dp-23) : T(0x1.84698ap-47));
  else
    return i == 0 ? T(0x1.921fb54442d18p+1) : (i == 1 ? T(0x1.1a62633145c06p-53) : T(0x1.c1cd129024e09p-106));
}
/// x - n * pi * Fraction
template <class T>
BC_INLINE T take_turns(T x, T n, T fraction) {
  x = fma(n, -pi_part<T>(0) * fraction, x);
  x = fma(n, -pi_part<T>(1) * fraction, x);
  return fma(n, -pi_part<T>(2) * fraction, x);
}
/// The range in which the reduction in three parts is exact enough.
BC_TFN constexpr T trig_range() { return sizeof(T) == 4 ? T(0x1p17) : T(0x1p30); }

/// sin(r), |r| <= pi/2, without the sign of a zero.
BC_FN float sin_half_turn(float r) {
  float z = r * r;
  return fma(r * z, BC_P5(z, -0.16666667f, 0.0083333505f, -0.00019843093f, 2.762705e-06f, -2.5502594e-08f), r);
}
BC_FN double sin_half_turn(double r) {
  double z = r * r;
  return fma(r * z,
             BC_P8(z, -0.16666666666666666, 0.008333333333333207, -0.0001984126984121247, 2.755731921156607e-06, -2.5052106903906024e-08,
                   1.6058940965833141e-10, -7.643018151073413e-13, 2.7214038851749683e-15),
             r);
}
/// `size` with the sign of `signed_as`, negated if the last bit of `n_magic` is set.
template <class T>
BC_INLINE T with_turn(T size, T signed_as, T n_magic) {
  using L = float_layout<T>;
  using U = typename L::uint;
  U turned = bits_as<U>(signed_as) ^ (bits_as<U>(n_magic) << (8 * sizeof(T) - 1));
  return bits_as<T>(static_cast<U>((bits_as<U>(size) & ~L::kSign) | (turned & L::kSign)));
}
template <class T>
BC_INLINE u32 beyond_trig_range(T x) {
  return fabs(x) > trig_range<T>() ? 1u : 0u;
}

template <class T>
BC_INLINE T native_sin_fast(T x, u32& flag) {
  constexpr T kInversePi = T(0x1.45f306dc9c883p-2);
  T n_magic = fma(x, kInversePi, round_magic<T>());
  T r = take_turns(x, n_magic - round_magic<T>(), T(1));
  flag |= beyond_trig_range(x);
  return with_turn(sin_half_turn(r), r, n_magic);
}
/// cos(x) = -(-1)^n sin(|x| - (n + 1/2) pi)
template <class T>
BC_INLINE T native_cos_fast(T x, u32& flag) {
  constexpr T kInversePi = T(0x1.45f306dc9c883p-2);
  using U = typename float_layout<T>::uint;
  x = fabs(x);
  T n_magic = fma(x, kInversePi, T(-0.5)) + round_magic<T>();
  T r = take_turns(x, (n_magic - round_magic<T>()) + T(0.5), T(1));
  flag |= beyond_trig_range(x);
  U turn = (~bits_as<U>(n_magic)) << (8 * sizeof(T) - 1);
  return bits_as<T>(bits_as<U>(sin_half_turn(r)) ^ turn);
}
/// tan by quarter turns: s / c or -c / s
BC_FN void sincos_quarter(float r, float& s, float& c) {
  float z = r * r;
  s = fma(r * z, BC_P4(z, -0.16666667f, 0.008333379f, -0.00019853059f, 2.832455e-06f), r);
  float h = fma(z, -0.5f, 1.0f), h_lo = fma(z, -0.5f, 1.0f - h);
  c = h + fma(z * z, BC_P3(z, 0.041666646f, -0.001388731f, 2.4432324e-05f), h_lo);
}
BC_FN void sincos_quarter(double r, double& s, double& c) {
  double z = r * r;
  s = fma(r * z,
          BC_P6(z, -0.1666666666666663, 0.00833333333332184, -0.00019841269829358517, 2.7557313538501588e-06, -2.5050734385540802e-08,
                1.5895432969812817e-10),
          r);
  double h = fma(z, -0.5, 1.0), h_lo = fma(z, -0.5, 1.0 - h);
  c = h + fma(z * z,
              BC_P6(z, 0.041666666666666595, -0.0013888888888873346, 2.4801587289005945e-05, -2.7557314218300807e-07, 2.087570557536408e-09,
                    -1.135875862426921e-11),
              h_lo);
}
template <class T>
BC_INLINE T native_tan_fast(T x, u32& flag) {
  constexpr T kTwoByPi = T(0x1.45f306dc9c883p-1);
  using U = typename float_layout<T>::uint;
  T n_magic = fma(x, kTwoByPi, round_magic<T>()), s, c;
  T r = take_turns(x, n_magic - round_magic<T>(), T(0.5));
  sincos_quarter(r, s, c);
  s = copysign(s, r);
  flag |= beyond_trig_range(x);
  bool odd = (bits_as<U>(n_magic) & 1u) != 0;
  return (odd ? -c : s) / (odd ? s : c);
}
#define BC_TRIG_FAST(name)                                                              \
  BC_FN float name##_fast(float x, u32& flag) { return native_##name##_fast(x, flag); } \
  BC_FN double name##_fast(double x, u32& flag) { return native_##name##_fast(x, flag); }
BC_TRIG_FAST(sin)
BC_TRIG_FAST(cos)
BC_TRIG_FAST(tan)
#undef BC_TRIG_FAST

/// 2 / pi in words of 64 bits, the point behind the first.
BC_TABLE u64 kTwoByPi[] = {0x0000000000000000ull, 0xa2f9836e4e441529ull, 0xfc2757d1f534ddc0ull, 0xdb6295993c439041ull,
                           0xfe5163abdebbc561ull, 0xb7246e3a424dd2e0ull, 0x06492eea09d1921cull, 0xfe1deb1cb129a73eull,
                           0xe88235f52ebb4484ull, 0xe99c7026b45f7e41ull, 0x3991d639835339f4ull, 0x9c845f8bbdf9283bull,
                           0x1ff897ffde05980full, 0xef2f118b5a0a6d1full, 0x6d367ecf27cb09b7ull, 0x4f463f669e5fea2dull,
                           0x7527bac7ebe5f17bull, 0x3d0739f78a5292eaull, 0x6bfb5fb11f8d5d08ull, 0x56033046fc7b6babull,
                           0xf0cfbc209af4361dull};
/// sin(x + quarters * pi / 2) for any |x| > 2^-10, meant for those beyond the fast range: Payne & Hanek (1983) with 192 bits of 2 / pi.
BC_RARE double sin_far(double x, u32 quarters) {
  if (!(x - x == 0)) return x - x;
  u64 bits = bits_as<u64>(x);
  u64 m = (bits & 0x000fffffffffffffull) | 0x0010000000000000ull;
  i32 start = static_cast<i32>((bits >> 52) & 0x7ff) - 1075 - 2 + 64;  // bits of 2 / pi before it count whole turns only
  const u64* word = kTwoByPi + (start >> 6);
  i32 shift = start & 63;
  // Twice, because a shift by 64 is not one.
  u64 w0 = (word[0] << shift) | (word[1] >> 1 >> (63 - shift));
  u64 w1 = (word[1] << shift) | (word[2] >> 1 >> (63 - shift));
  u64 w2 = (word[2] << shift) | (word[3] >> 1 >> (63 - shift));
  // The upper 128 bits of m * w: the top two count quarter turns.
  u64 low = m * w1, carry = mul_high(m, w2);
  low += carry;
  u64 high = m * w0 + mul_high(m, w1) + (low < carry ? 1 : 0);
  if ((bits >> 63) != 0) high = ~high + (low == 0 ? 1 : 0), low = 0 - low;
  high += static_cast<u64>(quarters) << 62;
  // The nearest half turn goes to `odd`, the signed rest to (high, low).
  bool odd = ((high + (1ull << 62)) >> 63) != 0;
  if (odd) high += 1ull << 63;
  bool minus = (high >> 63) != 0;
  if (minus) high = ~high + (low == 0 ? 1 : 0), low = 0 - low;
  if ((high | low) == 0) return 0.0;
  i32 zeros = 0;
  if (high == 0) high = low, low = 0, zeros = 64;
  i32 more = count_leading_zeros(high);
  high = (high << more) | (low >> 1 >> (63 - more));
  low <<= more;
  zeros += more;
  double hi = static_cast<double>(high >> 11), lo = static_cast<double>(((high & 0x7ff) << 42) | (low >> 22)) * 0x1p-53;
  double r = hi * 0x1.921fb54442d18p+0;
  r += fma(hi, 0x1.921fb54442d18p+0, -r) + (hi * 0x1.1a62633145c07p-54 + lo * 0x1.921fb54442d18p+0);
  double s = sin_half_turn(r * pow2<double>(-51 - zeros));
  return minus != odd ? -s : s;
}
/// 2^(8 k - 8) / pi less an even number, k = 0 … 14, each in two parts of which the first has 52 bits behind the point.
BC_TABLE double kTurns[] = {
    0x1.45f306dc9c800p-10,  0x1.054a7f09d5f48p-55,  0x1.45f306dc9c884p-2,   -0x1.5ac07b1505c16p-54, -0x1.067c91b1bbeaep-1,
    0x1.3f84eafa3ea6ap-54,  0x1.836e4e44152a0p-1,   -0x1.ec54170565912p-56, -0x1.236377d5ac07cp-2,  0x1.d5f47d4d37703p-55,
    -0x1.b1bbead603d8ap-1,  -0x1.05c1596447e49p-54, -0x1.bbead603d8a82p-1,  -0x1.c1596447e493bp-54, 0x1.529fc2757d200p-5,
    -0x1.596447e493ad5p-54, 0x1.29fc2757d1f54p-1,   -0x1.6447e493ad4cep-54, 0x1.fc2757d1f534ep-1,   -0x1.1f924eb53361ep-56,
    0x1.3abe8fa9a6ee0p-4,   0x1.b6c52b3278872p-58,  -0x1.505c1596447e4p-2,  -0x1.275a99b0ef1bfp-55, -0x1.70565911f9250p-4,
    0x1.4acc9e21c8210p-56,  0x1.f534ddc0db62ap-1,   -0x1.4cd8778df7c03p-54, 0x1.34ddc0db6295ap-1,   -0x1.b0ef1bef806bap-55};
/// The same for floats from 2^15 on: x = y 2^(8 k - 8), y whole where k > 0, so y kTurns[k] is x / pi less an even number. Short, because
/// it is compiled with every kernel that has a sine.
BC_RARE float sin_far(float x, u32 quarters) {
  u32 bits = bits_as<u32>(x), k = ((bits & 0x7fffffffu) - (142u << 23)) >> 26;
  double y = bits_as<float>(bits - (k << 26) + (1u << 26)), half_turns = quarters * 0.5;
  double n_magic = fma(y, kTurns[2 * k], half_turns) + round_magic<double>();
  double r = fma(y, kTurns[2 * k], half_turns - (n_magic - round_magic<double>()));  // exact
  r = fma(y, kTurns[2 * k + 1], r);
  float s = sin_half_turn(static_cast<float>(r * 0x1.921fb54442d18p+1));
  return bits_as<float>(bits_as<u32>(s) ^ (static_cast<u32>(bits_as<u64>(n_magic)) << 31)) + (x - x);
}
BC_EXACT double sin(double x) {
  u32 flag = 0;
  double y = sin_fast(x, flag);
  return flag ? sin_far(x, 0) : y;
}
BC_EXACT double cos(double x) {
  u32 flag = 0;
  double y = cos_fast(x, flag);
  return flag ? sin_far(x, 1) : y;
}
BC_EXACT double tan(double x) {
  u32 flag = 0;
  double y = tan_fast(x, flag);
  return flag ? sin_far(x, 0) / sin_far(x, 1) : y;
}
BC_EXACT float sin(float x) {
  u32 flag = 0;
  float y = sin_fast(x, flag);
  return flag ? sin_far(x, 0) : y;
}
BC_EXACT float cos(float x) {
  u32 flag = 0;
  float y = cos_fast(x, flag);
  return flag ? sin_far(x, 1) : y;
}
BC_EXACT float tan(float x) {
  u32 flag = 0;
  float y = tan_fast(x, flag);
  return flag ? sin_far(x, 0) / sin_far(x, 1) : y;
}

// ---- inverse functions
#if BC_CUDA

BC_NATIVE1(arcsin, asinf, asin)
BC_NATIVE1(arccos, acosf, acos)
BC_NATIVE1(arctan, atanf, atan)
BC_NATIVE2(arctan2, atan2f, atan2)

#else

/// arctan(t), |t| <= tan(pi/8), less t
BC_FN float arctan_tail(float t) {
  float z = t * t;
  return t * z * BC_P5(z, -0.33333316f, 0.19998528f, -0.14244391f, 0.105991684f, -0.060900506f);
}
BC_FN double arctan_tail(double t) {
  double z = t * t;
  return t * z *
         BC_P11(z, -0.333333333333332, 0.19999999999953666, -0.14285714280183306, 0.11111110781868407, -0.09090897692049747,
                0.07692058794926973, -0.06663085724676093, 0.0584774092719032, -0.05038556821650437, 0.03804299236769119,
                -0.017880028445520776);
}
/// The angle of (x, y): one division brings y / x, (y - x) / (y + x) or -x / y below tan(pi/8).
template <class T>
BC_INLINE T native_arctan2(T y, T x) {
  constexpr T kTan = T(0.41421356237309503);
  constexpr T kQuarterHi = sizeof(T) == 4 ? T(0x1.921fb6p-1) : T(0x1.921fb54442d18p-1);
  constexpr T kQuarterLo = sizeof(T) == 4 ? T(-0x1.777a5cp-26) : T(0x1.1a62633145c07p-55);
  T a = fabs(y), b = fabs(x);
  bool both = a == limits<T>::inf() && b == limits<T>::inf();
  a = both ? T(1) : a;
  b = both ? T(1) : b;
  T size = a > b ? a : b;  // the sum must not overflow, the comparisons need normal numbers
  T scale = size > limits<T>::max() * T(0.25) ? T(0.25) : (size < T(0x1p-100) ? T(0x1p60) : T(1));
  a *= scale;
  b *= scale;
  bool steep = b < a * kTan, flat = a <= b * kTan;
  T top = steep ? -b : (flat ? a : a - b), bottom = steep ? a : (flat ? b : a + b);
  T t = bottom == T(0) ? T(0) : top / bottom;
  bool left = signbit(x);
  T quarters = steep ? T(2) : (flat ? T(0) : T(1));
  quarters = left ? T(4) - quarters : quarters;
  T tail = arctan_tail(t);
  t = left ? -t : t;
  tail = left ? -tail : tail;
  T base = quarters * kQuarterHi, sum = base + t;  // 3 * kQuarterHi may be rounded: the difference goes into the low part
  T base_lo = fma(quarters, kQuarterHi, -base) + quarters * kQuarterLo;
  T r = sum + (((base - sum) + t) + (base_lo + tail));
  r = copysign(r, y);
  return y != y || x != x ? x + y : r;
}
template <class T>
BC_INLINE T native_arctan(T x) {
  constexpr T kTan = T(0.41421356237309503);
  constexpr T kQuarterHi = sizeof(T) == 4 ? T(0x1.921fb6p-1) : T(0x1.921fb54442d18p-1);
  constexpr T kQuarterLo = sizeof(T) == 4 ? T(-0x1.777a5cp-26) : T(0x1.1a62633145c07p-55);
  T a = fabs(x);
  bool steep = a > T(2.414213562373095), flat = a <= kTan;
  T t = (steep ? T(-1) : (flat ? a : a - T(1))) / (steep ? a : (flat ? T(1) : a + T(1)));
  T quarters = steep ? T(2) : (flat ? T(0) : T(1));
  T base = quarters * kQuarterHi, sum = base + t;
  T r = sum + (((base - sum) + t) + fma(quarters, kQuarterLo, arctan_tail(t)));
  return copysign(r, x);
}
BC_FN float arctan(float x) { return native_arctan(x); }
BC_FN double arctan(double x) { return native_arctan(x); }
BC_FN float arctan2(float y, float x) { return native_arctan2(y, x); }
BC_FN double arctan2(double y, double x) { return native_arctan2(y, x); }

/// (arcsin(s) - s) / s, given z = s^2 <= 1/4
BC_FN float arcsin_tail(float z) { return z * BC_P5(z, 0.16666752f, 0.074953094f, 0.045469146f, 0.024184814f, 0.042158227f); }
BC_FN double arcsin_tail(double z) {
  return z * BC_P13(z, 0.1666666666666676, 0.07499999999970865, 0.044642857174584286, 0.03038194270764277, 0.02237221502429038,
                    0.017351606999568073, 0.01398100622662417, 0.011395719739770709, 0.010810795457723898, 0.0035331687057273934,
                    0.022288422670996462, -0.02206562064675914, 0.03345606122463802);
}
/// Above 1/2: arcsin(x) = pi/2 - 2 arcsin(sqrt((1 - x) / 2)).
template <class T>
BC_INLINE T native_arcsin(T x) {
  constexpr T kHalfPiHi = sizeof(T) == 4 ? T(0x1.921fb6p+0) : T(0x1.921fb54442d18p+0);
  constexpr T kHalfPiLo = sizeof(T) == 4 ? T(-0x1.777a5cp-25) : T(0x1.1a62633145c07p-54);
  T a = fabs(x);
  bool high = a > T(0.5);
  T z = high ? (T(1) - a) * T(0.5) : a * a;
  T s = high ? sqrt(z) : a;
  T tail = s * arcsin_tail(z);
  // The rounding error of the square root, so that the result near 1/2 stays within a unit.
  T root_error = high && s > T(0) ? fma(-s, s, z) / (T(2) * s) : T(0);
  T r = high ? kHalfPiHi - (T(2) * s - (kHalfPiLo - T(2) * (tail + root_error))) : s + tail;
  return copysign(r, x);
}
template <class T>
BC_INLINE T native_arccos(T x) {
  constexpr T kHalfPiHi = sizeof(T) == 4 ? T(0x1.921fb6p+0) : T(0x1.921fb54442d18p+0);
  constexpr T kHalfPiLo = sizeof(T) == 4 ? T(-0x1.777a5cp-25) : T(0x1.1a62633145c07p-54);
  T a = fabs(x);
  bool high = a > T(0.5);
  T z = high ? (T(1) - a) * T(0.5) : a * a;
  T s = high ? sqrt(z) : x;
  T tail = s * arcsin_tail(z);
  T middle = kHalfPiHi - (s - (kHalfPiLo - tail));
  T right = T(2) * (s + tail), left = T(2) * kHalfPiHi - (right - T(2) * kHalfPiLo);
  return high ? (x > T(0) ? right : left) : middle;
}
BC_FN float arcsin(float x) { return native_arcsin(x); }
BC_FN double arcsin(double x) { return native_arcsin(x); }
BC_FN float arccos(float x) { return native_arccos(x); }
BC_FN double arccos(double x) { return native_arccos(x); }

#endif

BC_LIFT1_FAST(sin_fast)
BC_LIFT1_FAST(cos_fast)
BC_LIFT1_FAST(tan_fast)
BC_LIFT1(sin)
BC_LIFT1(cos)
BC_LIFT1(tan)
BC_LIFT1(arcsin)
BC_LIFT1(arccos)
BC_LIFT1(arctan)
BC_LIFT2(arctan2)

}  // namespace bc
