"""Carlson's symmetric elliptic integrals of real and complex arguments, by duplication.

Carlson (1995), "Numerical computation of real or complex elliptic integrals"; DLMF 19.36."""

from __future__ import annotations

import cmath
import math
from typing import Any

from ._functions import special_function

__all__ = ["elliprc", "elliprd", "elliprf", "elliprg", "elliprj"]

_NONE = complex(math.nan, math.nan)
_TERMS = 12
_ARCTANGENT = tuple(1 / (2 * k + 1) for k in range(_TERMS))


def _rc(x: Any, y: Any) -> Any:
    """DLMF 19.2.17 to 19.2.20."""
    if y < 0:
        return math.sqrt(x / (x - y)) * _rc_positive(x - y, -y)
    return _rc_positive(x, y)


def _rc_positive(x: Any, y: Any) -> Any:
    if y == 0:
        return math.inf
    if x == y:
        return 1 / math.sqrt(x)
    if x < y:
        root = math.sqrt(y - x)
        return math.atan2(root, math.sqrt(x)) / root
    root = math.sqrt(x - y)
    return math.asinh(root / math.sqrt(y)) / root


def _rc_of_one(y: Any) -> Any:
    """R_C(1, y) of y > 0, near 1 by the arctangent's series (DLMF 4.24.3)."""
    e = y - 1
    if abs(e) > 0.04:
        return _rc_positive(1.0, y)
    total = 0.0
    for k in range(_TERMS):
        total = _ARCTANGENT[_TERMS - 1 - k] - e * total
    return total


def _rf(x: Any, y: Any, z: Any) -> Any:
    first = (x + y + z) / 3
    mean = first
    # The series of the seventh degree has all digits once the operands are this near.
    bound = max(abs(first - x), abs(first - y), abs(first - z))
    scale = 1.0
    a = x
    b = y
    c = z
    while bound * scale * 400 > abs(mean):
        p = math.sqrt(a)
        q = math.sqrt(b)
        r = math.sqrt(c)
        shift = p * q + p * r + q * r
        a = 0.25 * (a + shift)
        b = 0.25 * (b + shift)
        c = 0.25 * (c + shift)
        mean = 0.25 * (mean + shift)
        scale *= 0.25
    return _rf_series((first - x) * scale / mean, (first - y) * scale / mean) / math.sqrt(mean)


def _rf_series(u: Any, v: Any) -> Any:
    """DLMF 19.36.1: the series of R_F in the relative distances of two operands from the mean."""
    w = -u - v
    e2 = u * v - w * w
    e3 = u * v * w
    return 1 - e2 / 10 + e3 / 14 + e2 * e2 / 24 - 3 * e2 * e3 / 44 - 5 * e2 * e2 * e2 / 208 + 3 * e3 * e3 / 104 + e2 * e2 * e3 / 16


def _series(x: Any, y: Any, z: Any, p: Any) -> Any:
    """DLMF 19.36.2: the series of R_J in the relative distances of the operands from their mean, of which the last counts twice."""
    xyz = x * y * z
    e2 = x * y + x * z + y * z - 3 * p * p
    e3 = xyz + 2 * e2 * p + 4 * p * p * p
    e4 = (2 * xyz + e2 * p + 3 * p * p * p) * p
    e5 = xyz * p * p
    low = 1 - 3 * e2 / 14 + e3 / 6 + 9 * e2 * e2 / 88 - 3 * e4 / 22 - 9 * e2 * e3 / 52 + 3 * e5 / 26
    high = -e2 * e2 * e2 / 16 + 3 * e3 * e3 / 40 + 3 * e2 * e4 / 20 + 45 * e2 * e2 * e3 / 272 - 9 * (e3 * e4 + e2 * e5) / 68
    return low + high


