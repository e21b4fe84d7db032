// More of cuda_fp16.h and cuda_bf16.h: comparisons of pairs, saturation, directed rounding, and atomics.
#pragma once

#define __BC_COMPARE(T, T2, name, op, unordered)                                                                                      \
  BC_FN bool __h##name##u(T a, T b) { return a op b || unordered; }                                                                   \
  BC_FN T2 __h##name##2(T2 a, T2 b) { return T2{T(a.x op b.x ? 1.0f : 0.0f), T(a.y op b.y ? 1.0f : 0.0f)}; }                          \
  BC_FN T2 __h##name##u2(T2 a, T2 b) { return T2{T(__h##name##u(a.x, b.x) ? 1.0f : 0.0f), T(__h##name##u(a.y, b.y) ? 1.0f : 0.0f)}; } \
  BC_FN bool __hb##name##2(T2 a, T2 b) { return a.x op b.x && a.y op b.y; }                                                           \
  BC_FN bool __hb##name##u2(T2 a, T2 b) { return __h##name##u(a.x, b.x) && __h##name##u(a.y, b.y); }                                  \
  BC_FN unsigned __h##name##2_mask(T2 a, T2 b) { return (a.x op b.x ? 0xffffu : 0u) | (a.y op b.y ? 0xffff0000u : 0u); }              \
  BC_FN unsigned __h##name##u2_mask(T2 a, T2 b) {                                                                                     \
    return (__h##name##u(a.x, b.x) ? 0xffffu : 0u) | (__h##name##u(a.y, b.y) ? 0xffff0000u : 0u);                                     \
  }
