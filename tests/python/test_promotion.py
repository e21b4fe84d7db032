"""NEP 50: the type of every result, for all pairs of types and for Python scalars."""

from __future__ import annotations

import numpy as np
import pytest

from support import DTYPES, assert_same

SCALARS = [True, 3, 2.5, 1j]
NAMES = [
    "add",
    "multiply",
    "divide",
    "floor_divide",
    "power",
    "maximum",
    "less",
    "logical_and",
    "bitwise_or",
    "hypot",
    "arctan2",
    "copysign",
    "left_shift",
]


def kind(function, *args):
    """The result's type, or the exception's."""
    try:
        with np.errstate(all="ignore"):
            return np.dtype(function(*args).dtype)
    except (TypeError, OverflowError) as error:
        return type(error).__mro__[-3] if not isinstance(error, OverflowError) else OverflowError


@pytest.mark.parametrize("name", NAMES)
def test_types_of_binary_results_match_numpy(xp, name):
    # A power of integers looks at its exponents, so fewer types are enough there.
    dtypes = DTYPES if name != "power" else ["bool", "int8", "uint8", "int64", "float32", "complex64"]
    for a in dtypes:
        for b in dtypes:
            n, m = np.ones(2, a), np.ones(2, b)
            want = kind(getattr(np, name), n, m)
            got = kind(getattr(xp, name), xp.ones(2, a), xp.ones(2, b))
            assert got == want or (isinstance(got, type) and isinstance(want, type)), f"{name}({a}, {b}): {got}, NumPy's is {want}"


@pytest.mark.parametrize("name", NAMES)
def test_types_with_python_scalars_match_numpy(xp, name):
    for a in DTYPES:
        for s in SCALARS:
            for order in (0, 1):
                n = (np.ones(2, a), s) if order == 0 else (s, np.ones(2, a))
                x = (xp.ones(2, a), s) if order == 0 else (s, xp.ones(2, a))
                got, want = kind(getattr(xp, name), *x), kind(getattr(np, name), *n)
                assert got == want or (isinstance(got, type) and isinstance(want, type)), f"{name}({a}, {s!r}): {got}, NumPy's is {want}"


def test_types_of_unary_results_match_numpy(xp):
    for name in (
        "negative",
        "sqrt",
        "sin",
        "exp",
        "absolute",
        "floor",
        "rint",
        "reciprocal",
        "square",
        "isnan",
        "logical_not",
        "invert",
        "sign",
        "conjugate",
    ):
        for a in DTYPES:
            got, want = kind(getattr(xp, name), xp.ones(2, a)), kind(getattr(np, name), np.ones(2, a))
            assert got == want or (isinstance(got, type) and isinstance(want, type)), f"{name}({a}): {got}, NumPy's is {want}"


def test_numpy_scalars_and_zero_dimensional_arrays_are_strong(xp):
    assert (xp.ones(2, xp.float32) * np.float64(2)).dtype == np.float64
    assert (xp.ones(2, xp.float32) * xp.array(2.0)).dtype == np.float64
    assert (xp.ones(2, xp.int8) + np.int64(1)).dtype == np.int64
    assert (np.float64(2) * xp.ones(2, xp.float32)).dtype == np.float64
    assert (xp.ones(2, xp.float32) * 2.0).dtype == np.float32


def test_promote_types_and_can_cast_match_numpy(xp):
    for a in DTYPES:
        for b in DTYPES:
            assert xp.promote_types(a, b) == np.promote_types(a, b), (a, b)
            for casting in ("no", "equiv", "safe", "same_kind", "unsafe"):
                assert xp.can_cast(a, b, casting) == np.can_cast(a, b, casting), (a, b, casting)
            assert xp.result_type(a, b) == np.result_type(a, b)


def test_result_type_takes_arrays_and_scalars(xp):
    for a in DTYPES:
        for s in SCALARS:
            assert xp.result_type(xp.ones(2, a), s) == np.result_type(np.ones(2, a), s), (a, s)
    assert xp.result_type(1, 2.0) == np.float64
    for types in (
        ("int16", "uint16", "float32"),
        ("uint16", "complex64", "int16"),
        ("int8", "float16", "uint8"),
        ("float32", "int8", "int64"),
    ):
        assert xp.result_type(*types) == np.result_type(*types), types
        joined = xp.concatenate([xp.ones(1, t) for t in types])
        assert joined.dtype == np.concatenate([np.ones(1, t) for t in types]).dtype
    assert xp.positive(2**63).dtype == np.uint64 and int(xp.bitwise_count(2**63)) == 1


def test_bfloat16_promotes_as_a_half_type(xp):
    b = xp.ones(2, xp.bfloat16)
    assert b.dtype == xp.bfloat16 and (b + 1).dtype == xp.bfloat16 and (b * 2.5).dtype == xp.bfloat16
    assert (b + xp.ones(2, xp.float16)).dtype == np.float32
    assert (b + xp.ones(2, xp.float32)).dtype == np.float32 and (b + xp.ones(2, xp.float64)).dtype == np.float64
    assert xp.promote_types(xp.bfloat16, xp.bfloat16) == xp.bfloat16
    assert (b < 2).dtype == np.bool_ and b.sum().dtype == xp.bfloat16


@pytest.mark.parametrize("a", DTYPES)
def test_casts_match_numpy(xp, a):
    values = [0, 1, 2, 100, 127]
    if np.dtype(a).kind in "ifc":
        values += [-1, -7, -128]
    if np.dtype(a).kind in "fc":
        values += [0.5, 1.75, -2.5]
    n = np.array(values).astype(a)
    x = xp.asarray(n)
    for b in DTYPES:
        m = n
        if np.dtype(b).kind == "u" and np.dtype(a).kind in "fc":
            m = n[n.real >= 0]  # a negative float to an unsigned integer is undefined in C
        with np.errstate(all="ignore"):
            import warnings

            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                want = m.astype(b)
        assert_same((x if m is n else xp.asarray(m)).astype(b), want, f"{a} to {b}")


def test_casting_rules_are_checked(xp):
    with pytest.raises(TypeError, match="safe"):
        xp.ones(2).astype(xp.int32, casting="safe")
    with pytest.raises(TypeError):
        xp.ones(2, complex).astype(float, casting="same_kind")
    x = xp.ones(2)
    assert x.astype(float, copy=False) is x and x.astype(float) is not x


def test_python_integers_that_do_not_fit_are_an_overflow(xp):
    for dtype, value in (("int8", 128), ("uint8", -1), ("uint8", 256), ("int32", 1 << 31)):
        with pytest.raises(OverflowError):
            np.ones(2, dtype) + value
        with pytest.raises(OverflowError):
            xp.ones(2, dtype) + value
    # Comparisons know the answer instead.
    assert_same(xp.ones(2, xp.uint8) < 300, np.ones(2, np.uint8) < 300)
    assert_same(xp.ones(2, xp.uint8) == -1, np.ones(2, np.uint8) == -1)


def test_reductions_types_match_numpy(xp):
    for a in DTYPES:
        for name in ("sum", "prod", "mean", "std", "var", "max", "any", "argmax", "cumsum", "cumprod", "count_nonzero"):
            with np.errstate(all="ignore"):
                want = np.asarray(getattr(np, name)(np.ones(3, a))).dtype
            assert getattr(xp, name)(xp.ones(3, a)).dtype == want, f"{name}({a})"
