"""Functions of Python's that streams call. The driver waits for them where a queue is full and where memory is freed; who waits with the
interpreter's lock held would wait for a function that needs it. The driver of these tests tells of such calls."""

from __future__ import annotations

import gc
import threading

import numpy as np

import broadcloth as bc
from broadcloth import cuda
from stream_order import library, on_vector_clock, recorded


@on_vector_clock()
def test_nothing_is_queued_with_pythons_lock_held_while_a_function_is_queued():
    stream, other = cuda.Stream(non_blocking=True), cuda.Stream(non_blocking=True)
    calls = []
    kernel = bc.RawKernel('extern "C" __global__ void twice(float* x) { x[0] *= 2; }', "twice")
    with bc.device("cuda"):
        x = bc.ones((64, 64), dtype="float32")
        bc.flush()
        with recorded() as log:
            for _ in range(3):
                stream.launch_host_func(calls.append, 1)
                for s in (stream, other):
                    with s:
                        a = bc.asarray(np.ones(100, "float32"))
                        b = a + 1
                        for _ in range(400):
                            b = b * 2  # the tape is full
                        c = x.sum(axis=0)
                        x[3] = 4
                        x[x > 3] = 5
                        bc.flush()
                        kernel((1,), (1,), (a,))
                        d = bc.array([1.0, 2.0]) + bc.arange(2)
                        bc.flush()
                del a, b, c, d
                gc.collect()
                stream.synchronize()
        log.check()
    assert calls == [1, 1, 1]


@on_vector_clock()
def test_freeing_lets_go_of_pythons_lock_while_a_function_is_queued():
    stream = cuda.Stream(non_blocking=True)
    calls = []
    with bc.device("cuda"):
        combined = bc._c.host_allocate("pinned", 4096, True)
        managed = bc._c.host_allocate("managed", 4096)
        pinned = bc._c.host_allocate("pinned", 4096)
        del pinned
        with recorded() as log:
            stream.launch_host_func(calls.append, 1)
            del combined, managed
            bc._c.pinned_trim()
            held = [bc.ones(4 << 20, dtype="float32") for _ in range(2)]
            bc.flush()
            del held
            bc.get_default_memory_pool().free_all_blocks()
        log.check()
        assert {e.name for e in log.of_kind("free")} >= {"cuMemFree", "cuMemFreeHost"}
        stream.synchronize()
    assert calls == [1]


@on_vector_clock()
def test_threads_that_queue_and_functions_that_are_called_go_on_together():
    calls = []

    def work(seed: int) -> None:
        stream = cuda.Stream(non_blocking=True)
        with bc.device("cuda"), stream:
            x = bc.ones(1000)
            for i in range(50):
                stream.launch_host_func(calls.append, seed)
                x = x + i
                bc.flush()
                if i % 10 == 9:
                    stream.synchronize()

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join(60)
        assert not t.is_alive()
    assert len(calls) == 200
    index = 0
    while text := library().vc_problem(index):
        raise AssertionError(text.decode())
