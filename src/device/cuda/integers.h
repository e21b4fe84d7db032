// Integer intrinsics and conversions.
#pragma once

BC_FN int __popc(unsigned x) { return __builtin_popcount(x); }
BC_FN int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
BC_FN int __clz(int x) { return x == 0 ? 32 : __builtin_clz(static_cast<unsigned>(x)); }
BC_FN int __clzll(long long x) { return x == 0 ? 64 : __builtin_clzll(static_cast<unsigned long long>(x)); }
BC_FN int __ffs(int x) { return __builtin_ffs(x); }
BC_FN int __ffsll(long long x) { return __builtin_ffsll(x); }
BC_FN unsigned __brev(unsigned x) { return __builtin_bitreverse32(x); }
BC_FN unsigned long long __brevll(unsigned long long x) { return __builtin_bitreverse64(x); }
BC_FN int __mul24(int a, int b) {
  return static_cast<int>((static_cast<unsigned>(a) << 8)) / 256 * (static_cast<int>(static_cast<unsigned>(b) << 8) / 256);
}
BC_FN unsigned __umul24(unsigned a, unsigned b) { return (a & 0xffffffu) * (b & 0xffffffu); }
BC_FN int __mulhi(int a, int b) { return static_cast<int>((static_cast<long long>(a) * b) >> 32); }
BC_FN unsigned __umulhi(unsigned a, unsigned b) { return static_cast<unsigned>((static_cast<unsigned long long>(a) * b) >> 32); }
BC_FN long long __mul64hi(long long a, long long b) { return static_cast<long long>((static_cast<__int128>(a) * b) >> 64); }
BC_FN unsigned long long __umul64hi(unsigned long long a, unsigned long long b) {
  return static_cast<unsigned long long>((static_cast<unsigned __int128>(a) * b) >> 64);
}
BC_FN int mulhi(int a, int b) { return __mulhi(a, b); }
BC_FN unsigned umulhi(unsigned a, unsigned b) { return __umulhi(a, b); }
BC_FN int mul24(int a, int b) { return __mul24(a, b); }
BC_FN unsigned umul24(unsigned a, unsigned b) { return __umul24(a, b); }
BC_FN unsigned __sad(int a, int b, unsigned c) { return c + static_cast<unsigned>(a > b ? a - b : b - a); }
BC_FN unsigned __usad(unsigned a, unsigned b, unsigned c) { return c + (a > b ? a - b : b - a); }
BC_FN int __hadd(int a, int b) { return static_cast<int>((static_cast<long long>(a) + b) >> 1); }
BC_FN int __rhadd(int a, int b) { return static_cast<int>((static_cast<long long>(a) + b + 1) >> 1); }
BC_FN unsigned __uhadd(unsigned a, unsigned b) { return static_cast<unsigned>((static_cast<unsigned long long>(a) + b) >> 1); }
BC_FN unsigned __urhadd(unsigned a, unsigned b) { return static_cast<unsigned>((static_cast<unsigned long long>(a) + b + 1) >> 1); }
BC_FN unsigned __funnelshift_l(unsigned lo, unsigned hi, unsigned n) {
  return static_cast<unsigned>((((static_cast<unsigned long long>(hi) << 32) | lo) << (n & 31)) >> 32);
}
BC_FN unsigned __funnelshift_r(unsigned lo, unsigned hi, unsigned n) {
  return static_cast<unsigned>(((static_cast<unsigned long long>(hi) << 32) | lo) >> (n & 31));
}
BC_FN unsigned __funnelshift_lc(unsigned lo, unsigned hi, unsigned n) {
  n = n < 32 ? n : 32;
  return static_cast<unsigned>((((static_cast<unsigned long long>(hi) << 32) | lo) << n) >> 32);
}
BC_FN unsigned __funnelshift_rc(unsigned lo, unsigned hi, unsigned n) {
  n = n < 32 ? n : 32;
  return static_cast<unsigned>(((static_cast<unsigned long long>(hi) << 32) | lo) >> n);
}
BC_FN unsigned __byte_perm(unsigned a, unsigned b, unsigned selector) {
  unsigned long long both = (static_cast<unsigned long long>(b) << 32) | a;
  unsigned r = 0;
  for (int i = 0; i < 4; ++i) {
    unsigned s = (selector >> (4 * i)) & 15u, byte = static_cast<unsigned>(both >> (8 * (s & 7u))) & 255u;
    if ((s & 8u) != 0) byte = (byte & 128u) != 0 ? 255u : 0u;
    r |= byte << (8 * i);
  }
  return r;
}
BC_FN int __dp4a(int a, int b, int c) {
  for (int i = 0; i < 4; ++i) c += static_cast<signed char>(a >> (8 * i)) * static_cast<signed char>(b >> (8 * i));
  return c;
}
BC_FN unsigned __dp4a(unsigned a, unsigned b, unsigned c) {
  for (int i = 0; i < 4; ++i) c += ((a >> (8 * i)) & 255u) * ((b >> (8 * i)) & 255u);
  return c;
}
BC_FN unsigned __fns(unsigned mask, unsigned base, int offset) {
  if (offset == 0) return (mask >> base & 1u) != 0 ? base : 0xffffffffu;
  int step = offset > 0 ? 1 : -1, left = offset > 0 ? offset : -offset;
  for (int i = static_cast<int>(base); i >= 0 && i < 32; i += step) {
    if ((mask >> i & 1u) != 0 && --left == 0) return static_cast<unsigned>(i);
  }
  return 0xffffffffu;
}

