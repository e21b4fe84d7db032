"""Indices and axes of arrays in functions compiled for the CPU, against NumPy."""

from __future__ import annotations

import random

import numpy as np
import pytest

from broadcloth import njit

MATRIX = np.arange(12.0).reshape(3, 4)
CUBE = np.arange(60).reshape(3, 4, 5)
ROWS = np.array([2, 0, -1])
GRID = np.array([[0, 1], [2, 2]])
MASK = np.array([True, False, True])
PLANE = MATRIX % 2 == 0


def read_matrix(a, i, j, m):
    return (
        a[1, i], a[i, 1], a[:, i], a[m, 2], a[i, i], a[:, j], a[::-1, i], a[..., i], a[None, i], a[m, 1:], a.T[i, 1], a[1, [0, 3]],
        a[i > 0, 1],
    )  # fmt: skip


def read_cube(a, i, j, m, p):
    return (
        a[0, :, i], a[:, 0, i], a[i, :, 0], a[i, :, i], a[:, i, i], a[i, ..., 1], a[p], a[p, 1], a[:, i, 1:], a[j, :, j], a[1, i, 2],
        a[0, None, i], a[i, None, i], a[m, :, 1], a[:, j, 1],
    )  # fmt: skip


@pytest.mark.parametrize(
    ("function", "arguments"), [(read_matrix, (MATRIX, ROWS, GRID, MASK)), (read_cube, (CUBE, ROWS, GRID, MASK, PLANE))]
)
def test_arrays_of_indices_beside_other_indices(function, arguments):
    for got, expected in zip(njit(function)(*arguments), function(*arguments)):
        assert got.dtype == expected.dtype and got.shape == expected.shape
        np.testing.assert_array_equal(got, expected)


def test_assignments_through_arrays_of_indices():
    def change(a, i, m, p, row):
        a[1, :, i] = 7
        a[i, 2] = row
        a[m, :, 1] = -a[m, :, 0]
        a[:, i, 0] += 3
        a[p] = a[p][::-1]
        a[0, i] = a[1, :3]
        return a

    arguments = (np.unique(ROWS) % 3, MASK, PLANE, np.arange(5))
    np.testing.assert_array_equal(njit(change)(CUBE.copy(), *arguments), change(CUBE.copy(), *arguments))


def test_arrays_of_indices_are_checked():
    @njit
    def item(a, i):
        return a[1, i]

    @njit
    def store(a, i, v):
        a[1, i] = v

    @njit
    def masked(a, m):
        return a[m, 1]

    with pytest.raises(IndexError):
        item(MATRIX, np.array([4]))
    with pytest.raises(ValueError):
        store(MATRIX, ROWS, np.ones(2))
    with pytest.raises(IndexError):
        masked(MATRIX, np.array([True, False]))


def test_axes_move_and_go():
    def axes(a, k):
        return (
            np.moveaxis(a, 0, -1), np.moveaxis(a, (0, 1), (2, 0)), np.swapaxes(a, 0, 2), a.swapaxes(k, -1), np.rollaxis(a, 2),
            np.rollaxis(a, 0, k + 2), np.squeeze(a[:, :1], 1), a[:1, :, :1].squeeze((0, -1)), np.expand_dims(a, 1),
        )  # fmt: skip

    for got, expected in zip(njit(axes)(CUBE, 1), axes(CUBE, 1)):
        assert got.shape == expected.shape
        np.testing.assert_array_equal(got, expected)
    with pytest.raises(ValueError):
        njit(lambda a: np.squeeze(a, 1))(CUBE)
    with pytest.raises(ValueError):
        njit(lambda a, k: np.moveaxis(a, k, 0))(CUBE, 3)


def test_what_a_value_is():
    def kinds(a, z, x):
        return (
            np.isscalar(a), np.isscalar(x), np.isscalar("s"), np.iscomplexobj(a), np.iscomplexobj(z), np.isrealobj(z), np.isrealobj(x),
            np.iscomplex(z), np.isreal(z), np.isreal(a), np.iscomplex(x), np.isreal(x),
        )  # fmt: skip

    z = np.array([1 + 0j, 2j])
    for got, expected in zip(njit(kinds)(MATRIX, z, 2.5), kinds(MATRIX, z, 2.5)):
        np.testing.assert_array_equal(got, expected)


