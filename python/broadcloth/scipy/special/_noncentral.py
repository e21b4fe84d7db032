"""Distribution functions of the noncentral distributions: chi-square, F and Student's t; and Tukey's lambda distribution.

A noncentral distribution is a mixture of central ones with Poisson weights. The sums start beyond their largest term and go down, where the
incomplete gamma and beta functions follow from each other by additions of positive terms (Benton & Krishnamoorthy 2003, "Computing discrete
mixtures of continuous distributions").
"""

from __future__ import annotations

import math
from typing import Any

from ... import _broadcloth as _c
from ._distributions import _binomial_rest, _deviance
from ._functions import special_function

__all__ = ["chndtr", "ncfdtr", "nctdtr", "tklmbda"]

_NAMES = ["gammainc", "gammaincc", "betainc", "betaincc", "ndtr", "expit", "erfcx"]
_gammainc, _gammaincc, _betainc, _betaincc, _ndtr, _expit, _erfcx = (_c.ufuncs[name] for name in _NAMES)


_LONGEST = 1e10  # the largest mean of Poisson weights that are summed; the sum takes about 20 square roots of it


def _log_poisson(j: Any, mean: Any) -> Any:
    """The logarithm of mean**j exp(-mean) / j!."""
    if j < 1:
        return j * math.log(mean) - mean - math.lgamma(j + 1)
    return -_binomial_rest(j) - _deviance(j, mean) - 0.5 * math.log(2 * math.pi * j)


def _poisson(j: Any, mean: Any) -> Any:
    if mean == 0:
        return 1.0 if j == 0 else 0.0
    return math.exp(_log_poisson(j, mean))


def _last_term(centre: Any) -> Any:
    """A place beyond which terms of a Poisson mixture whose largest one is near `centre` no longer count."""
    return math.floor(centre + 12 * math.sqrt(centre + 4) + 40)


def _last_falling(centre: Any) -> Any:
    """The same for products with numbers that fall, whose share of the sum is at most that of the weights."""
    return math.floor(centre + 9 * math.sqrt(centre) + 20)


_LOWEST = -600.0  # the logarithm of numbers that are safe from underflow


def _log_beta_term(a: Any, b: Any, y: Any, rest: Any) -> Any:
    """The logarithm of betainc(a, b, y) - betainc(a + 1, b, y), where rest = 1 - y and a > 0."""
    if y == 0 or rest == 0:
        return -math.inf
    n = a + b
    apart = _binomial_rest(n) - _binomial_rest(a) - _binomial_rest(b)
    return apart - _deviance(a, n * y) - _deviance(b, n * rest) + 0.5 * math.log(b / (2 * math.pi * a * n))


def _scaled(total: Any, log: Any) -> Any:
    half = math.exp(0.5 * log)  # of which the square may underflow though the product does not
    return total * half * half


def _log_term(a: Any, b: Any, y: Any, rest: Any) -> Any:
    """The logarithm of the difference between the functions of a and of a + 1: of betainc(a, b, y), or of gammainc(a, y) where b = inf."""
    return _log_poisson(a, y) if math.isinf(b) else _log_beta_term(a, b, y, rest)


def _ratio(a: Any, b: Any, y: Any) -> Any:
    """The quotient of the differences at a and at a - 1."""
    return y / a if math.isinf(b) else (a + b - 1) * y / a


def _log_product(j: Any, half: Any, a: Any, b: Any, y: Any, rest: Any) -> Any:
    """The logarithm of a Poisson weight times the function of a + j, near enough."""
    return _log_poisson(j, half) + (_log_term(a + j, b, y, rest) if _ratio(a + j, b, y) < 1 else 0.0)


def _first_place(half: Any, a: Any, b: Any, y: Any, rest: Any) -> Any:
    """Where the sum over Poisson weights starts, which goes down: where the weights end, or the products if one of their factors is too
    small there for a recurrence; -1 if the sum underflows."""
    top = _last_falling(half)
    if _log_poisson(top, half) > _LOWEST and (_ratio(a + top, b, y) >= 1 or _log_term(a + top, b, y, rest) > _LOWEST):
        return top
    low = 0.0
    high = top
    while high - low > 1:  # the largest product
        middle = math.floor(0.5 * (low + high))
        if half / middle * min(_ratio(a + middle, b, y), 1.0) >= 1:
            low = middle
        else:
            high = middle
    least = _log_product(low, half, a, b, y, rest) - 60
    if least < -810:
        return -1.0
    high = top + 1
    while high - low > 1:
        middle = math.floor(0.5 * (low + high))
        if _log_product(middle, half, a, b, y, rest) >= least:
            low = middle
        else:
            high = middle
    return low


