"""Solvers and decompositions against NumPy, and by what defines them."""

from __future__ import annotations

import inspect
import warnings

import numpy as np
import pytest

import broadcloth as bc
from matrices import DTYPES, LAYOUTS, assert_small, dagger, definite, eps, hermitian, laid, matrix
from support import assert_like_numpy, host


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_solve_has_a_small_backward_error(xp, dtype, layout):
    a, b = matrix((3, 6, 6), dtype), matrix((3, 6, 2), dtype, 1)
    x = xp.linalg.solve(laid(xp, a, layout), laid(xp, b, layout))
    assert x.dtype == np.dtype(dtype) and x.shape == b.shape and x.flags.c_contiguous
    assert_small(a @ host(x) - b, np.linalg.norm(a) * np.linalg.norm(host(x)), 6, dtype)


@pytest.mark.parametrize("dtype", DTYPES)
def test_solve_takes_vectors_and_broadcasts(xp, dtype):
    a, b = matrix((4, 5, 5), dtype), matrix(5, dtype, 1)
    for left, right in [(a[0], b), (a, b), (a, b[:, None]), (a[0], np.stack([np.outer(b, b)] * 3)), (a[:, None], matrix((2, 5, 3), dtype))]:
        want = np.linalg.solve(left, right)
        got = xp.linalg.solve(xp.array(left), xp.array(right))
        assert got.shape == want.shape and got.dtype == want.dtype
        x = host(got)
        rest = np.einsum("...ij,...j->...i", left, x) - right if right.ndim == 1 else left @ x - right
        assert_small(rest, np.linalg.norm(left) * np.linalg.norm(x), 5, dtype)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_inverse_and_determinant(xp, dtype, layout):
    a = definite(5, dtype, (3,))
    x = laid(xp, a, layout)
    inverse = host(xp.linalg.inv(x))
    assert inverse.dtype == a.dtype
    assert_small(a @ inverse - np.eye(5), np.linalg.norm(a) * np.linalg.norm(inverse), 5, dtype)
    tolerance = 100 * eps(dtype)
    wide = a.astype(np.result_type(a.dtype, np.float64))
    got, want = xp.linalg.det(x), np.linalg.det(wide)
    assert got.dtype == a.dtype
    np.testing.assert_allclose(host(got), want, tolerance, abs(want).max() * tolerance)
    sign, logarithm = xp.linalg.slogdet(x)
    assert sign.dtype == a.dtype and logarithm.dtype == a.real.dtype
    np.testing.assert_allclose(host(sign), np.linalg.slogdet(wide).sign, tolerance, tolerance)
    np.testing.assert_allclose(host(logarithm), np.linalg.slogdet(wide).logabsdet, tolerance)


def test_determinants_of_special_matrices(xp):
    assert host(xp.linalg.det(xp.zeros((3, 3)))) == 0
    sign, logarithm = xp.linalg.slogdet(xp.zeros((2, 3, 3)))
    assert host(sign).tolist() == [0, 0] and host(logarithm).tolist() == [-np.inf, -np.inf]
    assert host(xp.linalg.det(xp.array([[0, 1], [1, 0]]))) == -1
    assert host(xp.linalg.det(xp.empty((0, 0)))) == 1 and xp.linalg.det(xp.empty((0, 2, 2))).shape == (0,)
    assert [host(v) for v in xp.linalg.slogdet(xp.empty((0, 0)))] == [1, 0]
    stack = np.array([np.eye(3)] * 4)
    stack[1, 2, 0] = stack[3, 0, 2] = np.nan
    for nan in (np.array([[np.nan, 1], [1, 2]]), np.array([[1, np.nan], [1, 2]]), np.array([[1, 2], [3, 1j * np.nan]]), stack):
        found = np.isnan(nan).any(axis=(-1, -2))
        assert np.array_equal(np.isnan(host(xp.linalg.det(xp.array(nan)))), found)
        assert np.array_equal(np.isnan(host(xp.linalg.inv(xp.array(nan)))).any(axis=(-1, -2)), found)
        assert np.array_equal(np.isnan(host(xp.linalg.solve(xp.array(nan), xp.ones((nan.shape[-1], 1))))).any(axis=(-1, -2)), found)
    assert host(xp.linalg.slogdet(xp.eye(400) * 1e-10).logabsdet) == pytest.approx(400 * np.log(1e-10))


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_cholesky_reads_one_triangle(xp, dtype, layout):
    a = definite(6, dtype, (2,))
    for upper in (False, True):
        dirty = a.copy()
        dirty[..., *(np.tril_indices(6, -1) if upper else np.triu_indices(6, 1))] = np.nan
        factor = host(xp.linalg.cholesky(laid(xp, dirty, layout), upper=upper))
        assert factor.dtype == a.dtype
        assert (np.triu(factor) == factor if upper else np.tril(factor) == factor).all()
        assert_small((dagger(factor) @ factor if upper else factor @ dagger(factor)) - a, a, 6, dtype)


