"""Elementwise and reduction kernels, a scan and a Monte Carlo integral."""

import math

import numpy as np

import broadcloth as cp
from broadcloth import cuda
from broadcloth.cuda.random import create_xoroshiro128p_states, xoroshiro128p_uniform_float32

squared_difference = cp.ElementwiseKernel("T x, T y", "T z", "z = (x - y) * (x - y)", "squared_difference")
x, y = cp.arange(10, dtype=cp.float32), cp.full(10, 3, dtype=cp.float32)
np.testing.assert_array_equal(cp.asnumpy(squared_difference(x, y)), (np.arange(10) - 3.0) ** 2)

norm = cp.ReductionKernel("T x", "T y", "x * x", "a + b", "y = sqrt(a)", "0", "norm")
np.testing.assert_allclose(float(norm(x)), math.sqrt(285), rtol=1e-6)

reverse = cp.ElementwiseKernel("raw T x, int64 n_items", "T y", "y = x[n_items - 1 - i]", "reverse")
np.testing.assert_array_equal(cp.asnumpy(reverse(x, 10, size=10)), np.arange(10)[::-1])

np.testing.assert_array_equal(cp.asnumpy(cp.cumsum(cp.arange(1000))), np.cumsum(np.arange(1000)))


@cuda.jit
def count_inside(states, samples, out):
    thread = cuda.grid(1)
    inside = 0
    for _ in range(samples):
        u = xoroshiro128p_uniform_float32(states, thread)
        v = xoroshiro128p_uniform_float32(states, thread)
        if u * u + v * v <= 1:
            inside += 1
    out[thread] = inside


threads, blocks, samples = 64, 16, 100
states = create_xoroshiro128p_states(threads * blocks, seed=1)
out = cuda.device_array(threads * blocks, np.int64)
count_inside[blocks, threads](states, samples, out)
estimate = 4 * out.copy_to_host().sum() / (threads * blocks * samples)
assert abs(estimate - math.pi) < 0.03