def _rd(x: Any, y: Any, z: Any, factor: Any) -> Any:
    """factor R_D(x, y, z), where R_D itself may overflow."""
    first = (x + y + 3 * z) / 5
    mean = first
    bound = max(abs(first - x), abs(first - y), abs(first - z))
    scale = 1.0
    total = 0.0
    a = x
    b = y
    c = z
    while bound * scale * 900 > abs(mean):
        p = math.sqrt(a)
        q = math.sqrt(b)
        r = math.sqrt(c)
        shift = p * q + p * r + q * r
        total += factor / (c + shift) * (scale / r)
        a = 0.25 * (a + shift)
        b = 0.25 * (b + shift)
        c = 0.25 * (c + shift)
        mean = 0.25 * (mean + shift)
        scale *= 0.25
    u = (first - x) * scale / mean
    v = (first - y) * scale / mean
    w = -(u + v) / 3
    return _series(u, v, w, w) * (factor / mean) * (scale / math.sqrt(mean)) + 3 * total


def _rj(x: Any, y: Any, z: Any, p: Any) -> Any:
    """p > 0"""
    first = (x + y + z + 2 * p) / 5
    mean = first
    bound = max(abs(first - x), abs(first - y), abs(first - z), abs(first - p))
    scale = 1.0
    total = 0.0
    a = x
    b = y
    c = z
    d = p
    while bound * scale * 900 > abs(mean):
        q = math.sqrt(a)
        r = math.sqrt(b)
        s = math.sqrt(c)
        t = math.sqrt(d)
        shift = q * r + q * s + r * s
        # Carlson's 1 + E, E = (t - q) (t - r) (t - s) / ((t + q) (t + r) (t + s)), without the difference of near numbers. The product of
        # all three might leave the range of numbers.
        beside = 1 / (t + q)
        product = (t + r) * (t + s)
        total += _rc_of_one(2 * t * beside * ((d + shift) / product)) * (scale / product) * beside
        a = 0.25 * (a + shift)
        b = 0.25 * (b + shift)
        c = 0.25 * (c + shift)
        d = 0.25 * (d + shift)
        mean = 0.25 * (mean + shift)
        scale *= 0.25
    u = (first - x) * scale / mean
    v = (first - y) * scale / mean
    w = (first - z) * scale / mean
    return _series(u, v, w, -(u + v + w) / 2) * scale / mean / math.sqrt(mean) + 6 * total


def _room(largest: Any) -> Any:
    """A factor, of which also the root is exact, that brings operands into the range where neither sums overflow nor roots lose digits."""
    return 0.0625 if largest > 1e307 else 2.0**200 if largest < 1e-240 else 1.0


def _few_zeros(x: Any, y: Any, z: Any) -> Any:
    return x + y > 0 and x + z > 0 and y + z > 0


def _all_positive(x: Any, y: Any, z: Any) -> Any:
    """Whether no operand is negative or NaN."""
    return x >= 0 and y >= 0 and z >= 0


def _any_infinite(x: Any, y: Any, z: Any) -> Any:
    return math.isinf(x) or math.isinf(y) or math.isinf(z)


def _middle(x: Any, y: Any, z: Any) -> Any:
    return max(min(x, y), min(max(x, y), z))


# ---- Complex operands: the same steps with principal roots (Carlson 1995, theorem 1)


def _fits(z: Any) -> Any:
    """Whether z is not on the cut, the negative axis, and no part of it is NaN."""
    return z.imag != 0 or z.real >= 0


def _finite(z: Any) -> Any:
    return not cmath.isinf(z)


def _complex_rc(x: Any, y: Any) -> Any:
    if cmath.isnan(x) or cmath.isnan(y) or not _fits(x):
        return _NONE
    if cmath.isinf(x) or cmath.isinf(y):
        return complex(0.0, 0.0)
    if y == 0:
        return _NONE
    scale = complex(1.0, 0.0)
    if y.imag == 0 and y.real < 0:
        # Cauchy's principal value
        scale = cmath.sqrt(x / (x - y))
        x, y = x - y, -y
    return scale * _rc_duplicated(x, y)


