"""Arrays on a device that a kernel names: read and written where they lie, as if they were arguments."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import broadcloth as bc
from broadcloth import cuda

PAIR = np.dtype([("a", "f4"), ("b", "i4")])


def test_what_is_written_later_is_seen(xp):
    table = xp.arange(8.0)

    @cuda.jit
    def kernel(out):
        i = cuda.grid(1)
        if i < out.size:
            out[i] = table[i] * 2

    out = xp.zeros(8)
    kernel[1, 32](out)
    assert_array_equal(out, 2 * np.arange(8.0))
    table[:] = 1
    kernel[1, 32](out)
    assert_array_equal(out, np.full(8, 2.0))
    table += 4  # may get other memory
    kernel[1, 32](out)
    assert_array_equal(out, np.full(8, 10.0))
    assert len(kernel.signatures) == 1


def test_kernels_write_what_they_name(xp):
    total = xp.zeros(1, "int64")
    before = total + 1  # pending, and of the values before the launch

    @cuda.jit
    def count(x):
        i = cuda.grid(1)
        if i < x.size and x[i] > 0:
            cuda.atomic.add(total, 0, 1)

    count[4, 32](xp.arange(100) % 2)
    assert int(total[0]) == 50 and int(before[0]) == 1


def test_functions_that_kernels_call_reach_them(xp):
    table = xp.arange(4.0)

    @cuda.jit(device=True)
    def at(i):
        return table[i]

    @cuda.jit(device=True)
    def walk(n):
        if n == 0:
            return at(0)
        return walk(n - 1) + at(n)

    @cuda.jit
    def kernel(out):
        twice = lambda i: table[i] * 2  # noqa: E731
        i = cuda.grid(1)
        out[i] = walk(i) + twice(i)

    out = xp.zeros(4)
    kernel[1, 4](out)
    assert_array_equal(out, [0, 3, 7, 12])
    table[:] = 1
    kernel[1, 4](out)
    assert_array_equal(out, [3, 4, 5, 6])


def test_the_device_may_be_known_by_them_alone(xp):
    out = xp.zeros(8, "f4")

    @cuda.jit
    def fill(value):
        i = cuda.grid(1)
        if i < out.shape[0]:
            out[i] = value

    with bc.device("cpu"):
        fill[1, 32](3)
    assert_array_equal(out, np.full(8, 3))


def test_views_scalars_and_pending_arrays(xp):
    base, number = xp.arange(10.0), xp.array(2.0)
    odd, pending = base[1::2], base * 3

    @cuda.jit
    def kernel(out):
        i = cuda.grid(1)
        out[i] = odd[i] + pending[i] * number[()] + number

    out = xp.zeros(5)
    kernel[1, 5](out)
    assert_array_equal(out, np.arange(1, 10, 2) + 6 * np.arange(5) + 2)
    number[()] = 0
    kernel[1, 5](out)
    assert_array_equal(out, np.arange(1, 10, 2))


def test_records(xp):
    records = cuda.to_device(np.zeros(4, PAIR))

    @cuda.jit
    def kernel():
        i = cuda.grid(1)
        records[i].a += 0.5
        records[i].b = i

    kernel[1, 4]()
    kernel[1, 4]()
    assert records.copy_to_host().tolist() == [(1, 0), (1, 1), (1, 2), (1, 3)]


def test_numpy_arrays_stay_as_they_were(xp):
    table = np.arange(4.0)

    @cuda.jit
    def kernel(out):
        i = cuda.grid(1)
        out[i] = table[i]

    out = xp.zeros(4)
    kernel[1, 4](out)
    table[:] = 7
    kernel[1, 4](out)
    assert_array_equal(out, np.arange(4))


def test_constant_memory_has_a_copy(xp):
    table = xp.arange(4.0)

    @cuda.jit
    def kernel(out):
        i = cuda.grid(1)
        out[i] = cuda.const.array_like(table)[i] + table[i]

    out = xp.zeros(4)
    kernel[1, 4](out)
    table[:] = 10
    kernel[1, 4](out)
    assert_array_equal(out, np.arange(4) + 10)


def test_order_with_other_streams(xp):
    n = 1 << 16
    values, first, second = xp.zeros(n), cuda.Stream(), cuda.Stream()

    @cuda.jit
    def step():
        for i in range(cuda.grid(1), values.size, cuda.gridsize(1)):
            values[i] = values[i] * 2 + 1

    for k in range(10):
        step[32, 128, (first, second)[k % 2]]()
    assert_array_equal(values, np.full(n, 2.0**10 - 1))


def test_a_captured_graph_uses_them_too(xp):
    values, stream = xp.zeros(4), cuda.Stream()

    @cuda.jit
    def step():
        values[cuda.grid(1)] += 1

    step[1, 4]()
    with stream:
        stream.begin_capture()
        step[1, 4, stream]()
        graph = stream.end_capture()
    for _ in range(3):
        graph.launch()
    stream.synchronize()
    assert_array_equal(values, np.full(4, 4))


def test_the_kernel_keeps_them(xp):
    def make():
        table = xp.arange(4.0) + 1

        @cuda.jit
        def kernel(out):
            i = cuda.grid(1)
            out[i] = table[i]

        return kernel

    kernel, out = make(), xp.zeros(4)
    kernel[1, 4](out)
    xp.zeros(4) + 9
    kernel[1, 4](out)
    assert_array_equal(out, [1, 2, 3, 4])


def test_another_type_is_refused_until_it_is_compiled_for(xp):
    table = xp.zeros((2, 2))

    @cuda.jit
    def kernel(out):
        out[0] = table.shape[0]

    out = xp.zeros(1)
    kernel[1, 1](out)
    table.shape = (4,)
    with pytest.raises(TypeError, match=r"'table'.*2d.*1d.*recompile"):
        kernel[1, 1](out)
    kernel.recompile()
    kernel[1, 1](out)
    assert float(out[0]) == 4


def test_checked_mode_names_them(xp):
    table = xp.arange(4.0)

    @cuda.jit(check=True)
    def kernel(out):
        out[0] = table[cuda.grid(1) + 3]

    with pytest.raises(IndexError, match="index 4 is out of bounds for 'table'"):
        kernel[1, 2](xp.zeros(1))


def test_read_only_arrays_are_not_written(xp):
    table = xp.arange(4.0)
    table.flags.writeable = False

    @cuda.jit
    def kernel(out):
        table[0] = 1

    with pytest.raises(bc.TypingError, match="read-only"):
        kernel[1, 1](xp.zeros(1))


@pytest.mark.gpu
@pytest.mark.skipif(bc.device_count("cuda") == 0, reason="needs a GPU")
class TestOnTheGpu:
    def test_arrays_of_other_libraries(self):
        torch = pytest.importorskip("torch")
        theirs = torch.arange(4.0, device="cuda")

        @cuda.jit
        def kernel(out):
            i = cuda.grid(1)
            out[i] = theirs[i]
            theirs[i] += 1

        with bc.device("cuda"):
            out = bc.zeros(4)
            for k in range(3):
                kernel[1, 4](out)
                assert_array_equal(out, np.arange(4) + k)
                theirs += 0
        assert theirs.tolist() == [3, 4, 5, 6]

    def test_a_table_on_the_cpu_is_copied_where_it_is_only_read(self):
        with bc.device("cpu"):
            table = bc.arange(4.0)

        @cuda.jit
        def kernel(out):
            i = cuda.grid(1)
            out[i] = table[i]

        with bc.device("cuda"):
            out = bc.zeros(4)
            kernel[1, 4](out)
            table[:] = 5
            kernel[1, 4](out)
            assert_array_equal(out, np.full(4, 5))
