// Scatters on the CPU: stores and folds at the places that index arrays name.
#include <atomic>

#include "backends/cpu/fold_loops.h"
#include "backends/cpu/library.h"
#include "backends/cpu/strided.h"
#include "runtime/parallel.h"

namespace bc::cpu {
namespace {

constexpr int64_t kIndexGrain = 1 << 15;

/// Tells whether all indices are in [0, extent).
bool all_within(const int64_t* index, int64_t n, int64_t extent) {
  std::atomic<bool> fits{true};
  parallel_for(n, kIndexGrain, [&](int64_t begin, int64_t end) {
    // The sign of either is set if an index is out of bounds: SSE2 subtracts 64-bit numbers, but cannot compare them.
    uint64_t out = 0;
    const uint64_t last = static_cast<uint64_t>(extent) - 1;
    for (int64_t i = begin; i < end; ++i) out |= static_cast<uint64_t>(index[i]) | (last - static_cast<uint64_t>(index[i]));
    if (out >> 63) fits.store(false, std::memory_order_relaxed);
  });
  return fits.load();
}

/// An index array, with the axis of the target that it addresses.
struct Index {
  const int64_t* data;
  int axis;
  int64_t extent, stride;
  int64_t offset(int64_t i) const {
    BC_CHECK(i >= -extent && i < extent, Index, "index {} is out of bounds for axis {} with size {}", i, axis, extent);
    return (i < 0 ? i + extent : i) * stride;
  }
};

/// Adds an index array's offsets to those of places [begin, end) without branches; tells whether one of them is out of bounds.
template <class Step>
bool add_offsets(const Index x, Step step, int64_t begin, int64_t end, int64_t* at) {
  bool bad = false;
  for (int64_t p = begin; p < end; ++p) {
    const int64_t i = x.data[p * step], inside = i + (i >> 63 & x.extent);
    bad |= static_cast<uint64_t>(inside) >= static_cast<uint64_t>(x.extent);
    at[p] += inside * x.stride;
  }
  return bad;
}

/// A scatter divides the axes of its index space. Along the outer ones an index changes: their positions are the "places". Along the inner
/// ones none does, so that they have constant strides in the target; they are the inner loops, because different positions along them never
/// address the same element.
class Scatter {
 public:
  Scatter(const ScatterExtra& op, std::span<const View> inputs, const View& value, const View& output)
      : op_(op.op), value_(value), output_(output), bytes_(itemsize(output.dtype)), indices_(inputs.size() - 1), index_outer_(indices_) {
    for (size_t k = 0; k < indices_; ++k) {
      const int axis = static_cast<int>(op.index_axis[static_cast<int>(k)]);
      const Layout& target = output.layout;
      index_.push_back({reinterpret_cast<const int64_t*>(first(inputs[k + 1])), axis, target.shape[axis], target.strides[axis]});
    }
    divide_axes(op, inputs);
    places_ = product(outer_);
    count_ = product(inner_);
  }

  void run(std::span<const View> inputs) {
    if (places_ == 0 || count_ == 0) return;
    // The target's offsets of all places are checked before anything is written.
    find_offsets(inputs);
    fold_ = op_ == Op::leaf ? nullptr : fold_loops(info(op_).name, static_cast<int>(value_.dtype));
    BC_CHECK(fold_ || op_ == Op::leaf, UFuncTypeError, "{}.at: no loop that takes and gives {}", info(op_).name, info(value_.dtype).name);
    Dims* lists[] = {&value_inner_, &target_inner_};
    if (count_ > 1 || value_.dtype != output_.dtype) collapse(&inner_, lists);
    if (value_.dtype != output_.dtype)
      fold_cast();
    else if (count_ == 1)
      write_elements();
    else
      write_slices();
  }

 private:
  void divide_axes(const ScatterExtra& op, std::span<const View> inputs) {
    const Dims& shape = value_.layout.shape;
    for (int d = 0; d < shape.size(); ++d) {
      bool moves = op.axis[d] < 0;
      for (size_t k = 0; k < indices_; ++k) moves |= shape[d] > 1 && inputs[k + 1].layout.strides[d] != 0;
      const int64_t walks = op.axis[d] < 0 ? 0 : output_.layout.strides[static_cast<int>(op.axis[d])];
      if (moves) {
        outer_.push_back(shape[d]), value_outer_.push_back(value_.layout.strides[d]), walk_outer_.push_back(walks);
        for (size_t k = 0; k < indices_; ++k) index_outer_[k].push_back(inputs[k + 1].layout.strides[d]);
      } else {
        inner_.push_back(shape[d]), value_inner_.push_back(value_.layout.strides[d]), target_inner_.push_back(walks);
      }
    }
  }

