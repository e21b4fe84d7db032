#include "autograd/derivatives.h"

#include <array>
#include <concepts>
#include <limits>

#include "autograd/functions.h"
#include "core/error.h"

namespace bc {
namespace autograd {

namespace {

Array unary(Op op, const Arg& a) {
  // Rules are written for complex numbers; of a real one these are the number.
  if ((op == Op::conj || op == Op::real) && a.array && !is_complex(a.array.dtype())) return a.array;
  return ufunc(op, {a});
}

}  // namespace

#define BC_UNARY(name, ...) \
  Array name(const Arg& a) { return unary(Op::name, a); }
#define BC_BINARY(name, ...) \
  Array name(const Arg& a, const Arg& b) { return ufunc(Op::name, {a, b}); }
#define BC_TERNARY(name, ...) \
  Array name(const Arg& a, const Arg& b, const Arg& c) { return ufunc(Op::name, {a, b, c}); }
#define BC_FAST(...)
#include "primitives/elementwise.def"

Array operator+(const Arg& a, const Arg& b) { return add(a, b); }
Array operator-(const Arg& a, const Arg& b) { return subtract(a, b); }
Array operator*(const Arg& a, const Arg& b) { return multiply(a, b); }
Array operator/(const Arg& a, const Arg& b) { return divide(a, b); }

Array zeros_like(const Array& a) { return broadcast_to(full(Dims(), Scalar::integer(0), a.dtype(), a.device()), a.shape()); }

Array unknown(const Array& g) { return g * std::numeric_limits<double>::quiet_NaN(); }
/// The derivative of y = sinc(a); near 0, where the difference of the general form cancels, by its Taylor series, whose next term is below
/// 1e-17 of the sum.
Array sinc_slope(const Array& a, const Array& y) {
  const Array t = square(a), near = less(autograd::abs(a), Arg(0.0078125));
  const Array series = a * (t * (t * (t * 0.20918278254123842 - 1.1445109447325051) + 3.2469697011334144) - 3.289868133696453);
  return where(near, series, (cos(a * 3.141592653589793) - y) / where(near, Arg(1.0), a));
}
/// The derivative of trigamma, which complex numbers have no row for.
Array second_polygamma(const Array& a) { return is_complex(a.dtype()) ? unknown(a) : zeta(zeros_like(a) + 3.0, a) * -2.0; }
Array gamma_density(const Arg& a, const Arg& x) { return exp(xlogy(a - 1.0, x) - x - gammaln(a)); }
Array beta_density(const Arg& a, const Arg& b, const Arg& x) {
  return exp(xlogy(a - 1.0, x) + xlog1py(b - 1.0, negative(x)) - betaln(a, b));
}
Array f_density(const Arg& a, const Arg& b, const Arg& x) {
  const Array whole = a * x + b;
  return beta_density(a * 0.5, b * 0.5, a * x / whole) * a * b / square(whole);
}
Array t_density(const Arg& df, const Arg& t) {
  const Array half = df * 0.5;
  return exp(negative((half + 0.5) * log1p(square(t) / df)) - betaln(half, 0.5)) / sqrt(df);
}
/// From pi / (2 y) = K(m) / a for m = 1 - (b / a)^2 (DLMF 19.8.5) and K's derivative (19.4.1); 1 / 2 where both numbers are the same.
Array agm_slope(const Array& a, const Array& b, const Array& y) {
  const Array same = equal(a, b), m = where(same, Arg(0.5), 1.0 - square(b / a));
  return where(same, Arg(0.5), square(y / a) * (ellipk(m) - ellipe(m)) / m * 0.6366197723675814);
}

// ---- What a rule reads, found by running it on sets of names in the place of arrays ----

struct Uses {
  uint8_t names = 0;
};
static uint8_t names_of(const Uses& u) { return u.names; }
template <class T>
static uint8_t names_of(const T&) {
  return 0;
}
template <class... T>
concept AnyUses = (std::same_as<T, Uses> || ...);

#define BC_USES(name)                          \
  template <class... T>                        \
  requires AnyUses<T...>                       \
  static Uses name(const T&... x) {            \
    return {uint8_t((names_of(x) | ... | 0))}; \
  }
#define BC_UNARY(name, ...) BC_USES(name)
#define BC_BINARY(name, ...) BC_USES(name)
#define BC_TERNARY(name, ...) BC_USES(name)
#define BC_FAST(...)
#include "primitives/elementwise.def"
BC_USES(zeros_like)
BC_USES(unknown)
BC_USES(sinc_slope)
BC_USES(second_polygamma)
BC_USES(gamma_density)
BC_USES(beta_density)
BC_USES(f_density)
BC_USES(t_density)
BC_USES(agm_slope)
#undef BC_USES
#define BC_USES(name)                                         \
  template <class A, class B>                                 \
  requires AnyUses<A, B>                                      \
  static Uses name(const A& a, const B& b) {                  \
    return {static_cast<uint8_t>(names_of(a) | names_of(b))}; \
  }
BC_USES(operator+)
BC_USES(operator-)
BC_USES(operator*)
BC_USES(operator/)
#undef BC_USES

namespace {

/// An array, or the names that a rule reads in its place.
template <class V>
V as(const Uses& u) {
  return u;
}
template <class V>
V as(const Array& a) {
  if constexpr (std::same_as<V, Uses>)
    return {};
  else
    return a;
}

template <class V>
using Rule = V (*)(const V& a, const V& b, const V& c, const V& y, const V& g);

template <class V>
struct Table {
  std::array<std::array<Rule<V>, 3>, kOpCount> rules{};

