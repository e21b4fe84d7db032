// Random numbers in compiled functions: xoroshiro128+ with a state in memory, and Philox from counters alone.
#pragma once
#include "core.h"

namespace bc {
namespace py {

BC_FN u64 rotated(u64 x, int by) { return (x << by) | (x >> (64 - by)); }

/// One step of xoroshiro128+ (Blackman and Vigna, 2016: rotations by 55, 14 and 36). A state is a record
/// with the fields s0 and s1, whose C++ names have the prefix of users' fields.
template <class S>
BC_INLINE u64 xoroshiro_next(S& state) {
  const u64 a = state.m_s0, b = state.m_s1 ^ a, sum = a + state.m_s1;
  state.m_s0 = rotated(a, 55) ^ b ^ (b << 14);
  state.m_s1 = rotated(b, 36);
  return sum;
}
/// 2^64 steps, by the polynomial that the authors give.
template <class S>
BC_INLINE void xoroshiro_jump(S& state) {
  u64 a = 0, b = 0;
  for (int k = 0; k < 128; ++k) {
    const u64 polynomial = k < 64 ? 0xbeac0467eba5facbull : 0xd86b048b86aa9922ull;
    if (((polynomial >> (k & 63)) & 1) != 0) {
      a ^= state.m_s0;
      b ^= state.m_s1;
    }
    xoroshiro_next(state);
  }
  state.m_s0 = a;
  state.m_s1 = b;
}
/// The seed through one step of SplitMix64, in both words (as Numba seeds its states).
template <class S>
BC_INLINE void xoroshiro_seed(S& state, u64 seed) {
  u64 z = seed + 0x9e3779b97f4a7c15ull;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
  state.m_s0 = state.m_s1 = z ^ (z >> 31);
}

BC_FN double unit_double(u64 bits) { return static_cast<double>(static_cast<i64>(bits >> 11)) * 0x1p-53; }
template <class S>
BC_INLINE double xoroshiro_uniform_double(S& state) {
  return unit_double(xoroshiro_next(state));
}
template <class S>
BC_INLINE float xoroshiro_uniform_float(S& state) {
  return static_cast<float>(unit_double(xoroshiro_next(state)));
}
// Box and Muller (1958). Both take two float32 uniforms, as Numba's do.
template <class S>
BC_INLINE float xoroshiro_normal_float(S& state) {
  const float u = xoroshiro_uniform_float(state), v = xoroshiro_uniform_float(state);
  return bc::sqrt(-2.0f * bc::log(u)) * bc::cos(6.2831855f * v);
}
template <class S>
BC_INLINE double xoroshiro_normal_double(S& state) {
  const float u = xoroshiro_uniform_float(state), v = xoroshiro_uniform_float(state);
  return bc::sqrt(-2.0 * static_cast<double>(bc::log(u))) * bc::cos(6.283185307179586 * static_cast<double>(v));
}

// ---- Philox4x32-10: the key is the seed, the upper half of the counter the sequence. 32-bit numbers take a word of a block each, 64-bit
// ones two.
BC_FN u32x4 philox(u64 seed, u64 sequence, u64 block) {
  return random_u32x4(static_cast<u32>(seed), static_cast<u32>(seed >> 32), block, sequence);
}
BC_FN u32 philox_u32(u64 seed, u64 sequence, u64 offset) {
  const u32x4 c = philox(seed, sequence, offset >> 2);
  const u32 low = (offset & 1) != 0 ? c.y : c.x, high = (offset & 1) != 0 ? c.w : c.z;
  return (offset & 2) != 0 ? high : low;
}
BC_FN u64 philox_u64(u64 seed, u64 sequence, u64 offset) {
  const u32x4 c = philox(seed, sequence, offset >> 1);
  return (offset & 1) != 0 ? (static_cast<u64>(c.w) << 32) | c.z : (static_cast<u64>(c.y) << 32) | c.x;
}
/// A normal number needs two words; philox_u32 gives the same words for no key but the complement.
BC_FN float philox_normal(u64 seed, u64 sequence, u64 offset) { return normal_of(philox(~seed, sequence, offset >> 2), offset); }
template <class R>
BC_INLINE R philox_block(u64 seed, u64 sequence, u64 block) {
  const u32x4 c = philox(seed, sequence, block);
  return R{{c.x, c.y, c.z, c.w}};
}

}  // namespace py
}  // namespace bc
