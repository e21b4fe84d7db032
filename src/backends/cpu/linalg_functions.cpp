// Functions of matrices and equations of triangular matrices on the CPU.
#include <array>
#include <cmath>
#include <initializer_list>
#include <utility>
#include <vector>

#include "backends/cpu/linalg_stack.h"

namespace bc::cpu::dense {
namespace {

/// |a|, without the care for numbers whose squares are out of range that takes most of std::abs's time.
template <class T>
Real<T> magnitude(T a) {
  if constexpr (is_complex_v<T>)
    return std::sqrt(a.real() * a.real() + a.imag() * a.imag());
  else
    return std::abs(a);
}

/// a * b; complex products have no special cases for infinities.
template <class T>
T product_of(T a, T b) {
  if constexpr (is_complex_v<T>)
    return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
  else
    return a * b;
}

// ---- Functions of triangular matrices ---------------------------------------------------------------------------------------------------

/// The square root r of an upper triangular t (Björck & Hammarling, 1983): column by column, from the diagonal upwards. Returns 0 or the
/// number of a column without one.
template <class T>
int root_of_triangle(const T* t, T* r, int64_t n) {
  std::fill_n(r, n * n, T(0));
  int info = 0;
  for (int64_t j = 0; j < n; ++j) {
    T* const column = r + j * n;
    column[j] = std::sqrt(t[j + j * n]);
    std::copy_n(t + j * n, j, column);
    for (int64_t row = j - 1; row >= 0; --row) {
      const T denominator = r[row + row * n] + column[j];
      if (column[row] != T(0)) {
        if (denominator == T(0)) info = static_cast<int>(j + 1);
        column[row] /= denominator;
      }
      // The new element's contribution to the elements above it.
      const T found = column[row];
      for (int64_t k = 0; k < row; ++k) column[k] -= product_of(r[k + row * n], found);
    }
  }
  return info;
}

template <class T>
void triangular_sqrt(const Stack<T>& s) {
  const int64_t n = s.n;
  s.each(cube(static_cast<double>(n)), [&] {
    return [&, t = Scratch<T>(n * n), r = Scratch<T>(n * n)](int64_t i, const Walker& walk) {
      copy_matrix(s.input(0, walk), column_major(t.get(), n, n));
      *s.info(i) = root_of_triangle(t.get(), r.get(), n);
      copy_matrix(column_major(r.get(), n, n), row_major(s.part(0, i), n, n));
    };
  });
}

/// Makes the real Schur form z t z^T triangular, by a rotation for each pair of complex eigenvalues (Golub & Van Loan, section 7.4.1).
template <class R>
void make_triangular(std::complex<R>* t, std::complex<R>* z, int64_t n) {
  using C = std::complex<R>;
  for (int64_t m = n - 1; m > 0; --m) {
    const C a = t[m - 1 + (m - 1) * n], b = t[m - 1 + m * n], below = t[m + (m - 1) * n], d = t[m + m * n];
    if (std::abs(below) <= std::numeric_limits<R>::epsilon() * (std::abs(a) + std::abs(d))) {
      t[m + (m - 1) * n] = C(0);
      continue;
    }
    // The eigenvalue a + mu of the block, and the rotation that moves it to the first place.
    const C half = (a - d) / R(2), mu = half + std::sqrt(product_of(half, half) + product_of(b, below));
    const R size = std::hypot(std::abs(mu), std::abs(below));
    const C c = mu / size, sine = below / size;
    for (int64_t k = m - 1; k < n; ++k) {
      C &x = t[m - 1 + k * n], &y = t[m + k * n];
      const C first = product_of(std::conj(c), x) + product_of(std::conj(sine), y);
      y = product_of(c, y) - product_of(sine, x);
      x = first;
    }
    const auto turn_columns = [&](C* of, int64_t rows) {
      for (int64_t k = 0; k < rows; ++k) {
        C &x = of[k + (m - 1) * n], &y = of[k + m * n];
        const C first = product_of(x, c) + product_of(y, sine);
        y = product_of(y, std::conj(c)) - product_of(x, std::conj(sine));
        x = first;
      }
    };
    turn_columns(t, m + 1);
    turn_columns(z, n);
    t[m + (m - 1) * n] = C(0);
  }
}

template <class T>
void complex_schur(const Stack<T>& s) {
  using C = std::complex<Real<T>>;
  const int64_t n = s.n;
  s.each(20 * static_cast<double>(n) * n, [&] {
    return [&, t = Scratch<C>(n * n), z = Scratch<C>(n * n)](int64_t i, const Walker& walk) {
      copy_matrix(s.input(0, walk), column_major(t.get(), n, n));
      copy_matrix(s.input(1, walk), column_major(z.get(), n, n));
      make_triangular(t.get(), z.get(), n);
      *s.info(i) = 0;
      copy_matrix(column_major(t.get(), n, n), row_major(s.template part<C>(0, i), n, n));
      copy_matrix(column_major(z.get(), n, n), row_major(s.template part<C>(1, i), n, n));
    };
  });
}

template <class T>
bool is_triangle_with_positive_diagonal(const T* t, int64_t n) {
  if constexpr (!is_complex_v<T>)
    for (int64_t k = 0; k < n; ++k)
      if (!(t[k + k * n] > 0) || (k > 0 && t[k + (k - 1) * n] != T(0))) return false;
  return true;
}

/// Whether the imaginary parts are rounding beside the largest element.
template <class R>
bool is_nearly_real(const std::complex<R>* x, int64_t size) {
  R largest = 0, imaginary = 0;
  for (int64_t k = 0; k < size; ++k) {
    largest = std::max(largest, std::abs(x[k]));
    imaginary = std::max(imaginary, std::abs(x[k].imag()));
  }
  return imaginary <= 1000 * std::numeric_limits<R>::epsilon() * largest;
}

/// to = z r z^H, column-major; `to` may be r.
template <class T>
void similar(int n, const T* z, const T* r, T* scratch, T* to) {
  const T one(1), zero(0);
  const int ld = leading(n);
  call_lapack(BC_LAPACK(T, "gemm", "gemm"), "N", "N", &n, &n, &n, &one, z, &ld, r, &ld, &zero, scratch, &ld);
  call_lapack(BC_LAPACK(T, "gemm", "gemm"), "N", "C", &n, &n, &n, &one, scratch, &ld, z, &ld, &zero, to, &ld);
}

/// Square roots by Schur's form: the real one where it is triangular with a positive diagonal, else the complex. The second part tells
/// where the imaginary part of a real matrix' root is rounding; the third is the real part of such a root.
template <class T>
void square_root(const Stack<T>& s) {
  using R = Real<T>;
  using C = std::complex<R>;
  const int n = size_of(s.n);
  const int64_t size = s.n * s.n;
  s.each(30 * cube(n), [&] {
    return [&, n, size, schur = SchurRoutine<T>(n), t = Scratch<T>(size), z = Scratch<T>(size), r = Scratch<T>(size)](int64_t i,
                                                                                                                      const Walker& walk) {
      copy_matrix(s.input(0, walk), column_major(t.get(), n, n));
      int failed = 0;
      schur(t.get(), z.get(), &failed);
      C* const root = s.template part<C>(0, i);
      int missing = 0;
      const bool plain = !is_complex_v<T> && is_triangle_with_positive_diagonal(t.get(), n);
      if (plain) {
        missing = root_of_triangle(t.get(), r.get(), n);
        similar(n, z.get(), r.get(), t.get(), r.get());
        copy_matrix(column_major(r.get(), n, n), row_major(root, n, n));
      } else {
        const Scratch<C> complex_t(size), complex_z(size), complex_r(size);
        std::copy_n(t.get(), size, complex_t.get());
        std::copy_n(z.get(), size, complex_z.get());
        if constexpr (!is_complex_v<T>) make_triangular(complex_t.get(), complex_z.get(), n);
        missing = root_of_triangle(complex_t.get(), complex_r.get(), n);
        similar(n, complex_z.get(), complex_r.get(), complex_t.get(), complex_r.get());
        copy_matrix(column_major(complex_r.get(), n, n), row_major(root, n, n));
      }
      *s.template part<int32_t>(1, i) = plain || is_nearly_real(root, size);
      if constexpr (!is_complex_v<T>) {
        R* const real = s.template part<R>(2, i);
        for (int64_t k = 0; k < size; ++k) real[k] = root[k].real();
      }
      *s.info(i) = failed != 0 ? failed : missing;
    };
  });
}

/// Parlett's recurrence (Golub & Van Loan, section 9.1), diagonal by diagonal. Both matrices are kept by rows and by columns, whose
/// products read memory in order.
template <class T>
void parlett(const Stack<T>& s) {
  using R = Real<T>;
  const int64_t n = s.n;
  s.each(cube(static_cast<double>(n)), [&] {
    return [&, rows = Scratch<T>(2 * n * n), columns = Scratch<T>(2 * n * n), values = Scratch<T>(n)](int64_t i, const Walker& walk) {
      T *t = rows.get(), *f = t + n * n, *t_columns = columns.get(), *f_columns = t_columns + n * n;
      copy_matrix(s.input(0, walk), row_major(t, n, n));
      copy_matrix(s.input(0, walk), column_major(t_columns, n, n));
      copy_matrix(s.input(1, walk), column_major(values.get(), n, 1));
      std::fill_n(f, n * n, T(0));
      for (int64_t k = 0; k < n; ++k) f[k + k * n] = f_columns[k + k * n] = values[k];
      R least = n > 0 ? std::abs(t[0]) : R(0);
      for (int64_t p = 1; p < n; ++p) {
        for (int64_t row = 0; row + p < n; ++row) {
          const int64_t column = row + p;
          const T *t_row = t + row * n, *f_row = f + row * n, *t_column = t_columns + column * n, *f_column = f_columns + column * n;
          T sum = product_of(t_row[column], f_column[column] - f_row[row]);
          for (int64_t k = row + 1; k < column; ++k) sum += product_of(t_row[k], f_column[k]) - product_of(f_row[k], t_column[k]);
          const T distance = t_column[column] - t_row[row];
          if (distance != T(0)) sum /= distance;
          f[row * n + column] = f_columns[column * n + row] = sum;
          least = std::min(least, std::abs(distance));
        }
      }
      *s.info(i) = 0;
      *s.template part<R>(1, i) = least;
      copy_matrix(row_major(f, n, n), row_major(s.part(0, i), n, n));
    };
  });
}

// ---- The exponential --------------------------------------------------------------------------------------------------------------------

/// Higham (2005), "The scaling and squaring method for the matrix exponential revisited": the largest 1-norm for which a Padé approximant
/// of a degree is exact to double precision.
constexpr struct {
  int degree;
  double bound;
} kPade[] = {
    {3, 1.495585217958292e-2}, {5, 2.539398330063230e-1}, {7, 9.504178996162932e-1}, {9, 2.097847961257068e0}, {13, 5.371920351148152e0}};

/// The coefficients of the [p/p] approximant's numerator, the last one 1: all are integers.
std::array<double, 14> pade_coefficients(int p) {
  std::array<double, 14> c{};
  unsigned __int128 value = 1;
  c[static_cast<size_t>(p)] = 1;
  for (int k = p; k > 0; --k) {
    value = value * static_cast<unsigned>((2 * p - k + 1) * k) / static_cast<unsigned>(p - k + 1);
    c[static_cast<size_t>(k - 1)] = static_cast<double>(value);
  }
  return c;
}

/// The exponential of matrices of one size, column-major. All factors are polynomials of one matrix, so their order does not matter.
template <class T>
class Exponential {
 public:
  using R = Real<T>;
  explicit Exponential(int n) : n_(n), size_(int64_t{n} * n), memory_(8 * size_), sums_(2 * int64_t{n}), pivots_(n) {}

