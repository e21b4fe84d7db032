// cooperative_groups.h: blocks, clusters, grids, tiles of a block, and coalesced threads of a warp.
#pragma once

namespace cooperative_groups {

/// A barrier of some threads of a block, while the others run on: a counter of the arrived threads in shared memory.
struct __bc_meeting {
  unsigned come, rounds;
  /// `wait` takes the result of `arrive`.
  BC_INLINE unsigned arrive(unsigned expected) {
    unsigned round = __atomic_load_n(&rounds, __ATOMIC_RELAXED);
    if (__atomic_add_fetch(&come, 1u, __ATOMIC_RELAXED) == expected) {
      __atomic_store_n(&come, 0u, __ATOMIC_RELAXED);
      __atomic_store_n(&rounds, round + 1u, __ATOMIC_RELAXED);
    }
    return round;
  }
  BC_INLINE void wait(unsigned round) {
    while (__atomic_load_n(&rounds, __ATOMIC_RELAXED) == round) __bc_yield();
  }
};

/// The operations of all groups of threads of one warp: `mask` names their lanes.
class __bc_lanes {
 public:
  BC_INLINE void sync() const { __syncwarp(mask_); }
  BC_INLINE unsigned __mask() const { return mask_; }

 protected:
  BC_INLINE explicit __bc_lanes(unsigned mask) : mask_(mask) {}
  BC_INLINE static unsigned below() { return (1u << __bc_lane()) - 1u; }
  BC_INLINE unsigned rank() const { return static_cast<unsigned>(__popc(mask_ & below())); }
  BC_INLINE unsigned count() const { return static_cast<unsigned>(__popc(mask_)); }
  /// The lane of a member.
  BC_INLINE int lane_of(unsigned rank) const {
    unsigned left = mask_;
    for (unsigned i = 0; i < rank; ++i) left &= left - 1u;
    return __ffs(static_cast<int>(left)) - 1;
  }
  /// The members' bits of a warp's mask, packed.
  BC_INLINE unsigned pack(unsigned lanes) const {
    unsigned packed = 0, at = 0;
    for (unsigned lane = 0; lane < 32; ++lane) {
      unsigned member = mask_ >> lane & 1u;
      packed |= (lanes >> lane & member) << at;
      at += member;
    }
    return packed;
  }
  unsigned mask_;
};

class thread_block {
 public:
  using arrival_token = unsigned;
  BC_INLINE static void sync() { __bc_barrier(); }
  BC_INLINE static arrival_token barrier_arrive() { return 0; }
  BC_INLINE static void barrier_wait(arrival_token&&) { __bc_barrier(); }
  BC_INLINE static unsigned thread_rank() { return __bc_linear(); }
  BC_INLINE static unsigned size() { return __bc_dim_x() * __bc_dim_y() * __bc_dim_z(); }
  BC_INLINE static unsigned num_threads() { return size(); }
  BC_INLINE static dim3 group_dim() { return dim3(__bc_dim_x(), __bc_dim_y(), __bc_dim_z()); }
  BC_INLINE static dim3 dim_threads() { return group_dim(); }
  BC_INLINE static dim3 group_index() { return dim3(__bc_block_x(), __bc_block_y(), __bc_block_z()); }
  BC_INLINE static dim3 thread_index() { return dim3(__bc_thread_x(), __bc_thread_y(), __bc_thread_z()); }
};
/// Shared memory for tiles of more than a warp.
template <unsigned MaxBlockSize = 1024>
struct block_tile_memory {
  __bc_meeting meetings[MaxBlockSize / 32 + 1][6];  // of tiles of 64, 128 … 1024 threads
  alignas(16) char values[MaxBlockSize][16];
};
/// A block with shared memory for the barriers of its tiles.
class __bc_block_with_memory : public thread_block {
 public:
  BC_INLINE __bc_block_with_memory(__bc_meeting* meetings, char* values) : meetings_(meetings), values_(values) {}
  __bc_meeting* meetings_;
  char* values_;
};
BC_FN thread_block this_thread_block() { return {}; }
template <unsigned Most>
BC_INLINE __bc_block_with_memory this_thread_block(block_tile_memory<Most>& memory) {
  for (unsigned i = __bc_linear(); i < sizeof(memory.meetings) / sizeof(__bc_meeting); i += thread_block::size())
    (&memory.meetings[0][0])[i] = __bc_meeting{0, 0};
  __bc_barrier();
  return {&memory.meetings[0][0], &memory.values[0][0]};
}

/// The blocks of a cluster, which run at the same time and access each other's shared memory.
class cluster_group {
 public:
  using arrival_token = unsigned;
  BC_INLINE static void sync() { __bc_cluster_barrier(); }
  BC_INLINE static arrival_token barrier_arrive() { return 0; }
  BC_INLINE static void barrier_wait() { __bc_cluster_barrier(); }
  BC_INLINE static void barrier_wait(arrival_token&&) { __bc_cluster_barrier(); }
  BC_INLINE static dim3 dim_blocks() { return dim3(__bc_cluster_x(), __bc_cluster_y(), __bc_cluster_z()); }
  BC_INLINE static unsigned num_blocks() { return __bc_cluster_x() * __bc_cluster_y() * __bc_cluster_z(); }
  BC_INLINE static dim3 block_index() {
    return dim3(__bc_block_x() % __bc_cluster_x(), __bc_block_y() % __bc_cluster_y(), __bc_block_z() % __bc_cluster_z());
  }
  BC_INLINE static unsigned block_rank() {
    dim3 at = block_index();
    return (at.z * __bc_cluster_y() + at.y) * __bc_cluster_x() + at.x;
  }
  BC_INLINE static unsigned num_threads() { return num_blocks() * thread_block::size(); }
  BC_INLINE static unsigned size() { return num_threads(); }
  BC_INLINE static unsigned thread_rank() { return block_rank() * thread_block::size() + __bc_linear(); }
  BC_INLINE static dim3 dim_threads() {
    return dim3(__bc_cluster_x() * __bc_dim_x(), __bc_cluster_y() * __bc_dim_y(), __bc_cluster_z() * __bc_dim_z());
  }
  BC_INLINE static dim3 thread_index() {
    dim3 at = block_index();
    return dim3(at.x * __bc_dim_x() + __bc_thread_x(), at.y * __bc_dim_y() + __bc_thread_y(), at.z * __bc_dim_z() + __bc_thread_z());
  }
  /// The same variable in the shared memory of another block of the cluster.
  template <class T>
  BC_INLINE static T* map_shared_rank(T* address, int rank) {
    long by = (static_cast<long>(rank) - static_cast<long>(block_rank())) * static_cast<long>(__bc_shared_stride());
    return reinterpret_cast<T*>(const_cast<char*>(reinterpret_cast<const volatile char*>(address)) + by);
  }
  /// The block whose shared memory an address is in.
  BC_INLINE static unsigned query_shared_rank(const void* address) {
    unsigned long stride = __bc_shared_stride(), first = reinterpret_cast<unsigned long>(__bc_shared(0)) - block_rank() * stride;
    return static_cast<unsigned>((reinterpret_cast<unsigned long>(address) - first) / stride);
  }
};
BC_FN cluster_group this_cluster() { return {}; }

class grid_group {
 public:
  using arrival_token = unsigned;
  BC_INLINE bool is_valid() const { return true; }
  BC_INLINE void sync() const { __bc_grid_barrier(); }
  BC_INLINE static arrival_token barrier_arrive() { return 0; }
  BC_INLINE static void barrier_wait(arrival_token&&) { __bc_grid_barrier(); }
  BC_INLINE static unsigned long long num_blocks() {
    return static_cast<unsigned long long>(__bc_grid_x()) * __bc_grid_y() * __bc_grid_z();
  }
  BC_INLINE static unsigned long long block_rank() {
    return (static_cast<unsigned long long>(__bc_block_z()) * __bc_grid_y() + __bc_block_y()) * __bc_grid_x() + __bc_block_x();
  }
  BC_INLINE static unsigned long long size() { return num_blocks() * thread_block::size(); }
  BC_INLINE static unsigned long long num_threads() { return size(); }
  BC_INLINE static unsigned long long thread_rank() { return block_rank() * thread_block::size() + __bc_linear(); }
  BC_INLINE static dim3 group_dim() { return dim3(__bc_grid_x(), __bc_grid_y(), __bc_grid_z()); }
  BC_INLINE static dim3 dim_blocks() { return group_dim(); }
  BC_INLINE static dim3 block_index() { return dim3(__bc_block_x(), __bc_block_y(), __bc_block_z()); }
  BC_INLINE static dim3 dim_threads() {
    return dim3(__bc_grid_x() * __bc_dim_x(), __bc_grid_y() * __bc_dim_y(), __bc_grid_z() * __bc_dim_z());
  }
  BC_INLINE static dim3 thread_index() {
    return dim3(__bc_block_x() * __bc_dim_x() + __bc_thread_x(), __bc_block_y() * __bc_dim_y() + __bc_thread_y(),
                __bc_block_z() * __bc_dim_z() + __bc_thread_z());
  }
  BC_INLINE static dim3 dim_clusters() {
    return dim3(__bc_grid_x() / __bc_cluster_x(), __bc_grid_y() / __bc_cluster_y(), __bc_grid_z() / __bc_cluster_z());
  }
  BC_INLINE static dim3 cluster_index() {
    return dim3(__bc_block_x() / __bc_cluster_x(), __bc_block_y() / __bc_cluster_y(), __bc_block_z() / __bc_cluster_z());
  }
  BC_INLINE static unsigned long long num_clusters() {
    dim3 all = dim_clusters();
    return static_cast<unsigned long long>(all.x) * all.y * all.z;
  }
  BC_INLINE static unsigned long long cluster_rank() {
    dim3 all = dim_clusters(), at = cluster_index();
    return (static_cast<unsigned long long>(at.z) * all.y + at.y) * all.x + at.x;
  }
};
BC_FN grid_group this_grid() { return {}; }

/// The threads of a warp that are active together, or that a partition put into one group.
class coalesced_group : public __bc_lanes {
 public:
  BC_INLINE explicit coalesced_group(unsigned mask, unsigned part = 0, unsigned parts = 1) : __bc_lanes(mask), part_(part), parts_(parts) {}
  BC_INLINE unsigned size() const { return count(); }
  BC_INLINE unsigned num_threads() const { return count(); }
  BC_INLINE unsigned thread_rank() const { return rank(); }
  BC_INLINE unsigned meta_group_rank() const { return part_; }
  BC_INLINE unsigned meta_group_size() const { return parts_; }
  template <class T> BC_INLINE T shfl(T v, unsigned source) const { return __bc_shuffle_any(mask_, v, lane_of(source)); }
  template <class T> BC_INLINE T shfl_up(T v, unsigned delta) const {
    unsigned at = rank();
    return __bc_shuffle_any(mask_, v, lane_of(at >= delta ? at - delta : at));
  }
  template <class T> BC_INLINE T shfl_down(T v, unsigned delta) const {
    unsigned at = rank();
    return __bc_shuffle_any(mask_, v, lane_of(at + delta < size() ? at + delta : at));
  }
  BC_INLINE int any(int p) const { return __any_sync(mask_, p); }
  BC_INLINE int all(int p) const { return __all_sync(mask_, p); }
  BC_INLINE unsigned ballot(int p) const { return pack(__ballot_sync(mask_, p)); }
  template <class T> BC_INLINE unsigned match_any(T v) const { return pack(__match_any_sync(mask_, v)); }
  template <class T> BC_INLINE unsigned match_all(T v, int& p) const { return pack(__match_all_sync(mask_, v, &p)); }

