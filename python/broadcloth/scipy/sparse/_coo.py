"""Coordinates: the rows, columns and values of the elements."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

import broadcloth as bc

from ... import _broadcloth as _c
from ..._broadcloth import ndarray
from ._base import (
    deliver,
    dense_operand,
    is_dense,
    is_scalar,
    is_shape,
    issparse,
    matrix_shape,
    normal_axes,
    scipy_sparse,
    shape_of,
    spbase,
    swaps,
)  # fmt: skip
from ._places import Selection, elements_of
from ._reductions import EXTREMES, extreme_of, stored_extreme
from ._rows import Rows, check_places, index_dtype

_DIMENSIONS = range(1, 65)


def row_numbers(coords: Sequence[ndarray], shape: Sequence[int], like: ndarray) -> ndarray:
    """The number of each element's row, of its coordinates along all axes but the last one."""
    if len(coords) == 1:
        return coords[0]
    number: ndarray = bc.zeros(like.size, np.int64, device=like.device)
    for places, n in zip(coords, shape, strict=True):
        number = number * n + places
    return number


def places_along(number: ndarray, shape: Sequence[int]) -> list[ndarray]:
    """The coordinates along axes of numbers that count their places in C order."""
    found = []
    for n in reversed(shape):
        found.append(number % max(n, 1))
        number = number // max(n, 1)
    return found[::-1]