  /// Replaces `a` by its exponential.
  void operator()(T* a) {
    const R norm = norm_of(a);
    if (!std::isfinite(norm)) {
      std::fill_n(a, size_, T(std::numeric_limits<R>::quiet_NaN()));
      return;
    }
    for (const auto& [degree, bound] : kPade)
      if (norm <= static_cast<R>(bound) && degree < 13) return low(a, degree);
    even_powers(a);
    const int halvings = halvings_of(a, norm);
    const R share = std::exp2(R(-halvings));
    scale(a, share);
    // The powers are scaled rather than computed anew, unless one of them is out of range.
    if (halvings * 6 < -std::numeric_limits<R>::min_exponent && std::isfinite(norm_of(at(3))))
      for (int k = 1; k <= 3; ++k) scale(at(k), std::pow(share, R(2 * k)));
    else
      even_powers(a);
    high(a);
    for (int k = 0; k < halvings; ++k) {
      multiply(a, a, at(0));
      std::copy_n(at(0), size_, a);
    }
  }

 private:
  T* at(int k) const { return memory_.get() + k * size_; }

  void multiply(const T* x, const T* y, T* to) const {
    if (n_ > 12) {
      const T one(1), zero(0);
      const int ld = leading(n_);
      call_lapack(BC_LAPACK(T, "gemm", "gemm"), "N", "N", &n_, &n_, &n_, &one, y, &ld, x, &ld, &zero, to, &ld);
      return;
    }
    // For the smallest a call takes longer than the arithmetic.
    std::fill_n(to, size_, T(0));
    for (int i = 0; i < n_; ++i)
      for (int k = 0; k < n_; ++k) {
        const T factor = x[i * n_ + k];
        for (int j = 0; j < n_; ++j) to[i * n_ + j] += product_of(factor, y[k * n_ + j]);
      }
  }
  /// The largest sum of a row's magnitudes.
  R norm_of(const T* a) const {
    std::fill_n(sums_.get(), n_, R(0));
    for (int i = 0; i < n_; ++i)
      for (int j = 0; j < n_; ++j) sums_[j] += magnitude(a[i * n_ + j]);
    R largest = 0;
    for (int j = 0; j < n_; ++j)
      if (!(sums_[j] <= largest)) largest = sums_[j];  // NaN, too
    return largest;
  }
  void scale(T* a, R factor) const {
    for (int64_t k = 0; k < size_; ++k) a[k] *= factor;
  }
  /// The second, fourth and sixth power in 1, 2 and 3.
  void even_powers(const T* a) const {
    multiply(a, a, at(1));
    multiply(at(1), at(1), at(2));
    multiply(at(2), at(1), at(3));
  }
  /// How often the matrix is halved, and its exponential squared (Al-Mohy & Higham, "A new scaling and squaring algorithm for the matrix
  /// exponential", 2009): roots of the norms of powers may be far below the norm, and squarings that are not needed cost digits.
  int halvings_of(const T* a, R norm) const {
    const double bound = kPade[4].bound;
    const auto count = [&](double size) { return std::ceil(std::log2(std::max(size / bound, 1.0))); };
    const double root = std::max(std::pow(norm_of(at(2)), 1 / 4.0), std::pow(norm_of(at(3)), 1 / 6.0));
    const double plain = count(norm), least = count(root < norm ? root : norm);
    if (least == plain) return static_cast<int>(plain);
    // Rounding in |A| may cost more than the powers tell: the leading term of the approximant's error of |A| is to be below the precision.
    R *row = sums_.get(), *next = row + n_;
    std::fill_n(row, n_, R(1));
    for (int step = 0; step < 27; ++step) {
      std::fill_n(next, n_, R(0));
      for (int i = 0; i < n_; ++i)
        for (int j = 0; j < n_; ++j) next[j] += row[i] * (magnitude(a[i * n_ + j]) / norm);
      std::copy_n(next, n_, row);
    }
    const double largest = std::log2(static_cast<double>(*std::max_element(row, row + n_)));
    const double log_factor = (2 * std::lgamma(14.0) - std::lgamma(27.0) - std::lgamma(28.0)) / std::log(2.0);
    const double more = std::ceil((log_factor + 26 * (std::log2(static_cast<double>(norm)) - least) + largest + 53) / 26);
    return static_cast<int>(least + std::max(more, 0.0));
  }
  void add_scaled(T* __restrict to, R factor, const T* __restrict matrix) const {
    for (int64_t k = 0; k < size_; ++k) to[k] += factor * matrix[k];
  }
  /// to = the sum of factors times matrices, and `one` times the identity.
  void combine(T* to, double one, std::initializer_list<std::pair<double, const T*>> terms) const {
    std::fill_n(to, size_, T(0));
    for (const auto& [factor, matrix] : terms) add_scaled(to, static_cast<R>(factor), matrix);
    for (int k = 0; k < n_; ++k) to[k * (int64_t{n_} + 1)] += static_cast<R>(one);
  }
  void low(T* a, int degree) {
    const auto c = pade_coefficients(degree);
    T *power = at(2), *other = at(3);
    multiply(a, a, at(1));
    std::copy_n(at(1), size_, power);
    combine(at(4), c[1], {{c[3], power}});
    combine(at(5), c[0], {{c[2], power}});
    for (size_t k = 4; k < static_cast<size_t>(degree); k += 2) {
      multiply(power, at(1), other);
      std::swap(power, other);
      add_scaled(at(4), static_cast<R>(c[k + 1]), power);
      add_scaled(at(5), static_cast<R>(c[k]), power);
    }
    quotient(a);
  }
  void high(T* a) {
    const auto c = pade_coefficients(13);
    const T *a2 = at(1), *a4 = at(2), *a6 = at(3);
    for (size_t odd : {size_t{1}, size_t{0}}) {
      T* to = at(odd ? 4 : 5);
      combine(at(6), 0, {{c[12 + odd], a6}, {c[10 + odd], a4}, {c[8 + odd], a2}});
      multiply(a6, at(6), at(7));
      combine(to, c[odd], {{1.0, at(7)}, {c[6 + odd], a6}, {c[4 + odd], a4}, {c[2 + odd], a2}});
    }
    quotient(a);
  }
  /// a = (even - a odd)^-1 (even + a odd), of the parts in 5 and 4.
  void quotient(T* a) {
    multiply(a, at(4), at(6));
    for (int64_t k = 0; k < size_; ++k) {
      a[k] = at(5)[k] + at(6)[k];
      at(5)[k] -= at(6)[k];
    }
    const int ld = leading(n_);
    int info = 0;
    call_lapack(BC_LAPACK(T, "gesv", "gesv"), &n_, &n_, at(5), &ld, pivots_.get(), a, &ld, &info);
    if (info != 0) std::fill_n(a, size_, T(std::numeric_limits<R>::quiet_NaN()));
  }

