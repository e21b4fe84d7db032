"""Indices and axes of arrays in functions compiled for the CPU, against NumPy."""

from __future__ import annotations

import random
import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import broadcloth as bc
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


def viewed(v, m, c):
    window = np.lib.stride_tricks.sliding_window_view
    return (
        window(v, 3), window(m, (2, 2)), window(c, (2, 3), axis=(0, -1)), np.lib.stride_tricks.as_strided(v, shape=(2, 2), strides=(8, 16)),
        np.broadcast_to(v, (2, 5)), np.argwhere(c > 40), np.atleast_1d(v, 3)[1], np.meshgrid(v, v[:2], indexing="ij")[1],
        np.meshgrid(v[:3], v, v[:2])[0], np.resize((1, 2), 5), np.expand_dims(v, 0), v.imag, len(m.flat), np.shape((1, 2)),
        np.unique(m), np.append(m, 1), np.repeat(m, 2), np.fix(v - 2.5), np.array([[x, 1.0] for x in v]),
        np.array([(1, x) for x in (2, 3)]),
        v.flags.c_contiguous, m.T.flags.f_contiguous, m.T.flags.c_contiguous,
    )  # fmt: skip


def counted(v, i, z):
    return (
        np.max((1, 5, 3)), np.min(3.5), np.mean((1, 2)), np.prod([2, 3]), np.any(0), np.all((1, 2)), np.argmax((1, 5, 3)), np.ptp((1, 5)),
        np.median((4, 1, 3)), np.percentile([4.0, 1.0, 3.0], 40), np.quantile((1, 2, 4), 0.3), np.flatnonzero((0, 1, 2)), np.std((1, 5, 3)),
        z.max(), z.min(), np.amax(z), np.nancumsum(i), np.nancumprod(i), np.nanvar(v, ddof=1), np.nanstd(v), np.unique((3, 1, 3)),
        np.sum(2), np.cumsum((1, 2)),
    )  # fmt: skip


def flat(values):
    for v in values:
        if isinstance(v, tuple | list):
            yield from flat(v)
        else:
            yield np.asarray(v)


