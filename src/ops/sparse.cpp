#include "ops/sparse.h"

#include <limits>

#include "array/history.h"
#include "array/indexing.h"
#include "array/record.h"
#include "core/error.h"
#include "ops/compose.h"
#include "ops/sorting.h"

namespace bc::sparse {
namespace {

using namespace bc::compose;

/// The dtype in which a matrix of `t` is multiplied, one for which there are bodies. Sums of narrower integers are the same after the cast
/// back.
DType loop_dtype(DType t) {
  if (t == DType::f16 || t == DType::bf16) return DType::f32;
  return is_integer(t) && t != DType::i32 ? DType::i64 : t;
}

/// Whether the device has bodies of all ops.
bool has_bodies(const Array& a, bool composed) { return !traits(a.device()).composes && !composed; }

Array record_op(const SparseExtra& op, std::vector<Array> inputs, const Dims& shape, DType dtype) {
  const Device device = inputs[0].device();
  std::vector<Dims> shapes;
  for (Array& a : inputs) {
    BC_CHECK(a.device() == device, Value, "{}: expected arrays on {}, got one on {}", op.name, to_string(device), to_string(a.device()));
    a = ascontiguous(a);
    shapes.push_back(a.shape());
  }
  return record_library(std::move(inputs), std::move(shapes), std::make_unique<SparseExtra>(op), shape, dtype, device);
}

void require_indices(const Array& a) {
  BC_CHECK(a.ndim() == 1 && (a.dtype() == DType::i32 || a.dtype() == DType::i64), Type,
           "sparse matrix: expected a vector of int32 or int64 indices, got {} of shape {}", info(a.dtype()).name, a.shape());
}
void require_rows(const Rows& a) {
  require_indices(a.indices);
  require_indices(a.indptr);
  BC_CHECK(a.indices.dtype() == a.indptr.dtype(), Type, "sparse matrix: expected indices and pointers of one dtype, got {} and {}",
           info(a.indices.dtype()).name, info(a.indptr.dtype()).name);
  BC_CHECK(a.indptr.size() >= 1, Value, "sparse matrix: expected at least one row pointer");
}
int64_t rows_of(const Rows& a) { return a.indptr.size() - 1; }
int64_t elements_of(const Rows& a) { return a.indices.size(); }

Array range(int64_t n, Device device) { return arange(Scalar::integer(0), Scalar::integer(1), n, DType::i64, device); }
Array at(const Array& a, const Array& places) {
  const IndexItem item{{}, cast(places, DType::i64)};
  return getitem(a, {&item, 1});
}
int64_t last_of(const Array& a) { return item(pick(a, 0, a.size() - 1)).i; }

/// The running sums of counts, from 0 on.
Array running(const Array& counts) {
  const Array both[] = {zeros(Dims{1}, DType::i64, counts.device()), cumsum(cast(counts, DType::i64), 0, DType::i64, {})};
  return concatenate(both);
}

/// One key for each position, ascending in C order.
Array keys_of(const Array& rows, const Array& columns, int64_t row_count, int64_t column_count) {
  BC_CHECK(column_count == 0 || row_count <= std::numeric_limits<int64_t>::max() / column_count, Value,
           "sparse matrix: {} x {} places are more than an int64 counts", row_count, column_count);
  return add(multiply(cast(rows, DType::i64), Arg(column_count)), cast(columns, DType::i64));
}

/// The pointers of rows whose elements have these keys, which are ascending.
Array indptr_of(const Array& keys, int64_t rows, int64_t columns, DType t) {
  return cast(searchsorted(keys, multiply(range(rows + 1, keys.device()), Arg(columns))), t);
}

Groups group_composed(const Array& keys, int64_t groups) {
  const Array order = argsort(keys, 0);
  const Array wanted = cast(range(groups + 1, keys.device()), keys.dtype());
  return {cast(searchsorted(at(keys, order), wanted), keys.dtype()), cast(order, keys.dtype())};
}

Union unite_composed(const Rows& a, const Rows& b) {
  const Device device = a.indices.device();
  const DType t = a.indices.dtype();
  const int64_t na = elements_of(a), nb = elements_of(b), rows = rows_of(a);
  const Array ka = keys_of(expand(a.indptr, na, true), a.indices, rows, a.columns);
  const Array kb = keys_of(expand(b.indptr, nb, true), b.indices, rows, b.columns);
  // The keys of b that a lacks, and the positions of both in the union: after the smaller keys of a and of the rest of b.
  const Array below = searchsorted(ka, kb), within = ufunc(Op::minimum, {below, Arg(std::max<int64_t>(na - 1, 0))});
  const Array shared =
      na > 0 ? ufunc(Op::logical_and, {ufunc(Op::less, {below, Arg(na)}), equal(at(ka, within), kb)}) : zeros(Dims{nb}, DType::b1, device);
  const Array alone = running(logical_not(shared));  // how many keys that only b has precede each position of b
  const Array place_a = add(range(na, device), at(alone, searchsorted(kb, ka)));
  const Array place_b = add(below, narrow(alone, 0, 0, nb));
  const int64_t n = na + last_of(alone);
  Union u;
  const auto spread = [&](const Array& places, const Array& values, int64_t otherwise) {
    const Array made = full(Dims{n}, Scalar::integer(otherwise), t, device);
    const IndexItem item{{}, places};
    if (values.size() > 0) setitem(made, {&item, 1}, cast(values, t));
    return made;
  };
  u.from_a = spread(place_a, range(na, device), na);
  u.from_b = spread(place_b, range(nb, device), nb);
  u.rows.indices = spread(place_a, a.indices, 0);
  const IndexItem item{{}, place_b};
  if (nb > 0) setitem(u.rows.indices, {&item, 1}, b.indices);
  // A row of the union begins after the preceding elements of a, and those that only b has.
  u.rows.indptr = cast(add(cast(a.indptr, DType::i64), at(alone, b.indptr)), t);
  u.rows.columns = a.columns;
  return u;
}

/// A part of an op's buffer, at a place in bytes.
Array part_of(const Array& all, DType dtype, int64_t begin, int64_t n) {
  Layout layout = contiguous_layout(Dims{n});
  layout.offset = begin / itemsize(dtype);
  return {all.storage(), dtype, layout};
}

bool counts_with(DType index, int64_t n) { return index == DType::i64 || n <= std::numeric_limits<int32_t>::max(); }

Array both(const Array& a, const Array& b) { return ufunc(Op::logical_and, {a, b}); }
Array either(const Array& a, const Array& b) { return ufunc(Op::logical_or, {a, b}); }
/// The elements from the second on, and those before the last.
ArrayPair neighbours(const Array& a) { return {narrow(a, 0, 1, a.size() - 1), narrow(a, 0, 0, a.size() - 1)}; }

/// The elements of a mask.
Matrix kept(const Array& data, const Rows& a, const Array& keep) {
  const Array before = running(keep);
  if (last_of(before) == data.size()) return {data, a};
  const IndexItem item{{}, keep};
  return {getitem(data, {&item, 1}), {getitem(a.indices, {&item, 1}), cast(at(before, a.indptr), a.indptr.dtype()), a.columns}};
}

/// Adds up the elements of one place, of rows whose columns ascend; `row` is each element's.
Matrix merged(const Array& data, const Rows& a, const Array& row) {
  const auto [row_after, row_before] = neighbours(row);
  const auto [column_after, column_before] = neighbours(a.indices);
  const Array differs = either(ufunc(Op::not_equal, {row_after, row_before}), ufunc(Op::not_equal, {column_after, column_before}));
  const Array parts[] = {ones(Dims{1}, DType::b1, data.device()), differs};
  const Array first = concatenate(parts), group = running(first);
  const int64_t n = last_of(group);
  if (n == data.size()) return {data, a};
  const Array sums = zeros(Dims{n}, data.dtype(), data.device());
  const IndexItem places{{}, subtract(narrow(group, 0, 1, data.size()), Arg(1))}, mask{{}, first};
  ufunc_at(Op::add, sums, {&places, 1}, Arg(data));
  return {sums, {getitem(a.indices, {&mask, 1}), cast(at(group, a.indptr), a.indptr.dtype()), a.columns}};
}

/// The sum or difference over the union of the places.
Matrix add_composed(const Array& a_data, const Rows& a, const Array& b_data, const Rows& b, bool subtracts, bool composed) {
  const Union u = unite(a, b, composed);
  const auto spread = [](const Array& x, const Array& places) {
    const Array parts[] = {x, zeros(Dims{1}, x.dtype(), x.device())};
    return at(concatenate(parts), places);
  };
  const Array data = ufunc(subtracts ? Op::subtract : Op::add, {spread(a_data, u.from_a), spread(b_data, u.from_b)});
  return kept(data, u.rows, ufunc(Op::not_equal, {data, Arg(0)}));
}

/// All products of elements, sorted by their positions in the result, and added up.
Matrix matmul_composed(const Array& a_data, const Rows& a, const Array& b_data, const Rows& b) {
  const Device device = a_data.device();
  const DType t = a.indices.dtype();
  const int64_t rows = rows_of(a), na = elements_of(a);
  const Array begin = at(b.indptr, a.indices), end = at(b.indptr, add(cast(a.indices, DType::i64), Arg(1)));
  const Array first = running(subtract(end, begin));
  const int64_t n = last_of(first);
  const Array in_a = expand(first, n, true);
  const Array in_b = add(subtract(range(n, device), at(first, in_a)), cast(at(begin, in_a), DType::i64));
  const Array keys = keys_of(at(expand(a.indptr, na, true), in_a), at(b.indices, in_b), rows, b.columns);
  const Unique u = unique(keys, false, true, false);
  Matrix p;
  p.data = zeros(u.values.shape(), a_data.dtype(), device);
  if (n > 0) scatter(Op::add, p.data, Dims{n}, Dims{-1}, {u.inverse}, Dims{0}, multiply(at(a_data, in_a), at(b_data, in_b)));
  p.rows = {cast(ufunc(Op::remainder, {u.values, Arg(std::max<int64_t>(b.columns, 1))}), t), indptr_of(u.values, rows, b.columns, t),
            b.columns};
  return p;
}

}  // namespace

Array product(const Array& data_in, const Rows& a, const Array& x_in, bool transposed, bool composed) {
  require_rows(a);
  const int64_t inner = transposed ? rows_of(a) : a.columns, outer = transposed ? a.columns : rows_of(a);
  BC_CHECK(data_in.shape() == a.indices.shape(), Value, "sparse matrix: expected as many elements as indices, got {} and {}",
           data_in.shape(), a.indices.shape());
  BC_CHECK((x_in.ndim() == 1 || x_in.ndim() == 2) && x_in.shape()[0] == inner, Value, "matmul: dimension mismatch with signature {}",
           x_in.ndim() == 1 ? "(n,k=1?),(k)->(n)" : "(n,k),(k,m)->(n,m)");
  const DType result = promote(data_in.dtype(), x_in.dtype()), t = loop_dtype(result);
  const Array data = cast(data_in, t), x = cast(x_in, t);
  Dims shape{outer};
  if (x.ndim() == 2) shape.push_back(x.shape()[1]);
  if (product(shape) == 0 || data.size() == 0) return zeros(shape, result, data.device());
  if (transposed && !has_bodies(data, composed)) {
    const Matrix turned = transpose(data, a, true);
    return cast(product(turned.data, turned.rows, x, false, composed), result);
  }
  return cast(record_op(SparseExtra(Sparse::product, outer, transposed), {data, a.indices, a.indptr, x}, shape, t), result);
}

Groups group(const Array& keys, int64_t groups, bool composed) {
  require_indices(keys);
  const int64_t n = keys.size();
  if (n == 0) return {zeros(Dims{groups + 1}, keys.dtype(), keys.device()), empty(Dims{0}, keys.dtype(), keys.device())};
  if (!has_bodies(keys, composed)) return group_composed(keys, groups);
  const Array both = record_op(SparseExtra(Sparse::group, groups), {keys}, Dims{groups + 1 + n}, keys.dtype());
  return {narrow(both, 0, 0, groups + 1), narrow(both, 0, groups + 1, n)};
}

Array expand(const Array& indptr, int64_t n, bool composed) {
  require_indices(indptr);
  if (n == 0) return empty(Dims{0}, indptr.dtype(), indptr.device());
  if (has_bodies(indptr, composed)) return record_op(SparseExtra(Sparse::expand), {indptr}, Dims{n}, indptr.dtype());
  const Array places = cast(range(n, indptr.device()), indptr.dtype());
  return cast(searchsorted(narrow(indptr, 0, 1, indptr.size() - 1), places, "right"), indptr.dtype());
}

Union unite(const Rows& a, const Rows& b, bool composed) {
  require_rows(a);
  require_rows(b);
  BC_CHECK(rows_of(a) == rows_of(b) && a.columns == b.columns, Value, "inconsistent shapes");
  if (elements_of(a) == 0 || elements_of(b) == 0 || !has_bodies(a.indices, composed)) return unite_composed(a, b);
  const DType t = a.indices.dtype();
  std::vector<Array> inputs{a.indices, a.indptr, b.indices, b.indptr};
  const Array indptr = record_op(SparseExtra(Sparse::union_counts), inputs, a.indptr.shape(), t);
  inputs.push_back(indptr);
  const int64_t n = last_of(indptr);
  const Array all = record_op(SparseExtra(Sparse::union_entries), std::move(inputs), Dims{3, n}, t);
  return {{pick(all, 0, 0), indptr, a.columns}, pick(all, 0, 1), pick(all, 0, 2)};
}

Matrix matmul(const Array& a_in, const Rows& a, const Array& b_in, const Rows& b, bool composed) {
  require_rows(a);
  require_rows(b);
  BC_CHECK(a.columns == rows_of(b), Value, "matmul: dimension mismatch with signature (n,k={}),(k={},m)->(n,m)", a.columns, rows_of(b));
  const DType result = promote(a_in.dtype(), b_in.dtype()), t = loop_dtype(result), index = a.indices.dtype();
  const Device device = a_in.device();
  const Array a_data = cast(a_in, t), b_data = cast(b_in, t);
  if (elements_of(a) == 0 || elements_of(b) == 0)
    return {empty(Dims{0}, result, device), {empty(Dims{0}, index, device), zeros(a.indptr.shape(), index, device), b.columns}};
  // The body has no derivative; the ops of which it can be composed have.
  if (!has_bodies(a_data, composed) || has_history(a_data) || has_history(b_data)) {
    Matrix p = matmul_composed(a_data, a, b_data, b);
    p.data = cast(p.data, result);
    return p;
  }
  const Array indptr =
      record_op(SparseExtra(Sparse::matmul_counts, b.columns), {a.indices, a.indptr, b.indices, b.indptr}, a.indptr.shape(), index);
  const int64_t n = last_of(indptr);
  if (n == 0) return {empty(Dims{0}, result, device), {empty(Dims{0}, index, device), indptr, b.columns}};
  const SparseExtra op(Sparse::matmul_entries, b.columns, false, n);
  const Array all =
      record_op(op, {a_data, a.indices, a.indptr, b_data, b.indices, b.indptr, indptr}, Dims{op.bytes(t, index) / itemsize(t)}, t);
  return {cast(narrow(all, 0, 0, n), result), {part_of(all, index, op.indices_at(t), n), indptr, b.columns}};
}

Matrix transpose(const Array& data, const Rows& a, bool composed) {
  require_rows(a);
  const int64_t n = elements_of(a), rows = rows_of(a);
  BC_CHECK(data.shape() == a.indices.shape(), Value, "sparse matrix: expected as many elements as indices, got {} and {}", data.shape(),
           a.indices.shape());
  const DType t = data.dtype(), index = a.indices.dtype();
  const Device device = data.device();
  if (n == 0) return {data, {a.indices, zeros(Dims{a.columns + 1}, index, device), rows}};
  if (!has_bodies(data, composed) || has_history(data)) {
    const Groups by_column = group(a.indices, a.columns, composed);
    return {at(data, by_column.order), {at(expand(a.indptr, n, composed), by_column.order), by_column.indptr, rows}};
  }
  const SparseExtra op(Sparse::transpose, a.columns, false, n);
  const Array all = record_op(op, {data, a.indices, a.indptr}, Dims{op.bytes(t, index, a.columns + 1) / itemsize(t)}, t);
  return {narrow(all, 0, 0, n),
          {part_of(all, index, op.indices_at(t), n), part_of(all, index, op.pointers_at(t, index), a.columns + 1), rows}};
}

Matrix sum(const Array& a_in, const Rows& a, const Array& b_in, const Rows& b, bool subtract, bool composed) {
  require_rows(a);
  require_rows(b);
  BC_CHECK(rows_of(a) == rows_of(b) && a.columns == b.columns, Value, "inconsistent shapes");
  const DType result = promote(a_in.dtype(), b_in.dtype()), t = loop_dtype(result), index = a.indices.dtype();
  const int64_t na = elements_of(a), nb = elements_of(b);
  // The body adds in a dtype that wraps and rounds like the result's.
  if (!has_bodies(a_in, composed) || has_history(a_in) || has_history(b_in) || itemsize(t) != itemsize(result) ||
      (subtract && result == DType::b1) || na == 0 || nb == 0 || !counts_with(index, na + nb))
    return add_composed(a_in, a, b_in, b, subtract, composed);
  const SparseExtra op(Sparse::sum, a.columns, subtract, na + nb);
  const Array all = record_op(op, {cast(a_in, t), a.indices, a.indptr, cast(b_in, t), b.indices, b.indptr},
                              Dims{op.bytes(t, index, a.indptr.size()) / itemsize(t)}, t);
  const Array indptr = part_of(all, index, op.pointers_at(t, index), a.indptr.size());
  const int64_t n = last_of(indptr);
  return {cast(narrow(all, 0, 0, n), result), {part_of(all, index, op.indices_at(t), n), indptr, a.columns}};
}

bool is_sorted(const Rows& a) {
  require_rows(a);
  const int64_t n = elements_of(a);
  if (n < 2) return true;
  const Array row = expand(a.indptr, n);
  const auto [row_after, row_before] = neighbours(row);
  const auto [column_after, column_before] = neighbours(a.indices);
  const Array disorder = both(equal(row_after, row_before), ufunc(Op::less_equal, {column_after, column_before}));
  return !truth_of(reduce(Op::reduce_any, disorder));
}

Matrix compress(const Array& data, const Array& row, const Array& column, int64_t rows, int64_t columns) {
  require_indices(row);
  require_indices(column);
  const int64_t n = row.size();
  BC_CHECK(data.shape() == row.shape() && column.shape() == row.shape() && row.dtype() == column.dtype(), Value,
           "sparse matrix: expected elements, rows and columns of one shape and one dtype of indices, got {}, {} and {}", data.shape(),
           row.shape(), column.shape());
  const DType index = row.dtype();
  const Device device = data.device();
  if (n == 0) return {data, {column, zeros(Dims{rows + 1}, index, device), columns}};
  const auto [row_after, row_before] = neighbours(row);
  const auto [column_after, column_before] = neighbours(column);
  const Array ascends = either(ufunc(Op::greater, {row_after, row_before}),
                               both(equal(row_after, row_before), ufunc(Op::greater, {column_after, column_before})));
  if (truth_of(reduce(Op::reduce_all, ascends)))
    return {data, {column, cast(searchsorted(row, cast(range(rows + 1, device), index)), index), columns}};
  const Array by_column = group(column, columns).order;
  const Groups by_row = group(at(row, by_column), rows);
  const Array order = at(by_column, by_row.order);
  return merged(at(data, order), {at(column, order), by_row.indptr, columns}, at(row, order));
}

Array dense(const Array& data, const Rows& a, bool distinct) {
  require_rows(a);
  const int64_t rows = rows_of(a), n = elements_of(a);
  const Array flat = zeros(Dims{rows * a.columns}, data.dtype(), data.device());
  if (n > 0) {
    const IndexItem item{{}, keys_of(expand(a.indptr, n), a.indices, rows, a.columns)};
    if (distinct)
      setitem(flat, {&item, 1}, data);
    else
      ufunc_at(Op::add, flat, {&item, 1}, Arg(data));
  }
  return reshape(flat, Dims{rows, a.columns});
}

}  // namespace bc::sparse
