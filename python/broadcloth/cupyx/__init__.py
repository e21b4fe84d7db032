"""CuPy's second package: `cupyx.jit`, kernels in Python with CuPy's spelling."""

from __future__ import annotations

from importlib import import_module as _import_module
from typing import Any as _Any

_MODULES = ("jit",)


def __getattr__(name: str) -> _Any:
    if name in _MODULES:
        return _import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(_MODULES)
