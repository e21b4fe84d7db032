// Compaction and scatters on the CPU.
#include <atomic>

#include "backends/cpu/fold_loops.h"
#include "backends/cpu/library.h"
#include "backends/cpu/strided.h"
#include "core/set_bytes.h"
#include "runtime/parallel.h"

namespace bc::cpu {
namespace {

constexpr int64_t kMaskBlock = 1 << 16;
constexpr int64_t kIndexGrain = 1 << 15;

/// The number of nonzero bytes: counts eight bytes at a time in the bytes of a word, which is summed before one of them can overflow.
int64_t count_set(const uint8_t* bytes, int64_t n) {
  constexpr uint64_t kEven = 0x00ff00ff00ff00ff;
  int64_t total = 0, i = 0;
  while (i + 8 <= n) {
    uint64_t lanes = 0;
    for (int turn = 0; turn < 255 && i + 8 <= n; ++turn, i += 8) lanes += set_bytes(bytes + i);
    total += static_cast<int64_t>((((lanes & kEven) + (lanes >> 8 & kEven)) * 0x0001000100010001) >> 48);
  }
  for (; i < n; ++i) total += bytes[i] != 0;
  return total;
}

/// A mask's bytes (0 or 1), C-contiguous, and the number of set bytes before each block of kMaskBlock.
class Mask {
 public:
  explicit Mask(const View& v) : size_(v.layout.size()) {
    if (is_contiguous(v.layout.shape, v.layout.strides)) {
      bytes_ = reinterpret_cast<const uint8_t*>(first(v));
    } else {
      packed_ = packed(v);
      bytes_ = reinterpret_cast<const uint8_t*>(packed_.data());
    }
    const int64_t blocks = (size_ + kMaskBlock - 1) / kMaskBlock;
    before_.assign(static_cast<size_t>(blocks) + 1, 0);
    parallel_for(blocks, 1, [&](int64_t begin, int64_t end) {
      for (int64_t b = begin; b < end; ++b) {
        const int64_t start = b * kMaskBlock;
        before_[static_cast<size_t>(b) + 1] = count_set(bytes_ + start, std::min(size_, start + kMaskBlock) - start);
      }
    });
    for (size_t b = 1; b < before_.size(); ++b) before_[b] += before_[b - 1];
  }

  int64_t count() const { return before_.back(); }

  /// Calls f(first output index, positions of set bytes, their number) for pieces of the mask, on all threads.
  template <class F>
  void each(F f) const {
    constexpr int64_t kStrip = 1024;
    parallel_for(static_cast<int64_t>(before_.size()) - 1, 1, [&](int64_t begin, int64_t end) {
      int64_t found[kStrip + kSetBytesRoom];
      for (int64_t b = begin; b < end; ++b) {
        int64_t at = before_[static_cast<size_t>(b)];
        const int64_t stop = std::min(size_, (b + 1) * kMaskBlock);
        for (int64_t i = b * kMaskBlock; i < stop; i += kStrip) {
          const int64_t n = find_set_bytes(bytes_ + i, std::min(stop, i + kStrip) - i, i, found);
          if (n > 0) f(at, found, n);
          at += n;
        }
      }
    });
  }

