"""Updated QR factors, the cosine-sine decomposition, sketches and Toeplitz systems, by what defines them and against SciPy."""

from __future__ import annotations

import numpy as np
import pytest

import broadcloth as bc
from broadcloth.scipy import linalg, sparse
from matrices import DTYPES, assert_small, dagger, eps, matrix
from support import host

sl = pytest.importorskip("scipy.linalg")
pytestmark = pytest.mark.filterwarnings("ignore::broadcloth.exceptions.PerformanceWarning")
SHAPES = [(6, 6), (8, 5), (5, 8), (7, 1), (1, 5)]


def factors(xp, shape, dtype, mode):
    a = matrix(shape, dtype)
    return a, *map(xp.array, sl.qr(a, mode=mode))


def check(made, a, dtype):
    q, r = map(host, made)
    assert q.dtype == r.dtype == a.dtype
    assert_small(dagger(q) @ q - np.eye(q.shape[-1]), 1, max(a.shape), dtype)
    assert_small(q @ r - a, abs(a).max() + 1, max(a.shape), dtype)
    assert (np.tril(r, -1) == 0).all()


def modes(shape):
    return ["full", "economic"] if shape[0] > shape[1] else ["full"]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("dtype", DTYPES)
def test_qr_without_rows_or_columns(xp, dtype, shape):
    for mode in modes(shape):
        a, q, r = factors(xp, shape, dtype, mode)
        for axis, which in ((0, "row"), (1, "col")):
            for p in range(1, min(4, shape[axis])):
                for k in (0, 1, shape[axis] - p, -p):
                    if 0 <= k % shape[axis] <= shape[axis] - p:
                        begin = k % shape[axis]
                        check(linalg.qr_delete(q, r, k, p, which), np.delete(a, slice(begin, begin + p), axis), dtype)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("dtype", DTYPES)
def test_qr_with_further_rows_or_columns(xp, dtype, shape):
    for mode in modes(shape):
        a, q, r = factors(xp, shape, dtype, mode)
        for axis, which in ((0, "row"), (1, "col")):
            for p in (None, 1, 3):
                length = shape[1 - axis]
                new = matrix(length if p is None else (p, length) if axis == 0 else (length, p), dtype, 1)
                for k in (0, 1, shape[axis], -1):
                    places = [k % shape[axis] if k < 0 else k] * (p or 1)
                    want = np.insert(a, places, new.reshape((-1, length) if axis == 0 else (length, -1)), axis)
                    check(linalg.qr_insert(q, r, xp.array(new), k, which=which), want, dtype)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("dtype", DTYPES)
def test_qr_of_a_changed_matrix(xp, dtype, shape):
    for mode in modes(shape):
        a, q, r = factors(xp, shape, dtype, mode)
        for k in ((), (1,), (2,)):
            u, v = matrix((shape[0], *k), dtype, 1), matrix((shape[1], *k), dtype, 2)
            want = a + (np.outer(u, v.conj()) if not k else u @ dagger(v))
            check(linalg.qr_update(q, r, xp.array(u), xp.array(v)), want, dtype)


def test_a_column_in_the_range_of_an_economic_factor_is_refused(xp):
    with pytest.raises(np.linalg.LinAlgError, match="span of Q"):
        linalg.qr_insert(xp.array(np.eye(5, 3)), xp.array(np.eye(3)), xp.array([1.0, 0, 0, 0, 0]), 0, "col")


def test_updates_check_their_operands(xp):
    _, q, r = factors(xp, (6, 4), "d", "full")
    for name, args in [
        ("qr_delete", (q, r, 6)), ("qr_delete", (q, r, 0, 0)), ("qr_delete", (q, r, 0, 1, "rows")), ("qr_delete", (q, r[1:], 0)),
        ("qr_insert", (q, r, xp.ones(3), 0)), ("qr_insert", (q, r, xp.ones(4, dtype="f"), 0)), ("qr_insert", (q, r, xp.ones(4), 7)),
        ("qr_update", (q, r, xp.ones(6), xp.ones(6))), ("qr_update", (q, r, xp.ones((6, 1)), xp.ones(4))),
        ("qr_update", (q, r, xp.full(6, np.nan), xp.ones(4))), ("qr_update", (q.astype(int), r, xp.ones(6), xp.ones(4))),
    ]:  # fmt: skip
        with pytest.raises(ValueError):
            getattr(sl, name)(*(host(v) if hasattr(v, "dtype") else v for v in args))
        with pytest.raises(ValueError):
            getattr(linalg, name)(*args)


