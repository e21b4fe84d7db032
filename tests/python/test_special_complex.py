"""broadcloth.scipy.special of complex arguments, Lambert's W, spherical harmonics, and the functions beside them: values against mpmath,
special values and call forms against SciPy."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import broadcloth as bc
from broadcloth.scipy import special

scipy_special = pytest.importorskip("scipy.special")

# Points and values by mpmath: scripts/special_values.py complex.
VALUES = json.loads((Path(__file__).parent / "special_complex_values.json").read_text())
PLAIN = sorted(set(VALUES) - {"lambertw"})


def points(name: str):
    table = np.array(VALUES[name])
    return table[:, 0] + 1j * table[:, 1], table[:, -2] + 1j * table[:, -1]


@pytest.mark.parametrize("name", PLAIN)
def test_values_over_the_plane(xp, name):
    z, expected = points(name)
    got = getattr(special, name)(xp.asarray(z))
    assert got.dtype == np.complex128
    assert_allclose(got.get(), expected, rtol=1e-13)


@pytest.mark.parametrize("name", PLAIN)
def test_single_precision_is_double_precision_rounded(xp, name):
    z = points(name)[0].astype("c8")
    row = getattr(special, name)
    got = row(xp.asarray(z))
    assert got.dtype == np.complex64
    with np.errstate(all="ignore"):
        wide = row(xp.asarray(z.astype("c16"))).get().astype("c8")
    finite = np.isfinite(wide)
    assert_allclose(got.get()[finite], wide[finite], rtol=2e-7, atol=1e-44)


@pytest.mark.parametrize("name", sorted(set(PLAIN) - {"wofz"}))
def test_the_real_axis_is_the_real_function(xp, name):
    x = np.array([0.3, 1.0, 2.5, 7.0, 24.0])
    row = getattr(special, name)
    got = row(xp.asarray(x + 0j)).get()
    assert_allclose(got.real, row(xp.asarray(x)).get(), rtol=1e-15)
    assert not got.imag.any()


@pytest.mark.parametrize("name", PLAIN)
def test_conjugates_have_conjugate_values(xp, name):
    z, _ = points(name)
    z = z[z.imag != 0]
    row = getattr(special, name)
    below = -z.conj() if name == "wofz" else z.conj()
    assert_array_equal(row(xp.asarray(below)).get(), row(xp.asarray(z)).get().conj())


@pytest.mark.parametrize("name", ["gamma", "loggamma", "digamma"])
def test_poles_are_nan(xp, name):
    poles = np.array([0, -1, -2, -170], complex)
    assert np.isnan(getattr(special, name)(xp.asarray(poles)).get()).all()
    assert not special.rgamma(xp.asarray(poles)).get().any()


def test_sides_of_the_cuts(xp):
    x = np.array([-0.5, -1.5, -7.25])
    above, below = x + 0j, np.array([complex(v, -0.0) for v in x])
    for name in ("loggamma", "exp1"):
        for z in (above, below):
            assert_allclose(getattr(special, name)(xp.asarray(z)).get(), getattr(scipy_special, name)(z), rtol=1e-13)


@pytest.mark.parametrize("name", PLAIN)
def test_nans_stay(xp, name):
    z = np.array([complex(np.nan, 1), complex(1, np.nan), complex(np.nan, np.nan)])
    assert np.isnan(getattr(special, name)(xp.asarray(z)).get()).all()


@pytest.mark.parametrize("name", ["xlogy", "xlog1py"])
def test_products_with_logarithms(xp, name):
    x = np.array([0, 0, 1 + 2j, -3j, 0])
    y = np.array([0, 3j, 2 - 1j, 0.25, complex(np.nan, 0)])
    got = getattr(special, name)(xp.asarray(x), xp.asarray(y)).get()
    assert_allclose(got, getattr(scipy_special, name)(x, y), rtol=1e-14)


def test_lambertw_on_every_branch(xp):
    table = np.array(VALUES["lambertw"])
    z, k, expected = table[:, 0] + 1j * table[:, 1], table[:, 2].astype(int), table[:, 3] + 1j * table[:, 4]
    assert_allclose(special.lambertw(xp.asarray(z), xp.asarray(k)).get(), expected, rtol=2e-15)


def test_lambertw_at_the_edges(xp):
    z = np.array([np.inf, -np.inf, np.inf, 0, 0, np.nan, complex(-2, -0.0), -2, complex(-2, -0.0), complex(-0.2, -0.0), -0.2, -0.2])
    k = np.array([0, 0, 1, 0, 1, 0, 0, 0, 1, -1, -1, 0])
    got, expected = special.lambertw(xp.asarray(z), xp.asarray(k)).get(), scipy_special.lambertw(z, k)
    assert_allclose(got.real, expected.real, rtol=1e-14)
    assert_allclose(got.imag[z == z], expected.imag[z == z], rtol=1e-14)
    # At -1 / e, which lies a little above in float64, the branches meet.
    near = special.lambertw(xp.asarray(-np.exp(-1.0)), xp.asarray([0, -1])).get()
    assert_allclose(near, -1, atol=2e-8)


def test_lambertw_call_forms(xp):
    z = np.linspace(-0.3, 5, 6)
    expected = scipy_special.lambertw(z)
    assert_allclose(special.lambertw(xp.asarray(z)).get(), expected, rtol=1e-14)
    assert_allclose(special.lambertw(z=xp.asarray(z), k=0, tol=1e-8).get(), expected, rtol=1e-14)
    assert_allclose(
        special.lambertw(xp.asarray(z)[:, None], xp.arange(3)).get(), scipy_special.lambertw(z[:, None], np.arange(3)), rtol=1e-14
    )
    assert_allclose(special.lambertw(1).get(), 0.5671432904097838, rtol=1e-15)
    assert_allclose(special.lambertw([1.0, 2.0], [0, 1]).get(), scipy_special.lambertw([1.0, 2.0], [0, 1]), rtol=1e-14)
    for dtype in ("f2", "f4", "i1", "c8"):
        assert special.lambertw(xp.ones(3, dtype)).dtype == np.complex128
    assert special.lambertw(xp.zeros((0, 3))).shape == (0, 3)
    with pytest.raises(TypeError, match="whole numbers k"):
        special.lambertw(1.0, 1j)
    with pytest.raises(ValueError, match="tol"):
        special.lambertw(1.0, tol=-1)


def test_lpmv(xp):
    m, v, x = np.arange(-2, 5)[:, None, None], np.array([-3.0, -0.5, 0, 1, 2.5, 4, 9.75])[:, None], np.linspace(-0.95, 1, 9)
    got, expected = special.lpmv(*map(xp.asarray, (m, v, x))).get(), scipy_special.lpmv(m, v, x)
    assert_allclose(got, expected, rtol=3e-12, atol=1e-13)
    edges = np.array([[0, 2, -1], [0, 3, -1], [1, 2, -1], [1, 2, 1], [0, 0.5, -1], [1.5, 2, 0.5], [-3, 2, 0.5], [3, 2, 0.5]]).T
    assert_array_equal(special.lpmv(*map(xp.asarray, edges)).get(), scipy_special.lpmv(*edges))
    assert special.lpmv(xp.asarray([1], "i1"), xp.asarray([2], "i1"), xp.asarray([0.5], "f4")).dtype == np.float32


def test_wright_bessel(xp):
    a, b, x = np.array([0, 0.01, 0.5, 1, 3])[:, None, None], np.array([0, 0.3, 1, 9])[:, None], np.array([0, 1e-8, 0.5, 4, 30.0])
    got, expected = special.wright_bessel(*map(xp.asarray, (a, b, x))).get(), scipy_special.wright_bessel(a, b, x)
    assert_allclose(got, expected, rtol=1e-11)
    for point in ((1, 1, np.inf), (1, -1, 2), (-1, 1, 2), (1, 1, -1), (np.inf, 1, 1), (1, np.nan, 1)):
        assert_array_equal(special.wright_bessel(*map(xp.asarray, map(float, point))).get(), scipy_special.wright_bessel(*point))


def test_sph_harm_y_and_its_derivatives(xp):
    n, m = np.arange(6)[:, None, None], np.arange(-6, 7)[:, None]
    theta, phi = np.array([0.0, 1e-3, 0.7, 2.0, 3.1, np.pi]), np.array([0.3, 4.0, -2.0, 0.0, 1.0, 6.0])
    operands = [xp.asarray(v) for v in (n, m, theta, phi)]
    assert_allclose(special.sph_harm_y(*operands).get(), scipy_special.sph_harm_y(n, m, theta, phi), rtol=1e-12, atol=2e-15)
    for order in (1, 2):
        got, expected = special.sph_harm_y(*operands, diff_n=order), scipy_special.sph_harm_y(n, m, theta, phi, diff_n=order)
        assert len(got) == order + 1
        for a, b in zip(got, expected, strict=True):
            assert a.shape == b.shape
            inner = np.sin(theta) > 1e-10  # at the poles SciPy divides by sin(theta)
            axis = b.ndim - 1 - (b.ndim - 3)
            assert_allclose(np.compress(inner, a.get(), axis), np.compress(inner, b, axis), rtol=1e-9, atol=1e-8)


def test_sph_harm_y_call_forms(xp):
    assert special.sph_harm_y(2, 1, xp.asarray([0.3], "f4"), xp.asarray([0.4], "f4")).dtype == np.complex64
    assert special.sph_harm_y(2, 1, xp.asarray([0.3], "f4"), 0.4).dtype == np.complex64
    assert special.sph_harm_y(2, 1, 0.3, 0.4).dtype == np.complex128
    # Far from the degree where it begins a harmonic is tiny, and then is not; SciPy's are NaN.
    assert np.isfinite(special.sph_harm_y(1500, 1000, 1.2, 0.0).get())
    with pytest.raises(TypeError, match="whole numbers n"):
        special.sph_harm_y(2.0, 1, 0.3, 0.4)
    with pytest.raises(ValueError, match="diff_n=3"):
        special.sph_harm_y(2, 1, 0.3, 0.4, diff_n=3)
    # The older function: order first, then degree, azimuth, polar angle.
    got = special.sph_harm(xp.asarray([0, 1, -2, 3]), 2, 0.4, 0.3).get()
    assert_allclose(got[:3], scipy_special.sph_harm_y(2, np.array([0, 1, -2]), 0.3, 0.4), rtol=1e-13)
    assert np.isnan(got[3])


def test_they_fuse_into_one_kernel(xp):
    z = xp.asarray(np.linspace(0.1, 3, 500) + 0.5j)
    xp.synchronize()
    with xp.profiler.record() as recorded:
        y = special.gamma(z) * special.erf(z) + special.wofz(z + 1)
    assert len(recorded.kernels) == 1
    v = np.linspace(0.1, 3, 500) + 0.5j
    assert_allclose(y.get(), scipy_special.gamma(v) * scipy_special.erf(v) + scipy_special.wofz(v + 1), rtol=1e-12)


def test_in_kernels_and_compiled_functions(xp):
    erf, lpmv = special.erf, special.lpmv

    @bc.cuda.jit
    def kernel(z, x, out):
        i = bc.cuda.grid(1)
        if i < z.size:
            out[i] = erf(z[i]) + lpmv(1.0, 3.0, x[i])

    z, x = np.linspace(-2, 2, 50) + 0.3j, np.linspace(-0.9, 0.9, 50)
    out = xp.zeros(50, complex)
    kernel[1, 64](xp.asarray(z), xp.asarray(x), out)
    assert_allclose(out.get(), scipy_special.erf(z) + scipy_special.lpmv(1, 3, x), rtol=1e-12)


def test_scipys_ufuncs_call_ours(xp):
    z = xp.asarray([0.5 + 1j, 2.0])
    got = scipy_special.gamma(z)
    assert isinstance(got, xp.ndarray)
    assert_allclose(got.get(), scipy_special.gamma(z.get()), rtol=1e-13)


@pytest.mark.parametrize("name", ["gamma", "loggamma", "digamma", "erf", "erfcx", "erfi", "dawsn", "wofz", "exp1", "expi"])
def test_gradients_of_holomorphic_functions(xp, name):
    z = np.array([0.7 + 0.4j, -0.6 + 1.1j, 1.9 - 0.8j])
    a = xp.asarray(z)
    a.requires_grad = True
    row = getattr(special, name)
    row(a).real.sum().backward()
    h = 1e-5
    slope = (row(xp.asarray(z + h)).get() - row(xp.asarray(z - h)).get()) / (2 * h)
    assert_allclose(a.grad.get(), slope.conj(), rtol=1e-8)
