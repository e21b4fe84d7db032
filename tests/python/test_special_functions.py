"""Functions of broadcloth.scipy.special that are written in Python over real and complex numbers: Bessel functions of real order and their
kin. Values against mpmath, special values and call forms against SciPy, gradients."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import broadcloth as bc
from broadcloth.scipy import special

scipy_special = pytest.importorskip("scipy.special")

# Points and values by mpmath: scripts/special_values.py functions.
VALUES = json.loads((Path(__file__).parent / "special_function_values.json").read_text())
BESSEL = ["jv", "yv", "iv", "kv", "jve", "yve", "ive", "kve", "hankel1", "hankel2", "hankel1e", "hankel2e"]
EXPONENTIALS = {
    "jve": ("jv", lambda z: -abs(z.imag)), "yve": ("yv", lambda z: -abs(z.imag)), "ive": ("iv", lambda z: -abs(z.real)),
    "kve": ("kv", lambda z: z), "hankel1e": ("hankel1", lambda z: -1j * z), "hankel2e": ("hankel2", lambda z: 1j * z),
}  # fmt: skip


def operands(key: str):
    """The function's name, its operands and values."""
    table = np.array(VALUES[key])
    name, _, of_complex = key.partition(" of ")
    if not of_complex:
        return name, list(table[:, :-1].T), table[:, -1]
    return name, [*table[:, :-4].T, table[:, -4] + 1j * table[:, -3]], table[:, -2] + 1j * table[:, -1]


def function(name: str):
    """A function, or one of the results of a function with several."""
    base, _, result = name.partition(".")
    f = getattr(special, base)
    return (lambda *args: f(*args)[int(result)]) if result else f


@pytest.mark.parametrize("key", sorted(VALUES))
def test_values(xp, key):
    name, arguments, expected = operands(key)
    got = function(name)(*map(xp.asarray, arguments))
    assert got.dtype == expected.dtype
    assert_allclose(got.get(), expected, rtol=1e-13)


@pytest.mark.parametrize("key", sorted(VALUES))
def test_single_precision_is_double_precision_rounded(xp, key):
    name, arguments, expected = operands(key)
    narrow = [x.astype("c8" if x.dtype.kind == "c" else "f4") for x in arguments]
    row = function(name)
    got = row(*map(xp.asarray, narrow))
    assert got.dtype == np.result_type(expected.dtype.type(0).astype(narrow[-1].dtype))
    with np.errstate(all="ignore"):
        wide = row(*(xp.asarray(x.astype("c16" if x.dtype.kind == "c" else "f8")) for x in narrow)).get().astype(got.dtype)
    finite = np.isfinite(wide)
    assert_allclose(got.get()[finite], wide[finite], rtol=2e-7, atol=1e-44)


@pytest.mark.parametrize("name", sorted(EXPONENTIALS))
def test_scaled_functions(xp, name):
    plain, exponent = EXPONENTIALS[name]
    _, (v, z), expected = operands(f"{plain} of complex")
    inside = abs(z) < 200
    got = getattr(special, name)(xp.asarray(v), xp.asarray(z)).get()
    assert_allclose(got[inside], (expected * np.exp(exponent(z)))[inside], rtol=2e-13)
    # Where the plain ones overflow or vanish.
    v, z = np.array([0.0, 1.5, -2.3]), np.array([900 - 20j, -3 + 1200j, 1e5 + 1e5j])
    assert_allclose(getattr(special, name)(xp.asarray(v), xp.asarray(z)).get(), getattr(scipy_special, name)(v, z), rtol=1e-9)
    if "hankel" not in name:
        x = np.array([0.3, 4.0, 2000.0])
        assert_allclose(getattr(special, name)(xp.asarray(v), xp.asarray(x)).get(), getattr(scipy_special, name)(v, x), rtol=1e-12)


