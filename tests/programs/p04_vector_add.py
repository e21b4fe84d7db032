"""Vector add as a kernel with a grid-stride loop, on host arrays."""

import numpy as np

from broadcloth import cuda


@cuda.jit
def vector_add(x, y, out):
    start = cuda.grid(1)
    stride = cuda.gridsize(1)
    for i in range(start, x.shape[0], stride):
        out[i] = x[i] + y[i]


n = 100_000
x = np.arange(n).astype(np.float32)
y = 2 * x
out = np.empty_like(x)
vector_add[30, 128](x, y, out)
np.testing.assert_array_equal(out, x + y)

d_x, d_y = cuda.to_device(x), cuda.to_device(y)
d_out = cuda.device_array_like(d_x)
vector_add[30, 128](d_x, d_y, d_out)
cuda.synchronize()
np.testing.assert_array_equal(d_out.copy_to_host(), x + y)

threads = 256
blocks = (n + threads - 1) // threads


@cuda.jit
def one_each(x, y, out):
    i = cuda.threadIdx.x + cuda.blockIdx.x * cuda.blockDim.x
    if i < out.size:
        out[i] = x[i] - y[i]


one_each[blocks, threads](d_x, d_y, d_out)
np.testing.assert_array_equal(d_out.copy_to_host(), x - y)
one_each.forall(n)(d_y, d_x, d_out)
np.testing.assert_array_equal(d_out.copy_to_host(), y - x)
