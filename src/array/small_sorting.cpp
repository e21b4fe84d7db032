// The small host path's sorts and searches.
#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>

#include "array/small_host.h"
#include "array/small_near.h"

namespace bc {

using namespace small;

namespace {

/// The order of a sort: NaN is greater than all numbers.
template <class T>
bool comes_before(T x, T y) {
  return x < y || (y != y && x == x);
}

/// Calls f with a number of the dtype, if it is one of those whose few elements are sorted here.
template <class F>
void by_sorted_type(DType t, F&& f) {
  switch (t) {
    case DType::u8: return f(uint8_t());
    case DType::i32: return f(int32_t());
    case DType::i64: return f(int64_t());
    case DType::f32: return f(float());
    case DType::f64: return f(double());
    default: return;
  }
}

/// Tells whether zeros of both signs are among floats: which of them comes first, the kernel says.
template <class T>
bool has_negative_zero(const T* all, int64_t n) {
  if constexpr (std::is_floating_point_v<T>) return std::any_of(all, all + n, [](T v) { return v == 0 && std::signbit(v); });
  return false;
}

/// The array that `make` returns for a copy of the few elements of a 1-d array and their number, if they may be sorted now.
template <class F>
std::optional<Array> make_sorted(const Array& a, F&& make) {
  if (!open(a.device()) || has_history(a)) return std::nullopt;
  const TapeLock lock(tape(a.device()));
  Near from;
  if (a.ndim() != 1 || a.size() <= 1 || !find(a, &from)) return std::nullopt;
  std::optional<Array> made;
  by_sorted_type(a.dtype(), [&](auto of_type) {
    using T = decltype(of_type);
    T all[kFew];
    for (int64_t k = 0; k < from.count; ++k) all[k] = get<T>(from.at(k));
    if (!has_negative_zero(all, from.count)) made = make(all, from.count);
  });
  return made;
}

}  // namespace

std::optional<Array> sort_small(const Array& a) {
  return make_sorted(a, [&](auto* all, int64_t n) {
    std::sort(all, all + n, [](auto x, auto y) { return comes_before(x, y); });
    Array made = empty(Dims{n}, a.dtype(), a.device());
    std::memcpy(made.storage()->current->buffer->ptr, all, static_cast<size_t>(n) * sizeof(*all));
    return made;
  });
}

bool sort_in_place_small(const Array& a) {
  if (a.ndim() != 1 || a.size() <= 1 || !open(a.device()) || changes_history(a, Arg(a))) return false;
  const TapeLock lock(tape(a.device()));
  Near from;
  if (!find(a, &from) || from.step != from.item || !sole_owner(a)) return false;
  bool done = false;
  by_sorted_type(a.dtype(), [&](auto of_type) {
    using T = decltype(of_type);
    T* const all = reinterpret_cast<T*>(from.first);
    if (has_negative_zero(all, from.count)) return;
    std::sort(all, all + from.count, [](T x, T y) { return comes_before(x, y); });
    done = true;
  });
  if (done) wrote(*a.storage());
  return done;
}

std::optional<Array> argsort_small(const Array& a) {
  return make_sorted(a, [&](const auto* all, int64_t n) {
    Array made = empty(Dims{n}, DType::i64, a.device());
    auto* const to = static_cast<int64_t*>(made.storage()->current->buffer->ptr);
    std::iota(to, to + n, int64_t{0});
    // The place decides between equal elements, so that no stable sort with memory of its own is needed.
    std::sort(to, to + n, [&](int64_t x, int64_t y) { return comes_before(all[x], all[y]) || (!comes_before(all[y], all[x]) && x < y); });
    return made;
  });
}

std::optional<Array> unique_small(const Array& a, Array* counts) {
  // How many values there are must be waited for: what is pending is computed alone, which takes less than kernels that sort it too.
  if (a.ndim() == 1 && a.size() <= kFew && open(a.device()) && !has_history(a)) first_element(a);
  std::optional<Array> made = make_sorted(a, [&](auto* all, int64_t n) -> std::optional<Array> {
    std::sort(all, all + n, [](auto x, auto y) { return comes_before(x, y); });
    if (all[n - 1] != all[n - 1]) return std::nullopt;  // whether NaNs are equal is a question of the caller's
    int64_t firsts[kFew], found = 0;
    for (int64_t k = 0; k < n; ++k) {
      firsts[found] = k;
      all[found] = all[k];
      found += k + 1 == n || all[k] != all[k + 1];
    }
    Array values = empty(Dims{found}, a.dtype(), a.device());
    std::memcpy(values.storage()->current->buffer->ptr, all, static_cast<size_t>(found) * sizeof(*all));
    if (counts) {
      *counts = empty(Dims{found}, DType::i64, a.device());
      auto* const to = static_cast<int64_t*>(counts->storage()->current->buffer->ptr);
      for (int64_t k = 0; k < found; ++k) to[k] = firsts[k] + 1 - (k ? firsts[k - 1] + 1 : 0);
    }
    return values;
  });
  return made;
}

std::optional<Array> lexsort_small(std::span<const Array> keys) {
  const Array& last = keys.back();
  if (!open(last.device())) return std::nullopt;
  for (const Array& k : keys)
    if (k.ndim() != 1 || has_history(k) || !(k.device() == last.device())) return std::nullopt;
  const TapeLock lock(tape(last.device()));
  int64_t order[kFew], sorted[kFew];
  constexpr int64_t kMost = 64;  // of more a sort that takes n log n steps is faster
  const int64_t n = last.size();
  if (n > kMost) return std::nullopt;
  std::iota(order, order + n, int64_t{0});
  for (const Array& k : keys) {
    Near from;
    bool done = false;
    if (!find(k, &from)) return std::nullopt;
    by_sorted_type(k.dtype(), [&](auto of_type) {
      using T = decltype(of_type);
      // A stable sort by insertion of what the keys before have sorted.
      for (int64_t i = 0; i < n; ++i) {
        const int64_t place = order[i];
        const T v = get<T>(from.at(place));
        int64_t j = i;
        for (; j > 0 && comes_before(v, get<T>(from.at(sorted[j - 1]))); --j) sorted[j] = sorted[j - 1];
        sorted[j] = place;
      }
      std::copy_n(sorted, n, order);
      done = true;
    });
    if (!done) return std::nullopt;
  }
  Array made = empty(Dims{n}, DType::i64, last.device());
  std::memcpy(made.storage()->current->buffer->ptr, order, static_cast<size_t>(n) * sizeof(int64_t));
  return made;
}

namespace {

/// The same for n rows of `width` numbers.
template <class T>
Array places_of_rows(const T* rows, int64_t n, int64_t width, Device device) {
  Array made = empty(Dims{n}, DType::i64, device);
  auto* const to = static_cast<int64_t*>(made.storage()->current->buffer->ptr);
  std::iota(to, to + n, int64_t{0});
  std::sort(to, to + n, [&](int64_t x, int64_t y) {
    const T *a = rows + x * width, *const end = a + width, *b = rows + y * width;
    for (; a != end; ++a, ++b)
      if (comes_before(*a, *b) || comes_before(*b, *a)) return comes_before(*a, *b);
    return x < y;
  });
  return made;
}

}  // namespace

std::optional<Array> argsort_rows_small(const Array& rows) {
  const int64_t n = rows.shape()[0], parts = is_complex(rows.dtype()) ? 2 : 1, width = rows.shape()[1] * parts;
  // Two rows mostly differ in their first elements. Many rows of few columns are sorted faster column by column.
  if (!open(rows.device()) || has_history(rows) || !rows.contiguous() ||
      width < static_cast<int64_t>(std::bit_width(static_cast<uint64_t>(n))))
    return std::nullopt;
  const char* const first = first_element(rows);
  std::optional<Array> made;
  by_sorted_type(real_type(rows.dtype()), [&](auto of_type) {
    using T = decltype(of_type);
    const auto* const all = reinterpret_cast<const T*>(first);
    // Complex numbers with a NaN are not in the order of their parts.
    if (parts == 1 || std::none_of(all, all + n * width, [](T x) { return x != x; })) made = places_of_rows(all, n, width, rows.device());
  });
  return made;
}

std::optional<Array> searchsorted_small(const Array& a, const Array& values, bool right) {
  constexpr int64_t kMost = 64;  // values; of more a kernel, which searches for several at once, is faster
  if (!open(a.device()) || !(values.device() == a.device()) || a.dtype() != values.dtype() || has_history(a) || has_history(values))
    return std::nullopt;
  const TapeLock lock(tape(a.device()));
  Near in, from;
  if (a.size() == 0 || !find(a, &in, INT64_MAX) || !find(values, &from, kMost, true)) return std::nullopt;
  std::optional<Array> made;
  by_sorted_type(a.dtype(), [&](auto of_type) {
    using T = decltype(of_type);
    made = empty(values.shape(), DType::i64, a.device());
    auto* const to = static_cast<int64_t*>(made->storage()->current->buffer->ptr);
    for (int64_t k = 0; k < from.count; ++k) {
      const T v = get<T>(from.at(k));
      int64_t low = 0, high = in.count;
      while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        const T here = get<T>(in.at(middle));
        const bool before = right ? !comes_before(v, here) : comes_before(here, v);
        low = before ? middle + 1 : low;
        high = before ? high : middle;
      }
      to[k] = low;
    }
  });
  return made;
}

std::optional<int> direction_small(const Array& a) {
  if (!open(a.device()) || has_history(a)) return std::nullopt;
  const TapeLock lock(tape(a.device()));
  Near from;
  if (!find(a, &from)) return std::nullopt;
  std::optional<int> made;
  by_sorted_type(a.dtype(), [&](auto of_type) {
    using T = decltype(of_type);
    bool rises = true, falls = true;
    for (int64_t k = 1; k < from.count; ++k) {
      const T before = get<T>(from.at(k - 1)), here = get<T>(from.at(k));
      rises &= here >= before;
      falls &= here <= before;
    }
    made = rises ? 1 : falls ? -1 : 0;
  });
  return made;
}

}  // namespace bc
