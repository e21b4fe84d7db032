#include "ops/sparse.h"

#include <limits>

#include "array/history.h"
#include "array/indexing.h"
#include "array/record.h"
#include "core/error.h"
#include "ops/compose.h"
#include "ops/sorting.h"
#include "ops/sparse_host.h"

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

struct Places {
  Rows rows;
  Array from_a, from_b;  ///< the place of each element in a and in b, or the number of their elements where they have none
};
/// The places that a or b has.
Places union_of(const Rows& a, const Rows& b) {
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
  Places u;
  const auto placed = [&](const Array& places, const Array& values, int64_t otherwise) {
    const Array made = full(Dims{n}, Scalar::integer(otherwise), t, device);
    const IndexItem item{{}, places};
    if (values.size() > 0) setitem(made, {&item, 1}, cast(values, t));
    return made;
  };
  u.from_a = placed(place_a, range(na, device), na);
  u.from_b = placed(place_b, range(nb, device), nb);
  u.rows.indices = placed(place_a, a.indices, 0);
  const IndexItem item{{}, place_b};
  if (nb > 0) setitem(u.rows.indices, {&item, 1}, b.indices);
  // A row of the union begins after the preceding elements of a, and those that only b has.
  u.rows.indptr = cast(add(cast(a.indptr, DType::i64), at(alone, b.indptr)), t);
  u.rows.columns = a.columns;
  return u;
}

