/// Sparse matrices for C++: compressed rows (csr), compressed columns (csc) and coordinates (coo), under SciPy's names, on every device.
///
/// A matrix is a handle to its arrays, which are on one device: copying it copies no elements, and a matrix never changes. Elements have
/// any dtype, and dtypes promote as in NumPy; indices are int32 if that is large enough, else int64. An extent is at most 2^63 - 1.
/// Constructors check their arguments, which reads the arrays; conversions and products with dense operands stay pending; sums and products
/// of two matrices read values, because the number of their elements depends on them.
///
/// Every error is a std::runtime_error: "inconsistent shapes", indices out of bounds, pointers that do not ascend.
///
/// In the examples `bw` is the namespace broadcloth, and near(x, values) tells whether the elements of x are these numbers to 7 digits.
#pragma once
#include <broadcloth/broadcloth.h>

namespace broadcloth::sparse {

class csc_array;
class coo_array;

/// Compressed rows: row i has the elements data[j] in the columns indices[j] for indptr[i] <= j < indptr[i + 1].
class csr_array {
 public:
  /// @param data     (nnz), any dtype
  /// @param indices  (nnz), integers: the columns, in any order; elements at the same position are added
  /// @param indptr   (rows + 1), integers that ascend from 0 to nnz
  /// @param shape    {rows, columns}
  /// @throws std::runtime_error  the arrays are no such matrix.
  /// @code
  /// const bw::array data = bw::from(std::vector<double>{1, 2, 3}), indices = bw::from(std::vector<int32_t>{0, 2, 1});
  /// const bw::sparse::csr_array a(data, indices, bw::from(std::vector<int32_t>{0, 2, 3}), {2, 3});
  /// assert(near(a.toarray(), {1, 0, 2, 0, 3, 0}) && a.nnz() == 3);
  /// @endcode
  csr_array(const array& data, const array& indices, const array& indptr, const shape_t& shape);
  /// Takes the nonzero elements of a dense matrix; reads its values.
  /// @code
  /// assert(near(bw::sparse::csr_array(bw::arange(0, 4).reshape({2, 2})).indices(), {1, 0, 1}));
  /// @endcode
  explicit csr_array(const array& dense);

  const shape_t& shape() const { return shape_; }
  /// The number of stored elements, including zeros.
  int64_t nnz() const { return data_.size(); }
  dtype type() const { return data_.type(); }
  const array& data() const { return data_; }
  const array& indices() const { return indices_; }
  const array& indptr() const { return indptr_; }

  /// The dense matrix: (rows, columns).
  array toarray() const;
  /// By a counting sort of the columns.
  /// @code
  /// const bw::sparse::csr_array a(bw::arange(0, 4).reshape({2, 2}));
  /// assert(near(a.tocsc().indices(), {1, 0, 1}) && near(a.tocsc().toarray(), {0, 1, 2, 3}));
  /// @endcode
  csc_array tocsc() const;
  /// @code
  /// assert(near(bw::sparse::csr_array(bw::arange(0, 4).reshape({2, 2})).tocoo().row(), {0, 1, 1}));
  /// @endcode
  coo_array tocoo() const;
  /// The transpose over the same arrays.
  /// @code
  /// assert(near(bw::sparse::csr_array(bw::arange(0, 4).reshape({2, 2})).transpose().toarray(), {0, 2, 1, 3}));
  /// @endcode
  csc_array transpose() const;

 private:
  friend struct access;
  csr_array(array data, array indices, array indptr, shape_t shape, bool sorted);
  array data_, indices_, indptr_;
  shape_t shape_;
  bool sorted_ = false;  ///< each row's columns are known to be strictly ascending
};

/// Compressed columns: column i has the elements data[j] in the rows indices[j]; the column form of csr_array.
class csc_array {
 public:
  /// @param indices  (nnz), integers: the rows
  /// @param indptr   (columns + 1)
  /// @throws std::runtime_error  the arrays are no such matrix.
  /// @code
  /// const bw::array data = bw::from(std::vector<double>{1, 3, 2}), indices = bw::from(std::vector<int32_t>{0, 1, 0});
  /// const bw::sparse::csc_array a(data, indices, bw::from(std::vector<int32_t>{0, 1, 2, 3}), {2, 3});
  /// assert(near(a.toarray(), {1, 0, 2, 0, 3, 0}));
  /// @endcode
  csc_array(const array& data, const array& indices, const array& indptr, const shape_t& shape);
  /// Takes the nonzero elements of a dense matrix; reads its values.
  explicit csc_array(const array& dense);

  const shape_t& shape() const { return shape_; }
  int64_t nnz() const { return transposed_.nnz(); }
  dtype type() const { return transposed_.type(); }
  const array& data() const { return transposed_.data(); }
  const array& indices() const { return transposed_.indices(); }
  const array& indptr() const { return transposed_.indptr(); }

