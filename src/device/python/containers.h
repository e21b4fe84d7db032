// Lists, sets and dicts of functions compiled for the CPU: reference-counted objects. The types of elements are those of the program's
// text; values of all of them may be moved as bytes.
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
    Body::share_of(owner);
    body().head.shared = 1;
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

// ---- lists ------------------------------------------------------------------------------------------------------------------------

template <class T>
struct ListBody {
  Shared head;
  Block* memory;
  i64 size, room;
  Block* outgrown;  ///< previous memory, which readers of the shared list may still use; a list of blocks linked by `next`
  BC_INLINE T* data() const { return reinterpret_cast<T*>(memory + 1); }
  static void end_of(Block* block) {
    auto* b = reinterpret_cast<ListBody*>(block + 1);
    if constexpr (!__is_trivially_copyable(T))
      for (i64 i = 0; i < b->size; ++i) end_value(b->data()[i]);
    disown(b->memory);
    for (Block* m = b->outgrown; m;) {
      Block* before = m->next;
      disown(m);
      m = before;
    }
    bc_host->release(block);
  }
  static void share_of(Block* block) {
    auto* b = reinterpret_cast<ListBody*>(block + 1);
    if constexpr (!__is_trivially_copyable(T))
      for (i64 i = 0; i < b->size; ++i) share_value(b->data()[i]);
  }
};
/// The number of elements that a list of known length allocates at a time.
constexpr i64 kFilled = 1 << 20;
template <class T>
struct List : Ref<ListBody<T>> {
  using Item = T;
  using Ref<ListBody<T>>::body;
  static constexpr bool kHoldsValues = __is_trivially_copyable(T);
  /// Elements of one machine word are read without a lock.
  static constexpr bool kWord = is_arithmetic_value<T> && !is_complex<T>;
  BC_INLINE Shared& head() const { return body().head; }
  BC_INLINE T* data() const { return body().data(); }
  BC_INLINE i64 size() const { return size_of(head(), body().size); }
  /// The element that a loop over the list reads.
  BC_INLINE T at(i64 i) const {
    if (is_shared(head())) return shared_item(i, true);
    if constexpr (!__is_trivially_copyable(T))
      if (i >= body().size) raise(kIndex, "list index out of range");
    return data()[i];
  }
  BC_INLINE Fetched<T> checked(i64 i) const {
    if (is_shared(head())) return shared_item(i, false);
    return item(i);
  }
  BC_INLINE T& item(i64 i) const {
    // One comparison for a place from the start; the others count from the end, or are none.
    const u64 n = static_cast<u64>(body().size);
    u64 at = static_cast<u64>(i);
    if (__builtin_expect(at >= n, 0)) {
      at += n;
      if (i >= 0 || at >= n) raise(kIndex, "list index out of range");
    }
    return data()[at];
  }
  BC_INLINE T& place(i64 i) const {
    head().changed = 1;
    return item(i);
  }
  /// An element of a shared list.
  BC_INLINE Fetched<T> shared_item(i64 i, bool walking) const {
    if constexpr (kWord) {
      auto& b = body();
      const i64 n = __atomic_load_n(&b.size, __ATOMIC_ACQUIRE);  // read before the pointer: the memory never shrinks
      const Block* memory = __atomic_load_n(&b.memory, __ATOMIC_ACQUIRE);
      if (i < 0) i += n;
      if (i < 0 || i >= n)
        walking ? raise(kRuntime, "the list changed its size during iteration") : raise(kIndex, "list index out of range");
      const T* at = reinterpret_cast<const T*>(memory + 1) + i;
      if constexpr (kThreads)
        return load_word(at);
      else
        return const_cast<T&>(*at);
    } else {
      const Guard guard(head(), kReads);
      if (walking && i >= size()) raise(kRuntime, "the list changed its size during iteration");
      return item(i);
    }
  }
  BC_INLINE void set(i64 i, const T& value) const {
    if (is_shared(head())) return shared_set(i, value);
    T& at = place(i);
    at = value;
    keep_value(at);
  }
  BC_NOINLINE void shared_set(i64 i, const T& value) const {
    if constexpr (kWord) {
      const Guard guard(head(), kWrites);  // readers of one element need no lock and see a whole number
      __atomic_store_n(&head().changed, 1, __ATOMIC_RELAXED);
      store_word(&item(i), value);
    } else {
      T made = shareable(head(), value);
      const Guard guard(head(), kWrites);
      swap_values(place(i), made);
    }
  }
  BC_NOINLINE void reserve(i64 room) const {
    if (room > (i64{1} << 47) / static_cast<i64>(sizeof(T))) raise(kMemory, "a list of this size does not fit into memory");
    auto& b = body();
    Block* wider = bc_host->allocate(room * static_cast<i64>(sizeof(T)));
    if (b.memory)
      __builtin_memcpy(static_cast<void*>(wider + 1), static_cast<const void*>(data()), static_cast<unsigned long>(b.size) * sizeof(T));
    Block* const narrow = b.memory;
    __atomic_store_n(&b.memory, wider, __ATOMIC_RELEASE);
    b.room = room;
    if (narrow && is_shared(b.head) && kWord) {
      narrow->next = b.outgrown;
      b.outgrown = narrow;
    } else {
      disown(narrow);
    }
  }
  /// Room for elements from `at` on of a list of numbers that is being made and will get `count` elements. It grows by strips, so that a
  /// loop that ends early does not allocate all the memory.
  struct Part {
    T* to;
    i64 stop;
  };
  BC_INLINE Part part(i64 at, i64 count) const {
    const i64 stop = strip(at, count, 1), room = body().room;
    if (stop > room) reserve(count <= kFilled ? count : least(count, room * 2 > kFilled ? room * 2 : kFilled));
    return {data(), stop};
  }
  BC_INLINE void filled(i64 count) const {
    body().size = count;
    head().changed = 1;
  }
  BC_INLINE void append(const T& value) const {
    auto& b = body();
    if (is_shared(b.head)) return shared_append(value);
    add(value);
  }
  BC_NOINLINE void shared_append(const T& value) const {
    const T made = shareable(head(), value);
    const Guard guard(head(), kWrites);
    add(made);
  }
  /// A reader that knows the list's size from before a pop may look at the place.
  static BC_INLINE void begin_item(T* at, const T& value) {
    if constexpr (kThreads && kWord)
      store_word(at, value);
    else
      begin_value<T>(at, value);
  }
  BC_INLINE void add(const T& value) const {
    auto& b = body();
    if (b.size == b.room) {
      const T kept = value;  // `value` may be an element of the memory that is released
      reserve(b.room < 4 ? 8 : b.room * 2);
      begin_value<T>(data() + b.size, kept);
    } else {
      begin_item(data() + b.size, value);
    }
    set_size(b.size, b.size + 1);
    b.head.changed = 1;
  }
  /// Moves elements as bytes. Other threads may read a shared list's numbers meanwhile, so each is moved by one store.
  void move_items(T* to, const T* from, i64 n) const {
    if constexpr (kThreads && kWord) {
      if (is_shared(head())) {
        const bool down = to < from;
        for (i64 k = 0; k < n; ++k) {
          const i64 i = down ? k : n - 1 - k;
          store_word(to + i, from[i]);
        }
        return;
      }
    }
    __builtin_memmove(static_cast<void*>(to), static_cast<const void*>(from), static_cast<unsigned long>(n) * sizeof(T));
  }
  BC_INLINE void insert(i64 i, const T& value) const {
    const auto& made = shareable(head(), value);
    const Guard guard(head(), kWrites);
    const i64 n = size();
    i = i < 0 ? (i + n < 0 ? 0 : i + n) : (i > n ? n : i);
    add(made);
    T* d = data();
    alignas(T) char moved[sizeof(T)];
    __builtin_memcpy(moved, static_cast<const void*>(d + n), sizeof(T));
    move_items(d + i + 1, d + i, n - i);
    move_items(d + i, reinterpret_cast<const T*>(moved), 1);
  }
  BC_INLINE T pop(i64 i) const {
    const Guard guard(head(), kWrites);
    const i64 n = size();
    if (n == 0) raise(kIndex, "pop from empty list");
    if (i < 0) i += n;
    if (i < 0 || i >= n) raise(kIndex, "pop index out of range");
    T* d = data();
    const T value = d[i];
    erase(i, i + 1);
    return value;
  }
  /// Drops [first, last).
  void erase(i64 first, i64 last) const {
    auto& b = body();
    const Guard guard(b.head, kWrites);
    T* d = data();
    if constexpr (!__is_trivially_copyable(T))
      for (i64 i = first; i < last; ++i) end_value(d[i]);
    move_items(d + first, d + last, b.size - last);
    set_size(b.size, b.size - (last - first));
    b.head.changed = 1;
  }
  BC_INLINE void clear() const {
    const Guard guard(head(), kWrites);
    if (body().memory) erase(0, size());
  }
  void remove_at(i64 i) const {
    const Guard guard(head(), kWrites);
    item(i);
    if (i < 0) i += size();
    erase(i, i + 1);
  }
  void remove_slice(const Slice& s) const {
    const Guard guard(head(), kWrites);
    i64 first, count;
    resolve(s, size(), first, count);
    if (count <= 0) return;
    if (s.step == 1) return erase(first, first + count);
    for (i64 k = s.step > 0 ? count - 1 : 0; k >= 0 && k < count; k += s.step > 0 ? -1 : 1)
      erase(first + k * s.step, first + k * s.step + 1);
  }
  template <class U>
  i64 find(const U& value, i64 from, i64 to) const {
    const Guard guard(head(), kReads);
    for (i64 i = from; i < to && i < size(); ++i)
      if (equal_to(data()[i], value)) return i;
    return -1;
  }
  template <class U>
  bool has(const U& value) const {
    return find(value, 0, size()) >= 0;
  }
  template <class U>
  i64 index(const U& value, i64 from, i64 to) const {
    const i64 n = size();
    from = from < 0 ? (from + n < 0 ? 0 : from + n) : from;
    to = to < 0 ? to + n : to;
    const i64 i = find(value, from, to);
    if (i < 0) raise(kValue, "value not in list");
    return i;
  }
  template <class U>
  i64 count(const U& value) const {
    const Guard guard(head(), kReads);
    i64 n = 0;
    for (i64 i = 0; i < size(); ++i) n += equal_to(data()[i], value);
    return n;
  }
  template <class U>
  void remove(const U& value) const {
    const Guard guard(head(), kWrites);
    const i64 i = find(value, 0, size());
    if (i < 0) raise(kValue, "list.remove(x): x not in list");
    erase(i, i + 1);
  }
  void reverse() const {
    const Guard guard(head(), kWrites);
    T* d = data();
    for (i64 i = 0, j = size() - 1; i < j; ++i, --j) {
      if constexpr (kThreads && kWord) {
        const T first = d[i];
        store_word(d + i, d[j]);
        store_word(d + j, first);
      } else {
        swap_values(d[i], d[j]);
      }
    }
    head().changed = 1;
  }
  /// The list, or for a shared list a copy of its current elements.
  List unshared() const { return is_shared(head()) ? copy() : *this; }
  void extend(const List& o) const {
    if (is_shared(o.head()) && o.owner != this->owner) return extend(o.copy());
    const i64 n = o.size();
    for (i64 i = 0; i < n; ++i) append(T(o.data()[i]));
  }
  List copy() const;
  List slice(const Slice& s) const;
  void replace(i64 i, const T& value) const {
    T& at = place(i);
    if constexpr (kThreads && kWord)
      store_word(&at, value);
    else
      at = value;
  }
  void assign_slice(const Slice& s, const List& values) const {
    const List kept = values.copy();
    if (is_shared(head())) kept.share();
    const Guard guard(head(), kWrites);
    i64 first, count;
    resolve(s, size(), first, count);
    if (count < 0) count = 0;
    const i64 n = kept.size();
    if (s.step != 1) {
      if (n != count) raise(kValue, "cannot resize extended list slice with step != 1");
      for (i64 k = 0; k < n; ++k) replace(first + k * s.step, kept.data()[k]);
      return;
    }
    for (i64 k = 0; k < n && k < count; ++k) replace(first + k, kept.data()[k]);
    if (n < count) erase(first + n, first + count);
    for (i64 k = count; k < n; ++k) insert(first + k, kept.data()[k]);
  }
  bool equals(const List& other) const {
    const List o = other.unshared();
    const Guard guard(head(), kReads);
    if (size() != o.size()) return false;
    for (i64 i = 0; i < size(); ++i)
      if (!equal_to(data()[i], o.data()[i])) return false;
    return true;
  }
  bool less(const List& other) const {
    const List o = other.unshared();
    const Guard guard(head(), kReads);
    const i64 n = least(size(), o.size());
    for (i64 i = 0; i < n; ++i) {
      if (both_none(data()[i], o.data()[i])) continue;
      if (less_than(data()[i], o.data()[i])) return true;
      if (less_than(o.data()[i], data()[i])) return false;
    }
    return size() < o.size();
  }
  /// The elements, over the list's own memory; over a copy where other threads may change them.
  BC_INLINE Host<T, 1, 'C'> array() const {
    if (is_shared(head())) return copy().array();
    return Host<T, 1, 'C'>(Array<T, 1, 'C'>{data(), {{size()}}, {{static_cast<i64>(sizeof(T))}}}, body().memory);
  }
};
template <class T>
inline bool equal_to(const List<T>& a, const List<T>& b) {
  return a.equals(b);
}
template <class T>
inline bool less_than(const List<T>& a, const List<T>& b) {
  return a.less(b);
}
template <class T>
BC_INLINE List<T> new_list(i64 room) {
  List<T> l;
  l.make();
  l.reserve(room < 4 ? 4 : room);
  return l;
}
/// An array that nested loops of known lengths fill in order, one axis for each loop, in the memory of a list.
template <class T, int N>
struct Cells {
  List<T> list = new_list<T>(0);
  T* data = nullptr;
  i64 extent[N], made = 0, room = 0;
  BC_INLINE Cells() {
    for (i64& e : extent) e = -1;
  }
  /// Sets the extent of an axis: every loop over it has `count` turns.
  BC_INLINE i64 enter(int axis, i64 count) {
    if (extent[axis] < 0)
      extent[axis] = count;
    else if (extent[axis] != count)
      raise(kValue, "array(): the nested lists differ in length");
    return count;
  }
  /// A strip of turns of the innermost loop from `first` on, and the address of its elements.
  struct Strip {
    T* to;
    i64 first, stop;
  };
  BC_INLINE Strip strip(i64 first) {
    const i64 stop = py::strip(first, extent[N - 1], 1);
    if (__builtin_expect(made + stop - first > room, 0)) {
      i64 all = 1;
      for (const i64 e : extent)
        if (__builtin_mul_overflow(all, e, &all)) all = i64{1} << 62;
      data = grown(list, made, all);
      room = list.body().room;
    }
    return {data + made, first, stop};
  }
  static BC_NOINLINE T* grown(const List<T>& list, i64 made, i64 all) {
    list.filled(made);
    return list.part(made, all).to;
  }
  BC_INLINE void filled(const Strip& strip) { made += strip.stop - strip.first; }
  /// All turns of the innermost loop, for a loop that is not printed as one.
  template <class... V>
  BC_INLINE void put(V... values) {
    enter(N - 1, static_cast<i64>(sizeof...(V)));
    Strip s = strip(0);
    ((*s.to++ = static_cast<T>(values)), ...);
    filled(s);
  }
  BC_INLINE Host<T, N, 'C'> array() const {
    list.filled(made);
    Array<T, N, 'C'> a{list.data(), {}, {}};
    for (int k = 0; k < N; ++k) a.shape[k] = extent[k] < 0 ? 0 : extent[k];
    pack_strides<N - 1>(a, sizeof(T));
    return Host<T, N, 'C'>(a, list.body().memory);
  }
};
/// Lists, tuples or vectors of one length as an array's rows.
template <class T, class R, class F>
inline Host<T, 2, 'C'> rows_of(const List<R>& given, i64 empty_width, const F& vector_of) {
  const List<R> rows = given.unshared();
  const i64 count = rows.size();
  Host<T, 2, 'C'> out;
  if (count == 0) return fresh<T, 2>(Tuple<i64, 2>{{0, empty_width}});
  for (i64 k = 0; k < count; ++k) {
    const auto& row = vector_of(rows.data()[k]);
    const i64 width = row.shape[0];
    if (k == 0) out = fresh<T, 2>(Tuple<i64, 2>{{count, width}});
    if (width != out.shape[1]) raise(kValue, "array(): the nested lists differ in length");
    T* const to = out.data + k * width;
    for (i64 j = 0; j < width; ++j) to[j] = row(j);
  }
  return out;
}
template <class T>
inline Host<T, 2, 'C'> array_of_rows(const List<List<T>>& rows) {
  return rows_of<T>(rows, 0, [](const List<T>& row) { return row.array(); });
}
template <class T, int N>
inline Host<T, 2, 'C'> array_of_rows(const List<Tuple<T, N>>& rows) {
  return rows_of<T>(rows, N, [](const Tuple<T, N>& row) { return Array<const T, 1, 'C'>{row.items, {{N}}, {{sizeof(T)}}}; });
}
template <class T, char L>
inline Host<T, 2, 'C'> array_of_rows(const List<Host<T, 1, L>>& rows) {
  return rows_of<T>(rows, 0, [](const Host<T, 1, L>& row) -> const Host<T, 1, L>& { return row; });
}
template <class T, class... V>
BC_INLINE List<T> list_of(const V&... values) {
  List<T> l = new_list<T>(static_cast<i64>(sizeof...(V)));
  (l.append(values), ...);
  return l;
}
template <class T>
List<T> List<T>::copy() const {
  const Guard guard(head(), kReads);
  List<T> l = new_list<T>(size());
  for (i64 i = 0; i < size(); ++i) l.append(data()[i]);
  return l;
}
template <class T>
List<T> List<T>::slice(const Slice& s) const {
  if (s.step == 0) raise(kValue, "slice step cannot be zero");
  const Guard guard(head(), kReads);
  i64 first, count;
  resolve(s, size(), first, count);
  List<T> l = new_list<T>(count);
  for (i64 k = 0; k < count; ++k) l.append(data()[first + k * s.step]);
  return l;
}
template <class T>
inline List<T> joined(const List<T>& a, const List<T>& b) {
  List<T> l = new_list<T>(a.size() + b.size());
  l.extend(a);
  l.extend(b);
  return l;
}
/// A new list of the same numbers as another type.
template <class T, class U>
inline List<T> list_as(const List<U>& given) {
  const List<U> a = given.unshared();
  List<T> l = new_list<T>(a.size());
  for (i64 i = 0; i < a.size(); ++i) l.append(cast<T>(a.data()[i]));
  return l;
}
template <class T>
inline List<T> times(const List<T>& given, i64 n) {
  const List<T> a = given.unshared();
  const i64 size = a.size();
  List<T> l = new_list<T>(n > 0 ? size * n : 0);
  for (i64 k = 0; k < n; ++k)
    for (i64 i = 0; i < size; ++i) l.append(a.data()[i]);
  return l;
}
/// Sorts a list that several threads hold: keys may come from functions of the user's, which must not run under a lock.
template <class T, class F>
inline void sort_shared(const List<T>& l, const F& sort) {
  const List<T> sorted = l.copy();
  sort(sorted);
  const Guard guard(l.head(), kWrites);
  if (l.size() != sorted.size()) raise(kValue, "list modified during sort");
  if constexpr (List<T>::kWord)
    l.move_items(l.data(), sorted.data(), sorted.size());
  else
    for (i64 i = 0; i < l.size(); ++i) swap_values(l.data()[i], sorted.data()[i]);
  l.head().changed = 1;
}
/// Sorts by key(element), stably; NaN goes last.
template <class T, class F>
inline void sort_list(const List<T>& l, bool reverse, const F& key) {
  if (is_shared(l.head())) return sort_shared(l, [&](const List<T>& own) { sort_list(own, reverse, key); });
  using K = decltype(key(l.data()[0]));
  const i64 n = l.size();
  const auto before_key = [](const K& a, const K& b) {
    if constexpr (is_native_float<K>)
      return before(a, b);
    else
      return less_than(a, b);
  };
  if (n < 2) return;
  const List<K> keys = new_list<K>(n);
  for (i64 i = 0; i < n; ++i) keys.append(key(l.data()[i]));
  const List<i64> order = new_list<i64>(n), buffer = new_list<i64>(n);
  for (i64 i = 0; i < n; ++i) order.append(i);
  const K* k = keys.data();
  if constexpr (has_sort_key<K>)
    sort_places(order.data(), buffer.data(), n, k, reverse);
  else if (reverse)
    merge_sort(order.data(), buffer.data(), n, [&](i64 a, i64 b) { return before_key(k[b], k[a]); });
  else
    merge_sort(order.data(), buffer.data(), n, [&](i64 a, i64 b) { return before_key(k[a], k[b]); });
  // The elements move as bytes.
  T* d = l.data();
  Block* moved = bc_host->allocate(n * static_cast<i64>(sizeof(T)));
  T* to = reinterpret_cast<T*>(moved + 1);
  for (i64 i = 0; i < n; ++i) __builtin_memcpy(static_cast<void*>(to + i), static_cast<const void*>(d + order.data()[i]), sizeof(T));
  __builtin_memcpy(static_cast<void*>(d), static_cast<const void*>(to), static_cast<unsigned long>(n) * sizeof(T));
  disown(moved);
  l.body().head.changed = 1;
}
template <class T>
inline void sort_list(const List<T>& l, bool reverse) {
  if (is_shared(l.head())) return sort_shared(l, [&](const List<T>& own) { sort_list(own, reverse); });
  if constexpr (is_arithmetic_value<T> && !is_complex<T>) {
    const i64 n = l.size();
    if (n <= kSmallSort)
      sort_numbers(l.data(), static_cast<T*>(nullptr), n, reverse);
    else
      sort_numbers(l.data(), new_list<T>(n).data(), n, reverse);
    l.body().head.changed = 1;
  } else if constexpr (__is_trivially_copyable(T)) {
    const List<T> room = new_list<T>(l.size());
    if (reverse)
      merge_sort(l.data(), room.data(), l.size(), [](const T& a, const T& b) { return less_than(b, a); });
    else
      merge_sort(l.data(), room.data(), l.size(), [](const T& a, const T& b) { return less_than(a, b); });
    l.body().head.changed = 1;
  } else {
    sort_list(l, reverse, [](const T& x) { return x; });
  }
}
/// The first of the greatest or least items.
template <bool kMax, class T>
inline i64 extreme_place(const T* items, i64 n) {
  if (n == 0) raise(kValue, "min() or max() of an empty sequence");
  i64 best = 0;
  for (i64 i = 1; i < n; ++i)
    if (kMax ? less_than(items[best], items[i]) : less_than(items[i], items[best])) best = i;
  return best;
}
template <bool kMax, class T>
inline T extreme(const List<T>& l) {
  const Guard guard(l.head(), kReads);
  const T* const items = l.data();
  if constexpr (List<T>::kWord) {
    const i64 n = l.size();
    T best = n > 0 ? items[0] : T();
    for (i64 i = 1; i < n; ++i) best = (kMax ? best < items[i] : items[i] < best) ? items[i] : best;
    if (n > 0) return best;
  }
  return items[extreme_place<kMax>(items, l.size())];
}

