"""Bessel functions of real order and real or complex argument: J, Y, I, K and H, and those scaled by exponentials. Real ones are rows of
the engine; complex ones are here.

K of an order in [-1/2, 1/2) near 0 by Temme's series (Journal of Computational Physics 19, 1975), elsewhere by the continued fraction of
Kummer's U (DLMF 13.3.7) with a sum that is known, computed from far; then upwards in the order. I by its power series, Hankel's expansion,
or the continued fraction for the quotient of two neighbours and the Wronskian (DLMF 10.28.2). J, Y and H are I and K of the argument turned
by a quarter (DLMF 10.27)."""

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

__all__ = [
    "h1vp", "h2vp", "hankel1", "hankel1e", "hankel2", "hankel2e", "hyp0f1", "iv", "ive", "ivp", "jn", "jv", "jve", "jvp", "kn", "kv", "kve",
    "kvp", "yv", "yve", "yvp",
]  # fmt: skip

_rgamma, _jv, _yv = _c.ufuncs["rgamma"], _c.ufuncs["jv"], _c.ufuncs["yv"]
_real_iv, _real_ive, _real_kv, _real_kve = _c.ufuncs["iv"], _c.ufuncs["ive"], _c.ufuncs["kv"], _c.ufuncs["kve"]
_BOTH = "ff dd fF dD"
_COMPLEX = "fF dD"
# The powers of x in the series of 1 / gamma(1 + x) (DLMF 5.7.1), the odd ones negative.
_ODD = (
    -0.5772156649015329, 0.04200263503409524, 0.04219773455554433, -0.0072189432466631, 0.00021524167411495098, 2.013485478078824e-05,
    -1.133027231981696e-06, -6.116095104481416e-09, 1.18127457048702e-09, -7.782263439905071e-12, -5.100370287454476e-13,
)  # fmt: skip
_EVEN = (
    1.0, -0.6558780715202539, 0.16653861138229148, -0.009621971527876973, -0.0011651675918590652, 0.0001280502823881162,
    -1.2504934821426706e-06, -2.056338416977607e-07, 5.002007644469223e-09, 1.0434267116911005e-10, -3.696805618642206e-12,
)  # fmt: skip
# Orders up to which a recurrence may go; beyond it the result is NaN.
_LAST_ORDER = 200000.0


# ---- One element


def _sin_pi(v: Any) -> Any:
    r = v - 2 * math.floor(0.5 * v + 0.5)
    if r > 0.5:
        r = 1 - r
    elif r < -0.5:
        r = -1 - r
    return math.sin(math.pi * r)


def _cos_pi(v: Any) -> Any:
    return math.sin(math.pi * (0.5 - abs(v - 2 * math.floor(0.5 * v + 0.5))))


def _turn(v: Any) -> Any:
    """exp(i pi v)"""
    return complex(_cos_pi(v), _sin_pi(v))


def _sinh_over(s: Any) -> Any:
    """sinh(s) / s for |s| < 1"""
    t = s * s
    return 1 + t / 6 * (1 + t / 20 * (1 + t / 42 * (1 + t / 72 * (1 + t / 110 * (1 + t / 156 * (1 + t / 210))))))


def _temme_k(mu: Any, z: Any, l: Any, e: Any) -> Any:
    """K(mu) and K(mu + 1) by Temme's series, with l = log(2 / z) and e = exp(mu l)."""
    m = mu * mu
    odd = 0.0
    even = 0.0
    for i in range(10, -1, -1):
        odd = odd * m + _ODD[i]
        even = even * m + _EVEN[i]
    s = mu * l
    sinh = _sinh_over(s) if abs(s) < 1 else (e - 1 / e) / (2 * s)
    factor = 1 / (1 - m * math.pi**2 / 6) if abs(mu) < 1e-4 else math.pi * mu / math.sin(math.pi * mu)
    f = factor * (0.5 * (e + 1 / e) * odd + sinh * l * even)
    p = 0.5 * e / (even - mu * odd)
    q = 0.5 / (e * (even + mu * odd))
    t = 0.25 * z * z
    c = t * 0 + 1
    first = f * 1
    second = p * 1
    for k in range(1, 60):
        f = (k * f + p + q) / (k * k - m)
        p = p / (k - mu)
        q = q / (k + mu)
        c = c * t / k
        first = first + c * f
        second = second + c * (p - k * f)
        if abs(c * p) < 1e-18 * abs(second) and abs(c * f) < 1e-18 * abs(first):
            break
    return first, second * 2 / z


