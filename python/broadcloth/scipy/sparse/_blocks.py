"""Diagonals and blocks."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

import broadcloth as bc

from ... import _broadcloth as _c
from ..._broadcloth import ndarray
from ..._warnings import warn
from ._base import SparseEfficiencyWarning, dense_operand, is_shape, issparse, scipy_sparse, shape_of, spbase, swaps
from ._reductions import EXTREMES, extreme_of
from ._rows import Rows, index_dtype, running, span


class _dia(spbase):
    """Diagonals: row k of `data` holds the diagonal offsets[k], its element of column j at data[k, j]."""

    _format = "dia"
    offsets: ndarray

    def __init__(
        self, arg1: Any, shape: Any = None, dtype: Any = None, copy: bool = False, *, maxprint: int | None = None, device: Any = None
    ) -> None:
        spbase.__init__(self, arg1, maxprint=maxprint)
        if shape is not None:
            shape = shape_of(shape)
        if scipy_sparse(arg1):
            from ._base import from_scipy

            arg1 = from_scipy(arg1, device)
        if issparse(arg1):
            self.__dict__.update(arg1.todia(copy=copy).__dict__)
            if shape is not None and shape != self._shape:
                raise ValueError(f"inconsistent shapes: {shape} != {self._shape}")
        elif is_shape(arg1, (2,)):
            data = bc.zeros((0, 0), np.float64 if dtype is None else dtype, device=device)
            self._set(data, bc.zeros(0, np.int32, device=device), shape_of(arg1))
        elif isinstance(arg1, tuple):
            try:
                data, offsets = arg1
            except ValueError:
                raise ValueError(f"unrecognized form for {type(self).__name__} constructor") from None
            if shape is None:
                raise ValueError("expected a shape argument")
            self._take_diagonals(data, offsets, shape, copy, device)
        else:
            a = dense_operand(arg1, device)
            if a is None:
                raise ValueError(f"unrecognized form for {type(self).__name__} constructor")
            self._require_dimensions(a if self._is_array() else bc.atleast_2d(a), (2,))
            made = self._kind("coo")(a, shape=shape, dtype=dtype)
            self.__dict__.update(made.todia().__dict__)
        if dtype is not None:
            self.data = self.data.astype(dtype, copy=False)

    def _take_diagonals(self, data: Any, offsets: Any, shape: Any, copy: bool, device: Any) -> None:
        data = bc.atleast_2d(bc.array(data, copy=copy or None, device=device))
        offsets = bc.atleast_1d(bc.asarray(offsets, device=data.device))
        if offsets.ndim != 1:
            raise ValueError("offsets array must have rank 1")
        if data.ndim != 2:
            raise ValueError("data array must have rank 2")
        if data.shape[0] != offsets.size:
            raise ValueError(f"number of diagonals ({data.shape[0]}) does not match the number of offsets ({offsets.size})")
        if len(set(offsets.tolist())) != offsets.size:
            raise ValueError("offset array contains duplicate values")
        self._set(data, offsets.astype(index_dtype(*shape)), shape)

    def _set(self, data: ndarray, offsets: ndarray, shape: tuple[int, ...]) -> None:
        self.data, self.offsets, self._shape = data, offsets, tuple(shape)

    @classmethod
    def _made(cls, data: ndarray, offsets: ndarray, shape: tuple[int, ...]) -> Any:
        made = object.__new__(cls)
        made.maxprint = 50
        made._set(data, offsets, shape)
        return made

    @classmethod
    def _from_scipy(cls, x: Any, device: Any) -> Any:
        to = lambda a: bc.asarray(np.ascontiguousarray(a), device=device)
        return cls._made(to(x.data), to(x.offsets), x.shape)

    @classmethod
    def _from_coo(cls, coo: Any) -> Any:
        """Each diagonal that has an element; those of one place are added up."""
        device = coo.device
        if coo.data.size == 0:
            return cls._made(bc.zeros((0, 0), coo.dtype, device=device), bc.zeros(0, index_dtype(*coo.shape), device=device), coo.shape)
        offsets, which = bc.unique(coo.col.astype(np.int64) - coo.row, return_inverse=True)
        if offsets.size > 100:
            warn(f"Constructing a DIA matrix with {offsets.size} diagonals is inefficient", SparseEfficiencyWarning)
        width = int(coo.col.max()) + 1
        data = bc.zeros((offsets.size, width), coo.dtype, device=device)
        bc.add.at(data, (which, coo.col), coo.data)
        return cls._made(data, offsets.astype(index_dtype(*coo.shape)), coo.shape)

    def multiply(self, other: Any) -> Any:
        """The elementwise product with a number, or a sparse or dense operand, which broadcasts."""
        if type(other) is np.ndarray and other.shape == self._shape and other.dtype.kind in "biufc" and 0 < self.offsets.size <= 16:
            return self._multiply_host(other)
        return super().multiply(other)

    def _multiply_host(self, other: np.ndarray) -> Any:
        """The product with a matrix in host memory, of which only a few diagonals are copied."""
        width = min(self.data.shape[1], self._shape[1])
        factors, inside = np.zeros((self.offsets.size, width), other.dtype), np.zeros((self.offsets.size, width), bool)
        for at, offset in enumerate(self.offsets.tolist()):
            if -self._shape[0] < offset < width:
                first = max(offset, 0)
                diagonal = other.diagonal(offset)[: width - first]
                factors[at, first : first + diagonal.size], inside[at, first : first + diagonal.size] = diagonal, True
        to = functools.partial(bc.asarray, device=self.device)
        return self._made(bc.where(to(inside), self.data[:, :width] * to(factors), 0), self.offsets, self._shape)

    def _multiply_dense(self, other: ndarray) -> Any:
        if 0 in self._shape or not self._broadcasts(other.shape) or np.broadcast_shapes(self._shape, other.shape) != self._shape:
            return spbase._multiply_dense(self, other)
        (m, n), width = self._shape, min(self.data.shape[1], self._shape[1])
        column = bc.arange(width, device=self.device)
        row = column - self.offsets[:, None]
        factors = bc.broadcast_to(other, (m, n))[row.clip(0, m - 1), column]
        data = bc.where((row >= 0) & (row < m), self.data[:, :width] * factors, 0)
        return self._made(data, self.offsets, self._shape)

    def get(self) -> Any:
        """The matrix as SciPy's, of the same class, in host memory."""
        return self._scipy_class()((self.data.get(), self.offsets.get()), shape=self.shape)

    def _repr_detail(self) -> str:
        return f" ({self.offsets.size} diagonals)"

    def _inside(self) -> ndarray:
        """Which elements of `data` lie in the matrix."""
        rows, columns = self._shape
        column = span(self.data.shape[1], self.data)[None]
        row = column - self.offsets[:, None]
        return (row >= 0) & (row < rows) & (column < columns)

    def _getnnz(self, axis: Any = None) -> Any:
        if axis is not None:
            raise NotImplementedError("_getnnz over an axis is not implemented for DIA format")
        (rows, columns), width = self._shape, self.data.shape[1]
        return sum(max(min(rows + k, width, columns) - max(k, 0), 0) for k in self.offsets.tolist())

    def _matmul_sparse(self, other: Any) -> Any:
        known = other.format == "dia" and self._shape[1] == other._shape[0] and self.dtype == other.dtype
        extents = *self._shape, other.shape[-1]
        parts = known and _c.sparse_multiply_diagonals(self.data, self.offsets, other.data, other.offsets, *extents)
        if not parts:
            return spbase._matmul_sparse(self, other)
        return self._made(*parts, (self._shape[0], other._shape[1]))

    def _mapped(self, f: Callable[[ndarray], ndarray]) -> Any:
        return self._made(f(self.data), self.offsets, self._shape)

    def _joined(self, other: Any, op: Callable[[ndarray, ndarray], ndarray]) -> Any:
        if other.format != "dia" or op not in (operator.add, operator.sub, operator.mul):
            return spbase._joined(self, other, op)
        self._same_shape(other)
        if self.data.shape == other.data.shape and self.offsets.tolist() == other.offsets.tolist():
            return self._made(op(self.data, other.data), self.offsets.copy(), self._shape)
        return spbase._joined(self, other, op).todia()

    def _stored(self) -> ndarray:
        """The elements that lie in the matrix; the others, which diagonals may have at their ends, as zeros."""
        return bc.where(self._inside(), self.data, bc.zeros((), self.dtype, device=self.device))

    def tocoo(self, copy: bool = False) -> Any:
        keep = self._inside() & (self.data != 0)
        diagonal, column = keep.nonzero()
        t = index_dtype(column.size, *self._shape)
        row = (column - self.offsets[diagonal]).astype(t)
        return self._kind("coo")._from_coordinates(self.data[keep], row, column.astype(t), self._shape)

    def tocsr(self, copy: bool = False) -> Any:
        rows, columns = self._shape
        count, width = self.data.shape
        if count == 0 or width == 0:
            return self._kind("csr")(self._shape, dtype=self.dtype, device=self.device)
        made = _c.sparse_of_diagonals(self.data, self.offsets, rows, columns)
        if made is not None:
            return self._kind("csr")._from_rows_of(Rows(*made, columns, True), self._shape)
        # Each row takes an element of each diagonal, from left to right.
        offsets = self.offsets.tolist()
        order = sorted(range(count), key=offsets.__getitem__)
        t = index_dtype(rows * count, count * width, rows + max(map(abs, offsets)), columns)
        along = lambda values: bc.asarray(np.array(values, t), device=self.device)[None]
        column = bc.arange(rows, dtype=t, device=self.device)[:, None] + along([offsets[k] for k in order])
        inside = (column >= 0) & (column < min(width, columns))
        at = bc.clip(column, 0, width - 1) + along([k * width for k in order])
        data = self.data.ravel()[at.ravel()]
        starts = bc.arange(rows + 1, dtype=t, device=self.device) * count
        found = Rows(data, column.ravel(), starts, columns, True).where(inside.ravel() & (data != 0))
        return self._kind("csr")._from_rows_of(found.with_indices(index_dtype(found.size, rows, columns)), self._shape)

    def _product(self, x: ndarray, transposed: bool = False) -> ndarray:
        return _c.sparse_diagonal_product(self.data, self.offsets, x, self._shape[1 if transposed else 0], transposed)

    def todia(self, copy: bool = False) -> Any:
        return self.copy() if copy else self

    def transpose(self, axes: Any = None, copy: bool = False) -> Any:
        if axes is not None and not swaps(axes):
            return spbase.transpose(self, axes, copy)
        rows, columns = self._shape
        width = self.data.shape[1]
        # Element (i, j) of the diagonal k lies in column j; of the transpose in column i = j - k.
        j = span(rows, self.data)[None] + self.offsets[:, None]
        inside = (j >= 0) & (j < min(width, columns))
        if width == 0:
            return self._made(bc.zeros((self.offsets.size, 0), self.dtype, device=self.device), -self.offsets, (columns, rows))
        data = bc.take_along_axis(self.data, bc.clip(j, 0, width - 1), 1)
        data = bc.where(inside, data, bc.zeros((), self.dtype, device=self.device))
        return self._made(data, -self.offsets, (columns, rows))

    def diagonal(self, k: int = 0) -> ndarray:
        rows, columns = self._shape
        if k <= -rows or k >= columns:
            return bc.zeros(0, self.dtype, device=self.device)
        first, n = max(0, k), min(rows + min(k, 0), columns - max(k, 0))
        offsets = self.offsets.tolist()
        row = self.data[offsets.index(k), first : first + n] if k in offsets else self.data[:0].ravel()
        if row.size == n:
            return row.copy()
        made = bc.zeros(n, self.dtype, device=self.device)
        made[: row.size] = row
        return made

    def setdiag(self, values: Any, k: int = 0) -> None:
        csr = self.tocsr()
        csr.setdiag(values, k)
        self.__dict__.update(csr.todia().__dict__)


