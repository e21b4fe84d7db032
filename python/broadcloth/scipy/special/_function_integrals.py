"""Integrals of Struve's, Airy's and Bessel functions, and the logarithm of Wright's function.

Power series run in numbers of two parts, which leave digits where their terms cancel. For large arguments the integrals come from the
other end: by A&S 12.1.31 for Struve's functions, by the trapezoidal rule along a line in the plane for Airy's, and by an expansion in 1 / a
for the one with a power."""

from __future__ import annotations

import cmath
import math
from typing import TYPE_CHECKING, Any

from ... import _broadcloth as _c
from ..._broadcloth import ndarray
from . import _integral_fits as _fits
from ._airy import _product_rest, airy
from ._functions import special_function
from ._integrals import _EULER, _of_i, _of_y, _polynomial
from ._struve import _over, _times, _two_sum

if TYPE_CHECKING:
    from ...typing import ArrayLike

__all__ = ["besselpoly", "it2struve0", "itairy", "itmodstruve0", "itstruve0", "log_wright_bessel"]

_gamma, _rgamma, _gammaln = _c.ufuncs["gamma"], _c.ufuncs["rgamma"], _c.ufuncs["gammaln"]


def _weighted_sum(b: Any, c: Any, s: Any, t: Any, t_rest: Any) -> Any:
    """The sum over k of t**k / ((b)k (c)k (k + s)): in double precision where its terms do not cancel, else in numbers of two parts."""
    term = 1.0
    plain = 1 / s
    largest = plain
    for k in range(100):
        term *= t / ((b + k) * (c + k))
        part = term / (k + 1.0 + s)
        plain += part
        largest = max(largest, abs(part))
        if abs(part) < 1e-17 * abs(plain) and k > -b and k > -c:
            if largest < 20 * abs(plain):
                return plain
            break
    term = 1.0
    term_rest = 0.0
    total, total_rest = _over(1.0, 0.0, s, 0.0)
    for k in range(1000):
        term, term_rest = _times(term, term_rest, t, t_rest)
        for lower in range(2):
            f, f_rest = _two_sum(b if lower == 0 else c, float(k))
            term, term_rest = _over(term, term_rest, f, f_rest)
        f, f_rest = _two_sum(s, k + 1.0)
        part, part_rest = _over(term, term_rest, f, f_rest)
        total, rest = _two_sum(total, part)
        total, total_rest = _two_sum(total, total_rest + (rest + part_rest))
        if abs(part) < 1e-18 * abs(total) and k > -b and k > -c:
            break
    return total


def _square(x: Any, factor: Any) -> Any:
    """factor x**2 in two parts, for a factor that is a power of 2."""
    square = x * x
    return factor * square, factor * _product_rest(x, x, square)


# ---- Struve's functions of order 0

_struve_far, _struve_far_over = _polynomial("_struve_far", _fits.STRUVE), _polynomial("_struve_far_over", _fits.STRUVE_OVER)


def _struve_sum(t: Any, over: Any) -> Any:
    """The sum over k of t**k / ((3 / 2)k**2 (k + 1)), or with k + 1 / 2 for integrals that are `over` the argument."""
    term = 1.0
    total = 2.0 if over else 1.0
    for k in range(1, 400):
        term *= t / ((k + 0.5) * (k + 0.5))
        part = term / (k + 0.5 if over else k + 1.0)
        total += part
        if abs(part) < 1e-18 * abs(total):
            break
    return total


def _struve_rest(x: Any) -> Any:
    """The sum of the modified function's expansion for large x (A&S 12.1.31)."""
    term = 1.0
    total = 0.0
    for k in range(60):
        total += 0.0 if k == 0 else term / (2 * k)
        following = term * ((2 * k + 1) / x) ** 2
        if following > term or following < 1e-18:
            break
        term = following
    return total


def _struve_integral(x: Any) -> Any:
    x = abs(x)
    if not x < math.inf:
        return x
    if x <= 5:
        return x * x / math.pi * _struve_sum(-0.25 * x * x, False)
    v = 1 / x
    return _of_y(x, False) + 2 / math.pi * (math.log(2 * x) + _EULER - v * v * _struve_far(10 * v - 1))


