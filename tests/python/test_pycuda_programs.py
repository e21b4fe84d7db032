"""Programs written for PyCUDA with only their import lines changed, on every device."""

from __future__ import annotations

import numpy as np

from broadcloth.cuda.pycuda import cumath, curandom, gpuarray
from broadcloth.cuda.pycuda import driver as drv
from broadcloth.cuda.pycuda.compiler import SourceModule
from broadcloth.cuda.pycuda.reduction import ReductionKernel

MULTIPLY = """
__global__ void multiply_them(float *dest, float *a, float *b)
{
  const int i = threadIdx.x;
  dest[i] = a[i] * b[i];
}
"""


def test_the_first_program_of_the_tutorial(xp):
    multiply_them = SourceModule(MULTIPLY).get_function("multiply_them")
    a = np.random.default_rng(0).standard_normal(400).astype(np.float32)
    b = np.random.default_rng(1).standard_normal(400).astype(np.float32)
    dest = np.zeros_like(a)
    multiply_them(drv.Out(dest), drv.In(a), drv.In(b), block=(400, 1, 1), grid=(1, 1))
    np.testing.assert_array_equal(dest, a * b)


def test_arrays_and_their_mathematics(xp):
    a = np.random.default_rng(0).standard_normal((4, 4)).astype(np.float32)
    a_gpu = gpuarray.to_gpu(a)
    np.testing.assert_array_equal((2 * a_gpu).get(), 2 * a)
    np.testing.assert_allclose(cumath.sin(a_gpu).get(), np.sin(a), rtol=2e-6)
    assert isinstance(a_gpu, gpuarray.GPUArray)
    np.testing.assert_allclose(float(gpuarray.dot(a_gpu, a_gpu)), (a.astype(float) ** 2).sum(), rtol=1e-5)
    assert float(gpuarray.max(a_gpu)) == a.max() and float(gpuarray.min(a_gpu)) == a.min()
    np.testing.assert_array_equal(gpuarray.if_positive(a_gpu, a_gpu, -a_gpu).get(), abs(a))
    assert gpuarray.zeros(3, np.int32).get().tolist() == [0, 0, 0]
    assert gpuarray.arange(4, dtype=np.int32).get().tolist() == [0, 1, 2, 3]


def test_monte_carlo(xp):
    n = 100_000
    x, y = curandom.rand((n,), np.float64), curandom.rand((n,), np.float64)
    hits = ReductionKernel(
        np.float64, neutral="0", reduce_expr="a+b", map_expr="x[i]*x[i] + y[i]*y[i] < 1 ? 1.0 : 0.0", arguments="double *x, double *y"
    )
    assert abs(4 * float(hits(x, y)) / n - np.pi) < 0.05
    generator = curandom.XORWOWRandomNumberGenerator(curandom.seed_getter_uniform)
    normal = generator.gen_normal((n,), np.float32)
    assert abs(float(normal.mean())) < 0.05 and abs(float(normal.std()) - 1) < 0.05
    again = curandom.XORWOWRandomNumberGenerator(curandom.seed_getter_uniform).gen_normal((n,), np.float32)
    np.testing.assert_array_equal(normal.get(), again.get())
