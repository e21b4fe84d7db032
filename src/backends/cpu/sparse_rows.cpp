#include "backends/cpu/sparse_rows.h"

#include <algorithm>

#include "core/cpu_level.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace bc::cpu {

#if defined(__x86_64__)
namespace {

// Pragmas instead of an attribute on each function, because vector code is generated for the target of the enclosing function.
#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,prefer-512-bit"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx512f,avx512bw,avx512dq,avx512vl,prefer-vector-width=512")
#endif

/// A vector of eight elements, or of sixteen for float with int32 indices.
template <class T, class I>
struct Lanes;
template <>
struct Lanes<double, int32_t> {
  using Vector = __m512d;
  static constexpr int64_t kCount = 8;
  static Vector zero() { return _mm512_setzero_pd(); }
  static Vector load(__mmask16 k, const double* p) { return _mm512_maskz_loadu_pd(static_cast<__mmask8>(k), p); }
  static void store(double* p, __mmask16 k, Vector v) { _mm512_mask_storeu_pd(p, static_cast<__mmask8>(k), v); }
  static Vector gather(__mmask16 k, const int32_t* i, const double* x) {
    const auto m = static_cast<__mmask8>(k);
    return _mm512_mask_i32gather_pd(zero(), m, _mm256_maskz_loadu_epi32(m, i), x, 8);
  }
  static Vector splat(double v) { return _mm512_set1_pd(v); }
  static Vector add_product(Vector a, Vector b, Vector c) { return _mm512_add_pd(c, _mm512_mul_pd(a, b)); }
  static double sum(Vector v) { return _mm512_reduce_add_pd(v); }
};
template <>
struct Lanes<double, int64_t> : Lanes<double, int32_t> {
  static Vector gather(__mmask16 k, const int64_t* i, const double* x) {
    const auto m = static_cast<__mmask8>(k);
    return _mm512_mask_i64gather_pd(zero(), m, _mm512_maskz_loadu_epi64(m, i), x, 8);
  }
};
template <>
struct Lanes<float, int32_t> {
  using Vector = __m512;
  static constexpr int64_t kCount = 16;
  static Vector zero() { return _mm512_setzero_ps(); }
  static Vector load(__mmask16 k, const float* p) { return _mm512_maskz_loadu_ps(k, p); }
  static void store(float* p, __mmask16 k, Vector v) { _mm512_mask_storeu_ps(p, k, v); }
  static Vector gather(__mmask16 k, const int32_t* i, const float* x) {
    return _mm512_mask_i32gather_ps(zero(), k, _mm512_maskz_loadu_epi32(k, i), x, 4);
  }
  static Vector splat(float v) { return _mm512_set1_ps(v); }
  static Vector add_product(Vector a, Vector b, Vector c) { return _mm512_add_ps(c, _mm512_mul_ps(a, b)); }
  static float sum(Vector v) { return _mm512_reduce_add_ps(v); }
};
template <>
struct Lanes<float, int64_t> : Lanes<float, int32_t> {
  static Vector gather(__mmask16 k, const int64_t* i, const float* x) {
    const auto low = static_cast<__mmask8>(k), high = static_cast<__mmask8>(k >> 8);
    const __m256 first = _mm512_mask_i64gather_ps(_mm256_setzero_ps(), low, _mm512_maskz_loadu_epi64(low, i), x, 4);
    const __m256 second = _mm512_mask_i64gather_ps(_mm256_setzero_ps(), high, _mm512_maskz_loadu_epi64(high, i + 8), x, 4);
    return _mm512_insertf32x8(_mm512_castps256_ps512(first), second, 1);
  }
};

/// The mask of the first `count` lanes; empty if count <= 0.
__mmask16 first_lanes(int64_t count) { return static_cast<__mmask16>((1u << std::clamp<int64_t>(count, 0, 16)) - 1); }

/// Rows times a vector. A branch on the row's length would be mispredicted (15 cycles, as long as six elements), so two vectors are always
/// processed; for a short row the second has an empty mask.
template <class T, class I>
void by_vector(const T* data, const I* indices, const I* indptr, const T* x, T* y, int64_t begin, int64_t end) {
  using L = Lanes<T, I>;
  for (int64_t i = begin; i < end; ++i) {
    const T* d = data + indptr[i];
    const I* at = indices + indptr[i];
    int64_t rest = indptr[i + 1] - indptr[i];
    typename L::Vector even = L::zero(), odd = L::zero();
    do {
      const __mmask16 k = first_lanes(rest), next = first_lanes(rest - L::kCount);
      even = L::add_product(L::load(k, d), L::gather(k, at, x), even);
      odd = L::add_product(L::load(next, d + L::kCount), L::gather(next, at + L::kCount, x), odd);
      d += 2 * L::kCount;
      at += 2 * L::kCount;
      rest -= 2 * L::kCount;
    } while (rest > 0);
    y[i] = L::sum(even) + L::sum(odd);
  }
}

/// Rows times a matrix: up to kVectors vectors of a row's sums stay in registers. The rows of x are scattered in memory, so they are
/// prefetched.
template <class T, class I, int kVectors>
void by_columns(const T* data, const I* indices, const I* indptr, const T* x, int64_t width, int64_t column, T* y, int64_t begin,
                int64_t end) {
  using L = Lanes<T, int32_t>;
  constexpr int64_t kAhead = 8;
  constexpr int64_t kLine = 64 / sizeof(T);
  const int64_t here = std::min<int64_t>(width - column, kVectors * L::kCount), last = indptr[end];
  __mmask16 masks[kVectors];
  for (int v = 0; v < kVectors; ++v)
    masks[v] = L::kCount == 8 ? first_lanes(std::min<int64_t>(here - v * 8, 8)) : first_lanes(here - v * 16);
  for (int64_t i = begin; i < end; ++i) {
    typename L::Vector sums[kVectors];
    for (int v = 0; v < kVectors; ++v) sums[v] = L::zero();
    for (int64_t j = indptr[i]; j < indptr[i + 1]; ++j) {
      const T* ahead = x + indices[std::min(j + kAhead, last - 1)] * width + column;
      for (int64_t c = 0; c < kVectors * L::kCount; c += kLine) _mm_prefetch(reinterpret_cast<const char*>(ahead + c), _MM_HINT_T0);
      const typename L::Vector factor = L::splat(data[j]);
      const T* from = x + indices[j] * width + column;
      for (int v = 0; v < kVectors; ++v) sums[v] = L::add_product(factor, L::load(masks[v], from + v * L::kCount), sums[v]);
    }
    for (int v = 0; v < kVectors; ++v) L::store(y + i * width + column + v * L::kCount, masks[v], sums[v]);
  }
}

/// The same without gathers, which AMD's processors take apart into more steps than loads.
template <class T, class I>
void by_vector_loads(const T* data, const I* indices, const I* indptr, const T* x, T* y, int64_t begin, int64_t end) {
  for (int64_t i = begin; i < end; ++i) {
    int64_t j = indptr[i];
    const int64_t last = indptr[i + 1];
    T even = 0, odd = 0;
    for (; j + 1 < last; j += 2) {
      even += data[j] * x[indices[j]];
      odd += data[j + 1] * x[indices[j + 1]];
    }
    if (j < last) even += data[j] * x[indices[j]];
    y[i] = even + odd;
  }
}

template <class T, class I>
void rows(const T* data, const I* indices, const I* indptr, const T* x, int64_t width, T* y, int64_t begin, int64_t end) {
  static const bool loads = __builtin_cpu_is("amd");
  if (width == 1 && loads) return by_vector_loads(data, indices, indptr, x, y, begin, end);
  if (width == 1) return by_vector(data, indices, indptr, x, y, begin, end);
  constexpr int64_t kCount = Lanes<T, int32_t>::kCount;
  for (int64_t column = 0; column < width; column += 4 * kCount) {
    if (width - column <= kCount)
      by_columns<T, I, 1>(data, indices, indptr, x, width, column, y, begin, end);
    else
      by_columns<T, I, 4>(data, indices, indptr, x, width, column, y, begin, end);
  }
}

#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif

}  // namespace

template <class T, class I>
SparseRows<T, I> sparse_rows() {
  return cpu_level() >= CpuLevel::v4 ? &rows<T, I> : nullptr;
}

#else

template <class T, class I>
SparseRows<T, I> sparse_rows() {
  return nullptr;
}

#endif

template SparseRows<float, int32_t> sparse_rows();
template SparseRows<float, int64_t> sparse_rows();
template SparseRows<double, int32_t> sparse_rows();
template SparseRows<double, int64_t> sparse_rows();

}  // namespace bc::cpu
