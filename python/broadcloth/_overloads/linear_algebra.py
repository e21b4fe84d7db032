"""Products, norms, factorisations and eigenvalues of matrices.

Factorisations are LAPACK's, as NumPy calls it: the interpreter runs them (`objmode`). Small ones of real numbers that cost less than such a
call are written out.
"""

from __future__ import annotations

import math

import numpy as np

from .._jit import objmode
from ._table import stands_for


@stands_for("numpy.inner")
def inner(a, b):
    return np.dot(a, b.T)


def _like(x, a):
    """Results of double precision in the precision of the argument: that of float32 is single."""
    return x.astype((a[:0, :0] * 1.0).dtype)


def _real_like(x, a):
    return x.astype(np.real(a[:0, :0] * 1.0).dtype)


@stands_for("numpy.norm")
def norm(x, ord=None):
    order = ord
    if order is None or (isinstance(order, str) and order == "fro"):
        return np.linalg.norm(x)
    if isinstance(order, str):
        if order != "nuc" or x.ndim != 2:
            raise ValueError("Invalid norm order for matrices.")
        return singular_values(x).sum()
    if x.ndim == 1:
        size = np.abs(x)
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
        return (s[0] if order == 2 else s[-1]) * 1.0
    raise ValueError("Invalid norm order for matrices.")


@stands_for("numpy.cross")
def cross(a, b):
    if a.shape[-1] != 3 or b.shape[-1] != 3:
        raise ValueError("cross: expected vectors of three elements")
    out = np.empty(np.broadcast_shapes(a.shape, b.shape), dtype=(a[..., :0] * b[..., :0]).dtype)
    out[..., 0] = a[..., 1] * b[..., 2] - a[..., 2] * b[..., 1]
    out[..., 1] = a[..., 2] * b[..., 0] - a[..., 0] * b[..., 2]
    out[..., 2] = a[..., 0] * b[..., 1] - a[..., 1] * b[..., 0]
    return out


@stands_for("numpy.kron")
def kron(a, b):
    if a.ndim == 1:
        return np.outer(a, b).ravel()
    n, m = a.shape
    k, w = b.shape
    out = np.empty((n * k, m * w), dtype=(a[:1, :1] * b[:1, :1]).dtype)
    for i in range(n):
        for j in range(m):
            out[i * k : (i + 1) * k, j * w : (j + 1) * w] = a[i, j] * b
    return out


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
    if np.iscomplexobj(a):
        with objmode(u="complex128[:, ::1]", v="complex128[:, ::1]"):
            u, v = (x.astype(np.complex128, order="C") for x in np.linalg.qr(a))
        return _like(u, a), _like(v, a)
    with objmode(q="float64[:, ::1]", r="float64[:, ::1]"):
        q, r = (x.astype(np.float64, order="C") for x in np.linalg.qr(a))
    return _like(q, a), _like(r, a)


@stands_for("numpy.eigh")
def eigh(a):
    if np.iscomplexobj(a):
        with objmode(w="float64[::1]", u="complex128[:, ::1]"):
            w, u = np.linalg.eigh(a)
            w, u = w.astype(np.float64), u.astype(np.complex128, order="C")
        return _real_like(w, a), _like(u, a)
    with objmode(w="float64[::1]", v="float64[:, ::1]"):
        w, v = np.linalg.eigh(a)
        w, v = w.astype(np.float64), v.astype(np.float64, order="C")
    return _real_like(w, a), _like(v, a)


@stands_for("numpy.eigvalsh")
def eigvalsh(a):
    with objmode(w="float64[::1]"):
        w = np.linalg.eigvalsh(a).astype(np.float64)
    return _real_like(w, a)


@stands_for("numpy.eig")
def eig(a):
    """Of real matrices real values, as a type is known before the values are: others raise."""
    if np.iscomplexobj(a):
        with objmode(z="complex128[::1]", u="complex128[:, ::1]"):
            z, u = np.linalg.eig(a)
            z, u = z.astype(np.complex128), u.astype(np.complex128, order="C")
        return _like(z, a), _like(u, a)
    with objmode(w="float64[::1]", v="float64[:, ::1]"):
        w, v = np.linalg.eig(a)
        if np.any(w.imag):
            raise ValueError("eig: this real matrix has complex eigenvalues; pass a.astype(np.complex128)")
        # From NumPy 2.5 on they are complex in any case.
        w, v = w.real.astype(np.float64), v.real.astype(np.float64, order="C")
    return _real_like(w, a), _like(v, a)