def _fraction_k(mu: Any, z: Any, size: Any, x: Any) -> Any:
    """sqrt(pi / (2 z)) exp(-z) / K(mu) and K(mu + 1) / K(mu); `size` is |z|, `x` its real part. The fraction's elements are quotients of
    neighbours in a recurrence, which needs no division and stays below 1e250 for the numbers of steps that there are."""
    m = mu * mu
    before = z * 0
    now = before + 1
    total = before + 1
    for n in range(int(14 + 440 / (size + x)), 0, -1):
        following = 2 * (z + n) * now - ((n + 0.5) ** 2 - m) * before
        before = now
        now = following
        total = now + ((n - 0.5) ** 2 - m) / n * total
    inverse = 1 / now
    return total * inverse, (z + (mu + 0.5) - (0.25 - m) * (before * inverse)) / z


def _power_over_gamma(x: Any, v: Any) -> Any:
    """(x / 2)**v / gamma(v + 1) for x > 0 and v >= 0."""
    if v <= 100:
        return (0.5 * x) ** v * _rgamma(v + 1)
    u = 1 / (v * v)
    rest = (1 / 12 - u * (1 / 360 - u * (1 / 1260 - u / 1680))) / v
    return (0.5 * math.e * x / v) ** v * math.exp(-rest) / math.sqrt(2 * math.pi * v)


def _power_series(v: Any, t: Any) -> Any:
    """The sum of t**k / (k! (v + 1) (v + 2) ... (v + k))."""
    term = t * 0 + 1
    total = t * 0 + 1
    k = 1
    while abs(term) > 1e-17 * abs(total) and k < 500:
        term = term * (t / (k * (v + k)))
        total = total + term
        k += 1
    return total


def _split(v: Any) -> Any:
    """v as n + mu with whole n and mu in [-1/2, 1/2)."""
    n = math.floor(v + 0.5)
    return n, v - n


def _is_far(v: Any, size: Any) -> Any:
    """Tells whether Hankel's expansions (DLMF 10.17, 10.40) have all digits."""
    return size > 30 and v * v < 2 * size


def _i_ratio(v: Any, z: Any, size: Any) -> Any:
    """I(v + 1) / I(v) by its continued fraction (DLMF 10.33.1), from far."""
    beyond = max(0.0, size - v)
    twice = 2 / z
    before = z * 0
    now = before + 1
    for k in range(int(beyond + 30 + 15 * size ** (1 / 3)), 0, -1):
        following = (v + k) * twice * now + before
        before = now
        now = following
        if abs(now.real) + abs(now.imag) > 1e200:
            before = before * 1e-200
            now = now * 1e-200
    return before / now


def _hankel_sums(v: Any, z: Any) -> Any:
    """The sums over k of a(k) / z**k and a(k) / (-z)**k (DLMF 10.17.1), for large z."""
    four = 4 * v * v
    term = z * 0 + 1
    plus = z * 0 + 1
    minus = z * 0 + 1
    sign = -1.0
    share = 0.125 / z
    size = 1.0
    for k in range(1, 200):
        following = term * share * ((four - (2 * k - 1) ** 2) / k)
        now = abs(following.real) + abs(following.imag)
        if now > 2 * size and k > v:
            break
        term = following
        size = now
        plus = plus + term
        minus = minus + sign * term
        sign = -sign
        if size < 1e-17 * (abs(plus.real) + abs(plus.imag)):
            break
    return plus, minus


def _is_beyond(v: Any, size: Any) -> Any:
    """Tells whether |z| is so large that Debye's expansions (DLMF 10.41) have all digits by three terms."""
    return size > 1e4 and size > 4 * v


