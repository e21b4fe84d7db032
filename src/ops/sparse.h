#pragma once
#include <cstdint>

#include "ops/composite.h"
#include "primitives/sparse.h"

/// The functions that compute with sparse matrices. A matrix in compressed rows is its arrays: row i has the elements data[j] in the
/// columns indices[j] for j in [indptr[i], indptr[i + 1]). Indices are int32 or int64, the same in all arrays of a call; they are not
/// checked but where it is said. `columns` is the extent of the rows. "Sorted" rows have ascending columns, none twice.
///
/// The CPU has bodies of all; on CUDA only products with dense operands have one, and the others are made of sorts, scans and searches;
/// so they are where `composed` asks for it, which tests do.
namespace bc::sparse {

struct Rows {
  Array indices, indptr;
  int64_t columns = 0;
};

/// The matrix times x, which is a vector or a matrix; or its transpose, for which `rows` do not matter. Data and x are promoted as
/// multiplication does.
Array product(const Array& data, const Rows& a, const Array& x, bool transposed, bool composed = false);

struct Groups {
  Array indptr;  ///< group g's keys are at the places order[indptr[g]], …, order[indptr[g + 1] - 1]
  Array order;   ///< stable
};
/// Keys in [0, groups), grouped. On the CPU others are a ValueError when it runs.
Groups group(const Array& keys, int64_t groups, bool composed = false);

/// The row of each of n elements.
Array expand(const Array& indptr, int64_t n, bool composed = false);

/// The pointers of groups of keys that ascend.
Array pointers(const Array& keys, int64_t groups, bool composed = false);

struct Union {
  Rows rows;
  Array a, b;  ///< the elements of each matrix at those places, zero where it has none
};
/// The places that a or b has, of two sorted matrices. Looks.
Union unite(const Array& a_data, const Rows& a, const Array& b_data, const Rows& b, bool composed = false);

struct Matrix {
  Array data;
  Rows rows;
};
/// The product of two matrices, sorted; a need not be, nor b. Looks.
Matrix matmul(const Array& a_data, const Rows& a, const Array& b_data, const Rows& b, bool composed = false);

/// The rows of the transpose; their columns ascend.
Matrix transpose(const Array& data, const Rows& a, bool composed = false);

/// The sum of two sorted matrices, or with `subtract` their difference, without zeros. Looks.
Matrix sum(const Array& a_data, const Rows& a, const Array& b_data, const Rows& b, bool subtract, bool composed = false);

/// The rows of these numbers, which are inside. Looks.
Matrix take(const Array& data, const Rows& a, const Array& rows, bool composed = false);

/// The matrix of a mask's elements. Looks.
Matrix keep(const Array& data, const Rows& a, const Array& mask, bool composed = false);

/// A matrix in blocks, whose places `a` has, in compressed rows. The indices' dtype must count its elements and columns.
Matrix block_rows(const Array& blocks, const Rows& a, bool composed = false);

/// The elements of a sorted matrix at places inside it, zero where it has none.
Array lookup(const Array& data, const Rows& a, const Array& row, const Array& column, bool composed = false);

/// The numbers of the elements of a sorted matrix at places inside it, int64, or -1 where it has none.
Array places(const Rows& a, const Array& row, const Array& column, bool composed = false);

/// Elements at places, in any order, times a vector or a matrix.
Array coordinate_product(const Array& data, const Array& row, const Array& column, const Array& x, int64_t rows, bool composed = false);

/// Diagonals, (d, n), times a vector or a matrix, or their transpose: element j of the diagonal k is in column j and row j - offsets[k].
/// `rows` are the result's.
Array diagonal_product(const Array& data, const Array& offsets, const Array& x, int64_t rows, bool transposed, bool composed = false);

/// Blocks in compressed rows times a vector or a matrix; `a` has the blocks' places.
Array block_product(const Array& blocks, const Rows& a, const Array& x, bool composed = false);

/// Whether the columns of each row ascend; with `strictly` none comes twice. Looks.
bool is_sorted(const Rows& a, bool strictly = true, bool composed = false);

/// The sorted matrix of elements at places in any order; those of one place are added up. Rows and columns have one dtype. Looks.
Matrix compress(const Array& data, const Array& row, const Array& column, int64_t rows, int64_t columns, bool composed = false);

/// All places of a matrix, or of its transpose, zero where it has no element; elements of one place are added up, unless the caller knows
/// that they are `distinct`.
Array dense(const Array& data, const Rows& a, bool distinct, bool transposed = false, bool composed = false);

}  // namespace bc::sparse