@stands_for("numpy.eigvals")
def eigvals(a):
    if np.iscomplexobj(a):
        with objmode(z="complex128[::1]"):
            z = np.linalg.eigvals(a).astype(np.complex128)
        return _like(z, a)
    with objmode(w="float64[::1]"):
        w = np.linalg.eigvals(a)
        if np.any(w.imag):
            raise ValueError("eigvals: this real matrix has complex eigenvalues; pass a.astype(np.complex128)")
        w = w.real.astype(np.float64)
    return _real_like(w, a)


@stands_for("numpy.svd")
def svd(a, full_matrices=True):
    if np.iscomplexobj(a):
        with objmode(u="complex128[:, ::1]", s="float64[::1]", v="complex128[:, ::1]"):
            u, s, v = np.linalg.svd(a, full_matrices=bool(full_matrices))
            u, s, v = u.astype(np.complex128, order="C"), s.astype(np.float64), v.astype(np.complex128, order="C")
        return _like(u, a), _real_like(s, a), _like(v, a)
    with objmode(x="float64[:, ::1]", s="float64[::1]", y="float64[:, ::1]"):
        x, s, y = (m.astype(np.float64, order="C") for m in np.linalg.svd(a, full_matrices=bool(full_matrices)))
    return _like(x, a), _real_like(s, a), _like(y, a)


def singular_values(a):
    with objmode(s="float64[::1]"):
        s = np.linalg.svd(a, compute_uv=False).astype(np.float64)
    return _real_like(s, a)


@stands_for("numpy.matrix_rank")
def matrix_rank(a, tol=None):
    if a.ndim < 2:
        return int(np.any(a != 0))
    s = singular_values(a)
    limit = s[0] * max(a.shape[0], a.shape[1]) * np.finfo(s.dtype).eps if tol is None else tol
    return np.count_nonzero(s > limit)


@stands_for("numpy.pinv")
def pinv(a, rcond=1e-15):
    if np.iscomplexobj(a):
        with objmode(z="complex128[:, ::1]"):
            z = np.linalg.pinv(a, rcond).astype(np.complex128, order="C")
        return _like(z, a)
    with objmode(x="float64[:, ::1]"):
        x = np.linalg.pinv(a, rcond).astype(np.float64, order="C")
    return _like(x, a)


@stands_for("numpy.lstsq")
def lstsq(a, b, rcond=-1.0):
    both = (a[:0, :0] * 1.0).dtype
    if np.iscomplexobj(a) or np.iscomplexobj(b):
        flat = b.reshape(b.shape[0], -1)
        with objmode(z="complex128[:, ::1]", left="float64[::1]", rank="int64", s="float64[::1]"):
            z, left, rank, s = np.linalg.lstsq(a, flat, rcond=rcond)
            z, left, s = z.astype(np.complex128, order="C"), left.astype(np.float64), s.astype(np.float64)
        return z.reshape((a.shape[1],) + b.shape[1:]), left, rank, s
    columns = b.reshape(b.shape[0], -1)
    with objmode(x="float64[:, ::1]", left="float64[::1]", rank="int64", s="float64[::1]"):
        x, left, rank, s = np.linalg.lstsq(a, columns, rcond=rcond)
        x, left, s = x.astype(np.float64, order="C"), left.astype(np.float64), s.astype(np.float64)
    return x.reshape((a.shape[1],) + b.shape[1:]).astype(both), left.astype(both), rank, s.astype(both)


@stands_for("numpy.cond")
def cond(a, p=None):
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
def trace(a, offset=0):
    s = a[0, 0] * 0
    for i in range(max(0, -offset), a.shape[0]):
        if i + offset < a.shape[1]:
            s += a[i, i + offset]
    return s


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
