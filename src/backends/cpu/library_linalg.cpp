// Linear algebra on the CPU: each matrix of a stack is packed in column-major order and passed to LAPACK. A matrix to factorize is always
// packed, even where the transposed memory could be used: pivots, signs and the test for singularity would otherwise differ from NumPy's.
// Factors are used transposed.
#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "backends/cpu/lapack.h"
#include "backends/cpu/library.h"
#include "backends/cpu/linalg_stack.h"
#include "core/error.h"

namespace bc::cpu {
namespace {

using namespace dense;

// ---- Systems ------------------------------------------------------------------------------------------------------------------------

template <class T>
void solve(const Stack<T>& s) {
  const int n = size_of(s.n), k = size_of(s.columns_of(1)), ld = leading(n);
  s.each(cube(n) * 0.7 + 2.0 * n * n * k, [&] {
    return [&, a = Scratch<T>(s.n * s.n), b = Scratch<T>(s.n * k), pivots = Scratch<int>(n)](int64_t i, const Walker& walk) {
      copy_matrix(s.input(0, walk), column_major(a.get(), n, n));
      copy_matrix(s.input(1, walk), column_major(b.get(), n, k));
      call_lapack(BC_LAPACK(T, "gesv", "gesv"), &n, &k, a.get(), &ld, pivots.get(), b.get(), &ld, s.info(i));
      copy_matrix(column_major(b.get(), n, k), row_major(s.part(0, i), n, k));
    };
  });
}

template <class T>
void factorize(int rows, int columns, T* a, int* pivots, int* info) {
  const int ld = leading(rows);
  call_lapack(BC_LAPACK(T, "getrf", "getrf"), &rows, &columns, a, &ld, pivots, info);
}

/// Sets the other triangle of a Hermitian matrix to the conjugates of one.
template <class T>
void mirror_triangle(const Matrix<T>& of, bool lower) {
  constexpr int64_t kTile = 16;
  const Matrix<T> m = lower ? of : of.transposed();
  for (int64_t i0 = 0; i0 < m.rows; i0 += kTile)
    for (int64_t j0 = 0; j0 <= i0; j0 += kTile)
      for (int64_t i = i0; i < std::min(i0 + kTile, m.rows); ++i)
        for (int64_t j = j0; j < std::min(j0 + kTile, i); ++j) {
          const T v = m.data[i * m.row_stride + j * m.column_stride];
          if constexpr (is_complex_v<T>)
            m.data[j * m.row_stride + i * m.column_stride] = std::conj(v);
          else
            m.data[j * m.row_stride + i * m.column_stride] = v;
        }
}

/// The inverse by way of the factors' inverses, as SciPy has it.
template <class T>
void inverse_of_factors(const Stack<T>& s) {
  const int n = size_of(s.n), ld = leading(n), asks = -1;
  T wanted{};
  int ignored = 0;
  call_lapack(BC_LAPACK(T, "getri", "getri"), &n, &wanted, &ld, &ignored, &wanted, &asks, &ignored);
  const int lwork = told_size(wanted);
  s.each(2.0 * cube(n), [&] {
    return [&, a = Scratch<T>(s.n * s.n), work = Scratch<T>(lwork), pivots = Scratch<int>(n)](int64_t i, const Walker& walk) {
      copy_matrix(s.input(0, walk), column_major(a.get(), n, n));
      call_lapack(BC_LAPACK(T, "getrf", "getrf"), &n, &n, a.get(), &ld, pivots.get(), s.info(i));
      if (*s.info(i) == 0) call_lapack(BC_LAPACK(T, "getri", "getri"), &n, a.get(), &ld, pivots.get(), work.get(), &lwork, s.info(i));
      if (*s.info(i) != 0) std::fill_n(a.get(), s.n * s.n, T(std::numeric_limits<Real<T>>::quiet_NaN()));
      copy_matrix(column_major(a.get(), n, n), row_major(s.part(0, i), n, n));
    };
  });
}

/// Solves with the identity matrix, as NumPy does: getri needs a quarter fewer operations, but gives zeros different signs.
template <class T>
void inverse(const Stack<T>& s) {
  const int n = size_of(s.n), ld = leading(n);
  s.each(2.7 * cube(n), [&] {
    return [&, a = Scratch<T>(s.n * s.n), x = Scratch<T>(s.n * s.n), pivots = Scratch<int>(n)](int64_t i, const Walker& walk) {
      copy_matrix(s.input(0, walk), column_major(a.get(), n, n));
      set_identity(column_major(x.get(), n, n));
      call_lapack(BC_LAPACK(T, "gesv", "gesv"), &n, &n, a.get(), &ld, pivots.get(), x.get(), &ld, s.info(i));
      if (*s.info(i) != 0) std::fill_n(x.get(), s.n * s.n, T(std::numeric_limits<Real<T>>::quiet_NaN()));
      copy_matrix(column_major(x.get(), n, n), row_major(s.part(0, i), n, n));
    };
  });
}

/// The inverse of a triangle, or of a positive definite matrix of which a triangle is read: a row-major matrix is its transpose to LAPACK,
/// whose inverse is the transpose of the result, so that nothing is transposed.
template <class T>
void known_inverse(const Stack<T>& s) {
  if (s.op.pivoted) return inverse_of_factors(s);
  const int n = size_of(s.n), ld = leading(n);
  const bool lower = !s.op.lower;  // of the transpose
  const char* uplo = lower ? "L" : "U";
  s.each((s.op.hermitian ? 1.0 : 0.4) * cube(n), [&] {
    return [&](int64_t i, const Walker& walk) {
      T* const x = s.part(0, i);
      int* const info = s.info(i);
      copy_matrix(s.input(0, walk), row_major(x, n, n));
      if (s.op.hermitian) {
        call_lapack(BC_LAPACK(T, "potrf", "potrf"), uplo, &n, x, &ld, info);
        if (*info == 0) call_lapack(BC_LAPACK(T, "potri", "potri"), uplo, &n, x, &ld, info);
      } else {
        call_lapack(BC_LAPACK(T, "trtri", "trtri"), uplo, "N", &n, x, &ld, info);
      }
      if (*info != 0) {
        std::fill_n(x, s.n * s.n, T(std::numeric_limits<Real<T>>::quiet_NaN()));
        return;
      }
      const Matrix<T> made = column_major(x, n, n);
      if (s.op.hermitian)
        mirror_triangle(made, lower);
      else
        clear_triangle(made, !lower);
    };
  });
}

template <class T>
BC_LOOPS void determinant(const Stack<T>& s) {
  using R = Real<T>;
  const int n = size_of(s.n);
  s.each(0.7 * cube(n), [&] {
    return [&, a = Scratch<T>(s.n * s.n), pivots = Scratch<int>(n)](int64_t i, const Walker& walk) {
      copy_matrix(s.input(0, walk), column_major(a.get(), n, n));
      factorize(n, n, a.get(), pivots.get(), s.info(i));
      T sign(1);
      R logarithm = 0;
      for (int64_t k = 0; k < n; ++k) {
        const T d = a[k + k * n];
        const R size = std::abs(d);
        if (pivots[k] != k + 1) sign = -sign;
        if constexpr (is_complex_v<T>) {
          sign *= d / size;
        } else {
          if (d < 0) sign = -sign;
        }
        logarithm += std::log(size);
      }
      // A zero pivot is a valid result here (determinant 0), not an error.
      if (*s.info(i) > 0) sign = T(0), logarithm = -std::numeric_limits<R>::infinity();
      *s.info(i) = 0;
      *s.part(0, i) = sign;
      *s.template part<R>(1, i) = logarithm;
      *s.part(2, i) = sign * std::exp(logarithm);
    };
  });
}

template <class T>
void lu(const Stack<T>& s) {
  const int m = size_of(s.m), n = size_of(s.n), least = std::min(m, n);
  s.each(static_cast<double>(m) * n * least, [&] {
    return [&, a = Scratch<T>(s.m * s.n)](int64_t i, const Walker& walk) {
      copy_matrix(s.input(0, walk), column_major(a.get(), m, n));
      int32_t* pivots = s.template part<int32_t>(1, i);
      factorize(m, n, a.get(), pivots, s.info(i));
      for (int k = 0; k < least; ++k) --pivots[k];
      copy_matrix(column_major(a.get(), m, n), row_major(s.part(0, i), m, n));
    };
  });
}

/// A triangular matrix that is only read, in the form for a routine: in place if rows or columns are contiguous, else packed. The routine
/// sees a row-major matrix as its transpose.
template <class T>
class Triangle {
 public:
  explicit Triangle(int64_t size) : n_(size_of(size)) {}