@pytest.mark.parametrize("shape", [(5, 5), (7, 4), (4, 7), (2, 6, 3), (1, 1), (3, 1), (0, 3), (3, 0), (0, 0), (0, 3, 2)])
@pytest.mark.parametrize("dtype", DTYPES)
def test_qr(xp, dtype, shape):
    a = matrix(shape, dtype)
    for mode in ("reduced", "complete"):
        got, want = xp.linalg.qr(xp.array(a), mode), np.linalg.qr(a, mode)
        assert type(got).__name__ == "QRResult" and (got.Q.shape, got.R.shape) == (want.Q.shape, want.R.shape)
        q, r = host(got.Q), host(got.R)
        assert q.dtype == a.dtype and r.dtype == a.dtype and (np.triu(r) == r).all()
        n = max(shape[-2:])
        assert_small(q @ r - a, a, n, dtype)
        assert_small(dagger(q) @ q - np.eye(q.shape[-1]), np.ones(q.shape[-1]), n, dtype)
    r = xp.linalg.qr(xp.array(a), "r")
    assert_small(host(r) - host(xp.linalg.qr(xp.array(a)).R), a, n, dtype)
    h, tau = xp.linalg.qr(xp.array(a), "raw")
    want_h, want_tau = np.linalg.qr(a, "raw")
    assert h.shape == want_h.shape and tau.shape == want_tau.shape
    assert_small(host(h) - want_h, a, n, dtype)
    assert_small(host(tau) - want_tau, 1.0, n, dtype)


@pytest.mark.parametrize("shape", [(5, 5), (7, 4), (4, 7), (2, 6, 3), (1, 1), (1, 4), (0, 3), (3, 0), (0, 0), (0, 3, 2)])
@pytest.mark.parametrize("dtype", DTYPES)
def test_svd(xp, dtype, shape):
    a = matrix(shape, dtype)
    x, n = xp.array(a), max(shape[-2:])
    want = np.linalg.svd(a.astype(np.result_type(dtype, float)), compute_uv=False)
    for full in (True, False):
        got = xp.linalg.svd(x, full_matrices=full)
        expected = np.linalg.svd(a, full_matrices=full)
        assert [v.shape for v in got] == [v.shape for v in expected] and [v.dtype for v in got] == [v.dtype for v in expected]
        u, s, vh = (host(v) for v in got)
        k = s.shape[-1]
        assert_small((u[..., :k] * s[..., None, :]) @ vh[..., :k, :] - a, a, n, dtype)
        assert_small(dagger(u) @ u - np.eye(u.shape[-1]), np.ones(u.shape[-1]), n, dtype)
        assert_small(vh @ dagger(vh) - np.eye(vh.shape[-2]), np.ones(vh.shape[-2]), n, dtype)
        assert_small(s - want, a, n, dtype)
    for values in (xp.linalg.svdvals(x), xp.linalg.svd(x, compute_uv=False)):
        assert_small(host(values) - want, a, n, dtype)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_eigh_reads_one_triangle(xp, dtype, layout):
    a = hermitian(7, dtype, (2,))
    want = np.linalg.eigvalsh(a.astype(np.result_type(dtype, float)))
    for uplo in ("L", "U", "l", "u"):
        dirty = a.copy()
        dirty[..., *(np.tril_indices(7, -1) if uplo in "Uu" else np.triu_indices(7, 1))] = np.nan
        x = laid(xp, dirty, layout)
        w, v = xp.linalg.eigh(x, uplo)
        assert w.dtype == a.real.dtype and v.dtype == a.dtype
        assert_small(a @ host(v) - host(v) * host(w)[..., None, :], a, 7, dtype)
        assert_small(dagger(host(v)) @ host(v) - np.eye(7), np.ones(7), 7, dtype)
        assert_small(host(w) - want, a, 7, dtype)
        assert_small(host(xp.linalg.eigvalsh(x, UPLO=uplo)) - want, a, 7, dtype)


