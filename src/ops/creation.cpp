// Arrays made from numbers, and matrices with a diagonal.
#include <cmath>

#include "array/record.h"
#include "core/extents.h"
#include "core/stored_value.h"
#include "ops/compose.h"

namespace bc {
using namespace compose;

Array zeros(const Dims& shape, DType dtype, Device device) { return full(shape, Scalar::integer(0), dtype, device); }
Array ones(const Dims& shape, DType dtype, Device device) { return full(shape, Scalar::integer(1), dtype, device); }

Array empty_like(const Array& a, std::optional<DType> dtype, std::optional<Dims> shape) {
  const auto make = [&](const Dims& s) { return empty(s, dtype.value_or(a.dtype()), a.device()); };
  return shape ? make(*shape) : laid_out(a.shape(), copy_order(a, 'K'), make);
}
Array zeros_like(const Array& a, std::optional<DType> dtype, std::optional<Dims> shape) {
  return zeros(shape.value_or(a.shape()), dtype.value_or(a.dtype()), a.device());
}
Array ones_like(const Array& a, std::optional<DType> dtype, std::optional<Dims> shape) {
  return ones(shape.value_or(a.shape()), dtype.value_or(a.dtype()), a.device());
}
Array full_like(const Array& a, const Arg& value, std::optional<DType> dtype, std::optional<Dims> shape) {
  const Dims to = shape.value_or(a.shape());
  const DType t = dtype.value_or(a.dtype());
  if (value.weak != Weak::none) return full(to, stored_value(value.weak, value.value, t), t, a.device());
  return copy(broadcast_to(cast(value.array, t), to));
}

Array as_array(const Arg& a, Device device) {
  const bool past_int64 = a.weak == Weak::integer && a.value.dtype == DType::u64;
  return stored(a, past_int64 ? DType::u64 : default_dtype(a.weak), device);
}

Array stored_by_cast(const Arg& value, DType dtype, Device device) {
  const bool wraps = value.weak == Weak::integer && value.value.dtype != DType::f64 && is_integer(dtype);
  return wraps && !integer_fits(value.value, dtype) ? cast(as_array(value, device), dtype) : stored(value, dtype, device);
}

namespace {

Device device_for(std::initializer_list<Arg> args, Device otherwise) {
  for (const Arg& a : args)
    if (a.weak == Weak::none) return a.array.device();
  return otherwise;
}

int ndim_of(const Arg& a) { return a.weak == Weak::none ? a.array.ndim() : 0; }

void check_count(int64_t num) { BC_CHECK(num >= 0, Value, "Number of samples, {}, must be non-negative.", num); }

}  // namespace

Array linspace(const Arg& start, const Arg& stop, int64_t num, bool endpoint, std::optional<DType> dtype, int64_t axis, Device device,
               Array* step_out) {
  check_count(num);
  device = device_for({start, stop}, device);
  const int64_t div = endpoint ? num - 1 : num;
  // Integers count as floats: NumPy multiplies both ends by 1.0 first.
  auto floating = [](const Arg& a) {
    BC_CHECK(!a.array || !is_time(a.array.dtype()), Type, "linspace: expected numbers, got {}; use arange", info(a.array.dtype()).name);
    if (a.weak == Weak::none) return is_inexact(a.array.dtype()) ? a : Arg(cast(a.array, DType::f64));
    return a.weak == Weak::complex ? a : Arg(a.value.as_double());
  };
  const Arg first = floating(start), last = floating(stop);
  const DType dt = result_type({start, stop, Arg(1.0)});
  const int nd = std::max(ndim_of(first), ndim_of(last));
  Array y = cast(index_along(num, 0, nd + 1, device), dt);

  Arg end = last;
  if (first.weak != Weak::none && last.weak != Weak::none && !is_complex(dt)) {
    const double from = first.value.f, delta = last.value.f - from;
    double step = std::numeric_limits<double>::quiet_NaN();
    if (div > 0) {
      step = delta / static_cast<double>(div);
      y = step == 0 ? multiply(divide(y, Arg(static_cast<double>(div))), Arg(delta)) : multiply(y, Arg(step));
    } else {
      y = multiply(y, Arg(delta));
    }
    y = add(y, Arg(from));
    if (step_out) *step_out = full(Dims(), Scalar::real(step), dt, device);
  } else {
    const Array from = cast(as_array(first, device), dt), to = cast(as_array(last, device), dt);
    const Array delta = subtract(to, from);
    end = Arg(to);
    if (div > 0) {
      const Array step = divide(delta, Arg(static_cast<double>(div)));
      y = choose_where(equal(step, Arg(0.0)), multiply(divide(y, Arg(static_cast<double>(div))), delta), multiply(y, step));
      if (step_out) *step_out = step;
    } else {
      y = multiply(y, delta);
      if (step_out) *step_out = full(delta.shape(), Scalar::real(std::numeric_limits<double>::quiet_NaN()), dt, device);
    }
    y = add(y, from);
  }
  if (endpoint && num > 1) y = choose_where(equal(index_along(num, 0, y.ndim(), device), Arg(num - 1)), end, y);
  if (dtype && is_integer(*dtype)) y = ufunc(Op::floor, {y});
  y = cast(y, dtype.value_or(dt));
  return axis == 0 ? y : moveaxis(y, {0}, {axis});
}

Array logspace(const Arg& start, const Arg& stop, int64_t num, bool endpoint, const Arg& base, std::optional<DType> dtype, int64_t axis,
               Device device) {
  device = device_for({start, stop, base}, device);
  // An array of bases takes part in the broadcast, behind the axis of samples, as an axis of extent 1.
  const int nd = std::max({ndim_of(start), ndim_of(stop), ndim_of(base)});
  auto widen = [&](const Arg& a) {
    if (a.weak != Weak::none || a.array.ndim() == nd) return a;
    Array w = a.array;
    while (w.ndim() < nd) w = insert_axis(w, 0);
    return Arg(w);
  };
  Array y = linspace(widen(start), widen(stop), num, endpoint, {}, 0, device);
  while (y.ndim() < nd + 1) y = insert_axis(y, y.ndim());
  y = ufunc(Op::power, {widen(base), y});
  if (dtype) y = cast(y, *dtype);
  return axis == 0 ? y : moveaxis(y, {0}, {axis});
}

Array geomspace(const Arg& start, const Arg& stop, int64_t num, bool endpoint, std::optional<DType> dtype, int64_t axis, Device device) {
  check_count(num);
  device = device_for({start, stop}, device);
  auto has_zero = [&](const Arg& a) {
    if (a.weak == Weak::none) return truth_of(reduce(Op::reduce_any, equal(a.array, Arg(0))));
    return a.value.as_double() == 0 && a.value.imag == 0;
  };
  BC_CHECK(!has_zero(start) && !has_zero(stop), Value, "Geometric sequence cannot include zero");
  const DType dt = promote(result_type({start, stop, Arg(1.0)}), dtype.value_or(DType::f64));  // as NumPy: never narrower by itself
  Array first = cast(as_array(start, device), dt), last = cast(as_array(stop, device), dt);
  const Array sign = ufunc(Op::sign, {first});
  first = divide(first, sign);
  last = divide(last, sign);
  Array y = logspace(ufunc(Op::log10, {first}), ufunc(Op::log10, {last}), num, endpoint, Arg(10.0), dt, 0, device);
  const Array at = index_along(num, 0, y.ndim(), device);
  if (num > 0) y = choose_where(equal(at, Arg(0)), first, y);
  if (num > 1 && endpoint) y = choose_where(equal(at, Arg(num - 1)), last, y);
  y = multiply(y, sign);
  if (axis != 0) y = moveaxis(y, {0}, {axis});
  return dtype ? cast(y, *dtype) : y;
}

Array eye(int64_t n, std::optional<int64_t> m, int64_t k, DType dtype, Device device) {
  const int64_t columns = m.value_or(n);
  BC_CHECK(n >= 0 && columns >= 0, Value, "negative dimensions are not allowed");
  (void)extent_product(extent_product(n, columns), itemsize(dtype));  // raises where no memory could hold the array
  k = std::clamp(k, -n - 1, columns + 1);
  return cast(equal(add(index_along(n, 0, 2, device), Arg(k)), index_along(columns, 1, 2, device)), dtype);
}
Array identity(int64_t n, DType dtype, Device device) { return eye(n, n, 0, dtype, device); }

Array diagonal(const Array& a, int64_t offset, int64_t axis1, int64_t axis2) {
  BC_CHECK(a.ndim() >= 2, Value, "diag requires an array of at least two dimensions");
  const int x = normalize_axis(axis1, a.ndim(), "diagonal"), y = normalize_axis(axis2, a.ndim(), "diagonal");
  BC_CHECK(x != y, Value, "axis1 and axis2 cannot be the same");
  const Layout& from = a.layout();
  const int64_t rows = from.shape[x], columns = from.shape[y];
  Layout l;
  l.offset = from.offset;
  const int64_t count =
      offset >= 0 ? std::min(rows, columns - std::min(offset, columns)) : std::min(rows + std::max(offset, -rows), columns);
  if (count > 0) l.offset += offset >= 0 ? offset * from.strides[y] : -offset * from.strides[x];
  for (int d = 0; d < a.ndim(); ++d)
    if (d != x && d != y) l.shape.push_back(from.shape[d]), l.strides.push_back(from.strides[d]);
  l.shape.push_back(count);
  l.strides.push_back(from.strides[x] + from.strides[y]);
  return a.with_layout(std::move(l));
}

Array diag(const Array& a, int64_t k) {
  BC_CHECK(a.ndim() == 1 || a.ndim() == 2, Value, "Input must be 1- or 2-d.");
  if (a.ndim() == 2) return diagonal(a, k);
  const int64_t n = a.size() + std::abs(k);
  if (k == 0) {
    const Array on = equal(index_along(n, 0, 2, a.device()), index_along(n, 1, 2, a.device()));
    return choose_where(on, insert_axis(a, 1), zeros(Dims(), a.dtype(), a.device()));
  }
  const Array r = zeros(Dims{n, n}, a.dtype(), a.device());
  assign(diagonal(r, k), a);
  return r;
}
Array diagflat(const Array& a, int64_t k) { return diag(ravel(a), k); }

Array trace(const Array& a, int64_t offset, int64_t axis1, int64_t axis2, std::optional<DType> dtype, Array out) {
  ReduceOptions o = over({-1});
  o.dtype = dtype;
  o.out = std::move(out);
  return sum(diagonal(a, offset, axis1, axis2), o);
}

Array tri(int64_t n, std::optional<int64_t> m, int64_t k, DType dtype, Device device) {
  const int64_t columns = m.value_or(n);
  BC_CHECK(n >= 0 && columns >= 0, Value, "negative dimensions are not allowed");
  k = std::clamp(k, -n - 1, columns + 1);
  return cast(ufunc(Op::greater_equal, {index_along(n, 0, 2, device), subtract(index_along(columns, 1, 2, device), Arg(k))}), dtype);
}

namespace {
Array mask_for(const Array& a, int64_t k) {
  BC_CHECK(a.ndim() >= 1, Type, "tri() missing 1 required positional argument: 'N'");
  const int64_t columns = a.shape().back(), rows = a.ndim() > 1 ? a.shape()[a.ndim() - 2] : columns;
  return tri(rows, columns, k, DType::b1, a.device());
}
}  // namespace

Array tril(const Array& a, int64_t k) { return choose_where(mask_for(a, k), a, zeros(Dims(), a.dtype(), a.device())); }
Array triu(const Array& a, int64_t k) { return choose_where(mask_for(a, k - 1), zeros(Dims(), a.dtype(), a.device()), a); }

Array vander(const Array& x, std::optional<int64_t> n, bool increasing) {
  BC_CHECK(x.ndim() == 1, Value, "x must be a one-dimensional array or sequence.");
  const int64_t columns = n.value_or(x.size());
  const DType t = promote(x.dtype(), DType::i64);
  Array r = empty(Dims{x.size(), columns}, t, x.device());
  const Array to = increasing ? r : flip(r, Axes{1});
  // Running products, as NumPy: the powers are those of repeated multiplication.
  if (columns > 0) assign(pick(to, 1, 0), Arg(1));
  if (columns > 1) {
    const Array rest = narrow(to, 1, 1, columns - 1);
    assign(rest, accumulate(Op::multiply, broadcast_to(insert_axis(cast(x, t), 1), rest.shape()), 1));
  }
  return r;
}

std::vector<Array> meshgrid(Arrays arrays, std::string_view indexing, bool sparse, bool copies) {
  BC_CHECK(indexing == "xy" || indexing == "ij", Value, "Valid values for `indexing` are 'xy' and 'ij'.");
  const int nd = static_cast<int>(arrays.size());
  std::vector<Array> r;
  for (int i = 0; i < nd; ++i) {
    Dims shape(nd, 1);
    shape[indexing == "xy" && nd > 1 && i < 2 ? 1 - i : i] = -1;
    if (arrays[i].size() == 0) *std::find(shape.begin(), shape.end(), -1) = 0;
    r.push_back(reshape(arrays[i], shape));
  }
  if (!sparse) r = broadcast_arrays(r);
  if (copies)
    for (Array& a : r) a = copy(a);
  return r;
}

Array indices(const Dims& shape, DType dtype, Device device) {
  const int nd = shape.size();
  Dims all = shape;
  all.insert(0, nd);
  const Array r = empty(all, dtype, device);
  for (int d = 0; d < nd; ++d) assign(pick(r, 0, d), index_along(shape[d], d, nd, device));
  return r;
}

std::vector<Array> indices_sparse(const Dims& shape, DType dtype, Device device) {
  std::vector<Array> r;
  for (int d = 0; d < shape.size(); ++d) r.push_back(cast(index_along(shape[d], d, shape.size(), device), dtype));
  return r;
}

}  // namespace bc
