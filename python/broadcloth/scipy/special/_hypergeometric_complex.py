"""The hypergeometric functions 1F1 and 2F1 of real parameters, and real or complex arguments.

Real ones are computed as `_hypergeometric` says.
1F1 as of real ones: the power series (DLMF 13.2.2), in numbers of two parts where its terms cancel, Kummer's transformation (13.2.39) and
the expansion for large arguments (13.7.2). 2F1 by the power series (15.2.1) within the unit disk, after Euler's or Pfaff's transformation
(15.8.1) where its terms are smaller then, and from there by Taylor series of the differential equation (15.10.1), which need no case
distinctions for whole differences of parameters."""

from __future__ import annotations

import cmath
import math
from typing import Any

from ... import _broadcloth as _c
from ._functions import special_function
from ._hypergeometric import _hyp1f1, _hyp2f1, _pole
from ._struve import _over, _times, _two_sum

__all__ = ["hyp1f1", "hyp2f1"]

_rgamma, _gamma, _gammaln, _gammasgn = (_c.ufuncs[name] for name in ("rgamma", "gamma", "gammaln", "gammasgn"))
_ENOUGH = 1e-14
_HALF_ROOT_3 = 0.8660254037844386
_NONE = complex(math.nan, math.nan)


def _size(z: Any) -> Any:
    return abs(z.real) + abs(z.imag)


def _series(a: Any, a2: Any, b: Any, z: Any) -> Any:
    """The sum of (a)k (a2)k z**k / ((b)k k!), without the second factor where a2 is infinite, and a bound of its error."""
    term = complex(1.0, 0.0)
    total = term
    largest = 1.0
    bound = math.inf
    second = 1.0
    for k in range(1500):
        if a2 < math.inf:
            second = a2 + k
        if a + k == 0 or second == 0:
            bound = largest * (2 + math.sqrt(float(k))) * 1e-16
            break
        before = _size(term)
        term = term * z * ((a + k) * second / ((b + k) * (k + 1)))
        total += term
        size = _size(term)
        largest = max(largest, size)
        if size * (k + 1) <= 1e-17 * _size(total) and size <= before and k > -b:
            bound = largest * (2 + math.sqrt(float(k))) * 1e-16
            break
    if bound > _ENOUGH * _size(total) and largest < 1e290:
        return _two_parted_series(a, a2, b, z)
    return total, bound


def _two_parted_series(a: Any, a2: Any, b: Any, z: Any) -> Any:
    """The same in numbers of two parts."""
    re = 1.0
    re_rest = 0.0
    im = 0.0
    im_rest = 0.0
    total_re = 1.0
    total_re_rest = 0.0
    total_im = 0.0
    total_im_rest = 0.0
    largest = 1.0
    bound = math.inf
    for k in range(3000):
        f, f_rest = _two_sum(a, float(k))
        if a2 < math.inf:
            g, g_rest = _two_sum(a2, float(k))
            f, f_rest = _times(f, f_rest, g, g_rest)
        if f == 0:
            bound = largest * 1e-30 + (abs(total_re) + abs(total_im)) * 2e-16
            break
        g, g_rest = _two_sum(b, float(k))
        g, g_rest = _times(g, g_rest, k + 1.0, 0.0)
        f, f_rest = _over(f, f_rest, g, g_rest)
        before = abs(re) + abs(im)
        re, re_rest = _times(re, re_rest, f, f_rest)
        im, im_rest = _times(im, im_rest, f, f_rest)
        p, p_rest = _times(re, re_rest, z.real, 0.0)
        q, q_rest = _times(im, im_rest, -z.imag, 0.0)
        r, r_rest = _times(re, re_rest, z.imag, 0.0)
        s, s_rest = _times(im, im_rest, z.real, 0.0)
        re, f = _two_sum(p, q)
        re, re_rest = _two_sum(re, f + p_rest + q_rest)
        im, f = _two_sum(r, s)
        im, im_rest = _two_sum(im, f + r_rest + s_rest)
        total_re, f = _two_sum(total_re, re)
        total_re, total_re_rest = _two_sum(total_re, total_re_rest + (f + re_rest))
        total_im, f = _two_sum(total_im, im)
        total_im, total_im_rest = _two_sum(total_im, total_im_rest + (f + im_rest))
        size = abs(re) + abs(im)
        largest = max(largest, size)
        if size * (k + 1) <= 1e-17 * (abs(total_re) + abs(total_im)) and size <= before and k > -b:
            bound = largest * 1e-30 + (abs(total_re) + abs(total_im)) * 2e-16
            break
    return complex(total_re, total_im), bound


# ---- 1F1


