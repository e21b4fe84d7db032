"""Spheroidal wave functions in Flammer's norm (DLMF 30; Flammer, Spheroidal Wave Functions, 1957).

A characteristic value is an eigenvalue of a tridiagonal matrix (DLMF 30.8), which Sturm's counts enclose. The expansion's coefficients
run upwards to the largest one by the recurrence, and beyond it by the ratios that its continued fraction gives, so that nothing is stored.
Where the radial sum of a prolate function cancels, Taylor series of the differential equation lead from x = 1 to the argument.
Oblate functions are those with -c**2 in the place of c**2."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from ... import _broadcloth as _c
from ..._broadcloth import ndarray
from ._functions import special_function
from ._spherical import _jn

if TYPE_CHECKING:
    from ...typing import ArrayLike

__all__ = [
    "obl_ang1", "obl_ang1_cv", "obl_cv", "obl_cv_seq", "obl_rad1", "obl_rad1_cv", "obl_rad2", "obl_rad2_cv", "pro_ang1", "pro_ang1_cv",
    "pro_cv", "pro_cv_seq", "pro_rad1", "pro_rad1_cv", "pro_rad2", "pro_rad2_cv",
]  # fmt: skip


# ---- The recurrence: above(r) d(r + 2) + (at(r) - value) d(r) + below(r) d(r - 2) = 0, with q = c**2 or -c**2


def _above(m: Any, q: Any, r: Any) -> Any:
    return q * ((2.0 * m + r + 2) * (2.0 * m + r + 1)) / ((2.0 * m + 2 * r + 3) * (2.0 * m + 2 * r + 5))


def _at(m: Any, q: Any, r: Any) -> Any:
    l = 1.0 * m + r
    return l * (l + 1) + q * (2 * l * (l + 1) - 2.0 * m * m - 1) / ((2 * l - 1) * (2 * l + 3))


def _below(m: Any, q: Any, r: Any) -> Any:
    return q * (r * (r - 1.0)) / ((2.0 * m + 2 * r - 3) * (2.0 * m + 2 * r - 1))


def _rows(m: Any, n: Any, q: Any) -> Any:
    return (n - m) // 2 + int(0.8 * math.sqrt(abs(q))) + 25


def _is_function(m: Any, n: Any, c: Any) -> Any:
    return m >= 0 and m == math.floor(m) and n >= m and n == math.floor(n) and n - m <= 198 and m <= 1000 and abs(c) <= 1e4


def _needed(m: Any, n: Any, q: Any, value: Any, share: Any) -> Any:
    """How many rows there are up to the one from which on the terms d(r) (2 m + r)! / r! are below a share of the largest one: beyond the
    row of diagonal a each is at most q (2 m + r)**2 / (2 m + 2 r)**2 / (a - value - q), nearly, of the one before it."""
    size = abs(q)
    odd = (n - m) % 2
    k = (n - m) // 2
    last = _rows(m, n, q) + 10
    product = 1.0
    while product > share and k < last:
        k += 1
        r = odd + 2.0 * k
        beside = size * ((2 * m + r) * (2 * m + r - 1)) / ((2 * m + 2 * r - 3) * (2 * m + 2 * r - 1))
        room = _at(m, q, r) - value - size
        if room > beside:
            product *= beside / room
    return k + 1


def _pass(m: Any, q: Any, x: Any, odd: Any, rows: Any, twist: Any) -> Any:
    """How many eigenvalues of the symmetric matrix are below x, gamma, and the square of the length of the vector z with
    (T - x) z = gamma e, which is 1 in row `twist`: as for Mathieu's functions."""
    count = 0
    gamma = _at(m, q, odd + 2 * twist) - x
    norm = 1.0
    for end in range(2):
        ratio = 0.0
        square = 0.0
        for i in range(twist if end == 0 else rows - 1 - twist):
            r = odd + 2.0 * i if end == 0 else odd + 2.0 * (rows - 1 - i)
            pivot = _at(m, q, r) - x - ratio
            if pivot == 0:
                pivot = 1e-300
            if pivot < 0:
                count += 1
            low = r if end == 0 else r - 2
            ratio = _above(m, q, low) * _below(m, q, low + 2) / pivot
            square = ratio / pivot * (1 + square)
        gamma -= ratio
        norm += square
    if gamma < 0:
        count += 1
    return count, gamma, norm


