"""NumPy's `lib`: `stride_tricks`, `recfunctions`, and `array_utils` with what tells of axes and memory."""

from __future__ import annotations

from .._namespace import listing
from . import array_utils, recfunctions, stride_tricks

__all__ = ["array_utils", "recfunctions", "stride_tricks"]

__dir__ = listing(__all__)
