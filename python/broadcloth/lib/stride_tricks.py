"""Views with shapes and strides of the caller's."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from numpy.lib.array_utils import normalize_axis_tuple

from .. import _broadcloth as _c
from .._broadcloth import broadcast_arrays, broadcast_shapes, broadcast_to, ndarray
from .._namespace import listing

if TYPE_CHECKING:
    from ..typing import ArrayLike, AxisLike

__all__ = ["as_strided", "broadcast_arrays", "broadcast_shapes", "broadcast_to", "sliding_window_view"]


def as_strided(
    x: ArrayLike, shape: Sequence[int] | None = None, strides: Sequence[int] | None = None, subok: bool = False, writeable: bool = True, *,
    check_bounds: bool | None = None,
) -> ndarray:  # fmt: skip
    """A view with any shape and strides inside an array's memory.

    Parameters
    ----------
    x : array_like
    shape : sequence of ints, optional
        That of `x` unless given.
    strides : sequence of ints, optional
        In bytes, multiples of an element's size. Unless given, those of `x`, or of a contiguous view where `x` is contiguous.
    subok : bool
        Without effect.
    writeable : bool
        False gives a view that cannot be written.
    check_bounds : bool, optional
        NumPy 2.5's. The bounds are checked whatever it says: a view outside of the memory is never given.

    Raises
    ------
    ValueError
        The view would leave the memory, or a stride is no multiple of an element.

    Examples
    --------
    >>> bc.lib.stride_tricks.as_strided(bc.arange(5), (3, 2), (8, 16))
    array([[0, 2],
           [1, 3],
           [2, 4]])
    """
    a = _c.asanyarray(x) if subok else _c.asarray(x)
    extents = a.shape if shape is None else tuple(shape)
    steps: Sequence[int]
    if strides is None:
        # Of a contiguous array NumPy takes the strides of a contiguous view.
        steps = [a.itemsize * math.prod(extents[d + 1 :]) for d in range(len(extents))] if a.flags.c_contiguous else a.strides
    else:
        steps = strides
    view = _c.as_strided(a, extents, tuple(steps))
    if not writeable:
        view.flags.writeable = False
    return view


def sliding_window_view(
    x: ArrayLike, window_shape: int | Sequence[int], axis: AxisLike = None, *, subok: bool = False, writeable: bool = False
) -> ndarray:
    """A view of all windows of a shape. What is computed from it reads the array itself: windows are not stored.

    Parameters
    ----------
    x : array_like
    window_shape : int or sequence of ints
        The extent of a window along each axis.
    axis : int or sequence of ints, optional
        The axes that the window slides along; all of them unless given.
    subok : bool
        Without effect.
    writeable : bool
        Whether the view can be written; its elements overlap.

    Returns
    -------
    ndarray
        The axes of `x`, shorter by the window's extents less one, and then those of a window.

    Raises
    ------
    ValueError
        The window is larger than the array or negative, or not as many extents as axes are given.

    Examples
    --------
    >>> windows = bc.lib.stride_tricks.sliding_window_view(bc.arange(5.0), 3)
    >>> windows.mean(axis=-1)
    array([1., 2., 3.])
    """
    extents = tuple(window_shape) if isinstance(window_shape, Iterable) else (window_shape,)
    a = _c.asanyarray(x) if subok else _c.asarray(x)
    if any(extent < 0 for extent in extents):
        raise ValueError("`window_shape` cannot contain negative values")
    if axis is None:
        axes: tuple[int, ...] = tuple(range(a.ndim))
        if len(extents) != len(axes):
            raise ValueError(
                f"Since axis is `None`, must provide window_shape for all dimensions of `x`; got {len(extents)} window_shape elements and "
                f"`x.ndim` is {a.ndim}."
            )
    else:
        given: Any = axis
        axes = normalize_axis_tuple(given, a.ndim, allow_duplicate=True)
        if len(extents) != len(axes):
            raise ValueError(
                f"Must provide matching length window_shape and axis; got {len(extents)} window_shape elements and {len(axes)} axes "
                "elements."
            )
    shape = list(a.shape)
    for at, extent in zip(axes, extents, strict=True):
        if shape[at] < extent:
            raise ValueError("window shape cannot be larger than input array shape")
        shape[at] -= extent - 1
    strides = (*a.strides, *(a.strides[at] for at in axes))
    if math.prod(extents) == 0:
        return _c.zeros((*shape, *extents), a.dtype, device=a.device)
    return as_strided(a, (*shape, *extents), strides, subok=subok, writeable=writeable)

__dir__ = listing(__all__)
