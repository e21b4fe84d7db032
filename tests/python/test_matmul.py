"""Products against NumPy: shapes, types, layouts, errors."""

from __future__ import annotations

import numpy as np
import pytest

import broadcloth as bc
from support import assert_same, host


def values(shape, dtype, seed=0):
    """Small whole numbers: every sum is exact in every dtype, whatever the order, so that products are NumPy's to the last bit."""
    rng = np.random.default_rng(seed)
    kind = np.dtype(dtype).kind
    if kind in "bu":
        return rng.integers(0, 2 if kind == "b" else 5, shape).astype(dtype)
    a = rng.integers(-4, 5, shape)
    return (a + 1j * rng.integers(-4, 5, shape)).astype(dtype) if kind == "c" else a.astype(dtype)


def same(got, want, context=""):
    got, want = host(got), np.asarray(want)
    assert got.dtype == want.dtype, f"{context}: {got.dtype}, NumPy's is {want.dtype}"
    assert got.shape == want.shape, context
    np.testing.assert_array_equal(got, want, context)


def bound(a, b):
    """The largest error of each element of a product in the operands' precision, for any order of the sums (Higham 2002, section 3.5)."""
    eps = np.finfo(a.dtype).eps / 2
    k = a.shape[-1] * (2 if a.dtype.kind == "c" else 1)
    return k * eps / (1 - k * eps) * (np.abs(a).astype(float) @ np.abs(b).astype(float)) * (2**0.5 if a.dtype.kind == "c" else 1)


SHAPES = [
    ((3, 4), (4, 5)), ((1, 7), (7, 1)), ((4,), (4, 5)), ((3, 4), (4,)), ((4,), (4,)), ((2, 3, 4), (4, 5)), ((2, 3, 4), (2, 4, 5)),
    ((2, 1, 3, 4), (5, 4, 2)), ((0, 4), (4, 3)), ((3, 0), (0, 2)), ((65, 33), (33, 70)), ((4,), (2, 4, 3)), ((2, 3, 4), (4,)),
]  # fmt: skip


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128", "int32", "int64", "uint8", "float16", "bool"])
def test_matmul_matches_numpy(xp, dtype):
    for a, b in SHAPES:
        n, m = values(a, dtype), values(b, dtype, 1)
        same(xp.asarray(n) @ xp.asarray(m), n @ m, f"{a} @ {b}")


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex128", "int64"])
def test_matmul_of_views(xp, dtype):
    n, m = values((12, 10), dtype), values((12, 10), dtype, 1)
    x, y = xp.asarray(n), xp.asarray(m)
    for f in (lambda a, b: a @ b.T, lambda a, b: a.T @ b, lambda a, b: a[::2] @ b[::-1].T, lambda a, b: a[:, ::3] @ b[::3, 1::3],
              lambda a, b: a[1:5, 2:6] @ b[3:7, 1:9], lambda a, b: (a + 1) @ (b * 2).T,
              lambda a, b: a[:, None] @ b[:, :, None]):  # fmt: skip
        if f(n, m) is not None:
            same(f(x, y), f(n, m))


def test_types_are_promoted(xp):
    for a in ("int8", "float32", "complex64", "bool"):
        for b in ("int64", "float64", "uint8", "float16"):
            n, m = values((3, 4), a), values((4, 2), b)
            same(xp.asarray(n) @ xp.asarray(m), n @ m, f"{a} @ {b}")