def _over_term(a: Any, b: Any, y: Any) -> Any:
    """The function of a over its difference, where the differences fall."""
    total = 1.0
    term = 1.0
    while term > 1e-17 * total:
        a += 1
        term *= _ratio(a, b, y)
        total += term
    return total


def _at_start(a: Any, b: Any, y: Any, rest: Any) -> Any:
    """The function of a, its difference, and the logarithm of their scale: they neither underflow nor overflow on the way down."""
    log = _log_term(a, b, y, rest)
    if log < _LOWEST and _ratio(a + 1, b, y) < 0.99:
        return 1e-100 * _over_term(a, b, y), 1e-100, log + 100 * math.log(10.0)
    return _gammainc(a, y) if math.isinf(b) else _betainc(a, b, y), math.exp(log), 0.0


def _chndtr_of_large(x: Any, df: Any, nc: Any) -> Any:
    """The saddle point's approximation (Lugannani & Rice 1980), whose relative error is a small part of 1 / nc. v = 1 / (1 - 2 t) at the
    saddle point t solves nc v**2 + df v = x."""
    v = 2 * x / (df + math.hypot(df, 2 * math.sqrt(nc) * math.sqrt(x)))
    u = (x - nc - df) / (nc * (v + 1) + df)
    curved = u - math.log1p(u) if abs(u) > 1e-3 else u * u * (1 / 2 - u * (1 / 3 - u * (1 / 4 - u * (1 / 5 - u / 6))))
    w = math.copysign(math.sqrt(nc * u * u + df * curved), u)
    density = math.exp(-0.5 * w * w) / math.sqrt(2 * math.pi)
    if abs(w) < 1e-3:
        correction = (2 / 3) * ((df + 3 * nc) / (df + 2 * nc)) / math.sqrt(2 * (df + 2 * nc))
    else:
        correction = 1 / w - 1 / (u * math.sqrt(nc * v + 0.5 * df))
    return min(max(_ndtr(w) + density * correction, 0.0), 1.0)


def _chndtr(x: Any, df: Any, nc: Any) -> Any:
    if not (x >= 0 and df > 0 and nc >= 0):
        return math.nan
    if math.isinf(nc):
        return math.nan if math.isinf(x) else 0.0
    if x == 0 or math.isinf(x):
        return 0.0 if x == 0 else 1.0
    half = 0.5 * nc
    y = 0.5 * x
    if nc == 0:
        return _gammainc(0.5 * df, y)
    if nc > 1e10:
        return _chndtr_of_large(x, df, nc)
    j = _first_place(half, 0.5 * df, math.inf, y, 0.0)
    if j < 0:
        return 0.0
    a = 0.5 * df + j
    inside, term, scale = _at_start(a, math.inf, y, 0.0)
    limit = math.exp(-scale)
    scale += _log_poisson(j, half)
    weight = 1.0
    total = 0.0
    while True:
        part = weight * inside
        total += part
        if j == 0 or (j < half and part <= 1e-18 * total):
            break
        weight *= j / half
        term *= a / y
        inside = min(inside + term, limit)
        a -= 1
        j -= 1
    return min(_scaled(total, scale), 1.0)


@special_function("fff ddd")
def chndtr(x: Any, df: Any, nc: Any) -> Any:
    """The distribution function of the noncentral chi-square distribution with df > 0 degrees of freedom and noncentrality nc >= 0.

    Examples
    --------
    >>> bc.scipy.special.chndtr([1.0, 5.0, 20.0], 3.0, 2.0)
    array([0.08787311, 0.59340518, 0.99625611])
    """
    return _chndtr(x, df, nc)


def _beta_complement(a: Any, b: Any, y: Any, rest: Any) -> Any:
    """1 - betainc(a, b, y), of the one of y and 1 - y that has all digits."""
    return _betainc(b, a, rest) if rest < 0.5 else _betaincc(a, b, y)


def _ncf_tail(half: Any, a: Any, b: Any, y: Any, rest: Any) -> Any:
    """The sum over j of Poisson weights times 1 - betainc(a + j, b, y), which grow with j: it goes up."""
    j = max(0.0, math.floor(half - 12 * math.sqrt(half + 4) - 40))
    last = _last_term(half)
    weight = _poisson(j, half)
    a += j
    term = math.exp(_log_beta_term(a, b, y, rest))
    outside = _beta_complement(a, b, y, rest)
    total = 0.0
    while j <= last:
        total += weight * outside
        outside = min(outside + term, 1.0)
        term *= (a + b) * y / (a + 1)
        j += 1
        a += 1
        weight *= half / j
    return total


