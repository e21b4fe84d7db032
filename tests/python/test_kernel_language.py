"""The breadth of the kernel language: libdevice, halves, cmath and math, print, warps, atomics, constants."""

from __future__ import annotations

import cmath
import math
import os
import subprocess
import sys
from fractions import Fraction

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import broadcloth as bc
from broadcloth import cuda

ld = cuda.libdevice


def unary(functions):
    """A kernel that applies eight functions of one argument."""
    f0, f1, f2, f3, f4, f5, f6, f7 = functions

    @cuda.jit
    def kernel(x, out):
        i = cuda.grid(1)
        if i < x.size:
            v = x[i]
            out[0, i], out[1, i], out[2, i], out[3, i] = f0(v), f1(v), f2(v), f3(v)
            out[4, i], out[5, i], out[6, i], out[7, i] = f4(v), f5(v), f6(v), f7(v)

    return kernel


def binary(functions):
    f0, f1, f2, f3, f4, f5, f6, f7 = functions

    @cuda.jit
    def kernel(x, y, out):
        i = cuda.grid(1)
        if i < x.size:
            v, w = x[i], y[i]
            out[0, i], out[1, i], out[2, i], out[3, i] = f0(v, w), f1(v, w), f2(v, w), f3(v, w)
            out[4, i], out[5, i], out[6, i], out[7, i] = f4(v, w), f5(v, w), f6(v, w), f7(v, w)

    return kernel


def by_eight(names):
    names = list(names)
    for k in range(0, len(names), 8):
        part = names[k : k + 8]
        yield part + [names[0]] * (8 - len(part))


def special(name):
    from scipy import special

    return getattr(special, name)


REFERENCE = {
    "acos": np.arccos, "asin": np.arcsin, "asinh": np.arcsinh, "atan": np.arctan, "atanh": np.arctanh, "cbrt": np.cbrt, "ceil": np.ceil,
    "cos": np.cos, "cosh": np.cosh, "cospi": lambda x: np.cos(np.pi * x), "erf": "erf", "erfc": "erfc", "erfcinv": "erfcinv",
    "erfcx": "erfcx", "erfinv": "erfinv", "exp": np.exp, "exp10": lambda x: 10**x, "exp2": np.exp2, "expm1": np.expm1, "fabs": np.fabs,
    "floor": np.floor, "j0": "j0", "j1": "j1", "lgamma": "gammaln", "log": np.log, "log10": np.log10, "log1p": np.log1p, "log2": np.log2,
    "logb": lambda x: np.floor(np.log2(x)), "nearbyint": np.rint, "normcdf": "ndtr", "normcdfinv": "ndtri",
    "rcbrt": lambda x: 1 / np.cbrt(x), "rint": np.rint, "round": lambda x: np.floor(x + 0.5), "rsqrt": lambda x: 1 / np.sqrt(x),
    "sin": np.sin, "sinh": np.sinh, "sinpi": lambda x: np.sin(np.pi * x), "sqrt": np.sqrt, "tan": np.tan, "tanh": np.tanh,
    "tgamma": "gamma", "trunc": np.trunc, "y0": "y0", "y1": "y1",
}  # fmt: skip


@pytest.mark.parametrize("single", [False, True])
def test_libdevice_functions_of_one_argument(xp, single):
    pytest.importorskip("scipy")
    x = np.linspace(0.03, 0.97, 40).astype("f4" if single else "f8")
    for part in by_eight(REFERENCE):
        out = xp.zeros((8, x.size), x.dtype)
        unary([getattr(ld, name + "f" * single) for name in part])[2, 32](xp.asarray(x), out)
        for name, got in zip(part, np.asarray(out.get())):
            f = REFERENCE[name]
            expected = (special(f) if isinstance(f, str) else f)(x.astype("f8"))
            assert_allclose(got, expected, rtol=3e-6 if single else 2e-13, atol=3e-7 if single else 1e-15, err_msg=name)


def test_libdevice_fast_functions(xp):
    fast = {
        "cosf": np.cos,
        "sinf": np.sin,
        "tanf": np.tan,
        "expf": np.exp,
        "exp10f": lambda x: 10**x,
        "logf": np.log,
        "log2f": np.log2,
        "log10f": np.log10,
    }
    x = np.linspace(0.1, 3, 40).astype("f4")
    out = xp.zeros((8, 40), "f4")
    unary([getattr(ld, "fast_" + name) for name in fast])[2, 32](xp.asarray(x), out)
    for name, got in zip(fast, np.asarray(out.get())):
        assert_allclose(got, fast[name](x.astype("f8")), rtol=2e-4, atol=2e-5, err_msg=name)


