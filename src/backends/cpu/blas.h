#pragma once
#include <cstdint>

#include "core/dtype.h"

namespace bc::cpu {

/// c[i] = a[i] · b[i] for `batch` matrices: a is m x k, b is k x n, c is m x n, row-major contiguous, and overlaps neither input. Strides
/// are (batch, row, column) in elements; zero (broadcast) and negative ones are allowed. float32, float64, complex64 and complex128 go
/// through OpenBLAS; float16 and bfloat16 are multiplied and summed in float32 and rounded once; integers wrap; bool is the "or" of "and"s.
void matmul(DType dtype, int64_t batch, int64_t m, int64_t n, int64_t k, const void* a, const int64_t a_strides[3], const void* b,
            const int64_t b_strides[3], void* c);
using MatmulFunction = decltype(&matmul);

}  // namespace bc::cpu
