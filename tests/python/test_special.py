"""broadcloth.scipy.special: values over the whole domain against mpmath, special values and call forms against SciPy, fused expressions,
compiled functions and kernels."""

from __future__ import annotations

import json
import math
import pickle
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import broadcloth as bc
from broadcloth.scipy import special

scipy_special = pytest.importorskip("scipy.special")

# Points and values by mpmath: scripts/special_values.py.
VALUES = json.loads((Path(__file__).parent / "special_values.json").read_text())
# Where a function has a zero near the points only the absolute error counts.
ABSOLUTE = {
    "j0",
    "j1",
    "y0",
    "y1",
    "yn",
    "spherical_yn",
    "sici_ci",
    "digamma",
    "gammaln",
    "betaln",
    "expi",
    "shichi_chi",
    "ellipj_cn",
    "ellipj_sn",
    "lpmv",
    "sph_legendre_p",
}


def row(name: str):
    return bc._c.ufuncs["riemann_zeta" if name == "zeta1" else name]


def operands(name: str, dtype="float64"):
    table = np.array(VALUES[name])
    return [np.ascontiguousarray(x, dtype) for x in table[:, :-1].T], table[:, -1]


@pytest.mark.parametrize("name", sorted(VALUES))
def test_values_over_the_whole_domain(xp, name):
    arguments, expected = operands(name)
    got = row(name)(*map(xp.asarray, arguments)).get()
    assert_allclose(got, expected, rtol=1e-13, atol=4e-16 if name in ABSOLUTE else 0)


@pytest.mark.parametrize("name", sorted(VALUES))
def test_single_precision_is_double_precision_rounded(xp, name):
    arguments, _ = operands(name, "float32")
    got = row(name)(*map(xp.asarray, arguments))
    assert got.dtype == np.float32
    with np.errstate(over="ignore", under="ignore"):
        wide = row(name)(*(xp.asarray(x.astype("f8")) for x in arguments)).get().astype("f4")
    assert_allclose(got.get(), wide, rtol=1e-7, atol=1e-45)


SPECIAL_VALUES = [0.0, -0.0, 1.0, -1.0, 2.0, -2.0, 3.0, 0.5, -0.5, np.inf, np.nan, 30.0, -30.5]
# Without those whose value differs from SciPy's on purpose, as j0(inf) = 0, and rgamma, y0 and y1 for their sign or class at edges.
ONE_OPERAND = (
    # Not those with another value on purpose: j0(inf) = 0, and rgamma, y0 and y1 for their sign or class at the edges.
    " exp10 i0e i1e k0 k1 k0e k1e exp1 expi ellipk ellipkm1 ellipe"
).split()


@pytest.mark.parametrize("name", ONE_OPERAND)
def test_special_values_are_scipys(xp, name):
    x = np.array(SPECIAL_VALUES)
    with np.errstate(all="ignore"):
        expected = getattr(scipy_special, name)(x)
    got = getattr(special, name)(xp.asarray(x)).get()
    assert_allclose(got, expected, rtol=2e-13, atol=0)
    # erfinv and i1e are odd and keep the sign of a zero; at erfcinv(1) and ndtri(0.5) it means nothing.
    zero = (expected == 0) & (name not in ("erfinv", "i1e", "erfcinv", "ndtri"))
    assert_array_equal(np.signbit(got[zero]), np.signbit(expected[zero]))


def test_functions_of_degrees_are_exact_at_quarters(xp):
    x = xp.array([0.0, 30.0, 90.0, 180.0, 270.0, 360.0, -90.0, 3.6e17])
    assert special.sindg(x)[[0, 2, 3, 4, 5, 6, 7]].get().tolist() == [0, 1, 0, -1, 0, -1, 0]
    assert special.cosdg(x)[[0, 2, 3, 4, 5, 6, 7]].get().tolist() == [1, 0, -1, 0, 1, 0, 1]
    assert special.tandg(x)[[0, 2, 3]].get().tolist() == [0, np.inf, 0]
    assert_allclose(special.sindg(x)[1].get(), 0.5, rtol=1e-15)
    eighths = xp.array([45.0, 135.0, 225.0, -45.0])
    assert special.tandg(eighths).get().tolist() == special.cotdg(eighths).get().tolist() == [1, -1, 1, -1]


def test_values_at_the_origin_are_exact(xp):
    for count in (1, 40):  # one element, and loops of vectors
        zeros = xp.zeros(count)
        assert set(special.j0(zeros).get()) == {1.0}
        assert set(special.ellipk(zeros).get()) == set(special.ellipkm1(zeros + 1).get()) == {math.pi / 2}


