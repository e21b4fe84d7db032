"""Integer-array and boolean indexing, reading and assigning, mixed with basic indices as NumPy mixes them."""

from __future__ import annotations

import math

import numpy as np
import pytest

import broadcloth as bc
from support import assert_same, configured, host

I = np.array  # noqa: E741

INDICES = {
    "one array": (I([3, 0, -1]),),
    "list": ([1, 1, 2],),
    "two arrays": (I([0, 2, 1]), I([3, 3, 0])),
    "broadcast arrays": (I([[0], [2]]), I([1, 3])),
    "array and slice": (I([1, 0]), slice(1, 4)),
    "slice and array": (slice(None, None, 2), I([3, 1, 1])),
    "array and index": (I([0, 1]), 2),
    "index and array": (1, I([0, 3])),
    "arrays apart": (I([0, 1]), slice(None), I([1, 0])),
    "arrays apart by an index": (0, slice(None), I([1, 0])),
    "arrays next to each other in the middle": (slice(None), I([0, 1, 2]), I([1, 0, 4])),
    "newaxis and array": (None, I([1, 0])),
    "array and newaxis": (I([1, 0]), None, slice(None), I([2, 2])),
    "ellipsis and array": (Ellipsis, I([4, 0])),
    "array and ellipsis": (I([1]), Ellipsis, I([0])),
    "2-d array": (I([[0, 1], [1, 0]]),),
    "boolean row": (I([True, False]),),
    "boolean and slice": (I([True, False]), slice(1, 3)),
    "boolean and array": (I([True, True]), I([0, 2])),
    "2-d boolean": (np.arange(8).reshape(2, 4) % 3 == 0,),
    "boolean in the middle": (slice(None), I([True, False, True, True])),
    "no true": (I([False, False]),),
    "empty array": (I([], int),),
    "0-d array": (I(1),),
    "negative steps and array": (slice(None, None, -1), slice(None), I([0, -1])),
    "uint8 index": (I([1, 0], np.uint8),),
    "True": (True,),
    "False": (False,),
}


def ours(xp, key):
    return tuple(xp.asarray(k) if isinstance(k, np.ndarray) else k for k in key)


@pytest.fixture
def cube():
    return np.arange(40.0).reshape(2, 4, 5)


@pytest.mark.parametrize("name", INDICES)
def test_reading_matches_numpy(xp, cube, name):
    key = INDICES[name]
    if name in ("one array",):
        key = (slice(None), *key)
    elif name in ("list", "two arrays", "broadcast arrays"):
        key = (0, *key)
    want = cube[key]
    assert_same(xp.asarray(cube)[ours(xp, key)], want)
    assert_same(xp.asarray(cube)[key], want, "NumPy's index arrays")
    assert_same((xp.asarray(cube) + 0.5)[ours(xp, key)], (cube + 0.5)[key], "of an expression")


@pytest.mark.parametrize("name", [n for n in INDICES if n not in ("boolean and array",)])
def test_assigning_matches_numpy(xp, cube, name):
    key = INDICES[name]
    if name in ("one array",):
        key = (slice(None), *key)
    elif name in ("list", "two arrays", "broadcast arrays"):
        key = (0, *key)
    n, x = cube.copy(), xp.asarray(cube)
    n[key] = -1
    x[ours(xp, key)] = -1
    assert_same(x, n, "a scalar")
    shape = cube[key].shape
    values = np.arange(100.0, 100 + np.prod(shape)).reshape(shape)
    n[key] = values
    x[ours(xp, key)] = xp.asarray(values)
    if "list" not in name and "slice and array" not in name and "uint8" not in name:
        assert_same(x, n, "values")
    else:  # an index occurs twice: the last value stays
        assert_same(x, n, "the last of repeated indices")


@pytest.mark.parametrize("name", ["list", "slice and array", "2-d boolean", "boolean row", "array and slice"])
def test_in_place_operators_on_selected_elements(xp, cube, name):
    key = INDICES[name] if name != "list" else (0, [1, 1, 2])
    n, x = cube.copy(), xp.asarray(cube)
    n[key] += 10
    x[ours(xp, key)] += 10
    assert_same(x, n)