@pytest.mark.parametrize(
    ("function", "arguments"),
    [
        (shaped, (ROW, MATRIX)),
        (viewed, (ROW, MATRIX, CUBE)),
        (counted, (ROW, INTEGERS, COMPLEX)),
        (computed, (ROW, INTEGERS, COMPLEX)),
        (factored, (SQUARE, HERMITIAN)),
    ],
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


def test_views_share_their_memory_and_windows_fit():
    @njit
    def f(v, width):
        parts = np.lib.stride_tricks.sliding_window_view(v, width)
        wide = np.broadcast_to(v[:1], (3,))
        v[0] = 7.0
        return parts[0, 0] + wide.sum()

    assert f(np.arange(4.0), 2) == 28.0
    with pytest.raises(ValueError, match="window shape cannot be larger"):
        f(np.arange(4.0), 5)


def test_rows_of_an_array_have_one_length():
    with pytest.raises(ValueError, match="differ in length"):
        njit(lambda n: np.array([[0] * k for k in range(n)]))(3)


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
        assert np.isnan(njit(lambda a: np.median(a))(np.array([1.0, np.nan])))
        with pytest.raises(ValueError, match="finite"):
            all_of(np.array([1.0, np.nan]), 0)


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


def test_histograms_are_those_of_numpy():
    @njit
    def by_count(a, bins):
        return np.histogram(a, bins)

    @njit
    def by_range(a, bins, low, high):
        return np.histogram(a, bins, (low, high))

    @njit
    def by_edges(a, edges):
        return np.histogram(a, edges)

    g = np.random.default_rng(5)
    floats, whole = g.standard_normal(3000), g.integers(0, 100, 3000)
    # Elements on the edges, where rounding decides.
    exact = np.repeat(np.linspace(-0.7, 1.1, 7), 90)
    for a in (floats, whole, exact, floats.astype(np.float32), np.full(5, 2.5), whole.astype(np.uint8)):
        for bins in (1, 6, 10, 97):
            for got, expected in zip(by_count(a, bins), np.histogram(a, bins)):
                np.testing.assert_allclose(got, expected, rtol=1e-15)
            for got, expected in zip(by_range(a, bins, -0.7, 1.1), np.histogram(a, bins, (-0.7, 1.1))):
                np.testing.assert_allclose(got, expected, rtol=1e-15)
            # Ranges whose ends, and edges between integers, are elements.
            for low, high in ((0, 100), (-3, 97), (2, 12), (0.0, 2.5)):
                assert_array_equal(by_range(a, bins, low, high)[0], np.histogram(a, bins, (low, high))[0])
    edges = np.array([-1.0, -0.7, -0.7, 0.0, 2.5, 3.0])
    floats[::7] = np.nan
    for a in (floats, exact, np.full(5, 3.0)):
        np.testing.assert_array_equal(by_edges(a, edges)[0], np.histogram(a[~np.isnan(a)], edges)[0])
    np.testing.assert_array_equal(by_range(floats, 9, -1.0, 1.0)[0], np.histogram(floats[~np.isnan(floats)], 9, (-1.0, 1.0))[0])


@pytest.mark.parametrize("dtype", ["float64", "float32", "complex128"])
def test_factorisations_give_the_matrix_back(dtype):
    @njit
    def factors(a, h):
        return np.linalg.svd(a), np.linalg.svd(a, False), np.linalg.qr(a), np.linalg.eigh(h), np.linalg.eigvalsh(h), np.linalg.pinv(a)

    @njit
    def eigen(h):
        return np.linalg.eig(h), np.linalg.eigvals(h)

    @njit
    def least(a, b):
        return np.linalg.lstsq(a, b)

    g = np.random.default_rng(6)
    tight = 1e-4 if dtype == "float32" else 1e-11
    for m, n in ((5, 3), (3, 5), (4, 4)):
        a = (g.standard_normal((m, n)) + (1j * g.standard_normal((m, n)) if dtype == "complex128" else 0)).astype(dtype)
        h = np.asfortranarray(a @ a.conj().T)
        (u, s, v), (u1, s1, v1), (q, r), (w, x), w1, p = factors(a, h)
        assert u.dtype == q.dtype == x.dtype == a.dtype and s.dtype == w.dtype == a.real.dtype
        assert (u.shape, v.shape, u1.shape, v1.shape) == ((m, m), (n, n), (m, min(m, n)), (min(m, n), n))
        np.testing.assert_allclose(u[:, : s.size] * s @ v[: s.size], a, atol=tight)
        np.testing.assert_allclose(u1 * s1 @ v1, a, atol=tight)
        np.testing.assert_allclose(u.conj().T @ u, np.eye(m), atol=tight)
        np.testing.assert_allclose(q @ r, a, atol=tight)
        np.testing.assert_allclose(np.tril(r, -1), 0, atol=tight)
        np.testing.assert_allclose(x * w @ x.conj().T, h, atol=10 * tight)
        np.testing.assert_allclose(w, w1, atol=10 * tight)
        np.testing.assert_allclose(p, np.linalg.pinv(a), atol=10 * tight)
        (e, y), e1 = eigen(h.astype(np.complex128))
        np.testing.assert_allclose(h @ y, y * e, atol=10 * tight)
        np.testing.assert_allclose(np.sort_complex(e), np.sort_complex(e1), atol=10 * tight)
        for b in (g.standard_normal(m).astype(a.real.dtype), g.standard_normal((m, 2)).astype(a.real.dtype)):
            got, expected = least(a, b), np.linalg.lstsq(a, b)
            np.testing.assert_allclose(got[0], expected[0], atol=10 * tight)
            np.testing.assert_allclose(got[1], expected[1], atol=10 * tight)
            assert got[2] == expected[2]

    @njit
    def real_eigen(a):
        return np.linalg.eig(a)

    w, v = real_eigen(np.array([[2.0, 1.0], [0.0, 3.0]]))
    np.testing.assert_allclose(np.array([[2.0, 1.0], [0.0, 3.0]]) @ v, v * w, atol=1e-12)
    with pytest.raises(ValueError, match="complex eigenvalues"):
        real_eigen(np.array([[0.0, 1.0], [-1.0, 0.0]]))
    with pytest.raises(np.linalg.LinAlgError, match="square"):
        real_eigen(np.ones((2, 3)))


def test_vectors_are_read_and_written_at_many_places():
    @njit
    def read(a, i):
        return a[i]

    @njit
    def write(a, i, v):
        a[i] = v
        return a

    a, g = np.arange(20000.0), np.random.default_rng(7)
    i = g.integers(-20000, 20000, 30000)
    np.testing.assert_array_equal(read(a, i), a[i])
    np.testing.assert_array_equal(read(a[::-2], i // 2), a[::-2][i // 2])
    for bad in (-20001, 20000):
        i[29999] = bad
        kept = a.copy()
        with pytest.raises(IndexError):
            read(a, i)
        with pytest.raises(IndexError):
            write(a, i, 1.0)
        np.testing.assert_array_equal(a, kept)  # nothing was written
    order = g.permutation(20000)
    for v in (a.copy(), a[::-1], a, a.astype(np.float32), 2.5, np.array([3.0])):
        x, y = a.copy(), a.copy()
        np.testing.assert_array_equal(write(x, order, x[::-1] if v is a else v), write.py_func(y, order, y[::-1] if v is a else v))
    k = np.random.default_rng(8).permutation(100)
    np.testing.assert_array_equal(write(k.copy(), k, 5), np.full(100, 5))
    x, y = k.copy(), k.copy()
    np.testing.assert_array_equal(write(x, x, np.arange(100)), write.py_func(y, y.copy(), np.arange(100)))
    with pytest.raises(ValueError, match="could not be broadcast to indexing result"):
        write(a, order, np.ones(3))


def test_sorted_places_are_found_whatever_stands_there():
    @njit
    def places(a, v):
        return np.searchsorted(a, v), np.searchsorted(a, v, "right")

    g = np.random.default_rng(9)
    for n in (0, 1, 2, 3, 7, 64, 100):
        a = np.sort(g.integers(0, 30, n) * 0.5)
        if n > 3:
            a[-2:] = np.nan
        v = np.array([*g.random(40) * 16, *a, np.nan, -np.inf, np.inf])
        for got, side in zip(places(a, v), ("left", "right")):
            np.testing.assert_array_equal(got, np.searchsorted(a, v, side))


def test_a_choice_between_array_expressions():
    @njit
    def either(a, flag):
        b = a * 2 if flag else a + 1.0
        a[:2] = a[:2] * 3 if flag else -a[:2]
        return b

    for flag in (True, False):
        x, y = np.arange(4.0), np.arange(4.0)
        np.testing.assert_array_equal(either(x, flag), either.py_func(y, flag))
        np.testing.assert_array_equal(x, y)


def test_slices_are_kept_in_variables():
    @njit
    def parts(a, k, step):
        s = slice(k, None, 2)
        first = a[s].sum()
        for n in range(3):
            s = slice(n, None, step)
            first += a[s][0]
        both = (slice(0, 2), 1)
        m = a[:6].reshape(3, 2)
        a[slice(1, 3)] = 0.0
        return first, m[both].sum(), s.start + s.step, a.sum()

    @njit
    def window(n, width):
        return slice(n, n + width)

    @njit
    def use(a, s):
        return a[s].sum()

    @njit
    def passed(a, m):
        w = window(2, 3)
        words = ["a", "b", "c", "d"]
        return use(a, w), use(a, slice(None, 2)), m[w, ::-1][:, 0].sum(), words[w], "letters"[w], a[window(1, 2)].size

    for step in (1, -1):
        x, y = np.arange(8.0), np.arange(8.0)
        assert parts(x, 1, step) == parts.py_func(y, 1, step)
    m = np.arange(12.0).reshape(6, 2)
    assert passed(np.arange(8.0), m) == (9.0, 1.0, 21.0, ["c", "d"], "tte", 2)

    @njit
    def wrong(a, x):
        s = slice(0, x)
        return a[s]

    with pytest.raises(bc.TypingError, match="slices take integers"):
        wrong(np.arange(3), 1.5)


def put(x, mask, value):
    x = x.copy()
    x[mask] = value
    return x


@pytest.mark.parametrize(
    ("mask", "value"),
    [
        ([True, False, True], [8.0, 9.0]),
        ([True, False, True], [8.0]),
        ([True, False, True], [8.0, 9.0, 10.0]),
        ([True, False, True], []),
        ([False, False, False], []),
        ([True, False], [8.0]),
        ([True, False], 8.0),
        ([True], 8.0),
        ([True, False, True, True], 8.0),
    ],
)
def test_masks_and_their_values_have_fitting_lengths(mask, value):
    given = np.array([3.0, 1.0, 2.0]), np.array(mask), np.array(value) if isinstance(value, list) else value
    try:
        expected = put(*given)
    except (IndexError, ValueError) as error:
        with pytest.raises(type(error)):
            bc.njit(put)(*given)
    else:
        assert_array_equal(bc.njit(put)(*given), expected)


def test_values_of_a_mask_are_read_before_they_are_overwritten():
    def shift(x):
        x[x > 0.5] = x[:3]
        return x

    assert_array_equal(bc.njit(shift)(np.array([0.0, 1.0, 2.0, 3.0])), [0.0, 0.0, 1.0, 2.0])


def test_loops_and_items_of_array_expressions():
    def f(x):
        total = 0.0
        for u in x * 2.0:
            total += u
        for row in np.outer(x, x) + 1.0:
            total += row[0]
        return total, (x + 1.0)[1], (x * 3.0)[::-1], [u for u in np.where(x > 1.0, x, 0.0)]  # noqa: C416

    x = np.array([0.5, 1.5, 2.5])
    for ours, theirs in zip(bc.njit(f)(x), f(x), strict=True):
        assert_array_equal(ours, theirs)


def test_a_record_keeps_its_array():
    """A local that refers to a record of a temporary array keeps that array's memory."""
    record = np.dtype([("x", "f8"), ("p", [("u", "i4"), ("v", "i4")])])
    a = np.zeros(5, record)
    a["x"] = np.arange(5)
    a["p"]["v"] = np.arange(5) * 10

    @njit
    def reads(a, n):
        r = a.copy()[1]
        total = 0.0
        for _ in range(n):
            total += np.full(5, 7.0)[0]
            other = a.copy()
            other["x"][:] = -1
        return r.x, r.p.v, total

    @njit
    def writes(a):
        r = a.copy()[2]
        r.x = 9.0
        q = r.p
        q.v = 3
        return r.x, r.p.v, q.v

    @njit
    def chooses(a, flag):
        r = a[0] if flag else a.copy()[1]
        return r.x

    assert reads(a, 10) == (1.0, 10, 70.0)
    assert writes(a) == (9.0, 3, 3)
    assert a[2]["x"] == 2.0
    assert a[2]["p"]["v"] == 20
    assert (chooses(a, True), chooses(a, False)) == (0.0, 1.0)


def test_partition_of_an_empty_vector_is_empty():
    @njit
    def parted(a):
        return np.partition(a, 3), np.partition(a, 0)

    assert [p.shape for p in parted(np.zeros(0))] == [(0,), (0,)]
    with pytest.raises(ValueError, match="out of bounds"):
        parted(np.zeros(3))


def test_squeeze_of_an_array_without_dimensions():
    a = np.array(2.5)
    takes = [lambda x: x.squeeze(0), lambda x: x.squeeze(-1), lambda x: x.squeeze(()), lambda x: x.squeeze()]
    for f in takes:
        assert njit(f)(a) == f(a)
    refuses = [lambda x: x.squeeze((0,)), lambda x: np.squeeze(x, (-1,)), lambda x: x.squeeze(1)]
    for f in refuses:
        with pytest.raises(np.exceptions.AxisError):
            f(a)
        with pytest.raises(bc.TypingError, match="out of bounds"):
            njit(f)(a)


def test_covariances_of_one_number():
    def f(x):
        return np.cov(x), np.corrcoef(x)

    compiled = njit(f)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # NumPy's, of no degrees of freedom
        for x in (2.5, 3, np.array(2.0), np.arange(3.0)):
            assert_array_equal(compiled(x), f(x))


def _where_and_dtype(a, b):
    out = np.full(a.shape, -1.0)
    quotient = np.divide(a, b, out=out, where=b != 0)
    whole = np.arange(4)
    return (
        quotient,
        out,
        np.sqrt(a, out=np.zeros(a.shape), where=a > 0),
        np.add(whole, 1, dtype=np.float32),
        np.sqrt(whole, dtype=np.float32),
        np.multiply(whole, 2.5, dtype=np.float32),
        np.negative(whole.astype(np.uint8), dtype=np.int64),
        np.frexp(a),
        np.modf(a),
    )


def _masked_reductions(a, b):
    u = np.arange(6, dtype=np.uint8).reshape(2, 3)
    return (
        (np.sum(a, initial=2.5), np.sum(a, where=a > 0), np.prod(a, where=a > 1, initial=2), a.sum(where=b > 0)),
        (np.max(a, initial=9), np.max(a, where=a < 2, initial=-8), np.min(a, initial=-2.5), np.max(a[:0], initial=3.0)),
        (np.sum(u, 0, initial=2), np.max(u, axis=1, initial=4), np.any(u, where=u > 9), np.all(u, 0, where=u > 0)),
        (np.mean(u, where=u > 1), np.mean(u, axis=0, where=u > 1), np.sum(u > 1, initial=3), np.mean(a.astype(np.float32), where=a > 0)),
    )


def _rows_and_joins(a, b):
    m = np.array([[1.0, 2.0, 4.0], [3.0, 1.0, 0.5]])
    return (
        (np.array([a[::2], b[1::2]]), np.array([[a, b], [b, a]]), np.array([a, b], dtype=np.float32), np.asarray((a[::-1], b))),
        (np.concatenate((a, b), dtype=np.float32), np.hstack((a, b), dtype=np.complex64), np.stack((a, b), axis=1, dtype="f4")),
        (np.diff(a, prepend=0), np.diff(a, append=9.5), np.diff(m, axis=0, prepend=1), np.diff(m, append=np.ones((2, 1)))),
        (np.cov(m, m, False), np.cov(m, np.array([1.0, 2.0, 3.0])), np.cov(m, np.array([[1.0, 2.0]]), False), np.corrcoef(m, None, False)),
        (np.zeros_like(a, shape=(3,)), np.full_like(a, 7, shape=4), np.asfortranarray(m, dtype=np.float32)),
        (np.linspace(0, 5, dtype=np.float32), np.linspace(-3, 5, 7, dtype=int), np.logspace(0, 2, 5, dtype=np.float32)),
        (np.polyadd([1, 2], [3, 4, 5]), np.polysub(a, [3]), np.polymul([0, 1, 2], [0, 0, 3])),
        (np.nansum(m, keepdims=True), np.nanmean(m, 0, keepdims=True), np.median(m, axis=1, keepdims=True), np.ptp(m, 0, keepdims=True)),
        (np.sum(m, axis=1, where=m > 1, keepdims=True), np.nanmax(m, keepdims=False), np.lexsort((m, m > 1)), np.polymul(a[:0], b)),
        (np.unique(b, return_counts=True), np.unique(m, True, True, True), np.unique(a[:0], return_inverse=True)),
        (np.unique(np.array([np.nan, 1.0, np.nan]), return_counts=True), np.var(m, axis=0, correction=1), np.std(a, correction=1)),
        (np.isin(a, b, invert=True), np.lexsort((a, b)), np.lexsort((a, b[::-1], a > 1)), np.lexsort(m)),
        (np.nansum(a, dtype=np.float32), np.nancumsum(m, axis=0), np.nancumprod(a, dtype=np.float32)),
    )


@pytest.mark.parametrize("f", [_where_and_dtype, _masked_reductions, _rows_and_joins])
@pytest.mark.filterwarnings("ignore")
def test_forms_that_users_write(f):
    def equal(mine, numpy):
        if isinstance(numpy, tuple):
            assert len(mine) == len(numpy)
            for m, n in zip(mine, numpy, strict=True):
                equal(m, n)
        else:
            np.testing.assert_allclose(mine, numpy, rtol=1e-6 if np.asarray(numpy).dtype.itemsize == 4 else 1e-14)
            if isinstance(numpy, np.ndarray):
                assert mine.dtype == numpy.dtype

    a, b = np.array([1.5, -2.0, 0.0, 8.25]), np.array([2.0, 0.0, 0.0, -1.0])
    equal(njit(f)(a, b), f(a, b))


@pytest.mark.parametrize(
    ("f", "error", "message"),
    [
        (lambda a: np.sqrt(a, where=a > 0), bc.TypingError, "'where' with 'out' only"),
        (lambda a: np.add(a, a, out=np.zeros(3), where=np.arange(3)), bc.TypingError, "array of booleans"),
        (lambda a: np.add(a, a, dtype=np.int64), bc.TypingError, "float64 does not become int64"),
        (lambda a: np.sqrt(np.arange(3), dtype=np.int64), bc.TypingError, "no loop that gives int64"),
        (lambda a: np.less(a, a, dtype=np.float64), bc.TypingError, "no loop that gives float64"),
        (lambda a: np.concatenate((a, a), dtype=np.int64), bc.TypingError, "casting is 'same_kind'"),
        (lambda a: np.max(a, where=a > 0), ValueError, "no identity"),
        (lambda a: np.sum(a, where=np.arange(3)), TypeError, "Cannot cast"),
        (lambda a: np.sum(a, where=np.ones((2, 3)) > 0), ValueError, "broadcasts"),
        (lambda a: np.max(a.astype(np.uint8), initial=300), OverflowError, "out of bounds"),
        (lambda a: np.array([a, a[1:]]), ValueError, "must match"),
        (lambda a: np.linalg.norm(a, "fro"), ValueError, "norm order"),
    ],
)
def test_forms_that_numpy_or_the_compiler_refuses(f, error, message):
    with pytest.raises(error, match=message):
        njit(f)(np.arange(3.0))


def test_items_by_place_are_looked_at():
    def f(a, i, j):
        return a.item((i, j)), a.item(i, j), a.item(i * 3 + j), a.astype(None)

    compiled, a = njit(f), np.arange(6.0).reshape(2, 3)
    assert compiled(a, 1, -1)[:2] == (5.0, 5.0)
    assert_array_equal(compiled(a, 0, 1)[3], a)
    for i, j in ((2, 0), (0, 3), (-3, 0)):
        with pytest.raises(IndexError):
            compiled(a, i, j)


def test_astype_without_a_copy_gives_the_array_itself():
    def f(a):
        same, other = a.astype(np.float64, copy=False), a.astype(np.float32, copy=False)
        same[0], other[1] = 7.0, 9.0
        return same, other

    a, b = np.arange(3.0), np.arange(3.0)
    for mine, numpy in zip(njit(f)(a), f(b), strict=True):
        assert_array_equal(mine, numpy)
    assert_array_equal(a, b)


@pytest.mark.parametrize("dtype", ["float64", "complex128", "float32"])
@pytest.mark.parametrize("n", [31, 32, 50])
def test_systems_of_few_and_of_many_rows(n, dtype):
    @njit
    def f(a, b, c):
        return np.linalg.solve(a, b), np.linalg.solve(a.T, c), np.linalg.solve(a, b[:, :0]), np.linalg.inv(a), np.linalg.det(a)

    rng = np.random.default_rng(n)
    a, b, c = rng.normal(size=(n, n)), rng.normal(size=(n, 3)), rng.normal(size=n)
    a += np.eye(n) * 2
    if dtype == "complex128":
        a, b, c = a + 1j * rng.normal(size=(n, n)), b * 1j, c + 2j
    a, b, c = a.astype(dtype), b.astype(dtype), c.astype(dtype)
    kept = a.copy()
    tolerance = 2e-3 if dtype == "float32" else 1e-9
    for ours, theirs in zip(f(a, b, c), f.py_func(a, b, c), strict=True):
        assert_allclose(ours, theirs, rtol=tolerance, atol=tolerance)
        assert np.asarray(ours).dtype.kind == np.asarray(theirs).dtype.kind
    assert_array_equal(a, kept)


def test_singular_matrices_of_many_rows():
    @njit
    def inverse(a):
        return np.linalg.inv(a)

    @njit
    def solution(a, b):
        return np.linalg.solve(a, b)

    @njit
    def determinant(a):
        return np.linalg.det(a)

    ones = np.ones((40, 40))
    for call in (lambda: inverse(ones), lambda: solution(ones, ones[0]), lambda: solution(ones * 1j, ones)):
        with pytest.raises(np.linalg.LinAlgError):
            call()
    assert determinant(ones) == 0
    assert_allclose(determinant(np.eye(40)[::-1] * 2), 2.0**40)
    assert_allclose(determinant(np.eye(33)[[1, 0, *range(2, 33)]]), -1)


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64, np.uint8, np.complex128])
def test_places_of_many_values_in_a_sorted_vector(dtype):
    @njit
    def f(a, v):
        return np.searchsorted(a, v), np.searchsorted(a, v, side="right")

    def compare(a, v):
        for mine, side in zip(f(a, v), ("left", "right"), strict=True):
            theirs = np.searchsorted(a, v, side=side)
            assert_array_equal(mine, theirs)
            assert np.shape(mine) == theirs.shape

    rng = np.random.default_rng(3)
    for n in (0, 1, 2, 100):
        a = np.sort(rng.integers(0, 30, n).astype(dtype))
        values = rng.integers(0, 40, 300).astype(dtype)
        if np.issubdtype(dtype, np.inexact):
            values[::37] = np.nan
            a[n * 9 // 10 :] = np.nan
        for v in (values, np.sort(values), np.sort(values)[::-1], np.repeat(values, 3), values.reshape(20, 15).T, values[:0]):
            compare(a, v)
    compare(np.array([1, 2, 3]), np.array([0.5, 1.0, 2.5, 9.0]))
    compare(np.array([1.5, 2.5]), np.array(2.0))
    compare(np.arange(10.0)[::2], np.arange(12))


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.float16, np.complex128])
def test_negative_zeros_add_up_to_zero(dtype):
    @njit
    def f(a):
        return a.sum(), np.sum(a[0]), a.sum(axis=0), np.sum(a, axis=1), a.mean(), a.mean(axis=0), np.nansum(a), np.sum(a * 1), sum(a[0])

    def signs(x):
        return np.signbit(np.real(x)), np.signbit(np.imag(x))

    for shape in ((1, 1), (3, 4), (2, 1500)):
        a = np.full(shape, -0.0, dtype)
        if dtype is np.complex128:
            a.imag = -0.0
        for mine, theirs in zip(f(a), f.py_func(a), strict=True):
            assert_array_equal(signs(mine), signs(theirs))


