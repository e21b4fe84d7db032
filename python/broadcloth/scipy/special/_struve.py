"""Struve's functions H and L of real order: their power series (DLMF 11.2.1) in numbers of two parts, which leave digits where its terms
cancel, and the expansion of H - Y and L - I for large arguments (DLMF 11.6.1, 11.6.2)."""

from __future__ import annotations

import math
from typing import Any

from ... import _broadcloth as _c
from ._airy import _product_rest
from ._bessel import _LAST_ORDER, _cos_pi, _iv, _jv, _power_over_gamma, _yv
from ._functions import special_function

__all__ = ["modstruve", "struve"]

_rgamma = _c.ufuncs["rgamma"]
_TWO_OVER_ROOT_PI = 1.1283791670955126


# ---- Numbers of two parts, the second of which the first lacks (Dekker, Numerische Mathematik 18, 1971)


def _two_sum(a: Any, b: Any) -> Any:
    s = a + b
    t = s - a
    return s, (a - (s - t)) + (b - t)


def _times(a: Any, a_rest: Any, b: Any, b_rest: Any) -> Any:
    p = a * b
    rest = _product_rest(a, b, p) + (a * b_rest + a_rest * b)
    return _two_sum(p, rest)


def _over(a: Any, a_rest: Any, b: Any, b_rest: Any) -> Any:
    q = a / b
    p = q * b
    rest = (((a - p) - _product_rest(q, b, p)) + a_rest - q * b_rest) / b
    return _two_sum(q, rest)


def _two_parted_sum(a: Any, a2: Any, b: Any, c: Any, t: Any, t_rest: Any, count: Any) -> Any:
    """The sum over k of t**k (a)k (a2)k / ((b)k (c)k), where (a)k = a (a + 1) ... (a + k - 1), and 1 for an infinite a; of up to `count`
    terms. And a bound of its error, infinite where there should be more terms."""
    term = 1.0
    term_rest = 0.0
    total = 1.0
    total_rest = 0.0
    largest = 1.0
    bound = math.inf
    for k in range(count):
        p, rest = _times(term, term_rest, t, t_rest)
        for upper in range(2):
            factor = a if upper == 0 else a2
            if factor < math.inf:
                f, f_rest = _two_sum(factor, float(k))
                p, rest = _times(p, rest, f, f_rest)
        if p == 0:
            bound = largest * 1e-30 + abs(total) * 2e-16
            break
        for lower in range(2):
            f, f_rest = _two_sum(b if lower == 0 else c, float(k))
            p, rest = _over(p, rest, f, f_rest)
        before = abs(term)
        term = p
        term_rest = rest
        total, f = _two_sum(total, term)
        total, total_rest = _two_sum(total, total_rest + (f + term_rest))
        size = abs(term)
        largest = max(largest, size)
        if size * (k + 1) <= 1e-17 * abs(total) and size <= before and k > -b and k > -c:
            bound = largest * 1e-30 + abs(total) * 2e-16
            break
    return total, bound


# ---- One element


def _struve_series(v: Any, x: Any, sign: Any) -> Any:
    """The power series, with sign 1 of L and -1 of H, NaN where too few digits are left."""
    square = x * x
    t = 0.25 * sign * square
    total, bound = _two_parted_sum(math.inf, math.inf, 1.5, v + 1.5, t, 0.25 * sign * _product_rest(x, x, square), 3000)
    if not bound <= 1e-10 * abs(total) < math.inf:
        return math.nan
    start = _power_over_gamma(x, v + 0.5) if v >= -0.5 else (0.5 * x) ** (v + 0.5) * _rgamma(v + 1.5)
    return math.sqrt(0.5 * x) * _TWO_OVER_ROOT_PI * start * total


def _struve_beyond(v: Any, x: Any, sign: Any) -> Any:
    """H - Y or, less itself, I(-v) - L by the expansion for large x, and its error."""
    term = 2 / x
    total = term
    for k in range(200):
        following = term * ((k + 0.5) * (v - 0.5 - k) * (-sign) * 4 / x / x)
        if abs(following) > abs(term) and k > v:
            break
        term = following
        total += term
        if abs(term) < 1e-17 * abs(total):
            break
    # (x / 2)**v / gamma(v + 1 / 2)
    start = _power_over_gamma(x, v - 0.5) if v >= 0.5 else (0.5 * x) ** (v - 0.5) * _rgamma(v + 0.5)
    start = start * math.sqrt(0.5 * x) / math.sqrt(math.pi)
    return start * total, abs(start * term)


def _struve(v: Any, x: Any, sign: Any) -> Any:
    """L for sign 1, H for sign -1."""
    if math.isnan(v) or math.isnan(x) or abs(v) > _LAST_ORDER:
        return math.nan
    mirrored = 1.0
    if x < 0:
        if v != math.floor(v):
            return math.nan
        mirrored = -_cos_pi(v)
        x = -x
    if x == 0:
        if v > -1:
            return 0.0
        if v == -1:
            return 2 / math.pi
        g = _rgamma(v + 1.5)
        return 0.0 if g == 0 else math.copysign(math.inf, g)
    if v < -1 and v + 0.5 == math.floor(v + 0.5):
        # DLMF 11.4.3, 11.4.4
        return _iv(-v, x, False) if sign > 0 else _cos_pi(v + 0.5) * _jv(-v, x)
    if x > 30 and abs(v) <= x:
        rest, error = _struve_beyond(v, x, sign)
        value = _iv(-v, x, False) - rest if sign > 0 else _yv(v, x) + rest
        if error <= 1e-15 * abs(value):
            return mirrored * value
    return mirrored * _struve_series(v, x, sign)


# ---- The ufuncs, and their derivatives by the argument (DLMF 11.4.27, 11.4.29)


def _struve_slopes(y: Any, v: Any, x: Any) -> Any:
    return None, struve(v - 1, x) - v / x * y


def _modstruve_slopes(y: Any, v: Any, x: Any) -> Any:
    return None, modstruve(v - 1, x) - v / x * y


@special_function("ff dd", slopes=_struve_slopes)
def struve(v: Any, x: Any) -> Any:
    """Struve's function H of real order v and real x.

    Of a negative x only whole orders have a value. NaN where neither of its expansions has ten digits (some orders beyond x > 180).

    Examples
    --------
    >>> bc.scipy.special.struve([0.0, 0.5, 3.0], 2.0)
    array([0.79085885, 0.79897529, 0.08363767])
    """
    return _struve(v, x, -1.0)


@special_function("ff dd", slopes=_modstruve_slopes)
def modstruve(v: Any, x: Any) -> Any:
    """The modified Struve function L of real order v and real x.

    Of a negative x only whole orders have a value.

    Examples
    --------
    >>> bc.scipy.special.modstruve([0.0, 0.5, 3.0], 2.0)
    array([1.93743376, 1.55840204, 0.11247294])
    """
    return _struve(v, x, 1.0)
