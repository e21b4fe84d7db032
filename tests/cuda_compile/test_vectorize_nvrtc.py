"""What `vectorize`, `guvectorize` and `stencil` make for CUDA, through NVRTC on any machine."""

from __future__ import annotations

import math

import pytest

import broadcloth as bc
import nvrtc
from null_device import make, null_device, recorded

if nvrtc.library() is None:
    pytest.skip("there is no NVRTC: pip install nvidia-cuda-nvrtc", allow_module_level=True)


def compile_launches(program, *arrays):
    """Compiles the kernels that a call on arrays of a CUDA device becomes."""
    with null_device("null-cuda"), recorded() as record:
        held = program(*(make(shape, dtype) for shape, dtype in arrays)) * 2
        bc.flush()
        del held
    assert record.launches
    for launch in record.launches:
        assert len(nvrtc.compile_kernel(launch.source, "sm_90", quick=True)) > 500


@bc.njit
def helper(x):
    return max(x, 0) ** 3 + abs(x) // 2


@bc.vectorize
def mixed(x, y):
    s = 0.0
    for i in range(4):
        s += helper(x) * math.sin(y) / (i + 1)
        if s > 100:
            break
    return s if x < y else math.atan2(x, y) % 1.5


@pytest.mark.parametrize("dtype", ["int32", "float32", "float64"])
def test_functions_of_elements_fuse(dtype):
    compile_launches(lambda x, y: mixed(x + 1, y), ((4096,), dtype), ((4096,), dtype))


def test_signatures_with_results():
    @bc.vectorize(["float32(float64)"])
    def half(x):
        return x / 2

    compile_launches(half, ((4096,), "float64"))


def compile_kernel(kernel, *signature):
    text = bc._c.KernelCompiler(kernel.py_func, [], False, False).source(signature, True)
    assert len(nvrtc.compile_kernel(text, "sm_90", quick=True)) > 500


def test_cores_are_kernels():
    @bc.guvectorize(["void(float64[:], float64, float64[:], float64[:])"], "(n),()->(n),()")
    def f(x, by, out, total):
        s = 0.0
        for i in range(x.shape[0]):
            out[i] = x[i] + by
            s += out[i]
        total[0] = s

    compile_kernel(
        f._driver(2, True, (True, False, True, True)), "float64[:, :, ::1]", "float64[:, :]", "float64[:, :, ::1]", "float64[:, :, ::1]"
    )


def test_stencils_are_kernels():
    @bc.stencil(neighborhood=((-1, 1), (-1, 1)))
    def f(a, k):
        s = 0.0
        for i in range(-1, 2):
            s += a[i, 0] * k
        return s

    run, _, _ = f._build((True, False), 2, False, True)
    compile_kernel(run, "float64[:, ::1]", "float64", "float64[:, ::1]")