class _coo(spbase):
    """Elements in any order; those of one place are added up where it matters.

    An array of more axes than two is kept as a matrix, whose rows are numbered by all axes but the last one (`_row`)."""

    _format = "coo"
    _row: ndarray
    _col: ndarray
    has_canonical_format: bool

    def __init__(
        self, arg1: Any, shape: Any = None, dtype: Any = None, copy: bool = False, *, maxprint: int | None = None, device: Any = None
    ) -> None:
        spbase.__init__(self, arg1, maxprint=maxprint)
        dimensions = _DIMENSIONS if self._is_array() else (2,)
        if shape is not None:
            shape = shape_of(shape, dimensions)
        if scipy_sparse(arg1):
            from ._base import from_scipy

            arg1 = from_scipy(arg1, device)
        if issparse(arg1):
            if arg1.ndim > 2 and not self._is_array():
                raise TypeError(f"expected 2D array or matrix, not {arg1.ndim}D")
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
            rows = Rows.from_dense(a.reshape(matrix_shape(a.shape)))
            self._set(rows.data, rows.numbers(), rows.indices, a.shape, True)
        if dtype is not None:
            self.data = self.data.astype(dtype, copy=False)

    def _take_coordinates(
        self, data: Any, coordinates: tuple[Any, ...], shape: Any, dtype: Any, copy: bool, device: Any, dimensions: Sequence[int]
    ) -> None:
        if len(coordinates) not in dimensions:
            wanted = f"{dimensions[0]} to {dimensions[-1]}" if len(dimensions) > 1 else str(dimensions[0])
            raise ValueError(f"expected {wanted} arrays of coordinates, got {len(coordinates)}")
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
        ends = (0,) * len(arrays) if shape is None or len(shape) != len(arrays) else shape
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
        self._shape = tuple(shape)
        t = index_dtype(data.size, *self._shape2)
        row = row_numbers(arrays[:-1], shape[:-1], arrays[-1])
        self._set(data, row.astype(t, copy=copy), arrays[-1].astype(t, copy=copy), shape, False)

    def _set(self, data: ndarray, row: ndarray, col: ndarray, shape: tuple[int, ...], canonical: bool) -> None:
        self.data, self._row, self._col, self._shape, self.has_canonical_format = data, row, col, tuple(shape), canonical

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
        t = index_dtype(x.nnz, *matrix_shape(x.shape))
        coords = [bc.asarray(np.ascontiguousarray(a).astype(t, copy=False), device=device) for a in x.coords]
        row = row_numbers(coords[:-1], x.shape[:-1], coords[-1])
        return cls._from_coordinates(bc.asarray(x.data, device=device), row.astype(t, copy=False), coords[-1], x.shape)

    def get(self) -> Any:
        """The matrix as SciPy's, of the same class, in host memory."""
        return self._scipy_class()((self.data.get(), tuple(c.get() for c in self.coords)), shape=self.shape)

    @property
    def coords(self) -> tuple[ndarray, ...]:
        """The coordinates along each axis."""
        if self.ndim <= 2:
            return (self._row, self._col) if self.ndim == 2 else (self._col,)
        return (*places_along(self._row, self._shape[:-1]), self._col)

    def _of_axis(self, name: str) -> Any:
        if self.ndim > 2:
            raise NotImplementedError(f"a sparse array of {self.ndim} dimensions has no {name}; use coords")
        return getattr(self, "_" + name)

    @property
    def row(self) -> ndarray:
        """The rows of the elements."""
        return self._of_axis("row")

    @row.setter
    def row(self, value: ndarray) -> None:
        self._row = value

    @property
    def col(self) -> ndarray:
        """The columns of the elements."""
        return self._of_axis("col")

    @col.setter
    def col(self, value: ndarray) -> None:
        self._col = value

    # ---- More axes than two ----

    def _refuse_axes(self, format: str, most: str) -> None:
        if self.ndim > 2 or (self.ndim == 1 and most == "2D"):
            raise ValueError(f"Cannot convert. {format} must be {most}. Got {self.ndim}D")

    def _matrix(self) -> Any:
        """The matrix that an array of more axes is kept as."""
        return self._from_coordinates(self.data, self._row, self._col, self._shape2, self.has_canonical_format)

    def _shaped(self, matrix: Any) -> Any:
        """A matrix of that shape as an array of these axes."""
        if not issparse(matrix):
            return matrix
        coo = matrix.tocoo(copy=False)
        return self._from_coordinates(coo.data, coo._row, coo._col, self._shape, coo.has_canonical_format)

    def _as_matrices(self, name: str, other: Any, *args: Any) -> Any:
        """A method of two operands of the same shape, on the matrices that they are kept as."""
        other = self._adopt(other)
        if issparse(other):
            self._same_shape(other)
            other = other._matrix()
        elif is_dense(other) and other.ndim:
            other = bc.broadcast_to(dense_operand(other, self.device), self._shape).reshape(self._shape2)
        return self._shaped(getattr(spbase, name)(self._matrix(), other, *args))

    def _joined(self, other: Any, op: Callable[[ndarray, ndarray], ndarray]) -> Any:
        if self.ndim <= 2:
            return spbase._joined(self, other, op)
        self._same_shape(other)
        return self._shaped(spbase._joined(self._matrix(), other._matrix(), op))

    def _compared(self, other: Any, op: Callable[[Any, Any], Any], name: str) -> Any:
        if self.ndim <= 2 or (issparse(other) and self.shape != other.shape) or (is_dense(other) and other.ndim):
            return spbase._compared(self, other, op, name)
        return self._as_matrices("_compared", other, op, name)

    def _extreme(self, other: Any, op: Callable[[Any, Any], Any], greater: bool) -> Any:
        if self.ndim <= 2 or (is_dense(other) and other.ndim):
            return spbase._extreme(self, other, op, greater)
        return self._as_matrices("_extreme", other, op, greater)

    def _multiply_sparse(self, other: Any) -> Any:
        if max(self.ndim, other.ndim) > 2 and self.shape != other.shape:
            raise NotImplementedError(f"products of sparse arrays of shapes {self.shape} and {other.shape} are not computed")
        return spbase._multiply_sparse(self, other)

    def _spread(self, shape: tuple[int, ...]) -> Any:
        if self.shape != shape and max(self.ndim, len(shape)) > 2:
            raise NotImplementedError(f"a sparse array of shape {self.shape} is not broadcast to {shape}")
        return spbase._spread(self, shape)

    def _reduced_last(self, axis: Any) -> tuple[Any, tuple[int, ...]]:
        """A matrix whose columns are the axes that are reduced, and the shape of the others."""
        axes = sorted(normal_axes(axis, self.ndim))
        kept = [k for k in range(self.ndim) if k not in axes]
        shape = tuple(self._shape[k] for k in kept)
        turned = self.transpose((*kept, *axes))
        return turned.reshape(math.prod(shape), math.prod(self._shape[k] for k in axes)), shape

    def sum(self, axis: Any = None, dtype: Any = None, out: Any = None) -> Any:
        if self.ndim <= 2 or axis is None or len(normal_axes(axis, self.ndim)) == self.ndim:
            return spbase.sum(self, None if self.ndim > 2 else axis, dtype, out)
        matrix, shape = self._reduced_last(axis)
        return deliver(matrix.sum(1, dtype).reshape(shape), out)

    def mean(self, axis: Any = None, dtype: Any = None, out: Any = None) -> Any:
        if self.ndim <= 2 or axis is None or len(normal_axes(axis, self.ndim)) == self.ndim:
            return spbase.mean(self, None if self.ndim > 2 else axis, dtype, out)
        matrix, shape = self._reduced_last(axis)
        return deliver(matrix.mean(1, dtype).reshape(shape), out)

    def _getnnz(self, axis: Any = None) -> Any:
        if axis is None or self.ndim <= 2:
            return spbase._getnnz(self, axis)
        return self._counted(axis, lambda matrix: matrix._getnnz(1))

    def count_nonzero(self, axis: Any = None) -> Any:
        if axis is None or self.ndim <= 2:
            return spbase.count_nonzero(self, axis)
        return self._counted(axis, lambda matrix: matrix.count_nonzero(1))

    def _counted(self, axis: Any, count: Callable[[Any], Any]) -> Any:
        """The counts of elements of the rows of `_reduced_last`'s matrix, which are along the given axes of more than two."""
        matrix, shape = self._reduced_last(axis)
        return count(matrix).reshape(shape)

    def _broadcast_to(self, shape: tuple[int, ...], copy: bool = False) -> Any:
        """The array with its elements repeated along axes of extent 1 and new axes before the first one."""
        if tuple(shape) == self._shape:
            return self.copy() if copy else self
        new = len(shape) - self.ndim
        old = (1,) * new + self._shape
        grown = [k for k, (m, n) in enumerate(zip(old, shape, strict=False)) if m != n]
        if new < 0 or any(old[k] != 1 for k in grown):
            raise ValueError(f"a sparse array of shape {self._shape} cannot be broadcast to {tuple(shape)}")
        copies = math.prod(shape[k] for k in grown)
        number = bc.repeat(bc.arange(copies, dtype=np.int64, device=self.device), self.data.size)
        coords = [bc.zeros_like(number)] * new + [bc.tile(c, copies) for c in self.coords]
        for k, places in zip(grown, places_along(number, [shape[k] for k in grown]), strict=True):
            coords[k] = places
        return self._of_coords(bc.tile(self.data, copies), coords, tuple(shape))

    def _matmul(self, other: Any) -> Any:
        other = self._adopt(other)
        factor = other if issparse(other) else dense_operand(other, self.device)
        if factor is None or max(self.ndim, factor.ndim) <= 2:
            return spbase._matmul(self, other)
        if factor.ndim == 1:
            if issparse(factor):
                return self._kind("coo")(self._matmul(factor.toarray()))
            made = spbase._matmul(self._matrix(), factor)
            return made.reshape(self._shape[:-1])
        if self.ndim == 1:
            made = self.reshape(1, self._shape[0])._matmul(factor)
            return made.reshape(made.shape[:-2] + made.shape[-1:])
        return self._stacked_product(factor.tocoo() if issparse(factor) else factor)

    def _stacked_product(self, other: Any) -> Any:
        """The products of matrices in the last two axes: that of a matrix of blocks on its diagonal and of matrices one below the other."""
        (m, k), n = self._shape[-2:], other.shape[-1]
        if other.shape[-2] != k:
            raise ValueError(f"matmul: dimension mismatch with signature (n,..,k={k}),(k={other.shape[-2]},..,m)->(n,..,m)")
        outer = np.broadcast_shapes(self._shape[:-2], other.shape[:-2])
        a = self._broadcast_to((*outer, m, k))
        b = other._broadcast_to((*outer, k, n)) if issparse(other) else bc.broadcast_to(other, (*outer, k, n))
        count = math.prod(outer)
        number = a._row.astype(np.int64)
        blocks = self._of_coords(a.data, [number, number // max(m, 1) * k + a._col], (count * m, count * k))
        below: Any = b.reshape(count * k, n)
        made = blocks.tocsr() @ (below.tocsr() if issparse(below) else below)
        return (made.tocoo() if issparse(made) else made).reshape(*outer, m, n)

    def _rmatmul(self, other: Any) -> Any:
        x = dense_operand(other, self.device)
        if x is None or max(self.ndim, x.ndim) <= 2:
            return spbase._rmatmul(self, other)
        if self.ndim == 1:
            return bc.matmul(x, self.toarray())
        turned = self._permuted([*range(self.ndim - 2), self.ndim - 1, self.ndim - 2], False)
        return turned._matmul(x) if x.ndim == 1 else turned._matmul(x.swapaxes(-1, -2)).swapaxes(-1, -2)

    def dot(self, other: Any) -> Any:
        factor = self._adopt(other)
        if not (issparse(factor) or is_scalar(factor)):
            factor = dense_operand(factor, self.device)
        if factor is not None and not is_scalar(factor) and factor.ndim >= 2 and max(self.ndim, factor.ndim) > 2:
            if self._shape[-1] != factor.shape[-2]:
                raise ValueError(f"shapes {self._shape} and {factor.shape} are not aligned for n-D dot")
            return self.tensordot(factor, ([-1], [-2]))
        return spbase.dot(self, other)

    def tensordot(self, other: Any, axes: Any = 2) -> Any:
        """Sums of products along axes: the last ones of this array and the first ones of the other, or pairs that are given.

        Examples
        --------
        >>> from broadcloth.scipy import sparse
        >>> sparse.coo_array([[1, 2], [0, 3]]).tensordot(bc.array([1, 10]), axes=1)
        array([21, 30])
        """
        other = self._adopt(other)
        factor = other.tocoo() if issparse(other) else dense_operand(other, self.device)
        if factor is None:
            raise TypeError(f"tensordot arg not supported type: '{type(other)}'")
        if np.ndim(axes) == 0:
            axes = range(self.ndim - operator.index(axes), self.ndim), range(operator.index(axes))
        along, across = ([operator.index(a) for a in np.atleast_1d(list(part) if isinstance(part, range) else part)] for part in axes)
        if len(along) != len(across):
            raise ValueError("axes lists/tuples must be of the same length")
        along, across = [a % self.ndim for a in along], [a % factor.ndim for a in across]
        if [self._shape[a] for a in along] != [factor.shape[a] for a in across]:
            raise ValueError(f"sizes of the corresponding axes must match: {self._shape} along {along}, {factor.shape} along {across}")
        left = [a for a in range(self.ndim) if a not in along]
        right = [a for a in range(factor.ndim) if a not in across]
        shape = tuple(self._shape[a] for a in left) + tuple(factor.shape[a] for a in right)
        inner = math.prod(self._shape[a] for a in along)
        a = self._permuted([*left, *along], False).reshape(self._size() // max(inner, 1), inner)
        b = factor.transpose((*across, *right)).reshape(inner, math.prod(factor.shape[a] for a in right))
        made = a.tocsr() @ (b.tocsr() if issparse(b) else b)
        if not shape:
            return (made.toarray() if issparse(made) else made).reshape(())
        return (made.tocoo() if issparse(made) else made).reshape(*shape)

    def _size(self) -> int:
        """How many places there are."""
        return math.prod(self._shape)

    def __iter__(self) -> Iterator[Any]:
        return (self[i] for i in range(self._shape[0])) if self.ndim > 2 else spbase.__iter__(self)

    def _with_data(self, data: ndarray) -> Any:
        return self._from_coordinates(data, self._row, self._col, self._shape, self.has_canonical_format)

    def _mapped(self, f: Callable[[ndarray], ndarray]) -> Any:
        return self._with_data(f(self.data))

    def tocoo(self, copy: bool = False) -> Any:
        return self.copy() if copy else self

    def tocsr(self, copy: bool = False) -> Any:
        self._refuse_axes("CSR", "1D or 2D")
        if self.has_canonical_format:
            indptr = _c.sparse_pointers(self._row, self._shape2[0])
            rows = Rows(self.data.copy(), self._col.copy(), indptr, self._shape2[1], True)
        else:
            rows = Rows.from_coordinates(self.data, self._row, self._col, *self._shape2)
        return self._kind("csr")._from_rows_of(rows, self._shape)

    def tocsc(self, copy: bool = False) -> Any:
        if self.ndim != 2:
            raise ValueError(f"Cannot convert a {self.ndim}d sparse array to csc format")
        rows = Rows.from_coordinates(self.data, self._col, self._row, *self._shape[::-1])
        return self._kind("csc")._from_rows_of(rows, self._shape)

    def _stored(self) -> ndarray:
        return self.data

    def _summed(self) -> Any:
        self.sum_duplicates()
        return self

    def _product(self, x: ndarray, transposed: bool = False) -> ndarray:
        rows, columns = self._shape2
        row, column = (self._col, self._row) if transposed else (self._row, self._col)
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
                return int(self._row[at]) * columns + int(self._col[at])
        if self.ndim <= 2:
            return getattr(self.tocsr(), name)(*args, **kwargs)
        return self._extreme_of_axes(name, *args, **kwargs)

    def _extreme_of_axes(self, name: str, axis: Any = None, out: Any = None, *, explicit: bool = False) -> Any:
        if axis is None or len(normal_axes(axis, self.ndim)) == self.ndim:
            return getattr(self._matrix().tocsr(), name)(out=out, explicit=explicit)
        matrix, shape = self._reduced_last(axis)
        return getattr(matrix, name)(1, out, explicit=explicit).reshape(shape)

    def todia(self, copy: bool = False) -> Any:
        self._refuse_axes("DIA format", "2D")
        return self._kind("dia")._from_coo(self)

    def tobsr(self, blocksize: Any = None, copy: bool = False) -> Any:
        self._refuse_axes("BSR format", "2D")
        return spbase.tobsr(self, blocksize, copy)

    def tolil(self, copy: bool = False) -> Any:
        self._refuse_axes("LIL format", "2D")
        return spbase.tolil(self, copy)

    def todok(self, copy: bool = False) -> Any:
        self._refuse_axes("DOK", "1D or 2D")
        return self._kind("dok")._from_coo(self)

    def toarray(self, order: str | None = None, out: Any = None) -> Any:
        if order is not None or out is not None:
            return spbase.toarray(self, order, out)
        rows, columns = self._shape2
        check_places(rows, columns)
        made = _c.sparse_coordinates_dense(self.data, self._row, self._col, rows, columns)
        if made is not None:
            return made if self.ndim == 2 else made.reshape(self._shape)
        flat = bc.zeros(rows * columns, self.dtype, device=self.device)
        if self.data.size:
            bc.add.at(flat, self._row.astype(np.int64) * columns + self._col, self.data)
        return flat.reshape(self._shape)

    def sum_duplicates(self) -> None:
        """Adds up elements of one place and sorts them by rows, in place."""
        if not self.has_canonical_format:
            rows = Rows.from_coordinates(self.data, self._row, self._col, *self._shape2)
            self._set(rows.data, rows.numbers(), rows.indices, self._shape, True)

    def eliminate_zeros(self) -> None:
        """Removes stored zeros, in place."""
        keep = self.data != 0
        self._set(self.data[keep], self._row[keep], self._col[keep], self._shape, self.has_canonical_format)

    def transpose(self, axes: Any = None, copy: bool = False) -> Any:
        if self._is_array() and (self.ndim != 2 or (axes is not None and not swaps(axes))):
            return self._permuted([*range(self.ndim)][::-1] if axes is None else axes, copy)
        if axes is not None and not swaps(axes):
            return spbase.transpose(self, axes, copy)
        made = self._from_coordinates(self.data, self._col, self._row, self._shape[::-1])
        return made.copy() if copy else made

    def _permuted(self, axes: Any, copy: bool) -> Any:
        order = [operator.index(a) for a in ((axes,) if np.ndim(axes) == 0 else axes)]
        if len(order) != self.ndim or any(not -self.ndim <= a < self.ndim for a in order):
            raise ValueError(f"axes don't match matrix dimensions: {axes} of {self.ndim}")
        if len({a % self.ndim for a in order}) != self.ndim:
            raise ValueError(f"repeated axis in transpose: {axes}")
        coords, shape = [self.coords[a] for a in order], tuple(self._shape[a] for a in order)
        return self._of_coords(self.data.copy() if copy else self.data, coords, shape)

    @classmethod
    def _of_coords(cls, data: ndarray, coords: Sequence[ndarray], shape: tuple[int, ...], canonical: bool = False) -> Any:
        """An array of coordinates that are inside its shape."""
        t = index_dtype(data.size, *matrix_shape(shape))
        row = row_numbers(coords[:-1], shape[:-1], coords[-1])
        return cls._from_coordinates(data, row.astype(t, copy=False), coords[-1].astype(t, copy=False), shape, canonical)

    def reshape(self, *args: Any, order: str = "C", copy: bool = False) -> Any:
        """The elements under another shape; a matrix has two axes."""
        shape = args[0] if len(args) == 1 and not np.isscalar(args[0]) else args
        shape = tuple(int(n) for n in shape)
        if len(shape) not in (_DIMENSIONS if self._is_array() else (2,)):
            wanted = "1 to 64" if self._is_array() else "2"
            raise ValueError(f"shape must have length in {wanted}. Got new_shape={shape}")
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
        if order == "F" and max(len(shape), self.ndim) > 2:
            return self.transpose().reshape(shape[::-1]).transpose(copy=copy)
        rows, columns = self._shape2
        two = matrix_shape(shape)
        check_places(rows, columns)
        wide = lambda a: a.astype(np.int64)
        t = index_dtype(self.data.size, *two)
        if order == "C":
            place = wide(self._row) * columns + self._col
            row, col = place // max(two[1], 1), place % max(two[1], 1)
        else:
            place = wide(self._row) + wide(self._col) * rows
            row, col = place % max(two[0], 1), place // max(two[0], 1)
        data = self.data.copy() if copy else self.data
        return self._from_coordinates(data, row.astype(t), col.astype(t), shape, self.has_canonical_format and order == "C")

    def resize(self, *shape: Any) -> None:
        """Changes the shape in place; elements outside it go."""
        dimensions = _DIMENSIONS if self._is_array() else (2,)
        shape = shape_of(shape[0] if len(shape) == 1 and not np.isscalar(shape[0]) else shape, dimensions)
        if len(shape) != self.ndim:
            # As with NumPy's, the places go on in C order.
            flat = self.reshape(self._size())
            flat.resize(math.prod(shape))
            self.__dict__.update(flat.reshape(shape).__dict__)
            return
        if self.ndim > 2:
            raise ValueError("only 1-D or 2-D input accepted")
        rows, columns = shape if len(shape) == 2 else (1, *shape)
        keep = (self._row < rows) & (self._col < columns)
        t = index_dtype(self.data.size, *shape)
        self._set(self.data[keep], self._row[keep].astype(t), self._col[keep].astype(t), shape, self.has_canonical_format)

    def __getitem__(self, key: Any) -> Any:
        if not self._is_array():
            raise TypeError(f"'{type(self).__name__}' object is not subscriptable")
        selection, coords = Selection(key, self._shape, self.device), self.coords
        keep, kept = selection.inside(coords)
        data = self.data[keep]
        if not selection.order:
            return data.sum(dtype=self.dtype)
        kept = {axis: places[keep] for axis, places in kept.items()}
        place = None
        if selection.has_arrays():
            element, place = selection.matches([c[keep] for c in coords])
            data, kept = data[element], {axis: places[element] for axis, places in kept.items()}
        ordered = self.has_canonical_format and place is None and all(isinstance(k, int) or k.step > 0 for k in selection.axes)
        return self._of_coords(data, selection.coordinates(kept, place, data), selection.shape(), ordered)

    def __setitem__(self, key: Any, value: Any) -> None:
        if not self._is_array():
            raise TypeError(f"'{type(self).__name__}' object does not support item assignment")
        selection, value = Selection(key, self._shape, self.device), self._adopt(value)
        if 0 in np.shape(value):
            return
        made, places = selection.of_result(*elements_of(value, selection.shape(new_axes=False), self.dtype, self.device))
        stays = ~selection.selects(self.coords)
        coords = [bc.concatenate([c[stays], p]) for c, p in zip(self.coords, places, strict=True)]
        canonical = self.has_canonical_format and not made.size
        self.__dict__.update(self._of_coords(bc.concatenate([self.data[stays], made]), coords, self._shape, canonical).__dict__)

    def setdiag(self, values: Any, k: int = 0) -> None:
        csr = self.tocsr()
        csr.setdiag(values, k)
        self.__dict__.update(csr.tocoo().__dict__)
