#pragma once
#include <cstdint>
#include <span>

namespace bc::cpu {

/// The maximum number of parts.
inline constexpr int kMostParts = 16;

/// Copies n keys to `to` in pivots.size() + 1 parts, on all threads with `parallel`: part j has the keys in [pivots[j - 1], pivots[j]), in
/// no particular order. Pivots ascend; there are fewer than kMostParts. bounds[j] becomes the end of part j. K: (u)int16_t, (u)int32_t,
/// (u)int64_t.
template <class K>
void split(const K* keys, int64_t n, std::span<const K> pivots, K* to, int64_t* bounds, bool parallel);

}  // namespace bc::cpu
