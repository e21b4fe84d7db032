"""Functions of elementary ones: softplus, Dirichlet's kernel, the dilogarithm, the arithmetic-geometric mean."""

from __future__ import annotations

import cmath
import math
from typing import TYPE_CHECKING, Any

import numpy as np

from ... import _broadcloth as _c
from ..._broadcloth import ndarray
from ._functions import special_function

if TYPE_CHECKING:
    from ...typing import ArrayLike

__all__ = ["agm", "diric", "powm1", "softplus", "spence"]

_agm = _c.ufuncs["agm"]


def softplus(x: ArrayLike, **kwargs: Any) -> Any:
    """log(1 + exp(x)), without overflow on the way; keywords are those of ufuncs, and `out` may be an array of NumPy's.

    Examples
    --------
    >>> bc.scipy.special.softplus([0.0, 1000.0])
    array([6.93147181e-01, 1.00000000e+03])
    """
    out = kwargs.get("out")
    if not isinstance(out, np.ndarray):
        return _c.ufuncs["logaddexp"](0.0, x, **kwargs)
    # NumPy's array is written from the host.
    where = kwargs.pop("where", True)
    del kwargs["out"]
    np.copyto(out, np.asarray(softplus(x, **kwargs)), casting="same_kind", where=np.asarray(where))
    return out


def diric(x: ArrayLike, n: ArrayLike) -> ndarray:
    """Dirichlet's kernel, the periodic sinc function sin(n x / 2) / (n sin(x / 2)).

    Parameters
    ----------
    x : array_like
        Integers run in float64.
    n : array_like
        Whole numbers above 0; for others the result is NaN.

    Examples
    --------
    >>> bc.scipy.special.diric([0.0, 1.0], 3)
    array([1.        , 0.69353487])
    """
    a, order = _c.asarray(x), _c.asarray(n)
    floating = a.dtype if a.dtype.kind == "f" else np.dtype(np.float64)
    return _diric(a.astype(floating, copy=False), order.astype(floating, copy=False))


@special_function("ff dd")
def _diric(x: Any, n: Any) -> Any:
    if n <= 0 or n != math.floor(n):
        return math.nan
    below = math.sin(0.5 * x)
    if abs(below) < 1e-9:
        # At a multiple of 2 pi the limit is 1 or -1; its next term is below the rounding.
        turns = round(x / (2 * math.pi))
        return 1.0 if (turns * (n - 1)) % 2 == 0 else -1.0
    return math.sin(0.5 * n * x) / (n * below)


def _spence_of_complex(z: Any) -> Any:
    if cmath.isnan(z):
        return complex(math.nan, math.nan)
    if z == 0:
        return complex(math.pi**2 / 6, 0.0)
    if cmath.isinf(z):
        return complex(-math.inf, math.copysign(math.inf, -z.imag))
    w = complex(1 - z.real, -z.imag)
    far = w.real * w.real + w.imag * w.imag > 1
    inverse = 1 / w if far else w
    # Li2(inverse), by the reflection of z and 1 - z on the right
    if inverse.real > 0.5:
        other = 1 - inverse if far else z
        u = -cmath.log(inverse)
        value = math.pi**2 / 6 + u * cmath.log(other) - _dilogarithm(u)
    else:
        value = _dilogarithm(-_log1p(-inverse))
    if not far:
        return value
    l = cmath.log(complex(z.real - 1, z.imag))
    return -(math.pi**2) / 6 - 0.5 * l * l - value


@special_function("f d F D", of_complex=_spence_of_complex)
def spence(z: Any) -> Any:
    """Spence's function, the dilogarithm of 1 - z: the integral of log(t) / (1 - t) from 1 to z, for real z >= 0 and complex z.

    Examples
    --------
    >>> bc.scipy.special.spence([0.0, 0.5, 1.0, 2.0])
    array([ 1.64493407,  0.58224053,  0.        , -0.82246703])
    """
    if not z >= 0:
        return math.nan
    if z == 0:
        return math.pi**2 / 6
    if math.isinf(z):
        return -math.inf
    if 0.5 <= z <= 2:
        return _dilogarithm(0.0 - math.log(z))
    # The reflections of z and 1 - z, and of z and 1 / z: DLMF 25.12.4 and 25.12.6.
    log = abs(math.log(z))
    u = -math.log1p(-min(z, 1 / z))
    near = math.pi**2 / 6 - log * u - _dilogarithm(u)
    return near if z < 0.5 else -0.5 * log * log - near


def _log1p(z: Any) -> Any:
    x = z.real
    y = z.imag
    return complex(0.5 * math.log1p(2 * x + (x * x + y * y)), math.atan2(y, 1 + x))


def _dilogarithm(u: Any) -> Any:
    """Li2(1 - exp(-u)) for abs(u) <= pi / 3, by Debye's series in Bernoulli's numbers."""
    s = u * u
    high = 1 / 526901760 - s * (4.0647616451442255e-11 - s * (8.921691020456453e-13 - s * 1.9939295860721076e-14))
    series = 1 / 36 - s * (1 / 3600 - s * (1 / 211680 - s * (1 / 10886400 - s * high)))
    return u - 0.25 * s + u * s * series


@special_function("ff dd", row="agm")
def agm(a: Any, b: Any) -> Any:
    """The arithmetic-geometric mean of two numbers; NaN where their signs differ.

    Examples
    --------
    >>> bc.scipy.special.agm(1.0, [1.0, 2.0, 24.0])
    array([1.        , 1.45679103, 8.25667216])
    """
    return _agm(a, b)


@special_function("ff dd")
def powm1(x: Any, y: Any) -> Any:
    """x**y - 1, with all digits where it is small.

    Examples
    --------
    >>> bc.scipy.special.powm1([1.00000001, 2.0], [1.0, 1e-12])
    array([9.99999994e-09, 6.93147181e-13])
    """
    if x > 0:
        exponent = y * math.log(x)
        if abs(exponent) < 1:
            return math.expm1(exponent)
    if x < 0 and y == math.floor(y) and y % 2 == 0:
        exponent = y * math.log(-x)
        if abs(exponent) < 1:
            return math.expm1(exponent)
    return x**y - 1
