"""A matrix scaled in place by a two-dimensional grid, in Python and in CUDA C++."""

import math

import numpy as np

import broadcloth as cp
from broadcloth import cuda


@cuda.jit
def scale(matrix, factor):
    row, column = cuda.grid(2)
    if row < matrix.shape[0] and column < matrix.shape[1]:
        matrix[row, column] *= factor


matrix = np.random.default_rng(1).random((100, 77)).astype(np.float32)
d_matrix = cuda.to_device(matrix)
threads = (16, 16)
blocks = (math.ceil(matrix.shape[0] / 16), math.ceil(matrix.shape[1] / 16))
scale[blocks, threads](d_matrix, np.float32(3))
np.testing.assert_array_equal(d_matrix.copy_to_host(), matrix * np.float32(3))

scale_cpp = cp.RawKernel(
    r"""
extern "C" __global__ void scale(float* m, float factor, int rows, int columns) {
  int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row < rows && column < columns) m[row * columns + column] *= factor;
}""",
    "scale",
)
m = cp.asarray(matrix)
scale_cpp(((77 + 15) // 16, (100 + 15) // 16), (16, 16), (m, cp.float32(3), 100, 77))
np.testing.assert_array_equal(cp.asnumpy(m), matrix * np.float32(3))
