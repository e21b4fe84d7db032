"""Sorting, searching and sets: NumPy's argument conventions over the engine's sorts. NaN comes last."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.lib.array_utils import normalize_axis_index

from . import _broadcloth as _c
from ._broadcloth import ndarray
from ._indexing import bounds_of

if TYPE_CHECKING:
    from .typing import ArrayLike

_asarray = _c.asarray

_KINDS = ("quicksort", "mergesort", "heapsort", "stable")


def _check_kind(kind: Any, order: Any, stable: Any) -> None:
    """Raises where NumPy does. Every kind is the same sort but for zeros of unlike sign (`_keeps_zeros`)."""
    if order is not None:
        raise ValueError("Cannot specify order when the array has no fields.")
    if kind is not None:
        if stable is not None:
            raise ValueError("`kind` and `stable` parameters can't be provided at the same time. Use only one of them.")
        if not isinstance(kind, str):
            raise TypeError(f"sort kind must be str, not {type(kind).__name__}")
        if not kind or not any(name.startswith(kind[0].lower()) for name in _KINDS):
            raise ValueError(f"sort kind must be one of 'quick', 'heap', or 'stable' (got '{kind}')")


def _keeps_zeros(kind: str | None, stable: bool | None) -> bool:
    """Whether a sort was asked to be stable, which shows in sorted numbers by the signs of zeros alone."""
    return bool(stable) or (kind is not None and kind[0].lower() in "sm")


def sort(
    a: ArrayLike,
    axis: int | None = -1,
    kind: str | None = None,
    order: None = None,
    *,
    stable: bool | None = None,
    descending: bool | None = None,
) -> ndarray:
    """A sorted copy.

    Parameters
    ----------
    a : array_like
    axis : int or None
        The axis to sort along; None sorts the flattened array.
    kind : {'quicksort', 'mergesort', 'heapsort', 'stable'}, optional
        'mergesort' and 'stable' leave zeros of unlike sign as they stand; with the others -0.0 comes before 0.0.
    stable : bool, optional
        As `kind`; not together with it.
    descending : bool, optional
        Whether the greatest come first, as from NumPy 2.5 on.

    Returns
    -------
    ndarray
        NaN and NaT come last in both orders; complex numbers are ordered by their real and then by their imaginary parts.

    Raises
    ------
    AxisError
        `axis` is out of bounds.
    ValueError
        `order` is given (there are no fields), or `kind` is none of the above.

    Examples
    --------
    >>> bc.sort([[3, 1, 2], [9, 8, 7]])
    array([[1, 2, 3],
           [7, 8, 9]])
    >>> bc.sort([2.0, bc.nan, 3.0], descending=True)
    array([ 3.,  2., nan])
    """
    _check_kind(kind, order, stable)
    return _c.sort(a, axis, bool(descending), _keeps_zeros(kind, stable))


def argsort(
    a: ArrayLike,
    axis: int | None = -1,
    kind: str | None = None,
    order: None = None,
    *,
    stable: bool | None = None,
    descending: bool | None = None,
) -> ndarray:
    """The places, int64, that sort an array: `take_along_axis(a, argsort(a, axis), axis)` is sorted. Equal elements keep their order.

    Parameters and errors are those of `sort`.

    Examples
    --------
    >>> bc.argsort([30, 10, 20, 10])
    array([1, 3, 2, 0])
    """
    _check_kind(kind, order, stable)
    return _c.argsort(a, axis, bool(descending))


def lexsort(keys: Any, axis: int = -1) -> ndarray:
    """The places that sort by several keys: the last one first, then the one before it where the last ones are equal, and so on.

    Parameters
    ----------
    keys : array of shape (k, ...) or sequence of k arrays of one shape
    axis : int
        The axis of the keys to sort along.

    Raises
    ------
    TypeError
        There are no keys.
    ValueError
        The keys differ in shape.

    Examples
    --------
    >>> names, ages = [3, 1, 2], [40, 30, 40]
    >>> bc.lexsort((names, ages))
    array([1, 2, 0])
    """
    if isinstance(keys, ndarray | np.ndarray) and keys.ndim == 0:
        raise TypeError("need sequence of keys with len > 0 in lexsort")
    return _c.lexsort(list(keys), axis)


def _ranks(kth: ArrayLike) -> list[int]:
    """`kth` as a list of integers; bools are refused as NumPy refuses them."""
    if type(kth) is int and -(1 << 62) < kth < 1 << 62:
        return [kth]
    ranks = np.asarray(kth.get() if isinstance(kth, ndarray) else kth)
    if ranks.dtype.kind == "b":
        raise ValueError("Booleans unacceptable as partition index")
    if ranks.dtype.kind not in "iu" and ranks.size:
        raise TypeError("Partition index must be integer")
    if ranks.ndim > 1:
        raise ValueError("object too deep for desired array")
    return [int(k) for k in ranks.reshape(-1)]


def _check_select(kind: Any, order: Any) -> None:
    if order is not None:
        raise ValueError("Cannot specify order when the array has no fields.")
    if not isinstance(kind, str):
        raise TypeError(f"select kind must be str, not {type(kind).__name__}")
    if kind != "introselect":
        raise ValueError(f"select kind must be one of 'introselect' (got '{kind}')")


def partition(a: ArrayLike, kth: ArrayLike, axis: int | None = -1, kind: str = "introselect", order: None = None) -> ndarray:
    """A copy in which the element of rank `kth` stands where a sort would put it; elements before it are not greater, later ones not less.

    Parameters
    ----------
    a : array_like
    kth : int or sequence of ints
        Ranks; negative ones count from the end.
    axis : int or None
        The axis to work along; None works on the flattened array.

    Raises
    ------
    ValueError
        A rank is out of bounds.

    Examples
    --------
    >>> bc.partition([7, 1, 5, 3], 1)[1]
    array(3)
    """
    _check_select(kind, order)
    return _c.partition(a, _ranks(kth), axis)


def argpartition(a: ArrayLike, kth: ArrayLike, axis: int | None = -1, kind: str = "introselect", order: None = None) -> ndarray:
    """The places, int64, that partition an array; see `partition`.

    Examples
    --------
    >>> bc.argpartition([7, 1, 5, 3], 0)[0]
    array(1)
    """
    _check_select(kind, order)
    return _c.argpartition(a, _ranks(kth), axis)


def msort(a: ArrayLike) -> ndarray:
    """A copy sorted along the first axis, as CuPy has it.

    Examples
    --------
    >>> bc.msort([[3, 1], [2, 4]])
    array([[2, 1],
           [3, 4]])
    """
    return _c.sort(a, 0)


def sort_complex(a: ArrayLike) -> ndarray:
    """A sorted copy as complex numbers: complex64 for integers of 8 and 16 bits, complex128 for other real types.

    Examples
    --------
    >>> bc.sort_complex([5, 3, 6])
    array([3.+0.j, 5.+0.j, 6.+0.j])
    """
    made = _c.sort(a)
    if made.dtype.kind == "c":
        return made
    return made.astype("F" if made.dtype.kind in "iu" and made.dtype.itemsize <= 2 else "D")


def searchsorted(a: ArrayLike, v: ArrayLike, side: str = "left", sorter: ArrayLike | None = None) -> ndarray:
    """Where values would have to be put into a sorted array so that it stays sorted.

    Parameters
    ----------
    a : array_like, 1-d
        Ascending, unless `sorter` is given.
    v : array_like
        The values.
    side : {'left', 'right'}
        'left': the first place that fits; 'right': the last one.
    sorter : array_like of ints, optional
        The places that sort `a`.

    Returns
    -------
    ndarray of int64
        Shaped as `v`.

    Raises
    ------
    ValueError
        `a` is not 1-d, or `side` is neither word.

    Examples
    --------
    >>> bc.searchsorted([10, 20, 30], [5, 20, 99])
    array([0, 1, 3])
    """
    return _c.searchsorted(a, v, side, sorter)


def digitize(x: ArrayLike, bins: ArrayLike, right: bool = False) -> ndarray:
    """The number of the bin that each value lies in: `bins[i-1] <= x < bins[i]` (with `right`: `bins[i-1] < x <= bins[i]`).

    Parameters
    ----------
    x : array_like, real
    bins : array_like, 1-d
        The edges, ascending or descending. They are looked at to tell which.

    Raises
    ------
    TypeError
        `x` is complex.
    ValueError
        `bins` is not monotonic.

    Examples
    --------
    >>> bc.digitize([0.2, 6.4, 3.0], [0.0, 1.0, 2.5, 4.0])
    array([1, 4, 3])
    """
    x, bins = _asarray(x), _asarray(bins)
    if x.dtype.kind == "c":
        raise TypeError("x may not be complex")
    if bins.dtype.kind == "c":
        raise TypeError(f"Cannot cast array data from dtype('{bins.dtype}') to dtype('float64') according to the rule 'safe'")
    if bins.ndim != 1:
        raise ValueError("object too deep for desired array" if bins.ndim else "object of too small depth for desired array")
    side = "left" if right else "right"
    direction = _c.direction(bins)
    if direction > 0:
        return _c.searchsorted(bins, x, side)
    if direction < 0:
        return len(bins) - _c.searchsorted(bins[::-1], x, side)
    raise ValueError("bins must be monotonically increasing or decreasing")


# ---- Sets ----------------------------------------------------------------------------------------------------------------------------


def _unique(a: Any, return_index: bool, return_inverse: bool, return_counts: bool, equal_nan: bool) -> tuple[Any, ...]:
    """The values, their first places, the inverse and the counts. The latter two have no class of `a`, in NumPy neither."""
    values, places, *counted = _c.unique(a, return_index, return_inverse, return_counts, equal_nan)
    return values, places, *(part if part is None or type(part) is ndarray else part.view(ndarray) for part in counted)


def unique(
    ar: ArrayLike,
    return_index: bool = False,
    return_inverse: bool = False,
    return_counts: bool = False,
    axis: int | None = None,
    *,
    equal_nan: bool = True,
    sorted: bool = True,
) -> Any:
    """The different values, ascending.

    Parameters
    ----------
    ar : array_like
    return_index, return_inverse, return_counts : bool
        Also gives the place of each value's first occurrence; the places in the values that make the array again; how often each occurs.
    axis : int, optional
        Compares the slices along this axis instead of elements.
    equal_nan : bool
        Whether NaNs are one value.
    sorted : bool
        The values are sorted in either case.

    Returns
    -------
    ndarray, or a tuple of it and what was asked for
        How many values there are is known when they are computed, so this looks at the array.

    Examples
    --------
    >>> bc.unique([3, 1, 3, 2], return_counts=True)
    (array([1, 2, 3]), array([1, 1, 2]))
    """
    a = _c.asanyarray(ar)
    if axis is None or (a.ndim == 1 and normalize_axis_index(axis, 1) == 0):
        parts = _unique(a, return_index, return_inverse, return_counts, equal_nan)
        if not (return_index or return_inverse or return_counts):
            return parts[0]
    else:
        rows = _c.moveaxis(a, axis, 0)
        values, *rest = _c.unique_rows(rows, return_index, return_inverse, return_counts)
        parts = (_c.moveaxis(values, 0, axis), *rest)
    asked = tuple(part for part in parts if part is not None)
    return asked if len(asked) > 1 else asked[0]


class UniqueAllResult(NamedTuple):
    values: ndarray
    indices: ndarray
    inverse_indices: ndarray
    counts: ndarray


class UniqueCountsResult(NamedTuple):
    values: ndarray
    counts: ndarray


class UniqueInverseResult(NamedTuple):
    values: ndarray
    inverse_indices: ndarray


def unique_all(x: ArrayLike) -> UniqueAllResult:
    """The different values with their first places, the inverse and their counts; each NaN is a value of its own.

    Examples
    --------
    >>> bc.unique_all([1, 1, 2]).counts
    array([2, 1])
    """
    return UniqueAllResult(*_unique(x, True, True, True, False))


def unique_counts(x: ArrayLike) -> UniqueCountsResult:
    """The different values and how often each occurs; each NaN is a value of its own.

    Examples
    --------
    >>> bc.unique_counts([1, 1, 2]).values
    array([1, 2])
    """
    values, _, _, counts = _unique(x, False, False, True, False)
    return UniqueCountsResult(values, counts)


def unique_inverse(x: ArrayLike) -> UniqueInverseResult:
    """The different values, and the places in them that make the array again; each NaN is a value of its own.

    Examples
    --------
    >>> bc.unique_inverse([5, 9, 5]).inverse_indices
    array([0, 1, 0])
    """
    values, _, inverse, _ = _unique(x, False, True, False, False)
    return UniqueInverseResult(values, inverse)


def unique_values(x: ArrayLike) -> ndarray:
    """The different values; each NaN is a value of its own.

    Examples
    --------
    >>> bc.unique_values([2, 1, 2])
    array([1, 2])
    """
    return _c.unique(x, False, False, False, False)[0]


def _both(ar1: ArrayLike, ar2: ArrayLike) -> ndarray:
    return _c.concatenate([_c.ravel(_asarray(ar1)), _c.ravel(_asarray(ar2))])


def union1d(ar1: ArrayLike, ar2: ArrayLike) -> ndarray:
    """The different values of two arrays, ascending.

    Examples
    --------
    >>> bc.union1d([3, 1], [2, 3])
    array([1, 2, 3])
    """
    return unique(_c.concatenate([ar1, ar2], None))


def intersect1d(ar1: ArrayLike, ar2: ArrayLike, assume_unique: bool = False, return_indices: bool = False) -> Any:
    """The values that two arrays share, ascending.

    Parameters
    ----------
    ar1, ar2 : array_like
        Flattened first.
    assume_unique : bool
        Neither array holds a value twice.
    return_indices : bool
        Also gives the first places of the shared values in both arrays.

    Examples
    --------
    >>> bc.intersect1d([1, 3, 4, 3], [3, 1, 2, 1])
    array([1, 3])
    """
    a, b = _c.ravel(_asarray(ar1)), _c.ravel(_asarray(ar2))
    first: Any = None
    second: Any = None
    if not assume_unique:
        if return_indices:
            a, first = unique(a, return_index=True)
            b, second = unique(b, return_index=True)
        else:
            a, b = unique(a), unique(b)
    both = _c.concatenate([a, b])
    if not return_indices:
        both = _c.sort(both)
        return both[:-1][both[1:] == both[:-1]]
    order = _c.argsort(both)
    both = both[order]
    shared = both[1:] == both[:-1]
    at_first, at_second = order[:-1][shared], order[1:][shared] - len(a)
    if first is not None:
        at_first, at_second = first[at_first], second[at_second]
    return both[:-1][shared], at_first, at_second


def setxor1d(ar1: ArrayLike, ar2: ArrayLike, assume_unique: bool = False) -> ndarray:
    """The values that one of two arrays holds and the other does not, ascending.

    Examples
    --------
    >>> bc.setxor1d([1, 2, 3], [3, 4])
    array([1, 2, 4])
    """
    if not assume_unique:
        ar1, ar2 = unique(ar1), unique(ar2)
    both = _c.sort(_both(ar1, ar2))
    if both.size == 0:
        return both
    end = _c.asarray([True])
    differs = _c.concatenate([end, both[1:] != both[:-1], end])
    return both[differs[1:] & differs[:-1]]


_FEW_TESTS = 16  # comparisons with so many take less time than a binary search


def _small_range(x: ndarray, tests: ndarray) -> tuple[int, int] | None:
    """The least and the greatest of the integers that are looked for, where they lie so close together that a table of them is faster than
    comparisons; None for other arrays."""
    if tests.size <= 8 or _c.differs(tests) or not all(a.dtype.kind in "iu" and a.dtype != np.uint64 for a in (x, tests)):
        return None
    low, high = bounds_of(tests)
    return (low, high) if high - low <= 6 * (x.size + tests.size) else None


def _in_table(x: ndarray, tests: ndarray, low: int, high: int, invert: bool) -> ndarray:
    table = _c.full(high - low + 1, invert, np.bool_)
    table[tests.astype(np.int64) - low] = not invert
    place = x.astype(np.int64) - low
    inside = (place >= 0) & (place <= high - low)
    return _asarray(_c.where(inside, table[_c.where(inside, place, 0)], invert))


def isin(
    element: ArrayLike, test_elements: ArrayLike, assume_unique: bool = False, invert: bool = False, *, kind: str | None = None
) -> ndarray:
    """Whether each element is one of `test_elements`. A NaN is never.

    Parameters
    ----------
    element : array_like
    test_elements : array_like
        Flattened first.
    assume_unique : bool
        Both hold no value twice; the result does not depend on it.
    invert : bool
        Gives whether it is not.
    kind : {None, 'sort', 'table'}
        'table' takes integers only. What is faster is taken, whichever is asked for.

    Returns
    -------
    ndarray of bool
        Shaped as `element`.

    Examples
    --------
    >>> bc.isin([[0, 1], [2, 3]], [1, 3])
    array([[False,  True],
           [False,  True]])
    """
    x, tests = _asarray(element), _c.ravel(_asarray(test_elements))
    if kind not in (None, "sort", "table"):
        raise ValueError(f"Invalid kind: '{kind}'. Please use None, 'sort' or 'table'.")
    if kind == "table" and not (x.dtype.kind in "iub" and tests.dtype.kind in "iub"):
        raise ValueError("The 'table' method is only supported for boolean or integer arrays. Please select 'sort' or None for kind.")
    if tests.size == 0:
        return _c.full(x.shape, bool(invert), device=x.device)
    if x.device.type == "cpu" and (close := _small_range(x, tests)) is not None:
        return _in_table(x, tests, *close, invert)
    if tests.size <= _FEW_TESTS:  # one kernel
        compare, join = _c.ufuncs["not_equal" if invert else "equal"], _c.ufuncs["logical_and" if invert else "logical_or"]
        return _asarray(functools.reduce(join, [compare(x, tests[k]) for k in range(tests.size)]))
    common = np.promote_types(x.dtype, tests.dtype)
    tests = _c.sort(tests.astype(common))
    at = _c.searchsorted(tests, x)
    at = _c.clip(at, None, tests.size - 1)
    found = tests[at]
    return _asarray(found != x if invert else found == x)


def in1d(ar1: ArrayLike, ar2: ArrayLike, assume_unique: bool = False, invert: bool = False, *, kind: str | None = None) -> ndarray:
    """`isin` of the flattened array, as older programs and CuPy have it.

    Examples
    --------
    >>> bc.in1d([0, 1, 2], [2])
    array([False, False,  True])
    """
    return isin(_c.ravel(_asarray(ar1)), ar2, assume_unique, invert, kind=kind)


def setdiff1d(ar1: ArrayLike, ar2: ArrayLike, assume_unique: bool = False) -> ndarray:
    """The values of the first array that the second does not hold, ascending (with `assume_unique` in their order).

    Examples
    --------
    >>> bc.setdiff1d([1, 2, 3, 2], [3])
    array([1, 2])
    """
    x = _c.ravel(_asarray(ar1)) if assume_unique else unique(ar1)
    return x[isin(x, ar2, True, True)]
