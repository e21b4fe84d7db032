"""Noncentral distributions against mpmath (30 digits) and SciPy, and the inverses of distribution functions against these functions."""

import numpy as np
import pytest
import scipy.special as reference

P = np.array([1e-9, 0.01, 0.2, 0.5, 0.8, 0.99])

# name: operands with p in the place of P, and where the unknown stands among the function's
INVERSES = {
    "bdtrik": (("p", 40.0, 0.3), lambda f, x, p: f.betainc(40.0 - x, x + 1, 1 - 0.3)),
    "bdtrin": ((3.0, "p", 0.3), lambda f, x, p: f.betainc(x - 3, 4.0, 1 - 0.3)),
    "btdtria": (("p", 2.0, 0.3), lambda f, x, p: f.btdtr(x, 2.0, 0.3)),
    "btdtrib": ((2.0, "p", 0.3), lambda f, x, p: f.btdtr(2.0, x, 0.3)),
    "chdtriv": (("p", 3.0), lambda f, x, p: f.chdtr(x, 3.0)),
    "chndtridf": ((30.0, "p", 2.0), lambda f, x, p: f.chndtr(30.0, x, 2.0)),
    "chndtrinc": ((30.0, 1.0, "p"), lambda f, x, p: f.chndtr(30.0, 1.0, x)),
    "chndtrix": (("p", 1.0, 2.0), lambda f, x, p: f.chndtr(x, 1.0, 2.0)),
    "fdtridfd": ((3.0, "p", 7.0), lambda f, x, p: f.betaincc(0.5 * x, 1.5, x / (21.0 + x))),
    "gdtria": (("p", 2.0, 3.0), lambda f, x, p: f.gdtr(x, 2.0, 3.0)),
    "gdtrib": ((2.0, "p", 3.0), lambda f, x, p: f.gdtr(2.0, x, 3.0)),
    "gdtrix": ((2.0, 3.0, "p"), lambda f, x, p: f.gdtr(2.0, 3.0, x)),
    "nbdtrik": (("p", 3.0, 0.01), lambda f, x, p: f.betainc(3.0, x + 1, 0.01)),
    "nbdtrin": ((3.0, "p", 0.3), lambda f, x, p: f.betainc(x, 4.0, 0.3)),
    "ncfdtri": ((2.0, 3.0, 1.5, "p"), lambda f, x, p: f.ncfdtr(2.0, 3.0, 1.5, x)),
    "ncfdtrinc": ((2.0, 3.0, "p", 900.0), lambda f, x, p: f.ncfdtr(2.0, 3.0, x, 900.0)),
    "nctdtrinc": ((3.0, "p", 1.2), lambda f, x, p: f.nctdtr(3.0, x, 1.2)),
    "nctdtrit": ((3.0, 1.0, "p"), lambda f, x, p: f.nctdtr(3.0, 1.0, x)),
    "nrdtrimn": (("p", 2.0, 1.0), lambda f, x, p: f.ndtr((1.0 - x) / 2.0)),
    "pdtrik": (("p", 30.0), lambda f, x, p: f.gammaincc(x + 1, 30.0)),
}  # fmt: skip


@pytest.mark.parametrize("name", INVERSES)
def test_the_function_of_the_inverse_is_the_probability(xp, name):
    operands, function = INVERSES[name]
    special = xp.scipy.special
    p = xp.asarray(P)
    x = getattr(special, name)(*[p if o == "p" else o for o in operands])
    assert x.dtype == np.float64
    reached = function(special, x, p).get()
    # Where the tail below k = 0 is above p the answer is 0.
    found = x.get() > 0 if name in ("bdtrik", "nbdtrik", "pdtrik") else np.full(len(P), True)
    if name == "fdtridfd":
        found[0] = False  # 1e-9 is what an incomplete beta function lacks to 1: it has 9 digits fewer
    assert found.sum() >= 4
    np.testing.assert_allclose(reached[found], P[found], rtol=1e-11)
    assert (reached[~found] >= P[~found] * (1 - 1e-6)).all()


@pytest.mark.parametrize(("name", "operands"), [
    ("bdtrik", (0.5, 10.5, 0.3)), ("bdtrin", (3.0, 0.5, 0.3)), ("btdtria", (P, 2.0, 0.3)), ("btdtrib", (2.0, P, 0.3)),
    ("chdtriv", (P, 3.0)), ("chndtridf", (3.0, P[:4], 2.0)), ("chndtrinc", (3.0, 1.0, P[:5])), ("chndtrix", (P, 1.0, 2.0)),
    ("fdtridfd", (3.0, P[1:5], 2.0)), ("gdtria", (P, 2.0, 3.0)), ("gdtrib", (2.0, P, 3.0)), ("gdtrix", (2.0, 3.0, P)),
    ("nbdtrik", (P[2:], 3.0, 0.3)), ("nbdtrin", (3.0, P, 0.3)), ("ncfdtri", (2.0, 3.0, 1.5, P[1:])), ("nctdtridf", (0.5, 1.0, 1.2)),
    ("nctdtrinc", (3.0, P[1:], 1.2)), ("nctdtrit", (3.0, 1.0, P[1:])), ("nrdtrimn", (P, 2.0, 1.0)), ("nrdtrisd", (0.1, P[4:], 2.0)),
    ("pdtrik", (P[2:], 3.0)), ("stdtridf", (0.8, 1.5)), ("tklmbda", (np.array([-3.0, -1.9, -0.3, 0.5, 2.0]), 0.5)),
    ("tklmbda", (np.array([-300.0, -1.9, 0.0, 0.5, 20.0]), -0.5)), ("tklmbda", (np.array([-3.0, 0.5]), 0.0)),
])  # fmt: skip
def test_values_are_scipys(xp, name, operands):
    ours = getattr(xp.scipy.special, name)(*[xp.asarray(o) for o in operands])
    np.testing.assert_allclose(ours.get(), getattr(reference, name)(*operands), rtol=3e-7)


