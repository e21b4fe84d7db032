// cooperative_groups.h: blocks, grids, tiles of a warp, and the threads that are together.
#pragma once

namespace cooperative_groups {

/// What all groups of threads of one warp can do: `mask` names their lanes.
class __bc_lanes {
 public:
  BC_INLINE void sync() const { __syncwarp(mask_); }
  BC_INLINE unsigned __mask() const { return mask_; }

 protected:
  BC_INLINE explicit __bc_lanes(unsigned mask) : mask_(mask) {}
  unsigned mask_;
};

class thread_block {
 public:
  BC_INLINE static void sync() { __bc_barrier(); }
  BC_INLINE static unsigned thread_rank() { return __bc_linear(); }
  BC_INLINE static unsigned size() { return __bc_dim_x() * __bc_dim_y() * __bc_dim_z(); }
  BC_INLINE static unsigned num_threads() { return size(); }
  BC_INLINE static dim3 group_dim() { return dim3(__bc_dim_x(), __bc_dim_y(), __bc_dim_z()); }
  BC_INLINE static dim3 dim_threads() { return group_dim(); }
  BC_INLINE static dim3 group_index() { return dim3(__bc_block_x(), __bc_block_y(), __bc_block_z()); }
  BC_INLINE static dim3 thread_index() { return dim3(__bc_thread_x(), __bc_thread_y(), __bc_thread_z()); }
};
BC_FN thread_block this_thread_block() { return {}; }

class grid_group {
 public:
  BC_INLINE bool is_valid() const { return true; }
  BC_INLINE void sync() const { __bc_grid_barrier(); }
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
};
BC_FN grid_group this_grid() { return {}; }

/// A tile of 2^k threads of a warp.
template <unsigned Size, class Parent = void>
class thread_block_tile : public __bc_lanes {
 public:
  static_assert(Size != 0 && (Size & (Size - 1)) == 0 && Size <= 32, "a tile has 1, 2, 4, 8, 16 or 32 threads");
  BC_INLINE thread_block_tile() : __bc_lanes(Size == 32 ? 0xffffffffu : ((1u << (Size & 31u)) - 1u) << (__bc_lane() & ~(Size - 1u))) {}
  BC_INLINE static constexpr unsigned size() { return Size; }
  BC_INLINE static constexpr unsigned num_threads() { return Size; }
  BC_INLINE unsigned thread_rank() const { return __bc_lane() & (Size - 1u); }
  BC_INLINE unsigned meta_group_rank() const { return __bc_linear() / Size; }
  BC_INLINE unsigned meta_group_size() const { return (thread_block::size() + Size - 1u) / Size; }
  template <class T> BC_INLINE T shfl(T v, int source) const { return __shfl_sync(mask_, v, source, Size); }
  template <class T> BC_INLINE T shfl_up(T v, unsigned delta) const { return __shfl_up_sync(mask_, v, delta, Size); }
  template <class T> BC_INLINE T shfl_down(T v, unsigned delta) const { return __shfl_down_sync(mask_, v, delta, Size); }
  template <class T> BC_INLINE T shfl_xor(T v, int lanes) const { return __shfl_xor_sync(mask_, v, lanes, Size); }
  BC_INLINE int any(int p) const { return __any_sync(mask_, p); }
  BC_INLINE int all(int p) const { return __all_sync(mask_, p); }
  BC_INLINE unsigned ballot(int p) const { return __ballot_sync(mask_, p) >> first(); }
  template <class T> BC_INLINE unsigned match_any(T v) const { return __match_any_sync(mask_, v) >> first(); }
  template <class T> BC_INLINE unsigned match_all(T v, int& p) const { return __match_all_sync(mask_, v, &p) >> first(); }

 private:
  BC_INLINE unsigned first() const { return __bc_lane() & ~(Size - 1u); }
};
template <unsigned Size, class Parent>
BC_INLINE thread_block_tile<Size, Parent> tiled_partition(const Parent&) {
  return {};
}

/// The threads of a warp that are here together.
class coalesced_group : public __bc_lanes {
 public:
  BC_INLINE explicit coalesced_group(unsigned mask) : __bc_lanes(mask) {}
  BC_INLINE unsigned size() const { return static_cast<unsigned>(__popc(mask_)); }
  BC_INLINE unsigned num_threads() const { return size(); }
  BC_INLINE unsigned thread_rank() const { return static_cast<unsigned>(__popc(mask_ & ((1u << __bc_lane()) - 1u))); }
  template <class T> BC_INLINE T shfl(T v, unsigned source) const { return __shfl_sync(mask_, v, lane_of(source)); }
  template <class T> BC_INLINE T shfl_up(T v, unsigned delta) const {
    unsigned rank = thread_rank();
    return __shfl_sync(mask_, v, lane_of(rank >= delta ? rank - delta : rank));
  }
  template <class T> BC_INLINE T shfl_down(T v, unsigned delta) const {
    unsigned rank = thread_rank();
    return __shfl_sync(mask_, v, lane_of(rank + delta < size() ? rank + delta : rank));
  }
  BC_INLINE int any(int p) const { return __any_sync(mask_, p); }
  BC_INLINE int all(int p) const { return __all_sync(mask_, p); }
  BC_INLINE unsigned ballot(int p) const { return pack(__ballot_sync(mask_, p)); }
  template <class T> BC_INLINE unsigned match_any(T v) const { return pack(__match_any_sync(mask_, v)); }

 private:
  BC_INLINE int lane_of(unsigned rank) const {
    unsigned left = mask_;
    for (unsigned i = 0; i < rank; ++i) left &= left - 1u;
    return __ffs(static_cast<int>(left)) - 1;
  }
  BC_INLINE unsigned pack(unsigned lanes) const {
    unsigned packed = 0, at = 0;
    for (unsigned lane = 0; lane < 32; ++lane) {
      if ((mask_ >> lane & 1u) == 0) continue;
      packed |= (lanes >> lane & 1u) << at;
      ++at;
    }
    return packed;
  }
};
BC_FN coalesced_group coalesced_threads() { return coalesced_group(__activemask()); }

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
  for (unsigned d = Size / 2; d > 0; d >>= 1) value = join(value, tile.shfl_xor(value, static_cast<int>(d)));
  return value;
}
template <class T, class F>
BC_INLINE T reduce(const coalesced_group& group, T value, F join) {
  T all = group.shfl(value, 0);
  for (unsigned i = 1; i < group.size(); ++i) all = join(all, group.shfl(value, i));
  return all;
}
template <unsigned Size, class Parent, class T, class F>
BC_INLINE T inclusive_scan(const thread_block_tile<Size, Parent>& tile, T value, F join) {
  for (unsigned d = 1; d < Size; d <<= 1) {
    T below = tile.shfl_up(value, d);
    if (tile.thread_rank() >= d) value = join(below, value);
  }
  return value;
}
template <unsigned Size, class Parent, class T>
BC_INLINE T inclusive_scan(const thread_block_tile<Size, Parent>& tile, T value) {
  return inclusive_scan(tile, value, plus<T>());
}
template <unsigned Size, class Parent, class T, class F>
BC_INLINE T exclusive_scan(const thread_block_tile<Size, Parent>& tile, T value, F join) {
  T all = inclusive_scan(tile, value, join), below = tile.shfl_up(all, 1);
  return tile.thread_rank() == 0 ? T() : below;
}
template <unsigned Size, class Parent, class T>
BC_INLINE T exclusive_scan(const thread_block_tile<Size, Parent>& tile, T value) {
  return exclusive_scan(tile, value, plus<T>());
}

}  // namespace cooperative_groups
