"""Reductions and scans against NumPy: axes, dtypes, layouts, keepdims, initial, where, out, empty arrays, NaN, accuracy."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import broadcloth as bc
from support import DTYPES, INTS, LAYOUTS, REALS, assert_close_to_numpy, assert_like_numpy, assert_same, base_values, configured, host

AXES = [None, 0, 1, -1, (0, 1), ()]
EXACT = ["max", "min", "any", "all", "argmax", "argmin", "count_nonzero", "ptp"]
ROUNDED = ["sum", "prod", "mean", "var", "std"]


def numpy_value(function, *args, **kwargs):
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return np.asarray(function(*args, **kwargs))


def tame(dtype, shape=(6, 8)):
    """Values whose sums and products stay far from the limits of the type."""
    n = base_values(dtype, shape=shape)
    if np.dtype(dtype).kind == "f":
        n = np.where(np.isfinite(n), np.clip(n, -3, 3), 1).astype(dtype)
        n[np.abs(n) < 1e-3] = 0.5
    return n


def close(got, want, dtype, count, context):
    """Equal for integers; for floats within what a sum in any sensible order may lose, in the type's own units."""
    want = np.asarray(want)
    assert host(got).dtype == want.dtype, f"{context}: dtype {host(got).dtype}, NumPy's is {want.dtype}"
    assert host(got).shape == want.shape, f"{context}: shape {host(got).shape}, NumPy's is {want.shape}"
    if want.dtype.kind in "biu":
        np.testing.assert_array_equal(host(got), want, context)
    else:
        eps = float(np.finfo(want.dtype).eps)
        wide = np.complex128 if want.dtype.kind == "c" else np.float64
        scale = max(1.0, float(np.max(np.abs(want[np.isfinite(want)]), initial=1)))
        np.testing.assert_allclose(host(got).astype(wide), want.astype(wide), rtol=8 * eps, atol=8 * eps * scale, err_msg=context)


@pytest.mark.parametrize("dtype", DTYPES)
def test_reductions_match_numpy_over_axes_and_layouts(xp, dtype):
    base = tame(dtype)
    ours = xp.asarray(base)
    work = []
    # Every axis of the plain layout, and what is particular to the others: fewer kernels to compile than all pairs.
    axes_of = {"contiguous": AXES, "transposed": [0], "stepped": [None, 1], "reversed": [1], "broadcast": [0]}
    for layout, axes in axes_of.items():
        n, x = LAYOUTS[layout](base, np), LAYOUTS[layout](ours, xp)
        for axis in axes:
            for name in EXACT + ROUNDED:
                if name.startswith("arg") and isinstance(axis, tuple):
                    continue
                if name == "ptp" and dtype == "bool":
                    continue
                if name == "prod" and axis in (None, (0, 1)) and np.dtype(dtype).kind in "fc":
                    continue
                f = getattr(np, name)
                want = numpy_value(f, n.astype(np.float32) if dtype == "float16" and name in ROUNDED and axis != () else n, axis=axis)
                if dtype == "float16" and name in ROUNDED:
                    want = want.astype(np.float16)
                work.append((f"{name}({dtype}, {layout}, axis={axis})", name, getattr(xp, name)(x, axis=axis), want, n.size))
    xp.synchronize()
    for context, name, got, want, count in work:
        if name in EXACT:
            assert_same(got, want, context)
        else:
            close(got, want, dtype, count, context)


@pytest.mark.parametrize("dtype", ["int32", "float32", "float64", "complex64"])
def test_reductions_match_numpy_in_every_mode(xp, mode, dtype):
    n = tame(dtype, (5, 7, 9))
    x = xp.asarray(n)
    for axis in (None, 0, 1, 2, (0, 2), (1, 2)):
        for name in ("sum", "mean", "std", "max", "min", "any", "count_nonzero"):
            close(getattr(xp, name)(x, axis=axis), numpy_value(getattr(np, name), n, axis=axis), dtype, n.size, f"{name} axis={axis}")
            got = getattr(xp, name)(x, axis=axis, keepdims=True)
            assert got.shape == getattr(np, name)(n, axis=axis, keepdims=True).shape


@pytest.mark.parametrize("name", ["sum", "prod", "max", "min", "any", "all", "mean", "std", "var"])
def test_reductions_take_where(xp, name):
    n = tame("float64")
    m = np.arange(n.size).reshape(n.shape) % 3 != 0
    extra = {"initial": 0.5} if name in ("max", "min") else {}
    want = numpy_value(getattr(np, name), n, axis=1, where=m, **extra)
    close(getattr(xp, name)(xp.asarray(n), axis=1, where=xp.asarray(m), **extra), want, "float64", n.size, name)
    want = numpy_value(getattr(np, name), n, axis=0, where=m[:, :1], **extra)
    close(getattr(xp, name)(xp.asarray(n), axis=0, where=xp.asarray(m[:, :1]), **extra), want, "float64", n.size, name)


@pytest.mark.parametrize("dtype", [*INTS, "bool"])
@pytest.mark.parametrize("name", ["bitwise_and", "bitwise_or", "bitwise_xor", "add", "multiply"])
def test_folds_of_bits_take_where(xp, name, dtype):
    n = (np.arange(12).reshape(3, 4) | 1).astype(dtype)
    for mask in (np.zeros((3, 4), bool), np.arange(12).reshape(3, 4) % 5 == 3):
        for extra in ({}, {"initial": 6}, {"dtype": "uint64"}, {"dtype": "int64", "initial": 1000}):
            want = getattr(np, name).reduce(n, where=mask, **extra)
            assert_same(getattr(xp, name).reduce(xp.asarray(n), where=xp.asarray(mask), **extra), want, f"{extra}")


