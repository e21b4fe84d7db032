"""The types that compiled functions infer, and what they say when there are none."""

from __future__ import annotations

import enum
import math

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import broadcloth as bc
from broadcloth import cuda, types


def result(function, *arguments) -> str:
    """The type that a function returns for arguments of these types."""
    return bc._c.compile_text(function, f"({', '.join(arguments)}{',' if len(arguments) == 1 else ''})", "host")[2]


ARITHMETIC = [
    ("int8", "int8", "int64"), ("int32", "int64", "int64"), ("uint8", "uint8", "uint64"), ("uint32", "int32", "int64"),
    ("uint64", "uint64", "uint64"), ("uint64", "int64", "int64"), ("bool", "bool", "int64"), ("float32", "float32", "float32"),
    ("float32", "float64", "float64"), ("float32", "int8", "float32"), ("float32", "int32", "float64"), ("float32", "int64", "float64"),
    ("float16", "float16", "float16"), ("bfloat16", "float32", "float32"), ("complex64", "float32", "complex64"),
    ("complex64", "float64", "complex128"), ("int64", "complex64", "complex128"),
]  # fmt: skip


@pytest.mark.parametrize(("a", "b", "expected"), ARITHMETIC)
def test_arithmetic(a, b, expected):
    assert result(lambda x, y: x + y, a, b) == expected
    assert result(lambda x, y: y * x, a, b) == expected


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [("int64", "int64", "float64"), ("int32", "uint8", "float64"), ("float32", "float32", "float32"), ("float32", "int32", "float64")],
)
def test_division_is_true_division(a, b, expected):
    assert result(lambda x, y: x / y, a, b) == expected


def test_other_operators():
    assert result(lambda x, y: x // y, "int32", "int32") == "int64"
    assert result(lambda x, y: x % y, "float32", "float32") == "float32"
    assert result(lambda x: x**2, "float32") == "float32"
    assert result(lambda x: x**2, "int32") == "int64"
    assert result(lambda x, y: x**y, "float64", "int64") == "float64"
    assert result(lambda x: -x, "int16") == "int64"
    assert result(lambda x: ~x, "uint32") == "uint64"
    assert result(lambda x: x << 3, "int32") == "int64"
    assert result(lambda x, y: x & y, "bool", "bool") == "bool"
    assert result(lambda x: not x, "int64") == "bool"
    assert result(lambda x, y: x < y, "int64", "float32") == "bool"
    assert result(lambda x: 0 < x < 5, "int64") == "bool"
    assert result(lambda x: x + 1, "uint64") == "uint64"


def test_conversions_and_functions():
    assert result(lambda x: int(x), "float32") == "int64"
    assert result(lambda x: int(x), "int32") == "int32"
    assert result(lambda x: float(x), "float32") == "float32"
    assert result(lambda x: float(x), "int32") == "float64"
    assert result(lambda x: np.float32(x), "int64") == "float32"
    assert result(lambda x: bc.int8(x), "int64") == "int8"
    assert result(lambda x: complex(x, x), "float64") == "complex128"
    assert result(lambda x: abs(x), "complex64") == "float32"
    assert result(lambda x: x.real, "complex64") == "float32"
    assert result(lambda x: math.sqrt(x), "int64") == "float64"
    assert result(lambda x: math.sqrt(x), "float32") == "float32"
    assert result(lambda x: math.floor(x), "float64") == "int64"
    assert result(lambda x: np.floor(x), "float64") == "float64"
    assert result(lambda x: np.sqrt(x), "int32") == "float64"
    assert result(lambda x, y: max(x, y), "int64", "float32") == "float64"
    assert result(lambda x: round(x), "float64") == "int64"
    assert result(lambda x: round(x, 2), "float32") == "float32"
    assert result(lambda x: (x, 1.5, None), "int64") == "(int64, float64, none)"


def test_arrays():
    assert result(lambda a: a[0], "float32[:]") == "float32"
    assert result(lambda a: a[0], "float32[:, ::1]") == "array(float32, 1d, C)"
    assert result(lambda a: a[:, 0], "float32[:, ::1]") == "array(float32, 1d, A)"
    assert result(lambda a: a[1:3], "float32[:, ::1]") == "array(float32, 2d, C)"
    assert result(lambda a: a[::2], "float32[::1]") == "array(float32, 1d, A)"
    assert result(lambda a: a[None, ..., 1], "int8[:, :]") == "array(int8, 2d, A)"
    assert result(lambda a: a.T, "float32[:, ::1]") == "array(float32, 2d, F)"
    assert result(lambda a: a.shape, "float32[:, :]") == "(int64, int64)"
    assert result(lambda a: a.sum(), "int32[:]") == "int64"
    assert result(lambda a: a.mean(), "int32[:]") == "float64"
    assert result(lambda a: (a * 2 > 1).any(), "float32[:]") == "bool"
    assert result(lambda a: a.argmax(), "float32[:]") == "int64"
    assert result(lambda a: a.imag, "complex128[:]") == "array(float64, 1d, A)"


def test_a_variable_may_change_its_type():
    def f(x):
        y = 1
        y = y + x
        if y > 2:
            y = 3
        return y

    assert result(f, "float32") == "float64"
    assert result(f, "int64") == "int64"

    def g(n):
        s = 0
        for i in range(n):
            s += i * 0.5
        return s

    assert result(g, "int64") == "float64"


def test_none_and_a_number_unify_to_an_optional():
    def f(x):
        if x > 0:
            return x

    assert result(f, "float64") == "Optional(float64)"


def test_recursion_takes_its_type_from_the_other_branch():
    def fib(n):
        return fib(n - 1) + fib(n - 2) if n > 1 else 1.0

    assert result(fib, "int64") == "float64"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("f4[:, ::1]", "array(float32, 2d, C)"), ("float64[::1, :]", "array(float64, 2d, F)"), ("int64[:]", "array(int64, 1d, A)"),
        ("UniTuple(float64, 3)", "(float64, float64, float64)"), ("Tuple((int8, boolean))", "(int8, bool)"), ("intp", "int64"),
        ("Optional(f8)", "Optional(float64)"), ("array(float32, 1d, A, readonly)", "array(float32, 1d, A, readonly)"),
    ],
)  # fmt: skip
def test_types_are_read_from_text(text, expected):
    assert bc._c.parse_type(text) == expected
    assert bc._c.parse_type(expected) == expected


