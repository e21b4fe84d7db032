// Lists of functions compiled for the CPU, and arrays that are made of them.
#pragma once
#include "objects.h"

#if !BC_CUDA

namespace bc {
namespace py {

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

}  // namespace py
}  // namespace bc
#endif