// "Not equal" is false if an operand is NaN.
#define __BC_SMALL_MORE(T, T2)                                                                                                          \
  __BC_COMPARE(T, T2, eq, ==, (a != a || b != b))                                                                                       \
  __BC_COMPARE(T, T2, lt, <, (a != a || b != b))                                                                                        \
  __BC_COMPARE(T, T2, le, <=, (a != a || b != b))                                                                                       \
  __BC_COMPARE(T, T2, gt, >, (a != a || b != b))                                                                                        \
  __BC_COMPARE(T, T2, ge, >=, (a != a || b != b))                                                                                       \
  BC_FN bool __hneu(T a, T b) { return a != b; }                                                                                        \
  BC_FN bool __bc_ne(T a, T b) { return a != b && a == a && b == b; }                                                                   \
  BC_FN T2 __hne2(T2 a, T2 b) { return T2{T(__bc_ne(a.x, b.x) ? 1.0f : 0.0f), T(__bc_ne(a.y, b.y) ? 1.0f : 0.0f)}; }                    \
  BC_FN T2 __hneu2(T2 a, T2 b) { return T2{T(a.x != b.x ? 1.0f : 0.0f), T(a.y != b.y ? 1.0f : 0.0f)}; }                                 \
  BC_FN bool __hbne2(T2 a, T2 b) { return __bc_ne(a.x, b.x) && __bc_ne(a.y, b.y); }                                                     \
  BC_FN bool __hbneu2(T2 a, T2 b) { return a.x != b.x && a.y != b.y; }                                                                  \
  BC_FN unsigned __hne2_mask(T2 a, T2 b) { return (__bc_ne(a.x, b.x) ? 0xffffu : 0u) | (__bc_ne(a.y, b.y) ? 0xffff0000u : 0u); }        \
  BC_FN unsigned __hneu2_mask(T2 a, T2 b) { return (a.x != b.x ? 0xffffu : 0u) | (a.y != b.y ? 0xffff0000u : 0u); }                     \
  BC_FN T2 __hisnan2(T2 a) { return T2{T(a.x != a.x ? 1.0f : 0.0f), T(a.y != a.y ? 1.0f : 0.0f)}; }                                     \
  BC_FN T __hfma_sat(T a, T b, T c) { return T(__saturatef(__hfma(a, b, c))); }                                                         \
  BC_FN T __hfma_relu(T a, T b, T c) {                                                                                                  \
    T r = __hfma(a, b, c);                                                                                                              \
    return r < T(0.0f) ? T(0.0f) : r;                                                                                                   \
  }                                                                                                                                     \
  BC_FN T2 __hfma2_sat(T2 a, T2 b, T2 c) { return T2{__hfma_sat(a.x, b.x, c.x), __hfma_sat(a.y, b.y, c.y)}; }                           \
  BC_FN T2 __hfma2_relu(T2 a, T2 b, T2 c) { return T2{__hfma_relu(a.x, b.x, c.x), __hfma_relu(a.y, b.y, c.y)}; }                        \
  BC_FN T2 __hadd2_rn(T2 a, T2 b) { return a + b; }                                                                                     \
  BC_FN T2 __hsub2_rn(T2 a, T2 b) { return a - b; }                                                                                     \
  BC_FN T2 __hmul2_rn(T2 a, T2 b) { return a * b; }                                                                                     \
  BC_FN T2 __hadd2_sat(T2 a, T2 b) { return T2{__hadd_sat(a.x, b.x), __hadd_sat(a.y, b.y)}; }                                           \
  BC_FN T2 __hsub2_sat(T2 a, T2 b) { return T2{__hsub_sat(a.x, b.x), __hsub_sat(a.y, b.y)}; }                                           \
  BC_FN T2 __hmul2_sat(T2 a, T2 b) { return T2{__hmul_sat(a.x, b.x), __hmul_sat(a.y, b.y)}; }                                           \
  BC_FN T __hmax_nan(T a, T b) { return a != a ? a : b != b ? b : __hmax(a, b); }                                                       \
  BC_FN T __hmin_nan(T a, T b) { return a != a ? a : b != b ? b : __hmin(a, b); }                                                       \
  BC_FN T2 __hmax2_nan(T2 a, T2 b) { return T2{__hmax_nan(a.x, b.x), __hmax_nan(a.y, b.y)}; }                                           \
  BC_FN T2 __hmin2_nan(T2 a, T2 b) { return T2{__hmin_nan(a.x, b.x), __hmin_nan(a.y, b.y)}; }                                           \
  BC_FN T2 __hcmadd(T2 a, T2 b, T2 c) { return T2{__hfma(-a.y, b.y, __hfma(a.x, b.x, c.x)), __hfma(a.y, b.x, __hfma(a.x, b.y, c.y))}; } \
  BC_FN T htanh_approx(T a) { return htanh(a); }                                                                                        \
  BC_FN T2 h2tanh(T2 a) { return T2{htanh(a.x), htanh(a.y)}; }                                                                          \
  BC_FN T2 h2tanh_approx(T2 a) { return T2{htanh(a.x), htanh(a.y)}; }                                                                   \
  BC_FN T2 h2ceil(T2 a) { return T2{hceil(a.x), hceil(a.y)}; }                                                                          \
  BC_FN T2 h2floor(T2 a) { return T2{hfloor(a.x), hfloor(a.y)}; }                                                                       \
  BC_FN T2 h2trunc(T2 a) { return T2{htrunc(a.x), htrunc(a.y)}; }                                                                       \
  BC_FN T2 h2rint(T2 a) { return T2{hrint(a.x), hrint(a.y)}; }                                                                          \
  BC_FN T2 h2exp2(T2 a) { return T2{hexp2(a.x), hexp2(a.y)}; }                                                                          \
  BC_FN T2 h2exp10(T2 a) { return T2{hexp10(a.x), hexp10(a.y)}; }                                                                       \
  BC_FN T2 h2log2(T2 a) { return T2{hlog2(a.x), hlog2(a.y)}; }                                                                          \
  BC_FN T2 h2log10(T2 a) { return T2{hlog10(a.x), hlog10(a.y)}; }                                                                       \
  BC_FN bool operator!=(T2 a, T2 b) { return a.x != b.x && a.y != b.y; }                                                                \
  /* The neighbour of a finite number. */                                                                                               \
  BC_FN T __bc_small_step(T r, bool up) {                                                                                               \
    unsigned short bits = r.__x;                                                                                                        \
    if ((bits & 0x7fffu) == 0) return T::from_bits(up ? 0x0001u : 0x8001u);                                                             \
    return T::from_bits(static_cast<unsigned short>(((bits & 0x8000u) == 0) == up ? bits + 1u : bits - 1u));                            \
  }                                                                                                                                     \
  BC_FN void __bc_small_directed(T& r, double exact, __bc_rounding mode) {                                                              \
    double got = static_cast<double>(static_cast<float>(r));                                                                            \
    if (exact != exact || exact - exact != 0.0 || got == exact) return;                                                                 \
    bool above = exact > got;                                                                                                           \
    if (mode == __bc_up ? above : mode == __bc_zero && got <= 0.0 && above) r = __bc_small_step(r, true);                               \
    if (mode == __bc_down ? !above : mode == __bc_zero && got >= 0.0 && !above) r = __bc_small_step(r, false);                          \
  }
__BC_SMALL_MORE(__half, __half2)
__BC_SMALL_MORE(__nv_bfloat16, __nv_bfloat162)
#undef __BC_SMALL_MORE
#undef __BC_COMPARE

