"""Mathieu's functions in broadcloth.scipy.special against SciPy, their equation and their Wronskian determinant."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

import broadcloth as bc
from broadcloth import cuda
from broadcloth.scipy import special
from broadcloth.scipy.special import _mathieu

scipy_special = pytest.importorskip("scipy.special")

ORDERS = np.arange(0.0, 9)[:, None]
PARAMETERS = np.array([-30.0, -3, -0.2, 0, 0.01, 1, 5, 25, 100, 1000])


@pytest.mark.parametrize("name", ["mathieu_a", "mathieu_b"])
def test_characteristic_values(xp, name):
    got = getattr(special, name)(xp.asarray(ORDERS), xp.asarray(PARAMETERS))
    expected = getattr(scipy_special, name)(ORDERS, PARAMETERS)
    assert_allclose(got.get()[1:], expected[1:], rtol=1e-12, atol=1e-11)
    assert_allclose(got.get()[0], expected[0] if name == "mathieu_a" else np.nan, rtol=1e-12, atol=1e-11)
    assert np.isnan(getattr(special, name)(xp.array([-1.0, 501.0, 2.0]), xp.array([1.0, 1.0, np.nan])).get()).all()
    assert getattr(special, name)(xp.ones(2, "f4"), xp.ones(2, "f4")).dtype == np.float32
    with pytest.raises(NotImplementedError, match="whole"):
        getattr(special, name)(1.5, 1.0)


@pytest.mark.parametrize("name", ["mathieu_cem", "mathieu_sem"])
@pytest.mark.parametrize("x", [0.0, 17.0, 100.0, -33.0, 725.0])
def test_angular_functions(xp, name, x):
    for got, expected in zip(
        getattr(special, name)(xp.asarray(ORDERS), xp.asarray(PARAMETERS), x),
        getattr(scipy_special, name)(ORDERS, PARAMETERS, x),
        strict=True,
    ):
        assert_allclose(got.get(), expected, rtol=1e-11, atol=1e-11)


@pytest.mark.parametrize("name", ["mathieu_modcem", "mathieu_modsem"])
@pytest.mark.parametrize("x", [0.0, 0.5, 2.0, -0.7])
def test_modified_functions(xp, name, x):
    """DLMF 28.20.21, and SciPy's values where these fulfil it as well."""
    m, q = ORDERS[name == "mathieu_modsem" :], np.array([0.01, 1, 5, 25, 100, 1000])
    given = xp.asarray(m), xp.asarray(q), x
    ours = [part.get() for kind in "12" for part in getattr(special, name + kind)(*given)]
    theirs = [part for kind in "12" for part in getattr(scipy_special, name + kind)(m, q, x)]
    assert_allclose(ours[0] * ours[3] - ours[1] * ours[2], 2 / np.pi, rtol=1e-11)
    good = abs((theirs[0] * theirs[3] - theirs[1] * theirs[2]) * np.pi / 2 - 1) < 1e-12
    assert good.sum() > 8
    for got, expected in zip(ours, theirs, strict=True):
        assert_allclose(got[good], expected[good], rtol=1e-8, atol=1e-11)


def test_no_values_of_modified_functions(xp):
    for m, q, x in ((2.0, -1.0, 1.0), (501.0, 1.0, 1.0), (2.0, np.nan, 1.0), (2.0, 1.0, np.nan)):
        assert all(np.isnan(part.get()) for part in special.mathieu_modcem1(xp.array(m), q, x))
    assert np.isnan(special.mathieu_modsem2(xp.array(0.0), 1.0, 1.0)[0].get())


