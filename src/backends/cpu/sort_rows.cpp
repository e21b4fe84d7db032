// Sorts of many short rows: as many rows as a vector has lanes go through one sorting network, after squares of their numbers were
// transposed in registers.
#include "backends/cpu/sort_rows.h"

#include <array>
#include <cstring>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include "core/cpu_level.h"

namespace bc::cpu {

namespace {

/// Calls f with each comparator of sorting_network().
template <class F>
constexpr void each_comparator(int n, int sorted, F&& f) {
  for (int run = sorted; run < n; run *= 2)
    for (int apart = run; apart > 0; apart /= 2)
      for (int first = apart % run; first + apart < n; first += 2 * apart)
        for (int i = first; i < std::min(first + apart, n - apart); ++i)
          if (i / (2 * run) == (i + apart) / (2 * run)) f(Comparator{i, i + apart});
}

template <int n>
constexpr auto network_of() {
  constexpr size_t kCount = [] {
    size_t count = 0;
    each_comparator(n, 1, [&](Comparator) { ++count; });
    return count;
  }();
  std::array<Comparator, kCount> pairs{};
  size_t k = 0;
  each_comparator(n, 1, [&](Comparator c) { pairs[k++] = c; });
  return pairs;
}

template <class V>
[[gnu::always_inline]] inline void put_in_order(V& a, V& b) {
  const V low = a, high = b;
  a = low < high ? low : high;
  b = low > high ? low : high;
}

constexpr int kMost = 128;  // elements of a row

template <class S, int kBytes>
struct Square {
  using V = typename Lanes<S, kBytes>::Vector;
  static constexpr int kWide = Lanes<S, kBytes>::kSize / static_cast<int>(sizeof(S));
  static constexpr int kBlock = kBytes == 64 ? 16 : kWide;  // rows of squares that half of the processor's registers hold

