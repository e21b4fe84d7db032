// Numbers sorted by Highway's vqsort (Blacher, Giesen, Sanders & Wassenberg, "Vectorized and performance-portable quicksort", 2022).
#include "backends/cpu/sort_keys.h"

#include <hwy/contrib/sort/vqsort.h>
#include <hwy/targets.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>
#include <vector>

#include "backends/cpu/sort_split.h"
#include "core/cpu_level.h"
#include "graph/node.h"
#include "runtime/backend.h"
#include "runtime/parallel.h"

namespace bc::cpu {
namespace {

constexpr int64_t kShort = 16;          // below this, insertion sort or std::sort take less time than the start of vqsort
constexpr int64_t kParallel = 1 << 15;  // from this number of keys on, several threads are used
constexpr int64_t kPiece = 1 << 16;     // keys of a run before runs are merged
constexpr int64_t kMergeGrain = 1 << 14;
constexpr int64_t kCounted = 1 << 10;  // from this number of keys on, counting sort is tried
constexpr int64_t kMostValues = 1 << 16;

/// Sorts keys from a small range of values by counting. Returns false, with the keys unchanged, if the range is too large.
template <class K>
bool sort_by_counts(K* keys, int64_t n) {
  if constexpr (std::is_integral_v<K>) {
    if (n < kCounted) return false;
    K low = keys[0], high = keys[0];
    const auto span_of = [&] { return static_cast<uint64_t>(high) - static_cast<uint64_t>(low); };
    const auto most = static_cast<uint64_t>(std::min(n, kMostValues));
    // A few keys already tell most lists with a large range.
    for (int64_t i = 0; i < n; i += n / 32) low = std::min(low, keys[i]), high = std::max(high, keys[i]);
    if (span_of() >= most) return false;
    for (int64_t i = 1; i < n; ++i) low = std::min(low, keys[i]), high = std::max(high, keys[i]);
    const uint64_t span = span_of();
    if (span >= most) return false;
    std::vector<int64_t> counts(span + 1);
    for (int64_t i = 0; i < n; ++i) ++counts[static_cast<uint64_t>(keys[i]) - static_cast<uint64_t>(low)];
    for (uint64_t k = 0; k <= span; ++k) keys = std::fill_n(keys, counts[k], static_cast<K>(static_cast<uint64_t>(low) + k));
    return true;
  }
  return false;
}

/// One for each thread and all types of keys, because its allocation takes as long as sorting two hundred keys.
const hwy::Sorter& sorter() {
  static thread_local const hwy::Sorter made;
  return made;
}

/// Chooses the instructions that vqsort runs on for numbers of a size. AMD's processors store packed lanes by microcode: the AVX-512 form
/// of Highway 1.0 packs numbers of 32 bits so, and takes five times as long as that of AVX2. (It packs 64 bits by tables, and 16 bits as
/// pairs.)
void choose_instructions(size_t size) {
#if defined(__x86_64__)
  static const bool slow = __builtin_cpu_is("amd") && __builtin_cpu_supports("avx512f");
  if (!slow) return;
  static const int64_t all = hwy::SupportedTargets();
  // Of all threads together: one that sorts other numbers meanwhile is slower, and no less right.
  hwy::GetChosenTarget().Update(size == 4 ? all & ~(HWY_AVX3 | HWY_AVX3_DL) : all);
#endif
}

template <class K>
void sort_piece(K* keys, int64_t n) {
  if (n < kShort) {
    std::sort(keys, keys + n);
    return;
  }
  if (sort_by_counts(keys, n)) return;
  static_assert(sizeof(hwy::uint128_t) == sizeof(WideKey));
  choose_instructions(sizeof(K));
  if constexpr (std::is_same_v<K, WideKey>)
    sorter()(reinterpret_cast<hwy::uint128_t*>(keys), static_cast<size_t>(n), hwy::SortAscending());
  else
    sorter()(keys, static_cast<size_t>(n), hwy::SortAscending());
}

/// A sorted sample of `count` keys from pseudo-random positions.
template <class K>
std::vector<K> sample_of(const K* keys, int64_t n, int64_t count) {
  std::vector<K> sample(static_cast<size_t>(count));
  uint64_t random = 0x9e3779b97f4a7c15;
  for (K& s : sample) {
    random = random * 6364136223846793005 + 1442695040888963407;
    s = keys[static_cast<uint64_t>(static_cast<unsigned __int128>(random) * static_cast<uint64_t>(n) >> 64)];
  }
  sort_piece(sample.data(), count);
  return sample;
}

/// How many of the first `count` keys of the merged list come from a (Odeh, Green, Mwassi, Shmueli & Birk, "Merge Path", 2012).
template <class K>
int64_t taken_from_first(const K* a, int64_t na, const K* b, int64_t nb, int64_t count) {
  int64_t low = std::max<int64_t>(0, count - nb), high = std::min(count, na);
  while (low < high) {
    const int64_t middle = (low + high) / 2;
    if (b[count - middle - 1] < a[middle])
      high = middle;
    else
      low = middle + 1;
  }
  return low;
}

template <class K>
void merge_piece(const K* a, const K* a_end, const K* b, const K* b_end, K* out) {
  // One conditional move for each key, instead of a branch that random keys would mispredict.
  while (a != a_end && b != b_end) {
    const bool second = *b < *a;
    *out++ = second ? *b : *a;
    b += second;
    a += !second;
  }
  out = std::copy(a, a_end, out);
  std::copy(b, b_end, out);
}

/// Merges neighbouring runs of `run` keys each from `from` to `to`; all threads write pieces of the output.
template <class K>
void merge_runs(const K* from, K* to, int64_t n, int64_t run) {
  const int64_t grain = std::min(kMergeGrain, run);
  parallel_for((n + grain - 1) / grain, 1, [&](int64_t begin, int64_t end) {
    for (int64_t piece = begin; piece < end; ++piece) {
      // `grain` divides 2 * run, so each piece belongs to one pair of runs.
      const int64_t start = piece * grain, stop = std::min(n, start + grain), pair = start / (2 * run) * (2 * run);
      const K *a = from + pair, *b = from + std::min(n, pair + run);
      const int64_t na = b - a, nb = std::min(n, pair + 2 * run) - pair - na;
      const int64_t a0 = taken_from_first(a, na, b, nb, start - pair), a1 = taken_from_first(a, na, b, nb, stop - pair);
      merge_piece(a + a0, a + a1, b + (start - pair - a0), b + (stop - pair - a1), to + start);
    }
  });
}

/// Splits the keys around the quantiles of a sample and sorts each part separately, so that no merge is needed. Returns false, with the
/// keys unchanged, where merges are faster or the split does not apply: other key sizes, more threads than parts, no AVX-512.
template <class K>
bool sort_in_parts(K* keys, int64_t n) {
  if constexpr (std::is_same_v<K, WideKey> || sizeof(K) < 4) {
    return false;
  } else {
    const int parts = 2 * thread_limit();
    if (parts > kMostParts || cpu_level() < CpuLevel::v4) return false;
    std::vector<K> sample = sample_of(keys, n, 64 * parts), pivots;
    for (int j = 1; j < parts; ++j) pivots.push_back(sample[static_cast<size_t>(64 * j)]);
    Ref<Buffer> other = Buffer::allocate({DeviceType::cpu, 0}, static_cast<size_t>(n) * sizeof(K));
    K* const to = static_cast<K*>(other->ptr);
    int64_t bounds[kMostParts];
    split<K>(keys, n, pivots, to, bounds, true);
    parallel_for(parts, 1, [&](int64_t begin, int64_t end) {
      for (int64_t j = begin; j < end; ++j) {
        const int64_t first = j > 0 ? bounds[j - 1] : 0, count = bounds[j] - first;
        sort_piece(to + first, count);
        std::memcpy(keys + first, to + first, static_cast<size_t>(count) * sizeof(K));
      }
    });
    return true;
  }
}

template <class K>
void sort_in_parallel(K* keys, int64_t n) {
  const int64_t threads = thread_limit();
  if (n < kParallel || threads < 2) return sort_piece(keys, n);
  if (sort_in_parts(keys, n)) return;
  if (n < 2 * kPiece) return sort_piece(keys, n);
  const auto runs = static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(std::min(threads, n / kPiece))));
  // A multiple of the merge's grain, which is a power of two.
  const int64_t run = (n / runs / kMergeGrain + 1) * kMergeGrain;
  parallel_for((n + run - 1) / run, 1, [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) sort_piece(keys + r * run, std::min(run, n - r * run));
  });
  Ref<Buffer> other = Buffer::allocate({DeviceType::cpu, 0}, static_cast<size_t>(n) * sizeof(K));
  K *from = keys, *to = static_cast<K*>(other->ptr);
  for (int64_t width = run; width < n; width *= 2) {
    merge_runs(from, to, n, width);
    std::swap(from, to);
  }
  if (from != keys)
    parallel_for(n, kPiece, [&](int64_t begin, int64_t end) {
      std::memcpy(keys + begin, from + begin, static_cast<size_t>(end - begin) * sizeof(K));
    });
}

}  // namespace

