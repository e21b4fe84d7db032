#pragma once
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>

#include "core/error.h"

namespace bc {

inline constexpr int kMaxDims = 64;

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"  // uninitialized elements past the size are copied with the others
#endif
/// A short list of extents, strides or axes; up to six stay inside the object.
class Dims {
 public:
  Dims() {}  // NOLINT(modernize-use-equals-default): leaves inline_ uninitialized, also in constants
  explicit Dims(int n, int64_t value = 0) { resize(n, value); }
  Dims(std::initializer_list<int64_t> values) : Dims(std::span<const int64_t>(values.begin(), values.size())) {}
  explicit Dims(std::span<const int64_t> values) {
    resize(static_cast<int>(values.size()));
    std::copy(values.begin(), values.end(), data());
  }
  // Copies all of inline_, used or not: three vector moves cost less than a loop or a call.
  Dims(const Dims& o) : size_(o.size_) {
    if (!o.heap_) [[likely]]
      std::memcpy(inline_, o.inline_, sizeof(inline_));
    else
      copy_heap(o);
  }
  Dims(Dims&& o) noexcept : size_(o.size_), heap_(o.heap_) {
    std::memcpy(inline_, o.inline_, sizeof(inline_));
    o.size_ = 0;
    o.heap_ = nullptr;
  }
  Dims& operator=(const Dims& o) {
    if (!heap_ && !o.heap_) [[likely]] {
      size_ = o.size_;
      std::memmove(inline_, o.inline_, sizeof(inline_));
    } else if (this != &o) {
      resize(o.size_);
      std::copy(o.begin(), o.end(), data());
    }
    return *this;
  }
  Dims& operator=(Dims&& o) noexcept {
    if (this != &o) {
      delete[] heap_;
      size_ = o.size_;
      heap_ = o.heap_;
      std::memcpy(inline_, o.inline_, sizeof(inline_));
      o.size_ = 0;
      o.heap_ = nullptr;
    }
    return *this;
  }
  ~Dims() {
    if (heap_) [[unlikely]]
      delete[] heap_;
  }

  int size() const { return size_; }
  bool empty() const { return size_ == 0; }
  int64_t* data() { return heap_ ? heap_ : inline_; }
  const int64_t* data() const { return heap_ ? heap_ : inline_; }
  int64_t* begin() { return data(); }
  int64_t* end() { return data() + size_; }
  const int64_t* begin() const { return data(); }
  const int64_t* end() const { return data() + size_; }
  int64_t& operator[](int i) { return data()[i]; }
  int64_t operator[](int i) const { return data()[i]; }
  int64_t& back() { return data()[size_ - 1]; }
  int64_t back() const { return data()[size_ - 1]; }

  /// Grows or shrinks; new elements are `value`, the others stay. Throws ValueError over kMaxDims.
  void resize(int n, int64_t value = 0) {
    BC_CHECK(n <= kMaxDims, Value, "array: expected at most {} dimensions, got {}", kMaxDims, n);
    if (n > kInline && !heap_) {
      heap_ = new int64_t[kMaxDims];
      std::copy(inline_, inline_ + size_, heap_);
    }
    for (int i = size_; i < n; ++i) data()[i] = value;
    size_ = n;
  }
  void push_back(int64_t v) { resize(size_ + 1, v); }
  void insert(int at, int64_t v) {
    resize(size_ + 1);
    std::copy_backward(data() + at, data() + size_ - 1, data() + size_);
    data()[at] = v;
  }
  void erase(int at) {
    std::copy(data() + at + 1, data() + size_, data() + at);
    --size_;
  }
  bool operator==(const Dims& o) const {
    if (size_ != o.size_) return false;
    const int64_t *a = data(), *b = o.data();
    for (int i = 0; i < size_; ++i)
      if (a[i] != b[i]) return false;
    return true;
  }
  std::span<const int64_t> span() const { return {data(), static_cast<size_t>(size_)}; }

 private:
  static constexpr int kInline = 6;

  void copy_heap(const Dims& o) {
    size_ = 0;
    resize(o.size_);
    std::copy(o.begin(), o.end(), data());
  }

