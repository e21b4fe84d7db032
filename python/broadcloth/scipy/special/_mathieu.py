"""Mathieu's functions and characteristic values (DLMF 28).

A characteristic value is an eigenvalue of a symmetric tridiagonal matrix (DLMF 28.4), found by Rayleigh quotients between the bounds of
Sturm's counts. The coefficients of the Fourier series are its eigenvector, by the recurrence upwards from the first and downwards from
beyond the last, each in the direction in which it is stable, joined in the middle. Nothing is stored: the sums run along the
recurrences. Modified functions are series of products of Bessel functions (DLMF 28.24)."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from ... import _broadcloth as _c
from ..._broadcloth import ndarray
from ._bessel import _jv, _yv
from ._functions import special_function

if TYPE_CHECKING:
    from ...typing import ArrayLike

__all__ = [
    "mathieu_a", "mathieu_b", "mathieu_cem", "mathieu_even_coef", "mathieu_modcem1", "mathieu_modcem2", "mathieu_modsem1",
    "mathieu_modsem2", "mathieu_odd_coef", "mathieu_sem",
]  # fmt: skip

_LARGEST_ORDER = 500


# ---- The matrix of a class: 0 for ce of even order, 1 for ce of odd order, 2 for se of odd order, 3 for se of even order


def _class_of(m: Any, sine: Any) -> Any:
    return (3 if m % 2 == 0 else 2) if sine else (0 if m % 2 == 0 else 1)


def _first_of(kind: Any) -> Any:
    """The lowest frequency of a class."""
    return 0 if kind == 0 else 2 if kind == 3 else 1


def _diagonal(kind: Any, q: Any, k: Any) -> Any:
    n = _first_of(kind) + 2.0 * k
    shift = 0.0
    if k == 0 and kind == 1:
        shift = q
    if k == 0 and kind == 2:
        shift = -q
    return n * n + shift


def _beside(kind: Any, q: Any, k: Any) -> Any:
    """The element between rows k and k + 1."""
    return 1.4142135623730951 * q if k == 0 and kind == 0 else q


def _rows(m: Any, q: Any, share: Any) -> Any:
    """How many rows the eigenvector needs whose other elements are below a share of its largest one. An eigenvalue is at most m**2 + 2 q
    (Weyl), and beyond the row of diagonal d each element is at most q / (d - a - q) of the one before it while that is below 1."""
    bound = m * m + 3 * q
    k = int(0.5 * math.sqrt(bound + q)) + 1
    product = 1.0
    while product > share:
        k += 1
        product *= q / (4.0 * (k - 1) * (k - 1) - bound)
    return k + 2


def _pass(kind: Any, q: Any, x: Any, rows: Any, twist: Any) -> Any:
    """How many eigenvalues are below x, gamma, and the square of the length of the vector z with (T - x) z = gamma e, which is 1 in row
    `twist`: its Rayleigh quotient is x + gamma / z**2. The pivots run from both ends to that row (Parlett & Dhillon, "Fernando's solution
    to Wilkinson's problem", 1997)."""
    count = 0
    gamma = _diagonal(kind, q, twist) - x
    norm = 1.0
    for end in range(2):
        ratio = 0.0  # the square of the element beside a pivot by the pivot
        square = 0.0  # the sum of the squares of z's elements so far, by the next one's
        for n in range(twist if end == 0 else rows - 1 - twist):
            k = n if end == 0 else rows - 1 - n
            pivot = _diagonal(kind, q, k) - x - ratio
            if pivot == 0:
                pivot = 1e-300
            if pivot < 0:
                count += 1
            e = _beside(kind, q, k if end == 0 else k - 1)
            part = e / pivot
            ratio = e * part
            square = part * part * (1 + square)
        gamma -= ratio
        norm += square
    if gamma < 0:
        count += 1
    return count, gamma, norm


def _near(m: Any, q: Any, sine: Any) -> Any:
    """The characteristic value roughly: the first terms of DLMF 28.6 for small q, and of 28.8 for large q."""
    s = 2.0 * m - 1 if sine else 2.0 * m + 1
    if q > 0.3 * s * s:
        h = math.sqrt(q)
        return -2 * q + 2 * s * h - 0.125 * (s * s + 1) - s * (s * s + 3) / (128 * h)
    if m < 3:
        if m == 1:
            return 1 - q - 0.125 * q * q if sine else 1 + q - 0.125 * q * q
        if m == 0:
            return -0.5 * q * q
        return 4 - q * q / 12 if sine else 4 + 5 * q * q / 12
    return float(m) * m + 0.5 * q * q / (float(m) * m - 1)


def _value(kind: Any, m: Any, q: Any) -> Any:
    """The characteristic value of order m and q >= 0, by Rayleigh quotients, which converge quadratically; a step that leaves the bounds of
    Sturm's counts is a half one. An eigenvalue is as near to x as gamma / |z|, and the quotient is nearer to it than the square of that by
    the distance of the others, which are at least 3 apart. So where |gamma| < 1 / 2 the step goes to the side of x on which the nearest
    eigenvalue is, and the count tells which one it is."""
    if q == 0:
        return float(m) * m
    index = (m - _first_of(kind)) // 2
    rows = _rows(m, q, 1e-11)  # an eigenvalue's error is of the second order
    low = float(m) * m - 2 * q - 1e-9 * (q + m * m)
    high = float(m) * m + 2 * q + 1e-9 * (q + m * m)
    x = min(max(_near(m, q, kind >= 2), low), high)
    found = False
    moved = False
    for _ in range(100):
        count, gamma, square = _pass(kind, q, x, rows, index)
        step = gamma / square
        following = x + step
        found = found or (abs(gamma) < 0.5 and count == (index + 1 if step < 0 else index))
        if found:
            if abs(gamma) * abs(step) <= 3e-17 * max(abs(following), q):
                return following
            x = following
            continue
        if count > index:
            high = min(high, x)
        else:
            low = max(low, x)
        if abs(step) <= 1e-10 * max(abs(following), q) and not moved and (count == index or count == index + 1):
            # An eigenvalue so near that rounding may have chosen the side: from further away the side is certain.
            moved = True
            aside = 1e-4 * (1 + math.sqrt(q))
            x += aside if count > index else -aside
        else:
            moved = False
            x = following if low < following < high else 0.5 * (low + high)
            if x <= low or x >= high:
                break
    return x


def _characteristic(m: Any, q: Any, sine: Any) -> Any:
    if math.isnan(q) or m != math.floor(m) or m < 0 or (sine and m == 0) or m > _LARGEST_ORDER or not abs(q) < 1e8:
        return math.nan
    n = int(m)
    if q < 0 and n % 2 == 1:
        sine = not sine  # DLMF 28.2.26
    return _value(_class_of(n, sine), n, abs(q))


# ---- The coefficients


def _middle(kind: Any, a: Any, rows: Any) -> Any:
    """The row in which the recurrences meet: about where the diagonal passes the eigenvalue. Below it the vector oscillates or grows
    upwards, beyond it downwards."""
    return min(max(int(0.5 * (math.sqrt(max(a, 0.0)) - _first_of(kind))), 0), rows - 3)


def _step_up(kind: Any, q: Any, a: Any, k: Any, before: Any, now: Any) -> Any:
    """Element k + 1 from elements k - 1 and k."""
    value = (a - _diagonal(kind, q, k)) * now
    if k > 0:
        value -= _beside(kind, q, k - 1) * before
    return value / _beside(kind, q, k)


def _scales(kind: Any, q: Any, a: Any, rows: Any) -> Any:
    """The middle, the values with which the recurrence upwards begins and the one downwards, so that the squares' sum is 1, and the row
    of the first large element."""
    middle = _middle(kind, a, rows)
    # Upwards to middle + 1
    before = 0.0
    now = 1.0
    up = 1.0
    start = 1.0
    largest = 1.0
    for k in range(middle + 1):
        following = _step_up(kind, q, a, k, before, now)
        before = now
        now = following
        if k < middle:
            up += now * now
            largest = max(largest, abs(now))
        if abs(now) > 1e100:
            before *= 1e-100
            now *= 1e-100
            up *= 1e-200
            start *= 1e-100
            largest *= 1e-100
    left = before
    left_after = now
    # Downwards to middle
    after = 0.0
    now = 1e-100
    down = 0.0
    end = 1e-100
    peak = 0.0
    there = rows - 1
    for k in range(rows - 1, middle, -1):
        down += now * now
        if abs(now) > peak:
            peak = abs(now)
            there = k
        following = _step_down(kind, q, a, rows, k, after, now)
        after = now
        now = following
        if abs(now) > 1e100:
            after *= 1e-100
            now *= 1e-100
            down *= 1e-200
            end *= 1e-100
            peak *= 1e-100
    # now is element middle, after element middle + 1: they are `factor` times smaller than those from below.
    factor = (left * now + left_after * after) / (now * now + after * after)
    norm = 1 / math.sqrt(up + factor * factor * down)
    # The first row up to the middle whose element is not much smaller than the largest
    bound = 0.1 * max(largest, abs(factor) * peak) * norm
    before = 0.0
    now = start * norm
    for k in range(middle + 1):
        if abs(now) >= bound:
            there = k
            break
        following = _step_up(kind, q, a, k, before, now)
        before = now
        now = following
    return middle, start * norm, end * factor * norm, there


def _step_down(kind: Any, q: Any, a: Any, rows: Any, k: Any, after: Any, now: Any) -> Any:
    """Element k - 1 from elements k + 1 and k."""
    value = (a - _diagonal(kind, q, k)) * now
    if k < rows - 1:
        value -= _beside(kind, q, k) * after
    return value / _beside(kind, q, k - 1)


def _is_negative(at_0: Any, at_end: Any, index: Any) -> Any:
    """Tells whether the vector has the wrong sign: at 0 ce is positive and se rises, at pi / 2 they are or rise as cos and sin of the index
    do. The larger of the sums tells; the other can be all rounding."""
    if abs(at_0) >= abs(at_end):
        return at_0 < 0
    return at_end < 0 if index % 2 == 0 else at_end > 0


def _angular(m: Any, q: Any, x: Any, sine: Any, slope: Any) -> Any:
    """ce or se of order m and q >= 0 at x, or its derivative."""
    kind = _class_of(m, sine)
    if q == 0:
        if m == 0:
            return 0.0 if slope else 0.7071067811865476
        if sine:
            return m * math.cos(m * x) if slope else math.sin(m * x)
        return -m * math.sin(m * x) if slope else math.cos(m * x)
    a = _value(kind, m, q)
    rows = _rows(m, q, 1e-20)
    middle, start, end, _ = _scales(kind, q, a, rows)
    total = 0.0
    at_0 = 0.0
    at_end = 0.0
    for direction in range(2):
        other = 0.0
        now = start if direction == 0 else end
        k = 0 if direction == 0 else rows - 1
        while (direction == 0 and k <= middle) or (direction == 1 and k > middle):
            n = _first_of(kind) + 2 * k
            c = 0.7071067811865476 * now if n == 0 else now
            if sine:
                total += c * (n * math.cos(n * x) if slope else math.sin(n * x))
            else:
                total += c * (-n * math.sin(n * x) if slope else math.cos(n * x))
            at_0 += n * c if sine else c
            turned = n * c if kind == 1 or kind == 3 else c
            at_end += -turned if k % 2 == 1 else turned
            if direction == 0:
                following = _step_up(kind, q, a, k, other, now)
                k += 1
            else:
                following = _step_down(kind, q, a, rows, k, other, now)
                k -= 1
            other = now
            now = following
    return -total if _is_negative(at_0, at_end, (m - _first_of(kind)) // 2) else total


def _periodic(m: Any, q: Any, degrees: Any, sine: Any, slope: Any) -> Any:
    if math.isnan(q) or math.isnan(degrees) or m != math.floor(m) or m < 0 or m > _LARGEST_ORDER or not abs(q) < 1e8:
        return math.nan
    n = int(m)
    if sine and n == 0:
        return 0.0
    x = math.radians(math.fmod(degrees, 360.0))
    if q >= 0:
        return _angular(n, q, x, sine, slope)
    # DLMF 28.2.34 to 28.2.37
    sign = 1.0 if (n // 2) % 2 == 0 else -1.0
    if sine and n % 2 == 0:
        sign = -sign
    value = _angular(n, -q, 0.5 * math.pi - x, sine if n % 2 == 0 else not sine, slope)
    return -sign * value if slope else sign * value


def _radial(m: Any, q: Any, x: Any, sine: Any, second: Any, slope: Any) -> Any:
    """Mc or Ms of the first or second kind, or its derivative at any real x."""
    if math.isnan(q) or math.isnan(x) or m != math.floor(m) or m < (1 if sine else 0) or m > _LARGEST_ORDER or q < 0 or not q < 1e8:
        return math.nan
    if q == 0:
        return 0.0 if not second else math.nan
    n = int(m)
    size = abs(x)
    value = _products(n, q, size, sine, second, slope)
    if x >= 0:
        return value
    odd = -1.0 if sine != slope else 1.0
    if not second:
        return odd * value
    # A&S 20.6.20: the even or odd part of the second kind is a multiple of the first kind's function.
    ratio = _products(n, q, 0.0, sine, True, sine) / _products(n, q, 0.0, sine, False, sine)
    return odd * (2 * ratio * _products(n, q, size, sine, False, slope) - value)


def _products(n: Any, q: Any, x: Any, sine: Any, second: Any, slope: Any) -> Any:
    """DLMF 28.24.2 to 28.24.13 about the first large coefficient: about a later one the products of Bessel functions would grow."""
    kind = _class_of(n, sine)
    first = _first_of(kind)
    eigenvalue = _value(kind, n, q)
    rows = _rows(n, q, 1e-20)
    middle, start, end, s = _scales(kind, q, eigenvalue, rows)
    h = math.sqrt(q)
    u = h * math.exp(-x)
    v = h * math.exp(x)
    total = 0.0
    largest = 1.0
    for direction in range(2):
        other = 0.0
        now = start if direction == 0 else end
        k = 0 if direction == 0 else rows - 1
        # Bessel functions of the orders l - s and l + s + first of u, and of those of v; and of the orders that are larger by 1.
        a = b = c = d = 0.0
        a1 = b1 = c1 = d1 = 0.0
        known = False
        while (direction == 0 and k <= middle) or (direction == 1 and k > middle):
            factor = 0.7071067811865476 * now if kind == 0 and k == 0 else now
            if k == s:
                largest = 2 * factor if kind == 0 and k == 0 else factor
            if abs(now) > 1e-18:
                near = float(k - s)
                far = float(k + s + first)
                stepped = known and direction == 1
                if stepped:
                    # Downwards their recurrence is stable, but for the second kind of orders above the argument.
                    before = 2 * (near + 1) / u * a - a1
                    a1 = a
                    a = before
                    before = 2 * (far + 1) / u * b - b1
                    b1 = b
                    b = before
                    before = _yv(near, v) if second and near + 1 > v else 2 * (near + 1) / v * c - c1
                    c1 = c
                    c = before
                    before = _yv(far, v) if second and far + 1 > v else 2 * (far + 1) / v * d - d1
                    d1 = d
                    d = before
                else:
                    a = a1 if known else _jv(near, u)
                    b = b1 if known else _jv(far, u)
                    c = c1 if known else (_yv(near, v) if second else _jv(near, v))
                    d = d1 if known else (_yv(far, v) if second else _jv(far, v))
                known = slope if direction == 0 else near >= 1 and min(abs(a), abs(b), abs(c), abs(d)) > 1e-280
                if not stepped and (slope or known):
                    a1 = _jv(near + 1, u)
                    b1 = _jv(far + 1, u)
                    c1 = _yv(near + 1, v) if second else _jv(near + 1, v)
                    d1 = _yv(far + 1, v) if second else _jv(far + 1, v)
                if slope:
                    term = (far * d - v * d1) * a - (near * a - u * a1) * d
                    turned = (near * c - v * c1) * b - (far * b - u * b1) * c
                else:
                    term = a * d
                    turned = b * c
                term += -turned if sine else turned
                total += factor * (-term if (k + (n - first) // 2) % 2 == 1 else term)
            else:
                known = False
            if direction == 0:
                following = _step_up(kind, q, eigenvalue, k, other, now)
                k += 1
            else:
                following = _step_down(kind, q, eigenvalue, rows, k, other, now)
                k -= 1
            other = now
            now = following
    return total / largest


# ---- The ufuncs


@special_function("ff dd", whole=True)
def mathieu_a(m: Any, q: Any) -> Any:
    """The characteristic value of the even Mathieu function ce of whole order m and parameter q.

    NaN for orders that are negative or above 500.

    Examples
    --------
    >>> bc.scipy.special.mathieu_a([0, 1, 2], 1.0)
    array([-0.4551386 ,  1.85910807,  4.37130098])
    """
    return _characteristic(m, q, False)


@special_function("ff dd", whole=True)
def mathieu_b(m: Any, q: Any) -> Any:
    """The characteristic value of the odd Mathieu function se of whole order m and parameter q.

    NaN for orders below 1 or above 500.

    Examples
    --------
    >>> bc.scipy.special.mathieu_b([1, 2], 1.0)
    array([-0.11024882,  3.91702477])
    """
    return _characteristic(m, q, True)


def _steepness(value: Any, m: Any, q: Any, x: Any, characteristic: Any) -> Any:
    """The second derivative by an angle in degrees, by Mathieu's equation."""
    turn = math.pi / 180
    return turn * value * -(characteristic(m, q) - 2 * q * _c.ufuncs["cos"](2 * turn * x))


def _ce_slopes(y: Any, m: Any, q: Any, x: Any) -> Any:
    return None, None, math.pi / 180 * _cep(m, q, x)


def _cep_slopes(y: Any, m: Any, q: Any, x: Any) -> Any:
    return None, None, _steepness(_ce(m, q, x), m, q, x, mathieu_a)


def _se_slopes(y: Any, m: Any, q: Any, x: Any) -> Any:
    return None, None, math.pi / 180 * _sep(m, q, x)


def _sep_slopes(y: Any, m: Any, q: Any, x: Any) -> Any:
    return None, None, _steepness(_se(m, q, x), m, q, x, mathieu_b)


@special_function("fff ddd", whole=True, slopes=_ce_slopes)
def _ce(m: Any, q: Any, x: Any) -> Any:
    return _periodic(m, q, x, False, False)


@special_function("fff ddd", whole=True, slopes=_cep_slopes)
def _cep(m: Any, q: Any, x: Any) -> Any:
    return _periodic(m, q, x, False, True)


@special_function("fff ddd", whole=True, slopes=_se_slopes)
def _se(m: Any, q: Any, x: Any) -> Any:
    return _periodic(m, q, x, True, False)


@special_function("fff ddd", whole=True, slopes=_sep_slopes)
def _sep(m: Any, q: Any, x: Any) -> Any:
    return _periodic(m, q, x, True, True)


def _mc1_slopes(y: Any, m: Any, q: Any, x: Any) -> Any:
    return None, None, _mc1p(m, q, x)


def _mc1p_slopes(y: Any, m: Any, q: Any, x: Any) -> Any:
    return None, None, (mathieu_a(m, q) - 2 * q * _c.ufuncs["cosh"](2 * x)) * _mc1(m, q, x)


def _mc2_slopes(y: Any, m: Any, q: Any, x: Any) -> Any:
    return None, None, _mc2p(m, q, x)


def _mc2p_slopes(y: Any, m: Any, q: Any, x: Any) -> Any:
    return None, None, (mathieu_a(m, q) - 2 * q * _c.ufuncs["cosh"](2 * x)) * _mc2(m, q, x)


def _ms1_slopes(y: Any, m: Any, q: Any, x: Any) -> Any:
    return None, None, _ms1p(m, q, x)


def _ms1p_slopes(y: Any, m: Any, q: Any, x: Any) -> Any:
    return None, None, (mathieu_b(m, q) - 2 * q * _c.ufuncs["cosh"](2 * x)) * _ms1(m, q, x)


def _ms2_slopes(y: Any, m: Any, q: Any, x: Any) -> Any:
    return None, None, _ms2p(m, q, x)


def _ms2p_slopes(y: Any, m: Any, q: Any, x: Any) -> Any:
    return None, None, (mathieu_b(m, q) - 2 * q * _c.ufuncs["cosh"](2 * x)) * _ms2(m, q, x)


@special_function("fff ddd", whole=True, slopes=_mc1_slopes)
def _mc1(m: Any, q: Any, x: Any) -> Any:
    return _radial(m, q, x, False, False, False)


@special_function("fff ddd", whole=True, slopes=_mc1p_slopes)
def _mc1p(m: Any, q: Any, x: Any) -> Any:
    return _radial(m, q, x, False, False, True)


@special_function("fff ddd", whole=True, slopes=_mc2_slopes)
def _mc2(m: Any, q: Any, x: Any) -> Any:
    return _radial(m, q, x, False, True, False)


@special_function("fff ddd", whole=True, slopes=_mc2p_slopes)
def _mc2p(m: Any, q: Any, x: Any) -> Any:
    return _radial(m, q, x, False, True, True)


@special_function("fff ddd", whole=True, slopes=_ms1_slopes)
def _ms1(m: Any, q: Any, x: Any) -> Any:
    return _radial(m, q, x, True, False, False)


@special_function("fff ddd", whole=True, slopes=_ms1p_slopes)
def _ms1p(m: Any, q: Any, x: Any) -> Any:
    return _radial(m, q, x, True, False, True)


@special_function("fff ddd", whole=True, slopes=_ms2_slopes)
def _ms2(m: Any, q: Any, x: Any) -> Any:
    return _radial(m, q, x, True, True, False)


@special_function("fff ddd", whole=True, slopes=_ms2p_slopes)
def _ms2p(m: Any, q: Any, x: Any) -> Any:
    return _radial(m, q, x, True, True, True)


def mathieu_cem(m: ArrayLike, q: ArrayLike, x: ArrayLike) -> tuple[ndarray, ndarray]:
    """The even Mathieu function ce of whole order m and parameter q at x degrees, and its derivative by the angle in radians.

    NaN for orders that are negative or above 500.

    Parameters
    ----------
    m : array_like
        The order, a whole number.
    q : array_like
        The parameter, of any sign.
    x : array_like
        The angle in degrees.

    Returns
    -------
    y, yp : ndarray of float
        Of the operands' common shape; float32 if all operands are, else float64.

    Raises
    ------
    NotImplementedError
        An order is not whole.

    Examples
    --------
    >>> y, slope = bc.scipy.special.mathieu_cem([0, 1], 1.0, 30.0)
    >>> y
    array([0.51102278, 0.85242514])
    """
    return _ce(m, q, x), _cep(m, q, x)


def mathieu_sem(m: ArrayLike, q: ArrayLike, x: ArrayLike) -> tuple[ndarray, ndarray]:
    """The odd Mathieu function se of whole order m and parameter q at x degrees, and its derivative; see `mathieu_cem`.

    Examples
    --------
    >>> y, slope = bc.scipy.special.mathieu_sem([1, 2], 1.0, 30.0)
    >>> y
    array([0.3896274 , 0.79148107])
    """
    return _se(m, q, x), _sep(m, q, x)


def mathieu_modcem1(m: ArrayLike, q: ArrayLike, x: ArrayLike) -> tuple[ndarray, ndarray]:
    """The even modified Mathieu function of the first kind of whole order m and q >= 0 at real x, and its derivative; see `mathieu_cem`.

    Examples
    --------
    >>> y, slope = bc.scipy.special.mathieu_modcem1([0, 2], 1.0, 0.5)
    >>> y
    array([0.46510641, 0.34220517])
    """
    return _mc1(m, q, x), _mc1p(m, q, x)


def mathieu_modcem2(m: ArrayLike, q: ArrayLike, x: ArrayLike) -> tuple[ndarray, ndarray]:
    """The even modified Mathieu function of the second kind of whole order m and q >= 0 at real x, and its derivative; see `mathieu_cem`.

    Examples
    --------
    >>> y, slope = bc.scipy.special.mathieu_modcem2([0, 2], 1.0, 0.5)
    >>> y
    array([ 0.35460962, -0.81211691])
    """
    return _mc2(m, q, x), _mc2p(m, q, x)


def mathieu_modsem1(m: ArrayLike, q: ArrayLike, x: ArrayLike) -> tuple[ndarray, ndarray]:
    """The odd modified Mathieu function of the first kind of whole order m and q >= 0 at real x, and its derivative; see `mathieu_cem`.

    Examples
    --------
    >>> y, slope = bc.scipy.special.mathieu_modsem1([1, 2], 1.0, 0.5)
    >>> y
    array([0.4046255 , 0.22749162])
    """
    return _ms1(m, q, x), _ms1p(m, q, x)


def mathieu_modsem2(m: ArrayLike, q: ArrayLike, x: ArrayLike) -> tuple[ndarray, ndarray]:
    """The odd modified Mathieu function of the second kind of whole order m and q >= 0 at real x, and its derivative; see `mathieu_cem`.

    Examples
    --------
    >>> y, slope = bc.scipy.special.mathieu_modsem2([1, 2], 1.0, 0.5)
    >>> y
    array([-0.43963249, -0.80724206])
    """
    return _ms2(m, q, x), _ms2p(m, q, x)


# ---- Coefficients


def _coefficients(name: str, m: Any, q: Any, sine: bool) -> ndarray:
    if not np.isscalar(m) or not np.isscalar(q):
        raise ValueError(f"{name}: m and q must be scalars.")
    if not q >= 0:  # type: ignore[operator]
        raise ValueError(f"{name}: expected q >= 0, got {q!r}")
    if m != int(m) or m < (1 if sine else 0) or m > _LARGEST_ORDER:  # type: ignore[call-overload, operator, arg-type]
        raise ValueError(f"{name}: m must be an integer from {int(sine)} to {_LARGEST_ORDER}, got {m!r}")
    m, q = int(m), float(q)  # type: ignore[call-overload, arg-type]
    kind, rows = _class_of(m, sine), max(_rows(m, q, 1e-20), m // 2 + 25)
    index = (m - _first_of(kind)) // 2
    vector = np.zeros(rows)
    if q == 0:
        vector[index] = 1.0
    else:
        a = _value(kind, m, q)
        middle, first, last, _ = _scales(kind, q, a, rows)
        before, vector[0], after, vector[-1] = 0.0, first, 0.0, last
        for k in range(middle):
            vector[k + 1] = _step_up(kind, q, a, k, before, vector[k])
            before = vector[k]
        for k in range(rows - 1, middle + 1, -1):
            vector[k - 1] = _step_down(kind, q, a, rows, k, after, vector[k])
            after = vector[k]
    if kind == 0:
        vector[0] *= math.sqrt(0.5)
    n = _first_of(kind) + 2 * np.arange(rows)
    turned = vector * np.where(np.arange(rows) % 2, -1, 1)
    if _is_negative((vector * n if sine else vector).sum(), (turned * n if kind in (1, 3) else turned).sum(), index):
        vector = -vector
    return _c.asarray(vector)


def mathieu_even_coef(m: int, q: float) -> ndarray:
    """The coefficients of the cosines of 0, 2, ... or 1, 3, ... times the angle in ce of whole order m and q >= 0.

    Parameters
    ----------
    m : int
        The order, from 0 to 500.
    q : float
        The parameter.

    Returns
    -------
    ndarray of float64
        As many as differ from 0 by more than 1e-16, and some more: not as many as in SciPy. On the default device; computed on the host.

    Raises
    ------
    ValueError
        `m` is not a whole number in the range, `q` is negative, or one is no scalar.

    Examples
    --------
    >>> bc.scipy.special.mathieu_even_coef(2, 1.0)[:4]
    array([ 0.21692795,  0.94825735, -0.08176701,  0.00258659])
    """
    return _coefficients("mathieu_even_coef", m, q, False)


def mathieu_odd_coef(m: int, q: float) -> ndarray:
    """The coefficients of the sines of 1, 3, ... or 2, 4, ... times the angle in se of order m > 0, q >= 0; see `mathieu_even_coef`.

    Examples
    --------
    >>> bc.scipy.special.mathieu_odd_coef(2, 1.0)[:3]
    array([ 0.99657192, -0.08269078,  0.00257874])
    """
    return _coefficients("mathieu_odd_coef", m, q, True)
