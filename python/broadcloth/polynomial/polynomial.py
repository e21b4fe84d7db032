"""Power series; see `numpy.polynomial.polynomial`. The functions take and give arrays of broadcloth.

Examples
--------
>>> from broadcloth.polynomial import polynomial
>>> polynomial.polyval(bc.arange(3), [1.0, 2.0, 3.0])
array([ 1.,  6., 17.])
"""

from __future__ import annotations

from typing import Any

from numpy.polynomial.polynomial import __all__ as __all__

from ._source import member


def __getattr__(name: str) -> Any:
    made = globals()[name] = member("polynomial", name)
    return made


def __dir__() -> list[str]:
    return sorted(__all__)
