// Tier 0: casts between every two dtypes, and the copies of elements into and out of a block.
#include "codegen/tier0/loops.h"

namespace bc::tier0 {
namespace {

// The processor truncates floats by the rule of truncate_to; a compiler may not use that, since C++ leaves other conversions undefined.
typedef int Ints __attribute__((vector_size(32)));
inline Ints truncated(const float* a) {
  return reinterpret_cast<Ints>(__builtin_ia32_cvttps2dq256(load_vector<VectorOf<float, 32>::type>(a)));
}
inline Ints truncated(const double* a) {
  typedef int Half __attribute__((vector_size(16)));
  using Doubles = VectorOf<double, 32>::type;
  const auto low = reinterpret_cast<Half>(__builtin_ia32_cvttpd2dq256(load_vector<Doubles>(a)));
  const auto high = reinterpret_cast<Half>(__builtin_ia32_cvttpd2dq256(load_vector<Doubles>(a + 4)));
  return __builtin_shufflevector(low, high, 0, 1, 2, 3, 4, 5, 6, 7);
}
/// Floats to integers of up to 32 bits by eights, the first of `n`; returns how many are done.
template <class From, class To>
int64_t truncate_eights(const From* a, To* out, int64_t n) {
  constexpr int64_t kStrip = 256;
  int wide[kStrip];
  const int64_t whole = n / 8 * 8;
  for (int64_t k = 0; k < whole; k += kStrip) {
    const int64_t count = whole - k < kStrip ? whole - k : kStrip;
    for (int64_t i = 0; i < count; i += 8) {
      const Ints made = truncated(a + k + i);
      __builtin_memcpy(sizeof(To) == 4 ? reinterpret_cast<int*>(out + k + i) : wide + i, &made, sizeof(made));
    }
    if constexpr (sizeof(To) < 4) {
      BC_VECTORIZE
      for (int64_t i = 0; i < count; ++i) out[k + i] = static_cast<To>(wide[i]);
    }
  }
  return whole;
}

template <int From, int To>
void cast_loop(const void* a_, const void*, const void*, void* out_, int64_t n) {
  const auto* a = static_cast<const type_of<From>*>(a_);
  auto* out = static_cast<type_of<To>*>(out_);
  int64_t first = 0;
  if constexpr (is_native_float<type_of<From>> && is_int<type_of<To>> && sizeof(type_of<To>) <= 4 && !is_same<type_of<To>, u32>)
    first = truncate_eights(a, out, n);
  BC_VECTORIZE
  for (int64_t i = first; i < n; ++i) out[i] = cast<type_of<To>>(a[i]);
}

template <int From, int To>
void put_cast(LoopRow* rows) {
  if constexpr (From != To) rows[From][To] = cast_loop<From, To>;
}
template <int From, int... To>
void put_casts(LoopRow* rows, std::integer_sequence<int, To...>) {
  (put_cast<From, To>(rows), ...);
}
template <int... From>
void put_all(LoopRow* rows, std::integer_sequence<int, From...> types) {
  (put_casts<From>(rows, types), ...);
}

struct Pair {
  u64 low, high;
};

template <class T>
void fill_with(void* out_, const void* value, int64_t n) {
  T* out = static_cast<T*>(out_);
  T v;
  __builtin_memcpy(&v, value, sizeof(T));
  for (int64_t i = 0; i < n; ++i) out[i] = v;
}
/// The step is a compile-time constant, so that the compiler uses vector shuffles.
template <class T, int64_t step>
void copy_by(T* __restrict__ out, const T* __restrict__ in, int64_t n) {
  for (int64_t i = 0; i < n; ++i) out[i] = in[i * step];
}
/// Copies elements one by one: assembling vectors takes twice as long.
template <class T>
__attribute__((noinline, optimize("no-tree-vectorize", "no-tree-slp-vectorize"))) void copy_steps(T* __restrict__ out,
                                                                                                  const T* __restrict__ in, int64_t step,
                                                                                                  int64_t n) {
  int64_t i = 0;
  for (; i + 4 <= n; i += 4, in += 4 * step) {
    const T a = in[0], b = in[step], c = in[2 * step], d = in[3 * step];
    out[i] = a, out[i + 1] = b, out[i + 2] = c, out[i + 3] = d;
  }
  for (; i < n; ++i, in += step) out[i] = *in;
}
template <class T>
void copy(void* out_, const void* in_, int64_t step, int64_t n) {
  T* __restrict__ out = static_cast<T*>(out_);
  const T* __restrict__ in = static_cast<const T*>(in_);
  switch (step) {
    case -1: return copy_by<T, -1>(out, in, n);
    case 2: return copy_by<T, 2>(out, in, n);
    case -2: return copy_by<T, -2>(out, in, n);
    case 3: return copy_by<T, 3>(out, in, n);
    case 4: return copy_by<T, 4>(out, in, n);
    default: break;
  }
  copy_steps(out, in, step, n);
}
template <class T>
void copy_if(void* out_, const void* in_, int64_t step, const bool* mask, int64_t n) {
  T* out = static_cast<T*>(out_);
  const T* in = static_cast<const T*>(in_);
  for (int64_t i = 0; i < n; ++i) {
    if (mask[i])
      out[i] = in[i * step];
    else
      out[i] = T();
  }
}
template <class T>
void take(void* out_, const void* in_, int64_t step, const int64_t* at, const bool* mask, int64_t n) {
  T* out = static_cast<T*>(out_);
  const T* in = static_cast<const T*>(in_);
  if (!mask) {
    for (int64_t i = 0; i < n; ++i) out[i] = in[i * step + at[i]];
    return;
  }
  for (int64_t i = 0; i < n; ++i) {
    if (mask[i])
      out[i] = in[i * step + at[i]];
    else
      out[i] = T();
  }
}
/// Transposes a square as wide as a 32-byte vector: exchanges halves of rows, then quarters, then eighths.
template <class T>
void transpose_square(T* out, int64_t columns, const T* in, int64_t step) {
  constexpr int n = 32 / sizeof(T);
  typedef T V __attribute__((vector_size(32)));
  V v[n];
  _Pragma("GCC unroll 8") for (int c = 0; c < n; ++c) v[c] = load_vector<V>(in + c * step);
  const auto exchange = [&](auto distance, auto... lane) __attribute__((always_inline)) {
    constexpr int d = decltype(distance)::value;
    _Pragma("GCC unroll 8") for (int r = 0; r < n; ++r) {
      if (r & d) continue;
      const V a = v[r], b = v[r + d];
      v[r] = __builtin_shufflevector(a, b, (lane & d ? n + lane - d : lane)...);
      v[r + d] = __builtin_shufflevector(a, b, (lane & d ? n + lane : lane + d)...);
    }
  };
  const auto exchange_all = [&]<int... lane>(std::integer_sequence<int, lane...>) __attribute__((always_inline)) {
    if constexpr (n == 8) exchange(std::integral_constant<int, 4>(), std::integral_constant<int, lane>()...);
    exchange(std::integral_constant<int, 2>(), std::integral_constant<int, lane>()...);
    exchange(std::integral_constant<int, 1>(), std::integral_constant<int, lane>()...);
  };
  exchange_all(std::make_integer_sequence<int, n>());
  _Pragma("GCC unroll 8") for (int r = 0; r < n; ++r) __builtin_memcpy(out + r * columns, &v[r], sizeof(V));
}
template <class T>
void transpose(void* out_, const void* in_, int64_t step, int64_t rows, int64_t columns) {
  T* __restrict__ out = static_cast<T*>(out_);
  const T* __restrict__ in = static_cast<const T*>(in_);
  int64_t c = 0;
  if constexpr (sizeof(T) == 4 || sizeof(T) == 8) {
    constexpr int64_t n = 32 / sizeof(T);
    for (; c + n <= columns; c += n) {
      int64_t r = 0;
      for (; r + n <= rows; r += n) transpose_square(out + r * columns + c, columns, in + r + c * step, step);
      for (; r < rows; ++r)
        for (int64_t k = c; k < c + n; ++k) out[r * columns + k] = in[r + k * step];
    }
  }
  for (; c < columns; ++c)
    for (int64_t r = 0; r < rows; ++r) out[r * columns + c] = in[r + c * step];
}
template <class T>
void spread(void* out_, int64_t step, const void* in_, int64_t n) {
  T* out = static_cast<T*>(out_);
  const T* in = static_cast<const T*>(in_);
  for (int64_t i = 0; i < n; ++i) out[i * step] = in[i];
}
template <class T>
void spread_if(void* out_, int64_t step, const void* in_, const bool* mask, int64_t n) {
  T* out = static_cast<T*>(out_);
  const T* in = static_cast<const T*>(in_);
  for (int64_t i = 0; i < n; ++i)
    if (mask[i]) out[i * step] = in[i];
}

template <class T>
constexpr Moves moves_of() {
  return {fill_with<T>, copy<T>, copy_if<T>, take<T>, transpose<T>, spread<T>, spread_if<T>};
}

}  // namespace

void fill_casts(LoopRow* rows) { put_all(rows, std::make_integer_sequence<int, kTypes>()); }

const Moves kMoves[5] = {moves_of<u8>(), moves_of<u16>(), moves_of<u32>(), moves_of<u64>(), moves_of<Pair>()};

void count_up(int64_t* out, int64_t first, int64_t step, int64_t n) {
  for (int64_t i = 0; i < n; ++i) out[i] = first + i * step;
}

void add_index(int64_t* out, const int64_t* before, const int64_t* index, const bool* mask, int64_t extent, int64_t stride, uint32_t* error,
               int64_t n) {
  u32 bad = 0;
  for (int64_t i = 0; i < n; ++i) {
    const int64_t at = wrap_index(!mask || mask[i] ? index[i] : 0, extent, &bad) * stride;
    out[i] = before ? before[i] + at : at;
  }
  if (bad) *error = 1;
}

void test_inside(bool* out, const bool* before, const int64_t* c, int64_t lower, int64_t count, int64_t step, int64_t n) {
  if (before) {
    for (int64_t i = 0; i < n; ++i) out[i] = before[i] & in_range(c[i], lower, count, step);
  } else {
    for (int64_t i = 0; i < n; ++i) out[i] = in_range(c[i], lower, count, step);
  }
}

}  // namespace bc::tier0
