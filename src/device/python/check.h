// Checked mode: accesses through `at`, which looks for indices out of bounds, races between barriers and reads of what nothing has
// written; and results that are NaN although no operand was.
#pragma once
#include "cuda.h"

namespace bc {
namespace py {

/// The first finding, which the host reads. `status` is the word by which kernels report exceptions; the code of a finding is -1.
struct Finding {
  Status status;
  int kind, site, ndim, what;
  int other_thread[3], other_block[3];
  i64 index[8], shape[8];
};
enum FindingKind { kOutOfBounds = 1, kRace = 2, kUninitialised = 3, kNaN = 4, kBarrier = 5 };
enum AccessMode { kRead = 0, kWrite = 1, kAtomic = 2, kOnlyBounds = 3 };
enum AccessSpace { kGeneric = 0, kShared = 1, kLocal = 2 };

/// The thread that accessed an address last: its block, the barriers of the block and of the warp that it had passed, and its number.
struct Touched {
  u64 key;
  u64 write, read, other_read, atomic;
  u32 lock, unused;
};
enum : u32 { kTouchedCount = 1u << 18 };
/// Memory of arrays of narrow elements that was unwritten when the kernel was launched; the host fills it in.
struct FreshMemory {
  u64 begin, end;
};
enum : u32 { kFreshCount = 16 };
struct CheckState {
  Finding first;
  FreshMemory fresh[kFreshCount];  ///< unused entries are empty
  alignas(16) char scratch[4096];  ///< replaces the element of an access out of bounds
  Touched touched[kTouchedCount];
};

static_assert(__builtin_offsetof(CheckState, fresh) == 200 && sizeof(CheckState) == 4560 + 48 * kTouchedCount,
              "kFreshOffset and kCheckBytes of kernels/compile.h");

/// One thread's state of the checks.
struct Checker {
  CheckState* state;
  u32 epoch, warp_epoch;
  bool across;  ///< races between blocks are reported too
};
BC_PY Checker checker(Status* status, bool across) { return {reinterpret_cast<CheckState*>(status), 0, 0, across}; }

BC_FN u32 thread_number() { return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z); }
BC_FN u32 block_number() { return blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z); }

BC_PY void found(const Checker& c, int kind, int site, int ndim, const i64* index, const i64* shape, int what, u64 other) {
  Finding& f = c.state->first;
  if (atomicCAS(&f.status.code, 0, -1) != 0) return;
  f.status.thread[0] = static_cast<int>(threadIdx.x);
  f.status.thread[1] = static_cast<int>(threadIdx.y);
  f.status.thread[2] = static_cast<int>(threadIdx.z);
  f.status.block[0] = static_cast<int>(blockIdx.x);
  f.status.block[1] = static_cast<int>(blockIdx.y);
  f.status.block[2] = static_cast<int>(blockIdx.z);
  f.kind = kind, f.site = site, f.what = what;
  f.ndim = ndim < 8 ? ndim : 8;
  for (int k = 0; k < f.ndim; ++k) f.index[k] = index[k], f.shape[k] = shape[k];
  const u32 thread = static_cast<u32>(other & 1023u), block = static_cast<u32>(other >> 36) & 0x7ffffffu;
  f.other_thread[0] = static_cast<int>(thread % blockDim.x);
  f.other_thread[1] = static_cast<int>(thread / blockDim.x % blockDim.y);
  f.other_thread[2] = static_cast<int>(thread / blockDim.x / blockDim.y);
  f.other_block[0] = static_cast<int>(block % gridDim.x);
  f.other_block[1] = static_cast<int>(block / gridDim.x % gridDim.y);
  f.other_block[2] = static_cast<int>(block / gridDim.x / gridDim.y);
}

