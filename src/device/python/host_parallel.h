// Parallel loops that sum up arrays, and elements that several turns update.
#pragma once
#include "host_numpy.h"

#if !BC_CUDA

namespace bc {
namespace py {

/// The turns of one piece of a parallel loop that allocates an array of `bytes` for each piece: all arrays together stay below 64 MiB. It
/// does not depend on the number of threads.
BC_FN i64 grain_beside(i64 n, i64 bytes) {
  const i64 most = (i64(64) << 20) / (bytes > 0 ? bytes : 1), pieces = most < 4 ? 4 : most > 64 ? 64 : most;
  return n <= pieces ? 1 : (n + pieces - 1) / pieces;
}

/// Memory for an array of each piece, side by side.
template <class T, int N, char L>
BC_INLINE Host<T, 1, 'C'> piece_arrays(const Host<T, N, L>& like, i64 pieces) {
  return fresh<T, 1>(Tuple<i64, 1>{{pieces * like.size()}});
}
/// The array of one piece, in the order of `like`.
template <class T, int N, char L>
BC_INLINE Host<T, N, L> piece_array(const Host<T, 1, 'C'>& all, const Host<T, N, L>& like, i64 piece) {
  Array<T, N, L> a{all.data + piece * like.size(), like.shape, {}};
  i64 stride = sizeof(T);
  for (int k = 0; k < N; ++k) {
    const int axis = L == 'F' ? k : N - 1 - k;
    a.strides[axis] = stride;
    stride *= like.shape[axis];
  }
  return Host<T, N, L>(a, all.owner);
}
template <class T, int N, char L>
BC_INLINE void fill_all(const Host<T, N, L>& a, T value) {
  assign(a, [value]() -> T { return value; });
}

/// An element becomes f(element), whatever other threads do to it meanwhile.
template <class T, class F>
BC_INLINE void update_shared(T& place, const F& f) {
  if constexpr (is_complex<T> || sizeof(T) > 8) {
    // Its parts are changed one after the other: sums and differences come out right.
    using R = real_of<T>;
    const T change = f(T(0));
    R* parts = reinterpret_cast<R*>(&place);
    update_shared(parts[0], [&](R x) { return x + change.re; });
    update_shared(parts[1], [&](R x) { return x + change.im; });
  } else {
    using W = conditional<sizeof(T) == 8, u64, conditional<sizeof(T) == 4, u32, conditional<sizeof(T) == 2, u16, u8>>>;
    W* word = reinterpret_cast<W*>(&place);
    W old = __atomic_load_n(word, __ATOMIC_RELAXED);
    while (!__atomic_compare_exchange_n(word, &old, bits_as<W>(f(bits_as<T>(old))), true, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {}
  }
}

}  // namespace py
}  // namespace bc
#endif
