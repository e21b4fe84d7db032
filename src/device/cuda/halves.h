// cuda_fp16.h and cuda_bf16.h: 16-bit floats and pairs of them; arithmetic goes through float and is rounded once.
#pragma once

struct __half_raw {
  unsigned short x;
};
struct __nv_bfloat16_raw {
  unsigned short x;
};

#define __BC_SMALL(T, Raw, load, store)                                                         \
  struct alignas(2) T {                                                                         \
    unsigned short __x;                                                                         \
    T() = default;                                                                              \
    BC_INLINE T(Raw r) : __x(r.x) {}                                                            \
    BC_INLINE T(float f) : __x(store(f)) {}                                                     \
    BC_INLINE T(double f) : __x(store(bc::round_to_odd(f))) {}                                  \
    template <class I, bc::enable_if<bc::is_int<I>> = 0>                                        \
    BC_INLINE T(I i) : __x(store(bc::round_to_odd(static_cast<double>(i)))) {}                  \
    BC_INLINE operator float() const { return load(__x); }                                      \
    BC_INLINE operator Raw() const { return Raw{__x}; }                                         \
    template <class I, bc::enable_if<bc::is_int<I>> = 0>                                        \
    BC_INLINE explicit operator I() const {                                                     \
      return static_cast<I>(load(__x));                                                         \
    }                                                                                           \
    BC_INLINE explicit operator double() const { return static_cast<double>(load(__x)); }       \
    BC_INLINE explicit operator bool() const { return (__x & 0x7fffu) != 0; }                   \
    BC_INLINE static T from_bits(unsigned short b) { return T(Raw{b}); }                        \
  };                                                                                            \
  BC_FN T operator+(T a, T b) { return T(static_cast<float>(a) + static_cast<float>(b)); }      \
  BC_FN T operator-(T a, T b) { return T(static_cast<float>(a) - static_cast<float>(b)); }      \
  BC_FN T operator*(T a, T b) { return T(static_cast<float>(a) * static_cast<float>(b)); }      \
  BC_FN T operator/(T a, T b) { return T(static_cast<float>(a) / static_cast<float>(b)); }      \
  BC_FN T operator-(T a) { return T::from_bits(static_cast<unsigned short>(a.__x ^ 0x8000u)); } \
  BC_FN T operator+(T a) { return a; }                                                          \
  BC_FN T& operator+=(T& a, T b) { return a = a + b; }                                          \
  BC_FN T& operator-=(T& a, T b) { return a = a - b; }                                          \
  BC_FN T& operator*=(T& a, T b) { return a = a * b; }                                          \
  BC_FN T& operator/=(T& a, T b) { return a = a / b; }                                          \
  BC_FN T& operator++(T& a) { return a = a + T(1.0f); }                                         \
  BC_FN T& operator--(T& a) { return a = a - T(1.0f); }                                         \
  BC_FN bool operator==(T a, T b) { return static_cast<float>(a) == static_cast<float>(b); }    \
  BC_FN bool operator!=(T a, T b) { return static_cast<float>(a) != static_cast<float>(b); }    \
  BC_FN bool operator<(T a, T b) { return static_cast<float>(a) < static_cast<float>(b); }      \
  BC_FN bool operator<=(T a, T b) { return static_cast<float>(a) <= static_cast<float>(b); }    \
  BC_FN bool operator>(T a, T b) { return static_cast<float>(a) > static_cast<float>(b); }      \
  BC_FN bool operator>=(T a, T b) { return static_cast<float>(a) >= static_cast<float>(b); }
__BC_SMALL(__half, __half_raw, bc::half_bits_to_float, bc::float_to_half_bits)
__BC_SMALL(__nv_bfloat16, __nv_bfloat16_raw, bc::bfloat16_bits_to_float, bc::float_to_bfloat16_bits)
#undef __BC_SMALL
struct alignas(4) __half2 {
  __half x, y;
};
struct alignas(4) __nv_bfloat162 {
  __nv_bfloat16 x, y;
};
using half = __half;
using half2 = __half2;
using nv_bfloat16 = __nv_bfloat16;
using nv_bfloat162 = __nv_bfloat162;

