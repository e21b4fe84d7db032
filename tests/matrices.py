"""Matrices for the tests of linear algebra, and the bound of their errors."""

from __future__ import annotations

import numpy as np

DTYPES = ["f", "d", "F", "D"]
LAYOUTS = ["C", "F", "strided", "transposed", "reversed"]


def matrix(shape, dtype, seed=0):
    rng = np.random.default_rng(seed)
    a = rng.normal(size=shape)
    return (a + 1j * rng.normal(size=shape)).astype(dtype) if np.dtype(dtype).kind == "c" else a.astype(dtype)


def hermitian(n, dtype, batch=()):
    a = matrix((*batch, n, n), dtype)
    return a + a.conj().swapaxes(-1, -2)


def definite(n, dtype, batch=()):
    a = matrix((*batch, n, n), dtype)
    return a @ a.conj().swapaxes(-1, -2) + np.eye(n, dtype=dtype)


def laid(xp, a, layout):
    """The array of the same values, lying in memory in another way."""
    if layout == "F":
        return xp.asarray(np.ascontiguousarray(a.swapaxes(-1, -2))).mT
    if layout == "strided":
        wide = np.zeros((*a.shape[:-2], 2 * a.shape[-2], 3 * a.shape[-1]), a.dtype)
        wide[..., ::2, 1::3] = a
        return xp.asarray(wide)[..., ::2, 1::3]
    if layout == "transposed":
        return xp.asarray(np.ascontiguousarray(a.T)).T
    if layout == "reversed":
        return xp.asarray(np.ascontiguousarray(a[..., ::-1, ::-1]))[..., ::-1, ::-1]
    return xp.asarray(a)


def eps(dtype):
    return float(np.finfo(dtype).eps)


def assert_small(difference, scale, n, dtype):
    """|difference| <= c n eps |scale| in the Frobenius norm: the backward error of Householder's and Gauss's methods, with a margin."""
    size = np.linalg.norm(np.asarray(difference, dtype=complex).ravel())
    assert size <= 50 * max(n, 1) * eps(dtype) * max(float(np.linalg.norm(np.asarray(scale, dtype=complex).ravel())), 1.0), size


def dagger(a):
    return a.conj().swapaxes(-1, -2)
