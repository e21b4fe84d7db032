"""Fast mathematics in a kernel."""

import math

import numpy as np

from broadcloth import cuda


@cuda.jit(fastmath=True)
def wave(x, out):
    i = cuda.grid(1)
    if i < x.size:
        out[i] = math.sin(x[i]) * math.exp(-x[i]) / math.sqrt(1 + x[i])


x = np.linspace(0, 3, 1000, dtype=np.float32)
out = np.zeros_like(x)
wave[4, 256](x, out)
np.testing.assert_allclose(out, np.sin(x) * np.exp(-x) / np.sqrt(1 + x), rtol=1e-4, atol=1e-5)
