// Python's values in compiled functions: arrays, tuples, slices, ranges, and arithmetic that C++ lacks.
#pragma once
#include "../device.h"

#if BC_CUDA
#define BC_PY static __device__ inline
// For grid-stride loops around other loops: unrolling them by four takes a third of the compiler's time and makes no kernel faster.
#define BC_ROLLED _Pragma("unroll 1")
#define BC_PY_TABLE alignas(16) static __device__ const
#define BC_PY_CONSTANT alignas(16) static __constant__ const
#else
#define BC_PY static inline
#define BC_ROLLED
#define BC_PY_TABLE alignas(16) static const
#define BC_PY_CONSTANT alignas(16) static const
#endif

namespace bc {
namespace py {

/// N values of one type.
template <class T, int N>
struct Tuple {
  T items[N];
  BC_INLINE const T& operator[](i64 i) const { return items[i]; }
  BC_INLINE T& operator[](i64 i) { return items[i]; }
};

template <class T>
struct Optional {
  T value;
  bool there;
};

struct Range {
  i64 start, stop, step;
};
BC_FN i64 range_length(i64 start, i64 stop, i64 step) {
  if (step > 0) return start < stop ? (stop - start - 1) / step + 1 : 0;
  return step < 0 && start > stop ? (start - stop - 1) / -step + 1 : 0;
}
BC_FN i64 least(i64 a, i64 b) { return a < b ? a : b; }

/// A number that another thread may write while this thread polls it, so it is read from memory each time.
template <class T>
BC_INLINE T reread(const T& place) {
  if constexpr (sizeof(T) > 8) {
    return place;
  } else {
    using W = conditional<sizeof(T) == 8, u64, conditional<sizeof(T) == 4, u32, conditional<sizeof(T) == 2, u16, u8>>>;
    const W bits = *reinterpret_cast<const volatile W*>(&place);
    return bits_as<T>(bits);
  }
}

/// Converts an index that counts from the end.
BC_FN i64 wrap(i64 i, i64 n) { return __builtin_expect(i < 0, 0) ? i + n : i; }

// For numbers that are not negative; division by zero gives zero.
BC_FN i64 whole_quotient(i64 a, i64 b) { return b == 0 ? 0 : static_cast<i64>(static_cast<u64>(a) / static_cast<u64>(b)); }
BC_FN i64 whole_modulo(i64 a, i64 b) { return b == 0 ? 0 : static_cast<i64>(static_cast<u64>(a) % static_cast<u64>(b)); }

// Rounded down, as Python divides; division by zero gives zero.
BC_FN i64 floor_quotient(i64 a, i64 b) {
  if (b == 0) return 0;
  if (b == -1) return static_cast<i64>(0 - static_cast<u64>(a));
  const i64 q = a / b, r = a % b;  // one division, and a remainder whose sign the compiler knows where it knows that of a
  return r != 0 && (r ^ b) < 0 ? q - 1 : q;
}
BC_FN i64 floor_modulo(i64 a, i64 b) {
  if (b == 0 || b == -1) return 0;
  const i64 r = a % b;
  return r != 0 && (r ^ b) < 0 ? r + b : r;
}
BC_FN u64 floor_quotient(u64 a, u64 b) { return b == 0 ? 0 : a / b; }
BC_FN u64 floor_modulo(u64 a, u64 b) { return b == 0 ? 0 : a % b; }

/// x ** N by products.
template <int N, class T>
BC_INLINE T raised(T x) {
  if constexpr (N < 0)
    return cast<T>(1) / raised<-N>(x);
  else if constexpr (N == 0)
    return cast<T>(1);
  else if constexpr (N == 1)
    return x;
  else if constexpr (N % 2 == 0)
    return raised<N / 2>(multiply(x, x));
  else
    return multiply(x, raised<N / 2>(multiply(x, x)));
}

/// Python's choice: the first unless a later one is greater.
template <class T>
BC_INLINE T max(T a, T b) {
  return b > a ? b : a;
}
template <class T>
BC_INLINE T min(T a, T b) {
  return b < a ? b : a;
}

// Axes are walked by recursion instead of loops: arrays with constant indices stay in registers even if a loop is not unrolled.

/// The K-th of some numbers.
template <int K, class... Rest>
BC_INLINE i64 nth(i64 first, Rest... rest) {
  if constexpr (K == 0)
    return first;
  else
    return nth<K - 1>(rest...);
}
template <int N, int K = 0>
BC_INLINE i64 product(const Tuple<i64, N>& t) {
  if constexpr (K == N)
    return 1;
  else
    return t.items[K] * product<N, K + 1>(t);
}

/// An array as kernels are given it: strides in bytes. L: 'C' and 'F' have unit stride in the last and first axis.
template <class T, int N, char L>
struct Array {
  T* data;
  Tuple<i64, N> shape, strides;