def _debye_sums(v: Any, z: Any) -> Any:
    """For Re z >= 0: the root r of v**2 + z**2, the difference of v eta and z, and the sums over k of U_k(p) / v**k and
    U_k(p) / (-v)**k, p = v / r."""
    q = v / z
    r = z * cmath.sqrt(1 + q * q)  # of v**2 + z**2 itself the sign of a zero imaginary part would be lost
    root = q + cmath.sqrt(1 + q * q)
    power = v * v / (r + z) - v * complex(0.5 * math.log(root.real * root.real + root.imag * root.imag), math.atan2(root.imag, root.real))
    p = (v / r) * (v / r)
    odd = (3 - 5 * p) / 24 / r + (30375 + p * (-369603 + p * (765765 - 425425 * p))) / 414720 / (r * r * r)
    even = 1 + (81 + p * (-462 + 385 * p)) / 1152 / (r * r)
    return r, power, even + odd, even - odd


def _grown(e: Any, x: Any) -> Any:
    """e exp(x) for x of up to twice where the exponential overflows."""
    half = math.exp(0.5 * x)
    return e * half * half


def _iv(v: Any, x: Any, scaled: Any) -> Any:
    return _real_ive(v, x) if scaled else _real_iv(v, x)


def _kv(v: Any, x: Any, scaled: Any) -> Any:
    return _real_kve(v, x) if scaled else _real_kv(v, x)


# ---- Complex arguments


def _k_right(v: Any, z: Any) -> Any:
    """exp(z) K of the orders v and v + 1 for v >= 0 and Re z >= 0, and whether these are beyond the largest number."""
    n, mu = _split(v)
    size = abs(z)
    if size + z.real <= 4.6:
        l = -cmath.log(0.5 * z)
        now, after = _temme_k(mu, z, l, cmath.exp(mu * l))
        scale = cmath.exp(z)
        now = now * scale
        after = after * scale
    else:
        s, ratio = _fraction_k(mu, z, size, z.real)
        now = cmath.sqrt(0.5 * math.pi / z) / s
        after = now * ratio
    twice = 2 / z
    for i in range(1, int(n) + 1):
        step = (mu + i) * twice * after + now
        now = after
        after = step
        if abs(after.real) + abs(after.imag) > 1e305:
            return complex(math.inf, 0.0) if i < n else now, after, True
    return now, after, False


def _ke_right(v: Any, z: Any) -> Any:
    """exp(z) K(v, z) for v >= 0 and Re z >= 0."""
    if _is_far(v, abs(z)):
        plus, _ = _hankel_sums(v, z)
        return cmath.sqrt(0.5 * math.pi / z) * plus
    if _is_beyond(v, abs(z)):
        r, power, _, minus = _debye_sums(v, z)
        return cmath.sqrt(0.5 * math.pi / r) * cmath.exp(-power) * minus if power.real > -700 else complex(math.inf, 0.0)
    now, _, _ = _k_right(v, z)
    return now


def _both_right(v: Any, z: Any) -> Any:
    """exp(z) K(v, z) and exp(-z) I(v, z) for v >= 0 and Re z >= 0."""
    size = abs(z)
    side = 1.0 if z.imag >= 0 else -1.0
    if _is_far(v, size):
        plus, minus = _hankel_sums(v, z)
        i = (minus + _turn(side * (v + 0.5)) * cmath.exp(-2 * z) * plus) / cmath.sqrt(2 * math.pi * z)
        return cmath.sqrt(0.5 * math.pi / z) * plus, i
    if _is_beyond(v, size):
        r, power, plus, minus = _debye_sums(v, z)
        i = (cmath.exp(power) * plus + _turn(side * (v + 0.5)) * cmath.exp(-2 * z - power) * minus) / cmath.sqrt(2 * math.pi * r)
        return cmath.sqrt(0.5 * math.pi / r) * cmath.exp(-power) * minus if power.real > -700 else complex(math.inf, 0.0), i
    now, after, beyond = _k_right(v, z)
    if _by_series(v, z, size):
        return now, _i_series(v, z, size)
    return now, complex(0.0, 0.0) if beyond else 1 / (z * (after + _i_ratio(v, z, size) * now))


def _by_series(v: Any, z: Any, size: Any) -> Any:
    """Tells whether the power series of I has all digits, for Re z >= 0."""
    return (size - z.real <= 4 and size <= 30) or 0.25 * size * size <= 0.7 * (v + 1)


