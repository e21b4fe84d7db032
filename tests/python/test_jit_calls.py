"""What compiled functions call and are called by, and values on their way."""

from __future__ import annotations

import enum
import heapq
import math
import re

import numpy as np
import pytest

import broadcloth as bc
from broadcloth import njit, types
from broadcloth._source import from_source
from broadcloth.experimental import jitclass
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


DISTRIBUTIONS = """
beta(0.5, 0.3, 99) beta(1e-3, 1e-3, 99) beta(30.0, 2.0, 99) binomial(7, 0.3, 99) binomial(20, 0.8, 99) binomial(7, 1.0, 9)
chisquare(0.5, 99) dirichlet(np.array([1.0, 2.0, 3.0]), 99) exponential(2.5, 99) f(2.0, 3.0, 99)
gamma(0.3, 3.0, 99) gamma(200.0, 3.0, 99) gamma(0.0, 1.0, 9)
geometric(0.3, 99) geometric(1e-5, 99) gumbel(1.0, 2.0, 99) hypergeometric(50, 600, 40, 99) hypergeometric(20, 20, 30, 99)
laplace(1.0, 2.0, 99) logistic(1.0, 3.0, 99) lognormal(1.0, 0.5, 99) logseries(0.99, 99) multinomial(10, np.array([0.2, 0.3, 0.5]), 99)
negative_binomial(0.5, 0.1, 99) noncentral_chisquare(0.5, 3.0, 99) noncentral_chisquare(3.0, 0.0, 99) noncentral_f(2.0, 3.0, 1.0, 99)
normal(1.5, 2.0, 99) pareto(0.3, 99) poisson(3.0, 99) poisson(1e6, 99) power(0.3, 99) rayleigh(2.0, 99) standard_cauchy(99)
standard_exponential(99) standard_gamma(2, 99) standard_t(0.7, 99) triangular(-1.0, 3.0, 3.0, 99) uniform(-1.0, 3.0, 99)
vonmises(0.0, 2.0, 99) vonmises(-20.0, 1e-6, 99) vonmises(3.1, 1e4, 99) wald(3.0, 0.2, 99) weibull(1.5, 99) weibull(0.0, 9) zipf(1.1, 99)
"""


def test_distributions_are_numpys_to_the_last_bit():
    calls = re.sub(r"(\))\s+(?=[a-z])", r"\1\n", DISTRIBUTIONS.strip()).split("\n")
    body = "".join(f"    np.random.seed({i})\n    r{i} = np.random.{call}\n" for i, call in enumerate(calls))
    f = from_source(f"def f():\n{body}    return {', '.join(f'r{i}' for i in range(len(calls)))}\n", "f", {"np": np})
    for call, expected, got in zip(calls, f(), njit(f)(), strict=True):
        np.testing.assert_array_equal(got, expected, err_msg=call)


@pytest.mark.parametrize("axis", [-3, 2])
def test_kept_axes_are_in_bounds(axis):
    with pytest.raises(TypeError, match="out of bounds for 2 dimensions"):
        njit(lambda m: np.max(m, axis=axis, keepdims=True))(np.ones((2, 3)))


def test_arrays_that_need_no_copy_are_the_same():
    a = np.arange(3.0)
    assert np.shares_memory(njit(lambda x: np.array(x, copy=None))(a), a)
    assert not np.shares_memory(njit(lambda x: np.array(x, copy=True))(a), a)


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (np.array([1, None]), "no arrays of Python objects; convert them to numbers"),
        (np.array(["a", "b"], ">U1"), "no arrays of str32; pass a list"),
        (np.zeros(2, [("s", ">U3"), ("x", "f8")]), "no arrays of str96"),
        ({"a": 1}, "pass broadcloth.typed.Dict"),
        (2**70, "at most 64 bits"),
    ],
)
def test_arguments_that_have_no_type_are_named(value, words):
    @njit
    def plus(first, second):
        return first + second

    with pytest.raises((TypeError, OverflowError), match=f"plus: argument 'second': .*{words}"):
        plus(1, value)


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


