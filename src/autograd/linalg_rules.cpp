// The derivatives of linear algebra (Giles 2008, "Collected matrix derivative results for forward and reverse mode algorithmic
// differentiation"; Walter & Lehmann 2010 for QR; Wan & Zhang 2019 for the complex SVD). A rule computes the op's results again from its
// operands, so that derivatives of derivatives go through them; where eigenvalues or singular values coincide, the parts of a gradient
// that are not determined are zero.
#include "autograd/linalg_rules.h"

#include "autograd/library_function.h"
#include "ops/compose.h"
#include "ops/linalg.h"

namespace bc::autograd {
namespace {

int64_t rows(const Array& a) { return a.shape()[a.ndim() - 2]; }
int64_t columns(const Array& a) { return a.shape()[a.ndim() - 1]; }
/// Vectors as columns of one element each, and as rows: for products with the rows and the columns of matrices.
Array of_rows(const Array& v) { return compose::insert_axis(v, v.ndim()); }
Array of_columns(const Array& v) { return compose::insert_axis(v, v.ndim() - 1); }
Array identity(const Array& like) { return eye(columns(like), {}, 0, real_type(like.dtype()), like.device()); }
/// Matrices with these diagonals.
Array diagonals(const Array& v) { return of_rows(v) * eye(v.shape()[v.ndim() - 1], {}, 0, real_type(v.dtype()), v.device()); }
Array symmetric(const Array& a) { return (a + adjoint(a)) * Arg(0.5); }
Array antisymmetric(const Array& a) { return a - adjoint(a); }
Array narrowed(const Array& a, int64_t from, int64_t to) { return compose::narrow(a, a.ndim() - 1, from, to - from); }
/// 1 / (v[j] - v[i]), and 0 where both are the same.
Array gaps(const Array& v) {
  const Array gap = of_columns(v) - of_rows(v), none = autograd::equal(gap, Arg(0));
  return autograd::where(none, Arg(0), Arg(1.0) / autograd::where(none, Arg(1), gap));
}

struct LinalgFunction final : LibraryFunction {
  LinalgFunction(const LinalgExtra& op, std::span<const Array> inputs, Value v)
      : LibraryFunction(op.name, inputs, std::move(v)),
        what(op.what),
        lower(op.lower),
        unit_diagonal(op.unit_diagonal),
        transposed(op.transposed),
        vectors(op.vectors),
        parts(op.parts) {}
  const Linalg what;
  const bool lower, unit_diagonal;
  const Transposed transposed;
  const Vectors vectors;
  const std::vector<LinalgExtra::Part> parts;

  static bool has_rule(const LinalgExtra& op, std::span<const Array> inputs) {
    const bool tall = rows(inputs[0]) > columns(inputs[0]), square = rows(inputs[0]) == columns(inputs[0]);
    switch (op.what) {
      case Linalg::solve:
      case Linalg::inverse:
      case Linalg::determinant:
      case Linalg::cholesky:
      case Linalg::cholesky_solve:
      case Linalg::triangular_solve:
      case Linalg::eigh:
      case Linalg::eig:
      case Linalg::lstsq: return true;
      case Linalg::qr: return !(op.vectors == Vectors::full && tall);
      case Linalg::svd: return !(op.vectors == Vectors::full && !square);
      default: return false;
    }
  }

  std::vector<Array> backward(std::span<const Array> gradients, const std::vector<bool>&) override {
    const Array g = plain(gradients[0]);
    const Array& a = saved[0];
    switch (what) {
      case Linalg::solve: return of_solve(part(g, 0));
      case Linalg::inverse: return of_inverse(part(g, 0));
      case Linalg::determinant: return of_determinant(part(g, 0), part(g, 1), part(g, 2));
      case Linalg::cholesky: return {cholesky_gradient(a, part(g, 0))};
      case Linalg::cholesky_solve: return of_cholesky_solve(part(g, 0));
      case Linalg::triangular_solve: return of_triangular_solve(part(g, 0));
      case Linalg::eigh: return {vectors == Vectors::none ? eigh_gradient(part(g, 0), {}) : eigh_gradient(part(g, 0), part(g, 1))};
      case Linalg::eig: return {vectors == Vectors::none ? eig_gradient(part(g, 0), {}) : eig_gradient(part(g, 0), part(g, 1))};
      case Linalg::svd:
        return {vectors == Vectors::none ? svd_gradient({}, part(g, 0), {}) : svd_gradient(part(g, 0), part(g, 1), part(g, 2))};
      case Linalg::qr: return {vectors == Vectors::none ? qr_gradient(a, {}, part(g, 0)) : qr_gradient(a, part(g, 0), part(g, 1))};
      default: return of_lstsq(part(g, 0), part(g, 1), part(g, 3));
    }
  }

 private:
  /// The gradient of part k of the result.
  Array part(const Array& g, size_t k) const {
    Layout layout = contiguous_layout(parts[k].shape);
    layout.offset = parts[k].offset / itemsize(parts[k].dtype);
    return g.seen_as(parts[k].dtype, std::move(layout));
  }

