#pragma once
#include "ops/composite.h"
#include "primitives/linalg.h"

/// Linear algebra of stacks of matrices, which lie in the last two axes; leading axes are batches, and broadcast where there are several
/// operands. Dtypes are NumPy's: integers and booleans become float64, half precision is a TypeError. Results are C-contiguous.
///
/// What LAPACK cannot do (a singular matrix, no convergence) is a LinAlgError in NumPy's words, raised by the call, which runs what waits
/// for that reason. While the stream is captured nobody can look, and results that do not exist are NaN or unspecified.
namespace bc::linalg {

/// x of a x = b. Right sides are a vector (one dimension) or matrices.
Array solve(const Array& a, const Array& b);
/// Without `check` the inverses of singular matrices are NaN.
Array inverse(const Array& a, bool check = true);

struct Determinant {
  Array sign, logarithm, value;
};
Determinant determinant(const Array& a);

struct Lu {
  Array factors;  ///< L below the diagonal, whose diagonal of ones is not kept, and U
  Array pivots;   ///< int32: row i was exchanged with row pivots[i]
  Array info;     ///< int32: 0, or the number (from 1 on) of the first pivot that is exactly zero
};
Lu lu(const Array& a);
Array lu_solve(const Array& factors, const Array& pivots, const Array& b, Transposed transposed);
Array triangular_solve(const Array& a, const Array& b, bool lower, Transposed transposed, bool unit_diagonal);

Array cholesky(const Array& a, bool lower);
Array cholesky_solve(const Array& factor, const Array& b, bool lower);

/// "reduced" and "complete": Q and R; "r": R; "raw": LAPACK's reflectors, transposed, and their factors.
std::vector<Array> qr(const Array& a, std::string_view mode);
/// U, the singular values and V^H, or the values alone.
std::vector<Array> svd(const Array& a, Vectors vectors);
/// Eigenvalues in ascending order, and eigenvectors if wanted, of Hermitian matrices, of which one triangle is read.
std::vector<Array> eigh(const Array& a, bool lower, bool vectors);
/// Complex eigenvalues, and eigenvectors if wanted.
std::vector<Array> eig(const Array& a, bool vectors);
/// x, the sums of squares of its residuals (of meaning where the rank is full and there are more rows than columns), the rank and the
/// singular values.
std::vector<Array> lstsq(const Array& a, const Array& b, double tolerance);
/// T and Z of a = Z T Z^H; of a real matrix the real form.
std::vector<Array> schur(const Array& a);
/// H and Q of a = Q H Q^H.
std::vector<Array> hessenberg(const Array& a);

}  // namespace bc::linalg
