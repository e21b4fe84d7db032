// CUB's collectives of a block: sums, scans, loads, stores and exchanges.
#pragma once
#include <cub/util.cuh>

namespace cub {
namespace bc_detail {

/// Reads and writes of items in one of CUB's arrangements.
template <int Threads, int Items>
struct Arrangement {
  static int blocked(int thread, int i) { return thread * Items + i; }
  static int striped(int thread, int i) { return i * Threads + thread; }
  static int warp_striped(int thread, int i) { return thread / 32 * 32 * Items + i * 32 + thread % 32; }
};

}  // namespace bc_detail

// ---- sums
enum BlockReduceAlgorithm {
  BLOCK_REDUCE_RAKING_COMMUTATIVE_ONLY,
  BLOCK_REDUCE_RAKING,
  BLOCK_REDUCE_WARP_REDUCTIONS,
  BLOCK_REDUCE_WARP_REDUCTIONS_NONDETERMINISTIC
};
template <class T, int X, BlockReduceAlgorithm = BLOCK_REDUCE_WARP_REDUCTIONS, int Y = 1, int Z = 1, int = 0>
class BlockReduce {
  static constexpr int kThreads = X * Y * Z;

 public:
  struct TempStorage : bc_detail::Room<T, kThreads> {};
  BlockReduce() : room_(bc_detail::own_room<TempStorage, BlockReduce>()) {}
  explicit BlockReduce(TempStorage& room) : room_(room) {}
  template <class F> T Reduce(T in, F op) { return Reduce(in, op, kThreads); }
  template <class F> T Reduce(T in, F op, int valid) {
    T* all = room_.get();
    all[__bc_linear()] = in;
    __syncthreads();
    T sum = in;
    if (__bc_linear() == 0) {
      for (int i = 1; i < valid && i < kThreads; ++i) sum = op(sum, all[i]);
    }
    return sum;
  }
  template <int N, class F> T Reduce(T (&in)[N], F op) { return Reduce(ThreadReduce(in, op), op); }
  T Sum(T in) { return Reduce(in, cub::Sum()); }
  T Sum(T in, int valid) { return Reduce(in, cub::Sum(), valid); }
  template <int N> T Sum(T (&in)[N]) { return Reduce(in, cub::Sum()); }

 private:
  TempStorage& room_;
};

// ---- scans
enum BlockScanAlgorithm { BLOCK_SCAN_RAKING, BLOCK_SCAN_RAKING_MEMOIZE, BLOCK_SCAN_WARP_SCANS };
template <class T, int X, BlockScanAlgorithm = BLOCK_SCAN_RAKING, int Y = 1, int Z = 1, int = 0>
class BlockScan {
  static constexpr int kThreads = X * Y * Z;

 public:
  struct TempStorage {
    bc_detail::Room<T, kThreads> values;
    bc_detail::Room<T, 2> whole;  // the sum of all threads, and the prefix of the block
  };
  BlockScan() : room_(bc_detail::own_room<TempStorage, BlockScan>()) {}
  explicit BlockScan(TempStorage& room) : room_(room) {}

  void ExclusiveSum(T in, T& out) { T all; ExclusiveSum(in, out, all); }
  void ExclusiveSum(T in, T& out, T& whole) { ExclusiveScan(in, out, T(0), cub::Sum(), whole); }
  template <class P> void ExclusiveSum(T in, T& out, P& prefix) { ExclusiveScan(in, out, cub::Sum(), prefix); }
  template <int N> void ExclusiveSum(T (&in)[N], T (&out)[N]) { T all; ExclusiveSum(in, out, all); }
  template <int N> void ExclusiveSum(T (&in)[N], T (&out)[N], T& whole) { ExclusiveScan(in, out, T(0), cub::Sum(), whole); }
  template <int N, class P> void ExclusiveSum(T (&in)[N], T (&out)[N], P& prefix) { ExclusiveScan(in, out, cub::Sum(), prefix); }
  void InclusiveSum(T in, T& out) { T all; InclusiveSum(in, out, all); }
  void InclusiveSum(T in, T& out, T& whole) { InclusiveScan(in, out, cub::Sum(), whole); }
  template <class P> void InclusiveSum(T in, T& out, P& prefix) { InclusiveScan(in, out, cub::Sum(), prefix); }
  template <int N> void InclusiveSum(T (&in)[N], T (&out)[N]) { T all; InclusiveSum(in, out, all); }
  template <int N> void InclusiveSum(T (&in)[N], T (&out)[N], T& whole) { InclusiveScan(in, out, cub::Sum(), whole); }
  template <int N, class P> void InclusiveSum(T (&in)[N], T (&out)[N], P& prefix) { InclusiveScan(in, out, cub::Sum(), prefix); }

