#pragma once
#include <span>
#include <vector>

#include "array/array.h"

namespace bc {

/// The gradients that an elementwise row hands to its inputs, from the derivative column of primitives/elementwise.def.
///
/// `y` is the row's result for `inputs`, `g` the gradient of y, in y's shape. A gradient has its input's shape (what was broadcast is
/// summed) and dtype; it is an empty Array where there is none: for inputs of integers and bools, and where the row says ZERO. For a loss
/// L, the gradient of a complex z is dL/dRe(z) + i dL/dIm(z): g * conj(f'(z)) where f is analytic.
std::vector<Array> derivative(Op op, std::span<const Array> inputs, const Array& y, const Array& g);

/// The same for a reduction row over `options` (axes, keepdims, ddof; no dtype, initial, where or out), in `a`'s shape and dtype.
Array reduce_derivative(Op op, const Array& a, const ReduceOptions& options, const Array& y, const Array& g);

}  // namespace bc