template <class T>
void sort_numbers(T* numbers, int64_t n, bool parallel) {
  parallel ? sort_in_parallel(numbers, n) : sort_piece(numbers, n);
}

template <class T>
bool sort_finite(T* numbers, int64_t n) {
  using Bits = std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>;
  constexpr Bits kSign = Bits{1} << (8 * sizeof(T) - 1), kInfinity = std::bit_cast<Bits>(std::numeric_limits<T>::infinity());
  if (n >> 31 != 0) return false;  // so that the number of -0.0 fits
  Bits not_finite = 0;             // its highest bit
  Bits negative = 0;               // number of -0.0: the minimum and the maximum of -0.0 and 0.0 are one and the same for vqsort
  for (int64_t i = 0; i < n; ++i) {
    const auto bits = std::bit_cast<Bits>(numbers[i]);
    not_finite |= (bits & ~kSign) + (kSign - kInfinity);
    negative += bits == kSign;
  }
  if (not_finite & kSign) return false;
  sort_piece(numbers, n);
  T* const zeros = std::lower_bound(numbers, numbers + n, T{0});
  T* const end = std::upper_bound(zeros, numbers + n, T{0});
  std::fill(std::fill_n(zeros, negative, -T{0}), end, T{0});
  return true;
}

template <>
void sort_numbers(uint8_t* numbers, int64_t n, bool) {
  int64_t counts[256] = {};
  for (int64_t i = 0; i < n; ++i) ++counts[numbers[i]];
  for (int k = 0; k < 256; ++k) {
    std::memset(numbers, k, static_cast<size_t>(counts[k]));
    numbers += counts[k];
  }
}