def _i_series(v: Any, z: Any, size: Any) -> Any:
    angle = v * math.atan2(z.imag, z.real)
    start = _power_over_gamma(size, v)
    return complex(start * math.cos(angle), start * math.sin(angle)) * _power_series(v, 0.25 * z * z) * cmath.exp(-z)


def _ie_right(v: Any, z: Any) -> Any:
    """exp(-z) I(v, z) for v >= 0 and Re z >= 0."""
    if _by_series(v, z, abs(z)):
        return _i_series(v, z, abs(z))
    _, i = _both_right(v, z)
    return i


def _exp_turned(z: Any) -> Any:
    """exp(i Im z)"""
    return complex(math.cos(z.imag), math.sin(z.imag))


def _bad(v: Any, z: Any) -> Any:
    """Tells whether there is no value: NaN, infinity, or an order that is too large."""
    return not abs(v) <= _LAST_ORDER or not abs(z) < math.inf


def _iv_complex(v: Any, z: Any, scaled: Any) -> Any:
    if _bad(v, z) or z == 0:
        x = z.real + z.imag
        return complex(_iv(v, x, scaled), 0.0) if z == 0 else complex(math.nan, math.nan)
    if z.imag == 0 and (z.real > 0 or v == math.floor(v)):
        return complex(_iv(v, z.real, scaled), 0.0)
    left = z.real < 0
    w = -z if left else z
    order = abs(v)
    # exp(-Re w) I, from which exp(Re w) leads to I
    value = _ie_right(order, w) * _exp_turned(w)
    if v < 0 and v != math.floor(v):
        value = value + 2 / math.pi * _sin_pi(order) * _ke_right(order, w) * cmath.exp(-w - w.real)
    if left:
        value = value * _turn(v if z.imag >= 0 else -v)
    return value if scaled else _grown(value, w.real)


def _kv_complex(v: Any, z: Any, scaled: Any) -> Any:
    if z == 0:
        return complex(math.inf if v == v else math.nan, 0.0)
    if _bad(v, z):
        return complex(math.nan, math.nan)
    v = abs(v)
    if z.imag == 0 and z.real > 0:
        return complex(_kv(v, z.real, scaled), 0.0)
    if z.real >= 0:
        k = _ke_right(v, z)
        return k if scaled else k * cmath.exp(-z)
    # DLMF 10.34.2
    i = _ie_right(v, -z)
    k = _ke_right(v, -z)
    side = 1.0 if z.imag >= 0 else -1.0
    if scaled:
        return _turn(-side * v) * k * cmath.exp(2 * z) - side * math.pi * 1j * i
    return _turn(-side * v) * k * cmath.exp(z) - side * math.pi * 1j * i * cmath.exp(-z)


def _upper(z: Any) -> Any:
    """z or its conjugate, where Im z >= 0, and that over i."""
    up = z.conjugate() if z.imag < 0 else z
    return up, complex(abs(up.imag), -up.real)


def _j_scaled(v: Any, z: Any) -> Any:
    """exp(-|Im z|) J(v, z) (DLMF 10.27.6)."""
    order = abs(v)
    up, w = _upper(z)
    j = _turn(0.5 * order) * _ie_right(order, w) * _exp_turned(w)
    if v < 0:
        if v == math.floor(v):
            j = _cos_pi(v) * j
        else:
            # J(-v) = cos(pi v) J(v) - sin(pi v) Y(v) with Y = i (J - H1).
            h = _turn(-0.5 * (order + 1)) * _ke_right(order, w) * (2 / math.pi)
            j = _turn(-order) * j + 1j * _sin_pi(order) * h * cmath.exp(1j * up - up.imag)
    return j.conjugate() if z.imag < 0 else j


def _h_scaled(v: Any, z: Any) -> Any:
    """exp(-i z) H1(v, z) where Im z >= 0, or exp(i z) H2(v, z) where it is not (DLMF 10.27.8, 10.4.6)."""
    order = abs(v)
    _, w = _upper(z)
    h = _turn(-0.5 * (order + 1)) * _ke_right(order, w) * (2 / math.pi)
    if v < 0:
        h = _turn(order) * h
    return h.conjugate() if z.imag < 0 else h


