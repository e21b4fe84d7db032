#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace bc {

/// Element types. Those of dtypes.def have the first numbers; NumPy's datetime64 and timedelta64 follow, a number for each unit
/// (core/time_unit.h). Times are dtypes of arrays alone: in memory and in kernels they are int64.
enum class DType : uint8_t {
#define BC_DTYPE(id, ...) id,
#include "core/dtypes.def"
#undef BC_DTYPE
  first_datetime = 64,
  first_timedelta = 128,
};
#define BC_DTYPE(...) +1
inline constexpr int kDTypeCount =
#include "core/dtypes.def"
    ;
#undef BC_DTYPE
/// How many units times may have in one process: numbers of datetime64, and of timedelta64.
inline constexpr int kTimeUnits = 64;

constexpr bool is_datetime(DType t) { return t >= DType::first_datetime && t < DType::first_timedelta; }
constexpr bool is_timedelta(DType t) { return t >= DType::first_timedelta; }
constexpr bool is_time(DType t) { return t >= DType::first_datetime; }
constexpr bool is_float8(DType t) { return t == DType::f8e4m3 || t == DType::f8e5m2; }
/// Tells whether rows may have loops in the dtype. Ops on others are ops on plain ones around casts (array/by_rules.h).
constexpr bool is_plain(DType t) { return t <= DType::c128; }
/// What elements are in memory and in kernels.
constexpr DType storage_type(DType t) { return is_time(t) ? DType::i64 : t; }

/// A set of dtypes, one bit each; times are in none.
using DTypeSet = uint32_t;
constexpr DTypeSet dtype_bit(DType t) { return is_time(t) ? 0 : DTypeSet{1} << static_cast<int>(t); }

enum class Casting : uint8_t { no, equiv, safe, same_kind, unsafe };

/// NumPy's names and numbers of a dtype.
struct DTypeInfo {
  const char* name;     ///< "float32"
  const char* c_name;   ///< its type in the device library: "float"
  char kind;            ///< NumPy's kind: b i u f c M m (bfloat16 is 'f' here)
  char code;            ///< in NumPy's strings of loops
  uint8_t itemsize;     ///< bytes
  const char* typestr;  ///< the array interface's string: "<f4"
  const char* format;   ///< the buffer protocol's, nullptr where it has none
  bool in_numpy;        ///< false: NumPy knows it only with the package ml_dtypes
};
const DTypeInfo& info(DType t);

inline int itemsize(DType t) {
  constexpr auto sizes = [] {
    std::array<uint8_t, 256> made{};
    made.fill(8);  // times
    int i = 0;
#define BC_DTYPE(id, name, type, kind, code, bytes, ...) made[i++] = bytes;
#include "core/dtypes.def"
#undef BC_DTYPE
    return made;
  }();
  return sizes[static_cast<uint8_t>(t)];
}
constexpr bool is_bool(DType t) { return t == DType::b1; }
constexpr bool is_signed_int(DType t) { return t >= DType::i8 && t <= DType::i64; }
constexpr bool is_unsigned(DType t) { return t >= DType::u8 && t <= DType::u64; }
constexpr bool is_integer(DType t) { return t >= DType::i8 && t <= DType::u64; }
constexpr bool is_real_float(DType t) { return (t >= DType::f16 && t <= DType::f64) || is_float8(t); }
/// float16, bfloat16 and the 8-bit types: kept in fewer bits than they compute in.
constexpr bool is_small_float(DType t) { return t == DType::f16 || t == DType::bf16 || is_float8(t); }
constexpr bool is_complex(DType t) { return t == DType::c64 || t == DType::c128; }
constexpr bool is_inexact(DType t) { return t >= DType::f16 && !is_time(t); }

/// The real type of a complex one; other types are their own.
constexpr DType real_type(DType t) { return t == DType::c64 ? DType::f32 : t == DType::c128 ? DType::f64 : t; }
constexpr DType complex_type(DType t) { return (t == DType::f64 || t == DType::c128) ? DType::c128 : DType::c64; }

std::optional<DType> dtype_from_name(std::string_view name);

/// The dtypes of dtypes.def by rank.
extern const std::array<DType, kDTypeCount> kDTypesByRank;

/// NumPy's `promote_types`: the smallest type that both cast to safely. bfloat16 follows float16's rules; the two meet in float32, and so
/// do 8-bit floats with each other and with those. Throws TypeError where a time meets a type that it has none in common with.
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