// ---- dicts and sets ---------------------------------------------------------------------------------------------------------------

struct Nothing {};

/// The slots where a hash may be found, one after the other. The first is given by the high bits of its product with the golden ratio
/// (Knuth, The Art of Computer Programming 3, 6.4), which keeps numbers at most equal distances apart; from the third on they are mixed,
/// so that the distances for which it does not make no long clusters.
struct Probe {
  u64 at, mask, hash, count;
  BC_INLINE u64 slot() const { return at & mask; }
  BC_INLINE void next() {
    ++at;
    if (++count > 1) at = hash = mixed(hash + count);
  }
};

/// Entries in the order of their insertion, and a table of open addressing that says where they are.
template <class K, class V>
struct DictBody {
  struct Entry {
    u64 hash;  ///< its highest bit is set; 0: the entry was erased
    K key;
    [[no_unique_address]] V value;
    BC_INLINE bool there() const { return hash != 0; }
  };
  Shared head;
  Block *memory, *table;
  i64 used, size, room, mask;  ///< entries including deleted ones, live entries, allocated entries, slots - 1
  i64 shift;                   ///< 64 - log2(slots)
  BC_INLINE Probe probe(u64 hash) const { return {(hash * 0x9e3779b97f4a7c15ull) >> shift, static_cast<u64>(mask), hash, 0}; }
  BC_INLINE Entry* entries() const { return reinterpret_cast<Entry*>(memory + 1); }
  BC_INLINE i32* slots() const { return reinterpret_cast<i32*>(table + 1); }
  static void end_of(Block* block) {
    auto* b = reinterpret_cast<DictBody*>(block + 1);
    for (i64 i = 0; i < b->used; ++i)
      if (b->entries()[i].there()) end_value(b->entries()[i]);
    disown(b->memory);
    disown(b->table);
    bc_host->release(block);
  }
  static void share_of(Block* block) {
    auto* b = reinterpret_cast<DictBody*>(block + 1);
    if constexpr (!__is_trivially_copyable(V))
      for (i64 i = 0; i < b->used; ++i)
        if (b->entries()[i].there()) share_value(b->entries()[i].value);
  }
};
template <class K, class V>
struct Dict : Ref<DictBody<K, V>> {
  using Body = DictBody<K, V>;
  using Entry = typename Body::Entry;
  using Ref<Body>::body;
  static constexpr bool kHoldsValues = __is_trivially_copyable(K) && __is_trivially_copyable(V);
  BC_INLINE Shared& head() const { return body().head; }
  BC_INLINE i64 size() const { return size_of(head(), body().size); }
  BC_INLINE Entry* entries() const { return body().entries(); }

