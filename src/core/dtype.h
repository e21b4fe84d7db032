#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace bc {

/// Element types. The rows of dtypes.def have the first numbers; NumPy's datetime64 and timedelta64 follow, with one number for each unit
/// (core/time_unit.h). Only arrays have time dtypes: memory and kernels hold int64 (storage_type).
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
/// How many different units datetime64 may have in one process, and timedelta64 too.
inline constexpr int kTimeUnits = 64;

constexpr bool is_datetime(DType t) { return t >= DType::first_datetime && t < DType::first_timedelta; }
constexpr bool is_timedelta(DType t) { return t >= DType::first_timedelta; }
constexpr bool is_time(DType t) { return t >= DType::first_datetime; }
constexpr bool is_float8(DType t) { return t == DType::f8e4m3 || t == DType::f8e5m2; }
/// Tells whether rows may have loops in the dtype. Ops on any other dtype cast to a plain dtype and back (array/other_dtypes.h).
constexpr bool is_plain(DType t) { return t <= DType::c128; }
/// The dtype of the elements in memory and in kernels.
constexpr DType storage_type(DType t) { return is_time(t) ? DType::i64 : t; }

/// A set of dtypes, one bit each; no set holds time dtypes.
using DTypeSet = uint32_t;
constexpr DTypeSet dtype_bit(DType t) { return is_time(t) ? 0 : DTypeSet{1} << static_cast<int>(t); }

enum class Casting : uint8_t { no, equiv, safe, same_kind, unsafe };

/// NumPy's names and numbers of a dtype.
struct DTypeInfo {
  const char* name;     ///< "float32"
  const char* c_name;   ///< the name of its type in the device library: "float"
  char kind;            ///< NumPy's kind: b i u f c M m (bfloat16 is 'f' here)
  char code;            ///< the character in ufunc.types
  uint8_t itemsize;     ///< bytes
  const char* typestr;  ///< the array interface's string: "<f4"
  const char* format;   ///< the buffer protocol's format, nullptr where it has none
  bool in_numpy;        ///< false: NumPy has it only with the package ml_dtypes
};
const DTypeInfo& info(DType t);

// A table at namespace scope: a local one would be copied to the stack in each call.
inline constexpr auto kItemsizes = [] {
  std::array<uint8_t, 256> made{};
  made.fill(8);  // times
  int i = 0;
#define BC_DTYPE(id, name, type, kind, code, bytes, ...) made[i++] = bytes;
#include "core/dtypes.def"
#undef BC_DTYPE
  return made;
}();
inline int itemsize(DType t) { return kItemsizes[static_cast<uint8_t>(t)]; }
constexpr bool is_bool(DType t) { return t == DType::b1; }
constexpr bool is_signed_int(DType t) { return t >= DType::i8 && t <= DType::i64; }
constexpr bool is_unsigned(DType t) { return t >= DType::u8 && t <= DType::u64; }
constexpr bool is_integer(DType t) { return t >= DType::i8 && t <= DType::u64; }
constexpr bool is_real_float(DType t) { return (t >= DType::f16 && t <= DType::f64) || is_float8(t); }
/// float16, bfloat16 and the 8-bit types: stored in fewer bits than arithmetic on them uses.
constexpr bool is_small_float(DType t) { return t == DType::f16 || t == DType::bf16 || is_float8(t); }
constexpr bool is_complex(DType t) { return t == DType::c64 || t == DType::c128; }
constexpr bool is_inexact(DType t) { return t >= DType::f16 && !is_time(t); }

/// The real type of a complex type; other types are returned unchanged.
constexpr DType real_type(DType t) { return t == DType::c64 ? DType::f32 : t == DType::c128 ? DType::f64 : t; }
constexpr DType complex_type(DType t) { return (t == DType::f64 || t == DType::c128) ? DType::c128 : DType::c64; }

std::optional<DType> dtype_from_name(std::string_view name);

/// The dtypes of dtypes.def by rank.
extern const std::array<DType, kDTypeCount> kDTypesByRank;

/// NumPy's `promote_types`: the smallest type that both cast to safely. bfloat16 follows float16's rules; the two promote to float32, and
/// so do two different 8-bit floats, or an 8-bit and a 16-bit float. Throws TypeError for a time and a type that have no common type.
DType promote(DType a, DType b);
/// The promoted type of several types. Floats are promoted first, so that int16, uint16 and float32 give float32, as in NumPy.
DType promote(std::span<const DType> types);

/// NumPy's `can_cast` between two dtypes.
bool can_cast(DType from, DType to, Casting casting);
std::string_view to_string(Casting casting);

/// The kind of a Python scalar in promotion (NEP 50): the scalar takes the array's dtype where that dtype can hold the kind, else the
/// kind's default dtype.
enum class Weak : uint8_t { none, boolean, integer, real, complex };

/// The promoted type of an array of dtype `t` and a Python scalar: int8 with 2 → int8, int8 with 2.0 → float64 (the default), float32 with
/// 1j → complex64.
DType promote_weak(DType t, Weak kind);
/// The dtype of a Python scalar alone: bool, int64, float64, complex128.
DType default_dtype(Weak kind);

}  // namespace bc
