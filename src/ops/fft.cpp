// Transforms: what NumPy's and SciPy's rules ask for around the library op, and transforms out of others where a device has fewer.
#include "ops/fft.h"

#include <cmath>
#include <numbers>

#include "array/record.h"
#include "ops/compose.h"

namespace bc {
using namespace compose;

namespace {

/// The floating-point dtype that an array's transform computes in.
DType working_dtype(DType t) {
  switch (t) {
    case DType::f16:
    case DType::bf16:
    case DType::f8e4m3:
    case DType::f8e5m2:
    case DType::f32: return DType::f32;
    case DType::c64:
    case DType::c128: return t;
    default: return DType::f64;
  }
}
DType complex_of(DType t) { return t == DType::f32 || t == DType::c64 ? DType::c64 : DType::c128; }
DType real_of(DType t) { return t == DType::f32 || t == DType::c64 ? DType::f32 : DType::f64; }

/// `a` cut, or filled up with zeros at the end, to these extents along the axes.
Array fitted(const Array& a, const Dims& axes, const Dims& extents) {
  Array cut = a;
  Dims shape = a.shape();
  bool pads = false;
  for (int i = 0; i < axes.size(); ++i) {
    const int d = static_cast<int>(axes[i]);
    if (extents[i] < a.shape()[d]) cut = narrow(cut, d, 0, extents[i]);
    pads |= extents[i] > a.shape()[d];
    shape[d] = extents[i];
  }
  if (!pads) return cut;
  const Array made = zeros(shape, a.dtype(), a.device());
  if (cut.size() == 0) return made;
  Array part = made;
  for (int64_t d : axes) part = narrow(part, static_cast<int>(d), 0, cut.shape()[static_cast<int>(d)]);
  assign(part, cut);
  return made;
}

/// A transform that a device may run as it is.
struct Plan {
  FftKind kind;
  Dims axes;
  Dims points;  ///< of each axis
  FftOptions options;
  double scale;
  bool orthogonal;
};

/// What the result has in the place of the input's extents.
Dims result_shape(const Array& a, FftKind kind, const Dims& axes, int64_t last_points) {
  Dims shape = a.shape();
  int64_t& last = shape[static_cast<int>(axes.back())];
  if (kind == FftKind::r2c) last = last_points / 2 + 1;
  if (kind == FftKind::c2r) last = last_points;
  return shape;
}

DType result_dtype(DType t, FftKind kind) {
  if (kind == FftKind::c2r) return real_of(t);
  return kind == FftKind::dct || kind == FftKind::dst ? t : complex_of(t);
}

Array record_transform(const Array& a, const Plan& p) {
  const Dims shape = result_shape(a, p.kind, p.axes, p.points.back());
  const DType t = result_dtype(a.dtype(), p.kind);
  return record_library({a}, {a.shape()},
                        std::make_unique<FftExtra>(p.kind, p.options.forward, p.axes, p.scale, p.options.threads,
                                                   p.kind == FftKind::dct || p.kind == FftKind::dst ? p.options.type : 0, p.orthogonal),
                        shape, t, a.device());
}

// ---- Out of transforms along trailing axes -----------------------------------------------------------------------------------------

constexpr int kMostAxes = 3;

/// One library op along at most three axes, which are made the trailing ones.
Array transform_trailing(const Array& a, FftKind kind, bool forward, const Dims& axes, int64_t last_points) {
  const int nd = a.ndim(), rank = axes.size();
  Dims order;
  for (int d = 0; d < nd; ++d)
    if (std::find(axes.begin(), axes.end(), d) == axes.end()) order.push_back(d);
  Dims trailing;
  for (int i = 0; i < rank; ++i) {
    order.push_back(axes[i]);
    trailing.push_back(nd - rank + i);
  }
  Plan p{kind, trailing, Dims{last_points}, {}, 1.0, false};
  p.options.forward = forward;
  return transpose(record_transform(transpose(a, order), p), inverse_axes(order));
}

Array conjugate(const Array& a) { return ufunc(Op::conj, {a}); }

/// A Fourier transform by ops along three axes at most. c2r takes the positive exponent only and r2c the negative one.
Array fourier_composed(Array a, const Plan& p) {
  if (p.kind == FftKind::full) a = cast(a, complex_of(a.dtype()));
  const int n = p.axes.size();
  const bool half = p.kind == FftKind::r2c || p.kind == FftKind::c2r;
  // Groups from the last axis on.
  std::vector<Dims> groups;
  for (int end = n; end > 0; end -= kMostAxes)
    groups.push_back(Dims(p.axes.span().subspan(std::max(end - kMostAxes, 0), end - std::max(end - kMostAxes, 0))));
  const auto others = [&](size_t from) {
    for (size_t g = from; g < groups.size(); ++g) a = transform_trailing(a, FftKind::c2c, p.options.forward, groups[g], 0);
  };
  if (!half) {
    others(0);
  } else if (p.kind == FftKind::c2r) {
    others(1);
    a = transform_trailing(p.options.forward ? conjugate(a) : a, FftKind::c2r, false, groups[0], p.points.back());
  } else {
    a = transform_trailing(a, FftKind::r2c, true, groups[0], p.points.back());
    if (!p.options.forward) a = conjugate(a);
    others(1);
  }
  return p.scale == 1.0 ? a : multiply(a, Arg(p.scale));
}

/// exp(i step (k + shift)) for k below n, complex128, along an axis.
Array turns(int64_t n, double shift, double step, int axis, int ndim, Device device) {
  const Array angle = multiply(add(index_along(n, axis, ndim, device), Arg(shift)), Arg(step));
  return ufunc(Op::exp, {multiply(angle, Arg(Weak::complex, Scalar::complex(0.0, 1.0)))});
}

/// `a` with its element `at` of an axis multiplied by `factor`.
Array with_factor(const Array& a, int axis, int64_t at, double factor) {
  const Array chosen = equal(index_along(a.shape()[axis], axis, a.ndim(), a.device()), Arg(at));
  return choose_where(chosen, multiply(a, Arg(factor)), a);
}

Array joined_along(int axis, std::initializer_list<Array> parts) {
  const std::vector<Array> all(parts);
  return concatenate(all, axis);
}

Array reversed(const Array& a, int axis) { return flip(a, Axes{axis}); }

/// A cosine or sine transform along one axis, without scaling, by a Fourier transform of twice its length. Sums of the definition are real
/// or imaginary parts of z(k) = Σ x(j) exp(-2πi j k / 2n) with factors before and behind it.
Array trigonometric(const Array& x_in, int axis, int type, bool cosine, bool orthogonal, const FftOptions& options) {
  constexpr double kPi = std::numbers::pi, kRoot2 = std::numbers::sqrt2;
  const int64_t n = x_in.shape()[axis];
  const int nd = x_in.ndim();
  const DType t = x_in.dtype(), complex = complex_of(t);
  const Device device = x_in.device();
  FftOptions plain;
  plain.composed = options.composed;
  const auto factors = [&](int64_t count, double shift, double step) { return cast(turns(count, shift, step, axis, nd, device), complex); };
  const auto transformed = [&](const Array& a, int64_t points) {
    return fft(a, is_complex(a.dtype()) ? FftKind::c2c : FftKind::r2c, Axes{points}, Axes{axis}, plain);
  };
  Array x = x_in;
  if (type == 1) {
    if (cosine) {
      if (orthogonal) x = with_factor(with_factor(x, axis, 0, kRoot2), axis, n - 1, kRoot2);
      const Array even = n > 2 ? joined_along(axis, {x, reversed(narrow(x, axis, 1, n - 2), axis)}) : x;
      Array y = real(transformed(even, 2 * (n - 1)));
      if (orthogonal) y = with_factor(with_factor(y, axis, 0, 1 / kRoot2), axis, n - 1, 1 / kRoot2);
      return y;
    }
    Dims one = x.shape();
    one[axis] = 1;
    const Array zero = zeros(one, t, device);
    const Array odd = joined_along(axis, {zero, x, zero, ufunc(Op::negative, {reversed(x, axis)})});
    return ufunc(Op::negative, {narrow(imag(transformed(odd, 2 * (n + 1))), axis, 1, n)});
  }
  const double step = kPi / (2.0 * static_cast<double>(n));
  if (type == 2) {
    const Array z = transformed(x, 2 * n);
    // cos(π k (2j + 1) / 2n) is a transform whose phase is shifted by half a step of j; for sines k begins at one.
    const Array half = multiply(narrow(z, axis, cosine ? 0 : 1, n), factors(n, cosine ? 0 : 1, -step));
    Array y = multiply(cosine ? real(half) : imag(half), Arg(cosine ? 2.0 : -2.0));
    if (orthogonal) y = with_factor(y, axis, cosine ? 0 : n - 1, 1 / kRoot2);
    return y;
  }
  if (type == 3) {
    // The first (cosine) or last element counts once, the others twice.
    x = with_factor(x, axis, cosine ? 0 : n - 1, orthogonal ? kRoot2 * 0.5 : 0.5);
    Array z = multiply(x, factors(n, cosine ? 0 : 1, -step));
    if (!cosine) {
      Dims one = x.shape();
      one[axis] = 1;
      z = joined_along(axis, {zeros(one, complex, device), z});
    }
    const Array y = narrow(transformed(z, 2 * n), axis, 0, n);
    return multiply(cosine ? real(y) : imag(y), Arg(cosine ? 2.0 : -2.0));
  }
  const Array z = narrow(transformed(multiply(x, factors(n, 0, -step)), 2 * n), axis, 0, n);
  const Array y = multiply(z, factors(n, 0.5, -step));
  return multiply(cosine ? real(y) : imag(y), Arg(cosine ? 2.0 : -2.0));
}

Array trigonometric_composed(Array a, const Plan& p) {
  for (int64_t axis : p.axes) a = trigonometric(a, static_cast<int>(axis), p.options.type, p.kind == FftKind::dct, p.orthogonal, p.options);
  return p.scale == 1.0 ? a : multiply(a, Arg(p.scale));
}

// ---- Either way -----------------------------------------------------------------------------------------------------------------------

Array transform(const Array& a, const Plan& p) {
  if (!traits(a.device()).composes && !p.options.composed) {
    // The result lies in memory as the input does, as NumPy's.
    const Dims order = copy_order(a, 'K');
    if (is_ascending(order)) return record_transform(a, p);
    const Dims back = inverse_axes(order);
    Plan q = p;
    for (int i = 0; i < p.axes.size(); ++i) q.axes[i] = back[static_cast<int>(p.axes[i])];
    return transpose(record_transform(transpose(a, order), q), back);
  }
  return p.kind == FftKind::dct || p.kind == FftKind::dst ? trigonometric_composed(a, p) : fourier_composed(a, p);
}

/// What the result is multiplied by.
double scale_of(FftKind kind, const Dims& points, const FftOptions& o) {
  const FftNorm norm = o.forward || o.norm == FftNorm::ortho ? o.norm : o.norm == FftNorm::backward ? FftNorm::forward : FftNorm::backward;
  if (norm == FftNorm::backward) return 1.0;
  double n = 1.0;
  for (int64_t count : points) {
    auto m = static_cast<double>(count);
    // A dct or dst is a transform of twice the points, of which type 1 shares or adds two.
    if (kind == FftKind::dct) m = 2.0 * (o.type == 1 ? m - 1 : m);
    if (kind == FftKind::dst) m = 2.0 * (o.type == 1 ? m + 1 : m);
    n *= m;
  }
  return norm == FftNorm::ortho ? 1.0 / std::sqrt(n) : 1.0 / n;
}

void check_points(int64_t n, const FftOptions& o) {
  if (n >= 1) [[likely]]
    return;
  if (o.scipy) raise(ErrorKind::Value, "invalid number of data points ({}) specified", n);
  raise(ErrorKind::Value, "Invalid number of FFT data points ({}) specified.", n);
}

}  // namespace

Array fft(const Array& a_in, FftKind kind, const std::optional<Axes>& lengths, const Axes& axes, const FftOptions& options) {
  const char* const op = kind == FftKind::dct ? "dct" : kind == FftKind::dst ? "dst" : "fft";
  const bool trigonometric = kind == FftKind::dct || kind == FftKind::dst;
  BC_CHECK(!axes.empty(), Value, "{}: expected at least one axis", op);
  BC_CHECK(!lengths || lengths->size() == axes.size(), Value, "{}: expected a length for each of {} axes, got {}", op, axes.size(),
           lengths ? lengths->size() : 0);
  BC_CHECK(!trigonometric || (options.type >= 1 && options.type <= 4), Value, "{}: expected a type from 1 to 4, got {}", op, options.type);
  BC_CHECK(kind != FftKind::r2c || !is_complex(a_in.dtype()), Type, "{}: expected real input, got {}", op, info(a_in.dtype()).name);
  if (trigonometric && is_complex(a_in.dtype())) {
    // Both parts at once: they are a last axis that is not transformed.
    const int nd = a_in.ndim();
    Axes same;
    for (int64_t d : axes) same.push_back(normalize_axis(d, nd, op));
    Dims shape = a_in.shape();
    shape.push_back(2);
    const Array parts = reshape(view_dtype(ravel(ascontiguous(a_in)), real_of(a_in.dtype())), shape);
    const Array made = ascontiguous(fft(parts, kind, lengths, same, options));
    shape = made.shape();
    shape.resize(nd);
    return reshape(view_dtype(ravel(made), a_in.dtype()), shape);
  }
  Plan p{kind == FftKind::c2c && !is_complex(a_in.dtype()) ? FftKind::full : kind, {}, {}, options, 1.0, false};
  Dims extents;
  uint64_t seen = 0;
  for (size_t i = 0; i < axes.size(); ++i) {
    const int d = normalize_axis(axes[i], a_in.ndim(), op);
    BC_CHECK(!(seen >> d & 1), Value, "{}: expected distinct axes, got axis {} twice", op, d);
    seen |= uint64_t{1} << d;
    p.axes.push_back(d);
    const bool halved = kind == FftKind::c2r && i + 1 == axes.size();
    const int64_t own = a_in.shape()[d];
    const int64_t n = lengths ? (*lengths)[i] : halved ? 2 * (own - 1) : own;
    check_points(n, options);
    p.points.push_back(n);
    extents.push_back(halved ? n / 2 + 1 : n);
  }
  if (kind == FftKind::dct && options.type == 1)
    for (int64_t n : p.points) BC_CHECK(n >= 2, Value, "{}: expected at least two points for type 1, got {}", op, n);
  p.scale = scale_of(kind, p.points, options);
  p.orthogonal = trigonometric && options.orthogonal.value_or(options.norm == FftNorm::ortho);
  BC_CHECK(!is_time(a_in.dtype()), Type, "fft: expected numbers, got {}", info(a_in.dtype()).name);
  DType t = working_dtype(a_in.dtype());
  if (kind == FftKind::c2r) t = complex_of(t);
  const Array a = fitted(cast(a_in, t), p.axes, extents);
  if (a.size() == 0) return empty(result_shape(a, p.kind, p.axes, p.points.back()), result_dtype(t, p.kind), a.device());
  return transform(a, p);
}

}  // namespace bc