def _far_sum(upper: Any, lower: Any, v: Any) -> Any:
    """The sum of (upper)k (lower)k v**k / k! as far as its terms fall, and a bound of its error."""
    term = complex(1.0, 0.0)
    total = term
    largest = 1.0
    for k in range(300):
        following = term * v * ((upper + k) * (lower + k) / (k + 1))
        if _size(following) > _size(term) and k > -upper and k > -lower:
            break
        term = following
        total += term
        largest = max(largest, _size(term))
        if _size(term) < 1e-18 * _size(total):
            break
    return total, _size(term) + 1e-16 * largest


def _hyp1f1_far(a: Any, b: Any, z: Any) -> Any:
    """The expansion for large |z|, Re z >= 0, less the factor exp(z), and a bound of its error."""
    v = 1 / z
    l = cmath.log(z)
    growing, error = _far_sum(1 - a, b - a, v)
    falling, error_falling = _far_sum(a, a - b + 1, -v)
    start = _gamma(b) * _rgamma(a) * cmath.exp((a - b) * l)
    # exp(-z) goes into the smaller part.
    turn = complex(0.0, math.pi * a if z.imag >= 0 else -math.pi * a)
    start_falling = _gamma(b) * _rgamma(b - a) * cmath.exp(turn - a * l - z)
    return start * growing + start_falling * falling, _size(start) * error + _size(start_falling) * error_falling


def _hyp1f1_right(a: Any, b: Any, z: Any) -> Any:
    """exp(-z) 1F1 for Re z >= 0, and a bound of its error."""
    best = _NONE
    error = math.inf
    if _size(z) > 40 and abs(a) < 60 and abs(b) < 60:
        best, error = _hyp1f1_far(a, b, z)
    for turned in range(2):
        if error <= _ENOUGH * _size(best):
            break
        total, bound = _series(b - a if turned else a, math.inf, b, -z if turned else z)
        if not turned:
            total = total * cmath.exp(-z)
            bound = bound * math.exp(-z.real)
        if bound < error:
            best = total
            error = bound
    return best, error


def _hyp1f1_of_complex(a: Any, b: Any, z: Any) -> Any:
    if math.isnan(a) or math.isnan(b) or cmath.isnan(z) or math.isinf(a) or math.isinf(b) or cmath.isinf(z):
        return _NONE
    if _pole(b) and not (_pole(a) and a >= b):
        return complex(math.inf, 0.0)
    if z == 0 or a == 0:
        return complex(1.0, 0.0)
    if a == b and not _pole(a):
        return cmath.exp(z)
    if _pole(a) or _pole(b):
        best, error = _series(a, math.inf, b, z)
    elif z.real < 0:
        # Kummer's transformation
        best, error = _hyp1f1_right(b - a, b, -z)
    else:
        best, error = _hyp1f1_right(a, b, z)
        half = cmath.exp(0.5 * z)
        best = best * half * half
        error = error * math.exp(z.real)
    return best if error <= 1e-8 * _size(best) or error == math.inf else _NONE


# ---- 2F1


def _step(a: Any, b: Any, c: Any, q: Any, h: Any, y: Any, slope: Any) -> Any:
    """The solution y of the differential equation and its derivative at 1 - q + h, of those at 1 - q, and a bound of the error made."""
    p = 1 - q
    inverse = 1 / (p * q)
    first = h * h * inverse
    second = h * inverse * (q - p)
    third = h * inverse * (c - (a + b + 1) * p)
    before = y
    now = slope * h
    value = y + now
    steep = now
    largest = max(_size(before), _size(now))
    for k in range(400):
        after = first * before * ((k + a) * (k + b) / ((k + 1.0) * (k + 2))) - (second * k + third) * now / (k + 2.0)
        value += after
        steep += (k + 2.0) * after
        before = now
        now = after
        largest = max(largest, (k + 2) * _size(now))
        if (k + 2) * (_size(now) + _size(before)) < 1e-17 * min(_size(value), _size(steep)):
            break
        if _size(now) + _size(before) < 1e-20 * largest:
            break
    return value, steep / h, 2e-16 * largest


def _along(a: Any, b: Any, c: Any, q: Any, target: Any, y: Any, slope: Any, e: Any, e_slope: Any) -> Any:
    """Taylor series on the straight line from 1 - q to 1 - target, of the solution and of its error, which grows as other solutions do."""
    for _ in range(4000):
        left = q - target
        reach = 0.5 * min(abs(q), abs(1 - q))
        last = abs(left) <= 1.2 * reach
        h = left if last else left * (reach / abs(left))
        y, slope, made = _step(a, b, c, q, h, y, slope)
        e, e_slope, _unused = _step(a, b, c, q, h, e, e_slope)
        e += made if e.real >= 0 else -made
        e_slope += (made if e_slope.real >= 0 else -made) / abs(h)
        if last:
            break
        q = q - h
    return y, slope, e, e_slope