def test_masks(xp):
    n = np.arange(-5.0, 7).reshape(3, 4)
    x = xp.asarray(n)
    assert_same(x[x > 0], n[n > 0])
    assert_same(x[(x > 0) & (x < 4)] * 2, n[(n > 0) & (n < 4)] * 2)
    m, y = n.copy(), xp.asarray(n)
    m[m < 0] = 0
    y[y < 0] = 0
    assert_same(y, m)
    m[m > 2] = m[m > 2] * 10
    y[y > 2] = y[y > 2] * 10
    assert_same(y, m)
    m[m > 20] *= -1
    y[y > 20] *= -1
    assert_same(y, m)
    m[:, m[0] == 0] = [[7], [8], [9]]
    y[:, y[0] == 0] = [[7], [8], [9]]
    assert_same(y, m)
    assert x[x > 100].shape == (0,)


@pytest.mark.parametrize("key", [5, -6, (0, 9), (slice(None), 8), (0, 0, 0)])
def test_basic_indices_out_of_range_raise_at_once(xp, key):
    n = np.zeros((5, 8))
    x = xp.zeros((5, 8))
    with pytest.raises(IndexError) as ours_error:
        x[key]
    with pytest.raises(IndexError) as theirs:
        n[key]
    assert str(ours_error.value).split(" for ")[0].split(",")[0] == str(theirs.value).split(" for ")[0].split(",")[0]
    with pytest.raises(IndexError):
        x[key] = 1


def test_index_arrays_out_of_range_raise_index_error(xp):
    """At once on the CPU or when the value is needed; on a GPU at the next synchronisation."""
    x = xp.arange(10.0)
    for bad in ([0, 10], [-11], [1 << 40]):
        with pytest.raises(IndexError, match="out of bounds"):
            got = x[xp.asarray(bad)]
            host(got)
            xp.synchronize()
        with pytest.raises(IndexError, match="out of bounds"):
            y = x.copy()
            y[xp.asarray(bad)] = 1
            host(y)
            xp.synchronize()
    assert_same(x, np.arange(10.0))


def test_invalid_indices_raise_index_error(xp):
    x = xp.zeros((3, 4))
    for key in (1.5, "a", xp.array([0.5]), (slice(None), 1.0), ([True, False],), xp.array([True, False]), [slice(None)], ["1", "2"]):
        with pytest.raises(IndexError):
            x[key]
    with pytest.raises(TypeError):
        x["a":"b"]
    with pytest.raises(ValueError):
        x[::0]
    with pytest.raises(IndexError):
        x[xp.array([0, 1]), xp.array([0, 1, 2])]
    with pytest.raises(IndexError):
        x[..., ...]


def test_values_that_do_not_fit_raise_and_write_nothing(xp):
    x = xp.arange(12.0).reshape(3, 4)
    for key, value in (((slice(None),), [1, 2, 3]), ((xp.array([0, 1]),), xp.ones((3, 4))), ((x > 5,), [1, 2])):
        with pytest.raises(ValueError):
            x[key] = value
    assert_same(x, np.arange(12.0).reshape(3, 4))


def test_an_array_of_size_one_is_an_index(xp):
    n = np.arange(5)
    assert int(xp.arange(5)[xp.array(2)]) == n[np.array(2)]
    assert [10, 20, 30][xp.array(1)] == 20
    assert list(range(10))[xp.array(2) : xp.array(4)] == [2, 3]
    with pytest.raises(TypeError):
        [1, 2][xp.array(1.0)]


@pytest.mark.parametrize("axis", [None, 0, 1, -1])
@pytest.mark.parametrize("mode", ["raise", "wrap", "clip"])
def test_take_matches_numpy(xp, axis, mode):
    n = np.arange(12).reshape(3, 4)
    at = np.array([[0, 2], [1, 1]]) if mode == "raise" else np.array([[0, 7], [-9, 1]])
    assert_same(xp.take(xp.asarray(n), xp.asarray(at), axis, mode=mode), np.take(n, at, axis, mode=mode))
    assert_same(xp.asarray(n).take([1, 0], axis), n.take([1, 0], axis))