  const int n_;
  const int64_t size_;
  Scratch<T> memory_;
  Scratch<R> sums_;
  Scratch<int> pivots_;
};

/// Whether a matrix has only zeros above the diagonal.
template <class T>
bool is_lower(const Matrix<const T>& a) {
  for (int64_t i = 0; i < a.rows; ++i)
    for (int64_t j = i + 1; j < a.columns; ++j)
      if (a.data[i * a.row_stride + j * a.column_stride] != T(0)) return false;
  return true;
}

template <class T>
void exponential(const Stack<T>& s) {
  const int n = size_of(s.n);
  s.each(20 * cube(n), [&] {
    return [&, run = Exponential<T>(n), memory = Scratch<T>(s.n * s.n)](int64_t i, const Walker& walk) mutable {
      // LAPACK's exchanges of rows keep an upper triangle as it is, but not a lower one, which is therefore transposed.
      const Matrix<const T> a = s.input(0, walk);
      const Matrix<T> work = is_lower(a) ? row_major(memory.get(), n, n) : column_major(memory.get(), n, n);
      copy_matrix(a, work);
      run(memory.get());
      copy_matrix(work, row_major(s.part(0, i), n, n));
      *s.info(i) = 0;
    };
  });
}

// ---- Sylvester's equation -------------------------------------------------------------------------------------------------------------

/// The eigenvalues of a Schur form, whose 2 x 2 blocks, if it is real, have equal elements on the diagonal.
template <class T>
std::vector<std::complex<Real<T>>> schur_eigenvalues(const T* t, int64_t n) {
  std::vector<std::complex<Real<T>>> found(static_cast<size_t>(n));
  for (int64_t k = 0; k < n; ++k) {
    const T middle = t[k + k * n];
    found[static_cast<size_t>(k)] = middle;
    if constexpr (!is_complex_v<T>)
      if (k + 1 < n && t[k + 1 + k * n] != T(0)) {
        const T imaginary = std::sqrt(std::abs(t[k + 1 + k * n])) * std::sqrt(std::abs(t[k + (k + 1) * n]));
        found[static_cast<size_t>(k)] = {middle, imaginary};
        ++k;
        found[static_cast<size_t>(k)] = {middle, -imaginary};
      }
  }
  return found;
}
template <class T>
Real<T> frobenius_norm(const T* t, int64_t size) {
  Real<T> sum = 0;
  for (int64_t k = 0; k < size; ++k) sum += std::norm(t[k]);
  return std::sqrt(sum);
}
/// Whether an eigenvalue of r is, up to rounding, the negative of one of s, or of its conjugate.
template <class T>
bool is_singular(const T* r, int64_t m, const T* s, int64_t n, bool conjugate) {
  const Real<T> bound = std::numeric_limits<Real<T>>::epsilon() * (frobenius_norm(r, m * m) + frobenius_norm(s, n * n));
  const auto of_s = schur_eigenvalues(s, n);
  for (const auto& a : schur_eigenvalues(r, m))
    for (const auto& b : of_s)
      if (std::abs(a + (conjugate ? std::conj(b) : b)) <= bound) return true;
  return false;
}

/// x of r x + x op(s) = f for Schur forms r and s. `info` is set where there is no unique x.
template <class T>
void sylvester(const Stack<T>& s) {
  using R = Real<T>;
  const int m = size_of(s.rows_of(2)), n = size_of(s.columns_of(2)), lda = leading(m), ldb = leading(n), sign = 1;
  s.each(static_cast<double>(m) * n * (m + n), [&] {
    return
        [&, r = Scratch<T>(int64_t{m} * m), t = Scratch<T>(int64_t{n} * n), x = Scratch<T>(int64_t{m} * n)](int64_t i, const Walker& walk) {
          copy_matrix(s.input(0, walk), column_major(r.get(), m, m));
          copy_matrix(s.input(1, walk), column_major(t.get(), n, n));
          copy_matrix(s.input(2, walk), column_major(x.get(), m, n));
          R scale = 1;
          call_lapack(BC_LAPACK(T, "trsyl", "trsyl"), "N", flag(s.op.transposed), &sign, &m, &n, r.get(), &lda, t.get(), &ldb, x.get(),
                      &lda, &scale, s.info(i));
          *s.info(i) = is_singular(r.get(), m, t.get(), n, s.op.transposed == Transposed::conjugate);
          if (scale != R(1)) std::transform(x.get(), x.get() + int64_t{m} * n, x.get(), [&](const T& v) { return v / scale; });
          copy_matrix(column_major(x.get(), m, n), row_major(s.part(0, i), m, n));
        };
  });
}

// ---- Changed QR factors
// ------------------------------------------------------------------------------------------------------------------

/// The rotation that takes (x, y) to (length, 0): c x + s y and c y - conj(s) x.
template <class T>
struct Rotation {
  Real<T> c;
  T s, length;

