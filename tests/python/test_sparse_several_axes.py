"""Sparse arrays of more than two axes, in coordinates: against SciPy, and NumPy where SciPy has other shapes than its own rules say."""

from __future__ import annotations

import io
import pickle

import numpy as np
import pytest

import broadcloth as bc
from broadcloth.scipy import sparse
from support import dense

ss = pytest.importorskip("scipy.sparse")
pytestmark = pytest.mark.filterwarnings("ignore:.*:Warning")


@pytest.fixture
def cubes():
    theirs = [ss.random_array((3, 4, 5), density=0.3, rng=k, data_sampler=lambda size: np.arange(size) - 6.0) for k in range(2)]
    return [sparse.coo_array(x) for x in theirs], theirs


def same_array(got, want):
    if sparse.issparse(got):
        assert got.shape == want.shape and got.format == "coo" and type(got) is sparse.coo_array
        got, want = got.toarray(), want.toarray()
    if isinstance(want, tuple):
        for g, w in zip(got, want, strict=True):
            same_array(g, w)
        return
    got = got.get() if isinstance(got, bc.ndarray) else np.asarray(got)
    assert got.shape == np.shape(want)
    np.testing.assert_allclose(got, want, rtol=1e-14)


CUBES = {
    "sums": lambda a, b: (a.sum(), a.sum(axis=0), a.sum(axis=(0, 2)), a.sum(axis=(0, 1, 2)), a.sum(axis=-1, dtype="f4")),
    "means": lambda a, b: (a.mean(), a.mean(axis=1), a.mean(axis=(1, 2))),
    "extremes": lambda a, b: (a.max(), a.min(axis=0), a.max(axis=(0, 1)), a.nanmax(axis=2), a.argmax(), a.argmin(axis=1)),
    "arithmetic": lambda a, b: (a + b, a - b, a * b, a * 2, a / 2, -a, abs(a), a**2, a.sqrt().astype("f4"), round(a / 3)),
    "dense operands": lambda a, b: (a.multiply(b.toarray()), a + b.toarray(), b.toarray() - a, a.maximum(b.toarray())),
    "comparisons": lambda a, b: (a != b, a > 0.1, a < b, a.maximum(b), a == b, a <= b, a == 0),
    "transposes": lambda a, b: (a.T, a.transpose((1, 0, 2)), a.transpose((2, 0, 1), copy=True), a.T.T),
    "shapes": lambda a, b: (a.reshape(12, 5), a.reshape(60), a.reshape(2, -1, 15), a.reshape(2, 2, 3, 5)),
    "shapes in the other order": lambda a, b: (a.reshape((5, 4, 3), order="F"), a.reshape((60,), order="F")),
    "parts": lambda a, b: (a[0], a[-1, 1], a[0, 1, 2], a[:, 1:3], a[..., 0], a[::-2, :, 4:0:-2], a[1:1], a[2, ...]),
    "products": lambda a, b: (a @ np.arange(5.0), a @ np.arange(10.0).reshape(5, 2), a.dot(np.ones(5))),
    "stacked products": lambda a, b: (a @ b.transpose((0, 2, 1), copy=True), a @ b.toarray().swapaxes(1, 2), a @ b[1].T.copy(),
                                      b[0] @ a.transpose((0, 2, 1), copy=True), np.ones((2, 4)) @ a, np.ones((3, 2, 4)) @ a, np.ones(4) @ a,
                                      a[:1] @ np.ones((3, 5, 1))),
    # SciPy's functions sort an array's elements, and not always all of its coordinates.
    "tensor products": lambda a, b: tuple(a.copy().tensordot(x.copy(), axes) for x, axes in (
        (b, 3), (b, ([0, 2], [0, 2])), (b.toarray(), ([1], [1])), (np.ones(5), 1))),
    "dots": lambda a, b: (a.copy().dot(b.toarray().swapaxes(1, 2).tolist()), b.toarray() @ a[0, 0].copy(),
                          a.copy().dot(b.copy().transpose((0, 2, 1), copy=True)), a.copy().dot(np.ones((5, 2)))),
    "new axes": lambda a, b: (a[None], a[:, None, 1], a[..., None, 2:], a[0, None, :, None, 1]),
    "elements": lambda a, b: (a.nonzero(), a.count_nonzero(), a.nnz, a.toarray(), a.astype("f4"), a.copy(), a.conj(), a.real),
    "flattened": lambda a, b: (a.reshape(3, 20).tocsr().sum(axis=0), a.reshape(60).max()),
    "rows": lambda a, b: tuple(a),
}


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.filterwarnings("ignore:.*inefficient")
@pytest.mark.parametrize("name", CUBES)
def test_arrays_of_several_axes(cubes, name):
    ours, theirs = cubes
    same_array(CUBES[name](*ours), CUBES[name](*theirs))


