// repeat, delete and insert by lists of positions. A list in host memory is read and replaced by slices if it has few runs; a list on a
// device stays there, and only its bounds and counts are read.
#include "array/indexing.h"
#include "core/extents.h"
#include "ops/compose.h"
#include "ops/sorting.h"

namespace bc {
using namespace compose;

namespace {
bool on_host(const Array& a) { return traits(a.device()).on_host; }

std::vector<int64_t> integers_of(const Array& list) {
  std::vector<int64_t> n(list.size());
  to_host(cast(list, DType::i64), n.data());
  return n;
}

/// Reads two numbers from a device at once.
std::pair<int64_t, int64_t> read_pair(const Array& first, const Array& second) {
  int64_t both[2];
  to_host(stack({{first, second}}), both);
  return {both[0], both[1]};
}

/// Reads the bounds of a non-empty list of positions on a device.
void check_positions(const Array& at, int64_t n, int64_t last, int axis) {
  const auto [low, high] = read_pair(reduce(Op::reduce_min, at), reduce(Op::reduce_max, at));
  for (int64_t i : {low, high}) BC_CHECK(i >= -n && i <= last, Index, "index {} is out of bounds for axis {} with size {}", i, axis, n);
}

/// Stores values at positions along an axis.
void put_at(const Array& a, int axis, const Array& at, const Array& values) {
  std::vector<IndexItem> items(axis);
  items.push_back({{}, at});
  setitem(a, items, Arg(values));
}

/// The positions 0 … n - 1 on the device.
Array positions(const std::vector<int64_t>& at, Device device) {
  return from_host(at.data(), DType::i64, contiguous_layout(Dims{static_cast<int64_t>(at.size())}), device);
}

/// Up to this many runs of neighbours are copied as slices; more are gathered by their positions.
constexpr size_t kFewRuns = 16;

/// Runs of neighbouring positions: the start and the length of each.
using Runs = std::vector<std::pair<int64_t, int64_t>>;

/// [0, n) without the positions of a sorted list.
Runs runs_without(const std::vector<int64_t>& sorted, int64_t n) {
  Runs runs;
  int64_t from = 0;
  for (int64_t i : sorted) {
    if (i > from) runs.emplace_back(from, i - from);
    from = std::max(from, i + 1);
  }
  if (n > from) runs.emplace_back(from, n - from);
  return runs;
}

std::vector<int64_t> elements_of(const Runs& runs) {
  std::vector<int64_t> all;
  for (const auto& [start, count] : runs)
    for (int64_t i = 0; i < count; ++i) all.push_back(start + i);
  return all;
}

/// A copy of the runs along an axis, one after the other.
Array kept(const Array& a, int axis, const Runs& runs) {
  if (runs.empty() || runs.size() > kFewRuns) return take(a, positions(elements_of(runs), a.device()), axis);
  std::vector<Array> parts;
  for (const auto& [start, count] : runs) parts.push_back(narrow(a, axis, start, count));
  // One run is copied too, so that its memory order is that of several joined runs.
  return parts.size() == 1 ? copy(parts[0], is_f_contiguous(a.shape(), a.strides()) ? 'F' : 'C') : concatenate(parts, axis);
}
}  // namespace

Array repeat(const Array& a_in, const Array& counts, Axis axis) {
  BC_CHECK(counts.ndim() <= 1, Value, "object too deep for desired array");
  BC_CHECK(can_cast(counts.dtype(), DType::i64, Casting::safe), Type,
           "Cannot cast array data from dtype('{}') to dtype('int64') according to the rule 'safe'", info(counts.dtype()).name);
  if (counts.size() == 1) return repeat(a_in, integers_of(counts)[0], axis);
  const Array a = axis ? atleast_1d(a_in) : ravel(a_in);
  const int at = normalize_axis(axis.value_or(0), a.ndim(), "repeat");
  BC_CHECK(counts.size() == a.shape()[at], Value, "operands could not be broadcast together with shape ({},) ({},)", a.shape()[at],
           counts.size());
  constexpr const char* kNegative = "repeats may not contain negative values.";
  if (!on_host(counts) && counts.size() > 0) {
    // The element at a position of the result is the first one for which the cumulative sum of repeats exceeds the position.
    const Array n = cast(counts, DType::i64), ends = cumsum(n);
    const auto [least, total] = read_pair(reduce(Op::reduce_min, n), pick(ends, 0, n.size() - 1));
    BC_CHECK(least >= 0, Value, kNegative);
    return take(a, searchsorted(ends, index_along(total, 0, 1, a.device()), "right"), at);
  }
  const std::vector<int64_t> n = integers_of(counts);
  std::vector<int64_t> from;
  for (size_t i = 0; i < n.size(); ++i) {
    BC_CHECK(n[i] >= 0, Value, kNegative);
    from.insert(from.end(), n[i], static_cast<int64_t>(i));
  }
  return take(a, positions(from, a.device()), at);
}

Array delete_(const Array& a_in, std::span<const int64_t> at, Axis axis) {
  const Array a = axis ? a_in : ravel(a_in);
  const int d = normalize_axis(axis.value_or(0), a.ndim(), "delete");
  const int64_t n = a.shape()[d];
  std::vector<int64_t> gone;
  for (int64_t i : at) {
    BC_CHECK(i >= -n && i < n, Index, "index {} is out of bounds for axis {} with size {}", i, d, n);
    gone.push_back(i < 0 ? i + n : i);
  }
  std::sort(gone.begin(), gone.end());
  return kept(a, d, runs_without(gone, n));
}

Array delete_(const Array& a_in, int64_t start, int64_t count, Axis axis) {
  const Array a = axis ? a_in : ravel(a_in);
  const int d = normalize_axis(axis.value_or(0), a.ndim(), "delete");
  const int64_t n = a.shape()[d];
  BC_CHECK(count >= 0 && start >= 0 && start + count <= n, Index, "delete: positions {} to {} are out of bounds for size {}", start,
           start + count, n);
  Runs runs;
  if (start > 0) runs.emplace_back(0, start);
  if (start + count < n) runs.emplace_back(start + count, n - start - count);
  return kept(a, d, runs);
}

Array delete_(const Array& a_in, const Array& at, Axis axis) {
  const Array a = axis ? a_in : ravel(a_in);
  const int d = normalize_axis(axis.value_or(0), a.ndim(), "delete");
  const int64_t n = a.shape()[d];
  if (is_bool(at.dtype())) return compress(logical_not(at), a, d);
  if (on_host(at)) return delete_(a, integers_of(at), d);
  const Array list = ravel(cast(at, DType::i64)), kept = full({n}, Scalar::boolean(true), DType::b1, a.device());
  if (list.size() > 0) {
    check_positions(list, n, n - 1, d);
    put_at(kept, 0, list, full({}, Scalar::boolean(false), DType::b1, a.device()));
  }
  return compress(kept, a, d);
}

Array insert(const Array& a_in, std::span<const int64_t> at_in, const Array& values_in, Axis axis, bool single) {
  const Array a = axis ? a_in : ravel(a_in);
  const int d = normalize_axis(axis.value_or(0), a.ndim(), "insert");
  const int64_t n = a.shape()[d];
  std::vector<int64_t> at(at_in.begin(), at_in.end());
  for (int64_t& i : at) {
    BC_CHECK(i >= -n && i <= n, Index, "index {} is out of bounds for axis {} with size {}", i, d, n);
    if (i < 0) i += n;
  }
  Array values = cast(values_in, a.dtype());
  // One index inserts all values at its position, as a slice would. If it is a number, NumPy moves the first axis of the values there.
  if (at.size() == 1) {
    while (values.ndim() < a.ndim()) values = insert_axis(values, 0);
    if (single) values = moveaxis(values, {0}, {d});
    at.assign(values.shape()[d], at[0]);
  }
  const int64_t m = static_cast<int64_t>(at.size());
  std::vector<int64_t> order(m);
  for (int64_t i = 0; i < m; ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(), [&](int64_t x, int64_t y) { return at[x] < at[y]; });
  std::vector<int64_t> fresh(m), taken;
  for (int64_t i = 0; i < m; ++i) {
    fresh[order[i]] = at[order[i]] + i;
    taken.push_back(fresh[order[i]]);
  }
  Dims shape = a.shape();
  shape[d] = n + m;
  const Array r = empty(shape, a.dtype(), a.device());
  const auto runs = runs_without(taken, n + m);
  if (runs.size() <= kFewRuns) {
    int64_t from = 0;
    for (const auto& [start, count] : runs) {
      assign(narrow(r, d, start, count), narrow(a, d, from, count));
      from += count;
    }
  } else {
    put_at(r, d, positions(elements_of(runs), a.device()), a);
  }
  if (m == 1)
    assign(narrow(r, d, fresh[0], 1), values);
  else if (m > 0)
    put_at(r, d, positions(fresh, a.device()), values);
  return r;
}

Array insert(const Array& a_in, const Array& at_in, const Array& values, Axis axis) {
  const int64_t m = at_in.size();
  if (on_host(at_in) || m < 2) return insert(a_in, integers_of(at_in), values, axis, at_in.ndim() == 0);
  const Array a = axis ? a_in : ravel(a_in);
  const int d = normalize_axis(axis.value_or(0), a.ndim(), "insert");
  const int64_t n = a.shape()[d];
  const Array given = cast(at_in, DType::i64);
  check_positions(given, n, n, d);
  const Array at = choose_where(ufunc(Op::less, {given, Arg(0)}), add(given, Arg(n)), given);
  // Inserted elements are ordered by position, those of equal positions as given, and each shifts the following ones by one.
  const Array order = argsort(at);
  Dims shape = a.shape();
  shape[d] = n + m;
  const Array r = empty(shape, a.dtype(), a.device()), old = index_along(n, 0, 1, a.device());
  if (n > 0) put_at(r, d, add(old, searchsorted(take(at, order), old, "right")), a);
  put_at(r, d, add(at, argsort(order)), cast(values, a.dtype()));
  return r;
}

}  // namespace bc