  void read(const Matrix<const T>& a) {
    if (a.row_stride == 1 && a.column_stride >= n_) {
      set(a.data, a.column_stride, false);
    } else if (a.column_stride == 1 && a.row_stride >= n_) {
      set(a.data, a.row_stride, true);
    } else {
      pack(a);
    }
  }
  void pack(const Matrix<const T>& a) {
    if (!packed_) packed_.emplace(int64_t{n_} * n_);
    copy_matrix(a, column_major(packed_->get(), n_, n_));
    set(packed_->get(), n_, false);
  }
  /// b = inv(op(a)) b; `info` gets the number of a zero on the diagonal, unless the diagonal is `unit`.
  void solve(bool lower, Transposed how, bool unit, int k, T* b, int* info) const {
    const int ldb = leading(n_);
    const bool stored_lower = lower != transpose_;
    const char* op = flag(how);
    if (transpose_) op = how == Transposed::no ? "T" : "N";
    call_lapack(BC_LAPACK(T, "trtrs", "trtrs"), stored_lower ? "L" : "U", op, unit ? "U" : "N", &n_, &k, data_, &ld_, b, &ldb, info);
  }
  /// b = inv(a) b for the Cholesky factor of a.
  void solve_definite(bool lower, int k, T* b, int* info) const {
    const int ldb = leading(n_);
    // The transposed factor is the factor of a's conjugate.
    const auto conjugate = [&] {
      if constexpr (is_complex_v<T>)
        if (transpose_) std::transform(b, b + int64_t{n_} * k, b, [](const T& v) { return std::conj(v); });
    };
    conjugate();
    call_lapack(BC_LAPACK(T, "potrs", "potrs"), lower != transpose_ ? "L" : "U", &n_, &k, data_, &ld_, b, &ldb, info);
    conjugate();
  }

 private:
  void set(const T* data, int64_t ld, bool transpose) {
    data_ = data;
    ld_ = leading(ld);
    transpose_ = transpose;
  }

  const int n_;
  const T* data_ = nullptr;
  int ld_ = 1;
  bool transpose_ = false;
  std::optional<Scratch<T>> packed_;
};

/// Reads a triangle for op(a). Where elements must be conjugated, the matrix is packed.
template <class T>
void read_for(Triangle<T>& triangle, const Matrix<const T>& a, Transposed how) {
  if (is_complex_v<T> && how == Transposed::conjugate)
    triangle.pack(a);
  else
    triangle.read(a);
}

template <class T>
void lu_solve(const Stack<T>& s) {
  const int n = size_of(s.n), k = size_of(s.columns_of(2));
  const Transposed how = s.op.transposed;
  s.each(2.0 * n * n * k, [&] {
    return [&, a = Triangle<T>(s.n), b = Scratch<T>(s.n * k)](int64_t i, const Walker& walk) mutable {
      read_for(a, s.input(0, walk), how);
      const Matrix<const int32_t> pivots = s.template input<int32_t>(1, walk);
      copy_matrix(s.input(2, walk), column_major(b.get(), n, k));
      const auto exchange = [&](int row) {
        const int64_t other = pivots.data[row * pivots.row_stride];
        BC_CHECK(other >= 0 && other < n, Value, "lu_solve: expected pivots in [0, {}), got {}", n, other);
        if (other != row)
          for (int64_t j = 0; j < k; ++j) std::swap(b[row + j * n], b[other + j * n]);
      };
      if (how == Transposed::no) {
        for (int row = 0; row < n; ++row) exchange(row);
        a.solve(true, how, true, k, b.get(), s.info(i));
        a.solve(false, how, false, k, b.get(), s.info(i));
      } else {
        a.solve(false, how, false, k, b.get(), s.info(i));
        if (*s.info(i) == 0) a.solve(true, how, true, k, b.get(), s.info(i));
        for (int row = n - 1; row >= 0; --row) exchange(row);
      }
      // LAPACK's getrs divides by a zero pivot; that gives NaN here and no error.
      if (*s.info(i) != 0) std::fill_n(b.get(), s.n * k, T(std::numeric_limits<Real<T>>::quiet_NaN()));
      *s.info(i) = 0;
      copy_matrix(column_major(b.get(), n, k), row_major(s.part(0, i), n, k));
    };
  });
}

template <class T>
void triangular_solve(const Stack<T>& s) {
  const int n = size_of(s.n), k = size_of(s.columns_of(1));
  s.each(static_cast<double>(n) * n * k, [&] {
    return [&, a = Triangle<T>(s.n), b = Scratch<T>(s.n * k)](int64_t i, const Walker& walk) mutable {
      read_for(a, s.input(0, walk), s.op.transposed);
      copy_matrix(s.input(1, walk), column_major(b.get(), n, k));
      a.solve(s.op.lower, s.op.transposed, s.op.unit_diagonal, k, b.get(), s.info(i));
      copy_matrix(column_major(b.get(), n, k), row_major(s.part(0, i), n, k));
    };
  });
}

// ---- Cholesky -----------------------------------------------------------------------------------------------------------------------

template <class T>
void cholesky(const Stack<T>& s) {
  const int n = size_of(s.n), ld = leading(n);
  const char* uplo = s.op.lower ? "L" : "U";
  s.each(cube(n) / 3, [&] {
    return [&, a = Scratch<T>(s.n * s.n)](int64_t i, const Walker& walk) {
      copy_matrix(s.input(0, walk), column_major(a.get(), n, n));
      call_lapack(BC_LAPACK(T, "potrf", "potrf"), uplo, &n, a.get(), &ld, s.info(i));
      clear_triangle(column_major(a.get(), n, n), !s.op.lower);
      copy_matrix(column_major(a.get(), n, n), row_major(s.part(0, i), n, n));
    };
  });
}

template <class T>
void cholesky_solve(const Stack<T>& s) {
  const int n = size_of(s.n), k = size_of(s.columns_of(1));
  s.each(2.0 * n * n * k, [&] {
    return [&, a = Triangle<T>(s.n), b = Scratch<T>(s.n * k)](int64_t i, const Walker& walk) mutable {
      a.read(s.input(0, walk));
      copy_matrix(s.input(1, walk), column_major(b.get(), n, k));
      a.solve_definite(s.op.lower, k, b.get(), s.info(i));
      copy_matrix(column_major(b.get(), n, k), row_major(s.part(0, i), n, k));
    };
  });
}

// ---- Orthogonal factorizations --------------------------------------------------------------------------------------------------------

template <class T>
struct Householder {
  int m, n, lwork;

