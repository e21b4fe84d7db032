"""Assignments between parts of one array in compiled functions: as if the right side had been copied first, as in NumPy."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import broadcloth as bc
from broadcloth import cuda


def up(a):
    a[1:] = a[:-1]


def down(a):
    a[:-1] = a[1:]


def both_sides(a):
    a[1:-1] = a[:-2] + a[2:]


def reversed_(a):
    a[:] = a[::-1]


def accumulates(a):
    a[1:] += a[:-1]


def by_two_names(a):
    b = a[:-2]
    a[2:] = b * 2


def every_second(a):
    a[: a.size // 2] = a[::2]


def itself(a):
    a[:] = a * 2 + 1


def backwards(a):
    a[::-1][1:] = a[::-1][:-1]


def swaps(a):
    a[0:2] = (a[1], a[0])


ONE = [up, down, both_sides, reversed_, accumulates, by_two_names, every_second, itself, backwards, swaps]


def rows_up(a):
    a[1:] = a[:-1]


def columns(a):
    a[:, 1:] = a[:, :-1]


def diagonal(a):
    a[1:, 1:] = a[:-1, :-1]


def against(a):
    a[1:, :-1] = a[:-1, 1:]


def transposes(a):
    a[:, :] = a.T


def one_row(a):
    a[:] = a[1]


def neighbours(a):
    a[1:-1, 1:-1] = (a[:-2, 1:-1] + a[2:, 1:-1] + a[1:-1, :-2] + a[1:-1, 2:]) / 4


TWO = [rows_up, columns, diagonal, against, transposes, one_row, neighbours]


@pytest.mark.parametrize("function", ONE + TWO, ids=lambda f: f.__name__)
def test_in_kernels(xp, function):
    made = np.arange(1.0, 65).reshape((8, 8) if function in TWO else 64)
    expected = made.copy()
    function(expected)
    a = xp.asarray(made)
    cuda.jit(function)[1, 1](a)
    assert_array_equal(np.asarray(a), expected)


@pytest.mark.parametrize("function", ONE + TWO, ids=lambda f: f.__name__)
def test_on_the_cpu(function):
    made = np.arange(1.0, 65).reshape((8, 8) if function in TWO else 64)
    expected = made.copy()
    function(expected)
    bc.njit(function)(made)
    assert_array_equal(made, expected)


def spread(a):
    a[::2] = a[: (a.size + 1) // 2]


def test_steps_that_differ(xp):
    # (NumPy itself reads what it has written here.)
    a, b = xp.arange(9.0), np.arange(9.0)
    cuda.jit(spread)[1, 1](a)
    bc.njit(spread)(b)
    for made in (np.asarray(a), b):
        assert_array_equal(made, [0, 1, 1, 3, 2, 5, 3, 7, 4])


def test_two_arguments_that_are_one_array(xp):
    @cuda.jit
    def kernel(out, a):
        out[:] = a + 1

    x = xp.arange(10.0)
    kernel[1, 1](x[1:], x[:-1])
    assert_array_equal(np.asarray(x), [0, *range(1, 10)])
    y = xp.arange(10.0)
    kernel[1, 1](y[:-1], y[1:])
    assert_array_equal(np.asarray(y), [*range(2, 11), 9])


def test_arrays_of_each_thread(xp):
    @cuda.jit
    def kernel(out):
        i = cuda.grid(1)
        line = cuda.local.array(6, "float32")
        for k in range(6):
            line[k] = i * 10 + k
        line[2:] = line[:-2]
        line[:3] = line[::-1][:3]
        for k in range(6):
            out[i, k] = line[k]

    out = xp.zeros((4, 6), dtype="float32")
    kernel[2, 2](out)
    expected = np.arange(4)[:, None] * 10 + np.array([3, 2, 1, 1, 2, 3], "f4")
    assert_array_equal(np.asarray(out), expected)
