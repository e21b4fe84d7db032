"""Formats in which matrices are put together, element by element: dictionaries and lists of Python in host memory.

What computes with them converts them to compressed rows first; those live on the device that is the default one then."""

from __future__ import annotations

import itertools
from bisect import bisect_left
from collections.abc import Callable
from typing import Any

import numpy as np

import broadcloth as bc

from ... import _broadcloth as _c
from ..._broadcloth import ndarray
from ._base import dense_operand, is_scalar, is_shape, issparse, scipy_sparse, shape_of, spbase
from ._index import fitted, parse, region
from ._rows import index_dtype


class _assembled(spbase):
    """What dictionaries and lists share: elements that are changed in host memory."""

    _dtype: np.dtype
    _where: Any

    def __init__(
        self, arg1: Any, shape: Any = None, dtype: Any = None, copy: bool = False, *, maxprint: int | None = None, device: Any = None
    ) -> None:
        spbase.__init__(self, arg1, maxprint=maxprint)
        dimensions = (1, 2) if self._is_array() and self._format == "dok" else (2,)
        self._where = device
        if isinstance(arg1, tuple) and is_shape(arg1, dimensions):
            self._shape = shape_of(arg1, dimensions)
            self._dtype = np.dtype(np.float64 if dtype is None else dtype)
            self._clear()
            return
        if not (issparse(arg1) or scipy_sparse(arg1)):
            if isinstance(arg1, tuple):
                raise TypeError("unrecognized lil_array constructor usage" if self._format == "lil" else "Invalid input format.")
            arg1 = dense_operand(arg1, device)
            if arg1 is None:
                raise TypeError("unsupported matrix type")
            self._require_dimensions(arg1 if self._is_array() else bc.atleast_2d(arg1), dimensions)
        coo = self._kind("coo")(arg1, shape=shape, device=device)
        self._where = coo.device
        if dtype is not None:
            coo = coo.astype(dtype)
        self._take_coo(coo)

    def _clear(self) -> None:
        raise NotImplementedError

    def _put(self, i: int, j: int, value: Any) -> None:
        raise NotImplementedError

    def _find(self, i: int, j: int) -> Any:
        raise NotImplementedError

    def _take_coo(self, coo: Any) -> None:
        csr = coo.tocsr(copy=True)
        csr.sum_duplicates()
        self._shape, self._dtype, self._where = coo.shape, coo.dtype, coo.device
        self._clear()
        self._fill(csr)

    def _fill(self, csr: Any) -> None:
        """Takes the elements of compressed rows that are canonical."""
        raise NotImplementedError

    @classmethod
    def _from_coo(cls, coo: Any) -> Any:
        made = object.__new__(cls)
        made.maxprint = coo.maxprint
        made._take_coo(coo)
        return made

    @classmethod
    def _from_csr(cls, csr: Any) -> Any:
        return cls._from_coo(csr)

    @classmethod
    def _from_scipy(cls, x: Any, device: Any) -> Any:
        from ._base import from_scipy

        return cls._from_coo(from_scipy(x.tocoo(), device))

    @property
    def dtype(self) -> np.dtype:
        return self._dtype

    @property
    def device(self) -> Any:
        """Where the matrix goes when it is computed with."""
        return bc.zeros(0).device if self._where is None else self._where

    def copy(self) -> Any:
        return self._from_coo(self.tocoo()) if self.nnz else type(self)(self._shape, dtype=self._dtype, device=self._where)

    def astype(self, dtype: Any, casting: Any = "unsafe", copy: bool = True) -> Any:
        return self._from_coo(self.tocoo().astype(dtype, casting=casting))

    def _mapped(self, f: Callable[[ndarray], ndarray]) -> Any:
        return self._from_coo(self.tocoo()._mapped(f))

    def transpose(self, axes: Any = None, copy: bool = False) -> Any:
        return self._from_coo(self.tocoo().transpose(axes))

    def get(self) -> Any:
        """The matrix as SciPy's, of the same class, in host memory."""
        return self._scipy_class()(self.tocoo().get())

    def to_device(self, device: Any) -> Any:
        made = self.copy()
        made._where = device
        return made

    def reshape(self, *args: Any, order: str = "C", copy: bool = False) -> Any:
        made = self.tocoo().reshape(*args, order=order)
        return self if made.shape == self._shape and not copy else self._from_coo(made)

    def setdiag(self, values: Any, k: int = 0) -> None:
        csr = self.tocsr()
        csr.setdiag(values, k)
        self._take_coo(csr.tocoo())

    def __reduce__(self) -> Any:
        return _unpickled, (type(self), self.get())

    # ---- Elements ----

    def _place_of(self, key: Any) -> tuple[int, int] | None:
        """The place that a key of plain numbers means; None for any other key."""
        if type(key) is not tuple or len(key) != 2 or type(key[0]) is not int or type(key[1]) is not int or self.ndim != 2:
            return None
        (i, j), (rows, columns) = key, self._shape
        return (i % rows, j % columns) if -rows <= i < rows and -columns <= j < columns else None

    def __getitem__(self, key: Any) -> Any:
        place = self._place_of(key)
        if place is not None:
            return self._dtype.type(self._find(*place))
        index = parse(key, self.shape, self.device)
        if all(isinstance(k, int) for k in index):
            return self._dtype.type(self._find(*((0, *index) if self.ndim == 1 else index)))
        return self._part(key, index)

    def _part(self, key: Any, index: tuple[Any, ...]) -> Any:
        """The elements of an index that is no single place."""
        found = self.tocsr()[key]
        if not issparse(found):
            found = self._kind("coo")(found)
        return found.asformat(self._format) if found.ndim == 2 else found

    def __setitem__(self, key: Any, value: Any) -> None:
        place = self._place_of(key)
        if place is not None and is_scalar(value):
            self._put(place[0], place[1], self._dtype.type(value))
            return
        index = parse(key, self.shape, self.device)
        single = all(isinstance(k, int) for k in index)
        if single and is_scalar(value):
            self._put(index[0] if self.ndim == 2 else 0, index[-1], self._dtype.type(value))
            return
        if single and not issparse(value) and np.size(value) != 1:
            raise ValueError("setting an array element with a sequence.")
        i, j = region(key, self.shape, self.device)
        value = self._adopt(value)
        if issparse(value):
            value = value.toarray()
        x = fitted(value, i.shape, self._dtype, self.device)
        if i.size:
            self._store(np.atleast_2d(i.get()), np.atleast_2d(j.get()), np.atleast_2d(x.astype(self._dtype).get()))

    def _store(self, i: np.ndarray, j: np.ndarray, x: np.ndarray) -> None:
        """Puts x at places, the last one where a place comes twice."""
        for row, column, value in zip(i.ravel().tolist(), j.ravel().tolist(), x.ravel(), strict=True):
            self._put(row, column, value)


