// Sorts, selections and searches on the CPU: elements become unsigned keys with the same order (sort_orders.h).
#include <algorithm>
#include <bit>
#include <cstring>
#include <type_traits>
#include <utility>
#include <vector>

#include "backends/cpu/library.h"
#include "backends/cpu/sort_complex.h"
#include "backends/cpu/sort_keys.h"
#include "backends/cpu/sort_orders.h"
#include "backends/cpu/sort_rows.h"
#include "backends/cpu/strided.h"
#include "core/cpu_level.h"
#include "core/error.h"
#include "runtime/parallel.h"

namespace bc::cpu {
namespace {

constexpr int64_t kGrain = 1 << 15;      // minimum number of elements for each thread
constexpr int64_t kLongLine = 1 << 15;   // from this length on, all threads sort one line together
constexpr int64_t kCounted = 1 << 8;     // from this length on, places of bytes are found by counting
constexpr int64_t kHistogram = 1 << 12;  // from this length on, a selection begins with a histogram

/// The lines along the last axis of a view.
struct Lines {
  Dims shape, strides;  ///< of the other axes, collapsed where possible
  const char* base;
  int64_t n, step, item;

  explicit Lines(const View& v)
      : shape(v.layout.shape), strides(v.layout.strides), base(first(v)), n(shape.back()), step(strides.back()), item(itemsize(v.dtype)) {
    shape.resize(shape.size() - 1), strides.resize(strides.size() - 1);
    Dims* lists[] = {&strides};
    collapse(&shape, lists);
  }
  int64_t count() const { return product(shape); }

  /// Calls f(first element, number of the line, whether f may use all threads) for each line.
  template <class F>
  void each(F f) const {
    const int64_t lines = count();
    if (n >= kLongLine && lines < 2 * thread_limit()) {
      Walker w(shape, {&strides});
      for (int64_t i = 0; i < lines; ++i, w.next()) f(base + w.offset(0) * item, i, true);
      return;
    }
    parallel_for(lines, std::max<int64_t>(1, kGrain / std::max<int64_t>(1, n)), [&](int64_t begin, int64_t end) {
      Walker w(shape, {&strides});
      w.seek(begin);
      for (int64_t i = begin; i < end; ++i, w.next()) f(base + w.offset(0) * item, i, false);
    });
  }
};

/// Calls body(begin, end) over [0, n), on all threads or on the calling one.
template <class F>
void over(int64_t n, bool parallel, F&& body) {
  parallel ? parallel_for(n, kGrain, body) : body(int64_t{0}, n);
}

template <class T>
Ref<Buffer> scratch(int64_t n, T** data) {
  Ref<Buffer> b = Buffer::allocate({DeviceType::cpu, 0}, static_cast<size_t>(std::max<int64_t>(n, 1)) * sizeof(T));
  *data = static_cast<T*>(b->ptr);
  return b;
}

// ---- Lines of real numbers -------------------------------------------------------------------------------------------------------

/// keys[i] = the key of element i.
template <class O>
void load_keys(const typename O::Bits* x, int64_t step, int64_t n, typename O::Key* keys, bool parallel) {
  over(n, parallel, [=](int64_t begin, int64_t end) {
    if (step == 1)
      for (int64_t i = begin; i < end; ++i) keys[i] = O::key(x[i]);
    else
      for (int64_t i = begin; i < end; ++i) keys[i] = O::key(x[i * step]);
  });
}

/// Converts keys back to the elements.
template <class O>
void bits_of_keys(typename O::Bits* keys, int64_t n, bool parallel) {
  over(n, parallel, [=](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) keys[i] = O::bits(keys[i]);
  });
}

/// Copies a line into contiguous memory.
template <class T>
void load_line(const T* x, int64_t step, int64_t n, T* out, bool parallel) {
  over(n, parallel, [=](int64_t begin, int64_t end) {
    if (step == 1)
      std::memcpy(out + begin, x + begin, static_cast<size_t>(end - begin) * sizeof(T));
    else
      for (int64_t i = begin; i < end; ++i) out[i] = x[i * step];
  });
}

template <class O>
void sort_line(const typename O::Bits* x, int64_t step, int64_t n, typename O::Bits* out, bool parallel) {
  using T = typename O::Number;
  if constexpr (!std::is_void_v<typename O::Float>) {
    if (!parallel || thread_limit() == 1) {
      load_line(x, step, n, out, false);
      if (sort_finite(reinterpret_cast<typename O::Float*>(out), n)) return;
      x = out, step = 1;
    }
  }
  if constexpr (std::is_void_v<T> || sizeof(typename O::Bits) == 1) {
    load_keys<O>(x, step, n, out, parallel);
    sort_numbers(out, n, parallel);
    bits_of_keys<O>(out, n, parallel);
  } else {
    load_line(x, step, n, out, parallel);
    sort_numbers(reinterpret_cast<T*>(out), n, parallel);
  }
}

/// 64-bit keys that hold the leading bits of an element's key and, below them, the element's index. They are distinct, and their order is
/// the stable order, except for elements that differ only in bits that did not fit: those have equal leading().
template <class O>
class PlaceKeys {
 public:
  using Bits = typename O::Bits;

