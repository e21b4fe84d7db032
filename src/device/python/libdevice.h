// libdevice's functions by CUDA's names, and what has none: tuples for results by pointer, directed rounding on the CPU, small floats.
#pragma once
#include "core.h"

namespace bc {
namespace py {

// ---- results by pointer
template <class R>
BC_INLINE R sincos(float x) {
  float s, c;
  ::sincosf(x, &s, &c);
  return R{s, c};
}
template <class R>
BC_INLINE R sincos(double x) {
  double s, c;
  ::sincos(x, &s, &c);
  return R{s, c};
}
template <class R, class T>
BC_INLINE R sincospi(T x) {
  return R{::sinpi(x), ::cospi(x)};
}
template <class R, class T>
BC_INLINE R frexp(T x) {
  int exponent;
  const T mantissa = ::frexp(x, &exponent);
  return R{mantissa, exponent};
}
template <class R, class T>
BC_INLINE R modf(T x) {
  const T whole = bc::trunc(x);
  return R{bc::copysign(bc::isinf(x) ? T(0) : x - whole, x), whole};
}
template <class R, class T>
BC_INLINE R remquo(T x, T y) {
  int quotient;
#if BC_CUDA
  const T rest = ::remquo(x, y, &quotient);
#else
  const T rest = sizeof(T) == 4 ? static_cast<T>(__builtin_remquof(static_cast<float>(x), static_cast<float>(y), &quotient))
                                : static_cast<T>(__builtin_remquo(static_cast<double>(x), static_cast<double>(y), &quotient));
#endif
  return R{rest, quotient};
}
BC_FN float powi(float x, int n) { return static_cast<float>(::pow(static_cast<double>(x), n)); }

// ---- rounding in a direction
enum class Toward { zero, up, down, nearest };

#if !BC_CUDA
/// The neighbour of the nearest result `r` that the direction wants, when the true result is r + something of the sign of `error`.
template <Toward D, class T>
BC_INLINE T directed(T r, T error) {
  if (!(error != 0) || !(r - r == 0)) return r;
  const bool down = D == Toward::down || (D == Toward::zero && r > 0), up = D == Toward::up || (D == Toward::zero && r < 0);
  if (down && error < 0) return bc::nextafter(r, -limits<T>::inf());
  if (up && error > 0) return bc::nextafter(r, limits<T>::inf());
  return r;
}
/// The rounding error of a sum of two (Knuth).
template <class T>
BC_INLINE T sum_error(T a, T b, T s) {
  const T part = s - a;
  return (a - (s - part)) + (b - part);
}
template <Toward D, class T>
BC_INLINE T add_to(T a, T b) {
  const T s = a + b;
  return directed<D>(s, sum_error(a, b, s));
}
template <Toward D, class T>
BC_INLINE T mul_to(T a, T b) {
  const T p = a * b;
  return directed<D>(p, bc::fma(a, b, -p));
}
template <Toward D, class T>
BC_INLINE T div_to(T a, T b) {
  const T q = a / b, rest = bc::fma(-q, b, a);
  return directed<D>(q, b < 0 ? -rest : rest);
}
template <Toward D, class T>
BC_INLINE T sqrt_to(T a) {
  const T r = bc::sqrt(a);
  return a > 0 ? directed<D>(r, bc::fma(-r, r, a)) : r;
}
/// The error of a fused product is two numbers (Boldo and Muller, 2005); their sum has the sign that matters.
template <Toward D, class T>
BC_INLINE T fma_to(T a, T b, T c) {
  const T r = bc::fma(a, b, c), product = a * b, rest = bc::fma(a, b, -product);
  const T low = c + rest, lower = sum_error(c, rest, low);
  const T high = product + low, middle = sum_error(product, low, high);
  const T most = (high - r) + middle;
  return directed<D>(r, most + lower);
}
template <Toward D>
BC_INLINE float narrow_to(double x) {
  const float r = static_cast<float>(x);
  const double rest = x - static_cast<double>(r);
  return directed<D>(r, rest > 0 ? 1.0f : (rest < 0 ? -1.0f : 0.0f));
}
template <Toward D, class T, class I>
BC_INLINE T whole_to(I x) {
  const T r = static_cast<T>(x);
  const __int128 rest = static_cast<__int128>(x) - static_cast<__int128>(r);
  return directed<D>(r, rest > 0 ? T(1) : (rest < 0 ? T(-1) : T(0)));
}
#define BC_PY_DIRECTED(prefix, suffix, fma_name, T, D)                \
  BC_FN T prefix##add_##suffix(T a, T b) { return add_to<D>(a, b); }  \
  BC_FN T prefix##sub_##suffix(T a, T b) { return add_to<D>(a, -b); } \
  BC_FN T prefix##mul_##suffix(T a, T b) { return mul_to<D>(a, b); }  \
  BC_FN T prefix##div_##suffix(T a, T b) { return div_to<D>(a, b); }  \
  BC_FN T prefix##rcp_##suffix(T a) { return div_to<D>(T(1), a); }    \
  BC_FN T prefix##sqrt_##suffix(T a) { return sqrt_to<D>(a); }        \
  BC_FN T fma_name##_##suffix(T a, T b, T c) { return fma_to<D>(a, b, c); }
#define BC_PY_WHOLE(suffix, D)                                              \
  BC_PY_DIRECTED(f, suffix, fmaf, float, D)                                 \
  BC_PY_DIRECTED(d, suffix, fma, double, D)                                 \
  BC_FN float double2float_##suffix(double x) { return narrow_to<D>(x); }   \
  BC_FN float int2float_##suffix(i32 x) { return whole_to<D, float>(x); }   \
  BC_FN float uint2float_##suffix(u32 x) { return whole_to<D, float>(x); }  \
  BC_FN float ll2float_##suffix(i64 x) { return whole_to<D, float>(x); }    \
  BC_FN float ull2float_##suffix(u64 x) { return whole_to<D, float>(x); }   \
  BC_FN double ll2double_##suffix(i64 x) { return whole_to<D, double>(x); } \
  BC_FN double ull2double_##suffix(u64 x) { return whole_to<D, double>(x); }
BC_PY_WHOLE(rz, Toward::zero)
BC_PY_WHOLE(ru, Toward::up)
BC_PY_WHOLE(rd, Toward::down)
#undef BC_PY_WHOLE
#undef BC_PY_DIRECTED
#else
#define BC_PY_DIRECTED(prefix, suffix, fma_name, T)                                 \
  BC_FN T prefix##add_##suffix(T a, T b) { return __##prefix##add_##suffix(a, b); } \
  BC_FN T prefix##sub_##suffix(T a, T b) { return __##prefix##sub_##suffix(a, b); } \
  BC_FN T prefix##mul_##suffix(T a, T b) { return __##prefix##mul_##suffix(a, b); } \
  BC_FN T prefix##div_##suffix(T a, T b) { return __##prefix##div_##suffix(a, b); } \
  BC_FN T prefix##rcp_##suffix(T a) { return __##prefix##rcp_##suffix(a); }         \
  BC_FN T prefix##sqrt_##suffix(T a) { return __##prefix##sqrt_##suffix(a); }       \
  BC_FN T fma_name##_##suffix(T a, T b, T c) { return __##fma_name##_##suffix(a, b, c); }
#define BC_PY_WHOLE(suffix)                                                          \
  BC_PY_DIRECTED(f, suffix, fmaf, float)                                             \
  BC_PY_DIRECTED(d, suffix, fma, double)                                             \
  BC_FN float double2float_##suffix(double x) { return __double2float_##suffix(x); } \
  BC_FN float int2float_##suffix(i32 x) { return __int2float_##suffix(x); }          \
  BC_FN float uint2float_##suffix(u32 x) { return __uint2float_##suffix(x); }        \
  BC_FN float ll2float_##suffix(i64 x) { return __ll2float_##suffix(x); }            \
  BC_FN float ull2float_##suffix(u64 x) { return __ull2float_##suffix(x); }          \
  BC_FN double ll2double_##suffix(i64 x) { return __ll2double_##suffix(x); }         \
  BC_FN double ull2double_##suffix(u64 x) { return __ull2double_##suffix(x); }
BC_PY_WHOLE(rz)
BC_PY_WHOLE(ru)
BC_PY_WHOLE(rd)
#undef BC_PY_WHOLE
#undef BC_PY_DIRECTED
#endif

// ---- halves and bfloat16: each function in float, rounded once
/// a * b + c, rounded once: the product is exact in the wider type; the sum is rounded to odd there, so that rounding it again gives what
/// one rounding would. A product of bfloat16s has more exponents than float.
BC_FN half small_fma(half a, half b, half c) {
  const float product = static_cast<float>(a) * static_cast<float>(b), z = static_cast<float>(c), s = product + z;
  const float part = s - product, error = (product - (s - part)) + (z - part);
  u32 bits = bits_as<u32>(s);
  if (error != 0 && s - s == 0 && (bits & 1u) == 0) bits += (error > 0) == (s > 0) ? 1u : 0xffffffffu;
  return half(bits_as<float>(bits));
}
BC_FN bfloat16 small_fma(bfloat16 a, bfloat16 b, bfloat16 c) {
  const double product = static_cast<double>(float(a)) * static_cast<double>(float(b)), z = static_cast<double>(float(c)), s = product + z;
  const double part = s - product, error = (product - (s - part)) + (z - part);
  u64 bits = bits_as<u64>(s);
  if (error != 0 && s - s == 0 && (bits & 1u) == 0) bits += (error > 0) == (s > 0) ? 1ull : ~0ull;
  return bfloat16(bc::round_to_odd(bits_as<double>(bits)));
}
/// Of two zeros the positive one is the larger. A NaN is taken only where both are, or with Nan where one is.
template <bool Nan = false, class T>
BC_INLINE T small_max(T a, T b) {
  const float x = static_cast<float>(a), y = static_cast<float>(b);
  if (x != x) return Nan ? a : b;
  return x > y || (x == y && !bc::signbit(x)) || (y != y && !Nan) ? a : b;
}
template <bool Nan = false, class T>
BC_INLINE T small_min(T a, T b) {
  const float x = static_cast<float>(a), y = static_cast<float>(b);
  if (x != x) return Nan ? a : b;
  return x < y || (x == y && bc::signbit(x)) || (y != y && !Nan) ? a : b;
}
/// Numbers that are not equal: false where one is NaN, unlike !=.
template <class T>
BC_INLINE bool differ(T a, T b) {
  const float x = static_cast<float>(a), y = static_cast<float>(b);
  return x < y || x > y;
}
BC_FN bfloat16 relu(bfloat16 x) { return float(x) < 0 ? bfloat16(0.0f) : x; }
BC_FN i32 infinity_sign(bfloat16 x) { return (x.bits & 0x7fffu) != 0x7f80u ? 0 : (x.bits >> 15) != 0 ? -1 : 1; }
BC_FN i32 clamped(i32 x, i32 low, i32 high) { return x < low ? low : x > high ? high : x; }
/// Of a number of more bits, rounded once: first to odd, to a float's bits.
template <Toward D, class T>
BC_INLINE bfloat16 bfloat16_of(T number) {
  float x;
  if constexpr (is_same<T, float>)
    x = number;
  else if constexpr (is_int<T> && sizeof(T) == 8)
    x = bc::round_to_odd(static_cast<double>(bc::sticky_to_53_bits(number)));
  else
    x = bc::round_to_odd(static_cast<double>(number));
  const u32 bits = bits_as<u32>(x), cut = bits & 0xffffu;
  if (D == Toward::nearest || x != x) return bfloat16(x);
  const bool away = cut != 0 && D != Toward::zero && (bits >> 31 != 0) == (D == Toward::down);
  return bits_as<bfloat16>(static_cast<u16>((bits >> 16) + (away ? 1u : 0u)));
}

/// The smallest integer for negative numbers, as the conversion of a NaN gives: a kernel without debug=True cannot raise.
BC_FN i64 integer_sqrt(i64 n) {
  constexpr i64 kLargest = 3037000499;  // its square is the largest that fits
  if (n < 0) return -9223372036854775807ll - 1;
  i64 r = static_cast<i64>(bc::sqrt(static_cast<double>(n)));
  if (r > kLargest) r = kLargest;
  while (r * r > n) --r;
  while (r < kLargest && (r + 1) * (r + 1) <= n) ++r;
  return r;
}

}  // namespace py
}  // namespace bc