def test_take_along_axis_and_put_along_axis(xp):
    n = np.array([[3, 1, 2], [9, 7, 8]])
    for axis in (0, 1):
        at = np.argmax(n, axis=axis, keepdims=True)
        assert_same(xp.take_along_axis(xp.asarray(n), xp.asarray(at), axis), np.take_along_axis(n, at, axis))
        m, y = n.copy(), xp.asarray(n)
        np.put_along_axis(m, at, -5, axis)
        xp.put_along_axis(y, xp.asarray(at), -5, axis)
        assert_same(y, m)


def test_put_putmask_place_and_fill_diagonal(xp):
    n = np.arange(12.0).reshape(3, 4)
    for name, args in {
        "put": ([0, 5, -1], [100, 200]),
        "putmask": (n > 4, [-1, -2, -3]),
        "place": (n > 4, [-1, -2, -3]),
        "fill_diagonal": (7,),
    }.items():
        m, y = n.copy(), xp.asarray(n)
        getattr(np, name)(m, *args)
        getattr(xp, name)(y, *(xp.asarray(a) if isinstance(a, np.ndarray) else a for a in args))
        assert_same(y, m, name)
    m, y = np.zeros((7, 3)), xp.zeros((7, 3))
    np.fill_diagonal(m, [1, 2], wrap=True)
    xp.fill_diagonal(y, [1, 2], wrap=True)
    assert_same(y, m)


def test_nonzero_and_its_kin(xp):
    n = np.array([[0, 3, 0], [4, 0, 5]])
    x = xp.asarray(n)
    for got, want in zip(xp.nonzero(x), np.nonzero(n)):
        assert_same(got, want)
    for got, want in zip(x.nonzero(), n.nonzero()):
        assert_same(got, want)
    for got, want in zip(xp.where(x > 3), np.where(n > 3)):
        assert_same(got, want)
    assert_same(xp.argwhere(x), np.argwhere(n))
    assert_same(xp.flatnonzero(x), np.flatnonzero(n))
    assert_same(xp.count_nonzero(x, axis=0), np.count_nonzero(n, axis=0))
    big = np.arange(100_000) % 7 == 0
    assert_same(xp.flatnonzero(xp.asarray(big)), np.flatnonzero(big))
    assert xp.nonzero(xp.zeros(5))[0].shape == (0,)
    with pytest.raises(ValueError):
        xp.nonzero(xp.array(1))


def test_compress_extract_choose_select(xp):
    n = np.arange(12).reshape(3, 4)
    x = xp.asarray(n)
    assert_same(xp.compress([True, False, True], x, axis=0), np.compress([True, False, True], n, axis=0))
    assert_same(xp.extract(x % 3 == 0, x), np.extract(n % 3 == 0, n))
    at = np.array([0, 1, 1, 0])
    assert_same(xp.choose(xp.asarray(at), [x[0], x[1]]), np.choose(at, [n[0], n[1]]))
    assert_same(xp.choose(xp.asarray(at + 5), [x[0], x[1]], mode="wrap"), np.choose(at + 5, [n[0], n[1]], mode="wrap"))
    with pytest.raises(ValueError):
        xp.choose(xp.asarray(at + 5), [x[0], x[1]])
    assert_same(xp.select([x < 3, x < 8], [x, x * 10.0], -1), np.select([n < 3, n < 8], [n, n * 10.0], -1))


