// Elementwise functions that take more than one row.
#include <cmath>

#include "array/record.h"
#include "ops/compose.h"

namespace bc {
using namespace compose;

Array clip(const Arg& a, const std::optional<Arg>& low, const std::optional<Arg>& high, const UfuncOptions& options) {
  if (low && high) return ufunc(Op::clip, {a, *low, *high}, options);
  if (low) return ufunc(Op::maximum, {a, *low}, options);
  if (high) return ufunc(Op::minimum, {a, *high}, options);
  return ufunc(Op::positive, {a}, options);
}

namespace {

/// A complex array from what `f` makes of both parts.
template <class F>
Array by_parts(const Array& a, F f) {
  const Array r = empty_like(a);
  assign(real(r), f(real(a)));
  assign(imag(r), f(imag(a)));
  return r;
}

}  // namespace

Array round(const Array& a, int64_t decimals, Array out) {
  if (is_complex(a.dtype()) && decimals != 0) return deliver("round", by_parts(a, [&](const Array& p) { return round(p, decimals); }), out);
  BC_CHECK(!is_bool(a.dtype()) || decimals == 0, UFuncTypeError,
           "Cannot cast ufunc '{}' output from dtype('float64') to dtype('bool') with casting rule 'same_kind'",
           decimals > 0 ? "multiply" : "divide");
  if (decimals >= 0 && is_integer(a.dtype())) return out ? deliver("round", a, out) : copy(a, 'K');
  UfuncOptions o;
  if (decimals == 0) {
    o.out = std::move(out);
    return ufunc(Op::rint, {a}, o);
  }
  // Scaled there and back by a power of ten, as NumPy does it, with the same roundings.
  const Arg scale(std::pow(10.0, static_cast<double>(std::abs(decimals))));
  o.order = 'A';  // NumPy's keeps Fortran's order, and no other
  Array r = ufunc(decimals > 0 ? Op::multiply : Op::divide, {a, scale}, o);
  r = ufunc(Op::rint, {r});
  r = ufunc(decimals > 0 ? Op::divide : Op::multiply, {r, scale});
  if (is_integer(a.dtype())) r = cast(r, a.dtype());
  return deliver("round", r, out);
}

Array isclose(const Arg& a, const Arg& b, double rtol, double atol, bool equal_nan) {
  std::optional<Arg> x, y;
  Array limit;
  Array finite;
  const Device device = device_of(a, device_of(b, default_device()));
  if (b.weak == Weak::none) {
    y = Arg(is_inexact(b.array.dtype()) ? b.array : cast(b.array, DType::f64));
    limit = add(multiply(absolute(*y), Arg(rtol)), Arg(atol));
    finite = ufunc(Op::isfinite, {*y});
  } else {
    y = b.weak == Weak::complex ? b : Arg(b.value.as_double());
    const double size = std::hypot(y->value.f, y->value.imag);
    limit = full(Dims(), Scalar::real(atol + rtol * size), DType::f64, device);
    finite = full(Dims(), Scalar::boolean(std::isfinite(size)), DType::b1, device);
  }
  x = a;
  const Array near = ufunc(Op::less_equal, {absolute(subtract(*x, *y)),
                                            b.weak == Weak::none ? Arg(limit) : Arg(atol + rtol * std::hypot(y->value.f, y->value.imag))});
  Array r = ufunc(Op::logical_or, {ufunc(Op::logical_and, {near, finite}), equal(*x, *y)});
  if (equal_nan) r = ufunc(Op::logical_or, {r, ufunc(Op::logical_and, {isnan(*x), isnan(*y)})});
  return r;
}

bool allclose(const Arg& a, const Arg& b, double rtol, double atol, bool equal_nan) {
  return truth_of(reduce(Op::reduce_all, isclose(a, b, rtol, atol, equal_nan)));
}

bool array_equal(const Array& a, const Array& b, bool equal_nan) {
  if (!(a.shape() == b.shape())) return false;
  if (a.size() == 0) return true;
  Array same = equal(a, b);
  const auto has_gaps = [](DType t) { return is_inexact(t) || is_time(t); };
  if (equal_nan && has_gaps(a.dtype()) && has_gaps(b.dtype()))
    same = ufunc(Op::logical_or, {same, ufunc(Op::logical_and, {isnan(a), isnan(b)})});
  return truth_of(reduce(Op::reduce_all, same));
}

bool array_equiv(const Array& a, const Array& b) {
  for (int d = 1; d <= std::min(a.ndim(), b.ndim()); ++d) {
    const int64_t x = a.shape()[a.ndim() - d], y = b.shape()[b.ndim() - d];
    if (x != y && x != 1 && y != 1) return false;
  }
  if (a.size() == 0 || b.size() == 0) return true;
  return truth_of(reduce(Op::reduce_all, equal(a, b)));
}

namespace {
ArrayPair two(Op first, Op second, std::span<const Arg> args, const UfuncOptions& options, Array out1, Array out2) {
  UfuncOptions o1 = options, o2 = options;
  o1.out = std::move(out1);
  o2.out = std::move(out2);
  // Both results are computed from the operands as they were, also where an output is one of them.
  if (o1.out) {
    const Array target = std::exchange(o1.out, Array());
    const Array r1 = ufunc(first, args, options), r2 = ufunc(second, args, o2);
    return {options.where ? (assign_where(target, options.where, r1), target) : deliver(info(first).name, r1, target), r2};
  }
  return {ufunc(first, args, o1), ufunc(second, args, o2)};
}
}  // namespace

ArrayPair divmod(const Arg& a, const Arg& b, const UfuncOptions& options, Array out1, Array out2) {
  const Arg args[] = {a, b};
  return two(Op::floor_divide, Op::remainder, args, options, std::move(out1), std::move(out2));
}
ArrayPair modf(const Arg& a, const UfuncOptions& options, Array out1, Array out2) {
  return two(Op::modf_fraction, Op::modf_integer, {&a, 1}, options, std::move(out1), std::move(out2));
}
ArrayPair frexp(const Arg& a, const UfuncOptions& options, Array out1, Array out2) {
  return two(Op::frexp_mantissa, Op::frexp_exponent, {&a, 1}, options, std::move(out1), std::move(out2));
}

Array nan_to_num(const Array& a, const Arg& nan, const std::optional<Arg>& posinf, const std::optional<Arg>& neginf) {
  if (!is_inexact(a.dtype())) return copy(a, 'K');
  if (is_complex(a.dtype())) return by_parts(a, [&](const Array& p) { return nan_to_num(p, nan, posinf, neginf); });
  double most = 0;
  switch (a.dtype()) {
    case DType::f16: most = 65504; break;
    case DType::bf16: most = 0x1.fep127; break;
    case DType::f8e4m3: most = 448; break;
    case DType::f8e5m2: most = 57344; break;
    case DType::f32: most = std::numeric_limits<float>::max(); break;
    default: most = std::numeric_limits<double>::max();
  }
  Array r = choose_where(isnan(a), nan, a);
  r = choose_where(ufunc(Op::isposinf, {a}), posinf.value_or(Arg(most)), r);
  r = choose_where(ufunc(Op::isneginf, {a}), neginf.value_or(Arg(-most)), r);
  if (r.ndim() > a.ndim() && r.size() == a.size()) r = reshape(r, a.shape());  // leading axes of extent 1
  BC_CHECK(r.shape() == a.shape(), Value, "nan_to_num: could not broadcast what replaces the elements into shape {}", a.shape());
  return cast(r, a.dtype());
}

Array select(Arrays conditions, Arrays choices, const Arg& otherwise) {
  BC_CHECK(conditions.size() == choices.size(), Value, "list of cases must be same length as list of conditions");
  BC_CHECK(!conditions.empty(), Value, "select with an empty condition list is not possible");
  std::vector<Arg> all(choices.begin(), choices.end());
  all.push_back(otherwise);
  const DType t = result_type(all);
  Dims shape;
  for (size_t i = 0; i < conditions.size(); ++i) {
    BC_CHECK(is_bool(conditions[i].dtype()), Type, "invalid entry {} in condlist: should be boolean ndarray", i);
    shape = broadcast_shapes("select", broadcast_shapes("select", shape, conditions[i].shape()), choices[i].shape());
  }
  Array r = cast(stored_by_cast(otherwise, t, choices[0].device()), t);
  r = broadcast_to(r, broadcast_shapes("select", shape, r.shape()));
  for (size_t i = conditions.size(); i-- > 0;) r = ufunc(Op::where, {conditions[i], choices[i], r}, {.order = 'C'});
  return r;
}

Array iscomplex(const Array& a) {
  if (!is_complex(a.dtype())) return zeros(a.shape(), DType::b1, a.device());
  return ufunc(Op::not_equal, {ufunc(Op::imag, {a}), Arg(0)});
}
Array isreal(const Array& a) {
  // The imaginary part of a date is a date, and never 0.
  if (!is_complex(a.dtype())) return full(a.shape(), Scalar::boolean(!is_datetime(a.dtype())), DType::b1, a.device());
  return equal(ufunc(Op::imag, {a}), Arg(0));
}

Array angle(const Array& a, bool degrees) {
  const Array r = is_complex(a.dtype()) ? ufunc(Op::angle, {a}) : ufunc(Op::arctan2, {Arg(0), a});
  return degrees ? multiply(r, Arg(180.0 / M_PI)) : r;
}

Array cross(const Array& a_in, const Array& b_in, int64_t axisa, int64_t axisb, int64_t axisc) {
  BC_CHECK(a_in.ndim() >= 1 && b_in.ndim() >= 1, Value, "At least one array has zero dimension");
  const Array a = moveaxis(a_in, {axisa}, {-1}), b = moveaxis(b_in, {axisb}, {-1});
  const int64_t na = a.shape().back(), nb = b.shape().back();
  BC_CHECK((na == 2 || na == 3) && (nb == 2 || nb == 3), Value,
           "Both input arrays must be (arrays of) 3-dimensional vectors, but they are {} and {} dimensional instead.", na, nb);
  auto at = [](const Array& v, int64_t i) { return pick(v, v.ndim() - 1, i); };
  const Array z = subtract(multiply(at(a, 0), at(b, 1)), multiply(at(a, 1), at(b, 0)));
  if (na == 2 && nb == 2) return z;
  // A missing third component is zero.
  Array x, y;
  if (na == 3 && nb == 3) {
    x = subtract(multiply(at(a, 1), at(b, 2)), multiply(at(a, 2), at(b, 1)));
    y = subtract(multiply(at(a, 2), at(b, 0)), multiply(at(a, 0), at(b, 2)));
  } else if (na == 3) {
    x = ufunc(Op::negative, {multiply(at(a, 2), at(b, 1))});
    y = multiply(at(a, 2), at(b, 0));
  } else {
    x = multiply(at(a, 1), at(b, 2));
    y = ufunc(Op::negative, {multiply(at(a, 0), at(b, 2))});
  }
  const Array parts[] = {x, y, z};
  return moveaxis(stack(parts, -1), {-1}, {axisc});
}

}  // namespace bc
