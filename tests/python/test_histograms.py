"""Histograms of one and several dimensions against NumPy: rules, ranges, edges, weights, densities, errors."""

from __future__ import annotations

import numpy as np
import pytest

from support import assert_close_to_numpy, assert_like_numpy, configured, host

REAL = ["bool", "int8", "int16", "int64", "uint8", "uint32", "uint64", "float32", "float64"]
RULES = ["stone", "auto", "doane", "fd", "rice", "scott", "sqrt", "sturges"]


def values(dtype: str, size: int = 500) -> np.ndarray:
    rng = np.random.default_rng(0)
    low = 0 if np.dtype(dtype).kind in "bu" else 30
    return (rng.random(size) * 100 - low).astype(dtype)


FORMS = [
    "xp.histogram(x)",
    "xp.histogram(x, 7)",
    "xp.histogram(x, bins=np.int64(7))",
    "xp.histogram(x, 5, (0, 50))",
    "xp.histogram(x, bins=5, range=(0.0, 50.0))",
    "xp.histogram(x, 5, [np.float64(0), 50])",
    "xp.histogram(x, 3, (2, 2))",
    "xp.histogram(x, [0, 3, 3, 20, 60])",
    "xp.histogram(x, np.array([0.5, 3, 20.25, 60]))",
    "xp.histogram(x, xp.asarray([0.5, 3, 20.25, 60]))",
    "xp.histogram(x, [1])",
    "xp.histogram(x, [])",
    "xp.histogram(x, 9, density=True)",
    "xp.histogram(x, [0, 1, 20], None, True)",
    "xp.histogram(x, 5, weights=x)",
    "xp.histogram(x, [0, 5, 10, 50], weights=x * 1.5)",
    "xp.histogram(x, 5, weights=x * 1j)",
    "xp.histogram(x, 5, weights=x * 1.5, density=True)",
    "xp.histogram(x.reshape(2, -1).T, 3)",
    "xp.histogram(x[::-3], 3)",
    "xp.histogram(x[:0], 3)",
    "xp.histogram(x[:1], 3)",
    "xp.histogram(x, 5, weights=x[:3])",
    "xp.histogram_bin_edges(x, 4, (0, 10))",
    "xp.histogram_bin_edges(x, 'sqrt')",
    "xp.histogram_bin_edges(x, [1, 2, 3])",
]


@pytest.mark.parametrize("dtype", REAL)
def test_histogram_matches_numpy(xp, dtype):
    for form in FORMS:
        assert_close_to_numpy(xp, form, 1e-5 if dtype == "float32" else 1e-12, x=values(dtype))


@pytest.mark.parametrize("rule", RULES)
def test_rules_choose_numpys_number_of_bins(xp, rule):
    for dtype in ("int8", "uint8", "int64", "float32", "float64"):
        for limits in (None, (0, 50)):
            assert_close_to_numpy(xp, "xp.histogram(x, rule, limits)", 1e-5, x=values(dtype), rule=rule, limits=limits)
    for x in (np.array([3.0]), np.array([2, 2, 2]), np.zeros(0)):
        assert_close_to_numpy(xp, "xp.histogram(x, rule)", 1e-12, x=x, rule=rule)


def test_values_on_edges_lie_in_numpys_bins(xp):
    edges = np.linspace(-1, 1, 41)
    for x in (edges, np.nextafter(edges, 9), np.nextafter(edges, -9), edges.astype(np.float32)):
        for bins in (40, 7):
            assert_close_to_numpy(xp, "xp.histogram(x, bins, (-1, 1))", 1e-12, x=x, bins=bins)
        assert_close_to_numpy(xp, "xp.histogram(x, xp.asarray(edges))", 1e-12, x=x, edges=edges)


@pytest.mark.parametrize(
    "form",
    [
        "xp.histogram(x)",
        "xp.histogram(x, 3, (0, 4))",
        "xp.histogram(x, [0, 1, 3])",
        "xp.histogram(x, 3, (4, 0))",
        "xp.histogram(x, 3, (0, np.inf))",
        "xp.histogram(x[:1], 0)",
        "xp.histogram(x[:1], 1.5)",
        "xp.histogram(x[:1], [[1]])",
        "xp.histogram(x, [2, 1])",
        "xp.histogram(x, 'other')",
        "xp.histogram([1, 2], 'auto', weights=[1, 2])",
        "xp.histogram([1e17, 1e17 + 16], 100)",
        "xp.histogram([])",
        "xp.histogram([5, 5])",
    ],
)
def test_nans_ranges_and_errors(xp, form):
    assert_close_to_numpy(xp, form, 1e-12, x=np.array([1.0, np.nan, 3, np.inf]))


def test_edges_that_are_given_count_the_same_with_and_without_weights(xp):
    """Sorted elements and searches for each element are two ways to count."""
    x = np.random.default_rng(0).normal(size=5000).round(2)
    x[:40] = np.nan
    for edges in (np.linspace(-1, 1, 21), np.array([-1.0, 0, 0, 0.5]), np.array([0, 1]), np.array([0.25, np.inf])):
        counts = xp.histogram(xp.asarray(x), edges)[0]
        np.testing.assert_array_equal(counts.get(), np.histogram(x, edges)[0])
        weighted = xp.histogram(xp.asarray(x), edges, weights=xp.ones(5000, dtype=int))[0]
        np.testing.assert_array_equal(weighted.get(), counts.get())


