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


def test_dynamic_shared_memory_unrolled_ranges_and_groups(xp):
    @jit.rawkernel()
    def turned(x, y):
        s = jit.shared_memory(xp.float32, None)
        t = jit.threadIdx.x
        s[t] = x[t]
        jit.syncthreads()
        for k in jit.range(2, unroll=True):
            y[t] += (k + 1) * s[31 - t]
        for k in jit.range(0, 4, 2, unroll=2):
            y[t] += k

    x, y = xp.arange(32, dtype="float32"), xp.zeros(32, "float32")
    turned((1,), (32,), (x, y), shared_mem=128)
    np.testing.assert_array_equal(bc.asnumpy(y), np.arange(32)[::-1] * 3 + 2)
    assert "turned" in turned.cached_code and list(turned.cached_codes.values()) == [turned.cached_code]

    @jit.rawkernel()
    def two_steps(x, y):
        group = jit.cg.this_grid()
        i = jit.grid(1)
        x[i] = i
        group.sync()
        y[i] = x[x.size - 1 - i]

    x, y = xp.zeros(64, "int32"), xp.zeros(64, "int32")
    two_steps((2,), (32,), (x, y))
    np.testing.assert_array_equal(bc.asnumpy(y), np.arange(64)[::-1])


@pytest.mark.parametrize("width", [32, 16, 4, 1])
def test_shuffles_within_parts_of_a_warp(xp, width):
    @jit.rawkernel()
    def shuffled(out):
        t = jit.threadIdx.x
        lane = jit.laneid()
        out[0, t] = jit.shfl_sync(0xFFFFFFFF, lane, 5, width=width)
        out[1, t] = jit.shfl_up_sync(0xFFFFFFFF, lane, 3, width)
        out[2, t] = jit.shfl_down_sync(0xFFFFFFFF, lane, 3, width)
        out[3, t] = jit.shfl_xor_sync(0xFFFFFFFF, lane, 5, width)

    out = xp.zeros((4, 32), "int64")
    shuffled((1,), (32,), (out,))
    lane = np.arange(32)
    first, within = lane // width * width, lane % width
    # As CUDA's guide has them: a lane reads its own value where the other one lies outside; that of xor may lie in an earlier part.
    want = [
        first + 5 % width,
        np.where(within >= 3, lane - 3, lane),
        np.where(within + 3 < width, lane + 3, lane),
        np.where((lane ^ 5) // width <= lane // width, lane ^ 5, lane),
    ]
    np.testing.assert_array_equal(bc.asnumpy(out), want)


def test_wrong_modes_and_calls_are_refused():
    with pytest.raises(ValueError, match="mode"):
        jit.rawkernel(mode="fast")
    with pytest.raises(RuntimeError, match="inside a function"):
        jit.syncthreads()