def _struve_over(x: Any) -> Any:
    size = abs(x)
    if math.isnan(x):
        return x
    if size <= 5:
        value = 0.5 * math.pi - size / math.pi * _struve_sum(-0.25 * x * x, True)
    elif size < math.inf:
        value = _of_y(size, True) + 2 / math.pi / size * _struve_far_over(10 / size - 1)
    else:
        value = 0.0
    return math.pi - value if x < 0 else value


def _modstruve_integral(x: Any) -> Any:
    x = abs(x)
    if not x < 720:
        return x if math.isnan(x) else math.inf
    if x <= 20:
        return x * x / math.pi * _struve_sum(0.25 * x * x, False)
    return _of_i(x, False) - 2 / math.pi * (math.log(2 * x) + _EULER - _struve_rest(x))


def _itstruve0_slopes(y: Any, x: Any) -> Any:
    from ._struve import struve

    return (struve(0.0, x),)


def _it2struve0_slopes(y: Any, x: Any) -> Any:
    from ._struve import struve

    return (-struve(0.0, x) / x,)


def _itmodstruve0_slopes(y: Any, x: Any) -> Any:
    from ._struve import modstruve

    return (modstruve(0.0, x),)


@special_function("f d", slopes=_itstruve0_slopes)
def itstruve0(x: Any) -> Any:
    """The integral of Struve's function H of order 0 from 0 to x.

    Examples
    --------
    >>> bc.scipy.special.itstruve0([0.5, 1.0, 40.0])
    array([0.07847957, 0.30109043, 3.14841763])
    """
    return _struve_integral(x)


@special_function("f d", slopes=_it2struve0_slopes)
def it2struve0(x: Any) -> Any:
    """The integral of H(t) / t from x to infinity, where H is Struve's function of order 0.

    Examples
    --------
    >>> bc.scipy.special.it2struve0([0.5, 1.0, 40.0])
    array([1.25541613, 0.95719735, 0.01621331])
    """
    return _struve_over(x)


@special_function("f d", slopes=_itmodstruve0_slopes)
def itmodstruve0(x: Any) -> Any:
    """The integral of the modified Struve function L of order 0 from 0 to x.

    Examples
    --------
    >>> bc.scipy.special.itmodstruve0([0.5, 1.0, 4.0])
    array([ 0.08069011,  0.33647263, 12.10831676])
    """
    return _modstruve_integral(x)


# ---- Airy functions


def _airy_beyond(z: Any) -> Any:
    """The integral of Ai from z to infinity, along t = sqrt(z) + i v (DLMF 9.5.4), for |z| > 2 and |arg z| <= pi / 3."""
    root = cmath.sqrt(z)
    h = min(0.12 * root.real, 0.3 / math.sqrt(abs(root)))
    total = 0.5 / root
    # exp(-root (k h)**2), by its quotients and theirs
    weight = total * 0 + 1
    quotient = cmath.exp(-root * (h * h))
    steps = quotient * quotient
    for k in range(1, 200):
        v = k * h
        square = v * v
        if square * root.real > 42:
            break
        weight = weight * quotient
        quotient = quotient * steps
        cube = square * v / 3
        # Half of the values at v and -v, over root + i v and root - i v
        real = z.real + square
        share = 1 / (real * real + z.imag * z.imag)
        total = total + weight * (math.cos(cube) * root - v * math.sin(cube)) * complex(real * share, -z.imag * share)
    return total * cmath.exp(-2 / 3 * z * root) * (h / math.pi)


def _airy_sums(x: Any) -> Any:
    """The integrals from 0 of the solutions 1 + x**3 / 6 ... and x + x**4 / 12 ... (DLMF 9.4.1)."""
    cube = x * x * x
    even = x
    odd = 0.5 * x * x
    term = x
    other = x * x
    for k in range(1, 400):
        # One division, which does not wait for the terms before
        j = 3.0 * k
        inverse = 1 / ((j - 1) * j * (j + 1) * (j + 2))
        term = term * (cube * (j + 1) * (j + 2) * inverse)
        other = other * (cube * (j - 1) * (j + 2) * inverse)
        even += term * ((j - 1) * j * (j + 2) * inverse)
        odd += other * ((j - 1) * j * (j + 1) * inverse)
        if abs(term) < 1e-18 * abs(even) and abs(other) < 1e-18 * abs(odd):
            break
    return even, odd


