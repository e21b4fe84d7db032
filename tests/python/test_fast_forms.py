"""Kernels with several quotients, roots and logarithms: on CUDA they run forms without branches, and again where those do not hold."""

from __future__ import annotations

import numpy as np
import pytest

import broadcloth as bc
from support import configured


@pytest.fixture(autouse=True)
def _fused():
    with configured(lazy=True, jit=True, background_compile=False):
        yield


def all_magnitudes(n: int, seed: int) -> np.ndarray:
    """Random bit patterns: every exponent, denormals, infinities, NaN, and zeros among them."""
    bits = np.random.default_rng(seed).integers(0, 1 << 32, n, dtype=np.uint32)
    values = bits.view(np.float32).copy()
    values[::997] = 0.0
    values[5::1009] = np.inf
    return values


def ordinary(n: int, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return (rng.standard_normal(n) * np.exp(rng.uniform(-20, 20, n))).astype(np.float32)


def results(xp, x, y):
    """One kernel: two quotients, a reciprocal, a root, a logarithm."""
    out = x / y, 1.0 / y, xp.sqrt(x), xp.log(y), 3.0 / x
    if xp is bc:
        bc.flush()
        return [o.get() for o in out]
    return list(out)


def check(x: np.ndarray, y: np.ndarray, ours: list[np.ndarray]) -> None:
    with np.errstate(all="ignore"):
        quotient, reciprocal, root, _, scalar = results(np, x, y)
        exact = np.log(y.astype(np.float64))
    for got, expected in zip((ours[0], ours[1], ours[2], ours[4]), (quotient, reciprocal, root, scalar)):
        np.testing.assert_array_equal(got, expected)
        np.testing.assert_array_equal(np.signbit(got[got == 0]), np.signbit(expected[got == 0]))
    finite = np.isfinite(exact)
    np.testing.assert_array_equal(ours[3][~finite], exact[~finite].astype(np.float32))
    ulp = np.spacing(np.abs(exact[finite]).astype(np.float32)).astype(np.float64)
    assert (np.abs(ours[3][finite] - exact[finite]) < 2.0 * ulp).all()


@pytest.mark.parametrize("values", [all_magnitudes, ordinary])
@pytest.mark.parametrize("n", [1, 3, 4, 1001, 1 << 20])
def test_quotients_and_roots_are_correctly_rounded_and_logarithms_within_two_ulp(xp, n, values):
    x, y = values(n, 1), values(n, 2)
    check(x, y, results(bc, bc.asarray(x), bc.asarray(y)))


def test_strided_and_two_dimensional_operands(xp):
    x, y = all_magnitudes(120_000, 3).reshape(300, 400), all_magnitudes(120_000, 4).reshape(400, 300)
    check(x, np.ascontiguousarray(y.T), results(bc, bc.asarray(x), bc.asarray(y).T))
    check(x[::2, 1::3].copy(), x[1::2, ::3][:, :133].copy(), results(bc, bc.asarray(x)[::2, 1::3], bc.asarray(x)[1::2, ::3][:, :133]))


def test_an_update_in_place_is_done_again_from_its_old_values(xp):
    x, y = all_magnitudes(10_001, 5), all_magnitudes(10_001, 6)
    a, b = bc.asarray(x), bc.asarray(y)
    bc.synchronize()
    a /= b
    a /= 3.0
    a *= bc.sqrt(b)
    with np.errstate(all="ignore"):
        expected = x / y / np.float32(3) * np.sqrt(y)
    np.testing.assert_array_equal(a.get(), expected)


def test_a_fused_logarithm_has_the_bits_of_one_alone(xp):
    x, y = all_magnitudes(50_000, 7), ordinary(50_000, 8)
    a, b = bc.asarray(x), bc.asarray(y)
    alone = bc.log(b).get()
    np.testing.assert_array_equal(results(bc, a, b)[3], alone)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_sixteen_bit_floats_run_in_float(xp, dtype):
    every = np.arange(1 << 16, dtype=np.uint16)
    kind = np.float16 if dtype == "float16" else bc.bfloat16
    a = bc.asarray(every.view(np.float16)) if dtype == "float16" else bc.asarray(every.astype(np.uint32) << 16).view("float32").astype(kind)
    wide = a.astype("float32").get()
    b = bc.roll(a, 12345)
    other = np.roll(wide, 12345)
    out = [a / b, 1.0 / b, bc.sqrt(a), bc.log(b)]
    assert all(o.dtype == a.dtype for o in out)
    with np.errstate(all="ignore"):
        expected = [wide / other, 1.0 / other, np.sqrt(wide)]
        for got, want in zip(out, expected):
            rounded = bc.asarray(want.astype(np.float32)).astype(kind).astype("float32").get()
            np.testing.assert_array_equal(got.astype("float32").get(), rounded)


@pytest.mark.parametrize("exponent", [-125, 0, 125])
def test_the_reciprocal_of_every_significand_is_correctly_rounded(xp, exponent):
    bits = (np.uint32(exponent + 127) << np.uint32(23)) | np.arange(1 << 23, dtype=np.uint32)
    y = bits.view(np.float32)
    b = bc.asarray(y)
    out = [1.0 / b, 1 / (-b), bc.sqrt(b), bc.log(b)]
    bc.flush()
    np.testing.assert_array_equal(out[0].get(), np.float32(1) / y)
    np.testing.assert_array_equal(out[1].get(), np.float32(-1) / y)


def test_one_over_x_is_the_reciprocal_with_the_quotient_s_dtype(xp):
    for dtype in ("float16", "float32", "float64", "complex64", "int32", "bool"):
        x = np.array([1, 0, 3], dtype)
        with np.errstate(all="ignore"):
            expected = 1 / x if dtype != "bool" else np.true_divide(1.0, x)
            got = 1 / bc.asarray(x) if dtype != "bool" else 1.0 / bc.asarray(x)
        assert got.dtype == expected.dtype
        if dtype != "complex64":
            np.testing.assert_array_equal(got.get(), expected)
    with pytest.raises(OverflowError):
        10**400 / bc.asarray(np.ones(3))


def test_a_quotient_for_its_logarithm_alone(xp):
    """The logarithm's own check stands in for the quotient's, wherever the quotient leaves the normal range."""
    x, y = all_magnitudes(200_000, 11), all_magnitudes(200_000, 12)
    a, b = bc.asarray(x), bc.asarray(y)
    with np.errstate(all="ignore"):
        quotient = x / y
        expected = np.log(quotient.astype(np.float64))
        out = [bc.log(a / b), bc.sqrt(a), bc.sqrt(b)]
        bc.flush()
        got = out[0].get()
    finite = np.isfinite(expected)
    np.testing.assert_array_equal(got[~finite], expected[~finite].astype(np.float32))
    ulp = np.spacing(np.abs(expected[finite]).astype(np.float32)).astype(np.float64)
    assert (np.abs(got[finite] - expected[finite]) < 2.0 * ulp).all()


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"])
def test_integers_are_divided_exactly(xp, dtype):
    """They go through floating-point numbers where those hold them; zeros and large numbers are done again."""
    rng = np.random.default_rng(3)
    info = np.iinfo(dtype)
    wide = rng.integers(info.min, info.max, 6000, dtype=dtype, endpoint=True)
    small = wide >> (info.bits // 2) if info.bits > 8 else wide // 9
    edge = np.array([info.min, info.min + 1, info.max, info.max - 1, 0, 1, 2, 3, 7, 10], dtype)
    if info.bits == 64:
        border = np.array([2**51 - 1, 2**51, 2**51 + 1, 2**52, 2**53 + 1], dtype)
        edge = np.concatenate([edge, border] + ([-border] if info.min else []))
    pairs = [(wide, small), (small, small[::-1].copy()), (np.repeat(edge, len(edge)), np.tile(edge, len(edge)))]
    scalars = [7, 1, 10, 127] + ([-3, -1] if info.min else [])
    with np.errstate(all="ignore"):
        for a, b in pairs:
            x, y = xp.array(a), xp.array(b)
            np.testing.assert_array_equal((x // y).get(), a // b)
            np.testing.assert_array_equal((x % y).get(), a % b)
            quotient, rest = xp.divmod(x, y)
            np.testing.assert_array_equal(quotient.get(), a // b)
            np.testing.assert_array_equal(rest.get(), a % b)
            for s in scalars:
                np.testing.assert_array_equal((x // s).get(), a // s)
                np.testing.assert_array_equal((x % s).get(), a % s)
                np.testing.assert_array_equal((x % s).sum().get(), (a % s).sum())
