"""Every elementwise row against NumPy: over dtypes, layouts, special values; out=, where=, dtype=, casting=; the methods of ufuncs."""

from __future__ import annotations

import math
import pickle
import sys
import warnings
from fractions import Fraction

import numpy as np
import pytest

import broadcloth as bc
from support import (
    BOOL,
    COMPLEX,
    DTYPES,
    INTS,
    LAYOUTS,
    REALS,
    assert_like_numpy,
    assert_same,
    assert_ulp,
    base_values,
    float_specials,
    host,
    wide,
)

# How far a result may be from the exact one, in units of the last place. 0: the same bits as NumPy.
UNARY = dict.fromkeys(
    """negative positive square reciprocal sqrt absolute fabs sign rint floor ceil trunc spacing conjugate logical_not invert bitwise_count
    isfinite isinf isnan signbit""".split(),
    0,
)
UNARY |= dict.fromkeys(
    """cbrt exp exp2 expm1 log log2 log10 log1p sin cos tan arcsin arccos arctan sinh cosh tanh arcsinh arccosh arctanh""".split(), 4
)
UNARY |= {"deg2rad": 2, "rad2deg": 2}
BINARY = dict.fromkeys(
    """add subtract multiply divide floor_divide remainder fmod copysign heaviside gcd lcm nextafter equal not_equal less less_equal greater
    greater_equal logical_and logical_or logical_xor bitwise_and bitwise_or bitwise_xor left_shift right_shift maximum minimum fmax
    fmin""".split(),
    0,
)
BINARY |= dict.fromkeys("hypot arctan2 logaddexp logaddexp2 power float_power".split(), 4)
TWO_RESULTS = ["divmod", "modf", "frexp"]
# The sign of a zero is not NumPy's contract there: it depends on which SIMD loop runs.
LOOSE_SIGN = {"maximum", "minimum", "fmax", "fmin"}
# Complex functions are measured against the length of the exact result.
COMPLEX_ULP = 8


def numpy_ufunc(name):
    return getattr(np, name, None)


def call(function, *arrays, **kwargs):
    """The result, or the TypeError that says there is no loop."""
    try:
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return function(*arrays, **kwargs)
    except TypeError as error:
        return error


def reference(function, result_dtype, arrays):
    """What the function gives in a wider type, for inputs first rounded to the type NumPy computes in."""
    kind = np.dtype(result_dtype)
    cast = []
    for a in arrays:
        a = np.asarray(a)
        if a.dtype.kind != "c" or kind.kind == "c":
            a = a.astype(kind, copy=False)
        cast.append(wide(a))
    with np.errstate(all="ignore"):
        return function(*cast)


def check(name, ulp, got, want, arrays, context):
    if isinstance(want, TypeError):
        assert isinstance(got, TypeError), f"{context}: NumPy has no loop, broadcloth gave {got!r}"
        return
    assert not isinstance(got, Exception), f"{context}: {type(got).__name__}: {got}"
    want = np.asarray(want)
    if want.dtype.kind not in "fc" or (ulp == 0 and want.dtype.kind == "f" and all(np.asarray(a).dtype.kind != "c" for a in arrays)):
        if name in LOOSE_SIGN:
            assert_ulp(got, want, 0, loose_sign=True, context=context) if want.dtype.kind == "f" else assert_same(got, want, context)
        else:
            assert_same(got, want, context)
        return
    exact = reference(numpy_ufunc(name), want.dtype, arrays)
    if want.dtype.kind == "c" or np.asarray(arrays[0]).dtype.kind == "c":
        assert_ulp(got, exact, COMPLEX_ULP, want.dtype, context)
    else:
        assert_ulp(got, exact, max(ulp, 1), want.dtype, context, loose_sign=name in ("power", "float_power", "logaddexp", "logaddexp2"))


def run_unary(xp, dtype, layouts):
    base = base_values(dtype)
    ours = xp.asarray(base)
    work = []
    for layout in layouts:
        n, x = LAYOUTS[layout](base, np), LAYOUTS[layout](ours, xp)
        for name, ulp in UNARY.items():
            work.append((name, ulp, layout, n, call(xp._c.ufuncs[name], x)))
    xp.synchronize()
    for name, ulp, layout, n, got in work:
        check(name, ulp, got, call(numpy_ufunc(name), n), [n], f"{name}({dtype}, {layout})")


@pytest.mark.parametrize("dtype", DTYPES)
def test_unary_rows_match_numpy_over_layouts(xp, dtype):
    run_unary(xp, dtype, LAYOUTS)


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint32", "int64", *REALS, *COMPLEX])
def test_unary_rows_match_numpy_in_every_mode(xp, mode, dtype):
    run_unary(xp, dtype, ["contiguous", "stepped"])


def second_values(dtype, name=""):
    base = np.roll(base_values(dtype, seed=1), 3, axis=1)
    if name in ("left_shift", "right_shift"):
        return np.abs(base.astype(np.int64) % 7).astype(dtype) if np.dtype(dtype).kind in "iu" else base
    if name == "power" and np.dtype(dtype).kind in "iu":
        return (np.abs(base.astype(np.int64)) % 4).astype(dtype)
    return base


def run_binary(xp, dtype, layouts):
    base = base_values(dtype)
    ours = xp.asarray(base)
    seconds: dict[bytes, object] = {}
    work = []
    for layout in layouts:
        n, x = LAYOUTS[layout](base, np), LAYOUTS[layout](ours, xp)
        for name, ulp in BINARY.items():
            other = second_values(dtype, name)
            key = other.tobytes()
            if key not in seconds:
                seconds[key] = xp.asarray(other)
            m, y = LAYOUTS[layout](other, np), LAYOUTS[layout](seconds[key], xp)
            work.append((name, ulp, layout, n, m, call(xp._c.ufuncs[name], x, y)))
    xp.synchronize()
    for name, ulp, layout, n, m, got in work:
        check(name, ulp, got, call(numpy_ufunc(name), n, m), [n, m], f"{name}({dtype}, {layout})")


@pytest.mark.parametrize("dtype", DTYPES)
def test_binary_rows_match_numpy_over_layouts(xp, dtype):
    run_binary(xp, dtype, LAYOUTS)


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint32", "int64", *REALS, *COMPLEX])
def test_binary_rows_match_numpy_in_every_mode(xp, mode, dtype):
    run_binary(xp, dtype, ["contiguous", "stepped"])


