#pragma once
#include <array>
#include <optional>
#include <vector>

#include "ops/sparse.h"

/// Functions that change the form of sparse matrices, in one pass over host memory. They run at once, because for the matrices that
/// programs have most the recording and running of ops takes longer than the pass. Each function returns nullopt where elements are not in
/// host memory, where a derivative may be wanted, or for a dtype without a loop; the caller composes the result of ops then.
namespace bc::sparse::host {

/// The elements that are not zero of a dense matrix, by its rows, or with `by_columns` by its columns; int32 indices.
std::optional<Matrix> of_dense(const Array& a, bool by_columns);

/// All places of a matrix, or of its transpose; elements of one place are added up, unless they are `distinct`. With `base`, a dense matrix
/// of the result's shape and dtype, the sum of both.
std::optional<Array> dense(const Array& data, const Rows& a, bool distinct, bool transposed, const Array& base = {});
/// How far from the diagonal a matrix has elements, stored zeros included, below and above.
std::optional<std::array<int64_t, 2>> bandwidth(const Rows& a);
/// The same of elements at places.
std::optional<Array> dense(const Array& data, const Array& row, const Array& column, int64_t rows, int64_t columns);

/// The sorted matrix of elements at places in any order; those of one place are added up.
std::optional<Matrix> compress(const Array& data, const Array& row, const Array& column, int64_t rows, int64_t columns);

/// Whether the columns of each row ascend; with `strictly` none comes twice.
std::optional<bool> ascends(const Rows& a, bool strictly);

/// The first and the last pointer, whether none is less than the one before it, and the least and the greatest of the indices below the
/// last pointer (0 where there are none), or 0 and `end` - 1 where all lie between these.
std::optional<std::array<int64_t, 5>> facts(const Array& indices, const Array& indptr, int64_t end);
/// The least and the greatest of a vector's numbers, or 0 and `end` - 1 where all lie between these.
std::optional<std::array<int64_t, 2>> bounds(const Array& numbers, int64_t end);

/// The elements that are not zero.
std::optional<Matrix> nonzeros(const Array& data, const Rows& a);

/// The elements of a matrix on diagonal k, added up for one place; of one of blocks data is (n, height, width) and `a` the blocks' rows.
std::optional<Array> diagonal(const Array& data, const Rows& a, int64_t k);
/// The same of elements at places.
std::optional<Array> diagonal(const Array& data, const Array& row, const Array& column, int64_t rows, int64_t columns, int64_t k);

/// Diagonals as compressed rows, without zeros; element j of the diagonal k is in column j and row j - offsets[k].
std::optional<Matrix> of_diagonals(const Array& data, const Array& offsets, int64_t rows, int64_t columns);

/// Data, (d, width), and ascending offsets of the diagonals that have elements, each at its column.
std::optional<ArrayPair> diagonals(const Array& data, const Rows& a);

/// The product of two matrices of diagonals, rows x inner and inner x columns, as diagonals; nullopt also where these would have many more
/// elements than the factors.
std::optional<ArrayPair> multiply_diagonals(const Array& a, const Array& a_offsets, const Array& b, const Array& b_offsets, int64_t rows,
                                            int64_t inner, int64_t columns);

/// Blocks of height x width in compressed rows: the blocks, their columns and pointers.
std::optional<Matrix> blocks(const Array& data, const Rows& a, int64_t height, int64_t width);
/// How many of those there are.
std::optional<int64_t> count_blocks(const Rows& a, int64_t height, int64_t width);

/// A matrix of few elements, or its transpose, times a vector or a matrix of the same dtype.
std::optional<Array> product(const Array& data, const Rows& a, const Array& x, bool transposed);
/// The same of elements on diagonals.
std::optional<Array> diagonal_product(const Array& data, const Array& offsets, const Array& x, int64_t rows, bool transposed);

/// x of a x = b for a triangle in compressed rows, or with `by_columns` columns, and a vector or a matrix of the same dtype; with `unit`
/// its diagonal is not read. Nullopt also where there is a zero on the diagonal, or an element in the other triangle.
std::optional<Array> triangular_solve(const Array& data, const Rows& a, const Array& b, bool lower, bool unit, bool by_columns);

}  // namespace bc::sparse::host
