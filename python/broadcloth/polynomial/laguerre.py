"""Laguerre series; see `numpy.polynomial.laguerre`. The functions take and give arrays of broadcloth.

Examples
--------
>>> from broadcloth.polynomial import laguerre
>>> laguerre.lagval(bc.arange(3), [1.0, 2.0])
array([ 3.,  1., -1.])
"""

from __future__ import annotations

from typing import Any

from numpy.polynomial.laguerre import __all__ as __all__

from ._source import member


def __getattr__(name: str) -> Any:
    made = globals()[name] = member("laguerre", name)
    return made


def __dir__() -> list[str]:
    return sorted(__all__)
