"""The kernels of sparse matrices through NVRTC, as `src/backends/cuda/library_sparse.cpp` puts their texts together."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import nvrtc

if nvrtc.library() is None:
    pytest.skip("there is no NVRTC: pip install nvidia-cuda-nvrtc", allow_module_level=True)

FOLDER = Path(__file__).resolve().parents[2] / "src" / "backends" / "cuda"


def texts(file: str) -> dict[str, str]:
    """The constants of kernel text of a file."""
    return dict(re.findall(r'constexpr const char\* (\w+) = R"\((.*?)\)"', (FOLDER / file).read_text(), re.S))


@pytest.mark.parametrize("arch", ["sm_80", "sm_90", "sm_100"])
@pytest.mark.parametrize("body", ["kByVector", "kByMatrix"])
@pytest.mark.parametrize("element", ["u8", "u32", "u64", "float", "double", "complex<float>", "complex<double>"])
def test_products_compile(element, body, arch):
    parts = texts("library_sparse.cpp")
    for index, lanes in (("int", 1), ("int", 32), ("i64", 8)):
        text = (
            f"namespace bc {{\nstruct P {{ i64 w[7]; }};\n{texts('library_kernels.cpp')['kPrelude']}"
            f"using T = {element};\nusing I = {index};\nconstexpr int kLanes = {lanes};\n{parts['kArithmetic']}"
            f'extern "C" __global__ void __launch_bounds__(256) bc_test(const __grid_constant__ P p) {{\nconst int t = threadIdx.x;\n'
            f"{parts['kOperands']}{parts[body]}\n}}\n}}\n"
        )
        nvrtc.compile_kernel(text, arch, quick=True)
