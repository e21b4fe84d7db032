// Sorts and selections of complex numbers: the real parts are ordered as keys, and only elements whose real parts are equal compare the
// rest.
#include "backends/cpu/sort_complex.h"

#include <algorithm>
#include <bit>
#include <vector>

#include "backends/cpu/sort_keys.h"

namespace bc::cpu {
namespace {

template <class R>
using RealKey = typename FloatOrder<R>::Key;

template <class R>
RealKey<R> real_key(R x) {
  return FloatOrder<R>::equal_key(std::bit_cast<RealKey<R>>(x));
}

/// A key of both parts in one number.
template <class R>
struct BothParts {
  using Key = uint64_t;
  static Key join(uint32_t re, uint32_t im) { return uint64_t{re} << 32 | im; }
  static uint32_t re(Key k) { return static_cast<uint32_t>(k >> 32); }
  static uint32_t im(Key k) { return static_cast<uint32_t>(k); }
};
template <>
struct BothParts<double> {
  using Key = WideKey;
  static Key join(uint64_t re, uint64_t im) { return {im, re}; }
  static uint64_t re(const Key& k) { return k.high; }
  static uint64_t im(const Key& k) { return k.low; }
};

/// Keys whose order is the elements'; false where there is none: a NaN, or a part of -0.0, whose key is not that of 0.0.
template <class R>
bool load_both(const typename ComplexOrder<R>::Bits* x, int64_t step, int64_t n, typename BothParts<R>::Key* keys) {
  using O = FloatOrder<R>;
  bool other = false;
  for (int64_t i = 0; i < n; ++i) {
    const auto re = std::bit_cast<RealKey<R>>(x[i * step].re), im = std::bit_cast<RealKey<R>>(x[i * step].im);
    other |= (ComplexOrder<R>::parts_nan(x[i * step]) != 0) | (re == O::kSign) | (im == O::kSign);
    keys[i] = BothParts<R>::join(O::key(re), O::key(im));
  }
  return !other;
}

/// The key of an element's real part; those with a NaN in any part have the largest one.
template <class R>
RealKey<R> leading_key(const typename ComplexOrder<R>::Bits& x) {
  return ComplexOrder<R>::parts_nan(x) ? static_cast<RealKey<R>>(~RealKey<R>{0}) : real_key<R>(x.re);
}

/// Classes of elements by their leading keys: less than the first of some keys, equal to it, between it and the next one, and so on.
template <class R>
struct Classes {
  std::vector<RealKey<R>> keys, bounds;  ///< of the elements; of the elements of the ranks, each once
  std::vector<int64_t> ends;             ///< of each class among the elements in order

