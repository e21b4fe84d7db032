"""The kernels of library ops on CUDA, as CUDA C++ on the CPU: what they give is NumPy's, whichever blocks wait for others."""

from __future__ import annotations

import numpy as np
import pytest

import broadcloth as bc

SIZES = [65, 255, 4096, 4097, 2048 * 33 + 5]


@pytest.fixture(autouse=True)
def cuda_kernels():
    with bc.device("cpu"):
        bc._c.use_cuda_bodies("cpu", True)
        yield
        bc.flush()
        bc._c.use_cuda_bodies("cpu", False)


@pytest.fixture
def rng():
    return np.random.default_rng(7)


@pytest.mark.parametrize("dtype", ["float32", "int64", "complex128", "float16", "int8"])
def test_running_sums_are_numpys(rng, dtype):
    for n in SIZES if dtype in ("float32", "int64") else SIZES[-1:]:
        a = rng.integers(-3 if dtype != "float16" else 0, 4 if dtype != "float16" else 1, n).astype(dtype)
        x = bc.asarray(a)
        for ours, theirs in ((x, a), (x[1:], a[1:]), (x[::-1], a[::-1]), (x[::2], a[::2])):
            np.testing.assert_array_equal(bc.cumsum(ours), np.cumsum(theirs), err_msg=f"{n}")


@pytest.mark.parametrize("name", ["maximum", "multiply", "logical_or", "bitwise_xor", "gcd", "logaddexp"])
def test_accumulate_joins_in_order(rng, name):
    a = rng.integers(1, 100, 40_000)
    if name == "multiply":
        a = a.astype(np.complex64) / abs(a) * np.exp(1j)
    elif name == "logaddexp":
        a = a / 10
    elif name == "logical_or":
        a = a > 98
    ours = getattr(bc, name).accumulate(bc.asarray(a))
    expected = getattr(np, name).accumulate(a)
    if a.dtype.kind in "fc":
        np.testing.assert_allclose(ours, expected, rtol=1e-2 if name == "multiply" else 1e-12)
    else:
        np.testing.assert_array_equal(ours, expected)


def test_sums_of_floats_are_the_same_from_run_to_run(rng):
    x = bc.asarray(rng.normal(size=200_000).astype(np.float32))
    first = np.asarray(bc.cumsum(x))
    for _ in range(5):
        np.testing.assert_array_equal(np.asarray(bc.cumsum(x)), first)
    # A tree's error: far below that of one sum after the other.
    exact = np.cumsum(np.asarray(x), dtype=np.float64)
    assert np.max(np.abs(first - exact)) <= 64 * 2.0**-24 * np.sum(np.abs(np.asarray(x), dtype=np.float64)) / 100


@pytest.mark.parametrize("shape, axis", [((3, 5000), 1), ((2, 70_000), 1), ((5000, 40), 0), ((70, 3, 100), 2), ((40_000, 33), 0)])
def test_lines_do_not_mix(rng, shape, axis):
    a = rng.integers(-9, 9, shape)
    np.testing.assert_array_equal(bc.cumsum(bc.asarray(a), axis=axis), np.cumsum(a, axis=axis))
    np.testing.assert_array_equal(bc.cumsum(bc.asarray(a).T, axis=0), np.cumsum(a.T, axis=0))


def test_tiles_of_a_three_level_tree(rng):
    a = rng.integers(-9, 9, 2048 * 1100 + 17)
    np.testing.assert_array_equal(bc.cumsum(bc.asarray(a)), np.cumsum(a))


@pytest.mark.parametrize("dtype", ["float32", "int8", "bool", "complex128", "float16"])
@pytest.mark.parametrize("share", [0.0, 0.01, 0.5, 1.0])
def test_masks_select_in_order(rng, dtype, share):
    for n in [257, 4096, 4096 * 33 + 5]:
        a, m = rng.integers(0, 100, n).astype(dtype), rng.random(n) < share
        x, k = bc.asarray(a), bc.asarray(m)
        np.testing.assert_array_equal(x[k], a[m])
        np.testing.assert_array_equal(x[::-1][k], a[::-1][m])
        np.testing.assert_array_equal(x[k[::-1]], a[m[::-1]])
        np.testing.assert_array_equal(x[1:][k[1:]], a[1:][m[1:]])
        np.testing.assert_array_equal(bc.nonzero(k)[0], np.nonzero(m)[0])


