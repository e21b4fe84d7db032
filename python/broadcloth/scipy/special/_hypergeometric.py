"""Hypergeometric functions of real parameters and arguments.

Power series (DLMF 13.2.2, 15.2.1) in double precision, and where their terms cancel once more in numbers of two parts. For 1F1 with
Kummer's transformation (13.2.39) and the expansions for large arguments (13.7.1). For 2F1 with Pfaff's and Euler's (15.8.1), and Taylor
series of the differential equation (15.10.1) on the way to 1. For U its integral (13.4.4) by the trapezoidal rule and the recurrences in
both parameters (13.3.7, 13.3.8)."""

from __future__ import annotations

import math
from typing import Any

from ... import _broadcloth as _c
from ._bessel import _grown
from ._functions import special_function
from ._struve import _two_parted_sum

__all__ = ["hyperu"]

_rgamma, _gamma, _gammaln = _c.ufuncs["rgamma"], _c.ufuncs["gamma"], _c.ufuncs["gammaln"]
_ENOUGH = 1e-14


def _pole(x: Any) -> Any:
    """Tells whether x is 0, -1, -2 ..."""
    return x <= 0 and x == math.floor(x)


def _series(a: Any, a2: Any, b: Any, t: Any) -> Any:
    """The sum of (a)k (a2)k t**k / ((b)k k!), without the second factor where a2 is infinite, and a bound of its error."""
    term = 1.0
    total = 1.0
    largest = 1.0
    bound = math.inf
    second = 1.0
    following = 1.0
    for half in range(750):
        # Two terms with one division, which does not wait for the terms before.
        k = 2.0 * half
        if a2 < math.inf:
            second = a2 + k
            following = second + 1
        above = (a + k) * second * t
        next_above = (a + k + 1) * following * t
        below = (b + k) * (k + 1)
        next_below = (b + k + 1) * (k + 2)
        if above == 0 or next_above == 0:
            if above != 0:
                term *= above / below
                total += term
                largest = max(largest, abs(term))
            bound = largest * (2 + math.sqrt(k)) * 1e-16
            break
        inverse = 1 / (below * next_below)
        middle = term * (above * next_below * inverse)
        term = middle * (next_above * below * inverse)
        total += middle + term
        before = abs(middle)
        size = abs(term)
        largest = max(largest, before, size)
        if size * (k + 1) <= 1e-17 * abs(total) and size <= before and k > -b:
            bound = largest * (2 + math.sqrt(k)) * 1e-16
            break
    if bound > _ENOUGH * abs(total) and largest < 1e290:
        return _two_parted_sum(a, a2, b, 1.0, t, 0.0, 3000)
    return total, bound


def _sure(a: Any, a2: Any, b: Any, t: Any) -> Any:
    """The sum, NaN where it has too few digits."""
    total, bound = _series(a, a2, b, t)
    return total if bound <= 1e-8 * abs(total) else math.nan


# ---- 1F1


def _far_sum(upper: Any, lower: Any, z: Any) -> Any:
    """The sum of (upper)k (lower)k / (k! z**k) as far as its terms fall, and a bound of its error."""
    term = 1.0
    total = 1.0
    largest = 1.0
    for k in range(300):
        following = term * ((upper + k) * (lower + k) / ((k + 1) * z))
        if abs(following) > abs(term) and k > -upper and k > -lower:
            break
        term = following
        total += term
        largest = max(largest, abs(term))
        if abs(term) < 1e-18 * abs(total):
            break
    return total, abs(term) + 1e-16 * largest


def _hyp1f1_far(a: Any, b: Any, x: Any) -> Any:
    """The expansion for large x, and a bound of its error."""
    total, bound = _far_sum(1 - a if x > 0 else a, b - a if x > 0 else a - b + 1, abs(x))
    start = _gamma(b) * _rgamma(a if x > 0 else b - a) * abs(x) ** (a - b if x > 0 else -a)
    value = start * total
    bound = abs(start) * bound
    return _grown(value, x) if x > 0 else value, _grown(bound, x) if x > 0 else bound