class _bsr(spbase):
    """Blocks in compressed rows: block j of `data`, (R, C), stands in the block column indices[j]."""

    _format = "bsr"
    indices: ndarray
    indptr: ndarray

    def __init__(
        self,
        arg1: Any,
        shape: Any = None,
        dtype: Any = None,
        copy: bool = False,
        blocksize: Any = None,
        *,
        maxprint: int | None = None,
        device: Any = None,
    ) -> None:
        spbase.__init__(self, arg1, maxprint=maxprint)
        if shape is not None:
            shape = shape_of(shape)
        if scipy_sparse(arg1):
            from ._base import from_scipy

            arg1 = from_scipy(arg1, device)
        if issparse(arg1):
            self.__dict__.update(arg1.tobsr(blocksize=blocksize, copy=copy).__dict__)
        elif is_shape(arg1, (2,)):
            rows, columns = shape_of(arg1)
            r, c = (1, 1) if blocksize is None else shape_of(blocksize)
            if r < 1 or c < 1 or rows % r or columns % c:
                raise ValueError("shape must be multiple of blocksize")
            t = index_dtype(rows // r, columns // c)
            data = bc.zeros((0, r, c), np.float64 if dtype is None else dtype, device=device)
            self._set(data, bc.zeros(0, t, device=device), bc.zeros(rows // r + 1, t, device=device), (rows, columns))
        elif isinstance(arg1, tuple) and len(arg1) == 2:
            coo = self._kind("coo")(arg1, shape=shape, dtype=dtype, device=device)
            self.__dict__.update(coo.tobsr(blocksize=blocksize).__dict__)
        elif isinstance(arg1, tuple) and len(arg1) == 3:
            self._take_blocks(*arg1, shape, blocksize, copy, device)
        else:
            a = None if isinstance(arg1, tuple) else dense_operand(arg1, device)
            if a is None:
                raise ValueError(f"unrecognized form for {type(self).__name__} constructor")
            self._require_dimensions(a if self._is_array() else bc.atleast_2d(a), (2,))
            self.__dict__.update(self._kind("coo")(a, shape=shape, dtype=dtype).tobsr(blocksize=blocksize).__dict__)
        if shape is not None and shape != self._shape:
            raise ValueError(f"inconsistent shapes: {shape} != {self._shape}")
        if dtype is not None:
            self.data = self.data.astype(dtype, copy=False)

    def _take_blocks(self, data: Any, indices: Any, indptr: Any, shape: Any, blocksize: Any, copy: bool, device: Any) -> None:
        data = bc.array(data, copy=copy or None, device=device)
        if data.ndim != 3:
            raise ValueError(f"BSR data must be 3-dimensional, got shape={data.shape}")
        if blocksize is not None and tuple(blocksize) != data.shape[1:]:
            raise ValueError(f"mismatching blocksize={blocksize} vs {data.shape[1:]}")
        r, c = data.shape[1:]
        if shape is not None and (shape[0] % r or shape[1] % c):
            raise ValueError(f"invalid blocksize {(r, c)}")
        blocks = None if shape is None else (shape[0] // r, shape[1] // c)
        # Compressed rows of the blocks' numbers check the arrays.
        of_blocks = self._kind("csr")((span(data.shape[0], data), indices, indptr), shape=blocks)
        self._set(data, of_blocks.indices, of_blocks.indptr, (of_blocks.shape[0] * r, of_blocks.shape[1] * c))

    def _set(self, data: ndarray, indices: ndarray, indptr: ndarray, shape: tuple[int, ...]) -> None:
        self.data, self.indices, self.indptr, self._shape = data, indices, indptr, tuple(shape)

    @classmethod
    def _made(cls, data: ndarray, indices: ndarray, indptr: ndarray, shape: tuple[int, ...]) -> Any:
        made = object.__new__(cls)
        made.maxprint = 50
        made._set(data, indices, indptr, shape)
        return made

    @classmethod
    def _from_scipy(cls, x: Any, device: Any) -> Any:
        to = lambda a: bc.asarray(np.ascontiguousarray(a), device=device)
        return cls._made(to(x.data), to(x.indices), to(x.indptr), x.shape)

    @classmethod
    def _from_rows_blocked(cls, rows: Rows, blocksize: Any = None) -> Any:
        """Blocks of compressed rows; without a size one that most blocks would fill."""
        shape = (rows.count, rows.columns)
        r, c = _block_size(rows) if blocksize is None else shape_of(blocksize)
        if r == c == 1 and rows.size and rows.is_canonical():
            return cls._made(rows.data.reshape(-1, 1, 1).copy(), rows.indices.copy(), rows.indptr.copy(), shape)
        if r < 1 or c < 1 or shape[0] % r or shape[1] % c:
            raise ValueError(f"invalid blocksize {(r, c)}")
        made = _c.sparse_blocks(rows.data, rows.indices, rows.indptr, rows.columns, r, c) if rows.size else None
        if made is not None:
            return cls._made(*made, shape)
        if rows.size == 0:
            empty = Rows.empty(shape[0] // r, shape[1] // c, rows.data.dtype, rows.device)
            return cls._made(bc.zeros((0, r, c), rows.data.dtype, device=rows.device), empty.indices, empty.indptr, shape)
        row, width = rows.numbers().astype(np.int64), shape[1] // c
        keys, which = bc.unique(row // r * width + rows.indices // c, return_inverse=True)
        data = bc.zeros((keys.size, r, c), rows.data.dtype, device=rows.device)
        bc.add.at(data, (which, row % r, (rows.indices % c).astype(np.int64)), rows.data)
        t = index_dtype(keys.size, *shape)
        indptr = bc.searchsorted(keys, bc.arange(shape[0] // r + 1, dtype=np.int64, device=rows.device) * width)
        return cls._made(data, (keys % max(width, 1)).astype(t), indptr.astype(t), shape)

    def get(self) -> Any:
        """The matrix as SciPy's, of the same class, in host memory."""
        return self._scipy_class()((self.data.get(), self.indices.get(), self.indptr.get()), shape=self.shape)

    @property
    def blocksize(self) -> tuple[int, int]:
        """The blocks' shape."""
        return self.data.shape[1:]

    def _repr_detail(self) -> str:
        return f" (blocksize={self.blocksize[0]}x{self.blocksize[1]})"

    def diagonal(self, k: int = 0) -> ndarray:
        made = _c.sparse_diagonal(self.data, self.indices, self.indptr, self._shape[1] // self.data.shape[2], k)
        return self.tocsr().diagonal(k) if made is None else made

    def _getnnz(self, axis: Any = None) -> Any:
        if axis is not None:
            raise NotImplementedError("_getnnz over an axis is not implemented for BSR format")
        return self.data.size

    def _stored(self) -> ndarray:
        return self.data

    def _summed(self) -> Any:
        self.sum_duplicates()
        return self

    def _extreme_of(self, name: str, *args: Any, **kwargs: Any) -> Any:
        whole = not args and kwargs.keys() <= {"explicit"} and name in EXTREMES
        if not whole or not self.data.size or not self.has_canonical_format:
            return spbase._extreme_of(self, name, *args, **kwargs)
        # The blocks' zeros count whether or not zeros that are not stored do.
        return extreme_of(self.data.ravel(), EXTREMES[name], self._shape, bool(kwargs.get("explicit")))

    def _of_blocks(self) -> Rows:
        columns = self._shape[1] // self.blocksize[1]
        return Rows(span(self.data.shape[0], self.data), self.indices, self.indptr, columns)

    @property
    def has_sorted_indices(self) -> bool:
        return self._of_blocks().is_sorted()

    @has_sorted_indices.setter
    def has_sorted_indices(self, value: bool) -> None:
        pass  # blocks are looked at each time

    @property
    def has_canonical_format(self) -> bool:
        return _c.sparse_is_sorted(self.indices, self.indptr, self._shape[1] // self.data.shape[2])

    @has_canonical_format.setter
    def has_canonical_format(self, value: bool) -> None:
        pass

    def sort_indices(self) -> None:
        """Sorts the blocks of each block row, in place."""
        rows = self._of_blocks().sorted()
        self._set(self.data[rows.data], rows.indices, rows.indptr, self._shape)

    def sorted_indices(self) -> Any:
        made = self.copy()
        made.sort_indices()
        return made

    def sum_duplicates(self) -> None:
        """Adds up blocks of one place, in place."""
        if not self.has_canonical_format:
            self.__dict__.update(self._from_rows_blocked(self.tocsr()._own_rows(), self.blocksize).__dict__)

    def eliminate_zeros(self) -> None:
        """Removes blocks of zeros, in place."""
        keep = (self.data != 0).any(axis=(1, 2))
        before = running(keep)
        self._set(self.data[keep], self.indices[keep], before[self.indptr].astype(self.indptr.dtype), self._shape)

    def prune(self) -> None:
        """Removes what arrays hold behind the last block."""
        n = int(self.indptr[-1])
        self.data, self.indices = self.data[:n], self.indices[:n]

    def check_format(self, full_check: bool = True) -> None:
        """Raises ValueError where the arrays are no such matrix."""
        type(self)((self.data, self.indices, self.indptr), shape=self._shape)

    def _mapped(self, f: Callable[[ndarray], ndarray]) -> Any:
        return self._made(f(self.data), self.indices, self.indptr, self._shape)

    def tocsr(self, copy: bool = False) -> Any:
        if self.data.size == 0:
            return self._kind("csr")(self._shape, dtype=self.dtype, device=self.device)
        blocks = self._of_blocks().with_indices(index_dtype(self.data.size, *self._shape))
        data, indices, indptr = _c.sparse_block_rows(self.data, blocks.indices, blocks.indptr, blocks.columns)
        return self._kind("csr")._from_rows_of(Rows(data, indices, indptr, self._shape[1]), self._shape)

    def _product(self, x: ndarray, transposed: bool = False) -> ndarray:
        if transposed:
            return spbase._product(self, x, transposed)
        return _c.sparse_block_product(self.data, self.indices, self.indptr, self._shape[1] // self.blocksize[1], x)

    def tocoo(self, copy: bool = True) -> Any:
        r, c = self.blocksize
        t = index_dtype(self.data.size, *self._shape)
        i = bc.arange(r, dtype=t, device=self.device)[None, :, None]
        j = bc.arange(c, dtype=t, device=self.device)[None, None]
        row = self._of_blocks().numbers().astype(t)[:, None, None] * r + i
        col = self.indices.astype(t)[:, None, None] * c + j
        row, col = (bc.broadcast_to(x, self.data.shape).ravel() for x in (row, col))
        data = self.data.ravel()
        return self._kind("coo")._from_coordinates(data.copy() if copy else data, row, col, self._shape)

    def __getitem__(self, key: Any) -> Any:
        raise NotImplementedError("bsr matrices have no elements by index; use another format")

    def __setitem__(self, key: Any, value: Any) -> None:
        raise NotImplementedError("bsr matrices have no elements by index; use another format")

    def tobsr(self, blocksize: Any = None, copy: bool = False) -> Any:
        if blocksize is not None and tuple(blocksize) != self.blocksize:
            return self._from_rows_blocked(self.tocsr()._own_rows(), blocksize)
        return self.copy() if copy else self

    def transpose(self, axes: Any = None, copy: bool = False) -> Any:
        if axes is not None and not swaps(axes):
            return spbase.transpose(self, axes, copy)
        turned = self._of_blocks().transposed()
        data = self.data[turned.data].transpose(0, 2, 1).copy()
        return self._made(data, turned.indices, turned.indptr, self._shape[::-1])

    def setdiag(self, values: Any, k: int = 0) -> None:
        csr = self.tocsr()
        csr.setdiag(values, k)
        self.__dict__.update(self._from_rows_blocked(csr._own_rows(), self.blocksize).__dict__)


def _block_size(rows: Rows, efficiency: float = 0.7) -> tuple[int, int]:
    """The largest of a few blocks of which at least `efficiency` would be filled."""
    if rows.size == 0:
        return 1, 1
    def filled(n: int) -> float:
        """The share of the blocks of n x n that is filled."""
        return rows.size / (_count_blocks(rows, n, n) * n * n) if rows.count % n == 0 and rows.columns % n == 0 else 0.0

    # Blocks of four hold whole blocks of two, and are not filled better.
    twos, threes = filled(2), filled(3)
    high = (1 + efficiency) / 2
    if twos > high and threes > high:
        return (6, 6) if filled(6) > efficiency else (3, 3)
    if twos > efficiency and filled(4) > efficiency:
        return 4, 4
    return (3, 3) if threes > efficiency else (2, 2) if twos > efficiency else (1, 1)


def _count_blocks(rows: Rows, r: int, c: int) -> int:
    """How many blocks of a shape have elements."""
    count = _c.sparse_count_blocks(rows.indices, rows.indptr, rows.columns, r, c)
    if count is not None:
        return count
    row = rows.numbers().astype(np.int64)
    return bc.unique(row // r * (rows.columns // c) + rows.indices // c).size
