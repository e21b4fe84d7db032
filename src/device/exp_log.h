// Exponentials and logarithms. On the CPU branch-free, so that loops vectorise: argument reduction by rounding with a large
// constant, then own minimax polynomials (Remez), in the manner of Cody & Waite (1980) and Muller (Elementary Functions, 2016).
#pragma once
#include "fp.h"

namespace bc {

/// Adding this rounds to an integer, which then lies in the low bits.
BC_TFN constexpr T round_magic() { return sizeof(T) == 4 ? T(0x1.8p23) : T(0x1.8p52); }

// ---- shared by all devices: the random generator needs the same logarithm everywhere
/// Splits x > 0 into 2^k * (1 + f) with 1 + f in [sqrt(1/2), sqrt(2)).
BC_FN void log_split(float x, float& k, float& f) {
  bool tiny = x < 0x1p-126f;
  u32 bits = bits_as<u32>(tiny ? x * 0x1p25f : x) + (0x3f800000u - 0x3f3504f3u);
  k = static_cast<float>(static_cast<i32>(bits >> 23) - (tiny ? 152 : 127));
  f = bits_as<float>((bits & 0x007fffffu) + 0x3f3504f3u) - 1.0f;
}
BC_FN void log_split(double x, double& k, double& f) {
  bool tiny = x < 0x1p-1022;
  u64 bits = bits_as<u64>(tiny ? x * 0x1p54 : x) + (0x3ff0000000000000ull - 0x3fe6a09e667f3bcdull);
  k = bits_as<double>(0x4330000000000000ull | (bits >> 52)) - (tiny ? 0x1p52 + 1077 : 0x1p52 + 1023);
  f = bits_as<double>((bits & 0x000fffffffffffffull) + 0x3fe6a09e667f3bcdull) - 1.0;
}

/// log(1 + f) - f
BC_FN float log_tail(float f) {
  float p =
      BC_P9(f, 0.33333313f, -0.25000164f, 0.2000222f, -0.16659519f, 0.14209771f, -0.12547289f, 0.12104939f, -0.1092892f, 0.053626545f);
  return f * f * fma(f, p, -0.5f);
}
BC_FN double log_tail(double f) {
  double z = f * f;
  double even = BC_P10(z, 0.3333333333333314, 0.20000000000066603, 0.14285714280094114, 0.11111111147420237, 0.0909092393294049,
                       0.07691529807430347, 0.06684589143863895, 0.05668378196195207, 0.06503486689729533, 0.026151030300477406);
  double odd = BC_P9(z, -0.24999999999987976, -0.16666666669825778, -0.12499999691452862, -0.10000015205813369, -0.08332913551542635,
                     -0.07149439361746508, -0.06196679586811688, -0.05677779532120786, -0.059817103563134966);
  return z * fma(f, fma(f, odd, even), -0.5);
}

// The logarithm to a base is k * c + f * scale + ...; every constant in two parts.
struct NaturalBase {
  enum { kScaled = false };
  BC_TFN static constexpr T hi() { return sizeof(T) == 4 ? T(0x1.62e8p-1) : T(0x1.62e42fefa4p-1); }
  BC_TFN static constexpr T lo() { return sizeof(T) == 4 ? T(-0x1.e8082ep-16) : T(-0x1.8432a1b0e2634p-43); }
  BC_TFN static constexpr T scale() { return T(1); }
  BC_TFN static constexpr T scale_lo() { return T(0); }
};
struct Base2 {
  enum { kScaled = true };
  BC_TFN static constexpr T hi() { return T(1); }
  BC_TFN static constexpr T lo() { return T(0); }
  BC_TFN static constexpr T scale() { return sizeof(T) == 4 ? T(0x1.715476p+0) : T(0x1.71547652b82fep+0); }
  BC_TFN static constexpr T scale_lo() { return sizeof(T) == 4 ? T(0x1.4ae0cp-26) : T(0x1.777d0ffda0d24p-56); }
};
struct Base10 {
  enum { kScaled = true };
  BC_TFN static constexpr T hi() { return sizeof(T) == 4 ? T(0x1.344p-2) : T(0x1.34413509f8p-2); }
  BC_TFN static constexpr T lo() { return sizeof(T) == 4 ? T(0x1.3509f8p-18) : T(-0x1.80433b83b532ap-44); }
  BC_TFN static constexpr T scale() { return sizeof(T) == 4 ? T(0x1.bcb7b2p-2) : T(0x1.bcb7b1526e50ep-2); }
  BC_TFN static constexpr T scale_lo() { return sizeof(T) == 4 ? T(-0x1.5b235ep-27) : T(0x1.95355baaafad3p-57); }
};

template <class Base, class T>
BC_INLINE T log_join(T k, T f) {
  constexpr T hi = Base::template hi<T>(), scale = Base::template scale<T>();
  T low = k * Base::template lo<T>();
  if constexpr (Base::kScaled != 0) low = fma(f, Base::template scale_lo<T>(), low);
  return fma(k, hi, fma(f, scale, fma(log_tail(f), scale, low)));
}
/// The logarithm of a finite x >= the smallest normal number, with the bits of log_any.
BC_FN double log_of_normal(double x) {
  u64 bits = bits_as<u64>(x) + (0x3ff0000000000000ull - 0x3fe6a09e667f3bcdull);
  double k = bits_as<double>(0x4330000000000000ull | (bits >> 52)) - (0x1p52 + 1023);
  return log_join<NaturalBase>(k, bits_as<double>((bits & 0x000fffffffffffffull) + 0x3fe6a09e667f3bcdull) - 1.0);
}
template <class Base, class T>
BC_INLINE T log_any(T x) {
  T k, f;
  log_split(x, k, f);
  T r = log_join<Base>(k, f);
  T special = x == T(0) ? -limits<T>::inf() : (x < T(0) ? limits<T>::nan() : x);
  return x > T(0) && x < limits<T>::inf() ? r : special;
}

/// On CUDA too: NVIDIA's give numbers beside the whole ones, log2(2^-1014) = -1013.9999999999999 and log10f(1e9) = 9.000001.
BC_FN float log2(float x) { return log_any<Base2>(x); }
BC_FN double log2(double x) { return log_any<Base2>(x); }
BC_FN float log10(float x) { return log_any<Base10>(x); }
BC_FN double log10(double x) { return log_any<Base10>(x); }

/// x = 2^k (1 + f) with 2/3 <= 1 + f < 4/3, for normal x; k times 2^23.
BC_FN float log_parts(float x, float& f) {
  u32 power = (bits_as<u32>(x) - 0x3f2aaaabu) & 0xff800000u;
  f = bits_as<float>(bits_as<u32>(x) - power) - 1.0f;
  return static_cast<float>(static_cast<i32>(power));
}
/// k log 2 + log(1 + f); 1.1 ulp.
BC_FN float log_sum(float k, float f) {
  float p = BC_P8(f, -0x1.ffffd6p-2f, 0x1.5554fcp-2f, -0x1.00145p-2f, 0x1.99d3a8p-3f, -0x1.503882p-3f, 0x1.1ea94cp-3f, -0x1.3b0e72p-3f,
                  0x1.1f243ep-3f);
  return fma(k, 0x1.62e43p-24f, fma(f, f * p, f));
}

// ---- exponentials: e^x = 2^n e^r, |r| <= ln(2) / 2
/// e^r - 1 - r
BC_FN float exp_tail(float r) { return r * r * BC_P5(r, 0.49999994f, 0.16666515f, 0.041668087f, 0.0083693005f, 0.0013838373f); }
BC_FN double exp_tail(double r) {
  return r * r *
         BC_P11(r, 0.5, 0.16666666666666688, 0.041666666666666824, 0.008333333333313889, 0.0013888888888777865, 0.00019841269903406994,
                2.4801587559806353e-05, 2.755722859541315e-06, 2.755708638054938e-07, 2.5113983462544334e-08, 2.096077590163711e-09);
}
/// p * 2^n, n given as bits of n + round_magic; two factors, so that overflow and subnormal results are rounded once.
template <class T>
BC_INLINE T scale_by(T p, T n_magic) {
  using L = float_layout<T>;
  using U = typename L::uint;
  U biased = bits_as<U>(n_magic) - bits_as<U>(round_magic<T>()) + static_cast<U>(4 * L::kBias);
  U first = biased >> 1, second = biased - first;
  constexpr U kShift = static_cast<U>(L::kBias);
  return p * bits_as<T>((first - kShift) << L::kMantissa) * bits_as<T>((second - kShift) << L::kMantissa);
}
template <class T>
BC_INLINE T clamp(T x, T lo, T hi) {
  x = x > hi ? hi : x;
  return x < lo ? lo : x;
}

#if BC_CUDA

BC_NATIVE1(exp, expf, exp)
BC_NATIVE1(exp2, exp2f, exp2)
BC_NATIVE1(expm1, expm1f, expm1)
BC_FN double log(double a) { return ::log(a); }
BC_FN float log(float x) {
  bool tiny = x < 0x1p-126f;
  float f, k = log_parts(tiny ? x * 0x1p23f : x, f);
  float r = log_sum(k + (tiny ? -23.0f * 0x1p23f : 0.0f), f);
  float special = x == 0.0f ? -limits<float>::inf() : (x < 0.0f ? limits<float>::nan() : x);
  return x > 0.0f && x < limits<float>::inf() ? r : special;
}
/// One comparison finds all numbers out of range: negative, zero, subnormal, infinite and NaN have |k| > 125 (so have some normal numbers).
BC_FN float log_fast(float x, u32& good) {
  float f, k = log_parts(x, f);
  require_magnitude_below(k, 125.5f * 0x1p23f, good);
  return log_sum(k, f);
}
BC_LIFT1_GOOD(log_fast)
BC_NATIVE1(log1p, log1pf, log1p)

#else

BC_FN float log(float x) { return log_any<NaturalBase>(x); }
BC_FN double log(double x) { return log_any<NaturalBase>(x); }

/// log(1 + x): k comes from the rounded 1 + x, f from x itself by one fused multiply-add.
template <class T>
BC_INLINE T native_log1p(T x) {
  using L = float_layout<T>;
  T u = T(1) + x, k, f;
  log_split(u, k, f);
  using U = typename L::uint;
  U two_k = (bits_as<U>(u) + (bits_as<U>(T(1)) - bits_as<U>(T(0x1.6a09e667f3bcdp-1)))) & L::kInf;
  T scale = bits_as<T>((static_cast<U>(2 * L::kBias) << L::kMantissa) - two_k);
  T exact = fma(x, scale, scale - T(1));
  T r = log_join<NaturalBase>(k, x < pow2<T>(L::kMantissa + 1) ? exact : f);
  T special = x == T(-1) ? -limits<T>::inf() : (x < T(-1) ? limits<T>::nan() : x);
  return x > T(-1) && x < limits<T>::inf() && x != T(0) ? r : special;
}
BC_FN float log1p(float x) { return native_log1p(x); }
BC_FN double log1p(double x) { return native_log1p(x); }

template <class T>
BC_INLINE T exp_reduce(T x, T& n_magic) {
  constexpr T kLog2e = sizeof(T) == 4 ? T(0x1.715476p+0) : T(0x1.71547652b82fep+0);
  constexpr T kHi = sizeof(T) == 4 ? T(0x1.62e43p-1) : T(0x1.62e42fefa39efp-1);
  constexpr T kLo = sizeof(T) == 4 ? T(-0x1.05c61p-29) : T(0x1.abc9e3b39803fp-56);
  n_magic = fma(x, kLog2e, round_magic<T>());
  T n = n_magic - round_magic<T>();
  return fma(n, -kLo, fma(n, -kHi, x));
}
template <class T>
BC_INLINE T native_exp(T x) {
  T n, r = exp_reduce(clamp(x, sizeof(T) == 4 ? T(-105) : T(-750), sizeof(T) == 4 ? T(90) : T(710)), n);
  return scale_by(T(1) + (r + exp_tail(r)), n);
}
BC_FN float exp(float x) { return native_exp(x); }
BC_FN double exp(double x) { return native_exp(x); }

template <class T>
BC_INLINE T native_exp2(T x) {
  constexpr T kLn2 = T(0x1.62e42fefa39efp-1);
  x = clamp(x, sizeof(T) == 4 ? T(-152) : T(-1080), sizeof(T) == 4 ? T(129) : T(1025));
  T n_magic = x + round_magic<T>();
  T r = (x - (n_magic - round_magic<T>())) * kLn2;
  return scale_by(T(1) + (r + exp_tail(r)), n_magic);
}
BC_FN float exp2(float x) { return native_exp2(x); }
BC_FN double exp2(double x) { return native_exp2(x); }

/// (e^x - 1) / 8 for x above -40; an eighth, so that it reaches beyond the overflow of e^x for sinh.
template <class T>
BC_INLINE T expm1_eighth(T x) {
  using L = float_layout<T>;
  using U = typename L::uint;
  T n_magic, r = exp_reduce(x, n_magic);
  T p = r + exp_tail(r);
  U bits = bits_as<U>(n_magic) - bits_as<U>(round_magic<T>()) + static_cast<U>(L::kBias - 3);
  T scale = bits_as<T>(bits << L::kMantissa);
  return fma(p, scale, scale - T(0.125));
}
template <class T>
BC_INLINE T native_expm1(T x) {
  T r = T(8) * expm1_eighth(clamp(x, T(-40), sizeof(T) == 4 ? T(90) : T(710)));
  return fabs(x) < pow2<T>(-float_layout<T>::kMantissa - 2) ? x : r;
}
BC_FN float expm1(float x) { return native_expm1(x); }
BC_FN double expm1(double x) { return native_expm1(x); }

#endif

BC_LIFT1(exp)
BC_LIFT1(exp2)
BC_LIFT1(expm1)
BC_LIFT1(log)
BC_LIFT1(log2)
BC_LIFT1(log10)
BC_LIFT1(log1p)

#if !BC_CUDA

/// Of a half, which is no subnormal float: the series to 2^-19 of log(1 + f) is 250 times finer than its result.
template <class Base>
BC_INLINE half log_half(half a) {
  float x = static_cast<float>(a);
  u32 bits = bits_as<u32>(x) + (0x3f800000u - 0x3f3504f3u);
  float k = static_cast<float>(static_cast<i32>(bits >> 23) - 127);
  float f = bits_as<float>((bits & 0x007fffffu) + 0x3f3504f3u) - 1.0f;
  float y = f * BC_P7(f, 1.000001f, -0.50001115f, 0.33314508f, -0.24909745f, 0.20496331f, -0.1866785f, 0.118960947f);
  float r = fma(k, Base::template hi<float>() + Base::template lo<float>(), y * Base::template scale<float>());
  float special = x == 0.0f ? -limits<float>::inf() : (x < 0.0f ? limits<float>::nan() : x);
  return half(x > 0.0f && x < limits<float>::inf() ? r : special);
}
BC_FN half log(half x) { return log_half<NaturalBase>(x); }
BC_FN half log2(half x) { return log_half<Base2>(x); }
BC_FN half log10(half x) { return log_half<Base10>(x); }

#endif

// log(e^a + e^b) from the larger one and the difference; equal infinities have no difference.
template <class T>
BC_INLINE T native_logaddexp(T a, T b) {
  constexpr T kLn2 = T(0x1.62e42fefa39efp-1);
  T d = a - b, r = (d > T(0) ? a : b) + log1p(exp(-fabs(d)));
  return a == b ? a + kLn2 : (d != d ? d : r);
}
template <class T>
BC_INLINE T native_logaddexp2(T a, T b) {
  constexpr T kLog2e = T(0x1.71547652b82fep+0);
  T d = a - b, r = (d > T(0) ? a : b) + log1p(exp2(-fabs(d))) * kLog2e;
  return a == b ? a + T(1) : (d != d ? d : r);
}
// If the terms cancel, only more digits help: float runs in double.
BC_FN double logaddexp(double a, double b) { return native_logaddexp(a, b); }
BC_FN float logaddexp(float a, float b) { return static_cast<float>(native_logaddexp<double>(a, b)); }
BC_FN float logaddexp2(float a, float b) { return static_cast<float>(native_logaddexp2<double>(a, b)); }
BC_FN double logaddexp2(double a, double b) { return native_logaddexp2(a, b); }
BC_LIFT2(logaddexp)
BC_LIFT2(logaddexp2)

}  // namespace bc
