"""Shared memory: a block reverses its part of an array."""

import numpy as np

from broadcloth import cuda, float32

THREADS = 256


@cuda.jit
def reverse_blocks(x, out):
    part = cuda.shared.array(shape=THREADS, dtype=float32)
    t = cuda.threadIdx.x
    i = cuda.blockIdx.x * cuda.blockDim.x + t
    part[t] = x[i]
    cuda.syncthreads()
    out[i] = part[THREADS - 1 - t]


x = np.arange(16 * THREADS, dtype=np.float32)
d_out = cuda.device_array(x.shape, dtype=x.dtype)
reverse_blocks[16, THREADS](cuda.to_device(x), d_out)
np.testing.assert_array_equal(d_out.copy_to_host(), x.reshape(16, THREADS)[:, ::-1].ravel())


@cuda.jit
def block_sums(x, out):
    part = cuda.shared.array(THREADS, float32)
    t = cuda.threadIdx.x
    part[t] = x[cuda.grid(1)]
    cuda.syncthreads()
    s = THREADS // 2
    while s > 0:
        if t < s:
            part[t] += part[t + s]
        cuda.syncthreads()
        s //= 2
    if t == 0:
        out[cuda.blockIdx.x] = part[0]


sums = cuda.device_array(16, np.float32)
block_sums[16, THREADS](cuda.to_device(x), sums)
np.testing.assert_allclose(sums.copy_to_host(), x.reshape(16, THREADS).sum(1), rtol=1e-6)


@cuda.jit
def dynamic_reverse(x):
    part = cuda.shared.array(0, dtype=float32)
    t = cuda.threadIdx.x
    part[t] = x[t]
    cuda.syncthreads()
    x[t] = part[cuda.blockDim.x - 1 - t]


d = cuda.to_device(x[:100].copy())
dynamic_reverse[1, 100, 0, 100 * 4](d)
np.testing.assert_array_equal(d.copy_to_host(), x[:100][::-1])
