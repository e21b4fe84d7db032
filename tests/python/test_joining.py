"""Joining, splitting, repeating, padding; differences; products of other kinds. All against NumPy."""

from __future__ import annotations

import numpy as np
import pytest

from support import assert_like_numpy, assert_same, assert_ulp


def both(xp, *arrays):
    return [xp.asarray(a) for a in arrays]


def test_concatenate_and_stack(xp):
    a, b, c = np.arange(6).reshape(2, 3), np.arange(6.0).reshape(2, 3) + 0.5, np.arange(3, dtype=np.int8).reshape(1, 3)
    x, y, z = both(xp, a, b, c)
    for axis in (0, 1, -1, None):
        assert_same(xp.concatenate([x, y], axis=axis), np.concatenate([a, b], axis=axis))
    assert_same(xp.concatenate((x, z, y)), np.concatenate((a, c, b)))
    assert_same(xp.concat([x, z]), np.concatenate([a, c]))
    for axis in (0, 1, 2, -1):
        assert_same(xp.stack([x, y], axis=axis), np.stack([a, b], axis=axis))
    assert_same(xp.concatenate([x.T, (y + 1).T]), np.concatenate([a.T, (b + 1).T]))
    assert_same(xp.concatenate([x, y], dtype=xp.float32), np.concatenate([a, b], dtype=np.float32))
    out = xp.zeros((4, 3))
    assert xp.concatenate([x, y], out=out) is out
    assert_same(out, np.concatenate([a, b]))
    for bad in ([], [x, xp.zeros((2, 4))], [x, xp.zeros(3)], [xp.array(1), xp.array(2)]):
        with pytest.raises(ValueError):
            xp.concatenate(bad)
    with pytest.raises(ValueError):
        xp.stack([x, z])
    with pytest.raises(np.exceptions.AxisError):
        xp.concatenate([x, y], axis=2)


def test_stacks_by_name(xp):
    a, b = np.arange(3), np.arange(3) + 10
    m = np.arange(6).reshape(2, 3)
    x, y, k = both(xp, a, b, m)
    with pytest.raises(ValueError, match="one dimensional"):
        xp.insert(x, [[0, 1]], 5)
    for name in ("hstack", "vstack", "dstack", "column_stack"):
        assert_same(getattr(xp, name)((x, y)), getattr(np, name)((a, b)), name)
        assert_same(getattr(xp, name)([k, k]), getattr(np, name)([m, m]), name)
    assert_same(xp.append(x, [5, 6.5]), np.append(a, [5, 6.5]))
    assert_same(xp.append(k, k, axis=1), np.append(m, m, axis=1))


@pytest.mark.parametrize("cuts", [1, 3, 4, [2, 5], [0, 3, 3, 20], []])
def test_splits(xp, cuts):
    n = np.arange(24).reshape(12, 2)
    x = xp.asarray(n)
    for got, want in zip(xp.array_split(x, cuts), np.array_split(n, cuts), strict=True):
        assert_same(got, want)
    for got, want in zip(xp.split(x, cuts), np.split(n, cuts), strict=True):
        assert_same(got, want)
    for got, want in zip(xp.vsplit(x, cuts), np.vsplit(n, cuts), strict=True):
        assert_same(got, want)


def test_uneven_splits(xp):
    for got, want in zip(xp.array_split(xp.arange(7), 3), np.array_split(np.arange(7), 3), strict=True):
        assert_same(got, want)
    with pytest.raises(ValueError):
        xp.split(xp.arange(7), 3)
    with pytest.raises(ValueError):
        xp.split(xp.arange(7), 0)
    for got, want in zip(xp.hsplit(xp.arange(8), 2), np.hsplit(np.arange(8), 2), strict=True):
        assert_same(got, want)


