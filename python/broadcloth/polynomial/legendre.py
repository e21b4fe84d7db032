"""Legendre series; see `numpy.polynomial.legendre`. The functions take and give arrays of broadcloth.

Examples
--------
>>> from broadcloth.polynomial import legendre
>>> legendre.legval(bc.linspace(-1, 1, 3), [1.0, 2.0, 3.0])
array([ 2. , -0.5,  6. ])
"""

from __future__ import annotations

from typing import Any

from numpy.polynomial.legendre import __all__ as __all__

from ._source import member


def __getattr__(name: str) -> Any:
    made = globals()[name] = member("legendre", name)
    return made


def __dir__() -> list[str]:
    return sorted(__all__)