  int32_t size_ = 0;
  int64_t* heap_ = nullptr;
  int64_t inline_[kInline];  // elements from size_ on are uninitialized
};
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif

namespace detail {
int64_t checked_product(const Dims& shape);
}
/// Number of elements. Throws ValueError for a negative extent, and when the number does not fit 63 bits.
inline int64_t product(const Dims& shape) {
  return shape.size() == 1 && shape[0] >= 0 ? shape[0] : shape.empty() ? 1 : detail::checked_product(shape);
}
/// "(3, 4)", "(3,)", "()".
std::string to_string(const Dims& dims);

/// Where the elements of a view lie in its storage: element k is at offset + Σ index[d] * strides[d], in elements of the view's dtype.
struct Layout {
  Dims shape;
  Dims strides;
  int64_t offset = 0;

  int ndim() const { return shape.size(); }
  int64_t size() const { return product(shape); }
  bool operator==(const Layout&) const = default;
};

/// C-order strides in elements.
Dims contiguous_strides(const Dims& shape);
Layout contiguous_layout(const Dims& shape);
bool is_contiguous(const Dims& shape, const Dims& strides);
bool is_f_contiguous(const Dims& shape, const Dims& strides);

/// NumPy's broadcast of two shapes. Throws ValueError naming `op` and both shapes.
Dims broadcast_shapes(const char* op, const Dims& a, const Dims& b);
/// The strides of a layout when it is broadcast to `shape` (0 along stretched axes). Throws ValueError when it cannot be broadcast.
Dims broadcast_strides(const char* op, const Layout& layout, const Dims& shape);

/// Normalises a possibly negative axis. Throws AxisError with NumPy's message.
int normalize_axis(int64_t axis, int ndim, const char* op);

/// The layout of the same elements under another shape without a copy; false when a copy is needed.
bool reshape_layout(const Layout& from, const Dims& shape, Layout* to);

/// The lowest and the highest element index that the layout reaches, inclusive; for an empty layout low > high.
void bounds(const Layout& layout, int64_t* low, int64_t* high);

/// Tells whether two layouts of one storage can touch the same element. May answer true too often, but never false wrongly: it compares the
/// bounds first, then the common divisor of all strides.
bool may_overlap(const Layout& a, const Layout& b);

/// Tells whether two different indices of the layout can reach the same element (a broadcast or a sliding window).
bool self_overlaps(const Layout& layout);

/// An order of axes lists them from the outermost (the one with the widest steps in memory) to the innermost. NumPy's order 'K' for one
/// array: by the size of its strides; axes of equal strides keep their order.
Dims memory_order(const Dims& strides);
/// NumPy's order 'K' for an op: an axis stays outside a later axis unless every operand that steps along both has larger strides along the
/// later one. `strides` are broadcast to the op's shape, 0 along axes of extent 1 (moving_strides).
Dims operands_order(std::span<const Dims> strides, int ndim);
/// NumPy's order 'K' of a concatenation. It differs from operands_order where no operand decides between two axes.
Dims joined_order(std::span<const Dims> strides, int ndim);
/// The strides with 0 for axes of extent 1.
Dims moving_strides(const Dims& shape, Dims strides);
/// True for the axes 0, 1, 2, ...: C order.
bool is_ascending(const Dims& axes);
Dims reversed_axes(int ndim);
/// The inverse permutation: element a is the position of axis a in `axes`.
Dims inverse_axes(const Dims& axes);
/// Axis k of the result is axis axes[k] of `layout`.
Layout transposed(const Layout& layout, const Dims& axes);

/// Drops axes of extent 1 and merges neighbouring axes that are one contiguous run in every stride list. The order of axes is kept.
void collapse(Dims* shape, std::span<Dims*> strides);

/// A view described by the axes of its C-contiguous base: along base axis k the coordinate is start[k] + step[k] * index[axis[k]], or
/// start[k] where axis[k] < 0.
struct AxisMap {
  Dims start, step, axis;
};
/// Finds the AxisMap of a view of a C-contiguous base; false when no such map exists (some reshapes, sliding windows, diagonals).
bool axis_map(const Dims& base_shape, const Layout& view, AxisMap* map);

}  // namespace bc

template <>
struct fmt::formatter<bc::Dims> : fmt::formatter<std::string> {
  auto format(const bc::Dims& d, format_context& ctx) const { return fmt::formatter<std::string>::format(bc::to_string(d), ctx); }
};
