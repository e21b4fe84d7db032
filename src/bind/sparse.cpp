// What broadcloth.scipy.sparse is computed by.
#include "bind/sparse.h"

#include "bind/args.h"
#include "ops/sparse.h"

namespace bc::bind {
namespace {

std::vector<Array> parts_of(const sparse::Matrix& m) { return {m.data, m.rows.indices, m.rows.indptr}; }

}  // namespace

std::vector<PyMethodDef> sparse_functions() {
  return {
      BC_FUNCTION("sparse_product(data, indices, indptr, columns, x, transposed=False, composed=False) A matrix in compressed rows, or its "
                  "transpose, times a dense vector or matrix.",
                  [](const Array& data, const Array& indices, const Array& indptr, int64_t columns, const Array& x, bool transposed,
                     bool composed) { return sparse::product(data, {indices, indptr, columns}, x, transposed, composed); }),
      BC_FUNCTION("sparse_group(keys, groups, composed=False) The pointers of groups of equal keys, and a stable order by key.",
                  [](const Array& keys, int64_t groups, bool composed) {
                    const sparse::Groups g = sparse::group(keys, groups, composed);
                    return std::vector<Array>{g.indptr, g.order};
                  }),
      BC_FUNCTION("sparse_expand(indptr, n, composed=False) The row of each of n elements.", sparse::expand),
      BC_LOOKING(
          "sparse_union(indices_a, indptr_a, indices_b, indptr_b, columns, composed=False) Indices and pointers of the places that "
          "either of two matrices has, and where those are in each.",
          [](const Array& indices_a, const Array& indptr_a, const Array& indices_b, const Array& indptr_b, int64_t columns, bool composed) {
            const sparse::Union u = sparse::unite({indices_a, indptr_a, columns}, {indices_b, indptr_b, columns}, composed);
            return std::vector<Array>{u.rows.indices, u.rows.indptr, u.from_a, u.from_b};
          }),
      BC_LOOKING("sparse_matmul(data_a, indices_a, indptr_a, columns_a, data_b, indices_b, indptr_b, columns_b, composed=False) Data, "
                 "indices and pointers of the product of two matrices.",
                 [](const Array& data_a, const Array& indices_a, const Array& indptr_a, int64_t columns_a, const Array& data_b,
                    const Array& indices_b, const Array& indptr_b, int64_t columns_b, bool composed) {
                   return parts_of(
                       sparse::matmul(data_a, {indices_a, indptr_a, columns_a}, data_b, {indices_b, indptr_b, columns_b}, composed));
                 }),
      BC_FUNCTION("sparse_transpose(data, indices, indptr, columns, composed=False) -> tuple[ndarray, ndarray, ndarray] Data, indices and "
                  "pointers of the transpose's rows.",
                  [](const Array& data, const Array& indices, const Array& indptr, int64_t columns, bool composed) {
                    return parts_of(sparse::transpose(data, {indices, indptr, columns}, composed));
                  }),
      BC_LOOKING("sparse_add(data_a, indices_a, indptr_a, data_b, indices_b, indptr_b, columns, subtract, composed=False) -> "
                 "tuple[ndarray, ndarray, ndarray] Data, indices and "
                 "pointers of the sum or difference of two sorted matrices, without zeros.",
                 [](const Array& data_a, const Array& indices_a, const Array& indptr_a, const Array& data_b, const Array& indices_b,
                    const Array& indptr_b, int64_t columns, bool subtract, bool composed) {
                   return parts_of(
                       sparse::sum(data_a, {indices_a, indptr_a, columns}, data_b, {indices_b, indptr_b, columns}, subtract, composed));
                 }),
      BC_LOOKING("sparse_is_sorted(indices, indptr, columns) Whether the columns of each row ascend, none twice.",
                 [](const Array& indices, const Array& indptr, int64_t columns) { return sparse::is_sorted({indices, indptr, columns}); }),
      BC_LOOKING("sparse_compress(data, row, column, rows, columns) -> tuple[ndarray, ndarray, ndarray] Data, indices and pointers of "
                 "elements at places; those of one place "
                 "are added up.",
                 [](const Array& data, const Array& row, const Array& column, int64_t rows, int64_t columns) {
                   return parts_of(sparse::compress(data, row, column, rows, columns));
                 }),
      BC_FUNCTION("sparse_dense(data, indices, indptr, columns, distinct=False) All places of a matrix.",
                  [](const Array& data, const Array& indices, const Array& indptr, int64_t columns, bool distinct) {
                    return sparse::dense(data, {indices, indptr, columns}, distinct);
                  }),
  };
}

}  // namespace bc::bind