def test_libdevice_functions_of_two_arguments(xp):
    functions = {"atan2": np.arctan2, "copysign": np.copysign, "fdim": lambda x, y: np.maximum(x - y, 0), "fmax": np.fmax, "fmin": np.fmin,
                 "fmod": np.fmod, "hypot": np.hypot, "remainder": np.vectorize(math.remainder)}  # fmt: skip
    for dtype in ("f8", "f4"):
        x, y = np.linspace(-5, 5, 41).astype(dtype), np.linspace(3, -2.9, 41).astype(dtype)
        out = xp.zeros((8, 41), dtype)
        binary([getattr(ld, name + "f" * (dtype == "f4")) for name in functions])[2, 32](xp.asarray(x), xp.asarray(y), out)
        for name, got in zip(functions, np.asarray(out.get())):
            assert_allclose(
                got, functions[name](x, y), rtol=1e-6 if dtype == "f4" else 1e-14, atol=1e-6 if dtype == "f4" else 1e-14, err_msg=name
            )


OPERATIONS = {"add": lambda a, b: a + b, "sub": lambda a, b: a - b, "mul": lambda a, b: a * b, "div": lambda a, b: a / b}


@pytest.mark.parametrize("prefix", ["d", "f"])
def test_rounding_in_a_direction(xp, prefix):
    dtype = np.dtype("f8" if prefix == "d" else "f4")
    r = np.random.default_rng(0)
    x, y = ((r.standard_normal(200) * 10.0 ** r.integers(-8, 8, 200)).astype(dtype) for _ in range(2))
    for op, exact in OPERATIONS.items():
        modes = ["rn", "rz", "ru", "rd"]
        out = xp.zeros((8, 200), dtype)
        binary([getattr(ld, f"{prefix}{op}_{m}") for m in modes] * 2)[4, 64](xp.asarray(x), xp.asarray(y), out)
        rn, rz, ru, rd = np.asarray(out.get())[:4]
        for k in range(200):
            true = exact(Fraction(float(x[k])), Fraction(float(y[k])))
            down, up = Fraction(float(rd[k])), Fraction(float(ru[k]))
            assert down <= true <= up
            assert (down == up) == (down == true)
            if down != up:
                assert np.nextafter(rd[k], dtype.type(np.inf)) == ru[k]
            assert rz[k] == (rd[k] if true > 0 else ru[k])
            assert rn[k] in (rd[k], ru[k])


@cuda.jit
def several(x, n, out, whole):
    i = cuda.grid(1)
    s, c = ld.sincos(x[i])
    sp, cp = ld.sincospi(x[i])
    mantissa, exponent = ld.frexp(x[i])
    fraction, integer = ld.modf(x[i])
    rest, quotient = ld.remquo(x[i], 0.7)
    out[0, i], out[1, i], out[2, i], out[3, i] = s, c, sp, cp
    out[4, i], out[5, i], out[6, i], out[7, i] = mantissa, fraction, integer, rest
    whole[0, i], whole[1, i] = exponent, quotient & 7
    whole[2, i], whole[3, i], whole[4, i] = ld.double2int_rd(x[i]), ld.double2ll_ru(x[i]), ld.float2int_rn(x[i])
    whole[5, i], whole[6, i], whole[7, i] = ld.clz(n[i]), ld.popcll(n[i]), ld.ffs(n[i])
    whole[8, i], whole[9, i], whole[10, i] = ld.mulhi(n[i], 1 << 20), ld.hadd(n[i], 3), ld.brev(n[i])
    whole[11, i], whole[12, i], whole[13, i] = ld.isnand(x[i]), ld.signbitd(x[i]), ld.float_as_int(x[i])
    whole[14, i], whole[15, i] = ld.llrint(x[i]), ld.byte_perm(n[i], n[i] + 1, 0x3210)


def test_libdevice_tuples_conversions_and_integers(xp):
    x, n = np.array([0.75, -2.5, 3.25, 1e3]), np.array([1, 1000, 12345, 7], "i4")
    out, whole = xp.zeros((8, 4)), xp.zeros((16, 4), "i8")
    several[1, 4](xp.asarray(x), xp.asarray(n), out, whole)
    m, e = np.frexp(x)
    f, i = np.modf(x)
    expected = [np.sin(x), np.cos(x), np.sin(np.pi * x), np.cos(np.pi * x), m, f, i, [math.remainder(v, 0.7) for v in x]]
    assert_allclose(out, expected, atol=1e-12)
    w = np.asarray(whole.get())
    assert_array_equal(w[0], e)
    assert_array_equal(w[2:5], [np.floor(x), np.ceil(x), np.rint(x)])
    assert_array_equal(
        w[5:8], [[32 - int(v).bit_length() for v in n], [int(v).bit_count() for v in n], [(int(v) & -int(v)).bit_length() for v in n]]
    )
    assert_array_equal(w[8:10], [n.astype("i8") << 20 >> 32, (n + 3) >> 1])
    assert_array_equal(w[10], np.array([int(f"{int(v):032b}"[::-1], 2) for v in n], "u4").view("i4"))
    assert_array_equal(w[11:13], [[0] * 4, x < 0])
    assert_array_equal(w[13], x.astype("f4").view("i4"))
    assert_array_equal(w[14:16], [np.rint(x), n])


