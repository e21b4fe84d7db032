"""Matrices in compressed rows, as three arrays: what all formats are computed by. Compressed columns are the rows of the transpose."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

import broadcloth as bc

from ... import _broadcloth as _c
from ..._broadcloth import ndarray

_INT32_MAX = np.iinfo(np.int32).max
_INT64_MAX = np.iinfo(np.int64).max


def index_dtype(*sizes: int) -> np.dtype:
    """int32 where it counts what there is, else int64."""
    return np.dtype(np.int64 if max(sizes, default=0) > _INT32_MAX else np.int32)


def running(counts: ndarray) -> ndarray:
    """The running sums of counts, from 0 on, int64."""
    return bc.concatenate([bc.zeros(1, np.int64, device=counts.device), bc.cumsum(counts, dtype=np.int64)])


def span(n: int, like: ndarray) -> ndarray:
    return bc.arange(n, dtype=np.int64, device=like.device)


def check_places(rows: int, columns: int) -> None:
    if rows * columns > _INT64_MAX:
        raise ValueError(f"a matrix of shape ({rows}, {columns}) has more places than an int64 counts")


@dataclass(slots=True)
class Rows:
    """Row i has the elements data[j] in the columns indices[j], j from indptr[i] on and below indptr[i + 1]."""

    data: ndarray
    indices: ndarray
    indptr: ndarray
    columns: int
    canonical: bool | None = None  # each row's columns ascend, none comes twice; None: nobody has looked

    @property
    def count(self) -> int:
        return self.indptr.size - 1

    @property
    def size(self) -> int:
        return self.data.size

    @property
    def device(self) -> Any:
        return self.data.device

    @classmethod
    def empty(cls, rows: int, columns: int, dtype: Any, device: Any = None) -> Rows:
        t = index_dtype(rows, columns)
        data, indices = bc.zeros(0, dtype, device=device), bc.zeros(0, t, device=device)
        return cls(data, indices, bc.zeros(rows + 1, t, device=device), columns, True)

    @classmethod
    def from_dense(cls, a: ndarray, by_columns: bool = False) -> Rows:
        """The elements that are not zero; with `by_columns` the rows are the matrix' columns."""
        made = _c.sparse_of_dense(a, by_columns)
        if made is not None:
            return cls(*made, a.shape[0 if by_columns else 1], True)
        a = a.T if by_columns else a
        rows, columns = a.shape
        mask = a != 0
        at = mask.ravel().nonzero()[0]
        t = index_dtype(rows, columns, at.size)
        if at.size == 0:
            return cls.empty(rows, columns, a.dtype, a.device)
        starts = bc.searchsorted(at, bc.arange(rows + 1, dtype=np.int64, device=a.device) * columns)
        return cls(a[mask], (at % columns).astype(t), starts.astype(t), columns, True)

    @classmethod
    def from_coordinates(cls, data: ndarray, row: ndarray, column: ndarray, rows: int, columns: int) -> Rows:
        """Elements at places, in any order; those at one place are added up."""
        return cls(*_c.sparse_compress(data, row, column, rows, columns), columns, True)

    def numbers(self) -> ndarray:
        """The row of each element."""
        return _c.sparse_expand(self.indptr, self.size)

    def with_data(self, data: ndarray) -> Rows:
        return Rows(data, self.indices, self.indptr, self.columns, self.canonical)

    def copy(self) -> Rows:
        return Rows(self.data.copy(), self.indices.copy(), self.indptr.copy(), self.columns, self.canonical)

    # ---- Order ----

    def is_sorted(self) -> bool:
        return bool(self.canonical) or _c.sparse_is_sorted(self.indices, self.indptr, self.columns, False)

    def is_canonical(self) -> bool:
        if self.canonical is None:
            self.canonical = _c.sparse_is_sorted(self.indices, self.indptr, self.columns)
        return self.canonical

    def sorted(self) -> Rows:
        """The same elements, each row's by ascending columns; stable."""
        if self.is_sorted():
            return self
        _, by_column = _c.sparse_group(self.indices, self.columns)
        _, order = _c.sparse_group(self.numbers()[by_column], self.count)
        order = by_column[order]
        return Rows(self.data[order], self.indices[order], self.indptr, self.columns)

    def summed(self) -> Rows:
        """The matrix in canonical form."""
        if self.is_canonical():
            return self
        return Rows.from_coordinates(self.data, self.numbers(), self.indices, self.count, self.columns)

    def where(self, keep: ndarray) -> Rows:
        """A copy of the elements of a mask."""
        data, indices, indptr = _c.sparse_keep(self.data, self.indices, self.indptr, self.columns, keep)
        return self.copy() if data.size == self.size else Rows(data, indices, indptr, self.columns, self.canonical)

    def nonzeros(self) -> Rows:
        made = _c.sparse_nonzeros(self.data, self.indices, self.indptr, self.columns)
        if made is None:
            return self.where(self.data != 0)
        return self if made[0].size == self.size else Rows(*made, self.columns, self.canonical)

    # ---- Shapes ----

    def transposed(self) -> Rows:
        """The rows of the transpose; they are sorted."""
        if self.size == 0:
            return Rows.empty(self.columns, self.count, self.data.dtype, self.device)
        return Rows(*_c.sparse_transpose(self.data, self.indices, self.indptr, self.columns), self.count, self.canonical or None)

    def keys(self) -> ndarray:
        """A number for each element's place, row by row, int64."""
        check_places(self.count, self.columns)
        return self.numbers().astype(np.int64) * self.columns + self.indices

    def dense(self, transposed: bool = False) -> ndarray:
        return _c.sparse_dense(self.data, self.indices, self.indptr, self.columns, self.canonical is True, transposed)

    def row_range(self, start: int, stop: int) -> Rows:
        begin, end = int(self.indptr[start]), int(self.indptr[stop])
        indptr = self.indptr[start : stop + 1] - begin
        return Rows(self.data[begin:end].copy(), self.indices[begin:end].copy(), indptr, self.columns, self.canonical)

    def column_range(self, start: int, stop: int) -> Rows:
        keep = (self.indices >= start) & (self.indices < stop)
        rows = self.where(keep)
        return Rows(rows.data, rows.indices - start, rows.indptr, stop - start, self.canonical)

    def take(self, at: ndarray) -> Rows:
        """The rows of these numbers, which are not negative."""
        rows = self
        if self.indptr.dtype.itemsize == 4 and index_dtype(at.size * min(self.size, self.columns)).itemsize == 8:
            rows = self.with_indices(np.dtype(np.int64))
        data, indices, indptr = _c.sparse_take(rows.data, rows.indices, rows.indptr, self.columns, at)
        return Rows(data, indices, indptr, self.columns, self.canonical).with_indices(index_dtype(data.size, self.columns, at.size))

    def lookup(self, row: ndarray, column: ndarray) -> ndarray:
        """The elements at places, zero where there are none."""
        rows = self.summed()
        return _c.sparse_lookup(rows.data, rows.indices, rows.indptr, self.columns, row, column)

    @classmethod
    def stacked(cls, parts: Sequence[Rows], dtype: Any) -> Rows:
        """Rows of the same length, one part below the other."""
        size, count, columns = sum(p.size for p in parts), sum(p.count for p in parts), parts[0].columns
        t = index_dtype(size, count, columns)
        data = bc.concatenate([p.data.astype(dtype, copy=False) for p in parts])
        indices = bc.concatenate([p.indices.astype(t, copy=False) for p in parts])
        ends = np.cumsum([0, *(p.size for p in parts)]).tolist()
        starts = [p.indptr[:-1].astype(t, copy=False) + end for p, end in zip(parts, ends[:-1], strict=True)]
        indptr = bc.concatenate([*starts, bc.full(1, size, t, device=data.device)])
        return cls(data, indices, indptr, columns, all(p.canonical for p in parts) or None)

    @classmethod
    def beside(cls, parts: Sequence[Rows], dtype: Any) -> Rows:
        """As many rows of each part, side by side."""
        lefts = np.cumsum([0, *(p.columns for p in parts)]).tolist()
        columns, count, n = lefts[-1], parts[0].count, len(parts)
        t = index_dtype(columns, count, sum(p.size for p in parts))
        shifted = lambda p, left: Rows(p.data, p.indices.astype(t) + left, p.indptr, columns, p.canonical)
        below = cls.stacked([shifted(*pair) for pair in zip(parts, lefts[:-1], strict=True)], dtype)
        order = (span(count, below.data)[:, None] + span(n, below.data)[None] * count).ravel()
        rows = below.take(order)
        return cls(rows.data, rows.indices, rows.indptr[::n].copy(), columns, rows.canonical)

    # ---- Arithmetic ----

    def alike(self, other: Rows) -> tuple[Rows, Rows]:
        """Both with one dtype of indices."""
        t = np.promote_types(self.indptr.dtype, other.indptr.dtype)
        return self.with_indices(t), other.with_indices(t)

    def with_indices(self, t: Any) -> Rows:
        if self.indices.dtype == t and self.indptr.dtype == t:
            return self
        return Rows(self.data, self.indices.astype(t), self.indptr.astype(t), self.columns, self.canonical)

    def joined(self, other: Rows, op: Callable[[ndarray, ndarray], ndarray]) -> Rows:
        """op of the elements of both, where at least one has an element; what is zero is dropped."""
        a, b = self.summed().alike(other.summed())
        if op is operator.add or op is operator.sub:
            parts = _c.sparse_add(a.data, a.indices, a.indptr, b.data, b.indices, b.indptr, self.columns, op is operator.sub)
            return Rows(*parts, self.columns, True).with_indices(index_dtype(parts[0].size, self.columns, self.count))
        x, y, indices, indptr = _c.sparse_union(a.data, a.indices, a.indptr, b.data, b.indices, b.indptr, self.columns)
        t = index_dtype(indices.size, self.columns, self.count)
        return Rows(op(x, y), indices, indptr, self.columns, True).with_indices(t).nonzeros()

    def with_elements(self, row: ndarray, column: ndarray, x: ndarray, stored: ndarray | None) -> tuple[Rows, bool]:
        """The canonical matrix with x at places, the last one where a place comes twice, and whether other places have elements than
        before; where `stored` is false the place becomes empty."""
        at = _c.sparse_places(self.indices, self.indptr, self.columns, row, column)
        there = at >= 0
        everywhere = bool(there.all())
        # As in SciPy, elements that are there are written in place.
        data = self.data if everywhere and not self.data.requires_grad else self.data.copy()
        if everywhere:
            data[at] = x
        else:
            data[at[there]] = x[there]
        made, n = self.with_data(data), self.size
        if everywhere and stored is None:
            return made, False
        missing = ~there if stored is None else ~there & stored
        if bool(missing.any()):
            made = made.with_new(row[missing], column[missing], x[missing])
        if stored is not None:
            empty = bc.zeros(made.size, bool, device=self.device)
            at = _c.sparse_places(made.indices, made.indptr, self.columns, row, column)
            empty[at[at >= 0]] = ~stored[at >= 0]
            made = made.where(~empty)
        return made, made.size != n

    def with_new(self, row: ndarray, column: ndarray, x: ndarray) -> Rows:
        """The canonical matrix with elements where it has none, the last one where a place comes twice."""
        keys = row.astype(np.int64) * self.columns + column
        order = bc.argsort(keys, kind="stable")
        keys = keys[order]
        last = order[bc.concatenate([keys[1:] != keys[:-1], bc.ones(1, bool, device=keys.device)])]
        t = np.promote_types(self.indices.dtype, index_dtype(self.size + last.size))
        new = Rows.from_coordinates(x[last], row[last].astype(t), column[last].astype(t), self.count, self.columns)
        old = self.with_indices(t)
        a, b, indices, indptr = _c.sparse_union(old.data, old.indices, old.indptr, new.data, new.indices, new.indptr, self.columns)
        # One of the two is zero in each place, so that their bits together are the other's.
        bits = f"u{min(a.dtype.itemsize, 8)}"
        data = (a.view(bits) | b.view(bits)).view(a.dtype)
        return Rows(data, indices, indptr, self.columns, True).with_indices(index_dtype(data.size, self.count, self.columns))

    def times(self, x: ndarray, transposed: bool = False) -> ndarray:
        """The product with a dense vector or matrix, or the transpose's."""
        return _c.sparse_product(self.data, self.indices, self.indptr, self.columns, x, transposed)

    def matmul(self, other: Rows) -> Rows:
        a, b = self.alike(other)
        wide = a.indptr.dtype.itemsize == 8 or index_dtype(self._products(b)).itemsize == 8
        a, b = (a.with_indices(np.dtype(np.int64)), b.with_indices(np.dtype(np.int64))) if wide else (a, b)
        data, indices, indptr = _c.sparse_matmul(a.data, a.indices, a.indptr, a.columns, b.data, b.indices, b.indptr, b.columns)
        t = index_dtype(data.size, self.count, other.columns)
        return Rows(data, indices.astype(t), indptr.astype(t), other.columns, True).nonzeros()

    def _products(self, other: Rows) -> int:
        """At least as many as the product of the matrices has elements."""
        most = self.count * other.columns
        if most <= _INT32_MAX:
            return most
        counts = (other.indptr[1:] - other.indptr[:-1])[self.indices]
        return min(most, int(counts.sum(dtype=np.int64)))