// ---- bits of floats, and conversions with a direction
BC_FN int __float_as_int(float x) { return __builtin_bit_cast(int, x); }
BC_FN unsigned __float_as_uint(float x) { return __builtin_bit_cast(unsigned, x); }
BC_FN float __int_as_float(int x) { return __builtin_bit_cast(float, x); }
BC_FN float __uint_as_float(unsigned x) { return __builtin_bit_cast(float, x); }
BC_FN long long __double_as_longlong(double x) { return __builtin_bit_cast(long long, x); }
BC_FN double __longlong_as_double(long long x) { return __builtin_bit_cast(double, x); }
BC_FN int __double2hiint(double x) { return static_cast<int>(__builtin_bit_cast(unsigned long long, x) >> 32); }
BC_FN int __double2loint(double x) { return static_cast<int>(__builtin_bit_cast(unsigned long long, x)); }
BC_FN double __hiloint2double(int hi, int lo) {
  return __builtin_bit_cast(double, (static_cast<unsigned long long>(static_cast<unsigned>(hi)) << 32) | static_cast<unsigned>(lo));
}
// As the hardware converts: clamped to the type's range; NaN becomes 0 (for 64 bits the lowest value).
template <class To, class From>
BC_INLINE To __bc_convert(From x) {
  const From low = static_cast<From>(bc::limits<To>::lowest()), high = static_cast<From>(bc::limits<To>::max());
  if (x != x) return sizeof(To) == 8 ? static_cast<To>(1ull << 63) : To(0);
  if (x <= low) return bc::limits<To>::lowest();
  if (x >= high) return bc::limits<To>::max();
  return static_cast<To>(x);
}
#define __BC_CONVERSIONS(from_name, From, to_name, To)                                       \
  BC_FN To __##from_name##2##to_name##_rn(From x) { return __bc_convert<To>(bc::rint(x)); }  \
  BC_FN To __##from_name##2##to_name##_rz(From x) { return __bc_convert<To>(bc::trunc(x)); } \
  BC_FN To __##from_name##2##to_name##_ru(From x) { return __bc_convert<To>(bc::ceil(x)); }  \
  BC_FN To __##from_name##2##to_name##_rd(From x) { return __bc_convert<To>(bc::floor(x)); }
__BC_CONVERSIONS(float, float, int, int)
__BC_CONVERSIONS(float, float, uint, unsigned)
__BC_CONVERSIONS(float, float, ll, long long)
__BC_CONVERSIONS(float, float, ull, unsigned long long)
__BC_CONVERSIONS(double, double, int, int)
__BC_CONVERSIONS(double, double, uint, unsigned)
__BC_CONVERSIONS(double, double, ll, long long)
__BC_CONVERSIONS(double, double, ull, unsigned long long)
#undef __BC_CONVERSIONS
BC_FN float __int2float_rn(int x) { return static_cast<float>(x); }
BC_FN float __uint2float_rn(unsigned x) { return static_cast<float>(x); }
BC_FN float __ll2float_rn(long long x) { return static_cast<float>(x); }
BC_FN float __ull2float_rn(unsigned long long x) { return static_cast<float>(x); }
BC_FN double __int2double_rn(int x) { return static_cast<double>(x); }
BC_FN double __uint2double_rn(unsigned x) { return static_cast<double>(x); }
BC_FN double __ll2double_rn(long long x) { return static_cast<double>(x); }
BC_FN double __ull2double_rn(unsigned long long x) { return static_cast<double>(x); }
BC_FN float __double2float_rn(double x) { return static_cast<float>(x); }

// ---- loads and stores with hints
#define __BC_LOAD(name)          \
  template <class T>             \
  BC_INLINE T name(const T* p) { \
    return *p;                   \
  }
__BC_LOAD(__ldg)
__BC_LOAD(__ldcg)
__BC_LOAD(__ldca)
__BC_LOAD(__ldcs)
__BC_LOAD(__ldlu)
__BC_LOAD(__ldcv)
#undef __BC_LOAD
#define __BC_STORE(name)           \
  template <class T>               \
  BC_INLINE void name(T* p, T v) { \
    *p = v;                        \
  }
__BC_STORE(__stwb)
__BC_STORE(__stcg)
__BC_STORE(__stcs)
__BC_STORE(__stwt)
#undef __BC_STORE
BC_FN unsigned __isGlobal(const void*) { return 1; }
BC_FN unsigned __isShared(const void*) { return 0; }
BC_FN size_t __cvta_generic_to_shared(const void* p) { return reinterpret_cast<size_t>(p); }
