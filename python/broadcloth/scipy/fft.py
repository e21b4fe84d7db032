"""Discrete Fourier, cosine, sine and Hankel transforms, under SciPy's names.

The module is also a backend for SciPy's own functions: `with scipy.fft.set_backend(broadcloth.scipy.fft):`.

Examples
--------
>>> from broadcloth.scipy import fft
>>> fft.dct([1.0, 2.0, 3.0, 4.0], norm="ortho").round(3)
array([ 5.   , -2.23 ,  0.   , -0.159])
"""

from __future__ import annotations

import math
import operator
import os
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from types import TracebackType
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import _broadcloth as _c
from .._broadcloth import ndarray
from .._creation import arange, empty
from .._manipulation import flip
from .._namespace import face
from .._warnings import warn
from ..fft import fftfreq as _fftfreq
from ..fft import fftshift, ifftshift
from ..fft import rfftfreq as _rfftfreq

if TYPE_CHECKING:
    from ..typing import ArrayLike, DeviceLike

__all__ = [
    "dct",
    "dctn",
    "dst",
    "dstn",
    "fft",
    "fft2",
    "fftfreq",
    "fftn",
    "fftshift",
    "fht",
    "fhtoffset",
    "get_fft_plan",
    "get_workers",
    "hfft",
    "hfft2",
    "hfftn",
    "idct",
    "idctn",
    "idst",
    "idstn",
    "ifft",
    "ifft2",
    "ifftn",
    "ifftshift",
    "ifht",
    "ihfft",
    "ihfft2",
    "ihfftn",
    "irfft",
    "irfft2",
    "irfftn",
    "next_fast_len",
    "prev_fast_len",
    "rfft",
    "rfft2",
    "rfftfreq",
    "rfftn",
    "set_workers",
]

_asarray = _c.asarray
_transform = _c.fft_scipy
# The numbers of the engine's FftKind and FftNorm.
_C2C, _R2C, _C2R, _DCT, _DST = 0, 1, 2, 4, 5
_NORMS = {None: 0, "backward": 0, "ortho": 1, "forward": 2}
_CORES = os.cpu_count() or 1
_default = threading.local()

if not TYPE_CHECKING:
    _getattr, __dir__ = face(__name__, __all__)

    def __getattr__(name: str) -> Any:
        if name in ("register_backend", "set_backend", "set_global_backend", "skip_backend"):
            raise AttributeError(
                f"{__name__} has no {name!r}: its functions compute on broadcloth's arrays alone; it is a backend that SciPy's {name} takes"
            )
        return _getattr(name)


def _norm(norm: Any) -> int:
    try:
        return _NORMS[norm]
    except (KeyError, TypeError):
        raise ValueError(f'Invalid norm value {norm!r}, should be "backward", "ortho" or "forward"') from None


def _threads(workers: Any) -> int:
    """The most threads that a transform on the CPU uses, 0: all."""
    if workers is None:
        return getattr(_default, "workers", 0)
    workers = operator.index(workers)
    if workers == 0:
        raise ValueError("workers must not be zero")
    if workers < -_CORES:
        raise ValueError(f"workers value out of range; got {workers}, must not be less than {-_CORES}")
    return workers if workers > 0 else workers + 1 + _CORES


@contextmanager
def set_workers(workers: int) -> Iterator[None]:
    """The number of threads that transforms on the CPU use at most inside the block, where no `workers` are given.

    Parameters
    ----------
    workers : int
        -1 is one for each core, -2 one less, and so on.

    Raises
    ------
    ValueError
        `workers` is zero, or below minus the number of cores.

    Examples
    --------
    >>> with bc.scipy.fft.set_workers(1):
    ...     bc.scipy.fft.get_workers()
    1
    """
    before = getattr(_default, "workers", 0)
    _default.workers = _threads(operator.index(workers))
    try:
        yield
    finally:
        _default.workers = before


def get_workers() -> int:
    """How many threads transforms on the CPU use at most, where no `workers` are given.

    Examples
    --------
    >>> bc.scipy.fft.get_workers() >= 1
    True
    """
    return getattr(_default, "workers", 0) or _c._jit_threads()


# ---- Plans ---------------------------------------------------------------------------------------------------------