 private:
  unsigned part_, parts_;
};
BC_FN coalesced_group coalesced_threads() { return coalesced_group(__activemask()); }

/// A tile of 2^k threads of a block. A tile of more than 32 threads needs memory of the block.
template <unsigned Size, class Parent = void, bool OneWarp = (Size <= 32)>
class thread_block_tile : public __bc_lanes {
 public:
  static_assert(Size != 0 && (Size & (Size - 1)) == 0 && Size <= 1024, "a tile has 1, 2, 4 … 1024 threads");
  BC_INLINE thread_block_tile() : __bc_lanes(Size == 32 ? 0xffffffffu : ((1u << (Size & 31u)) - 1u) << (__bc_lane() & ~(Size - 1u))) {}
  BC_INLINE explicit thread_block_tile(unsigned parent) : thread_block_tile() { parent_ = parent; }
  /// A tile without a parent in its type.
  template <class P> BC_INLINE thread_block_tile(const thread_block_tile<Size, P, true>& tile) : thread_block_tile(tile.parent_) {}
  BC_INLINE static constexpr unsigned size() { return Size; }
  BC_INLINE static constexpr unsigned num_threads() { return Size; }
  BC_INLINE unsigned thread_rank() const { return __bc_lane() & (Size - 1u); }
  BC_INLINE unsigned meta_group_rank() const { return parent_ == 0 ? __bc_linear() / Size : __bc_linear() % parent_ / Size; }
  BC_INLINE unsigned meta_group_size() const { return ((parent_ == 0 ? thread_block::size() : parent_) + Size - 1u) / Size; }
  template <class T> BC_INLINE T shfl(T v, int source) const {
    return __bc_shuffle_any(mask_, v, static_cast<int>(first()) + (source & static_cast<int>(Size - 1u)));
  }
  template <class T> BC_INLINE T shfl_up(T v, unsigned delta) const {
    return from(v, static_cast<int>(thread_rank()) - static_cast<int>(delta));
  }
  template <class T> BC_INLINE T shfl_down(T v, unsigned delta) const { return from(v, static_cast<int>(thread_rank() + delta)); }
  template <class T> BC_INLINE T shfl_xor(T v, unsigned lanes) const { return from(v, static_cast<int>(thread_rank() ^ lanes)); }
  BC_INLINE int any(int p) const { return __any_sync(mask_, p); }
  BC_INLINE int all(int p) const { return __all_sync(mask_, p); }
  BC_INLINE unsigned ballot(int p) const { return __ballot_sync(mask_, p) >> first(); }
  template <class T> BC_INLINE unsigned match_any(T v) const { return __match_any_sync(mask_, v) >> first(); }
  template <class T> BC_INLINE unsigned match_all(T v, int& p) const { return __match_all_sync(mask_, v, &p) >> first(); }
  BC_INLINE operator coalesced_group() const { return coalesced_group(mask_, meta_group_rank(), meta_group_size()); }

