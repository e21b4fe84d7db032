// Indexing as NumPy does it: basic items become views; integer arrays become gathers and scatters; a boolean array becomes its nonzero
// coordinates, or a `where` in an assignment that does not need their number.
#include "array/indexing.h"

#include "array/array.h"
#include "array/placement.h"
#include "array/record.h"
#include "array/small_host.h"
#include "core/error.h"
#include "primitives/library.h"

namespace bc {
namespace {

using Kind = SliceItem::Kind;

/// One entry of the normalised expression.
struct Entry {
  enum class What : uint8_t { axis, fixed, index, mask } what = What::axis;
  int64_t extent = 1;
  int64_t stride = 0;
  Array array;  ///< index (int64) or mask (its axes follow in `mask_extents`)
  Dims mask_extents;
  Dims mask_strides;
};

struct Walk {
  std::vector<Entry> entries;
  int64_t offset = 0;
  bool advanced = false;
};

/// "(2,3)", as NumPy's indexing errors write a shape.
std::string numpy_shape(const Dims& d) {
  std::string s = "(";
  for (int i = 0; i < d.size(); ++i) s += (i ? "," : "") + std::to_string(d[i]);
  return s + (d.size() == 1 ? ",)" : ")");
}

int axes_of(const IndexItem& item) {
  if (item.array) return is_bool(item.array.dtype()) ? item.array.ndim() : 1;
  return item.basic.kind == Kind::index || item.basic.kind == Kind::slice ? 1 : 0;
}

/// The start and the number of elements of a Python slice over n.
std::pair<int64_t, int64_t> slice_range(const SliceItem& s, int64_t n) {
  BC_CHECK(s.step != 0, Value, "slice step cannot be zero");
  const int64_t low = s.step < 0 ? -1 : 0, high = s.step < 0 ? n - 1 : n;
  auto bound = [&](int64_t v) {
    if (v < 0) v += n;
    return std::clamp(v, low, high);
  };
  const int64_t start = s.has_start ? bound(s.start) : s.step < 0 ? high : low;
  const int64_t stop = s.has_stop ? bound(s.stop) : s.step < 0 ? low : high;
  if (s.step > 0) return {start, stop > start ? (stop - start - 1) / s.step + 1 : 0};
  // -(step + 1) + 1 keeps the most negative step from overflowing.
  return {start,
          start > stop ? static_cast<int64_t>(static_cast<uint64_t>(start - stop - 1) / (0 - static_cast<uint64_t>(s.step))) + 1 : 0};
}

/// Applies an integer or a slice to one axis: adds its start to the offset, and for a slice sets extent and stride.
void resolve_axis(const SliceItem& item, const Array& a, int axis, int64_t* offset, int64_t* extent, int64_t* stride) {
  const int64_t n = a.shape()[axis], step = a.strides()[axis];
  if (item.kind == Kind::index) {
    const int64_t i = item.start;
    BC_CHECK(i >= -n && i < n, Index, "index {} is out of bounds for axis {} with size {}", i, axis, n);
    *offset += (i < 0 ? i + n : i) * step;
    return;
  }
  const auto [start, count] = slice_range(item, n);
  if (count > 0) *offset += start * step;
  *extent = count;
  *stride = count > 1 ? step * item.step : step;
}

constexpr const char* kTwoEllipses = "an index can only have a single ellipsis ('...')";
constexpr const char* kTooMany = "too many indices for array: array is {}-dimensional, but {} were indexed";

/// Applies the items to the array: slices and integers change strides and offset; axes indexed by arrays are kept.
Walk walk(const Array& a, std::span<const IndexItem> items) {
  int used = 0;
  bool ellipsis = false;
  for (const IndexItem& item : items) {
    used += axes_of(item);
    if (!item.array && item.basic.kind == Kind::ellipsis) {
      BC_CHECK(!ellipsis, Index, kTwoEllipses);
      ellipsis = true;
    }
  }
  BC_CHECK(used <= a.ndim(), Index, kTooMany, a.ndim(), used);

  Walk w;
  w.offset = a.offset();
  int axis = 0;
  auto keep_axes = [&](int n) {
    for (; n > 0; --n, ++axis) {
      Entry e;
      e.extent = a.shape()[axis];
      e.stride = a.strides()[axis];
      w.entries.push_back(std::move(e));
    }
  };
  for (const IndexItem& item : items) {
    Entry e;
    if (item.array && is_bool(item.array.dtype())) {
      e.what = Entry::What::mask;
      e.array = item.array;
      for (int d = 0; d < item.array.ndim(); ++d, ++axis) {
        // As in NumPy, a mask of extent 0 along an axis fits any extent.
        BC_CHECK(item.array.shape()[d] == a.shape()[axis] || item.array.shape()[d] == 0, Index,
                 "boolean index did not match indexed array along axis {}; size of axis is {} but size of corresponding boolean axis is {}",
                 axis, a.shape()[axis], item.array.shape()[d]);
        e.mask_extents.push_back(a.shape()[axis]);
        e.mask_strides.push_back(a.strides()[axis]);
      }
      w.advanced = true;
    } else if (item.array) {
      BC_CHECK(is_integer(item.array.dtype()), Index, "arrays used as indices must be of integer (or boolean) type");
      e.what = Entry::What::index;
      e.array = astype(beside(item.array, a), DType::i64, false);
      e.extent = a.shape()[axis];
      e.stride = a.strides()[axis];
      ++axis;
      w.advanced = true;
    } else if (item.basic.kind == Kind::index || item.basic.kind == Kind::slice) {
      if (item.basic.kind == Kind::index) e.what = Entry::What::fixed;
      resolve_axis(item.basic, a, axis, &w.offset, &e.extent, &e.stride);
      ++axis;
    } else if (item.basic.kind == Kind::ellipsis) {
      keep_axes(a.ndim() - used);
      // An ellipsis for zero axes still separates the advanced indices around it.
      e.what = Entry::What::axis;
      e.extent = -1;
    }  // a newaxis is an axis of extent 1 with stride 0
    w.entries.push_back(std::move(e));
  }
  keep_axes(a.ndim() - axis);
  return w;
}

bool parts(const Entry& e) { return e.what == Entry::What::axis; }
bool is_marker(const Entry& e) { return e.what == Entry::What::axis && e.extent < 0; }

Layout basic_layout(const Walk& w) {
  Layout l;
  l.offset = w.offset;
  for (const Entry& e : w.entries) {
    if (e.what != Entry::What::axis || is_marker(e)) continue;
    l.shape.push_back(e.extent);
    l.strides.push_back(e.stride);
  }
  return l;
}

/// An advanced expression with masks expanded: an index space, and for each of its axes and indices the axis of `view`.
struct Advanced {
  Array view;                  ///< slices and integers are applied; indexed axes are kept in full, in order
  Dims shape;                  ///< shape of the index space and the result
  Dims axis;                   ///< result axis → view axis, -1 along the indices' own axes
  std::vector<Array> indices;  ///< shaped to broadcast to `shape`
  Dims index_axis;             ///< index k → view axis
};

/// The number of elements that the compaction of a mask finds: those with a nonzero byte. A view of other integers, or another library's
/// memory, may have true values other than 1, so bytes are counted; a pending mask is computed as 0 and 1.
int64_t count_of_mask(const Array& mask) {
  const bool bytes = is_bool(mask.dtype()) && !storage_facts(mask).pending;
  return item(reduce(Op::reduce_count_nonzero, bytes ? mask.seen_as(DType::u8, mask.layout()) : mask)).i;
}

std::vector<Array> nonzero_of_mask(const Array& mask) {
  const int64_t count = count_of_mask(mask);
  const Dims shape{mask.ndim(), count};
  const Array found =
      record_library({astype(mask, DType::b1, false)}, {mask.shape()}, std::make_unique<NonzeroExtra>(), shape, DType::i64, mask.device());
  std::vector<Array> rows;
  for (int d = 0; d < mask.ndim(); ++d) rows.push_back(found.with_layout({Dims{count}, Dims{1}, d * count}));
  return rows;
}

/// Expands an advanced expression by NumPy's rules: masks become index arrays, all index arrays are broadcast together, and their axes come
/// where they stand in the expression, or first if something stands between them.
class Expansion {
 public:
  Expansion(const Array& a, const Walk& w) : a_(a) {
    view_.offset = w.offset;
    bool inside = false;  // between neighbouring indices
    for (const Entry& e : w.entries) {
      if (parts(e)) {
        inside = false;
        if (!is_marker(e)) add_basic(e);
        continue;
      }
      if (!inside) {
        ++groups_;
        if (at_ < 0) at_ = shape_after_.size();
        inside = true;
      }
      if (e.what == Entry::What::index)
        add_index(e.array, e.extent, e.stride);
      else if (e.what == Entry::What::mask && e.array.ndim() == 0)
        add_truth(e);
      else if (e.what == Entry::What::mask)
        add_mask(e);
    }
  }

