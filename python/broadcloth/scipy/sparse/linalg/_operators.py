"""Linear operators: what the iterative methods take for a matrix."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .... import _broadcloth as _c
from ...._broadcloth import ndarray

if TYPE_CHECKING:
    from ....typing import ArrayLike


def is_sparse(A: Any) -> bool:
    """Whether an object is a sparse matrix, broadcloth's or SciPy's."""
    return hasattr(A, "tocsr") and hasattr(A, "nnz")


def ours(A: Any) -> Any:
    """A sparse matrix of SciPy's as one of broadcloth's; others as they are."""
    if type(A).__module__.partition(".")[0] != "scipy":
        return A
    from ... import sparse

    return getattr(sparse, type(A).__name__)(A)


def device_of(A: Any) -> Any:
    """Where a matrix lies, or is copied to: NumPy's and SciPy's go to the default device. None of an operator, which takes vectors of
    every device."""
    if isinstance(A, np.ndarray) or (is_sparse(A) and not hasattr(A, "device")):
        return _c.default_device()  # an array of NumPy's has a device too, the text "cpu"
    return getattr(A, "device", None)


def promoted(*dtypes: Any) -> np.dtype:
    """The common dtype of the solvers: float32, float64, complex64 or complex128."""
    found = np.result_type(*(d for d in dtypes if d is not None))
    if found.kind in "fc" and found.itemsize >= 4 and found.char in "fdFD":
        return found
    return np.dtype(np.float32 if found == np.float16 else np.float64)


class LinearOperator:
    """A matrix known by its products with vectors.

    A subclass defines `_matvec` or `_matmat`, and `_rmatvec` or `_adjoint` where its conjugate transpose is used.

    Parameters
    ----------
    shape : tuple of two ints
    matvec : callable
        The product with a vector of shape (n,) or (n, 1).
    rmatvec : callable, optional
        The conjugate transpose's product with a vector.
    matmat, rmatmat : callable, optional
        The same with matrices; by columns unless given.
    dtype : dtype, optional
        That of the product with a random vector unless given.

    Examples
    --------
    >>> A = bc.scipy.sparse.linalg.LinearOperator((2, 2), matvec=lambda v: 2 * v)
    >>> A @ bc.ones(2)
    array([2., 2.])
    >>> (A * A - A).matvec(bc.ones(2))
    array([2., 2.])
    """

    ndim = 2
    __array_ufunc__ = None
    __array_priority__ = 1000.0
    shape: tuple[int, int]
    dtype: Any

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        if cls is LinearOperator:
            return super().__new__(_CustomLinearOperator)
        made = super().__new__(cls)
        plain = all(getattr(cls, name) is getattr(LinearOperator, name) for name in ("_matvec", "_matmat"))
        if plain:
            raise TypeError(f"{cls.__name__}: expected a subclass of LinearOperator to define _matvec or _matmat")
        return made

    if TYPE_CHECKING:
        # The class makes an operator of functions; a subclass gives a dtype and a shape.
        device: Any

        def __init__(self, *args: Any, **kwargs: Any) -> None: ...

    def __init__(self, dtype: Any, shape: Any) -> None:
        shape = tuple(shape)
        if len(shape) != 2 or not all(isinstance(n, (int, np.integer)) and n >= 0 for n in shape):
            raise ValueError(f"invalid shape {shape!r} (must be 2-d)")
        self.dtype = None if dtype is None else np.dtype(dtype)
        self.shape = (int(shape[0]), int(shape[1]))

    def _init_dtype(self) -> None:
        """Finds the dtype by a product where none was given."""
        if self.dtype is None:
            self.dtype = _c.asarray(self.matvec(_c.zeros(self.shape[1], np.int8))).dtype

    # ---- What a subclass defines

    def _matvec(self, x: Any) -> Any:
        return self.matmat(x.reshape(-1, 1))

    def _matmat(self, X: Any) -> Any:
        return _c.stack([self.matvec(X[:, j]).reshape(-1) for j in range(X.shape[1])], 1)

    def _rmatvec(self, x: Any) -> Any:
        if type(self)._adjoint is LinearOperator._adjoint:
            if type(self)._rmatmat is LinearOperator._rmatmat:
                raise NotImplementedError("rmatvec is not defined")
            return self._rmatmat(x.reshape(-1, 1))
        return self.H.matvec(x)

    def _rmatmat(self, X: Any) -> Any:
        if type(self)._adjoint is LinearOperator._adjoint:
            return _c.stack([self.rmatvec(X[:, j]).reshape(-1) for j in range(X.shape[1])], 1)
        return self.H.matmat(X)

    def _adjoint(self) -> LinearOperator:
        return _AdjointOperator(self)

    def _transpose(self) -> LinearOperator:
        return _TransposedOperator(self)

    # ---- Products

    def _vector(self, x: Any, n: int, apply: Any, out: int) -> Any:
        x = _c.asarray(x)
        if x.shape not in ((n,), (n, 1)):
            raise ValueError(f"dimension mismatch: expected a vector of {n} elements, got shape {x.shape}")
        y = _c.asarray(apply(x))
        if y.size != out:
            raise ValueError(f"invalid shape returned by user-defined matvec(): expected {out} elements, got shape {y.shape}")
        return y.reshape(out) if x.ndim == 1 else y.reshape(out, 1)

    def matvec(self, x: ArrayLike) -> ndarray:
        """The product with a vector of shape (n,) or (n, 1)."""
        return self._vector(x, self.shape[1], self._matvec, self.shape[0])

    def rmatvec(self, x: ArrayLike) -> ndarray:
        """The conjugate transpose's product with a vector of shape (m,) or (m, 1)."""
        return self._vector(x, self.shape[0], self._rmatvec, self.shape[1])

    def _matrix(self, X: Any, n: int, apply: Any) -> Any:
        if not is_sparse(X):
            X = _c.asarray(X)
        if len(X.shape) != 2:
            raise ValueError(f"expected 2-d ndarray or matrix, not {len(X.shape)}-d")
        if X.shape[0] != n:
            raise ValueError(f"dimension mismatch: {self.shape}, {X.shape}")
        return apply(X)

    def matmat(self, X: ArrayLike) -> ndarray:
        """The product with a matrix."""
        return self._matrix(X, self.shape[1], self._matmat)

    def rmatmat(self, X: ArrayLike) -> ndarray:
        """The conjugate transpose's product with a matrix."""
        return self._matrix(X, self.shape[0], self._rmatmat)

    def dot(self, x: Any) -> Any:
        """The product with a number, a vector, a matrix or another operator."""
        if isinstance(x, LinearOperator):
            return _Product(self, x)
        if np.isscalar(x):
            return _Scaled(self, x)
        if not is_sparse(x):
            x = _c.asarray(x)
        if len(x.shape) == 0:
            return _Scaled(self, x.item())
        if len(x.shape) == 1 or x.shape[1:] == (1,):
            return self.matvec(x)
        return self.matmat(x)

    def __call__(self, x: Any) -> Any:
        return self.dot(x)

    __mul__ = dot

    def __matmul__(self, x: Any) -> Any:
        if np.isscalar(x):
            raise ValueError("Scalar operands are not allowed, use '*' instead")
        return self.dot(x)

    def __rmul__(self, x: Any) -> Any:
        if np.isscalar(x):
            return _Scaled(self, x)
        return self._rdot(x)

    def __rmatmul__(self, x: Any) -> Any:
        if np.isscalar(x):
            raise ValueError("Scalar operands are not allowed, use '*' instead")
        return self._rdot(x)

    def _rdot(self, x: Any) -> Any:
        """x @ self, by the transpose."""
        x = _c.asarray(x)
        return self.T.matvec(x) if x.ndim == 1 else self.T.matmat(x.T).T

    def __truediv__(self, x: Any) -> Any:
        if not np.isscalar(x):
            raise ValueError("Can only divide a linear operator by a scalar.")
        inverse: Any = 1.0 / x  # type: ignore[operator]
        return _Scaled(self, inverse)

    def __add__(self, x: Any) -> Any:
        return _Sum(self, x) if isinstance(x, LinearOperator) else NotImplemented

    def __sub__(self, x: Any) -> Any:
        return _Sum(self, -x) if isinstance(x, LinearOperator) else NotImplemented

    def __neg__(self) -> LinearOperator:
        return _Scaled(self, -1)

    def __pow__(self, p: Any) -> Any:
        return _Power(self, int(p)) if isinstance(p, (int, np.integer)) else NotImplemented

    def adjoint(self) -> LinearOperator:
        """The conjugate transpose."""
        return self._adjoint()

    def transpose(self) -> LinearOperator:
        """The transpose."""
        return self._transpose()

    @property
    def H(self) -> LinearOperator:
        """The conjugate transpose."""
        return self._adjoint()

    @property
    def T(self) -> LinearOperator:
        """The transpose."""
        return self._transpose()

    def __repr__(self) -> str:
        dtype = "unspecified dtype" if self.dtype is None else f"dtype={self.dtype}"
        return f"<{self.shape[0]}x{self.shape[1]} {type(self).__name__} with {dtype}>"


