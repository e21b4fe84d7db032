"""Hermite series of the probabilists; see `numpy.polynomial.hermite_e`. The functions take and give arrays of broadcloth.

Examples
--------
>>> from broadcloth.polynomial import hermite_e
>>> hermite_e.hermeval(bc.arange(3), [1.0, 2.0])
array([1., 3., 5.])
"""

from __future__ import annotations

from typing import Any

from numpy.polynomial.hermite_e import __all__ as __all__

from ._source import member


def __getattr__(name: str) -> Any:
    made = globals()[name] = member("hermite_e", name)
    return made


def __dir__() -> list[str]:
    return sorted(__all__)