@pytest.mark.filterwarnings("ignore::broadcloth.exceptions.PerformanceWarning")
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_eig(xp, dtype, layout):
    a = matrix((3, 6, 6), dtype)
    w, v = xp.linalg.eig(laid(xp, a, layout))
    assert w.device == v.device == xp.asarray(a).device
    assert w.dtype == v.dtype == np.linalg.eig(a).eigenvalues.dtype
    assert_small(a @ host(v) - host(v) * host(w)[..., None, :], a, 6, dtype)
    np.testing.assert_allclose(np.linalg.norm(host(v), axis=-2), 1, 50 * eps(dtype))
    # An eigenvalue's error is the backward error times its condition, which is small for these matrices.
    values = host(xp.linalg.eigvals(laid(xp, a, layout)))
    for got, want in zip(values, np.linalg.eigvals(a.astype(np.result_type(dtype, float))), strict=True):
        np.testing.assert_allclose(np.sort_complex(got), np.sort_complex(want), 1000 * eps(dtype), 1000 * eps(dtype))


@pytest.mark.filterwarnings("ignore::broadcloth.exceptions.PerformanceWarning")
def test_real_eigenvalues_are_real_numbers(xp):
    w, v = xp.linalg.eig(xp.array([[1, 0], [0, 2]]))
    assert w.dtype == v.dtype == np.float64 and w.tolist() == [1, 2]
    assert xp.linalg.eigvals(xp.array([[1.0, 0], [0, 2]], dtype="F")).dtype == np.complex64
    assert xp.linalg.eigvals(xp.empty((0, 0))).shape == (0,) and xp.linalg.eig(xp.empty((0, 3, 3))).eigenvectors.shape == (0, 3, 3)


def test_eigenvalues_of_a_gpu_array_are_the_hosts_work_and_say_so(xp, device):
    x = xp.eye(3)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        xp.linalg.eigvals(x)
    assert len(caught) == (0 if device == "cpu" else 1)
    assert all(w.filename == __file__ and "host memory" in str(w.message) for w in caught)


@pytest.mark.parametrize("dtype", ["?", "b", "H", "i", "q", "Q"])
def test_integers_are_computed_in_double_precision(xp, dtype):
    a = np.array([[1, 1], [0, 1]], dtype)
    assert xp.linalg.inv(xp.array(a)).dtype == np.float64
    assert xp.linalg.solve(xp.array(a), xp.array(a, dtype="f")).dtype == np.float64
    for f in ("det", "svdvals", "pinv", "cond", "eigvalsh"):
        assert getattr(xp.linalg, f)(xp.array(a)).dtype == np.float64, f
    assert host(xp.linalg.det(xp.array(a))) == 1


@pytest.mark.parametrize(("a", "b", "want"), [("f", "d", "d"), ("f", "F", "F"), ("d", "F", "D"), ("i", "F", "D"), ("f", "i", "d")])
def test_operands_of_two_dtypes(xp, a, b, want):
    assert xp.linalg.solve(xp.eye(2, dtype=a), xp.ones(2, dtype=b)).dtype == np.dtype(want)


