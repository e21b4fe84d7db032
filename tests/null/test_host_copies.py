"""Functions of a device's arrays copy no arrays to the host: on the null device, which runs CUDA's kernels on the CPU, at most some numbers
are read (a count, bounds, an error's flag)."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import broadcloth as bc
from broadcloth.run._fallback import in_place
from null_device import recorded, running_null_device

FEW_BYTES = 512


@pytest.fixture(autouse=True)
def cuda_by_the_cpu():
    with running_null_device() as name:
        yield name


RNG = np.random.default_rng(5)
LINE = RNG.random(700)
TABLE = RNG.integers(0, 9, (30, 40)) * (RNG.random((30, 40)) < 0.5)
COUNTS = RNG.integers(0, 4, 700)
PLACES = RNG.integers(-700, 700, 90)
BOXED = np.pad(RNG.integers(1, 5, (20, 9)), ((3, 0), (2, 5)))

CALLS = {
    "repeat": lambda xp, a: xp.repeat(a(LINE), a(COUNTS)),
    "repeat rows": lambda xp, a: xp.repeat(a(TABLE), a(COUNTS[:30].astype("u1")), axis=0),
    "repeat columns": lambda xp, a: xp.repeat(a(TABLE), a(COUNTS[:40]), axis=-1),
    "repeat never": lambda xp, a: xp.repeat(a(LINE), a(0 * COUNTS)),
    "delete": lambda xp, a: xp.delete(a(LINE), a(PLACES)),
    "delete rows": lambda xp, a: xp.delete(a(TABLE), a(PLACES[:50] % 30 - 30), axis=0),
    "delete of a matrix": lambda xp, a: xp.delete(a(TABLE), a(PLACES.reshape(9, 10))),
    "delete by mask": lambda xp, a: xp.delete(a(LINE), a(LINE > 0.3)),
    "delete columns by mask": lambda xp, a: xp.delete(a(TABLE), a(TABLE[0] > 3), axis=1),
    "delete nothing": lambda xp, a: xp.delete(a(LINE), a(PLACES[:0])),
    "insert": lambda xp, a: xp.insert(a(LINE), a(PLACES), a(LINE[:90])),
    "insert a number": lambda xp, a: xp.insert(a(LINE), a(PLACES.astype("i2")), -1.5),
    "insert rows": lambda xp, a: xp.insert(a(TABLE), a(PLACES[:20] % 31), a(TABLE[:20]), axis=0),
    "insert columns": lambda xp, a: xp.insert(a(TABLE), a(PLACES[:20] % 41), 7, axis=1),
    "insert by mask": lambda xp, a: xp.insert(a(LINE), a(LINE > 0.3), 1),
    "insert at one place": lambda xp, a: xp.insert(a(LINE), a(PLACES[:1]), a(LINE[:1])),
    "unravel_index": lambda xp, a: xp.unravel_index(a(PLACES % 1200), (30, 40)),
    "unravel_index F": lambda xp, a: xp.unravel_index(a((PLACES % 1200).reshape(9, 10)), (10, 30, 4), order="F"),
    "ravel_multi_index": lambda xp, a: xp.ravel_multi_index((a(PLACES % 30), a(PLACES % 40)), (30, 40)),
    "ravel_multi_index modes": lambda xp, a: xp.ravel_multi_index((a(PLACES), a(PLACES)), (30, 40), mode=("wrap", "clip"), order="F"),
    "trim_zeros": lambda xp, a: xp.trim_zeros(a(np.pad(LINE, (4, 9)))),
    "trim_zeros front": lambda xp, a: xp.trim_zeros(a(np.pad(LINE, (4, 9))), "f"),
    "trim_zeros box": lambda xp, a: xp.trim_zeros(a(BOXED)),
    "trim_zeros axis": lambda xp, a: xp.trim_zeros(a(BOXED), axis=1, trim="b"),
    "trim_zeros of zeros": lambda xp, a: xp.trim_zeros(a(np.zeros(700))),
    "pad median": lambda xp, a: xp.pad(a(TABLE), 2, "median"),
    "pad median of parts": lambda xp, a: xp.pad(a(TABLE * 0.5), ((1, 2), (3, 0)), "median", stat_length=5),
    "triu_indices": lambda xp, a: xp.triu_indices(60, 2, 50),
    "tril_indices": lambda xp, a: xp.tril_indices(60, -3),
    "mgrid": lambda xp, a: xp.mgrid[0:30, -5:5:20j, :20:3],
    "mgrid of ints": lambda xp, a: xp.mgrid[0:30, 4:20],
}  # fmt: skip


@pytest.mark.parametrize("name", CALLS)
def test_the_host_reads_some_numbers_only(name):
    call = CALLS[name]
    expected = call(np, np.asarray)
    operands: list = []
    call(bc, lambda x: operands.append(bc.asarray(x)) or operands[-1])
    bc.flush()
    given = iter(operands)
    with recorded() as record:
        found = call(bc, lambda x: next(given))
        bc.flush()
    assert sum(count for _, count in record.copies) <= FEW_BYTES, record.copies
    parts = zip(found, expected, strict=True) if isinstance(expected, tuple) else [(found, expected)]
    for ours, theirs in parts:
        assert ours.dtype == theirs.dtype
        np.testing.assert_array_equal(bc.asnumpy(ours), theirs)


@pytest.mark.parametrize(
    "call",
    [
        lambda xp, a: xp.repeat(a(LINE), a(COUNTS - 1)),
        lambda xp, a: xp.repeat(a(LINE), a(COUNTS[:8])),
        lambda xp, a: xp.repeat(a(LINE), a(COUNTS * 0.5)),
        lambda xp, a: xp.delete(a(TABLE), a(PLACES), axis=1),
        lambda xp, a: xp.delete(a(LINE), a(LINE[:7] > 0)),
        lambda xp, a: xp.delete(a(LINE), a(LINE)),
        lambda xp, a: xp.insert(a(TABLE), a(PLACES), 0, axis=0),
        lambda xp, a: xp.insert(a(LINE), a(PLACES.reshape(9, 10)), 0),
        lambda xp, a: xp.unravel_index(a(PLACES + 1200), (30, 40)),
        lambda xp, a: xp.ravel_multi_index((a(PLACES), a(PLACES)), (30, 40)),
        lambda xp, a: xp.ravel_multi_index((a(PLACES),), (30, 40)),
    ],
)
def test_errors_are_numpys(call):
    with pytest.raises(Exception) as theirs:  # noqa: PT011
        call(np, np.asarray)
    with pytest.raises(theirs.type):
        bc.asnumpy(call(bc, bc.asarray))


@pytest.mark.parametrize(
    "draw",
    [
        lambda rng, x: rng.gamma(x),
        lambda rng, x: rng.integers(0, (x * 10).astype("i8") + 1),
        lambda rng, x: rng.choice(len(x), 5, p=x / x.sum()),
    ],
)
def test_parameters_that_are_copied_for_numpys_generators_are_told(draw):
    x = bc.asarray(LINE)
    with pytest.warns(bc.exceptions.PerformanceWarning, match="copied to host memory"):
        draw(bc.random.default_rng(1), x)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        draw(bc.random.default_rng(1), bc.asarray(LINE, device="cpu"))


def test_rows_are_swapped_by_an_index_list_of_a_number_and_an_element():
    def swapped(xp, a, pivots):
        p = 1 + xp.argmax(pivots)
        a[[1, p]] = a[[p, 1]]
        return a

    x, pivots = bc.array(TABLE), bc.array([0, 5])
    with recorded() as record:
        got = swapped(bc, x, pivots)
    assert sum(count for _, count in record.copies) <= FEW_BYTES, record.copies
    want = swapped(np, TABLE.copy(), np.array([0, 5]))
    np.testing.assert_array_equal(bc.asnumpy(got), want)
    np.testing.assert_array_equal(bc.asnumpy(swapped(bc, bc.array(TABLE, device="cpu"), pivots)), want)
    assert bc.array([1, pivots[0]], device="cpu").device == bc.device("cpu")
    assert bc.array([1, pivots[0]]).device == pivots.device


def test_what_a_library_writes_into_a_host_copy_comes_back():
    """As `python -m broadcloth` hands a GPU's arrays to SciPy's functions that are written in C."""
    blas = pytest.importorskip("scipy.linalg.blas")
    x, y = bc.arange(1.0, 5.0), bc.ones(4)
    scaled = in_place(blas.dscal, (2.0, x), {})
    assert scaled is x and x.tolist() == [2.0, 4.0, 6.0, 8.0]
    total = in_place(blas.daxpy, (x, y[::-1]), {})
    assert total.tolist() == [3.0, 5.0, 7.0, 9.0] and y.tolist() == [1.0] * 4
    first, second = in_place(blas.dswap, (x, y), {})
    assert first is x and second is y and x.tolist() == [1.0] * 4 and y.tolist() == [2.0, 4.0, 6.0, 8.0]
    assert in_place(np.add, (x, 1.0), {"out": y}) is y and y.tolist() == [2.0] * 4


def test_elements_of_a_device_are_numbers_for_functions_of_the_cpu():
    """As in a comprehension over arrays on a GPU, which calls a function under njit for each of their elements."""

    @bc.njit
    def f(x, y):
        return 4 * x + y

    x, y = bc.arange(3.0), bc.arange(3)
    assert [f(a, b) for a, b in zip(x, y, strict=True)] == [0.0, 5.0, 10.0]
    assert f(x[2], 1) == 9.0 and f(1, y[1] * 2) == 6
