"""broadcloth.scipy.special: functions that are made of others, against values by mpmath; special values and call forms as SciPy's."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import broadcloth as bc
from broadcloth.scipy import special

scipy_special = pytest.importorskip("scipy.special")

# name: operands and the value, by mpmath.
VALUES = {
    "stdtr": [
        (0.1, -100000000.0, 0.06615032178778671),
        (0.5, -5, 0.1429957015794294),
        (1, -1.1, 0.23485382781163183),
        (3.7, -0.3, 0.39013374356573116),
        (10, 1e-05, 0.5000038910838396),
        (100, 2, 0.9758939106344332),
        (1234.5, -12, 9.261619423081789e-32),
        (20000.0, -5, 2.8907570738290255e-07),
        (1e7, -8, 6.221617401403393e-16),
        (0.5, -1e150, 3.207009754142229e-76),
    ],
    "stdtrit": [
        (0.5, 1e-10, -1.02849115631634e19),
        (1, 0.001, -318.30883898555044),
        (3.7, 0.1, -1.5575658388615075),
        (10, 0.26, -0.6667799718641891),
        (100, 0.499999, -2.5129025803064173e-06),
        (1234.5, 0.7, 0.5245359412496179),
        (20000.0, 0.99, 2.326534342053274),
        (1000000.0, 1e-50, -14.934173857988045),
    ],
    "kolmogorov": [
        (0.2, 0.999999999999495),
        (0.5, 0.9639452436648751),
        (0.81, 0.5279614323123148),
        (0.83, 0.4961909953505058),
        (1.5, 0.02221796261652513),
        (5, 3.8574996959278356e-22),
        (18, 7.554499944724249e-282),
    ],
    "kolmogi": [
        (1e-300, 18.593932815286465),
        (1e-05, 2.470432416150073),
        (0.1, 1.2238478702170823),
        (0.49, 0.8339620592202542),
        (0.51, 0.821242018897604),
        (0.9, 0.5711732651063401),
        (0.99, 0.4410276985179294),
    ],
    "owens_t": [
        (0, 0.3, 0.04638678953887117),
        (1e-05, 1.5, 0.15641647908256398),
        (0.5, 0.01, 0.0014044847761240636),
        (0.66, 1, 0.09489602449814612),
        (0.68, 3, 0.12338644362775707),
        (2, 1e-08, 2.153927930184863e-10),
        (5, 1.0001, 1.433257449654083e-07),
        (10, 0.9, 3.809926512080263e-24),
    ],
    "spence": [
        (1e-300, 1.6449340668482264),
        (0.1, 1.2997147230049586),
        (0.49, 0.5961653613779507),
        (0.7, 0.32612951007547614),
        (0.999999, 1.0000002500288667e-06),
        (1.1, -0.09760523522932167),
        (1.99, -0.8155258814773397),
        (2.01, -0.8293888705204264),
        (100, -12.192421669033171),
        (10000000000.0, -266.73983958836556),
    ],
    "agm": [
        (1e-300, 1, 0.002269406194157821),
        (0.3, 7, 2.4231054295141594),
        (1, 1, 1.0),
        (1e300, 1e-05, 2.232276107498356e297),
        (3, 3.0000001, 3.0000000499999997),
    ],
    "powm1": [
        (1e-300, 1e-09, -6.907752893128537e-07),
        (0.1, -3, 998.9999999999999),
        (0.99999999, 0.3, -3.000000025574278e-09),
        (1.0000001, 20, 2.0000019011688767e-06),
        (50, -1e-12, -3.912023005420494e-12),
        (2, 0.5, 0.41421356237309503),
    ],
    "elliprc": [
        (0, 0.3, 2.867868604772738),
        (1e-08, 2.5, 0.9934188285664212),
        (1, 1, 1.0),
        (2.5, 2.500001, 0.6324554477062918),
        (1000000.0, 1e-08, 0.016811242831518348),
        (1, -0.3, 1.1953197483307492),
        (1e-08, -1, 9.999999933333335e-05),
    ],
    "elliprf": [
        (0, 1e-08, 1, 10.59663475708766),
        (0.5, 1, 2.5, 0.9229807528066247),
        (1000000.0, 1, 30, 0.006425800793048471),
        (1, 1, 1, 1.0),
        (0, 2.5, 2.5, 0.9934588265796102),
    ],
    "elliprd": [
        (0, 1e-08, 1, 28.789904407712502),
        (0.5, 1, 2.5, 0.4923137304777839),
        (1000000.0, 1, 0.1, 0.007207581282015973),
        (1, 1, 1, 1.0),
        (0, 2.5, 2.5, 0.5960752959477661),
    ],
    "elliprg": [
        (0, 1e-08, 1, 0.5000000252415869),
        (0.5, 1, 2.5, 1.131175873519368),
        (1000000.0, 1, 0.1, 500.00214685960066),
        (1, 1, 1, 1.0),
        (0, 2.5, 2.5, 1.2418235332245127),
    ],
    "elliprj": [
        (0, 1e-08, 1, 0.01, 2276.5008454205336),
        (0.5, 1, 2.5, 7, 0.23187410276984452),
        (1000000.0, 1, 0.1, 100000.0, 1.8307509841818356e-07),
        (1, 1, 1, 1, 1.0),
        (0.5, 1, 2.5, -0.5, -0.09863530666227593),
        (0.5, 1, 2.5, -70, -0.038208228860954964),
    ],
    "spherical_jn": [
        (0, 0.3, 0.9850673555377986),
        (1, 1e-05, 3.3333333333000005e-06),
        (5, 2.2, 0.004105911235545809),
        (10, 9.7, 0.05597204527253244),
        (30, 25, 0.0021037246887063146),
        (100, 99, 0.008654297834749533),
        (300, 150, 2.31970297185524e-62),
        (10, 700, -0.0006806514338177077),
    ],
    "spherical_in": [
        (0, 0.3, 1.0150676448238087),
        (1, 1e-05, 3.333333333366667e-06),
        (5, 2.2, 0.005958808398577407),
        (10, 9.7, 3.6035335308617644),
        (100, 99, 9.086210951632398e19),
        (300, 150, 4.093273802480267e-46),
        (10, 700, 6.696723861500756e300),
    ],
    "spherical_kn": [
        (0, 0.3, 3.8789151328985785),
        (1, 1e-05, 15707963267.16357),
        (5, 2.2, 10.097502667019747),
        (10, 9.7, 0.0015711072268607676),
        (30, 25, 1.5790183527872132e-05),
        (10, 600, 7.604237692387166e-264),
    ],
}


@pytest.mark.parametrize("name", VALUES)
def test_values(xp, name):
    *operands, expected = np.array(VALUES[name]).T
    if name.startswith("spherical"):
        operands[0] = operands[0].astype(int)
    assert_allclose(getattr(special, name)(*map(xp.asarray, operands)).get(), expected, rtol=1e-13)


EDGES = [0.0, 1.0, 0.25, 2.0, 3.5, -1.0, -2.5, np.inf, -np.inf, np.nan]


@pytest.mark.parametrize("name", ["stdtr", "stdtrit", "kolmogorov", "kolmogi", "owens_t", "spence", "powm1"])
def test_special_values_are_scipys(xp, name):
    function = getattr(special, name)
    operands = np.meshgrid(EDGES, EDGES) if function.nin == 2 else [np.array(EDGES)]
    if name.startswith("stdtr"):
        operands = [a[1:5, 1:5] for a in operands]
    if name in ("powm1", "spence"):  # SciPy has NaN or 0 for some infinite limits
        operands = [a[tuple([slice(7)] * a.ndim)] for a in operands]
    with np.errstate(all="ignore"):
        expected = getattr(scipy_special, name)(*operands)
    assert_allclose(function(*map(xp.asarray, operands)).get(), expected, rtol=1e-12, atol=1e-15)


def test_elliptic_integrals_of_operands_that_are_far_apart(xp):
    # mpmath: Carlson's duplication in 60 digits.
    third = [
        (4.033603218765688e29, 1.8660423022957347e-28, 7.637217231467335e-24, 0.06928902770263087, 1.770306548149504e-12),
        (1.5473605950390042e24, 4.6714774933652275e23, 2.320146618389822e22, 5.306759437152287e-14, 9.608384088260337e-34),
        (3663382342.116184, 6.354015726727767e24, 5.885413419080873e18, 1.2524400659225412e-25, 3.272398747579347e-25),
        (1e-300, 1e300, 1.0, 1e-200, 4.71238898038469e-50), (1e-200, 1e-100, 1e-150, 1e200, 1.768527650579131e-148),
        (1e250, 0.0, 1e-250, 1e-100, 5.2016108746534012e-23), (1e-308, 1e308, 1e308, 1e-308, 3e-154),
    ]  # fmt: skip
    second = [
        (1e300, 1e299, 1e300, 8.16418806772212e149), (1e-300, 1e-299, 1e-300, 1.8842132399562008e-150), (1e-320, 1e-310, 1.0, 0.5),
        (1e308, 1e308, 1e308, 1e154), (5e-324, 5e-324, 5e-324, 2.2227587494850775e-162), (1e-30, 1e-25, 1e30, 5e14),
    ]  # fmt: skip
    for name, points in ("elliprj", third), ("elliprg", second), ("elliprf", [(1e-320, 1e308, 1e308, 1.5707963267948966e-154)]):
        *operands, expected = (xp.asarray(column) for column in np.array(points).T)
        assert_allclose(getattr(xp.scipy.special, name)(*operands).get(), expected.get(), rtol=5e-15)
    got = xp.scipy.special.elliprj(6e-15 + 0j, 2e-22 + 0j, 1e28 + 0j, 2e22 + 0j)
    assert_allclose(got.get(), xp.scipy.special.elliprj(6e-15, 2e-22, 1e28, 2e22).get(), rtol=1e-14)


def test_edges_of_elliptic_integrals_and_means(xp):
    assert_array_equal(special.elliprf([0.0, -1.0, np.inf, np.nan], [0.0, 1.0, 1.0, 1.0], 0.0).get(), [np.inf, np.nan, 0.0, np.nan])
    assert_array_equal(special.elliprd([1.0, 0.0, 1.0], [1.0, 0.0, -1.0], [0.0, 1.0, 1.0]).get(), [np.inf, np.inf, np.nan])
    assert_array_equal(special.elliprc([1.0, -1.0, 1.0, np.inf], [0.0, 1.0, np.inf, 1.0]).get(), [np.nan, np.nan, 0.0, 0.0])
    assert_array_equal(special.elliprj([1.0, -1.0, 0.0], [1.0, 1.0, 0.0], 1.0, [0.0, 1.0, 1.0]).get(), [np.inf, np.nan, np.inf])
    assert_allclose(special.elliprg([4.0, 0.0, np.inf], [0.0, 0.0, 1.0], 0.0).get(), [1.0, 0.0, np.inf])
    assert_array_equal(special.agm([1.0, -1.0, 0.0, np.nan], [-1.0, -1.0, 3.0, 1.0]).get(), [np.nan, -1.0, 0.0, np.nan])


@pytest.mark.parametrize("name, count", [("elliprc", 2), ("elliprf", 3), ("elliprd", 3), ("elliprg", 3), ("elliprj", 4)])
def test_elliptic_integrals_of_complex_arguments(xp, name, count):
    rng = np.random.default_rng(4)
    ours, theirs = getattr(special, name), getattr(scipy_special, name)
    for side in (1.0, 0.49):  # the plane, and its right half
        z = 10 ** rng.uniform(-3, 3, (count, 100)) * np.exp(1j * np.pi * side * rng.uniform(-1, 1, (count, 100)))
        expected = theirs(*z)
        assert_allclose(ours(*map(xp.asarray, z)).get(), expected, rtol=1e-13)
        assert np.isfinite(expected).all() or name == "elliprj"
    # Conjugate operands, real ones in complex loops, poles, the cut, infinity
    points = [(1j, -1j, 0, 2), (-1 + 1j, -1 - 1j, 1, 1 - 3j), (1, 2, 3, -2), (0, 0, 1, 1), (-2, 1, 1, 1), (1, 2, 3, 0), (np.inf, 1, 1, 1),
              (1, np.nan, 1, 1)]  # fmt: skip
    z = np.array(points)[:, :count].T + 0j
    with np.errstate(all="ignore"):
        expected = theirs(*z)
    got = ours(*map(xp.asarray, z)).get()
    assert_allclose(got.real, expected.real, rtol=1e-13)
    assert ours(*map(xp.asarray, z.astype("F"))).dtype == np.complex64


def test_elliptic_integrals_of_complex_arguments_are_symmetric_and_scale(xp):
    x, y, z, p = 0.3 + 2j, 1.5 - 0.2j, 2 + 0.1j, 0.7 + 0.4j
    assert_allclose(special.elliprf(x, y, z), special.elliprf(z, x, y), rtol=1e-15)
    assert_allclose(special.elliprj(4 * x, 4 * y, 4 * z, 4 * p), special.elliprj(x, y, z, p) / 8, rtol=1e-14)
    assert_allclose(special.elliprj(x, y, z, z), special.elliprd(x, y, z), rtol=1e-14)


def test_sine_and_cosine_integrals_on_the_axes(xp):
    z = np.array([complex(a, b) for a in (-5.0, -2.0, 0.0, 2.0, 5.0) for b in (-5.0, -2.0, 0.0, 2.0, 5.0) if a or b])
    for name in ("sici", "shichi"):
        for got, expected in zip(getattr(special, name)(xp.asarray(z)), getattr(scipy_special, name)(z), strict=True):
            assert_allclose(got.get(), expected, rtol=1e-13)
        got = getattr(special, name)(xp.asarray(z.astype("F")))
        assert got[0].dtype == got[1].dtype == np.complex64
    far = special.sici(xp.asarray([np.inf, -np.inf, complex(0, np.inf), complex(np.nan, 1)], dtype="D"))[0].get()
    assert_allclose(far.real[:2], [np.pi / 2, -np.pi / 2])
    assert far[2].imag == np.inf and np.isnan(far[3])


def test_gradients_of_sine_integrals_of_complex_arguments(xp):
    z = np.array([0.7 + 0.4j, -4 + 2j])
    for name in ("sici", "shichi"):
        for part in range(2):
            a = xp.asarray(z)
            a.requires_grad = True
            getattr(special, name)(a)[part].real.sum().backward()
            slope = (getattr(special, name)(xp.asarray(z + 1e-5))[part] - getattr(special, name)(xp.asarray(z - 1e-5))[part]).get() / 2e-5
            assert_allclose(a.grad.get(), slope.conj(), rtol=1e-8)


def test_students_distribution_and_its_inverse(xp):
    df = xp.asarray([0.3, 1.0, 4.0, 50.0, 5e3, 2e4, 1e8, np.inf])[:, None]
    p = xp.asarray([1e-8, 0.01, 0.2, 0.3, 0.49, 0.5, 0.6, 0.8, 0.999])
    assert_allclose(special.stdtr(df, special.stdtrit(df, p)).get(), np.broadcast_to(p.get(), (8, 9)), rtol=5e-13)
    assert_allclose(special.stdtr(np.inf, [-1.0, 2.0]).get(), scipy_special.ndtr([-1.0, 2.0]), rtol=1e-14)
    assert np.isnan(special.stdtr([0.0, -1.0], 1.0).get()).all() and np.isnan(special.stdtrit(3.0, [-0.1, 1.1]).get()).all()


@pytest.mark.parametrize("name", ["jn", "in", "kn"])
@pytest.mark.parametrize("derivative", [False, True])
def test_spherical_functions_are_scipys(xp, name, derivative):
    ours, theirs = getattr(special, f"spherical_{name}"), getattr(scipy_special, f"spherical_{name}")
    n, z = np.arange(0, 9)[:, None], np.array([0.01, 0.5, 3, 12, -2, np.inf, np.nan])
    with np.errstate(all="ignore"):
        expected = theirs(n, z, derivative)
    assert_allclose(ours(xp.asarray(n), xp.asarray(z), derivative).get(), expected, rtol=1e-11, atol=1e-300)
    with np.errstate(all="ignore"):
        assert_allclose(ours(n, 0.0, derivative=derivative).get()[:3], theirs(n, 0.0, derivative=derivative)[:3])
    assert np.isnan(ours(-1, 1.5, derivative).item())
    with pytest.raises(NotImplementedError, match="whole numbers"):
        ours(1.5, 2.0, derivative)
    with pytest.raises(TypeError, match="no loop"):
        ours(1, 1j, derivative)


def test_owens_integral_has_legendres_nodes():
    module = special._distributions
    for n, own_nodes, own_weights in ((24, module._NEAR_NODES, module._NEAR_WEIGHTS), (44, module._FAR_NODES, module._FAR_WEIGHTS)):
        nodes, weights = special.roots_legendre(n)
        assert_allclose(own_nodes, nodes.get()[n // 2 :], rtol=1e-14)
        assert_allclose(own_weights, weights.get()[n // 2 :], rtol=1e-13)


def test_dirichlets_kernel(xp):
    x = np.linspace(-30, 30, 401)
    for n in (1, 2, 5, 8, 0, -1, 2.5):
        assert_allclose(special.diric(xp.asarray(x), n).get(), scipy_special.diric(x, n), rtol=1e-9, atol=1e-13)
    turns = np.arange(-3, 4) * (2 * np.pi)
    assert_array_equal(special.diric(xp.asarray(turns), 4).get(), scipy_special.diric(turns, 4))
    assert special.diric(xp.array([1.0], "f4"), 3).dtype == np.float32 and special.diric([1], 3).dtype == np.float64


def test_softplus(xp):
    x = np.array([-800.0, -1, 0, 2, 900])
    assert_allclose(special.softplus(xp.asarray(x)).get(), scipy_special.softplus(x), rtol=1e-15)
    out = xp.zeros(5)
    assert special.softplus(xp.asarray(x), out=out) is out
    host = np.ones(5)
    assert special.softplus(xp.asarray(x), out=host, where=xp.asarray(x) < 1) is host
    assert_allclose(host, np.where(x < 1, scipy_special.softplus(x), 1.0), rtol=1e-15)
    assert special.softplus(xp.asarray(x.astype("f4"))).dtype == np.float32 and special.softplus([1, 2]).dtype == np.float64


@pytest.mark.parametrize("name", ["stdtr", "owens_t", "agm", "elliprc", "kolmogorov", "spence"])
def test_call_forms_and_single_precision(xp, name):
    function, theirs = getattr(special, name), getattr(scipy_special, name)
    x = np.linspace(0.3, 4, 12).reshape(3, 4)
    others = [np.float32(0.75)] * (function.nin - 1)
    a = xp.asarray(x)
    assert_allclose(function(*others, a[::-1, ::2]).get(), theirs(*others, x[::-1, ::2]), rtol=1e-12)
    assert_allclose(function(*others, x.T.tolist()).get(), theirs(*others, x.T), rtol=1e-12)
    out = xp.zeros((3, 4))
    assert function(*others, a, out=out) is out
    assert_allclose(out.get(), theirs(*others, x), rtol=1e-12)
    single = function(*others, xp.asarray(x.astype("f4")))
    assert single.dtype == np.float32
    assert_allclose(single.get(), theirs(*others, x.astype("f4").astype("f8")), rtol=2e-7)
    assert function(*others, a[:0]).shape == (0, 4) and function(*others, 0.5).shape == ()
    assert function(*others, xp.array([1, 2])).dtype == np.float64
    assert set(theirs.types) >= set(function.types)


def test_they_fuse_and_compiled_functions_call_them(xp):
    x = xp.asarray(np.linspace(0.1, 3, 100))
    with xp.profiler.record() as recorded:
        y = special.stdtr(3.0, x) + special.spence(x) * special.agm(x, 2.0)
        y.get()
    assert len(recorded.kernels) == 1

    @bc.njit
    def both(x):
        return special.stdtr(3.0, x) + special.spence(x)

    assert both(0.5) == pytest.approx(scipy_special.stdtr(3.0, 0.5) + scipy_special.spence(0.5), rel=1e-13)
