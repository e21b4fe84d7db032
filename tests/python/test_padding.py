"""pad's modes, gradients over uneven spacings and weighted covariances, against NumPy."""

from __future__ import annotations

import numpy as np
import pytest

from support import assert_same

DTYPES = ["bool", "int8", "uint8", "int32", "int64", "float16", "float32", "float64", "complex64", "complex128"]
STATISTICS = ["maximum", "mean", "median", "minimum"]


def _sample(dtype: str, shape: tuple[int, ...]) -> np.ndarray:
    values = np.random.default_rng(7).integers(0, 9, shape)
    if dtype.startswith("complex"):
        return (values + 1j * values[..., ::-1]).astype(dtype)
    return (values % 2 if dtype == "bool" else values).astype(dtype)


def _same(got, expected, tolerance: float = 0.0) -> None:
    assert got.dtype == expected.dtype and got.shape == expected.shape
    np.testing.assert_allclose(got.get(), expected, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("widths", [2, (3, 0), [(1, 2), (0, 4)]])
def test_linear_ramp(xp, dtype, widths):
    x = _sample(dtype, (3, 4))
    # With a pair for each axis NumPy computes in halves; here ramps are of doubles.
    tolerance = 2e-3 if dtype == "float16" else 1e-6
    for options in ({}, {"end_values": 3}, {"end_values": [(1, 2), (3, 0)]}):
        _same(xp.pad(xp.array(x), widths, "linear_ramp", **options), np.pad(x, widths, "linear_ramp", **options), tolerance)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("mode", STATISTICS)
@pytest.mark.parametrize("length", [None, 2, (1, 3), [(9, 1), (2, 2)]])
def test_statistics(xp, dtype, mode, length):
    x = _sample(dtype, (3, 5))
    if dtype == "bool" and mode == "median":
        pytest.skip("NumPy has no median of bools here")
    options = {} if length is None else {"stat_length": length}
    widths = [(1, 2), (3, 0)]
    tolerance = 2e-3 if dtype == "float16" else 1e-6
    _same(xp.pad(xp.array(x), widths, mode, **options), np.pad(x, widths, mode, **options), tolerance)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("mode", ["reflect", "symmetric"])
@pytest.mark.parametrize("widths", [1, (2, 5), (11, 7), [(0, 3), (4, 0)]])
def test_odd_mirrors(xp, dtype, mode, widths):
    for shape in ((3, 4), (1, 2)):
        x = _sample(dtype, shape)
        _same(xp.pad(xp.array(x), widths, mode, reflect_type="odd"), np.pad(x, widths, mode, reflect_type="odd"))


def test_functions(xp):
    def frame(vector, widths, axis, options):
        if widths[0]:
            vector[: widths[0]] = options.get("value", 10) + axis
        if widths[1]:
            vector[-widths[1] :] = -1

    x = np.arange(6).reshape(2, 3)
    _same(xp.pad(xp.array(x), [(1, 2), (0, 3)], frame), np.pad(x, [(1, 2), (0, 3)], frame))
    _same(xp.pad(xp.array(x), 1, frame, value=4), np.pad(x, 1, frame, value=4))


def test_empty(xp):
    x = np.arange(6.0).reshape(2, 3)
    got = xp.pad(xp.array(x), 2, "empty")
    assert got.shape == (6, 7)
    np.testing.assert_array_equal(got.get()[2:4, 2:5], x)


@pytest.mark.parametrize("mode", ["edge", "linear_ramp", "mean", "reflect", "wrap", "constant", "empty"])
def test_empty_axes(xp, mode):
    x = np.zeros((0, 2))
    if mode in ("constant", "empty"):
        assert xp.pad(xp.array(x), 1, mode).shape == (2, 4)
        return
    for module, a in ((np, x), (xp, xp.array(x))):
        with pytest.raises(ValueError, match="can't extend empty axis 0"):
            module.pad(a, 1, mode)


@pytest.mark.parametrize(
    "widths, mode, options, error",
    [
        (1.5, "mean", {}, TypeError),
        (-1, "mean", {}, ValueError),
        (1, "mean", {"stat_length": -1}, ValueError),
        (1, "maximum", {"stat_length": 0}, ValueError),
        (1, "linear_ramp", {"stat_length": 1}, ValueError),
        (1, "average", {}, ValueError),
    ],
)
def test_pad_errors(xp, widths, mode, options, error):
    x = np.arange(4.0)
    for module, a in ((np, x), (xp, xp.array(x))):
        with pytest.raises(error):
            module.pad(a, widths, mode, **options)


@pytest.mark.parametrize("dtype", ["int32", "float32", "float64", "complex64", "complex128"])
@pytest.mark.parametrize("edge_order", [1, 2])
@pytest.mark.parametrize("where", ["host", "device"])
def test_uneven_gradient(xp, dtype, edge_order, where):
    f = _sample(dtype, (5, 4))
    rows, columns = np.array([0.0, 1.0, 1.5, 4.0, 4.25]), np.array([0, 1, 3, 4])
    given = [rows, columns] if where == "host" else [xp.array(rows), xp.array(columns)]
    for got, expected in zip(xp.gradient(xp.array(f), *given, edge_order=edge_order), np.gradient(f, rows, columns, edge_order=edge_order)):
        _same(got, expected, 1e-5 if "32" in dtype or "64" in dtype else 1e-12)
    _same(xp.gradient(xp.array(f), given[0], axis=0, edge_order=edge_order), np.gradient(f, rows, axis=0, edge_order=edge_order), 1e-5)
    for got, expected in zip(xp.gradient(xp.array(f), 2, given[1]), np.gradient(f, 2, columns)):
        _same(got, expected, 1e-5)


def test_even_coordinates(xp):
    f, x = np.arange(5.0) ** 2, np.arange(5) * 0.5
    for edge_order in (1, 2):
        _same(xp.gradient(xp.array(f), x, edge_order=edge_order), np.gradient(f, x, edge_order=edge_order))
        _same(xp.gradient(xp.array(f), xp.array(x), edge_order=edge_order), np.gradient(f, x, edge_order=edge_order), 1e-12)


def test_gradient_errors(xp):
    f = np.arange(6.0).reshape(2, 3)
    for module, a in ((np, f), (xp, xp.array(f))):
        with pytest.raises(ValueError, match="when 1d"):
            module.gradient(a, np.arange(3.0), np.arange(3.0))
        with pytest.raises(ValueError, match="scalars or 1d"):
            module.gradient(a, f, f)
        with pytest.raises(TypeError, match="invalid number of arguments"):
            module.gradient(a, np.arange(3.0))
        with pytest.raises(ValueError, match="edge_order"):
            module.gradient(a, edge_order=3)
        with pytest.raises(ValueError, match="too small"):
            module.gradient(a, edge_order=2)


WEIGHTS = [
    {"fweights": [1, 2, 0, 3]},
    {"aweights": [0.5, 1.0, 2.0, 0.25]},
    {"fweights": [1, 2, 1, 3], "aweights": [0.5, 1.0, 2.0, 0.25]},
]


@pytest.mark.parametrize("dtype", ["int32", "float32", "float64", "complex128"])
@pytest.mark.parametrize("weights", WEIGHTS)
def test_weighted_cov(xp, dtype, weights):
    x = _sample(dtype, (3, 4))
    device_weights = {name: xp.array(w) for name, w in weights.items()}
    for options in ({}, {"bias": True}, {"ddof": 0}, {"ddof": 1}):
        _same(xp.cov(xp.array(x), **weights, **options), np.cov(x, **weights, **options), 1e-12)
        _same(xp.cov(xp.array(x), **device_weights, **options), np.cov(x, **weights, **options), 1e-12)
    _same(xp.cov(xp.array(x.T), rowvar=False, **weights), np.cov(x.T, rowvar=False, **weights), 1e-12)
    _same(xp.cov(xp.array(x), xp.array(x[0] * 2), **weights), np.cov(x, x[0] * 2, **weights), 1e-12)
    _same(xp.cov(xp.array(x[0]), **weights), np.cov(x[0], **weights), 1e-12)
    if dtype == "float32":
        _same(xp.cov(xp.array(x), dtype="float32", **weights), np.cov(x, dtype="float32", **weights), 1e-5)


@pytest.mark.parametrize(
    "weights, error",
    [
        ({"fweights": [1.5, 1, 1, 1]}, TypeError),
        ({"fweights": [1, 1]}, RuntimeError),
        ({"fweights": [[1, 1, 1, 1]]}, RuntimeError),
        ({"fweights": [1, -1, 1, 1]}, ValueError),
        ({"aweights": [1, -1, 1, 1]}, ValueError),
        ({"aweights": [0, 0, 0, 0]}, ZeroDivisionError),
    ],
)
def test_weighted_cov_errors(xp, weights, error):
    x = np.arange(8.0).reshape(2, 4)
    for module, a in ((np, x), (xp, xp.array(x))):
        with pytest.raises(error):
            module.cov(a, **weights)


def test_weighted_cov_without_freedom(xp):
    with pytest.warns(RuntimeWarning, match="Degrees of freedom <= 0 for slice"):
        assert np.isnan(float(xp.cov(xp.array([1.0, 2.0, 3.0]), fweights=[1, 0, 0])))


MODES = ["constant", "empty", "edge", "reflect", "symmetric", "wrap", "mean", "median", "maximum", "minimum", "linear_ramp"]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("shape, width", [((3,), 0), ((2, 2), ((0, 0), (0, 0))), ((), 0), ((), 2), ((0,), 0)])
def test_padding_by_nothing_is_a_copy(xp, mode, shape, width):
    a = xp.ones(shape)
    b = xp.pad(a, width, mode=mode)
    b[...] = 7
    assert_same(a, np.ones(shape))


def test_padding_odd_by_nothing_is_a_copy(xp):
    a = xp.ones(3)
    xp.pad(a, 0, mode="reflect", reflect_type="odd")[0] = 7
    assert_same(a, np.ones(3))


@pytest.mark.parametrize("mode", ["constant", "edge", "mean", "linear_ramp", "reflect", "wrap", "empty"])
def test_padding_lies_in_memory_as_the_array_does(xp, mode):
    for order in "CF":
        x = np.arange(6.0).reshape(2, 3).copy(order)
        ours, theirs = xp.pad(xp.array(x), 1, mode), np.pad(x, 1, mode)
        assert (ours.flags.c_contiguous, ours.flags.f_contiguous) == (theirs.flags.c_contiguous, theirs.flags.f_contiguous)
        if mode != "empty":
            np.testing.assert_array_equal(ours.get(), theirs)


@pytest.mark.parametrize("mode", ["edge", "reflect", "symmetric", "wrap"])
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("widths", [1, (2, 0), (0, 3), [(1, 2), (0, 4)], [(0, 0), (4, 4)], [(3, 3), (4, 3)], 5, [(2, 9), (9, 1)]])
def test_continued_borders(xp, mode, order, widths):
    """Those of the array's own elements once, and wider ones that repeat them."""
    for shape in ((4, 5), (1, 5)):
        x = np.asarray(_sample("int32", shape), order=order)
        _same(xp.pad(xp.asarray(x), widths, mode), np.pad(x, widths, mode))
