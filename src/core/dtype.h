#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace bc {

/// Element types, in the order in which a promoted type looks for its loop.
enum class DType : uint8_t { b1, i8, i16, i32, i64, u8, u16, u32, u64, f16, bf16, f32, f64, c64, c128 };
inline constexpr int kDTypeCount = 15;

/// A set of dtypes, one bit each.
using DTypeSet = uint32_t;
constexpr DTypeSet dtype_bit(DType t) { return DTypeSet{1} << static_cast<int>(t); }

enum class Casting : uint8_t { no, equiv, safe, same_kind, unsafe };

/// NumPy's names and numbers of a dtype.
struct DTypeInfo {
  const char* name;     ///< "float32"
  const char* c_name;   ///< its type in the device library: "float"
  char kind;            ///< NumPy's kind: b i u f c (bfloat16 is 'f' here)
  uint8_t itemsize;     ///< bytes
  const char* typestr;  ///< the array interface's string: "<f4"
};
const DTypeInfo& info(DType t);

inline int itemsize(DType t) {
  constexpr uint8_t sizes[kDTypeCount] = {1, 1, 2, 4, 8, 1, 2, 4, 8, 2, 2, 4, 8, 8, 16};
  return sizes[static_cast<int>(t)];
}
constexpr bool is_bool(DType t) { return t == DType::b1; }
constexpr bool is_signed_int(DType t) { return t >= DType::i8 && t <= DType::i64; }
constexpr bool is_unsigned(DType t) { return t >= DType::u8 && t <= DType::u64; }
constexpr bool is_integer(DType t) { return t >= DType::i8 && t <= DType::u64; }
constexpr bool is_real_float(DType t) { return t >= DType::f16 && t <= DType::f64; }
constexpr bool is_complex(DType t) { return t >= DType::c64; }
constexpr bool is_inexact(DType t) { return t >= DType::f16; }

/// The real type of a complex one; other types are their own.
constexpr DType real_type(DType t) { return t == DType::c64 ? DType::f32 : t == DType::c128 ? DType::f64 : t; }
constexpr DType complex_type(DType t) { return (t == DType::f64 || t == DType::c128) ? DType::c128 : DType::c64; }

std::optional<DType> dtype_from_name(std::string_view name);

/// NumPy's `promote_types`: the smallest type that both cast to safely. bfloat16 follows float16's rules; the two meet in float32.
DType promote(DType a, DType b);
/// What several types have in common: floats are promoted first, so that int16, uint16 and float32 give float32, as in NumPy.
DType promote(std::span<const DType> types);

/// NumPy's `can_cast` between two dtypes.
bool can_cast(DType from, DType to, Casting casting);
std::string_view to_string(Casting casting);

/// A Python scalar's kind in promotion (NEP 50): it takes the array's type when that holds its kind, else the kind's default.
enum class Weak : uint8_t { none, boolean, integer, real, complex };

/// The type of `t` met by a weak Python scalar: int8 with 2 → int8, int8 with 2.0 → float64 (the default), float32 with 1j → complex64.
DType promote_weak(DType t, Weak kind);
/// The dtype of a Python scalar alone: bool, int64, float64, complex128.
DType default_dtype(Weak kind);

}  // namespace bc
