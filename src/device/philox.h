// Counter-based random numbers: Philox4x32-10 (Salmon, Moraes, Dror & Shaw 2011). The same values on every device: only integer
// operations, + - * /, square root and explicit fused multiply-adds.
#pragma once
#include "reduce.h"

namespace bc {

struct u32x4 {
  u32 x, y, z, w;
};

/// The 64 bits of a product. NVRTC compiles the plain product by a constant to three instructions, and this form to two.
BC_FN u64 mul_wide(u32 a, u32 b) {
#if BC_CUDA
  u64 product;
  asm("mul.wide.u32 %0, %1, %2;" : "=l"(product) : "r"(a), "r"(b));
  return product;
#else
  return static_cast<u64>(a) * b;
#endif
}

/// 128 random bits of the 64-bit key and the 128-bit counter (counter, stream).
BC_FN u32x4 random_u32x4(u32 key0, u32 key1, u64 counter, u64 stream = 0) {
  u32x4 c = {static_cast<u32>(counter), static_cast<u32>(counter >> 32), static_cast<u32>(stream), static_cast<u32>(stream >> 32)};
  BC_UNROLL
  for (int round = 0; round < 10; round++) {
    u64 a = mul_wide(c.x, 0xd2511f53u), b = mul_wide(c.z, 0xcd9e8d57u);
    c = {static_cast<u32>(b >> 32) ^ c.y ^ key0, static_cast<u32>(b), static_cast<u32>(a >> 32) ^ c.w ^ key1, static_cast<u32>(a)};
    key0 += 0x9e3779b9u;
    key1 += 0xbb67ae85u;
  }
  return c;
}
BC_FN u32x4 random_block(u64 seed, u64 counter) { return random_u32x4(static_cast<u32>(seed), static_cast<u32>(seed >> 32), counter); }

/// The 32 bits of element `index`: four elements share a block.
BC_FN u32 random_u32(u64 seed, u64 index) {
  u32x4 c = random_block(seed, index >> 2);
  u32 low = (index & 1) != 0 ? c.y : c.x, high = (index & 1) != 0 ? c.w : c.z;
  return (index & 2) != 0 ? high : low;
}
/// The 64 bits of element `index`: two elements share a block, of a stream that 32-bit numbers never use.
BC_FN u64 random_u64(u64 seed, u64 index) {
  u32x4 c = random_u32x4(static_cast<u32>(seed), static_cast<u32>(seed >> 32), index >> 1, 1);
  u64 a = (static_cast<u64>(c.x) << 32) | c.y, b = (static_cast<u64>(c.z) << 32) | c.w;
  return (index & 1) != 0 ? b : a;
}

BC_FN float uniform_of(u32 bits) { return static_cast<float>(static_cast<i32>(bits >> 8)) * 0x1p-24f; }
BC_FN double uniform_of(u64 bits) {
  double high = static_cast<double>(static_cast<i32>(bits >> 37)), low = static_cast<double>(static_cast<i32>((bits >> 11) & 0x3ffffffu));
  return fma(high, 0x1p26, low) * 0x1p-53;
}

struct f32x2 {
  float x, y;
};

/// The square root of 2^-100 <= w < 2^100, correctly rounded. For CUDA without the test for other numbers, which sqrt has.
BC_FN float sqrt_of_normal(float w) {
#if BC_CUDA
  float inverse;
  asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(inverse) : "f"(w));
  float root = w * inverse;
  return fma(fma(-root, root, w), 0.5f * inverse, root);
#else
  return sqrt(w);
#endif
}
/// b and a where the condition holds, else a and b. NVRTC would make a number of the condition first.
BC_FN void exchange_if(u32 bits, u32 mask, float& a, float& b) {
#if BC_CUDA
  float first, second;
  asm("{\n.reg .pred p;\n.reg .b32 m;\nand.b32 m, %2, %3;\nsetp.ne.u32 p, m, 0;\nselp.f32 %0, %5, %4, p;\nselp.f32 %1, %4, %5, p;\n}"
      : "=f"(first), "=f"(second)
      : "r"(bits), "r"(mask), "f"(a), "f"(b));
#else
  bool exchanged = (bits & mask) != 0;
  float first = exchanged ? b : a, second = exchanged ? a : b;
#endif
  a = first;
  b = second;
}
/// -2 log(x) of a normal number x in (0, 1]: twice the negative of log_sum() of log_parts(), bit for bit. The factor is in the constants,
/// as powers of two: the polynomial's variable is -2 f.
BC_FN float minus_two_log(float x) {
  u32 power = (bits_as<u32>(x) - 0x3f2aaaabu) & 0xff800000u;
  float g = fma(bits_as<float>(bits_as<u32>(x) - power), -2.0f, 2.0f);
  float p = BC_P8(g, 0x1.ffffd6p-3f, 0x1.5554fcp-4f, 0x1.00145p-5f, 0x1.99d3a8p-7f, 0x1.503882p-8f, 0x1.1ea94cp-9f, 0x1.3b0e72p-10f,
                  0x1.1f243ep-11f);
  return fma(static_cast<float>(static_cast<i32>(power)), -0x1.62e43p-23f, fma(g, g * p, g));
}
/// Two independent standard normal numbers of 64 random bits: the radius and the angle of a point of the plane (Box and Muller, 1958). Of
/// `a` 31 bits are the probability to lie outside of the radius, so that no number is above 6.67.
BC_FN f32x2 normal_pair(u32 a, u32 b) {
  float w = minus_two_log(fma(static_cast<float>(static_cast<i32>(a >> 1)), 0x1p-31f, 0x1p-32f));
  float radius = sqrt_of_normal(w > 0x1p-100f ? w : 0x1p-100f);
  // The angle is a multiple of a quarter turn, given by the upper two bits of `turned`, plus at most an eighth of a turn in either
  // direction, given by the others.
  u32 turned = b + 0x20000000u;
  float t = static_cast<float>(static_cast<i32>(b << 2)) * 0x1.921fb6p-32f, t2 = t * t;
  float s = fma(t * t2, BC_P3(t2, -0x1.555546p-3f, 0x1.11073ap-7f, -0x1.99437p-13f), t);
  float c = BC_P5(t2, 1.0f, -0.5f, 0x1.55554ap-5f, -0x1.6c0c32p-10f, 0x1.99eb38p-16f);
  exchange_if(turned, 0x40000000u, c, s);
  u32 cosine = bits_as<u32>(c) ^ ((turned + 0x40000000u) & 0x80000000u), sine = bits_as<u32>(s) ^ (turned & 0x80000000u);
  return {radius * bits_as<float>(cosine), radius * bits_as<float>(sine)};
}
/// The standard normal number of element `index`, of its block's four words.
BC_FN float normal_of(u32x4 words, u64 index) {
  bool second = (index & 2) != 0;
  f32x2 pair = normal_pair(second ? words.z : words.x, second ? words.w : words.y);
  return (index & 1) != 0 ? pair.y : pair.x;
}
/// The words of a block of four normal numbers: each needs two, so they are of a stream that no other numbers use.
BC_FN u32x4 words_of_normals(u64 seed, u64 counter) {
  return random_u32x4(static_cast<u32>(seed), static_cast<u32>(seed >> 32), counter, 2);
}
/// The bits of a block's four standard normal numbers.
BC_FN u32x4 normal_block(u64 seed, u64 counter) {
  u32x4 words = words_of_normals(seed, counter);
  f32x2 low = normal_pair(words.x, words.y), high = normal_pair(words.z, words.w);
  return {bits_as<u32>(low.x), bits_as<u32>(low.y), bits_as<u32>(high.x), bits_as<u32>(high.y)};
}
// Giles (2012): with x in (0, 1) the central probability and w = -log(1 - x^2), the normal quantile is x times a polynomial in w or
// sqrt(w); own coefficients. `bits`: the lowest is the sign, the others the probability of the tail.
BC_FN double normal_of(u64 bits) {
  const double centre[] = {2.3386207100265937,      0.3396349587011405,      -0.008532899177272794,   -0.001047511569500699,
                           0.0002640820495640745,   -1.963285282259484e-05,  -1.931065067157947e-06,  5.98889434625142e-07,
                           -4.1111706968106464e-08, -5.8161444171724005e-09, 1.48663648242072e-09,    -7.658493734626558e-11,
                           -1.8348956307489847e-11, 3.724228927730933e-12,   -1.1541166512910051e-13, -5.732499219849733e-14,
                           9.402604925026613e-15,   2.8430011632863544e-17,  -1.8973250202788543e-16, 1.5835191565836458e-17,
                           1.8701218422341805e-18,  -2.393791863888957e-19,  -6.118558804515623e-21};
  const double middle[] = {4.36127285516533,      1.4216508658102576,     0.007595620204051831,   -0.00530500994673547,
                           0.0035234312013392374, -0.002387582187329529,  0.0013481547851236714,  -0.0005020988876990562,
                           3.39849809799695e-05,  9.656942876749619e-05,  -6.691735560094891e-05, 1.7642526885994705e-05,
                           4.132187175264637e-06, -5.676054408993588e-06, 2.129040056419327e-06,  2.5382428479993215e-08,
                           -3.9279516901896e-07,  1.2851925741523127e-07, 4.566531071835765e-09};
  const double far[] = {6.948101358877542,     1.4287526363525314,      -0.0002507448170139997, -0.0002782868521184928,
                        9.913872123439968e-05, -2.5545117005334167e-05, 5.8200960678410315e-06, -1.2536692918874543e-06,
                        2.763066985925062e-07, -7.63251188140059e-08,   2.9255723418326473e-08, -1.1800182786843059e-08,
                        7.135237222508028e-09, -5.295807683984095e-09,  1.6898416061309737e-09};
  // 52 bits and a half: 2^52 + k less 2^52 is k, exactly and without an integer conversion.
  double j = fma(2.0, bits_as<double>((bits >> 12) | 0x4330000000000000ull) - 0x1p52, 1.0);
  double tail = j * 0x1p-53, x = (0x1p53 - j) * 0x1p-53;
  double w = -log_of_normal(tail * (2.0 - tail)), root = sqrt(w);
  double p = horner(w - 3.125, centre), q = horner(root - 3.25, middle), r = horner(root - 5.0625, far);
  double z = x * (w < 6.25 ? p : (w < 16.0 ? q : r));
  return (bits & 1u) != 0 ? -z : z;
}

