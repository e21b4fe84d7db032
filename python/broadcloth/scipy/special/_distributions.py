"""Functions of distributions made of the incomplete beta function and of series: Kolmogorov's, Smirnov's, Owen's T."""

from __future__ import annotations

import math
from typing import Any

from ... import _broadcloth as _c
from ._functions import special_function

__all__ = ["kolmogi", "kolmogorov", "owens_t", "smirnov", "smirnovi"]

_erfc, _erf = _c.ufuncs["erfc"], _c.ufuncs["erf"]


@special_function("f d")
def kolmogorov(y: Any) -> Any:
    """The upper tail of Kolmogorov's distribution, the limit of sqrt(n) times the statistic of the two-sided test.

    Examples
    --------
    >>> bc.scipy.special.kolmogorov([0.5, 1.0, 2.0])
    array([9.63945244e-01, 2.69999672e-01, 6.70925256e-04])
    """
    return _kolmogorov(y)


def _kolmogorov(y: Any) -> Any:
    if math.isnan(y):
        return math.nan
    if y <= 0.04:  # the distribution function is below the smallest number
        return 1.0
    if y < 0.82:
        # The theta function's transform converges fast for small y.
        q = math.exp(-(math.pi**2) / (8 * y * y))
        return 1 - math.sqrt(2 * math.pi) / y * q * (1 + q**8 * (1 + q**16 * (1 + q**24)))
    q = math.exp(-2 * y * y)
    return 2 * q * (1 - q**3 * (1 - q**5 * (1 - q**7 * (1 - q**9))))


def _kolmogorov_density(y: Any) -> Any:
    """Minus the derivative of the upper tail."""
    if y < 0.82:
        c = math.pi**2 / (4 * y * y)
        q = math.exp(-0.5 * c)
        return math.sqrt(2 * math.pi) / (y * y) * q * ((c - 1) + q**8 * ((9 * c - 1) + q**16 * ((25 * c - 1) + q**24 * (49 * c - 1))))
    q = math.exp(-2 * y * y)
    return 8 * y * q * (1 - q**3 * (4 - q**5 * (9 - q**7 * (16 - q**9 * 25))))


@special_function("f d")
def kolmogi(p: Any) -> Any:
    """The inverse of kolmogorov.

    Examples
    --------
    >>> bc.scipy.special.kolmogi([0.05, 0.5])
    array([1.35809864, 0.82757356])
    """
    if not 0 <= p <= 1:
        return math.nan
    if p == 0 or p == 1:
        return math.inf if p == 0 else 0.0
    low = 0.04
    high = math.sqrt(0.5 * math.log(2 / p)) + 1e-9  # the first term of the alternating series is above the tail
    y = 0.8 if p > 0.5 else high
    for _ in range(100):
        tail = _kolmogorov(y)
        if tail > p:
            low = y
        else:
            high = y
        # Newton's method, of the logarithms where the tail is small
        step = (tail - p if p > 0.5 else tail * math.log(tail / p)) / _kolmogorov_density(y)
        if abs(step) <= 2e-16 * y:
            break
        y = y + step if low < y + step < high else 0.5 * (low + high)
    return y


def _binomial_rest(n: Any) -> Any:
    """log(n!) less Stirling's formula."""
    if n < 16:
        return math.lgamma(n + 1) - (n + 0.5) * math.log(n) + n - 0.9189385332046728 if n > 0 else 0.0
    u = 1 / (n * n)
    return (1 / 12 - u * (1 / 360 - u * (1 / 1260 - u * (1 / 1680 - u / 1188)))) / n


def _deviance(x: Any, mean: Any) -> Any:
    """x log(x / mean) + mean - x"""
    difference = x - mean
    total = x + mean
    if abs(difference) < 0.1 * total:
        u = difference / total
        value = difference * u
        term = 2 * x * u
        for k in range(1, 20):
            term *= u * u
            value += term / (2 * k + 1)
        return value
    return x * math.log(x / mean) - difference


def _smirnov(n: Any, d: Any) -> Any:
    """Birnbaum and Tingey's sum (1951) over v of d / (d + v / n) times the binomial probability of v where that of one is d + v / n, by
    Loader's form of it (2000). All terms are positive."""
    if math.isnan(d) or not n > 0 or n != math.floor(n) or d < 0 or d > 1:
        return math.nan
    if d == 0 or d == 1:
        return 1.0 if d == 0 else 0.0
    total = (1 - d) ** n if n < 1000 else math.exp(n * math.log1p(-d))
    top = _binomial_rest(n)
    v = 1.0
    largest = 0.0
    while v < n and d + v / n < 1:
        p = d + v / n
        rest = n - v
        q = rest / n - d
        power = _deviance(v, n * p) + _deviance(rest, n * q) - top + _binomial_rest(v) + _binomial_rest(rest)
        term = d / p * math.sqrt(n / (2 * math.pi * v * rest)) * math.exp(-power)
        total += term
        largest = max(largest, term)
        if term < 1e-19 * total and term < largest * 1e-6:
            break
        v += 1
    return min(total, 1.0)