@pytest.mark.parametrize("name", ["sum", "prod", "max", "min"])
def test_reductions_take_initial(xp, name):
    n = np.arange(1, 7).reshape(2, 3)
    for start in (3, -2):
        assert_same(getattr(xp, name)(xp.asarray(n), axis=0, initial=start), getattr(np, name)(n, axis=0, initial=start))
        assert_same(getattr(xp, name)(xp.asarray(n), initial=start), np.asarray(getattr(np, name)(n, initial=start)))


@pytest.mark.parametrize("name", ["sum", "mean", "max", "any", "std", "argmax"])
def test_reductions_write_to_out(xp, name):
    n = tame("float64")
    want = getattr(np, name)(n, axis=1)
    out = xp.zeros(want.shape, want.dtype)
    assert getattr(xp, name)(xp.asarray(n), axis=1, out=out) is out
    close(out, want, "float64", n.size, name)
    with pytest.raises(ValueError):
        getattr(xp, name)(xp.asarray(n), axis=1, out=xp.zeros(3, want.dtype))


def test_empty_reductions(xp):
    for name in ("sum", "prod", "any", "all"):
        assert_same(getattr(xp, name)(xp.zeros((0, 3))), np.asarray(getattr(np, name)(np.zeros((0, 3)))))
        assert_same(getattr(xp, name)(xp.zeros((0, 3)), axis=0), getattr(np, name)(np.zeros((0, 3)), axis=0))
        assert_same(getattr(xp, name)(xp.zeros((0, 3)), axis=1), getattr(np, name)(np.zeros((0, 3)), axis=1))
    for name in ("max", "min", "argmax", "argmin"):
        with pytest.raises(ValueError):
            getattr(xp, name)(xp.zeros((0, 3)), axis=0)
        assert getattr(xp, name)(xp.zeros((0, 3)), axis=1).shape == (0,)
        for axis in (0, 1, None):  # also where there is no result to be without a value
            with pytest.raises(ValueError):
                getattr(xp, name)(xp.zeros((0, 0)), axis=axis)
    with pytest.raises(ValueError, match="no identity"):
        xp.subtract.reduce(xp.zeros((0, 0)), axis=1)
    assert_same(xp.max(xp.zeros((2, 0)), axis=1, initial=3), np.max(np.zeros((2, 0)), axis=1, initial=3))
    assert np.isnan(float(xp.mean(xp.zeros(0))))
    assert np.isnan(float(xp.std(xp.zeros(0))))


def test_a_number_has_an_axis_to_reduce_over(xp):
    for name in ("sum", "max", "any", "argmax", "ptp", "count_nonzero", "nansum", "nanmin"):
        for axis in (0, -1):
            assert_same(getattr(xp, name)(3, axis=axis), np.asarray(getattr(np, name)(3, axis=axis)), name)
    for name, axis in (("mean", 0), ("std", -1), ("sum", 1)):
        with pytest.raises(np.exceptions.AxisError):
            getattr(xp, name)(3, axis=axis)


def test_nan_wins_in_max_and_is_left_out_of_fmax(xp):
    n = np.array([[1.0, np.nan, 3.0], [4.0, 5.0, -np.inf]])
    x = xp.asarray(n)
    for name in ("max", "min"):
        assert_same(getattr(xp, name)(x, axis=1), getattr(np, name)(n, axis=1))
        assert_same(getattr(xp, "nan" + name)(x, axis=1), getattr(np, "nan" + name)(n, axis=1))
    assert int(xp.argmax(x[0])) == 1 and int(xp.argmin(x[0])) == 1
    assert_same(xp.argmax(xp.asarray([[2, 7, 7], [7, 7, 1]]), axis=1), np.array([1, 0]))


@pytest.mark.parametrize(
    "name", ["nansum", "nanprod", "nanmax", "nanmin", "nanmean", "nanvar", "nanstd", "nanargmax", "nanargmin", "nancumsum", "nancumprod"]
)
@pytest.mark.parametrize("dtype", ["float32", "float64", "int64"])
def test_nan_functions_match_numpy(xp, name, dtype):
    n = tame(dtype)
    if dtype != "int64":
        n = n.copy()
        n[::2, 1::3] = np.nan
    for axis in (None, 0, 1):
        close(
            getattr(xp, name)(xp.asarray(n), axis=axis), numpy_value(getattr(np, name), n, axis=axis), dtype, n.size, f"{name} axis={axis}"
        )


def test_nan_functions_of_only_nan(xp):
    x = xp.full((2, 3), xp.nan)
    with pytest.raises(ValueError, match="All-NaN slice encountered"):
        xp.nanargmax(x, axis=1)
    assert np.isnan(host(xp.nanmax(x, axis=1))).all() and np.isnan(host(xp.nanmean(x))).all()
    assert float(xp.nansum(x)) == 0 and float(xp.nanprod(x)) == 1


@pytest.mark.parametrize("name", ["cumsum", "cumprod"])
@pytest.mark.parametrize("dtype", ["bool", "int8", "int64", "uint16", "float32", "float64", "complex128"])
def test_scans_match_numpy(xp, name, dtype):
    n = tame(dtype)
    if name == "cumprod" and np.dtype(dtype).kind in "fc":
        n = n[:4, :4]
    x = xp.asarray(n)
    for axis in (None, 0, 1, -1):
        close(getattr(xp, name)(x, axis=axis), numpy_value(getattr(np, name), n, axis=axis), dtype, n.size, f"{name} axis={axis}")
        close(getattr(xp, name)(x[::-1, ::2], axis=axis), numpy_value(getattr(np, name), n[::-1, ::2], axis=axis), dtype, n.size, "view")


