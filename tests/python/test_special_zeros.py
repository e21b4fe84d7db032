"""broadcloth.scipy.special: zeros of Bessel functions, against mpmath and SciPy."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from broadcloth.scipy import special

scipy_special = pytest.importorskip("scipy.special")


@pytest.mark.parametrize("name", ["jn_zeros", "jnp_zeros", "yn_zeros", "ynp_zeros"])
def test_zeros_are_scipys(xp, name):
    ours, theirs = getattr(special, name), getattr(scipy_special, name)
    for n in (0, 1, 2, 5, 17, 60):
        for nt in (1, 3, 40):
            got = ours(n, nt)
            assert got.shape == (nt,) and got.dtype == np.float64 and got.device == xp.array(0.0).device
            assert_allclose(got.get(), theirs(n, nt), rtol=1e-13)
    assert_array_equal(ours(-3, 4).get(), ours(3, 4).get())
    assert_array_equal(ours(np.int64(2), 4.0).get(), ours(2, 4).get())
    for n, nt in ((1.5, 3), (1, 0), (1, -2), (1, 1.5), ([1], 2)):
        with pytest.raises(ValueError, match=f"{name}: n"):
            ours(n, nt)


def test_many_zeros():
    """Among a thousand zeros the small ones lie far below the order at which the recurrence starts."""
    x = special.jn_zeros(0, 1000).get()
    assert_allclose(x[[0, 1, 999]], [2.404825557695773, 5.520078110286311, 3140.807295225079], rtol=1e-14)
    assert (np.diff(x) > 3).all()