def test_arrays_of_several_axes_are_made_from_everything(cubes):
    (a, _), (theirs, _) = cubes
    dense = theirs.toarray()
    for made in (sparse.coo_array(dense), sparse.coo_array(bc.asarray(dense)), sparse.coo_array((a.data, a.coords)), sparse.coo_array(a),
                 sparse.coo_array((theirs.data, theirs.coords), shape=(3, 4, 5))):  # fmt: skip
        same_array(made, theirs)
        assert repr(made).splitlines()[1].strip().endswith("shape (3, 4, 5)>")
    same_array(pickle.loads(pickle.dumps(a)), theirs)
    file = io.BytesIO()
    sparse.save_npz(file, a)
    for load in (sparse.load_npz, ss.load_npz):
        file.seek(0)
        assert (np.asarray(load(file).toarray()) == dense).all()
    assert type(a.get()) is ss.coo_array and (a.get().toarray() == dense).all()
    assert sparse.coo_array((2, 0, 4)).toarray().shape == (2, 0, 4) and sparse.coo_array((2, 3, 4)).sum() == 0
    twice = sparse.coo_array(([1.0, 2.0, 4.0], ([0, 0, 1], [1, 1, 0], [1, 1, 1])), shape=(2, 2, 2))
    assert twice.max() == 4 and twice.nnz == 2 and twice.coords[0].tolist() == [0, 1] and twice.toarray()[0, 1, 1] == 3
    same_array(sparse.permute_dims(a, (2, 0, 1)), ss.permute_dims(theirs.copy(), (2, 0, 1)))
    same_array(sparse.swapaxes(a, 0, 2), ss.swapaxes(theirs.copy(), 0, 2))
    for axis in range(-4, 4):
        same_array(sparse.expand_dims(a, axis=axis), ss.expand_dims(theirs.copy(), axis=axis))
    flat = theirs.reshape(12, 5)
    for format in ("bsr", "coo", "csc", "csr", "dia", "dok", "lil"):
        ours, other = sparse.coo_array(flat).asformat(format), flat.asformat(format)
        same_array(sparse.expand_dims(ours, axis=1), ss.expand_dims(other, axis=1))
        same_array(sparse.swapaxes(ours, 0, 1), ss.swapaxes(other, 0, 1))
        same_array(sparse.permute_dims(ours, (1, 0)), ss.permute_dims(other, (1, 0)))
        assert sparse.permute_dims(ours, (0, 1)).format == format
    for axis in (4, -5, 1.5):
        with pytest.raises(ValueError, match="Invalid axis"):
            sparse.expand_dims(a, axis=axis)
    for shape, density in (((3, 4, 5), 0.3), ((2, 2, 2, 2), 0.5), ((7, 1, 3), 1.0)):
        got, want = (m.random_array(shape, density=density, rng=4) for m in (sparse, ss))
        same_array(got, want)
        assert [c.tolist() for c in got.coords] == [c.tolist() for c in want.coords]


def test_what_arrays_of_several_axes_cannot_do_is_refused(cubes):
    (a, b), _ = cubes
    for call in (a.tocsr, a.tocsc, a.todia, a.todok, a.tolil, a.tobsr, a.diagonal, lambda: sparse.csr_array(a), lambda: a.resize(2, 2, 2),
                 lambda: sparse.coo_matrix(a), lambda: sparse.coo_array((bc.ones(1), ([3], [0], [0])), shape=(3, 4, 5)),
                 lambda: a + b.T, lambda: a.reshape(7, 7, 7), lambda: a.transpose((0, 1))):  # fmt: skip
        with pytest.raises((ValueError, TypeError)):
            call()
    for call in (lambda: a.row, lambda: a.count_nonzero(axis=3), lambda: a @ b, lambda: np.ones((2, 3)) @ a,
                 lambda: a.tensordot(b, axes=1), lambda: a @ bc.ones((2, 5, 2)),
                 lambda: a * sparse.coo_array(np.ones((4, 5))),
                 lambda: sparse.vstack([a, a]), lambda: sparse.tril(a)):  # fmt: skip
        with pytest.raises((NotImplementedError, ValueError)):
            call()
    for key in (3, (0, 0, 0, 0), [[0, 3]], [0.5], ([0, 1], [0, 1, 2]), (..., ...), np.ones((3, 5), bool), "x", b):
        with pytest.raises(IndexError):
            a[key]
        with pytest.raises(IndexError):
            a[key] = 1
    for value in (np.ones((2, 5)), sparse.coo_array(np.ones((2, 5)))):
        with pytest.raises(ValueError):
            a[0] = value
    with pytest.raises(TypeError):
        a[0, 0, 0] = 1j