def test_ix_and_index_helpers(xp):
    n = np.arange(20).reshape(4, 5)
    x = xp.asarray(n)
    assert_same(x[xp.ix_([0, 3], [1, 1, 4])], n[np.ix_([0, 3], [1, 1, 4])])
    assert_same(x[xp.ix_([True, False, True, False], [2])], n[np.ix_([True, False, True, False], [2])])
    assert_same(x[xp.s_[1:, ::2]], n[np.s_[1:, ::2]])
    for got, want in zip(xp.unravel_index([3, 19], (4, 5)), np.unravel_index([3, 19], (4, 5))):
        assert_same(got, want)
    assert_same(xp.ravel_multi_index(([1, 3], [0, 4]), (4, 5)), np.ravel_multi_index(([1, 3], [0, 4]), (4, 5)))


def test_flat(xp):
    n = np.arange(12).reshape(3, 4)
    x = xp.asarray(n)
    assert_same(x.T.flat[3:9], n.T.flat[3:9])
    assert int(x.flat[5]) == 5 and len(x.flat) == 12
    x.flat[[0, 11]] = -1
    n.flat[[0, 11]] = -1
    assert_same(x, n)
    x.flat = 3
    assert_same(x, np.full((3, 4), 3))


def test_large_gather_and_scatter(xp):
    rng = np.random.default_rng(4)
    n, at = rng.standard_normal(50_000), rng.integers(-50_000, 50_000, 80_000)
    x, k = xp.asarray(n), xp.asarray(at)
    assert_same(x[k] * 2, n[at] * 2)
    perm = rng.permutation(50_000)
    m, y = np.zeros(50_000), xp.zeros(50_000)
    m[perm] = n
    y[xp.asarray(perm)] = x
    assert_same(y, m)


@pytest.mark.parametrize("key", ["[k, p]", "[[p], [k]]", "[p, np.int64(1)], [k, p]", "[[1, 2], [k, p]], 0", "[p, p]"])
def test_index_lists_of_numbers_and_elements(xp, key):
    """As rows are swapped with the place of a pivot: the list is made where its elements are, also beside an array of another device."""
    n = np.arange(12.0).reshape(4, 3)

    def swapped(m, a, pivots):
        k, p = 1, 1 + m.argmax(pivots)  # noqa: F841
        a[eval(key)] = a[eval(key)] * 2 + 1
        a[[k, p]] = a[[p, k]]
        return a

    want = swapped(np, n.copy(), I([0, 5]))
    assert_same(swapped(xp, xp.array(n), xp.array([0, 5])), want)
    assert_same(swapped(xp, xp.array(n, device="cpu"), xp.array([0, 5])), want)


def test_lists_of_numbers_and_elements_lie_where_they_are_asked_to(xp):
    x = xp.arange(3.0)
    for values in ([x[1], 2], [2, x[1]], [[x[1], x[2]], [1, 2]]):
        assert xp.array(values).device == x.device and xp.array(values, device="cpu").device == xp.device("cpu")
    assert xp.array([2, x[1]]).tolist() == [2, 1]


def test_scalars_lists_and_iteration(xp):
    n = np.arange(6).reshape(2, 3)
    x = xp.asarray(n)
    assert len(x) == 2 and [r.tolist() for r in x] == n.tolist() and x.tolist() == n.tolist()
    assert 4 in x and 9 not in x
    assert x.item(4) == 4 and x.item(1, 2) == 5 and isinstance(x.item(0), int)
    assert isinstance(xp.array(1.5).item(), float) and isinstance(xp.array(True).tolist(), bool) and xp.array(1j).item() == 1j
    for value in (xp.array(3), xp.array([3]), xp.array([[3]])):
        assert bool(value) is True
    assert float(xp.array(3)) == 3.0 and int(xp.array(3.7)) == 3 and complex(xp.array(2)) == 2 + 0j
    with pytest.raises(TypeError):
        len(xp.array(1))
    with pytest.raises(TypeError):
        iter(xp.array(1))
    with pytest.raises(ValueError, match="truth value"):
        bool(x)
    with pytest.raises((TypeError, ValueError)):
        float(x)
    with pytest.raises(ValueError):
        x.item()


