"""CuPy's name of broadcloth.scipy.sparse."""

from __future__ import annotations

from importlib import import_module as _import_module
from typing import Any as _Any

from ....scipy import sparse as _sparse
from ....scipy.sparse import *  # noqa: F403

__all__ = _sparse.__all__


def __getattr__(name: str) -> _Any:
    if name in ("csgraph", "linalg"):
        return _import_module(f"{__name__}.{name}")
    return getattr(_sparse, name)
