"""Kernels that several threads compile and launch at once."""

from __future__ import annotations

import threading

import pytest

import broadcloth as bc
from broadcloth import cuda


@pytest.mark.parametrize("attempt", range(5))
def test_threads_compile_and_launch_the_same_new_kernels(xp, attempt):
    @cuda.jit
    def axpy(x, y, a):
        i = cuda.grid(1)
        if i < x.size:
            y[i] += a * x[i]

    increment = xp.RawKernel(
        'extern "C" __global__ void f(double* x, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) x[i] += 1; }', "f"
    )
    device, errors, ready = str(xp.default_device()), [], threading.Barrier(6)

    def work(t: int) -> None:
        try:
            with bc.device(device):
                ready.wait()
                for _ in range(10):
                    x, y = xp.ones(500 + t), xp.zeros(500 + t)
                    axpy[4, 256](x, y, float(t))
                    increment((4,), (256,), (y, 500 + t))
                    axpy.forall(500 + t)(x, y, t)
                    assert (bc.asnumpy(y * 2) == 2 * (2 * t + 1)).all()
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=work, args=(t,)) for t in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors
