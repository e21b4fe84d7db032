"""Functions that are compiled for the CPU and get arrays of an accelerator: a GPU, or where there is none the null device."""

from __future__ import annotations

import numpy as np
import pytest

import broadcloth as bc
from broadcloth.exceptions import PerformanceWarning
from null_device import accelerator, recorded

WARNING = "copied to host memory and back"
ignore_the_warning = pytest.mark.filterwarnings(f"ignore:.*{WARNING}")


@pytest.fixture(autouse=True)
def device():
    with accelerator() as name, bc.device(name):
        yield bc.device(name)


@bc.njit
def reversed_into(x, y):
    for i in range(len(x)):
        x[i] = y[len(y) - 1 - i]
    return x, x[1:], y[::2]


def test_functions_of_the_cpu_work_on_copies_of_an_accelerators_arrays(device):
    x, y = bc.zeros(4), bc.arange(1.0, 5.0)
    view = x[::-1]
    with pytest.warns(PerformanceWarning, match=WARNING):
        same, part, steps = reversed_into(x, y)
    assert same is x and x.device == y.device == part.device == steps.device == device
    assert x.tolist() == [4.0, 3.0, 2.0, 1.0] and view.tolist() == [1.0, 2.0, 3.0, 4.0]
    assert part.tolist() == [3.0, 2.0, 1.0] and steps.tolist() == [1.0, 3.0]
    part[0] = 9
    assert x.tolist() == [4.0, 9.0, 2.0, 1.0], "a part that is returned is a view"


@ignore_the_warning
def test_copies_of_arrays_that_share_memory_are_one_copy():
    x, want = bc.arange(6.0), np.arange(6.0)
    reversed_into(x[1:5], x[:4])
    reversed_into.py_func(want[1:5], want[:4])
    assert x.tolist() == want.tolist()
    large, want = bc.arange(100.0), np.arange(100.0)
    reversed_into(large[50:54], large[10:14])
    reversed_into.py_func(want[50:54], want[10:14])
    assert large.tolist() == want.tolist()
    with pytest.raises(TypeError, match="two that overlap"):
        reversed_into(large[50:54], large[52:56])
    m, want = bc.arange(12.0).reshape(3, 4), np.arange(12.0).reshape(3, 4)
    reversed_into(m.T[::-1, 2], m[:, 1])
    reversed_into.py_func(want.T[::-1, 2], want[:, 1])
    assert m.tolist() == want.tolist()


@ignore_the_warning
def test_what_a_function_only_reads_is_not_copied_back(device):
    """Nor does it need to be writable."""

    @bc.njit
    def total(x, y):
        s = 0.0
        for i in range(len(x)):
            s += x[i] * y[0]
        return s

    x, y = bc.arange(100.0), bc.broadcast_to(bc.full(1, 2.0), (3,))
    assert total(x, y) == 9900.0
    with bc.profiler.Record() if device.type == "cuda" else recorded() as record:
        assert total(x, y) == 9900.0
    assert len(record.copies) == 2, record.copies


@ignore_the_warning
def test_copies_of_a_call_that_fails_keep_what_was_written():
    @bc.njit
    def half(pair, stop):
        for i in range(len(pair[0])):
            if i == stop:
                raise ValueError("stopped")
            pair[0][i] = -1

    x = bc.ones(4)
    with pytest.raises(ValueError, match="stopped"):
        half((x, 1), 2)
    assert x.tolist() == [-1.0, -1.0, 1.0, 1.0]

    @bc.njit
    def items(x):
        yield from x

    with pytest.raises(TypeError, match="a generator takes arrays on the CPU"):
        items(x)
    x.setflags(write=False)
    with pytest.raises((TypeError, ValueError)):
        half((x, 1), 2)
