// The derivatives of the library ops.
#include "autograd/library_rules.h"

#include <utility>

#include "array/indexing.h"
#include "autograd/derivatives.h"
#include "autograd/fft_rules.h"
#include "autograd/functions.h"
#include "autograd/library_function.h"
#include "autograd/linalg_rules.h"
#include "autograd/sparse_rules.h"
#include "ops/compose.h"
#include "ops/sorting.h"
#include "primitives/library.h"

namespace bc::autograd {
namespace {

// ---- Products ----

struct MatmulFunction final : LibraryFunction {
  using LibraryFunction::LibraryFunction;
  std::vector<Array> backward(std::span<const Array> g, const std::vector<bool>& needed) override {
    std::vector<Array> made(2);
    if (needed[0]) made[0] = bc::matmul(g[0], adjoint(saved[1]));
    if (needed[1]) made[1] = bc::matmul(adjoint(saved[0]), g[0]);
    return made;
  }
};

// ---- Scans ----

/// The sum of what comes at and after each place.
Array sum_from_behind(const Array& g, int axis) { return flip(cumsum(flip(g, Axes{axis}), axis), Axes{axis}); }

/// Adds each element of `g` to the place that `index` says along an axis of a zero array of `shape`.
Array spread(const Array& g, const Array& index, int axis, const Dims& shape) {
  const Array sum = bc::zeros(shape, g.dtype(), g.device());
  Dims walked(g.ndim());
  for (int d = 0; d < g.ndim(); ++d) walked[d] = d == axis ? -1 : d;
  scatter(Op::add, sum, g.shape(), walked, {index}, Dims{axis}, g);
  return sum;
}

Array index_along(const Dims& shape, int axis, Device device) {
  Dims along(shape.size(), 1);
  along[axis] = shape[axis];
  return broadcast_to(iota(along, device), shape);
}

/// The gradient of y[0] = a[0], y[i] = op(y[i - 1], a[i]) along an axis, step by step from the end. `g` is that of all y, or of the last
/// one where `fold`.
Array chain_gradient(Op op, const Array& a, const Array& g, int axis, bool fold) {
  const Array y = accumulate(op, a, axis), sum = bc::zeros(a.shape(), a.dtype(), a.device());
  const auto at = [&](const Array& x, int64_t i) { return compose::pick(x, axis, i); };
  const auto of_row = [&](int k, int64_t i, const Array& c) {
    const Array d = row_gradient(op, k, at(y, i - 1), at(a, i), {}, at(y, i), c);
    return d ? fitted(d, c.shape(), a.dtype()) : autograd::zeros_like(c);
  };
  int64_t i = a.shape()[axis] - 1;
  if (i < 0) return sum;
  Array c = fold ? g : at(g, i);
  for (; i > 0; --i) {
    assign(at(sum, i), of_row(1, i, c));
    c = of_row(0, i, c);
    if (!fold) c = at(g, i - 1) + c;
  }
  assign(at(sum, 0), c);
  return sum;
}

struct ScanFunction final : LibraryFunction {
  ScanFunction(const ScanExtra& extra, std::span<const Array> inputs, Value v)
      : LibraryFunction(extra.name, inputs, std::move(v)), op(extra.op), axis(extra.axis), fold(extra.fold) {
    if (is_sum()) saved.clear();
  }
  const Op op;
  const int axis;
  const bool fold;

  bool is_sum() const { return op == Op::add && !fold; }
  std::string name() const override { return std::string(info(op).name) + "." + name_of; }
  bool release() override { return !is_sum() && LibraryFunction::release(); }

  std::vector<Array> backward(std::span<const Array> gradients, const std::vector<bool>&) override {
    const Array& g = gradients[0];
    if (is_sum()) return {sum_from_behind(g, axis)};
    const Array& a = saved[0];
    const bool extreme = op == Op::maximum || op == Op::minimum || op == Op::fmax || op == Op::fmin;
    if (fold || (op != Op::multiply && !extreme)) return {chain_gradient(op, a, g, axis, fold)};
    const Array y = accumulate(op, a, axis);
    return {extreme ? extreme_gradient(a, y, g) : product_gradient(a, y, g)};
  }

