// Exchanges between a warp's threads: each thread writes to the warp's memory, waits for the others, reads, and waits again, so that the
// next exchange may write.
#pragma once

#define __BC_WARP_MEET(mask) __bc_warp_barrier(mask)

template <class T>
struct __bc_slot {
  static_assert(sizeof(T) <= 16);
  // Values of each size have places of their own, since other lanes may exchange values of another size at the same time.
  static constexpr unsigned kStride = sizeof(T) <= 4 ? 4 : sizeof(T) <= 8 ? 8 : 16, kFirst = kStride == 4 ? 0 : kStride == 8 ? 128 : 384;
  BC_INLINE static T* place(unsigned lane) { return reinterpret_cast<T*>(__bc_warp_memory() + kFirst + kStride * lane); }
  BC_INLINE static void put(T value) { *place(__bc_lane()) = value; }
  BC_INLINE static T get(unsigned lane) { return *place(lane); }
};

template <class T>
BC_INLINE T __bc_shuffle(unsigned mask, T value, int source) {
  __bc_slot<T>::put(value);
  __BC_WARP_MEET(mask);
  T got = __bc_slot<T>::get(static_cast<unsigned>(source) & 31u);
  __BC_WARP_MEET(mask);
  return got;
}
/// A value of any size, exchanged in pieces.
template <class T>
BC_INLINE T __bc_shuffle_any(unsigned mask, T value, int source) {
  if constexpr (sizeof(T) <= 16) {
    return __bc_shuffle(mask, value, source);
  } else {
    constexpr unsigned kPieces = (sizeof(T) + 7) / 8;
    unsigned long pieces[kPieces] = {};
    __builtin_memcpy(pieces, &value, sizeof(T));
#pragma unroll
    for (unsigned i = 0; i < kPieces; ++i) pieces[i] = __bc_shuffle(mask, pieces[i], source);
    __builtin_memcpy(&value, pieces, sizeof(T));
    return value;
  }
}
#define __BC_SHUFFLE_TYPE template <class T, bc::enable_if<sizeof(T) <= 8> = 0>
__BC_SHUFFLE_TYPE BC_INLINE T __shfl_sync(unsigned mask, T value, int source, int width = 32) {
  int lane = static_cast<int>(__bc_lane());
  return __bc_shuffle(mask, value, (lane & ~(width - 1)) | (source & (width - 1)));
}
__BC_SHUFFLE_TYPE BC_INLINE T __shfl_up_sync(unsigned mask, T value, unsigned delta, int width = 32) {
  int lane = static_cast<int>(__bc_lane()), from = lane - static_cast<int>(delta);
  return __bc_shuffle(mask, value, from < (lane & ~(width - 1)) ? lane : from);
}
__BC_SHUFFLE_TYPE BC_INLINE T __shfl_down_sync(unsigned mask, T value, unsigned delta, int width = 32) {
  int lane = static_cast<int>(__bc_lane()), from = lane + static_cast<int>(delta);
  return __bc_shuffle(mask, value, from > (lane | (width - 1)) ? lane : from);
}
__BC_SHUFFLE_TYPE BC_INLINE T __shfl_xor_sync(unsigned mask, T value, int lanes, int width = 32) {
  int lane = static_cast<int>(__bc_lane()), from = lane ^ lanes;
  return __bc_shuffle(mask, value, from > (lane | (width - 1)) ? lane : from);
}
#define __shfl(...) __shfl_sync(0xffffffffu, __VA_ARGS__)
#define __shfl_up(...) __shfl_up_sync(0xffffffffu, __VA_ARGS__)
#define __shfl_down(...) __shfl_down_sync(0xffffffffu, __VA_ARGS__)
#define __shfl_xor(...) __shfl_xor_sync(0xffffffffu, __VA_ARGS__)

BC_FN void __syncwarp(unsigned mask = 0xffffffffu) { __BC_WARP_MEET(mask); }
/// A barrier of the active threads only; it waits for no others.
BC_FN unsigned __activemask() {
  __BC_WARP_MEET(0u);
  return __bc_active_mask();
}

