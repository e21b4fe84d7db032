// The small host path's functions of vectors: counts, interpolation, packed bits.
#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "array/small_host.h"
#include "array/small_near.h"
#include "core/set_bytes.h"
#include "runtime/parallel.h"

namespace bc {

using namespace small;

namespace {

/// Calls f with the bare pointer type of an integer dtype's elements.
template <class F>
void by_integer(DType t, F&& f) {
  switch (t) {
    case DType::i8: return f(int8_t());
    case DType::i16: return f(int16_t());
    case DType::i32: return f(int32_t());
    case DType::u8: return f(uint8_t());
    case DType::u16: return f(uint16_t());
    case DType::u32: return f(uint32_t());
    default: return f(int64_t());  // also uint64: its largest values become negative, which are refused anyway
  }
}

template <class T>
std::pair<int64_t, int64_t> range_of(const char* first, int64_t count, int64_t step) {
  T low = get<T>(first), high = low;
  for (int64_t k = 1; k < count; ++k) {
    const T v = get<T>(first + k * step);
    low = std::min(low, v);
    high = std::max(high, v);
  }
  return {static_cast<int64_t>(low), static_cast<int64_t>(high)};
}

constexpr int64_t kMostCounts = 1 << 16;
constexpr int64_t kPiece = 1 << 16;  // elements that a thread takes at least

/// Calls add(begin, end, table) for pieces of [0, count), on all threads, and sums the tables of `size` counts that they fill into `out`.
template <class Add>
void count_in_pieces(int64_t count, int64_t size, int64_t* out, Add&& add) {
  std::fill_n(out, size, 0);
  const int64_t pieces = std::min<int64_t>(cpu::thread_limit(), count / kPiece);
  if (pieces < 2) return add(int64_t{0}, count, out);
  std::vector<int64_t> tables(static_cast<size_t>(pieces * size));
  cpu::parallel_for(pieces, 1, [&](int64_t begin, int64_t end) {
    for (int64_t p = begin; p < end; ++p) add(count * p / pieces, count * (p + 1) / pieces, &tables[static_cast<size_t>(p * size)]);
  });
  for (int64_t p = 0; p < pieces; ++p)
    for (int64_t k = 0; k < size; ++k) out[k] += tables[static_cast<size_t>(p * size + k)];
}

/// The bits that any of the numbers has: they tell in one pass what is negative, and a bound of the largest.
template <class T>
int64_t bits_of(const char* first, int64_t count, int64_t step) {
  std::atomic<int64_t> all{0};
  cpu::parallel_for(count, kPiece, [&](int64_t begin, int64_t end) {
    int64_t bits = 0;
    if (step == sizeof(T))  // vectors
      for (int64_t k = begin; k < end; ++k) bits |= static_cast<int64_t>(get<T>(first + k * static_cast<int64_t>(sizeof(T))));
    else
      for (int64_t k = begin; k < end; ++k) bits |= static_cast<int64_t>(get<T>(first + k * step));
    all.fetch_or(bits, std::memory_order_relaxed);
  });
  return all.load();
}

/// Adds 1 to the count of each number. Neighbours count in tables of their own: a number that comes again would wait for its last count.
template <class T>
void add_counts(const char* first, int64_t step, int64_t begin, int64_t end, int64_t size, int64_t* table) {
  const auto at = [=](int64_t k) { return static_cast<int64_t>(get<T>(first + k * step)); };
  constexpr int64_t kMostTwice = 1 << 12;
  int64_t k = begin;
  if (size <= kMostTwice && end - begin > 2 * size) {
    std::vector<int64_t> others(static_cast<size_t>(3 * size));
    int64_t *const second = others.data(), *const third = second + size, *const fourth = third + size;
    for (; k + 4 <= end; k += 4) ++table[at(k)], ++second[at(k + 1)], ++third[at(k + 2)], ++fourth[at(k + 3)];
    for (int64_t v = 0; v < size; ++v) table[v] += second[v] + third[v] + fourth[v];
  }
  for (; k < end; ++k) ++table[at(k)];
}

/// How often each number comes; nullopt where one is negative, or too large for a table.
template <class T>
std::optional<Array> counts_of(const char* first, int64_t count, int64_t step, int64_t least, Device device) {
  const int64_t bound = bits_of<T>(first, count, step);
  if (bound < 0 || bound >= kMostCounts || least > kMostCounts) return std::nullopt;
  const auto fill = [&](int64_t size, int64_t* counts) {
    count_in_pieces(count, size, counts,
                    [=](int64_t begin, int64_t end, int64_t* table) { add_counts<T>(first, step, begin, end, size, table); });
  };
  constexpr int64_t kShort = 1 << 12;  // a longer table takes more time to copy than few elements to find the largest of
  if (bound >= kShort && count < kPiece) {
    Array made = empty(Dims{std::max(range_of<T>(first, count, step).second + 1, least)}, DType::i64, device);
    fill(made.size(), static_cast<int64_t*>(made.storage()->current->buffer->ptr));
    return made;
  }
  std::vector<int64_t> counts(static_cast<size_t>(std::max(bound + 1, least)));
  fill(static_cast<int64_t>(counts.size()), counts.data());
  int64_t size = bound + 1;
  while (counts[static_cast<size_t>(size - 1)] == 0) --size;
  size = std::max(size, least);
  Array made = empty(Dims{size}, DType::i64, device);
  std::memcpy(made.storage()->current->buffer->ptr, counts.data(), static_cast<size_t>(size) * 8);
  return made;
}

}  // namespace

std::optional<Array> bincount_small(const Array& a, const Array& weights, int64_t least) {
  constexpr int64_t kMostWeights = 1 << 16;  // more are summed by a kernel
  const auto fits = [&](const Array& x) {
    return x.ndim() == 1 && x.shape()[0] == a.shape()[0] && x.device() == a.device() && !has_history(x);
  };
  if (!open(a.device()) || a.ndim() != 1 || a.size() == 0 || (weights && a.size() > kMostWeights) || !fits(a) || !is_integer(a.dtype()))
    return std::nullopt;
  if (weights && (!fits(weights) || weights.dtype() != DType::f64)) return std::nullopt;
  const char *from = first_element(a), *weight = weights ? first_element(weights) : nullptr;
  const int64_t count = a.size(), step = a.strides()[0] * itemsize(a.dtype()), weight_step = weights ? weights.strides()[0] * 8 : 0;
  std::optional<Array> made;
  by_integer(a.dtype(), [&](auto of_type) {
    using T = decltype(of_type);
    if (!weights) {
      made = counts_of<T>(from, count, step, least, a.device());
      return;
    }
    const auto [low, high] = range_of<T>(from, count, step);
    if (low < 0 || high >= kMostCounts || least > kMostCounts) return;
    made = empty(Dims{std::max(high + 1, least)}, DType::f64, a.device());
    auto* const sums = static_cast<double*>(made->storage()->current->buffer->ptr);
    std::memset(sums, 0, static_cast<size_t>(made->size()) * 8);
    for (int64_t k = 0; k < count; ++k) sums[get<T>(from + k * step)] += get<double>(weight + k * weight_step);
  });
  return made;
}

namespace {

/// The elements of a C-contiguous float64 array, computed if pending; nullptr for any other array.
const double* plain_doubles(const Array& a, Device device) {
  const bool plain = a.dtype() == DType::f64 && a.device() == device && a.contiguous() && !has_history(a);
  return plain ? reinterpret_cast<const double*>(first_element(a)) : nullptr;
}

/// Calls f with an element of the dtype, if it is a real number's of C++.
template <class F>
bool by_real(DType t, F&& f) {
  switch (t) {
    case DType::u64: f(uint64_t()); return true;
    case DType::f32: f(float()); return true;
    case DType::f64: f(double()); return true;
    default: break;
  }
  if (!is_integer(t)) return false;
  by_integer(t, f);
  return true;
}

/// Counts elements in bins of one width. As NumPy does, the bin is found by a division, and corrected by one where the edges say so.
class EqualBins {
 public:
  EqualBins(const double* edges, int64_t count, double first, double last)
      : edges_(edges, edges + count + 1), count_(count), first_(first), last_(last), width_(last - first) {
    edges_.back() = std::numeric_limits<double>::infinity();  // the last bin holds its right edge
  }
  bool usable() const { return width_ > 0 && std::isfinite(width_) && std::isfinite(static_cast<double>(count_) / width_); }