 private:
  /// Each product's gradient, times it, divided by the factor. At the first zero of a line the products are those without it; at the
  /// second zero they are those without both, times the first, so that derivatives of them are right too; behind it they are zero.
  Array product_gradient(const Array& a, const Array& y, const Array& g) const {
    const Array zero = autograd::equal(a, autograd::zeros_like(a));
    const Array zeros = accumulate(Op::add, astype(zero, DType::i64), axis);
    const Array first = autograd::logical_and(zero, autograd::equal(zeros, Arg(1)));
    const Array second = autograd::logical_and(zero, autograd::equal(zeros, Arg(2)));
    const auto gradient_without = [&](const Array& left_out) {
      return sum_from_behind(g * autograd::conj(accumulate(Op::multiply, autograd::where(left_out, Arg(1), a), axis)), axis);
    };
    ReduceOptions along;
    along.axes = Axes{axis};
    along.keepdims = true;
    const Array factor = reduce(Op::reduce_sum, autograd::where(first, a, Arg(0)), along);
    const Array plain = sum_from_behind(g * autograd::conj(y), axis) / autograd::conj(autograd::where(zero, Arg(1), a));
    const Array at_second = gradient_without(autograd::logical_or(first, second)) * autograd::conj(factor);
    const Array at_zero = autograd::where(second, at_second, autograd::zeros_like(a));
    return autograd::where(zero, autograd::where(first, gradient_without(first), at_zero), plain);
  }

  /// Each result is the last element that changed it, or that equals it.
  Array extreme_gradient(const Array& a, const Array& y, const Array& g) const {
    const Array taken = autograd::logical_or(autograd::equal(a, y), autograd::logical_and(autograd::isnan(a), autograd::isnan(y)));
    const Array places = autograd::where(taken, index_along(a.shape(), axis, a.device()), Arg(0));
    return spread(g, accumulate(Op::maximum, places, axis), axis, a.shape());
  }
};

/// reduceat: every element that a segment holds gets its share of the segment's gradient.
struct ReduceatFunction final : LibraryFunction {
  ReduceatFunction(const ReduceatExtra& extra, std::span<const Array> inputs, Value v)
      : LibraryFunction(extra.name, inputs, std::move(v)), op(extra.op), axis(extra.axis), at(extra.at) {
    if (op == Op::add) saved.clear();
  }
  const Op op;
  const int axis;
  const std::vector<int64_t> at;

  std::string name() const override { return std::string(info(op).name) + "." + name_of; }
  bool release() override { return op != Op::add && LibraryFunction::release(); }
  std::vector<Array> backward(std::span<const Array> gradients, const std::vector<bool>&) override {
    return {op == Op::add ? sums(gradients[0]) : others(gradients[0])};
  }

 private:
  /// How many elements segment j has.
  int64_t length(size_t j) const {
    const int64_t end = j + 1 < at.size() ? at[j + 1] : edges[0].layout.shape[axis];
    return std::max<int64_t>(end - at[j], 1);
  }

  Array sums(const Array& g) const {
    std::vector<int64_t> elements, segments;
    for (size_t j = 0; j < at.size(); ++j)
      for (int64_t i = 0; i < length(j); ++i) {
        elements.push_back(at[j] + i);
        segments.push_back(static_cast<int64_t>(j));
      }
    const auto numbers = [&](const std::vector<int64_t>& v) {
      return from_host(v.data(), DType::i64, contiguous_layout(Dims{static_cast<int64_t>(v.size())}), g.device());
    };
    const Array each = take(g, numbers(segments), axis);
    Dims along(g.ndim(), 1);
    along[axis] = each.shape()[axis];
    return spread(each, broadcast_to(reshape(numbers(elements), along), each.shape()), axis, edges[0].layout.shape);
  }