def test_every_name_of_numba_is_there():
    names = """abs acos acosf brevll byte_perm clzll dadd_rd double2ull_ru double_as_longlong drcp_rz dsqrt_ru erfcx fast_sincosf fast_powf
        fdim ffsll finitef float2half_rn fma_rz fmaf_rd frsqrt_rn half2float hiloint2double ilogb int2float_rd isfinited jn ldexp
        ll2double_ru llabs llmax llround modff mul24 mul64hi nextafterf normcdfinv powi remquof rhadd sad saturatef scalbn sincospif
        uhadd ull2float_rz umul64hi usad ynf""".split()
    for name in names:
        assert getattr(cuda.libdevice, name)
    names = """hadd hsub hmul hdiv hfma hneg habs hsin hcos hlog hlog10 hlog2 hexp hexp10 hexp2 hfloor hceil hsqrt hrsqrt hrcp hrint htrunc
        heq hne hge hgt hle hlt hmax hmin""".split()
    for name in names:
        assert getattr(cuda.fp16, name)
    with pytest.raises(AttributeError):
        cuda.libdevice.no_such_function  # noqa: B018


h = cuda.fp16


@cuda.jit
def halves(a, b, out, tests):
    i = cuda.grid(1)
    if i < a.size:
        x, y = a[i], b[i]
        out[0, i], out[1, i], out[2, i], out[3, i] = x + y, x - y, x * y, x / y
        out[4, i], out[5, i], out[6, i], out[7, i] = h.hadd(x, y), h.hmul(x, y), h.hdiv(x, y), h.hfma(x, y, x)
        out[8, i], out[9, i], out[10, i], out[11, i] = h.hneg(x), h.habs(y), h.hsqrt(h.habs(x)), h.hexp(y)
        out[12, i], out[13, i], out[14, i], out[15, i] = h.hmax(x, y), h.hmin(x, y), h.hfloor(x), math.sin(x)
        out[16, i] += x
        out[16, i] *= np.float16(2)
        out[17, i] = x * 2 + 1
        tests[0, i], tests[1, i], tests[2, i] = h.hgt(x, y), x < y, h.hne(x, y)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_half_arithmetic(xp, dtype):
    r = np.random.default_rng(1)
    a, b = (r.uniform(-4, 4, 100).astype("f2") for _ in range(2))
    if dtype == "bfloat16":
        @cuda.jit
        def plain(a, b, out):
            i = cuda.grid(1)
            if i < a.size:
                out[0, i], out[1, i], out[2, i] = a[i] + b[i], a[i] * b[i], a[i] / b[i] + a[i]

        x, y = (xp.asarray(v.astype("f4")).astype(bc.bfloat16) for v in (a, b))
        out = xp.zeros((3, 100), bc.bfloat16)
        plain[2, 64](x, y, out)
        p, q = (np.asarray(v.astype("f4").get()) for v in (x, y))
        assert_allclose(out.astype("f4").get(), [p + q, p * q, p / q + p], rtol=2**-7, atol=2**-6)
        return
    out, tests = xp.zeros((18, 100), "f2"), xp.zeros((3, 100), bool)
    halves[2, 64](xp.asarray(a), xp.asarray(b), out, tests)
    o = np.asarray(out.get())
    assert_array_equal(o[:4], [a + b, a - b, a * b, a / b])
    assert_array_equal(o[4:7], [a + b, a * b, a / b])
    assert_array_equal(o[7], [np.float16(float(x) * float(y) + float(x)) for x, y in zip(a, b)])
    assert_array_equal(o[8:10], [-a, abs(b)])
    assert_allclose(o[10:12], [np.sqrt(abs(a)), np.exp(b)], rtol=2e-3)
    assert_array_equal(o[12:15], [np.maximum(a, b), np.minimum(a, b), np.floor(a)])
    assert_allclose(o[15].astype("f8"), np.sin(a.astype("f8")), rtol=2e-3, atol=1e-3)
    assert_array_equal(o[16], a * np.float16(2))
    assert_array_equal(tests, [a > b, a < b, a != b])


bf = cuda.bf16
BF16_BINARY = ["hadd", "hsub_rn", "hmul", "hdiv", "hmax", "hmin", "hmax_nan", "hmin_nan"]
BF16_SATURATED = ["hadd_sat", "hsub_sat", "hmul_sat", "hadd_rn", "hsub", "hmul_rn", "hmax", "hmin"]
BF16_TESTS = ["heq", "hne", "hge", "hgt", "hle", "hlt", "hequ", "hneu", "hgeu", "hgtu", "hleu", "hltu"]
BF16_UNARY = ["habs", "hneg", "hsqrt", "hrsqrt", "hrcp", "hlog", "hlog2", "hlog10", "hcos", "hsin", "hexp", "hexp2", "hexp10", "htanh",
              "htanh_approx", "htrunc", "hceil", "hfloor", "hrint"]  # fmt: skip
WHOLE = ["int16", "uint16", "int32", "uint32", "int64", "uint64"]


