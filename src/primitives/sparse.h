#pragma once
#include "primitives/library_op.h"

namespace bc {

/// The sparse ops. A matrix in compressed rows is (data, indices, indptr): row i has the elements data[j] in the columns indices[j] for j
/// in [indptr[i], indptr[i + 1]). Indices and pointers of one op are all int32 or all int64, arrays are C-contiguous. "Sorted" matrices
/// have strictly ascending columns in each row.
enum class Sparse : uint8_t {
  product,             ///< (data, indices, indptr, x) -> the matrix, or its transpose, times the dense x: (n) or (n, k)
  coordinate_product,  ///< (data, row, column, x) -> the same for elements at places, in any order
  diagonal_product,    ///< (data, offsets, x) -> the same for diagonals, (d, n), element j of each in column j; offsets: int64
  block_product,       ///< (blocks, indices, indptr, x) -> the same for blocks in compressed rows
  group,               ///< (keys) -> indptr of the groups, then the places of the keys in a stable order by key
  pointers,            ///< (keys) that ascend -> indptr of the groups
  expand,              ///< (indptr) -> the row of each element
  transpose,           ///< (data, indices, indptr) -> the rows of the transpose, sorted; see SparseExtra::elements
  take_counts,         ///< (indptr, rows) -> indptr of those rows; rows: int64
  take,                ///< (data, indices, indptr, rows, indptr of the result) -> data and indices of those rows
  keep,                ///< (data, indices, indptr, mask) -> the matrix of the mask's elements
  block_rows,          ///< (blocks, indices, indptr) -> the matrix in compressed rows of elements
  lookup,              ///< (data, indices, indptr, rows, columns) of a sorted matrix -> its elements there; rows, columns: int64
  places,              ///< (indices, indptr, rows, columns) of a sorted matrix -> the numbers of its elements there, or -1: int64
  sum,                 ///< (data, indices, indptr, data, indices, indptr) of sorted matrices -> their sum without zeros
  unite,               ///< the same -> the elements of each at the places that either has; the second matrix' from elements / 2 on
  matmul_counts,       ///< (indices, indptr, indices, indptr) -> indptr of the product
  matmul_entries,      ///< (data, indices, indptr, data, indices, indptr) of a and b, and that indptr -> data and indices
  matmul,              ///< the same without that indptr -> the product
};

struct SparseExtra final : LibraryExtra {
  static constexpr LibraryKind kKind = LibraryKind::sparse;
  Sparse what;
  int64_t columns;  ///< columns of the result; group: the number of groups
  bool transposed;  ///< products with dense operands: transposes the matrix; sum: subtracts the second matrix
  /// The capacity of a result that is a matrix: one buffer of the data's dtype. It holds the data, at indices_at() the indices, and at
  /// pointers_at() the pointers where the operands do not have them.
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
