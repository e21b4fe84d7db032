"""Sequences of functions of neighbouring orders at one point: tables that are computed on the host, by recurrences that are stable in their
direction (DLMF 3.6, 10.51, 12.8), from our own functions at the ends."""

from __future__ import annotations

import cmath
import math
from typing import TYPE_CHECKING, Any

import numpy as np

from ... import _broadcloth as _c
from ..._broadcloth import ndarray
from ._bessel import hyp0f1
from ._parabolic import pbdv, pbvv
from ._spherical import spherical_jn

if TYPE_CHECKING:
    pass

__all__ = ["lmbda", "pbdn_seq", "pbdv_seq", "pbvv_seq", "riccati_jn", "riccati_yn"]


def _scalars(name: str, *operands: Any) -> list[Any]:
    for x in operands:
        if not np.isscalar(x) and not (isinstance(x, ndarray | np.ndarray) and x.ndim == 0):
            raise ValueError(f"{name}: arguments must be scalars, got {x!r}")
    return [x.item() if isinstance(x, ndarray | np.ndarray) else x for x in operands]


def _degree(name: str, n: Any) -> int:
    if int(n) != n or n < 0:
        raise ValueError(f"{name}: n must be a non-negative integer, got {n!r}")
    return int(n)


def _host(x: Any) -> ndarray:
    return _c.array(np.asarray(x, np.float64), device="cpu")


def riccati_jn(n: int, x: float) -> tuple[ndarray, ndarray]:
    """The Riccati-Bessel functions of the first kind, x j_k(x) for k = 0 to n, and their derivatives by x.

    Parameters
    ----------
    n : int
        The largest order.
    x : float
        The point.

    Returns
    -------
    jn, jnp : ndarray of float64, (n + 1,)
        On the default device; computed on the host.

    Raises
    ------
    ValueError
        An operand is no scalar, or `n` is negative or not whole.

    Examples
    --------
    >>> jn, jnp = bc.scipy.special.riccati_jn(2, 1.5)
    >>> jn
    array([0.99749499, 0.59425946, 0.19102393])
    """
    n, x = _scalars("riccati_jn", n, x)
    orders = np.arange(_degree("riccati_jn", n) + 1)
    x = float(x)
    at = _c.array(orders, device="cpu")
    values, slopes = (spherical_jn(at, x, derivative).get() for derivative in (False, True))
    return _c.asarray(x * values), _c.asarray(values + x * slopes)


def riccati_yn(n: int, x: float) -> tuple[ndarray, ndarray]:
    """The Riccati-Bessel functions of the second kind, x y_k(x) for k = 0 to n, and their derivatives by x; see `riccati_jn`.

    At x = 0 they are -inf and their derivatives inf from k = 1 on; SciPy has numbers of 1e300 there.

    Examples
    --------
    >>> yn, ynp = bc.scipy.special.riccati_yn(2, 1.5)
    >>> yn
    array([-0.0707372 , -1.04465312, -2.01856904])
    """
    n, x = _scalars("riccati_yn", n, x)
    count = _degree("riccati_yn", n) + 1
    x = float(x)
    values, slopes = np.full(count, -math.inf), np.full(count, math.inf)
    values[0], slopes[0] = -math.cos(x), math.sin(x)
    if x != 0:
        before, now = math.sin(x), -math.cos(x)
        for k in range(1, count):
            before, now = now, (2 * k - 1) / x * now - before
            values[k], slopes[k] = now, before - k / x * now
    return _c.asarray(values), _c.asarray(slopes)


def lmbda(v: float, x: float) -> tuple[ndarray, ndarray]:
    """Jahnke and Emde's Lambda functions gamma(u + 1) (x / 2)**-u J_u(x) of the orders u = v - int(v) to v, and their derivatives by x.

    Parameters
    ----------
    v : float
        The largest order, not negative.
    x : float
        The point.

    Returns
    -------
    vl, dl : ndarray of float64, (int(v) + 1,)
        On the default device; computed on the host.

    Raises
    ------
    ValueError
        An operand is no scalar, or `v` is negative.

    Examples
    --------
    >>> vl, dl = bc.scipy.special.lmbda(2.5, 1.0)
    >>> vl
    array([0.84147098, 0.90350604, 0.93052578])
    """
    v, x = _scalars("lmbda", v, x)
    if not v >= 0:
        raise ValueError(f"lmbda: argument must be > 0, got {v!r}")
    orders = v - int(v) + np.arange(int(v) + 2)
    # DLMF 10.16.9
    values = hyp0f1(_host(orders + 1), -0.25 * float(x) * float(x)).get()
    return _c.asarray(values[:-1]), _c.asarray(-0.5 * x / (orders[:-1] + 1) * values[1:])


def _orders(v: float) -> np.ndarray[Any, Any]:
    """v - int(v) to v, in steps of 1 or -1; two at least."""
    step = 1 if v >= 0 else -1
    return v - int(v) + step * np.arange(max(abs(int(v)), 1) + 1)


