#pragma once
#include "primitives/library_op.h"

namespace bc {

/// The sparse ops. A matrix in compressed rows is (data, indices, indptr): row i has the elements data[j] in the columns indices[j] for j
/// in [indptr[i], indptr[i + 1]). Indices and pointers of one op are all int32 or all int64, arrays are C-contiguous. "Sorted" matrices
/// have strictly ascending columns in each row.
enum class Sparse : uint8_t {
  product,         ///< (data, indices, indptr, x) -> the matrix, or its transpose, times the dense x: (n) or (n, k)
  group,           ///< (keys) -> indptr of the groups, then the places of the keys in a stable order by key
  expand,          ///< (indptr) -> the row of each element
  transpose,       ///< (data, indices, indptr) -> the rows of the transpose, sorted; see SparseExtra::elements
  sum,             ///< (data, indices, indptr, data, indices, indptr) of sorted matrices -> their sum without zeros; elements: the maximum
  union_counts,    ///< (indices, indptr, indices, indptr) of sorted matrices -> indptr of the places that either has
  union_entries,   ///< the same and that indptr -> (3, n): columns; the place in each matrix, or its number of elements where it has none
  matmul_counts,   ///< (indices, indptr, indices, indptr) -> indptr of the product
  matmul_entries,  ///< (data, indices, indptr, data, indices, indptr) of a and b, and that indptr -> see SparseExtra::elements
};

struct SparseExtra final : LibraryExtra {
  static constexpr LibraryKind kKind = LibraryKind::sparse;
  Sparse what;
  int64_t columns;  ///< columns of the result; group: the number of groups
  bool transposed;  ///< product: transposes the matrix; sum: subtracts the second matrix
  /// transpose, sum, matmul_entries: the capacity of the result, one buffer of the data's dtype. It holds the data, at indices_at() the
  /// sorted indices, and for transpose and sum at pointers_at() the pointers.
  int64_t elements = 0;
  explicit SparseExtra(Sparse what_, int64_t columns_ = 0, bool transposed_ = false, int64_t elements_ = 0);

  /// Offsets in bytes, multiples of the size of every dtype.
  int64_t indices_at(DType dtype) const { return aligned(elements * itemsize(dtype)); }
  int64_t pointers_at(DType dtype, DType index) const { return indices_at(dtype) + aligned(elements * itemsize(index)); }
  int64_t bytes(DType dtype, DType index, int64_t pointers = 0) const {
    return pointers_at(dtype, index) + aligned(pointers * itemsize(index));
  }

 private:
  static int64_t aligned(int64_t bytes) { return (bytes + 255) / 256 * 256; }
};

}  // namespace bc
