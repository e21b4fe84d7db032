"""Discrete Fourier transforms, under NumPy's names: `fft`, `rfft`, their inverses, over one or several axes, frequencies and shifts.

Integers and booleans compute in float64, float16 and bfloat16 in float32. Every transform of any length takes O(n log n) operations.

Examples
--------
>>> bc.fft.fft(bc.array([1.0, 0.0, 0.0, 0.0]))
array([1.+0.j, 1.+0.j, 1.+0.j, 1.+0.j])
>>> bc.fft.irfft(bc.fft.rfft(bc.arange(4)))
array([0., 1., 2., 3.])
"""

from __future__ import annotations

import operator
from collections.abc import Iterable, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import _broadcloth as _c
from .._broadcloth import ndarray
from .._creation import arange
from .._manipulation import roll
from .._namespace import face
from .._warnings import warn

if TYPE_CHECKING:
    from ..typing import ArrayLike, DeviceLike, DTypeLike

__all__ = [
    "fft",
    "fft2",
    "fftfreq",
    "fftn",
    "fftshift",
    "hfft",
    "ifft",
    "ifft2",
    "ifftn",
    "ifftshift",
    "ihfft",
    "irfft",
    "irfft2",
    "irfftn",
    "rfft",
    "rfft2",
    "rfftfreq",
    "rfftn",
]

_asarray = _c.asarray
_transform = _c.fft
# The numbers of the engine's FftKind and FftNorm.
_C2C, _R2C, _C2R = 0, 1, 2
_NORMS = {None: 0, "backward": 0, "ortho": 1, "forward": 2}

if not TYPE_CHECKING:
    _getattr, __dir__ = face(__name__, __all__)

    def __getattr__(name: str) -> Any:
        if name == "config":
            return import_module(f"{__name__}.config")
        return _getattr(name)


def _norm(norm: Any) -> int:
    try:
        return _NORMS[norm]
    except (KeyError, TypeError):
        raise ValueError(f'Invalid norm value {norm}; should be "backward", "ortho" or "forward".') from None


def _to_real(a: Any, n: Any, axis: Any, norm: int, forward: bool, out: Any) -> ndarray:
    """A transform to real numbers; NumPy gives one of half precision over a single axis as what it was."""
    a = _asarray(a)
    made = _transform(a, _C2R, n, axis, forward, norm, out)
    single = not isinstance(axis, list | tuple) or len(axis) == 1
    return made.astype(a.dtype) if out is None and single and a.dtype == np.float16 else made


def fft(a: ArrayLike, n: int | None = None, axis: int = -1, norm: str | None = None, out: ndarray | None = None) -> ndarray:
    """The discrete Fourier transform along an axis.

    Parameters
    ----------
    a : array_like
        Real or complex; of real input only half of the work is done.
    n : int, optional
        The number of points: input is cut to it, or filled up with zeros.
    axis : int
        The axis that is transformed.
    norm : {None, 'backward', 'ortho', 'forward'}
        Which direction divides by `n`: the inverse (None), both by its root, or this one.
    out : ndarray, optional
        Receives the result, and is returned.

    Returns
    -------
    ndarray
        complex64 of half and single precision, else complex128.

    Raises
    ------
    ValueError
        There is no point to transform, `norm` is none of these, or `out` has another shape.

    Examples
    --------
    >>> bc.fft.fft([0.0, 1.0, 0.0, 0.0])
    array([ 1.+0.j,  0.-1.j, -1.+0.j,  0.+1.j])
    """
    return _transform(a, _C2C, n, axis, True, _norm(norm), out)


def ifft(a: ArrayLike, n: int | None = None, axis: int = -1, norm: str | None = None, out: ndarray | None = None) -> ndarray:
    """The inverse of `fft`.

    Examples
    --------
    >>> bc.fft.ifft([0, 4, 0, 0])
    array([ 1.+0.j,  0.+1.j, -1.+0.j,  0.-1.j])
    """
    return _transform(a, _C2C, n, axis, False, _norm(norm), out)


