// Arithmetic and conversions rounded up, down and towards zero: the nearest result, or its neighbour if the sign of the error requires it.
#pragma once

enum __bc_rounding { __bc_down, __bc_up, __bc_zero };

/// The neighbour of a finite number above or below it.
BC_FN float __bc_neighbour(float x, bool up) {
  if (x == 0.0f) return up ? 1.401298464e-45f : -1.401298464e-45f;
  unsigned bits = __builtin_bit_cast(unsigned, x);
  return __builtin_bit_cast(float, (x > 0.0f) == up ? bits + 1u : bits - 1u);
}
BC_FN double __bc_neighbour(double x, bool up) {
  if (x == 0.0) return up ? 4.9406564584124654e-324 : -4.9406564584124654e-324;
  unsigned long bits = __builtin_bit_cast(unsigned long, x);
  return __builtin_bit_cast(double, (x > 0.0) == up ? bits + 1ul : bits - 1ul);
}
/// Rounds a value in a direction: `r` is the nearest number to it, and `error` has the sign of value - r.
template <class T, class E>
BC_INLINE T __bc_directed(T r, E error, __bc_rounding mode) {
  if (r - r != T(0)) {
    // The finite value overflowed to infinity.
    bool stays = error - error != E(0) || error == E(0) || (mode == __bc_up) == (r > T(0));
    return mode == __bc_zero && error - error == E(0) && error != E(0) ? __bc_neighbour(r, r < T(0))
           : stays                                                     ? r
                                                                       : __bc_neighbour(r, r < T(0));
  }
  if (error == E(0) || error != error) return r;
  bool above = error > E(0);
  if (mode == __bc_up) return above ? __bc_neighbour(r, true) : r;
  if (mode == __bc_down) return above ? r : __bc_neighbour(r, false);
  if (r > T(0) && !above) return __bc_neighbour(r, false);
  if (r < T(0) && above) return __bc_neighbour(r, true);
  return r;
}
// Sums and products that no compiler option may fuse or reorder.
#define __BC_EXACT _Pragma("clang fp contract(off) reassociate(off)")
/// The rounding error of the sum of two numbers (Knuth).
template <class T>
BC_INLINE T __bc_sum_error(T a, T b) {
  __BC_EXACT
  T s = a + b, part = s - a;
  return (a - (s - part)) + (b - part);
}
// Floats are computed in double: rounding to double can only hide an error that is too small to matter for a float.
BC_FN float __bc_add(float a, float b, __bc_rounding mode) {
  __BC_EXACT
  float r = a + b;
  double error = static_cast<double>(a) + static_cast<double>(b) - static_cast<double>(r);
  return __bc_directed(r, error == 0.0 ? __bc_sum_error(static_cast<double>(a), static_cast<double>(b)) : error, mode);
}
BC_FN double __bc_add(double a, double b, __bc_rounding mode) {
  __BC_EXACT
  return __bc_directed(a + b, __bc_sum_error(a, b), mode);
}
BC_FN float __bc_mul(float a, float b, __bc_rounding mode) {
  __BC_EXACT
  float r = a * b;
  return __bc_directed(r, static_cast<double>(a) * static_cast<double>(b) - static_cast<double>(r), mode);
}
BC_FN double __bc_mul(double a, double b, __bc_rounding mode) {
  __BC_EXACT
  double r = a * b;
  return __bc_directed(r, __builtin_fma(a, b, -r), mode);
}
BC_FN float __bc_div(float a, float b, __bc_rounding mode) {
  __BC_EXACT
  float r = a / b;
  double rest = static_cast<double>(a) - static_cast<double>(r) * static_cast<double>(b);
  return __bc_directed(r, b < 0.0f ? -rest : rest, mode);
}
BC_FN double __bc_div(double a, double b, __bc_rounding mode) {
  __BC_EXACT
  double r = a / b, rest = __builtin_fma(-r, b, a);
  return __bc_directed(r, b < 0.0 ? -rest : rest, mode);
}
BC_FN float __bc_root(float a, __bc_rounding mode) {
  __BC_EXACT
  float r = __builtin_sqrtf(a);
  return __bc_directed(r, static_cast<double>(a) - static_cast<double>(r) * static_cast<double>(r), mode);
}
BC_FN double __bc_root(double a, __bc_rounding mode) {
  __BC_EXACT
  double r = __builtin_sqrt(a);
  return __bc_directed(r, __builtin_fma(-r, r, a), mode);
}
BC_FN double __bc_fused(double a, double b, double c, __bc_rounding mode) {
  __BC_EXACT
  double r = __builtin_fma(a, b, c), p = a * b, low = __builtin_fma(a, b, -p), s = p + c, rest = __bc_sum_error(p, c);
  // The exact value is s + rest + low.
  double tail = rest + low;
  return __bc_directed(r, (s - r) + tail == 0.0 ? __bc_sum_error(rest, low) : (s - r) + tail, mode);
}
BC_FN float __bc_fused(float a, float b, float c, __bc_rounding mode) {
  __BC_EXACT
  double p = static_cast<double>(a) * static_cast<double>(b), s = p + static_cast<double>(c),
         rest = __bc_sum_error(p, static_cast<double>(c));
  float r = __builtin_fmaf(a, b, c);
  double error = (s - static_cast<double>(r)) + rest;
  return __bc_directed(r, error, mode);
}