@pytest.mark.parametrize("name", ["jv", "yv", "iv", "kv", "jve", "ive", "kve"])
def test_bessel_at_the_edges(xp, name):
    v, x = np.meshgrid([-2.0, -1, -0.5, 0, 0.5, 1, 2.5], [0.0, -1.0, np.nan])
    got, expected = getattr(special, name)(xp.asarray(v), xp.asarray(x)).get(), getattr(scipy_special, name)(v, x)
    # SciPy says inf for Y(-1/2, 0) = 0, and NaN for some poles of scaled functions.
    same = ~((name in ("yv", "jve", "ive")) & (x == 0) & (v == -0.5))
    assert_allclose(got[same], expected[same], rtol=1e-13)
    assert np.isnan(getattr(special, name)(xp.asarray([np.nan, np.inf]), 1.0).get()).all()


def test_bessel_of_large_arguments_and_orders(xp):
    v, x = np.array([0, 3, 1.5, 100, 1000, 1e4]), np.array([1e15, 1e12, 1e6, 1e4, 1100.0, 1e4])
    for name in ("jv", "yv"):
        modulus = np.hypot(scipy_special.jv(v, x), scipy_special.yv(v, x))
        got = getattr(special, name)(xp.asarray(v), xp.asarray(x)).get()
        assert_array_equal(abs(got - getattr(scipy_special, name)(v, x)) < 3e-12 * modulus, True)
    assert np.isnan(special.yv(1e6, 1e6).get())
    assert special.jv(1e6, 10.0) == 0


@pytest.mark.parametrize("name", ["jv", "yv", "iv", "kv", "hankel1", "hankel2"])
def test_gradients_by_the_argument(xp, name):
    row = getattr(special, name)
    for z in (np.array([0.7 + 0.4j, -1.1 + 2j, 8 - 3j]), np.array([0.4, 2.0, 9.0])):
        a = xp.asarray(z)
        a.requires_grad = True
        row(1.3, a).real.sum().backward()
        h = 1e-5
        slope = (row(1.3, xp.asarray(z + h)).get() - row(1.3, xp.asarray(z - h)).get()) / (2 * h)
        assert a.grad.dtype == z.dtype
        assert_allclose(a.grad.get(), slope.conj() if z.dtype.kind == "c" else slope.real, rtol=1e-8)
    v = xp.asarray([0.5])
    v.requires_grad = True
    row(v, 2.0).real.sum().backward()
    assert np.isnan(v.grad.get()).all()
    if name.startswith("hankel"):  # composed, not a row that records what is written in place
        with pytest.raises(NotImplementedError, match="out="):
            row(1.3, a, out=xp.zeros(3, complex))
        return
    out = xp.zeros(3)
    assert row(1.3, a, out=out) is out
    slopes, a.grad = a.grad.get(), None
    out.real.sum().backward()
    assert_array_equal(a.grad.get(), slopes)


def test_bessel_call_forms(xp):
    assert special.jn is special.jv
    x = np.linspace(0.5, 6, 6)
    for dtype in ("f4", "i1", "f2"):
        assert special.jv(xp.ones(3, dtype), xp.ones(3, dtype)).dtype == np.float32
    assert special.jv(xp.ones(3, "f8"), xp.ones(3, "c8")).dtype == np.complex128
    assert special.hankel1(xp.ones(3, "f4"), xp.ones(3, "f4")).dtype == np.complex64
    assert_allclose(special.kn(xp.arange(4), 2).get(), scipy_special.kn(np.arange(4), 2), rtol=1e-13)
    assert_allclose(
        special.jv(xp.arange(3)[:, None], xp.asarray(x)[::2]).get(), scipy_special.jv(np.arange(3)[:, None], x[::2]), rtol=1e-13
    )
    assert special.iv(xp.zeros((0, 3)), 1.0).shape == (0, 3)
    out = xp.zeros(6)
    assert special.kv(0.5, xp.asarray(x), out=out) is out
    assert_allclose(out.get(), scipy_special.kv(0.5, x), rtol=1e-13)
    with pytest.raises(TypeError, match="no loop"):
        special.jv(1j, 1.0)
    with pytest.raises(NotImplementedError, match="whole numbers"):
        special.kn(xp.asarray([0.5]), 1.0)