def _hyp1f1(a: Any, b: Any, x: Any) -> Any:
    if math.isnan(a) or math.isnan(b) or math.isnan(x) or math.isinf(a) or math.isinf(b):
        return math.nan
    if _pole(b) and not (_pole(a) and a >= b):
        return math.inf
    if x == 0 or a == 0:
        return 1.0
    if math.isinf(x):
        return math.nan if _pole(a) or x < 0 else math.copysign(math.inf, _rgamma(b) * _rgamma(a))
    if a == b and not _pole(a):
        return math.exp(x)
    best = math.nan
    error = math.inf
    if abs(x) > 40 and abs(a) < 60 and abs(b) < 60 and not _pole(a) and not _pole(b - a):
        best, error = _hyp1f1_far(a, b, x)
    # Kummer's transformation first where it makes all terms positive.
    turned = x < 0 and not _pole(a)
    for _ in range(2):
        if error <= _ENOUGH * abs(best) and error < math.inf:
            break
        total, bound = _series(b - a if turned else a, math.inf, b, -x if turned else x)
        scale = math.exp(x) if turned else 1.0
        value = scale * total
        if scale * bound < error or (x > 0 and math.isinf(value)):
            best = value
            error = scale * bound
        if _pole(b):
            break
        turned = not turned
    return best if error <= 1e-8 * abs(best) else math.nan


# ---- 2F1


def _towards_one(a: Any, b: Any, c: Any, q: Any) -> Any:
    """2F1 of 1 - q < 1 by Taylor series from 1/2 on, and a bound of its error."""
    y, bound = _series(a, b, c, 0.5)
    slope, slope_bound = _series(a + 1, b + 1, c + 1, 0.5)
    slope = slope * (a * b / c)
    # Errors grow as the other solution, x**(1 - c), may.
    bound = (bound + abs(a * b / c) * slope_bound) * 2 ** max(0.0, 1 - c)
    here = 0.5  # 1 less the point where the series stands
    while here > q:
        following = max(q, 0.5 * here)
        h = here - following
        x = 1 - here
        before = y
        now = slope * h
        y += now
        steepness = slope
        largest = abs(before)
        for k in range(400):
            # Twice (k + 1) (k + 2) is the power of h that the coefficient lacks.
            scale = h / (x * here * (k + 1) * (k + 2))  # does not wait for the terms before
            after = h * (k + a) * (k + b) * scale * before - (k + 1) * ((here - x) * k + c - (a + b + 1) * x) * scale * now
            y += after
            steepness += (k + 2) * after / h
            largest = max(largest, (k + 2) * abs(after))
            before = now
            now = after
            if abs(now) < 1e-18 * abs(y) and (k + 2) * abs(now) < 1e-18 * abs(steepness * h) and abs(before) < 1e-17 * abs(y):
                break
        slope = steepness
        here = following
        bound += 1e-16 * largest
    return y, bound


def _connected(a: Any, b: Any, c: Any, q: Any) -> Any:
    """2F1 of 1 - q < 1 by two series in q (DLMF 15.8.4), and a bound of its error, which is infinite where c - a - b is nearly whole."""
    s = c - a - b
    y = 0.0
    bound = math.inf
    if abs(s - math.floor(s + 0.5)) > 0.02 and abs(a) < 15 and abs(b) < 15 and abs(c) < 15:
        whole = _rgamma(c)
        there = _rgamma(s)
        first = _rgamma(c - a) * _rgamma(c - b) / (whole * there)
        # gamma(-s) by reflection
        second = -math.pi * there / (s * math.sin(math.pi * (s - 2 * math.floor(0.5 * s))) * whole) * _rgamma(a) * _rgamma(b) * q**s
        u, u_bound = _series(a, b, 1 - s, q)
        v, v_bound = _series(c - a, c - b, 1 + s, q)
        y = first * u + second * v
        bound = abs(first) * (u_bound + 1e-15 * abs(u)) + abs(second) * (v_bound + 1e-15 * abs(v))
    return y, bound


def _inside(a: Any, b: Any, c: Any, x: Any, q: Any) -> Any:
    """2F1 of x in (-1, 1), of which q is 1 - x."""
    s = c - a - b
    scale = 1.0
    positive = a > 0 and b > 0 and c > 0 and 0 <= x <= 0.6  # where no term of the plain series is lost
    if (s < 0 and not positive and not _pole(a) and not _pole(b)) or _pole(c - a) or _pole(c - b):
        a, b = c - a, c - b
        scale = q**s
    # The terms of the series fall as k**(-1 - s) at least.
    if x <= 0.78 or s > 8 or s < -8 or _pole(a) or _pole(b):
        y, bound = _series(a, b, c, x)
        if not bound <= 1e-10 * abs(y) and x <= 0.78:
            # Where its terms cancel, those of Euler's other form may not. The rounding of its parameters may change it by more than that of
            # its terms does, as a sum with others tells.
            e = c - a
            f = c - b
            other, other_bound = _series(e, f, c, x)
            beside, _ = _series(e * (1 + 5e-16), f * (1 - 5e-16), c, x)
            other_bound = max(other_bound, 4 * abs(other - beside))
            if other_bound * abs(y) < bound * abs(other):
                y = other
                bound = other_bound
                scale = q**s if scale == 1 else 1.0
    else:
        y, bound = _connected(a, b, c, q)
        if not bound <= 1e-14 * abs(y):
            y, bound = _towards_one(a, b, c, q)
    return scale * y if bound <= 1e-8 * abs(y) else math.nan


