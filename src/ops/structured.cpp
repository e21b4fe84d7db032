#include "ops/structured.h"

#include <algorithm>
#include <complex>
#include <cstring>
#include <vector>

#include "array/small_near.h"
#include "core/shape.h"

namespace bc::linalg {
namespace {

/// Whether arrays may be read at once in host memory.
bool near(const Array& a) { return small::open(a.device()) && !has_history(a); }
bool near(const Array& a, const Array& b) { return near(a) && (!b || (b.device() == a.device() && !has_history(b))); }

/// The elements of a contiguous array, to be looked at: in place where nothing else may use the memory, else in a copy, which waits for
/// other streams. What is found must not depend on the streams that a process has, or on a profiler.
class Looked {
 public:
  explicit Looked(const Array& a) {
    if (small::open(a.device())) {
      first_ = small::first_element(a);
    } else {
      copy_.resize(static_cast<size_t>(a.size() * itemsize(a.dtype())));
      to_host(a, copy_.data());
      first_ = copy_.data();
    }
  }
  const char* first() const { return first_; }

 private:
  std::vector<char> copy_;
  const char* first_ = nullptr;
};
/// Whether an array's elements may be looked at: a capture has not computed them yet, and derivatives or examples of a vmap may be wanted.
bool may_look(const Array& a) { return traits(a.device()).on_host && !tape(a.device()).capture() && !has_history(a); }

/// A new array of elements that are not set.
Array unset_matrix(int64_t rows, int64_t columns, const Array& like) { return empty(Dims{rows, columns}, like.dtype(), like.device()); }
char* memory(const Array& made) { return made.size() ? static_cast<char*>(made.storage()->current->buffer->ptr) : nullptr; }

/// Copies a vector's elements from the one at `from` on, `count` of them, backwards where `step` is -1.
char* copy_vector(const Array& v, int64_t from, int64_t count, int64_t step, char* to) {
  const int item = itemsize(v.dtype());
  const int64_t stride = v.strides()[0] * step * item;
  const char* at = count > 0 ? small::first_element(v) + from * v.strides()[0] * item : nullptr;
  if (count > 0 && stride == item) {
    std::memcpy(to, at, static_cast<size_t>(count * item));
    return to + count * item;
  }
  for (int64_t k = 0; k < count; ++k, to += item) std::memcpy(to, at + k * stride, static_cast<size_t>(item));
  return to;
}

void conjugate(DType t, char* at, int64_t count) {
  const int half = itemsize(t) / 2;
  for (int64_t k = 0; k < count; ++k) at[k * 2 * half + 2 * half - 1] = static_cast<char>(at[k * 2 * half + 2 * half - 1] ^ 0x80);
}

/// How the bits of an element say that it is zero: each of its words is, but for the bits outside the mask (the sign).
template <class F>
auto with_words(DType t, F&& f) {
  const bool floats = !is_integer(t) && t != DType::b1;
  const int words = is_complex(t) ? 2 : 1;
  const auto run = [&]<class U>(U) { return f(static_cast<U>(floats ? static_cast<U>(~U(0)) >> 1 : ~U(0)), words); };
  switch (itemsize(t) / words) {
    case 1: return run(uint8_t());
    case 2: return run(uint16_t());
    case 4: return run(uint32_t());
    default: return run(uint64_t());
  }
}

/// The number of the first of `n` words that has a bit of the mask, or n.
template <class U>
int64_t first_set(const U* words, int64_t n, U mask) {
  constexpr int64_t kBlock = 64 / sizeof(U);
  int64_t k = 0;
  for (; k + kBlock <= n; k += kBlock) {
    U any = 0;
    for (int64_t i = 0; i < kBlock; ++i) any |= words[k + i];
    if (any & mask) break;
  }
  while (k < n && !(words[k] & mask)) ++k;
  return k;
}
/// The number behind the last of `n` words that has a bit of the mask, or 0.
template <class U>
int64_t behind_last_set(const U* words, int64_t n, U mask) {
  constexpr int64_t kBlock = 64 / sizeof(U);
  for (; n >= kBlock; n -= kBlock) {
    U any = 0;
    for (int64_t i = 1; i <= kBlock; ++i) any |= words[n - i];
    if (any & mask) break;
  }
  while (n > 0 && !(words[n - 1] & mask)) --n;
  return n;
}

/// Both bandwidths: each row is read only outside of the band that other rows have, those of the corners first.
template <class U>
std::array<int64_t, 2> band_of(const U* a, int64_t rows, int64_t columns, U mask, int words) {
  int64_t below = 0, above = 0;
  for (int64_t i = rows - 1; i > below; --i) {
    const int64_t n = std::min(i - below, columns), at = first_set(a + i * columns * words, n * words, mask) / words;
    if (at < n) below = i - at;
  }
  for (int64_t i = 0; i < rows && i + above + 1 < columns; ++i) {
    const int64_t from = i + above + 1;
    const int64_t end = behind_last_set(a + (i * columns + from) * words, (columns - from) * words, mask);
    if (end > 0) above = from + (end - 1) / words - i;
  }
  return {below, above};
}

/// Whether a[i, j] is a[j, i] below the diagonal, and on it if that is asked for, by tiles that stay in the cache.
template <class T, class Same>
bool mirrored(const T* a, int64_t n, bool diagonal, Same same) {
  constexpr int64_t kTile = 16;
  for (int64_t i0 = 0; i0 < n; i0 += kTile)
    for (int64_t j0 = 0; j0 <= i0; j0 += kTile) {
      bool all = true;
      for (int64_t i = i0; i < std::min(i0 + kTile, n); ++i)
        for (int64_t j = j0; j < std::min(j0 + kTile, i + diagonal); ++j) all &= same(a[i * n + j], a[j * n + i]);
      if (!all) return false;
    }
  return true;
}
template <class T>
bool mirrored(const Array& a, int64_t n) {
  const Looked elements(a);
  return mirrored(reinterpret_cast<const T*>(elements.first()), n, false, [](const T& x, const T& y) { return x == y; });
}
template <class R>
bool mirrored_complex(const Array& a, int64_t n, bool conjugate) {
  using T = std::complex<R>;
  const R sign = conjugate ? R(-1) : R(1);
  const Looked elements(a);
  return mirrored(reinterpret_cast<const T*>(elements.first()), n, conjugate,
                  [sign](const T& x, const T& y) { return (x.real() == y.real()) & (x.imag() == sign * y.imag()); });
}

}  // namespace

std::optional<Array> constant_along(Constant what, const Array& column, const Array& row) {
  if (!near(column, row) || column.ndim() != 1 || column.has_loose_booleans()) return std::nullopt;
  if (row && (row.ndim() != 1 || row.dtype() != column.dtype() || row.has_loose_booleans() || row.size() == 0)) return std::nullopt;
  const int64_t m = column.size(), n = row ? row.size() : m, item = itemsize(column.dtype());
  const Array made = unset_matrix(m, n, column);
  if (made.size() == 0) return made;
  // Each row of the matrix is a part of one vector.
  std::vector<char> values(static_cast<size_t>((m + n) * item));
  char* end = values.data();
  const bool down = what != Constant::antidiagonals;
  end = copy_vector(column, down ? m - 1 : 0, m, down ? -1 : 1, end);
  if (what == Constant::wrapped) {
    copy_vector(column, m - 1, m, -1, end);
  } else if (row) {
    copy_vector(row, 1, n - 1, 1, end);
  } else if (down) {
    copy_vector(column, 1, n - 1, 1, end);
    if (is_complex(column.dtype())) conjugate(column.dtype(), end, n - 1);
  }
  char* to = memory(made);
  for (int64_t i = 0; i < m; ++i, to += n * item)
    std::memcpy(to, values.data() + (down ? m - 1 - i : i) * item, static_cast<size_t>(n * item));
  return made;
}

std::optional<Array> block_diagonal(std::span<const Array> blocks) {
  int64_t rows = 0, columns = 0;
  for (const Array& b : blocks) {
    const bool fits = near(b) && b.ndim() == 2 && b.dtype() == blocks[0].dtype() && b.device() == blocks[0].device();
    if (!fits || b.has_loose_booleans()) return std::nullopt;
    rows += b.shape()[0];
    columns += b.shape()[1];
  }
  if (blocks.empty()) return std::nullopt;
  const Array made = unset_matrix(rows, columns, blocks[0]);
  const int64_t item = itemsize(made.dtype());
  char* to = memory(made);
  int64_t left = 0;
  for (const Array& block : blocks) {
    const Array b = ascontiguous(block);
    const int64_t width = b.shape()[1] * item, right = (columns - left) * item - width;
    const char* from = b.size() ? small::first_element(b) : nullptr;
    for (int64_t i = 0; i < b.shape()[0] && to; ++i, to += columns * item) {
      std::memset(to, 0, static_cast<size_t>(left * item));
      if (width) std::memcpy(to + left * item, from + i * width, static_cast<size_t>(width));
      std::memset(to + left * item + width, 0, static_cast<size_t>(right));
    }
    left += b.shape()[1];
  }
  return made;
}

std::optional<Array> over_subdiagonal(const Array& top, const Array& below) {
  if (!near(top, below) || top.ndim() != 1 || top.size() == 0 || top.has_loose_booleans()) return std::nullopt;
  const int64_t n = top.size(), item = itemsize(top.dtype());
  if (below && (below.ndim() != 1 || below.dtype() != top.dtype() || below.size() != n - 1)) return std::nullopt;
  const Array made = unset_matrix(n, n, top);
  char* to = memory(made);
  std::memset(to, 0, static_cast<size_t>(made.size() * item));
  copy_vector(top, 0, n, 1, to);
  std::vector<char> values(static_cast<size_t>(n * item));
  if (below)
    copy_vector(below, 0, n - 1, 1, values.data());
  else
    for (int64_t k = 0; k < n; ++k) Scalar::integer(1).store(top.dtype(), values.data() + k * item);
  for (int64_t k = 0; k + 1 < n; ++k) std::memcpy(to + ((k + 1) * n + k) * item, values.data() + k * item, static_cast<size_t>(item));
  return made;
}

std::optional<std::array<int64_t, 2>> bandwidth(const Array& a) {
  if (!may_look(a) || a.ndim() != 2 || a.size() == 0) return std::nullopt;
  const Array flipped = transpose(a);
  const bool by_columns = !a.contiguous() && flipped.contiguous();
  const Array rows = by_columns ? flipped : ascontiguous(a);
  const Looked elements(rows);
  const auto found = with_words(a.dtype(), [&]<class U>(U mask, int words) {
    return band_of(reinterpret_cast<const U*>(elements.first()), rows.shape()[0], rows.shape()[1], mask, words);
  });
  return by_columns ? std::array<int64_t, 2>{found[1], found[0]} : found;
}

std::optional<bool> is_symmetric(const Array& a, bool conjugate) {
  if (!may_look(a) || a.ndim() != 2 || a.shape()[0] != a.shape()[1] || a.size() == 0) return std::nullopt;
  const int64_t n = a.shape()[0];
  const Array rows = a.contiguous() || !transpose(a).contiguous() ? ascontiguous(a) : transpose(a);
  switch (a.dtype()) {
    case DType::f32: return mirrored<float>(rows, n);
    case DType::f64: return mirrored<double>(rows, n);
    case DType::c64: return mirrored_complex<float>(rows, n, conjugate);
    case DType::c128: return mirrored_complex<double>(rows, n, conjugate);
    case DType::i32: return mirrored<int32_t>(rows, n);
    case DType::i64: return mirrored<int64_t>(rows, n);
    default: return std::nullopt;
  }
}

namespace {

/// An exponent of ones, to which its lowest bit is added, overflows into the sign. Signs are looked at once for many numbers, so that the
/// loop is one of vectors for any processor.
template <class U>
bool all_finite(const U* bits, int64_t n, U exponent, U lowest) {
  constexpr int64_t kBlock = 4096, kSide = 32 / sizeof(U);
  constexpr U kSign = U(1) << (8 * sizeof(U) - 1);
  for (int64_t begin = 0; begin < n; begin += kBlock) {
    const int64_t end = std::min(begin + kBlock, n);
    U signs[kSide] = {};
    int64_t k = begin;
    for (; k + kSide <= end; k += kSide)
      for (int64_t l = 0; l < kSide; ++l) signs[l] |= (bits[k + l] & exponent) + lowest;
    for (; k < end; ++k) signs[0] |= (bits[k] & exponent) + lowest;
    U all = 0;
    for (U sign : signs) all |= sign;
    if (all & kSign) return false;
  }
  return true;
}

}  // namespace

std::optional<bool> is_finite(const Array& a) {
  if (!may_look(a) || !is_inexact(a.dtype()) || is_small_float(a.dtype())) return std::nullopt;
  const Array flipped = transpose(a);
  const Array rows = !a.contiguous() && flipped.contiguous() ? flipped : ascontiguous(a);
  const int64_t n = a.size() * (is_complex(a.dtype()) ? 2 : 1);
  if (n == 0) return true;
  const Looked elements(rows);
  if (a.dtype() == DType::f32 || a.dtype() == DType::c64)
    return all_finite(reinterpret_cast<const uint32_t*>(elements.first()), n, 0x7f800000u, 0x00800000u);
  return all_finite(reinterpret_cast<const uint64_t*>(elements.first()), n, uint64_t{0x7ff0} << 48, uint64_t{0x0010} << 48);
}

namespace {

template <class T>
std::vector<Array> split_factors(const Array& all, const int32_t* pivots, Permutation how) {
  const int64_t m = all.shape()[0], n = all.shape()[1], k = std::min(m, n);
  const Array lower = unset_matrix(m, k, all), upper = unset_matrix(k, n, all);
  // Row i of the exchanged matrix is row order[i]; the row of L for row r of the matrix is the inverse.
  std::vector<int32_t> order(static_cast<size_t>(m)), place(static_cast<size_t>(m));
  for (int64_t i = 0; i < m; ++i) order[static_cast<size_t>(i)] = static_cast<int32_t>(i);
  for (int64_t i = 0; i < k; ++i) std::swap(order[static_cast<size_t>(i)], order[static_cast<size_t>(pivots[i])]);
  for (int64_t i = 0; i < m; ++i) place[static_cast<size_t>(order[static_cast<size_t>(i)])] = static_cast<int32_t>(i);
  const T* from = reinterpret_cast<const T*>(small::first_element(all));
  T *l = reinterpret_cast<T*>(memory(lower)), *u = reinterpret_cast<T*>(memory(upper));
  for (int64_t i = 0; i < m; ++i) {
    T* const row = l + (how == Permutation::applied ? order[static_cast<size_t>(i)] : i) * k;
    const int64_t below = std::min(i, k);
    std::copy_n(from + i * n, below, row);
    std::fill(row + below, row + k, T(0));
    if (i >= k) continue;
    row[i] = T(1);
    std::fill_n(u + i * n, i, T(0));
    std::copy(from + i * n + i, from + (i + 1) * n, u + i * n + i);
  }
  if (how == Permutation::applied) return {lower, upper};
  if (how == Permutation::places) {
    const Array places = empty(Dims{m}, DType::i32, all.device());
    std::copy(place.begin(), place.end(), reinterpret_cast<int32_t*>(memory(places)));
    return {places, lower, upper};
  }
  const Array matrix = empty(Dims{m, m}, (all.dtype() == DType::f32 || all.dtype() == DType::c64 ? DType::f32 : DType::f64), all.device());
  char* to = memory(matrix);
  const int item = itemsize(matrix.dtype());
  std::memset(to, 0, static_cast<size_t>(m * m * item));
  for (int64_t i = 0; i < m; ++i) Scalar::integer(1).store(matrix.dtype(), to + (i * m + place[static_cast<size_t>(i)]) * item);
  return {matrix, lower, upper};
}

}  // namespace

std::optional<std::vector<Array>> lu_parts(const Array& factors, const Array& pivots, Permutation how) {
  if (!near(factors, pivots) || factors.ndim() != 2 || factors.size() == 0 || pivots.dtype() != DType::i32) return std::nullopt;
  const Array all = ascontiguous(factors), exchanges = ascontiguous(pivots);
  const auto* order = reinterpret_cast<const int32_t*>(small::first_element(exchanges));
  switch (factors.dtype()) {
    case DType::f32: return split_factors<float>(all, order, how);
    case DType::f64: return split_factors<double>(all, order, how);
    case DType::c64: return split_factors<std::complex<float>>(all, order, how);
    case DType::c128: return split_factors<std::complex<double>>(all, order, how);
    default: return std::nullopt;
  }
}

}  // namespace bc::linalg