def _airy_integral(x: Any, kind: Any) -> Any:
    """The integral from 0 to x of Ai (kind 0) or Bi."""
    if math.isnan(x):
        return x
    if -3.0 <= x <= 2.5 or (kind == 1 and 2.5 < x < 105):
        even, odd = _airy_sums(x)
        first = 0.3550280538878172 * even
        second = 0.2588194037928068 * odd
        return first - second if kind == 0 else 1.7320508075688772 * (first + second)
    if x > 0:
        if kind == 1:
            return math.inf
        return 1 / 3 - _airy_beyond(complex(x, 0.0)).real if x < 110 else 1 / 3
    if x == -math.inf:
        return -2 / 3 if kind == 0 else 0.0
    # The integral of Ai - i Bi from -inf to x is twice the one of Ai from -x exp(-i pi / 3) on (DLMF 9.2.11).
    rest = 2 * _airy_beyond(-x * complex(0.5, -0.8660254037844386))
    return rest.real - 2 / 3 if kind == 0 else -rest.imag


def _itai_slopes(y: Any, x: Any) -> Any:
    return (airy(x)[0],)


def _itbi_slopes(y: Any, x: Any) -> Any:
    return (airy(x)[2],)


@special_function("f d", slopes=_itai_slopes)
def _itai(x: Any) -> Any:
    return _airy_integral(x, 0)


@special_function("f d", slopes=_itbi_slopes)
def _itbi(x: Any) -> Any:
    return _airy_integral(x, 1)


def itairy(x: ArrayLike) -> tuple[ndarray, ndarray, ndarray, ndarray]:
    """The integrals from 0 to real x of the Airy functions Ai(t) and Bi(t), and of Ai(-t) and Bi(-t).

    Far out on the negative axis their errors are 1e-16 times x**1.5, as the phase is known.

    Parameters
    ----------
    x : array_like
        Real numbers.

    Returns
    -------
    apt, bpt, ant, bnt : ndarray of float
        Of the shape of `x`; float32 for float32, else float64.

    Examples
    --------
    >>> apt, bpt, ant, bnt = bc.scipy.special.itairy(1.0)
    >>> apt
    array(0.23631734)
    """
    # A list becomes one array, so that all four run on its device.
    x = _c.asarray(x)
    mirrored = -x.astype("f8") if x.dtype.kind in "bu" else -x
    return _itai(x), _itbi(x), -_itai(mirrored), -_itbi(mirrored)


# ---- A power times J


def _tail(mu: Any, v: Any, z: Any) -> Any:
    """The integral of t**mu J_v(t) from a large z to infinity: exp(i z) times a series in 1 / z, which fulfils the integrand's (DLMF
    10.17.5), its derivative being the integrand."""
    hankel = complex(1.0, 0.0)
    total = complex(0.0, 0.0)
    before = complex(0.0, 0.0)
    power = 1.0
    smallest = math.inf
    for k in range(80):
        # i c(k) + (mu - 1 / 2 - k + 1) c(k - 1) = a(k)
        part = (hankel - (mu + 0.5 - k) * before) * complex(0.0, -1.0)
        size = abs(part) * power
        if size > smallest and k > 3:
            break
        smallest = size
        total = total + part * power
        before = part
        hankel = hankel * complex(0.0, (4 * v * v - (2 * k + 1) ** 2) / (8 * (k + 1)))
        power = power / z
        if size < 1e-18 * abs(total):
            break
    phase = z - (0.5 * v + 0.25) * math.pi
    return -(complex(math.cos(phase), math.sin(phase)) * total).real * math.sqrt(2 / math.pi) * z ** (mu - 0.5)


