"""cupyx.jit: kernels in Python with CuPy's spelling, on every device."""

from __future__ import annotations

import numpy as np
import pytest

import broadcloth as bc
from broadcloth.cupyx import jit


def test_copy_in_both_spellings_of_a_launch(xp):
    @jit.rawkernel()
    def elementwise_copy(x, y, size):
        tid = jit.blockIdx.x * jit.blockDim.x + jit.threadIdx.x
        ntid = jit.gridDim.x * jit.blockDim.x
        for i in range(tid, size, ntid):
            y[i] = x[i]

    size = np.uint32(2**10)
    x = xp.arange(2**10, dtype="float32")
    for launch in (lambda y: elementwise_copy((4,), (128,), (x, y, size)), lambda y: elementwise_copy[4, 128](x, y, size)):
        y = xp.zeros(2**10, dtype="float32")
        launch(y)
        np.testing.assert_array_equal(bc.asnumpy(y), np.arange(2**10))


def test_shared_memory_device_functions_and_atomics(xp):
    @jit.rawkernel(device=True)
    def twice(v):
        return 2 * v

    @jit.rawkernel()
    def total(x, out):
        s = jit.shared_memory(xp.float32, 128)
        t = jit.threadIdx.x
        s[t] = twice(x[jit.grid(1)])
        jit.syncthreads()
        if jit.laneid() == 0:
            for k in jit.range(jit.warpsize):
                jit.atomic_add(out, 0, s[t + k])

    out = xp.zeros(1, "float32")
    total((2,), (128,), (xp.ones(256, "float32"), out))
    assert float(out[0]) == 512


def test_wrong_modes_and_calls_are_refused():
    with pytest.raises(ValueError, match="mode"):
        jit.rawkernel(mode="fast")
    with pytest.raises(RuntimeError, match="inside a function"):
        jit.syncthreads()
