"""The thread's current device, and memory of one device that another one uses."""

from __future__ import annotations

import ctypes
import threading

import numpy as np

import broadcloth as bc
from broadcloth import cuda
from stream_order import library, on_vector_clock, recorded


def current() -> int | None:
    """The address of the context that other libraries find current in this thread."""
    context = ctypes.c_void_p()
    assert library().cuCtxGetCurrent(ctypes.byref(context)) == 0
    return context.value


def context_of(device: int) -> int | None:
    context = ctypes.c_void_p()
    assert library().cuDevicePrimaryCtxRetain(ctypes.byref(context), device) == 0
    return context.value


def work(device: str) -> None:
    with bc.device(device):
        x = bc.asarray(np.arange(1000, dtype="float32"))
        y = (x + 1).sum() + x @ x
        float(y)
        kernel = bc.RawKernel('extern "C" __global__ void twice(float* x) { x[0] *= 2; }', "twice")
        kernel((1,), (1,), (x,))
        stream, event = cuda.Stream(non_blocking=True), cuda.Event()
        with stream:
            z = x * 2
        event.record(stream)
        event.synchronize()
        stream.synchronize()
        x[x > 3] = 5
        z.get()
        bc.flush()
        pinned = cuda.pinned_array(100, "float32")
        del pinned, kernel, x, y, z
        bc.get_default_memory_pool().free_all_blocks()


@on_vector_clock(devices=2)
def test_work_on_a_device_leaves_the_threads_current_device():
    work("cuda:0")
    first, second = context_of(0), context_of(1)
    for before in (first, second, None):
        assert library().cuCtxSetCurrent(ctypes.c_void_p(before)) == 0
        work("cuda:1")
        assert current() == before
    assert library().cuCtxSetCurrent(ctypes.c_void_p(second)) == 0
    work("cuda:0")
    assert current() == second


@on_vector_clock(devices=2)
def test_a_thread_without_a_device_has_none_after_work_on_the_second_one():
    found = []

    def run(device: str) -> None:
        work(device)
        found.append(current())

    for device in ("cuda:1", "cuda:0"):
        thread = threading.Thread(target=run, args=(device,))
        thread.start()
        thread.join()
    # Where there is none, CUDA's runtime takes the first device.
    assert all(context in (None, context_of(0)) for context in found)


@on_vector_clock(devices=2, peers=0)
def test_copies_between_devices_that_cannot_use_each_others_memory_name_both():
    with recorded() as log:
        with bc.device("cuda:0"):
            x = bc.asarray(np.arange(1 << 20, dtype="float32"))
        y = bc.asarray(x, device="cuda:1")
        back = bc.asarray(y, device="cuda:0")
        np.testing.assert_array_equal(back.get(), np.arange(1 << 20))
    log.check()
    between = [e.name for e in log.of_kind("copy") if e.bytes == 4 << 20 and "to" not in e.name.lower().replace("async", "")]
    assert between == ["cuMemcpyPeerAsync"] * 2


@on_vector_clock(devices=2)
def test_copies_between_peers_are_direct():
    with recorded() as log:
        with bc.device("cuda:0"):
            x = bc.asarray(np.arange(1000, dtype="float32"))
        y = bc.asarray(x, device="cuda:1")
        np.testing.assert_array_equal(y.get(), np.arange(1000))
    log.check()
    assert "cuMemcpyAsync" in [e.name for e in log.of_kind("copy")]


@on_vector_clock(devices=2)
def test_page_locked_memory_is_freed_by_the_device_that_made_it():
    with bc.device("cuda:1"):
        before = library().vc_count()
        pinned = cuda.pinned_array(1 << 20, "uint8")
        place = pinned.ctypes.data
        del pinned
        bc._c.pinned_trim()
    from stream_order import read_log

    freed = [e for e in read_log(before) if e.kind == "free" and e.name == "cuMemFreeHost"]
    assert [e.address for e in freed] == [place] and freed[0].device == 1


@on_vector_clock(devices=2)
def test_peers_may_use_the_stream_ordered_pool():
    assert not library().vc_pool_access(1, 0)
    assert cuda.Device(0).enable_peer_access(1)
    assert library().vc_pool_access(1, 0) and not library().vc_pool_access(0, 1)
