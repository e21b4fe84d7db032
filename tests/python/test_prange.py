"""What parallel loops sum up: numbers and arrays, in every spelling; and elements that several turns update."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import broadcloth as bc
from broadcloth import njit, prange

N = 1000
RNG = np.random.default_rng(5)
ROWS = RNG.random((N, 7))
WHOLE = RNG.integers(0, 50, (N, 7))


def adds(rows):
    acc = np.zeros(7)
    for i in prange(rows.shape[0]):
        acc += rows[i]
    return acc


def adds_to_all(rows):
    acc = np.ones(7)
    for i in prange(rows.shape[0]):
        acc[:] += rows[i] * 2
    return acc


def takes_away(rows):
    acc = np.zeros(7)
    for i in prange(rows.shape[0]):
        acc -= rows[i]
    return acc


def binds_again(rows):
    acc = np.zeros(7)
    for i in prange(rows.shape[0]):
        acc = acc + rows[i] - 1
    return acc


def multiplies(rows):
    acc = np.ones(7)
    for i in prange(rows.shape[0]):
        acc *= rows[i] * 0.1 + 0.95
    return acc


def maxima(rows):
    acc = np.zeros(7)
    for i in prange(rows.shape[0]):
        acc = np.maximum(acc, rows[i])
    return acc


def minima(rows):
    acc = np.full(7, 100.0)
    for i in prange(rows.shape[0]):
        acc = np.minimum(rows[i], acc)
    return acc


def matrix(rows):
    acc = np.zeros((7, 7))
    for i in prange(rows.shape[0]):
        acc += rows[i].reshape(7, 1) * rows[i]
    return acc


def several(rows):
    total, count, largest = 0.0, 0, -1.0
    acc = np.zeros(7)
    for i in prange(rows.shape[0]):
        total, count = total + rows[i, 0], count + 1
        acc += rows[i]
        largest = max(largest, rows[i, 1])
    return acc * count + total + largest


def in_a_branch(rows):
    acc = np.zeros(7)
    for i in prange(rows.shape[0]):
        if rows[i, 0] > 0.5:
            acc += rows[i]
    return acc


def in_an_inner_loop(rows):
    acc = np.zeros(7)
    for i in prange(rows.shape[0]):
        for j in range(3):
            acc += rows[i] * j
    return acc


def by_hand(rows):
    best = -1.0
    least = 10.0
    for i in prange(rows.shape[0]):
        if rows[i, 3] > best:
            best = rows[i, 3]
        if least >= rows[i, 2]:
            least = rows[i, 2]
    return best - least


def long_sums(rows):
    s = 0.0
    p = 1.0
    for i in prange(rows.shape[0]):
        s = s + rows[i, 0] - rows[i, 1] + 2
        p = p * (1 + rows[i, 2] / 1000) / 1.0001
    return s + p


def histogram(rows):
    counts = np.zeros(10, np.int64)
    for i in prange(rows.shape[0]):
        for j in range(rows.shape[1]):
            counts[int(rows[i, j] * 10)] += 1
    return counts


def weights(rows):
    sums = np.zeros(4)
    for i in prange(rows.shape[0]):
        sums[i % 4] += rows[i, 0]
        sums[3] -= rows[i, 1]
    return sums


def own_places(rows):
    out = np.zeros(rows.size)
    n = rows.shape[1]
    for i in prange(rows.shape[0]):
        row = i * n
        for j in range(n):
            out[row + j] += rows[i, j]
            out[i * n + j] *= 2
    return out


FUNCTIONS = [
    adds, adds_to_all, takes_away, binds_again, multiplies, maxima, minima, matrix, several, in_a_branch, in_an_inner_loop, by_hand,
    long_sums, histogram, weights, own_places,
]  # fmt: skip


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_reductions_over_turns(function):
    expected = function(ROWS)
    compiled = njit(parallel=True)(function)
    for _ in range(3):
        assert_allclose(compiled(ROWS), expected, rtol=1e-10)
    assert_allclose(njit(function)(ROWS), expected, rtol=1e-10)


def test_sums_do_not_depend_on_the_threads():
    compiled = njit(parallel=True)(adds)
    first = compiled(ROWS)
    for _ in range(5):
        assert_array_equal(compiled(ROWS), first)


def test_an_array_that_the_caller_has_is_summed_up_in_place():
    @njit(parallel=True)
    def into(acc, rows):
        for i in prange(rows.shape[0]):
            acc += rows[i]

    for acc in (np.zeros(7, np.int64), np.zeros(14, np.int64)[::2]):
        into(acc, WHOLE)
        assert_array_equal(acc, WHOLE.sum(0))
    acc = np.asfortranarray(np.zeros((7, 2)))
    into(acc, np.ones((10, 1, 2)))
    assert_array_equal(acc, np.full((7, 2), 10))


def test_a_name_that_is_bound_again_leaves_the_callers_array():
    @njit(parallel=True)
    def fresh(acc, rows):
        for i in prange(rows.shape[0]):
            acc = acc + rows[i]
        return acc

    acc = np.zeros(7)
    assert_allclose(fresh(acc, ROWS), ROWS.sum(0))
    assert_array_equal(acc, np.zeros(7))


@pytest.mark.parametrize("dtype", ["i1", "u2", "i4", "u8", "f4", "f8", "c8", "c16"])
def test_elements_that_several_turns_update(dtype):
    @njit(parallel=True)
    def count(out, places):
        for i in prange(places.size):
            out[places[i]] += 1

    out = np.zeros(3, dtype)
    count(out, np.arange(300) % 3)
    assert_array_equal(out, np.full(3, 100, dtype))


def test_what_cannot_be_joined_says_so():
    def power(x):
        acc = 2.0
        for i in prange(3):
            acc **= x[i]
        return acc

    with pytest.raises(bc.TypingError, match=r"'acc' cannot be joined over the turns by \*\*=") as error:
        njit(parallel=True)(power)(np.ones(3))
    assert len(str(error.value).splitlines()) <= 15

    def reads(x):
        acc = np.zeros(3)
        for i in prange(3):
            acc += x
            x[i] = acc[0]
        return acc

    with pytest.raises(bc.TypingError, match="read inside the loop"):
        njit(parallel=True)(reads)(np.ones(3))
