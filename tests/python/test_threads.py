"""Threads use arrays at the same time: their own, and the same ones."""

from __future__ import annotations

import threading

import numpy as np
import pytest

from support import assert_same, device_of, host, in_threads


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