def test_types_are_objects_too():
    assert str(types.float32[:, ::1]) == "array(float32, 2d, C)"
    assert types.void(types.int64[:], types.f4).args == (types.int64[:], types.float32)
    assert types.float32(2) == 2 and types.float32.dtype == np.float32
    assert types.typeof((1, 2.0)) == types.Tuple((types.int64, types.float64))
    with pytest.raises(TypeError, match="column 9"):
        bc._c.parse_type("float64[1]")


UNKNOWN = object()


def typo(x):
    return maht.sqrt(x)  # noqa: F821


def wrong_attribute(a):
    return a.shpae[0]


def mixed(a):
    return a + "text"


def float_index(a):
    i = len(a) / 2
    return a[i]


def unbound(a):
    if a > 1:
        y = 2  # noqa: F841
    return z  # noqa: F821


def not_unified(a):
    if a.size > 1:
        y = 1
    else:
        y = (1, 2)
    return y


def unknown_object(x):
    return UNKNOWN + x


def read_only(a):
    a[0] = 1
    return 0


def wrong_overload(x):
    return cuda.fma(x, x)


def callee(x):
    return x.nothing


def caller(x):
    return callee(x)


def with_statement(a):
    with a:
        pass


@pytest.mark.parametrize(
    ("function", "signature", "words"),
    [
        (typo, "(float64,)", ["name 'maht' is not defined", "did you mean 'math'?", "^^^^"]),
        (wrong_attribute, "(float64[:],)", ["'shpae'", "did you mean 'shape'?", "array(float64, 1d, A)"]),
        (mixed, "(float64[:],)", ["no operator +", "array(float64, 1d, A)", "str"]),
        (float_index, "(float64[:],)", ["an index must be an integer", "float64", "//"]),
        (unbound, "(int64,)", ["'z' is not defined"]),
        (not_unified, "(float64[:],)", ["'y'", "int64", "(int64, int64)"]),
        (unknown_object, "(int64,)", ["no operator +"]),
        (read_only, ("array(float64, 1d, C, readonly)",), ["read-only"]),
        (wrong_overload, "(float64,)", ["cuda.fma", "(float32, float32, float32)"]),
        (caller, "(float64,)", ["'nothing'", "in callee", "called at"]),
        (with_statement, "(float64[:],)", ["'with' takes objmode"]),
    ],
    ids=lambda v: getattr(v, "__name__", None),
)
def test_errors_fit_on_a_screen_and_help(function, signature, words):
    with pytest.raises(bc.TypingError) as caught:
        bc._c.compile_text(function, signature, "host")
    text = str(caught.value)
    assert len(text.splitlines()) <= 15
    assert "test_kernel_typing.py:" in text
    for word in words:
        assert word in text, text