def _near(m: Any, n: Any, q: Any) -> Any:
    """The characteristic value roughly: the diagonal for small q; for large q, the first terms of DLMF 30.9."""
    p = 1.0 * n - m
    c = math.sqrt(abs(q))
    if q > 0 and c > p + m + 1:
        return c * (2 * p + 1) + 1.0 * m * m - 0.25 * (2 * p * p + 2 * p + 3)
    if q < 0 and c > 2 * (p + m + 1):
        pair = p if p % 2 == 0 else p - 1
        return q + 2 * c * (pair + m + 1) - 0.5 * pair * (pair + 2.0 * m + 2) - (m + 1.0)
    return _at(m, q, p)


def _value(m: Any, n: Any, q: Any) -> Any:
    """The characteristic value of order m and degree n, by Rayleigh quotients; the eigenvalues of a class are at least 5 apart, so that the
    rule that tells of Mathieu's which one is near holds here too."""
    odd = (n - m) % 2
    index = (n - m) // 2
    low = n * (n + 1.0) + min(q, 0.0) - 1
    high = n * (n + 1.0) + max(q, 0.0) + 1
    rows = _needed(m, n, q, high, 1e-11)
    x = min(max(_near(m, n, q), low), high)
    found = False
    moved = False
    for _ in range(100):
        count, gamma, square = _pass(m, q, x, odd, rows, index)
        step = gamma / square
        following = x + step
        size = max(abs(following), 1.0)
        found = found or (abs(gamma) < 0.5 and count == (index + 1 if step < 0 else index))
        if found:
            if abs(gamma) * abs(step) <= 3e-17 * size or abs(step) <= 1e-16 * size:
                return following
            x = following
            continue
        if count > index:
            high = min(high, x)
        else:
            low = max(low, x)
        if abs(step) <= 1e-10 * max(size, abs(q)) and not moved and (count == index or count == index + 1):
            moved = True
            aside = 1e-4 * (1 + math.sqrt(abs(q)))
            x += aside if count > index else -aside
        else:
            moved = False
            x = following if low < following < high else 0.5 * (low + high)
            if x <= low or x >= high:
                break
    return x


def _characteristic(m: Any, n: Any, c: Any, sign: Any) -> Any:
    if not _is_function(m, n, c):
        return math.nan
    if c == 0:
        return n * (n + 1.0)
    return _value(int(m), int(n), sign * c * c)


def _ratio(m: Any, q: Any, value: Any, r: Any, last: Any) -> Any:
    """d(r) / d(r - 2) by the continued fraction from row `last` down."""
    ratio = 0.0
    k = last
    while k >= r:
        ratio = -_below(m, q, k) / (_at(m, q, k) - value + _above(m, q, k) * ratio)
        k -= 2
    return ratio


def _next(m: Any, q: Any, value: Any, r: Any, before: Any, now: Any, middle: Any, last: Any) -> Any:
    """d(r + 2) from d(r - 2) and d(r)."""
    if r < middle:
        return -((_at(m, q, r) - value) * now + _below(m, q, r) * before) / _above(m, q, r)
    return now * _ratio(m, q, value, r + 2, last)


# ---- One element

# The largest term of a sum by which a result is divided, relative to the sum, which leaves six digits: beyond it there is no value.
_MOST = 1e10


def _angular(m: Any, n: Any, q: Any, value: Any, x: Any, slope: Any) -> Any:
    """S or its derivative for |x| < 1: the sum of d(r) P(m + r) over the same at 0, or over the derivatives there, times that of P(n). NaN
    where the sum at 0 cancels."""
    odd = (n - m) % 2
    last = odd + 2 * _needed(m, n, q, value, 1e-20)
    d_before = 0.0
    d = 1.0
    # Functions of order m and degrees l - 1 and l at x and at 0, over (2 m - 1)!! and without the root
    p_before = 0.0
    p = 1.0
    zero_before = 0.0
    zero = 1.0
    total = 0.0
    steep = 0.0
    at_0 = 0.0
    largest = 0.0
    wanted = 0.0
    for r in range(last):
        l = m + r
        if r % 2 == odd:
            total += d * p
            steep += d * ((l + m) * p_before - l * x * p)
            term = (l + m) * zero_before if odd == 1 else zero
            at_0 += d * term
            largest = max(largest, abs(d * term))
            if l == n:
                wanted = term
            following = _next(m, q, value, r, d_before, d, n - m, last)
            d_before = d
            d = following
        p_after = ((2.0 * l + 1) * x * p - (l + m) * p_before) / (l + 1.0 - m)
        p_before = p
        p = p_after
        zero_after = -(l + m) * zero_before / (l + 1.0 - m)
        zero_before = zero
        zero = zero_after
    if largest > _MOST * abs(at_0):
        return math.nan
    scale = wanted / at_0
    for k in range(1, m + 1):
        scale *= (2 * k - 1) * math.sqrt((1 - x) * (1 + x))
    return scale * steep / ((1 - x) * (1 + x)) if slope else scale * total


