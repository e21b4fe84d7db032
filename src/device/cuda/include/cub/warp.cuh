// CUB's collectives of a warp. All lanes write their values to shared memory, one lane computes, and the others read their results: on the
// CPU a warp is a loop, so this costs no more than if each lane did its part.
#pragma once
#include <cub/util.cuh>

namespace cub {
namespace bc_detail {

/// A thread's index in its logical warp, and the warp's barrier.
template <int Threads>
struct WarpPlace {
  static constexpr int kWarps = 32 / Threads < 1 ? 1 : 32 / Threads;
  static unsigned lane() { return Threads == 32 ? __bc_lane() : __bc_lane() % Threads; }
  static unsigned mask() { return Threads == 32 ? 0xffffffffu : ((1u << (Threads & 31)) - 1u) << (__bc_lane() / Threads * Threads); }
  static void meet() { __syncwarp(mask()); }
};

template <class T, int Threads>
struct WarpRoom {
  Room<T, Threads> values;
  Room<T, 1> whole;
  Room<unsigned char, Threads> flags;
};

}  // namespace bc_detail

template <class T, int Threads = 32, int = 0>
class WarpReduce {
  using Place = bc_detail::WarpPlace<Threads>;
  using Storage = bc_detail::WarpRoom<T, Threads>;

 public:
  struct TempStorage : Storage {};
  explicit WarpReduce(TempStorage& room) : room_(room) {}
  T Sum(T in) { return Reduce(in, cub::Sum()); }
  T Sum(T in, int valid) { return Reduce(in, cub::Sum(), valid); }
  T Max(T in) { return Reduce(in, cub::Max()); }
  T Min(T in) { return Reduce(in, cub::Min()); }
  template <int N> T Sum(const T (&in)[N]) { return Sum(ThreadReduce(in, cub::Sum())); }
  template <int N> T Max(const T (&in)[N]) { return Max(ThreadReduce(in, cub::Max())); }
  template <int N> T Min(const T (&in)[N]) { return Min(ThreadReduce(in, cub::Min())); }
  template <int N, class F> T Reduce(const T (&in)[N], F op) { return Reduce(ThreadReduce(in, op), op); }
  template <class F> T Reduce(T in, F op) { return Reduce(in, op, Threads); }
  template <class F> T Reduce(T in, F op, int valid) {
    T* all = room_.values.get();
    const unsigned lane = Place::lane();
    all[lane] = in;
    Place::meet();
    T sum = in;
    if (lane == 0) {
      for (int i = 1; i < valid && i < Threads; ++i) sum = op(sum, all[i]);
    }
    Place::meet();
    return sum;
  }
  template <class Flag> T HeadSegmentedSum(T in, Flag head) { return HeadSegmentedReduce(in, head, cub::Sum()); }
  template <class Flag> T TailSegmentedSum(T in, Flag tail) { return TailSegmentedReduce(in, tail, cub::Sum()); }
  template <class Flag, class F> T HeadSegmentedReduce(T in, Flag head, F op) { return segmented<true>(in, head ? 1 : 0, op); }
  template <class Flag, class F> T TailSegmentedReduce(T in, Flag tail, F op) { return segmented<false>(in, tail ? 1 : 0, op); }

 private:
  /// Each lane's sum to the end of its segment.
  template <bool Heads, class F> T segmented(T in, unsigned char flag, F op) {
    T* all = room_.values.get();
    unsigned char* flags = room_.flags.get();
    const unsigned lane = Place::lane();
    all[lane] = in;
    flags[lane] = flag;
    Place::meet();
    if (lane == 0) {
      for (int i = Threads - 2; i >= 0; --i) {
        const bool last = Heads ? flags[i + 1] != 0 : flags[i] != 0;
        if (!last) all[i] = op(all[i], all[i + 1]);
      }
    }
    Place::meet();
    T sum = all[lane];
    Place::meet();
    return sum;
  }
  TempStorage& room_;
};

template <class T, int Threads = 32, int = 0>
class WarpScan {
  using Place = bc_detail::WarpPlace<Threads>;
  using Storage = bc_detail::WarpRoom<T, Threads>;

 public:
  struct TempStorage : Storage {};
  explicit WarpScan(TempStorage& room) : room_(room) {}
  void InclusiveSum(T in, T& out) { InclusiveScan(in, out, cub::Sum()); }
  void InclusiveSum(T in, T& out, T& whole) { InclusiveScan(in, out, cub::Sum(), whole); }
  void ExclusiveSum(T in, T& out) { ExclusiveScan(in, out, T(0), cub::Sum()); }
  void ExclusiveSum(T in, T& out, T& whole) { ExclusiveScan(in, out, T(0), cub::Sum(), whole); }
  template <class F> void InclusiveScan(T in, T& out, F op) { T all, none; scan<false>(in, out, none, T(), op, all); }
  template <class F> void InclusiveScan(T in, T& out, F op, T& whole) { T none; scan<false>(in, out, none, T(), op, whole); }
  template <class F> void InclusiveScan(T in, T& out, T first, F op) { T all, none; scan<true>(in, out, none, first, op, all); }
  template <class F> void InclusiveScan(T in, T& out, T first, F op, T& whole) { T none; scan<true>(in, out, none, first, op, whole); }
  template <class F> void ExclusiveScan(T in, T& out, F op) { T all, inc; scan<false>(in, inc, out, T(), op, all); }
  template <class F> void ExclusiveScan(T in, T& out, F op, T& whole) { T inc; scan<false>(in, inc, out, T(), op, whole); }
  template <class F> void ExclusiveScan(T in, T& out, T first, F op) { T all, inc; scan<true>(in, inc, out, first, op, all); }
  template <class F> void ExclusiveScan(T in, T& out, T first, F op, T& whole) { T inc; scan<true>(in, inc, out, first, op, whole); }
  template <class F> void Scan(T in, T& inclusive, T& exclusive, F op) { T all; scan<false>(in, inclusive, exclusive, T(), op, all); }
  template <class F> void Scan(T in, T& inclusive, T& exclusive, T first, F op) { T all; scan<true>(in, inclusive, exclusive, first, op, all); }
  T Broadcast(T in, unsigned source) {
    const unsigned lane = Place::lane();
    Place::meet();
    if (lane == source) room_.whole[0] = in;
    Place::meet();
    T got = room_.whole[0];
    Place::meet();
    return got;
  }