BC_FN u64 touch_word(const Checker& c) {
  return 1ull << 63 | static_cast<u64>(block_number() & 0x7ffffffu) << 36 | static_cast<u64>(c.epoch & 0xffffu) << 20 |
         static_cast<u64>(c.warp_epoch & 1023u) << 10 | (thread_number() & 1023u);
}
/// Tells whether a barrier orders the access `w` before this thread's access now.
BC_FN bool in_order(u64 w, u64 now, bool across) {
  if (w == 0) return true;
  if (((w ^ now) >> 36 & 0x7ffffffu) != 0) return !across;
  if (((w ^ now) & 1023u) == 0 || ((w ^ now) >> 20 & 0xffffu) != 0) return true;
  return ((w ^ now) & 0x3e0u) == 0 && ((w ^ now) >> 10 & 1023u) != 0;  // the same warp, which has passed a barrier since
}

/// The entry of a key in the table; `make` adds a missing one. nullptr: it is missing, or the table is full (`full`).
BC_PY Touched* touched(Checker& c, u64 key, bool make, bool* full) {
  u64 place = key * 0x9e3779b97f4a7c15ull;
  place ^= place >> 29;
  *full = false;
  for (u32 probe = 0; probe < 16; ++probe) {
    Touched* candidate = &c.state->touched[(place + probe) & (kTouchedCount - 1)];
    const u64 there = atomicCAS(&candidate->key, static_cast<u64>(0), make ? key : static_cast<u64>(0));
    if (there == key || (make && there == 0)) return candidate;
    if (there == 0) return nullptr;
  }
  *full = true;
  return nullptr;
}
/// Makes keys of shared memory differ between blocks, and those of local memory between threads.
BC_FN u64 shared_key(const void* p) { return reinterpret_cast<u64>(p) ^ static_cast<u64>(block_number() + 1) << 40; }
BC_FN u64 local_key(const void* p) {
  const u64 threads = static_cast<u64>(blockDim.x) * blockDim.y * blockDim.z;
  return reinterpret_cast<u64>(p) + (static_cast<u64>(block_number()) * threads + thread_number() + 1) * 0xd1342543de82ef95ull;
}

/// Records an access; returns the access that it races with, or 0. `what` gets 1 for a write, 2 for an atomic access.
BC_PY u64 touch(Checker& c, int mode, u64 key, int* what) {
  const u64 now = touch_word(c);
  bool full = false;
  Touched* t = touched(c, key, true, &full);
  if (!t) return 0;  // the table is full, so this address is not checked
  u64 other = 0;
  bool done = false;
  while (!done) {
    if (atomicCAS(&t->lock, 0u, 1u) == 0u) {
      __threadfence();
#if BC_CUDA
      volatile Touched* v = t;
#else
      Touched* v =
          t;  // volatile stores would synchronise a warp's threads, and the lock's owner would wait for the threads that wait for the lock
#endif
      const bool across = c.across;
      const u64 write = v->write, read = v->read, other_read = v->other_read, atomic = v->atomic;
      if (!in_order(write, now, across))
        other = write, *what = 1;
      else if (mode != kAtomic && !in_order(atomic, now, across))
        other = atomic, *what = 2;
      else if (mode != kRead && !in_order(read, now, across))
        other = read, *what = 0;
      else if (mode != kRead && !in_order(other_read, now, across))
        other = other_read, *what = 0;
      if (mode == kWrite)
        v->write = now;
      else if (mode == kAtomic)
        v->atomic = now;
      else if (in_order(read, now, across))
        v->read = now;
      else
        v->other_read = now;
      __threadfence();
      atomicExch(&t->lock, 0u);
      done = true;
    }
  }
  return other;
}

