/// Launches of kernels by kernels: CUDA's three angle brackets, which C++ does not have.
#pragma once
#include <llvm/ADT/StringRef.h>

#include <string>

namespace bc::jit {

/// `name<T><<<grid, block, bytes, stream>>>(arguments)` becomes `(::__bc_child_shape(grid, block, bytes, stream), name<T>(arguments))`, on
/// the same lines. A call of a kernel in device code is a launch (write_launch).
std::string replace_launches(llvm::StringRef text);

}  // namespace bc::jit
