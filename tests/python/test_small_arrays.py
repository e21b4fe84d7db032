"""Short arrays in host memory, which the engine works on at once: NumPy's values, of the bits that recorded kernels give."""

from __future__ import annotations

import operator
import warnings

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import broadcloth as bc
from support import assert_same


def both(call):
    """What `call` gives at once and what it gives by kernels: profiles count those, so nothing is computed at once then."""
    now = call().get()
    with bc.profiler.record():
        recorded = call().get()
    return now, recorded


def test_interp_of_few_points_is_that_of_kernels_and_numpys():
    rng = np.random.default_rng(0)
    for _ in range(100):
        n = int(rng.integers(1, 9))
        places = np.sort(rng.integers(0, 6, n)).astype(float)
        values = rng.choice([0.0, 1.0, -2.5, np.inf, -np.inf, np.nan, 1e308], n)
        x = rng.choice(np.concatenate([places, [np.nan, np.inf, -np.inf, -1, 2.5, 7, 0.3]]), 20)
        xp, fp = bc.array(places, device="cpu"), bc.array(values, device="cpu")
        now, recorded = both(lambda: bc.interp(bc.array(x, device="cpu"), xp, fp))
        with np.errstate(all="ignore"):
            np.testing.assert_array_equal(now, np.interp(x, places, values))
        np.testing.assert_array_equal(now, recorded)
        ends = bc.interp(bc.array(x, device="cpu"), xp, fp, -1.0, 2)
        with np.errstate(all="ignore"):
            np.testing.assert_array_equal(ends.get(), np.interp(x, places, values, -1.0, 2))
    assert bc.interp(0.5, bc.array([0.0, 1.0]), bc.array([1.0, 2.0])).shape == ()


@pytest.mark.parametrize("dtype", ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "bool"])
def test_counts_of_few_integers(dtype):
    host = np.array([3, 0, 7, 3, 3, 1, 0, 9] * 5).astype(dtype)
    weights = np.linspace(-1, 1, host.size)
    for part in (slice(None), slice(None, None, -2), slice(2, 9)):
        a, w = bc.array(host, device="cpu")[part], bc.array(weights, device="cpu")[part]
        np.testing.assert_array_equal(bc.bincount(a).get(), np.bincount(host[part]))
        np.testing.assert_array_equal(bc.bincount(a + a * 0, minlength=30).get(), np.bincount(host[part], minlength=30))
        np.testing.assert_array_equal(bc.bincount(a, w).get(), np.bincount(host[part], weights[part]))
        np.testing.assert_array_equal(bc.bincount(a, weights[part].tolist()).get(), np.bincount(host[part], weights[part]))
    with pytest.raises(TypeError):
        bc.bincount(bc.array([1, 2]), bc.array([1j, 2j]))
    with pytest.raises(ValueError, match="same length"):
        bc.bincount(bc.array([1, 2]), bc.array([1.0]))
    with pytest.raises(ValueError):
        bc.bincount(bc.array([1, -2]))


def test_bits_of_few_bytes():
    rng = np.random.default_rng(1)
    for n in (0, 1, 7, 8, 9, 200):
        flags, data = rng.random(n) > 0.5, rng.integers(0, 256, n).astype("u1")
        for step in (1, -1, 2):
            np.testing.assert_array_equal(bc.packbits(bc.array(flags)[::step]).get(), np.packbits(flags[::step]))
            np.testing.assert_array_equal(bc.packbits(bc.array(data)[::step]).get(), np.packbits(data[::step]))
            np.testing.assert_array_equal(bc.unpackbits(bc.array(data)[::step]).get(), np.unpackbits(data[::step]))


@pytest.mark.parametrize("mode", ["full", "same", "valid"])
@pytest.mark.parametrize("dtype", ["int64", "float64"])
def test_convolutions_of_few_elements(mode, dtype):
    rng = np.random.default_rng(2)
    for n, k in ((1, 1), (5, 2), (9, 9), (40, 31), (40, 36), (3, 17)):
        a, v = ((100 * rng.standard_normal(size)).astype(dtype) for size in (n, k))
        for name in ("convolve", "correlate"):
            x, y = bc.array(a, device="cpu"), bc.array(v, device="cpu")
            now, recorded = both(lambda name=name, x=x, y=y: getattr(bc, name)(x, y, mode))
            np.testing.assert_array_equal(now, recorded)
            np.testing.assert_allclose(now, getattr(np, name)(a, v, mode), rtol=1e-11, atol=1e-9)


def test_few_elements_of_a_long_array():
    host = np.arange(5000.0)
    a, at = bc.array(host, device="cpu"), bc.array([4999, -1, 3, 0], device="cpu")
    np.testing.assert_array_equal(a[at].get(), host[[4999, -1, 3, 0]])
    a[at] = bc.array([1.0, 2.0, 3.0, 4.0], device="cpu")
    host[[4999, -1, 3, 0]] = [1.0, 2.0, 3.0, 4.0]
    a[at[2:]] = -7.5
    host[[3, 0]] = -7.5
    np.testing.assert_array_equal(a.get(), host)
    with pytest.raises(IndexError):
        a[bc.array([5000], device="cpu")]


def test_places_of_floats_that_are_not_zero():
    for dtype in ("float32", "float64"):
        host = np.array([0.0, -0.0, 1.0, np.nan, -np.inf, 5e-324]).astype(dtype)
        np.testing.assert_array_equal(bc.array(host).nonzero()[0].get(), host.nonzero()[0])


def test_stores_by_masks_that_wait():
    host = np.linspace(-1, 1, 21)
    a, kept = bc.array(host, device="cpu"), bc.array(host, device="cpu")
    doubled = a * 2
    a[a > 0.25] = 0.0
    bc.putmask(kept, kept < 0, 9.0)
    np.testing.assert_array_equal(doubled.get(), host * 2)
    np.testing.assert_array_equal(a.get(), np.where(host > 0.25, 0, host))
    np.testing.assert_array_equal(kept.get(), np.where(host < 0, 9, host))


def test_iteration():
    a = bc.array([1.0, 2.0, 3.0], device="cpu")
    steps = iter(a)
    assert operator.length_hint(steps) == 3
    assert iter(steps) is steps
    assert float(next(steps)) == 1.0
    a[1] = 20.0  # what is stored meanwhile is seen
    assert [float(v) for v in steps] == [20.0, 3.0]
    assert list(steps) == []
    assert operator.length_hint(steps) == 0
    rows = list(bc.arange(6, device="cpu").reshape(2, 3))
    assert [r.tolist() for r in rows] == [[0, 1, 2], [3, 4, 5]]
    with pytest.raises(TypeError, match="0-d"):
        iter(bc.array(1.0))
    matrix = bc.arange(6, device="cpu").reshape(2, 3).T
    assert [int(v) for v in matrix.flat] == [0, 3, 1, 4, 2, 5]
    flat = matrix.flat
    next(flat)
    assert flat.index == 1 and flat.coords == (0, 1)