  PlaceKeys(const Bits* x, int64_t step, int64_t n, bool parallel) : x_(x), step_(step), n_(n), parallel_(parallel) {
    place_bits_ = static_cast<int>(std::bit_width(static_cast<uint64_t>(n)));
    uint64_t high = static_cast<typename O::Key>(~typename O::Key{0});
    if (sizeof(Bits) == 8) {
      low_ = ~uint64_t{0}, high = 0;
      for (int64_t i = 0; i < n; ++i) low_ = std::min<uint64_t>(low_, key(i)), high = std::max<uint64_t>(high, key(i));
    }
    shift_ = std::max(0, static_cast<int>(std::bit_width(high - std::min(low_, high))) + place_bits_ - 64);
  }

  void write(uint64_t* out) const {
    over(n_, parallel_, [=, this](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) out[i] = ((key(i) - low_) >> shift_) << place_bits_ | static_cast<uint64_t>(i);
    });
  }
  /// Keys with equal leading() differ by less than this.
  uint64_t grain() const { return uint64_t{1} << place_bits_; }
  uint64_t leading(uint64_t k) const { return k >> place_bits_; }
  bool exact() const { return shift_ == 0; }

  /// Conversion to the element's full key, and back.
  WideKey widen(uint64_t k) const { return {k, key(place(k))}; }
  int64_t place(uint64_t k) const { return static_cast<int64_t>(k & (grain() - 1)); }

  /// Sorts runs of equal leading bits by their remaining bits.
  void finish_sort(uint64_t* keys) const {
    if (exact()) return;
    std::vector<WideKey> run;
    for (int64_t i = 1; i < n_; ++i) {
      if (leading(keys[i]) != leading(keys[i - 1])) continue;
      const int64_t first = i - 1;
      while (i < n_ && leading(keys[i]) == leading(keys[first])) ++i;
      run.clear();
      for (int64_t k = first; k < i; ++k) run.push_back(widen(keys[k]));
      sort_numbers(run.data(), i - first, false);
      for (int64_t k = first; k < i; ++k) keys[k] = run[static_cast<size_t>(k - first)].low;
    }
  }
  void write_places(uint64_t* keys) const {
    over(n_, parallel_, [=, this](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) keys[i] = static_cast<uint64_t>(place(keys[i]));
    });
  }

 private:
  uint64_t key(int64_t i) const { return O::equal_key(x_[i * step_]); }

  const Bits* x_;
  int64_t step_, n_;
  bool parallel_;
  int place_bits_ = 0, shift_ = 0;
  uint64_t low_ = 0;
};

