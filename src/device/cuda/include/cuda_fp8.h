// 8-bit floating-point numbers: e4m3 (largest 448, no infinities), e5m2 (as half, cut) and e8m0 (powers of two).
#pragma once

typedef unsigned char __nv_fp8_storage_t;
typedef unsigned short __nv_fp8x2_storage_t;
typedef unsigned int __nv_fp8x4_storage_t;
enum __nv_saturation_t { __NV_NOSAT, __NV_SATFINITE };
enum __nv_fp8_interpretation_t { __NV_E4M3, __NV_E5M2 };

/// Rounds a double to a sign, `exponent` and `mantissa` bits, to nearest, ties to even. Values out of range become `most` or `beyond`.
BC_FN unsigned char __bc_to_small(double x, int mantissa, int bias, double largest, unsigned char most, unsigned char beyond,
                                  unsigned char nan, bool saturate) {
  unsigned char sign = __builtin_signbit(x) ? 0x80 : 0;
  if (x != x) return static_cast<unsigned char>(nan);
  double a = __builtin_fabs(x);
  // The unit in the last place; subnormal values have that of the least exponent.
  int e = a == 0.0 ? 1 - bias : static_cast<int>(__builtin_bit_cast(unsigned long, a) >> 52) - 1023;
  if (e < 1 - bias) e = 1 - bias;
  double unit = __builtin_bit_cast(double, static_cast<unsigned long>(e - mantissa + 1023) << 52);
  double rounded = rint(a / unit) * unit;
  if (!(rounded <= largest)) return sign | (saturate ? most : beyond);
  unsigned steps = static_cast<unsigned>(rounded / unit);
  unsigned normal = 1u << mantissa;
  unsigned bits = steps < normal ? steps : (static_cast<unsigned>(e + bias) << mantissa) + (steps - normal);
  return static_cast<unsigned char>(sign | bits);
}
BC_FN float __bc_of_small(unsigned char b, int mantissa, int bias) {
  int e = (b & 0x7f) >> mantissa, m = b & ((1 << mantissa) - 1);
  float a = e == 0 ? static_cast<float>(m) : static_cast<float>(m + (1 << mantissa));
  int power = (e == 0 ? 1 : e) - bias - mantissa;
  a *= __builtin_bit_cast(float, static_cast<unsigned>(power + 127) << 23);
  return (b & 0x80) != 0 ? -a : a;
}
BC_FN __nv_fp8_storage_t __nv_cvt_double_to_fp8(double x, __nv_saturation_t saturate, __nv_fp8_interpretation_t kind) {
  if (kind == __NV_E4M3) return __bc_to_small(x, 3, 7, 448.0, 0x7e, 0x7f, 0x7f, saturate == __NV_SATFINITE);
  return __bc_to_small(x, 2, 15, 57344.0, 0x7b, 0x7c, 0x7f, saturate == __NV_SATFINITE);
}
BC_FN __nv_fp8_storage_t __nv_cvt_float_to_fp8(float x, __nv_saturation_t saturate, __nv_fp8_interpretation_t kind) {
  return __nv_cvt_double_to_fp8(static_cast<double>(x), saturate, kind);
}
BC_FN __nv_fp8_storage_t __nv_cvt_halfraw_to_fp8(__half_raw x, __nv_saturation_t saturate, __nv_fp8_interpretation_t kind) {
  return __nv_cvt_float_to_fp8(static_cast<float>(__half(x)), saturate, kind);
}
BC_FN __nv_fp8_storage_t __nv_cvt_bfloat16raw_to_fp8(__nv_bfloat16_raw x, __nv_saturation_t saturate, __nv_fp8_interpretation_t kind) {
  return __nv_cvt_float_to_fp8(static_cast<float>(__nv_bfloat16(x)), saturate, kind);
}
BC_FN __nv_fp8x2_storage_t __nv_cvt_float2_to_fp8x2(float2 x, __nv_saturation_t saturate, __nv_fp8_interpretation_t kind) {
  return static_cast<unsigned short>(__nv_cvt_float_to_fp8(x.x, saturate, kind) | __nv_cvt_float_to_fp8(x.y, saturate, kind) << 8);
}
BC_FN __nv_fp8x2_storage_t __nv_cvt_double2_to_fp8x2(double2 x, __nv_saturation_t saturate, __nv_fp8_interpretation_t kind) {
  return static_cast<unsigned short>(__nv_cvt_double_to_fp8(x.x, saturate, kind) | __nv_cvt_double_to_fp8(x.y, saturate, kind) << 8);
}
BC_FN float __bc_fp8_value(unsigned char b, __nv_fp8_interpretation_t kind) {
  if (kind == __NV_E4M3) return (b & 0x7f) == 0x7f ? __builtin_nanf("") : __bc_of_small(b, 3, 7);
  if ((b & 0x7c) == 0x7c) return (b & 3) != 0 ? __builtin_nanf("") : (b & 0x80) != 0 ? -__builtin_inff() : __builtin_inff();
  return __bc_of_small(b, 2, 15);
}
BC_FN __half_raw __nv_cvt_fp8_to_halfraw(__nv_fp8_storage_t b, __nv_fp8_interpretation_t kind) { return __half(__bc_fp8_value(b, kind)); }

