"""Convolution and cross-correlation of vectors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from . import _broadcloth as _c
from ._broadcloth import ndarray

if TYPE_CHECKING:
    from .typing import ArrayLike

_MODES = ("valid", "same", "full")
# Fewer results than this are sums over rows; more are sums over columns, which go side by side.
_FEW = 64
# Factors whose products are added one by one.
_SHORT = 16
# Sums of fewer products are added one after the other, as they are on the host for few elements (small_products.cpp).
_IN_ORDER = 32
# As many shifts at an edge are computed together, with zeros where nothing overlaps.
_PIECE = 512


def _mode_of(mode: Any) -> str:
    if isinstance(mode, str):
        if mode in _MODES:
            return mode
        raise ValueError(f"mode must be one of 'valid', 'same', or 'full' (got '{mode}')")
    if not isinstance(mode, int | np.integer) or isinstance(mode, bool):
        raise TypeError("convolve/correlate mode not understood")
    if not 0 <= mode < len(_MODES):
        raise ValueError("integer convolve/correlate mode must be 0, 1, or 2")
    return _MODES[int(mode)]


def _vector(a: ndarray) -> ndarray:
    if a.ndim != 1:
        raise ValueError("object too deep for desired array" if a.ndim else "object of too small depth for desired array")
    return a


def _sums(a: ndarray, v: ndarray, count: int, within: tuple[int, int] | None = None) -> ndarray:
    """sum(a[i + j] * v[j]) over j for each i below `count`: one pass that holds no window.

    Only the elements of `a` at the places `within` count, so that zeros around them do not meet infinities of `v`.
    """
    if within is None and v.size <= _SHORT and a.dtype.kind != "b":  # elementwise: one kernel whose loads are all in a row
        total = a[:count] * v[0]
        for j in range(1, v.size):
            total = total + a[j : j + count] * v[j]
        return total
    step, axis = a.strides[0], 0 if count >= _FEW or v.size < _IN_ORDER else 1
    shape = (v.size, count) if axis == 0 else (count, v.size)
    windows = _c.as_strided(a, shape, (step, step))
    factors = v[:, None] if axis == 0 else v
    if a.dtype.kind == "b":
        return _c.reduce("any", windows & factors, axis)
    terms = windows * factors
    if within is not None and a.dtype.kind not in "iu":
        rows, columns = (_c.arange(extent, device=a.device) for extent in shape)
        places = rows[:, None] + columns
        terms = _c.where((places >= within[0]) & (places < within[1]), terms, 0)
    return _c.reduce("sum", terms, axis, a.dtype)


def _edge_sums(a: ndarray, v: ndarray, before: int, count: int, finite: bool) -> ndarray:
    """The sums for `count` shifts, from `before` places in front of `a` on, of what overlaps."""
    piece = max(_PIECE, -(-count // 8))
    if count <= piece:
        padded = _c.zeros(count + v.size - 1, a.dtype, device=a.device)
        padded[before : before + a.size] = a
        return _sums(padded, v, count, None if finite else (before, before + a.size))
    parts = []
    for first in range(0, count, piece):
        # The factors that meet an element of `a` for one of these shifts at least, and the elements that they meet.
        last = min(first + piece, count)
        low, high = max(0, before - last + 1), min(v.size, before + a.size - first)
        start = before - first - low
        met = a[max(0, -start) : last - first + high - low - 1 - start]
        parts.append(_edge_sums(met, v[low:high], max(0, start), last - first, finite))
    return _c.concatenate(parts)


def _correlated(a: ndarray, v: ndarray, mode: str) -> ndarray:
    """sum(a[i + j] * v[j]) over j, with `v` not longer than `a`."""
    dtype = np.promote_types(a.dtype, v.dtype)
    before, behind = {"valid": (0, 0), "same": (v.size // 2, v.size - v.size // 2 - 1), "full": (v.size - 1, v.size - 1)}[mode]
    # Products of halves are added in single precision, as NumPy does it.
    wide = np.dtype(np.float32) if dtype.name in ("float16", "bfloat16") else dtype  # to compare with the type would load ml_dtypes
    a, v = a.astype(wide, copy=False), v.astype(wide, copy=False)
    n, k = a.size, v.size
    whole = n - k + 1
    # On the CPU it costs little to see that no factor makes a NaN of a zero.
    finite = a.dtype.kind in "biu"
    if not finite and mode != "valid" and v.device.type == "cpu" and not _c.differs(v):
        finite = bool(_c.ufuncs["isfinite"](v).all())
    if mode == "valid" or k == 1:
        made = _sums(a, v, whole)
    elif whole <= 4 * k:
        made = _edge_sums(a, v, before, before + whole + behind, finite)
    else:
        made = _c.empty(before + whole + behind, wide, device=a.device)
        made[before : before + whole] = _sums(a, v, whole)
        if before:
            made[:before] = _edge_sums(a[: k - 1], v, before, before, finite)
        if behind:
            made[before + whole :] = _edge_sums(a[whole:], v, 0, behind, finite)
    return made.astype(dtype, copy=False)


def correlate(a: ArrayLike, v: ArrayLike, mode: str = "valid") -> ndarray:
    """The cross-correlation of two vectors: sums of `a[k + n] * conj(v[n])` over n, for each shift k.

    Parameters
    ----------
    a, v : array_like, 1-d
    mode : {'valid', 'same', 'full'}
        The shifts where both overlap wholly; as many as the longer vector has elements; all where they overlap.

    Raises
    ------
    ValueError
        A vector is empty or has more dimensions, or there is no such mode.

    Examples
    --------
    >>> bc.correlate([1, 2, 3], [0, 1, 0.5])
    array([3.5])
    >>> bc.correlate([1, 2, 3], [0, 1, 0.5], "full")
    array([0.5, 2. , 3.5, 3. , 0. ])
    """
    a, v = _c.asarray(a), _c.asarray(v)
    few = _c.correlate_small(a, v, mode, False)
    if few is not None:
        return few
    x, y = _vector(a), _vector(v)
    mode = _mode_of(mode)
    if x.size == 0:
        raise ValueError("first array argument cannot be empty")
    if y.size == 0:
        raise ValueError("second array argument cannot be empty")
    if y.dtype.kind == "c":
        y = _c.ufuncs["conjugate"](y)
    if x.size < y.size:
        return _correlated(y, x, mode)[::-1].copy()
    return _correlated(x, y, mode)


def convolve(a: ArrayLike, v: ArrayLike, mode: str = "full") -> ndarray:
    """The convolution of two vectors: sums of `a[m] * v[n - m]` over m, for each n.

    Parameters
    ----------
    a, v : array_like, 1-d
    mode : {'full', 'same', 'valid'}
        All sums; as many as the longer vector has elements; those where the vectors overlap wholly.

    Raises
    ------
    ValueError
        A vector is empty or has more dimensions, or there is no such mode.

    Examples
    --------
    >>> bc.convolve([1, 2, 3], [0, 1, 0.5])
    array([0. , 1. , 2.5, 4. , 1.5])
    >>> bc.convolve([1, 2, 3], [0, 1, 0.5], "same")
    array([1. , 2.5, 4. ])
    """
    a, v = _c.asarray(a), _c.asarray(v)
    few = _c.correlate_small(a, v, mode, True)
    if few is not None:
        return few
    x, y = _vector(_c.atleast_1d(a)), _vector(_c.atleast_1d(v))
    if x.size == 0:
        raise ValueError("a cannot be empty")
    if y.size == 0:
        raise ValueError("v cannot be empty")
    if y.size > x.size:
        x, y = y, x
    return _correlated(x, y[::-1], _mode_of(mode))