class _CustomLinearOperator(LinearOperator):
    """An operator of functions that were given."""

    def __init__(self, shape: Any, matvec: Any, rmatvec: Any = None, matmat: Any = None, dtype: Any = None, rmatmat: Any = None) -> None:
        super().__init__(dtype, shape)
        self._functions = (matvec, rmatvec, matmat, rmatmat)
        self._init_dtype()

    def _matvec(self, x: Any) -> Any:
        return self._functions[0](x)

    def _matmat(self, X: Any) -> Any:
        return super()._matmat(X) if self._functions[2] is None else self._functions[2](X)

    def _rmatvec(self, x: Any) -> Any:
        if self._functions[1] is None:
            raise NotImplementedError("rmatvec is not defined")
        return self._functions[1](x)

    def _rmatmat(self, X: Any) -> Any:
        if self._functions[3] is None:
            return _c.stack([self.rmatvec(X[:, j]) for j in range(X.shape[1])], 1)
        return self._functions[3](X)

    def _adjoint(self) -> LinearOperator:
        matvec, rmatvec, matmat, rmatmat = self._functions
        if rmatvec is None:
            return _AdjointOperator(self)
        return _CustomLinearOperator(self.shape[::-1], rmatvec, matvec, rmatmat, self.dtype, matmat)