  static BC_INLINE u64 hash_of_key(const K& key) { return hash_of(key) | u64{1} << 63; }
  /// The entry of a key, or -1.
  BC_INLINE i64 find(const K& key) const { return body().size == 0 ? -1 : find(key, hash_of_key(key)); }
  BC_INLINE i64 find(const K& key, u64 h) const {
    const Body& b = body();
    for (Probe p = b.probe(h);; p.next()) {
      const i32 at = b.slots()[p.slot()];
      if (at < 0) return -1;
      const Entry& e = b.entries()[at];
      if (e.hash == h && equal_to(e.key, key)) return at;
    }
  }
  BC_INLINE bool has(const K& key) const {
    const Guard guard(head(), kReads);
    return find(key) >= 0;
  }
  BC_INLINE Fetched<V> checked(const K& key) const {
    const Guard guard(head(), kReads);
    const i64 at = find(key);
    if (at < 0) no_key(key);
    return entries()[at].value;
  }
  __attribute__((noinline, cold, noreturn)) static void no_key(const K& key);
  /// Moves the entries to memory for so many.
  BC_NOINLINE void rebuild(i64 room) const {
    Body& b = body();
    Block* memory = bc_host->allocate(room * static_cast<i64>(sizeof(Entry)));
    auto* to = reinterpret_cast<Entry*>(memory + 1);
    i64 n = 0;
    for (i64 i = 0; i < b.used; ++i)
      if (b.entries()[i].there()) __builtin_memcpy(static_cast<void*>(to + n++), static_cast<const void*>(b.entries() + i), sizeof(Entry));
    disown(b.memory);
    b.memory = memory;
    find_places(n, room);
  }
  /// Makes the table of the first n entries, which are all there and have different keys, for so many.
  void find_places(i64 n, i64 room) const {
    Body& b = body();
    i64 slots = 8;
    while (slots < room * 2) slots *= 2;
    if (slots > i64{1} << 31) raise(kMemory, "a dict of this size does not fit into memory");
    Block* table = bc_host->allocate(slots * 4);
    auto* index = reinterpret_cast<i32*>(table + 1);
    __builtin_memset(index, 0xff, static_cast<unsigned long>(slots) * 4);
    b.used = n, b.room = room, b.mask = slots - 1, b.shift = 64 - __builtin_ctzll(static_cast<u64>(slots));
    for (i64 i = 0; i < n; ++i) {
      Probe p = b.probe(b.entries()[i].hash);
      while (index[p.slot()] >= 0) p.next();
      index[p.slot()] = static_cast<i32>(i);
    }
    disown(b.table);
    b.table = table;
  }
  /// The entry of a key; a missing one is added with the value V().
  BC_INLINE i64 entry(const K& key, bool* made = nullptr) const { return entry(key, hash_of_key(key), made); }
  BC_INLINE i64 entry(const K& key, u64 h, bool* made = nullptr) const {
    Body& b = body();
    Probe p = b.probe(h);
    if (made) *made = false;
    for (;; p.next()) {
      const i32 at = b.slots()[p.slot()];
      if (at < 0) break;
      const Entry& e = b.entries()[at];
      if (e.hash == h && equal_to(e.key, key)) return at;
    }
    if (made) *made = true;
    if (b.used == b.room) {
      const K kept = key;
      rebuild(b.size < 4 ? 8 : b.size * 2);
      for (p = b.probe(h); b.slots()[p.slot()] >= 0;) p.next();
      return add(kept, h, p.slot());
    }
    return add(key, h, p.slot());
  }
  BC_INLINE i64 add(const K& key, u64 h, u64 slot) const {
    Body& b = body();
    b.slots()[slot] = static_cast<i32>(b.used);
    Entry* e = b.entries() + b.used;
    new (e) Entry{h, key, V()};
    set_size(b.size, b.size + 1);
    b.head.changed = 1;
    return b.used++;
  }
  /// A new object of the entries, at most `most` and of different keys, that `put` gives to the function that is its argument.
  template <class D, class F>
  static BC_INLINE D made_of(i64 most, F put) {
    D d;
    d.make();
    Body& b = d.body();
    b.memory = bc_host->allocate(least_room(most) * static_cast<i64>(sizeof(Entry)));
    Entry* to = b.entries();
    put([&](const Entry& e) { new (to++) Entry(e); });
    b.size = to - b.entries();
    d.find_places(b.size, least_room(b.size));
    return d;
  }
  static BC_INLINE i64 least_room(i64 count) { return count < 8 ? 8 : count; }
  BC_INLINE void put(const K& key, const V& value) const {
    if (is_shared(head())) return shared_put(key, value);
    const V kept = value;
    const i64 at = entry(key);
    entries()[at].value = kept;
    keep_value(entries()[at].value);
    head().changed = 1;
  }
  BC_NOINLINE void shared_put(const K& key, const V& value) const {
    V made = shareable(head(), value);
    const Guard guard(head(), kWrites);
    const i64 at = entry(key);  // may reallocate the entries
    swap_values(entries()[at].value, made);
    head().changed = 1;
  }
  void erase(i64 at) const {
    Body& b = body();
    end_value(b.entries()[at]);
    b.entries()[at].hash = 0;
    set_size(b.size, b.size - 1);
    b.head.changed = 1;
  }
  void remove(const K& key) const {
    const Guard guard(head(), kWrites);
    const i64 at = find(key);
    if (at < 0) no_key(key);
    erase(at);
  }
  BC_INLINE V get(const K& key, const V& otherwise) const {
    const Guard guard(head(), kReads);
    const i64 at = find(key);
    return at < 0 ? otherwise : entries()[at].value;
  }
  Optional<V> get(const K& key) const {
    const Guard guard(head(), kReads);
    const i64 at = find(key);
    return at < 0 ? Optional<V>{V(), false} : Optional<V>{entries()[at].value, true};
  }
  V set_default(const K& key, const V& value) const {
    const auto& made_value = shareable(head(), value);
    const Guard guard(head(), kWrites);
    bool made;
    const i64 at = entry(key, &made);
    if (made) {
      entries()[at].value = made_value;
      keep_value(entries()[at].value);
    }
    return entries()[at].value;
  }
  V pop(const K& key) const {
    const Guard guard(head(), kWrites);
    const i64 at = find(key);
    if (at < 0) no_key(key);
    const V value = entries()[at].value;
    erase(at);
    return value;
  }
  V pop(const K& key, const V& otherwise) const {
    const Guard guard(head(), kWrites);
    const i64 at = find(key);
    if (at < 0) return otherwise;
    const V value = entries()[at].value;
    erase(at);
    return value;
  }
  /// Removes the last entry.
  Entry pop_last(bool set) const {
    const Guard guard(head(), kWrites);
    Body& b = body();
    if (b.size == 0) set ? raise(kKey, "pop from an empty set") : raise(kKey, "popitem(): dictionary is empty");
    while (!b.entries()[b.used - 1].there()) --b.used;
    if (b.used != b.size) rebuild(b.room);
    const Entry last = b.entries()[b.used - 1];
    erase(b.used - 1);
    return last;
  }
  void clear() const {
    const Guard guard(head(), kWrites);
    Body& b = body();
    for (i64 i = 0; i < b.used; ++i)
      if (b.entries()[i].there()) erase(i);
    b.used = 0;
    rebuild(8);
    b.head.changed = 1;
  }
  void update(const Dict& o) const {
    if (o.owner == this->owner) return;
    if (is_shared(o.head())) return update(o.copy());
    const i64 n = o.walk();
    for (i64 i = 0; i < n; ++i) put(o.entries()[i].key, o.entries()[i].value);
  }
  Dict copy() const {
    const Guard guard(head(), kWrites);
    return copy_as<Dict>();
  }
  /// A copy with memory for so many more entries.
  template <class D>
  D copy_as(i64 more = 0) const {
    const i64 n = walk(), room = least_room(n + more), slots = body().mask + 1;
    D d;
    d.make();
    Body& b = d.body();
    b.memory = bc_host->allocate(room * static_cast<i64>(sizeof(Entry)));
    for (i64 i = 0; i < n; ++i) new (b.entries() + i) Entry(entries()[i]);
    b.size = n;
    if (room * 2 > slots || room * 16 < slots) {
      d.find_places(n, room);
    } else {
      b.table = bc_host->allocate(slots * 4);
      __builtin_memcpy(b.slots(), body().slots(), static_cast<unsigned long>(slots) * 4);
      b.used = n, b.room = room, b.mask = slots - 1, b.shift = body().shift;
    }
    return d;
  }
  /// The dict, or for a shared dict a copy of its current entries.
  Dict unshared() const { return is_shared(head()) ? copy() : *this; }
  /// Compacts the entries before a loop; returns their number.
  BC_INLINE i64 walk() const {
    const Guard guard(head(), kWrites);
    Body& b = body();
    if (b.used != b.size) rebuild(b.room);
    return b.size;
  }
  BC_INLINE const Entry& walked(i64 i, i64 n) const {
    if (body().size != n || i >= body().used || !entries()[i].there()) raise(kRuntime, "the container changed its size during iteration");
    return entries()[i];
  }
  BC_INLINE K key(i64 i, i64 n) const {
    const Guard guard(head(), kReads);
    return walked(i, n).key;
  }
  BC_INLINE V value(i64 i, i64 n) const {
    const Guard guard(head(), kReads);
    return walked(i, n).value;
  }
  List<K> keys() const {
    const Guard guard(head(), kWrites);
    const i64 n = walk();
    List<K> l = new_list<K>(n);
    for (i64 i = 0; i < n; ++i) l.append(entries()[i].key);
    return l;
  }
  List<V> values() const {
    const Guard guard(head(), kWrites);
    const i64 n = walk();
    List<V> l = new_list<V>(n);
    for (i64 i = 0; i < n; ++i) l.append(entries()[i].value);
    return l;
  }
  bool equals(const Dict& other) const {
    const Dict o = other.unshared();
    const Guard guard(head(), kWrites);
    if (size() != o.size()) return false;
    const i64 n = walk();
    for (i64 i = 0; i < n; ++i) {
      const i64 at = o.find(entries()[i].key);
      if (at < 0) return false;
      if constexpr (!is_same<V, Nothing>)
        if (!equal_to(entries()[i].value, o.entries()[at].value)) return false;
    }
    return true;
  }
};
template <class K>
struct Set : Dict<K, Nothing> {
  BC_INLINE void add(const K& key) const {
    const Guard guard(this->head(), kWrites);
    this->entry(key);
  }
  void discard(const K& key) const {
    const Guard guard(this->head(), kWrites);
    const i64 at = this->find(key);
    if (at >= 0) this->erase(at);
  }
  Set copy() const;
  Set unshared() const { return is_shared(this->head()) ? copy() : *this; }
  K pop_any() const { return this->pop_last(true).key; }
};
template <class D>
BC_INLINE D new_table(i64 room = 8) {
  D d;
  d.make();
  d.rebuild(d.least_room(room));
  return d;
}
template <class K>
Set<K> Set<K>::copy() const {
  const Guard guard(this->head(), kWrites);
  return this->template copy_as<Set<K>>();
}
/// A set is passed as the list of its items, in two words: the list that was passed, and the list that is returned if the set changed.
template <class S>
inline S load_set(const void* at) {
  using K = decltype(S().pop_any());
  const auto items = load_shared<List<K>>(at);
  S s = new_table<S>(items.size());
  for (i64 i = 0; i < items.size(); ++i) s.add(items.data()[i]);
  s.body().head.changed = 0;
  return s;
}
template <class K>
inline void give_back(void* at, const Set<K>& s) {
  if (!s.body().head.changed) return;
  const List<K> items = s.keys();
  own(items.owner);
  __builtin_memcpy(static_cast<char*>(at) + 8, &items.owner, 8);
}
template <class K>
inline void store(void* at, const Set<K>& s) {
  store(at, s.keys());
}
template <class K, class... T>
BC_INLINE Set<K> set_of(const T&... keys) {
  Set<K> s = new_table<Set<K>>();
  (s.add(keys), ...);
  return s;
}
/// 0 union, 1 intersection, 2 difference, 3 symmetric difference.
template <class K>
inline Set<K> combined(const Set<K>& first, const Set<K>& second, int how) {
  const Set<K> one = first.unshared(), other = second.unshared();
  // As in CPython the elements of an intersection are those of the smaller set.
  const bool swapped = how == 1 && other.size() <= one.size();
  const Set<K>&a = swapped ? other : one, &b = swapped ? one : other;
  const i64 n = a.walk(), m = b.walk();
  const auto place = [](const Set<K>& set, const auto& e) { return set.size() == 0 ? -1 : set.find(e.key, e.hash); };
  // A copy is quicker than searches for all of its elements.
  if (how == 0 || how == 3 || (how == 2 && m < n)) {
    Set<K> s = a.template copy_as<Set<K>>(how == 2 ? 0 : m);
    for (i64 i = 0; i < m; ++i) {
      const auto& e = b.entries()[i];
      const i64 at = how == 0 ? -1 : place(s, e);
      if (at >= 0)
        s.erase(at);
      else if (how != 2)
        s.entry(e.key, e.hash);
    }
    return s;
  }
  return Set<K>::template made_of<Set<K>>(n, [&](const auto& put) {
    for (i64 i = 0; i < n; ++i)
      if ((how == 1) == (place(b, a.entries()[i]) >= 0)) put(a.entries()[i]);
  });
}
/// The result replaces the elements of a.
template <class K>
inline void combine_into(const Set<K>& a, const Set<K>& b, int how) {
  if (how == 0) return a.update(b);
  const Set<K> made = combined(a, b, how);
  const Guard guard(a.head(), kWrites);
  a.clear();
  a.update(made);
}
template <class K>
inline bool is_subset(const Set<K>& first, const Set<K>& second) {
  const Set<K> a = first.unshared(), b = second.unshared();
  const i64 n = a.walk();
  for (i64 i = 0; i < n; ++i)
    if (!b.has(a.entries()[i].key)) return false;
  return true;
}
template <class K>
inline bool is_disjoint(const Set<K>& first, const Set<K>& second) {
  const Set<K> a = first.unshared(), b = second.unshared();
  const i64 n = a.walk();
  for (i64 i = 0; i < n; ++i)
    if (b.has(a.entries()[i].key)) return false;
  return true;
}

