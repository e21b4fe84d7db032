#include "core/dtype.h"

#include <array>

namespace bc {
namespace {

constexpr DTypeInfo kInfo[kDTypeCount] = {
    {"bool", "bool", 'b', 1, "|b1"},
    {"int8", "i8", 'i', 1, "|i1"},
    {"int16", "i16", 'i', 2, "<i2"},
    {"int32", "i32", 'i', 4, "<i4"},
    {"int64", "i64", 'i', 8, "<i8"},
    {"uint8", "u8", 'u', 1, "|u1"},
    {"uint16", "u16", 'u', 2, "<u2"},
    {"uint32", "u32", 'u', 4, "<u4"},
    {"uint64", "u64", 'u', 8, "<u8"},
    {"float16", "half", 'f', 2, "<f2"},
    {"bfloat16", "bfloat16", 'f', 2, "<V2"},
    {"float32", "float", 'f', 4, "<f4"},
    {"float64", "double", 'f', 8, "<f8"},
    {"complex64", "complex<float>", 'c', 8, "<c8"},
    {"complex128", "complex<double>", 'c', 16, "<c16"},
};

// The value range of a type, coarse enough to order them: bits of exact integers (mantissa) and of exponent.
struct Range {
  bool sign, complex, floating;
  int integer_bits, exponent;
};
constexpr Range range(DType t) {
  switch (t) {
    case DType::b1: return {false, false, false, 1, 0};
    case DType::i8: return {true, false, false, 7, 0};
    case DType::i16: return {true, false, false, 15, 0};
    case DType::i32: return {true, false, false, 31, 0};
    case DType::i64: return {true, false, false, 63, 0};
    case DType::u8: return {false, false, false, 8, 0};
    case DType::u16: return {false, false, false, 16, 0};
    case DType::u32: return {false, false, false, 32, 0};
    case DType::u64: return {false, false, false, 64, 0};
    case DType::f16: return {true, false, true, 11, 5};
    case DType::bf16: return {true, false, true, 8, 8};
    case DType::f32: return {true, false, true, 24, 8};
    case DType::f64: return {true, false, true, 53, 11};
    case DType::c64: return {true, true, true, 24, 8};
    case DType::c128: return {true, true, true, 53, 11};
  }
  return {};
}

constexpr bool safe(DType from, DType to) {
  if (from == to) return true;
  if (from == DType::b1) return true;
  const Range f = range(from), t = range(to);
  if (to == DType::b1) return false;
  if (f.complex && !t.complex) return false;
  if (f.floating && !t.floating) return false;
  if (f.floating) return f.integer_bits <= t.integer_bits && f.exponent <= t.exponent;
  if (!t.floating) return (!f.sign || t.sign) && f.integer_bits <= t.integer_bits;
  // NumPy lets 64-bit integers cast safely to float64 and complex128.
  if (t.integer_bits == 53) return true;
  return f.integer_bits <= t.integer_bits;
}

// Smallest first; the first type that both cast to safely is the promoted one.
constexpr DType kOrder[] = {DType::b1,  DType::i8,  DType::u8,   DType::i16, DType::u16, DType::i32, DType::u32, DType::i64,
                            DType::u64, DType::f16, DType::bf16, DType::f32, DType::f64, DType::c64, DType::c128};

constexpr auto promote_table() {
  std::array<std::array<DType, kDTypeCount>, kDTypeCount> table{};
  for (int a = 0; a < kDTypeCount; ++a)
    for (int b = 0; b < kDTypeCount; ++b)
      for (DType t : kOrder)
        if (safe(DType(a), t) && safe(DType(b), t)) {
          table[a][b] = t;
          break;
        }
  return table;
}
constexpr auto kPromote = promote_table();

/// For each type the set of those it casts to safely.
constexpr auto safe_sets() {
  std::array<DTypeSet, kDTypeCount> sets{};
  for (int a = 0; a < kDTypeCount; ++a)
    for (int b = 0; b < kDTypeCount; ++b)
      if (safe(DType(a), DType(b))) sets[a] |= dtype_bit(DType(b));
  return sets;
}
constexpr auto kSafe = safe_sets();

int kind_rank(DType t) { return is_bool(t) ? 0 : is_unsigned(t) ? 1 : is_signed_int(t) ? 2 : is_real_float(t) ? 3 : 4; }

}  // namespace

const DTypeInfo& info(DType t) { return kInfo[static_cast<int>(t)]; }

std::optional<DType> dtype_from_name(std::string_view name) {
  for (int i = 0; i < kDTypeCount; ++i)
    if (name == kInfo[i].name) return DType(i);
  return std::nullopt;
}

DType promote(DType a, DType b) { return kPromote[static_cast<int>(a)][static_cast<int>(b)]; }

bool can_cast(DType from, DType to, Casting casting) {
  switch (casting) {
    case Casting::no:
    case Casting::equiv: return from == to;
    case Casting::safe: return kSafe[static_cast<int>(from)] & dtype_bit(to);
    case Casting::same_kind: return (kSafe[static_cast<int>(from)] & dtype_bit(to)) || kind_rank(from) <= kind_rank(to);
    case Casting::unsafe: return true;
  }
  return false;
}

DType promote(std::span<const DType> types) {
  std::optional<DType> all;
  for (const bool floats : {true, false})
    for (const DType t : types)
      if (is_inexact(t) == floats) all = all ? promote(*all, t) : t;
  return *all;
}

std::string_view to_string(Casting casting) {
  constexpr std::string_view names[] = {"no", "equiv", "safe", "same_kind", "unsafe"};
  return names[static_cast<int>(casting)];
}

DType default_dtype(Weak kind) {
  switch (kind) {
    case Weak::boolean: return DType::b1;
    case Weak::integer: return DType::i64;
    case Weak::real: return DType::f64;
    default: return DType::c128;
  }
}

DType promote_weak(DType t, Weak kind) {
  switch (kind) {
    case Weak::none:
    case Weak::boolean: return t;
    case Weak::integer: return is_bool(t) ? DType::i64 : t;
    case Weak::real: return is_inexact(t) ? t : DType::f64;
    case Weak::complex: return is_complex(t) ? t : (t == DType::f32 || t == DType::f16 || t == DType::bf16) ? DType::c64 : DType::c128;
  }
  return t;
}

}  // namespace bc
