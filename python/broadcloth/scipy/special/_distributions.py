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
    return _kolmogorov_both(y)[0]


def _kolmogorov_both(y: Any) -> Any:
    """The upper tail, the distribution function, and its derivative."""
    if y <= 0.04:  # the distribution function is below the smallest number
        return 1.0, 0.0, 0.0
    if y < 0.82:
        # The theta function's transform converges fast for small y.
        c = math.pi**2 / (4 * y * y)
        q = math.exp(-0.5 * c)
        q8 = (q * q) * (q * q) * (q * q) * (q * q)
        q16 = q8 * q8
        q24 = q16 * q8
        scale = math.sqrt(2 * math.pi) / y * q
        density = scale / y * ((c - 1) + q8 * ((9 * c - 1) + q16 * ((25 * c - 1) + q24 * (49 * c - 1))))
        value = scale * (1 + q8 * (1 + q16 * (1 + q24)))
        return 1 - value, value, density
    q = math.exp(-2 * y * y)
    q2 = q * q
    q3 = q2 * q
    q5 = q3 * q2
    q7 = q5 * q2
    q9 = q7 * q2
    tail = 2 * q * (1 - q3 * (1 - q5 * (1 - q7 * (1 - q9))))
    return tail, 1 - tail, 8 * y * q * (1 - q3 * (4 - q5 * (9 - q7 * (16 - q9 * 25))))


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
    if p > 0.5:
        # s = 1 / y**2 from the logarithm of the theta function's first terms
        wanted = math.log(math.sqrt(2 * math.pi) / (1 - p))
        s = max(1.4, 0.9 * wanted)
        for _ in range(3):
            s -= (math.pi**2 / 8 * s - 0.5 * math.log(s) - math.exp(-(math.pi**2) * s) - wanted) / (math.pi**2 / 8 - 0.5 / s)
        y = 1 / math.sqrt(s)
    else:
        # q = exp(-2 y**2) from p / 2 = q - q**4 + q**9
        q = 0.5 * p
        for _ in range(4):
            q4 = (q * q) * (q * q)
            q -= (q - q4 + q4 * q4 * q - 0.5 * p) / (1 - 4 * q4 / q)
        y = math.sqrt(-0.5 * math.log(q))
    for _ in range(100):
        tail, value, density = _kolmogorov_both(y)
        is_left = value < 1 - p if p > 0.5 else tail > p
        if is_left:
            low = y
        else:
            high = y
        # Newton's method of the logarithm of the smaller part
        step = (value * math.log((1 - p) / value) if p > 0.5 else tail * math.log(tail / p)) / density if density > 0 else math.inf
        if abs(step) <= 1e-9 * y:
            return y + step  # the next one would be of its square's size
        y = y + step if low < y + step < high else 0.5 * (low + high)
    return y


def _binomial_rest(n: Any) -> Any:
    """log(n!) less Stirling's formula."""
    if n < 16:
        return math.lgamma(n + 1) - (n + 0.5) * math.log(n) + n - 0.9189385332046728 if n > 0 else 0.0
    u = 1 / (n * n)
    return (1 / 12 - u * (1 / 360 - u * (1 / 1260 - u * (1 / 1680 - u / 1188)))) / n


def _deviance(x: Any, mean: Any) -> Any:
    """x log(x / mean) + mean - x without the cancellation near x = mean (Loader 2000, "Fast and accurate computation of binomial
    probabilities")."""
    if abs(x - mean) >= 0.3 * (x + mean):
        return x * math.log(x / mean) + mean - x
    v = (x - mean) / (x + mean)
    total = (x - mean) * v
    power = 2 * x * v
    for k in range(3, 40, 2):
        power *= v * v
        before = total
        total += power / k
        if total == before:
            break
    return total


def _smirnov(n: Any, d: Any) -> Any:
    return _smirnov_both(n, d)[0]


