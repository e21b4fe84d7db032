"""Functions made of Faddeeva's w and the error function of complex arguments: Fresnel's integrals, Voigt's profile."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from ... import _broadcloth as _c
from ..._broadcloth import ndarray
from ._functions import special_function

if TYPE_CHECKING:
    from ...typing import ArrayLike

__all__ = ["fresnel", "voigt_profile"]

_erf, _wofz, _real_s, _real_c = _c.ufuncs["erf"], _c.ufuncs["wofz"], _c.ufuncs["fresnel_s"], _c.ufuncs["fresnel_c"]
_ROOT_PI = 1.772453850905516


def _fresnel_series(z: Any, power: Any) -> Any:
    """C for power 0 and S for power 1 (DLMF 7.6.4, 7.6.6), for |z| < 1.2."""
    t = 0.5 * math.pi * z * z
    term = z if power == 0 else z * t
    square = t * t
    total = term / (2 * power + 1)
    for n in range(1, 14):
        term = -term * square / ((2 * n + power) * (2 * n + power - 1))
        total = total + term / (4 * n + 2 * power + 1)
    return total


def _fresnel_of_complex(z: Any, power: Any) -> Any:
    """Of 2 C = (1 + i) / 2 erf(sqrt(pi) (1 - i) z / 2) + (1 - i) / 2 erf(sqrt(pi) (1 + i) z / 2), and the difference for 2 i S."""
    if z.imag == 0:
        return complex(_real_c(z.real) if power == 0 else _real_s(z.real), 0.0)
    if abs(z) < 1.2:
        return _fresnel_series(z, power)
    first = (0.5 + 0.5j) * _erf((0.5 - 0.5j) * _ROOT_PI * z)
    second = (0.5 - 0.5j) * _erf((0.5 + 0.5j) * _ROOT_PI * z)
    return 0.5 * (first + second) if power == 0 else -0.5j * (first - second)


def _s_of_complex(z: Any) -> Any:
    return _fresnel_of_complex(z, 1)


def _c_of_complex(z: Any) -> Any:
    return _fresnel_of_complex(z, 0)


def _s_slopes(y: Any, z: Any) -> Any:
    return (_c.ufuncs["sin"](0.5 * math.pi * z * z),)


def _c_slopes(y: Any, z: Any) -> Any:
    return (_c.ufuncs["cos"](0.5 * math.pi * z * z),)


@special_function("f d F D", row="fresnel_s", of_complex=_s_of_complex, slopes=_s_slopes)
def _fresnel_s(z: Any) -> Any:
    return _real_s(z)


@special_function("f d F D", row="fresnel_c", of_complex=_c_of_complex, slopes=_c_slopes)
def _fresnel_c(z: Any) -> Any:
    return _real_c(z)


def fresnel(z: ArrayLike) -> tuple[ndarray, ndarray]:
    """Fresnel's integrals S and C of sin(pi t**2 / 2) and cos(pi t**2 / 2) from 0 to z, real or complex.

    Examples
    --------
    >>> s, c = bc.scipy.special.fresnel([0.5, 1.0, 10.0])
    >>> s
    array([0.06473243, 0.43825915, 0.46816998])
    """
    return _fresnel_s(z), _fresnel_c(z)


def _voigt_slopes(y: Any, x: Any, sigma: Any, gamma: Any) -> Any:
    z = (x + 1j * gamma) / (sigma * math.sqrt(2.0))
    scale = 1 / (2 * _ROOT_PI * sigma * sigma)
    slope = 2j / _ROOT_PI - 2 * z * _wofz(z)  # w'(z)
    return slope.real * scale, -(y + (slope * z).real * scale * sigma * math.sqrt(2.0)) / sigma, -slope.imag * scale


@special_function("fff ddd", slopes=_voigt_slopes)
def voigt_profile(x: Any, sigma: Any, gamma: Any) -> Any:
    """Voigt's profile: the density at x of the sum of a normal number of deviation sigma and a Cauchy number of half width gamma.

    Examples
    --------
    >>> bc.scipy.special.voigt_profile([0.0, 1.0, 2.0], 1.0, 0.5)
    array([0.27895547, 0.20017964, 0.08242408])
    """
    if sigma == 0:
        if gamma == 0:
            return math.nan if math.isnan(x) else math.inf if x == 0 else 0.0
        return gamma / math.pi / (x * x + gamma * gamma)
    if gamma == 0:
        u = x / sigma
        return math.exp(-0.5 * u * u) / (math.sqrt(2 * math.pi) * sigma)
    scale = sigma * math.sqrt(2.0)
    return _wofz(complex(x / scale, gamma / scale)).real / (_ROOT_PI * scale)