def test_elements_are_keys_and_text():
    a = bc.array([1.5, 2.0, 2.0], device="cpu")
    assert {v: k for k, v in enumerate(a)} == {1.5: 0, 2.0: 2}
    assert str(a[0]) == "1.5" and len(set(a)) == 2
    element = a[1]
    assert element.reshape(1).tolist() == [2.0] and str(element) == "2.0"


@pytest.mark.parametrize("dtype", ["float64", "int32", "bool", "complex128", "uint8"])
def test_bytes_of_elements(dtype):
    host = np.arange(6).reshape(2, 3).astype(dtype)
    assert bc.array(host).tobytes() == host.tobytes()
    assert bc.array(host).T.tobytes() == host.T.tobytes()
    assert bc.array(host).tobytes("F") == host.tobytes("F")
    assert bc.array(host)[:, ::-2].tobytes(order="A") == host[:, ::-2].tobytes(order="A")


@pytest.mark.parametrize("make", [lambda m: m.random.default_rng(3), lambda m: m.random.RandomState(3)])
@pytest.mark.parametrize("dtype", ["f8", "i4", "?", "c16"])
def test_orders_of_vectors_are_numpys(make, dtype):
    host = (np.arange(1000) % 7).astype(dtype)
    theirs, ours = make(np), make(bc)
    np.testing.assert_array_equal(ours.permutation(bc.array(host)).get(), theirs.permutation(host))
    a, b = bc.array(host), host.copy()
    ours.shuffle(a)
    theirs.shuffle(b)
    np.testing.assert_array_equal(a.get(), b)
    assert ours.choice(bc.array(host)) == theirs.choice(host)
    np.testing.assert_array_equal(ours.choice(bc.array(host), 5).get(), theirs.choice(host, 5))
    assert ours.permutation(9).tolist() == theirs.permutation(9).tolist()


@pytest.mark.parametrize("compare", [operator.eq, operator.ne])
def test_times_equal_nothing_of_another_kind(compare):
    dates = np.array(["2020-01-01", "NaT"], "M8[D]")
    spans = np.array([1, 2], "m8[h]")
    for x, others in ((dates, [1, 1.5, b"x", np.array([1.0, 2.0]), np.array([1, 2])]), (spans, [1.5, b"x", np.array([1.0, 2.0])])):
        for other in [*others, spans if x is dates else dates]:
            ours = bc.array(other) if isinstance(other, np.ndarray) else other
            for made, expected in ((compare(bc.array(x), ours), compare(x, other)), (compare(ours, bc.array(x)), compare(other, x))):
                np.testing.assert_array_equal(made.get(), expected)
    with pytest.raises(ValueError, match="broadcast"):
        compare(bc.array(dates), bc.array([1.0, 2.0, 3.0]))
    with pytest.raises(TypeError):
        bc.equal(bc.array(dates), bc.array(spans))


def test_arange_of_a_named_stop():
    for given in ({"stop": 5}, {"stop": 5, "step": 2}, {"stop": 5, "dtype": "f4"}, {"start": 1, "stop": 5}):
        made, expected = bc.arange(**given), np.arange(**given)
        np.testing.assert_array_equal(made.get(), expected)
        assert made.dtype == expected.dtype
    with pytest.raises(TypeError, match="requires stop"):
        bc.arange()
    with pytest.raises(TypeError, match="requires stop"):
        bc.arange(dtype="f4")


def test_copy_modes_of_numpy():
    always, never, needed = np._CopyMode.ALWAYS, np._CopyMode.NEVER, np._CopyMode.IF_NEEDED
    a = bc.array([[1, 2], [3, 4]])
    assert bc.asarray(a, copy=needed) is a and bc.asarray(a, copy=never) is a and bc.asarray(a, copy=always) is not a
    assert bc.array(a, copy=needed) is a and bc.array([1, 2], copy=needed).tolist() == [1, 2]
    with pytest.raises(ValueError, match="Unable to avoid copy"):
        bc.array([1, 2], copy=never)
    for mode in (always, never, needed):
        with pytest.raises(ValueError, match="_CopyMode enum is not allowed for astype"):
            a.astype("f8", copy=mode)
    assert a.T.reshape(4, copy=needed).tolist() == [1, 3, 2, 4]
    for call in (lambda: a.T.reshape(4, copy=never), lambda: bc.reshape(a.T, 4, copy=never)):
        with pytest.raises(ValueError, match="Unable to avoid"):
            call()
    b = bc.array([np.nan])
    assert bc.nan_to_num(b, copy=needed) is b and b.tolist() == [0.0]


def test_no_difference_is_what_was_given():
    a, numbers = bc.array([1, 2, 4]), [1, 2, 4]
    assert bc.diff(a, 0) is a and bc.diff(a, n=0, axis=5) is a
    assert bc.diff(numbers, n=0) is numbers and bc.diff(3, 0) == 3
    assert bc.diff(np.array(numbers), 0).tolist() == numbers