#define __BC_FP8(name, kind)                                                                                                               \
  struct name {                                                                                                                            \
    __nv_fp8_storage_t __x;                                                                                                                \
    name() = default;                                                                                                                      \
    explicit name(float f) : __x(__nv_cvt_float_to_fp8(f, __NV_SATFINITE, kind)) {}                                                        \
    explicit name(double f) : __x(__nv_cvt_double_to_fp8(f, __NV_SATFINITE, kind)) {}                                                      \
    explicit name(__half f) : name(static_cast<float>(f)) {}                                                                               \
    explicit name(__nv_bfloat16 f) : name(static_cast<float>(f)) {}                                                                        \
    template <class I, bc::enable_if<bc::is_int<I>> = 0> explicit name(I i) : name(static_cast<double>(i)) {}                              \
    operator float() const { return __bc_fp8_value(__x, kind); }                                                                           \
    explicit operator double() const { return static_cast<double>(static_cast<float>(*this)); }                                            \
    explicit operator __half() const { return __half(static_cast<float>(*this)); }                                                         \
    explicit operator __nv_bfloat16() const { return __nv_bfloat16(static_cast<float>(*this)); }                                           \
    explicit operator bool() const { return (__x & 0x7f) != 0; }                                                                           \
    template <class I, bc::enable_if<bc::is_int<I>> = 0> explicit operator I() const { return static_cast<I>(static_cast<float>(*this)); } \
  };
__BC_FP8(__nv_fp8_e4m3, __NV_E4M3)
__BC_FP8(__nv_fp8_e5m2, __NV_E5M2)
#undef __BC_FP8
#define __BC_FP8_VECTORS(kind)                                                                                                           \
  struct __nv_fp8x2_##kind {                                                                                                             \
    __nv_fp8x2_storage_t __x;                                                                                                            \
    __nv_fp8x2_##kind() = default;                                                                                                       \
    explicit __nv_fp8x2_##kind(float2 f) : __x(static_cast<unsigned short>(__nv_fp8_##kind(f.x).__x | __nv_fp8_##kind(f.y).__x << 8)) {} \
    explicit __nv_fp8x2_##kind(__half2 f) : __nv_fp8x2_##kind(__half22float2(f)) {}                                                      \
    explicit __nv_fp8x2_##kind(__nv_bfloat162 f) : __nv_fp8x2_##kind(__bfloat1622float2(f)) {}                                           \
    operator float2() const { return float2{at(0), at(1)}; }                                                                             \
    explicit operator __half2() const { return __float22half2_rn(float2{at(0), at(1)}); }                                                \
    float at(int i) const {                                                                                                              \
      __nv_fp8_##kind one;                                                                                                               \
      one.__x = static_cast<unsigned char>(__x >> (8 * i));                                                                              \
      return one;                                                                                                                        \
    }                                                                                                                                    \
  };                                                                                                                                     \
  struct __nv_fp8x4_##kind {                                                                                                             \
    __nv_fp8x4_storage_t __x;                                                                                                            \
    __nv_fp8x4_##kind() = default;                                                                                                       \
    explicit __nv_fp8x4_##kind(float4 f)                                                                                                 \
        : __x(__nv_fp8x2_##kind(float2{f.x, f.y}).__x | static_cast<unsigned>(__nv_fp8x2_##kind(float2{f.z, f.w}).__x) << 16) {}         \
    operator float4() const { return float4{at(0), at(1), at(2), at(3)}; }                                                               \
    float at(int i) const {                                                                                                              \
      __nv_fp8_##kind one;                                                                                                               \
      one.__x = static_cast<unsigned char>(__x >> (8 * i));                                                                              \
      return one;                                                                                                                        \
    }                                                                                                                                    \
  };
__BC_FP8_VECTORS(e4m3)
__BC_FP8_VECTORS(e5m2)
#undef __BC_FP8_VECTORS
