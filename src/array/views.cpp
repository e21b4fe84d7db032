// Views: new layouts over the same storage. Nothing here copies, except reshape where NumPy's does.
#include "array/array.h"
#include "core/extents.h"

namespace bc {

Array transpose(const Array& a, const Dims& axes) {
  BC_CHECK(axes.size() == a.ndim(), Value, "axes don't match array");
  Layout l;
  l.offset = a.offset();
  uint64_t seen = 0;
  for (int64_t axis : axes) {
    const int d = normalize_axis(axis, a.ndim(), "transpose");
    BC_CHECK(!(seen >> d & 1), Value, "repeated axis in transpose");
    seen |= uint64_t{1} << d;
    l.shape.push_back(a.shape()[d]);
    l.strides.push_back(a.strides()[d]);
  }
  return a.with_layout(std::move(l));
}

Array transpose(const Array& a) {
  Dims axes(a.ndim());
  for (int d = 0; d < a.ndim(); ++d) axes[d] = a.ndim() - 1 - d;
  return transpose(a, axes);
}

Array broadcast_to(const Array& a, const Dims& shape) {
  if (a.shape() == shape) return a;
  product(shape);  // Raises if the number of elements overflows.
  return a.with_layout({shape, broadcast_strides("broadcast_to", a.layout(), shape), a.offset()});
}

std::optional<Array> reshape_view(const Array& a, const Dims& shape) {
  Layout to;
  if (!reshape_layout(a.layout(), shape, &to)) return std::nullopt;
  return a.with_layout(std::move(to));
}

Array reshape(const Array& a, const Dims& shape) {
  const Dims full = reshaped_extents(a.size(), shape);
  if (auto view = reshape_view(a, full)) return *view;
  const Array packed = copy(a);
  return packed.with_layout(contiguous_layout(full));
}

namespace {

Array component(const Array& a, int which) {
  Layout l = a.layout();
  for (int64_t& s : l.strides) s *= 2;
  l.offset = 2 * l.offset + which;
  return a.seen_as(real_type(a.dtype()), std::move(l));
}

}  // namespace

Array real(const Array& a) { return is_complex(a.dtype()) ? component(a, 0) : a; }

Array imag(const Array& a) {
  if (is_complex(a.dtype())) return component(a, 1);
  return laid_out(a.shape(), copy_order(a, 'A'), [&](const Dims& shape) { return full(shape, Scalar::integer(0), a.dtype(), a.device()); });
}

Array view_dtype(const Array& a, DType dtype) {
  if (is_bool(a.dtype()) != is_bool(dtype)) a.storage()->loose_booleans.store(true, std::memory_order_relaxed);
  const int from = itemsize(a.dtype()), to = itemsize(dtype);
  if (from == to) return a.seen_as(dtype, a.layout());
  Layout l = a.layout();
  const int last = l.ndim() - 1;
  BC_CHECK(last >= 0, Value, "Changing the dtype of a 0d array is only supported if the itemsize is unchanged");
  const bool empty = l.size() == 0;
  BC_CHECK(empty || l.shape[last] <= 1 || l.strides[last] == 1, Value,
           "To change to a dtype of a different size, the last axis must be contiguous");
  if (from > to) {
    const int64_t ratio = from / to;
    for (int d = 0; d < last; ++d) l.strides[d] *= ratio;
    l.offset *= ratio;
    l.shape[last] *= ratio;
    l.strides[last] = 1;
  } else {
    const int64_t ratio = to / from;
    BC_CHECK(l.shape[last] % ratio == 0, Value,
             "When changing to a larger dtype, its size must be a divisor of the total size in bytes of the last axis of the array.");
    bool aligned = l.offset % ratio == 0;
    for (int d = 0; d < last; ++d) aligned &= l.shape[d] <= 1 || l.strides[d] % ratio == 0;
    BC_CHECK(aligned || empty, Value,
             "view: expected an array whose offset and strides are multiples of {} bytes for a view as {}, got an offset of {} and strides "
             "of {} elements of {}; view a copy() of it",
             to, info(dtype).name, l.offset, l.strides, from);
    for (int d = 0; d < last; ++d) l.strides[d] /= ratio;
    l.offset /= ratio;
    l.shape[last] /= ratio;
    l.strides[last] = 1;
  }
  return a.seen_as(dtype, std::move(l));
}

}  // namespace bc
