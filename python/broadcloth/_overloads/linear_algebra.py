"""Products, norms, factorisations and eigenvalues of matrices.

Factorisations are LAPACK's, in double precision; least squares and what is rare the interpreter asks NumPy for (`objmode`). Small Cholesky
factors are written out.
"""

from __future__ import annotations

import math

import numpy as np

from .._jit import objmode
from ._table import stands_for
from .shapes import interleaved, merged, ones, product, products, with_axes


@stands_for("numpy.inner")
def inner(a, b):
    return np.dot(a, b) if a.ndim == 0 or b.ndim < 2 else np.dot(a, np.swapaxes(b, -1, -2))


@stands_for("numpy.tensordot")
def tensordot(a, b, axes=2):
    if isinstance(axes, tuple):
        return _contracted(a, b, _several(axes[0]), _several(axes[1]))
    # How many dimensions are left must be known when the function is compiled.
    if axes == 0:
        return _contracted(a, b, (), ())
    if axes == 1:
        return _contracted(a, b, (-1,), (0,))
    if axes == 2:
        return _contracted(a, b, (-2, -1), (0, 1))
    if axes == 3:
        return _contracted(a, b, (-3, -2, -1), (0, 1, 2))
    raise ValueError("tensordot: expected up to three axes, or a tuple of axes")


def _several(axes):
    return axes if isinstance(axes, tuple) else (axes,)


def _extents_agree(a, b, of_a, of_b):
    if len(of_a) == 0:
        return True
    return a.shape[of_a[0]] == b.shape[of_b[0]] and _extents_agree(a, b, of_a[1:], of_b[1:])


def _contracted(a, b, of_a, of_b):
    """The sums of products along axes of two arrays."""
    if len(of_a) != len(of_b) or not _extents_agree(a, b, of_a, of_b):
        raise ValueError("shape-mismatch for sum")
    rows, columns = merged(a, of_a), merged(b, of_b)
    left, right, count = rows.shape[:-1], columns.shape[:-1], rows.shape[-1]
    return np.dot(rows.reshape(product(left), count), columns.reshape(product(right), count).T).reshape(left + right)


def _lapack(what, m, n, a, s, u, v):
    """Known to the compiler: one of LAPACK's routines over column-major matrices; see compiled_lapack.cpp."""


_lapack.__kernel_name__ = "numba.lapack"
_EIGH, _SVD, _SINGULAR_VALUES, _QR, _EIG, _ALL = 0, 1, 2, 3, 4, 16


def _wide(a):
    """A copy in C order, of double precision."""
    if np.iscomplexobj(a):
        return a.astype(np.complex128)
    return a.astype(np.float64)


def _check(info, a):
    if info == -1000:
        raise RuntimeError("linalg: OpenBLAS was not found")
    if info != 0:
        raise np.linalg.LinAlgError("the routine of LAPACK did not converge, or found NaN or infinity")


def _check_square(a):
    if a.shape[0] != a.shape[1]:
        raise np.linalg.LinAlgError("Last 2 dimensions of the array must be square.")


def _like(x, a):
    """Results of double precision in the precision of the argument: that of float32 is single."""
    return x.astype((a[:0, :0] * 1.0).dtype)


def _real_like(x, a):
    return x.astype(np.real(a[:0, :0] * 1.0).dtype)


def _norms(x, order, axis):
    """The norms of the vectors along an axis, or of the matrices of two axes."""
    if isinstance(axis, tuple):
        if order is not None and not (isinstance(order, str) and order == "fro"):
            raise ValueError("norm(): the matrices of two axes have the norm 'fro' in compiled functions")
        return np.sqrt(np.sum(np.abs(x) ** 2 * 1.0, axis))
    size = np.abs(x) * 1.0
    if order is None:
        return np.sqrt(np.sum(size**2, axis))
    if isinstance(order, str):
        raise ValueError("Invalid norm order for vectors.")
    if order == np.inf:
        return np.max(size, axis)
    if order == -np.inf:
        return np.min(size, axis)
    if order == 0:
        return np.sum(size != 0, axis) * 1.0
    return np.sum(size**order, axis) ** (1.0 / order)