def _smirnov_both(n: Any, d: Any) -> Any:
    """The upper tail and its derivative by d.

    Birnbaum and Tingey's sum (1951) over v of d / (d + v / n) times the binomial probability of v where that of one is d + v / n, by
    Loader's form of it (2000). All terms are positive.
    """
    n = math.floor(n)
    if math.isnan(d) or not n > 0 or d < 0 or d > 1:
        return math.nan, math.nan
    if d == 0 or d == 1:
        return 1.0 if d == 0 else 0.0, math.nan
    if n * d <= 1:
        power = math.exp((n - 1) * math.log1p(d))
        return 1 - d * power, -power * (1 + n * d) / (1 + d)
    if 2 * n * d * d > 750 or n > 1e6:
        # It is at most exp(-2 n d**2) (Massart 1990), and near this (Maag & Dicaire 1971) for many numbers.
        tail = math.exp(-((6 * n * d + 1) ** 2) / (18 * n))
        return tail, -tail * (2 / 3) * (6 * n * d + 1)
    total = (1 - d) ** n if n < 1000 else math.exp(n * math.log1p(-d))
    slope = -n / (1 - d) * total
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
        slope += term * (1 / d + (v - 1) / p - rest / q)
        largest = max(largest, term)
        if term < 1e-19 * total and term < largest * 1e-6:
            break
        v += 1
    return min(total, 1.0), slope


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
    n = math.floor(n)
    if not 0 <= p <= 1 or not n > 0:
        return math.nan
    if p == 0 or p == 1:
        return 1.0 - p
    most = math.exp((n - 1) * math.log1p(1 / n))
    if (1 - p) * n <= most:
        # Up to d = 1 / n the complement is d (1 + d)**(n - 1).
        d = (1 - p) / most
        for _ in range(60):
            power = math.exp((n - 1) * math.log1p(d))
            step = ((1 - p) - d * power) / (power * (1 + n * d) / (1 + d))
            d += step
            if abs(step) <= 2e-16 * d:
                break
        return d
    low = 0.0
    high = 1.0
    # The first term of the sum is a lower bound of the tail; exp(-2 n d**2) is near it for many numbers.
    d = min(max(math.sqrt(-math.log(p) / (2 * n)) - 1 / (6 * n), -math.expm1(math.log(p) / n)), 0.999)
    for _ in range(200):
        tail, slope = _smirnov_both(n, d)
        if tail > p:
            low = d
        else:
            high = d
        step = math.inf
        if tail > 0 and slope < 0:
            step = -(tail - p) / slope if p > 0.5 else -tail * math.log(tail / p) / slope
        following = d + step
        if not low < following < high:
            following = 0.5 * (low + high)
        elif abs(step) <= 1e-9 * min(d, 1 - d):
            return following  # the next step would be of its square's size
        change = abs(following - d)
        d = following
        if change <= 2e-16 * d:
            break
    return d


# The positive nodes of roots_legendre(24), enough for exp(-t**2 / 2) to t = 3, and of roots_legendre(44), enough to t = 9; their weights.
_NEAR_NODES = (
    0.06405689286260563, 0.1911188674736163, 0.3150426796961634, 0.4337935076260451, 0.5454214713888396, 0.6480936519369755,
    0.7401241915785544, 0.820001985973903, 0.8864155270044011, 0.9382745520027328, 0.9747285559713095, 0.9951872199970213,
)  # fmt: skip
_NEAR_WEIGHTS = (
    0.12793819534675216, 0.1258374563468283, 0.12167047292780339, 0.1155056680537256, 0.10744427011596563, 0.09761865210411388,
    0.08619016153195327, 0.0733464814110803, 0.05929858491543678, 0.04427743881741981, 0.028531388628933663, 0.0123412297999872,
)  # fmt: skip
_FAR_NODES = (
    0.035289236964135356, 0.10569190170865325, 0.17556801477551678, 0.24456945692820126, 0.3123524665027858, 0.37857935201470716,
    0.4429201745254115, 0.5050543913882023, 0.5646724531854708, 0.6214773459035758, 0.6751860706661224, 0.725531053660717,
    0.7722614792487559, 0.815144539645135, 0.8539665950047104, 0.8885342382860432, 0.9186752599841758, 0.9442395091181941,
    0.9650996504224931, 0.981151833077914, 0.9923163921385159, 0.9985402006367742,
)  # fmt: skip
_FAR_WEIGHTS = (
    0.07054915778935407, 0.07019768547355822, 0.06949649186157258, 0.06844907026936665, 0.06706063890629366, 0.06533811487918144,
    0.06329007973320386, 0.06092673670156197, 0.05825985987759549, 0.055302735563728056, 0.05207009609170446, 0.048578046448352036,
    0.04484398408197003, 0.04088651231034622, 0.03672534781380887, 0.03238122281206982, 0.02787578282128101, 0.02323148190201921,
    0.01847148173681475, 0.013619586755579985, 0.008700481367524843, 0.0037454048031127776,
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
    # The integrand is even: these are half of a quadrature from -end to end.
    if h * end <= 3:
        for i in range(len(_NEAR_NODES)):
            x = end * _NEAR_NODES[i]
            total += _NEAR_WEIGHTS[i] * math.exp(-0.5 * (h * x) ** 2) / (1 + x * x)
    else:
        for i in range(len(_FAR_NODES)):
            x = end * _FAR_NODES[i]
            total += _FAR_WEIGHTS[i] * math.exp(-0.5 * (h * x) ** 2) / (1 + x * x)
    return end * total * math.exp(-0.5 * h * h) / (2 * math.pi)
