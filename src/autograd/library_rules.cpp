// The derivatives of the library ops.
#include "autograd/library_rules.h"

#include <utility>

#include "array/indexing.h"
#include "autograd/functions.h"
#include "ops/composite.h"
#include "ops/sorting.h"
#include "primitives/library.h"

namespace bc::autograd {
namespace {

/// A library op and what its rule reads of the operands.
struct LibraryFunction : GradFunction {
  LibraryFunction(const char* name_, std::span<const Array> inputs, Value v) : GradFunction(std::move(v)), name_of(name_) {
    for (const Array& a : inputs) {
      edges.push_back(edge_to(a));
      saved.push_back(snapshot(a));
    }
  }
  const char* name_of;
  std::vector<Array> saved;

  std::string name() const override { return name_of; }
  bool release() override {
    saved.clear();
    return true;
  }
};

// ---- Products ----

/// The conjugate transpose of matrices.
Array adjoint(const Array& a) {
  Dims axes(a.ndim());
  for (int d = 0; d < a.ndim(); ++d) axes[d] = d;
  std::swap(axes[a.ndim() - 1], axes[a.ndim() - 2]);
  return autograd::conj(transpose(a, axes));
}

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

Array reversed(const Array& a, int axis) {
  Layout l = a.layout();
  if (l.shape[axis] > 0) l.offset += (l.shape[axis] - 1) * l.strides[axis];
  l.strides[axis] = -l.strides[axis];
  return a.with_layout(std::move(l));
}

/// The sum of what comes at and after each place.
Array sum_from_behind(const Array& g, int axis) { return reversed(cumsum(reversed(g, axis), axis), axis); }

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

struct ScanFunction final : LibraryFunction {
  ScanFunction(const ScanExtra& extra, std::span<const Array> inputs, Value v)
      : LibraryFunction(extra.name, inputs, std::move(v)), op(extra.op), axis(extra.axis) {
    if (op == Op::add) saved.clear();
  }
  const Op op;
  const int axis;

  static bool has_rule(Op op) {
    return op == Op::add || op == Op::multiply || op == Op::maximum || op == Op::minimum || op == Op::fmax || op == Op::fmin;
  }
  std::string name() const override { return std::string(info(op).name) + ".accumulate"; }
  bool release() override { return op != Op::add && LibraryFunction::release(); }

  std::vector<Array> backward(std::span<const Array> gradients, const std::vector<bool>&) override {
    const Array& g = gradients[0];
    if (op == Op::add) return {sum_from_behind(g, axis)};
    const Array& a = saved[0];
    const Array y = accumulate(op, a, axis);
    return {op == Op::multiply ? product_gradient(a, y, g) : extreme_gradient(a, y, g)};
  }

 private:
  /// Each product's gradient, times it, divided by the factor. At the first zero of a line the products are those without it; behind it
  /// every product stays zero, whatever the factor is.
  Array product_gradient(const Array& a, const Array& y, const Array& g) const {
    const Array zero = autograd::equal(a, autograd::zeros_like(a));
    const Array first = autograd::logical_and(zero, autograd::equal(accumulate(Op::add, astype(zero, DType::i64), axis), Arg(1)));
    const Array without = accumulate(Op::multiply, autograd::where(first, Arg(1), a), axis);
    const Array plain = sum_from_behind(g * autograd::conj(y), axis) / autograd::conj(autograd::where(zero, Arg(1), a));
    const Array at_zero = autograd::where(first, sum_from_behind(g * autograd::conj(without), axis), autograd::zeros_like(a));
    return autograd::where(zero, at_zero, plain);
  }

  /// Each result is the last element that changed it, or that equals it.
  Array extreme_gradient(const Array& a, const Array& y, const Array& g) const {
    const Array taken = autograd::logical_or(autograd::equal(a, y), autograd::logical_and(autograd::isnan(a), autograd::isnan(y)));
    const Array places = autograd::where(taken, index_along(a.shape(), axis, a.device()), Arg(0));
    return spread(g, accumulate(Op::maximum, places, axis), axis, a.shape());
  }
};

/// Sums of segments: every element that a segment holds gets the segment's gradient.
struct ReduceatFunction final : LibraryFunction {
  ReduceatFunction(const ReduceatExtra& extra, std::span<const Array> inputs, Value v)
      : LibraryFunction("reduceat", inputs, std::move(v)), axis(extra.axis), at(extra.at) {
    saved.clear();
  }
  const int axis;
  const std::vector<int64_t> at;

  bool release() override { return false; }
  std::vector<Array> backward(std::span<const Array> gradients, const std::vector<bool>&) override {
    const Array& g = gradients[0];
    const Dims& shape = edges[0].layout.shape;
    std::vector<int64_t> elements, segments;
    for (size_t j = 0; j < at.size(); ++j) {
      const int64_t end = j + 1 < at.size() ? at[j + 1] : shape[axis];
      for (int64_t i = at[j]; i < std::max(end, at[j] + 1); ++i) {
        elements.push_back(i);
        segments.push_back(static_cast<int64_t>(j));
      }
    }
    const auto numbers = [&](const std::vector<int64_t>& v) {
      return from_host(v.data(), DType::i64, contiguous_layout(Dims{static_cast<int64_t>(v.size())}), g.device());
    };
    const Array each = take(g, numbers(segments), axis);
    Dims along(g.ndim(), 1);
    along[axis] = each.shape()[axis];
    return {spread(each, broadcast_to(reshape(numbers(elements), along), each.shape()), axis, shape)};
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
      if (scan.fold || scan.join || !ScanFunction::has_rule(scan.op)) return nullptr;
      return new ScanFunction(scan, inputs, std::move(value));
    }
    case LibraryKind::reduceat: {
      const auto& segments = static_cast<const ReduceatExtra&>(extra);
      if (segments.op != Op::add) return nullptr;
      return new ReduceatFunction(segments, inputs, std::move(value));
    }
    case LibraryKind::compress: return new CompressFunction(extra.name, inputs, std::move(value));
    case LibraryKind::sort: return new OrderFunction(extra.name, inputs, std::move(value), {}, false);
    case LibraryKind::partition:
      return new OrderFunction(extra.name, inputs, std::move(value), static_cast<const PartitionExtra&>(extra).ranks, false);
    case LibraryKind::select:
      return new OrderFunction(extra.name, inputs, std::move(value), static_cast<const SelectExtra&>(extra).ranks, true);
    default: return nullptr;
  }
}

}  // namespace bc::autograd
