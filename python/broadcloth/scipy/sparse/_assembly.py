"""Formats in which matrices are put together, element by element: dictionaries and lists of Python in host memory.

What computes with them converts them to compressed rows first; those live on the device that is the default one then."""

from __future__ import annotations

import itertools
from bisect import bisect_left
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

import broadcloth as bc

from ... import _broadcloth as _c
from ..._broadcloth import ndarray
from ._base import dense_operand, host_operand, is_scalar, is_shape, issparse, normal_axis, scipy_sparse, shape_of, spbase, sum_dtype, swaps
from ._index import HOST, fitted, host_numbers, parse, region
from ._rows import Rows, index_dtype


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
        if issparse(arg1) and arg1.format == self._format and arg1.ndim in dimensions and shape in (None, arg1.shape):
            # As with SciPy's, both have one dictionary, or the same lists, unless a copy is wanted.
            same = arg1.astype(self._dtype_of(arg1, dtype), copy=False)
            self._share(same.copy() if copy and same is arg1 else same)
            return
        coo = self._kind("coo")(arg1, shape=shape, device=device)
        self._where = coo.device
        if dtype is not None:
            coo = coo.astype(dtype)
        self._take_coo(coo)

    @staticmethod
    def _dtype_of(a: Any, dtype: Any) -> np.dtype:
        return a.dtype if dtype is None else np.dtype(dtype)

    def _share(self, other: Any) -> None:
        """Becomes a matrix of the same format, with the same elements in memory."""
        maxprint = self.maxprint
        self.__dict__.update(other.__dict__)
        self.maxprint = maxprint

    def _like(self, shape: tuple[int, ...], dtype: np.dtype | None = None) -> Any:
        """A matrix of the same kind that has no elements yet, not even rows for them."""
        made = object.__new__(type(self))
        made.maxprint, made._shape, made._dtype, made._where = self.maxprint, shape, dtype or self._dtype, self._where
        return made

    def _values(self) -> np.ndarray:
        """All elements, in the order of the dictionary or of the lists."""
        raise NotImplementedError

    def _with_values(self, values: ndarray) -> Any:
        """A copy with other elements, in that order."""
        raise NotImplementedError

    def _on_device(self, host: np.ndarray) -> ndarray:
        return bc.asarray(host, device=self._where)

    def _clear(self) -> None:
        raise NotImplementedError

    def _put(self, i: int, j: int, value: Any) -> None:
        raise NotImplementedError

    def _find(self, i: int, j: int) -> Any:
        raise NotImplementedError

    def _take_coo(self, coo: Any) -> None:
        csr = coo.tocsr()
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

    def astype(self, dtype: Any, casting: Any = "unsafe", copy: bool = True) -> Any:
        dtype = np.dtype(dtype)
        if dtype == self._dtype:
            return self.copy() if copy else self
        return self._with_values(self._on_device(self._values()).astype(dtype, casting=casting))

    def _mapped(self, f: Callable[[ndarray], ndarray]) -> Any:
        return self._with_values(f(self._on_device(self._values())))

    def sum(self, axis: Any = None, dtype: Any = None, out: Any = None) -> Any:
        if normal_axis(axis, self.ndim) is not None and self.ndim == 2:
            return self.tocsr().sum(axis, dtype, out)
        t = sum_dtype(self._dtype) if dtype is None else np.dtype(dtype)
        return self._deliver_whole(self._on_device(self._values()).sum(dtype=t), out)

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

    # As SciPy's, these give compressed rows.
    def __abs__(self) -> Any:
        return abs(self.tocsr())

    def __round__(self, ndigits: int = 0) -> Any:
        return round(self.tocsr(), ndigits)

    def power(self, n: Any, dtype: Any = None) -> Any:
        return self.tocsr().power(n, dtype)

    def conjugate(self, copy: bool = True) -> Any:
        return self.tocsr().conjugate() if self._dtype.kind == "c" else spbase.conjugate(self, copy)

    conj = conjugate

    @property
    def real(self) -> Any:
        return self.tocsr().real

    @property
    def imag(self) -> Any:
        return self.tocsr().imag

    def setdiag(self, values: Any, k: int = 0) -> None:
        rows, columns = self._shape2
        if (k > 0 and k >= columns) or (k < 0 and -k >= rows):
            raise ValueError("k exceeds array dimensions")
        x = host_operand(values)
        if x is None or x.ndim > 1:
            raise ValueError("values must be 0-d or 1-d")
        n = min(rows + min(k, 0), columns - max(k, 0))
        x = np.broadcast_to(x, (n,)) if x.ndim == 0 else x[:n]
        for at, value in enumerate(x.astype(self._dtype).tolist()):
            self._put(at + max(-k, 0), at + max(k, 0), value)

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
        index = parse(key, self.shape, HOST)
        if all(isinstance(k, int) for k in index):
            return self._dtype.type(self._find(*((0, *index) if self.ndim == 1 else index)))
        return self._part(key, index)

    def _part(self, key: Any, index: tuple[Any, ...]) -> Any:
        """The elements of an index that is no single place."""
        if len(index) == 2 and all(isinstance(k, np.ndarray) and k.size for k in index) and index[0].shape == index[1].shape:
            values = [self._find(i, j) for i, j in zip(index[0].ravel().tolist(), index[1].ravel().tolist(), strict=True)]
            dense = self._on_device(np.array(values, self._dtype).reshape(index[0].shape))
            places = self._kind("coo")(dense)
            return places.asformat(self._format) if places.ndim == 2 else places
        found = self.tocsr()[key]
        if not issparse(found):
            found = self._kind("coo")(found)
        return found.asformat(self._format) if found.ndim == 2 else found

    def __setitem__(self, key: Any, value: Any) -> None:
        place = self._place_of(key)
        if place is not None and is_scalar(value):
            self._put(place[0], place[1], self._dtype.type(value))
            return
        index = parse(key, self.shape, HOST)
        single = all(isinstance(k, int) for k in index)
        if single and is_scalar(value):
            self._put(index[0] if self.ndim == 2 else 0, index[-1], self._dtype.type(value))
            return
        if single and not issparse(value) and np.size(value) != 1:
            raise ValueError("setting an array element with a sequence.")
        i, j = region(index, HOST)
        value = self._adopt(value)
        if issparse(value):
            value = value.toarray()
        x = fitted(value, i.shape, self._dtype, HOST)
        if i.size:
            self._store(np.atleast_2d(i), np.atleast_2d(j), np.atleast_2d(x.astype(self._dtype)))

    def _store(self, i: np.ndarray, j: np.ndarray, x: np.ndarray) -> None:
        """Puts x at places, the last one where a place comes twice."""
        for row, column, value in zip(i.ravel().tolist(), j.ravel().tolist(), x.ravel().tolist(), strict=True):
            self._put(row, column, value)


