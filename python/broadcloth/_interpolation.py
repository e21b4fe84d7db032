"""Piecewise linear interpolation: a search for the interval, and one fused kernel that reads its ends."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from . import _broadcloth as _c
from ._broadcloth import ndarray

if TYPE_CHECKING:
    from .typing import ArrayLike

_ufuncs = _c.ufuncs
_ENDS = {type(None), float, int}


def _safe(value: ArrayLike, dtype: Any, device: Any) -> ndarray:
    a = _c.asarray(value, device=device)
    if not np.can_cast(a.dtype, dtype) and a.dtype != _c.bfloat16:
        raise TypeError(f"Cannot cast array data from dtype('{a.dtype}') to dtype('{np.dtype(dtype)}') according to the rule 'safe'")
    return a.astype(dtype, copy=False)


def _check_points(xp: ndarray, fp: ndarray) -> None:
    for points in (fp, xp):
        if points.ndim != 1:
            raise ValueError("object too deep for desired array" if points.ndim else "object of too small depth for desired array")
    if xp.size == 0:
        raise ValueError("array of sample points is empty")
    if fp.size != xp.size:
        raise ValueError("fp and xp are not of the same length.")


def _wrapped(x: ndarray, xp: ndarray, fp: ndarray, period: Any) -> tuple[ndarray, ndarray, ndarray]:
    """Points of one period in order, with one more at each end."""
    if period == 0:
        raise ValueError("period must be a non-zero value")
    if xp.ndim != 1 or fp.ndim != 1:
        raise ValueError("Data points must be 1-D sequences")
    if xp.shape[0] != fp.shape[0]:
        raise ValueError("fp and xp are not of the same length")
    period = abs(period)
    xp = xp % period
    order = _c.argsort(xp)
    xp, fp = xp[order], fp[order]
    return x % period, _c.concatenate([xp[-1:] - period, xp, xp[:1] + period]), _c.concatenate([fp[-1:], fp, fp[:1]])


def _between(x: ndarray, xp: ndarray, fp: ndarray, at: ndarray) -> ndarray:
    """The line through the points `at` and `at` + 1, at x. Infinite slopes are taken from the other end, and flat lines stay flat."""
    x0, x1, y0, y1 = xp[at], xp[at + 1], fp[at], fp[at + 1]
    slope = (y1 - y0) / (x1 - x0)
    y = slope * (x - x0) + y0
    y = _c.where(y == y, y, slope * (x - x1) + y1)
    y = _c.where((y != y) & (y0 == y1), y0, y)
    return _c.where(x == x0, y0, y)


def _interpolated(x: ndarray, xp: ndarray, fp: ndarray, at: ndarray | None, left: Any, right: Any) -> ndarray:
    if at is None:  # there is one point
        return _c.where(x < xp[0], left, _c.where(x > xp[0], right, fp[0]))
    y = _c.where(x == x, _between(x, xp, fp, at), x)
    return _c.where(x < xp[0], left, _c.where(x > xp[-1], right, _c.where(x == xp[-1], fp[-1], y)))


def interp(
    x: ArrayLike,
    xp: ArrayLike,
    fp: ArrayLike,
    left: ArrayLike | None = None,
    right: ArrayLike | None = None,
    period: float | None = None,
) -> ndarray:
    """Values of the broken line through points.

    Parameters
    ----------
    x : array_like, real
        Where the line is evaluated.
    xp : array_like of floats, 1-d
        The points' places, ascending (with `period` in any order). Their order is not checked.
    fp : array_like of floats or complex numbers, 1-d
        The points' values.
    left, right : number, optional
        The values before the first and behind the last point; those of these points unless given.
    period : number, optional
        The places' period; `left` and `right` do not count then.

    Returns
    -------
    ndarray of float64 or complex128
        Shaped as `x`.

    Raises
    ------
    ValueError
        `xp` and `fp` are not 1-d arrays of one length of at least one, or `period` is 0.
    TypeError
        `x` or `xp` is complex.

    Examples
    --------
    >>> bc.interp([0.5, 2.5, 9.0], [1, 2, 3], [3, 2, 0])
    array([3., 1., 0.])
    >>> bc.interp([-180, 5], [190, -190, 350, -350], [5, 10, 3, 4], period=360)
    array([7.5 , 3.75])
    """
    if type(xp) in (list, tuple) and type(fp) in (list, tuple):
        where = x.device if isinstance(x, ndarray) else None
        xp, fp = _safe(xp, np.float64, where), _c.asarray(fp, device=where)
        fp = fp if fp.dtype.kind == "c" else _safe(fp, np.float64, where)
    if period is None and isinstance(xp, ndarray) and isinstance(fp, ndarray) and _ENDS.issuperset((type(left), type(right))):
        few = _c.interp_small(x, xp, fp, left, right)
        if few is not None:
            return few
    points = _c.asarray(fp)
    device = next((v.device for v in (fp, xp, x) if isinstance(v, ndarray)), points.device)
    kind = np.complex128 if points.dtype.kind == "c" else np.float64
    y = _safe(points, kind, device)
    at, places = _safe(x, np.float64, device), _safe(xp, np.float64, device)
    if period is not None:
        left = right = None
        at, places, y = _wrapped(at, places, y, period)
    _check_points(places, y)
    first = y[0] if left is None else _safe(left, kind, device)
    last = y[-1] if right is None else _safe(right, kind, device)
    interval = None
    if places.size > 1:
        interval = _c.clip(_c.searchsorted(places, at, "right") - 1, 0, places.size - 2)
    if kind is np.float64:
        return _c.as_result(_interpolated(at, places, y, interval, first, last))
    made = _c.empty(at.shape, np.complex128, device=device)
    made.real = _interpolated(at, places, y.real, interval, first.real, last.real)
    imaginary = _interpolated(at, places, y.imag, interval, first.imag, last.imag)
    made.imag = imaginary if interval is None else _c.where(at == at, imaginary, 0.0)
    return _c.as_result(made)