def rfft(a: ArrayLike, n: int | None = None, axis: int = -1, norm: str | None = None, out: ndarray | None = None) -> ndarray:
    """The transform of real input: its `n // 2 + 1` frequencies that are not negative. The others are their conjugates.

    Raises
    ------
    TypeError
        `a` is complex.

    Examples
    --------
    >>> bc.fft.rfft([0.0, 1.0, 0.0, 0.0])
    array([ 1.+0.j,  0.-1.j, -1.+0.j])
    """
    return _transform(a, _R2C, n, axis, True, _norm(norm), out)


def irfft(a: ArrayLike, n: int | None = None, axis: int = -1, norm: str | None = None, out: ndarray | None = None) -> ndarray:
    """The inverse of `rfft`: `n` real numbers out of `n // 2 + 1` frequencies; `n` is `2 * (m - 1)` of `m` frequencies if not given.

    Examples
    --------
    >>> bc.fft.irfft([1, -1j, -1])
    array([0., 1., 0., 0.])
    """
    return _to_real(a, n, axis, _norm(norm), False, out)


def hfft(a: ArrayLike, n: int | None = None, axis: int = -1, norm: str | None = None, out: ndarray | None = None) -> ndarray:
    """The transform of a signal with Hermitian symmetry, whose spectrum is real; `a` is the half of it from time zero on.

    Examples
    --------
    >>> bc.fft.hfft([1.0, 2.0, 1.0])
    array([ 6.,  0., -2.,  0.])
    """
    return _to_real(a, n, axis, _norm(norm), True, out)


def ihfft(a: ArrayLike, n: int | None = None, axis: int = -1, norm: str | None = None, out: ndarray | None = None) -> ndarray:
    """The inverse of `hfft`.

    Examples
    --------
    >>> bc.fft.ihfft([6.0, 0.0, -2.0, 0.0]).real
    array([1., 2., 1.])
    """
    return _transform(a, _R2C, n, axis, False, _norm(norm), out)


# ---- Several axes --------------------------------------------------------------------------------------------------


def _lengths_and_axes(a: ndarray, s: Any, axes: Any, real_last: bool = False) -> tuple[list[int], list[int]]:
    """The lengths and the axes of a transform over several, by NumPy's rules; of a transform to real numbers the last is the output's."""
    given = s is not None
    if axes is None:
        if given:
            s = list(s)
            warn(
                "`axes` should not be `None` if `s` is not `None` (Deprecated in NumPy 2.0). In a future version of NumPy, this will "
                "raise an error and `s[i]` will correspond to the size along the transformed axis specified by `axes[i]`. To retain "
                "current behaviour, pass a sequence [0, ..., k-1] to `axes` for an array of dimension k.",
                DeprecationWarning,
            )
        axes = range(-len(s) if given else -a.ndim, 0)
    axes = [operator.index(d) for d in axes]
    s = list(s) if given else [a.shape[d] for d in axes]
    if len(s) != len(axes):
        raise ValueError("Shape and axes have different lengths.")
    if None in s:
        warn(
            "Passing an array containing `None` values to `s` is deprecated in NumPy 2.0 and will raise an error in a future version of "
            "NumPy. To use the default behaviour of the corresponding 1-D transform, pass the value matching the default for its `n` "
            "parameter. To use the default behaviour for every axis, the `s` argument can be omitted.",
            DeprecationWarning,
        )
    if real_last and axes and (not given or s[-1] is None):
        s[-1] = (a.shape[axes[-1]] - 1) * 2
    return [a.shape[d] if n is None or n == -1 else operator.index(n) for n, d in zip(s, axes, strict=True)], axes