def errors():
    nan, one = np.array([[np.nan, 1.0], [1.0, 2.0]]), np.ones((2, 2))
    return [
        ("inv", (one,)), ("inv", (np.stack([np.eye(2), one]),)), ("solve", (one, one)), ("inv", (np.ones((2, 3)),)), ("inv", (np.ones(3),)),
        ("solve", (np.ones((2, 3)), one)), ("det", (np.ones((2, 3)),)), ("slogdet", (np.ones(2),)), ("cholesky", (-np.eye(2),)),
        ("cholesky", (nan,)), ("cholesky", (np.ones((3, 2)),)), ("svd", (nan,)), ("svd", (np.ones(3),)), ("svd", (nan, False)),
        ("svdvals", (np.full((2, 2), np.inf),)), ("eigvalsh", (nan,)), ("eig", (nan,)), ("eigvals", (np.full((2, 2), np.inf),)),
        ("eig", (np.ones((2, 3)),)), ("eigh", (np.ones((2, 3)),)), ("eigh", (one, "X")), ("eigvalsh", (one, "x")), ("qr", (np.ones(3),)),
        ("qr", (one, "wrong")), ("lstsq", (one, np.ones(3))), ("lstsq", (np.ones(2), np.ones(2))), ("lstsq", (nan, np.ones(2))),
        ("lstsq", (one, np.ones((2, 2, 2)))), ("pinv", (nan,)), ("cond", (np.ones((0, 0)),)), ("cond", (np.ones((2, 3)), 1)),
        ("matrix_power", (one, -1)), ("matrix_rank", (one, 1.0, False)), ("tensorinv", (one, 0)), ("tensorinv", (np.ones((2, 3)), 1)),
        ("tensorsolve", (np.ones((2, 3)), np.ones(2))), ("norm", (np.ones((2, 2)), "x")), ("inv", (np.float64(3),)),
        *((f, (np.ones((2, 2), np.float16),)) for f in "inv det svd eigh eig cholesky qr pinv slogdet svdvals".split()),
        ("solve", (np.ones((2, 2), np.float16), np.ones(2, np.float16))), ("lstsq", (np.ones((2, 2), np.float16), np.ones(2))),
    ]  # fmt: skip


@pytest.mark.filterwarnings("ignore::RuntimeWarning", "ignore::broadcloth.exceptions.PerformanceWarning")
@pytest.mark.parametrize(("name", "args"), errors(), ids=[f"{name}-{i}" for i, (name, _) in enumerate(errors())])
def test_errors_are_numpys(xp, name, args):
    try:
        want = getattr(np.linalg, name)(*args)
    except Exception as e:  # noqa: BLE001 (whatever NumPy raises)
        with pytest.raises(type(e)) as caught:
            getattr(xp.linalg, name)(*(xp.array(a) if isinstance(a, np.ndarray) else a for a in args))
        assert str(caught.value) == str(e)
    else:
        try:
            got = getattr(xp.linalg, name)(*(xp.array(a) if isinstance(a, np.ndarray) else a for a in args))
        except np.linalg.LinAlgError:
            # LAPACKs differ in what they say of a matrix with NaN or infinity: an error, or any numbers.
            assert any(not np.isfinite(a).all() for a in args if isinstance(a, np.ndarray))
        else:
            np.testing.assert_allclose(host(got), want)


def test_shapes_that_do_not_fit(xp):
    with pytest.raises(ValueError, match=r"core dimension 0, with gufunc signature \(m,m\),\(m\)->\(m\) \(size 3 is different from 2\)"):
        xp.linalg.solve(xp.eye(2), xp.ones(3))
    with pytest.raises(ValueError, match=r"\(m,m\),\(m,n\)->\(m,n\) \(size 3 is different from 2\)"):
        xp.linalg.solve(xp.eye(2), xp.ones((3, 1)))
    with pytest.raises(ValueError, match="enough dimensions"):
        xp.linalg.solve(xp.eye(2), 1.0)
    with pytest.raises(ValueError, match="broadcast"):
        xp.linalg.solve(xp.ones((3, 2, 2)), xp.ones((2, 2, 1)))
    with pytest.raises(ValueError, match="can't be both set"):
        xp.linalg.matrix_rank(xp.eye(2), tol=1.0, rtol=1.0)
    with pytest.raises(ValueError, match="can't be both set"):
        xp.linalg.pinv(xp.eye(2), 1e-3, rtol=1e-3)
    with pytest.raises(TypeError):
        xp.linalg.cholesky(a=xp.eye(2))


def test_an_error_names_the_line_that_called_and_leaves_other_work_alone(xp):
    pending = xp.ones(3) + 1
    with pytest.raises(np.linalg.LinAlgError):
        xp.linalg.inv(xp.zeros((2, 2)))
    assert pending.tolist() == [2, 2, 2]
    assert xp.linalg.inv(xp.eye(2)).tolist() == [[1, 0], [0, 1]]


