"""Functions applied along axes, piecewise functions, blocks, broadcast iterators, packed bits."""

from __future__ import annotations

import numpy as np
import pytest

import broadcloth as bc
from support import assert_close_to_numpy


@pytest.mark.parametrize("axis", [0, 1, 2, -1, -2, 3])
def test_functions_along_axes(xp, axis):
    x = np.random.default_rng(0).random((3, 4, 5))
    for form in (
        "xp.apply_along_axis(lambda v: v.sum(), axis, x)",
        "xp.apply_along_axis(lambda v: v[::-1] * 2, axis, x)",
        "xp.apply_along_axis(lambda v, k, q=1: xp.diag(v) * k * q, axis, x, 3, q=2)",
        "xp.apply_along_axis(lambda v: 1, axis, x)",
        "xp.apply_along_axis(lambda v: v.sum(), axis, x[:0])",
        "xp.apply_over_axes(xp.sum, x, [0, axis])",
        "xp.apply_over_axes(xp.max, x, axis)",
        "xp.apply_over_axes(lambda a, i: a.sum(), x, axis)",
    ):
        assert_close_to_numpy(xp, form, 1e-13, x=x, axis=axis)


@pytest.mark.parametrize(
    "form",
    [
        "xp.piecewise(x, [x < 0, x >= 0], [-1, 1])",
        "xp.piecewise(x, [x < 0, x >= 0], [lambda v: -v, lambda v: v * 2])",
        "xp.piecewise(x, [x < 0], [lambda v: -v, 5])",
        "xp.piecewise(x, x < 0, [lambda v: -v])",
        "xp.piecewise(x, x < 0, [lambda v, k: -v, lambda v, k: v * k], 3)",
        "xp.piecewise(x, [x < 0, x > 1], [lambda v, k=1: -v * k, lambda v, k=1: v, 7], k=2)",
        "xp.piecewise(x, [x < 0, x > 1], [1])",
        "xp.piecewise(x, [x < 0], [1, 2, 3])",
        "xp.piecewise(x.astype(int), [x < 0, x > 1], [1.7, lambda v: v / 2])",
        "xp.piecewise(1.5, [True, False], [lambda v: v * 2, 0])",
        "xp.piecewise(x[3], [x[3] < 0, x[3] > 0], [1, 2])",
        "xp.piecewise(x[3], x[3] < 0, [1, 2])",
        "xp.piecewise(x, [x > 100], [lambda v: 1 / 0])",
        "xp.piecewise(x, [[True] * 13], [3, 4])",
        "xp.piecewise(x, [True] * 13, [3, 4])",
        "xp.piecewise(x.reshape(1, 13), [x.reshape(1, 13) < 0], [3, 4])",
        "xp.piecewise(x, [x < 0, x < 1, x < 2], [1, 2, 3])",
        "xp.piecewise(x, xp.asarray([x < 0, x > 1]), [1, 2])",
    ],
)
def test_piecewise(xp, form):
    assert_close_to_numpy(xp, form, x=np.linspace(-3, 3, 13))


@pytest.mark.parametrize(
    "form",
    [
        "xp.block([[a, b], [b.T, xp.zeros((3, 3))]])",
        "xp.block([a, b])",
        "xp.block([[a], [a]])",
        "xp.block([1, 2, 3])",
        "xp.block(5)",
        "xp.block(a)",
        "xp.block([])",
        "xp.block([[]])",
        "xp.block([a, (1, 2)])",
        "xp.block((a, b))",
        "xp.block([[a], a])",
        "xp.block([[1, [2]]])",
        "xp.block([[a, b], [a]])",
        "xp.block([[[1, 2], [3, 4]], [[5, 6], [7, 8]]])",
        "xp.block([[xp.arange(3)], [xp.arange(3) * 2]])",
        "xp.block([a.astype('f'), b.astype(int)])",
        "xp.block([a[0], 1])",
    ],
)
def test_block(xp, form):
    assert_close_to_numpy(xp, form, a=np.eye(2), b=np.ones((2, 3)))


