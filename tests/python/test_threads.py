"""Threads use arrays at the same time: their own, and the same ones."""

from __future__ import annotations

import threading

import numpy as np
import pytest

from support import assert_same, device_of, host, in_threads, run_python


def test_threads_with_arrays_of_their_own(xp):
    device = device_of(xp)

    def work(k):
        with xp.device(device):
            x = xp.arange(1000.0) + k
            for step in range(30):
                x = x * 1.01 + xp.sin(x)
                x[step : step + 10] -= x[:10]
                if step % 7 == 0:
                    float(x.sum())
            return host(x)

    def alone(k):
        x = xp.arange(1000.0) + k
        for step in range(30):
            x = x * 1.01 + xp.sin(x)
            x[step : step + 10] -= x[:10]
        return host(x)

    want = [alone(k) for k in range(6)]
    for got, expected in zip(in_threads(6, work), want):
        assert_same(got, expected)


def test_threads_read_one_pending_array(xp):
    device = device_of(xp)
    for _ in range(5):
        x = xp.arange(5000.0) * 2 + 1

        def work(k, x=x):
            with xp.device(device):
                return float((x[k::8] * (k + 1)).sum())

        got = in_threads(8, work)
        n = np.arange(5000.0) * 2 + 1
        assert got == pytest.approx([float((n[k::8] * (k + 1)).sum()) for k in range(8)], rel=1e-12)


def test_threads_write_different_parts_of_one_array(xp):
    device = device_of(xp)
    x = xp.zeros((8, 500))

    def work(k):
        with xp.device(device):
            for _ in range(50):
                x[k] += k + 1
            return float(x[k].sum())

    assert in_threads(8, work) == [50.0 * (k + 1) * 500 for k in range(8)]
    assert_same(x, np.repeat(np.arange(1, 9.0) * 50, 500).reshape(8, 500))


def test_threads_synchronise_while_others_record(xp):
    device = device_of(xp)
    stop = threading.Event()

    def look():
        while not stop.is_set():
            xp.synchronize()

    watcher = threading.Thread(target=look)
    watcher.start()
    try:

        def work(k):
            with xp.device(device):
                total = xp.zeros(100)
                for step in range(200):
                    total += xp.arange(100.0) * step + k
                return host(total)

        for k, got in enumerate(in_threads(4, work)):
            assert_same(got, np.arange(100.0) * sum(range(200)) + 200 * k)
    finally:
        stop.set()
        watcher.join()


def test_errors_stay_in_their_thread(xp):
    device = device_of(xp)

    def work(k):
        with xp.device(device):
            if k % 2:
                try:
                    xp.ones(3) + xp.ones(4)
                except ValueError:
                    return "error"
                return "nothing"
            return float((xp.ones(100) * k).sum())

    assert in_threads(6, work) == [0.0, "error", 200.0, "error", 400.0, "error"]


def test_the_default_device_is_a_threads_own(xp):
    def work(k):
        with xp.device("cpu"):
            return str(xp.zeros(1).device)

    before = str(xp.default_device())
    assert in_threads(3, work) == ["cpu"] * 3
    assert str(xp.default_device()) == before


def test_arrays_are_dropped_in_other_threads(xp):
    device = device_of(xp)
    made = [xp.arange(1000.0) * k for k in range(200)]

    def work(k):
        with xp.device(device):
            while made:
                try:
                    x = made.pop()
                except IndexError:
                    break
                if k % 2:
                    float(x[1])
                del x

    in_threads(4, work)
    xp.synchronize()


def test_numpy_sees_each_store_of_its_thread(xp):
    """Two threads store into the halves of an array whose memory NumPy has too, while a third one flushes: after a statement NumPy sees
    what it stored."""
    if not device_of(xp).startswith("cpu"):
        pytest.skip("NumPy shares the memory of the CPU's arrays only")
    n = 1 << 18
    x = xp.zeros(2 * n)
    seen = np.asarray(x)
    ended = threading.Event()

    def work(k):
        if k == 2:
            while not ended.wait(0.001):
                xp.flush()
            return 0
        low, high = k * n, (k + 1) * n
        missed = 0
        for i in range(1, 120):
            x[low:high] = xp.arange(n, device=x.device) * 0 + i
            missed += seen[low] != i or seen[high - 1] != i
        if k == 0:
            ended.set()
        return missed

    assert in_threads(3, work) == [0, 0, 0]
    assert np.shares_memory(seen, np.asarray(x))


def test_what_numpy_changes_later_is_not_read(xp):
    """An op that reads memory which NumPy has too is done when its statement ends, beside another thread's ops and with a cast."""
    if not device_of(xp).startswith("cpu"):
        pytest.skip("NumPy shares the memory of the CPU's arrays only")
    x = xp.zeros(5000, dtype="float32")
    seen = np.asarray(x)
    y = xp.zeros(6000)
    y[1000:] = x
    seen[:] = 9
    assert float(y[2000]) == 0

    def work(k):
        own = xp.zeros(200_000, device=x.device)
        shown = np.asarray(own) if k == 0 else None
        wrong = 0
        for i in range(60):
            if k:
                own = xp.sin(own) + i
                continue
            z = own * 2
            shown[:] = i + 1
            wrong += float(z[-1]) != 2 * i
        return wrong

    assert in_threads(3, work) == [0, 0, 0]


# The thread's plan is written to a pipe that is full, so the thread stays in the planning of its flush until somebody reads the pipe.
PLANS_INTO_A_FULL_PIPE = """
import os, threading, time
import broadcloth as bc

bc.set_default_device("cpu")
x = bc.arange(5000, dtype="float64")
bc.flush()
expected = float(bc.sum(x + 1.0))  # its plan is known from now on
read, write = os.pipe()
os.dup2(write, 2)
os.set_blocking(2, False)
try:
    while True:
        os.write(2, bytes(4096))
except BlockingIOError:
    os.set_blocking(2, True)
done, drained, ended = threading.Event(), threading.Event(), threading.Event()

def plan():
    y = bc.arange(70_001, dtype="float32")
    bc.flush()
    assert float((bc.sqrt(y) * 3 - y)[100]) == -70.0
    ended.set()

def drain():
    done.wait(30)
    drained.set()
    while not ended.is_set():
        os.read(read, 65536)

threads = [threading.Thread(target=plan), threading.Thread(target=drain, daemon=True)]
for t in threads:
    t.start()
time.sleep(0.5)
assert not ended.is_set()
for _ in range(20):
    assert float(bc.sum(x + 1.0)) == expected
assert not drained.is_set(), "a flush waited for another thread's planning"
done.set()
threads[0].join()
print("done")
"""


def test_a_thread_does_not_wait_for_anothers_planning():
    assert run_python(PLANS_INTO_A_FULL_PIPE, env={"BROADCLOTH_DUMP": "plan"}).stdout == "done\n"