@pytest.mark.parametrize("shape", [(6, 4), (4, 6), (5, 5), (6, 1), (1, 3)])
@pytest.mark.parametrize("dtype", DTYPES)
def test_lstsq(xp, dtype, shape):
    a = matrix(shape, dtype)
    for b in (matrix(shape[0], dtype, 1), matrix((shape[0], 3), dtype, 1)):
        got, want = xp.linalg.lstsq(xp.array(a), xp.array(b)), np.linalg.lstsq(a, b)
        assert [v.shape for v in (got[0], got[1], got[3])] == [v.shape for v in (want[0], want[1], want[3])]
        assert [v.dtype for v in (got[0], got[1], got[3])] == [v.dtype for v in (want[0], want[1], want[3])]
        assert got[2] == want[2] and type(got[2]) is type(want[2])
        for x, y in zip((got[0], got[1], got[3]), (want[0], want[1], want[3]), strict=True):
            np.testing.assert_allclose(host(x), y, 1000 * eps(dtype), 1000 * eps(dtype))


def test_lstsq_of_deficient_and_empty_matrices(xp):
    a, b = np.ones((4, 2)), np.arange(4.0)
    for rcond in (None, 1e-3, -1, 0):
        got, want = xp.linalg.lstsq(xp.array(a), xp.array(b), rcond), np.linalg.lstsq(a, b, rcond)
        if rcond in (-1, 0):
            continue  # whether a singular value is zero is then up to rounding
        assert got[2] == want[2]
        if want[2] == 1:
            np.testing.assert_allclose(host(got[0]), want[0])
            assert got[1].shape == want[1].shape
    for shape, columns in [((0, 3), ()), ((3, 0), ()), ((3, 0), (2,)), ((3, 2), (0,)), ((0, 0), (2,))]:
        a, b = np.ones(shape), np.ones((shape[0], *columns))
        got, want = xp.linalg.lstsq(xp.array(a), xp.array(b)), np.linalg.lstsq(a, b)
        for x, y in zip(got, want, strict=True):
            np.testing.assert_allclose(host(x) if isinstance(x, bc.ndarray) else x, y, atol=1e-12)
            assert np.shape(x) == np.shape(y)


@pytest.mark.parametrize("shape", [(5, 5), (6, 3), (3, 6), (2, 4, 3), (0, 3), (3, 0)])
@pytest.mark.parametrize("dtype", DTYPES)
def test_pinv_has_moore_and_penroses_properties(xp, dtype, shape):
    a = matrix(shape, dtype)
    got = xp.linalg.pinv(xp.array(a))
    assert got.dtype == a.dtype and got.shape == np.linalg.pinv(a).shape
    p = host(got)
    scale = np.linalg.norm(a) ** 2 * np.linalg.norm(p)
    assert_small(a @ p @ a - a, scale, max(shape), dtype)
    assert_small(p @ a @ p - p, scale * np.linalg.norm(p), max(shape), dtype)
    assert_small(dagger(a @ p) - a @ p, scale, max(shape), dtype)


def test_rank_deficient_matrices(xp):
    a = np.ones((3, 3))
    for kwargs in ({}, {"rtol": None}, {"rtol": 1e-3}, {"rcond": 1e-3}, {"hermitian": True}):
        np.testing.assert_allclose(host(xp.linalg.pinv(xp.array(a), **kwargs)), np.linalg.pinv(a, **kwargs), 1e-12, 1e-14)
    stack = np.stack([a, np.eye(3), np.zeros((3, 3))])
    assert host(xp.linalg.matrix_rank(xp.array(stack))).tolist() == [1, 3, 0]
    assert host(xp.linalg.matrix_rank(xp.array(stack), hermitian=True)).tolist() == [1, 3, 0]
    assert host(xp.linalg.matrix_rank(xp.array(stack), tol=[5.0, 0.5, 0.5])).tolist() == [0, 3, 0]
    assert host(xp.linalg.matrix_rank(xp.array(stack), rtol=[0.1, 0.5, 1.0])).tolist() == [1, 3, 0]
    assert xp.linalg.matrix_rank(xp.ones(4)) == 1 and xp.linalg.matrix_rank(xp.zeros(4)) == 0 and xp.linalg.matrix_rank(3) == 1
    assert host(xp.linalg.matrix_rank(xp.empty((2, 0, 3)))).tolist() == [0, 0]
    shares = [1e-3, 1e-3, 1e-3]
    np.testing.assert_allclose(host(xp.linalg.pinv(xp.array(stack), shares)), np.linalg.pinv(stack, shares), 1e-12, 1e-14)