BC_FN unsigned __ballot_sync(unsigned mask, int predicate) {
  __bc_slot<unsigned>::put(predicate != 0 ? 1u : 0u);
  __BC_WARP_MEET(mask);
  unsigned votes = 0;
  for (unsigned lane = 0; lane < 32; ++lane) votes |= __bc_slot<unsigned>::get(lane) << lane;
  votes &= mask & __bc_active_mask();
  __BC_WARP_MEET(mask);
  return votes;
}
BC_FN int __any_sync(unsigned mask, int predicate) { return __ballot_sync(mask, predicate) != 0 ? 1 : 0; }
BC_FN int __all_sync(unsigned mask, int predicate) { return __ballot_sync(mask, predicate == 0) == 0 ? 1 : 0; }
BC_FN int __uni_sync(unsigned mask, int predicate) {
  unsigned votes = __ballot_sync(mask, predicate), all = __ballot_sync(mask, 1);
  return votes == 0 || votes == all ? 1 : 0;
}
#define __ballot(predicate) __ballot_sync(0xffffffffu, predicate)
#define __any(predicate) __any_sync(0xffffffffu, predicate)
#define __all(predicate) __all_sync(0xffffffffu, predicate)

template <class T>
BC_INLINE unsigned __match_any_sync(unsigned mask, T value) {
  __bc_slot<T>::put(value);
  __BC_WARP_MEET(mask);
  unsigned same = 0;
  for (unsigned lane = 0; lane < 32; ++lane) same |= (__bc_slot<T>::get(lane) == value ? 1u : 0u) << lane;
  same &= mask & __bc_active_mask();
  __BC_WARP_MEET(mask);
  return same;
}
template <class T>
BC_INLINE unsigned __match_all_sync(unsigned mask, T value, int* all) {
  unsigned same = __match_any_sync(mask, value), there = __ballot_sync(mask, 1);
  *all = same == there ? 1 : 0;
  return *all != 0 ? there : 0u;
}

#define __BC_REDUCE(name, T, start, join)                                \
  BC_FN T name(unsigned mask, T value) {                                 \
    __bc_slot<T>::put(value);                                            \
    __BC_WARP_MEET(mask);                                                \
    unsigned there = mask & __bc_active_mask();                          \
    T a = start;                                                         \
    for (unsigned lane = 0; lane < 32; ++lane) {                         \
      T b = (there >> lane & 1u) != 0 ? __bc_slot<T>::get(lane) : start; \
      a = join;                                                          \
    }                                                                    \
    __BC_WARP_MEET(mask);                                                \
    return a;                                                            \
  }
__BC_REDUCE(__reduce_add_sync, unsigned, 0u, a + b)
__BC_REDUCE(__reduce_add_sync, int, 0, static_cast<int>(static_cast<unsigned>(a) + static_cast<unsigned>(b)))
__BC_REDUCE(__reduce_min_sync, unsigned, 0xffffffffu, (a < b ? a : b))
__BC_REDUCE(__reduce_min_sync, int, 2147483647, (a < b ? a : b))
__BC_REDUCE(__reduce_max_sync, unsigned, 0u, (a > b ? a : b))
__BC_REDUCE(__reduce_max_sync, int, (-2147483647 - 1), (a > b ? a : b))
__BC_REDUCE(__reduce_and_sync, unsigned, 0xffffffffu, (a & b))
__BC_REDUCE(__reduce_or_sync, unsigned, 0u, (a | b))
__BC_REDUCE(__reduce_xor_sync, unsigned, 0u, (a ^ b))
#undef __BC_REDUCE

// ---- votes of the block
BC_FN int __syncthreads_count(int predicate) {
  __shared__ int votes;
  __bc_barrier();
  votes = 0;  // every thread stores it, because the first one may have returned
  __bc_barrier();
  if (predicate != 0) __atomic_fetch_add(&votes, 1, __ATOMIC_RELAXED);
  __bc_barrier();
  return __bc_uniform(votes);
}
BC_FN int __syncthreads_or(int predicate) { return __syncthreads_count(predicate != 0) != 0 ? 1 : 0; }
BC_FN int __syncthreads_and(int predicate) { return __syncthreads_count(predicate == 0) == 0 ? 1 : 0; }