def test_masks_of_several_axes(rng):
    a, m = rng.normal(size=(60, 70, 8)), rng.random((60, 70)) < 0.3
    x, k = bc.asarray(a), bc.asarray(m)
    np.testing.assert_array_equal(x[k], a[m])
    np.testing.assert_array_equal(x[:, :, 0][k], a[:, :, 0][m])
    np.testing.assert_array_equal(x.transpose(1, 0, 2)[:, :, 0][k.T], a.transpose(1, 0, 2)[:, :, 0][m.T])
    for ours, theirs in zip(bc.nonzero(x > 0), np.nonzero(a > 0), strict=True):
        np.testing.assert_array_equal(ours, theirs)


@pytest.mark.parametrize("bins", [1, 7, 1024, 1025, 5000, 12288, 12289])
def test_counts_of_places(rng, bins):
    for n in [10, 4096, 100_001]:
        a = rng.integers(0, bins, n)
        x = bc.asarray(a)
        np.testing.assert_array_equal(bc.bincount(x, minlength=bins), np.bincount(a, minlength=bins))
        np.testing.assert_array_equal(bc.bincount(x[1:]), np.bincount(a[1:]))
        np.testing.assert_array_equal(bc.bincount(x[::2]), np.bincount(a[::2]))
        np.testing.assert_allclose(bc.bincount(x, weights=x), np.bincount(a, weights=a))


@pytest.mark.parametrize("dtype", ["int32", "uint64"])
def test_one_number_added_at_many_places(rng, dtype):
    at = rng.integers(-50, 50, 20_000)
    ours, theirs = bc.zeros((50, 2), dtype=dtype)[:, 1], np.zeros(50, dtype)
    bc.add.at(ours, bc.asarray(at), 3)
    np.add.at(theirs, at, np.dtype(dtype).type(3))
    np.testing.assert_array_equal(ours, theirs)


@pytest.mark.parametrize("dtype", ["float32", "int64"])
def test_sorts(rng, dtype):
    a = (rng.normal(size=50_000) * 1000).astype(dtype)
    np.testing.assert_array_equal(bc.sort(bc.asarray(a)), np.sort(a))
    np.testing.assert_array_equal(bc.argsort(bc.asarray(a), kind="stable"), np.argsort(a, kind="stable"))


@pytest.mark.parametrize("dtype", ["int64", "float64", "uint16"])
@pytest.mark.parametrize("lines", [1, 10])
def test_radix_passes_without_work_are_left_out(rng, dtype, lines):
    """Digits that all elements share: none, some, the highest, the lowest, all but one, all."""
    n = 5000
    ranges = {"int64": [(0, 200), (-5, 5), (0, 2**20), (2**40, 2**40 + 7)], "uint16": [(0, 256), (0, 2**16)], "float64": [(-3, 3)]}[dtype]
    for low, high in ranges:
        for scale in (1, 256, 65536) if dtype == "int64" else (1,):
            a = (rng.integers(low, high, (lines, n)) * scale).astype(dtype)
            np.testing.assert_array_equal(bc.sort(bc.asarray(a), axis=-1), np.sort(a, axis=-1))
            np.testing.assert_array_equal(bc.argsort(bc.asarray(a), axis=-1), np.argsort(a, axis=-1, kind="stable"))
    same = np.full((lines, n), 7, dtype)
    np.testing.assert_array_equal(bc.sort(bc.asarray(same), axis=-1), same)
    np.testing.assert_array_equal(bc.argsort(bc.asarray(same), axis=-1), np.tile(np.arange(n), (lines, 1)))
    np.testing.assert_array_equal(bc.unique(bc.asarray(same)), [7])