def _polynomial(a: Any, b: Any, c: Any, x: Any) -> Any:
    """2F1 where a or b is -n: by powers of x, of 1 - x or of 1 / x (DLMF 15.8.6, 15.8.7), of which one's terms may cancel least."""
    if _pole(b) and (b > a or not _pole(a)):
        a, b = b, a
    best = math.nan
    error = math.inf
    for way in range(3):
        e = b - c + a + 1 if way == 1 else 1 - b + a if way == 2 else c
        if error <= _ENOUGH * abs(best) or (_pole(e) and e > a and x != 1):
            continue
        scale = 1.0
        if way > 0:
            for k in range(int(-a)):
                scale *= (c - b + k) / (c + k) if way == 1 else (b + k) / (c + k) * -x
        if way == 1 and x == 1:
            return scale
        total, bound = _series(a, 1 - c + a if way == 2 else b, e, 1 - x if way == 1 else 1 / x if way == 2 else x)
        bound = abs(scale) * (bound - a * 2e-16 * abs(total) if way > 0 else bound)
        if bound < error:
            best = scale * total
            error = bound
    return best if error <= 1e-8 * abs(best) else math.nan


def _hyp2f1(a: Any, b: Any, c: Any, x: Any) -> Any:
    if math.isnan(a) or math.isnan(b) or math.isnan(c) or math.isnan(x) or x == -math.inf:
        return math.nan
    if x == 0 or a == 0 or b == 0:
        return 1.0
    finite = _pole(a) or _pole(b)
    if _pole(c) and not (_pole(a) and a >= c) and not (_pole(b) and b >= c):
        return math.inf
    if _pole(c) and a == c and b != c and x < 1:
        # As SciPy has it, the limit for c; b = c gives the polynomial, which is the limit for b.
        return (1 - x) ** -b
    if (a == c or b == c) and not _pole(c) and x <= 1:
        power = -b if a == c else -a
        return (1 - x) ** power if x < 1 else 0.0 if power > 0 else math.inf
    s = c - a - b
    if x > 1 and not finite and (_pole(c - a) or _pole(c - b)):
        # A polynomial by Euler's transformation
        return (1 - x) ** int(s) * _sure(c - a, c - b, c, x) if s == math.floor(s) and abs(s) < 1e9 else math.inf
    if finite and (x >= 0.78 or x < -0.5 or _pole(c)):
        y = _polynomial(a, b, c, x)
        if not math.isnan(y) or x >= 1 or _pole(c):
            return y
    if x > 1:
        return math.inf
    if x == 1:
        if s <= 0:
            return math.inf
        return _gamma(c) * _gamma(s) * _rgamma(c - a) * _rgamma(c - b)
    if x >= -0.5:
        return _inside(a, b, c, x, 1 - x)
    # Pfaff's transformation; the smaller parameter stays if it can.
    if abs(b) < abs(a):
        a, b = b, a
    y = math.nan
    for _ in range(2):
        if math.isnan(y):
            y = (1 - x) ** (-a) * _inside(a, c - b, c, x / (x - 1), 1 / (1 - x))
            a, b = b, a
    return y


# ---- U


def _u_integral(a: Any, b: Any, x: Any) -> Any:
    """U for a >= 1: the trapezoidal rule for log(t), outwards from where the integrand has its maximum."""
    p = b - 1 - x
    root = math.sqrt(p * p + 4 * a * x)
    top = (p + root) / (2 * x) if p > 0 else 2 * a / (root - p)
    rest = b - a - 1
    highest = -x * top + a * math.log(top) + rest * math.log1p(top)
    bend = abs(-x * top + rest * top / (1 + top) ** 2)
    h = min(0.125, 0.4 / math.sqrt(bend + 1e-300))
    total = 1.0
    for side in range(2):
        step = math.exp(h if side == 0 else -h)
        t = top
        for k in range(1, 4000):
            t = t * step
            # The exponent's rise over that at the maximum
            rise = -x * (t - top) + a * (h * k if side == 0 else -h * k) + rest * math.log1p((t - top) / (1 + top))
            term = math.exp(rise)
            total += term
            if term < 1e-18 * total:
                break
    if a < 100 and abs(highest) < 600:
        return h * total * math.exp(highest) * _rgamma(a)
    return h * total * math.exp(highest - _gammaln(a))