@pytest.mark.parametrize("dtype", ["int8", "uint16", "int32", "int64", "uint64", "float32", "float64"])
def test_many_numbers_are_sorted_as_numpy_does(dtype):
    @njit
    def order(a):
        l = list(a)
        l.sort(reverse=True)
        return np.sort(a), np.argsort(a), l

    g = np.random.default_rng(1)
    a = g.integers(-100, 100, 3000).astype(dtype) if dtype != "uint64" else g.integers(0, 2**64, 3000, dtype="u8")
    if a.dtype.kind == "f":
        a *= g.random(3000, dtype=dtype)
        a[:6] = np.nan, np.inf, -np.inf, -0.0, 0.0, np.nan
    ordered, places, falling = njit(order)(a)
    np.testing.assert_array_equal(ordered, np.sort(a))
    np.testing.assert_array_equal(places, np.argsort(a, kind="stable"))
    if a.dtype.kind != "f":
        assert falling == sorted(a.tolist(), reverse=True)


def test_long_lists_are_sorted_stably():
    @njit
    def order(l, pairs):
        keyed = l[:]
        keyed.sort(key=lambda v: v % 7)
        down = l[:]
        down.sort(key=lambda v: v % 7, reverse=True)
        pairs.sort()
        return keyed, down, pairs, sorted(pairs, reverse=True)

    values = [random.Random(3).randrange(-500, 500) for _ in range(1500)]
    pairs = [(v % 5, v / 2) for v in values]
    keyed, down, up, falling = order(values, pairs)
    assert keyed == sorted(values, key=lambda v: v % 7)
    assert down == sorted(values, key=lambda v: v % 7, reverse=True)
    assert up == sorted(pairs) and falling == sorted(pairs, reverse=True)


ROW = np.array([3.0, 1.0, 2.0, 5.0, 4.0])
INTEGERS = np.array([3, 1, 2, 5, 3])
SQUARE = np.array([[4.0, 1.0, 2.5], [0.0, 3.0, 0.2], [0.5, 7.2, 2.0]])
HERMITIAN = np.array([[4, 1j], [-1j, 3]])
COMPLEX = np.array([1 + 2j, 3 - 1j, 2j])


def shaped(v, m):
    return (
        np.append(m, m, axis=0), np.array_split(v, 2)[1], np.split(v, [2, 4])[1], np.hsplit(m, 2)[1], np.vsplit(m, 3)[2],
        np.atleast_3d(m), np.asarray(3), np.diagflat(v, 1), np.diff(m), np.dstack((v, v)), np.expand_dims(v, axis=-1),
        np.repeat(v, np.array([1, 0, 2, 0, 1])),
        np.resize(v, (3, 3)), np.take(m, np.array([0, 2]), axis=1), np.take(m, np.array([[1, 2], [11, 4]])), np.take(m, 1, axis=0),
        np.take_along_axis(m, np.array([[0, 1], [1, 1], [2, 3]]), axis=1),
        np.tril_indices(3, 1, 4)[1], np.triu_indices_from(m)[0],
        np.trim_zeros(np.array([0, 0, 3, 2, 0])), np.broadcast_arrays(v, m[:, :1])[1], np.broadcast_shapes((1, 3), (2, 1)), np.trace(m, 1),
        np.asfortranarray(m), np.cross(np.ones((2, 3)), v[:3]), np.delete(v, [0, -1]),
    )  # fmt: skip


def computed(v, i, z):
    return (
        v.clip(2, 3), np.clip(v, None, 3), np.percentile(v, [10.0, 50.0]), np.ediff1d(v, 9.0, 8.0), np.unwrap(v * 3), np.vdot(z, z), z.real,
        np.nan_to_num(np.array([np.nan, np.inf]), nan=3.0)[:1], np.isclose(1.0, 1.0 + 1e-10), np.divmod(i, 2)[1], np.cov(v, ddof=0),
        np.logspace(0, 3, 4), np.polynomial.polynomial.polymul(v, v[:2]), np.polynomial.polynomial.polyval(2.0, v),
        np.polynomial.polynomial.polydiv(v, v[:2])[1],
        np.geomspace(1, 1000, 4), np.hamming(6), np.kaiser(6, 2.0), np.bartlett(5), np.frombuffer(v, dtype=np.int64),
    )  # fmt: skip