def test_products_by_name(xp):
    n, m, v, w = values((3, 4), "float64"), values((4, 5), "float64", 1), values(4, "float64", 2), values(4, "float64", 3)
    x, y, s, t = map(xp.asarray, (n, m, v, w))
    same(xp.dot(x, y), np.dot(n, m))
    same(xp.dot(x, s), np.dot(n, v))
    same(xp.dot(s, t), np.asarray(np.dot(v, w)))
    same(xp.dot(x, 2.0), np.dot(n, 2.0))
    same(x.dot(y), n.dot(m))
    same(xp.vdot(x, x), np.asarray(np.vdot(n, n)))
    same(xp.inner(x, s), np.inner(n, v))
    same(xp.inner(x, x), np.inner(n, n))
    same(xp.outer(s, x), np.outer(v, n))
    same(xp.tensordot(x, y, 1), np.tensordot(n, m, 1))
    same(xp.tensordot(x, x, ([0, 1], [0, 1])), np.asarray(np.tensordot(n, n, ([0, 1], [0, 1]))))
    same(xp.tensordot(x, s, ((1,), (0,))), np.tensordot(n, v, ((1,), (0,))))
    same(xp.tensordot(s, t, 0), np.tensordot(v, w, 0))
    same(xp.kron(x, s), np.kron(n, v))
    same(xp.trace(x), np.asarray(np.trace(n)))
    same(xp.cross(xp.asarray(n[:, :3]), xp.asarray(m[:3, :3])), np.cross(n[:, :3], m[:3, :3]))
    three = values((2, 3, 4), "float64")
    same(xp.dot(xp.asarray(three), y), np.dot(three, m))
    same(xp.dot(xp.asarray(three), xp.asarray(values((5, 4, 2), "float64"))), np.dot(three, values((5, 4, 2), "float64")))
    if hasattr(np, "vecdot"):
        same(xp.vecdot(x, s), np.vecdot(n, v))
    if hasattr(np, "matvec"):
        same(xp.matvec(x, s), np.matvec(n, v))
        same(xp.vecmat(s, y), np.vecmat(v, m))


def test_linalg_products(xp):
    n = values((4, 4), "float64")
    x = xp.asarray(n)
    for k in (0, 1, 2, 5):
        same(xp.linalg.matrix_power(x, k), np.linalg.matrix_power(n, k))
    parts = [values(s, "float64", k) for k, s in enumerate([(3, 10), (10, 2), (2, 8)])]
    same(xp.linalg.multi_dot([xp.asarray(p) for p in parts]), np.linalg.multi_dot(parts))
    same(xp.linalg.trace(x), np.asarray(np.trace(n)))
    n = np.linalg.qr(np.random.default_rng(0).standard_normal((4, 4)))[0] * 2  # well-conditioned: an inverse's error is a few eps
    for k in (-1, -3):
        np.testing.assert_allclose(host(xp.linalg.matrix_power(xp.asarray(n), k)), np.linalg.matrix_power(n, k), rtol=0, atol=1e-14)
    with pytest.raises(xp.linalg.LinAlgError, match="Singular"):
        xp.linalg.matrix_power(xp.zeros((2, 2)), -1)
    with pytest.raises(xp.linalg.LinAlgError):
        xp.linalg.matrix_power(x[:2], 2)


def test_out_and_the_operator_in_place(xp):
    n, m = values((3, 4), "float64"), values((4, 5), "float64", 1)
    out = xp.zeros((3, 5))
    assert xp.matmul(xp.asarray(n), xp.asarray(m), out=out) is out
    same(out, n @ m)
    a, b = values((4, 4), "float64"), values((4, 4), "float64", 1)
    x = xp.asarray(a)
    x @= xp.asarray(b)
    a @= b
    same(x, a)
    y = xp.asarray(a)
    xp.matmul(y, y, out=y)
    same(y, a @ a)


def test_shapes_that_do_not_fit(xp):
    for a, b in (((3, 4), (3, 4)), ((3,), (4,)), ((2, 3, 4), (3, 4, 5)), ((), (3,))):
        with pytest.raises(ValueError, match="matmul|remapped shapes"):
            xp.ones(a) @ xp.ones(b)