  Rotation(T x, T y) {
    const Real<T> size_x = std::abs(x), size = std::hypot(size_x, std::abs(y));
    const T direction = size_x == 0 ? T(1) : x / size_x;
    c = size_x / size;
    if constexpr (is_complex_v<T>)
      s = direction * std::conj(y) / size;
    else
      s = direction * y / size;
    length = direction * size;
  }
  /// Rotates two rows; of a matrix whose columns are to be rotated back, `adjoint`.
  void operator()(T* __restrict x, T* __restrict y, int64_t n, bool adjoint) const {
    const auto conjugate = [](T v) {
      if constexpr (is_complex_v<T>)
        return std::conj(v);
      else
        return v;
    };
    const T first = adjoint ? conjugate(s) : s, second = adjoint ? s : conjugate(s);
    for (int64_t k = 0; k < n; ++k) {
      const T a = x[k], b = y[k];
      x[k] = c * a + product_of(first, b);
      y[k] = c * b - product_of(second, a);
    }
  }
};

/// QR factors while their matrix changes: the columns of Q and the rows of R lie one after another, so that a rotation of two of them runs
/// over contiguous memory (Daniel, Gragg, Kaufman & Stewart, 1976; Golub & Van Loan, "Matrix Computations", 6.5).
template <class T>
struct ChangingQr {
  const int64_t length, rows, stride;  ///< of Q's columns, of them, and of the rows of R
  T *const q, *const r, *const w;      ///< w: one number for each column of Q