  std::vector<Array> of_solve(const Array& g) const {
    const Array &a = saved[0], b = linalg::solve(adjoint(a), g);
    return {autograd::negative(matmul(b, adjoint(linalg::solve(a, saved[1])))), b};
  }

  std::vector<Array> of_inverse(const Array& g) const {
    const Array x = adjoint(linalg::inverse(saved[0], false));
    return {autograd::negative(matmul(matmul(x, g), x))};
  }

  /// The matrices, but singular ones with a tiny number in the place of each pivot that is zero. Its determinant times its inverse is the
  /// adjugate, by which a determinant changes, up to rounding.
  static Array regular(const Array& given) {
    const Array a = given.detached();
    const linalg::Lu f = linalg::lu(a);
    const DType real = real_type(a.dtype());
    const Dims matrix = a.shape();
    const int64_t n = columns(a);
    ReduceOptions over = compose::over({-2, -1});
    over.keepdims = true;
    const Array largest = reduce(Op::reduce_max, compose::absolute(a), over), scale = compose::pick(largest, largest.ndim() - 1, 0);
    const Array pivots = diagonal(f.factors, 0, -2, -1);
    const double tiny = real == DType::f32 ? 0x1p-23 : 0x1p-52;
    const Array size = autograd::where(autograd::equal(scale, Arg(0)), Arg(1), scale) * Arg(tiny);
    const Array added = autograd::where(autograd::equal(pivots, Arg(0)), size, Arg(0));
    // P L times the added diagonal: row i of the product is row order[i] of L, since P takes the numbers of rows to their order.
    const Array unit = broadcast_to(eye(n, {}, 0, a.dtype(), a.device()), matrix);
    Dims numbers = matrix;
    numbers[numbers.size() - 1] = 1;
    const Array counted = broadcast_to(astype(compose::index_along(n, 0, 2, a.device()), a.dtype()), numbers);
    const Array order = astype(bc::real(linalg::lu_solve(unit, f.pivots, counted, Transposed::transpose)), DType::i64);
    const Array lower_part = (tril(f.factors, -1) + unit) * of_columns(added);
    return given + take_along_axis(lower_part, broadcast_to(order, matrix), -2);
  }

  /// With t = tr(a^-1 da): d log|det| = Re t, d det = det t, and the sign turns by Im t.
  std::vector<Array> of_determinant(const Array& sign, const Array& logarithm, const Array& value) const {
    const Array a = regular(saved[0]);
    const linalg::Determinant d = linalg::determinant(a);
    Array factor = logarithm + value * autograd::conj(d.value);
    if (is_complex(sign.dtype())) factor = factor - I * bc::imag(autograd::conj(sign) * d.sign);
    return {of_rows(of_rows(factor)) * adjoint(linalg::inverse(a, false))};
  }

  /// The gradient is Hermitian, as the operand is of which one triangle is read.
  Array cholesky_gradient(const Array& a, const Array& gradient) const {
    const Array l = lower ? linalg::cholesky(a, true) : adjoint(linalg::cholesky(a, false));
    const Array g = lower ? gradient : adjoint(gradient);
    const Array half = tril(matmul(adjoint(l), g)) * (Arg(1.0) - identity(l) * Arg(0.5));
    const auto divided = [&](const Array& x) { return linalg::triangular_solve(l, x, true, Transposed::conjugate, false); };
    return symmetric(divided(adjoint(divided(half))));
  }

  std::vector<Array> of_cholesky_solve(const Array& g) const {
    const Array &factor = saved[0], b = linalg::cholesky_solve(factor, g, lower);
    const Array x = linalg::cholesky_solve(factor, saved[1], lower), product = autograd::negative(matmul(b, adjoint(x)));
    const Array both = product + adjoint(product);
    return {lower ? tril(matmul(both, factor)) : triu(matmul(factor, both)), b};
  }

  std::vector<Array> of_triangular_solve(const Array& g) const {
    const Array& t = saved[0];
    const auto solve = [&](const Array& right, Transposed how) { return linalg::triangular_solve(t, right, lower, how, unit_diagonal); };
    const Array x = solve(saved[1], transposed);
    Array b, d;
    if (transposed == Transposed::no) {
      b = solve(g, Transposed::conjugate);
      d = matmul(b, adjoint(x));
    } else if (transposed == Transposed::transpose) {
      b = autograd::conj(solve(autograd::conj(g), Transposed::no));
      d = matrix_transpose(matmul(b, adjoint(x)));
    } else {
      b = solve(g, Transposed::no);
      d = adjoint(matmul(b, adjoint(x)));
    }
    const int64_t off = unit_diagonal ? 1 : 0;
    return {autograd::negative(lower ? tril(d, -off) : triu(d, off)), b};
  }