class _dok(_assembled):
    """A dictionary from places to elements."""

    _format = "dok"
    _dict: dict[tuple[int, int], Any]

    def _clear(self) -> None:
        self._dict = {}

    def _fill(self, csr: Any) -> None:
        row = csr._own_rows().numbers()
        self._dict = dict(zip(zip(row.tolist(), csr.indices.tolist(), strict=True), csr.data.get(), strict=True))

    def _values(self) -> np.ndarray:
        return np.fromiter(self._dict.values(), self._dtype, len(self._dict))

    def _with_values(self, values: ndarray) -> Any:
        made = self._like(self._shape, values.dtype)
        made._dict = dict(zip(self._dict, values.get(), strict=True))
        return made

    def copy(self) -> Any:
        made = self._like(self._shape)
        made._dict = self._dict.copy()
        return made

    def __add__(self, other: Any) -> Any:
        """The sum, in a dictionary too; of a number with every element."""
        if is_scalar(other):
            return self._kind("dok")(self.toarray() + other)
        made = super().__add__(other)
        return made.todok() if issparse(made) else made

    __radd__ = __add__

    def _update(self, op: Callable[[Any, Any], Any], factor: Any) -> None:
        values = op(self._on_device(self._values()), factor)
        self._dict.update(zip(self._dict, values.get(), strict=True))

    def transpose(self, axes: Any = None, copy: bool = False) -> Any:
        if self.ndim == 1 or (axes is not None and not swaps(axes)):
            return spbase.transpose(self, axes, copy)
        made = self._like(self._shape[::-1])
        made._dict = {(j, i): value for (i, j), value in self._dict.items()}
        return made

    def _getnnz(self, axis: Any = None) -> Any:
        return len(self._dict) if axis is None else self.tocoo()._getnnz(axis)

    def count_nonzero(self, axis: Any = None) -> Any:
        return sum(map(bool, self._dict.values())) if axis is None else super().count_nonzero(axis)

    def tocoo(self, copy: bool = False) -> Any:
        n = len(self._dict)
        places = np.fromiter(itertools.chain.from_iterable(self._dict), np.int64, 2 * n).reshape(n, 2).T
        row, column = self._on_device(places.astype(index_dtype(n, *self._shape)))
        return self._kind("coo")._from_coordinates(self._on_device(self._values()), row, column, self._shape)

    def _part(self, key: Any, index: tuple[Any, ...]) -> Any:
        outer = _outer(index)
        if outer is None:
            return super()._part(key, index)
        rows, columns = (_places_of(k) for k in outer)
        made = self._like((len(rows), len(columns)))
        if len(self._dict) > len(rows) * len(columns):
            find = self._dict.get
            made._dict = {(r, c): v for r, i in enumerate(rows) for c, j in enumerate(columns) if (v := find((i, j))) is not None}
        else:
            down, along = _numbered(rows), _numbered(columns)
            parts = ((down[i], along[j], v) for (i, j), v in self._dict.items() if i in down and j in along)
            made._dict = {(r, c): v for places, others, v in parts for r in places for c in others}
        if self._is_array() and any(isinstance(k, int) for k in index):
            return made.tocoo().reshape(len(rows) * len(columns))
        return made

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
        if key is None:
            return _assembled.get(self)
        index = key if isinstance(key, tuple) else (key,)
        if len(index) != self.ndim:
            raise IndexError(f"Index {key} length needs to match self.shape")
        if not all(hasattr(i, "__index__") for i in index):
            raise IndexError("Index must be or consist of integers.")
        if not all(-n <= i < n for i, n in zip(index, self._shape, strict=True)):
            raise IndexError("Index out of bounds.")
        place = tuple(int(i) % n for i, n in zip(index, self._shape, strict=True))
        return self._dict.get(self._place(place), default)

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

    def pop(self, key: Any, /, *default: Any) -> Any:
        """Removes a place's element and gives it; where there is none, the default, or KeyError without one."""
        place = self._place(key)
        if place not in self._dict and not default:
            raise KeyError(key)
        return self._dict.pop(place, *default)

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

    def reshape(self, *args: Any, order: str = "C", copy: bool = False) -> Any:
        made = self.tocoo().reshape(*args, order=order)
        if made.shape == self._shape:
            return self.copy() if copy else self
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

    def _values(self) -> np.ndarray:
        return _flat(self.data, self._dtype, self._getnnz())

    def _with_values(self, values: ndarray) -> Any:
        rest = iter(values.tolist())
        return self._of_lists(map(list.copy, self.rows), [[*itertools.islice(rest, len(row))] for row in self.rows], values.dtype)

    def _getnnz(self, axis: Any = None) -> Any:
        return sum(map(len, self.rows.tolist())) if axis is None else self.tocsr()._getnnz(axis)

    def count_nonzero(self, axis: Any = None) -> Any:
        return sum(sum(map(bool, row)) for row in self.data.tolist()) if axis is None else super().count_nonzero(axis)

    def tocsr(self, copy: bool = False) -> Any:
        ends = np.empty(len(self.rows) + 1, np.int64)
        rows = self.rows.tolist()
        _c.sparse_list_ends(rows, ends)
        n, columns = int(ends[-1]), self._shape[1]
        t = index_dtype(n, *self._shape)
        indices = np.empty(n, t)
        if not _c.sparse_flatten(rows, indices, False):
            wide = _flat(rows, np.dtype(np.int64), n)
            self._check_columns(wide, columns)
            indices = wide.astype(t)
        self._check_columns(indices, columns)
        to = self._on_device
        made = Rows(to(_flat(self.data, self._dtype, n)), to(indices), to(ends.astype(t)), columns)
        return self._kind("csr")._from_rows_of(made, self._shape)

    @staticmethod
    def _check_columns(indices: np.ndarray, columns: int) -> None:
        # Read as numbers without a sign, negative ones are beyond the last column as well.
        if indices.size and indices.view(f"u{indices.itemsize}").max() >= columns:
            raise ValueError(f"indices must be < {columns}" if indices.max() >= columns else "indices must be >= 0")

    def tocoo(self, copy: bool = False) -> Any:
        return self.tocsr().tocoo(copy=False)

    def copy(self) -> Any:
        return self._of_lists(map(list.copy, self.rows), map(list.copy, self.data))

    def __neg__(self) -> Any:
        return -self.tocsr()

    def _take(self, result: Any) -> Any:
        """Takes a result's elements in the matrix' own dtype, as SciPy's updates do; matrices with the same lists keep those."""
        made = self._kind("lil")(result, dtype=self._dtype)
        self.rows, self.data = made.rows, made.data
        return self

    def __iadd__(self, other: Any) -> Any:
        return self._take(self + other)

    def __isub__(self, other: Any) -> Any:
        return self._take(self - other)

    def __imul__(self, other: Any) -> Any:
        return self._take(self * other) if is_scalar(other) else NotImplemented

    def __itruediv__(self, other: Any) -> Any:
        return self._take(self / other) if is_scalar(other) else NotImplemented

    def transpose(self, axes: Any = None, copy: bool = False) -> Any:
        if axes is not None and not swaps(axes):
            return spbase.transpose(self, axes, copy)
        csr = self.tocsr()
        return self._kind("lil")._from_csr(csr.transpose().tocsr())

    def _of_lists(self, rows: Iterable[Any], data: Iterable[Any], dtype: np.dtype | None = None, columns: int | None = None) -> Any:
        """A matrix of the same kind of lists that are its own."""
        lists = [*rows]
        made = self._like((len(lists), self._shape[1] if columns is None else columns), dtype)
        made.rows, made.data = np.fromiter(lists, object, len(lists)), np.fromiter(data, object, len(lists))
        return made

    def _part(self, key: Any, index: tuple[Any, ...]) -> Any:
        outer = _outer(index)
        if outer is None:
            return super()._part(key, index)
        i, j = outer
        chosen = host_numbers(i).tolist()
        rows, data, columns = _columns_of([self.rows[k] for k in chosen], [self.data[k] for k in chosen], j, self._shape[1])
        if not (self._is_array() and any(isinstance(k, int) for k in index)):
            return self._of_lists(rows, data, columns=columns)
        # A vector: one of the two axes is gone.
        count = [*map(len, rows)]
        places = rows[0] if isinstance(index[0], int) else [k for k, n in enumerate(count) if n]
        n, length = sum(count), columns if isinstance(index[0], int) else len(rows)
        values = self._on_device(_flat(data, self._dtype, n))
        return self._kind("coo")._of_vector(values, self._on_device(np.array(places, index_dtype(n, length))), length, True)

    def __setitem__(self, key: Any, value: Any) -> None:
        place = self._neighbours(key)
        if place is None or not self._set_neighbours(*place, value):
            rows = self._column_of(key)
            if rows is None or not self._set_column(rows, key[1], value):
                super().__setitem__(key, value)

    def _column_of(self, key: Any) -> slice | None:
        """The rows of a key for neighbours in one column, which is not counted from the end; None for any other key."""
        if type(key) is not tuple or len(key) != 2 or type(key[0]) is not slice or type(key[1]) is not int:
            return None
        span = range(self._shape[0])[key[0]]
        return slice(span.start, span.stop) if span.step == 1 and len(span) and 0 <= key[1] < self._shape[1] else None

    def _set_column(self, rows: slice, column: int, value: Any) -> bool:
        """Stores a vector in neighbouring rows of a column; False for any other value."""
        if type(value) is list and value and type(value[0]) in (int, float):
            value = np.array(value)
        count = rows.stop - rows.start
        if type(value) not in (ndarray, np.ndarray) or value.shape not in ((count,), (count, 1)) or value.dtype.kind not in "biuf":
            return False
        x = (value.get() if type(value) is ndarray else value).astype(self._dtype, copy=False)
        at = np.arange(count), np.full(count, column)
        _c.sparse_list_put(self.rows[rows].tolist(), self.data[rows].tolist(), *at, x.ravel().tolist())
        return True

    def _neighbours(self, key: Any) -> tuple[int, int, int] | None:
        """The row, the first column and the number of columns of a key for neighbours in one row; None for any other key."""
        row, columns = key if type(key) is tuple and len(key) == 2 else (key, slice(None))
        if type(row) is not int or type(columns) is not slice:
            return None
        (m, n), span = self._shape, range(self._shape[1])[columns]
        return (row % m, span.start, len(span)) if -m <= row < m and span.step == 1 and n else None

    def _set_neighbours(self, row: int, first: int, count: int, value: Any) -> bool:
        """Stores a number, or a vector of so many, in neighbouring columns; False for any other value."""
        if is_scalar(value):
            value = self._dtype.type(value).item()
            columns, begin, end = self._range_of(row, first, count)
            columns[begin:end] = range(first, first + count) if value else ()
            self.data[row][begin:end] = [value] * (count if value else 0)
            return True
        if type(value) in (ndarray, np.ndarray) and value.shape == (count,) and value.dtype.kind in "biuf":
            self._store_range(row, first, (value.get() if type(value) is ndarray else value).astype(self._dtype, copy=False))
            return True
        return False

    def _range_of(self, row: int, first: int, count: int) -> tuple[list[int], int, int]:
        """A row's columns, and which of them lie between two."""
        columns = self.rows[row]
        return columns, bisect_left(columns, first), bisect_left(columns, first + count)

    def _store(self, i: np.ndarray, j: np.ndarray, x: np.ndarray) -> None:
        if j.shape[1] > 1 and (i == i[:, :1]).all() and (np.diff(j) == 1).all():
            for row, first, values in zip(i[:, 0].tolist(), j[:, 0].tolist(), x, strict=True):
                self._store_range(row, first, values)
            return
        if i.size * 20 < self._shape[0]:  # less work than a list of all rows
            super()._store(i, j, x)
            return
        i, j = (np.array(k, np.int64).ravel() for k in (i, j))
        _c.sparse_list_put(self.rows.tolist(), self.data.tolist(), i, j, x.ravel().tolist())

    def _store_range(self, row: int, first: int, values: np.ndarray) -> None:
        """Puts values into neighbouring columns of a row."""
        columns, begin, end = self._range_of(row, first, values.size)
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


