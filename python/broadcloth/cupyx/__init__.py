"""CuPy's second package: `cupyx.jit` (kernels in Python with CuPy's spelling), `cupyx.profiler`, and its functions of arrays."""

from __future__ import annotations

from importlib import import_module as _import_module
from typing import Any as _Any

_MODULES = ("jit", "profiler", "scipy")
_FUNCTIONS = ("empty_like_pinned", "empty_pinned", "get_runtime_info", "rsqrt", "scatter_add", "scatter_max", "scatter_min",
              "zeros_like_pinned", "zeros_pinned")  # fmt: skip


def __getattr__(name: str) -> _Any:
    if name in _MODULES:
        return _import_module(f"{__name__}.{name}")
    if name in _FUNCTIONS:
        return getattr(_import_module(f"{__name__}._functions"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted((*_MODULES, *_FUNCTIONS))