def _from_series(a: Any, b: Any, c: Any, z: Any, q: Any) -> Any:
    """2F1 of z, of which q is 1 - z, by Taylor series from a point in the unit disk, and a bound of its error."""
    around = abs(z) > 1 or z.real < 0.5
    # Errors grow as the other solution may, z**(1 - c).
    start = (0.9 if c < -2 else 0.5) * (complex(0.5, math.copysign(_HALF_ROOT_3, z.imag)) if around else z / abs(z))
    y, bound = _series(a, b, c, start)
    slope, slope_bound = _series(a + 1, b + 1, c + 1, start)
    slope = slope * (a * b / c)
    e = complex(bound, 0.0)
    e_slope = complex(abs(a * b / c) * slope_bound, 0.0)
    here = 1 - start
    if around:
        # Around 1 by the point that is as far from 0 as from 1
        turn = complex(0.5, -math.copysign(_HALF_ROOT_3, z.imag))
        y, slope, e, e_slope = _along(a, b, c, here, turn, y, slope, e, e_slope)
        here = turn
    y, slope, e, e_slope = _along(a, b, c, here, q, y, slope, e, e_slope)
    return y, _size(e)


def _power(z: Any, x: Any) -> Any:
    """z**x on the side of the cut that the sign of the imaginary part tells."""
    return cmath.exp(x * cmath.log(z))


def _off(x: Any) -> Any:
    """The distance from x to the next whole number."""
    return abs(x - math.floor(x + 0.5))


def _two_sums(a: Any, b: Any, c: Any, z: Any, q: Any) -> Any:
    """2F1 by two series around 1 (DLMF 15.8.4, 15.8.5) or infinity (15.8.2, 15.8.3), and a bound of its error, infinite where none fits:
    near whole differences of parameters they cancel."""
    s = c - a - b
    size = abs(z)
    size_q = abs(q)
    at_one = _off(s) > 0.05 and (size_q < 0.75 or size_q < 0.75 * size)
    if not at_one and (_off(a - b) <= 0.05 or max(size, size_q) < 1.33):
        return _NONE, math.inf
    if at_one:
        inverse = size_q > 0.75
        u = -q / z if inverse else q
    else:
        inverse = size_q > size
        u = 1 / q if inverse else 1 / z
    l = cmath.log(-z if not at_one and not inverse else q)
    total = complex(0.0, 0.0)
    error = 0.0
    for second in range(2):
        x = b if second else a
        y = a if second else b
        if at_one:
            apart = -s if second else s
            start = _gamma(c) * _gamma(apart) * (_rgamma(a) * _rgamma(b) if second else _rgamma(c - a) * _rgamma(c - b))
            upper = c - a if second else a
            lower = c - b if second else b
            if inverse:
                lower = 1 - a if second else a - c + 1
            factor = cmath.exp(s * l) if second else complex(1.0, 0.0)
            if inverse:
                factor = factor * cmath.exp((a - c if second else -a) * cmath.log(z))
        else:
            apart = y - x
            start = _gamma(c) * _gamma(apart) * _rgamma(y) * _rgamma(c - x)
            upper = x
            lower = c - y if inverse else x - c + 1
            factor = cmath.exp(-x * l)
        if start == 0:
            continue
        value, bound = _series(upper, lower, 1 - apart, u)
        factor = start * factor
        total += factor * value
        # Rounding of the difference makes errors in its gamma function, which is large near whole numbers.
        gammas = 1e-15 + 1e-16 * (abs(a) + abs(b) + abs(c)) / _off(apart)
        error += _size(factor) * (bound + gammas * _size(value))
    return total, error


def _one_form(a: Any, b: Any, c: Any, z: Any, q: Any) -> Any:
    if abs(z) <= 0.75:
        return _series(a, b, c, z)
    if abs(a) > 1e4 or abs(b) > 1e4 or abs(c) > 1e4:
        return _NONE, math.inf
    return _from_series(a, b, c, z, q)


def _by_forms(a: Any, b: Any, c: Any, z: Any) -> Any:
    q = complex(1 - z.real, -z.imag)
    w = -z / q
    s = c - a - b
    best = _NONE
    error = math.inf
    if min(abs(w), abs(z)) > 0.75 and max(abs(a), abs(b), abs(c)) < 80:
        best, error = _two_sums(a, b, c, z, q)
    # Pfaff's transformation where it comes nearer to the origin; then the smaller parameter stays.
    pfaff = abs(w) < abs(z)
    if abs(b) < abs(a):
        a, b = b, a
    for trial in range(4):
        if error <= 1e-13 * _size(best):
            break
        if trial >= 2 and min(abs(w), abs(z)) > 0.75:
            break
        if trial == 2:
            pfaff = not pfaff
            if max(abs(w), abs(z)) > 0.9:
                break
        other = trial % 2 == 1
        if pfaff:
            x = b if other else a
            value, bound = _one_form(x, c - (a if other else b), c, w, 1 / q)
            scale = _power(q, -x)
        else:
            euler = other != (s < 0)
            value, bound = _one_form(c - a if euler else a, c - b if euler else b, c, z, q)
            scale = _power(q, s) if euler else complex(1.0, 0.0)
        if _size(scale) * bound < error:
            best = scale * value
            error = _size(scale) * bound
    return best, error


