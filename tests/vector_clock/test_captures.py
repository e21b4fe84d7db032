"""Streams that are captured, beside streams that are not, under memory pressure, and beside other libraries."""

from __future__ import annotations

import ctypes
import gc
import struct

import numpy as np
import pytest

import broadcloth as bc
from broadcloth import cuda
from stream_order import OtherLibrary, checked, library, on_vector_clock, recorded


def forked(first: cuda.Stream, second: cuda.Stream) -> cuda.Event:
    """Makes the second stream join the first one's capture; the event takes it back."""
    fork, join = cuda.Event(disable_timing=True), cuda.Event(disable_timing=True)
    fork.record(first)
    second.wait_event(fork)
    return join


def joined(first: cuda.Stream, second: cuda.Stream, join: cuda.Event) -> None:
    join.record(second)
    first.wait_event(join)


def addresses(entry) -> set[int]:
    """The pointers among a launch's parameters."""
    words = struct.unpack(f"<{len(entry.params) // 8}Q", entry.params)
    return {w for w in words if 1 << 32 < w < 1 << 48}


@on_vector_clock()
def test_a_stream_that_joined_a_capture_has_counters_of_its_own_in_the_graph():
    first, second = cuda.Stream(non_blocking=True), cuda.Stream(non_blocking=True)
    with bc.device("cuda"):
        x = bc.ones(1 << 22, dtype="float32")
        bc.flush()
        with recorded() as log:
            with first:
                first.begin_capture()
                join = forked(first, second)
                with second:
                    inside = x.sum()
                joined(first, second, join)
                graph = first.end_capture()
            with second:
                outside = x.sum()
                bc.flush()
            graph.launch(first)
            with second:
                again = x.sum()
                bc.flush()
            first.synchronize()
            second.synchronize()
        log.check()
        del inside, outside, again
    captured, launched, once, twice = sorted((e for e in log.launches() if "sum" in e.name), key=lambda e: (not e.capture, e.launch < 0))
    assert launched.params == captured.params
    counters = addresses(once) & addresses(twice)
    assert len(counters) >= 2  # the counters and x
    assert len(addresses(captured) & counters) == 1  # x


@on_vector_clock()
def test_waits_inside_a_capture_are_none_outside():
    """What the second stream waited for as an edge of the graph it has not waited for itself."""
    first, second = cuda.Stream(non_blocking=True), cuda.Stream(non_blocking=True)
    with bc.device("cuda"):
        with recorded() as log:
            with first:
                x = bc.ones(1000)
                bc.flush()
                first.begin_capture()
                y = x + 1
                join = forked(first, second)
                with second:
                    z = y * 2
                joined(first, second, join)
                graph = first.end_capture()
            with second:
                w = x * 3
                bc.flush()
        log.check()
        del graph, z, w


@on_vector_clock()
def test_work_of_a_stream_before_it_joined_a_capture_is_waited_for():
    first, second, third = (cuda.Stream(non_blocking=True) for _ in range(3))
    with bc.device("cuda"):
        a = bc.ones(1000)
        bc.flush()
        with recorded() as log:
            with first:
                first.begin_capture()
                b = a + 1
            with second:
                x = a * 2
                bc.flush()
            join = forked(first, second)
            with third:
                y = x + 1
                bc.flush()
            with first:
                joined(first, second, join)
                graph = first.end_capture()
        log.check()
        del graph, b, y


@on_vector_clock()
def test_a_capture_ends_on_the_stream_that_began_it():
    first, second = cuda.Stream(non_blocking=True), cuda.Stream(non_blocking=True)
    with bc.device("cuda"):
        x = bc.ones(100)
        bc.flush()
        with recorded() as log:
            with first:
                first.begin_capture()
                y = x + 1
                join = forked(first, second)
                with pytest.raises(RuntimeError, match="not the one whose capture was begun"):
                    second.end_capture()
                joined(first, second, join)
                graph = first.end_capture()
            graph.launch()
        log.check()
        assert y.size == 100


