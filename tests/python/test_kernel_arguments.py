"""What a kernel may be given, and what it does with it: tuples, records, host arrays, arrays without dimensions."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import broadcloth as bc
from broadcloth import cuda, njit

pytestmark = pytest.mark.filterwarnings("ignore::broadcloth.exceptions.PerformanceWarning")


def test_empty_tuples_take_their_place_among_arguments(xp):
    @cuda.jit
    def kernel(out, nested, empty, last):
        out[0] = len(nested[0])
        out[1] = nested[1][0]
        out[2] = nested[2][2]
        out[3] = len(empty)
        out[4] = last

    out = xp.zeros(5, dtype="int64")
    kernel[1, 1](out, ((), (5, 6), (8, 9, 10)), (), 7)
    assert out.tolist() == [0, 5, 10, 0, 7]


@pytest.mark.parametrize(("shape", "expected"), [(-1, (12,)), ((3, -1), (3, 4)), ((2, -1, 2), (2, 3, 2)), ((12,), (12,))])
def test_reshape_finds_an_extent_that_is_known_at_run_time_only(xp, shape, expected):
    @cuda.jit
    def kernel(a, shape, out):
        b = a.reshape(shape)
        for i in range(b.ndim):
            out[i] = b.shape[i]

    out = xp.zeros(3, dtype="int64")
    kernel[1, 1](xp.arange(12).reshape(4, 3), shape, out)
    assert out.tolist()[: len(expected)] == list(expected)


def test_arrays_without_dimensions_are_numbers_in_expressions_and_indices(xp):
    @cuda.jit
    def kernel(x, i, scale):
        x[i] = scale * 2 + x[i + 1]

    x = xp.arange(4.0)
    kernel[1, 1](x, xp.array(2), xp.array(5.0))
    assert x.tolist() == [0, 1, 13, 3]


def test_a_compiled_function_computes_with_an_array_without_dimensions():
    @njit
    def formula(a, b):
        return 4 * a - b / 2

    assert formula(np.array(3.0), np.array(4.0)) == 10.0
    with bc.device("cpu"):
        assert [float(formula(x, 1.0)) for x in bc.array([1.0, 2.0])] == [3.5, 7.5]


@njit
def sinc(x):
    return 1.0 if x == 0 else math.sin(x) / x


@njit
def subtract(a, b):
    return b - a


@njit
def floor(x):
    return sinc(x) + subtract(1.0, 2.0) + math.floor(x)


def test_functions_may_have_the_names_of_mathematics(xp):
    expected = math.sin(2.5) / 2.5 + 1 + 2
    assert floor(2.5) == pytest.approx(expected)
    assert_allclose(bc.vectorize(floor)(np.array([2.5])), [expected])
    assert_allclose(bc.vectorize(floor)(xp.array([2.5])).get(), [expected])

    @cuda.jit
    def memset(x):
        x[0] = floor(x[0])

    x = xp.array([2.5])
    memset[1, 1](x)
    assert float(x[0]) == pytest.approx(expected)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_special_functions_of_the_math_module(xp, dtype):
    def special(x):
        return math.erf(x) + math.erfc(x / 2) * math.gamma(x) - math.lgamma(x)

    x = np.array([0.5, 1.5, 3.0], dtype)
    expected = [special(float(v)) for v in x]
    tolerance = 1e-5 if dtype == "float32" else 1e-12
    assert_allclose([njit(special)(v) for v in x], expected, rtol=tolerance)
    assert_allclose(bc.vectorize(special)(x), expected, rtol=tolerance)
    assert_allclose(bc.vectorize(special)(xp.asarray(x)).get(), expected, rtol=tolerance)
    function = njit(special)

    @cuda.jit
    def kernel(x):
        i = cuda.grid(1)
        if i < x.size:
            x[i] = function(x[i])

    y = xp.asarray(x)
    kernel[1, 32](y)
    assert_allclose(y.get(), expected, rtol=tolerance)
    assert_array_equal(x, np.array([0.5, 1.5, 3.0], dtype))
