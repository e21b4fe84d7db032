"""Random numbers: with a seed NumPy's own, bit for bit, with the same state afterwards; without one reproducible only by its state."""

from __future__ import annotations

import copy
import inspect
import pickle

import numpy as np
import pytest

import broadcloth as bc
from broadcloth.random import _on_device
from support import assert_same, host

BIT_GENERATORS = ["PCG64", "PCG64DXSM", "SFC64", "MT19937", "Philox"]

# Calls of every method of Generator: what is drawn is NumPy's. `xp.array` arrays are the library's own.
DRAWS = {
    "beta": ["r.beta(2.0, 3.0)", "r.beta(0.3, 0.4, 7)", "r.beta(xp.array([1.0, 2.0]), [[3.0], [4.0]])", "r.beta(a=1, b=2, size=(2, 0, 3))"],
    "binomial": ["r.binomial(10, 0.3)", "r.binomial([5, 100], 0.5, (3, 2))", "r.binomial(n=xp.array([1, 1000]), p=xp.array([0.1, 0.9]))"],
    "bytes": ["r.bytes(0)", "r.bytes(5)", "r.bytes(16)"],
    "chisquare": ["r.chisquare(3)", "r.chisquare([0.5, 4.0])", "r.chisquare(df=2.0, size=5)"],
    "choice": [
        "r.choice(5)",
        "r.choice(5, 3)",
        "r.choice(50, (2, 3), replace=False)",
        "r.choice(20000, 30, replace=False)",
        "r.choice(50, 5, False, None, 0, False)",
        "r.choice(4, 6, p=[0.1, 0.2, 0.3, 0.4])",
        "r.choice(4, 2, replace=False, p=xp.array([0.1, 0.2, 0.3, 0.4]))",
        "r.choice([1.5, 2.5, 3.5])",
        "r.choice(['a', 'b', 'c'], 4)",
        "r.choice(xp.arange(12).reshape(3, 4), 5)",
        "r.choice(xp.arange(12).reshape(3, 4), 2, axis=1, replace=False)",
        "r.choice(xp.arange(12.0).reshape(3, 4), 2, axis=-1)",
        "r.choice(xp.arange(5), 3, p=[0.5, 0, 0, 0, 0.5])",
        "r.choice(xp.arange(0), 0)",
    ],
    "dirichlet": ["r.dirichlet([1.0, 2.0])", "r.dirichlet(xp.array([0.1, 0.05, 0.2]), (2, 2))", "r.dirichlet(alpha=(4, 5), size=3)"],
    "exponential": ["r.exponential()", "r.exponential(2.0, 5)", "r.exponential(scale=xp.array([1.0, 0.0]))"],
    "f": ["r.f(2, 3)", "r.f([1.0, 5.0], 7.0, (2, 2))"],
    "gamma": ["r.gamma(0.5)", "r.gamma(2.0, 3.0, 4)", "r.gamma(xp.array([0.2, 1.0, 9.0]), scale=2.0)"],
    "geometric": ["r.geometric(0.5)", "r.geometric([0.01, 0.9], (3, 2))"],
    "gumbel": ["r.gumbel()", "r.gumbel(1.0, 2.0, 3)", "r.gumbel([1.0, 2.0], xp.array([3.0, 0.0]))"],
    "hypergeometric": ["r.hypergeometric(10, 5, 3)", "r.hypergeometric([100, 4], 50, 20, (3, 2))"],
    "integers": [
        "r.integers(5)",
        "r.integers(0, 10, 7)",
        "r.integers(1, 6, (2, 3), endpoint=True)",
        "r.integers(0, 2**32, 5)",
        "r.integers(0, 2**32, 5, dtype='uint32')",
        "r.integers(0, 2**33 + 1, 5)",
        "r.integers(-(2**63), 2**63 - 1, 5, endpoint=True)",
        "r.integers(0, 2**64, 5, dtype=np.uint64)",
        "r.integers(3, 4, 5)",
        "r.integers(0, 100, 7, dtype=np.uint8)",
        "r.integers(0, 256, 7, dtype=np.uint8)",
        "r.integers(-100, 100, 7, np.int16)",
        "r.integers(0, 2, 40, dtype=bool)",
        "r.integers(2, dtype=bool)",
        "r.integers(10, dtype=np.int32)",
        "r.integers([0, 10], xp.array([5, 1000]), (2, 2))",
        "r.integers(xp.array([5, 6, 7]))",
        "r.integers([1, 2], 200, dtype=np.uint8)",
    ],
    "laplace": ["r.laplace()", "r.laplace(1.0, [2.0, 3.0])", "r.laplace(size=5)"],
    "logistic": ["r.logistic()", "r.logistic(1.0, 2.0, 3)"],
    "lognormal": ["r.lognormal()", "r.lognormal(1.0, xp.array([0.5, 0.0]))", "r.lognormal(sigma=2.0, size=3)"],
    "logseries": ["r.logseries(0.5)", "r.logseries([0.1, 0.99], 2)"],
    "multinomial": [
        "r.multinomial(10, [0.2, 0.8])",
        "r.multinomial([5, 10], xp.array([0.1, 0.2, 0.7]))",
        "r.multinomial(3, [0.5, 0.5], size=4)",
    ],
    "multivariate_hypergeometric": [
        "r.multivariate_hypergeometric([4, 6], 3)",
        "r.multivariate_hypergeometric(xp.array([4, 6, 8]), 5, 3)",
        "r.multivariate_hypergeometric([4, 6], 3, size=(2, 2), method='count')",
    ],
    "multivariate_normal": [
        "r.multivariate_normal([0.0, 1.0], [[2.0, 0.5], [0.5, 1.0]])",
        "r.multivariate_normal(xp.array([0.0, 1.0]), xp.array([[2.0, 0.5], [0.5, 1.0]]), (2, 3))",
    ],
    "negative_binomial": ["r.negative_binomial(3, 0.5)", "r.negative_binomial([1, 50], 0.1, (2, 2))"],
    "noncentral_chisquare": ["r.noncentral_chisquare(3, 2.0)", "r.noncentral_chisquare([0.5, 2.0], 1.0)"],
    "noncentral_f": ["r.noncentral_f(3, 20, 2.0)", "r.noncentral_f(3, [20, 5], 2.0, 2)"],
    "normal": ["r.normal()", "r.normal(1.0, 2.0, (3, 2))", "r.normal(xp.array([0.0, 100.0]), [1.0, 0.0])", "r.normal(loc=1, size=())"],
    "pareto": ["r.pareto(3.0)", "r.pareto([1.0, 5.0], 2)"],
    "permutation": [
        "r.permutation(10)",
        "r.permutation([3, 1, 2])",
        "r.permutation(xp.arange(9))",
        "r.permutation(xp.arange(12).reshape(3, 4))",
        "r.permutation(xp.arange(12).reshape(3, 4).T)",
    ],
    "poisson": ["r.poisson()", "r.poisson(4.0, 5)", "r.poisson(lam=xp.array([0.0, 1.0, 50.0]))"],
    "power": ["r.power(3.0)", "r.power([0.5, 5.0])"],
    "random": ["r.random()", "r.random(5)", "r.random((2, 3))", "r.random(())", "r.random(0)", "r.random(np.int64(3))", "r.random([2, 2])"],
    "rayleigh": ["r.rayleigh()", "r.rayleigh(2.0, 3)"],
    "standard_cauchy": ["r.standard_cauchy()", "r.standard_cauchy(4)"],
    "standard_exponential": ["r.standard_exponential()", "r.standard_exponential((3, 5))"],
    "standard_gamma": ["r.standard_gamma(2.0)", "r.standard_gamma(xp.array([0.1, 1.0, 9.0]))", "r.standard_gamma(0.5, (2, 2))"],
    "standard_normal": ["r.standard_normal()", "r.standard_normal(7)", "r.standard_normal((2, 3))"],
    "standard_t": ["r.standard_t(5)", "r.standard_t([1.0, 50.0], (2, 2))"],
    "triangular": ["r.triangular(0, 1, 4)", "r.triangular([0.0, 1.0], 2.0, 3.0)"],
    "uniform": ["r.uniform()", "r.uniform(5, 6, 4)", "r.uniform(xp.array([0.0, -10.0]), 3.0)", "r.uniform(high=3.0, size=(2, 2))"],
    "vonmises": ["r.vonmises(0.0, 4.0)", "r.vonmises([0.0, 1.0], [0.1, 1e7])"],
    "wald": ["r.wald(1.0, 2.0)", "r.wald([1.0, 5.0], 2.0)"],
    "weibull": ["r.weibull(1.5)", "r.weibull([0.5, 5.0], (2, 2))"],
    "zipf": ["r.zipf(3.0)", "r.zipf([2.0, 4.0])"],
}
# What RandomState has otherwise, or not at all.
LEGACY_DRAWS = {
    **{name: [c for c in calls if "axis" not in c and "False, None" not in c] for name, calls in DRAWS.items()},
    "choice": [
        "r.choice(5)",
        "r.choice(5, 3, False)",
        "r.choice(xp.arange(9), (2, 2))",
        "r.choice([1, 2], 4, p=[0.5, 0.5])",
        "r.choice(['a', 'b'])",
    ],
    "multinomial": ["r.multinomial(10, [0.2, 0.8])", "r.multinomial(3, xp.array([0.5, 0.5]), size=4)"],
    "multivariate_hypergeometric": [],
    "integers": [],
    "rand": ["r.rand()", "r.rand(3)", "r.rand(2, 3)"],
    "randn": ["r.randn()", "r.randn(2, 3)"],
    "randint": [
        "r.randint(5)",
        "r.randint(0, 10, (2, 3))",
        "r.randint(1, xp.array([5, 500]), dtype=np.int16)",
        "r.randint(2, size=9, dtype=bool)",
    ],
    "random_integers": ["r.random_integers(6)", "r.random_integers(1, 6, 4)"],
    "random_sample": ["r.random_sample()", "r.random_sample((2, 3))"],
    "standard_gamma": ["r.standard_gamma(2.0)", "r.standard_gamma([0.1, 9.0], (3, 2))"],
}
EVERY_CALL = [call for calls in DRAWS.values() for call in calls]


