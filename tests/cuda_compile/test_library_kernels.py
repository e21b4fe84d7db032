"""The kernels of library ops through NVRTC, on any machine: the null device writes them down."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import broadcloth as bc
import nvrtc
from null_device import make, null_device, recorded

if nvrtc.library() is None:
    pytest.skip("there is no NVRTC: pip install nvidia-cuda-nvrtc", allow_module_level=True)


def kernels(program: Callable[[], Any]) -> dict[str, str]:
    """The names and texts of the library kernels of a program."""
    bc._c.use_cuda_bodies("null", True)
    try:
        with null_device("null-cuda"), recorded() as record:
            held = program()
            bc.flush()
            del held
    finally:
        bc._c.use_cuda_bodies("null", False)
    return {launch.entry: launch.source for launch in record.launches if launch.entry.startswith("bc_")}


@pytest.mark.parametrize("dtype", ["bool", "int8", "float16", "float32", "int64", "complex64", "complex128"])
def test_scans_are_one_kernel(dtype):
    scan = bc.logical_or if dtype == "bool" else bc.add
    found = kernels(lambda: scan.accumulate(make((100_000,), dtype), dtype=dtype))
    assert list(found) == ["bc_scan_tiles"]
    nvrtc.compile_kernel(found["bc_scan_tiles"], "sm_90")


@pytest.mark.parametrize("name", ["maximum", "multiply", "logaddexp", "hypot"])
def test_scans_of_other_rows(name):
    for shape in ((100_000,), (1000, 300)):
        for text in kernels(lambda s=shape: getattr(bc, name).accumulate(make(s, "float64"), axis=-1)).values():
            nvrtc.compile_kernel(text, "sm_80")


def test_an_axis_of_columns_and_segments():
    found = kernels(lambda: bc.cumsum(make((1000, 1000), "float32"), axis=0))
    found |= kernels(lambda: bc.add.reduceat(make((5000,)), [0, 7, 9]))
    for text in found.values():
        nvrtc.compile_kernel(text, "sm_90")


@pytest.mark.parametrize("shape", [(5000,), (50, 60, 7)])
def test_compaction_is_one_kernel(shape):
    def program():
        mask = bc.asarray(np.ones(shape, bool))
        bc._c.null_run(True)  # the count is asked for
        held = [make(shape, "float32")[mask], make((*shape, 3), "float32")[mask], bc.nonzero(mask)]
        bc._c.null_run(False)
        return held

    found = kernels(program)
    assert {"bc_compress", "bc_positions", "bc_take_rows", "bc_nonzero"} <= set(found)
    for text in found.values():
        nvrtc.compile_kernel(text, "sm_90")


@pytest.mark.parametrize("bins", [10, 4000, 12_000])
def test_counts_use_shared_memory(bins):
    numbers = np.zeros(100_000, np.int64)  # read by the host, which refuses negative ones
    found = kernels(lambda: bc.bincount(bc.asarray(numbers), minlength=bins))
    assert list(found) == ["bc_count_places"]
    nvrtc.compile_kernel(found["bc_count_places"], "sm_90")