def _j_and_h_scaled(v: Any, z: Any) -> Any:
    """_j_scaled and _h_scaled, which need the same functions."""
    order = abs(v)
    up, w = _upper(z)
    k, i = _both_right(order, w)
    h = _turn(-0.5 * (order + 1)) * k * (2 / math.pi)
    j = _turn(0.5 * order) * i * _exp_turned(w)
    if v < 0:
        if v == math.floor(v):
            j = _cos_pi(v) * j
        else:
            j = _turn(-order) * j + 1j * _sin_pi(order) * h * cmath.exp(1j * up - up.imag)
        h = _turn(order) * h
    if z.imag < 0:
        return j.conjugate(), h.conjugate()
    return j, h


def _jv_complex(v: Any, z: Any, scaled: Any) -> Any:
    if z == 0:
        return complex(_jv(v, 0.0), 0.0)
    if _bad(v, z):
        return complex(math.nan, math.nan)
    if z.imag == 0 and (z.real > 0 or v == math.floor(v)):
        return complex(_jv(v, z.real), 0.0)
    j = _j_scaled(v, z)
    return j if scaled else _grown(j, abs(z.imag))


def _yv_complex(v: Any, z: Any, scaled: Any) -> Any:
    if z == 0:
        return complex(_yv(v, 0.0), 0.0)
    if _bad(v, z):
        return complex(math.nan, math.nan)
    if z.imag == 0 and z.real > 0:
        return complex(_yv(v, z.real), 0.0)
    j, h = _j_and_h_scaled(v, z)
    height = abs(z.imag)
    # Y = i (J - H1) = -i (J - H2)
    turn = 1j if z.imag >= 0 else -1j
    y = turn * (j - h * cmath.exp(turn * z - height))
    return y if scaled else _grown(y, height)


def _hankel(v: Any, z: Any, kind: Any, scaled: Any) -> Any:
    """H1 for kind 1, H2 for kind -1."""
    if _bad(v, z) or z == 0:
        return complex(math.nan, math.inf if z == 0 and v == 0 and kind < 0 and not scaled else math.nan)  # as SciPy has it
    turn = kind * 1j
    if (z.imag >= 0) == (kind > 0):
        h = _h_scaled(v, z)
        return h if scaled else h * cmath.exp(turn * z)
    # The other kind is 2 J less this one, which is the smaller part.
    height = abs(z.imag)
    j, h = _j_and_h_scaled(v, z)
    value = 2 * j - h * cmath.exp(-turn * z - height)
    return value * complex(math.cos(z.real), -kind * math.sin(z.real)) if scaled else _grown(value, height)


def _hankel_slope(v: Any, z: Any, kind: Any) -> Any:
    """The derivative of H1 or H2 by z: in the half plane of K from two neighbours of one recurrence (DLMF 10.6.2)."""
    if _bad(v, z) or z == 0:
        return complex(math.nan, math.nan)
    if (z.imag >= 0) != (kind > 0):
        return 0.5 * (_hankel(v - 1, z, kind, False) - _hankel(v + 1, z, kind, False))
    order = abs(v)
    up, w = _upper(z)
    if _is_far(order + 1, abs(z)) or _is_beyond(order + 1, abs(z)):
        now = _ke_right(order, w)
        after = _ke_right(order + 1, w)
    else:
        now, after, _ = _k_right(order, w)
    slope = _turn(-0.5 * (order + 1)) * (order / up * now + 1j * after) * (2 / math.pi)
    if v < 0:
        slope = _turn(order) * slope
    return (slope.conjugate() if z.imag < 0 else slope) * cmath.exp(kind * 1j * z)


# ---- The ufuncs


# Derivatives by the argument (DLMF 10.6.1, 10.29.1); those by the order are not known here.


def _jv_slopes(y: Any, v: Any, z: Any) -> Any:
    return None, 0.5 * (jv(v - 1, z) - jv(v + 1, z))


def _yv_slopes(y: Any, v: Any, z: Any) -> Any:
    return None, 0.5 * (yv(v - 1, z) - yv(v + 1, z))


