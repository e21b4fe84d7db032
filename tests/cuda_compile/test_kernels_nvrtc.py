"""Kernels written in Python through NVRTC, on any machine."""

from __future__ import annotations

import importlib.util
import math
import sys
from pathlib import Path

import numpy as np
import pytest

import broadcloth as bc
import nvrtc
from broadcloth import cuda

if nvrtc.library() is None:
    pytest.skip("there is no NVRTC: pip install nvidia-cuda-nvrtc", allow_module_level=True)

# The kernels that run in tests/python, compiled here for the GPU.
_spec = importlib.util.spec_from_file_location("kernels_to_compile", Path(__file__).parents[1] / "python" / "test_kernels.py")
programs = importlib.util.module_from_spec(_spec)
sys.modules[_spec.name] = programs
_spec.loader.exec_module(programs)

F1, F2, D1, D2, I1 = "float32[::1]", "float32[:, ::1]", "float64[::1]", "float64[:, ::1]", "int64[::1]"
SIGNATURES = {
    "vector_add": [(F1, F1, F1), ("float64[:]", "int32[:]", "complex128[:]")],
    "scale_matrix": [(D2, "int64"), ("float32[::1, :]", "float64")],
    "reverse_blocks": [(F1,)],
    "dynamic_reverse": [("int32[::1]",)],
    "block_maximum": [(F1, F1)],
    "tile_product": [(F2, F2, F2)],
    "mandel_kernel": [("float64",) * 4 + ("uint8[:, ::1]", "int64")],
    "atomics": [
        ("none", i, f, u) for i in ("int32[:]", "int64[:]") for f in ("float32[:]", "float64[:]") for u in ("uint32[:]", "uint64[:]")
    ],
    "histogram": [(I1, "int32[:, ::1]")],
    "fast": [(F1, F1)],
    "warp_sum": [
        (t + "[::1]", t + "[::1]") for t in ("int32", "int64", "float32", "float64", "float16", "bfloat16", "complex64", "complex128")
    ],
    "votes": [(I1, "int64[:, ::1]")],
    "views": [(D2, D1), (F2, F1)],
    "local_arrays": [(D1, D1)],
    "polynomial": [(D1, D1)],
    "optional_argument": [(D1, "none"), (D1, D1)],
    "raises": [(I1,)],
}


@pytest.mark.parametrize("name", SIGNATURES)
def test_kernels_compile_for_the_gpu(name):
    for signature in SIGNATURES[name]:
        text = bc._c.compile_text(getattr(programs, name).py_func, signature)[3]
        assert len(nvrtc.compile_kernel(text, "sm_90", quick=True)) > 500


@cuda.jit
def every_row(u, i, f, out):
    k = cuda.grid(1)
    grid = cuda.cg.this_grid()
    out[k] = cuda.brev(u[k]) + cuda.popc(i[k]) + cuda.clz(u[k]) + cuda.ffs(i[k]) + cuda.laneid + cuda.warpsize
    out[k] += cuda.fma(f[k], f[k], f[k]) + cuda.cbrt(f[k]) + cuda.selp(i[k] > 0, f[k], 0.0)
    cuda.threadfence()
    cuda.threadfence_block()
    cuda.threadfence_system()
    cuda.syncwarp()
    cuda.syncwarp(0xFFFF)
    cuda.nanosleep(100)
    out[k] += cuda.shfl_sync(0xFFFFFFFF, f[k], 0) + cuda.shfl_up_sync(0xFFFFFFFF, i[k], 1) + cuda.shfl_xor_sync(0xFFFFFFFF, f[k], 1)
    mask, same = cuda.match_all_sync(0xFFFFFFFF, i[k])
    out[k] += mask + same + cuda.match_any_sync(0xFFFFFFFF, f[k]) + cuda.activemask() + cuda.lanemask_lt() + cuda.eq_sync(0xFFFFFFFF, i[k])
    out[k] += cuda.syncthreads_and(1) + cuda.syncthreads_or(0)
    grid.sync()
    print("thread", k, f[k], i[k] > 0, (1, 2.5), 1j)


@pytest.mark.parametrize("real", ["float32", "float64"])
@pytest.mark.parametrize("width", [32, 64])
def test_every_row_of_cuda_compiles(real, width):
    signature = (f"uint{width}[::1]", f"int{width}[::1]", f"{real}[::1]", "float64[::1]")
    text = bc._c.compile_text(every_row.py_func, signature)[3]
    assert len(nvrtc.compile_kernel(text, "sm_90", quick=True)) > 500


def every_operator(x, y, i, j, z, out):
    out[0] = x // y + x % y + x**y + x**3 - round(x, 2) + math.sin(x) + math.cos(y) + math.tan(x) + math.fmod(x, y) + max(x, y)
    out[1] = i // j + i % j + i**2 + (i << 3) + (i >> 1) + (i ^ j) + ~i + abs(i) + divmod(i, j)[1] + int(x) + math.floor(y)
    out[2] = abs(z * z / (z + 1) - z**2) + z.real + np.exp(z).imag + np.hypot(x, y) + np.arctan2(x, y) + math.erf(x) + math.gamma(y)
    assert x > 0, "not positive"
    a = out[:3]
    a += 1
    out[3] = (a * 2).sum() + a.std() + np.max(a)


@pytest.mark.parametrize(("real", "whole", "complex_type"), [("float32", "int32", "complex64"), ("float64", "uint64", "complex128")])
def test_every_operator_compiles_for_the_gpu(real, whole, complex_type):
    text = bc._c.compile_text(every_operator, (real, real, whole, whole, complex_type, "float64[::1]"))[3]
    assert len(nvrtc.compile_kernel(text, "sm_90", quick=True)) > 500