  Table() {
    auto rule = [&](Op op) -> std::array<Rule<V>, 3>& { return rules[static_cast<size_t>(op)]; };
#define BC_RULE(expression) [](const V& a, const V& b, const V& c, const V& y, const V& g) -> V { return as<V>(expression); }
#define BC_UNARY(name, set, result, text, da) rule(Op::name) = {BC_RULE(da)};
#define BC_BINARY(name, set, result, text, da, db) rule(Op::name) = {BC_RULE(da), BC_RULE(db)};
#define BC_TERNARY(name, set, result, text, da, db, dc) rule(Op::name) = {BC_RULE(da), BC_RULE(db), BC_RULE(dc)};
#define BC_FAST(...)
#include "primitives/elementwise.def"
#undef BC_RULE
    rule(Op::cast) = {[](const V&, const V&, const V&, const V&, const V& g) -> V { return g; }};
  }
};

template <class V>
const Table<V>& table() {
  static const Table<V> t;
  return t;
}

/// The sums and products over the axes of the reduction whose derivative is taken, kept as axes of extent 1.
struct Axes {
  ReduceOptions options;

  Array reduced(Op op, const Array& x) const { return reduce(op, x, options); }
  Array sum(const Array& x) const { return reduced(Op::reduce_sum, x); }
  Array mean(const Array& x) const { return reduced(Op::reduce_mean, x); }
  /// How many elements are true.
  Array count(const Array& x) const { return reduced(Op::reduce_count_nonzero, x); }
  /// The product of all other elements; y is that of all. Where a second element is zero the product is zero, and it is written with that
  /// element as a factor, so that derivatives of it are right too.
  Array others(const Array& a, const Array& y) const {
    const Array zero = equal(a, zeros_like(a)), zeros = count(zero), without = where(zero, Arg(1), a);
    const Array rest = reduced(Op::reduce_prod, without), other = sum(where(zero, a, Arg(0))) - a;
    const Array several = where(equal(zeros, Arg(2)), rest * other, zeros_like(a));
    return where(zero, where(equal(zeros, Arg(1)), rest, several), y / without);
  }
};

/// The same for what a rule reads.
struct UsesAxes {
  Uses mean(const Uses& x) const { return x; }
  Uses count(const Uses& x) const { return x; }
  Uses others(const Uses& a, const Uses& y) const { return a + y; }
};

template <class V, class Over>
using ReduceRule = V (*)(const Over& over, const V& a, const V& y, const V& g, double n, double ddof);

template <class V, class Over>
struct ReduceTable {
  std::array<ReduceRule<V, Over>, kOpCount> rules{};

