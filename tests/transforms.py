"""What the tests of transforms share: lengths, layouts, values, and how near a result must come."""

from __future__ import annotations

import math

import numpy as np

import broadcloth as bc
from support import host

LENGTHS = [*range(1, 33), 35, 45, 64, 97, 105, 121, 128, 1009, 4096]

LAYOUTS = {
    "C": lambda a: a,
    "F": lambda a: a.copy(order="F") if isinstance(a, np.ndarray) else a.T.copy().T,
    "transposed": lambda a: a.transpose(2, 0, 1),
    "strided": lambda a: a[::2, 1::2, ::3],
    "reversed": lambda a: a[::-1, :, ::-1],
    "broadcast": lambda a: (np if isinstance(a, np.ndarray) else bc).broadcast_to(a[:1], (4, *a.shape[1:])),
    "offset": lambda a: a[1:, 1:, 1:],
    "swapped": lambda a: a.swapaxes(0, 2)[1:],
}


def values(shape, dtype, seed=0):
    rng = np.random.default_rng(seed)
    dt = np.dtype(dtype)
    if dt.kind == "b":
        return rng.random(shape) < 0.5
    if dt.kind in "iu":
        return rng.integers(0, 20, shape).astype(dt)
    a = rng.standard_normal(shape)
    return (a + 1j * rng.standard_normal(shape)).astype(dt) if dt.kind == "c" else a.astype(dt)


def close(got, want, points, context=""):
    """The norm of the error is at most log2(n) eps times the result's (Gentleman and Sande 1966), with a margin of 16: transforms of prime
    lengths go through three of others."""
    got = host(got)
    assert got.dtype == want.dtype, f"{context}: {got.dtype}, NumPy's is {want.dtype}"
    assert got.shape == want.shape, f"{context}: {got.shape}, NumPy's is {want.shape}"
    eps = max(np.finfo(got.dtype).eps, 1e-16)
    want = want.astype(np.complex128)
    size = max(np.linalg.norm(want.ravel()), 1e-300)
    error = np.linalg.norm((got.astype(np.complex128) - want).ravel())
    assert error <= 16 * eps * math.log2(2 * max(points, 1)) * size, f"{context}: relative error {error / size:.2e}"