@pytest.mark.parametrize("p", [None, 1, -1, 2, -2, np.inf, -np.inf, "fro", "nuc"])
def test_cond(xp, p):
    for a in (np.array([[1.0, 2], [3, 5]]), np.ones((2, 2)), np.zeros((2, 2)), np.array([[np.nan, 1], [1, 2]]), definite(4, "D", (3,))):
        with np.errstate(all="ignore"):
            try:
                want = np.linalg.cond(a, p)
            except np.linalg.LinAlgError as e:
                with pytest.raises(np.linalg.LinAlgError, match=str(e)):
                    xp.linalg.cond(xp.array(a), p)
                continue
        if want.ndim == 0 and want > 1e15:
            assert host(xp.linalg.cond(xp.array(a), p)) > 1e15
            continue
        np.testing.assert_allclose(host(xp.linalg.cond(xp.array(a), p)), want, 1e-12, 1e-12)


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64"])
def test_norms_of_nothing_are_zero(xp, dtype):
    empty = xp.zeros((2, 0, 3), dtype)
    real = np.finfo(dtype).dtype
    for order in (None, "fro", 1, np.inf, 2, "nuc"):
        got = xp.linalg.norm(empty, order, axis=(1, 2))
        assert got.dtype == real and got.tolist() == [0, 0], order
    for order in (None, 1, np.inf, 3, 0):
        got = xp.linalg.norm(empty[0], order, axis=0)
        assert got.dtype == real and got.tolist() == [0, 0, 0], order
    for order in (-1, -np.inf):
        with pytest.raises(ValueError, match="no identity"):
            xp.linalg.norm(empty[0, :, :0], order)
    assert np.isnan(float(xp.linalg.norm(xp.array([np.nan, 1.0]), np.inf)))


def test_linalg_cross_takes_vectors_of_three(xp):
    a, b = np.arange(6).reshape(2, 3), np.arange(6, 12).reshape(2, 3)
    assert (host(xp.linalg.cross(xp.asarray(a), xp.asarray(b))) == np.linalg.cross(a, b)).all()
    assert (host(xp.linalg.cross(xp.asarray(a.T), xp.asarray(b.T), axis=0)) == np.linalg.cross(a.T, b.T, axis=0)).all()
    for x, y, axis in ((a[:, :2], b[:, :2], -1), (a, b[:, :2], -1), (a, b, 0)):
        with pytest.raises(ValueError, match="3-dimensional vectors"):
            xp.linalg.cross(xp.asarray(x), xp.asarray(y), axis=axis)


@pytest.mark.parametrize("order", [2, -2, "nuc"])
def test_norms_of_singular_values(xp, order):
    for shape, axis in [((4, 3), None), ((2, 4, 3), (1, 2)), ((4, 2, 3), (2, 0))]:
        a = matrix(shape, "D")
        for keepdims in (False, True):
            got, want = (m.linalg.norm(m.asarray(a), order, axis, keepdims) for m in (xp, np))
            assert got.shape == np.shape(want)
            np.testing.assert_allclose(host(got), want, 1e-12)
    assert host(xp.linalg.matrix_norm(xp.array(a), ord=order)).shape == (4,)


def test_svd_of_hermitian_matrices(xp):
    a = hermitian(5, "D", (2,))
    u, s, vh = (host(v) for v in xp.linalg.svd(xp.array(a), hermitian=True))
    assert_small((u * s[..., None, :]) @ vh - a, a, 5, "D")
    assert (np.diff(s) <= 0).all() and (s >= 0).all()
    np.testing.assert_allclose(host(xp.linalg.svd(xp.array(a), compute_uv=False, hermitian=True)), s, 1e-12)