class FFTPlan:
    """A transform that is planned: what `get_fft_plan` gives. The engine's cache holds what the plan made.

    Examples
    --------
    >>> plan = bc.scipy.fft.get_fft_plan(bc.zeros(8, "complex128"))
    >>> bc.scipy.fft.fft(bc.ones(8, "complex128"), plan=plan).shape
    (8,)
    """

    def __init__(
        self, shape: tuple[int, ...], axes: tuple[int, ...], points: tuple[int, ...], value_type: str, dtype: np.dtype[Any]
    ) -> None:
        self.shape = shape
        self.axes = axes
        self.points = points
        self.value_type = value_type
        self.dtype = dtype

    def __repr__(self) -> str:
        return f"FFTPlan(shape={self.shape}, axes={self.axes}, points={self.points}, value_type={self.value_type!r}, dtype='{self.dtype}')"

    def __enter__(self) -> FFTPlan:
        _default.plans = (*getattr(_default, "plans", ()), self)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        _default.plans = _default.plans[:-1]

    def check(self, x: ndarray, kind: int, points: tuple[int, ...], axes: tuple[int, ...]) -> None:
        """Raises ValueError where the plan is for another transform than that of `x`.

        Examples
        --------
        >>> bc.scipy.fft.get_fft_plan(bc.zeros(8, "complex128")).check(bc.zeros(8, "complex128"), 0, (8,), (0,))
        """
        value_type = ("C2C", "R2C", "C2R")[kind]
        wanted = (value_type, axes, points, x.dtype)
        mine = (self.value_type, self.axes, self.points, self.dtype)
        if wanted != mine or any(n != m for d, (n, m) in enumerate(zip(x.shape, self.shape, strict=True)) if d not in axes):
            raise ValueError(f"the plan {self} is not for {value_type} of shape {x.shape} and {x.dtype}, axes {axes} and points {points}")


def _plan(plan: Any) -> Any:
    """The plan that is given, or that of the innermost `with` block."""
    active = getattr(_default, "plans", None)
    if not active:
        return plan
    if plan is not None:
        raise RuntimeError("a plan is either given as plan= or used in a `with` block, not both")
    return active[-1]


def get_fft_plan(
    a: ArrayLike, shape: Sequence[int] | None = None, axes: int | Sequence[int] | None = None, value_type: str = "C2C"
) -> FFTPlan:
    """Plans a transform ahead of time, as CuPy does; the plan is given as `plan=`, or in a `with` block to
    the transforms in it. A transform that it does not fit is a ValueError.

    Parameters
    ----------
    a : array_like
        What will be transformed, or an array of its shape and dtype.
    shape : sequence of ints, optional
        The points of each axis, the axis' own length if not given. Of 'C2R' the last counts real points.
    axes : int or sequence of ints, optional
        The axes, all of them (or the last, one for each of `shape`) if not given.
    value_type : {'C2C', 'R2C', 'C2R'}
        What is transformed into what: complex or real numbers.

    Raises
    ------
    ValueError
        `value_type` is none of these or does not fit the dtype, or the axes do not fit the array.

    Examples
    --------
    >>> with bc.scipy.fft.get_fft_plan(bc.zeros((4, 4), "complex64"), axes=(0, 1)):
    ...     bc.scipy.fft.fft2(bc.zeros((4, 4), "complex64")).dtype
    dtype('complex64')
    """
    a = _asarray(a)
    if value_type not in ("C2C", "R2C", "C2R"):
        raise ValueError(f"get_fft_plan: expected a value_type of 'C2C', 'R2C' or 'C2R', got {value_type!r}")
    real = value_type == "R2C"
    if a.dtype.kind not in ("f" if real else "c"):
        raise ValueError(f"get_fft_plan: expected {'real' if real else 'complex'} input for {value_type}, got {a.dtype}")
    kind = {"C2C": _C2C, "R2C": _R2C, "C2R": _C2R}[value_type]
    points, over = _shape_and_axes(a, shape, axes)
    if not over:
        raise ValueError("get_fft_plan: at least 1 axis must be transformed")
    if kind == _C2R and shape is None:
        points[-1] = 2 * (points[-1] - 1)
    plan = FFTPlan(a.shape, tuple(over), tuple(points), value_type, a.dtype)
    # A first transform makes the plans, and on a GPU loads the library.
    made = _transform(empty(a.shape, a.dtype, device=a.device), kind, points, over, True, 0)
    _c.flush(made.device)
    return plan


# ---- Fourier -------------------------------------------------------------------------------------------------------


def _require_real(x: ndarray) -> None:
    if x.dtype.kind == "c":
        raise TypeError("x must be a real sequence")


def _fourier(x: Any, kind: int, n: Any, axis: Any, forward: bool, norm: Any, workers: Any, plan: Any) -> ndarray:
    if kind == _R2C:
        x = _asarray(x)
        _require_real(x)
    if (plan := _plan(plan)) is not None:
        x = _checked(x, kind, None if n is None else (n,), (axis,), plan)
    return _transform(x, kind, n, axis, forward, _norm(norm), _threads(workers))


def _checked(x: Any, kind: int, points: Any, axes: Any, plan: Any) -> ndarray:
    if not isinstance(plan, FFTPlan):
        raise TypeError(f"expected a plan of get_fft_plan, got {type(plan).__name__}")
    x = _asarray(x)
    own = points is None
    points, axes = _shape_and_axes(x, points, axes)
    if kind == _C2R and own:
        points[-1] = 2 * (points[-1] - 1)
    plan.check(x, kind, tuple(points), tuple(axes))
    return x