def _hyperu(a: Any, b: Any, x: Any) -> Any:
    if not x >= 0 or math.isnan(a) or math.isnan(b) or math.isinf(a) or math.isinf(b):
        return math.nan
    if a == 0:
        return 1.0
    if x == 0 and not (_pole(a) and b >= 1):
        return math.copysign(math.inf, _rgamma(a)) if b >= 1 else _gamma(1 - b) * _rgamma(a - b + 1)
    if x == math.inf:
        return 0.0 if a > 0 else math.inf
    scale = 1.0
    if a < 1 and b < 1:
        # Kummer's transformation (DLMF 13.2.40)
        scale = x ** (1 - b)
        a = a - b + 1
        b = 2 - b
    if _pole(a) and a > -200:
        return scale * _u_polynomial(a, b, x)
    if x > 20:
        # DLMF 13.7.3
        total, error = _far_sum(a, a - b + 1, -x)
        if error <= 1e-15 * abs(total):
            return scale * total * x ** (-a)
    if (x < 4 or abs(a) + b > 25) and b != math.floor(b) and abs(a) < 100 and b < 100:
        now, error = _u_of_two(a, b, x)
        if error <= 1e-14 * abs(now):
            return scale * now
    if a >= 1:
        return scale * _u_integral(a, b, x)
    if a < -1000 or b > 1000:
        return math.nan
    # First for a small b, then upwards, where U grows (DLMF 13.3.8).
    m = max(0.0, math.floor(b) - 1)
    p = b - m
    now = 0.0
    error = 0.0
    below = 0.0
    error_below = 0.0
    for i in range(int(m) + 1):
        if i < 2:
            after, error_after = _u_downwards(a, p + i, x)
        else:
            f = (p + i - 2 + x) / x
            g = (p + i - 2 - a) / x
            after = f * now - g * below
            error_after = abs(f) * error + abs(g) * error_below + 1e-16 * (abs(f * now) + abs(g * below))
        below = now
        error_below = error
        now = after
        error = error_after
    return scale * now if error <= 1e-8 * abs(now) else math.nan


def _u_downwards(a: Any, b: Any, x: Any) -> Any:
    """U for a < 1 from two integrals downwards, and a bound of its error."""
    n = math.ceil(1 - a)
    now = 0.0
    error = 0.0
    above = 0.0
    error_above = 0.0
    for i in range(int(n) + 2):
        p = a + (n + 1 - i)
        if i < 2:
            after = _u_integral(p, b, x)
            error_after = 4e-15 * abs(after)
        else:
            f = x + 2 * (p + 1) - b
            g = (p + 1) * (p - b + 2)
            after = f * now - g * above
            error_after = abs(f) * error + abs(g) * error_above + 1e-16 * (abs(f * now) + abs(g * above))
        above = now
        error_above = error
        now = after
        error = error_after
    return now, error


def _u_of_two(a: Any, b: Any, x: Any) -> Any:
    """U by two functions 1F1 for b that is not whole (DLMF 13.2.42), and a bound of its error."""
    value = 0.0
    error = 0.0
    for i in range(2):
        total, bound = _series(a - b + 1 if i else a, math.inf, 2 - b if i else b, x)
        start = _gamma(b - 1) * _rgamma(a) * x ** (1 - b) if i else _gamma(1 - b) * _rgamma(a - b + 1)
        value += start * total
        error += abs(start) * (bound + 2e-15 * abs(total))
    return value, error


def _u_polynomial(a: Any, b: Any, x: Any) -> Any:
    """U for a = -n (DLMF 13.2.7)."""
    start = 1.0
    for k in range(int(-a)):
        start = -start * (b + k)
    return start * _sure(a, math.inf, b, x)


# ---- The ufunc, and its derivative by the argument (DLMF 13.3.22)


def _hyperu_slopes(y: Any, a: Any, b: Any, x: Any) -> Any:
    return None, None, -a * hyperu(a + 1.0, b + 1.0, x)


@special_function("fff ddd", slopes=_hyperu_slopes)
def hyperu(a: Any, b: Any, x: Any) -> Any:
    """Tricomi's confluent hypergeometric function U(a, b, x) of real numbers, for x >= 0.

    NaN where its expansions leave fewer than eight digits.

    Examples
    --------
    >>> bc.scipy.special.hyperu(1.0, 1.0, [0.5, 1.0, 2.0])
    array([0.92291063, 0.59634736, 0.36132862])
    """
    return _hyperu(a, b, x)
