"""dask computes with our arrays as chunks: lookups by type, the backend, the same numbers as with NumPy's chunks."""

from __future__ import annotations

import numpy as np
import pytest

import broadcloth as bc

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")

from dask.array.backends import array_creation_dispatch  # noqa: E402

from broadcloth import _dask  # noqa: E402

VALUES = np.arange(24.0).reshape(4, 6) % 7
COMPUTATIONS = {
    "sum": lambda d: d.sum(axis=0),
    "mean": lambda d: d.mean(axis=1),
    "var": lambda d: d.var(ddof=1),
    "nanmean": lambda d: da.nanmean(d, axis=0),
    "fused": lambda d: da.sqrt(d + 1) * 2,
    "product": lambda d: d @ d.T,
    "tensordot": lambda d: da.tensordot(d, d, axes=((1,), (1,))),
    "einsum": lambda d: da.einsum("ij,kj->ik", d, d),
    "concatenate": lambda d: da.concatenate([d, d[::2]]),
    "take": lambda d: da.take(d, [3, 0], axis=0),
    "mask": lambda d: d[d > 3],
    "percentile": lambda d: da.percentile(d.ravel(), [25, 50, 75], method="linear"),
    "median": lambda d: da.median(d, axis=0),
    "cumsum": lambda d: d.cumsum(axis=1),
    "histogram": lambda d: da.histogram(d, bins=4, range=(0, 7))[0],
    "bincount": lambda d: da.bincount(d.ravel().astype(int), minlength=8),
    "qr": lambda d: abs(da.linalg.qr(d.T.rechunk((2, 4)))[1]),
    "rechunk": lambda d: d.rechunk((1, 6)).max(axis=1),
    "overlap": lambda d: d.map_overlap(lambda x: x * 2, depth=1, boundary="reflect"),
}


@pytest.mark.parametrize("name", COMPUTATIONS)
def test_collections_over_our_arrays_compute_what_numpys_do(name, device):
    compute = COMPUTATIONS[name]
    ours = compute(da.from_array(bc.asarray(VALUES), chunks=(2, 3), asarray=False)).compute(scheduler="synchronous")
    theirs = compute(da.from_array(VALUES, chunks=(2, 3))).compute(scheduler="synchronous")
    assert isinstance(ours, bc.ndarray)
    assert ours.device == bc.default_device()
    np.testing.assert_allclose(ours.get(), theirs, rtol=1e-12, atol=1e-12)


@pytest.fixture
def backend():
    """The backend as the entry point gives it (a build tree has no entry points)."""
    array_creation_dispatch.register_backend("broadcloth", _dask.backend())
    with dask.config.set({"array.backend": "broadcloth", "scheduler": "synchronous"}):
        yield


def test_the_backend_creates_our_chunks(backend, device):
    for made, expected in (
        (da.ones((4, 4), chunks=2) + 1, np.full((4, 4), 2.0)),
        (da.zeros((3,), dtype="i4", chunks=2), np.zeros(3, dtype="i4")),
        (da.full((4,), 2.5, chunks=2), np.full(4, 2.5)),
        (da.arange(3, 10, 2, chunks=2), np.arange(3, 10, 2)),
    ):
        got = made.compute()
        assert isinstance(got, bc.ndarray) and got.dtype == expected.dtype
        np.testing.assert_array_equal(got.get(), expected)
    drawn = da.random.default_rng(7).normal(size=(4, 4), chunks=2)
    with dask.config.set({"array.backend": "numpy"}):
        numpys = da.random.default_rng(7).normal(size=(4, 4), chunks=2)
    assert isinstance(drawn.compute(), bc.ndarray)
    np.testing.assert_array_equal(drawn.compute().get(), numpys.compute())


def test_collections_change_their_backend(backend, device):
    numpys = da.from_array(VALUES, chunks=2)
    ours = numpys.to_backend("broadcloth")
    assert isinstance(ours.compute(), bc.ndarray)
    back = ours.to_backend("numpy").compute()
    assert type(back) is np.ndarray
    np.testing.assert_array_equal(back, VALUES)


def test_equal_arrays_have_equal_names(device):
    a = bc.arange(4.0)
    assert dask.base.tokenize(a) == dask.base.tokenize(a.copy())
    assert len({dask.base.tokenize(x) for x in (a, a + 1, a.astype("f4"), a.reshape(2, 2))}) == 4
