// Equality, order and hashes of values, and reference-counted objects that threads may share. Values of all types may be moved as bytes.
#pragma once
#include "host_numpy.h"
#include "text.h"

#if !BC_CUDA

inline void* operator new(decltype(sizeof 0), void* at) noexcept { return at; }

namespace bc {
namespace py {

template <class T>
constexpr bool is_arithmetic_value = is_bool<T> || is_int<T> || is_float<T> || is_complex<T>;

// ---- equality, order, hashes ------------------------------------------------------------------------------------------------------

template <class T>
struct List;
template <class T, class U>
BC_INLINE bool equal_to(const T& a, const U& b) {
  if constexpr (is_arithmetic_value<T>)
    return a == b;
  else
    return a.equals(b);
}
BC_FN bool equal_to(const Str& a, const Str& b) { return same_text(a, b); }
template <class T, int N>
BC_INLINE bool equal_to(const Tuple<T, N>& a, const Tuple<T, N>& b) {
  for (int i = 0; i < N; ++i)
    if (!equal_to(a[i], b[i])) return false;
  return true;
}
template <class T>
BC_INLINE bool equal_to(const Optional<T>& a, const Optional<T>& b) {
  return a.there == b.there && (!a.there || equal_to(a.value, b.value));
}
template <class T>
inline bool equal_to(const List<T>& a, const List<T>& b);

template <class T>
BC_INLINE bool less_than(const T& a, const T& b) {
  if constexpr (is_arithmetic_value<T>)
    return a < b;
  else
    return a.less(b);
}
BC_FN bool less_than(const Str& a, const Str& b) { return order_of(a, b) < 0; }
template <class T>
BC_INLINE bool less_than(const Optional<T>& a, const Optional<T>& b) {
  return less_than(given(a), given(b));
}
/// Items of sequences that are equal, and yet have no order.
template <class T>
BC_INLINE bool both_none(const T&, const T&) {
  return false;
}
template <class T>
BC_INLINE bool both_none(const Optional<T>& a, const Optional<T>& b) {
  return !a.there && !b.there;
}
template <class T, int N>
BC_INLINE bool less_than(const Tuple<T, N>& a, const Tuple<T, N>& b) {
  for (int i = 0; i < N; ++i) {
    if (both_none(a[i], b[i])) continue;
    if (less_than(a[i], b[i])) return true;
    if (less_than(b[i], a[i])) return false;
  }
  return false;
}
template <class T>
inline bool less_than(const List<T>& a, const List<T>& b);

/// The mixing function of SplitMix64 (Steele, Lea & Flood, 2014).
BC_FN u64 mixed(u64 x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
  return x ^ (x >> 31);
}
template <class T>
BC_INLINE u64 hash_of(const T& x) {
  if constexpr (is_complex<T>)
    return mixed(hash_of(x.re) + 0x9e3779b97f4a7c15ull * hash_of(x.im));
  else if constexpr (is_int<T> || is_bool<T>)
    return static_cast<u64>(x);  // dicts multiply hashes
  else if constexpr (is_arithmetic_value<T>)
    return mixed(x == T(0) ? 0 : bits_as<u64>(cast<double>(x)));
  else
    return x.hash();
}
static inline u64 hash_of(const Str& s) {
  u64 h = static_cast<u64>(s.size);
  i64 i = 0;
  for (; i + 8 <= s.size; i += 8) {
    u64 word;
    __builtin_memcpy(&word, s.data + i, 8);
    h = mixed(h ^ word) + 0x9e3779b97f4a7c15ull;
  }
  u64 word = 0;
  __builtin_memcpy(&word, s.data + i, static_cast<unsigned long>(s.size - i));
  return mixed(h ^ word);
}
template <class T, int N>
BC_INLINE u64 hash_of(const Tuple<T, N>& t) {
  u64 h = N;
  for (int i = 0; i < N; ++i) h = mixed(h + hash_of(t[i]));
  return h;
}

/// Python's hash of a number is its value modulo 2^61 - 1, where 2^61 = 1; other types have hashes of our own.
template <class T>
inline i64 python_hash(const T& x) {
  constexpr u64 kPrime = (u64{1} << 61) - 1;
  if constexpr (is_bool<T>) {
    return x;
  } else if constexpr (is_int<T>) {
    const bool negative = x < T(0);
    const u64 size = (negative ? u64{0} - static_cast<u64>(static_cast<i64>(x)) : static_cast<u64>(x)) % kPrime;
    const i64 h = negative ? -static_cast<i64>(size) : static_cast<i64>(size);
    return h == -1 ? -2 : h;
  } else if constexpr (is_float<T>) {
    const double v = static_cast<double>(x);
    if (__builtin_isinf(v)) return v > 0 ? 314159 : -314159;
    if (v != v) return 0;
    // The float is a 53-bit integer times a power of two, and a multiplication by a power of two rotates the 61 bits.
    u64 bits;
    __builtin_memcpy(&bits, &v, 8);
    int exponent = static_cast<int>(bits >> 52 & 0x7ff);
    bits = (bits & 0xfffffffffffff) | (exponent ? u64{1} << 52 : 0);
    if (exponent == 0) exponent = 1;
    const int turn = ((exponent - 1075) % 61 + 61) % 61;
    const i64 size = static_cast<i64>(((bits << turn) | (bits >> (61 - turn))) & kPrime);
    const i64 h = v < 0 ? -size : size;
    return h == -1 ? -2 : h;
  } else if constexpr (is_complex<T>) {
    const i64 h = static_cast<i64>(static_cast<u64>(python_hash(x.re)) + 1000003u * static_cast<u64>(python_hash(x.im)));
    return h == -1 ? -2 : h;
  } else {
    return static_cast<i64>(hash_of(x));
  }
}

// ---- shared objects ---------------------------------------------------------------------------------------------------------------

/// The head of an object's memory.
struct Shared {
  void (*end)(Block*);    ///< releases the elements and the memory
  void (*share)(Block*);  ///< marks the elements as shared
  i64 changed;            ///< modified since it was converted from Python
  i64 shared;             ///< several threads may hold the object: reads and changes take the lock
  u32 lock[2];            ///< a lock of the engine (container_lock.h)
};
BC_INLINE bool is_shared(const Shared& head) { return kThreads && __builtin_expect(head.shared != 0, 0); }

/// Locks a shared object for reading or for changing while a thread uses it; other objects have no lock. The owner of a lock may take it
/// again, and the locks of the object's elements; two objects of one type are never locked together. While a lock is held nothing waits for
/// the interpreter: new elements are prepared before (shareable).
enum Access : i32 { kReads, kWrites };
struct Guard {
#if BC_PYTHON_PARALLEL
  Shared* entered;
  BC_INLINE Guard(Shared& head, Access access) : entered(is_shared(head) ? &head : nullptr) {
    if (entered) enter(entered, access);
  }
  BC_INLINE ~Guard() {
    if (entered) leave(entered);
  }
  static BC_NOINLINE void enter(Shared* head, Access access) { bc_host->enter(head, access); }
  static BC_NOINLINE void leave(Shared* head) { bc_host->leave(head); }
#else
  BC_INLINE Guard(Shared&, Access) {}
  BC_INLINE ~Guard() {}
#endif
  Guard(const Guard&) = delete;
};

/// Marks the objects in a value as shared, before other threads see it.
template <class T>
BC_INLINE void share_value(const T& x) {
  if constexpr (requires { x.share(); }) x.share();
}
template <class T, int N>
BC_INLINE void share_value(const Tuple<T, N>& t) {
  if constexpr (!is_arithmetic_value<T>)
    for (int i = 0; i < N; ++i) share_value(t[i]);
}
template <class T>
BC_INLINE void share_value(const Optional<T>& x) {
  share_value(x.value);
}

/// A counted reference to an object whose memory begins with a Shared.
template <class Body>
struct Ref {
  Block* owner = nullptr;
  BC_INLINE Ref() = default;
  BC_INLINE Ref(const Ref& o) : owner(o.owner) { own(owner); }
  BC_INLINE Ref(Ref&& o) : owner(o.owner) { o.owner = nullptr; }
  BC_INLINE Ref& operator=(Ref o) {
    Block* old = owner;
    owner = o.owner;
    o.owner = old;
    return *this;
  }
  BC_INLINE ~Ref() {
    if (is_last(owner)) Body::end_of(owner);
  }
  BC_INLINE Body& body() const { return *reinterpret_cast<Body*>(owner + 1); }
  void make() {
    owner = bc_host->allocate(sizeof(Body));
    Body* b = reinterpret_cast<Body*>(owner + 1);
    *b = Body{};
    b->head.end = &Body::end_of;
    b->head.share = &Body::share_of;
  }
  void share() const {
    if (!owner || body().head.shared) return;
    body().head.shared = 1;  // first: objects may refer to each other
    Body::share_of(owner);
  }
};
/// Shares an object while a parallel loop runs. An object of numbers belongs to this thread alone again afterwards; elements of other
/// objects may have become known to other threads.
template <class R>
struct SharedByLoop {
  Shared* mine = nullptr;
  SharedByLoop(const R& r) {
    if (!r.owner || r.body().head.shared) return;
    r.share();
    if (R::kHoldsValues) mine = &r.body().head;
  }
  SharedByLoop(const SharedByLoop&) = delete;
  ~SharedByLoop() {
    if (mine) mine->shared = 0;
  }
};
/// An argument: the caller owns the reference.
template <class R>
BC_INLINE R load_shared(const void* at) {
  R r;
  __builtin_memcpy(&r.owner, at, sizeof r.owner);
  own(r.owner);
  return r;
}
template <class B>
BC_INLINE void store(void* at, const Ref<B>& r) {
  own(r.owner);
  __builtin_memcpy(at, &r.owner, sizeof r.owner);
}
struct alignas(16) Raw {
  char bytes[16];
};
template <class T>
BC_INLINE void end_value(T& x) {
  x.~T();
}
/// An element of a container may outlive the call: arrays that the caller owns are kept.
template <class T>
BC_INLINE void keep_value(T& x) {
  if constexpr (requires { x.keep(); }) x.keep();
}
template <class T, int N, char L>
BC_INLINE void keep_value(Host<T, N, L>& a) {
  if (!a.owner) a.owner = bc_host->keep(a.data);
}
template <class T, int N>
BC_INLINE void keep_value(Tuple<T, N>& t) {
  if constexpr (!is_arithmetic_value<T>)
    for (int i = 0; i < N; ++i) keep_value(t[i]);
}
template <class T>
BC_INLINE void keep_value(Optional<T>& x) {
  keep_value(x.value);
}
template <class T>
BC_INLINE void begin_value(void* at, const T& x) {
  keep_value(*new (at) T(x));
}
/// The value to store in an object: for a shared object a copy that other threads may use.
#if BC_PYTHON_PARALLEL
template <class T>
BC_INLINE T shareable(const Shared& into, const T& value) {
  T made = value;
  if (is_shared(into)) {
    keep_value(made);
    share_value(made);
  }
  return made;
}
#else
template <class T>
BC_INLINE const T& shareable(const Shared&, const T& value) {
  return value;
}
#endif
template <class T>
BC_INLINE void swap_values(T& a, T& b) {
  alignas(T) char moved[sizeof(T)];
  __builtin_memcpy(moved, static_cast<const void*>(&a), sizeof(T));
  __builtin_memcpy(static_cast<void*>(&a), static_cast<const void*>(&b), sizeof(T));
  __builtin_memcpy(static_cast<void*>(&b), moved, sizeof(T));
}
/// A reference to an element, or a copy of it if another thread may change it meanwhile.
template <class T>
using Fetched = conditional<kThreads, T, T&>;

/// The number of elements of an object, which other threads may read without its lock.
BC_INLINE i64 size_of(const Shared& head, const i64& size) { return is_shared(head) ? __atomic_load_n(&size, __ATOMIC_RELAXED) : size; }
BC_INLINE void set_size(i64& size, i64 to) {
  if constexpr (kThreads)
    __atomic_store_n(&size, to, __ATOMIC_RELEASE);
  else
    size = to;
}
/// An access to a number that other threads may read or write meanwhile.
template <class T>
BC_INLINE T load_word(const T* at) {
  T x;
  __atomic_load(at, &x, __ATOMIC_RELAXED);
  return x;
}
template <class T>
BC_INLINE void store_word(T* at, T x) {
  __atomic_store(at, &x, __ATOMIC_RELAXED);
}

}  // namespace py
}  // namespace bc
#endif