def test_further_arguments_come_as_a_tuple_however_they_are_given():
    def total(first, second=2, *rest):
        for item in rest:
            second += item
        return first, second, len(rest)

    f = njit(total)
    for arguments in [(1,), (1, 2), (1, 2, 3), (1, 2, 3, 4.5), (1, 2, True, 1j), (np.int8(1), 2, np.float32(0.5)), (1, 2, *range(20))]:
        assert f(*arguments) == total(*arguments) == f(*arguments)
    assert f(1, second=5) == (1, 5, 0)
    with pytest.raises(TypeError, match="multiple values"):
        f(1, 2, 3, second=5)
    with pytest.raises(TypeError, match="missing the argument 'first'"):
        f()

    @njit
    def changed(*rest):
        for a in rest:
            a[0] += 1
        return rest[0]

    a = np.zeros(2)
    assert changed(a, a) is a
    assert a[0] == 2

    @njit
    def walked(n, *rest):
        for item in rest:
            yield n + item

    assert list(walked(1, 2, 3)) == [3, 4]

    @njit(["f8(i8, UniTuple(f8, 2))"])
    def declared(n, *rest):
        return n + rest[0] + rest[1]

    assert declared(1, 2, 3) == 6.0
    assert declared(1, 2.5, np.float32(3)) == 6.5
    with pytest.raises(TypeError, match="declared"):
        declared(1, 2, 3, 4)


def test_compiled_functions_are_methods_of_classes():
    class C:
        @njit
        def plain(self_, x):
            return x

        x = 3

    assert C.plain(1, 2) == 2
    assert njit(lambda a, b: a + b).__get__(3)(4) == 7
    bound = njit(lambda a, b: a + b).__get__(3, int)
    assert bound(4) == 7


@njit
def sum_of(a, b):
    return a + b


@njit
def product_of(a, b):
    return a * b


@njit
def quotient_of(a, b):
    if b == 0:
        raise ValueError("nothing goes into zero")
    return a / b


def test_one_of_several_functions_is_chosen_at_run_time():
    def by_expression(c, a, b):
        f = sum_of if c else product_of
        return f(a, b)

    def by_statements(c, a, b):
        if c > 1:
            f = sum_of
        elif c > 0:
            f = product_of
        else:
            f = quotient_of
        return f(a, b=b)

    def by_index(c, a, b):
        return (sum_of, product_of, quotient_of)[c](a, b)

    def in_turn(c, a, b):
        f, g = sum_of, product_of
        r = 0
        for i in range(c + 4):
            f, g = g, f
            r += f(a, i) - g(b, i)
        return r

    def passed(c, a, b):
        return applied(sum_of if c else quotient_of, a, b)

    for plain in (by_expression, by_statements, by_index, in_turn, passed):
        f = njit(plain)
        for c in (0, 1, 2):
            for a, b in ((7, 2), (1.5, 0.5)):
                assert f(c, a, b) == plain(c, a, b)
    assert njit(by_index)(-1, 3, 2) == 1.5
    with pytest.raises(IndexError, match="tuple index out of range"):
        njit(by_index)(3, 1, 2)
    with pytest.raises(ValueError, match="nothing goes into zero"):
        njit(by_statements)(0, 1, 0)

    @njit
    def caught(c, a, b):
        try:
            return (sum_of, quotient_of)[c](a, b)
        except Exception:
            return -1.0

    assert [caught(c, 3, 0) for c in (0, 1)] == [3.0, -1.0]


@njit
def applied(f, a, b):
    return f(a, b) + f(b, a)


def test_a_choice_of_functions_is_refused_where_it_has_no_meaning():
    @njit
    def given_back(c):
        return sum_of if c else product_of

    @njit
    def other_types(c, a):
        f = sum_of if c else text_of
        return f(a, a)

    @njit
    def text_of(a, b):
        return "text"

    with pytest.raises(bc.TypingError, match="cannot return"):
        given_back(True)
    with pytest.raises(bc.TypingError, match="do not unify"):
        other_types(True, 1)


def test_functions_that_write_are_chosen_and_closures_too():
    @njit
    def first(a):
        a[0] += 1

    @njit
    def second(a):
        a[1] += 1

    @njit
    def f(a, n):
        k = n * 2

        def more(x):
            return x + k

        def less(x):
            return x - k

        for i in range(n):
            write = first if i % 3 == 0 else second
            write(a)
        g = more if n > 2 else less
        return g(10)

    a = np.zeros(2)
    assert (f(a, 4), f(a, 1)) == (18, 8)
    assert a.tolist() == [3, 2]


def test_functions_in_lists_dicts_and_kernels():
    def looked_up(k, name, a, b):
        of_list = [sum_of, product_of]
        of_dict = {"sum": sum_of, "product": product_of}
        of_dict["other"] = product_of
        r = 0
        for f in of_list:
            r += f(a, b)
        return of_list[k](a, b), of_dict[name](a, b), r

    for k, name in ((0, "sum"), (1, "product"), (-1, "other")):
        assert njit(looked_up)(k, name, 3, 4) == looked_up(k, name, 3, 4)

    @bc.cuda.jit
    def kernel(out):
        i = bc.cuda.grid(1)
        if i < out.size:
            f = sum_of if i % 2 else product_of
            out[i] = f(i, 3)

    out = np.zeros(6, np.int64)
    kernel[1, 32](out)
    assert out.tolist() == [0, 4, 6, 6, 12, 8]