def rounded(x: Fraction, mode: str) -> float:
    """The bfloat16 of a number: 8 bits, rounded as the mode says."""
    exponent = math.frexp(float(x))[1] - 1
    exponent -= abs(x) < Fraction(2) ** exponent  # float() may have rounded to the next power of two
    unit = Fraction(2) ** (max(exponent if x else 0, -126) - 7)
    low = math.floor(x / unit)
    rest = x / unit - low
    up = {
        "rd": False, "ru": rest > 0, "rz": x < 0 and rest > 0, "rn": rest > Fraction(1, 2) or (rest == Fraction(1, 2) and low % 2 == 1)
    }[mode]  # fmt: skip
    return float((low + up) * unit)


def bfloat16_values(*shape):
    r = np.random.default_rng(5)
    bits = r.integers(0, 1 << 16, shape).astype("u4")
    bits = np.where(r.random(shape) < 0.7, 0x3F00 + bits % 0x180 + (bits & 0x8000), bits)  # most of them are near 1
    return (bits << 16).astype("u4").view("f4")


def bf16_binary(names, x, y, xp):
    out = xp.zeros((8, x.size), "f4")
    binary([getattr(bf, name) for name in names])[-(-x.size // 64), 64](xp.asarray(x), xp.asarray(y), out)
    return dict(zip(names, np.asarray(out.get())))


def test_bfloat16_arithmetic_is_rounded_once(xp):
    x, y = bfloat16_values(2, 1000)
    got = {**bf16_binary(BF16_BINARY, x, y, xp), **bf16_binary(BF16_SATURATED, x, y, xp)}
    operations = {"hadd": OPERATIONS["add"], "hsub": OPERATIONS["sub"], "hmul": OPERATIONS["mul"], "hdiv": OPERATIONS["div"]}
    for name, values in got.items():
        for k in np.flatnonzero(np.isfinite(x) & np.isfinite(y) & (y != 0)):
            a, b = (Fraction(float(v[k])) for v in (x, y))
            if name[:4] in ("hmax", "hmin"):
                expected = float((max if name[:4] == "hmax" else min)(a, b))
            else:
                true = operations[name[:4]](a, b)
                if abs(true) > Fraction(2) ** 127:
                    continue
                expected = rounded(min(max(true, Fraction(0)), Fraction(1)) if name.endswith("sat") else true, "rn")
            assert values[k] == expected, (name, x[k], y[k])


def test_bfloat16_of_nan_zeros_and_infinities(xp):
    nan, inf = np.float32("nan"), np.float32("inf")
    x, y = np.array([nan, 1, nan, 0.0, -0.0, -inf], "f4"), np.array([2, nan, nan, -0.0, 0.0, inf], "f4")
    got = bf16_binary(BF16_BINARY, x, y, xp)
    assert_array_equal(got["hmax"], [2, 1, nan, 0, 0, inf])
    assert_array_equal(np.signbit(got["hmax"][3:5]), [False, False])
    assert_array_equal(got["hmin"], [2, 1, nan, 0, 0, -inf])
    assert_array_equal(np.signbit(got["hmin"][3:5]), [True, True])
    assert_array_equal(got["hmax_nan"], [nan, nan, nan, 0, 0, inf])
    assert_array_equal(got["hmin_nan"], [nan, nan, nan, 0, 0, -inf])
    got = bf16_binary(BF16_SATURATED, x, y, xp)
    assert_array_equal(got["hadd_sat"], [0, 0, 0, 0, 0, 0])
    assert_array_equal(got["hsub_sat"], [0, 0, 0, 0, 0, 0])
    for names in (BF16_TESTS[:8], BF16_TESTS[4:]):
        for name, values in bf16_binary(names, x, y, xp).items():
            unordered = np.isnan(x) | np.isnan(y)
            plain = {"eq": x == y, "ne": x != y, "ge": x >= y, "gt": x > y, "le": x <= y, "lt": x < y}[name[1:3]]
            assert_array_equal(values, np.where(unordered, name.endswith("u"), plain), name)


def test_bfloat16_functions_of_one_argument(xp):
    x = (np.arange(0x3E00, 0x4080, 8, dtype="u4") << 16).view("f4")
    references = {
        "habs": np.abs, "hneg": np.negative, "hrcp": np.reciprocal, "htanh_approx": np.tanh,
        **{name: REFERENCE[name[1:]] for name in BF16_UNARY if name[1:] in REFERENCE},
    }  # fmt: skip
    for part in by_eight(BF16_UNARY):
        out = xp.zeros((8, x.size), "f4")
        unary([getattr(bf, name) for name in part])[2, 64](xp.asarray(x), out)
        for name, got in zip(part, np.asarray(out.get())):
            assert_allclose(got, references[name](x.astype("f8")), rtol=2.0**-8, err_msg=name)


@cuda.jit
def bfloat16_words(x, y, z, out, signs):
    i = cuda.grid(1)
    if i < x.size:
        a, b, c = bf.bfloat16(x[i]), bf.bfloat16(y[i]), bf.bfloat16(z[i])
        out[0, i], out[1, i], out[2, i] = bf.hfma(a, b, c), bf.hfma_relu(a, b, c), bf.hfma_sat(a, b, c)
        out[3, i], out[4, i] = bf.uint16_as_bfloat16(bf.bfloat16_as_uint16(a)), bf.int16_as_bfloat16(bf.bfloat16_as_int16(a))
        signs[0, i], signs[1, i] = bf.hisinf(a), bf.hisnan(a)


def test_bfloat16_fused_products_and_bits(xp):
    x, y, z = bfloat16_values(3, 1000)
    # Sums of far exponents, a tie that only the last bit of the addend decides, and products below the smallest float.
    x[:4], y[:4], z[:4] = [1.0078125, 1, 2.0**-70, np.inf], [2.0**-8, 1 + 2.0**-7, -(2.0**-70), 1], [1, 2.0**-130, 1, np.nan]
    out, signs = xp.zeros((5, 1000), "f4"), xp.zeros((2, 1000), "i4")
    bfloat16_words[16, 64](xp.asarray(x), xp.asarray(y), xp.asarray(z), out, signs)
    fused, positive, limited, same, also = np.asarray(out.get())
    for k in np.flatnonzero(np.isfinite(x) & np.isfinite(y) & np.isfinite(z)):
        true = Fraction(float(x[k])) * Fraction(float(y[k])) + Fraction(float(z[k]))
        if abs(true) < Fraction(2) ** 127:
            expected = rounded(true, "rn")
            assert (fused[k], positive[k], limited[k]) == (expected, max(expected, 0), min(max(expected, 0), 1))
    assert np.isnan([fused[3], positive[3]]).all()
    assert_array_equal(same, x)
    assert_array_equal(also, x)
    assert_array_equal(np.asarray(signs.get()), [np.where(np.isinf(x), np.sign(x), 0), np.isnan(x)])


def bfloat16_conversions(kind):
    """A kernel that converts numbers of a type to bfloat16 and back, in the four ways."""
    to = [getattr(bf, f"{kind}_to_bfloat16_{mode}") for mode in ("rn", "rz", "rd", "ru")]
    back = [getattr(bf, f"bfloat16_to_{kind}_{mode}") for mode in ("rn", "rz", "rd", "ru")] if kind in WHOLE else to
    rn, rz, rd, ru = to
    back_rn, back_rz, back_rd, back_ru = back

    @cuda.jit
    def kernel(x, halves, out, whole):
        i = cuda.grid(1)
        if i < x.size:
            out[0, i], out[1, i], out[2, i], out[3, i] = rn(x[i]), rz(x[i]), rd(x[i]), ru(x[i])
            h = bf.float32_to_bfloat16(halves[i])
            whole[0, i], whole[1, i], whole[2, i], whole[3, i] = back_rn(h), back_rz(h), back_rd(h), back_ru(h)

    return kernel


@pytest.mark.parametrize("kind", WHOLE)
def test_bfloat16_and_integers(xp, kind):
    info, r = np.iinfo(kind), np.random.default_rng(6)
    x = (r.integers(info.min, info.max, 200, kind, endpoint=True) >> r.integers(0, info.bits, 200).astype(kind)).astype(kind)
    x[:4] = info.min, info.max, info.max // 2 + 2, 257
    halves = bfloat16_values(200)
    halves[:6] = 1.5, 2.5, -2.5, 300.0, -300.0, 0.0
    out, whole = xp.zeros((4, 200), "f4"), xp.zeros((4, 200), kind)
    bfloat16_conversions(kind)[4, 64](xp.asarray(x), xp.asarray(halves), out, whole)
    turn = {"rn": np.rint, "rz": np.trunc, "rd": np.floor, "ru": np.ceil}
    for mode, got, back in zip(turn, np.asarray(out.get()), np.asarray(whole.get())):
        assert_array_equal(got, [rounded(Fraction(int(v)), mode) for v in x])
        for h, w in zip(halves, back):
            if np.isfinite(h):
                assert int(w) == min(max(int(turn[mode](h)), info.min), info.max), (mode, h)


@cuda.jit
def bfloat16_of_floats(x, out, whole):
    i = cuda.grid(1)
    if i < x.size:
        single = np.float32(x[i])
        out[0, i], out[1, i] = bf.float32_to_bfloat16_rn(single), bf.float32_to_bfloat16_rz(single)
        out[2, i], out[3, i] = bf.float32_to_bfloat16_rd(single), bf.float32_to_bfloat16_ru(single)
        out[4, i], out[5, i] = bf.float64_to_bfloat16(x[i]), bf.bfloat16_to_float32(bf.float32_to_bfloat16(single))
        whole[0, i], whole[1, i] = bf.bfloat16_to_int8_rz(bf.bfloat16(x[i])), bf.bfloat16_to_uint8_rz(bf.bfloat16(x[i]))


def test_bfloat16_and_floats(xp):
    x = np.concatenate([np.random.default_rng(7).normal(0, 100, 300), [1 + 2.0**-8 + 2.0**-40, 1 + 3 * 2.0**-8 - 2.0**-40, 0.0, 2.0**-130]])
    out, whole = xp.zeros((6, x.size), "f4"), xp.zeros((2, x.size), "i4")
    bfloat16_of_floats[5, 64](xp.asarray(x), out, whole)
    got, single = np.asarray(out.get()), x.astype("f4")
    for values, mode in zip(got, ("rn", "rz", "rd", "ru")):
        assert_array_equal(values, [rounded(Fraction(float(v)), mode) for v in single])
    assert_array_equal(got[4], [rounded(Fraction(v), "rn") for v in x])
    assert_array_equal(got[5], got[0])
    assert_array_equal(np.asarray(whole.get()), [np.clip(np.trunc(got[4]), *limits) for limits in ((-128, 127), (0, 255))])


def test_comparison_of_halves_with_nan_is_false(xp):
    x = np.array([np.nan, 1, 1], "f4")
    out = xp.zeros((8, 3), "f4")
    binary([h.hne, h.heq, h.hlt, h.hgt] * 2)[1, 3](xp.asarray(x), xp.asarray(np.array([1, 1, 2], "f4")), out)
    assert_array_equal(np.asarray(out.get())[:4], [[0, 0, 1], [0, 1, 0], [0, 0, 1], [0, 0, 0]])


COMPLEX = ["exp", "log", "log10", "sqrt", "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh"]


@pytest.mark.parametrize("first", [0, 8])
def test_cmath(xp, first):
    r = np.random.default_rng(2)
    z = r.standard_normal(30) + 1j * r.standard_normal(30)
    for dtype, tolerance in (("c16", 1e-12), ("c8", 1e-4)):
        out = xp.zeros((8, 30), dtype)
        names = COMPLEX[first : first + 8]
        unary([getattr(cmath, name) for name in names])[1, 32](xp.asarray(z.astype(dtype)), out)
        for name, got in zip(names, np.asarray(out.get())):
            assert_allclose(got, [getattr(cmath, name)(v) for v in z.astype(dtype)], rtol=tolerance, atol=tolerance, err_msg=name)


@cuda.jit
def polar_forms(z, out):
    i = cuda.grid(1)
    if i < z.size:
        r, phi = cmath.polar(z[i])
        out[0, i] = r
        out[1, i] = cmath.phase(z[i])
        out[2, i] = abs(cmath.rect(r, phi) - z[i])
        out[3, i] = cmath.log(z[i], 2).real
        out[4, i] = cmath.isnan(z[i]) + 2 * cmath.isinf(z[i]) + 4 * cmath.isfinite(z[i])
        out[5, i] = cmath.sqrt(-4).imag + cmath.pi


def test_polar_forms(xp):
    z = np.array([1 + 2j, -3 + 0.5j, 0.1 - 7j])
    out = xp.zeros((6, 3))
    polar_forms[1, 4](xp.asarray(z), out)
    assert_allclose(out, [abs(z), np.angle(z), [0] * 3, np.log2(abs(z)), [4] * 3, [2 + math.pi] * 3], atol=1e-13)


@cuda.jit
def rectangular(r, phi, out):
    i = cuda.grid(1)
    if i < r.size:
        out[i] = cmath.rect(r[i], phi[i])


@pytest.mark.parametrize("dtype", ["f8", "f4"])
def test_rect_of_numbers_that_are_not_finite(xp, dtype):
    values = np.array([0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan], dtype)
    r, phi = (v.ravel() for v in np.meshgrid(values, values, indexing="ij"))
    out = xp.zeros(r.size, "c16" if dtype == "f8" else "c8")
    rectangular[1, 64](xp.asarray(r), xp.asarray(phi), out)
    for a, b, got in zip(r, phi, np.asarray(out.get())):
        try:
            expected = cmath.rect(a, b)
        except ValueError:
            continue
        assert_allclose([got.real, got.imag], [expected.real, expected.imag], rtol=1e-6, err_msg=str((a, b)))
        if not np.isnan([a, b]).any():
            assert_array_equal(np.signbit([got.real, got.imag]), np.signbit([expected.real, expected.imag]), str((a, b)))


@cuda.jit(device=True)
def endless(n):
    return endless(n)


def test_a_device_function_that_never_ends_is_refused():
    with pytest.raises(bc.TypingError, match="never ends"):
        cuda.jit("void()")(lambda: endless(1))


@cuda.jit
def mathematics(x, out):
    i = cuda.grid(1)
    if i < x.size:
        v = x[i]
        out[0, i], out[1, i], out[2, i], out[3, i] = math.erf(v), math.erfc(v), math.gamma(v), math.lgamma(v)
        out[4, i], out[5, i], out[6, i], out[7, i] = math.hypot(v, 2), math.copysign(v, -1), math.ldexp(v, 3), math.fmod(v, 0.4)
        m, e = math.frexp(v)
        f, w = math.modf(v)
        out[8, i], out[9, i], out[10, i], out[11, i] = m, e, f, w
        out[12, i], out[13, i], out[14, i], out[15, i] = math.isnan(v), math.isinf(v), math.remainder(v, 0.7), math.isqrt(int(v * 100))
        out[16, i], out[17, i], out[18, i], out[19, i] = math.degrees(v), math.nextafter(v, 9.0), cuda.rsqrt(v), cuda.cbrt(v)


def test_math(xp):
    x = np.array([0.3, 1.7, 2.5, 4.2])
    out = xp.zeros((20, 4))
    mathematics[1, 4](xp.asarray(x), out)
    functions = (
        math.erf, math.erfc, math.gamma, math.lgamma, lambda v: math.hypot(v, 2), lambda v: -v, lambda v: 8 * v,
        lambda v: math.fmod(v, 0.4), lambda v: math.frexp(v)[0], lambda v: math.frexp(v)[1], lambda v: math.modf(v)[0],
        lambda v: math.modf(v)[1], lambda v: 0, lambda v: 0, lambda v: math.remainder(v, 0.7), lambda v: math.isqrt(int(v * 100)),
        math.degrees, lambda v: math.nextafter(v, 9.0), lambda v: v**-0.5, math.cbrt,
    )  # fmt: skip
    rows = [[f(v) for v in x] for f in functions]
    assert_allclose(out, rows, rtol=1e-13, atol=1e-14)


PRINTS = """
import broadcloth as bc
from broadcloth import cuda

@cuda.jit
def kernel(x):
    i = cuda.grid(1)
    if i == 1:
        print("thread", i, x[i], i > 0)
        print("100%", (1, 2.5), sep=":", end="!\\n")
        print()
        print(x[i] > 2, bc.uint8(7), 1j)

kernel[1, 2](bc.array([1.0, 2.5]))
cuda.synchronize()
"""


def test_print_writes_to_the_process_output(xp, tmp_path):
    file = tmp_path / "prints.py"
    file.write_text(PRINTS)
    environment = {**os.environ, "BROADCLOTH_DEVICE": xp.default_device().type}
    out = subprocess.run([sys.executable, str(file)], capture_output=True, text=True, env=environment, check=True).stdout
    assert out.splitlines() == ["thread 1 2.5 True", "100%:(1, 2.5)!", "", "True 7 (0+1j)"]


@cuda.jit(debug=True)
def asserts(x):
    i = cuda.grid(1)
    assert x[i] >= 0, "negative"


def test_assert_names_the_line(xp):
    asserts[1, 4](xp.arange(4.0))
    with pytest.raises(AssertionError, match=r"negative\n.*test_kernel_language.py:\d+, in asserts, by thread \(2, 0, 0\)"):
        asserts[1, 4](xp.array([1.0, 2.0, -1.0, 3.0]))


@cuda.jit
def grid_wide(a, out):
    i = cuda.grid(1)
    a[i] = i
    cuda.cg.this_grid().sync()
    out[i] = a[a.size - 1 - i]


def test_a_grid_waits_for_itself(xp):
    for blocks, threads in ((1, 64), (4, 32)):
        n = blocks * threads
        a, out = xp.zeros(n), xp.zeros(n)
        grid_wide[blocks, threads](a, out)
        assert_array_equal(out, np.arange(n)[::-1])


TABLE = np.array([[1.5, 2.5], [3.5, 4.5]])
RECORDS = np.array([(1, 2.0), (3, 4.0)], dtype=[("a", "i8"), ("b", "f8")])


@cuda.jit
def constants(out):
    i = cuda.grid(1)
    c = cuda.const.array_like(TABLE)
    r = cuda.const.array_like(RECORDS)
    t = cuda.local.array((2, 2), np.float32)
    for j in range(2):
        t[i, j] = c[i, j] * 2
    out[i] = t[i, 0] + t[i, 1] + r[i].a + r[i]["b"]


def test_constants_and_local_arrays(xp):
    out = xp.zeros(2)
    constants[1, 2](out)
    assert_array_equal(out, [11.0, 23.0])


@cuda.jit
def atomics_of_all_types(total, most, least, last, old):
    i = cuda.grid(1)
    k = i % 5
    cuda.atomic.add(total, k, 2)
    cuda.atomic.sub(total, k, 1)
    cuda.atomic.max(most, k, i)
    cuda.atomic.min(least, k, i)
    cuda.atomic.nanmax(most, 5, i)
    cuda.atomic.exch(last, k, 7)
    if i == 0:
        old[0] = cuda.atomic.cas(last, 5, 0, 3)
        old[1] = cuda.atomic.cas(last, 5, 0, 9)


@pytest.mark.parametrize("dtype", ["i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f2", "bfloat16", "f4", "f8"])
def test_atomics_on_every_dtype(xp, dtype):
    dtype = bc.bfloat16 if dtype == "bfloat16" else dtype
    total, most, last, old = xp.zeros(5, dtype), xp.zeros(6, dtype), xp.zeros(6, dtype), xp.zeros(2, dtype)
    least = xp.full(5, 100, dtype)
    atomics_of_all_types[2, 50](total, most, least, last, old)
    assert_array_equal(total.astype("f8"), [20] * 5)
    assert_array_equal(most.astype("f8"), [95, 96, 97, 98, 99, 99])
    assert_array_equal(least.astype("f8"), range(5))
    assert_array_equal(last.astype("f8"), [7] * 5 + [3])
    assert_array_equal(old.astype("f8"), [0, 3])


@cuda.jit
def atomic_bits(ands, ors, xors, flags):
    i = cuda.grid(1)
    cuda.atomic.and_(ands, i % 3, ~(1 << (i % 7)))
    cuda.atomic.or_(ors, i % 3, 1 << (i % 7))
    cuda.atomic.xor(xors, i % 3, i)
    cuda.atomic.or_(flags, i % 3, i == 4)


@pytest.mark.parametrize("dtype", ["i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8"])
def test_atomic_bits_of_every_width(xp, dtype):
    ands, ors, xors, flags = xp.full(3, 127, dtype), xp.zeros(3, dtype), xp.zeros(3, dtype), xp.zeros(3, bool)
    atomic_bits[2, 32](ands, ors, xors, flags)
    assert_array_equal(ands, [0] * 3)
    assert_array_equal(ors, [127] * 3)
    assert_array_equal(xors, [np.bitwise_xor.reduce(np.arange(k, 64, 3)) for k in range(3)])
    assert_array_equal(flags, [False, True, False])


def test_vectors_by_the_names_of_c(xp):
    assert cuda.float4 is cuda.float32x4 and cuda.ulonglong3 is cuda.ulong3 is cuda.uint64x3
    table = cuda.vector_types.vector_types
    assert len(table) == 40
    for name, kind in table.items():
        make, number, n = kind.user_facing_object, kind.base_type, kind.num_elements
        assert all(getattr(cuda, alias) is make is getattr(cuda, name) for alias in make.aliases)
        if n != 3:
            continue

        @cuda.jit
        def kernel(out):
            v = make(number(1), number(2), number(3))
            out[0], out[1], out[2] = v.x, v.y, v.z

        out = xp.zeros(3)
        kernel[1, 1](out)
        assert out.tolist() == [1, 2, 3]


@cuda.jit
def vectors(a, out):
    i = cuda.grid(1)
    if i < out.shape[0]:
        v = cuda.float32x4(a[i], 1, 2.5, i)
        w = cuda.float32x4(cuda.float32x2(v.x, v.y), cuda.float32x2(v.z, v.w))
        z = cuda.uint3()
        out[i, 0], out[i, 1], out[i, 2], out[i, 3] = w.x, w.y + z.x, w.z * w.w, cuda.double2(v.y, 0.1).y


def test_vector_types(xp):
    a, out = np.array([0.1, 0.7]), xp.zeros((2, 4))
    vectors[1, 2](xp.asarray(a), out)
    assert_array_equal(out, np.stack([a.astype("f4"), [1, 1], [0, 2.5], [0.1, 0.1]], 1))


@cuda.jit
def cached(a, out):
    i = cuda.grid(1)
    cuda.stcg(out, (0, i), cuda.ldcg(a, i) + cuda.ldca(a, i) + cuda.ldcs(a, i) + cuda.ldcv(a, i) + cuda.ldlu(a, i))
    cuda.stwb(out, (1, i), i)
    cuda.stcs(out, (2, i), 2)
    cuda.stwt(out, (3, i), a[i])


@pytest.mark.parametrize("dtype", ["i4", "f4", "i8", "f8", "u1", "c8"])
def test_loads_and_stores_with_cache_hints(xp, dtype):
    a, out = xp.arange(4).astype(dtype), xp.zeros((4, 4), dtype)
    cached[1, 4](a, out)
    k = np.arange(4)
    assert_array_equal(out, [5 * k, k, [2] * 4, k])


@cuda.jit
def exchange(a, out):
    i = cuda.grid(1)
    out[0, i] = cuda.shfl_sync(0xFFFFFFFF, a[i], 5)
    out[1, i] = cuda.shfl_up_sync(0xFFFFFFFF, a[i], 1)
    out[2, i] = cuda.shfl_down_sync(0xFFFFFFFF, a[i], 2)
    out[3, i] = cuda.shfl_xor_sync(0xFFFFFFFF, a[i], 3)


@pytest.mark.parametrize("dtype", ["i1", "u2", "i4", "u4", "i8", "u8", "f2", "f4", "f8", "c8", "c16"])
def test_shuffles_of_every_dtype(xp, dtype):
    a = (np.arange(32) * (1 + 2j if dtype[0] == "c" else 1)).astype(dtype)
    out = xp.zeros((4, 32), dtype)
    exchange[1, 32](xp.asarray(a), out)
    k = np.arange(32)
    assert_array_equal(out, [a[np.full(32, 5)], a[np.maximum(k - 1, 0)], a[np.where(k < 30, k + 2, k)], a[k ^ 3]])
