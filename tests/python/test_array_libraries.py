"""Libraries that compute with any arrays: xarray, scikit-learn's and SciPy's array API modes give ours, with NumPy's values."""

from __future__ import annotations

import numpy as np
import pytest

import broadcloth as bc
from support import start_python

VALUES = np.arange(12.0).reshape(3, 4) % 5

XARRAY = {
    "means": lambda xr, x: x.mean("t"),
    "anomalies": lambda xr, x: (x - x.mean("t")) / x.std("t"),
    "selection": lambda xr, x: x.sel(t=[30, 10]).isel(x=slice(1, 3)),
    "where": lambda xr, x: x.where(x > 2).fillna(-1.0),
    "joined": lambda xr, x: xr.concat([x, x * 2], "t"),
    "rolling": lambda xr, x: x.rolling(t=2).mean(),
    "groups": lambda xr, x: x.groupby(xr.DataArray([0, 0, 1], dims="t", name="g")).mean(),
    "product": lambda xr, x: xr.dot(x, x, dim="x"),
    "ufunc": lambda xr, x: xr.apply_ufunc(np.sin, x),
    "quantile": lambda xr, x: x.quantile(0.5, "t"),
    "stack": lambda xr, x: x.T.stack(z=("t", "x")),
    "coarsen": lambda xr, x: x.coarsen(x=2).max(),
    "align": lambda xr, x: x.reindex(t=[10, 40]) + x,
    "moved": lambda xr, x: x.pad(t=1).shift(t=1),
    "median": lambda xr, x: x.median("t").clip(1, 3),
    "dataset": lambda xr, x: xr.Dataset({"a": x, "b": x.cumsum("t")}).sum().b,
}


@pytest.mark.parametrize("name", XARRAY)
def test_xarray_computes_with_our_arrays(name, device):
    xr = pytest.importorskip("xarray")

    def compute(values):
        return XARRAY[name](xr, xr.DataArray(values, dims=("t", "x"), coords={"t": [10, 20, 30]}, name="v"))

    ours, theirs = compute(bc.asarray(VALUES)), compute(VALUES)
    assert isinstance(ours.data, bc.ndarray) and ours.dims == theirs.dims
    np.testing.assert_allclose(ours.data.get(), theirs.data, rtol=1e-12)


CHILD = """
import sys
import warnings
import numpy as np
import broadcloth as bc

bc.set_default_device(sys.argv[1])
warnings.simplefilter("ignore")

def leaves(made):
    return made if isinstance(made, tuple) else (made,)

def check(name, compute, arrays=True, tolerance=1e-9):
    for ours, theirs in zip(leaves(compute(bc)), leaves(compute(np)), strict=True):
        assert isinstance(ours, bc.ndarray) or not arrays, (name, type(ours))
        np.testing.assert_allclose(np.asarray(ours), np.asarray(theirs), rtol=tolerance, atol=tolerance, err_msg=name)

rng = np.random.default_rng(0)
TABLE = rng.normal(size=(60, 5))
LABELS = (TABLE[:, 0] > 0).astype(np.int64)
LINE = np.linspace(0.1, 2, 8)
"""

SKLEARN = """
import sklearn
from sklearn import metrics
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import Ridge
from sklearn.model_selection import cross_val_predict, train_test_split
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, Normalizer, StandardScaler

with sklearn.config_context(array_api_dispatch=True):
    for made in (StandardScaler, MinMaxScaler, MaxAbsScaler, Normalizer):
        check(made.__name__, lambda xp: made().fit_transform(xp.asarray(TABLE)))
    check("PCA", lambda xp: abs(PCA(2, svd_solver="full").fit_transform(xp.asarray(TABLE))))
    check("Ridge", lambda xp: Ridge(solver="svd").fit(xp.asarray(TABLE), xp.asarray(TABLE[:, 0])).predict(xp.asarray(TABLE)))
    check("discriminant", lambda xp: LinearDiscriminantAnalysis().fit(xp.asarray(TABLE), xp.asarray(LABELS)).predict(xp.asarray(TABLE)))
    check("split", lambda xp: tuple(train_test_split(xp.asarray(TABLE), xp.asarray(LABELS), random_state=0)))
    check("folds", lambda xp: cross_val_predict(Ridge(solver="svd"), xp.asarray(TABLE), xp.asarray(TABLE[:, 1])))
    check("distances", lambda xp: metrics.pairwise.euclidean_distances(xp.asarray(TABLE)))
    check("kernel", lambda xp: metrics.pairwise.rbf_kernel(xp.asarray(TABLE)))
    check("errors", lambda xp: metrics.mean_squared_error(xp.asarray(TABLE[:, 0]), xp.asarray(TABLE[:, 1])), arrays=False)
    check("accuracy", lambda xp: metrics.accuracy_score(xp.asarray(LABELS), xp.asarray(1 - LABELS)), arrays=False)
"""

SCIPY = """
import scipy.fft, scipy.integrate, scipy.ndimage, scipy.signal, scipy.special, scipy.stats
from scipy.cluster import vq

for name in ("erf", "expit", "gammaln", "logsumexp", "softmax"):
    check(name, lambda xp: getattr(scipy.special, name)(xp.asarray(LINE)))
check("fft", lambda xp: scipy.fft.fft(xp.asarray(LINE)))
check("dct", lambda xp: scipy.fft.dct(xp.asarray(LINE)))
for name in ("zscore", "skew", "kurtosis", "gmean", "variation"):
    check(name, lambda xp: getattr(scipy.stats, name)(xp.asarray(LINE)))
check("t test", lambda xp: tuple(scipy.stats.ttest_1samp(xp.asarray(LINE), 1.0)))
check("correlation", lambda xp: tuple(scipy.stats.pearsonr(xp.asarray(LINE), xp.asarray(LINE**2))))
check("trapezoid", lambda xp: scipy.integrate.trapezoid(xp.asarray(LINE)))
check("detrend", lambda xp: scipy.signal.detrend(xp.asarray(LINE**2)))
check("convolution", lambda xp: scipy.signal.fftconvolve(xp.asarray(LINE), xp.asarray(LINE)))
check("filter", lambda xp: scipy.ndimage.gaussian_filter(xp.asarray(TABLE), 1.0))
check("whiten", lambda xp: vq.whiten(xp.asarray(TABLE)))
check("codes", lambda xp: vq.vq(xp.asarray(TABLE), xp.asarray(TABLE[:3])))
"""


@pytest.mark.parametrize("library, program", [("sklearn", SKLEARN), ("scipy", SCIPY)])
def test_array_api_modes_compute_with_our_arrays(library, program, device):
    pytest.importorskip(library)
    pytest.importorskip("array_api_compat")
    # SciPy reads the variable when it is imported.
    done = start_python(CHILD + program, str(device), env={"SCIPY_ARRAY_API": "1"})
    assert done.returncode == 0, done.stderr[-3000:]
