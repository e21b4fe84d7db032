"""numpy.random.Generator in compiled functions: NumPy's streams, from a generator that the caller goes on with."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import broadcloth as bc
from broadcloth import njit

CALLS = [
    "random()", "random(5)", "random((2, 3))", "random(3, dtype=np.float32)", "standard_normal()", "standard_normal(7)",
    "standard_normal(4, np.float32)", "standard_exponential(4)", "standard_exponential(4, method='inv')", "standard_exponential()",
    "standard_gamma(0.7, 3)", "standard_gamma(2.0)", "uniform()", "uniform(-1.0, 3, 4)", "normal(1.0, 2.0, 5)", "normal()",
    "exponential(2.0, (2, 2))", "gamma(2.5, 0.5, 3)", "beta(0.5, 0.5, 3)", "beta(2, 3)", "chisquare(3, 2)", "f(3, 5.0, 2)",
    "standard_cauchy(3)", "pareto(3.0, 3)", "weibull(1.5, 3)", "power(2.0, 3)", "laplace(0.0, 2.0, 3)", "gumbel(0.5, 2.0, 3)",
    "logistic(0.5, 2.0, 3)", "lognormal(0.5, 0.5, 3)", "rayleigh(2.0, 3)", "standard_t(4.0, 3)", "wald(1.0, 2.0, 3)",
    "vonmises(0.0, 4.0, 3)", "noncentral_chisquare(3.0, 1.0, 3)", "noncentral_f(3.0, 4.0, 1.0, 3)", "triangular(0.0, 1.0, 3.0, 3)",
    "poisson(3.5, 4)", "poisson(300.0)", "geometric(0.3, 4)", "zipf(2.5, 4)", "logseries(0.4, 4)", "negative_binomial(3, 0.4, 4)",
    "hypergeometric(20, 30, 10, 4)", "binomial(10, 0.3, 4)", "binomial(1000, 0.6, 4)", "binomial(10, 0.3)", "integers(10)",
    "integers(10, size=5)", "integers(-3, 1000000)", "integers(-(2**62), 2**62, 3)", "integers(0, 6, 3, endpoint=True)",
    "integers(0, 100, 5, dtype=np.int32)", "integers(0, 100, dtype=np.int32)", "integers(-5, 5, 9, np.int8)",
    "integers(0, 256, 9, np.uint8)", "integers(0, 1000, 9, np.uint16)", "integers(5, 6, 3)", "permutation(10)",
    "permutation(np.arange(10) * 1.5)", "permutation(np.arange(12).reshape(4, 3))", "permutation(np.arange(12).reshape(4, 3), axis=1)",
]  # fmt: skip


def same(got, wanted):
    assert_array_equal(got, wanted)
    if isinstance(wanted, np.ndarray):
        assert got.dtype == wanted.dtype
    else:
        assert isinstance(got, int) == isinstance(wanted, int | np.integer)


# A few functions with many calls each: a compile is dearer than what it tests.
@pytest.mark.parametrize("part", range(5))
def test_every_method_gives_numpys_numbers(part, tmp_path):
    calls = CALLS[part::5]
    body = "\n".join(f"    r{k} = rng.{c}" for k, c in enumerate(calls))
    file = tmp_path / f"draws_{part}.py"
    file.write_text(f"import numpy as np\ndef draws(rng):\n{body}\n    return {', '.join(f'r{k}' for k in range(len(calls)))}\n")
    space: dict = {}
    exec(compile(file.read_text(), str(file), "exec"), space)
    ours, theirs = np.random.default_rng(part), np.random.default_rng(part)
    compiled, plain = njit(space["draws"]), space["draws"]
    for _ in range(2):
        for call, a, b in zip(calls, compiled(ours), plain(theirs), strict=True):
            try:
                same(a, b)
            except AssertionError as e:
                raise AssertionError(call) from e
    assert ours.bit_generator.state == theirs.bit_generator.state


@pytest.mark.parametrize("bits", [np.random.PCG64DXSM, np.random.Philox, np.random.SFC64, np.random.MT19937])
def test_every_bit_generator(bits):
    @njit
    def walk(rng, n):
        x = 0.0
        for _ in range(n):
            x += rng.standard_normal() * rng.random() + rng.integers(0, 7)
        return x

    ours, theirs = np.random.Generator(bits(3)), np.random.Generator(bits(3))
    assert walk(ours, 100) == walk.py_func(theirs, 100)
    assert ours.random() == theirs.random()
    assert len(walk.signatures) == 1


def test_shuffles_work_in_place():
    @njit
    def mix(rng, x, m):
        rng.shuffle(x)
        rng.shuffle(m)
        rng.shuffle(m, axis=1)

    arrays = [(np.arange(20), np.arange(24.0).reshape(6, 4)) for _ in range(2)]
    mix(np.random.default_rng(1), *arrays[0])
    mix.py_func(np.random.default_rng(1), *arrays[1])
    for a, b in zip(*arrays, strict=True):
        assert_array_equal(a, b)


RNG = np.random.default_rng(11)


@njit
def from_global():
    return RNG.random()


def test_generators_in_tuples_results_and_globals():
    @njit
    def both(pair):
        return pair[0].random() + pair[1].random(), pair[1]

    a, b = np.random.default_rng(1), np.random.default_rng(2)
    total, back = both((a, b))
    assert back is b
    assert total == np.random.default_rng(1).random() + np.random.default_rng(2).random()
    assert [from_global(), RNG.random(), from_global()] == np.random.default_rng(11).random(3).tolist()


def test_bad_arguments_are_refused():
    @njit
    def draw(rng, kind, a):
        if kind == 0:
            return rng.normal(0.0, a)
        if kind == 1:
            return rng.exponential(a)
        if kind == 2:
            return float(rng.integers(0, a))
        return float(rng.integers(0, 300, dtype=np.int8))

    rng = np.random.default_rng(1)
    for kind, a, message in ((0, -1.0, "scale < 0"), (1, -2.0, "scale < 0"), (2, -1.0, "low >= high"), (3, 0.0, "high is out of bounds")):
        with pytest.raises(ValueError, match=message):
            draw(rng, kind, a)

    @njit
    def unknown(rng):
        return rng.rand()

    with pytest.raises(bc.TypingError, match="Generator has no method 'rand'"):
        unknown(rng)
