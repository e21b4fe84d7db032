"""CuPy's functions beside NumPy's: pinned arrays, scattered updates, the reciprocal square root, versions."""

from __future__ import annotations

import contextlib
import io
from typing import Any

import numpy as np

import broadcloth as bc

from ..cuda._memory import pinned_array


def empty_pinned(shape: Any, dtype: Any = float, order: str = "C") -> np.ndarray:
    """A NumPy array in page-locked memory, its contents undefined.

    Examples
    --------
    >>> from broadcloth import cupyx
    >>> cupyx.empty_pinned((2, 3), "f4").shape
    (2, 3)
    """
    return pinned_array(shape, dtype, order=order)


def zeros_pinned(shape: Any, dtype: Any = float, order: str = "C") -> np.ndarray:
    """A NumPy array of zeros in page-locked memory."""
    made = empty_pinned(shape, dtype, order)
    made[...] = np.zeros((), dtype)
    return made


def empty_like_pinned(a: Any, dtype: Any = None, order: str = "K", subok: Any = None, shape: Any = None) -> np.ndarray:
    """A NumPy array in page-locked memory with the shape, dtype and order of another."""
    if subok:
        raise TypeError("empty_like_pinned: subok is not supported")
    fortran = a.flags.f_contiguous and not a.flags.c_contiguous
    wanted = order if order in ("C", "F") else "F" if fortran else "C"
    kept = a.shape if shape is None else shape
    if order == "K" and shape is None and not (fortran or a.flags.c_contiguous):
        axes = sorted(range(a.ndim), key=lambda d: (-abs(a.strides[d]), d))
        made = empty_pinned([a.shape[d] for d in axes], a.dtype if dtype is None else dtype)
        return made.transpose([axes.index(d) for d in range(a.ndim)])
    return empty_pinned(kept, a.dtype if dtype is None else dtype, wanted)


def zeros_like_pinned(a: Any, dtype: Any = None, order: str = "K", subok: Any = None, shape: Any = None) -> np.ndarray:
    """A NumPy array of zeros in page-locked memory with the shape, dtype and order of another."""
    made = empty_like_pinned(a, dtype, order, subok, shape)
    made[...] = np.zeros((), made.dtype)
    return made


def rsqrt(x: Any, out: Any = None) -> Any:
    """``1 / sqrt(x)``, in one kernel.

    Examples
    --------
    >>> from broadcloth import cupyx
    >>> cupyx.rsqrt(bc.array([4.0, 16.0]))
    array([0.5 , 0.25])
    """
    return bc.reciprocal(bc.sqrt(x), out=out)


def scatter_add(a: Any, slices: Any, value: Any) -> None:
    """``a[slices] += value``, where an element that is named several times takes all of its values.

    Examples
    --------
    >>> from broadcloth import cupyx
    >>> a = bc.zeros(4)
    >>> cupyx.scatter_add(a, bc.array([1, 1, 3]), 1.0)
    >>> a
    array([0., 2., 0., 1.])
    """
    bc.add.at(a, slices, value)


def scatter_max(a: Any, slices: Any, value: Any) -> None:
    """The elements ``a[slices]`` become the largest of themselves and their values."""
    bc.maximum.at(a, slices, value)


def scatter_min(a: Any, slices: Any, value: Any) -> None:
    """The elements ``a[slices]`` become the smallest of themselves and their values."""
    bc.minimum.at(a, slices, value)


class _RuntimeInfo:
    """Versions, devices and libraries, as ``python -m broadcloth doctor`` shows them."""

    def __str__(self) -> str:
        from ..__main__ import doctor

        with contextlib.redirect_stdout(io.StringIO()) as text:
            doctor()
        return text.getvalue()

    __repr__ = __str__


def get_runtime_info(*, full: bool = True) -> Any:
    """What this installation has, as text for bug reports: `print` it."""
    return _RuntimeInfo()