// Functions of both types, half and bfloat16.
#define __BC_SMALL_FUNCTIONS(T, T2)                                                                                                       \
  BC_FN T __hadd(T a, T b) { return a + b; }                                                                                              \
  BC_FN T __hsub(T a, T b) { return a - b; }                                                                                              \
  BC_FN T __hmul(T a, T b) { return a * b; }                                                                                              \
  BC_FN T __hdiv(T a, T b) { return a / b; }                                                                                              \
  BC_FN T __hadd_rn(T a, T b) { return a + b; }                                                                                           \
  BC_FN T __hsub_rn(T a, T b) { return a - b; }                                                                                           \
  BC_FN T __hmul_rn(T a, T b) { return a * b; }                                                                                           \
  BC_FN T __hneg(T a) { return -a; }                                                                                                      \
  BC_FN T __habs(T a) { return T::from_bits(static_cast<unsigned short>(a.__x & 0x7fffu)); }                                              \
  BC_FN T __hfma(T a, T b, T c) { return T(bc::round_to_odd(static_cast<double>(a) * static_cast<double>(b) + static_cast<double>(c))); } \
  BC_FN T __hadd_sat(T a, T b) { return T(__saturatef(static_cast<float>(a + b))); }                                                      \
  BC_FN T __hsub_sat(T a, T b) { return T(__saturatef(static_cast<float>(a - b))); }                                                      \
  BC_FN T __hmul_sat(T a, T b) { return T(__saturatef(static_cast<float>(a * b))); }                                                      \
  BC_FN bool __heq(T a, T b) { return a == b; }                                                                                           \
  BC_FN bool __hne(T a, T b) { return a != b; }                                                                                           \
  BC_FN bool __hlt(T a, T b) { return a < b; }                                                                                            \
  BC_FN bool __hle(T a, T b) { return a <= b; }                                                                                           \
  BC_FN bool __hgt(T a, T b) { return a > b; }                                                                                            \
  BC_FN bool __hge(T a, T b) { return a >= b; }                                                                                           \
  BC_FN bool __hisnan(T a) { return a != a; }                                                                                             \
  BC_FN int __hisinf(T a) { return __builtin_isinf(static_cast<float>(a)) ? (static_cast<float>(a) > 0 ? 1 : -1) : 0; }                   \
  BC_FN T __hmax(T a, T b) { return T(fmaxf(a, b)); }                                                                                     \
  BC_FN T __hmin(T a, T b) { return T(fminf(a, b)); }                                                                                     \
  BC_FN T max(T a, T b) { return __hmax(a, b); }                                                                                          \
  BC_FN T min(T a, T b) { return __hmin(a, b); }                                                                                          \
  BC_FN T hsqrt(T a) { return T(sqrtf(a)); }                                                                                              \
  BC_FN T hrsqrt(T a) { return T(rsqrtf(a)); }                                                                                            \
  BC_FN T hrcp(T a) { return T(1.0f / static_cast<float>(a)); }                                                                           \
  BC_FN T hexp(T a) { return T(expf(a)); }                                                                                                \
  BC_FN T hexp2(T a) { return T(exp2f(a)); }                                                                                              \
  BC_FN T hexp10(T a) { return T(exp10f(a)); }                                                                                            \
  BC_FN T hlog(T a) { return T(logf(a)); }                                                                                                \
  BC_FN T hlog2(T a) { return T(log2f(a)); }                                                                                              \
  BC_FN T hlog10(T a) { return T(log10f(a)); }                                                                                            \
  BC_FN T hsin(T a) { return T(sinf(a)); }                                                                                                \
  BC_FN T hcos(T a) { return T(cosf(a)); }                                                                                                \
  BC_FN T htanh(T a) { return T(tanhf(a)); }                                                                                              \
  BC_FN T hfloor(T a) { return T(floorf(a)); }                                                                                            \
  BC_FN T hceil(T a) { return T(ceilf(a)); }                                                                                              \
  BC_FN T htrunc(T a) { return T(truncf(a)); }                                                                                            \
  BC_FN T hrint(T a) { return T(rintf(a)); }                                                                                              \
  BC_FN T2 operator+(T2 a, T2 b) { return T2{a.x + b.x, a.y + b.y}; }                                                                     \
  BC_FN T2 operator-(T2 a, T2 b) { return T2{a.x - b.x, a.y - b.y}; }                                                                     \
  BC_FN T2 operator*(T2 a, T2 b) { return T2{a.x * b.x, a.y * b.y}; }                                                                     \
  BC_FN T2 operator/(T2 a, T2 b) { return T2{a.x / b.x, a.y / b.y}; }                                                                     \
  BC_FN T2 operator-(T2 a) { return T2{-a.x, -a.y}; }                                                                                     \
  BC_FN T2& operator+=(T2& a, T2 b) { return a = a + b; }                                                                                 \
  BC_FN T2& operator-=(T2& a, T2 b) { return a = a - b; }                                                                                 \
  BC_FN T2& operator*=(T2& a, T2 b) { return a = a * b; }                                                                                 \
  BC_FN T2& operator/=(T2& a, T2 b) { return a = a / b; }                                                                                 \
  BC_FN bool operator==(T2 a, T2 b) { return a.x == b.x && a.y == b.y; }                                                                  \
  BC_FN T2 __hadd2(T2 a, T2 b) { return a + b; }                                                                                          \
  BC_FN T2 __hsub2(T2 a, T2 b) { return a - b; }                                                                                          \
  BC_FN T2 __hmul2(T2 a, T2 b) { return a * b; }                                                                                          \
  BC_FN T2 __h2div(T2 a, T2 b) { return a / b; }                                                                                          \
  BC_FN T2 __hneg2(T2 a) { return -a; }                                                                                                   \
  BC_FN T2 __habs2(T2 a) { return T2{__habs(a.x), __habs(a.y)}; }                                                                         \
  BC_FN T2 __hfma2(T2 a, T2 b, T2 c) { return T2{__hfma(a.x, b.x, c.x), __hfma(a.y, b.y, c.y)}; }                                         \
  BC_FN T2 __hmax2(T2 a, T2 b) { return T2{__hmax(a.x, b.x), __hmax(a.y, b.y)}; }                                                         \
  BC_FN T2 __hmin2(T2 a, T2 b) { return T2{__hmin(a.x, b.x), __hmin(a.y, b.y)}; }                                                         \
  BC_FN T2 h2exp(T2 a) { return T2{hexp(a.x), hexp(a.y)}; }                                                                               \
  BC_FN T2 h2log(T2 a) { return T2{hlog(a.x), hlog(a.y)}; }                                                                               \
  BC_FN T2 h2sqrt(T2 a) { return T2{hsqrt(a.x), hsqrt(a.y)}; }                                                                            \
  BC_FN T2 h2rsqrt(T2 a) { return T2{hrsqrt(a.x), hrsqrt(a.y)}; }                                                                         \
  BC_FN T2 h2rcp(T2 a) { return T2{hrcp(a.x), hrcp(a.y)}; }                                                                               \
  BC_FN T2 h2sin(T2 a) { return T2{hsin(a.x), hsin(a.y)}; }                                                                               \
  BC_FN T2 h2cos(T2 a) { return T2{hcos(a.x), hcos(a.y)}; }                                                                               \
  BC_FN T __low2(T2 a, T) { return a.x; }                                                                                                 \
  BC_FN T __high2(T2 a, T) { return a.y; }                                                                                                \
  BC_FN T atomicAdd(T* p, T v) {                                                                                                          \
    return __bc_atomic_change<unsigned short>(p, [=](T old) { return old + v; });                                                         \
  }                                                                                                                                       \
  BC_FN T2 atomicAdd(T2* p, T2 v) {                                                                                                       \
    return __bc_atomic_change<unsigned>(p, [=](T2 old) { return old + v; });                                                              \
  }