def test_masks_without_elements_fit_any_extent(xp):
    a = np.arange(24.0).reshape(2, 3, 4)
    x = xp.array(a)
    for mask in (np.zeros(0, bool), np.zeros((2, 0), bool), np.zeros((0, 3), bool), np.zeros((0, 0, 4), bool)):
        assert_same(x[xp.array(mask)], a[mask])
        x[xp.array(mask)] = 5
        xp.add.at(x, xp.array(mask), 1)
    assert_same(x, a)
    with pytest.raises(IndexError, match="boolean index did not match"):
        x[np.zeros((5, 0), bool)]


def test_put_checks_indices_at_once(xp):
    x = xp.zeros(3)
    for call in (lambda: x.put([100], 1), lambda: xp.put(x, [-4], 1)):
        with pytest.raises(IndexError, match="out of bounds"):
            call()
            xp.synchronize()  # where a GPU tells
    x.put([100, -100], [1, 2], mode="clip")
    assert_same(x, np.array([2.0, 0.0, 1.0]))


def test_compress_as_a_method(xp):
    a = np.arange(6).reshape(2, 3)
    assert_same(xp.array(a).compress([True, False, True], axis=1), a.compress([True, False, True], axis=1))


@pytest.mark.parametrize("shape, axis", [((40, 300), 0), ((40, 300), 1), ((7, 5, 33), 1), ((3, 4, 5, 6), 2)])
def test_rows_picked_by_an_index(xp, shape, axis):
    """The index does not change along the inner axis, or it is the inner axis' own."""
    a = np.arange(float(np.prod(shape))).reshape(shape)
    at = np.array([2, 0, -1, 1, 1])
    x, i = xp.array(a), xp.array(at)
    with configured(background_compile=False):
        assert_same(xp.take(x, i, axis=axis) * 2 + 1, np.take(a, at, axis=axis) * 2 + 1)
        assert_same(
            x[i][:, ::2].sum(-1) if axis == 0 else xp.take(x, i, axis).sum(-1),
            np.take(a, at, axis)[:, ::2].sum(-1) if axis == 0 else np.take(a, at, axis).sum(-1),
        )
        big = xp.take(xp.array(np.tile(a, (4,) + (1,) * (a.ndim - 1))), i + 0, axis=axis)
        assert_same(big, np.take(np.tile(a, (4,) + (1,) * (a.ndim - 1)), at, axis=axis))
        y = xp.array(a)
        with pytest.raises(IndexError):
            xp.take(y, xp.array(at) + xp.array(10**6), axis=axis).get()
            xp.synchronize()


def test_elements_are_keys_and_round(xp):
    x = xp.array([2, 1, 2, 3])
    assert {2: "two"}[x[0]] == "two"
    assert sorted(int(v) for v in set(x)) == [1, 2, 3]
    for v in x:
        v += 10  # an element is a value of its own
    assert_same(x, np.array([2, 1, 2, 3]))
    for row in (rows := xp.zeros((2, 2))):
        row += 1  # a row is a view
    assert float(rows.sum()) == 4
    y = xp.array([2.567, -1.5])
    assert round(y[0]) == 3 and isinstance(round(y[0]), int)
    assert float(round(y[0], 1)) == 2.6 and float(round(y.sum(), 2)) == round(float(np.float64(2.567 - 1.5)), 2)
    assert math.trunc(y[1]) == -1 and math.floor(y[1]) == -2 and math.ceil(y[1]) == -1
    for array in (x, xp.array(1.5)[None]):
        with pytest.raises(TypeError, match="unhashable"):
            hash(array)
        with pytest.raises(TypeError, match="__round__"):
            round(array)
    assert xp.array(3).size == 1  # made as an array, not as an element
    with pytest.raises(TypeError, match="unhashable"):
        hash(xp.array(3))


