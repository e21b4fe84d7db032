// The order in which a reduction combines its elements: blocks of lanes and a pairwise tree on the CPU, threads and groups on CUDA. The
// order of joins depends only on counts, so a result is the same in every run, for any number of threads, fused or not.
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

/// Joins 2^k neighbouring blocks before it joins them with the next 2^k: the rounding error of a sum grows with the logarithm of the count.
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
    // A short row needs one level only, and many short rows create many of these objects.
    int k = 0;
    for (u64 left = count; left != 0; left >>= 1, ++k)
      if (left & 1) {
        s = first ? level[k] : Red::join(level[k], s);
        first = false;
      }
    return s;
  }
};

/// The index of an extreme does not depend on the order of joins: keeps the best state so far, so that later blocks need their index only
/// if their value is better.
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

// Loops over elements use explicit vectors, since a compiler may process lanes in an array one after the other. The width of the vectors
// never changes a result.
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

/// Like lane_extreme, but of two equal lanes the later one wins.
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

/// The maximum (or minimum) of a block of numbers, in kVectors vectors side by side. Floats use a fixed number of lanes, and of equal
/// values the later one wins: so the choice between 0.0 and -0.0 does not depend on the width of the vectors.
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
    // The missing lanes of the last vector repeat values that were seen already.
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

/// Tells whether the larger value wins, that is, whether the reduction is a maximum.
template <class Red> BC_INLINE bool looks_for_highest() {
  using S = typename Red::S;
  using V = decltype(S::value);
  return Red::join(S{V(0), 0}, S{V(1), 1}).index == 1;
}

/// The index of a block's extreme. The values are reduced in kStep vectors of lanes, which the block must fill at least once; then the
/// first index of the extreme is searched, unless `best`, the extreme of earlier blocks (nullptr: none), is still better.
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
  // The last vector may overlap the previous one.
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

/// Complex numbers are compared one after the other: the branch is predicted well, because its outcome is nearly always the same.
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

/// The state of the first byte with the wanted value, else of the first byte.
template <class Red> static inline typename Red::S block_arg_bool(const bool* x, i64 n, i64 start) {
  const bool wanted = looks_for_highest<Red>();
  i64 k = 0;
  for (; k + kVectorBytes <= n; k += kVectorBytes)
    if (any_bit(load_vector<Vector<u8>>(x + k) ^ static_cast<u8>(!wanted))) break;
  while (k < n && x[k] != wanted) ++k;
  return k < n ? typename Red::S{wanted, start + k} : typename Red::S{!wanted, start};
}

// Reductions of the truth of elements: any, all, or the number of true ones. The kind is known at compile time.
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

/// The words by which the truth of a T is tested: all bits except the sign of floats. A complex128 has two words.
template <class T> struct TruthWords {
  using Word = conditional<is_same<T, complex64>, u64, unsigned_of<real_of<T>>>;
  static constexpr Word kMask = is_same<T, complex64>  ? static_cast<Word>(0x7fffffff7fffffffull)
                                : is_float<real_of<T>> ? static_cast<Word>(static_cast<Word>(~Word(0)) >> 1)
                                                       : static_cast<Word>(~Word(0));
  static constexpr int kWords = is_same<T, complex128> ? 2 : 1;
};

/// Exchanges the two lanes of each pair.
template <class V> BC_INLINE V swap_pairs(const V& v) {
  if constexpr (sizeof(V) == 64)
    return __builtin_shufflevector(v, v, 1, 0, 3, 2, 5, 4, 7, 6);
  else
    return __builtin_shufflevector(v, v, 1, 0, 3, 2);
}

enum class Truth { any, all, count };

/// Whether any or all of a block's elements are true (stops as soon as this is known), or the number of true elements.
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

/// Whether a reduction is a sum of its elements.
template <class Red> constexpr bool adds() {
  if constexpr (requires { Red::kAdds; })
    return Red::kAdds;
  else
    return false;
}