// ---- objects of classes -----------------------------------------------------------------------------------------------------------

template <class S>
struct InstanceBody {
  Shared head;
  S fields;
  static void end_of(Block* block) {
    end_value(reinterpret_cast<InstanceBody*>(block + 1)->fields);
    bc_host->release(block);
  }
  static void share_of(Block* block) { share_value(reinterpret_cast<InstanceBody*>(block + 1)->fields); }
};
template <class S>
struct Instance : Ref<InstanceBody<S>> {
  using Fields = S;
  static constexpr bool kHoldsValues = __is_trivially_copyable(S);
  BC_INLINE S& fields() const { return this->body().fields; }
  /// A field that refers to memory or to other objects.
  template <class M>
  BC_INLINE Fetched<M> field(M S::* which) const {
    const Guard guard(this->body().head, kReads);
    return fields().*which;
  }
  template <class M, class U>
  BC_INLINE void set_field(M S::* which, const U& value) const {
    M made = value;
    keep_value(made);
    if (is_shared(this->body().head)) share_value(made);
    const Guard guard(this->body().head, kWrites);
    swap_values(fields().*which, made);
  }
};
/// An object whose fields are zero or empty.
template <class S>
BC_INLINE void make_instance(Instance<S>& made) {
  made.owner = bc_host->allocate(sizeof(InstanceBody<S>));
  auto* body = new (made.owner + 1) InstanceBody<S>{};
  body->head.end = &InstanceBody<S>::end_of;
  body->head.share = &InstanceBody<S>::share_of;
}

