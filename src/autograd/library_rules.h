#pragma once
#include <span>
#include <string>

#include "autograd/graph.h"
#include "primitives/library_op.h"

namespace bc::autograd {

/// The op's name in messages: that of a ufunc's method with the ufunc.
std::string library_name(const LibraryExtra& extra);
/// The function of a library op (products, scans, sorts, selections), nullptr for one that has no derivative.
Ref<GradFunction> library_function(std::span<const Array> inputs, const LibraryExtra& extra, Value value);

}  // namespace bc::autograd
