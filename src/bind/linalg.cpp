// Linear algebra for the package's functions, which give NumPy's names and tuples to it.
#include "bind/linalg.h"

#include "bind/args.h"
#include "ops/linalg.h"
#include "ops/structured.h"

namespace bc::bind {
namespace {

Transposed transposed_of(int64_t v) {
  BC_CHECK(v >= 0 && v <= 2, Value, "trans: expected 0, 1 or 2, got {}", v);
  return static_cast<Transposed>(v);
}

Vectors vectors_of(int64_t v) { return static_cast<Vectors>(v); }

}  // namespace

std::vector<PyMethodDef> linalg_functions() {
  return {
      BC_LOOKING("linalg_solve(a, b) x of a x = b.", linalg::solve),
      BC_LOOKING("linalg_inv(a, check=True) The inverses of matrices; without the check those of singular ones are NaN.", linalg::inverse),
      BC_VALUE("linalg_det(a) The determinants of matrices.", [](const Array& a) { return linalg::determinant(a).value; }),
      BC_FUNCTION("linalg_slogdet(a) The signs of determinants, and the logarithms of their absolute values.",
                  [](const Array& a) {
                    const linalg::Determinant d = linalg::determinant(a);
                    return ArrayPair(d.sign, d.logarithm);
                  }),
      BC_FUNCTION("linalg_lu(a) L and U in one matrix, int32 pivots, and for each matrix the number of its first pivot that is zero, or 0.",
                  [](const Array& a) {
                    const linalg::Lu f = linalg::lu(a);
                    return std::vector<Array>{f.factors, f.pivots, f.info};
                  }),
      BC_LOOKING("linalg_lu_solve(lu, pivots, b, trans=0) x of op(a) x = b, from the factors of a.",
                 [](const Array& lu, const Array& pivots, const Array& b, int64_t trans) {
                   return linalg::lu_solve(lu, pivots, b, transposed_of(trans));
                 }),
      BC_LOOKING("linalg_solve_triangular(a, b, lower=False, trans=0, unit_diagonal=False) x of op(a) x = b for a triangle of a.",
                 [](const Array& a, const Array& b, bool lower, int64_t trans, bool unit_diagonal) {
                   return linalg::triangular_solve(a, b, lower, transposed_of(trans), unit_diagonal);
                 }),
      BC_LOOKING("linalg_cholesky(a, lower=True) The triangular factors of positive definite matrices.", linalg::cholesky),
      BC_FUNCTION("linalg_cho_solve(factor, b, lower=True) x of a x = b, from the Cholesky factor of a.", linalg::cholesky_solve),
      BC_FUNCTION("linalg_cholesky_unchecked(a, lower=True) The factor, and 0 or the number of the first minor that is not positive.",
                  linalg::cholesky_unchecked),
      BC_FUNCTION("linalg_qr(a, mode, pivoted=False) Q and R; R; or LAPACK's reflectors, transposed, and their factors.",
                  [](const Array& a, std::string_view mode, bool pivoted) { return linalg::qr(a, mode, pivoted); }),
      BC_LOOKING("linalg_svd(a, vectors) U, the singular values and V^H; `vectors` 0: the values, 1: thin, 2: full matrices.",
                 [](const Array& a, int64_t vectors) { return linalg::svd(a, vectors_of(vectors)); }),
      BC_LOOKING("linalg_svd_by_eigh(a, vectors) The same from eigenvectors in double precision, as GPUs have it.",
                 [](const Array& a, int64_t vectors) { return linalg::svd_by_eigh(a, vectors_of(vectors)); }),
      BC_LOOKING("linalg_eigh(a, lower, vectors) The eigenvalues, and eigenvectors, of Hermitian matrices.", linalg::eigh),
      BC_LOOKING("linalg_eig(a, vectors, left=False) The complex eigenvalues, and right and left eigenvectors.", linalg::eig),
      BC_LOOKING("linalg_lstsq(a, b, tolerance, pivoted=False) x, sums of squares of the residuals, rank and singular values; pivoted: by "
                 "a QR factorization with column exchanges, on the CPU, without singular values.",
                 linalg::lstsq),
      BC_LOOKING("linalg_lstsq_by_qr(a, b, tolerance) x, sums of squares and singular values if the rank is full for sure, else nothing.",
                 linalg::lstsq_by_qr),
      BC_LOOKING("linalg_schur(a) T and Z.", linalg::schur),
      BC_LOOKING("linalg_schur_ordered(t, z, chosen) The form with the chosen eigenvalues first.", linalg::schur_ordered),
      BC_LOOKING("linalg_generalized_eig(a, b, vectors, left) Alpha and beta, and right and left eigenvectors.", linalg::generalized_eig),
      BC_LOOKING("linalg_qz(a, b) AA, BB, Q, Z, alpha and beta.", linalg::qz),
      BC_LOOKING("linalg_qz_ordered(aa, bb, q, z, chosen) The same with the chosen eigenvalues first.", linalg::qz_ordered),
      BC_FUNCTION("linalg_balanced(a, permuted, scaled) The balanced matrix, LAPACK's scale, and the part that is not isolated.",
                  linalg::balanced),
      BC_LOOKING("linalg_hessenberg(a) H and Q.", linalg::hessenberg),
      BC_LOOKING("linalg_ldl(a, lower, hermitian) What LAPACK leaves in the triangle, and its pivots.", linalg::ldl),
      BC_LOOKING("linalg_solve_banded(diagonals, b, below) x of a x = b, by the diagonals of a.", linalg::banded_solve),
      BC_LOOKING("linalg_solveh_banded(diagonals, b, lower) x of a x = b, by the diagonals of a triangle of a positive definite a.",
                 linalg::banded_definite_solve),
      BC_FUNCTION("linalg_cholesky_banded(diagonals, lower) The diagonals of the factor, and 0 or a minor that is not positive.",
                  linalg::banded_cholesky),
      BC_LOOKING("linalg_cho_solve_banded(factor, b, lower) x of a x = b, by the diagonals of a's factor.", linalg::banded_cholesky_solve),
      BC_FUNCTION("linalg_solve_toeplitz(values, b) x by Levinson's recursion, and 0, or 1 where another way must be taken.",
                  linalg::toeplitz_solve),
      BC_LOOKING("linalg_eigh_range(a, lower, vectors, first, count) Some eigenvalues, and eigenvectors; nothing where all must be made.",
                 linalg::eigh_range),
      BC_FUNCTION(
          "linalg_definite_eigh(a, b, lower, vectors) The eigenvalues, and eigenvectors, of a v = w b v, and LAPACK's info; nothing "
          "where composed ops must make them.",
          linalg::definite_eigh),
      BC_LOOKING(
          "linalg_banded_eigh(diagonals, lower, vectors) The eigenvalues, and eigenvectors; nothing where composed ops must make them.",
          linalg::banded_eigh),
      BC_LOOKING("linalg_known_inverse(a, lower, definite, general=False) The inverses of triangles, or of positive definite matrices; "
                 "None where composed "
                 "ops must make them.",
                 linalg::known_inverse),
      BC_LOOKING("linalg_eigh_tridiagonal(diagonal, beside, vectors, first=0, count=0) The eigenvalues, and eigenvectors, of symmetric "
                 "matrices.",
                 linalg::tridiagonal_eigh),
      BC_FUNCTION("linalg_triangular_sqrt(t) The square roots of upper triangular matrices, and 0 or a column without one.",
                  linalg::triangular_sqrt),
      BC_FUNCTION("linalg_expm(a) -> list[ndarray] The exponentials of matrices; no array where composed ops must make them.",
                  [](const Array& a) {
                    const std::optional<Array> x = linalg::exponential(a);
                    return x ? std::vector<Array>{*x} : std::vector<Array>();
                  }),
      BC_FUNCTION("linalg_qr_changed(change, q, r, operands, k, count) Q and R of a changed matrix; nothing where composed ops must make "
                  "them.",
                  [](int64_t change, const Array& q, const Array& r, const std::vector<Array>& operands, int64_t k, int64_t count) {
                    return linalg::qr_changed(static_cast<QrChange>(change), q, r, operands, k, count);
                  }),
      BC_FUNCTION("linalg_complex_schur(t, z) T and Z of the complex Schur form, from the real one's.", linalg::complex_schur),
      BC_FUNCTION("linalg_sqrtm(a) The square roots, complex; whether their real part is all; of real matrices the real part; and 0 or a "
                  "column without one.",
                  linalg::square_root),
      BC_LOOKING("linalg_sylvester(r, s, f, adjoint) x of r x + x s = f, of Schur forms r and s, or with the adjoint of s.",
                 linalg::triangular_sylvester),
      // These are made at once in host memory, or are None where ops must be composed.
      BC_LOOKING(
          "linalg_constant_along(what, column, row=None) The matrix that is constant along diagonals (0), along antidiagonals (1), or "
          "along diagonals that go on at the other side (2).",
          [](int64_t what, const Array& column, const std::optional<Array>& row) {
            return linalg::constant_along(static_cast<linalg::Constant>(what), column, row.value_or(Array()));
          }),
      BC_LOOKING("linalg_block_diagonal(blocks) Matrices on the diagonal of one of zeros.", linalg::block_diagonal),
      BC_LOOKING(
          "linalg_over_subdiagonal(top, below=None) The matrix of a first row and of what, or ones, lie below the diagonal.",
          [](const Array& top, const std::optional<Array>& below) { return linalg::over_subdiagonal(top, below.value_or(Array())); }),
      BC_LOOKING("linalg_bandwidth(a) How far elements that are not zero lie below and above the diagonal.", linalg::bandwidth),
      BC_LOOKING("linalg_lu_parts(factors, pivots, how) P (a matrix: 0, places: 1, applied to L: 2), L and U.",
                 [](const Array& factors, const Array& pivots, int64_t how) {
                   return linalg::lu_parts(factors, pivots, static_cast<linalg::Permutation>(how));
                 }),
      BC_LOOKING("linalg_is_finite(a) Whether no element is NaN or infinite.", linalg::is_finite),
      BC_LOOKING("linalg_is_symmetric(a, conjugate) Whether a matrix is its transpose.", linalg::is_symmetric),
      BC_FUNCTION("linalg_parlett(t, values) f(t) from its diagonal, and the least distance of two eigenvalues.", linalg::parlett),
  };
}

}  // namespace bc::bind
