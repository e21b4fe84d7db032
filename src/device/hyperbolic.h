// Hyperbolic functions and their inverses, from expm1 and log1p so that small arguments keep their accuracy.
#pragma once
#include "trig.h"

namespace bc {

#if BC_CUDA

BC_NATIVE1(sinh, sinhf, sinh)
BC_NATIVE1(cosh, coshf, cosh)
BC_NATIVE1(tanh, tanhf, tanh)
BC_NATIVE1(arcsinh, asinhf, asinh)
BC_NATIVE1(arccosh, acoshf, acosh)
BC_NATIVE1(arctanh, atanhf, atanh)

#else

/// With e = e^|x| - 1: sinh = (e + e / (e + 1)) / 2, from e / 8 so that e itself may overflow.
template <class T>
BC_INLINE T native_sinh(T x) {
  T a = fabs(x);
  T e = expm1_eighth(a > (sizeof(T) == 4 ? T(90) : T(711)) ? (sizeof(T) == 4 ? T(90) : T(711)) : a);
  T r = T(4) * (e + e / fma(T(8), e, T(1)));
  return copysign(a < pow2<T>(-float_layout<T>::kMantissa / 2 - 2) ? a : r, x);
}
/// With t = e^|x| / 8: cosh = 4 t + 1 / (16 t).
template <class T>
BC_INLINE T native_cosh(T x) {
  T a = fabs(x);
  T t = expm1_eighth(a > (sizeof(T) == 4 ? T(90) : T(711)) ? (sizeof(T) == 4 ? T(90) : T(711)) : a) + T(0.125);
  return T(4) * (t + T(0.015625) / t);
}
template <class T>
BC_INLINE T native_tanh(T x) {
  constexpr T kOne = sizeof(T) == 4 ? T(10) : T(20);
  T a = fabs(x);
  T e = T(8) * expm1_eighth(T(2) * (a > kOne ? kOne : a));
  return copysign(a < pow2<T>(-float_layout<T>::kMantissa / 2 - 2) ? a : e / (e + T(2)), x);
}
template <class T>
BC_INLINE T native_arcsinh(T x) {
  constexpr T kLn2 = T(0x1.62e42fefa39efp-1);
  T a = fabs(x), square = a * a;
  bool big = a > pow2<T>(float_layout<T>::kMantissa / 2 + 4);
  T r = log1p(big ? a - T(1) : a + square / (T(1) + sqrt(square + T(1))));
  return copysign(big ? r + kLn2 : r, x);
}
template <class T>
BC_INLINE T native_arccosh(T x) {
  constexpr T kLn2 = T(0x1.62e42fefa39efp-1);
  T t = x - T(1);
  bool big = x > pow2<T>(float_layout<T>::kMantissa / 2 + 4);
  T r = log1p(big ? t : t + sqrt(fma(t, t, T(2) * t)));
  return x < T(1) ? limits<T>::nan() : (big ? r + kLn2 : r);
}
template <class T>
BC_INLINE T native_arctanh(T x) {
  T a = fabs(x);
  T r = T(0.5) * log1p(T(2) * (a + a * a / (T(1) - a)));
  return a > T(1) ? limits<T>::nan() : copysign(r, x);
}
#define BC_HYPERBOLIC(name)                              \
  BC_FN float name(float x) { return native_##name(x); } \
  BC_FN double name(double x) { return native_##name(x); }
BC_HYPERBOLIC(sinh)
BC_HYPERBOLIC(cosh)
BC_HYPERBOLIC(tanh)
BC_HYPERBOLIC(arcsinh)
BC_HYPERBOLIC(arccosh)
BC_HYPERBOLIC(arctanh)
#undef BC_HYPERBOLIC

#endif

BC_LIFT1(sinh)
BC_LIFT1(cosh)
BC_LIFT1(tanh)
BC_LIFT1(arcsinh)
BC_LIFT1(arccosh)
BC_LIFT1(arctanh)

}  // namespace bc
