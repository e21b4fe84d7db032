"""Relations between special functions that hold for all arguments: Wronskians, Legendre's relation, inverses; and how functions are called
whose real operands take a row of the engine."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import broadcloth as bc
from broadcloth.scipy import special

COUNT = 2000


def uniform(xp, low, high, seed=0):
    return xp.asarray(np.random.default_rng(seed).uniform(low, high, COUNT))


# Beside the orders the ranges cross every border between expansions.
@pytest.mark.parametrize("orders", [(0.0, 3.0), (0.0, 60.0)])
@pytest.mark.parametrize("arguments", [(0.05, 6.0), (4.0, 12.0), (25.0, 80.0)])
def test_wronskians_of_bessel_functions(xp, orders, arguments):
    v, x = uniform(xp, *orders), uniform(xp, *arguments, seed=1)
    j, y = special.jv(v, x), special.yv(v, x)
    wronskian = special.jv(v + 1, x) * y - j * special.yv(v + 1, x)
    # Its two products may cancel: they are as large as the functions where these oscillate.
    size = 2 / (np.pi * x) + abs(j * special.yv(v + 1, x))
    assert float((abs(wronskian - 2 / (np.pi * x)) / size).max()) < 4e-13
    wronskian = special.ive(v, x) * special.kve(v + 1, x) + special.ive(v + 1, x) * special.kve(v, x)
    assert_allclose((wronskian * x).get(), 1, rtol=4e-13)


def test_bessel_functions_of_whole_orders_are_those_of_their_own_rows(xp):
    x = uniform(xp, 0.01, 60)
    for general, whole in ((special.jv, special.j0), (special.yv, special.y0), (special.kv, special.k0), (special.iv, special.i0)):
        expected = whole(x).get()
        assert_allclose(general(0.0, x).get(), expected, rtol=1e-13, atol=1e-15 if general in (special.jv, special.yv) else 0)


@pytest.mark.parametrize("arguments", [(-30.0, -3.0), (-5.0, 3.0), (1.5, 14.0)])
def test_wronskian_of_airy_functions(xp, arguments):
    ai, aip, bi, bip = special.airy(uniform(xp, *arguments))
    size = (abs(ai * bip) + abs(aip * bi)).get()
    assert_allclose((ai * bip - aip * bi).get() / size, (1 / np.pi) / size, rtol=0, atol=3e-15)
    x = uniform(xp, 0.0, 14.0)
    eai, _, _, ebip = special.airye(x)
    assert_allclose((eai * ebip).get(), (special.airy(x)[0] * special.airy(x)[3]).get(), rtol=1e-13)


def test_legendres_relation_of_elliptic_integrals(xp):
    m = uniform(xp, 1e-6, 1 - 1e-6)
    k, e, other_k, other_e = special.ellipk(m), special.ellipe(m), special.ellipk(1 - m), special.ellipe(1 - m)
    assert_allclose((e * other_k + other_e * k - k * other_k).get(), np.pi / 2, rtol=2e-14)
    # Negative parameters by DLMF 19.7.2
    assert_allclose(special.ellipk(-m / (1 - m)).get(), (k * (1 - m) ** 0.5).get(), rtol=1e-14)
    assert_allclose(special.ellipe(-m / (1 - m)).get(), (e / (1 - m) ** 0.5).get(), rtol=1e-14)


@pytest.mark.parametrize("parameters", [(0.0, 1.0), (0.999999, 1.0), (0.0, 1e-9)])
def test_squares_of_jacobis_functions(xp, parameters):
    u, m = uniform(xp, -20, 20), uniform(xp, *parameters, seed=1)
    sn, cn, dn, ph = special.ellipj(u, m)
    assert_allclose((sn * sn + cn * cn).get(), 1, rtol=1e-14)
    assert_allclose((dn * dn + m * sn * sn).get(), 1, rtol=1e-14)
    assert_allclose(bc.sin(ph).get(), sn.get(), rtol=0, atol=1e-14)
    assert_allclose(special.ellipkinc(ph, m).get(), u.get(), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("shapes", [(0.05, 1.0), (1.0, 8.0), (4.0, 30.0), (20.0, 400.0)])
def test_inverses_of_incomplete_functions(xp, shapes):
    a, b, p = uniform(xp, *shapes), uniform(xp, *shapes, seed=1), uniform(xp, 0.001, 0.999, seed=2)
    assert_allclose(special.gammainc(a, special.gammaincinv(a, p)).get(), p.get(), rtol=1e-12)
    assert_allclose(special.gammaincc(a, special.gammainccinv(a, p)).get(), p.get(), rtol=1e-12)
    x = special.betaincinv(a, b, p)
    inside = (x < 0.99).get()  # near 1 the rounding of x itself changes the function
    assert_allclose(special.betainc(a, b, x).get()[inside], p.get()[inside], rtol=1e-11)
    small = p * 1e-30
    assert_allclose(special.gammainc(a + 0.2, special.gammaincinv(a + 0.2, small)).get(), small.get(), rtol=1e-12)


def test_both_parts_of_the_incomplete_gamma_function_have_the_sum_1(xp):
    a = uniform(xp, 0.1, 40)
    x = a * uniform(xp, 0.2, 2.5, seed=1)
    assert_allclose((special.gammainc(a, x) + special.gammaincc(a, x)).get(), 1, rtol=1e-15)
    # DLMF 8.8.5
    step = bc.exp(a * bc.log(x) - x - special.gammaln(a + 1))
    assert_allclose((special.gammainc(a, x) - special.gammainc(a + 1, x)).get(), step.get(), rtol=0, atol=2e-14)


def test_beta_from_gamma(xp):
    a, b = uniform(xp, 0.01, 60), uniform(xp, 0.01, 60, seed=1)
    expected = (special.gammaln(a) + special.gammaln(b) - special.gammaln(a + b)).get()
    assert_allclose(special.betaln(a, b).get(), expected, rtol=1e-13, atol=1e-13)
    assert_allclose((special.beta(a, b) * special.gamma(a + b)).get(), (special.gamma(a) * special.gamma(b)).get(), rtol=2e-13)
    assert_allclose((special.rgamma(a) * special.gamma(a)).get(), 1, rtol=2e-15)


def test_real_operands_of_jv_take_the_rows_call_forms(xp):
    x = xp.asarray(np.array([0.5, 2.0, 7.0]))
    expected = special.jv(1.5, x).get()
    out = xp.zeros(3)
    assert special.jv(1.5, x, out=out) is out
    assert_allclose(out.get(), expected)
    kept = special.jv(1.5, x, out=xp.zeros(3), where=xp.asarray(np.array([True, False, True])))
    assert_allclose(kept.get(), expected * [1, 0, 1])
    assert special.jv(xp.asarray(np.array([1, 2, 3], np.int8)), xp.asarray(np.float32([1, 2, 3]))).dtype == np.float32
    assert special.jv(1, 2.0).dtype == np.float64 and special.jv(1.5, xp.asarray(np.array([1j]))).dtype == np.complex128
    assert special.airy(xp.zeros((0, 2)))[0].shape == (0, 2)


def test_gradients_of_real_bessel_and_airy_functions(xp):
    x = xp.asarray(np.array([0.5, 2.0, 7.0]))
    x.requires_grad = True
    (special.jv(1.5, x) + special.airy(x)[0] + special.fresnel(x)[1]).sum().backward()
    z = x.detach() if hasattr(x, "detach") else x
    expected = 0.5 * (special.jv(0.5, z) - special.jv(2.5, z)) + special.airy(z)[1] + bc.cos(np.pi / 2 * z * z)
    assert_allclose(x.grad.get(), expected.get(), rtol=1e-12)


def test_corners_are_those_of_scipy(xp):
    scipy_special = pytest.importorskip("scipy.special")
    for y in (0.0, 0j):
        assert np.isnan(complex(special.elliprc(1.0, y).get()).real) and np.isnan(complex(scipy_special.elliprc(1.0, y)).real)
    expected, got = complex(scipy_special.hankel2(0, 0)), complex(special.hankel2(0, 0).get())
    assert np.isnan(expected.real) and np.isnan(got.real) and expected.imag == got.imag == np.inf
    with np.errstate(all="ignore"):
        assert np.isnan(scipy_special.gammaincinv(np.inf, 0.5)) and np.isnan(float(special.gammaincinv(np.inf, 0.5).get()))