  Advanced finish() && {
    if (!fits_) raise_mismatch();
    if (groups_ > 1) at_ = 0;  // separated by a slice: NumPy puts the indices' axes first
    for (int d = 0; d < at_; ++d) add_result_axis(shape_after_[d], axis_after_[d]);
    for (int64_t n : common_) add_result_axis(n, -1);
    for (int d = at_; d < shape_after_.size(); ++d) add_result_axis(shape_after_[d], axis_after_[d]);
    const int trailing = shape_after_.size() - at_;
    for (const Array& index : indices_) {
      Layout l = index.layout();
      for (int d = 0; d < trailing; ++d) l.shape.push_back(1), l.strides.push_back(0);
      r_.indices.push_back(index.with_layout(std::move(l)));
    }
    r_.view = a_.with_layout(std::move(view_));
    return std::move(r_);
  }

 private:
  void add_view_axis(int64_t extent, int64_t stride) {
    view_.shape.push_back(extent);
    view_.strides.push_back(stride);
  }
  void add_result_axis(int64_t extent, int64_t view_axis) {
    r_.shape.push_back(extent);
    r_.axis.push_back(view_axis);
  }
  void add_basic(const Entry& e) {
    axis_after_.push_back(view_.ndim());
    shape_after_.push_back(e.extent);
    add_view_axis(e.extent, e.stride);
  }

