"""Functions of numbers: those of math, and NumPy's that work element by element."""

from __future__ import annotations

import math

import numpy as np

from ._table import stands_for

_LARGEST = 9223372036854775807


def _whole(n):
    """An integer as int64, whatever its width."""
    if n > _LARGEST:
        raise OverflowError("the integer does not fit into 64 bits with a sign")
    return np.int64(n)


def _times(a, b):
    """The product of two integers of at least zero."""
    if b > 0 and a > _LARGEST // b:
        raise OverflowError("the result does not fit into 64 bits")
    return a * b


@stands_for("math.factorial")
def factorial(x):
    n = _whole(x)
    if n < 0:
        raise ValueError("factorial() not defined for negative values")
    product = 1
    for k in range(2, n + 1):
        product = _times(product, k)
    return product


@stands_for("math.comb")
def comb(of, chosen_of):
    n, k = _whole(of), _whole(chosen_of)
    if n < 0 or k < 0:
        raise ValueError("comb() takes numbers of at least zero")
    if k > n:
        return 0
    chosen = 1
    for j in range(min(k, n - k)):
        # chosen * (n - j) // (j + 1), divided first: the product may not fit where the quotient does.
        common = math.gcd(chosen, j + 1)
        chosen = _times(chosen // common, (n - j) // ((j + 1) // common))
    return chosen


@stands_for("math.perm")
def perm(of, chosen=None):
    n = _whole(of)
    k = n if chosen is None else _whole(chosen)
    if n < 0 or k < 0:
        raise ValueError("perm() takes numbers of at least zero")
    if k > n:
        return 0
    product = 1
    for j in range(k):
        product = _times(product, n - j)
    return product


@stands_for("math.isclose")
def isclose(a, b, *, rel_tol=1e-09, abs_tol=0.0):
    if rel_tol < 0 or abs_tol < 0:
        raise ValueError("tolerances must be non-negative")
    if a == b:
        return True
    if math.isinf(a) or math.isinf(b):
        return False
    return abs(a - b) <= max(rel_tol * max(abs(a), abs(b)), abs_tol)


@stands_for("math.ulp")
def ulp(x):
    size = abs(float(x))
    if size == math.inf:
        return size
    return size - math.nextafter(size, 0.0) if size == np.finfo(np.float64).max else math.nextafter(size, math.inf) - size


@stands_for("math.isqrt")
def isqrt(x):
    n = _whole(x)
    if n < 0:
        raise ValueError("isqrt() argument must be nonnegative")
    root = min(int(math.sqrt(n)), 3037000499)
    while root * root > n:
        root -= 1
    while root < 3037000499 and (root + 1) * (root + 1) <= n:
        root += 1
    return root


@stands_for("math.fsum")
def fsum(seq):
    """Shewchuk (1997): the parts of the sum do not overlap, so that nothing is lost."""
    parts = [0.0]
    special = 0.0
    for value in seq:
        x = float(value)
        if math.isinf(x) or math.isnan(x):
            special += x
            continue
        kept = 0
        for k in range(len(parts)):
            y = parts[k]
            if abs(x) < abs(y):
                x, y = y, x
            high = x + y
            if math.isinf(high):
                raise OverflowError("intermediate overflow in fsum")
            low = y - (high - x)
            if low != 0.0:
                parts[kept] = low
                kept += 1
            x = high
        del parts[kept:]
        parts.append(x)
    if special != 0.0 or math.isnan(special):
        return special
    # From the largest part on; a half is rounded as the parts below say.
    total = parts.pop()
    low = 0.0
    while len(parts) > 0:
        x, y = total, parts.pop()
        total = x + y
        low = y - (total - x)
        if low != 0.0:
            break
    if len(parts) > 0 and ((low < 0.0 and parts[-1] < 0.0) or (low > 0.0 and parts[-1] > 0.0)):
        twice = low * 2.0
        beyond = total + twice
        if twice == beyond - total:
            total = beyond
    return total


@stands_for("math.dist")
def dist(p, q):
    if len(p) != len(q):
        raise ValueError("both points must have the same number of dimensions")
    length = 0.0
    for k in range(len(p)):
        length = math.hypot(length, p[k] - q[k])
    return length


@stands_for("math.prod")
def prod(iterable, *, start=1):
    product = start * iterable[0] if len(iterable) > 0 else start
    for k in range(1, len(iterable)):
        product *= iterable[k]
    return product


def _without_nan(x, nan, most, least):
    out = np.where(np.isnan(x), nan, x)
    out = np.where(out == np.inf, most, out)
    return np.where(out == -np.inf, least, out)


@stands_for("numpy.nan_to_num")
def nan_to_num(x, copy=True, nan=0.0, posinf=None, neginf=None):
    if isinstance(x, np.ndarray):
        if isinstance(x.dtype.type(0), int) or x.dtype == np.bool_:
            return x.copy() if copy else x
        if not copy:
            x[...] = nan_to_num(x, True, nan, posinf, neginf)
            return x
        if isinstance(x.dtype.type(0), complex):
            parts = x.copy()
            parts.real[...] = nan_to_num(x.real, True, nan, posinf, neginf)
            parts.imag[...] = nan_to_num(x.imag, True, nan, posinf, neginf)
            return parts
        if x.dtype == np.float32:
            most, least = np.float32(3.4028234663852886e38), np.float32(-3.4028234663852886e38)
        else:
            most, least = 1.7976931348623157e308, -1.7976931348623157e308  # type: ignore[assignment]
        high = most if posinf is None else x.dtype.type(posinf)
        low = least if neginf is None else x.dtype.type(neginf)
        return _without_nan(x, x.dtype.type(nan), high, low)
    if not copy:
        raise ValueError("a number cannot be changed in place: copy must be True")
    if isinstance(x, int):
        return x
    if isinstance(x, complex):
        return complex(nan_to_num(x.real, True, nan, posinf, neginf), nan_to_num(x.imag, True, nan, posinf, neginf))
    most = 1.7976931348623157e308 if posinf is None else posinf  # type: ignore[assignment]
    least = -1.7976931348623157e308 if neginf is None else neginf  # type: ignore[assignment]
    if np.isnan(x):
        return nan
    return most if x == np.inf else (least if x == -np.inf else x * 1.0)


@stands_for("numpy.isclose", "numpy.allclose")
def isclose_numbers(a, b, rtol=1e-05, atol=1e-08, equal_nan=False):
    if np.isnan(a) or np.isnan(b):
        return equal_nan and bool(np.isnan(a) and np.isnan(b))
    if np.isinf(a) or np.isinf(b):
        return a == b
    return abs(a - b) <= atol + rtol * abs(b)


@stands_for("numpy.divmod")
def divmod_numbers(x1, x2, out1=None, out2=None):
    if out1 is None and out2 is None:
        return x1 // x2, x1 % x2
    rest = np.remainder(x1, x2)  # before the first output is written, which may be an operand
    return np.floor_divide(x1, x2, out1), np.positive(rest, out2)


@stands_for("numpy.fix")
def fix(x):
    return np.trunc(x)


@stands_for("numpy.angle")
def angle(z, deg=False):
    turn = np.arctan2(np.imag(z) * 1, np.real(z))  # of booleans it is float64, as NumPy's
    return np.degrees(turn) if deg else turn
