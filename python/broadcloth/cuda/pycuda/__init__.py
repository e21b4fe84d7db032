"""PyCUDA's interface on every device: kernels from one line of C++ (`elementwise`, `reduction`, `scan`), `compiler`, `driver`, `gpuarray`.

A program changes ``from pycuda.elementwise import ElementwiseKernel`` to
``from broadcloth.cuda.pycuda.elementwise import ElementwiseKernel``.
"""

from __future__ import annotations

from importlib import import_module as _import_module
from typing import Any as _Any

__all__ = ["autoinit", "compiler", "cumath", "curandom", "driver", "elementwise", "gpuarray", "reduction", "scan"]


def __getattr__(name: str) -> _Any:
    if name in __all__:
        return _import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
