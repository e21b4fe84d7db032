"""Functions of broadcloth.scipy.special that are written in Python: Kelvin's, Wright's omega, integrals of Bessel functions and the
modified Fresnel integrals. Their values against mpmath are in test_special_functions.py; here special values, edges, gradients and call
forms."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import broadcloth as bc
from broadcloth import cuda
from broadcloth.scipy import special

scipy_special = pytest.importorskip("scipy.special")

KELVIN = ["ber", "bei", "berp", "beip", "ker", "kei", "kerp", "keip"]
INTEGRALS = ["itj0y0", "iti0k0", "it2j0y0", "it2i0k0"]


def slope_of(row, z, h=1e-5):
    return (row(z + h).get() - row(z - h).get()) / (2 * h)


def check_gradient(xp, row, z, rtol=1e-7):
    a = xp.asarray(z)
    a.requires_grad = True
    row(a).real.sum().backward()
    expected = slope_of(row, xp.asarray(z))
    assert a.grad.dtype == z.dtype
    assert_allclose(a.grad.get(), expected.conj() if z.dtype.kind == "c" else expected.real, rtol=rtol, atol=1e-10)


@pytest.mark.parametrize("name", KELVIN)
def test_kelvin_beside_scipy(xp, name):
    x = np.array([0.0, 1e-3, 2.5, 2.6, 7.99, 8.01, 29.9, 30.1, 500.0, -1e-3, -3.0, -12.0, np.nan])
    # SciPy's have ten digits.
    assert_allclose(getattr(special, name)(xp.asarray(x)).get(), getattr(scipy_special, name)(x), rtol=3e-8)
    assert getattr(special, name)(xp.ones(3, "f4")).dtype == np.float32


@pytest.mark.parametrize("name", KELVIN)
def test_gradients_of_kelvin_functions(xp, name):
    check_gradient(xp, getattr(special, name), np.array([0.7, 3.0, 11.0]))


def test_kelvin_gives_all(xp):
    x = np.array([[0.0, 2.0], [-1.5, 9.0]])
    for got, expected in zip(special.kelvin(xp.asarray(x)), scipy_special.kelvin(x), strict=True):
        assert got.dtype == np.complex128
        assert_allclose(got.get(), expected, rtol=1e-8)
    assert [y.dtype for y in special.kelvin(xp.ones(2, "f4"))] == [np.complex64] * 4


def test_wrightomega_at_the_edges(xp):
    x = np.array([-np.inf, np.inf, np.nan, -800.0, -38.1, -37.9, -2.0, 1.0, 1e25])
    assert_allclose(special.wrightomega(xp.asarray(x)).get(), scipy_special.wrightomega(x), rtol=1e-14)
    z = np.array([-np.inf + 1j, -np.inf + 4j, np.inf + 1j, 1 + np.inf * 1j, np.nan + 1j, -3 + 0j])
    assert_array_equal(special.wrightomega(xp.asarray(z)).get()[:5], scipy_special.wrightomega(z)[:5])


def test_wrightomega_on_both_sides_of_its_cuts(xp):
    x = -np.logspace(10, 0.01, 25)
    for edge in (np.pi, -np.pi):
        for to in (-9.0, 9.0):
            z = x + 1j * np.nextafter(edge, to)
            assert_allclose(special.wrightomega(xp.asarray(z)).get(), scipy_special.wrightomega(z), rtol=1e-12)


def test_gradients_of_wrightomega(xp):
    check_gradient(xp, special.wrightomega, np.array([-3.0, 0.3, 8.0]))
    check_gradient(xp, special.wrightomega, np.array([-3.0 + 1j, 0.3 - 2j, -4.0 + 5j]))


@pytest.mark.parametrize("name", INTEGRALS)
def test_integrals_beside_scipy(xp, name):
    x = np.array([0.0, 1e-3, 1.49, 1.51, 3.99, 4.01, 19.0, 150.0, -2.0, np.nan])
    for got, expected in zip(getattr(special, name)(xp.asarray(x)), getattr(scipy_special, name)(x), strict=True):
        # SciPy writes infinity as 1e300, and has few digits of what is left of a decaying integral.
        same = abs(expected) < 1e299
        assert_allclose(got.get()[same], expected[same], rtol=1e-4 if "2" in name else 1e-6, atol=1e-8)
        assert_array_equal(got.get()[abs(expected) == 1e300], np.sign(expected[abs(expected) == 1e300]) * np.inf)
        assert_array_equal(np.isnan(got.get()), np.isnan(expected))


@pytest.mark.parametrize("name", INTEGRALS)
@pytest.mark.parametrize("part", [0, 1])
def test_gradients_of_integrals(xp, name, part):
    check_gradient(xp, lambda x: getattr(special, name)(x)[part], np.array([0.7, 3.0, 11.0]))


def test_integrals_at_infinity(xp):
    x = xp.asarray([np.inf, -np.inf])
    for name, expected in [("itj0y0", ([1, -1], [0, np.nan])), ("iti0k0", ([np.inf, -np.inf], [np.pi / 2, np.nan])),
                           ("it2j0y0", ([np.inf, np.inf], [0, np.nan])), ("it2i0k0", ([np.inf, np.inf], [0, np.nan]))]:  # fmt: skip
        for got, value in zip(getattr(special, name)(x), expected, strict=True):
            assert_allclose(got.get(), value)


@pytest.mark.parametrize("name", ["modfresnelp", "modfresnelm"])
def test_modified_fresnel_integrals(xp, name):
    mpmath = pytest.importorskip("mpmath")
    side = 1j if name == "modfresnelp" else -1j
    x = np.array([0.0, 1e-3, 0.7, 3.8, 60.0, 1e4, -0.7, -30.0])
    with mpmath.workdps(40):
        turn = mpmath.expjpi(side.imag / 4)
        f = [mpmath.sqrt(mpmath.pi) / 2 * turn * mpmath.erfc(mpmath.mpf(v) / turn) for v in x]
        k = [mpmath.exp(-side * mpmath.mpf(v) ** 2) / turn * w / mpmath.sqrt(mpmath.pi) for v, w in zip(x, f, strict=True)]
    got = getattr(special, name)(xp.asarray(x))
    assert_allclose(got[0].get(), np.array(f, complex), rtol=1e-14)
    assert_allclose(got[1].get(), np.array(k, complex), rtol=1e-14)


@pytest.mark.parametrize("name", ["modfresnelp", "modfresnelm"])
def test_modified_fresnel_integrals_beside_scipy(xp, name):
    x = np.array([0.0, 1e-3, 0.7, 3.8, 9.0])  # SciPy's integrals of negative numbers have a wrong sign in part
    for part, (got, expected) in enumerate(zip(getattr(special, name)(xp.asarray(x)), getattr(scipy_special, name)(x), strict=True)):
        assert_allclose(got.get(), expected, rtol=1e-9)
        assert getattr(special, name)(xp.ones(2, "f4"))[part].dtype == np.complex64
        check_gradient(xp, lambda x, part=part: getattr(special, name)(x)[part], np.array([0.7, 3.0, -2.0]))
    with pytest.raises(TypeError, match="real numbers"):
        getattr(special, name)(xp.asarray([1j]))


def test_they_fuse_and_compiled_functions_call_them(xp):
    x = np.linspace(0.1, 12, 50)
    a = xp.asarray(x)
    assert_allclose((special.ber(a) * xp.sin(a) + special.wrightomega(a)).get(),
                    scipy_special.ber(x) * np.sin(x) + scipy_special.wrightomega(x), rtol=1e-7)  # fmt: skip
    omega, ker = special.wrightomega, special.ker

    @bc.njit
    def total(x):
        s = 0.0
        for i in range(x.size):
            s += omega(x[i]) + ker(x[i])
        return s

    assert_allclose(total(x), (scipy_special.wrightomega(x) + scipy_special.ker(x)).sum(), rtol=1e-8)


@pytest.mark.parametrize("name", [*KELVIN, "wrightomega", "_itj0", "_ity0", "_iti0", "_itk0", "_it2j0", "_it2y0", "_it2i0", "_it2k0"])
def test_they_compile_for_cuda(name):
    from broadcloth.scipy.special import _integrals

    row = getattr(_integrals if name.startswith("_") else special, name)
    code, _ = cuda.compile_ptx(row.py_func, (bc.float64,), device=True, cc=(9, 0))
    assert ".func" in code
