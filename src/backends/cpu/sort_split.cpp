// Splits lists of keys around pivots: vectors of keys are compared with each pivot, and those of a part are packed and stored together.
#include "backends/cpu/sort_split.h"

#include <algorithm>
#include <bit>
#include <type_traits>
#include <vector>

#include "core/cpu_level.h"
#include "runtime/parallel.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace bc::cpu {
namespace {

constexpr int64_t kSplitGrain = 1 << 15;  // keys that a thread takes at least

namespace base {
template <class K>
int part_of(K key, const K* pivots, int parts) {
  int part = 0;
  for (int j = 0; j + 1 < parts; ++j) part += key >= pivots[j];
  return part;
}
template <class K>
void count(const K* keys, int64_t n, const K* pivots, int parts, int64_t* counts) {
  for (int64_t i = 0; i < n; ++i) ++counts[part_of(keys[i], pivots, parts)];
}
template <class K>
void move(const K* keys, int64_t n, const K* pivots, int parts, K** to) {
  for (int64_t i = 0; i < n; ++i) *to[part_of(keys[i], pivots, parts)]++ = keys[i];
}
}  // namespace base

#if defined(__x86_64__)
// The pragmas, not an attribute on each function: vectors are lowered for the target of the function they are written in.
#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx512f,avx512bw,avx512vl,avx512dq,popcnt,prefer-512-bit"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx512f,avx512bw,avx512vl,avx512dq,popcnt,prefer-vector-width=512")
#endif
namespace avx512 {
template <class K>
struct Vectors {
  static constexpr bool kWide = sizeof(K) == 8, kSigned = std::is_signed_v<K>;
  static constexpr int kLanes = 64 / sizeof(K);
  static __m512i all(K x) { return kWide ? _mm512_set1_epi64(static_cast<int64_t>(x)) : _mm512_set1_epi32(static_cast<int32_t>(x)); }
  static uint32_t below(__m512i a, __m512i b) {
    if constexpr (kWide) return kSigned ? _mm512_cmplt_epi64_mask(a, b) : _mm512_cmplt_epu64_mask(a, b);
    return kSigned ? _mm512_cmplt_epi32_mask(a, b) : _mm512_cmplt_epu32_mask(a, b);
  }
  /// Stores the lanes of a mask side by side, and nothing behind them.
  static K* store(K* to, __m512i v, uint32_t mask) {
    const int many = std::popcount(mask);
    const auto first = static_cast<uint32_t>((1u << many) - 1);
    if constexpr (kWide)
      _mm512_mask_storeu_epi64(to, static_cast<__mmask8>(first), _mm512_maskz_compress_epi64(static_cast<__mmask8>(mask), v));
    else
      _mm512_mask_storeu_epi32(to, static_cast<__mmask16>(first), _mm512_maskz_compress_epi32(static_cast<__mmask16>(mask), v));
    return to + many;
  }
};

template <class K>
void count(const K* keys, int64_t n, const K* pivots, int parts, int64_t* counts) {
  using V = Vectors<K>;
  int64_t i = 0, below[kMostParts] = {};
  for (int j = 0; j + 1 < parts; ++j) {
    const __m512i pivot = V::all(pivots[j]);
    for (i = 0; i + V::kLanes <= n; i += V::kLanes) below[j] += std::popcount(V::below(_mm512_loadu_si512(keys + i), pivot));
  }
  i = n / V::kLanes * V::kLanes;
  for (int j = 0; j < parts; ++j) counts[j] += (j + 1 < parts ? below[j] : i) - (j > 0 ? below[j - 1] : 0);
  base::count(keys + i, n - i, pivots, parts, counts);
}
template <class K>
void move(const K* keys, int64_t n, const K* pivots, int parts, K** to) {
  using V = Vectors<K>;
  int64_t i = 0;
  __m512i pivot[kMostParts];
  for (int j = 0; j + 1 < parts; ++j) pivot[j] = V::all(pivots[j]);
  for (; i + V::kLanes <= n; i += V::kLanes) {
    const __m512i v = _mm512_loadu_si512(keys + i);
    uint32_t before = 0;
    for (int j = 0; j + 1 < parts; ++j) {
      const uint32_t below = V::below(v, pivot[j]);
      to[j] = V::store(to[j], v, below ^ before);
      before = below;
    }
    to[parts - 1] = V::store(to[parts - 1], v, before ^ ((1u << V::kLanes) - 1));
  }
  base::move(keys + i, n - i, pivots, parts, to);
}
}  // namespace avx512
#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif
#endif

/// Strips that stay in the first-level cache between one pivot and the next.
constexpr int64_t kStrip = 1 << 12;

template <class K>
void count_parts(const K* keys, int64_t n, const K* pivots, int parts, int64_t* counts) {
#if defined(__x86_64__)
  if constexpr (sizeof(K) >= 4) {
    if (cpu_level() >= CpuLevel::v4) {
      for (int64_t i = 0; i < n; i += kStrip) avx512::count(keys + i, std::min(kStrip, n - i), pivots, parts, counts);
      return;
    }
  }
#endif
  base::count(keys, n, pivots, parts, counts);
}
template <class K>
void move_parts(const K* keys, int64_t n, const K* pivots, int parts, K** to) {
#if defined(__x86_64__)
  if constexpr (sizeof(K) >= 4)
    if (cpu_level() >= CpuLevel::v4) return avx512::move(keys, n, pivots, parts, to);
#endif
  base::move(keys, n, pivots, parts, to);
}

}  // namespace