NESTED = np.dtype([("k", "i8"), ("h", "f8", (3,)), ("p", [("x", "f8"), ("q", "i8", (2,))])])


@njit
def field_of_record(r):
    return r.h


def test_fields_keep_the_memory_of_their_array():
    """The array that a field is a view of ends before the view is read, and its memory is used again."""

    def record(a):
        b = a.copy()
        x, p, y = b[1].h, b[1].p, field_of_record(b[2])
        b = a[:0].copy()
        other, more = np.full(30, 9.0), np.full(30, 7.0)
        return x, x.sum(), p.q, p.x, y, other[0] + more[0]

    def field(a):
        b = a.copy()
        k, h, q = b["k"], b["h"], b["p"]["q"]
        b = a[:0].copy()
        other, more = np.full(30, 9.0), np.full(30, 7.0)
        return k, h, q, a[::-1].copy()["k"], a[a["k"] > 2]["h"], a[np.argsort(-a["k"])]["k"], other[0] + more[0]

    a = np.zeros(5, NESTED)
    a["k"], a["h"] = range(5), np.arange(15).reshape(5, 3)
    a["p"]["x"], a["p"]["q"] = 2, np.arange(10).reshape(5, 2)
    for f in (record, field):
        for found, expected in zip(njit(f)(a), f(a.view(np.recarray)), strict=True):
            assert_array_equal(found, expected)