  /// Exchanges rows and columns: in pairs of rows `kApart` apart, blocks of so many columns.
  template <int kApart = 1>
  [[gnu::always_inline]] static void transpose(V* x) {
    [&]<int... c>(std::integer_sequence<int, c...>) __attribute__((always_inline)) {
#pragma GCC unroll 16
      for (int r = 0; r < kWide; ++r) {
        if (r & kApart) continue;
        const V a = x[r], b = x[r + kApart];
        x[r] = __builtin_shuffle(a, b, V{((c & kApart) ? kWide + c - kApart : c)...});
        x[r + kApart] = __builtin_shuffle(a, b, V{((c & kApart) ? kWide + c : c + kApart)...});
      }
    }(std::make_integer_sequence<int, kWide>());
    if constexpr (2 * kApart < kWide) transpose<2 * kApart>(x);
  }
  /// Sorts the columns of a block.
  [[gnu::always_inline]] static void sort(V* x) {
    static constexpr auto kPairs = network_of<kBlock>();
    [&]<size_t... k>(std::index_sequence<k...>) __attribute__((always_inline)) {
      (put_in_order(x[kPairs[k].low], x[kPairs[k].high]), ...);
    }(std::make_index_sequence<kPairs.size()>());
  }
};

template <class S, int kBytes>
[[gnu::always_inline]] inline void sort_rows_inline(const S* const* from, int n, int some, RowOrder<S> order,
                                                    std::span<const Comparator> network, S* out) {
  using L = Lanes<S, kBytes>;
  using V = typename L::Vector;
  constexpr int kWide = Square<S, kBytes>::kWide, kBlock = Square<S, kBytes>::kBlock;
  const V zero{}, flip = zero + order.flip, of_negative = zero + order.of_negative, largest = zero + order.largest;
  const S greatest = static_cast<S>(~(S{1} << (8 * sizeof(S) - 1)));
  V x[kMost][L::kCount];
  V lanes;
  for (int l = 0; l < kWide; ++l) lanes[l] = static_cast<S>(l);
  // Of fewer numbers than a vector has, the vector that ends with the row is read, and turned.
  const auto load = [&](const S* p, int count) __attribute__((always_inline)) {
    const int missing = std::clamp(kWide - count, 0, kWide);
    V b;
    std::memcpy(&b, p - missing, sizeof(V));
    if (missing) b = __builtin_shuffle(b, (lanes + static_cast<S>(missing)) & (zero + (kWide - 1)));
    const V key = b ^ flip ^ ((b < zero) & of_negative);
    return (b & greatest) > largest ? zero + greatest : key;
  };
  for (int v = 0; v < L::kCount; ++v)
    for (int at = 0; at < n; at += kBlock) {
      V block[kBlock];
#pragma GCC unroll 2
      for (int s = 0; s < kBlock; s += kWide) {
#pragma GCC unroll 16
        for (int l = 0; l < kWide; ++l) block[s + l] = load(from[v * kWide + l] + at + s, n - at - s);
        Square<S, kBytes>::transpose(block + s);
      }
      if (n - at < kBlock) {  // what lies behind the last numbers of a row stays there
#pragma GCC unroll 16
        for (int i = 0; i < kBlock; ++i) block[i] = i < n - at ? block[i] : zero + greatest;
      }
      Square<S, kBytes>::sort(block);
#pragma GCC unroll 16
      for (int i = 0; i < kBlock; ++i) x[at + i][v] = block[i];
    }
  for (const auto [a, b] : network)
    for (int v = 0; v < L::kCount; ++v) put_in_order(x[a][v], x[b][v]);
  for (int v = 0; v < L::kCount; ++v)
    for (int at = 0; at < n; at += kWide) {
      const int e = std::min(at, n - kWide);  // the last square has what is left, and some numbers again
      V square[kWide];
#pragma GCC unroll 16
      for (int i = 0; i < kWide; ++i) square[i] = x[e + i][v];
      Square<S, kBytes>::transpose(square);
      for (int l = 0; l < kWide && v * kWide + l < some; ++l) {
        const V b = square[l] ^ flip ^ ((square[l] < zero) & of_negative);
        std::memcpy(out + int64_t{v * kWide + l} * n + e, &b, sizeof(V));
      }
    }
}

#if defined(__x86_64__)
template <class S>
[[gnu::target("avx512f,avx512bw,avx512vl,avx512dq,prefer-vector-width=512")]] void sort_rows_avx512(const S* const* from, int n, int some,
                                                                                                    RowOrder<S> order,
                                                                                                    std::span<const Comparator> network,
                                                                                                    S* out) {
  sort_rows_inline<S, 64>(from, n, some, order, network, out);
}
template <class S>
[[gnu::target("avx2")]] void sort_rows_avx2(const S* const* from, int n, int some, RowOrder<S> order, std::span<const Comparator> network,
                                            S* out) {
  sort_rows_inline<S, 32>(from, n, some, order, network, out);
}
#endif

}  // namespace

int least_of_row(int item) { return (cpu_level() >= CpuLevel::v4 ? 64 : 32) / item; }

int most_of_row() { return cpu_level() >= CpuLevel::v4 ? kMost : cpu_level() >= CpuLevel::v3 ? kMost / 2 : 0; }

std::span<const Comparator> sorting_network(int n, int sorted) {
  // To list the comparators of a long row takes as long as to sort several rows.
  static std::mutex mutex;
  static std::map<std::pair<int, int>, std::vector<Comparator>> networks;
  const std::lock_guard lock(mutex);
  const auto [at, made] = networks.try_emplace({n, sorted});
  if (made) each_comparator(n, sorted, [&](Comparator c) { at->second.push_back(c); });
  return at->second;
}

std::span<const Comparator> row_network(int n, int item) {
  return sorting_network(n, cpu_level() >= CpuLevel::v4 ? 16 : 32 / item);  // blocks are sorted in registers
}

template <class S>
void sort_rows([[maybe_unused]] const S* const* from, [[maybe_unused]] int n, [[maybe_unused]] int some, [[maybe_unused]] RowOrder<S> order,
               [[maybe_unused]] std::span<const Comparator> network, [[maybe_unused]] S* out) {
#if defined(__x86_64__)
  cpu_level() >= CpuLevel::v4 ? sort_rows_avx512(from, n, some, order, network, out) : sort_rows_avx2(from, n, some, order, network, out);
#endif
}

template void sort_rows<int32_t>(const int32_t* const*, int, int, RowOrder<int32_t>, std::span<const Comparator>, int32_t*);
template void sort_rows<int64_t>(const int64_t* const*, int, int, RowOrder<int64_t>, std::span<const Comparator>, int64_t*);

}  // namespace bc::cpu