template <class K>
void split(const K* keys, int64_t n, std::span<const K> pivots, K* to, int64_t* bounds, bool parallel) {
  const int parts = static_cast<int>(pivots.size()) + 1;
  const int64_t piece =
      parallel ? std::max<int64_t>(kSplitGrain, (n + 2 * thread_limit() - 1) / (2 * thread_limit())) : std::max<int64_t>(n, 1);
  const int64_t pieces = (n + piece - 1) / piece;
  struct Counts {
    int64_t of[kMostParts] = {};
  };
  std::vector<Counts> counts(static_cast<size_t>(pieces));
  const auto each_piece = [&](auto&& body) {
    parallel_for(pieces, 1, [&](int64_t begin, int64_t end) {
      for (int64_t p = begin; p < end; ++p) body(counts[static_cast<size_t>(p)].of, keys + p * piece, std::min(piece, n - p * piece));
    });
  };
  each_piece([&](int64_t* of, const K* from, int64_t many) { count_parts(from, many, pivots.data(), parts, of); });
  int64_t at = 0;
  for (int j = 0; j < parts; ++j) {
    for (Counts& c : counts) {
      const int64_t many = c.of[j];
      c.of[j] = at;
      at += many;
    }
    bounds[j] = at;
  }
  each_piece([&](const int64_t* of, const K* from, int64_t many) {
    K* places[kMostParts];
    for (int j = 0; j < parts; ++j) places[j] = to + of[j];
    move_parts(from, many, pivots.data(), parts, places);
  });
}

template void split(const int16_t*, int64_t, std::span<const int16_t>, int16_t*, int64_t*, bool);
template void split(const uint16_t*, int64_t, std::span<const uint16_t>, uint16_t*, int64_t*, bool);
template void split(const int32_t*, int64_t, std::span<const int32_t>, int32_t*, int64_t*, bool);
template void split(const uint32_t*, int64_t, std::span<const uint32_t>, uint32_t*, int64_t*, bool);
template void split(const int64_t*, int64_t, std::span<const int64_t>, int64_t*, int64_t*, bool);
template void split(const uint64_t*, int64_t, std::span<const uint64_t>, uint64_t*, int64_t*, bool);

}  // namespace bc::cpu
