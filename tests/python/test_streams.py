"""Streams, events and the order between streams."""

from __future__ import annotations

import asyncio
import threading

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import broadcloth as bc
from broadcloth import cuda
from support import configured

c = bc._c


@pytest.fixture
def null():
    """The null device, whose log tells what was queued, marked and waited for."""
    with bc.device("null"), configured(lazy=True, jit=True, background_compile=False):
        bc.synchronize()
        c.null_log_clear()
        yield c


def order(streams):
    """The null device's log, with the streams by their place in a list."""
    places = {s.ptr: i for i, s in enumerate(streams)}
    return [(kind, places.get(stream, "default"), event) for kind, _, stream, event in c.null_order()]


# ---- What waits for what -----------------------------------------------------------------------------------------------------------------


def test_work_goes_to_the_stream_that_it_was_recorded_on(null):
    s = cuda.Stream()
    with s:
        a = bc.ones(100)
    b = bc.ones(100) * 2
    b.get(), a.get()
    assert [(k, w) for k, w, _ in order([s]) if k == "launch"] == [("launch", 0), ("launch", "default")]


def test_reading_another_streams_array_waits_for_it_once(null):
    s, t = cuda.Stream(), cuda.Stream()
    with s:
        a = bc.ones(100)
    with t:
        b = a + 1
    with t:
        d = a + 2
    assert order([s, t]) == [("launch", 0, 0), ("record", 0, 1), ("wait", 1, 1), ("launch", 1, 0), ("launch", 1, 0)]
    del b, d


def test_one_stream_records_no_event(null):
    s = cuda.Stream()
    with s:
        a = bc.ones(100)
        bc.flush()
        a += 1
        bc.flush()
        b = a.sum()
    assert {k for k, _, _ in order([s])} <= {"launch", "fill"}
    del b


def test_nothing_is_waited_for_after_a_synchronisation(null):
    s, t = cuda.Stream(), cuda.Stream()
    with s:
        a = bc.ones(100)
    s.synchronize()
    with t:
        a + 1
        b = a + 1
    assert "wait" not in {k for k, _, _ in order([s, t])}
    del b


def test_a_store_waits_for_readers_on_other_streams(null):
    s, t = cuda.Stream(), cuda.Stream()
    with s:
        a = bc.ones(100)
    s.synchronize()
    c.null_log_clear()
    with t:
        b = a * 2
    with s:
        a[::2] = 0
    assert order([s, t]) == [("launch", 1, 0), ("record", 1, 1), ("wait", 0, 1), ("launch", 0, 0)]
    del b


def test_a_pending_reader_of_another_stream_runs_before_a_store(device):
    s, t = cuda.Stream(), cuda.Stream()
    with s:
        a = bc.arange(6)
    s.synchronize()
    t.use()
    b = a + 100
    s.use()
    a[:] = 0
    a[2:] = 5
    assert_array_equal(b.get(), np.arange(6) + 100)
    assert_array_equal(a.get(), [0, 0, 5, 5, 5, 5])
    cuda.Stream.null.use()


def test_memory_is_not_used_again_while_another_stream_reads_it(null):
    s, t = cuda.Stream(), cuda.Stream()
    with s:
        a = bc.ones(1000)
    address = a.data.ptr
    with t:
        b = a + 1
    del a
    with s:
        d = bc.empty(1000)
        assert d.data.ptr != address
    with t:
        e = bc.empty(1000)
        assert e.data.ptr == address
    del b


def test_an_event_counts_as_waiting(null):
    s, t = cuda.Stream(), cuda.Stream()
    with s:
        a = bc.ones(100)
    event = s.record()
    t.wait_event(event)
    with t:
        b = a + 1
    assert [k for k, _, _ in order([s, t])] == ["launch", "record", "wait", "launch"]
    del b


def test_wait_stream(null):
    s, t = cuda.Stream(), cuda.Stream()
    with s:
        bc.ones(10).get()
    t.wait_stream(s)
    assert [k for k, w, _ in order([s, t]) if k in ("record", "wait")] == ["record", "wait"]


def test_streams_of_many_threads_stay_apart(device):
    results: dict[int, np.ndarray] = {}

    def work(i: int) -> None:
        with bc.device(device), cuda.Stream(non_blocking=True):
            a = bc.arange(1000) + i
            for _ in range(5):
                a = a * 2 - a
            results[i] = a.get()

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    for i in range(4):
        assert_array_equal(results[i], np.arange(1000) + i)


