"""Methods of vectorized functions and of NumPy's ufuncs in compiled functions, against NumPy's."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import broadcloth as bc
from broadcloth import njit, vectorize

ADD = vectorize(identity=0)(lambda a, b: a + b)
LEAST = vectorize(identity="reorderable")(lambda a, b: min(a, b))
SUBTRACT = vectorize(lambda a, b: a - b)
DECLARED = vectorize(["float64(float64, int64)"], identity=0)(lambda a, b: a + b)
NEGATIVE = vectorize(lambda a: -a)
CUBE = np.arange(24.0).reshape(2, 3, 4) * np.array([1.0, -2.0, 0.5, 3.0])
LAYOUTS = {"C": CUBE, "F": np.asfortranarray(CUBE), "steps": np.repeat(CUBE, 2, axis=1)[:, ::-2], "ints": CUBE.astype(np.int32)}


@njit
def reduced(a, axis):
    return ADD.reduce(a, axis=axis), LEAST.reduce(a, axis=axis)


@pytest.mark.parametrize("axis", [0, 1, 2, -1, None, (0, 1), (2, 0), (-1, -2), (0, 1, 2), ()])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_reduce_along_any_axes(axis, layout):
    a = LAYOUTS[layout]
    total, least = reduced(a, axis)
    assert_array_equal(total, np.add.reduce(a, axis=axis, dtype=a.dtype))
    assert_array_equal(least, np.minimum.reduce(a, axis=axis))


def test_reduce_begins_with_what_is_given_and_keeps_axes():
    a = np.arange(6).reshape(2, 3)
    assert_array_equal(njit(lambda a: ADD.reduce(a, 1, initial=10))(a), [13, 22])
    assert_array_equal(njit(lambda a: ADD.reduce(a, axis=(0, 1), keepdims=True))(a), [[15]])
    assert njit(lambda a: ADD.reduce(a, keepdims=True).shape)(a) == (1, 3)
    out = np.zeros(3)
    njit(lambda a, out: ADD.reduce(a, out=out))(a, out)
    assert_array_equal(out, [3, 5, 7])
    with pytest.raises(ValueError, match="shape"):
        njit(lambda a, out: ADD.reduce(a, out=out))(a, np.zeros(2))
    assert njit(lambda a: DECLARED.reduce(a, dtype=np.float64))(np.arange(4)) == 6.0
    assert_array_equal(njit(lambda a: SUBTRACT.reduce(a, 1))(a), [-3, -6])


def test_reduce_of_nothing_is_the_identity_or_an_error():
    none = np.zeros((0, 3))
    assert_array_equal(njit(lambda a: ADD.reduce(a))(none), [0, 0, 0])
    assert njit(lambda a: LEAST.reduce(a, axis=1).shape)(none) == (0,)
    for f in (LEAST, SUBTRACT):
        with pytest.raises(ValueError, match="zero-size array"):
            njit(lambda a, f=f: f.reduce(a))(none)


def test_what_reduce_refuses():
    a = np.arange(6).reshape(2, 3)
    with pytest.raises(bc.TypingError, match="not reorderable"):
        njit(lambda a: SUBTRACT.reduce(a, axis=None))(a)
    with pytest.raises(ValueError, match="duplicate value in 'axis'"):
        njit(lambda a, axis: ADD.reduce(a, axis))(a, (0, -2))
    with pytest.raises(ValueError, match="axis 2 is out of bounds for array of dimension 2"):
        njit(lambda a, axis: ADD.reduce(a, axis))(a, 2)
    with pytest.raises(bc.TypingError, match="binary"):
        njit(lambda a: NEGATIVE.reduce(a))(a)
    compare = vectorize(lambda a, b: a < b)
    with pytest.raises((TypeError, bc.TypingError)):
        njit(lambda a: compare.reduce(a))(a)


def test_accumulate_reduceat_and_outer():
    a = np.arange(12.0).reshape(3, 4)
    for axis in (0, 1, -1):
        assert_array_equal(njit(lambda a, axis: ADD.accumulate(a, axis))(a, axis), np.add.accumulate(a, axis))
    for places in ([0, 2, 1], np.array([1, 1, 3]), (3,), np.zeros(0, np.int64)):
        assert_array_equal(njit(lambda a, p: ADD.reduceat(a, p, 1))(a, places), np.add.reduceat(a, np.asarray(places, np.int64), 1))
    with pytest.raises(IndexError, match="index 3 out-of-bounds"):
        njit(lambda a: ADD.reduceat(a, [3]))(a)
    assert_array_equal(njit(lambda a, b: SUBTRACT.outer(a, b))(a, a[0]), np.subtract.outer(a, a[0]))


@njit
def add_at(a, *rest):
    ADD.at(a, *rest)


@pytest.mark.parametrize(
    "index",
    [1, -1, [2, 2, 0], np.array([0, 0, 1], np.uint8), slice(None, None, 2), np.array([True, False, True]), (slice(None), np.array([3, 3]))],
    ids=str,
)
@pytest.mark.parametrize("layout", ["C", "F", "steps"])
def test_at_counts_repeated_places(index, layout):
    base = np.arange(12.0).reshape(3, 4)
    make = {"C": lambda: base.copy(), "F": lambda: np.asfortranarray(base), "steps": lambda: np.repeat(base, 2, axis=1)[:, ::2]}[layout]
    got, expected = make(), make()
    add_at(got, index, 1.5)
    np.add.at(expected, index, 1.5)
    assert_array_equal(got, expected)


def test_at_of_one_operand_and_errors():
    a = np.arange(4)
    njit(lambda a: NEGATIVE.at(a, [1, 3, 3]))(a)
    assert a.tolist() == [0, -1, 2, 3]
    scalar = np.array(5)
    add_at(scalar, (), 2)
    assert scalar == 7
    with pytest.raises(ValueError, match="remapped shapes"):
        add_at(a, [0, 1], np.arange(3))
    with pytest.raises(IndexError):
        add_at(a, [4], 1)
    with pytest.raises(bc.TypingError, match="second operand needed"):
        add_at(a, [1], None)
    with pytest.raises(bc.TypingError, match="unary"):
        njit(lambda a: NEGATIVE.at(a, [1], 2))(a)


@pytest.mark.parametrize("dtype", ["int8", "uint8", "bool", "int64", "float32"])
def test_methods_of_numpys_ufuncs(dtype):
    a = (np.arange(12).reshape(3, 4) % 5).astype(dtype)

    @njit
    def both(a):
        return np.add.reduce(a), np.multiply.reduce(a, axis=1), np.add.accumulate(a, 1), np.maximum.reduce(a, axis=(0, 1))

    for got, expected in zip(both(a), both.py_func(a), strict=True):
        assert_array_equal(got, expected)
        assert np.ndim(got) == 0 or got.dtype == expected.dtype  # numbers come back as Python's
    counts = np.zeros(5)
    njit(lambda c, i: np.add.at(c, i, 1))(counts, [1, 3, 3])
    assert counts.tolist() == [0, 1, 0, 2, 0]
