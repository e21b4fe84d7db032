#pragma once
#include <span>

#include "autograd/graph.h"
#include "primitives/sparse.h"

namespace bc::autograd {

/// The function of a sparse op, nullptr for one that has no derivative.
Ref<GradFunction> sparse_function(std::span<const Array> inputs, const SparseExtra& extra, Value value);

}  // namespace bc::autograd