@stands_for("numpy.norm")
def norm(x, ord=None, axis=None):
    order = ord
    if axis is not None and x.ndim == 0:
        raise ValueError("norm(): the axis is out of bounds for an array without dimensions")
    if axis is not None:
        return _norms(x, order, axis[0] if isinstance(axis, tuple) and len(axis) == 1 else axis)
    if order is None or (isinstance(order, str) and order == "fro" and x.ndim == 2):
        return np.linalg.norm(x)
    if isinstance(order, str):
        if order != "nuc" or x.ndim != 2:
            raise ValueError("Invalid norm order for matrices.")
        return singular_values(x).sum()
    if x.ndim != 1 and x.ndim != 2:
        raise ValueError("Improper number of dimensions to norm.")
    if x.ndim == 1:
        size = np.abs(x) * 1.0
        if order == np.inf:
            return size.max() * 1.0
        if order == -np.inf:
            return size.min() * 1.0
        if order == 0:
            return np.count_nonzero(x) * 1.0
        return (size**order).sum() ** (1.0 / order)
    if order == 1 or order == -1:
        sums = np.abs(x).sum(0)
        return (sums.max() if order == 1 else sums.min()) * 1.0
    if order == np.inf or order == -np.inf:
        sums = np.abs(x).sum(1)
        return (sums.max() if order > 0 else sums.min()) * 1.0
    if order == 2 or order == -2:
        s = singular_values(x)
        if s.size == 0:
            if order == 2:
                return s.sum()
            raise ValueError("zero-size array to reduction operation minimum which has no identity")
        return (s[0] if order == 2 else s[-1]) * 1.0
    raise ValueError("Invalid norm order for matrices.")


@stands_for("numpy.cross")
def cross(a, b, axisa=-1, axisb=-1, axisc=-1, axis=None):
    if axis is not None:
        return cross(a, b, axis, axis, axis)
    if axisa != -1 or axisb != -1 or axisc != -1:
        return np.ascontiguousarray(np.moveaxis(cross(np.moveaxis(a, axisa, -1), np.moveaxis(b, axisb, -1)), -1, axisc))
    if a.dtype == np.bool_ and b.dtype == np.bool_:
        raise TypeError("cross() does not take booleans, which have no difference: convert with astype()")
    if a.shape[-1] != 3 or b.shape[-1] != 3:
        raise ValueError(f"incompatible dimensions for cross product: expected 3 elements, got {a.shape[-1]} and {b.shape[-1]}")
    out = np.empty(np.broadcast_shapes(a.shape, b.shape), dtype=(a[..., :0] * b[..., :0]).dtype)
    out[..., 0] = a[..., 1] * b[..., 2] - a[..., 2] * b[..., 1]
    out[..., 1] = a[..., 2] * b[..., 0] - a[..., 0] * b[..., 2]
    out[..., 2] = a[..., 0] * b[..., 1] - a[..., 1] * b[..., 0]
    return out


@stands_for("numpy.matmul")
def matmul(a, b):
    """Products of stacks of matrices."""
    if a.ndim == 1:
        return matmul(a.reshape(1, a.size), b)[..., 0, :].copy()
    if b.ndim == 1:
        return matmul(a, b.reshape(b.size, 1))[..., 0].copy()
    stack = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    left = np.ascontiguousarray(np.broadcast_to(a, stack + a.shape[-2:])).reshape(-1, a.shape[-2], a.shape[-1])
    right = np.ascontiguousarray(np.broadcast_to(b, stack + b.shape[-2:])).reshape(-1, b.shape[-2], b.shape[-1])
    out = np.empty((left.shape[0], a.shape[-2], b.shape[-1]), dtype=(a[..., :0] * b[..., :0]).dtype)
    for k in range(left.shape[0]):
        out[k] = left[k] @ right[k]
    return out.reshape(stack + out.shape[1:])


@stands_for("numpy.dot_of_stacks")
def dot_of_stacks(a, b):
    """Sums over the last axis of `a` and the last but one of `b`."""
    if b.ndim < 3:
        flat = np.dot(np.ascontiguousarray(a).reshape(-1, a.shape[-1]), b)
        return flat.reshape(a.shape[:-1] + b.shape[1:])
    inner = np.ascontiguousarray(np.moveaxis(b, -2, 0))
    flat = np.dot(np.ascontiguousarray(a).reshape(-1, a.shape[-1]), inner.reshape(inner.shape[0], -1))
    return flat.reshape(a.shape[:-1] + inner.shape[1:])


@stands_for("numpy.kron")
def kron(a, b):
    if a.ndim == 0 or b.ndim == 0:
        return a * b
    x, y = with_axes(a, b.shape), with_axes(b, a.shape)
    pairs = x.reshape(interleaved(x.shape, ones(x.shape))) * y.reshape(interleaved(ones(y.shape), y.shape))
    return np.ascontiguousarray(pairs).reshape(products(x.shape, y.shape))


def _cholesky(a):
    if np.iscomplexobj(a):
        with objmode(z="complex128[:, ::1]"):
            z = np.linalg.cholesky(a).astype(np.complex128)
        return _like(z, a)
    with objmode(x="float64[:, ::1]"):
        x = np.linalg.cholesky(a).astype(np.float64)
    return _like(x, a)