@pytest.mark.parametrize("shape", [(6, 4), (4, 6), (5, 5)])
@pytest.mark.parametrize("dtype", DTYPES)
def test_reflectors_of_a_pivoted_qr(xp, dtype, shape):
    a = matrix(shape, dtype)
    (h, tau), r, order = linalg.qr(xp.array(a), mode="raw", pivoting=True)
    (want_h, want_tau), want_r, want_order = sl.qr(a, mode="raw", pivoting=True)
    assert (host(order) == want_order).all()
    for got, want in ((h, want_h), (tau, want_tau), (r, want_r)):
        np.testing.assert_allclose(host(got), want, 1000 * eps(dtype), 1000 * eps(dtype))


# ---- Cosines and sines ------------------------------------------------------------------------------------------------------------------


def unitary(m, dtype, seed=0):
    return np.linalg.qr(matrix((m, m), dtype, seed))[0]


@pytest.mark.parametrize("swap_sign", [False, True])
@pytest.mark.parametrize("m, p, q", [(2, 1, 1), (5, 2, 3), (6, 5, 4), (7, 1, 5), (9, 4, 4), (12, 7, 9)])
@pytest.mark.parametrize("dtype", DTYPES)
def test_cossin(xp, dtype, m, p, q, swap_sign):
    x = unitary(m, dtype)
    u, cs, vh = map(host, linalg.cossin(xp.array(x), p, q, swap_sign=swap_sign))
    want = sl.cossin(x, p, q, swap_sign=swap_sign)[1]
    np.testing.assert_allclose(cs, want, atol=1000 * eps(dtype))
    assert cs.dtype == want.dtype and u.dtype == vh.dtype == x.dtype
    for factor, rows, columns in ((u, p, p), (vh, q, q)):
        assert (factor[:rows, columns:] == 0).all() and (factor[rows:, :columns] == 0).all()
        assert_small(dagger(factor) @ factor - np.eye(m), 1, m, dtype)
    assert_small(u @ cs @ vh - x, 1, m, dtype)
    (u1, u2), theta, (v1, v2) = linalg.cossin([xp.array(b) for b in (x[:p, :q], x[:p, q:], x[p:, :q], x[p:, q:])], separate=True)
    assert [v.shape for v in (u1, u2, theta, v1, v2)] == [(p, p), (m - p, m - p), (min(p, m - p, q, m - q),), (q, q), (m - q, m - q)]


@pytest.mark.parametrize("angles", [[0, 0, 0], [0, 1e-9, 2e-9], [1e-8, 0.5, 1.5], [np.pi / 2] * 3, [1e-12, np.pi / 2 - 1e-9, np.pi / 2]])
def test_cossin_of_extreme_angles(xp, angles):
    n = len(angles)
    c, s = np.diag(np.cos(angles)), np.diag(np.sin(angles))
    left = sl.block_diag(unitary(n, "d", 1), unitary(n, "d", 2))
    x = left @ np.block([[c, -s], [s, c]]) @ sl.block_diag(unitary(n, "d", 3), unitary(n, "d", 4))
    u, cs, vh = map(host, linalg.cossin(xp.array(x), n, n))
    for made, want in ((dagger(u) @ u, np.eye(2 * n)), (vh @ dagger(vh), np.eye(2 * n)), (u @ cs @ vh, x)):
        np.testing.assert_allclose(made, want, atol=1e-14)
    # Small angles are as exact as small singular values are, not as cosines tell them.
    np.testing.assert_allclose(host(linalg.cossin(xp.array(x), n, n, separate=True)[1]), sorted(angles), atol=1e-14)


def test_cossin_of_stacks_and_without_factors(xp):
    x = np.stack([unitary(6, "d", i) for i in range(3)])
    u, cs, vh = map(host, linalg.cossin(xp.array(x), 2, 3))
    np.testing.assert_allclose(u @ cs @ vh, x, atol=1e-13)
    none, again, _ = linalg.cossin(xp.array(x[0]), 2, 3, compute_u=False)
    assert none.shape == (0, 0)
    np.testing.assert_array_equal(host(again), cs[0])
    for args in ((np.ones((2, 3)), 1, 1), (x[0], 0, 1), (x[0], 1, 6), (3.0,), ([np.eye(2)] * 3,), ([np.ones((1, 2))] * 4,)):
        with pytest.raises(ValueError):
            sl.cossin(*args)
        with pytest.raises(ValueError):
            linalg.cossin(*args)