def test_a_kernel_returns_nothing():
    with pytest.raises(bc.TypingError, match="must not return a value"):
        bc._c.compile_text(lambda x: x, "(int64,)")


def test_arrays_that_are_only_read_are_known():
    def writes(function, *types):
        return bc._c.compile_text(function, types)[4]

    def plain(a, b, c, out):
        i = cuda.grid(1)
        if i < a.size and len(b) > a.shape[0]:
            out[i] = a[i] + b[i, 0]
            cuda.atomic.add(c, i, 1)

    one, two = "float64[:]", "float64[:, :]"
    assert writes(plain, one, two, one, one) == (False, False, True, True)

    def by_a_view(a, b, n):
        row = a[0]
        row[1] = b[n]

    assert writes(by_a_view, two, one, "int64") == (True, False, True)

    def helper(a):
        a[0] = 1

    def by_a_call(a, b):
        helper(a)
        for x in b:
            a[1] += x

    assert writes(by_a_call, one, one)[0]


def test_compiling_is_fast():
    import time

    def many(a, b, out):
        i = cuda.grid(1)
        s = 0.0
        for k in range(a.shape[1]):
            if a[i, k] > 0:
                s += a[i, k] * b[k] + math.sin(b[k])
            elif a[i, k] < -1:
                s -= 1
            else:
                continue
            for j in range(3):
                s = s * 0.5 + j
        while s > 10:
            s /= 2
        out[i] = s

    signature = "(float64[:, ::1], float64[::1], float64[::1])"
    bc._c.compile_text(many, signature)
    best = 1.0
    for _ in range(5):
        start = time.perf_counter()
        bc._c.compile_text(many, signature)
        best = min(best, time.perf_counter() - start)
    assert best < 0.01  # 0.4 ms on the machine it was written on


class Colour(enum.Enum):
    red = 1
    green = 2.5
    blue = 4
    azure = 4  # another name of blue


class Other(enum.Enum):
    red = 1


@cuda.jit(device=True)
def coloured(x):
    if x > 1:
        return Colour.blue
    return Colour.green if x > 0 else Colour.red


@cuda.jit
def colours(x, out):
    i = cuda.grid(1)
    if i < x.size:
        c = coloured(x[i])
        out[0, i] = c == Colour.red
        out[1, i] = c is Colour.azure
        out[2, i] = c != Colour.green
        out[3, i] = c == Other.red
        out[4, i] = c.value
        d = Colour.red
        for k in range(x[i]):
            d = c if k else Colour.green
        out[5, i] = d.value
        out[6, i] = c in (Colour.red, Colour.blue)
        e = None
        if x[i] > 0:
            e = Colour.blue
        out[7, i] = e is None or e == Colour.green


def test_members_of_enumerations_that_are_known_at_run_time_only(xp):
    out = xp.zeros((8, 4))
    colours[1, 4](xp.asarray(np.arange(4)), out)
    expected = [[1, 0, 0, 0], [0, 0, 1, 1], [1, 0, 1, 1], [0] * 4, [1, 2.5, 4, 4], [1, 2.5, 4, 4], [1, 0, 1, 1], [1, 0, 0, 0]]
    assert_array_equal(out, expected)

    @bc.njit
    def host(x):
        if x < 0:
            return None
        return Colour.azure if x else Colour.red

    assert [host(x) for x in (0, 1, -1)] == [Colour.red, Colour.blue, None]
    assert bc.njit(lambda: Colour.green)() is Colour.green
    assert bc.njit(lambda x: (x, Colour.green if x else Colour.red))(1) == (1, Colour.green)
    assert bc.njit(lambda x: (Colour.red if x else Colour.blue).name)(0) == "blue"
    with pytest.raises(bc.TypingError, match="cannot be compared by <"):
        bc.njit(lambda x: (Colour.red if x else Colour.blue) < Colour.red)(1)
    with pytest.raises(bc.TypingError, match="unify"):
        bc.njit(lambda x: Colour.red if x else Other.red)(1)