def _rc_duplicated(x: Any, y: Any) -> Any:
    first = (x + 2 * y) / 3
    mean = first
    bound = 600 * abs(first - x)
    apart = y - first
    a = x
    b = y
    scale = 1.0
    while bound > scale * abs(mean):
        shift = 2 * cmath.sqrt(a) * cmath.sqrt(b) + b
        a = 0.25 * (a + shift)
        b = 0.25 * (b + shift)
        mean = 0.25 * (mean + shift)
        scale *= 4
    s = apart / (scale * mean)
    # DLMF 19.36.1 for two equal operands
    high = 3 / 8 + s * (9 / 22 + s * (159 / 208 + s * (9 / 8)))
    return (1 + s * s * (3 / 10 + s * (1 / 7 + s * high))) / cmath.sqrt(mean)


def _complex_rf(x: Any, y: Any, z: Any) -> Any:
    if cmath.isnan(x + y + z) or not (_fits(x) and _fits(y) and _fits(z)):
        return _NONE
    if not (_finite(x) and _finite(y) and _finite(z)):
        return complex(0.0, 0.0)
    if _two_zeros(x, y, z):
        return complex(math.inf, 0.0)
    return _complex_rf_duplicated(x, y, z)


def _two_zeros(x: Any, y: Any, z: Any) -> Any:
    return (x == 0 and y == 0) or (x == 0 and z == 0) or (y == 0 and z == 0)


def _complex_rf_duplicated(x: Any, y: Any, z: Any) -> Any:
    first = (x + y + z) / 3
    mean = first
    bound = max(abs(first - x), abs(first - y), abs(first - z))
    scale = 1.0
    a = x
    b = y
    c = z
    while bound * scale * 400 > abs(mean):
        shift = _products(a, b, c)
        a = 0.25 * (a + shift)
        b = 0.25 * (b + shift)
        c = 0.25 * (c + shift)
        mean = 0.25 * (mean + shift)
        scale *= 0.25
    u = (first - x) * scale / mean
    v = (first - y) * scale / mean
    return _rf_series(u, v) / cmath.sqrt(mean)


def _products(a: Any, b: Any, c: Any) -> Any:
    p = cmath.sqrt(a)
    q = cmath.sqrt(b)
    r = cmath.sqrt(c)
    return p * q + p * r + q * r


def _complex_rd(x: Any, y: Any, z: Any) -> Any:
    if cmath.isnan(x + y + z) or not (_fits(x) and _fits(y) and _fits(z)):
        return _NONE
    if not (_finite(x) and _finite(y) and _finite(z)):
        return complex(0.0, 0.0)
    if z == 0 or (x == 0 and y == 0):
        return complex(math.inf, 0.0)
    return _complex_rd_duplicated(x, y, z)


def _complex_rd_duplicated(x: Any, y: Any, z: Any) -> Any:
    first = (x + y + 3 * z) / 5
    mean = first
    bound = max(abs(first - x), abs(first - y), abs(first - z))
    scale = 1.0
    total = complex(0.0, 0.0)
    a = x
    b = y
    c = z
    while bound * scale * 900 > abs(mean):
        shift = _products(a, b, c)
        total += scale / cmath.sqrt(c) / (c + shift)
        a = 0.25 * (a + shift)
        b = 0.25 * (b + shift)
        c = 0.25 * (c + shift)
        mean = 0.25 * (mean + shift)
        scale *= 0.25
    u = (first - x) * scale / mean
    v = (first - y) * scale / mean
    w = -(u + v) / 3
    return _series(u, v, w, w) * scale / mean / cmath.sqrt(mean) + 3 * total


