// The parts that CUB's headers share: operators, threads' places, values in pieces, room in shared memory, and loads and stores of one thread.
#pragma once
#include <cuda/std/type_traits>

#define CUB_RUNTIME_FUNCTION
#define CUB_PTX_WARP_THREADS 32
#define CUB_LOG_WARP_THREADS(unused) 5
#define CUB_PTX_LOG_WARP_THREADS 5
#define CUB_WARP_THREADS(unused) 32
#define CUB_MAX(a, b) (((a) > (b)) ? (a) : (b))
#define CUB_MIN(a, b) (((a) < (b)) ? (a) : (b))
#define CUB_QUOTIENT_FLOOR(x, y) ((x) / (y))
#define CUB_QUOTIENT_CEILING(x, y) (((x) + (y) - 1) / (y))
#define CUB_ROUND_UP_NEAREST(x, y) (CUB_QUOTIENT_CEILING(x, y) * (y))
#define CUB_IS_INT_CONSTANT(x) (__builtin_constant_p(x))
#define CUB_VERSION 300000

enum cudaSharedMemConfig { cudaSharedMemBankSizeDefault = 0, cudaSharedMemBankSizeFourByte = 1, cudaSharedMemBankSizeEightByte = 2 };

namespace cub {

struct NullType {
  template <class T> NullType& operator=(const T&) { return *this; }
  bool operator==(const NullType&) const { return true; }
  bool operator!=(const NullType&) const { return false; }
};
template <int A> struct Int2Type {
  enum { VALUE = A };
};
template <int N, int Current = N, int Count = 0>
struct Log2 {
  enum { VALUE = Log2<N, (Current >> 1), Count + 1>::VALUE };
};
template <int N, int Count>
struct Log2<N, 0, Count> {
  enum { VALUE = (1 << (Count - 1) < N) ? Count : Count - 1 };
};
template <int N> struct PowerOfTwo {
  enum { VALUE = ((N & (N - 1)) == 0) };
};
template <class A, class B> constexpr A DivideAndRoundUp(A n, B d) { return static_cast<A>((n + d - 1) / d); }
template <class A, class B> constexpr auto Max_(A a, B b) { return a < b ? b : a; }

template <class Key, class Value>
struct KeyValuePair {
  typedef Key KeyT;
  typedef Value ValueT;
  Key key;
  Value value;
  KeyValuePair() = default;
  KeyValuePair(const Key& k, const Value& v) : key(k), value(v) {}
  bool operator==(const KeyValuePair& b) const { return key == b.key && value == b.value; }
  bool operator!=(const KeyValuePair& b) const { return !(*this == b); }
};

/// Uninitialised memory for a T.
template <class T>
struct Uninitialized {
  alignas(T) unsigned char storage[sizeof(T)];
  T& Alias() { return reinterpret_cast<T&>(*this); }
};

// ---- operators
struct Equality {
  template <class A, class B> constexpr bool operator()(const A& a, const B& b) const { return a == b; }
};
struct Inequality {
  template <class A, class B> constexpr bool operator()(const A& a, const B& b) const { return a != b; }
};
template <class F>
struct InequalityWrapper {
  F op;
  explicit InequalityWrapper(F f) : op(f) {}
  template <class A, class B> bool operator()(A&& a, B&& b) { return !op(a, b); }
};
struct Sum {
  template <class A, class B> constexpr auto operator()(const A& a, const B& b) const { return a + b; }
};
struct Difference {
  template <class A, class B> constexpr auto operator()(const A& a, const B& b) const { return a - b; }
};
struct Division {
  template <class A, class B> constexpr auto operator()(const A& a, const B& b) const { return a / b; }
};
struct Max {
  template <class T> constexpr T operator()(const T& a, const T& b) const { return a < b ? b : a; }
};
struct Min {
  template <class T> constexpr T operator()(const T& a, const T& b) const { return b < a ? b : a; }
};
struct ArgMax {
  template <class T> T operator()(const T& a, const T& b) const { return b.value > a.value || (a.value == b.value && b.key < a.key) ? b : a; }
};
struct ArgMin {
  template <class T> T operator()(const T& a, const T& b) const { return b.value < a.value || (a.value == b.value && b.key < a.key) ? b : a; }
};
template <class B>
struct CastOp {
  template <class A> B operator()(const A& a) const { return static_cast<B>(a); }
};
template <class F>
struct SwizzleScanOp {
  F op;
  explicit SwizzleScanOp(F f) : op(f) {}
  template <class T> T operator()(const T& a, const T& b) { return op(b, a); }
};
template <class F>
struct ReduceBySegmentOp {
  F op;
  ReduceBySegmentOp() = default;
  explicit ReduceBySegmentOp(F f) : op(f) {}
  template <class P> P operator()(const P& a, const P& b) {
    P r;
    r.key = a.key + b.key;
    r.value = b.key ? b.value : op(a.value, b.value);
    return r;
  }
};
template <class F>
struct ReduceByKeyOp {
  F op;
  ReduceByKeyOp() = default;
  explicit ReduceByKeyOp(F f) : op(f) {}
  template <class P> P operator()(const P& a, const P& b) {
    P r = b;
    if (a.key == b.key) r.value = op(a.value, b.value);
    return r;
  }
};

// ---- places
inline int RowMajorTid(int x, int y, int) { return static_cast<int>((threadIdx.z * static_cast<unsigned>(y) + threadIdx.y) * static_cast<unsigned>(x) + threadIdx.x); }
inline unsigned LaneId() { return __bc_lane(); }
inline unsigned WarpId() { return __bc_warp(); }
inline unsigned LaneMaskLt() { return (1u << __bc_lane()) - 1u; }
inline unsigned LaneMaskLe() { return (2u << __bc_lane()) - 1u; }
inline unsigned LaneMaskGt() { return ~LaneMaskLe(); }
inline unsigned LaneMaskGe() { return ~LaneMaskLt(); }
inline void CTA_SYNC() { __syncthreads(); }
inline bool CTA_SYNC_AND(bool p) { return __syncthreads_and(p) != 0; }
inline bool CTA_SYNC_OR(bool p) { return __syncthreads_or(p) != 0; }
inline void WARP_SYNC(unsigned mask) { __syncwarp(mask); }
inline int WARP_ANY(int p, unsigned mask) { return __any_sync(mask, p); }
inline int WARP_ALL(int p, unsigned mask) { return __all_sync(mask, p); }
inline int WARP_BALLOT(int p, unsigned mask) { return static_cast<int>(__ballot_sync(mask, p)); }
inline void ThreadExit() { __bc_stop(); }
inline void ThreadTrap() { __trap(); }
/// Lanes of a thread's logical warp.
template <int Threads>
inline unsigned WarpMask(unsigned warp) {
  unsigned all = Threads == 32 ? 0xffffffffu : (1u << (Threads & 31)) - 1u;
  return (Threads & (Threads - 1)) == 0 || Threads < 32 ? all << (warp * Threads & 31u) : all;
}
template <class T> inline unsigned BFE(T source, unsigned begin, unsigned bits) {
  return static_cast<unsigned>(source >> begin) & (bits >= 32 ? 0xffffffffu : (1u << bits) - 1u);
}
inline void BFI(unsigned& out, unsigned x, unsigned y, unsigned begin, unsigned bits) {
  unsigned mask = (bits >= 32 ? 0xffffffffu : (1u << bits) - 1u) << begin;
  out = (x & ~mask) | ((y << begin) & mask);
}
inline unsigned IADD3(unsigned x, unsigned y, unsigned z) { return x + y + z; }
inline int PRMT(unsigned a, unsigned b, unsigned index) { return static_cast<int>(__byte_perm(a, b, index)); }

template <int Threads, class T> inline T ShuffleUp(T v, int delta, int first, unsigned mask) {
  int lane = static_cast<int>(__bc_lane()), base = lane / Threads * Threads, from = lane - delta;
  return __bc_shuffle_any(mask, v, from < base + first % Threads ? lane : from);
}
template <int Threads, class T> inline T ShuffleDown(T v, int delta, int last, unsigned mask) {
  int lane = static_cast<int>(__bc_lane()), base = lane / Threads * Threads, from = lane + delta;
  return __bc_shuffle_any(mask, v, from > base + last % Threads ? lane : from);
}
template <int Threads, class T> inline T ShuffleIndex(T v, int source, unsigned mask) {
  int base = static_cast<int>(__bc_lane()) / Threads * Threads;
  return __bc_shuffle_any(mask, v, base + source % Threads);
}
/// Threads with the same lowest bits.
template <int Bits, int Threads = 32> inline unsigned MatchAny(unsigned label) {
  return __match_any_sync(0xffffffffu, label & (Bits >= 32 ? 0xffffffffu : (1u << Bits) - 1u));
}

// ---- one thread's loads and stores
enum CacheLoadModifier { LOAD_DEFAULT, LOAD_CA, LOAD_CG, LOAD_CS, LOAD_CV, LOAD_LDG, LOAD_VOLATILE };
enum CacheStoreModifier { STORE_DEFAULT, STORE_WB, STORE_CG, STORE_CS, STORE_WT, STORE_VOLATILE };
template <CacheLoadModifier How, class It> inline auto ThreadLoad(It it) { return *it; }
template <CacheStoreModifier How, class It, class T> inline void ThreadStore(It it, T v) { *it = v; }

// ---- one thread's items
template <int N, class T, class F> inline T ThreadReduce(const T (&items)[N], F op) {
  T sum = items[0];
  _Pragma("unroll") for (int i = 1; i < N; ++i) sum = op(sum, items[i]);
  return sum;
}
template <int N, class T, class F, class P> inline P ThreadReduce(const T (&items)[N], F op, P prefix) {
  P sum = prefix;
  _Pragma("unroll") for (int i = 0; i < N; ++i) sum = op(sum, items[i]);
  return sum;
}
namespace internal {
using cub::ThreadReduce;
template <int N, class T, class F> inline T ThreadScanExclusive(const T (&in)[N], T (&out)[N], F op, T prefix, bool apply = true) {
  T sum = apply ? prefix : in[0];
  out[0] = prefix;
  if (apply) sum = op(prefix, in[0]);
  for (int i = 1; i < N; ++i) {
    T next = op(sum, in[i]);
    out[i] = sum;
    sum = next;
  }
  return sum;
}
template <int N, class T, class F> inline T ThreadScanInclusive(const T (&in)[N], T (&out)[N], F op) {
  T sum = in[0];
  out[0] = sum;
  for (int i = 1; i < N; ++i) out[i] = sum = op(sum, in[i]);
  return sum;
}
template <int N, class T, class F> inline T ThreadScanInclusive(const T (&in)[N], T (&out)[N], F op, T prefix, bool apply = true) {
  T sum = apply ? op(prefix, in[0]) : in[0];
  out[0] = sum;
  for (int i = 1; i < N; ++i) out[i] = sum = op(sum, in[i]);
  return sum;
}
}  // namespace internal
using internal::ThreadScanExclusive;
using internal::ThreadScanInclusive;

template <class It, class O, class T> inline O LowerBound(It in, O count, T value) {
  O first = 0;
  while (count > 0) {
    O half = count >> 1;
    if (in[first + half] < value) {
      first += half + 1;
      count -= half + 1;
    } else {
      count = half;
    }
  }
  return first;
}
template <class It, class O, class T> inline O UpperBound(It in, O count, T value) {
  O first = 0;
  while (count > 0) {
    O half = count >> 1;
    if (value < in[first + half]) {
      count = half;
    } else {
      first += half + 1;
      count -= half + 1;
    }
  }
  return first;
}
/// The intersection of a merge's diagonal with its path (Odeh, Green, Mwassi, Shmueli and Birk, 2012).
template <class A, class B, class O, class C>
inline void MergePathSearch(O diagonal, A a, B b, O a_len, O b_len, C& at) {
  O low = diagonal > b_len ? diagonal - b_len : 0, high = diagonal < a_len ? diagonal : a_len;
  while (low < high) {
    O pivot = (low + high) >> 1;
    if (a[pivot] <= b[diagonal - pivot - 1]) low = pivot + 1;
    else high = pivot;
  }
  at.x = low < a_len ? low : a_len;
  at.y = diagonal - low;
}

// ---- iterators
template <class T, class Offset = ptrdiff_t>
struct CountingInputIterator {
  typedef T value_type;
  T start;
  explicit CountingInputIterator(const T& v) : start(v) {}
  T operator*() const { return start; }
  template <class D> T operator[](D n) const { return start + static_cast<T>(n); }
  template <class D> CountingInputIterator operator+(D n) const { return CountingInputIterator(start + static_cast<T>(n)); }
  CountingInputIterator& operator++() { ++start; return *this; }
};
template <class T, class Offset = ptrdiff_t>
struct ConstantInputIterator {
  typedef T value_type;
  T value;
  explicit ConstantInputIterator(const T& v, Offset = 0) : value(v) {}
  T operator*() const { return value; }
  template <class D> T operator[](D) const { return value; }
  template <class D> ConstantInputIterator operator+(D) const { return *this; }
};
template <class T, class F, class It, class Offset = ptrdiff_t>
struct TransformInputIterator {
  typedef T value_type;
  F op;
  It it;
  TransformInputIterator(It i, F f) : op(f), it(i) {}
  T operator*() const { return op(*it); }
  template <class D> T operator[](D n) const { return op(it[n]); }
  template <class D> TransformInputIterator operator+(D n) const { return TransformInputIterator(it + n, op); }
};
template <CacheLoadModifier How, class T, class Offset = ptrdiff_t>
struct CacheModifiedInputIterator {
  typedef T value_type;
  T* it;
  CacheModifiedInputIterator(T* p) : it(p) {}
  T operator*() const { return *it; }
  template <class D> T operator[](D n) const { return it[n]; }
  template <class D> CacheModifiedInputIterator operator+(D n) const { return it + n; }
};

namespace bc_detail {

/// Room for N values of a type in shared memory.
template <class T, int N>
struct Room {
  alignas(alignof(T) < 16 ? 16 : alignof(T)) unsigned char bytes[sizeof(T) * N];
  T* get() { return reinterpret_cast<T*>(bytes); }
  T& operator[](int i) { return get()[i]; }
};
/// The shared memory of a collective that was given none.
template <class Storage, class User>
inline Storage& own_room() {
  __shared__ Storage room;
  return room;
}
template <class It, class T> inline void put(It it, int i, const T& v) { it[i] = v; }

}  // namespace bc_detail
}  // namespace cub