  void find_offsets(std::span<const View> inputs) {
    std::vector<Dims*> joint{&value_outer_, &walk_outer_};
    for (Dims& d : index_outer_) joint.push_back(&d);
    collapse(&outer_, joint);
    // A single index array whose elements are the offsets is used directly.
    if (indices_ == 1 && outer_.size() == 1 && walk_outer_[0] == 0 && index_outer_[0][0] == 1 && index_[0].stride == 1 &&
        inputs[1].ptr != output_.ptr && all_within(index_[0].data, places_, index_[0].extent)) {
      at_ = index_[0].data;
      return;
    }
    offsets_ = Buffer::allocate({DeviceType::cpu, 0}, static_cast<size_t>(places_) * sizeof(int64_t));
    int64_t* const at = static_cast<int64_t*>(offsets_->ptr);
    at_ = at;
    parallel_for(places_, kIndexGrain, [&](int64_t begin, int64_t end) {
      if (outer_.size() <= 1)
        fill_along_line(begin, end, at);
      else
        fill_along_axes(begin, end, at);
    });
  }

  /// Checks a strip of places with all index arrays, so that the strip stays in the cache. The exact position is searched only if an index
  /// is out of bounds.
  void fill_along_line(int64_t begin, int64_t end, int64_t* at) const {
    constexpr int64_t kStrip = 512;
    const int64_t walk = outer_.empty() ? 0 : walk_outer_[0];
    for (int64_t s = begin; s < end; s += kStrip) {
      const int64_t last = std::min(end, s + kStrip);
      for (int64_t p = s; p < last; ++p) at[p] = p * walk;
      for (size_t k = 0; k < indices_; ++k) {
        const int64_t step = index_step(k);
        const bool bad = step == 1 ? add_offsets(index_[k], std::integral_constant<int64_t, 1>(), s, last, at)
                                   : add_offsets(index_[k], step, s, last, at);
        if (bad) raise_first(begin, end);
      }
    }
  }

  void fill_along_axes(int64_t begin, int64_t end, int64_t* at) const {
    std::vector<const Dims*> lists{&walk_outer_};
    for (const Dims& s : index_outer_) lists.push_back(&s);
    Walker w(outer_, lists);
    w.seek(begin);
    for (int64_t p = begin; p < end; ++p, w.next()) {
      at[p] = w.offset(0);
      for (size_t k = 0; k < indices_; ++k) at[p] += index_[k].offset(index_[k].data[w.offset(k + 1)]);
    }
  }

  /// The step of an index array along the only outer axis.
  int64_t index_step(size_t k) const { return outer_.empty() ? 0 : index_outer_[k][0]; }

  /// Checks one index array after the other, in NumPy's order, to raise the same error.
  void raise_first(int64_t begin, int64_t end) const {
    for (size_t k = 0; k < indices_; ++k)
      for (int64_t p = begin; p < end; ++p) index_[k].offset(index_[k].data[p * index_step(k)]);
  }

  /// Calls `each` with every place and the value's offset there.
  template <class F>
  void each_place(F&& each) const {
    Walker w(outer_, {&value_outer_});
    for (int64_t p = 0; p < places_; ++p, w.next()) each(p, w.offset(0));
  }

  /// Casts each element to the loop's dtype and back, as NumPy does; this case is rare, so it runs element by element.
  void fold_cast() const {
    char* const base = first(output_);
    const char* const from = first(value_);
    each_place([&](int64_t p, int64_t v) {
      Walker w(inner_, {&value_inner_, &target_inner_});
      for (int64_t i = 0; i < count_; ++i, w.next()) {
        char* to = base + (at_[p] + w.offset(1)) * bytes_;
        alignas(16) char wide[16];
        Scalar::load(output_.dtype, to).store(value_.dtype, wide);
        fold_->zip(wide, 1, from + (v + w.offset(0)) * itemsize(value_.dtype), 1, wide, 1, 1);
        Scalar::load(value_.dtype, wide).store(output_.dtype, to);
      }
    });
  }

