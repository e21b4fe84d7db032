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

namespace autograd {

/// A bit for each array that the rule of operand `k` of a row reads: 0 to 2 for the operands, and kUsesResult.
inline constexpr uint8_t kUsesResult = 8;
uint8_t uses(Op op, int k);
/// The same for the rule of a reduction: bit 0 for its operand, and kUsesResult.
uint8_t reduction_uses(Op op);

/// The gradient of operand `k` of an elementwise row, in the shape of g; operands that its rule does not read may be empty arrays. An empty
/// array is zero.
Array row_gradient(Op op, int k, const Array& a, const Array& b, const Array& c, const Array& y, const Array& g);
/// The gradient of a reduction's operand of shape `shape`, over `axes`, a bit each.
Array reduction_gradient(Op op, const Dims& shape, uint64_t axes, double ddof, const Array& a, const Array& y, const Array& g);

/// A gradient in the shape and dtype of what it belongs to: what was broadcast is summed, and a real number's is real.
Array fitted(Array d, const Dims& shape, DType dtype);

}  // namespace autograd

}  // namespace bc
