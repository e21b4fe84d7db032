// How a reduction's elements are put together: blocks of lanes and a pairwise tree on the CPU, threads and groups on CUDA. The order of
// joins depends on counts alone, so a result is the same from run to run, for any number of threads, fused or not.
#pragma once
#include "access.h"
#include "philox.h"

namespace bc {

/// The type that a sum of T runs in: 16-bit floats in float.
template <class T> using acc_t = compute_of<T>;

template <class S> BC_INLINE S mean_of(S sum, double n) {
  if constexpr (is_complex<S>)
    return S{sum.re / real_of<S>(n), sum.im / real_of<S>(n)};
  else
    return sum / static_cast<S>(n);
}

template <class S> constexpr bool is_var_state = false;
template <class M> constexpr bool is_var_state<VarState<M>> = true;

#if !BC_CUDA

template <class S> constexpr bool is_arg_state = false;
template <class T> constexpr bool is_arg_state<ArgState<T>> = true;

/// Joins 2^k neighbours before they meet the next 2^k: the rounding error of a sum grows with the logarithm of the count.
template <class Red, bool places = is_arg_state<typename Red::S>> struct Pairwise {
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

/// The place of an extreme is the same in any order: the best so far, which tells later blocks whether their own place matters.
template <class Red> struct Pairwise<Red, true> {
  using S = typename Red::S;
  S best = {};
  bool any = false;

  void push(S s) {
    best = any ? Red::join(best, s) : s;
    any = true;
  }
  S total() const { return any ? best : Red::init(); }
};

// Loops over elements are written over vectors, since a compiler that finds lanes in an array may walk them one after the other. How wide
// the vectors are never changes a result.
#if defined(__AVX512F__)
constexpr int kVectorBytes = 64;
#else
constexpr int kVectorBytes = 32;
#endif
template <class T, int Bytes = kVectorBytes> struct VectorOf {
  typedef T type __attribute__((vector_size(Bytes)));
};
template <class T> using Vector = typename VectorOf<T>::type;

template <class V> BC_INLINE V load_vector(const void* from) {
  V v;
  __builtin_memcpy(&v, from, sizeof(V));
  return v;
}
template <class V> BC_INLINE bool any_bit(const V& v) {
  u64 words[sizeof(V) / 8], all = 0;
  __builtin_memcpy(words, &v, sizeof(V));
  for (u64 w : words) all |= w;
  return all != 0;
}
template <bool yes> struct Choice {
  static constexpr bool kYes = yes;
};
template <bool highest, class V> BC_INLINE V lanes_extreme(const V& a, const V& b) { return (highest ? a > b : a < b) ? a : b; }
/// The highest or lowest of a vector's lanes.
template <class T, bool highest, int Bytes> BC_INLINE T lane_extreme(const typename VectorOf<T, Bytes>::type& v) {
  if constexpr (Bytes > 16) {
    typename VectorOf<T, Bytes / 2>::type half[2];
    __builtin_memcpy(half, &v, sizeof(v));
    return lane_extreme<T, highest, Bytes / 2>(lanes_extreme<highest>(half[1], half[0]));
  } else {
    T best = v[0];
    for (int l = 1; l < Bytes / static_cast<int>(sizeof(T)); ++l) best = (highest ? v[l] > best : v[l] < best) ? v[l] : best;
    return best;
  }
}

/// As lane_extreme, where the later of two equal lanes wins.
template <class T, bool highest, int Bytes> BC_INLINE T lane_most(const typename VectorOf<T, Bytes>::type& v) {
  if constexpr (Bytes > 16) {
    typename VectorOf<T, Bytes / 2>::type half[2];
    __builtin_memcpy(half, &v, sizeof(v));
    return lane_most<T, highest, Bytes / 2>(lanes_extreme<highest>(half[0], half[1]));
  } else {
    T lane[Bytes / sizeof(T)];
    __builtin_memcpy(lane, &v, sizeof(v));
    for (int w = Bytes / static_cast<int>(sizeof(T)) / 2; w > 0; w /= 2)
      for (int l = 0; l < w; ++l) lane[l] = (highest ? lane[l] > lane[l + w] : lane[l] < lane[l + w]) ? lane[l] : lane[l + w];
    return lane[0];
  }
}

/// Whether a reduction is maximum (1), minimum (-1) or another one (0). NaN wins in both; fmax and fmin are others.
template <class Red> constexpr int extreme_of() {
  if constexpr (requires { Red::kExtreme; })
    return Red::kExtreme;
  else
    return 0;
}

/// The maximum (or minimum) of a block of numbers, in kVectors vectors side by side. Floats walk in a fixed number of lanes and equal ones
/// give way to the later: which of 0.0 and -0.0 is the answer does not depend on how wide the vectors are.
template <class T, bool highest, int kVectors> BC_INLINE T block_most(const T* x, i64 n) {
  using V = Vector<T>;
  using Mask = decltype(V() != V());
  constexpr int kLanes = kVectorBytes / sizeof(T);
  V most[kVectors];
  Mask nan = {};
  BC_UNROLL for (int v = 0; v < kVectors; ++v) {
    most[v] = load_vector<V>(x + v * kLanes);
    if constexpr (is_float<T>) nan |= most[v] != most[v];
  }
  i64 k = kVectors * kLanes;
  for (; k + kVectors * kLanes <= n; k += kVectors * kLanes) BC_UNROLL for (int v = 0; v < kVectors; ++v) {
      const V a = load_vector<V>(x + k + v * kLanes);
      most[v] = lanes_extreme<highest>(most[v], a);
      if constexpr (is_float<T>) nan |= a != a;
    }
  for (int v = 0; v < kVectors && k < n; ++v, k += kLanes) {
    // The last vector is filled up with what its lanes have already.
    V a = most[v];
    const i64 left = n - k < kLanes ? n - k : kLanes;
    if (left == kLanes)
      a = load_vector<V>(x + k);
    else
      for (i64 l = 0; l < left; ++l) a[l] = x[k + l];
    most[v] = lanes_extreme<highest>(most[v], a);
    if constexpr (is_float<T>) nan |= a != a;
  }
  if constexpr (is_float<T>)
    if (any_bit(nan)) {
      for (k = 0; x[k] == x[k];) ++k;
      return x[k];
    }
  BC_UNROLL for (int w = kVectors / 2; w > 0; w /= 2) for (int v = 0; v < w; ++v) most[v] = lanes_extreme<highest>(most[v], most[v + w]);
  return lane_most<T, highest, kVectorBytes>(most[0]);
}

/// Tells whether the second of two states that differ in value wins: whether a maximum is looked for.
template <class Red> BC_INLINE bool looks_for_highest() {
  using S = typename Red::S;
  using V = decltype(S::value);
  return Red::join(S{V(0), 0}, S{V(1), 1}).index == 1;
}

/// Where the extreme of a block is: the values alone walk in kStep vectors of lanes, which the block fills at least once; then its first
/// place is looked for, unless `best`, the extreme of what came before (nullptr: nothing did), stays the better one.
template <class Red, bool highest, int Bytes, int kStep>
BC_INLINE typename Red::S block_extreme(const typename Red::T* x, i64 n, i64 start, const typename Red::S* best_before) {
  using T = typename Red::T;
  using V = typename VectorOf<T, Bytes>::type;
  using Mask = decltype(V() != V());
  constexpr int kLanes = Bytes / sizeof(T);
  V lane[kStep];
  Mask nan = {};
  for (int v = 0; v < kStep; ++v) {
    lane[v] = load_vector<V>(x + v * kLanes);
    nan |= lane[v] != lane[v];
  }
  i64 k = kStep * kLanes;
  if constexpr (kStep > 1) {
    for (; k + kStep * kLanes <= n; k += kStep * kLanes) BC_UNROLL for (int v = 0; v < kStep; v += 2) {
        const V a = load_vector<V>(x + k + v * kLanes), b = load_vector<V>(x + k + (v + 1) * kLanes);
        lane[v] = lanes_extreme<highest>(a, lane[v]);
        lane[v + 1] = lanes_extreme<highest>(b, lane[v + 1]);
        nan |= (a != a) | (b != b);  // one comparison
      }
    for (int v = 1; v < kStep; ++v) lane[0] = lanes_extreme<highest>(lane[v], lane[0]);
  }
  // The last vector may have elements again that were seen.
  while (k < n) {
    const V a = load_vector<V>(x + (k + kLanes <= n ? k : n - kLanes));
    lane[0] = lanes_extreme<highest>(a, lane[0]);
    nan |= a != a;
    k += kLanes;
  }
  if (any_bit(nan)) {
    for (k = 0; x[k] == x[k];) ++k;
    return {x[k], start + k};
  }
  const T best = lane_extreme<T, highest, Bytes>(lane[0]);
  if (best_before && !(highest ? best > best_before->value : best < best_before->value)) return *best_before;
  for (k = 0; k + kLanes < n; k += kLanes)
    if (any_bit(load_vector<V>(x + k) == best)) break;
  while (x[k] != best) ++k;
  return {x[k], start + k};
}
template <class Red>
static inline typename Red::S block_arg(const typename Red::T* x, i64 n, i64 start, const typename Red::S* best_before) {
  constexpr i64 kItem = sizeof(typename Red::T);
  const auto of = [&](auto highest) {
    constexpr bool kHighest = decltype(highest)::kYes;
    if (n * kItem >= 8 * kVectorBytes) return block_extreme<Red, kHighest, kVectorBytes, 8>(x, n, start, best_before);
    if (n * kItem >= kVectorBytes) return block_extreme<Red, kHighest, kVectorBytes, 1>(x, n, start, best_before);
    return block_extreme<Red, kHighest, 16, 1>(x, n, start, best_before);
  };
  return looks_for_highest<Red>() ? of(Choice<true>()) : of(Choice<false>());
}

/// Complex numbers one after the other: the comparison's outcome is nearly always the same.
template <class Red> static inline typename Red::S block_arg_complex(const typename Red::T* x, i64 n, i64 start) {
  const bool highest = looks_for_highest<Red>();
  typename Red::S best = Red::map(x[0], start);
  for (i64 k = 1; k < n; ++k) {
    const auto re = x[k].re, im = x[k].im, best_re = best.value.re, best_im = best.value.im;
    const bool loses =
        highest ? (re < best_re) | ((re == best_re) & (im <= best_im)) : (re > best_re) | ((re == best_re) & (im >= best_im));
    if (__builtin_expect(loses & (im == im), 1)) continue;
    best = Red::join(best, Red::map(x[k], start + k));
  }
  return best;
}

/// The first of the bytes that has the value looked for, else the first of all.
template <class Red> static inline typename Red::S block_arg_bool(const bool* x, i64 n, i64 start) {
  const bool wanted = looks_for_highest<Red>();
  i64 k = 0;
  for (; k + kVectorBytes <= n; k += kVectorBytes)
    if (any_bit(load_vector<Vector<u8>>(x + k) ^ static_cast<u8>(!wanted))) break;
  while (k < n && x[k] != wanted) ++k;
  return k < n ? typename Red::S{wanted, start + k} : typename Red::S{!wanted, start};
}

// What a reduction says of its elements' truth; the compiler knows the answers.
template <class Red> BC_INLINE bool is_any() {
  return Red::join(false, true) && Red::join(true, false) && Red::join(true, true) && !Red::join(false, false);
}
template <class Red> BC_INLINE bool is_all() {
  return !Red::join(false, true) && !Red::join(true, false) && Red::join(true, true) && !Red::join(false, false);
}
template <class Red> BC_INLINE bool counts() {
  using T = typename Red::T;
  return Red::join(i64(3), i64(5)) == 8 && Red::map(T(0), 0) == 0 && Red::map(T(1), 0) == 1 && Red::map(T(2), 0) == 1;
}

/// The words by which T is tested for truth: all bits but the signs of floats. A complex128 is two of them.
template <class T> struct TruthWords {
  using Word = conditional<is_same<T, complex64>, u64, unsigned_of<real_of<T>>>;
  static constexpr Word kMask = is_same<T, complex64>  ? static_cast<Word>(0x7fffffff7fffffffull)
                                : is_float<real_of<T>> ? static_cast<Word>(static_cast<Word>(~Word(0)) >> 1)
                                                       : static_cast<Word>(~Word(0));
  static constexpr int kWords = is_same<T, complex128> ? 2 : 1;
};

/// Lanes and their neighbours in pairs change places.
template <class V> BC_INLINE V swap_pairs(const V& v) {
  if constexpr (sizeof(V) == 64)
    return __builtin_shufflevector(v, v, 1, 0, 3, 2, 5, 4, 7, 6);
  else
    return __builtin_shufflevector(v, v, 1, 0, 3, 2);
}

enum class Truth { any, all, count };

/// Whether any or all of a block's elements are true, which is left as soon as it is known, or how many.
template <Truth what, class T> static inline i64 block_truth(const T* x, i64 n) {
  using Words = TruthWords<T>;
  using V = Vector<typename Words::Word>;
  constexpr int kLanes = kVectorBytes / sizeof(typename Words::Word), kStep = 8, kElements = kStep * kLanes / Words::kWords;
  constexpr int kTurns = what == Truth::count ? 31 : 1;  // lanes of a byte count to 255
  i64 k = 0, total = 0;
  while (k + kElements <= n) {
    V lanes = {};
    for (int turn = 0; turn < kTurns && k + kElements <= n; ++turn, k += kElements) BC_UNROLL for (int v = 0; v < kStep; ++v) {
        const V bits = load_vector<V>(reinterpret_cast<const char*>(x + k) + v * kVectorBytes) & Words::kMask;
        if constexpr (what == Truth::any) {
          lanes |= bits;
        } else if constexpr (what == Truth::all) {
          V none = reinterpret_cast<V>(bits == 0);
          if constexpr (Words::kWords == 2) none &= swap_pairs(none);
          lanes |= none;
        } else {
          V some = reinterpret_cast<V>(bits != 0);
          if constexpr (Words::kWords == 2) some |= swap_pairs(some);
          lanes -= some;
        }
      }
    if constexpr (what == Truth::count) {
      for (int l = 0; l < kLanes; ++l) total += static_cast<i64>(lanes[l]);
    } else if (any_bit(lanes)) {
      return what == Truth::any;
    }
  }
  i64 found = 0;
  for (i64 l = k; l < n; ++l) found += cast<bool>(x[l]);
  if constexpr (what == Truth::any)
    return found > 0;
  else if constexpr (what == Truth::all)
    return found == n - k;
  else
    return total / Words::kWords + found;
}

/// Tells whether no later element can change a state: nothing more needs to be read.
template <class Red> BC_INLINE bool decided(const typename Red::S& s) {
  using S = typename Red::S;
  if constexpr (is_same<S, bool>) {
    return Red::join(s, false) == s && Red::join(s, true) == s && Red::join(false, s) == s && Red::join(true, s) == s;
  } else if constexpr (is_same<S, ArgState<bool>>) {
    return Red::join(s, S{!s.value, s.index + 1}).index == s.index;
  } else {
    return false;
  }
}

/// A reduction of 16-bit floats as one of floats, which they are as good as.
template <class Red> struct Widened {
  using T = float;
  using S = typename Red::S;
  static constexpr int kExtreme = extreme_of<Red>();
  BC_METHOD S map(float a, i64 i) { return Red::map(a, i); }
  BC_METHOD S join(const S& p, const S& q) { return Red::join(p, q); }
};
template <class Red>
constexpr bool widens =
    is_small_float<typename Red::T> && !is_same<typename Red::S, typename Red::T> && !is_same<typename Red::S, ArgState<typename Red::T>>;

/// 16-bit floats as floats.
template <class T> BC_INLINE void widen(const T* x, float* out, i64 n) {
  i64 k = 0;
  if constexpr (is_same<T, bfloat16>) {
    typedef u16 Narrow __attribute__((vector_size(kVectorBytes / 2)));
    constexpr int kLanes = kVectorBytes / 4;
    for (; k + kLanes <= n; k += kLanes) {
      const Vector<u32> bits = __builtin_convertvector(load_vector<Narrow>(x + k), Vector<u32>) << 16;
      __builtin_memcpy(out + k, &bits, sizeof(bits));
    }
  }
#if defined(__F16C__)
  if constexpr (is_same<T, half>) {
    typedef short Narrow __attribute__((vector_size(16)));
    for (; k + 8 <= n; k += 8) {
      const auto v = __builtin_ia32_vcvtph2ps256(load_vector<Narrow>(x + k));
      __builtin_memcpy(out + k, &v, sizeof(v));
    }
  }
#endif
  for (; k < n; ++k) out[k] = cast<float>(x[k]);
}

/// Sixteen doubles side by side. Written as a vector, since a compiler that finds such lanes in a loop may walk them one after the other.
constexpr int kDoubles = 16;
typedef double Doubles __attribute__((vector_size(kDoubles * sizeof(double))));

/// Reads sixteen neighbours as doubles.
template <class E> BC_INLINE void load_doubles(const E* x, Doubles& out) {
  using Plain = conditional<is_bool<E>, u8, E>;
  typedef Plain Elements __attribute__((vector_size(kDoubles * sizeof(Plain))));
  Elements v;
  __builtin_memcpy(&v, x, sizeof(v));
  out = __builtin_convertvector(v, Doubles);
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
  if constexpr (is_complex<T>)
    s.mean = {center[0], center[1]};
  else
    s.mean = center[0];
  s.m2 = squares[0];
  return s;
}

/// The state of a block of n >= 1 elements, at most kWidest of 16-bit floats, the first at index start of its row: lanes that walk side by
/// side, then a tree over them. A function of its own, since clang walks lanes one after the other where they lie in more loops. Where it
/// is asked for a place and the extreme of what came before (`best`) is no worse than the block's, it may answer that.
constexpr int kWidest = 1024;
template <class Red>
__attribute__((noinline)) static typename Red::S block_state(const typename Red::T* x, i64 n, i64 start,
                                                             const typename Red::S* best = nullptr) {
  using S = typename Red::S;
  using T = typename Red::T;
  if constexpr (widens<Red>) {
    alignas(64) float wide[kWidest];
    widen(x, wide, n);
    return block_state<Widened<Red>>(wide, n, start);
  } else if constexpr (is_var_state<S>) {
    return block_variance<Red>(x, n);
  } else {
    if constexpr (is_same<S, ArgState<bool>>) {
      return block_arg_bool<Red>(x, n, start);
    } else if constexpr (is_arg_state<S>) {
      if constexpr (is_complex<T>) {
        return block_arg_complex<Red>(x, n, start);
      } else if constexpr (!is_small_float<T>) {
        if (n * static_cast<i64>(sizeof(T)) >= 16) return block_arg<Red>(x, n, start, best);
      }
    } else if constexpr (is_same<S, bool>) {
      if (is_any<Red>()) return block_truth<Truth::any>(x, n) != 0;
      if (is_all<Red>()) return block_truth<Truth::all>(x, n) != 0;
    } else if constexpr (is_same<S, i64>) {
      if (counts<Red>()) return block_truth<Truth::count>(x, n);
    }
    constexpr int kLanes = sizeof(S) <= 4 ? 64 : sizeof(S) <= 8 ? 32 : 8;
    if constexpr (extreme_of<Red>() != 0 && is_same<S, T> && !is_bool<T> && !is_complex<T> && !is_small_float<T>) {
      // Which lane an integer walks in makes no difference, so that narrow ones fill as many vectors.
      constexpr int kVectors = is_float<T> ? kLanes * static_cast<int>(sizeof(T)) / kVectorBytes : 4;
      if (n * static_cast<i64>(sizeof(T)) >= kVectors * kVectorBytes) return block_most<T, (extreme_of<Red>() > 0), kVectors>(x, n);
    }
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

/// Adds a block to those before it.
template <class Red> BC_INLINE typename Red::S push_state(Pairwise<Red>& tree, const typename Red::T* x, i64 n, i64 start) {
  const typename Red::S* best = nullptr;
  if constexpr (is_arg_state<typename Red::S>) best = tree.any ? &tree.best : nullptr;
  const typename Red::S s = block_state<Red>(x, n, start, best);
  tree.push(s);
  return s;
}

/// The state of elements [lo, hi) of a row that lie side by side, x[0] the first of the row: blocks through the tree. With `may_leave` what
/// cannot change the state any more is not read.
template <class Red> BC_INLINE typename Red::S row_state(const typename Red::T* x, i64 lo, i64 hi, bool may_leave) {
  // Extremes of integers are the same in any order.
  if constexpr (extreme_of<Red>() != 0 && is_int<typename Red::T>) return block_state<Red>(x + lo, hi - lo, lo);
  Pairwise<Red> tree;
  for (i64 r = lo; r < hi; r += kWidest) {
    const typename Red::S s = push_state<Red>(tree, x + r, hi - r < kWidest ? hi - r : kWidest, r);
    if (may_leave && decided<Red>(s)) break;
  }
  return tree.total();
}

#if defined(__clang__)
#define BC_SIDE_BY_SIDE
#else
#define BC_SIDE_BY_SIDE _Pragma("GCC ivdep")
#endif

/// Values and places of n columns, each side by side, in the memory of n states. A place is as much of its row's number as is as wide as a
/// value, so that vectors of comparisons choose both alike; a run has at most 256 rows, which tells the rest.
template <class S> struct ArgColumns {
  using V = decltype(S::value);
  using Place = unsigned_of<conditional<(sizeof(V) > sizeof(i64)), i64, V>>;
  V* __restrict__ value;
  Place* __restrict__ place;

  BC_INLINE ArgColumns(const S* run, i64 n) {
    char* memory = reinterpret_cast<char*>(const_cast<S*>(run));
    value = reinterpret_cast<V*>(memory);
    place = reinterpret_cast<Place*>(memory + n * static_cast<i64>(sizeof(V)));
  }
};

template <int N> struct Rows {
  static constexpr int kRows = N;
};

/// Adds rows of n elements, `stride` elements apart, to the runs of n columns; with `start` the first row, of index r, begins them. A run
/// is a state, of moments sums and sums of squares about the column's first value: end_columns makes states of them.
template <class Red>
__attribute__((noinline)) static void fold_columns(typename Red::S* __restrict__ run, const typename Red::T* x, i64 stride, i64 r, i64 rows,
                                                   i64 n, bool start) {
  using S = typename Red::S;
  using T = typename Red::T;
  if constexpr (is_var_state<S>) {
    using E = real_of<T>;
    constexpr int kParts = is_complex<T> ? 2 : 1;
    static_assert(3 * kParts * sizeof(double) <= sizeof(S));
    const i64 count = n * kParts;
    const E* e = reinterpret_cast<const E*>(x);
    double* __restrict__ shift = reinterpret_cast<double*>(run);
    double* __restrict__ sums = shift + count, * __restrict__ squares = sums + count;
    i64 k = 0;
    if (start) {
      BC_SIDE_BY_SIDE
      for (i64 j = 0; j < count; ++j) shift[j] = cast<double>(e[j]), sums[j] = 0, squares[j] = 0;
      k = 1;
    }
    const auto add_rows = [&](auto some) {
      const E* row[decltype(some)::kRows];
      for (int l = 0; l < decltype(some)::kRows; ++l) row[l] = e + (k + l) * stride * kParts;
      BC_SIDE_BY_SIDE
      for (i64 j = 0; j < count; ++j) {
        double sum = sums[j], square = squares[j];
        const double about = shift[j];
        BC_UNROLL for (int l = 0; l < decltype(some)::kRows; ++l) {
          const double d = cast<double>(row[l][j]) - about;
          sum += d;
          square += d * d;
        }
        sums[j] = sum, squares[j] = square;
      }
      k += decltype(some)::kRows;
    };
    while (k + 4 <= rows) add_rows(Rows<4>());
    while (k < rows) add_rows(Rows<1>());
  } else if constexpr (is_arg_state<S>) {
    // Rows come in order, so only a value that wins takes the place of an earlier one.
    ArgColumns<S> columns(run, n);
    using Place = typename ArgColumns<S>::Place;
    i64 k = 0;
    if (start) {
      BC_SIDE_BY_SIDE
      for (i64 j = 0; j < n; ++j) columns.value[j] = Red::map(x[j], r).value, columns.place[j] = static_cast<Place>(r);
      k = 1;
    }
    for (; k < rows; ++k) {
      const T* row = x + k * stride;
      const Place at = static_cast<Place>(r + k);
      BC_SIDE_BY_SIDE
      for (i64 j = 0; j < n; ++j) {
        const S s = Red::map(row[j], 1), was{columns.value[j], 0};
        const bool wins = Red::join(was, s).index == 1;
        columns.value[j] = wins ? s.value : was.value;
        columns.place[j] = wins ? at : columns.place[j];
      }
    }
  } else {
    i64 k = 0;
    if (start) {
      BC_SIDE_BY_SIDE
      for (i64 j = 0; j < n; ++j) run[j] = Red::map(x[j], r);
      k = 1;
    }
    const auto add_rows = [&](auto some) {
      const T* row[decltype(some)::kRows];
      for (int l = 0; l < decltype(some)::kRows; ++l) row[l] = x + (k + l) * stride;
      BC_SIDE_BY_SIDE
      for (i64 j = 0; j < n; ++j) {
        S s = run[j];
        BC_UNROLL for (int l = 0; l < decltype(some)::kRows; ++l) s = Red::join(s, Red::map(row[l][j], r + k + l));
        run[j] = s;
      }
      k += decltype(some)::kRows;
    };
    while (k + 4 <= rows) add_rows(Rows<4>());
    while (k < rows) add_rows(Rows<1>());
  }
}

/// The state of column j of n after `rows` rows, the first of number r.
template <class Red> BC_INLINE typename Red::S column_state(const typename Red::S* run, i64 j, i64 r, i64 rows, i64 n) {
  using S = typename Red::S;
  if constexpr (is_var_state<S>) {
    constexpr int kParts = is_complex<typename Red::T> ? 2 : 1;
    const double* shift = reinterpret_cast<const double*>(run);
    const double *sums = shift + n * kParts, *squares = sums + n * kParts;
    double mean[kParts], m2 = 0;
    for (int c = 0; c < kParts; ++c) {
      const VarState<double> part =
          var_of_block(static_cast<double>(rows), shift[j * kParts + c], sums[j * kParts + c], squares[j * kParts + c]);
      mean[c] = part.mean;
      m2 += part.m2;
    }
    S s;
    s.n = static_cast<double>(rows);
    if constexpr (kParts == 2)
      s.mean = {mean[0], mean[1]};
    else
      s.mean = mean[0];
    s.m2 = m2;
    return s;
  } else if constexpr (is_arg_state<S>) {
    const ArgColumns<S> columns(run, n);
    using Place = typename ArgColumns<S>::Place;
    return {columns.value[j], r + static_cast<i64>(static_cast<Place>(columns.place[j] - static_cast<Place>(r)))};
  } else {
    return run[j];
  }
}

/// The runs of n columns over `rows` rows from row r on become their states, or are joined into them.
template <class Red>
__attribute__((noinline)) static void end_columns(const typename Red::S* __restrict__ run, i64 r, i64 rows, i64 n,
                                                  typename Red::S* __restrict__ top, bool first) {
  if (first) {
    for (i64 j = 0; j < n; ++j) top[j] = column_state<Red>(run, j, r, rows, n);
  } else {
    BC_SIDE_BY_SIDE
    for (i64 j = 0; j < n; ++j) top[j] = Red::join(top[j], column_state<Red>(run, j, r, rows, n));
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

/// A state that other lanes of a warp hold, moved word by word.
template <class S, class Move> __device__ __forceinline__ S shuffled(const S& s, Move move) {
  constexpr int kWords = (sizeof(S) + 3) / 4;
  u32 words[kWords] = {};
  memcpy(words, &s, sizeof(S));
#pragma unroll
  for (int k = 0; k < kWords; ++k) words[k] = move(words[k]);
  S out;
  memcpy(&out, words, sizeof(S));
  return out;
}
/// The state of the thread `down` places further on in a group of `width` lanes of a warp.
template <class S> __device__ __forceinline__ S shuffle_down(const S& s, int down, int width) {
  return shuffled(s, [=](u32 word) { return __shfl_down_sync(0xffffffffu, word, down, width); });
}
template <class S> __device__ __forceinline__ S shuffle_xor(const S& s, int lanes, int width) {
  return shuffled(s, [=](u32 word) { return __shfl_xor_sync(0xffffffffu, word, lanes, width); });
}
template <class S> __device__ __forceinline__ S shuffle_first(const S& s, int width) {
  return shuffled(s, [=](u32 word) { return __shfl_sync(0xffffffffu, word, 0, width); });
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

/// What a lane has after rows_join: the totals of K neighbouring rows.
template <class S, int K> struct RowTotals {
  S state[K];
};

/// Joins the states of R rows, of which each of a group's G <= 32 lanes holds a part, in the tree of group_join: the lane pairs of each
/// level share the rows out between them, so that R totals cost R shuffles instead of R log G. Afterwards a lane has the totals of
/// max(1, R / G) rows from row lane * R / G on.
template <class Red, int G, int R>
__device__ __forceinline__ RowTotals<typename Red::S, (R > G ? R / G : 1)> rows_join(const typename Red::S (&part)[R], int lane,
                                                                                     int active) {
  using S = typename Red::S;
  S mine[R];
#pragma unroll
  for (int j = 0; j < R; ++j) mine[j] = part[j];
  int held = R;
#pragma unroll
  for (int w = G / 2; w > 0; w /= 2) {
    const bool high = (lane & w) != 0;
    // The lower of the two lanes' numbers in the tree, which the levels before have narrowed to [0, 2 w).
    const bool both = (lane & (w - 1)) + w < active;
    if (held > 1) {
      held /= 2;
#pragma unroll
      for (int j = 0; j < R / 2; ++j) {
        if (j >= held) break;
        const S low_row = mine[j], high_row = mine[j + held];
        const S other = shuffle_xor(high ? low_row : high_row, w, G), own = high ? high_row : low_row;
        const S low = high ? other : own;
        mine[j] = both ? Red::join(low, high ? own : other) : low;
      }
    } else {
      const S other = shuffle_xor(mine[0], w, G);
      const S low = high ? other : mine[0];
      mine[0] = both ? Red::join(low, high ? mine[0] : other) : low;
    }
  }
  RowTotals<S, (R > G ? R / G : 1)> out;
#pragma unroll
  for (int j = 0; j < (R > G ? R / G : 1); ++j) out.state[j] = active > 0 ? mine[j] : Red::init();
  return out;
}

#endif

}  // namespace bc