def test_a_given_range_leaves_the_histogram_lazy(xp):
    with configured(lazy=True):
        counts, _ = xp.histogram(xp.arange(10.0) * 2, 4, (0, 20))
        assert xp._c.is_pending(counts)
    assert counts.tolist() == [3, 2, 3, 2]


DIMENSIONS = [
    "xp.histogramdd(x)",
    "xp.histogramdd(x, 4)",
    "xp.histogramdd(x, (2, 3, 4), density=True)",
    "xp.histogramdd(x, [2, [0, .3, 1], 5], range=[None, None, (0, .5)])",
    "xp.histogramdd(x, 4, weights=x[:, 0])",
    "xp.histogramdd(x, (2, 3))",
    "xp.histogramdd(x, 3, range=[(0, 1)])",
    "xp.histogramdd(x[:, 0])",
    "xp.histogramdd([x[:, 0], x[:, 1]], 3)",
    "xp.histogramdd(x.astype('f'), 3)",
    "xp.histogramdd(x, 0)",
    "xp.histogramdd(x, 1.5)",
    "xp.histogramdd(x, [2, [3, 1], 4])",
    "xp.histogramdd(x, [2, [[3, 1]], 4])",
    "xp.histogramdd(x, 4, weights=x[:3, 0])",
    "xp.histogramdd(x, 4, weights=x[:, 0] * 1j)",
    "xp.histogram2d(x[:, 0], x[:, 1])",
    "xp.histogram2d(x[:, 0], x[:, 1], (3, 4))",
    "xp.histogram2d(x[:, 0], x[:, 1], [0, .2, .5])",
    "xp.histogram2d(x[:, 0], x[:, 1], [[0, .5, 1], 3], density=True)",
    "xp.histogram2d(x[:, 0], x[1:, 1])",
    "xp.histogram2d(x[:, 0], x[:, 1], [3])",
    "xp.histogram2d(x[:, 0], x[:, 1], 4, [[0, 1], [.2, .9]], weights=x[:, 2])",
    "xp.histogram2d((x[:, 0] * 9).astype(int), (x[:, 1] * 9).astype(int), 4)",
]


@pytest.mark.parametrize("form", DIMENSIONS)
def test_histograms_of_points_match_numpy(xp, form):
    assert_close_to_numpy(xp, form, 1e-12, x=np.random.default_rng(0).random((200, 3)))


def test_samples_of_two_dimensions_are_refused(xp):
    assert_like_numpy(xp, "xp.histogram2d(xp.ones((2, 2)), xp.ones((2, 2)))")


@pytest.mark.parametrize("n", [3, 7, 1000, 70_001, 200_000])
@pytest.mark.parametrize("dtype", [*REAL[1:], "int32", "uint16", "float16"])
def test_bins_of_one_width_of_every_dtype(xp, dtype, n):
    rng = np.random.default_rng(n)
    t = np.dtype(dtype)
    if t.kind == "f":
        base = np.round(rng.standard_normal(2 * n) * 4, 1).astype(dtype)  # many lie on edges
    else:
        info = np.iinfo(t)
        base = rng.integers(info.min, info.max, 2 * n, dtype=t, endpoint=True)
    for x, a in ((base[:n], xp.array(base)[:n]), (base[::-2], xp.array(base)[::-2])):
        for bins, limits in ((10, None), (1, None), (97, None), (10, (-2, 3)), (7, (0.5, 100.25))):
            counts, edges = xp.histogram(a, bins, limits)
            want, want_edges = np.histogram(x, bins, limits)
            np.testing.assert_array_equal(host(edges), want_edges)
            assert counts.dtype == want.dtype
            np.testing.assert_array_equal(host(counts), want, f"{bins} {limits}")


def test_bins_of_one_width_of_what_cannot_be_divided(xp):
    for values in ([3.0], [3.0, 3.0], [0.0, 5e-324], [-1e308, 1e308 / 2], [1e15, 1e15 + 1], [0.0, -0.0]):
        try:
            want = np.histogram(np.array(values), 2)
        except ValueError as e:
            with pytest.raises(ValueError, match=str(e)[:20]):
                xp.histogram(xp.array(values), 2)
            continue
        for ours, theirs in zip(xp.histogram(xp.array(values), 2), want, strict=True):
            np.testing.assert_array_equal(host(ours), theirs)
    with_nan = [0.0, np.nan, 1.0, 2.0, np.inf]
    np.testing.assert_array_equal(host(xp.histogram(xp.array(with_nan), 4, (0.0, 2.0))[0]), np.histogram(with_nan, 4, (0.0, 2.0))[0])
    with pytest.raises(ValueError, match="not finite"):
        xp.histogram(xp.array(with_nan), 4)


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int32", "uint64", "int64"])
def test_long_lists_are_counted(xp, dtype):
    rng = np.random.default_rng(3)
    for n, top in ((1000, 100), (70_000, 100), (300_001, 127), (300_000, 5000), (300_000, 60_000), (300_000, 200_000)):
        base = rng.integers(0, min(top, np.iinfo(dtype).max), 2 * n, endpoint=True).astype(dtype)
        wide = base.astype("int64")  # NumPy casts no uint64
        for x, a in ((wide[:n], xp.array(base)[:n]), (wide[::-2], xp.array(base)[::-2])):
            for least in (0, 300):
                if xp is np and dtype == "uint64":
                    continue
                np.testing.assert_array_equal(host(xp.bincount(a, minlength=least)), np.bincount(x, minlength=least))
    if dtype.startswith("int"):
        base[-5] = -1
        with pytest.raises(ValueError, match="negative"):
            xp.bincount(xp.array(base))
