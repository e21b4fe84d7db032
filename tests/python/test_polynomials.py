"""Polynomials against NumPy: arithmetic, evaluation, derivatives, poly1d."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from support import assert_close_to_numpy

POLYNOMIALS = {
    "ints": np.array([1, 2, 3]),
    "zeros in front": np.array([0, 0, 1.5, 2]),
    "constant": np.array([2.0]),
    "complex": np.array([1 + 1j, 2]),
    "single": np.array([1, 0, -1, 4, 5], "f"),
    "short": np.array([3, 1], "h"),
}


@pytest.mark.parametrize("pair", [*itertools.product(POLYNOMIALS, POLYNOMIALS)], ids=" and ".join)
def test_arithmetic_matches_numpy(xp, pair):
    p, q = (POLYNOMIALS[name] for name in pair)
    forms = [f"xp.{f}(p, q)" for f in ("polyadd", "polysub", "polymul", "polydiv", "polyval")]
    forms += [f"xp.{f}(xp.poly1d(p), q).coeffs" for f in ("polyadd", "polysub", "polymul")]
    forms += [
        "xp.poly1d(p)(q)",
        "(xp.poly1d(p) * xp.poly1d(q)).coeffs",
        "(xp.poly1d(p) - q).coeffs",
        "(q + xp.poly1d(p)).coeffs" if p.size > 9 else "(xp.poly1d(q) + p).coeffs",
        "xp.poly1d(p)(xp.poly1d(q)).coeffs",
        "xp.poly1d(p) == xp.poly1d(q)",
        "xp.poly1d(p) != xp.poly1d(q)",
        "[r.coeffs for r in xp.polydiv(xp.poly1d(p), xp.poly1d(q))]",
        "[r.coeffs for r in xp.poly1d(p) / xp.poly1d(q)]",
    ]
    for form in forms:
        assert_close_to_numpy(xp, form, 1e-6, p=p, q=q)


@pytest.mark.parametrize("name", POLYNOMIALS)
def test_calculus_and_poly1d_match_numpy(xp, name):
    p = POLYNOMIALS[name]
    for m in (0, 1, 2, 7, -1):
        for form in (
            "xp.polyder(p, m)",
            "xp.polyint(p, m)",
            "xp.polyint(p, m, 3)",
            "xp.polyint(p, m, [1, 2, 3.5])",
            "xp.polyint(p, m, k=[])",
            "xp.poly1d(p).integ(m, k=1).coeffs",
            "xp.poly1d(p).deriv(m).coeffs",
        ):
            assert_close_to_numpy(xp, form, 1e-6, p=p, m=m)
    for form in (
        "xp.poly(p)",
        "xp.poly1d(p, True).c",
        "(xp.poly1d(p) ** 3).coeffs",
        "(xp.poly1d(p) ** -1).coeffs",
        "(2 * xp.poly1d(p) / 3).coeffs",
        "(-xp.poly1d(p) + 1).coeffs",
        "(1 - xp.poly1d(p)).coeffs",
        "xp.poly1d(p)[0]",
        "xp.poly1d(p)[99]",
        "len(xp.poly1d(p))",
        "xp.poly1d(p).o",
        "str(xp.poly1d(p))",
        "str(xp.poly1d(p, variable='z'))",
        "repr(xp.poly1d(p))",
        "np.asarray(xp.poly1d(p))",
        "q = xp.poly1d(p); q[5] = 3; q[0] = 1; q.coeffs",
        "q = xp.poly1d(p); q[-1] = 3",
        "q = xp.poly1d(p); q.coeffs = [1]",
        "q = xp.poly1d(p); q.coeffs += 1; q.coeffs",
        "[x.tolist() for x in xp.poly1d(p)]",
        "hash(xp.poly1d(p))",
    ):
        assert_close_to_numpy(xp, form, 1e-6, p=p)


@pytest.mark.parametrize(
    "form",
    [
        "xp.poly([1, 2, 3])",
        "xp.poly([1j, -1j])",
        "xp.poly([1j, 2])",
        "xp.poly([[1, 2, 3]])",
        "xp.poly(xp.asarray([1, 2], dtype='f'))",
        "xp.poly1d([]).coeffs",
        "xp.poly1d([[1]])",
        "xp.polyval([1, 2, 3], 2)",
        "xp.polyval([1, 2, 3], [[1, 2], [3, 4]])",
        "xp.polyval([1.5, 2], xp.asarray([1, 2]))",
        "xp.polyval([], xp.asarray([1, 2]))",
        "xp.polyval(xp.asarray([1, 2], dtype='f'), xp.asarray([1, 2], dtype='f'))",
        "xp.polyadd(1, 2)",
        "xp.polyder([])",
        "xp.polymul([0, 0], [1, 2])",
        "xp.polydiv([1, 2], [1, 2, 3])",
        "xp.poly1d([1, 2]) * [1, 2] == xp.poly1d([1, 4, 4])",
    ],
)
def test_forms_of_polynomials(xp, form):
    assert_close_to_numpy(xp, form, 1e-12)


# ---- Roots and fits ---------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "p",
    [[1, -3, 2], [1, 0, 1], [0, 0, 1, 2, 0, 0], [0], [], [5], [0, 5, 0], [1 + 1j, 2, 3], [2.5, 1, 3, 4, 5], [[1, 2]], [1, np.nan, 2]],
    ids=str,
)
def test_roots_match_numpy(xp, p):
    assert_close_to_numpy(xp, "xp.sort(xp.roots(p))", 1e-10, p=p)
    if np.ndim(p) == 1 and all(np.isfinite(p)):
        assert_close_to_numpy(xp, "xp.sort(xp.poly1d(p).r)", 1e-10, p=p)


def test_roots_in_single_precision_and_of_matrices(xp):
    for p in (np.array([1, -3, 2, 4], "f"), np.array([1, 2, 4], "F")):
        assert_close_to_numpy(xp, "xp.sort(xp.roots(p))", 1e-5, p=p)
    for m in ([[1, 2], [3, 4]], [[0, 1], [-1, 0]], [[1, 2, 3]]):
        assert_close_to_numpy(xp, "xp.poly(m)", 1e-12, m=m)


FITS = [
    "xp.polyfit(x, y, 3)",
    "xp.polyfit(x, Y, 2)",
    "xp.polyfit(x, y, 2, full=True)",
    "xp.polyfit(x, Y, 2, full=True)",
    "xp.polyfit(x, y, 2, cov=True)",
    "xp.polyfit(x, Y, 2, cov=True)",
    "xp.polyfit(x, y, 2, cov='unscaled')",
    "xp.polyfit(x, Y, 2, cov='unscaled')",
    "xp.polyfit(x, y, 2, w=w)",
    "xp.polyfit(x, Y, 2, w=w, cov=True)",
    "xp.polyfit(x, y, 0)",
    "xp.polyfit(x, y, -1)",
    "xp.polyfit(x, y[1:], 1)",
    "xp.polyfit(x[:3], y[:3], 5)",
    "xp.polyfit(x[:3], y[:3], 5, full=True)",
    "xp.polyfit(x[:3], y[:3], 2, cov=True)",
    "xp.polyfit(x[:0], y[:0], 1)",
    "xp.polyfit(Y, y, 1)",
    "xp.polyfit(x, y, 2, w=w[1:])",
    "xp.polyfit(x, y, 2, w=Y)",
    "xp.polyfit(x, y, 2, rcond=0.5)",
    "xp.polyfit(x.astype('f'), y.astype('f'), 1)",
]


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex128", "int64"])
def test_fits_match_numpy(xp, dtype):
    rng = np.random.default_rng(0)
    x = np.linspace(-1, 2, 30)
    y, w = np.sin(x) + rng.random(30) * 0.1, rng.random(30)
    places = x * (1 + 0.5j) if dtype == "complex128" else (x * 5).astype(dtype)
    for form in FITS:
        rtol = 1e-3 if dtype == "float32" or "'f'" in form else 1e-7
        assert_close_to_numpy(xp, form, rtol, x=places, y=y, Y=np.stack([y, y**2], 1), w=w)


def test_a_fit_without_full_rank_warns(xp):
    with pytest.warns(np.exceptions.RankWarning, match="poorly conditioned"):
        xp.polyfit([1.0, 2.0], [1.0, 2.0], 4)


def test_a_fit_of_nothing_is_numpys_error(xp):
    """The powers of zeros are columns of zeros, which cannot be scaled: NaN."""
    with np.errstate(all="ignore"), pytest.raises(np.linalg.LinAlgError) as want:
        np.polyfit(np.zeros(5), np.zeros(5), 3)
    with pytest.raises(np.linalg.LinAlgError) as got:
        xp.polyfit(xp.zeros(5), xp.zeros(5), 3)
    assert str(got.value) == str(want.value)
    with pytest.raises(np.linalg.LinAlgError, match="infs or NaNs"):
        xp.roots(xp.array([1.0, np.nan, 2.0]))
