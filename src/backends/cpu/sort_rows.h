#pragma once
#include <algorithm>
#include <cstdint>
#include <span>

namespace bc::cpu {

/// Two places of a line; the lesser of their elements goes to `low`.
struct Comparator {
  int low, high;
};

/// Comparators by which n elements are sorted, one after the other (Batcher, "Sorting networks and their applications", 1968: odd-even
/// merges), where runs of `sorted` elements, a power of two, are sorted already. They live as long as the
/// process.
std::span<const Comparator> sorting_network(int n, int sorted = 1);

constexpr int kLanes = 16;  // lines side by side

/// Numbers of adjacent lines that a processor handles at once, at most `kBytes` of them.
template <class S, int kBytes>
struct Lanes {
  static constexpr int kSize = std::min<int>(kBytes, kLanes * sizeof(S));
  static constexpr int kCount = kLanes * static_cast<int>(sizeof(S)) / kSize;
  typedef S Vector [[gnu::vector_size(kSize), gnu::may_alias]];
};

/// How numbers become signed ones of the same order, and back: the bits of `flip` change, in negative numbers those of `of_negative` too;
/// what then has a larger magnitude than `largest` (NaN) becomes the greatest number. S: int32_t, int64_t.
template <class S>
struct RowOrder {
  S flip, of_negative, largest;
};

/// The fewest numbers of so many bytes, and the most, of a row that sort_rows() takes on this processor; it takes none where 0 are the
/// most.
int least_of_row(int item);
int most_of_row();
/// The comparators that sort_rows() runs for rows of n numbers of so many bytes.
std::span<const Comparator> row_network(int n, int item);

/// Sorts `some` rows, at most kLanes, of n contiguous numbers each, from `from[row]` into `out`, one after the other. S: int32_t, int64_t.
template <class S>
void sort_rows(const S* const* from, int n, int some, RowOrder<S> order, std::span<const Comparator> network, S* out);

}  // namespace bc::cpu
