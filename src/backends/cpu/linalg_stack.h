#pragma once
// The bodies of linear algebra share this: matrices with strides, and the walk over the matrices of a stack.
#include <algorithm>
#include <complex>
#include <limits>
#include <memory>
#include <span>
#include <vector>

#include "backends/cpu/lapack.h"
#include "backends/cpu/strided.h"
#include "core/error.h"
#include "primitives/linalg.h"
#include "runtime/parallel.h"

namespace bc::cpu::dense {

/// A function whose loops are worth their size in a file that is compiled for small code.
#if defined(__GNUC__) && !defined(__clang__)
#define BC_LOOPS __attribute__((optimize("O2")))
#else
#define BC_LOOPS
#endif

/// A matrix with any strides, in elements.
template <class T>
struct Matrix {
  T* data;
  int64_t rows, columns, row_stride, column_stride;

  Matrix transposed() const { return {data, columns, rows, column_stride, row_stride}; }
};
template <class T>
Matrix<T> row_major(T* data, int64_t rows, int64_t columns) {
  return {data, rows, columns, columns, 1};
}
template <class T>
Matrix<T> column_major(T* data, int64_t rows, int64_t columns, int64_t ld) {
  return {data, rows, columns, 1, ld};
}
template <class T>
Matrix<T> column_major(T* data, int64_t rows, int64_t columns) {
  return column_major(data, rows, columns, rows);
}

/// Copies in tiles, so that the cache lines of both sides are used fully.
template <class From, class To>
BC_LOOPS void copy_matrix(const Matrix<From>& from, const Matrix<To>& to) {
  if (from.row_stride == 1 && to.row_stride == 1) {
    for (int64_t j = 0; j < from.columns; ++j) std::copy_n(from.data + j * from.column_stride, from.rows, to.data + j * to.column_stride);
    return;
  }
  if (from.column_stride == 1 && to.column_stride == 1) {
    for (int64_t i = 0; i < from.rows; ++i) std::copy_n(from.data + i * from.row_stride, from.columns, to.data + i * to.row_stride);
    return;
  }
  constexpr int64_t kTile = 16;
  for (int64_t j0 = 0; j0 < from.columns; j0 += kTile) {
    const int64_t j1 = std::min(j0 + kTile, from.columns);
    for (int64_t i0 = 0; i0 < from.rows; i0 += kTile) {
      const int64_t i1 = std::min(i0 + kTile, from.rows);
      for (int64_t i = i0; i < i1; ++i)
        for (int64_t j = j0; j < j1; ++j)
          to.data[i * to.row_stride + j * to.column_stride] = from.data[i * from.row_stride + j * from.column_stride];
    }
  }
}

template <class T>
void set_identity(const Matrix<T>& to) {
  for (int64_t i = 0; i < to.rows; ++i)
    for (int64_t j = 0; j < to.columns; ++j) to.data[i * to.row_stride + j * to.column_stride] = T(i == j ? 1 : 0);
}

/// Sets the elements below (or above) the diagonal to zero.
template <class T>
void clear_triangle(const Matrix<T>& of, bool below) {
  for (int64_t j = 0; j < of.columns; ++j) {
    const int64_t begin = below ? j + 1 : 0, end = below ? of.rows : std::min(j, of.rows);
    for (int64_t i = begin; i < end; ++i) of.data[i * of.row_stride + j * of.column_stride] = T(0);
  }
}

/// Uninitialized memory for a routine.
template <class T>
class Scratch {
 public:
  explicit Scratch(int64_t size) : data_(std::make_unique_for_overwrite<T[]>(static_cast<size_t>(std::max<int64_t>(size, 1)))) {}
  T* get() const { return data_.get(); }
  operator T*() const { return data_.get(); }

 private:
  std::unique_ptr<T[]> data_;
};

/// A size as LAPACK's int argument.
inline int size_of(int64_t extent) {
  BC_CHECK(extent <= (int64_t{1} << 30), Value, "linalg: expected matrices of at most 2**30 rows and columns, got {}", extent);
  return static_cast<int>(extent);
}
inline int leading(int64_t rows) { return std::max(size_of(rows), 1); }
/// The size of a work array, from the first element of a workspace query.
template <class T>
int told_size(T first) {
  // A float may have rounded the number down.
  const double told = static_cast<double>(std::real(first));
  return std::max(1, static_cast<int>(std::is_same_v<Real<T>, float> ? told * (1 + 1e-7) + 1 : told));
}

/// The matrices, inputs and parts of one op.
template <class T>
class Stack {
 public:
  using R = Real<T>;