def test_tensor_equations(xp):
    a, b = matrix((2, 3, 6), "d"), matrix((2, 3), "d", 1)
    np.testing.assert_allclose(host(xp.linalg.tensorsolve(xp.array(a), xp.array(b))), np.linalg.tensorsolve(a, b), 1e-9)
    moved = np.moveaxis(a, 2, 0)
    np.testing.assert_allclose(
        host(xp.linalg.tensorsolve(xp.array(moved), xp.array(b), axes=(0,))), np.linalg.tensorsolve(moved, b, axes=(0,)), 1e-9
    )
    np.testing.assert_allclose(host(xp.linalg.tensorinv(xp.array(a), 2)), np.linalg.tensorinv(a, 2), 1e-9)


def test_powers_of_the_inverse(xp):
    a = matrix((2, 4, 4), "D")
    for n in (-3, -1, 0, 2, 5):
        np.testing.assert_allclose(host(xp.linalg.matrix_power(xp.array(a), n)), np.linalg.matrix_power(a, n), 1e-9, 1e-9)
    with pytest.raises(TypeError, match="must be an integer"):
        xp.linalg.matrix_power(xp.array(a), 1.5)


def test_empty_stacks_and_matrices(xp):
    for shape in ((0, 0), (0, 3, 3), (2, 0, 0)):
        x, a = xp.empty(shape), np.empty(shape)
        for name in ("inv", "cholesky", "det", "eigvalsh", "svdvals"):
            assert getattr(xp.linalg, name)(x).shape == getattr(np.linalg, name)(a).shape, name
        assert xp.linalg.solve(x, x).shape == shape
    assert xp.linalg.solve(xp.eye(3), xp.empty((3, 0))).shape == (3, 0)
    assert host(xp.linalg.svd(xp.empty((2, 0))).U).tolist() == [[1, 0], [0, 1]]
    assert host(xp.linalg.qr(xp.empty((2, 0)), "complete").Q).tolist() == [[1, 0], [0, 1]]


def test_lists_and_numpys_arrays_are_operands(xp):
    assert xp.linalg.inv([[2, 0], [0, 4]]).tolist() == [[0.5, 0], [0, 0.25]]
    assert xp.linalg.solve([[2.0, 0], [0, 4]], [2, 4]).tolist() == [1, 1]
    assert xp.linalg.solve(a=[[2.0]], b=[[4.0]]).tolist() == [[2]]
    assert xp.linalg.eigh(a=np.eye(2), UPLO="U").eigenvalues.tolist() == [1, 1]


def test_numpys_functions_take_the_arrays(xp):
    x = xp.array([[2.0, 0.0], [0.0, 4.0]])
    assert isinstance(np.linalg.inv(x), xp.ndarray) and isinstance(np.linalg.svd(x).S, xp.ndarray)
    assert np.linalg.pinv(x, rcond=1e-3).tolist() == [[0.5, 0], [0, 0.25]]


def test_results_may_be_written_and_outlive_each_other(xp):
    x = xp.array(definite(4, "d"))
    w, v = xp.linalg.eigh(x)
    before = host(w)
    v *= 0
    assert (host(v) == 0).all() and (host(w) == before).all()
    w += 1
    np.testing.assert_array_equal(host(w), before + 1)
    del v
    inverse = xp.linalg.inv(x)
    inverse[0] = 7
    assert host(inverse)[0].tolist() == [7] * 4 and inverse.base is None


def test_work_around_a_decomposition_waits_for_it_and_the_other_way_round(xp):
    x = xp.array(definite(5, "d"))
    a = host(x)
    y = (xp.linalg.inv(x * 2 + 1) @ x).sum() + 1
    np.testing.assert_allclose(host(y), (np.linalg.inv(a * 2 + 1) @ a).sum() + 1, 1e-10)
    x += 1
    np.testing.assert_allclose(host(xp.linalg.det(x)), np.linalg.det(a + 1), 1e-10)


def test_large_matrices_and_stacks(xp):
    a = definite(300, "d") / 300
    assert_small(host(xp.linalg.inv(xp.array(a))) @ a - np.eye(300), np.linalg.norm(np.linalg.inv(a)) * np.linalg.norm(a), 300, "d")
    u, s, vh = (host(v) for v in xp.linalg.svd(xp.array(a)))
    assert_small((u * s) @ vh - a, a, 300, "d")
    stack = definite(8, "d", (500,))
    assert_small(host(xp.linalg.inv(xp.array(stack))) - np.linalg.inv(stack), 500 * np.linalg.norm(stack), 8, "d")


