#pragma once
#include "ops/composite.h"
#include "primitives/linalg.h"

/// Linear algebra of stacks of matrices, which lie in the last two axes; leading axes are batches, and broadcast where there are several
/// operands. Dtypes are NumPy's: integers and booleans become float64, half precision is a TypeError. Results are C-contiguous.
///
/// A failure of LAPACK (a singular matrix, no convergence) is a LinAlgError with NumPy's message, raised by the call, which therefore runs
/// the pending ops. While the stream is captured failures cannot be read, and results that do not exist are NaN or unspecified.
namespace bc::linalg {

/// Raises a LinAlgError with the text if the `info` of an op is not zero for a matrix. Under a vmap it does so once all examples are
/// computed.
void check_info(const Array& info, const char* text);

/// x of a x = b. Right sides are a vector (one dimension) or matrices.
Array solve(const Array& a, const Array& b);
/// The conjugate transposes of matrices.
Array dagger(const Array& a);
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
/// The factor, and int32 for each matrix: 0, or the number (from 1 on) of the first leading minor that is not positive.
ArrayPair cholesky_unchecked(const Array& a, bool lower);
Array cholesky_solve(const Array& factor, const Array& b, bool lower);

/// "reduced" and "complete": Q and R; "r": R; "raw": LAPACK's reflectors, transposed, and their factors. With `pivoted` (on the CPU, not
/// for "raw") also the order of the columns, int32.
std::vector<Array> qr(const Array& a, std::string_view mode, bool pivoted = false);
/// U, the singular values and V^H, or the values alone.
std::vector<Array> svd(const Array& a, Vectors vectors);
/// Eigenvalues in ascending order, and eigenvectors if wanted, of Hermitian matrices, of which one triangle is read.
std::vector<Array> eigh(const Array& a, bool lower, bool vectors);
/// The same without raising for failures; `info` is the last part.
std::vector<Array> eigh_unchecked(const Array& a, bool lower, bool vectors);
/// The `count` eigenvalues from the one with number `first` on; empty where the device has no body for it or a derivative is wanted.
std::vector<Array> eigh_range(const Array& a, bool lower, bool vectors, int64_t first, int64_t count);
/// Eigenvalues, and eigenvectors if wanted, of a v = w b v for positive definite b, and int32: 0, n + the number of a minor of b that is
/// not positive, or a lower number where they were not found. Empty for the same reasons.
std::vector<Array> definite_eigh(const Array& a, const Array& b, bool lower, bool vectors);
/// The same as eigh of matrices of which the diagonals of one triangle are given. Empty for the same reasons.
std::vector<Array> banded_eigh(const Array& diagonals, bool lower, bool vectors);
/// The inverses of triangles, of positive definite matrices of which a triangle is read, or with `general` of any, as SciPy's rounds.
/// LinAlgError where there is none. Nullopt for the same reasons.
std::optional<Array> known_inverse(const Array& a, bool lower, bool definite, bool general);
/// svd() by way of eigh, in double precision: what svd() does where the device's library is slower at it. Of one matrix, or of a stack in
/// single precision; least of both extents at least 1.
std::vector<Array> svd_by_eigh(const Array& a, Vectors vectors);
/// The singular values of one matrix of doubles in descending order, by eigh; NaN if that fails, which raises no error.
Array singular_values_by_eigh(const Array& a);
/// Complex eigenvalues, and right, and then left, eigenvectors if wanted; left ones only with right ones.
std::vector<Array> eig(const Array& a, bool vectors, bool left = false);
/// x, the sums of squares of its residuals (of meaning where the rank is full and there are more rows than columns), the rank and the
/// singular values; pivoted, of the CPU: by a QR factorization with column exchanges, with NaN for those values and sums.
std::vector<Array> lstsq(const Array& a, const Array& b, double tolerance, bool pivoted = false);
/// x, the sums of squares and the singular values of a matrix with at least as many rows as columns, by QR factorization (of many rows by
/// Cholesky's factors, where the condition allows it), if its rank is certainly full; else nothing. The singular values are computed when
/// they are read. Waits for the factors.
std::vector<Array> lstsq_by_qr(const Array& a, const Array& b, double tolerance);
/// T and Z of a = Z T Z^H; of a real matrix the real form.
std::vector<Array> schur(const Array& a);
/// The form with the chosen eigenvalues (int32, not 0; of a pair both) first. LinAlgError when they are too near to the others to exchange.
std::vector<Array> schur_ordered(const Array& t, const Array& z, const Array& chosen);
/// alpha and beta, whose quotients are the eigenvalues of a v = w b v, and right, and then left, eigenvectors if wanted.
std::vector<Array> generalized_eig(const Array& a, const Array& b, bool vectors, bool left);
/// aa, bb, q, z, alpha and beta of a = q aa z^H and b = q bb z^H; of real matrices the real form.
std::vector<Array> qz(const Array& a, const Array& b);
/// The same with the chosen eigenvalues (int32, not 0) first.
std::vector<Array> qz_ordered(const Array& aa, const Array& bb, const Array& q, const Array& z, const Array& chosen);
/// The balanced matrix, LAPACK's permutations and factors in one real vector, and the first and last place (from 0 on) of the part that is
/// not isolated (int32).
std::vector<Array> balanced(const Array& a, bool permuted, bool scaled);
/// H and Q of a = Q H Q^H.
std::vector<Array> hessenberg(const Array& a);
/// The triangle and the pivots that LAPACK's sytrf (or hetrf) returns.
std::vector<Array> ldl(const Array& a, bool lower, bool hermitian);
/// x of a x = b, where row `above` + i - j of `diagonals` holds a[i, j] in column j.
Array banded_solve(const Array& diagonals, const Array& b, int64_t below);
/// The same of a positive definite matrix, of which the diagonals of one triangle are given.
Array banded_definite_solve(const Array& diagonals, const Array& b, bool lower);
/// x by Levinson's recursion for a[i, j] = values[n - 1 + i - j], and for each matrix 0, or 1 where another way must be taken.
ArrayPair toeplitz_solve(const Array& values, const Array& b);
/// The diagonals of a positive definite matrix' factor, and int32 for each: 0, or the number of the first minor that is not positive.
ArrayPair banded_cholesky(const Array& diagonals, bool lower);
/// x of a x = b from the diagonals of a's factor.
Array banded_cholesky_solve(const Array& factor, const Array& b, bool lower);
/// Eigenvalues, and eigenvectors if wanted, of real symmetric matrices with these diagonals: all, or `count` of them.
std::vector<Array> tridiagonal_eigh(const Array& diagonal, const Array& beside, bool vectors, int64_t first = 0, int64_t count = 0);
/// The square roots of upper triangular matrices, and int32 for each: 0, or the number of a column at which there is none.
ArrayPair triangular_sqrt(const Array& t);
/// f(t) of upper triangular matrices from its diagonal, and the least distance of two eigenvalues.
ArrayPair parlett(const Array& t, const Array& values);
/// The factors of a changed matrix from those of the matrix, by rotations: of `count` rows or columns from place k on. Empty where the
/// device has no body for it or a derivative is wanted.
std::vector<Array> qr_changed(QrChange change, const Array& q, const Array& r, std::span<const Array> operands, int64_t k, int64_t count);
/// T and Z of the complex Schur form, from those of the real one.
ArrayPair complex_schur(const Array& t, const Array& z);
/// The principal square roots, complex; int32 for each: whether the real part is the root, and 0, or the number of a column at which there
/// is none.
std::vector<Array> square_root(const Array& a);
/// The exponentials of matrices; nullopt where the device has no body for it or a derivative is wanted, which composed ops have.
std::optional<Array> exponential(const Array& a);
/// x of r x + x s = f, or with `adjoint` of r x + x s^H = f, of upper (quasi-)triangular Schur forms r and s. LinAlgError where it is not
/// unique.
Array triangular_sylvester(const Array& r, const Array& s, const Array& f, bool adjoint);

}  // namespace bc::linalg
