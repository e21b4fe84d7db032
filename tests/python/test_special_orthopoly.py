"""broadcloth.scipy.special: orthogonal polynomials as objects, beside SciPy's."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from broadcloth.scipy import special

scipy_special = pytest.importorskip("scipy.special")

FAMILIES = {
    "legendre": (), "sh_legendre": (), "chebyt": (), "chebyu": (), "chebyc": (), "chebys": (), "sh_chebyt": (), "sh_chebyu": (),
    "jacobi": (0.5, 1.5), "sh_jacobi": (2.5, 1.25), "gegenbauer": (1.75,), "laguerre": (), "genlaguerre": (0.5,), "hermite": (),
    "hermitenorm": (),
}  # fmt: skip


@pytest.mark.parametrize("name", FAMILIES)
@pytest.mark.parametrize("monic", [False, True])
def test_polynomials_are_scipys(xp, name, monic):
    p = FAMILIES[name]
    for n in (0, 1, 2, 6, 11):
        ours, theirs = getattr(special, name)(n, *p, monic=monic), getattr(scipy_special, name)(n, *p, monic=monic)
        scale = np.abs(theirs.coeffs).max()
        assert_allclose(ours.coeffs.get(), theirs.coeffs, rtol=1e-10, atol=1e-12 * scale)
        if n > 0:  # of degree 0 SciPy has a norm of 1 and limits of -1 and 1 for some families
            assert_allclose(ours.normcoef, theirs.normcoef, rtol=1e-12)
            assert ours.limits == theirs.limits
        assert_allclose(ours.weights.get(), np.reshape(theirs.weights, (n, 3)), rtol=1e-10, atol=1e-14)
        low, high = max(ours.limits[0], -3), min(ours.limits[1], 5)
        x = np.linspace(low, high, 9)[1:-1]
        assert_allclose(ours(xp.asarray(x)).get(), theirs(x), rtol=1e-10, atol=1e-10)
        assert_allclose(ours.weight_func(xp.asarray(x)).get(), theirs.weight_func(x) * np.ones(7), rtol=1e-13)
        # Its coefficients are those of the polynomial that the recurrence evaluates.
        assert_allclose(np.polyval(ours.coeffs.get(), x), ours(x).get(), rtol=1e-9, atol=1e-10 * scale)
        assert ours.order == n


def test_they_are_polynomials(xp):
    p = special.legendre(3)
    assert repr(p) == "orthopoly1d([ 2.5,  0. , -1.5,  0. ])"
    assert p.deriv().coeffs.get().tolist() == [7.5, 0.0, -1.5]
    assert (p * 2).coeffs.get().tolist() == [5.0, 0.0, -3.0, 0.0]
    assert p(special.legendre(1)).coeffs.get().tolist() == [2.5, 0.0, -1.5, 0.0]
    for n in (-1, 1.5):
        with pytest.raises(ValueError, match="n must be nonnegative"):
            special.legendre(n)
    with pytest.raises(ValueError, match="alpha"):
        special.genlaguerre(3, -1)
