// cuComplex.h.
#pragma once

typedef float2 cuFloatComplex;
typedef double2 cuDoubleComplex;
typedef cuFloatComplex cuComplex;

#define __BC_COMPLEX(C, R, tail, Whole)                                                      \
  BC_FN R cuCreal##tail(C z) { return z.x; }                                                 \
  BC_FN R cuCimag##tail(C z) { return z.y; }                                                 \
  BC_FN C make_cu##Whole##Complex(R re, R im) { return C{re, im}; }                          \
  BC_FN C cuConj##tail(C z) { return C{z.x, -z.y}; }                                         \
  BC_FN C cuCadd##tail(C a, C b) { return C{a.x + b.x, a.y + b.y}; }                         \
  BC_FN C cuCsub##tail(C a, C b) { return C{a.x - b.x, a.y - b.y}; }                         \
  BC_FN C cuCmul##tail(C a, C b) { return C{a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x}; } \
  BC_FN C cuCdiv##tail(C a, C b) {                                                           \
    R s = __bc_fabs(b.x) + __bc_fabs(b.y), o = R(1) / s;                                     \
    R ars = a.x * o, ais = a.y * o, brs = b.x * o, bis = b.y * o;                            \
    R d = R(1) / (brs * brs + bis * bis);                                                    \
    return C{(ars * brs + ais * bis) * d, (ais * brs - ars * bis) * d};                      \
  }                                                                                          \
  BC_FN R cuCabs##tail(C z) { return bc::hypot(z.x, z.y); }                                  \
  BC_FN C cuCfma##tail(C a, C b, C c) { return cuCadd##tail(cuCmul##tail(a, b), c); }
__BC_COMPLEX(cuFloatComplex, float, f, Float)
__BC_COMPLEX(cuDoubleComplex, double, , Double)
#undef __BC_COMPLEX
BC_FN cuComplex make_cuComplex(float re, float im) { return cuComplex{re, im}; }
BC_FN cuDoubleComplex cuComplexFloatToDouble(cuFloatComplex z) { return cuDoubleComplex{z.x, z.y}; }
BC_FN cuFloatComplex cuComplexDoubleToFloat(cuDoubleComplex z) { return cuFloatComplex{static_cast<float>(z.x), static_cast<float>(z.y)}; }
