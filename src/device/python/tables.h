// Dicts and sets of functions compiled for the CPU.
#pragma once
#include "lists.h"

#if !BC_CUDA

namespace bc {
namespace py {

struct Nothing {};

/// The slots where a hash may be found, one after the other. The first of an integer is given by its low bits, as in CPython: numbers that
/// follow each other lie side by side in memory. That of other keys is given by the high bits of the hash's product with the golden ratio
/// (Knuth, The Art of Computer Programming 3, 6.4). From the third on slots are mixed, so that numbers whose low bits agree make no long
/// clusters.
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
  BC_INLINE Probe probe(u64 hash) const {
    return {is_int<K> ? hash : (hash * 0x9e3779b97f4a7c15ull) >> shift, static_cast<u64>(mask), hash, 0};
  }
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
      rebuild(b.size < 4 ? 8 : b.size < 512 ? b.size * 4 : b.size * 2);
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

}  // namespace py
}  // namespace bc
#endif
