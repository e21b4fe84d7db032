"""What the modules of series share; see `numpy.polynomial.polyutils`. The functions take and give arrays of broadcloth.

Examples
--------
>>> from broadcloth.polynomial import polyutils
>>> polyutils.getdomain(bc.arange(5))
array([0., 4.])
"""

from __future__ import annotations

from typing import Any

from numpy.polynomial.polyutils import __all__ as __all__

from ._source import member


def __getattr__(name: str) -> Any:
    made = globals()[name] = member("polyutils", name)
    return made


def __dir__() -> list[str]:
    return sorted(__all__)
