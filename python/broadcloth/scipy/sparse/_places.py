"""What `a[key]` and `a[key] = value` do for coordinates along any number of axes, in NumPy's words."""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

import broadcloth as bc

from ..._broadcloth import ndarray
from ._base import dense_operand, issparse, scipy_sparse
from ._index import fitted, number_of, numbers_of

# Stands for the axes of the index arrays among the axes of a result.
_ARRAYS = -1


def _index(k: Any, device: Any) -> Any:
    """A part of a key: None, an ellipsis, a slice, a number, or arrays, which are one of numbers for an axis or masks' axes."""
    if k is None or k is Ellipsis or isinstance(k, slice):
        return k
    if issparse(k) or scipy_sparse(k):
        if k.dtype.kind != "b":
            raise IndexError("an array is indexed by masks alone of all sparse arrays")
        coo = k.tocoo()
        coords = coo.coords if hasattr(coo, "coords") else (coo.row, coo.col)
        true = np.flatnonzero(bc.asnumpy(coo.data))
        return _Mask(k.shape, [bc.asarray(bc.asnumpy(c)[true].astype(np.int64), device=device) for c in coords])
    if np.ndim(k) == 0 and hasattr(k, "__index__"):
        return operator.index(k)
    try:
        a = bc.asarray(k, device=device)
    except (TypeError, ValueError):
        raise IndexError(f"expected numbers, slices, masks and arrays of whole numbers as indices, got {k!r}") from None
    if a.size == 0 and not hasattr(k, "dtype"):
        a = a.astype(np.int64)
    if a.dtype.kind == "b" and a.ndim:
        return _Mask(a.shape, [c.astype(np.int64, copy=False) for c in a.nonzero()])
    if a.dtype.kind not in "iu":
        raise IndexError(f"expected numbers, slices, masks and arrays of whole numbers as indices, got {k!r}")
    if a.ndim == 0:
        raise IndexError("Index dimension must be 1 or more. Got 0")
    return a


class _Mask:
    """The places where a mask is true."""

    def __init__(self, shape: tuple[int, ...], places: list[ndarray]) -> None:
        self.shape, self.places = shape, places


def _axes_of(k: Any) -> int:
    """How many axes of the array a part of a key is for."""
    return 0 if k is None else len(k.shape) if isinstance(k, _Mask) else 1