 private:
  BC_INLINE unsigned first() const { return __bc_lane() & ~(Size - 1u); }
  template <class T> BC_INLINE T from(T v, int rank) const {
    int lane = rank < 0 || rank >= static_cast<int>(Size) ? static_cast<int>(__bc_lane()) : static_cast<int>(first()) + rank;
    return __bc_shuffle_any(mask_, v, lane);
  }
  template <unsigned, class, bool>
  friend class thread_block_tile;
  unsigned parent_ = 0;  // the size of the tile that it is a part of; 0: it is a part of the block
};
template <unsigned Size, class Parent>
class thread_block_tile<Size, Parent, false> {
 public:
  static_assert((Size & (Size - 1)) == 0 && Size <= 1024, "a tile has 1, 2, 4 … 1024 threads");
  BC_INLINE explicit thread_block_tile(const __bc_block_with_memory& block)
      : meeting_(block.meetings_ + meta_group_rank() * 6 + (__builtin_ctz(Size) - 6)),
        values_(block.values_ + meta_group_rank() * Size * 16) {}
  template <class P>
  BC_INLINE thread_block_tile(const thread_block_tile<Size, P, false>& tile) : meeting_(tile.meeting_), values_(tile.values_) {}
  BC_INLINE static constexpr unsigned size() { return Size; }
  BC_INLINE static constexpr unsigned num_threads() { return Size; }
  BC_INLINE static unsigned thread_rank() { return __bc_linear() & (Size - 1u); }
  BC_INLINE static unsigned meta_group_rank() { return __bc_linear() / Size; }
  BC_INLINE static unsigned meta_group_size() { return (thread_block::size() + Size - 1u) / Size; }
  BC_INLINE void sync() const { meeting_->wait(meeting_->arrive(Size)); }
  template <class T> BC_INLINE T shfl(T v, int source) const {
    return __gather(v, [=](const T* all) { return all[source]; });
  }
  BC_INLINE int any(int p) const {
    return __gather(p, [](const int* all) {
      int some = 0;
      for (unsigned i = 0; i < Size; ++i) some |= all[i] != 0;
      return some;
    });
  }
  BC_INLINE int all(int p) const { return !any(p == 0); }
  /// The values of all members, reduced by `f`.
  template <class T, class F>
  BC_INLINE auto __gather(T v, F f) const {
    static_assert(sizeof(T) <= 16, "tiles of more than a warp exchange values of at most 16 bytes");
    T* all = reinterpret_cast<T*>(values_);
    sync();
    all[thread_rank()] = v;
    sync();
    auto made = f(static_cast<const T*>(all));
    sync();
    return made;
  }

