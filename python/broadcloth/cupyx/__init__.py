"""CuPy's second package: `cupyx.jit` (kernels in Python with CuPy's spelling), `cupyx.profiler`, and its functions of arrays."""

from __future__ import annotations

from importlib import import_module as _import_module
from typing import Any as _Any

_MODULES = ("jit", "optimizing", "profiler", "scipy", "time")
# Where the names are; a module is loaded when one of its names is first used.
_TABLE = {
    "_functions": "empty_like_pinned empty_pinned get_runtime_info rsqrt scatter_add scatter_max scatter_min"
    " zeros_like_pinned zeros_pinned",
    "_errors": "DeviceSynchronized allow_synchronize errstate geterr seterr",
    "_gufunc": "GeneralizedUFunc",
}
_NAMES = {name: module for module, names in _TABLE.items() for name in names.split()}


def __getattr__(name: str) -> _Any:
    if name in _MODULES:
        return _import_module(f"{__name__}.{name}")
    if name in _NAMES:
        return getattr(_import_module(f"{__name__}.{_NAMES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted((*_MODULES, *_NAMES))