def test_bessel_in_compiled_functions_and_fused_expressions(xp):
    x = np.linspace(0.1, 30, 300)
    a = xp.asarray(x)
    y = special.jv(0.5, a) * xp.sin(a) + special.kv(1.5, a)
    assert_allclose(y.get(), scipy_special.jv(0.5, x) * np.sin(x) + scipy_special.kv(1.5, x), rtol=1e-12, atol=1e-14)
    jv = special.jv

    @bc.njit
    def total(x):
        s = 0.0
        for i in range(x.size):
            s += jv(0.5, x[i])
        return s

    assert_allclose(total(x), scipy_special.jv(0.5, x).sum(), rtol=1e-12)


@pytest.mark.parametrize("name", ["airy", "airye"])
def test_airy_at_the_edges(xp, name):
    z = np.array([0.0, 5.0, 60.0, -3.0, np.nan, -50.0])
    for got, expected in zip(getattr(special, name)(xp.asarray(z)), getattr(scipy_special, name)(z), strict=True):
        assert_allclose(got.get(), expected, rtol=1e-12)


@pytest.mark.parametrize("name", ["airy", "airye"])
def test_airy_of_complex_numbers(xp, name):
    z = np.array([0.0, 5.0, 60.0, -3.0]) * np.exp(1.1j)
    for got, expected in zip(getattr(special, name)(xp.asarray(z)), getattr(scipy_special, name)(z), strict=True):
        finite = np.isfinite(expected)
        assert_allclose(got.get()[finite], expected[finite], rtol=3e-12)


def test_airy_keeps_single_precision(xp):
    assert [x.dtype for x in special.airy(xp.ones(2, "c8"))] == [np.complex64] * 4


def test_fresnel_and_voigt_at_the_edges(xp):
    x = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1.2, 1e10, 1e200])
    for got, expected in zip(special.fresnel(xp.asarray(x)), scipy_special.fresnel(x), strict=True):
        expected[-1] = 0.5  # SciPy has NaN where the square of x overflows
        assert_allclose(got.get(), expected, rtol=1e-10)
    x, sigma, gamma = np.array([[0, 0, 0], [1, 0, 0], [2, 0, 1.5], [2, 1.5, 0], [np.nan, 0, 0], [np.inf, 1, 1], [-7, 1, 1e-9]]).T
    got = special.voigt_profile(*map(xp.asarray, (x, sigma, gamma))).get()
    assert_allclose(got, scipy_special.voigt_profile(x, sigma, gamma), rtol=1e-12)


@pytest.mark.parametrize("name", ["airy.0", "airy.1", "airy.2", "airy.3", "fresnel.0", "fresnel.1"])
def test_gradients_of_functions_with_several_results(xp, name):
    row = function(name)
    for z in (np.array([0.7 + 0.4j, -1.1 + 2j]), np.array([0.4, -2.0])):
        a = xp.asarray(z)
        a.requires_grad = True
        row(a).real.sum().backward()
        slope = (row(xp.asarray(z + 1e-5)).get() - row(xp.asarray(z - 1e-5)).get()) / 2e-5
        assert_allclose(a.grad.get(), slope.conj(), rtol=1e-7, atol=1e-9)


def test_gradients_of_voigts_profile(xp):
    point = np.array([0.7, 1.3, 0.4])
    operands = [xp.asarray(x) for x in point]
    for x in operands:
        x.requires_grad = True
    special.voigt_profile(*operands).backward()
    for k, x in enumerate(operands):
        step = np.eye(3)[k] * 1e-5
        slope = (special.voigt_profile(*(point + step)) - special.voigt_profile(*(point - step))).item() / 2e-5
        assert_allclose(x.grad.item(), slope, rtol=1e-8)


@pytest.mark.parametrize("name", ["jvp", "yvp", "ivp", "kvp", "h1vp", "h2vp"])
def test_derivatives_of_bessel_functions(xp, name):
    v, z = np.array([0.0, 1.3, -2.5])[:, None], np.array([0.5, 2.0, 9.0])
    for n in range(4):
        got, expected = getattr(special, name)(xp.asarray(v), xp.asarray(z), n), getattr(scipy_special, name)(v, z, n)
        assert_allclose(got.get(), expected, rtol=3e-12)
    assert_allclose(getattr(special, name)(1, z=2.0).get(), getattr(scipy_special, name)(1, 2.0), rtol=1e-13)
    with pytest.raises(ValueError, match="n=?.* -1"):
        getattr(special, name)(1, 2.0, -1)


