// Joining, splitting and rearranging. What NumPy gives as a view is a view here.
#include "array/placement.h"
#include "array/small_host.h"
#include "core/extents.h"
#include "ops/compose.h"

namespace bc {
using namespace compose;

Array concatenate(Arrays arrays, Axis axis, std::optional<DType> dtype, Casting casting, Array out) {
  BC_CHECK(!arrays.empty(), Value, "need at least one array to concatenate");
  BC_CHECK(!(out && dtype), Type, "concatenate() only takes `out` or `dtype` as an argument, but both were provided.");
  std::vector<Array> flat;
  if (!axis) {
    for (const Array& a : arrays) flat.push_back(ravel(a));
    arrays = flat;
  }
  const Array& first = arrays[0];
  BC_CHECK(first.ndim() > 0, Value, "zero-dimensional arrays cannot be concatenated");
  const int at = normalize_axis(axis.value_or(0), first.ndim(), "concatenate");
  Dims shape = first.shape();
  std::vector<DType> types{first.dtype()};
  for (size_t i = 1; i < arrays.size(); ++i) {
    const Array& a = arrays[i];
    BC_CHECK(a.ndim() != 0, Value, "zero-dimensional arrays cannot be concatenated");
    BC_CHECK(
        a.ndim() == first.ndim(), Value,
        "all the input arrays must have same number of dimensions, but the array at index 0 has {} dimension(s) and the array at index {} "
        "has {} dimension(s)",
        first.ndim(), i, a.ndim());
    for (int d = 0; d < a.ndim(); ++d)
      BC_CHECK(d == at || a.shape()[d] == first.shape()[d], Value,
               "all the input array dimensions except for the concatenation axis must match exactly, but along dimension {}, the array at "
               "index 0 has size {} and the array at index {} has size {}",
               d, first.shape()[d], i, a.shape()[d]);
    check_one_place("concatenate", first, a);
    shape[at] = extent_sum(shape[at], a.shape()[at]);
    types.push_back(a.dtype());
  }
  if (out) {
    BC_CHECK(out.ndim() == shape.size(), Value, "Output array has wrong dimensionality");
    BC_CHECK(out.shape() == shape, Value, "Output array is the wrong shape");
    dtype = out.dtype();
  }
  const DType to = dtype ? *dtype : promote(types);
  for (const Array& a : arrays)
    BC_CHECK(can_cast(a.dtype(), to, casting), Type, "Cannot cast array data from dtype('{}') to dtype('{}') according to the rule '{}'",
             info(a.dtype()).name, info(to).name, to_string(casting));
  if (arrays.size() == 1 && !out) return astype(first, to);
  if (!out)
    if (std::optional<Array> joined = concatenate_small(arrays, to, at, shape)) return *joined;
  Array r = out;
  if (!r) {
    const Device device = place_of_op(arrays, product(shape)).value_or(first.device());
    std::vector<Dims> strides;
    for (const Array& a : arrays) strides.push_back(moving_strides(a.shape(), a.strides()));
    r = laid_out(shape, joined_order(strides, shape.size()), [&](const Dims& s) { return empty(s, to, device); });
  }
  int64_t start = 0;
  for (const Array& a : arrays) {
    assign(narrow(r, at, start, a.shape()[at]), a);
    start += a.shape()[at];
  }
  return r;
}

Array stack(Arrays arrays, int64_t axis, std::optional<DType> dtype, Casting casting, Array out) {
  BC_CHECK(!arrays.empty(), Value, "need at least one array to stack");
  const int at = normalize_axis(axis, arrays[0].ndim() + 1, "stack");
  std::vector<Array> wide;
  for (const Array& a : arrays) {
    BC_CHECK(a.shape() == arrays[0].shape(), Value, "all input arrays must have the same shape, got {} and {}", arrays[0].shape(),
             a.shape());
    wide.push_back(insert_axis(a, at));
  }
  return concatenate(wide, at, dtype, casting, std::move(out));
}

namespace {
template <class F>
std::vector<Array> each(Arrays arrays, F f) {
  std::vector<Array> r;
  for (const Array& a : arrays) r.push_back(f(a));
  return r;
}
}  // namespace

Array hstack(Arrays arrays, std::optional<DType> dtype, Casting casting) {
  const auto all = each(arrays, atleast_1d);
  return concatenate(all, !all.empty() && all[0].ndim() == 1 ? 0 : 1, dtype, casting);
}
Array vstack(Arrays arrays, std::optional<DType> dtype, Casting casting) {
  return concatenate(each(arrays, atleast_2d), 0, dtype, casting);
}
Array dstack(Arrays arrays) { return concatenate(each(arrays, atleast_3d), 2); }
Array column_stack(Arrays arrays) {
  return concatenate(each(arrays, [](const Array& a) { return a.ndim() < 2 ? insert_axis(atleast_1d(a), 1) : a; }), 1);
}

Array append(const Array& a, const Array& values, Axis axis) {
  const Array both[] = {axis ? a : ravel(a), axis ? values : ravel(values)};
  return concatenate(both, axis.value_or(0));
}

std::vector<Array> array_split(const Array& a, std::span<const int64_t> cuts, int64_t axis) {
  BC_CHECK(a.ndim() > 0, Index, "array_split: expected an array of at least one dimension, got a scalar");
  const int at = normalize_axis(axis, a.ndim(), "array_split");
  const int64_t n = a.shape()[at];
  auto bound = [&](int64_t i) { return std::clamp<int64_t>(i < 0 ? i + n : i, 0, n); };
  std::vector<Array> r;
  for (size_t i = 0; i <= cuts.size(); ++i) {
    const int64_t start = i ? bound(cuts[i - 1]) : 0, stop = i < cuts.size() ? bound(cuts[i]) : n;
    r.push_back(narrow(a, at, start, std::max<int64_t>(stop - start, 0)));
  }
  return r;
}

std::vector<Array> array_split(const Array& a, int64_t sections, int64_t axis) {
  BC_CHECK(sections > 0, Value, "number sections must be larger than 0.");
  const int64_t n = a.shape()[normalize_axis(axis, a.ndim(), "array_split")];
  std::vector<int64_t> cuts;
  for (int64_t i = 1; i < sections; ++i) cuts.push_back(i * (n / sections) + std::min(i, n % sections));
  return array_split(a, cuts, axis);
}

std::vector<Array> split(const Array& a, int64_t sections, int64_t axis) {
  const int64_t n = a.shape()[normalize_axis(axis, a.ndim(), "split")];
  BC_CHECK(sections > 0, Value, "number sections must be larger than 0.");
  BC_CHECK(n % sections == 0, Value,
           "array split does not result in an equal division: {} elements into {} parts; array_split() makes parts of unlike sizes", n,
           sections);
  return array_split(a, sections, axis);
}
std::vector<Array> split(const Array& a, std::span<const int64_t> cuts, int64_t axis) { return array_split(a, cuts, axis); }

std::vector<Array> unstack(const Array& a, int64_t axis) {
  BC_CHECK(a.ndim() > 0, Value, "Input array must be at least 1-d.");
  const int at = normalize_axis(axis, a.ndim(), "unstack");
  std::vector<Array> r;
  for (int64_t i = 0; i < a.shape()[at]; ++i) r.push_back(pick(a, at, i));
  return r;
}

Array repeat(const Array& a_in, int64_t count, Axis axis) {
  const Array a = axis ? atleast_1d(a_in) : ravel(a_in);
  const int at = normalize_axis(axis.value_or(0), a.ndim(), "repeat");
  BC_CHECK(count >= 0, Value, "repeats may not contain negative values.");
  if (a.ndim() == 1)
    if (std::optional<Array> few = repeat_small(a, count)) return *few;
  Dims wide = a.shape();
  wide.insert(at + 1, count);
  Dims shape = a.shape();
  shape[at] = extent_product(shape[at], count);
  return reshape(copy(broadcast_to(insert_axis(a, at + 1), wide)), shape);
}

Array tile(const Array& a_in, const Dims& reps_in) {
  Array a = a_in;
  Dims reps = reps_in;
  while (reps.size() < a.ndim()) reps.insert(0, 1);
  while (a.ndim() < reps.size()) a = insert_axis(a, 0);
  Dims wide, shape;
  Layout l;
  l.offset = a.offset();
  for (int d = 0; d < reps.size(); ++d) {
    BC_CHECK(reps[d] >= 0, Value, "negative dimensions are not allowed");
    if (reps[d] != 1) l.shape.push_back(reps[d]), l.strides.push_back(0);
    l.shape.push_back(a.shape()[d]), l.strides.push_back(a.strides()[d]);
    shape.push_back(extent_product(reps[d], a.shape()[d]));
  }
  return reshape(copy(a.with_layout(std::move(l))), shape);
}

Array flip(const Array& a, const std::optional<Axes>& axes) {
  Layout l = a.layout();
  uint64_t seen = 0;
  auto turn = [&](int d) {
    BC_CHECK(!(seen >> d & 1), Value, "repeated axis");
    seen |= uint64_t{1} << d;
    if (l.shape[d] > 0) l.offset += (l.shape[d] - 1) * l.strides[d];
    l.strides[d] = -l.strides[d];
  };
  if (axes)
    for (int64_t axis : *axes) turn(normalize_axis(axis, a.ndim(), "flip"));
  else
    for (int d = 0; d < a.ndim(); ++d) turn(d);
  return a.with_layout(std::move(l));
}

Array rot90(const Array& a, int64_t k, int64_t axis1, int64_t axis2) {
  const int x = normalize_axis(axis1, a.ndim(), "rot90"), y = normalize_axis(axis2, a.ndim(), "rot90");
  BC_CHECK(x != y, Value, "Axes must be different.");
  switch (((k % 4) + 4) % 4) {
    case 0: return a;
    case 1: return swapaxes(flip(a, Axes{y}), x, y);
    case 2: return flip(a, Axes{x, y});
    default: return flip(swapaxes(a, x, y), Axes{y});
  }
}

Array roll(const Array& a, const Axes& shifts, const std::optional<Axes>& axes) {
  if (!axes) {
    int64_t total = 0;
    for (int64_t s : shifts) total = (total + s % std::max<int64_t>(a.size(), 1)) % std::max<int64_t>(a.size(), 1);
    return reshape(roll(ravel(a), {total}, Axes{0}), a.shape());
  }
  BC_CHECK(shifts.size() == axes->size() || shifts.size() == 1 || axes->size() == 1, Value,
           "shape mismatch: objects cannot be broadcast to a single shape.  Mismatch is between arg 0 with shape ({},) and arg 1 with "
           "shape ({},).",
           shifts.size(), axes->size());
  const size_t n = shifts.empty() || axes->empty() ? 0 : std::max(shifts.size(), axes->size());
  Dims by(a.ndim(), 0);
  for (size_t i = 0; i < n; ++i) {
    const int d = normalize_axis((*axes)[axes->size() == 1 ? 0 : i], a.ndim(), "roll");
    const int64_t extent = a.shape()[d];
    if (extent > 0) by[d] = ((by[d] + shifts[shifts.size() == 1 ? 0 : i] % extent) % extent + extent) % extent;
  }
  // Two pieces along each axis that moves, all combinations of them. Rows that move as a whole are chosen in the loop over rows of whatever
  // kernel reads them; where elements move within rows a choice for each would cost more than to store the pieces.
  const Dims order = copy_order(a, 'K');
  const int inner = order.empty() ? a.ndim() - 1 : static_cast<int>(order.back());
  const bool rows_move = a.ndim() > 1 && by[inner] == 0 && std::count(by.begin(), by.end(), 0) == a.ndim() - 1;
  const Array r = laid_out(a.shape(), order, [&](const Dims& shape) {
    return rows_move ? zeros(shape, a.dtype(), a.device()) : empty(shape, a.dtype(), a.device());
  });
  std::vector<std::pair<Array, Array>> pieces{{r, a}};
  for (int d = 0; d < a.ndim(); ++d) {
    if (by[d] == 0) continue;
    std::vector<std::pair<Array, Array>> next;
    const int64_t extent = a.shape()[d], s = by[d];
    for (const auto& [to, from] : pieces) {
      next.emplace_back(narrow(to, d, s, extent - s), narrow(from, d, 0, extent - s));
      next.emplace_back(narrow(to, d, 0, s), narrow(from, d, extent - s, s));
    }
    pieces = std::move(next);
  }
  for (const auto& [to, from] : pieces) assign(to, from);
  return r;
}

namespace {
std::vector<int> axis_list(const Axes& axes, int ndim, const char* name) {
  std::vector<int> r;
  uint64_t seen = 0;
  for (int64_t axis : axes) {
    const int d = normalize_axis(axis, ndim, name);
    BC_CHECK(!(seen >> d & 1), Value, "repeated axis in `{}` argument", name);
    seen |= uint64_t{1} << d;
    r.push_back(d);
  }
  return r;
}
}  // namespace

Array moveaxis(const Array& a, const Axes& source, const Axes& destination) {
  const auto from = axis_list(source, a.ndim(), "source"), to = axis_list(destination, a.ndim(), "destination");
  BC_CHECK(from.size() == to.size(), Value, "`source` and `destination` arguments must have the same number of elements");
  Dims order(a.ndim(), -1);
  for (size_t i = 0; i < from.size(); ++i) order[to[i]] = from[i];
  int next = 0;
  for (int64_t& d : order) {
    if (d >= 0) continue;
    while (std::find(from.begin(), from.end(), next) != from.end()) ++next;
    d = next++;
  }
  return transpose(a, order);
}

Array swapaxes(const Array& a, int64_t axis1, int64_t axis2) {
  const int x = normalize_axis(axis1, a.ndim(), "axis1"), y = normalize_axis(axis2, a.ndim(), "axis2");
  Layout l = a.layout();
  std::swap(l.shape[x], l.shape[y]);
  std::swap(l.strides[x], l.strides[y]);
  return a.with_layout(std::move(l));
}

Array rollaxis(const Array& a, int64_t axis, int64_t start) {
  const int n = a.ndim(), from = normalize_axis(axis, n, "axis");
  int64_t to = start < 0 ? start + n : start;
  BC_CHECK(to >= 0 && to <= n, Axis, "'start' arg requires {} <= start < {}, but {} was passed in", -n, n + 1, start);
  if (from < to) --to;
  return from == to ? a : moveaxis(a, {from}, {to});
}

Array matrix_transpose(const Array& a) {
  BC_CHECK(a.ndim() >= 2, Value, "Input array must be at least 2-dimensional, but it is {}", a.ndim());
  return swapaxes(a, -1, -2);
}

Array squeeze(const Array& a, const std::optional<Axes>& axes) {
  uint64_t drop = 0;
  if (axes) {
    // NumPy takes one axis of a number, which has none.
    const bool number = a.ndim() == 0 && axes->size() <= 1;
    for (int64_t axis : *axes) {
      if (number && (axis == 0 || axis == -1)) continue;
      const int d = normalize_axis(axis, a.ndim(), "squeeze");
      BC_CHECK(!(drop >> d & 1), Value, "duplicate value in 'axis'");
      BC_CHECK(a.shape()[d] == 1, Value, "cannot select an axis to squeeze out which has size not equal to one");
      drop |= uint64_t{1} << d;
    }
  } else {
    for (int d = 0; d < a.ndim(); ++d)
      if (a.shape()[d] == 1) drop |= uint64_t{1} << d;
  }
  Layout l;
  l.offset = a.offset();
  for (int d = 0; d < a.ndim(); ++d)
    if (!(drop >> d & 1)) l.shape.push_back(a.shape()[d]), l.strides.push_back(a.strides()[d]);
  return a.with_layout(std::move(l));
}

Array expand_dims(const Array& a, const Axes& axes) {
  const int nd = a.ndim() + static_cast<int>(axes.size());
  BC_CHECK(nd <= kMaxDims, Value, "expand_dims: expected at most {} dimensions, got {}", kMaxDims, nd);
  uint64_t fresh = 0;
  for (int64_t axis : axes) {
    const int d = normalize_axis(axis, nd, "expand_dims");
    BC_CHECK(!(fresh >> d & 1), Value, "repeated axis");
    fresh |= uint64_t{1} << d;
  }
  Layout l;
  l.offset = a.offset();
  int from = 0;
  for (int d = 0; d < nd; ++d) {
    if (fresh >> d & 1) {
      l.shape.push_back(1), l.strides.push_back(0);
    } else {
      l.shape.push_back(a.shape()[from]), l.strides.push_back(a.strides()[from]);
      ++from;
    }
  }
  return a.with_layout(std::move(l));
}

Array atleast_1d(const Array& a) { return a.ndim() == 0 ? insert_axis(a, 0) : a; }
Array atleast_2d(const Array& a) { return a.ndim() < 2 ? insert_axis(atleast_1d(a), 0) : a; }
Array atleast_3d(const Array& a) { return a.ndim() < 3 ? insert_axis(atleast_2d(a), 2) : a; }

namespace {
/// The array with its axes in the order that `order` reads them.
Array ordered(const Array& a, char order) {
  if (order == 'A') order = is_f_contiguous(a.shape(), a.strides()) && !a.contiguous() ? 'F' : 'C';
  BC_CHECK(order == 'C' || order == 'F' || order == 'K', Value, "order must be one of 'C', 'F', 'A', or 'K' (got '{}')", order);
  if (order == 'C') return a;
  if (order == 'F') return transpose(a);
  if (a.contiguous()) return a;
  // As NumPy's iterator goes: an axis that does not move decides nothing.
  const Dims strides[] = {moving_strides(a.shape(), a.strides())};
  return transpose(a, operands_order(strides, a.ndim()));
}
}  // namespace

Array ravel(const Array& a, char order) { return reshape(ordered(a, order), Dims{a.size()}); }
Array contiguous_ravel(const Array& a, char order) {
  const Array line = ravel(a, order);
  return line.contiguous() ? line : copy(line);
}
Array flatten(const Array& a, char order) {
  const Array packed = copy(ordered(a, order));
  return packed.with_layout(contiguous_layout(Dims{a.size()}));
}

Array reshape_fortran(const Array& a, const Dims& shape) {
  Dims reversed(shape.span());
  std::reverse(reversed.begin(), reversed.end());
  return transpose(reshape(transpose(a), reversed));
}

std::vector<Array> broadcast_arrays(Arrays arrays) {
  Dims shape;
  for (const Array& a : arrays) shape = broadcast_shapes("broadcast_arrays", shape, a.shape());
  return each(arrays, [&](const Array& a) { return broadcast_to(a, shape); });
}

Array resize(const Array& a_in, const Dims& shape) {
  for (int64_t n : shape) BC_CHECK(n >= 0, Value, "all elements of `new_shape` must be non-negative");
  const Array a = ravel(a_in);
  const int64_t n = product(shape);
  if (a.size() == 0 || n == 0) return zeros(shape, a.dtype(), a.device());
  const int64_t times = n / a.size() + (n % a.size() != 0);
  return reshape(narrow(tile(a, Dims{times}), 0, 0, n), shape);
}

}  // namespace bc