#define __BC_DIRECTED(tail, mode)                                                                             \
  BC_FN float __fadd##tail(float a, float b) { return __bc_add(a, b, mode); }                                 \
  BC_FN float __fsub##tail(float a, float b) { return __bc_add(a, -b, mode); }                                \
  BC_FN float __fmul##tail(float a, float b) { return __bc_mul(a, b, mode); }                                 \
  BC_FN float __fdiv##tail(float a, float b) { return __bc_div(a, b, mode); }                                 \
  BC_FN float __frcp##tail(float a) { return __bc_div(1.0f, a, mode); }                                       \
  BC_FN float __fsqrt##tail(float a) { return __bc_root(a, mode); }                                           \
  BC_FN float __fmaf##tail(float a, float b, float c) { return __bc_fused(a, b, c, mode); }                   \
  BC_FN float __fmaf_ieee##tail(float a, float b, float c) { return __bc_fused(a, b, c, mode); }              \
  BC_FN double __dadd##tail(double a, double b) { return __bc_add(a, b, mode); }                              \
  BC_FN double __dsub##tail(double a, double b) { return __bc_add(a, -b, mode); }                             \
  BC_FN double __dmul##tail(double a, double b) { return __bc_mul(a, b, mode); }                              \
  BC_FN double __ddiv##tail(double a, double b) { return __bc_div(a, b, mode); }                              \
  BC_FN double __drcp##tail(double a) { return __bc_div(1.0, a, mode); }                                      \
  BC_FN double __dsqrt##tail(double a) { return __bc_root(a, mode); }                                         \
  BC_FN double __fma##tail(double a, double b, double c) { return __bc_fused(a, b, c, mode); }                \
  BC_FN float __double2float##tail(double x) {                                                                \
    float r = static_cast<float>(x);                                                                          \
    return __bc_directed(r, x - static_cast<double>(r), mode);                                                \
  }                                                                                                           \
  BC_FN double __ll2double##tail(long long x) {                                                               \
    double r = static_cast<double>(x);                                                                        \
    return __bc_directed(r, static_cast<double>(static_cast<__int128>(x) - static_cast<__int128>(r)), mode);  \
  }                                                                                                           \
  BC_FN double __ull2double##tail(unsigned long long x) {                                                     \
    double r = static_cast<double>(x);                                                                        \
    return __bc_directed(r, static_cast<double>(static_cast<__int128>(x) - static_cast<__int128>(r)), mode);  \
  }                                                                                                           \
  BC_FN float __ll2float##tail(long long x) { return __double2float##tail(__ll2double##tail(x)); }            \
  BC_FN float __ull2float##tail(unsigned long long x) { return __double2float##tail(__ull2double##tail(x)); } \
  BC_FN float __int2float##tail(int x) { return __double2float##tail(static_cast<double>(x)); }               \
  BC_FN float __uint2float##tail(unsigned x) { return __double2float##tail(static_cast<double>(x)); }
__BC_DIRECTED(_rd, __bc_down)
__BC_DIRECTED(_ru, __bc_up)
__BC_DIRECTED(_rz, __bc_zero)
#undef __BC_DIRECTED
BC_FN float __fmaf_ieee_rn(float a, float b, float c) { return __builtin_fmaf(a, b, c); }

#undef __BC_EXACT

// ---- lengths of vectors of any dimension
BC_FN double norm(int n, const double* p) {
  double length = 0;
  for (int i = 0; i < n; ++i) length = bc::hypot(length, p[i]);
  return length;
}
BC_FN float normf(int n, const float* p) {
  double sum = 0;
  for (int i = 0; i < n; ++i) sum += static_cast<double>(p[i]) * static_cast<double>(p[i]);
  return static_cast<float>(__builtin_sqrt(sum));
}
BC_FN double rnorm(int n, const double* p) { return 1.0 / norm(n, p); }
BC_FN float rnormf(int n, const float* p) { return 1.0f / normf(n, p); }
BC_FN float rnorm4df(float a, float b, float c, float d) { return 1.0f / norm4df(a, b, c, d); }
BC_FN double rnorm4d(double a, double b, double c, double d) { return 1.0 / norm4d(a, b, c, d); }
/// The remainder, and the quotient's lowest bits with its sign.
BC_FN double remquo(double a, double b, int* quotient) {
  double rest = remainder(a, b), whole = fmod(rint((a - rest) / b), 8.0);
  *quotient = static_cast<int>(whole);
  return rest;
}
BC_FN float remquof(float a, float b, int* quotient) {
  return static_cast<float>(remquo(static_cast<double>(a), static_cast<double>(b), quotient));
}

#define __isfinite(x) (__builtin_isfinite(x) != 0)
#define __finitef(x) (__builtin_isfinite(x) != 0)
#define __signbitf(x) (__builtin_signbit(x) != 0)
#define __signbitd(x) (__builtin_signbit(x) != 0)

// ---- spaces of addresses are one
BC_FN unsigned __isConstant(const void*) { return 0; }
BC_FN unsigned __isLocal(const void*) { return 0; }
BC_FN unsigned __isGridConstant(const void*) { return 0; }
BC_FN unsigned __isCtaShared(const void*) { return 0; }
BC_FN unsigned __isClusterShared(const void*) { return 0; }
BC_FN size_t __cvta_generic_to_global(const void* p) { return reinterpret_cast<size_t>(p); }
BC_FN size_t __cvta_generic_to_constant(const void* p) { return reinterpret_cast<size_t>(p); }
BC_FN size_t __cvta_generic_to_local(const void* p) { return reinterpret_cast<size_t>(p); }
BC_FN size_t __cvta_generic_to_grid_constant(const void* p) { return reinterpret_cast<size_t>(p); }
BC_FN void* __cvta_shared_to_generic(size_t p) { return reinterpret_cast<void*>(p); }
BC_FN void* __cvta_global_to_generic(size_t p) { return reinterpret_cast<void*>(p); }
BC_FN void* __cvta_constant_to_generic(size_t p) { return reinterpret_cast<void*>(p); }
BC_FN void* __cvta_local_to_generic(size_t p) { return reinterpret_cast<void*>(p); }
#define __prof_trigger(number) ((void)0)