// ---- texts of values --------------------------------------------------------------------------------------------------------------

template <class T>
inline void write(Writer& w, const T& x);
BC_FN void write(Writer& w, const Str& s) { write_quoted(w, s); }
template <class T, int N>
inline void write(Writer& w, const Tuple<T, N>& t) {
  w.put("(", 1);
  for (int i = 0; i < N; ++i) {
    if (i) w.put(", ", 2);
    write(w, t[i]);
  }
  N == 1 ? w.put(",)", 2) : w.put(")", 1);
}
template <class T>
inline void write(Writer& w, const List<T>& given) {
  const List<T> l = given.unshared();
  w.put("[", 1);
  for (i64 i = 0; i < l.size(); ++i) {
    if (i) w.put(", ", 2);
    write(w, l.data()[i]);
  }
  w.put("]", 1);
}
template <class K>
inline void write(Writer& w, const Set<K>& given) {
  const Set<K> s = given.unshared();
  if (s.size() == 0) {
    w.put("set()", 5);
    return;
  }
  w.put("{", 1);
  const i64 n = s.walk();
  for (i64 i = 0; i < n; ++i) {
    if (i) w.put(", ", 2);
    write(w, s.entries()[i].key);
  }
  w.put("}", 1);
}
template <class K, class V>
inline void write(Writer& w, const Dict<K, V>& given) {
  const Dict<K, V> d = given.unshared();
  w.put("{", 1);
  const i64 n = d.walk();
  for (i64 i = 0; i < n; ++i) {
    if (i) w.put(", ", 2);
    write(w, d.entries()[i].key);
    w.put(": ", 2);
    write(w, d.entries()[i].value);
  }
  w.put("}", 1);
}
template <class T>
inline void write(Writer& w, const Optional<T>& x) {
  if (x.there)
    write(w, x.value);
  else
    w.put("None", 4);
}
template <class T>
inline void write(Writer& w, const T& x) {
  if constexpr (is_arithmetic_value<T>)
    write_number(w, x);
  else
    x.write_to(w);
}
template <class T>
BC_INLINE void write_str(Writer& w, const T& x) {
  write(w, x);
}
BC_FN void write_str(Writer& w, const Str& s) { w.put(s.data, s.size, s.length); }
BC_INLINE void write_str(Writer& w, const Optional<Str>& s) {
  if (s.there)
    write_str(w, s.value);
  else
    w.put("None", 4);
}
/// str(x).
template <class T>
inline Str text_of(const T& x) {
  Writer w;
  write_str(w, x);
  return w.text();
}
template <class T>
inline Str repr_of(const T& x) {
  Writer w;
  write(w, x);
  return w.text();
}
BC_FN void print_text(const Writer& w) {
  if (w.block) bc_host->print(reinterpret_cast<const char*>(w.block + 1), w.size);
}

