/// Linear algebra for C++, under NumPy's and SciPy's names: systems of equations, determinants, decompositions, products and norms.
///
/// Matrices are in the last two axes; leading axes are stacks of matrices, and broadcast where there are several operands. float32 and
/// complex64 compute in single precision, float64 and complex128 in double, integers and booleans as float64; float16 and bfloat16 are an
/// error. Results are new C-contiguous arrays on the operands' device. The work is LAPACK's (OpenBLAS) on the CPU, cuSOLVER's and cuBLAS's
/// on CUDA; a function without a routine there (see its description) raises for arrays on a GPU: copy them to the CPU first.
///
/// Every error is a std::runtime_error with NumPy's message: "Singular matrix", "Matrix is not positive definite", "Last 2 dimensions of
/// the array must be square". Functions that can fail run pending ops and read the result; det() and slogdet() cannot fail and stay
/// pending.
///
/// In the examples `bw` is the namespace broadcloth, and near(x, values) tells whether the elements of x are these numbers to 7 digits.
#pragma once
#include <optional>

#include <broadcloth/broadcloth.h>

namespace broadcloth::linalg {

// ---- Systems of equations and determinants

/// The solution x of a x = b, by LU factorization with partial pivoting (LAPACK's gesv).
/// @param a  (..., n, n)
/// @param b  one vector (n) if it has one dimension, else matrices (..., n, k)
/// @return   (..., n) or (..., n, k)
/// @throws std::runtime_error  a matrix is singular or not square, or the extents do not fit.
/// @code
/// const bw::array a = bw::from(std::vector<double>{1, 2, 3, 5}, {2, 2}), b = bw::from(std::vector<double>{1, 2});
/// assert(near(bw::linalg::solve(a, b), {-1, 1}));
/// @endcode
array solve(const array& a, const array& b);

/// The inverses of square matrices (..., n, n).
/// @throws std::runtime_error  a matrix is singular or not square.
/// @code
/// assert(near(bw::linalg::inv(bw::from(std::vector<double>{2, 0, 0, 4}, {2, 2})), {0.5, 0, 0, 0.25}));
/// @endcode
array inv(const array& a);

/// The determinants (...) of square matrices (..., n, n), by LU factorization.
/// @code
/// assert(near(bw::linalg::det(bw::from(std::vector<double>{1, 2, 3, 4}, {2, 2})), {-2}));
/// @endcode
array det(const array& a);

struct slogdet_result {
  array sign;       ///< (...): 1, -1, 0, or for a complex matrix a number on the unit circle
  array logabsdet;  ///< (...), real: -inf where the determinant is 0
};
/// The signs of determinants and the logarithms of their absolute values, which overflow later than the determinants.
/// @code
/// const auto [sign, logabsdet] = bw::linalg::slogdet(bw::from(std::vector<double>{0, 1, 1, 0}, {2, 2}));
/// assert(near(sign, {-1}) && near(logabsdet, {0}));
/// @endcode
slogdet_result slogdet(const array& a);

struct lstsq_result {
  array x;          ///< (n) or (n, k)
  array residuals;  ///< (k): the sums of squares; empty if the rank is below n or m <= n
  int64_t rank;
  array s;  ///< (min(m, n)): the singular values, in descending order
};
/// The least-squares solution x of a x = b with the smallest norm, by singular values (LAPACK's gelsd). Computed in double precision; on
/// the CPU only.
/// @param a      (m, n), not empty
/// @param b      (m) or (m, k)
/// @param rcond  singular values up to rcond times the largest one count as zero; max(m, n) times float64's precision unless given
/// @throws std::runtime_error  the numbers of rows differ, an operand is empty or not a matrix, or the singular values do not converge.
/// @code
/// const bw::array a = bw::from(std::vector<double>{0, 1, 1, 1, 2, 1}, {3, 2}), b = bw::from(std::vector<double>{1, 3, 5});
/// const bw::linalg::lstsq_result line = bw::linalg::lstsq(a, b);
/// assert(near(line.x, {2, 1}) && line.rank == 2);
/// @endcode
lstsq_result lstsq(const array& a, const array& b, std::optional<double> rcond = {});

/// The form op(a) of a matrix in a solver.
enum class trans : uint8_t { no, transpose, conjugate };

/// The solution x of op(a) x = b for a triangular matrix, of which one triangle is read.
/// @param unit_diagonal  the diagonal is not read and is assumed to be ones
/// @throws std::runtime_error  a zero on a diagonal, or extents that do not fit.
/// @code
/// const bw::array a = bw::from(std::vector<double>{2, 0, 1, 4}, {2, 2});
/// assert(near(bw::linalg::solve_triangular(a, bw::from(std::vector<double>{2, 9}), true), {1, 2}));
/// @endcode
array solve_triangular(const array& a, const array& b, bool lower = false, trans op = trans::no, bool unit_diagonal = false);

/// The solution x of a x = b, where row `above` + i - j of `ab` holds a[i, j] in its column j (LAPACK's gbsv). On the CPU only.
/// @param below  number of diagonals below the main diagonal; the others of `ab` are above it
/// @throws std::runtime_error  a matrix is singular, or the extents do not fit.
/// @code
/// const bw::array ab = bw::from(std::vector<double>{0, 1, 4, 4, 1, 0}, {3, 2});  // [[4, 1], [1, 4]]
/// assert(near(bw::linalg::solve_banded(1, ab, bw::from(std::vector<double>{5, 5})), {1, 1}));
/// @endcode
array solve_banded(int64_t below, const array& ab, const array& b);

// ---- Decompositions

/// The triangular factors L with a = L L^H of Hermitian positive definite matrices (..., n, n), or with `upper` L^H. The other triangle of
/// `a` is not read.
/// @throws std::runtime_error  a matrix is not positive definite, or not square.
/// @code
/// assert(near(bw::linalg::cholesky(bw::from(std::vector<double>{4, 2, 2, 5}, {2, 2})), {2, 0, 1, 2}));
/// @endcode
array cholesky(const array& a, bool upper = false);

/// The solution x of a x = b from the result of cholesky() for a.
/// @param lower  whether the factor is L; else L^H
/// @code
/// const bw::array a = bw::from(std::vector<double>{4, 2, 2, 5}, {2, 2}), b = bw::from(std::vector<double>{6, 7});
/// assert(near(bw::linalg::cho_solve(bw::linalg::cholesky(a), b), {1, 1}));
/// @endcode
array cho_solve(const array& factor, const array& b, bool lower = true);

struct lu_result {
  array lu;      ///< (..., m, n): L below the diagonal (its diagonal of ones is not stored), and U
  array pivots;  ///< (..., min(m, n)), int32: row i was exchanged with row pivots[i]
};
/// L and U of matrices (..., m, n) with partial pivoting (LAPACK's getrf). A singular matrix has a zero on U's diagonal.
/// @code
/// const bw::array a = bw::from(std::vector<double>{1, 2, 3, 5}, {2, 2});
/// const auto [lu, pivots] = bw::linalg::lu_factor(a);
/// assert(near(bw::linalg::lu_solve(lu, pivots, bw::from(std::vector<double>{1, 2})), {-1, 1}));
/// @endcode
lu_result lu_factor(const array& a);
/// The solution x of op(a) x = b from the result of lu_factor() for a.
/// @throws std::runtime_error  extents that do not fit, or a zero on U's diagonal.
array lu_solve(const array& lu, const array& pivots, const array& b, trans op = trans::no);

struct qr_result {
  array q, r;
};
/// The factors of a = Q R: Q has orthonormal columns, R is upper triangular (Householder reflections, LAPACK's geqrf).
/// @param a         (..., m, n)
/// @param complete  Q is (..., m, m) and R (..., m, n); else (..., m, k) and (..., k, n) with k = min(m, n)
/// @code
/// const bw::array a = bw::from(std::vector<double>{3, 1, 4, 2}, {2, 2});
/// const auto [q, r] = bw::linalg::qr(a);
/// assert(near(bw::matmul(q, r), {3, 1, 4, 2}) && near(bw::matmul(q.transpose(), q), {1, 0, 0, 1}));
/// @endcode
qr_result qr(const array& a, bool complete = false);
/// Only R of qr(), which is faster.
/// @code
/// assert(near(bw::abs(bw::linalg::qr_r(bw::from(std::vector<double>{3, 4}, {2, 1}))), {5}));
/// @endcode
array qr_r(const array& a);

struct svd_result {
  array u, s, vh;
};
/// The singular value decomposition a = U diag(s) V^H (LAPACK's gesdd; on GPUs from eigenvectors in double precision where that is faster).
/// @param a              (..., m, n)
/// @param full_matrices  U is (..., m, m) and V^H (..., n, n); else (..., m, k) and (..., k, n) with k = min(m, n)
/// @return  the singular values are real and in descending order
/// @throws std::runtime_error  the iteration does not converge (as with NaN), or `a` has less than two dimensions.
/// @code
/// const bw::array a = bw::from(std::vector<double>{0, 2, 1, 0}, {2, 2});
/// const auto [u, s, vh] = bw::linalg::svd(a);
/// assert(near(s, {2, 1}) && near(bw::matmul(u * s, vh), {0, 2, 1, 0}));
/// @endcode
svd_result svd(const array& a, bool full_matrices = true);
/// Only the singular values (..., min(m, n)).
/// @code
/// assert(near(bw::linalg::svdvals(bw::from(std::vector<double>{0, 2, 1, 0}, {2, 2})), {2, 1}));
/// @endcode
array svdvals(const array& a);

struct eig_result {
  array eigenvalues;   ///< (..., n)
  array eigenvectors;  ///< (..., n, n): normalized, in columns
};
/// The eigenvalues, in ascending order, and eigenvectors of Hermitian matrices (..., n, n), of which one triangle is read (LAPACK's syevd).
/// @throws std::runtime_error  the iteration does not converge, or a matrix is not square.
/// @code
/// const auto [w, v] = bw::linalg::eigh(bw::from(std::vector<double>{2, 1, 1, 2}, {2, 2}));
/// assert(near(w, {1, 3}) && near(bw::matmul(v * w, v.transpose()), {2, 1, 1, 2}));
/// @endcode
eig_result eigh(const array& a, bool upper = false);
/// Only the eigenvalues of eigh().
/// @code
/// assert(near(bw::linalg::eigvalsh(bw::from(std::vector<double>{2, 0, 0, 1}, {2, 2})), {1, 2}));
/// @endcode
array eigvalsh(const array& a, bool upper = false);

/// The eigenvalues and right eigenvectors of square matrices (LAPACK's geev). They are always complex, even if all imaginary parts are
/// zero, since their dtype must not depend on values. On the CPU only.
/// @throws std::runtime_error  the iteration does not converge, `a` holds NaN or infinity, or is not square.
/// @code
/// const auto [w, v] = bw::linalg::eig(bw::from(std::vector<double>{0, -1, 1, 0}, {2, 2}));
/// assert(w.type() == bw::dtype::complex128 && near(w * w, {-1, -1}));
/// @endcode
eig_result eig(const array& a);
/// Only the eigenvalues of eig().
/// @code
/// assert(near(bw::linalg::eigvals(bw::from(std::vector<double>{1, 5, 0, 2}, {2, 2})), {1, 2}));
/// @endcode
array eigvals(const array& a);

/// The eigenvalues and eigenvectors of real symmetric tridiagonal matrices (LAPACK's stevd). On the CPU only.
/// @param diagonal  (..., n)
/// @param beside    (..., n - 1)
/// @code
/// const bw::array d = bw::from(std::vector<double>{2, 2}), e = bw::from(std::vector<double>{1});
/// assert(near(bw::linalg::eigh_tridiagonal(d, e).eigenvalues, {1, 3}));
/// @endcode
eig_result eigh_tridiagonal(const array& diagonal, const array& beside);

struct schur_result {
  array t, z;
};
/// T and Z of a = Z T Z^H: Z is unitary, T is upper triangular, or for a real matrix has blocks of 2 x 2 for complex eigenvalues (LAPACK's
/// gees). On the CPU only.
/// @throws std::runtime_error  the iteration does not converge, or a matrix is not square.
/// @code
/// const bw::array a = bw::from(std::vector<double>{1, 2, 3, 4}, {2, 2});
/// const auto [t, z] = bw::linalg::schur(a);
/// assert(near(bw::matmul(bw::matmul(z, t), z.transpose()), {1, 2, 3, 4}));
/// @endcode
schur_result schur(const array& a);

struct hessenberg_result {
  array h, q;
};
/// H and Q of a = Q H Q^H: Q is unitary, H is zero below the first subdiagonal (LAPACK's gehrd). On the CPU only.
/// @code
/// const bw::array a = bw::arange(0, 9).reshape({3, 3});
/// const auto [h, q] = bw::linalg::hessenberg(a);
/// assert(near(bw::matmul(bw::matmul(q, h), q.transpose()), {0, 1, 2, 3, 4, 5, 6, 7, 8}) && near(h[2][0], {0}));
/// @endcode
hessenberg_result hessenberg(const array& a);

// ---- Products, of any dtype

/// NumPy's matrix product: one-dimensional operands are a row and a column, leading axes broadcast.
/// @throws std::runtime_error  the inner extents differ, or an operand has no dimension.
/// @code
/// const bw::array a = bw::arange(0, 4).reshape({2, 2});
/// assert(near(bw::linalg::matmul(a, a), {2, 3, 6, 11}));
/// @endcode
inline array matmul(const array& a, const array& b) { return broadcloth::matmul(a, b); }
/// All products of the elements of two vectors: (m, n).
/// @code
/// assert(near(bw::linalg::outer(bw::arange(1, 3), bw::arange(3, 5)), {3, 4, 6, 8}));
/// @endcode
array outer(const array& a, const array& b);
/// Sums of products over the last `axes` axes of `a` and the first ones of `b`.
/// @code
/// assert(near(bw::linalg::tensordot(bw::ones({2, 3}), bw::ones({2, 3})), {6}));
/// @endcode
array tensordot(const array& a, const array& b, int64_t axes = 2);
/// Sums of products over the given axes.
/// @code
/// assert(near(bw::linalg::tensordot(bw::ones({2, 3}), bw::ones({4, 2}), {0}, {1}), std::vector<double>(12, 2.0)));
/// @endcode
array tensordot(const array& a, const array& b, const shape_t& a_axes, const shape_t& b_axes);
/// The dot products of vectors along an axis, the first one conjugated; the other axes broadcast.
/// @code
/// assert(near(bw::linalg::vecdot(bw::arange(0, 4).reshape({2, 2}), bw::ones({2})), {1, 5}));
/// @endcode
array vecdot(const array& a, const array& b, int64_t axis = -1);
/// The cross product of vectors of three components along an axis.
/// @code
/// assert(near(bw::linalg::cross(bw::from(std::vector<int>{1, 0, 0}), bw::from(std::vector<int>{0, 1, 0})), {0, 0, 1}));
/// @endcode
array cross(const array& a, const array& b, int64_t axis = -1);

// ---- Parts and norms

/// A view of the diagonals of the matrices in the last two axes: (..., k).
/// @code
/// assert(near(bw::linalg::diagonal(bw::arange(0, 4).reshape({2, 2})), {0, 3}));
/// @endcode
array diagonal(const array& a, int64_t offset = 0);
/// The sums of these diagonals.
/// @code
/// assert(near(bw::linalg::trace(bw::arange(0, 4).reshape({2, 2})), {3}));
/// @endcode
array trace(const array& a, int64_t offset = 0);
/// A view with the last two axes exchanged.
/// @code
/// assert(near(bw::linalg::matrix_transpose(bw::arange(0, 4).reshape({1, 2, 2})), {0, 2, 1, 3}));
/// @endcode
array matrix_transpose(const array& a);

/// The norm of vectors over the given axes, or of all elements: (sum |x|^ord)^(1/ord); for infinity the largest and for -infinity the
/// smallest absolute value, for 0 the number of nonzero elements. Integers compute in float64.
/// @code
/// assert(near(bw::linalg::vector_norm(bw::from(std::vector<double>{3, 4})), {5}));
/// assert(near(bw::linalg::vector_norm(bw::from(std::vector<double>{3, -4}), INFINITY), {4}));
/// @endcode
array vector_norm(const array& x, double ord = 2, std::optional<shape_t> axes = {}, bool keepdims = false);
/// The norm of the matrices in the last two axes: Frobenius' unless `ord` is given; 1 and -1 are the largest and smallest sum of a column,
/// infinity and -infinity of a row, 2 and -2 the largest and smallest singular value.
/// @throws std::runtime_error  `ord` is none of these, `x` has less than two dimensions, or the singular values do not converge.
/// @code
/// const bw::array x = bw::from(std::vector<double>{0, 2, 1, 0}, {2, 2});
/// assert(near(bw::linalg::matrix_norm(x), {std::sqrt(5.0)}) && near(bw::linalg::matrix_norm(x, 2.0), {2}));
/// assert(near(bw::linalg::matrix_norm(x, 1.0), {2}) && near(bw::linalg::matrix_norm(x, -2.0), {1}));
/// @endcode
array matrix_norm(const array& x, std::optional<double> ord = {}, bool keepdims = false);

}  // namespace broadcloth::linalg