  Householder(int64_t rows, int64_t columns, int64_t q_columns) : m(size_of(rows)), n(size_of(columns)), lwork(1) {
    T wanted{};
    int info = 0;
    factor(nullptr, nullptr, &wanted, -1, &info);
    lwork = told_size(wanted);
    form(nullptr, size_of(q_columns), nullptr, &wanted, -1, &info);
    lwork = std::max(lwork, told_size(wanted));
    factor_pivoted(nullptr, nullptr, nullptr, &wanted, -1, nullptr, &info);
    lwork = std::max(lwork, told_size(wanted));
  }
  void factor(T* a, T* tau, T* work, int size, int* info) const {
    const int ld = leading(m);
    call_lapack(BC_LAPACK(T, "geqrf", "geqrf"), &m, &n, a, &ld, tau, work, &size, info);
  }
  /// Factorizes with column pivoting; order[j] becomes the number (from 1) of the column that is moved to j.
  void factor_pivoted(T* a, int* order, T* tau, T* work, int size, Real<T>* reals, int* info) const {
    const int ld = leading(m);
    if constexpr (is_complex_v<T>)
      call_lapack(BC_LAPACK(T, "geqp3", "geqp3"), &m, &n, a, &ld, order, tau, work, &size, reals, info);
    else
      call_lapack(BC_LAPACK(T, "geqp3", "geqp3"), &m, &n, a, &ld, order, tau, work, &size, info);
  }
  /// Computes the first columns of Q from the reflectors in the columns of `a`.
  void form(T* a, int columns, const T* tau, T* work, int size, int* info) const {
    const int ld = leading(m), reflectors = std::min({m, n, columns});
    call_lapack(BC_LAPACK(T, "orgqr", "ungqr"), &m, &columns, &reflectors, a, &ld, tau, work, &size, info);
  }
};

template <class T>
void qr(const Stack<T>& s) {
  const int64_t m = s.m, n = s.n, least = std::min(m, n);
  const bool wanted = s.op.vectors != Vectors::none;
  const int64_t columns = s.op.vectors == Vectors::full ? m : least;  // columns of Q
  const Householder<T> householder(m, n, columns);
  s.each(4.0 * m * n * least, [&] {
    return [&, a = Scratch<T>(m * std::max(n, columns)), tau = Scratch<T>(least), work = Scratch<T>(householder.lwork),
            reals = Scratch<Real<T>>(s.op.pivoted ? 2 * n : 0)](int64_t i, const Walker& walk) {
      copy_matrix(s.input(0, walk), column_major(a.get(), m, n));
      if (s.op.pivoted) {
        int32_t* const order = s.template part<int32_t>(wanted ? 2 : 1, i);
        std::fill_n(order, n, 0);
        householder.factor_pivoted(a.get(), order, tau.get(), work.get(), householder.lwork, reals.get(), s.info(i));
        for (int64_t k = 0; k < n; ++k) --order[k];
      } else {
        householder.factor(a.get(), tau.get(), work.get(), householder.lwork, s.info(i));
      }
      const Matrix<T> r = row_major(s.part(wanted ? 1 : 0, i), columns, n);
      copy_matrix(column_major(a.get(), columns, n, m), r);
      clear_triangle(r, true);
      if (!wanted || *s.info(i) != 0) return;
      householder.form(a.get(), static_cast<int>(columns), tau.get(), work.get(), householder.lwork, s.info(i));
      copy_matrix(column_major(a.get(), m, columns), row_major(s.part(0, i), m, columns));
    };
  });
}

template <class T>
void qr_raw(const Stack<T>& s) {
  const Householder<T> householder(s.m, s.n, 0);
  s.each(2.0 * s.m * s.n * std::min(s.m, s.n), [&] {
    return [&, work = Scratch<T>(householder.lwork)](int64_t i, const Walker& walk) {
      copy_matrix(s.input(0, walk), column_major(s.part(0, i), s.m, s.n));
      householder.factor(s.part(0, i), s.part(1, i), work.get(), householder.lwork, s.info(i));
    };
  });
}

template <class T>
void svd(const Stack<T>& s) {
  using R = Real<T>;
  const int m = size_of(s.m), n = size_of(s.n), least = std::min(m, n), ld = leading(m);
  const Vectors vectors = s.op.vectors;
  const char* job = vectors == Vectors::none ? "N" : vectors == Vectors::thin ? "S" : "A";
  const int64_t u_columns = vectors == Vectors::none ? 0 : vectors == Vectors::thin ? least : m;
  const int64_t v_rows = vectors == Vectors::none ? 0 : vectors == Vectors::thin ? least : n;
  const int ldv = leading(v_rows);
  const auto gesdd = [&](T* a, R* values, T* u, T* v, T* work, int lwork, R* reals, int* integers, int* info) {
    if constexpr (is_complex_v<T>)
      call_lapack(BC_LAPACK(T, "gesdd", "gesdd"), job, &m, &n, a, &ld, values, u, &ld, v, &ldv, work, &lwork, reals, integers, info);
    else
      call_lapack(BC_LAPACK(T, "gesdd", "gesdd"), job, &m, &n, a, &ld, values, u, &ld, v, &ldv, work, &lwork, integers, info);
  };
  T wanted{};
  R wanted_reals{};
  int wanted_integers = 0, ignored = 0;
  gesdd(nullptr, nullptr, nullptr, nullptr, &wanted, -1, &wanted_reals, &wanted_integers, &ignored);
  const int lwork = told_size(wanted);
  const int64_t k = least, most = std::max(m, n);
  const int64_t reals = is_complex_v<T> ? std::max({7 * k, 5 * k * k + 7 * k, 2 * most * k + 2 * k * k + k}) : 0;
  s.each((vectors == Vectors::none ? 4.0 : 14.0) * m * n * least, [&] {
    return [&, a = Scratch<T>(s.m * s.n), u = Scratch<T>(m * u_columns), v = Scratch<T>(v_rows * n), work = Scratch<T>(lwork),
            more = Scratch<R>(reals), integers = Scratch<int>(8 * k)](int64_t i, const Walker& walk) {
      R* const values = s.template part<R>(vectors == Vectors::none ? 0 : 1, i);
      if (least == 0) {
        *s.info(i) = 0;
        if (vectors == Vectors::none) return;
        set_identity(row_major(s.part(0, i), m, u_columns));
        set_identity(row_major(s.part(2, i), v_rows, n));
        return;
      }
      copy_matrix(s.input(0, walk), column_major(a.get(), m, n));
      gesdd(a.get(), values, u.get(), v.get(), work.get(), lwork, more.get(), integers.get(), s.info(i));
      if (vectors == Vectors::none) return;
      copy_matrix(column_major(u.get(), m, u_columns), row_major(s.part(0, i), m, u_columns));
      copy_matrix(column_major(v.get(), v_rows, n), row_major(s.part(2, i), v_rows, n));
    };
  });
}

/// Pivoted: by a complete orthogonal factorization with column exchanges, which has no singular values: theirs are NaN.
template <class T>
void lstsq(const Stack<T>& s) {
  using R = Real<T>;
  const int m = size_of(s.m), n = size_of(s.n), k = size_of(s.columns_of(1)), lda = leading(m), ldb = leading(std::max(m, n));
  const R tolerance = static_cast<R>(s.op.tolerance);
  const bool pivoted = s.op.pivoted;
  const auto solve = [&](T* a, T* b, R* values, int* rank, T* work, int lwork, R* reals, int* integers, int* info) {
    if (pivoted) {
      void* const gelsy = BC_LAPACK(T, "gelsy", "gelsy");
      if constexpr (is_complex_v<T>)
        call_lapack(gelsy, &m, &n, &k, a, &lda, b, &ldb, integers, &tolerance, rank, work, &lwork, reals, info);
      else
        call_lapack(gelsy, &m, &n, &k, a, &lda, b, &ldb, integers, &tolerance, rank, work, &lwork, info);
    } else if constexpr (is_complex_v<T>) {
      call_lapack(BC_LAPACK(T, "gelsd", "gelsd"), &m, &n, &k, a, &lda, b, &ldb, values, &tolerance, rank, work, &lwork, reals, integers,
                  info);
    } else {
      call_lapack(BC_LAPACK(T, "gelsd", "gelsd"), &m, &n, &k, a, &lda, b, &ldb, values, &tolerance, rank, work, &lwork, integers, info);
    }
  };
  T wanted{};
  R wanted_reals = static_cast<R>(2 * n);
  int wanted_integers = n, ignored = 0, rank = 0;
  solve(nullptr, nullptr, nullptr, &rank, &wanted, -1, &wanted_reals, &wanted_integers, &ignored);
  const int lwork = told_size(wanted), reals = is_complex_v<T> ? told_size(wanted_reals) : 0;
  s.each(4.0 * m * n * std::min(m, n), [&] {
    return [&, a = Scratch<T>(s.m * s.n), b = Scratch<T>(int64_t{ldb} * k), work = Scratch<T>(lwork), more = Scratch<R>(reals),
            integers = Scratch<int>(wanted_integers)](int64_t i, const Walker& walk) {
      copy_matrix(s.input(0, walk), column_major(a.get(), m, n));
      copy_matrix(s.input(1, walk), column_major(b.get(), m, k, ldb));
      R* const values = s.template part<R>(3, i);
      if (pivoted) {
        std::fill_n(values, std::min(m, n), std::numeric_limits<R>::quiet_NaN());
        std::fill_n(integers.get(), n, 0);  // every column may be exchanged
      }
      solve(a.get(), b.get(), values, s.template part<int32_t>(2, i), work.get(), lwork, more.get(), integers.get(), s.info(i));
      copy_matrix(column_major(b.get(), n, k, ldb), row_major(s.part(0, i), n, k));
      for (int64_t j = 0; j < k; ++j) {
        R sum = 0;
        for (int64_t row = n; row < m; ++row) sum += std::norm(b[row + j * ldb]);
        s.template part<R>(1, i)[j] = sum;
      }
    };
  });
}

// ---- Eigenvalues ----------------------------------------------------------------------------------------------------------------------

template <class T>
void eigh(const Stack<T>& s) {
  using R = Real<T>;
  const int n = size_of(s.n), ld = leading(n);
  const bool vectors = s.op.vectors != Vectors::none;
  const char *job = vectors ? "V" : "N", *uplo = s.op.lower ? "L" : "U";
  const auto syevd = [&](T* a, R* values, T* work, int lwork, R* reals, int lreals, int* integers, int lintegers, int* info) {
    if constexpr (is_complex_v<T>)
      call_lapack(BC_LAPACK(T, "syevd", "heevd"), job, uplo, &n, a, &ld, values, work, &lwork, reals, &lreals, integers, &lintegers, info);
    else
      call_lapack(BC_LAPACK(T, "syevd", "heevd"), job, uplo, &n, a, &ld, values, work, &lwork, integers, &lintegers, info);
  };
  T wanted{};
  R wanted_reals{};
  int wanted_integers = 0, ignored = 0;
  syevd(nullptr, nullptr, &wanted, -1, &wanted_reals, -1, &wanted_integers, -1, &ignored);
  const int lwork = told_size(wanted), lreals = is_complex_v<T> ? told_size(wanted_reals) : 1;
  s.each((vectors ? 9.0 : 1.4) * cube(n), [&] {
    return [&, a = Scratch<T>(s.n * s.n), work = Scratch<T>(lwork), reals = Scratch<R>(lreals), integers = Scratch<int>(wanted_integers)](
               int64_t i, const Walker& walk) {
      copy_matrix(s.input(0, walk), column_major(a.get(), n, n));
      syevd(a.get(), s.template part<R>(0, i), work.get(), lwork, reals.get(), lreals, integers.get(), wanted_integers, s.info(i));
      // Eigenvalues that were not found become NaN, so that later ops need not check `info`.
      if (*s.info(i) != 0) std::fill_n(s.template part<R>(0, i), n, std::numeric_limits<R>::quiet_NaN());
      if (vectors) copy_matrix(column_major(a.get(), n, n), row_major(s.part(1, i), n, n));
    };
  });
}

/// The eigenvalues of a range of numbers, by LAPACK's relatively robust representations.
template <class T>
void eigh_range(const Stack<T>& s) {
  using R = Real<T>;
  const int n = size_of(s.n), ld = leading(n), low = size_of(s.op.below) + 1, high = low + size_of(s.op.count) - 1, k = high - low + 1;
  const bool vectors = s.op.vectors != Vectors::none;
  const char *job = vectors ? "V" : "N", *uplo = s.op.lower ? "L" : "U";
  const R unused = 0;
  int found = 0;
  const auto evr = [&](T* a, R* values, T* z, int* support, T* work, int lwork, R* reals, int lreals, int* integers, int lintegers,
                       int* info, int* count) {
    if constexpr (is_complex_v<T>)
      call_lapack(BC_LAPACK(T, "syevr", "heevr"), job, "I", uplo, &n, a, &ld, &unused, &unused, &low, &high, &unused, count, values, z, &ld,
                  support, work, &lwork, reals, &lreals, integers, &lintegers, info);
    else
      call_lapack(BC_LAPACK(T, "syevr", "heevr"), job, "I", uplo, &n, a, &ld, &unused, &unused, &low, &high, &unused, count, values, z, &ld,
                  support, work, &lwork, integers, &lintegers, info);
  };
  T wanted{};
  R wanted_reals{};
  int wanted_integers = 0, ignored = 0;
  evr(nullptr, nullptr, nullptr, nullptr, &wanted, -1, &wanted_reals, -1, &wanted_integers, -1, &ignored, &found);
  const int lwork = told_size(wanted), lreals = is_complex_v<T> ? told_size(wanted_reals) : 1;
  s.each(1.4 * cube(n), [&] {
    return [&, a = Scratch<T>(s.n * s.n), z = Scratch<T>(s.n * k), values = Scratch<R>(n), support = Scratch<int>(2 * int64_t{n}),
            work = Scratch<T>(lwork), reals = Scratch<R>(lreals), integers = Scratch<int>(wanted_integers)](int64_t i, const Walker& walk) {
      copy_matrix(s.input(0, walk), column_major(a.get(), n, n));
      int count = 0;
      evr(a.get(), values.get(), z.get(), support.get(), work.get(), lwork, reals.get(), lreals, integers.get(), wanted_integers, s.info(i),
          &count);
      if (*s.info(i) != 0) std::fill_n(values.get(), k, std::numeric_limits<R>::quiet_NaN());
      std::copy_n(values.get(), k, s.template part<R>(0, i));
      if (vectors) copy_matrix(column_major(z.get(), n, k), row_major(s.part(1, i), n, k));
    };
  });
}

template <class T>
void banded_eigh(const Stack<T>& s) {
  using R = Real<T>;
  const int n = size_of(s.n), ld = leading(n), rows = size_of(s.m), diagonals = rows - 1;
  const bool vectors = s.op.vectors != Vectors::none;
  const char *job = vectors ? "V" : "N", *uplo = s.op.lower ? "L" : "U";
  const auto bevd = [&](T* a, R* values, T* z, T* work, int lwork, R* reals, int lreals, int* integers, int lintegers, int* info) {
    if constexpr (is_complex_v<T>)
      call_lapack(BC_LAPACK(T, "sbevd", "hbevd"), job, uplo, &n, &diagonals, a, &rows, values, z, &ld, work, &lwork, reals, &lreals,
                  integers, &lintegers, info);
    else
      call_lapack(BC_LAPACK(T, "sbevd", "hbevd"), job, uplo, &n, &diagonals, a, &rows, values, z, &ld, work, &lwork, integers, &lintegers,
                  info);
  };
  T wanted{};
  R wanted_reals{};
  int wanted_integers = 0, ignored = 0;
  bevd(nullptr, nullptr, nullptr, &wanted, -1, &wanted_reals, -1, &wanted_integers, -1, &ignored);
  const int lwork = told_size(wanted), lreals = is_complex_v<T> ? told_size(wanted_reals) : 1;
  s.each((vectors ? 6.0 * n : 6.0 * rows) * n * n, [&] {
    return [&, a = Scratch<T>(s.m * s.n), z = Scratch<T>(vectors ? s.n * s.n : 0), work = Scratch<T>(lwork), reals = Scratch<R>(lreals),
            integers = Scratch<int>(wanted_integers)](int64_t i, const Walker& walk) {
      copy_matrix(s.input(0, walk), column_major(a.get(), rows, n));
      R* const values = s.template part<R>(0, i);
      bevd(a.get(), values, z.get(), work.get(), lwork, reals.get(), lreals, integers.get(), wanted_integers, s.info(i));
      if (*s.info(i) != 0) std::fill_n(values, n, std::numeric_limits<R>::quiet_NaN());
      if (vectors) copy_matrix(column_major(z.get(), n, n), row_major(s.part(1, i), n, n));
    };
  });
}

/// a v = w b v by LAPACK.
template <class T>
void definite_eigh(const Stack<T>& s) {
  using R = Real<T>;
  const int n = size_of(s.n), ld = leading(n), kind = 1;
  const bool vectors = s.op.vectors != Vectors::none;
  const char *job = vectors ? "V" : "N", *uplo = s.op.lower ? "L" : "U";
  const auto gvd = [&](T* a, T* b, R* values, T* work, int lwork, R* reals, int lreals, int* integers, int lintegers, int* info) {
    if constexpr (is_complex_v<T>)
      call_lapack(BC_LAPACK(T, "sygvd", "hegvd"), &kind, job, uplo, &n, a, &ld, b, &ld, values, work, &lwork, reals, &lreals, integers,
                  &lintegers, info);
    else
      call_lapack(BC_LAPACK(T, "sygvd", "hegvd"), &kind, job, uplo, &n, a, &ld, b, &ld, values, work, &lwork, integers, &lintegers, info);
  };
  T wanted{};
  R wanted_reals{};
  int wanted_integers = 0, ignored = 0;
  gvd(nullptr, nullptr, nullptr, &wanted, -1, &wanted_reals, -1, &wanted_integers, -1, &ignored);
  const int lwork = told_size(wanted), lreals = is_complex_v<T> ? told_size(wanted_reals) : 1;
  s.each((vectors ? 14.0 : 4.0) * cube(n), [&] {
    return [&, a = Scratch<T>(s.n * s.n), b = Scratch<T>(s.n * s.n), work = Scratch<T>(lwork), reals = Scratch<R>(lreals),
            integers = Scratch<int>(wanted_integers)](int64_t i, const Walker& walk) {
      copy_matrix(s.input(0, walk), column_major(a.get(), n, n));
      copy_matrix(s.input(1, walk), column_major(b.get(), n, n));
      R* const values = s.template part<R>(0, i);
      gvd(a.get(), b.get(), values, work.get(), lwork, reals.get(), lreals, integers.get(), wanted_integers, s.info(i));
      if (*s.info(i) != 0) std::fill_n(values, n, std::numeric_limits<R>::quiet_NaN());
      if (vectors) copy_matrix(column_major(a.get(), n, n), row_major(s.part(1, i), n, n));
    };
  });
}

/// Converts a real routine's eigenvectors to complex columns: for a complex pair of eigenvalues, two columns hold the real and the
/// imaginary parts.
template <class R>
void complex_vectors(const R* from, const R* imaginary, int64_t n, std::complex<R>* to) {
  for (int64_t j = 0; j < n; ++j) {
    const bool pair = imaginary[j] != 0 && j + 1 < n;
    for (int64_t i = 0; i < n; ++i) {
      const R re = from[i + j * n];
      to[i * n + j] = pair ? std::complex<R>(re, from[i + (j + 1) * n]) : std::complex<R>(re);
      if (pair) to[i * n + j + 1] = std::conj(to[i * n + j]);
    }
    if (pair) ++j;
  }
}

template <class T>
void eig(const Stack<T>& s) {
  using R = Real<T>;
  using C = std::complex<R>;
  const int n = size_of(s.n), ld = leading(n);
  const bool vectors = s.op.vectors != Vectors::none;
  const char *left = s.op.left ? "V" : "N", *right = vectors ? "V" : "N";
  const auto geev = [&](T* a, T* values, T* more, T* u, T* v, T* work, int lwork, R* reals, int* info) {
    if constexpr (is_complex_v<T>)
      call_lapack(BC_LAPACK(T, "geev", "geev"), left, right, &n, a, &ld, values, u, &ld, v, &ld, work, &lwork, reals, info);
    else
      call_lapack(BC_LAPACK(T, "geev", "geev"), left, right, &n, a, &ld, values, more, u, &ld, v, &ld, work, &lwork, info);
  };
  T wanted{};
  R wanted_reals{};
  int ignored = 0;
  geev(nullptr, nullptr, nullptr, nullptr, nullptr, &wanted, -1, &wanted_reals, &ignored);
  const int lwork = told_size(wanted);
  s.each((vectors ? 25.0 : 10.0) * cube(n), [&] {
    return [&, a = Scratch<T>(s.n * s.n), u = Scratch<T>(s.op.left ? s.n * s.n : 0), v = Scratch<T>(vectors ? s.n * s.n : 0),
            values = Scratch<T>(2 * s.n), work = Scratch<T>(lwork), reals = Scratch<R>(2 * s.n)](int64_t i, const Walker& walk) {
      copy_matrix(s.input(0, walk), column_major(a.get(), n, n));
      geev(a.get(), values.get(), values.get() + n, u.get(), v.get(), work.get(), lwork, reals.get(), s.info(i));
      C* const w = s.template part<C>(0, i);
      const auto put = [&](size_t part, const T* from) {
        if constexpr (is_complex_v<T>)
          copy_matrix(column_major(from, n, n), row_major(s.template part<C>(part, i), n, n));
        else
          complex_vectors(from, values.get() + n, n, s.template part<C>(part, i));
      };
      for (int64_t k = 0; k < n; ++k) {
        if constexpr (is_complex_v<T>)
          w[k] = values[k];
        else
          w[k] = C(values[k], values[n + k]);
      }
      if (vectors) put(1, v.get());
      if (s.op.left) put(2, u.get());
    };
  });
}

template <class T>
void schur(const Stack<T>& s) {
  const int n = size_of(s.n);
  s.each(25 * cube(n), [&] {
    return [&, schur = SchurRoutine<T>(n), a = Scratch<T>(s.n * s.n), z = Scratch<T>(s.n * s.n)](int64_t i, const Walker& walk) {
      copy_matrix(s.input(0, walk), column_major(a.get(), n, n));
      schur(a.get(), z.get(), s.info(i));
      copy_matrix(column_major(a.get(), n, n), row_major(s.part(0, i), n, n));
      copy_matrix(column_major(z.get(), n, n), row_major(s.part(1, i), n, n));
    };
  });
}

/// Writes a routine's eigenvalues (or their numerators) as complex numbers: a real routine returns real and imaginary parts in two vectors.
template <class T>
void put_values(const T* from, int64_t n, std::complex<Real<T>>* to) {
  for (int64_t k = 0; k < n; ++k) {
    if constexpr (is_complex_v<T>)
      to[k] = from[k];
    else
      to[k] = {from[k], from[n + k]};
  }
}

template <class T>
void schur_ordered(const Stack<T>& s) {
  using R = Real<T>;
  const int n = size_of(s.n), ld = leading(n), lwork = leading(n), one = 1;
  s.each(10 * cube(n), [&] {
    return [&, t = Scratch<T>(s.n * s.n), z = Scratch<T>(s.n * s.n), values = Scratch<T>(2 * s.n), work = Scratch<T>(lwork),
            chosen = Scratch<int>(n)](int64_t i, const Walker& walk) {
      int found = 0, unused = 0;
      R condition = 0, separation = 0;
      copy_matrix(s.input(0, walk), column_major(t.get(), n, n));
      copy_matrix(s.input(1, walk), column_major(z.get(), n, n));
      copy_matrix(s.template input<int32_t>(2, walk), column_major(chosen.get(), n, 1));
      if constexpr (is_complex_v<T>)
        call_lapack(BC_LAPACK(T, "trsen", "trsen"), "N", "V", chosen.get(), &n, t.get(), &ld, z.get(), &ld, values.get(), &found,
                    &condition, &separation, work.get(), &lwork, s.info(i));
      else
        call_lapack(BC_LAPACK(T, "trsen", "trsen"), "N", "V", chosen.get(), &n, t.get(), &ld, z.get(), &ld, values.get(), values.get() + n,
                    &found, &condition, &separation, work.get(), &lwork, &unused, &one, s.info(i));
      copy_matrix(column_major(t.get(), n, n), row_major(s.part(0, i), n, n));
      copy_matrix(column_major(z.get(), n, n), row_major(s.part(1, i), n, n));
    };
  });
}

template <class T>
void generalized_eig(const Stack<T>& s) {
  using R = Real<T>;
  using C = std::complex<R>;
  const int n = size_of(s.n), ld = leading(n);
  const bool vectors = s.op.vectors != Vectors::none;
  const char *left = s.op.left ? "V" : "N", *right = vectors ? "V" : "N";
  const auto ggev = [&](T* a, T* b, T* alpha, T* more, T* beta, T* u, T* v, T* work, int lwork, R* reals, int* info) {
    if constexpr (is_complex_v<T>)
      call_lapack(BC_LAPACK(T, "ggev", "ggev"), left, right, &n, a, &ld, b, &ld, alpha, beta, u, &ld, v, &ld, work, &lwork, reals, info);
    else
      call_lapack(BC_LAPACK(T, "ggev", "ggev"), left, right, &n, a, &ld, b, &ld, alpha, more, beta, u, &ld, v, &ld, work, &lwork, info);
  };
  T wanted{};
  R wanted_reals{};
  int ignored = 0;
  ggev(nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, &wanted, -1, &wanted_reals, &ignored);
  const int lwork = told_size(wanted);
  s.each(60 * cube(n), [&] {
    return [&, a = Scratch<T>(s.n * s.n), b = Scratch<T>(s.n * s.n), u = Scratch<T>(s.op.left ? s.n * s.n : 0),
            v = Scratch<T>(vectors ? s.n * s.n : 0), alpha = Scratch<T>(2 * s.n), work = Scratch<T>(lwork),
            reals = Scratch<R>(8 * s.n)](int64_t i, const Walker& walk) {
      copy_matrix(s.input(0, walk), column_major(a.get(), n, n));
      copy_matrix(s.input(1, walk), column_major(b.get(), n, n));
      ggev(a.get(), b.get(), alpha.get(), alpha.get() + n, s.part(1, i), u.get(), v.get(), work.get(), lwork, reals.get(), s.info(i));
      const auto put = [&](size_t part, const T* from) {
        if constexpr (is_complex_v<T>)
          copy_matrix(column_major(from, n, n), row_major(s.template part<C>(part, i), n, n));
        else
          complex_vectors(from, alpha.get() + n, n, s.template part<C>(part, i));
      };
      put_values(alpha.get(), n, s.template part<C>(0, i));
      if (vectors) put(2, v.get());
      if (s.op.left) put(3, u.get());
    };
  });
}

/// The four matrices of a generalized Schur form, in the form for a routine.
template <class T>
struct QzForm {
  explicit QzForm(int64_t n) : a(n * n), b(n * n), q(n * n), z(n * n), alpha(2 * n), beta(n), n_(n) {}

