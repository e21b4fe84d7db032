"""Functions of Python applied to parts of arrays, block matrices, and what broadcasting makes of several arrays."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_index

from . import _broadcloth as _c
from ._broadcloth import ndarray
from ._indexing import ndim

if TYPE_CHECKING:
    from .typing import ArrayLike

_asarray = _c.asarray


def apply_along_axis(func1d: Callable[..., Any], axis: int, arr: ArrayLike, *args: Any, **kwargs: Any) -> ndarray:
    """A function of vectors, called with each line along an axis.

    Parameters
    ----------
    func1d : callable
        Takes a 1-d array, and gives a number or an array of the same shape for each line. It is called by Python, line by line.
    axis : int
    arr : array_like
    *args, **kwargs
        More arguments for `func1d`.

    Returns
    -------
    ndarray
        The axis is replaced by the axes of a result; of the first result's dtype.

    Raises
    ------
    ValueError
        There is no line.

    Examples
    --------
    >>> bc.apply_along_axis(lambda v: v[::-1], 1, bc.array([[1, 2], [3, 4]]))
    array([[2, 1],
           [4, 3]])
    """
    x = _c.asanyarray(arr)
    axis = normalize_axis_index(axis, x.ndim)
    lines = _c.moveaxis(x, axis, -1)
    lead = lines.shape[:-1]
    if 0 in lead:
        raise ValueError("Cannot apply_along_axis when any iteration dimensions are 0")
    made: Any = None
    one: Any = None
    for index in np.ndindex(lead):
        result = _c.asanyarray(func1d(lines[index], *args, **kwargs))
        if made is None:
            one = result
            made = _c.zeros((*lead, *result.shape), result.dtype, device=result.device)
        made[index] = result
    first = one.ndim
    if type(one) is not ndarray:
        made = one.__array_wrap__(made)
    return _c.moveaxis(made, list(range(len(lead), len(lead) + first)), list(range(axis, axis + first)))


def apply_over_axes(func: Callable[..., Any], a: ArrayLike, axes: Any) -> ndarray:
    """A function `func(array, axis)` applied to one axis after the other; axes that it takes away stay with extent 1.

    Raises
    ------
    ValueError
        `func` takes away or adds more than its axis.

    Examples
    --------
    >>> bc.apply_over_axes(bc.sum, bc.ones((2, 3, 4)), [0, 2])
    array([[[8.],
            [8.],
            [8.]]])
    """
    value = _asarray(a)
    for axis in (axes,) if np.ndim(axes) == 0 else axes:
        at = axis + value.ndim if axis < 0 else axis
        result = func(value, at)
        if result.ndim != value.ndim:
            result = _c.expand_dims(result, at)
        if result.ndim != value.ndim:
            raise ValueError("function is not returning an array of the correct shape")
        value = result
    return value


def piecewise(x: ArrayLike, condlist: Any, funclist: Sequence[Any], *args: Any, **kw: Any) -> ndarray:
    """A function that is defined by parts.

    Parameters
    ----------
    x : array_like
    condlist : list of bool arrays, or one
        Where each part holds; the last one that holds counts.
    funclist : list of callables and numbers
        One for each condition: a number, or a function that is called with the elements of `x` for which the condition holds (so the
        condition is looked at). One more than conditions: the last one for what no condition covers.
    *args, **kw
        More arguments for the functions.

    Returns
    -------
    ndarray
        Of the shape and dtype of `x`; zero where nothing holds.

    Raises
    ------
    ValueError
        There are not as many functions as conditions, or one more.

    Examples
    --------
    >>> x = bc.array([-2.0, -1.0, 0.0, 1.0])
    >>> bc.piecewise(x, [x < 0, x >= 0], [lambda v: -v, 10])
    array([ 2.,  1., 10., 10.])
    """
    values = _c.asanyarray(x)
    if np.isscalar(condlist) or getattr(condlist, "ndim", 1) == 0 or (values.ndim and ndim(condlist[0]) == 0):
        condlist = [condlist]
    conditions = [_asarray(c, np.bool_, device=values.device) for c in condlist]
    count = len(conditions)
    if count == len(funclist) - 1:
        conditions.append(~functools.reduce(operator.or_, conditions))
    elif count != len(funclist):
        raise ValueError(f"with {count} condition(s), either {count} or {count + 1} functions are expected")
    made = _c.full_like(values, 0)
    for condition, func in zip(conditions, funclist, strict=True):
        if not callable(func):
            if ndim(func) == 0 and condition.shape == made.shape:
                _c.copyto(made, _c.full((), func, made.dtype, device=made.device), where=condition)
            else:
                made[condition] = func
            continue
        part = values[condition]
        if part.size:
            made[condition] = func(part, *args, **kw)
    return made


# ---- Blocks -----------------------------------------------------------------------------------------------------------------------------


def _place(path: Sequence[int]) -> str:
    return "arrays" + "".join(f"[{i}]" for i in path)


def _depth(arrays: Any, path: list[int]) -> list[int]:
    """The place of the first block, as indices: so deep are the lists nested. All must be equally deep."""
    if isinstance(arrays, tuple):
        raise TypeError(
            f"{_place(path)} is a tuple. Only lists can be used to arrange blocks, and np.block does not allow implicit conversion from "
            "tuple to ndarray."
        )
    if not isinstance(arrays, list):
        return path
    if not arrays:
        raise ValueError(f"List at {_place(path)} cannot be empty")
    first = _depth(arrays[0], [*path, 0])
    for i, item in enumerate(arrays[1:], 1):
        place = _depth(item, [*path, i])
        if len(place) != len(first):
            raise ValueError(
                f"List depths are mismatched. First element was at depth {len(first)}, but there is an element at depth {len(place)} "
                f"({_place(place)})"
            )
    return first


def _most_dimensions(arrays: Any) -> int:
    return max(map(_most_dimensions, arrays)) if isinstance(arrays, list) else ndim(arrays)


def _joined(arrays: Any, depth: int, most: int) -> ndarray:
    if not isinstance(arrays, list):
        a = _asarray(arrays)
        return a if a.ndim == most else a.reshape((1,) * (most - a.ndim) + a.shape)
    return _c.concatenate([_joined(item, depth - 1, most) for item in arrays], -depth)


def block(arrays: Any) -> ndarray:
    """An array put together from nested lists of blocks: the innermost lists are joined along the last axis, those around them along the
    one before it, and so on.

    Parameters
    ----------
    arrays : array_like, or nested lists of array_likes, all of one depth

    Raises
    ------
    ValueError
        The depths differ, a list is empty, or the shapes do not fit.
    TypeError
        A tuple is given in the place of a list.

    Examples
    --------
    >>> a, b = bc.eye(2), bc.ones((2, 1))
    >>> bc.block([[a, b], [b.T, 7]])
    array([[1., 0., 1.],
           [0., 1., 1.],
           [1., 1., 7.]])
    """
    depth = len(_depth(arrays, []))
    if depth == 0:
        return _c.array(arrays)
    return _joined(arrays, depth, max(depth, _most_dimensions(arrays)))


# ---- Broadcasting -----------------------------------------------------------------------------------------------------------------------


class broadcast:
    """The common shape of several arrays, and an iterator over tuples of their elements, in C order.

    Parameters
    ----------
    *args : array_like

    Raises
    ------
    ValueError
        The shapes do not broadcast, or there are more than 64 arrays.

    Examples
    --------
    >>> b = bc.broadcast([[1], [2]], [3, 4])
    >>> b.shape, b.size
    ((2, 2), 4)
    >>> [int(x * y) for x, y in b]
    [3, 4, 6, 8]
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if kwargs:
            raise ValueError("keyword arguments not accepted.")
        if len(args) > 64:
            raise ValueError(f"Need at least 0 and at most 64 array objects, got {len(args)}.")
        self._arrays = _c.broadcast_arrays(*args) if args else ()
        self.shape: tuple[int, ...] = self._arrays[0].shape if args else ()
        self.reset()

    def reset(self) -> None:
        """Begins the iteration again.

        Examples
        --------
        >>> b = bc.broadcast([1, 2], 3)
        >>> _ = next(b)
        >>> b.reset()
        >>> b.index
        0
        """
        self.index = 0
        self._indices = np.ndindex(self.shape)

    @property
    def ndim(self) -> int:
        """The number of dimensions of the common shape (`nd` is another name)."""
        return len(self.shape)

    nd = ndim

    @property
    def size(self) -> int:
        """The number of elements of the common shape."""
        return int(np.prod(self.shape, dtype=np.int64))

    @property
    def numiter(self) -> int:
        """How many arrays there are."""
        return len(self._arrays)

    @property
    def iters(self) -> tuple[Any, ...]:
        """An iterator over the elements of each array, broadcast."""
        return tuple(a.flat for a in self._arrays)

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        return self

    def __next__(self) -> tuple[Any, ...]:
        at = next(self._indices)
        self.index += 1
        return tuple(a[at] for a in self._arrays)
