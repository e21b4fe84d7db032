// Statistics, with and without NaN, and norms.
#include <algorithm>
#include <cmath>

#include "array/history.h"
#include "ops/compose.h"
#include "ops/linalg.h"

namespace bc {
using namespace compose;

namespace {

bool has_nan(const Array& a) { return is_inexact(a.dtype()); }

Array replace_nan(const Array& a, double value) {
  return choose_where(isnan(a), full(Dims(), Scalar::real(value), a.dtype(), a.device()), a);
}

/// The axes as indices, all of them for nullopt.
std::vector<int> axes_of(const Array& a, const std::optional<Axes>& axes, const char* op) {
  std::vector<int> r;
  if (!axes)
    for (int d = 0; d < a.ndim(); ++d) r.push_back(d);
  else
    for (int64_t axis : *axes) r.push_back(normalize_axis(axis, a.ndim(), op));
  return r;
}

}  // namespace

Array ptp(const Array& a, const ReduceOptions& options) {
  const ReduceOptions o{.axes = options.axes,
                        .keepdims = options.keepdims,
                        .dtype = options.dtype,
                        .initial = options.initial,
                        .no_identity = options.no_identity,
                        .where = options.where};
  return deliver("ptp", subtract(reduce(Op::reduce_max, a, o), reduce(Op::reduce_min, a, o)), options.out);
}

ArrayPair average(const Array& a, const std::optional<Axes>& axes, const std::optional<Array>& weights, bool keepdims) {
  ReduceOptions o;
  o.axes = axes;
  o.keepdims = keepdims;
  if (!weights) {
    const Array mean = reduce(Op::reduce_mean, a, o);
    const int64_t n = mean.size();
    return {mean,
            full(mean.shape(), Scalar::real(n ? static_cast<double>(a.size()) / static_cast<double>(n) : 0), mean.dtype(), a.device())};
  }
  Array w = *weights;
  if (!(w.shape() == a.shape())) {
    BC_CHECK(axes, Type, "Axis must be specified when shapes of a and weights differ.");
    const std::vector<int> at = axes_of(a, axes, "average");
    Dims expected;
    for (int d : at) expected.push_back(a.shape()[d]);
    BC_CHECK(w.shape() == expected, Value,
             "Shape of weights must be consistent with shape of a along specified axis. Expected weights of shape {}, got {}", expected,
             w.shape());
    Layout l;
    l.offset = w.offset();
    l.shape = Dims(a.ndim(), 1);
    l.strides = Dims(a.ndim(), 0);
    for (size_t i = 0; i < at.size(); ++i) {
      l.shape[at[i]] = w.shape()[static_cast<int>(i)];
      l.strides[at[i]] = w.strides()[static_cast<int>(i)];
    }
    w = w.with_layout(std::move(l));
  }
  DType t = promote(a.dtype(), w.dtype());
  if (!is_inexact(a.dtype())) t = promote(t, DType::f64);
  ReduceOptions typed = o;
  typed.dtype = t;
  const Array scale = sum(w, typed);
  BC_CHECK(!truth_of(reduce(Op::reduce_any, equal(scale, Arg(0)))), ZeroDivision, "Weights sum to zero, can't be normalized");
  const Array mean = divide(sum(ufunc(Op::multiply, {a, w}, {.dtype = t}), o), scale);
  return {mean, scale.shape() == mean.shape() ? scale : copy(broadcast_to(scale, mean.shape()))};
}

Array nansum(const Array& a, const ReduceOptions& options) { return reduce(Op::reduce_sum, has_nan(a) ? replace_nan(a, 0) : a, options); }
Array nanprod(const Array& a, const ReduceOptions& options) { return reduce(Op::reduce_prod, has_nan(a) ? replace_nan(a, 1) : a, options); }
Array nanmax(const Array& a, const ReduceOptions& options) { return reduce(Op::reduce_fmax, a, options); }
Array nanmin(const Array& a, const ReduceOptions& options) { return reduce(Op::reduce_fmin, a, options); }

namespace {

/// The mask of the elements that count: neither NaN nor excluded by `where`.
Array counted(const Array& a, const ReduceOptions& options) {
  const Array valid = logical_not(isnan(a));
  return options.where ? ufunc(Op::logical_and, {valid, options.where}) : valid;
}

ReduceOptions plain(const ReduceOptions& options) {
  ReduceOptions o;
  o.axes = options.axes;
  o.keepdims = options.keepdims;
  return o;
}

Array zero_of(const Array& a) { return full(Dims(), Scalar::integer(0), a.dtype(), a.device()); }

}  // namespace

Array nanmean(const Array& a, const ReduceOptions& options) {
  if (!has_nan(a)) return reduce(Op::reduce_mean, a, options);
  BC_CHECK(!options.dtype || is_inexact(*options.dtype), Type, "If a is inexact, then dtype must be inexact");
  const Array valid = counted(a, options);
  ReduceOptions typed = plain(options);
  typed.dtype = options.dtype;
  const Array count = reduce(Op::reduce_count_nonzero, valid, plain(options));
  const Array total = sum(choose_where(valid, a, zero_of(a)), typed);
  return deliver("nanmean", divide(total, cast(count, real_type(total.dtype()))), options.out);
}

Array nanvar(const Array& a, const ReduceOptions& options) {
  if (!has_nan(a)) return reduce(Op::reduce_var, a, options);
  BC_CHECK(!options.dtype || is_inexact(*options.dtype), Type, "If a is inexact, then dtype must be inexact");
  const Array valid = counted(a, options);
  ReduceOptions keep = plain(options);
  keep.keepdims = true;
  const Array count = reduce(Op::reduce_count_nonzero, valid, keep);
  keep.dtype = options.dtype;
  const Array total = sum(choose_where(valid, a, zero_of(a)), keep);
  const Array mean = divide(total, cast(count, real_type(total.dtype())));
  // The distance from the mean, zero where nothing counts, squared.
  const Array away = choose_where(valid, subtract(a, mean), zero_of(mean));
  const Array squares = is_complex(away.dtype()) ? ufunc(Op::square, {absolute(away)}) : ufunc(Op::square, {away});
  ReduceOptions last = plain(options);
  const Array n = reduce(Op::reduce_count_nonzero, valid, last);
  last.dtype = options.dtype;
  const Array sums = sum(squares, last);
  const Array degrees = subtract(cast(n, sums.dtype()), Arg(options.ddof));
  const Array nan = full(Dims(), Scalar::real(std::numeric_limits<double>::quiet_NaN()), sums.dtype(), a.device());
  return deliver("nanvar", choose_where(ufunc(Op::less_equal, {degrees, Arg(0.0)}), nan, divide(sums, degrees)), options.out);
}

Array nanstd(const Array& a, const ReduceOptions& options) {
  if (!has_nan(a)) return reduce(Op::reduce_std, a, options);
  ReduceOptions o = options;
  o.out = Array();
  return deliver("nanstd", ufunc(Op::sqrt, {nanvar(a, o)}), options.out);
}

namespace {
Array nanarg(Op op, const Array& a, Axis axis, bool keepdims, const Array& out, double filler) {
  ReduceOptions o;
  if (axis) o.axes = Axes{*axis};
  o.keepdims = keepdims;
  const int64_t slice = axis ? a.shape()[normalize_axis(*axis, a.ndim(), info(op).name)] : a.size();
  BC_CHECK(slice > 0, Value, "attempt to get {} of an empty sequence", info(op).name);
  Array from = a;
  if (has_nan(a)) {
    const Array all = reduce(Op::reduce_all, isnan(a), o);
    BC_CHECK(a.size() == 0 || !truth_of(reduce(Op::reduce_any, all)), Value, "All-NaN slice encountered");
    from = replace_nan(a, filler);
  }
  o.out = out;
  return reduce(op, from, o);
}
}  // namespace

Array nanargmax(const Array& a, Axis axis, bool keepdims, Array out) {
  return nanarg(Op::reduce_argmax, a, axis, keepdims, out, -std::numeric_limits<double>::infinity());
}
Array nanargmin(const Array& a, Axis axis, bool keepdims, Array out) {
  return nanarg(Op::reduce_argmin, a, axis, keepdims, out, std::numeric_limits<double>::infinity());
}

Array var_about(const Array& a, const Arg& mean, const ReduceOptions& options, bool root) {
  const Array away = ufunc(Op::subtract, {a, mean});
  const Array squares = ufunc(Op::square, {is_complex(away.dtype()) ? absolute(away) : away});
  ReduceOptions o = plain(options);
  o.where = options.where;
  o.dtype = options.dtype || is_inexact(a.dtype()) ? options.dtype : DType::f64;
  const Array total = sum(squares, o);
  const DType t = total.dtype(), count = is_inexact(t) ? real_type(t) : DType::f64;
  Array left;
  if (options.where) {
    const Array n = reduce(Op::reduce_count_nonzero, broadcast_to(options.where, a.shape()), plain(options));
    left = ufunc(Op::maximum, {subtract(cast(n, count), Arg(options.ddof)), Arg(0.0)});
  } else {
    int64_t n = 1;
    for (int d : axes_of(a, options.axes, root ? "std" : "var")) n *= a.shape()[d];
    left = full(Dims(), Scalar::real(std::max(static_cast<double>(n) - options.ddof, 0.0)), count, a.device());
  }
  Array r = cast(divide(total, left), t);
  if (root) r = cast(ufunc(Op::sqrt, {r}), t);
  return deliver(root ? "std" : "var", r, options.out);
}

Array cov(const Array& m, const std::optional<Array>& y, bool rowvar, bool bias, std::optional<double> ddof) {
  BC_CHECK(m.ndim() <= 2, Value, "m has more than 2 dimensions");
  DType t = promote(m.dtype(), DType::f64);
  if (y) {
    BC_CHECK(y->ndim() <= 2, Value, "y has more than 2 dimensions");
    t = promote(t, y->dtype());
  }
  Array x = cast(atleast_2d(m), t);
  if (!rowvar && m.ndim() != 1) x = transpose(x);
  if (x.shape()[0] == 0) return empty(Dims{0, 0}, DType::f64, m.device());
  if (y) {
    Array other = cast(atleast_2d(*y), t);
    if (!rowvar && other.shape()[0] != 1) other = transpose(other);
    const Array both[] = {x, other};
    x = concatenate(both, 0);
  }
  const double left = std::max(static_cast<double>(x.shape()[1]) - ddof.value_or(bias ? 0.0 : 1.0), 0.0);
  x = subtract(x, reduce(Op::reduce_mean, x, over({1}, true)));
  const Array c = matmul(x, transpose(is_complex(t) ? ufunc(Op::conj, {x}) : x));
  return squeeze(multiply(c, Arg(1.0 / left)));
}

Array corrcoef(const Array& x, const std::optional<Array>& y, bool rowvar) {
  const Array c = cov(x, y, rowvar);
  if (c.ndim() == 0) return divide(c, c);
  const Array spread = ufunc(Op::sqrt, {ufunc(Op::real, {diagonal(c)})});
  const Array r = divide(divide(c, insert_axis(spread, 1)), insert_axis(spread, 0));
  if (!is_complex(r.dtype())) return clip(r, Arg(-1.0), Arg(1.0));
  const Array out = empty(r.shape(), r.dtype(), r.device());
  assign(real(out), clip(real(r), Arg(-1.0), Arg(1.0)));
  assign(imag(out), clip(imag(r), Arg(-1.0), Arg(1.0)));
  return out;
}

namespace {

Array squared_size(const Array& a) {
  if (!is_complex(a.dtype())) return ufunc(Op::square, {a});
  return add(ufunc(Op::square, {ufunc(Op::real, {a})}), ufunc(Op::square, {ufunc(Op::imag, {a})}));
}

Array inexact(const Array& a) { return is_inexact(a.dtype()) ? a : cast(a, DType::f64); }

}  // namespace

Array vector_norm(const Array& a_in, const NormOrder& order, const std::optional<Axes>& axes, bool keepdims) {
  BC_CHECK(order.kind == NormOrder::Kind::none || order.kind == NormOrder::Kind::number, Value, "Invalid norm order '{}' for vectors",
           order.name);
  const Array a = inexact(a_in);
  const double p = order.kind == NormOrder::Kind::none ? 2 : order.number;
  ReduceOptions o;
  o.axes = axes;
  o.keepdims = keepdims;
  if (std::isinf(p)) {
    if (p > 0 && a.size() == 0) o.initial = Arg(0.0);  // the norm of nothing is zero
    return reduce(p > 0 ? Op::reduce_max : Op::reduce_min, absolute(a), o);
  }
  if (p == 0) return sum(cast(ufunc(Op::not_equal, {a, Arg(0)}), real_type(a.dtype())), o);
  if (p == 1) return sum(absolute(a), o);
  const auto root = [&](const Array& s) { return p == 2 ? ufunc(Op::sqrt, {s}) : ufunc(Op::power, {s, Arg(1.0 / p)}); };
  const Array powers = sum(p == 2 ? squared_size(a) : ufunc(Op::power, {absolute(a), Arg(p)}), o);
  if (!bc::has_history(a)) return root(powers);
  // The derivative at zero is 0, one of the subgradients; a root's own is infinite there.
  const Array zero = ufunc(Op::equal, {powers, Arg(0)});
  return ufunc(Op::where, {zero, Arg(0), root(ufunc(Op::where, {zero, Arg(1), powers}))});
}

namespace {

/// The norm of the matrices in axes `row` and `column`, whose axes stay with extent 1.
Array matrix_norm(const Array& a, const NormOrder& order, int row, int column) {
  using Kind = NormOrder::Kind;
  const Axes both{row, column};
  if (order.kind == Kind::none || order.kind == Kind::frobenius) return vector_norm(a, 2.0, both, true);
  const double p = order.kind == Kind::number ? order.number : 2;
  BC_CHECK(order.kind != Kind::unknown && (std::abs(p) == 1 || std::abs(p) == 2 || std::isinf(p)), Value,
           "Invalid norm order for matrices.");
  const auto extreme = [&](const Array& values, int axis) {
    ReduceOptions o = over({axis}, true);
    if (p > 0) o.initial = Arg(0.0);
    return reduce(p > 0 ? Op::reduce_max : Op::reduce_min, values, o);
  };
  if (std::abs(p) != 2) {
    const int summed = std::abs(p) == 1 ? row : column;
    return extreme(sum(absolute(a), over({summed}, true)), summed == row ? column : row);
  }
  const Array values = linalg::svd(moveaxis(a, both, {-2, -1}), Vectors::none)[0];  // which refuses half precision, as NumPy does
  const int last = values.ndim() - 1;
  const Array r = order.kind == Kind::nuclear ? sum(values, over({last}, true)) : extreme(values, last);
  return expand_dims(squeeze(r, Axes{last}), Axes{std::min(row, column), std::max(row, column)});
}

}  // namespace

Array norm(const Array& a_in, const NormOrder& order, const std::optional<Axes>& axes, bool keepdims) {
  using Kind = NormOrder::Kind;
  const Array a = inexact(a_in);
  const bool all = order.kind == Kind::none || (order.kind == Kind::frobenius && a.ndim() == 2);
  if (!axes && all) return vector_norm(a, 2.0, axes, keepdims);
  const std::vector<int> at = axes_of(a, axes, "norm");
  BC_CHECK(at.size() == 1 || at.size() == 2, Value, "Improper number of dimensions to norm.");
  if (at.size() == 1) return vector_norm(a, order, Axes{at[0]}, keepdims);
  BC_CHECK(at[0] != at[1], Value, "Duplicate axes given.");
  const Array r = matrix_norm(a, order, at[0], at[1]);
  return keepdims ? r : squeeze(r, Axes{at[0], at[1]});
}

}  // namespace bc
