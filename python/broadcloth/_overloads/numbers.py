"""Functions of numbers: those of math, and NumPy's that work element by element."""

from __future__ import annotations

import math

import numpy as np

from ._table import stands_for


@stands_for("math.factorial")
def factorial(n):
    if n < 0:
        raise ValueError("factorial() not defined for negative values")
    if n > 20:
        raise OverflowError("factorial() of more than 20 does not fit into 64 bits")
    product = 1
    for k in range(2, n + 1):
        product *= k
    return product


@stands_for("math.comb")
def comb(n, k):
    if n < 0 or k < 0:
        raise ValueError("comb() takes numbers of at least zero")
    if k > n:
        return 0
    chosen = 1
    for j in range(min(k, n - k)):
        chosen = chosen * (n - j) // (j + 1)
    return chosen


@stands_for("math.perm")
def perm(n, k):
    product = 1
    for j in range(k):
        product *= n - j
    return product


@stands_for("math.isclose")
def isclose(a, b, rel_tol=1e-09, abs_tol=0.0):
    if a == b:
        return True
    if math.isinf(a) or math.isinf(b):
        return False
    return abs(a - b) <= max(rel_tol * max(abs(a), abs(b)), abs_tol)


@stands_for("math.isqrt")
def isqrt(n):
    if n < 0:
        raise ValueError("isqrt() argument must be nonnegative")
    root = min(int(math.sqrt(n)), 3037000499)
    while root * root > n:
        root -= 1
    while root < 3037000499 and (root + 1) * (root + 1) <= n:
        root += 1
    return root


@stands_for("math.prod")
def prod(values):
    product = values[0]
    for k in range(1, len(values)):
        product *= values[k]
    return product


@stands_for("numpy.nan_to_num")
def nan_to_num(x):
    out = np.where(np.isnan(x), 0.0, x)
    out = np.where(out == np.inf, 1.7976931348623157e308, out)
    return np.where(out == -np.inf, -1.7976931348623157e308, out)


@stands_for("numpy.angle")
def angle(z):
    return np.arctan2(np.imag(z), np.real(z))