  template <class F> void ExclusiveScan(T in, T& out, T first, F op) { T all; ExclusiveScan(in, out, first, op, all); }
  template <class F> void ExclusiveScan(T in, T& out, T first, F op, T& whole) {
    T mine[1] = {in}, made[1];
    scan<true, true>(mine, made, first, op, whole);
    out = made[0];
  }
  template <class F> void ExclusiveScan(T in, T& out, F op) { T all; ExclusiveScan(in, out, op, all); }
  template <class F> void ExclusiveScan(T in, T& out, F op, T& whole) {
    T mine[1] = {in}, made[1] = {out};
    scan<true, false>(mine, made, T(), op, whole);
    out = made[0];
  }
  template <class F, class P> void ExclusiveScan(T in, T& out, F op, P& prefix) {
    T mine[1] = {in}, made[1];
    scan_after<true>(mine, made, op, prefix);
    out = made[0];
  }
  template <int N, class F> void ExclusiveScan(T (&in)[N], T (&out)[N], T first, F op) { T all; scan<true, true>(in, out, first, op, all); }
  template <int N, class F> void ExclusiveScan(T (&in)[N], T (&out)[N], T first, F op, T& whole) { scan<true, true>(in, out, first, op, whole); }
  template <int N, class F> void ExclusiveScan(T (&in)[N], T (&out)[N], F op) { T all; scan<true, false>(in, out, T(), op, all); }
  template <int N, class F> void ExclusiveScan(T (&in)[N], T (&out)[N], F op, T& whole) { scan<true, false>(in, out, T(), op, whole); }
  template <int N, class F, class P> void ExclusiveScan(T (&in)[N], T (&out)[N], F op, P& prefix) { scan_after<true>(in, out, op, prefix); }

  template <class F> void InclusiveScan(T in, T& out, F op) { T all; InclusiveScan(in, out, op, all); }
  template <class F> void InclusiveScan(T in, T& out, F op, T& whole) {
    T mine[1] = {in}, made[1];
    scan<false, false>(mine, made, T(), op, whole);
    out = made[0];
  }
  template <class F> void InclusiveScan(T in, T& out, T first, F op) { T all; InclusiveScan(in, out, first, op, all); }
  template <class F> void InclusiveScan(T in, T& out, T first, F op, T& whole) {
    T mine[1] = {in}, made[1];
    scan<false, true>(mine, made, first, op, whole);
    out = made[0];
  }
  template <class F, class P> void InclusiveScan(T in, T& out, F op, P& prefix) {
    T mine[1] = {in}, made[1];
    scan_after<false>(mine, made, op, prefix);
    out = made[0];
  }
  template <int N, class F> void InclusiveScan(T (&in)[N], T (&out)[N], F op) { T all; scan<false, false>(in, out, T(), op, all); }
  template <int N, class F> void InclusiveScan(T (&in)[N], T (&out)[N], F op, T& whole) { scan<false, false>(in, out, T(), op, whole); }
  template <int N, class F> void InclusiveScan(T (&in)[N], T (&out)[N], T first, F op) { T all; scan<false, true>(in, out, first, op, all); }
  template <int N, class F> void InclusiveScan(T (&in)[N], T (&out)[N], T first, F op, T& whole) { scan<false, true>(in, out, first, op, whole); }
  template <int N, class F, class P> void InclusiveScan(T (&in)[N], T (&out)[N], F op, P& prefix) { scan_after<false>(in, out, op, prefix); }

