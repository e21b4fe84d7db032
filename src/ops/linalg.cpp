#include "ops/linalg.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "array/history.h"
#include "array/record.h"
#include "core/error.h"
#include "graph/tape.h"
#include "ops/compose.h"

namespace bc::linalg {
namespace {

using namespace bc::compose;

/// The dtype in which operands are computed.
DType common_dtype(std::initializer_list<const Array*> operands) {
  DType t = DType::f32;
  for (const Array* a : operands) {
    const DType of = a->dtype();
    BC_CHECK(!is_small_float(of) && !is_time(of), Type, "array type {} is unsupported in linalg", info(of).name);
    t = promote(t, is_inexact(of) ? of : DType::f64);
  }
  return t;
}

void require_stack(const Array& a) {
  BC_CHECK(a.ndim() >= 2, LinAlg, "{}-dimensional array given. Array must be at least two-dimensional", a.ndim());
}
void require_square(const Array& a) {
  require_stack(a);
  BC_CHECK(a.shape()[a.ndim() - 1] == a.shape()[a.ndim() - 2], LinAlg, "Last 2 dimensions of the array must be square");
}

Dims batch_of(const Array& a, int trailing = 2) { return Dims(a.shape().span().first(a.ndim() - trailing)); }
int64_t rows_of(const Array& a) { return a.shape()[a.ndim() - 2]; }
int64_t columns_of(const Array& a) { return a.shape()[a.ndim() - 1]; }

/// The shape of an operand under a batch.
Dims under(const Dims& batch, const Array& a, int trailing = 2) {
  Dims shape = batch;
  for (int d = a.ndim() - trailing; d < a.ndim(); ++d) shape.push_back(a.shape()[d]);
  return shape;
}

/// Whether the CPU's LAPACK computes what an op without a derivative is recorded for.
bool has_lapack(const Array& a) { return traits(a.device()).on_host && !has_history(a); }

/// Records an op and gives its parts, the last of which is `info`.
std::vector<Array> record_parts(std::unique_ptr<LinalgExtra> op, std::vector<Array> inputs, std::vector<Dims> shapes) {
  op->add(DType::i32, Dims());
  op->finish();
  const std::vector<LinalgExtra::Part> parts = op->parts;
  const DType t = op->dtype;
  const int64_t elements = std::max<int64_t>(op->bytes() / itemsize(t), 1);
  const Device device = inputs[0].device();
  const Array all = record_library(std::move(inputs), std::move(shapes), std::move(op), Dims{elements}, t, device);
  std::vector<Array> made;
  made.reserve(parts.size());
  for (const LinalgExtra::Part& part : parts) {
    Layout layout = contiguous_layout(part.shape);
    layout.offset = part.offset / itemsize(part.dtype);
    made.emplace_back(all.storage(), part.dtype, std::move(layout));
  }
  return made;
}

/// The same for an op that can fail for a matrix: raises a LinAlgError with the text then, and leaves `info` out.
std::vector<Array> record_checked(std::unique_ptr<LinalgExtra> op, std::vector<Array> inputs, std::vector<Dims> shapes, const char* text) {
  op->failure = text;
  std::vector<Array> parts = record_parts(std::move(op), std::move(inputs), std::move(shapes));
  check_info(parts.back(), text);
  parts.pop_back();
  return parts;
}

std::unique_ptr<LinalgExtra> make_op(Linalg what, DType t, Dims batch) { return std::make_unique<LinalgExtra>(what, t, std::move(batch)); }

constexpr const char* kSingular = "Singular matrix";
constexpr const char* kNotDefinite = "Matrix is not positive definite";
constexpr const char* kNoEigenvalues = "Eigenvalues did not converge";
constexpr const char* kNoSvd = "SVD did not converge";

/// The one result of an op on (a, b), of b's shape.
Array solution(std::unique_ptr<LinalgExtra> op, std::vector<Array> inputs, std::vector<Dims> shapes, const char* text) {
  const Array& b = inputs.back();
  const Dims matrix{rows_of(b), columns_of(b)};
  op->add(op->dtype, matrix);
  std::vector<Array> parts = record_checked(std::move(op), std::move(inputs), std::move(shapes), text);
  return parts[0];
}

/// Checks the right sides of systems, which are one vector or matrices.
void require_rows(const char* op, const Array& a, const Array& b) {
  BC_CHECK(b.ndim() >= 1, Value,
           "{}: Input operand 1 does not have enough dimensions (has 0, gufunc core with signature (m,m),(m,n)->(m,n) requires 2)", op);
  const int64_t rows = b.ndim() == 1 ? b.shape()[0] : rows_of(b);
  BC_CHECK(rows == columns_of(a), Value,
           "{}: Input operand 1 has a mismatch in its core dimension 0, with gufunc signature {} (size {} is different from {})", op,
           b.ndim() == 1 ? "(m,m),(m)->(m)" : "(m,m),(m,n)->(m,n)", rows, columns_of(a));
}

/// Calls `solve` with matrices for b. A vector is a matrix of one column meanwhile.
template <class F>
Array with_columns(const char* op, const Array& a, const Array& b, F&& solve) {
  require_square(a);
  require_rows(op, a, b);
  if (b.ndim() > 1) return solve(b);
  const Array x = solve(insert_axis(b, 1));
  return pick(x, x.ndim() - 1, 0);
}

}  // namespace

void check_info(const Array& info, const char* text) {
  if (info.size() == 0 || tape(info.device()).capture()) return;
  const HistoryObserver* const observer = history_observer();
  if (observer && !observer->known(info)) return;  // what computes the op for all examples checks them
  int32_t one = 0;
  std::vector<int32_t> many;
  int32_t* failed = &one;
  if (info.size() > 1) {
    many.resize(static_cast<size_t>(info.size()));
    failed = many.data();
  }
  to_host(info, failed);
  if (std::any_of(failed, failed + info.size(), [](int32_t f) { return f != 0; })) raise(ErrorKind::LinAlg, "{}", text);
}

Array dagger(const Array& a) {
  const Array t = swapaxes(a, -1, -2);
  return is_complex(a.dtype()) ? ufunc(Op::conj, {t}) : t;
}

Array solve(const Array& a, const Array& right) {
  return with_columns("solve", a, right, [&](const Array& b) {
    const DType t = common_dtype({&a, &b});
    const Dims batch = broadcast_shapes("solve", batch_of(a), batch_of(b));
    return solution(make_op(Linalg::solve, t, batch), {cast(a, t), cast(b, t)}, {under(batch, a), under(batch, b)}, kSingular);
  });
}

Array inverse(const Array& a, bool checked) {
  require_square(a);
  const DType t = common_dtype({&a});
  auto op = make_op(Linalg::inverse, t, batch_of(a));
  op->add(t, Dims{rows_of(a), columns_of(a)});
  return checked ? record_checked(std::move(op), {cast(a, t)}, {a.shape()}, kSingular)[0]
                 : record_parts(std::move(op), {cast(a, t)}, {a.shape()})[0];
}

Determinant determinant(const Array& a) {
  require_square(a);
  const DType t = common_dtype({&a});
  auto op = make_op(Linalg::determinant, t, batch_of(a));
  for (const DType part : {t, real_type(t), t}) op->add(part, Dims());
  const std::vector<Array> parts = record_parts(std::move(op), {cast(a, t)}, {a.shape()});
  return {parts[0], parts[1], parts[2]};
}

Lu lu(const Array& a) {
  require_stack(a);
  const DType t = common_dtype({&a});
  const int64_t m = rows_of(a), n = columns_of(a);
  auto op = make_op(Linalg::lu, t, batch_of(a));
  op->add(t, Dims{m, n});
  op->add(DType::i32, Dims{std::min(m, n)});
  const std::vector<Array> parts = record_parts(std::move(op), {cast(a, t)}, {a.shape()});
  return {parts[0], parts[1], parts[2]};
}

Array lu_solve(const Array& factors, const Array& pivots, const Array& right, Transposed transposed) {
  return with_columns("lu_solve", factors, right, [&](const Array& b) {
    const DType t = common_dtype({&factors, &b});
    const Dims batch = broadcast_shapes("lu_solve", batch_of(factors), batch_of(b));
    auto op = make_op(Linalg::lu_solve, t, batch);
    op->transposed = transposed;
    return solution(std::move(op), {cast(factors, t), cast(pivots, DType::i32), cast(b, t)},
                    {under(batch, factors), under(batch, pivots, 1), under(batch, b)}, kSingular);
  });
}

Array triangular_solve(const Array& a, const Array& right, bool lower, Transposed transposed, bool unit_diagonal) {
  return with_columns("solve_triangular", a, right, [&](const Array& b) {
    const DType t = common_dtype({&a, &b});
    const Dims batch = broadcast_shapes("solve_triangular", batch_of(a), batch_of(b));
    auto op = make_op(Linalg::triangular_solve, t, batch);
    op->lower = lower;
    op->transposed = transposed;
    op->unit_diagonal = unit_diagonal;
    return solution(std::move(op), {cast(a, t), cast(b, t)}, {under(batch, a), under(batch, b)}, kSingular);
  });
}

Array cholesky(const Array& a, bool lower) {
  require_square(a);
  const DType t = common_dtype({&a});
  auto op = make_op(Linalg::cholesky, t, batch_of(a));
  op->lower = lower;
  return solution(std::move(op), {cast(a, t)}, {a.shape()}, kNotDefinite);
}

ArrayPair cholesky_unchecked(const Array& a, bool lower) {
  require_square(a);
  const DType t = common_dtype({&a});
  auto op = make_op(Linalg::cholesky, t, batch_of(a));
  op->lower = lower;
  op->add(t, Dims{rows_of(a), columns_of(a)});
  const std::vector<Array> parts = record_parts(std::move(op), {cast(a, t)}, {a.shape()});
  return {parts[0], parts[1]};
}

Array cholesky_solve(const Array& factor, const Array& right, bool lower) {
  return with_columns("cho_solve", factor, right, [&](const Array& b) {
    const DType t = common_dtype({&factor, &b});
    const Dims batch = broadcast_shapes("cho_solve", batch_of(factor), batch_of(b));
    auto op = make_op(Linalg::cholesky_solve, t, batch);
    op->lower = lower;
    op->add(t, Dims{rows_of(b), columns_of(b)});
    // It cannot fail, so `info` is not read.
    return record_parts(std::move(op), {cast(factor, t), cast(b, t)}, {under(batch, factor), under(batch, b)})[0];
  });
}

std::vector<Array> qr(const Array& a, std::string_view mode, bool pivoted) {
  require_stack(a);
  const DType t = common_dtype({&a});
  const int64_t m = rows_of(a), n = columns_of(a), least = std::min(m, n);
  const int64_t columns = mode == "complete" ? m : least;
  auto op = make_op(mode == "raw" ? Linalg::qr_raw : Linalg::qr, t, batch_of(a));
  op->vectors = mode == "r" ? Vectors::none : mode == "complete" ? Vectors::full : Vectors::thin;
  if (mode == "raw") {
    op->add(t, Dims{n, m});
    op->add(t, Dims{least});
  } else {
    if (mode != "r") op->add(t, Dims{m, columns});
    op->add(t, Dims{columns, n});
    op->pivoted = pivoted;
    if (pivoted) op->add(DType::i32, Dims{n});
  }
  std::vector<Array> parts = record_parts(std::move(op), {cast(a, t)}, {a.shape()});
  parts.pop_back();  // it cannot fail
  return parts;
}

namespace {
/// Whether the svd of a stack is computed from eigenvectors. With derivatives it is not: the rule is that of the svd op.
bool goes_by_eigh(const Array& a, DType t) {
  const bool one = product(batch_of(a)) == 1, single = real_type(t) == DType::f32;
  const int64_t least = std::min(rows_of(a), columns_of(a));
  return linalg_traits(a.device().type).svd_by_eigh_from <= least && product(batch_of(a)) > 0 && (one || single) && !has_history(a) &&
         !tape(a.device()).capture();
}
}  // namespace

std::vector<Array> svd(const Array& a, Vectors vectors) {
  require_stack(a);
  const DType t = common_dtype({&a});
  if (goes_by_eigh(a, t)) return svd_by_eigh(cast(a, t), vectors);
  const int64_t m = rows_of(a), n = columns_of(a), least = std::min(m, n);
  auto op = make_op(Linalg::svd, t, batch_of(a));
  op->vectors = vectors;
  const bool full = vectors == Vectors::full, values = vectors == Vectors::none;
  if (!values) op->add(t, Dims{m, full ? m : least});
  op->add(real_type(t), Dims{least});
  if (!values) op->add(t, Dims{full ? n : least, n});
  return record_checked(std::move(op), {cast(a, t)}, {a.shape()}, kNoSvd);
}

std::vector<Array> eigh(const Array& a, bool lower, bool vectors) {
  std::vector<Array> parts = eigh_unchecked(a, lower, vectors);
  check_info(parts.back(), kNoEigenvalues);
  parts.pop_back();
  return parts;
}

std::vector<Array> eigh_unchecked(const Array& a, bool lower, bool vectors) {
  require_square(a);
  const DType t = common_dtype({&a});
  const int64_t n = rows_of(a);
  auto op = make_op(Linalg::eigh, t, batch_of(a));
  op->lower = lower;
  op->vectors = vectors ? Vectors::full : Vectors::none;
  op->failure = kNoEigenvalues;
  op->add(real_type(t), Dims{n});
  if (vectors) op->add(t, Dims{n, n});
  return record_parts(std::move(op), {cast(a, t)}, {a.shape()});
}

std::vector<Array> eigh_range(const Array& a, bool lower, bool vectors, int64_t first, int64_t count) {
  require_square(a);
  if (!has_lapack(a)) return {};
  const DType t = common_dtype({&a});
  auto op = make_op(Linalg::eigh_range, t, batch_of(a));
  op->lower = lower;
  op->vectors = vectors ? Vectors::full : Vectors::none;
  op->below = first;
  op->count = count;
  op->add(real_type(t), Dims{count});
  if (vectors) op->add(t, Dims{rows_of(a), count});
  return record_checked(std::move(op), {cast(a, t)}, {a.shape()}, kNoEigenvalues);
}

std::vector<Array> definite_eigh(const Array& a, const Array& b, bool lower, bool vectors) {
  require_square(a);
  require_square(b);
  if (!has_lapack(a) || !has_lapack(b)) return {};
  const DType t = common_dtype({&a, &b});
  const Dims batch = broadcast_shapes("eigh", batch_of(a), batch_of(b));
  auto op = make_op(Linalg::definite_eigh, t, batch);
  op->lower = lower;
  op->vectors = vectors ? Vectors::full : Vectors::none;
  op->add(real_type(t), Dims{rows_of(a)});
  if (vectors) op->add(t, Dims{rows_of(a), rows_of(a)});
  return record_parts(std::move(op), {cast(a, t), cast(b, t)}, {under(batch, a), under(batch, b)});
}

std::vector<Array> banded_eigh(const Array& diagonals, bool lower, bool vectors) {
  require_stack(diagonals);
  if (!has_lapack(diagonals)) return {};
  const DType t = common_dtype({&diagonals});
  const int64_t n = columns_of(diagonals);
  auto op = make_op(Linalg::banded_eigh, t, batch_of(diagonals));
  op->lower = lower;
  op->vectors = vectors ? Vectors::full : Vectors::none;
  op->add(real_type(t), Dims{n});
  if (vectors) op->add(t, Dims{n, n});
  return record_checked(std::move(op), {cast(diagonals, t)}, {diagonals.shape()}, kNoEigenvalues);
}

std::optional<Array> known_inverse(const Array& a, bool lower, bool definite, bool general) {
  require_square(a);
  if (!has_lapack(a)) return std::nullopt;
  const DType t = common_dtype({&a});
  auto op = make_op(Linalg::known_inverse, t, batch_of(a));
  op->lower = lower;
  op->hermitian = definite;
  op->pivoted = general;
  op->add(t, Dims{rows_of(a), columns_of(a)});
  return record_checked(std::move(op), {cast(a, t)}, {a.shape()}, kSingular)[0];
}

std::vector<Array> eig(const Array& a, bool vectors, bool left) {
  require_square(a);
  const DType t = common_dtype({&a});
  const int64_t n = rows_of(a);
  auto op = make_op(Linalg::eig, t, batch_of(a));
  op->vectors = vectors ? Vectors::full : Vectors::none;
  op->add(complex_type(t), Dims{n});
  if (vectors) op->add(complex_type(t), Dims{n, n});
  op->left = vectors && left;
  if (op->left) op->add(complex_type(t), Dims{n, n});
  return record_checked(std::move(op), {cast(a, t)}, {a.shape()}, kNoEigenvalues);
}

std::vector<Array> lstsq(const Array& a, const Array& b, double tolerance, bool pivoted) {
  const DType t = common_dtype({&a, &b});
  BC_CHECK(rows_of(a) == rows_of(b), LinAlg, "Incompatible dimensions");
  const int64_t n = columns_of(a), k = columns_of(b);
  const Dims batch = broadcast_shapes("lstsq", batch_of(a), batch_of(b));
  auto op = make_op(Linalg::lstsq, t, batch);
  op->tolerance = tolerance;
  op->pivoted = pivoted;
  op->add(t, Dims{n, k});
  op->add(real_type(t), Dims{k});
  op->add(DType::i32, Dims());
  op->add(real_type(t), Dims{std::min(rows_of(a), n)});
  return record_checked(std::move(op), {cast(a, t), cast(b, t)}, {under(batch, a), under(batch, b)},
                        "SVD did not converge in Linear Least Squares");
}

namespace {

/// op(triangle)^-1 right of an upper triangular matrix. An element of zero on the diagonal gives infinities and NaNs, no error.
Array triangular_solve_unchecked(const Array& triangle, const Array& right, Transposed transposed = Transposed::no) {
  auto op = make_op(Linalg::triangular_solve, right.dtype(), Dims());
  op->lower = false;
  op->transposed = transposed;
  op->add(right.dtype(), right.shape());
  return record_parts(std::move(op), {triangle, right}, {triangle.shape(), right.shape()})[0];
}

/// Least squares of a = QR as the system r x = projected. It is right where the condition number of r is at most `largest_condition`, and
/// where none of the numbers `failed` is set.
struct Triangular {
  Array r, projected;
  double largest_condition;
  std::vector<Array> failed;
};

/// By Householder's reflections. R of [a b] consists of R of a, and Q^H b beside it, so that Q itself is not needed.
Triangular triangular_by_reflections(const Array& a, const Array& b) {
  const int64_t n = columns_of(a);
  const Array both[] = {a, b};
  const Array top = narrow(qr(concatenate(both, 1), "r")[0], 0, 0, n);
  return {narrow(top, 1, 0, n), narrow(top, 1, n, columns_of(b)), std::numeric_limits<double>::infinity(), {}};
}

/// By Cholesky's factor of a^H a, and again of what is left of a: products and solves of whole matrices, where reflections go column after
/// column. The condition number for which Q is orthogonal is a theorem of Y. Yamamoto, Y. Nakatsukasa, Y. Yanagisawa and T. Fukaya,
/// "Roundoff error analysis of the CholeskyQR2 algorithm" (Electronic Transactions on Numerical Analysis 44, 2015).
Triangular triangular_by_products(const Array& a, const Array& b) {
  const auto m = static_cast<double>(rows_of(a)), n = static_cast<double>(columns_of(a));
  const auto [first, first_failed] = cholesky_unchecked(matmul(dagger(a), a), false);
  const Array nearly = dagger(triangular_solve_unchecked(first, dagger(a), Transposed::conjugate));  // orthogonal up to the condition
  const auto [second, second_failed] = cholesky_unchecked(matmul(dagger(nearly), nearly), false);
  const Array projected = triangular_solve_unchecked(second, matmul(dagger(nearly), b), Transposed::conjugate);
  const double rounding = std::numeric_limits<double>::epsilon() / 2;
  return {matmul(second, first), projected, 1 / (8 * std::sqrt((m + n + 1) * n * rounding)), {first_failed, second_failed}};
}

/// x, sums of squares and singular values from a triangular system, or nothing where its condition is too large for it or for a full rank.
std::vector<Array> solved_if_certain(const Triangular& system, const Array& a, const Array& b, double share) {
  const int64_t n = columns_of(a), k = columns_of(b);
  const Array& r = system.r;
  const Array one = eye(n, n, 0, r.dtype(), r.device());
  const Array zero = equal(diagonal(r, 0, -2, -1), Arg(0.0));
  // The inverse is solved for together with x: its norm times that of the triangle bounds the condition number, and so the rank.
  const Array right[] = {one, system.projected};
  const Array solved = triangular_solve_unchecked(add(r, multiply(one, cast(zero, r.dtype()))), concatenate(right, 1));
  const auto norm = [](const Array& of) { return ufunc(Op::sqrt, {sum(ufunc(Op::square, {absolute(of)}))}); };
  const Array condition = multiply(norm(r), norm(narrow(solved, 1, 0, n)));
  const double most = std::max(2 * share, 1 / system.largest_condition);
  Array certain =
      ufunc(Op::logical_and, {ufunc(Op::less, {multiply(condition, Arg(most)), Arg(1.0)}), logical_not(reduce(Op::reduce_any, zero))});
  for (const Array& failed : system.failed) certain = ufunc(Op::logical_and, {certain, equal(failed, Arg(0))});
  if (!truth_of(certain)) return {};
  const Array x = narrow(solved, 1, n, k);
  const Array squares = sum(ufunc(Op::square, {absolute(subtract(b, matmul(a, x)))}), over(Axes{0}));
  return {x, squares, singular_values_by_eigh(r)};
}

}  // namespace

std::vector<Array> lstsq_by_qr(const Array& a_in, const Array& b_in, double tolerance) {
  const int64_t m = rows_of(a_in), n = columns_of(a_in), k = columns_of(b_in);
  const bool recorded_only = has_history(a_in) || has_history(b_in) || tape(a_in.device()).capture();
  if (a_in.ndim() != 2 || b_in.ndim() != 2 || m < n || n == 0 || k == 0 || recorded_only) return {};
  const DType t = is_complex(common_dtype({&a_in, &b_in})) ? DType::c128 : DType::f64;
  const Array a = cast(a_in, t), b = cast(b_in, t);
  const double share = tolerance < 0 ? std::numeric_limits<double>::epsilon() : tolerance;
  constexpr int64_t kManyRows = 2;  // times the columns: below it, reflections are as fast
  if (m >= kManyRows * n)
    if (std::vector<Array> made = solved_if_certain(triangular_by_products(a, b), a, b, share); !made.empty()) return made;
  return solved_if_certain(triangular_by_reflections(a, b), a, b, share);
}

std::vector<Array> schur(const Array& a) {
  require_square(a);
  const DType t = common_dtype({&a});
  const int64_t n = rows_of(a);
  auto op = make_op(Linalg::schur, t, batch_of(a));
  op->add(t, Dims{n, n});
  op->add(t, Dims{n, n});
  return record_checked(std::move(op), {cast(a, t)}, {a.shape()}, "Schur form not found. Possibly ill-conditioned.");
}

std::vector<Array> schur_ordered(const Array& form, const Array& z, const Array& chosen) {
  require_square(form);
  const DType t = common_dtype({&form, &z});
  const int64_t n = rows_of(form);
  auto op = make_op(Linalg::schur_ordered, t, batch_of(form));
  for (int k = 0; k < 2; ++k) op->add(t, Dims{n, n});
  const Dims batch = op->batch;
  return record_checked(std::move(op), {cast(form, t), cast(z, t), cast(chosen, DType::i32)},
                        {under(batch, form), under(batch, z), under(batch, chosen, 1)},
                        "Eigenvalues could not be separated for reordering.");
}

namespace {

/// The dtype and the batch of a problem of two square matrices.
std::pair<DType, Dims> pair_of(const char* op, const Array& a, const Array& b) {
  require_square(a);
  require_square(b);
  BC_CHECK(rows_of(a) == rows_of(b), Value, "{}: expected matrices of one shape, got {} and {}", op, a.shape(), b.shape());
  return {common_dtype({&a, &b}), broadcast_shapes(op, batch_of(a), batch_of(b))};
}

void add_qz_parts(LinalgExtra& op, int64_t n) {
  for (int k = 0; k < 4; ++k) op.add(op.dtype, Dims{n, n});
  op.add(complex_type(op.dtype), Dims{n});
  op.add(op.dtype, Dims{n});
}

}  // namespace

std::vector<Array> generalized_eig(const Array& a, const Array& b, bool vectors, bool left) {
  const auto [t, batch] = pair_of("eig", a, b);
  const int64_t n = rows_of(a);
  auto op = make_op(Linalg::generalized_eig, t, batch);
  op->vectors = vectors ? Vectors::full : Vectors::none;
  op->left = vectors && left;
  op->add(complex_type(t), Dims{n});
  op->add(t, Dims{n});
  if (vectors) op->add(complex_type(t), Dims{n, n});
  if (op->left) op->add(complex_type(t), Dims{n, n});
  return record_checked(std::move(op), {cast(a, t), cast(b, t)}, {under(batch, a), under(batch, b)}, kNoEigenvalues);
}

std::vector<Array> qz(const Array& a, const Array& b) {
  const auto [t, batch] = pair_of("qz", a, b);
  auto op = make_op(Linalg::qz, t, batch);
  add_qz_parts(*op, rows_of(a));
  return record_checked(std::move(op), {cast(a, t), cast(b, t)}, {under(batch, a), under(batch, b)},
                        "Something went wrong in QZ iteration");
}

std::vector<Array> qz_ordered(const Array& aa, const Array& bb, const Array& q, const Array& z, const Array& chosen) {
  const auto [t, batch] = pair_of("ordqz", aa, bb);
  auto op = make_op(Linalg::qz_ordered, t, batch);
  add_qz_parts(*op, rows_of(aa));
  return record_checked(
      std::move(op), {cast(aa, t), cast(bb, t), cast(q, t), cast(z, t), cast(chosen, DType::i32)},
      {under(batch, aa), under(batch, bb), under(batch, q), under(batch, z), under(batch, chosen, 1)},
      "Reordering of (A, B) failed because the transformed matrix pair (A, B) would be too far from generalized Schur form; the problem "
      "is very ill-conditioned. (A, B) may have been partially reordered.");
}

std::vector<Array> balanced(const Array& a, bool permuted, bool scaled) {
  require_square(a);
  const DType t = common_dtype({&a});
  const int64_t n = rows_of(a);
  auto op = make_op(Linalg::balanced, t, batch_of(a));
  op->pivoted = permuted;
  op->scaled = scaled;
  op->add(t, Dims{n, n});
  op->add(real_type(t), Dims{n});
  op->add(DType::i32, Dims{2});
  std::vector<Array> parts = record_parts(std::move(op), {cast(a, t)}, {a.shape()});
  parts.pop_back();  // it cannot fail
  return parts;
}

std::vector<Array> hessenberg(const Array& a) {
  require_square(a);
  const DType t = common_dtype({&a});
  const int64_t n = rows_of(a);
  auto op = make_op(Linalg::hessenberg, t, batch_of(a));
  op->add(t, Dims{n, n});
  op->add(t, Dims{n, n});
  std::vector<Array> parts = record_parts(std::move(op), {cast(a, t)}, {a.shape()});
  parts.pop_back();
  return parts;
}

std::vector<Array> ldl(const Array& a, bool lower, bool hermitian) {
  require_square(a);
  const DType t = common_dtype({&a});
  const int64_t n = rows_of(a);
  auto op = make_op(Linalg::ldl, t, batch_of(a));
  op->lower = lower;
  op->hermitian = hermitian;
  op->add(t, Dims{n, n});
  op->add(DType::i32, Dims{n});
  std::vector<Array> parts = record_parts(std::move(op), {cast(a, t)}, {a.shape()});
  parts.pop_back();  // a zero on D's diagonal is no error
  return parts;
}

namespace {

/// x of a banded system; `diagonals` has the matrix' columns.
Array banded(std::unique_ptr<LinalgExtra> op, const Array& diagonals, const Array& right, const char* text) {
  require_stack(diagonals);
  require_rows(op->name, diagonals, right);
  const Array b = right.ndim() == 1 ? insert_axis(right, 1) : right;
  op->dtype = common_dtype({&diagonals, &b});
  op->batch = broadcast_shapes(op->name, batch_of(diagonals), batch_of(b));
  const DType t = op->dtype;
  const Dims batch = op->batch;
  const Array x = solution(std::move(op), {cast(diagonals, t), cast(b, t)}, {under(batch, diagonals), under(batch, b)}, text);
  return right.ndim() == 1 ? pick(x, x.ndim() - 1, 0) : x;
}

}  // namespace

Array banded_solve(const Array& diagonals, const Array& b, int64_t below) {
  auto op = make_op(Linalg::banded_solve, DType::f64, Dims());
  op->below = below;
  BC_CHECK(diagonals.ndim() >= 2 && below >= 0 && below < rows_of(diagonals), Value,
           "solve_banded: expected at least {} rows of diagonals for {} below the main one, got shape {}", below + 1, below,
           diagonals.shape());
  return banded(std::move(op), diagonals, b, "singular matrix");
}

ArrayPair toeplitz_solve(const Array& values, const Array& b) {
  const DType t = common_dtype({&values, &b});
  require_stack(b);
  BC_CHECK(values.ndim() >= 1 && columns_of(values) == 2 * rows_of(b) - 1, Value,
           "solve_toeplitz: expected 2 n - 1 elements of the matrix for {} rows of b, got shape {}", rows_of(b), values.shape());
  const Dims batch = broadcast_shapes("solve_toeplitz", batch_of(values, 1), batch_of(b));
  auto op = make_op(Linalg::toeplitz_solve, t, batch);
  op->add(t, Dims{rows_of(b), columns_of(b)});
  const std::vector<Array> parts = record_parts(std::move(op), {cast(values, t), cast(b, t)}, {under(batch, values, 1), under(batch, b)});
  return {parts[0], parts[1]};
}

Array banded_definite_solve(const Array& diagonals, const Array& b, bool lower) {
  auto op = make_op(Linalg::banded_definite_solve, DType::f64, Dims());
  op->lower = lower;
  return banded(std::move(op), diagonals, b, "leading minor not positive definite");
}

ArrayPair banded_cholesky(const Array& diagonals, bool lower) {
  require_stack(diagonals);
  const DType t = common_dtype({&diagonals});
  auto op = make_op(Linalg::banded_cholesky, t, batch_of(diagonals));
  op->lower = lower;
  op->add(t, Dims{rows_of(diagonals), columns_of(diagonals)});
  const std::vector<Array> parts = record_parts(std::move(op), {cast(diagonals, t)}, {diagonals.shape()});
  return {parts[0], parts[1]};
}

Array banded_cholesky_solve(const Array& factor, const Array& b, bool lower) {
  auto op = make_op(Linalg::banded_cholesky_solve, DType::f64, Dims());
  op->lower = lower;
  return banded(std::move(op), factor, b, "singular matrix");
}

std::vector<Array> tridiagonal_eigh(const Array& diagonal, const Array& beside, bool vectors, int64_t first, int64_t count) {
  BC_CHECK(diagonal.ndim() >= 1 && beside.ndim() >= 1, Value, "eigh_tridiagonal: expected vectors, got shapes {} and {}", diagonal.shape(),
           beside.shape());
  const int64_t n = diagonal.shape()[diagonal.ndim() - 1], next = beside.shape()[beside.ndim() - 1];
  BC_CHECK(n == next + 1 || (n == 0 && next == 0), Value, "d ({}) must have one more element than e ({})", n, next);
  const DType t = common_dtype({&diagonal, &beside});
  BC_CHECK(!is_complex(t), Type, "eigh_tridiagonal: expected real diagonals, got {}", info(t).name);
  const Dims batch = broadcast_shapes("eigh_tridiagonal", batch_of(diagonal, 1), batch_of(beside, 1));
  auto op = make_op(Linalg::tridiagonal_eigh, t, batch);
  op->vectors = vectors ? Vectors::full : Vectors::none;
  op->below = first;
  op->count = count;
  op->add(t, Dims{count ? count : n});
  if (vectors) op->add(t, Dims{n, count ? count : n});
  std::vector<Array> parts = record_checked(std::move(op), {cast(diagonal, t), cast(beside, t)},
                                            {under(batch, diagonal, 1), under(batch, beside, 1)}, kNoEigenvalues);
  return parts;
}

ArrayPair triangular_sqrt(const Array& a) {
  require_square(a);
  const DType t = common_dtype({&a});
  auto op = make_op(Linalg::triangular_sqrt, t, batch_of(a));
  op->add(t, Dims{rows_of(a), columns_of(a)});
  const std::vector<Array> parts = record_parts(std::move(op), {cast(a, t)}, {a.shape()});
  return {parts[0], parts[1]};
}

ArrayPair parlett(const Array& a, const Array& values) {
  require_square(a);
  const DType t = common_dtype({&a, &values});
  auto op = make_op(Linalg::parlett, t, batch_of(a));
  op->add(t, Dims{rows_of(a), columns_of(a)});
  op->add(real_type(t), Dims());
  Dims diagonal = batch_of(a);
  diagonal.push_back(rows_of(a));
  const std::vector<Array> parts = record_parts(std::move(op), {cast(a, t), cast(values, t)}, {a.shape(), diagonal});
  return {parts[0], parts[1]};
}

std::vector<Array> qr_changed(QrChange change, const Array& q, const Array& r, std::span<const Array> operands, int64_t k, int64_t count) {
  require_stack(q);
  require_stack(r);
  const int64_t m = rows_of(q), n = columns_of(q), width = columns_of(r);
  const bool rows = change == QrChange::insert_rows || change == QrChange::delete_rows;
  const bool inserts = change == QrChange::insert_rows || change == QrChange::insert_columns;
  BC_CHECK(n == rows_of(r) && operands.size() == (change == QrChange::update ? 2u
                                                  : inserts                  ? 1u
                                                                             : 0u),
           Value, "qr_update: expected Q, R and operands that fit, got shapes {} and {}", q.shape(), r.shape());
  BC_CHECK(count >= 1 && k >= 0 && (change == QrChange::update || k + (inserts ? 0 : count) <= (rows ? m : width)), Value,
           "qr_update: expected a place inside, got {}", k);
  if (!has_lapack(q) || !has_lapack(r)) return {};
  DType t = common_dtype({&q, &r});
  std::vector<Array> inputs{cast(q, t), cast(r, t)};
  std::vector<Dims> shapes{q.shape(), r.shape()};
  for (const Array& a : operands) {
    if (!has_lapack(a)) return {};
    inputs.push_back(cast(a, t));
    shapes.push_back(a.shape());
  }
  auto op = make_op(Linalg::qr_changed, t, batch_of(q));
  op->change = change;
  op->below = k;
  op->count = count;
  const bool economic = m > n;
  const int64_t step = inserts ? count : change == QrChange::update ? 0 : -count;
  const int64_t kept = rows ? (economic ? n : n + step) : change == QrChange::delete_columns && economic ? n - count : n;
  op->add(t, Dims{kept, rows ? m + step : m});
  op->add(t, Dims{kept, rows ? width : width + step});
  std::vector<Array> parts = record_parts(std::move(op), std::move(inputs), std::move(shapes));
  parts.pop_back();
  parts[0] = swapaxes(parts[0], -1, -2);
  return parts;
}

ArrayPair complex_schur(const Array& form, const Array& z) {
  require_square(form);
  const DType t = common_dtype({&form, &z});
  BC_CHECK(z.shape() == form.shape(), Value, "rsf2csf: expected Z of shape {}, got {}", form.shape(), z.shape());
  auto op = make_op(Linalg::complex_schur, t, batch_of(form));
  op->add(complex_type(t), Dims{rows_of(form), rows_of(form)});
  op->add(complex_type(t), Dims{rows_of(form), rows_of(form)});
  const std::vector<Array> parts = record_parts(std::move(op), {cast(form, t), cast(z, t)}, {form.shape(), z.shape()});
  return {parts[0], parts[1]};
}

std::vector<Array> square_root(const Array& a) {
  require_square(a);
  const DType t = common_dtype({&a});
  auto op = make_op(Linalg::square_root, t, batch_of(a));
  op->add(complex_type(t), Dims{rows_of(a), rows_of(a)});
  op->add(DType::i32, Dims());
  if (!is_complex(t)) op->add(t, Dims{rows_of(a), rows_of(a)});
  return record_parts(std::move(op), {cast(a, t)}, {a.shape()});
}

std::optional<Array> exponential(const Array& a) {
  require_square(a);
  if (!traits(a.device()).on_host || has_history(a)) return std::nullopt;
  const DType t = common_dtype({&a});
  auto op = make_op(Linalg::exponential, t, batch_of(a));
  op->add(t, Dims{rows_of(a), rows_of(a)});
  return record_parts(std::move(op), {cast(a, t)}, {a.shape()})[0];
}

Array triangular_sylvester(const Array& r, const Array& s, const Array& f, bool adjoint) {
  require_square(r);
  require_square(s);
  const DType t = common_dtype({&r, &s, &f});
  BC_CHECK(f.ndim() >= 2 && rows_of(f) == rows_of(r) && columns_of(f) == rows_of(s), Value,
           "solve_sylvester: expected a right side of {} rows and {} columns, got shape {}", rows_of(r), rows_of(s), f.shape());
  auto op = make_op(Linalg::sylvester, t, batch_of(f));
  if (adjoint) op->transposed = Transposed::conjugate;
  op->add(t, Dims{rows_of(f), columns_of(f)});
  return record_checked(std::move(op), {cast(r, t), cast(s, t), cast(f, t)}, {r.shape(), s.shape(), f.shape()},
                        "an eigenvalue of a is the negative of one of b, so that there is no unique solution")[0];
}

}  // namespace bc::linalg
