"""The matrix product in three loops, compiled for the CPU."""

import numpy as np

from broadcloth import jit


@jit(nopython=True)
def product(a, b):
    c = np.zeros((a.shape[0], b.shape[1]))
    for i in range(a.shape[0]):
        for j in range(b.shape[1]):
            for k in range(a.shape[1]):
                c[i, j] += a[i, k] * b[k, j]
    return c


rng = np.random.default_rng(0)
a, b = rng.random((60, 40)), rng.random((40, 50))
np.testing.assert_allclose(product(a, b), a @ b)
