"""CuPy's names of the modules of broadcloth.scipy."""

from __future__ import annotations

from importlib import import_module as _import_module
from pkgutil import iter_modules as _iter_modules
from typing import Any as _Any

_MODULES = sorted(module.name for module in _iter_modules(__path__) if not module.name.startswith("_"))


def __getattr__(name: str) -> _Any:
    if name in _MODULES:
        return _import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return list(_MODULES)
