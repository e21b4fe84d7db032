// LAPACK for compiled functions, without the interpreter: matrices are of doubles, column-major, and destroyed.
#include <cstring>
#include <mutex>
#include <vector>

#include "runtime/compiled_functions.h"
#include "runtime/host_library.h"

namespace bc::host {
namespace {

constexpr int kMissing = -1000;

/// Routines by Python's name for what they do, as the stand-ins and py::Elimination number them.
enum What : int32_t { kEigh, kSvd, kSingularValues, kQr, kEig, kSolve, kInverse, kDeterminant };

template <class F>
F* routine(const char* real, const char* complex_name, bool complex) {
  return reinterpret_cast<F*>(host_library().symbol(complex ? complex_name : real));
}

/// Eigenvalues into s; eigenvectors in the place of a, where u says so (any memory).
int eigh(bool complex, int n, double* a, double* s, bool vectors) {
  const char job = vectors ? 'V' : 'N', part = 'L';
  int info = 0, lwork = -1, lrwork = -1, liwork = -1;
  double size[2] = {0, 0}, rsize = 0;
  int isize = 0;
  using Real = void(const char*, const char*, const int*, double*, const int*, double*, double*, const int*, int*, const int*, int*);
  using Complex = void(const char*, const char*, const int*, double*, const int*, double*, double*, const int*, double*, const int*, int*,
                       const int*, int*);
  auto* real = complex ? nullptr : routine<Real>("dsyevd_", "", false);
  auto* wide = complex ? routine<Complex>("", "zheevd_", true) : nullptr;
  if (real == nullptr && wide == nullptr) return kMissing;
  std::vector<double> work, rwork;
  std::vector<int> iwork;
  for (int round = 0; round < 2; ++round) {
    double* const w = round ? work.data() : size;
    if (complex)
      wide(&job, &part, &n, a, &n, s, w, &lwork, round ? rwork.data() : &rsize, &lrwork, round ? iwork.data() : &isize, &liwork, &info);
    else
      real(&job, &part, &n, a, &n, s, w, &lwork, round ? iwork.data() : &isize, &liwork, &info);
    if (info != 0 || round) break;
    lwork = static_cast<int>(size[0]), lrwork = static_cast<int>(rsize), liwork = isize;
    work.resize(static_cast<size_t>(lwork) * (complex ? 2 : 1));
    rwork.resize(static_cast<size_t>(lrwork) + 1);
    iwork.resize(static_cast<size_t>(liwork));
  }
  return info;
}

/// job: 'A', 'S' or 'N'. u is m x (m or least), v (n or least) x n, least the smaller of m and n.
int svd(bool complex, char job, int m, int n, double* a, double* s, double* u, double* v) {
  const int least = m < n ? m : n, most = m < n ? n : m, rows = job == 'A' ? n : least > 0 ? least : 1, ld = m > 0 ? m : 1;
  int info = 0, lwork = -1;
  double size[2] = {0, 0};
  using Real = void(const char*, const int*, const int*, double*, const int*, double*, double*, const int*, double*, const int*, double*,
                    const int*, int*, int*);
  using Complex = void(const char*, const int*, const int*, double*, const int*, double*, double*, const int*, double*, const int*, double*,
                       const int*, double*, int*, int*);
  auto* real = complex ? nullptr : routine<Real>("dgesdd_", "", false);
  auto* wide = complex ? routine<Complex>("", "zgesdd_", true) : nullptr;
  if (real == nullptr && wide == nullptr) return kMissing;
  std::vector<int> iwork(8 * static_cast<size_t>(least) + 1);
  std::vector<double> work, rwork;
  const auto wide_least = static_cast<size_t>(least), wide_most = static_cast<size_t>(most);
  if (complex)
    rwork.resize(5 * wide_least * wide_least + 5 * wide_least + 2 * wide_most * wide_least + 2 * wide_least * wide_least + 7 * wide_most +
                 1);
  for (int round = 0; round < 2; ++round) {
    double* const w = round ? work.data() : size;
    if (complex)
      wide(&job, &m, &n, a, &ld, s, u, &ld, v, &rows, w, &lwork, rwork.data(), iwork.data(), &info);
    else
      real(&job, &m, &n, a, &ld, s, u, &ld, v, &rows, w, &lwork, iwork.data(), &info);
    if (info != 0 || round) break;
    lwork = static_cast<int>(size[0]);
    work.resize(static_cast<size_t>(lwork) * (complex ? 2 : 1) + 1);
  }
  return info;
}

/// R is left in the upper triangle of u, a copy of a, and Q in a.
int qr(bool complex, int m, int n, double* a, double* u) {
  const int least = m < n ? m : n, ld = m > 0 ? m : 1;
  const size_t parts = complex ? 2 : 1;
  int info = 0, lwork = -1;
  using Factor = void(const int*, const int*, double*, const int*, double*, double*, const int*, int*);
  using Form = void(const int*, const int*, const int*, double*, const int*, const double*, double*, const int*, int*);
  auto* factor = routine<Factor>("dgeqrf_", "zgeqrf_", complex);
  auto* form = routine<Form>("dorgqr_", "zungqr_", complex);
  if (factor == nullptr || form == nullptr) return kMissing;
  std::vector<double> tau(static_cast<size_t>(least) * parts + 2), work(2);
  factor(&m, &n, a, &ld, tau.data(), work.data(), &lwork, &info);
  if (info != 0) return info;
  lwork = static_cast<int>(work[0]);
  if (lwork < 64 * (n > 1 ? n : 1)) lwork = 64 * (n > 1 ? n : 1);
  work.resize(static_cast<size_t>(lwork) * parts);
  factor(&m, &n, a, &ld, tau.data(), work.data(), &lwork, &info);
  if (info != 0) return info;
  std::memcpy(u, a, static_cast<size_t>(m) * static_cast<size_t>(n) * parts * sizeof(double));
  form(&m, &least, &least, a, &ld, tau.data(), work.data(), &lwork, &info);
  return info;
}

/// Eigenvalues into s (real: their real parts, then their imaginary ones), vectors into u where v is not null.
int eig(bool complex, int n, double* a, double* s, double* u, bool vectors) {
  const char none = 'N', right = vectors ? 'V' : 'N';
  const int ld = n > 0 ? n : 1;
  int info = 0, lwork = -1;
  double size[2] = {0, 0};
  using Real = void(const char*, const char*, const int*, double*, const int*, double*, double*, double*, const int*, double*, const int*,
                    double*, const int*, int*);
  using Complex = void(const char*, const char*, const int*, double*, const int*, double*, double*, const int*, double*, const int*,
                       double*, const int*, double*, int*);
  auto* real = complex ? nullptr : routine<Real>("dgeev_", "", false);
  auto* wide = complex ? routine<Complex>("", "zgeev_", true) : nullptr;
  if (real == nullptr && wide == nullptr) return kMissing;
  std::vector<double> work, rwork(2 * static_cast<size_t>(n) + 1);
  for (int round = 0; round < 2; ++round) {
    double* const w = round ? work.data() : size;
    if (complex)
      wide(&none, &right, &n, a, &ld, s, nullptr, &ld, u, &ld, w, &lwork, rwork.data(), &info);
    else
      real(&none, &right, &n, a, &ld, s, s + n, nullptr, &ld, u, &ld, w, &lwork, &info);
    if (info != 0 || round) break;
    lwork = static_cast<int>(size[0]);
    work.resize(static_cast<size_t>(lwork) * (complex ? 2 : 1) + 1);
  }
  return info;
}

/// Factors of a square matrix in its place, and where its rows went. More than 0: a pivot is zero.
int factor(bool complex, int n, double* a, std::vector<int>* pivots) {
  using Factor = void(const int*, const int*, double*, const int*, int*, int*);
  auto* made = routine<Factor>("dgetrf_", "zgetrf_", complex);
  if (made == nullptr) return kMissing;
  int info = 0;
  pivots->resize(static_cast<size_t>(n) + 1);
  made(&n, &n, a, &n, pivots->data(), &info);
  return info;
}

/// a x = b for `count` right sides. Both are row-major, which to LAPACK is their transposes.
int solve(bool complex, int count, int n, double* a, double* b) {
  using Solve = void(const char*, const int*, const int*, const double*, const int*, const int*, double*, const int*, int*);
  auto* made = routine<Solve>("dgetrs_", "zgetrs_", complex);
  std::vector<int> pivots;
  int info = made == nullptr ? kMissing : factor(complex, n, a, &pivots);
  if (info != 0) return info;
  const char transposed = 'T';
  const size_t parts = complex ? 2 : 1, rows = static_cast<size_t>(n), sides = static_cast<size_t>(count);
  std::vector<double> columns(sides == 1 ? 0 : rows * sides * parts);
  const auto move = [&](bool back) {
    for (size_t i = 0; i < rows; ++i)
      for (size_t k = 0; k < sides; ++k) {
        double *row = b + (i * sides + k) * parts, *column = columns.data() + (k * rows + i) * parts;
        std::memcpy(back ? row : column, back ? column : row, parts * sizeof(double));
      }
  };
  if (sides != 1) move(false);
  made(&transposed, &n, &count, a, &n, pivots.data(), sides == 1 ? b : columns.data(), &n, &info);
  if (sides != 1) move(true);
  return info;
}

int inverse(bool complex, int n, double* a) {
  using Invert = void(const int*, double*, const int*, const int*, double*, const int*, int*);
  auto* made = routine<Invert>("dgetri_", "zgetri_", complex);
  std::vector<int> pivots;
  int info = made == nullptr ? kMissing : factor(complex, n, a, &pivots);
  if (info != 0) return info;
  const int room = 64 * n;
  std::vector<double> work(static_cast<size_t>(room) * (complex ? 2 : 1));
  made(&n, a, &n, pivots.data(), work.data(), &room, &info);
  return info;
}

/// The factors are left in a; `sign` is that of the order of its rows.
int determinant(bool complex, int n, double* a, double* sign) {
  std::vector<int> pivots;
  const int info = factor(complex, n, a, &pivots);
  *sign = 1;
  for (int i = 0; i < n; ++i)
    if (pivots[static_cast<size_t>(i)] != i + 1) *sign = -*sign;
  return info;
}

}  // namespace

int64_t lapack(int32_t what, int32_t complex, int64_t m, int64_t n, void* a, void* s, void* u, void* v) {
  constexpr int64_t kMost = int64_t{1} << 30;
  if (m < 0 || n < 0 || m > kMost || n > kMost) return -1;
  const int rows = static_cast<int>(m), columns = static_cast<int>(n);
  auto *matrix = static_cast<double*>(a), *values = static_cast<double*>(s), *left = static_cast<double*>(u),
       *right = static_cast<double*>(v);
  // `m` tells of eigenproblems whether the vectors are wanted; singular vectors: all of them for 16 more.
  switch (what % 16) {
    case kEigh: return eigh(complex != 0, columns, matrix, values, rows != 0);
    case kSvd: return svd(complex != 0, what >= 16 ? 'A' : 'S', rows, columns, matrix, values, left, right);
    case kSingularValues: return svd(complex != 0, 'N', rows, columns, matrix, values, left, right);
    case kQr: return qr(complex != 0, rows, columns, matrix, left);
    case kEig: return eig(complex != 0, columns, matrix, values, left, rows != 0);
    case kSolve: return solve(complex != 0, rows, columns, matrix, values);
    case kInverse: return inverse(complex != 0, columns, matrix);
    case kDeterminant: return determinant(complex != 0, columns, matrix, values);
    default: return -1;
  }
}

}  // namespace bc::host
