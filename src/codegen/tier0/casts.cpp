// Tier 0: casts between every two dtypes, and the moves of elements into and out of a block.
#include "codegen/tier0/loops.h"

namespace bc::tier0 {
namespace {

template <int From, int To>
void cast_loop(const void* a_, const void*, const void*, void* out_, int64_t n) {
  const auto* a = static_cast<const type_of<From>*>(a_);
  auto* out = static_cast<type_of<To>*>(out_);
  BC_VECTORIZE
  for (int64_t i = 0; i < n; ++i) out[i] = cast<type_of<To>>(a[i]);
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
/// With a step that the compiler knows, so that it makes shuffles of vectors of it.
template <class T, int64_t step>
void copy_by(T* __restrict__ out, const T* __restrict__ in, int64_t n) {
  for (int64_t i = 0; i < n; ++i) out[i] = in[i * step];
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
  // Loads wait for memory: eight are under way at once.
  int64_t i = 0;
  for (; i + 8 <= n; i += 8, in += 8 * step) {
    const T v[8] = {in[0], in[step], in[2 * step], in[3 * step], in[4 * step], in[5 * step], in[6 * step], in[7 * step]};
    __builtin_memcpy(out + i, v, sizeof(v));
  }
  for (; i < n; ++i, in += step) out[i] = *in;
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
  return {fill_with<T>, copy<T>, copy_if<T>, take<T>, spread<T>, spread_if<T>};
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
