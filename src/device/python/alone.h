// Functions of which the C library computes one value sooner (by tables) than the device library's code, which is made for vectors. The
// compiler takes the code given here in loops that it vectorizes, and calls the C library where values come one after the other
// (backends/cpu/jit/jit_alone.h); the names after bc_alone_ are the C library's.
#pragma once
#include "../device.h"

#if !BC_CUDA

namespace bc {

#define BC_ALONE1_OF(name, T, libm_name)                                                                          \
  extern "C" __attribute__((noinline, const, nothrow)) inline T bc_alone_##libm_name(T a) { return bc::name(a); } \
  BC_FN T alone_##name(T a) { return bc_alone_##libm_name(a); }
#define BC_ALONE2_OF(name, T, libm_name) \
  extern "C" __attribute__((noinline, const, nothrow)) inline T bc_alone_##libm_name(T a, T b) { return bc::name(a, b); }
#define BC_ALONE1(name, libm_name)        \
  BC_ALONE1_OF(name, float, libm_name##f) \
  BC_ALONE1_OF(name, double, libm_name)
#define BC_ALONE2(name, libm_name)        \
  BC_ALONE2_OF(name, float, libm_name##f) \
  BC_ALONE2_OF(name, double, libm_name)

BC_ALONE1(exp, exp)
BC_ALONE1(exp2, exp2)
BC_ALONE1(expm1, expm1)
BC_ALONE1(log, log)
BC_ALONE1(log2, log2)
BC_ALONE1(log1p, log1p)
BC_ALONE1(arcsin, asin)
BC_ALONE1(arccos, acos)
BC_ALONE1(arctan, atan)
BC_ALONE2(arctan2, atan2)
BC_ALONE2(power, pow)

#undef BC_ALONE1
#undef BC_ALONE2
#undef BC_ALONE1_OF
#undef BC_ALONE2_OF

BC_FN float alone_arctan2(float a, float b) { return bc_alone_atan2f(a, b); }
BC_FN double alone_arctan2(double a, double b) { return bc_alone_atan2(a, b); }
/// The square root is a power's value too, except of -0 and of -inf.
template <class T>
BC_INLINE T power_of_half(T a) {
  return a == -limits<T>::inf() ? limits<T>::inf() : sqrt(a) + T(0);
}
BC_FN float alone_power(float a, float b) { return __builtin_constant_p(b) && b == 0.5f ? power_of_half(a) : bc_alone_powf(a, b); }
BC_FN double alone_power(double a, double b) { return __builtin_constant_p(b) && b == 0.5 ? power_of_half(a) : bc_alone_pow(a, b); }

}  // namespace bc

#endif