/// The raw bits of element `index`.
template <class T>
BC_INLINE T random_bits(u64 seed, u64 index) {
  if constexpr (sizeof(T) == 8)
    return static_cast<T>(random_u64(seed, index));
  else
    return cast<T>(random_u32(seed, index));
}
/// Uniform in [0, 1) with 53, 24, 11 or 8 bits, so that rounding never makes a 1. Integers: all their bits.
template <class T>
BC_INLINE T uniform(u64 seed, u64 index) {
  if constexpr (is_same<T, double>)
    return uniform_of(random_u64(seed, index));
  else if constexpr (is_same<T, float>)
    return uniform_of(random_u32(seed, index));
  else if constexpr (is_same<T, half>)
    return T(static_cast<float>(random_u32(seed, index) >> 21) * 0x1p-11f);
  else if constexpr (is_same<T, bfloat16>)
    return T(static_cast<float>(random_u32(seed, index) >> 24) * 0x1p-8f);
  else
    return random_bits<T>(seed, index);
}
/// The standard normal distribution; integer types get it rounded towards zero.
template <class T>
BC_INLINE T standard_normal(u64 seed, u64 index) {
  if constexpr (is_same<T, double>)
    return normal_of(random_u64(seed, index));
  else
    return cast<T>(normal_of(words_of_normals(seed, index >> 2), index));
}

/// A whole number below `range` (0 stands for 2^64): the high part of random bits times the range, Lemire (2019). Enough bits are
/// used (64 up to 2^32, else 128) that the bias stays below 2^-32.
BC_FN u64 random_below(u64 seed, u64 index, u64 range) {
  u32x4 c = random_block(seed, index);
  if (range - 1 < 0xffffffffu) {
    return (static_cast<u64>(c.x) * range + ((static_cast<u64>(c.y) * range) >> 32)) >> 32;
  }
  u64 high = (static_cast<u64>(c.x) << 32) | c.y, low = (static_cast<u64>(c.z) << 32) | c.w;
  if (range == 0) return high;
  u64 a = high * range, sum = a + mul_high(low, range);
  return mul_high(high, range) + (sum < a ? 1 : 0);
}
/// A whole number in [low, low + range).
BC_TFN T random_integer(u64 seed, u64 index, T low, u64 range) {
  return static_cast<T>(static_cast<u64>(low) + random_below(seed, index, range));
}

}  // namespace bc
