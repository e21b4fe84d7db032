"""Formats in which matrices are put together, element by element: dictionaries and lists of Python in host memory.

What computes with them converts them to compressed rows first; those live on the device that is the default one then."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import broadcloth as bc

from ..._broadcloth import ndarray
from ._base import dense_operand, is_scalar, is_shape, issparse, scipy_sparse, shape_of, spbase
from ._index import parse


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

    def _items(self) -> Iterator[tuple[tuple[int, int], Any]]:
        raise NotImplementedError

    def _put(self, i: int, j: int, value: Any) -> None:
        raise NotImplementedError

    def _find(self, i: int, j: int) -> Any:
        raise NotImplementedError

    def _take_coo(self, coo: Any) -> None:
        coo = coo.copy()
        coo.sum_duplicates()
        self._shape, self._dtype, self._where = coo.shape, coo.dtype, coo.device
        self._clear()
        for i, j, v in zip(coo.row.tolist(), coo.col.tolist(), coo.data.get(), strict=True):
            self._put(i, j, v)

    @classmethod
    def _from_coo(cls, coo: Any) -> Any:
        made = object.__new__(cls)
        made.maxprint = coo.maxprint
        made._take_coo(coo)
        return made

    @classmethod
    def _from_csr(cls, csr: Any) -> Any:
        return cls._from_coo(csr.tocoo())

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

    def _getnnz(self, axis: Any = None) -> Any:
        if axis is not None:
            return self.tocoo()._getnnz(axis)
        return sum(1 for _ in self._items())

    def tocoo(self, copy: bool = False) -> Any:
        items = list(self._items())
        row = np.array([p[0] for p, _ in items], np.int64)
        col = np.array([p[1] for p, _ in items], np.int64)
        data = bc.asarray(np.array([v for _, v in items], self._dtype), device=self._where)
        places = (row, col) if self.ndim == 2 else (col,)
        return self._kind("coo")((data, places), shape=self._shape)

    def tocsr(self, copy: bool = False) -> Any:
        return self.tocoo().tocsr()

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

    def __getitem__(self, key: Any) -> Any:
        index = parse(key, self.shape, self.device)
        if all(isinstance(k, int) for k in index):
            return self._dtype.type(self._find(*((0, *index) if self.ndim == 1 else index)))
        found = self.tocsr()[key]
        if not issparse(found):
            found = self._kind("coo")(found)
        return found.asformat(self._format) if found.ndim == 2 else found

    def __setitem__(self, key: Any, value: Any) -> None:
        index = parse(key, self.shape, self.device)
        if all(isinstance(k, int) for k in index) and is_scalar(value):
            i, j = (0, *index) if self.ndim == 1 else index
            self._put(i, j, self._dtype.type(value))
            return
        if all(isinstance(k, int) for k in index) and not issparse(value) and np.size(value) != 1:
            raise ValueError("setting an array element with a sequence.")
        csr = self.tocsr()
        csr._warn_of_structure = lambda: None
        csr[key] = value
        coo = csr.tocoo()
        coo.eliminate_zeros()
        self._take_coo(coo)


class _dok(_assembled):
    """A dictionary from places to elements."""

    _format = "dok"
    _dict: dict[tuple[int, int], Any]

    def _clear(self) -> None:
        self._dict = {}

    def _items(self) -> Iterator[tuple[tuple[int, int], Any]]:
        return iter(self._dict.items())

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
        self.rows = np.empty(self._shape[0], object)
        self.data = np.empty(self._shape[0], object)
        for i in range(self._shape[0]):
            self.rows[i], self.data[i] = [], []

    def _items(self) -> Iterator[tuple[tuple[int, int], Any]]:
        for i, (columns, values) in enumerate(zip(self.rows, self.data, strict=True)):
            for j, v in zip(columns, values, strict=True):
                yield (i, j), v

    def _put(self, i: int, j: int, value: Any) -> None:
        from bisect import bisect_left

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
        from bisect import bisect_left

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


def _unpickled(kind: Any, theirs: Any) -> Any:
    return kind(theirs)
