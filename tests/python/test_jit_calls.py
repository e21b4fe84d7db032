"""What compiled functions call and are called by, and values on their way."""

from __future__ import annotations

import enum
import heapq

import numpy as np
import pytest

import broadcloth as bc
from broadcloth import njit, types
from broadcloth.extending import overload, register_jitable


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


def test_records_and_bytes_as_arguments():
    @njit
    def both(r):
        return r.x + r.y

    @njit
    def column(a):
        return a.x

    @njit
    def bytes_of(b):
        total = 0
        for x in b:
            total += x
        return b[0], len(b), total

    a = np.array([(1, 2.5), (3, 4.5)], dtype=[("x", "i4"), ("y", "f8")])
    assert [both(r) for r in a] == [3.5, 7.5]
    assert column(a).dtype == np.int32 and column(a).tolist() == [1, 3]
    assert bytes_of(b"abc") == bytes_of(bytearray(b"abc")) == bytes_of(memoryview(b"abc")) == (97, 3, 294)


def test_attributes_are_asked_for_by_name():
    @njit
    def asked(a, x):
        return hasattr(a, "shape"), hasattr(a, "nothing"), getattr(a, "size"), getattr(x, "nothing", 7)

    assert asked(np.zeros(3), 1.5) == (True, False, 3, 7)


def test_sums_along_an_axis_and_transposed_expressions():
    @njit
    def sums(m):
        return np.cumsum(m, axis=0), m.cumsum(1), np.cumprod(m, -1), (m + 1).T, heapq.nsmallest(2, [3, 1, 2]), (1, 2) < (1, 3)

    m = np.arange(6.0).reshape(2, 3)
    for got, expected in zip(sums(m), sums.py_func(m)):
        np.testing.assert_array_equal(got, expected)


def test_methods_of_strings_in_parts():
    @njit
    def parts(s):
        return (
            s.partition("-"), s.rpartition("-"), s.partition("?"), s.rsplit("-", 1), s.removeprefix("a"), s.removesuffix("c"), s.istitle(),
            "Ab Cd".istitle(), s.isidentifier(), "x\ty".expandtabs(4),
        )  # fmt: skip

    assert parts("a-b-c") == parts.py_func("a-b-c")


def test_distributions_have_their_means():
    @njit
    def means(n):
        np.random.seed(5)
        return (
            np.random.gumbel(1.0, 2.0, n).mean(), np.random.logistic(2.0, 0.5, n).mean(),
            np.random.power(3.0, n).mean(), np.random.wald(2.0, 8.0, n).mean(),
            np.random.f(5.0, 12.0, n).mean(), np.random.noncentral_chisquare(3.0, 2.0, n).mean(),
            np.random.negative_binomial(3, 0.4, n).mean(),
            np.random.logseries(0.6, n).mean(), np.random.hypergeometric(10, 5, 6, n).mean(),
            np.cos(np.random.vonmises(0.0, 2.0, n)).mean(),
            np.random.zipf(4.0, n).mean(), np.random.multinomial(10, np.array([0.2, 0.3, 0.5]), n)[:, 1].mean(),
            np.random.dirichlet(np.array([1.0, 2.0, 3.0]), n)[:, 2].mean(),
        )  # fmt: skip

    expected = [1 + 2 * 0.5772157, 2, 0.75, 2, 1.2, 5, 4.5, -0.6 / (0.4 * np.log(0.4)), 4, 0.697775, 1.202057 / 1.082323, 3, 0.5]
    np.testing.assert_allclose(means(20000), expected, rtol=0.05)


def kind_of(x, scale=1):
    raise NotImplementedError


@overload(kind_of)
def _(x, scale=1):
    if isinstance(x, types.Array):
        return (lambda x, scale=1: x.sum() * scale) if x.ndim == 1 else (lambda x, scale=1: float(x.ndim))
    if isinstance(x, types.Integer):
        return lambda x, scale=1: x * 10 * scale
    return None


@register_jitable
def plus_one(x):
    return x + 1


def test_overloads_are_chosen_by_types():
    @njit
    def kinds(v, m):
        return kind_of(v), kind_of(m), kind_of(3), kind_of(v, scale=2), plus_one(1)

    @njit
    def own(x):
        return kind_of(x)

    assert kinds(np.arange(3.0), np.zeros((2, 2))) == (3.0, 2.0, 30, 6.0, 2)
    with pytest.raises(NotImplementedError):
        own(1.5)


def test_places_of_a_shape():
    @njit(parallel=True)
    def plus(a):
        for place in bc.pndindex(a.shape):
            a[place] += 1
        return a

    np.testing.assert_array_equal(plus(np.zeros((2, 3))), np.ones((2, 3)))