def pbdv_seq(v: float, x: float) -> tuple[ndarray, ndarray]:
    """The parabolic cylinder functions D of the orders v - int(v) to v, which are two at least, and their derivatives.

    The orders go down where v is negative.

    Parameters
    ----------
    v : float
        The largest order.
    x : float
        The point.

    Returns
    -------
    dv, dp : ndarray of float64, (max(abs(int(v)), 1) + 1,)
        On the default device; computed on the host.

    Raises
    ------
    ValueError
        An operand is no scalar.

    Examples
    --------
    >>> dv, dp = bc.scipy.special.pbdv_seq(2.5, 1.0)
    >>> dv
    array([ 0.84220324,  0.51566723, -0.74763764])
    """
    v, x = _scalars("pbdv_seq", v, x)
    values, slopes = pbdv(_host(_orders(v)), float(x))
    return _c.asarray(values.get()), _c.asarray(slopes.get())


def pbvv_seq(v: float, x: float) -> tuple[ndarray, ndarray]:
    """The parabolic cylinder functions V of the orders v - int(v) to v, and their derivatives; see `pbdv_seq`.

    Examples
    --------
    >>> vv, vp = bc.scipy.special.pbvv_seq(2.5, 1.0)
    >>> vv
    array([ 0.22003509, -0.54176921, -0.30472172])
    """
    v, x = _scalars("pbvv_seq", v, x)
    values, slopes = pbvv(_host(_orders(v)), float(x))
    return _c.asarray(values.get()), _c.asarray(slopes.get())


def pbdn_seq(n: int, z: complex) -> tuple[ndarray, ndarray]:
    """The parabolic cylinder functions D of the orders 0 to n, or 0 down to a negative n, at complex z, and their derivatives by z.

    SciPy's values for n >= 0 are those of abs(z) in the exponential, right on the real axis only; these are right everywhere.

    Parameters
    ----------
    n : int
        The last order.
    z : complex
        The point.

    Returns
    -------
    dv, dp : ndarray of complex128, (max(abs(n), 1) + 1,)
        On the default device; computed on the host.

    Raises
    ------
    ValueError
        An operand is no scalar, or `n` is not whole.

    Examples
    --------
    >>> dv, dp = bc.scipy.special.pbdn_seq(2, 1.0)
    >>> dv.real
    array([0.77880078, 0.77880078, 0.        ])
    """
    n, z = _scalars("pbdn_seq", n, z)
    if int(n) != n:
        raise ValueError(f"pbdn_seq: n must be an integer, got {n!r}")
    z, count = complex(z), max(abs(int(n)), 1) + 1
    values = _upwards(z, count) if n >= 0 else _downwards(z, count)
    # DLMF 12.8.2, 12.8.3
    k = np.arange(count)
    if n >= 0:
        slopes = np.concatenate([[0], k[1:] * values[:-1]]) - 0.5 * z * values
    else:
        slopes = np.concatenate([[0], -values[:-1]]) + 0.5 * z * values
    slopes[0] = -0.5 * z * values[0]
    return _c.asarray(values), _c.asarray(slopes)


def _upwards(z: complex, count: int) -> np.ndarray[Any, Any]:
    """D of orders 0 to count - 1: D(k + 1) = z D(k) - k D(k - 1)."""
    values = np.zeros(count, np.complex128)
    before, now = 0j, cmath.exp(-0.25 * z * z)
    for k in range(count):
        values[k] = now
        before, now = now, z * now - k * before
    return values


def _downwards(z: complex, count: int) -> np.ndarray[Any, Any]:
    """D of orders 0, -1, ... 1 - count: k D(-k - 1) = D(-k + 1) - z D(-k), whose smallest solution on the right is D."""
    values = np.zeros(count, np.complex128)
    first = cmath.exp(-0.25 * z * z)
    root = z / math.sqrt(2)
    # D(-1) = sqrt(pi / 2) exp(z**2 / 4) erfc(z / sqrt(2)), by w, which does not overflow on the right
    wofz = _c.ufuncs["wofz"](_c.array(np.asarray(1j * root), device="cpu")).item()
    second = math.sqrt(math.pi / 2) * first * wofz
    values[0], values[1] = first, second
    if z.real * math.sqrt(count) < 1:  # the other solution gains less than a digit
        before, now = first, second
        for k in range(1, count - 1):
            before, now = now, (before - z * now) / k
            values[k + 1] = now
        return values
    # Miller's method from far above
    after, now = 0j, 1e-250 + 0j
    for k in range(count + 60 + int((20 / z.real) ** 2) + 3 * int(abs(z)), 0, -1):
        # now is D(-k), after D(-k - 1)
        if k < count:
            values[k] = now
        after, now = now, k * after + z * now
        if abs(now) > 1e200:
            after, now = after * 1e-200, now * 1e-200
            values[k:] *= 1e-200
    values[0] = now
    return values * (first / now)