  void put(const Stack<T>& s, int64_t i) const {
    const T* const made[] = {a.get(), b.get(), q.get(), z.get()};
    for (size_t k = 0; k < 4; ++k) copy_matrix(column_major(made[k], n_, n_), row_major(s.part(k, i), n_, n_));
    put_values(alpha.get(), n_, s.template part<std::complex<Real<T>>>(4, i));
    std::copy_n(beta.get(), n_, s.part(5, i));
  }

  Scratch<T> a, b, q, z, alpha, beta;

 private:
  int64_t n_;
};

template <class T>
void qz(const Stack<T>& s) {
  using R = Real<T>;
  const int n = size_of(s.n), ld = leading(n);
  const auto gges = [&](T* a, T* b, T* alpha, T* beta, T* q, T* z, T* work, int lwork, R* reals, int* info) {
    int found = 0;
    int* const unused = nullptr;
    if constexpr (is_complex_v<T>)
      call_lapack(BC_LAPACK(T, "gges", "gges"), "V", "V", "N", unused, &n, a, &ld, b, &ld, &found, alpha, beta, q, &ld, z, &ld, work,
                  &lwork, reals, unused, info);
    else
      call_lapack(BC_LAPACK(T, "gges", "gges"), "V", "V", "N", unused, &n, a, &ld, b, &ld, &found, alpha, alpha ? alpha + n : alpha, beta,
                  q, &ld, z, &ld, work, &lwork, unused, info);
  };
  T wanted{};
  R wanted_reals{};
  int ignored = 0;
  gges(nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, &wanted, -1, &wanted_reals, &ignored);
  const int lwork = told_size(wanted);
  s.each(60 * cube(n), [&] {
    return [&, form = QzForm<T>(s.n), work = Scratch<T>(lwork), reals = Scratch<R>(8 * s.n)](int64_t i, const Walker& walk) {
      copy_matrix(s.input(0, walk), column_major(form.a.get(), n, n));
      copy_matrix(s.input(1, walk), column_major(form.b.get(), n, n));
      gges(form.a, form.b, form.alpha, form.beta, form.q, form.z, work, lwork, reals, s.info(i));
      form.put(s, i);
    };
  });
}

template <class T>
void qz_ordered(const Stack<T>& s) {
  using R = Real<T>;
  const int n = size_of(s.n), ld = leading(n), lwork = 4 * n + 16, lintegers = n + 6;
  s.each(20 * cube(n), [&] {
    return [&, form = QzForm<T>(s.n), work = Scratch<T>(lwork), chosen = Scratch<int>(n), integers = Scratch<int>(lintegers)](
               int64_t i, const Walker& walk) {
      const int job = 0, yes = 1;
      int found = 0;
      R left = 0, right = 0, bounds[2] = {};
      T* const matrices[] = {form.a, form.b, form.q, form.z};
      for (size_t k = 0; k < 4; ++k) copy_matrix(s.input(k, walk), column_major(matrices[k], n, n));
      copy_matrix(s.template input<int32_t>(4, walk), column_major(chosen.get(), n, 1));
      if constexpr (is_complex_v<T>)
        call_lapack(BC_LAPACK(T, "tgsen", "tgsen"), &job, &yes, &yes, chosen.get(), &n, form.a.get(), &ld, form.b.get(), &ld,
                    form.alpha.get(), form.beta.get(), form.q.get(), &ld, form.z.get(), &ld, &found, &left, &right, &bounds[0], work.get(),
                    &lwork, integers.get(), &lintegers, s.info(i));
      else
        call_lapack(BC_LAPACK(T, "tgsen", "tgsen"), &job, &yes, &yes, chosen.get(), &n, form.a.get(), &ld, form.b.get(), &ld,
                    form.alpha.get(), form.alpha.get() + n, form.beta.get(), form.q.get(), &ld, form.z.get(), &ld, &found, &left, &right,
                    &bounds[0], work.get(), &lwork, integers.get(), &lintegers, s.info(i));
      form.put(s, i);
    };
  });
}

template <class T>
void balanced(const Stack<T>& s) {
  const int n = size_of(s.n), ld = leading(n);
  const char* job = s.op.pivoted ? (s.op.scaled ? "B" : "P") : s.op.scaled ? "S" : "N";
  s.each(10.0 * n * n, [&] {
    return [&, a = Scratch<T>(s.n * s.n)](int64_t i, const Walker& walk) {
      int32_t* const ends = s.template part<int32_t>(2, i);
      copy_matrix(s.input(0, walk), column_major(a.get(), n, n));
      call_lapack(BC_LAPACK(T, "gebal", "gebal"), job, &n, a.get(), &ld, &ends[0], &ends[1], s.template part<Real<T>>(1, i), s.info(i));
      for (int k = 0; k < 2; ++k) --ends[k];
      copy_matrix(column_major(a.get(), n, n), row_major(s.part(0, i), n, n));
    };
  });
}

template <class T>
void hessenberg(const Stack<T>& s) {
  const int n = size_of(s.n), ld = leading(n), low = 1, high = n;
  const auto gehrd = [&](T* a, T* tau, T* work, int lwork, int* info) {
    call_lapack(BC_LAPACK(T, "gehrd", "gehrd"), &n, &low, &high, a, &ld, tau, work, &lwork, info);
  };
  const auto orghr = [&](T* a, T* tau, T* work, int lwork, int* info) {
    call_lapack(BC_LAPACK(T, "orghr", "unghr"), &n, &low, &high, a, &ld, tau, work, &lwork, info);
  };
  T wanted{};
  int ignored = 0;
  gehrd(nullptr, nullptr, &wanted, -1, &ignored);
  int lwork = told_size(wanted);
  orghr(nullptr, nullptr, &wanted, -1, &ignored);
  lwork = std::max(lwork, told_size(wanted));
  s.each(5 * cube(n), [&] {
    return [&, a = Scratch<T>(s.n * s.n), tau = Scratch<T>(n), work = Scratch<T>(lwork)](int64_t i, const Walker& walk) {
      copy_matrix(s.input(0, walk), column_major(a.get(), n, n));
      gehrd(a.get(), tau.get(), work.get(), lwork, s.info(i));
      const Matrix<T> h = row_major(s.part(0, i), n, n);
      copy_matrix(column_major(a.get(), n, n), h);
      for (int64_t row = 2; row < n; ++row) std::fill_n(h.data + row * n, row - 1, T(0));
      orghr(a.get(), tau.get(), work.get(), lwork, s.info(i));
      copy_matrix(column_major(a.get(), n, n), row_major(s.part(1, i), n, n));
    };
  });
}

template <class T>
void ldl(const Stack<T>& s) {
  const int n = size_of(s.n), ld = leading(n);
  const char* uplo = s.op.lower ? "L" : "U";
  const auto factor = [&](T* a, int* pivots, T* work, int lwork, int* info) {
    void* const routine = s.op.hermitian ? BC_LAPACK(T, "sytrf", "hetrf") : BC_LAPACK(T, "sytrf", "sytrf");
    call_lapack(routine, uplo, &n, a, &ld, pivots, work, &lwork, info);
  };
  T wanted{};
  int ignored = 0;
  factor(nullptr, nullptr, &wanted, -1, &ignored);
  const int lwork = told_size(wanted);
  s.each(cube(n) / 3, [&] {
    return [&, a = Scratch<T>(s.n * s.n), work = Scratch<T>(lwork)](int64_t i, const Walker& walk) {
      copy_matrix(s.input(0, walk), column_major(a.get(), n, n));
      factor(a.get(), s.template part<int32_t>(1, i), work.get(), lwork, s.info(i));
      copy_matrix(column_major(a.get(), n, n), row_major(s.part(0, i), n, n));
    };
  });
}

// ---- Bands ------------------------------------------------------------------------------------------------------------------------------

template <class T>
void banded_solve(const Stack<T>& s) {
  const int n = size_of(s.n), k = size_of(s.columns_of(1)), ldb = leading(n);
  const int below = size_of(s.op.below), above = size_of(s.m - 1 - s.op.below), ld = 2 * below + above + 1;
  s.each(static_cast<double>(n) * ld * (below + k), [&] {
    return [&, a = Scratch<T>(int64_t{n} * ld), b = Scratch<T>(s.n * k), pivots = Scratch<int>(n)](int64_t i, const Walker& walk) {
      // The first rows are free, for the fill-in of row exchanges.
      copy_matrix(s.input(0, walk), column_major(a.get() + below, s.m, n, ld));
      copy_matrix(s.input(1, walk), column_major(b.get(), n, k));
      call_lapack(BC_LAPACK(T, "gbsv", "gbsv"), &n, &below, &above, &k, a.get(), &ld, pivots.get(), b.get(), &ldb, s.info(i));
      copy_matrix(column_major(b.get(), n, k), row_major(s.part(0, i), n, k));
    };
  });
}

template <class T>
void banded_definite_solve(const Stack<T>& s) {
  const int n = size_of(s.n), k = size_of(s.columns_of(1)), ldb = leading(n), rows = size_of(s.m), diagonals = rows - 1;
  const char* uplo = s.op.lower ? "L" : "U";
  s.each(static_cast<double>(n) * rows * (rows + k), [&] {
    return [&, a = Scratch<T>(int64_t{n} * rows), b = Scratch<T>(s.n * k)](int64_t i, const Walker& walk) {
      copy_matrix(s.input(0, walk), column_major(a.get(), rows, n));
      copy_matrix(s.input(1, walk), column_major(b.get(), n, k));
      call_lapack(BC_LAPACK(T, "pbsv", "pbsv"), uplo, &n, &diagonals, &k, a.get(), &rows, b.get(), &ldb, s.info(i));
      copy_matrix(column_major(b.get(), n, k), row_major(s.part(0, i), n, k));
    };
  });
}

template <class T>
void banded_cholesky(const Stack<T>& s) {
  const int n = size_of(s.n), rows = size_of(s.m), diagonals = rows - 1;
  const char* uplo = s.op.lower ? "L" : "U";
  s.each(static_cast<double>(n) * rows * rows, [&] {
    return [&, a = Scratch<T>(int64_t{n} * rows)](int64_t i, const Walker& walk) {
      copy_matrix(s.input(0, walk), column_major(a.get(), rows, n));
      call_lapack(BC_LAPACK(T, "pbtrf", "pbtrf"), uplo, &n, &diagonals, a.get(), &rows, s.info(i));
      copy_matrix(column_major(a.get(), rows, n), row_major(s.part(0, i), rows, n));
    };
  });
}

template <class T>
void banded_cholesky_solve(const Stack<T>& s) {
  const int n = size_of(s.n), k = size_of(s.columns_of(1)), ldb = leading(n), rows = size_of(s.m), diagonals = rows - 1;
  const char* uplo = s.op.lower ? "L" : "U";
  s.each(static_cast<double>(n) * rows * k, [&] {
    return [&, a = Scratch<T>(int64_t{n} * rows), b = Scratch<T>(s.n * k)](int64_t i, const Walker& walk) {
      copy_matrix(s.input(0, walk), column_major(a.get(), rows, n));
      copy_matrix(s.input(1, walk), column_major(b.get(), n, k));
      call_lapack(BC_LAPACK(T, "pbtrs", "pbtrs"), uplo, &n, &diagonals, &k, a.get(), &rows, b.get(), &ldb, s.info(i));
      copy_matrix(column_major(b.get(), n, k), row_major(s.part(0, i), n, k));
    };
  });
}

/// Some eigenvalues of symmetric matrices with three diagonals.
template <class T>
void tridiagonal_range(const Stack<T>& s) {
  const int n = size_of(s.m), ld = leading(n), low = size_of(s.op.below) + 1, high = low + size_of(s.op.count) - 1, k = high - low + 1;
  const bool vectors = s.op.vectors != Vectors::none;
  const char* job = vectors ? "V" : "N";
  const T unused = 0;
  const auto stemr = [&](T* d, T* e, int* count, T* values, T* z, int* support, T* work, int lwork, int* integers, int lintegers,
                         int* info) {
    int wanted = k, accurate = 1;
    call_lapack(BC_LAPACK(T, "stemr", "stemr"), job, "I", &n, d, e, &unused, &unused, &low, &high, count, values, z, &ld, &wanted, support,
                &accurate, work, &lwork, integers, &lintegers, info);
  };
  T wanted{}, none{};
  int wanted_integers = 0, ignored = 0, count = 0;
  stemr(&none, &none, &count, &none, &none, &ignored, &wanted, -1, &wanted_integers, -1, &ignored);
  const int lwork = told_size(wanted);
  s.each(30.0 * n * k, [&] {
    return [&, d = Scratch<T>(n), e = Scratch<T>(n), values = Scratch<T>(n), z = Scratch<T>(int64_t{n} * k), support = Scratch<int>(2 * k),
            work = Scratch<T>(lwork), integers = Scratch<int>(wanted_integers)](int64_t i, const Walker& walk) {
      copy_matrix(s.input(0, walk), column_major(d.get(), n, 1));
      copy_matrix(s.input(1, walk), column_major(e.get(), n - 1, 1));
      int found = 0;
      stemr(d.get(), e.get(), &found, values.get(), z.get(), support.get(), work.get(), lwork, integers.get(), wanted_integers, s.info(i));
      std::copy_n(values.get(), k, s.part(0, i));
      if (vectors) copy_matrix(column_major(z.get(), n, k), row_major(s.part(1, i), n, k));
    };
  });
}

template <class T>
void tridiagonal_eigh(const Stack<T>& s) {
  if constexpr (is_complex_v<T>) {
    raise(ErrorKind::Type, "eigh_tridiagonal: expected real diagonals, got complex ones");
  } else {
    const int n = size_of(s.m), ld = leading(n);
    const bool vectors = s.op.vectors != Vectors::none;
    const char* job = vectors ? "V" : "N";
    if (s.op.count > 0) return tridiagonal_range(s);
    const auto stevd = [&](T* d, T* e, T* z, T* work, int lwork, int* integers, int lintegers, int* info) {
      call_lapack(BC_LAPACK(T, "stevd", "stevd"), job, &n, d, e, z, &ld, work, &lwork, integers, &lintegers, info);
    };
    T wanted{};
    int wanted_integers = 0, ignored = 0;
    stevd(nullptr, nullptr, nullptr, &wanted, -1, &wanted_integers, -1, &ignored);
    const int lwork = told_size(wanted);
    s.each((vectors ? 4.0 * n : 30.0) * n * n, [&] {
      return [&, e = Scratch<T>(n), z = Scratch<T>(vectors ? int64_t{n} * n : 0), work = Scratch<T>(lwork),
              integers = Scratch<int>(wanted_integers)](int64_t i, const Walker& walk) {
        copy_matrix(s.input(0, walk), column_major(s.part(0, i), n, 1));
        copy_matrix(s.input(1, walk), column_major(e.get(), std::max(n - 1, 0), 1));
        stevd(s.part(0, i), e.get(), z.get(), work.get(), lwork, integers.get(), wanted_integers, s.info(i));
        if (vectors) copy_matrix(column_major(z.get(), n, n), row_major(s.part(1, i), n, n));
      };
    });
  }
}

// ---- Toeplitz matrices ------------------------------------------------------------------------------------------------------------------

/// The sum of a[k] b[-k] over k below `count`: one vector is read forwards, the other backwards.
template <class T>
BC_LOOPS T crossed_product(const T* a, const T* b, int64_t count) {
  T sums[4] = {};
  int64_t k = 0;
  for (; k + 4 <= count; k += 4)
    for (int64_t l = 0; l < 4; ++l) sums[l] += a[k + l] * b[-(k + l)];
  for (; k < count; ++k) sums[0] += a[k] * b[-k];
  return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

/// Levinson's recursion (Golub & Van Loan, "Matrix Computations", 4.7) for a[i, j] = t[i - j], in O(n^2). `forward` and `backward` solve
/// the leading systems for the first and the last unit vector. Returns false if a leading minor is singular.
template <class T>
BC_LOOPS bool levinson(const T* t, int64_t n, const T* b, int64_t columns, T* x, T* forward, T* backward, T* before) {
  if (t[0] == T(0)) return false;
  forward[0] = backward[0] = T(1) / t[0];
  for (int64_t c = 0; c < columns; ++c) x[c * n] = b[c * n] / t[0];
  for (int64_t m = 1; m < n; ++m) {
    // The last row's product with the first vector, and the first row's with the last vector: the update makes both zero.
    const T down = crossed_product(forward, t + m, m), up = crossed_product(backward, t - 1, m);
    const T rest = T(1) - down * up;
    if (rest == T(0)) return false;
    const T scale = T(1) / rest;
    std::copy_n(backward, m, before);
    backward[0] = -up * scale * forward[0];
    for (int64_t k = 1; k < m; ++k) backward[k] = scale * (before[k - 1] - up * forward[k]);
    backward[m] = scale * before[m - 1];
    forward[m] = T(0);
    forward[0] *= scale;
    for (int64_t k = 1; k <= m; ++k) forward[k] = scale * (forward[k] - down * before[k - 1]);
    for (int64_t c = 0; c < columns; ++c) {
      T* const of = x + c * n;
      const T lacking = b[c * n + m] - crossed_product(of, t + m, m);
      of[m] = T(0);
      for (int64_t k = 0; k <= m; ++k) of[k] += lacking * backward[k];
    }
  }
  return true;
}

/// Tells whether a x = b up to rounding. The recursion is stable for definite matrices; for other matrices only if their leading minors are
/// well conditioned.
template <class T>
BC_LOOPS bool solves(const T* t, int64_t n, const T* b, int64_t columns, const T* x) {
  using R = Real<T>;
  R whole = 0;
  for (int64_t k = 1 - n; k < n; ++k) whole += std::abs(t[k]);
  for (int64_t c = 0; c < columns; ++c) {
    const T *of = x + c * n, *right = b + c * n;
    R largest = 0, wanted = 0;
    for (int64_t i = 0; i < n; ++i) {
      largest = std::max(largest, std::abs(of[i]));
      wanted = std::max(wanted, std::abs(right[i]));
    }
    const R bound = 64 * R(n) * std::numeric_limits<R>::epsilon() * (whole * largest + wanted);
    for (int64_t i = 0; i < n; ++i)
      if (!(std::abs(right[i] - crossed_product(of, t + i, n)) <= bound)) return false;
  }
  return true;
}

template <class T>
void toeplitz_solve(const Stack<T>& s) {
  const int64_t n = s.rows_of(1), k = s.columns_of(1);
  s.each(static_cast<double>(n) * n * (8 + 4 * k), [&] {
    return [&, t = Scratch<T>(2 * n - 1), b = Scratch<T>(n * k), x = Scratch<T>(n * k), work = Scratch<T>(3 * n)](int64_t i,
                                                                                                                  const Walker& walk) {
      copy_matrix(s.input(0, walk), column_major(t.get(), 2 * n - 1, 1));
      copy_matrix(s.input(1, walk), column_major(b.get(), n, k));
      const T* middle = t.get() + n - 1;
      const bool done = levinson(middle, n, b.get(), k, x.get(), work.get(), work.get() + n, work.get() + 2 * n) &&
                        solves(middle, n, b.get(), k, x.get());
      *s.info(i) = done ? 0 : 1;
      copy_matrix(column_major(x.get(), n, k), row_major(s.part(0, i), n, k));
    };
  });
}

template <class T>
void run_for(const LinalgExtra& op, std::span<const View> inputs, const View& output) {
  const Stack<T> s(op, inputs, output);
  switch (op.what) {
    case Linalg::solve: return solve(s);
    case Linalg::inverse: return inverse(s);
    case Linalg::determinant: return determinant(s);
    case Linalg::lu: return lu(s);
    case Linalg::lu_solve: return lu_solve(s);
    case Linalg::cholesky: return cholesky(s);
    case Linalg::cholesky_solve: return cholesky_solve(s);
    case Linalg::triangular_solve: return triangular_solve(s);
    case Linalg::qr: return qr(s);
    case Linalg::qr_raw: return qr_raw(s);
    case Linalg::svd: return svd(s);
    case Linalg::eigh: return eigh(s);
    case Linalg::eig: return eig(s);
    case Linalg::lstsq: return lstsq(s);
    case Linalg::schur: return schur(s);
    case Linalg::schur_ordered: return schur_ordered(s);
    case Linalg::generalized_eig: return generalized_eig(s);
    case Linalg::qz: return qz(s);
    case Linalg::qz_ordered: return qz_ordered(s);
    case Linalg::balanced: return balanced(s);
    case Linalg::hessenberg: return hessenberg(s);
    case Linalg::ldl: return ldl(s);
    case Linalg::banded_solve: return banded_solve(s);
    case Linalg::banded_definite_solve: return banded_definite_solve(s);
    case Linalg::banded_cholesky: return banded_cholesky(s);
    case Linalg::banded_cholesky_solve: return banded_cholesky_solve(s);
    case Linalg::toeplitz_solve: return toeplitz_solve(s);
    case Linalg::tridiagonal_eigh: return tridiagonal_eigh(s);
    case Linalg::eigh_range: return eigh_range(s);
    case Linalg::banded_eigh: return banded_eigh(s);
    case Linalg::definite_eigh: return definite_eigh(s);
    case Linalg::known_inverse: return known_inverse(s);
    case Linalg::triangular_sqrt:
    case Linalg::parlett:
    case Linalg::exponential:
    case Linalg::sylvester:
    case Linalg::complex_schur:
    case Linalg::qr_changed:
    case Linalg::square_root: return run_function(s);
  }
}

}  // namespace

void run(const LinalgExtra& op, std::span<const View> inputs, const View& output) {
  switch (op.dtype) {
    case DType::f32: return run_for<float>(op, inputs, output);
    case DType::f64: return run_for<double>(op, inputs, output);
    case DType::c64: return run_for<std::complex<float>>(op, inputs, output);
    case DType::c128: return run_for<std::complex<double>>(op, inputs, output);
    default: raise(ErrorKind::Type, "{}: expected a dtype of LAPACK, got {}", op.name, info(op.dtype).name);
  }
}

}  // namespace bc::cpu
