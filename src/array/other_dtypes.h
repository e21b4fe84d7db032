#pragma once
#include "array/array.h"

/// Ops on dtypes in which no row has a loop (!is_plain): times, whose ops are ops on int64 with NumPy's rules for units and NaT, and 8-bit
/// floats, which compute in float32. ufunc(), reduce() and astype() come here when they meet one.
namespace bc {

Array ufunc_of_others(Op op, std::span<const Term> args, const UfuncOptions& options);
Array reduce_of_others(Op op, const Array& a, const ReduceOptions& options);

// ---- Times (times.cpp) ----
Array ufunc_of_times(Op op, std::span<const Term> args, const UfuncOptions& options);
Array reduce_of_times(Op op, const Array& a, const ReduceOptions& options);
/// Raises where `asked`, the dtype of a reduction or scan in which times are, is none that NumPy takes.
void check_fold_of_times(Op op, DType operand, std::optional<DType> asked);
/// Casts from and to times, and between units.
Array cast_time(const Array& a, DType dtype);
/// Where times are NaT.
Array is_nat(const Array& a);
/// The same elements as int64, and as times again.
Array time_ticks(const Array& a);
Array as_time(const Array& ticks, DType dtype);

/// Numbers with a loop that sort as the elements do (NaT and NaN last), and the elements again.
Array sort_keys(const Array& a);
Array from_sort_keys(const Array& keys, DType dtype);

}  // namespace bc