  enum : int { unit_axis = L == 'C' ? N - 1 : L == 'F' ? 0 : -1 };

  /// The element at non-negative indices.
  template <class... I>
  BC_INLINE T& operator()(I... index) const {
    if constexpr (N == 1 && L != 'A')
      return data[nth<0>(static_cast<i64>(index)...)];
    else if constexpr (unit_axis >= 0)
      return reinterpret_cast<T*>(row<0>(bytes(), static_cast<i64>(index)...))[nth<unit_axis>(static_cast<i64>(index)...)];
    else
      return *reinterpret_cast<T*>(row<0>(bytes(), static_cast<i64>(index)...));
  }
  BC_INLINE char* bytes() const { return const_cast<char*>(reinterpret_cast<const char*>(data)); }
  BC_INLINE i64 size() const { return product<N>(shape); }

 private:
  template <int K>
  BC_INLINE char* row(char* p) const {
    return p;
  }
  template <int K, class... Rest>
  BC_INLINE char* row(char* p, i64 index, Rest... rest) const {
    if constexpr (K == unit_axis)
      return row<K + 1>(p, rest...);
    else
      return row<K + 1>(p + index * strides.items[K], rest...);
  }
};
template <class T, char L>
struct Array<T, 0, L> {
  T* data;
  BC_INLINE T& operator()() const { return *data; }
  BC_INLINE i64 size() const { return 1; }
};

/// The same array under another type: a looser layout, or read-only.
template <class To, class From>
BC_INLINE To array_cast(const From& a) {
  return bits_as<To>(a);
}

/// Strides of a C-contiguous array, from the last axis on.
template <int K, class A>
BC_INLINE void pack_strides(A& a, i64 stride) {
  if constexpr (K >= 0) {
    a.strides.items[K] = stride;
    pack_strides<K - 1>(a, stride * a.shape.items[K]);
  }
}
/// A C-contiguous array over memory of known extents.
template <class T, class... I>
BC_INLINE Array<T, static_cast<int>(sizeof...(I)), 'C'> over(void* memory, I... extents) {
  constexpr int N = static_cast<int>(sizeof...(I));
  Array<T, N, 'C'> a{static_cast<T*>(memory), {{static_cast<i64>(extents)...}}, {}};
  pack_strides<N - 1>(a, sizeof(T));
  return a;
}

/// The elements of a C-contiguous array in another shape, of which one extent may be negative: it follows from the others.
template <class T, class A, class... I>
BC_INLINE Array<T, static_cast<int>(sizeof...(I)), 'C'> reshaped(const A& a, I... extents) {
  const i64 known = (i64(1) * ... * (extents < 0 ? i64(1) : static_cast<i64>(extents)));
  const i64 rest = known ? a.size() / known : 0;
  return over<T>((void*)a.data, (extents < 0 ? rest : static_cast<i64>(extents))...);
}

/// An element's address as that of an array of one element.
template <class T>
BC_INLINE void* memory(const T& place) {
  return const_cast<T*>(&place);
}

// ---- slices

/// start:stop:step; flags mark missing parts. A missing step is 1.
struct Slice {
  i64 start, stop, step;
  bool has_start, has_stop, has_step;
};
struct All {};
struct NewAxis {};

/// The first index and the number of elements that a slice takes of n.
BC_FN void resolve(const Slice& s, i64 n, i64& first, i64& count) {
  const i64 low = s.step > 0 ? 0 : -1, high = s.step > 0 ? n : n - 1;
  i64 start = s.has_start ? wrap(s.start, n) : (s.step > 0 ? low : high);
  i64 stop = s.has_stop ? wrap(s.stop, n) : (s.step > 0 ? high : low);
  start = start < low ? low : (start > high ? high : start);
  stop = stop < low ? low : (stop > high ? high : stop);
  first = start;
  count = range_length(start, stop, s.step);
}

/// Walks over the items of a subscript: `from` is the next axis of the array, `to` of the view.
template <int To, int From, class V, class A>
BC_INLINE void take(V& v, const A& a, char*& p) {}
template <int To, int From, class V, class A, class... Rest>
BC_INLINE void take(V& v, const A& a, char*& p, i64 index, Rest... rest) {
  p += index * a.strides[From];
  take<To, From + 1>(v, a, p, rest...);
}
template <int To, int From, class V, class A, class... Rest>
BC_INLINE void take(V& v, const A& a, char*& p, All, Rest... rest) {
  v.shape[To] = a.shape[From];
  v.strides[To] = a.strides[From];
  take<To + 1, From + 1>(v, a, p, rest...);
}
template <int To, int From, class V, class A, class... Rest>
BC_INLINE void take(V& v, const A& a, char*& p, NewAxis, Rest... rest) {
  v.shape[To] = 1;
  v.strides[To] = 0;
  take<To + 1, From>(v, a, p, rest...);
}
template <int To, int From, class V, class A, class... Rest>
BC_INLINE void take(V& v, const A& a, char*& p, Slice s, Rest... rest) {
  i64 first, count;
  resolve(s, a.shape[From], first, count);
  p += count > 0 ? first * a.strides[From] : 0;
  v.shape[To] = count;
  v.strides[To] = a.strides[From] * s.step;
  take<To + 1, From + 1>(v, a, p, rest...);
}
/// a[items]: V is the type of the view.
template <class V, class A, class... Items>
BC_INLINE V view(const A& a, Items... items) {
  V v{};
  char* p = a.bytes();
  take<0, 0>(v, a, p, items...);
  v.data = reinterpret_cast<decltype(v.data)>(p);
  return v;
}

template <int K, class R, class A, int N>
BC_INLINE void reverse_axes(R& r, const A& a, const Tuple<i64, N>&) {
  if constexpr (K < N) {
    r.shape.items[K] = a.shape.items[N - 1 - K];
    r.strides.items[K] = a.strides.items[N - 1 - K];
    reverse_axes<K + 1>(r, a, a.shape);
  }
}
template <char L> constexpr char kReversed = L == 'C' ? 'F' : L == 'F' ? 'C' : 'A';
template <class T, int N, char L>
BC_INLINE Array<T, N, kReversed<L>> transposed(const Array<T, N, L>& a) {
  Array<T, N, kReversed<L>> r{a.data, {}, {}};
  reverse_axes<0>(r, a, a.shape);
  return r;
}

/// The real or imaginary parts of a complex array.
template <class R, class T, int N, char L>
BC_INLINE Array<R, N, 'A'> part(const Array<T, N, L>& a, int which) {
  Array<R, N, 'A'> r{reinterpret_cast<R*>(a.data) + which, {}, {}};
  r.shape = a.shape;
  r.strides = a.strides;
  return r;
}

/// The element at a place in C order, whatever the layout.
template <class T, int N, char L>
BC_INLINE T& element_at(const Array<T, N, L>& a, i64 place) {
  if constexpr (N == 0) {
    return *a.data;
  } else if constexpr (L == 'C') {
    return a.data[place];
  } else {
    char* p = a.bytes();
    BC_UNROLL
    for (int k = N - 1; k > 0; --k) {
      p += place % a.shape[k] * a.strides[k];
      place /= a.shape[k];
    }
    return *reinterpret_cast<T*>(p + place * a.strides[0]);
  }
}

/// The same bytes as elements of another type; the last axis takes up a difference in size.
template <class U, char M, class T, int N, char L>
BC_INLINE Array<U, N, M> viewed(const Array<T, N, L>& a) {
  Array<U, N, M> r{};
  r.data = reinterpret_cast<U*>(a.data);
  if constexpr (N > 0) {
    r.shape = a.shape;
    r.strides = a.strides;
    if constexpr (sizeof(U) != sizeof(T)) {
      r.shape[N - 1] = a.shape[N - 1] * static_cast<i64>(sizeof(T)) / static_cast<i64>(sizeof(U));
      r.strides[N - 1] = sizeof(U);
    }
  }
  return r;
}

/// One field of an array of records, by its offset in bytes.
template <class F, class T, int N, char L>
BC_INLINE Array<F, N, 'A'> field(const Array<T, N, L>& a, int offset) {
  Array<F, N, 'A'> r{reinterpret_cast<F*>(a.bytes() + offset), {}, {}};
  r.shape = a.shape;
  r.strides = a.strides;
  return r;
}

/// The same of a field that is an array with the given extents.
template <class F, class T, int N, char L, class... E>
BC_INLINE Array<F, N + static_cast<int>(sizeof...(E)), 'A'> field_array(const Array<T, N, L>& a, int offset, E... extents) {
  constexpr int M = N + static_cast<int>(sizeof...(E));
  const i64 inner[] = {static_cast<i64>(extents)...};
  Array<F, M, 'A'> r{reinterpret_cast<F*>(a.bytes() + offset), {}, {}};
  i64 stride = sizeof(F);
  BC_UNROLL
  for (int k = M - 1; k >= 0; --k) {
    r.shape[k] = k < N ? a.shape[k < N ? k : 0] : inner[k < N ? 0 : k - N];
    r.strides[k] = k < N ? a.strides[k < N ? k : 0] : stride;
    if (k >= N) stride *= r.shape[k];
  }
  return r;
}

// ---- elementwise loops over arrays

/// Joins a shape into a broadcast one.
template <int K, int M, class T, int N, char L>
BC_INLINE void join_shape(Tuple<i64, M>& shape, const Array<T, N, L>& a) {
  if constexpr (K < N) {
    if (a.shape.items[K] != 1) shape.items[M - N + K] = a.shape.items[K];
    join_shape<K + 1>(shape, a);
  }
}
template <int K, int M>
BC_INLINE void fill(Tuple<i64, M>& t, i64 v) {
  if constexpr (K < M) {
    t.items[K] = v;
    fill<K + 1>(t, v);
  }
}
template <int M, class... A>
BC_INLINE Tuple<i64, M> common_shape(const A&... a) {
  Tuple<i64, M> shape;
  fill<0>(shape, 1);
  (join_shape<0>(shape, a), ...);
  return shape;
}
template <int K, class R, int M, class T, int N, char L>
BC_INLINE void stretch(R& r, const Tuple<i64, M>& shape, const Array<T, N, L>& a) {
  if constexpr (K < M) {
    if constexpr (K < M - N)
      r.strides.items[K] = 0;
    else
      r.strides.items[K] = a.shape.items[K - (M - N)] == 1 ? 0 : a.strides.items[K - (M - N)];
    stretch<K + 1>(r, shape, a);
  }
}
/// The array stretched to a shape: axes of one element repeat.
template <int M, class T, int N, char L>
BC_INLINE Array<T, M, 'A'> stretched(const Array<T, N, L>& a, const Tuple<i64, M>& shape) {
  Array<T, M, 'A'> r{a.data, shape, {}};
  stretch<0>(r, shape, a);
  return r;
}

// ---- errors

/// The memory in which a kernel reports an exception: its code, then the thread and the block that raised first.
struct Status {
  int code;
  int thread[3];
  int block[3];
};

}  // namespace py
}  // namespace bc
