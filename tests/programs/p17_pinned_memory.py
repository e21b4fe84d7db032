"""Pinned and mapped host memory, as CuPy and as Numba spell it."""

import numpy as np

import broadcloth as cp
from broadcloth import cuda

n = 1000


def pinned_copy(array):
    memory = cp.cuda.alloc_pinned_memory(array.nbytes)
    out = np.frombuffer(memory, array.dtype, array.size).reshape(array.shape)
    out[...] = array
    return out


x = pinned_copy(np.arange(n, dtype=np.float32))
d_x = cp.empty(n, dtype=cp.float32)
d_x.set(x)
np.testing.assert_array_equal(d_x.get(), np.arange(n))

host = cuda.pinned_array(n, dtype=np.float64)
host[:] = np.arange(n)
device = cuda.to_device(host)
np.testing.assert_array_equal(device.copy_to_host(), host)

mapped = cuda.mapped_array(n, dtype=np.float32)
mapped[:] = 1


@cuda.jit
def double(x):
    i = cuda.grid(1)
    if i < x.size:
        x[i] *= 2


double[(n + 127) // 128, 128](mapped)
cuda.synchronize()
np.testing.assert_array_equal(np.asarray(mapped), np.full(n, 2, np.float32))
with cuda.pinned(np.zeros(10)):
    pass