@on_vector_clock(memory=256 << 20)
def test_memory_pressure_leaves_memory_and_pages_in_their_place_while_a_stream_is_captured():
    first, second = cuda.Stream(non_blocking=True), cuda.Stream(non_blocking=True)
    with bc.device("cuda"):
        small = bc.ones(100)
        with recorded() as log:
            with first:
                large = [bc.ones(8 << 20, dtype="float32") for _ in range(5)]
                bc.flush()
                del large  # free for the first stream, whose work is not done
                first.begin_capture()
                y = small + 1
            with second, pytest.raises(MemoryError):
                bc.ones(40 << 20, dtype="float32")[:3].get()
            bc.get_default_memory_pool().free_all_blocks()
            with first:
                graph = first.end_capture()
            # Afterwards there is room.
            with second:
                whole = bc.ones(40 << 20, dtype="float32")
                bc.flush()
            graph.launch(first)
            first.synchronize()
        log.check()
        del y, whole


@on_vector_clock()
def test_small_uploads_elsewhere_leave_a_capture_alone():
    first, second = cuda.Stream(non_blocking=True), cuda.Stream(non_blocking=True)
    host = np.ones(1000, "float32")
    with bc.device("cuda"):
        with recorded() as log:
            with first:
                a = bc.asarray(host)
                bc.flush()
                first.begin_capture()
                b = a + 1
            with second:
                kept = [bc.asarray(host) for _ in range(1000)]  # the ring goes round
            with first:
                graph = first.end_capture()
            with second:
                kept += [bc.asarray(host) for _ in range(1000)]
            graph.launch(first)
            first.synchronize()
        log.check()
        del a, b, kept


@on_vector_clock()
def test_page_locked_memory_of_captured_copies_is_the_graphs():
    stream = cuda.Stream(non_blocking=True)
    with bc.device("cuda"):
        d = cuda.device_array(1000, "float32")
        pinned = cuda.pinned_array(1000, "float32")
        pinned[:] = 1
        place = pinned.ctypes.data
        with recorded() as log:
            stream.begin_capture()
            d.copy_to_device(pinned, stream=stream)
            graph = stream.end_capture()
            del pinned
            gc.collect()
            stream.synchronize()
            # As large, so that the pool would hand out the same.
            other = cuda.pinned_array(1000, "float32")
            assert other.ctypes.data != place
            other[:] = 7
            graph.launch(stream)
            np.testing.assert_array_equal(d.copy_to_host(), np.ones(1000, "float32"))
            del graph
            gc.collect()
            stream.synchronize()
            assert cuda.pinned_array(1000, "float32").ctypes.data == place
        log.check()


@on_vector_clock()
def test_another_librarys_capture_is_not_disturbed():
    other = OtherLibrary()
    handle = ctypes.c_void_p(other.stream)
    second = cuda.Stream(non_blocking=True)
    with bc.device("cuda"):
        x = bc.ones(1000, dtype="float32")
        ours = cuda.ExternalStream(other.stream)
        with ours:
            z = x * 2
            bc.flush()
        with recorded() as log:
            with other.entered():
                checked("cuStreamBeginCapture_v2", handle, 0)
            with ours:
                y = x + 1
                bc.flush()
                with pytest.raises(RuntimeError, match="captured"):
                    bc.asarray(np.ones(1000))
            with second:
                w = z + 1  # waits for what was queued before the capture
                bc.flush()
            graph = ctypes.c_void_p()
            with other.entered():
                checked("cuStreamEndCapture", handle, ctypes.byref(graph))
        log.check()
        del w, y


@on_vector_clock()
def test_kernels_are_loaded_while_another_thread_captures_in_cudas_default_mode():
    other = OtherLibrary()
    handle = ctypes.c_void_p(other.stream)
    with bc.device("cuda"):
        x = bc.ones(1000, dtype="float32")
        bc.flush()
        with recorded() as log:
            with other.entered():
                checked("cuStreamBeginCapture_v2", handle, 0)
            kernel = bc.RawKernel('extern "C" __global__ void twice(float* x) { x[0] *= 2; }', "twice")
            kernel((1,), (1,), (x,))
            y = bc.sin(x) + 3
            bc.flush()
            graph = ctypes.c_void_p()
            with other.entered():
                checked("cuStreamEndCapture", handle, ctypes.byref(graph))
        log.check()
        del y


@on_vector_clock()
def test_a_graph_that_runs_keeps_its_host_functions():
    stream = cuda.Stream(non_blocking=True)
    calls = []
    with bc.device("cuda"):
        stream.begin_capture()
        stream.launch_host_func(calls.append, "ran")
        graph = stream.end_capture()
        for _ in range(3):
            graph.launch(stream)
        del graph
        gc.collect()
        assert not calls
        stream.synchronize()
        assert calls == ["ran"] * 3
        assert library().vc_problem(0) is None
