"""NumPy's `lib`: `stride_tricks`, `recfunctions`, and `array_utils` with what tells of axes and memory, each loaded when it is first used
(NumPy's `recfunctions` loads its masked arrays). `mixins` is NumPy's: its operators call ufuncs, which the classes that use it answer."""

from __future__ import annotations

from importlib import import_module as _import_module
from typing import TYPE_CHECKING, Any

from .._namespace import listing, missing

if TYPE_CHECKING:
    from numpy.lib import mixins

    from . import array_utils, recfunctions, stride_tricks

__all__ = ["array_utils", "mixins", "recfunctions", "stride_tricks"]

__dir__ = listing(__all__)


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise missing(__name__, name)
    return _import_module(f"numpy.lib.{name}" if name == "mixins" else f"{__name__}.{name}")