def test_long_scan(xp):
    n = np.arange(100_003) % 17 - 8
    assert_same(xp.cumsum(xp.asarray(n)), np.cumsum(n))
    assert_same(xp.cumulative_sum(xp.asarray(n[:5]), include_initial=True), np.concatenate([[0], np.cumsum(n[:5])]))


@pytest.mark.parametrize("shape", [(1,), (1000,), (65_537,), (300, 257), (7, 3, 4099), (4099, 3), (2, 100_000), (100_000, 2)])
def test_sums_of_many_shapes(xp, shape):
    n = (np.arange(np.prod(shape)) % 23 - 11).astype(np.float32).reshape(shape)
    x = xp.asarray(n)
    assert_same(xp.sum(x, dtype=xp.float64), np.asarray(n.sum(dtype=np.float64)))  # small integers: exact in any order
    for axis in range(len(shape)):
        assert_same(x.sum(axis), n.sum(axis))
        assert_same(x.max(axis), n.max(axis))
        assert_same(x.argmin(axis), n.argmin(axis))


def test_sum_of_many_float32_is_accurate(xp):
    rng = np.random.default_rng(0)
    n = rng.random(3_000_000, dtype=np.float32)
    exact = float(n.sum(dtype=np.float64))
    assert abs(float(xp.asarray(n).sum()) - exact) <= 1e-6 * exact


def test_std_does_not_lose_digits_far_from_zero(xp):
    rng = np.random.default_rng(0)
    n = rng.standard_normal(200_000) + 1e8
    assert float(xp.std(xp.asarray(n))) == pytest.approx(float(n.std()), rel=1e-10)
    single = (rng.standard_normal(200_000) + 1e3).astype(np.float32)
    assert float(xp.std(xp.asarray(single))) == pytest.approx(float(single.astype(np.float64).std()), rel=1e-5)


def test_small_integers_are_summed_in_64_bits(xp):
    for dtype in ["bool", *INTS]:
        n = np.ones(1000, dtype)
        assert_same(xp.sum(xp.asarray(n)), np.asarray(n.sum()))
        assert_same(xp.asarray(n).cumsum()[-1], np.asarray(n.cumsum()[-1]))
        assert_same(xp.mean(xp.asarray(n)), np.asarray(n.mean()))


def test_ddof_correction_and_given_mean(xp):
    n = tame("float64")
    x = xp.asarray(n)
    close(xp.std(x, ddof=1), np.asarray(np.std(n, ddof=1)), "float64", n.size, "ddof")
    close(xp.var(x, axis=0, correction=2), np.var(n, axis=0, ddof=2), "float64", n.size, "correction")
    m = xp.mean(x, axis=0, keepdims=True)
    close(xp.var(x, axis=0, mean=m), np.var(n, axis=0), "float64", n.size, "mean")
    with pytest.raises(ValueError):
        xp.var(x, ddof=1, correction=1)


@pytest.mark.parametrize("axis", [None, 0, 1])
def test_average_matches_numpy(xp, axis):
    n, w = tame("float64"), np.arange(1, 49.0).reshape(6, 8)
    close(xp.average(xp.asarray(n), axis=axis), np.asarray(np.average(n, axis=axis)), "float64", n.size, "plain")
    got, scale = xp.average(xp.asarray(n), axis=axis, weights=xp.asarray(w), returned=True)
    want, sums = np.average(n, axis=axis, weights=w, returned=True)
    close(got, np.asarray(want), "float64", n.size, "weights")
    close(scale, np.asarray(sums), "float64", n.size, "sum of weights")
    if axis is not None:
        line = np.arange(1.0, 1 + n.shape[axis])
        close(xp.average(xp.asarray(n), axis=axis, weights=line), np.average(n, axis=axis, weights=line), "float64", n.size, "line")
    with pytest.raises(ZeroDivisionError):
        xp.average(xp.ones(3), weights=xp.zeros(3))


def test_cov_and_corrcoef_match_numpy(xp):
    n = tame("float64")
    close(xp.cov(xp.asarray(n)), np.cov(n), "float64", n.size, "cov")
    close(xp.cov(xp.asarray(n), rowvar=False, ddof=0), np.cov(n, rowvar=False, ddof=0), "float64", n.size, "columns")
    close(xp.corrcoef(xp.asarray(n)), np.corrcoef(n), "float64", n.size, "corrcoef")


def test_full_reductions_are_arrays_without_dimensions(xp):
    total = xp.arange(5).sum()
    assert isinstance(total, xp.ndarray) and total.shape == () and int(total) == 10
    assert total.item() == 10 and isinstance(total.item(), int)


def test_same_bits_every_time(xp):
    """A reduction runs over a fixed tree: the same array gives the same bits, whatever ran before."""
    rng = np.random.default_rng(3)
    x = xp.asarray(rng.standard_normal(1_000_003).astype(np.float32))
    sums = {x.sum().tobytes() for _ in range(5)} | {(x + 0).sum().tobytes()}
    assert len(sums) == 1


@pytest.mark.parametrize("dtype", REALS)
def test_norms_match_numpy(xp, dtype):
    n = tame(dtype)
    x = xp.asarray(n)
    eps = float(np.finfo(dtype).eps)
    for order in (None, 0, 1, 2, 3, np.inf, -np.inf, -1):
        got, want = xp.linalg.norm(x[0], order), np.linalg.norm(n[0].astype(np.float64), order)
        assert float(got) == pytest.approx(float(want), rel=32 * eps), order
        got, want = xp.linalg.norm(x, order, axis=1), np.linalg.norm(n.astype(np.float64), order, axis=1)
        np.testing.assert_allclose(host(got), want, rtol=32 * eps)
    for order in (None, "fro", 1, -1, np.inf, -np.inf, 2, -2, "nuc"):
        if dtype == "float16" and order in (2, -2, "nuc"):
            continue  # halves have no singular values
        assert float(xp.linalg.norm(x, order)) == pytest.approx(float(np.linalg.norm(n.astype(np.float64), order)), rel=64 * eps)
    assert xp.linalg.norm(x, keepdims=True).shape == (1, 1)
    with pytest.raises(ValueError):
        xp.linalg.norm(x, "nonsense")
    if dtype == "float16":
        return
    stack = xp.asarray(np.stack([n, n[::-1] * 2]))
    np.testing.assert_allclose(
        host(xp.linalg.norm(stack, "nuc", axis=(0, 2), keepdims=True)),
        np.linalg.norm(host(stack).astype(np.float64), "nuc", axis=(0, 2), keepdims=True),
        rtol=64 * eps,
    )