def test_an_array_that_crosses_streams_has_its_value(device):
    s, t = cuda.Stream(non_blocking=True), cuda.Stream(non_blocking=True)
    with s:
        a = bc.arange(1 << 20, dtype="float32")
        b = bc.sqrt(a) + 1
    with t:
        d = b * 2
    with s:
        b += d
    expected = np.sqrt(np.arange(1 << 20, dtype="float32")) + 1
    assert_array_equal(b.get(), expected + expected * 2)


def test_values_that_wait_on_two_streams_can_be_read_together(device):
    s, t = cuda.Stream(), cuda.Stream()
    s.use()
    a = bc.arange(8) * 2
    t.use()
    b = bc.arange(8) * 3
    cuda.Stream.null.use()
    assert_array_equal((a + b).get(), np.arange(8) * 5)


def test_users_kernels_are_ordered_with_array_operations(null):
    kernel = bc.RawKernel('extern "C" __global__ void f(const float* x, float* y) { y[threadIdx.x] = x[threadIdx.x]; }', "f")
    s, t = cuda.Stream(), cuda.Stream()
    with s:
        x = bc.ones(32, dtype="float32")
        y = bc.zeros(32, dtype="float32")
    kernel((1,), (32,), (x, y), stream=t)
    with s:
        z = y + 1
    with t:
        w = z + x
    kernel((1,), (32,), (x, y), stream=t)
    log = order([s, t])
    kinds = [(k, where) for k, where, _ in log]
    first = kinds.index(("launch", 1))
    assert kinds[first - 2 : first] == [("record", 0), ("wait", 1)]
    after = kinds[first + 1 :]
    assert after[:3] == [("record", 1), ("wait", 0), ("launch", 0)]
    assert after[3:] == [("record", 0), ("wait", 1), ("launch", 1), ("launch", 1)]
    del z, w


def test_a_kernel_uses_another_devices_memory_in_order(null):
    kernel = bc.RawKernel('extern "C" __global__ void f(const float* x, float* y) { y[threadIdx.x] = x[threadIdx.x]; }', "f")
    with bc.device("null:1"):
        x = bc.ones(32, dtype="float32")
    y = bc.zeros(32, dtype="float32")
    bc.synchronize()
    c.null_log_clear()
    with bc.device("null:1"):
        x *= 2  # pending on its device when the other one asks for it
    kernel((1,), (32,), (y, x))  # runs where its first array is
    with bc.device("null:1"):
        x *= 3
    bc.synchronize()
    log = [(kind, str(device)) for kind, device, _, _ in c.null_order() if kind != "synchronize"]
    here, there = "null", "null:1"
    launches = [where for kind, where in log if kind == "launch"]
    assert launches == [there, here, there]
    middle = log.index(("launch", here))
    assert log[:middle][-2:] == [("record", there), ("wait", here)]
    assert log[middle + 1 :][:2] == [("record", here), ("wait", there)]


def test_a_kernel_on_another_stream_writes_memory_of_its_own_array_only(device):
    kernel = bc.RawKernel('extern "C" __global__ void f(float* y) { y[threadIdx.x] += 1; }', "f")
    s, t = cuda.Stream(non_blocking=True), cuda.Stream(non_blocking=True)
    with s:
        a = bc.arange(32, dtype="float32")
        b = a.copy()
        pending = a * 2
    for stream in (t, s, t):
        kernel((1,), (32,), (a,), stream=stream)
    assert_array_equal(a.get(), np.arange(32) + 3)
    assert_array_equal(b.get(), np.arange(32))
    assert_array_equal(pending.get(), np.arange(32) * 2)


# ---- The objects -------------------------------------------------------------------------------------------------------------------------


def test_with_blocks_nest_and_go_back(device):
    s, t = cuda.Stream(), cuda.Stream()
    assert cuda.get_current_stream() == cuda.Stream.null
    with s:
        with t:
            assert cuda.get_current_stream() is t
        assert cuda.get_current_stream() is s
    assert cuda.get_current_stream() == cuda.Stream.null


def test_a_with_block_ends_when_its_body_raises(device):
    s = cuda.Stream()
    with pytest.raises(KeyError), s:
        raise KeyError
    assert cuda.get_current_stream() == cuda.Stream.null


