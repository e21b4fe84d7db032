"""Checked mode: what no kernel should do is raised at the launch, with its line, thread and block; right kernels pass."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from broadcloth import cuda
from broadcloth.cuda.random import create_xoroshiro128p_states, xoroshiro128p_uniform_float64

N = 64


@cuda.jit(check=True)
def shift(a, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = a[i + 1]


def test_an_index_out_of_bounds(xp):
    a, out = xp.arange(8.0), xp.zeros(8)
    with pytest.raises(cuda.CheckError, match=r"index 8 is out of bounds for 'a' of shape \(8,\)") as error:
        shift[2, 4](a, out)
    e = error.value
    assert isinstance(e, IndexError)
    assert (e.kind, e.array, e.index, e.shape, e.text) == ("out of bounds", "a", (8,), (8,), "out[i] = a[i + 1]")
    assert (e.thread, e.block) == ((3, 0, 0), (1, 0, 0))
    assert e.file == __file__
    assert "thread (3, 0, 0) of block (1, 0, 0)" in str(e)
    assert f"{e.file}:{e.line}, in shift: out[i] = a[i + 1]" in str(e)
    shift[2, 4](xp.arange(9.0), out)
    assert_array_equal(out, np.arange(1, 9))


@cuda.jit(check=True)
def write_far(a, i, j):
    a[i, j] = 1


@pytest.mark.parametrize(("i", "j"), [(3, 0), (0, 5), (-4, 0), (0, -6), (10**12, 0)])
def test_writes_out_of_bounds_touch_nothing(xp, i, j):
    a = xp.zeros((3, 5), "i4")
    with pytest.raises(cuda.CheckError) as error:
        write_far[1, 1](a, i, j)
    assert (error.value.index, error.value.shape) == ((i, j), (3, 5))
    assert_array_equal(a, np.zeros((3, 5)))
    write_far[1, 1](a, -3, -5)
    assert int(a[0, 0]) == 1


@cuda.jit(check=True)
def rows(a, i, out):
    row = a[i]
    out[0] = row[2]


def test_a_view_of_a_row_that_is_not_there(xp):
    out = xp.zeros(1)
    with pytest.raises(cuda.CheckError, match="index 4 is out of bounds for 'a' of shape"):
        rows[1, 1](xp.zeros((4, 3)), 4, out)
    with pytest.raises(cuda.CheckError, match="index 2 is out of bounds for 'row' of shape"):
        rows[1, 1](xp.zeros((4, 2)), 1, out)


def block_sum(barriers):
    @cuda.jit(check=True)
    def kernel(a, out):
        s = cuda.shared.array(N, np.float64)
        t = cuda.threadIdx.x
        s[t] = a[cuda.grid(1)]
        if barriers > 0:
            cuda.syncthreads()
        step = N // 2
        while step > 0:
            if t < step:
                s[t] += s[t + step]
            if barriers > 1:
                cuda.syncthreads()
            step //= 2
        if t == 0:
            out[cuda.blockIdx.x] = s[0]

    return kernel


def test_a_sum_with_its_barriers_passes(xp):
    a, out = xp.arange(4.0 * N), xp.zeros(4)
    block_sum(2)[4, N](a, out)
    assert_array_equal(out, np.arange(4 * N).reshape(4, N).sum(1))


@pytest.mark.parametrize("barriers", [0, 1])
def test_a_missing_barrier_is_a_race(xp, barriers):
    # Without the first one, what is read may be what nobody has written yet: both are findings.
    with pytest.raises(cuda.CheckError) as error:
        block_sum(barriers)[4, N](xp.arange(4.0 * N), xp.zeros(4))
    assert error.value.array == "s"
    assert error.value.kind in ("race", "uninitialised") if barriers == 0 else error.value.kind == "race"
    if error.value.kind == "race":
        assert "no barrier between" in str(error.value)


@cuda.jit(check=True)
def everybody(out):
    out[0] = cuda.grid(1)


@cuda.jit(check=True)
def neighbours(a):
    i = cuda.grid(1)
    if 0 < i < a.size:
        a[i] = a[i - 1]


def test_races_in_global_memory(xp):
    with pytest.raises(cuda.CheckError, match="race: the thread writes 'out' at 0, which thread .* writes") as error:
        everybody[1, 8](xp.zeros(1))
    assert error.value.text == "out[0] = cuda.grid(1)"
    with pytest.raises(cuda.CheckError, match="of block"):
        everybody[8, 1](xp.zeros(1))
    with pytest.raises(cuda.CheckError, match="race"):
        neighbours[1, 16](xp.arange(16.0))


@cuda.jit(check=True)
def in_order(a, out, lanes):
    t = cuda.threadIdx.x
    cuda.atomic.add(out, 0, a[t])
    a[t] += 1
    a[t] *= 2
    cuda.syncthreads()
    if t == 0:
        out[0] += a[a.size - 1]
    s = cuda.shared.array(32, np.int64)
    if t < 32:
        s[t] = t
        cuda.syncwarp()
        lanes[t] = s[31 - t]


def test_ordered_accesses_are_no_races(xp):
    a, out, lanes = xp.arange(float(N)), xp.zeros(1), xp.zeros(32, "i8")
    in_order[1, N](a, out, lanes)
    assert float(out[0]) == sum(range(N)) + 2 * N
    assert_array_equal(lanes, np.arange(32)[::-1])


@cuda.jit(check=True)
def mixed(out):
    if cuda.threadIdx.x == 1:
        out[0] = 5
    else:
        cuda.atomic.add(out, 0, 1)


def test_a_plain_write_beside_atomic_ones_is_a_race(xp):
    with pytest.raises(cuda.CheckError, match="atomically"):
        mixed[1, 8](xp.zeros(1))


@cuda.jit(check=True)
def half_written(out, n):
    s = cuda.shared.array(16, np.float32)
    t = cuda.threadIdx.x
    if t < n:
        s[t] = t
    cuda.syncthreads()
    out[t] = s[15 - t]


@cuda.jit(check=True)
def local_read(out, n):
    a = cuda.local.array((2, 3), np.int64)
    for k in range(n):
        a[k // 3, k % 3] = k
    out[cuda.grid(1)] = a[1, 2]


def test_reads_before_writes(xp):
    half_written[1, 16](xp.zeros(16), 16)
    with pytest.raises(cuda.CheckError, match=r"'s' is read at 15, where nothing was written before"):
        half_written[1, 16](xp.zeros(16), 15)
    out = xp.zeros(8)
    local_read[1, 8](out, 6)
    assert_array_equal(out, np.full(8, 5))
    with pytest.raises(cuda.CheckError, match=r"'a' is read at \(1, 2\)") as error:
        local_read[2, 4](out, 5)
    assert error.value.kind == "uninitialised"


KINDS = ["i1", "u2", "f2", "i4", "f8", "c16"]


@pytest.mark.parametrize("dtype", KINDS)
def test_reads_before_writes_of_every_width(xp, dtype):
    kind = np.dtype(dtype)

    @cuda.jit(device=True)
    def partner(i, n):
        s = cuda.shared.array(16, kind)
        if i < n:
            s[i] = i
        cuda.syncthreads()
        return s[15 - i]

    @cuda.jit(device=True)
    def again(i, first):
        a = cuda.local.array(2, kind)
        if first:
            a[0] = 1
            a[1] = 2
        return a[i % 2]

    @cuda.jit(check=True)
    def kernel(out, n, twice):
        i = cuda.threadIdx.x
        out[i] = partner(i, n)
        out[i] += again(i, True)
        out[i] += again(i, twice)

    out = xp.zeros(16, dtype)
    kernel[1, 16](out, 16, True)
    assert_array_equal(np.asarray(out), (15 - np.arange(16) + np.where(np.arange(16) % 2, 4, 2)).astype(dtype))
    with pytest.raises(cuda.CheckError, match="'s' is read at 15, where nothing was written"):
        kernel[1, 16](out, 15, True)
    with pytest.raises(cuda.CheckError, match="'a' is read at [01], where nothing was written"):
        kernel[1, 16](out, 16, False)


@cuda.jit(check=True)
def left_unset(out, n):
    i = cuda.threadIdx.x
    if i < n:
        v = i * 2.0
    out[i] = v


def test_variables_that_a_path_leaves_unset(xp):
    out = xp.zeros(8)
    left_unset[1, 8](out, 8)
    with pytest.raises(cuda.CheckError, match="'v' is read, where nothing was written before") as error:
        left_unset[1, 8](out, 7)
    assert (error.value.thread, error.value.line) == ((7, 0, 0), left_unset.py_func.__code__.co_firstlineno + 5)


@cuda.jit(check=True)
def lost_updates(out):
    out[0] += 1


def test_races_between_blocks_without_atomics(xp):
    with pytest.raises(cuda.CheckError, match=r"race: the thread .* 'out' at 0, which thread .* of block") as error:
        lost_updates[8, 1](xp.zeros(1))
    assert error.value.kind == "race"
    lost_updates[1, 1](xp.zeros(1))


@cuda.jit(check=True)
def quotients(a, b, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = a[i] / b[i] + 1


def test_nan_is_found_where_it_is_made(xp):
    a, b = xp.array([1.0, 0.0, 2.0]), xp.array([0.0, 0.0, 1.0])
    with pytest.raises(cuda.CheckError, match=r"a\[i\] / b\[i\] is NaN, and its operands are not") as error:
        quotients[1, 4](a, b, xp.zeros(3))
    assert (error.value.kind, error.value.thread) == ("nan", (1, 0, 0))
    # A NaN that came in is nobody's fault here.
    out = xp.zeros(1)
    quotients[1, 4](xp.array([np.nan]), xp.array([1.0]), out)
    assert np.isnan(float(out[0]))


@cuda.jit(device=True)
def get(a, i):
    return a[i]


@cuda.jit(check=True)
def through_a_function(a, out):
    i = cuda.grid(1)
    out[i] = get(a, i) if i < a.size else get(a, i - 1)


def test_device_functions_are_checked(xp):
    through_a_function[1, 4](xp.arange(3.0), xp.zeros(4))
    with pytest.raises(cuda.CheckError, match="in get: return a") as error:
        through_a_function[1, 5](xp.arange(3.0), xp.zeros(5))
    assert error.value.index == (3,)


@cuda.jit(check=True)
def slices(a, b):
    a[1:] = b[:-1] + 1
    a[0] = b.sum()


@cuda.jit(check=True)
def other_features(states, a, out):
    i = cuda.grid(1)
    if i < a.size and a[i] >= 0:
        out[i] = xoroshiro128p_uniform_float64(states, i) if a[i] > 1 else -1.0
    for k, v in enumerate(a):
        if k == i:
            out[i] += min(v, 2.0) ** 0.5


def test_the_rest_of_the_language_runs_checked(xp):
    a = xp.zeros(4)
    slices[1, 1](a, xp.arange(4.0))
    assert_array_equal(a, [6, 1, 2, 3])
    out = xp.zeros(4)
    other_features[1, 4](create_xoroshiro128p_states(4, 1), xp.arange(4.0), out)
    assert float(out[0]) == -1.0


@cuda.jit(check=True)
def raises(a):
    if a[0] > 0:
        raise ValueError("positive")


def test_exceptions_of_the_kernel_come_through(xp):
    raises[1, 1](xp.zeros(1))
    with pytest.raises(ValueError, match="positive"):
        raises[1, 1](xp.ones(1))


def test_unchecked_kernels_have_no_checks(xp):
    kernel = cuda.jit(shift.py_func)
    kernel.compile("void(float64[:], float64[:])")
    (text,) = kernel.inspect_source().values()
    assert "checker" not in text
    shift.compile("void(float64[:], float64[:])")


POINT = np.dtype([("x", "f8"), ("y", "f8")])


@cuda.jit(check=True)
def fields(p, n):
    i = cuda.grid(1)
    if i % 2:
        p[i // n].x = i
    else:
        p[i // n].y += i


def test_fields_of_one_record_are_apart(xp):
    p = cuda.RecordArray.of(np.zeros(4, POINT))
    fields[1, 8](p, 2)
    assert_array_equal(p.get()["x"], [1, 3, 5, 7])
    assert_array_equal(p.get()["y"], [0, 2, 4, 6])
    with pytest.raises(cuda.CheckError, match=r"race: the thread (reads|writes) 'p\[i // n\]\.[xy]'"):
        fields[1, 8](p, 4)
    with pytest.raises(cuda.CheckError, match="index 4 is out of bounds for 'p'"):
        fields[1, 10](p, 2)


@cuda.jit(check=True)
def shared_fields(out):
    s = cuda.shared.array(4, POINT)
    t = cuda.threadIdx.x
    s[t].x = t
    cuda.syncthreads()
    out[t] = s[3 - t].x
    if out.size > 4:
        out[t] = s[t].y


def test_fields_of_shared_records(xp):
    out = xp.zeros(4)
    shared_fields[1, 4](out)
    assert_array_equal(out, [3, 2, 1, 0])
    with pytest.raises(cuda.CheckError, match=r"'s\[t\]\.y' is read, where nothing was written before"):
        shared_fields[1, 4](xp.zeros(8))


@cuda.jit(check=True)
def sum_of(x, out):
    out[0] = x.sum()


@cuda.jit(check=True)
def added_atomically(x, out):
    cuda.atomic.add(out, 0, x[cuda.threadIdx.x])


@pytest.mark.parametrize("kernel", [sum_of, added_atomically], ids=lambda k: k.__name__)
def test_nan_made_by_reductions_and_atomics(xp, kernel):
    with pytest.raises(cuda.CheckError, match="is NaN, and its operands are not") as error:
        kernel[1, 2](xp.asarray([np.inf, -np.inf]), xp.zeros(1))
    assert error.value.kind == "nan"
    kernel[1, 1](xp.asarray([np.nan, 1.0]), xp.zeros(1))
    kernel[1, 1](xp.asarray([np.inf, 1.0]), xp.zeros(1))


@cuda.jit(check=True)
def copies(a, out):
    i = cuda.grid(1)
    if i < a.size:
        out[i] = a[i]


@cuda.jit(check=True)
def fills(a, n):
    i = cuda.grid(1)
    if i < n:
        a[i] = i


@pytest.mark.parametrize("dtype", ["i4", "f8", "c16"])
def test_arrays_that_nothing_was_written_to(xp, dtype):
    out = xp.zeros(8, dtype)
    for make in (xp.empty, cuda.device_array):
        a = make(8, dtype)
        fills[1, 8](a, 7)
        with pytest.raises(cuda.CheckError, match="'a' is read at 7, where nothing was written before"):
            copies[1, 8](a, out)
        fills[1, 8](a, 8)
        copies[1, 8](a, out)
        assert_array_equal(np.asarray(out), np.arange(8))
        with pytest.raises(cuda.CheckError, match="nothing was written"):
            copies[1, 8](make(8, dtype), out)
    b = xp.empty(8, dtype)
    b[:] = 3
    copies[1, 8](b, out)
    d = cuda.to_device(np.arange(8).astype(dtype))
    copies[1, 8](d, out)
    assert_array_equal(np.asarray(out), np.arange(8))


@cuda.jit(check=True)
def copies_first(pair, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = pair[0][i]


@cuda.jit
def fills_unchecked(a, n):
    i = cuda.grid(1)
    if i < n:
        a[i] = i


def test_what_is_written_in_part(xp):
    out = xp.zeros(8)
    a = cuda.device_array(8)
    fills_unchecked[1, 8](a, 7)
    with pytest.raises(cuda.CheckError, match="'a' is read at 7, where nothing was written before"):
        copies[1, 8](a, out)
    a[7:] = 5
    copies[1, 8](a, out)
    assert_array_equal(np.asarray(out), [0, 1, 2, 3, 4, 5, 6, 5])
    b = cuda.device_array((8, 8))
    b[1:] = 0
    with pytest.raises(cuda.CheckError, match="nothing was written before"):
        copies[1, 8](b[0], out)
    copies[1, 8](b[1], out)
    with pytest.raises(cuda.CheckError, match="nothing was written before"):
        copies_first[1, 8]((cuda.device_array(8), 1), out)


@pytest.mark.parametrize("dtype", ["?", "i1", "u2", "f2"])
def test_narrow_arrays_that_nothing_was_written_to(xp, dtype):
    out = xp.zeros(8, dtype)
    a = cuda.device_array(8, dtype)
    for _ in range(2):
        with pytest.raises(cuda.CheckError, match="'a' is read at [0-7], where nothing was written before") as error:
            copies[1, 8](a, out)
        assert error.value.kind == "uninitialised"
    fills[1, 8](a, 8)
    copies[1, 8](a, out)
    assert_array_equal(np.asarray(out), np.arange(8).astype(dtype))


@cuda.jit(check=True)
def writes_then_reads(a, n, out):
    a[:n] = 3
    a[1:3] = a[:2]
    for k in range(out.size):
        out[k] = a[k]


@pytest.mark.parametrize("dtype", ["i1", "f2", "f8"])
def test_slices_count_as_written(xp, dtype):
    out = xp.zeros(8, dtype)
    writes_then_reads[1, 1](cuda.device_array(8, dtype), 8, out)
    assert_array_equal(np.asarray(out), np.full(8, 3))
    with pytest.raises(cuda.CheckError, match="'a' is read at 7, where nothing was written"):
        writes_then_reads[1, 1](cuda.device_array(8, dtype), 7, out)


@cuda.jit(check=True)
def reads_x(p, out):
    i = cuda.grid(1)
    out[i] = p[i].x


def test_memory_of_every_kind_that_nothing_was_written_to(xp):
    out = xp.zeros(8)
    makers = [lambda: cuda.device_array(8, strides=(16,)), lambda: cuda.device_array_like(np.zeros(8)), lambda: cuda.mapped_array(8),
              lambda: cuda.managed_array(8), lambda: cuda.pinned_array(8)]
    for make in makers:
        with pytest.raises(cuda.CheckError, match="'a' is read at [0-7], where nothing was written before"):
            copies[1, 8](make(), out)
    with pytest.raises(cuda.CheckError, match="is read, where nothing was written before"):
        reads_x[1, 8](cuda.device_array(8, POINT), out)