/// The places of keys of one byte, by counting: each thread counts and places a piece of the line.
template <class O>
void count_places(const typename O::Bits* x, int64_t step, int64_t n, int64_t* out, bool parallel) {
  const int64_t pieces = parallel ? std::clamp<int64_t>(n / kGrain, 1, thread_limit()) : 1;
  std::vector<int64_t> next(static_cast<size_t>(256 * pieces));
  const auto each_piece = [&](auto body) {
    parallel_for(pieces, 1, [&](int64_t begin, int64_t end) {
      for (int64_t p = begin; p < end; ++p) body(n * p / pieces, n * (p + 1) / pieces, &next[static_cast<size_t>(256 * p)]);
    });
  };
  each_piece([=](int64_t begin, int64_t end, int64_t* counts) {
    for (int64_t i = begin; i < end; ++i) ++counts[O::key(x[i * step])];
  });
  int64_t before = 0;
  for (size_t key = 0; key < 256; ++key)
    for (size_t p = 0; p < static_cast<size_t>(pieces); ++p) before += std::exchange(next[256 * p + key], before);
  const bool two = next[2] == n;  // booleans: the next places stay in registers
  each_piece([=](int64_t begin, int64_t end, int64_t* places) {
    if (two) {
      int64_t low = places[0], high = places[1];
      for (int64_t i = begin; i < end; ++i) {
        const auto key = static_cast<int64_t>(O::key(x[i * step]));
        out[key ? high : low] = i;
        high += key, low += 1 - key;
      }
    } else {
      for (int64_t i = begin; i < end; ++i) out[places[O::key(x[i * step])]++] = i;
    }
  });
}

template <class O>
void sort_places(const typename O::Bits* x, int64_t step, int64_t n, int64_t* out, bool parallel) {
  if constexpr (sizeof(typename O::Bits) == 1) {
    if (n >= kCounted) return count_places<O>(x, step, n, out, parallel);
  }
  auto* keys = reinterpret_cast<uint64_t*>(out);
  const PlaceKeys<O> places(x, step, n, parallel);
  places.write(keys);
  sort_numbers(keys, n, parallel);
  places.finish_sort(keys);
  places.write_places(keys);
}

template <class O>
void partition_line(const typename O::Bits* x, int64_t step, int64_t n, std::span<const int64_t> ranks, typename O::Bits* out,
                    bool parallel) {
  using K = typename O::Key;
  if constexpr (sizeof(K) < 4) {
    load_keys<O>(x, step, n, out, parallel);
    // A counting sort of a long list takes no longer than a partition.
    if (!ranks.empty() && n >= int64_t{1} << (8 * sizeof(K)))
      sort_numbers(out, n, false);
    else
      partition_in_place(out, n, ranks);
  } else {
    if (n <= kSorted) return sort_line<O>(x, step, n, out, parallel);
    K* keys;
    const Ref<Buffer> memory = scratch(n, &keys);
    load_keys<O>(x, step, n, keys, parallel);
    partition<K>(keys, n, ranks, out, parallel, 1, partition_in_place<K>);
  }
  bits_of_keys<O>(out, n, parallel);
}

template <class O>
void partition_places(const typename O::Bits* x, int64_t step, int64_t n, std::span<const int64_t> ranks, int64_t* out, bool parallel) {
  uint64_t* keys;
  const Ref<Buffer> memory = scratch(n, &keys);
  const PlaceKeys<O> places(x, step, n, parallel);
  places.write(keys);
  auto* to = reinterpret_cast<uint64_t*>(out);
  std::vector<WideKey> whole;
  partition<uint64_t>(keys, n, ranks, to, parallel, places.grain(), [&](uint64_t* part, int64_t count, std::span<const int64_t> inside) {
    if (places.exact()) return partition_in_place(part, count, inside);
    whole.clear();
    for (int64_t i = 0; i < count; ++i) whole.push_back(places.widen(part[i]));
    partition_in_place(whole.data(), count, inside);
    for (int64_t i = 0; i < count; ++i) part[i] = whole[static_cast<size_t>(i)].low;
  });
  places.write_places(to);
}

/// The least and the greatest key of some elements of a line.
template <class O>
std::pair<typename O::Key, typename O::Key> range_of_keys(const typename O::Bits* x, int64_t step, int64_t begin, int64_t end) {
  auto low = O::key(x[begin * step]), high = low;
  for (int64_t i = begin + 1; i < end; ++i) {
    const auto key = O::key(x[i * step]);
    low = std::min(low, key), high = std::max(high, key);
  }
  return {low, high};
}