def _at_one(a: Any, b: Any, c: Any) -> Any:
    """Gauss's sum (DLMF 15.4.20)."""
    s = c - a - b
    if s <= 0:
        return math.inf
    if max(abs(c), s, abs(c - a), abs(c - b)) < 160:
        return _gamma(c) * _gamma(s) * _rgamma(c - a) * _rgamma(c - b)
    sign = _gammasgn(c) * _gammasgn(c - a) * _gammasgn(c - b)
    return sign * math.exp((_gammaln(c) - _gammaln(c - a)) + (_gammaln(s) - _gammaln(c - b)))


def _sure(total: Any, bound: Any) -> Any:
    """The sum, NaN where it has too few digits."""
    return total if bound <= 1e-8 * _size(total) else _NONE


def _hyp2f1_of_complex(a: Any, b: Any, c: Any, z: Any) -> Any:
    x = z.real
    if math.isnan(a) or math.isnan(b) or math.isnan(c) or cmath.isnan(z) or math.isinf(x) or math.isinf(z.imag):
        return _NONE
    if math.isinf(a) or math.isinf(b) or math.isinf(c):
        return _NONE
    if z == 0 or a == 0 or b == 0:
        return complex(1.0 if c != 0 or z != 0 else math.nan, 0.0)
    finite = _pole(a) or _pole(b)
    if _pole(c) and not (_pole(a) and a >= c) and not (_pole(b) and b >= c):
        return complex(math.inf, 0.0)
    if finite:
        # SciPy sums no more terms than a or b has, also where c is the same whole number.
        total, bound = _series(a, b, c, z)
        if bound <= 1e-8 * _size(total) or _pole(c):
            return _sure(total, bound)
    elif z == 1:
        return complex(_at_one(a, b, c), 0.0)
    if z.imag == 0:
        if x < 1:
            return complex(_hyp2f1(a, b, c, x), 0.0)
        # The upper side of the cut
        z = complex(x, 0.0)
    if _pole(c - a) or _pole(c - b):
        # A polynomial by Euler's transformation
        total, bound = _series(c - a, c - b, c, z)
        if bound <= 1e-12 * _size(total):
            return total * _power(complex(1 - x, -z.imag), c - a - b)
    total, bound = _by_forms(a, b, c, z)
    return _sure(total, bound)


# ---- The ufuncs, and their derivatives by the argument (DLMF 13.3.15, 15.5.1)


def _hyp1f1_slopes(y: Any, a: Any, b: Any, x: Any) -> Any:
    return None, None, hyp1f1(a + 1.0, b + 1.0, x) * a / b


def _hyp2f1_slopes(y: Any, a: Any, b: Any, c: Any, x: Any) -> Any:
    return None, None, None, hyp2f1(a + 1.0, b + 1.0, c + 1.0, x) * a * b / c


@special_function("fff ddd ffF ddD", of_complex=_hyp1f1_of_complex, slopes=_hyp1f1_slopes)
def hyp1f1(a: Any, b: Any, x: Any) -> Any:
    """The confluent hypergeometric function 1F1(a; b; x) of real a and b, and real or complex x.

    NaN where its expansions leave fewer than eight digits.

    Examples
    --------
    >>> bc.scipy.special.hyp1f1(0.5, 1.5, [-2.0, 0.0, 2.0])
    array([0.59814401, 1.        , 2.36445389])
    """
    return _hyp1f1(a, b, x)


@special_function("ffff dddd fffF dddD", of_complex=_hyp2f1_of_complex, slopes=_hyp2f1_slopes)
def hyp2f1(a: Any, b: Any, c: Any, x: Any) -> Any:
    """Gauss's hypergeometric function 2F1(a, b; c; x) of real parameters, and real or complex x.

    Real values beyond x = 1 are infinite unless it is a polynomial; complex ones there are those above the cut.

    NaN where its expansions leave fewer than eight digits.

    Examples
    --------
    >>> bc.scipy.special.hyp2f1(0.5, 1.0, 1.5, [-1.0, 0.25, 0.9])
    array([0.78539816, 1.09861229, 1.91681087])
    """
    return _hyp2f1(a, b, c, x)
