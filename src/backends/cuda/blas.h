#pragma once
#include <cstdint>

#include "backends/cuda/cuda_backend.h"
#include "core/dtype.h"

namespace bc::cuda {

/// Tells whether matmul() takes an operand of rows x columns with these strides (batch, row, column; in elements) as it is. Floating-point
/// and complex operands need one unit stride and the other not shorter than the unit side is long (a transposed matrix is fine, a reversed
/// or broadcast one is not); integers and booleans may have any strides.
bool matmul_takes(DType dtype, int64_t rows, int64_t columns, const int64_t strides[3]);

/// c[i] = a[i] @ b[i] for i in [0, batch): m x k times k x n into a contiguous row-major m x n. All of one dtype, strides in elements
/// (batch, row, column); a batch stride of 0 repeats the matrix. Queued on `stream`.
///
/// f16 and bf16 are summed in float32, f32 in float32 without TF32, by cuBLASLt; integers wrap as NumPy's and booleans are "or of ands",
/// by a tiled kernel. The same bits from run to run on one device. Throws ErrorKind::Value for strides that matmul_takes() refuses,
/// ErrorKind::Import when floating point is asked for and there is no cuBLASLt.
void matmul(CudaBackend& backend, Stream stream, DType dtype, int64_t batch, int64_t m, int64_t n, int64_t k, const void* a,
            const int64_t a_strides[3], const void* b, const int64_t b_strides[3], void* c);

/// The tiled kernel's text for an integer or boolean dtype; its entry is `bc_matmul`.
KernelSource matmul_kernel_source(DType dtype);

}  // namespace bc::cuda