def _complex_rg(x: Any, y: Any, z: Any) -> Any:
    if cmath.isnan(x + y + z) or not (_fits(x) and _fits(y) and _fits(z)):
        return _NONE
    if not (_finite(x) and _finite(y) and _finite(z)):
        return complex(math.inf, 0.0)
    if _two_zeros(x, y, z):
        return 0.5 * cmath.sqrt(x + y + z)
    # DLMF 19.21.11
    total = complex(0.0, 0.0)
    for _ in range(3):
        if x != 0:
            total += x * (y + z) * _complex_rd_duplicated(y, z, x)
        x, y, z = y, z, x
    return total / 6


def _rj_principal(x: Any, y: Any, z: Any, p: Any) -> Any:
    """R_J for p < 0, Cauchy's principal value."""
    # DLMF 19.20.14, with z the largest operand and y the one in the middle.
    low = min(x, y, z)
    high = max(x, y, z)
    middle = _middle(x, y, z)
    q = -p
    more = (high - middle) / (middle + q) * (middle - low)
    above = more + middle
    ratio = (low / q) * (high / above)
    share = 1 / (1 + ratio)
    closed = math.sqrt(ratio) * share * math.sqrt(middle / above) / math.sqrt(q) * _rc_of_one(share)
    return (more * _rj(low, middle, high, above) - 3 * _rf(low, middle, high) + 3 * closed) / (middle + q)


def _complex_rj(x: Any, y: Any, z: Any, p: Any) -> Any:
    if cmath.isnan(x + y + z) or cmath.isnan(p) or not (_fits(x) and _fits(y) and _fits(z)):
        return _NONE
    if not (_finite(x) and _finite(y) and _finite(z) and _finite(p)):
        return complex(0.0, 0.0)
    if p == 0:
        return _NONE
    if _two_zeros(x, y, z):
        return complex(math.inf, 0.0)
    if x.imag == 0 and y.imag == 0 and z.imag == 0 and p.imag == 0 and p.real < 0:
        return complex(_rj_principal(x.real, y.real, z.real, p.real), 0.0)
    right = x.real >= 0 and y.real >= 0 and z.real >= 0 and p.real > 0
    if not right and not _one_real(x, y, z):
        # Where Carlson's theorem says nothing
        return _NONE
    if not right and p.imag == 0:
        return _NONE
    return _complex_rj_duplicated(x, y, z, p)


def _one_real(x: Any, y: Any, z: Any) -> Any:
    """Whether all are real, or one is and the others are conjugate."""
    for _ in range(3):
        if x.imag == 0 and y.real == z.real and y.imag == -z.imag:
            return True
        x, y, z = y, z, x
    return x.imag == 0 and y.imag == 0 and z.imag == 0


def _complex_rj_duplicated(x: Any, y: Any, z: Any, p: Any) -> Any:
    first = (x + y + z + 2 * p) / 5
    mean = first
    bound = max(abs(first - x), abs(first - y), abs(first - z), abs(first - p))
    scale = 1.0
    total = complex(0.0, 0.0)
    a = x
    b = y
    c = z
    d = p
    while bound * scale * 900 > abs(mean):
        q = cmath.sqrt(a)
        r = cmath.sqrt(b)
        s = cmath.sqrt(c)
        t = cmath.sqrt(d)
        shift = q * r + q * s + r * s
        product = (t + q) * (t + r) * (t + s)
        total += _rc_duplicated(complex(1.0, 0.0), 2 * t * (d + shift) / product) * scale / product
        a = 0.25 * (a + shift)
        b = 0.25 * (b + shift)
        c = 0.25 * (c + shift)
        d = 0.25 * (d + shift)
        mean = 0.25 * (mean + shift)
        scale *= 0.25
    u = (first - x) * scale / mean
    v = (first - y) * scale / mean
    w = (first - z) * scale / mean
    return _series(u, v, w, -(u + v + w) / 2) * scale / mean / cmath.sqrt(mean) + 6 * total


# ---- The ufuncs


