#pragma once
#include <cstdint>

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

}  // namespace bc::cpu
