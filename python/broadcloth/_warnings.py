"""Warnings at the line of the program, however deep in the package the function lies that gives them."""

from __future__ import annotations

import sys
import warnings
from typing import Any

# Packages whose frames lie between the program's line and a function of broadcloth: NumPy and SciPy call it through their protocols.
# (From Python 3.12 on `skip_file_prefixes` does a part of this.)
_BETWEEN = {__package__, "numpy", "scipy"}


def warn(text: str, category: type[Warning]) -> None:
    """`warnings.warn` with the `stacklevel` of the nearest frame outside of broadcloth, NumPy and SciPy."""
    level, frame = 1, sys._getframe()
    while (outer := frame.f_back) is not None and _package(frame) in _BETWEEN:
        level, frame = level + 1, outer
    warnings.warn(text, category, stacklevel=level)


def _package(frame: Any) -> str:
    name = frame.f_globals.get("__name__")
    return name.partition(".")[0] if isinstance(name, str) else ""
