"""Convolution, interpolation and windows against NumPy."""

from __future__ import annotations

import numpy as np
import pytest

import broadcloth as bc
from support import DTYPES, assert_close_to_numpy

MODES = ["full", "same", "valid"]


def vector(dtype: str, size: int) -> np.ndarray:
    rng = np.random.default_rng([size, DTYPES.index(dtype)])
    kind = np.dtype(dtype).kind
    v = rng.integers(0 if kind in "bu" else -3, 4, size)
    return (v + 1j * rng.integers(0, 3, size)).astype(dtype) if kind == "c" else v.astype(dtype)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("mode", MODES)
def test_sums_of_products_match_numpy(xp, dtype, mode):
    """Of whole numbers, so that every order of the sum gives the same."""
    for n, k in [(1, 1), (5, 1), (5, 3), (3, 5), (4, 4), (200, 20), (150, 170), (70, 700), (3000, 3), (70_000, 4), (70_000, 20)]:
        for f in ("convolve", "correlate"):
            assert_close_to_numpy(xp, f"xp.{f}(x, v, mode)", x=vector(dtype, n), v=vector(dtype, k), mode=mode)


@pytest.mark.parametrize("mode", MODES)
def test_infinities_do_not_meet_what_lies_outside(xp, mode):
    rng = np.random.default_rng(0)
    for n, k in [(5, 3), (3, 3), (100, 4), (300, 70), (2, 2), (100, 2), (2, 1)]:
        x, v = rng.random(n), rng.random(k)
        x[0], v[-1] = np.inf, -np.inf
        for form in ("xp.convolve(x, v, mode)", "xp.correlate(x, v, mode)", "xp.correlate(v, x, mode)"):
            assert_close_to_numpy(xp, form, 1e-13, x=x, v=v, mode=mode)


@pytest.mark.parametrize(
    "form",
    [
        "xp.convolve(x[::3], v[::-2], 'same')",
        "xp.correlate(x[::-1], v[:5], 'valid')",
        "xp.correlate(x[::-1] * 2, v + 1, 'valid')",
        "xp.convolve(x, v, 1)",
        "xp.convolve(x, v, 3)",
        "xp.convolve(x, v, 1.5)",
        "xp.convolve(x, v, 'x')",
        "xp.convolve(x.astype('f'), v.astype(int))",
        "xp.convolve([], [1])",
        "xp.convolve([1], [])",
        "xp.convolve(3, 4)",
        "xp.convolve([[1]], [1])",
        "xp.correlate([], [1])",
        "xp.correlate(3, 4)",
        "xp.correlate([[1]], [1])",
        "xp.correlate([1, 2, 3], [0.5, 1])",
    ],
)
def test_forms_of_convolution(xp, form):
    rng = np.random.default_rng(0)
    assert_close_to_numpy(xp, form, 1e-13, x=rng.random(401), v=rng.random(33))


def test_long_kernels(xp):
    rng = np.random.default_rng(0)
    for mode in MODES:
        assert_close_to_numpy(xp, "xp.convolve(x, v, mode)", 1e-12, x=rng.random(3000), v=rng.random(900), mode=mode)


# ---- Interpolation ----------------------------------------------------------------------------------------------------------------------

INTERPOLATIONS = [
    "xp.interp(q, p, f)",
    "xp.interp(q, p, f, left=-1)",
    "xp.interp(q, p, f, -1, right=5.5)",
    "xp.interp(q, p, f, period=3)",
    "xp.interp(q, p[::-1], f, period=-3.)",
    "xp.interp(q.reshape(3, -1).T, p, f)",
    "xp.interp(1.5, p, f)",
    "xp.interp([1, 2, 3], p, f)",
    "xp.interp(q, p[:1], f[:1])",
    "xp.interp(q[:0], p, f)",
    "xp.interp(q, p, f[1:])",
    "xp.interp(q, p[:0], f[:0])",
    "xp.interp(q, xp.asarray([1, 2, 2, 3]), f[:4])",
    "xp.interp(q, p, f, period=0)",
    "xp.interp(q * 1j, p, f)",
    "xp.interp(q, p.reshape(1, -1), f)",
    "xp.interp(q, p.reshape(1, -1), f, period=3)",
    "xp.interp(q, p, f[1:], period=3)",
]


@pytest.mark.parametrize("name", ["convolve", "correlate"])
def test_factors_that_differ_between_the_examples_of_a_vmap(xp, name):
    rng = np.random.default_rng(3)
    a, v = rng.normal(size=(3, 700)), rng.normal(size=(3, 650))
    got = np.asarray(bc.autograd.vmap(lambda x, y: getattr(xp, name)(x, y, "full"))(xp.asarray(a), xp.asarray(v)))
    np.testing.assert_allclose(got, [getattr(np, name)(x, y, "full") for x, y in zip(a, v, strict=True)], rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("mode", ["full", "same", "valid"])
@pytest.mark.parametrize("sizes", [(1300, 1300), (1500, 700), (3000, 600), (40, 1100)])
@pytest.mark.parametrize("dtype", ["float64", "int64", "complex128", "bool"])
def test_edges_that_are_computed_in_pieces(xp, dtype, sizes, mode):
    rng = np.random.default_rng(2)
    a, v = ((10 * rng.normal(size=n)).astype(dtype) for n in sizes)
    for special in (False, True):
        if special and dtype == "float64":
            v[len(v) // 2], a[len(a) // 3] = np.inf, np.nan
        for name in ("convolve", "correlate"):
            got = np.asarray(getattr(xp, name)(xp.asarray(a), xp.asarray(v), mode))
            expected = getattr(np, name)(a, v, mode)
            assert got.dtype == expected.dtype
            np.testing.assert_allclose(got, expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("kind", ["real", "complex", "special", "int", "single"])
def test_interp_matches_numpy(xp, kind):
    rng = np.random.default_rng(0)
    p, f, q = np.sort(rng.random(20) * 10), rng.random(20) * 9, rng.random(300) * 14 - 2
    q[:3], q[3:9], q[10] = [np.nan, np.inf, -np.inf], p[:6], p[-1]
    if kind == "special":
        f[3], f[8] = np.inf, np.nan
    if kind != "special":
        f = f.astype({"single": "f", "int": int}.get(kind, float)) * (1 + 2j if kind == "complex" else 1)
    for form in INTERPOLATIONS:
        assert_close_to_numpy(xp, form, 1e-14, p=p, f=f, q=q)


# ---- Windows ----------------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("count", [0, 1, 2, 5, 6, 5.5, -3, 100, True, np.float32(7)])
def test_windows_match_numpy(xp, count):
    for name in ("bartlett", "blackman", "hamming", "hanning"):
        assert_close_to_numpy(xp, f"xp.{name}(n)", 1e-14, n=count)
    for beta in (0, 0.5, 14):
        assert_close_to_numpy(xp, "xp.kaiser(n, beta)", 1e-13, n=count, beta=beta)


def test_windows_lie_on_the_device_that_is_asked_for(xp):
    for window in (xp.bartlett(4, device="cpu"), xp.kaiser(4, 2.0, device="cpu"), xp.hanning(1, device="cpu")):
        assert window.device.type == "cpu"