def _iv_slopes(y: Any, v: Any, z: Any) -> Any:
    return None, 0.5 * (iv(v - 1, z) + iv(v + 1, z))


def _kv_slopes(y: Any, v: Any, z: Any) -> Any:
    return None, -0.5 * (kv(v - 1, z) + kv(v + 1, z))


def _hankel1_slopes(y: Any, v: Any, z: Any) -> Any:
    return None, 0.5 * (hankel1(v - 1, z) - hankel1(v + 1, z))


def _hankel2_slopes(y: Any, v: Any, z: Any) -> Any:
    return None, 0.5 * (hankel2(v - 1, z) - hankel2(v + 1, z))


def _jv_of_complex(v: Any, z: Any) -> Any:
    return _jv_complex(v, z, False)


@special_function(_BOTH, row="jv", of_complex=_jv_of_complex, slopes=_jv_slopes)
def jv(v: Any, z: Any) -> Any:
    """The Bessel function of the first kind of real order v and real or complex z.

    Of a negative real z only whole orders have a value. NaN for orders beyond 200,000 unless z is small beside them.

    Examples
    --------
    >>> bc.scipy.special.jv([0.0, 0.5, 3.0], 2.0)
    array([0.22389078, 0.51301614, 0.12894325])
    """
    return _jv(v, z)


def _jve_of_complex(v: Any, z: Any) -> Any:
    return _jv_complex(v, z, True)


@special_function(_BOTH, row="jv", of_complex=_jve_of_complex)
def jve(v: Any, z: Any) -> Any:
    """jv(v, z) exp(-abs(z.imag)).

    Examples
    --------
    >>> bc.scipy.special.jve(1.5, 800j)
    array(-0.00996109+0.00996109j)
    """
    return _jv(v, z)


def _yv_of_complex(v: Any, z: Any) -> Any:
    return _yv_complex(v, z, False)


@special_function(_BOTH, row="yv", of_complex=_yv_of_complex, slopes=_yv_slopes)
def yv(v: Any, z: Any) -> Any:
    """The Bessel function of the second kind of real order v and z > 0, or complex z.

    NaN for orders beyond 200,000.

    Examples
    --------
    >>> bc.scipy.special.yv([0.0, 0.5, 3.0], 2.0)
    array([ 0.51037567,  0.23478571, -1.12778378])
    """
    return _yv(v, z)


def _yve_of_complex(v: Any, z: Any) -> Any:
    return _yv_complex(v, z, True)


@special_function(_BOTH, row="yv", of_complex=_yve_of_complex)
def yve(v: Any, z: Any) -> Any:
    """yv(v, z) exp(-abs(z.imag)).

    Examples
    --------
    >>> bc.scipy.special.yve(1.5, 2.0)
    array(-0.39562328)
    """
    return _yv(v, z)


def _iv_of_complex(v: Any, z: Any) -> Any:
    return _iv_complex(v, z, False)


@special_function(_BOTH, row="iv", of_complex=_iv_of_complex, slopes=_iv_slopes)
def iv(v: Any, z: Any) -> Any:
    """The modified Bessel function of the first kind of real order v and real or complex z.

    Of a negative real z only whole orders have a value. NaN for orders beyond 200,000.

    Examples
    --------
    >>> bc.scipy.special.iv([0.0, 0.5, 3.0], 2.0)
    array([2.2795853 , 2.04623686, 0.21273996])
    """
    return _iv(v, z, False)


def _ive_of_complex(v: Any, z: Any) -> Any:
    return _iv_complex(v, z, True)


@special_function(_BOTH, row="ive", of_complex=_ive_of_complex)
def ive(v: Any, z: Any) -> Any:
    """iv(v, z) exp(-abs(z.real)).

    Examples
    --------
    >>> bc.scipy.special.ive(1.5, [2.0, 1000.0])
    array([0.14879752, 0.01260305])
    """
    return _iv(v, z, True)


def _kv_of_complex(v: Any, z: Any) -> Any:
    return _kv_complex(v, z, False)


