"""Power series and series of orthogonal polynomials; see `numpy.polynomial`.

The classes are NumPy's, with a call of their own: coefficients are few and lie on the host, and a series is computed where its argument
lies. The functions of the modules take and give arrays of broadcloth.

Examples
--------
>>> line = bc.polynomial.Polynomial([1.0, 2.0])
>>> line(bc.arange(3))
array([1., 3., 5.])
>>> bc.polynomial.chebyshev.chebval(bc.linspace(-1, 1, 3), [1.0, 2.0])
array([-1.,  1.,  3.])
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy.polynomial as _theirs
from numpy.polynomial import set_default_printstyle

from .._namespace import listing
from . import chebyshev, hermite, hermite_e, laguerre, legendre, polynomial, polyutils
from ._source import series

if TYPE_CHECKING:
    from numpy.polynomial import Chebyshev, Hermite, HermiteE, Laguerre, Legendre, Polynomial
else:
    Chebyshev, Hermite, HermiteE = series(_theirs.Chebyshev), series(_theirs.Hermite), series(_theirs.HermiteE)
    Laguerre, Legendre, Polynomial = series(_theirs.Laguerre), series(_theirs.Legendre), series(_theirs.Polynomial)

__all__ = [
    "Chebyshev",
    "Hermite",
    "HermiteE",
    "Laguerre",
    "Legendre",
    "Polynomial",
    "chebyshev",
    "hermite",
    "hermite_e",
    "laguerre",
    "legendre",
    "polynomial",
    "polyutils",
    "set_default_printstyle",
]

__dir__ = listing(__all__)
