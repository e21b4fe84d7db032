#pragma once
#include <span>
#include <vector>

#include "array/array.h"

/// Functions of indexing.cpp that other ops use.
namespace bc {

/// target[…] = value (op Op::leaf, the last one wins) or op(target, value) for every element of an index space of `shape`: its axis d steps
/// along the target's axis axis[d] (-1: none), indices[k] (int64, broadcastable) addresses the target's axis index_axis[k]. `value` is
/// broadcastable; it has the target's dtype, or the dtype that `op` runs in (the target's elements are then cast to it and back each time).
void scatter(Op op, const Array& target, const Dims& shape, const Dims& axis, std::vector<Array> indices, const Dims& index_axis,
             const Array& value);

/// The number of `places` (int64) equal to 0, 1, … bins - 1, or the sums of their weights, in dtype `t`. All places must be in [0, bins):
/// they are not checked.
Array count_places(const Array& places, int64_t bins, const Arg& weight, DType t);

/// scatter through a NumPy indexing expression, as ufunc.at uses it; `op` runs in `loop`.
void scatter_items(Op op, const Array& a, std::span<const IndexItem> items, const Arg& value, DType loop);

}  // namespace bc