# ---- Selections, sorts and sums of few elements, which are made at once -----------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["i4", "i8", "f4", "f8"])
@pytest.mark.parametrize("n", [2, 3, 31, 256, 257])
def test_few_elements_are_sorted(dtype, n):
    a = np.random.default_rng(n).integers(-9, 9, n).astype(dtype)
    if a.dtype.kind == "f":
        a[:: max(n // 3, 2)] = np.nan
    for host, ours in ((a, bc.asarray(a)), (a[::-2], bc.asarray(a)[::-2])):
        assert_array_equal(bc.asnumpy(bc.sort(ours)), np.sort(host))
        assert_array_equal(bc.asnumpy(bc.argsort(ours)), np.argsort(host, kind="stable"))
        k = len(host) // 2
        assert bc.asnumpy(bc.partition(ours, k))[k] == np.partition(host, k)[k] or np.isnan(np.partition(host, k)[k])
    ours = bc.asarray(a)
    view = ours[::-1]
    ours.sort()
    assert_array_equal(bc.asnumpy(ours), np.sort(a))
    assert_array_equal(bc.asnumpy(view), np.sort(a)[::-1])


def test_zeros_of_both_signs_are_sorted_as_by_kernels():
    a = np.array([0.0, -0.0, 1.0, -0.0, 0.0])
    recorded = bc.sort(bc.asarray(np.tile(a, (1, 1))), axis=1)[0]
    assert_array_equal(np.signbit(bc.asnumpy(bc.sort(bc.asarray(a)))), np.signbit(bc.asnumpy(recorded)))


@pytest.mark.parametrize("n, k", [(1, 1), (5, 3), (3, 5), (40, 31), (40, 32), (1000, 4)])
@pytest.mark.parametrize("types", ["ff", "ii", "if", "fi"])
@pytest.mark.parametrize("mode", ["full", "same", "valid"])
def test_convolutions_of_two_types_and_of_views(n, k, types, mode):
    random = np.random.default_rng(n + k)
    a, v = ((random.integers(-9, 9, m).astype("f8" if t == "f" else "i8")) for m, t in zip((n, k), types, strict=True))
    for name in ("convolve", "correlate"):
        want = getattr(np, name)(a, v, mode)
        for x, y in ((bc.asarray(a), bc.asarray(v)), (bc.asarray(np.repeat(a, 2))[::2], bc.asarray(v[::-1].copy())[::-1])):
            made = getattr(bc, name)(x, y, mode)
            assert made.dtype == want.dtype
            assert_array_equal(bc.asnumpy(made), want)


def test_masks_of_matrices_select_and_store():
    a = np.arange(12.0).reshape(3, 4)
    mask = a % 3 == 0
    ours, on = bc.asarray(a), bc.asarray(mask)
    assert_array_equal(bc.asnumpy(ours[on]), a[mask])
    assert_array_equal(bc.asnumpy(ours.T[on.T]), a.T[mask.T])
    ours[on] = -1.0
    a[mask] = -1.0
    assert_array_equal(bc.asnumpy(ours), a)
    ours[on] = bc.arange(4.0)
    a[mask] = np.arange(4.0)
    assert_array_equal(bc.asnumpy(ours), a)
    with pytest.raises(IndexError):
        ours[bc.asarray(mask[:2])]


@pytest.mark.parametrize("n", [1, 5, 300, 5000])
def test_place_writes_values_in_turn(n):
    a = np.arange(float(n))
    mask = a % 2 == 0
    for values in ([7.0], [1.0, 2.0, 3.0]):
        ours, host = bc.asarray(a), a.copy()
        seen = ours[:]
        bc.place(ours, bc.asarray(mask), values)
        np.place(host, mask, values)
        assert_array_equal(bc.asnumpy(ours), host)
        assert_array_equal(bc.asnumpy(seen), host)
    grid, host = bc.zeros((2, 3)), np.zeros((2, 3))
    bc.place(grid, bc.asarray(np.eye(2, 3) > 0), [1.0, 2.0])
    np.place(host, np.eye(2, 3) > 0, [1.0, 2.0])
    assert_array_equal(bc.asnumpy(grid), host)
    with pytest.raises(ValueError, match="empty"):
        bc.place(bc.ones(2), bc.asarray([True, False]), [])
    with pytest.raises(ValueError, match="read-only"):
        bc.place(bc.broadcast_to(bc.ones(1), (2,)), bc.asarray([True, False]), [1.0])


@pytest.mark.parametrize("n", [1, 7, 8, 9, 1000, 20_000])
def test_bits_are_packed_and_unpacked(n):
    b = np.random.default_rng(n).integers(0, 256, n).astype("u1")
    for host, ours in ((b, bc.asarray(b)), (b[::-1], bc.asarray(b)[::-1]), (b > 128, bc.asarray(b > 128))):
        assert_array_equal(bc.asnumpy(bc.packbits(ours)), np.packbits(host))
    assert_array_equal(bc.asnumpy(bc.unpackbits(bc.asarray(b))), np.unpackbits(b))
    assert_array_equal(bc.asnumpy(bc.unpackbits(bc.asarray(b)[::3])), np.unpackbits(b[::3]))


@pytest.mark.parametrize("n", [3, 400])
def test_times_change_units_and_are_added_and_compared(n):
    days = np.arange(-n * 40, n * 40, 80).astype("M8[D]")
    days[0] = "NaT"
    ours = bc.asarray(days)
    for unit in ("Y", "M", "3M", "h", "W", "s"):
        assert_array_equal(bc.asnumpy(ours.astype(f"M8[{unit}]")), days.astype(f"M8[{unit}]"))
    months = bc.asarray(days.astype("M8[M]"))
    assert_array_equal(bc.asnumpy(months.astype("M8[D]")), days.astype("M8[M]").astype("M8[D]"))
    later = np.roll(days, 1)
    for f in (np.subtract, np.less, np.less_equal, np.equal, np.not_equal, np.greater, np.greater_equal):
        made = getattr(bc, f.__name__)(ours, bc.asarray(later))
        assert made.dtype == f(days, later).dtype
        assert_array_equal(bc.asnumpy(made), f(days, later))
    assert_array_equal(bc.asnumpy(ours + 5), days + 5)
    assert_array_equal(bc.asnumpy(5 + ours), 5 + days)
    assert_array_equal(bc.asnumpy(ours - ours[1]), days - days[1])
    assert_array_equal(bc.asnumpy(ours[1] < ours), days[1] < days)
    assert_array_equal(bc.asnumpy(ours + np.timedelta64(3, "h")), days + np.timedelta64(3, "h"))


def test_indices_of_plain_numbers():
    for at, shape in ((5, (3, 4)), (0, (1,)), (23, (2, 3, 4))):
        made = bc.unravel_index(at, shape)
        assert tuple(map(int, made)) == np.unravel_index(at, shape) and all(m.dtype == np.int64 for m in made)
        flat = bc.ravel_multi_index(tuple(map(int, made)), shape)
        assert int(flat) == at and flat.dtype == np.int64
    for bad in (12, -1):
        with pytest.raises(ValueError):
            bc.unravel_index(bad, (3, 4))
    with pytest.raises(ValueError):
        bc.ravel_multi_index((3, 0), (3, 4))


def test_products_by_einsum_of_two_arrays():
    a, b = np.arange(6.0).reshape(2, 3), np.arange(12.0).reshape(3, 4)
    x, y = bc.asarray(a), bc.asarray(b)
    for text, first, second in (
        ("ij,jk->ik", "ab", "ab"),
        ("ij,jk", "ab", "ab"),
        ("ij,ij->", "aa", "aa"),
        (" ij , kl -> ijkl", "ab", "ab"),
    ):
        pair = (a, b) if second == "ab" else (a, a)
        ours = (x, y) if first == "ab" else (x, x)
        assert_array_equal(bc.asnumpy(bc.einsum(text, *ours)), np.einsum(text, *pair))
    with pytest.raises(ValueError):
        bc.einsum("ij,jk->ik", x, x)


@pytest.mark.parametrize("dtype", ["float64", "float32", "int64", "complex128"])
def test_products_of_short_vectors_are_those_of_kernels(dtype):
    rng = np.random.default_rng(2)
    for n in (1, 5, 31, 32, 33, 200, 1000, 1024, 1025, 5000, 16385, 65537, 100_003, 1 << 17):
        x, y = ((rng.normal(size=n) * 100).astype(dtype) for _ in range(2))
        if dtype == "complex128":
            x, y = x + 1j * rng.normal(size=n), y - 2j
        a, b = bc.array(x, device="cpu"), bc.array(y, device="cpu")
        for product in (lambda a=a, b=b: a.dot(b), lambda a=a, b=b: a @ b, lambda a=a, b=b: bc.vdot(a, b), lambda a=a, b=b: bc.inner(a, b)):
            now, recorded = both(product)
            assert now.dtype == recorded.dtype == dtype
            np.testing.assert_array_equal(now, recorded)
        np.testing.assert_allclose(a.dot(b).get(), x.dot(y), rtol=1e-4, atol=1e-2)


def test_products_of_vectors_that_are_not_computed_wait(capsys):
    a = bc.arange(10_000, dtype="float64", device="cpu")
    a.item(0)
    product = (a + 1) @ a
    bc.show_source(product)
    assert "rows_add_multiply_sum" in capsys.readouterr().out
    assert product.item() == float(np.dot(np.arange(10_000) + 1.0, np.arange(10_000)))


def test_functions_of_numbers_alone():
    for name, args in [("sqrt", (2.0,)), ("abs", (-3,)), ("sin", (0.5,)), ("add", (2, 3)), ("divide", (1, 4)), ("less", (2, 2.5)),
                       ("floor_divide", (7, 2)), ("multiply", (2**62, 2)), ("maximum", (1, 2.5)), ("logical_and", (1, 0)),
                       ("hypot", (3, 4)), ("equal", (2**53 + 1, 2**53)), ("sqrt", (2,)), ("bitwise_and", (6, 3))]:  # fmt: skip
        now, theirs = getattr(bc, name)(*args), getattr(np, name)(*args)
        assert now.dtype == theirs.dtype and now.shape == (), name
        np.testing.assert_array_equal(now.get(), theirs)
    with pytest.raises(TypeError):
        bc.bitwise_and(1.0, 2)


@pytest.mark.parametrize("dtype", ["float64", "float32", "int64", "int32", "bool", "int8", "complex128"])
def test_few_elements_are_joined_repeated_and_filled(dtype):
    host = np.arange(24).astype(dtype)
    for shape, axis in [((24,), 0), ((4, 6), 0), ((4, 6), 1), ((2, 3, 4), 1), ((4, 6), -1), ((0, 6), 0), ((24, 1), 1)]:
        x = host[: int(np.prod(shape))].reshape(shape)
        a = bc.array(x, device="cpu")
        np.testing.assert_array_equal(bc.concatenate([a, a, a], axis).get(), np.concatenate([x, x, x], axis))
        np.testing.assert_array_equal(bc.concatenate([a, a.T.copy().T], axis).get(), np.concatenate([x, x], axis))
    a = bc.array(host, device="cpu")
    np.testing.assert_array_equal(bc.concatenate([a[::3], a[:0], a[::-1]]).get(), np.concatenate([host[::3], host[::-1]]))
    for part in (slice(None), slice(None, None, -5), slice(0, 0)):
        for count in (0, 1, 3):
            np.testing.assert_array_equal(a[part].repeat(count).get(), host[part].repeat(count))
    for value in (0, 1, True):
        assert bc.full(7, value, dtype).get().tolist() == np.full(7, value, dtype).tolist()
    with pytest.raises(ValueError, match="negative"):
        a.repeat(-1)


def test_few_keys_and_values_are_sorted_and_found():
    rng = np.random.default_rng(3)
    for n in (1, 2, 9, 40, 70):
        x, y = rng.integers(0, 4, n), rng.choice([0.0, 1.0, -2.0, np.nan, np.inf], n)
        a, b = bc.array(x, device="cpu"), bc.array(y, device="cpu")
        for keys, theirs in [((a, b), (x, y)), ((b, a), (y, x)), ((b, b[::-1], a), (y, y[::-1], x))]:
            np.testing.assert_array_equal(bc.lexsort(keys).get(), np.lexsort(theirs))
        for values, host in ((a, x), (b, y)):
            np.testing.assert_array_equal(bc.unique(values).get(), np.unique(host))
            for ours, known in zip(bc.unique(values, return_counts=True), np.unique(host, return_counts=True), strict=True):
                np.testing.assert_array_equal(ours.get(), known)
            np.testing.assert_array_equal(bc.unique_values(values).get(), np.sort(np.unique_values(host)))
            for side in ("left", "right"):
                np.testing.assert_array_equal(
                    bc.searchsorted(bc.sort(values), values, side).get(), np.searchsorted(np.sort(host), host, side)
                )
    for bins in ([0.0, 1.0, 2.5, 4.0], [4.0, 2.5, 1.0], [1.0], [2, 2, 2], list(range(300)), list(range(300))[::-1]):
        values = [0.2, 6.4, 3.0, 1.0, 2.5]
        np.testing.assert_array_equal(bc.digitize(bc.array(values), bc.array(bins)).get(), np.digitize(values, bins))
    for bins in ([1.0, 3.0, 2.0], [1.0, np.nan, 2.0], [*range(300), 5]):
        with pytest.raises(ValueError, match="monotonic"):
            bc.digitize(bc.array([1.0]), bc.array(bins))


def test_few_places_are_taken_changed_and_stored():
    for dtype in ("float64", "float32", "int64", "complex128", "uint8"):
        host, at = np.arange(10).astype(dtype), np.array([1, 2, 3, 2, -1])
        a, places = bc.array(host, device="cpu"), bc.array(at, device="cpu")
        np.testing.assert_array_equal(a.take(places).get(), host.take(at))
        for name, value in [("add", 1), ("multiply", 3), ("subtract", 2), ("maximum", 5)]:
            getattr(np, name).at(host, at, value)
            getattr(bc, name).at(a, places, value)
            np.testing.assert_array_equal(a.get(), host)
        np.add.at(host, at, host[5:])
        bc.add.at(a, places, a[5:])
        np.testing.assert_array_equal(a.get(), host)
    z, w = bc.zeros(6, device="cpu"), np.zeros(6)
    few = np.array([4, 2, 3, 2])
    z[bc.array(few, device="cpu")] = bc.array(few, device="cpu")
    w[few] = few
    np.testing.assert_array_equal(z.get(), w)
    z[1:5] = bc.array(few, device="cpu")[::-1]
    w[1:5] = few[::-1]
    np.testing.assert_array_equal(z.get(), w)
    z[z > 2.5] = bc.array([7], device="cpu")
    w[w > 2.5] = 7
    np.testing.assert_array_equal(z.get(), w)
    np.testing.assert_array_equal(z[z > 5].get(), w[w > 5])


def test_elements_compare_as_numbers():
    x = np.array([3.0, -1.0, np.nan, 2.0, 3.0])
    a = bc.array(x, device="cpu")
    for p, u in zip(a, x, strict=True):
        for q, v in zip(a, x, strict=True):
            for compare in (operator.lt, operator.le, operator.eq, operator.ne, operator.gt, operator.ge):
                found = compare(p, q)
                assert found.dtype == bool and bool(found) == compare(u, v)
    i = bc.array([5, 3, 5, 9], device="cpu")
    assert sorted(int(v) for v in set(i)) == [3, 5, 9] and int(max(i)) == 9 and [int(v) for v in sorted(i)] == [3, 5, 5, 9]


def test_bytes_as_arrays():
    raw = np.arange(5.0).tobytes()
    for dtype in (float, "int64", "uint8", "float32", "complex128"):
        if len(raw) % np.dtype(dtype).itemsize:
            with pytest.raises(ValueError):
                bc.frombuffer(raw, dtype)
            continue
        made = bc.frombuffer(raw, dtype)
        assert not made.flags.writeable and made.dtype == dtype
        np.testing.assert_array_equal(made.get(), np.frombuffer(raw, dtype))
    made = bc.frombuffer(bytes([0, 1, 2]), bool)
    assert made.get().tolist() == [False, True, True] and int(made.sum()) == 2


def test_lists_of_few_places():
    host = np.arange(10.0)
    a = bc.array(host, device="cpu")
    for at in ([1, 2, 3], [-1, 0, -10], [4], [2] * 64, [2] * 65):
        np.testing.assert_array_equal(a[at].get(), host[at])
        np.testing.assert_array_equal(
            a[::-2][at[:1]].get() if abs(at[0]) < 5 else host[:0], host[::-2][at[:1]] if abs(at[0]) < 5 else host[:0]
        )
    for at in ([10], [-11], [2**70]):
        with pytest.raises((IndexError, OverflowError)):
            a[at]
    assert a[[True] * 5 + [False] * 5].get().tolist() == [0, 1, 2, 3, 4]


def test_short_names_of_dtypes():
    for name in "f8 f4 f2 i8 i4 i2 i1 u1 u2 u4 u8 c8 c16 d f int ? b B l q D F b1 e h".split():
        assert bc.zeros(2, name).dtype == np.dtype(name), name
    with pytest.raises(TypeError):
        bc.zeros(2, "x3")


def test_few_elements_are_sorted_and_filled_in_place():
    for host in (
        np.array([3.0, -1.0, np.nan, 2.0, np.inf]),
        np.array([5, 1, 4, 4]),
        np.array([0.0, -0.0, 1.0, -0.0]),
        np.array([7, 0, 255], "u1"),
    ):
        a = bc.array(host, device="cpu")
        view, before = a[1:], a.copy()
        view.sort()
        host[1:].sort()
        np.testing.assert_array_equal(a.get(), host)
        a[::-2].sort()
        host[::-2].sort()
        np.testing.assert_array_equal(a.get(), host)
        np.testing.assert_array_equal(bc.sort(before).get(), np.sort(before.get()))
    a = bc.arange(4.0, device="cpu")[::-1].copy()
    twice = a * 2
    a.sort()
    assert twice.tolist() == [6.0, 4.0, 2.0, 0.0] and a.tolist() == [0.0, 1.0, 2.0, 3.0]
    z = bc.ones(1000, device="cpu")
    z.fill(2.5)
    z[::2] = 1
    assert z.tolist() == [1.0, 2.5] * 500


def test_numpys_float64_beside_arrays():
    three = np.float64(3.0)
    for dtype in ("float64", "complex128", "float32", "float16", "int64", "int8", "bool"):
        host = np.array([1, 0, 1]).astype(dtype)
        a = bc.array(host, device="cpu")
        for f in (operator.add, operator.mul, operator.truediv, operator.sub, operator.lt, operator.eq, operator.pow):
            if dtype == "complex128" and f is operator.lt:
                continue
            for pair, theirs in (((a, three), (host, three)), ((three, a), (three, host))):
                with np.errstate(all="ignore"):
                    ours, expected = f(*pair), f(*theirs)
                assert ours.dtype == expected.dtype, (dtype, f)
                np.testing.assert_allclose(ours.get(), expected, rtol=1e-3)
    with pytest.raises(TypeError):
        bc.array([1.0]) << three


def test_arrays_that_are_arrays_already():
    a = bc.arange(6.0, device="cpu").reshape(2, 3)
    assert bc.asarray(a) is a and bc.ascontiguousarray(a) is a
    assert bc.ascontiguousarray(a.T) is not a and bc.ascontiguousarray(a.T).flags.c_contiguous
    element = a[0, 1]
    assert bc.asarray(element) is not element and bc.ascontiguousarray(bc.array(2.0)).shape == (1,)
    assert bc.asarray(a, "float32").dtype == np.float32


def test_usual_einsums():
    rng = np.random.default_rng(5)
    for dtype in ("float64", "int32", "complex128", "float16"):
        x, m = (rng.normal(size=5) * 9).astype(dtype), (rng.normal(size=(5, 5)) * 9).astype(dtype)
        a, b = bc.array(x, device="cpu"), bc.array(m, device="cpu")
        for text, ours, theirs in [
            ("i,i->", (a, a), (x, x)),
            ("i,i", (a, a), (x, x)),
            ("ij,jk->ik", (b, b.T), (m, m.T)),
            ("ij,jk", (b, b), (m, m)),
        ]:
            made, expected = bc.einsum(text, *ours), np.einsum(text, *theirs)
            assert made.dtype == expected.dtype and made.shape == expected.shape
            np.testing.assert_allclose(made.get(), expected, rtol=3e-2 if dtype == "float16" else 1e-9)
    with pytest.raises(ValueError):
        bc.einsum("i,i->", bc.ones(3), bc.ones(4))
    assert bc.einsum("i,i->", bc.ones(1), bc.ones(4)).get() == 4


def test_views_of_several_axes_are_stored_into_and_read():
    """At once where they have few elements; by kernels and at once the values are the same."""
    rng = np.random.default_rng(5)
    boxes = [np.s_[1:3, 2:5], np.s_[:, 1:4, 2], np.s_[::-1, ::2], np.s_[2:2, :], np.s_[..., 0], np.s_[None, 1:3, :, 1], np.s_[4:0:-2]]
    for _ in range(200):
        a = rng.integers(-9, 9, (5, 6, 3)).astype(rng.choice(["float64", "float32", "int64", "int8", "complex128", "bool"]))
        box = boxes[rng.integers(len(boxes))]
        shape = a[box].shape
        number = bool(rng.integers(2)) if a.dtype == bool else int(rng.integers(-9, 9))
        full = np.asarray(rng.integers(0, 2, shape), dtype=a.dtype)
        value = [number, full, full[:1], np.asarray(number, dtype=a.dtype)][rng.integers(4)]

        def store(a=a, box=box, value=value):
            x = bc.array(a, device="cpu")
            bc.synchronize()
            x[box] = bc.array(value, device="cpu") if isinstance(value, np.ndarray) else value
            return x

        want = a.copy()
        try:
            want[box] = value
        except ValueError:
            with pytest.raises(ValueError):
                store()
            continue
        now, recorded = both(store)
        assert_array_equal(now, want)
        assert_array_equal(recorded, want)
        assert store()[box].tolist() == want[box].tolist()
    x = bc.array(np.arange(24.0).reshape(4, 6), device="cpu")
    bc.synchronize()
    x[1:3, 1:4] = x[0:2, 2:5]  # overlaps itself
    want = np.arange(24.0).reshape(4, 6)
    want[1:3, 1:4] = want[0:2, 2:5].copy()
    assert_array_equal(x.get(), want)
    wide = bc.broadcast_to(bc.array([1.0, 2.0], device="cpu"), (3, 2))
    with pytest.raises(ValueError, match="read-only"):
        wide[:, 0] = 5.0


@pytest.mark.parametrize("computed", [True, False])
def test_many_short_arrays_become_one(computed):
    parts = [np.array([k, k + 0.5, -k]) for k in range(300)]
    ours = [bc.array(p, device="cpu") * 1 for p in parts]
    if computed:
        bc.synchronize()
    assert_array_equal(bc.array(ours).get(), np.array(parts))
    assert_array_equal(bc.vstack(ours).get(), np.vstack(parts))
    assert_array_equal(bc.concatenate(ours).get(), np.concatenate(parts))
    assert_array_equal(bc.stack([o[::-2] for o in ours], axis=1).get(), np.stack([p[::-2] for p in parts], axis=1))
    assert bc.array(ours[:40] + [bc.arange(3, device="cpu")]).dtype == np.float64
    with pytest.raises(ValueError):
        bc.array([*ours, bc.zeros(2, device="cpu")])


def test_products_of_vectors_with_steps():
    m = np.random.default_rng(2).random((40, 7))
    x = bc.array(m, device="cpu")
    bc.synchronize()
    for i, j in ((0, 3), (2, 2), (6, 1)):
        now, recorded = both(lambda i=i, j=j: x[:, i] @ x[::-1, j])
        np.testing.assert_allclose(now, m[:, i] @ m[::-1, j], rtol=1e-14)
        assert_array_equal(now, recorded)


def test_points_in_lists_are_interpolated():
    assert float(bc.interp(1.5, [1, 2, 3], (1, 2, 3.5))) == 1.5
    assert_array_equal(bc.interp([0, 2.5, 9], [1, 2, 3], [3, 2, 0]).get(), [3, 1, 0])
    assert complex(bc.interp(1.5, [1, 2], [1j, 2])) == 1 + 0.5j
    with pytest.raises(ValueError):
        bc.interp(1.5, [1, 2, 3], [1, 2])


def test_places_of_numbers_on_the_cpu():
    x = bc.array([[5, 2], [8, 1]], device="cpu")
    for k in (x.argmin(), np.int64(3), 3):
        assert tuple(map(int, bc.unravel_index(k, (2, 2)))) == (1, 1)
    with pytest.raises(ValueError):
        bc.unravel_index(x.argmin(), (2, 1))


ROWS = "add subtract multiply divide power maximum fmin less equal logical_and hypot arctan2 floor_divide remainder copysign bitwise_xor"
ROWS_OF_ONE = "negative sqrt exp sin isnan sign floor absolute reciprocal invert logical_not conjugate square"
DTYPES = ["float64", "float32", "int64", "int32", "int8", "uint8", "uint64", "bool", "complex128", "complex64", "float16"]


def test_rows_over_few_elements_are_those_of_kernels_and_numpys():
    """Random rows, dtypes, shapes that are broadcast, steps, Python numbers and outputs: computed at once, by kernels, and by NumPy."""
    rng = np.random.default_rng(11)
    shapes = [(5,), (1,), (), (4, 5), (4, 1), (1, 5), (0, 5), (3, 4, 5), (300,)]
    done = 0

    def operand():
        a = rng.integers(-3, 4, shapes[rng.integers(len(shapes))]).astype(rng.choice(DTYPES))
        if a.dtype.kind in "fc" and rng.random() < 0.3:
            a = a * a.dtype.type(0.7)
        if a.ndim and rng.random() < 0.3:
            a = a[::-1] if rng.random() < 0.5 else a.T
        return a

    def number():
        return [3, -2, 0.5, True, 2.0, 1j][rng.integers(6)]

    for _ in range(1500):
        two = rng.random() < 0.75
        name = str(rng.choice((ROWS if two else ROWS_OF_ONE).split()))
        args = [operand() for _ in range(1 + two)]
        if two and rng.random() < 0.3:
            args[rng.integers(2)] = number()
        with np.errstate(all="ignore"):
            try:
                want = getattr(np, name)(*args)
            except (TypeError, ValueError, OverflowError):
                continue
        ours = [bc.array(a, device="cpu") if isinstance(a, np.ndarray) else a for a in args]
        bc.synchronize()
        out = rng.random() < 0.2 and want.shape != ()
        start = np.zeros(want.shape, want.dtype)

        def call(name=name, ours=ours, out=out, start=start):
            place = bc.array(start, device="cpu")
            bc.synchronize()
            return getattr(bc, name)(*ours, out=place) if out else bc.asarray(getattr(bc, name)(*ours))

        now, recorded = both(call)
        assert now.dtype == recorded.dtype == want.dtype, (name, args)
        np.testing.assert_array_equal(now, recorded, err_msg=f"{name} {args}")
        if name == "power" and want.dtype.kind == "c":  # infinite results differ in signs from NumPy's
            continue
        loose = want.dtype.kind in "fc"
        np.testing.assert_allclose(now, want, rtol=1e-2 if want.dtype == np.float16 else 2e-6 if loose else 0, atol=1e-6 if loose else 0,
                                   err_msg=f"{name} {args}")  # fmt: skip
        done += 1
    assert done > 800


@pytest.mark.parametrize("shape", [(3,), (257,), (4096,), (4097,), (20, 24), (3, 40, 30), (0,), (2, 0)])
def test_masks_of_some_thousands_select_store_and_are_counted(shape):
    rng = np.random.default_rng(len(shape))
    x, mask = rng.normal(size=shape), rng.random(shape) < 0.4
    a, m = bc.array(x, device="cpu"), bc.array(mask, device="cpu")
    for made, expected in ((lambda: a[m], x[mask]), (lambda: a[a > 0.1], x[x > 0.1]), (lambda: bc.extract(m, a), np.extract(mask, x))):
        now, recorded = both(made)
        assert_array_equal(now, expected)
        assert_array_equal(now, recorded)
    assert int(bc.count_nonzero(m)) == np.count_nonzero(mask) and int(bc.count_nonzero(a)) == np.count_nonzero(x)
    assert bool(m.any()) == mask.any() and bool(m.all()) == mask.all()
    if len(shape) == 1:
        for dtype in ("f8", "f4", "i8", "i4", "i2", "u1", "?"):
            numbers = np.where(mask, x * 3, 0).astype(dtype)
            assert_array_equal(bc.nonzero(bc.array(numbers, device="cpu"))[0].get(), np.nonzero(numbers)[0])
            assert_array_equal(bc.nonzero(bc.array(numbers, device="cpu")[::-2])[0].get(), np.nonzero(numbers[::-2])[0])
        assert_array_equal(a.compress(m).get(), x.compress(mask))
        assert_array_equal(a.compress(m[: shape[0] // 2]).get(), x.compress(mask[: shape[0] // 2]))
    a[m] = -1.0
    x[mask] = -1.0
    a[a > 1] *= 2
    x[x > 1] *= 2
    assert_array_equal(a.get(), x)


@pytest.mark.parametrize("dtype", ["float64", "float32", "int64", "int32", "uint8", "bool"])
def test_few_elements_of_several_axes_are_reduced(dtype):
    x = (np.random.default_rng(4).normal(size=(3, 4, 5)) * 3).astype(dtype)
    for view in (np.s_[:], np.s_[1], np.s_[:, ::2], np.s_[..., ::-1], np.s_[1:, 1]):
        a, y = bc.array(x, device="cpu")[view], x[view]
        for name in ("argmax", "argmin", "max", "min", "any", "all"):
            now, recorded = both(lambda a=a, name=name: getattr(a, name)())
            assert_array_equal(now, getattr(y, name)())
            assert_array_equal(now, recorded)
            assert_array_equal(both(lambda a=a, name=name: getattr(a.T, name)())[0], getattr(y.T, name)())


def test_coordinates_of_few_indices():
    for shape in ((3, 4), (2, 3, 4), (7,), (1, 5, 1), (2, 0)):
        size = int(np.prod(shape))
        for index in (0, size - 1, size, -1, np.int64(2), [0, 1], [[1], [0]], [], [size], np.int32(1), 1.0, True):
            for more in ((), ("F",)):
                check_coordinates(index, shape, more)
                check_coordinates(bc.array(index, device="cpu"), shape, more)
    check_coordinates(5, 7, ())
    check_coordinates(5, [2, 3], ())
    x = bc.array(np.random.default_rng(2).random((5, 6)), device="cpu")
    assert tuple(map(int, bc.unravel_index(x.argmax(), x.shape))) == np.unravel_index(x.get().argmax(), x.shape)


def check_coordinates(index, shape, more):
    host = index.get() if isinstance(index, bc.ndarray) else index
    try:
        expected = np.unravel_index(host, shape, *more)
    except (TypeError, ValueError) as error:
        with pytest.raises(type(error)):
            bc.unravel_index(index, shape, *more)
        return
    made = bc.unravel_index(index, shape, *more)
    assert type(made) is tuple and len(made) == len(expected)
    for m, e in zip(made, expected, strict=True):
        assert_array_equal(m.get(), e)
        assert m.dtype == e.dtype and m.shape == np.shape(e)


def test_quantiles_of_one_number():
    rng = np.random.default_rng(5)
    for shape in ((1,), (2,), (9,), (1000,), (4, 6)):
        for dtype in ("f8", "f4", "f2", "i8", "i4", "u1", "?"):
            x = (rng.random(shape) * 9).astype(dtype)
            for q in (0, 1, 0.0, 1.0, 0.3, 0.5, 1 / 3, 0.999):
                for axis in (None, 0, -1):
                    check_quantile(x, q, axis)
    holes = rng.random((3, 7))
    holes[1, 2] = np.nan
    check_quantile(holes, 0.4, 1)
    for wrong in (-0.1, 1.5, float("nan")):
        with pytest.raises(ValueError, match="range"):
            bc.quantile(bc.ones(3), wrong)
    with pytest.raises(IndexError):
        bc.quantile(bc.ones(0), 0.5)


def check_quantile(x, q, axis):
    try:
        expected = np.quantile(x, q, axis=axis)
    except TypeError as error:
        with pytest.raises(type(error)):
            bc.quantile(bc.array(x, device="cpu"), q, axis=axis)
        return
    made = bc.quantile(bc.array(x, device="cpu"), q, axis=axis)
    assert_array_equal(made.get(), expected)
    assert made.dtype == expected.dtype and made.shape == np.shape(expected)


@pytest.mark.parametrize("to", ["bool", "int8", "int32", "int64", "uint8", "uint64", "float16", "float32", "float64", "complex64"])
def test_few_elements_are_cast_as_by_kernels(to):
    numbers = np.array([[0.0, 1.5, -2.5], [3.0, 100.75, -0.0]])
    for dtype in ("bool", "int8", "int32", "int64", "uint8", "uint64", "float16", "float32", "float64"):
        x = np.abs(numbers).astype(dtype) if dtype[0] == "u" or to[0] == "u" else numbers.astype(dtype)
        a = bc.array(x, device="cpu")
        repeated = bc.broadcast_to(a[1], (4, 3)), np.broadcast_to(x[1], (4, 3))
        for view, y in ((a, x), (a.T, x.T), (a[:, ::-2], x[:, ::-2]), (a[0], x[0]), repeated):
            now, recorded = both(lambda view=view: view.astype(to))
            assert_array_equal(now, y.astype(to))
            assert_array_equal(now, recorded)
            assert now.dtype == np.dtype(to) and view.astype(to).strides == y.astype(to).strides
        kept = a.astype(to)
        a[0, 0] = 1
        assert_array_equal(kept.get(), x.astype(to))


@pytest.mark.parametrize("text", ["convolve", "correlate"])
def test_short_convolutions_take_lists_and_arrays_alike(text):
    a = np.random.default_rng(1).normal(size=40)
    for x, y in (([1, 2, 3], [0, 1, 0.5]), (a, [1, 2, 3]), ([2.0, 1.0], a), (a, 3.0), ([1, 2], [3])):
        for mode in ("full", "same", "valid"):
            expected = getattr(np, text)(x, y, mode) if text == "convolve" or np.ndim(y) else None
            if expected is None:
                continue
            ours = getattr(bc, text)(bc.asarray(x) if x is a else x, bc.asarray(y) if y is a else y, mode)
            assert ours.dtype == expected.dtype
            np.testing.assert_allclose(ours.get(), expected, rtol=1e-13, atol=1e-15)


def test_bits_are_packed_from_integers_of_any_size():
    for bits in ([1, 0, 1], [0, 256, 0, 0, 3, 0, 0, 1, 1], np.array([1, 0, 2**33], np.int64), np.array([True, False])):
        given = bits if isinstance(bits, list) else bc.asarray(bits)
        np.testing.assert_array_equal(bc.packbits(given).get(), np.packbits(np.asarray(bits)))


def test_numbers_of_numpys_are_stored_and_index_as_pythons():
    a, b = bc.arange(6), np.arange(6)
    x, y = bc.arange(6.0), np.arange(6.0)
    for ints, floats in ((a, x), (b, y)):
        mask = ints % 2 == 0
        ints[mask] = np.int64(-3)
        floats[mask] = np.int64(7)
        floats[[1, 3]] = np.float64(0.5)
        ints[np.int64(-1)] = np.int64(2**62)
        floats[np.int64(5)] += 1
        with pytest.raises(IndexError):
            ints[np.int64(6)]
    np.testing.assert_array_equal(a.get(), b)
    np.testing.assert_array_equal(x.get(), y)
    assert float(x[np.int64(-1)]) == y[-1] and int(a[np.int64(1)]) == 1
    for small in (bc.zeros(3, dtype="int8"), np.zeros(3, dtype="int8")):
        small[small == 0] = np.int64(300)  # cast as an element of an array is
        assert small.tolist() == [44, 44, 44]


@pytest.mark.parametrize(
    "index", [[1, 3], [-1, 0, 0], [np.int64(2), 1], [True, False, True, False, True, False], [], [1.0], [6], ["a"], [2**70]]
)
@pytest.mark.parametrize("value", [7, 2.5, -1, [1, 2], [8], np.array([4, 5]), np.int64(3), 1j, 2**70])
def test_lists_of_indices_take_values_as_numpys_do(index, value):
    for dtype in ("int64", "float64", "uint8"):
        wanted, made = np.arange(6).astype(dtype), bc.arange(6).astype(dtype)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                wanted[index] = value
            except Exception as error:
                with pytest.raises((type(error), IndexError) if index == [6] else type(error)):  # both may be wrong
                    made[index] = bc.asarray(value) if isinstance(value, np.ndarray) else value
            else:
                made[index] = bc.asarray(value) if isinstance(value, np.ndarray) else value
        np.testing.assert_array_equal(made.get(), wanted)


ROW_INDICES = {
    "mask": np.array([True, False, True, True, False, False]),
    "no row": np.zeros(6, bool),
    "integers": np.array([4, -1, 0]),
    "twice": np.array([2, 2, 1]),
    "list": [1, -2],
    "one": np.array([3]),
}


@pytest.mark.parametrize("dtype", ["float64", "int32", "bool"])
@pytest.mark.parametrize("shape", [(6, 4), (6, 2, 3), (6, 1)])
@pytest.mark.parametrize("name", ROW_INDICES)
def test_rows_are_stored_as_numpys_are(name, shape, dtype):
    index = ROW_INDICES[name]
    mine = bc.asarray(index) if isinstance(index, np.ndarray) else index
    rng = np.random.default_rng(3)
    of_numpy = rng.integers(0, 9, shape).astype(dtype)
    picked = of_numpy[index]
    assert_same(bc.asarray(of_numpy)[mine], picked)
    assert_same(bc.asarray(of_numpy.T).T[mine], picked)
    values = [3, 2.5, True, picked, picked[::-1] + 1, of_numpy[0], of_numpy[0] * 0, np.array([7]), np.array(7.5), picked.astype("int8")]
    values += [picked[:, ::-1], rng.random((2, *shape[1:])), np.ones((1, *shape[1:])), np.ones((*picked.shape[:-1], 1))]
    for value in [*values, rng.random((1, *picked.shape))]:
        wanted, made = of_numpy.copy(), bc.asarray(of_numpy)
        view = made[1:3]
        given = bc.asarray(value) if isinstance(value, np.ndarray) else value
        try:
            wanted[index] = value
        except ValueError:
            with pytest.raises(ValueError):
                made[mine] = given
        else:
            made[mine] = given
        assert_array_equal(made.get(), wanted)
        assert_array_equal(view.get(), wanted[1:3])
    for base in (np.zeros((6, 8))[:, ::2], np.zeros((4, 6)).T):  # rows that do not lie side by side
        wanted, made = base.copy(order="K"), bc.asarray(base)
        wanted[index] = 5
        made[mine] = 5
        assert_array_equal(made.get(), wanted)
    wanted, made = of_numpy.copy(), bc.asarray(of_numpy)
    wanted[index] = wanted[::-1][index]
    made[mine] = made[::-1][mine]
    assert_array_equal(made.get(), wanted)
    if name == "integers":
        wanted[index] = wanted[:3]
        made[mine] = made[:3]  # of the same memory: all is read before anything is written
        assert_array_equal(made.get(), wanted)


def test_put_takes_places_of_the_flattened_array_and_not_rows():
    for shape in ((2, 2, 3), (6, 4)):
        wanted, made = np.zeros(shape), bc.zeros(shape)
        for x, lib in ((wanted, np), (made, bc)):
            lib.put(x, [-1, 1], 5.0)
            x.put([2], 7.0)
        assert_array_equal(made.get(), wanted)
        assert_array_equal(made.take([1, 2]).get(), wanted.take([1, 2]))


@pytest.mark.parametrize("dtype", ["int32", "int64"])
def test_index_arrays_around_the_host_paths_limit(dtype):
    rng = np.random.default_rng(4)
    host = rng.random(100)
    for n in (255, 256, 257, 2047, 2048, 2049):
        at = rng.integers(-100, 100, n).astype(dtype)
        x, i = bc.array(host, device="cpu"), bc.array(at, device="cpu")
        np.testing.assert_array_equal(x[i].get(), host[at])
        np.testing.assert_array_equal(x[::2][i // 2].get(), host[::2][at // 2])
        np.testing.assert_array_equal(x.take(i).get(), host.take(at))
        np.testing.assert_array_equal(x[::-1].reshape(50, 2)[i // 2].get(), host[::-1].reshape(50, 2)[at // 2])
        stored = host.copy()
        stored[at] = 7.5
        x[i] = 7.5
        np.testing.assert_array_equal(x.get(), stored)
        values = np.arange(float(n))
        stored[at] = values
        x[i] = bc.array(values, device="cpu")
        np.testing.assert_array_equal(x.get(), stored)
        with pytest.raises(IndexError):
            x[bc.array(np.append(at, 100).astype(dtype), device="cpu")].get()


def test_unique_of_few_elements_that_are_pending():
    host = np.arange(81.0).reshape(9, 9) % 7
    x = bc.array(host, device="cpu")
    for part in (np.s_[3:6, 3:6], np.s_[:, 2], np.s_[::2, ::3]):
        np.testing.assert_array_equal(bc.unique(x[part]).get(), np.unique(host[part]))
        np.testing.assert_array_equal(bc.unique(x[part] * 2 - 1).get(), np.unique(host[part] * 2 - 1))
        values, counts = bc.unique(x[part] + 0, return_counts=True)
        want = np.unique(host[part], return_counts=True)
        np.testing.assert_array_equal(values.get(), want[0])
        np.testing.assert_array_equal(counts.get(), want[1])


@pytest.mark.parametrize("dtype", ["uint16", "int32", "int64", "uint64"])
def test_counts_of_large_numbers(dtype):
    rng = np.random.default_rng(5)
    for largest in (4095, 4096, 5000, 32766, 32768, 65534, 65535):
        for n in (1, 30, 3000):
            host = rng.integers(0, largest, n, endpoint=True).astype(dtype)
            host[-1] = largest
            for least in (0, 7000, 70_000):
                for part in (slice(None), slice(None, None, -2)):
                    got = bc.bincount(bc.array(host, device="cpu")[part], minlength=least).get()
                    np.testing.assert_array_equal(got, np.bincount(host[part].astype("int64"), minlength=least))