def _over_axes(a: Any, kind: int, s: Any, axes: Any, forward: bool, norm: Any, out: Any) -> ndarray:
    a = _asarray(a)
    s, axes = _lengths_and_axes(a, s, axes, kind == _C2R)
    number = _norm(norm)
    if not axes:
        if kind != _C2C:
            raise IndexError("list index out of range")
        return a
    if len({d % a.ndim if -a.ndim <= d < a.ndim else d for d in axes}) == len(axes):
        if kind == _C2R:
            return _to_real(a, s, axes, number, forward, out)
        return _transform(a, kind, s, axes, forward, number, out)
    # An axis that is named twice is transformed twice.
    last = len(axes) - 1
    order = range(last, -1, -1) if kind != _C2R else range(last + 1)
    for i in order:
        step = kind if i == last else _C2C
        a = _transform(a, step, s[i], axes[i], forward, number, out if i == order[-1] else None)
    return a


def fftn(
    a: ArrayLike,
    s: Sequence[int] | None = None,
    axes: Sequence[int] | None = None,
    norm: str | None = None,
    out: ndarray | None = None,
) -> ndarray:
    """The discrete Fourier transform over several axes.

    Parameters
    ----------
    a : array_like
        Real or complex.
    s : sequence of ints, optional
        The number of points of each axis: input is cut to it, or filled up with zeros. -1 takes the axis as it is.
    axes : sequence of ints, optional
        The axes, all of them if not given. One that is named twice is transformed twice.
    norm, out
        As in `fft`.

    Examples
    --------
    >>> bc.fft.fftn(bc.ones((2, 2)))
    array([[4.+0.j, 0.+0.j],
           [0.+0.j, 0.+0.j]])
    """
    return _over_axes(a, _C2C, s, axes, True, norm, out)


def ifftn(
    a: ArrayLike,
    s: Sequence[int] | None = None,
    axes: Sequence[int] | None = None,
    norm: str | None = None,
    out: ndarray | None = None,
) -> ndarray:
    """The inverse of `fftn`.

    Examples
    --------
    >>> bc.fft.ifftn([[4, 0], [0, 0]])
    array([[1.+0.j, 1.+0.j],
           [1.+0.j, 1.+0.j]])
    """
    return _over_axes(a, _C2C, s, axes, False, norm, out)


def fft2(
    a: ArrayLike,
    s: Sequence[int] | None = None,
    axes: Sequence[int] | None = (-2, -1),
    norm: str | None = None,
    out: ndarray | None = None,
) -> ndarray:
    """`fftn` over the last two axes.

    Examples
    --------
    >>> bc.fft.fft2(bc.eye(2))
    array([[2.+0.j, 0.+0.j],
           [0.+0.j, 2.+0.j]])
    """
    return _over_axes(a, _C2C, s, axes, True, norm, out)


def ifft2(
    a: ArrayLike,
    s: Sequence[int] | None = None,
    axes: Sequence[int] | None = (-2, -1),
    norm: str | None = None,
    out: ndarray | None = None,
) -> ndarray:
    """The inverse of `fft2`.

    Examples
    --------
    >>> bc.fft.ifft2([[2, 0], [0, 2]])
    array([[1.+0.j, 0.+0.j],
           [0.+0.j, 1.+0.j]])
    """
    return _over_axes(a, _C2C, s, axes, False, norm, out)


def rfftn(
    a: ArrayLike,
    s: Sequence[int] | None = None,
    axes: Sequence[int] | None = None,
    norm: str | None = None,
    out: ndarray | None = None,
) -> ndarray:
    """The transform of real input over several axes; along the last of them come the `n // 2 + 1` frequencies that are not negative.

    Examples
    --------
    >>> bc.fft.rfftn(bc.ones((2, 4))).shape
    (2, 3)
    """
    return _over_axes(a, _R2C, s, axes, True, norm, out)


def irfftn(
    a: ArrayLike,
    s: Sequence[int] | None = None,
    axes: Sequence[int] | None = None,
    norm: str | None = None,
    out: ndarray | None = None,
) -> ndarray:
    """The inverse of `rfftn`. The last of `s` is the number of real points, `2 * (m - 1)` of `m` frequencies if not given.

    Examples
    --------
    >>> bc.fft.irfftn([[4, 0], [0, 0]])
    array([[1., 1.],
           [1., 1.]])
    """
    return _over_axes(a, _C2R, s, axes, False, norm, out)