class _AdjointOperator(LinearOperator):
    def __init__(self, A: LinearOperator) -> None:
        super().__init__(A.dtype, A.shape[::-1])
        self.A = A

    def _matvec(self, x: Any) -> Any:
        return self.A._rmatvec(x)

    def _rmatvec(self, x: Any) -> Any:
        return self.A._matvec(x)

    def _matmat(self, X: Any) -> Any:
        return self.A._rmatmat(X)

    def _rmatmat(self, X: Any) -> Any:
        return self.A._matmat(X)

    def _adjoint(self) -> LinearOperator:
        return self.A


class _TransposedOperator(LinearOperator):
    def __init__(self, A: LinearOperator) -> None:
        super().__init__(A.dtype, A.shape[::-1])
        self.A = A

    def _matvec(self, x: Any) -> Any:
        return self.A.rmatvec(x.conj()).conj()

    def _rmatvec(self, x: Any) -> Any:
        return self.A.matvec(x.conj()).conj()

    def _matmat(self, X: Any) -> Any:
        return self.A.rmatmat(X.conj()).conj()

    def _rmatmat(self, X: Any) -> Any:
        return self.A.matmat(X.conj()).conj()

    def _transpose(self) -> LinearOperator:
        return self.A


class _Sum(LinearOperator):
    def __init__(self, A: LinearOperator, B: LinearOperator) -> None:
        if A.shape != B.shape:
            raise ValueError(f"cannot add {A} and {B}: shape mismatch")
        super().__init__(np.result_type(A.dtype, B.dtype), A.shape)
        self.args = (A, B)

    def _matvec(self, x: Any) -> Any:
        return self.args[0].matvec(x) + self.args[1].matvec(x)

    def _matmat(self, X: Any) -> Any:
        return self.args[0].matmat(X) + self.args[1].matmat(X)

    def _adjoint(self) -> LinearOperator:
        return self.args[0].H + self.args[1].H