#define __BC_SMALL_ROUNDED(name, T, tail, mode)                                                         \
  BC_FN T __bc_##name##tail(double exact) {                                                             \
    T r(exact);                                                                                         \
    __bc_small_directed(r, exact, mode);                                                                \
    return r;                                                                                           \
  }                                                                                                     \
  BC_FN T __float2##name##tail(float f) { return __bc_##name##tail(static_cast<double>(f)); }           \
  BC_FN T __int2##name##tail(int i) { return __bc_##name##tail(static_cast<double>(i)); }               \
  BC_FN T __uint2##name##tail(unsigned i) { return __bc_##name##tail(static_cast<double>(i)); }         \
  BC_FN T __short2##name##tail(short i) { return __bc_##name##tail(static_cast<double>(i)); }           \
  BC_FN T __ushort2##name##tail(unsigned short i) { return __bc_##name##tail(static_cast<double>(i)); } \
  BC_FN T __ll2##name##tail(long long i) { return __bc_##name##tail(__ll2double##tail(i)); }            \
  BC_FN T __ull2##name##tail(unsigned long long i) { return __bc_##name##tail(__ull2double##tail(i)); }
/// Conversions of a 16-bit float to integers, clamped to their range.
#define __BC_SMALL_INTEGER(name, T, tail, function)                                                                  \
  BC_FN long long __##name##2ll##tail(T a) { return __float2ll##tail(a); }                                           \
  BC_FN unsigned long long __##name##2ull##tail(T a) { return __float2ull##tail(a); }                                \
  BC_FN short __bc_##name##_short##tail(T a) { return static_cast<short>(__bc_clamp<short>(__float2int##tail(a))); } \
  BC_FN unsigned short __##name##2ushort##tail(T a) {                                                                \
    return static_cast<unsigned short>(__bc_clamp<unsigned short>(__float2int##tail(a)));                            \
  }
#define __BC_SMALL_ALL(name, T)                                                                                              \
  __BC_SMALL_ROUNDED(name, T, _rd, __bc_down)                                                                                \
  __BC_SMALL_ROUNDED(name, T, _ru, __bc_up)                                                                                  \
  __BC_SMALL_ROUNDED(name, T, _rz, __bc_zero)                                                                                \
  __BC_SMALL_INTEGER(name, T, _rn, rint)                                                                                     \
  __BC_SMALL_INTEGER(name, T, _rd, floor)                                                                                    \
  __BC_SMALL_INTEGER(name, T, _ru, ceil)                                                                                     \
  __BC_SMALL_INTEGER(name, T, _rz, trunc)                                                                                    \
  BC_FN short __##name##2short_rd(T a) { return __bc_##name##_short_rd(a); }                                                 \
  BC_FN short __##name##2short_ru(T a) { return __bc_##name##_short_ru(a); }                                                 \
  BC_FN short __##name##2short_rz(T a) { return __bc_##name##_short_rz(a); }                                                 \
  BC_FN unsigned __##name##2uint_rd(T a) { return __float2uint_rd(a); }                                                      \
  BC_FN unsigned __##name##2uint_ru(T a) { return __float2uint_ru(a); }                                                      \
  BC_FN signed char __##name##2char_rz(T a) { return static_cast<signed char>(__bc_clamp<signed char>(__float2int_rz(a))); } \
  BC_FN unsigned char __##name##2uchar_rz(T a) { return static_cast<unsigned char>(__bc_clamp<unsigned char>(__float2int_rz(a))); }
__BC_SMALL_ALL(half, __half)
__BC_SMALL_ALL(bfloat16, __nv_bfloat16)
#undef __BC_SMALL_ALL
#undef __BC_SMALL_ROUNDED
#undef __BC_SMALL_INTEGER
BC_FN __half2 __low2half2(__half2 a) { return __half2{a.x, a.x}; }
BC_FN __half2 __high2half2(__half2 a) { return __half2{a.y, a.y}; }
BC_FN __nv_bfloat162 __low2bfloat162(__nv_bfloat162 a) { return __nv_bfloat162{a.x, a.x}; }
BC_FN __nv_bfloat162 __high2bfloat162(__nv_bfloat162 a) { return __nv_bfloat162{a.y, a.y}; }
BC_FN __nv_bfloat162 __lows2bfloat162(__nv_bfloat162 a, __nv_bfloat162 b) { return __nv_bfloat162{a.x, b.x}; }
BC_FN __nv_bfloat162 __highs2bfloat162(__nv_bfloat162 a, __nv_bfloat162 b) { return __nv_bfloat162{a.y, b.y}; }
BC_FN __nv_bfloat162 __lowhigh2highlow(__nv_bfloat162 a) { return __nv_bfloat162{a.y, a.x}; }
BC_FN float __low2float(__nv_bfloat162 a) { return a.x; }
BC_FN float __high2float(__nv_bfloat162 a) { return a.y; }

// ---- atomics of vectors: each element by itself, as on GPUs
BC_FN float2 atomicAdd(float2* p, float2 v) { return float2{atomicAdd(&p->x, v.x), atomicAdd(&p->y, v.y)}; }
BC_FN float4 atomicAdd(float4* p, float4 v) {
  return float4{atomicAdd(&p->x, v.x), atomicAdd(&p->y, v.y), atomicAdd(&p->z, v.z), atomicAdd(&p->w, v.w)};
}