def fft(
    x: ArrayLike,
    n: int | None = None,
    axis: int = -1,
    norm: str | None = None,
    overwrite_x: bool = False,
    workers: int | None = None,
    *,
    plan: FFTPlan | None = None,
) -> ndarray:
    """The discrete Fourier transform along an axis.

    Parameters
    ----------
    x : array_like
        Real or complex. Integers and booleans compute in float64, float16 and bfloat16 in float32.
    n : int, optional
        The number of points: input is cut to it, or filled up with zeros.
    axis : int
        The axis that is transformed.
    norm : {None, 'backward', 'ortho', 'forward'}
        Which direction divides by `n`: the inverse (None), both by its root, or this one.
    overwrite_x : bool
        Allows that the contents of `x` are lost; they are kept all the same.
    workers : int, optional
        The most threads that are used on the CPU, counted from the number of cores where it is negative. A GPU has no such number.
    plan : FFTPlan, optional
        What `get_fft_plan` gave.

    Raises
    ------
    ValueError
        There is no point to transform, `norm` or `workers` are out of range, or the plan is another transform's.

    Examples
    --------
    >>> bc.scipy.fft.fft([0.0, 1.0, 0.0, 0.0])
    array([ 1.+0.j,  0.-1.j, -1.+0.j,  0.+1.j])
    """
    return _fourier(x, _C2C, n, axis, True, norm, workers, plan)


def ifft(
    x: ArrayLike,
    n: int | None = None,
    axis: int = -1,
    norm: str | None = None,
    overwrite_x: bool = False,
    workers: int | None = None,
    *,
    plan: FFTPlan | None = None,
) -> ndarray:
    """The inverse of `fft`.

    Examples
    --------
    >>> bc.scipy.fft.ifft([0, 4, 0, 0])
    array([ 1.+0.j,  0.+1.j, -1.+0.j,  0.-1.j])
    """
    return _fourier(x, _C2C, n, axis, False, norm, workers, plan)


def rfft(
    x: ArrayLike,
    n: int | None = None,
    axis: int = -1,
    norm: str | None = None,
    overwrite_x: bool = False,
    workers: int | None = None,
    *,
    plan: FFTPlan | None = None,
) -> ndarray:
    """The transform of real input: its `n // 2 + 1` frequencies that are not negative.

    Examples
    --------
    >>> bc.scipy.fft.rfft([0.0, 1.0, 0.0, 0.0])
    array([ 1.+0.j,  0.-1.j, -1.+0.j])
    """
    return _fourier(x, _R2C, n, axis, True, norm, workers, plan)


def irfft(
    x: ArrayLike,
    n: int | None = None,
    axis: int = -1,
    norm: str | None = None,
    overwrite_x: bool = False,
    workers: int | None = None,
    *,
    plan: FFTPlan | None = None,
) -> ndarray:
    """The inverse of `rfft`; `n` is `2 * (m - 1)` of `m` frequencies if not given.

    Examples
    --------
    >>> bc.scipy.fft.irfft([1, -1j, -1])
    array([0., 1., 0., 0.])
    """
    return _fourier(x, _C2R, n, axis, False, norm, workers, plan)


def hfft(
    x: ArrayLike,
    n: int | None = None,
    axis: int = -1,
    norm: str | None = None,
    overwrite_x: bool = False,
    workers: int | None = None,
    *,
    plan: FFTPlan | None = None,
) -> ndarray:
    """The transform of a signal with Hermitian symmetry, whose spectrum is real; `x` is the half of it from time zero on.

    Examples
    --------
    >>> bc.scipy.fft.hfft([1.0, 2.0, 1.0])
    array([ 6.,  0., -2.,  0.])
    """
    return _fourier(x, _C2R, n, axis, True, norm, workers, plan)


def ihfft(
    x: ArrayLike,
    n: int | None = None,
    axis: int = -1,
    norm: str | None = None,
    overwrite_x: bool = False,
    workers: int | None = None,
    *,
    plan: FFTPlan | None = None,
) -> ndarray:
    """The inverse of `hfft`.

    Examples
    --------
    >>> bc.scipy.fft.ihfft([6.0, 0.0, -2.0, 0.0]).real
    array([1., 2., 1.])
    """
    return _fourier(x, _R2C, n, axis, False, norm, workers, plan)


def _integers(values: Any, name: str) -> list[int]:
    if isinstance(values, (int, float, complex, np.number)):
        values = (values,)
    try:
        return [operator.index(v) for v in values]
    except TypeError:
        raise ValueError(f"{name} must be a scalar or iterable of integers") from None


