"""datetime64 and timedelta64: every rule is NumPy's, asked of NumPy itself."""

from __future__ import annotations

import datetime
import operator
import pickle

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import broadcloth as bc
from support import assert_like_numpy, assert_same

UNITS = ["Y", "M", "W", "D", "h", "m", "s", "ms", "us", "ns", "ps", "fs", "as"]
NAT = np.iinfo(np.int64).min


def same(got, wanted):
    wanted = np.asarray(wanted)
    assert isinstance(got, bc.ndarray) and got.dtype == wanted.dtype, (got.dtype, wanted.dtype)
    assert got.shape == wanted.shape
    host = got.get()
    if wanted.dtype.kind in "mM":
        assert_array_equal(host.view("i8") if host.ndim else host.astype("i8"), wanted.view("i8") if wanted.ndim else wanted.astype("i8"))
    else:
        assert_array_equal(host, wanted)


def both(function, *args, error=TypeError):
    """The function of broadcloth's arrays does what it does of NumPy's, errors included."""
    try:
        with np.errstate(all="ignore"):
            wanted = function(*args)
    except TypeError:
        with pytest.raises(error):
            function(*[bc.asarray(a) if isinstance(a, np.ndarray) else a for a in args])
        return
    same(function(*[bc.asarray(a) if isinstance(a, np.ndarray) else a for a in args]), wanted)


def ticks(kind, unit, n=9, scale=1):
    values = np.array([0, 1, -1, 7, -8, 1000, -1001, 59, NAT, 400, -400, 13])[:n] * 1
    values[values != NAT] *= scale
    return values.view(f"{kind}8[{unit}]")


DATES = np.array(["2020-02-29", "1969-12-31", "NaT", "2000-01-01", "1600-03-01", "2100-12-31"], "M8[D]")
SPANS = np.array([5, -7, "NaT", 0, 3, 86400], "m8[s]")


@pytest.mark.parametrize("kind", ["M", "m"])
@pytest.mark.parametrize("unit", [*UNITS, "15m", "7D", "3M", "25s"])
def test_arrays_of_every_unit_come_and_go(xp, kind, unit):
    host = ticks(kind, unit)
    a = xp.asarray(host)
    same(a, host)
    assert a.dtype == host.dtype and a.itemsize == 8 and a.nbytes == host.nbytes
    assert repr(a) == repr(host) and str(a) == str(host)
    same(a[::-2], host[::-2])
    same(a.reshape(3, 3).T.copy(), host.reshape(3, 3).T.copy())
    same(pickle.loads(pickle.dumps(a)), host)
    same(a.view("i8"), host.view("i8"))
    assert xp.datetime_data(a.dtype) == np.datetime_data(host.dtype)
    assert np.asarray(a).dtype == host.dtype
    assert_array_equal(np.asarray(a).view("i8"), host.view("i8"))


@pytest.mark.parametrize("kind", ["M", "m"])
@pytest.mark.parametrize("unit", UNITS)
def test_casts_between_units(xp, kind, unit):
    host = ticks(kind, unit)
    for other in [*UNITS, "15m", "7D", "3M"]:
        try:
            wanted = host.astype(f"{kind}8[{other}]")
        except (OverflowError, ValueError):
            continue
        if abs(UNITS.index(unit) - (UNITS.index(other) if other in UNITS else 3)) > 6:
            continue  # beyond what 64 bits hold: NumPy's own results are not defined
        same(xp.asarray(host).astype(f"{kind}8[{other}]"), wanted)
    same(xp.asarray(host).astype(f"{kind}8"), host.astype(f"{kind}8"))


def test_calendar_over_four_hundred_years(xp):
    days = np.arange(-200_000, 200_000, 7).view("M8[D]")
    a = xp.asarray(days)
    same(a.astype("M8[M]"), days.astype("M8[M]"))
    same(a.astype("M8[Y]"), days.astype("M8[Y]"))
    same(a.astype("M8[W]"), days.astype("M8[W]"))
    months = np.arange(-7000, 7000).view("M8[M]")
    same(xp.asarray(months).astype("M8[D]"), months.astype("M8[D]"))
    same(xp.asarray(months).astype("M8[s]"), months.astype("M8[s]"))


