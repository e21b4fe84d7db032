// CUB's collectives of a block: sorts, histograms, differences and runs.
#pragma once
#include <cub/block.cuh>

namespace cub {
namespace bc_detail {

template <int Bytes> struct Bits;
template <> struct Bits<1> { using type = unsigned char; };
template <> struct Bits<2> { using type = unsigned short; };
template <> struct Bits<4> { using type = unsigned int; };
template <> struct Bits<8> { using type = unsigned long long; };

/// A key as an unsigned number in the same order: the sign bit is flipped; for negative floating-point numbers all bits are.
template <class K>
struct Digits {
  using U = typename Bits<sizeof(K)>::type;
  static constexpr U kSign = static_cast<U>(U(1) << (sizeof(K) * 8 - 1));
  static U of(K key) {
    U bits = __builtin_bit_cast(U, key);
    if constexpr (__is_integral(K)) {
      return static_cast<K>(-1) < static_cast<K>(0) ? static_cast<U>(bits ^ kSign) : bits;
    } else {
      if (bits == kSign) bits = 0;  // -0 and 0 are equal keys
      return static_cast<U>(bits & kSign ? ~bits : bits ^ kSign);
    }
  }
};

/// The shared memory of a sort: keys with their values, and room for a second order.
template <class K, class V, int N>
struct SortRoom {
  Room<K, N> keys;
  Room<V, N> values;
  unsigned short order[2][N];
  unsigned counts[257];
};

/// A stable order of the keys by their bits [first, last): one thread, a digit of eight bits at a time.
template <int N, class K>
inline unsigned short* radix_order(const K* keys, unsigned short (&order)[2][N], unsigned (&counts)[257], int first, int last, bool down) {
  unsigned short *from = order[0], *to = order[1];
  for (int i = 0; i < N; ++i) from[i] = static_cast<unsigned short>(i);
  for (int bit = first; bit < last; bit += 8) {
    const int width = last - bit < 8 ? last - bit : 8;
    const unsigned mask = (1u << width) - 1u;
    const auto digit = [&](int i) {
      const unsigned d = static_cast<unsigned>(Digits<K>::of(keys[i]) >> bit) & mask;
      return down ? mask - d : d;
    };
    for (unsigned d = 0; d <= mask; ++d) counts[d] = 0;
    for (int i = 0; i < N; ++i) ++counts[digit(i)];
    unsigned before = 0;
    for (unsigned d = 0; d <= mask; ++d) {
      const unsigned here = counts[d];
      counts[d] = before;
      before += here;
    }
    for (int i = 0; i < N; ++i) to[counts[digit(from[i])]++] = from[i];
    unsigned short* swap = from;
    from = to;
    to = swap;
  }
  return from;
}

/// A stable order by a comparison: merges of runs of 1, 2, 4 …
template <int N, class K, class F>
inline unsigned short* merge_order(const K* keys, unsigned short (&order)[2][N], int valid, F less) {
  unsigned short *from = order[0], *to = order[1];
  for (int i = 0; i < valid; ++i) from[i] = static_cast<unsigned short>(i);
  for (int run = 1; run < valid; run *= 2) {
    for (int begin = 0; begin < valid; begin += 2 * run) {
      const int middle = begin + run < valid ? begin + run : valid, end = begin + 2 * run < valid ? begin + 2 * run : valid;
      int a = begin, b = middle;
      for (int i = begin; i < end; ++i) {
        const bool second = a >= middle || (b < end && less(keys[from[b]], keys[from[a]]));
        to[i] = second ? from[b++] : from[a++];
      }
    }
    unsigned short* swap = from;
    from = to;
    to = swap;
  }
  return from;
}

/// Gives the items to one thread, lets it find an order by `sort`, and takes them back in that order.
template <class Room, class Meet, class Sort, class Place, class K, class V, int Items>
inline void sort_items(Room& room, int thread, K (&keys)[Items], V (&values)[Items], Meet meet, Sort sort, Place place, int valid) {
  for (int i = 0; i < Items; ++i) {
    room.keys[thread * Items + i] = keys[i];
    if constexpr (!__is_same(V, NullType)) room.values[thread * Items + i] = values[i];
  }
  meet();
  if (thread == 0) {
    unsigned short* order = sort();
    if (order != room.order[0]) {
      for (int i = 0; i < valid; ++i) room.order[0][i] = order[i];
    }
  }
  meet();
  for (int i = 0; i < Items; ++i) {
    const int at = place(thread, i);
    if (at >= valid) continue;
    keys[i] = room.keys[room.order[0][at]];
    if constexpr (!__is_same(V, NullType)) values[i] = room.values[room.order[0][at]];
  }
  meet();
}

}  // namespace bc_detail

template <class K, int X, int Items, class V = NullType, int = 4, bool = true, BlockScanAlgorithm = BLOCK_SCAN_WARP_SCANS,
          cudaSharedMemConfig = cudaSharedMemBankSizeFourByte, int Y = 1, int Z = 1, int = 0>
class BlockRadixSort {
  static constexpr int kThreads = X * Y * Z, kBits = sizeof(K) * 8, kCount = kThreads * Items;
  using At = bc_detail::Arrangement<kThreads, Items>;

