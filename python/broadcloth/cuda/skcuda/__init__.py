"""scikit-cuda's interface on every device: `linalg`, `fft`, `cublas`, `cusolver`, `misc` and `integrate` over broadcloth's arrays.

A program changes ``import skcuda.linalg as linalg`` to ``import broadcloth.cuda.skcuda.linalg as linalg``. On the CPU the same calls run
on OpenBLAS, LAPACK and the CPU's transforms.
"""

from __future__ import annotations

from importlib import import_module as _import_module
from typing import Any as _Any

__all__ = ["cublas", "cusolver", "fft", "integrate", "linalg", "misc"]


def __getattr__(name: str) -> _Any:
    if name in __all__:
        return _import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