/// The argument of the next exception.
template <class T>
inline void argument(const T& x) {
  if constexpr (is_bool<T>)
    bc_host->argument(kBoolTag, x, nullptr, 0);
  else if constexpr (is_same<T, u64>)
    bc_host->argument(kUintTag, x, nullptr, 0);
  else if constexpr (is_int<T>)
    bc_host->argument(kIntTag, static_cast<u64>(static_cast<i64>(x)), nullptr, 0);
  else if constexpr (is_native_float<T>)
    bc_host->argument(kFloatTag, bits_as<u64>(static_cast<double>(x)), nullptr, 0);
  else {
    const Str s = text_of(x);
    bc_host->argument(kTextTag, 0, s.data, s.size);
  }
}

/// str() of a caught exception; `known` gives the constant messages.
BC_INLINE Str caught_text(const Caught& caught, Str (*known)(i32 code)) {
  i64 size = 0;
  const char* text = bc_host->message(caught.exception, &size);
  return size > 0 ? copy_text(text, size, count_points(text, size)) : known(caught.code);
}

template <class K, class V>
void Dict<K, V>::no_key(const K& key) {
  const Str s = repr_of(key);
  argument(key);
  bc_host->raise(kKey, s.data, s.size, 0);
  __builtin_unreachable();
}