def test_polynomials_of_degree_0_are_nan_of_nan_and_1_elsewhere(xp):
    x = xp.array([np.nan, np.inf, -np.inf, 1.5])
    for name in ("hermite", "hermitenorm", "laguerre", "legendre"):
        assert_array_equal(getattr(special, "eval_" + name)(0, x).get(), [np.nan, 1, 1, 1])
    for name in ("genlaguerre", "gegenbauer"):
        f = getattr(special, "eval_" + name)
        assert_array_equal(f(0, 0.5, x).get(), [np.nan, 1, 1, 1])
        assert np.isnan(f(0, np.nan, 0.5).get())


SCIPYS_DOMAINS = {
    "xlogy": [(-3, 3), (0, 4)], "xlog1py": [(-3, 3), (-0.9, 4)], "rel_entr": [(-0.5, 3), (0, 3)], "kl_div": [(0, 3), (3.5, 6)],
    "huber": [(0, 2), (-4, 4)], "pseudo_huber": [(0.1, 2), (-4, 4)], "boxcox": [(0.01, 5), (-2, 2)], "boxcox1p": [(-0.9, 5), (-2, 2)],
    "inv_boxcox": [(0, 3), (0.1, 2)], "inv_boxcox1p": [(0, 3), (0.1, 2)], "gammaincinv": [(0.1, 20), (0, 1)],
    "gammainccinv": [(0.1, 20), (0, 1)], "betaincinv": [(0.2, 20), (0.2, 20), (0, 1)], "betaincc": [(0.2, 20), (0.2, 20), (0, 1)],
    "betainccinv": [(0.2, 20), (0.2, 20), (0, 1)], "chdtrc": [(0.2, 20), (0, 30)], "chdtri": [(0.2, 20), (0.01, 1)],
    "fdtrc": [(0.2, 20), (0.2, 20), (0, 5)], "fdtri": [(0.5, 20), (0.5, 20), (0.01, 0.99)], "gdtrc": [(0.2, 3), (0.2, 20), (0, 5)],
    "radian": [(-200, 200), (0, 60), (0, 60)], "cosdg": [(-500, 500)], "sindg": [(-500, 500)], "tandg": [(1, 89)], "cotdg": [(1, 89)],
    "rgamma": [(-9.9, 9)], "ellipeinc": [(-4, 4), (-3, 1)],
}  # fmt: skip


@pytest.mark.parametrize("name", sorted(SCIPYS_DOMAINS))
def test_values_are_scipys(xp, name):
    rng = np.random.default_rng(5)
    arguments = [rng.uniform(low, high, 400) for low, high in SCIPYS_DOMAINS[name]]
    assert_allclose(
        getattr(special, name)(*map(xp.asarray, arguments)).get(), getattr(scipy_special, name)(*arguments), rtol=3e-12, atol=3e-15
    )


@pytest.mark.parametrize("name", ["bdtr", "bdtrc", "bdtri", "nbdtr", "nbdtrc", "nbdtri"])
def test_discrete_distributions(xp, name):
    rng = np.random.default_rng(6)
    k, p = rng.integers(0, 20, 300), rng.uniform(0.01, 0.99, 300)
    n = k + rng.integers(1, 30, 300)
    expected = getattr(scipy_special, name)(k.astype("f8") if name[0] == "b" else k, n, p)
    assert_allclose(getattr(special, name)(*map(xp.asarray, (k, n, p))).get(), expected, rtol=2e-12)


@pytest.mark.parametrize("name", ["nbdtr", "nbdtrc"])
def test_negative_binomial_distributions_at_the_edges(xp, name):
    k, n, p = (x.ravel() for x in np.meshgrid([-2, 0, 3], [-1, 0, 1, 5], [-0.2, 0.0, 0.4, 1.0, 1.5, np.nan]))
    expected = getattr(scipy_special, name)(k, n, p)
    assert_allclose(getattr(special, name)(*map(xp.asarray, (k, n, p))).get(), expected, rtol=1e-13)


def test_discrete_distributions_of_one_parameter(xp):
    k, m = np.arange(20.0), np.linspace(0.1, 30, 20)
    for name in ("pdtr", "pdtrc"):
        assert_allclose(getattr(special, name)(xp.asarray(k), xp.asarray(m)).get(), getattr(scipy_special, name)(k, m), rtol=2e-12)
    y = np.linspace(0.05, 0.95, 20)
    assert_allclose(special.pdtri(xp.asarray(k), xp.asarray(y)).get(), scipy_special.pdtri(k, y), rtol=2e-12)


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint8", "int16", "int32", "int64", "float16", "float32", "float64"])
def test_dtypes(xp, dtype):
    """float32 holds bools, small integers and float16, as where SciPy's float32 loop comes first; others run in float64."""
    x = np.array([1, 0, 1], dtype)
    wide = np.float64 if np.can_cast("int32", dtype) or dtype == "float64" else np.float32
    for name in ("gamma", "erf", "expit"):
        got, expected = getattr(special, name)(xp.asarray(x)), getattr(scipy_special, name)(x)
        assert got.dtype == wide
        assert_allclose(got.get(), expected, rtol=1e-6)
    assert special.xlogy(xp.asarray(x), xp.asarray(x)).dtype == special.gammainc(xp.asarray(x), xp.asarray(x)).dtype == wide
    assert special.betainc(xp.asarray(x), xp.asarray(x), xp.asarray(x)).dtype == wide