@special_function("ff dd FF DD", of_complex=_complex_rc)
def elliprc(x: Any, y: Any) -> Any:
    """Carlson's degenerate elliptic integral RC of x >= 0 and y != 0; below y = 0 it is Cauchy's principal value.

    Examples
    --------
    >>> bc.scipy.special.elliprc(1.0, [2.0, -1.0])
    array([0.78539816, 0.62322524])
    """
    if not x >= 0 or math.isnan(y) or y == 0:
        return math.nan
    if math.isinf(x) or math.isinf(y):
        return 0.0
    return _rc(x, y)


@special_function("fff ddd FFF DDD", of_complex=_complex_rf)
def elliprf(x: Any, y: Any, z: Any) -> Any:
    """Carlson's elliptic integral of the first kind of operands >= 0, of which one may be 0.

    Examples
    --------
    >>> bc.scipy.special.elliprf(1.0, 2.0, [0.0, 3.0])
    array([1.31102878, 0.72694594])
    """
    if not _all_positive(x, y, z):
        return math.nan
    if _any_infinite(x, y, z):
        return 0.0
    if not _few_zeros(x, y, z):
        return math.inf
    room = _room(max(x, y, z))
    return _rf(x * room, y * room, z * room) * math.sqrt(room)


@special_function("fff ddd FFF DDD", of_complex=_complex_rd)
def elliprd(x: Any, y: Any, z: Any) -> Any:
    """Carlson's elliptic integral of the second kind of x, y >= 0, of which one may be 0, and z > 0.

    Examples
    --------
    >>> bc.scipy.special.elliprd(1.0, 2.0, [1.0, 3.0])
    array([0.79925996, 0.29046028])
    """
    if not _all_positive(x, y, z):
        return math.nan
    if _any_infinite(x, y, z):
        return 0.0
    if z == 0 or x + y == 0:
        return math.inf
    room = _room(max(x, y, z))
    return _rd(x * room, y * room, z * room, room) * math.sqrt(room)


@special_function("fff ddd FFF DDD", of_complex=_complex_rg)
def elliprg(x: Any, y: Any, z: Any) -> Any:
    """Carlson's completely symmetric elliptic integral of the second kind of operands >= 0.

    Examples
    --------
    >>> bc.scipy.special.elliprg(1.0, 2.0, [0.0, 3.0])
    array([0.95504945, 1.4018471 ])
    """
    if not _all_positive(x, y, z):
        return math.nan
    if _any_infinite(x, y, z):
        return math.inf
    room = _room(max(x, y, z))
    low = min(x, y, z) * room
    high = max(x, y, z) * room
    middle = _middle(x, y, z) * room
    if middle == 0:
        return 0.5 * math.sqrt(high / room)
    # DLMF 19.21.10 with the operands in this order adds terms of one sign.
    between = (high - middle) * _rd(high, low, middle, middle - low) / 3
    return 0.5 * (middle * _rf(low, middle, high) + between + math.sqrt(high) * math.sqrt(low) / math.sqrt(middle)) / math.sqrt(room)


@special_function("ffff dddd FFFF DDDD", of_complex=_complex_rj)
def elliprj(x: Any, y: Any, z: Any, p: Any) -> Any:
    """Carlson's elliptic integral of the third kind of x, y, z >= 0, of which one may be 0, and p != 0.

    Below p = 0 it is Cauchy's principal value.

    Examples
    --------
    >>> bc.scipy.special.elliprj(1.0, 2.0, 3.0, [4.0, -1.0])
    array([ 0.2398481 , -0.09324045])
    """
    if not _all_positive(x, y, z) or math.isnan(p):
        return math.nan
    if _any_infinite(x, y, z) or math.isinf(p):
        return 0.0
    if p == 0 or not _few_zeros(x, y, z):
        return math.inf
    room = _room(max(x, y, z, abs(p)))
    if p > 0:
        return _rj(x * room, y * room, z * room, p * room) * room * math.sqrt(room)
    return _rj_principal(x * room, y * room, z * room, p * room) * room * math.sqrt(room)
