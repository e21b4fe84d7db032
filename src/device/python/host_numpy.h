// NumPy's functions in functions compiled for the CPU: creation, joining, selection, sorting and products of arrays.
#pragma once
#include "host.h"

#if !BC_CUDA

namespace bc {
namespace py {

// ---- making arrays ----------------------------------------------------------------------------------------------------------------

template <class T>
BC_INLINE Host<T, 1, 'C'> arange(T start, T stop, T step) {
  i64 n;
  if constexpr (is_int<T>) {
    if (step == 0) raise(kZeroDivision, "arange: the step is zero");
    n = range_length(static_cast<i64>(start), static_cast<i64>(stop), static_cast<i64>(step));
  } else {
    n = static_cast<i64>(ceil((stop - start) / step));
  }
  if (n < 0) n = 0;
  Host<T, 1, 'C'> a = fresh<T, 1>(Tuple<i64, 1>{{n}});
  in_strips(n, [&](i64 begin, i64 end) {
    for (i64 i = begin; i < end; ++i) a.data[i] = start + static_cast<T>(i) * step;
  });
  return a;
}
template <class T>
BC_INLINE Host<T, 1, 'C'> linspace(T start, T stop, i64 n, bool endpoint) {
  Host<T, 1, 'C'> a = fresh<T, 1>(Tuple<i64, 1>{{n}});
  const i64 parts = endpoint ? n - 1 : n;
  if (n == 0) return a;
  const T step = parts > 0 ? (stop - start) / static_cast<T>(static_cast<double>(parts)) : T(0);
  for (i64 i = 0; i < n; ++i) a.data[i] = start + static_cast<T>(static_cast<double>(i)) * step;
  if (endpoint && n > 1) a.data[n - 1] = stop;
  return a;
}
template <class T>
BC_INLINE Host<T, 2, 'C'> eye(i64 n, i64 m, i64 k) {
  Host<T, 2, 'C'> a = zeros<T, 2>(Tuple<i64, 2>{{n, m}});
  for (i64 i = 0; i < n; ++i)
    if (i + k >= 0 && i + k < m) a.data[i * m + i + k] = cast<T>(1);
  return a;
}
template <class T, int N, char L>
BC_INLINE Host<T, N, 'C'> copy(const Host<T, N, L>& a) {
  using U = T;
  return map<U, N>(Same{}, a);
}
/// The array itself where its elements lie in order, else a copy.
template <class T, int N, char L>
BC_INLINE Host<T, N, 'C'> contiguous(const Host<T, N, L>& a) {
  if (!packed(a)) return copy(a);
  Array<T, N, 'C'> r{};
  __builtin_memcpy(static_cast<void*>(&r), static_cast<const Array<T, N, L>*>(&a), sizeof r);
  return Host<T, N, 'C'>(r, a.owner);
}
template <int M>
__attribute__((noinline, cold, noreturn)) static void refuse_reshape(i64 size, Tuple<i64, M> shape) {
  raise_of(kValue, "cannot reshape array of size % into shape %", size, shape);
}
template <>
__attribute__((noinline, cold, noreturn)) void refuse_reshape(i64 size, Tuple<i64, 0>) {
  raise_of(kValue, "cannot reshape array of size % into shape ()", size);
}
/// One extent may be -1.
template <int M, class T, int N, char L>
BC_INLINE Host<T, M, 'C'> reshape(const Host<T, N, L>& a, Tuple<i64, M> shape) {
  const Host<T, N, 'C'> c = contiguous(a);
  const Tuple<i64, M> wanted = shape;
  i64 known = 1;
  int open = -1;
  for (int k = 0; k < M; ++k) {
    if (shape[k] < 0) {
      if (open >= 0) raise(kValue, "can only specify one unknown dimension");
      open = k;
    } else if (__builtin_mul_overflow(known, shape[k], &known)) {
      refuse_reshape(c.size(), wanted);
    }
  }
  if (open >= 0) {
    if (known == 0) refuse_reshape(c.size(), wanted);
    shape[open] = c.size() / known, known *= shape[open];
  }
  if (known != c.size()) refuse_reshape(c.size(), wanted);
  Array<T, M, 'C'> r{};
  r.data = c.data;
  if constexpr (M > 0) {
    i64 stride = sizeof(T);
    r.shape = shape;
    for (int k = M - 1; k >= 0; --k) r.strides[k] = stride, stride *= shape[k];
  }
  return Host<T, M, 'C'>(r, c.owner);
}
/// a with its axes in another order.
template <class T, int N, char L>
BC_INLINE Host<T, N, 'A'> permuted(const Host<T, N, L>& a, const Tuple<i64, N>& axes) {
  Array<T, N, 'A'> r{};
  r.data = a.data;
  for (int k = 0; k < N; ++k) r.shape[k] = a.shape[axes[k]], r.strides[k] = a.strides[axes[k]];
  return Host<T, N, 'A'>(r, a.owner);
}
BC_FN int axis_of(i64 axis, int ndim) {
  if (axis < 0) axis += ndim;
  if (axis < 0 || axis >= ndim) raise_of(kAxis, "axis % is out of bounds for array of dimension %", written_index(axis, ndim), i64{ndim});
  return static_cast<int>(axis);
}
/// The orders of axes that moveaxis, swapaxes and rollaxis give.
template <int N, int K>
BC_INLINE Tuple<i64, N> moved_axes(const Tuple<i64, K>& source, const Tuple<i64, K>& destination) {
  Tuple<i64, N> order;
  bool used[N + 1] = {};
  for (int k = 0; k < N; ++k) order[k] = -1;
  for (int k = 0; k < K; ++k) {
    const int from = axis_of(source[k], N), to = axis_of(destination[k], N);
    if (used[from] || order[to] >= 0) raise(kValue, "moveaxis: an axis is named twice");
    order[to] = from, used[from] = true;
  }
  for (int k = 0, next = 0; k < N; ++k) {
    if (order[k] >= 0) continue;
    while (used[next]) ++next;
    order[k] = next++;
  }
  return order;
}
/// The order of axes that transpose is given, counted from the front.
template <int N>
BC_INLINE Tuple<i64, N> whole_order(const Tuple<i64, N>& axes) {
  Tuple<i64, N> order;
  bool used[N + 1] = {};
  for (int k = 0; k < N; ++k) {
    const int axis = axis_of(axes[k], N);
    if (used[axis]) raise(kValue, "transpose: an axis is named twice");
    order[k] = axis, used[axis] = true;
  }
  return order;
}
template <int N>
BC_INLINE Tuple<i64, N> swapped_axes(i64 a, i64 b) {
  Tuple<i64, N> order;
  for (int k = 0; k < N; ++k) order[k] = k;
  const int x = axis_of(a, N), y = axis_of(b, N);
  order[x] = y, order[y] = x;
  return order;
}
template <int N>
BC_INLINE Tuple<i64, N> rolled_axes(i64 axis, i64 start) {
  const int from = axis_of(axis, N), before = start == N ? N : axis_of(start, N);
  return moved_axes<N>(Tuple<i64, 1>{{from}}, Tuple<i64, 1>{{before > from ? before - 1 : before}});
}
BC_FN void expect_single(i64 size) {
  if (size != 1) raise(kValue, "can only convert an array of size 1 to a Python scalar");
}
BC_FN void expect_one(i64 extent) {
  if (extent != 1) raise(kValue, "cannot select an axis to squeeze out which has size not equal to one");
}
/// The array without one axis, at index i of it.
template <class T, int N, char L>
BC_INLINE Host<T, N - 1, 'A'> slab(const Host<T, N, L>& a, int axis, i64 i) {
  Array<T, N - 1, 'A'> r{};
  r.data = reinterpret_cast<T*>(reinterpret_cast<char*>(const_cast<conditional<is_same<T, const T>, T, T>*>(a.data)) + i * a.strides[axis]);
  if constexpr (N > 1) {
    for (int k = 0, d = 0; k < N; ++k)
      if (k != axis) r.shape[d] = a.shape[k], r.strides[d] = a.strides[k], ++d;
  }
  return Host<T, N - 1, 'A'>(r, a.owner);
}

__attribute__((noinline, cold, noreturn)) static inline void refuse_to_join(i64 axis, i64 extent, i64 index, i64 other) {
  raise_of(
      kValue,
      "all the input array dimensions except for the concatenation axis must match exactly, but along dimension %, the array at index 0 "
      "has size % and the array at index % has size %",
      axis, extent, index, other);
}
/// Joins arrays along an axis.
template <class T, int N, class... A>
BC_INLINE Host<T, N, 'C'> concatenate(i64 along, const A&... a) {
  const int axis = axis_of(along, N);
  Tuple<i64, N> shape;
  i64 index = 0;
  const auto measure = [&](const auto& x) {
    for (int k = 0; k < N; ++k) {
      if (index == 0)
        shape[k] = x.shape[k];
      else if (k == axis)
        shape[k] += x.shape[k];
      else if (shape[k] != x.shape[k])
        refuse_to_join(k, shape[k], index, x.shape[k]);
    }
    ++index;
  };
  (measure(a), ...);
  Host<T, N, 'C'> out = fresh<T, N>(shape);
  i64 at = 0;
  const auto put = [&](const auto& x) {
    Array<T, N, 'A'> part{};
    part.data = reinterpret_cast<T*>(reinterpret_cast<char*>(out.data) + at * out.strides[axis]);
    for (int k = 0; k < N; ++k) part.shape[k] = x.shape[k], part.strides[k] = out.strides[k];
    Tuple<i64, N> size = part.shape;
    map_all(size, [](auto v) { return cast<T>(v); }, operand(part, size), operand(x, size));
    at += x.shape[axis];
  };
  (put(a), ...);
  return out;
}

/// NumPy's power of integers.
template <class T>
BC_INLINE T whole_power(T base, T exponent) {
  if (exponent < 0) raise(kValue, "Integers to negative integer powers are not allowed.");
  return power<T>(base, exponent);
}
/// Python's pow(base, exponent, modulus), whose result has the modulus's sign.
BC_FN i64 power_modulo(i64 base, i64 exponent, i64 modulus) {
  using Wide = __int128;
  if (modulus == 0) raise(kValue, "pow() 3rd argument cannot be 0");
  const auto reduced = [&](Wide x) { return x % modulus + ((x % modulus < 0) != (modulus < 0) && x % modulus != 0 ? Wide(modulus) : 0); };
  Wide square = reduced(base);
  if (exponent < 0) {
    // The inverse by Euclid's algorithm.
    Wide r = modulus, s = square, x = 0, y = 1;
    while (s != 0) {
      const Wide q = r / s, rest = r - q * s, next = x - q * y;
      r = s, s = rest, x = y, y = next;
    }
    if (r != 1 && r != -1) raise(kValue, "base is not invertible for the given modulus");
    square = reduced(r * x);
  }
  Wide result = reduced(1);
  for (u64 left = exponent < 0 ? u64{0} - static_cast<u64>(exponent) : static_cast<u64>(exponent); left != 0; left >>= 1) {
    if (left & 1) result = reduced(result * square);
    square = reduced(square * square);
  }
  return static_cast<i64>(result);
}
static inline bool is_close(complex128 a, complex128 b, double rtol, double atol, bool equal_nan) {
  const auto nan = [](complex128 z) { return z.re != z.re || z.im != z.im; };
  const auto infinite = [](complex128 z) { return fabs(z.re) == __builtin_inf() || fabs(z.im) == __builtin_inf(); };
  if (nan(a) || nan(b)) return equal_nan && nan(a) && nan(b);
  if (infinite(a) || infinite(b)) return a.re == b.re && a.im == b.im;
  return abs(a - b) <= atol + rtol * abs(b);
}
BC_FN bool is_close(double a, double b, double rtol, double atol, bool equal_nan) {
  if (a != a || b != b) return equal_nan && a != a && b != b;
  if (a - a != 0 || b - b != 0) return a == b;  // infinities
  return fabs(a - b) <= atol + rtol * fabs(b);
}
template <class T, class U, int N, char L, char K>
BC_INLINE bool same_shape(const Host<T, N, L>& a, const Host<U, N, K>& b) {
  bool same = true;
  for (int k = 0; k < N; ++k) same = same && a.shape[k] == b.shape[k];
  return same;
}
/// Raises for an empty axis of a reduction without identity.
BC_FN void expect_elements(i64 extent, bool argument) {
  if (extent > 0) return;
  if (argument) raise(kValue, "attempt to get argmax or argmin of an empty sequence");
  raise(kValue, "zero-size array to reduction operation which has no identity");
}

// ---- reductions along an axis -----------------------------------------------------------------------------------------------------

/// out[…] = finish(state of the elements along `axis`).
template <class Red, class R, class T, int N, char L, class F>
BC_INLINE Host<R, N - 1, 'C'> reduce_axis(const Host<T, N, L>& a, i64 along, const F& finish) {
  const int axis = axis_of(along, N);
  Tuple<i64, N - 1> shape{};
  if constexpr (N > 1)
    for (int k = 0, d = 0; k < N; ++k)
      if (k != axis) shape[d++] = a.shape[k];
  Host<R, N - 1, 'C'> out = fresh<R, N - 1>(shape);
  const i64 length = a.shape[axis], step = a.strides[axis], total = out.size();
  using S = typename Red::S;
  const char* from = reinterpret_cast<const char*>(a.data);
  R* to = out.data;
  const auto base = [=, &a](i64 i) {
    i64 at = 0;
    for (int k = N - 1; k >= 0; --k)
      if (k != axis) at += i % a.shape[k] * a.strides[k], i /= a.shape[k];
    return from + at;
  };
  if (axis != N - 1 && length > 0) {
    // Neighbouring results side by side: whole rows are joined.
    const i64 width = a.shape[N - 1], wide = a.strides[N - 1];
    auto piece = [=, &finish](i64 begin, i64 end) {
      Poll poll;
      for (i64 row = begin; row < end; ++row) {
        const char* p = base(row * width);
        for (i64 c0 = 0; c0 < width; c0 += 64) {
          poll();
          const i64 n = least(64, width - c0);
          S state[64];
          const char* q = p + c0 * wide;
          if (wide == sizeof(T)) {
            for (i64 j = 0; j < n; ++j) state[j] = Red::map(reinterpret_cast<const T*>(q)[j], 0);
            for (i64 i = 1; i < length; ++i)
              for (i64 j = 0; j < n; ++j) state[j] = Red::join(state[j], Red::map(reinterpret_cast<const T*>(q + i * step)[j], i));
          } else {
            for (i64 j = 0; j < n; ++j) {
              state[j] = Red::map(*reinterpret_cast<const T*>(q + j * wide), 0);
              for (i64 i = 1; i < length; ++i)
                state[j] = Red::join(state[j], Red::map(*reinterpret_cast<const T*>(q + i * step + j * wide), i));
            }
          }
          for (i64 j = 0; j < n; ++j) to[row * width + c0 + j] = finish(state[j]);
        }
      }
    };
    const i64 rows = width > 0 ? total / width : 0;
#if BC_PYTHON_PARALLEL
    if (total * length > kParallelElements) return parallel(rows, grain_of(rows), piece), out;
#endif
    piece(0, rows);
    return out;
  }
  auto piece = [=, &finish](i64 begin, i64 end) {
    Poll poll;
    for (i64 i = begin; i < end; ++i) {
      const char* p = base(i);
      Pairwise<Red> tree;
      alignas(64) typename Red::T buffer[kReduceBlock];
      for (i64 k = 0; k < length; k += kReduceBlock) {
        poll();
        const i64 n = least(kReduceBlock, length - k);
        if (step == sizeof(T)) {
          push_state<Red>(tree, reinterpret_cast<const T*>(p) + k, n, k);
        } else {
          for (i64 j = 0; j < n; ++j) buffer[j] = *reinterpret_cast<const T*>(p + (k + j) * step);
          push_state<Red>(tree, buffer, n, k);
        }
      }
      to[i] = finish(tree.total());
    }
  };
#if BC_PYTHON_PARALLEL
  if (total * length > kParallelElements) return parallel(total, grain_of(total), piece), out;
#endif
  piece(0, total);
  return out;
}

template <class Acc, class T, int N, char L>
BC_INLINE Host<Acc, 1, 'C'> cumulative(bool product, const Host<T, N, L>& a) {
  const Host<T, N, 'C'> c = contiguous(a);
  const i64 n = c.size();
  Host<Acc, 1, 'C'> out = fresh<Acc, 1>(Tuple<i64, 1>{{n}});
  Acc s = cast<Acc>(product ? 1 : 0);
  in_strips(n, [&](i64 begin, i64 end) {
    for (i64 i = begin; i < end; ++i) out.data[i] = s = product ? multiply(s, cast<Acc>(c.data[i])) : add(s, cast<Acc>(c.data[i]));
  });
  return out;
}

// ---- choice -----------------------------------------------------------------------------------------------------------------------

/// Whether a mask has the extents of the array, from an axis on.
template <class T, int N, char L, int M, char K>
BC_INLINE void match_mask(const Host<T, N, L>& a, int axis, const Host<bool, M, K>& mask) {
  for (int k = 0; k < M; ++k)
    if (a.shape[axis + k] != mask.shape[k])
      raise_of(kIndex,
               "boolean index did not match indexed array along axis %; size of axis is % but size of corresponding boolean axis is %",
               i64{axis + k}, a.shape[axis + k], mask.shape[k]);
}
/// a[mask]: the elements whose mask is true.
template <class T, int N, char L, char K>
BC_INLINE Host<T, 1, 'C'> select(const Host<T, N, L>& a, const Host<bool, N, K>& mask) {
  match_mask(a, 0, mask);
  const Host<T, N, 'C'> from = contiguous(a);
  const Host<bool, N, 'C'> wanted = contiguous(mask);
  i64 count = 0, n = from.size();
  for (i64 i = 0; i < n; ++i) count += wanted.data[i];
  Host<T, 1, 'C'> out = fresh<T, 1>(Tuple<i64, 1>{{count}});
  for (i64 i = 0, k = 0; i < n; ++i)
    if (wanted.data[i]) out.data[k++] = from.data[i];
  return out;
}
/// a[mask] = value.
template <class T, int N, char L, char K>
BC_INLINE void put_masked(const Host<T, N, L>& a, const Host<bool, N, K>& mask, T value) {
  match_mask(a, 0, mask);
  if (packed(a) && packed(mask)) {
    const i64 n = a.size();
    for (i64 i = 0; i < n; ++i)
      if (mask.data[i]) a.data[i] = value;
    return;
  }
  assign(a, [=](T old, bool m) { return m ? value : old; }, a, mask);
}
template <class T, int N, char L, char K, char J>
BC_INLINE void put_masked(const Host<T, N, L>& a, const Host<bool, N, K>& mask, const Host<T, 1, J>& values) {
  match_mask(a, 0, mask);
  const Host<bool, N, 'C'> wanted = collides(a, mask) ? copy(mask) : contiguous(mask);
  const Host<T, 1, 'C'> from = collides(a, values) ? copy(values) : contiguous(values);
  const i64 n = a.size();
  i64 count = 0, k = 0;
  for (i64 i = 0; i < n; ++i) count += wanted.data[i];
  const i64 step = from.shape[0] != 1;  // one value goes to all places
  if (step && from.shape[0] != count)
    raise_of(kValue, "NumPy boolean array indexing assignment cannot assign % input values to the % output values where the mask is true",
             from.shape[0], count);
  for (i64 i = 0; i < n; ++i) {
    if (!wanted.data[i]) continue;
    i64 left = i, at = 0;
    for (int d = N - 1; d >= 0; --d) at += left % a.shape[d] * a.strides[d], left /= a.shape[d];
    *reinterpret_cast<T*>(reinterpret_cast<char*>(a.data) + at) = from.data[k];
    k += step;
  }
}
__attribute__((noinline, cold, noreturn)) static inline void refuse_index(i64 i, i64 extent, i64 axis) {
  if (axis < 0) raise_of(kIndex, "index % is out of bounds for size %", i, extent);
  raise_of(kIndex, "index % is out of bounds for axis % with size %", i, axis, extent);
}
/// `axis` is for the message, -1 where it is not known.
BC_FN i64 checked_index(i64 i, i64 n, i64 axis = 0) {
  if (i < 0) i += n;
  if (i < 0 || i >= n) refuse_index(written_index(i, n), n, axis);
  return i;
}
/// Names the first index that is out of bounds.
template <class I>
__attribute__((noinline, cold, noreturn)) static void refuse_indices(const I* at, i64 n, i64 extent) {
  i64 i = 0;
  while (i < n - 1 && static_cast<i64>(at[i]) >= -extent && static_cast<i64>(at[i]) < extent) ++i;
  refuse_index(static_cast<i64>(at[i]), extent, 0);
}
/// Raises for an index out of bounds; tells whether any is negative.
template <class I>
BC_INLINE bool check_indices(const I* at, i64 n, i64 extent) {
  i64 low = 0, high = -1;
  for (i64 i = 0; i < n; ++i) {
    const i64 k = static_cast<i64>(at[i]);
    low = k < low ? k : low;
    high = k > high ? k : high;
  }
  if (low < -extent || high >= extent) refuse_indices(at, n, extent);
  return low < 0;
}
/// Whether two vectors have bytes in common, or may have.
template <class T, char L, class U, char K>
BC_INLINE bool meets(const Array<T, 1, L>& a, const Array<U, 1, K>& b) {
  const auto first = [](const auto& x) {
    return reinterpret_cast<const char*>(x.data) + (x.strides[0] < 0 ? (x.shape[0] - 1) * x.strides[0] : 0);
  };
  const auto span = [](const auto& x, i64 size) { return (x.shape[0] - 1) * (x.strides[0] < 0 ? -x.strides[0] : x.strides[0]) + size; };
  return a.shape[0] > 0 && b.shape[0] > 0 && first(a) < first(b) + span(b, sizeof(U)) && first(b) < first(a) + span(a, sizeof(T));
}
/// a[indices] = values, an array or one value. All indices are checked before the first element is written.
template <class T, char L, class I, char K, class V>
BC_INLINE void put_each(const Host<T, 1, L>& a, const Host<I, 1, K>& indices, const V& values) {
  if constexpr (!is_same<V, T>)
    if (meets(a, values)) return put_each(a, indices, copy(values));
  const Host<I, 1, 'C'> at = meets(a, indices) ? copy(indices) : contiguous(indices);
  const i64 n = at.shape[0], extent = a.shape[0];
  const bool below = check_indices(at.data, n, extent);
  // Copied to local variables, because a store might change what references refer to, as far as the compiler knows.
  char* const to = reinterpret_cast<char*>(a.data);
  const i64 step = L == 'C' ? static_cast<i64>(sizeof(T)) : a.strides[0];
  const I* const from = at.data;
  const auto store = [=](const auto& value) {
    if (below) {
      for (i64 i = 0; i < n; ++i) {
        const i64 k = static_cast<i64>(from[i]);
        *reinterpret_cast<T*>(to + (k + (k < 0 ? extent : 0)) * step) = value(i);
      }
    } else {
      // One by one: scatters and gathers are slower where elements lie far apart.
#pragma clang loop vectorize(disable) unroll_count(4)
      for (i64 i = 0; i < n; ++i) *reinterpret_cast<T*>(to + static_cast<i64>(from[i]) * step) = value(i);
    }
  };
  if constexpr (is_same<V, T>) {
    store([values](i64) { return values; });
  } else {
    const T* const given = values.data;
    if (values.shape[0] == 1) return store([v = values(0)](i64) { return v; });
    if (values.shape[0] != n)
      raise_of(kValue, "shape mismatch: value array of shape % could not be broadcast to indexing result of shape %", values.shape,
               Tuple<i64, 1>{{n}});
    if (packed(values)) return store([given](i64 i) { return given[i]; });
    const i64 along = values.strides[0];
    store([=](i64 i) { return *reinterpret_cast<const T*>(reinterpret_cast<const char*>(given) + i * along); });
  }
}
/// a[indices] along the first axis.
template <class T, int N, char L, class I, int M, char K>
BC_INLINE Host<T, N + M - 1, 'C'> take_rows(const Host<T, N, L>& a, const Host<I, M, K>& indices) {
  Tuple<i64, N + M - 1> shape;
  for (int k = 0; k < M; ++k) shape[k] = indices.shape[k];
  for (int k = 1; k < N; ++k) shape[M + k - 1] = a.shape[k];
  Host<T, N + M - 1, 'C'> out = fresh<T, N + M - 1>(shape);
  const Host<I, M, 'C'> at = contiguous(indices);
  const i64 n = at.size();
  if constexpr (N == 1) {
    // A piece is checked and then read while it is in the cache.
    const i64 extent = a.shape[0], stride = L == 'C' ? static_cast<i64>(sizeof(T)) : a.strides[0];
    const char* const from = reinterpret_cast<const char*>(a.data);
    const I* const places = at.data;
    T* const to = out.data;
    const auto element = [=](i64 k) { return *reinterpret_cast<const T*>(from + k * stride); };
    for (i64 begin = 0; begin < n; begin += 8192) {
      const i64 end = begin + 8192 < n ? begin + 8192 : n;
      if (check_indices(places + begin, end - begin, extent)) {
        for (i64 i = begin; i < end; ++i) {
          const i64 k = static_cast<i64>(places[i]);
          to[i] = element(k + (k < 0 ? extent : 0));
        }
      } else {
#pragma clang loop vectorize(disable) unroll_count(4)
        for (i64 i = begin; i < end; ++i) to[i] = element(static_cast<i64>(places[i]));
      }
    }
  } else {
    i64 width = 1;
    for (int k = 1; k < N; ++k) width *= a.shape[k];
    for (i64 i = 0; i < n; ++i) {
      const Host<T, N - 1, 'A'> row = slab(a, 0, checked_index(at.data[i], a.shape[0]));
      Array<T, N - 1, 'C'> to{};
      to.data = out.data + i * width;
      i64 stride = sizeof(T);
      for (int k = N - 2; k >= 0; --k) to.shape[k] = row.shape[k], to.strides[k] = stride, stride *= row.shape[k];
      map_all(row.shape, Same{}, operand(to, row.shape), operand(row, row.shape));
    }
  }
  return out;
}
// Arrays of indices combined with other indices. The other indices give a view; arrays of indices select along some of its axes, and the
// rest stay. `offsets` holds for each element of the index arrays' broadcast shape the distance in bytes from the view's first element.

/// The places where a mask is true, along its axis d.
template <int N, char L>
BC_INLINE Host<i64, 1, 'C'> true_places(const Host<bool, N, L>& mask, int d) {
  const Host<bool, N, 'C'> m = contiguous(mask);
  const i64 n = m.size();
  i64 count = 0, inner = 1;
  for (i64 i = 0; i < n; ++i) count += m.data[i];
  for (int k = d + 1; k < N; ++k) inner *= m.shape[k];
  Host<i64, 1, 'C'> out = fresh<i64, 1>(Tuple<i64, 1>{{count}});
  for (i64 i = 0, k = 0; i < n; ++i)
    if (m.data[i]) out.data[k++] = i / inner % m.shape[d];
  return out;
}
template <int B, class I, int M, char L>
BC_INLINE void add_offsets(const Host<i64, B, 'C'>& offsets, const Host<I, M, L>& index, i64 extent, i64 stride) {
  const Host<i64, B, 'C'> wide = fresh<i64, B>(offsets.shape);
  map_all(offsets.shape, [](auto v) { return static_cast<i64>(v); }, operand(wide, offsets.shape), operand(index, offsets.shape));
  const i64 n = offsets.size();
  for (i64 i = 0; i < n; ++i) offsets.data[i] += checked_index(wide.data[i], extent, -1) * stride;
}
template <int B, class T, int N, char L, int K, class... I>
BC_INLINE Host<i64, B, 'C'> offsets_of(const Host<T, N, L>& a, const Tuple<i64, K>& axes, const I&... indices) {
  const Host<i64, B, 'C'> out = zeros<i64, B>(shape_of<B>(indices...));
  int k = 0;
  ((add_offsets(out, indices, a.shape[axes[k]], a.strides[axes[k]]), ++k), ...);
  return out;
}
/// The array without the indexed axes, at index 0 of each.
template <class T, int N, char L, int K>
BC_INLINE Array<T, N - K, 'A'> rest_of(const Array<T, N, L>& a, const Tuple<i64, K>& axes) {
  Array<T, N - K, 'A'> r{};
  r.data = a.data;
  if constexpr (N > K)
    for (int k = 0, d = 0, next = 0; k < N; ++k) {
      if (next < K && axes[next] == k)
        ++next;
      else
        r.shape[d] = a.shape[k], r.strides[d] = a.strides[k], ++d;
    }
  return r;
}
/// The part of `a` for the i-th element of the indices: `a` without its axes [P, P + B).
template <int P, int B, class T, int N, char L>
BC_INLINE Array<T, N - B, 'A'> at_place(const Array<T, N, L>& a, i64 i) {
  Array<T, N - B, 'A'> r{};
  i64 at = 0;
  for (int k = P + B - 1; k >= P; --k) at += i % a.shape[k] * a.strides[k], i /= a.shape[k];
  r.data = reinterpret_cast<T*>(reinterpret_cast<char*>(const_cast<T*>(a.data)) + at);
  if constexpr (N > B)
    for (int k = 0, d = 0; k < N; ++k)
      if (k < P || k >= P + B) r.shape[d] = a.shape[k], r.strides[d] = a.strides[k], ++d;
  return r;
}
template <class T, int N, char L>
BC_INLINE Array<T, N, L> moved(Array<T, N, L> a, i64 bytes) {
  a.data = reinterpret_cast<T*>(reinterpret_cast<char*>(const_cast<T*>(a.data)) + bytes);
  return a;
}
template <int P, int R, int B>
BC_INLINE Tuple<i64, R + B> picked_shape(const i64* rest, const Tuple<i64, B>& places) {
  Tuple<i64, R + B> shape;
  for (int k = 0; k < R + B; ++k) shape[k] = k < P ? rest[k] : k < P + B ? places[k - P] : rest[k - B];
  return shape;
}
template <int R, class T, char L>
BC_INLINE const i64* extents(const Array<T, R, L>& a) {
  if constexpr (R > 0)
    return &a.shape[0];
  else
    return nullptr;
}
/// The elements at the offsets; the axes of the indices become the P-th and following ones.
template <int P, class T, int N, char L, int K, int B>
BC_INLINE Host<T, N - K + B, 'C'> take_at(const Host<T, N, L>& a, const Tuple<i64, K>& axes, const Host<i64, B, 'C'>& offsets) {
  constexpr int R = N - K;
  const Array<T, R, 'A'> rest = rest_of(a, axes);
  Host<T, R + B, 'C'> out = fresh<T, R + B>(picked_shape<P, R, B>(extents<R>(rest), offsets.shape));
  const i64 n = offsets.size();
  const auto element = [](const T* p, i64 bytes) -> const T& {
    return *reinterpret_cast<const T*>(reinterpret_cast<const char*>(p) + bytes);
  };
  if constexpr (P == R) {
    // The selected elements are contiguous in the result.
    const i64 rows = n > 0 ? out.size() / n : 0;
    for (i64 r = 0; r < rows; ++r) {
      i64 left = r, at = 0;
      if constexpr (R > 0)
        for (int k = R - 1; k >= 0; --k) at += left % rest.shape[k] * rest.strides[k], left /= rest.shape[k];
      T* to = out.data + r * n;
      for (i64 i = 0; i < n; ++i) to[i] = element(rest.data, at + offsets.data[i]);
    }
  } else {
    for (i64 i = 0; i < n; ++i)
      map_all(rest.shape, Same{}, operand(at_place<P, B>(out, i), rest.shape), operand(moved(rest, offsets.data[i]), rest.shape));
  }
  return out;
}
/// Stores `value`, a number or an array that is broadcast, to the elements at the offsets.
template <int P, class T, int N, char L, int K, int B, class V>
BC_INLINE void put_at(const Host<T, N, L>& a, const Tuple<i64, K>& axes, const Host<i64, B, 'C'>& offsets, const V& value) {
  constexpr int R = N - K;
  const Array<T, R, 'A'> rest = rest_of(a, axes);
  const Tuple<i64, R + B> shape = picked_shape<P, R, B>(extents<R>(rest), offsets.shape);
  Array<T, R + B, 'A'> wide{};
  T one{};
  if constexpr (is_same<V, T>) {
    one = value;
    wide.data = &one;
    wide.shape = shape;
    for (int k = 0; k < R + B; ++k) wide.strides[k] = 0;
  } else {
    Tuple<i64, R + B> joint = shape;
    bool fits = match_shape(joint, value);
    for (int k = 0; k < R + B; ++k) fits = fits && joint[k] == shape[k];
    if (!fits)
      raise_of(kValue, "shape mismatch: value array of shape % could not be broadcast to indexing result of shape %", shape_as_tuple(value),
               shape);
    const auto from = operand(value, shape);
    wide.data = reinterpret_cast<T*>(from.at);
    wide.shape = shape;
    for (int k = 0; k < R + B; ++k) wide.strides[k] = from.strides[k];
  }
  const i64 n = offsets.size();
  for (i64 i = 0; i < n; ++i) {
    const Array<T, R, 'A'> to = moved(rest, offsets.data[i]), from = at_place<P, B>(wide, i);
    if constexpr (R == 0)
      *to.data = *from.data;
    else
      map_all(rest.shape, Same{}, operand(to, rest.shape), operand(from, rest.shape));
  }
}
template <class T, char L>
BC_INLINE Host<i64, 1, 'C'> flat_nonzero(const Host<T, 1, L>& a) {
  i64 count = 0;
  const i64 n = a.shape[0];
  const Host<T, 1, 'C'> c = contiguous(a);
  for (i64 i = 0; i < n; ++i) count += nonzero(c.data[i]);
  Host<i64, 1, 'C'> out = fresh<i64, 1>(Tuple<i64, 1>{{count}});
  // Writes every index and advances only if it counts, which takes no branch that could be mispredicted.
  for (i64 i = 0, k = 0; k < count; ++i) {
    out.data[k] = i;
    k += nonzero(c.data[i]);
  }
  return out;
}

// ---- order ------------------------------------------------------------------------------------------------------------------------

/// NaN last, as NumPy sorts.
template <class T>
BC_INLINE bool before(T a, T b) {
  if constexpr (is_complex<T>) {
    // By real part, then by imaginary part; a number with a NaN in its imaginary part comes behind those without, whatever their real
    // parts.
    const bool nan_a = a.im != a.im, nan_b = b.im != b.im;
    if (a.re < b.re) return !nan_a || nan_b;
    if (a.re > b.re) return nan_b && !nan_a;
    if (a.re == b.re || (a.re != a.re && b.re != b.re)) return before(a.im, b.im);
    return b.re != b.re;
  } else if constexpr (is_int<T> || is_bool<T>) {
    return a < b;
  } else {
    return a < b || (b != b && a == a);
  }
}
/// The two memories between which the passes of a sort move the elements. If an exception ends the sort, the elements are copied back to
/// the memory that was given.
template <class I>
struct SortPasses {
  I *given, *from, *to;
  i64 n;
  Poll poll;
  BC_INLINE SortPasses(I* a, I* buffer, i64 count) : given(a), from(a), to(buffer), n(count) {}
  SortPasses(const SortPasses&) = delete;
  BC_INLINE void next() {
    I* const other = from;
    from = to, to = other;
  }
  ~SortPasses() {
    if (from != given)
      __builtin_memcpy(static_cast<void*>(given), static_cast<const void*>(from), static_cast<unsigned long>(n) * sizeof(I));
  }
};
/// Merges runs: stable. `buffer` has room for n.
template <class I, class Less>
static inline void merge_sort(I* a, I* buffer, i64 n, const Less& less) {
  constexpr i64 kRun = 24;  // kSmallSort
  SortPasses<I> all(a, buffer, n);
  for (i64 at = 0; at < n; at += kRun) {
    all.poll();
    const i64 end = least(at + kRun, n);
    for (i64 i = at + 1; i < end; ++i) {
      const I x = a[i];
      i64 j = i;
      for (; j > at && less(x, a[j - 1]); --j) a[j] = a[j - 1];
      a[j] = x;
    }
  }
  for (i64 width = kRun; width < n; width *= 2) {
    const I* const from = all.from;
    I* const to = all.to;
    for (i64 at = 0; at < n; at += 2 * width) {
      const i64 middle = least(at + width, n), end = least(at + 2 * width, n);
      i64 i = at, j = middle, k = at;
      while (i < middle && j < end) {
        all.poll();
        for (const i64 strip = least(k + kLongLoop, end); k < strip && i < middle && j < end;) {
          const bool second = less(from[j], from[i]);
          to[k++] = second ? from[j] : from[i];
          i += !second, j += second;
        }
      }
      while (i < middle) to[k++] = from[i++];
      while (j < end) to[k++] = from[j++];
    }
    all.next();
  }
}
template <class T>
constexpr bool has_sort_key = is_int<T> || is_native_float<T>;
enum : i64 { kSmallSort = 24, kRadixSort = 1024 };
/// An unsigned number in the order of `before`; both zeros have one, and so have all NaN.
template <class T>
BC_INLINE auto sort_key(T x) {
  using U = conditional<sizeof(T) == 8, u64, conditional<sizeof(T) == 4, u32, conditional<sizeof(T) == 2, u16, u8>>>;
  constexpr U top = static_cast<U>(static_cast<U>(1) << (8 * sizeof(U) - 1));
  if constexpr (is_native_float<T>) {
    if (x != x) return static_cast<U>(~static_cast<U>(0));
    const U bits = __builtin_bit_cast(U, x);
    return bits == top ? top : static_cast<U>(bits & top ? ~bits : bits | top);
  } else {
    return static_cast<U>(static_cast<U>(x) ^ (static_cast<T>(-1) < static_cast<T>(0) ? top : U(0)));
  }
}
/// Sorts by keys' digits: stable; `buffer` has room for n.
template <class I, class Key>
static inline void radix_sort(I* a, I* buffer, i64 n, const Key& key) {
  using U = decltype(key(*a));
  constexpr int kBits = sizeof(U) == 1 ? 8 : 11, kPasses = static_cast<int>((8 * sizeof(U) + kBits - 1) / kBits), kDigits = 1 << kBits;
  u32 counts[kPasses][kDigits] = {};
  bool ordered = true;
  U last = 0;
  in_strips(n, [&](i64 begin, i64 end) {
    for (i64 i = begin; i < end; ++i) {
      const U k = key(a[i]);
      ordered &= k >= last;
      last = k;
      for (int p = 0; p < kPasses; ++p) ++counts[p][k >> (p * kBits) & (kDigits - 1)];
    }
  });
  if (ordered) return;
  SortPasses<I> all(a, buffer, n);
  for (int p = 0; p < kPasses; ++p) {
    u32* const count = counts[p];
    if (count[last >> (p * kBits) & (kDigits - 1)] == n) continue;  // one digit for all
    u32 at = 0;
    for (int d = 0; d < kDigits; ++d) {
      const u32 c = count[d];
      count[d] = at, at += c;
    }
    const I* const from = all.from;
    I* const to = all.to;
    in_strips(n, [&](i64 begin, i64 end) {
      for (i64 i = begin; i < end; ++i) to[count[key(from[i]) >> (p * kBits) & (kDigits - 1)]++] = from[i];
    });
    all.next();
  }
}
/// Sorts numbers; `buffer` has room for n where n is above kSmallSort.
template <class T>
static inline void sort_numbers(T* a, T* buffer, i64 n, bool reverse) {
  if constexpr (has_sort_key<T>) {
    if (n >= kRadixSort && n >> 32 == 0) {
      using U = decltype(sort_key(*a));
      if (reverse) return radix_sort(a, buffer, n, [](T x) { return static_cast<U>(~sort_key(x)); });
      return radix_sort(a, buffer, n, [](T x) { return sort_key(x); });
    }
  }
  if (reverse)
    merge_sort(a, buffer, n, [](T x, T y) { return before(y, x); });
  else
    merge_sort(a, buffer, n, [](T x, T y) { return before(x, y); });
}
/// Sorts the places [0, n) by the numbers there.
template <class T>
static inline void sort_places(i64* order, i64* buffer, i64 n, const T* at, bool reverse) {
  if constexpr (has_sort_key<T>) {
    if (n >= kRadixSort && n >> 32 == 0) {
      using U = decltype(sort_key(*at));
      if (reverse) return radix_sort(order, buffer, n, [=](i64 i) { return static_cast<U>(~sort_key(at[i])); });
      return radix_sort(order, buffer, n, [=](i64 i) { return sort_key(at[i]); });
    }
  }
  if (reverse)
    merge_sort(order, buffer, n, [=](i64 i, i64 j) { return before(at[j], at[i]); });
  else
    merge_sort(order, buffer, n, [=](i64 i, i64 j) { return before(at[i], at[j]); });
}
template <class T, int N>
BC_INLINE void sort_rows(const Host<T, N, 'C'>& a) {
  const i64 n = a.shape[N - 1];
  if (n < 2) return;
  const Host<T, 1, 'C'> buffer = fresh<T, 1>(Tuple<i64, 1>{{n}});
  for (i64 at = 0, size = a.size(); at < size; at += n) sort_numbers(a.data + at, buffer.data, n, false);
}
/// f of the array with an axis moved to the end; the axis is moved back in the result.
template <class T, int N, char L, class F>
BC_INLINE auto by_rows(const Host<T, N, L>& a, i64 along, const F& f) {
  const int axis = axis_of(along, N);
  if (axis == N - 1) return f(copy(a));
  const Tuple<i64, 1> from{{axis}}, last{{N - 1}};
  return copy(permuted(f(copy(permuted(a, moved_axes<N>(from, last)))), moved_axes<N>(last, from)));
}
template <class T, int N, char L>
BC_INLINE Host<T, N, 'C'> sorted(const Host<T, N, L>& a, i64 along = -1) {
  return by_rows(a, along, [](Host<T, N, 'C'> rows) {
    sort_rows(rows);
    return rows;
  });
}
template <class T, int N, char L>
BC_INLINE void sort_in_place(const Host<T, N, L>& a, i64 along) {
  if (axis_of(along, N) != N - 1) return assign(a, Same{}, sorted(a, along));
  const Host<T, N, 'C'> c = contiguous(a);
  sort_rows(c);
  if (c.data != a.data) assign(a, Same{}, c);
}
template <class T, int N, char L>
BC_INLINE Host<i64, N, 'C'> argsort(const Host<T, N, L>& a, i64 along) {
  return by_rows(a, along, [](const Host<T, N, 'C'>& rows) {
    const i64 n = rows.shape[N - 1], all = rows.size();
    Host<i64, N, 'C'> out = fresh<i64, N>(rows.shape);
    const Host<i64, 1, 'C'> buffer = fresh<i64, 1>(Tuple<i64, 1>{{n}});
    for (i64 at = 0; at < all; at += n) {
      for (i64 i = 0; i < n; ++i) out.data[at + i] = i;
      sort_places(out.data + at, buffer.data, n, static_cast<const T*>(rows.data) + at, false);
    }
    return out;
  });
}
/// The place of a value among the elements of a sorted vector from `first` to `last`, compared in the type C.
template <class C, class E, char L>
BC_INLINE i64 search_part(const Host<E, 1, L>& a, C value, bool right, i64 first, i64 last) {
  using T = C;
  if (first == last) return first;
  // Without branches on the elements: for random values half of the branches would be mispredicted.
  const auto find = [&](const auto& past) {
    i64 low = first, n = last - first;
    for (i64 half = n >> 1; half > 0; n -= half, half = n >> 1) {
      const bool here = past(cast<C>(a(low + half - 1)));
      low += __builtin_unpredictable(here) ? half : 0;
    }
    return low + (past(cast<C>(a(low))) ? 1 : 0);
  };
  if constexpr (is_native_float<T>) {
    // NaN comes last; no comparison with it holds.
    if (value != value) return right ? last : find([](T x) { return x == x; });
    return right ? find([=](T x) { return x <= value; }) : find([=](T x) { return x < value; });
  } else {
    return right ? find([=](T x) { return !before(value, x); }) : find([=](T x) { return before(x, value); });
  }
}
template <class C, class E, char L>
BC_INLINE i64 search(const Host<E, 1, L>& a, C value, bool right) {
  return search_part(a, value, right, 0, a.shape[0]);
}
/// The places of many values. Those of a rising run are looked for behind each other, in steps of doubled length (Bentley & Yao, An almost
/// optimal algorithm for unbounded searching, 1976).
template <class C, class E, char L, class V, int N>
inline Host<i64, N, 'C'> search_all(const Host<E, 1, L>& a, const Host<V, N, 'C'>& values, bool right) {
  constexpr i64 kRun = 64;
  const Host<i64, N, 'C'> out = fresh<i64, N>(values.shape);
  const i64 count = values.size(), all = a.shape[0];
  Poll poll;
  for (i64 begin = 0; begin < count; begin += kRun) {
    poll();
    const i64 end = least(begin + kRun, count);
    const auto value = [&](i64 i) { return cast<C>(static_cast<V>(values.data[i])); };
    bool rises = true;
    for (i64 i = begin + 1; i < end; ++i) rises &= !before(value(i), value(i - 1));
    i64 place = 0;
    for (i64 i = begin; i < end; ++i) {
      const C x = value(i);
      i64 last = all;
      if (rises && i > begin) {
        const auto past = [&](i64 k) { return right ? !before(x, cast<C>(a(k))) : before(cast<C>(a(k)), x); };
        i64 step = 1;
        for (; place + step <= all && past(place + step - 1); step *= 2) place += step;
        last = least(place + step - 1, all);
      }
      out.data[i] = place = search_part(a, x, right, rises ? place : 0, last);
    }
  }
  return out;
}
template <class T, char L>
BC_INLINE Host<T, 1, 'C'> unique(const Host<T, 1, L>& a) {
  const Host<T, 1, 'C'> s = sorted(a);
  // NaN is one value here.
  const auto first = [&](i64 i) {
    if (i == 0) return true;
    const T x = s.data[i], before_it = s.data[i - 1];
    return x != before_it && (x == x || before_it == before_it);
  };
  i64 k = 0;
  for (i64 i = 0; i < s.shape[0]; ++i) k += first(i);
  Host<T, 1, 'C'> out = fresh<T, 1>(Tuple<i64, 1>{{k}});
  k = 0;
  for (i64 i = 0; i < s.shape[0]; ++i)
    if (first(i)) out.data[k++] = s.data[i];
  return out;
}
/// Moves elements until the k-th is the one that a sort would put there, no smaller one is after it and no larger one before it (Hoare's
/// FIND). Returns false if that takes too long.
template <class T>
static inline bool select_nth(T* a, i64 n, i64 k) {
  i64 low = 0, high = n - 1;
  Poll poll;
  for (int turns = 0; low < high; ++turns) {
    poll();
    if (turns > 80) return false;
    const i64 middle = low + (high - low) / 2;
    const auto order = [&](i64 i, i64 j) {
      if (before(a[j], a[i])) {
        const T kept = a[i];
        a[i] = a[j], a[j] = kept;
      }
    };
    order(low, middle), order(middle, high), order(low, middle);
    const T pivot = a[middle];
    i64 i = low, j = high;
    while (i <= j) {
      while (before(a[i], pivot)) ++i;
      while (before(pivot, a[j])) --j;
      if (i > j) break;
      const T kept = a[i];
      a[i++] = a[j], a[j--] = kept;
    }
    if (k <= j)
      high = j;
    else if (k >= i)
      low = i;
    else
      return true;
  }
  return true;
}
template <class R, class T, char L, class U, char K>
BC_INLINE Host<R, 2, 'C'> outer(const Host<T, 1, L>& a, const Host<U, 1, K>& b) {
  const Host<U, 1, 'C'> row = contiguous(b);
  const i64 n = a.shape[0], m = row.shape[0];
  Host<R, 2, 'C'> out = fresh<R, 2>(Tuple<i64, 2>{{n, m}});
  Poll poll;
  for (i64 i = 0; i < n; ++i) {
    poll();
    const R x = cast<R>(a(i));
    R* to = out.data + i * m;
    for (i64 j = 0; j < m; ++j) to[j] = x * cast<R>(row.data[j]);
  }
  return out;
}
template <class T, char L>
BC_INLINE Host<T, 1, 'C'> partitioned(const Host<T, 1, L>& a, i64 kth) {
  const Host<T, 1, 'C'> s = copy(a);
  const i64 n = s.shape[0];
  if (n == 0) return s;  // as in NumPy, which does not check kth then
  if (kth < 0) kth += n;
  if (kth < 0 || kth >= n) raise_of(kValue, "kth(=%) out of bounds (%)", kth, n);
  if (!select_nth(s.data, n, kth)) sort_rows(s);
  return s;
}
template <class T, int N, char L>
BC_INLINE double median(const Host<T, N, L>& a) {
  const Host<T, 1, 'C'> s = copy(reshape<1>(a, Tuple<i64, 1>{{-1}}));
  const i64 n = s.shape[0];
  if (n == 0) return limits<double>::nan();
  if constexpr (is_native_float<T>) {
    bool broken = false;
    for (i64 i = 0; i < n; ++i) broken |= s.data[i] != s.data[i];
    if (broken) return limits<double>::nan();
  }
  if (!select_nth(s.data, n, n / 2)) sort_rows(s);
  const double upper = cast<double>(s.data[n / 2]);
  if (n % 2) return upper;
  T below = s.data[0];
  for (i64 i = 1; i < n / 2; ++i) below = before(below, s.data[i]) ? s.data[i] : below;
  return (cast<double>(below) + upper) / 2;
}
template <class T, char L>
BC_INLINE Host<i64, 1, 'C'> bincount(const Host<T, 1, L>& a, i64 least_length) {
  if (least_length < 0) raise(kValue, "'minlength' must not be negative");
  i64 top = -1;
  for (i64 i = 0; i < a.shape[0]; ++i) {
    if (static_cast<i64>(a(i)) < 0) raise(kValue, "bincount: the values must not be negative");
    top = a(i) > top ? a(i) : top;
  }
  Host<i64, 1, 'C'> out = zeros<i64, 1>(Tuple<i64, 1>{{top + 1 > least_length ? top + 1 : least_length}});
  for (i64 i = 0; i < a.shape[0]; ++i) ++out.data[a(i)];
  return out;
}
template <class T, char L>
BC_INLINE Host<T, 1, 'C'> diff(const Host<T, 1, L>& a) {
  const i64 n = a.shape[0] > 0 ? a.shape[0] - 1 : 0;
  Host<T, 1, 'C'> out = fresh<T, 1>(Tuple<i64, 1>{{n}});
  for (i64 i = 0; i < n; ++i) out.data[i] = subtract(a(i + 1), a(i));
  return out;
}
template <class T, char L>
BC_INLINE Host<T, 1, 'C'> repeat(const Host<T, 1, L>& a, i64 times) {
  if (times < 0) raise(kValue, "repeats may not contain negative values.");
  Host<T, 1, 'C'> out = fresh<T, 1>(Tuple<i64, 1>{{a.shape[0] * times}});
  for (i64 i = 0; i < a.shape[0]; ++i)
    for (i64 k = 0; k < times; ++k) out.data[i * times + k] = a(i);
  return out;
}

// ---- products ---------------------------------------------------------------------------------------------------------------------

template <class T>
constexpr i32 dtype_number = -1;
template <>
constexpr i32 dtype_number<bool> = 0;
template <>
constexpr i32 dtype_number<i8> = 1;
template <>
constexpr i32 dtype_number<i16> = 2;
template <>
constexpr i32 dtype_number<i32> = 3;
template <>
constexpr i32 dtype_number<i64> = 4;
template <>
constexpr i32 dtype_number<u8> = 5;
template <>
constexpr i32 dtype_number<u16> = 6;
template <>
constexpr i32 dtype_number<u32> = 7;
template <>
constexpr i32 dtype_number<u64> = 8;
template <>
constexpr i32 dtype_number<half> = 9;
template <>
constexpr i32 dtype_number<bfloat16> = 10;
template <>
constexpr i32 dtype_number<float> = 11;
template <>
constexpr i32 dtype_number<double> = 12;
template <>
constexpr i32 dtype_number<complex64> = 13;
template <>
constexpr i32 dtype_number<complex128> = 14;
template <>
constexpr i32 dtype_number<float8_e4m3fn> = 15;
template <>
constexpr i32 dtype_number<float8_e5m2> = 16;

/// Raises the error of dot, or of the operator @, for arrays of these shapes.
template <int N, int M>
__attribute__((noinline, cold, noreturn)) static void refuse_product(Tuple<i64, N> a, Tuple<i64, M> b, bool operator_form) {
  const i64 at = M > 1 ? M - 2 : 0;
  if (operator_form)
    raise_of(kValue,
             "matmul: Input operand 1 has a mismatch in its core dimension 0, with gufunc signature (n?,k),(k,m?)->(n?,m?) "
             "(size % is different from %)",
             b[at], a[N - 1]);
  raise_of(kValue, "shapes % and % not aligned: % (dim %) != % (dim %)", a, b, a[N - 1], i64{N - 1}, b[at], at);
}
template <class R, class T, class U, char L, char K>
BC_INLINE R inner(const Host<T, 1, L>& a, const Host<U, 1, K>& b) {
  return sum<R, 1>([](T x, U y) { return multiply(cast<R>(x), cast<R>(y)); }, a, b);
}
template <class R, class T, class U, char L, char K>
BC_INLINE Host<R, 2, 'C'> product2(const Host<T, 2, L>& x, const Host<U, 2, K>& y) {
  const auto as = [](const auto& a) {
    if constexpr (is_same<decltype(*a.data), R&>)
      return a;
    else
      return map<R, 2>([](auto v) { return cast<R>(v); }, a);
  };
  const auto a = as(x);
  const auto b = as(y);
  const i64 m = a.shape[0], k = a.shape[1], n = b.shape[1], item = sizeof(R);
  Host<R, 2, 'C'> out = fresh<R, 2>(Tuple<i64, 2>{{m, n}});
  const i64 sa[] = {a.strides[0] / item, a.strides[1] / item}, sb[] = {b.strides[0] / item, b.strides[1] / item};
  bc_host->product(dtype_number<R>, m, n, k, a.data, sa, b.data, sb, out.data);
  return out;
}
template <class R, class T, class U, int N, int M, char L, char K>
BC_INLINE auto matmul(const Host<T, N, L>& a, const Host<U, M, K>& b, bool operator_form = false) {
  if (a.shape[N - 1] != b.shape[M > 1 ? M - 2 : 0]) refuse_product(a.shape, b.shape, operator_form);
  if constexpr (N == 1 && M == 1) {
    return inner<R>(a, b);
  } else if constexpr (N == 2 && M == 2) {
    return product2<R>(a, b);
  } else if constexpr (N == 2) {
    return reshape<1>(product2<R>(a, reshape<2>(b, Tuple<i64, 2>{{-1, 1}})), Tuple<i64, 1>{{-1}});
  } else {
    return reshape<1>(product2<R>(reshape<2>(a, Tuple<i64, 2>{{1, -1}}), b), Tuple<i64, 1>{{-1}});
  }
}
/// The Euclidean norm of all elements.
template <class R, class T, int N, char L>
BC_INLINE R norm(const Host<T, N, L>& a) {
  const double s = sum<double, N>(
      [](T x) {
        if constexpr (is_complex<T>)
          return static_cast<double>(x.re) * x.re + static_cast<double>(x.im) * x.im;
        else
          return cast<double>(x) * cast<double>(x);
      },
      a);
  return cast<R>(sqrt(s));
}
template <class R, class T, char L>
BC_INLINE R trace(const Host<T, 2, L>& a) {
  R s = cast<R>(0);
  for (i64 i = 0; i < least(a.shape[0], a.shape[1]); ++i) s = add(s, cast<R>(a(i, i)));
  return s;
}

/// Gauss with the largest pivot: `a` becomes its factors, `b` the solution. Gives the determinant.
template <class T>
static inline T eliminate(const Host<T, 2, 'C'>& a, const Host<T, 2, 'C'>& b, bool needs_solution) {
  const i64 n = a.shape[0], m = b.shape[1];
  T determinant = cast<T>(1);
  Poll poll;
  for (i64 c = 0; c < n; ++c) {
    i64 pivot = c;
    for (i64 r = c + 1; r < n; ++r)
      if (abs(a.data[r * n + c]) > abs(a.data[pivot * n + c])) pivot = r;
    const T p = a.data[pivot * n + c];
    if (p == cast<T>(0)) {
      if (needs_solution) raise(kLinAlg, "Matrix is singular to machine precision.");
      return cast<T>(0);
    }
    if (pivot != c) {
      for (i64 k = 0; k < n; ++k) {
        const T t = a.data[c * n + k];
        a.data[c * n + k] = a.data[pivot * n + k];
        a.data[pivot * n + k] = t;
      }
      for (i64 k = 0; k < m; ++k) {
        const T t = b.data[c * m + k];
        b.data[c * m + k] = b.data[pivot * m + k];
        b.data[pivot * m + k] = t;
      }
      determinant = negative(determinant);
    }
    determinant = multiply(determinant, p);
    for (i64 r = c + 1; r < n; ++r) {
      poll();
      const T f = a.data[r * n + c] / p;
      if (f == cast<T>(0)) continue;
      for (i64 k = c; k < n; ++k) a.data[r * n + k] = subtract(a.data[r * n + k], multiply(f, a.data[c * n + k]));
      for (i64 k = 0; k < m; ++k) b.data[r * m + k] = subtract(b.data[r * m + k], multiply(f, b.data[c * m + k]));
    }
  }
  if (needs_solution)
    for (i64 c = n - 1; c >= 0; --c)
      for (i64 k = 0; k < m; ++k) {
        poll();
        T s = b.data[c * m + k];
        for (i64 j = c + 1; j < n; ++j) s = subtract(s, multiply(a.data[c * n + j], b.data[j * m + k]));
        b.data[c * m + k] = s / a.data[c * n + c];
      }
  return determinant;
}
template <class T, class A>
BC_INLINE Host<T, 2, 'C'> square_copy(const A& a) {
  if (a.shape[0] != a.shape[1]) raise(kLinAlg, "Last 2 dimensions of the array must be square");
  return map<T, 2>([](auto v) { return cast<T>(v); }, a);
}
/// LAPACK's elimination in double precision, by its numbers in compiled_lapack.cpp. It is faster than `eliminate` for more than a few rows.
enum class Elimination : i32 { solve = 5, inverse, determinant };
template <class T>
constexpr bool kHasElimination = is_same<T, double> || is_same<T, complex128>;
/// False where LAPACK lacks it, or is not worth a call: nothing has changed then. `b` has `count` columns.
template <class T>
BC_INLINE bool eliminated(Elimination what, const Host<T, 2, 'C'>& a, T* b, i64 count, bool* singular) {
  if constexpr (kHasElimination<T>) {
    const i64 n = a.shape[0];
    if (n < 32) return false;
    const i64 info = bc_host->lapack(static_cast<i32>(what), is_complex<T>, count, n, a.data, b, nullptr, nullptr);
    *singular = info > 0;
    return info >= 0;
  }
  return false;
}
BC_FN void expect_regular(bool singular) {
  if (singular) raise(kLinAlg, "Matrix is singular to machine precision.");
}
template <class T, class A, class U, int M, char K>
BC_INLINE auto solve(const A& a, const Host<U, M, K>& b) {
  const Host<T, 2, 'C'> factors = square_copy<T>(a);
  if (b.shape[0] != a.shape[0]) raise(kLinAlg, "Incompatible array sizes, np.linalg.solve() could not solve the system.");
  const Host<T, M, 'C'> kept = map<T, M>([](auto v) { return cast<T>(v); }, b);
  bool singular = false;
  if (eliminated(Elimination::solve, factors, kept.data, M == 1 ? 1 : kept.shape[M - 1], &singular)) {
    expect_regular(singular);
  } else if constexpr (M == 1) {
    eliminate(factors, reshape<2>(kept, Tuple<i64, 2>{{-1, 1}}), true);
  } else {
    eliminate(factors, kept, true);
  }
  return kept;
}
template <class T, class A>
BC_INLINE Host<T, 2, 'C'> inverse(const A& a) {
  if (a.shape[0] >= 32) {
    const Host<T, 2, 'C'> made = square_copy<T>(a);
    bool singular = false;
    if (eliminated(Elimination::inverse, made, static_cast<T*>(nullptr), 0, &singular)) {
      expect_regular(singular);
      return made;
    }
  }
  return solve<T>(a, eye<T>(a.shape[0], a.shape[0], 0));
}
template <class T, class A>
BC_INLINE T determinant(const A& a) {
  if (a.shape[0] >= 32) {
    const Host<T, 2, 'C'> factors = square_copy<T>(a);
    bool singular = false;
    T product = cast<T>(1);
    if (eliminated(Elimination::determinant, factors, &product, 0, &singular)) {
      for (i64 i = 0; i < factors.shape[0]; ++i) product = multiply(product, factors.data[i * factors.shape[0] + i]);
      return product;
    }
  }
  const Host<T, 2, 'C'> none = fresh<T, 2>(Tuple<i64, 2>{{a.shape[0], 0}});
  return eliminate(square_copy<T>(a), none, false);
}

// ---- random numbers ---------------------------------------------------------------------------------------------------------------

// numpy.random and random as they were before generators, value by value: MT19937's words, 53 of 64 bits as a uniform number, Marsaglia's
// polar method for normal ones, and masked words for whole numbers.

/// A thread's state stays where it is, so that loops ask for it once.
__attribute__((const, noinline)) static inline RandomState* random_state(i32 which) { return bc_host->random(which); }
__attribute__((noinline, cold)) static inline u32 random_refilled(RandomState* s) {
  bc_host->refill_random(s);
  return 0;
}
BC_FN u32 random_word(RandomState* s) {
  if (s->at >= RandomState::kWords) bc_host->refill_random(s);
  return s->words[s->at++];
}
BC_FN double uniform_of_words(u32 high, u32 low) {
  // By a float's bits: an instruction that converts keeps the upper half of its register, and so waits for what a called function left
  // there (a logarithm of each number: 14.5 ns a turn, 7 without).
  const u64 whole = (static_cast<u64>(high >> 5) << 26) | (low >> 6);
  const double upper = bits_as<double>((whole >> 1) | 0x4330000000000000ull) - 0x1p52;
  return (upper + bits_as<double>((0 - (whole & 1)) & 0x3fe0000000000000ull)) * 0x1p-52;
}
__attribute__((noinline, cold)) static inline double random_uniform_across(RandomState* s) {
  const u32 high = random_word(s);
  return uniform_of_words(high, random_word(s));
}
BC_FN double random_uniform(RandomState* s) {
  const u32 at = s->at;
  if (__builtin_expect(at >= RandomState::kWords - 1, 0)) return random_uniform_across(s);
  s->at = at + 2;
  return uniform_of_words(s->words[at], s->words[at + 1]);
}
static __attribute__((noinline)) inline double random_normal(RandomState* s) {
  if (s->has_normal) {
    s->has_normal = 0;
    return s->normal;
  }
  double x, y, square;
  do {
    x = 2.0 * random_uniform(s) - 1.0;
    y = 2.0 * random_uniform(s) - 1.0;
    square = x * x + y * y;
  } while (square >= 1.0 || square == 0.0);
  const double factor = bc::sqrt(-2.0 * __builtin_log(square) / square);  // the C library's, as NumPy calls it
  s->normal = factor * x;
  s->has_normal = 1;
  return factor * y;
}
/// A whole number in [0, most], each alike.
BC_FN u64 random_interval(RandomState* s, u64 most) {
  if (most == 0) return 0;
  const u64 mask = ~u64{0} >> __builtin_clzll(most);
  if (__builtin_expect(mask <= 0xffffffffu, 1)) {
    // The place in a register while words are refused.
    const u32 narrow = static_cast<u32>(mask), limit = static_cast<u32>(most);
    u32 at = s->at, x;
    do {
      if (__builtin_expect(at >= RandomState::kWords, 0)) at = random_refilled(s);
      x = s->words[at++] & narrow;
    } while (x > limit);
    s->at = at;
    return x;
  }
  u64 x;
  do {
    x = static_cast<u64>(random_word(s)) << 32;
    x = (x | random_word(s)) & mask;
  } while (x > most);
  return x;
}
BC_FN i64 random_below(RandomState* s, i64 low, i64 high) {
  if (high <= low) raise(kValue, "low >= high");
  return low + static_cast<i64>(random_interval(s, static_cast<u64>(high) - static_cast<u64>(low) - 1));
}
/// random's: the upper bits of its words.
BC_FN u64 random_bits(RandomState* s, i64 bits) {
  if (bits < 0 || bits > 64) raise(kValue, "getrandbits: expected 0 to 64 bits");
  if (bits == 0) return 0;
  if (bits <= 32) return random_word(s) >> (32 - bits);
  const u64 low = random_word(s);
  return low | (static_cast<u64>(random_word(s) >> (64 - bits)) << 32);
}
BC_FN i64 random_range(RandomState* s, i64 low, i64 high, i64 step = 1) {
  const i64 n = step > 0 ? (high - low + step - 1) / step : step < 0 ? (high - low + step + 1) / step : 0;
  if (n <= 0) raise(kValue, "empty range for randrange()");
  const i64 bits = 64 - __builtin_clzll(static_cast<u64>(n));
  u64 x;
  do x = random_bits(s, bits);
  while (x >= static_cast<u64>(n));
  return low + static_cast<i64>(x) * step;
}
template <int N, class F>
BC_INLINE auto random_array(const Tuple<i64, N>& shape, const F& f) {
  using T = decltype(f());
  Host<T, N, 'C'> a = fresh<T, N>(shape);
  const i64 n = a.size();
  in_strips(n, [&](i64 begin, i64 end) {
    for (i64 i = begin; i < end; ++i) a.data[i] = f();
  });
  return a;
}
template <class T, int N, char L>
BC_INLINE void shuffle(const Host<T, N, L>& a) {
  RandomState* s = random_state(0);
  Poll poll;
  for (i64 i = a.shape[0] - 1; i > 0; --i) {
    poll();
    const i64 j = static_cast<i64>(random_interval(s, static_cast<u64>(i)));
    if constexpr (N == 1) {
      const T t = a(i);
      a(i) = a(j);
      a(j) = t;
    } else if (i != j) {
      const auto x = slab(a, 0, i), y = slab(a, 0, j);
      const auto kept = copy(x);
      assign(x, Same{}, y);
      assign(y, Same{}, kept);
    }
  }
}

}  // namespace py
}  // namespace bc
#endif
