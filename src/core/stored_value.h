#pragma once
#include "core/scalar.h"

/// Python numbers as elements of a dtype, by NumPy 2's rules.
namespace bc {

/// Tells whether a Python integer, which past uint64 comes as a float, fits the type.
inline bool integer_fits(const Scalar& value, DType to) { return value.dtype == DType::f64 ? !is_integer(to) : value.fits(to); }

/// OverflowError: a Python integer is out of the type's bounds.
[[noreturn]] void raise_out_of_bounds(const Scalar& value, DType to);

/// What NumPy stores for a Python number of a kind in an element of `to`. Throws OverflowError for an integer (also one that a float is cut
/// to) that an integer type does not hold, ValueError for NaN as an integer, and TypeError for a complex number as a real one.
Scalar stored_value(Weak kind, const Scalar& value, DType to);

}  // namespace bc