 private:
  __bc_meeting* meeting_;
  char* values_;
};

/// A group of a block of any kind.
class thread_group {
 public:
  BC_INLINE thread_group(const thread_block&) : mask_(0) {}
  BC_INLINE thread_group(const coalesced_group& g) : mask_(g.__mask()) {}
  template <unsigned Size, class Parent>
  BC_INLINE thread_group(const thread_block_tile<Size, Parent, true>& g) : mask_(g.__mask()) {}
  BC_INLINE void sync() const {
    if (mask_ == 0) {
      __bc_barrier();
    } else {
      __syncwarp(mask_);
    }
  }
  BC_INLINE unsigned long long size() const { return mask_ == 0 ? thread_block::size() : static_cast<unsigned>(__popc(mask_)); }
  BC_INLINE unsigned long long num_threads() const { return size(); }
  BC_INLINE unsigned long long thread_rank() const {
    return mask_ == 0 ? __bc_linear() : static_cast<unsigned>(__popc(mask_ & ((1u << __bc_lane()) - 1u)));
  }
  BC_INLINE unsigned __mask() const { return mask_; }

 private:
  unsigned mask_;  // 0: the block
};

template <unsigned Size>
BC_INLINE thread_block_tile<Size, thread_block> tiled_partition(const thread_block&) {
  return {};
}
template <unsigned Size>
BC_INLINE thread_block_tile<Size, thread_block> tiled_partition(const __bc_block_with_memory& block) {
  if constexpr (Size <= 32) {
    return {};
  } else {
    return thread_block_tile<Size, thread_block>(block);
  }
}
template <unsigned Size, unsigned Outer, class Parent>
BC_INLINE thread_block_tile<Size, thread_block_tile<Outer, Parent>> tiled_partition(const thread_block_tile<Outer, Parent>&) {
  static_assert(Size <= Outer, "a part of a tile is not larger than the tile");
  return thread_block_tile<Size, thread_block_tile<Outer, Parent>>(Outer);
}
/// Tiles whose size is known at run time: parts of a block, of a tile, or of coalesced threads.
BC_FN coalesced_group tiled_partition(const coalesced_group& group, unsigned size) {
  unsigned first = group.thread_rank() / size * size, members = 0, left = group.__mask();
  for (unsigned rank = 0; rank < group.size(); ++rank, left &= left - 1u)
    if (rank >= first && rank < first + size) members |= left & (0u - left);
  return coalesced_group(members, group.thread_rank() / size, (group.size() + size - 1u) / size);
}
BC_FN coalesced_group tiled_partition(const thread_block&, unsigned size) {
  unsigned first = __bc_lane() / size * size, members = size >= 32 ? 0xffffffffu : ((1u << size) - 1u) << first;
  unsigned threads = thread_block::size(), start = __bc_linear() / 32 * 32;
  if (threads - start < 32) members &= (1u << (threads - start)) - 1u;
  return coalesced_group(members, __bc_linear() / size, (threads + size - 1u) / size);
}
BC_FN coalesced_group tiled_partition(const thread_group& group, unsigned size) {
  if (group.__mask() == 0) return tiled_partition(thread_block(), size);
  return tiled_partition(coalesced_group(group.__mask()), size);
}

/// The members with equal labels, and those with equal predicates.
template <class Group, class Label>
BC_INLINE coalesced_group labeled_partition(const Group& group, Label label) {
  unsigned same = __match_any_sync(group.__mask(), label), first = static_cast<unsigned>(__ffs(static_cast<int>(same)) - 1);
  unsigned firsts = __ballot_sync(group.__mask(), first == __bc_lane());
  return coalesced_group(same, static_cast<unsigned>(__popc(firsts & ((1u << first) - 1u))), static_cast<unsigned>(__popc(firsts)));
}
template <class Group>
BC_INLINE coalesced_group binary_partition(const Group& group, bool yes) {
  unsigned with = __ballot_sync(group.__mask(), yes), without = group.__mask() & ~with;
  unsigned parts = with != 0 && without != 0 ? 2u : 1u;
  return coalesced_group(yes ? with : without, yes && parts == 2 ? 1u : 0u, parts);
}

template <class Group>
BC_INLINE void sync(const Group& group) {
  group.sync();
}
template <class Group>
BC_INLINE unsigned long long thread_rank(const Group& group) {
  return group.thread_rank();
}
template <class Group>
BC_INLINE unsigned long long group_size(const Group& group) {
  return group.size();
}

template <class T = void>
struct plus {
  template <class A> BC_INLINE A operator()(A a, A b) const { return a + b; }
};
template <class T = void>
struct less {
  template <class A> BC_INLINE A operator()(A a, A b) const { return b < a ? b : a; }
};
template <class T = void>
struct greater {
  template <class A> BC_INLINE A operator()(A a, A b) const { return a < b ? b : a; }
};
template <class T = void>
struct bit_and {
  template <class A> BC_INLINE A operator()(A a, A b) const { return a & b; }
};
template <class T = void>
struct bit_or {
  template <class A> BC_INLINE A operator()(A a, A b) const { return a | b; }
};
template <class T = void>
struct bit_xor {
  template <class A> BC_INLINE A operator()(A a, A b) const { return a ^ b; }
};

template <unsigned Size, class Parent, class T, class F>
BC_INLINE T reduce(const thread_block_tile<Size, Parent>& tile, T value, F join) {
  if constexpr (Size <= 32) {
    for (unsigned d = Size / 2; d > 0; d >>= 1) value = join(value, tile.shfl_xor(value, d));
    return value;
  } else {
    return tile.__gather(value, [=](const T* all) {
      T sum = all[0];
      for (unsigned i = 1; i < Size; ++i) sum = join(sum, all[i]);
      return sum;
    });
  }
}
template <class T, class F>
BC_INLINE T reduce(const coalesced_group& group, T value, F join) {
  T all = group.shfl(value, 0);
  for (unsigned i = 1; i < group.size(); ++i) all = join(all, group.shfl(value, i));
  return all;
}
template <unsigned Size, class Parent, class T, class F>
BC_INLINE T inclusive_scan(const thread_block_tile<Size, Parent>& tile, T value, F join) {
  if constexpr (Size <= 32) {
    for (unsigned d = 1; d < Size; d <<= 1) {
      T below = tile.shfl_up(value, d);
      if (tile.thread_rank() >= d) value = join(below, value);
    }
    return value;
  } else {
    return tile.__gather(value, [=](const T* all) {
      T sum = all[0];
      for (unsigned i = 1; i <= tile.thread_rank(); ++i) sum = join(sum, all[i]);
      return sum;
    });
  }
}
template <class T, class F>
BC_INLINE T inclusive_scan(const coalesced_group& group, T value, F join) {
  for (unsigned d = 1; d < group.size(); d <<= 1) {
    T below = group.shfl_up(value, d);
    if (group.thread_rank() >= d) value = join(below, value);
  }
  return value;
}
template <class Group, class T>
BC_INLINE T inclusive_scan(const Group& group, T value) {
  return inclusive_scan(group, value, plus<T>());
}
template <class Group, class T, class F>
BC_INLINE T exclusive_scan(const Group& group, T value, F join) {
  T all = inclusive_scan(group, value, join), below;
  if constexpr (requires { group.shfl_up(all, 1u); }) {
    below = group.shfl_up(all, 1u);
  } else {
    below = group.shfl(all, group.thread_rank() == 0 ? 0 : static_cast<int>(group.thread_rank()) - 1);
  }
  return group.thread_rank() == 0 ? T() : below;
}
template <class Group, class T>
BC_INLINE T exclusive_scan(const Group& group, T value) {
  return exclusive_scan(group, value, plus<T>());
}

/// Runs a function in one member of a group and gives its result to all.
template <class Group, class F>
BC_INLINE void invoke_one(const Group& group, F&& f) {
  if (group.thread_rank() == 0) f();
}
template <class Group, class F>
BC_INLINE auto invoke_one_broadcast(const Group& group, F&& f) {
  decltype(f()) value{};
  if (group.thread_rank() == 0) value = f();
  return group.shfl(value, 0);
}

/// Reduces values over a group, then updates memory by one atomic operation.
template <class Group, class A, class T, class F>
BC_INLINE void reduce_update_async(const Group& group, A& to, T value, F join) {
  T all = reduce(group, value, join);
  if (group.thread_rank() == 0) {
    auto old = to.load();
    while (!to.compare_exchange_weak(old, join(old, all))) {}
  }
}
template <class Group, class A, class T, class F>
BC_INLINE void reduce_store_async(const Group& group, T* to, T value, F join) {
  T all = reduce(group, value, join);
  if (group.thread_rank() == 0) *to = all;
}

/// Copies by all members of a group; wait() makes the copies visible to all of them.
template <class Group>
BC_INLINE void memcpy_async(const Group& group, void* to, const void* from, size_t bytes) {
  size_t rank = group.thread_rank(), count = group.size();
  if (bytes % 4 == 0 && reinterpret_cast<unsigned long>(to) % 4 == 0 && reinterpret_cast<unsigned long>(from) % 4 == 0) {
    for (size_t i = rank; i < bytes / 4; i += count) static_cast<unsigned*>(to)[i] = static_cast<const unsigned*>(from)[i];
  } else {
    for (size_t i = rank; i < bytes; i += count) static_cast<char*>(to)[i] = static_cast<const char*>(from)[i];
  }
}
template <class Group, class T, class U, class Shape>
BC_INLINE void memcpy_async(const Group& group, T* to, const U* from, Shape bytes) requires(sizeof(T) != 0 && !__is_integral(Shape))
{
  memcpy_async(group, static_cast<void*>(to), static_cast<const void*>(from), static_cast<size_t>(bytes));
}
/// The counts of both sides are in elements; the smaller one is copied.
template <class Group, class T, class U, class ToLayout, class FromLayout>
BC_INLINE void memcpy_async(const Group& group, T* to, const ToLayout& room, const U* from, const FromLayout& count) {
  size_t a = static_cast<size_t>(room) * sizeof(T), b = static_cast<size_t>(count) * sizeof(U);
  memcpy_async(group, static_cast<void*>(to), static_cast<const void*>(from), a < b ? a : b);
}
template <class Group>
BC_INLINE void wait(const Group& group) {
  group.sync();
}
template <unsigned Stages, class Group>
BC_INLINE void wait_prior(const Group& group) {
  group.sync();
}

}  // namespace cooperative_groups