@pytest.mark.parametrize("dtype", ["int64", "complex128", "float32"])
def test_masks_of_several_axes_are_assigned_by_position(xp, dtype):
    a = (np.arange(60) % 17).reshape(3, 4, 5).astype(dtype)
    mask = np.arange(60).reshape(3, 4, 5) % 3 == 1
    for view in (lambda t: t, lambda t: t[:, ::2], lambda t: t.transpose(2, 0, 1), lambda t: t[1:]):
        x, b = xp.array(a), a.copy()
        m = view(mask)
        vx, vb = view(x), view(b)
        vx[xp.array(m)] = vx[xp.array(m)] ** 2 + 1
        vb[m] = vb[m] ** 2 + 1
        vx[xp.array(m)] += 1
        vb[m] += 1
        assert_same(x, b)
    x, b = xp.array(a), a.copy()
    x[xp.array(mask[:, :, 0])] = np.arange(5)
    b[mask[:, :, 0]] = np.arange(5)
    assert_same(x, b)


def test_an_index_array_that_is_written_through_itself(xp):
    a = np.array([3, 2, 1, 0])
    x = xp.array(a)
    x[x] = x + 10
    a[a] = a + 10
    assert_same(x, a)
    y = xp.zeros(4)
    with pytest.raises(IndexError):
        y[xp.array([0, 4])] = 1
        xp.synchronize()
    with pytest.raises(IndexError):
        xp.add.at(y, xp.array([-5, 0]), 1)
        xp.synchronize()
    if xp.default_device() == "cpu":  # a GPU has written the others by then
        assert_same(y, np.zeros(4))


def test_few_elements_are_selected_and_stored_as_many_are(xp, mode):
    """Selections of few computed elements are made at once; what waits, is shared or out of range takes the usual way."""
    for dtype in ("int8", "bool", "float16", "float32", "float64", "complex128"):
        n = (np.arange(12) % 5).astype(dtype)
        x = xp.asarray(n)
        for view in (slice(None), slice(None, None, -2), slice(1, 9, 3), slice(3, 3)):
            a, b = n[view].copy(), x[view]
            for index in (np.array([-1, 0, 0, -2]), np.array([0], "int32"), np.array([], "int64"), np.array([1, 0], "uint8")):
                if a.size or not index.size:
                    assert_same(b[xp.asarray(index)], a[index])
                    assert_same(xp.take(b, xp.asarray(index)), np.take(a, index))
            mask = a == 1
            assert_same(b[xp.asarray(mask)], a[mask])
            assert_same(xp.nonzero(xp.asarray(mask))[0], np.nonzero(mask)[0])
            assert_same(xp.nonzero(b)[0], np.nonzero(a)[0])
            assert_same(xp.concatenate((b, b[::-1], b[:0])), np.concatenate((a, a[::-1], a[:0])))
            with pytest.raises(IndexError, match="out of bounds"):
                host(b[xp.asarray([a.size])])
            with pytest.raises(IndexError, match="boolean index did not match"):
                host(b[xp.ones(a.size + 1, bool)])


def test_few_elements_are_stored_where_nobody_else_reads(xp, mode):
    def program(lib):
        a = lib.asarray(np.arange(8.0))
        lib.add(a, 0, out=a)
        shown = [float(a[2])]
        a[lib.asarray([1, -1, 1])] = 5
        a[a > 6.5] = 2.5
        copied, view, late = a.copy(), a[::2], a * 2
        a[lib.asarray([0, 2])] = lib.asarray([7.0, 8.0])
        a[lib.asarray([True] * 4 + [False] * 4)] = True
        view[lib.asarray([1])] = -3
        a[lib.asarray([4, 5])] = a[:2]
        whole = lib.asarray(np.arange(6))
        whole[lib.asarray([3])] = 2.75  # cut off
        whole[lib.asarray([2])] = -1
        shown.append(float(view[1]))
        return a, copied, view, late, whole, lib.asarray(shown)

    for got, want in zip(program(xp), program(np)):
        assert_same(got, want)
    x = xp.zeros(5, dtype="int8")
    with pytest.raises(OverflowError):
        x[xp.asarray([1])] = 300
    with pytest.raises(IndexError, match="out of bounds"):
        x[xp.asarray([0, 5])] = 1
        x.get()
    with pytest.raises(ValueError):
        x[xp.asarray([0, 1, 2])] = xp.asarray([1, 2], dtype="int8")
    assert int(x.sum()) == 0 or x.device.type == "cuda"  # where each index is checked for itself
    fixed = xp.broadcast_to(x, (5,))
    if not fixed.flags.writeable:
        with pytest.raises(ValueError, match="read-only"):
            fixed[xp.asarray([0])] = 1