enum : u32 { kPoison = 0xcba5f1d3u, kUnsetWord = 0xcbcbcbcbu };  // the latter of global memory
BC_FN u8 poison_byte(u64 address) { return static_cast<u8>(kPoison >> (8 * (address & 3))); }
/// Elements of one or two bytes: every pattern is also a value, so the pattern alone does not show that they are unwritten.
template <class T>
constexpr bool is_narrow = sizeof(T) % 4 != 0;
/// `narrow`: removes the table's entries of the memory's previous use.
BC_PY void poison(Checker& c, void* memory, i64 bytes, bool narrow) {
  u8* p = static_cast<u8*>(memory);
  for (i64 i = 0; i < bytes; ++i) {
    p[i] = poison_byte(reinterpret_cast<u64>(p + i));
    bool full = false;
    if (!narrow) continue;
    if (Touched* t = touched(c, local_key(p + i), false, &full)) t->write = 0;
  }
}
BC_PY void poison_shared(void* memory, i64 bytes) {
  const i64 threads = static_cast<i64>(blockDim.x) * blockDim.y * blockDim.z;
  u8* p = static_cast<u8*>(memory);
  for (i64 i = thread_number(); i < bytes; i += threads) p[i] = poison_byte(reinterpret_cast<u64>(p + i));
}
BC_PY bool is_fresh(const Checker& c, u64 address) {
  for (u32 i = 0; i < kFreshCount; ++i)
    if (address - c.state->fresh[i].begin < c.state->fresh[i].end - c.state->fresh[i].begin) return true;
  return false;
}
/// Unwritten memory holds a pattern; for narrow elements the table also records whether they were written. In global memory the pattern is
/// one byte, so narrow elements are recognised there by their addresses alone (FreshMemory).
template <int Where, class T>
BC_INLINE bool is_poisoned(Checker& c, const T* p) {
  if constexpr (is_narrow<T>) {
    if constexpr (Where == kGeneric) {
      if (!is_fresh(c, reinterpret_cast<u64>(p))) return false;
    } else {
      const u8* b = reinterpret_cast<const u8*>(p);
      for (int k = 0; k < static_cast<int>(sizeof(T)); ++k)
        if (b[k] != poison_byte(reinterpret_cast<u64>(b + k))) return false;
    }
    bool full = false;
    Touched* t = touched(c, Where == kShared ? shared_key(p) : Where == kLocal ? local_key(p) : reinterpret_cast<u64>(p), false, &full);
#if BC_CUDA
    volatile Touched* v = t;
#else
    Touched* v = t;
#endif
    return !full && (!t || (v->write == 0 && v->atomic == 0));
  } else {
    const u32* w = reinterpret_cast<const u32*>(p);
    for (int k = 0; k < static_cast<int>(sizeof(T) / 4); ++k)
      if (w[k] != (Where == kGeneric ? kUnsetWord : kPoison)) return false;
    return true;
  }
}
/// The value of a variable before its first assignment, and the check of a variable that a path may have left unassigned.
template <class T>
BC_INLINE T unset() {
  T v;
  u32* w = reinterpret_cast<u32*>(&v);
  for (int k = 0; k < static_cast<int>(sizeof(T) / 4); ++k) w[k] = kPoison;
  return v;
}
template <class T>
BC_INLINE T set_value(Checker& c, int site, T v) {
  if (is_poisoned<kLocal>(c, &v)) found(c, kUninitialised, site, 0, nullptr, nullptr, kRead, 0);
  return v;
}

/// The number of threads of the block that returned before its end, counted in the table under a key that is no address. A barrier of all
/// threads does not wait for them: it is complete when those that have not exited have come (PTX ISA, `exit`; compute capability 7.0 on).
BC_FN u64 left_key() { return ~static_cast<u64>(block_number()); }
BC_PY void leave(Checker& c) {
  bool full = false;
  if (Touched* t = touched(c, left_key(), true, &full)) atomicAdd(&t->lock, 1u);
  __threadfence();
}
/// `missing`: how many threads have not arrived; returned when the table is full.
BC_PY i64 threads_that_left(Checker& c, i64 missing) {
  bool full = false;
  Touched* t = touched(c, left_key(), false, &full);
  return full ? missing : t ? static_cast<i64>(atomicAdd(&t->lock, 0u)) : 0;
}

#if BC_CUDA
// Barriers that threads of one warp may reach at different places of the program, as in programs with the mistake that is checked for.
// CUDA's own functions are aligned barriers, for which that is undefined (PTX ISA, barrier) and may hang.
BC_FN int barrier_count(int predicate) {
  int count;
  asm volatile("{.reg .pred p; setp.ne.s32 p, %1, 0; barrier.red.popc.u32 %0, 0, p;}" : "=r"(count) : "r"(predicate) : "memory");
  return count;
}
BC_FN void barrier() { asm volatile("barrier.sync 0;" ::: "memory"); }
#define __syncthreads ::bc::py::barrier
#define __syncthreads_count(predicate) ::bc::py::barrier_count((predicate) != 0)
#define __syncthreads_or(predicate) static_cast<int>(::bc::py::barrier_count((predicate) != 0) != 0)
#define __syncthreads_and(predicate) static_cast<int>(::bc::py::barrier_count((predicate) == 0) == 0)
#endif

