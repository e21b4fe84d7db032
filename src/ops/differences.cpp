// Differences of neighbours along an axis, and what is computed of them.
#include <algorithm>

#include "core/time_unit.h"
#include "ops/compose.h"

namespace bc {
using namespace compose;

Array diff(const Array& a_in, int64_t n, int64_t axis, const std::optional<Array>& prepend, const std::optional<Array>& append) {
  if (n == 0) return a_in;
  BC_CHECK(n > 0, Value, "order must be non-negative but got {}", n);
  BC_CHECK(a_in.ndim() > 0, Value, "diff requires input that is at least one dimensional");
  const int d = normalize_axis(axis, a_in.ndim(), "diff");
  Array a = a_in;
  if (prepend || append) {
    std::vector<Array> all;
    auto part = [&](const std::optional<Array>& p) {
      if (!p) return;
      Dims shape = a_in.shape();
      shape[d] = 1;
      all.push_back(p->ndim() == 0 ? broadcast_to(*p, shape) : *p);
    };
    part(prepend);
    all.push_back(a_in);
    part(append);
    a = concatenate(all, d);
  }
  const Op op = is_bool(a.dtype()) ? Op::not_equal : Op::subtract;
  for (; n > 0; --n) {
    const int64_t left = std::max<int64_t>(a.shape()[d] - 1, 0);
    a = ufunc(op, {narrow(a, d, std::min<int64_t>(1, a.shape()[d]), left), narrow(a, d, 0, left)});
  }
  return a;
}

Array ediff1d(const Array& a_in, const std::optional<Array>& to_end, const std::optional<Array>& to_begin) {
  const Array a = ravel(a_in);
  const int64_t left = std::max<int64_t>(a.size() - 1, 0);
  const Array d = subtract(narrow(a, 0, std::min<int64_t>(1, a.size()), left), narrow(a, 0, 0, left));
  std::vector<Array> all;
  for (const auto* extra : {&to_begin, &to_end})
    BC_CHECK(!*extra || can_cast((*extra)->dtype(), a.dtype(), Casting::same_kind), Type,
             "dtype of `{}` must be compatible with input `ary` under the `same_kind` rule.", extra == &to_begin ? "to_begin" : "to_end");
  if (to_begin) all.push_back(cast(ravel(*to_begin), a.dtype()));
  all.push_back(d);
  if (to_end) all.push_back(cast(ravel(*to_end), a.dtype()));
  return all.size() == 1 ? d : concatenate(all);
}

Array trapezoid(const Array& y, const std::optional<Array>& x, const Arg& dx, int64_t axis) {
  const int d = normalize_axis(axis, y.ndim(), "trapezoid");
  Arg step = dx;
  if (x) {
    Array w = diff(*x, 1, x->ndim() == 1 ? 0 : axis);
    if (x->ndim() == 1)
      for (int i = 0; i < y.ndim() - 1; ++i) w = insert_axis(w, i < d ? 0 : w.ndim());
    step = Arg(w);
  }
  const int64_t left = std::max<int64_t>(y.shape()[d] - 1, 0);
  const Array pairs = add(narrow(y, d, std::min<int64_t>(1, y.shape()[d]), left), narrow(y, d, 0, left));
  return sum(divide(multiply(step, pairs), Arg(2.0)), over({axis}));  // of what `x` may have made wider
}

namespace {

/// c * h and c / h. A Python number stays one: as an array it would widen small floats.
Arg scaled(double c, const Arg& h) { return h.weak == Weak::none ? Arg(multiply(Arg(c), h)) : Arg(c * h.value.as_double()); }
Arg inverse(double c, const Arg& h) { return h.weak == Weak::none ? Arg(divide(Arg(c), h)) : Arg(c / h.value.as_double()); }

/// a * x + b * y + c * z.
Array weighted(const Arg& a, const Array& x, const Arg& b, const Array& y, const Arg& c, const Array& z) {
  return add(add(multiply(a, x), multiply(b, y)), multiply(c, z));
}

bool is_number(const Spacing& s) { return s.value.weak != Weak::none || s.value.array.ndim() == 0; }

/// The distances between coordinates along axis `d` of an array, or the distance where all are seen to be the same.
Arg distances(const Spacing& s, const Array& x, int d) {
  if (s.value.weak != Weak::none) return s.value;
  Array h = s.value.array;
  if (!is_number(s)) {
    BC_CHECK(h.ndim() == 1, Value, "distances must be either scalars or 1d");
    BC_CHECK(h.size() == x.shape()[d], Value, "when 1d, distances must match the length of the corresponding dimension");
    h = diff(is_integer(h.dtype()) ? cast(h, DType::f64) : h, 1, 0);
    if (s.seen && h.size() > 0 && truth_of(reduce(Op::reduce_all, equal(h, pick(h, 0, 0))))) h = pick(h, 0, 0);
  }
  return Arg(h.device() == x.device() ? h : to_device(h, x.device()));
}

/// Writes the derivative along axis `d` over a constant spacing: differences of second order inside, of `order` at the ends.
void even_gradient(const Array& x, const Arg& h, int d, int64_t order, const Array& to) {
  const int64_t n = x.shape()[d];
  const auto at = [&](int64_t i) { return pick(x, d, i < 0 ? n + i : i); };
  assign(narrow(to, d, 1, n - 2), divide(subtract(narrow(x, d, 2, n - 2), narrow(x, d, 0, n - 2)), scaled(2.0, h)));
  if (order == 1) {
    assign(pick(to, d, 0), divide(subtract(at(1), at(0)), h));
    assign(pick(to, d, n - 1), divide(subtract(at(-1), at(-2)), h));
  } else {
    assign(pick(to, d, 0), weighted(inverse(-1.5, h), at(0), inverse(2.0, h), at(1), inverse(-0.5, h), at(2)));
    assign(pick(to, d, n - 1), weighted(inverse(0.5, h), at(-3), inverse(-2.0, h), at(-2), inverse(1.5, h), at(-1)));
  }
}

/// The same over distances `h`: the derivative of the parabola through three neighbours.
void uneven_gradient(const Array& x, const Array& h, int d, int64_t order, const Array& to) {
  const int64_t n = x.shape()[d];
  const auto at = [&](int64_t i) { return pick(x, d, i < 0 ? n + i : i); };
  const auto minus = [](const Array& a) { return ufunc(Op::negative, {a}); };
  Dims along(x.ndim(), 1);
  along[d] = n - 2;
  const Array before = reshape(narrow(h, 0, 0, n - 2), along), after = reshape(narrow(h, 0, 1, n - 2), along), both = add(before, after);
  assign(narrow(to, d, 1, n - 2), weighted(divide(minus(after), multiply(before, both)), narrow(x, d, 0, n - 2),
                                           divide(subtract(after, before), multiply(before, after)), narrow(x, d, 1, n - 2),
                                           divide(before, multiply(after, both)), narrow(x, d, 2, n - 2)));
  const auto step = [&](int64_t i) { return pick(h, 0, i < 0 ? n - 1 + i : i); };
  if (order == 1) {
    assign(pick(to, d, 0), divide(subtract(at(1), at(0)), step(0)));
    assign(pick(to, d, n - 1), divide(subtract(at(-1), at(-2)), step(-1)));
    return;
  }
  // The parabola's derivative at an end whose neighbours lie at the distances p and then q.
  const auto end = [&](const Array& p, const Array& q, const Array& first, const Array& second, const Array& third) {
    const Array sum = add(p, q);
    return weighted(divide(minus(add(multiply(Arg(2.0), p), q)), multiply(p, sum)), first, divide(sum, multiply(p, q)), second,
                    divide(minus(p), multiply(q, sum)), third);
  };
  assign(pick(to, d, 0), end(step(0), step(1), at(0), at(1), at(2)));
  assign(pick(to, d, n - 1), minus(end(step(-1), step(-2), at(-1), at(-2), at(-3))));
}

}  // namespace

std::vector<Array> gradient(const Array& f, std::span<const Spacing> given, const std::optional<Axes>& axes_in, int64_t edge_order) {
  std::vector<int> axes;
  if (axes_in)
    for (int64_t axis : *axes_in) axes.push_back(normalize_axis(axis, f.ndim(), "gradient"));
  else
    for (int d = 0; d < f.ndim(); ++d) axes.push_back(d);
  for (size_t k = 0; k < axes.size(); ++k)
    BC_CHECK(std::find(axes.begin(), axes.begin() + static_cast<long>(k), axes[k]) == axes.begin() + static_cast<long>(k), Value,
             "repeated axis");
  std::vector<Spacing> spacings(given.begin(), given.end());
  if (spacings.empty()) spacings.push_back({Arg(1.0)});
  if (spacings.size() == 1 && is_number(spacings[0])) spacings.resize(axes.size(), spacings[0]);
  BC_CHECK(spacings.size() == axes.size(), Type, "invalid number of arguments");
  BC_CHECK(edge_order <= 2, Value, "'edge_order' greater than 2 not supported");
  Array x = is_integer(f.dtype()) ? cast(f, DType::f64) : f;
  if (is_datetime(x.dtype())) x = x.seen_as(timedelta_type(unit_of(x.dtype())), x.layout());  // dates differ by durations
  std::vector<Arg> steps;
  for (size_t k = 0; k < axes.size(); ++k) steps.push_back(distances(spacings[k], x, axes[k]));
  std::vector<Array> results;
  for (size_t k = 0; k < axes.size(); ++k) {
    BC_CHECK(x.shape()[axes[k]] >= edge_order + 1, Value,
             "Shape of array too small to calculate a numerical gradient, at least (edge_order + 1) elements are required.");
    const Array& to = results.emplace_back(empty_like(x, is_bool(x.dtype()) ? std::optional(DType::f64) : std::nullopt));
    const Arg& h = steps[k];
    if (h.weak == Weak::none && h.array.ndim() > 0)
      uneven_gradient(x, h.array, axes[k], edge_order, to);
    else
      even_gradient(x, h, axes[k], edge_order, to);
  }
  return results;
}

Array unwrap(const Array& x, const std::optional<Arg>& discont, int64_t axis, const Arg& period) {
  const int a = normalize_axis(axis, x.ndim(), "unwrap");
  const Array d = diff(x, 1, a);
  const bool whole = (is_bool(x.dtype()) || is_integer(x.dtype())) && is_integer(dtype_of(period));
  const Arg half = scaled(0.5, period);
  const Arg high = !whole ? half : period.weak == Weak::none ? Arg(ufunc(Op::floor_divide, {period, Arg(2)})) : Arg(period.value.i >> 1);
  const Arg low = high.weak == Weak::none      ? Arg(ufunc(Op::negative, {high}))
                  : high.weak == Weak::integer ? Arg(-high.value.i)
                                               : Arg(-high.value.as_double());
  Array wrapped = add(ufunc(Op::remainder, {subtract(d, low), period}), low);
  // A jump of just half a period keeps its sign; with an odd whole period there is none.
  if (!whole || (period.weak == Weak::none ? item(period.array) : period.value).i % 2 == 0) {
    const Array at_low = ufunc(Op::bitwise_and, {equal(wrapped, low), ufunc(Op::greater, {d, Arg(0)})});
    wrapped = choose_where(at_low, high, wrapped);
  }
  const Array jump = choose_where(ufunc(Op::less, {absolute(d), discont ? *discont : half}), Arg(0), subtract(wrapped, d));
  const Array result = astype(x, result_type({Arg(d), period}));
  const int64_t n = std::max<int64_t>(x.shape()[a] - 1, 0), first = std::min<int64_t>(1, x.shape()[a]);
  assign(narrow(result, a, first, n), add(narrow(x, a, first, n), cumsum(jump, a)));
  return result;
}

}  // namespace bc
