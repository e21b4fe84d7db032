"""What sparse matrices and arrays of all formats have in common."""

from __future__ import annotations

import math
import operator
import sys
from collections.abc import Callable, Iterator, Sequence
from types import GenericAlias
from typing import Any

import numpy as np

import broadcloth as bc

from ... import _broadcloth as _c
from ..._broadcloth import ndarray
from ..._warnings import warn
from ._rows import Rows, index_dtype

FORMATS = {
    "bsr": "Block Sparse Row",
    "coo": "COOrdinate",
    "csc": "Compressed Sparse Column",
    "csr": "Compressed Sparse Row",
    "dia": "DIAgonal",
    "dok": "Dictionary Of Keys",
    "lil": "List of Lists",
}


class SparseWarning(Warning):
    """A warning of `broadcloth.scipy.sparse`."""


class SparseEfficiencyWarning(SparseWarning):
    """What was asked for takes much more memory or time than another way would."""


# ---- Operands -------------------------------------------------------------------------------------------------------------------------


def issparse(x: Any) -> bool:
    """Whether `x` is a sparse matrix or array of this package.

    Examples
    --------
    >>> from broadcloth.scipy import sparse
    >>> sparse.issparse(sparse.csr_matrix((2, 2))), sparse.issparse(bc.ones(2))
    (True, False)
    """
    return isinstance(x, spbase)


def scipy_sparse(x: Any) -> bool:
    """Whether `x` is SciPy's."""
    module = sys.modules.get("scipy.sparse")
    return module is not None and bool(module.issparse(x))


def is_scalar(x: Any) -> bool:
    return x.ndim == 0 if isinstance(x, (ndarray, np.ndarray)) else np.isscalar(x)


def is_dense(x: Any) -> bool:
    return isinstance(x, (ndarray, np.ndarray))


def dense_operand(x: Any, device: Any) -> Any:
    """An array-like operand as an array on `device`; None for what is none."""
    if isinstance(x, ndarray):
        return x
    try:
        host = np.asarray(x)
        return None if host.dtype.kind not in "biufc" else bc.asarray(host, device=device)
    except (TypeError, ValueError):
        return None


def host_operand(x: Any) -> np.ndarray | None:
    """An array-like operand as NumPy's array; None for what is none."""
    if isinstance(x, ndarray):
        return x.get()
    try:
        host = np.asarray(x)
    except (TypeError, ValueError):
        return None
    return host if host.dtype.kind in "biufc" else None


def swaps(axes: Any) -> bool:
    """Whether `axes` of a transpose exchange the two axes, which is all that they may do."""
    return np.ndim(axes) == 1 and tuple(axes) in ((1, 0), (-1, 0), (1, -2), (-1, -2))


def matrix_shape(shape: Sequence[int]) -> tuple[int, int]:
    """The shape of the matrix that an array is kept as: all axes but the last one are its rows, a vector is one row."""
    return (math.prod(shape[:-1]), shape[-1])


def shape_of(shape: Any, dimensions: Sequence[int] = (2,)) -> tuple[int, ...]:
    """A checked shape."""
    try:
        new = tuple(map(operator.index, shape))
    except TypeError:
        try:
            new = (operator.index(shape),)
        except TypeError:
            raise TypeError(f"invalid shape: expected integers, got {shape!r}") from None
    if len(new) not in dimensions:
        raise ValueError(f"shape must have length in {dimensions}. Got shape={new}")
    if any(n < 0 for n in new):
        raise ValueError("'shape' elements cannot be negative")
    return new


def is_shape(x: Any, dimensions: Sequence[int] = (1, 2)) -> bool:
    if not isinstance(x, (tuple, list)) or len(x) not in dimensions:
        return False
    try:
        return all(np.ndim(n) == 0 and operator.index(n) is not None for n in x)
    except (TypeError, ValueError):
        return False


def normal_axis(axis: Any, ndim: int) -> int | None:
    """An axis as a number from 0 on; None for all axes."""
    found = {*range(ndim)} if axis is None else normal_axes(axis, ndim)
    if 1 < len(found) < ndim:
        raise NotImplementedError(f"expected one axis or all of {ndim}, got {axis}")
    return None if len(found) == ndim else found.pop()


def normal_axes(axis: Any, ndim: int) -> set[int]:
    """Axes as numbers from 0 on."""
    axes = axis if isinstance(axis, tuple) else (axis,)
    found = set()
    for a in axes:
        try:
            a = operator.index(a)
        except TypeError:
            raise TypeError(f"axis must be an integer/tuple of ints, not {type(a)}") from None
        if not -ndim <= a < ndim:
            raise ValueError("axis out of range for ndim")
        found.add(a % ndim)
    if len(found) != len(axes):
        raise ValueError("duplicate value in 'axis'")
    return found