class _Product(LinearOperator):
    def __init__(self, A: LinearOperator, B: LinearOperator) -> None:
        if A.shape[1] != B.shape[0]:
            raise ValueError(f"cannot multiply {A} and {B}: shape mismatch")
        super().__init__(np.result_type(A.dtype, B.dtype), (A.shape[0], B.shape[1]))
        self.args = (A, B)

    def _matvec(self, x: Any) -> Any:
        return self.args[0].matvec(self.args[1].matvec(x))

    def _matmat(self, X: Any) -> Any:
        return self.args[0].matmat(self.args[1].matmat(X))

    def _adjoint(self) -> LinearOperator:
        return self.args[1].H * self.args[0].H


class _Scaled(LinearOperator):
    def __init__(self, A: LinearOperator, factor: Any) -> None:
        super().__init__(np.result_type(A.dtype, type(factor)), A.shape)
        self.args = (A, factor)

    def _matvec(self, x: Any) -> Any:
        return self.args[1] * self.args[0].matvec(x)

    def _matmat(self, X: Any) -> Any:
        return self.args[1] * self.args[0].matmat(X)

    def _adjoint(self) -> LinearOperator:
        return self.args[0].H * np.conj(self.args[1])


class _Power(LinearOperator):
    def __init__(self, A: LinearOperator, p: int) -> None:
        if A.shape[0] != A.shape[1]:
            raise ValueError(f"square LinearOperator expected, got {A!r}")
        if p < 0:
            raise ValueError("non-negative integer expected as p")
        super().__init__(A.dtype, A.shape)
        self.args = (A, int(p))

    def _matvec(self, x: Any) -> Any:
        for _ in range(self.args[1]):
            x = self.args[0].matvec(x)
        return x

    def _matmat(self, X: Any) -> Any:
        for _ in range(self.args[1]):
            X = self.args[0].matmat(X)
        return X

    def _adjoint(self) -> LinearOperator:
        return self.args[0].H ** self.args[1]


class MatrixLinearOperator(LinearOperator):
    """The operator of a dense or sparse matrix."""

    def __init__(self, A: Any) -> None:
        super().__init__(A.dtype, A.shape)
        self.A = A
        self.device = device_of(A)
        self._adjoint_of_A: MatrixLinearOperator | None = None

    def _matvec(self, x: Any) -> Any:
        return self.A @ x

    def _matmat(self, X: Any) -> Any:
        return self.A @ X

    def _adjoint(self) -> LinearOperator:
        # Kept, as SciPy's: iterations multiply by it again and again.
        if self._adjoint_of_A is None:
            A = self.A.conj() if np.dtype(self.A.dtype).kind == "c" else self.A
            self._adjoint_of_A = MatrixLinearOperator(A.T)
        return self._adjoint_of_A

    def _transpose(self) -> LinearOperator:
        return MatrixLinearOperator(self.A.T)


class IdentityOperator(LinearOperator):
    """The identity, which gives its operand back."""

    def __init__(self, shape: Any, dtype: Any = None) -> None:
        super().__init__(dtype, shape)

    def _matvec(self, x: Any) -> Any:
        return x

    def _matmat(self, X: Any) -> Any:
        return X

    def _adjoint(self) -> LinearOperator:
        return self

    def _transpose(self) -> LinearOperator:
        return self


def aslinearoperator(A: Any) -> LinearOperator:
    """An operator of a matrix: dense, sparse, or an object with `shape` and `matvec`.

    Examples
    --------
    >>> bc.scipy.sparse.linalg.aslinearoperator(bc.eye(2)).matvec(bc.array([1.0, 2.0]))
    array([1., 2.])
    """
    if isinstance(A, LinearOperator):
        return A
    if is_sparse(A):
        return MatrixLinearOperator(ours(A))
    if isinstance(A, (ndarray, np.ndarray, list, tuple)):
        a = _c.asarray(A)
        if a.ndim > 2:
            raise ValueError("array must have ndim <= 2")
        return MatrixLinearOperator(_c.atleast_2d(a))
    if hasattr(A, "shape") and hasattr(A, "matvec"):
        return LinearOperator(
            A.shape,
            A.matvec,
            rmatvec=getattr(A, "rmatvec", None),
            rmatmat=getattr(A, "rmatmat", None),
            dtype=getattr(A, "dtype", None),
        )
    raise TypeError("type not understood")
