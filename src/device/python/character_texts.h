// What functions for the CPU do with elements of arrays of str, which are read as texts, and of bytes.
#pragma once
#include "characters.h"
#include "objects.h"

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

template <int N>
inline void write(Writer& w, const Characters<u8, N>& s) {
  const ByteSpan b = bytes_of(s);
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

}  // namespace py
}  // namespace bc

#endif