def _shape_and_axes(x: ndarray, s: Any, axes: Any) -> tuple[list[int], list[int]]:
    """The points and the axes of a transform over several, by SciPy's rules."""
    over = None
    if axes is not None:
        over = [d + x.ndim if d < 0 else d for d in _integers(axes, "axes")]
        if any(d >= x.ndim or d < 0 for d in over):
            raise ValueError("axes exceeds dimensionality of input")
        if len(set(over)) != len(over):
            raise ValueError("all axes must be unique")
    if s is None:
        over = list(range(x.ndim)) if over is None else over
        points = [x.shape[d] for d in over]
    else:
        points = _integers(s, "shape")
        if over and len(over) != len(points):
            raise ValueError("when given, axes and shape arguments have to be of the same length")
        if over is None:
            if len(points) > x.ndim:
                raise ValueError("shape requires more axes than are present")
            over = list(range(x.ndim - len(points), x.ndim))
        points = [x.shape[d] if n == -1 else n for n, d in zip(points, over, strict=False)]
    if any(n < 1 for n in points):
        raise ValueError(f"invalid number of data points ({points}) specified")
    return points, over


def _over_axes(x: Any, kind: int, s: Any, axes: Any, forward: bool, norm: Any, workers: Any, plan: Any) -> ndarray:
    x = _asarray(x)
    if kind == _R2C:
        _require_real(x)
    points, over = _shape_and_axes(x, s, axes)
    threads, number = _threads(workers), _norm(norm)
    if not over:
        if kind != _C2C:
            raise ValueError("at least 1 axis must be transformed")
        return x
    if kind == _C2R and s is None:
        points[-1] = (x.shape[over[-1]] - 1) * 2
    if (plan := _plan(plan)) is not None:
        _checked(x, kind, points, over, plan)
    return _transform(x, kind, points, over, forward, number, threads)


def fftn(
    x: ArrayLike,
    s: Sequence[int] | None = None,
    axes: int | Sequence[int] | None = None,
    norm: str | None = None,
    overwrite_x: bool = False,
    workers: int | None = None,
    *,
    plan: FFTPlan | None = None,
) -> ndarray:
    """The discrete Fourier transform over several axes, all of them if none are given; parameters as in `fft`.

    `s` are the points of each axis, -1 its own length.

    Examples
    --------
    >>> bc.scipy.fft.fftn(bc.ones((2, 2))).real
    array([[4., 0.],
           [0., 0.]])
    """
    return _over_axes(x, _C2C, s, axes, True, norm, workers, plan)


def ifftn(
    x: ArrayLike,
    s: Sequence[int] | None = None,
    axes: int | Sequence[int] | None = None,
    norm: str | None = None,
    overwrite_x: bool = False,
    workers: int | None = None,
    *,
    plan: FFTPlan | None = None,
) -> ndarray:
    """The inverse of `fftn`.

    Examples
    --------
    >>> bc.scipy.fft.ifftn([[4, 0], [0, 0]]).real
    array([[1., 1.],
           [1., 1.]])
    """
    return _over_axes(x, _C2C, s, axes, False, norm, workers, plan)


def fft2(
    x: ArrayLike,
    s: Sequence[int] | None = None,
    axes: int | Sequence[int] | None = (-2, -1),
    norm: str | None = None,
    overwrite_x: bool = False,
    workers: int | None = None,
    *,
    plan: FFTPlan | None = None,
) -> ndarray:
    """`fftn` over the last two axes.

    Examples
    --------
    >>> bc.scipy.fft.fft2(bc.eye(2)).real
    array([[2., 0.],
           [0., 2.]])
    """
    return _over_axes(x, _C2C, s, axes, True, norm, workers, plan)


def ifft2(
    x: ArrayLike,
    s: Sequence[int] | None = None,
    axes: int | Sequence[int] | None = (-2, -1),
    norm: str | None = None,
    overwrite_x: bool = False,
    workers: int | None = None,
    *,
    plan: FFTPlan | None = None,
) -> ndarray:
    """The inverse of `fft2`.

    Examples
    --------
    >>> bc.scipy.fft.ifft2([[2, 0], [0, 2]]).real
    array([[1., 0.],
           [0., 1.]])
    """
    return _over_axes(x, _C2C, s, axes, False, norm, workers, plan)


def rfftn(
    x: ArrayLike,
    s: Sequence[int] | None = None,
    axes: int | Sequence[int] | None = None,
    norm: str | None = None,
    overwrite_x: bool = False,
    workers: int | None = None,
    *,
    plan: FFTPlan | None = None,
) -> ndarray:
    """The transform of real input over several axes; along the last come the frequencies that are not negative.

    Examples
    --------
    >>> bc.scipy.fft.rfftn(bc.ones((2, 4))).shape
    (2, 3)
    """
    return _over_axes(x, _R2C, s, axes, True, norm, workers, plan)