// ---- the same of a cluster as functions
BC_FN unsigned __clusterDimIsSpecified() { return __bc_cluster_x() * __bc_cluster_y() * __bc_cluster_z() > 1 ? 1u : 0u; }
BC_FN dim3 __clusterDim() { return cooperative_groups::cluster_group::dim_blocks(); }
BC_FN dim3 __clusterRelativeBlockIdx() { return cooperative_groups::cluster_group::block_index(); }
BC_FN unsigned __clusterRelativeBlockRank() { return cooperative_groups::cluster_group::block_rank(); }
BC_FN unsigned __clusterSizeInBlocks() { return cooperative_groups::cluster_group::num_blocks(); }
BC_FN dim3 __clusterGridDimInClusters() { return cooperative_groups::grid_group::dim_clusters(); }
BC_FN dim3 __clusterIdx() { return cooperative_groups::grid_group::cluster_index(); }
BC_FN void __cluster_barrier_arrive() {}
BC_FN void __cluster_barrier_arrive_relaxed() {}
BC_FN void __cluster_barrier_wait() { __bc_cluster_barrier(); }
BC_FN void* __cluster_map_shared_rank(const void* address, unsigned rank) {
  return cooperative_groups::cluster_group::map_shared_rank(const_cast<char*>(static_cast<const char*>(address)), static_cast<int>(rank));
}
BC_FN unsigned __cluster_query_shared_rank(const void* address) { return cooperative_groups::cluster_group::query_shared_rank(address); }
BC_FN void __threadfence_cluster() { __threadfence(); }
