#pragma once
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "ops/composite.h"

/// Sorting, searching and sets. Semantics, dtypes, shapes and errors are NumPy 2's; all sorts are stable.
namespace bc {

/// axis nullopt: the flattened array. NaN and NaT come last in both orders; equal elements keep theirs. Only zeros of unlike sign are told
/// apart in what is sorted: they keep their order if `stable`, else -0.0 comes first.
Array sort(const Array& a, Axis axis = -1, bool descending = false, bool stable = false);
Array argsort(const Array& a, Axis axis = -1, bool descending = false);
/// The places that sort by the last key first, then by the one before it, …; `keys` have one shape.
Array lexsort(Arrays keys, Axis axis = -1);
/// A partition: the elements of the ranks in `kth` (any order, may be negative) are where a sort would put them.
Array partition(const Array& a, std::span<const int64_t> kth, Axis axis = -1);
Array argpartition(const Array& a, std::span<const int64_t> kth, Axis axis = -1);
/// The elements that a sort along `axis` would put at `ranks` (ascending, distinct, in [0, n)); the axis then holds those.
Array order_statistics(const Array& a, std::vector<int64_t> ranks, int64_t axis);
/// How the elements of a vector go: 1 if none is less than the one before it, else -1 if none is greater, else 0. Reads the vector.
int64_t direction(const Array& a);
/// How many elements of `a` (1-d, sorted) are less than each value; `side` "right": not greater. `sorter` sorts `a`.
Array searchsorted(const Array& a, const Array& values, std::string_view side = "left", const std::optional<Array>& sorter = {});

/// What np.unique tells of a flattened array. Looks (the number of values is needed).
struct Unique {
  Array values;   ///< sorted
  Array indices;  ///< of each value's first place
  Array inverse;  ///< shaped as the array: values[inverse] is the array
  Array counts;
};
Unique unique(const Array& a, bool indices, bool inverse, bool counts, bool equal_nan = true);
/// The same for the slices of an array along its first axis, compared element by element; NaNs differ. `inverse` is 1-d.
Unique unique_rows(const Array& a, bool indices, bool inverse, bool counts);

}  // namespace bc