def test_hyp0f1_at_the_edges_and_its_gradient(xp):
    v, z = np.array([[1, 0], [0.5, 1e5], [2, -1e5], [-1.5, 30], [3, np.nan], [30.5, -40], [1e5, 3e4]], float).T
    assert_allclose(special.hyp0f1(xp.asarray(v), xp.asarray(z)).get(), scipy_special.hyp0f1(v, z), rtol=1e-10)
    assert np.isnan(special.hyp0f1(-2.0, 1.0).get())
    a = xp.asarray([0.3, -7.0, 50.0])
    a.requires_grad = True
    special.hyp0f1(1.5, a).sum().backward()
    assert_allclose(a.grad.get(), scipy_special.hyp0f1(2.5, a.detach().get()) / 1.5, rtol=1e-12)


def test_smirnov_and_its_inverse(xp):
    n, d = np.array([1, 2, 7, 40, 300, 2000])[:, None], np.array([0.0, 1e-8, 0.01, 0.1, 0.3, 0.5, 0.97, 1.0])
    got = special.smirnov(xp.asarray(n), xp.asarray(d)).get()
    assert_allclose(got, scipy_special.smirnov(n, d), rtol=1e-13, atol=1e-300)
    p = np.array([0.0, 1e-100, 1e-5, 0.05, 0.3, 0.7, 0.99, 1.0])
    got = special.smirnovi(xp.asarray(n), xp.asarray(p)).get()
    assert_allclose(got, scipy_special.smirnovi(n, p), rtol=1e-11)
    for real in (2.5, 10.2, 40.9):  # as SciPy, of the whole number below
        assert special.smirnov(real, 0.1) == special.smirnov(int(real), 0.1)
        assert special.smirnovi(real, 0.1) == special.smirnovi(int(real), 0.1)
    for bad in ((0.5, 0.1), (0, 0.1), (3, -0.1), (3, 1.1), (3, np.nan)):
        assert np.isnan(special.smirnov(*bad).get()) and np.isnan(special.smirnovi(*bad).get())


def test_smirnov_of_many_numbers(xp):
    n, d = np.array([2000001, 89210549, 10**9, 10**7]), np.array([1e-3, 0.2, 1e-5, 1e-4])
    assert_allclose(special.smirnov(xp.asarray(n), xp.asarray(d)).get(), scipy_special.smirnov(n, d), rtol=1e-12)
    p = np.array([0.3, 1e-5, 0.99, 0.5])
    assert_allclose(special.smirnovi(xp.asarray(n), xp.asarray(p)).get(), scipy_special.smirnovi(n, p), rtol=1e-9)


def test_large_complex_arguments_take_no_recurrence(xp):
    # By Debye's expansions, and by the recurrence below the size from which these hold
    v, z = xp.asarray([2400.0, 2400.0]), 10000.0 * np.exp(1.2j)
    for name in ("jve", "yve", "ive", "kve", "hankel1e", "hankel2e"):
        low, high = getattr(special, name)(v, xp.asarray([z * (1 - 1e-9), z * (1 + 1e-9)])).get()
        slope = abs(low) * 10000 * 2e-9  # the functions change by at most about themselves for a step of 1
        assert abs(high - low) < 2 * slope, name
        assert_allclose(high, getattr(scipy_special, name)(2400.0, z * (1 + 1e-9)), rtol=1e-10)
    z = 927278577.25 - 1.2288709284505954j  # of which the recurrence took 16 s
    assert_allclose(abs(special.hankel1e(89562.42, xp.asarray(z)).get()), np.sqrt(2 / np.pi / 927278577.25), rtol=1e-7)


def test_elliptic_integrals_of_huge_parameters(xp):
    phi, m = np.array([1e-156, 1e-155, 1e-152, 1e-10, 1.0]), np.array([-1e308, -1e305, -1e303, -1e22, -1e30])
    for name in ("ellipeinc", "ellipkinc"):
        assert_allclose(getattr(special, name)(xp.asarray(phi), xp.asarray(m)).get(), getattr(scipy_special, name)(phi, m), rtol=2e-15)
    y = np.array([1e300, 1e305, 1e306, 1.7e308])
    for name in ("elliprf", "elliprd"):
        for z in (1.0, 1.0 + 1j):
            got = getattr(special, name)(0.0, xp.asarray(y), z).get()
            assert_allclose(got, getattr(scipy_special, name)(0.0, y, z), rtol=2e-15, err_msg=name)