def _ncfdtr(dfn: Any, dfd: Any, nc: Any, f: Any) -> Any:
    if not (dfn > 0 and dfd > 0 and nc >= 0 and f >= 0) or math.isinf(nc):
        return math.nan
    if f == 0 or math.isinf(f):
        return 0.0 if f == 0 else 1.0
    total_df = dfn * f + dfd
    y = dfn * f / total_df
    rest = dfd / total_df
    b = 0.5 * dfd
    half = 0.5 * nc
    if nc == 0 or y == 0:
        return _betainc(0.5 * dfn, b, y)
    if half > _LONGEST:
        return math.nan
    if rest < 0.01:
        tail = _ncf_tail(half, 0.5 * dfn, b, y, rest)
        if 1 - tail > rest or rest < 1e-13:
            return max(1 - tail, 0.0)  # y would lose the digits of rest
    j = _first_place(half, 0.5 * dfn, b, y, rest)
    if j < 0:
        return 0.0
    a = 0.5 * dfn + j
    inside, term, scale = _at_start(a, b, y, rest)
    limit = math.exp(-scale)
    scale += _log_poisson(j, half)
    weight = 1.0
    total = 0.0
    while True:
        part = weight * inside
        total += part
        if j == 0 or (j < half and part <= 1e-18 * total):
            break
        weight *= j / half
        term *= a / ((a + b - 1) * y)
        inside = min(inside + term, limit)
        a -= 1
        j -= 1
    return min(_scaled(total, scale), 1.0)


@special_function("ffff dddd")
def ncfdtr(dfn: Any, dfd: Any, nc: Any, f: Any) -> Any:
    """The distribution function of the noncentral F distribution with dfn and dfd degrees of freedom and noncentrality nc >= 0.

    Examples
    --------
    >>> bc.scipy.special.ncfdtr(2.0, 3.0, 1.5, [0.5, 2.0, 100.0])
    array([0.20782352, 0.55753889, 0.99604765])
    """
    return _ncfdtr(dfn, dfd, nc, f)


def _nct_sums(shift: Any, b: Any, y: Any, rest: Any) -> Any:
    """Lenth's sum (1989, "Algorithm AS 243") over j of Poisson weights times betainc(j + 1 / 2, b, y), and of other weights, which have the
    sign of `shift`, times betainc(j + 1, b, y)."""
    half = 0.5 * shift * shift
    j = _first_place(half, 1.0, b, y, rest)
    if j < 0:
        return 0.0
    a = j + 0.5
    first, first_term, scale = _at_start(a, b, y, rest)
    second, second_term, second_scale = _at_start(a + 0.5, b, y, rest)
    first_limit = math.exp(-scale)
    second_limit = math.exp(-second_scale)
    # Relative to the first weight and the first scale
    log = _log_poisson(j, half)
    weight = 1.0
    other = math.copysign(math.exp(_log_poisson(j + 0.5, half) - log + second_scale - scale), shift)
    total = 0.0
    size = 0.0
    while True:
        total += weight * first + other * second
        part = weight * first + abs(other) * second
        size += part
        if j == 0 or (j < half and part <= 1e-18 * size):
            return _scaled(total, log + scale)
        weight *= j / half
        other *= (j + 0.5) / half
        first_term *= a / ((a + b - 1) * y)
        second_term *= (a + 0.5) / ((a + b - 0.5) * y)
        first = min(first + first_term, first_limit)
        second = min(second + second_term, second_limit)
        a -= 1
        j -= 1


def _nct_complements(shift: Any, b: Any, y: Any, rest: Any) -> Any:
    """The same sum of the complements 1 - betainc, which grow with j: it goes up. And the sum of the terms' sizes."""
    half = 0.5 * shift * shift
    j = max(0.0, math.floor(half - 12 * math.sqrt(half + 4) - 40))
    last = _last_term(half)
    weight = _poisson(j, half)
    other = math.copysign(math.exp(_log_poisson(j + 0.5, half)), shift)
    a = j + 0.5
    first_term = math.exp(_log_beta_term(a, b, y, rest))
    second_term = math.exp(_log_beta_term(a + 0.5, b, y, rest))
    first = _beta_complement(a, b, y, rest)
    second = _beta_complement(a + 0.5, b, y, rest)
    total = 0.0
    size = 0.0
    while j <= last:
        total += weight * first + other * second
        size += weight * first + abs(other) * second
        first = min(first + first_term, 1.0)
        second = min(second + second_term, 1.0)
        first_term *= (a + b) * y / (a + 1)
        second_term *= (a + b + 0.5) * y / (a + 1.5)
        j += 1
        a += 1
        weight *= half / j
        other *= half / (j + 0.5)
        if j > 2 * half and weight + abs(other) < 1e-18 * abs(total):
            break  # the weights halve at least, and the complements are at most 1
    return total, size