def test_repeat_tile_roll_flip(xp):
    n = np.arange(6).reshape(2, 3)
    x = xp.asarray(n)
    for axis in (None, 0, 1):
        assert_same(xp.repeat(x, 3, axis), np.repeat(n, 3, axis))
    assert_same(xp.repeat(x, [1, 0, 2], 1), np.repeat(n, [1, 0, 2], 1))
    for reps in (2, (2, 3), (2, 1, 2), (), 0):
        assert_same(xp.tile(x, reps), np.tile(n, reps))
    for shift, axis in ((1, None), (-2, None), (1, 0), (4, 1), ((1, 2), (0, 1)), (1, (0, 1)), (0, 0)):
        assert_same(xp.roll(x, shift, axis), np.roll(n, shift, axis))
    for axis in (None, 0, 1, (0, 1)):
        assert_same(xp.flip(x, axis), np.flip(n, axis))
    assert_same(xp.roll(x * 2 + 1, 1, 1) - x, np.roll(n * 2 + 1, 1, 1) - n)


def test_moveaxis_squeeze_and_errors(xp):
    n = np.zeros((2, 1, 3, 1))
    x = xp.asarray(n)
    assert xp.moveaxis(x, [0, 2], [-1, 0]).shape == np.moveaxis(n, [0, 2], [-1, 0]).shape
    assert xp.squeeze(x).shape == (2, 3) and xp.squeeze(x, 1).shape == (2, 3, 1) and x.squeeze((1, 3)).shape == (2, 3)
    with pytest.raises(ValueError):
        xp.squeeze(x, 0)
    with pytest.raises(np.exceptions.AxisError):
        xp.moveaxis(x, 0, 9)
    with pytest.raises(np.exceptions.AxisError):
        xp.expand_dims(x, 9)
    with pytest.raises(ValueError):
        xp.transpose(x, (0, 1))
    with pytest.raises(ValueError):
        xp.broadcast_to(x, (2, 2, 3))
    assert xp.broadcast_shapes((2, 1), (3,), (1, 1)) == (2, 3)


@pytest.mark.parametrize("axis", [None, 0, 1])
def test_delete_and_insert(xp, axis):
    n = np.arange(12).reshape(3, 4)
    x = xp.asarray(n)
    for at in (1, [0, 2], slice(0, 2), -1):
        assert_same(xp.delete(x, at, axis), np.delete(n, at, axis), f"delete {at}")
    assert_same(xp.delete(x, [[0, 1], [1, 2]], axis), np.delete(n, [[0, 1], [1, 2]], axis))
    for at in (1, [2, 0], -1):
        assert_same(xp.insert(x, at, 99, axis), np.insert(n, at, 99, axis), f"insert {at}")
    if axis is not None:
        line = np.arange(n.shape[1 - axis]) + 50
        assert_same(xp.insert(x, 1, line, axis), np.insert(n, 1, line, axis))
        column = np.arange(n.shape[0])[:, None]
        for at in (1, [1], np.array([2])):
            assert_same(xp.insert(x, at, column, 1), np.insert(n, at, column, 1), f"a column at {at}")
    else:
        assert_same(xp.insert(x, [3, 1], [7, 8]), np.insert(n, [3, 1], [7, 8]))


@pytest.mark.parametrize("mode", ["constant", "edge", "reflect", "symmetric", "wrap"])
@pytest.mark.parametrize("width", [1, (2, 0), ((1, 2), (0, 3))])
def test_pad(xp, mode, width):
    n = np.arange(1, 13.0).reshape(3, 4)
    assert_same(xp.pad(xp.asarray(n), width, mode), np.pad(n, width, mode))
    if mode == "constant":
        assert_same(xp.pad(xp.asarray(n), width, constant_values=(7, 8)), np.pad(n, width, constant_values=(7, 8)))


def test_resize_and_trim(xp):
    n = np.arange(5)
    assert_same(xp.resize(xp.asarray(n), (3, 4)), np.resize(n, (3, 4)))
    assert_same(xp.resize(xp.asarray(n), 2), np.resize(n, 2))
    for a in (np.arange(6).reshape(2, 3), xp.arange(6).reshape(2, 3)):  # a view may take another shape, not another size
        a.resize((3, 2))
        a.resize()
        assert a.shape == (3, 2)
    with pytest.raises(ValueError, match="does not own"):
        a.resize((3, 3))
    assert_same(xp.trim_zeros(xp.array([0, 1, 0, 2, 0, 0])), np.array([1, 0, 2]))


