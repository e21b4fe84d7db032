"""CuPy's names of the modules of broadcloth.scipy."""

from __future__ import annotations

from importlib import import_module as _import_module
from pkgutil import iter_modules as _iter_modules
from typing import Any as _Any

_MODULES = sorted(module.name for module in _iter_modules(__path__) if not module.name.startswith("_"))


def get_array_module(*args: _Any) -> _Any:
    """The package whose modules take the arguments: this one where one of them is an array or a sparse matrix of broadcloth, else `scipy`.

    Examples
    --------
    >>> from broadcloth import cupyx
    >>> cupyx.scipy.get_array_module(bc.ones(2)) is cupyx.scipy
    True
    """
    from ... import ndarray
    from ...scipy import sparse

    if any(isinstance(a, ndarray) or sparse.issparse(a) for a in args):
        return _import_module(__name__)
    return _import_module("scipy")


def __getattr__(name: str) -> _Any:
    if name in _MODULES:
        return _import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*_MODULES, "get_array_module"]
