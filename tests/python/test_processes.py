"""Memory and events of one process opened in another (CUDA's interprocess handles)."""

from __future__ import annotations

import pickle
import subprocess
import sys

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import broadcloth as bc
from broadcloth import cuda

pytestmark = [pytest.mark.gpu, pytest.mark.skipif(bc.device_count("cuda") == 0, reason="needs a GPU")]

CHILD = """
import pickle, sys
import numpy as np
import broadcloth as bc
from broadcloth import cuda
kind, handle, event = pickle.loads(sys.stdin.buffer.read())
{body}
sys.stdout.buffer.write(pickle.dumps(result))
"""


def in_another_process(body: str, *message: object) -> object:
    """What `result` is after `body` ran in a new process that was sent three values."""
    done = subprocess.run([sys.executable, "-c", CHILD.format(body=body)], input=pickle.dumps(message), capture_output=True, timeout=100)
    assert done.returncode == 0, done.stderr.decode()
    return pickle.loads(done.stdout)


def test_an_array_is_read_and_written_by_another_process():
    with bc.device("cuda"):
        a = bc.arange(1000, dtype=np.float32) * 2
        body = """
with handle as b:
    result = b.get()
    b += 1
    bc.synchronize()
"""
        seen = in_another_process(body, "array", a.get_ipc_handle(), None)
        assert_array_equal(seen, np.arange(1000, dtype=np.float32) * 2)
        assert_array_equal(a.get(), np.arange(1000, dtype=np.float32) * 2 + 1)


def test_a_view_keeps_its_place_and_strides():
    with bc.device("cuda"):
        a = bc.arange(60, dtype=np.int64).reshape(6, 10)
        seen = in_another_process("with handle as b: result = (b * 2).get()", "view", a[1::2, ::-3].get_ipc_handle(), None)
        assert_array_equal(seen, np.arange(60).reshape(6, 10)[1::2, ::-3] * 2)


def test_a_large_array_moves_to_memory_that_others_can_open():
    with bc.device("cuda"):
        a = bc.arange(1 << 21, dtype=np.float32) * 2
        view = a[5:]
        body = """
with handle as b:
    result = float(b[-1])
    b[5] = 7
    bc.synchronize()
"""
        for _ in range(2):
            assert in_another_process(body, "large", a.get_ipc_handle(), None) == 2.0 * ((1 << 21) - 1)
            assert float(view[0]) == float(a[5]) == 7
            a[5] = 0


def test_handles_of_the_runtime_and_of_numba():
    with bc.device("cuda"):
        a = bc.arange(100, dtype=np.float64) + 0.5
        bc.synchronize()
        whole = a.get_ipc_handle()
        body = """
with cuda.open_ipc_array(handle, (100,), np.float64, offset=event) as b:
    result = float(b.sum())
"""
        assert in_another_process(body, "numba", whole.handle, whole.offset) == 5000.0


def test_an_event_of_another_process_is_waited_for():
    with bc.device("cuda"):
        stream = cuda.Stream(non_blocking=True)
        event = cuda.Event(disable_timing=True, interprocess=True)
        with stream:
            a = bc.ones((2048, 2048))
            for _ in range(10):
                a = (a @ a) / 2048
            handle = a.get_ipc_handle()
            event.record(stream)
            body = """
from broadcloth.cuda import Event
e = Event.from_ipc_handle(event)
e.synchronize()
with handle as b:
    result = float(b.sum())
"""
            assert in_another_process(body, "event", handle, event.ipc_handle()) == 2048.0 * 2048