def test_use_keeps_the_stream(device):
    cuda.Stream().use()
    a = bc.arange(4) + 1
    assert cuda.get_current_stream() != cuda.Stream.null
    cuda.Stream.null.use()
    assert_array_equal(a.get(), [1, 2, 3, 4])


def test_stream_equality_and_kinds(device):
    s, t = cuda.Stream(), cuda.Stream()
    assert s == s and s != t and s != cuda.Stream.null
    assert cuda.Stream(null=True) == cuda.Stream.null == cuda.default_stream() == cuda.legacy_default_stream()
    assert cuda.Stream(ptds=True) == cuda.Stream.ptds == cuda.per_thread_default_stream()
    assert len({s, t, s}) == 2
    with pytest.raises(ValueError, match="one of null and ptds"):
        cuda.Stream(null=True, ptds=True)
    assert cuda.Stream(non_blocking=True).non_blocking
    assert "Stream" in repr(s) and "null" in repr(cuda.Stream.null)


def test_the_per_thread_stream_differs_between_threads(device):
    handles = []

    def look() -> None:
        with bc.device(device):
            handles.append(cuda.Stream.ptds.ptr)

    look()
    thread = threading.Thread(target=look)
    thread.start()
    thread.join()
    assert handles[0] != handles[1]
    with cuda.Stream.ptds:
        a = bc.arange(3) * 2
    assert_array_equal(a.get(), [0, 2, 4])


def test_streams_are_used_again(device):
    handles = set()
    for _ in range(100):
        s = cuda.Stream(non_blocking=True)
        s.synchronize()
        handles.add(s.ptr)
    assert len(handles) <= 40


def test_another_librarys_stream_is_found_by_its_handle(null):
    s = cuda.Stream()

    class Protocol:
        def __cuda_stream__(self):
            return (0, s.ptr)

    class Torch:
        cuda_stream = s.ptr

    class CuPy:
        ptr = s.ptr

    for other in (Protocol(), Torch(), CuPy(), s.ptr):
        with cuda.ExternalStream(other):
            a = bc.ones(10)
        assert order([s])[-1] == ("launch", 0, 0)
    with cuda.external_stream(s.ptr) as same:
        assert same == s or same.ptr == s.ptr
    del a
    with pytest.raises(TypeError, match="ExternalStream: expected a stream's handle"):
        cuda.ExternalStream(object())


def test_another_librarys_stream_is_left_alone_once_its_object_is_gone(null):
    handle = 0x50000  # another library's, which may destroy it when ours is gone
    with cuda.ExternalStream(handle):
        a = bc.ones(1000)
        b = a + 1
    log = c.null_order()
    assert [kind for kind, _, stream, _ in log if stream == handle] == ["launch", "record"]
    assert log[-1][0] == "wait"  # the default stream, which has its memory from now on
    c.null_log_clear()
    d = b * 2
    bc.synchronize()
    del a, b, d
    bc.synchronize()
    bc.get_default_memory_pool().free_all_blocks()
    assert not [entry for entry in c.null_order() if entry[2] == handle]
    # A stream that comes by the same handle is used again.
    c.null_log_clear()
    with cuda.ExternalStream(handle):
        a = bc.ones(1000)
    assert ("launch", handle) in [(kind, stream) for kind, _, stream, _ in c.null_order()]
    del a


def test_callbacks_run_in_order(device):
    s = cuda.Stream()
    seen: list[object] = []
    with s:
        a = bc.arange(1000) * 2
    s.add_callback(lambda stream, status, arg: seen.append((stream is s, status, arg)), "first")
    s.launch_host_func(seen.append, "second")
    s.synchronize()
    assert seen == [(True, 0, "first"), "second"]
    assert a[1] == 2
    with pytest.raises(TypeError, match="launch_host_func"):
        s.launch_host_func(3)