  ReduceTable() {
#define BC_REDUCE(name, set, acc, result, state, extreme, identity, map, join, finish, derivative)                                       \
  rules[static_cast<size_t>(Op::reduce_##name)] = [](const Over& over, const V& a, const V& y, const V& g, double n, double ddof) -> V { \
    return as<V>(derivative);                                                                                                            \
  };
#include "primitives/reduce.def"
  }
};

template <class V, class Over>
const ReduceTable<V, Over>& reduce_table() {
  static const ReduceTable<V, Over> t;
  return t;
}

}  // namespace

uint8_t uses(Op op, int k) {
  return table<Uses>().rules[static_cast<size_t>(op)][static_cast<size_t>(k)](Uses{1}, Uses{2}, Uses{4}, Uses{kUsesResult}, Uses{}).names;
}

uint8_t reduction_uses(Op op) {
  return reduce_table<Uses, UsesAxes>().rules[static_cast<size_t>(op)](UsesAxes(), Uses{1}, Uses{kUsesResult}, Uses{}, 0, 0).names;
}

Array row_gradient(Op op, int k, const Array& a, const Array& b, const Array& c, const Array& y, const Array& g) {
  return table<Array>().rules[static_cast<size_t>(op)][static_cast<size_t>(k)](a, b, c, y, g);
}

Array reduction_gradient(Op op, const Dims& shape, uint64_t axes, double ddof, const Array& a, const Array& y, const Array& g) {
  Axes over;
  over.options.axes.emplace();
  over.options.keepdims = true;
  Dims kept = shape;
  int64_t n = 1;
  for (int d = 0; d < shape.size(); ++d)
    if (axes >> d & 1) {
      over.options.axes->push_back(d);
      n *= kept[d];
      kept[d] = 1;
    }
  auto wide = [&](const Array& x) { return x ? broadcast_to(reshape(x, kept), shape) : x; };
  return reduce_table<Array, Axes>().rules[static_cast<size_t>(op)](over, a, wide(y), wide(g), static_cast<double>(n), ddof);
}

Array fitted(Array d, const Dims& shape, DType dtype) {
  if (!d) return d;
  if (is_complex(d.dtype()) && !is_complex(dtype)) d = ufunc(Op::real, {d});
  if (!(d.shape() == shape)) {
    const int lead = d.ndim() - shape.size();
    ReduceOptions stretched;
    stretched.axes.emplace();
    stretched.keepdims = true;
    for (int i = 0; i < d.ndim(); ++i)
      if (i < lead || (shape[i - lead] == 1 && d.shape()[i] != 1)) stretched.axes->push_back(i);
    if (!stretched.axes->empty()) d = reduce(Op::reduce_sum, d, stretched);
    // A row's rule may give a number for all elements.
    d = product(d.shape()) == product(shape) ? reshape(d, shape) : broadcast_to(d, shape);
  }
  return astype(d, dtype, false);
}

}  // namespace autograd

std::vector<Array> derivative(Op op, std::span<const Array> inputs, const Array& y, const Array& g) {
  const OpInfo& spec = info(op);
  BC_CHECK(spec.kind == OpKind::elementwise, Type, "derivative: expected an elementwise op, got '{}'", spec.name);
  BC_CHECK(inputs.size() == spec.nin, Type, "derivative: {} has {} operands, got {}", spec.name, spec.nin, inputs.size());
  BC_CHECK(g.shape() == y.shape(), Value, "derivative: {}: expected a gradient of shape {}, got {}", spec.name, y.shape(), g.shape());
  const Array none;
  const Array& b = inputs.size() > 1 ? inputs[1] : none;
  const Array& c = inputs.size() > 2 ? inputs[2] : none;
  std::vector<Array> gradients(inputs.size());
  for (size_t k = 0; k < inputs.size(); ++k)
    if (is_inexact(inputs[k].dtype()) && is_inexact(y.dtype()))
      gradients[k] =
          autograd::fitted(autograd::row_gradient(op, static_cast<int>(k), inputs[0], b, c, y, g), inputs[k].shape(), inputs[k].dtype());
  return gradients;
}

Array reduce_derivative(Op op, const Array& a, const ReduceOptions& options, const Array& y, const Array& g) {
  const OpInfo& spec = info(op);
  BC_CHECK(spec.kind == OpKind::reduce, Type, "derivative: expected a reduction, got '{}'", spec.name);
  BC_CHECK(g.shape() == y.shape(), Value, "derivative: {}: expected a gradient of shape {}, got {}", spec.name, y.shape(), g.shape());
  if (!is_inexact(a.dtype()) || !is_inexact(y.dtype())) return {};
  uint64_t axes = options.axes ? 0 : ~uint64_t{0};
  if (options.axes)
    for (int64_t axis : *options.axes) axes |= uint64_t{1} << normalize_axis(axis, a.ndim(), spec.name);
  return autograd::fitted(autograd::reduction_gradient(op, a.shape(), axes, options.ddof, a, y, g), a.shape(), a.dtype());
}

}  // namespace bc