def random_key(rng, shape):
    """A key for some of the axes: numbers, slices, new axes, an ellipsis, masks of one or two axes, index arrays of one or two axes."""
    extents, keys = list(shape), []
    arrays, common = rng.random() < 0.7, rng.integers(1, 4, 2)
    while extents and rng.random() < 0.9:
        n, kind = extents[0], rng.random()
        if kind < 0.15 and arrays:
            keys.append(rng.random(tuple(extents[: int(rng.integers(1, 3))])) < 0.3)
            extents = extents[keys[-1].ndim - 1 :]
        elif kind < 0.3:
            keys.append(int(rng.integers(-n, n)))
        elif kind < 0.6 or not arrays:
            ends = [None if rng.random() < 0.3 else int(rng.integers(-n - 1, n + 2)) for _ in range(2)]
            keys.append(slice(*ends, int(rng.choice([1, 1, 2, -1, -2]))))
        else:
            keys.append(rng.integers(-n, n, common[int(rng.integers(0, 2)) :]))
        extents.pop(0)
        if rng.random() < 0.1:
            keys.append(None)
    if rng.random() < 0.3:
        keys.insert(len(keys) if extents else int(rng.integers(0, len(keys) + 1)), ...)
    return tuple(keys)


@pytest.mark.parametrize("seed", range(120))
def test_coordinates_are_indexed_as_numpy_does(xp, seed):
    rng = np.random.default_rng(seed)
    shape = tuple(rng.integers(1, 6, rng.integers(1, 5)).tolist())
    want = np.where(rng.random(shape) < 0.4, rng.integers(1, 9, shape), 0).astype(rng.choice(["f8", "i4", "c16"]))
    a, key = sparse.coo_array(xp.asarray(want)), random_key(rng, shape)
    try:
        part = want[key]
    except IndexError:
        for act in (lambda: a[key], lambda: a.__setitem__(key, 1)):
            with pytest.raises(IndexError):
                act()
        return
    got = a[key]
    got = dense(got)
    assert got.dtype == part.dtype and got.shape == part.shape and (got == part).all()
    places = tuple(k for k in key if k is not None)
    extents = want[places].shape
    value = np.where(rng.random(extents) < 0.5, rng.integers(1, 99, extents), 0) if rng.random() < 0.7 else int(rng.integers(0, 3))
    want[places] = value
    whole = [value, xp.asarray(value)] + ([sparse.coo_array(value), ss.coo_array(value)] if np.ndim(value) and np.size(value) else [])
    a[key] = whole[int(rng.integers(0, len(whole)))]
    assert (dense(a) == want).all() and a.dtype == want.dtype
    for axis in range(-len(shape), len(shape)) if len(shape) > 2 else []:
        assert (dense(a.count_nonzero(axis)) == np.count_nonzero(want, axis)).all()


def test_assignment_to_coordinates_in_full_as_scipy(cubes):
    (a, _), (theirs, _) = cubes
    a, theirs = a.copy(), theirs.copy()
    row = ss.coo_array(np.array([[1.0, 0, 2, 0, 3]]))
    for key, value in (((0, 1, 2), 0.0), ((slice(1, 3), 0), row), (([2, 0], slice(None), [1, 3]), [[1.0], [0.0]]), (np.s_[..., 4], 0),
                       ((1,), np.ones((1, 1, 5)))):  # fmt: skip
        a[key] = value
        # SciPy drops axes of extent 1 of a dense value before it broadcasts it.
        theirs[key] = np.broadcast_to(value, theirs[key].shape) if isinstance(value, list) else value
        same_array(a, theirs)
        assert a.nnz == theirs.nnz
    a[0, 1, 2] = ss.coo_array([[6.0]])
    theirs[0, 1, 2] = 6.0
    same_array(a, theirs)
    mask = theirs > 1
    assert dense(a[sparse.coo_array(mask)]).tolist() == theirs.toarray()[mask.toarray()].tolist()
    a[mask] = 7
    assert (dense(a) == np.where(mask.toarray(), 7, theirs.toarray())).all()
    assert dense(a._getnnz(axis=(0, 2))).tolist() == np.bincount(dense(a.coords[1]), minlength=4).tolist()
