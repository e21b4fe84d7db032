// Einstein sums of one and of two operands: diagonals and transposes are views, the rest is one matrix product or one fused pass.
#include "ops/einsum.h"

#include <algorithm>

#include "array/placement.h"
#include "ops/compose.h"

namespace bc {
using namespace compose;

namespace {

/// An array with a label for each axis.
struct Labelled {
  Array array;
  Axes labels;

  /// The axis of a label, or -1.
  int find(int64_t label) const {
    const auto at = std::find(labels.begin(), labels.end(), label);
    return at == labels.end() ? -1 : static_cast<int>(at - labels.begin());
  }
  bool has(int64_t label) const { return find(label) >= 0; }
  int64_t extent(int64_t label) const { return array.shape()[find(label)]; }
  int64_t extent(const Axes& of) const {
    int64_t n = 1;
    for (int64_t label : of) n *= extent(label);
    return n;
  }
};

bool contains(const Axes& labels, int64_t label) { return std::find(labels.begin(), labels.end(), label) != labels.end(); }

Axes joined(Axes a, const Axes& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

/// A view in which each label has one axis: that of the diagonal where it had several.
Labelled diagonals(const Array& a, const Axes& labels) {
  BC_CHECK(static_cast<size_t>(a.ndim()) == labels.size(), Value, "einsum: expected one label an axis, got {} for shape {}", labels.size(),
           a.shape());
  Layout l;
  l.offset = a.offset();
  Axes kept;
  for (int d = 0; d < a.ndim(); ++d) {
    const int64_t label = labels[static_cast<size_t>(d)], extent = a.shape()[d];
    const auto before = std::find(kept.begin(), kept.end(), label);
    if (before == kept.end()) {
      kept.push_back(label);
      l.shape.push_back(extent);
      l.strides.push_back(a.strides()[d]);
      continue;
    }
    const int first = static_cast<int>(before - kept.begin());
    BC_CHECK(l.shape[first] == extent, Value, "einsum: dimensions of a repeated label don't match ({} != {})", l.shape[first], extent);
    l.strides[first] += a.strides()[d];
  }
  return {a.with_layout(std::move(l)), std::move(kept)};
}

/// A view with the axes in the order of `labels`, of extent 1 where the array has none.
Array arranged(const Labelled& a, const Axes& labels) {
  Layout l;
  l.offset = a.array.offset();
  for (int64_t label : labels) {
    const int d = a.find(label);
    l.shape.push_back(d < 0 ? 1 : a.array.shape()[d]);
    l.strides.push_back(d < 0 ? 0 : a.array.strides()[d]);
  }
  return a.array.with_layout(std::move(l));
}

/// The dtype in which products of `t` are added up: halves in single precision, as NumPy does.
DType sum_dtype(DType t) { return is_small_float(t) ? DType::f32 : t; }

Array add_up(const Array& a, Axes axes, DType t) {
  ReduceOptions o = over(std::move(axes));
  if (is_bool(t)) return reduce(Op::reduce_any, a, o);
  o.dtype = sum_dtype(t);
  return cast(sum(a, o), t);
}

/// Sums over the axes whose label is not kept.
Labelled summed(const Labelled& a, DType t, const Axes& kept) {
  Axes axes;
  Labelled r;
  for (size_t d = 0; d < a.labels.size(); ++d) {
    if (contains(kept, a.labels[d]))
      r.labels.push_back(a.labels[d]);
    else
      axes.push_back(static_cast<int64_t>(d));
  }
  r.array = axes.empty() ? a.array : add_up(cast(a.array, t), std::move(axes), t);
  return r;
}

/// Takes away the axes of extent 1 that are longer in the other operand: they are broadcast.
void drop_broadcast(Labelled* a, const Labelled& other) {
  for (size_t d = a->labels.size(); d-- > 0;) {
    const int64_t label = a->labels[d];
    if (a->array.shape()[static_cast<int>(d)] != 1 || !other.has(label) || other.extent(label) == 1) continue;
    a->array = pick(a->array, static_cast<int>(d), 0);
    a->labels.erase(a->labels.begin() + static_cast<std::ptrdiff_t>(d));
  }
}

/// (batch…, rows, columns): the matrix that a matrix product takes.
Array as_matrices(const Labelled& a, const Axes& batch, const Axes& rows, const Axes& columns) {
  Dims shape;
  for (int64_t label : batch) shape.push_back(a.extent(label));
  shape.push_back(a.extent(rows));
  shape.push_back(a.extent(columns));
  return reshape(arranged(a, joined(joined(batch, rows), columns)), shape);
}

Array product_of_matrices(const Labelled& a, const Labelled& b, const Axes& batch, const Axes& left, const Axes& right, const Axes& shared,
                          const Axes& out) {
  const Array made = matmul(as_matrices(a, batch, left, shared), as_matrices(b, batch, shared, right));
  Labelled r{{}, joined(joined(batch, left), right)};
  Dims shape;
  for (int64_t label : r.labels) shape.push_back(a.has(label) ? a.extent(label) : b.extent(label));
  r.array = reshape(made, shape);
  return arranged(r, out);
}

}  // namespace

Array einsum(const Array& a, const Axes& labels, const Axes& out, DType t) {
  const Labelled given = diagonals(a, labels);
  return arranged(summed(given, t, out), out);
}

Array einsum(const Array& a_in, const Axes& a_labels, const Array& b_in, const Axes& b_labels, const Axes& out, DType t) {
  check_one_place("einsum", a_in, b_in);
  Labelled a = diagonals(a_in, a_labels), b = diagonals(b_in, b_labels);
  drop_broadcast(&a, b);
  drop_broadcast(&b, a);
  a = summed(a, t, joined(out, b.labels));
  b = summed(b, t, joined(out, a.labels));
  Axes batch, left, right, shared;
  for (int64_t label : a.labels) (!b.has(label) ? left : contains(out, label) ? batch : shared).push_back(label);
  for (int64_t label : b.labels)
    if (!a.has(label)) right.push_back(label);
  a.array = cast(a.array, t);
  b.array = cast(b.array, t);
  if (shared.empty()) return multiply(arranged(a, out), arranged(b, out));
  if (a.extent(left) != 1 && b.extent(right) != 1) {
    // The operand whose axes come first in the result gives the rows.
    const auto first = std::find_if(out.begin(), out.end(), [&](int64_t label) { return !contains(batch, label); });
    return contains(right, *first) ? product_of_matrices(b, a, batch, right, left, shared, out)
                                   : product_of_matrices(a, b, batch, left, right, shared, out);
  }
  // Vectors: one pass that multiplies and adds.
  const Axes all = joined(out, shared);
  const DType wide = sum_dtype(t);
  Axes axes;
  for (size_t d = out.size(); d < all.size(); ++d) axes.push_back(static_cast<int64_t>(d));
  return add_up(multiply(cast(arranged(a, all), wide), cast(arranged(b, all), wide)), std::move(axes), t);
}

}  // namespace bc
