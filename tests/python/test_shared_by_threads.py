"""Threads share dispatchers, kernels, streams, events, caches and arrays: with Python's lock, and without it where Python has none."""

from __future__ import annotations

import gc
import math
import sys
import threading
import time

import numpy as np
import pytest

import broadcloth as bc
from broadcloth import cuda
from support import device_of, host, in_threads, run_python

THREADS = 6


@pytest.fixture(autouse=True)
def quick_switches():
    """Threads change often, so that what is not guarded shows."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(before)


def test_one_function_is_compiled_by_many_threads_at_once():
    for _ in range(3):

        def helper(x):
            return x * x + 1

        inner = bc.njit(helper)

        @bc.njit
        def f(a, k):
            s = 0.0
            for i in range(a.size):
                s += inner(a[i]) * k
            return s

        x = np.arange(100.0)
        want = float((x * x + 1).sum())
        got = in_threads(THREADS, lambda k, f=f, x=x: f(x, k))
        assert got == [want * k for k in range(THREADS)]


@pytest.mark.parametrize("nogil", [True, False])
def test_what_threads_write_into_one_array_by_compiled_functions_is_kept(nogil):
    """Without the lock while the function runs, and while it is compiled."""
    for _ in range(8):

        @bc.njit(nogil=nogil)
        def fill(row, k):
            for _ in range(300):
                for i in range(len(row)):
                    row[i] = k * i
            return row.sum()

        x = bc.asarray(np.zeros((60, 50)), device="cpu")
        copied = x.copy()
        got = in_threads(THREADS, lambda k, fill=fill, x=x: [fill(x[i], i) for i in range(k, 60, THREADS)])
        want = np.outer(np.arange(60.0), np.arange(50.0))
        np.testing.assert_array_equal(host(x), want)
        assert got == [[1225.0 * i for i in range(k, 60, THREADS)] for k in range(THREADS)]
        assert not copied.any()


def test_what_python_stores_beside_a_compiled_function_is_kept():
    @bc.njit(nogil=True)
    def count(x, n):
        for i in range(n):
            x[0] = x[0] * 0.5 + i
        return x[0]

    x = bc.zeros(5000, device="cpu")
    want = count(bc.zeros(2, device="cpu"), 20_000_000)
    thread = threading.Thread(target=count, args=(x, 20_000_000))
    thread.start()
    time.sleep(0.002)  # the function has begun, as a rule
    x[1] = 5
    x[2:4] = bc.asarray([6.0, 7.0], device="cpu")
    x[4:] += 2
    x[10] = x[11] + x[12]
    y = x[1:9].copy()
    thread.join()
    assert x[0] == want and x[1:9].tolist() == y.tolist() == [5.0, 6.0, 7.0, 2.0, 2.0, 2.0, 2.0, 2.0] and x[10] == 4
    later = x.copy()
    x += 1
    assert x[1] == 6 and later[1] == 5


def test_what_threads_write_into_one_array_by_kernels_is_kept():
    @cuda.jit
    def fill(x, row):
        i = cuda.grid(1)
        if i < x.shape[1]:
            for _ in range(50):
                x[row, i] = row * i

    double = bc.ElementwiseKernel("float64 a", "float64 y", "y = 2 * a", "doubled_rows")
    for _ in range(8):
        x, y = bc.zeros((60, 50), device="cpu"), bc.zeros((60, 50), device="cpu")
        ones = bc.ones(50, device="cpu")

        def work(k, x=x, y=y, ones=ones):
            for i in range(k, 60, THREADS):
                fill[1, 64](x, i)
                double(ones * i, y[i])

        with bc.device("cpu"):
            in_threads(THREADS, work)
        np.testing.assert_array_equal(host(x), np.outer(np.arange(60.0), np.arange(50.0)))
        np.testing.assert_array_equal(host(y), np.outer(np.arange(60.0), np.full(50, 2.0)))


def test_one_dispatcher_meets_types_that_are_new_in_every_thread():
    @bc.njit
    def total(a, b):
        return a[0] + b

    kinds = [np.int8, np.int32, np.int64, np.float32, np.float64, np.complex128]

    def work(k):
        seen = []
        for turn in range(60):
            t = kinds[(turn + k) % len(kinds)]
            seen.append(total(np.full(3, 5, t), 2) == 7)
        return all(seen)

    assert in_threads(THREADS, work) == [True] * THREADS


def test_a_dispatcher_forgets_while_others_call_it():
    @bc.njit
    def twice(x):
        return 2 * x

    stop = threading.Event()

    def recompile():
        while not stop.is_set():
            twice.recompile()

    other = threading.Thread(target=recompile)
    twice(1)
    other.start()
    try:
        assert in_threads(4, lambda k: [twice(i + k) for i in range(40)]) == [[2 * (i + k) for i in range(40)] for k in range(4)]
    finally:
        stop.set()
        other.join()


def test_one_kernel_is_launched_by_many_threads(xp):
    device = device_of(xp)

    @cuda.jit
    def add(out, x, k):
        i = cuda.grid(1)
        if i < out.size:
            out[i] = x[i] + k

    def work(k):
        with xp.device(device):
            x = xp.arange(1000.0 if k % 2 else 1000)
            for step in range(20):
                out = xp.zeros(1000, x.dtype)
                add[8, 128](out, x, step)
                if step % 5 == 0:
                    assert float(out[7]) == 7 + step
            return float(out.sum())

    assert in_threads(THREADS, work) == [sum(range(1000)) + 19.0 * 1000] * THREADS


def test_one_raw_kernel_and_one_elementwise_kernel(xp):
    device = device_of(xp)
    raw = xp.RawKernel(
        'extern "C" __global__ void scale(float* x, float k, int n) '
        '{ int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) x[i] *= k; }',
        "scale",
    )
    square = xp.ElementwiseKernel("T x, T y", "T z", "z = (x - y) * (x - y)", "square_difference")
    norm = xp.ReductionKernel("T x", "T y", "x * x", "a + b", "y = sqrt(a)", "0", "norm")

    def work(k):
        with xp.device(device):
            ok = True
            for step in range(15):
                dtype = [np.float32, np.float64, np.int32][(step + k) % 3]
                x = xp.full(256, 2, dtype=np.float32)
                raw((2,), (128,), (x, np.float32(k + 1), np.int32(256)))
                ok &= float(x[255]) == 2 * (k + 1)
                ok &= float(square(xp.full(10, 5, dtype=dtype), xp.full(10, 3, dtype=dtype))[9]) == 4
                ok &= math.isclose(float(norm(xp.full(16, 1, dtype=np.float64))), 4.0)
            return bool(ok)

    assert in_threads(THREADS, work) == [True] * THREADS


def test_one_vectorized_function(xp):
    device = device_of(xp)

    @bc.vectorize
    def f(a, b):
        return a * 2 + b

    def work(k):
        with xp.device(device):
            t = [np.int32, np.float32, np.float64, np.int64][k % 4]
            ok = True
            for step in range(10):
                ok &= bool((f(np.arange(50, dtype=t), t(1)) == np.arange(50, dtype=t) * 2 + 1).all())
                ok &= float(f(xp.arange(50, dtype=t), xp.ones(50, t))[49]) == 99
            return bool(ok)

    assert in_threads(THREADS, work) == [True] * THREADS


def test_arrays_are_changed_read_and_viewed_at_once(xp):
    device = device_of(xp)
    x = xp.zeros(64)
    y = xp.arange(64.0)

    def work(k):
        with xp.device(device):
            for step in range(60):
                if k % 3 == 0:
                    x[...] = y + step
                elif k % 3 == 1:
                    v = host(x)
                    d = v - np.arange(64.0)
                    assert (v == 0).all() or (d == d[0]).all()
                else:
                    z = x[::2] * 2
                    np.asarray(host(z))
                    assert x.flags.writeable
                    repr(x)
        return True

    assert all(in_threads(THREADS, work))


def test_streams_and_events_are_shared(xp):
    device = device_of(xp)
    with xp.device(device):
        stream = cuda.Stream()
        event = cuda.Event()

    def work(k):
        with xp.device(device):
            for step in range(25):
                with stream:
                    a = xp.arange(500.0) + k
                    a += step
                event.record(stream)
                cuda.get_current_stream().wait_event(event)
                b = a * 2
                if step % 4 == k % 4:
                    event.synchronize()
                    stream.synchronize()
                assert event.done in (True, False)
            return float(b[0])

    assert in_threads(4, work) == [2.0 * (k + 24) for k in range(4)]


def test_lists_that_change_while_they_are_read():
    rows = [[1.0, 2.0], [3.0, 4.0]] * 50
    stop = threading.Event()

    def change():
        while not stop.is_set():
            rows.append([5.0, 6.0])
            rows.pop(0)

    other = threading.Thread(target=change)
    other.start()
    try:
        # NumPy's own answer to a list that changes length under it is an error; a crash is not.
        def work(k):
            for _ in range(100):
                try:
                    a = bc.array([bc.asarray(r) for r in rows[:4]])
                    assert a.shape == (4, 2)
                    bc.concatenate([bc.ones(2), *[bc.asarray(r) for r in list(rows)[:3]]])
                except (ValueError, IndexError):
                    pass
            return True

        assert all(in_threads(4, work))
    finally:
        stop.set()
        other.join()


def test_garbage_is_collected_meanwhile(xp):
    device = device_of(xp)
    stop = threading.Event()

    def collect():
        while not stop.is_set():
            gc.collect()

    other = threading.Thread(target=collect)
    other.start()
    try:

        def work(k):
            with xp.device(device):
                ring = []
                for step in range(40):
                    x = xp.arange(100.0) * step
                    ring.append((ring, x, xp.sin(x)))
                    if len(ring) > 5:
                        ring = []
                return float(x[99])

        assert in_threads(4, work) == [99.0 * 39] * 4
    finally:
        stop.set()
        other.join()


def test_settings_and_statistics_meanwhile(xp):
    device = device_of(xp)
    stop = threading.Event()
    errors = []

    def look():
        try:
            while not stop.is_set():
                with xp.device(device):
                    bc._broadcloth.pool_stats()
                    bc._broadcloth.cache_stats()
                    bc._broadcloth.get_config()
                    with bc.profiler.record() as r:
                        float((xp.ones(10) + 1).sum())
                    assert r.kernels is not None
        except BaseException as e:  # shown below, in the thread that can raise
            errors.append(e)

    other = threading.Thread(target=look)
    other.start()
    try:

        def work(k):
            with xp.device(device):
                return sum(float((xp.arange(50.0) * k).sum()) for _ in range(60))

        assert in_threads(4, work) == [60.0 * 1225 * k for k in range(4)]
    finally:
        stop.set()
        other.join()
    assert not errors, errors


@pytest.mark.skipif(getattr(sys, "_is_gil_enabled", lambda: True)(), reason="this Python has a lock")
def test_the_module_leaves_the_lock_off():
    run_python("import sys, broadcloth as bc\nfloat(bc.ones(3).sum())\nassert not sys._is_gil_enabled()")