@pytest.mark.parametrize("name", ["gammaln", "ndtr", "j0", "expit"])
def test_complex_numbers_have_no_loop_in_some(xp, name):
    with pytest.raises(TypeError, match=f"'{name}' not supported .* got complex128; it takes real numbers alone"):
        getattr(special, name)(xp.array([1j]))


def test_call_forms(xp):
    x = np.linspace(0.5, 4, 12).reshape(3, 4)
    expected = scipy_special.gammaln(x)
    a = xp.asarray(x)
    out = xp.zeros((3, 4))
    assert special.gammaln(a, out=out) is out
    assert_allclose(out.get(), expected, rtol=1e-13, atol=1e-16)
    assert_allclose(special.gammaln(a.T).get(), expected.T, rtol=1e-13, atol=1e-16)
    assert_allclose(special.gammaln(a[::2, ::-1]).get(), expected[::2, ::-1], rtol=1e-13, atol=1e-16)
    masked = special.gammaln(a, where=a > 2, out=xp.zeros((3, 4))).get()
    assert_allclose(masked, np.where(x > 2, expected, 0), rtol=1e-13)
    assert special.gamma(5).item() == special.gamma([5.0]).item() == 24
    assert special.gamma(xp.array(5.0)).shape == () and special.gamma(xp.zeros((0, 3))).shape == (0, 3)
    assert special.gamma(xp.array([5.0]), dtype="f4").dtype == np.float32
    assert_allclose(special.beta(a[:, :1], a[:1]).get(), scipy_special.beta(x[:, :1], x[:1]), rtol=1e-13)
    assert_allclose(special.binom.outer(xp.array([5.0, 6.0]), xp.array([1.0, 2.0])).get(), [[5, 10], [6, 15]])
    assert pickle.loads(pickle.dumps(special.gamma)) is special.gamma
    with pytest.raises(TypeError):
        special.gamma()
    with pytest.raises(ValueError):
        special.beta(xp.zeros(3), xp.zeros(4))


def test_they_fuse_into_one_kernel(xp):
    x = xp.asarray(np.linspace(0.1, 3, 1000))
    xp.synchronize()
    with xp.profiler.record() as recorded:
        y = special.expit(x) * special.erf(x) + special.gammaln(x + 1)
    assert len(recorded.kernels) == 1
    v = np.linspace(0.1, 3, 1000)
    assert_allclose(y.get(), scipy_special.expit(v) * scipy_special.erf(v) + scipy_special.gammaln(v + 1), rtol=1e-13, atol=1e-15)


def test_in_compiled_functions():
    gammaln, erf, betainc = special.gammaln, special.erf, special.betainc

    @bc.njit
    def total(x):
        s = 0.0
        for i in range(x.size):
            s += gammaln(x[i]) * erf(x[i]) + betainc(2.0, 3.0, 0.1 * x[i])
        return s

    @bc.vectorize
    def both(x):
        return special.j0(x) + scipy_special.k1(x)

    x = np.linspace(0.3, 5, 50)
    expected = scipy_special.gammaln(x) * scipy_special.erf(x) + scipy_special.betainc(2.0, 3.0, 0.1 * x)
    assert_allclose(total(x), expected.sum(), rtol=1e-12)
    assert_allclose(both(x), scipy_special.j0(x) + scipy_special.k1(x), rtol=1e-12)


def test_in_kernels(xp):
    ndtr, digamma = special.ndtr, special.digamma

    @bc.cuda.jit
    def kernel(x, out):
        i = bc.cuda.grid(1)
        if i < x.size:
            out[i] = ndtr(x[i]) + digamma(x[i])

    x = np.linspace(0.3, 5, 100)
    out = xp.zeros(100)
    kernel[1, 128](xp.asarray(x), out)
    assert_allclose(out.get(), scipy_special.ndtr(x) + scipy_special.digamma(x), rtol=1e-12)


def test_pairs(xp):
    x = np.linspace(0.1, 20, 60)
    for name in ("sici", "shichi"):
        for got, expected in zip(getattr(special, name)(xp.asarray(x)), getattr(scipy_special, name)(x), strict=True):
            assert_allclose(got.get(), expected, rtol=1e-12, atol=1e-14)
    for got, expected in zip(special.ellipj(xp.asarray(x), 0.3), scipy_special.ellipj(x, 0.3), strict=True):
        assert_allclose(got.get(), expected, rtol=1e-11, atol=1e-13)