 public:
  struct TempStorage : bc_detail::SortRoom<K, V, kCount> {};
  BlockRadixSort() : room_(bc_detail::own_room<TempStorage, BlockRadixSort>()) {}
  explicit BlockRadixSort(TempStorage& room) : room_(room) {}
#define BC_CUB_SORT(name, down, place)                                                                                       \
  void name(K(&keys)[Items], int first = 0, int last = kBits) {                                                             \
    NullType none[Items];                                                                                                   \
    sort(keys, none, first, last, down, place);                                                                             \
  }                                                                                                                         \
  void name(K(&keys)[Items], V(&values)[Items], int first = 0, int last = kBits) { sort(keys, values, first, last, down, place); }
  BC_CUB_SORT(Sort, false, At::blocked)
  BC_CUB_SORT(SortDescending, true, At::blocked)
  BC_CUB_SORT(SortBlockedToStriped, false, At::striped)
  BC_CUB_SORT(SortDescendingBlockedToStriped, true, At::striped)
#undef BC_CUB_SORT

 private:
  template <class W, class Place> void sort(K (&keys)[Items], W (&values)[Items], int first, int last, bool down, Place place) {
    bc_detail::sort_items(
        room_, static_cast<int>(__bc_linear()), keys, values, [] { __syncthreads(); },
        [&] { return bc_detail::radix_order<kCount>(room_.keys.get(), room_.order, room_.counts, first, last, down); }, place, kCount);
  }
  TempStorage& room_;
};

namespace bc_detail {

/// The threads of a block, or of a part of a warp: a thread's index among them, and their barrier.
template <int Threads>
struct BlockThreads {
  static constexpr int kThreads = Threads;
  static int rank() { return static_cast<int>(__bc_linear()); }
  static void meet() { __syncthreads(); }
};
template <int Threads>
struct WarpThreads {
  static constexpr int kThreads = Threads;
  static int rank() { return static_cast<int>(__bc_lane() % Threads); }
  static void meet() { __syncwarp(Threads == 32 ? 0xffffffffu : ((1u << (Threads & 31)) - 1u) << (__bc_lane() / Threads * Threads)); }
};

template <class Group, class K, class V, int Items>
class MergeSort {
  static constexpr int kCount = Group::kThreads * Items;