def irfftn(
    x: ArrayLike,
    s: Sequence[int] | None = None,
    axes: int | Sequence[int] | None = None,
    norm: str | None = None,
    overwrite_x: bool = False,
    workers: int | None = None,
    *,
    plan: FFTPlan | None = None,
) -> ndarray:
    """The inverse of `rfftn`; the last of `s` counts real points.

    Examples
    --------
    >>> bc.scipy.fft.irfftn([[4, 0], [0, 0]])
    array([[1., 1.],
           [1., 1.]])
    """
    return _over_axes(x, _C2R, s, axes, False, norm, workers, plan)


def rfft2(
    x: ArrayLike,
    s: Sequence[int] | None = None,
    axes: int | Sequence[int] | None = (-2, -1),
    norm: str | None = None,
    overwrite_x: bool = False,
    workers: int | None = None,
    *,
    plan: FFTPlan | None = None,
) -> ndarray:
    """`rfftn` over the last two axes.

    Examples
    --------
    >>> bc.scipy.fft.rfft2(bc.eye(2)).real
    array([[2., 0.],
           [0., 2.]])
    """
    return _over_axes(x, _R2C, s, axes, True, norm, workers, plan)


def irfft2(
    x: ArrayLike,
    s: Sequence[int] | None = None,
    axes: int | Sequence[int] | None = (-2, -1),
    norm: str | None = None,
    overwrite_x: bool = False,
    workers: int | None = None,
    *,
    plan: FFTPlan | None = None,
) -> ndarray:
    """The inverse of `rfft2`.

    Examples
    --------
    >>> bc.scipy.fft.irfft2([[2, 0], [0, 2]])
    array([[1., 0.],
           [0., 1.]])
    """
    return _over_axes(x, _C2R, s, axes, False, norm, workers, plan)


def hfftn(
    x: ArrayLike,
    s: Sequence[int] | None = None,
    axes: int | Sequence[int] | None = None,
    norm: str | None = None,
    overwrite_x: bool = False,
    workers: int | None = None,
    *,
    plan: FFTPlan | None = None,
) -> ndarray:
    """`hfft` along the last of several axes, and `fft` along the others.

    Examples
    --------
    >>> bc.scipy.fft.hfftn(bc.ones((2, 2)))
    array([[4., 0.],
           [0., 0.]])
    """
    return _over_axes(x, _C2R, s, axes, True, norm, workers, plan)


def ihfftn(
    x: ArrayLike,
    s: Sequence[int] | None = None,
    axes: int | Sequence[int] | None = None,
    norm: str | None = None,
    overwrite_x: bool = False,
    workers: int | None = None,
    *,
    plan: FFTPlan | None = None,
) -> ndarray:
    """The inverse of `hfftn`.

    Examples
    --------
    >>> bc.scipy.fft.ihfftn([[4.0, 0.0], [0.0, 0.0]]).real
    array([[1., 1.],
           [1., 1.]])
    """
    return _over_axes(x, _R2C, s, axes, False, norm, workers, plan)


def hfft2(
    x: ArrayLike,
    s: Sequence[int] | None = None,
    axes: int | Sequence[int] | None = (-2, -1),
    norm: str | None = None,
    overwrite_x: bool = False,
    workers: int | None = None,
    *,
    plan: FFTPlan | None = None,
) -> ndarray:
    """`hfftn` over the last two axes.

    Examples
    --------
    >>> bc.scipy.fft.hfft2(bc.ones((2, 2)))
    array([[4., 0.],
           [0., 0.]])
    """
    return _over_axes(x, _C2R, s, axes, True, norm, workers, plan)


def ihfft2(
    x: ArrayLike,
    s: Sequence[int] | None = None,
    axes: int | Sequence[int] | None = (-2, -1),
    norm: str | None = None,
    overwrite_x: bool = False,
    workers: int | None = None,
    *,
    plan: FFTPlan | None = None,
) -> ndarray:
    """The inverse of `hfft2`.

    Examples
    --------
    >>> bc.scipy.fft.ihfft2([[4.0, 0.0], [0.0, 0.0]]).real
    array([[1., 1.],
           [1., 1.]])
    """
    return _over_axes(x, _R2C, s, axes, False, norm, workers, plan)


# ---- Cosine and sine -----------------------------------------------------------------------------------------------


def _type(type: Any, forward: bool) -> int:
    """The type that is computed: of types 2 and 3 one is the inverse of the other."""
    type = operator.index(type)
    if not 1 <= type <= 4:
        raise ValueError(f"expected a type from 1 to 4, got {type}")
    return type if forward or type in (1, 4) else 5 - type