# mpmath: the integral of ndtr(t sqrt(u / df) - nc) over the chi-square density of u.
NONCENTRAL_T = [
    (3.0, 6.633, 1.2, 5.4432626210666e-7), (3.0, 7.943, 1.2, 1.0014728695384e-9), (3.0, 1.0, -20.0, 1.5681200540873e-5),
    (3.0, 1.0, -500.0, 1.0092887782335e-9), (10.0, 2.0, -3.0, 1.2230169286079e-5), (10.0, -2.0, -3.0, 0.22082800102979),
    (5.0, 3.0, 10.0, 0.98795066382457), (98.0, 38.0, 1.5, 1.8085884236564e-288),
]  # fmt: skip
# mpmath: the mixtures of Poisson weights.
NONCENTRAL_F = [
    (2.0, 3.0, 1.5, 1.2, 0.41013578024079), (5.0, 2.0, 30.0, 4.0, 0.20151089831103), (2.0, 100.0, 3.0, 0.001, 2.2318702382822e-4),
]  # fmt: skip
NONCENTRAL_CHI_SQUARE = [
    (1e-9, 3.0, 2.0, 3.0940286070315e-15), (5.0, 3.0, 50.0, 1.9244072127421e-7), (0.5, 1.0, 40.0, 9.688872875078e-9),
    (0.1, 200.0, 50.0, 1.1311224867205e-299), (1e-12, 20.0, 50.0, 3.7374463130066e-141),
]  # fmt: skip


@pytest.mark.parametrize(("name", "points", "rtol"), [
    ("nctdtr", NONCENTRAL_T, 1e-9), ("ncfdtr", NONCENTRAL_F, 1e-11), ("chndtr", NONCENTRAL_CHI_SQUARE, 1e-11),
])  # fmt: skip
def test_noncentral_distributions_against_mpmath(xp, name, points, rtol):
    *operands, expected = (xp.asarray(column) for column in np.array(points).T)
    np.testing.assert_allclose(getattr(xp.scipy.special, name)(*operands).get(), expected.get(), rtol=rtol)


def test_the_far_tail_of_noncentral_t_keeps_its_digits(xp):
    # mpmath: the integral of the normal distribution function over the chi distribution, in 30 digits.
    points = [
        (3.0, 5.0, -1.0, 9.435327079318337e-9), (10.0, 5.0, -3.0, 2.4581259660912683e-12), (5.0, 8.0, -1.0, 2.4668909917327296e-18),
        (30.0, 4.0, -2.0, 3.1991435695351703e-9), (5.0, 10.0, -0.1, 3.04127155412697e-24), (2.5, 6.0, -4.0, 1.1287996407489717e-12),
        (3.0, 1.0, -50.0, 1.0083815918656993e-6), (3.0, 1.0, -2.0, 0.0099685006327309132), (3.0, -2.0, 2.0, 0.99931284701453501),
        (85.7185588937025, 0.13607112282993236, -0.6815020802564861, 0.20768254290358792),
    ]  # fmt: skip
    *operands, expected = (xp.asarray(column) for column in np.array(points).T)
    np.testing.assert_allclose(xp.scipy.special.nctdtr(*operands).get(), expected.get(), rtol=2e-14)
    # Few degrees of freedom, where the integrand falls slowly, and far more than the sums could add.
    np.testing.assert_allclose(xp.scipy.special.nctdtr(0.001, 2.0, -1e-3).get(), reference.nctdtr(0.001, 2.0, -1e-3), rtol=1e-8)
    assert xp.scipy.special.nctdtr(9.0, 1e8, -1.0) == 0


def test_noncentral_distributions_against_scipy(xp):
    rng = np.random.default_rng(7)
    special = xp.scipy.special
    for _ in range(3):
        df, other, nc = rng.uniform(0.5, 50, 40), rng.uniform(0.5, 50, 40), rng.exponential(30, 40)
        x = rng.uniform(0.1, 3, 40)
        # SciPy's own values vary by 1e-10 of them in far tails.
        for name, operands in {"chndtr": (x * (df + nc), df, nc), "ncfdtr": (df, other, nc, x * (1 + nc / df)),
                               "nctdtr": (df, nc - 30, x * (nc - 30))}.items():  # fmt: skip
            ours = getattr(special, name)(*map(xp.asarray, operands)).get()
            np.testing.assert_allclose(ours, getattr(reference, name)(*operands), rtol=1e-8, atol=1e-14, err_msg=name)