  Array eigh_gradient(const Array& values, const Array& columns) const {
    const std::vector<Array> e = linalg::eigh(saved[0], lower, true);
    const Array& v = e[1];
    Array inner = diagonals(values);
    if (columns) inner = inner + gaps(e[0]) * matmul(adjoint(v), columns);
    return symmetric(matmul(matmul(v, inner), adjoint(v)));
  }

  /// Eigenvectors have the length 1, and a phase of which a loss must not depend.
  Array eig_gradient(const Array& values, const Array& columns) const {
    const std::vector<Array> e = linalg::eig(saved[0], true);
    const Array &v = e[1], adjoint_v = adjoint(v);
    Array inner = diagonals(values);
    if (columns) {
      const Array along = matmul(adjoint_v, columns);
      const Array lengths = matmul(adjoint_v, v) * of_columns(bc::real(diagonal(along, 0, -2, -1)));
      inner = inner + autograd::conj(gaps(e[0])) * (along - lengths);
    }
    const Array made = linalg::solve(adjoint_v, matmul(inner, adjoint_v));
    return is_complex(saved[0].dtype()) ? made : bc::real(made);
  }

  Array svd_gradient(const Array& left, const Array& values, const Array& right) const {
    const std::vector<Array> d = linalg::svd(saved[0], Vectors::thin);
    const Array &u = d[0], &s = d[1], &vh = d[2];
    if (!left) return matmul(u * of_columns(values), vh);
    const Array gap = gaps(s * s), uu = matmul(adjoint(u), left), vv = matmul(vh, adjoint(right));
    Array inner = antisymmetric(uu) * gap * of_columns(s) + of_rows(s) * (antisymmetric(vv) * gap) + diagonals(values);
    if (is_complex(u.dtype())) inner = inner + I * diagonals(bc::imag(diagonal(uu, 0, -2, -1)) / s);
    Array made = matmul(matmul(u, inner), vh);
    if (rows(saved[0]) > columns(u)) made = made + matmul((left - matmul(u, uu)) / of_columns(s), vh);
    if (columns(saved[0]) > rows(vh)) made = made + matmul(u, (right - matmul(adjoint(vv), vh)) / of_rows(s));
    return made;
  }

  /// A wide matrix is [X, Y] with X = Q R1 and Y = Q R2.
  Array qr_gradient(const Array& a, const Array& gradient_q, const Array& gradient_r) const {
    const int64_t m = rows(a), n = columns(a);
    if (m >= n) return square_qr_gradient(a, gradient_q, gradient_r);
    const Array x = narrowed(a, 0, m), y = narrowed(a, m, n), right = narrowed(gradient_r, m, n);
    const Array from_right = matmul(y, adjoint(right)), of_q = gradient_q ? gradient_q + from_right : from_right;
    const std::vector<Array> d = linalg::qr(x, "reduced");
    const Array of_x = square_qr_gradient(x, of_q, narrowed(gradient_r, 0, m)), of_y = matmul(d[0], right);
    return concatenate(std::vector<Array>{of_x, of_y}, -1);
  }
  static Array square_qr_gradient(const Array& a, const Array& gradient_q, const Array& gradient_r) {
    const std::vector<Array> d = linalg::qr(a, "reduced");
    const Array &q = d[0], &r = d[1];
    Array m = matmul(gradient_r, adjoint(r));
    if (gradient_q) m = m - matmul(adjoint(q), gradient_q);
    const Array above = triu(m, 1);
    Array of_q = matmul(q, above + adjoint(above) + identity(m) * bc::real(m));
    if (gradient_q) of_q = of_q + gradient_q;
    return adjoint(linalg::triangular_solve(r, adjoint(of_q), false, Transposed::no, false));
  }

  /// For matrices of full rank, of which the solution is a smooth function.
  std::vector<Array> of_lstsq(const Array& g, const Array& squares, const Array& values) const {
    const Array &a = saved[0], &b = saved[1], ah = adjoint(a);
    const std::vector<Array> d = linalg::svd(a, Vectors::thin);
    const Array of_values = matmul(d[0] * of_columns(values), d[2]);
    if (rows(a) < columns(a)) {
      const Array gram = matmul(a, ah), y = linalg::solve(gram, b), w = linalg::solve(gram, matmul(a, g)), x = matmul(ah, y);
      return {matmul(y, adjoint(g - matmul(ah, w))) - matmul(w, adjoint(x)) + of_values, w};
    }
    const Array gram = matmul(ah, a), x = linalg::solve(gram, matmul(ah, b)), rest = b - matmul(a, x);
    const Array z = linalg::solve(gram, g), of_rest = rest * of_columns(squares) * Arg(2.0), az = matmul(a, z);
    return {matmul(rest, adjoint(z)) - matmul(az + of_rest, adjoint(x)) + of_values, az + of_rest};
  }
};

}  // namespace

Ref<GradFunction> linalg_function(std::span<const Array> inputs, const LinalgExtra& op, Value value) {
  if (!LinalgFunction::has_rule(op, inputs)) return nullptr;
  return new LinalgFunction(op, inputs, std::move(value));
}

}  // namespace bc::autograd
