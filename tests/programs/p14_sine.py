"""Sine of many numbers: a loop compiled for the CPU, NumPy, and an array expression."""

import math

import numpy as np

import broadcloth as bc
from broadcloth import jit, njit, prange


@jit(nopython=True)
def loop(x):
    out = np.empty_like(x)
    for i in range(len(x)):
        out[i] = math.sin(x[i])
    return out


@njit(parallel=True)
def loop_on_all_cores(x):
    out = np.empty_like(x)
    for i in prange(x.shape[0]):
        out[i] = np.sin(x[i])
    return out


x = np.linspace(0, 100, 100_000)
expected = np.sin(x)
np.testing.assert_allclose(loop(x), expected, rtol=1e-14, atol=1e-15)
np.testing.assert_allclose(loop_on_all_cores(x), expected, rtol=1e-14, atol=1e-15)
np.testing.assert_allclose(bc.asnumpy(bc.sin(bc.asarray(x))), expected, rtol=1e-14, atol=1e-15)