def test_every_name_of_numpy_is_there():
    ours, numpys = set(bc.linalg.__all__), {n for n in np.linalg.__all__ if n != "test"}
    assert numpys <= ours
    for name in numpys - {"LinAlgError"}:
        wanted, got = (inspect.signature(getattr(m.linalg, name)).parameters for m in (np, bc))
        assert [(p.name, p.kind) for p in got.values()] == [(p.name, p.kind) for p in wanted.values()], name


def graded(rows, columns, condition, dtype):
    """A matrix whose singular values fall from 1 to 1 / condition."""
    rng = np.random.default_rng(rows * columns)
    least = min(rows, columns)
    parts = (rng.standard_normal((k, least)) + 1j * rng.standard_normal((k, least)) * (dtype in "FD") for k in (rows, columns))
    u, v = (np.linalg.qr(part)[0] for part in parts)
    a = (u * np.geomspace(1, 1 / condition, least)) @ v.conj().T
    return (a if dtype in "FD" else a.real).astype(dtype)


@pytest.mark.parametrize("dtype", list("fdFD"))
@pytest.mark.parametrize("shape", [(1, 1), (40, 40), (60, 17), (17, 60), (5, 1), (33, 70)])
@pytest.mark.parametrize("condition", [1, 10, 1e6, 1e20])
def test_singular_values_by_eigenvectors(xp, dtype, shape, condition):
    """What GPUs do: from clusters of equal singular values to ranks that are lost."""
    a = graded(*shape, condition, dtype)
    check_svd(xp, xp.array(a), a, 30 * max(shape) * eps(dtype))


@pytest.mark.parametrize("dtype", list("fdFD"))
def test_singular_values_by_eigenvectors_of_special_matrices(xp, dtype):
    large, one = 1e15 * graded(8, 8, 10, "d"), np.outer([1, 2, 3], [1, 1])
    for a in (np.zeros((4, 3)), np.ones((5, 5)), np.eye(6)[::-1] * 3, np.diag([1.0, 0, 2, 0]), large, one):
        check_svd(xp, xp.array(a.astype(dtype)), a.astype(dtype), 200 * eps(dtype))
    for bad in (np.nan, np.inf):
        a = np.eye(5, dtype=dtype)
        a[2, 3] = bad
        with pytest.raises(np.linalg.LinAlgError, match="SVD did not converge"):
            bc._broadcloth.linalg_svd_by_eigh(xp.array(a), 1)
    if dtype in "fF":
        stack = np.stack([graded(20, 12, c, dtype) for c in (1, 100, 1e4)])
        check_svd(xp, xp.array(stack), stack, 1000 * eps(dtype))
        check_svd(xp, xp.array(stack)[::-1, ::-1], stack[::-1, ::-1], 1000 * eps(dtype))


def check_svd(xp, x, a, bound):
    want = np.linalg.svd(a.astype(np.complex128 if a.dtype.kind == "c" else np.float64), compute_uv=False)
    largest = max(float(want.max()), 1e-300)
    assert np.abs(host(bc._broadcloth.linalg_svd_by_eigh(x, 0)[0]) - want).max() <= bound * largest
    for vectors in (1, 2):
        u, s, vh = (host(part) for part in bc._broadcloth.linalg_svd_by_eigh(x, vectors))
        least = s.shape[-1]
        assert (np.diff(s) <= 0).all()
        assert s.dtype == a.real.dtype and u.dtype == vh.dtype == a.dtype
        assert np.abs(s - want).max() <= bound * largest
        if vectors == 2:
            assert u.shape[-2:] == (a.shape[-2],) * 2 and vh.shape[-2:] == (a.shape[-1],) * 2
        for q in (u, dagger(vh)):
            assert np.abs(dagger(q) @ q - np.eye(q.shape[-1])).max() <= bound
        assert np.abs((u[..., :least] * s[..., None, :]) @ vh[..., :least, :] - a).max() <= bound * largest


@pytest.mark.parametrize("order", [2, -2, "nuc"])
def test_halves_have_no_singular_values(xp, order):
    assert_like_numpy(xp, f"xp.linalg.norm(xp.ones((2, 2), 'f2'), ord={order!r})")