def test_reductions_of_expressions_match_plain_execution(xp):
    rng = np.random.default_rng(1)
    n, m = rng.standard_normal((200, 333)), rng.standard_normal((200, 333))
    x, y = xp.asarray(n), xp.asarray(m)

    def program(a, b, lib):
        e = lib.exp(a - a.max(axis=1, keepdims=True))
        s = e / e.sum(axis=1, keepdims=True)
        return s, (s * b).sum(axis=0), lib.sqrt(((a - b) ** 2).mean()), (a > b).any(axis=0)

    fused = [host(v) for v in program(x, y, xp)]
    with configured(lazy=False):
        plain = [host(v) for v in program(x, y, xp)]
    for f, p, w in zip(fused, plain, program(n, m, np)):
        assert_same(f, p, "fused and plain differ")
        np.testing.assert_allclose(f, w, rtol=1e-12)


def test_short_slices_warn(xp):
    rows, cells = xp.zeros((3, 0)), xp.ones((2, 1))
    for run, message in (
        (lambda: xp.mean(rows, axis=1), "Mean of empty slice"),
        (lambda: rows.mean(), "Mean of empty slice"),
        (lambda: xp.nanmean(rows, axis=1), "Mean of empty slice"),
        (lambda: xp.var(cells, axis=1, ddof=1), "Degrees of freedom <= 0 for slice"),
        (lambda: cells.std(1, ddof=2), "Degrees of freedom <= 0 for slice"),
        (lambda: xp.nanvar(rows), "Degrees of freedom <= 0 for slice"),
        (lambda: xp.nanstd(cells, axis=1, ddof=1), "Degrees of freedom <= 0 for slice"),
    ):
        with pytest.warns(RuntimeWarning, match=message):
            got = run()
        assert np.isnan(host(got)).all()


@pytest.mark.parametrize(
    "name, message",
    [
        ("nanmean", "Mean of empty slice"),
        ("nanmin", "All-NaN slice encountered"),
        ("nanmax", "All-NaN slice encountered"),
        ("nanvar", "Degrees of freedom <= 0 for slice"),
        ("nanstd", "Degrees of freedom <= 0 for slice"),
    ],
)
def test_slices_of_nan_warn_when_they_are_read(xp, name, message):
    rows = np.array([[1.0, 2.0], [np.nan, np.nan]])
    function = getattr(xp, name)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = function(xp.asarray(rows), axis=1)  # nothing has been computed: nobody knows yet
        assert float(result[0]) == float(getattr(np, name)(rows[0]))
    with pytest.warns(RuntimeWarning, match=message):
        assert np.isnan(result.get()[1])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result.get()  # once is enough
        repr(function(xp.asarray(rows[:1]), axis=1))
    with pytest.warns(RuntimeWarning, match=message):
        float(function(xp.asarray(rows[1])))
    with pytest.warns(RuntimeWarning, match=message):
        repr(function(xp.asarray(rows), axis=1))


def test_long_slices_do_not_warn(xp):
    import warnings

    none, some = xp.zeros((0, 3)), xp.ones((2, 3))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert xp.mean(none, axis=1).shape == xp.nanmean(none, axis=1).shape == xp.var(none, axis=1).shape == (0,)
        assert float(xp.nanstd(some, ddof=1)) == float(xp.var(some)) == 0


@pytest.mark.parametrize("name", ["nanargmin", "nanargmax"])
def test_nan_positions_of_nothing(xp, name):
    assert getattr(xp, name)(xp.zeros((0, 3)), axis=1).shape == (0,)
    for x, axis, message in (
        (xp.zeros((3, 0)), 1, "of an empty sequence"),
        (xp.zeros(0), None, "of an empty sequence"),
        (xp.array([[1.0, 2.0], [np.nan, np.nan]]), 1, "All-NaN slice encountered"),
    ):
        with pytest.raises(ValueError, match=message):
            getattr(xp, name)(x, axis=axis)


@pytest.mark.parametrize("dtype", ["int8", "uint16", "int32", "int64", "uint64", "float32", "float64"])
@pytest.mark.parametrize("name", ["argmax", "argmin"])
def test_first_extreme_of_long_rows(xp, name, dtype):
    rng = np.random.default_rng(5)
    a = rng.integers(0, 50, (4, 5000)).astype(dtype)
    if a.dtype.kind == "f":
        a[1, 4321] = a[1, 4400] = np.nan
        a[2] = np.inf
        a[3] = -0.0
        a[3, 7] = 0.0
    else:
        a[1] = np.iinfo(dtype).min
        a[2] = np.iinfo(dtype).max
    x = xp.array(a)
    for cut in (slice(None), slice(300), slice(255), slice(1, 1026)):
        assert_same(getattr(x[:, cut], name)(axis=1), getattr(a[:, cut], name)(axis=1), f"{name} {dtype} {cut}")
    assert int(getattr(x, name)()) == getattr(a, name)()
    assert_same(getattr(x * 2, name)(axis=1), getattr(a * 2, name)(axis=1))