def test_a_callback_that_raises_is_reported(device, monkeypatch):
    import sys

    seen = []
    monkeypatch.setattr(sys, "unraisablehook", lambda report: seen.append(report.exc_type))
    s = cuda.Stream()
    s.launch_host_func(lambda arg: 1 // 0)
    s.synchronize()
    assert seen == [ZeroDivisionError]


def test_async_done(device):
    async def main() -> None:
        s = cuda.stream()
        with s:
            a = bc.arange(10) + 1
        assert await s.async_done() is s
        assert a[0] == 1

    asyncio.run(main())


def test_auto_synchronize(device):
    s = cuda.stream()
    with s.auto_synchronize() as inner:
        assert inner is s
        with s:
            a = bc.arange(10) + 1
    assert s.done
    assert a[0] == 1


# ---- Events ------------------------------------------------------------------------------------------------------------------------------


def test_elapsed_time(device):
    start, end = cuda.Event(), cuda.Event()
    start.record()
    a = bc.arange(100000.0)
    for _ in range(20):
        a = bc.sin(a)
    end.record()
    end.synchronize()
    assert end.done and end.query()
    assert 0 < cuda.get_elapsed_time(start, end) < 60000
    assert cuda.event_elapsed_time(start, end) == start.elapsed_time(end)


def test_events_say_what_they_lack(device):
    with pytest.raises(ValueError, match="expected two events that were recorded"):
        cuda.get_elapsed_time(cuda.Event(), cuda.Event())
    a, b = cuda.event(timing=False), cuda.event()
    a.record(), b.record()
    with pytest.raises(ValueError, match="disable_timing"):
        a.elapsed_time(b)
    with pytest.raises(TypeError, match="expected an Event"):
        b.elapsed_time(3)
    with pytest.raises(ValueError, match="interprocess"):
        cuda.Event(interprocess=True)


def test_numba_spelling_of_events(device):
    s = cuda.stream()
    e = cuda.event()
    assert e.query()
    e.record(stream=s)
    e.wait()
    e.wait(stream=s)
    e.synchronize()
    s.wait_event(e)
    assert e.query()


def test_a_stream_that_is_not_captured(device):
    s = cuda.Stream()
    with pytest.raises(RuntimeError, match="not being captured"):
        s.end_capture()
    assert not s.is_capturing()


def test_a_graph_computes_again_from_new_values(device):
    with bc.device(device):
        s = cuda.Stream(non_blocking=True)
        x = bc.arange(1000, dtype="float32")
        warm = (bc.sin(x) * 2 + 1).sum()
        warm.get()
        with s:
            s.begin_capture()
            assert s.is_capturing()
            y = bc.sin(x) * 2 + 1
            total = y.sum()
            graph = s.end_capture()
        assert graph.node_count >= 1 and not s.is_capturing()
        graph.upload(s)
        graph.launch(s)
        expected = np.sin(np.arange(1000, dtype="float32")) * 2 + 1
        np.testing.assert_allclose(y.get(), expected, rtol=1e-6, atol=1e-6)
        np.testing.assert_allclose(float(total), expected.sum(), rtol=1e-5)
        x[:] = 0
        graph.launch(s)
        np.testing.assert_array_equal(y.get(), np.ones(1000, "float32"))
        assert float(total) == 1000


def test_a_graph_of_kernels_products_and_host_functions(device):
    with bc.device(device):
        source = """extern "C" __global__ void add(float* x, const float* by, float factor, int n) {
          int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) x[i] += by[i] * factor; }"""
        add = bc.RawKernel(source, "add")
        x, by = bc.array(np.zeros(64, np.float32)), bc.arange(64, dtype="float32")
        a = bc.array(np.random.default_rng(0).random((8, 8)).astype(np.float32))
        add((1,), (64,), (bc.zeros(64, dtype="float32"), by, np.float32(1), 64))
        (a @ a).get()
        s = cuda.Stream(non_blocking=True)
        calls = []
        with s:
            s.begin_capture()
            add((1,), (64,), (x, by, np.float32(2), 64))
            add((1,), (64,), (x, by, np.float32(0.5), 64))
            product = a @ a
            if device == "cpu":
                s.launch_host_func(calls.append, "ran")
            del add
            graph = s.end_capture()
        assert float(x.sum()) == 0 and not calls
        for _ in range(3):
            graph.launch(s)
        s.synchronize()
        np.testing.assert_array_equal(x.get(), np.arange(64, dtype="float32") * 7.5)
        np.testing.assert_allclose(product.get(), a.get() @ a.get(), rtol=1e-5)
        assert calls == (["ran"] * 3 if device == "cpu" else [])


def test_a_graph_goes_on_from_what_it_wrote(device):
    with bc.device(device):
        s = cuda.Stream(non_blocking=True)
        x = bc.array(np.zeros(10))
        # += makes a new value where nobody knows the address; memory whose address was given away is written in place.
        assert x.device_ctypes_pointer.value
        with s:
            s.begin_capture()
            x += 1
            x *= 2
            graph = s.end_capture()
        np.testing.assert_array_equal(x.get(), np.zeros(10))
        for expected in (2.0, 6.0, 14.0):
            graph.launch(s)
            np.testing.assert_array_equal(x.get(), np.full(10, expected))


def test_a_capture_over_two_streams(device):
    with bc.device(device):
        first, second = cuda.Stream(non_blocking=True), cuda.Stream(non_blocking=True)
        x = bc.arange(100.0)
        (x * 2 + 1).get()
        fork, join = cuda.Event(disable_timing=True), cuda.Event(disable_timing=True)
        with first:
            first.begin_capture()
            y = x * 2
            fork.record(first)
            second.wait_event(fork)
            with second:
                z = y + 1
            join.record(second)
            first.wait_event(join)
            w = z * y
            graph = first.end_capture()
        for start in (0.0, 5.0):
            x[:] = bc.arange(100.0) + start
            graph.launch(first)
            v = np.arange(100.0) + start
            np.testing.assert_array_equal(w.get(), (2 * v + 1) * 2 * v)


def test_reading_what_is_being_captured_is_refused(device):
    with bc.device(device):
        s = cuda.Stream(non_blocking=True)
        x = bc.arange(10.0)
        (x + 1).get()
        with s:
            s.begin_capture()
            y = x + 1
            with pytest.raises(RuntimeError, match="captured"):
                y.get()
            s.end_capture()


@pytest.mark.gpu
def test_a_copy_from_pageable_memory_cannot_be_captured():
    if not bc.device_count("cuda"):
        pytest.skip("needs a GPU")
    with bc.device("cuda"):
        s = cuda.Stream(non_blocking=True)
        with s:
            s.begin_capture()
            with pytest.raises(RuntimeError, match="cannot be"):
                bc.asarray(np.arange(100000))
            s.end_capture()


@pytest.mark.gpu
def test_an_index_error_is_raised_where_its_stream_is_synchronised():
    if not bc.device_count("cuda"):
        pytest.skip("needs a GPU")
    with bc.device("cuda"):
        s, t = cuda.Stream(non_blocking=True), cuda.Stream(non_blocking=True)
        with s:
            a = bc.arange(10)
            index = bc.arange(5) * 100
            b = a[index]
        with t:
            good = bc.arange(3) + 1
        t.synchronize()
        assert good[0] == 1
        with pytest.raises(IndexError):
            s.synchronize()
        s.synchronize()
        del b


# ---- Random programs ---------------------------------------------------------------------------------------------------------------------


def random_program(rng, streams, size):
    """The same random work on broadcloth, each step on a random stream, and on NumPy; gives the pairs of arrays."""
    ours = [bc.asarray(np.arange(size, dtype=np.float64) + i) for i in range(4)]
    theirs = [np.arange(size, dtype=np.float64) + i for i in range(4)]
    for _ in range(rng.integers(5, 40)):
        i, j, k = rng.integers(0, 4, 3)
        cut = slice(int(rng.integers(0, size // 2)), int(rng.integers(size // 2, size + 1)), int(rng.integers(1, 4)))
        step = rng.integers(0, 10)
        with streams[rng.integers(len(streams))]:
            for a in (ours, theirs):
                if step == 0:
                    a[i] = a[j] + a[k]
                elif step == 1:
                    a[i] += a[j]
                elif step == 2:
                    a[i][cut] = a[j][cut] * 0.5
                elif step == 3:
                    a[i][...] = a[j]
                elif step == 4:
                    a[i] = a[j].copy()
                elif step == 5:
                    a[i][cut] -= 1
                elif step == 6:
                    a[i] = a[j][::-1]
                elif step == 7:
                    a[i] = a[j] - a[k].max()
                elif step == 8:
                    a[i] = a[j][(np.arange(size) * 7) % size]
                else:
                    a[i] = a[j] * 0.25
        if rng.random() < 0.1:
            assert_array_equal(ours[i].get(stream=streams[rng.integers(len(streams))]), theirs[i])
    return ours, theirs


@pytest.mark.parametrize("seed", range(40))
def test_random_programs_on_random_streams(device, seed):
    rng = np.random.default_rng(seed)
    streams = [cuda.Stream.null, cuda.Stream(), cuda.Stream(non_blocking=True), cuda.Stream.ptds]
    ours, theirs = random_program(rng, streams, int(rng.integers(8, 3000)))
    for a, b in zip(ours, theirs):
        assert_array_equal(a.get(), b)