/// A reduction of 16-bit floats computed on floats, which gives the same result.
template <class Red> struct Widened {
  using T = float;
  using S = typename Red::S;
  static constexpr int kExtreme = extreme_of<Red>();
  static constexpr bool kAdds = adds<Red>();
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

/// Sixteen doubles as an explicit vector, since a compiler may process such lanes in a loop one after the other.
constexpr int kDoubles = 16;
typedef double Doubles __attribute__((vector_size(kDoubles * sizeof(double))));

/// Loads sixteen neighbouring elements as doubles.
template <class E> BC_INLINE void load_doubles(const E* x, Doubles& out) {
  using Plain = conditional<is_bool<E>, u8, E>;
  typedef Plain Elements __attribute__((vector_size(kDoubles * sizeof(Plain))));
  Elements v;
  __builtin_memcpy(&v, x, sizeof(v));
  out = __builtin_convertvector(v, Doubles);
}

/// Whether a reduction adds up floating-point numbers as they are.
template <class Red>
constexpr bool adds_floats = adds<Red>() && is_same<typename Red::S, typename Red::T> && is_native_float<real_of<typename Red::T>>;

// Blocks are added up in NumPy's order, so that programs print the same digits (numpy/_core/src/umath/loops_utils.h.src): eight running
// sums over at most kLeaf numbers, their sums in pairs, what is left of the row behind them; longer blocks are halves, of a multiple of 8.
constexpr int kSums = 8, kLeaf = 128, kLeaves = 8;

/// A processor's vector of running sums, of which kRegisters hold all.
template <class E> struct SumVectors {
  static constexpr int kBytes = kVectorBytes < kSums * static_cast<int>(sizeof(E)) ? kVectorBytes : kSums * static_cast<int>(sizeof(E));
  static constexpr int kEach = kBytes / static_cast<int>(sizeof(E)), kRegisters = kSums / kEach;
  using V = typename VectorOf<E, kBytes>::type;
};

/// What is added up: numbers in memory.
template <class E> struct Addends {
  using Number = E;
  using V = typename SumVectors<E>::V;
  const E* x;
  BC_INLINE E one(i64 k) const { return x[k]; }
  BC_INLINE V vector(i64 k) const { return load_vector<V>(x + k); }
};
/// Products of numbers.
template <class E> struct ProductAddends {
  using Number = E;
  using V = typename SumVectors<E>::V;
  const E *a, *b;
  BC_INLINE E one(i64 k) const { return a[k] * b[k]; }
  BC_INLINE V vector(i64 k) const { return load_vector<V>(a + k) * load_vector<V>(b + k); }
};
/// Squares of what numbers differ from their mean by.
struct SquareAddends {
  using Number = double;
  using V = SumVectors<double>::V;
  const double* x;
  double mean;
  BC_INLINE double one(i64 k) const { return (x[k] - mean) * (x[k] - mean); }
  BC_INLINE V vector(i64 k) const {
    const V d = load_vector<V>(x + k) - mean;
    return d * d;
  }
};

/// The sums of leaves of n >= kSums addends, `leaves` of them side by side since each addition to a running sum waits for the one before
/// it: to[leaf][0], and to[leaf][1] of the imaginary parts. Addends behind the last whole vectors are left out.
template <int leaves, int parts, class From>
BC_INLINE void add_leaves(From from, i64 k, i64 n, typename From::Number (*to)[parts]) {
  using E = typename From::Number;
  using R = SumVectors<E>;
  typename R::V r[leaves][R::kRegisters];
  BC_UNROLL for (int l = 0; l < leaves; ++l) BC_UNROLL for (int v = 0; v < R::kRegisters; ++v) r[l][v] =
      from.vector(k + l * kLeaf + v * R::kEach);
  for (i64 i = kSums; i + kSums <= n; i += kSums)
    BC_UNROLL for (int l = 0; l < leaves; ++l) BC_UNROLL for (int v = 0; v < R::kRegisters; ++v) r[l][v] +=
        from.vector(k + l * kLeaf + i + v * R::kEach);
  for (int l = 0; l < leaves; ++l) {
    E s[kSums];
    __builtin_memcpy(s, r[l], sizeof(s));
    if constexpr (parts == 2) {
      to[l][0] = (s[0] + s[2]) + (s[4] + s[6]);
      to[l][1] = (s[1] + s[3]) + (s[5] + s[7]);
    } else {
      to[l][0] = ((s[0] + s[1]) + (s[2] + s[3])) + ((s[4] + s[5]) + (s[6] + s[7]));
    }
  }
}

/// Adds up n addends from place k on: into sum[0], and sum[1] the imaginary parts of complex numbers, whose parts n counts.
template <int parts, class From>
__attribute__((noinline)) static void add_up(From from, i64 k, i64 n, typename From::Number (*sum)[parts]) {
  using E = typename From::Number;
  if (n <= kLeaf) {
    i64 i = n < kSums ? parts : n / kSums * kSums;
    if (n >= kSums)
      add_leaves<1>(from, k, n, sum);
    else
      for (int p = 0; p < parts; ++p) (*sum)[p] = from.one(k + p);
    for (; i < n; i += parts)
      for (int p = 0; p < parts; ++p) (*sum)[p] += from.one(k + i + p);
  } else if (n == kLeaves * kLeaf) {
    constexpr int kBeside = 8 / SumVectors<E>::kRegisters;
    E leaf[kLeaves][parts];
    for (int l = 0; l < kLeaves; l += kBeside) add_leaves<kBeside>(from, k + l * kLeaf, kLeaf, leaf + l);
    for (int p = 0; p < parts; ++p)
      (*sum)[p] = ((leaf[0][p] + leaf[1][p]) + (leaf[2][p] + leaf[3][p])) + ((leaf[4][p] + leaf[5][p]) + (leaf[6][p] + leaf[7][p]));
  } else {
    const i64 half = n / 2 / kSums * kSums;
    E rest[1][parts];
    add_up(from, k, half, sum);
    add_up(from, k + half, n - half, rest);
    for (int p = 0; p < parts; ++p) (*sum)[p] += rest[0][p];
  }
}
/// The sum of n >= 1 addends.
template <class From> BC_INLINE typename From::Number added_up(From from, i64 n) {
  typename From::Number sum[1][1];
  add_up(from, 0, n, sum);
  return sum[0][0];
}

/// The moments of a block about its own mean, in two passes; the second pass reads from the cache. Complex numbers are pairs of lanes.
template <class Red> static inline typename Red::S block_variance(const typename Red::T* x, i64 n) {
  using T = typename Red::T;
  using E = real_of<T>;
  constexpr int kParts = is_complex<T> ? 2 : 1;
  if constexpr (is_same<T, double>) {  // in NumPy's order
    typename Red::S s;
    s.n = static_cast<double>(n);
    s.mean = added_up(Addends<double>{x}, n) / s.n;
    s.m2 = added_up(SquareAddends{x, s.mean}, n);
    return s;
  }
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

/// The state of a block of n >= 1 elements, at most kWidest of 16-bit floats, the first at index start of its row: parallel lanes, then a
/// tree over them. A separate function, since clang processes the lanes one after the other if they are used in several loops. For a
/// reduction with an index, it may return `best`, the extreme of earlier blocks, if that is at least as good as the block's.
constexpr int kWidest = 1024;
template <class S> constexpr int kLanesOf = sizeof(S) <= 4 ? 64 : sizeof(S) <= 8 ? 32 : 8;
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
  } else if constexpr (adds_floats<Red>) {
    using E = real_of<T>;
    if constexpr (is_complex<T>) {
      E sum[1][2];
      add_up(Addends<E>{reinterpret_cast<const E*>(x)}, 0, 2 * n, sum);
      return {sum[0][0], sum[0][1]};
    } else {
      return added_up(Addends<E>{x}, n);
    }
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
    constexpr int kLanes = kLanesOf<S>;
    if constexpr (extreme_of<Red>() != 0 && is_same<S, T> && !is_bool<T> && !is_complex<T> && !is_small_float<T>) {
      // For integers the choice of lane does not matter, so narrow integers use as many vectors as wide ones.
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

/// The sum of the products of n >= 1 numbers, which are not stored, with the bits of block_state over them.
template <class T> BC_INLINE T block_products(const T* a, const T* b, i64 n) { return added_up(ProductAddends<T>{a, b}, n); }

/// The sum of the products of n >= 1 numbers, with the bits of row_state over them.
template <class Red> BC_INLINE typename Red::S row_products(const typename Red::T* a, const typename Red::T* b, i64 n) {
  Pairwise<Red> tree;
  for (i64 r = 0; r < n; r += kWidest) tree.push(block_products(a + r, b + r, n - r < kWidest ? n - r : kWidest));
  return tree.total();
}

/// Adds a block to those before it.
template <class Red> BC_INLINE typename Red::S push_state(Pairwise<Red>& tree, const typename Red::T* x, i64 n, i64 start) {
  const typename Red::S* best = nullptr;
  if constexpr (is_arg_state<typename Red::S>) best = tree.any ? &tree.best : nullptr;
  const typename Red::S s = block_state<Red>(x, n, start, best);
  tree.push(s);
  return s;
}

/// The state of elements [lo, hi) of a contiguous row that begins at x[0], as blocks through the tree. With `may_leave` it stops reading
/// when no element can change the state any more.
template <class Red> BC_INLINE typename Red::S row_state(const typename Red::T* x, i64 lo, i64 hi, bool may_leave) {
  // Extremes of integers do not depend on the order.
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

/// Values and indices of n columns as two contiguous arrays in the memory of n states. An index holds only as many low bits of the row
/// number as a value has, so that one vector comparison selects both; a run has at most 256 rows, so the full number can be restored.
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
/// is a state; for moments it holds sums and sums of squares about the column's first value. end_columns converts runs to states.
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
    // Rows are processed in order, so an earlier value is replaced only by a better one.
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

/// The state of column j of n after `rows` rows that begin at row r.
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

/// Converts the runs of n columns over `rows` rows from row r on to states, or joins them into the states.
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
  typename Red::M sum = typename Red::M(0);
  for (Index k = 0; k < n; ++k) sum = sum + Red::wide(x[k]);
  s.n = static_cast<double>(n);
  s.mean = Red::mean(sum, static_cast<double>(n));
  s.m2 = 0;
  for (Index k = 0; k < n; ++k) s.m2 += squared_size(Red::wide(x[k]) - s.mean);
  return s;
}

/// Joins a thread's elements of one tile into its running state. The first `m` of the K elements are valid; element e has index first + (e
/// / V) * stride + e % V of its row.
template <class Red, int K, int V> __device__ __forceinline__ void thread_join(typename Red::S& part, bool& empty,
                                                                               const typename Red::T (&x)[K], int m, i64 first,
                                                                               i64 stride) {
  using S = typename Red::S;
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
/// The same for moments. A function of its own, since kernels of other states need not read what it uses.
template <class Red, int K, int V> __device__ __forceinline__ void moments_join(typename Red::S& part, bool& empty,
                                                                                const typename Red::T (&x)[K], int m, i64, i64) {
  if (m == 0) return;
  typename Red::S tile;
  if (m == K) {
    tile = block_moments<Red>(x, K);
  } else {
    typename Red::M sum = typename Red::M(0);
#pragma unroll
    for (int e = 0; e < K; ++e)
      if (e < m) sum = sum + Red::wide(x[e]);
    tile.n = m;
    tile.mean = Red::mean(sum, double(m));
    tile.m2 = 0;
#pragma unroll
    for (int e = 0; e < K; ++e)
      if (e < m) tile.m2 += squared_size(Red::wide(x[e]) - tile.mean);
  }
  part = empty ? tile : Red::join(part, tile);
  empty = false;
}

/// Reads a state of another lane of the warp, word by word.
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
template <class Red, int W, int kUnroll = 32>
__device__ __forceinline__ typename Red::S warp_join(typename Red::S part, int lane, int active) {
#pragma unroll kUnroll
  for (int w = W / 2; w > 0; w /= 2) {
    const typename Red::S other = shuffle_down(part, w, W);
    if (lane < w && lane + w < active) part = Red::join(part, other);
  }
  return part;
}

/// Joins the states of the first `active` of a group's G threads, in a fixed tree; every thread gets the total. All threads of the block
/// call it; `shared` has room for one state for each warp of the group.
template <class Red, int G> __device__ __forceinline__ typename Red::S group_join(typename Red::S part, typename Red::S* shared, int lane,
                                                                                  int active) {
  if constexpr (G <= 32) {
    part = shuffle_first(warp_join<Red, G>(part, lane, active), G);
  } else {
    constexpr int kWarps = G / 32;
    // Loops that stay loops: a block joins once, and unrolled joins are most of what there is to compile.
    const int warp = lane / 32, in_warp = lane % 32, left = active - warp * 32;
    part = warp_join<Red, 32, 1>(part, in_warp, left < 32 ? left : 32);
    __syncthreads();
    if (in_warp == 0 && left > 0) shared[warp] = part;
    __syncthreads();
    const int warps = (active + 31) / 32;
    if (in_warp < warps) part = shared[in_warp];
    part = shuffle_first(warp_join<Red, kWarps, 1>(part, in_warp, warps), 32);
  }
  return active > 0 ? part : Red::init();
}

/// A lane's result of rows_join: the totals of K neighbouring rows.
template <class S, int K> struct RowTotals {
  S state[K];
};

/// Joins the states of R rows, of which each of a group's G <= 32 lanes holds a part, in the tree of group_join: at each level the two
/// lanes of a pair divide the rows between them, so that R totals cost R shuffles instead of R log G. Afterwards a lane has the totals of
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
    // The lower of the two lanes' numbers in the tree; the earlier levels have reduced the range to [0, 2 w).
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