def test_casts_from_and_to_numbers(xp):
    for host in (DATES, SPANS):
        for dtype in ("i8", "f8", "i4", "bool", "u8"):
            with np.errstate(all="ignore"):
                same(xp.asarray(host).astype(dtype), host.astype(dtype))
    with np.errstate(all="ignore"):
        same(xp.asarray([1.7, -1.7, np.nan]).astype("m8[s]"), np.array([1.7, -1.7, np.nan]).astype("m8[s]"))
    same(xp.asarray([1, 2]).astype("M8[D]"), np.array([1, 2]).astype("M8[D]"))
    same(xp.asarray([True, False]).astype("m8[h]"), np.array([True, False]).astype("m8[h]"))
    same(xp.asarray(DATES).astype("m8[D]"), DATES.astype("m8[D]"))
    same(xp.asarray(SPANS).astype("M8[s]"), SPANS.astype("M8[s]"))
    with pytest.raises(TypeError):
        xp.asarray(DATES).astype("i8", casting="safe")
    with pytest.raises(TypeError):
        xp.asarray(SPANS).astype("m8[D]", casting="safe")


def test_creation(xp):
    same(xp.array(["2020-01-01", "NaT"], dtype="M8[D]"), np.array(["2020-01-01", "NaT"], dtype="M8[D]"))
    same(xp.array(["2020-01", "2021"], dtype="datetime64"), np.array(["2020-01", "2021"], dtype="datetime64"))
    same(xp.array([np.datetime64("2020-01-01", "D"), np.datetime64("2020-01-01T05")]),
         np.array([np.datetime64("2020-01-01", "D"), np.datetime64("2020-01-01T05")]))  # fmt: skip
    same(xp.array([[1, 2], [3, 4]], dtype="m8[s]"), np.array([[1, 2], [3, 4]], dtype="m8[s]"))
    same(xp.asarray(np.timedelta64(3, "h")), np.asarray(np.timedelta64(3, "h")))
    same(xp.array([datetime.date(2020, 1, 2)], dtype="M8[D]"), np.array([datetime.date(2020, 1, 2)], dtype="M8[D]"))
    same(xp.asarray(DATES.astype(">M8[D]")), DATES)
    same(xp.zeros(3, "M8[D]"), np.zeros(3, "M8[D]"))
    same(xp.ones((2, 2), "m8[s]"), np.ones((2, 2), "m8[s]"))
    same(xp.full(2, "2020-05-05", "M8[D]"), np.full(2, "2020-05-05", "M8[D]"))
    same(xp.full(2, np.timedelta64(4, "D")), np.full(2, np.timedelta64(4, "D")))
    same(xp.zeros_like(xp.asarray(DATES)), np.zeros_like(DATES))
    assert xp.empty((2, 3), "M8[ns]").dtype == np.dtype("M8[ns]") and xp.empty(0, "m8[D]").shape == (0,)


def test_arange(xp):
    for args, keywords in [
        (("2020-01", "2020-05"), {"dtype": "M8[M]"}),
        (("2020-01", "2020-02-10", 7), {"dtype": "M8[D]"}),
        ((np.datetime64("2020-01-01"), np.datetime64("2020-01-20"), np.timedelta64(3, "D")), {}),
        ((np.datetime64("2020-01-01"), 5), {}),
        ((np.timedelta64(0, "s"), np.timedelta64(1, "m"), 15), {}),
        ((0, 10, 3), {"dtype": "m8[s]"}),
        ((5,), {"dtype": "m8[D]"}),
    ]:
        same(xp.arange(*args, **keywords), np.arange(*args, **keywords))


@pytest.mark.parametrize("op", ["add", "sub", "mul", "truediv", "floordiv", "mod"])
def test_arithmetic_of_every_pair(xp, op):
    f = getattr(operator, op)
    operands = [
        DATES, DATES.astype("M8[s]"), DATES.astype("M8[M]"), SPANS, SPANS.astype("m8[D]"), np.array([2, -3, "NaT", 1, 7, -1], "m8[7s]"),
        np.array([3, -2, 5, 0, 1, 2]), np.array([1.5, -2.5, np.nan, 0.0, np.inf, 0.25]), np.array([1, 2, 3, 0, 5, 6], "u1"),
        np.array([True, False, True, True, False, True]), np.array([1, 14, "NaT", 0, -1, 2], "m8[M]"),
    ]  # fmt: skip
    for x in operands:
        for y in operands:
            if x.dtype.kind in "mM" or y.dtype.kind in "mM":
                both(f, x, y)