  Stack(const LinalgExtra& op, std::span<const View> inputs, const View& output) : op(op), inputs_(inputs), out_(first(output)) {
    m = rows_of(0);
    n = columns_of(0);
  }

  /// Calls `body(i, walk)` for each matrix, on several threads if there is enough work. A single large matrix uses OpenBLAS's threads.
  template <class F>
  void each(double operations, F&& body) const {
    const int64_t count = product(op.batch);
    constexpr double kPiece = 4e5, kLarge = 1e8;
    const LapackThreads threads(count == 1 && operations > kLarge);
    parallel_for(count, std::max<int64_t>(1, static_cast<int64_t>(kPiece / (operations + 1e3))), [&](int64_t begin, int64_t end) {
      std::vector<Dims> steps;
      for (const View& v : inputs_) steps.emplace_back(v.layout.strides.span().first(op.batch.size()));
      std::vector<const Dims*> lists;
      for (const Dims& d : steps) lists.push_back(&d);
      Walker walk(op.batch, lists);
      walk.seek(begin);
      auto piece = body();
      for (int64_t i = begin; i < end; ++i, walk.next()) piece(i, walk);
    });
  }

  int64_t rows_of(size_t k) const { return matrix_extent(k, 0); }
  int64_t columns_of(size_t k) const { return matrix_extent(k, 1); }
  /// The matrix of input k at the walker's position. Vectors and numbers have columns of extent 1.
  template <class E = T>
  Matrix<const E> input(size_t k, const Walker& walk) const {
    const View& v = inputs_[k];
    const int lead = op.batch.size(), nd = v.layout.ndim();
    const auto* data = reinterpret_cast<const E*>(first(v)) + walk.offset(k);
    return {data, rows_of(k), columns_of(k), nd > lead ? v.layout.strides[lead] : 0, nd > lead + 1 ? v.layout.strides[lead + 1] : 0};
  }
  /// Part k of matrix i.
  template <class E = T>
  E* part(size_t k, int64_t i) const {
    const LinalgExtra::Part& p = op.parts[k];
    int64_t size = 1;
    for (int d = op.batch.size(); d < p.shape.size(); ++d) size *= p.shape[d];
    return reinterpret_cast<E*>(out_ + p.offset) + i * size;
  }
  int32_t* info(int64_t i) const { return part<int32_t>(op.parts.size() - 1, i); }

  const LinalgExtra& op;
  int64_t m, n;  ///< extents of input 0

 private:
  int64_t matrix_extent(size_t k, int axis) const {
    const Dims& shape = inputs_[k].layout.shape;
    const int at = op.batch.size() + axis;
    return at < shape.size() ? shape[at] : 1;
  }

  const std::span<const View> inputs_;
  char* const out_;
};

inline double cube(double n) { return n * n * n; }

/// op(a), as LAPACK names it.
inline const char* flag(Transposed t) { return t == Transposed::no ? "N" : t == Transposed::transpose ? "T" : "C"; }

/// Schur's form of matrices of one size, column-major: a becomes T, z the unitary factor.
template <class T>
class SchurRoutine {
 public:
  explicit SchurRoutine(int n) : n_(n), ld_(leading(n)), lwork_(wanted(n, ld_)), values_(2 * int64_t{n}), work_(lwork_), reals_(n) {}
  void operator()(T* a, T* z, int* info) const { call(n_, ld_, a, values_, z, work_, lwork_, reals_, info); }

 private:
  static void call(int n, int ld, T* a, T* values, T* z, T* work, int lwork, Real<T>* reals, int* info) {
    int found = 0;
    int* const unused = nullptr;
    if constexpr (is_complex_v<T>)
      call_lapack(BC_LAPACK(T, "gees", "gees"), "V", "N", unused, &n, a, &ld, &found, values, z, &ld, work, &lwork, reals, unused, info);
    else
      call_lapack(BC_LAPACK(T, "gees", "gees"), "V", "N", unused, &n, a, &ld, &found, values, values ? values + n : values, z, &ld, work,
                  &lwork, unused, info);
  }
  static int wanted(int n, int ld) {
    if (n <= 32) return 34 * ld;  // more than LAPACK's routines for small matrices use; the query would take as long as they do
    T size{};
    Real<T> reals{};
    int ignored = 0;
    call(n, ld, nullptr, nullptr, nullptr, &size, -1, &reals, &ignored);
    return told_size(size);
  }

  const int n_, ld_, lwork_;
  Scratch<T> values_, work_;
  Scratch<Real<T>> reals_;
};

/// The ops of linalg_functions.cpp.
template <class T>
void run_function(const Stack<T>& s);

}  // namespace bc::cpu::dense
