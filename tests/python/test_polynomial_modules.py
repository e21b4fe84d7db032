"""broadcloth.polynomial against numpy.polynomial."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose

import broadcloth as bc

MODULES = {
    "polynomial": "poly",
    "chebyshev": "cheb",
    "legendre": "leg",
    "hermite": "herm",
    "hermite_e": "herme",
    "laguerre": "lag",
}
FIRST, SECOND = [1.0, -2.0, 3.0, 0.5], [2.0, 1.0]
POINTS = np.linspace(-1.5, 2.0, 7)


@pytest.fixture(params=MODULES)
def pair(request):
    """Our module and NumPy's, and what their functions' names begin with."""
    return getattr(bc.polynomial, request.param), getattr(np.polynomial, request.param), MODULES[request.param]


def same(ours, theirs):
    if isinstance(theirs, (tuple, list)):
        assert len(ours) == len(theirs)
        for a, b in zip(ours, theirs, strict=True):
            same(a, b)
        return
    assert isinstance(ours, bc.ndarray)
    assert ours.dtype == np.asarray(theirs).dtype and ours.shape == np.shape(theirs)
    assert_allclose(bc.asnumpy(ours), theirs, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("name, args", [("add", 2), ("sub", 2), ("mul", 2), ("div", 2), ("mulx", 1), ("der", 1), ("int", 1), ("roots", 1)])
@pytest.mark.parametrize("kind", [list, np.array, bc.array])
def test_functions_of_coefficients_give_numpys(pair, name, args, kind):
    ours, theirs, prefix = pair
    given = [FIRST, SECOND][:args]
    same(getattr(ours, prefix + name)(*map(kind, given)), getattr(theirs, prefix + name)(*given))


@pytest.mark.parametrize("kind", [list, np.array, bc.array])
def test_values_at_points(pair, kind):
    ours, theirs, prefix = pair
    same(getattr(ours, prefix + "val")(kind(POINTS), kind(FIRST)), getattr(theirs, prefix + "val")(POINTS, FIRST))


def test_points_of_numpy_with_stacks_of_coefficients(pair):
    ours, theirs, prefix = pair
    stacked = np.arange(6.0).reshape(3, 2)
    want = getattr(theirs, prefix + "val")(POINTS.reshape(7, 1), stacked)
    same(getattr(ours, prefix + "val")(POINTS.reshape(7, 1), bc.array(stacked)), want)
    same(getattr(ours, prefix + "val")(bc.array(POINTS.reshape(7, 1)), stacked), want)


def test_functions_of_several_variables(pair):
    ours, theirs, prefix = pair
    grid = np.arange(6.0).reshape(3, 2)
    x, y = bc.array(POINTS), bc.array(POINTS[::-1].copy())
    same(getattr(ours, prefix + "val2d")(x, y, grid), getattr(theirs, prefix + "val2d")(POINTS, POINTS[::-1], grid))
    same(getattr(ours, prefix + "grid2d")(x, y, grid), getattr(theirs, prefix + "grid2d")(POINTS, POINTS[::-1], grid))
    same(getattr(ours, prefix + "vander2d")(x, y, [1, 2]), getattr(theirs, prefix + "vander2d")(POINTS, POINTS[::-1], [1, 2]))


def test_fits(pair):
    ours, theirs, prefix = pair
    values = POINTS**3 - POINTS
    made = getattr(ours, prefix + "fit")(bc.array(POINTS), bc.array(values), 3)
    assert isinstance(made, bc.ndarray)
    assert_allclose(bc.asnumpy(made), getattr(theirs, prefix + "fit")(POINTS, values, 3), atol=1e-10)


def test_constants_are_arrays(pair):
    ours, theirs, prefix = pair
    for name in ("domain", "zero", "one", "x"):
        same(getattr(ours, prefix + name), getattr(theirs, prefix + name))


def test_gradients_pass_through_values_and_coefficients():
    x = bc.array([1.0, 2.0])
    x.requires_grad = True
    bc.polynomial.polynomial.polyval(x, [1.0, 2.0, 3.0]).sum().backward()
    assert x.grad.tolist() == [8.0, 14.0]
    c = bc.array([1.0, 2.0])
    c.requires_grad = True
    bc.polynomial.chebyshev.chebmul(c, [0.0, 1.0]).sum().backward()
    assert c.grad.tolist() == [1.0, 1.0]


def test_errors_are_numpys(pair):
    ours, _, prefix = pair
    with pytest.raises(ValueError, match="empty"):
        getattr(ours, prefix + "add")([], [1.0])
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = ours.nothing


def test_series_are_computed_where_their_argument_lies():
    series = bc.polynomial.Polynomial.fit(bc.array(POINTS), bc.array(POINTS**2), 2)
    values = series(bc.array(POINTS))
    assert isinstance(values, bc.ndarray)
    assert_allclose(bc.asnumpy(values), POINTS**2, atol=1e-12)


def test_series_and_numpys_series_meet():
    ours, theirs = bc.polynomial.Polynomial([1.0, 2.0]), np.polynomial.Polynomial([0.0, 1.0])
    assert isinstance(ours, np.polynomial.Polynomial)
    for made in (ours + theirs, theirs + ours, ours * theirs, ours(theirs)):
        assert isinstance(made, np.polynomial.Polynomial)
    assert (ours + theirs).coef.tolist() == [1.0, 3.0]
    assert (ours + bc.array([1.0, 1.0])).coef.tolist() == [2.0, 3.0]
    assert ours(0.5) == 2.0 and pickle.loads(pickle.dumps(ours)) == ours