def rfft2(
    a: ArrayLike,
    s: Sequence[int] | None = None,
    axes: Sequence[int] | None = (-2, -1),
    norm: str | None = None,
    out: ndarray | None = None,
) -> ndarray:
    """`rfftn` over the last two axes.

    Examples
    --------
    >>> bc.fft.rfft2(bc.eye(2))
    array([[2.+0.j, 0.+0.j],
           [0.+0.j, 2.+0.j]])
    """
    return _over_axes(a, _R2C, s, axes, True, norm, out)


def irfft2(
    a: ArrayLike,
    s: Sequence[int] | None = None,
    axes: Sequence[int] | None = (-2, -1),
    norm: str | None = None,
    out: ndarray | None = None,
) -> ndarray:
    """The inverse of `rfft2`.

    Examples
    --------
    >>> bc.fft.irfft2([[2, 0], [0, 2]])
    array([[1., 0.],
           [0., 1.]])
    """
    return _over_axes(a, _C2R, s, axes, False, norm, out)


# ---- Frequencies and shifts ----------------------------------------------------------------------------------------


def _as_frequencies(values: ndarray, dtype: Any) -> ndarray:
    if dtype is None:
        return values
    if np.dtype(dtype).kind != "f":
        raise ValueError(f"expected a real floating dtype, got {np.dtype(dtype)}")
    return values.astype(dtype, copy=False)


def fftfreq(n: int, d: float = 1.0, device: DeviceLike = None, *, dtype: DTypeLike = None) -> ndarray:
    """The frequencies of what `fft` gives of `n` points at distances of `d`: zero, the positive ones, the negative ones.

    Raises
    ------
    ValueError
        `n` is no integer, or `dtype` (float64 where it is not given) no floating dtype.

    Examples
    --------
    >>> bc.fft.fftfreq(5, 0.2)
    array([ 0.,  1.,  2., -2., -1.])
    """
    if not isinstance(n, (int, np.integer)):
        raise ValueError("n should be an integer")
    step = 1.0 / (n * d)
    k = arange(n, device=device)
    return _as_frequencies((k - n * (k >= (n + 1) // 2)) * step, dtype)


def rfftfreq(n: int, d: float = 1.0, device: DeviceLike = None, *, dtype: DTypeLike = None) -> ndarray:
    """The frequencies of what `rfft` gives of `n` points at distances of `d`.

    Raises
    ------
    ValueError
        `n` is no integer, or `dtype` (float64 where it is not given) no floating dtype.

    Examples
    --------
    >>> bc.fft.rfftfreq(4, 0.25)
    array([0., 1., 2.])
    """
    if not isinstance(n, (int, np.integer)):
        raise ValueError("n should be an integer")
    return _as_frequencies(arange(n // 2 + 1, device=device) * (1.0 / (n * d)), dtype)


def _shifted(x: Any, axes: Any, sign: int) -> ndarray:
    x = _asarray(x)
    if axes is None:
        axes = tuple(range(x.ndim))
    elif isinstance(axes, (int, np.integer)):
        axes = (axes,)
    else:
        axes = tuple(operator.index(d) for d in axes)
    if not axes:
        return x.copy()
    return roll(x, [sign * (x.shape[d] // 2) for d in axes], axes)


def fftshift(x: ArrayLike, axes: int | Iterable[int] | None = None) -> ndarray:
    """Moves the zero frequency to the middle of the axes (all of them if none are given).

    Examples
    --------
    >>> bc.fft.fftshift(bc.fft.fftfreq(5, 0.2))
    array([-2., -1.,  0.,  1.,  2.])
    """
    return _shifted(x, axes, 1)


def ifftshift(x: ArrayLike, axes: int | Iterable[int] | None = None) -> ndarray:
    """The inverse of `fftshift`, which differs from it where an axis has an odd length.

    Examples
    --------
    >>> bc.fft.ifftshift([-2, -1, 0, 1, 2])
    array([ 0,  1,  2, -2, -1])
    """
    return _shifted(x, axes, -1)