/// Selects the keys of the given ranks of a long line: a histogram of the leading bits in which the keys differ finds the elements that can
/// have these ranks, and only those are partitioned.
template <class O>
void select_by_histogram(const typename O::Bits* x, int64_t step, int64_t n, std::span<const int64_t> ranks, typename O::Bits* out,
                         bool parallel) {
  using K = typename O::Key;
  constexpr int64_t kBuckets = int64_t{1} << 12;
  const int64_t piece = parallel ? std::max<int64_t>(kGrain, (n + thread_limit() - 1) / thread_limit()) : n,
                pieces = (n + piece - 1) / piece;
  const auto each_piece = [&](auto&& body) {
    parallel_for(pieces, 1, [&](int64_t begin, int64_t end) {
      for (int64_t p = begin; p < end; ++p) body(p, p * piece, std::min(n, (p + 1) * piece));
    });
  };
  std::vector<std::pair<K, K>> ranges(static_cast<size_t>(pieces));
  each_piece([&](int64_t p, int64_t begin, int64_t end) { ranges[static_cast<size_t>(p)] = range_of_keys<O>(x, step, begin, end); });
  auto [low, high] = ranges[0];
  for (const auto& [least, most] : ranges) low = std::min(low, least), high = std::max(high, most);
  // The last element is asked for to see a NaN.
  for (; !ranks.empty() && ranks.back() == n - 1; ranks = ranks.first(ranks.size() - 1)) out[ranks.size() - 1] = O::bits(high);
  const auto range = static_cast<K>(high - low);
  const int shift = std::max(0, static_cast<int>(std::bit_width(range)) - 12);
  const auto bucket_of = [low, shift](K key) { return static_cast<int64_t>(static_cast<K>(key - low) >> shift); };

  std::vector<int64_t> counts(static_cast<size_t>(pieces * kBuckets));
  each_piece([&](int64_t p, int64_t begin, int64_t end) {
    int64_t* c = counts.data() + p * kBuckets;
    for (int64_t i = begin; i < end; ++i) ++c[bucket_of(O::key(x[i * step]))];
  });
  int64_t before = 0;
  size_t r = 0;
  for (int64_t bucket = 0; bucket < kBuckets && r < ranks.size(); ++bucket) {
    int64_t held = 0;
    for (int64_t p = 0; p < pieces; ++p) held += counts[static_cast<size_t>(p * kBuckets + bucket)];
    size_t last = r;
    while (last < ranks.size() && ranks[last] < before + held) ++last;
    if (last > r && shift == 0) {  // the bucket's keys are equal
      for (size_t k = r; k < last; ++k) out[k] = O::bits(static_cast<K>(low + static_cast<K>(bucket)));
      r = last;
    } else if (last > r) {
      K* keys;
      const Ref<Buffer> memory = scratch(held, &keys);
      std::vector<int64_t> at(static_cast<size_t>(pieces));
      for (int64_t p = 1; p < pieces; ++p)
        at[static_cast<size_t>(p)] = at[static_cast<size_t>(p - 1)] + counts[static_cast<size_t>((p - 1) * kBuckets + bucket)];
      each_piece([&](int64_t p, int64_t begin, int64_t end) {
        K* to = keys + at[static_cast<size_t>(p)];
        const K* const stop = to + counts[static_cast<size_t>(p * kBuckets + bucket)];
        for (int64_t i = begin; i < end && to != stop; ++i) {
          const K k = O::key(x[i * step]);
          *to = k;
          to += bucket_of(k) == bucket;
        }
      });
      std::vector<int64_t> within;
      for (size_t k = r; k < last; ++k) within.push_back(ranks[k] - before);
      partition_in_place(keys, held, within);
      for (size_t k = r; k < last; ++k) out[k] = O::bits(keys[ranks[k] - before]);
      r = last;
    }
    before += held;
  }
}

template <class O>
void select_line(const typename O::Bits* x, int64_t step, int64_t n, std::span<const int64_t> ranks, typename O::Bits* out, bool parallel) {
  using K = typename O::Key;
  K* keys;
  if constexpr (sizeof(K) >= 4) {
    // Vectors split a list that fits the cache around a sample in less time than its histogram takes.
    if (n > kSorted && n < kLongLine && cpu_level() >= CpuLevel::v4) {
      const Ref<Buffer> memory = scratch(2 * n, &keys);
      load_keys<O>(x, step, n, keys, false);
      partition<K>(keys, n, ranks, keys + n, false, 1, partition_in_place<K>);
      for (size_t k = 0; k < ranks.size(); ++k) out[k] = O::bits(keys[n + ranks[k]]);
      return;
    }
  }
  if (n >= kHistogram) return select_by_histogram<O>(x, step, n, ranks, out, parallel);
  const Ref<Buffer> memory = scratch(n, &keys);
  load_keys<O>(x, step, n, keys, false);
  partition_in_place(keys, n, ranks);
  for (size_t k = 0; k < ranks.size(); ++k) out[k] = O::bits(keys[ranks[k]]);
}