class _dok(_assembled):
    """A dictionary from places to elements."""

    _format = "dok"
    _dict: dict[tuple[int, int], Any]

    def _clear(self) -> None:
        self._dict = {}

    def _fill(self, csr: Any) -> None:
        coo = csr.tocoo()
        self._dict = dict(zip(zip(coo.row.tolist(), coo.col.tolist(), strict=True), coo.data.get(), strict=True))

    def _getnnz(self, axis: Any = None) -> Any:
        return len(self._dict) if axis is None else self.tocoo()._getnnz(axis)

    def tocoo(self, copy: bool = False) -> Any:
        n = len(self._dict)
        places = np.fromiter(itertools.chain.from_iterable(self._dict), np.int64, 2 * n).reshape(n, 2).T
        data = bc.asarray(np.fromiter(self._dict.values(), self._dtype, n), device=self._where)
        return self._kind("coo")((data, tuple(places) if self.ndim == 2 else (places[1],)), shape=self._shape)

    def tocsr(self, copy: bool = False) -> Any:
        return self.tocoo().tocsr()

    def _put(self, i: int, j: int, value: Any) -> None:
        if value == 0:
            self._dict.pop((i, j), None)
        else:
            self._dict[i, j] = value

    def _find(self, i: int, j: int) -> Any:
        return self._dict.get((i, j), 0)

    def _place(self, key: Any) -> tuple[int, int]:
        key = key if isinstance(key, tuple) else (key,)
        return (0, *key) if self.ndim == 1 else key  # type: ignore[return-value]

    def _key(self, place: tuple[int, int]) -> Any:
        return place if self.ndim == 2 else place[1]

    def __len__(self) -> int:
        return len(self._dict)

    def __contains__(self, key: Any) -> bool:
        return self._place(key) in self._dict

    def __delitem__(self, key: Any) -> None:
        del self._dict[self._place(key)]

    def get(self, key: Any = None, default: Any = 0.0) -> Any:
        """With a place its element, or the default; without one the matrix as SciPy's, in host memory."""
        return _assembled.get(self) if key is None else self._dict.get(self._place(key), default)

    def keys(self) -> Any:
        """The places that have an element."""
        return {self._key(p): None for p in self._dict}.keys()

    def values(self) -> Any:
        """The elements."""
        return self._dict.values()

    def items(self) -> Any:
        """Places and elements."""
        return {self._key(p): v for p, v in self._dict.items()}.items()

    def clear(self) -> None:
        """Removes all elements."""
        self._dict.clear()

    def pop(self, key: Any, default: Any = None, /) -> Any:
        """Removes a place's element and gives it, or the default where there is none."""
        return self._dict.pop(self._place(key), default)

    def popitem(self) -> tuple[Any, Any]:
        """Removes some place's element and gives both."""
        place, value = self._dict.popitem()
        return self._key(place), value

    def setdefault(self, key: Any, default: Any = None, /) -> Any:
        """A place's element, which becomes the default where there is none."""
        place = self._place(key)
        if place not in self._dict:
            self[key] = default
        return self._dict.get(place, 0)

    def update(self, values: Any) -> None:
        """SciPy's has no such update either: elements are assigned by index, which checks it."""
        raise NotImplementedError("Direct update to DOK sparse format is not allowed.")

    @classmethod
    def fromkeys(cls, iterable: Any, value: Any = 1, /) -> Any:
        """A matrix with one value at places, as large as they ask for."""
        places = [p if isinstance(p, tuple) else (p,) for p in iterable]
        shape = tuple(max(c) + 1 for c in zip(*places, strict=True))
        made = cls(shape, dtype=np.asarray(value).dtype)
        for place in places:
            made[place if len(place) > 1 else place[0]] = value
        return made

    def todok(self, copy: bool = False) -> Any:
        return self.copy() if copy else self

    def tolil(self, copy: bool = False) -> Any:
        return self._kind("lil")._from_coo(self.tocoo())