  /// An index array into the next axis of the view.
  void add_index(const Array& index, int64_t extent, int64_t stride) {
    r_.index_axis.push_back(view_.ndim());
    add_view_axis(extent, stride);
    broadcast(index);
    indices_.push_back(index);
  }
  /// True and False index no axis: they add an axis of extent 1 or 0, by an index of zeros into a broadcast axis.
  void add_truth(const Entry& e) {
    const int64_t n = item(e.array).i != 0;
    add_index(full(Dims{n}, Scalar::integer(0), DType::i64, a_.device()), 1, 0);
  }
  /// A mask of several axes: an index array for each.
  void add_mask(const Entry& e) {
    Array mask = beside(e.array, a_);
    Dims extents = e.mask_extents, strides = e.mask_strides;
    // Axes that can be collapsed to one are indexed as one.
    bool even = mask.ndim() > 1 && mask.shape() == extents;
    for (int d = 0; d + 1 < extents.size(); ++d) even &= strides[d] == strides[d + 1] * extents[d + 1];
    if (even)
      if (const auto line = reshape_view(mask, Dims{mask.size()})) {
        mask = *line;
        strides = Dims{strides[strides.size() - 1]};
        extents = Dims{mask.size()};
      }
    const std::vector<Array> rows = nonzero_of_mask(mask);
    for (int d = 0; d < mask.ndim(); ++d) add_index(rows[static_cast<size_t>(d)], extents[d], strides[d]);
  }

  /// Broadcasts an index with those before it; where it does not fit, an error names all of them at the end.
  void broadcast(const Array& index) {
    Dims joined(std::max(common_.size(), index.ndim()), 1);
    bool fits = true;
    for (int d = 1; d <= joined.size(); ++d) {
      const int64_t x = d <= common_.size() ? common_[common_.size() - d] : 1;
      const int64_t y = d <= index.ndim() ? index.shape()[index.ndim() - d] : 1;
      fits &= x == y || x == 1 || y == 1;
      joined[joined.size() - d] = x == 1 ? y : x;
    }
    if (fits) common_ = std::move(joined);
    fits_ &= fits;
  }
  [[noreturn]] void raise_mismatch() const {
    std::string shapes;
    for (const Array& index : indices_)
      if (index.ndim() > 0) shapes += numpy_shape(index.shape()) + " ";
    raise(ErrorKind::Index, "shape mismatch: indexing arrays could not be broadcast together with shapes {}", shapes);
  }

