// How a reduction's elements are put together: blocks of lanes and a pairwise tree on the CPU, threads and groups on CUDA. The order of
// joins depends on counts alone, so a result is the same from run to run, for any number of threads, fused or not.
#pragma once
#include "access.h"
#include "philox.h"

namespace bc {

/// The type that a sum of T runs in: 16-bit floats in float.
template <class T> using acc_t = conditional<is_same<T, half> || is_same<T, bfloat16>, float, T>;

template <class S> BC_INLINE S mean_of(S sum, double n) {
  if constexpr (is_complex<S>)
    return S{sum.re / real_of<S>(n), sum.im / real_of<S>(n)};
  else
    return sum / static_cast<S>(n);
}

template <class S> constexpr bool is_var_state = false;
template <class M> constexpr bool is_var_state<VarState<M>> = true;

#if !BC_CUDA

/// Joins 2^k neighbours before they meet the next 2^k: the rounding error of a sum grows with the logarithm of the count.
template <class Red> struct Pairwise {
  using S = typename Red::S;
  S level[48];
  u64 count = 0;

  void push(S s) {
    int k = 0;
    for (u64 c = count; c & 1; c >>= 1) s = Red::join(level[k++], s);
    level[k] = s;
    ++count;
  }
  S total() const {
    S s = Red::init();
    bool first = true;
    // A short row has one level, and many short rows have many of these.
    int k = 0;
    for (u64 left = count; left != 0; left >>= 1, ++k)
      if (left & 1) {
        s = first ? level[k] : Red::join(level[k], s);
        first = false;
      }
    return s;
  }
};

template <class S> constexpr bool is_arg_state = false;
template <class T> constexpr bool is_arg_state<ArgState<T>> = true;

/// Where the extreme of a block is: the values alone walk in lanes, then its first place is looked for. `join` says which extreme.
template <class Red> static inline typename Red::S block_arg(const typename Red::T* x, i64 n, i64 start) {
  using T = typename Red::T;
  using S = typename Red::S;
  constexpr int kLanes = 256 / sizeof(T) < 32 ? 32 : 256 / sizeof(T);
  const bool highest = Red::join(S{T(0), 0}, S{T(1), 1}).index == 1;
  // As wide as the values, so that both walk in the same lanes.
  using Flag = conditional<sizeof(T) == 8, u64, conditional<sizeof(T) == 4, u32, conditional<sizeof(T) == 2, u16, u8>>>;
  T lane[kLanes];
  Flag nan[kLanes];
  for (int l = 0; l < kLanes; ++l) lane[l] = x[l], nan[l] = x[l] != x[l];
  i64 k = kLanes;
  for (; k + kLanes <= n; k += kLanes)
    for (int l = 0; l < kLanes; ++l) {
      const T a = x[k + l];
      lane[l] = (highest ? a > lane[l] : a < lane[l]) ? a : lane[l];
      nan[l] |= static_cast<Flag>(a != a);
    }
  bool any_nan = false;
  T best = lane[0];
  for (int l = 0; l < kLanes; ++l) {
    best = (highest ? lane[l] > best : lane[l] < best) ? lane[l] : best;
    any_nan |= nan[l] != 0;
  }
  for (; k < n; ++k) {
    best = (highest ? x[k] > best : x[k] < best) ? x[k] : best;
    any_nan |= x[k] != x[k];
  }
  if (any_nan) {
    for (k = 0; x[k] == x[k];) ++k;
    return {x[k], start + k};
  }
  constexpr int kChunk = 64;
  for (k = 0; k + kChunk <= n; k += kChunk) {
    bool here = false;
    for (int l = 0; l < kChunk; ++l) here |= x[k + l] == best;
    if (here) break;
  }
  while (x[k] != best) ++k;
  return {x[k], start + k};
}

/// Tells whether a reduction counts true elements; the compiler knows the answer.
template <class Red> BC_INLINE bool counts() {
  using S = typename Red::S;
  using T = typename Red::T;
  return Red::join(S(3), S(5)) == S(8) && Red::map(T(1), 0) == S(1) && Red::map(T(0), 0) == S(0);
}

/// How many of a block's bytes are true, in lanes of a byte each.
static inline i64 block_count(const bool* x, i64 n) {
  constexpr int kLanes = 128;
  i64 total = 0, k = 0;
  while (k + kLanes <= n) {
    u8 lane[kLanes] = {};
    for (int turn = 0; turn < 255 && k + kLanes <= n; ++turn, k += kLanes)
      for (int l = 0; l < kLanes; ++l) lane[l] = static_cast<u8>(lane[l] + x[k + l]);
    for (int l = 0; l < kLanes; ++l) total += lane[l];
  }
  for (; k < n; ++k) total += x[k];
  return total;
}

/// Sixteen doubles side by side. Written as a vector, since a compiler that finds such lanes in a loop may walk them one after the other.
constexpr int kDoubles = 16;
typedef double Doubles __attribute__((vector_size(kDoubles * sizeof(double))));

/// Reads sixteen neighbours as doubles.
template <class E> BC_INLINE void load_doubles(const E* x, Doubles& out) {
  if constexpr (is_same<E, half> || is_same<E, bfloat16>) {
    float wide[kDoubles];
    for (int l = 0; l < kDoubles; ++l) wide[l] = cast<float>(x[l]);
    load_doubles(wide, out);
  } else {
    using Plain = conditional<is_bool<E>, u8, E>;
    typedef Plain Elements __attribute__((vector_size(kDoubles * sizeof(Plain))));
    Elements v;
    __builtin_memcpy(&v, x, sizeof(v));
    out = __builtin_convertvector(v, Doubles);
  }
}

/// The moments of a block about its own mean, in two passes over what the first one brought near. Complex numbers are pairs of lanes.
template <class Red> static inline typename Red::S block_variance(const typename Red::T* x, i64 n) {
  using T = typename Red::T;
  using E = real_of<T>;
  constexpr int kParts = is_complex<T> ? 2 : 1;
  const E* e = reinterpret_cast<const E*>(x);
  const i64 count = n * kParts;
  Doubles sums = {}, squares = {}, center, v;
  i64 k = 0;
  for (; k + kDoubles <= count; k += kDoubles) {
    load_doubles(e + k, v);
    sums += v;
  }
  for (int l = 0; k + l < count; ++l) sums[l] += cast<double>(e[k + l]);
  for (int w = kDoubles / 2; w >= kParts; w /= 2)
    for (int l = 0; l < w; ++l) sums[l] += sums[l + w];
  for (int l = 0; l < kDoubles; ++l) center[l] = sums[l % kParts] / static_cast<double>(n);
  for (k = 0; k + kDoubles <= count; k += kDoubles) {
    load_doubles(e + k, v);
    v -= center;
    squares += v * v;
  }
  for (int l = 0; k + l < count; ++l) {
    const double d = cast<double>(e[k + l]) - center[l];
    squares[l] += d * d;
  }
  for (int w = kDoubles / 2; w > 0; w /= 2)
    for (int l = 0; l < w; ++l) squares[l] += squares[l + w];
  typename Red::S s;
  s.n = static_cast<double>(n);
  if constexpr (is_complex<T>) s.mean = {center[0], center[1]};
  else s.mean = center[0];
  s.m2 = squares[0];
  return s;
}

/// The state of a block of n >= 1 elements, the first at index start of its row: lanes that walk side by side, then a tree over them.
template <class Red> static inline typename Red::S block_state(const typename Red::T* x, i64 n, i64 start) {
  using S = typename Red::S;
  if constexpr (is_var_state<S>) {
    return block_variance<Red>(x, n);
  } else {
    if constexpr (is_arg_state<S>) {
      using T = typename Red::T;
      if constexpr (!is_complex<T> && !is_same<T, half> && !is_same<T, bfloat16> && !is_bool<T>) {
        if (n >= 256) return block_arg<Red>(x, n, start);
      }
    } else if constexpr (is_bool<typename Red::T> && is_same<S, i64>) {
      if (counts<Red>()) return block_count(x, n);
    }
    constexpr int kLanes = sizeof(S) <= 4 ? 64 : sizeof(S) <= 8 ? 32 : 8;
    if (n < kLanes) {
      S s = Red::map(x[0], start);
      for (i64 k = 1; k < n; ++k) s = Red::join(s, Red::map(x[k], start + k));
      return s;
    }
    S lane[kLanes];
    for (int l = 0; l < kLanes; ++l) lane[l] = Red::map(x[l], start + l);
    i64 k = kLanes;
    for (; k + kLanes <= n; k += kLanes)
      for (int l = 0; l < kLanes; ++l) lane[l] = Red::join(lane[l], Red::map(x[k + l], start + k + l));
    for (int l = 0; k + l < n; ++l) lane[l] = Red::join(lane[l], Red::map(x[k + l], start + k + l));
    for (int w = kLanes / 2; w > 0; w /= 2)
      for (int l = 0; l < w; ++l) lane[l] = Red::join(lane[l], lane[l + w]);
    return lane[0];
  }
}

#else

/// The moments of a few values about their own mean, in two passes over them.
template <class Red, class Index> BC_INLINE typename Red::S block_moments(const typename Red::T* x, Index n) {
  typename Red::S s;
  using M = decltype(s.mean);
  M sum = M(0);
  for (Index k = 0; k < n; ++k) sum = add(sum, cast<M>(x[k]));
  s.n = static_cast<double>(n);
  s.mean = mean_of(sum, static_cast<double>(n));
  s.m2 = 0;
  for (Index k = 0; k < n; ++k) s.m2 += squared_size(subtract(cast<M>(x[k]), s.mean));
  return s;
}

/// Joins what a thread holds of one tile into its running state. `m` of the K elements are there, the first ones; element e has index
/// first + (e / V) * stride + e % V of its row.
template <class Red, int K, int V> __device__ __forceinline__ void thread_join(typename Red::S& part, bool& empty,
                                                                               const typename Red::T (&x)[K], int m, i64 first,
                                                                               i64 stride) {
  using S = typename Red::S;
  if constexpr (is_var_state<S>) {
    if (m == 0) return;
    S tile;
    if (m == K) {
      tile = block_moments<Red>(x, K);
    } else {
      using M = decltype(tile.mean);
      M sum = M(0);
#pragma unroll
      for (int e = 0; e < K; ++e)
        if (e < m) sum = add(sum, cast<M>(x[e]));
      tile.n = m;
      tile.mean = mean_of(sum, double(m));
      tile.m2 = 0;
#pragma unroll
      for (int e = 0; e < K; ++e)
        if (e < m) tile.m2 += squared_size(subtract(cast<M>(x[e]), tile.mean));
    }
    part = empty ? tile : Red::join(part, tile);
    empty = false;
  } else {
    if (m == K) {
#pragma unroll
      for (int e = 0; e < K; ++e) {
        const S s = Red::map(x[e], first + (e / V) * stride + e % V);
        part = e == 0 && empty ? s : Red::join(part, s);
      }
      empty = false;
    } else {
#pragma unroll
      for (int e = 0; e < K; ++e)
        if (e < m) {
          const S s = Red::map(x[e], first + (e / V) * stride + e % V);
          part = empty ? s : Red::join(part, s);
          empty = false;
        }
    }
  }
}

/// A state of the thread `down` places further on in a group of `width` lanes of a warp.
template <class S> __device__ __forceinline__ S shuffle_down(const S& s, int down, int width) {
  constexpr int kWords = (sizeof(S) + 3) / 4;
  u32 words[kWords] = {};
  memcpy(words, &s, sizeof(S));
#pragma unroll
  for (int k = 0; k < kWords; ++k) words[k] = __shfl_down_sync(0xffffffffu, words[k], down, width);
  S out;
  memcpy(&out, words, sizeof(S));
  return out;
}
template <class S> __device__ __forceinline__ S shuffle_first(const S& s, int width) {
  constexpr int kWords = (sizeof(S) + 3) / 4;
  u32 words[kWords] = {};
  memcpy(words, &s, sizeof(S));
#pragma unroll
  for (int k = 0; k < kWords; ++k) words[k] = __shfl_sync(0xffffffffu, words[k], 0, width);
  S out;
  memcpy(&out, words, sizeof(S));
  return out;
}

/// Joins the states of the first `active` of W neighbouring lanes in a fixed tree; the first lane gets the total.
template <class Red, int W> __device__ __forceinline__ typename Red::S warp_join(typename Red::S part, int lane, int active) {
#pragma unroll
  for (int w = W / 2; w > 0; w /= 2) {
    const typename Red::S other = shuffle_down(part, w, W);
    if (lane < w && lane + w < active) part = Red::join(part, other);
  }
  return part;
}

/// Joins the states of the first `active` of a group's G threads, in a fixed tree; every thread gets the total. All threads of the block
/// call it; `shared` has room for a state a warp of the group.
template <class Red, int G> __device__ __forceinline__ typename Red::S group_join(typename Red::S part, typename Red::S* shared, int lane,
                                                                                  int active) {
  if constexpr (G <= 32) {
    part = shuffle_first(warp_join<Red, G>(part, lane, active), G);
  } else {
    constexpr int kWarps = G / 32;
    const int warp = lane / 32, in_warp = lane % 32, left = active - warp * 32;
    part = warp_join<Red, 32>(part, in_warp, left < 32 ? left : 32);
    __syncthreads();
    if (in_warp == 0 && left > 0) shared[warp] = part;
    __syncthreads();
    const int warps = (active + 31) / 32;
    if (in_warp < warps) part = shared[in_warp];
    part = shuffle_first(warp_join<Red, kWarps>(part, in_warp, warps), 32);
  }
  return active > 0 ? part : Red::init();
}

#endif

}  // namespace bc