def _bessel_power(a: Any, l: Any, v: Any) -> Any:
    if math.isnan(a) or math.isnan(l) or math.isnan(v):
        return math.nan
    if v < 0 and v == math.floor(v):
        # J(-n) = (-1)**n J(n)
        v = -v
        sign = 1.0 if v % 2 == 0 else -1.0
    else:
        sign = 1.0
    if a < 0:
        if v != math.floor(v):
            return math.nan
        a = -a
        sign = sign if v % 2 == 0 else -sign
    if a == 0:
        return sign / (l + 1) if v == 0 else 0.0
    if a > 22 and a > 0.6 * v * v + abs(l):
        z = 2 * a
        # DLMF 10.22.43
        whole = 2**l * _gamma(0.5 * (1 + v + l)) * _rgamma(0.5 * (1 + v - l))
        return sign * (whole - _tail(l, v, z)) * z ** (-l - 1)
    t, rest = _square(a, -1.0)
    return sign * 0.5 * a**v * _rgamma(v + 1) * _weighted_sum(1.0, v + 1, 0.5 * (l + v + 1), t, rest)


@special_function("fff ddd")
def besselpoly(a: Any, lmb: Any, nu: Any) -> Any:
    """The integral of x**lmb J_nu(2 a x) from 0 to 1.

    Parameters
    ----------
    a : array_like
        The factor in the argument; below 0 only whole orders have a value.
    lmb, nu : array_like
        The power and the order, for which lmb + nu > -1.

    Examples
    --------
    >>> bc.scipy.special.besselpoly([0.5, 1.0, 30.0], 1.0, 0.0)
    array([0.44005059, 0.2883624 , 0.00077664])
    """
    return _bessel_power(a, lmb, nu)


# ---- Wright's function


def _log_term(a: Any, b: Any, l: Any, k: Any) -> Any:
    c = a * k + b
    if c == 0:
        return -math.inf
    return k * l - _gammaln(k + 1.0) - _gammaln(c)


def _log_wright(a: Any, b: Any, x: Any) -> Any:
    """Its series from the largest term on, up and down."""
    if math.isnan(a) or math.isnan(b) or math.isnan(x) or a < 0 or b < 0 or x < 0:
        return math.nan
    if x == 0:
        return -_gammaln(b) if b > 0 else -math.inf
    if math.isinf(a) or math.isinf(b):
        return -math.inf
    if math.isinf(x):
        return math.inf
    if a == 0:
        return x - _gammaln(b) if b > 0 else -math.inf
    l = math.log(x)
    # The largest term is where x = k (a k + b)**a; Newton's method in log(k), which is monotonous.
    s = (l - a * math.log(a)) / (1 + a)
    for _ in range(40):
        k = math.exp(s)
        step = (s + a * math.log(a * k + b + 1e-300) - l) / (1 + a * a * k / (a * k + b + 1e-300))
        s -= step
        if abs(step) < 1e-6:
            break
    peak = min(math.exp(s), 1e300)
    first = peak - peak % 1.0  # as a float: it may be beyond int64
    top = _log_term(a, b, l, first)
    if first > 1e8:
        return top + 0.5 * math.log(2 * math.pi / (1 / first + a * a / (a * first + b)))  # the terms are a normal distribution's
    if top == -math.inf:
        first += 1
        top = _log_term(a, b, l, first)
    if abs(top) > 1e16:
        return top  # the other terms add less than its rounding
    total = 1.0
    for direction in range(2):
        k = first
        while k >= 1 or direction == 0:
            k += 1 if direction == 0 else -1
            part = math.exp(_log_term(a, b, l, k) - top)
            total += part
            if part < 1e-18 * total:
                break
    return top + math.log(total)


@special_function("fff ddd")
def log_wright_bessel(a: Any, b: Any, x: Any) -> Any:
    """The logarithm of Wright's Bessel function, the sum of x**k / (k! gamma(a k + b)), for a, b, x >= 0; also where that overflows.

    The absolute error is that of logarithms of the gamma function at the largest term, 1e-15 times their size.

    Examples
    --------
    >>> bc.scipy.special.log_wright_bessel(1.0, 2.0, [1.0, 1e8])
    array([4.64134474e-01, 1.99849190e+04])
    """
    return _log_wright(a, b, x)
