#pragma once
#include <limits>

#include "core/error.h"
#include "ops/composite.h"

/// Short words in which the composites are written.
namespace bc::compose {

inline Array cast(const Array& a, DType t) { return astype(a, t, false); }
inline Array add(const Arg& a, const Arg& b) { return ufunc(Op::add, {a, b}); }
inline Array subtract(const Arg& a, const Arg& b) { return ufunc(Op::subtract, {a, b}); }
inline Array multiply(const Arg& a, const Arg& b) { return ufunc(Op::multiply, {a, b}); }
inline Array divide(const Arg& a, const Arg& b) { return ufunc(Op::divide, {a, b}); }
inline Array equal(const Arg& a, const Arg& b) { return ufunc(Op::equal, {a, b}); }
inline Array absolute(const Arg& a) { return ufunc(Op::abs, {a}); }
inline Array isnan(const Arg& a) { return ufunc(Op::isnan, {a}); }
inline Array logical_not(const Array& a) { return ufunc(Op::logical_not, {a}); }
inline Array choose_where(const Arg& c, const Arg& x, const Arg& y) { return ufunc(Op::where, {c, x, y}); }
inline Arg truth(bool v) { return {Weak::boolean, Scalar::boolean(v)}; }
inline Array sum(const Array& a, const ReduceOptions& o = {}) { return reduce(Op::reduce_sum, a, o); }
inline ReduceOptions over(Axes axes, bool keepdims = false) {
  ReduceOptions o;
  o.axes = std::move(axes);
  o.keepdims = keepdims;
  return o;
}
inline bool truth_of(const Array& a) { return item(a).i != 0; }

/// start, start + step, … as int64, an array of n elements along `axis` of an ndim-dimensional shape.
inline Array index_along(int64_t n, int axis, int ndim, Device device) {
  Dims shape(ndim, 1);
  shape[axis] = n;
  return arange(Scalar::integer(0), Scalar::integer(1), n, DType::i64, device).with_layout(contiguous_layout(shape));
}

/// `count` elements of an axis from `start` on.
inline Array narrow(const Array& a, int axis, int64_t start, int64_t count, int64_t step = 1) {
  Layout l = a.layout();
  if (count > 0) l.offset += start * l.strides[axis];
  l.shape[axis] = count;
  l.strides[axis] *= step;
  return a.with_layout(std::move(l));
}

/// One index of an axis, which goes.
inline Array pick(const Array& a, int axis, int64_t index) {
  Layout l = a.layout();
  l.offset += index * l.strides[axis];
  l.shape.erase(axis);
  l.strides.erase(axis);
  return a.with_layout(std::move(l));
}

inline Array insert_axis(const Array& a, int at) {
  Layout l = a.layout();
  l.shape.insert(at, 1);
  l.strides.insert(at, 0);
  return a.with_layout(std::move(l));
}

inline DType dtype_of(const Arg& a) { return a.weak == Weak::none ? a.array.dtype() : default_dtype(a.weak); }
inline Device device_of(const Arg& a, Device otherwise) { return a.weak == Weak::none ? a.array.device() : otherwise; }

/// NumPy's result_type of operands.
inline DType result_type(std::span<const Arg> args) {
  std::optional<DType> t;
  for (const Arg& a : args)
    if (a.weak == Weak::none) t = t ? promote(*t, a.array.dtype()) : a.array.dtype();
  if (!t) {
    DType w = DType::b1;
    for (const Arg& a : args) w = promote(w, default_dtype(a.weak));
    return w;
  }
  for (const Arg& a : args)
    if (a.weak != Weak::none) t = promote_weak(*t, a.weak);
  return *t;
}
inline DType result_type(std::initializer_list<Arg> args) { return result_type(std::span<const Arg>(args.begin(), args.size())); }

/// Writes to `out` when there is one, casting as NumPy's ufuncs do.
inline Array deliver(const char* op, const Array& result, const Array& out, Casting casting = Casting::same_kind) {
  if (!out) return result;
  BC_CHECK(out.shape() == result.shape(), Value, "{}: output array has the wrong shape: expected {}, got {}", op, result.shape(),
           out.shape());
  BC_CHECK(can_cast(result.dtype(), out.dtype(), casting), Type,
           "Cannot cast array data from dtype('{}') to dtype('{}') according to the rule '{}'", info(result.dtype()).name,
           info(out.dtype()).name, to_string(casting));
  assign(out, result);
  return out;
}

/// "(2,3)", as NumPy writes shapes in some errors.
inline std::string tight(const Dims& d) {
  std::string s = "(";
  for (int i = 0; i < d.size(); ++i) s += (i ? "," : "") + std::to_string(d[i]);
  return s + (d.size() == 1 ? ",)" : ")");
}

}  // namespace bc::compose
