// What functions for the CPU do with elements of arrays of str, which are read as texts, and of bytes.
#pragma once
#include "characters.h"
#include "containers.h"

#if !BC_CUDA

namespace bc {
namespace py {

/// Where a byte is no ASCII character, or one that only str takes for white space, its text has a character that is nothing to str either.
constexpr i64 kOther = 0xe000;
BC_FN i64 point_of(u8 c) { return c >= 0x80 || (c >= 0x1c && c <= 0x1f) ? kOther + c : c; }
BC_FN i64 point_of(u32 c) { return c < 0x110000 ? c : 0xfffd; }

/// The text of `n` characters.
template <class C>
static inline Str text_of_units(const C* from, i64 n) {
  i64 size = 0;
  char bytes[4];
  for (i64 i = 0; i < n; ++i) size += point_of(C(from[i])) < 0x80 ? 1 : put_point(point_of(C(from[i])), bytes);
  char* at;
  Str s = new_text(size, n, at);
  for (i64 i = 0; i < n; ++i) at += put_point(point_of(C(from[i])), at);
  return s;
}
template <class C, int N>
static inline Str text_of(const Characters<C, N>& s) {
  C copy[N];
  __builtin_memcpy(copy, &s, sizeof copy);
  return text_of_units(copy, s.length());
}

/// Bytes of any kind: where they are, and how many.
struct ByteSpan {
  const u8* at;
  i64 size;
};
template <int N>
BC_FN ByteSpan bytes_of(const Characters<u8, N>& s) {
  return {reinterpret_cast<const u8*>(&s), s.length()};
}
template <class A>
BC_FN ByteSpan bytes_of(const A& array) {
  return {array.size() ? &array(0) : nullptr, array.size()};
}
template <class A>
static inline Str text_of_bytes(const A& bytes) {
  const ByteSpan s = bytes_of(bytes);
  return text_of_units(s.at, s.size);
}
template <class A, class B>
static inline int order_of_bytes(const A& x, const B& y) {
  const ByteSpan a = bytes_of(x), b = bytes_of(y);
  const int d = __builtin_memcmp(a.at, b.at, static_cast<unsigned long>(least(a.size, b.size)));
  return d != 0 ? d : (a.size > b.size) - (a.size < b.size);
}

template <int N>
BC_FN bool same_bytes(const Characters<u8, N>& a, const Characters<u8, N>& b) {
  return __builtin_memcmp(&a, &b, N) == 0;
}
template <int N, class B>
static inline bool same_bytes(const Characters<u8, N>& a, const B& y) {
  const ByteSpan b = bytes_of(y);
  if (b.size > N || (b.size > 0 && b.at[b.size - 1] == 0)) return false;  // zeros behind it are no part of an element
  for (i64 i = 0; i < N; ++i)
    if (a.at[i] != (i < b.size ? b.at[i] : 0)) return false;
  return true;
}
template <int N, char L>
BC_FN bool same_bytes(const Host<u8, 1, L>& a, const Characters<u8, N>& b) {
  return same_bytes(b, a);
}

/// The same as order_of the texts, without making them: their order is that of the code points.
template <int N>
static inline int order_of(const Characters<u32, N>& a, const Str& b) {
  const i64 n = a.length();
  i64 at = 0;
  for (i64 i = 0; i < n; ++i) {
    if (at >= b.size) return 1;
    const i64 other = b.ascii() ? static_cast<u8>(b.data[at]) : point_at(b.data + at), own = a.at[i];
    if (own != other) return own < other ? -1 : 1;
    at = b.ascii() ? at + 1 : next_point(b.data, at, b.size);
  }
  return at < b.size ? -1 : 0;
}
template <int N>
BC_FN int order_of(const Str& a, const Characters<u32, N>& b) {
  return -order_of(b, a);
}
template <int N, int M>
static inline int order_of(const Characters<u32, N>& a, const Characters<u32, M>& b) {
  constexpr int kMost = N > M ? N : M;
  return order_of_units(Characters<u32, kMost>(a), Characters<u32, kMost>(b));
}

// ---- bytes: arrays of uint8 that are not written -------------------------------------------------------------------------------------

using Bytes = Host<u8, 1, 'C'>;

static inline Bytes joined_spans(ByteSpan a, ByteSpan b) {
  Bytes made = fresh<u8, 1>({{a.size + b.size}});
  if (a.size > 0) __builtin_memcpy(made.data, a.at, static_cast<unsigned long>(a.size));
  if (b.size > 0) __builtin_memcpy(made.data + a.size, b.at, static_cast<unsigned long>(b.size));
  return made;
}
BC_FN Bytes joined_bytes(const auto& a, const auto& b) { return joined_spans(bytes_of(a), bytes_of(b)); }
BC_FN Bytes new_bytes(const auto& a) { return joined_spans(bytes_of(a), {nullptr, 0}); }
static inline Bytes repeated_bytes(const auto& a, i64 times) {
  const ByteSpan s = bytes_of(a);
  i64 size;
  if (times < 0) times = 0;
  if (__builtin_mul_overflow(s.size, times, &size)) raise(kValue, "array is too big");
  Bytes made = fresh<u8, 1>({{size}});
  for (i64 i = 0; i < size; ++i) made.data[i] = s.at[i % s.size];
  return made;
}
static inline Bytes bytes_of_text(const Str& s) {
  Bytes made = fresh<u8, 1>({{s.length}});
  for (i64 i = 0, at = 0; i < s.length; ++i) {
    const i64 point = s.ascii() ? static_cast<u8>(s.data[at]) : point_at(s.data + at);
    made.data[i] = static_cast<u8>(point >= kOther ? point - kOther : point);
    at = s.ascii() ? at + 1 : next_point(s.data, at, s.size);
  }
  return made;
}
static inline List<Bytes> bytes_of_texts(const List<Str>& given) {
  List<Bytes> made = new_list<Bytes>(given.size());
  for (i64 i = 0; i < given.size(); ++i) made.append(bytes_of_text(given.data()[i]));
  return made;
}
template <class S, class T>
static inline Bytes join_bytes(const S& separator, const List<T>& given) {
  const List<T> parts = given.unshared();
  const ByteSpan between = bytes_of(separator);
  i64 size = 0;
  for (i64 i = 0; i < parts.size(); ++i) size += bytes_of(parts.data()[i]).size + (i ? between.size : 0);
  Bytes made = fresh<u8, 1>({{size}});
  u8* at = made.data;
  const auto put = [&](ByteSpan s) {
    if (s.size > 0) __builtin_memcpy(at, s.at, static_cast<unsigned long>(s.size));
    at += s.size;
  };
  for (i64 i = 0; i < parts.size(); ++i) {
    if (i) put(between);
    put(bytes_of(parts.data()[i]));
  }
  return made;
}
static inline Bytes bytes_of_integers(const auto& given) {
  Bytes made = fresh<u8, 1>({{given.size()}});
  for (i64 i = 0; i < given.size(); ++i) {
    const i64 x = static_cast<i64>(given.data()[i]);
    if (x < 0 || x > 255) raise(kValue, "bytes must be in range(0, 256)");
    made.data[i] = static_cast<u8>(x);
  }
  return made;
}
static inline Bytes single_byte(i64 x) {
  if (x < 0 || x > 255) raise(kValue, "byte must be in range(0, 256)");
  Bytes made = fresh<u8, 1>({{1}});
  made.data[0] = static_cast<u8>(x);
  return made;
}
/// The bytes of an array's elements, in C order.
template <class T, int N, char L>
static inline Bytes memory_of(const Host<T, N, L>& a) {
  const i64 n = a.size();
  Bytes made = fresh<u8, 1>({{n * static_cast<i64>(sizeof(T))}});
  for (i64 i = 0; i < n; ++i) __builtin_memcpy(made.data + i * static_cast<i64>(sizeof(T)), &element_at(a, i), sizeof(T));
  return made;
}
static inline bool contains_bytes(const auto& whole, const auto& part) {
  const ByteSpan w = bytes_of(whole), p = bytes_of(part);
  for (i64 i = 0; i + p.size <= w.size; ++i)
    if (p.size == 0 || __builtin_memcmp(w.at + i, p.at, static_cast<unsigned long>(p.size)) == 0) return true;
  return false;
}
BC_FN bool same_bytes(const Bytes& x, const Bytes& y) { return x.size() == y.size() && order_of_bytes(x, y) == 0; }
BC_FN bool equal_to(const Bytes& a, const Bytes& b) { return same_bytes(a, b); }
BC_FN bool less_than(const Bytes& a, const Bytes& b) { return order_of_bytes(a, b) < 0; }
static inline u64 hash_of(const Bytes& b) { return hash_of(literal(reinterpret_cast<const char*>(b.data), b.size(), b.size())); }

/// What NumPy stores of a text: as many characters as there is room for.
template <class T>
struct UnitsOf;
template <class C, int N>
struct UnitsOf<Characters<C, N>> {
  using Unit = C;
  static constexpr int kCount = N;
};
template <class T>
static inline T characters(const Str& s) {
  T made{};
  i64 at = 0;
  for (int i = 0; i < UnitsOf<T>::kCount && at < s.size; ++i) {
    const i64 point = s.ascii() ? static_cast<u8>(s.data[at]) : point_at(s.data + at);
    made.at[i] = static_cast<typename UnitsOf<T>::Unit>(sizeof(made.at[0]) == 1 && point >= kOther ? point - kOther : point);
    at = s.ascii() ? at + 1 : next_point(s.data, at, s.size);
  }
  return made;
}
template <class T>
static inline T characters_of_bytes(const auto& bytes) {
  const ByteSpan s = bytes_of(bytes);
  T made{};
  for (i64 i = 0; i < UnitsOf<T>::kCount && i < s.size; ++i) made.at[i] = s.at[i];
  return made;
}
// ---- bytes as values: in containers, and their items -------------------------------------------------------------------------------

template <int N>
static inline i64 byte_at(const Characters<u8, N>& s, i64 i) {
  const i64 n = s.length();
  if (i < 0) i += n;
  if (i < 0 || i >= n) raise(kIndex, "index out of range");
  return s.at[i];
}
template <int N, int M>
BC_FN bool equal_to(const Characters<u8, N>& a, const Characters<u8, M>& b) {
  return same_bytes(a, b);
}
template <int N>
BC_FN bool less_than(const Characters<u8, N>& a, const Characters<u8, N>& b) {
  return order_of_bytes(a, b) < 0;
}
template <int N>
static inline u64 hash_of(const Characters<u8, N>& s) {
  return hash_of(literal(reinterpret_cast<const char*>(&s), s.length(), s.length()));
}

static inline void write_bytes(Writer& w, ByteSpan b) {
  bool single = false, twice = false;
  for (i64 i = 0; i < b.size; ++i) single |= b.at[i] == '\'', twice |= b.at[i] == '"';
  const char quote[] = {single && !twice ? '"' : '\''};
  w.put("b", 1).put(quote, 1);
  for (i64 i = 0; i < b.size; ++i) {
    const char c = static_cast<char>(b.at[i]), escaped[] = {'\\', c == '\t' ? 't' : c == '\n' ? 'n' : c == '\r' ? 'r' : c};
    if (c == quote[0] || c == '\\' || escaped[1] != c)
      w.put(escaped, 2);
    else if (c >= 32 && c < 127)
      w.put(&c, 1);
    else
      write_escaped(w, b.at[i]);
  }
  w.put(quote, 1);
}
template <int N>
inline void write(Writer& w, const Characters<u8, N>& s) {
  write_bytes(w, bytes_of(s));
}
inline void write(Writer& w, const Bytes& b) { write_bytes(w, bytes_of(b)); }

}  // namespace py
}  // namespace bc

#endif