  /// Counts few elements; those outside of the bins are counted behind the last one.
  void add(const double* v, int64_t n, int64_t* table) const {
    for (int64_t k = 0; k < n; ++k) {
      const bool inside = v[k] >= first_ && v[k] <= last_;
      const double place = inside ? (v[k] - first_) / width_ * static_cast<double>(count_) : 0.0;
      int64_t at = std::min(static_cast<int64_t>(place), count_ - 1);
      at = std::max<int64_t>(at - (v[k] < edges_[static_cast<size_t>(at)]), 0);
      at += v[k] >= edges_[static_cast<size_t>(at) + 1];
      ++table[inside ? at : count_];
    }
  }

 private:
  std::vector<double> edges_;
  int64_t count_;
  double first_, last_, width_;
};

}  // namespace

std::optional<Array> histogram_near(const Array& a, const Array& edges, double low, double high) {
  if (!open(a.device()) || a.ndim() != 1 || a.size() == 0 || has_history(a) || edges.size() < 2) return std::nullopt;
  const double* const at = plain_doubles(edges, a.device());
  if (!at) return std::nullopt;
  const int64_t bins = edges.size() - 1, step = a.strides()[0] * itemsize(a.dtype());
  const EqualBins equal(at, bins, low, high);
  if (!equal.usable() || bins > kMostCounts) return std::nullopt;
  const char* const from = first_element(a);
  std::vector<int64_t> counts(static_cast<size_t>(bins + 1));
  const bool real = by_real(a.dtype(), [&](auto of_type) {
    using T = decltype(of_type);
    count_in_pieces(a.size(), bins + 1, counts.data(), [&](int64_t begin, int64_t end, int64_t* table) {
      double values[256];
      for (int64_t k = begin; k < end; k += 256) {
        const int64_t n = std::min<int64_t>(256, end - k);
        for (int64_t l = 0; l < n; ++l) values[l] = static_cast<double>(get<T>(from + (k + l) * step));
        equal.add(values, n, table);
      }
    });
  });
  if (!real) return std::nullopt;
  Array made = empty(Dims{bins}, DType::i64, a.device());
  std::memcpy(made.storage()->current->buffer->ptr, counts.data(), static_cast<size_t>(bins) * 8);
  return made;
}

namespace {

/// Linear interpolation between `n` points at x, with the same bits as the kernels of `interp`.
double interpolated(double x, const double* xp, const double* fp, int64_t n, double left, double right) {
  if (n == 1) return x < xp[0] ? left : x > xp[0] ? right : fp[0];
  if (x != x) return x;
  if (x < xp[0]) return left;
  if (x > xp[n - 1]) return right;
  if (x == xp[n - 1]) return fp[n - 1];
  const double* above = std::upper_bound(xp, xp + n, x, [](double v, double p) { return v < p || p != p; });
  const int64_t at = std::clamp<int64_t>(above - xp - 1, 0, n - 2);
  const double x0 = xp[at], x1 = xp[at + 1], y0 = fp[at], y1 = fp[at + 1];
  if (x == x0) return y0;
  const double slope = (y1 - y0) / (x1 - x0);
  double y = slope * (x - x0) + y0;
  if (y != y) y = slope * (x - x1) + y1;  // with an infinite slope, computes from the other end
  return y != y && y0 == y1 ? y0 : y;
}

}  // namespace

std::optional<Array> interp_small(const Array& x, const Array& xp, const Array& fp, std::optional<double> left,
                                  std::optional<double> right) {
  const Device device = x.device();
  constexpr int64_t kMost = 1 << 12;  // places; there may be any number of points
  if (!open(device) || xp.ndim() != 1 || fp.ndim() != 1 || xp.size() == 0 || xp.size() != fp.size() || x.size() > kMost)
    return std::nullopt;
  const double *at = plain_doubles(x, device), *places = plain_doubles(xp, device), *values = plain_doubles(fp, device);
  if (!at || !places || !values) return std::nullopt;
  const int64_t n = xp.size();
  Array made = empty(x.shape(), DType::f64, device);
  double* to = static_cast<double*>(made.storage()->current->buffer->ptr);
  for (int64_t k = 0; k < x.size(); ++k)
    to[k] = interpolated(at[k], places, values, n, left.value_or(values[0]), right.value_or(values[n - 1]));
  return made;
}

namespace {

/// The bits of each byte, one in each byte of a word, the highest first in memory.
constexpr auto kBitsOfByte = [] {
  std::array<uint64_t, 256> words{};
  // Byte j of the product has bit 7 - j of the element at its top; no two shifted copies meet.
  for (uint64_t k = 0; k < 256; ++k) words[k] = (k * 0x8040201008040201) >> 7 & 0x0101010101010101;
  return words;
}();

}  // namespace

std::optional<Array> unpackbits_small(const Array& a) {
  constexpr int64_t kMost = 1 << 17;
  if (!open(a.device()) || a.dtype() != DType::u8 || a.ndim() != 1 || a.size() > kMost || has_history(a)) return std::nullopt;
  const char* from = first_element(a);
  Array made = empty(Dims{a.size() * 8}, DType::u8, a.device());
  char* to = static_cast<char*>(made.storage()->current->buffer->ptr);
  const int64_t n = a.size(), step = a.strides()[0];
  for (int64_t k = 0; k < n; ++k, to += 8) std::memcpy(to, &kBitsOfByte[get<uint8_t>(from + k * step)], 8);
  return made;
}

std::optional<Array> packbits_small(const Array& a) {
  constexpr int64_t kMost = 1 << 20;
  const bool bytes = a.dtype() == DType::u8 || a.dtype() == DType::b1;
  if (!open(a.device()) || !bytes || a.ndim() != 1 || a.size() > kMost || has_history(a)) return std::nullopt;
  const char* from = first_element(a);
  Array made = empty(Dims{(a.size() + 7) / 8}, DType::u8, a.device());
  auto* to = static_cast<uint8_t*>(made.storage()->current->buffer->ptr);
  const int64_t n = a.size(), step = a.strides()[0], whole = step == 1 ? n / 8 : 0;
  int64_t k = 0;
#if defined(__SSE2__)
  // Sixteen bytes at once: a mask has the last byte's bit at its top, so each eight are turned round.
  typedef char Bytes __attribute__((vector_size(16)));
  typedef uint64_t Pair __attribute__((vector_size(16)));
  for (; k + 2 <= whole; k += 2) {
    const Pair pair = {__builtin_bswap64(get<uint64_t>(from + 8 * k)), __builtin_bswap64(get<uint64_t>(from + 8 * k + 8))};
    const auto bits = static_cast<uint16_t>(~__builtin_ia32_pmovmskb128(std::bit_cast<Bytes>(pair) == Bytes{}));
    std::memcpy(to + k, &bits, 2);
  }
#endif
  for (; k < whole; ++k) {
    to[k] = static_cast<uint8_t>(set_bytes(from + 8 * k) * 0x8040201008040201 >> 56);  // bit 8j of the word comes to bit 63 - j
  }
  std::memset(to + whole, 0, static_cast<size_t>(made.size() - whole));
  for (k = 8 * whole; k < n; ++k) to[k / 8] |= static_cast<uint8_t>((from[k * step] != 0) << (7 - k % 8));
  return made;
}

}  // namespace bc
