"""Hermite series of the physicists; see `numpy.polynomial.hermite`. The functions take and give arrays of broadcloth.

Examples
--------
>>> from broadcloth.polynomial import hermite
>>> hermite.hermval(bc.arange(3), [1.0, 2.0])
array([1., 5., 9.])
"""

from __future__ import annotations

from typing import Any

from numpy.polynomial.hermite import __all__ as __all__

from ._source import member


def __getattr__(name: str) -> Any:
    made = globals()[name] = member("hermite", name)
    return made


def __dir__() -> list[str]:
    return sorted(__all__)
