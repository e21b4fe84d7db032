"""numpy.random and random in compiled functions: the numbers that NumPy's RandomState gives for the same seed."""

from __future__ import annotations

import os
import random

import numpy as np
import pytest

from broadcloth import njit, prange


def test_numbers_are_those_of_numpy_with_the_same_seed():
    @njit
    def numbers(seed, n):
        np.random.seed(seed)
        out = np.empty((n, 9))
        for i in range(n):
            out[i, 0] = np.random.random()
            out[i, 1] = np.random.normal(2.0, 3.0)
            out[i, 2] = np.random.uniform(-1.0, 3.0)
            out[i, 3] = np.random.randint(0, 10)
            out[i, 4] = np.random.randint(0, 2**40)
            out[i, 5] = np.random.standard_normal()
            out[i, 6] = np.random.exponential(2.0)
            out[i, 7] = np.random.choice(7)
            out[i, 8] = np.random.rand()
        return out

    def expected(seed, n):
        r = np.random.RandomState(seed)
        return np.array([
            [r.random(), r.normal(2.0, 3.0), r.uniform(-1.0, 3.0), r.randint(0, 10), r.randint(0, 2**40), r.standard_normal(),
             r.exponential(2.0), r.choice(7), r.rand()]
            for _ in range(n)
        ])  # fmt: skip

    for seed in (0, 42, 2**32 - 1):
        np.testing.assert_allclose(numbers(seed, 500), expected(seed, 500), rtol=1e-14)  # crosses several blocks of words


def test_arrays_shuffles_and_permutations_are_those_of_numpy():
    @njit
    def arrays(seed, m):
        np.random.seed(seed)
        a = np.random.random((3, 5))
        b = np.random.normal(0.0, 1.0, 7)
        c = np.arange(20)
        np.random.shuffle(c)
        np.random.shuffle(m)
        return a, b, c, np.random.permutation(11), np.random.permutation(m), np.random.randint(3, 9, 6)

    m = np.arange(12).reshape(6, 2)
    got = arrays(7, m)
    r = np.random.RandomState(7)
    n = np.arange(12).reshape(6, 2)
    a, b, c = r.random_sample((3, 5)), r.normal(0.0, 1.0, 7), np.arange(20)
    r.shuffle(c)
    r.shuffle(n)
    for x, y in zip(got, (a, b, c, r.permutation(11), r.permutation(n), r.randint(3, 9, 6))):
        np.testing.assert_allclose(x, y, rtol=1e-14)
    np.testing.assert_array_equal(m, n)


def test_pythons_random_has_a_state_of_its_own():
    @njit
    def whole(n):
        low, high, bits = 9, 0, np.uint64(0)
        for _ in range(n):
            k = random.randint(2, 5)
            low, high = min(low, k), max(high, k)
            bits |= random.getrandbits(3)
            if random.randrange(10, 20, 5) % 5:
                return 0, 0, np.uint64(0)
        return low, high, bits

    @njit
    def pair(seed):
        random.seed(seed)
        a = random.random()
        for _ in range(1000):
            np.random.random()
        return a, random.random()

    r = np.random.RandomState(3)
    assert pair(3) == (r.random_sample(), r.random_sample())
    assert whole(500) == (2, 5, 7)


def test_an_empty_range_raises():
    @njit
    def below(high):
        return np.random.randint(5, high)

    @njit
    def between(high):
        return random.randint(5, high)

    assert below(6) == 5
    assert between(5) == 5
    with pytest.raises(ValueError, match="low >= high"):
        below(5)
    with pytest.raises(ValueError, match="empty range"):
        between(4)


def test_threads_and_children_have_numbers_of_their_own():
    @njit(parallel=True)
    def many(n):
        out = np.empty(n)
        for i in prange(n):
            out[i] = np.random.random()
        return out

    @njit
    def one():
        return np.random.random()

    x = many(20000)
    assert np.unique(x).size > 19990
    assert 0.49 < x.mean() < 0.51
    one()
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(writer, repr(one()).encode())
        os._exit(0)
    os.waitpid(child, 0)
    assert float(os.read(reader, 64)) != one()
    os.close(reader)
    os.close(writer)


def test_counts_and_gammas_are_those_of_numpy():
    @njit
    def numbers(seed, n):
        np.random.seed(seed)
        out = np.empty((n, 9))
        for i in range(n):
            out[i, 0] = np.random.poisson(3.0)
            out[i, 1] = np.random.poisson(80.0)
            out[i, 2] = np.random.binomial(10, 0.3)
            out[i, 3] = np.random.binomial(20, 0.9)
            out[i, 4] = np.random.laplace(1.0, 2.0)
            out[i, 5] = np.random.gamma(2.5, 2.0)
            out[i, 6] = np.random.gamma(0.5)
            out[i, 7] = np.random.beta(0.5, 0.7)
            out[i, 8] = np.random.geometric(0.4)
        return out

    r = np.random.RandomState(11)
    expected = [
        [r.poisson(3.0), r.poisson(80.0), r.binomial(10, 0.3), r.binomial(20, 0.9), r.laplace(1.0, 2.0), r.gamma(2.5, 2.0), r.gamma(0.5),
         r.beta(0.5, 0.7), r.geometric(0.4)]
        for _ in range(300)
    ]  # fmt: skip
    np.testing.assert_allclose(numbers(11, 300), expected, rtol=1e-12)


def test_large_binomials_have_their_mean_and_variance():
    @njit
    def numbers(n, p, size):
        np.random.seed(1)
        return np.random.binomial(n, p, size)

    for n, p in ((1000, 0.3), (500, 0.9), (10**6, 0.001)):
        x = numbers(n, p, 40000)
        assert x.min() >= 0 and x.max() <= n
        assert abs(x.mean() - n * p) < 5 * (n * p * (1 - p) / x.size) ** 0.5
        assert abs(x.var() / (n * p * (1 - p)) - 1) < 0.05


