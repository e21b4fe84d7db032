// Numbers of the device library: fixed-width integers, small floats, complex, their traits and limits. Includes nothing.
#pragma once

#if defined(__CUDACC_RTC__) || defined(__CUDA_ARCH__)
#define BC_CUDA 1
#pragma nv_diag_suppress 177  // unused functions
#define BC_FN static __device__ __forceinline__
#define BC_INLINE __device__ __forceinline__
#else
#define BC_CUDA 0
#define BC_FN static inline __attribute__((always_inline))
#define BC_INLINE inline __attribute__((always_inline))
#endif
#if BC_CUDA || defined(__clang__)
#define BC_UNROLL _Pragma("unroll")
#else
#define BC_UNROLL
#endif
// A loop of a few steps that GCC too must write out: it leaves loops of more than 16 steps as they are.
#if BC_CUDA || defined(__clang__)
#define BC_STRAIGHT BC_UNROLL
#else
#define BC_STRAIGHT _Pragma("GCC unroll 40")
#endif
// A loop that GCC must vectorise before it would unroll it.
#if BC_CUDA || defined(__clang__)
#define BC_ROLLED
#else
#define BC_ROLLED _Pragma("GCC unroll 1")
#endif
#define BC_TFN       \
  template <class T> \
  BC_INLINE

namespace bc {

using i8 = signed char;
using i16 = short;
using i32 = int;
using i64 = long long;
using u8 = unsigned char;
using u16 = unsigned short;
using u32 = unsigned int;
using u64 = unsigned long long;
static_assert(sizeof(i64) == 8 && sizeof(i32) == 4, "unexpected data model");

// ---- traits
template <bool B, class T, class F>
struct conditional_t {
  using type = T;
};
template <class T, class F>
struct conditional_t<false, T, F> {
  using type = F;
};
template <bool B, class T, class F>
using conditional = typename conditional_t<B, T, F>::type;
template <bool B>
struct enable_t {};
template <>
struct enable_t<true> {
  using type = int;
};
template <bool B>
using enable_if = typename enable_t<B>::type;

template <class A, class B>
constexpr bool is_same = false;
template <class A>
constexpr bool is_same<A, A> = true;

/// Returns the same bits as another type.
template <class To, class From>
BC_INLINE constexpr To bits_as(From x) {
  return __builtin_bit_cast(To, x);
}

// ---- 16-bit floating point: storage only, arithmetic goes through float and is rounded once
BC_FN float half_bits_to_float(u16 h) {
#if BC_CUDA
  float f;
  asm("cvt.f32.f16 %0, %1;" : "=f"(f) : "h"(h));
  return f;
#elif (defined(__F16C__) || defined(__AVX512F__)) && !defined(__clang__)
  return static_cast<float>(bits_as<_Float16>(h));
#else
  // Also for clang, which would turn comparisons of widened halves into comparisons of halves, which are not vectorized. Scales the shifted
  // bits by 2^112: exact for normal and subnormal values; infinities and NaN get their exponent back.
  u32 shifted = (static_cast<u32>(h) & 0x7fffu) << 13;
  float magnitude = bits_as<float>(shifted) * 0x1p112f;
  u32 bits = (shifted >= 0x0f800000u) ? (shifted | 0x7f800000u) : bits_as<u32>(magnitude);
  return bits_as<float>(bits | ((static_cast<u32>(h) & 0x8000u) << 16));
#endif
}

BC_FN u16 float_to_half_bits(float f) {
#if BC_CUDA
  u16 h;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(h) : "f"(f));
  return h;
#elif defined(__F16C__) || defined(__AVX512F__)
  return bits_as<u16>(static_cast<_Float16>(f));
#else
  u32 bits = bits_as<u32>(f), sign = (bits >> 16) & 0x8000u, a = bits & 0x7fffffffu;
  u32 normal = (a - 0x38000000u + 0xfffu + ((a >> 13) & 1u)) >> 13;
  // Adding 0.5 moves the subnormal's last bit to the last bit of the float, so the addition rounds it.
  u32 subnormal = bits_as<u32>(bits_as<float>(a) + 0.5f) - 0x3f000000u;
  u32 r = a < 0x38800000u ? subnormal : (a >= 0x47800000u ? 0x7c00u : normal);
  return static_cast<u16>((a > 0x7f800000u ? 0x7e00u | (a >> 13 & 0x3ffu) : r) | sign);
#endif
}

BC_FN float bfloat16_bits_to_float(u16 h) { return bits_as<float>(static_cast<u32>(h) << 16); }

