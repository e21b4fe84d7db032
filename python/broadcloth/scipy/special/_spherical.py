"""Spherical Bessel functions of whole order n >= 0 and real argument (DLMF 10.47 to 10.51), and their derivatives."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from ..._broadcloth import ndarray
from ._functions import special_function

if TYPE_CHECKING:
    from ...typing import ArrayLike

__all__ = ["spherical_in", "spherical_jn", "spherical_kn"]

_LOOPS = "ld ff dd"


def _power_series(n: Any, z: Any, sign: Any) -> Any:
    """z**n / (2 n + 1)!! times the sum of (sign z**2 / 2)**k / (k! (2 n + 3) (2 n + 5) ... (2 n + 2 k + 1)): DLMF 10.53."""
    half = sign * 0.5 * z * z
    term = 1.0
    total = 1.0
    k = 1
    while abs(term) > 1e-17 * total and total < math.inf:
        term = term * half / (k * (2 * n + 2 * k + 1))
        total += term
        k += 1
    for i in range(n):
        total = total * (z / (2 * i + 3))
    return total


def _jn(n: Any, x: Any) -> Any:
    if n < 0 or math.isnan(x):
        return math.nan
    z = abs(x)
    sign = -1.0 if x < 0 and n % 2 == 1 else 1.0
    if math.isinf(z):
        return 0.0
    if z * z < 2 * n + 3:
        return sign * _power_series(n, z, -1.0)
    zeroth = math.sin(z) / z
    first = (zeroth - math.cos(z)) / z
    if z > n:
        # The recurrence in the order is stable upwards as long as the order is below the argument.
        before = zeroth
        now = first
        if n == 0:
            now = zeroth
        for k in range(1, n):
            after = (2 * k + 1) / z * now - before
            before = now
            now = after
        return sign * now
    # Miller's method: downwards from an order that is far enough above, then scaled to what is known at the lowest.
    after = 0.0
    now = 1e-290
    wanted = 0.0
    for k in range(n + 20 + int(12 * n ** (1 / 3)), 0, -1):
        before = (2 * k + 1) / z * now - after
        after = now
        now = before
        if k - 1 == n:
            wanted = now
        if abs(now) > 1e200:
            now *= 1e-200
            after *= 1e-200
            wanted *= 1e-200
    scale = zeroth / now if abs(zeroth) > abs(first) else first / after
    return sign * (wanted * scale)


def _in(n: Any, x: Any) -> Any:
    if n < 0 or math.isnan(x):
        return math.nan
    z = abs(x)
    sign = -1.0 if x < 0 and n % 2 == 1 else 1.0
    if math.isinf(z):
        return sign * math.inf
    return sign * _power_series(n, z, 1.0)


def _kn(n: Any, z: Any) -> Any:
    if n < 0 or math.isnan(z):
        return math.nan
    if z == 0:
        return math.inf
    if math.isinf(z):
        return 0.0 if z > 0 else -math.inf
    before = 0.5 * math.pi * math.exp(-z) / z
    if n == 0:
        return before
    now = before * (1 + 1 / z)
    for k in range(1, n):
        after = (2 * k + 1) / z * now + before
        before = now
        now = after
    return now


@special_function(_LOOPS, whole=True)
def _jn_value(n: Any, z: Any) -> Any:
    return _jn(int(n), z)


@special_function(_LOOPS, whole=True)
def _in_value(n: Any, z: Any) -> Any:
    return _in(int(n), z)


@special_function(_LOOPS, whole=True)
def _kn_value(n: Any, z: Any) -> Any:
    return _kn(int(n), z)


# DLMF 10.51.2 and 10.51.5.
@special_function(_LOOPS, whole=True)
def _jn_derivative(n: Any, z: Any) -> Any:
    k = int(n)
    if k == 0:
        return -_jn(1, z)
    if z == 0 and k > 0:
        return 1 / 3 if k == 1 else _jn(k, z)
    return _jn(k - 1, z) - (k + 1) / z * _jn(k, z)


@special_function(_LOOPS, whole=True)
def _in_derivative(n: Any, z: Any) -> Any:
    k = int(n)
    if k == 0:
        return _in(1, z)
    if z == 0 and k > 0:
        return 1 / 3 if k == 1 else _in(k, z)
    return _in(k - 1, z) - (k + 1) / z * _in(k, z)


@special_function(_LOOPS, whole=True)
def _kn_derivative(n: Any, z: Any) -> Any:
    k = int(n)
    if k == 0:
        return -_kn(1, z)
    if z == 0 and k > 0:
        return -math.inf
    return -_kn(k - 1, z) - (k + 1) / z * _kn(k, z)


def spherical_jn(n: ArrayLike, z: ArrayLike, derivative: bool = False) -> ndarray:
    """The spherical Bessel function of the first kind of whole order n >= 0 and real z, or its derivative.

    Examples
    --------
    >>> bc.scipy.special.spherical_jn([0, 1], 1.0)
    array([0.84147098, 0.30116868])
    """
    return (_jn_derivative if derivative else _jn_value)(n, z)


def spherical_in(n: ArrayLike, z: ArrayLike, derivative: bool = False) -> ndarray:
    """The modified spherical Bessel function of the first kind of whole order n >= 0 and real z, or its derivative.

    Examples
    --------
    >>> bc.scipy.special.spherical_in([0, 1], 1.0)
    array([1.17520119, 0.36787944])
    """
    return (_in_derivative if derivative else _in_value)(n, z)


def spherical_kn(n: ArrayLike, z: ArrayLike, derivative: bool = False) -> ndarray:
    """The modified spherical Bessel function of the second kind of whole order n >= 0 and real z, or its derivative.

    Examples
    --------
    >>> bc.scipy.special.spherical_kn([0, 1], 1.0)
    array([0.57786367, 1.15572735])
    """
    return (_kn_derivative if derivative else _kn_value)(n, z)