  Array others(const Array& g) const {
    const Array& a = saved[0];
    const Array sum = bc::zeros(a.shape(), a.dtype(), a.device());
    const std::optional<Op> row = reduction_of(op);
    for (size_t j = 0; j < at.size(); ++j) {
      const Array part = compose::narrow(a, axis, at[j], length(j)), of_part = compose::pick(g, axis, static_cast<int64_t>(j));
      Array d;
      if (row)
        d = reduction_gradient(*row, part.shape(), uint64_t{1} << axis, 0, part, bc::reduce(*row, part, {.axes = {{axis}}}), of_part);
      else
        d = chain_gradient(op, part, of_part, axis, true);
      const Array target = compose::narrow(sum, axis, at[j], length(j));
      if (d) assign(target, target + fitted(d, part.shape(), a.dtype()));
    }
    return sum;
  }
};

// ---- Selections ----

struct CompressFunction final : LibraryFunction {
  using LibraryFunction::LibraryFunction;
  std::vector<Array> backward(std::span<const Array> gradients, const std::vector<bool>&) override {
    const Array all = bc::zeros(edges[0].layout.shape, edges[0].dtype, edges[0].device);
    IndexItem mask;
    mask.array = saved[1];
    setitem(all, std::span(&mask, 1), gradients[0]);
    return {all};
  }
};

/// Results whose lines along the last axis are elements of the operand's: sort, partition, order statistics. The places are found again.
struct OrderFunction final : LibraryFunction {
  OrderFunction(const char* name, std::span<const Array> inputs, Value v, std::vector<int64_t> ranks_, bool select_)
      : LibraryFunction(name, inputs, std::move(v)), ranks(std::move(ranks_)), select(select_) {}
  const std::vector<int64_t> ranks;
  const bool select;

  std::vector<Array> backward(std::span<const Array> gradients, const std::vector<bool>&) override {
    const Array& g = gradients[0];
    const int last = g.ndim() - 1;
    Array places = ranks.empty() || select ? argsort(saved[0], last) : argpartition(saved[0], ranks, last);
    if (select)
      places =
          take(places, from_host(ranks.data(), DType::i64, contiguous_layout(Dims{static_cast<int64_t>(ranks.size())}), g.device()), last);
    return {spread(g, places, last, edges[0].layout.shape)};
  }
};

}  // namespace

std::string library_name(const LibraryExtra& extra) {
  std::optional<Op> op;
  if (extra.kind == LibraryKind::scan && !static_cast<const ScanExtra&>(extra).join) op = static_cast<const ScanExtra&>(extra).op;
  if (extra.kind == LibraryKind::reduceat) op = static_cast<const ReduceatExtra&>(extra).op;
  return op ? std::string(info(*op).name) + "." + extra.name : extra.name;
}

Ref<GradFunction> library_function(std::span<const Array> inputs, const LibraryExtra& extra, Value value) {
  switch (extra.kind) {
    case LibraryKind::matmul: return new MatmulFunction(extra.name, inputs, std::move(value));
    case LibraryKind::scan: {
      const auto& scan = static_cast<const ScanExtra&>(extra);
      if (scan.join) return nullptr;
      return new ScanFunction(scan, inputs, std::move(value));
    }
    case LibraryKind::reduceat: return new ReduceatFunction(static_cast<const ReduceatExtra&>(extra), inputs, std::move(value));
    case LibraryKind::compress: return new CompressFunction(extra.name, inputs, std::move(value));
    case LibraryKind::sort: return new OrderFunction(extra.name, inputs, std::move(value), {}, false);
    case LibraryKind::partition:
      return new OrderFunction(extra.name, inputs, std::move(value), static_cast<const PartitionExtra&>(extra).ranks, false);
    case LibraryKind::select:
      return new OrderFunction(extra.name, inputs, std::move(value), static_cast<const SelectExtra&>(extra).ranks, true);
    case LibraryKind::linalg: return linalg_function(inputs, static_cast<const LinalgExtra&>(extra), std::move(value));
    case LibraryKind::fft: return fft_function(inputs, static_cast<const FftExtra&>(extra), std::move(value));
    case LibraryKind::sparse: return sparse_function(inputs, static_cast<const SparseExtra&>(extra), std::move(value));
    default: return nullptr;
  }
}

}  // namespace bc::autograd
