"""Blocks of compiled functions that the interpreter runs."""

from __future__ import annotations

import gc
import weakref

import numpy as np
import pytest

import broadcloth as bc
from broadcloth import njit, objmode, prange, types

SEEN: list = []


def test_a_block_sees_the_functions_variables_and_the_module():
    @njit
    def total(x):
        s = 0.0
        for i in range(x.size):
            s += x[i]
            if i % 2 == 0:
                with objmode():
                    SEEN.append((i, s))
        return s

    SEEN.clear()
    assert total(np.arange(5.0)) == 10
    assert SEEN == [(0, 0.0), (2, 3.0), (4, 10.0)]


def test_a_block_gives_values_of_the_types_it_names():
    kind = types.float64

    @njit
    def several(x, names):
        y = x * 2
        with objmode(z="float64[:]", k="int32", t=kind, s="unicode_type", pair="UniTuple(float64, 2)", l="List(int64)"):
            import math

            z = np.sort(y)[::-1]  # not contiguous
            k = len(names)
            t = math.pi
            s = ", ".join(names)
            pair = (1, 2.5)
            l = [k, 5]
            y[0] = 100  # no copy
        l.append(7)
        return z + k, t, s + "!", pair, l, y[0]

    z, t, s, pair, l, first = several(np.arange(3.0), ["a", "b"])
    np.testing.assert_array_equal(z, [6.0, 4.0, 2.0])
    assert (t, s, pair, l, first) == (np.pi, "a, b!", (1.0, 2.5), [2, 5, 7], 100.0)


class Trouble(Exception):
    pass


def test_exceptions_of_a_block_are_pythons_own():
    @njit
    def fails(x):
        with objmode(z="float64"):
            z = 1.0
            raise Trouble("this", x)
        return z

    @njit
    def catches(key):
        try:
            with objmode(z="int64"):
                z = {"a": 1}[key]
        except KeyError:
            return -1
        return z

    with pytest.raises(Trouble) as e:
        fails(3)
    assert e.value.args == ("this", 3)
    assert any(entry.name == "fails" and "raise Trouble" in str(entry.statement) for entry in e.traceback)
    assert (catches("a"), catches("b")) == (1, -1)


def test_results_of_other_types_are_refused():
    @njit
    def wrong(x):
        with objmode(z="float64[:]"):
            z = np.zeros((2, 2)) if x else np.zeros(2, "f4")
        return z

    for x in (True, False):
        with pytest.raises(TypeError, match="'z' was declared"):
            wrong(x)


def test_what_a_block_cannot_do_says_so():
    @njit
    def leaves(x):
        with objmode():
            return x

    @njit
    def loses(x):
        y = x
        with objmode():
            y = 3
        return y

    with pytest.raises(bc.TypingError, match="return"):
        leaves(1)
    with pytest.raises(bc.TypingError, match="'y'"):
        loses(1)


def test_memory_of_both_sides_lives_as_long_as_it_is_used():
    kept = []
    seen = []

    @njit
    def passes():
        a = np.arange(3.0)
        with objmode(b="float64[:]"):
            kept.append(a)
            b = np.arange(4.0)
            seen.append(weakref.ref(b))
        c = b[1:]
        a[1] = 7
        return a, c

    a, c = passes()
    del a
    gc.collect()
    np.testing.assert_array_equal(kept[0], [0.0, 7.0, 2.0])
    np.testing.assert_array_equal(c, [1.0, 2.0, 3.0])
    assert seen[0]() is not None
    del c
    gc.collect()
    assert seen[0]() is None


def test_blocks_in_parallel_loops_and_functions_that_are_called():
    @njit
    def plus(x):
        with objmode(y="float64"):
            y = x + 1
        return y

    @njit(parallel=True)
    def all_of(x):
        out = np.zeros(x.size)
        for i in prange(x.size):
            out[i] = plus(x[i])
        return out

    np.testing.assert_array_equal(all_of(np.arange(300.0)), np.arange(300.0) + 1)


def test_a_generators_blocks():
    @njit
    def numbers(n):
        for i in range(n):
            with objmode(k="int64"):
                k = int(str(i) * 2)
            yield k

    assert list(numbers(4)) == [0, 11, 22, 33]


def test_objmode_in_plain_python():
    def double(x):
        with objmode(y="float64"):
            y = 2 * x
        return y

    assert double(2.0) == njit(double)(2.0) == 4.0


def test_a_view_of_other_elements_is_not_the_argument():
    @njit
    def views(a, z):
        return a.view(np.int64), z.real

    a, z = np.arange(3.0), np.array([1 + 2j, 3j])
    bits, real = views(a, z)
    np.testing.assert_array_equal(bits, a.view(np.int64))
    np.testing.assert_array_equal(real, z.real)
    assert bits.dtype == np.int64 and real.dtype == np.float64
