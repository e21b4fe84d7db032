// Sorting, searching and sets: library ops and what is made of them.
#include "ops/sorting.h"

#include <algorithm>

#include "array/indexing.h"
#include "array/other_dtypes.h"
#include "array/placement.h"
#include "array/record.h"
#include "array/small_host.h"
#include "ops/compose.h"
#include "primitives/library.h"

namespace bc {
using namespace compose;

namespace {

/// Records `extra` over the lines along `axis`; they have `n` elements of `dtype` in the result.
Array along_axis(const Array& a, int axis, int64_t n, DType dtype, std::unique_ptr<LibraryExtra> extra) {
  const int last = a.ndim() - 1;
  const Array lines = axis == last ? a : moveaxis(a, {axis}, {last});
  Dims shape = lines.shape();
  shape[last] = n;
  if (product(shape) == 0)
    return empty(axis == last ? shape : moveaxis(empty(shape, dtype, a.device()), {last}, {axis}).shape(), dtype, a.device());
  const Array made = record_library({lines}, {lines.shape()}, std::move(extra), shape, dtype, a.device());
  return axis == last ? made : copy(moveaxis(made, {last}, {axis}));
}

/// The places that sort complex numbers along an axis: by whether a part is NaN, then by real part, then by imaginary part.
Array complex_places(const Array& a, int axis) {
  const Array re = real(a), im = imag(a);
  const Array nan_parts = add(multiply(cast(isnan(re), DType::u8), Arg(2)), cast(isnan(im), DType::u8));
  const Array keys[] = {im, re, nan_parts};
  return lexsort(keys, axis);
}

/// Whether only the places that sort complex numbers are known to a device: library bodies of the CPU order the numbers themselves.
bool needs_places(const Array& a) { return is_complex(a.dtype()) && !traits(a.device()).on_host; }

/// The array and the axis to work on: the flattened array where no axis is given.
std::pair<Array, int> lines_of(const Array& a, Axis axis, const char* op) {
  const Array x = axis ? a : ravel(a);
  return {x, normalize_axis(axis.value_or(-1), x.ndim(), op)};
}

/// Whose places are asked for: a number counts as an array of one element, as in NumPy (whose sort refuses numbers).
Array places_along(const Array& a) { return a.ndim() == 0 ? reshape(a, Dims{1}) : a; }

std::vector<int64_t> checked_ranks(std::span<const int64_t> kth, int64_t n) {
  std::vector<int64_t> ranks;
  for (const int64_t k : kth) {
    BC_CHECK(k >= -n && k < n, Value, "kth(={}) out of bounds ({})", k < 0 ? k + n : k, n);
    ranks.push_back(k < 0 ? k + n : k);
  }
  std::sort(ranks.begin(), ranks.end());
  ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
  return ranks;
}

Array arranged(const Array& a_in, std::span<const int64_t> kth, Axis axis, bool places) {
  const auto [a, d] = lines_of(places ? places_along(a_in) : a_in, axis, places ? "argpartition" : "partition");
  const DType t = places ? DType::i64 : a.dtype();
  if (a.size() == 0) return places ? empty(a.shape(), t, a.device()) : copy(a);  // any rank, as in NumPy
  std::vector<int64_t> ranks = checked_ranks(kth, a.shape()[d]);
  if (!is_plain(a.dtype())) {
    const Array r = arranged(sort_keys(a), kth, d, places);
    return places ? r : from_sort_keys(r, a.dtype());
  }
  // A sort puts each rank in its place.
  if (std::optional<Array> few = places ? argsort_small(a) : sort_small(a); few && !ranks.empty()) return *few;
  if (ranks.empty()) return places ? copy(broadcast_to(index_along(a.shape()[d], d, a.ndim(), a.device()), a.shape())) : copy(a);
  if (needs_places(a)) {
    const Array order = complex_places(a, d);
    return places ? order : take_along_axis(a, order, d);
  }
  return along_axis(a, d, a.shape()[d], t, std::make_unique<PartitionExtra>(places, std::move(ranks)));
}

/// Elements whose ascending order is the descending order of the array's; NaN stays NaN, which comes last, as does NaT's number of ticks.
Array opposite(const Array& a) {
  if (is_bool(a.dtype())) return logical_not(a);
  return ufunc(is_integer(a.dtype()) ? Op::invert : Op::negative, {a});
}

Array at_mask(const Array& a, const Array& mask) {
  const IndexItem item{{}, mask};
  return getitem(a, {&item, 1});
}
Array at_places(const Array& a, const Array& places) {
  const IndexItem item{{}, places};
  return getitem(a, {&item, 1});
}

/// Of n > 0 elements in sorted order: where a new value begins, given where each after the first differs from the one before it.
Array begins(const Array& differs) {
  const Array first = full(Dims{1}, Scalar::boolean(true), DType::b1, differs.device());
  const Array both[] = {first, differs};
  return concatenate(both);
}

/// Fills in what `unique` was asked to tell besides the values. `places` sort the array; `mask` is begins() of it.
void tell(Unique* u, const Array& mask, const Array& places, const Dims& shape, bool indices, bool inverse, bool counts) {
  const int64_t n = mask.size();
  const Device device = mask.device();
  if (indices) u->indices = at_mask(places, mask);
  if (inverse) {
    const Array number = subtract(cumsum(cast(mask, DType::i64), 0, DType::i64, {}), Arg(1));
    u->inverse = empty(Dims{n}, DType::i64, device);
    const IndexItem item{{}, places};
    setitem(u->inverse, {&item, 1}, number);
    u->inverse = reshape(u->inverse, shape);
  }
  if (counts) {
    const Array both[] = {nonzero(mask)[0], full(Dims{1}, Scalar::integer(n), DType::i64, device)};
    u->counts = diff(concatenate(both));
  }
}

Unique unique_of_nothing(const Array& values, const Dims& shape, bool indices, bool inverse, bool counts) {
  const Device device = values.device();
  Unique u;
  u.values = values;
  tell(&u, empty(Dims{0}, DType::b1, device), empty(Dims{0}, DType::i64, device), shape, indices, inverse, counts);
  return u;
}

}  // namespace

namespace {

/// Gives the zeros of sorted lines along an axis the order in which they stand in the lines before the sort.
void restore_zeros(const Array& sorted, const Array& before, int axis) {
  const int last = before.ndim() - 1;
  const Array to = moveaxis(sorted, {axis}, {last}), from = moveaxis(before, {axis}, {last});
  // Both masks are true equally often in each line, and lines follow each other in the order of the index.
  const IndexItem item{{}, equal(to, Arg(0))};
  setitem(to, {&item, 1}, Arg(at_mask(from, equal(from, Arg(0)))));
}

}  // namespace

Array sort(const Array& a_in, Axis axis, bool descending, bool stable) {
  const auto [a, d] = lines_of(a_in, axis, "sort");
  if (stable && is_real_float(a.dtype()) && is_plain(a.dtype())) {
    if (!descending)
      if (std::optional<Array> few = sort_small(a)) return *few;  // there is no -0.0 among them
    const Array made = sort(a, d, descending);
    restore_zeros(made, a, d);
    return made;
  }
  if (is_time(a.dtype()) && descending) return as_time(sort(time_ticks(a), d, true), a.dtype());
  if (!is_plain(a.dtype())) return from_sort_keys(sort(sort_keys(a), d, descending), a.dtype());
  if (a.shape()[d] <= 1) return copy(a);
  if (!descending)
    if (std::optional<Array> few = sort_small(a)) return *few;
  // What is sorted lies in memory as the array does, as in NumPy.
  if (const Dims order = copy_order(a, 'K'); !is_ascending(order)) {
    const Dims back = inverse_axes(order);
    return transpose(sort(transpose(a, order), back[d], descending), back);
  }
  if (descending) return opposite(sort(opposite(a), d));
  if (needs_places(a)) return take_along_axis(a, complex_places(a, d), d);
  return along_axis(a, d, a.shape()[d], a.dtype(), std::make_unique<SortExtra>(false));
}

Array argsort(const Array& a_in, Axis axis, bool descending) {
  const auto [a, d] = lines_of(places_along(a_in), axis, "argsort");
  if (is_time(a.dtype()) && descending) return argsort(time_ticks(a), d, true);
  if (!is_plain(a.dtype())) return argsort(sort_keys(a), d, descending);
  if (descending) return argsort(opposite(a), d);
  if (std::optional<Array> few = argsort_small(a)) return *few;
  if (is_complex(a.dtype())) return complex_places(a, d);
  return along_axis(a, d, a.shape()[d], DType::i64, std::make_unique<SortExtra>(true));
}

Array lexsort(Arrays keys, Axis axis) {
  BC_CHECK(!keys.empty(), Type, "need sequence of keys with len > 0 in lexsort");
  const Dims& shape = keys[0].shape();
  for (const Array& k : keys) BC_CHECK(k.shape() == shape, Value, "all keys need to be the same shape");
  if (shape.empty() && (!axis || *axis == 0 || *axis == -1)) return full(Dims(), Scalar::integer(0), DType::i64, keys[0].device());
  const int d = normalize_axis(axis.value_or(-1), shape.size(), "lexsort");
  if (std::optional<Array> few = lexsort_small(keys)) return *few;
  Array order = argsort(keys[0], d);
  for (const Array& k : keys.subspan(1)) order = take_along_axis(order, argsort(take_along_axis(k, order, d), d), d);
  return order;
}

Array partition(const Array& a, std::span<const int64_t> kth, Axis axis) { return arranged(a, kth, axis, false); }
Array argpartition(const Array& a, std::span<const int64_t> kth, Axis axis) { return arranged(a, kth, axis, true); }

Array order_statistics(const Array& a, std::vector<int64_t> ranks, int64_t axis) {
  const int d = normalize_axis(axis, a.ndim(), "order_statistics");
  for (size_t i = 0; i < ranks.size(); ++i)
    BC_CHECK(ranks[i] >= 0 && ranks[i] < a.shape()[d] && (i == 0 || ranks[i] > ranks[i - 1]), Value,
             "order_statistics: expected ascending ranks in [0, {}), got {}", a.shape()[d], ranks[i]);
  if (!is_plain(a.dtype())) return from_sort_keys(order_statistics(sort_keys(a), std::move(ranks), d), a.dtype());
  if (needs_places(a)) {
    const Array at = from_host(ranks.data(), DType::i64, contiguous_layout(Dims{static_cast<int64_t>(ranks.size())}), a.device());
    return take(sort(a, d), at, d);
  }
  const auto count = static_cast<int64_t>(ranks.size());
  return along_axis(a, d, count, a.dtype(), std::make_unique<SelectExtra>(std::move(ranks)));
}

Array searchsorted(const Array& a_in, const Array& values_in, std::string_view side, const std::optional<Array>& sorter) {
  BC_CHECK(side == "left" || side == "right", Value, "search side must be 'left' or 'right' (got '{}')", side);
  BC_CHECK(a_in.ndim() == 1, Value, "object too deep for desired array");
  const DType t = promote(a_in.dtype(), values_in.dtype());
  Array a = cast(a_in, t);
  const Array values = cast(beside(values_in, a), t);
  if (sorter) {
    BC_CHECK(is_integer(sorter->dtype()), Type, "sorter must only contain integers");
    BC_CHECK(sorter->ndim() == 1, Value, "object too deep for desired array");
    BC_CHECK(sorter->size() == a.size(), Value, "sorter.size must equal a.size");
    a = take(a, *sorter);
  }
  if (!is_plain(t)) return searchsorted(sort_keys(a), sort_keys(values), side);
  if (std::optional<Array> few = searchsorted_small(a, values, side == "right")) return *few;
  if (values.size() == 0) return empty(values.shape(), DType::i64, a.device());
  if (a.size() == 0) return zeros(values.shape(), DType::i64, a.device());
  return record_library({a, values}, {a.shape(), values.shape()}, std::make_unique<SearchsortedExtra>(side == "right"), values.shape(),
                        DType::i64, a.device());
}

int64_t direction(const Array& a) {
  if (const std::optional<int> known = direction_small(a)) return *known;
  const int64_t n = a.size();
  if (n < 2) return 1;
  const Array before = narrow(a, 0, 0, n - 1), after = narrow(a, 0, 1, n - 1);
  // Both reductions run in one pass.
  const Array rises = reduce(Op::reduce_all, ufunc(Op::greater_equal, {after, before}));
  const Array falls = reduce(Op::reduce_all, ufunc(Op::less_equal, {after, before}));
  bool up = false, down = false;
  to_host(rises, &up);
  to_host(falls, &down);
  return up ? 1 : down ? -1 : 0;
}

Unique unique(const Array& a, bool indices, bool inverse, bool counts, bool equal_nan) {
  // Each NaT is a value of its own where `equal_nan` is false, as comparing them says.
  if (is_time(a.dtype()) && equal_nan) {
    Unique u = unique(sort_keys(a), indices, inverse, counts);
    u.values = from_sort_keys(u.values, a.dtype());
    return u;
  }
  const Array flat = ravel(a);
  const int64_t n = flat.size();
  if (n == 0) return unique_of_nothing(copy(flat), a.shape(), indices, inverse, counts);
  if (!indices && !inverse) {
    Unique u;
    if (std::optional<Array> few = unique_small(flat, counts ? &u.counts : nullptr)) {
      u.values = *few;
      return u;
    }
  }
  Array places, sorted;
  if (indices || inverse) {
    places = argsort(flat, 0);
    sorted = at_places(flat, places);
  } else {
    sorted = sort(flat, 0);
  }
  const Array before = narrow(sorted, 0, 0, n - 1), after = narrow(sorted, 0, 1, n - 1);
  Array differs = ufunc(Op::not_equal, {after, before});
  // NaNs stand together at the end.
  if (equal_nan && is_inexact(a.dtype()))
    differs = ufunc(Op::logical_and, {differs, logical_not(ufunc(Op::logical_and, {isnan(after), isnan(before)}))});
  const Array mask = begins(differs);
  Unique u;
  u.values = at_mask(sorted, mask);
  tell(&u, mask, places, a.shape(), indices, inverse, counts);
  return u;
}

Unique unique_rows(const Array& a, bool indices, bool inverse, bool counts) {
  const int64_t n = a.shape()[0];
  const Array rows = n > 0 ? reshape(a, Dims{n, -1}) : a;
  if (n == 0) return unique_of_nothing(copy(a), Dims{0}, indices, inverse, counts);
  const int64_t width = rows.shape()[1];
  Array places;
  if (std::optional<Array> few = argsort_rows_small(rows)) {
    places = *few;
  } else if (width > 0) {
    std::vector<Array> keys;
    for (int64_t c = width; c-- > 0;) keys.push_back(pick(rows, 1, c));
    places = lexsort(keys, 0);
  } else {
    places = arange(Scalar::integer(0), Scalar::integer(1), n, DType::i64, a.device());
  }
  const Array sorted = at_places(rows, places);
  const Array differs = ufunc(Op::not_equal, {narrow(sorted, 0, 1, n - 1), narrow(sorted, 0, 0, n - 1)});
  const Array mask = begins(reduce(Op::reduce_any, differs, over({1})));
  Unique u;
  u.values = at_places(at_places(a, places), nonzero(mask)[0]);
  tell(&u, mask, places, Dims{n}, indices, inverse, counts);
  return u;
}

}  // namespace bc
