"""Where results lie in memory: NumPy's order 'K' and its kin, as shown by strides and flags."""

from __future__ import annotations

import numpy as np
import pytest

BASE = np.arange(1.0, 121.0).reshape(2, 3, 4, 5)

LAYOUTS = {
    "c": lambda x: x.reshape(5, 4, 6),
    "f": lambda x: x.reshape(6, 4, 5).T,
    "turned": lambda x: x.reshape(4, 6, 5).transpose(1, 2, 0),
    "swapped": lambda x: x.reshape(4, 5, 6).swapaxes(0, 1),
    "sliced": lambda x: x.reshape(6, 4, 5).T[::2, 1:],
    "reversed": lambda x: x.reshape(6, 4, 5).T[::-1, :, ::-1],
    "one": lambda x: x.reshape(6, 1, 20).T,
    "four": lambda x: x.transpose(3, 1, 0, 2),
    "flat": lambda x: x.reshape(120)[::-3],
    "number": lambda x: x.reshape(120)[7],
    "empty": lambda x: x.reshape(6, 4, 5).T[:, :0],
}


def made(xp, layout):
    return LAYOUTS[layout](xp.asarray(BASE)), LAYOUTS[layout](BASE)


def lies_alike(ours, theirs):
    """The strides of axes that have two elements or more, in elements."""
    assert ours.shape == theirs.shape
    assert ours.dtype == theirs.dtype
    if theirs.size == 0:
        return
    seen = [(n, a // ours.itemsize, b // theirs.itemsize) for n, a, b in zip(theirs.shape, ours.strides, theirs.strides) if n > 1]
    assert [a for _, a, _ in seen] == [b for _, _, b in seen], (theirs.shape, seen)
    for flag in ("C_CONTIGUOUS", "F_CONTIGUOUS"):
        assert ours.flags[flag] == theirs.flags[flag]
    np.testing.assert_allclose(ours.get(), theirs, rtol=1e-12)


ELEMENTWISE = {
    "a + 1": lambda m, a: a + 1,
    "-a": lambda m, a: -a,
    "1 / a": lambda m, a: 1 / a,
    "a + a": lambda m, a: a + a,
    "a > 3": lambda m, a: a > 3,
    "where": lambda m, a: m.where(a > 3, a, 0),
    "clip": lambda m, a: m.clip(a, 2, 50),
    "round": lambda m, a: m.round(a, 1),
    "sqrt": lambda m, a: m.sqrt(a),
    "chain": lambda m, a: m.exp(-a * 0.01) * 2 + a,
    "astype": lambda m, a: a.astype("float32"),
    "astype C": lambda m, a: a.astype("float32", order="C"),
    "astype F": lambda m, a: a.astype("float32", order="F"),
    "astype A": lambda m, a: a.astype("float32", order="A"),
    "frexp": lambda m, a: m.frexp(a)[0],
    "divmod": lambda m, a: m.divmod(a, 7)[1],
    "dtype": lambda m, a: m.add(a, 1, dtype="float32"),
    "order C": lambda m, a: m.add(a, 1, order="C"),
    "order F": lambda m, a: m.add(a, a, order="F"),
    "order A": lambda m, a: m.multiply(a, 3, order="A"),
    "nan_to_num": lambda m, a: m.nan_to_num(a),
    "conj": lambda m, a: (a + 0j).conj(),
    "real": lambda m, a: (a * 1j).imag * 1,
    "imag of real": lambda m, a: a.imag,
    "argwhere": lambda m, a: m.argwhere(a > 3) if a.ndim else a,
    "copy": lambda m, a: a.copy(),
    "copy K": lambda m, a: a.copy("K"),
    "copy A": lambda m, a: a.copy("A"),
    "copy F": lambda m, a: a.copy("F"),
    "bc.copy": lambda m, a: m.copy(a),
    "array": lambda m, a: m.array(a),
    "array F": lambda m, a: m.array(a, order="F"),
    "array C": lambda m, a: m.array(a, order="C"),
    "asfortranarray": lambda m, a: m.asfortranarray(a),
    "zeros_like": lambda m, a: m.zeros_like(a),
    "ones_like F": lambda m, a: m.ones_like(a, order="F"),
    "full_like C": lambda m, a: m.full_like(a, 3, order="C"),
    "full_like dtype": lambda m, a: m.full_like(a, 3, dtype="int16"),
    "broadcast": lambda m, a: a + m.asarray(np.arange(a.shape[-1] if a.ndim else 1.0)),
    "column": lambda m, a: m.asarray(np.ones((a.shape[0] if a.ndim else 1,) + (1,) * (a.ndim - 1))) * a,
    "concatenate": lambda m, a: m.concatenate([a, a], -1) if a.ndim else a,
    "stack": lambda m, a: m.stack([a, a], 0),
    "stack 1": lambda m, a: m.stack([a, a], 1) if a.ndim else a,
    "roll": lambda m, a: m.roll(a, 1, 0) if a.ndim else a,
    "diff": lambda m, a: m.diff(a, axis=0) if a.ndim else a,
    "ravel K": lambda m, a: a.ravel("K"),
    "ravel F": lambda m, a: a.ravel("F"),
    "ravel A": lambda m, a: a.ravel("A"),
    "flatten F": lambda m, a: a.flatten("F"),
    "cumsum": lambda m, a: m.cumsum(a, -1) if a.ndim else a,
}


@pytest.mark.parametrize("name", ELEMENTWISE)
def test_elementwise_results_lie_as_numpys(xp, name):
    for layout in LAYOUTS:
        ours, theirs = made(xp, layout)
        if theirs.size == 0 and name in ("roll", "ravel K"):
            continue
        lies_alike(xp.asarray(ELEMENTWISE[name](xp, ours)), np.asarray(ELEMENTWISE[name](np, theirs)))


REDUCTIONS = {
    "sum": lambda m, a, **k: m.sum(a, **k),
    "mean": lambda m, a, **k: m.mean(a, **k),
    "max": lambda m, a, **k: m.max(a, **k),
    "std": lambda m, a, **k: m.std(a, **k),
    "any": lambda m, a, **k: m.any(a > 50, **k),
    "count_nonzero": lambda m, a, **k: m.count_nonzero(a > 9, **k),
    "argmax": lambda m, a, **k: m.argmax(a, **k),
    "nansum": lambda m, a, **k: m.nansum(a, **k),
}


@pytest.mark.parametrize("name", REDUCTIONS)
@pytest.mark.parametrize("layout", ["f", "turned", "swapped", "sliced", "reversed", "four"])
def test_reductions_keep_what_numpy_keeps(xp, name, layout):
    ours, theirs = made(xp, layout)
    axes = [0, 1, 2, -1, None] + ([] if name == "argmax" else [(0, 2), (1, 2)])
    for axis in axes:
        for keepdims in (False, True):
            f = REDUCTIONS[name]
            lies_alike(xp.asarray(f(xp, ours, axis=axis, keepdims=keepdims)), np.asarray(f(np, theirs, axis=axis, keepdims=keepdims)))


def test_operands_that_disagree_give_c_order(xp):
    rng = np.random.default_rng(5)
    shape = (3, 4, 5)
    for _ in range(60):
        ours, theirs = [], []
        for _ in range(rng.integers(1, 4)):
            perm = rng.permutation(3)
            inner = [shape[k] if rng.random() > 0.2 else 1 for k in perm]
            x = rng.random(inner).transpose(np.argsort(perm))
            y = xp.asarray(x.transpose(perm).copy()).transpose(*[int(v) for v in np.argsort(perm)])
            if rng.random() < 0.3:
                x, y = x[..., ::-1], y[..., ::-1]
            ours.append(y)
            theirs.append(x)
        total, expected = ours[0] * 2, theirs[0] * 2
        for y, x in zip(ours[1:], theirs[1:]):
            lies_alike(xp.maximum(total, y), np.maximum(expected, x))
            total, expected = total + y, expected + x
        lies_alike(total, expected)
        out, room = xp.empty(total.shape, order="F"), np.empty(expected.shape, order="F")
        mask = rng.random(expected.shape).T.copy().T > 0.4
        out[...], room[...] = 1.0, 1.0
        lies_alike(xp.add(total, ours[0], out=out, where=xp.asarray(mask)), np.add(expected, theirs[0], out=room, where=mask))


def test_arrays_of_numpy_keep_their_order_there_and_back(xp):
    for layout in LAYOUTS:
        x = np.array(LAYOUTS[layout](BASE))
        y = xp.array(x)
        lies_alike(y, x)
        back = np.asarray(y)
        assert back.strides == tuple(n for n in x.strides) or x.size < 2 or 1 in x.shape
        assert np.array_equal(back, x)


def test_assignment_through_transposed_views_sees_the_whole_array(xp):
    a = xp.asfortranarray(xp.asarray(BASE.reshape(6, 20)))
    b = a * 2
    a += b
    np.testing.assert_array_equal(a.get(), BASE.reshape(6, 20) * 3)
    assert a.flags.f_contiguous
    a.T[...] = b.T
    np.testing.assert_array_equal(a.get(), BASE.reshape(6, 20) * 2)
    a[1:, ::2] = a[:-1, 1::2]
    want = BASE.reshape(6, 20) * 2
    want[1:, ::2] = want[:-1, 1::2].copy()
    np.testing.assert_array_equal(a.get(), want)


def test_chains_over_transposed_arrays_stay_one_kernel(xp):
    a = xp.asarray(np.random.default_rng(0).random((300, 200)))
    b = xp.asarray(np.random.default_rng(1).random((300, 200)))
    xp.synchronize()
    with xp.profiler.record() as r:
        c = a.T + b.T
        d = xp.sin(c) * 2 - a.T
        total = (d - d.mean(axis=0, keepdims=True)).sum(axis=0)
        xp.synchronize()
    assert len(r.kernels) <= 2
    want = a.get().T + b.get().T
    want = np.sin(want) * 2 - a.get().T
    np.testing.assert_allclose(d.get(), want, rtol=1e-12)
    np.testing.assert_allclose(total.get(), (want - want.mean(0)).sum(0), atol=1e-10)
    assert c.flags.f_contiguous and d.flags.f_contiguous


def test_operands_stretch_to_an_out_of_any_layout(xp):
    small, room = np.arange(3.0)[::-1].reshape(3, 1), np.zeros((4, 5, 3)).T
    ours = xp.zeros((4, 5, 3)).T
    for view in ((...,), (slice(None), slice(None, None, -1))):
        got = xp.multiply(xp.asarray(small)[:, None], xp.asarray(small)[:, None], out=ours[view])
        want = np.multiply(small[:, None], small[:, None], out=room[view])
        lies_alike(got, want)
        lies_alike(ours, room)