def sum_dtype(dtype: np.dtype) -> np.dtype:
    if dtype.kind == "u":
        return np.dtype(np.uint64)
    return np.dtype(np.int64) if dtype.kind in "bi" else dtype


def deliver(result: ndarray, out: Any) -> Any:
    if out is None:
        return result
    if out.shape != result.shape:
        raise ValueError(f"output parameter has the wrong dimensions: it does not match shape {result.shape}, got {out.shape}")
    out[...] = result if isinstance(out, ndarray) else result.get()
    return out


def _method(name: str) -> Callable[..., Any]:
    """A method that is computed in compressed rows."""

    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        return self._extreme_of(name, *args, **kwargs)

    method.__name__ = name
    return method


# ---- The base of all ------------------------------------------------------------------------------------------------------------------


class spbase:
    """The base of sparse matrices and arrays; not to be made itself."""

    __array_priority__ = 10.1
    _format = "und"
    _shape: tuple[int, ...]
    data: Any

    def __init__(self, arg1: Any, *, maxprint: int | None = None) -> None:
        if type(self) in (spbase, sparray):
            raise ValueError(f"This class is not intended to be instantiated directly: {type(self).__name__}")
        self.maxprint = 50 if maxprint is None else maxprint

    __class_getitem__: Any = classmethod(GenericAlias)

    # ---- What it is ----

    @property
    def format(self) -> str:
        """The format's three letters."""
        return self._format

    @property
    def shape(self) -> tuple[int, ...]:
        return self._shape

    @property
    def ndim(self) -> int:
        return len(self._shape)

    @property
    def _shape2(self) -> tuple[int, int]:
        """The shape with two axes: a vector is one row."""
        return self._shape if len(self._shape) == 2 else matrix_shape(self._shape)  # type: ignore[return-value]

    @property
    def dtype(self) -> np.dtype:
        return self.data.dtype

    @property
    def device(self) -> Any:
        """Where the elements are."""
        return self.data.device

    @property
    def nnz(self) -> int:
        """The number of stored elements, explicit zeros included."""
        return self._getnnz()

    @property
    def size(self) -> int:
        return self._getnnz()

    @property
    def T(self) -> Any:
        return self.transpose()

    @property
    def mT(self) -> Any:
        """The transpose, of the last two axes where there are more."""
        if self.ndim < 2:
            raise ValueError("matrix transpose with ndim < 2 is undefined")
        return self.transpose() if self.ndim == 2 else self.transpose((*range(self.ndim - 2), self.ndim - 1, self.ndim - 2))

    @property
    def real(self) -> Any:
        return self._mapped(lambda x: x.real.copy())

    @property
    def imag(self) -> Any:
        return self._mapped(lambda x: x.imag.copy())

    @classmethod
    def _is_array(cls) -> bool:
        return issubclass(cls, sparray)

    @classmethod
    def _require_dimensions(cls, a: ndarray, dimensions: Sequence[int]) -> None:
        """Refuses a dense operand that the class has no format for."""
        if a.ndim not in dimensions:
            wanted = " or ".join(map(str, dimensions))
            text = f"{cls._format.upper()} arrays don't support {a.ndim}D input"
            raise ValueError(f"{text}: expected {wanted} dimensions, got shape {a.shape}")

    @classmethod
    def _kind(cls, format: str) -> Any:
        """The class of a format, of matrices or arrays as this one is."""
        from . import _classes

        return getattr(_classes, format + ("_array" if cls._is_array() else "_matrix"))

    def _from_rows(self, rows: Rows, format: str = "csr", shape: tuple[int, ...] | None = None) -> Any:
        """A matrix of the same kind; `shape` where it is a vector."""
        made = self._kind("csr")._from_rows_of(rows, shape or (rows.count, rows.columns))
        return made if format == "csr" else made.asformat(format)

    def _rows(self) -> Rows:
        """The elements by rows; a vector is one row."""
        return self.tocsr()._rows()

    # ---- Text ----

    def __repr__(self) -> str:
        kind = "array" if self._is_array() else "matrix"
        detail = self._repr_detail()
        return (
            f"<{FORMATS[self._format]} sparse {kind} of dtype '{self.dtype}'\n"
            f"\twith {self.nnz} stored elements{detail} and shape {self.shape}>"
        )

    def _repr_detail(self) -> str:
        return ""

    def __str__(self) -> str:
        coo = self.tocoo()
        text = repr(self)
        if self.nnz == 0:
            return text
        places = list(zip(*(c.tolist() for c in coo.coords), strict=True))
        values = coo.data.get()
        half = self.maxprint // 2

        def line(i: int) -> str:
            place = ", ".join(map(str, places[i]))
            return f"  ({place}{',' if len(places[i]) == 1 else ''})\t{values[i]}"

        lines = [*map(line, range(len(places)))]
        if len(places) > self.maxprint:
            lines = [*lines[:half], "  :\t:", *lines[len(lines) - half :]]
        return "\n".join([text, "  Coords\tValues", *lines])

    # ---- Python's protocols ----

    def __bool__(self) -> bool:
        if self.shape in ((1, 1), (1,)):
            return self.nnz != 0
        raise ValueError("The truth value of an array with more than one element is ambiguous. Use a.any() or a.all().")

    def __len__(self) -> int:
        raise TypeError("sparse array length is ambiguous; use getnnz() or shape[0]")

    def __iter__(self) -> Iterator[Any]:
        csr = self.tocsr()
        for i in range(self.shape[0]):
            row = csr[i]
            yield row.asformat("csr") if issparse(row) else row

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> Any:
        state = {k: v.get() if isinstance(v, ndarray) else v for k, v in self.__dict__.items()}
        device = str(self.device)
        return _unpickled, (type(self), state, [k for k, v in self.__dict__.items() if isinstance(v, ndarray)], device)

    def __copy__(self) -> Any:
        return self.copy()

    def __deepcopy__(self, memo: Any) -> Any:
        return self.copy()

    # ---- Conversion ----

    def tocoo(self, copy: bool = True) -> Any:
        return self.tocsr(copy=False).tocoo(copy=copy)

    def tocsr(self, copy: bool = False) -> Any:
        return self.tocoo(copy=copy).tocsr(copy=False)

    def tocsc(self, copy: bool = False) -> Any:
        return self.tocsr(copy=copy).tocsc(copy=False)

    def tobsr(self, blocksize: Any = None, copy: bool = False) -> Any:
        return self.tocsr(copy=False).tobsr(blocksize=blocksize, copy=copy)

    def todia(self, copy: bool = False) -> Any:
        return self.tocoo(copy=copy).todia(copy=False)

    def todok(self, copy: bool = False) -> Any:
        return self.tocoo(copy=copy).todok(copy=False)

    def tolil(self, copy: bool = False) -> Any:
        return self.tocsr(copy=False).tolil(copy=copy)

    def asformat(self, format: str | None, copy: bool = False) -> Any:
        """The same matrix in a format, `self` where it has it and `copy` is false."""
        if format is None or format == self._format:
            return self.copy() if copy else self
        if format in ("array", "dense"):
            return self.toarray()
        if format not in FORMATS:
            raise ValueError(f"Format {format} is unknown.")
        return getattr(self, "to" + format)(copy=copy)

    def toarray(self, order: str | None = None, out: Any = None) -> Any:
        """The dense array."""
        if order not in (None, "C", "F"):
            raise ValueError(f"order must be 'C', 'F' or None, got {order!r}")
        if out is not None and order is not None:
            raise ValueError("order cannot be specified if out is not None")
        dense = self._rows().dense()
        if self.ndim == 1:
            dense = dense.reshape(self.shape)
        if out is not None:
            if out.dtype != self.dtype:
                raise ValueError(f"out array must be same dtype and shape as sparse array: expected {self.dtype}, got {out.dtype}")
            return deliver(dense, out)
        return bc.asfortranarray(dense) if order == "F" else dense

    def todense(self, order: str | None = None, out: Any = None) -> Any:
        """The dense array; of a matrix too, for there is no `numpy.matrix` here."""
        return self.toarray(order, out)

    def get(self) -> Any:
        """The matrix as SciPy's, of the same class, in host memory."""
        return self._rows_as_scipy()

    def _scipy_class(self) -> Any:
        import scipy.sparse

        return getattr(scipy.sparse, type(self).__name__)

    def _rows_as_scipy(self) -> Any:
        import scipy.sparse

        return self._scipy_class()(getattr(scipy.sparse, "csr_array" if self._is_array() else "csr_matrix")(self.tocsr().get()))

    def to_device(self, device: Any) -> Any:
        """A copy on another device."""
        moved = object.__new__(type(self))
        moved.__dict__.update({k: v.to_device(device) if isinstance(v, ndarray) else v for k, v in self.__dict__.items()})
        return moved

    def copy(self) -> Any:
        made = object.__new__(type(self))
        made.__dict__.update({k: v.copy() if isinstance(v, ndarray) else v for k, v in self.__dict__.items()})
        return made

    def astype(self, dtype: Any, casting: Any = "unsafe", copy: bool = True) -> Any:
        dtype = np.dtype(dtype)
        if dtype == self.dtype:
            return self.copy() if copy else self
        return self._mapped(lambda x: x.astype(dtype, casting=casting))

    def _mapped(self, f: Callable[[ndarray], ndarray]) -> Any:
        """The matrix with f of its elements, which keeps zeros."""
        return self.tocsr()._mapped(f)

    def _mapped_sums(self, f: Callable[[ndarray], ndarray]) -> Any:
        """The same where f is not linear: elements of one place are added up before."""
        return self._summed()._mapped(f)

    def _summed(self) -> Any:
        """The matrix with the elements of one place added up, in place as in SciPy, where it may have several."""
        return self

    def _stored(self) -> ndarray:
        """All elements in some order; those of one place may lie in several parts."""
        return self._rows().data

    # ---- Shapes ----

    def transpose(self, axes: Any = None, copy: bool = False) -> Any:
        if axes is not None and not swaps(axes):
            raise ValueError(
                "Sparse arrays/matrices do not support an 'axes' parameter because swapping dimensions is the only logical permutation."
            )
        if self.ndim == 1:
            return self.copy() if copy else self
        return self.tocsr(copy=copy).transpose().asformat(self._format)

    def reshape(self, *args: Any, order: str = "C", copy: bool = False) -> Any:
        made = self.tocoo().reshape(*args, order=order)
        if made.shape == self.shape:
            return self.copy() if copy else self
        return made.copy() if copy else made

    def resize(self, *shape: Any) -> None:
        """Changes the shape in place; elements outside it go."""
        shape = shape_of(shape[0] if len(shape) == 1 and not np.isscalar(shape[0]) else shape, (self.ndim,))
        coo = self.tocoo().copy()
        coo.resize(shape)
        self.__dict__.update(coo.asformat(self._format).__dict__)

    def conjugate(self, copy: bool = True) -> Any:
        if self.dtype.kind == "c":
            return self._mapped(lambda x: x.conj())
        return self.copy() if copy else self

    conj = conjugate

    # ---- Arithmetic ----

    def _same_shape(self, other: Any) -> None:
        if self.shape != other.shape:
            raise ValueError("inconsistent shapes")

    def _adopt(self, other: Any) -> Any:
        """An operand of SciPy's as one of ours, on this device."""
        return from_scipy(other, self.device) if scipy_sparse(other) else other

    def _major_format(self) -> str:
        return "csc" if self._format == "csc" else "csr"

    def _compressed(self) -> Any:
        """The matrix in compressed columns where it has them, else in compressed rows."""
        return self.asformat(self._major_format())

    def _joined(self, other: Any, op: Callable[[ndarray, ndarray], ndarray]) -> Any:
        """op of this and another sparse matrix of the same shape, where op(0, 0) is 0."""
        self._same_shape(other)
        a = self._compressed()
        b = other.asformat(a.format)
        for operand in (a, b):
            operand._find_canonical()
        return a._from_rows_of(a._own_rows().joined(b._own_rows(), op), self.shape)

    def _sum_with(self, other: Any, op: Callable[[Any, Any], Any]) -> Any:
        other = self._adopt(other)
        if is_scalar(other):
            if other == 0:
                return self.copy() if op(1, 0) == 1 else -self
            name = "adding a nonzero scalar to" if op is operator.add else "subtracting a nonzero scalar from"
            raise NotImplementedError(f"{name} a sparse array is not supported")
        if issparse(other):
            return self._joined(other, op)
        if is_dense(other):
            dense = dense_operand(other, self.device)
            if not self._broadcasts(dense.shape) or np.broadcast_shapes(self.shape, dense.shape) != self.shape:
                raise ValueError(f"inconsistent shapes: {self.shape} and {dense.shape}")
            if op is operator.add and dense.shape == self.shape:
                known = self._added_to(dense)
                if known is not None:
                    return known
            return op(self.toarray(), bc.broadcast_to(dense, self.shape))
        return NotImplemented

    def _added_to(self, dense: ndarray) -> Any:
        """The sum with a dense matrix in one pass over host memory; None where it must be composed."""
        t = np.result_type(self.dtype, dense.dtype)
        if self.ndim != 2 or t.kind not in "fc" or t.itemsize < 4:
            return None
        a = self._compressed()
        indices, indptr = a._places()
        data, dense = a.data.astype(t, copy=False), dense.astype(t, copy=False)
        return _c.sparse_add_dense(data, indices, indptr, a.shape[1 - a._major], dense, a._major == 1)

    def __add__(self, other: Any) -> Any:
        return self._sum_with(other, operator.add)

    __radd__ = __add__

    def __sub__(self, other: Any) -> Any:
        return self._sum_with(other, operator.sub)

    def __rsub__(self, other: Any) -> Any:
        return self._sum_with(other, lambda a, b: b - a)

    def __neg__(self) -> Any:
        if self.dtype.kind == "b":
            raise NotImplementedError("negating a boolean sparse array is not supported")
        return self._mapped(operator.neg)

    def __pos__(self) -> Any:
        return self.copy()

    def __abs__(self) -> Any:
        return self._mapped_sums(abs)

    def __round__(self, ndigits: int = 0) -> Any:
        return self._mapped_sums(lambda x: bc.round(x, ndigits))

    def multiply(self, other: Any) -> Any:
        """The elementwise product with a number, or a sparse or dense operand, which broadcasts."""
        other = self._adopt(other)
        if is_scalar(other):
            return self._mapped(lambda x: x * other)
        if issparse(other):
            return self._multiply_sparse(other)
        dense = dense_operand(other, self.device)
        if dense is None:
            return NotImplemented
        return self._multiply_dense(dense)

    def _multiply_sparse(self, other: Any) -> Any:
        if self.shape == other.shape:
            return self._joined(other, operator.mul)
        shape = np.broadcast_shapes(self.shape, other.shape) if self._broadcasts(other.shape) else None
        if shape is None:
            raise ValueError("inconsistent shapes")
        a, b = self._spread(shape), other._spread(shape)
        return a._joined(b, operator.mul)

    def _broadcasts(self, shape: tuple[int, ...]) -> bool:
        try:
            return len(np.broadcast_shapes(self.shape, shape)) <= max(2, self.ndim)
        except ValueError:
            return False

    def _spread(self, shape: tuple[int, ...]) -> Any:
        """The matrix broadcast to a shape, in compressed rows."""
        if self.shape == shape:
            return self
        rows = self._rows()
        m, n = shape if len(shape) == 2 else (1, shape[0])
        if rows.columns == 1 and n != 1:
            times = rows.columns * n
            t = index_dtype(rows.size * times, n, rows.count)
            columns = bc.tile(bc.arange(n, dtype=t, device=rows.device), rows.size)
            rows = Rows(bc.repeat(rows.data, n), columns, rows.indptr.astype(t) * n, n, rows.canonical)
        if rows.count == 1 and m != 1:
            rows = rows.take(bc.zeros(m, np.int64, device=rows.device))
        return self._from_rows(rows, shape=shape)

    def _multiply_dense(self, other: ndarray) -> Any:
        if not self._broadcasts(other.shape):
            raise ValueError(f"inconsistent shapes: {self.shape} and {other.shape} do not broadcast together to two dimensions")
        shape = np.broadcast_shapes(self.shape, other.shape)
        spread = self._spread(shape).tocoo()
        values = bc.broadcast_to(other, shape)[spread.coords]
        return spread._with_data(spread.data * values)

    def _divide(self, other: Any, reverse: bool = False) -> Any:
        other = self._adopt(other)
        if reverse:
            return NotImplemented
        if is_scalar(other):
            if isinstance(other, (int, float, complex)) and not isinstance(other, np.generic) and not other and self._format != "dok":
                operator.truediv(1, other)  # Python's zeros raise ZeroDivisionError, NumPy's do not
            return self._mapped(lambda x: x / other)
        if issparse(other):
            self._same_shape(other)
            return self.toarray() / other.toarray()
        dense = dense_operand(other, self.device)
        if dense is None:
            return NotImplemented
        if not self._broadcasts(dense.shape):
            raise ValueError("inconsistent shapes")
        return self._multiply_dense(1.0 / dense)

    def __truediv__(self, other: Any) -> Any:
        return self._divide(other)

    def __div__(self, other: Any) -> Any:
        return self._divide(other)

    def __rtruediv__(self, other: Any) -> Any:
        return self._divide(other, reverse=True)

    def __imul__(self, other: Any) -> Any:
        if not is_scalar(other):
            return NotImplemented
        self._update(operator.imul, other)
        return self

    def __itruediv__(self, other: Any) -> Any:
        if not is_scalar(other):
            return NotImplemented
        if self._format == "dok":
            self._update(operator.itruediv, other)
        else:
            self._update(operator.imul, 1.0 / other)
        return self

    def _update(self, op: Callable[[Any, Any], Any], factor: Any) -> None:
        """Applies op to the elements in place; matrices that share them change too. A leaf of a gradient stays as it is."""
        self.data = op(self.data.copy() if self.data.requires_grad else self.data, factor)

    def power(self, n: Any, dtype: Any = None) -> Any:
        """The elements to a power that is not zero."""
        if not is_scalar(n):
            raise NotImplementedError("input is not scalar")
        if not n:
            raise NotImplementedError(
                "zero power is not supported as it would densify the matrix.\nUse `np.ones(A.shape, dtype=A.dtype)` for this case."
            )
        return self._mapped_sums(lambda x: (x if dtype is None else x.astype(dtype)) ** n)

    def __mul__(self, other: Any) -> Any:
        return self.multiply(other)

    def __rmul__(self, other: Any) -> Any:
        return self.multiply(other)

    def __pow__(self, other: Any) -> Any:
        return self.power(other)

    # ---- Comparison ----

    def _compared(self, other: Any, op: Callable[[Any, Any], Any], name: str) -> Any:
        other = self._adopt(other)
        if is_scalar(other):
            other = other.item() if hasattr(other, "item") else other
            if not op(self.dtype.type(0), other):
                return self._compressed()._by_rows(lambda rows: rows.summed().with_data(op(rows.summed().data, other)).nonzeros())
            warn(
                f"Comparing a sparse matrix with {other} using {name} is inefficient, try using {_OPPOSITE[name]} instead.",
                SparseEfficiencyWarning,
            )
            return self._complement(lambda x: ~op(x, other))
        if issparse(other):
            if self.shape != other.shape:
                if name in ("==", "!="):
                    return name == "!="
                raise ValueError("inconsistent shapes")
            if not op(0, 0):
                return self._joined(other, op)
            warn(f"Comparing sparse matrices using {name} is inefficient, try using {_OPPOSITE[name]} instead.", SparseEfficiencyWarning)
            return self._joined(other, lambda a, b: ~op(a, b))._complement(lambda x: x)
        if is_dense(other):
            return op(self.toarray(), dense_operand(other, self.device))
        return NotImplemented

    def _complement(self, f: Callable[[ndarray], ndarray]) -> Any:
        """True where f of the elements is not, zeros included."""
        rows = self._rows().summed()
        marked = rows.with_data(f(rows.data)).nonzeros()
        return self._from_rows(Rows.from_dense(~marked.dense()), self._major_format() if self.ndim == 2 else "csr", self.shape)

    def __eq__(self, other: Any) -> Any:
        return self._compared(other, operator.eq, "==")

    def __ne__(self, other: Any) -> Any:
        return self._compared(other, operator.ne, "!=")

    def __lt__(self, other: Any) -> Any:
        return self._compared(other, operator.lt, "<")

    def __gt__(self, other: Any) -> Any:
        return self._compared(other, operator.gt, ">")

    def __le__(self, other: Any) -> Any:
        return self._compared(other, operator.le, "<=")

    def __ge__(self, other: Any) -> Any:
        return self._compared(other, operator.ge, ">=")

    def _extreme(self, other: Any, op: Callable[[Any, Any], Any], greater: bool) -> Any:
        other = self._adopt(other)
        if is_scalar(other):
            if not (other <= 0 if greater else other >= 0):  # NaN too
                which = "maximum with > 0" if greater else "minimum with < 0"
                warn(f"Taking {which} number results to a dense matrix.", SparseEfficiencyWarning)
                return self._kind(self._major_format())(op(self.toarray(), other))
            return self._compressed()._by_rows(lambda rows: rows.summed().with_data(op(rows.summed().data, other)).nonzeros())
        if issparse(other):
            return self._joined(other, op)
        dense = dense_operand(other, self.device)
        return NotImplemented if dense is None else op(self.toarray(), dense)

    def maximum(self, other: Any) -> Any:
        """The elementwise maximum."""
        return self._extreme(other, bc.maximum, True)

    def minimum(self, other: Any) -> Any:
        """The elementwise minimum."""
        return self._extreme(other, bc.minimum, False)

    # ---- Products ----

    def dot(self, other: Any) -> Any:
        """The product with a number, a dense or a sparse operand."""
        return self * other if is_scalar(other) else self @ other

    def _fits(self, other: Any) -> bool:
        """Whether an operand is a dense vector or matrix of ours that a matrix is multiplied by as it is."""
        return type(other) is ndarray and len(self._shape) == 2 and 0 < other.ndim < 3 and other.shape[0] == self._shape[1]

    def __matmul__(self, other: Any) -> Any:
        if self._fits(other):
            return self._product(other)
        if other.ndim == 0 if isinstance(other, ndarray) else is_scalar(other):
            raise ValueError("Scalar operands are not allowed, use '*' instead")
        return self._matmul(other)

    def __rmatmul__(self, other: Any) -> Any:
        if is_scalar(other):
            raise ValueError("Scalar operands are not allowed, use '*' instead")
        return self._rmatmul(other)

    def _matmul(self, other: Any) -> Any:
        if not isinstance(other, ndarray):
            other = self._adopt(other)
            if issparse(other):
                return self._matmul_sparse(other)
        x = dense_operand(other, self.device)
        if x is None:
            return NotImplemented
        if x.ndim not in (1, 2):
            raise ValueError("could not interpret dimensions")
        if x.shape[0] != self.shape[-1]:
            raise ValueError(
                f"matmul: dimension mismatch with signature (n,k={self.shape[-1]}),(k={x.shape[0]}{',m' if x.ndim == 2 else ''})"
                f"->(n{',m' if x.ndim == 2 else ''})"
            )
        y = self._product(x)
        return y[0] if self.ndim == 1 else y

    def _rmatmul(self, other: Any) -> Any:
        other = self._adopt(other)
        if issparse(other):
            return other._matmul_sparse(self)
        x = dense_operand(other, self.device)
        if x is None:
            return NotImplemented
        if x.ndim not in (1, 2):
            raise ValueError("could not interpret dimensions")
        if x.shape[-1] != self.shape[0]:
            raise ValueError(f"matmul: dimension mismatch with signature (n,k={x.shape[-1]}),(k={self.shape[0]},m)->(n,m)")
        if self.ndim == 1:
            return self._product(x.T)[0]
        return self._product(x.T, transposed=True).T if x.ndim == 2 else self._product(x, transposed=True)

    def _product(self, x: ndarray, transposed: bool = False) -> ndarray:
        """The matrix, or its transpose, times a dense operand."""
        return self._rows().times(x, transposed)

    def _matmul_sparse(self, other: Any) -> Any:
        inner = other.shape[0]
        if self.shape[-1] != inner:
            raise ValueError(f"matmul: dimension mismatch with signature (n,k={self.shape[-1]}),(k={inner},m)->(n,m)")
        if other.ndim == 1:
            y = self @ other.toarray()
            return y if y.ndim == 0 else self._kind("coo")(y)
        if self._format == "csc" and self.ndim == 2:
            made = other.tocsc()._own_rows().matmul(self._own_rows())
            return self._kind("csc")._from_rows_of(made, (self.shape[0], other.shape[1]))
        rows = self._rows().matmul(other._rows())
        return self._from_rows(rows, "coo", (rows.columns,)) if self.ndim == 1 else self._from_rows(rows)

    # ---- Reductions ----

    def sum(self, axis: Any = None, dtype: Any = None, out: Any = None) -> Any:
        """The sum of all elements, or along an axis; of a matrix with both axes."""
        axis = None if axis is None else normal_axis(axis, self.ndim)
        t = sum_dtype(self.dtype) if dtype is None else np.dtype(dtype)
        if axis is None or self.ndim == 1:
            return self._deliver_whole(self._stored().sum(dtype=t), out)
        ones = bc.ones(self.shape[axis], t, device=self.device)
        total = self.astype(t, copy=False)._product(ones, transposed=axis == 0)
        return deliver(self._with_axes(total, axis), out)

    def _with_axes(self, reduced: ndarray, axis: int) -> ndarray:
        """A vector along the other axis, which has two axes of a matrix."""
        return reduced if self._is_array() else bc.expand_dims(reduced, axis)

    def _deliver_whole(self, result: ndarray, out: Any) -> Any:
        """A number for all elements; a matrix has two axes in `out`, too."""
        return result if out is None else deliver(result if self._is_array() else result.reshape(1, 1), out)

    def mean(self, axis: Any = None, dtype: Any = None, out: Any = None) -> Any:
        """The mean of all elements, or along an axis."""
        axis = normal_axis(axis, self.ndim)
        inner = np.dtype(np.float64) if self.dtype.kind in "biu" else self.dtype
        count = math.prod(self.shape) if axis is None or self.ndim == 1 else self.shape[axis]
        result = self.sum(axis, dtype=np.promote_types(inner, dtype) if dtype is not None else inner)
        result = (result / count).astype(inner if dtype is None else dtype)
        return self._deliver_whole(result, out) if result.ndim == 0 else deliver(result, out)

    def trace(self, offset: int = 0) -> Any:
        """The sum along a diagonal."""
        return self.diagonal(offset).sum()

    def diagonal(self, k: int = 0) -> ndarray:
        """The k-th diagonal, dense."""
        rows, columns = self._shape2
        if self.ndim != 2:
            raise ValueError("diagonal requires two dimensions")
        if k <= -rows or k >= columns:
            return bc.zeros(0, self.dtype, device=self.device)
        n = min(rows + min(k, 0), columns - max(k, 0))
        if self._format != "coo":
            return self.tocsr().diagonal(k)
        coo: Any = self
        known = _c.sparse_coordinates_diagonal(coo.data, coo.row, coo.col, rows, columns, k)
        if known is not None:
            return known
        on = coo.col.astype(np.int64) - coo.row == k
        made = bc.zeros(n, self.dtype, device=self.device)
        bc.add.at(made, (coo.row + min(k, 0))[on], coo.data[on])
        return made

    def setdiag(self, values: Any, k: int = 0) -> None:
        """Sets the k-th diagonal to a number or to as many values as are given and fit."""
        rows, columns = self._shape2
        if (k > 0 and k >= columns) or (k < 0 and -k >= rows):
            raise ValueError("k exceeds array dimensions")
        values = bc.asarray(values, device=self.device)
        if values.ndim > 1:
            raise ValueError("values must be 0-d or 1-d")
        n = min(rows + min(k, 0), columns - max(k, 0))
        if values.ndim == 1:
            n = min(n, values.size)
            values = values[:n]
        i = bc.arange(n, dtype=np.int64, device=self.device)
        row, column = i - k if k < 0 else i, i + k if k > 0 else i
        if self._format in ("csr", "csc") and np.can_cast(values.dtype, self.dtype, "same_kind"):
            self._store(row, column, bc.broadcast_to(values, (n,)).astype(self.dtype))  # type: ignore[attr-defined]
        else:
            self[row, column] = values  # type: ignore[index]

    def nonzero(self) -> tuple[ndarray, ...]:
        """The places of the elements that are not zero."""
        coo = self.tocsr().tocoo(copy=False) if self._format == "csc" else self.tocoo(copy=False)
        if int(bc.count_nonzero(coo.data)) == coo.data.size:
            return tuple(c.copy() for c in coo.coords)
        keep = coo.data != 0
        return tuple(c[keep] for c in coo.coords)

    def _getnnz(self, axis: Any = None) -> Any:
        axis = None if axis is None else normal_axis(axis, self.ndim)
        if axis is None or self.ndim == 1:
            return self.data.size
        coo = self.tocoo()
        return bc.bincount(coo.col if axis == 0 else coo.row, minlength=self.shape[1 - axis])

    def count_nonzero(self, axis: Any = None) -> Any:
        """How many elements are not zero: of all, or along an axis."""
        axis = None if axis is None else normal_axis(axis, self.ndim)
        if axis is None or self.ndim == 1:
            return int(bc.count_nonzero(self._summed()._stored()))
        return self.tocsr().count_nonzero(axis)

    def _extreme_of(self, name: str, *args: Any, **kwargs: Any) -> Any:
        return getattr(self.tocsr(), name)(*args, **kwargs)

    max = _method("max")
    min = _method("min")
    nanmax = _method("nanmax")
    nanmin = _method("nanmin")
    argmax = _method("argmax")
    argmin = _method("argmin")


