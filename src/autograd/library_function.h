#pragma once
#include <span>
#include <utility>
#include <vector>

#include "autograd/functions.h"
#include "autograd/graph.h"
#include "ops/composite.h"

namespace bc::autograd {

/// A library op and what its rule reads of the operands.
struct LibraryFunction : GradFunction {
  LibraryFunction(const char* name_, std::span<const Array> inputs, Value v) : GradFunction(std::move(v)), name_of(name_) {
    for (const Array& a : inputs) {
      edges.push_back(edge_to(a));
      saved.push_back(snapshot(a));
    }
  }
  const char* name_of;
  std::vector<Array> saved;

  std::string name() const override { return name_of; }
  bool release() override {
    saved.clear();
    return true;
  }
};

/// The conjugate transpose of matrices.
inline Array adjoint(const Array& a) { return autograd::conj(matrix_transpose(a)); }

}  // namespace bc::autograd