def _real(x: Any, kind: int, forward: bool, type: Any, n: Any, axis: Any, norm: Any, workers: Any, orthogonalize: Any) -> ndarray:
    return _transform(x, kind, n, axis, forward, _norm(norm), _threads(workers), _type(type, forward), orthogonalize)


def _real_over_axes(x: Any, kind: int, forward: bool, type: Any, s: Any, axes: Any, norm: Any, workers: Any, orthogonalize: Any) -> ndarray:
    x = _asarray(x)
    points, over = _shape_and_axes(x, s, axes)
    number, threads = _norm(norm), _threads(workers)
    if not over:
        return x
    return _transform(x, kind, points, over, forward, number, threads, _type(type, forward), orthogonalize)


def dct(
    x: ArrayLike,
    type: int = 2,
    n: int | None = None,
    axis: int = -1,
    norm: str | None = None,
    overwrite_x: bool = False,
    workers: int | None = None,
    orthogonalize: bool | None = None,
) -> ndarray:
    """The discrete cosine transform of real numbers along an axis; of complex ones, of both parts.

    Parameters
    ----------
    x : array_like
        Integers and booleans compute in float64, float16 and bfloat16 in float32.
    type : {1, 2, 3, 4}
        Which of the transforms; type 1 needs two points.
    n, axis, norm, overwrite_x, workers
        As in `fft`; the number to divide by is that of the transform which the cosines are a part of: `2 * n`, of type 1 `2 * (n - 1)`.
    orthogonalize : bool, optional
        Whether the factors are applied that make the matrix orthogonal; those of norm='ortho' if not given.

    Raises
    ------
    ValueError
        There are too few points, or `type`, `norm` or `workers` are out of range.

    Examples
    --------
    >>> bc.scipy.fft.dct([1.0, 1.0])
    array([4., 0.])
    """
    return _real(x, _DCT, True, type, n, axis, norm, workers, orthogonalize)


def idct(
    x: ArrayLike,
    type: int = 2,
    n: int | None = None,
    axis: int = -1,
    norm: str | None = None,
    overwrite_x: bool = False,
    workers: int | None = None,
    orthogonalize: bool | None = None,
) -> ndarray:
    """The inverse of `dct` of this type.

    Examples
    --------
    >>> bc.scipy.fft.idct([4.0, 0.0])
    array([1., 1.])
    """
    return _real(x, _DCT, False, type, n, axis, norm, workers, orthogonalize)


def dst(
    x: ArrayLike,
    type: int = 2,
    n: int | None = None,
    axis: int = -1,
    norm: str | None = None,
    overwrite_x: bool = False,
    workers: int | None = None,
    orthogonalize: bool | None = None,
) -> ndarray:
    """The discrete sine transform; parameters as in `dct`, but type 1 takes any number of points and divides by `2 * (n + 1)`.

    Examples
    --------
    >>> bc.scipy.fft.dst([3.0, 1.0], type=1).round(3)
    array([6.928, 3.464])
    """
    return _real(x, _DST, True, type, n, axis, norm, workers, orthogonalize)


def idst(
    x: ArrayLike,
    type: int = 2,
    n: int | None = None,
    axis: int = -1,
    norm: str | None = None,
    overwrite_x: bool = False,
    workers: int | None = None,
    orthogonalize: bool | None = None,
) -> ndarray:
    """The inverse of `dst` of this type.

    Examples
    --------
    >>> bc.scipy.fft.idst(bc.scipy.fft.dst([1.0, 2.0], type=4), type=4).round(3)
    array([1., 2.])
    """
    return _real(x, _DST, False, type, n, axis, norm, workers, orthogonalize)


def dctn(
    x: ArrayLike,
    type: int = 2,
    s: Sequence[int] | None = None,
    axes: int | Sequence[int] | None = None,
    norm: str | None = None,
    overwrite_x: bool = False,
    workers: int | None = None,
    *,
    orthogonalize: bool | None = None,
) -> ndarray:
    """`dct` along several axes, all of them if none are given.

    Examples
    --------
    >>> bc.scipy.fft.idctn(bc.scipy.fft.dctn(bc.eye(2))).round(3)
    array([[1., 0.],
           [0., 1.]])
    """
    return _real_over_axes(x, _DCT, True, type, s, axes, norm, workers, orthogonalize)


def idctn(
    x: ArrayLike,
    type: int = 2,
    s: Sequence[int] | None = None,
    axes: int | Sequence[int] | None = None,
    norm: str | None = None,
    overwrite_x: bool = False,
    workers: int | None = None,
    orthogonalize: bool | None = None,
) -> ndarray:
    """The inverse of `dctn`.

    Examples
    --------
    >>> bc.scipy.fft.idctn(bc.scipy.fft.dctn(bc.eye(2))).round(3)
    array([[1., 0.],
           [0., 1.]])
    """
    return _real_over_axes(x, _DCT, False, type, s, axes, norm, workers, orthogonalize)