__BC_SMALL_FUNCTIONS(__half, __half2)
__BC_SMALL_FUNCTIONS(__nv_bfloat16, __nv_bfloat162)
#undef __BC_SMALL_FUNCTIONS

#define __BC_SMALL_CONVERSIONS(name, T)                                                  \
  BC_FN T __float2##name(float f) { return T(f); }                                       \
  BC_FN T __float2##name##_rn(float f) { return T(f); }                                  \
  BC_FN T __double2##name(double f) { return T(f); }                                     \
  BC_FN float __##name##2float(T a) { return static_cast<float>(a); }                    \
  BC_FN T __int2##name##_rn(int i) { return T(i); }                                      \
  BC_FN T __uint2##name##_rn(unsigned i) { return T(i); }                                \
  BC_FN T __short2##name##_rn(short i) { return T(i); }                                  \
  BC_FN T __ushort2##name##_rn(unsigned short i) { return T(i); }                        \
  BC_FN T __ll2##name##_rn(long long i) { return T(i); }                                 \
  BC_FN T __ull2##name##_rn(unsigned long long i) { return T(i); }                       \
  BC_FN int __##name##2int_rn(T a) { return __float2int_rn(a); }                         \
  BC_FN int __##name##2int_rz(T a) { return __float2int_rz(a); }                         \
  BC_FN int __##name##2int_rd(T a) { return __float2int_rd(a); }                         \
  BC_FN int __##name##2int_ru(T a) { return __float2int_ru(a); }                         \
  BC_FN unsigned __##name##2uint_rn(T a) { return __float2uint_rn(a); }                  \
  BC_FN unsigned __##name##2uint_rz(T a) { return __float2uint_rz(a); }                  \
  BC_FN short __##name##2short_rn(T a) { return static_cast<short>(__float2int_rn(a)); } \
  BC_FN unsigned short __##name##_as_ushort(T a) { return a.__x; }                       \
  BC_FN short __##name##_as_short(T a) { return static_cast<short>(a.__x); }             \
  BC_FN T __ushort_as_##name(unsigned short b) { return T::from_bits(b); }               \
  BC_FN T __short_as_##name(short b) { return T::from_bits(static_cast<unsigned short>(b)); }
