"""Compressed rows and columns."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import broadcloth as bc

from ... import _broadcloth as _c
from ..._broadcloth import ndarray
from ..._warnings import warn
from . import _reductions
from ._base import SparseEfficiencyWarning, dense_operand, is_shape, issparse, normal_axis, scipy_sparse, shape_of, spbase, swaps
from ._index import Indexed
from ._rows import Rows, index_dtype


class _cs(Indexed, spbase):
    """What compressed rows and columns share: columns are the rows of the transpose."""

    _major: int  # the axis along which pointers go
    indices: ndarray
    indptr: ndarray
    _canonical: bool | None

    def __init__(
        self, arg1: Any, shape: Any = None, dtype: Any = None, copy: bool = False, *, maxprint: int | None = None, device: Any = None
    ) -> None:
        spbase.__init__(self, arg1, maxprint=maxprint)
        dimensions = (1, 2) if self._is_array() and self._format == "csr" else (2,)
        if shape is not None:
            shape = shape_of(shape, dimensions)
        if scipy_sparse(arg1):
            from ._base import from_scipy

            arg1 = from_scipy(arg1, device)
        if issparse(arg1):
            same = arg1.asformat(self._format)
            rows = same._own_rows()
            self._take_rows(rows.copy() if copy and same is arg1 else rows, shape or same.shape)
        elif isinstance(arg1, tuple) and is_shape(arg1, dimensions):
            made = shape_of(arg1, dimensions)
            two = made if len(made) == 2 else (1, *made)
            major, minor = (two[0], two[1]) if self._major == 0 else (two[1], two[0])
            self._take_rows(Rows.empty(major, minor, np.float64 if dtype is None else dtype, device), made)
        elif isinstance(arg1, tuple) and len(arg1) == 2:
            coo = self._kind("coo")(arg1, shape=shape, dtype=dtype, device=device)
            self._take_rows(coo.asformat(self._format)._own_rows(), coo.shape)
        elif isinstance(arg1, tuple) and len(arg1) == 3:
            self._take_arrays(*arg1, shape, copy, dtype, device)
        elif isinstance(arg1, tuple):
            raise ValueError(f"unrecognized {type(self).__name__} constructor usage")
        else:
            self._take_dense(arg1, shape, dtype, device, dimensions)
        if dtype is not None:
            self.data = self.data.astype(dtype, copy=False)

    def _take_dense(self, arg1: Any, shape: Any, dtype: Any, device: Any, dimensions: tuple[int, ...]) -> None:
        a = dense_operand(arg1, device)
        if a is None:
            raise ValueError(f"unrecognized {type(self).__name__} constructor usage")
        if not self._is_array():
            a = bc.atleast_2d(a)
        self._require_dimensions(a, dimensions)
        if dtype is not None:
            a = a.astype(dtype, copy=False)
        two = a if a.ndim == 2 else a[None]
        rows = Rows.from_dense(two, self._major == 1)
        if shape is not None and shape != a.shape:
            # Rows may be longer than the dense ones.
            major, minor = (shape if len(shape) == 2 else (1, *shape))[:: 1 if self._major == 0 else -1]
            if len(shape) != a.ndim or major != rows.indptr.size - 1 or minor < rows.columns:
                raise ValueError(f"inconsistent shapes: {shape} != {a.shape}")
            t = index_dtype(rows.size, major, minor)
            rows = Rows(rows.data, rows.indices.astype(t, copy=False), rows.indptr.astype(t, copy=False), minor, rows.canonical)
        self._take_rows(rows, shape or a.shape)

    def _take_arrays(self, data: Any, indices: Any, indptr: Any, shape: Any, copy: bool, dtype: Any, device: Any) -> None:
        data = _vector(data, "data", device)
        device = data.device
        indices, indptr = _vector(indices, "indices", device), _vector(indptr, "indptr", device)
        for name, a in (("indices", indices), ("indptr", indptr)):
            if a.dtype.kind not in "iu" and a.size:
                warn(f"{name} array has non-integer dtype ({a.dtype.name})", UserWarning)
        if indptr.size == 0:
            raise ValueError(f"index pointer size {indptr.size} should be at least 1")
        end = 0 if shape is None else shape[-1 if len(shape) == 1 else 1 - self._major]
        first, n, ascends, low, high = _c.sparse_facts(indices, indptr, end) or _facts(indices, indptr)
        if shape is None:
            extent = high + 1 if n == indices.size else int(indices.max()) + 1
            extent = extent if indices.size else 0
            shape = (indptr.size - 1, extent) if self._major == 0 else (extent, indptr.size - 1)
        two = shape if len(shape) == 2 else (1, *shape)
        major, minor = (two[0], two[1]) if self._major == 0 else (two[1], two[0])
        if indptr.size != major + 1:
            raise ValueError(f"index pointer size {indptr.size} should be {major + 1}")
        if first != 0:
            raise ValueError("index pointer should start with 0")
        if indices.size != data.size:
            raise ValueError("indices and data should have the same size")
        if n > indices.size:
            raise ValueError("Last value of index pointer should be less than the size of index and data arrays")
        if not ascends:
            raise ValueError("indptr values must form a non-decreasing sequence")
        if n < indices.size:
            data, indices = data[:n], indices[:n]
        t = index_dtype(n, major, minor)
        if n:
            if high >= minor:
                raise ValueError(f"indices must be < {minor}")
            if low < 0:
                raise ValueError("indices must be >= 0")
        if dtype is not None:
            data = data.astype(dtype, copy=False)
        rows = Rows(data, indices.astype(t, copy=False), indptr.astype(t, copy=False), minor)
        self._take_rows(rows.copy() if copy else rows, shape)

    def _take_rows(self, rows: Rows, shape: tuple[int, ...]) -> None:
        if shape != self._shape_of_rows(rows) and (1, *shape) != (rows.count, rows.columns):
            raise ValueError(f"inconsistent shapes: {shape} != {self._shape_of_rows(rows)}")
        self.data, self.indices, self.indptr = rows.data, rows.indices, rows.indptr
        self._canonical, self._shape = rows.canonical, tuple(shape)

    def _shape_of_rows(self, rows: Rows) -> tuple[int, int]:
        return (rows.count, rows.columns) if self._major == 0 else (rows.columns, rows.count)

    @classmethod
    def _from_rows_of(cls, rows: Rows, shape: tuple[int, ...], maxprint: int = 50) -> Any:
        """A matrix of this format from its own rows (a matrix by columns: those of the transpose)."""
        made = object.__new__(cls)
        made.maxprint = maxprint
        made._take_rows(rows, shape)
        return made

    @classmethod
    def _from_scipy(cls, x: Any, device: Any) -> Any:
        to = lambda a: bc.asarray(a, device=device)
        minor = x.shape[-1] if cls._major == 0 else x.shape[0]
        rows = Rows(to(x.data), to(x.indices), to(x.indptr), minor)
        return cls._from_rows_of(rows.with_indices(index_dtype(rows.size, *x.shape)), x.shape)

    def _own_rows(self) -> Rows:
        minor = self._shape2[1 - self._major]
        return Rows(self.data, *self._places(), minor, self._canonical)

    def _places(self) -> tuple[ndarray, ndarray]:
        """Indices and pointers of one dtype, where only one of them was given another."""
        indices, indptr = self.indices, self.indptr
        if indices.dtype == indptr.dtype:
            return indices, indptr
        return indices.astype(np.int64, copy=False), indptr.astype(np.int64, copy=False)

    def _stored(self) -> ndarray:
        return self.data

    def _summed(self) -> Any:
        if not self.has_canonical_format:
            self.sum_duplicates()
        return self

    def _by_rows(self, f: Callable[[Rows], Rows]) -> Any:
        return self._from_rows_of(f(self._own_rows()), self._shape)

    def _mapped(self, f: Callable[[ndarray], ndarray]) -> Any:
        return self._from_rows_of(self._own_rows().with_data(f(self.data)), self._shape, self.maxprint)

    def get(self) -> Any:
        """The matrix as SciPy's, of the same class, in host memory.

        Examples
        --------
        >>> from broadcloth.scipy import sparse
        >>> sparse.csr_matrix([[0, 1], [2, 0]]).get().indices
        array([1, 0], dtype=int32)
        """
        return self._scipy_class()((self.data.get(), self.indices.get(), self.indptr.get()), shape=self.shape)

    # ---- Order of elements ----

    @property
    def has_sorted_indices(self) -> bool:
        """Whether the indices of each row (column) ascend."""
        return self._canonical is True or self._own_rows().is_sorted()

    @has_sorted_indices.setter
    def has_sorted_indices(self, value: bool) -> None:
        self._canonical = None

    @property
    def has_canonical_format(self) -> bool:
        """Whether the indices of each row (column) ascend and none comes twice."""
        self._find_canonical()
        return bool(self._canonical)

    @has_canonical_format.setter
    def has_canonical_format(self, value: bool) -> None:
        # Whatever is said, the indices are looked at when it matters: a program that wrote to them in place says so this way.
        self._canonical = None

    def _find_canonical(self) -> None:
        """Finds out once whether the matrix is canonical, and keeps it."""
        if self._canonical is None:
            rows = self._own_rows()
            rows.is_canonical()
            self._canonical = rows.canonical

    def _become(self, rows: Rows) -> None:
        self.data, self.indices, self.indptr, self._canonical = rows.data, rows.indices, rows.indptr, rows.canonical

    def sum_duplicates(self) -> None:
        """Adds up elements of one place, in place."""
        self._become(self._own_rows().summed())

    def sort_indices(self) -> None:
        """Sorts the indices of each row (column), in place."""
        self._become(self._own_rows().sorted())

    def sorted_indices(self) -> Any:
        made = self.copy()
        made.sort_indices()
        return made

    def eliminate_zeros(self) -> None:
        """Removes stored zeros, in place."""
        self._become(self._own_rows().nonzeros())

    def prune(self) -> None:
        """Removes what arrays hold behind the last element."""
        n = int(self.indptr[-1])
        self.data, self.indices = self.data[:n], self.indices[:n]

    def check_format(self, full_check: bool = True) -> None:
        """Raises ValueError where the arrays are no such matrix."""
        self._kind(self._format)((self.data, self.indices, self.indptr), shape=self._shape)

    def _getnnz(self, axis: Any = None) -> Any:
        if axis is None:
            return self.data.size
        axis = normal_axis(axis, self.ndim)
        if axis is None or self.ndim == 1 or axis == self._major:
            return spbase._getnnz(self, axis)
        return self.indptr[1:] - self.indptr[:-1]

    def count_nonzero(self, axis: Any = None) -> Any:
        """How many elements are not zero: of all, or along an axis."""
        axis = None if axis is None else normal_axis(axis, self.ndim)
        if axis is None or self.ndim == 1:
            return int(bc.count_nonzero(self._summed().data))
        rows = self._summed()._own_rows().nonzeros()
        if axis != self._major:
            return (rows.indptr[1:] - rows.indptr[:-1]).astype(np.int64)
        return bc.bincount(rows.indices, minlength=rows.columns)

    # ---- Conversion ----

    def tocoo(self, copy: bool = True) -> Any:
        major, minor = self._own_rows().numbers(), self.indices.copy() if copy else self.indices
        row, col = (major, minor) if self._major == 0 else (minor, major)
        data = self.data.copy() if copy else self.data
        return self._kind("coo")._from_coordinates(data, row, col, self._shape, self._canonical is True and self._major == 0)

    def tobsr(self, blocksize: Any = None, copy: bool = False) -> Any:
        return self._kind("bsr")._from_rows_blocked(self.tocsr()._own_rows(), blocksize)

    def diagonal(self, k: int = 0) -> ndarray:
        """The k-th diagonal, dense."""
        rows, columns = self._shape2
        if self.ndim != 2:
            raise ValueError("diagonal requires two dimensions")
        n = max(min(rows + min(k, 0), columns - max(k, 0)), 0)
        made = _c.sparse_diagonal(self.data, *self._places(), self._shape[1 - self._major], k if self._major == 0 else -k)
        if made is not None:
            return made
        i = bc.arange(n, dtype=np.int64, device=self.device)
        return self._lookup(i + -k if k < 0 else i, i + k if k > 0 else i)

    def __iter__(self) -> Iterator[Any]:
        rows = self._rows()
        ends = rows.indptr.tolist()
        shape = (rows.columns,) if self._is_array() else (1, rows.columns)
        for begin, end in itertools.pairwise(ends) if self.ndim == 2 else ():
            indptr = bc.asarray(np.array([0, end - begin], rows.indptr.dtype), device=self.device)
            row = Rows(rows.data[begin:end].copy(), rows.indices[begin:end].copy(), indptr, rows.columns, rows.canonical)
            yield self._kind("csr")._from_rows_of(row, shape)
        if self.ndim == 1:
            yield from spbase.__iter__(self)

    def reshape(self, *args: Any, order: str = "C", copy: bool = False) -> Any:
        made = self.tocoo(copy=copy).reshape(*args, order=order)
        if made.shape == self.shape:
            return self.copy() if copy else self
        return made

    # ---- Reductions ----

    def _reduced(self, name: str, axis: Any, out: Any, *args: Any) -> Any:
        if out is not None:
            raise ValueError("Sparse arrays do not support an 'out' parameter.")
        return getattr(_reductions, name)(self, axis, *args)

    def max(self, axis: Any = None, out: Any = None, *, explicit: bool = False) -> Any:
        """The maximum, of all elements or along an axis (a sparse result); zeros that are not stored count unless `explicit`."""
        return self._reduced("extreme", axis, out, "maximum", explicit)

    def min(self, axis: Any = None, out: Any = None, *, explicit: bool = False) -> Any:
        """The minimum, of all elements or along an axis (a sparse result); zeros that are not stored count unless `explicit`."""
        return self._reduced("extreme", axis, out, "minimum", explicit)

    def nanmax(self, axis: Any = None, out: Any = None, *, explicit: bool = False) -> Any:
        """The maximum without NaNs."""
        return self._reduced("extreme", axis, out, "fmax", explicit)

    def nanmin(self, axis: Any = None, out: Any = None, *, explicit: bool = False) -> Any:
        """The minimum without NaNs."""
        return self._reduced("extreme", axis, out, "fmin", explicit)

    def argmax(self, axis: Any = None, out: Any = None, *, explicit: bool = False) -> Any:
        """Where the first maximum is: of all elements, or along an axis."""
        return self._reduced("arg_extreme", axis, out, True, explicit)

    def argmin(self, axis: Any = None, out: Any = None, *, explicit: bool = False) -> Any:
        """Where the first minimum is: of all elements, or along an axis."""
        return self._reduced("arg_extreme", axis, out, False, explicit)

    def _product(self, x: ndarray, transposed: bool = False) -> ndarray:
        indices, indptr = self._places()
        return _c.sparse_product(self.data, indices, indptr, self._shape2[1 - self._major], x, transposed != (self._major == 1))

    def _warn_of_structure(self) -> None:
        warn(
            f"Changing the sparsity structure of a {type(self).__name__} is expensive. lil and dok are more efficient.",
            SparseEfficiencyWarning,
        )


def _facts(indices: ndarray, indptr: ndarray) -> tuple[int, int, bool, int, int]:
    """The first and the last pointer, whether they ascend, and the least and the greatest of the indices below the last one."""
    first, n, step = bc.stack([indptr[0], indptr[-1], bc.diff(indptr).min() if indptr.size > 1 else bc.zeros_like(indptr[0])]).tolist()
    used = indices[: max(int(n), 0)]
    low, high = bc.stack([used.min(), used.max()]).tolist() if used.size else (0, 0)
    return int(first), int(n), step >= 0, low, high


def _vector(a: Any, name: str, device: Any) -> ndarray:
    a = bc.asarray(a) if device is None else bc.asarray(a, device=device)
    if a.ndim != 1:
        raise ValueError("data, indices, and indptr should be 1-D")
    return a


class _csr(_cs):
    _format = "csr"
    _major = 0

    def tocsr(self, copy: bool = False) -> Any:
        return self.copy() if copy else self

    def tocsc(self, copy: bool = False) -> Any:
        if self.ndim != 2:
            raise ValueError("Cannot convert a 1d sparse array to csc format")
        return self._kind("csc")._from_rows_of(self._own_rows().transposed(), self._shape)

    def tolil(self, copy: bool = False) -> Any:
        return self._kind("lil")._from_csr(self)

    def _rows(self) -> Rows:
        return self._own_rows()

    def transpose(self, axes: Any = None, copy: bool = False) -> Any:
        if axes is not None or self.ndim == 1:
            if self.ndim == 2 and axes is not None and swaps(axes):
                return self.transpose(copy=copy)
            return spbase.transpose(self, axes, copy)
        rows = self._own_rows()
        return self._kind("csc")._from_rows_of(rows.copy() if copy else rows, self._shape[::-1])


class _csc(_cs):
    _format = "csc"
    _major = 1

    def tocsr(self, copy: bool = False) -> Any:
        return self._kind("csr")._from_rows_of(self._own_rows().transposed(), self._shape)

    def tocsc(self, copy: bool = False) -> Any:
        return self.copy() if copy else self

    def nonzero(self) -> tuple[ndarray, ...]:
        rows = self._own_rows().transposed().nonzeros()
        return rows.numbers(), rows.indices

    def toarray(self, order: str | None = None, out: Any = None) -> Any:
        if order is not None or out is not None:
            return spbase.toarray(self, order, out)
        return self._own_rows().dense(True)

    def transpose(self, axes: Any = None, copy: bool = False) -> Any:
        if axes is not None and not swaps(axes):
            return spbase.transpose(self, axes, copy)
        rows = self._own_rows()
        return self._kind("csr")._from_rows_of(rows.copy() if copy else rows, self._shape[::-1])