 private:
  /// The total of all lanes does not include the initial value.
  template <bool First, class F> void scan(T in, T& inclusive, T& exclusive, T first, F op, T& whole) {
    T* all = room_.values.get();
    const unsigned lane = Place::lane();
    all[lane] = in;
    Place::meet();
    if (lane == 0) {
      T sum = all[0];
      for (int i = 1; i < Threads; ++i) {
        sum = op(sum, all[i]);
        all[i] = sum;
      }
      room_.whole[0] = sum;
    }
    Place::meet();
    T below = lane == 0 ? first : all[lane - 1], mine = all[lane];
    whole = room_.whole[0];
    Place::meet();
    if constexpr (First) {
      exclusive = lane == 0 ? first : op(first, below);
      inclusive = op(first, mine);
    } else {
      if (lane != 0) exclusive = below;
      inclusive = mine;
    }
  }
  TempStorage& room_;
};

enum WarpExchangeAlgorithm { WARP_EXCHANGE_SMEM, WARP_EXCHANGE_SHUFFLE };
template <class T, int Items, int Threads = 32, WarpExchangeAlgorithm = WARP_EXCHANGE_SMEM>
class WarpExchange {
  using Place = bc_detail::WarpPlace<Threads>;

 public:
  struct TempStorage : bc_detail::Room<T, Items * Threads> {};
  explicit WarpExchange(TempStorage& room) : room_(room) {}
  template <class O> void BlockedToStriped(const T (&in)[Items], O (&out)[Items]) { move(in, out, true, false); }
  template <class O> void StripedToBlocked(const T (&in)[Items], O (&out)[Items]) { move(in, out, false, true); }
  template <class R> void ScatterToStriped(T (&items)[Items], R (&ranks)[Items]) { ScatterToStriped(items, items, ranks); }
  template <class O, class R> void ScatterToStriped(const T (&in)[Items], O (&out)[Items], R (&ranks)[Items]) {
    for (int i = 0; i < Items; ++i) room_[static_cast<int>(ranks[i])] = in[i];
    Place::meet();
    for (int i = 0; i < Items; ++i) out[i] = room_[at(i, false)];
    Place::meet();
  }

 private:
  static int at(int i, bool blocked) { return static_cast<int>(blocked ? Place::lane() * Items + i : i * Threads + Place::lane()); }
  template <class O> void move(const T (&in)[Items], O (&out)[Items], bool from, bool to) {
    for (int i = 0; i < Items; ++i) room_[at(i, from)] = in[i];
    Place::meet();
    for (int i = 0; i < Items; ++i) out[i] = room_[at(i, to)];
    Place::meet();
  }
  TempStorage& room_;
};

enum WarpLoadAlgorithm { WARP_LOAD_DIRECT, WARP_LOAD_STRIPED, WARP_LOAD_VECTORIZE, WARP_LOAD_TRANSPOSE };
enum WarpStoreAlgorithm { WARP_STORE_DIRECT, WARP_STORE_STRIPED, WARP_STORE_VECTORIZE, WARP_STORE_TRANSPOSE };
template <class T, int Items, WarpLoadAlgorithm How = WARP_LOAD_DIRECT, int Threads = 32, int = 0>
class WarpLoad {
  static int at(int i) {
    const int lane = static_cast<int>(bc_detail::WarpPlace<Threads>::lane());
    return How == WARP_LOAD_STRIPED ? i * Threads + lane : lane * Items + i;
  }

 public:
  struct TempStorage {};
  WarpLoad() {}
  explicit WarpLoad(TempStorage&) {}
  template <class It> void Load(It from, T (&items)[Items]) {
    for (int i = 0; i < Items; ++i) items[i] = from[at(i)];
  }
  template <class It> void Load(It from, T (&items)[Items], int valid) {
    for (int i = 0; i < Items; ++i)
      if (at(i) < valid) items[i] = from[at(i)];
  }
  template <class It, class D> void Load(It from, T (&items)[Items], int valid, D otherwise) {
    for (int i = 0; i < Items; ++i) items[i] = at(i) < valid ? static_cast<T>(from[at(i)]) : static_cast<T>(otherwise);
  }
};
template <class T, int Items, WarpStoreAlgorithm How = WARP_STORE_DIRECT, int Threads = 32, int = 0>
class WarpStore {
  static int at(int i) {
    const int lane = static_cast<int>(bc_detail::WarpPlace<Threads>::lane());
    return How == WARP_STORE_STRIPED ? i * Threads + lane : lane * Items + i;
  }

 public:
  struct TempStorage {};
  WarpStore() {}
  explicit WarpStore(TempStorage&) {}
  template <class It> void Store(It to, T (&items)[Items]) {
    for (int i = 0; i < Items; ++i) to[at(i)] = items[i];
  }
  template <class It> void Store(It to, T (&items)[Items], int valid) {
    for (int i = 0; i < Items; ++i)
      if (at(i) < valid) to[at(i)] = items[i];
  }
};

}  // namespace cub