def test_choices_of_functions_are_compared_and_may_be_none():
    def compared(c):
        f = sum_of if c else product_of
        return f is sum_of, f == product_of, f != sum_of, f is None, f == 3, not f

    def one_or_none(c):
        f = None
        if c > 0:
            f = sum_of
        return 0 if f is None else f(1, 2)

    def some_or_none(c):
        f = None
        if c > 0:
            f = sum_of
        if c > 1:
            f = product_of
        return f(5, 2) if f is not None else 0

    def of_the_library(c):
        f = np.sin if c > 1 else math.cos if c else np.sqrt
        return f(0.25)

    for plain in (compared, one_or_none, some_or_none, of_the_library):
        for c in (0, 1, 2):
            assert njit(plain)(c) == plain(c)


def test_a_closure_in_a_choice_that_is_given_away_keeps_what_it_reads_or_is_refused():
    @njit
    def called(f, x):
        return f(x)

    @njit
    def constant(c):
        k = 5

        def more(x):
            return x + k

        def less(x):
            return x - k

        return called(more if c else less, 1)

    assert (constant(True), constant(False)) == (6, -4)

    @njit
    def varying(c):
        k = 5

        def more(x):
            return x + k

        def less(x):
            return x - k

        first = called(more, 1)
        k = 7
        return first + called(more if c else less, 1)

    with pytest.raises(bc.TypingError, match="several values"):
        varying(True)


@njit
def _applied(g, v):
    k = 100.0
    return g(v) + k


@njit
def _applied_twice(g, v):
    return _applied(g, g(v))


def test_inner_functions_that_are_given_away_take_their_variables_along():
    def plain(a, k):
        m = k + 1

        def scale(v):
            return v * k

        def shifted(v):
            return scale(v) + m

        def applied(g, v):
            m = 50.0
            return g(v) + m

        s = 0.0
        for v in a:
            s += applied(scale, v)
        k = k * 3
        return (
            s, applied(shifted, 1.0), _applied(scale, 1.0), _applied_twice(scale, 2.0), _applied(lambda x: x * m + k, 2.0),
            _applied(lambda x: shifted(x), 2.0), applied(lambda x: _applied(scale, x), 2.0),
        )  # fmt: skip

    a = np.arange(4.0)
    for k in (2.5, -1.0):
        assert njit(plain)(a, k) == plain(a, k)


def test_inner_functions_that_are_chosen_or_call_themselves_are_given_away():
    def chosen(c, k):
        def up(v):
            return v * k

        def down(v):
            return v - k

        def applied(g, v):
            return g(v)

        def factorial(m):
            return 1 if m < 2 else m * factorial(m - 1)

        g = up if c else down
        return applied(g, 2.0), g(1.0), applied(factorial, 5), _applied(factorial, 4), sorted([3.0, 1.0, 2.0], key=lambda v: abs(v - k))

    for c in (True, False):
        assert njit(chosen)(c, 2.2) == chosen(c, 2.2)

    def rebound(k):
        def again(m):
            return m if m > 10 else again(m + k)

        def applied(g, v):
            return g(v)

        first = again
        again = abs
        return applied(first, 1.0)

    with pytest.raises(bc.TypingError):
        njit(rebound)(2.0)


def test_an_argument_stays_what_it_was_when_its_place_gets_another_value():
    @njit
    def replaced(x, places):
        places[0] = places[1]
        places.pop()
        return x.sum()

    @njit
    def renamed(text, words):
        words[0] = "another text that is long enough for memory of its own"
        return text + "!"

    @njit
    def shortened(inner, rows):
        rows[0] = rows[1]
        return len(inner), inner[0]

    def plain(n):
        a = [np.ones(n), np.zeros(n)]
        b = [[1, 2, 3], [4]]
        w = ["a text that has memory of its own, made while it runs " + str(n)]
        return replaced(a[0], a), len(a), a[0].sum(), shortened(b[0], b), b[0][0], renamed(w[0], w), len(w[0])

    assert njit(plain)(4) == (4.0, 1, 0.0, (3, 1), 4, "a text that has memory of its own, made while it runs 4!", 54)

    @jitclass([("a", types.float64[:])])
    class Holder:
        def __init__(self, n):
            self.a = np.ones(n)

        def exchange(self, other):
            self.a = np.zeros(5)
            return other.sum()

    @njit
    def of_fields(n):
        h = Holder(n)
        first = h.exchange(h.a)
        h.a = np.ones(n)
        return first, h.exchange(h.a), h.a.size

    assert of_fields(3) == (3.0, 3.0, 5)
