"""Selecting elements by index and by mask, and questions about arrays."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_index

from . import _broadcloth as _c
from ._broadcloth import ndarray

_asarray = _c.asarray
_ufuncs = _c.ufuncs

nonzero = _c.nonzero
put = _c.put
s_, index_exp = np.s_, np.index_exp
ndindex = np.ndindex


def ndim(a: Any) -> int:
    """The number of dimensions.

    Examples
    --------
    >>> bc.ndim(bc.zeros((2, 3)))
    2
    """
    return a.ndim if isinstance(a, ndarray) else int(np.ndim(a))


def shape(a: Any) -> tuple[int, ...]:
    """The extents.

    Examples
    --------
    >>> bc.shape(bc.zeros((2, 3)))
    (2, 3)
    """
    return a.shape if isinstance(a, ndarray) else tuple(np.shape(a))


def size(a: Any, axis: int | tuple[int, ...] | None = None) -> int:
    """The number of elements, or along some axes.

    Examples
    --------
    >>> bc.size(bc.zeros((2, 3))), bc.size(bc.zeros((2, 3)), 1)
    (6, 3)
    """
    extents = shape(a)
    if axis is None:
        return int(np.prod(extents, dtype=np.int64))
    axes = (axis,) if isinstance(axis, (int, np.integer)) else axis
    return int(np.prod([extents[normalize_axis_index(d, len(extents))] for d in axes], dtype=np.int64))


def astype(x: Any, dtype: Any, /, *, copy: bool = True, device: Any = None) -> ndarray:
    """The elements as another type.

    Raises
    ------
    TypeError
        `x` is no array.

    Examples
    --------
    >>> bc.astype(bc.array([1, 2]), bc.float32)
    array([1., 2.], dtype=float32)
    """
    if not isinstance(x, (ndarray, np.ndarray)):
        raise TypeError(f"Input should be a NumPy array. It is of type {type(x)}.")
    return _asarray(x).astype(dtype, copy=copy, device=device)


def may_share_memory(a: Any, b: Any, max_work: Any = None) -> bool:
    """Tells whether two arrays may share memory.

    Examples
    --------
    >>> a = bc.arange(4)
    >>> bc.may_share_memory(a[:2], a[1:])
    True
    """
    return _c.shares_memory(a, b)


shares_memory = may_share_memory


def flatnonzero(a: Any) -> ndarray:
    """The indices into the flattened array where it is not zero.

    Examples
    --------
    >>> bc.flatnonzero([0, 3, 0, 4])
    array([1, 3])
    """
    return _c.nonzero(_asarray(a).ravel())[0]


def argwhere(a: Any) -> ndarray:
    """The indices of the elements that are not zero, one row each.

    Examples
    --------
    >>> bc.argwhere([[0, 1], [1, 0]])
    array([[0, 1],
           [1, 0]])
    """
    x = _asarray(a)
    if x.ndim == 0:
        return _c.zeros((1 if bool(x) else 0, 0), np.int64, device=x.device)
    return _c.stack(_c.nonzero(x), 1)


def take(a: Any, indices: Any, axis: int | None = None, out: Any = None, mode: str = "raise") -> ndarray:
    """Elements at integer indices, along an axis or of the flattened array.

    Raises
    ------
    IndexError
        An index is out of bounds and `mode` is 'raise'.

    Examples
    --------
    >>> bc.take([10, 20, 30], [2, 0])
    array([30, 10])
    """
    return _c.take(a, indices, axis, out, mode)


def _along(x: ndarray, indices: ndarray, axis: int) -> tuple[Any, ...]:
    if indices.dtype.kind not in "iu":
        raise IndexError("`indices` must be an integer array")
    if x.ndim != indices.ndim:
        raise ValueError("`indices` and `arr` must have the same number of dimensions")
    key: list[Any] = []
    for d in range(x.ndim):
        if d == axis:
            key.append(indices)
        else:
            key.append(_c.arange(x.shape[d], device=x.device).reshape((1,) * d + (-1,) + (1,) * (x.ndim - 1 - d)))
    return tuple(key)


def take_along_axis(arr: Any, indices: Any, axis: int | None = -1) -> ndarray:
    """Elements at one index for each place along an axis, as argmax gives them.

    Examples
    --------
    >>> bc.take_along_axis(bc.array([[10, 30, 20]]), bc.array([[1]]), 1)
    array([[30]])
    """
    x, at = _asarray(arr), _asarray(indices)
    if axis is None:
        if at.ndim != 1:
            raise ValueError("when axis=None, `indices` must have a single dimension.")
        x, axis = x.ravel(), 0
    return x[_along(x, at, normalize_axis_index(axis, x.ndim))]


def put_along_axis(arr: ndarray, indices: Any, values: Any, axis: int | None) -> None:
    """Writes values at one index for each place along an axis.

    Examples
    --------
    >>> a = bc.array([[10, 30, 20]])
    >>> bc.put_along_axis(a, bc.array([[1]]), 99, axis=1)
    >>> a
    array([[10, 99, 20]])
    """
    at = _asarray(indices)
    if axis is None:
        if at.ndim != 1:
            raise ValueError("when axis=None, `indices` must have a single dimension.")
        arr.flat[at] = values
        return
    arr[_along(arr, at, normalize_axis_index(axis, arr.ndim))] = values


def putmask(a: ndarray, mask: Any, values: Any) -> None:
    """Writes where a mask holds; `values` are repeated over the flattened array when they are fewer.

    Examples
    --------
    >>> a = bc.arange(4)
    >>> bc.putmask(a, a > 1, [7, 8])
    >>> a
    array([0, 1, 7, 8])
    """
    if not isinstance(a, ndarray):
        raise TypeError(f"argument 1 must be broadcloth.ndarray, not {type(a).__name__}")
    m, v = _asarray(mask, np.bool_), _asarray(values)
    if m.shape != a.shape and m.size == a.size:
        m = m.reshape(a.shape)
    if m.shape != a.shape:
        raise ValueError("putmask: mask and data must be the same size")
    if v.size == 0:
        return
    if v.shape != a.shape:
        flat = v.ravel()
        v = flat[_c.iota(a.shape, device=a.device) % flat.size] if flat.size > 1 else flat[0]
    _c.copyto(a, v, casting="unsafe", where=m)


def place(arr: ndarray, mask: Any, vals: Any) -> None:
    """Writes the first of `vals` where a mask first holds, and so on, starting again when they run out.

    Examples
    --------
    >>> a = bc.arange(4)
    >>> bc.place(a, a > 1, [7, 8])
    >>> a
    array([0, 1, 7, 8])
    """
    m, v = _asarray(mask, np.bool_), _asarray(vals).ravel()
    if m.size != arr.size:
        raise ValueError("place: mask and data must be the same size")
    at = _c.nonzero(m.reshape(arr.shape))
    count = at[0].size if at else 0
    if count == 0:
        return
    if v.size == 0:
        raise ValueError("Cannot insert from an empty array!")
    arr[at] = v[_c.arange(count, device=arr.device) % v.size]


def compress(condition: Any, a: Any, axis: int | None = None, out: Any = None) -> ndarray:
    """The slices along an axis (elements of the flattened array) whose condition holds.

    Examples
    --------
    >>> bc.compress([True, False, True], [1, 2, 3])
    array([1, 3])
    """
    c, x = _asarray(condition), _asarray(a)
    if c.ndim != 1:
        raise ValueError("condition must be a 1-d array")
    return _c.take(x, _c.nonzero(c)[0], axis, out)


def extract(condition: Any, arr: Any) -> ndarray:
    """The elements of the flattened array whose condition holds.

    Examples
    --------
    >>> a = bc.arange(5)
    >>> bc.extract(a % 2 == 0, a)
    array([0, 2, 4])
    """
    return _c.take(_asarray(arr).ravel(), flatnonzero(condition))


def choose(a: Any, choices: Sequence[Any], out: Any = None, mode: str = "raise") -> ndarray:
    """Elements of the choice whose number the index array holds.

    Raises
    ------
    ValueError
        An index is out of bounds and `mode` is 'raise'.

    Examples
    --------
    >>> bc.choose([1, 0], [[10, 20], [30, 40]])
    array([30, 20])
    """
    index = _asarray(a)
    n = len(choices)
    if index.dtype.kind not in "biu":
        raise TypeError(f"Cannot cast array data from dtype('{index.dtype}') to dtype('int64') according to the rule 'safe'")
    if mode == "raise":
        if index.size and bool(_c.reduce("any", (index < 0) | (index >= n))):
            raise ValueError("invalid entry in choice array")
    elif mode == "wrap":
        index = index % n
    elif mode == "clip":
        index = _c.clip(index, 0, n - 1)
    else:
        raise ValueError(f"clipmode not understood: {mode!r}")
    kind = _c.result_type(*(_asarray(c).dtype for c in choices))
    result = _asarray(choices[0], kind)
    for k in range(1, n):
        result = _c.where(index == k, _asarray(choices[k], kind), result)
    result = _c.broadcast_to(result, _c.broadcast_shapes(index.shape, result.shape)).copy() if n == 1 else result
    if out is None:
        return result
    _c.copyto(out, result)
    return out


def fill_diagonal(a: ndarray, val: Any, wrap: bool = False) -> None:
    """Writes the main diagonal of an array with at least two dimensions.

    Examples
    --------
    >>> a = bc.zeros((2, 2), int)
    >>> bc.fill_diagonal(a, 5)
    >>> a
    array([[5, 0],
           [0, 5]])
    """
    if a.ndim < 2:
        raise ValueError("array must be at least 2-d")
    if a.ndim == 2:
        step, end = a.shape[1] + 1, (None if wrap else a.shape[1] * a.shape[1])
    else:
        if len(set(a.shape)) != 1:
            raise ValueError("All dimensions of input must be of equal length")
        step, end = 1 + int(np.cumprod(a.shape[:-1]).sum()), None
    at = np.arange(a.size)[:end:step]
    v = _asarray(val).ravel()
    if v.size > 1:
        v = v[_c.arange(len(at)) % v.size]
    elif v.size == 1:
        v = v[0]
    a[tuple(_asarray(i) for i in np.unravel_index(at, a.shape))] = v


def ix_(*args: Any) -> tuple[ndarray, ...]:
    """Index arrays that together select the product of 1-d indices.

    Examples
    --------
    >>> bc.arange(9).reshape(3, 3)[bc.ix_([0, 2], [1])]
    array([[1],
           [7]])
    """
    made = []
    for k, item in enumerate(args):
        x = _asarray(item, np.int64) if not isinstance(item, (ndarray, np.ndarray)) and len(item) == 0 else _asarray(item)
        if x.ndim != 1:
            raise ValueError("Cross index must be 1 dimensional")
        if x.dtype.kind == "b":
            x = _c.nonzero(x)[0]
        made.append(x.reshape((1,) * k + (-1,) + (1,) * (len(args) - 1 - k)))
    return tuple(made)


def unravel_index(indices: Any, shape: Any, order: str = "C") -> tuple[ndarray, ...]:
    """The coordinates of flat indices.

    Raises
    ------
    ValueError
        An index is out of bounds.

    Examples
    --------
    >>> bc.unravel_index([5], (2, 3))
    (array([1]), array([2]))
    """
    found = np.unravel_index(_c.asnumpy(indices), shape, order)  # type: ignore[call-overload]
    return tuple(_asarray(f) for f in found)


def ravel_multi_index(multi_index: Any, dims: Any, mode: Any = "raise", order: str = "C") -> ndarray:
    """The flat indices of coordinates.

    Examples
    --------
    >>> bc.ravel_multi_index(([1], [2]), (2, 3))
    array([5])
    """
    at = tuple(_c.asnumpy(i) for i in multi_index)
    return _asarray(np.ravel_multi_index(at, dims, mode, order))  # type: ignore[call-overload]


def ndenumerate(arr: Any) -> Iterator[tuple[tuple[int, ...], Any]]:
    """Pairs of index and element, read on the host.

    Examples
    --------
    >>> [(i, int(v)) for i, v in bc.ndenumerate(bc.array([7, 8]))]
    [((0,), 7), ((1,), 8)]
    """
    return iter(np.ndenumerate(_c.asnumpy(arr)))


def array2string(a: Any, *args: Any, **kwargs: Any) -> str:
    """The elements as text, with numpy.array2string's options.

    Examples
    --------
    >>> bc.array2string(bc.array([1.0, 2.0]), separator=";")
    '[1.;2.]'
    """
    return np.array2string(_c.asnumpy(a), *args, **kwargs)


def array_repr(arr: Any, max_line_width: int | None = None, precision: int | None = None, suppress_small: bool | None = None) -> str:
    """What repr() gives, with options.

    Examples
    --------
    >>> bc.array_repr(bc.array([1, 2]))
    'array([1, 2])'
    """
    return np.array_repr(_c.asnumpy(arr), max_line_width, precision, suppress_small)


def array_str(a: Any, max_line_width: int | None = None, precision: int | None = None, suppress_small: bool | None = None) -> str:
    """What str() gives, with options.

    Examples
    --------
    >>> bc.array_str(bc.array([1, 2]))
    '[1 2]'
    """
    return np.array_str(_c.asnumpy(a), max_line_width, precision, suppress_small)


def iterable(y: Any) -> bool:
    """Tells whether an object can be iterated.

    Examples
    --------
    >>> bc.iterable([1]), bc.iterable(2)
    (True, False)
    """
    try:
        iter(y)
    except TypeError:
        return False
    return True