NAN_INF = np.array([complex(np.nan, np.inf), complex(-np.inf, 1), 2])


@pytest.mark.parametrize(
    ("f", "arguments"),
    [
        (lambda x: np.nan_to_num(x), (NAN_INF,)),
        (lambda x: np.nan_to_num(x), (NAN_INF.astype(np.complex64),)),
        (lambda x: np.nan_to_num(x, copy=False, nan=1.0), (NAN_INF,)),
        (lambda x: np.nan_to_num(x, posinf=3.0, neginf=-2.0), (NAN_INF,)),
        (lambda x: np.nan_to_num(x), (complex(np.inf, np.nan),)),
        (lambda x, xp, fp: np.interp(x, xp, fp), (np.array([1.0, 1.5, 2.5, 0, 4]), np.array([1.0, 1, 3]), np.array([1.0, 3, 4]))),
        (lambda x, xp, fp: np.interp(x, xp, fp), (np.array([1.0, 1.5, 3, 4]), np.array([1.0, 3, 3]), np.array([1.0, 3, 4]))),
        (lambda x, xp, fp: np.interp(x, xp, fp), (np.array([1.0, 1.5, 0, np.nan]), np.array([1.0]), np.array([3.0]))),
        (lambda x, i: np.take_along_axis(x, i, 1), (np.arange(6).reshape(2, 3), np.array([[0, 2]]))),
        (lambda x, i: np.take_along_axis(x, i, 0), (np.arange(6), np.array([0, 4, -1]))),
        (lambda x, i: np.take_along_axis(x, i, -1), (np.arange(6).reshape(1, 2, 3), np.array([[[0], [1]], [[2], [0]]]))),
    ],
)
def test_corners_of_library_functions(f, arguments):
    found = njit(f)(*[a.copy() if isinstance(a, np.ndarray) else a for a in arguments])
    expected = f(*[a.copy() if isinstance(a, np.ndarray) else a for a in arguments])
    assert_array_equal(found, expected)
    assert np.asarray(found).dtype == np.asarray(expected).dtype


def test_weights_that_sum_to_zero_raise():
    for f in (lambda a, w: np.average(a, weights=w), lambda a, w: np.average(a, axis=1, weights=w)):
        for a, w in ((np.ones((2, 2)), np.array([[1.0, -1], [1, -1]])),):
            with pytest.raises(ZeroDivisionError, match="sum to zero"):
                njit(f)(a, w)
    assert njit(lambda a, w: np.average(a, weights=w))(np.array([1, 2]), np.array([1, 3])) == 1.75


def test_unrolled_tuples_may_have_names():
    @njit
    def f():
        values = bc.literal_unroll(((1, 2, 3), (2j, 3j), [1, 2], "xyz"))
        again = values
        lengths = []
        for x in again:
            lengths.append(len(x))
        return lengths

    assert f() == [3, 2, 2, 3]