def dstn(
    x: ArrayLike,
    type: int = 2,
    s: Sequence[int] | None = None,
    axes: int | Sequence[int] | None = None,
    norm: str | None = None,
    overwrite_x: bool = False,
    workers: int | None = None,
    orthogonalize: bool | None = None,
) -> ndarray:
    """`dst` along several axes, all of them if none are given.

    Examples
    --------
    >>> bc.scipy.fft.idstn(bc.scipy.fft.dstn([[1.0, 2.0], [3.0, 4.0]])).round(3)
    array([[1., 2.],
           [3., 4.]])
    """
    return _real_over_axes(x, _DST, True, type, s, axes, norm, workers, orthogonalize)


def idstn(
    x: ArrayLike,
    type: int = 2,
    s: Sequence[int] | None = None,
    axes: int | Sequence[int] | None = None,
    norm: str | None = None,
    overwrite_x: bool = False,
    workers: int | None = None,
    orthogonalize: bool | None = None,
) -> ndarray:
    """The inverse of `dstn`.

    Examples
    --------
    >>> bc.scipy.fft.idstn(bc.scipy.fft.dstn([[1.0, 2.0], [3.0, 4.0]])).round(3)
    array([[1., 2.],
           [3., 4.]])
    """
    return _real_over_axes(x, _DST, False, type, s, axes, norm, workers, orthogonalize)


# ---- Lengths and frequencies ---------------------------------------------------------------------------------------


def _smooth(limit: int, factors: Sequence[int]) -> Iterator[int]:
    """The products of the factors, with repetition, up to `limit`."""
    products = [1]
    for f in factors:
        products = [p * f**k for p in products for k in range(limit.bit_length()) if p * f**k <= limit]
    yield from products


def _length(target: Any) -> int:
    target = operator.index(target)
    if target < 0:
        raise ValueError("Target length must be positive")
    if target > 2**62:
        raise ValueError(f"Target length is too large to perform FFT: {target}")
    return target