template <class K>
void partition(const K* keys, int64_t n, std::span<const int64_t> ranks, K* out, bool parallel, K grain, PartFunction<K> arrange) {
  constexpr int64_t kSampled = 1 << 9;
  int64_t bounds[kMostParts] = {n};
  size_t parts = 1;
  if (n < kSampled || 2 * ranks.size() >= kMostParts) {
    std::memcpy(out, keys, static_cast<size_t>(n) * sizeof(K));
  } else {
    // Two keys of the sample on both sides of each rank's quantile, three standard deviations away.
    const auto count = std::clamp<int64_t>(n / 16, 64, 4096);
    const std::vector<K> sample = sample_of(keys, n, count);
    std::vector<K> pivots;
    for (const int64_t rank : ranks) {
      const double quantile = static_cast<double>(rank) / static_cast<double>(n), at = quantile * static_cast<double>(count);
      const double margin = 3 * std::sqrt(at * (1 - quantile)) + 1;
      const auto low = static_cast<int64_t>(at - margin), high = static_cast<int64_t>(at + margin);
      if (low >= 0) {
        const K pivot = sample[static_cast<size_t>(low)] / grain * grain;
        if (pivots.empty() || pivot > pivots.back()) pivots.push_back(pivot);
      }
      if (high < count) {
        const K before = sample[static_cast<size_t>(high)] / grain * grain, pivot = before + grain;
        if (pivot > before && (pivots.empty() || pivot > pivots.back())) pivots.push_back(pivot);
      }
    }
    parts = pivots.size() + 1;
    split<K>(keys, n, pivots, out, bounds, parallel);
  }
  std::vector<int64_t> inside;
  for (size_t j = 0, r = 0; j < parts && r < ranks.size(); ++j) {
    const int64_t first = j > 0 ? bounds[j - 1] : 0;
    inside.clear();
    for (; r < ranks.size() && ranks[r] < bounds[j]; ++r) inside.push_back(ranks[r] - first);
    if (!inside.empty()) arrange(out + first, bounds[j] - first, inside);
  }
}

template void partition(const uint32_t*, int64_t, std::span<const int64_t>, uint32_t*, bool, uint32_t, PartFunction<uint32_t>);
template void partition(const uint64_t*, int64_t, std::span<const int64_t>, uint64_t*, bool, uint64_t, PartFunction<uint64_t>);
template void sort_numbers(int16_t*, int64_t, bool);
template void sort_numbers(uint16_t*, int64_t, bool);
template void sort_numbers(int32_t*, int64_t, bool);
template void sort_numbers(uint32_t*, int64_t, bool);
template void sort_numbers(int64_t*, int64_t, bool);
template void sort_numbers(uint64_t*, int64_t, bool);
template void sort_numbers(WideKey*, int64_t, bool);
template bool sort_finite(float*, int64_t);
template bool sort_finite(double*, int64_t);

}  // namespace bc::cpu