@stands_for("numpy.cholesky")
def cholesky(a):
    n = a.shape[0]
    if a.shape[1] != n:
        raise np.linalg.LinAlgError("Last 2 dimensions of the array must be square.")
    if np.iscomplexobj(a) or n > 48:
        return _cholesky(a)
    out = np.zeros((n, n), dtype=(a[:0, :0] * 1.0).dtype)
    for j in range(n):
        s = a[j, j] * 1.0
        for k in range(j):
            s -= out[j, k] * out[j, k]
        if not s > 0:
            raise np.linalg.LinAlgError("Matrix is not positive definite.")
        out[j, j] = math.sqrt(s)
        for i in range(j + 1, n):
            t = a[i, j] * 1.0
            for k in range(j):
                t -= out[i, k] * out[j, k]
            out[i, j] = t / out[j, j]
    return out


@stands_for("numpy.qr")
def qr(a):
    m, n = a.shape
    k = min(m, n)
    q = _wide(a.T)
    r = np.empty_like(q)
    _check(_lapack(_QR, m, n, q, q[0, :0].real, r, q), a)
    upper = np.zeros((k, n), dtype=q.dtype)
    for i in range(k):
        for j in range(i, n):
            upper[i, j] = r[j, i]
    return _like(q[:k].T, a), _like(upper, a)


@stands_for("numpy.eigh")
def eigh(a):
    _check_square(a)
    v = _wide(a.T)
    w = np.empty(a.shape[0])
    _check(_lapack(_EIGH, 1, a.shape[0], v, w, v, v), a)
    return _real_like(w, a), _like(v.T, a)


@stands_for("numpy.eigvalsh")
def eigvalsh(a):
    _check_square(a)
    v = _wide(a.T)
    w = np.empty(a.shape[0])
    _check(_lapack(_EIGH, 0, a.shape[0], v, w, v, v), a)
    return _real_like(w, a)


@stands_for("numpy.eig")
def eig(a):
    """Of real matrices real values, as a type is known before the values are: others raise."""
    _check_square(a)
    n = a.shape[0]
    b = _wide(a.T)
    v = np.empty_like(b)
    if np.iscomplexobj(a):
        z = np.empty(n, dtype=np.complex128)
        _check(_lapack(_EIG, 1, n, b, z, v, v), a)
        return _like(z, a), _like(v.T, a)
    w = np.empty(2 * n)
    _check(_lapack(_EIG, 1, n, b, w, v, v), a)
    if np.any(w[n:] != 0):
        raise ValueError("eig: this real matrix has complex eigenvalues; pass a.astype(np.complex128)")
    return _real_like(w[:n], a), _like(v.T, a)


@stands_for("numpy.eigvals")
def eigvals(a):
    _check_square(a)
    n = a.shape[0]
    b = _wide(a.T)
    if np.iscomplexobj(a):
        z = np.empty(n, dtype=np.complex128)
        _check(_lapack(_EIG, 0, n, b, z, b, b), a)
        return _like(z, a)
    w = np.empty(2 * n)
    _check(_lapack(_EIG, 0, n, b, w, b, b), a)
    if np.any(w[n:] != 0):
        raise ValueError("eigvals: this real matrix has complex eigenvalues; pass a.astype(np.complex128)")
    return _real_like(w[:n], a)


def _svd(a, full):
    """LAPACK sees the transposed matrix, whose left vectors are the right ones here: as they lie, both are in C order."""
    m, n = a.shape
    k = min(m, n)
    b = _wide(a)
    u = np.empty((m, m if full else k), dtype=b.dtype)
    v = np.empty((n if full else k, n), dtype=b.dtype)
    s = np.empty(k)
    if k == 0:  # LAPACK takes no empty matrix
        u[:, :] = np.eye(u.shape[0], u.shape[1])
        v[:, :] = np.eye(v.shape[0], v.shape[1])
        return u, s, v
    _check(_lapack(_SVD + (_ALL if full else 0), n, m, b, s, v, u), a)
    return u, s, v


@stands_for("numpy.svd")
def svd(a, full_matrices=True):
    u, s, v = _svd(a, bool(full_matrices))
    return _like(u, a), _real_like(s, a), _like(v, a)


def singular_values(a):
    b = _wide(a)
    s = np.empty(min(a.shape[0], a.shape[1]))
    if s.size == 0:
        return _real_like(s, a)
    _check(_lapack(_SINGULAR_VALUES, a.shape[1], a.shape[0], b, s, b, b), a)
    return _real_like(s, a)


