// The public linear algebra, thin over the engine's.
#include "broadcloth/linalg.h"

#include <algorithm>
#include <limits>

#include "api/array_impl.h"
#include "core/error.h"
#include "ops/compose.h"
#include "ops/linalg.h"

namespace broadcloth::linalg {
namespace {

using namespace face;
namespace la = bc::linalg;

static_assert(static_cast<int>(trans::no) == static_cast<int>(bc::Transposed::no));
static_assert(static_cast<int>(trans::transpose) == static_cast<int>(bc::Transposed::transpose));
static_assert(static_cast<int>(trans::conjugate) == static_cast<int>(bc::Transposed::conjugate));
bc::Transposed form(trans t) { return static_cast<bc::Transposed>(t); }

/// A result of as many arrays as the engine's parts are.
template <class R>
R result(const std::vector<bc::Array>& parts) {
  return {made(parts[0]), made(parts[1])};
}

}  // namespace

array solve(const array& a, const array& b) { return made(la::solve(real_array(a), real_array(b))); }
array inv(const array& a) { return made(la::inverse(real_array(a))); }
array det(const array& a) { return made(la::determinant(real_array(a)).value); }
slogdet_result slogdet(const array& a) {
  const la::Determinant d = la::determinant(real_array(a));
  return {made(d.sign), made(d.logarithm)};
}

lstsq_result lstsq(const array& a, const array& b, std::optional<double> rcond) {
  bc::Array matrix = real_array(a), right = real_array(b);
  const bool vector = right.ndim() == 1;
  if (vector) right = bc::compose::insert_axis(right, 1);
  BC_CHECK(matrix.ndim() == 2 && right.ndim() == 2 && matrix.size() > 0 && right.size() > 0, LinAlg,
           "lstsq: expected a matrix and right sides that are not empty, got shapes {} and {}", matrix.shape(), real_array(b).shape());
  for (const bc::Array* operand : {&matrix, &right})
    BC_CHECK(!bc::is_small_float(operand->dtype()), Type, "array type {} is unsupported in linalg", bc::info(operand->dtype()).name);
  const int64_t m = matrix.shape()[0], n = matrix.shape()[1];
  const bc::DType given = bc::promote(bc::promote(matrix.dtype(), right.dtype()), bc::DType::f32);
  const bc::DType wide = bc::is_complex(given) ? bc::DType::c128 : bc::DType::f64, real = bc::real_type(given);
  // A cutoff in single precision would call what rounding left of a zero a singular value.
  const double cutoff = rcond.value_or(std::numeric_limits<double>::epsilon() * static_cast<double>(std::max(m, n)));
  const std::vector<bc::Array> parts = la::lstsq(bc::astype(matrix, wide, false), bc::astype(right, wide, false), cutoff);
  const int64_t rank = bc::item(parts[2]).i;
  const bc::Array x = bc::astype(parts[0], given, false);
  const bc::Array squares = rank == n && m > n ? bc::astype(parts[1], real, false) : bc::empty(bc::Dims{0}, real, matrix.device());
  return {made(vector ? bc::compose::pick(x, 1, 0) : x), made(squares), rank, made(bc::astype(parts[3], real, false))};
}

array solve_triangular(const array& a, const array& b, bool lower, trans op, bool unit_diagonal) {
  return made(la::triangular_solve(real_array(a), real_array(b), lower, form(op), unit_diagonal));
}
array solve_banded(int64_t below, const array& ab, const array& b) { return made(la::banded_solve(real_array(ab), real_array(b), below)); }

array cholesky(const array& a, bool upper) { return made(la::cholesky(real_array(a), !upper)); }
array cho_solve(const array& factor, const array& b, bool lower) {
  return made(la::cholesky_solve(real_array(factor), real_array(b), lower));
}
lu_result lu_factor(const array& a) {
  const la::Lu f = la::lu(real_array(a));
  return {made(f.factors), made(f.pivots)};
}
array lu_solve(const array& lu, const array& pivots, const array& b, trans op) {
  return made(la::lu_solve(real_array(lu), real_array(pivots), real_array(b), form(op)));
}

qr_result qr(const array& a, bool complete) { return result<qr_result>(la::qr(real_array(a), complete ? "complete" : "reduced")); }
array qr_r(const array& a) { return made(la::qr(real_array(a), "r")[0]); }
svd_result svd(const array& a, bool full_matrices) {
  const std::vector<bc::Array> parts = la::svd(real_array(a), full_matrices ? bc::Vectors::full : bc::Vectors::thin);
  return {made(parts[0]), made(parts[1]), made(parts[2])};
}
array svdvals(const array& a) { return made(la::svd(real_array(a), bc::Vectors::none)[0]); }

eig_result eigh(const array& a, bool upper) { return result<eig_result>(la::eigh(real_array(a), !upper, true)); }
array eigvalsh(const array& a, bool upper) { return made(la::eigh(real_array(a), !upper, false)[0]); }

namespace {
/// The operand of geev, which must not be given NaN or infinity.
bc::Array finite(const array& a) {
  const bc::Array matrix = real_array(a);
  if (bc::is_inexact(matrix.dtype()))
    BC_CHECK(bc::compose::truth_of(bc::reduce(bc::Op::reduce_all, bc::ufunc(bc::Op::isfinite, {matrix}))), LinAlg,
             "Array must not contain infs or NaNs");
  return matrix;
}
}  // namespace

eig_result eig(const array& a) { return result<eig_result>(la::eig(finite(a), true)); }
array eigvals(const array& a) { return made(la::eig(finite(a), false)[0]); }
eig_result eigh_tridiagonal(const array& diagonal, const array& beside) {
  return result<eig_result>(la::tridiagonal_eigh(real_array(diagonal), real_array(beside), true));
}
schur_result schur(const array& a) { return result<schur_result>(la::schur(real_array(a))); }
hessenberg_result hessenberg(const array& a) { return result<hessenberg_result>(la::hessenberg(real_array(a))); }

array outer(const array& a, const array& b) {
  BC_CHECK(a.shape().size() == 1 && b.shape().size() == 1, Value,
           "Input arrays must be one-dimensional, but they are {} and {}-dimensional.", a.shape().size(), b.shape().size());
  return made(bc::outer(real_array(a), real_array(b)));
}
array tensordot(const array& a, const array& b, int64_t axes) { return made(bc::tensordot(real_array(a), real_array(b), axes)); }
array tensordot(const array& a, const array& b, const shape_t& a_axes, const shape_t& b_axes) {
  return made(bc::tensordot(real_array(a), real_array(b), a_axes, b_axes));
}
array vecdot(const array& a, const array& b, int64_t axis) { return made(bc::vecdot(real_array(a), real_array(b), axis)); }
array cross(const array& a, const array& b, int64_t axis) { return made(bc::cross(real_array(a), real_array(b), axis, axis, axis)); }

array diagonal(const array& a, int64_t offset) { return made(bc::diagonal(real_array(a), offset, -2, -1)); }
array trace(const array& a, int64_t offset) { return made(bc::trace(real_array(a), offset, -2, -1)); }
array matrix_transpose(const array& a) { return made(bc::matrix_transpose(real_array(a))); }

array vector_norm(const array& x, double ord, std::optional<shape_t> axes, bool keepdims) {
  return made(bc::vector_norm(real_array(x), ord, axes, keepdims));
}
array matrix_norm(const array& x, std::optional<double> ord, bool keepdims) {
  BC_CHECK(x.shape().size() >= 2, LinAlg, "{}-dimensional array given. Array must be at least two-dimensional", x.shape().size());
  const bc::Array a = real_array(x);
  // Singular values are not computed in half precision.
  const bc::Array wide = bc::is_small_float(a.dtype()) ? bc::astype(a, bc::DType::f32, false) : a;
  const bc::Array norms = bc::norm(wide, ord ? bc::NormOrder(*ord) : bc::NormOrder(), bc::Axes{-2, -1}, keepdims);
  return made(bc::is_small_float(a.dtype()) ? bc::astype(norms, a.dtype(), false) : norms);
}

}  // namespace broadcloth::linalg
