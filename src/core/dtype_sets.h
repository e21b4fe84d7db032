#pragma once
#include <cstdint>

/// The names that the row files use for sets of dtypes, one bit each, and the dtypes' numbers. Includes nothing of the engine, so that the
/// loops that the host compiler builds from the rows see it beside the device library.
namespace bc::dtype_sets {

enum Number : int {
#define BC_DTYPE(id, ...) number_##id,
#include "core/dtypes.def"
#undef BC_DTYPE
  kTypes
};

constexpr uint32_t bit(Number n) { return uint32_t{1} << n; }

constexpr uint32_t BOOLS = bit(number_b1);
constexpr uint32_t I8 = bit(number_i8), I16 = bit(number_i16), I32 = bit(number_i32), I64 = bit(number_i64);
constexpr uint32_t U8 = bit(number_u8), U16 = bit(number_u16), U32 = bit(number_u32), U64 = bit(number_u64);
constexpr uint32_t F16 = bit(number_f16), BF16 = bit(number_bf16), F32 = bit(number_f32), F64 = bit(number_f64);
constexpr uint32_t C64 = bit(number_c64), C128 = bit(number_c128);
constexpr uint32_t INTS = I8 | I16 | I32 | I64 | U8 | U16 | U32 | U64;
constexpr uint32_t INTS_BOOL = INTS | BOOLS;
constexpr uint32_t REALS = F16 | BF16 | F32 | F64;
constexpr uint32_t COMPLEX = C64 | C128;
constexpr uint32_t FLOATS = REALS | COMPLEX;
constexpr uint32_t REAL_NUMBERS = INTS | REALS;
constexpr uint32_t NUMBERS = INTS | FLOATS;
constexpr uint32_t ALL = BOOLS | NUMBERS;
constexpr uint32_t REAL_ALL = BOOLS | REAL_NUMBERS;

/// Signatures other than "all operands alike" stand in a set's place, above the dtypes' bits.
constexpr int kSignatureShift = 24;
static_assert(kTypes <= kSignatureShift);

}  // namespace bc::dtype_sets