@stands_for("numpy.matrix_rank")
def matrix_rank(A, tol=None):
    if A.ndim > 2:
        raise ValueError("matrix_rank() takes one matrix in compiled functions, no stack of them: call it in a loop")
    return int(np.any(A != 0)) if A.ndim < 2 else _rank(A, tol)


def _rank(a, tol):
    s = singular_values(a)
    if s.size == 0:
        return 0
    limit = s[0] * max(a.shape[0], a.shape[1]) * np.finfo(s.dtype).eps if tol is None else tol
    return np.count_nonzero(s > limit)


@stands_for("numpy.pinv")
def pinv(a, rcond=1e-15):
    u, s, v = _svd(a, False)
    limit = rcond * (s[0] if s.size > 0 else 0.0)
    for i in range(s.size):
        u[:, i] = u[:, i] / s[i] if s[i] > limit else u[:, i] * 0.0
    return _like((u @ v).conj().T, a)


@stands_for("numpy.lstsq")
def lstsq(a, b, rcond=-1.0):
    """By singular values, as LAPACK's gelsd does it."""
    m, n = a.shape
    if b.shape[0] != m:
        raise np.linalg.LinAlgError("Incompatible dimensions")
    rows = b if b.ndim == 2 else b.reshape(m, 1)
    both = (a[:0, :0] * rows[:0, :1] * 1.0).dtype
    columns = _wide(rows + (a[:0, :0].sum() * 0))
    u, s, v = _svd(a, False)
    eps = np.finfo((a[:0, :0] * 1.0).real.dtype).eps
    limit = (eps if rcond < 0 else rcond) * (s[0] if s.size > 0 else 0.0)
    rank = np.count_nonzero(s > limit)
    parts = u.conj().T @ columns
    for i in range(s.size):
        parts[i] = parts[i] / s[i] if i < rank else parts[i] * 0.0
    x = v.conj().T @ parts
    left = np.empty(columns.shape[1] if rank == n and m > n else 0)
    if left.size > 0:
        rest = columns - a.astype(columns.dtype) @ x
        for j in range(left.size):
            left[j] = (np.abs(rest[:, j]) ** 2).sum()
    return x.reshape((n,) + b.shape[1:]).astype(both), _real_like(left, a), rank, _real_like(s, a)


@stands_for("numpy.cond")
def cond(x, p=None):
    if x.ndim != 2:
        raise np.linalg.LinAlgError("expected a matrix")
    if x.size == 0:
        raise np.linalg.LinAlgError("cond is not defined on empty arrays")
    return _cond(x, p)


def _cond(a, p):
    if p is None or (not isinstance(p, str) and (p == 2 or p == -2)):
        s = singular_values(a)
        first, last = (s[-1], s[0]) if not (p is None or isinstance(p, str)) and p == -2 else (s[0], s[-1])
        return np.inf if last == 0 else first / last
    return np.linalg.norm(a, p) * np.linalg.norm(np.linalg.inv(a), p)


@stands_for("numpy.slogdet")
def slogdet(a):
    if np.iscomplexobj(a):
        with objmode(z="complex128", log="float64"):
            z, log = np.linalg.slogdet(a)
        return z, log
    with objmode(sign="float64", log="float64"):
        sign, log = np.linalg.slogdet(a)
    return sign, log


@stands_for("numpy.matrix_power")
def matrix_power(a, n):
    if a.ndim != 2:
        raise np.linalg.LinAlgError("expected a matrix")
    _check_square(a)
    power = abs(n)
    base = np.linalg.inv(a) if n < 0 else a.copy()
    out = np.eye(a.shape[0]).astype(base.dtype)
    while power > 0:
        if power & 1:
            out = out @ base
        base = base @ base
        power >>= 1
    return out


@stands_for("numpy.trace")
def trace(a, offset=0, axis1=0, axis2=1, dtype=None):
    return np.sum(np.diagonal(a, offset, axis1, axis2), -1, dtype)


@stands_for("numpy.dot")
def dot(a, b, out):
    out[...] = np.dot(a, b)
    return out


@stands_for("numpy.roots")
def roots(p):
    """Eigenvalues of the companion matrix, as `eigvals` gives them."""
    if np.iscomplexobj(p):
        with objmode(z="complex128[::1]"):
            z = np.roots(p).astype(np.complex128)
        return z
    with objmode(x="float64[::1]"):
        x = np.roots(p)
        if np.iscomplexobj(x):
            raise ValueError("roots: this real polynomial has complex roots; pass p.astype(np.complex128)")
        x = x.astype(np.float64)
    return x
