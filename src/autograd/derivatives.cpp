#include "autograd/derivatives.h"

#include <array>

#include "autograd/functions.h"
#include "core/error.h"

namespace bc {
namespace autograd {

#define BC_UNARY(name, ...) \
  Array name(const Arg& a) { return ufunc(Op::name, {a}); }
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

namespace {

using Rule = Array (*)(const Array& a, const Array& b, const Array& c, const Array& y, const Array& g);

struct Table {
  std::array<std::array<Rule, 3>, kOpCount> rules{};

  Table() {
    auto rule = [&](Op op) -> std::array<Rule, 3>& { return rules[static_cast<size_t>(op)]; };
#define BC_RULE(expression) \
  [](const Array& a, const Array& b, const Array& c, const Array& y, const Array& g) -> Array { return expression; }
#define BC_UNARY(name, set, result, text, da) rule(Op::name) = {BC_RULE(da)};
#define BC_BINARY(name, set, result, text, da, db) rule(Op::name) = {BC_RULE(da), BC_RULE(db)};
#define BC_TERNARY(name, set, result, text, da, db, dc) rule(Op::name) = {BC_RULE(da), BC_RULE(db), BC_RULE(dc)};
#define BC_FAST(...)
#include "primitives/elementwise.def"
#undef BC_RULE
    rule(Op::cast) = {[](const Array&, const Array&, const Array&, const Array&, const Array& g) { return g; }};
  }
};

/// The sums and products over the axes of the reduction whose derivative is taken, kept as axes of extent 1.
struct Axes {
  ReduceOptions options;

  Array reduced(Op op, const Array& x) const { return reduce(op, x, options); }
  Array sum(const Array& x) const { return reduced(Op::reduce_sum, x); }
  Array mean(const Array& x) const { return reduced(Op::reduce_mean, x); }
  /// How many elements are true.
  Array count(const Array& x) const { return reduced(Op::reduce_count_nonzero, x); }
  /// The product of all other elements; y is that of all.
  Array others(const Array& a, const Array& y) const {
    const Array zero = equal(a, zeros_like(a));
    const Array rest = reduced(Op::reduce_prod, where(zero, Arg(1), a));
    return where(zero, where(equal(count(zero), Arg(1)), rest, zeros_like(a)), y / a);
  }
};

using ReduceRule = Array (*)(const Axes& over, const Array& a, const Array& y, const Array& g, double n, double ddof);

struct ReduceTable {
  std::array<ReduceRule, kOpCount> rules{};

  ReduceTable() {
#define BC_REDUCE(name, set, acc, result, state, identity, map, join, finish, derivative)                                        \
  rules[static_cast<size_t>(Op::reduce_##name)] = [](const Axes& over, const Array& a, const Array& y, const Array& g, double n, \
                                                     double ddof) -> Array { return derivative; };
#include "primitives/reduce.def"
#undef BC_REDUCE
  }
};

/// A gradient in the shape and dtype of its input.
Array fitted(Array d, const Array& input) {
  if (!d) return d;
  if (is_complex(d.dtype()) && !is_complex(input.dtype())) d = ufunc(Op::real, {d});
  if (!(d.shape() == input.shape())) {
    const int lead = d.ndim() - input.ndim();
    ReduceOptions stretched;
    stretched.axes.emplace();
    stretched.keepdims = true;
    for (int i = 0; i < d.ndim(); ++i)
      if (i < lead || (input.shape()[i - lead] == 1 && d.shape()[i] != 1)) stretched.axes->push_back(i);
    if (!stretched.axes->empty()) d = reduce(Op::reduce_sum, d, stretched);
    d = reshape(d, input.shape());
  }
  return astype(d, input.dtype(), false);
}

}  // namespace
}  // namespace autograd

std::vector<Array> derivative(Op op, std::span<const Array> inputs, const Array& y, const Array& g) {
  static const autograd::Table table;
  const OpInfo& row = info(op);
  BC_CHECK(row.kind == OpKind::elementwise, Type, "derivative: expected an elementwise row, got '{}'", row.name);
  BC_CHECK(inputs.size() == row.nin, Type, "derivative: {} has {} operands, got {}", row.name, row.nin, inputs.size());
  BC_CHECK(g.shape() == y.shape(), Value, "derivative: {}: expected a gradient of shape {}, got {}", row.name, y.shape(), g.shape());
  const Array none;
  const Array& b = inputs.size() > 1 ? inputs[1] : none;
  const Array& c = inputs.size() > 2 ? inputs[2] : none;
  std::vector<Array> gradients(inputs.size());
  for (size_t k = 0; k < inputs.size(); ++k)
    if (is_inexact(inputs[k].dtype()) && is_inexact(y.dtype()))
      gradients[k] = autograd::fitted(table.rules[static_cast<size_t>(op)][k](inputs[0], b, c, y, g), inputs[k]);
  return gradients;
}

Array reduce_derivative(Op op, const Array& a, const ReduceOptions& options, const Array& y, const Array& g) {
  static const autograd::ReduceTable table;
  const OpInfo& row = info(op);
  BC_CHECK(row.kind == OpKind::reduce, Type, "derivative: expected a reduction row, got '{}'", row.name);
  BC_CHECK(g.shape() == y.shape(), Value, "derivative: {}: expected a gradient of shape {}, got {}", row.name, y.shape(), g.shape());
  if (!is_inexact(a.dtype()) || !is_inexact(y.dtype())) return {};
  autograd::Axes over;
  over.options.axes = options.axes;
  over.options.keepdims = true;
  uint64_t axes = options.axes ? 0 : ~uint64_t{0};
  if (options.axes)
    for (int64_t axis : *options.axes) axes |= uint64_t{1} << normalize_axis(axis, a.ndim(), row.name);
  Dims kept = a.shape();
  int64_t n = 1;
  for (int d = 0; d < a.ndim(); ++d)
    if (axes >> d & 1) {
      n *= kept[d];
      kept[d] = 1;
    }
  auto wide = [&](const Array& x) { return broadcast_to(reshape(x, kept), a.shape()); };
  const Array d = table.rules[static_cast<size_t>(op)](over, a, wide(y), wide(g), static_cast<double>(n), options.ddof);
  return autograd::fitted(d, a);
}

}  // namespace bc
