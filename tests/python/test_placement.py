"""Placement by size: arrays of few elements lie in host memory, those of many on an accelerator, and ops over both compute there.

The accelerator is a GPU, or where there is none the null device, which then runs CUDA's kernels on the CPU; it has no matrix products.
"""

from __future__ import annotations

import contextlib
import warnings

import numpy as np
import pytest

import array_programs
import broadcloth as bc
from as_program import program, run
from null_device import placed_by_size
from program_harness import Run
from support import host

SIZE = 20


@pytest.fixture(autouse=True)
def accelerator():
    with placed_by_size(SIZE) as name:
        yield bc.device(name)


RNG = np.random.default_rng(11)
FEW, MANY = RNG.random(5), RNG.random((8, 5))
PLACES = RNG.integers(0, 5, 30)


def few():
    return bc.asarray(FEW)


def many():
    return bc.asarray(MANY)


CREATED = {
    "zeros": lambda xp, n: xp.zeros(n),
    "ones": lambda xp, n: xp.ones((n, 1), "f4"),
    "empty": lambda xp, n: xp.empty(n),
    "full": lambda xp, n: xp.full(n, 7),
    "arange": lambda xp, n: xp.arange(n),
    "arange of floats": lambda xp, n: xp.arange(0.0, n, 1),
    "linspace": lambda xp, n: xp.linspace(0, 1, n),
    "eye": lambda xp, n: xp.eye(n, 1),
    "tri": lambda xp, n: xp.tri(1, n),
    "array": lambda xp, n: xp.array(np.ones(n)),
    "a list": lambda xp, n: xp.array([1.5] * n),
    "lists": lambda xp, n: xp.array([[1], [2]] * (n // 2)),
    "frombuffer": lambda xp, n: xp.frombuffer(bytes(8 * n)),
    "random": lambda xp, n: xp.random.default_rng(3).random(n),
    "indices": lambda xp, n: xp.indices((n,)),
}


@pytest.mark.parametrize("name", CREATED)
def test_new_arrays_lie_where_their_size_says(name, accelerator):
    make = CREATED[name]
    assert make(bc, SIZE - 2).device.type == "cpu"
    made = make(bc, SIZE)
    assert made.device == accelerator
    if name != "empty":
        np.testing.assert_array_equal(made.get(), make(np, SIZE))


BESIDE = {
    "arithmetic": lambda xp, f, m: m * f + f,
    "arithmetic, few first": lambda xp, f, m: f - m,
    "where": lambda xp, f, m: xp.where(f > 0.5, m, f),
    "where=": lambda xp, f, m: xp.add(m, f, out=xp.zeros((8, 5)), where=f > 0.5),
    "concatenate": lambda xp, f, m: xp.concatenate([f, m.ravel(), f]),
    "stack": lambda xp, f, m: xp.stack([f, m[2]]),
    "take": lambda xp, f, m: xp.take(f, xp.asarray(PLACES)),
    "few by places and a slice": lambda xp, f, m: f.reshape(1, 5)[xp.asarray([0] * 9), 3:0:-1],
    "few of a strided view": lambda xp, f, m: f[::2][xp.asarray([2, 0] * 15)],
    "argwhere of a broadcast": lambda xp, f, m: xp.argwhere(xp.broadcast_to(f > 0.5, (9, 5))),
    "few by places": lambda xp, f, m: f[xp.asarray(PLACES)],
    "many by a few places": lambda xp, f, m: m[xp.asarray([1, 0, 7])],
    "many by a mask": lambda xp, f, m: m[:5][f > 0.5],
    "few by a mask of many": lambda xp, f, m: f[m[0] > 0.5],
    "choose": lambda xp, f, m: xp.choose(xp.asarray([0, 1, 0, 1, 1]), [f, m[3]]),
    "searchsorted": lambda xp, f, m: xp.searchsorted(xp.sort(m.ravel()), f),
    "searchsorted in few": lambda xp, f, m: xp.searchsorted(xp.sort(f), m),
    "interp": lambda xp, f, m: xp.interp(m.ravel(), xp.sort(f), f),
    "isin": lambda xp, f, m: xp.isin(m, xp.concatenate([f, m[1]])),
    "clip": lambda xp, f, m: xp.clip(m, f / 2, f),
    "outer": lambda xp, f, m: xp.multiply.outer(f, m[0]),
    "sum(where=)": lambda xp, f, m: xp.sum(m, axis=0, where=f > 0.5),
    "max(initial=, where=)": lambda xp, f, m: xp.max(m, axis=1, initial=0.25, where=f > 0.5),
    "average": lambda xp, f, m: xp.average(m, axis=1, weights=f),
    "bincount": lambda xp, f, m: xp.bincount(xp.asarray(PLACES), minlength=7),
    "histogram": lambda xp, f, m: xp.histogram(m, xp.sort(f))[0],
    "broadcast_arrays": lambda xp, f, m: xp.broadcast_arrays(f, m)[0].copy(),
    "array of both": lambda xp, f, m: xp.array([f, m[2]]),
    "putmask": lambda xp, f, m: (xp.putmask(m, m > 0.5, f), m)[1],
    "put": lambda xp, f, m: (xp.put(m, [1, 9, 3], f), m)[1],
    "copyto": lambda xp, f, m: (xp.copyto(m, f, where=xp.asarray([True, False, True, True, False])), m)[1],
    "copyto few": lambda xp, f, m: (xp.copyto(f, m[1]), f)[1],
    "in place": lambda xp, f, m: (m.__iadd__(f), m)[1],
    "few in place": lambda xp, f, m: (f.__imul__(m[4]), f)[1],
    "a row": lambda xp, f, m: (m.__setitem__(2, f), m)[1],
    "rows": lambda xp, f, m: (m.__setitem__(xp.asarray([3, 0]), f), m)[1],
    "few from a row": lambda xp, f, m: (f.__setitem__(slice(1, 4), m[1, 1:4]), f)[1],
    "elements": lambda xp, f, m: (m.__setitem__((1, 2), f[3]), m)[1],
    "by a mask": lambda xp, f, m: (m.__setitem__(m > 0.5, f[0]), m)[1],
    "add.at": lambda xp, f, m: (xp.add.at(f, xp.asarray(PLACES), 1.5), f)[1],
    "add.at of many": lambda xp, f, m: (xp.add.at(m, xp.asarray([1, 1, 2]), f), m)[1],
    "out=": lambda xp, f, m: xp.multiply(f, m[0], out=xp.zeros(5)),
    "take_along_axis": lambda xp, f, m: xp.take_along_axis(m, xp.argsort(m, axis=1), axis=1),
    "polyval": lambda xp, f, m: xp.polyval(f, m),
    "allclose": lambda xp, f, m: xp.asarray([xp.allclose(m, f), xp.array_equal(m[0], f)]),
    "nan_to_num": lambda xp, f, m: xp.nan_to_num(m / (f > 0.5), posinf=1),
    "insert": lambda xp, f, m: xp.insert(m, 2, f, axis=0),
    "append": lambda xp, f, m: xp.append(m, f),
    "gradient": lambda xp, f, m: xp.gradient(m, xp.cumsum(f), axis=1),
    "convolve": lambda xp, f, m: xp.convolve(m.ravel(), f),
    "digitize": lambda xp, f, m: xp.digitize(m, xp.sort(f)),
    "unravel": lambda xp, f, m: xp.asarray(xp.unravel_index(xp.argmax(m), m.shape)),
}


@pytest.mark.parametrize("name", BESIDE)
def test_few_elements_beside_many(name):
    call = BESIDE[name]
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        want = call(np, FEW.copy(), MANY.copy())
        got = call(bc, few(), many())
    got = host(got)
    assert got.dtype == want.dtype and got.shape == want.shape
    np.testing.assert_allclose(got, want, rtol=1e-12, atol=1e-12)


def test_an_op_lies_where_its_result_belongs(accelerator):
    f, m = few(), many()
    assert f.device.type == "cpu" and m.device == accelerator
    assert (f + 1).device.type == "cpu"
    assert (f[:, None] + f).device == accelerator, "few elements become many"
    assert (m[0] * f).device == accelerator
    assert bc.meshgrid(f, f)[0].copy().device == accelerator
    f += m[0]
    assert f.device.type == "cpu", "an array stays where it is"
    np.testing.assert_allclose(f.get(), FEW + MANY[0])


def test_a_table_that_many_places_are_looked_up_in_goes_to_them(accelerator):
    table, labels = bc.asarray(FEW), bc.asarray(PLACES)
    assert table.device.type == "cpu" and labels.device == accelerator
    assert table[labels].device == bc.take(table, labels).device == accelerator
    np.testing.assert_array_equal(table[labels].get(), FEW[PLACES])


def test_an_op_that_only_the_host_has_computes_there():
    """The least squares of few equations with many right sides."""
    a, b = np.arange(6.0)[:, None] + 1, np.random.default_rng(3).random((6, 5))
    x = bc.linalg.lstsq(bc.asarray(a), bc.asarray(b))[0]
    np.testing.assert_allclose(host(x), np.linalg.lstsq(a, b)[0])


def test_large_arrays_of_other_owners_stay_in_host_memory():
    shared = np.ones(4 * SIZE)
    a = bc.asarray(shared, copy=False)
    a += 1
    assert a.device.type == "cpu" and (a * 2).device.type == "cpu"
    assert shared[3] == 2


def test_no_element_is_read_from_the_accelerator_one_by_one():
    """A loop over the elements of a small array waits for no device."""
    grid = bc.zeros((4, 4), int)
    bc._c.watch_waits(True)
    try:
        for i in range(4):
            for j in range(4):
                if grid[i, j] == 0:
                    grid[i, j] = i + j
        assert all(w.device == "cpu" for w in bc._c.waits())
    finally:
        bc._c.watch_waits(False)
    assert grid.tolist() == [[i + j for j in range(4)] for i in range(4)]


def test_elements_of_an_array_on_the_accelerator_are_read_from_a_mirror(accelerator):
    """What is computed from many elements stays on the accelerator; a loop over it waits a few times, and sees each change."""
    a = bc.asarray(np.arange(400.0).reshape(20, 20)).sum(axis=1)[4:]
    want = np.arange(400.0).reshape(20, 20).sum(axis=1)[4:]
    assert a.device == accelerator and a.size < SIZE
    bc._c.watch_waits(True)
    try:
        read = [float(a[i]) for i in range(16)]
        assert sum(w.times for w in bc._c.waits() if w.device != "cpu") <= 4
    finally:
        bc._c.watch_waits(False)
    assert read == want.tolist()
    for i in range(16):
        a[i] = a[i - 1] + 1
        want[i] = want[i - 1] + 1
    assert [float(v) for v in a] == want.tolist()
    a *= 2
    view = a[::-2]
    assert [view[i].item() for i in range(8)] == (2 * want)[::-2].tolist()
    b = a > 9000
    assert [bool(b[i]) for i in range(16)] == (2 * want > 9000).tolist()
    with pytest.raises(IndexError):
        a[16]


def test_an_array_on_the_accelerator_comes_to_a_loop_over_its_elements(accelerator):
    def loop(xp, kept):
        x = xp.asarray(np.asfortranarray(np.arange(200.0).reshape(100, 2)))
        held = x[3:9] if kept else None
        total = 0.0
        for i in range(100):
            for j in range(2):
                x[i, j] = total + x[i, j - 1]
                total += x[i, 1] / 2
        return x, held, total, x.strides

    for kept in (False, True):
        (x, held, total, strides), want = loop(bc, kept), loop(np, kept)
        assert float(total) == want[2] and strides == want[3]
        np.testing.assert_array_equal(x.get(), want[0])
        assert x.device.type == "cpu"
        if kept:
            assert held.device.type == "cpu", "views move with the array"
            np.testing.assert_array_equal(held.get(), want[1])
            held[0, 0] = 7
            assert x[3, 0] == 7
    x = bc.asarray(np.arange(300.0))
    assert [float(v) for v in x] == list(range(300)) and x.device.type == "cpu"


@contextlib.contextmanager
def table_size(device):
    """Rows of a table are small beside the size that belongs on an accelerator."""
    bc._c._set_placement(100, device)
    yield
    bc._c._set_placement(SIZE, device)


WALKS = {
    "rows": lambda xp, t, i: (t.__setitem__(i, t[i - 1] * 0.5 + 1), t)[1],
    "columns": lambda xp, t, i: (t.T.__setitem__((slice(None), i), t.T[:, i - 1] + 1), t)[1],
    "parts of rows": lambda xp, t, i: (t[i].__setitem__(slice(1), t[i - 1, :1] * 2), t)[1],
    "iteration": lambda xp, t, i: xp.asarray([float(row.sum()) for row in t]),
    "places": lambda xp, t, i: t[xp.asarray([i, 0])] + 1,
}


@pytest.mark.parametrize("name", WALKS)
def test_a_table_whose_rows_a_loop_walks_comes_to_the_host(name, accelerator):
    def loop(xp):
        table = xp.asarray(np.arange(200.0).reshape(100, 2))
        view = table[50:]
        got = [WALKS[name](xp, table, i) for i in range(1, 100)]
        return table, view, got[-1]

    with table_size(accelerator):
        (table, view, got), want = loop(bc), loop(np)
    assert table.device.type == view.device.type == "cpu" and table.strides == want[0].strides
    for a, b in zip((table, view, got), want, strict=True):
        np.testing.assert_array_equal(a.get(), b)
    view[0, 0] = -3
    assert table[50, 0] == -3


def test_an_op_over_a_whole_table_keeps_it_on_the_accelerator(accelerator):
    table, want = bc.asarray(np.arange(200.0).reshape(100, 2)), np.arange(200.0).reshape(100, 2)
    with table_size(accelerator):
        for use in (lambda t: t.sum(), lambda t: t + 1, lambda t: t[1:].copy(), lambda t: t[::-1] * t):
            for _ in range(3):
                for i in range(30):
                    table[i] += 1
                    want[i] += 1
                use(table)
    assert table.device == accelerator
    np.testing.assert_array_equal(table.get(), want)


def test_small_arrays_follow_a_loop_to_the_host(accelerator):
    """What was computed from a large array goes on beside the small arrays that a loop uses."""
    large = bc.asarray(np.arange(40.0))
    u, table, scale = large[:5] * 2, bc.zeros((3, 5)), large[5:10] + 0
    v = u[1:]
    assert u.device == scale.device == accelerator and table.device.type == "cpu"
    table[0] = u
    assert u.device.type == v.device.type == "cpu" and large.device == accelerator
    for i in range(8):
        table[i % 3] = table[(i + 1) % 3] + scale
    assert scale.device.type == "cpu"
    w, t = np.arange(5.0) * 2, np.zeros((3, 5))
    t[0] = w
    for i in range(8):
        t[i % 3] = t[(i + 1) % 3] + np.arange(5.0, 10)
    np.testing.assert_array_equal(table.get(), t)
    np.testing.assert_array_equal(v.get(), w[1:])


def test_an_array_that_others_see_stays_on_the_accelerator(accelerator):
    """Memory that other code knows, and values that a derivative needs."""
    exposed = bc.asarray(np.arange(200.0).reshape(100, 2))
    address = exposed.data.ptr
    differentiated = bc.asarray(np.arange(200.0).reshape(100, 2)).requires_grad_()
    with table_size(accelerator):
        rows = [float(row.sum()) + float(other.sum().detach()) for row, other in zip(exposed, differentiated, strict=True)]
    assert exposed.device == differentiated.device == accelerator and exposed.data.ptr == address
    assert rows == [2.0 * (4 * i + 1) for i in range(100)]


def test_compiled_functions_get_arrays_in_host_memory(accelerator):
    @bc.njit
    def fill(x, y):
        for i in range(len(x)):
            x[i] = y[len(y) - 1 - i] + i
        return x, x[1:3], y[::2]

    x, y = bc.zeros(2 * SIZE), bc.asarray(np.arange(2.0 * SIZE))
    view = x[::-1]
    assert x.device == accelerator
    same, part, steps = fill(x, y)
    want = np.arange(2.0 * SIZE)[::-1] + np.arange(2 * SIZE)
    assert same is x and x.device.type == view.device.type == y.device.type == "cpu"
    np.testing.assert_array_equal(view.get(), want[::-1])
    np.testing.assert_array_equal(steps.get(), np.arange(2.0 * SIZE)[::2])
    part[0] = 77
    assert x[1] == 77, "a part that is returned is a view"


def sparse_parts(matrix):
    """Data, indices and pointers, each where its size says."""
    return [bc.asarray(part) for part in (matrix.data, matrix.indices, matrix.indptr)]


def test_the_arrays_of_a_sparse_matrix_lie_on_both_devices(accelerator):
    """The null device has no bodies of sparse ops, so those that array ops make are asked for."""
    csr_matrix = pytest.importorskip("scipy.sparse").csr_matrix
    dense = np.where(MANY > 0.4, MANY, 0)
    other = np.where(MANY > 0.9, MANY, 0)
    a, b = sparse_parts(csr_matrix(dense)), sparse_parts(csr_matrix(other))
    assert [part.device == accelerator for part in a] == [True, True, False]
    assert all(part.device.type == "cpu" for part in b)

    def whole(parts, shape):
        return csr_matrix(tuple(part.get() for part in parts), shape=shape).toarray()

    turned = bc._c.sparse_transpose(*b, 5, composed=True)
    np.testing.assert_array_equal(whole(turned, (5, 8)), other.T)
    np.testing.assert_array_equal(whole(bc._c.sparse_add(*a, *b, 5, False, composed=True), (8, 5)), dense + other)
    np.testing.assert_array_equal(whole(bc._c.sparse_add(*b, *a, 5, subtract=True, composed=True), (8, 5)), other - dense)
    product = bc._c.sparse_matmul(*a, 5, *turned, 8, composed=True)
    np.testing.assert_allclose(whole(product, (8, 8)), dense @ other.T, rtol=1e-14)
    rows, columns = np.array([3, 1]), np.array([4, 0])
    taken = bc._c.sparse_take(*a, 5, bc.asarray(rows), composed=True)
    np.testing.assert_array_equal(whole(taken, (2, 5)), dense[rows])
    found = bc._c.sparse_lookup(*a, 5, bc.asarray(rows), bc.asarray(columns), composed=True)
    np.testing.assert_array_equal(found.get(), dense[rows, columns])
    assert (bc.scipy.sparse.csr_matrix(csr_matrix(dense)) @ few()).device == accelerator


REACHED = {
    "a slice": lambda a, at: a[4, 1:6, 2][at],
    "reversed": lambda a, at: a[9, ::-1, 3][at],
    "columns": lambda a, at: a[::-2, 6:1:-2, 1:3][:, at % 3, ::-1],
    "two axes": lambda a, at: a[2:7, :, ::-3][at, :, at % 4],
    "broadcast": lambda a, at: a[3, 2, :, None, None][at],
    "no elements": lambda a, at: a[3, 5:5][at[:0]],
}


@pytest.mark.parametrize("name", REACHED)
def test_a_gather_copies_what_it_can_reach_of_memory_that_others_share(name, accelerator):
    """The rest of a large file in memory is not copied."""
    shared = np.arange(10 * 40 * 1000.0).reshape(10, 40, 1000)
    a, places = bc.asarray(shared, copy=False)[..., 500:512], PLACES % 5
    assert a.device.type == "cpu"
    bc.trim_memory()
    bc._c.pool_reset_peak(accelerator)
    before = bc.memory_stats(accelerator)["peak"]
    got = REACHED[name](a, bc.asarray(places)).get()
    used = bc.memory_stats(accelerator)["peak"] - before
    np.testing.assert_array_equal(got, REACHED[name](shared[..., 500:512], places))
    if name in ("a slice", "reversed", "broadcast"):
        assert used < shared.nbytes / 4


@pytest.mark.timeout(1800)
def test_random_programs_do_what_numpy_does():
    reports = array_programs.check_all(70_000, 60, Run("auto"))
    assert not reports, "\n\n".join(reports[:5])


def test_the_accelerator_is_opened_when_large_arrays_have_taken_time(accelerator):
    """A nanosecond for each element is counted; arrays that were made before move in the ops that follow."""
    size = 2 * SIZE
    bc._c._set_placement(SIZE, accelerator, 1000)
    a, target, changed, stored = (bc.asarray(np.arange(float(size))) for _ in range(4))
    view, seen, few = a[::-2], bc.ones(size), bc.ones(5)
    seen_by_numpy = np.asarray(seen)
    b, steps = a, 0
    assert bc._c._placement()[1] is None
    while b.device.type == "cpu":
        b, steps = b + a, steps + 1
        assert steps < 1000 / size
    assert bc._c._placement()[1] == accelerator == a.device == view.device
    np.testing.assert_array_equal(b.get(), (steps + 1) * np.arange(size))
    np.testing.assert_array_equal(view.get(), np.arange(size)[::-2])
    assert bc.add(a, few[0], out=target) is target and target.device == accelerator
    changed += 1
    stored[3:] = b[3:]
    assert changed.device == stored.device == accelerator and few.device.type == "cpu"
    np.testing.assert_array_equal(changed.get(), np.arange(size) + 1)
    np.testing.assert_array_equal(stored.get()[3:], b.get()[3:])
    seen += a
    assert seen.device.type == "cpu", "other code sees its memory"
    np.testing.assert_array_equal(seen_by_numpy, np.arange(size) + 1)


def test_one_long_op_opens_the_accelerator(accelerator):
    bc._c._set_placement(SIZE, accelerator, 1000)
    assert bc.ones(2 * SIZE).device.type == "cpu" and bc.ones(10 * SIZE).device == accelerator
    bc._c._set_placement(SIZE, accelerator, 1000)
    row = bc.asarray(np.arange(12.0))
    assert bc.multiply.outer(row, row).device == accelerator


def test_the_default_device_ends_placement():
    assert bc._c._placement()[0] == SIZE
    before = bc.default_device()
    try:
        bc.set_default_device("cpu")
        assert bc._c._placement()[0] == 0 and bc.ones(4 * SIZE).device.type == "cpu"
        bc.set_default_device("auto")
        assert bc._c._placement()[0] > 0 and bc.ones(SIZE).device.type == "cpu"
    finally:
        bc.set_default_device(before)


PROGRAM = """
import threading
import broadcloth as bc
print(bc.zeros(3).device, bc.zeros(1 << 26).device)
thread = threading.Thread(target=lambda: print(bc.zeros(3).device, bc.zeros(1 << 26).device))
thread.start()
thread.join()
"""


@pytest.mark.parametrize("said", ["", "auto", "cpu"])
def test_programs_that_run_unchanged_are_placed_by_size(tmp_path, monkeypatch, said):
    monkeypatch.setenv("BROADCLOTH_DEVICE", said)
    done = run(program(tmp_path, PROGRAM))
    assert done.returncode == 0, done.stderr
    large = "cuda:0" if bc._c.device_count("cuda") and said != "cpu" else "cpu"
    assert done.stdout.split() == ["cpu", large, "cpu", large]
