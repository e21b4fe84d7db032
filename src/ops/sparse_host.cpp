#include "ops/sparse_host.h"

#include <algorithm>
#include <complex>
#include <cstring>
#include <limits>
#include <numeric>

#include "array/small_near.h"
#include "core/error.h"

namespace bc::sparse::host {
namespace {

// ---- Memory ----------------------------------------------------------------------------------------------------------------------------

template <class... A>
bool near(const Array& first, const A&... rest) {
  const auto fits = [&](const Array& a) { return a.device() == first.device() && !has_history(a) && !a.has_loose_booleans(); };
  return small::open(first.device()) && fits(first) && (fits(rest) && ...);
}

/// A C-contiguous array's elements in host memory.
template <class T>
const T* elements(const Array& a) {
  return a.size() ? reinterpret_cast<const T*>(small::first_element(a)) : nullptr;
}
template <class T>
T* memory(const Array& made) {
  return made.size() ? static_cast<T*>(made.storage()->current->buffer->ptr) : nullptr;
}
/// A new vector; its elements are not set.
Array vector_of(int64_t n, DType t, const Array& like) { return empty(Dims{n}, t, like.device()); }

// ---- Dtypes ----------------------------------------------------------------------------------------------------------------------------

/// Calls f with an int32; nullopt for vectors that are no int32. Only matrices with more elements than int32 counts have int64 indices, and
/// for those ops are not slow.
template <class F, class... A>
auto by_index(F&& f, const Array& first, const A&... rest) -> decltype(f(int32_t())) {
  const auto fits = [&](const Array& a) { return a.ndim() == 1 && a.dtype() == DType::i32; };
  if (!fits(first) || !(fits(rest) && ...)) return std::nullopt;
  return f(int32_t());
}
/// The same for what programs give, which may be int64.
template <class F, class... A>
auto by_given_index(F&& f, const Array& first, const A&... rest) -> decltype(f(int32_t())) {
  const auto fits = [&](const Array& a) { return a.ndim() == 1 && a.dtype() == first.dtype(); };
  if (!fits(first) || !(fits(rest) && ...)) return std::nullopt;
  if (first.dtype() == DType::i32) return f(int32_t());
  return first.dtype() == DType::i64 ? f(int64_t()) : decltype(f(int32_t()))();
}

/// Elements that are only moved: as many words as an element has.
template <class U, int kWords>
struct Bits {
  U words[kWords];
  /// Whether it is the number zero, of either sign where the mask leaves the sign out.
  bool is_zero(U mask) const {
    U any = 0;
    for (U w : words) any = static_cast<U>(any | w);
    return (any & mask) == 0;
  }
};
/// Calls f with Bits and the mask of their words.
template <class F>
auto by_bits(DType t, F&& f) {
  const bool floats = !is_integer(t) && t != DType::b1;
  const auto run = [&]<class U, int kWords>(Bits<U, kWords> b) {
    return f(b, static_cast<U>(floats ? static_cast<U>(~U(0)) >> 1 : ~U(0)));
  };
  if (t == DType::c64) return run(Bits<uint32_t, 2>());
  if (t == DType::c128) return run(Bits<uint64_t, 2>());
  switch (itemsize(t)) {
    case 1: return run(Bits<uint8_t, 1>());
    case 2: return run(Bits<uint16_t, 1>());
    case 4: return run(Bits<uint32_t, 1>());
    default: return run(Bits<uint64_t, 1>());
  }
}
/// Calls f with a number of the dtype, for those that are added up here.
template <class F>
auto by_number(DType t, F&& f) -> decltype(f(double())) {
  switch (t) {
    case DType::f32: return f(float());
    case DType::f64: return f(double());
    case DType::c64: return f(std::complex<float>());
    case DType::c128: return f(std::complex<double>());
    case DType::i32: return f(uint32_t());  // wraps
    case DType::i64: return f(uint64_t());
    default: return std::nullopt;
  }
}

// ---- Rows ------------------------------------------------------------------------------------------------------------------------------

/// A matrix in host memory whose indices are of type I. It owns the arrays that its pointers point into.
template <class I>
struct Near {
  Array indices_array, indptr_array;
  const I *indices, *indptr;
  int64_t count, columns;