class _lil(_assembled):
    """Two lists for each row: `rows[i]` the columns, ascending, and `data[i]` the elements."""

    _format = "lil"
    rows: Any

    def _clear(self) -> None:
        n = self._shape[0]
        self.rows, self.data = (np.fromiter(([] for _ in range(n)), object, n) for _ in range(2))

    def _fill(self, csr: Any) -> None:
        ends, columns, values = csr.indptr.tolist(), csr.indices.tolist(), csr.data.tolist()
        for i, (begin, end) in enumerate(itertools.pairwise(ends)):
            self.rows[i], self.data[i] = columns[begin:end], values[begin:end]

    def _getnnz(self, axis: Any = None) -> Any:
        return sum(map(len, self.rows)) if axis is None else self.tocsr()._getnnz(axis)

    def tocsr(self, copy: bool = False) -> Any:
        ends = np.cumsum([0, *map(len, self.rows)])
        n = int(ends[-1])
        t = index_dtype(n, *self._shape)
        to = lambda a: bc.asarray(a, device=self._where)
        parts = (to(_flat(self.data, self._dtype, n)), to(_flat(self.rows, t, n)), to(ends.astype(t)))
        return self._kind("csr")(parts, shape=self._shape)

    def tocoo(self, copy: bool = False) -> Any:
        return self.tocsr().tocoo()

    def copy(self) -> Any:
        return self._of_lists(self.rows, self.data)

    def _of_lists(self, rows: Any, data: Any) -> Any:
        """A matrix of the same kind with copies of some rows."""
        made = object.__new__(type(self))
        made.maxprint, made._shape, made._dtype, made._where = self.maxprint, (len(rows), self._shape[1]), self._dtype, self._where
        made.rows, made.data = (np.fromiter(map(list.copy, lists), object, len(rows)) for lists in (rows, data))
        return made

    def _part(self, key: Any, index: tuple[Any, ...]) -> Any:
        i, j = index
        if isinstance(i, ndarray) and (i.ndim != 1 or isinstance(j, ndarray)):
            return super()._part(key, index)
        numbers = lambda k: [k] if isinstance(k, int) else list(range(k.start, k.stop, k.step)) if isinstance(k, slice) else k.tolist()
        chosen = numbers(i)
        made = self._of_lists([self.rows[k] for k in chosen], [self.data[k] for k in chosen])
        if not (isinstance(j, slice) and j == slice(0, self._shape[1], 1)):
            if isinstance(j, ndarray) and j.ndim != 1:
                return super()._part(key, index)
            made = made.tocsr()[:, numbers(j)].tolil()
        if self._is_array() and (isinstance(i, int) or isinstance(j, int)):
            return made.tocoo().reshape(made.shape[0] * made.shape[1])
        return made

    def _store(self, i: np.ndarray, j: np.ndarray, x: np.ndarray) -> None:
        if (i != i[:, :1]).any():
            super()._store(i, j, x)
            return
        if (np.diff(j) == 1).all():
            for row, first, values in zip(i[:, 0].tolist(), j[:, 0].tolist(), x, strict=True):
                self._store_range(row, first, values)
            return
        for row, columns, values in zip(i[:, 0].tolist(), j.tolist(), x.tolist(), strict=True):
            elements = dict(zip(self.rows[row], self.data[row], strict=True))
            elements.update(zip(columns, values, strict=True))
            kept = sorted(item for item in elements.items() if item[1] != 0)
            self.rows[row], self.data[row] = [k for k, _ in kept], [v for _, v in kept]

    def _store_range(self, row: int, first: int, values: np.ndarray) -> None:
        """Puts values into neighbouring columns of a row."""
        columns = self.rows[row]
        begin, end = bisect_left(columns, first), bisect_left(columns, first + values.size)
        kept = np.flatnonzero(values)
        columns[begin:end] = (kept + first).tolist()
        self.data[row][begin:end] = values[kept].tolist()

    def _put(self, i: int, j: int, value: Any) -> None:
        columns, values = self.rows[i], self.data[i]
        at = bisect_left(columns, j)
        there = at < len(columns) and columns[at] == j
        if value == 0:
            if there:
                del columns[at], values[at]
        elif there:
            values[at] = value
        else:
            columns.insert(at, j)
            values.insert(at, value)

    def _find(self, i: int, j: int) -> Any:
        columns = self.rows[i]
        at = bisect_left(columns, j)
        return self.data[i][at] if at < len(columns) and columns[at] == j else 0

    def getrow(self, i: int) -> Any:
        """A copy of a row, as a matrix of one row."""
        return self._kind("lil")(self.tocsr()[[i]])

    def getrowview(self, i: int) -> Any:
        """A row as a matrix that shares the row's lists."""
        made = type(self)((1, self._shape[1]), dtype=self._dtype)
        made.rows[0], made.data[0] = self.rows[i], self.data[i]
        return made

    def tolil(self, copy: bool = False) -> Any:
        return self.copy() if copy else self


def _flat(lists: Any, dtype: np.dtype, n: int) -> np.ndarray:
    """The elements of lists one after another."""
    wide = np.dtype(np.float64 if dtype.kind == "f" else np.int64)
    if dtype.kind in "fi":
        made = np.empty(n, wide)
        if _c.sparse_flatten(list(lists), made, dtype.kind == "f"):
            return made.astype(dtype, copy=False)
    return np.fromiter(itertools.chain.from_iterable(lists), dtype, n)


def _unpickled(kind: Any, theirs: Any) -> Any:
    return kind(theirs)
