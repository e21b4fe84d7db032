// Functions of C's mathematics that the device library does not have: the compiler's own on CUDA, the C library's on the CPU.
#pragma once

namespace bc {
namespace py {

#if BC_CUDA
#define BC_PY_NATIVE(f) ::f
#else
#define BC_PY_NATIVE(f) __builtin_##f
#endif
#define BC_PY_LIBM(name)                                             \
  BC_INLINE float name(float a) { return BC_PY_NATIVE(name##f)(a); } \
  BC_INLINE double name(double a) { return BC_PY_NATIVE(name)(a); }
BC_PY_LIBM(erf)
BC_PY_LIBM(erfc)
BC_PY_LIBM(tgamma)
BC_PY_LIBM(lgamma)
BC_INLINE float ieee_remainder(float a, float b) { return BC_PY_NATIVE(remainderf)(a, b); }
BC_INLINE double ieee_remainder(double a, double b) { return BC_PY_NATIVE(remainder)(a, b); }
#undef BC_PY_LIBM
#undef BC_PY_NATIVE

/// The complex number of a radius and an angle, with cmath.rect's values where one of them is not finite.
template <class T>
BC_INLINE complex<T> rect(T r, T phi) {
  if (phi == T(0)) return complex<T>(r, bc::signbit(r) ? -phi : phi);
  const bool finite = phi - phi == T(0);
  if (r == T(0) && !finite) return complex<T>(T(0), T(0));
  const T re = bc::isinf(r) && phi != phi ? bc::fabs(r) : r * bc::cos(phi);
  return complex<T>(re, r * bc::sin(phi));
}

}  // namespace py
}  // namespace bc