def test_polygamma_zeta_multigammaln(xp):
    n, x = np.arange(5)[:, None], np.linspace(0.3, 9, 20)
    assert_allclose(special.polygamma(xp.asarray(n), xp.asarray(x)).get(), scipy_special.polygamma(n, x), rtol=1e-12)
    assert_allclose(special.zeta(xp.array([2.0, 0.5, -3.0])).get(), scipy_special.zeta([2.0, 0.5, -3.0]), rtol=1e-13)
    assert_allclose(special.zeta(2.5, xp.asarray(x)).get(), scipy_special.zeta(2.5, x), rtol=1e-13)
    assert_allclose(special.multigammaln(xp.array([5.0, 23.5]), 10 - 2).get(), scipy_special.multigammaln([5.0, 23.5], 8), rtol=1e-13)
    with pytest.raises(ValueError, match="not met"):
        special.multigammaln(xp.array([1.0]), 10)
    with pytest.raises(ValueError, match="positive integer"):
        special.multigammaln(xp.array([1.0]), 1.5)
    order = np.array([0, 1, 3])
    for derivative in (False, True):
        expected = scipy_special.spherical_yn(order, 2.5, derivative=derivative)
        assert_allclose(special.spherical_yn(xp.asarray(order), 2.5, derivative=derivative).get(), expected, rtol=1e-13)


@pytest.mark.parametrize("axis", [None, 0, 1, -1, (0, 2), ()])
@pytest.mark.parametrize("keepdims", [False, True])
def test_logsumexp(xp, axis, keepdims):
    rng = np.random.default_rng(0)
    x, b = rng.normal(0, 300, (3, 4, 5)), rng.uniform(-1, 2, (3, 1, 5))
    a = xp.asarray(x)
    if axis != ():
        expected = scipy_special.logsumexp(x, axis=axis, keepdims=keepdims)
        got = special.logsumexp(a, axis=axis, keepdims=keepdims)
        assert got.shape == expected.shape
        assert_allclose(got.get(), expected, rtol=1e-13)
        want, want_sign = scipy_special.logsumexp(x, axis=axis, b=b, keepdims=keepdims, return_sign=True)
        log, sign = special.logsumexp(a, axis=axis, b=xp.asarray(b), keepdims=keepdims, return_sign=True)
        assert_allclose(log.get(), want, rtol=1e-12)
        assert_array_equal(sign.get(), want_sign)
        with np.errstate(all="ignore"):
            assert_allclose(special.softmax(a, axis).get(), scipy_special.softmax(x, axis), rtol=1e-12, atol=1e-300)
            assert_allclose(special.log_softmax(a, axis).get(), scipy_special.log_softmax(x, axis), rtol=1e-12)


def test_logsumexp_of_what_is_not_finite(xp):
    assert special.logsumexp(xp.array([-np.inf, -np.inf])).item() == -np.inf
    assert special.logsumexp(xp.array([np.inf, 1.0])).item() == np.inf
    assert math.isnan(special.logsumexp(xp.array([np.nan, 1.0])).item())
    assert special.logsumexp(xp.array([np.inf, 1.0]), b=xp.array([0, 1])).item() == 1
    assert math.isnan(special.logsumexp(xp.array([1.0, 2.0]), b=xp.array([1, -1])).item())
    assert special.logsumexp(xp.array([1, 2])).dtype == np.float64 and special.logsumexp(xp.array([1, 2], "f4")).dtype == np.float32
    z = np.array([1 + 2j, 0.5 - 1j])
    assert_allclose(special.logsumexp(xp.asarray(z)).get(), scipy_special.logsumexp(z), rtol=1e-13)


def test_the_modules_face():
    assert dir(special) == special.__all__ and "gamma" in dir(special)
    with pytest.raises(AttributeError, match="no attribute 'no_such_function'"):
        special.no_such_function  # noqa: B018
    assert special.psi is special.digamma
    missing = [name for name in special.__all__ if not getattr(special, name).__doc__]
    assert not missing


@pytest.mark.parametrize("name", ["betainc", "betaincc", "chdtr", "chdtrc"])
def test_distributions_at_the_ends_of_their_arguments(xp, name):
    ends = [0.0, 0.5, 1.0, 2.5, -1.0, np.inf, np.nan, -np.inf]
    operands = np.meshgrid(*[ends] * (3 if name.startswith("beta") else 2))
    assert_allclose(getattr(special, name)(*map(xp.asarray, operands)).get(), getattr(scipy_special, name)(*operands), rtol=1e-13)