def test_block_copies(xp):
    a = xp.arange(3)
    xp.block(a)[0] = 9
    assert a.tolist() == [0, 1, 2]
    with pytest.raises(ValueError, match=r"depth 3 \(arrays\[0\]\[1\]\[0\]\)"):
        xp.block([[1, [2]]])


def seen(m):
    b = m.broadcast(m.asarray([[1], [2]]), [3, 4, 5])
    told = [b.shape, b.size, b.nd, b.ndim, b.numiter, b.index, len(b.iters)]
    told += [tuple(map(int, next(b))), b.index, [tuple(map(int, t)) for t in b], b.index]
    b.reset()
    told += [b.index, [int(v) for v in b.iters[0]], m.broadcast(1, 2).shape, m.broadcast(3).size]
    for args in ([[1, 2], [1, 2, 3]], [[1]] * 65):
        with pytest.raises(ValueError):
            m.broadcast(*args)
    return told


def test_broadcast_iterates_as_numpys(xp):
    assert seen(xp) == seen(np)


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint8", "int16", "uint32", "int64"])
@pytest.mark.parametrize("order", ["big", "little"])
def test_packbits_matches_numpy(xp, dtype, order):
    x = np.random.default_rng(0).integers(0, 3, (7, 13)).astype(dtype)
    for axis in (None, 0, 1, -1, 2, -3):
        assert_close_to_numpy(xp, "xp.packbits(x, axis, order)", x=x, axis=axis, order=order)
        assert_close_to_numpy(xp, "xp.packbits(x.T[::2], axis=axis, bitorder=order)", x=x, axis=axis, order=order)


@pytest.mark.parametrize("order", ["big", "little"])
@pytest.mark.parametrize("axis", [None, 0, 1, -1, 5])
def test_unpackbits_matches_numpy(xp, order, axis):
    x = np.random.default_rng(0).integers(0, 256, (3, 4)).astype("B")
    for count in (None, 0, 1, 5, 8, 9, 40, 100, -1, -8, -1000, 2.5):
        assert_close_to_numpy(xp, "xp.unpackbits(x, axis, count, order)", x=x, axis=axis, count=count, order=order)


@pytest.mark.parametrize(
    "form",
    [
        "xp.packbits(xp.arange(3.0))",
        "xp.packbits([1, 0], bitorder='x')",
        "xp.packbits([1, 0], bitorder=3)",
        "xp.packbits([1, 0], bitorder='bogus')",
        "xp.packbits(a=[1])",
        *[f"xp.packbits(xp.zeros({shape}, dtype=bool), axis={axis})" for shape in ("0", "(0, 3)", "(3, 0)", "()") for axis in (None, 0)],
        *[f"xp.unpackbits(xp.zeros({shape}, dtype='B'), axis={axis})" for shape in ("0", "(0, 3)", "(2, 0)", "()") for axis in (None, 0)],
        "xp.unpackbits(xp.zeros(3, dtype='b'))",
        "xp.binary_repr(5)",
        "xp.binary_repr(-5)",
        "xp.binary_repr(xp.asarray(-5), 8)",
        "xp.binary_repr(-500, width=4)",
        "xp.binary_repr(2.5)",
        "xp.base_repr(255, 16)",
        "xp.base_repr(5, 37)",
        "xp.base_repr(-5, 3, padding=2)",
    ],
)
def test_forms_of_bits(xp, form):
    assert_close_to_numpy(xp, form)


def test_numpys_functions_give_our_arrays():
    a = bc.arange(4.0)
    for made in (
        np.histogram(a, 2)[0],
        np.convolve(a, a),
        np.interp(a, a, a),
        np.packbits(a > 1),
        np.piecewise(a, [a > 1], [1, 2]),
        np.block([a, a]),
        np.apply_along_axis(lambda v: v, 0, a),
        np.polyadd(a, a),
    ):
        assert isinstance(made, bc.ndarray)