def _above_line(x: Any, power: Any) -> Any:
    """exp(2 x) - 1 - 2 x of `power` = exp(x), near 0 by its series."""
    v = 2 * x
    if abs(v) > 0.3:
        return power * power - 1 - v
    total = 1.0
    for k in range(14, 2, -1):
        total = 1 + total * v / k
    return 0.5 * v * v * total


def _nct_centre(b: Any, nc: Any, size: Any) -> Any:
    """Where the logarithm of the integrand of `_nct_opposite`, which is concave, is greatest, nearly, and its curvature there."""
    x = math.log(4 * b / (size * nc + math.hypot(size * nc, math.sqrt(8 * b) * math.hypot(math.sqrt(2 * b), size))))
    curvature = 0.0
    for _ in range(3):
        power = math.exp(x)
        step = size * power
        square = 2 * b * power * power
        z = nc + step
        hazard = math.sqrt(2 / math.pi) / _erfcx(z / math.sqrt(2))
        curvature = 2 * square + step * hazard + step * step * hazard * (hazard - z)
        x += (2 * b - square - step * hazard) / curvature
    return x, curvature


def _nct_step(curvature: Any) -> Any:
    """The step of the trapezoidal rule for exp(-c (exp(2 x) - 2 x)), whose curvature is 4 c at 0: y beside the real axis its integral grows
    by cos(2 y)**-c, against exp(2 pi y / step). At the best y, where tan(2 y) = q, both are exp(-c (q arctan(q) - log(1 + q**2) / 2))."""
    c = 0.25 * curvature
    wanted = 39 / c
    q = math.sqrt(2 * wanted) + wanted
    for _ in range(5):
        q -= (q * math.atan(q) - 0.5 * math.log1p(q * q) - wanted) / math.atan(q)
    return math.pi / (c * q)


def _nct_half(b: Any, nc: Any, size: Any, x: Any, step: Any) -> Any:
    """The sum of the integrand from x on in steps of one direction."""
    total = 0.0
    while True:
        power = math.exp(x)
        below = power * size
        part = math.exp(-b * _above_line(x, power)) * _ndtr(-nc - below)
        total += part
        if part <= 1e-18 * total:
            return total
        if step < 0 and below * (nc + 1) < 1e-18 and b * power * power < 1e-18:
            return total + part / math.expm1(-2 * b * step)  # only exp(2 b x) is left
        x += step


def _nct_opposite(b: Any, nc: Any, size: Any) -> Any:
    """P(T < -size) for nc > 0, the tail on the other side, where the sums above cancel: the mean of ndtr(-nc - size S) over the chi
    distribution of S, by the trapezoidal rule in x = log(S), in which the integrand is analytic (Trefethen & Weideman 2014)."""
    x, curvature = _nct_centre(b, nc, size)
    step = _nct_step(curvature)
    total = _nct_half(b, nc, size, x, step) + _nct_half(b, nc, size, x - step, -step)
    if b < 1:
        factor = 2 * math.exp(b * math.log(b) - b - math.lgamma(b))
    else:
        factor = math.sqrt(2 * b / math.pi) * math.exp(-_binomial_rest(b))
    return factor * step * total


def _nct_tail(nc: Any, b: Any, y: Any, rest: Any, size: Any) -> Any:
    """P(T < -size) for nc > 0."""
    if nc < 1.5:
        total, terms = _nct_complements(-nc, b, y, rest)
        if total > 0.03 * terms:
            return 0.5 * total
    return _nct_opposite(b, nc, size)


def _nct_far(b: Any, nc: Any, t: Any) -> Any:
    """P(T < t) where nc and t have one sign, |t| > 1e150 and |nc| > 1e5: of the normal numerator only its mean and its variance count."""
    quotient = nc / t
    log = math.log(b) + 2 * math.log(quotient)
    spread = 1 + b * (2 * b - 1) / nc / nc
    if log < -600:  # the square has no number
        log = b * log - math.lgamma(b + 1)
        return -math.expm1(log) if t > 0 else spread * math.exp(log)
    square = b * quotient * quotient
    return _gammaincc(b, square) if t > 0 else min(spread * _gammainc(b, square), 1.0)


