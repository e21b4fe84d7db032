"""cuda.compile and its kin: Python functions as PTX, on any machine."""

from __future__ import annotations

import pytest

import nvrtc
from broadcloth import cuda, types

if nvrtc.library() is None:
    pytest.skip("there is no NVRTC: pip install nvidia-cuda-nvrtc", allow_module_level=True)


def add(x, y):
    return x + y


def first(a, i):
    return a[i]


def scale(x, factor):
    i = cuda.grid(1)
    if i < x.size:
        x[i] *= factor


def test_a_device_function_is_exported_under_its_name():
    ptx, result = cuda.compile(add, "(float32, float32)")
    assert ".visible .func" in ptx and " add(" in ptx and ".target sm_75" in ptx
    assert result == types.float32
    ptx, result = cuda.compile(add, (types.int64, types.float64), cc=(9, 0), abi_info={"abi_name": "plus"})
    assert " plus(" in ptx and ".target sm_90" in ptx and result == types.float64


def test_a_device_function_may_take_arrays():
    ptx, result = cuda.compile(first, "(float64[::1], int32)")
    assert " first(" in ptx and result == types.float64


def test_a_kernel_is_an_entry():
    ptx, result = cuda.compile_ptx(scale, "void(float32[::1], float32)", fastmath=True)
    assert ".visible .entry scale(" in ptx
    assert result == types.void
    assert len(cuda.compile_all(scale, "void(float32[::1], float32)", device=False)[0]) == 1


def test_what_cannot_be_made_is_refused():
    with pytest.raises(NotImplementedError, match="'ptx' or 'ltoir'"):
        cuda.compile(add, "(float32, float32)", output="sass")
    with pytest.raises(NotImplementedError, match="ABI"):
        cuda.compile(add, "(float32, float32)", abi="pascal")
