"""Window functions for spectra and filters."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _broadcloth as _c
from ._broadcloth import ndarray

if TYPE_CHECKING:
    from .typing import DeviceLike

_ufuncs = _c.ufuncs
_cos = _ufuncs["cos"]


def _length(M: Any, *more: Any) -> float:
    """The number of points as NumPy's functions take it: a number that float64 holds."""
    return float(np.asarray([0.0, M, *more])[1])


def _symmetric(M: Any, device: DeviceLike, window: Callable[[ndarray, float], ndarray]) -> ndarray:
    """`window` of the points 1 - M, 3 - M, … M - 1 and of M - 1."""
    count = _length(M)
    if count < 1:
        return _c.empty((0,), np.float64, device=device)
    if count == 1:
        return _c.ones((1,), np.float64, device=device)
    return window(_c.arange(1 - count, count, 2, device=device), count - 1)


def bartlett(M: Any, *, device: DeviceLike = None) -> ndarray:
    """A triangular window that begins and ends with zero.

    Parameters
    ----------
    M : int
        The number of points; an empty array for less than one.
    device : device or str, optional
        Where the window lies.

    Returns
    -------
    ndarray of float64
        Shape (M,), with 1 in the middle where M is odd.

    Examples
    --------
    >>> bc.bartlett(5)
    array([0. , 0.5, 1. , 0.5, 0. ])
    """
    return _symmetric(M, device, lambda n, last: _c.where(n <= 0, 1 + n / last, 1 - n / last))


def blackman(M: Any, *, device: DeviceLike = None) -> ndarray:
    """The Blackman window, a sum of three cosines; see `bartlett` for parameters and result.

    Examples
    --------
    >>> bc.blackman(5).round(2)
    array([-0.  ,  0.34,  1.  ,  0.34, -0.  ])
    """
    return _symmetric(M, device, lambda n, last: 0.42 + 0.5 * _cos(np.pi * n / last) + 0.08 * _cos(2.0 * np.pi * n / last))


def hamming(M: Any, *, device: DeviceLike = None) -> ndarray:
    """The Hamming window, a raised cosine that does not reach zero; see `bartlett` for parameters and result.

    Examples
    --------
    >>> bc.hamming(5)
    array([0.08, 0.54, 1.  , 0.54, 0.08])
    """
    return _symmetric(M, device, lambda n, last: 0.54 + 0.46 * _cos(np.pi * n / last))


def hanning(M: Any, *, device: DeviceLike = None) -> ndarray:
    """The Hann window, a raised cosine; see `bartlett` for parameters and result.

    Examples
    --------
    >>> bc.hanning(5)
    array([0. , 0.5, 1. , 0.5, 0. ])
    """
    return _symmetric(M, device, lambda n, last: 0.5 + 0.5 * _cos(np.pi * n / last))


def kaiser(M: Any, beta: float, *, device: DeviceLike = None) -> ndarray:
    """The Kaiser window, made of Bessel functions; `beta` is its shape. See `bartlett` for the other parameters and the result.

    Examples
    --------
    >>> bc.kaiser(5, 14).round(3)
    array([0.   , 0.165, 1.   , 0.165, 0.   ])
    """
    count = _length(M, beta)
    if count == 1:
        return _c.ones((1,), np.float64, device=device)
    i0 = _ufuncs["i0"]
    middle = (count - 1) / 2.0
    n = _c.arange(0.0, count, device=device)
    shape = float(beta)
    return i0(shape * _ufuncs["sqrt"](1 - ((n - middle) / middle) ** 2.0)) / i0(_c.asarray(shape, device=device))