@pytest.mark.parametrize("name", ["even", "odd"])
def test_coefficients_give_the_function(name):
    for m, q in ((1, 0.0), (2, 0.0), (2, 1.0), (3, 500.0), (8, 40.0), (9, 1e4)):
        coefficients = getattr(special, f"mathieu_{name}_coef")(m, q).get()
        first = m % 2 if name == "even" or m % 2 else 2
        n = first + 2 * np.arange(len(coefficients))
        series = (coefficients * (np.cos if name == "even" else np.sin)(n * np.radians(40.0))).sum()
        assert_allclose(
            series, getattr(special, "mathieu_cem" if name == "even" else "mathieu_sem")(m, q, 40.0)[0].get(), rtol=1e-10, atol=1e-13
        )
        if q < 100:
            theirs = getattr(scipy_special, f"mathieu_{name}_coef")(m, q)[:10]
            assert_allclose(coefficients[: len(theirs)], theirs, rtol=1e-9, atol=1e-12)
    for m, q in ((1.5, 1.0), (-1, 1.0), (2, -1.0), ([2], 1.0), (2, [1.0])):
        with pytest.raises(ValueError, match=f"mathieu_{name}_coef"):
            getattr(special, f"mathieu_{name}_coef")(m, q)


def test_gradients(xp):
    for name, part in (("mathieu_cem", 0), ("mathieu_cem", 1), ("mathieu_sem", 0), ("mathieu_modcem1", 0), ("mathieu_modsem2", 1)):
        x = xp.array([0.4, 1.3])
        x.requires_grad = True
        getattr(special, name)(2.0, 3.0, x)[part].sum().backward()
        up, down = (getattr(special, name)(2.0, 3.0, xp.array([0.4, 1.3]) + h)[part].get() for h in (1e-5, -1e-5))
        assert_allclose(x.grad.get(), (up - down) / 2e-5, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("name", ["_ce", "_sep", "_mc1", "_mc2p", "_ms2"])
def test_they_compile_for_cuda(name):
    code, _ = cuda.compile_ptx(getattr(_mathieu, name).py_func, (bc.float64,) * 3, device=True, cc=(9, 0))
    assert ".func" in code


@pytest.mark.parametrize(
    ("name", "m", "q", "expected"),
    [
        # By Sturm's counts with 40 digits
        ("mathieu_b", 13, 146.092886594758, 217.34900826258902),
        ("mathieu_a", 11, 5869.47514465224, -8282.335977589844),
        ("mathieu_b", 8, 2483.4809714005078, -3500.739412994414),
        ("mathieu_a", 10, -2431.4563486014204, -2848.7373688639723),
        ("mathieu_a", 3, 15.555480235853295, 16.541817681777186),
        ("mathieu_b", 5, -1775.7082896653392, -2639.8693487026503),
        ("mathieu_a", 0, 6.98241149625807e-05, -2.4377035138539433e-09),
    ],
)
def test_characteristic_values_are_no_neighbours(xp, name, m, q, expected):
    made = getattr(special, name)(xp.array(float(m)), q)
    assert_allclose(made.get(), expected, rtol=1e-13)


@pytest.mark.parametrize("sine", [False, True])
def test_characteristic_values_are_those_of_the_order(sine):
    # LAPACK's eigenvalues of the symmetric matrix (DLMF 28.4); in its avoided crossings a neighbour's is easily taken for one.
    linalg = pytest.importorskip("scipy.linalg")
    rng = np.random.default_rng(4)
    m, q = rng.integers(1, 120, 300), 10 ** rng.uniform(-3, 4.5, 300)
    got = getattr(special, "mathieu_b" if sine else "mathieu_a")(m, q).get()
    for order, parameter, value in zip(m.tolist(), q.tolist(), got.tolist(), strict=True):
        first = 1 if order % 2 else 2 if sine else 0
        rows = order // 2 + int(4 * np.sqrt(parameter)) + 60
        diagonal, beside = (first + 2.0 * np.arange(rows)) ** 2, np.full(rows - 1, parameter)
        if first == 1:
            diagonal[0] += -parameter if sine else parameter
        elif first == 0:
            beside[0] *= np.sqrt(2)
        index = (order - first) // 2
        (want,) = linalg.eigh_tridiagonal(diagonal, beside, eigvals_only=True, select="i", select_range=(index, index))
        assert_allclose(value, want, rtol=1e-11, atol=1e-13 * diagonal[-1])
