#pragma once
#include <string>

#include "backends/cuda/library_kernels.h"

namespace bc::cuda {

/// "BC_INLINE T apply(T a, T b) …" of a row, with T defined; with `called`, a function that is not inlined.
std::string apply_text(Op op, DType t, bool called = false);

/// Accumulates n contiguous elements in place.
void scan_line(Queue& queue, Op op, DType t, void* data, int64_t n);

}  // namespace bc::cuda
