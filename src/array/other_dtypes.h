#pragma once
#include "array/array.h"

/// Ops on dtypes for which no row has a loop (!is_plain): times are computed as int64 with NumPy's rules for units and NaT, 8-bit floats in
/// float32. ufunc(), reduce() and astype() call these functions for such dtypes.
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
/// A mask of the elements that are NaT.
Array is_nat(const Array& a);
/// Views of times as int64, and of int64 as times.
Array time_ticks(const Array& a);
Array as_time(const Array& ticks, DType dtype);

/// Numbers of a plain dtype that sort like the elements (NaT and NaN last), and the conversion back.
Array sort_keys(const Array& a);
Array from_sort_keys(const Array& keys, DType dtype);

}  // namespace bc