def _regular(m: Any, q: Any, value: Any, x: Any) -> Any:
    """R / (x**2 - 1)**(m / 2) and its derivative of the solution for q > 0 and x > 1 that is 1 at 1, by Taylor series in steps so short
    that few terms cancel."""
    at = 1.0
    u = 1.0
    slope = 0.0
    constant = value - m * (m + 1.0)
    while at < x:
        gone = at - 1
        h = min(0.5 * gone, 2 / math.sqrt(q)) if gone > 0 else min(0.5, 4 / q)
        h = min(h, x - at)
        # Element k of the series times h**k, and the three before it
        before_2 = 0.0
        before_1 = 0.0
        before = 0.0 if gone == 0 else u
        now = u if gone == 0 else h * slope
        total = before + now
        steep = 0.0 if gone == 0 else now
        for k in range(300):
            if gone > 0:
                rest = (k * (k - 1.0) + 2 * (m + 1.0) * k + q * at * at - constant) * h * h * before
                rest += q * h * h * h * (2 * at * before_1 + h * before_2)
                after = -(rest + 2 * at * (k + 1.0) * (k + m + 1) * h * now) / (gone * (1 + at) * (k + 2) * (k + 1.0))
                number = k + 2.0
            else:
                # The equation is singular at 1 and gives element k + 1 from k.
                rest = (k * (k - 1.0) + 2 * (m + 1.0) * k + q - constant) * h * now + q * h * h * (2 * before + h * before_1)
                after = -rest / (2 * (k + 1.0) * (k + m + 1))
                number = k + 1.0
            total += after
            steep += number * after
            before_2 = before_1
            before_1 = before
            before = now
            now = after
            if number * (abs(now) + abs(before)) < 1e-18 * (abs(total) + abs(steep)):
                break
        u = total
        slope = steep / h
        at = x if h == x - at else at + h
    return u, slope


def _sum_at_0(m: Any, n: Any, q: Any, value: Any, last: Any) -> Any:
    """The sum of d(r) P(m + r) over (2 m - 1)!! at x = 0, or of the derivatives there, which is prolate functions' without cancellation."""
    odd = (n - m) % 2
    d_before = 0.0
    d = 1.0
    # Functions of degrees l - 1 and l at 0
    before = 0.0
    now = 1.0
    total = 0.0
    for r in range(last):
        l = m + r
        if r % 2 == odd:
            total += d * ((l + m) * before if odd == 1 else now)
            following = _next(m, q, value, r, d_before, d, n - m, last)
            d_before = d
            d = following
        after = -(l + m) * before / (l + 1.0 - m)
        before = now
        now = after
    return total


