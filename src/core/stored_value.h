#pragma once
#include "core/scalar.h"

/// Conversion of Python numbers to elements of a dtype by NumPy 2's rules.
namespace bc {

/// Tells whether a Python integer fits the type. An integer beyond uint64 is passed as a float and fits no integer type.
inline bool integer_fits(const Scalar& value, DType to) { return value.dtype == DType::f64 ? !is_integer(to) : value.fits(to); }

/// Throws OverflowError: a Python integer is out of the type's bounds.
[[noreturn]] void raise_out_of_bounds(const Scalar& value, DType to);

/// The value that NumPy stores in an element of `to` for a Python number of kind `kind`. Throws OverflowError for an integer, or a float
/// without its fraction, that the integer type cannot hold; ValueError for NaN to an integer type; TypeError for a complex number to a real
/// type.
Scalar stored_value(Weak kind, const Scalar& value, DType to);

}  // namespace bc