def test_arithmetic_with_scalars(xp):
    d, t = xp.asarray(DATES), xp.asarray(SPANS)
    same(d + np.timedelta64(2, "h"), DATES + np.timedelta64(2, "h"))
    same(np.timedelta64(2, "D") + d, np.timedelta64(2, "D") + DATES)
    same(d - np.datetime64("2020-01-01"), DATES - np.datetime64("2020-01-01"))
    same(np.datetime64("2020-01-01") - d, np.datetime64("2020-01-01") - DATES)
    same(d + datetime.timedelta(days=1), DATES + np.timedelta64(datetime.timedelta(days=1)))
    same(d - datetime.date(2020, 1, 1), DATES - np.datetime64("2020-01-01"))
    same(d + 3, DATES + 3)
    same(t * 2.5, SPANS * 2.5)
    same(3 * t, 3 * SPANS)
    same(t / 2, SPANS / 2)
    same(t / np.timedelta64(1, "m"), SPANS / np.timedelta64(1, "m"))
    same(t // np.timedelta64(2, "s"), SPANS // np.timedelta64(2, "s"))
    same(t % np.timedelta64(3, "s"), SPANS % np.timedelta64(3, "s"))
    for mine, wanted in zip(xp.divmod(t, np.timedelta64(2, "s")), np.divmod(SPANS, np.timedelta64(2, "s"))):
        same(mine, wanted)
    same(-t, -SPANS)
    same(abs(t), abs(SPANS))
    if np.sign(SPANS).dtype == SPANS.dtype:  # NumPy before 2.5
        same(xp.sign(t), np.sign(SPANS))
    d += np.timedelta64(1, "D")
    same(d, DATES + np.timedelta64(1, "D"))
    out = xp.empty(6, "M8[s]")
    assert xp.add(xp.asarray(DATES), t, out=out) is out
    same(out, DATES + SPANS)
    with pytest.raises(TypeError):
        xp.add(xp.asarray(DATES), t, out=xp.empty(6))


def test_comparison(xp):
    for f in (operator.lt, operator.le, operator.eq, operator.ne, operator.gt, operator.ge):
        both(f, DATES, DATES[::-1].astype("M8[s]"))
        both(f, DATES, DATES)
        both(f, SPANS, SPANS[::-1].astype("m8[ms]"))
        both(f, SPANS, np.arange(6))
        if f in (operator.eq, operator.ne):
            both(f, DATES, SPANS)
        else:
            with pytest.raises(TypeError):
                f(xp.asarray(DATES), xp.asarray(SPANS))
        same(f(xp.asarray(DATES), np.datetime64("2000-01-01")), f(DATES, np.datetime64("2000-01-01")))
    same(xp.isnat(xp.asarray(DATES)), np.isnat(DATES))
    same(xp.isnan(xp.asarray(SPANS)), np.isnan(SPANS))
    same(xp.isfinite(xp.asarray(SPANS)), np.isfinite(SPANS))
    same(xp.isinf(xp.asarray(SPANS)), np.isinf(SPANS))
    with pytest.raises(TypeError):
        xp.isnat(xp.ones(2))
    for name in ("maximum", "minimum", "fmax", "fmin"):
        both(lambda x, y, name=name: getattr(np if isinstance(x, np.ndarray) else bc, name)(x, y), DATES, DATES[::-1])
        both(lambda x, y, name=name: getattr(np if isinstance(x, np.ndarray) else bc, name)(x, y), SPANS, SPANS[::-1].astype("m8[ms]"))


@pytest.mark.parametrize("host", [DATES, SPANS, DATES[DATES == DATES], SPANS[SPANS == SPANS]], ids=["M-nat", "m-nat", "M", "m"])
def test_reductions(xp, host):
    host = np.stack([host, host[::-1]])
    for axis in (None, 0, 1):
        for name in ("max", "min", "argmax", "argmin", "sum", "mean", "any", "all"):
            try:
                wanted = getattr(host, name)(axis=axis)
            except TypeError:
                with pytest.raises(TypeError):
                    getattr(xp.asarray(host), name)(axis=axis)
                continue
            same(getattr(xp.asarray(host), name)(axis=axis), wanted)
        if host.dtype.kind == "m":
            same(xp.cumsum(xp.asarray(host), axis=axis), np.cumsum(host, axis=axis))
        same(xp.ptp(xp.asarray(host), axis=axis), np.ptp(host, axis=axis))
    same(xp.diff(xp.asarray(host)), np.diff(host))
    if host.dtype.kind == "m":
        same(xp.median(xp.asarray(host), axis=1), np.median(host, axis=1))
    same(xp.asarray(host).max(axis=1, keepdims=True), host.max(axis=1, keepdims=True))
    with pytest.raises(TypeError):
        xp.prod(xp.asarray(host))
    with pytest.raises(TypeError):
        xp.std(xp.asarray(host))


def test_reductions_with_where_and_initial(xp):
    t, mask = SPANS, np.array([True, True, False, True, True, False])
    same(xp.sum(xp.asarray(t), where=xp.asarray(mask)), np.sum(t, where=mask))
    same(xp.mean(xp.asarray(t), where=xp.asarray(mask)), np.mean(t, where=mask))
    start = np.timedelta64(3, "s")
    same(xp.max(xp.asarray(t), initial=start, where=xp.asarray(mask)), np.max(t, initial=start, where=mask))
    same(xp.sum(xp.asarray(t[:2]), initial=start), np.sum(t[:2], initial=start))
    out = xp.empty((), "m8[s]")
    assert xp.sum(xp.asarray(t[:2]), out=out) is out and out.item() == datetime.timedelta(seconds=-2)


@pytest.mark.parametrize("host", [DATES, SPANS, np.array(["NaT", "NaT"], "M8[s]"), np.array([], "m8[D]")], ids=["M", "m", "nat", "empty"])
def test_sorting_and_sets(xp, host):
    a = xp.asarray(host)
    same(xp.sort(a), np.sort(host))
    same(xp.argsort(a), np.argsort(host, kind="stable"))
    same(xp.unique(a), np.unique(host))
    for mine, wanted in zip(
        xp.unique(a, return_index=True, return_inverse=True, return_counts=True),
        np.unique(host, return_index=True, return_inverse=True, return_counts=True),
    ):
        assert_array_equal(mine.get().astype("i8"), wanted.astype("i8"))
    values = np.sort(host)
    same(xp.searchsorted(xp.asarray(values), a), np.searchsorted(values, host))
    if host.size > 2:
        same(xp.partition(a, 2)[2], np.partition(host, 2)[2])
        b = a.copy()
        b.sort()
        same(b, np.sort(host))
        same(xp.lexsort((a,)), np.lexsort((host,)))


def test_moving_elements(xp):
    a = xp.asarray(DATES)
    same(a[[3, 0, 3]], DATES[[3, 0, 3]])
    same(a[a > np.datetime64("1990")], DATES[DATES > np.datetime64("1990")])
    same(xp.concatenate([a, xp.asarray(DATES.astype("M8[s]"))]), np.concatenate([DATES, DATES.astype("M8[s]")]))
    same(xp.stack([a, a]), np.stack([DATES, DATES]))
    same(xp.where(xp.isnat(a), np.datetime64("2000-01-01"), a), np.where(np.isnat(DATES), np.datetime64("2000-01-01"), DATES))
    same(xp.roll(a, 2), np.roll(DATES, 2))
    same(xp.repeat(a, 2), np.repeat(DATES, 2))
    same(xp.take(a, [1, 1]), np.take(DATES, [1, 1]))
    same(xp.clip(a, np.datetime64("1980"), np.datetime64("2010")), np.clip(DATES, np.datetime64("1980"), np.datetime64("2010")))
    same(xp.flip(a), np.flip(DATES))
    same(xp.broadcast_to(a, (2, 6)).copy(), np.broadcast_to(DATES, (2, 6)).copy())


def test_assignment(xp):
    def both_ways(change):
        host, a = DATES.copy(), xp.asarray(DATES.copy())
        change(host)
        change(a)
        same(a, host)

    both_ways(lambda a: operator.setitem(a, 0, np.datetime64("2001-01-01")))
    both_ways(lambda a: operator.setitem(a, 1, "2001-01-01"))
    both_ways(lambda a: operator.setitem(a, slice(2, 4), "NaT"))
    both_ways(lambda a: operator.setitem(a, [0, 5], np.datetime64("2001-01-01T12", "h")))
    both_ways(lambda a: operator.setitem(a, 3, datetime.date(2002, 2, 2)))
    both_ways(lambda a: operator.setitem(a, slice(0, 2), 5))
    a = xp.asarray(DATES)
    a[xp.isnat(a)] = np.datetime64("1999-09-09")
    assert not xp.isnat(a).any()
    a[:2] = xp.asarray(DATES[3:5].astype("M8[s]"))
    same(a[:2], DATES[3:5])
    with pytest.raises((ValueError, TypeError)):
        a[0] = 1.5


def test_items_and_lists(xp):
    a = xp.asarray(DATES)
    assert a.tolist() == DATES.tolist() and a[0].item() == datetime.date(2020, 2, 29) and a[2].item() is None
    assert xp.asarray(SPANS).tolist() == SPANS.tolist()
    assert xp.asarray(DATES[:1].astype("M8[ns]"))[0].item() == DATES[:1].astype("M8[ns]")[0].item()
    assert str(a[0]) == "2020-02-29" and bool(xp.asarray(SPANS)[0])
    with pytest.raises(TypeError):
        float(a[0])


def test_text_and_business_days(xp):
    a = xp.asarray(DATES[DATES == DATES])
    host = a.get()
    assert_array_equal(xp.datetime_as_string(a, unit="h"), np.datetime_as_string(host, unit="h"))
    with np.errstate(all="ignore"):
        same(xp.is_busday(a), np.is_busday(host))
        same(xp.busday_count(a, np.datetime64("2020-03-01")), np.busday_count(host, np.datetime64("2020-03-01")))
        same(xp.busday_offset(a, 3, roll="forward"), np.busday_offset(host, 3, roll="forward"))
    calendar = xp.busdaycalendar(weekmask="1111000", holidays=["2020-03-02"])
    same(xp.busday_offset(a, 1, roll="forward", busdaycal=calendar), np.busday_offset(host, 1, roll="forward", busdaycal=calendar))
    with pytest.raises(ValueError):
        xp.is_busday(a, weekmask="1110000", busdaycal=calendar)
    out = xp.empty(a.shape, "bool")
    assert xp.is_busday(a, out=out) is out


def test_types(xp):
    pairs = ["M8[D]", "M8[s]", "M8[Y]", "m8[D]", "m8[3h]", "m8[7s]", "m8", "M8", "m8[M]", "i8", "u8", "f8", "bool", "u1", "M8[2M]"]
    for x in pairs:
        for y in pairs:
            if not {x[0], y[0]} & {"M", "m"}:
                continue
            for casting in ("safe", "same_kind", "unsafe"):
                assert xp.can_cast(x, y, casting) == np.can_cast(x, y, casting), (x, y, casting)
            try:
                wanted = np.promote_types(x, y)
            except TypeError:
                with pytest.raises(TypeError):
                    xp.promote_types(x, y)
            else:
                assert xp.promote_types(x, y) == wanted, (x, y)


def test_what_times_have_not_raises(xp):
    d, t = xp.asarray(DATES), xp.asarray(SPANS)
    for call in (
        lambda: xp.sin(d), lambda: xp.sqrt(t), lambda: t | t, lambda: xp.square(t), lambda: xp.floor(t), lambda: t @ t,
        lambda: xp.signbit(t),
        lambda: xp.power(t, 2), lambda: xp.fft.fft(t), lambda: xp.bincount(t), lambda: xp.add(d, 1.5),
        lambda: xp.cumprod(t), lambda: t.__dlpack__(), lambda: memoryview(t), lambda: xp.einsum("i,i", t, t),
        lambda: xp.linalg.inv(t[:4].reshape(2, 2)), lambda: xp.linspace(d[0], d[1], 3), lambda: xp.mean(d), lambda: xp.median(d),
    ):  # fmt: skip
        with pytest.raises((TypeError, BufferError)):
            call()

    @bc.njit
    def total(a):
        return a.sum()

    with pytest.raises(TypeError):
        total(d)  # the sum of durations is one


def test_the_norm_of_spans_is_that_of_their_ticks(xp):
    assert_like_numpy(xp, "xp.linalg.norm(xp.array([3, 4], 'm8[h]'))")


def test_chains_of_units_and_differences(xp):
    d = xp.asarray(DATES)
    wanted = (DATES.astype("M8[M]").astype("M8[D]") - DATES) / np.timedelta64(1, "h")
    same((d.astype("M8[M]").astype("M8[D]") - d) / np.timedelta64(1, "h"), wanted)


def test_strings_and_objects_stay_on_the_host(xp):
    for values, word in ((np.array(["a"]), "strings"), (np.array([b"a"]), "strings"), (np.array([None]), "objects"),
                         (np.array([1], np.longdouble), "longdouble"), (np.array([1], np.clongdouble), "longdouble")):  # fmt: skip
        with pytest.raises(TypeError, match=word):
            xp.asarray(values)
    same(xp.asarray(np.arange(3, dtype=">i4")), np.arange(3, dtype="i4"))
    same(xp.asarray(np.arange(3, dtype=">c16")), np.arange(3, dtype="c16"))


@pytest.mark.parametrize(
    "f",
    [
        lambda d: 1.5 * d,
        lambda d: d * 2,
        lambda d: d / 2.0,
        lambda d: d // 2,
        lambda d: -d,
        lambda d: abs(d),
        lambda d: d + d,
        lambda d: d / d,
        lambda d: d > d * 0,
        lambda d: d * np.float64(1.5),
        lambda d: np.timedelta64(1, "D") + d,
    ],
)
def test_elements_calculate_with_numbers_as_arrays_do(f, device):
    x = np.array([3, -2, "NaT"], dtype="m8[D]")
    y = bc.asarray(x).copy()
    y.tolist()
    for k in range(3):
        made, expected = f(y[k]), f(x[k])
        assert made.dtype == np.asarray(expected).dtype
        np.testing.assert_array_equal(np.asarray(made), expected)


@pytest.mark.parametrize(
    "code",
    [
        "xp.array(['NaT', '2020-01-01'], 'M8[D]') == None",
        "xp.array(['NaT', '2020-01-01'], 'M8[D]') != None",
        "xp.array([1, 'NaT'], 'm8[s]') == None",
        "np.timedelta64(1, 'D') == xp.array(['2020-01-01'], 'M8[D]')",
        "np.timedelta64(1, 'D') != xp.array(['2020-01-01'], 'M8[D]')",
        "np.timedelta64(1, 'D') < xp.array(['2020-01-01'], 'M8[D]')",
        "np.array([1, 2], 'm8[D]') == xp.array(['2020-01-01'], 'M8[D]')",
        "xp.array(['2020-01-01', '2020-01-03'], 'M8[D]') == ['2020-01-01', '2020-01-02']",
        "xp.array(['2020-01-01', '2020-01-03'], 'M8[D]') < ['2020-01-02', '2020-01-02']",
        "xp.array([1, 2]) == ['a', 'b']",
        "xp.array([1, 2]) < ['a', 'b']",
        "xp.array([1, 2]) == [None, 2]",
        "xp.array([1, 2]) != object()",
    ],
)
def test_comparisons_with_what_has_no_common_type(xp, code):
    assert_like_numpy(xp, code)


@pytest.mark.parametrize("method", ["lower", "higher", "nearest", "inverted_cdf", "closest_observation", "linear", "midpoint"])
@pytest.mark.parametrize("kind", ["m8[s]", "M8[D]"])
def test_quantiles_of_times_with_nat(xp, kind, method):
    made = f"xp.array([[3, 'NaT', 5, 4], [1, 2, 3, 9], ['NaT', 'NaT', 'NaT', 'NaT']], {kind!r})"
    for name in ("quantile", "nanquantile"):
        for q in ("0.5", "0.0", "1.0", "[0.25, 0.5]"):
            for axis in ("1", "0", "None"):
                assert_like_numpy(xp, f"xp.{name}({made}, {q}, axis={axis}, method={method!r})")
    for axis in ("1", "0", "None"):
        assert_like_numpy(xp, f"xp.nanmedian({made}, axis={axis})")
        assert_like_numpy(xp, f"xp.median({made}, axis={axis})")


@pytest.mark.parametrize(
    "code",
    [
        "xp.array([3, 'NaT'], 'm8[s]').astype('M8[m]')",
        "xp.array([3, 'NaT'], 'M8[D]').astype('m8[s]')",
        "xp.array([3, 'NaT'], 'm8[s]').astype('M8')",
        "xp.array([3, 'NaT'], 'M8[s]').astype('m8')",
        "xp.array([3, 'NaT'], 'm8[m]').astype('m8[s]')",
        "xp.sum(xp.ones(3, 'm8[s]'), dtype='f8')",
        "xp.mean(xp.array([1, 2, 4], 'm8[s]'), dtype='f8')",
        "xp.mean(xp.ones(3, 'i4'), dtype='m8[ms]')",
        "xp.sum(xp.ones(3, 'i4'), dtype='m8[s]')",
        "xp.sum(xp.ones(3, 'm8[s]'), dtype='m8[ms]')",
        "xp.sum(xp.ones(3, 'm8[s]'), dtype='m8[s]')",
        "xp.cumsum(xp.array([1, 'NaT', 3], 'm8[s]'), dtype='f8')",
        "xp.add.accumulate(xp.ones(3, 'm8[s]'), dtype='f4')",
        "xp.trace(xp.ones((3, 3), 'm8[s]'), dtype='f8')",
        "xp.isreal(xp.zeros(2, 'M8[s]'))",
        "xp.array_equiv(xp.zeros((3, 0), 'M8[D]'), xp.zeros((1, 1)))",
        "xp.array_equal(xp.zeros(0, 'm8[s]'), xp.zeros(0, 'f4'))",
    ],
)
def test_casts_and_dtypes_of_folds_of_times(xp, code):
    assert_like_numpy(xp, code)


def test_numbers_stored_into_few_times():
    spans, numbers = bc.array(np.array([1, 2, 3], "m8[s]"), device="cpu"), bc.array([5, 6, 7], device="cpu")
    host = np.array([1, 2, 3], "m8[s]")
    spans[0] = numbers[1]
    host[0] = np.int64(6)
    np.testing.assert_array_equal(spans.get(), host)
    spans[bc.array([1, 2], device="cpu")] = numbers[:2]
    host[[1, 2]] = [5, 6]
    np.testing.assert_array_equal(spans.get(), host)
    spans[0:2] = numbers[1:]
    host[0:2] = [6, 7]
    np.testing.assert_array_equal(spans.get(), host)


KINDS = ["datetime.timedelta(days=1, seconds=5)", "datetime.date(2021, 2, 3)", "datetime.datetime(2021, 2, 3, 4, 5)", "2.5", "3"]
KINDS += [
    "np.timedelta64(1, 'Y')",
    "np.timedelta64(3, 'h')",
    "np.datetime64('2020-01-05')",
    "np.float64(2.5)",
    "np.int8(2)",
    "'2020-01-05'",
]


@pytest.mark.parametrize("value", KINDS)
@pytest.mark.parametrize("store", ["a[0] = {}", "a[:] = {}", "a.fill({})", "a[[0, 1]] = {}", "a = xp.full_like(a, {})"])
@pytest.mark.parametrize("dtype", ["M8[D]", "m8[s]", "m8[M]", "M8[us]"])
def test_what_is_no_time_of_the_kind_is_refused_as_numpy_refuses_it(xp, dtype, store, value):
    if value == "2.5" and "full_like" in store and dtype[0] == "m":
        # NumPy 2.4 casts the number to ticks, as an array of it; NumPy 2.5 does so for dates only and refuses it for spans.
        assert_same(xp.full_like(xp.arange(3).astype(dtype), 2.5), np.full(3, 2, dtype))
        return
    assert_like_numpy(xp, f"import datetime; a = xp.arange(3).astype({dtype!r}); {store.format(value)}; a")


@pytest.mark.parametrize("value", ["0", "2.5", "np.datetime64('1970-01-02')", "np.timedelta64(1, 'D')", "[1, 2, 3]", "None"])
@pytest.mark.parametrize("dtype", ["M8[D]", "m8[D]"])
def test_a_number_is_in_no_dates(xp, dtype, value):
    assert_like_numpy(xp, f"{value} in xp.arange(3).astype({dtype!r})")


@pytest.mark.parametrize("initial", ["2.5", "3", "np.datetime64(5, 'D')", "np.timedelta64(5, 'D')", "datetime.timedelta(3)"])
@pytest.mark.parametrize("dtype", ["M8[D]", "m8[D]"])
def test_what_maxima_of_times_begin_with(xp, dtype, initial):
    assert_like_numpy(xp, f"import datetime; xp.max(xp.arange(3).astype({dtype!r}), initial={initial})")


@pytest.mark.parametrize("name", ["min", "sum"])
@pytest.mark.parametrize("initial", ["np.datetime64(1, 'D')", "np.timedelta64(1, 'D')", "np.datetime64('NaT')"])
def test_what_folds_of_spans_begin_with(xp, name, initial):
    assert_like_numpy(xp, f"xp.{name}(xp.arange(2, 5).astype('m8[s]'), initial={initial})")


@pytest.mark.filterwarnings("ignore::numpy.exceptions.ComplexWarning")
@pytest.mark.parametrize("value", [float("nan"), -2.5, 1j, np.float32(2.5), [1.5, 2, 3]])
@pytest.mark.parametrize("dtype", ["M8[D]", "m8[us]"])
def test_times_are_made_of_real_numbers_as_of_arrays_of_them(xp, dtype, value):
    want = np.broadcast_to(np.array(value).astype(dtype), 3)
    assert_same(xp.full(3, value, dtype), want)
    a = xp.arange(3).astype(dtype)
    xp.copyto(a, value, casting="unsafe")
    assert_same(a, want)


@pytest.mark.parametrize("make", ["xp.arange(3)", "xp.arange(3).astype('m8[h]')", "xp.array([1, 2, 'NaT'], 'm8[D]')"])
@pytest.mark.parametrize("bounds", ["0, D", "D, 1", "None, D", "D, 2 * D", "D, None"])
def test_bounds_of_numbers_have_their_unit(xp, make, bounds):
    assert_like_numpy(xp, f"D = np.timedelta64(1, 'D'); xp.clip({make}, {bounds})")


@pytest.mark.parametrize("value", ["np.timedelta64(5, 'ms')", "np.datetime64('2020-01-05T06')", "np.datetime64('NaT')"])
@pytest.mark.parametrize("spec", ["", ">30"])
def test_an_element_is_formatted_with_its_unit(xp, value, spec):
    assert_like_numpy(xp, f"a = xp.array([{value}]); f'{{a[0]:{spec}}}'")


@pytest.mark.parametrize("kind", ["M8", "m8"])
def test_units_that_are_too_far_apart_raise_as_in_numpy(kind):
    units = ["Y", "M", "W", "D", "h", "25m", "s", "ms", "us", "ns", "ps", "fs", "as"]
    for a in units:
        for b in units:
            x, y = np.array([3], f"{kind}[{a}]"), np.array([4], f"{kind}[{b}]")
            for compute in (lambda xp, x, y: x < y, lambda xp, x, y: x.astype(y.dtype), lambda xp, x, y: xp.where([True], x, y)):
                try:
                    want = compute(np, x, y)
                except OverflowError:
                    with pytest.raises(OverflowError, match="^Integer overflow"):
                        compute(bc, bc.array(x), bc.array(y))
                except TypeError:
                    with pytest.raises(TypeError):
                        compute(bc, bc.array(x), bc.array(y))
                else:
                    assert_same(compute(bc, bc.array(x), bc.array(y)), want)


def test_dates_of_another_byte_order_are_converted_or_refused_with_the_reason():
    dates = np.array(["2020-01-01", "NaT"], ">M8[s]")
    assert_same(bc.asarray(dates), dates.astype("M8[s]"))
    with pytest.raises(TypeError, match=r"machine's byte order; asarray\(\).*>M8"):
        bc.njit(lambda a: a[0])(dates)


@pytest.mark.parametrize("dates, differences", [("M8[D]", "m8"), ("M8[D]", "m8[s]"), ("M8[s]", "m8[D]"), ("M8", "m8")])
def test_where_of_dates_and_differences_gives_dates(dates, differences):
    d = np.array(["NaT", "NaT"] if dates == "M8" else ["2020-01-01", "2021-02-03"], dates)
    s = np.array([3, 4], differences)
    for x, y in ((d, s), (s, d)):
        both(lambda x, y: (np if isinstance(x, np.ndarray) else bc).where([True, False], x, y), x, y)
    with pytest.raises(TypeError):
        bc.where([True, False], bc.asarray(d), 5)
