// The loops of the elementwise rows as templates. Includes the device library and no header of the engine.
#pragma once
#include <utility>

#include "codegen/tier0/dtype_numbers.h"
#include "codegen/tier0/tables.h"
#include "core/dtype_sets.h"
#include "device/device.h"

namespace bc::tier0 {
namespace {

// ---- the row files' sets of dtypes
using namespace dtype_sets;
enum Shape : u32 { kSame = 0, kLdexp = 1u << kSignatureShift, kWhere = 2u << kSignatureShift, kRandom = 3u << kSignatureShift };
[[maybe_unused]] constexpr u32 DIVIDE = FLOATS, DIVIDE_REAL = REALS, LDEXP = REALS | kLdexp, WHERE = ALL | kWhere,
                               RANDOM = REALS | U32 | U64 | I64 | kRandom;
constexpr u32 kTypeBits = ALL;
enum class Result { SAME, BOOL, REAL, I32, U8, INDEX };

template <Result result, class T>
struct result_t {
  using type = T;
};
template <class T>
struct result_t<Result::BOOL, T> {
  using type = bool;
};
template <class T>
struct result_t<Result::REAL, T> {
  using type = real_of<T>;
};
template <class T>
struct result_t<Result::I32, T> {
  using type = i32;
};
template <class T>
struct result_t<Result::U8, T> {
  using type = u8;
};
template <class T>
struct result_t<Result::INDEX, T> {
  using type = i64;
};

// ---- a row's text as code
/// A hash of a text, used as a template argument.
constexpr u64 key(const char* text) {
  u64 h = 0xcbf29ce484222325ull;
  if (text)
    for (; *text; ++text) h = (h ^ static_cast<unsigned char>(*text)) * 0x100000001b3ull;
  return text ? h : 0;
}

// Most texts are a call of the device function with the row's name; the other texts are listed here and selected by their hash.
template <u64 text, class T>
struct Text {
  static_assert(text == 0 && sizeof(T) == 0, "a row's text is neither NAME(a), NAME(a, b), NAME(a, b, c) nor among tier 0's own texts");
};
#define BC_TEXT(...)                  \
  template <class T>                  \
  struct Text<key(#__VA_ARGS__), T> { \
    template <class A>                \
    BC_INLINE static auto run(A a) {  \
      return __VA_ARGS__;             \
    }                                 \
  };
#define BC_TEXT2(...)                     \
  template <class T>                      \
  struct Text<key(#__VA_ARGS__), T> {     \
    template <class A, class B>           \
    BC_INLINE static auto run(A a, B b) { \
      return __VA_ARGS__;                 \
    }                                     \
  };
#define BC_TEXT3(...)                          \
  template <class T>                           \
  struct Text<key(#__VA_ARGS__), T> {          \
    template <class A, class B, class C>       \
    BC_INLINE static auto run(A a, B b, C c) { \
      return __VA_ARGS__;                      \
    }                                          \
  };
BC_TEXT(a)
BC_TEXT2(power(a, b))
BC_TEXT2(random_bits<T>(a, b))
BC_TEXT2(uniform<T>(a, b))
BC_TEXT2(standard_normal<T>(a, b))
BC_TEXT3(cast<T>(random_below(a, b, cast<u64>(c))))
#undef BC_TEXT
#undef BC_TEXT2
#undef BC_TEXT3

template <Row row>
struct Code;
#define BC_CODE(name, arity, set, result)           \
  static constexpr int kArity = arity;              \
  static constexpr u32 kSet = (set) & kTypeBits;    \
  static constexpr u32 kShape = (set) & ~kTypeBits; \
  static constexpr Result kResult = Result::result;
#define BC_UNARY(name, set, result, text, ...)     \
  template <>                                      \
  struct Code<Row::name> {                         \
    BC_CODE(name, 1, set, result)                  \
    template <class T, class A>                    \
    BC_INLINE static auto run(A a) {               \
      if constexpr (key(text) == key(#name "(a)")) \
        return name(a);                            \
      else                                         \
        return Text<key(text), T>::run(a);         \
    }                                              \
  };
#define BC_BINARY(name, set, result, text, ...)       \
  template <>                                         \
  struct Code<Row::name> {                            \
    BC_CODE(name, 2, set, result)                     \
    template <class T, class A, class B>              \
    BC_INLINE static auto run(A a, B b) {             \
      if constexpr (key(text) == key(#name "(a, b)")) \
        return name(a, b);                            \
      else                                            \
        return Text<key(text), T>::run(a, b);         \
    }                                                 \
  };
#define BC_TERNARY(name, set, result, text, ...)         \
  template <>                                            \
  struct Code<Row::name> {                               \
    BC_CODE(name, 3, set, result)                        \
    template <class T, class A, class B, class C>        \
    BC_INLINE static auto run(A a, B b, C c) {           \
      if constexpr (key(text) == key(#name "(a, b, c)")) \
        return name(a, b, c);                            \
      else                                               \
        return Text<key(text), T>::run(a, b, c);         \
    }                                                    \
  };
#define BC_SPECIAL(name, set, arity, parameters, arguments) \
  template <>                                               \
  struct Code<Row::name> {                                  \
    BC_CODE(name, arity, set, SAME)                         \
    template <class T, class A>                             \
    BC_INLINE static T run parameters {                     \
      return special_rows::name arguments;                  \
    }                                                       \
  };
#define BC_SPECIAL_OF1(name, set, ...) BC_SPECIAL(name, set, 1, (A a), (a))
#define BC_SPECIAL_OF2(name, set, ...) BC_SPECIAL(name, set, 2, (A a, A b), (a, b))
#define BC_SPECIAL_OF3(name, set, ...) BC_SPECIAL(name, set, 3, (A a, A b, A c), (a, b, c))
#define BC_FAST(...)
#include "primitives/elementwise.def"
#undef BC_SPECIAL
#undef BC_CODE

/// The branch-free form of a row, if it has one.
template <Row row>
struct Fast {
  static constexpr u32 kSet = 0;
};
#define BC_UNARY(...)
#define BC_BINARY(...)
#define BC_TERNARY(...)
#define BC_FAST(name, set, text)                                                                             \
  template <>                                                                                                \
  struct Fast<Row::name> {                                                                                   \
    static_assert(key(text) == key(#name "_fast(a, flag)") || key(text) == key(#name "_fast(a, b, flag)") || \
                      key(text) == key("special_rows::" #name "_fast(a, flag)") ||                           \
                      key(text) == key("special_rows::" #name "_fast(a, b, flag)") ||                        \
                      key(text) == key("special_rows::" #name "_fast(a, b, c, flag)"),                       \
                  "fast form");                                                                              \
    static constexpr u32 kSet = set;                                                                         \
    template <class A>                                                                                       \
    BC_INLINE static auto run(u32& flag, A a) {                                                              \
      using namespace special_rows;                                                                          \
      return name##_fast(a, flag);                                                                           \
    }                                                                                                        \
    template <class A, class B>                                                                              \
    BC_INLINE static auto run(u32& flag, A a, B b) {                                                         \
      using namespace special_rows;                                                                          \
      return name##_fast(a, b, flag);                                                                        \
    }                                                                                                        \
    template <class A, class B, class C>                                                                     \
    BC_INLINE static auto run(u32& flag, A a, B b, C c) {                                                    \
      using namespace special_rows;                                                                          \
      return name##_fast(a, b, c, flag);                                                                     \
    }                                                                                                        \
  };
#include "primitives/elementwise.def"

// ---- loops
/// The type of operand k of a row that runs in T.
template <u32 shape, int k, class T>
using operand_of = conditional < shape == kLdexp &&k == 1,
      i32, conditional<shape == kWhere && k == 0, bool, conditional<shape == kRandom && k<2, u64, T>>>;

template <Row row, int D>
void exact_loop(const void* a_, const void* b_, const void* c_, void* out_, int64_t n) {
  using R = Code<row>;
  using T = type_of<D>;
  using Out = typename result_t<R::kResult, T>::type;
  const auto* a = static_cast<const operand_of<R::kShape, 0, T>*>(a_);
  [[maybe_unused]] const auto* b = static_cast<const operand_of<R::kShape, 1, T>*>(b_);
  [[maybe_unused]] const auto* c = static_cast<const operand_of<R::kShape, 2, T>*>(c_);
  Out* out = static_cast<Out*>(out_);
  if constexpr (R::kShape == kWhere) {
    // The condition as a byte: compilers do not vectorize a select by a bool in memory.
    const u8* condition = static_cast<const u8*>(a_);
    BC_VECTORIZE
    for (int64_t i = 0; i < n; ++i) {
      const T yes = b[i], no = c[i];
      out[i] = condition[i] != 0 ? yes : no;
    }
    return;
  }
  BC_VECTORIZE
  for (int64_t i = 0; i < n; ++i) {
    if constexpr (R::kArity == 1) {
      const Out v = R::template run<T>(a[i]);
      out[i] = v;
    } else if constexpr (R::kArity == 2) {
      const Out v = R::template run<T>(a[i], b[i]);
      out[i] = v;
    } else {
      const Out v = R::template run<T>(a[i], b[i], c[i]);
      out[i] = v;
    }
  }
}

/// Quotients (floor) or remainders of a block by a single positive divisor, the most common case, by multiplications and shifts (Granlund &
/// Montgomery, 1994). With N bits beside the sign and 2^(l-1) < d <= 2^l, u * (floor(2^(N+l) / d) + 1) >> (N + l) is u / d for all u < 2^N;
/// for negative u the quotient is ~(~u / d). Returns false, without doing anything, if the divisors differ.
template <bool remainders, class T>
bool divide_by_one(const T* a, const T* b, T* out, int64_t n) {
  if constexpr (sizeof(T) >= 4 && !is_signed_int<T>) {
    return false;  // these types have one bit too many
  } else {
    using Wide = conditional<sizeof(T) == 8, unsigned __int128, u64>;
    using U = conditional<sizeof(T) == 8, u64, u32>;
    using I = conditional<sizeof(T) == 8, i64, i32>;
    constexpr int kBits = sizeof(U) * 8 - 1;
    const T divisor = b[0];
    if (divisor <= 0) return false;
    T different = 0;
    for (int64_t i = 0; i < n; ++i) different |= static_cast<T>(b[i] ^ divisor);
    if (different != 0) return false;
    const U d = static_cast<U>(divisor);
    const int shift = kBits + (d == 1 ? 0 : 64 - __builtin_clzll(d - 1));
    const U factor = static_cast<U>((Wide(1) << shift) / d + 1);
    BC_VECTORIZE
    for (int64_t i = 0; i < n; ++i) {
      const I x = a[i], sign = x >> kBits;
      const I q = static_cast<I>(static_cast<U>((static_cast<Wide>(static_cast<U>(x ^ sign)) * factor) >> shift)) ^ sign;
      out[i] = remainders ? static_cast<T>(static_cast<U>(x) - static_cast<U>(q) * d) : static_cast<T>(q);
    }
    return true;
  }
}

/// The fast form; if an argument is outside its range, the block is computed again exactly.
template <Row row, int D>
void fast_loop(const void* a_, const void* b_, const void* c_, void* out_, int64_t n) {
  using T = type_of<D>;
  const T* a = static_cast<const T*>(a_);
  [[maybe_unused]] const T* b = static_cast<const T*>(b_);
  [[maybe_unused]] const T* c = static_cast<const T*>(c_);
  T* out = static_cast<T*>(out_);
  if constexpr (is_int<T> && (row == Row::floor_divide || row == Row::remainder)) {
    if (n > 0 && divide_by_one < row == Row::remainder > (a, b, out, n)) return;
  }
  u32 flag = 0;
  BC_VECTORIZE
  for (int64_t i = 0; i < n; ++i) {
    u32 here = 0;
    if constexpr (Code<row>::kArity == 1)
      out[i] = Fast<row>::run(here, a[i]);
    else if constexpr (Code<row>::kArity == 2)
      out[i] = Fast<row>::run(here, a[i], b[i]);
    else
      out[i] = Fast<row>::run(here, a[i], b[i], c[i]);
    flag |= here;
  }
  if (flag) exact_loop<row, D>(a_, b_, c_, out_, n);
}

/// Rows whose fast form is tens of kilobytes of code here, since it holds other rows' forms several times. The exact form gives the same
/// bits.
constexpr bool is_long_fast(Row row) { return row == Row::beta || row == Row::betaln || row == Row::poch || row == Row::binom; }

template <Row row, u32 types, int D>
void put(LoopRow* rows) {
  if constexpr ((Code<row>::kSet & types) >> D & 1) {
    Loop& to = rows[static_cast<int>(row)][D];
    if constexpr ((Fast<row>::kSet >> D & 1) && !is_long_fast(row))
      to = fast_loop<row, D>;
    else
      to = exact_loop<row, D>;
  }
}
template <Row row, u32 types, int... D>
void put_row(LoopRow* rows, std::integer_sequence<int, D...>) {
  (put<row, types, D>(rows), ...);
}
template <Row first, u32 types, int... K>
void put_rows(LoopRow* rows, std::integer_sequence<int, K...>) {
  (put_row<static_cast<Row>(static_cast<int>(first) + K), types>(rows, std::make_integer_sequence<int, kTypes>()), ...);
}
/// Builds rows first … last for the dtypes in `types`.
template <Row first, Row last, u32 types = kTypeBits>
void fill(LoopRow* rows) {
  put_rows<first, types>(rows, std::make_integer_sequence<int, static_cast<int>(last) - static_cast<int>(first) + 1>());
}

}  // namespace
}  // namespace bc::tier0