def test_indices_that_are_gathered_themselves_keep_their_own_strides(xp):
    rng = np.random.default_rng(5)
    table, order, second = rng.standard_normal((3, 4)), rng.permuted(np.tile(np.arange(3), (4, 1)), axis=1), rng.integers(0, 3, (4, 3))

    def program(lib):
        a, o, s = lib.asarray(table), lib.asarray(order), lib.asarray(second)
        twice = lib.take_along_axis(a.T, lib.take_along_axis(o, s, -1), -1)
        rows = a[o[:, ::2][s[:2, 0]], s[:2, :2]]
        return twice, rows, a.T[s[o[0]], o[1][s[0]]]

    for got, want in zip(program(xp), program(np)):
        assert_same(got, want)


@pytest.mark.parametrize("count", [5, 200, 5000])
def test_masks_with_true_values_other_than_one(device, count):
    n = np.resize(np.array([2, 0, 255, 1, 4, 0], "u1"), count).view(bool)
    x = np.arange(count)
    with bc.device(device):
        mask, y = bc.asarray(n.view("u1")).view(bool), bc.asarray(x)
        np.testing.assert_array_equal(host(y[mask]), x[n])
        np.testing.assert_array_equal(host(bc.nonzero(mask)[0]), np.nonzero(n)[0])
        np.testing.assert_array_equal(host(y[:-1][mask[1:]]), x[:-1][n[1:]])


def test_a_few_values_for_a_large_array_take_little_memory(device):
    """Of several values for one element the last counts, found without a table of all elements."""
    rng = np.random.default_rng(3)
    index = rng.integers(0, 50, 200) * 20011 - 300000
    values = rng.random(200).astype("float32")
    n = np.zeros(1 << 20, "float32")
    n[index] = values
    with bc.device(device):
        a = bc.zeros(1 << 20, dtype="float32")
        at, v = bc.asarray(index), bc.asarray(values)
        a[at] = v
        np.testing.assert_array_equal(host(a), n)
        pool = bc.get_default_memory_pool()
        before = pool.total_bytes()
        large = bc.zeros(1 << 26, dtype="uint8")
        large.device_ctypes_pointer  # noqa: B018  computed, in memory of its own
        used = pool.total_bytes()
        large[at] = bc.asarray((values * 100).astype("u1"))
        bc.synchronize()
        assert pool.total_bytes() - used < 64 << 20 or device == "cpu"
        expected = np.zeros(1 << 26, "uint8")
        expected[index] = (values * 100).astype("u1")
        np.testing.assert_array_equal(host(large), expected)
        assert used >= before


@pytest.mark.parametrize("length", [4, 40, 3000, 300_000])
def test_the_place_of_an_extreme_is_an_index(xp, length):
    """The reduction and the gather are one kernel on a GPU, whose threads beyond the one row have no place to index with."""
    x = np.linspace(-1, 1, length) ** 2
    a, row = xp.array(x), xp.zeros(length)
    for _ in range(3):
        row[xp.argmin(a)] += 1
        assert float(a[xp.argmin(a)] + 1) == x.min() + 1
    assert np.array_equal(host(row), 3.0 * (np.arange(length) == x.argmin()))
    many = xp.array(np.stack([x, x[::-1], -x]))
    picked = xp.array(np.arange(length) * 0.5)[xp.argmax(many, axis=1)] + 1
    assert np.array_equal(host(picked), np.argmax([x, x[::-1], -x], axis=1) * 0.5 + 1)