__BC_SMALL_CONVERSIONS(half, __half)
__BC_SMALL_CONVERSIONS(bfloat16, __nv_bfloat16)
#undef __BC_SMALL_CONVERSIONS
BC_FN __half2 __floats2half2_rn(float a, float b) { return __half2{__half(a), __half(b)}; }
BC_FN __half2 __float2half2_rn(float a) { return __half2{__half(a), __half(a)}; }
BC_FN __half2 __float22half2_rn(float2 a) { return __half2{__half(a.x), __half(a.y)}; }
BC_FN float2 __half22float2(__half2 a) { return make_float2(a.x, a.y); }
BC_FN __half2 make_half2(__half a, __half b) { return __half2{a, b}; }
BC_FN __half2 __halves2half2(__half a, __half b) { return __half2{a, b}; }
BC_FN __half2 __half2half2(__half a) { return __half2{a, a}; }
BC_FN __half __low2half(__half2 a) { return a.x; }
BC_FN __half __high2half(__half2 a) { return a.y; }
BC_FN float __low2float(__half2 a) { return a.x; }
BC_FN float __high2float(__half2 a) { return a.y; }
BC_FN __half2 __lowhigh2highlow(__half2 a) { return __half2{a.y, a.x}; }
BC_FN __half2 __lows2half2(__half2 a, __half2 b) { return __half2{a.x, b.x}; }
BC_FN __half2 __highs2half2(__half2 a, __half2 b) { return __half2{a.y, b.y}; }
BC_FN __nv_bfloat162 __floats2bfloat162_rn(float a, float b) { return __nv_bfloat162{__nv_bfloat16(a), __nv_bfloat16(b)}; }
BC_FN __nv_bfloat162 __float2bfloat162_rn(float a) { return __nv_bfloat162{__nv_bfloat16(a), __nv_bfloat16(a)}; }
BC_FN __nv_bfloat162 __float22bfloat162_rn(float2 a) { return __nv_bfloat162{__nv_bfloat16(a.x), __nv_bfloat16(a.y)}; }
BC_FN float2 __bfloat1622float2(__nv_bfloat162 a) { return make_float2(a.x, a.y); }
BC_FN __nv_bfloat162 make_bfloat162(__nv_bfloat16 a, __nv_bfloat16 b) { return __nv_bfloat162{a, b}; }
BC_FN __nv_bfloat162 __halves2bfloat162(__nv_bfloat16 a, __nv_bfloat16 b) { return __nv_bfloat162{a, b}; }
BC_FN __nv_bfloat162 __bfloat162bfloat162(__nv_bfloat16 a) { return __nv_bfloat162{a, a}; }
BC_FN __nv_bfloat16 __low2bfloat16(__nv_bfloat162 a) { return a.x; }
BC_FN __nv_bfloat16 __high2bfloat16(__nv_bfloat162 a) { return a.y; }