constexpr int kNetwork = 64;  // elements of a line; longer ones are sorted faster one by one

/// Sorts kLanes lines of n numbers side by side, or with kPlaces replaces the numbers by the places that sort them (stable), without
/// branches that depend on numbers: the lesser of each two numbers goes to the first place.
template <class S, bool kPlaces, int kBytes>
[[gnu::always_inline]] inline void sort_lanes_inline(S (*numbers)[kLanes], int n, std::span<const Comparator> network) {
  using L = Lanes<S, kBytes>;
  using V = typename L::Vector;
  const auto x = reinterpret_cast<V(*)[L::kCount]>(numbers);
  V places[kPlaces ? kNetwork : 1][L::kCount];
  for (int i = 0; kPlaces && i < n; ++i)
    for (V& place : places[i]) place = V{} + static_cast<S>(i);
  for (const auto [a, b] : network)
    for (int v = 0; v < L::kCount; ++v) {
      const V low = x[a][v], high = x[b][v];
      x[a][v] = low < high ? low : high;
      x[b][v] = low > high ? low : high;
      if constexpr (kPlaces) {
        const V p = places[a][v], q = places[b][v];
        const auto kept = (low < high) | ((low == high) & (p < q));  // the places of equal numbers stay ascending
        places[a][v] = kept ? p : q;
        places[b][v] = kept ? q : p;
      }
    }
  if constexpr (kPlaces) std::memcpy(numbers, places, static_cast<size_t>(n) * sizeof(numbers[0]));
}
#if defined(__x86_64__)
template <class S, bool kPlaces>
[[gnu::target("avx512f,avx512bw,avx512vl,avx512dq,prefer-vector-width=512")]] void sort_lanes_avx512(S (*x)[kLanes], int n,
                                                                                                     std::span<const Comparator> network) {
  sort_lanes_inline<S, kPlaces, 64>(x, n, network);
}
template <class S, bool kPlaces>
[[gnu::target("avx2")]] void sort_lanes_avx2(S (*x)[kLanes], int n, std::span<const Comparator> network) {
  sort_lanes_inline<S, kPlaces, 32>(x, n, network);
}
#endif
template <class S, bool kPlaces>
[[gnu::noinline]] void sort_lanes(S (*x)[kLanes], int n, std::span<const Comparator> network) {
#if defined(__x86_64__)
  if (cpu_level() >= CpuLevel::v4) return sort_lanes_avx512<S, kPlaces>(x, n, network);
  if (cpu_level() >= CpuLevel::v3) return sort_lanes_avx2<S, kPlaces>(x, n, network);
#endif
  sort_lanes_inline<S, kPlaces, 16>(x, n, network);
}

/// Whether lines are few elements long and so many that it pays to sort several side by side.
bool are_short(const Lines& lines) {
  constexpr int64_t kMany = 8;
  return lines.n > 0 && lines.n <= kNetwork && lines.count() >= kMany;
}