def test_sketches_are_those_of_scipy_for_a_seed(xp):
    a = matrix((2, 50, 3), "d")
    for seeds in ({"rng": 5}, {"seed": 7}):
        want = sl.clarkson_woodruff_transform(a[0], 10, **seeds)
        np.testing.assert_allclose(host(linalg.clarkson_woodruff_transform(xp.array(a[0]), 10, **seeds)), want)
        whole = linalg.clarkson_woodruff_transform(sparse.csr_array(xp.array(a[0])), 10, **seeds)
        np.testing.assert_allclose(host(whole.toarray()), want)
    np.testing.assert_allclose(
        host(linalg.clarkson_woodruff_transform(xp.array(a), 10, rng=5)), sl.clarkson_woodruff_transform(a, 10, rng=5)
    )
    with pytest.raises(TypeError):
        linalg.clarkson_woodruff_transform(xp.array(a), 10, 5, seed=6)


# ---- Toeplitz systems, least squares ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [1, 2, 5, 64])
@pytest.mark.parametrize("dtype", DTYPES)
def test_toeplitz_systems_of_stacks(xp, dtype, n):
    c, r, b = matrix((3, n), dtype), matrix((3, n), dtype, 1), matrix((3, n, 2), dtype, 2)
    c[:, 0] = 3 * n  # leading minors far from singular
    for column, row, right in ((c, r, b), (c[0], r, b), (c, r[0], b), (c[0], r[0], b[0, :, 0]), (c[:, ::-1][:, ::-1], r, b)):
        made = host(linalg.solve_toeplitz((xp.array(column), xp.array(row)), xp.array(right)))
        want = np.linalg.solve(host(linalg.toeplitz(column, row)), right)
        assert made.dtype == want.dtype
        np.testing.assert_allclose(made, want, 1000 * eps(dtype), 1000 * eps(dtype))


@pytest.mark.parametrize("first", [[0.0, 2, 1, 3], [2, 2, 1, 5], [1, 1 + 1e-14, 3, 4], [1e-9, 1, 2, 4]])
def test_toeplitz_systems_whose_minors_are_singular(xp, first):
    """Levinson's recursion divides by the minors; the matrix itself is well conditioned."""
    b = np.arange(1.0, 5)
    made = host(linalg.solve_toeplitz(xp.array(first), xp.array(b)))
    np.testing.assert_allclose(sl.toeplitz(first) @ made, b, rtol=1e-12)


def test_toeplitz_systems_have_derivatives(xp):
    c = xp.array([4.0, 1, 2])
    c.requires_grad = True
    linalg.solve_toeplitz(c, xp.array([1.0, 2, 3])).sum().backward()
    step = 1e-6
    for k in range(3):
        ends = [sl.solve_toeplitz(np.array([4.0, 1, 2]) + side * step * (np.arange(3) == k), [1.0, 2, 3]).sum() for side in (-1, 1)]
        np.testing.assert_allclose(float(c.grad[k]), (ends[1] - ends[0]) / (2 * step), rtol=1e-6)


@pytest.mark.parametrize("shape, columns", [((6, 4), 1), ((6, 4), 3), ((40, 40), 1), ((5, 4), 3), ((200, 50), 2)])
@pytest.mark.parametrize("dtype", DTYPES)
def test_least_squares_by_qr(xp, dtype, shape, columns):
    """What a GPU takes where the rank is full for sure, on every device."""
    a, b = matrix(shape, dtype), matrix((shape[0], columns), dtype, 1)
    x, squares, s = map(host, xp._c.linalg_lstsq_by_qr(xp.array(a), xp.array(b), 1e-15))
    wide = np.result_type(a, np.float64)
    want = np.linalg.lstsq(a.astype(wide), b.astype(wide), rcond=None)
    condition = want[3][0] / want[3][-1]
    np.testing.assert_allclose(x, want[0], 1e-13 * condition**2, 1e-13 * condition**2)
    np.testing.assert_allclose(s, want[3], rtol=0, atol=1e-13 * want[3][0])
    assert squares.shape == (columns,)
    if want[1].size:
        np.testing.assert_allclose(squares, want[1], rtol=1e-12 * condition)