BC_FN u16 float_to_bfloat16_bits(float f) {
  u32 bits = bits_as<u32>(f);
  u32 rounded = (bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16;
  return static_cast<u16>(f != f ? ((bits >> 16) | 0x40u) : rounded);
}

// ---- 8-bit floating point: a sign, an exponent and a few bits; values out of range become NaN (e4m3fn) or infinity (e5m2)
BC_FN float float8_e4m3fn_bits_to_float(u8 b) {
  // The shifted bits as a float's: the exponent's bias differs by 120, which the scaling corrects, also for subnormal numbers.
  float magnitude = bits_as<float>(static_cast<u32>(b & 0x7fu) << 20) * 0x1p120f;
  u32 bits = (b & 0x7fu) == 0x7fu ? 0x7fc00000u : bits_as<u32>(magnitude);
  return bits_as<float>(bits | (static_cast<u32>(b & 0x80u) << 24));
}
BC_FN u8 float_to_float8_e4m3fn_bits(float f) {
  u32 bits = bits_as<u32>(f), a = bits & 0x7fffffffu;
  u32 normal = (a - 0x3c000000u + 0x7ffffu + ((a >> 20) & 1u)) >> 20;
  // Adding 2^14 moves the subnormal's last bit, 2^-9, to the last bit of the float, so the addition rounds it.
  u32 subnormal = bits_as<u32>(bits_as<float>(a) + 0x1p14f) - 0x46800000u;
  u32 r = a < 0x3c800000u ? subnormal : (a >= 0x43f00000u ? 0x7fu : normal);
  return static_cast<u8>((r > 0x7fu ? 0x7fu : r) | (bits >> 24 & 0x80u));
}
BC_FN float float8_e5m2_bits_to_float(u8 b) { return half_bits_to_float(static_cast<u16>(static_cast<u32>(b) << 8)); }
BC_FN u8 float_to_float8_e5m2_bits(float f) {
  u32 bits = bits_as<u32>(f), a = bits & 0x7fffffffu;
  u32 normal = (a - 0x38000000u + 0xfffffu + ((a >> 21) & 1u)) >> 21;
  u32 subnormal = bits_as<u32>(bits_as<float>(a) + 0x1p7f) - 0x43000000u;
  u32 r = a < 0x38800000u ? subnormal : (a >= 0x47700000u ? 0x7cu : normal);
  return static_cast<u8>((a > 0x7f800000u ? 0x7eu : r) | (bits >> 24 & 0x80u));
}

/// Rounds to float so that a later rounding to fewer bits is correct (round to odd; Boldo & Melquiond 2008).
BC_FN float round_to_odd(double x) {
  float f = static_cast<float>(x);
  u32 bits = bits_as<u32>(f);
  double back = static_cast<double>(f);
  bool above = x < 0 ? back < x : back > x;
  u32 odd = (bits - (above ? 1u : 0u)) | 1u;
  return bits_as<float>(back != x && x == x ? odd : bits);
}

struct half {
  u16 bits;
  half() = default;
  BC_INLINE explicit half(float f) : bits(float_to_half_bits(f)) {}
  BC_INLINE explicit operator float() const { return half_bits_to_float(bits); }
};

struct bfloat16 {
  u16 bits;
  bfloat16() = default;
  BC_INLINE explicit bfloat16(float f) : bits(float_to_bfloat16_bits(f)) {}
  BC_INLINE explicit operator float() const { return bfloat16_bits_to_float(bits); }
};

struct float8_e4m3fn {
  u8 bits;
  float8_e4m3fn() = default;
  BC_INLINE explicit float8_e4m3fn(float f) : bits(float_to_float8_e4m3fn_bits(f)) {}
  BC_INLINE explicit operator float() const { return float8_e4m3fn_bits_to_float(bits); }
};

struct float8_e5m2 {
  u8 bits;
  float8_e5m2() = default;
  BC_INLINE explicit float8_e5m2(float f) : bits(float_to_float8_e5m2_bits(f)) {}
  BC_INLINE explicit operator float() const { return float8_e5m2_bits_to_float(bits); }
};

/// Same layout as std::complex and CUDA's float2 and double2.
template <class R>
struct alignas(2 * sizeof(R)) complex {
  R re, im;
  complex() = default;
#if (defined(__clang__) || defined(BC_CPU_SUPPORT)) && !BC_CUDA
  // Not trivial, so that calls pass it in memory: the ABI would pack it into one register, which prevents vectorization. The rare functions
  // that kernels call are compiled in the same way.
  BC_INLINE constexpr complex(const complex& z) : re(z.re), im(z.im) {}
  complex& operator=(const complex& z) = default;
#endif
  BC_INLINE constexpr complex(R real, R imag = R(0)) : re(real), im(imag) {}
  template <class Q, enable_if<!is_same<Q, R>> = 0>
  BC_INLINE constexpr explicit complex(const complex<Q>& z) : re(static_cast<R>(z.re)), im(static_cast<R>(z.im)) {}
  // The names by which users' kernels read the parts.
  BC_INLINE constexpr R real() const { return re; }
  BC_INLINE constexpr R imag() const { return im; }
};
using complex64 = complex<float>;
using complex128 = complex<double>;

template <class T>
constexpr bool is_complex = false;
template <class R>
constexpr bool is_complex<complex<R>> = true;
template <class T>
constexpr bool is_bool = is_same<T, bool>;
template <class T>
constexpr bool is_float8 = is_same<T, float8_e4m3fn> || is_same<T, float8_e5m2>;
template <class T>
constexpr bool is_small_float = is_same<T, half> || is_same<T, bfloat16> || is_float8<T>;
template <class T>
constexpr bool is_native_float = is_same<T, float> || is_same<T, double>;
template <class T>
constexpr bool is_float = is_native_float<T> || is_small_float<T>;
template <class T>
constexpr bool is_signed_int = is_same<T, i8> || is_same<T, i16> || is_same<T, i32> || is_same<T, i64> || is_same<T, long>;
template <class T>
constexpr bool is_unsigned_int = is_same<T, u8> || is_same<T, u16> || is_same<T, u32> || is_same<T, u64> || is_same<T, unsigned long>;
template <class T>
constexpr bool is_int = is_signed_int<T> || is_unsigned_int<T>;

template <class T>
struct real_of_t {
  using type = T;
};
template <class R>
struct real_of_t<complex<R>> {
  using type = R;
};
/// complex<R> -> R, any other type unchanged.
template <class T>
using real_of = typename real_of_t<T>::type;
/// The type arithmetic runs in: float for the small types, else the type itself.
template <class T>
using compute_of = conditional<is_small_float<T>, float, T>;
/// Unsigned integer of at least 32 bits that holds T; overflow in it wraps without undefined behaviour.
template <class T>
using wrap_of = conditional<sizeof(T) == 8, u64, u32>;
/// Unsigned integer of the same size.
template <class T>
using unsigned_of = conditional<sizeof(T) == 8, u64, conditional<sizeof(T) == 4, u32, conditional<sizeof(T) == 2, u16, u8>>>;

// ---- layout of the native floats
template <class T>
struct float_layout;
template <>
struct float_layout<float> {
  using uint = u32;
  using sint = i32;
  enum : i32 { kMantissa = 23, kBias = 127 };  // enumerators, because NVRTC gives each static member memory
  enum : u32 { kSign = 0x80000000u, kInf = 0x7f800000u };
};
template <>
struct float_layout<double> {
  using uint = u64;
  using sint = i64;
  enum : i32 { kMantissa = 52, kBias = 1023 };
  enum : u64 { kSign = 0x8000000000000000ull, kInf = 0x7ff0000000000000ull };
};

// ---- limits; functions, so that no storage is needed on any device
template <class T>
struct limits {  // integers and bool
  BC_INLINE static constexpr T max() {
    if constexpr (is_bool<T>)
      return true;
    else
      return is_signed_int<T> ? static_cast<T>(static_cast<unsigned_of<T>>(~static_cast<unsigned_of<T>>(0)) >> 1)
                              : static_cast<T>(~static_cast<unsigned_of<T>>(0));
  }
  BC_INLINE static constexpr T lowest() { return is_signed_int<T> ? static_cast<T>(~max()) : T(0); }
};
template <>
struct limits<float> {
  BC_INLINE static constexpr float max() { return 0x1.fffffep127f; }
  BC_INLINE static constexpr float lowest() { return -max(); }
  BC_INLINE static constexpr float min() { return 0x1p-126f; }
  BC_INLINE static constexpr float inf() { return bits_as<float>(0x7f800000u); }
  BC_INLINE static constexpr float nan() { return bits_as<float>(0x7fc00000u); }
  BC_INLINE static constexpr float epsilon() { return 0x1p-23f; }
};
template <>
struct limits<double> {
  BC_INLINE static constexpr double max() { return 0x1.fffffffffffffp1023; }
  BC_INLINE static constexpr double lowest() { return -max(); }
  BC_INLINE static constexpr double min() { return 0x1p-1022; }
  BC_INLINE static constexpr double inf() { return bits_as<double>(0x7ff0000000000000ull); }
  BC_INLINE static constexpr double nan() { return bits_as<double>(0x7ff8000000000000ull); }
  BC_INLINE static constexpr double epsilon() { return 0x1p-52; }
};
template <class T, u32 Max, u32 Inf, u32 Nan, u32 Eps>
struct small_limits {
  BC_INLINE static T of(u32 bits) { return bits_as<T>(static_cast<unsigned_of<T>>(bits)); }
  BC_INLINE static T max() { return of(Max); }
  BC_INLINE static T lowest() { return of(Max | 1u << (sizeof(T) * 8 - 1)); }
  BC_INLINE static T inf() { return of(Inf); }
  BC_INLINE static T nan() { return of(Nan); }
  BC_INLINE static T epsilon() { return of(Eps); }
};
template <>
struct limits<half> : small_limits<half, 0x7bff, 0x7c00, 0x7e00, 0x1400> {};
template <>
struct limits<bfloat16> : small_limits<bfloat16, 0x7f7f, 0x7f80, 0x7fc0, 0x3c00> {};
template <>
struct limits<float8_e4m3fn> : small_limits<float8_e4m3fn, 0x7e, 0x7f, 0x7f, 0x20> {};  // no infinity: NaN instead
template <>
struct limits<float8_e5m2> : small_limits<float8_e5m2, 0x7b, 0x7c, 0x7e, 0x34> {};

}  // namespace bc