def test_noncentral_distributions_of_large_noncentrality(xp):
    special = xp.scipy.special
    # mpmath: the mixture's sum at 1e5. SciPy's values, and those of the normal distribution's expansion, beyond.
    got = special.chndtr(xp.asarray([1e5 + 600, 1e10 + 2e5, 1e13 + 6e6]), 3.0, xp.asarray([1e5, 1e10, 1e13])).get()
    np.testing.assert_allclose(got, [reference.chndtr(1e5 + 600, 3.0, 1e5), 0.8413418, 0.8286080], rtol=1e-4)
    np.testing.assert_allclose(got[0], reference.chndtr(1e5 + 600, 3.0, 1e5), rtol=1e-12)
    # Both forms of it around the place where they change
    near = special.chndtr(1e10 + 3e5, 5.0, xp.asarray([1e10, 1e10 + 0.01])).get()
    np.testing.assert_allclose(near[0] - near[1], 0.01 * np.exp(-(1.5**2) / 2) / np.sqrt(2 * np.pi) / 2e5, rtol=1e-3)
    # Sums whose products are all too small end at once.
    assert special.chndtr(65536.0, 28.0, 1e15) == 0
    assert special.chndtr(1.0, 1e5, 1e300) == 0
    assert special.nctdtr(9.0, 65536.0, 45.0) == 0
    np.testing.assert_allclose(special.nctdtr(9.0, 65536.0, 65536.0).get(), 0.437274187, rtol=1e-8)
    assert np.isnan(special.nctdtr(9.0, 1e8, 1e8).get()) and np.isnan(special.ncfdtr(3.0, 5.0, 1e13, 1e13).get())
    np.testing.assert_allclose(special.chndtrinc(1e10, 3.0, 0.5).get(), 1e10 - 2, rtol=1e-12)


def test_without_noncentrality_they_are_the_central_ones(xp):
    special, x = xp.scipy.special, xp.asarray([0.1, 1.0, 7.5])
    np.testing.assert_allclose(special.chndtr(x, 3.0, 0.0).get(), special.chdtr(3.0, x).get(), rtol=1e-14)
    np.testing.assert_allclose(special.ncfdtr(3.0, 4.0, 0.0, x).get(), special.fdtr(3.0, 4.0, x).get(), rtol=1e-14)
    np.testing.assert_allclose(special.nctdtr(3.0, 0.0, x).get(), special.stdtr(3.0, x).get(), rtol=1e-14)


def test_edges(xp):
    special = xp.scipy.special
    ends = xp.asarray([0.0, 1.0])
    np.testing.assert_array_equal(special.chndtrix(ends, 1.0, 2.0).get(), [0, np.inf])
    np.testing.assert_array_equal(special.ncfdtri(2.0, 3.0, 1.5, ends).get(), [0, np.inf])
    np.testing.assert_array_equal(special.nctdtrit(3.0, 1.0, ends).get(), [-np.inf, np.inf])
    np.testing.assert_array_equal(special.chdtriv(ends, 3.0).get(), [np.inf, 0])
    np.testing.assert_array_equal(special.pdtrik(xp.asarray([0.0, 1e-9]), 3.0).get(), [0, 0])
    for name, operands in INVERSES.items():
        nans = getattr(special, name)(*[xp.asarray([-0.1, 1.1, np.nan]) if o == "p" else o for o in operands[0]])
        assert np.isnan(nans.get()).all(), name
    np.testing.assert_array_equal(special.chndtr(xp.asarray([0.0, np.inf]), 3.0, 2.0).get(), [0, 1])
    assert np.isnan(special.chndtr(xp.asarray([-1.0, np.nan]), 3.0, 2.0).get()).all()
    assert special.nrdtrisd(0.5, 0.5, 0.5) == 0
    assert np.isnan(special.stdtridf(xp.asarray([0.99, 0.3]), 1.5).get()).all()


def test_single_precision(xp):
    y = xp.scipy.special.chdtriv(xp.asarray([0.2, 0.5], dtype="float32"), xp.asarray(3.0, dtype="float32"))
    assert y.dtype == np.float32
    np.testing.assert_allclose(y.get(), reference.chdtriv([0.2, 0.5], 3.0), rtol=1e-6)


def test_errors_are_not_reported():
    from broadcloth.scipy import special

    assert special.geterr() == reference.geterr()
    assert special.seterr(all="ignore") == reference.geterr()
    with special.errstate(domain="ignore", memory="raise"):
        assert np.isnan(float(special.gammainc(-1.0, 1.0)))
    refused = [
        ({"domain": "raise"}, NotImplementedError), ({"all": "warn"}, NotImplementedError), ({"x": "ignore"}, ValueError),
        ({"slow": "no"}, ValueError),
    ]  # fmt: skip
    for arguments, error in refused:
        with pytest.raises(error):
            special.seterr(**arguments)
        with pytest.raises(error), special.errstate(**arguments):
            pass
