// The public sparse matrices, thin over the engine's compressed rows.
#include "broadcloth/sparse.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "api/array_impl.h"
#include "core/error.h"
#include "ops/compose.h"
#include "ops/sparse.h"

namespace broadcloth::sparse {
namespace {

using namespace face;
namespace engine_sparse = bc::sparse;
using bc::compose::truth_of;

void require_matrix(const shape_t& shape) {
  BC_CHECK(shape.size() == 2 && shape[0] >= 0 && shape[1] >= 0, Value,
           "sparse matrix: expected a shape of two extents that are not negative, got {}", dims(shape));
}
void require_vector(const char* name, const array& a) {
  BC_CHECK(a.shape().size() == 1, Value, "sparse matrix: expected a vector of {}, got shape {}", name, dims(a.shape()));
}

bc::DType index_dtype(std::initializer_list<int64_t> sizes) {
  return std::max(sizes) > std::numeric_limits<int32_t>::max() ? bc::DType::i64 : bc::DType::i32;
}
bc::Array indices_of(const array& a, bc::DType t) {
  const bc::Array given = real_array(a);
  BC_CHECK(bc::is_integer(given.dtype()), Type, "sparse matrix: expected integer indices, got {}", bc::info(given.dtype()).name);
  return bc::compose::cast(given, t);
}
bool all_in(const bc::Array& a, int64_t extent) {
  using bc::Arg;
  const bc::Array within = bc::ufunc(bc::Op::logical_and, {bc::ufunc(bc::Op::greater_equal, {a, Arg(0)}),
                                                           bc::ufunc(bc::Op::less, {bc::compose::cast(a, bc::DType::i64), Arg(extent)})});
  return truth_of(bc::reduce(bc::Op::reduce_all, within));
}

engine_sparse::Rows rows_of(const csr_array& a) { return {real_array(a.indices()), real_array(a.indptr()), a.shape()[1]}; }

}  // namespace

/// Makes matrices of the engine's parts.
struct access {
  static csr_array csr(const engine_sparse::Matrix& m, shape_t shape, bool sorted) {
    return {made(m.data), made(m.rows.indices), made(m.rows.indptr), std::move(shape), sorted};
  }
  static csc_array csc(csr_array transposed) { return csc_array(std::move(transposed)); }
  static coo_array coo(array data, array row, array col, shape_t shape) {
    coo_array a;
    a.data_ = std::move(data);
    a.row_ = std::move(row);
    a.col_ = std::move(col);
    a.shape_ = std::move(shape);
    return a;
  }
  /// The matrix with sorted rows.
  static engine_sparse::Matrix sorted(const csr_array& a) {
    const engine_sparse::Rows rows = rows_of(a);
    const bc::Array data = real_array(a.data_);
    if (a.sorted_ || engine_sparse::is_sorted(rows)) return {data, rows};
    return engine_sparse::compress(data, engine_sparse::expand(rows.indptr, data.size()), rows.indices, a.shape_[0], a.shape_[1]);
  }
  static csr_array with_data(const csr_array& a, array data) { return {std::move(data), a.indices_, a.indptr_, a.shape_, a.sorted_}; }
};

namespace {

/// Both with one dtype of indices, which counts `elements` too.
void make_alike(engine_sparse::Rows& a, engine_sparse::Rows& b, int64_t elements) {
  const bc::DType t = bc::promote(bc::promote(a.indptr.dtype(), b.indptr.dtype()), index_dtype({elements}));
  for (engine_sparse::Rows* r : {&a, &b}) {
    r->indices = bc::compose::cast(r->indices, t);
    r->indptr = bc::compose::cast(r->indptr, t);
  }
}

csr_array sum(const csr_array& a, const csr_array& b, bool subtract) {
  BC_CHECK(a.shape() == b.shape(), Value, "inconsistent shapes");
  engine_sparse::Matrix x = access::sorted(a), y = access::sorted(b);
  make_alike(x.rows, y.rows, x.data.size() + y.data.size());
  return access::csr(engine_sparse::sum(x.data, x.rows, y.data, y.rows, subtract), a.shape(), true);
}

}  // namespace

csr_array::csr_array(array data, array indices, array indptr, shape_t shape, bool sorted)
    : data_(std::move(data)), indices_(std::move(indices)), indptr_(std::move(indptr)), shape_(std::move(shape)), sorted_(sorted) {}

csr_array::csr_array(const array& data, const array& indices, const array& indptr, const shape_t& shape)
    : data_(made(real_array(data))), indices_(0.0), indptr_(0.0), shape_(shape) {
  require_matrix(shape);
  require_vector("elements", data);
  require_vector("indices", indices);
  require_vector("pointers", indptr);
  BC_CHECK(data.size() == indices.size(), Value, "indices and data should have the same size");
  BC_CHECK(indptr.size() == shape[0] + 1, Value, "index pointer size {} should be {}", indptr.size(), shape[0] + 1);
  const bc::DType t = index_dtype({data.size(), shape[0], shape[1]});
  // Checked before the cast, which could make a wrong number a right one.
  const bc::Array at = indices_of(indices, bc::DType::i64), pointers = indices_of(indptr, bc::DType::i64);
  BC_CHECK(bc::item(bc::compose::pick(pointers, 0, 0)).i == 0, Value, "index pointer should start with 0");
  BC_CHECK(bc::item(bc::compose::pick(pointers, 0, shape[0])).i == data.size(), Value,
           "Last value of index pointer should be the size of index and data arrays");
  BC_CHECK(shape[0] == 0 || truth_of(bc::reduce(bc::Op::reduce_all, bc::ufunc(bc::Op::greater_equal, {bc::diff(pointers), bc::Arg(0)}))),
           Value, "indptr values must form a non-decreasing sequence");
  BC_CHECK(data.size() == 0 || all_in(at, shape[1]), Value, "indices must be >= 0 and < {}", shape[1]);
  indices_ = made(bc::compose::cast(at, t));
  indptr_ = made(bc::compose::cast(pointers, t));
}

csr_array::csr_array(const array& dense) : data_(0.0), indices_(0.0), indptr_(0.0), shape_(dense.shape()) {
  require_matrix(shape_);
  const bc::Array a = real_array(dense), flat = bc::ravel(a);
  const bc::Array places = bc::flatnonzero(flat);
  const bc::DType t = index_dtype({shape_[0], shape_[1], places.size()});
  const bc::Arg columns(std::max<int64_t>(shape_[1], 1));
  const bc::Array row = bc::compose::cast(bc::ufunc(bc::Op::floor_divide, {places, columns}), t);
  const bc::Array column = bc::compose::cast(bc::ufunc(bc::Op::remainder, {places, columns}), t);
  *this = access::csr(engine_sparse::compress(bc::take(flat, places), row, column, shape_[0], shape_[1]), shape_, true);
}

array csr_array::toarray() const { return made(engine_sparse::dense(real_array(data_), rows_of(*this), sorted_)); }
csc_array csr_array::tocsc() const {
  // The rows of the transpose are the columns.
  return access::csc(access::csr(engine_sparse::transpose(real_array(data_), rows_of(*this)), {shape_[1], shape_[0]}, sorted_));
}
coo_array csr_array::tocoo() const { return access::coo(data_, made(engine_sparse::expand(real_array(indptr_), nnz())), indices_, shape_); }
csc_array csr_array::transpose() const { return access::csc(*this); }

csc_array::csc_array(const array& data, const array& indices, const array& indptr, const shape_t& shape)
    : csc_array((require_matrix(shape), csr_array(data, indices, indptr, {shape[1], shape[0]}))) {}
csc_array::csc_array(const array& dense) : csc_array((require_matrix(dense.shape()), csr_array(dense.transpose()))) {}
csr_array csc_array::tocsr() const { return transposed_.tocsc().transposed_; }
coo_array csc_array::tocoo() const { return transposed_.tocoo().transpose(); }

coo_array::coo_array(const array& data, const array& row, const array& col, const shape_t& shape)
    : data_(made(real_array(data))), shape_(shape) {
  require_matrix(shape);
  require_vector("elements", data);
  BC_CHECK(row.shape() == data.shape() && col.shape() == data.shape(), Value, "row, column, and data array must all be the same length");
  const bc::Array i = indices_of(row, bc::DType::i64), j = indices_of(col, bc::DType::i64);
  BC_CHECK(data.size() == 0 || (all_in(i, shape[0]) && all_in(j, shape[1])), Value, "row and column indices must lie in the shape {}",
           dims(shape));
  const bc::DType t = index_dtype({data.size(), shape[0], shape[1]});
  row_ = made(bc::compose::cast(i, t));
  col_ = made(bc::compose::cast(j, t));
}
csr_array coo_array::tocsr() const {
  return access::csr(engine_sparse::compress(real_array(data_), real_array(row_), real_array(col_), shape_[0], shape_[1]), shape_, true);
}
csc_array coo_array::tocsc() const { return access::csc(transpose().tocsr()); }
coo_array coo_array::transpose() const { return access::coo(data_, col_, row_, {shape_[1], shape_[0]}); }

array matmul(const csr_array& a, const array& x) {
  return made(engine_sparse::product(real_array(a.data()), rows_of(a), real_array(x), false));
}
array matmul(const csc_array& a, const array& x) {
  return made(engine_sparse::product(real_array(a.data()), rows_of(a.transpose()), real_array(x), true));
}
csr_array matmul(const csr_array& a, const csr_array& b) {
  engine_sparse::Rows x = rows_of(a), y = rows_of(b);
  // At most as many elements as places, and as each of a's elements has in a row of b.
  const int64_t rows = a.shape()[0], columns = b.shape()[1], most = std::numeric_limits<int64_t>::max();
  const int64_t places = columns > 0 && rows > most / columns ? most : rows * columns;
  const int64_t products = columns > 0 && a.nnz() > most / columns ? most : a.nnz() * columns;
  make_alike(x, y, std::min(places, products));
  return access::csr(engine_sparse::matmul(real_array(a.data()), x, real_array(b.data()), y), {rows, columns}, true);
}
csc_array matmul(const csc_array& a, const csc_array& b) { return access::csc(matmul(b.transpose(), a.transpose())); }

csr_array operator+(const csr_array& a, const csr_array& b) { return sum(a, b, false); }
csr_array operator-(const csr_array& a, const csr_array& b) { return sum(a, b, true); }
csc_array operator+(const csc_array& a, const csc_array& b) { return access::csc(a.transpose() + b.transpose()); }
csc_array operator-(const csc_array& a, const csc_array& b) { return access::csc(a.transpose() - b.transpose()); }
csr_array operator*(const csr_array& a, double factor) { return access::with_data(a, a.data() * factor); }
csc_array operator*(const csc_array& a, double factor) { return access::csc(a.transpose() * factor); }

}  // namespace broadcloth::sparse
