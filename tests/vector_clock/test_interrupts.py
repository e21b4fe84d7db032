"""Ctrl-C ends waits for streams and for the compiler; what the device still does goes on, and its memory stays."""

from __future__ import annotations

import contextlib
import os
import signal
import threading
import time
from collections.abc import Iterator

import numpy as np

from stream_order import library, on_vector_clock, recorded

BUSY = 4.0  # seconds of a stream's work; without an interrupt a wait takes that long
AFTER = 0.4  # when the signal comes
ALLOWED = 2.5  # until the wait has ended; 0.3 s on a machine that does nothing else


@contextlib.contextmanager
def interrupted() -> Iterator[None]:
    """Sends SIGINT while the block runs, which must end with KeyboardInterrupt soon after."""
    timer = threading.Timer(AFTER, os.kill, (os.getpid(), signal.SIGINT))
    start = time.monotonic()
    timer.start()
    try:
        yield
    except KeyboardInterrupt:
        took = time.monotonic() - start
        assert AFTER <= took < ALLOWED, took
    else:
        raise AssertionError("the block was not interrupted")


def busy(stream) -> None:
    assert library().vc_busy(stream.ptr or None, BUSY) == 0


def stream_waits(bc):
    """By name: what waits for a stream with 1,000 ones and twos on it."""
    event = bc.cuda.Event()
    pinned = bc.cuda.pinned_array(70_000, dtype="f4")
    return {
        "synchronize": lambda s, x: s.synchronize(),
        "all": lambda s, x: bc.synchronize(),
        "event": lambda s, x: (event.record(s), event.synchronize()),
        "scalar": lambda s, x: float(x[0]),
        "item": lambda s, x: x.sum().item(),
        "few": lambda s, x: x[:10].get(),
        "some": lambda s, x: x[:10_000].get(),
        "many": lambda s, x: x.get(),
        "pinned": lambda s, x: x.get(out=pinned),
        "numpy": lambda s, x: np.asarray(x[:100].get()),
        "count": lambda s, x: bc.nonzero(x)[0].shape,
        "to the CPU": lambda s, x: bc.asarray(x, device="cpu"),
    }


@on_vector_clock(timeout=300)
def test_a_wait_for_a_stream_ends():
    import broadcloth as bc

    for name, wait in stream_waits(bc).items():
        with bc.device("cuda"), recorded() as log:
            stream = bc.cuda.Stream(non_blocking=True)
            with stream:
                x = bc.ones(70_000, dtype="f4") + 1
                bc.flush()
                busy(stream)
                with interrupted():
                    wait(stream, x)
                    raise AssertionError(name)
                assert not stream.done, name
                # Everything can be used; the stream ends when it ends.
                y = x * 2
                del x
                bc.flush()
                stream.synchronize()
                assert y.get().shape == (70_000,)
        log.check()


@on_vector_clock(timeout=300)
def test_memory_that_an_interrupted_read_uses_is_kept():
    import broadcloth as bc

    with bc.device("cuda"), recorded() as log:
        one, two = bc.cuda.Stream(non_blocking=True), bc.cuda.Stream(non_blocking=True)
        for count in (1, 1000, 10_000):
            with one:
                x = bc.full(70_000, 1, dtype="f4")
                bc.flush()
            with two:
                bc.ones(4, dtype="f4").get()
                busy(two)
                with interrupted():
                    x[:count].get()  # queued on a stream that is busy, and left
                del x
            for _ in range(4):
                with one:
                    z = bc.full(70_000, 2, dtype="f4")  # may get the memory, and writes it
                    bc.flush()
                    del z
            with two:
                a = bc.full(count, 3, dtype="f4")
                for _ in range(70):
                    a.get()  # more than there are places for reads
    log.check()


@on_vector_clock(timeout=300)
def test_a_handler_that_does_not_raise_lets_the_wait_go_on():
    import broadcloth as bc

    seen = []
    before = signal.signal(signal.SIGINT, lambda *_: seen.append(bc.arange(3, device="cpu").sum().item()))
    try:
        with bc.device("cuda"):
            stream = bc.cuda.Stream(non_blocking=True)
            with stream:
                x = bc.ones(100, dtype="f4")
                bc.flush()
                library().vc_busy(stream.ptr, 1.5)
                start = time.monotonic()
                threading.Timer(AFTER, os.kill, (os.getpid(), signal.SIGINT)).start()
                x.get()
                assert time.monotonic() - start > 1.4
        assert seen == [3]
    finally:
        signal.signal(signal.SIGINT, before)


@on_vector_clock(timeout=300)
def test_another_thread_goes_on_while_the_main_one_waits_and_is_interrupted():
    import broadcloth as bc

    ends = []

    def work():
        with bc.device("cuda"), bc.cuda.Stream(non_blocking=True):
            while not ends:
                (bc.ones(100, dtype="f4") + 1).sum().item()

    with bc.device("cuda"):
        stream = bc.cuda.Stream(non_blocking=True)
        thread = threading.Thread(target=work)
        thread.start()
        try:
            with stream:
                x = bc.ones(100, dtype="f4")
                bc.flush()
                busy(stream)
                with interrupted():
                    x.get()
        finally:
            ends.append(True)
            thread.join()
        stream.synchronize()


@on_vector_clock(timeout=300)
def test_a_wait_for_the_compiler_ends_and_the_kernel_is_there_later():
    import broadcloth as bc

    with bc.device("cuda"), recorded() as log:
        x = bc.ones(100, dtype="f4")
        kernel = bc.RawKernel('extern "C" __global__ void slow_to_compile(float* x) { x[0] = 1; }', "slow_to_compile")
        with interrupted():
            kernel((1,), (1,), (x,))
        kernel((1,), (1,), (x,))
        ours = bc.ElementwiseKernel("T a", "T b", "b = a /* slow_to_compile */", "slow_to_compile")
        with interrupted():
            ours(x)
        assert ours(x).shape == (100,)
        bc.flush()
    names = [e.name for e in log.launches()]
    assert "slow_to_compile" in names, names
    log.check()


@on_vector_clock()
def test_functions_of_a_capture_end_with_its_graph():
    import gc

    import broadcloth as bc

    calls = []
    with bc.device("cuda"):
        stream = bc.cuda.Stream(non_blocking=True)
        for _ in range(3):
            with stream:
                stream.begin_capture()
                stream.launch_host_func(calls.append, 1)
                graph = stream.end_capture()
            assert library().vc_user_objects() == 1
            graph.launch(stream)
            graph.launch(stream)
            stream.synchronize()
            del graph
            gc.collect()
            stream.synchronize()
            assert library().vc_user_objects() == 0
    assert calls == [1] * 6