/// Sorts many short lines, or finds the places that sort them: kLanes of them side by side go through one sorting network. Calls
/// put(first line, number of lines, element): element(place, line) is what stands there then.
template <class O, bool kPlaces = false, class F>
void sort_short_lines(const Lines& lines, F&& put) {
  using B = typename O::Bits;
  using K = typename O::Key;
  using S = std::make_signed_t<K>;  // vectors compare signed numbers
  const int n = static_cast<int>(lines.n);
  const std::span<const Comparator> network = sorting_network(n);
  parallel_for(lines.count(), std::max<int64_t>(1, kGrain / n), [&](int64_t begin, int64_t end) {
    alignas(64) S keys[kNetwork][kLanes] = {};
    const B* from[kLanes];
    Walker w(lines.shape, {&lines.strides});
    w.seek(begin);
    for (int64_t line = begin; line < end; line += kLanes) {
      const int some = static_cast<int>(std::min<int64_t>(kLanes, end - line));
      for (int l = 0; l < some; ++l, w.next()) from[l] = reinterpret_cast<const B*>(lines.base + w.offset(0) * lines.item);
      for (int i = 0; i < n; ++i)
        for (int l = 0; l < some; ++l) {
          const B x = from[l][i * lines.step];
          keys[i][l] = static_cast<S>((kPlaces ? O::equal_key(x) : O::key(x)) ^ O::kSign);
        }
      sort_lanes<S, kPlaces>(keys, n, network);
      put(line, some, [&](int64_t place, int l) {
        const auto k = static_cast<K>(keys[place][l]);
        return kPlaces ? static_cast<B>(k) : O::bits(static_cast<K>(k ^ O::kSign));
      });
    }
  });
}

/// The order of numbers of 32 or 64 bits for sort_rows().
template <class O>
constexpr auto row_order() {
  using S = std::make_signed_t<typename O::Key>;
  constexpr S sign = static_cast<S>(O::kSign), rest = static_cast<S>(~sign);
  if constexpr (std::is_void_v<typename O::Number>) return RowOrder<S>{0, rest, static_cast<S>(O::kLargest)};
  return RowOrder<S>{std::is_unsigned_v<typename O::Number> ? sign : S{0}, 0, rest};
}

/// Sorts many rows of some numbers that lie side by side. Returns false where they do not, or are too few or too long.
template <class O>
bool sort_contiguous_rows(const Lines& lines, typename O::Bits* out) {
  if constexpr (sizeof(typename O::Bits) < 4) {
    return false;
  } else {
    using S = std::make_signed_t<typename O::Key>;
    const int item = static_cast<int>(sizeof(S)), n = static_cast<int>(std::min<int64_t>(lines.n, INT32_MAX));
    if (lines.step != 1 || n < least_of_row(item) || n > most_of_row() || lines.count() < kLanes) return false;
    const std::span<const Comparator> network = row_network(n, item);
    parallel_for(lines.count(), std::max<int64_t>(kLanes, kGrain / n), [&](int64_t begin, int64_t end) {
      const S* from[kLanes];
      Walker w(lines.shape, {&lines.strides});
      w.seek(begin);
      for (int64_t line = begin; line < end; line += kLanes) {
        const int some = static_cast<int>(std::min<int64_t>(kLanes, end - line));
        for (int l = 0; l < some; ++l, w.next()) from[l] = reinterpret_cast<const S*>(lines.base + w.offset(0) * lines.item);
        std::fill(from + some, from + kLanes, from[0]);
        sort_rows<S>(from, n, some, row_order<O>(), network, reinterpret_cast<S*>(out) + line * n);
      }
    });
    return true;
  }
}

// ---- Binary search -----------------------------------------------------------------------------------------------------------------

/// The C++ type whose comparisons a search takes; void: those of the order.
template <class O>
struct Searched {
  using Type = void;
};
template <class O>
requires requires { typename O::Number; }
struct Searched<O> {
  using Type = std::conditional_t<std::is_void_v<typename O::Number>, typename O::Float, typename O::Number>;
};
template <class O>
using SearchedAs = typename Searched<O>::Type;

/// Tells whether a sorted element lies before the place of a value: before the first of its equals, or behind the last with `kRight`. The
/// values of floats are no NaN, which C++'s comparisons of their own need not be asked about.
template <class O, bool kRight>
bool lies_before(typename O::Bits element, typename O::Bits value) {
  if constexpr (!std::is_void_v<SearchedAs<O>>) {
    const auto e = std::bit_cast<SearchedAs<O>>(element), v = std::bit_cast<SearchedAs<O>>(value);
    return kRight ? e <= v : e < v;
  } else {
    return kRight ? !O::less(value, element) : O::less(element, value);
  }
}