 private:
  /// Puts the threads' sums in order: room_.values[t] is then that of the threads up to t.
  template <class F> void sums(T mine, F op) {
    T* all = room_.values.get();
    all[__bc_linear()] = mine;
    __syncthreads();
    if (__bc_linear() == 0) {
      T sum = all[0];
      for (int i = 1; i < kThreads; ++i) {
        sum = op(sum, all[i]);
        all[i] = sum;
      }
      room_.whole[0] = sum;
    }
    __syncthreads();
  }
  template <bool Exclusive, class F, int N> static void items(T (&in)[N], T (&out)[N], T before, bool first, F op) {
    T sum = before;
    for (int i = 0; i < N; ++i) {
      T value = in[i];
      const bool starts = first && i == 0;
      T next = starts ? value : op(sum, value);
      if (!Exclusive) out[i] = next;
      else if (!starts) out[i] = sum;
      sum = next;
    }
  }
  template <bool Exclusive, bool First, class F, int N> void scan(T (&in)[N], T (&out)[N], T first, F op, T& whole) {
    sums(ThreadReduce(in, op), op);
    const unsigned t = __bc_linear();
    T before = t == 0 ? first : room_.values[static_cast<int>(t) - 1];
    if (First && t != 0) before = op(first, before);
    whole = room_.whole[0];
    items<Exclusive>(in, out, before, !First && t == 0, op);
    __syncthreads();
  }
  /// The block's first warp calls the prefix functor; the result of its first thread is the block's prefix.
  template <bool Exclusive, class F, class P, int N> void scan_after(T (&in)[N], T (&out)[N], F op, P& prefix) {
    sums(ThreadReduce(in, op), op);
    const unsigned t = __bc_linear();
    if (t < 32) {
      T got = prefix(room_.whole[0]);
      if (t == 0) room_.whole[1] = got;
    }
    __syncthreads();
    T before = room_.whole[1];
    if (t != 0) before = op(before, room_.values[static_cast<int>(t) - 1]);
    items<Exclusive>(in, out, before, false, op);
    __syncthreads();
  }
  TempStorage& room_;
};

// ---- loads and stores of one thread's part
template <class T, int N, class It> inline void LoadDirectBlocked(int t, It from, T (&items)[N]) {
  _Pragma("unroll") for (int i = 0; i < N; ++i) items[i] = from[t * N + i];
}
template <class T, int N, class It> inline void LoadDirectBlocked(int t, It from, T (&items)[N], int valid) {
  _Pragma("unroll") for (int i = 0; i < N; ++i) if (t * N + i < valid) items[i] = from[t * N + i];
}
template <class T, class D, int N, class It> inline void LoadDirectBlocked(int t, It from, T (&items)[N], int valid, D otherwise) {
  _Pragma("unroll") for (int i = 0; i < N; ++i) items[i] = t * N + i < valid ? static_cast<T>(from[t * N + i]) : static_cast<T>(otherwise);
}
template <class T, int N> inline void LoadDirectBlockedVectorized(int t, T* from, T (&items)[N]) { LoadDirectBlocked(t, from, items); }
template <int Threads, class T, int N, class It> inline void LoadDirectStriped(int t, It from, T (&items)[N]) {
  _Pragma("unroll") for (int i = 0; i < N; ++i) items[i] = from[t + i * Threads];
}
template <int Threads, class T, int N, class It> inline void LoadDirectStriped(int t, It from, T (&items)[N], int valid) {
  _Pragma("unroll") for (int i = 0; i < N; ++i) if (t + i * Threads < valid) items[i] = from[t + i * Threads];
}
template <int Threads, class T, class D, int N, class It> inline void LoadDirectStriped(int t, It from, T (&items)[N], int valid, D otherwise) {
  _Pragma("unroll") for (int i = 0; i < N; ++i)
    items[i] = t + i * Threads < valid ? static_cast<T>(from[t + i * Threads]) : static_cast<T>(otherwise);
}
template <class T, int N, class It> inline void LoadDirectWarpStriped(int t, It from, T (&items)[N]) {
  _Pragma("unroll") for (int i = 0; i < N; ++i) items[i] = from[bc_detail::Arrangement<1, N>::warp_striped(t, i)];
}
template <class T, int N, class It> inline void LoadDirectWarpStriped(int t, It from, T (&items)[N], int valid) {
  for (int i = 0; i < N; ++i) {
    const int at = bc_detail::Arrangement<1, N>::warp_striped(t, i);
    if (at < valid) items[i] = from[at];
  }
}
template <class T, class D, int N, class It> inline void LoadDirectWarpStriped(int t, It from, T (&items)[N], int valid, D otherwise) {
  for (int i = 0; i < N; ++i) {
    const int at = bc_detail::Arrangement<1, N>::warp_striped(t, i);
    items[i] = at < valid ? static_cast<T>(from[at]) : static_cast<T>(otherwise);
  }
}
template <class T, int N, class It> inline void StoreDirectBlocked(int t, It to, T (&items)[N]) {
  _Pragma("unroll") for (int i = 0; i < N; ++i) to[t * N + i] = items[i];
}
template <class T, int N, class It> inline void StoreDirectBlocked(int t, It to, T (&items)[N], int valid) {
  _Pragma("unroll") for (int i = 0; i < N; ++i) if (t * N + i < valid) to[t * N + i] = items[i];
}
template <class T, int N> inline void StoreDirectBlockedVectorized(int t, T* to, T (&items)[N]) { StoreDirectBlocked(t, to, items); }
template <int Threads, class T, int N, class It> inline void StoreDirectStriped(int t, It to, T (&items)[N]) {
  _Pragma("unroll") for (int i = 0; i < N; ++i) to[t + i * Threads] = items[i];
}
template <int Threads, class T, int N, class It> inline void StoreDirectStriped(int t, It to, T (&items)[N], int valid) {
  _Pragma("unroll") for (int i = 0; i < N; ++i) if (t + i * Threads < valid) to[t + i * Threads] = items[i];
}
template <class T, int N, class It> inline void StoreDirectWarpStriped(int t, It to, T (&items)[N]) {
  _Pragma("unroll") for (int i = 0; i < N; ++i) to[bc_detail::Arrangement<1, N>::warp_striped(t, i)] = items[i];
}
template <class T, int N, class It> inline void StoreDirectWarpStriped(int t, It to, T (&items)[N], int valid) {
  for (int i = 0; i < N; ++i) {
    const int at = bc_detail::Arrangement<1, N>::warp_striped(t, i);
    if (at < valid) to[at] = items[i];
  }
}

enum BlockLoadAlgorithm {
  BLOCK_LOAD_DIRECT,
  BLOCK_LOAD_STRIPED,
  BLOCK_LOAD_VECTORIZE,
  BLOCK_LOAD_TRANSPOSE,
  BLOCK_LOAD_WARP_TRANSPOSE,
  BLOCK_LOAD_WARP_TRANSPOSE_TIMESLICED
};
template <class T, int X, int Items, BlockLoadAlgorithm How = BLOCK_LOAD_DIRECT, int Y = 1, int Z = 1, int = 0>
class BlockLoad {
 public:
  struct TempStorage {};
  BlockLoad() {}
  explicit BlockLoad(TempStorage&) {}
  template <class It, class... More> void Load(It from, T (&items)[Items], More... more) {
    const int t = static_cast<int>(__bc_linear());
    if constexpr (How == BLOCK_LOAD_STRIPED) {
      LoadDirectStriped<X * Y * Z>(t, from, items, more...);
    } else {
      LoadDirectBlocked(t, from, items, more...);
    }
  }
};
enum BlockStoreAlgorithm {
  BLOCK_STORE_DIRECT,
  BLOCK_STORE_STRIPED,
  BLOCK_STORE_VECTORIZE,
  BLOCK_STORE_TRANSPOSE,
  BLOCK_STORE_WARP_TRANSPOSE,
  BLOCK_STORE_WARP_TRANSPOSE_TIMESLICED
};
template <class T, int X, int Items, BlockStoreAlgorithm How = BLOCK_STORE_DIRECT, int Y = 1, int Z = 1, int = 0>
class BlockStore {
 public:
  struct TempStorage {};
  BlockStore() {}
  explicit BlockStore(TempStorage&) {}
  template <class It, class... More> void Store(It to, T (&items)[Items], More... more) {
    const int t = static_cast<int>(__bc_linear());
    if constexpr (How == BLOCK_STORE_STRIPED) {
      StoreDirectStriped<X * Y * Z>(t, to, items, more...);
    } else {
      StoreDirectBlocked(t, to, items, more...);
    }
  }
};

// ---- exchanges
template <class T, int X, int Items, bool = false, int Y = 1, int Z = 1, int = 0>
class BlockExchange {
  static constexpr int kThreads = X * Y * Z;
  using At = bc_detail::Arrangement<kThreads, Items>;

