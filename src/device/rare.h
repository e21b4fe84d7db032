// Forms for users' loops: the fast form inline, and a call for the few arguments outside its range. On the CPU the compiler vectorizes such
// a loop and executes the call only for those lanes (it recognises the calls by the prefix of their names). On CUDA they are the plain
// functions.
#pragma once
#include "special.h"

#if BC_CUDA || !(defined(BC_CPU_KERNEL) || defined(BC_CPU_SUPPORT))
#define BC_FAR1(name) \
  BC_TFN T loop_##name(T a) { return name(a); }
#define BC_FAR2(name) \
  BC_TFN T loop_##name(T a, T b) { return name(a, b); }
#elif defined(BC_CPU_SUPPORT)
#define BC_FAR1_OF(name, T, letter) \
  extern "C" __attribute__((noinline, used)) T bc_rare_##name##_##letter(T a) { return bc::name(a); }
#define BC_FAR2_OF(name, T, letter) \
  extern "C" __attribute__((noinline, used)) T bc_rare_##name##_##letter(T a, T b) { return bc::name(a, b); }
#define BC_FAR1(name) BC_FAR1_OF(name, float, s) BC_FAR1_OF(name, double, d)
#define BC_FAR2(name) BC_FAR2_OF(name, float, s) BC_FAR2_OF(name, double, d)
#else
#define BC_FAR1_OF(name, T, letter)                                            \
  extern "C" __attribute__((const, nothrow)) T bc_rare_##name##_##letter(T a); \
  BC_FN T loop_##name(T a) {                                                   \
    u32 flag = 0;                                                              \
    const T y = name##_fast(a, flag);                                          \
    return __builtin_expect(flag != 0, 0) ? bc_rare_##name##_##letter(a) : y;  \
  }
#define BC_FAR2_OF(name, T, letter)                                                 \
  extern "C" __attribute__((const, nothrow)) T bc_rare_##name##_##letter(T a, T b); \
  BC_FN T loop_##name(T a, T b) {                                                   \
    u32 flag = 0;                                                                   \
    const T y = name##_fast(a, b, flag);                                            \
    return __builtin_expect(flag != 0, 0) ? bc_rare_##name##_##letter(a, b) : y;    \
  }
#define BC_FAR1(name)                                    \
  template <class T, enable_if<!is_native_float<T>> = 0> \
  BC_INLINE T loop_##name(T a) {                         \
    return name(a);                                      \
  }                                                      \
  BC_FAR1_OF(name, float, s)                             \
  BC_FAR1_OF(name, double, d)
#define BC_FAR2(name)                                    \
  template <class T, enable_if<!is_native_float<T>> = 0> \
  BC_INLINE T loop_##name(T a, T b) {                    \
    return name(a, b);                                   \
  }                                                      \
  BC_FAR2_OF(name, float, s)                             \
  BC_FAR2_OF(name, double, d)
#endif

namespace bc {

BC_FAR1(sin)
BC_FAR1(cos)
BC_FAR1(tan)
BC_FAR2(fmod)
BC_FAR2(remainder)
BC_FAR2(floor_divide)

}  // namespace bc