def test_counts_of_true_elements(xp):
    for n in (1, 127, 128, 1000, 40000, 300001):
        m = np.arange(n) % 7 > 2
        x = xp.array(m)
        assert int(xp.count_nonzero(x)) == int(x.sum()) == m.sum()
        assert int(xp.count_nonzero(~x)) == n - m.sum()
        assert bool(x.all()) == m.all() and bool(x.any()) == m.any()
        assert int(x.prod()) == m.prod() and int(x.max()) == m.max()
    table = np.arange(3 * 1000).reshape(3, 1000) % 5 == 0
    assert_same(xp.count_nonzero(xp.array(table), axis=1), np.count_nonzero(table, axis=1))


def test_bincount(xp):
    values = np.arange(1000) * 7919 % 13
    weights = np.arange(1000) / 8
    for dtype in ("uint8", "int32", "int64", "uint64"):
        assert_same(xp.bincount(xp.array(values.astype(dtype))), np.bincount(values))
    assert_same(xp.bincount(xp.array(values), minlength=20), np.bincount(values, minlength=20))
    assert_same(xp.bincount(xp.array(values), xp.array(weights)), np.bincount(values, weights))
    assert_same(xp.bincount([]), np.bincount([]))
    assert_same(xp.bincount(xp.array([True, False, True])), np.bincount([True, False, True]))
    for arguments, error, message in (
        (([-1],), ValueError, "no negative elements"),
        (([[1]],), ValueError, "too deep"),
        (([1.5],), TypeError, "Cannot cast"),
        (([1], None, -1), ValueError, "minlength"),
        (([1, 2], [1]), ValueError, "same length"),
    ):
        with pytest.raises(error, match=message):
            xp.bincount(*arguments)


@pytest.mark.parametrize("dtype", ["?", "i1", "u2", "i8", "f2", "f8", "c8"])
@pytest.mark.parametrize("result", ["?", "i1", "u2", "i4", "i8"])
def test_means_in_integers(xp, dtype, result):
    x = np.array([[1, 2, 3.7], [4, 5, 0], [7, 120, 9]]).astype(dtype)
    a, mask = xp.asarray(x), x > 1
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for options in ({}, {"axis": 0}, {"axis": (0, 1), "keepdims": True}, {"axis": 1, "where": mask}):
            expected = np.mean(x, dtype=result, **options)
            got = xp.mean(a, dtype=result, **options)
            assert got.dtype == expected.dtype and got.shape == expected.shape
            np.testing.assert_array_equal(np.asarray(got), expected)
        np.testing.assert_array_equal(
            np.asarray(a.mean(axis=0, dtype=result, out=xp.zeros(3))), x.mean(axis=0, dtype=result, out=np.zeros(3))
        )
        if result != "?":
            np.testing.assert_array_equal(np.asarray(a.var(axis=0, dtype=result)), x.var(axis=0, dtype=result))


def test_nan_moments_take_no_integers(xp):
    for f in (xp.nanmean, xp.nanvar, xp.nanstd):
        with pytest.raises(TypeError, match="dtype must be inexact"):
            f(xp.zeros(3), dtype=int)


@pytest.mark.parametrize(
    ("shape", "axis"),
    [
        ((1, 9), 0),
        ((65, 4097), 0),
        ((300, 3, 50), 0),
        ((20000, 5), 0),
        ((257, 2048), 0),
        ((300000, 3), 0),
        ((40, 90, 2), (0, 1)),
        ((3000, 3), 1),
        ((70, 90, 2), 2),
        ((80, 4, 4), (1, 2)),
        ((3000, 2, 3), 2),
        ((5, 700, 4), 2),
        ((2500, 3, 7), 1),
        ((7, 3, 900, 2, 5), (1, 4)),
    ],
)
@pytest.mark.parametrize("dtype", ["float32", "float64", "int16", "complex64"])
def test_columns_and_short_rows_of_many_shapes(xp, shape, axis, dtype):
    rng = np.random.default_rng(3)
    a = rng.standard_normal(shape) * 30 + 500
    a = (a + 1j * rng.standard_normal(shape) if dtype == "complex64" else a).astype(dtype)
    b, wide = xp.asarray(a), a.astype("c16" if dtype == "complex64" else "f8")
    rtol = 2e-5 if dtype in ("float32", "complex64") else 1e-12
    for name in ("sum", "std", "var", "max"):
        np.testing.assert_allclose(host(getattr(xp, name)(b, axis=axis)), getattr(np, name)(wide, axis=axis), rtol=rtol)
    for name in ("argmax", "argmin", "any", "all", "count_nonzero"):
        if name.startswith("arg") and isinstance(axis, tuple):
            continue
        np.testing.assert_array_equal(host(getattr(xp, name)(b, axis=axis)), getattr(np, name)(a, axis=axis))


def test_distances_of_many_points_to_few_centres(xp):
    """Short rows whose operands share different axes: the loop runs along the points, and not along the centres."""
    rng = np.random.default_rng(11)
    points, centres = rng.standard_normal((5000, 3)), rng.standard_normal((6, 3))

    def nearest(m, points, centres):
        distance = ((points[:, None, :] - centres[None, :, :]) ** 2).sum(axis=2)
        return distance, distance.argmin(axis=1), (distance * distance[:, :1]).min(axis=1).sum()

    want = nearest(np, points, centres)
    got = nearest(xp, xp.asarray(points), xp.asarray(centres))
    for w, g in zip(want, got, strict=True):
        np.testing.assert_allclose(host(g), w, rtol=1e-12)


