#pragma once
#include <array>
#include <optional>
#include <span>
#include <vector>

#include "array/array.h"

/// Matrices with a structure, made and recognized at once in host memory: recorded ops would take longer than their few reads and writes.
/// Each function returns nullopt where the elements are not in host memory or derivatives may be wanted; the caller records ops then.
namespace bc::linalg {

enum class Constant : uint8_t { diagonals, antidiagonals, wrapped };

/// The matrix of two vectors of one dtype that is constant along each diagonal (first column and row) or each antidiagonal (first column
/// and last row); or, without a row, `wrapped` around. A missing row is the column's conjugate, or zeros for antidiagonals.
std::optional<Array> constant_along(Constant what, const Array& column, const Array& row);

/// Matrices of one dtype on the diagonal of a matrix of zeros.
std::optional<Array> block_diagonal(std::span<const Array> blocks);

/// The square matrix of zeros but for its first row and for the diagonal below the main one, which is ones where `below` is missing.
std::optional<Array> over_subdiagonal(const Array& top, const Array& below);

/// How far from the diagonal a matrix has elements that are not zero, below and above.
std::optional<std::array<int64_t, 2>> bandwidth(const Array& a);

/// Whether a square matrix is its transpose, or with `conjugate` its conjugate transpose. Only for the latter the diagonal matters, where a
/// NaN differs from itself.
std::optional<bool> is_symmetric(const Array& a, bool conjugate);

/// P, L and U of the factors of one matrix and their pivots (int32, from 0 on): P as a matrix of 0 and 1, as the rows of L that the matrix'
/// rows are (int32), or applied to L.
enum class Permutation : uint8_t { matrix, places, applied };
std::optional<std::vector<Array>> lu_parts(const Array& factors, const Array& pivots, Permutation how);

/// Whether no element of an array of float32, float64 or their complex numbers is NaN or infinite.
std::optional<bool> is_finite(const Array& a);

}  // namespace bc::linalg