/// The places of kTogether values among n sorted elements: all take the same steps, so that the loads of one search do not wait for those
/// of another, and no branch depends on an element.
constexpr int kTogether = 8;
template <class O, bool kRight>
void search(const typename O::Bits* sorted, int64_t step, int64_t n, const typename O::Bits* values, int64_t* places) {
  int64_t low[kTogether] = {};
  const auto before = [&](int k, int64_t at) { return int64_t{lies_before<O, kRight>(sorted[at * step], values[k])}; };
  int64_t left = n;
  for (int64_t half = left / 2; left > 1; left -= half, half = left / 2)
#pragma GCC unroll 8
    for (int k = 0; k < kTogether; ++k) low[k] += half & -before(k, low[k] + half - 1);
  for (int k = 0; k < kTogether; ++k) places[k] = low[k] + (left == 1 ? before(k, low[k]) : 0);
}

template <class O>
bool is_nan(typename O::Bits value) {
  if constexpr (std::is_void_v<SearchedAs<O>>)
    return false;
  else
    return std::bit_cast<SearchedAs<O>>(value) != std::bit_cast<SearchedAs<O>>(value);
}

/// The place of a NaN: behind the numbers, or behind all.
template <class O>
int64_t place_of_nan(const typename O::Bits* sorted, int64_t step, int64_t n, bool right) {
  int64_t numbers = 0, end = right ? 0 : n;
  while (numbers < end) {
    const int64_t middle = numbers + (end - numbers) / 2;
    if (is_nan<O>(sorted[middle * step]))
      end = middle;
    else
      numbers = middle + 1;
  }
  return right ? n : numbers;
}

/// Calls body(first element, distance, line, first result, whether it may use all threads) for each line of complex numbers; a line has
/// `count` results of the type T, void: of the elements' type.
template <class T, class F>
void complex_lines(const View& input, const View& output, int64_t count, F&& body) {
  const Lines lines(input);
  const auto of = [&]<class R>() {
    using B = typename ComplexOrder<R>::Bits;
    using To = std::conditional_t<std::is_void_v<T>, B, T>;
    To* const out = reinterpret_cast<To*>(first(output));
    lines.each([&](const char* from, int64_t line, bool parallel) {
      body.template operator()<R>(reinterpret_cast<const B*>(from), lines.step, lines.n, out + line * count, parallel);
    });
  };
  input.dtype == DType::c64 ? of.template operator()<float>() : of.template operator()<double>();
}

}  // namespace

void run(const SortExtra& op, std::span<const View> inputs, const View& output) {
  const Lines lines(inputs[0]);
  if (is_complex(inputs[0].dtype) && !op.places)
    return complex_lines<void>(inputs[0], output, lines.n, []<class R>(const auto* x, int64_t step, int64_t n, auto* out, bool parallel) {
      sort_complex<R>(x, step, n, out, parallel);
    });
  with_real_order(inputs[0].dtype, [&]<class O>() {
    using B = typename O::Bits;
    const auto put_lines = [&lines](auto* out) {
      return [out, &lines](int64_t line, int some, auto&& element) {
        using T = std::remove_reference_t<decltype(*out)>;
        for (int l = 0; l < some; ++l)
          for (int64_t k = 0; k < lines.n; ++k) out[(line + l) * lines.n + k] = static_cast<T>(element(k, l));
      };
    };
    if (!op.places && sort_contiguous_rows<O>(lines, reinterpret_cast<B*>(first(output)))) return;
    constexpr int64_t kPairs = 32;  // 64-bit pairs: longer lines are sorted faster one by one
    if (are_short(lines) && !(op.places && sizeof(B) == 8 && lines.n > kPairs)) {
      if (op.places) return sort_short_lines<O, true>(lines, put_lines(reinterpret_cast<int64_t*>(first(output))));
      return sort_short_lines<O>(lines, put_lines(reinterpret_cast<B*>(first(output))));
    }
    lines.each([&](const char* from, int64_t line, bool parallel) {
      const B* x = reinterpret_cast<const B*>(from);
      if (op.places) {
        int64_t* out = reinterpret_cast<int64_t*>(first(output)) + line * lines.n;
        sort_places<O>(x, lines.step, lines.n, out, parallel);
      } else {
        B* out = reinterpret_cast<B*>(first(output)) + line * lines.n;
        sort_line<O>(x, lines.step, lines.n, out, parallel);
      }
    });
  });
}

