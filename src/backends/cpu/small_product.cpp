#include "backends/cpu/small_product.h"

#include <algorithm>

#include "core/cpu_level.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace bc::cpu {

#if defined(__x86_64__)
namespace {

#if defined(__clang__)
#define BC_UNROLL _Pragma("clang loop unroll(full)")
#else
#define BC_UNROLL _Pragma("GCC unroll 32")
#endif

/// The masks of the first 0 to 8 of eight lanes begin at 8 - count.
alignas(64) constexpr int kFirst[16] = {-1, -1, -1, -1, -1, -1, -1, -1, 0, 0, 0, 0, 0, 0, 0, 0};

// Pragmas instead of an attribute on each function, because vector code is generated for the target of the enclosing function.
#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx2,fma"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx2,fma")
#endif
namespace avx2 {
template <class T>
struct Vectors;
template <>
struct Vectors<float> {
  using Vector = __m256;
  using Mask = __m256i;
  static constexpr int64_t kLanes = 8;
  static constexpr int kRows = 4;  // with three vectors of b, all 16 registers
  static Vector zero() { return _mm256_setzero_ps(); }
  static Vector broadcast(float x) { return _mm256_set1_ps(x); }
  static Mask first(int64_t count) { return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(kFirst + 8 - count)); }
  static Vector load(const float* from) { return _mm256_loadu_ps(from); }
  static Vector load(const float* from, Mask mask) { return _mm256_maskload_ps(from, mask); }
  static void store(float* to, Vector x) { _mm256_storeu_ps(to, x); }
  // AMD's processors take tens of cycles for a masked store, also where the mask is full.
  static void store(float* to, Vector x, Mask mask) {
    if (_mm256_movemask_ps(_mm256_castsi256_ps(mask)) == 0xff)
      store(to, x);
    else
      _mm256_maskstore_ps(to, mask, x);
  }
  static Vector multiply_add(Vector a, Vector b, Vector c) { return _mm256_fmadd_ps(a, b, c); }
};
template <>
struct Vectors<double> {
  using Vector = __m256d;
  using Mask = __m256i;
  static constexpr int64_t kLanes = 4;
  static constexpr int kRows = 4;  // with three vectors of b, all 16 registers
  static Vector zero() { return _mm256_setzero_pd(); }
  static Vector broadcast(double x) { return _mm256_set1_pd(x); }
  static Mask first(int64_t count) { return _mm256_cvtepi32_epi64(_mm_loadu_si128(reinterpret_cast<const __m128i*>(kFirst + 8 - count))); }
  static Vector load(const double* from) { return _mm256_loadu_pd(from); }
  static Vector load(const double* from, Mask mask) { return _mm256_maskload_pd(from, mask); }
  static void store(double* to, Vector x) { _mm256_storeu_pd(to, x); }
  static void store(double* to, Vector x, Mask mask) {
    if (_mm256_movemask_pd(_mm256_castsi256_pd(mask)) == 0xf)
      store(to, x);
    else
      _mm256_maskstore_pd(to, mask, x);
  }
  static Vector multiply_add(Vector a, Vector b, Vector c) { return _mm256_fmadd_pd(a, b, c); }
};
#include "backends/cpu/small_product.inc.h"
}  // namespace avx2
#if defined(__clang__)
#pragma clang attribute pop
#pragma clang attribute push(__attribute__((target("avx512f,avx512vl,prefer-512-bit"))), apply_to = function)
#else
#pragma GCC pop_options
#pragma GCC push_options
#pragma GCC target("avx512f,avx512vl,prefer-vector-width=512")
#endif
namespace avx512 {
template <class T>
struct Vectors;
template <>
struct Vectors<float> {
  using Vector = __m512;
  using Mask = __mmask16;
  static constexpr int64_t kLanes = 16;
  static constexpr int kRows = 8;
  static Vector zero() { return _mm512_setzero_ps(); }
  static Vector broadcast(float x) { return _mm512_set1_ps(x); }
  static Mask first(int64_t count) { return static_cast<Mask>((1u << count) - 1); }
  static Vector load(const float* from) { return _mm512_loadu_ps(from); }
  static Vector load(const float* from, Mask mask) { return _mm512_maskz_loadu_ps(mask, from); }
  static void store(float* to, Vector x) { _mm512_storeu_ps(to, x); }
  static void store(float* to, Vector x, Mask mask) { _mm512_mask_storeu_ps(to, mask, x); }
  static Vector multiply_add(Vector a, Vector b, Vector c) { return _mm512_fmadd_ps(a, b, c); }
};
template <>
struct Vectors<double> {
  using Vector = __m512d;
  using Mask = __mmask8;
  static constexpr int64_t kLanes = 8;
  static constexpr int kRows = 8;
  static Vector zero() { return _mm512_setzero_pd(); }
  static Vector broadcast(double x) { return _mm512_set1_pd(x); }
  static Mask first(int64_t count) { return static_cast<Mask>((1u << count) - 1); }
  static Vector load(const double* from) { return _mm512_loadu_pd(from); }
  static Vector load(const double* from, Mask mask) { return _mm512_maskz_loadu_pd(mask, from); }
  static void store(double* to, Vector x) { _mm512_storeu_pd(to, x); }
  static void store(double* to, Vector x, Mask mask) { _mm512_mask_storeu_pd(to, mask, x); }
  static Vector multiply_add(Vector a, Vector b, Vector c) { return _mm512_fmadd_pd(a, b, c); }
};
#include "backends/cpu/small_product.inc.h"
}  // namespace avx512
#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif

constexpr int64_t kMost = 32;

/// A product with a matrix that is read along its columns: with a copy of it, so that the sums are the same, bit for bit, for every layout.
template <class T, TileFunction Run>
void with_copy(const TileShape& s, const void* a, const void* b_data, void* c) {
  const T* b = static_cast<const T*>(b_data);
  T rows[kMost * kMost];
  for (int64_t j = 0; j < s.n; ++j)
    for (int64_t p = 0; p < s.k; ++p) rows[p * s.n + j] = b[p * s.b_row + j * s.b_column];
  TileShape contiguous = s;
  contiguous.b_row = s.n;
  contiguous.b_column = 1;
  Run(contiguous, a, rows, c);
}

template <class T, TileFunction Run>
TileFunction for_layout(const TileShape& s) {
  return s.b_column == 1 ? Run : &with_copy<T, Run>;
}

template <class T>
TileFunction choose(const TileShape& s) {
  // OpenBLAS is faster for products with a vector and for large products.
  const CpuLevel level = cpu_level();
  if (s.m < 2 || s.n < 2 || level < CpuLevel::v3 || s.m > kMost || s.n > kMost || s.k > kMost) return nullptr;
  // For narrow matrices half of a wide vector would be unused.
  if (level >= CpuLevel::v4 && s.n > avx2::Vectors<T>::kLanes) return for_layout<T, &avx512::SmallProduct<T>::run>(s);
  return for_layout<T, &avx2::SmallProduct<T>::run>(s);
}

}  // namespace

TileFunction small_product(DType dtype, const TileShape& shape) {
  if (dtype == DType::f32) return choose<float>(shape);
  if (dtype == DType::f64) return choose<double>(shape);
  return nullptr;
}
#else
TileFunction small_product(DType, const TileShape&) { return nullptr; }
#endif

}  // namespace bc::cpu
