"""What `a[key]` and `a[key] = value` do, in NumPy's words: on compressed rows, and by them on columns."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

import broadcloth as bc

from ..._broadcloth import ndarray
from ._base import dense_operand, host_operand, issparse, scipy_sparse, spbase
from ._rows import Rows, index_dtype

# One axis' index: a number, a slice with all its bounds, or an array of numbers that are not negative.
Axis = Any

# Stands for the device where arrays are NumPy's, for formats in host memory.
HOST = object()


def _placed(a: Any, device: Any) -> Any:
    if device is HOST:
        return a.get() if isinstance(a, ndarray) else np.asarray(a)
    return bc.asarray(a, device=device)


def number_of(i: Any, n: int) -> int:
    i = operator.index(i)
    if not -n <= i < n:
        raise IndexError(f"index ({i}) out of range")
    return i + n if i < 0 else i


def numbers_of(i: Any, n: int) -> Any:
    """An index array, checked (which looks), with negative numbers counted from the end."""
    if i.dtype.kind not in "iu":
        raise IndexError("Index dtype must be bool or integer: got " + str(i.dtype))
    i = i.astype(np.int64, copy=False)
    if i.size:
        low, high = bc.stack([i.min(), i.max()]).tolist() if isinstance(i, ndarray) else (int(i.min()), int(i.max()))
        if high >= n:
            raise IndexError(f"index ({high}) out of range")
        if low < -n:
            raise IndexError(f"index ({low}) out of range")
        if low < 0:
            i = (bc if isinstance(i, ndarray) else np).where(i < 0, i + n, i)
    return i


def _is_number(k: Any) -> bool:
    if isinstance(k, (bool, np.bool_)):
        return False
    if isinstance(k, (int, np.integer)):
        return True
    return hasattr(k, "__index__") and not hasattr(k, "shape")


def _as_index(k: Any, device: Any) -> Any:
    a = k if isinstance(k, ndarray) else np.asarray(k)
    if a.dtype.kind not in "biu":
        if a.size == 0:
            a = a.astype(np.int64)
        else:
            raise IndexError(f"Index dtype must be bool or integer: got {a.dtype}" if a.ndim else "Index dimension must be 1 or 2. Got 0")
    a = _placed(a, device)
    if a.ndim > 2:
        raise IndexError(f"Index dimension must be 1 or 2. Got {a.ndim}")
    return a


def parse(key: Any, shape: tuple[int, ...], device: Any) -> tuple[Axis, ...]:
    """An index for each axis; a mask of two axes is the places where it is true."""
    keys = list(key) if isinstance(key, tuple) else [key]
    if len(keys) == 1 and (issparse(keys[0]) or scipy_sparse(keys[0])):
        mask = keys[0]
        if mask.dtype.kind != "b":
            raise IndexError(
                "Indexing with sparse matrices is not supported except boolean indexing where matrix and index are equal shapes."
            )
        if mask.shape != shape:
            raise IndexError("bool index shape does not match the array's")
        coo = mask.tocsr().tocoo()
        keep = coo.data != 0
        return tuple(_placed(c, device)[_placed(keep, device)].astype(np.int64) for c in coo.coords)
    if any(k is None for k in keys):
        raise IndexError("new axes are for reading, not for assignment")
    if sum(k is Ellipsis for k in keys) > 1:
        raise IndexError("an index can only have a single ellipsis ('...')")
    if len(keys) == 2 and any(k is Ellipsis for k in keys):
        # Beside a mask of both axes an ellipsis stands for nothing.
        rest = [k for k in keys if k is not Ellipsis]
        if len(rest) == 1 and not isinstance(rest[0], slice) and rest[0] is not None and np.ndim(rest[0]) == 2:
            keys = rest
    if len(keys) == 1 and hasattr(keys[0], "ndim") and keys[0].ndim == 2 and keys[0].dtype.kind == "b" and len(shape) == 2:
        mask = _placed(keys[0], device)
        if mask.shape != shape:
            raise IndexError(f"bool index shape {mask.shape} does not match the array's shape {shape}")
        return tuple(mask.nonzero())
    if len(keys) == 1 and isinstance(keys[0], list) and keys[0] and isinstance(keys[0][0], (list, tuple)):
        nested = np.asarray(keys[0])
        if nested.dtype == bool and nested.ndim == 2 and len(shape) == 2:
            return parse(nested, shape, device)
    given = len(keys) - sum(k is Ellipsis for k in keys)
    if given > len(shape):
        raise IndexError(f"invalid number of indices: expected at most {len(shape)}, got {given}")
    fill = [slice(None)] * (len(shape) - given)
    if Ellipsis in [k for k in keys if k is Ellipsis]:
        at = next(i for i, k in enumerate(keys) if k is Ellipsis)
        keys[at : at + 1] = fill
    else:
        keys += fill
    return tuple(_axis(k, axis, n, device) for axis, (k, n) in enumerate(zip(keys, shape, strict=True)))


def _axis(k: Any, axis: int, n: int, device: Any) -> Axis:
    if isinstance(k, slice):
        return slice(*k.indices(n))
    if _is_number(k):
        return number_of(k, n)
    a = _as_index(k, device)
    if a.dtype.kind == "b":
        if a.ndim != 1 or a.size != n:
            raise IndexError(f"bool index {axis} has shape {a.shape} instead of ({n},)")
        return a.nonzero()[0]
    if a.ndim == 0:
        return number_of(int(a), n)
    return numbers_of(a, n)


def _length(s: slice) -> int:
    return len(range(s.start, s.stop, s.step))


def _as_array(k: Axis, device: Any) -> ndarray:
    """An index of one axis as the numbers that it stands for."""
    if isinstance(k, slice):
        return bc.arange(_length(k), dtype=np.int64, device=device) * k.step + k.start
    return bc.full(1, k, np.int64, device=device) if isinstance(k, int) else k


def _take_rows(rows: Rows, k: Axis) -> Rows:
    if isinstance(k, int):
        return rows.row_range(k, k + 1)
    if isinstance(k, slice) and k.step == 1:
        if k.start == 0 and k.stop == rows.count:
            return rows
        return rows.row_range(k.start, max(k.start, k.stop))
    return rows.take(_as_array(k, rows.device))


def _take_columns(rows: Rows, k: Axis) -> Rows:
    if isinstance(k, int):
        return rows.column_range(k, k + 1)
    if isinstance(k, slice) and k.step == 1:
        if k.start == 0 and k.stop == rows.columns:
            return rows
        return rows.column_range(k.start, max(k.start, k.stop))
    at = _as_array(k, rows.device)
    if at.size == 1:
        only = int(at[0])
        return rows.column_range(only, only + 1)
    if at.size and bool((at[1:] > at[:-1]).all()):
        place = bc.full(rows.columns, -1, rows.indices.dtype, device=rows.device)
        place[at] = bc.arange(at.size, dtype=place.dtype, device=rows.device)
        found = place[rows.indices]
        return Rows(rows.data, found, rows.indptr, at.size, rows.canonical).where(found >= 0)
    return rows.transposed().take(at).transposed()


def host_numbers(k: Axis) -> np.ndarray:
    """An index of one axis, in host memory, as the numbers that it stands for."""
    if isinstance(k, slice):
        return np.arange(k.start, k.stop, k.step)
    return np.array([k]) if isinstance(k, int) else k


def region(index: tuple[Axis, ...], device: Any) -> tuple[Any, Any]:
    """The rows and the columns that an assignment stores to, of a parsed index; a vector is one row."""
    i, j = index if len(index) == 2 else (0, *index)
    if isinstance(i, (int, slice)) or isinstance(j, (int, slice)):
        i, j = (host_numbers(k) if device is HOST else _as_array(k, device) for k in (i, j))
        i, j = i.ravel()[:, None], j.ravel()[None]
    try:
        i, j = (np if device is HOST else bc).broadcast_arrays(i, j)
    except ValueError:
        raise IndexError("shape mismatch: indexing arrays could not be broadcast together") from None
    return i, j


def fitted(value: Any, shape: tuple[int, ...], dtype: np.dtype, device: Any) -> Any:
    """A dense value with the shape of the places that it is assigned to."""
    if isinstance(value, complex) and dtype.kind != "c":
        raise TypeError(f"a complex number does not fit into a sparse matrix of {dtype}")
    x = host_operand(value) if device is HOST else dense_operand(value, device)
    if x is None:
        raise ValueError(f"cannot store {type(value).__name__} in a sparse matrix")
    while x.ndim > len(shape) and x.shape[0] == 1:
        x = x[0]
    if x.ndim == 1 and len(shape) == 2 and shape[1] == 1 and x.size == shape[0]:
        x = x[:, None]
    try:
        return (np if device is HOST else bc).broadcast_to(x, shape)
    except ValueError:
        raise ValueError("shape mismatch in assignment") from None


class Indexed(spbase):
    """Indexing for compressed rows and columns."""

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, tuple) and any(k is None for k in key):
            return self._with_new_axes(key)
        if key is None:
            return self._with_new_axes((None,))
        index = parse(key, self.shape, self.device)
        if self.ndim == 1:
            return self._get_of_vector(index[0])
        i, j = index
        if isinstance(i, int) and isinstance(j, int):
            at = lambda k: bc.full((), k, np.int64, device=self.device)
            return self._lookup(at(i), at(j))
        if isinstance(i, ndarray) and isinstance(j, ndarray):
            return self._get_places(i, j)
        for k, other in ((i, j), (j, i)):
            if isinstance(k, ndarray) and k.ndim == 2 and isinstance(other, int):
                number = bc.full((1, 1), other, np.int64, device=self.device)
                return self._get_places(k, number) if k is i else self._get_places(number, k)
        return self._get_region(i, j)

    def _with_new_axes(self, key: tuple[Any, ...]) -> Any:
        """The elements that the key has without None, under a shape with new axes of extent 1."""
        keys = [k for k in key if k is not None]
        found = self[tuple(keys) if keys else slice(None)]
        missing = self.ndim - sum(k is not Ellipsis for k in keys)
        spread: list[Any] = []
        for k in key:
            spread += [slice(None)] * missing if k is Ellipsis else [k]
        if not any(k is Ellipsis for k in key):
            spread += [slice(None)] * missing
        if sum(not (isinstance(k, slice) or k is None or _is_number(k)) for k in spread) > 1:
            raise IndexError("new axes beside several index arrays are not supported: index first, then reshape() the result")
        # An axis that a number selects from is gone; matrices keep it with extent 1, and it is dropped here.
        extents = list(found.shape)
        if len(extents) == self.ndim:
            extents = [n for n, k in zip(extents, [k for k in spread if k is not None], strict=True) if not _is_number(k)]
        shape = tuple(1 if k is None else extents.pop(0) for k in spread if k is None or not _is_number(k))
        if len(shape) > 2:
            limit = "sparse arrays have at most two dimensions"
            raise IndexError(f"Indexing that leads to >{self.ndim}D is not supported: {limit}. Index toarray()")
        if not issparse(found):
            found = self._kind("coo")(bc.asarray(found, device=self.device).reshape(1, 1))
        if len(shape) == 1 and not self._is_array():
            shape = (1, *shape)
        return found.reshape(shape)

    def _lookup(self, i: ndarray, j: ndarray) -> ndarray:
        self._find_canonical()  # type: ignore[attr-defined]
        rows = self._own_rows()  # type: ignore[attr-defined]
        return rows.lookup(i, j) if self._major == 0 else rows.lookup(j, i)  # type: ignore[attr-defined]

    def _get_of_vector(self, k: Axis) -> Any:
        if isinstance(k, int):
            zero = bc.zeros((), np.int64, device=self.device)
            return self._lookup(zero, zero + k)
        if isinstance(k, ndarray) and k.ndim == 2:
            return self._kind("coo")(self._lookup(bc.zeros_like(k), k))
        return self._from_rows(_take_columns(self._rows(), k), shape=(_length(k) if isinstance(k, slice) else k.size,))

    def _get_places(self, i: ndarray, j: ndarray) -> Any:
        if i.ndim == 2 and j.ndim <= 2 and i.shape[1] == 1 and (j.ndim == 1 or j.shape[0] == 1):
            return self._get_region(i.ravel(), j.ravel())
        try:
            i, j = bc.broadcast_arrays(i, j)
        except ValueError:
            raise IndexError("shape mismatch: indexing arrays could not be broadcast together") from None
        if i.size == 0:
            shape = i.shape if i.ndim == 2 or self._is_array() else (1, 0)
            empty = bc.zeros(shape, self.dtype, device=self.device)
            return self._kind("coo" if self._is_array() else self._format)(empty)
        found = self._lookup(i, j)
        if i.ndim == 2:
            return self._kind(self._format)(found)
        return found if self._is_array() else found[None]

    def _get_region(self, i: Axis, j: Axis) -> Any:
        for k in (i, j):
            if isinstance(k, ndarray) and k.ndim == 2:
                if not (isinstance(i, (int, slice)) or isinstance(j, (int, slice))):
                    break
                raise IndexError("index arrays of two dimensions are for both axes")
        rows = self._own_rows()  # type: ignore[attr-defined]
        major, minor = (i, j) if self._major == 0 else (j, i)  # type: ignore[attr-defined]
        made = _take_columns(_take_rows(rows, major), minor)
        if made is rows:
            made = rows.copy()
        made = made.with_indices(index_dtype(made.size, made.count, made.columns))
        result = self._from_rows_of(made, self._shape_of_rows(made))  # type: ignore[attr-defined]
        if self._is_array() and (isinstance(i, int) or isinstance(j, int)):
            column = made.indices if isinstance(major, int) else made.numbers()
            return self._kind("coo")._of_vector(made.data, column, result.shape[0] * result.shape[1], made.canonical is True)
        return result

    # ---- Assignment ----

    def __setitem__(self, key: Any, value: Any) -> None:
        i, j = region(parse(key, self.shape, self.device), self.device)
        value = self._adopt(value)
        if issparse(value):
            self._set_sparse(i, j, value, i.shape)
            return
        x = fitted(value, i.shape, self.dtype, self.device)
        self._store(i.ravel(), j.ravel(), x.ravel().astype(self.dtype))

    def _set_sparse(self, i: ndarray, j: ndarray, value: Any, shape: tuple[int, ...]) -> None:
        """A sparse value stores its elements alone; other places of the region become zero, and are not stored."""
        two = shape if len(shape) == 2 else (1, *shape)
        try:
            spread = value._spread(two if value.ndim == 2 else (two[1],))
        except ValueError:
            raise ValueError("shape mismatch in assignment") from None
        if spread._shape2 != two:
            spread = spread._from_rows(spread._rows().take(bc.zeros(two[0], np.int64, device=self.device)))
        stored = bc.zeros(two, bool, device=self.device)
        coo = spread.tocoo()
        stored[coo.row, coo.col] = True
        x = spread.toarray().reshape(two)
        self._store(i.ravel(), j.ravel(), x.ravel().astype(self.dtype), stored.ravel())

    def _store(self, i: ndarray, j: ndarray, x: ndarray, stored: ndarray | None = None) -> None:
        """Puts x at places, the last one where a place comes twice; where `stored` is false the place becomes empty."""
        if i.size == 0:
            return
        if self._major == 1:  # type: ignore[attr-defined]
            i, j = j, i
        made, changed = self._own_rows().summed().with_elements(i, j, x, stored)  # type: ignore[attr-defined]
        if changed:
            self._warn_of_structure()  # type: ignore[attr-defined]
        self._become(made)  # type: ignore[attr-defined]