 private:
  int64_t size_;
  const uint8_t* bytes_;
  std::vector<char> packed_;
  std::vector<int64_t> before_;
};

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

}  // namespace

std::vector<char> packed(const View& v) {
  const int64_t bytes = itemsize(v.dtype), n = v.layout.size();
  std::vector<char> r(static_cast<size_t>(n * bytes));
  if (n == 0) return r;
  Dims shape = v.layout.shape, strides = v.layout.strides;
  Dims* lists[] = {&strides};
  collapse(&shape, lists);
  const int64_t row = shape.empty() ? 1 : shape.back(), step = shape.empty() ? 1 : strides.back();
  if (!shape.empty()) shape.resize(shape.size() - 1), strides.resize(strides.size() - 1);
  Walker w(shape, {&strides});
  by_size(static_cast<int>(bytes), [&]<class U>() {
    U* to = reinterpret_cast<U*>(r.data());
    for (int64_t i = 0; i < n / row; ++i, w.next()) {
      const U* from = reinterpret_cast<const U*>(first(v)) + w.offset(0);
      for (int64_t j = 0; j < row; ++j) *to++ = from[j * step];
    }
  });
  return r;
}

void run(const NonzeroExtra&, std::span<const View> inputs, const View& output) {
  const Mask mask(inputs[0]);
  const Dims& shape = inputs[0].layout.shape;
  const int nd = shape.size();
  const int64_t count = output.layout.shape[1];
  BC_CHECK(mask.count() == count, Runtime, "nonzero: expected {} true elements, got {}; the mask changed after it was counted", count,
           mask.count());
  int64_t* out = reinterpret_cast<int64_t*>(first(output));
  mask.each([&](int64_t at, const int64_t* found, int64_t n) {
    if (nd == 1) {
      std::memcpy(out + at, found, static_cast<size_t>(n) * sizeof(int64_t));
      return;
    }
    for (int64_t i = 0; i < n; ++i) {
      uint64_t rest = static_cast<uint64_t>(found[i]);
      for (int d = nd - 1; d > 0; --d) {
        const uint64_t extent = static_cast<uint64_t>(shape[d]);
        // A 32-bit division is several times as fast as a 64-bit one.
        const uint64_t q = (rest | extent) >> 32 ? rest / extent : static_cast<uint32_t>(rest) / static_cast<uint32_t>(extent);
        out[d * count + at + i] = static_cast<int64_t>(rest - q * extent);
        rest = q;
      }
      out[at + i] = static_cast<int64_t>(rest);
    }
  });
}

void run(const CompressExtra&, std::span<const View> inputs, const View& output) {
  const Mask mask(inputs[1]);
  const int leading = inputs[1].layout.ndim();
  const Layout& x = inputs[0].layout;
  const int64_t bytes = itemsize(output.dtype), count = output.layout.shape[0];
  BC_CHECK(mask.count() == count, Runtime, "compress: expected {} true elements, got {}; the mask changed after it was counted", count,
           mask.count());
  const int64_t row = count > 0 ? output.layout.size() / count : 0;
  if (row == 0) return;
  Dims lead(x.shape.span().first(leading)), lead_strides(x.strides.span().first(leading));
  Dims rest(x.shape.span().subspan(leading)), rest_strides(x.strides.span().subspan(leading));
  const Dims linear = contiguous_strides(lead);
  // If the masked axes collapse to one, an offset is a position times one factor.
  Dims joined = lead, joined_strides = lead_strides;
  Dims* lists[] = {&joined_strides};
  collapse(&joined, lists);
  const bool even = joined.size() <= 1;
  const int64_t step = joined.empty() ? 0 : joined_strides[0];
  const bool whole_rows = is_contiguous(rest, rest_strides);
  const char* from = first(inputs[0]);
  char* out = first(output);
  auto offset_of = [&](int64_t position) {
    if (even) return position * step;
    int64_t o = 0;
    for (int d = 0; d < leading; ++d) {
      o += position / linear[d] * lead_strides[d];
      position %= linear[d];
    }
    return o;
  };
  mask.each([&](int64_t at, const int64_t* found, int64_t n) {
    if (row == 1) {
      by_size(static_cast<int>(bytes), [&]<class U>() {
        const U* x_ = reinterpret_cast<const U*>(from);
        U* to = reinterpret_cast<U*>(out) + at;
        for (int64_t i = 0; i < n; ++i) to[i] = x_[offset_of(found[i])];
      });
    } else if (whole_rows) {
      for (int64_t i = 0; i < n; ++i)
        std::memcpy(out + (at + i) * row * bytes, from + offset_of(found[i]) * bytes, static_cast<size_t>(row * bytes));
    } else {
      for (int64_t i = 0; i < n; ++i) {
        Walker w(rest, {&rest_strides});
        const char* base = from + offset_of(found[i]) * bytes;
        char* to = out + (at + i) * row * bytes;
        for (int64_t j = 0; j < row; ++j, w.next()) std::memcpy(to + j * bytes, base + w.offset(0) * bytes, static_cast<size_t>(bytes));
      }
    }
  });
}

void run(const ScatterExtra& op, std::span<const View> inputs, const View& output) {
  View value = inputs[0];
  // If the value is a part of the target, it is copied first, so that its old elements are read. (Indices are read before anything is
  // written.)
  std::vector<char> held;
  if (value.ptr == output.ptr) {
    held = packed(value);
    value = {held.data(), value.dtype, contiguous_layout(value.layout.shape)};
  }
  const Dims& shape = value.layout.shape;
  const Layout& target = output.layout;
  const int64_t bytes = itemsize(output.dtype);
  const size_t indices = inputs.size() - 1;
  // Axes along which no index changes have constant strides in the target. They are the inner loops, because different positions along them
  // never address the same element.
  Dims outer, value_outer, walk_outer, inner, value_inner, target_inner;
  std::vector<Dims> index_outer(indices);
  for (int d = 0; d < shape.size(); ++d) {
    bool moves = op.axis[d] < 0;
    for (size_t k = 0; k < indices; ++k) moves |= shape[d] > 1 && inputs[k + 1].layout.strides[d] != 0;
    const int64_t walks = op.axis[d] < 0 ? 0 : target.strides[static_cast<int>(op.axis[d])];
    if (moves) {
      outer.push_back(shape[d]), value_outer.push_back(value.layout.strides[d]), walk_outer.push_back(walks);
      for (size_t k = 0; k < indices; ++k) index_outer[k].push_back(inputs[k + 1].layout.strides[d]);
    } else {
      inner.push_back(shape[d]), value_inner.push_back(value.layout.strides[d]), target_inner.push_back(walks);
    }
  }
  const int64_t places = product(outer), count = product(inner);
  if (places == 0 || count == 0) return;

  // The target's offset for each place of the outer axes. All are checked before anything is written.
  std::vector<Dims*> joint{&value_outer, &walk_outer};
  for (Dims& d : index_outer) joint.push_back(&d);
  collapse(&outer, joint);
  struct Index {
    const int64_t* data;
    int axis;
    int64_t extent, stride;
    int64_t offset(int64_t i) const {
      BC_CHECK(i >= -extent && i < extent, Index, "index {} is out of bounds for axis {} with size {}", i, axis, extent);
      return (i < 0 ? i + extent : i) * stride;
    }
  };
  std::vector<Index> index;
  for (size_t k = 0; k < indices; ++k) {
    const int axis = static_cast<int>(op.index_axis[static_cast<int>(k)]);
    index.push_back({reinterpret_cast<const int64_t*>(first(inputs[k + 1])), axis, target.shape[axis], target.strides[axis]});
  }
  // A single index array whose elements are the offsets is used directly.
  const bool direct = indices == 1 && outer.size() == 1 && walk_outer[0] == 0 && index_outer[0][0] == 1 && index[0].stride == 1 &&
                      inputs[1].ptr != output.ptr && all_within(index[0].data, places, index[0].extent);
  Ref<Buffer> offsets;
  if (!direct) offsets = Buffer::allocate({DeviceType::cpu, 0}, static_cast<size_t>(places) * sizeof(int64_t));
  int64_t* const filled = direct ? nullptr : static_cast<int64_t*>(offsets->ptr);
  const int64_t* const at = direct ? index[0].data : filled;
  // Checks one index array after the other, in NumPy's order, to raise the same error.
  const auto raise_first = [&](int64_t begin, int64_t end) {
    for (size_t k = 0; k < indices; ++k)
      for (int64_t p = begin; p < end; ++p) index[k].offset(index[k].data[p * (outer.empty() ? 0 : index_outer[k][0])]);
  };
  if (!direct)
    parallel_for(places, kIndexGrain, [&](int64_t begin, int64_t end) {
      int64_t* const at = filled;
      if (outer.size() <= 1) {
        const int64_t walk = outer.empty() ? 0 : walk_outer[0];
        // Checks a strip of places without branches, with all index arrays, so that the strip stays in the cache. The exact position is
        // searched only if an index is out of bounds.
        constexpr int64_t kStrip = 512;
        for (int64_t s = begin; s < end; s += kStrip) {
          const int64_t last = std::min(end, s + kStrip);
          for (int64_t p = s; p < last; ++p) at[p] = p * walk;
          for (size_t k = 0; k < indices; ++k) {
            const Index x = index[k];
            const int64_t step = outer.empty() ? 0 : index_outer[k][0];
            bool bad = false;
            if (step == 1) {
              for (int64_t p = s; p < last; ++p) {
                const int64_t i = x.data[p], inside = i + (i >> 63 & x.extent);
                bad |= static_cast<uint64_t>(inside) >= static_cast<uint64_t>(x.extent);
                at[p] += inside * x.stride;
              }
            } else {
              for (int64_t p = s; p < last; ++p) {
                const int64_t i = x.data[p * step], inside = i + (i >> 63 & x.extent);
                bad |= static_cast<uint64_t>(inside) >= static_cast<uint64_t>(x.extent);
                at[p] += inside * x.stride;
              }
            }
            if (bad) raise_first(begin, end);
          }
        }
        return;
      }
      std::vector<const Dims*> lists{&walk_outer};
      for (const Dims& s : index_outer) lists.push_back(&s);
      Walker w(outer, lists);
      w.seek(begin);
      for (int64_t p = begin; p < end; ++p, w.next()) {
        at[p] = w.offset(0);
        for (size_t k = 0; k < indices; ++k) at[p] += index[k].offset(index[k].data[w.offset(k + 1)]);
      }
    });

  char* base = first(output);
  const char* from = first(value);
  const FoldLoops* f = op.op == Op::leaf ? nullptr : fold_loops(info(op.op).name, static_cast<int>(value.dtype));
  BC_CHECK(f || op.op == Op::leaf, UFuncTypeError, "{}.at: no loop that takes and gives {}", info(op.op).name, info(value.dtype).name);
  const bool even = outer.size() <= 1;
  const int64_t step = outer.empty() ? 0 : value_outer[0];
  auto value_offsets = [&](auto&& each) {
    Walker w(outer, {&value_outer});
    for (int64_t p = 0; p < places; ++p, w.next()) each(p, w.offset(0));
  };

  if (value.dtype != output.dtype) {
    // Casts each element to the loop's dtype and back, as NumPy does; this case is rare, so it runs element by element.
    Dims* mixed[] = {&value_inner, &target_inner};
    collapse(&inner, mixed);
    value_offsets([&](int64_t p, int64_t v) {
      Walker w(inner, {&value_inner, &target_inner});
      for (int64_t i = 0; i < count; ++i, w.next()) {
        char* to = base + (at[p] + w.offset(1)) * bytes;
        alignas(16) char wide[16];
        Scalar::load(output.dtype, to).store(value.dtype, wide);
        f->zip(wide, 1, from + (v + w.offset(0)) * itemsize(value.dtype), 1, wide, 1, 1);
        Scalar::load(value.dtype, wide).store(output.dtype, to);
      }
    });
    return;
  }
  if (count == 1) {
    if (even) {
      if (f) {
        f->at(base, at, from, step, places);
        return;
      }
      by_size(static_cast<int>(bytes), [&]<class U>() {
        U* to = reinterpret_cast<U*>(base);
        const U* v = reinterpret_cast<const U*>(from);
        for (int64_t p = 0; p < places; ++p) to[at[p]] = v[p * step];
      });
    } else {
      value_offsets([&](int64_t p, int64_t v) {
        char* to = base + at[p] * bytes;
        if (f)
          f->zip(to, 1, from + v * bytes, 1, to, 1, 1);
        else
          std::memcpy(to, from + v * bytes, static_cast<size_t>(bytes));
      });
    }
    return;
  }

  Dims* lists[] = {&value_inner, &target_inner};
  collapse(&inner, lists);
  // Each thread handles its own part of the inner space (rows of the last inner axis) and all places in order.
  const int64_t row = inner.empty() ? 1 : inner.back(), value_step = inner.empty() ? 0 : value_inner.back(),
                target_step = inner.empty() ? 0 : target_inner.back();
  Dims rest(inner.span().first(inner.size() - 1)), value_rest(value_inner.span().first(inner.size() - 1)),
      target_rest(target_inner.span().first(inner.size() - 1));
  const int64_t rows = product(rest),
                width = rows >= thread_count() ? row : std::max<int64_t>(256, (row + thread_count() - 1) / thread_count());
  const int64_t pieces = (row + width - 1) / width;
  parallel_for(rows * pieces, std::max<int64_t>(1, kIndexGrain / (width * places)), [&](int64_t begin, int64_t end) {
    Walker r(rest, {&value_rest, &target_rest});
    for (int64_t piece = begin; piece < end; ++piece) {
      r.seek(piece / pieces);
      const int64_t start = piece % pieces * width, n = std::min(width, row - start);
      const int64_t value_base = r.offset(0) + start * value_step, target_base = r.offset(1) + start * target_step;
      value_offsets([&](int64_t p, int64_t v) {
        char* to = base + (at[p] + target_base) * bytes;
        const char* source = from + (v + value_base) * bytes;
        if (f) {
          f->zip(to, target_step, source, value_step, to, target_step, n);
        } else if (target_step == 1 && value_step == 1) {
          std::memcpy(to, source, static_cast<size_t>(n * bytes));
        } else {
          by_size(static_cast<int>(bytes), [&]<class U>() {
            for (int64_t i = 0; i < n; ++i) reinterpret_cast<U*>(to)[i * target_step] = reinterpret_cast<const U*>(source)[i * value_step];
          });
        }
      });
    }
  });
}

}  // namespace bc::cpu
