// The derivative of a sparse matrix's product with a dense operand, for the matrix's elements and for the operand.
#include "autograd/sparse_rules.h"

#include "autograd/functions.h"
#include "autograd/library_function.h"
#include "ops/compose.h"
#include "ops/sparse.h"

namespace bc::autograd {
namespace {

struct SparseProductFunction final : LibraryFunction {
  SparseProductFunction(const SparseExtra& extra, std::span<const Array> inputs, Value v)
      : LibraryFunction(extra.name, inputs, std::move(v)), transposed(extra.transposed), outer(extra.columns) {}
  const bool transposed;
  const int64_t outer;  ///< the extent of the result's first axis

  std::vector<Array> backward(std::span<const Array> gradients, const std::vector<bool>& needed) override {
    const Array &g = gradients[0], &data = saved[0], &indices = saved[1], &indptr = saved[2], &x = saved[3];
    std::vector<Array> made(4);
    if (needed[0]) {
      // Element (i, j) multiplies x[j] and is added to y[i]; in the transpose the other way round.
      const Array rows = sparse::expand(indptr, data.size());
      const Array of_y = take(g, transposed ? indices : rows, 0), of_x = take(x, transposed ? rows : indices, 0);
      const Array products = of_y * autograd::conj(of_x);
      made[0] = products.ndim() == 1 ? products : compose::sum(products, compose::over({1}));
    }
    if (needed[3]) {
      const int64_t columns = transposed ? outer : x.shape()[0];
      made[3] = sparse::product(autograd::conj(data), {indices, indptr, columns}, g, !transposed);
    }
    return made;
  }
};

}  // namespace

Ref<GradFunction> sparse_function(std::span<const Array> inputs, const SparseExtra& extra, Value value) {
  if (extra.what != Sparse::product) return nullptr;
  return new SparseProductFunction(extra, inputs, std::move(value));
}

}  // namespace bc::autograd