def test_differences(xp):
    n = np.array([[1, 4, 9, 16], [2, 3, 5, 8]])
    x = xp.asarray(n)
    for k in (0, 1, 2):
        for axis in (0, 1) if k < 2 else (1,):
            assert_same(xp.diff(x, k, axis), np.diff(n, k, axis))
    assert_same(xp.diff(x, prepend=0, append=[[7], [8]]), np.diff(n, prepend=0, append=[[7], [8]]))
    assert_same(xp.diff(x > 3), np.diff(n > 3))
    assert_same(xp.ediff1d(x, to_end=[1], to_begin=0), np.ediff1d(n, to_end=[1], to_begin=0))
    assert_same(xp.trapezoid(x * 1.0, dx=0.5), np.trapezoid(n * 1.0, dx=0.5))
    assert_same(xp.trapezoid(x * 1.0, x=[0.0, 1, 3, 4]), np.trapezoid(n * 1.0, x=[0.0, 1, 3, 4]))
    f = np.array([[1.0, 4, 9, 16], [2, 3, 5, 8], [0, 1, 0, 1]])
    for order in (1, 2):
        for got, want in zip(xp.gradient(xp.asarray(f), 0.5, edge_order=order), np.gradient(f, 0.5, edge_order=order)):
            assert_ulp(got, want, 8)
    assert_ulp(xp.unwrap(xp.asarray([0.0, 3, 6.5, -1])), np.unwrap([0.0, 3, 6.5, -1]), 4)


def test_closeness(xp):
    a = np.array([1.0, 2.0, np.nan, np.inf, -np.inf, 0.0])
    b = np.array([1.0 + 1e-9, 2.1, np.nan, np.inf, np.inf, 1e-9])
    x, y = both(xp, a, b)
    assert_same(xp.isclose(x, y), np.isclose(a, b))
    assert_same(xp.isclose(x, y, equal_nan=True, rtol=0.1), np.isclose(a, b, equal_nan=True, rtol=0.1))
    assert xp.allclose(x[:1], y[:1]) is True and xp.allclose(x, y) is False
    assert xp.array_equal(x, x) is False and xp.array_equal(x, x, equal_nan=True) is True and xp.array_equal(x, x[:2]) is False
    assert xp.array_equiv([1, 2], [[1, 2], [1, 2]]) is True
    assert bool(xp.isclose(1, 1.0 + 1e-9))


def test_questions_about_types(xp):
    assert xp.iscomplexobj(xp.zeros(1, complex)) and xp.isrealobj(xp.zeros(1))
    assert xp.ndim(xp.zeros((2, 3))) == 2 and xp.shape([[1, 2]]) == (1, 2) and xp.size(xp.zeros((2, 3)), 0) == 2
    assert xp.finfo(xp.zeros(1, xp.float32)).eps == np.finfo(np.float32).eps and xp.finfo(xp.bfloat16).bits == 16
    assert xp.isdtype(xp.zeros(1).dtype, "real floating") and xp.isdtype(xp.bfloat16, "real floating")
    assert xp.common_type(xp.ones(1, int), xp.ones(1, xp.float32)) is np.float64


@pytest.mark.parametrize("where", [0, 5, -1, [1, 8], [2, 3, 4], slice(2, 30, 3), list(range(0, 60, 2)), np.arange(60) % 3 == 0])
def test_insert_and_delete_by_runs_and_by_positions(xp, where):
    a = np.arange(180).reshape(60, 3)
    x = xp.array(a)
    assert_same(xp.delete(x, where, axis=0), np.delete(a, where, axis=0))
    assert_same(xp.insert(x, where, -1, axis=0), np.insert(a, where, -1, axis=0))
    if not isinstance(where, np.ndarray):
        assert_same(xp.delete(x, where), np.delete(a, where))
        assert_same(xp.insert(x, where, 7), np.insert(a, where, 7))


