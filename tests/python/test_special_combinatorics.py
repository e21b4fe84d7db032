"""broadcloth.scipy.special: numbers of combinatorics, against whole numbers of Python and SciPy."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from broadcloth.scipy import special

scipy_special = pytest.importorskip("scipy.special")


def exactly(function, *operands):
    return np.vectorize(lambda *numbers: float(function(*map(int, numbers))), otypes=[float])(*operands)


@pytest.mark.parametrize("name", ["comb", "perm"])
def test_counts_of_choices(xp, name):
    n, k = np.arange(-2, 90)[:, None], np.arange(-2, 60)
    expected = exactly(lambda a, b: getattr(math, name)(a, b) if 0 <= b <= a else 0, n, k)
    function = getattr(special, name)
    assert_allclose(function(xp.asarray(n), xp.asarray(k)).get(), expected, rtol=5e-14)
    small = expected < 2**50
    assert_array_equal(function(n, k).get()[small], expected[small])
    assert_allclose(function([5.5, 7.25], 2.5).get(), getattr(scipy_special, name)([5.5, 7.25], 2.5), rtol=1e-13)
    assert function(xp.asarray(n)[::-2], 3).shape == (46, 1) and function(xp.zeros((0, 2)), 1).shape == (0, 2)
    assert function(5, 2).shape == () and function(xp.array([5], "f4"), xp.array([2], "f4")).dtype == np.float32
    assert function([5], 2).dtype == np.float64
    assert function(300, 7, exact=True) == getattr(math, name)(300, 7) and function(3, 5, exact=True) == function(-3, 1, exact=True) == 0
    assert function(np.int64(300), xp.array(7), exact=True) == function(300.0, 7, exact=True) == getattr(math, name)(300, 7)
    for n, k in ((3.5, 2), ([3], 2), (3, 2.5)):
        with pytest.raises(ValueError, match=f"{name}: with exact=True"):
            function(n, k, exact=True)


def test_combinations_with_repetition(xp):
    n, k = np.arange(0, 8)[:, None], np.arange(0, 8)
    expected = scipy_special.comb(n, k, repetition=True)
    assert_array_equal(special.comb(xp.asarray(n), xp.asarray(k), repetition=True).get(), expected)
    assert special.comb(0, 0, exact=True, repetition=True) == 1
    assert special.comb(10, 3, exact=True, repetition=True) == scipy_special.comb(10, 3, exact=True, repetition=True)


def test_factorials(xp, device):
    n = np.arange(-3, 175)
    expected = [0.0 if i < 0 else float(math.factorial(i)) if i <= 170 else math.inf for i in n.tolist()]
    got = special.factorial(xp.asarray(n)).get()
    # CUDA: two powers of 2 ulp, an exponential of 1 ulp and the roundings of its exponent and of the products are up to 8 ulp.
    assert_allclose(got, expected, rtol=1e-15 if device == "cpu" else 8 * 2**-52)
    assert_array_equal(got[:22], expected[:22])
    x = np.linspace(-4.7, 20, 50)
    assert_allclose(special.factorial(xp.asarray(x)).get(), scipy_special.factorial(x), rtol=1e-13)
    assert_allclose(special.factorial(xp.asarray(x), extend="complex").get(), scipy_special.gamma(x + 1), rtol=1e-13)
    assert special.factorial(30, exact=True) == math.factorial(30) and special.factorial(-1, exact=True) == 0
    whole = special.factorial(xp.array([[20, -1], [3, 0]]), exact=True)
    assert whole.dtype == np.int64 and whole.get().tolist() == [[math.factorial(20), 0], [6, 1]]
    assert special.factorial([]).shape == (0,)
    with pytest.raises(OverflowError, match="25 has no int64"):
        special.factorial(xp.array([25]), exact=True)
    with pytest.raises(ValueError, match="exact=True"):
        special.factorial(3.5, exact=True)
    with pytest.raises(ValueError, match="exact=True"):
        special.factorial(xp.array([3.0]), exact=True)
    with pytest.raises(ValueError, match="extend"):
        special.factorial(3, extend="other")
    with pytest.raises(ValueError, match="bool"):
        special.factorial(xp.array([True]))


@pytest.mark.parametrize("k", [1, 2, 3, 7])
def test_factorials_with_steps(xp, k):
    n = np.arange(-3, 300)
    expected = exactly(lambda i: 0 if i < 0 else math.prod(range(i, 0, -k)), n[: 170 if k == 1 else 290])
    assert_allclose(special.factorialk(xp.asarray(n), k).get()[: len(expected)], expected, rtol=1e-13)
    assert special.factorialk(301, k, exact=True) == math.prod(range(301, 0, -k))
    assert special.factorialk(xp.array([9, 8, -2]), k, exact=True).get().tolist() == [math.prod(range(i, 0, -k)) for i in (9, 8)] + [0]
    if k == 2:
        assert_array_equal(special.factorial2(xp.asarray(n)).get(), special.factorialk(xp.asarray(n), 2).get())
    with pytest.raises(ValueError, match="In order to use non-integer arguments.*factorial2"):
        special.factorial2(3.5)
    for step, words in ((0, "positive integer"), (1.5, "In order to use"), ("a", "Unsupported data type")):
        with pytest.raises(ValueError, match=words):
            special.factorialk(3, step)
    with pytest.raises(ValueError, match="cannot be zero"):
        special.factorialk(3, 0, extend="complex")
    assert math.isnan(special.factorial2(None)) and special.factorial2(xp.zeros(0, int)).dtype == np.int64
    assert special.factorial2(xp.array([5], np.uint64)).item() == 15
    with pytest.raises(ValueError, match="Incompatible options"):
        special.factorial2(3, exact=True, extend="complex")
    with pytest.raises(ValueError, match="In order to use non-integer arguments"):
        special.factorialk(np.array([1j]), k)
    for n_float in (2.0, math.nan):
        with pytest.raises(ValueError, match="In order to use non-integer arguments"):
            special.factorialk(n_float, k, exact=True)
    # The continuation to real numbers, with NaN at its poles.
    scipy_special = pytest.importorskip("scipy.special")
    real = np.array([0.0, 1, 2.5, 5, 7.3, -0.5, -k, -2 * k, -1])
    np.testing.assert_allclose(
        special.factorialk(xp.asarray(real), k, extend="complex").get(), scipy_special.factorialk(real, k, extend="complex"), rtol=1e-14
    )
    assert np.isnan(float(special.factorial(-1, extend="complex")))
    points = np.array([1j, 2.5 - 1j, -0.5 + 3j, complex(-k), complex(np.nan, np.nan), 4 + 0j])
    for name, given in (("factorialk", (k,)), ("factorial", ()), ("factorial2", ())):
        ours = getattr(special, name)(xp.asarray(points), *given, extend="complex")
        assert ours.dtype == np.complex128
        expected = getattr(scipy_special, name)(points, *given, extend="complex")
        np.testing.assert_array_equal(np.isnan(ours.get()), np.isnan(expected), err_msg=name)
        np.testing.assert_allclose(ours.get(), expected, rtol=1e-12, err_msg=name)


def test_stirlings_numbers(xp):
    n, k = np.arange(-1, 130)[:, None], np.arange(-1, 60)
    expected = exactly(lambda a, b: special.stirling2(a, b, exact=True), n, k)
    assert_allclose(special.stirling2(xp.asarray(n), xp.asarray(k)).get(), expected, rtol=1e-13)
    assert special.stirling2(40, 20, exact=True) == scipy_special.stirling2(40, 20, exact=True)
    assert special.stirling2(xp.zeros((0, 2), int), 3).shape == (0, 2) and special.stirling2(5, 3).item() == 25
    assert special.stirling2(300, 20).item() == math.inf
    together = special.stirling2([42, 43], [[17], [23]], exact=True)
    assert together.dtype == object and together[1, 0] == special.stirling2(42, 23, exact=True) > 2**64
    assert special.stirling2(np.int64(5), np.array(2), exact=True) == 15
    for exact in (False, True):
        with pytest.raises(TypeError, match="N must have whole numbers"):
            special.stirling2(3.5, 2, exact=exact)
        with pytest.raises(TypeError, match="K must have whole numbers"):
            special.stirling2([3], [2.0], exact=exact)


def bernoulli_fractions(count):
    """By the sum of (n + 1 over k) B(k), which is 0 over k = 0 ... n."""
    numbers = [Fraction(1)]
    for n in range(1, count + 1):
        numbers.append(-sum(math.comb(n + 1, k) * b for k, b in enumerate(numbers)) / (n + 1))
    return [float(b) for b in numbers]


def test_bernoullis_and_eulers_numbers(xp):
    assert_array_equal(special.bernoulli(60).get(), bernoulli_fractions(60))
    assert_allclose(special.bernoulli(258).get(), scipy_special.bernoulli(258), rtol=1e-11)
    assert_allclose(special.euler(186).get(), scipy_special.euler(186), rtol=1e-13)
    assert special.bernoulli(262).get()[[260, 262]].tolist() == [-math.inf, math.inf] and special.euler(188).get()[188] == math.inf
    for n in (0, 1, 2.0):
        assert special.bernoulli(n).shape == special.euler(n).shape == (int(n) + 1,)
    for function in (special.bernoulli, special.euler):
        for n in (-1, 1.5, [3]):
            with pytest.raises(ValueError, match="non-negative integer"):
                function(n)


def test_they_fuse(xp):
    n = xp.arange(40.0)
    with xp.profiler.record() as recorded:
        y = special.comb(n, 3.0) * 2 + special.factorial(n)
        y.get()
    assert len(recorded.kernels) == 1
