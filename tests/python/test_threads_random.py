"""Random programs in several threads at once give the bits that they give alone."""

from __future__ import annotations

import random
import sys
import threading
import warnings

import numpy as np
import pytest

import broadcloth as bc
import differential
from support import configured, host, in_threads

THREADS = 4


@pytest.fixture(autouse=True)
def quick_switches():
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(before)


def results(statements):
    return {name: host(v).copy() for name, v in differential.run(statements, bc).items()}


@pytest.mark.parametrize("jit", [True, False])
def test_arrays_of_their_own(jit):
    with configured(lazy=True, jit=jit, background_compile=jit), bc.device("cpu"):
        programs = [differential.make(seed)[0] for seed in range(9000, 9000 + (40 if jit else 160))]
        want = [results(p) for p in programs]

        def work(k):
            order = list(range(len(programs)))
            random.Random(k).shuffle(order)
            with bc.device("cpu"):
                return {i: results(programs[i]) for i in order}

        for got in in_threads(THREADS, work):
            for i, expected in enumerate(want):
                for name, v in expected.items():
                    assert differential.bits(got[i][name]) == differential.bits(v), (programs[i], name)


def expressions(rng: random.Random, arrays: list, lib) -> np.ndarray:
    """A random chain over the arrays, which it does not change, with stores into arrays of its own and values that are looked at."""
    x = arrays[rng.randrange(len(arrays))]
    own = lib.zeros(x.shape)
    for _ in range(rng.randrange(3, 9)):
        y = arrays[rng.randrange(len(arrays))]
        kind = rng.randrange(6)
        if kind == 0:
            x = x * 0.5 + y
        elif kind == 1:
            x = lib.where(x > y, x - 1, y)
        elif kind == 2:
            x = x[::-1] - y
        elif kind == 3:
            low = rng.randrange(1000)
            own[low : low + 2000] += y[low : low + 2000]
            x = x + own
        elif kind == 4:
            x = lib.maximum(x, y) - float(y[rng.randrange(1000)])
        else:
            own[...] = x
            own[::2] = 3
            x = x - own
    return x


def test_shared_arrays_that_are_pending():
    def sources():
        base = bc.arange(6000.0)
        made = [base % 7 + k for k in range(3)] + [bc.sqrt(base)]
        made.append(made[0] * made[3])
        return made

    with bc.device("cpu"):
        for turn in range(25):
            want = [host(expressions(random.Random(10 * turn + k), sources(), bc)) for k in range(THREADS)]
            shared = sources()

            def work(k, shared=shared, turn=turn):
                with bc.device("cpu"):
                    return host(expressions(random.Random(10 * turn + k), shared, bc))

            for got, expected in zip(in_threads(THREADS, work), want):
                assert np.array_equal(got, expected)


def test_an_array_that_is_written_under_a_lock_while_others_read_it():
    lock = threading.Lock()
    with bc.device("cpu"):
        x, mirror = bc.arange(5000.0), np.arange(5000.0)

        def write(rng):
            low, number = rng.randrange(4000), rng.randrange(1, 9)
            kind = rng.randrange(4)
            if kind == 0:
                x[low : low + 900] += number
                mirror[low : low + 900] += number
            elif kind == 1:
                x[low] = number
                mirror[low] = number
            elif kind == 2:
                x[1:] = x[:-1]
                mirror[1:] = mirror[:-1].copy()
            else:
                x[...] = x * 0.5
                mirror[...] = mirror * 0.5

        def work(k):
            rng, checks = random.Random(k), []
            with bc.device("cpu"):
                for _ in range(120):
                    with lock:
                        if rng.random() < 0.5:
                            write(rng)
                        # Recorded now, computed later, perhaps by another thread.
                        checks.append((x * 2 + k, mirror * 2 + k))
                    if rng.random() < 0.3:
                        got, expected = checks.pop(rng.randrange(len(checks)))
                        assert np.array_equal(host(got), expected)
                for got, expected in checks:
                    assert np.array_equal(host(got), expected)

        in_threads(THREADS, work)
        assert np.array_equal(host(x), mirror)


def test_an_interrupted_thread_and_an_error_leave_the_others_alone():
    with bc.device("cpu"), warnings.catch_warnings():
        warnings.simplefilter("ignore")

        def work(k):
            with bc.device("cpu"):
                for turn in range(40):
                    a = bc.arange(3000.0) + k
                    if k % 2:
                        with pytest.raises(IndexError):
                            host(bc.take(a, bc.asarray([5000 + turn])) + bc.sin(a))
                    else:
                        assert float((a * 2).sum()) == 2 * (2999 * 1500 + 3000 * k)

        in_threads(THREADS, work)