@pytest.mark.parametrize("n", [1, 7, 8, 9, 64, 1000, 5000, 20_000, 70_000])
def test_masks_of_every_length(xp, n):
    """Eight bytes are taken at a time; bytes of a mask that other code wrote are true unless they are zero."""
    rng = np.random.default_rng(n)
    for share in (0.0, 0.02, 0.5, 1.0):
        mask, values = rng.random(n) < share, rng.integers(0, 100, n)
        m, v = xp.asarray(mask), xp.asarray(values)
        assert xp.nonzero(m)[0].get().tolist() == np.nonzero(mask)[0].tolist()
        assert v[m].get().tolist() == values[mask].tolist()
        assert int(xp.count_nonzero(m)) == np.count_nonzero(mask)
        assert xp.trim_zeros(v * m).get().tolist() == np.trim_zeros(values * mask).tolist()
        wide = (mask * rng.integers(1, 256, n)).astype("u1")
        assert xp.nonzero(xp.asarray(wide).view(bool))[0].get().tolist() == np.nonzero(wide)[0].tolist()


@pytest.mark.parametrize("shape", [(7,), (200, 100), (3, 5, 7, 11), (2**20, 2**20), (2**31, 2**25), (2**40, 2**20)])
@pytest.mark.parametrize("count", [0, 1, 300, 5000])
def test_flat_indices_and_coordinates(xp, shape, count):
    size = math.prod(shape)
    flat = np.random.default_rng(count).integers(0, size, count)
    flat[:2] = [0, size - 1][:count]
    at = np.unravel_index(flat, shape)
    for order in "CF":
        for got, expected in zip(xp.unravel_index(xp.asarray(flat), shape, order), np.unravel_index(flat, shape, order), strict=True):
            np.testing.assert_array_equal(np.asarray(got), expected)
    np.testing.assert_array_equal(np.asarray(xp.ravel_multi_index(tuple(map(xp.asarray, at)), shape)), flat)
    if count:
        for wrong in (-1, size):
            with pytest.raises(ValueError, match="out of bounds"):
                xp.unravel_index(xp.asarray(np.append(flat, wrong)), shape)
        beyond = (*at[:-1], np.full(count, shape[-1]))
        with pytest.raises(ValueError, match="invalid entry in coordinates array"):
            xp.ravel_multi_index(tuple(map(xp.asarray, beyond)), shape)


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", ["int64", "int32", "uint8", "uint64"])
def test_long_lists_of_indices_are_converted(xp, dtype, order):
    shape = (5, 8, 6)
    flat = np.random.default_rng(1).integers(0, 240, 40_000).astype(dtype)
    at = np.unravel_index(flat.astype("int64"), shape, order)
    for got, want in zip(xp.unravel_index(xp.array(flat), shape, order), at, strict=True):
        assert_same(got, want)
    places = tuple(xp.array(i.astype(dtype)) for i in at)
    assert_same(xp.ravel_multi_index(places, shape, order=order), flat.astype("int64"))
    for mode in ("wrap", "clip", ("wrap", "clip", "raise")):
        beyond = (at[0] * 3, at[1] + 5, at[2])
        want = np.ravel_multi_index(beyond, shape, mode, order)
        assert_same(xp.ravel_multi_index(tuple(xp.array(i.astype(dtype)) for i in beyond), shape, mode, order), want)
    with pytest.raises(ValueError, match="out of bounds"):
        xp.unravel_index(xp.array(flat) + xp.array([200], dtype=dtype), (5, 8), order)
    with pytest.raises(ValueError, match="invalid entry"):
        xp.ravel_multi_index(places, (4, 8, 6), order=order)



@pytest.mark.parametrize("mode", ["raise", "wrap", "clip"])
def test_no_coordinates_lie_in_a_shape_without_places(xp, mode):
    nowhere = [xp.zeros(1, dtype=np.int64)] * 3
    with pytest.raises(ValueError):
        np.ravel_multi_index([np.zeros(1, np.int64)] * 3, (2, 1, 0), mode=mode)
    with pytest.raises(ValueError):
        xp.ravel_multi_index(nowhere, (2, 1, 0), mode=mode)
    assert xp.ravel_multi_index([xp.zeros(0, dtype=np.int64)] * 3, (2, 1, 0), mode=mode).shape == (0,)