 public:
  struct TempStorage : SortRoom<K, V, kCount> {};
  explicit MergeSort(TempStorage& room) : room_(room) {}
  template <class F> void Sort(K (&keys)[Items], F less) { Sort(keys, less, kCount, keys[0]); }
  template <class F> void Sort(K (&keys)[Items], F less, int valid, K rest) {
    NullType none[Items];
    sort(keys, none, less, valid, rest);
  }
  template <class F> void Sort(K (&keys)[Items], V (&values)[Items], F less) { sort(keys, values, less, kCount, keys[0]); }
  template <class F> void Sort(K (&keys)[Items], V (&values)[Items], F less, int valid, K rest) { sort(keys, values, less, valid, rest); }
  template <class... A> void StableSort(K (&keys)[Items], A&&... more) { Sort(keys, more...); }

 private:
  template <class W, class F> void sort(K (&keys)[Items], W (&values)[Items], F less, int valid, const K& rest) {
    const int t = Group::rank();
    sort_items(
        room_, t, keys, values, [] { Group::meet(); }, [&] { return merge_order<kCount>(room_.keys.get(), room_.order, valid, less); },
        Arrangement<Group::kThreads, Items>::blocked, valid);
    for (int i = 0; i < Items; ++i)
      if (t * Items + i >= valid) keys[i] = rest;
  }
  TempStorage& room_;
};

}  // namespace bc_detail

template <class K, int X, int Items, class V = NullType, int Y = 1, int Z = 1>
class BlockMergeSort : public bc_detail::MergeSort<bc_detail::BlockThreads<X * Y * Z>, K, V, Items> {
  using Base = bc_detail::MergeSort<bc_detail::BlockThreads<X * Y * Z>, K, V, Items>;

 public:
  using TempStorage = typename Base::TempStorage;
  BlockMergeSort() : Base(bc_detail::own_room<TempStorage, BlockMergeSort>()) {}
  using Base::Base;
  unsigned get_linear_tid() const { return __bc_linear(); }
};

template <class K, int Items, int Threads = 32, class V = NullType, int = 0>
class WarpMergeSort : public bc_detail::MergeSort<bc_detail::WarpThreads<Threads>, K, V, Items> {
 public:
  using bc_detail::MergeSort<bc_detail::WarpThreads<Threads>, K, V, Items>::MergeSort;
};

// ---- histograms
enum BlockHistogramAlgorithm { BLOCK_HISTO_SORT, BLOCK_HISTO_ATOMIC };
template <class T, int X, int Items, int Bins, BlockHistogramAlgorithm = BLOCK_HISTO_SORT, int Y = 1, int Z = 1, int = 0>
class BlockHistogram {
  static constexpr int kThreads = X * Y * Z;

 public:
  struct TempStorage {};
  BlockHistogram() {}
  explicit BlockHistogram(TempStorage&) {}
  template <class C> void InitHistogram(C (&histogram)[Bins]) { InitHistogram(static_cast<C*>(histogram)); }
  template <class C> void InitHistogram(C* histogram) {
    for (int i = static_cast<int>(__bc_linear()); i < Bins; i += kThreads) histogram[i] = C();
  }
  template <class C> void Composite(T (&items)[Items], C* histogram) {
    __syncthreads();
    for (int i = 0; i < Items; ++i) atomicAdd(histogram + static_cast<unsigned>(items[i]), C(1));
    __syncthreads();
  }
  template <class C> void Histogram(T (&items)[Items], C* histogram) {
    InitHistogram(histogram);
    Composite(items, histogram);
  }
};

// ---- neighbours
template <class T, int X, int Y = 1, int Z = 1, int = 0>
class BlockDiscontinuity {
  static constexpr int kThreads = X * Y * Z;