@pytest.mark.parametrize("condition", [1e1, 1e3, 1e6, 1e10])
@pytest.mark.parametrize("dtype", ["d", "D"])
def test_least_squares_by_qr_of_many_rows_and_any_condition(xp, dtype, condition):
    """Cholesky's factors twice where they are right, reflections where they are not: the errors are those of Householder's QR."""
    q = np.linalg.qr(matrix((300, 20), dtype))[0]
    v = np.linalg.qr(matrix((20, 20), dtype, 1))[0]
    a = q * np.logspace(0, -np.log10(condition), 20) @ v
    known = matrix((20, 2), dtype, 2)
    rest = matrix((300, 2), dtype, 3)
    rest = (rest - q @ (q.conj().T @ rest)) / condition
    b = a @ known + rest
    x, squares, s = map(host, xp._c.linalg_lstsq_by_qr(xp.array(a), xp.array(b), 1e-15))
    assert np.abs(x - known).max() <= 1e-13 * condition
    np.testing.assert_allclose(squares, (abs(rest) ** 2).sum(0), rtol=1e-13 * condition)
    np.testing.assert_allclose(s, np.logspace(0, -np.log10(condition), 20), rtol=0, atol=1e-13)


def test_least_squares_by_qr_leaves_doubtful_ranks_alone(xp):
    b = xp.ones((4, 1))
    full = matrix((4, 2), "d")
    for a in (np.ones((4, 2)), np.zeros((4, 2)), full * [1, 1e-17], full * [np.nan, 1], full * [np.inf, 1], full.T):
        assert not xp._c.linalg_lstsq_by_qr(xp.array(a), b[: len(a)], 1e-15)
    assert not xp._c.linalg_lstsq_by_qr(xp.array(full), b, 0.9)
    assert xp._c.linalg_lstsq_by_qr(xp.array(full), b, 0.0) and xp._c.linalg_lstsq_by_qr(xp.array(full), b, -1.0)


def test_numbers_divide_what_is_on_the_right(xp):
    assert linalg.solve(2, xp.array([1.0, 2, 3])).tolist() == sl.solve(2, [1.0, 2, 3]).tolist()
    assert linalg.solve(xp.array([[2.0]]), 4).tolist() == sl.solve([[2.0]], 4).tolist()
    for b in (0.0, 1.0, [0.0, 1.0]):
        with pytest.raises(np.linalg.LinAlgError):
            linalg.solve(xp.zeros((1, 1)), b)


def test_determinants_are_of_double_precision(xp):
    for dtype in DTYPES:
        a = (np.eye(3) * 1e20).astype(dtype)
        # The newest SciPy computes that of float32 in float32, where it is infinite.
        made, want = linalg.det(xp.array(a)), sl.det(a.astype(np.result_type(dtype, float)))
        assert made.dtype == want.dtype
        np.testing.assert_allclose(host(made), want, 1e-6)


def test_circulant_systems_without_elements(xp):
    for c, b in ((np.ones(0), np.ones(0)), (np.ones(3), np.ones((3, 0))), (np.ones((0, 3)), np.ones(3))):
        made = linalg.solve_circulant(xp.array(c), xp.array(b))
        assert made.size == 0 and made.shape == sl.solve_circulant(c, b).shape


def test_updates_without_rotations_are_the_same(xp, monkeypatch):
    """Those of a GPU's arrays, and those whose derivatives are wanted, are factorized anew."""
    rng = np.random.default_rng(5)
    for dtype in ("d", "D"):
        a = rng.standard_normal((6, 4)) + (1j * rng.standard_normal((6, 4)) if dtype == "D" else 0)
        q, r = map(xp.asarray, sl.qr(a))
        u, v = xp.asarray(a[:, 0] * 2), xp.asarray(a[1] * 3)
        rows, columns = xp.asarray(a[:2] + 1), xp.asarray(a[:, :2] - 1)

        def results(q=q, r=r, u=u, v=v, rows=rows, columns=columns):
            yield linalg.qr_update(q, r, u, v)
            yield linalg.qr_delete(q, r, 1, 2)
            yield linalg.qr_delete(q, r, 1, 2, "col")
            yield linalg.qr_insert(q, r, rows, 3)
            yield linalg.qr_insert(q, r, columns, 1, "col")

        rotated = [host(x) @ host(y) for x, y in results()]
        with monkeypatch.context() as patch:
            patch.setattr(bc._broadcloth, "linalg_qr_changed", lambda *args: [])
            anew = [host(x) @ host(y) for x, y in results()]
        for got, want in zip(rotated, anew, strict=True):
            np.testing.assert_allclose(got, want, 1e-12, 1e-12)
