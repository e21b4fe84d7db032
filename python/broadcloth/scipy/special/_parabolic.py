"""Parabolic cylinder functions D and V by confluent hypergeometric functions (DLMF 12.7), W by its power series (DLMF 12.14)."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from ... import _broadcloth as _c
from ..._broadcloth import ndarray
from ._airy import _product_rest
from ._bessel import _grown
from ._functions import special_function
from ._hypergeometric import _hyp1f1, _hyperu

if TYPE_CHECKING:
    from ...typing import ArrayLike

__all__ = ["pbdv", "pbvv", "pbwa"]

_rgamma, _gamma = _c.ufuncs["rgamma"], _c.ufuncs["gamma"]
_ROOT_PI = 1.772453850905516


def _grown_by_square(y: Any, x: Any, sign: Any) -> Any:
    """y exp(sign x**2 / 4)"""
    square = x * x
    rest = _product_rest(x, x, square)
    return _grown(y * (1 + 0.25 * sign * rest), 0.25 * sign * square)


def _of_two(even: Any, odd: Any, v: Any, x: Any) -> Any:
    """The solution with the value `even` and the slope `odd` at 0 (DLMF 12.2.6, 12.7.13)."""
    return _grown_by_square(_of_two_scaled(even, odd, v, x), x, 1.0)


def _of_two_scaled(even: Any, odd: Any, v: Any, x: Any) -> Any:
    """That times exp(-x**2 / 4)."""
    z = -0.5 * x * x
    value = 0.0
    for i in range(2):
        start = even if i == 0 else odd * x
        if start != 0:
            value += start * _hyp1f1(0.5 * (v + 1 + i), 0.5 + i, z)
    return value


def _starts(v: Any) -> Any:
    """The value and the slope of D at 0 (DLMF 12.2.6, 12.2.7)."""
    power = 2 ** (0.5 * v) * _ROOT_PI
    return power * _rgamma(0.5 * (1 - v)), -power * math.sqrt(2.0) * _rgamma(-0.5 * v)


def _has_pair(v: Any, x: Any) -> Any:
    return 2 < x < 6.3 and -1 < v < 50 and v != math.floor(v)


def _d_pair(v: Any, x: Any) -> Any:
    """D of the orders v and v - 1 times exp(x**2 / 4), for x > 2 and v > -1 that are not whole. The quotient of two neighbours of orders
    below 0 comes by the recurrence (DLMF 12.8.1) from far, their size by the Wronskian with the functions of -x (DLMF 12.2.17), in which
    no terms cancel; then it goes upwards."""
    order = v - math.floor(v) - 1
    far = 0.0
    near = 1.0
    for k in range(int(25 + 450 / (x * x)), 0, -1):
        following = x * near + (k - order) * far
        far = near
        near = following
    quotient = far / near
    even, odd = _starts(order)
    size = quotient * _of_two_scaled(even, odd, order, -x)
    even, odd = _starts(order - 1)
    now = math.sqrt(2 * math.pi) * _rgamma(1 - order) / (size + _of_two_scaled(even, odd, order - 1, -x))
    before = quotient * now
    while order < v - 0.5:
        after = x * now - order * before
        before = now
        now = after
        order += 1
    return now, before


def _v(v: Any, x: Any) -> Any:
    if not abs(v) <= 300 or not abs(x) <= 1e8:
        return math.nan
    # With a = -v - 1 / 2 the values of V and V' at 0 (DLMF 12.2.18, 12.2.19)
    power = math.pi * 2 ** (-0.5 * v)
    even = power * _rgamma(1 + 0.5 * v) ** 2 * _rgamma(-0.5 * v)
    odd = power * math.sqrt(2.0) * _rgamma(0.5 * (v + 1)) ** 2 * _rgamma(0.5 * (1 - v))
    return _of_two(even, odd, v, x)


def _d_decaying(v: Any, x: Any) -> Any:
    """D for x > 0, by functions that decay as it does."""
    if _has_pair(v, x):
        now, _ = _d_pair(v, x)
        return _grown_by_square(now, x, -1.0)
    return _grown_by_square(2 ** (0.5 * v) * _hyperu(-0.5 * v, 0.5, 0.5 * x * x), x, -1.0)


def _nearly_decays(v: Any, x: Any) -> Any:
    """Whether x is negative and v so near a whole order, where D decays, that its even and its odd part would cancel."""
    return x < -2 and -0.5 < v < 50 and abs(v - math.floor(v + 0.5)) < 0.01


def _d(v: Any, x: Any) -> Any:
    if not abs(v) <= 1000 or not abs(x) <= 1e8:
        return math.nan
    nearest = math.floor(v + 0.5)
    sign = 1.0 if math.fmod(nearest, 2.0) == 0 else -1.0
    whole = v >= 0 and v == nearest
    if whole or x > 2 or (x > 0 and not -1 < v < 20):
        # For x < 0 and whole orders the share of the other solution, which grows, is none.
        value = _d_decaying(v, abs(x))
        return sign * value if x < 0 else value
    if _nearly_decays(v, x):
        # Here the share of the other solution is small (DLMF 12.2.15).
        return sign * math.cos(math.pi * (v - nearest)) * _d_decaying(v, -x) + math.pi * _rgamma(-v) * _v(v, -x)
    even, odd = _starts(v)
    return _of_two(even, odd, v, x)


def _w(a: Any, x: Any, slope: Any) -> Any:
    if not abs(a) <= 5 or not abs(x) <= 5:
        return math.nan
    first = abs(_gamma(complex(0.25, 0.5 * a)))
    second = abs(_gamma(complex(0.75, 0.5 * a)))
    ratio = math.sqrt(first / second)
    total = 0.0
    for odd in range(2):
        # The terms x**k of the even and the odd solution, and the one two before
        term = x if odd == 1 else 1.0
        before = 0.0
        part = 1.0 if odd == 1 and slope else 0.0 if slope else term
        for i in range(60):
            k = 2 * i + odd
            after = (a * x * x * term - 0.25 * x**4 * before) / ((k + 1) * (k + 2))
            part += (k + 2) * after / x if slope and x != 0 else 0.0 if slope else after
            before = term
            term = after
            if abs(term) + abs(before) < 1e-20:
                break
        total += -part * 2**-0.25 / ratio if odd == 1 else part * 2**-0.75 * ratio
    return total


# ---- The ufuncs: values and slopes (DLMF 12.8.2, 12.8.3, 12.8.6), and the second derivatives by the equation


def _pbdv_slopes(y: Any, v: Any, x: Any) -> Any:
    return None, _pbdvp(v, x)


def _pbdvp_slopes(y: Any, v: Any, x: Any) -> Any:
    return None, (0.25 * x * x - v - 0.5) * _pbdv(v, x)


def _pbvv_slopes(y: Any, v: Any, x: Any) -> Any:
    return None, _pbvvp(v, x)


def _pbvvp_slopes(y: Any, v: Any, x: Any) -> Any:
    return None, (0.25 * x * x - v - 0.5) * _pbvv(v, x)


def _pbwa_slopes(y: Any, a: Any, x: Any) -> Any:
    return None, _pbwap(a, x)


def _pbwap_slopes(y: Any, a: Any, x: Any) -> Any:
    return None, (a - 0.25 * x * x) * _pbwa(a, x)


@special_function("ff dd", slopes=_pbdv_slopes)
def _pbdv(v: Any, x: Any) -> Any:
    return _d(v, x)


@special_function("ff dd", slopes=_pbdvp_slopes)
def _pbdvp(v: Any, x: Any) -> Any:
    if _has_pair(v, x):
        now, before = _d_pair(v, x)
        return _grown_by_square(v * before - 0.5 * x * now, x, -1.0)
    downwards = x > 0 or _nearly_decays(v, x)
    slope = 0.0
    for i in range(2):
        value = _d(v if i == 0 else v - 1 if downwards else v + 1, x)
        slope += (0.5 * (-x if downwards else x) if i == 0 else v if downwards else -1.0) * value
    return slope


@special_function("ff dd", slopes=_pbvv_slopes)
def _pbvv(v: Any, x: Any) -> Any:
    return _v(v, x)


@special_function("ff dd", slopes=_pbvvp_slopes)
def _pbvvp(v: Any, x: Any) -> Any:
    slope = 0.0
    for i in range(2):
        slope += (0.5 * x if i == 0 else -v - 1) * _v(v + i, x)
    return slope


@special_function("ff dd", slopes=_pbwa_slopes)
def _pbwa(a: Any, x: Any) -> Any:
    return _w(a, x, False)


@special_function("ff dd", slopes=_pbwap_slopes)
def _pbwap(a: Any, x: Any) -> Any:
    return _w(a, x, True)


def pbdv(v: ArrayLike, x: ArrayLike) -> tuple[ndarray, ndarray]:
    """The parabolic cylinder function D of real order v, and its derivative by x.

    Examples
    --------
    >>> d, slope = bc.scipy.special.pbdv([0.0, 1.0, 2.5], 1.0)
    >>> d
    array([ 0.77880078,  0.77880078, -0.74763764])
    """
    return _pbdv(v, x), _pbdvp(v, x)


def pbvv(v: ArrayLike, x: ArrayLike) -> tuple[ndarray, ndarray]:
    """The parabolic cylinder function V of real order v, and its derivative by x.

    Examples
    --------
    >>> value, slope = bc.scipy.special.pbvv([0.5, 2.5], 1.0)
    >>> value
    array([ 0.22003509, -0.30472172])
    """
    return _pbvv(v, x), _pbvvp(v, x)


def pbwa(a: ArrayLike, x: ArrayLike) -> tuple[ndarray, ndarray]:
    """The parabolic cylinder function W for abs(a) <= 5 and abs(x) <= 5, NaN beyond, and its derivative by x.

    Examples
    --------
    >>> w, slope = bc.scipy.special.pbwa([0.0, 2.0], 1.0)
    >>> w
    array([0.51877216, 0.16150528])
    """
    return _pbwa(a, x), _pbwap(a, x)
