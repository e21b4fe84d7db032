#pragma once
#include <span>
#include <vector>

#include "autograd/graph.h"

namespace bc::autograd {

struct BackwardOptions {
  bool retain_graph = false;  ///< keeps what functions saved, for another run
  bool create_graph = false;  ///< records the run itself, for derivatives of higher order
  bool accumulate = false;    ///< adds the gradients of leaves to their `.grad`
  bool allow_unused = false;  ///< an input that the outputs do not depend on gives an empty array, and is no error
};

/// Runs backward from `outputs`, whose gradients are `seeds`. Without inputs to all leaves; else to `inputs` alone, whose gradients are
/// returned (and those that are leaves accumulated, where that is asked for).
std::vector<Array> backward(std::span<const Array> outputs, std::span<const Array> seeds, std::span<const Array> inputs,
                            const BackwardOptions& options);

}  // namespace bc::autograd
