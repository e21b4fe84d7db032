"""Zeros of Bessel functions of whole order: small computations on the host, whose arrays go to the default device."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ... import _broadcloth as _c
from ..._broadcloth import ndarray

__all__ = ["jn_zeros", "jnp_zeros", "yn_zeros", "ynp_zeros"]

_Host = np.ndarray[Any, Any]


def _checked(name: str, n: Any, nt: Any) -> tuple[int, int]:
    for what, value in (("n", n), ("nt", nt)):
        if not np.isscalar(value) or int(value) != value:  # type: ignore[call-overload, operator, arg-type]
            raise ValueError(f"{name}: {what} must be a whole number, got {value!r}")
    if nt <= 0:
        raise ValueError(f"{name}: nt must be positive, got {nt}")
    return abs(int(n)), int(nt)


def _j(n: int, x: _Host) -> tuple[_Host, _Host]:
    """J of orders n and n + 1 at x > 0, by Miller's method; the sum J(0) + 2 J(2) + 2 J(4) + ... is 1."""
    x = x.astype(np.longdouble)
    after, now, total, wanted, following = np.zeros_like(x), np.full_like(x, 1e-200), *np.zeros((3, len(x)), x.dtype)
    top = max(n, math.ceil(float(x.max())))
    for k in range(top + 30 + int(14 * top ** (1 / 3)), 0, -1):
        after, now = now, 2 * k / x * now - after
        if k - 1 == n:
            wanted, following = now, after
        if k % 2 == 1:
            total = total + (1 if k == 1 else 2) * now
        if (large := np.abs(now) > 1e200).any():
            scale = np.where(large, 1e-200, 1.0)
            after, now, total, wanted, following = (a * scale for a in (after, now, total, wanted, following))
    return wanted / total, following / total


def _y(n: int, x: _Host) -> tuple[_Host, _Host]:
    """Y of orders n and n + 1, by the recurrence upwards."""
    on_cpu = _c.array(x.astype(np.float64), device="cpu")
    before, now = (_c.ufuncs[name](on_cpu).get() for name in ("y0", "y1"))
    for k in range(1, n + 1):
        before, now = now, 2 * k / x * now - before
    return before, now


def _j_zeros(n: int, count: int) -> _Host:
    """Ikebe, Kikuchi & Fujishiro (1991): 4 / x**2 are eigenvalues of a tridiagonal matrix; then one step of Newton's method."""
    from ..linalg import eigvalsh_tridiagonal

    m = n + 2.0 * np.arange(1, 2 * count + n // 2 + 30)
    beside = 1 / ((m[:-1] + 1) * np.sqrt(m[:-1] * m[1:]))
    d, e = (_c.array(part, device="cpu") for part in (2 / ((m - 1) * (m + 1)), beside))
    x = 2 / np.sqrt(eigvalsh_tridiagonal(d, e).get()[::-1][:count])
    for _ in range(2):
        value, following = _j(n, x)
        x = (x - value / (n / x * value - following)).astype(np.float64)
    return x


def _derivative(pair: Callable[[int, _Host], tuple[_Host, _Host]]) -> Callable[[int, _Host], _Host]:
    def slope(n: int, x: _Host) -> _Host:
        value, following = pair(n, x)
        return n / x * value - following

    return slope


def _between(f: Callable[[_Host], _Host], low: _Host, high: _Host) -> _Host:
    """The zero of f in each interval, at whose ends its signs differ, by halving."""
    left = np.sign(f(low))
    for _ in range(64):
        middle = 0.5 * (low + high)
        same = np.sign(f(middle)) == left
        low, high = np.where(same, middle, low), np.where(same, high, middle)
    return 0.5 * (low + high)


def jn_zeros(n: int, nt: int) -> ndarray:
    """The first nt positive zeros of the Bessel function of the first kind, Jn.

    Parameters
    ----------
    n : int
        The order; its sign does not matter.
    nt : int
        How many zeros.

    Returns
    -------
    ndarray of float64, (nt,)
        On the default device; computed on the host.

    Raises
    ------
    ValueError
        The operands are not whole, or `nt` is not positive.

    Examples
    --------
    >>> bc.scipy.special.jn_zeros(0, 3)
    array([2.40482556, 5.52007811, 8.65372791])
    """
    return _c.asarray(_j_zeros(*_checked("jn_zeros", n, nt)))


def jnp_zeros(n: int, nt: int) -> ndarray:
    """The first nt positive zeros of the derivative of Jn; see `jn_zeros`.

    Examples
    --------
    >>> bc.scipy.special.jnp_zeros(1, 3)
    array([1.84118378, 5.33144277, 8.53631637])
    """
    n, nt = _checked("jnp_zeros", n, nt)
    if n == 0:
        return _c.asarray(_j_zeros(1, nt))  # the derivative of J0 is -J1
    ends = _j_zeros(n, nt)
    # It is positive from 0 to the first zero, which lies above n, and zeros of the function and the derivative alternate.
    low = np.concatenate([[0.99 * n], ends[:-1]])
    return _c.asarray(_between(lambda x: _derivative(_j)(n, x), low, ends))


def yn_zeros(n: int, nt: int) -> ndarray:
    """The first nt positive zeros of the Bessel function of the second kind, Yn; see `jn_zeros`.

    Examples
    --------
    >>> bc.scipy.special.yn_zeros(0, 3)
    array([0.89357697, 3.95767842, 7.08605106])
    """
    n, nt = _checked("yn_zeros", n, nt)
    return _c.asarray(_y_zeros(n, nt))


def _y_zeros(n: int, count: int) -> _Host:
    """They alternate with those of Jn, and the first is above n."""
    ends = _j_zeros(n, count)
    low = np.concatenate([[max(0.99 * n, 0.1)], ends[:-1]])
    return _between(lambda x: _y(n, x)[0], low, ends)


def ynp_zeros(n: int, nt: int) -> ndarray:
    """The first nt positive zeros of the derivative of Yn; see `jn_zeros`.

    Examples
    --------
    >>> bc.scipy.special.ynp_zeros(0, 3)
    array([2.19714133, 5.42968104, 8.59600587])
    """
    n, nt = _checked("ynp_zeros", n, nt)
    if n == 0:
        return _c.asarray(_y_zeros(1, nt))  # the derivative of Y0 is -Y1
    ends = _y_zeros(n, nt + 1)
    return _c.asarray(_between(lambda x: _derivative(_y)(n, x), ends[:-1], ends[1:]))
