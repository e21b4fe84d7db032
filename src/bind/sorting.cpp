// Sorting, searching and sets under NumPy's parameter names.
#include "bind/sorting.h"

#include "bind/args.h"
#include "ops/sorting.h"

namespace bc::bind {
namespace {

/// (values, indices or None, inverse or None, counts or None)
PyRef unique_tuple(const Unique& u) {
  const auto part = [](const Array& a) { return PyRef::steal(a ? wrap(a) : new_ref(Py_None)); };
  return tuple_of({part(u.values).get(), part(u.indices).get(), part(u.inverse).get(), part(u.counts).get()});
}

}  // namespace

std::vector<PyMethodDef> sorting_functions() {
  return {
      BC_FUNCTION("sort(a, axis=-1, descending=False, stable=False)",
                  [](const Array& a, const Axis& axis, bool descending, bool stable) { return sort(a, axis, descending, stable); }),
      BC_FUNCTION("argsort(a, axis=-1, descending=False)",
                  [](const Array& a, const NumberAxis& axis, bool descending) { return argsort(a, axis, descending); }),
      BC_VALUE("lexsort(keys, axis=-1)", [](const std::vector<Array>& keys, const Axis& axis) { return lexsort(keys, axis); }),
      BC_FUNCTION("partition(a, kth, axis=-1)", [](const Array& a, const Axes& kth, const Axis& axis) { return partition(a, kth, axis); }),
      BC_FUNCTION("argpartition(a, kth, axis=-1)",
                  [](const Array& a, const Axes& kth, const NumberAxis& axis) { return argpartition(a, kth, axis); }),
      BC_FUNCTION("order_statistics(a, ranks, axis) The elements that a sort along the axis would put at the ranks.",
                  [](const Array& a, const Axes& ranks, int64_t axis) { return order_statistics(a, ranks, axis); }),
      BC_LOOKING("direction(a) Whether a vector ascends (1), descends (-1), or neither (0).", [](const Array& a) { return direction(a); }),
      BC_VALUE("searchsorted(a, v, side='left', sorter=None)",
               [](const Array& a, const Array& v, std::string_view side, const std::optional<Array>& sorter) {
                 return searchsorted(a, v, side, sorter);
               }),
      BC_FUNCTION(
          "unique(a, indices, inverse, counts, equal_nan) Values, first places, inverse and counts; None for what is not asked for.",
          [](const Array& a, bool indices, bool inverse, bool counts, bool equal_nan) {
            return unique_tuple(unique(a, indices, inverse, counts, equal_nan));
          }),
      BC_FUNCTION(
          "unique_rows(a, indices, inverse, counts) The same for the slices along the first axis.",
          [](const Array& a, bool indices, bool inverse, bool counts) { return unique_tuple(unique_rows(a, indices, inverse, counts)); }),
  };
}

}  // namespace bc::bind
