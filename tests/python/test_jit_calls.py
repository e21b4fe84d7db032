"""What compiled functions call and are called by, and values on their way."""

from __future__ import annotations

import enum

import numpy as np

import broadcloth as bc
from broadcloth import njit


def test_names_swap_though_their_values_are_known():
    @njit
    def swapped():
        x, y = 1, 2
        x, y = y, x
        p, q, r = 1.5, x, y
        p, q, r = q + p, r, q
        return x, y, p, q, r

    assert swapped() == (2, 1, 3.5, 1, 2)


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 5


def test_members_of_intenum_are_numbers_as_arguments():
    @njit
    def plus(n):
        return n + Level.HIGH

    assert (plus(2), plus(Level.LOW), plus(Level.HIGH)) == (7, 6, 10)


@bc.stencil
def around(a):
    return 0.25 * (a[0, 1] + a[1, 0] + a[0, -1] + a[-1, 0])


@bc.stencil(cval=-1)
def beside(a, k):
    return (a[-1] + a[1]) * k


def test_compiled_functions_call_stencils():
    @njit
    def smooth(a):
        return around(a) + 1

    @njit(parallel=True)
    def sides(a, k):
        out = np.zeros_like(a)
        beside(a, k, out=out)
        return beside(a, k), out

    m = np.arange(12.0).reshape(3, 4)
    np.testing.assert_array_equal(smooth(m), around(m) + 1)
    made, given = sides(np.arange(5), 2)
    np.testing.assert_array_equal(made, [-1, 4, 8, 12, -1])
    np.testing.assert_array_equal(given, [0, 4, 8, 12, 0])
    assert made.dtype == np.int64