class Selection:
    """A key as an index for each axis: a number, a range, or an array of numbers; and where the axes of a result come from."""

    def __init__(self, key: Any, shape: tuple[int, ...], device: Any) -> None:
        keys = [_index(k, device) for k in (key if isinstance(key, tuple) else (key,))]
        dots = [i for i, k in enumerate(keys) if k is Ellipsis]
        if len(dots) > 1:
            raise IndexError("an index can only have a single ellipsis ('...')")
        given = sum(_axes_of(k) for k in keys if k is not Ellipsis)
        if given > len(shape):
            raise IndexError(f"too many indices: the array has {len(shape)} axes, and the key is for {given}")
        at = dots[0] if dots else len(keys)
        keys[at : at + 1] = [slice(None)] * (len(shape) - given)
        self.extents = shape
        self.axes: list[Any] = []
        # One entry for each axis of the result: an axis of the array, None for a new one, or _ARRAYS for all of the index arrays.
        self.order: list[int | None] = []
        advanced = []
        for part, k in enumerate(keys):
            axis = len(self.axes)
            if k is None:
                self.order.append(None)
            elif isinstance(k, slice):
                self.axes.append(range(shape[axis])[k])
                self.order.append(axis)
            else:
                self.axes += self._arrays_of(k, axis) if not isinstance(k, int) else [number_of(k, shape[axis])]
                advanced.append((part, len(self.order)))
        arrays = [k for k in self.axes if isinstance(k, ndarray)]
        self.arrays: tuple[int, ...] = ()
        if arrays:
            self._broadcast(arrays)
            # As in NumPy, numbers beside index arrays count as such; where others stand between them their axes are the first ones.
            together = advanced[-1][0] - advanced[0][0] == len(advanced) - 1
            self.order.insert(advanced[0][1] if together else 0, _ARRAYS)

    def _arrays_of(self, k: Any, axis: int) -> list[ndarray]:
        if isinstance(k, ndarray):
            return [numbers_of(k, self.extents[axis])]
        wanted = self.extents[axis : axis + len(k.shape)]
        if k.shape != wanted:
            raise IndexError(f"bool index for axis {axis} has shape {k.shape} instead of {wanted}")
        return k.places

    def _broadcast(self, arrays: list[ndarray]) -> None:
        try:
            self.arrays = np.broadcast_shapes(*(a.shape for a in arrays))
        except ValueError:
            shapes = " ".join(str(a.shape) for a in arrays)
            raise IndexError(f"shape mismatch: indexing arrays could not be broadcast together with shapes {shapes}") from None
        self.axes = [bc.broadcast_to(k, self.arrays).ravel() if isinstance(k, ndarray) else k for k in self.axes]

    def shape(self, new_axes: bool = True) -> tuple[int, ...]:
        """The shape of what is selected."""
        found: list[int] = []
        for k in self.order:
            if k is not None:
                found += self.arrays if k == _ARRAYS else [len(self.axes[k])]
            elif new_axes:
                found.append(1)
        return tuple(found)

    def has_arrays(self) -> bool:
        return _ARRAYS in self.order

    def number(self, coords: Sequence[Any]) -> Any:
        """The places along the axes of index arrays as one number each, of their coordinates along all axes."""
        number: Any = 0
        for k, n, places in zip(self.axes, self.extents, coords, strict=True):
            if isinstance(k, ndarray):
                number = number * n + places.astype(np.int64)
        return number

    def inside(self, coords: Sequence[ndarray]) -> tuple[ndarray, dict[int, ndarray]]:
        """Which elements the numbers and ranges select, and the places of elements in the ranges."""
        keep = bc.ones(coords[0].size, bool, device=coords[0].device)
        kept = {}
        for axis, (k, n, places) in enumerate(zip(self.axes, self.extents, coords, strict=True)):
            if isinstance(k, int):
                keep = keep & (places == k)
            elif isinstance(k, range):
                kept[axis] = places
                if k != range(n):
                    beyond = places - k.start
                    kept[axis] = beyond // k.step
                    keep = keep & (beyond % k.step == 0) & (kept[axis] >= 0) & (kept[axis] < len(k))
        return keep, kept

    def matches(self, coords: Sequence[ndarray]) -> tuple[ndarray, ndarray]:
        """Pairs of elements and places in the index arrays that select them."""
        numbers, wanted = self.number(coords), self.number(self.axes)
        order = bc.argsort(wanted, stable=True)
        ascending = wanted[order]
        first, end = bc.searchsorted(ascending, numbers), bc.searchsorted(ascending, numbers, "right")
        counts = end - first
        element = bc.repeat(bc.arange(numbers.size, device=numbers.device), counts)
        before = bc.cumsum(counts) - counts
        place = bc.arange(element.size, device=numbers.device) - before[element] + first[element]
        return element, order[place]

    def coordinates(self, kept: dict[int, ndarray], places: Any, like: ndarray) -> list[ndarray]:
        """The coordinates of selected elements in the result, of those in ranges and of places in the index arrays."""
        found: list[ndarray] = []
        for k in self.order:
            if k is None:
                found.append(bc.zeros(like.size, np.int64, device=like.device))
            elif k == _ARRAYS:
                found += bc.unravel_index(places, self.arrays)
            else:
                found.append(kept[k])
        return found

    def selects(self, coords: Sequence[ndarray]) -> ndarray:
        """Which elements are selected."""
        keep, _ = self.inside(coords)
        return keep & bc.isin(self.number(coords), self.number(self.axes)) if self.has_arrays() else keep

    def of_result(self, data: ndarray, coords: Sequence[ndarray]) -> tuple[ndarray, list[ndarray]]:
        """Elements of what is selected, without new axes, and their coordinates in the array; of a place that comes twice the last ones."""
        if self.has_arrays():
            first = sum(len(self.arrays) if k == _ARRAYS else 1 for k in self.order[: self.order.index(_ARRAYS)] if k is not None)
            end = first + len(self.arrays)
            place = bc.ravel_multi_index(coords[first:end], self.arrays)
            keep = self._last_ones()[place]
            data, place, coords = data[keep], place[keep], [c[keep] for c in (*coords[:first], *coords[end:])]
        spans = iter(coords)
        found = {k: next(spans) * self.axes[k].step + self.axes[k].start for k in self.order if k is not None and k != _ARRAYS}
        for axis, k in enumerate(self.axes):
            if axis not in found:
                found[axis] = k[place] if isinstance(k, ndarray) else bc.full(data.size, k, np.int64, device=data.device)
        return data, [found[axis] for axis in range(len(self.axes))]

    def _last_ones(self) -> ndarray:
        """Which places in the index arrays come last among those that select the same."""
        wanted = self.number(self.axes)
        order = bc.argsort(wanted, stable=True)
        ascending = wanted[order]
        found = bc.ones(wanted.size, bool, device=wanted.device)
        found[order[:-1]] = ascending[1:] != ascending[:-1]
        return found


def elements_of(value: Any, shape: tuple[int, ...], dtype: np.dtype, device: Any) -> tuple[ndarray, list[ndarray]]:
    """The elements, and their coordinates, of a value that is assigned to places of that shape: of a dense one those that are not zero."""
    if issparse(value) and not shape and math.prod(value.shape) == 1:
        value = value.toarray()
    if issparse(value):
        coo = value.tocoo()
        if coo.shape != shape:
            coo = _stretched(coo, shape)
        coo = coo.copy()
        coo.sum_duplicates()
        return coo.data.astype(dtype, copy=False), [*coo.coords]
    x = dense_operand(value, device)
    if x is not None and x.size > 1 and x.ndim > len(shape):
        value = x.squeeze()
    x = fitted(value, shape, dtype, device).astype(dtype, copy=False)
    if not shape:
        return x.reshape(1), []
    coords = [*x.nonzero()]
    return x[tuple(coords)], coords


def _stretched(coo: Any, shape: tuple[int, ...]) -> Any:
    """A sparse value with its elements repeated for those places; axes of extent 1 before and after the others need not be there."""
    extents = [*coo.shape]
    while len(extents) > len(shape) and 1 in (extents[0], extents[-1]):
        extents.pop(0 if extents[0] == 1 else -1)
    try:
        return coo.reshape(extents)._broadcast_to(shape)
    except ValueError:
        raise ValueError(f"shape mismatch in assignment: {coo.shape} to places of shape {shape}") from None