def factored(a, h):
    return (
        np.linalg.cholesky(h), np.linalg.eigvalsh(h), np.linalg.eigvals(a @ a.T).real, np.linalg.svd(h)[1], np.linalg.pinv(h),
        np.linalg.slogdet(a), np.linalg.slogdet(h), np.linalg.cond(a), np.linalg.cond(a, 1),
        np.linalg.norm(a, 2), np.linalg.lstsq(a[:, :2], a[:, 2])[0],
        np.linalg.qr(h)[1], np.linalg.matrix_rank(a), np.linalg.inv(h), np.linalg.matrix_power(a, -2),
    )  # fmt: skip


def flat(values):
    for v in values:
        if isinstance(v, tuple | list):
            yield from flat(v)
        else:
            yield np.asarray(v)


@pytest.mark.parametrize(
    ("function", "arguments"), [(shaped, (ROW, MATRIX)), (computed, (ROW, INTEGERS, COMPLEX)), (factored, (SQUARE, HERMITIAN))]
)
def test_functions_of_numpy(function, arguments):
    for got, expected in zip(flat(njit(function)(*arguments)), flat(function(*arguments)), strict=True):
        assert got.dtype == expected.dtype and got.shape == expected.shape
        np.testing.assert_allclose(got, expected, rtol=1e-10, atol=1e-12)


def test_factorisations_keep_single_precision_and_say_what_they_cannot():
    @njit
    def singles(a):
        return np.linalg.svd(a)[0], np.linalg.eigh(a)[0], np.linalg.cholesky(a), np.linalg.pinv(a)

    @njit
    def values(a):
        return np.linalg.eigvals(a)

    a = np.array([[2.0, 0.5], [0.5, 1.0]], dtype="f4")
    assert {x.dtype for x in singles(a)} == {np.dtype("f4")}
    turn = np.array([[0.0, -1.0], [1.0, 0.0]])
    with pytest.raises(ValueError, match="complex"):
        values(turn)
    np.testing.assert_allclose(np.sort(values(turn.astype(complex)).imag), [-1, 1])
    with pytest.raises(np.linalg.LinAlgError):
        njit(lambda a: np.linalg.svd(a)[1])(turn * np.nan)


def test_what_gives_none_is_done_where_it_stands():
    @njit
    def filled(a):
        return np.fill_diagonal(a, 7), a[0, 0]

    assert filled(np.zeros((2, 2))) == (None, 7.0)


@pytest.mark.parametrize("dtype", ["int64", "float64"])
def test_parts_of_an_order_and_counts(dtype):
    @njit
    def all_of(a, k):
        return (
            np.median(a), np.quantile(a, 0.37), np.percentile(a, 90), np.sort(np.partition(a, k)[:k]),
            np.partition(a, k)[k], np.histogram(a, 7),
            np.flatnonzero(a > 4), np.where(a > 5)[0], np.outer(a, a[:3]),
        )  # fmt: skip

    g = np.random.default_rng(2)
    for n in (1, 2, 3, 50, 301):
        a = g.integers(0, 9, n).astype(dtype)
        k = n // 3
        got = list(flat(all_of(a, k)))
        expected = list(flat((
            np.median(a), np.quantile(a, 0.37), np.percentile(a, 90), np.sort(a)[:k], np.sort(a)[k], np.histogram(a, 7),
            np.flatnonzero(a > 4),
            np.where(a > 5)[0], np.outer(a, a[:3]),
        )))  # fmt: skip
        for x, y in zip(got, expected, strict=True):
            np.testing.assert_allclose(x, y, rtol=1e-13)
    if dtype == "float64":
        assert np.isnan(all_of(np.array([1.0, np.nan]), 0)[0])


def test_small_arrays_of_several_threads_are_not_mixed():
    from concurrent.futures import ThreadPoolExecutor

    @njit(nogil=True)
    def build(n, start):
        rows = []
        for i in range(n):
            rows.append(np.full(4, start + i))
        return rows

    with ThreadPoolExecutor(4) as pool:
        for _ in range(5):
            for start, rows in zip(range(8), pool.map(lambda s: build(300, s), range(8))):
                np.testing.assert_array_equal(np.stack(rows)[:, 2], start + np.arange(300))