def test_products_inside_expressions(xp):
    n, m = values((20, 30), "float64"), values((30, 20), "float64", 1)
    x, y = xp.asarray(n), xp.asarray(m)
    z = (x * 2) @ (y + 1) + 1
    x += 1  # the product reads the old values
    same(z, (n * 2) @ (m + 1) + 1)
    same(((x @ y) ** 2).sum(axis=0), (((n + 1) @ m) ** 2).sum(axis=0))


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64"])
def test_errors_of_products_are_within_the_theorem(xp, dtype):
    rng = np.random.default_rng(0)
    wide = np.clongdouble if dtype == "complex64" else np.longdouble
    sizes = [(257, 129, 300), (1, 1000, 513), (1000, 3, 1), (7, 9, 11), (33, 31, 40), (64, 64, 64), (2, 50_000, 3)]
    for m, k, n in sizes:
        a, b = (rng.standard_normal(s) + (1j * rng.standard_normal(s) if dtype[0] == "c" else 0) for s in ((m, k), (k, n)))
        a, b = a.astype(dtype), b.astype(dtype)
        error = np.abs(host(xp.asarray(a) @ xp.asarray(b)).astype(wide) - a.astype(wide) @ b.astype(wide))
        assert (error <= 1.01 * bound(a, b)).all(), (m, k, n, float((error / bound(a, b)).max()))


def test_larger_products(xp):
    for shape in ((257, 129, 300), (1, 1000, 513), (1000, 3, 1), (64, 64, 64), (49, 48, 50), (33, 64, 17)):
        same(xp.asarray(values(shape[:2], "float32")) @ xp.asarray(values(shape[1:], "float32", 1)),
             values(shape[:2], "float32") @ values(shape[1:], "float32", 1))  # fmt: skip


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_batches_of_small_matrices(xp, dtype):
    """About the sizes of vectors and blocks of the kernels, in the layouts that a batch can have."""
    for m, k, n in ((1, 5, 8), (8, 8, 8), (5, 3, 9), (16, 16, 16), (17, 2, 31), (32, 33, 47), (49, 64, 65)):
        a, b = values((20, m, k), dtype), values((20, k, n), dtype, 1)
        x, y = xp.asarray(a), xp.asarray(b)
        same(x @ y, a @ b)
        same(x[::-2] @ y[::-2], a[::-2] @ b[::-2])
        same(x @ y[3], a @ b[3])
        same(x[3] @ y, a[3] @ b)
        same(xp.asarray(a.swapaxes(1, 2).copy()).swapaxes(1, 2) @ y, a @ b)
        same(x @ xp.asarray(b.swapaxes(1, 2).copy()).swapaxes(1, 2), a @ b)
        same(x[:, :, ::-1] @ y[:, ::-1], a @ b)


    n = np.arange(12).reshape(3, 4)
    assert_same(xp.asarray(n) @ xp.asarray(n.T), n @ n.T)


def run(function, *args, **options):
    try:
        return function(*args, **options)
    except Exception as e:
        return type(e)


AXES = [[(0, 1), (0, 1), (0, 1)], [(2, 0), (1, 2), (0, 2)], [(-1, 0), (0, 1), (1, -1)], [(0, 1), (0, 1)], [(0, 0), (0, 1), (0, 1)],
        [0, 1, 2], ((0, 1),) * 3, [(0, 9), (0, 1), (0, 1)], [(0.5, 1), (0, 1), (0, 1)]]  # fmt: skip