def _outer(index: tuple[Any, ...]) -> tuple[Any, Any] | None:
    """The rows and the columns whose places an index means, each with each; None for other places, and for vectors."""
    if len(index) != 2:
        return None
    i, j = index
    arrays = isinstance(i, np.ndarray), isinstance(j, np.ndarray)
    if arrays == (True, True):
        crossed = i.ndim == 2 and i.shape[1] == 1 and (j.ndim == 1 or j.shape[0] == 1)
        return (i.ravel(), j.ravel()) if crossed else None
    return None if (arrays[0] and i.ndim != 1) or (arrays[1] and j.ndim != 1) else (i, j)


def _places_of(k: Any) -> Any:
    """The places of one axis that an index selects, in turn."""
    if isinstance(k, np.ndarray):
        return k.tolist()
    return range(k, k + 1) if isinstance(k, int) else range(k.start, k.stop, k.step)


def _numbered(places: Any) -> dict[int, list[int]]:
    """Where each place is among those that are selected."""
    at: dict[int, list[int]] = {}
    for number, place in enumerate(places):
        at.setdefault(place, []).append(number)
    return at


def _columns_of(rows: list[Any], data: list[Any], j: Any, columns: int) -> tuple[list[Any], list[Any], int]:
    """Copies of the lists of some rows with the columns that an index selects."""
    if isinstance(j, slice) and j == slice(0, columns, 1):
        return [*map(list.copy, rows)], [*map(list.copy, data)], columns
    chosen = host_numbers(j)
    first, following = np.full(columns, -1, np.int64), np.full(chosen.size, -1, np.int64)
    first[chosen[::-1]] = np.arange(chosen.size)[::-1]
    if isinstance(j, np.ndarray) and np.count_nonzero(first >= 0) < chosen.size:
        # Each place of a column that is selected several times leads to the next one.
        order = np.argsort(chosen, kind="stable")
        same = chosen[order[1:]] == chosen[order[:-1]]
        following[order[:-1][same]] = order[1:][same]
    return *_c.sparse_list_part(rows, data, first, following), chosen.size


def _flat(lists: Any, dtype: np.dtype, n: int) -> np.ndarray:
    """The elements of lists one after another."""
    wide = np.dtype(np.float64 if dtype.kind == "f" else np.int64)
    if dtype.kind in "fi":
        made = np.empty(n, wide)
        if _c.sparse_flatten(lists.tolist() if isinstance(lists, np.ndarray) else list(lists), made, dtype.kind == "f"):
            return made.astype(dtype, copy=False)
    return np.fromiter(itertools.chain.from_iterable(lists), dtype, n)


def _unpickled(kind: Any, theirs: Any) -> Any:
    return kind(theirs)