def test_insert_and_delete_say_what_no_index_is(xp):
    x = xp.arange(3)
    with pytest.raises(ValueError, match="match the axis length of 3"):
        xp.delete(x, [True, False])
    for at in (1.0, np.array([1.0, 2.0])):
        with pytest.raises(IndexError, match="integer"):
            xp.delete(x, at)
        with pytest.raises(IndexError, match="integer"):
            xp.insert(x, at, 5)
    for name in ("hstack", "vstack", "dstack", "column_stack"):
        with pytest.raises(TypeError, match="sequence"):
            getattr(xp, name)(xp.arange(2) for _ in range(2))


@pytest.mark.parametrize("trim", ["fb", "f", "b", "BF"])
def test_zeros_are_trimmed_along_axes(xp, trim):
    a = np.zeros((5, 6), int)
    a[1:3, 2:5] = 4
    for array in (a, np.zeros((2, 3)), np.array(3)):
        assert_same(xp.trim_zeros(xp.array(array), trim), np.trim_zeros(array, trim))
    for axis in (0, 1, (1,), (-1, 0)):
        assert_same(xp.trim_zeros(xp.array(a), trim, axis=axis), np.trim_zeros(a, trim, axis=axis))
    assert xp.trim_zeros([0, 1, 0], trim) == np.trim_zeros([0, 1, 0], trim)
    with pytest.raises(ValueError, match="unexpected character"):
        xp.trim_zeros([0, 1], "x")


@pytest.mark.parametrize("shift", [2**100, -(2**100), 2**63, -(2**63), np.uint64(2**63), (2**100, 1), [1, 2**80]], ids=str)
def test_roll_by_any_integer(xp, shift):
    x = np.arange(15).reshape(3, 5)
    axes = ((0, 1), (1, 1)) if np.ndim(shift) else (None, 0, -1, (0, 1))
    for axis in axes:
        np.testing.assert_array_equal(
            np.asarray(xp.roll(xp.asarray(x), shift, axis)), np.roll(x, shift if np.ndim(shift) else int(shift), axis)
        )
    assert xp.roll(xp.zeros((0, 3)), shift, (0, 0) if np.ndim(shift) else 0).shape == (0, 3)


@pytest.mark.parametrize(
    "code",
    [
        "xp.concatenate([1, xp.ones(2, 'f4')], axis=None)",
        "xp.concatenate([1.5, xp.ones(2, 'i1')], axis=None)",
        "xp.concatenate([1j, xp.ones(2, 'f4')], axis=None)",
        "xp.concatenate([True, xp.ones(2, 'i1')], axis=None)",
        "xp.concatenate([300, xp.ones(2, 'i1')], axis=None)",
        "xp.concatenate([1, 2.5], axis=None)",
        "xp.concatenate([1, xp.ones(2, 'i1')], axis=None, dtype='f4')",
        "xp.concatenate(3, axis=None)",
        "xp.concatenate(xp.ones((2, 2), 'f4'), axis=None)",
        "xp.union1d(xp.ones(2, 'f4'), 2)",
        "xp.union1d(3, xp.ones(2, 'i1'))",
    ],
)
def test_numbers_are_weak_where_arrays_are_flattened(xp, code):
    assert_like_numpy(xp, code)


@pytest.mark.parametrize("where", [slice(2, 5), slice(None, 3), slice(-2, None), slice(5, 1, -1), slice(1, 5, -1), slice(None, None, 2)])
def test_delete_of_slices(xp, where):
    a = np.arange(42.0).reshape(6, 7)
    for axis in (None, 0, 1, -1):
        assert_same(xp.delete(xp.asarray(a), where, axis), np.delete(a, where, axis), (where, axis))
    with pytest.raises(ValueError, match="slice step cannot be zero"):
        xp.delete(xp.asarray(a), slice(0, 3, 0))