@pytest.mark.parametrize("dtype", REALS)
def test_binary_rows_match_numpy_on_all_pairs_of_special_values(xp, dtype):
    values = float_specials(np.dtype(dtype))
    n, m = values[:, None], values[None, :]
    x = xp.asarray(values)
    work = [(name, ulp, call(xp._c.ufuncs[name], x[:, None], x[None, :])) for name, ulp in BINARY.items()]
    xp.synchronize()
    for name, ulp, got in work:
        want = call(numpy_ufunc(name), n, m)
        if name == "nextafter" and dtype == "float16":
            got, want = got + 0.0, want + np.float16(0)  # the sign of nextafter(0, -0) changed with NumPy 2.5
        check(name, ulp, got, want, [n, m], f"{name}({dtype}, specials)")


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_elementwise_functions_stay_within_four_ulp_over_the_whole_range(xp, dtype):
    """Arguments of every size: all exponents, both signs, denormals."""
    kind = np.dtype(dtype)
    rng = np.random.default_rng(5)
    bits = rng.integers(0, 2 ** (8 * kind.itemsize) - 1, 20_000, dtype=np.uint64, endpoint=True).astype(f"u{kind.itemsize}")
    whole = bits.view(kind)
    near = (rng.standard_normal(20_000) * 10).astype(kind)
    angles = (rng.uniform(-1e6, 1e6, 4_000)).astype(kind)
    n = np.concatenate([whole[np.isfinite(whole)], near, angles, float_specials(kind)])
    x = xp.asarray(n)
    names = [name for name, ulp in UNARY.items() if ulp]
    work = [(name, call(xp._c.ufuncs[name], x)) for name in names]
    xp.synchronize()
    for name, got in work:
        check(name, UNARY[name], got, call(numpy_ufunc(name), n), [n], f"{name}({dtype}, whole range)")


@pytest.mark.parametrize("name", TWO_RESULTS)
@pytest.mark.parametrize("dtype", [*INTS, *REALS])
def test_functions_with_two_results_match_numpy(xp, name, dtype):
    base = base_values(dtype)
    operands = [base, second_values(dtype)] if name == "divmod" else [base]
    want = call(numpy_ufunc(name), *operands)
    got = call(xp._c.ufuncs[name], *map(xp.asarray, operands))
    if isinstance(want, TypeError):
        assert isinstance(got, TypeError)
        return
    assert isinstance(got, tuple)
    for k in range(2):
        if name == "frexp" and k == 1:  # the exponent of an infinity or NaN is not specified
            finite = np.isfinite(base.astype(np.float64))
            assert got[1].dtype == want[1].dtype
            np.testing.assert_array_equal(host(got[1])[finite], want[1][finite])
        else:
            assert_same(got[k], want[k], f"{name}({dtype})[{k}]")


@pytest.mark.parametrize("dtype", ["int32", "float32"])
def test_two_results_go_to_out(xp, dtype):
    a, b = base_values(dtype)[3:], second_values(dtype)[3:]
    one, two = xp.empty(a.shape, dtype), xp.empty(a.shape, dtype)
    got = xp.divmod(xp.asarray(a), xp.asarray(b), out=(one, two))
    assert got[0] is one and got[1] is two
    with np.errstate(all="ignore"):
        want = np.divmod(a, b)
    assert_same(one, want[0])
    assert_same(two, want[1])


@pytest.mark.parametrize("dtype", [*REALS, "int32"])
def test_ldexp_matches_numpy(xp, dtype):
    n = base_values(dtype)
    e = (np.arange(n.size) % 40 - 20).astype(np.int32).reshape(n.shape)
    with np.errstate(all="ignore"):
        assert_same(xp.ldexp(xp.asarray(n), xp.asarray(e)), np.ldexp(n, e))
        for wide in (e.astype(np.int64) * 2**40, np.abs(e).astype(np.uint32) * 2**27):
            assert_same(xp.ldexp(xp.asarray(n), xp.asarray(wide)), np.ldexp(n, wide))
        assert_same(xp.ldexp(xp.asarray(n), 2**40), np.ldexp(n, np.int64(2**40)))
        for kind in (np.uint64, np.float64):
            with pytest.raises(TypeError):
                xp.ldexp(xp.asarray(n), xp.ones(1, kind))


@pytest.mark.parametrize("dtype", REALS)
def test_functions_that_numpy_does_not_call_ufuncs(xp, dtype):
    n = base_values(dtype)
    x = xp.asarray(n)
    with np.errstate(all="ignore"):
        finite = np.where(np.isfinite(n), np.clip(n, -50, 50), 1).astype(dtype)
        assert_ulp(xp.sinc(xp.asarray(finite)), np.sinc(wide(finite)), 6, dtype, "sinc", floor=float(np.finfo(dtype).eps), loose_sign=True)
        assert_ulp(xp.i0(xp.asarray(finite)), np.i0(finite.astype(np.float64)), 8, dtype, "i0")
        assert_same(xp.isposinf(x), np.isposinf(n))
        assert_same(xp.isneginf(x), np.isneginf(n))
        assert_same(xp.real(x), n)
        assert_same(xp.imag(x), np.zeros_like(n))
        assert_same(xp.fix(x), np.fix(n))
        assert_same(xp.nan_to_num(x), np.nan_to_num(n))
        assert_same(xp.nan_to_num(x, nan=1, posinf=2, neginf=3), np.nan_to_num(n, nan=1, posinf=2, neginf=3))


@pytest.mark.parametrize("dtype", COMPLEX)
def test_complex_parts_and_angles(xp, dtype):
    n = base_values(dtype)
    x = xp.asarray(n)
    part = "float32" if dtype == "complex64" else "float64"
    assert_same(xp.real(x), n.real)
    assert_same(xp.imag(x), n.imag)
    assert_ulp(xp.angle(x), np.angle(wide(n)), 4, part)
    assert_same(xp.isreal(x), np.isreal(n))
    assert_same(xp.iscomplex(x), np.iscomplex(n))
    assert_same(x.conj(), n.conj())


@pytest.mark.parametrize("dtype", [*BOOL, *INTS, *REALS, *COMPLEX])
def test_where_matches_numpy(xp, dtype):
    n, m = base_values(dtype), second_values(dtype)
    c = np.arange(n.size).reshape(n.shape) % 3 == 0
    x, y, k = xp.asarray(n), xp.asarray(m), xp.asarray(c)
    assert_same(xp.where(k, x, y), np.where(c, n, m))
    assert_same(xp.where(k[:, :1], x.T[:1].T, y), np.where(c[:, :1], n.T[:1].T, m))
    assert_same(xp.where(x, x, y), np.where(n, n, m))


@pytest.mark.parametrize("dtype", [*INTS, *REALS])
def test_clip_matches_numpy(xp, dtype):
    n = base_values(dtype)
    x = xp.asarray(n)
    low, high = (2, 5) if np.dtype(dtype).kind in "iu" else (-0.5, 1.25)
    assert_same(xp.clip(x, low, high), np.clip(n, low, high))
    assert_same(xp.clip(x, None, high), np.clip(n, None, high))
    assert_same(x.clip(low), n.clip(low))
    assert_same(xp.clip(x, xp.asarray(n[0]), high), np.clip(n, n[0], high))
    out = xp.empty_like(x)
    assert xp.clip(x, low, high, out=out) is out
    assert_same(out, np.clip(n, low, high))


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int32", "complex128"])
@pytest.mark.parametrize("decimals", [0, 1, 3, -1])
def test_round_matches_numpy(xp, dtype, decimals):
    n = base_values(dtype)
    if np.dtype(dtype).kind == "f":
        n = np.clip(np.where(np.isfinite(n), n, 0), -500, 500).astype(dtype)
    elif dtype == "int32":
        n = n % 1000
    with np.errstate(all="ignore"):
        want = np.round(n, decimals)
    got = xp.round(xp.asarray(n), decimals)
    if dtype == "float16" and decimals:
        assert_ulp(got, want, 1, loose_sign=True)
    else:
        assert_ulp(got, want, 1, loose_sign=True) if want.dtype.kind in "fc" else assert_same(got, want)