def generators(name, seed=12345):
    """The library's and NumPy's generators of one seed. A broadcloth Philox is counter-based, so NumPy's is taken."""
    theirs = getattr(np.random, name)
    ours = theirs if name == "Philox" else getattr(bc.random, name)
    return bc.random.Generator(ours(seed)), np.random.Generator(theirs(seed))


def same_state(a, b):
    np.testing.assert_equal(a, b)


def assert_drawn(ours, theirs):
    if isinstance(theirs, np.ndarray) and theirs.dtype.kind in "biufc":
        assert isinstance(ours, bc.ndarray) and ours.shape == theirs.shape and ours.dtype == theirs.dtype
        assert host(ours).tobytes() == theirs.tobytes()
    elif isinstance(ours, bc.ndarray):  # an element of an array of the library
        assert ours.ndim == 0 and host(ours)[()] == theirs
    else:
        assert type(ours) is type(theirs)
        np.testing.assert_array_equal(ours, theirs)


def test_every_method_of_numpy_has_calls():
    others = {"bit_generator", "spawn", "permuted", "shuffle"}
    assert {n for n in dir(np.random.Generator) if not n.startswith("_")} == set(DRAWS) | others
    others = {"seed", "get_state", "set_state", "shuffle", "tomaxint"}
    assert {n for n in dir(np.random.RandomState) if not n.startswith("_")} == {n for n, c in LEGACY_DRAWS.items() if c} | others


@pytest.mark.parametrize("bits", BIT_GENERATORS)
@pytest.mark.parametrize("name", DRAWS)
def test_generators_give_the_numbers_of_numpy(xp, name, bits):
    for call in DRAWS[name]:
        for seed in (0, 987654321):
            ours, theirs = generators(bits, seed)
            for _ in range(2):
                assert_drawn(eval(call, {"r": ours, "xp": xp, "np": np}), eval(call, {"r": theirs, "xp": np, "np": np}))
            same_state(ours.bit_generator.state, theirs.bit_generator.state)


@pytest.mark.parametrize("name", LEGACY_DRAWS)
@pytest.mark.filterwarnings("ignore:This function is deprecated")
def test_random_states_give_the_numbers_of_numpy(xp, name):
    for call in LEGACY_DRAWS[name]:
        ours, theirs = bc.random.RandomState(7), np.random.RandomState(7)
        for _ in range(2):
            assert_drawn(eval(call, {"r": ours, "xp": xp, "np": np}), eval(call, {"r": theirs, "xp": np, "np": np}))
        same_state(ours.get_state(legacy=False), theirs.get_state(legacy=False))


@pytest.mark.parametrize("bits", BIT_GENERATORS)
@pytest.mark.parametrize("seed", range(4))
def test_methods_in_any_order_go_on_where_the_last_one_ended(xp, bits, seed):
    """Integers of 32 bits leave half a word behind, which others must leave alone."""
    order = np.random.default_rng(seed).permutation(len(EVERY_CALL))
    ours, theirs = generators(bits, [seed, 5])
    for i in order:
        call = EVERY_CALL[i]
        try:
            assert_drawn(eval(call, {"r": ours, "xp": xp, "np": np}), eval(call, {"r": theirs, "xp": np, "np": np}))
        except AssertionError as e:
            raise AssertionError(f"{call}: {e}") from e
    same_state(ours.bit_generator.state, theirs.bit_generator.state)