  const Array& a_;
  Advanced r_;
  Layout view_;
  std::vector<Array> indices_;     // before the axes after the indices' own are appended to them
  Dims shape_after_, axis_after_;  // basic axes of the result, before the indices' axes are inserted
  int at_ = -1;                    // the position of the indices' axes
  int groups_ = 0;                 // of neighbouring indices
  Dims common_;                    // what the indices broadcast to
  bool fits_ = true;
};

Advanced expand(const Array& a, const Walk& w) { return Expansion(a, w).finish(); }

Array gather(Advanced x) {
  GatherExtra extra;
  extra.offset = x.view.offset();
  for (int64_t axis : x.axis) extra.base_strides.push_back(axis < 0 ? 0 : x.view.strides()[static_cast<int>(axis)]);
  for (int64_t axis : x.index_axis) {
    extra.index_extents.push_back(x.view.shape()[static_cast<int>(axis)]);
    extra.index_strides.push_back(x.view.strides()[static_cast<int>(axis)]);
  }
  return record_gather(x.view, std::move(x.indices), std::move(extra), x.shape);
}

/// The single mask of an expression whose other items are slices, or nullptr.
const Entry* only_mask(const Walk& w) {
  const Entry* mask = nullptr;
  for (const Entry& e : w.entries) {
    if (e.what == Entry::What::index || e.what == Entry::What::fixed) return nullptr;
    if (e.what != Entry::What::mask) continue;
    if (mask || e.array.ndim() == 0) return nullptr;
    mask = &e;
  }
  return mask;
}

/// a[mask] = value as a `where`, if the value does not need the number of true elements. Returns whether it was done.
bool assign_masked(const Array& a, const Walk& w, const Entry& mask, const Arg& value) {
  if (mask.array.size() == 0 && !(mask.array.shape() == mask.mask_extents)) return false;  // it fits because it is empty
  Layout view;
  view.offset = w.offset;
  int before = 0;
  for (const Entry& e : w.entries) {
    if (&e == &mask) {
      before = view.ndim();
      for (int d = 0; d < e.mask_extents.size(); ++d) view.shape.push_back(e.mask_extents[d]), view.strides.push_back(e.mask_strides[d]);
    } else if (!is_marker(e)) {
      view.shape.push_back(e.extent);
      view.strides.push_back(e.stride);
    }
  }
  const int after = view.ndim() - before - mask.array.ndim();
  // The value has the shape (before…, count, after…); with an extent of 1 along count, it is the same for every element.
  Arg v = value;
  if (value.weak == Weak::none) {
    Layout l = value.array.layout();
    while (l.ndim() > 0 && l.ndim() > before + 1 + after) {
      if (l.shape[0] != 1) return false;
      l.shape.erase(0), l.strides.erase(0);
    }
    const int at = l.ndim() - after - 1;
    if (at >= 0) {
      if (l.shape[at] != 1) return false;
      for (int d = 1; d < mask.array.ndim(); ++d) l.shape.insert(at, 1), l.strides.insert(at, 0);
    }
    for (int d = 1; d <= l.ndim(); ++d)  // if it does not broadcast, the error is raised where the count is known
      if (l.shape[l.ndim() - d] != 1 && l.shape[l.ndim() - d] != view.shape[view.ndim() - d]) return false;
    v = Arg(value.array.with_layout(std::move(l)));
  }
  const Array m = mask.array.device() == a.device() ? mask.array : to_device(mask.array, a.device());
  Layout ml = m.layout();
  for (int d = 0; d < after; ++d) ml.shape.push_back(1), ml.strides.push_back(0);
  assign_where(a.with_layout(std::move(view)), m.with_layout(std::move(ml)), v);
  return true;
}

/// The value as an array of `dtype` that broadcasts to the index space.
Array value_for(const Array& target, const Advanced& x, const Arg& value, bool by_mask, DType dtype) {
  Array v = stored(value, dtype, target.device());
  if (v.device() != target.device()) v = to_device(v, target.device());
  Layout l = v.layout();
  while (l.ndim() > x.shape.size() && l.shape[0] == 1) l.shape.erase(0), l.strides.erase(0);
  bool fits = l.ndim() <= x.shape.size();
  for (int d = 1; fits && d <= l.ndim(); ++d) {
    const int64_t n = l.shape[l.ndim() - d];
    fits = n == 1 || n == x.shape[x.shape.size() - d];
  }
  if (!fits && by_mask && v.ndim() == 1)
    raise(ErrorKind::Value,
          "NumPy boolean array indexing assignment cannot assign {} input values to the {} output values where the mask is true", v.size(),
          product(x.shape));
  BC_CHECK(fits, Value, "shape mismatch: value array of shape {} could not be broadcast to indexing result of shape {}",
           numpy_shape(v.shape()), numpy_shape(x.shape));
  return astype(v.with_layout(std::move(l)), dtype, false);
}

/// An asynchronous library op cannot raise: the index passes through a gather of a single zero, whose kernel reports an index out of range
/// at the next synchronisation, with the program's line. (On the CPU the body checks the indices itself.)
Array checked(const Array& index, int64_t extent) {
  if (!traits(index.device()).asynchronous || index.size() == 0) return index;
  GatherExtra extra;
  extra.base_strides = Dims(index.ndim(), 0);
  extra.index_extents = Dims{extent};
  extra.index_strides = Dims{0};
  const Array zero = full(Dims{1}, Scalar::integer(0), DType::i64, index.device());
  return ufunc(Op::add, {index, record_gather(zero, {index}, std::move(extra), index.shape())});
}

}  // namespace

Array slice(const Array& a, std::span<const SliceItem> items) {
  int used = 0, ellipses = 0;
  for (const SliceItem& item : items) {
    used += item.kind == Kind::index || item.kind == Kind::slice;
    ellipses += item.kind == Kind::ellipsis;
  }
  BC_CHECK(ellipses <= 1, Index, kTwoEllipses);
  BC_CHECK(used <= a.ndim(), Index, kTooMany, a.ndim(), used);
  Layout l;
  l.offset = a.offset();
  int axis = 0;
  const auto keep = [&](int64_t extent, int64_t stride) {
    l.shape.push_back(extent);
    l.strides.push_back(stride);
  };
  const auto keep_axes = [&](int n) {
    for (; n > 0; --n, ++axis) keep(a.shape()[axis], a.strides()[axis]);
  };
  for (const SliceItem& item : items) {
    if (item.kind == Kind::newaxis) {
      keep(1, 0);
    } else if (item.kind == Kind::ellipsis) {
      keep_axes(a.ndim() - used);
    } else {
      int64_t extent = 0, stride = 0;
      resolve_axis(item, a, axis++, &l.offset, &extent, &stride);
      if (item.kind == Kind::slice) keep(extent, stride);
    }
  }
  keep_axes(a.ndim() - axis);
  return a.with_layout(std::move(l));
}

Array getitem(const Array& a, std::span<const IndexItem> items) {
  if (items.size() == 1 && items[0].array)
    if (std::optional<Array> few = pick_small(a, items[0].array)) return *few;
  const Walk w = walk(a, items);
  if (!w.advanced) return a.with_layout(basic_layout(w));
  // a[mask]: one compaction, without a list of coordinates.
  if (const Entry* mask = only_mask(w); mask && &w.entries.front() == mask && mask->array.device() == a.device()) {
    bool whole = true;
    for (size_t i = 1; i < w.entries.size(); ++i) whole &= w.entries[i].what == Entry::What::axis && w.entries[i].extent != 0;
    if (whole) {
      Layout view;
      view.offset = w.offset;
      view.shape = mask->mask_extents;
      view.strides = mask->mask_strides;
      Dims shape{0};
      for (size_t i = 1; i < w.entries.size(); ++i) {
        if (is_marker(w.entries[i])) continue;
        view.shape.push_back(w.entries[i].extent), view.strides.push_back(w.entries[i].stride);
        shape.push_back(w.entries[i].extent);
      }
      shape[0] = count_of_mask(mask->array);
      return record_library({a.with_layout(view), mask->array}, {view.shape, mask->array.shape()}, std::make_unique<CompressExtra>(), shape,
                            a.dtype(), a.device());
    }
  }
  return gather(expand(a, w));
}

void setitem(const Array& a, std::span<const IndexItem> items, const Arg& value) {
  if (a.has_loose_booleans()) [[unlikely]]
    return setitem(as_bytes(a), items, as_bytes(value, a.device()));
  const Walk w = walk(a, items);
  if (!w.advanced) {
    const Array target = a.with_layout(basic_layout(w));
    if (value.weak != Weak::none) return assign(target, value);
    return assign(target, value.array.device() == a.device() ? value.array : to_device(value.array, a.device()));
  }
  const bool by_mask = w.entries.size() == 1 && w.entries[0].what == Entry::What::mask && w.entries[0].array.ndim() == a.ndim();
  BC_CHECK(!by_mask || value.weak != Weak::none || value.array.ndim() <= 1, Type,
           "NumPy boolean array indexing assignment requires a 0 or 1-dimensional input, input has {} dimensions", value.array.ndim());
  if (const Entry* mask = only_mask(w)) {
    if (value.weak != Weak::none || value.array.device() == a.device()) {
      if (assign_masked(a, w, *mask, value)) return;
    }
  }
  Advanced x = expand(a, w);
  scatter(Op::leaf, x.view, x.shape, x.axis, std::move(x.indices), x.index_axis, value_for(a, x, value, by_mask, a.dtype()));
}

void scatter(Op op, const Array& target, const Dims& shape, const Dims& axis, std::vector<Array> indices, const Dims& index_axis,
             const Array& value) {
  if (product(shape) == 0) return;
  if (target.has_loose_booleans() && op == Op::leaf) [[unlikely]]
    return scatter(op, as_bytes(target), shape, axis, std::move(indices), index_axis, as_bytes(value, target.device()));
  std::vector<Array> inputs;
  inputs.push_back(broadcast_to(value, shape));
  for (size_t k = 0; k < indices.size(); ++k)
    inputs.push_back(broadcast_to(checked(indices[k], target.shape()[static_cast<int>(index_axis[k])]), shape));
  record_store_library(target, std::move(inputs), std::make_unique<ScatterExtra>(op, axis, index_axis));
}

Array count_places(const Array& places, int64_t bins, const Arg& weight, DType t) {
  const Array counts = full(Dims{bins}, Scalar::integer(0), t, places.device());
  if (places.size() == 0) return counts;
  const Array line = reshape(astype(places, DType::i64, false), Dims{places.size()});
  Array each = stored(weight, t, places.device());
  if (each.size() != 1) each = reshape(each, line.shape());
  record_store_library(counts, {broadcast_to(each, line.shape()), line}, std::make_unique<ScatterExtra>(Op::add, Dims{-1}, Dims{0}));
  return counts;
}

void scatter_items(Op op, const Array& a, std::span<const IndexItem> items, const Arg& value, DType loop) {
  // The bytes of the affected elements become 0 or 1 first.
  if (a.has_loose_booleans()) [[unlikely]]
    setitem(a, items, getitem(a, items));
  Advanced x = expand(a, walk(a, items));
  scatter(op, x.view, x.shape, x.axis, std::move(x.indices), x.index_axis, value_for(a, x, value, false, loop));
}

std::vector<Array> nonzero(const Array& a) {
  BC_CHECK(
      a.ndim() > 0, Value,
      "Calling nonzero on 0d arrays is not allowed. Use np.atleast_1d(scalar).nonzero() instead. If the context of this error is of the "
      "form `arr[nonzero(cond)]`, just use `arr[cond]`.");
  if (std::optional<Array> few = nonzero_small(a)) return {std::move(*few)};
  return nonzero_of_mask(a);
}

}  // namespace bc