def test_kolmogi_near_one(xp):
    p = 1 - 0.5 ** np.arange(1, 54, 3)
    assert_allclose(special.kolmogi(xp.asarray(p)).get(), scipy_special.kolmogi(p), rtol=5e-15)


def test_boxcox_whose_power_overflows(xp):
    x, power = np.array([100.0, 0.01, 1e300, 1e300, 2.0]), np.array([155.0, -155.0, 5.0, -5.0, 3.0])
    assert_allclose(special.boxcox(xp.asarray(x), xp.asarray(power)).get(), scipy_special.boxcox(x, power), rtol=1e-12)
    assert_allclose(special.boxcox1p(xp.asarray(99.0), 155.0).get(), scipy_special.boxcox1p(99.0, 155.0), rtol=1e-12)


def test_huge_parameters_end(xp):
    assert np.isnan(special.lpmv(-2516475730.0, -0.000167, -0.5).get())
    assert_allclose(special.log_wright_bessel(432561970.0, 1e300, 0.9).get(), -1e300 * (np.log(1e300) - 1), rtol=1e-12)
    # mpmath: 2 sqrt(x) - log(x) / 2 - log(4 pi) / 2 for a = b = 1, the logarithm of I0(2 sqrt(x)), by its expansion
    x = 1e20
    assert_allclose(special.log_wright_bessel(1.0, 1.0, x).get(), 2 * np.sqrt(x) - np.log(4 * np.pi * np.sqrt(x)) / 2, rtol=1e-14)


def test_ndtri_exp(xp):
    y = np.array([-1e-300, -1e-20, -1e-5, -0.09, -0.11, -1.9, -2.1, -5.0, -21.0, -1000.3])
    x = special.ndtri_exp(xp.asarray(y))
    assert_allclose(x.get(), scipy_special.ndtri_exp(y), rtol=1e-11)
    assert_allclose(special.log_ndtr(x).get()[4:], y[4:], rtol=1e-14)
    assert_array_equal(special.ndtri_exp(xp.asarray([0.0, -np.inf, 1.0, np.nan])).get(), [np.inf, -np.inf, np.nan, np.nan])


# By mpmath (50 digits), about the places where one expansion takes over from another.
@pytest.mark.parametrize(
    ("name", "operands", "value"),
    [
        ("gammaincinv", (5.16139947, 0.640548621), 5.6622648037046455),
        ("betainc", (0.0010153513876451164, 0.4741580159675227, 0.8200994588584929), 0.9989904929683915),
        ("bdtrc", (2, 11, 1e-9), 1.6499999901000003e-25),
        ("nbdtr", (3, 5, 1e-9), 5.599999986000002e-44),
        ("pdtr", (4, 200.0), 9.413291991183476e-80),
        ("ndtri_exp", (-0.6931471812530925,), -8.687311635289598e-10),
        ("ndtri_exp", (-779.5,), -39.36768908280454),
        ("ndtri_exp", (-790.0,), -39.6333383710488),
        ("ndtri_exp", (-1e5,), -447.1978936785251),
        ("tklmbda", (-7.4, 1e-6), 0.0006108626411606159),
        ("tklmbda", (-800.0, 0.001), 0.0),
        ("tklmbda", (999.99, 0.001), 1.0),
        ("lambertw", (-0.35,), -0.7166388164560736),
        ("lambertw", (-0.2,), -0.25917110181907377),
        ("lambertw", (1e-9,), 9.999999990000001e-10),
        ("lambertw", (0.5,), 0.35173371124919584),
        ("lambertw", (3.0,), 1.04990889496404),
        ("lambertw", (1e10,), 20.028685413304952),
    ],
)
def test_values_between_expansions(xp, name, operands, value):
    got = getattr(special, name)(*(xp.asarray([x]) for x in operands)).get()
    assert_allclose(got.real, [value], rtol=3e-14 if name == "ndtri_exp" else 5e-15)


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        # On an axis the sign of a zero part chooses the side of a cut.
        ("hankel1", (300.0, 12000 + 0j)),
        ("hankel2", (300.0, 12000 + 0j)),
        ("hankel1e", (5000.0, 1e5 + 0j)),
        ("kve", (300.0, -12000j)),
        ("kve", (300.0, 12000j)),
        # The first term is none, and the largest one stands beyond the range of integers.
        ("log_wright_bessel", (2.0, 0.0, 0.5)),
        ("log_wright_bessel", (5.0, 0.0, 1000.0)),
        ("log_wright_bessel", (1.0, 1.0, 1e40)),
        ("log_wright_bessel", (0.5, 1.0, 1e100)),
        # Near probabilities of 1
        ("smirnov", (1000001, 1e-8)),
        ("smirnov", (1000001, 1e-10)),
        ("smirnovi", (1000001, 0.9999999)),
        ("smirnovi", (1000001, 1 - 1e-10)),
        ("smirnovi", (100, 1 - 1e-10)),
    ],
)
def test_corners_of_expansions(name, arguments):
    with bc.device("cpu"):
        assert_allclose(function(name)(*arguments), getattr(scipy_special, name)(*arguments), rtol=1e-10)