EXACT = ["pareto(3.0)", "weibull(1.5)", "power(1.5)", "standard_exponential()", "exponential(2.5)", "gamma(0.7, 2.0)", "gamma(2.7, 2.0)",
         "zipf(2.5)", "beta(0.5, 0.5)", "beta(2.0, 3.0)", "logistic(0.5, 2.0)", "standard_normal()", "normal(1.0, 2.0)", "gumbel(0.5, 2.0)",
         "rayleigh(2.0)", "laplace(0.5, 2.0)", "lognormal(0.5, 0.7)", "chisquare(3.0)", "standard_t(4.0)", "standard_cauchy()",
         "f(3.0, 5.0)", "geometric(0.2)", "poisson(3.5)", "randint(0, 1000000)", "uniform(-1.0, 2.0)"]  # fmt: skip


def test_every_bit_is_numpys():
    body = "\n".join(f"        out[{k}, i] = np.random.{call}" for k, call in enumerate(EXACT))
    text = f"def draw(seed, out):\n    np.random.seed(seed)\n    for i in range(out.shape[1]):\n{body}\n"
    space = {"np": np}
    exec(text, space)
    ours, theirs = np.empty((len(EXACT), 500)), np.empty((len(EXACT), 500))
    njit(space["draw"])(7, ours)
    space["draw"](7, theirs)
    for call, a, b in zip(EXACT, ours, theirs, strict=True):
        np.testing.assert_array_equal(a, b, err_msg=call)


CPYTHONS = ["random()", "uniform(1.0, 2.0)", "expovariate(2.0)", "triangular()", "triangular(1.0, 2.0, 1.2)", "triangular(1.0, 1.0)",
            "gammavariate(0.5, 2.0)", "gammavariate(2.5, 2.0)", "gammavariate(1.0, 2.0)", "betavariate(0.5, 0.7)", "betavariate(2.0, 3.0)",
            "vonmisesvariate(0.5, 2.0)", "vonmisesvariate(0.5, 0.0)", "paretovariate(1.5)", "weibullvariate(0.5, 2.0)"]  # fmt: skip


def test_pythons_distributions_draw_from_pythons_stream_as_python_does():
    body = "\n".join(f"        out[{k}, i] = random.{call}" for k, call in enumerate(CPYTHONS))
    text = f"def draw(seed, out):\n    random.seed(seed)\n    for i in range(out.shape[1]):\n{body}\n"
    space = {"random": random}
    exec(text, space)
    ours, theirs = np.empty((len(CPYTHONS), 200)), np.empty((len(CPYTHONS), 200))
    njit(space["draw"])(5, ours)

    class Seeded(random.Random):
        def seed(self, seed=None):
            """The state of NumPy's generator, whose algorithm is Python's."""
            words, at = np.random.RandomState(seed).get_state()[1:3]
            self.setstate((3, (*(int(w) for w in words), int(at)), None))

    space["random"] = Seeded(5)
    space["draw"](5, theirs)
    np.testing.assert_allclose(ours, theirs, rtol=1e-12)


def test_the_two_streams_do_not_disturb_each_other():
    @njit
    def numbers(also):
        random.seed(3)
        np.random.seed(4)
        x = np.arange(10.0)
        if also:
            random.shuffle(x)
            random.choice(x)
            random.expovariate(1.0)
            random.sample([1, 2, 3], 2)
        first = np.random.random()
        random.seed(3)
        if also:
            np.random.shuffle(x)
        return first, random.gammavariate(2.0, 1.0)

    assert numbers(False) == numbers(True)


def test_samples_and_choices():
    @njit
    def drawn(seed):
        random.seed(seed)
        words = ["a", "b", "c", "d"]
        return random.sample(words, 3), random.choices(words, k=5), random.choices(words, [0.0, 1.0, 0.0, 2.0], k=50), words

    for seed in range(5):
        sample, choices, weighted, words = drawn(seed)
        assert len(set(sample)) == 3 and set(sample) <= set(words) and len(choices) == 5 and set(choices) <= set(words)
        assert set(weighted) == {"b", "d"} and weighted.count("d") > weighted.count("b") and words == ["a", "b", "c", "d"]


@pytest.mark.parametrize("call", ["choice(a, 7, True, p)", "choice(5, 3, p=p)", "choice(5, (2, 3), p=p)", "choice(a, 3, False, p)",
                                  "choice(5, 4, replace=False, p=p)", "choice(a, p=p)", "choice(a, 5, p=q)", "choice(a, 5, False, q)",
                                  "choice(a, p=p[:2])", "choice(a, p=p * 2)", "choice(a, p=-p)"])  # fmt: skip
def test_choices_with_probabilities_are_numpys(call):
    text = f"def draw(a, p, q):\n    np.random.seed(3)\n    return np.random.{call}\n"
    space = {"np": np}
    exec(text, space)
    a, p, q = np.arange(5) * 1.5, np.array([0.1, 0.2, 0.3, 0.15, 0.25]), np.array([0.5, 0.0, 0.5, 0.0, 0.0])
    try:
        expected = space["draw"](a, p, q)
    except ValueError as error:
        with pytest.raises(ValueError, match=str(error).split(".")[0]):
            njit(space["draw"])(a, p, q)
    else:
        np.testing.assert_array_equal(njit(space["draw"])(a, p, q), expected)


def test_a_generator_is_returned_as_itself():
    rng = np.random.default_rng(3)
    assert njit(lambda g: g)(rng) is rng
    again, drawn = njit(lambda g: (g, g.random()))(rng)
    assert again is rng and drawn == np.random.default_rng(3).random()