@special_function(_BOTH, row="kv", of_complex=_kv_of_complex, slopes=_kv_slopes)
def kv(v: Any, z: Any) -> Any:
    """The modified Bessel function of the second kind of real order v and z > 0, or complex z.

    NaN for orders beyond 200,000.

    Examples
    --------
    >>> bc.scipy.special.kv([0.0, 0.5, 3.0], 2.0)
    array([0.11389387, 0.11993777, 0.64738539])
    """
    return _kv(v, z, False)


def _kve_of_complex(v: Any, z: Any) -> Any:
    return _kv_complex(v, z, True)


@special_function(_BOTH, row="kve", of_complex=_kve_of_complex)
def kve(v: Any, z: Any) -> Any:
    """kv(v, z) exp(z).

    Examples
    --------
    >>> bc.scipy.special.kve(1.5, [2.0, 1000.0])
    array([1.32934039, 0.03967291])
    """
    return _kv(v, z, True)


@special_function("ld ff dd", whole=True)
def kn(n: Any, x: Any) -> Any:
    """The modified Bessel function of the second kind of whole order n and x > 0.

    Examples
    --------
    >>> bc.scipy.special.kn([0, 1, 2], 2.0)
    array([0.11389387, 0.13986588, 0.25375975])
    """
    return _kv(float(n), x, False)


@special_function(_COMPLEX, slopes=_hankel1_slopes)
def hankel1(v: Any, z: Any) -> Any:
    """The Bessel function of the third kind jv(v, z) + 1j yv(v, z).

    Examples
    --------
    >>> bc.scipy.special.hankel1(0.0, 2.0)
    array(0.22389078+0.51037567j)
    """
    return _hankel(v, z, 1.0, False)


@special_function(_COMPLEX)
def hankel1e(v: Any, z: Any) -> Any:
    """hankel1(v, z) exp(-1j z).

    Examples
    --------
    >>> bc.scipy.special.hankel1e(0.25, 2.0)
    array(0.1915682-0.52516542j)
    """
    return _hankel(v, z, 1.0, True)


@special_function(_COMPLEX, slopes=_hankel2_slopes)
def hankel2(v: Any, z: Any) -> Any:
    """The Bessel function of the third kind jv(v, z) - 1j yv(v, z).

    Examples
    --------
    >>> bc.scipy.special.hankel2(0.0, 2.0)
    array(0.22389078-0.51037567j)
    """
    return _hankel(v, z, -1.0, False)


@special_function(_COMPLEX)
def hankel2e(v: Any, z: Any) -> Any:
    """hankel2(v, z) exp(1j z).

    Examples
    --------
    >>> bc.scipy.special.hankel2e(0.25, 2.0)
    array(0.1915682+0.52516542j)
    """
    return _hankel(v, z, -1.0, True)


jn = jv


# ---- Derivatives of any order


def _derivative(name: str, row: Any, v: ArrayLike, z: ArrayLike, n: int, sign: float) -> ndarray:
    """DLMF 10.6.7, and 10.29.5 with sign 1."""
    if not isinstance(n, (int, np.integer)) or n < 0:
        raise ValueError(f"{name}: expected a whole number n >= 0, got {n!r}")
    v = _c.asarray(v)
    terms = [sign**k * math.comb(n, k) / 2**n * row(v + float(2 * k - n), z) for k in range(n + 1)]
    total: ndarray = terms[0]
    for term in terms[1:]:
        total = total + term
    return total


def jvp(v: ArrayLike, z: ArrayLike, n: int = 1) -> ndarray:
    """The n-th derivative of jv(v, z) by z.

    Examples
    --------
    >>> bc.scipy.special.jvp(1.0, [0.5, 2.0])
    array([ 0.45393289, -0.06447162])
    """
    return _derivative("jvp", jv, v, z, n, -1.0)


def yvp(v: ArrayLike, z: ArrayLike, n: int = 1) -> ndarray:
    """The n-th derivative of yv(v, z) by z.

    Examples
    --------
    >>> bc.scipy.special.yvp(1.0, [0.5, 2.0])
    array([2.49842605, 0.56389189])
    """
    return _derivative("yvp", yv, v, z, n, -1.0)