def test_out_of_another_type_is_cast(xp):
    n = np.arange(6, dtype=np.int32)
    out = xp.zeros(6, xp.float32)
    assert xp.add(xp.asarray(n), 1, out=out) is out
    assert_same(out, (n + 1).astype(np.float32))
    with pytest.raises(TypeError):
        xp.add(xp.asarray(n), 0.5, out=xp.zeros(6, xp.int32))
    xp.add(xp.asarray(n), 0.5, out=(out2 := xp.zeros(6, xp.int32)), casting="unsafe")
    assert_same(out2, n)


def test_out_may_be_a_view_and_may_overlap_an_operand(xp):
    n = np.arange(10.0)
    x = xp.arange(10.0)
    np.add(n[:-1].copy(), n[1:].copy(), out=n[1:])
    xp.add(x[:-1], x[1:], out=x[1:])
    assert_same(x, n)
    np.multiply(n[::-1].copy(), n, out=n)
    xp.multiply(x[::-1], x, out=x)
    assert_same(x, n)


def test_where_keeps_elements_of_out(xp):
    n, m = np.arange(12.0).reshape(3, 4), np.arange(12.0).reshape(3, 4) % 2 == 0
    x = xp.asarray(n)
    want = np.multiply(n, 10, out=np.full((3, 4), -1.0), where=m)
    got = xp.multiply(x, 10, out=xp.full((3, 4), -1.0), where=xp.asarray(m))
    assert_same(got, want)
    want = np.sqrt(n, out=n.copy(), where=m[:1])
    assert_same(xp.sqrt(x, out=x.copy(), where=xp.asarray(m[:1])), want)
    assert_same(xp.negative(x, out=x.copy(), where=False), n)


def test_dtype_says_what_is_computed_in(xp):
    n = np.array([100, 100], np.int8)
    assert_same(xp.add(xp.asarray(n), xp.asarray(n), dtype=xp.int32), np.add(n, n, dtype=np.int32))
    assert_same(xp.sin(xp.asarray(n), dtype="float64").astype("float32"), np.sin(n, dtype="float64").astype("float32"))
    assert xp.divide(xp.asarray(n), 3, dtype=xp.float32).dtype == np.float32
    with pytest.raises(TypeError):
        xp.add(xp.asarray([1.5]), 1, dtype=xp.int32)
    with pytest.raises(TypeError):
        xp.add(xp.asarray(n), 1, dtype=xp.int32, casting="no")


def test_operands_broadcast(xp):
    a, b, c = np.arange(4.0), np.arange(3.0)[:, None], np.arange(2.0)[:, None, None]
    assert_same(xp.asarray(a) * xp.asarray(b) - xp.asarray(c), a * b - c)
    assert (xp.zeros((0, 3)) + xp.zeros((1, 3))).shape == (0, 3)
    with pytest.raises(ValueError, match=r"\(4,\).*\(3,\)"):
        xp.asarray(a) + xp.zeros(3)


def test_numpy_operands_and_lists_are_taken(xp):
    x = xp.arange(3)
    assert_same(x + np.array([1.5, 2.5, 3.5]), np.arange(3) + np.array([1.5, 2.5, 3.5]))
    assert_same(np.array([1, 2, 3]) - x, np.array([1, 2, 3]) - np.arange(3))
    assert isinstance(np.array([1, 2, 3]) - x, xp.ndarray)
    assert_same(x * [1, 2, 3], np.arange(3) * np.array([1, 2, 3]))
    assert_same(np.add(x, 1), np.arange(3) + 1)
    assert isinstance(np.add(x, 1), xp.ndarray)
    assert_same(np.float32(2) * xp.ones(2, xp.float32), np.float32([2, 2]))


