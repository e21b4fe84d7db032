#pragma once
// The bodies of the sparse ops share this: the views of their arrays, and the arithmetic of their elements.
#include <algorithm>
#include <complex>
#include <cstdint>
#include <limits>
#include <span>
#include <type_traits>

#include "backends/cpu/lapack.h"
#include "backends/cpu/strided.h"
#include "core/error.h"
#include "primitives/sparse.h"

namespace bc::cpu::sparse {

inline constexpr int64_t kWork = 1 << 14;  // multiplications of a piece

/// The number of items in a piece, if all `items` together have `work` elements.
inline int64_t grain_of(int64_t items, int64_t work) { return std::max<int64_t>(1, items * kWork / std::max<int64_t>(work, 1)); }

template <class T>
const T* elements(const View& v) {
  return reinterpret_cast<const T*>(first(v));
}

/// A boolean as its byte, which may differ from 0 and 1.
struct Truth {
  uint8_t byte;
};

/// a * b and a + b by the rules of the dtypes: integers wrap, booleans use "and" and "or", complex products have no special cases for
/// infinities.
template <class T>
T product_of(T a, T b) {
  if constexpr (std::is_same_v<T, Truth>) {
    return {static_cast<uint8_t>(a.byte != 0 && b.byte != 0)};
  } else if constexpr (is_complex_v<T>) {
    return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
  } else {
    return a * b;
  }
}
template <class T>
T sum_of(T a, T b) {
  if constexpr (std::is_same_v<T, Truth>) {
    return {static_cast<uint8_t>((a.byte | b.byte) != 0)};
  } else {
    return a + b;
  }
}

/// Calls f with a value of the index type, int32_t or int64_t.
template <class F>
void by_index(DType t, F&& f) {
  t == DType::i32 ? f(int32_t{}) : f(int64_t{});
}
/// Calls f with a value of the type of a matrix's elements; integers are unsigned, so that sums wrap.
template <class F>
void by_element(DType t, F&& f) {
  switch (t) {
    case DType::b1: return f(Truth{});
    case DType::i32: return f(uint32_t{});
    case DType::i64: return f(uint64_t{});
    case DType::f32: return f(float{});
    case DType::f64: return f(double{});
    case DType::c64: return f(std::complex<float>{});
    case DType::c128: return f(std::complex<double>{});
    default: raise(ErrorKind::Type, "sparse matrices: expected bool, int32, int64 or an inexact dtype, got {}", info(t).name);
  }
}

template <class I>
struct Rows {
  const I* indices;
  const I* indptr;
  int64_t count;     ///< number of rows
  int64_t elements;  ///< elements of all rows

  Rows(const View& indices_, const View& indptr_)
      : indices(sparse::elements<I>(indices_)),
        indptr(sparse::elements<I>(indptr_)),
        count(indptr_.layout.size() - 1),
        elements(indices_.layout.size()) {}
};
/// Calls f with an unsigned integer (or a complex number) as large as an element of dtype t, for elements that are only moved.
template <class F>
void by_size(DType t, F&& f) {
  switch (itemsize(t)) {
    case 1: return f(uint8_t{});
    case 2: return f(uint16_t{});
    case 4: return f(uint32_t{});
    case 8: return f(uint64_t{});
    default: return f(std::complex<double>{});
  }
}

/// The parts of a result in one buffer; see SparseExtra::elements.
template <class I>
I* indices_of(const SparseExtra& op, const View& output) {
  return reinterpret_cast<I*>(first(output) + op.indices_at(output.dtype));
}
template <class I>
I* pointers_of(const SparseExtra& op, const View& output) {
  return reinterpret_cast<I*>(first(output) + op.pointers_at(output.dtype, sizeof(I) == 4 ? DType::i32 : DType::i64));
}

/// Replaces the counts in indptr[1 …] by running sums.
template <class I>
void add_up(I* indptr, int64_t rows) {
  indptr[0] = 0;
  int64_t sum = 0;
  for (int64_t i = 1; i <= rows; ++i) {
    sum += indptr[i];
    BC_CHECK(sum <= std::numeric_limits<I>::max(), Value, "sparse matrix: int32 indices cannot count its elements; use int64 ones");
    indptr[i] = static_cast<I>(sum);
  }
}

/// The ops of sparse_products.cpp and of sparse_selections.cpp, for indices of type I.
template <class I>
void run_product(const SparseExtra& op, std::span<const View> in, const View& output);
template <class I>
void run_selection(const SparseExtra& op, std::span<const View> in, const View& output);

}  // namespace bc::cpu::sparse
