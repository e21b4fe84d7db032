// Singular value decompositions from the eigenvectors of a Hermitian matrix, in double precision. A GPU finds these several times faster
// than its library reduces a matrix to its singular values.
//
// Of single precision: A^H A = V S^2 V^H loses half of the digits, and double precision has more than twice those of single. Of double
// precision: [[0, A^H], [A, 0]] has the eigenvalues +-S and the eigenvectors (V, +-U) / sqrt 2 (Golub & Van Loan, "Matrix Computations",
// 8.6), and nothing is squared. Then A V = U S, of whose columns those of small singular values are not orthogonal enough; the QR
// factorization of A V has a triangle that is diagonal but for rounding errors of the largest singular value, so that its Q is U.
#include "ops/compose.h"
#include "ops/linalg.h"
#include "ops/sorting.h"

namespace bc::linalg {
namespace {

using namespace bc::compose;

int64_t rows_of(const Array& a) { return a.shape()[a.ndim() - 2]; }
int64_t columns_of(const Array& a) { return a.shape()[a.ndim() - 1]; }
Array columns(const Array& a, int64_t from, int64_t to) { return narrow(a, a.ndim() - 1, from, to - from); }
Array last_flipped(const Array& a) { return flip(a, Axes{-1}); }
/// Numbers for each column.
Array for_columns(const Array& v) { return insert_axis(v, v.ndim() - 1); }

/// Singular values in descending order, NaN where they were not found, and right singular vectors as columns (unless only values are
/// wanted).
struct Right {
  Array values, vectors;
};

Right of_squares(const Array& x, bool vectors) {
  const std::vector<Array> e = eigh_unchecked(matmul(dagger(x), x), true, vectors);
  const Array values = ufunc(Op::sqrt, {ufunc(Op::maximum, {last_flipped(e[0]), Arg(0.0)})});
  return {values, vectors ? last_flipped(e[1]) : Array()};
}

Right of_doubled(const Array& x, bool vectors) {
  const Array a = rows_of(x) > columns_of(x) ? qr(x, "r")[0] : x;
  const int64_t n = columns_of(a);
  // eigh reads the lower triangle only.
  const Array zero = zeros_like(a);
  const Array upper[] = {zero, zero}, lower[] = {a, zero};
  const Array halves[] = {concatenate(upper, -1), concatenate(lower, -1)};
  const std::vector<Array> e = eigh_unchecked(concatenate(halves, -2), true, vectors);
  const Array values = ufunc(Op::maximum, {last_flipped(columns(e[0], n, 2 * n)), Arg(0.0)});
  if (!vectors) return {values, {}};
  // The vectors of singular values that are zero but for rounding mix with those of the negative ones: orthogonalized, they fill up.
  return {values, qr(narrow(last_flipped(columns(e[1], n, 2 * n)), x.ndim() - 2, 0, n), "reduced")[0]};
}

/// The smallest singular value by the largest, from which on A V is orthogonal to single precision: the error of two columns is
/// eps s_1^2 / (s_i s_j) with double precision's eps.
constexpr double kWellConditioned = 3e-5;

Array any(const Array& a) { return reduce(Op::reduce_any, a); }

/// U (all columns where `full`) and the singular values, as A V has them.
std::pair<Array, Array> left_by_qr(const Array& av, bool full) {
  const std::vector<Array> f = qr(av, full ? "complete" : "reduced");
  const int64_t n = columns_of(av), m = columns_of(f[0]);
  const Array d = diagonal(f[1], 0, -2, -1), size = absolute(d);
  const Array sign = choose_where(equal(size, Arg(0.0)), Arg(1.0), divide(d, size));
  const Array u = multiply(columns(f[0], 0, n), for_columns(sign));
  if (m == n) return {u, size};
  const Array all[] = {u, columns(f[0], n, m)};
  return {concatenate(all, -1), size};
}

}  // namespace

Array singular_values_by_eigh(const Array& a) { return of_doubled(rows_of(a) < columns_of(a) ? dagger(a) : a, false).values; }

std::vector<Array> svd_by_eigh(const Array& a, Vectors vectors) {
  const DType t = a.dtype(), real = real_type(t);
  const int64_t m = rows_of(a), n = columns_of(a);
  const bool wanted = vectors != Vectors::none;
  if (m < n) {
    std::vector<Array> d = svd_by_eigh(dagger(a), vectors);
    if (!wanted) return d;
    return {ascontiguous(dagger(d[2])), d[1], ascontiguous(dagger(d[0]))};
  }
  const bool single = real == DType::f32, full = vectors == Vectors::full && m > n;
  const Array x = cast(a, is_complex(t) ? DType::c128 : DType::f64);
  const Right right = single ? of_squares(x, wanted) : of_doubled(x, wanted);
  const Array failed = any(isnan(right.values));
  const auto check = [](bool any_failed) { BC_CHECK(!any_failed, LinAlg, "SVD did not converge"); };
  if (!wanted) {
    check(truth_of(failed));
    return {cast(right.values, real)};
  }
  const Array av = matmul(x, right.vectors);
  Array u, values;
  bool orthogonal = false;
  if (single && !full) {
    values = ufunc(Op::sqrt, {sum(ufunc(Op::square, {absolute(av)}), over(Axes{-2}))});
    const Array extremes[] = {reduce(Op::reduce_min, values, over(Axes{-1})), reduce(Op::reduce_max, values, over(Axes{-1}))};
    const Array near = ufunc(Op::less_equal, {extremes[0], multiply(extremes[1], Arg(kWellConditioned))});
    const Array both[] = {failed, any(near)};
    bool told[2];
    to_host(stack(both), told);
    check(told[0]);
    orthogonal = !told[1];
    if (orthogonal) u = divide(av, for_columns(values));
  } else {
    check(truth_of(failed));
  }
  if (!orthogonal) std::tie(u, values) = left_by_qr(av, full);
  // Rounding can exchange neighbours.
  const Array order = argsort(ufunc(Op::negative, {values}));
  const auto sorted = [&](const Array& of) {
    Dims shape = of.shape();
    shape[shape.size() - 1] = n;
    const Array places = broadcast_to(for_columns(order), shape);
    const Array first = take_along_axis(columns(of, 0, n), places);
    if (columns_of(of) == n) return first;
    const Array all[] = {first, columns(of, n, columns_of(of))};
    return concatenate(all, -1);
  };
  return {cast(sorted(u), t), cast(take_along_axis(values, order), real), ascontiguous(dagger(cast(sorted(right.vectors), t)))};
}

}  // namespace bc::linalg