def test_operators_match_numpy(xp):
    n, m = np.array([7, -7, 3, 12]), np.array([2, 2, -2, 5])
    x, y = xp.asarray(n), xp.asarray(m)
    pairs = {
        "+": (x + y, n + m), "-": (x - y, n - m), "*": (x * y, n * m), "/": (x / y, n / m), "//": (x // y, n // m), "%": (x % y, n % m),
        "**": (x ** abs(y), n ** abs(m)), "<<": (abs(x) << abs(y), abs(n) << abs(m)), ">>": (x >> abs(y), n >> abs(m)), "&": (x & y, n & m),
        "|": (x | y, n | m), "^": (x ^ y, n ^ m), "~": (~x, ~n), "neg": (-x, -n), "pos": (+x, +n), "<": (x < y, n < m),
        "<=": (x <= y, n <= m), "==": (x == y, n == m), "!=": (x != y, n != m), ">": (x > y, n > m), ">=": (x >= y, n >= m),
        "r+": (5 + x, 5 + n), "r-": (5 - x, 5 - n),
        "r*": (5 * x, 5 * n), "r/": (5 / x, 5 / n), "r//": (5 // x, 5 // n), "r%": (5 % x, 5 % n), "r**": (2.0**x, 2.0**n),
        "r&": (5 & x, 5 & n), "r|": (5 | x, 5 | n), "r^": (5 ^ x, 5 ^ n), "r<<": (1 << abs(x), 1 << abs(n)), "r<": (3 < x, 3 < n),
        "divmod 0": (divmod(x, y)[0], divmod(n, m)[0]), "divmod 1": (divmod(x, y)[1], divmod(n, m)[1]),
        "rdivmod": (divmod(20, x)[1], divmod(20, n)[1]),
    }  # fmt: skip
    for name, (got, want) in pairs.items():
        if name == "r**":
            assert_ulp(got, want, 4, context=name)
        else:
            assert_same(got, want, name)
    assert (x == None).tolist() == [False] * 4  # noqa: E711
    assert (x == "text").tolist() if isinstance(x == "text", xp.ndarray) else not (x == "text")


def test_in_place_operators_match_numpy(xp):
    n, x = np.arange(1, 9.0), xp.arange(1, 9.0)
    whole_n, whole_x = np.arange(1, 9), xp.arange(1, 9)
    for a in (n, x):
        a += 3
        a -= 1
        a *= 2
        a /= 4
        a **= 2
        a //= 0.5
        a %= 7
    for a in (whole_n, whole_x):
        a <<= 2
        a >>= 1
        a &= 29
        a |= 64
        a ^= 3
    assert_same(x, n)
    assert_same(whole_x, whole_n)
    with pytest.raises(TypeError):
        whole_x /= 2
    with pytest.raises(TypeError):
        whole_x += 0.5


@pytest.mark.parametrize(
    "name", ["add", "multiply", "maximum", "minimum", "logical_and", "logical_or", "bitwise_or", "bitwise_and", "gcd", "subtract"]
)
@pytest.mark.parametrize("axis", [0, 1, -1])
def test_reduce_and_accumulate_match_numpy(xp, name, axis):
    n = np.arange(1, 13).reshape(3, 4) % 7 + 1
    f, g = getattr(np, name), getattr(xp, name)
    x = xp.asarray(n)
    assert_same(g.reduce(x, axis=axis), f.reduce(n, axis=axis), "reduce")
    assert_same(g.reduce(x, axis=axis, keepdims=True), f.reduce(n, axis=axis, keepdims=True), "keepdims")
    assert_same(g.accumulate(x, axis=axis), f.accumulate(n, axis=axis), "accumulate")
    if name != "subtract":
        assert_same(g.reduce(x, axis=None), np.asarray(f.reduce(n, axis=None)), "all axes")


@pytest.mark.parametrize("method", ["reduce(a, dtype={0})", "accumulate(a, dtype={0})", "reduceat(a, [0, 1], dtype={0})"])
@pytest.mark.parametrize(
    "name", ["add", "divide", "float_power", "logical_or", "maximum", "copysign", "bitwise_and", "left_shift", "equal"]
)
def test_a_fold_runs_in_the_dtype_that_is_asked_for(xp, name, method):
    for given in ("'i4'", "'f8'", "bool", "'u1'"):
        for asked in ("'i8'", "'f4'", "'f8'", "bool", "'c16'", "'u1'", "'f2'"):
            assert_like_numpy(xp, f"a = xp.array([1, 1, 1], {given}); xp.{name}.{method.format(asked)}")


@pytest.mark.parametrize("name", ["add", "multiply", "subtract", "maximum"])
def test_reduceat_and_outer_match_numpy(xp, name):
    n, at = np.arange(1.0, 11), np.array([0, 4, 4, 9, 2])
    f, g = getattr(np, name), getattr(xp, name)
    assert_same(g.reduceat(xp.asarray(n), xp.asarray(at)), f.reduceat(n, at))
    assert_same(g.outer(xp.asarray(n[:3]), xp.asarray(n[5:7])), f.outer(n[:3], n[5:7]))
    two = np.arange(20.0).reshape(4, 5)
    assert_same(g.reduceat(xp.asarray(two), [0, 3, 1], axis=1), f.reduceat(two, [0, 3, 1], axis=1))


def test_at_counts_every_occurrence(xp):
    n, x = np.zeros(5), xp.zeros(5)
    at = [0, 1, 1, 3, 1, -1]
    np.add.at(n, at, [1, 2, 3, 4, 5, 6])
    xp.add.at(x, at, [1, 2, 3, 4, 5, 6])
    assert_same(x, n)
    np.negative.at(n, [1, 3])
    xp.negative.at(x, [1, 3])
    assert_same(x, n)
    np.maximum.at(n, [2, 2], [7, 3])
    xp.maximum.at(x, [2, 2], [7, 3])
    assert_same(x, n)


def test_reduce_takes_initial_where_dtype_and_out(xp):
    n = np.arange(12, dtype=np.int32).reshape(3, 4)
    x, m = xp.asarray(n), n % 2 == 0
    assert_same(xp.add.reduce(x, initial=100), np.add.reduce(n, initial=100))
    assert_same(xp.add.reduce(x, axis=1, where=xp.asarray(m)), np.add.reduce(n, axis=1, where=m))
    assert_same(xp.add.reduce(x, axis=1, dtype=xp.float32), np.add.reduce(n, axis=1, dtype=np.float32))
    out = xp.empty(4, xp.int64)
    assert xp.add.reduce(x, out=out) is out
    assert_same(out, np.add.reduce(n))
    assert_same(xp.maximum.reduce(x, axis=1, initial=5), np.maximum.reduce(n, axis=1, initial=5))
    with pytest.raises(ValueError):
        xp.maximum.reduce(xp.zeros((0, 2)))
    assert_same(xp.add.reduce(xp.zeros((0, 2))), np.zeros(2))


def test_a_ufunc_says_what_it_is(xp):
    assert isinstance(xp.add, xp.ufunc)
    assert (xp.add.nin, xp.add.nout, xp.add.nargs, xp.add.__name__) == (2, 1, 3, "add")
    assert (xp.divmod.nin, xp.divmod.nout) == (2, 2)
    assert xp.add.identity == 0 and xp.multiply.identity == 1 and xp.maximum.identity is None
    assert xp.absolute is xp.abs and xp.conj is xp.conjugate and xp.mod is xp.remainder and xp.true_divide is xp.divide
    assert "Examples" in xp.sin.__doc__ and repr(xp.sin)


def test_every_numpy_ufunc_over_numbers_is_here(xp):
    skipped = {"isnat", "matmul", "vecdot", "matvec", "vecmat"}  # times, and functions here
    names = {n for n in np.__all__ if isinstance(getattr(np, n), np.ufunc)} - skipped
    missing = sorted(n for n in names if not isinstance(getattr(xp, n, None), xp.ufunc))
    assert not missing


def test_integer_power_of_a_negative_integer_is_an_error(xp):
    with pytest.raises(ValueError, match="[Ii]ntegers to negative integer powers"):
        xp.power(xp.array([2, 3]), -1)


NEGATIVE_EXPONENTS = [
    ("power.reduce(x)", [2, -1]),
    ("power.reduce(x)", [-1, 2]),
    ("power.reduce(x)", [-1]),
    ("power.reduce(x, axis=0)", [[2, 3], [2, -1]]),
    ("power.reduce(x, axis=1)", [[-2, 3], [-2, 1]]),
    ("power.reduce(x, initial=3)", [-1, 2]),
    ("power.reduce(x, initial=3, where=[True, False])", [2, -1]),
    ("power.reduce(x, initial=3, where=[False, True])", [2, -1]),
    ("power.reduce(x, dtype='float64')", [2, -1]),
    ("power.accumulate(x)", [2, -1, 2]),
    ("power.accumulate(x)", [-2, 1, 2]),
    ("power.accumulate(x, axis=1)", [[-2, 1], [-3, 2]]),
    ("power.accumulate(x, axis=0)", [[-2, 1], [-3, 2]]),
    ("power.reduceat(x, [0, 2])", [2, -1, 2, 3]),
    ("power.reduceat(x, [1, 2])", [-2, -1, 2, 3]),
    ("power.reduceat(x, [1, 0])", [-2, 1, 2, 3]),
    ("power.reduceat(x, [3, 1])", [-2, 1, -2, 3]),
    ("power.reduceat(x, [0, 1], axis=1)", [[-2, 3], [-1, 1]]),
]


@pytest.mark.parametrize("dtype", ["int64", "int16"])
@pytest.mark.parametrize("code, values", NEGATIVE_EXPONENTS)
def test_methods_of_power_refuse_negative_exponents_of_integers(xp, code, values, dtype):
    of_numpy = np.array(values, dtype)
    try:
        wanted = eval(code, {"power": np.power, "x": of_numpy})
    except ValueError as error:
        with pytest.raises(ValueError, match=str(error)):
            eval(code, {"power": xp.power, "x": xp.asarray(of_numpy)})
    else:
        assert_same(eval(code, {"power": xp.power, "x": xp.asarray(of_numpy)}), wanted)


def test_methods_of_power_take_negative_exponents_of_floats(xp):
    x = xp.array([2.0, -1.0, 2.0])
    assert xp.power.reduce(x).item() == 0.25
    assert xp.power.accumulate(x).tolist() == [2.0, 0.5, 0.25]
    assert xp.power.reduceat(x, [0, 1]).tolist() == [2.0, 1.0]


def test_power_at_refuses_negative_exponents_where_an_element_is_named(xp):
    for exponent in (-1, [2, -1]):
        a = xp.array([2, 3, 4])
        with pytest.raises(ValueError, match="[Ii]ntegers to negative integer powers"):
            xp.power.at(a, [0, 1], xp.array(exponent) if isinstance(exponent, list) else exponent)
    a = xp.array([2, 3, 4])
    xp.power.at(a, np.array([], dtype=int), -1)
    xp.power.at(a, [1, 1], 2)
    assert a.tolist() == [2, 81, 4]
    x = xp.array([2.0, 4.0])
    xp.power.at(x, [1], -1)
    assert x.tolist() == [2.0, 0.25]


def test_integer_division_by_zero_gives_zero(xp):
    n = np.array([5, -5, 0], np.int32)
    with np.errstate(all="ignore"):
        assert_same(xp.asarray(n) // 0, n // 0)
        assert_same(xp.asarray(n) % 0, n % 0)


def test_bfloat16_rounds_as_float32_does_to_nearest_even(xp):
    n = np.concatenate([base_values("float32").ravel(), np.float32([1 + 2**-8, 1 + 3 * 2**-8, 3.3e38, 1e-40])])
    x = xp.asarray(n).astype(xp.bfloat16)
    assert x.dtype == xp.bfloat16 and x.itemsize == 2

    def rounded(a):
        bits = np.asarray(a, np.float32).view(np.uint32).astype(np.uint64)
        up = (bits + 0x7FFF + ((bits >> 16) & 1)) & 0xFFFF0000
        return np.where(np.isnan(a), np.float32(np.nan), up.astype(np.uint32).view(np.float32))

    values = rounded(n)
    assert_same(x.astype(xp.float32), values)
    with np.errstate(all="ignore"):
        for name in ("add", "subtract", "multiply", "divide"):
            other = np.roll(values, 5)
            got = getattr(xp, name)(x, xp.asarray(other).astype(xp.bfloat16))
            assert got.dtype == xp.bfloat16
            assert_same(got.astype(xp.float32), rounded(getattr(np, name)(values, other)), name)
        assert_same(xp.sqrt(x).astype(xp.float32), rounded(np.sqrt(values)), "sqrt")
        assert_same((x < 1).get(), values < 1)


@pytest.mark.parametrize(
    "name",
    ["exp", "log", "sqrt", "sin", "cos", "tan", "sinh", "cosh", "tanh", "arcsin", "arccos", "arctan", "arcsinh", "arccosh", "arctanh"],
)
def test_complex_special_values_follow_annex_g(xp, name):
    """Zeros, ones, infinities and NaN in both parts; C leaves the sign of some zeros and infinities open, and those are not compared."""
    parts = np.array([0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan])
    n = np.empty((7, 7), complex)
    n.real, n.imag = parts[:, None], parts[None, :]
    with np.errstate(all="ignore"):
        want = getattr(np, name)(n)
    got = getattr(xp, name)(xp.asarray(n)).get()
    for g, w, which in ((got.real, want.real, "real"), (got.imag, want.imag, "imag")):
        same = (
            (np.isnan(g) & np.isnan(w))
            | (np.isinf(g) & np.isinf(w))
            | (np.isfinite(g) & np.isfinite(w) & np.isclose(g, w, rtol=1e-14, atol=1e-300))
        )
        bad = np.argwhere(~same)
        assert not len(bad), f"{name}{n[tuple(bad[0])]}: {which} part of {got[tuple(bad[0])]}, C has {want[tuple(bad[0])]}"


@pytest.mark.parametrize(
    "name, signature",
    [
        ("add", "dd->d"),
        ("add", "ff->f"),
        ("add", (np.float64, np.float64, np.float64)),
        ("add", (None, None, np.float64)),
        ("less", "ff->?"),
        ("less", "ll->?"),
        ("multiply", "hh->h"),
        ("divide", "dd->d"),
        ("add", "DD->D"),
    ],
)
def test_signatures(xp, name, signature):
    a, b = np.array([1, -2, 3], np.int16), np.array([2, 5, 3], np.int8)
    if name == "less" and signature == "ff->?":
        a = a.astype(np.float64)
    got, expected = getattr(xp, name)(xp.array(a), xp.array(b), signature=signature), getattr(np, name)(a, b, signature=signature)
    assert got.dtype == expected.dtype
    np.testing.assert_array_equal(got.get(), expected)
    assert getattr(xp, name)(xp.array(a), 2, sig=signature).dtype == getattr(np, name)(a, 2, sig=signature).dtype


@pytest.mark.parametrize(
    "signature, error",
    [
        ("ll->l", TypeError),
        ("d", TypeError),
        ("dd->f", TypeError),
        ("dd", ValueError),
        ("d->d", ValueError),
        (("d", "d"), ValueError),
        (3, TypeError),
    ],
)
def test_signature_errors(xp, signature, error):
    x = np.array([1.5, 2.5])
    for module, a in ((np, x), (xp, xp.array(x))):
        with pytest.raises(error):
            module.add(a, a, signature=signature)
    with pytest.raises(TypeError, match="both"):
        xp.add(x, x, signature="dd->d", dtype="d")


def test_signatures_of_one_operand_and_of_pairs(xp):
    x = np.array([1, 2, 4], np.int8)
    assert xp.sqrt(xp.array(x), signature="d->d").dtype == np.sqrt(x, signature="d->d").dtype == np.float64
    for got, expected in zip(xp.divmod(xp.array(x), 3, signature="ll->ll"), np.divmod(x, 3, signature="ll->ll")):
        assert got.dtype == expected.dtype
        np.testing.assert_array_equal(got.get(), expected)


@pytest.mark.parametrize("op", ["equal", "not_equal", "less", "less_equal", "greater", "greater_equal"])
def test_signed_integers_compare_exactly_with_uint64(xp, op):
    signed = np.array([2**53 + 1, -1, -(2**63), 2**63 - 1, 0, 7])
    unsigned = np.array([2**53, 2**64 - 1, 2**63, 2**63, 0, 7], np.uint64)
    f, g = getattr(np, op), getattr(xp, op)
    for x, y in ((signed, unsigned), (unsigned, signed), (signed[3:4].astype(np.int8), unsigned), (signed[1], unsigned)):
        assert_same(g(xp.array(x), xp.array(y)), f(x, y))
    out, where = xp.zeros(6, bool), np.array([True, False] * 3)
    expected = f(signed, unsigned, out=np.zeros(6, bool), where=where)
    assert_same(g(xp.array(signed), xp.array(unsigned), out=out, where=xp.array(where)), expected)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_cubes_and_fourth_powers(xp, dtype):
    values = np.concatenate([base_values(dtype).ravel(), np.array([1e-20, -3e-13, 1e12, -7.3], dtype)])
    x = xp.array(values)
    with np.errstate(all="ignore"):
        for power in (3, 4, 3.0):
            want = wide(values) ** power
            assert_ulp(x**power, want, 2, dtype)
            y = xp.array(values)
            y **= power
            assert_same(y, (x**power).get())
    assert (xp.array([2.0]) ** 10**30).get()[0] == np.inf


@pytest.mark.parametrize("dtype", ["?", "i1", "u1", "i8", "f2", "f4", "c8"])
def test_angles_of_every_kind(xp, dtype):
    x = np.array([1, 0, -2]).astype(dtype)
    for degrees in (False, True):
        expected, got = np.angle(x, degrees), xp.angle(xp.asarray(x), degrees)
        assert got.dtype == expected.dtype
        np.testing.assert_allclose(np.asarray(got), expected, rtol=2e-3 if dtype == "f2" or expected.dtype == np.float16 else 1e-6)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_special_powers(xp, dtype):
    """Signs, zeros, infinities and NaN of x ** y, where numbers past which all are even begin, and the ends of the range."""
    digits = np.finfo(dtype).nmant
    ends = [np.finfo(dtype).max, np.finfo(dtype).tiny, np.finfo(dtype).smallest_subnormal, np.spacing(np.array(1, dtype)) + 1]
    values = [0.0, 1.0, 2.0, 0.5, 3.0, 2.5, np.inf, 2.0**digits + 1, 2.0 ** (digits + 1) - 1, 2.0 ** (digits + 1), *ends]
    v = np.array([*values, *(-np.array(values)), np.nan], dtype)
    x, y = (a.copy() for a in np.meshgrid(v, v))
    with np.errstate(all="ignore"):
        want = np.power(x, y)
    got = host(xp.power(xp.asarray(x), xp.asarray(y)))
    special = ~np.isfinite(want) | (want == 0) | (np.abs(want) == 1)
    assert_same(got[special], want[special])
    np.testing.assert_allclose(got[~special], want[~special], rtol=4 * np.finfo(dtype).eps, atol=4 * np.finfo(dtype).smallest_subnormal)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_results_that_are_whole_numbers_are_exact(xp, dtype):
    """What a program prints or casts to integers: 2.0**11 is 2048 on every device, and not the number before it."""
    limit = 2 ** (np.finfo(dtype).nmant + 1)
    pairs = [(b, e) for b in range(2, 200) for e in range(1, 53) if b**e <= limit]
    bases, exponents = (np.array(column, dtype) for column in zip(*pairs))
    powers = np.array([float(b**e) for b, e in pairs], dtype)
    np.testing.assert_array_equal(host(xp.power(xp.asarray(bases), xp.asarray(exponents))), powers)
    two = np.arange(np.finfo(dtype).minexp, np.finfo(dtype).maxexp)
    powers_of_two = np.ldexp(np.ones(len(two), dtype), two)
    np.testing.assert_array_equal(host(xp.power(xp.asarray(2, dtype=dtype), xp.asarray(two.astype(dtype)))), powers_of_two)
    np.testing.assert_array_equal(host(xp.exp2(xp.asarray(two.astype(dtype)))), powers_of_two)
    np.testing.assert_array_equal(host(xp.log2(xp.asarray(powers_of_two))), two.astype(dtype))
    whole = np.arange(1, 200, dtype=dtype)
    np.testing.assert_array_equal(host(xp.cbrt(xp.asarray(whole**3))), whole)
    np.testing.assert_array_equal(host(xp.hypot(xp.asarray(3 * whole), xp.asarray(4 * whole))), 5 * whole)
    tens = np.arange(23 if dtype == "float64" else 11)
    np.testing.assert_array_equal(host(xp.log10(xp.asarray(np.array([10.0**int(n) for n in tens], dtype)))), tens.astype(dtype))


@pytest.mark.parametrize("name", ["log", "log2", "log10", "cbrt"])
def test_every_half(xp, name):
    n = np.arange(65536, dtype="uint16").view("float16")
    with np.errstate(all="ignore"):
        exact = getattr(np, name)(n.astype("float64"))
    got = host(getattr(xp, name)(xp.asarray(n)))
    assert got.dtype == np.float16
    assert_ulp(got, exact, 1, "float16", name)


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_complex_powers_of_special_values(xp, dtype):
    parts = [0.0, -0.0, 1.0, -2.0, np.inf, -np.inf, np.nan]
    n = np.array([complex(p, q) for p in parts for q in parts], dtype)
    with np.errstate(all="ignore"):
        want = n[:, None] ** n
    got = (xp.asarray(n)[:, None] ** xp.asarray(n)).get()
    # The C library's own float power of 1j is off by 1e-6 in the part that is 0, so parts are compared at the value's size.
    size = np.where(np.isfinite(want), np.abs(want), 1)
    for ours, theirs in ((got.real, want.real), (got.imag, want.imag)):
        with np.errstate(all="ignore"):
            same = (ours == theirs) | (np.isnan(ours) & np.isnan(theirs)) | (np.abs(ours - theirs) <= size * np.finfo(dtype).eps * 64)
        assert same.all(), [(n[i], n[j], got[i, j], want[i, j]) for i, j in np.argwhere(~same)[:4]]


def whole_power(z: complex, n: int) -> tuple[float, float]:
    """The parts of z^n, from whole numbers and rounded once; infinities beyond the range."""
    scale = 1 << 1074
    re, im = (int(Fraction(part) * scale) for part in (z.real, z.imag))
    p, q = 1, 0
    for _ in range(abs(n)):
        p, q = p * re - q * im, p * im + q * re
    below = Fraction(scale) ** n if n > 0 else Fraction(p * p + q * q) / scale**-n
    parts = (p, q) if n > 0 else (p, -q)
    rounded = [float(x / below) if abs(x) / below <= sys.float_info.max else math.inf if x > 0 else -math.inf for x in parts]
    return rounded[0], rounded[1]


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
@pytest.mark.parametrize("exponent", [-5, -3, -2, -1, 2, 3, 4, 7])
def test_whole_complex_powers_whose_products_leave_the_range(xp, dtype, exponent):
    real = np.finfo(dtype).dtype
    top = np.log10(float(np.finfo(dtype).max))
    sizes = 10.0 ** (np.linspace(-1, 1, 41) * (top - 0.1))
    near = 10.0 ** (np.array([-top, top]) / exponent * 0.999)  # the result is as large or small as can be
    n = (np.concatenate([sizes, near])[:, None] * np.exp(1j * np.array([0.1, 0.7, 1.5, 2.4, -0.3, -3.0]))).astype(dtype)
    with np.errstate(all="ignore"):
        want = np.power(n, exponent)
    got = host(xp.power(xp.asarray(n), exponent))
    assert got.dtype == n.dtype
    for z, ours, theirs in zip(n.ravel(), got.ravel(), want.ravel()):
        with np.errstate(all="ignore"):
            exact = np.array(whole_power(complex(z), exponent)).astype(real)
        size = np.hypot(*exact)
        if np.isfinite(size):
            error = np.abs(np.array([ours.real, ours.imag]) - exact)
            assert (error <= 64 * np.finfo(dtype).eps * size + 2 * np.finfo(dtype).smallest_subnormal).all(), (z, ours, exact)
        elif dtype == "complex128":
            assert not np.isfinite(theirs) or np.isfinite(ours), (z, ours, theirs)


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_real_complex_powers_at_the_ends_of_the_range(xp, dtype):
    info = np.finfo(dtype)
    large, small, two = float(info.max), float(info.smallest_subnormal), 2.0**60
    # The length of the first overflows; those of the others have few places or none.
    ends = np.array([complex(large, large), complex(-large, large / 2), complex(small, small), complex(3 * small, -small)], dtype)
    scale = np.array([two**-2, two**-2, two**2, two**2])
    inside = (ends.astype("complex128") * scale).astype("complex128")
    for exponent in (0.5, -0.5, 0.25, -0.75):
        want = np.power(inside, exponent) * scale**-exponent
        got = host(xp.power(xp.asarray(ends), exponent))
        np.testing.assert_allclose(got, want, rtol=max(1e-12, 64 * info.eps))  # NumPy's own power is off by the logarithm's size


@pytest.mark.parametrize("exponent", ["2.7", "2.0", "1j", "float('nan')", "2", "True", "-3", "10**9", "xp.array([1.5, 2.0])"])
def test_exponents_of_ldexp_are_whole(xp, exponent):
    for dtype in ("float16", "float32", "float64", "int8", "bool"):
        assert_like_numpy(xp, f"xp.ldexp(xp.array([1, 0], '{dtype}'), {exponent})")


def test_a_complex_power_past_the_range_keeps_the_part_that_is_inside(xp):
    n = np.array([1e200 + 0j, 1e200 - 0j, 1e-200 + 0j, complex(6.82e226, 0)])
    e = np.array([100.5, 107.0, -105.0, 1.46])
    with np.errstate(all="ignore"):
        want = np.power(n, e)
    got = host(xp.power(xp.asarray(n), xp.asarray(e)))
    assert_same(got.real, want.real)
    assert_same(got.imag, want.imag)
    z = 0.0008042929492701 - 0.0009336538818008608j  # |z|^-106 overflows, its imaginary part does not
    got = complex(xp.power(xp.asarray([z]), -106)[0])
    assert got.real == -np.inf and abs(got.imag / -5.178688793510456e306 - 1) < 1e-11
    for z, exponent in [(-4.513847074138048e174 + 2.890455262186454e-29j, 2), (3.6e300 - 0j, 2), (-3e172j, 2), (1e120 + 1j, 3)]:
        with np.errstate(all="ignore"):
            want = np.power(z, exponent)
        got = host(xp.power(xp.asarray([z]), exponent))[0]
        np.testing.assert_allclose([got.real, got.imag], [want.real, want.imag], rtol=1e-15)


@pytest.mark.parametrize("op", ["greater", "less", "equal", "not_equal", "greater_equal", "less_equal"])
@pytest.mark.parametrize("number", ["40000", "-40000", "10**30", "-10**30", "2.0**40"])
def test_comparison_with_a_number_out_of_range(xp, op, number):
    assert_like_numpy(xp, f"xp.{op}(xp.array([1, -2, 3], 'int16'), {number})")
    assert_like_numpy(xp, f"xp.{op}({number}, xp.array([1, -2, 3], 'int16'))")
    # NumPy 2.4 itself crashes with out= and where= here.
    a, old, mask = xp.array([1, -2, 3], "int16"), [True, False, True], [True, True, False]
    for operands in ((a, eval(number)), (eval(number), a)):
        want = getattr(np, op)(*(o.get().astype(float) if o is a else float(o) for o in operands))
        b = xp.array(old)
        assert getattr(xp, op)(*operands, out=b, where=xp.array(mask)) is b
        assert_same(b, np.where(mask, want, old))


@pytest.mark.parametrize("op", ["logical_and", "logical_or", "logical_xor"])
@pytest.mark.parametrize("dtype", ["bool", "uint8", "int64", "float16", "float32", "complex64"])
@pytest.mark.parametrize("number", ["-1", "300", "1e-320", "0.0", "float('nan')", "1j", "True"])
def test_logical_ops_take_the_truth_of_numbers(xp, op, dtype, number):
    assert_like_numpy(xp, f"xp.{op}(xp.array([0, 1, 2], {dtype!r}), {number})")
    assert_like_numpy(xp, f"xp.{op}({number}, xp.array([0, 1, 2], {dtype!r}))")


@pytest.mark.parametrize(
    "code",
    [
        "xp.absolute(xp.array([3 + 4j], 'c8'), dtype='f4')",
        "xp.absolute(xp.array([3 + 4j], 'c8'), dtype='f8')",
        "xp.absolute(xp.array([3 + 4j], 'c16'), dtype='f4')",
        "xp.absolute(xp.array([3 + 4j], 'c8'), dtype='f2')",
        "xp.absolute(xp.array([3 + 4j], 'c8'), dtype='i4')",
        "xp.absolute(xp.array([3 + 4j], 'c8'), dtype='c8')",
        "xp.absolute(xp.array([3.0], 'f4'), dtype='c8')",
        "xp.absolute(xp.array([-3], 'i4'), dtype='f4', casting='unsafe')",
        "xp.greater(xp.array([1, 2]), 1, dtype='i4')",
        "xp.greater(xp.array([1, 2]), 1, dtype=bool)",
        "xp.isnan(xp.array([1.0]), dtype='f4')",
        "xp.zeros(0, int) ** -3",
        "xp.arange(3) ** -3",
        "xp.power(xp.zeros((2, 0), int), -1)",
        "xp.array([True, False]) ** 2",
        "xp.array([True, False]) ** 0",
        "xp.array([True, False]) ** 2.0",
        "xp.array([True, False]) ** xp.array([2, 2])",
        "xp.add.outer(xp.ones(2, 'i1'), 300)",
        "xp.subtract.outer(1.5, xp.ones(2, 'f4'))",
        "xp.less.outer(xp.ones(2, 'u1'), -1)",
        "xp.multiply.outer(xp.ones(2, 'f4'), True)",
        "xp.arange(3, dtype='u1') + 300",
        "xp.arange(3, dtype='f4') + 10**30",
        "xp.arange(3) + 10**30",
        "xp.divide(xp.arange(3), 10**30)",
        "xp.where(xp.array([True, False]), xp.array([1, 2], 'f4'), 10**30)",
    ],
)
def test_numbers_and_dtypes_of_ufuncs(xp, code):
    assert_like_numpy(xp, code)


@pytest.mark.parametrize("name", ["hypot", "logaddexp", "logaddexp2"])
def test_long_scans_join_blocks_as_those_of_sums_do(name):
    """On the CPU a line longer than 65,536 elements is scanned in blocks of that size, whose totals are joined first: of all the rows that
    CUDA scans in blocks, so that the same rows are associative on both."""
    f = getattr(bc, name)
    block = 1 << 16
    x = bc.asarray(np.random.default_rng(3).random(3 * block), dtype="float32", device="cpu")
    first, second = (f.accumulate(part)[-1:] for part in (x[:block], x[block : 2 * block]))
    start = f(first, second)
    expected = f.accumulate(bc.concatenate([start, x[2 * block :]]))[1:]
    whole = f.accumulate(x)
    np.testing.assert_array_equal(whole[2 * block :].get(), expected.get())
    exact = getattr(np, name).accumulate(x.get().astype("float64"))
    np.testing.assert_allclose(whole.get(), exact, rtol=2e-4)


@pytest.mark.parametrize("dtype", ["bool", "uint8", "int32", "float32"])
@pytest.mark.parametrize("name", ["less", "equal", "logical_and", "logical_xor", "maximum", "logical_not", "isnan"])
def test_at_of_ufuncs_that_give_booleans(xp, name, dtype):
    b = "" if name in ("logical_not", "isnan") else f", xp.array([0, 2, 1], {dtype!r})"
    assert_like_numpy(xp, f"a = xp.array([1, 2, 0, 3], {dtype!r}); xp.{name}.at(a, [0, 1, 1]{b}); a")
    one = b and f", xp.array(1, {dtype!r})"
    assert_like_numpy(xp, f"a = xp.array([1, 2, 0, 3], {dtype!r}); xp.{name}.at(a, a > 1{one}); a")


@pytest.mark.parametrize("target, operand", [("m8[s]", "m8[ms]"), ("m8[ms]", "m8[s]"), ("M8[s]", "m8[s]"), ("M8[D]", "m8[s]")])
def test_at_of_times_of_mixed_units(xp, target, operand):
    for name in ("add", "subtract"):
        assert_like_numpy(
            xp, f"a = xp.array([1, 2, 0, 3]).astype({target!r}); xp.{name}.at(a, [0, 1, 1], xp.array([1, 2000, 3]).astype({operand!r})); a"
        )


@pytest.mark.parametrize("name", ["matmul", "vecdot", "matvec", "vecmat"])
def test_products_are_ufuncs_with_signatures(xp, name):
    ours, theirs = getattr(bc, name), getattr(np, name)
    assert isinstance(ours, bc.ufunc) and ours == theirs and {theirs: 1}[ours] == 1
    for attribute in ("__name__", "nin", "nout", "nargs", "signature", "identity"):
        assert getattr(ours, attribute) == getattr(theirs, attribute)
    assert pickle.loads(pickle.dumps(getattr(bc, name))) is getattr(bc, name)
    a = np.array([[1.5, 2.0], [3.0, 4.0]])
    for method, arguments in (("reduce", (a,)), ("accumulate", (a,)), ("reduceat", (a, [0])), ("outer", (a, a)), ("at", (a, [0], a))):
        with pytest.raises((RuntimeError, TypeError)) as wanted:
            getattr(theirs, method)(*arguments)
        with pytest.raises(wanted.type):
            getattr(ours, method)(*(xp.asarray(x) if isinstance(x, np.ndarray) else x for x in arguments))
    made = ours(xp.asarray(a), xp.asarray(a), signature="ff->f", casting="same_kind")
    assert made.dtype == np.float32
    np.testing.assert_array_equal(bc.asnumpy(made), theirs(a, a, signature="ff->f", casting="same_kind"))
    with pytest.raises(TypeError, match="positional arguments"):
        ours(xp.asarray(a))


class Quantity:
    """A class that computes ufuncs in its own way."""

    def __init__(self, value):
        self.value = value

    def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
        plain = [getattr(x, "value", x) for x in inputs]
        return "quantity", ufunc.__name__, method, getattr(ufunc, method)(*plain, **kwargs)


def test_operands_with_ufuncs_of_their_own_are_asked(xp):
    a = xp.arange(3.0)
    for made in (xp.add(a, Quantity(1.0)), xp.add(Quantity(1.0), a), np.add(a, Quantity(1.0)), xp.add(a, Quantity(1.0), dtype="f8")):
        kind, name, method, value = made
        assert (kind, name, method) == ("quantity", "add", "__call__")
        assert bc.asnumpy(value).tolist() == [1.0, 2.0, 3.0]
    assert xp.sin(Quantity(0.0))[:2] == ("quantity", "sin")
    # Masked arrays and matrices leave ufuncs to NumPy: they are read as arrays.
    assert isinstance(xp.add(a, np.ma.array([1.0, 2.0, 3.0])), bc.ndarray)


def test_magnitudes_of_single_complex_numbers_of_every_size(xp, mode):
    rng = np.random.default_rng(8)
    special = np.array([0, -0.0, np.inf, -np.inf, np.nan, 1, 3, 4, 1e-45, 1e-40, 1e-38, 2.0**-50, 2.0**62, 2.4e38, 3.4e38], "f4")
    parts = np.concatenate([special, (2.0 ** rng.uniform(-149, 127.4, 3000) * rng.choice([-1, 1], 3000)).astype("f4")])
    near = (parts.astype(float) * rng.uniform(0.5, 2, parts.size)).clip(-3e38, 3e38).astype("f4")
    pairs = [np.array(np.meshgrid(special, special)).reshape(2, -1), np.array([parts, near]), np.array([parts, rng.permutation(parts)])]
    re, im = np.concatenate(pairs, axis=1).astype("f4")
    z = np.empty(re.size, "c8")
    z.real, z.imag = re, im
    with np.errstate(all="ignore"):
        exact = np.hypot(re.astype(float), im.astype(float))
        wanted = exact.astype("f4")
        got = host(abs(xp.asarray(z)))
        assert got.dtype == wanted.dtype
        np.testing.assert_array_equal(np.isnan(got), np.isnan(wanted))
        assert (np.isinf(got) == np.isinf(wanted))[np.isinf(re) | np.isinf(im) | (exact < 3.4e38)].all()
        finite = np.isfinite(got) & np.isfinite(wanted)
        assert (np.abs(got[finite].astype(float) - exact[finite]) <= np.spacing(wanted[finite]).astype(float)).all()
