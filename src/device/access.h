// Kernels of array expressions read their parameters and elements by these functions.
#pragma once
#include "types.h"

#if BC_CUDA
#define BC_METHOD static __device__ __forceinline__
#else
#define BC_METHOD static inline __attribute__((always_inline))
#if defined(__clang__)
#define BC_VECTORIZE _Pragma("clang loop vectorize(assume_safety)")
#define BC_VECTORIZE_FOUR _Pragma("clang loop vectorize(assume_safety) interleave_count(4)")
#define BC_VECTORIZE_REST _Pragma("clang loop vectorize(assume_safety) vectorize_predicate(enable)")
#define BC_VECTORIZE_LONG _Pragma("clang loop vectorize(assume_safety) unroll(disable)")
#define BC_ONE_BY_ONE _Pragma("clang loop vectorize(disable) unroll_count(4)")
#define BC_VECTORIZE_CHECKED
#else
#define BC_VECTORIZE _Pragma("GCC ivdep")
#define BC_VECTORIZE_CHECKED
#endif
#endif

namespace bc {

/// Reads a parameter word as a T.
template <class T> BC_INLINE T load_word(const i64* word) {
#if BC_CUDA
  return *reinterpret_cast<const T*>(word);
#else
  T value;
  __builtin_memcpy(&value, word, sizeof(T));
  return value;
#endif
}

/// A NumPy index along an axis: negative ones count from the end; one out of range sets the error word and becomes 0.
BC_FN i64 wrap_index(i64 index, i64 extent, u32* error) {
  const i64 at = index < 0 ? index + extent : index;
  const bool bad = static_cast<u64>(at) >= static_cast<u64>(extent);
#if BC_CUDA
  if (bad) *error = 1;
#else
  *error |= bad;  // a local variable without a branch, so that clang vectorizes the loop
#endif
  return bad ? 0 : at;
}

/// Whether c == lower + k * step for some 0 <= k < count (step > 0).
BC_FN bool in_range(i64 c, i64 lower, i64 count, i64 step) {
  const i64 d = c - lower;
  return step == 1 ? static_cast<u64>(d) < static_cast<u64>(count) : d >= 0 && d < count * step && d % step == 0;
}

/// V elements read or written by one access.
template <class T, int V> struct alignas(sizeof(T) * V < 16 ? sizeof(T) * V : 16) Vec {
  T v[V];
};

}  // namespace bc
