"""Signatures of compiled functions: what they take and what they give back; and slices as arguments."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import broadcloth as bc
from broadcloth import njit, types


@pytest.mark.parametrize(
    ("signature", "argument", "wanted"),
    [
        ("float32(float64)", 1.1, float(np.float32(1.1))),
        ("int64(float64)", 3.9, 3),
        ("float64(int64)", 2, 2.0),
        ("complex128(float64)", 2.0, 2 + 0j),
        (types.uint8(types.int64), 257, 1),
        ("optional(float64)(int64)", 2, 2.0),
    ],
)
def test_results_have_the_type_that_the_signature_says(signature, argument, wanted):
    @njit(signature)
    def same(x):
        return x

    got = same(argument)
    assert got == wanted and type(got) is type(wanted)


def test_members_of_tuples_and_layouts_of_arrays():
    @njit("Tuple((float32, int64))(float64, int64)")
    def pair(x, y):
        return x, y

    assert pair(1.1, 2) == (float(np.float32(1.1)), 2)

    @njit("float64[:](float64[::1])")
    def whole(x):
        return x

    x = np.ones(3)
    assert whole(x) is x


def test_each_return_converts():
    @njit("float64(int64)")
    def choose(k):
        if k > 1:
            return k
        if k > 0:
            return True
        return 0.5

    assert [choose(k) for k in (2, 1, 0)] == [2.0, 1.0, 0.5]
    assert all(type(choose(k)) is float for k in (2, 1, 0))


def test_callers_see_the_declared_types():
    @njit(["int64(float64)", "float32(float32)"])
    def cut(x):
        return x

    @njit
    def both(x):
        return cut(x) / 2, cut(np.float32(x))

    assert both(7.9) == (3.5, float(np.float32(7.9)))
    assert njit(cut.py_func)(7.9) == 7.9  # the function itself is still free

    @njit
    def wrong(x):
        return cut(x)

    with pytest.raises(bc.TypingError, match=r"no signature takes \(array"):
        wrong(np.ones(2))


def test_recursion_knows_the_declared_type():
    @njit("float64(int64)")
    def factorial(n):
        if n <= 1:
            return 1
        return n * factorial(n - 1)

    assert factorial(5) == 120.0 and type(factorial(5)) is float


def test_what_does_not_convert_is_refused_where_it_is_returned():
    with pytest.raises(bc.TypingError, match=r"says that it returns int64, it returns array[^\n]*\n.*test_jit_declared.py:\d+, in f"):

        @njit("int64(float64[:])")
        def f(x):
            return x

    with pytest.raises(bc.TypingError, match="returns none, it returns float64"):
        njit("void(float64)")(lambda x: x)
    with pytest.raises(bc.TypingError, match="returns float64, it returns"):

        @njit("float64(int64)")
        def g(k):
            if k > 0:
                return 1.0


# ---- slices ----------------------------------------------------------------------------------------------------------


@njit
def cut(a, s):
    return a[s].copy()


@pytest.mark.parametrize(
    "s", [slice(2, 5), slice(None, 5), slice(None), slice(None, None, -2), slice(-3, None), slice(np.int32(1), 100, 3)]
)
def test_slices_are_arguments(s):
    x = np.arange(10.0)
    assert_array_equal(cut(x, s), x[s])


def test_slices_in_tuples_lists_and_results():
    @njit
    def box(a, where):
        a[where[0], where[1]] += 1
        return where[0], where[1].stop

    x = np.zeros((4, 4))
    assert box(x, (slice(0, 2), slice(1, 4, 2))) == (slice(0, 2), 4)
    wanted = np.zeros((4, 4))
    wanted[0:2, 1::2] += 1
    assert_array_equal(x, wanted)

    @njit
    def back(s):
        return s

    for s in (slice(1, 2, 3), slice(None), slice(None, 4), slice(-1, None, -1)):
        assert back(s) == s


def test_slices_with_other_bounds_are_refused():
    with pytest.raises(TypeError):
        cut(np.arange(3.0), slice(0.5, 2))


def test_tuples_are_converted_to_the_members_that_a_signature_names():
    half = njit("float64(UniTuple(float64, 2))")(lambda x: x[0] / 2)
    assert half((1, 2)) == 0.5
    assert half((3.0, 2)) == 1.5
    nested = njit("float64(Tuple((float64, Tuple((complex128, int8)))))")(lambda x: x[0] + x[1][0].real + x[1][1])
    assert nested((1, (2.5, 3))) == 6.5
    with pytest.raises(TypeError, match="no signature takes"):
        half((1, 2, 3))
    with pytest.raises(TypeError, match="no signature takes"):
        half(("a", 2))


def test_a_compiled_call_that_fits_two_declared_signatures_is_an_error_as_from_python():
    @njit(["f8(f8, f4)", "f8(f4, f8)"])
    def f(a, b):
        return a - b

    @njit
    def narrow(a, b):
        return f(a, b)

    with pytest.raises(TypeError, match="ambiguous"):
        f(np.float32(1), np.float32(2))
    with pytest.raises(bc.TypingError, match=r"ambiguous, \(float32, float32\) fits two signatures"):
        narrow(np.float32(1), np.float32(2))
    assert narrow(np.float32(3), 2.0) == 1.0
    assert narrow(3.0, np.float32(2)) == 1.0

    @njit(["i8(i8, i8)", "i8(i8, i8)"])
    def twice(a, b):
        return a + b

    assert njit(lambda a: twice(a, 2))(1) == 3


def test_compiled_calls_of_functions_with_star_parameters_convert_to_their_signatures():
    @njit(["float64(int64, Tuple((int64, int64)))", "float64(int64, Tuple((int64,)))"])
    def total(first, *rest):
        s = first / 1
        for x in rest:
            s += x
        return s

    assert njit(lambda: (total(1.9, 2.9, 3.9), total(1, 2.5)))() == (total(1.9, 2.9, 3.9), total(1, 2.5)) == (6.0, 3.0)
    with pytest.raises(bc.TypingError, match=r"(?s)total: no signature takes .*declared for \(int64, \(int64, int64\)\)"):
        njit(lambda: total(1))()
    with pytest.raises(bc.TypingError, match="no signature takes"):
        njit(lambda: total(1, 2, 3, 4))()

    @njit(["int64(Tuple((float32,)))", "float64(Tuple((float64,)))"])
    def nearest(*x):
        return x[0] * 2

    assert njit(lambda x: (nearest(x), nearest(np.float32(x))))(0.6) == (1.2, 1)
