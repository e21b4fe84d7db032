// The small host path's functions of vectors: counts, interpolation, packed bits.
#include <algorithm>
#include <array>
#include <bit>
#include <utility>
#include <vector>

#include "array/small_host.h"
#include "array/small_near.h"
#include "core/set_bytes.h"

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

/// How often each number comes; nullopt where one is negative, or too large for a table that is made while the GIL is held.
template <class T>
std::optional<Array> counts_of(const char* first, int64_t count, int64_t step, int64_t least, Device device) {
  int64_t bits[4] = {};  // that any number has: one pass finds what is negative, and a bound of the largest
  int64_t k = 0;
  for (; k + 4 <= count; k += 4)
    for (int l = 0; l < 4; ++l) bits[l] |= static_cast<int64_t>(get<T>(first + (k + l) * step));
  for (; k < count; ++k) bits[0] |= static_cast<int64_t>(get<T>(first + k * step));
  const int64_t bound = (bits[0] | bits[1]) | (bits[2] | bits[3]);
  if (bound < 0 || bound >= kMostCounts || least > kMostCounts) return std::nullopt;
  constexpr int64_t kShort = 1 << 12;  // a longer table takes more time to copy than the elements to find the largest of
  if (bound >= kShort) {
    Array made = empty(Dims{std::max(range_of<T>(first, count, step).second + 1, least)}, DType::i64, device);
    auto* const counts = static_cast<int64_t*>(made.storage()->current->buffer->ptr);
    std::memset(counts, 0, static_cast<size_t>(made.size()) * 8);
    for (k = 0; k < count; ++k) ++counts[get<T>(first + k * step)];
    return made;
  }
  std::vector<int64_t> counts(static_cast<size_t>(std::max(bound + 1, least)));
  for (k = 0; k < count; ++k) ++counts[static_cast<size_t>(get<T>(first + k * step))];
  int64_t size = bound + 1;
  while (counts[static_cast<size_t>(size - 1)] == 0) --size;
  size = std::max(size, least);
  Array made = empty(Dims{size}, DType::i64, device);
  std::memcpy(made.storage()->current->buffer->ptr, counts.data(), static_cast<size_t>(size) * 8);
  return made;
}

}  // namespace

std::optional<Array> bincount_small(const Array& a, const Array& weights, int64_t least) {
  // With more elements a kernel is faster; other threads may wait this long for the GIL.
  constexpr int64_t kMostElements = 1 << 16;
  const auto fits = [&](const Array& x) {
    return x.ndim() == 1 && x.shape()[0] == a.shape()[0] && x.device() == a.device() && !has_history(x);
  };
  if (!open(a.device()) || a.ndim() != 1 || a.size() == 0 || a.size() > kMostElements || !fits(a) || !is_integer(a.dtype()))
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