CORES = [
    *[("matmul", (3, 3, 3), (3, 3, 3), {"axes": axes}) for axes in AXES],
    ("matmul", (4, 3, 3, 3), (3, 3, 3), {"axes": AXES[1]}),
    ("matmul", (3,), (4, 3, 2), {"axes": [0, (1, 2), 0]}),
    ("matmul", (3,), (3,), {"axes": [0, 0, ()]}),
    ("matmul", (3,), (3,), {"axes": [0, 0]}),
    *[("matvec", (3, 3, 3), (3, 3), {"axes": axes}) for axes in ([(0, 1), 0, 0], [(2, 0), -1, -1], [(2, 0), -1], [0, -1, 0])],
    *[("vecmat", (3, 3), (3, 3, 3), {"axes": axes}) for axes in ([0, (0, 1), 0], [-1, (2, 0), -1], [-1, (2, 0)])],
    *[("vecdot", (3, 3), (3, 3, 3), options) for options in (
        {"axis": 0}, {"axis": -1, "keepdims": True}, {"axes": [0, 1]}, {"axes": [0, 1], "keepdims": True},
        {"axes": [0, 0, 2], "keepdims": True}, {"axes": [0, 1, ()]},
        {"axes": [0, 1, (0,)]}, {"axis": 0, "axes": [0, 0]}, {"keepdims": True}, {"axis": 5})],
]  # fmt: skip


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("m, k", [(1, 1), (1, 300), (64, 64), (100, 3), (3, 100), (500, 500), (700, 700)])
def test_vectors_by_matrices(xp, dtype, m, k):
    rng = np.random.default_rng(4)
    a, x, y = (rng.integers(-8, 9, shape).astype(dtype) for shape in ((m, k), (k,), (m,)))  # whole numbers: sums are exact
    b, u, v = xp.asarray(a), xp.asarray(x), xp.asarray(y)
    for got, want in (
        (b @ u, a @ x),
        (v @ b, y @ a),
        (b.T @ v, a.T @ y),
        (u @ b.T, x @ a.T),
        (b[:, ::-1] @ u[::-1], a @ x),
        (b[::2] @ u, a[::2] @ x),
        (v[::2] @ b[::2], y[::2] @ a[::2]),
    ):
        assert got.dtype == want.dtype
        np.testing.assert_array_equal(host(got), want)
    with pytest.raises(ValueError, match="mismatch"):
        b @ xp.ones(k + 1, dtype)


@pytest.mark.slow
@pytest.mark.parametrize("dtype, n, k", [("float64", 1500, 4600), ("complex128", 1100, 4200)])
def test_long_products_are_cut_along_their_sums(dtype, n, k):
    rng = np.random.default_rng(5)
    a, b = (bc.asarray(rng.integers(-8, 9, shape).astype(dtype), device="cpu") for shape in ((n, k), (k, n)))
    ones = bc.ones(n, dtype, device="cpu")
    np.testing.assert_array_equal(host((a @ b) @ ones), host(a @ (b @ ones)))  # whole numbers: sums are exact


@pytest.mark.parametrize("name, left, right, options", CORES)
def test_axes_of_products_are_numpys(xp, name, left, right, options):
    rng = np.random.default_rng(0)
    a, b = (rng.random(s) + 1j * rng.random(s) for s in (left, right))
    want = run(getattr(np, name), a, b, **options)
    got = run(getattr(bc, name), xp.asarray(a), xp.asarray(b), **options)
    if isinstance(want, type):
        assert got is want
        return
    assert got.shape == want.shape
    np.testing.assert_allclose(got.get() if isinstance(got, bc.ndarray) else got, want, rtol=1e-12)
    out = xp.zeros(want.shape, dtype=want.dtype)
    assert getattr(bc, name)(xp.asarray(a), xp.asarray(b), out=out, **options) is out
    np.testing.assert_allclose(out.get(), want, rtol=1e-12)


@pytest.mark.parametrize("dtype", ["float64", "float32", "complex128", "int64", "int32", "bool"])
def test_products_of_tall_matrices(xp, dtype):
    for k, m, n in ((4095, 3, 2), (4096, 3, 2), (4100, 11, 11), (16390, 5, 1), (16384, 1, 7), (9000, 32, 32), (5000, 33, 32)):
        a, b = values((k, m), dtype), values((k, n), dtype, 1)
        x, y = xp.array(a), xp.array(b)
        same(x.T @ y, a.T @ b)
        same(xp.array(np.ascontiguousarray(a.T)) @ y, a.T @ b)
        same(x[::-1].T @ y[::-1], a.T @ b)
        same(y[:, 0] @ x, b[:, 0] @ a)
        same(x.T @ y[:, 0], a.T @ b[:, 0])