@pytest.mark.parametrize("bits", BIT_GENERATORS)
@pytest.mark.parametrize("size", [1, 100, 4095, 4096, 10_001, 300_007])
@pytest.mark.parametrize(
    "call",
    [
        "r.random(n)",
        "r.random(n, dtype=np.float32)",
        "r.uniform(-2.5, 7.25, n)",
        "r.integers(0, 1000, n)",
        "r.integers(0, 2**31 + 1, n)",
        "r.integers(0, 2**32, n)",
        "r.integers(0, 3 * 2**61 + 5, n)",
        "r.integers(0, 200, n, dtype=np.uint8)",
        "r.integers(-5, 30_000, n, dtype=np.int16)",
        "r.integers(0, 3_000_000_000, n, dtype=np.uint32)",
        "r.choice(1000, n)",
        "r.choice([-1, 1], n)",
        "r.choice(np.array([0.5, 2.5, 7.0], np.float32), n)",
        "r.choice([[1, 2, 3], [4, 5, 6]], (n, 2), axis=1)",
        "r.choice([7], n)",
        "r.choice(1000, n, p=np.full(1000, 1e-3))",
        "r.standard_normal(n)",
        "r.standard_normal(n, dtype=np.float32)",
        "r.standard_exponential(n)",
        "r.standard_exponential(n, dtype=np.float32)",
        "r.standard_exponential(n, method='inv')",
    ],
)
def test_large_draws_are_those_of_numpy(device, bits, size, call):
    ours, theirs = generators(bits, size)
    for half in (False, True):
        if half:  # half a word is left from the last draw
            assert ours.integers(100, dtype=np.uint32) == theirs.integers(100, dtype=np.uint32)
        assert_drawn(eval(call, {"r": ours, "n": size, "np": np}), eval(call, {"r": theirs, "n": size, "np": np}))
        same_state(ours.bit_generator.state, theirs.bit_generator.state)


@pytest.mark.parametrize("bits", ["PCG64", "PCG64DXSM"])
@pytest.mark.parametrize("size", [1, 2, 4097, 100_000, 300_001])
@pytest.mark.parametrize("kept", [False, True])
def test_kernels_for_gpus_draw_the_numbers_of_numpy(device, bits, size, kept):
    """On the CPU too, where nobody needs them, so that they are tested everywhere."""
    rng = generators(bits)[1]
    if kept:
        rng.integers(100, dtype=np.uint32)
    state = rng.bit_generator.state
    for dtype, affine in (("float32", False), ("float64", False), ("float32", False), ("float64", True)):
        drawn = _on_device.uniform(state, bits == "PCG64DXSM", (size,), np.dtype(dtype), device, affine, 2.5, 4.75)
        assert drawn.device == device
        expected = rng.uniform(2.5, 7.25, size) if affine else rng.random(size, dtype=dtype)
        assert host(drawn).tobytes() == expected.tobytes()
        same_state(state, rng.bit_generator.state)


@pytest.mark.parametrize("bits", ["PCG64", "PCG64DXSM"])
@pytest.mark.parametrize("size", [1, 4097, 100_000])
@pytest.mark.parametrize("kept", [False, True])
@pytest.mark.parametrize("dtype", ["int32", "uint32", "int64", "uint64"])
def test_kernels_for_gpus_draw_the_integers_of_numpy(device, bits, size, kept, dtype):
    """Bounds that reject no units, few, some hundred, and up to half of them; and all numbers of 32 and of 64 bits."""
    rng = generators(bits)[1]
    if kept:
        rng.integers(100, dtype=np.uint32)
    state = rng.bit_generator.state
    bounds = [(0, 99), (5, 1028), (7, 7 + 2_000_003), (0, 10**9), (0, 2**31 - 1)]
    if dtype.startswith("u"):
        bounds += [(0, 2**31 + 5), (0, 2**32 - 1)]
    if dtype.endswith("64"):
        bounds += [(0, 2**32 - 2), (-5, 2**40), (3, 2**52 - 1), (-(2**62), 2**62 + 5), (-(2**63), 2**63 - 1)]
    for low, last in bounds:
        if dtype == "uint64" and low < 0:
            low, last = 0, 2**64 - 1
        drawn = _on_device.integers(state, bits == "PCG64DXSM", (size,), np.dtype(dtype), device, low, last - low)
        expected = rng.integers(low, last, size, dtype, endpoint=True)
        assert drawn is not None and drawn.device == device
        np.testing.assert_array_equal(host(drawn), expected)
        same_state(state, rng.bit_generator.state)


