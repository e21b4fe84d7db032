#pragma once
#include <algorithm>
#include <cstdint>
#include <functional>
#include <span>
#include <type_traits>
#include <utility>

namespace bc::cpu {

/// A 128-bit key in Highway's layout: `high` has the leading bits.
struct WideKey {
  uint64_t low, high;
};
inline bool operator<(const WideKey& a, const WideKey& b) { return a.high != b.high ? a.high < b.high : a.low < b.low; }

/// Sorts n numbers ascending, in place. With `parallel` long lists are sorted on all threads. T: uint8_t, (u)int16_t, (u)int32_t,
/// (u)int64_t, WideKey. (Floats with infinities must be converted to keys, because vqsort of Highway 1.0 loses them.)
template <class T>
void sort_numbers(T* numbers, int64_t n, bool parallel);

/// Sorts n floats ascending on the calling thread, in place, with -0.0 before 0.0. Returns false, with the floats unchanged, if an infinity
/// or a NaN is among them: then their keys must be sorted. T: float, double.
template <class T>
bool sort_finite(T* numbers, int64_t n);

/// A function that puts the keys of the given ranks (ascending) where a sort would put them.
template <class K>
using PartFunction = const std::function<void(K* keys, int64_t n, std::span<const int64_t> ranks)>&;

/// Copies n keys to `out` and partitions them: the keys of the given ranks (ascending) are where a sort would put them, with no greater key
/// before and no smaller key after each. The keys are split around keys of a sample, and `arrange` partitions the short parts that contain
/// the ranks. Keys with equal quotients by `grain` stay in one part. K: uint32_t, uint64_t.
template <class K>
void partition(const K* keys, int64_t n, std::span<const int64_t> ranks, K* out, bool parallel, K grain, PartFunction<K> arrange);

/// Puts the elements of the given ranks (ascending, in [begin, end)) where a sort of that range would put them.
template <class T, class Less = std::less<>>
void place_ranks(T* first, int64_t begin, int64_t end, std::span<const int64_t> ranks, Less less = {}) {
  for (const int64_t rank : ranks) {
    // What lies before `begin` is in place already, so the element of the next rank is the least of the rest.
    if (rank == begin)
      std::swap(first[rank], *std::min_element(first + rank, first + end, less));
    else
      std::nth_element(first + begin, first + rank, first + end, less);
    begin = rank + 1;
  }
}

constexpr int64_t kSorted = 1024;  // a vectorised sort of as few keys takes less time than a partition

/// Puts the keys of the given ranks (ascending) where a sort would put them.
template <class K>
void partition_in_place(K* keys, int64_t n, std::span<const int64_t> ranks) {
  if constexpr (std::is_same_v<K, uint32_t> || std::is_same_v<K, uint64_t>) {
    if (n <= kSorted) return sort_numbers(keys, n, false);
  }
  place_ranks(keys, 0, n, ranks);
}

}  // namespace bc::cpu