def _nctdtr(df: Any, nc: Any, t: Any) -> Any:
    if not df > 0 or math.isnan(nc) or math.isnan(t) or math.isinf(nc):
        return math.nan
    if math.isinf(t):
        return 1.0 if t > 0 else 0.0
    if math.isinf(df):
        return _ndtr(t - nc)
    if df < 1e-20:
        return _ndtr(-nc)  # nearly all of the rest lies beyond any t
    b = 0.5 * df
    y = 1.0
    rest = df / abs(t) / abs(t) if t != 0 else 0.0
    if abs(t) < 1e150:  # else the square may have no number
        square = t * t
        y = square / (square + df)
        rest = df / (square + df)
    if y == 0:
        return _ndtr(-nc)
    size = abs(t)
    scale = 0.0  # the logarithm of what the tail is multiplied by
    if rest < 1e-300:
        # The tail is a power of `rest`, which may have no number of its own: it is computed nearer to 0, where it has one.
        scale = b * (math.log(df) - 2 * math.log(size) + 290 * math.log(10))
        rest = 1e-290
        size = math.sqrt(df) * 1e145
    if nc * nc < 1e-290:
        tail = 0.5 * _scaled(_beta_complement(0.5, b, y, rest), scale)
        return 1 - tail if t > 0 else tail
    if t > 0 and -4 < nc < 0:
        # Beside 1 the terms, which are at most 1, may cancel.
        return 1 - max(0.5 * _scaled(_nct_complements(nc, b, y, rest)[0], scale), 0.0)
    if nc * t < 0:
        tail = _scaled(_nct_tail(abs(nc), b, y, rest, size), scale)
        return tail if t < 0 else 1 - tail
    if 0.5 * nc * nc > _LONGEST:
        return math.nan if scale == 0 else _nct_far(b, nc, t)
    if t < 0 or rest < 0.01:
        tail = 0.5 * _scaled(_nct_complements(abs(nc), b, y, rest)[0], scale)
        if t < 0:
            return tail
        if 1 - tail > rest or rest < 1e-13:
            return max(1 - tail, 0.0)  # y would lose the digits of rest
    return min(_ndtr(-nc) + 0.5 * _nct_sums(nc, b, y, rest), 1.0)


@special_function("fff ddd")
def nctdtr(df: Any, nc: Any, t: Any) -> Any:
    """The distribution function of the noncentral t distribution with df > 0 degrees of freedom and noncentrality nc.

    Examples
    --------
    >>> bc.scipy.special.nctdtr(3.0, 1.0, [-2.0, 0.0, 2.0])
    array([0.0099685 , 0.15865525, 0.74362987])
    """
    return _nctdtr(df, nc, t)


@special_function("ff dd")
def tklmbda(x: Any, lmbda: Any) -> Any:
    """The distribution function of Tukey's lambda distribution, whose quantiles are (p**lmbda - (1 - p)**lmbda) / lmbda.

    Examples
    --------
    >>> bc.scipy.special.tklmbda([-1.0, 0.0, 1.0], 0.5)
    array([0.16928109, 0.5       , 0.83071891])
    """
    if math.isnan(x) or math.isnan(lmbda):
        return math.nan
    if lmbda > 0 and abs(x) >= 1 / lmbda:
        return 1.0 if x > 0 else 0.0
    if lmbda == 0:
        return _expit(x)
    if x == 0:
        return 0.5
    # The smaller tail q by Newton's method on its logarithm, between bounds that start where the exponent ends: near 0 it keeps its digits.
    size = abs(x)
    low = 0.0
    high = 0.5
    q = _expit(-size)
    if lmbda < 0:
        q = max(q, (2**-lmbda - lmbda * size) ** (1 / lmbda))  # where the other tail's power, at most that of 1/2, is left out
    if lmbda > 0:
        q = min(q, 0.5 * (1 - lmbda * size) ** (1 / lmbda))
    if q == 0:
        return 1.0 if x > 0 else 0.0  # the tail is below the least number
    for _ in range(1100):
        p = 1 - q
        if abs(lmbda) < 0.1:
            upper = math.expm1(lmbda * math.log1p(-q))
            lower = math.expm1(lmbda * math.log(q))
            apart = (upper - lower) / lmbda - size
            upper += 1
            lower += 1
        else:
            upper = p**lmbda
            lower = q**lmbda
            apart = (upper - lower) / lmbda - size
        if apart > 0:
            low = q
        else:
            high = q
        step = apart * q * p / (upper * q + lower * p)
        following = q * math.exp(step / q) if abs(step) < 8 * q else 0.0
        if abs(step) <= 1e-9 * q:
            q += step
            break
        if not low < following < high:
            following = math.sqrt(low * high) if low > 0 and high > 4 * low else 0.5 * (low + high)
        if following <= low or following >= high:
            break
        q = following
    return 1 - q if x > 0 else q