/// The block's barrier: all threads that have not returned must arrive, at the same barrier of the program.
BC_PY void meet(Checker& c, int site) {
  static __shared__ int of_one;
  of_one = site;
  const int here = __syncthreads_count(1);
  const int same = __syncthreads_count(of_one == site);
  const i64 came = same;
  i64 all = static_cast<i64>(blockDim.x) * blockDim.y * blockDim.z;
  if (here != all) all -= threads_that_left(c, all - here);
  if (here != all || same != here) found(c, kBarrier, site, 1, &came, &all, 0, 0);
}

template <class T>
struct plain_type {
  using type = T;
};
template <class T>
struct plain_type<const T> {
  using type = T;
};

/// The element at the given indices, of which negative ones count from the end; a scratch element if an index is out of bounds.
template <int Mode, int Where, class T, int N, char L, class... I>
BC_INLINE T& at(Checker& c, int site, const Array<T, N, L>& a, I... indices) {
  static_assert(sizeof(T) <= sizeof(CheckState::scratch), "records of checked kernels have 4096 bytes at most");
  T* p;
  i64 index[N > 0 ? N : 1] = {}, shape[N > 0 ? N : 1] = {};
  if constexpr (N == 0) {
    p = a.data;
  } else {
    const i64 given[] = {static_cast<i64>(indices)...};
    char* bytes = a.bytes();
    bool inside = true;
    for (int k = 0; k < N; ++k) {
      index[k] = given[k], shape[k] = a.shape[k];
      const i64 i = wrap(given[k], a.shape[k]);
      inside = inside && i >= 0 && i < a.shape[k];
      bytes += i * a.strides[k];
    }
    if (!inside) {
      found(c, kOutOfBounds, site, N, index, shape, Mode, 0);
      return *reinterpret_cast<T*>(c.state->scratch);
    }
    p = reinterpret_cast<T*>(bytes);
  }
  if constexpr (Mode == kRead || Mode == kAtomic)
    if (is_poisoned<Where>(c, p)) found(c, kUninitialised, site, N, index, shape, Mode, 0);
  if constexpr (Where == kLocal && is_narrow<T> && (Mode == kWrite || Mode == kAtomic)) {
    bool full = false;
    if (Touched* t = touched(c, local_key(p), true, &full)) t->write = 1;
  }
  if constexpr (Where != kLocal && Mode != kOnlyBounds) {
    int what = 0;
    const u64 other = touch(c, Mode, Where == kShared ? shared_key(p) : reinterpret_cast<u64>(p), &what);
    if (other != 0) found(c, kRace, site, N, index, shape, Mode | what << 4, other);
  }
  return *p;
}

/// A field of a record.
template <int Mode, int Where, class T>
BC_INLINE T& field_at(Checker& c, int site, T& field) {
  return at<Mode, Where>(c, site, Array<T, 0, 'C'>{&field});
}

/// An index of a view, which must be inside.
BC_PY i64 index_inside(Checker& c, int site, i64 i, i64 extent) {
  const i64 at = wrap(i, extent);
  if (at >= 0 && at < extent) return at;
  found(c, kOutOfBounds, site, 1, &i, &extent, kRead, 0);
  return 0;
}

template <class T>
BC_INLINE bool is_nan(const T& x) {
  if constexpr (is_complex<T>)
    return x.re != x.re || x.im != x.im;
  else if constexpr (is_small_float<T>)
    return static_cast<float>(x) != static_cast<float>(x);
  else
    return x != x;
}
template <class R, class... A>
BC_INLINE void nan_made(Checker& c, int site, const R& result, const A&... operands) {
  if (is_nan(result) && !(is_nan(operands) || ...)) found(c, kNaN, site, 0, nullptr, nullptr, 0, 0);
}

}  // namespace py
}  // namespace bc