  /// One element at each place.
  void write_elements() const {
    char* const base = first(output_);
    const char* const from = first(value_);
    if (outer_.size() > 1) {
      each_place([&](int64_t p, int64_t v) {
        char* to = base + at_[p] * bytes_;
        if (fold_)
          fold_->zip(to, 1, from + v * bytes_, 1, to, 1, 1);
        else
          std::memcpy(to, from + v * bytes_, static_cast<size_t>(bytes_));
      });
      return;
    }
    const int64_t step = outer_.empty() ? 0 : value_outer_[0];
    if (fold_) {
      fold_->at(base, at_, from, step, places_);
      return;
    }
    by_size(static_cast<int>(bytes_), [&, at = at_, n = places_]<class U>() {
      U* to = reinterpret_cast<U*>(base);
      const U* v = reinterpret_cast<const U*>(from);
      for (int64_t p = 0; p < n; ++p) to[at[p]] = v[p * step];
    });
  }

  /// A slice at each place. Each thread handles its own part of the inner space (rows of the last inner axis) and all places in order.
  void write_slices() const {
    const int64_t row = inner_.empty() ? 1 : inner_.back(), value_step = inner_.empty() ? 0 : value_inner_.back(),
                  target_step = inner_.empty() ? 0 : target_inner_.back();
    const Dims rest(inner_.span().first(inner_.size() - 1)), value_rest(value_inner_.span().first(inner_.size() - 1)),
        target_rest(target_inner_.span().first(inner_.size() - 1));
    const int64_t rows = product(rest),
                  width = rows >= thread_count() ? row : std::max<int64_t>(256, (row + thread_count() - 1) / thread_count());
    const int64_t pieces = (row + width - 1) / width;
    parallel_for(rows * pieces, std::max<int64_t>(1, kIndexGrain / (width * places_)), [&](int64_t begin, int64_t end) {
      Walker r(rest, {&value_rest, &target_rest});
      for (int64_t piece = begin; piece < end; ++piece) {
        r.seek(piece / pieces);
        const int64_t start = piece % pieces * width, n = std::min(width, row - start);
        char* const to = first(output_) + (r.offset(1) + start * target_step) * bytes_;
        const char* const from = first(value_) + (r.offset(0) + start * value_step) * bytes_;
        each_place([&](int64_t p, int64_t v) { write_row(to + at_[p] * bytes_, target_step, from + v * bytes_, value_step, n); });
      }
    });
  }

  void write_row(char* to, int64_t target_step, const char* from, int64_t value_step, int64_t n) const {
    if (fold_) {
      fold_->zip(to, target_step, from, value_step, to, target_step, n);
    } else if (target_step == 1 && value_step == 1) {
      std::memcpy(to, from, static_cast<size_t>(n * bytes_));
    } else {
      by_size(static_cast<int>(bytes_), [&]<class U>() {
        for (int64_t i = 0; i < n; ++i) reinterpret_cast<U*>(to)[i * target_step] = reinterpret_cast<const U*>(from)[i * value_step];
      });
    }
  }

  const Op op_;  // leaf: elements are stored
  const View& value_;
  const View& output_;
  const int64_t bytes_;
  const size_t indices_;
  std::vector<Index> index_;
  // Strides along the outer axes: of the value, of the target where it is walked, of each index array. Along the inner ones: of the value
  // and of the target.
  Dims outer_, value_outer_, walk_outer_, inner_, value_inner_, target_inner_;
  std::vector<Dims> index_outer_;
  int64_t places_ = 0, count_ = 0;
  Ref<Buffer> offsets_;
  const int64_t* at_ = nullptr;  // the target's offset for each place
  const FoldLoops* fold_ = nullptr;
};

}  // namespace

void run(const ScatterExtra& op, std::span<const View> inputs, const View& output) {
  View value = inputs[0];
  // If the value is a part of the target, it is copied first, so that its old elements are read. (Indices are read before anything is
  // written.)
  std::vector<char> held;
  if (value.ptr == output.ptr) {
    held = packed(value);
    value = {held.data(), value.dtype, contiguous_layout(value.layout.shape)};
  }
  Scatter(op, inputs, value, output).run(inputs);
}

}  // namespace bc::cpu