@special_function("ff dd")
def smirnov(n: Any, d: Any) -> Any:
    """The upper tail of the one-sided statistic of Kolmogorov and Smirnov: the probability that it is at least d for n numbers.

    Examples
    --------
    >>> bc.scipy.special.smirnov(10, [0.1, 0.3, 0.5])
    array([0.76420523, 0.13546356, 0.0038887 ])
    """
    return _smirnov(n, d)


@special_function("ff dd")
def smirnovi(n: Any, p: Any) -> Any:
    """The inverse of smirnov in d.

    Examples
    --------
    >>> bc.scipy.special.smirnovi(10, [0.05, 0.5])
    array([0.36866333, 0.17157867])
    """
    if not 0 <= p <= 1 or not n > 0 or n != math.floor(n):
        return math.nan
    if p == 0 or p == 1:
        return 1.0 - p
    low = 0.0
    high = 1.0
    # The first term of the sum is a lower bound of the tail; exp(-2 n d**2) is near it for many numbers.
    d = min(max(math.sqrt(-math.log(p) / (2 * n)), -math.expm1(math.log(p) / n)), 0.999)
    h = 0.0
    for _ in range(200):
        tail = _smirnov(n, d)
        if tail > p:
            low = d
        else:
            high = d
        h = 1e-6 * min(d, 1 - d)
        slope = (_smirnov(n, d + h) - _smirnov(n, d - h)) / (2 * h)
        step = -(tail - p) / slope if p > 0.5 else -tail * math.log(tail / p) / slope if tail > 0 and slope < 0 else math.inf
        following = d + step
        if not low < following < high:
            following = 0.5 * (low + high)
        change = abs(following - d)
        d = following
        if change <= 2e-16 * d:
            break
    return d


# The positive nodes of roots_legendre(40), enough for exp(-t**2 / 2) to t = 9, and their weights.
_NODES = (
    0.03877241750605082, 0.11608407067525521, 0.1926975807013711, 0.2681521850072537, 0.3419940908257585, 0.413779204371605,
    0.4830758016861787, 0.5494671250951282, 0.6125538896679802, 0.6719566846141796, 0.7273182551899271, 0.7783056514265194,
    0.8246122308333117, 0.8659595032122595, 0.9020988069688743, 0.9328128082786765, 0.9579168192137917, 0.9772599499837743,
    0.990726238699457, 0.9982377097105593,
)  # fmt: skip
_WEIGHTS = (
    0.0775059479784248, 0.07703981816424797, 0.07611036190062624, 0.07472316905796826, 0.07288658239580406, 0.07061164739128678,
    0.0679120458152339, 0.06480401345660104, 0.06130624249292894, 0.05743976909939155, 0.05322784698393682, 0.04869580763507223,
    0.04387090818567327, 0.038782167974472016, 0.033460195282547844, 0.0279370069800234, 0.02224584919416696, 0.01642105838190789,
    0.010498284531152813, 0.004521277098533191,
)  # fmt: skip


@special_function("ff dd")
def owens_t(h: Any, a: Any) -> Any:
    """Owen's T function: the probability that X > h and 0 < Y < a X for independent normal X and Y.

    Examples
    --------
    >>> bc.scipy.special.owens_t([0.5, 1.0], 2.0)
    array([0.1415806 , 0.07846819])
    """
    if math.isnan(h) or math.isnan(a):
        return math.nan
    h = abs(h)
    slope = abs(a)
    if slope <= 1:
        value = _owens_integral(h, slope)
    elif math.isinf(slope):
        value = 0.25 * _erfc(h / math.sqrt(2.0))
    else:
        # Owen (1956): T(h, a) + T(a h, 1 / a) in terms of the normal distribution.
        ah = slope * h
        other = _owens_integral(ah, 1 / slope)
        if h <= 0.67:
            value = 0.25 * (1 - _erf(h / math.sqrt(2.0)) * _erf(ah / math.sqrt(2.0))) - other
        else:
            p = 0.5 * _erfc(h / math.sqrt(2.0))
            q = 0.5 * _erfc(ah / math.sqrt(2.0))
            value = 0.5 * (p + q) - p * q - other
    return -value if a < 0 else value


def _owens_integral(h: Any, a: Any) -> Any:
    """The integral of exp(-h**2 (1 + x**2) / 2) / (1 + x**2) / (2 pi) from 0 to a <= 1, by Gauss's quadrature where it counts."""
    if math.isinf(h):
        return 0.0
    end = min(a, 9.0 / h) if h > 0 else a
    total = 0.0
    for i in range(len(_NODES)):
        for sign in (-1, 1):
            x = 0.5 * end * (1 + sign * _NODES[i])
            total += _WEIGHTS[i] * math.exp(-0.5 * (h * x) ** 2) / (1 + x * x)
    return 0.5 * end * total * math.exp(-0.5 * h * h) / (2 * math.pi)