def test_one_number_only_takes_no_words(device):
    state = generators("PCG64")[1].bit_generator.state
    before = copy.deepcopy(state)
    assert _on_device.integers(state, False, (5000,), np.dtype("uint64"), device, 0, 0) is None
    assert state == before


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("method", ["random", "standard_normal", "standard_exponential", "standard_gamma"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_out(xp, method, dtype, order):
    if order == "F" and method == "standard_gamma":
        pytest.skip("NumPy refuses it")
    arguments = (3.0,) if method == "standard_gamma" else ()
    ours, theirs = generators("PCG64")
    out, expected = xp.zeros((3, 5), dtype, order=order), np.zeros((3, 5), dtype, order=order)
    assert getattr(ours, method)(*arguments, dtype=dtype, out=out) is out
    getattr(theirs, method)(*arguments, dtype=dtype, out=expected)
    assert_same(out, expected)
    mine = np.zeros((3, 5), dtype)
    assert getattr(ours, method)(*arguments, size=(3, 5), dtype=dtype, out=mine) is mine
    assert_same(mine, getattr(theirs, method)(*arguments, size=(3, 5), dtype=dtype))
    for bad in (
        {"out": xp.zeros((3, 5), "float64" if dtype == "float32" else "float32"), "dtype": dtype},
        {"out": xp.zeros((3, 5), dtype), "dtype": dtype, "size": 15},
        {"out": xp.zeros((3, 10), dtype)[:, ::2], "dtype": dtype},
        {"out": xp.zeros((3, 5), dtype), "dtype": dtype, "device": "cpu"},
        {"dtype": "int32"},
    ):
        with pytest.raises((TypeError, ValueError)):
            getattr(ours, method)(*arguments, **bad)
    read_only = xp.zeros(4, dtype)
    read_only.flags.writeable = False
    with pytest.raises(ValueError):
        getattr(ours, method)(*arguments, dtype=dtype, out=read_only)
    same_state(ours.bit_generator.state, theirs.bit_generator.state)


@pytest.mark.parametrize("bits", ["PCG64", "MT19937"])
def test_shuffles_move_the_data_as_numpy_does(xp, bits):
    for shape, axis in [((10,), 0), ((0,), 0), ((1,), 0), ((4, 3), 0), ((4, 3), 1), ((4, 3), -1), ((2, 3, 4), 1), ((5, 0), 0)]:
        ours, theirs = generators(bits)
        x, y = xp.arange(int(np.prod(shape))).reshape(shape), np.arange(int(np.prod(shape))).reshape(shape)
        assert ours.shuffle(x, axis) is None
        theirs.shuffle(y, axis)
        assert_same(x, y)
        assert_same(ours.permutation(x, axis), theirs.permutation(y, axis))
        for across in (None, axis):
            assert_same(ours.permuted(x, axis=across), theirs.permuted(y, axis=across))
            ours.permuted(x, axis=across, out=x)
            theirs.permuted(y, axis=across, out=y)
            assert_same(x, y)
        same_state(ours.bit_generator.state, theirs.bit_generator.state)
    ours, theirs = generators(bits)
    base, theirs_base = xp.arange(12.0), np.arange(12.0)
    ours.shuffle(base[::-2])
    theirs.shuffle(theirs_base[::-2])
    assert_same(base, theirs_base)
    some, other = list("abcdef"), list("abcdef")
    ours.shuffle(some)
    theirs.shuffle(other)
    assert some == other
    mine, yours = np.arange(7), np.arange(7)
    ours.shuffle(mine)
    theirs.shuffle(yours)
    assert_same(mine, yours)
    x = xp.arange(3)
    x.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        ours.shuffle(x)
    legacy, theirs_legacy = bc.random.RandomState(3), np.random.RandomState(3)
    for shape in ((10,), (4, 3)):
        x, y = xp.arange(int(np.prod(shape))).reshape(shape), np.arange(int(np.prod(shape))).reshape(shape)
        legacy.shuffle(x)
        theirs_legacy.shuffle(y)
        assert_same(x, y)
        assert_same(legacy.permutation(x), theirs_legacy.permutation(y))


ERRORS = [
    "r.beta(-1, 1)",
    "r.beta(1)",
    "r.binomial(-1, 0.5)",
    "r.binomial(3, 1.5)",
    "r.choice(0)",
    "r.choice(0, 3)",
    "r.choice(xp.arange(0), 2)",
    "r.choice(3, p=[0.5, 0.5])",
    "r.choice(3, 2, p=[0.5, 0.6, 0.5])",
    "r.choice(3, 2, p=[-0.5, 1.0, 0.5])",
    "r.choice(3, 4, replace=False)",
    "r.choice(3, 3, replace=False, p=[0.5, 0.5, 0])",
    "r.choice(2.5)",
    "r.choice(xp.arange(4), 2, axis=1)",
    "r.choice(xp.arange(4), 9, replace=False)",
    "r.dirichlet([-1.0, 1.0])",
    "r.exponential(-1.0)",
    "r.exponential(-1.0, 3)",
    "r.gamma(-1.0, size=2)",
    "r.geometric(0.0, 2)",
    "r.geometric(1.5)",
    "r.gumbel(0, -1, 3)",
    "r.hypergeometric(1, 1, 5)",
    "r.integers(5, 5)",
    "r.integers(5, 2, 3)",
    "r.integers(0, 2**70, 3)",
    "r.integers(-1, 300, 2, dtype='uint8')",
    "r.integers(5, dtype=float)",
    "r.integers(5, size=-1)",
    "r.integers([1, 5], [3, 5])",
    "r.integers([1, 2], 5, size=3)",
    "r.laplace(0, -1, 2)",
    "r.logistic(0, -1, 2)",
    "r.lognormal(0, -1, 2)",
    "r.multinomial(3, [1.9, 0.9])",
    "r.multivariate_normal([0], [1])",
    "r.normal(0, -1)",
    "r.normal(0, -1, 3)",
    "r.normal([1, 2], size=3)",
    "r.normal(1, 2, 3, 4)",
    "r.normal(mean=1)",
    "r.normal(1, loc=2)",
    "r.pareto(-1, 2)",
    "r.permutation(2.5)",
    "r.permutation(xp.arange(3), axis=1)",
    "r.shuffle(xp.arange(3), axis=1)",
    "r.shuffle(3)",
    "r.poisson(-1)",
    "r.poisson(1e30)",
    "r.power(-1, 2)",
    "r.random(-1)",
    "r.random(2.5)",
    "r.random('3')",
    "r.random(3, dtype=int)",
    "r.rayleigh(-1, 2)",
    "r.standard_exponential(3, dtype=int)",
    "r.standard_normal(3, dtype=complex)",
    "r.triangular(3, 2, 1)",
    "r.triangular(0, 5, 1, 2)",
    "r.uniform(0, float('inf'), 2)",
    "r.vonmises(0, -1)",
    "r.weibull(-1, 3)",
    "r.zipf(0.5)",
    "r.spawn(-1)",
]


@pytest.mark.parametrize("call", ERRORS)
def test_errors_are_those_of_numpy(xp, call):
    ours, theirs = generators("PCG64")
    with pytest.raises(Exception) as expected:
        eval(call, {"r": theirs, "xp": np})
    with pytest.raises(type(expected.value)) as raised:
        eval(call, {"r": ours, "xp": xp})
    assert str(raised.value) == str(expected.value)
    same_state(ours.bit_generator.state, theirs.bit_generator.state)
    # The counter-based generator refuses the same; some of its texts are its own.
    with pytest.raises(type(expected.value)):
        eval(call, {"r": xp.random.default_rng(), "xp": xp})


@pytest.mark.parametrize("bits", [*BIT_GENERATORS, "counter-based"])
def test_state_can_be_kept(xp, bits):
    rng = xp.random.default_rng() if bits == "counter-based" else generators(bits)[0]
    rng.random(10)
    rng.integers(5, dtype="uint32")
    state = rng.bit_generator.state
    copies = [pickle.loads(pickle.dumps(rng)), copy.deepcopy(rng), xp.random.Generator(pickle.loads(pickle.dumps(rng.bit_generator)))]
    a, b, c = host(rng.random(5)), rng.gamma(2.0), host(rng.normal(size=3))
    rng.bit_generator.state = state
    for r in (rng, *copies):
        assert type(r) is type(rng)
        assert_same(r.random(5), a)
        assert r.gamma(2.0) == b
        assert_same(r.normal(size=3), c)
    with pytest.raises((TypeError, ValueError)):
        rng.bit_generator.state = {"bit_generator": "none"}


def test_seeds(xp):
    for seed in (0, 1, [1, 2], 1 << 200, np.arange(5), np.random.SeedSequence(3), np.random.SFC64(3), np.random.RandomState(3)):
        theirs = copy.deepcopy(seed)
        assert_same(xp.random.default_rng(seed).random(3), np.random.default_rng(theirs).random(3))
    assert host(xp.random.default_rng().random(4)).tobytes() != host(xp.random.default_rng().random(4)).tobytes()
    rng = xp.random.default_rng(1)
    assert xp.random.default_rng(rng) is rng
    theirs = np.random.default_rng(5)
    ours = xp.random.default_rng(theirs)
    assert isinstance(ours, xp.random.Generator) and ours.bit_generator is theirs.bit_generator
    for bad in (-1, "seed", 1.5):
        with pytest.raises(Exception) as expected:
            np.random.default_rng(bad)
        with pytest.raises(type(expected.value), match=str(expected.value)):
            xp.random.default_rng(bad)
    with pytest.raises(Exception):  # noqa: B017
        xp.random.Generator(3)
    assert isinstance(rng, np.random.Generator) and str(rng) == "Generator(PCG64)" and str(xp.random.default_rng()) == "Generator(Philox)"


def test_streams_for_parallel_work(xp):
    for bits in BIT_GENERATORS:
        ours, theirs = generators(bits)
        for a, b in zip(ours.spawn(3), theirs.spawn(3), strict=True):
            assert type(a) is type(ours)
            assert_same(a.random(4), b.random(4))
        for jump in (0, 1, 2):
            if hasattr(ours.bit_generator, "jumped"):
                a, b = ours.bit_generator.jumped(jump), theirs.bit_generator.jumped(jump)
                assert_same(xp.random.Generator(a).random(4), np.random.Generator(b).random(4))
        if hasattr(ours.bit_generator, "advance"):
            ours.bit_generator.advance(5), theirs.bit_generator.advance(5)
            assert_same(ours.random(4), theirs.random(4))


def test_the_modules_functions_share_their_state_with_numpy(xp):
    before = np.random.get_state()
    try:
        xp.random.seed(0)
        ours = [xp.random.rand(3), xp.random.randn(2), xp.random.randint(0, 10, 4), xp.random.normal(), xp.random.choice(5, 2)]
        state = xp.random.get_state()
        np.random.seed(0)
        theirs = [np.random.rand(3), np.random.randn(2), np.random.randint(0, 10, 4), np.random.normal(), np.random.choice(5, 2)]
        for a, b in zip(ours, theirs, strict=True):
            assert_drawn(a, b)
        same_state(state, np.random.get_state())
        again = xp.random.random_sample(3)
        xp.random.set_state(state)
        assert_same(np.random.random_sample(3), host(again))
        xp.random.set_bit_generator(xp.random.PCG64(3))
        assert isinstance(xp.random.get_bit_generator(), np.random.PCG64)
        assert_same(xp.random.ranf(3), np.random.RandomState(np.random.PCG64(3)).random_sample(3))
        xp.random.seed(4)
        assert_same(xp.random.sample(3), np.random.RandomState(np.random.PCG64(4)).random_sample(3))
    finally:
        np.random.set_bit_generator(np.random.MT19937())
        np.random.set_state(before)


def test_random_states_can_be_kept(xp):
    rng = xp.random.RandomState(5)
    rng.standard_normal()  # the second number of the pair is kept
    copies = [pickle.loads(pickle.dumps(rng)), copy.deepcopy(rng)]
    state = rng.get_state()
    a = host(rng.standard_normal(5))
    rng.set_state(state)
    for r in (rng, *copies):
        assert type(r) is xp.random.RandomState
        assert_same(r.standard_normal(5), a)
    rng.seed(3)
    assert_same(rng.rand(2), np.random.RandomState(3).rand(2))
    assert_same(xp.random.RandomState([1, 2]).rand(2), np.random.RandomState([1, 2]).rand(2))
    assert isinstance(rng.tomaxint(), int)
    assert host(rng.tomaxint(3)).min() >= 0


def test_every_name_of_numpy(xp):
    names = {n for n in np.random.__all__ if n not in ("test",)}
    assert not names - set(dir(bc.random))


@pytest.mark.parametrize("to", bc.devices())
def test_the_result_lies_where_it_is_asked_for(to):
    for rng in (bc.random.default_rng(1), bc.random.default_rng(), bc.random.RandomState(1)):
        for call in (
            "normal(size=3, device=d)",
            "gamma(2.0, device=d)",
            "choice(5, 3, device=d)",
            "permutation(4, device=d)",
            "uniform(device=d)",
        ):
            x = eval(f"r.{call}", {"r": rng, "d": to})
            assert isinstance(x, bc.ndarray) and x.device == to
    assert bc.random.default_rng(1).integers(3, device=to).device == to
    x = bc.arange(5, device=to)
    assert bc.random.default_rng(1).permutation(x).device == to
    assert bc.random.default_rng(1).choice(x, 3).device == to
    assert bc.random.default_rng(1).permuted(x).device == to


# ---- Counter-based -----------------------------------------------------------------------------------------------------------------------


def counting(xp, seed):
    return xp.random.Generator(xp.random.Philox(seed))


@pytest.mark.parametrize("draw", [lambda r, d: r.random(1000, device=d), lambda r, d: r.standard_normal((10, 7), device=d),
                                  lambda r, d: r.integers(-5, 1000, 333, device=d), lambda r, d: r.random(99, dtype="float32", device=d),
                                  lambda r, d: r.standard_normal(99, dtype="float32", device=d), lambda r, d: r.gamma(2.0, 1, 5, device=d),
                                  lambda r, d: r.choice(50, 20, replace=False, device=d)])  # fmt: skip
def test_a_philox_stream_is_the_same_on_every_device(draw):
    again = host(draw(counting(bc, 123), "cpu"))
    for device in bc.devices():
        assert_same(draw(counting(bc, 123), device), again)
    assert host(draw(counting(bc, 124), "cpu")).tobytes() != again.tobytes()


def test_numbers_do_not_depend_on_how_they_are_asked_for(xp):
    whole = host(counting(xp, 5).random(100))
    rng = counting(xp, 5)
    parts = np.concatenate([host(rng.random(n)) for n in (1, 9, 40, 50)])
    assert_same(parts, whole)
    assert_same(host(counting(xp, 5).random((10, 10))).ravel(), whole)
    rng = counting(xp, 5)
    rng.random(3)
    rng.bit_generator.state = rng.bit_generator.state
    assert_same(rng.random(97), whole[3:])


def test_counted_numbers_move_the_state_as_words_do(xp):
    for n in (0, 1, 3, 4, 5, 1003):
        rng, words = counting(xp, 6), np.random.Philox(6)
        words.random_raw(n)
        rng.normal(size=n)
        same_state(rng.bit_generator.state, words.state)
        assert rng.bit_generator.random_raw() == words.random_raw()
        # One number without a size is drawn by NumPy's code, from the next words.
        assert rng.gamma(2.0) == np.random.Generator(words).gamma(2.0)
        same_state(rng.bit_generator.state, words.state)
    bits = xp.random.Philox(6)
    a, b, c = (host(xp.random.Generator(g).random(4)).tobytes() for g in (bits, bits.jumped(), bits.jumped(2)))
    assert len({a, b, c}) == 3
    ahead = xp.random.Philox(6).advance(2)
    assert_same(xp.random.Generator(ahead).random(2), host(counting(xp, 6).random(10))[8:])
    assert len({host(r.random(4)).tobytes() for r in [counting(xp, 8), *counting(xp, 8).spawn(3)]}) == 4
    assert host(xp.random.Generator(xp.random.Philox(key=(1, 2))).random(4)).tobytes() != (
        host(xp.random.Generator(xp.random.Philox(key=(1, 3))).random(4)).tobytes()
    )


def test_compiled_functions_take_generators():
    @bc.njit
    def two(rng):
        return rng.normal(1.0, 2.0), rng.random()

    for rng, theirs in ((bc.random.default_rng(3), np.random.default_rng(3)), (counting(bc, 3), np.random.Generator(np.random.Philox(3)))):
        assert two(rng) == (theirs.normal(1.0, 2.0), theirs.random())
        assert rng.normal() == theirs.normal()


def test_single_numbers_are_numbers():
    rng = bc.random.default_rng()
    for call in ("random()", "normal()", "standard_normal()", "uniform(1, 2)", "weibull(2.0)", "gamma(3.0)", "random(dtype='float32')"):
        assert type(eval(f"rng.{call}")) is float, call
    assert type(rng.integers(5)) is np.int64 and isinstance(rng.choice(5), int | np.int64)


def test_uniform_numbers(xp):
    x = host(counting(xp, 1).random(200_000))
    assert x.min() >= 0 and x.max() < 1 and abs(x.mean() - 0.5) < 0.005 and abs(x.var() - 1 / 12) < 0.002
    counts = np.histogram(x, 64, (0, 1))[0]
    assert ((counts - 3125) ** 2 / 3125).sum() < 130  # chi square, 63 degrees of freedom
    f = host(counting(xp, 1).random(200_000, dtype=xp.float32))
    assert f.dtype == np.float32 and f.min() >= 0 and f.max() < 1 and abs(f.mean() - 0.5) < 0.005
    h = host(counting(xp, 1).random(20_000, dtype="float16"))
    assert h.dtype == np.float16 and h.min() >= 0 and h.max() < 1


def test_normal_numbers(xp):
    for dtype in ("float64", "float32"):
        x = host(counting(xp, 2).standard_normal(400_000, dtype=dtype)).astype(float)
        assert abs(x.mean()) < 0.01 and abs(x.std() - 1) < 0.01
        assert abs((x**3).mean()) < 0.03 and abs((x**4).mean() - 3) < 0.1 and np.isfinite(x).all()
        assert abs((np.abs(x) < 1).mean() - 0.6827) < 0.005
        assert abs(np.corrcoef(x[:-1], x[1:])[0, 1]) < 0.01


DISTRIBUTIONS = [
    "exponential(2.0, size=n)",
    "geometric(0.3, size=n)",
    "geometric(0.001, n)",
    "geometric(1.0, n)",
    "gumbel(1.0, 2.0, n)",
    "laplace(1.0, 2.0, n)",
    "logistic(1.0, 2.0, n)",
    "lognormal(0.5, 0.7, n)",
    "normal(1.0, 2.0, n)",
    "pareto(3.0, n)",
    "power(0.3, n)",
    "power(5.0, n)",
    "rayleigh(2.0, n)",
    "standard_cauchy(n)",
    "triangular(-1.0, 0.0, 4.0, n)",
    "triangular(1.0, 1.0, 4.0, n)",
    "triangular(1.0, 4.0, 4.0, n)",
    "uniform(-3.0, 5.0, n)",
    "weibull(0.5, n)",
    "weibull(3.0, n)",
    "standard_exponential(n)",
    "standard_normal(n)",
    "random(n)",
    "gamma(2.0, 3.0, n)",
    "binomial(10, 0.3, n)",
    "integers(-5, 100, n)",
    "integers(0, 2**63, n)",
    "integers([0], [1000], n)",
    "choice(7, n)",
    "choice(4, n, p=[0.1, 0.2, 0.0, 0.7])",
    "poisson(3.0, n)",
]


@pytest.mark.parametrize("call", DISTRIBUTIONS)
def test_counted_distributions_are_those_of_numpy(xp, call):
    """Kolmogorov and Smirnov's test of two samples, which holds for steps as well (it then rejects less often)."""
    n = 50_000
    x = host(eval(f"rng.{call}", {"rng": counting(xp, 11), "n": n}))
    y = eval(f"rng.{call}", {"rng": np.random.default_rng(11), "n": n})
    assert x.shape == y.shape and x.dtype == y.dtype
    both = np.concatenate([x, y])
    distance = np.abs(np.searchsorted(np.sort(x), both, "right") - np.searchsorted(np.sort(y), both, "right")).max() / n
    assert distance < 1.95 * np.sqrt(2 / n), call  # passed by all but one pair in a thousand; the seeds are fixed


def test_counted_parameters_are_arrays(xp):
    rng = counting(xp, 4)
    assert rng.normal(xp.array([0.0, 100.0]), 1.0).shape == (2,) and rng.normal([0.0, 100.0]).shape == (2,)
    x = rng.normal(xp.array(100.0), xp.array(0.001))
    assert isinstance(x, bc.ndarray) and x.shape == () and abs(float(x) - 100) < 0.1
    x = host(rng.integers([0, 10, 100], xp.array([5, 11, 200]), (1000, 3)))
    assert (x >= [0, 10, 100]).all() and (x < [5, 11, 200]).all() and set(x[:, 1]) == {10}
    x = host(rng.uniform([[0.0], [1.0]], [1.5, 2.0], (1000, 2, 2)))
    assert (x[:, :, 0] < 1.5).all() and (x[:, 1] >= 1).all() and x.shape == (1000, 2, 2)
    for info in map(np.iinfo, ("int8", "uint16", "int32", "uint64", "int64")):
        full = host(rng.integers(info.min, info.max, 2000, dtype=info.dtype, endpoint=True))
        assert full.dtype == info.dtype and len(np.unique(full)) > (200 if info.bits == 8 else 1900)


def test_counted_out(xp):
    rng = counting(xp, 6)
    out = xp.zeros((2, 3))
    for method in ("random", "standard_normal", "standard_exponential"):
        assert getattr(rng, method)(out=out) is out and float(abs(out).min()) > 0
        with pytest.raises(ValueError):
            getattr(rng, method)(5, out=out)
        with pytest.raises(TypeError):
            getattr(rng, method)(3, dtype=int)
        with pytest.raises(TypeError):
            getattr(rng, method)(out=xp.zeros(3, xp.float32))


def test_choice_without_replacement(xp):
    rng = counting(xp, 19)
    assert sorted(host(rng.choice(50, 50, replace=False))) == list(range(50))
    some = rng.choice(xp.arange(12).reshape(6, 2) * 1.5, (2, 2), replace=False, axis=0)
    assert some.shape == (2, 2, 2) and len({float(v) for v in host(some)[..., 0].ravel()}) == 4


def test_pi_by_random_points(xp):
    rng = counting(xp, 10)
    x, y = rng.random(100_000) * 2 - 1, rng.random(100_000) * 2 - 1
    assert float((x * x + y * y < 1).sum()) / 100_000 * 4 == pytest.approx(np.pi, abs=0.03)


@pytest.mark.parametrize(
    ("name", "forms"),
    [
        ("exponential", [(), (2.0,), (2.0, 3), (2.0, (2, 3)), (2.0, None), ([1.0, 2.0], (3, 2)), (2, 5000), (-1.0, 3)]),
        ("normal", [(0, 1), (0.0, 1.0, 10), ([0, 1, 2],), (0.0, 1.0, "3")]),
        ("multinomial", [(10, [0.5, 0.5]), (10, (0.2, 0.8), 4), (10, [0.5, 0.6])]),
        ("random", [(), (5,), ((2, 2),), (-1,), (5000,), (3, np.float32)]),
        ("standard_exponential", [(), (4,), (4, np.float32)]),
        ("permutation", [(5,), ([3, 1, 2],), (5000,), ("ab",)]),
    ],
)
def test_few_numbers_are_drawn_by_numpys_methods(name, forms):
    """Plain calls take a short way; each call gives NumPy's numbers and errors, and leaves its generator where NumPy's is."""
    for form in forms:
        ours, theirs = bc.random.default_rng(7), np.random.default_rng(7)
        try:
            expected = getattr(theirs, name)(*form)
        except Exception as e:
            with pytest.raises(type(e)):
                getattr(ours, name)(*form)
        else:
            drawn = getattr(ours, name)(*form)
            assert isinstance(drawn, bc.ndarray) == isinstance(expected, np.ndarray)
            np.testing.assert_array_equal(np.asarray(drawn), expected)
        assert ours.random() == theirs.random()
    method = getattr(bc.random.Generator, name)
    assert method.__name__ == name and method.__doc__
    assert "size" in inspect.signature(getattr(ours, name)).parameters or name == "permutation"
    assert "self" not in inspect.signature(getattr(ours, name)).parameters


def test_sizes_by_name_and_devices_of_few_numbers():
    ours, theirs = bc.random.default_rng(7), np.random.default_rng(7)
    np.testing.assert_array_equal(np.asarray(ours.normal(size=4)), theirs.normal(size=4))
    np.testing.assert_array_equal(np.asarray(ours.normal(2.0, size=(2, 2))), theirs.normal(2.0, size=(2, 2)))
    assert ours.normal(1.0, 2.0, 3, device="cpu").device == "cpu"
    with pytest.raises(TypeError):
        ours.normal(sizes=4)
    state, numpys = bc.random.RandomState(3), np.random.RandomState(3)
    for name, form in (("rand", (2, 3)), ("randn", (4,)), ("randint", (0, 10, 5)), ("random_sample", (3,)), ("permutation", (6,))):
        np.testing.assert_array_equal(np.asarray(getattr(state, name)(*form)), getattr(numpys, name)(*form))


@pytest.mark.parametrize("name", ["PCG64", "PCG64DXSM", "MT19937", "SFC64", "Philox", "SeedSequence"])
def test_seeds_may_be_arrays(name):
    ours, numpys = getattr(bc.random, name), getattr(np.random, name)
    words = (lambda o: o.generate_state(3)) if name == "SeedSequence" else (lambda o: o.random_raw(3))
    for seed in (np.arange(3), np.array([2**40, 5]), [1, 2], 3):
        given = bc.asarray(seed) if isinstance(seed, np.ndarray) else seed
        assert words(ours(given)).tolist() == words(numpys(seed)).tolist()
    assert isinstance(ours(3), ours) and isinstance(ours(3), numpys)
    if name != "Philox":
        assert ours == numpys and issubclass(numpys, ours) and isinstance(numpys(3), ours)
        assert type(ours(3)) is numpys
    assert pickle.loads(pickle.dumps(ours)) is ours

    class Mine(ours):  # type: ignore[misc, valid-type]
        pass

    assert type(Mine(3)) is Mine and not isinstance(ours(3), Mine)
    assert words(Mine(3)).tolist() == words(numpys(3)).tolist()


def test_elements_as_parameters_draw_numpys_numbers():
    x, i = bc.array([1.5, 2.5]), bc.arange(5)
    ours, theirs = bc.random.default_rng(3), np.random.default_rng(3)
    assert float(ours.normal(x[0], x[1])) == theirs.normal(1.5, 2.5)
    assert int(ours.integers(i[4])) == theirs.integers(4)
    assert ours.normal(x[0], 0.5, size=2).tolist() == theirs.normal(1.5, 0.5, size=2).tolist()
    assert ours.poisson(x[1], (2, 2)).tolist() == theirs.poisson(2.5, (2, 2)).tolist()
    assert ours.random(i[3]).tolist() == theirs.random(3).tolist()


def test_arguments_that_ops_gave():
    """Elements and results of reductions are numbers where a draw takes numbers, whether they are computed yet or not."""
    x, n = bc.array([1.0, 2.0, 3.0], device="cpu"), np.array([1.0, 2.0, 3.0])
    ours, theirs = bc.random.default_rng(3), np.random.default_rng(3)
    assert float(ours.exponential(1 / x.sum())) == theirs.exponential(1 / n.sum())
    assert float(ours.normal(x[1], x.max())) == theirs.normal(n[1], n.max())
    assert np.array_equal(ours.normal(0, 1, (x > 1).sum()).get(), theirs.normal(0, 1, (n > 1).sum()))
    assert np.array_equal(ours.normal(0.5, size=(x > 1).sum()).get(), theirs.normal(0.5, size=(n > 1).sum()))
    assert np.array_equal(ours.poisson(x.mean(), size=3).get(), theirs.poisson(n.mean(), size=3))
    assert np.array_equal(ours.random(size=2).get(), theirs.random(size=2))
    assert float(ours.random()) == theirs.random()
    with pytest.raises(TypeError):
        ours.normal(0, 1, size=2, scale=3)
    with pytest.raises(ValueError):
        ours.exponential(-x.sum())


@pytest.mark.parametrize("axis", [None, 0, 1])
def test_elements_are_mixed_in_their_order_in_memory(xp, axis):
    def layouts(m):
        three = m.arange(24).reshape(2, 3, 4)
        return three[0].T, m.asfortranarray(three[1]), three[:, ::-1, 0].T, three.transpose(1, 0, 2), three[::-1]

    for i in range(5):
        ours, theirs = generators("PCG64")
        x, y = layouts(xp)[i], layouts(np)[i]
        assert_same(ours.permuted(x, axis=axis), theirs.permuted(y, axis=axis))
        for order in "CF":
            to, theirs_to = xp.zeros(x.shape, dtype=x.dtype, order=order), np.zeros(y.shape, dtype=y.dtype, order=order)
            assert ours.permuted(x, axis=axis, out=to) is to
            theirs.permuted(y, axis=axis, out=theirs_to)
            assert_same(to, theirs_to)
    with pytest.raises(ValueError, match="read-only"):
        to.flags.writeable = False
        ours.permuted(x, axis=axis, out=to)


def test_records_are_permuted_in_place():
    rows = [(1, 2.0), (3, 4.0), (5, 6.0)]
    a, theirs = bc.array(rows, dtype="i8,f8"), np.array(rows, dtype="i8,f8")
    assert bc.random.default_rng(1).permuted(a, out=a) is a
    np.random.default_rng(1).permuted(theirs, out=theirs)
    assert a.tolist() == theirs.tolist()


def test_seeds_may_be_elements():
    n = bc.arange(5)
    assert bc.random.default_rng(n[3]).random() == np.random.default_rng(3).random()
    assert bc.random.default_rng([1, n[3]]).random() == np.random.default_rng([1, 3]).random()
    made = bc.random.SeedSequence(5, spawn_key=(n[3],)).generate_state(2)
    assert made.tolist() == np.random.SeedSequence(5, spawn_key=(3,)).generate_state(2).tolist()
    assert bc.random.Philox(n[3]).random_raw() == np.random.Philox(3).random_raw()


def test_arguments_of_empty_shuffles_are_checked(xp):
    with pytest.raises(np.exceptions.AxisError):
        bc.random.default_rng(1).shuffle(xp.zeros((0, 3)), axis=2)


def test_permutation_takes_an_object_whose_array_is_ours(xp):
    class Holder:
        def __init__(self):
            self.values = xp.arange(5)

        def __array__(self, dtype=None, copy=None):
            return self.values

    holder = Holder()
    got = xp.random.RandomState(1).permutation(holder)
    np.testing.assert_array_equal(np.asarray(got), np.random.RandomState(1).permutation(np.arange(5)))
    np.testing.assert_array_equal(np.asarray(holder.values), np.arange(5))


# ---- What CuPy's programs ask for -------------------------------------------------------------------------------------------------------

FLOATS = {
    "rand": (1000,), "randn": (3,), "random_sample": (1000,), "random": (1000,), "standard_normal": ((2, 2),), "normal": (0, 1, (2,)),
    "uniform": (0, 1, 3), "exponential": (1.0, 3), "gumbel": (0, 1, 3), "gamma": (2.0, 1.0, 3), "standard_gamma": (2.0, 3),
    "standard_exponential": (3,), "beta": (1, 2, 3), "dirichlet": ([1, 2], 3), "multivariate_normal": ([0, 0], [[1, 0], [0, 1]], 3),
}  # fmt: skip
INTEGERS = {"poisson": (3, 3), "binomial": (9, 0.5, 3), "geometric": (0.3, 3), "zipf": (3, 3), "hypergeometric": (3, 3, 3, 3)}


@pytest.mark.parametrize("name", [*FLOATS, *INTEGERS])
def test_functions_of_the_module_take_a_dtype(name):
    args, narrow = (FLOATS[name], "float32") if name in FLOATS else (INTEGERS[name], "int32")
    want = getattr(np.random.RandomState(5), name)(*args)
    for dtype in (narrow, want.dtype):
        got = getattr(bc.random.RandomState(5), name)(*args, dtype=dtype)
        assert isinstance(got, bc.ndarray) and got.dtype == dtype
        np.testing.assert_array_equal(got.get(), want.astype(dtype))
    with pytest.raises(TypeError, match="expected a dtype of"):
        getattr(bc.random.RandomState(5), name)(*args, dtype="complex64")


def test_a_dtype_of_one_number_and_of_new_generators():
    assert type(bc.random.RandomState(1).uniform(dtype="f4")) is np.float32
    with pytest.raises(TypeError, match="dtype"):
        bc.random.default_rng(1).poisson(3.0, 3, dtype="i4")


def test_narrow_numbers_stay_below_one():
    class Highest:
        """Draws the largest number below 1, which float32 does not hold."""

        def random_sample(self, size):
            return np.full(size, np.nextafter(1.0, 0.0))

    state = bc.random.RandomState(1)
    state._numpy = Highest()
    assert (state.random_sample(3, "float32").get() < 1).all()


@pytest.mark.parametrize("name", ["XORWOW", "MRG32k3a", "Philox4x3210"])
def test_cupys_bit_generators(name):
    make = getattr(bc.random, name)
    a = bc.random.Generator(make(1, size=100))
    assert_same(a.random(8), bc.random.Generator(make(1)).random(8).get())
    assert_same(pickle.loads(pickle.dumps(a)).normal(size=4), a.normal(size=4).get())
    assert bool((bc.random.Generator(make(2)).random(8) != bc.random.Generator(make(1)).random(8)).all())


def test_the_state_of_the_module_is_got_and_set():
    before = bc.random.get_state()
    try:
        bc.random.set_random_state(bc.random.RandomState(3))
        assert_same(bc.random.rand(2), np.random.RandomState(3).rand(2))
        assert_same(bc.random.get_random_state().rand(2), np.random.RandomState(3).rand(4)[2:])
        bc.random.reset_states()
        assert bc.random.rand(2).tolist() != np.random.RandomState(3).rand(2).tolist()
        with pytest.raises(TypeError, match="RandomState"):
            bc.random.set_random_state(3)
    finally:
        bc.random.set_state(before)
