"""Products against NumPy: shapes, types, layouts, errors."""

from __future__ import annotations

import numpy as np
import pytest

import broadcloth as bc
from support import assert_same, host


def values(shape, dtype, seed=0):
    rng = np.random.default_rng(seed)
    if np.dtype(dtype).kind in "biu":
        return rng.integers(0, 2 if dtype == "bool" else 5, shape).astype(dtype)
    a = rng.standard_normal(shape)
    return (a + 1j * rng.standard_normal(shape)).astype(dtype) if np.dtype(dtype).kind == "c" else a.astype(dtype)


def close(got, want, context=""):
    got, want = host(got), np.asarray(want)
    assert got.dtype == want.dtype, f"{context}: {got.dtype}, NumPy's is {want.dtype}"
    assert got.shape == want.shape, context
    if want.dtype.kind in "biu":
        np.testing.assert_array_equal(got, want, context)
    else:
        eps = float(np.finfo(want.dtype).eps)
        wide = np.complex128 if want.dtype.kind == "c" else np.float64
        np.testing.assert_allclose(
            got.astype(wide),
            want.astype(wide),
            rtol=64 * eps,
            atol=64 * eps * max(1, np.abs(want.astype(wide)).max(initial=0)),
            err_msg=context,
        )


SHAPES = [
    ((3, 4), (4, 5)), ((1, 7), (7, 1)), ((4,), (4, 5)), ((3, 4), (4,)), ((4,), (4,)), ((2, 3, 4), (4, 5)), ((2, 3, 4), (2, 4, 5)),
    ((2, 1, 3, 4), (5, 4, 2)), ((0, 4), (4, 3)), ((3, 0), (0, 2)), ((65, 33), (33, 70)), ((4,), (2, 4, 3)), ((2, 3, 4), (4,)),
]  # fmt: skip


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128", "int32", "int64", "uint8", "float16", "bool"])
def test_matmul_matches_numpy(xp, dtype):
    for a, b in SHAPES:
        n, m = values(a, dtype), values(b, dtype, 1)
        close(xp.asarray(n) @ xp.asarray(m), n @ m, f"{a} @ {b}")


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex128", "int64"])
def test_matmul_of_views(xp, dtype):
    n, m = values((12, 10), dtype), values((12, 10), dtype, 1)
    x, y = xp.asarray(n), xp.asarray(m)
    for f in (lambda a, b: a @ b.T, lambda a, b: a.T @ b, lambda a, b: a[::2] @ b[::-1].T, lambda a, b: a[:, ::3] @ b[::3, 1::3],
              lambda a, b: a[1:5, 2:6] @ b[3:7, 1:9], lambda a, b: (a + 1) @ (b * 2).T,
              lambda a, b: a[:, None] @ b[:, :, None]):  # fmt: skip
        if f(n, m) is not None:
            close(f(x, y), f(n, m))


def test_types_are_promoted(xp):
    for a in ("int8", "float32", "complex64", "bool"):
        for b in ("int64", "float64", "uint8", "float16"):
            n, m = values((3, 4), a), values((4, 2), b)
            close(xp.asarray(n) @ xp.asarray(m), n @ m, f"{a} @ {b}")