 public:
  struct TempStorage : bc_detail::Room<T, kThreads * Items> {};
  BlockExchange() : room_(bc_detail::own_room<TempStorage, BlockExchange>()) {}
  explicit BlockExchange(TempStorage& room) : room_(room) {}
  template <class O> void StripedToBlocked(const T (&in)[Items], O (&out)[Items]) { move(in, out, At::striped, At::blocked); }
  template <class O> void BlockedToStriped(const T (&in)[Items], O (&out)[Items]) { move(in, out, At::blocked, At::striped); }
  template <class O> void WarpStripedToBlocked(const T (&in)[Items], O (&out)[Items]) { move(in, out, At::warp_striped, At::blocked); }
  template <class O> void BlockedToWarpStriped(const T (&in)[Items], O (&out)[Items]) { move(in, out, At::blocked, At::warp_striped); }
  void StripedToBlocked(T (&items)[Items]) { StripedToBlocked(items, items); }
  void BlockedToStriped(T (&items)[Items]) { BlockedToStriped(items, items); }
  void WarpStripedToBlocked(T (&items)[Items]) { WarpStripedToBlocked(items, items); }
  void BlockedToWarpStriped(T (&items)[Items]) { BlockedToWarpStriped(items, items); }
  template <class O, class R> void ScatterToBlocked(const T (&in)[Items], O (&out)[Items], R (&ranks)[Items]) {
    scatter(in, out, [&](int i) { return static_cast<int>(ranks[i]); }, [](int) { return true; }, At::blocked);
  }
  template <class O, class R> void ScatterToStriped(const T (&in)[Items], O (&out)[Items], R (&ranks)[Items]) {
    scatter(in, out, [&](int i) { return static_cast<int>(ranks[i]); }, [](int) { return true; }, At::striped);
  }
  template <class O, class R> void ScatterToStripedGuarded(const T (&in)[Items], O (&out)[Items], R (&ranks)[Items]) {
    scatter(in, out, [&](int i) { return static_cast<int>(ranks[i]); }, [&](int i) { return ranks[i] >= 0; }, At::striped);
  }
  template <class O, class R, class V> void ScatterToStripedFlagged(const T (&in)[Items], O (&out)[Items], R (&ranks)[Items], V (&valid)[Items]) {
    scatter(in, out, [&](int i) { return static_cast<int>(ranks[i]); }, [&](int i) { return static_cast<bool>(valid[i]); }, At::striped);
  }
  template <class R> void ScatterToBlocked(T (&items)[Items], R (&ranks)[Items]) { ScatterToBlocked(items, items, ranks); }
  template <class R> void ScatterToStriped(T (&items)[Items], R (&ranks)[Items]) { ScatterToStriped(items, items, ranks); }
  template <class R> void ScatterToStripedGuarded(T (&items)[Items], R (&ranks)[Items]) { ScatterToStripedGuarded(items, items, ranks); }
  template <class R, class V> void ScatterToStripedFlagged(T (&items)[Items], R (&ranks)[Items], V (&valid)[Items]) {
    ScatterToStripedFlagged(items, items, ranks, valid);
  }