/// The elements of a matrix at the places of a union; zero where there is none.
Array spread(const Array& x, const Array& places) {
  const Array parts[] = {x, zeros(Dims{1}, x.dtype(), x.device())};
  return at(concatenate(parts), places);
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

/// The parts of a matrix in one buffer of `t`, of which `n` elements are used.
Matrix parts_of(const Array& all, const SparseExtra& op, DType t, const Array& indptr, int64_t n) {
  return {narrow(all, 0, 0, n), {part_of(all, indptr.dtype(), op.indices_at(t), n), indptr, op.columns}};
}
Array pointers_of(const Array& all, const SparseExtra& op, DType t, DType index, int64_t rows) {
  return part_of(all, index, op.pointers_at(t, index), rows + 1);
}
Array record_matrix(const SparseExtra& op, std::vector<Array> inputs, DType t, DType index, int64_t rows = -1) {
  return record_op(op, std::move(inputs), Dims{op.bytes(t, index, rows + 1) / itemsize(t)}, t);
}

/// The sum or difference over the union of the places.
Matrix add_composed(const Array& a_data, const Rows& a, const Array& b_data, const Rows& b, bool subtracts) {
  const Places u = union_of(a, b);
  const Array data = ufunc(subtracts ? Op::subtract : Op::add, {spread(a_data, u.from_a), spread(b_data, u.from_b)});
  return kept(data, u.rows, ufunc(Op::not_equal, {data, Arg(0)}));
}

/// Rows by their numbers.
Matrix take_composed(const Array& data, const Rows& a, const Array& rows) {
  const Array begin = at(a.indptr, rows), indptr = running(subtract(at(a.indptr, add(rows, Arg(1))), begin));
  const int64_t n = last_of(indptr);
  const Array number = expand(indptr, n, true);
  const Array place = add(subtract(range(n, data.device()), at(indptr, number)), cast(at(begin, number), DType::i64));
  return {at(data, place), {at(a.indices, place), cast(indptr, a.indptr.dtype()), a.columns}};
}

Matrix block_rows_composed(const Array& blocks, const Rows& a) {
  const int64_t n = blocks.shape()[0], height = blocks.shape()[1], width = blocks.shape()[2], rows = rows_of(a);
  const Device device = blocks.device();
  const Array lengths = subtract(narrow(a.indptr, 0, 1, rows), narrow(a.indptr, 0, 0, rows));
  const Array number = expand(multiply(a.indptr, Arg(height)), n * height, true);
  const Array start = at(a.indptr, number), length = at(lengths, number);
  const Array place = subtract(range(n * height, device), multiply(start, Arg(height)));
  const Array block = add(start, ufunc(Op::remainder, {place, length})), row = ufunc(Op::floor_divide, {place, length});
  const Array data = at(reshape(blocks, Dims{n * height, width}), add(multiply(block, Arg(height)), row));
  const Array columns = add(insert_axis(multiply(at(a.indices, block), Arg(width)), 1), index_along(width, 1, 2, device));
  const Array first = multiply(narrow(a.indptr, 0, 0, rows), Arg(height * width));
  const Array starts =
      add(insert_axis(first, 1), multiply(insert_axis(multiply(lengths, Arg(width)), 1), index_along(height, 1, 2, device)));
  const Array pointers[] = {reshape(starts, Dims{rows * height}), full(Dims{1}, Scalar::integer(n * height * width), DType::i64, device)};
  const DType t = a.indices.dtype();
  return {reshape(data, Dims{n * height * width}),
          {cast(reshape(columns, Dims{n * height * width}), t), cast(concatenate(pointers), t), a.columns * width}};
}

Array places_composed(const Rows& a, const Array& row, const Array& column) {
  const int64_t n = elements_of(a);
  const Array keys = keys_of(expand(a.indptr, n, true), a.indices, rows_of(a), a.columns);
  const Array wanted = keys_of(row, column, rows_of(a), a.columns);
  const Array place = ufunc(Op::minimum, {searchsorted(keys, wanted), Arg(n - 1)});
  return choose_where(equal(at(keys, place), wanted), place, Arg(-1));
}

/// The shape of a product with a dense operand.
Dims product_shape(int64_t rows, const Array& x) {
  Dims shape{rows};
  if (x.ndim() == 2) shape.push_back(x.shape()[1]);
  return shape;
}

/// Each row of the result takes an element of each diagonal.
Array diagonal_product_composed(const Array& data, const Array& offsets, const Array& x, int64_t rows, bool transposed) {
  const int64_t count = data.shape()[0], length = data.shape()[1], inner = x.shape()[0];
  const Array i = index_along(rows, 1, 2, data.device()), offset = insert_axis(offsets, 1);
  const Array of_x = transposed ? subtract(i, offset) : add(i, offset);
  const Array of_data = add(transposed ? multiply(i, ones_like(offset)) : of_x, Arg(0));
  const auto inside = [](const Array& a, int64_t n) { return both(ufunc(Op::greater_equal, {a, Arg(0)}), ufunc(Op::less, {a, Arg(n)})); };
  const auto clipped = [](const Array& a, int64_t n) { return ufunc(Op::minimum, {ufunc(Op::maximum, {a, Arg(0)}), Arg(n - 1)}); };
  Array use = both(inside(of_x, inner), inside(of_data, length));
  const Array flat = add(multiply(index_along(count, 0, 2, data.device()), Arg(length)), clipped(of_data, length));
  Array d = at(reshape(data, Dims{count * length}), flat);
  if (x.ndim() == 2) {
    use = insert_axis(use, 2);
    d = insert_axis(d, 2);
  }
  const Array terms = choose_where(use, multiply(d, at(x, clipped(of_x, inner))), zeros(Dims{}, data.dtype(), data.device()));
  return cast(compose::sum(terms, over({0})), data.dtype());
}

/// The product of each block, and their sums by rows: a product with a matrix of ones.
Array block_product_composed(const Array& blocks, const Rows& a, const Array& x) {
  const int64_t n = blocks.shape()[0], height = blocks.shape()[1], width = blocks.shape()[2];
  const int64_t k = x.ndim() == 1 ? 1 : x.shape()[1];
  const Array products = bc::matmul(blocks, at(reshape(x, Dims{a.columns, width, k}), a.indices));
  const Array numbers = cast(range(n, blocks.device()), a.indptr.dtype());
  const Array sums =
      product(ones(Dims{n}, blocks.dtype(), blocks.device()), {numbers, a.indptr, n}, reshape(products, Dims{n, height * k}), false);
  return reshape(sums, product_shape(rows_of(a) * height, x));
}

/// The number of multiplications of elements in the product of two matrices.
int64_t products_of(const Rows& a, const Rows& b) {
  const Array counts = subtract(narrow(b.indptr, 0, 1, rows_of(b)), narrow(b.indptr, 0, 0, rows_of(b)));
  return item(compose::sum(cast(at(counts, a.indices), DType::i64))).i;
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
  const Dims shape = product_shape(outer, x);
  if (product(shape) == 0 || data.size() == 0) return zeros(shape, result, data.device());
  if (!composed)
    if (const std::optional<Array> made = host::product(data_in, a, x_in, transposed)) return *made;
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

Union unite(const Array& a_data, const Rows& a, const Array& b_data, const Rows& b, bool composed) {
  require_rows(a);
  require_rows(b);
  BC_CHECK(rows_of(a) == rows_of(b) && a.columns == b.columns, Value, "inconsistent shapes");
  const int64_t na = elements_of(a), nb = elements_of(b);
  const DType t = a_data.dtype(), index = a.indices.dtype();
  // The body moves elements of one dtype.
  if (!has_bodies(a_data, composed) || has_history(a_data) || has_history(b_data) || b_data.dtype() != t || na == 0 || nb == 0 ||
      !counts_with(index, na + nb)) {
    const Places u = union_of(a, b);
    return {u.rows, spread(a_data, u.from_a), spread(b_data, u.from_b)};
  }
  const SparseExtra op(Sparse::unite, a.columns, false, 2 * (na + nb));
  const Array all = record_matrix(op, {a_data, a.indices, a.indptr, b_data, b.indices, b.indptr}, t, index, rows_of(a));
  const Array indptr = pointers_of(all, op, t, index, rows_of(a));
  const int64_t n = last_of(indptr);
  const Matrix m = parts_of(all, op, t, indptr, n);
  return {m.rows, m.data, narrow(all, 0, na + nb, n)};
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
  // Memory for as many elements as there are multiplications saves a pass that counts, unless that would be very much.
  constexpr int64_t kMostBytes = int64_t{1} << 28;
  const int64_t most = products_of(a, b);
  const SparseExtra whole(Sparse::matmul, b.columns, false, most);
  if (counts_with(index, most) && whole.bytes(t, index) <= kMostBytes) {
    const Array all = record_matrix(whole, {a_data, a.indices, a.indptr, b_data, b.indices, b.indptr}, t, index, rows_of(a));
    const Array indptr = copy(pointers_of(all, whole, t, index, rows_of(a)));
    const int64_t n = last_of(indptr);
    Matrix p = parts_of(all, whole, t, indptr, n);
    p.data = cast(p.data, result);
    return 2 * n < most ? Matrix{copy(p.data), {copy(p.rows.indices), indptr, b.columns}} : p;
  }
  const Array indptr =
      record_op(SparseExtra(Sparse::matmul_counts, b.columns), {a.indices, a.indptr, b.indices, b.indptr}, a.indptr.shape(), index);
  const int64_t n = last_of(indptr);
  if (n == 0) return {empty(Dims{0}, result, device), {empty(Dims{0}, index, device), indptr, b.columns}};
  const SparseExtra op(Sparse::matmul_entries, b.columns, false, n);
  const Array all = record_matrix(op, {a_data, a.indices, a.indptr, b_data, b.indices, b.indptr, indptr}, t, index);
  Matrix p = parts_of(all, op, t, indptr, n);
  p.data = cast(p.data, result);
  return p;
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
  const Array all = record_matrix(op, {data, a.indices, a.indptr}, t, index, a.columns);
  const Array indptr = pointers_of(all, op, t, index, a.columns);
  return {narrow(all, 0, 0, n), {part_of(all, index, op.indices_at(t), n), indptr, rows}};
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
    return add_composed(a_in, a, b_in, b, subtract);
  const SparseExtra op(Sparse::sum, a.columns, subtract, na + nb);
  const Array all = record_matrix(op, {cast(a_in, t), a.indices, a.indptr, cast(b_in, t), b.indices, b.indptr}, t, index, rows_of(a));
  const Array indptr = pointers_of(all, op, t, index, rows_of(a));
  Matrix p = parts_of(all, op, t, indptr, last_of(indptr));
  p.data = cast(p.data, result);
  return p;
}

Matrix take(const Array& data, const Rows& a, const Array& rows_in, bool composed) {
  require_rows(a);
  const Array rows = cast(rows_in, DType::i64);
  const int64_t count = rows.size();
  const DType t = data.dtype(), index = a.indices.dtype();
  if (!has_bodies(data, composed) || has_history(data)) return take_composed(data, a, rows);
  const Array indptr = record_op(SparseExtra(Sparse::take_counts), {a.indptr, rows}, Dims{count + 1}, index);
  const int64_t n = last_of(indptr);
  const SparseExtra op(Sparse::take, a.columns, false, n);
  const Array all = record_matrix(op, {data, a.indices, a.indptr, rows, indptr}, t, index);
  return parts_of(all, op, t, indptr, n);
}

Matrix keep(const Array& data, const Rows& a, const Array& mask, bool composed) {
  require_rows(a);
  const DType t = data.dtype(), index = a.indices.dtype();
  BC_CHECK(mask.dtype() == DType::b1 && mask.shape() == data.shape(), Value,
           "sparse matrix: expected a mask of its elements, got {} of shape {}", info(mask.dtype()).name, mask.shape());
  if (!has_bodies(data, composed) || has_history(data)) return kept(data, a, mask);
  const int64_t n = item(compose::sum(cast(mask, DType::i64))).i;
  if (n == data.size()) return {data, a};
  const SparseExtra op(Sparse::keep, a.columns, false, n);
  const Array all = record_matrix(op, {data, a.indices, a.indptr, mask}, t, index, rows_of(a));
  return parts_of(all, op, t, pointers_of(all, op, t, index, rows_of(a)), n);
}

Matrix block_rows(const Array& blocks, const Rows& a, bool composed) {
  require_rows(a);
  BC_CHECK(blocks.ndim() == 3 && blocks.shape()[0] == elements_of(a), Value, "sparse matrix: expected a block for each index, got shape {}",
           blocks.shape());
  const DType t = blocks.dtype(), index = a.indices.dtype();
  const int64_t rows = rows_of(a) * blocks.shape()[1], n = blocks.size();
  if (n == 0 || !has_bodies(blocks, composed) || has_history(blocks)) return block_rows_composed(blocks, a);
  const SparseExtra op(Sparse::block_rows, a.columns * blocks.shape()[2], false, n);
  const Array all = record_matrix(op, {blocks, a.indices, a.indptr}, t, index, rows);
  return parts_of(all, op, t, pointers_of(all, op, t, index, rows), n);
}

Array lookup(const Array& data, const Rows& a, const Array& row_in, const Array& column_in, bool composed) {
  require_rows(a);
  const Array row = cast(row_in, DType::i64), column = cast(column_in, DType::i64);
  BC_CHECK(row.shape() == column.shape(), Value, "sparse matrix: expected rows and columns of one shape, got {} and {}", row.shape(),
           column.shape());
  if (data.size() == 0 || row.size() == 0) return zeros(row.shape(), data.dtype(), data.device());
  if (!has_bodies(data, composed) || has_history(data)) {
    const Array place = places(a, row, column, composed);
    const Array found = at(data, ufunc(Op::maximum, {place, Arg(0)}));
    return choose_where(ufunc(Op::greater_equal, {place, Arg(0)}), found, zeros(Dims{}, data.dtype(), data.device()));
  }
  return record_op(SparseExtra(Sparse::lookup), {data, a.indices, a.indptr, row, column}, row.shape(), data.dtype());
}

Array places(const Rows& a, const Array& row_in, const Array& column_in, bool composed) {
  require_rows(a);
  const Array row = cast(row_in, DType::i64), column = cast(column_in, DType::i64);
  BC_CHECK(row.shape() == column.shape(), Value, "sparse matrix: expected rows and columns of one shape, got {} and {}", row.shape(),
           column.shape());
  if (elements_of(a) == 0 || row.size() == 0) return full(row.shape(), Scalar::integer(-1), DType::i64, row.device());
  if (!has_bodies(a.indices, composed)) return places_composed(a, row, column);
  return record_op(SparseExtra(Sparse::places), {a.indices, a.indptr, row, column}, row.shape(), DType::i64);
}

Array pointers(const Array& keys, int64_t groups, bool composed) {
  require_indices(keys);
  const DType t = keys.dtype();
  if (keys.size() == 0) return zeros(Dims{groups + 1}, t, keys.device());
  if (!has_bodies(keys, composed)) return cast(searchsorted(keys, cast(range(groups + 1, keys.device()), t)), t);
  return record_op(SparseExtra(Sparse::pointers, groups), {keys}, Dims{groups + 1}, t);
}

Array coordinate_product(const Array& data_in, const Array& row, const Array& column, const Array& x_in, int64_t rows, bool composed) {
  const DType result = promote(data_in.dtype(), x_in.dtype()), t = loop_dtype(result);
  const Dims shape = product_shape(rows, x_in);
  if (product(shape) == 0 || data_in.size() == 0) return zeros(shape, result, data_in.device());
  if (!has_bodies(data_in, composed) || has_history(data_in) || has_history(x_in)) {
    const Matrix m = compress(data_in, row, column, rows, x_in.shape()[0]);
    return product(m.data, m.rows, x_in, false, composed);
  }
  return cast(record_op(SparseExtra(Sparse::coordinate_product, rows), {cast(data_in, t), row, column, cast(x_in, t)}, shape, t), result);
}

Array diagonal_product(const Array& data_in, const Array& offsets_in, const Array& x_in, int64_t rows, bool transposed, bool composed) {
  BC_CHECK(data_in.ndim() == 2 && offsets_in.shape() == Dims{data_in.shape()[0]}, Value,
           "sparse matrix: expected a diagonal for each offset, got shapes {} and {}", data_in.shape(), offsets_in.shape());
  const DType result = promote(data_in.dtype(), x_in.dtype()), t = loop_dtype(result);
  const Dims shape = product_shape(rows, x_in);
  if (product(shape) == 0 || data_in.size() == 0 || x_in.size() == 0) return zeros(shape, result, data_in.device());
  const Array data = cast(data_in, t), x = cast(x_in, t), offsets = cast(offsets_in, DType::i64);
  if (!composed)
    if (const std::optional<Array> made = host::diagonal_product(data_in, offsets, x_in, rows, transposed)) return *made;
  if (!has_bodies(data, composed) || has_history(data) || has_history(x))
    return cast(diagonal_product_composed(data, offsets, x, rows, transposed), result);
  return cast(record_op(SparseExtra(Sparse::diagonal_product, rows, transposed), {data, offsets, x}, shape, t), result);
}

Array block_product(const Array& blocks_in, const Rows& a, const Array& x_in, bool composed) {
  require_rows(a);
  BC_CHECK(blocks_in.ndim() == 3 && x_in.shape()[0] == a.columns * blocks_in.shape()[2], Value, "matmul: dimension mismatch");
  const DType result = promote(blocks_in.dtype(), x_in.dtype()), t = loop_dtype(result);
  const Dims shape = product_shape(rows_of(a) * blocks_in.shape()[1], x_in);
  if (product(shape) == 0 || blocks_in.size() == 0) return zeros(shape, result, blocks_in.device());
  const Array blocks = cast(blocks_in, t), x = cast(x_in, t);
  if (!has_bodies(blocks, composed) || has_history(blocks) || has_history(x)) return cast(block_product_composed(blocks, a, x), result);
  return cast(record_op(SparseExtra(Sparse::block_product, shape[0]), {blocks, a.indices, a.indptr, x}, shape, t), result);
}

bool is_sorted(const Rows& a, bool strictly, bool composed) {
  require_rows(a);
  if (!composed)
    if (const std::optional<bool> known = host::ascends(a, strictly)) return *known;
  const int64_t n = elements_of(a);
  if (n < 2) return true;
  const Array row = expand(a.indptr, n);
  const auto [row_after, row_before] = neighbours(row);
  const auto [column_after, column_before] = neighbours(a.indices);
  const Array disorder = both(equal(row_after, row_before), ufunc(strictly ? Op::less_equal : Op::less, {column_after, column_before}));
  return !truth_of(reduce(Op::reduce_any, disorder));
}

Matrix compress(const Array& data, const Array& row, const Array& column, int64_t rows, int64_t columns, bool composed) {
  require_indices(row);
  require_indices(column);
  const int64_t n = row.size();
  BC_CHECK(data.shape() == row.shape() && column.shape() == row.shape() && row.dtype() == column.dtype(), Value,
           "sparse matrix: expected elements, rows and columns of one shape and one dtype of indices, got {}, {} and {}", data.shape(),
           row.shape(), column.shape());
  const DType index = row.dtype();
  const Device device = data.device();
  if (n == 0) return {data, {column, zeros(Dims{rows + 1}, index, device), columns}};
  if (!composed)
    if (const std::optional<Matrix> made = host::compress(data, row, column, rows, columns)) return *made;
  const auto [row_after, row_before] = neighbours(row);
  const auto [column_after, column_before] = neighbours(column);
  const Array ascends = either(ufunc(Op::greater, {row_after, row_before}),
                               both(equal(row_after, row_before), ufunc(Op::greater, {column_after, column_before})));
  if (truth_of(reduce(Op::reduce_all, ascends))) return {copy(data), {copy(column), pointers(row, rows), columns}};
  const Array by_column = group(column, columns).order;
  const Groups by_row = group(at(row, by_column), rows);
  const Array order = at(by_column, by_row.order);
  return merged(at(data, order), {at(column, order), by_row.indptr, columns}, at(row, order));
}

Array dense(const Array& data, const Rows& a, bool distinct, bool transposed, bool composed) {
  require_rows(a);
  if (!composed)
    if (const std::optional<Array> made = host::dense(data, a, distinct, transposed)) return *made;
  const int64_t rows = rows_of(a), n = elements_of(a);
  const Array flat = zeros(Dims{rows * a.columns}, data.dtype(), data.device());
  if (n > 0) {
    const Array row = expand(a.indptr, n);
    const IndexItem item{{}, transposed ? keys_of(a.indices, row, a.columns, rows) : keys_of(row, a.indices, rows, a.columns)};
    if (distinct)
      setitem(flat, {&item, 1}, data);
    else
      ufunc_at(Op::add, flat, {&item, 1}, Arg(data));
  }
  return reshape(flat, transposed ? Dims{a.columns, rows} : Dims{rows, a.columns});
}

}  // namespace bc::sparse