 public:
  struct TempStorage {
    bc_detail::Room<T, kThreads> first, last;
  };
  BlockDiscontinuity() : room_(bc_detail::own_room<TempStorage, BlockDiscontinuity>()) {}
  explicit BlockDiscontinuity(TempStorage& room) : room_(room) {}
  template <int N, class F, class Op> void FlagHeads(F (&heads)[N], T (&in)[N], Op op) { flag_heads(heads, in, op, static_cast<const T*>(nullptr)); }
  template <int N, class F, class Op> void FlagHeads(F (&heads)[N], T (&in)[N], Op op, T before) { flag_heads(heads, in, op, &before); }
  template <int N, class F, class Op> void FlagTails(F (&tails)[N], T (&in)[N], Op op) { flag_tails(tails, in, op, static_cast<const T*>(nullptr)); }
  template <int N, class F, class Op> void FlagTails(F (&tails)[N], T (&in)[N], Op op, T after) { flag_tails(tails, in, op, &after); }
  template <int N, class F, class Op> void FlagHeadsAndTails(F (&heads)[N], F (&tails)[N], T (&in)[N], Op op) {
    FlagHeads(heads, in, op);
    FlagTails(tails, in, op);
  }
  template <int N, class F, class Op> void FlagHeadsAndTails(F (&heads)[N], F (&tails)[N], T after, T (&in)[N], Op op) {
    FlagHeads(heads, in, op);
    FlagTails(tails, in, op, after);
  }
  template <int N, class F, class Op> void FlagHeadsAndTails(F (&heads)[N], T before, F (&tails)[N], T (&in)[N], Op op) {
    FlagHeads(heads, in, op, before);
    FlagTails(tails, in, op);
  }
  template <int N, class F, class Op> void FlagHeadsAndTails(F (&heads)[N], T before, F (&tails)[N], T after, T (&in)[N], Op op) {
    FlagHeads(heads, in, op, before);
    FlagTails(tails, in, op, after);
  }

 private:
  /// Operators may take the index of the second item as well.
  template <class Op> static bool differ(Op op, const T& a, const T& b, int at) {
    if constexpr (requires { op(a, b, at); }) return op(a, b, at);
    else return op(a, b);
  }
  template <int N, class F, class Op> void flag_heads(F (&heads)[N], T (&in)[N], Op op, const T* before) {
    const int t = static_cast<int>(__bc_linear());
    room_.last[t] = in[N - 1];
    __syncthreads();
    if (t == 0) heads[0] = before == nullptr ? F(1) : F(differ(op, *before, in[0], 0));
    else heads[0] = F(differ(op, room_.last[t - 1], in[0], t * N));
    for (int i = 1; i < N; ++i) heads[i] = F(differ(op, in[i - 1], in[i], t * N + i));
    __syncthreads();
  }
  template <int N, class F, class Op> void flag_tails(F (&tails)[N], T (&in)[N], Op op, const T* after) {
    const int t = static_cast<int>(__bc_linear());
    room_.first[t] = in[0];
    __syncthreads();
    if (t == kThreads - 1) tails[N - 1] = after == nullptr ? F(1) : F(differ(op, in[N - 1], *after, kThreads * N));
    else tails[N - 1] = F(differ(op, in[N - 1], room_.first[t + 1], (t + 1) * N));
    for (int i = 0; i + 1 < N; ++i) tails[i] = F(differ(op, in[i], in[i + 1], t * N + i + 1));
    __syncthreads();
  }
  TempStorage& room_;
};

template <class T, int X, int Y = 1, int Z = 1, int = 0>
class BlockAdjacentDifference {
  static constexpr int kThreads = X * Y * Z;

 public:
  struct TempStorage : bc_detail::Room<T, kThreads> {};
  BlockAdjacentDifference() : room_(bc_detail::own_room<TempStorage, BlockAdjacentDifference>()) {}
  explicit BlockAdjacentDifference(TempStorage& room) : room_(room) {}
  template <int N, class O, class Op> void SubtractLeft(T (&in)[N], O (&out)[N], Op op) { left(in, out, op, kThreads * N, nullptr); }
  template <int N, class O, class Op> void SubtractLeft(T (&in)[N], O (&out)[N], Op op, T before) { left(in, out, op, kThreads * N, &before); }
  template <int N, class O, class Op> void SubtractLeftPartialTile(T (&in)[N], O (&out)[N], Op op, int valid) { left(in, out, op, valid, nullptr); }
  template <int N, class O, class Op> void SubtractLeftPartialTile(T (&in)[N], O (&out)[N], Op op, int valid, T before) {
    left(in, out, op, valid, &before);
  }
  template <int N, class O, class Op> void SubtractRight(T (&in)[N], O (&out)[N], Op op) { right(in, out, op, kThreads * N, nullptr); }
  template <int N, class O, class Op> void SubtractRight(T (&in)[N], O (&out)[N], Op op, T after) { right(in, out, op, kThreads * N, &after); }
  template <int N, class O, class Op> void SubtractRightPartialTile(T (&in)[N], O (&out)[N], Op op, int valid) { right(in, out, op, valid, nullptr); }

