#pragma once
#include <span>

#include "autograd/graph.h"
#include "primitives/library.h"

namespace bc::autograd {

/// The function of a Fourier, cosine or sine transform.
Ref<GradFunction> fft_function(std::span<const Array> inputs, const FftExtra& op, Value value);

}  // namespace bc::autograd