void run(const PartitionExtra& op, std::span<const View> inputs, const View& output) {
  const Lines lines(inputs[0]);
  if (is_complex(inputs[0].dtype)) {
    const auto arrange = [&]<class R>(const auto* x, int64_t step, int64_t n, auto* out, bool) {
      partition_complex<R>(x, step, n, op.ranks, out);
    };
    return op.places ? complex_lines<int64_t>(inputs[0], output, lines.n, arrange)
                     : complex_lines<void>(inputs[0], output, lines.n, arrange);
  }
  with_real_order(inputs[0].dtype, [&]<class O>() {
    using B = typename O::Bits;
    lines.each([&](const char* from, int64_t line, bool parallel) {
      const B* x = reinterpret_cast<const B*>(from);
      if (op.places) {
        int64_t* out = reinterpret_cast<int64_t*>(first(output)) + line * lines.n;
        partition_places<O>(x, lines.step, lines.n, op.ranks, out, parallel);
      } else {
        B* out = reinterpret_cast<B*>(first(output)) + line * lines.n;
        partition_line<O>(x, lines.step, lines.n, op.ranks, out, parallel);
      }
    });
  });
}

void run(const SelectExtra& op, std::span<const View> inputs, const View& output) {
  const Lines lines(inputs[0]);
  const auto ranks = static_cast<int64_t>(op.ranks.size());
  if (is_complex(inputs[0].dtype))
    return complex_lines<void>(inputs[0], output, ranks, [&]<class R>(const auto* x, int64_t step, int64_t n, auto* out, bool) {
      select_complex<R>(x, step, n, op.ranks, out);
    });
  with_real_order(inputs[0].dtype, [&]<class O>() {
    using B = typename O::Bits;
    if (are_short(lines)) {
      B* const out = reinterpret_cast<B*>(first(output));
      return sort_short_lines<O>(lines, [&](int64_t line, int some, auto&& element) {
        for (int64_t k = 0; k < ranks; ++k)
          for (int l = 0; l < some; ++l) out[(line + l) * ranks + k] = element(op.ranks[static_cast<size_t>(k)], l);
      });
    }
    lines.each([&](const char* from, int64_t line, bool parallel) {
      select_line<O>(reinterpret_cast<const B*>(from), lines.step, lines.n, op.ranks, reinterpret_cast<B*>(first(output)) + line * ranks,
                     parallel);
    });
  });
}

void run(const SearchsortedExtra& op, std::span<const View> inputs, const View& output) {
  const View &sorted = inputs[0], &values = inputs[1];
  const int64_t n = sorted.layout.shape[0], step = sorted.layout.strides[0], count = values.layout.size();
  int64_t* out = reinterpret_cast<int64_t*>(first(output));
  Dims shape = values.layout.shape, strides = values.layout.strides;
  Dims* lists[] = {&strides};
  collapse(&shape, lists);
  const bool line = shape.size() == 1;
  with_order(sorted.dtype, [&]<class O>() {
    using B = typename O::Bits;
    const B* s = reinterpret_cast<const B*>(first(sorted));
    const B* v = reinterpret_cast<const B*>(first(values));
    const auto search_all = op.right ? search<O, true> : search<O, false>;
    parallel_for(count, kGrain / 16, [&](int64_t begin, int64_t end) {
      Walker w(shape, {&strides});
      w.seek(begin);
      for (int64_t i = begin; i < end; i += kTogether) {
        B together[kTogether] = {};
        int64_t places[kTogether];
        const int64_t some = std::min<int64_t>(kTogether, end - i);
        if (line)
          for (int64_t k = 0; k < some; ++k) together[k] = v[(i + k) * strides[0]];
        else
          for (int64_t k = 0; k < some; ++k, w.next()) together[k] = v[w.offset(0)];
        search_all(s, step, n, together, places);
        bool any_nan = false;
        for (int64_t k = 0; k < kTogether; ++k) any_nan |= is_nan<O>(together[k]);
        for (int64_t k = 0; any_nan && k < some; ++k)
          if (is_nan<O>(together[k])) places[k] = place_of_nan<O>(s, step, n, op.right);
        std::copy_n(places, some, out + i);
      }
    });
  });
}

}  // namespace bc::cpu