def test_noncentral_t_at_ends_of_its_arguments():
    nctdtr = bc.scipy.special.nctdtr
    df, nc = [np.inf, np.inf, 5.0, 5.0, 5.0, 1e-100, 1e-300], [1.0, 0.0, 2.0, -2.0, 2.0, 1.0, 1.0]
    got = nctdtr(df, nc, [2.0, 1.0, 1e155, -1e200, 1e200, 2.0, 2.0])
    one = 0.8413447460685429
    assert_allclose(bc.asnumpy(got), [one, one, 1, 0, 1, 1 - one, 1 - one], rtol=1e-13)
    # The tail is a power of df / t**2, times a moment of the normal distribution: values of mpmath.
    far = [(0.5, 1, -1e200, 8.125283409963627e-102), (0.02, -3, -1e160, 6.1781223618535132e-4), (0.02, -3, 1e160, 0.99999921072089419),
           (0.001, 0, -1e300, 0.24955665327175237), (0.001, 5, 1e151, 0.29504029502720777), (1e-10, -1, -1e149, 0.8413447162267787),
           (0.5, 1e6, 1e200, 1), (2, 0.3, -1e155, 3.020602051758844e-311)]  # fmt: skip
    df, nc, t, want = np.transpose(far)
    assert_allclose(bc.asnumpy(nctdtr(df, nc, t)), want, rtol=1e-11, atol=1e-320)


def test_beta_distributions_with_small_parameters():
    a, b, x = np.transpose([(5e-11, 0.5, 1e-298), (1e-5, 0.5, 1e-10), (1e-8, 0.5, 0.3), (1e-8, 0.5, 0.9), (1e-8, 2, 1e-9),
                            (1e-10, 0.5, 1e-100), (1e-4, 30, 1e-5), (1e-6, 1, 1e-7), (0.003, 0.004, 1e-4), (1e-3, 700, 1e-3)])  # fmt: skip
    for name in ("betainc", "betaincc"):
        assert_allclose(bc.asnumpy(function(name)(a, b, x)), getattr(scipy_special, name)(a, b, x), rtol=2e-14)
    # y = dfn f / (dfn f + dfd) rounds to 1 though the tail beyond it does not vanish.
    got = function("ncfdtr")(2, [0.001, 0.001, 0.1, 0.1], [1.5, 1.5, 1.5, 150], [1e20, 1e12, 1e20, 1e6])
    assert_allclose(bc.asnumpy(got), [0.026163045166574896, 0.017152242766235948, 0.9111756287913233, 0.4499803685067358], rtol=1e-13)


def test_chndtr_of_an_infinite_noncentrality():
    inf, nan = np.inf, np.nan
    cases = [(1.0, 1.0, inf), (1.0, inf, inf), (0.0, 1.0, inf), (inf, 1.0, inf), (inf, 1.0, 1.0), (nan, 1.0, inf)]
    got = [float(function("chndtr")(*case)) for case in cases]
    np.testing.assert_array_equal(got, [0.0, 0.0, 0.0, nan, 1.0, nan])