_OPPOSITE = {"==": "!=", "!=": "==", "<": ">=", ">": "<=", "<=": ">", ">=": "<"}


def _ufunc(name: str) -> Callable[[Any], Any]:
    def method(self: Any) -> Any:
        return self._mapped_sums(getattr(bc, name))

    method.__name__ = name
    method.__doc__ = f"The elements' `{name}`."
    return method


for _name in [
    "sin",
    "tan",
    "arcsin",
    "arctan",
    "sinh",
    "tanh",
    "arcsinh",
    "arctanh",
    "rint",
    "sign",
    "expm1",
    "log1p",
    "deg2rad",
    "rad2deg",
    "floor",
    "ceil",
    "trunc",
    "sqrt",
]:
    setattr(spbase, _name, _ufunc(_name))


class sparray(spbase):
    """The base of sparse arrays, whose `*` is elementwise."""


class spmatrix:
    """The base of sparse matrices, whose `*` is the product of matrices."""

    def __mul__(self: Any, other: Any) -> Any:
        if self._fits(other):
            return self._product(other)
        return self.multiply(other) if is_scalar(other) else self._matmul(other)

    def __rmul__(self, other: Any) -> Any:
        return self.multiply(other) if is_scalar(other) else self._rmatmul(other)  # type: ignore[attr-defined]

    def __pow__(self: Any, power: Any) -> Any:
        rows, columns = self.shape
        if rows != columns:
            raise TypeError("sparse matrix is not square")
        try:
            n = operator.index(power)
        except TypeError:
            raise ValueError("exponent must be an integer") from None
        if n < 0:
            raise ValueError("exponent must be >= 0")
        result, square = None, self
        while n:
            if n & 1:
                result = square if result is None else result @ square
            n >>= 1
            square = square @ square if n else square
        if result is None:
            from ._construct import eye

            return eye(rows, dtype=self.dtype, format=self.format, device=self.device)
        return result.copy() if result is self else result

    @property
    def H(self: Any) -> Any:
        """The conjugate transpose."""
        return self.getH()

    def getH(self: Any) -> Any:
        """The conjugate transpose."""
        return self.conjugate().transpose()

    def getnnz(self: Any, axis: Any = None) -> Any:
        """The number of stored elements, of all or along an axis."""
        return self._getnnz(axis)

    def getformat(self: Any) -> str:
        return self.format

    def getmaxprint(self: Any) -> int:
        return self.maxprint

    def get_shape(self: Any) -> tuple[int, ...]:
        return self._shape

    def set_shape(self: Any, shape: Any) -> None:
        new = self.reshape(shape).asformat(self.format)
        self.__dict__ = new.__dict__

    shape = property(get_shape, set_shape)

    def asfptype(self: Any) -> Any:
        """The matrix with an inexact dtype."""
        if self.dtype.kind in "fc":
            return self
        return self.astype(np.float32 if np.can_cast(self.dtype, np.float32) else np.float64)

    def getrow(self: Any, i: int) -> Any:
        return self.tocsr()[i]

    def getcol(self: Any, j: int) -> Any:
        return self.tocsr()[:, j]


def _unpickled(kind: Any, state: dict[str, Any], arrays: list[str], device: str) -> Any:
    made = object.__new__(kind)
    made.__dict__.update({k: bc.asarray(v, device=device) if k in arrays else v for k, v in state.items()})
    return made


def from_scipy(x: Any, device: Any = None) -> Any:
    """A matrix of SciPy's in the same format and class."""
    from . import _classes

    kind = getattr(_classes, x.format + ("_array" if type(x).__name__.endswith("array") else "_matrix"))
    return kind._from_scipy(x, device)