  Classes(const typename ComplexOrder<R>::Bits* x, int64_t step, int64_t n, std::span<const int64_t> ranks)
      : keys(static_cast<size_t>(n)), bounds(static_cast<size_t>(n)) {
    for (int64_t i = 0; i < n; ++i) keys[static_cast<size_t>(i)] = leading_key<R>(x[i * step]);
    partition<RealKey<R>>(keys.data(), n, ranks, bounds.data(), false, 1, partition_in_place<RealKey<R>>);
    for (size_t k = 0; k < ranks.size(); ++k) bounds[k] = bounds[static_cast<size_t>(ranks[k])];
    bounds.resize(ranks.size());
    bounds.erase(std::unique(bounds.begin(), bounds.end()), bounds.end());
    ends.assign(2 * bounds.size() + 1, 0);
    for (const RealKey<R> key : keys) ++ends[of(key)];
    for (size_t c = 1; c < ends.size(); ++c) ends[c] += ends[c - 1];
  }
  size_t of(RealKey<R> key) const {
    constexpr size_t kFew = 8;
    if (bounds.size() > kFew) {
      const auto bound = std::lower_bound(bounds.begin(), bounds.end(), key);
      return 2 * static_cast<size_t>(bound - bounds.begin()) + (bound != bounds.end() && *bound == key);
    }
    size_t c = 0;
    for (const RealKey<R> bound : bounds) c += static_cast<size_t>(key >= bound) + static_cast<size_t>(key > bound);
    return c;
  }
  int64_t begin(size_t c) const { return c ? ends[c - 1] : 0; }
};

/// The ranks that are in a class.
std::span<const int64_t> ranks_within(std::span<const int64_t> ranks, int64_t begin, int64_t end) {
  const auto inside = std::lower_bound(ranks.begin(), ranks.end(), begin);
  return {inside, std::lower_bound(inside, ranks.end(), end)};
}

}  // namespace

template <class R>
void sort_complex(const typename ComplexOrder<R>::Bits* x, int64_t step, int64_t n, typename ComplexOrder<R>::Bits* out, bool parallel) {
  using O = FloatOrder<R>;
  using Parts = BothParts<R>;
  std::vector<typename Parts::Key> keys(static_cast<size_t>(n));
  if (!load_both<R>(x, step, n, keys.data())) {
    for (int64_t i = 0; i < n; ++i) out[i] = x[i * step];
    return std::stable_sort(out, out + n, ComplexOrder<R>::less);
  }
  sort_numbers(keys.data(), n, parallel);
  for (int64_t i = 0; i < n; ++i) {
    const auto& k = keys[static_cast<size_t>(i)];
    out[i] = {std::bit_cast<R>(O::bits(Parts::re(k))), std::bit_cast<R>(O::bits(Parts::im(k)))};
  }
}

template <class R, class T>
void partition_complex(const typename ComplexOrder<R>::Bits* x, int64_t step, int64_t n, std::span<const int64_t> ranks, T* out) {
  constexpr bool kPlaces = std::is_same_v<T, int64_t>;
  const Classes<R> classes(x, step, n, ranks);
  std::vector<int64_t> at;
  for (size_t c = 0; c < classes.ends.size(); ++c) at.push_back(classes.begin(c));
  for (int64_t i = 0; i < n; ++i) {
    T& to = out[at[classes.of(classes.keys[static_cast<size_t>(i)])]++];
    if constexpr (kPlaces)
      to = i;
    else
      to = x[i * step];
  }
  for (size_t c = 1; c < classes.ends.size(); c += 2) {
    const int64_t begin = classes.begin(c), end = classes.ends[c];
    place_ranks(out, begin, end, ranks_within(ranks, begin, end), [&](const T& a, const T& b) {
      if constexpr (kPlaces)
        return ComplexOrder<R>::less(x[a * step], x[b * step]);
      else
        return ComplexOrder<R>::less(a, b);
    });
  }
}

template <class R>
void select_complex(const typename ComplexOrder<R>::Bits* x, int64_t step, int64_t n, std::span<const int64_t> ranks,
                    typename ComplexOrder<R>::Bits* out) {
  using T = typename ComplexOrder<R>::Bits;
  const Classes<R> classes(x, step, n, ranks);
  std::vector<T> equals;
  size_t k = 0;
  for (size_t c = 1; c < classes.ends.size(); c += 2) {
    const int64_t begin = classes.begin(c), count = classes.ends[c] - begin;
    equals.clear();
    equals.reserve(static_cast<size_t>(count));
    for (int64_t i = 0; i < n && static_cast<int64_t>(equals.size()) < count; ++i)
      if (classes.keys[static_cast<size_t>(i)] == classes.bounds[c / 2]) equals.push_back(x[i * step]);
    std::vector<int64_t> inside;
    for (; k < ranks.size() && ranks[k] < begin + count; ++k) inside.push_back(ranks[k] - begin);
    place_ranks(equals.data(), 0, count, inside, [](const T& a, const T& b) { return ComplexOrder<R>::less(a, b); });
    for (const int64_t rank : inside) *out++ = equals[static_cast<size_t>(rank)];
  }
}

#define BC_COMPLEX_ORDER(R)                                                                                                             \
  template void sort_complex<R>(const ComplexOrder<R>::Bits*, int64_t, int64_t, ComplexOrder<R>::Bits*, bool);                          \
  template void partition_complex<R>(const ComplexOrder<R>::Bits*, int64_t, int64_t, std::span<const int64_t>, ComplexOrder<R>::Bits*); \
  template void partition_complex<R>(const ComplexOrder<R>::Bits*, int64_t, int64_t, std::span<const int64_t>, int64_t*);               \
  template void select_complex<R>(const ComplexOrder<R>::Bits*, int64_t, int64_t, std::span<const int64_t>, ComplexOrder<R>::Bits*);
BC_COMPLEX_ORDER(float)
BC_COMPLEX_ORDER(double)
#undef BC_COMPLEX_ORDER

}  // namespace bc::cpu
