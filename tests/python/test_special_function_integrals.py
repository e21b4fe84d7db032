"""Integrals of special functions in broadcloth.scipy.special, against mpmath's values, SciPy and their own derivatives."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

import broadcloth as bc
from broadcloth import cuda
from broadcloth.scipy import special
from broadcloth.scipy.special import _function_integrals

scipy_special = pytest.importorskip("scipy.special")

# By mpmath with 40 digits
VALUES = [
    ("itstruve0", (0.5,), (0.07847956904452134,)),
    ("itstruve0", (8.0,), (1.954540264438589,)),
    ("itstruve0", (33.0,), (2.9362862576306785,)),
    ("itstruve0", (60.0,), (3.5064226106670193,)),
    ("it2struve0", (0.5,), (1.2554161347806936,)),
    ("it2struve0", (8.0,), (0.10424275218780446,)),
    ("it2struve0", (33.0,), (0.022358307472910788,)),
    ("it2struve0", (60.0,), (0.009106134659743519,)),
    ("itmodstruve0", (0.5,), (0.08069011075541349,)),
    ("itmodstruve0", (8.0,), (462.11662576238575,)),
    ("itmodstruve0", (60.0,), (5.944696042175824e24,)),
    ("itairy", (0.7,), (0.18795521891909892, 0.5477335991327303, 0.30768045340815886, 0.3157555600572927)),
    ("itairy", (3.1,), (0.3305231020984091, 11.587725569726281, 0.7622031704379081, -0.21180212600415801)),
    ("itairy", (12.0,), (0.3333333333332938, 97037614223.61343, 0.7522883891661012, -0.01766081903155463)),
    ("itairy", (30.0,), (0.3333333333333333, 1.6612905384989332e46, 0.7077153688742868, -0.01587265240762936)),
    ("besselpoly", (0.5, 0.0, 0.0), (0.9197304100897602,)),
    ("besselpoly", (3.0, 2.5, 2.0), (0.029230326358612287,)),
    ("besselpoly", (10.0, -0.5, 0.5), (0.276225535646499,)),
    ("besselpoly", (30.0, 1.0, 1.0), (0.0018156713839205545,)),
    ("besselpoly", (22.5, 2.5, 2.0), (-0.0008244907995849909,)),
    ("log_wright_bessel", (0.1, 0.0, 1.0), (-1.2230405254689378,)),
    ("log_wright_bessel", (0.5, 0.5, 3.0), (2.838308255412588,)),
    ("log_wright_bessel", (2.0, 3.0, 20.0), (0.49839290805954733,)),
    ("log_wright_bessel", (1.0, 2.0, 10000.0), (191.8248528893924,)),
]
NAMES = sorted({name for name, _, _ in VALUES})


@pytest.mark.parametrize(("name", "operands", "expected"), VALUES)
def test_values_of_mpmath(xp, name, operands, expected):
    got = getattr(special, name)(*(xp.array(x) for x in operands))
    assert_allclose([part.get() for part in (got if isinstance(got, tuple) else (got,))], expected, rtol=6e-14)


@pytest.mark.parametrize("name", NAMES)
def test_call_forms(xp, name):
    function, theirs = getattr(special, name), getattr(scipy_special, name)
    given = {"besselpoly": ([0.5, 2.0], 1.5, [[1.0], [0.0]]), "log_wright_bessel": ([0.5, 2.0], 1.5, [[1.0], [3.0]])}
    operands = given.get(name, ([0.5, 2.0],))
    many = function(*operands)
    for got, expected in zip(many if isinstance(many, tuple) else (many,), np.atleast_1d(theirs(*operands), np.zeros(1))[:1], strict=False):
        if name != "itairy":
            assert_allclose(got.get(), expected, rtol=1e-9)
    for dtype in ("f4", "f8"):
        result = function(*(xp.asarray(np.asarray(x, dtype)) for x in operands))
        for part in result if isinstance(result, tuple) else (result,):
            assert part.dtype == dtype
    empty = function(*(xp.zeros(0) for _ in operands))
    assert (empty[0] if isinstance(empty, tuple) else empty).shape == (0,)
    nan = function(*(np.nan for _ in operands))
    assert np.isnan(float(nan[0] if isinstance(nan, tuple) else nan))


def test_special_values(xp):
    x = xp.array([0.0, np.inf, -np.inf])
    assert_allclose(special.itstruve0(x).get(), [0, np.inf, np.inf])
    assert_allclose(special.it2struve0(x).get(), [np.pi / 2, 0, np.pi])
    assert_allclose(special.itmodstruve0(x).get(), [0, np.inf, np.inf])
    ai, bi, ai_back, bi_back = (part.get() for part in special.itairy(x))
    assert_allclose(ai, [0, 1 / 3, -2 / 3])
    assert_allclose(bi, [0, np.inf, 0])
    assert_allclose(ai_back, [0, 2 / 3, -1 / 3])
    assert_allclose(bi_back, [0, 0, -np.inf])
    integrals = special.besselpoly(xp.array([0.0, 0.0, -2.0]), 2.0, xp.array([0.0, 1.0, 1.0])).get()
    assert_allclose(integrals, [1 / 3, 0, -scipy_special.besselpoly(2.0, 2.0, 1.0)], rtol=1e-12)
    # At x = 0 Wright's function is 1 / gamma(b); 1e300 has no room for exp.
    assert_allclose(special.log_wright_bessel(1.0, 3.0, xp.array([0.0, np.inf])).get(), [-np.log(2), np.inf])
    assert np.isnan(special.log_wright_bessel(-1.0, 1.0, 1.0).item())


@pytest.mark.parametrize("name", ["itstruve0", "it2struve0", "itmodstruve0", "itairy"])
def test_gradients(xp, name):
    x = np.array([0.4, 2.2, 7.0, 36.0])
    a = xp.asarray(x)
    a.requires_grad = True
    result = getattr(special, name)(a)
    (result[0] if isinstance(result, tuple) else result).sum().backward()
    near = [getattr(special, name)(xp.asarray(x + h)) for h in (1e-5, -1e-5)]
    up, down = ((part[0] if isinstance(part, tuple) else part).get() for part in near)
    assert_allclose(a.grad.get(), (up - down) / 2e-5, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("name", ["_itai", "_itbi", "itstruve0", "it2struve0", "itmodstruve0"])
def test_they_compile_for_cuda(name):
    code, _ = cuda.compile_ptx(getattr(_function_integrals, name).py_func, (bc.float64,), device=True, cc=(9, 0))
    assert ".func" in code


@pytest.mark.parametrize("name", ["besselpoly", "log_wright_bessel"])
def test_those_of_three_operands_compile_for_cuda(name):
    code, _ = cuda.compile_ptx(getattr(_function_integrals, name).py_func, (bc.float64,) * 3, device=True, cc=(9, 0))
    assert ".func" in code
