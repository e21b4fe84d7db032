"""Coordinates: the rows, columns and values of the elements."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import broadcloth as bc

from ... import _broadcloth as _c
from ..._broadcloth import ndarray
from ._base import dense_operand, is_shape, issparse, scipy_sparse, shape_of, spbase, swaps
from ._reductions import EXTREMES, extreme_of, stored_extreme
from ._rows import Rows, check_places, index_dtype


class _coo(spbase):
    """Elements in any order; those of one place are added up where it matters."""

    _format = "coo"
    row: ndarray
    col: ndarray
    has_canonical_format: bool

    def __init__(
        self, arg1: Any, shape: Any = None, dtype: Any = None, copy: bool = False, *, maxprint: int | None = None, device: Any = None
    ) -> None:
        spbase.__init__(self, arg1, maxprint=maxprint)
        dimensions = (1, 2) if self._is_array() else (2,)
        if shape is not None:
            shape = shape_of(shape, dimensions)
        if scipy_sparse(arg1):
            from ._base import from_scipy

            arg1 = from_scipy(arg1, device)
        if issparse(arg1):
            coo = arg1.tocoo(copy=copy)
            if shape is not None and shape != coo.shape:
                raise ValueError(f"inconsistent shapes: {shape} != {coo.shape}")
            self.__dict__.update(coo.__dict__)
        elif isinstance(arg1, tuple) and is_shape(arg1, dimensions):
            made = shape_of(arg1, dimensions)
            t = index_dtype(*made)
            empty = bc.zeros(0, np.float64 if dtype is None else dtype, device=device)
            self._set(empty, bc.zeros(0, t, device=device), bc.zeros(0, t, device=device), made, True)
        elif isinstance(arg1, tuple):
            try:
                data, coordinates = arg1
                coordinates = tuple(coordinates)
            except (TypeError, ValueError):
                raise TypeError("invalid input format") from None
            self._take_coordinates(data, coordinates, shape, dtype, copy, device, dimensions)
        else:
            a = dense_operand(arg1, device)
            if a is None:
                raise TypeError("invalid input format")
            if not self._is_array():
                a = bc.atleast_2d(a)
            self._require_dimensions(a, dimensions)
            if shape is not None and shape != a.shape:
                raise ValueError(f"inconsistent shapes: {shape} != {a.shape}")
            rows = Rows.from_dense(a if a.ndim == 2 else a[None])
            self._set(rows.data, rows.numbers(), rows.indices, a.shape, True)
        if dtype is not None:
            self.data = self.data.astype(dtype, copy=False)

    def _take_coordinates(
        self, data: Any, coordinates: tuple[Any, ...], shape: Any, dtype: Any, copy: bool, device: Any, dimensions: tuple[int, ...]
    ) -> None:
        if len(coordinates) not in dimensions:
            raise ValueError(f"expected {' or '.join(map(str, dimensions))} arrays of coordinates, got {len(coordinates)}")
        # Numbers of a list become the dtype at once: by way of float64 large integers would lose digits.
        given = None if isinstance(data, (ndarray, np.ndarray)) else dtype
        data = bc.asarray(data, given) if device is None else bc.asarray(data, given, device=device)
        if copy:
            data = data.copy()
        data = data.ravel()
        arrays = [bc.asarray(c, device=data.device).ravel() for c in coordinates]
        for a in arrays:
            if a.size != data.size:
                raise ValueError("all index and data arrays must have the same length")
            if a.size and a.dtype.kind not in "iu":
                raise TypeError(f"index arrays should have integer data types, got {a.dtype}")
        ends = (0, 0) if shape is None or len(shape) != len(arrays) else shape
        known = [_c.sparse_bounds(a, end) for a, end in zip(arrays, ends, strict=False)]
        bounds = [(b or bc.stack([a.min(), a.max()]).tolist()) if a.size else None for a, b in zip(arrays, known, strict=True)]
        if shape is None:
            if any(b is None for b in bounds):
                raise ValueError("cannot infer dimensions from zero sized index arrays")
            shape = tuple(int(b[1]) + 1 for b in bounds if b is not None)
        if len(shape) != len(arrays):
            raise ValueError(f"expected {len(shape)} arrays of coordinates for shape {shape}, got {len(arrays)}")
        for axis, (b, n) in enumerate(zip(bounds, shape, strict=True)):
            if b is not None and b[1] >= n:
                raise ValueError(f"axis {axis} index {int(b[1])} exceeds matrix dimension {n}")
            if b is not None and b[0] < 0:
                raise ValueError(f"negative axis {axis} index: {int(b[0])}")
        t = index_dtype(data.size, *shape)
        arrays = [a.astype(t, copy=copy) for a in arrays]
        row = arrays[0] if len(arrays) == 2 else bc.zeros(data.size, t, device=data.device)
        self._set(data, row, arrays[-1], shape, False)

    def _set(self, data: ndarray, row: ndarray, col: ndarray, shape: tuple[int, ...], canonical: bool) -> None:
        self.data, self.row, self.col, self._shape, self.has_canonical_format = data, row, col, tuple(shape), canonical

    @classmethod
    def _from_coordinates(cls, data: ndarray, row: ndarray, col: ndarray, shape: tuple[int, ...], canonical: bool = False) -> Any:
        made = object.__new__(cls)
        made.maxprint = 50
        made._set(data, row, col, shape, canonical)
        return made

    @classmethod
    def _of_vector(cls, data: ndarray, column: ndarray, n: int, canonical: bool) -> Any:
        """A sparse array of one dimension."""
        t = index_dtype(data.size, n)
        return cls._from_coordinates(data, bc.zeros(data.size, t, device=data.device), column.astype(t, copy=False), (n,), canonical)

    @classmethod
    def _from_scipy(cls, x: Any, device: Any) -> Any:
        t = index_dtype(x.nnz, *x.shape)
        to = lambda a: bc.asarray(np.ascontiguousarray(a).astype(t, copy=False), device=device)
        row = to(x.coords[0]) if x.ndim == 2 else bc.zeros(x.nnz, t, device=device)
        return cls._from_coordinates(bc.asarray(x.data, device=device), row, to(x.coords[-1]), x.shape)

    def get(self) -> Any:
        """The matrix as SciPy's, of the same class, in host memory."""
        return self._scipy_class()((self.data.get(), tuple(c.get() for c in self.coords)), shape=self.shape)

    @property
    def coords(self) -> tuple[ndarray, ...]:
        """The coordinates along each axis."""
        return (self.row, self.col) if self.ndim == 2 else (self.col,)

    def _with_data(self, data: ndarray) -> Any:
        return self._from_coordinates(data, self.row, self.col, self._shape, self.has_canonical_format)

    def _mapped(self, f: Callable[[ndarray], ndarray]) -> Any:
        return self._with_data(f(self.data))

    def tocoo(self, copy: bool = False) -> Any:
        return self.copy() if copy else self

    def tocsr(self, copy: bool = False) -> Any:
        if self.has_canonical_format:
            indptr = _c.sparse_pointers(self.row, self._shape2[0])
            rows = Rows(self.data.copy(), self.col.copy(), indptr, self._shape2[1], True)
        else:
            rows = Rows.from_coordinates(self.data, self.row, self.col, *self._shape2)
        return self._kind("csr")._from_rows_of(rows, self._shape)

    def tocsc(self, copy: bool = False) -> Any:
        if self.ndim != 2:
            raise ValueError("Cannot convert a 1d sparse array to csc format")
        rows = Rows.from_coordinates(self.data, self.col, self.row, *self._shape[::-1])
        return self._kind("csc")._from_rows_of(rows, self._shape)

    def _stored(self) -> ndarray:
        return self.data

    def _summed(self) -> Any:
        self.sum_duplicates()
        return self

    def _product(self, x: ndarray, transposed: bool = False) -> ndarray:
        rows, columns = self._shape2
        row, column = (self.col, self.row) if transposed else (self.row, self.col)
        return _c.sparse_coordinate_product(self.data, row, column, x, columns if transposed else rows)

    def _extreme_of(self, name: str, *args: Any, **kwargs: Any) -> Any:
        self.sum_duplicates()
        if not args and kwargs.keys() <= {"explicit"} and self.data.size:
            explicit = bool(kwargs.get("explicit"))
            if name in EXTREMES:
                return extreme_of(self.data, EXTREMES[name], self._shape, explicit)
            rows, columns = self._shape2
            at = stored_extreme(self.data, name == "argmax", explicit, self.data.size == rows * columns)
            if at is not None:
                return int(self.row[at]) * columns + int(self.col[at])
        return getattr(self.tocsr(), name)(*args, **kwargs)

    def todia(self, copy: bool = False) -> Any:
        return self._kind("dia")._from_coo(self)

    def todok(self, copy: bool = False) -> Any:
        return self._kind("dok")._from_coo(self)

    def toarray(self, order: str | None = None, out: Any = None) -> Any:
        if order is not None or out is not None:
            return spbase.toarray(self, order, out)
        rows, columns = self._shape2
        check_places(rows, columns)
        made = _c.sparse_coordinates_dense(self.data, self.row, self.col, rows, columns)
        if made is not None:
            return made if self.ndim == 2 else made.reshape(self._shape)
        flat = bc.zeros(rows * columns, self.dtype, device=self.device)
        if self.data.size:
            bc.add.at(flat, self.row.astype(np.int64) * columns + self.col, self.data)
        return flat.reshape(self._shape)

    def sum_duplicates(self) -> None:
        """Adds up elements of one place and sorts them by rows, in place."""
        if not self.has_canonical_format:
            rows = Rows.from_coordinates(self.data, self.row, self.col, *self._shape2)
            self._set(rows.data, rows.numbers(), rows.indices, self._shape, True)

    def eliminate_zeros(self) -> None:
        """Removes stored zeros, in place."""
        keep = self.data != 0
        self._set(self.data[keep], self.row[keep], self.col[keep], self._shape, self.has_canonical_format)

    def transpose(self, axes: Any = None, copy: bool = False) -> Any:
        if self.ndim == 1 or (axes is not None and not swaps(axes)):
            return spbase.transpose(self, axes, copy)
        made = self._from_coordinates(self.data, self.col, self.row, self._shape[::-1])
        return made.copy() if copy else made

    def reshape(self, *args: Any, order: str = "C", copy: bool = False) -> Any:
        """The elements under another shape; a matrix has two axes."""
        shape = args[0] if len(args) == 1 and not np.isscalar(args[0]) else args
        shape = tuple(int(n) for n in shape)
        dimensions = (1, 2) if self._is_array() else (2,)
        if len(shape) not in dimensions:
            raise ValueError(f"shape must have length in {dimensions}. Got new_shape={shape}")
        size = int(np.prod([*map(int, self._shape)], dtype=object))
        if shape.count(-1) == 1:
            rest = int(np.prod([n for n in shape if n != -1], dtype=object))
            if rest == 0 or size % rest:
                raise ValueError(f"cannot reshape array of size {size} into shape {shape}")
            shape = tuple(size // rest if n == -1 else n for n in shape)
        if int(np.prod(shape, dtype=object)) != size or any(n < 0 for n in shape):
            raise ValueError(f"cannot reshape array of size {size} into shape {shape}")
        if order not in ("C", "F"):
            raise ValueError("'order' must be 'C' or 'F'")
        if shape == self._shape:
            return self.copy() if copy else self
        rows, columns = self._shape2
        two = shape if len(shape) == 2 else (1, *shape)
        check_places(rows, columns)
        wide = lambda a: a.astype(np.int64)
        t = index_dtype(self.data.size, *shape)
        if order == "C":
            place = wide(self.row) * columns + self.col
            row, col = place // max(two[1], 1), place % max(two[1], 1)
        else:
            place = wide(self.row) + wide(self.col) * rows
            row, col = place % max(two[0], 1), place // max(two[0], 1)
        data = self.data.copy() if copy else self.data
        return self._from_coordinates(data, row.astype(t), col.astype(t), shape, self.has_canonical_format and order == "C")

    def resize(self, *shape: Any) -> None:
        """Changes the shape in place; elements outside it go."""
        shape = shape_of(shape[0] if len(shape) == 1 and not np.isscalar(shape[0]) else shape, (self.ndim,))
        rows, columns = shape if len(shape) == 2 else (1, *shape)
        keep = (self.row < rows) & (self.col < columns)
        t = index_dtype(self.data.size, *shape)
        self._set(self.data[keep], self.row[keep].astype(t), self.col[keep].astype(t), shape, self.has_canonical_format)

    def __getitem__(self, key: Any) -> Any:
        if not self._is_array():
            raise TypeError(f"'{type(self).__name__}' object is not subscriptable")
        found = self.tocsr()[key]
        return found.tocoo() if issparse(found) else found

    def __setitem__(self, key: Any, value: Any) -> None:
        if not self._is_array():
            raise TypeError(f"'{type(self).__name__}' object does not support item assignment")
        csr = self.tocsr()
        csr[key] = value
        self.__dict__.update(csr.tocoo().__dict__)

    def setdiag(self, values: Any, k: int = 0) -> None:
        csr = self.tocsr()
        csr.setdiag(values, k)
        self.__dict__.update(csr.tocoo().__dict__)
