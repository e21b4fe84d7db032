// Python's str in functions compiled for the CPU: immutable, reference-counted UTF-8.
#pragma once
#include "host.h"

#if !BC_CUDA

namespace bc {
namespace py {

/// `length` counts code points; it equals `size` where all are ASCII, and then characters are found in no time.
struct Str {
  Block* owner = nullptr;
  const char* data = "";
  i64 size = 0, length = 0;

  BC_INLINE Str() = default;
  BC_INLINE Str(Block* o, const char* d, i64 n, i64 points) : owner(o), data(d), size(n), length(points) { own(o); }
  BC_INLINE Str(const Str& o) : owner(o.owner), data(o.data), size(o.size), length(o.length) { own(owner); }
  BC_INLINE Str(Str&& o) : owner(o.owner), data(o.data), size(o.size), length(o.length) { o.owner = nullptr; }
  BC_INLINE Str& operator=(Str o) {
    Block* old = owner;
    owner = o.owner, data = o.data, size = o.size, length = o.length;
    o.owner = old;
    return *this;
  }
  BC_INLINE ~Str() { disown(owner); }
  BC_INLINE bool ascii() const { return length == size; }
};
BC_FN Str literal(const char* text, i64 size, i64 length) {
  Str s;
  s.data = text, s.size = size, s.length = length;
  return s;
}
BC_FN i64 count_points(const char* at, i64 size) {
  i64 n = 0;
  for (i64 i = 0; i < size; ++i) n += (at[i] & 0xc0) != 0x80;
  return n;
}
/// A table before the characters of a longer text that is not all ASCII: where every 16th code point begins, as far as somebody asked, so
/// that an index costs no walk from the start. Texts that share the memory share it. `self` tells it from characters.
struct TextMarks {
  static constexpr i64 kStep = 16, kLeast = 64;
  static constexpr u64 kTag = 0x5bc07e875bc07e87ull;
  u64 self;
  i64 room, known;  ///< in marks; the first `known` are written
  BC_INLINE u32* marks() { return reinterpret_cast<u32*>(this + 1); }
  BC_INLINE char* text() { return reinterpret_cast<char*>(marks() + room); }
  BC_INLINE void begin(i64 size) {
    self = reinterpret_cast<u64>(this) ^ kTag;
    room = size / kStep + 2;
    known = 1;
    marks()[0] = 0;
  }
  static BC_INLINE bool wanted(i64 size, i64 length) { return size != length && size >= kLeast && size < (i64{1} << 32); }
};
BC_FN TextMarks* marks_of(const Str& s) {
  if (!s.owner) return nullptr;
  auto* m = reinterpret_cast<TextMarks*>(s.owner + 1);
  return m->self == (reinterpret_cast<u64>(m) ^ TextMarks::kTag) ? m : nullptr;
}
/// Room for a new text; the characters are written through `at`.
static inline Str new_text(i64 size, i64 length, char*& at) {
  Str s;
  s.size = size, s.length = length;
  if (TextMarks::wanted(size, length)) {
    s.owner = bc_host->allocate(static_cast<i64>(sizeof(TextMarks)) + (size / TextMarks::kStep + 2) * 4 + size);
    auto* m = reinterpret_cast<TextMarks*>(s.owner + 1);
    m->begin(size);
    s.data = at = m->text();
    return s;
  }
  s.owner = bc_host->allocate(size > 8 ? size : 8);
  s.data = at = reinterpret_cast<char*>(s.owner + 1);
  return s;
}
static inline Str copy_text(const char* from, i64 size, i64 length) {
  char* at;
  Str s = new_text(size, length, at);
  __builtin_memcpy(at, from, static_cast<unsigned long>(size));
  return s;
}
/// An argument's characters, which end with the call: copied.
BC_FN Str load_text(const void* from) {
  i64 words[3];
  __builtin_memcpy(words, from, sizeof words);
  return copy_text(reinterpret_cast<const char*>(words[0]), words[1], words[2]);
}
BC_FN void store(void* at, const Str& s) {
  own(s.owner);
  const i64 words[4] = {reinterpret_cast<i64>(s.data), s.size, s.length, reinterpret_cast<i64>(s.owner)};
  __builtin_memcpy(at, words, sizeof words);
}

BC_FN int order_of(const Str& a, const Str& b) {
  const i64 n = least(a.size, b.size);
  const int d = __builtin_memcmp(a.data, b.data, static_cast<unsigned long>(n));
  return d != 0 ? d : (a.size > b.size) - (a.size < b.size);
}
BC_FN bool same_text(const Str& a, const Str& b) {
  return a.size == b.size && __builtin_memcmp(a.data, b.data, static_cast<unsigned long>(a.size)) == 0;
}

BC_FN i64 next_point(const char* text, i64 at, i64 end) {
  ++at;
  while (at < end && (text[at] & 0xc0) == 0x80) ++at;
  return at;
}
/// The same where the memory has marks: `s` may be a part of the text there.
static inline i64 byte_of_marked(const Str& s, i64 i, TextMarks* m) {
  const char* const text = m->text();
  u32* const marks = m->marks();
  const i64 begin = s.data - text, end = begin + s.size;
  // Threads that do this at the same time write the same values.
  i64 known = __atomic_load_n(&m->known, __ATOMIC_ACQUIRE);
  const auto mark_until = [&](auto enough) {
    while (known < m->room && !enough(known - 1)) {
      i64 at = marks[known - 1], step = 0;
      for (; step < TextMarks::kStep && at < end; ++step) at = next_point(text, at, end);
      if (step < TextMarks::kStep) return;
      marks[known++] = static_cast<u32>(at);
      __atomic_store_n(&m->known, known, __ATOMIC_RELEASE);
    }
  };
  i64 first = 0;
  if (begin > 0) {
    // The code points before this part: from the last mark that is not behind its begin.
    mark_until([&](i64 k) { return static_cast<i64>(marks[k]) >= begin; });
    i64 low = 0, high = known;
    while (high - low > 1) {
      const i64 middle = low + (high - low) / 2;
      (static_cast<i64>(marks[middle]) <= begin ? low : high) = middle;
    }
    first = low * TextMarks::kStep;
    for (i64 at = marks[low]; at < begin; at = next_point(text, at, end)) ++first;
  }
  const i64 point = first + i, k = point / TextMarks::kStep;
  mark_until([&](i64 last) { return last >= k; });
  const i64 from = k < known ? k : known - 1;
  i64 at = marks[from];
  for (i64 p = from * TextMarks::kStep; p < point && at < end; ++p) at = next_point(text, at, end);
  return at - begin;
}
/// The offset of the code point `i`; i may be the length.
static inline i64 byte_of(const Str& s, i64 i) {
  if (s.ascii()) return i;
  if (i > TextMarks::kStep)
    if (TextMarks* m = marks_of(s)) return byte_of_marked(s, i, m);
  i64 at = 0;
  while (i > 0) {
    ++at;
    while (at < s.size && (s.data[at] & 0xc0) == 0x80) ++at;
    --i;
  }
  return at;
}
BC_FN Str part_of(const Str& s, i64 from, i64 to, i64 points) { return Str(s.owner, s.data + from, to - from, points); }
/// A long literal that is not all ASCII: its memory is counted as others' is, and never given back.
template <int N>
struct LongLiteral {
  Block block;
  TextMarks head;
  u32 marks[N / TextMarks::kStep + 2];
  char text[N];
  i32 ready;
};
template <int N>
static inline Str long_literal(LongLiteral<N>& l, const char* text, i64 length) {
  if (!__atomic_load_n(&l.ready, __ATOMIC_ACQUIRE)) {
    l.block.count = i64{1} << 40;
    l.block.bytes = N;
    l.head.begin(N);
    __builtin_memcpy(l.head.text(), text, N);
    __atomic_store_n(&l.ready, 1, __ATOMIC_RELEASE);
  }
  return Str(&l.block, l.head.text(), N, length);
}
/// Code points [first, last).
BC_FN Str substring(const Str& s, i64 first, i64 last) {
  if (last < first) last = first;
  const i64 from = byte_of(s, first);
  const i64 to = s.ascii() ? last : last == first + 1 && from < s.size ? next_point(s.data, from, s.size) : byte_of(s, last);
  return part_of(s, from, to, last - first);
}
BC_FN Str character(const Str& s, i64 i) {
  if (i < 0) i += s.length;
  if (i < 0 || i >= s.length) raise(kIndex, "string index out of range");
  return substring(s, i, i + 1);
}
static inline Str concatenated(const Str& a, const Str& b) {
  char* at;
  Str s = new_text(a.size + b.size, a.length + b.length, at);
  __builtin_memcpy(at, a.data, static_cast<unsigned long>(a.size));
  __builtin_memcpy(at + a.size, b.data, static_cast<unsigned long>(b.size));
  return s;
}
static inline Str repeated(const Str& a, i64 times) {
  if (times < 0) times = 0;
  char* at;
  Str s = new_text(a.size * times, a.length * times, at);
  for (i64 i = 0; i < times; ++i) __builtin_memcpy(at + i * a.size, a.data, static_cast<unsigned long>(a.size));
  return s;
}
static inline Str sliced(const Str& s, const Slice& slice) {
  i64 first, count;
  resolve(slice, s.length, first, count);
  if (count <= 0) return literal("", 0, 0);
  if (slice.step == 1) return substring(s, first, first + count);
  i64 bytes = 0;
  for (i64 k = 0; k < count; ++k) {
    const Str c = substring(s, first + k * slice.step, first + k * slice.step + 1);
    bytes += c.size;
  }
  char* at;
  Str made = new_text(bytes, count, at);
  for (i64 k = 0; k < count; ++k) {
    const Str c = substring(s, first + k * slice.step, first + k * slice.step + 1);
    for (i64 i = 0; i < c.size; ++i) *at++ = c.data[i];
  }
  return made;
}
/// The byte where `what` begins, at or after `from`; -1: nowhere.
static inline i64 find_bytes(const Str& s, const Str& what, i64 from) {
  for (i64 i = from; i + what.size <= s.size; ++i)
    if (__builtin_memcmp(s.data + i, what.data, static_cast<unsigned long>(what.size)) == 0) return i;
  return -1;
}
BC_FN bool contains_text(const Str& s, const Str& what) { return find_bytes(s, what, 0) >= 0; }
static inline i64 find_text(const Str& s, const Str& what) {
  const i64 at = find_bytes(s, what, 0);
  return at < 0 ? -1 : count_points(s.data, at);
}
static inline i64 find_last(const Str& s, const Str& what) {
  for (i64 i = s.size - what.size; i >= 0; --i)
    if (__builtin_memcmp(s.data + i, what.data, static_cast<unsigned long>(what.size)) == 0) return count_points(s.data, i);
  return -1;
}
BC_FN i64 index_text(const Str& s, const Str& what) {
  const i64 at = find_text(s, what);
  if (at < 0) raise(kValue, "substring not found");
  return at;
}
static inline i64 count_text(const Str& s, const Str& what) {
  if (what.size == 0) return s.length + 1;
  i64 n = 0;
  for (i64 at = find_bytes(s, what, 0); at >= 0; at = find_bytes(s, what, at + what.size)) ++n;
  return n;
}
BC_FN bool starts_with(const Str& s, const Str& what) {
  return what.size <= s.size && __builtin_memcmp(s.data, what.data, static_cast<unsigned long>(what.size)) == 0;
}
BC_FN bool ends_with(const Str& s, const Str& what) {
  return what.size <= s.size && __builtin_memcmp(s.data + s.size - what.size, what.data, static_cast<unsigned long>(what.size)) == 0;
}
/// A text between all characters, before the first and behind the last.
static inline Str interleaved(const Str& s, const Str& with) {
  char* at;
  const i64 n = s.length + 1;
  Str made = new_text(s.size + n * with.size, s.length + n * with.length, at);
  for (i64 i = 0, next = 0;; i = next) {
    __builtin_memcpy(at, with.data, static_cast<unsigned long>(with.size));
    at += with.size;
    if (i == s.size) return made;
    for (next = next_point(s.data, i, s.size); i < next; ++i) *at++ = s.data[i];
  }
}
static inline Str replaced(const Str& s, const Str& from, const Str& to) {
  if (from.size == 0) return interleaved(s, to);
  const i64 n = count_text(s, from);
  if (n == 0) return s;
  char* at;
  Str made = new_text(s.size + n * (to.size - from.size), s.length + n * (to.length - from.length), at);
  i64 begin = 0;
  for (i64 i = find_bytes(s, from, 0); i >= 0; i = find_bytes(s, from, begin)) {
    __builtin_memcpy(at, s.data + begin, static_cast<unsigned long>(i - begin));
    at += i - begin;
    __builtin_memcpy(at, to.data, static_cast<unsigned long>(to.size));
    at += to.size;
    begin = i + from.size;
  }
  __builtin_memcpy(at, s.data + begin, static_cast<unsigned long>(s.size - begin));
  return made;
}

// ---- characters -------------------------------------------------------------------------------------------------------------------

BC_FN bool is_blank(char c) { return c == ' ' || (c >= 9 && c <= 13) || (c >= 28 && c <= 31); }
BC_FN bool is_lower(char c) { return c >= 'a' && c <= 'z'; }
BC_FN bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }
BC_FN bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// What Table::unicode is asked: the mappings give up to three code points of 21 bits, kClasses gives the classes below.
enum CharacterQuestion : i32 { kToLower, kToUpper, kToTitle, kToFolded, kClasses };
enum CharacterClass : u64 {
  kAlpha = 1,
  kDecimal = 2,
  kDigit = 4,
  kNumeric = 8,
  kSpace = 16,
  kLower = 32,
  kUpper = 64,
  kTitle = 128,
  kPrintable = 256
};

/// The code point that begins at a byte.
static inline i64 point_at(const char* at) {
  const auto* b = reinterpret_cast<const unsigned char*>(at);
  if (b[0] < 0x80) return b[0];
  if (b[0] < 0xe0) return (b[0] & 0x1f) << 6 | (b[1] & 0x3f);
  if (b[0] < 0xf0) return (b[0] & 0x0f) << 12 | (b[1] & 0x3f) << 6 | (b[2] & 0x3f);
  return (b[0] & 0x07) << 18 | (b[1] & 0x3f) << 12 | (b[2] & 0x3f) << 6 | (b[3] & 0x3f);
}
/// Writes a code point; gives its bytes.
static inline i64 put_point(i64 code, char* to) {
  const i64 n = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
  if (n == 1) to[0] = static_cast<char>(code);
  for (i64 i = n - 1; n > 1 && i > 0; --i, code >>= 6) to[i] = static_cast<char>(0x80 | (code & 0x3f));
  if (n > 1) to[0] = static_cast<char>((n == 2 ? 0xc0 : n == 3 ? 0xe0 : 0xf0) | code);
  return n;
}
static inline u64 classes_of(i64 point) {
  if (point >= 0x80) return bc_host->unicode(kClasses, static_cast<u32>(point));
  const char c = static_cast<char>(point);
  return (is_lower(c) ? u64{kLower | kAlpha} : 0) | (is_upper(c) ? u64{kUpper | kAlpha} : 0) | (is_blank(c) ? kSpace : 0) |
         (is_digit(c) ? u64{kDecimal | kDigit | kNumeric} : 0) | (c >= 32 && c < 127 ? kPrintable : 0);
}
/// The bytes of the blank that begins at a byte; 0: none does.
BC_FN i64 blank_at(const Str& s, i64 i) {
  const char c = s.data[i];
  if (static_cast<unsigned char>(c) < 0xc0) return is_blank(c);
  return classes_of(point_at(s.data + i)) & kSpace ? next_point(s.data, i, s.size) - i : 0;
}
/// The byte where the character that ends before a byte begins.
BC_FN i64 previous_point(const char* text, i64 at) {
  --at;
  while (at > 0 && (text[at] & 0xc0) == 0x80) --at;
  return at;
}
/// Tells whether all characters are of one of the classes.
static inline bool all_of_classes(const Str& s, u64 classes) {
  for (i64 i = 0; i < s.size; i = next_point(s.data, i, s.size))
    if (!(classes_of(point_at(s.data + i)) & classes)) return false;
  return s.size > 0 || classes == kPrintable;
}
/// Tells whether there are characters of a case and none of the others.
static inline bool all_of_case(const Str& s, u64 wanted) {
  bool found = false;
  for (i64 i = 0; i < s.size; i = next_point(s.data, i, s.size)) {
    const u64 cased = classes_of(point_at(s.data + i)) & (kLower | kUpper | kTitle);
    if (cased & ~wanted) return false;
    found |= cased != 0;
  }
  return found;
}

/// The small sigma at a word's end has a form of its own: after a letter with a case, and not before one. Marks between do not count.
static inline bool ends_word(const Str& s, i64 at) {
  const auto is_mark = [](i64 c) {
    return c == '\'' || c == '.' || c == ':' || c == '^' || c == '`' || c == 0xa8 || c == 0xad || c == 0xaf || c == 0xb4 || c == 0xb7 ||
           c == 0xb8 || (c >= 0x300 && c <= 0x36f) || c == 0x2018 || c == 0x2019 || c == 0x2024 || c == 0x2027;
  };
  const auto is_cased = [](i64 c) { return (classes_of(c) & (kLower | kUpper | kTitle)) != 0; };
  i64 i = at;
  while (i > 0 && is_mark(point_at(s.data + previous_point(s.data, i)))) i = previous_point(s.data, i);
  if (i == 0 || !is_cased(point_at(s.data + previous_point(s.data, i)))) return false;
  i = next_point(s.data, at, s.size);
  while (i < s.size && is_mark(point_at(s.data + i))) i = next_point(s.data, i, s.size);
  return i == s.size || !is_cased(point_at(s.data + i));
}
/// How texts change their case: the first four are those of CharacterQuestion.
enum Recasing { kSwapCase = 4, kCapitalize = 5, kTitleWords = 6 };
/// What a character becomes, after one that has a case or not.
static inline i32 recasing_of(int how, u64 classes, bool first, bool after_cased) {
  switch (how) {
    case kSwapCase: return classes & kUpper ? kToLower : classes & kLower ? kToUpper : -1;
    case kCapitalize: return first ? kToTitle : kToLower;
    case kTitleWords: return after_cased ? kToLower : kToTitle;
    default: return how;
  }
}
static inline Str recased_points(const Str& s, int how);
/// lower, upper, casefold, swapcase, capitalize and title.
static inline Str recased(const Str& s, int how) {
  if (!s.ascii()) return recased_points(s, how);
  char* at;
  Str made = new_text(s.size, s.length, at);
  bool after_cased = false;
  for (i64 i = 0; i < s.size; ++i) {
    char c = s.data[i];
    const bool letter = is_lower(c) || is_upper(c);
    if (letter) {
      const i32 to = recasing_of(how, is_upper(c) ? kUpper : kLower, i == 0, after_cased);
      c = static_cast<char>(to == kToUpper || to == kToTitle ? c & ~0x20 : c | 0x20);
    }
    after_cased = letter;
    at[i] = c;
  }
  return made;
}
/// sides: 1 left, 2 right, 3 both.
static inline Str stripped(const Str& s, const Str* characters, int sides) {
  const auto out = [&](i64 at, i64 n) {
    if (!characters) return blank_at(s, at) == n;
    for (i64 i = 0; i + n <= characters->size; ++i)
      if (__builtin_memcmp(characters->data + i, s.data + at, static_cast<unsigned long>(n)) == 0) return true;
    return false;
  };
  i64 from = 0, to = s.size, points = s.length;
  while ((sides & 1) && from < to) {
    const i64 next = next_point(s.data, from, to);
    if (!out(from, next - from)) break;
    from = next, --points;
  }
  while ((sides & 2) && from < to) {
    const i64 last = previous_point(s.data, to);
    if (!out(last, to - last)) break;
    to = last, --points;
  }
  return part_of(s, from, to, points);
}
static inline Str padded(const Str& s, i64 width, const Str& fill, char align) {
  const i64 missing = width - s.length;
  if (missing <= 0) return s;
  const i64 left = align == '<' ? 0 : align == '>' ? missing : missing / 2 + (missing & width & 1);
  return concatenated(concatenated(repeated(fill, left), s), repeated(fill, missing - left));
}
static inline Str zero_filled(const Str& s, i64 width) {
  if (width <= s.length) return s;
  const bool sign = s.size > 0 && (s.data[0] == '-' || s.data[0] == '+');
  const Str zeros = repeated(literal("0", 1, 1), width - s.length);
  return sign ? concatenated(concatenated(substring(s, 0, 1), zeros), substring(s, 1, s.length)) : concatenated(zeros, s);
}
static inline i64 code_of(const Str& s) {
  if (s.length != 1) raise(kType, "ord() expected a character");
  return point_at(s.data);
}
static inline Str character_of(i64 code) {
  if (code < 0 || code > 0x10ffff) raise(kValue, "chr() arg not in range(0x110000)");
  char b[4];
  const i64 n = put_point(code, b);
  return copy_text(b, n, 1);
}
/// The base of the prefix 0x, 0o or 0b; 0 for other letters.
BC_FN i64 base_of_prefix(char c) {
  c = static_cast<char>(c | 0x20);
  return c == 'x' ? 16 : c == 'o' ? 8 : c == 'b' ? 2 : 0;
}
static inline i64 parse_int(const Str& text, i64 base) {
  if (base != 0 && (base < 2 || base > 36)) raise(kValue, "int() base must be >= 2 and <= 36, or 0");
  const Str s = stripped(text, nullptr, 3);
  i64 i = 0, value = 0, digits = 0;
  const bool minus = s.size > 0 && s.data[0] == '-', any = base == 0;
  if (s.size > 0 && (s.data[0] == '-' || s.data[0] == '+')) ++i;
  const i64 named = i + 1 < s.size && s.data[i] == '0' ? base_of_prefix(s.data[i + 1]) : 0;
  const bool prefix = named != 0 && (any || base == named);
  if (any) base = prefix ? named : 10;
  if (prefix) i += 2;
  const bool zeros_only = any && !prefix && i < s.size && s.data[i] == '0';  // base 0 refuses "012"
  bool may_part = prefix;                                                    // one underscore may follow a digit or the prefix
  for (; i < s.size; ++i) {
    const char c = s.data[i];
    if (c == '_' && may_part && i + 1 < s.size) {
      may_part = false;
      continue;
    }
    const i64 d = is_digit(c) ? c - '0' : (is_lower(c) || is_upper(c)) ? (c | 0x20) - 'a' + 10 : 99;
    if (d >= base || (zeros_only && d != 0)) raise(kValue, "invalid literal for int()");
    // Counted downwards, so that the lowest number can be read.
    if (__builtin_mul_overflow(value, base, &value) || __builtin_sub_overflow(value, d, &value))
      raise(kOverflow, "int() of a text that is too large");
    ++digits;
    may_part = true;
  }
  if (digits == 0) raise(kValue, "invalid literal for int()");
  if (!minus && __builtin_sub_overflow(i64{0}, value, &value)) raise(kOverflow, "int() of a text that is too large");
  return value;
}
BC_FN double parse_float(const Str& text) {
  double value = 0;
  const Str s = stripped(text, nullptr, 3);
  if (!bc_host->parse(s.data, s.size, &value)) raise(kValue, "could not convert string to float");
  return value;
}

// ---- writing ----------------------------------------------------------------------------------------------------------------------

/// A text in the making.
struct Writer {
  Block* block = nullptr;
  i64 size = 0, length = 0, room = 0;
  Writer() = default;
  Writer(const Writer&) = delete;
  ~Writer() { disown(block); }
  char* more(i64 n) {
    if (size + n > room) {
      const i64 wider = (size + n) * 2 < 64 ? 64 : (size + n) * 2;
      Block* b = bc_host->allocate(wider);
      if (block) __builtin_memcpy(static_cast<void*>(b + 1), block + 1, static_cast<unsigned long>(size));
      disown(block);
      block = b;
      room = wider;
    }
    return reinterpret_cast<char*>(block + 1) + size;
  }
  Writer& put(const char* s, i64 n, i64 points) {
    __builtin_memcpy(more(n), s, static_cast<unsigned long>(n));
    size += n, length += points;
    return *this;
  }
  Writer& put(const char* s, i64 n) { return put(s, n, n); }
  Str text() const {
    if (!block) return literal("", 0, 0);
    if (TextMarks::wanted(size, length)) return copy_text(reinterpret_cast<const char*>(block + 1), size, length);
    return Str(block, reinterpret_cast<const char*>(block + 1), size, length);
  }
};

static inline Str recased_points(const Str& s, int how) {
  Writer w;
  bool after_cased = false;
  for (i64 i = 0; i < s.size; i = next_point(s.data, i, s.size)) {
    const i64 point = point_at(s.data + i);
    const u64 classes = classes_of(point);
    const i32 to = recasing_of(how, classes, i == 0, after_cased);
    after_cased = (classes & (kLower | kUpper | kTitle)) != 0;
    u64 made = static_cast<u64>(point);
    if (point == 0x3a3 && to == kToLower)
      made = ends_word(s, i) ? 0x3c2 : 0x3c3;
    else if (to >= 0)
      made = bc_host->unicode(to, static_cast<u32>(point));
    do {
      char b[4];
      w.put(b, put_point(static_cast<i64>(made & 0x1fffff), b), 1);
    } while ((made >>= 21) != 0);
  }
  return w.text();
}

/// A code point that cannot be printed, as \x80, \u200b or \U000e0001.
static inline void write_escaped(Writer& w, i64 point) {
  const i64 digits = point < 0x100 ? 2 : point < 0x10000 ? 4 : 8;
  char code[10] = {'\\', digits == 2 ? 'x' : digits == 4 ? 'u' : 'U'};
  for (i64 i = 0; i < digits; ++i) code[2 + i] = "0123456789abcdef"[point >> 4 * (digits - 1 - i) & 15];
  w.put(code, 2 + digits);
}
/// repr of a str.
static inline void write_quoted(Writer& w, const Str& s) {
  bool single = false, twice = false;
  for (i64 i = 0; i < s.size; ++i) single |= s.data[i] == '\'', twice |= s.data[i] == '"';
  const char quote = single && !twice ? '"' : '\'';
  w.put(&quote, 1);
  for (i64 i = 0; i < s.size; ++i) {
    const char c = s.data[i];
    if (c == quote || c == '\\')
      w.put("\\", 1), w.put(&c, 1);
    else if (c == '\n')
      w.put("\\n", 2);
    else if (c == '\t')
      w.put("\\t", 2);
    else if (c == '\r')
      w.put("\\r", 2);
    else if ((c >= 0 && c < 32) || c == 127) {
      const char code[] = {'\\', 'x', static_cast<char>('0' + c / 16), "0123456789abcdef"[c & 15]};
      w.put(code, 4);
    } else if ((c & 0xc0) == 0xc0 && !(classes_of(point_at(s.data + i)) & kPrintable)) {
      write_escaped(w, point_at(s.data + i));
      i = next_point(s.data, i, s.size) - 1;
    } else
      w.put(&c, 1, (c & 0xc0) != 0x80);
  }
  w.put(&quote, 1);
}
/// format(x, spec), as Python's.
template <class T>
inline Str formatted(T x, const char* spec, i64 size) {
  char text[512];
  i64 n;
  if constexpr (is_int<T> && !is_bool<T>)
    n = bc_host->format_spec(x < 0 ? 3 : 2, static_cast<u64>(x < 0 ? 0 - static_cast<u64>(x) : static_cast<u64>(x)), nullptr, 0, spec, size,
                             text, sizeof text);
  else if constexpr (is_bool<T>)
    n = bc_host->format_spec(2, x ? 1 : 0, nullptr, 0, spec, size, text, sizeof text);
  else
    n = bc_host->format_spec(4, bits_as<u64>(cast<double>(x)), nullptr, 0, spec, size, text, sizeof text);
  return copy_text(text, n, count_points(text, n));
}
static inline Str formatted(const Str& s, const char* spec, i64 size) {
  const i64 room = s.size + 512;
  char* at;
  Str made = new_text(room, 0, at);
  made.size = bc_host->format_spec(5, 0, s.data, s.size, spec, size, at, room);
  made.length = count_points(at, made.size);
  return made;
}

}  // namespace py
}  // namespace bc
#endif
