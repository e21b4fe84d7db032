// Objects of classes, texts of values and methods of texts that make lists, in functions compiled for the CPU.
#pragma once
#include "tables.h"

#if !BC_CUDA

namespace bc {
namespace py {

// ---- objects of classes -----------------------------------------------------------------------------------------------------------

template <class S>
struct InstanceBody {
  Shared head;
  S fields;
  static void end_now(Block* block) {
    end_value(reinterpret_cast<InstanceBody*>(block + 1)->fields);
    bc_host->release(block);
  }
  static void end_of(Block* block) {
    if constexpr (requires { S::kLinked; })
      bc_host->end_linked(block, &end_now);
    else
      end_now(block);
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
