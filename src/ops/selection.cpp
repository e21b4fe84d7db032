// Elements picked by index, condition or choice.
#include "array/indexing.h"
#include "array/placement.h"
#include "array/record.h"
#include "array/small_host.h"
#include "core/stored_value.h"
#include "ops/compose.h"

namespace bc {
using namespace compose;

namespace {

/// Indices as int64, folded into [0, n) as `mode` says. "raise" leaves them as they are: the gather checks.
Array folded(const Array& indices, int64_t n, std::string_view mode) {
  const Array i = cast(indices, DType::i64);
  if (mode == "wrap") return ufunc(Op::remainder, {i, Arg(n)});
  if (mode == "clip") return ufunc(Op::clip, {i, Arg(0), Arg(n - 1)});
  BC_CHECK(mode == "raise", Value, "clipmode must be one of 'clip', 'raise', or 'wrap' (got '{}')", mode);
  return i;
}

void check_integers(const Array& indices, const char* op) {
  BC_CHECK(is_integer(indices.dtype()) || (is_bool(indices.dtype())), Type,
           "Cannot cast array data from dtype('{}') to dtype('int64') according to the rule 'safe' ({})", info(indices.dtype()).name, op);
}

Array on_device(const Array& a, Device device) { return a.device() == device ? a : to_device(a, device); }

IndexItem all_of() { return {}; }

}  // namespace

Array take(const Array& a_in, const Array& indices, Axis axis, std::string_view mode, Array out) {
  check_integers(indices, "take");
  const Array a = axis ? atleast_1d(a_in) : ravel(a_in);
  const int d = normalize_axis(axis.value_or(0), a.ndim(), "take");
  BC_CHECK(a.shape()[d] > 0 || indices.size() == 0, Index, "cannot do a non-empty take from an empty axes.");
  // NumPy up to 2.4 asks whether the output's dtype can be cast to the array's, later versions the other way round.
  BC_CHECK(!out || can_cast(out.dtype(), a.dtype(), Casting::safe) || can_cast(a.dtype(), out.dtype(), Casting::same_kind), Type,
           "Cannot cast array data from dtype('{}') to dtype('{}') according to the rule 'safe'", info(out.dtype()).name,
           info(a.dtype()).name);
  const Array at = beside(indices, a);
  std::vector<IndexItem> items(d, all_of());
  items.push_back({{}, a.shape()[d] > 0 ? folded(at, a.shape()[d], mode) : cast(at, DType::i64)});
  return deliver("take", getitem(a, items), out, Casting::unsafe);
}

namespace {

/// The index space of take_along_axis: axis d of it walks axis d of `a`, except along `axis`.
struct Along {
  Array a, indices;
  int axis;
  Dims shape;
  Dims walks;
};

Along along(const Array& a_in, const Array& indices, Axis axis) {
  BC_CHECK(is_integer(indices.dtype()), Index, "`indices` must be an integer array");
  BC_CHECK(axis || indices.ndim() == 1, Value, "when axis=None, `indices` must have a single dimension.");
  Along r;
  r.a = axis ? a_in : ravel(a_in);
  r.axis = normalize_axis(axis.value_or(0), r.a.ndim(), "take_along_axis");
  BC_CHECK(indices.ndim() == r.a.ndim(), Value, "`indices` and `arr` must have the same number of dimensions");
  r.indices = cast(beside(indices, r.a), DType::i64);
  for (int d = 0; d < r.a.ndim(); ++d) {
    const int64_t x = r.a.shape()[d], y = indices.shape()[d];
    BC_CHECK(d == r.axis || x == y || x == 1 || y == 1, Index,
             "shape mismatch: indexing arrays could not be broadcast together with shapes {} {}", tight(indices.shape()),
             tight(r.a.shape()));
    r.shape.push_back(d == r.axis || x == 1 ? y : x);
    r.walks.push_back(d == r.axis || x == 1 ? -1 : d);
  }
  return r;
}

}  // namespace

Array take_along_axis(const Array& a, const Array& indices, Axis axis) {
  Along s = along(a, indices, axis);
  GatherExtra extra;
  extra.offset = s.a.offset();
  for (int64_t d : s.walks) extra.base_strides.push_back(d < 0 ? 0 : s.a.strides()[static_cast<int>(d)]);
  extra.index_extents = Dims{s.a.shape()[s.axis]};
  extra.index_strides = Dims{s.a.strides()[s.axis]};
  return record_gather(s.a, {s.indices}, std::move(extra), s.shape);
}

void put_along_axis(const Array& a, const Array& indices, const Arg& values, Axis axis) {
  if (!axis) {
    if (auto view = reshape_view(a, Dims{a.size()})) return put_along_axis(*view, indices, values, 0);
    const Array flat = flatten(a);
    put_along_axis(flat, indices, values, 0);
    return assign(a, reshape(flat, a.shape()));
  }
  const Along s = along(a, indices, axis);
  const Array v = on_device(stored(values, a.dtype(), a.device()), a.device());
  scatter(Op::leaf, s.a, s.shape, s.walks, {s.indices}, Dims{s.axis}, cast(v, a.dtype()));
}

void put(const Array& a, const Array& indices, const Arg& values, std::string_view mode) {
  if (indices.size() == 0) {
    stored(values, a.dtype(), a.device());  // raises where the value cannot be stored
    return;                                 // an empty list of indices has no dtype of its own
  }
  check_integers(indices, "put");
  BC_CHECK(a.size() > 0, Index, "cannot replace elements of an empty array");
  auto view = reshape_view(a, Dims{a.size()});
  const Array flat = view ? *view : flatten(a);
  const Array at = folded(ravel(on_device(indices, a.device())), a.size(), mode);
  Arg v = values;
  if (values.weak == Weak::none) {
    if (values.array.size() == 0) return;
    v = Arg(resize(cast(on_device(values.array, a.device()), a.dtype()), Dims{at.size()}));
  }
  const IndexItem item{{}, at};
  setitem(flat, {&item, 1}, v);
  if (!view) assign(a, reshape(flat, a.shape()));
}

void putmask(const Array& a, const Array& mask, const Array& values) {
  BC_CHECK(mask.size() == a.size(), Value, "putmask: mask and data must be the same size");
  if (values.size() == 0) return;
  const Array v = values.shape() == a.shape() || values.ndim() == 0 ? values : resize(values, a.shape());
  assign_where(a, reshape(cast(mask, DType::b1), a.shape()), Arg(v));
}

Array compress(const Array& condition, const Array& a_in, Axis axis, Array out) {
  BC_CHECK(condition.ndim() == 1, Value, "condition must be a 1-d array");
  const Array a = axis ? a_in : ravel(a_in);
  const int d = normalize_axis(axis.value_or(0), a.ndim(), "compress");
  const int64_t n = a.shape()[d], beyond = condition.size() - n;
  if (beyond > 0 && truth_of(reduce(Op::reduce_any, narrow(condition, 0, n, beyond))))
    raise(ErrorKind::Index, "index {} is out of bounds for axis {} with size {}", n, d, n);
  if (!out && a.ndim() == 1 && is_bool(condition.dtype()))
    if (std::optional<Array> few = pick_small(a, condition)) return *few;
  return take(a, nonzero(beside(condition, a))[0], d, "raise", std::move(out));
}

Array extract(const Array& condition, const Array& a) {
  const IndexItem item{{}, nonzero(ravel(beside(condition, a)))[0]};
  return getitem(ravel(a), {&item, 1});
}

Array choose(const Array& a, Arrays choices, std::string_view mode) {
  BC_CHECK(!choices.empty(), Value, "choose: expected at least one choice, got none");
  BC_CHECK(can_cast(a.dtype(), DType::i64, Casting::safe), Type,
           "Cannot cast array data from dtype('{}') to dtype('int64') according to the rule 'safe'", info(a.dtype()).name);
  const int64_t n = static_cast<int64_t>(choices.size());
  const Array at = folded(a, n, mode);
  std::vector<DType> types;
  Dims shape = a.shape();
  for (const Array& c : choices) types.push_back(c.dtype()), shape = broadcast_shapes("choose", shape, c.shape());
  if (mode == "raise" && product(shape) > 0) {
    const Array outside = ufunc(Op::logical_or, {ufunc(Op::less, {at, Arg(0)}), ufunc(Op::greater_equal, {at, Arg(n)})});
    BC_CHECK(!truth_of(reduce(Op::reduce_any, outside)), Value, "invalid entry in choice array");
  }
  const DType t = promote(types);
  Array r = broadcast_to(cast(choices.back(), t), shape);
  const UfuncOptions c_order{.order = 'C'};
  for (int64_t i = n - 1; i-- > 0;) r = ufunc(Op::where, {equal(at, Arg(i)), cast(choices[static_cast<size_t>(i)], t), r}, c_order);
  return n == 1 ? copy(r) : r;
}

Array argwhere(const Array& a) {
  if (a.ndim() == 0) {
    const bool any = truth_of(ufunc(Op::not_equal, {a, Arg(0)}));
    return empty(Dims{any ? 1 : 0, 0}, DType::i64, a.device());
  }
  const std::vector<Array> coordinates = nonzero(a);
  return transpose(stack(coordinates, 0));  // NumPy's layout: one coordinate of all places lies side by side
}

Array flatnonzero(const Array& a) { return nonzero(ravel(a))[0]; }

void fill_diagonal(const Array& a, const Arg& value, bool wrap) {
  BC_CHECK(a.ndim() >= 2, Value, "array must be at least 2-d");
  int64_t step = 0;
  for (int d = 0; d < a.ndim(); ++d) {
    BC_CHECK(a.ndim() == 2 || a.shape()[d] == a.shape()[0], Value, "All dimensions of input must be of equal length");
    step += a.strides()[d];
  }
  // A number that does not fit is refused also where the diagonal is empty.
  if (value.weak != Weak::none) stored_value(value.weak, value.value, a.dtype());
  const int64_t rows = a.shape()[0], columns = a.shape()[1];
  // A tall matrix that wraps starts a new diagonal after each block of columns + 1 rows.
  for (int64_t top = 0, done = 0; top < rows; top += columns + 1) {
    const int64_t n = std::min(rows - top, columns);
    if (n <= 0) break;
    const Array part = a.with_layout({Dims{n}, Dims{step}, a.offset() + top * a.strides()[0]});
    if (value.weak != Weak::none || value.array.size() == 1) {
      assign(part, value.weak == Weak::none ? Arg(reshape(value.array, Dims())) : value);
    } else {
      const Array v = ravel(value.array);
      assign(part, narrow(resize(v, Dims{done + n}), 0, done, n));
    }
    done += n;
    if (a.ndim() > 2 || !wrap) break;
  }
}

}  // namespace bc