// ---- str's methods that make lists ------------------------------------------------------------------------------------------------

static inline List<Str> split_text(const Str& s, const Str& separator, i64 most) {
  if (separator.size == 0) raise(kValue, "empty separator");
  List<Str> parts = new_list<Str>(4);
  i64 begin = 0;
  for (i64 i = find_bytes(s, separator, 0); i >= 0 && most != 0; i = find_bytes(s, separator, begin), --most) {
    parts.append(part_of(s, begin, i, count_points(s.data + begin, i - begin)));
    begin = i + separator.size;
  }
  parts.append(part_of(s, begin, s.size, count_points(s.data + begin, s.size - begin)));
  return parts;
}
static inline List<Str> split_blanks(const Str& s, i64 most) {
  List<Str> parts = new_list<Str>(4);
  i64 i = 0;
  while (true) {
    while (i < s.size) {
      const i64 blank = blank_at(s, i);
      if (blank == 0) break;
      i += blank;
    }
    if (i == s.size) break;
    i64 end = i;
    if (most-- == 0) {
      end = s.size;  // with the blanks at its end
      parts.append(part_of(s, i, end, count_points(s.data + i, end - i)));
      break;
    }
    while (end < s.size && blank_at(s, end) == 0) ++end;
    parts.append(part_of(s, i, end, count_points(s.data + i, end - i)));
    i = end;
  }
  return parts;
}
/// The bytes of the line's end that begins at a byte; 0: none does.
static inline i64 line_end_at(const Str& s, i64 i) {
  const auto is = [&](i64 k, int low, int high) {
    return i + k < s.size && static_cast<unsigned char>(s.data[i + k]) >= low && static_cast<unsigned char>(s.data[i + k]) <= high;
  };
  if (is(0, '\r', '\r')) return is(1, '\n', '\n') ? 2 : 1;
  if (is(0, '\n', '\f') || is(0, 0x1c, 0x1e)) return 1;
  if (is(0, 0xc2, 0xc2) && is(1, 0x85, 0x85)) return 2;                        // NEXT LINE
  return is(0, 0xe2, 0xe2) && is(1, 0x80, 0x80) && is(2, 0xa8, 0xa9) ? 3 : 0;  // LINE SEPARATOR, PARAGRAPH SEPARATOR
}
static inline List<Str> split_lines(const Str& s, bool keep_ends) {
  List<Str> parts = new_list<Str>(4);
  i64 begin = 0;
  for (i64 i = 0; i < s.size;) {
    const i64 ends = line_end_at(s, i);
    i += ends > 0 ? ends : 1;
    if (ends == 0 && i < s.size) continue;
    const i64 last = keep_ends ? i : i - ends;
    parts.append(part_of(s, begin, last, count_points(s.data + begin, last - begin)));
    begin = i;
  }
  return parts;
}
static inline Str join_texts(const Str& separator, const List<Str>& given) {
  const List<Str> parts = given.unshared();
  Writer w;
  for (i64 i = 0; i < parts.size(); ++i) {
    if (i) w.put(separator.data, separator.size, separator.length);
    w.put(parts.data()[i].data, parts.data()[i].size, parts.data()[i].length);
  }
  return w.text();
}

}  // namespace py
}  // namespace bc
#endif