  explicit Near(const Rows& a)
      : indices_array(ascontiguous(a.indices)),
        indptr_array(ascontiguous(a.indptr)),
        indices(elements<I>(indices_array)),
        indptr(elements<I>(indptr_array)),
        count(a.indptr.size() - 1),
        columns(a.columns) {}
  int64_t size() const { return indices_array.size(); }
};
template <class F>
auto by_rows(const Rows& a, F&& f) {
  return by_index([&]<class I>(I) { return f(Near<I>(a)); }, a.indices, a.indptr);
}

template <class I>
void add_up(I* indptr, int64_t rows) {
  indptr[0] = 0;
  for (int64_t i = 0; i < rows; ++i) indptr[i + 1] = static_cast<I>(indptr[i + 1] + indptr[i]);
}

constexpr int64_t kMost32 = std::numeric_limits<int32_t>::max();

/// The indices of a dense matrix' elements, where a line is a row, or a column; the lines lie one after another in memory.
template <class B, class U>
Matrix along_lines(const B* a, const Array& like, int64_t lines, int64_t length, U mask) {
  const Array indptr = vector_of(lines + 1, DType::i32, like);
  int32_t* ends = memory<int32_t>(indptr);
  ends[0] = 0;
  for (int64_t i = 0; i < lines; ++i) {
    int32_t n = 0;
    for (int64_t j = 0; j < length; ++j) n += !a[i * length + j].is_zero(mask);
    ends[i + 1] = ends[i] + n;
  }
  const Matrix made{vector_of(ends[lines], like.dtype(), like), {vector_of(ends[lines], DType::i32, like), indptr, length}};
  B* data = memory<B>(made.data);
  int32_t* indices = memory<int32_t>(made.rows.indices);
  for (int64_t i = 0; i < lines; ++i) {
    if (ends[i] == ends[i + 1]) continue;
    for (int64_t j = 0; j < length; ++j)
      if (!a[i * length + j].is_zero(mask)) {
        *data++ = a[i * length + j];
        *indices++ = static_cast<int32_t>(j);
      }
  }
  return made;
}
/// The same where the lines lie across the memory, whose rows are read in turn.
template <class B, class U>
Matrix across_lines(const B* a, const Array& like, int64_t lines, int64_t length, U mask) {
  const Array indptr = vector_of(lines + 1, DType::i32, like);
  int32_t* ends = memory<int32_t>(indptr);
  std::fill_n(ends, lines + 1, 0);
  for (int64_t i = 0; i < length; ++i)
    for (int64_t j = 0; j < lines; ++j) ends[j + 1] += !a[i * lines + j].is_zero(mask);
  add_up(ends, lines);
  const Matrix made{vector_of(ends[lines], like.dtype(), like), {vector_of(ends[lines], DType::i32, like), indptr, length}};
  B* to = memory<B>(made.data);
  int32_t* indices = memory<int32_t>(made.rows.indices);
  std::vector<int32_t> next(ends, ends + lines);
  for (int64_t i = 0; i < length; ++i)
    for (int64_t j = 0; j < lines; ++j)
      if (!a[i * lines + j].is_zero(mask)) {
        const int32_t at = next[static_cast<size_t>(j)]++;
        to[at] = a[i * lines + j];
        indices[at] = static_cast<int32_t>(i);
      }
  return made;
}

/// Puts or adds elements into a dense matrix of zeros, or adds them to `base`: f(k, place) for each element k.
template <class Each>
std::optional<Array> spread(const Array& data, const Dims& shape, bool distinct, const Each& each, const Array& base = {}) {
  const Array made = empty(shape, data.dtype(), data.device());
  const Array below = base ? ascontiguous(base) : base;
  if (const auto bytes = static_cast<size_t>(made.size() * itemsize(data.dtype())))
    base ? std::memcpy(memory<char>(made), elements<char>(below), bytes) : std::memset(memory<char>(made), 0, bytes);
  if (made.size() == 0 || data.size() == 0) return made;
  const Array from = ascontiguous(data);
  if (distinct && !base)
    return by_bits(data.dtype(), [&]<class B>(B, auto) -> std::optional<Array> {
      const B* values = elements<B>(from);
      B* to = memory<B>(made);
      each([&](int64_t k, int64_t place) { to[place] = values[k]; });
      return made;
    });
  return by_number(data.dtype(), [&]<class T>(T) -> std::optional<Array> {
    const T* values = elements<T>(from);
    T* to = memory<T>(made);
    each([&](int64_t k, int64_t place) { to[place] += values[k]; });
    return made;
  });
}

// ---- Sorting by places -----------------------------------------------------------------------------------------------------------------

/// A stable order of `keys` in [0, groups), of the positions that `order` has (null: all in turn), and the groups' pointers.
template <class I>
void group(const I* keys, const I* order, int64_t n, int64_t groups, I* indptr, I* to) {
  std::fill_n(indptr, groups + 1, I(0));
  for (int64_t k = 0; k < n; ++k) ++indptr[keys[k] + 1];
  add_up(indptr, groups);
  for (int64_t k = 0; k < n; ++k) {
    const I at = order ? order[k] : static_cast<I>(k);
    to[indptr[keys[at]]++] = at;
  }
  std::copy_backward(indptr, indptr + groups, indptr + groups + 1);
  indptr[0] = 0;
}

/// Whether all numbers are in [0, end). A number outside, or end - 1 less it, is negative; signs are looked at once, so that the loop is
/// one of vectors for any processor.
template <class I>
bool inside(const I* numbers, int64_t n, int64_t end) {
  using U = std::make_unsigned_t<I>;
  if (end > static_cast<int64_t>(std::numeric_limits<I>::max())) end = std::numeric_limits<I>::max();
  const U last = static_cast<U>(end - 1);
  constexpr int64_t kSide = 32 / sizeof(I);
  U signs[kSide] = {};
  int64_t k = 0;
  for (; k + kSide <= n; k += kSide)
    for (int64_t l = 0; l < kSide; ++l) {
      const U number = static_cast<U>(numbers[k + l]);
      signs[l] |= number | (last - number);
    }
  for (; k < n; ++k) signs[0] |= static_cast<U>(numbers[k]) | (last - static_cast<U>(numbers[k]));
  U all = 0;
  for (U s : signs) all |= s;
  return n == 0 || (end > 0 && static_cast<I>(all) >= 0);
}
/// Whether no number is less than the one before it.
template <class I>
bool rises(const I* numbers, int64_t n) {
  using U = std::make_unsigned_t<I>;
  constexpr int64_t kSide = 32 / sizeof(I);
  U signs[kSide] = {};
  int64_t k = 0;
  for (; k + kSide < n; k += kSide)
    for (int64_t l = 0; l < kSide; ++l) signs[l] |= static_cast<U>(numbers[k + l + 1]) - static_cast<U>(numbers[k + l]);
  for (; k + 1 < n; ++k) signs[0] |= static_cast<U>(numbers[k + 1]) - static_cast<U>(numbers[k]);
  U all = 0;
  for (U s : signs) all |= s;
  return static_cast<I>(all) >= 0;
}
template <class I>
std::array<int64_t, 2> range_of(const I* numbers, int64_t n, int64_t end) {
  if (n == 0) return {0, 0};
  if (end > 0 && inside(numbers, n, end)) return {0, end - 1};
  const auto [low, high] = std::minmax_element(numbers, numbers + n);
  return {*low, *high};
}

/// Elements in an order, of which neighbours at one place are added up. `indptr` counts elements before and places after.
template <class I>
struct Sorted {
  const I *row, *column, *order;
  int64_t n;
  bool follows(int64_t k) const { return column[order[k]] == column[order[k - 1]] && row[order[k]] == row[order[k - 1]]; }
};
template <class I>
std::optional<Matrix> gathered(const Array& data, const Sorted<I>& s, const Array& indptr, int64_t rows, int64_t columns) {
  const Array from = ascontiguous(data);
  int64_t places = s.n > 0;
  for (int64_t k = 1; k < s.n; ++k) places += !s.follows(k);
  const Matrix made{vector_of(places, data.dtype(), data), {vector_of(places, indptr.dtype(), data), indptr, columns}};
  I* indices = memory<I>(made.rows.indices);
  if (places == s.n) {
    for (int64_t k = 0; k < s.n; ++k) indices[k] = s.column[s.order[k]];
    by_bits(data.dtype(), [&]<class B>(B, auto) {
      const B* values = elements<B>(from);
      B* to = memory<B>(made.data);
      for (int64_t k = 0; k < s.n; ++k) to[k] = values[s.order[k]];
    });
    return made;
  }
  I* ends = memory<I>(indptr);
  std::fill_n(ends, rows + 1, I(0));
  return by_number(data.dtype(), [&]<class T>(T) -> std::optional<Matrix> {
    const T* values = elements<T>(from);
    T* to = memory<T>(made.data);
    for (int64_t k = 0, at = -1; k < s.n; ++k) {
      const I place = s.order[k];
      if (k > 0 && s.follows(k)) {
        to[at] += values[place];
        continue;
      }
      to[++at] = values[place];
      indices[at] = s.column[place];
      ++ends[s.row[place] + 1];
    }
    add_up(ends, rows);
    return made;
  });
}

template <class I>
std::optional<Matrix> compressed(const Array& data, const Array& row_in, const Array& column_in, int64_t rows, int64_t columns) {
  const Array rows_array = ascontiguous(row_in), columns_array = ascontiguous(column_in);
  const I *row = elements<I>(rows_array), *column = elements<I>(columns_array);
  const int64_t n = data.size();
  if (!inside(row, n, rows) || !inside(column, n, columns)) return std::nullopt;
  bool sorted = true;
  for (int64_t k = 1; k < n; ++k) sorted &= row[k] > row[k - 1] || (row[k] == row[k - 1] && column[k] > column[k - 1]);
  const Array indptr = vector_of(rows + 1, row_in.dtype(), data);
  I* ends = memory<I>(indptr);
  if (sorted) {
    std::fill_n(ends, rows + 1, I(0));
    for (int64_t k = 0; k < n; ++k) ++ends[row[k] + 1];
    add_up(ends, rows);
    return Matrix{copy(data), {copy(column_in), indptr, columns}};
  }
  std::vector<I> by_column(static_cast<size_t>(n)), order(static_cast<size_t>(n)), starts(static_cast<size_t>(columns + 1));
  const bool by_columns = rises(column, n);
  if (!by_columns) group<I>(column, nullptr, n, columns, starts.data(), by_column.data());
  group<I>(row, by_columns ? nullptr : by_column.data(), n, rows, ends, order.data());
  return gathered<I>(data, {row, column, order.data(), n}, indptr, rows, columns);
}

// ---- Blocks ----------------------------------------------------------------------------------------------------------------------------

/// Calls f(block row, block column) for each block that has an element.
template <class I, class F>
void each_block(const Near<I>& a, int64_t height, int64_t width, F&& f) {
  std::vector<int64_t> seen(static_cast<size_t>(a.columns / width), -1);
  for (int64_t band = 0; band < a.count / height; ++band)
    for (int64_t i = band * height; i < (band + 1) * height; ++i)
      for (int64_t k = a.indptr[i]; k < a.indptr[i + 1]; ++k) {
        const int64_t block = a.indices[k] / width;
        if (seen[static_cast<size_t>(block)] != band) f(band, block);
        seen[static_cast<size_t>(block)] = band;
      }
}

}  // namespace

std::optional<Matrix> of_dense(const Array& a, bool by_columns) {
  if (!near(a) || a.ndim() != 2 || a.shape()[0] >= kMost32 || a.shape()[1] >= kMost32 || a.size() > kMost32) return std::nullopt;
  const Array flipped = transpose(a);
  const bool across_memory = !a.contiguous() && flipped.contiguous();
  const Array lines = across_memory ? flipped : ascontiguous(a);
  const int64_t outer = lines.shape()[0], inner = lines.shape()[1];
  return by_bits(a.dtype(), [&]<class B>(B, auto mask) -> std::optional<Matrix> {
    const B* from = elements<B>(lines);
    return by_columns == across_memory ? along_lines(from, a, outer, inner, mask) : across_lines(from, a, inner, outer, mask);
  });
}

std::optional<Array> dense(const Array& data, const Rows& a, bool distinct, bool transposed, const Array& base) {
  if (!near(data, a.indices, a.indptr)) return std::nullopt;
  if (base && (!near(data, base) || base.dtype() != data.dtype())) return std::nullopt;
  return by_rows(a, [&]<class I>(const Near<I>& r) -> std::optional<Array> {
    const int64_t down = transposed ? 1 : r.columns, across = transposed ? r.count : 1;
    const auto each = [&](auto&& put) {
      for (int64_t i = 0; i < r.count; ++i)
        for (int64_t k = r.indptr[i]; k < r.indptr[i + 1]; ++k) put(k, i * down + r.indices[k] * across);
    };
    return spread(data, transposed ? Dims{r.columns, r.count} : Dims{r.count, r.columns}, distinct, each, base);
  });
}

std::optional<std::array<int64_t, 2>> bandwidth(const Rows& a) {
  if (!near(a.indices, a.indptr)) return std::nullopt;
  return by_rows(a, [&]<class I>(const Near<I>& r) -> std::optional<std::array<int64_t, 2>> {
    int64_t below = 0, above = 0;
    for (int64_t i = 0; i < r.count; ++i)
      for (int64_t k = r.indptr[i]; k < r.indptr[i + 1]; ++k) {
        const int64_t right = r.indices[k] - i;
        above = std::max(above, right);
        below = std::max(below, -right);
      }
    return std::array{below, above};
  });
}

std::optional<Array> dense(const Array& data, const Array& row, const Array& column, int64_t rows, int64_t columns) {
  if (!near(data, row, column)) return std::nullopt;
  return by_index(
      [&]<class I>(I) -> std::optional<Array> {
        const Array rows_array = ascontiguous(row), columns_array = ascontiguous(column);
        const I *i = elements<I>(rows_array), *j = elements<I>(columns_array);
        return spread(data, Dims{rows, columns}, false, [&](auto&& put) {
          for (int64_t k = 0; k < data.size(); ++k) put(k, i[k] * columns + j[k]);
        });
      },
      row, column);
}

std::optional<Matrix> compress(const Array& data, const Array& row, const Array& column, int64_t rows, int64_t columns) {
  if (!near(data, row, column) || data.size() == 0) return std::nullopt;
  return by_index([&]<class I>(I) { return compressed<I>(data, row, column, rows, columns); }, row, column);
}

std::optional<bool> ascends(const Rows& a, bool strictly) {
  if (!near(a.indices, a.indptr)) return std::nullopt;
  return by_rows(a, [&]<class I>(const Near<I>& r) -> std::optional<bool> {
    for (int64_t i = 0; i < r.count; ++i)
      for (int64_t k = r.indptr[i] + 1; k < r.indptr[i + 1]; ++k)
        if (r.indices[k] < r.indices[k - 1] || (strictly && r.indices[k] == r.indices[k - 1])) return false;
    return true;
  });
}

std::optional<std::array<int64_t, 5>> facts(const Array& indices, const Array& indptr, int64_t end) {
  if (!near(indices, indptr) || indptr.size() == 0) return std::nullopt;
  const auto look = [&]<class I>(I) -> std::optional<std::array<int64_t, 5>> {
    const Near<I> r({indices, indptr, 0});
    const auto [low, high] = range_of(r.indices, std::clamp<int64_t>(r.indptr[r.count], 0, r.size()), end);
    return std::array<int64_t, 5>{r.indptr[0], r.indptr[r.count], rises(r.indptr, r.count + 1), low, high};
  };
  return by_given_index(look, indices, indptr);
}

std::optional<std::array<int64_t, 2>> bounds(const Array& numbers, int64_t end) {
  if (!near(numbers) || numbers.size() == 0) return std::nullopt;
  return by_given_index(
      [&]<class I>(I) -> std::optional<std::array<int64_t, 2>> {
        const Array all = ascontiguous(numbers);
        return range_of(elements<I>(all), all.size(), end);
      },
      numbers);
}

std::optional<Matrix> nonzeros(const Array& data_in, const Rows& a) {
  if (!near(data_in, a.indices, a.indptr) || data_in.shape() != a.indices.shape()) return std::nullopt;
  return by_rows(a, [&]<class I>(const Near<I>& r) {
    const Array data = ascontiguous(data_in);
    return by_bits(data.dtype(), [&]<class B>(B, auto mask) -> std::optional<Matrix> {
      const B* values = elements<B>(data);
      int64_t n = 0;
      for (int64_t k = 0; k < r.size(); ++k) n += !values[k].is_zero(mask);
      if (n == r.size()) return Matrix{data_in, a};
      const Matrix made{vector_of(n, data.dtype(), data),
                        {vector_of(n, a.indices.dtype(), data), vector_of(r.count + 1, a.indptr.dtype(), data), r.columns}};
      // Each element is written, and the next one over it unless it stays: a branch would not be predicted. The last one is checked.
      B* const to = memory<B>(made.data);
      I *const indices = memory<I>(made.rows.indices), *const ends = memory<I>(made.rows.indptr);
      int64_t at = 0;
      ends[0] = 0;
      for (int64_t i = 0; i < r.count; ++i) {
        for (int64_t k = r.indptr[i]; k < r.indptr[i + 1] && at < n; ++k) {
          to[at] = values[k];
          indices[at] = r.indices[k];
          at += !values[k].is_zero(mask);
        }
        ends[i + 1] = static_cast<I>(at);
      }
      return made;
    });
  });
}

std::optional<Array> diagonal(const Array& data, const Array& row, const Array& column, int64_t rows, int64_t columns, int64_t k) {
  if (!near(data, row, column)) return std::nullopt;
  return by_index(
      [&]<class I>(I) -> std::optional<Array> {
        const Array rows_array = ascontiguous(row), columns_array = ascontiguous(column);
        const I *i = elements<I>(rows_array), *j = elements<I>(columns_array);
        const int64_t first = std::max<int64_t>(-k, 0), n = std::max<int64_t>(std::min(rows - first, columns - std::max<int64_t>(k, 0)), 0);
        return spread(data, Dims{n}, false, [&](auto&& put) {
          for (int64_t e = 0; e < data.size(); ++e)
            if (j[e] - i[e] == k) put(e, i[e] - first);
        });
      },
      row, column);
}

std::optional<Array> diagonal(const Array& data, const Rows& a, int64_t k) {
  if (!near(data, a.indices, a.indptr)) return std::nullopt;
  const int64_t height = data.ndim() == 3 ? data.shape()[1] : 1, width = data.ndim() == 3 ? data.shape()[2] : 1;
  return by_rows(a, [&]<class I>(const Near<I>& r) -> std::optional<Array> {
    const int64_t first = std::max<int64_t>(-k, 0),
                  n = std::max<int64_t>(std::min(r.count * height - first, r.columns * width - std::max<int64_t>(k, 0)), 0);
    return spread(data, Dims{n}, false, [&](auto&& put) {
      if (height == 1 && width == 1) {
        for (int64_t i = first; i < first + n; ++i)
          for (int64_t e = r.indptr[i]; e < r.indptr[i + 1]; ++e)
            if (r.indices[e] == i + k) put(e, i - first);
        return;
      }
      int64_t line = n ? first / height : 0, inside = n ? first % height : 0;
      for (int64_t i = first; i < first + n; ++i) {
        for (int64_t e = r.indptr[line]; e < r.indptr[line + 1]; ++e) {
          const int64_t j = i + k - r.indices[e] * width;
          if (j >= 0 && j < width) put((e * height + inside) * width + j, i - first);
        }
        if (++inside == height) {
          inside = 0;
          ++line;
        }
      }
    });
  });
}

std::optional<Matrix> of_diagonals(const Array& data_in, const Array& offsets, int64_t rows, int64_t columns) {
  if (!near(data_in, offsets) || data_in.ndim() != 2 || offsets.shape() != Dims{data_in.shape()[0]}) return std::nullopt;
  const int64_t count = data_in.shape()[0], stride = data_in.shape()[1], width = std::min(stride, columns);
  if (rows >= kMost32 || columns >= kMost32 || data_in.size() > kMost32) return std::nullopt;
  const Array data = ascontiguous(data_in);
  return by_index(
      [&]<class I>(I) -> std::optional<Matrix> {
        const Array offsets_array = ascontiguous(offsets);
        const I* offset = elements<I>(offsets_array);
        std::vector<int64_t> order(static_cast<size_t>(count));
        std::iota(order.begin(), order.end(), 0);
        std::sort(order.begin(), order.end(), [&](int64_t x, int64_t y) { return offset[x] < offset[y]; });
        return by_bits(data.dtype(), [&]<class B>(B, auto mask) -> std::optional<Matrix> {
          const B* values = elements<B>(data);
          const auto each = [&](int64_t i, auto&& f) {
            for (int64_t d : order) {
              const int64_t j = i + offset[d];
              if (j >= 0 && j < width && !values[d * stride + j].is_zero(mask)) f(j, values[d * stride + j]);
            }
          };
          const Array indptr = vector_of(rows + 1, DType::i32, data);
          int32_t* ends = memory<int32_t>(indptr);
          ends[0] = 0;
          for (int64_t i = 0; i < rows; ++i) {
            ends[i + 1] = ends[i];
            each(i, [&](int64_t, const B&) { ++ends[i + 1]; });
          }
          const Matrix made{vector_of(ends[rows], data.dtype(), data), {vector_of(ends[rows], DType::i32, data), indptr, columns}};
          B* to = memory<B>(made.data);
          int32_t* indices = memory<int32_t>(made.rows.indices);
          for (int64_t i = 0; i < rows; ++i)
            each(i, [&](int64_t j, const B& v) {
              *to++ = v;
              *indices++ = static_cast<int32_t>(j);
            });
          return made;
        });
      },
      offsets);
}

std::optional<ArrayPair> diagonals(const Array& data, const Rows& a) {
  if (!near(data, a.indices, a.indptr) || data.size() == 0) return std::nullopt;
  return by_rows(a, [&]<class I>(const Near<I>& r) -> std::optional<ArrayPair> {
    std::vector<int64_t> numbers(static_cast<size_t>(r.count + r.columns), -1);
    int64_t width = 0;
    for (int64_t i = 0; i < r.count; ++i)
      for (int64_t k = r.indptr[i]; k < r.indptr[i + 1]; ++k) {
        numbers[static_cast<size_t>(r.indices[k] - i + r.count)] = 0;
        width = std::max<int64_t>(width, r.indices[k] + 1);
      }
    int64_t count = 0;
    for (int64_t& number : numbers)
      if (number == 0) number = count++;
    if (count > kMost32 / std::max<int64_t>(width, 1)) return std::nullopt;
    const Array offsets = vector_of(count, a.indices.dtype(), data);
    I* offset = memory<I>(offsets);
    for (size_t d = 0; d < numbers.size(); ++d)
      if (numbers[d] >= 0) offset[numbers[d]] = static_cast<I>(static_cast<int64_t>(d) - r.count);
    const std::optional<Array> made = spread(data, Dims{count, width}, false, [&](auto&& put) {
      for (int64_t i = 0; i < r.count; ++i)
        for (int64_t k = r.indptr[i]; k < r.indptr[i + 1]; ++k)
          put(k, numbers[static_cast<size_t>(r.indices[k] - i + r.count)] * width + r.indices[k]);
    });
    return made ? std::optional(ArrayPair(*made, offsets)) : std::nullopt;
  });
}

std::optional<Matrix> blocks(const Array& data, const Rows& a, int64_t height, int64_t width) {
  if (!near(data, a.indices, a.indptr) || data.size() == 0) return std::nullopt;
  return by_rows(a, [&]<class I>(const Near<I>& r) -> std::optional<Matrix> {
    const Array indptr = vector_of(r.count / height + 1, a.indptr.dtype(), data);
    I* ends = memory<I>(indptr);
    std::fill_n(ends, r.count / height + 1, I(0));
    std::vector<I> found;  // the blocks' columns, which are sorted in each band
    each_block(r, height, width, [&](int64_t band, int64_t block) {
      ++ends[band + 1];
      found.push_back(static_cast<I>(block));
    });
    add_up(ends, r.count / height);
    std::vector<int64_t> place(static_cast<size_t>(r.columns / width));
    const int64_t count = static_cast<int64_t>(found.size());
    const Array indices = vector_of(count, a.indices.dtype(), data);
    for (int64_t band = 0; band < r.count / height; ++band) std::sort(found.begin() + ends[band], found.begin() + ends[band + 1]);
    std::copy(found.begin(), found.end(), memory<I>(indices));
    const std::optional<Array> made = spread(data, Dims{count, height, width}, false, [&](auto&& put) {
      for (int64_t i = 0; i < r.count; ++i) {
        if (i % height == 0)
          for (int64_t b = ends[i / height]; b < ends[i / height + 1]; ++b) place[static_cast<size_t>(found[static_cast<size_t>(b)])] = b;
        for (int64_t k = r.indptr[i]; k < r.indptr[i + 1]; ++k) {
          const int64_t block = r.indices[k] / width;
          put(k, (place[static_cast<size_t>(block)] * height + i % height) * width + r.indices[k] - block * width);
        }
      }
    });
    return made ? std::optional(Matrix{*made, {indices, indptr, r.columns / width}}) : std::nullopt;
  });
}

std::optional<int64_t> count_blocks(const Rows& a, int64_t height, int64_t width) {
  if (!near(a.indices, a.indptr)) return std::nullopt;
  return by_rows(a, [&]<class I>(const Near<I>& r) -> std::optional<int64_t> {
    int64_t n = 0;
    each_block(r, height, width, [&](int64_t, int64_t) { ++n; });
    return n;
  });
}

namespace {

/// Multiplications above which threads and vectors are worth a recorded op.
constexpr int64_t kFewProducts = 1 << 12;

template <class T>
T times(T a, T b) {
  return a * b;
}
/// Without the special cases of infinities, as the kernels multiply.
template <class R>
std::complex<R> times(std::complex<R> a, std::complex<R> b) {
  return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}

/// Sums of products: `each(f)` calls f(element, row of the result, row of x).
template <class Each>
std::optional<Array> summed_products(const Array& data_in, const Array& x_in, int64_t rows, const Each& each) {
  const int64_t width = x_in.ndim() == 1 ? 1 : x_in.shape()[1];
  if (x_in.dtype() != data_in.dtype() || data_in.size() * width > kFewProducts) return std::nullopt;
  const Array data = ascontiguous(data_in), x = ascontiguous(x_in);
  const Array made = empty(x.ndim() == 1 ? Dims{rows} : Dims{rows, width}, x.dtype(), x.device());
  std::memset(memory<char>(made), 0, static_cast<size_t>(made.size() * itemsize(x.dtype())));
  return by_number(x.dtype(), [&]<class T>(T) -> std::optional<Array> {
    const T *values = elements<T>(data), *from = elements<T>(x);
    T* to = memory<T>(made);
    if (width == 1) {
      each([&](int64_t k, int64_t i, int64_t j) { to[i] += times(values[k], from[j]); });
    } else {
      each([&](int64_t k, int64_t i, int64_t j) {
        for (int64_t c = 0; c < width; ++c) to[i * width + c] += times(values[k], from[j * width + c]);
      });
    }
    return made;
  });
}

}  // namespace

/// Rows times a vector: four sums of each row, which do not wait for one another.
template <class I>
std::optional<Array> rows_by_vector(const Array& data_in, const Near<I>& r, const Array& x_in) {
  const Array data = ascontiguous(data_in), x = ascontiguous(x_in), made = empty(Dims{r.count}, x.dtype(), x.device());
  return by_number(x.dtype(), [&]<class T>(T) -> std::optional<Array> {
    const T *values = elements<T>(data), *from = elements<T>(x);
    T* to = memory<T>(made);
    for (int64_t i = 0; i < r.count; ++i) {
      int64_t k = r.indptr[i];
      const int64_t end = r.indptr[i + 1];
      T sums[4] = {};
      for (; k + 4 <= end; k += 4)
        for (int64_t l = 0; l < 4; ++l) sums[l] += times(values[k + l], from[r.indices[k + l]]);
      for (; k < end; ++k) sums[0] += times(values[k], from[r.indices[k]]);
      to[i] = (sums[0] + sums[1]) + (sums[2] + sums[3]);
    }
    return made;
  });
}

std::optional<Array> product(const Array& data, const Rows& a, const Array& x, bool transposed) {
  if (!near(data, a.indices, a.indptr, x)) return std::nullopt;
  if (!transposed && x.ndim() == 1 && x.dtype() == data.dtype() && data.size() <= kFewProducts)
    return by_rows(a, [&]<class I>(const Near<I>& r) { return rows_by_vector(data, r, x); });
  return by_rows(a, [&]<class I>(const Near<I>& r) {
    return summed_products(data, x, transposed ? r.columns : r.count, [&](auto&& add) {
      for (int64_t i = 0; i < r.count; ++i)
        for (int64_t k = r.indptr[i]; k < r.indptr[i + 1]; ++k) transposed ? add(k, r.indices[k], i) : add(k, i, r.indices[k]);
    });
  });
}

std::optional<Array> diagonal_product(const Array& data, const Array& offsets, const Array& x, int64_t rows, bool transposed) {
  if (!near(data, offsets, x)) return std::nullopt;
  const Array offsets_array = ascontiguous(offsets);
  const int64_t *offset = elements<int64_t>(offsets_array), stride = data.shape()[1], inner = x.shape()[0];
  return summed_products(data, x, rows, [&](auto&& add) {
    for (int64_t d = 0; d < offsets.size(); ++d) {
      // Column j and row j - offset, of which the result has one and x the other.
      const int64_t height = transposed ? inner : rows, columns = std::min(stride, transposed ? rows : inner);
      for (int64_t j = std::max<int64_t>(0, offset[d]); j < std::min(columns, height + offset[d]); ++j)
        transposed ? add(d * stride + j, j, j - offset[d]) : add(d * stride + j, j - offset[d], j);
    }
  });
}

namespace {

/// Solves in place; `x` has `width` numbers for each row. Returns false at a zero on the diagonal or an element in the other triangle.
template <class T, class I>
bool solve_triangle(const T* values, const Near<I>& r, T* x, int64_t width, bool lower, bool unit, bool by_columns) {
  for (int64_t step = 0; step < r.count; ++step) {
    const int64_t i = lower ? step : r.count - 1 - step;
    T diagonal = unit ? T(1) : T(0);
    for (int64_t k = r.indptr[i]; k < r.indptr[i + 1]; ++k) {
      const int64_t j = r.indices[k];
      if (j == i) {
        if (!unit) diagonal = values[k];
        continue;
      }
      // A column's elements are below (or above) the diagonal where a row's are before (or behind) it.
      if ((j < i) != (lower != by_columns)) return false;
      if (!by_columns)
        for (int64_t c = 0; c < width; ++c) x[i * width + c] -= times(values[k], x[j * width + c]);
    }
    if (diagonal == T(0)) return false;
    for (int64_t c = 0; c < width; ++c) x[i * width + c] /= diagonal;
    if (by_columns)
      for (int64_t k = r.indptr[i]; k < r.indptr[i + 1]; ++k)
        if (r.indices[k] != i)
          for (int64_t c = 0; c < width; ++c) x[r.indices[k] * width + c] -= times(values[k], x[i * width + c]);
  }
  return true;
}

}  // namespace

std::optional<Array> triangular_solve(const Array& data_in, const Rows& a, const Array& b, bool lower, bool unit, bool by_columns) {
  if (!near(data_in, a.indices, a.indptr, b) || b.dtype() != data_in.dtype()) return std::nullopt;
  return by_rows(a, [&]<class I>(const Near<I>& r) -> std::optional<Array> {
    if (b.size() == 0 || b.shape()[0] != r.count) return std::nullopt;
    if (!is_inexact(b.dtype())) return std::nullopt;
    return by_number(b.dtype(), [&]<class T>(T) -> std::optional<Array> {
      const Array data = ascontiguous(data_in), made = empty(b.shape(), b.dtype(), b.device());
      T* const x = memory<T>(made);
      to_host(b, x);
      return solve_triangle(elements<T>(data), r, x, b.size() / r.count, lower, unit, by_columns) ? std::optional(made) : std::nullopt;
    });
  });
}

std::optional<ArrayPair> multiply_diagonals(const Array& a_in, const Array& a_offsets, const Array& b_in, const Array& b_offsets,
                                            int64_t rows, int64_t inner, int64_t columns) {
  if (!near(a_in, a_offsets, b_in, b_offsets) || a_in.ndim() != 2 || b_in.ndim() != 2 || a_in.dtype() != b_in.dtype()) return std::nullopt;
  return by_index(
      [&]<class I>(I) -> std::optional<ArrayPair> {
        const Array a = ascontiguous(a_in), b = ascontiguous(b_in), of_a = ascontiguous(a_offsets), of_b = ascontiguous(b_offsets);
        const I *x = elements<I>(of_a), *y = elements<I>(of_b);
        std::vector<I> sums;
        for (int64_t i = 0; i < of_a.size(); ++i)
          for (int64_t j = 0; j < of_b.size(); ++j)
            if (x[i] + y[j] > -rows && x[i] + y[j] < columns) sums.push_back(x[i] + y[j]);
        std::sort(sums.begin(), sums.end());
        sums.erase(std::unique(sums.begin(), sums.end()), sums.end());
        const int64_t count = static_cast<int64_t>(sums.size()), a_width = a.shape()[1], width = std::min(b.shape()[1], columns);
        if (count == 0 || width == 0 || count * columns > 8 * (a.size() + b.size())) return std::nullopt;
        const Array offsets = vector_of(count, a_offsets.dtype(), a);
        std::copy(sums.begin(), sums.end(), memory<I>(offsets));
        const Array made = empty(Dims{count, columns}, a.dtype(), a.device());
        std::memset(memory<char>(made), 0, static_cast<size_t>(made.size() * itemsize(a.dtype())));
        return by_number(a.dtype(), [&]<class T>(T) -> std::optional<ArrayPair> {
          for (int64_t i = 0; i < of_a.size(); ++i)
            for (int64_t j = 0; j < of_b.size(); ++j) {
              const auto found = std::lower_bound(sums.begin(), sums.end(), x[i] + y[j]);
              if (found == sums.end() || *found != x[i] + y[j]) continue;
              const T *left = elements<T>(a) + i * a_width, *right = elements<T>(b) + j * b.shape()[1];
              T* const to = memory<T>(made) + (found - sums.begin()) * columns;
              // Column c of b's diagonal y is in row c - y, which is a column of a's diagonal x, in row c - y - x.
              const int64_t first = std::max<int64_t>({0, y[j], x[i] + y[j]});
              const int64_t last = std::min<int64_t>({width, std::min(a_width, inner) + y[j], rows + x[i] + y[j]});
              for (int64_t c = first; c < last; ++c) to[c] += times(left[c - y[j]], right[c]);
            }
          return ArrayPair(made, offsets);
        });
      },
      a_offsets, b_offsets);
}

}  // namespace bc::sparse::host
