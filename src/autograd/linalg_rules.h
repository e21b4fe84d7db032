#pragma once
#include <span>

#include "autograd/graph.h"
#include "primitives/linalg.h"

namespace bc::autograd {

/// The function of a linear algebra op, nullptr for one that has no derivative (pivots, Schur and Hessenberg forms, columns that a
/// decomposition adds at will).
Ref<GradFunction> linalg_function(std::span<const Array> inputs, const LinalgExtra& op, Value value);

}  // namespace bc::autograd