def test_products_by_name(xp):
    n, m, v, w = values((3, 4), "float64"), values((4, 5), "float64", 1), values(4, "float64", 2), values(4, "float64", 3)
    x, y, s, t = map(xp.asarray, (n, m, v, w))
    close(xp.dot(x, y), np.dot(n, m))
    close(xp.dot(x, s), np.dot(n, v))
    close(xp.dot(s, t), np.asarray(np.dot(v, w)))
    close(xp.dot(x, 2.0), np.dot(n, 2.0))
    close(x.dot(y), n.dot(m))
    close(xp.vdot(x, x), np.asarray(np.vdot(n, n)))
    close(xp.inner(x, s), np.inner(n, v))
    close(xp.inner(x, x), np.inner(n, n))
    close(xp.outer(s, x), np.outer(v, n))
    close(xp.tensordot(x, y, 1), np.tensordot(n, m, 1))
    close(xp.tensordot(x, x, ([0, 1], [0, 1])), np.asarray(np.tensordot(n, n, ([0, 1], [0, 1]))))
    close(xp.tensordot(x, s, ((1,), (0,))), np.tensordot(n, v, ((1,), (0,))))
    close(xp.tensordot(s, t, 0), np.tensordot(v, w, 0))
    close(xp.kron(x, s), np.kron(n, v))
    close(xp.trace(x), np.asarray(np.trace(n)))
    close(xp.cross(xp.asarray(n[:, :3]), xp.asarray(m[:3, :3])), np.cross(n[:, :3], m[:3, :3]))
    three = values((2, 3, 4), "float64")
    close(xp.dot(xp.asarray(three), y), np.dot(three, m))
    close(xp.dot(xp.asarray(three), xp.asarray(values((5, 4, 2), "float64"))), np.dot(three, values((5, 4, 2), "float64")))
    if hasattr(np, "vecdot"):
        close(xp.vecdot(x, s), np.vecdot(n, v))
    if hasattr(np, "matvec"):
        close(xp.matvec(x, s), np.matvec(n, v))
        close(xp.vecmat(s, y), np.vecmat(v, m))


def test_linalg_products(xp):
    n = values((4, 4), "float64")
    x = xp.asarray(n)
    for k in (0, 1, 2, 5):
        close(xp.linalg.matrix_power(x, k), np.linalg.matrix_power(n, k))
    parts = [values(s, "float64", k) for k, s in enumerate([(3, 10), (10, 2), (2, 8)])]
    close(xp.linalg.multi_dot([xp.asarray(p) for p in parts]), np.linalg.multi_dot(parts))
    close(xp.linalg.trace(x), np.asarray(np.trace(n)))
    for k in (-1, -3):
        close(xp.linalg.matrix_power(x, k), np.linalg.matrix_power(n, k))
    with pytest.raises(xp.linalg.LinAlgError, match="Singular"):
        xp.linalg.matrix_power(xp.zeros((2, 2)), -1)
    with pytest.raises(xp.linalg.LinAlgError):
        xp.linalg.matrix_power(x[:2], 2)


def test_out_and_the_operator_in_place(xp):
    n, m = values((3, 4), "float64"), values((4, 5), "float64", 1)
    out = xp.zeros((3, 5))
    assert xp.matmul(xp.asarray(n), xp.asarray(m), out=out) is out
    close(out, n @ m)
    a, b = values((4, 4), "float64"), values((4, 4), "float64", 1)
    x = xp.asarray(a)
    x @= xp.asarray(b)
    a @= b
    close(x, a)
    y = xp.asarray(a)
    xp.matmul(y, y, out=y)
    close(y, a @ a)


def test_shapes_that_do_not_fit(xp):
    for a, b in (((3, 4), (3, 4)), ((3,), (4,)), ((2, 3, 4), (3, 4, 5)), ((), (3,))):
        with pytest.raises(ValueError, match="matmul|remapped shapes"):
            xp.ones(a) @ xp.ones(b)


def test_products_inside_expressions(xp):
    n, m = values((20, 30), "float64"), values((30, 20), "float64", 1)
    x, y = xp.asarray(n), xp.asarray(m)
    z = (x * 2) @ (y + 1) + 1
    x += 1  # the product reads the old values
    close(z, (n * 2) @ (m + 1) + 1)
    close(((x @ y) ** 2).sum(axis=0), (((n + 1) @ m) ** 2).sum(axis=0))


def test_larger_products(xp):
    for shape in ((257, 129, 300), (1, 1000, 513), (1000, 3, 1)):
        n, m = values(shape[:2], "float32"), values(shape[1:], "float32", 1)
        np.testing.assert_allclose(host(xp.asarray(n) @ xp.asarray(m)), n.astype(float) @ m.astype(float), rtol=1e-3, atol=1e-3)
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
