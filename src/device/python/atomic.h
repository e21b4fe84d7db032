// Atomic operations on elements of arrays. Each returns the old value.
#pragma once
#include "core.h"

namespace bc {
namespace py {

/// The unsigned word that compare-and-swap works on.
template <class T>
using word_of = conditional<sizeof(T) == 8, u64, conditional<sizeof(T) == 4, u32, u16>>;

BC_FN u32 swap_if(u32* at, u32 expected, u32 desired) { return atomicCAS(at, expected, desired); }
BC_FN u64 swap_if(u64* at, u64 expected, u64 desired) { return atomicCAS(at, expected, desired); }
#if !BC_CUDA || __CUDA_ARCH__ >= 700
BC_FN u16 swap_if(u16* at, u16 expected, u16 desired) { return atomicCAS(at, expected, desired); }
#endif

/// Replaces *at by f(*at), again if another thread has changed *at meanwhile. If f returns the same bits, nothing is written.
template <class T, class F>
BC_INLINE T atomic_update(T* at, F f) {
  if constexpr (sizeof(T) == 1) {
    // Replaces one byte of the 32-bit word that holds it.
    const u64 address = reinterpret_cast<u64>(at);
    u32* word = reinterpret_cast<u32*>(address & ~static_cast<u64>(3));
    const u32 shift = 8 * static_cast<u32>(address & 3);
    u32 old = *const_cast<volatile u32*>(word);
    for (;;) {
      const T value = bits_as<T>(static_cast<u8>(old >> shift));
      const u32 wanted = (old & ~(0xffu << shift)) | static_cast<u32>(bits_as<u8>(f(value))) << shift;
      if (wanted == old) return value;
      const u32 found = swap_if(word, old, wanted);
      if (found == old) return value;
      old = found;
    }
  } else {
    using W = word_of<T>;
    W* word = reinterpret_cast<W*>(at);
    W old = *const_cast<volatile W*>(word);
    for (;;) {
      const W wanted = bits_as<W>(f(bits_as<T>(old)));
      if (wanted == old) return bits_as<T>(old);
      const W found = swap_if(word, old, wanted);
      if (found == old) return bits_as<T>(old);
      old = found;
    }
  }
}

/// A value whose comparisons have the order of its type.
template <class T>
BC_INLINE auto comparable(T x) {
  if constexpr (is_small_float<T>)
    return static_cast<float>(x);
  else
    return x;
}

template <class T>
BC_INLINE T atomic_add(T* at, T v) {
  if constexpr (is_same<T, float> || is_same<T, double> || is_same<T, i32> || is_same<T, u32>) {
    return atomicAdd(at, v);
  } else if constexpr (is_int<T> && sizeof(T) == 8) {
    return static_cast<T>(atomicAdd(reinterpret_cast<u64*>(at), static_cast<u64>(v)));
  } else if constexpr (is_complex<T>) {
    using R = real_of<T>;
    R* parts = reinterpret_cast<R*>(at);
    const R re = atomicAdd(parts, v.re);
    return T(re, atomicAdd(parts + 1, v.im));
  } else {
    return atomic_update(at, [=](T old) { return add(old, v); });
  }
}
template <class T>
BC_INLINE T atomic_sub(T* at, T v) {
  return atomic_add(at, negative(v));
}

// Numba's rules: a NaN operand is ignored; a NaN in the array stays for max and min, and is replaced for nanmax and nanmin.
template <class T>
BC_INLINE T atomic_max(T* at, T v) {
  if constexpr (is_same<T, i32> || is_same<T, u32>)
    return atomicMax(at, v);
  else if constexpr (is_same<T, i64> || is_same<T, u64>)
    return atomicMax(at, v);
  else
    return atomic_update(at, [=](T old) {
      const auto a = comparable(old), b = comparable(v);
      return b > a ? v : old;
    });
}
template <class T>
BC_INLINE T atomic_min(T* at, T v) {
  if constexpr (is_same<T, i32> || is_same<T, u32>)
    return atomicMin(at, v);
  else if constexpr (is_same<T, i64> || is_same<T, u64>)
    return atomicMin(at, v);
  else
    return atomic_update(at, [=](T old) {
      const auto a = comparable(old), b = comparable(v);
      return b < a ? v : old;
    });
}
template <class T>
BC_INLINE T atomic_nanmax(T* at, T v) {
  if constexpr (is_int<T>)
    return atomic_max(at, v);
  else
    return atomic_update(at, [=](T old) {
      const auto a = comparable(old), b = comparable(v);
      return b != b ? old : (a != a || b > a ? v : old);
    });
}
template <class T>
BC_INLINE T atomic_nanmin(T* at, T v) {
  if constexpr (is_int<T>)
    return atomic_min(at, v);
  else
    return atomic_update(at, [=](T old) {
      const auto a = comparable(old), b = comparable(v);
      return b != b ? old : (a != a || b < a ? v : old);
    });
}

template <class T>
BC_INLINE T atomic_and(T* at, T v) {
  if constexpr (sizeof(T) < 4) {
    return atomic_update(at, [=](T old) { return static_cast<T>(old & v); });
  } else {
    using W = word_of<T>;
    return static_cast<T>(atomicAnd(reinterpret_cast<W*>(at), static_cast<W>(v)));
  }
}
template <class T>
BC_INLINE T atomic_or(T* at, T v) {
  if constexpr (sizeof(T) < 4) {
    return atomic_update(at, [=](T old) { return static_cast<T>(old | v); });
  } else {
    using W = word_of<T>;
    return static_cast<T>(atomicOr(reinterpret_cast<W*>(at), static_cast<W>(v)));
  }
}
template <class T>
BC_INLINE T atomic_xor(T* at, T v) {
  if constexpr (sizeof(T) < 4) {
    return atomic_update(at, [=](T old) { return static_cast<T>(old ^ v); });
  } else {
    using W = word_of<T>;
    return static_cast<T>(atomicXor(reinterpret_cast<W*>(at), static_cast<W>(v)));
  }
}
template <class T>
BC_INLINE T atomic_exch(T* at, T v) {
  if constexpr (sizeof(T) < 4) {
    return atomic_update(at, [=](T) { return v; });
  } else {
    using W = word_of<T>;
    return bits_as<T>(static_cast<W>(atomicExch(reinterpret_cast<W*>(at), bits_as<W>(v))));
  }
}
/// old >= v ? 0 : old + 1
template <class T>
BC_INLINE T atomic_inc(T* at, T v) {
  if constexpr (is_same<T, u32>)
    return atomicInc(at, v);
  else
    return atomic_update(at, [=](T old) { return old >= v ? T(0) : static_cast<T>(old + 1); });
}
/// old == 0 or old > v ? v : old - 1
template <class T>
BC_INLINE T atomic_dec(T* at, T v) {
  if constexpr (is_same<T, u32>)
    return atomicDec(at, v);
  else
    return atomic_update(at, [=](T old) { return old == 0 || old > v ? v : static_cast<T>(old - 1); });
}
template <class T>
BC_INLINE T atomic_cas(T* at, T expected, T desired) {
  if constexpr (sizeof(T) == 1) {
    return atomic_update(at, [=](T old) { return old == expected ? desired : old; });
  } else {
    using W = word_of<T>;
    return bits_as<T>(swap_if(reinterpret_cast<W*>(at), bits_as<W>(expected), bits_as<W>(desired)));
  }
}

}  // namespace py
}  // namespace bc