def test_places_of_complex_extremes_with_ties_and_nans(xp):
    rng = np.random.default_rng(4)
    for k in range(30):
        a = rng.integers(-2, 3, 700) + 1j * rng.integers(-2, 3, 700)
        if k % 3:
            a[rng.integers(0, 700)] = [np.nan, complex(0, np.nan)][k % 3 - 1]
        b = xp.asarray(a)
        assert (int(b.argmax()), int(b.argmin())) == (a.argmax(), a.argmin())


@pytest.mark.parametrize("dtype", ["float32", "float64", "int8", "uint16", "float16"])
def test_places_of_extremes_in_many_blocks_and_rows(xp, dtype):
    """Later blocks do not look for their place where an earlier one is as good; rows of columns are counted beyond what a byte holds."""
    up = np.arange(5000) // 45
    for a in (up, up[::-1], up * 0, np.where(np.arange(5000) == 4999, 1, 0), (np.arange(5000) % 1500) // 15):
        a = a.astype(dtype)
        x = xp.asarray(a)
        for name in ("argmax", "argmin"):
            assert int(getattr(x, name)()) == getattr(a, name)(), name
            wide = np.ascontiguousarray(np.broadcast_to(a[:1500, None], (1500, 37)))
            assert_same(getattr(xp.asarray(wide), name)(axis=0), getattr(wide, name)(axis=0))
        if a.dtype.kind == "f":
            for places in ([1030], [4000, 1030], [4999], [0, 2000]):
                b = a.copy()
                b[places] = np.nan
                assert int(xp.asarray(b).argmax()) == int(xp.asarray(b).argmin()) == min(places)


def test_any_and_all_of_long_rows(xp):
    for dtype in ("bool", "float16", "float32", "int64", "complex128"):
        for place in (None, 0, 1000, 70001):
            a = np.zeros(70002, dtype)
            if place is not None:
                a[place] = 1
            b = xp.asarray(a)
            assert (bool(b.any()), bool(b.all()), int(xp.count_nonzero(b)), int(b.argmax())) == (
                place is not None,
                False,
                int(place is not None),
                place or 0,
            )
            assert bool((b == b).all()) and bool((b + xp.ones((), dtype)).any())


def test_reduceat_of_long_and_short_segments(xp):
    a = np.random.default_rng(5).standard_normal((3, 40000)).astype("float32")
    for at in ([0, 39999, 5], [0, 30000], list(range(0, 40000, 7))):
        for name in ("add", "maximum", "subtract"):
            np.testing.assert_allclose(
                host(getattr(xp, name).reduceat(xp.asarray(a), at, axis=1)),
                getattr(np, name).reduceat(a.astype("f8"), at, axis=1),
                rtol=1e-5,
                atol=2e-3,
            )


@pytest.mark.parametrize("dtype", ["float64", "float32", "int64", "uint8", "bool", "complex64"])
@pytest.mark.parametrize("nan_at", [None, 0, 15, 4999, 9998, 9999])
def test_reduceat_of_a_line_with_few_or_many_segments(xp, dtype, nan_at):
    a = np.random.default_rng(3).normal(size=10000).cumsum().astype(dtype)
    if nan_at is not None and a.dtype.kind == "f":
        a[nan_at] = np.nan
    for at in ([0, 3, 6], [5, 5, 5000, 4], [9999, 0], range(0, 10000, 33), range(1, 10000, 17)):
        for name in ("maximum", "minimum", "fmax", "add"):
            got = host(getattr(xp, name).reduceat(xp.asarray(a), list(at)))
            expected = getattr(np, name).reduceat(a, list(at))
            assert got.dtype == expected.dtype
            eps = np.finfo(dtype).eps if np.dtype(dtype).kind in "fc" and name == "add" else 0
            np.testing.assert_allclose(got, expected, rtol=0, atol=10000 * eps * np.abs(np.nan_to_num(a)).sum())


@pytest.mark.parametrize("name", ["add", "multiply", "logical_and", "bitwise_or", "maximum", "subtract"])
def test_initial_of_none_asks_for_an_element(xp, name):
    ours, theirs = getattr(xp, name), getattr(np, name)
    full, none = np.arange(6).reshape(2, 3), np.zeros((0, 3), dtype=int)
    assert_same(ours.reduce(xp.asarray(full), initial=None), theirs.reduce(full, initial=None))
    with pytest.raises(ValueError, match="zero-size array"):
        ours.reduce(xp.asarray(none), initial=None)
    with pytest.raises(ValueError, match="does not have an identity"):
        ours.reduce(xp.asarray(full), initial=None, where=xp.asarray(full > 2))
    if name == "add":
        with pytest.raises(ValueError, match="zero-size array"):
            xp.sum(xp.asarray(none), axis=0, initial=None)
        assert_same(xp.sum(xp.asarray(none), axis=0), np.sum(none, axis=0))


@pytest.mark.parametrize("op", ["add", "multiply", "maximum", "minimum", "logical_and", "bitwise_or", "subtract", "divide", "power"])
@pytest.mark.parametrize("dtype", ["bool", "int8", "int64", "float32"])
@pytest.mark.parametrize("options", ["axis=()", "axis=(), initial=1", "initial=1", "axis=(), initial=1, where=m", "initial=1, where=m", ""])
def test_reductions_along_no_axis_and_from_a_start(xp, op, dtype, options):
    assert_like_numpy(
        xp, f"a = xp.array([[1, 0, 3], [4, 5, 6]], {dtype!r}); m = xp.array([[True, False, True]]); xp.{op}.reduce(a, {options})"
    )


@pytest.mark.parametrize(
    "code",
    [
        "xp.min(xp.zeros(0, int), initial=2.5)",
        "xp.min(xp.array([3, 4]), initial=2.5)",
        "xp.max(xp.array([3, 4]), initial=-2.5)",
        "xp.max(xp.zeros((2, 0), int), axis=1, initial=7.9)",
        "xp.max(xp.array([3, 4], 'i1'), initial=300)",
        "xp.sum(xp.array([3, 4]), initial=2.5)",
        "xp.sum(xp.array([3, 4], 'i1'), initial=300)",
        "xp.prod(xp.array([3, 4]), initial=2.5)",
        "xp.prod(xp.array([3, 4]), initial=xp.array([2]))",
        "xp.prod(xp.array([1e200, 1e200]), initial=0)",
        "xp.prod(xp.array([[1e200, 1e200], [2, 3]]), axis=1, initial=1e-300)",
        "xp.prod(xp.array([1e200, 1e200]), initial=1e-300, where=xp.array([False, True]))",
        "xp.prod(xp.array([1e200, 1e200], 'c16'), initial=0)",
        "xp.max(xp.array([3, 4]), initial=np.float64(7.5))",
        "xp.max(xp.array([3, 4]), initial=float('nan'))",
        "xp.max(xp.array([3, 4]), initial=2.5, where=xp.array([False, True]))",
        "xp.maximum.reduce(xp.array([True, False]), initial=1)",
        "xp.maximum.reduce(xp.array([True, False]), initial=2)",
        "xp.minimum.reduce(xp.array([], bool), initial=2)",
        "xp.argmax(xp.arange(4).reshape(2, 2), axis=())",
        "xp.arange(4).reshape(2, 2).argmax(axis=())",
        "xp.argmin(xp.arange(4).reshape(2, 2), axis=(0,))",
        "xp.argmin(xp.zeros(0))",
        "xp.argmax(xp.arange(4), axis=None)",
    ],
)
def test_starts_and_axes_of_reductions(xp, code):
    assert_like_numpy(xp, code)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("shape, axis", [((40_000,), None), ((3, 5000), 1), ((5000, 3), 0)])
def test_products_with_a_zero_are_zero_though_the_other_factors_overflow(xp, mode, dtype, shape, axis):
    n = np.full(shape, 10, dtype)
    n[(slice(None, 2),) * n.ndim] = 0
    assert_same(xp.prod(xp.array(n), axis), np.prod(n, axis))
    n[...] = 10
    n.flat[-1] = 0  # NumPy's order passes infinity first here
    got = host(xp.prod(xp.array(n), axis))
    assert not np.isnan(got).any() and (np.isinf(got) | (got == 0)).all()
    n.flat[0] = np.inf
    assert np.isnan(host(xp.prod(xp.array(n)))).all()
    n.flat[-1] = 1
    assert np.isinf(host(xp.prod(xp.array(n)))).all()
    n.flat[5] = np.nan
    assert np.isnan(host(xp.prod(xp.array(n)))).all()


@pytest.mark.parametrize(
    "name", ["add.reduce", "multiply.reduce", "maximum.reduce", "add.accumulate", "minimum.accumulate", "add.reduceat"]
)
@pytest.mark.parametrize("target", "?HiefD")
@pytest.mark.parametrize("source", "?bqf")
def test_the_output_takes_part_in_the_choice_of_the_loop(xp, name, source, target):
    a = np.array([3.5, 100, 2**15, 2**15, 1]).astype(source) if source not in "?bBe" else np.array([3, 100, 0, 100, 100]).astype(source)
    if source == "q":
        a[1:3] = 2**62  # a sum past int64 fits into a float
    shape = {"reduce": (), "accumulate": (5,), "reduceat": (2,)}[name.partition(".")[2]]
    results = []
    for lib, x in ((np, a), (xp, xp.array(a))):
        function = lib
        for part in name.split("."):
            function = getattr(function, part)
        out = lib.zeros(shape, target)
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            returned = function(x, *([[0, 2]] if shape == (2,) else []), out=out)
        assert returned is out
        results.append(host(out) if lib is xp else out)
    # Else floats may lie beyond an integer's range.
    if target in "efdD" or np.can_cast(np.result_type(source, target), target, "same_kind"):
        np.testing.assert_allclose(results[1], results[0], rtol=1e-2 if target == "e" or source == "e" else 1e-6)


def test_an_output_of_another_type_with_an_initial_value(xp):
    out = xp.zeros((), "u1")
    assert host(xp.max(xp.array(True), initial=5, out=out)) == 5
    running = xp.zeros(4)
    xp.cumsum(xp.full(4, 2**62), out=running)
    assert np.array_equal(host(running), 2.0**62 * np.arange(1, 5))


@pytest.mark.parametrize("name", ["std", "var", "nanstd", "nanvar"])
@pytest.mark.parametrize("dtype", ["bool", "uint8", "int32", "float64", "complex64", "complex128"])
@pytest.mark.parametrize("source", ["bool", "int32", "float32", "complex64"])
def test_deviations_in_any_dtype(xp, name, source, dtype):
    for options in (f"dtype={dtype!r}", f"1, dtype={dtype!r}", f"1, dtype={dtype!r}, keepdims=True", f"0, dtype={dtype!r}, ddof=1"):
        assert_close_to_numpy(xp, f"xp.{name}(x, {options})", 1e-6, x=np.arange(6).reshape(2, 3).astype(source))


def test_nan_deviations_in_complex_numbers_are_complex(xp):
    for name in ("nanstd", "nanvar"):
        assert_close_to_numpy(xp, f"xp.{name}(x, dtype='c16')", 1e-6, x=np.array([1, np.nan, 4]))


@pytest.mark.parametrize("name", ["std", "var", "nanstd", "nanvar"])
@pytest.mark.parametrize("source", ["bool", "int8", "float16", "float32", "complex64"])
def test_deviations_from_a_given_mean_have_numpys_dtype(xp, name, source):
    x = np.array([[1, 2, 4], [0, 1, 9]]).astype(source)
    for mean in ("1.5", "2", "xp.array([[1.5], [2]])", "xp.array([[1], [2]], 'f4')"):
        for options in ("", ", dtype='f4'", ", dtype='c16'", ", ddof=3", ", keepdims=True", ", where=xp.array([True, False, True])"):
            if "," in mean and "c16" in options and name.startswith("nan") and source == "complex64":
                continue
            assert_close_to_numpy(xp, f"xp.{name}(x, axis=1, mean={mean}{options})", 3e-3 if source == "float16" else 1e-6, x=x)


@pytest.mark.parametrize("where", ["None", "0", "1", "2.5", "0.0", "np.int64(1)", "np.float32(0)", "False", "[1, 0, 2]", "xp.array(1)"])
def test_masks_of_one_value_are_read_by_their_truth(xp, where):
    for code in (f"xp.sum(x, where={where})", f"x.any(where={where})", f"xp.max(x, initial=0, where={where})",
                 f"xp.nansum(x, where={where})",
                 f"xp.add(x, 1, out=xp.zeros(3), where={where})", f"xp.clip(x, 1, 2, out=xp.zeros(3), where={where})"):  # fmt: skip
        assert_like_numpy(xp, f"x = xp.arange(3.0) + 1; {code}")


def test_deviations_in_booleans_go_to_a_wider_output(xp):
    for name in ("var", "std"):
        assert_close_to_numpy(xp, f"xp.{name}(x, 0, dtype=bool, out=xp.zeros(3))", 1e-12, x=np.array([[1, 2, 3], [1, 3, 3], [1, 2, 8]]))


@pytest.mark.parametrize("dtype", ["uint8", "int64", "float32", "float64", "complex128"])
@pytest.mark.parametrize("name", ["power", "arctan2", "logaddexp"])
def test_folds_of_long_functions_go_element_by_element(xp, name, dtype):
    # NumPy's own arctan2.reduce does not: its vectors of several elements join out of order.
    if name != "power" and dtype == "complex128":
        pytest.skip("no such row")
    row = getattr(xp, name)
    rng = np.random.default_rng(6)
    whole = np.dtype(dtype).kind in "iu"
    lines = rng.integers(0, 5, (9, 40)) if whole else rng.normal(size=(9, 40)) * 0.7 + 1
    lines = lines.astype(dtype)
    lines[0, 0] = lines[1, 0] = 0
    lines[2, 0] = 1
    if not whole:
        lines[3, 5], lines[4, 0], lines[5, 0], lines[6, 0] = np.nan, 1, -0.0, 90
    x = xp.asarray(lines)
    with np.errstate(all="ignore"):
        running = x[:, 0].astype(row(x[:1, 0], x[:1, 0]).dtype)
        for k in range(1, lines.shape[1]):
            running = row(running, x[:, k].astype(running.dtype))
    rtol = {2: 1e-2, 4: 1e-5}.get(running.dtype.itemsize, 1e-12)
    for made in (row.reduce(x, axis=1), row.accumulate(x, axis=1)[:, -1]):
        assert made.dtype == running.dtype
        np.testing.assert_allclose(host(made), host(running), rtol=rtol)


@pytest.mark.parametrize(
    "shape, axis", [((1,), 0), ((7,), None), ((5000,), None), ((3, 4), 0), ((3, 4), 1), ((40, 300), 0), ((40, 300), 1), ((3, 1), 1)]
)
def test_sums_and_means_of_negative_zeros_are_positive(xp, mode, shape, axis):
    for dtype in ("float16", "float32", "float64", "complex128"):
        n = np.full(shape, -0.0, dtype)
        for name in ("sum", "mean", "nansum"):
            got, wanted = host(getattr(xp, name)(xp.asarray(n), axis=axis)), getattr(np, name)(n, axis=axis)
            for part in (np.real, np.imag):
                np.testing.assert_array_equal(np.signbit(part(got)), np.signbit(part(wanted)), f"{name} of {dtype}")
    x = xp.asarray(np.full(shape, -0.0))
    assert not host(xp.signbit((x * xp.ones(shape)).sum(axis=axis))).any()


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "complex64", "complex128"])
@pytest.mark.parametrize("jit", [False, True], ids=["tier0", "jit"])
def test_rows_of_at_most_1024_numbers_are_added_in_numpys_order(dtype, jit):
    """To the bit on the CPU, so that programs print the same digits."""
    rng = np.random.default_rng(3)
    with configured(jit=jit, background_compile=False):
        for n in (*range(1, 20), 31, 32, 63, 64, 127, 128, 129, 136, 200, 255, 256, 257, 500, 777, 1000, 1023, 1024):
            x = rng.normal(size=(3, 2 * n)).astype(dtype)
            if x.dtype.kind == "c":
                x.imag = rng.normal(size=x.shape)
            with np.errstate(over="ignore"):
                for rows in (x[:, :n], x[:, ::2], x[0, :n]):
                    on_cpu = bc.array(rows, device="cpu")
                    for name in ("sum", "mean") if x.dtype.kind == "f" else ("sum",):  # NumPy's complex means are products with 1 / n
                        assert_same(getattr(on_cpu, name)(axis=-1), getattr(rows, name)(axis=-1), f"{name} of {rows.shape} {dtype}")
                    if dtype == "float64":
                        for name in ("var", "std"):
                            assert_same(getattr(on_cpu, name)(axis=-1), getattr(rows, name)(axis=-1), f"{name} of {rows.shape} {dtype}")
                    if dtype[0] == "f":
                        assert_same((on_cpu * on_cpu).sum(axis=-1), (rows * rows).sum(axis=-1), f"squares of {rows.shape} {dtype}")
