// Operators of small floats and complex. Complex multiplication is the plain formula and division Smith's method, as NumPy's.
#pragma once
#include "cast.h"

namespace bc {

#define BC_SMALL_FLOAT_OPERATORS(T)                                                                              \
  BC_FN T operator+(T a, T b) { return T(static_cast<float>(a) + static_cast<float>(b)); }                       \
  BC_FN T operator-(T a, T b) { return T(static_cast<float>(a) - static_cast<float>(b)); }                       \
  BC_FN T operator*(T a, T b) { return T(static_cast<float>(a) * static_cast<float>(b)); }                       \
  BC_FN T operator/(T a, T b) { return T(static_cast<float>(a) / static_cast<float>(b)); }                       \
  BC_FN T operator-(T a) { return bits_as<T>(static_cast<unsigned_of<T>>(a.bits ^ 1u << (sizeof(T) * 8 - 1))); } \
  BC_FN bool operator==(T a, T b) { return static_cast<float>(a) == static_cast<float>(b); }                     \
  BC_FN bool operator!=(T a, T b) { return static_cast<float>(a) != static_cast<float>(b); }                     \
  BC_FN bool operator<(T a, T b) { return static_cast<float>(a) < static_cast<float>(b); }                       \
  BC_FN bool operator<=(T a, T b) { return static_cast<float>(a) <= static_cast<float>(b); }                     \
  BC_FN bool operator>(T a, T b) { return static_cast<float>(a) > static_cast<float>(b); }                       \
  BC_FN bool operator>=(T a, T b) { return static_cast<float>(a) >= static_cast<float>(b); }
BC_SMALL_FLOAT_OPERATORS(half)
BC_SMALL_FLOAT_OPERATORS(bfloat16)
BC_SMALL_FLOAT_OPERATORS(float8_e4m3fn)
BC_SMALL_FLOAT_OPERATORS(float8_e5m2)
#undef BC_SMALL_FLOAT_OPERATORS

template <class R>
BC_INLINE complex<R> operator+(complex<R> a, complex<R> b) {
  return {a.re + b.re, a.im + b.im};
}
template <class R>
BC_INLINE complex<R> operator-(complex<R> a, complex<R> b) {
  return {a.re - b.re, a.im - b.im};
}
template <class R>
BC_INLINE complex<R> operator-(complex<R> a) {
  return {-a.re, -a.im};
}
template <class R>
BC_INLINE complex<R> operator*(complex<R> a, complex<R> b) {
  // Written as two sums: GCC 12 fuses a difference next to a sum into one instruction even if contraction is off.
  R minus_im = -a.im;
  return {a.re * b.re + minus_im * b.im, a.re * b.im + a.im * b.re};
}
template <class R>
BC_INLINE complex<R> operator*(complex<R> a, R b) {
  return {a.re * b, a.im * b};
}
// Smith (1962): scales by the larger part of the divisor; a zero divisor divides both parts by zero.
template <class R>
BC_INLINE complex<R> operator/(complex<R> a, complex<R> b) {
  R re_size = b.re < 0 ? -b.re : b.re, im_size = b.im < 0 ? -b.im : b.im;
  bool by_re = re_size >= im_size;
  R big = by_re ? b.re : b.im, small = by_re ? b.im : b.re;
  R ratio = small / big, scale = R(1) / (big + small * ratio);
  R re = by_re ? a.re + a.im * ratio : a.re * ratio + a.im;
  R im = by_re ? a.im - a.re * ratio : a.im * ratio - a.re;
  bool zero = big == 0;
  return {zero ? a.re / re_size : re * scale, zero ? a.im / re_size : im * scale};
}
template <class R>
BC_INLINE bool operator==(complex<R> a, complex<R> b) {
  return a.re == b.re && a.im == b.im;
}
template <class R>
BC_INLINE bool operator!=(complex<R> a, complex<R> b) {
  return a.re != b.re || a.im != b.im;
}

// NumPy's order of complex numbers: by real part, then by imaginary part; a NaN in a compared part makes the result false.
template <class R>
BC_INLINE bool operator<(complex<R> a, complex<R> b) {
  return (a.re < b.re && a.im == a.im && b.im == b.im) || (a.re == b.re && a.im < b.im);
}
template <class R>
BC_INLINE bool operator<=(complex<R> a, complex<R> b) {
  return (a.re < b.re && a.im == a.im && b.im == b.im) || (a.re == b.re && a.im <= b.im);
}
template <class R>
BC_INLINE bool operator>(complex<R> a, complex<R> b) {
  return b < a;
}
template <class R>
BC_INLINE bool operator>=(complex<R> a, complex<R> b) {
  return b <= a;
}

}  // namespace bc