def _next_smooth(target: int, real: bool) -> int:
    odd = _smooth(2 * target, (5, 3) if real else (11, 7, 5, 3))
    return min(p << max(0, (-(-target // p) - 1).bit_length()) for p in odd)


def _previous_smooth(target: int, real: bool) -> int:
    odd = _smooth(target, (5, 3) if real else (11, 7, 5, 3))
    return max(p << (target // p).bit_length() - 1 for p in odd)


@lru_cache(maxsize=4096)
def next_fast_len(target: int, real: bool = False) -> int:
    """The least length of at least `target` whose transform is fast: a product of 2, 3, 5, 7 and 11, of real input of 2, 3 and 5.

    Raises
    ------
    ValueError
        `target` is negative.

    Examples
    --------
    >>> bc.scipy.fft.next_fast_len(8191), bc.scipy.fft.next_fast_len(8191, real=True)
    (8192, 8192)
    """
    target = _length(target)
    return target if target <= 6 else _next_smooth(target, bool(real))


@lru_cache(maxsize=4096)
def prev_fast_len(target: int, real: bool = False) -> int:
    """The greatest length of at most `target` whose transform is fast; see `next_fast_len`.

    Raises
    ------
    ValueError
        `target` is negative.

    Examples
    --------
    >>> bc.scipy.fft.prev_fast_len(8191)
    8100
    """
    target = _length(target)
    return target if target <= 6 else _previous_smooth(target, bool(real))


def fftfreq(n: int, d: float = 1.0, *, xp: Any = None, device: DeviceLike = None) -> ndarray:
    """The frequencies of what `fft` gives of `n` points at distances of `d`. `xp` may be broadcloth.

    Examples
    --------
    >>> bc.scipy.fft.fftfreq(5, 0.2)
    array([ 0.,  1.,  2., -2., -1.])
    """
    _check_namespace(xp)
    return _fftfreq(n, d, device)


def rfftfreq(n: int, d: float = 1.0, *, xp: Any = None, device: DeviceLike = None) -> ndarray:
    """The frequencies of what `rfft` gives of `n` points at distances of `d`. `xp` may be broadcloth.

    Examples
    --------
    >>> bc.scipy.fft.rfftfreq(4, 0.25)
    array([0., 1., 2.])
    """
    _check_namespace(xp)
    return _rfftfreq(n, d, device)


def _check_namespace(xp: Any) -> None:
    if xp is not None and getattr(xp, "__name__", "") != "broadcloth":
        raise ValueError(
            f"expected broadcloth as the namespace `xp`, got {getattr(xp, '__name__', xp)}; its own fft module has the function"
        )


# ---- Hankel --------------------------------------------------------------------------------------------------------


def _special() -> Any:
    try:
        from scipy import special
    except ImportError as error:
        raise ImportError("the coefficients of Hankel transforms need SciPy; install it with: pip install scipy") from error
    return special


def _coefficients(n: int, dln: float, mu: float, offset: float, bias: float, inverse: bool) -> np.ndarray:
    """u(m) of Hamilton (2000), the transform of the Bessel function's kernel at the n // 2 + 1 frequencies of a real sequence."""
    special = _special()
    above, below = (mu + 1 + bias) / 2, (mu + 1 - bias) / 2
    y = np.linspace(0, np.pi * (n // 2) / (n * dln), n // 2 + 1)
    log_up, log_down = special.loggamma(above + 1j * y), special.loggamma(below + 1j * y)
    u = np.exp((log_up.real - log_down.real + math.log(2) * bias) + 1j * (log_up.imag + log_down.imag + 2 * y * (math.log(2) - offset)))
    if n % 2 == 0:
        u[-1] = u[-1].real  # the sequence is real
    if not np.isfinite(u[0]):
        u[0] = 2**bias * special.poch(below, above - below)
    if np.isinf(u[0]) and not inverse:
        warn("singular transform; consider changing the bias", UserWarning)
        u[0] = 0
    elif u[0] == 0 and inverse:
        warn("singular inverse transform; consider changing the bias", UserWarning)
        u[0] = np.inf
    return u


def _hankel(a: Any, dln: float, mu: float, offset: float, bias: float, inverse: bool) -> ndarray:
    a = _asarray(a)
    if a.ndim == 0:
        raise IndexError("tuple index out of range")
    n = a.shape[-1]
    from_center = arange(n, dtype=np.float64, device=a.device) - (n - 1) / 2
    sign = 1 if inverse else -1
    if bias != 0:
        a = a * _c.ufuncs["exp"](sign * bias * (from_center * dln + (offset if inverse else 0)))
    u = _asarray(_coefficients(n, dln, mu, offset, bias, inverse), device=a.device)
    spectrum = rfft(a)
    spectrum = spectrum / _c.ufuncs["conjugate"](u) if inverse else spectrum * u
    made = flip(irfft(spectrum, n), -1)
    return made * _c.ufuncs["exp"](sign * bias * (from_center * dln + (0 if inverse else offset))) if bias != 0 else made


def fht(a: ArrayLike, dln: float, mu: float, offset: float = 0.0, bias: float = 0.0) -> ndarray:
    """The fast Hankel transform of a sequence with logarithmic spacing, along the last axis (FFTLog, Hamilton 2000).

    Parameters
    ----------
    a : array_like, real
        Values at r(j) = r_c exp((j - (n - 1) / 2) dln).
    dln : float
        The logarithmic spacing.
    mu : float
        The order of the Bessel function.
    offset : float
        The logarithm of k_c r_c; see `fhtoffset`.
    bias : float
        The exponent of the power law that the input is divided by.

    Warns
    -----
    UserWarning
        The transform is singular.

    Examples
    --------
    >>> r = bc.logspace(-2, 2, 64)
    >>> dln = 4 / 63 * 2.302585092994046
    >>> bc.scipy.fft.fht(r * bc.exp(-r * r / 2), dln, mu=0.0).shape
    (64,)
    """
    return _hankel(a, dln, mu, offset, bias, False)


def ifht(A: ArrayLike, dln: float, mu: float, offset: float = 0.0, bias: float = 0.0) -> ndarray:
    """The inverse of `fht`.

    Warns
    -----
    UserWarning
        The inverse transform is singular.

    Examples
    --------
    >>> bc.scipy.fft.ifht(bc.scipy.fft.fht([1.0, 2.0, 3.0], 0.1, 1.0), 0.1, 1.0).round(3)
    array([1., 2., 3.])
    """
    return _hankel(A, dln, mu, offset, bias, True)


def fhtoffset(dln: float, mu: float, initial: float = 0.0, bias: float = 0.0) -> float:
    """The `offset` nearest to `initial` for which the coefficient at the highest frequency is real, which keeps `fht` from ringing.

    Examples
    --------
    >>> round(bc.scipy.fft.fhtoffset(0.1, 1.0), 4)
    -0.003
    """
    special = _special()
    y = np.pi / (2 * dln)
    up, down = special.loggamma((mu + 1 + bias) / 2 + 1j * y), special.loggamma((mu + 1 - bias) / 2 + 1j * y)
    turns = (math.log(2) - initial) / dln + (up.imag + down.imag) / np.pi
    return float(initial + (turns - np.round(turns)) * dln)


# ---- A backend of SciPy's ------------------------------------------------------------------------------------------

__ua_domain__ = "numpy.scipy.fft"


def __ua_function__(method: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    ours = globals().get(method.__name__) if method.__name__ in __all__ else None
    return NotImplemented if ours is None else ours(*args, **kwargs)
