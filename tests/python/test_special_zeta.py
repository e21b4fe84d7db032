"""Riemann's zeta function of complex numbers in broadcloth.scipy.special, against SciPy."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

import broadcloth as bc
from broadcloth import cuda
from broadcloth.scipy import special
from broadcloth.scipy.special import _zeta

scipy_special = pytest.importorskip("scipy.special")


def test_complex_values_are_scipys(xp):
    z = np.random.default_rng(0).uniform(-40, 40, (400, 2)) @ np.array([1, 1j])
    assert_allclose(special.zeta(xp.asarray(z)).get(), scipy_special.zeta(z), rtol=2e-13)
    assert special.zeta(xp.asarray(z.astype("c8"))).dtype == np.complex64
    assert_allclose(special.zeta(0.5 + 1000j).get(), scipy_special.zeta(0.5 + 1000j), rtol=1e-11)


def test_special_values(xp):
    z = xp.array([0j, 2 + 0j, -2 + 0j, 1 + 0j, 100 + 3j, complex(np.inf, 0)])
    assert_allclose(special.zeta(z).get(), [-0.5, np.pi**2 / 6, 0, np.inf, 1, 1], rtol=1e-14)
    assert np.isnan(special.zeta(xp.array([complex(np.nan, 1), complex(1, np.nan), complex(2, 1e6)])).get()).all()
    # The first zero on the critical line
    assert abs(special.zeta(0.5 + 14.134725141734695j).get()) < 1e-14


def test_it_compiles_for_cuda():
    code, _ = cuda.compile_ptx(_zeta._complex_zeta.py_func, (bc.complex128,), device=True, cc=(9, 0))
    assert ".func" in code
