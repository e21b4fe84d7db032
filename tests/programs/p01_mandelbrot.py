"""Mandelbrot set: points in Python loops, compiled; and one GPU thread a point."""

import numpy as np

from broadcloth import cuda, njit, prange


@njit
def escape(c, limit):
    z = 0j
    for step in range(limit):
        if z.real * z.real + z.imag * z.imag > 4.0:
            return step
        z = z * z + c
    return limit


@njit(parallel=True)
def mandelbrot(size, limit):
    out = np.zeros((size, size), dtype=np.uint16)
    axis = np.linspace(-2.0, 2.0, size)
    for i in prange(size):
        for j in range(size):
            out[i, j] = escape(complex(axis[j], axis[i]), limit)
    return out


@cuda.jit
def mandelbrot_kernel(out, limit):
    i, j = cuda.grid(2)
    if i < out.shape[0] and j < out.shape[1]:
        step_y = 4.0 / (out.shape[0] - 1)
        step_x = 4.0 / (out.shape[1] - 1)
        out[i, j] = escape(complex(-2.0 + j * step_x, -2.0 + i * step_y), limit)


def reference(size, limit):
    axis = np.linspace(-2.0, 2.0, size)
    out = np.zeros((size, size), dtype=np.uint16)
    for i in range(size):
        for j in range(size):
            c, z = complex(axis[j], axis[i]), 0j
            for step in range(limit):
                if z.real * z.real + z.imag * z.imag > 4.0:
                    break
                z = z * z + c
            else:
                step = limit
            out[i, j] = step
    return out


size, limit = 64, 64
expected = reference(size, limit)
np.testing.assert_array_equal(mandelbrot(size, limit), expected)
out = cuda.to_device(np.zeros((size, size), dtype=np.uint16))
mandelbrot_kernel[(size // 16, size // 16), (16, 16)](out, limit)
difference = np.count_nonzero(out.copy_to_host() != expected)
assert difference <= 0.01 * size * size, difference  # points on the rim: a GPU contracts a * b + c