def ivp(v: ArrayLike, z: ArrayLike, n: int = 1) -> ndarray:
    """The n-th derivative of iv(v, z) by z.

    Examples
    --------
    >>> bc.scipy.special.ivp(1.0, [0.5, 2.0])
    array([0.54769476, 1.48426688])
    """
    return _derivative("ivp", iv, v, z, n, 1.0)


def kvp(v: ArrayLike, z: ArrayLike, n: int = 1) -> ndarray:
    """The n-th derivative of kv(v, z) by z.

    Examples
    --------
    >>> bc.scipy.special.kvp(1.0, [0.5, 2.0])
    array([-4.23730131, -0.18382681])
    """
    return (-1.0) ** n * _derivative("kvp", kv, v, z, n, 1.0)


@special_function(_COMPLEX)
def _hankel1_slope(v: Any, z: Any) -> Any:
    return _hankel_slope(v, z, 1.0)


@special_function(_COMPLEX)
def _hankel2_slope(v: Any, z: Any) -> Any:
    return _hankel_slope(v, z, -1.0)


def h1vp(v: ArrayLike, z: ArrayLike, n: int = 1) -> ndarray:
    """The n-th derivative of hankel1(v, z) by z.

    Examples
    --------
    >>> bc.scipy.special.h1vp(1.0, 2.0)
    array(-0.06447162+0.56389189j)
    """
    return _hankel1_slope(v, z) if type(n) is int and n == 1 else _derivative("h1vp", hankel1, v, z, n, -1.0)


def h2vp(v: ArrayLike, z: ArrayLike, n: int = 1) -> ndarray:
    """The n-th derivative of hankel2(v, z) by z.

    Examples
    --------
    >>> bc.scipy.special.h2vp(1.0, 2.0)
    array(-0.06447162-0.56389189j)
    """
    return _hankel2_slope(v, z) if type(n) is int and n == 1 else _derivative("h2vp", hankel2, v, z, n, -1.0)


# ---- The confluent hypergeometric limit function


def _hyp0f1(v: Any, z: Any) -> Any:
    """The series where it keeps its digits, else DLMF 10.39.9 and 10.16.9."""
    if math.isnan(v) or math.isnan(z) or (v <= 0 and v == math.floor(v)):
        return math.nan
    if z == 0:
        return 1.0
    if math.isinf(z):
        return math.inf if z > 0 and v > 0 else math.nan
    if abs(z) <= 0.7 * abs(v) or abs(z) <= 2 or (z > 0 and v > 0 and z < 400):
        return _power_series(v - 1, z)
    x = 2 * math.sqrt(abs(z))
    if z > 0:
        # exp(x / 2) twice: the power before them may be small where the function does not overflow.
        return _iv(v - 1, x, True) * (math.exp(0.5 * x) / _rgamma(v)) * (0.5 * x) ** (1 - v) * math.exp(0.5 * x)
    return _jv(v - 1, x) / _rgamma(v) * (0.5 * x) ** (1 - v)


def _hyp0f1_of_complex(v: Any, z: Any) -> Any:
    if v != v or (v <= 0 and v == math.floor(v)) or not abs(z) < math.inf:
        return complex(math.nan, math.nan)
    if z.imag == 0:
        return complex(_hyp0f1(v, z.real), 0.0)
    if abs(z) <= 0.7 * abs(v) or abs(z) <= 2:
        return _power_series(v - 1, z)
    root = cmath.sqrt(z)
    power = cmath.exp((1 - v) * cmath.log(root) + root.real)
    return _iv_complex(v - 1, 2 * root, True) * power / _rgamma(v) * math.exp(root.real)


def _hyp0f1_slopes(y: Any, v: Any, z: Any) -> Any:
    return None, hyp0f1(v + 1.0, z) / v


@special_function(_BOTH, of_complex=_hyp0f1_of_complex, slopes=_hyp0f1_slopes)
def hyp0f1(v: Any, z: Any) -> Any:
    """The confluent hypergeometric limit function 0F1(; v; z) of real v and real or complex z.

    Examples
    --------
    >>> bc.scipy.special.hyp0f1(1.0, [-1.0, 0.0, 4.0])
    array([ 0.22389078,  1.        , 11.30192195])
    """
    return _hyp0f1(v, z)