  T* column(int64_t j) const { return q + j * length; }
  T* row(int64_t i) const { return r + i * stride; }

  static void rotate(const Rotation<T>& rotation, T* x, T* y, int64_t n, bool adjoint) {
    constexpr int64_t kLong = 24;  // elements from which a call of BLAS is faster
    if constexpr (!is_complex_v<T>) {
      if (n >= kLong) {
        const int count = size_of(n), one = 1;
        call_lapack(BC_LAPACK(T, "rot", "rot"), &count, x, &one, y, &one, &rotation.c, &rotation.s);
        return;
      }
    }
    rotation(x, y, n, adjoint);
  }
  /// Rotates rows i and i + 1 of R from a column on, and the columns of Q back.
  void turn(const Rotation<T>& rotation, int64_t i, int64_t from, int64_t columns) const {
    if (from < columns) rotate(rotation, row(i) + from, row(i + 1) + from, columns - from, false);
    rotate(rotation, column(i), column(i + 1), length, true);
  }
  /// Takes w to zero behind element `top`; row i of R has elements from column i - top on, or with `whole` from column i on.
  void collapse(int64_t top, int64_t columns, bool whole) const {
    for (int64_t i = rows - 2; i >= top; --i) {
      if (w[i + 1] == T(0)) continue;
      const Rotation<T> rotation(w[i], w[i + 1]);
      w[i] = rotation.length;
      w[i + 1] = T(0);
      turn(rotation, i, whole ? i : i - top, columns);
    }
  }
  /// Takes R, which has `below` diagonals below the main one from a column on, to a triangle.
  void make_triangle(int64_t first, int64_t below, int64_t columns) const {
    for (int64_t j = first; j < std::min(columns, rows - 1); ++j)
      for (int64_t i = std::min(j + below, rows - 1) - 1; i >= j; --i) {
        T *x = row(i) + j, *y = row(i + 1) + j;
        if (*y == T(0)) continue;
        const Rotation<T> rotation(*x, *y);
        turn(rotation, i, j, columns);
        *x = rotation.length;
        *y = T(0);
      }
  }
  /// to = Q^H u of the first `count` columns of Q.
  void project(const T* u, int64_t count, T* to) const {
    for (int64_t j = 0; j < count; ++j) to[j] = dot(column(j), u, length);
  }
  static T dot(const T* x, const T* y, int64_t n) {
    T sums[4] = {};
    int64_t k = 0;
    const auto product = [](T a, T b) {
      if constexpr (is_complex_v<T>)
        return product_of(std::conj(a), b);
      else
        return a * b;
    };
    for (; k + 4 <= n; k += 4)
      for (int64_t l = 0; l < 4; ++l) sums[l] += product(x[k + l], y[k + l]);
    for (; k < n; ++k) sums[0] += product(x[k], y[k]);
    return (sums[0] + sums[1]) + (sums[2] + sums[3]);
  }
  /// Makes the last column of Q of what u has outside of the others, whose coordinates go to w.
  void extend(T* u) const {
    const int64_t last = rows - 1;
    std::fill_n(w, rows, T(0));
    std::vector<T> part(static_cast<size_t>(last));
    // Twice, because the first rest is orthogonal to the precision of u only.
    for (int pass = 0; pass < 2; ++pass) {
      project(u, last, part.data());
      for (int64_t j = 0; j < last; ++j) {
        w[j] += part[static_cast<size_t>(j)];
        for (int64_t i = 0; i < length; ++i) u[i] -= product_of(part[static_cast<size_t>(j)], column(j)[i]);
      }
    }
    const Real<T> size = std::sqrt(std::real(dot(u, u, length)));
    w[last] = size;
    for (int64_t i = 0; i < length; ++i) column(last)[i] = size == 0 ? T(0) : u[i] / size;
    std::fill_n(row(last), stride, T(0));
  }
};

template <class T>
T conjugate_of(T v) {
  if constexpr (is_complex_v<T>)
    return std::conj(v);
  else
    return v;
}

/// Copies element by element a column of a matrix.
template <class T>
void copy_column(const Matrix<const T>& a, int64_t j, T* to) {
  for (int64_t i = 0; i < a.rows; ++i) to[i] = a.data[i * a.row_stride + j * a.column_stride];
}

/// Q R + u v^H. Of an economic Q the first columns are kept, as many as it had.
template <class T>
void qr_update(const ChangingQr<T>& f, bool economic, const Matrix<const T>& u, const Matrix<const T>& v) {
  std::vector<T> vector(static_cast<size_t>(f.length));
  for (int64_t c = 0; c < u.columns; ++c) {
    copy_column(u, c, vector.data());
    if (economic)
      f.extend(vector.data());
    else
      f.project(vector.data(), f.rows, f.w);
    f.collapse(0, f.stride, true);
    for (int64_t j = 0; j < f.stride; ++j) f.r[j] += product_of(f.w[0], conjugate_of(v.data[j * v.row_stride + c * v.column_stride]));
    f.make_triangle(0, 1, f.stride);
  }
}

/// The columns of u before column k; R has room for them.
template <class T>
void qr_insert_columns(const ChangingQr<T>& f, int64_t k, const Matrix<const T>& u) {
  std::vector<T> vector(static_cast<size_t>(f.length));
  for (int64_t c = 0; c < u.columns; ++c) {
    const int64_t at = k + c, columns = f.stride - u.columns + c;
    copy_column(u, c, vector.data());
    f.project(vector.data(), f.rows, f.w);
    f.collapse(at, columns, true);
    for (int64_t i = 0; i < f.rows; ++i) {
      T* const row = f.row(i);
      std::copy_backward(row + at, row + columns, row + columns + 1);
      row[at] = i <= at ? f.w[i] : T(0);
    }
  }
}

/// The memory of the factors is filled with them, at the places where the change needs them.
template <class T>
void load_qr(const ChangingQr<T>& f, const Stack<T>& s, const Walker& walk) {
  const int64_t k = s.op.below, p = s.op.count;
  const Matrix<const T> q = s.input(0, walk), r = s.input(1, walk);
  const auto part = [](const Matrix<const T>& a, int64_t row, int64_t rows, int64_t column, int64_t columns) {
    return Matrix<const T>{a.data + row * a.row_stride + column * a.column_stride, rows, columns, a.row_stride, a.column_stride};
  };
  const auto to = [&](T* at, int64_t rows, int64_t columns) { return Matrix<T>{at, rows, columns, f.stride, 1}; };
  if (s.op.change == QrChange::insert_rows) {
    std::fill_n(f.q, f.rows * f.length, T(0));
    for (int64_t j = 0; j < p; ++j) f.column(j)[k + j] = T(1);
    copy_matrix(part(q, 0, k, 0, q.columns), column_major(f.column(p), k, q.columns, f.length));
    copy_matrix(part(q, k, q.rows - k, 0, q.columns), column_major(f.column(p) + k + p, q.rows - k, q.columns, f.length));
    copy_matrix(s.input(2, walk), to(f.r, p, r.columns));
    copy_matrix(r, to(f.row(p), r.rows, r.columns));
    return;
  }
  copy_matrix(q, column_major(f.q, q.rows, q.columns, f.length));
  if (s.op.change != QrChange::delete_columns) return copy_matrix(r, to(f.r, r.rows, r.columns));
  copy_matrix(part(r, 0, r.rows, 0, k), to(f.r, r.rows, k));
  copy_matrix(part(r, 0, r.rows, k + p, r.columns - k - p), to(f.r + k, r.rows, r.columns - k - p));
}

template <class T>
void qr_changed(const Stack<T>& s) {
  const int64_t k = s.op.below, p = s.op.count, n = s.n;
  const QrChange change = s.op.change;
  const bool economic = s.m > n;
  const int64_t length = s.m + (change == QrChange::insert_rows ? p : 0);
  const int64_t rows = n + (change == QrChange::insert_rows ? p : change == QrChange::update && economic ? 1 : 0);
  const int64_t stride = s.columns_of(1) + (change == QrChange::insert_columns ? p : change == QrChange::delete_columns ? -p : 0);
  const Dims& shape = s.op.parts[0].shape;
  const int64_t kept = shape[shape.size() - 2], skipped = change == QrChange::delete_rows ? p : 0;
  s.each(6.0 * static_cast<double>(rows) * static_cast<double>(length + stride) * static_cast<double>(1 + p), [&] {
    return [&, q = Scratch<T>(rows * length), r = Scratch<T>(rows * stride), w = Scratch<T>(rows)](int64_t i, const Walker& walk) {
      const ChangingQr<T> f{length, rows, stride, q.get(), r.get(), w.get()};
      load_qr(f, s, walk);
      switch (change) {
        case QrChange::update: qr_update(f, economic, s.input(2, walk), s.input(3, walk)); break;
        case QrChange::insert_columns: qr_insert_columns(f, k, s.input(2, walk)); break;
        case QrChange::insert_rows: f.make_triangle(0, p, stride); break;
        case QrChange::delete_columns: f.make_triangle(k, p, stride); break;
        case QrChange::delete_rows:
          // Column c of Q becomes the unit vector of the row that goes.
          for (int64_t c = 0; c < p; ++c) {
            for (int64_t j = c; j < rows; ++j) w[j] = conjugate_of(f.column(j)[k + c]);
            f.collapse(c, stride, false);
          }
      }
      // Q goes out by columns, as it lies here.
      const int64_t before = skipped ? k : length, left = length - skipped;
      T* const to = s.part(0, i);
      copy_matrix(column_major(f.column(skipped), before, kept, length), column_major(to, before, kept, left));
      if (skipped)
        copy_matrix(column_major(f.column(p) + k + p, length - k - p, kept, length), column_major(to + k, length - k - p, kept, left));
      copy_matrix(Matrix<T>{f.row(skipped), kept, stride, stride, 1}, row_major(s.part(1, i), kept, stride));
      *s.info(i) = 0;
    };
  });
}

}  // namespace

template <class T>
void run_function(const Stack<T>& s) {
  switch (s.op.what) {
    case Linalg::triangular_sqrt: return triangular_sqrt(s);
    case Linalg::parlett: return parlett(s);
    case Linalg::exponential: return exponential(s);
    case Linalg::complex_schur: return complex_schur(s);
    case Linalg::square_root: return square_root(s);
    case Linalg::qr_changed: return qr_changed(s);
    default: return sylvester(s);
  }
}

template void run_function(const Stack<float>& s);
template void run_function(const Stack<double>& s);
template void run_function(const Stack<std::complex<float>>& s);
template void run_function(const Stack<std::complex<double>>& s);

}  // namespace bc::cpu::dense
