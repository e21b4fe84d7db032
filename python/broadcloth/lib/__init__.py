"""NumPy's `lib`: `stride_tricks`, and `array_utils` with what tells of axes and memory."""

from __future__ import annotations

from . import array_utils, stride_tricks

__all__ = ["array_utils", "stride_tricks"]
