"""Vector add as a ufunc, for the CPU and for CUDA."""

import numpy as np

from broadcloth import cuda, float32, vectorize

n = 100_000
a = np.ones(n, dtype=np.float32)
b = np.arange(n, dtype=np.float32)


@vectorize(["float32(float32, float32)"])
def add(x, y):
    return x + y


assert add(a, b).dtype == np.float32
np.testing.assert_array_equal(add(a, b), a + b)
np.testing.assert_array_equal(add(a[::2], np.float32(2)), a[::2] + 2)
np.testing.assert_array_equal(add.reduce(b[:100]), b[:100].sum())


@vectorize([float32(float32, float32)], target="parallel")
def add_parallel(x, y):
    return x + y


np.testing.assert_array_equal(add_parallel(a, b), a + b)

if cuda.is_available():

    @vectorize(["float32(float32, float32)"], target="cuda")
    def add_on_gpu(x, y):
        return x + y

    np.testing.assert_array_equal(add_on_gpu(a, b), a + b)
    d_a, d_b = cuda.to_device(a), cuda.to_device(b)
    np.testing.assert_array_equal(add_on_gpu(d_a, d_b).copy_to_host(), a + b)