 private:
  template <int N, class O, class Op> void left(T (&in)[N], O (&out)[N], Op op, int valid, const T* before) {
    const int t = static_cast<int>(__bc_linear());
    room_[t] = in[N - 1];
    __syncthreads();
    for (int i = N - 1; i >= 0; --i) {
      const int at = t * N + i;
      if (at >= valid || (at == 0 && before == nullptr)) out[i] = static_cast<O>(in[i]);
      else out[i] = static_cast<O>(op(in[i], i > 0 ? in[i - 1] : t > 0 ? room_[t - 1] : *before));
    }
    __syncthreads();
  }
  template <int N, class O, class Op> void right(T (&in)[N], O (&out)[N], Op op, int valid, const T* after) {
    const int t = static_cast<int>(__bc_linear());
    room_[t] = in[0];
    __syncthreads();
    for (int i = 0; i < N; ++i) {
      const int at = t * N + i;
      const bool last = at + 1 == kThreads * N;
      if (at + 1 >= valid && !(last && after != nullptr)) out[i] = static_cast<O>(in[i]);
      else out[i] = static_cast<O>(op(in[i], i + 1 < N ? in[i + 1] : last ? *after : room_[t + 1]));
    }
    __syncthreads();
  }
  TempStorage& room_;
};

/// Runs of equal items as they were before they were counted.
template <class T, int X, int Runs, int Decoded, class Offset = unsigned, int Y = 1, int Z = 1>
class BlockRunLengthDecode {
  static constexpr int kThreads = X * Y * Z, kRuns = kThreads * Runs;

 public:
  struct TempStorage {
    bc_detail::Room<T, kRuns> values;
    Offset ends[kRuns];
  };
  template <class L, class Total>
  BlockRunLengthDecode(TempStorage& room, T (&values)[Runs], L (&lengths)[Runs], Total& total) : room_(room) {
    const int t = static_cast<int>(__bc_linear());
    for (int i = 0; i < Runs; ++i) {
      room_.values[t * Runs + i] = values[i];
      room_.ends[t * Runs + i] = static_cast<Offset>(lengths[i]);
    }
    __syncthreads();
    if (t == 0) {
      for (int i = 1; i < kRuns; ++i) room_.ends[i] += room_.ends[i - 1];
    }
    __syncthreads();
    total = static_cast<Total>(room_.ends[kRuns - 1]);
  }
  void RunLengthDecode(T (&items)[Decoded], Offset from = 0) {
    Offset none[Decoded];
    RunLengthDecode(items, none, from);
  }
  template <class Relative> void RunLengthDecode(T (&items)[Decoded], Relative (&offsets)[Decoded], Offset from = 0) {
    const Offset begin = from + static_cast<Offset>(__bc_linear()) * Decoded;
    for (int i = 0; i < Decoded; ++i) {
      const Offset at = begin + static_cast<Offset>(i);
      int run = UpperBound(static_cast<const Offset*>(room_.ends), kRuns, at);
      run = run < kRuns ? run : kRuns - 1;
      items[i] = room_.values[run];
      offsets[i] = static_cast<Relative>(at - (run == 0 ? Offset(0) : room_.ends[run - 1]));
    }
  }

 private:
  TempStorage& room_;
};

}  // namespace cub
