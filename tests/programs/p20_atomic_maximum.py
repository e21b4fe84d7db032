"""The largest of many values: an atomic for each, then a tree in shared memory and one atomic a block."""

import numpy as np

from broadcloth import cuda, float64

THREADS = 256


@cuda.jit
def all_atomic(result, values):
    i = cuda.grid(1)
    if i < values.size:
        cuda.atomic.max(result, 0, values[i])


@cuda.jit
def tree(result, values):
    part = cuda.shared.array(THREADS, float64)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    part[t] = values[i] if i < values.size else -np.inf
    cuda.syncthreads()
    s = cuda.blockDim.x // 2
    while s > 0:
        if t < s:
            part[t] = max(part[t], part[t + s])
        cuda.syncthreads()
        s >>= 1
    if t == 0:
        cuda.atomic.max(result, 0, part[0])


values = np.random.default_rng(3).random(1 << 16)
blocks = (values.size + THREADS - 1) // THREADS
for kernel in (all_atomic, tree):
    result = np.zeros(1, dtype=np.float64)
    kernel[blocks, THREADS](result, values)
    assert result[0] == values.max()
