#pragma once
#include <cstdint>
#include <functional>
#include <span>

namespace bc::cpu {

/// A key of 128 bits as Highway lays it out: `high` decides first.
struct WideKey {
  uint64_t low, high;
};
inline bool operator<(const WideKey& a, const WideKey& b) { return a.high != b.high ? a.high < b.high : a.low < b.low; }

/// Sorts n numbers ascending, in place. With `parallel` long lists are sorted in pieces on all threads, which are then merged.
/// T: uint8_t, (u)int16_t, (u)int32_t, (u)int64_t, WideKey. (Floats come as keys: vqsort of Highway 1.0 loses infinities.)
template <class T>
void sort_numbers(T* numbers, int64_t n, bool parallel);

/// Puts the keys of some ranks (ascending) of n keys where a sort would put them.
template <class K>
using PartFunction = const std::function<void(K* keys, int64_t n, std::span<const int64_t> ranks)>&;

/// Copies n keys to `out`, with those of some ranks (ascending) where a sort would put them, none greater before and none less behind
/// them. A sample says around which keys to split; the parts that hold the ranks, which are short, are left to `arrange`. Keys that are
/// equal when divided by `grain` stay in one part. K: uint32_t, uint64_t.
template <class K>
void partition(const K* keys, int64_t n, std::span<const int64_t> ranks, K* out, bool parallel, K grain, PartFunction<K> arrange);

}  // namespace bc::cpu
