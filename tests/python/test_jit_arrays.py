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
    return a[1, i], a[i, 1], a[:, i], a[m, 2], a[i, i], a[:, j], a[::-1, i], a[..., i], a[None, i], a[m, 1:], a.T[i, 1], a[1, [0, 3]], a[i > 0, 1]


def read_cube(a, i, j, m, p):
    return (
        a[0, :, i], a[:, 0, i], a[i, :, 0], a[i, :, i], a[:, i, i], a[i, ..., 1], a[p], a[p, 1], a[:, i, 1:], a[j, :, j], a[1, i, 2],
        a[0, None, i], a[i, None, i], a[m, :, 1], a[:, j, 1],
    )  # fmt: skip


@pytest.mark.parametrize(("function", "arguments"), [(read_matrix, (MATRIX, ROWS, GRID, MASK)), (read_cube, (CUBE, ROWS, GRID, MASK, PLANE))])
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
            np.moveaxis(a, 0, -1), np.moveaxis(a, (0, 1), (2, 0)), np.swapaxes(a, 0, 2), a.swapaxes(k, -1), np.rollaxis(a, 2), np.rollaxis(a, 0, k + 2),
            np.squeeze(a[:, :1], 1), a[:1, :, :1].squeeze((0, -1)), np.expand_dims(a, 1),
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
        l = [x for x in a]
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