 private:
  template <class O, class From, class To> void move(const T (&in)[Items], O (&out)[Items], From from, To to) {
    const int t = static_cast<int>(__bc_linear());
    scatter(in, out, [=](int i) { return from(t, i); }, [](int) { return true; }, to);
  }
  template <class O, class Rank, class Valid, class To> void scatter(const T (&in)[Items], O (&out)[Items], Rank rank, Valid valid, To to) {
    const int t = static_cast<int>(__bc_linear());
    for (int i = 0; i < Items; ++i)
      if (valid(i)) room_[rank(i)] = in[i];
    __syncthreads();
    for (int i = 0; i < Items; ++i) out[i] = room_[to(t, i)];
    __syncthreads();
  }
  TempStorage& room_;
};

template <class T, int X, int Y = 1, int Z = 1, int = 0>
class BlockShuffle {
  static constexpr int kThreads = X * Y * Z;

 public:
  struct TempStorage : bc_detail::Room<T, kThreads> {};
  BlockShuffle() : room_(bc_detail::own_room<TempStorage, BlockShuffle>()) {}
  explicit BlockShuffle(TempStorage& room) : room_(room) {}
  void Offset(T in, T& out, int distance = 1) {
    const int from = give(in) + distance;
    if (from >= 0 && from < kThreads) out = room_[from];
  }
  void Rotate(T in, T& out, unsigned distance = 1) {
    const unsigned from = static_cast<unsigned>(give(in)) + distance;
    out = room_[static_cast<int>(from >= kThreads ? from - kThreads : from)];
  }
  template <int N> void Up(T (&in)[N], T (&out)[N]) {
    const int t = give(in[N - 1]);
    for (int i = N - 1; i > 0; --i) out[i] = in[i - 1];
    if (t > 0) out[0] = room_[t - 1];
  }
  template <int N> void Up(T (&in)[N], T (&out)[N], T& last) {
    Up(in, out);
    last = room_[kThreads - 1];
  }
  template <int N> void Down(T (&in)[N], T (&out)[N]) {
    const int t = give(in[0]);
    for (int i = 0; i + 1 < N; ++i) out[i] = in[i + 1];
    if (t + 1 < kThreads) out[N - 1] = room_[t + 1];
  }
  template <int N> void Down(T (&in)[N], T (&out)[N], T& first) {
    Down(in, out);
    first = room_[0];
  }

 private:
  int give(const T& v) {
    const int t = static_cast<int>(__bc_linear());
    room_[t] = v;
    __syncthreads();
    return t;
  }
  TempStorage& room_;
};

}  // namespace cub