def _radial_from_1(m: Any, n: Any, c: Any, value: Any, x: Any, last: Any, slope: Any) -> Any:
    """The prolate function of the first kind by its equation, from x = 1 on. Its size there follows from both expansions at x = 0 (Flammer
    4.2.10), where the angular one does not cancel."""
    odd = (n - m) % 2
    size = 1.0 / (2 * m + 1) if odd == 0 else c / (2.0 * m + 3)
    for k in range(1, m + 1):
        size *= c * math.sqrt((x - 1) * (x + 1)) / (2 * k - 1)
    if ((n - m) // 2) % 2 == 1:
        size = -size
    u, rise = _regular(m, c * c, value, x)
    at_0 = _sum_at_0(m, n, c * c, value, last)
    if not 0 < abs(at_0) < math.inf:
        return math.nan
    factor = size / at_0
    return factor * (rise + m * x / ((x - 1) * (x + 1)) * u) if slope else factor * u


def _radial(m: Any, n: Any, c: Any, sign: Any, value: Any, x: Any, second: Any, slope: Any) -> Any:
    """R of the first or second kind or its derivative (Flammer 4.1.15, 4.1.18): the sum of d(r) (2 m + r)! / r! times spherical Bessel
    functions; NaN where its terms cancel."""
    q = sign * c * c
    odd = (n - m) % 2
    # Functions of the second kind grow with their order.
    last = odd + 2 * (_rows(m, n, q) + 10 if second else _needed(m, n, q, value, 1e-20))
    z = c * x
    d_before = 0.0
    d = 1.0
    total = 0.0
    steep = 0.0
    norm = 0.0
    heaviest = 0.0
    weight = 1.0  # (2 m + r)! / (r! (2 m)!)
    y_before = math.sin(z) / z
    y = -math.cos(z) / z
    for l in range(m):
        y_after = (2 * l + 1) / z * y - y_before
        y_before = y
        y = y_after
    largest = 0.0
    steepest = 0.0
    rest = math.inf
    bessel = 0.0
    lower = 0.0
    for r in range(last):
        l = m + r
        if r % 2 == odd:
            share = d * weight
            norm += share
            heaviest = max(heaviest, abs(share))
            turned = -share if ((r + m - n) // 2) % 2 != 0 else share
            if second:
                bessel = y
                # y(-1) is sin(z) / z
                lower = y_before
            else:
                previous = bessel
                bessel = _jn(l, z)
                if slope:
                    # The function of order l - 1 follows from those of l - 2 and l, unless their sum cancels.
                    between = r > odd and z < 2 * l
                    lower = z / (2 * l - 1) * (bessel + previous) if between else _jn(l - 1, z) if l > 0 else math.cos(z) / z
            if abs(share) > 0:
                part = turned * bessel
                total += part
                largest = max(largest, abs(part))
                rest = abs(part)
                part = turned * (lower - (l + 1) / z * bessel)
                steep += part
                steepest = max(steepest, abs(part))
                rest = rest / abs(total) + abs(part / steep)
            following = _next(m, q, value, r, d_before, d, n - m, last)
            d_before = d
            d = following
        weight = weight * (2 * m + r + 1) / (r + 1)
        y_after = (2 * l + 1) / z * y - y_before
        y_before = y
        y = y_after
        if second and abs(y) > 1e250:
            break
    if sign > 0 and not second and heaviest > 10 * abs(norm) and z < 1e5:  # beyond it, too many steps
        return _radial_from_1(m, n, c, value, x, last, slope)
    side = (x - sign) * (x + sign) if sign > 0 else x * x + 1
    factor = (math.sqrt(side) / x) ** m / norm
    result = steep * c + sign * m / (x * side) * total if slope else total
    if second and not (largest < 1e6 * abs(total) and steepest < 1e6 * abs(steep) and rest < 1e-10):
        return math.nan
    return math.nan if heaviest > _MOST * abs(norm) else factor * result


def _ang(m: Any, n: Any, c: Any, sign: Any, value: Any, x: Any, slope: Any) -> Any:
    if not _is_function(m, n, c) or not abs(x) < 1 or math.isnan(value):
        return math.nan
    return _angular(int(m), int(n), sign * c * c, value, x, slope)


def _rad(m: Any, n: Any, c: Any, sign: Any, value: Any, x: Any, second: Any, slope: Any) -> Any:
    if not _is_function(m, n, c) or math.isnan(value) or not c > 0 or not x < math.inf or (not x > 1 if sign > 0 else not x > 0):
        return math.nan
    return _radial(int(m), int(n), c, sign, value, x, second, slope)


# ---- The ufuncs


@special_function("fff ddd", whole=True)
def pro_cv(m: Any, n: Any, c: Any) -> Any:
    """The characteristic value of the prolate spheroidal wave functions of order m and degree n >= m, whole numbers, and parameter c.

    NaN where n - m is above 198.

    Examples
    --------
    >>> bc.scipy.special.pro_cv(0, [0, 1, 2], 2.0)
    array([1.12773406, 4.28712854, 8.225713  ])
    """
    return _characteristic(m, n, c, 1.0)


@special_function("ffff dddd", whole=True)
def _pro_ang1(m: Any, n: Any, c: Any, x: Any) -> Any:
    return _ang(m, n, c, 1.0, _characteristic(m, n, c, 1.0), x, False)


@special_function("fffff ddddd", whole=True)
def _pro_ang1_cv(m: Any, n: Any, c: Any, cv: Any, x: Any) -> Any:
    return _ang(m, n, c, 1.0, cv, x, False)


@special_function("ffff dddd", whole=True)
def _pro_ang1p(m: Any, n: Any, c: Any, x: Any) -> Any:
    return _ang(m, n, c, 1.0, _characteristic(m, n, c, 1.0), x, True)


@special_function("fffff ddddd", whole=True)
def _pro_ang1p_cv(m: Any, n: Any, c: Any, cv: Any, x: Any) -> Any:
    return _ang(m, n, c, 1.0, cv, x, True)


@special_function("ffff dddd", whole=True)
def _pro_rad1(m: Any, n: Any, c: Any, x: Any) -> Any:
    return _rad(m, n, c, 1.0, _characteristic(m, n, c, 1.0), x, False, False)


@special_function("fffff ddddd", whole=True)
def _pro_rad1_cv(m: Any, n: Any, c: Any, cv: Any, x: Any) -> Any:
    return _rad(m, n, c, 1.0, cv, x, False, False)


@special_function("ffff dddd", whole=True)
def _pro_rad1p(m: Any, n: Any, c: Any, x: Any) -> Any:
    return _rad(m, n, c, 1.0, _characteristic(m, n, c, 1.0), x, False, True)


@special_function("fffff ddddd", whole=True)
def _pro_rad1p_cv(m: Any, n: Any, c: Any, cv: Any, x: Any) -> Any:
    return _rad(m, n, c, 1.0, cv, x, False, True)


@special_function("ffff dddd", whole=True)
def _pro_rad2(m: Any, n: Any, c: Any, x: Any) -> Any:
    return _rad(m, n, c, 1.0, _characteristic(m, n, c, 1.0), x, True, False)


@special_function("fffff ddddd", whole=True)
def _pro_rad2_cv(m: Any, n: Any, c: Any, cv: Any, x: Any) -> Any:
    return _rad(m, n, c, 1.0, cv, x, True, False)


@special_function("ffff dddd", whole=True)
def _pro_rad2p(m: Any, n: Any, c: Any, x: Any) -> Any:
    return _rad(m, n, c, 1.0, _characteristic(m, n, c, 1.0), x, True, True)


@special_function("fffff ddddd", whole=True)
def _pro_rad2p_cv(m: Any, n: Any, c: Any, cv: Any, x: Any) -> Any:
    return _rad(m, n, c, 1.0, cv, x, True, True)


@special_function("fff ddd", whole=True)
def obl_cv(m: Any, n: Any, c: Any) -> Any:
    """The characteristic value of the oblate spheroidal wave functions of order m and degree n >= m, whole numbers, and parameter c.

    NaN where n - m is above 198.

    Examples
    --------
    >>> bc.scipy.special.obl_cv(0, [0, 1, 2], 2.0)
    array([-1.59449321, -0.50524398,  4.0915091 ])
    """
    return _characteristic(m, n, c, -1.0)


@special_function("ffff dddd", whole=True)
def _obl_ang1(m: Any, n: Any, c: Any, x: Any) -> Any:
    return _ang(m, n, c, -1.0, _characteristic(m, n, c, -1.0), x, False)


@special_function("fffff ddddd", whole=True)
def _obl_ang1_cv(m: Any, n: Any, c: Any, cv: Any, x: Any) -> Any:
    return _ang(m, n, c, -1.0, cv, x, False)


@special_function("ffff dddd", whole=True)
def _obl_ang1p(m: Any, n: Any, c: Any, x: Any) -> Any:
    return _ang(m, n, c, -1.0, _characteristic(m, n, c, -1.0), x, True)


@special_function("fffff ddddd", whole=True)
def _obl_ang1p_cv(m: Any, n: Any, c: Any, cv: Any, x: Any) -> Any:
    return _ang(m, n, c, -1.0, cv, x, True)


@special_function("ffff dddd", whole=True)
def _obl_rad1(m: Any, n: Any, c: Any, x: Any) -> Any:
    return _rad(m, n, c, -1.0, _characteristic(m, n, c, -1.0), x, False, False)


@special_function("fffff ddddd", whole=True)
def _obl_rad1_cv(m: Any, n: Any, c: Any, cv: Any, x: Any) -> Any:
    return _rad(m, n, c, -1.0, cv, x, False, False)


@special_function("ffff dddd", whole=True)
def _obl_rad1p(m: Any, n: Any, c: Any, x: Any) -> Any:
    return _rad(m, n, c, -1.0, _characteristic(m, n, c, -1.0), x, False, True)


@special_function("fffff ddddd", whole=True)
def _obl_rad1p_cv(m: Any, n: Any, c: Any, cv: Any, x: Any) -> Any:
    return _rad(m, n, c, -1.0, cv, x, False, True)


@special_function("ffff dddd", whole=True)
def _obl_rad2(m: Any, n: Any, c: Any, x: Any) -> Any:
    return _rad(m, n, c, -1.0, _characteristic(m, n, c, -1.0), x, True, False)


@special_function("fffff ddddd", whole=True)
def _obl_rad2_cv(m: Any, n: Any, c: Any, cv: Any, x: Any) -> Any:
    return _rad(m, n, c, -1.0, cv, x, True, False)


@special_function("ffff dddd", whole=True)
def _obl_rad2p(m: Any, n: Any, c: Any, x: Any) -> Any:
    return _rad(m, n, c, -1.0, _characteristic(m, n, c, -1.0), x, True, True)


@special_function("fffff ddddd", whole=True)
def _obl_rad2p_cv(m: Any, n: Any, c: Any, cv: Any, x: Any) -> Any:
    return _rad(m, n, c, -1.0, cv, x, True, True)


def pro_ang1(m: ArrayLike, n: ArrayLike, c: ArrayLike, x: ArrayLike) -> tuple[ndarray, ndarray]:
    """The prolate angular function of the first kind of order m and degree n >= m in Flammer's norm, and its derivative by x.

    The norm is the one at x = 0, which leaves an oblate function with a large c an error of 1e-16 times exp(c).

    Parameters
    ----------
    m, n : array_like
        The order and the degree, whole numbers.
    c : array_like
        The spheroidal parameter.
    x : array_like
        The points, abs(x) < 1; NaN elsewhere.

    Returns
    -------
    value, slope : ndarray of float
        Of the operands' common shape; float32 if all operands are, else float64.

    Raises
    ------
    NotImplementedError
        An order is not whole.

    Examples
    --------
    >>> value, slope = bc.scipy.special.pro_ang1(0, [0, 1], 4.0, 0.5)
    >>> value
    array([0.65888771, 0.35657155])
    """
    return _pro_ang1(m, n, c, x), _pro_ang1p(m, n, c, x)


def pro_ang1_cv(m: ArrayLike, n: ArrayLike, c: ArrayLike, cv: ArrayLike, x: ArrayLike) -> tuple[ndarray, ndarray]:
    """`pro_ang1` with a characteristic value that is known; see `pro_cv`.

    Examples
    --------
    >>> cv = bc.scipy.special.pro_cv(0, 1, 4.0)
    >>> bc.scipy.special.pro_ang1_cv(0, 1, 4.0, cv, 0.5)[0]
    array(0.35657155)
    """
    return _pro_ang1_cv(m, n, c, cv, x), _pro_ang1p_cv(m, n, c, cv, x)


def pro_rad1(m: ArrayLike, n: ArrayLike, c: ArrayLike, x: ArrayLike) -> tuple[ndarray, ndarray]:
    """The prolate radial function of the first kind of order m and degree n >= m in Flammer's norm, and its derivative by x.

    Parameters
    ----------
    m, n : array_like
        The order and the degree, whole numbers.
    c : array_like
        The spheroidal parameter.
    x : array_like
        The points, x > 1; NaN elsewhere, and for c > 25 or so where c x > 1e5.

    Returns
    -------
    value, slope : ndarray of float
        Of the operands' common shape; float32 if all operands are, else float64.

    Raises
    ------
    NotImplementedError
        An order is not whole.

    Examples
    --------
    >>> value, slope = bc.scipy.special.pro_rad1(0, [0, 1], 4.0, 2.0)
    >>> value
    array([ 0.10264048, -0.03833808])
    """
    return _pro_rad1(m, n, c, x), _pro_rad1p(m, n, c, x)


def pro_rad1_cv(m: ArrayLike, n: ArrayLike, c: ArrayLike, cv: ArrayLike, x: ArrayLike) -> tuple[ndarray, ndarray]:
    """`pro_rad1` with a characteristic value that is known; see `pro_cv`.

    Examples
    --------
    >>> cv = bc.scipy.special.pro_cv(0, 1, 4.0)
    >>> bc.scipy.special.pro_rad1_cv(0, 1, 4.0, cv, 2.0)[0]
    array(-0.03833808)
    """
    return _pro_rad1_cv(m, n, c, cv, x), _pro_rad1p_cv(m, n, c, cv, x)


def pro_rad2(m: ArrayLike, n: ArrayLike, c: ArrayLike, x: ArrayLike) -> tuple[ndarray, ndarray]:
    """The prolate radial function of the second kind of order m and degree n >= m in Flammer's norm, and its derivative by x.

    NaN where its expansion has not nine digits, which is so where c x is small against the degree, or x near the singular point.

    Parameters
    ----------
    m, n : array_like
        The order and the degree, whole numbers.
    c : array_like
        The spheroidal parameter.
    x : array_like
        The points, x > 1; NaN elsewhere.

    Returns
    -------
    value, slope : ndarray of float
        Of the operands' common shape; float32 if all operands are, else float64.

    Raises
    ------
    NotImplementedError
        An order is not whole.

    Examples
    --------
    >>> value, slope = bc.scipy.special.pro_rad2(0, [0, 1], 4.0, 2.0)
    >>> value
    array([-0.08932386, -0.13460617])
    """
    return _pro_rad2(m, n, c, x), _pro_rad2p(m, n, c, x)


def pro_rad2_cv(m: ArrayLike, n: ArrayLike, c: ArrayLike, cv: ArrayLike, x: ArrayLike) -> tuple[ndarray, ndarray]:
    """`pro_rad2` with a characteristic value that is known; see `pro_cv`.

    Examples
    --------
    >>> cv = bc.scipy.special.pro_cv(0, 1, 4.0)
    >>> bc.scipy.special.pro_rad2_cv(0, 1, 4.0, cv, 2.0)[0]
    array(-0.13460617)
    """
    return _pro_rad2_cv(m, n, c, cv, x), _pro_rad2p_cv(m, n, c, cv, x)


def obl_ang1(m: ArrayLike, n: ArrayLike, c: ArrayLike, x: ArrayLike) -> tuple[ndarray, ndarray]:
    """The oblate angular function of the first kind of order m and degree n >= m in Flammer's norm, and its derivative by x.

    The norm is the one at x = 0, which leaves an oblate function with a large c an error of 1e-16 times exp(c).

    Parameters
    ----------
    m, n : array_like
        The order and the degree, whole numbers.
    c : array_like
        The spheroidal parameter.
    x : array_like
        The points, abs(x) < 1; NaN elsewhere, and where c is so large (above 25 or so) that the sum at 0 cancels to six digits.

    Returns
    -------
    value, slope : ndarray of float
        Of the operands' common shape; float32 if all operands are, else float64.

    Raises
    ------
    NotImplementedError
        An order is not whole.

    Examples
    --------
    >>> value, slope = bc.scipy.special.obl_ang1(0, [0, 1], 4.0, 0.5)
    >>> value
    array([2.45270419, 0.76795356])
    """
    return _obl_ang1(m, n, c, x), _obl_ang1p(m, n, c, x)


def obl_ang1_cv(m: ArrayLike, n: ArrayLike, c: ArrayLike, cv: ArrayLike, x: ArrayLike) -> tuple[ndarray, ndarray]:
    """`obl_ang1` with a characteristic value that is known; see `obl_cv`.

    Examples
    --------
    >>> cv = bc.scipy.special.obl_cv(0, 1, 4.0)
    >>> bc.scipy.special.obl_ang1_cv(0, 1, 4.0, cv, 0.5)[0]
    array(0.76795356)
    """
    return _obl_ang1_cv(m, n, c, cv, x), _obl_ang1p_cv(m, n, c, cv, x)


def obl_rad1(m: ArrayLike, n: ArrayLike, c: ArrayLike, x: ArrayLike) -> tuple[ndarray, ndarray]:
    """The oblate radial function of the first kind of order m and degree n >= m in Flammer's norm, and its derivative by x.

    Parameters
    ----------
    m, n : array_like
        The order and the degree, whole numbers.
    c : array_like
        The spheroidal parameter.
    x : array_like
        The points, x > 0; NaN elsewhere.

    Returns
    -------
    value, slope : ndarray of float
        Of the operands' common shape; float32 if all operands are, else float64.

    Raises
    ------
    NotImplementedError
        An order is not whole.

    Examples
    --------
    >>> value, slope = bc.scipy.special.obl_rad1(0, [0, 1], 4.0, 2.0)
    >>> value
    array([0.09764503, 0.06027733])
    """
    return _obl_rad1(m, n, c, x), _obl_rad1p(m, n, c, x)


def obl_rad1_cv(m: ArrayLike, n: ArrayLike, c: ArrayLike, cv: ArrayLike, x: ArrayLike) -> tuple[ndarray, ndarray]:
    """`obl_rad1` with a characteristic value that is known; see `obl_cv`.

    Examples
    --------
    >>> cv = bc.scipy.special.obl_cv(0, 1, 4.0)
    >>> bc.scipy.special.obl_rad1_cv(0, 1, 4.0, cv, 2.0)[0]
    array(0.06027733)
    """
    return _obl_rad1_cv(m, n, c, cv, x), _obl_rad1p_cv(m, n, c, cv, x)


def obl_rad2(m: ArrayLike, n: ArrayLike, c: ArrayLike, x: ArrayLike) -> tuple[ndarray, ndarray]:
    """The oblate radial function of the second kind of order m and degree n >= m in Flammer's norm, and its derivative by x.

    NaN where its expansion has not nine digits, which is so where c x is small against the degree, or x near the singular point.

    Parameters
    ----------
    m, n : array_like
        The order and the degree, whole numbers.
    c : array_like
        The spheroidal parameter.
    x : array_like
        The points, x > 0; NaN elsewhere.

    Returns
    -------
    value, slope : ndarray of float
        Of the operands' common shape; float32 if all operands are, else float64.

    Raises
    ------
    NotImplementedError
        An order is not whole.

    Examples
    --------
    >>> value, slope = bc.scipy.special.obl_rad2(0, [0, 1], 4.0, 2.0)
    >>> value
    array([ 0.05953936, -0.0972478 ])
    """
    return _obl_rad2(m, n, c, x), _obl_rad2p(m, n, c, x)


def obl_rad2_cv(m: ArrayLike, n: ArrayLike, c: ArrayLike, cv: ArrayLike, x: ArrayLike) -> tuple[ndarray, ndarray]:
    """`obl_rad2` with a characteristic value that is known; see `obl_cv`.

    Examples
    --------
    >>> cv = bc.scipy.special.obl_cv(0, 1, 4.0)
    >>> bc.scipy.special.obl_rad2_cv(0, 1, 4.0, cv, 2.0)[0]
    array(-0.0972478)
    """
    return _obl_rad2_cv(m, n, c, cv, x), _obl_rad2p_cv(m, n, c, cv, x)


# ---- Sequences


def _values(name: str, m: Any, n: Any, c: Any, sign: float) -> ndarray:
    if not (np.isscalar(m) and np.isscalar(n) and np.isscalar(c)):
        raise ValueError(f"{name}: Arguments must be scalars.")
    if n != math.floor(n) or m != math.floor(m):  # type: ignore[arg-type]
        raise ValueError(f"{name}: Modes must be integers.")
    if n - m > 198 or n < m:  # type: ignore[operator]
        raise ValueError(f"{name}: expected 0 <= n - m <= 198, got m={m!r}, n={n!r}")
    degrees = np.arange(int(m), int(n) + 1)  # type: ignore[call-overload, arg-type]
    return _c.asarray(np.array([_characteristic(float(m), float(k), float(c), sign) for k in degrees]))  # type: ignore[arg-type]


def pro_cv_seq(m: int, n: int, c: float) -> ndarray:
    """The characteristic values of prolate spheroidal wave functions of order m and degrees m to n.

    Parameters
    ----------
    m, n : int
        The order and the largest degree.
    c : float
        The spheroidal parameter.

    Returns
    -------
    ndarray of float64, (n - m + 1,)
        On the default device; computed on the host.

    Raises
    ------
    ValueError
        An operand is no scalar, `m` or `n` is not whole, or n - m is not between 0 and 198.

    Examples
    --------
    >>> bc.scipy.special.pro_cv_seq(0, 2, 2.0)
    array([1.12773406, 4.28712854, 8.225713  ])
    """
    return _values("pro_cv_seq", m, n, c, 1.0)


def obl_cv_seq(m: int, n: int, c: float) -> ndarray:
    """The characteristic values of oblate spheroidal wave functions of order m and degrees m to n; see `pro_cv_seq`.

    Examples
    --------
    >>> bc.scipy.special.obl_cv_seq(0, 2, 2.0)
    array([-1.59449321, -0.50524398,  4.0915091 ])
    """
    return _values("obl_cv_seq", m, n, c, -1.0)