  array toarray() const { return transposed_.toarray().transpose(); }
  csr_array tocsr() const;
  coo_array tocoo() const;
  /// The transpose over the same arrays.
  const csr_array& transpose() const { return transposed_; }

 private:
  friend class csr_array;
  explicit csc_array(csr_array transposed) : transposed_(std::move(transposed)) {
    shape_ = {transposed_.shape()[1], transposed_.shape()[0]};
  }
  friend struct access;
  csr_array transposed_;
  shape_t shape_;
};

/// Coordinates: the elements data[j] in row[j] and col[j], in any order; elements at the same position are added.
class coo_array {
 public:
  /// @param data      (nnz), any dtype
  /// @param row, col  (nnz), integers
  /// @throws std::runtime_error  the lengths differ, or an index is out of bounds.
  /// @code
  /// const bw::array data = bw::from(std::vector<double>{1, 2, 4}), at = bw::from(std::vector<int32_t>{1, 0, 1});
  /// const bw::sparse::coo_array a(data, at, at, {2, 2});
  /// assert(near(a.toarray(), {2, 0, 0, 5}) && a.tocsr().nnz() == 2);
  /// @endcode
  coo_array(const array& data, const array& row, const array& col, const shape_t& shape);

  const shape_t& shape() const { return shape_; }
  int64_t nnz() const { return data_.size(); }
  dtype type() const { return data_.type(); }
  const array& data() const { return data_; }
  const array& row() const { return row_; }
  const array& col() const { return col_; }

  array toarray() const { return tocsr().toarray(); }
  /// Sorted; elements at the same position are added. Reads values.
  csr_array tocsr() const;
  /// Sorted; elements at the same position are added. Reads values.
  csc_array tocsc() const;
  coo_array transpose() const;

 private:
  friend struct access;
  coo_array() = default;
  array data_ = 0.0, row_ = 0.0, col_ = 0.0;
  shape_t shape_;
};

// ---- Products

/// The product with a dense vector (columns) or matrix (columns, k): (rows) or (rows, k). The order of the sums depends only on the matrix.
/// @throws std::runtime_error  the extents do not fit.
/// @code
/// const bw::sparse::csr_array a(bw::arange(0, 6).reshape({2, 3}));
/// assert(near(bw::sparse::matmul(a, bw::ones({3})), {3, 12}));
/// assert(near(bw::sparse::matmul(a, bw::ones({3, 2})), {3, 3, 12, 12}));
/// @endcode
array matmul(const csr_array& a, const array& x);
/// The same for a matrix in compressed columns.
/// @code
/// const bw::sparse::csc_array a(bw::arange(0, 6).reshape({2, 3}));
/// assert(near(bw::sparse::matmul(a, bw::ones({3})), {3, 12}));
/// @endcode
array matmul(const csc_array& a, const array& x);
/// The product of two matrices, sorted (F. G. Gustavson, 1978, Two fast algorithms for sparse matrices).
/// @code
/// const bw::sparse::csr_array a(bw::arange(0, 4).reshape({2, 2}));
/// assert(near(bw::sparse::matmul(a, a).toarray(), {2, 3, 6, 11}));
/// @endcode
csr_array matmul(const csr_array& a, const csr_array& b);
/// The same for matrices in compressed columns.
/// @code
/// const bw::sparse::csc_array a(bw::arange(0, 4).reshape({2, 2}));
/// assert(near(bw::sparse::matmul(a, a).toarray(), {2, 3, 6, 11}));
/// @endcode
csc_array matmul(const csc_array& a, const csc_array& b);

// ---- Sums

/// The sum, sorted and without zeros.
/// @throws std::runtime_error  the shapes differ.
/// @code
/// const bw::sparse::csr_array a(bw::arange(0, 4).reshape({2, 2}));
/// assert(near((a + a.transpose().tocsr()).toarray(), {0, 3, 3, 6}));
/// @endcode
csr_array operator+(const csr_array& a, const csr_array& b);
/// The difference, sorted and without zeros.
/// @code
/// const bw::sparse::csr_array a(bw::arange(0, 4).reshape({2, 2}));
/// assert((a - a).nnz() == 0);
/// @endcode
csr_array operator-(const csr_array& a, const csr_array& b);
/// Sums of matrices in compressed columns.
/// @code
/// const bw::sparse::csc_array a(bw::arange(0, 4).reshape({2, 2}));
/// assert(near((a + a).toarray(), {0, 2, 4, 6}) && (a - a).nnz() == 0);
/// @endcode
csc_array operator+(const csc_array& a, const csc_array& b);
csc_array operator-(const csc_array& a, const csc_array& b);
/// All elements times a number.
/// @code
/// assert(near((bw::sparse::csr_array(bw::arange(0, 4).reshape({2, 2})) * 2.0).toarray(), {0, 2, 4, 6}));
/// @endcode
csr_array operator*(const csr_array& a, double factor);
csc_array operator*(const csc_array& a, double factor);

}  // namespace broadcloth::sparse
