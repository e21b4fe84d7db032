// Compaction on the CPU.
#include "backends/cpu/library.h"
#include "backends/cpu/strided.h"
#include "core/set_bytes.h"
#include "runtime/parallel.h"

namespace bc::cpu {
namespace {

constexpr int64_t kMaskBlock = 1 << 16;

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

}  // namespace bc::cpu
