"""datetime64 and timedelta64 in compiled functions: NumPy's values, units and NaT."""

from __future__ import annotations

import operator
import warnings

import numpy as np
import pytest

import broadcloth as bc
from broadcloth import TypingError, cuda, njit, prange

DATES = np.array(["2020-01-01", "NaT", "1969-12-31", "2020-02-29", "1900-03-01"], "M8[D]")
DELTAS = np.array([3, "NaT", -7, 0, 40], "m8[D]")


def same(got, want):
    got, want = np.asarray(got), np.asarray(want)
    assert got.dtype == want.dtype and got.shape == want.shape
    if want.dtype.kind in "mM":
        got, want = got.view("i8"), want.view("i8")
    np.testing.assert_array_equal(got, want)


OPERATORS = ["add", "sub", "mul", "truediv", "floordiv", "mod", "eq", "ne", "lt", "le", "gt", "ge"]
UNITS = ["Y", "M", "W", "15m", "us"]
RNG = np.random.default_rng(7)


def values(unit: str, date: bool) -> np.ndarray:
    ticks = RNG.integers(-400, 400, 12)
    ticks[RNG.integers(0, 12, 2)] = np.iinfo("i8").min
    return ticks.view(f"{'M8' if date else 'm8'}[{unit}]")


def numpys(call):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return call()
        except (TypeError, OverflowError) as error:
            return error


COMPILED: dict = {}


def compiled(name):
    if name not in COMPILED:
        scope: dict = {"operator": operator}
        exec(f"def f(a, b): return operator.{name}(a, b)", scope)
        COMPILED[name] = njit(scope["f"])
    return COMPILED[name]


@pytest.mark.parametrize("name", OPERATORS)
@pytest.mark.parametrize("kinds", ["MM", "Mm", "mM", "mm"])
def test_operators_are_numpys_for_each_pair_of_units(name, kinds):
    for one, other in [("D", "D"), ("M", "D"), ("W", "15m"), ("s", "Y")]:
        a, b = values(one, kinds[0] == "M"), values(other, kinds[1] == "M")
        want = numpys(lambda a=a, b=b: getattr(operator, name)(a, b))
        if isinstance(want, Exception):
            with pytest.raises(TypingError):
                compiled(name)(a, b)
            continue
        same(compiled(name)(a, b), want)
        for x, y, w in zip(a, b, want) if one == "M" else ():
            same(compiled(name)(x, y), w)


@pytest.mark.parametrize("name", ["add", "sub", "mul", "truediv", "floordiv", "mod", "eq", "lt"])
@pytest.mark.parametrize("number", [3, -2, 0, 2.5, np.nan, np.int8(4), True], ids=str)
def test_a_number_beside_a_difference(name, number):
    a = values("h", False)
    for x, y in ((a, number), (number, a)):
        want = numpys(lambda x=x, y=y: getattr(operator, name)(x, y))
        if isinstance(want, Exception):
            with pytest.raises(TypingError):
                compiled(name)(x, y)
        elif name != "floordiv" or not isinstance(number, float):  # NumPy rounds down there
            same(compiled(name)(x, y), want)


@pytest.mark.parametrize("to", UNITS)
@pytest.mark.parametrize("date", [True, False], ids=["dates", "differences"])
def test_conversions_between_units(to, date):
    @njit
    def stored(a, out):
        for i in range(a.size):
            out[i] = a[i]

    for unit in UNITS:
        a = values(unit, date)
        want = numpys(lambda a=a: a.astype(f"{a.dtype.kind}8[{to}]", casting="same_kind"))
        if isinstance(want, Exception):
            continue
        out = np.zeros_like(want)
        stored(a, out)
        same(out, want)


CALLS = {
    "a.min()": None, "a.max()": None, "np.min(a)": None, "a.argmin()": None, "a.argmax()": None, "np.sort(a)": None,
    "np.argsort(a)": None,
    "np.unique(a)": None, "np.isnat(a)": None, "np.isnat(a[0])": None, "np.isfinite(a)": None, "a.view(np.int64)": None,
    "a.astype(np.int64)": None, "a.astype('M8[s]')": None, "a[0].astype('M8[h]')": None, "a[0].view('i8')": None, "np.diff(a)": None,
    "a - a[0]": None, "a[::-1] - a": None, "a[a > a[2]]": None, "np.where(a > a[2], a, a[0])": None, "np.maximum(a, a[3])": None,
    "np.fmin(a, a[1])": None, "np.concatenate((a, a))": None, "np.full(3, a[0])": None, "np.zeros_like(a)": None, "a.copy()": None,
    "np.array([a[0], a[3]])": None, "a.reshape(5, 1).T": None, "np.roll(a, 1)": None, "np.repeat(a, 2)": None, "np.flip(a)": None,
    "np.array_equal(a, a)": None, "np.isin(a, a[2:])": None, "np.nanmin(a)": None, "np.nanmax(a)": None, "np.abs(d)": None,
    "np.sign(d[2:])": None, "-d": None, "+d": None, "d.sum()": None, "d[2:].sum()": None, "np.any(d)": None, "np.count_nonzero(d)": None,
    "a + d": None, "d + a": None, "np.add(a, d)": None, "d * np.arange(5)": None, "d * 2.5": None, "d / np.timedelta64(12, 'h')": None,
    "a - np.timedelta64(1, 'h')": None, "a > np.datetime64('2020-01-15T12:30')": None, "np.datetime64('2020-02')": None,
    "np.datetime64('2020-02-29T23:59:59.25')": None, "np.datetime64('2020-02-29', 'h')": None, "np.datetime64(5, 'D')": None,
    "np.timedelta64(3, '15m')": None, "np.timedelta64(d[0], 'h')": None, "np.datetime64('NaT')": None, "np.timedelta64('NaT', 's')": None,
    "a.min(), d.max(), 1": None, "a.reshape(5, 1).max(axis=1)": None, "np.searchsorted(np.sort(a), a[2:])": None, "a.T[1:3]": None,
    "np.empty(a.shape, a.dtype).dtype == a.dtype": None, "min(a[0], a[3])": None, "max(d[0], d[4])": None, "min(a)": None, "max(d)": None,
    "bool(d[0])": None, "isinstance(d[0], np.timedelta64)": None, "isinstance(a[0], np.timedelta64)": None, "a[0] in [a[0]]": None,
    "(a.astype('M8[h]')[0] + np.timedelta64(1, 'h')) in [a[0]]": None,
    "isinstance(a[0], np.datetime64)": None, "isinstance(d[0], np.integer)": None, "isinstance(a[0], np.generic)": None,
    "isinstance(a[0], int)": None, "np.union1d(a, a[:2])": None, "np.append(a, a)": None, "np.hstack((d, d))": None,
    "a[0] in [a[0] - np.timedelta64(1, 'h')]": None, "np.datetime64('2020-01-01T05', 'D')": None, "1 if d[3] else 2": None,
    "a[0] == None": None,
}  # fmt: skip


@pytest.mark.parametrize("text", CALLS)
def test_calls_are_numpys(text):
    scope: dict = {"np": np}
    exec(f"def f(a, d): return {text}", scope)
    got, want = njit(scope["f"])(DATES, DELTAS), scope["f"](DATES, DELTAS)
    if text.startswith("np.sign("):
        want = want.astype(got.dtype)  # NumPy 2.5 gives floats
    for g, w in zip(got, want) if isinstance(want, tuple) else [(got, want)]:
        same(g, w)


REFUSED = [
    "np.percentile(d, 50)", "np.median(a)", "np.mean(a)", "a.sum()", "a + a", "d % 2", "np.histogram(d)", "a < d",
    "np.datetime64('today')", "np.datetime64('2020-02-30')", "np.timedelta64(1, 'q')", "a.tolist()", "np.isnat(1.0)", "a[0] < 1.5",
    "np.arange(a[0], a[3])", "d.dot(d)", "np.concatenate((a, a.astype('M8[h]')))", "np.append(d, d.astype('m8[s]'))",
    "np.stack((d, np.arange(5)))", "np.union1d(a, a.astype('M8[h]'))", "np.diff(a, 2)", "np.select([a == a], [a], a.astype('M8[h]'))",
    "np.timedelta64(a[0])", "np.datetime64(d[0])", "d.conj()",
    "a.astype('M8[h]')[0] in {a[0]}", "[a[0]].count(a.astype('M8[h]')[0])", "[a[0]].append(a.astype('M8[h]')[0])", "np.cumsum(a)",
    "np.clip(d, a[0], a[4])",
]  # fmt: skip


@pytest.mark.parametrize("text", REFUSED)
def test_what_is_not_computed_is_refused(text):
    scope: dict = {"np": np}
    exec(f"def f(a, d): return {text}", scope)
    with pytest.raises(TypingError):
        njit(scope["f"])(DATES, DELTAS)


def test_containers_records_and_constants():
    since = np.datetime64("2020-01-15")

    @njit
    def counts(a):
        seen = {a[0]: 1}
        late = [a[0]]
        for x in a:
            if not np.isnat(x):
                seen[x] = seen.get(x, 0) + 1
                if x >= since:
                    late.append(x)
        return seen[a[0]], len(seen), late[1:]

    twice = np.concatenate([DATES, DATES])
    assert counts(twice) == (3, 4, [np.datetime64("2020-02-29")] * 2)

    rows = np.zeros(3, [("at", "M8[s]"), ("value", "f8")])

    @njit
    def fill(rows):
        for i in range(rows.size):
            rows[i].at = np.datetime64("2021-01-01T00:00:00") + np.timedelta64(i, "h")
            rows[i].value = rows[i].at.view("i8")

    fill(rows)
    assert rows["at"].astype(str).tolist() == ["2021-01-01T00:00:00", "2021-01-01T01:00:00", "2021-01-01T02:00:00"]
    np.testing.assert_array_equal(rows["value"], rows["at"].view("i8"))


def test_signatures_name_units():
    @njit("timedelta64[D](datetime64[D], datetime64[D][:])")
    def f(x, a):
        return x - a[0]

    assert f(DATES[3], DATES) == np.timedelta64(59, "D")
    with pytest.raises(TypeError):
        f(DATES[3].astype("M8[s]"), DATES)


@pytest.mark.parametrize("where", ["host", "device"])
def test_kernels_take_times(where):
    @cuda.jit
    def gaps(a, since, out, late):
        i = cuda.grid(1)
        if i < a.size:
            out[i] = (a[i] - since) * 2
            late[i] = a[i] > since

    out, late = np.zeros(DATES.size, "m8[D]"), np.zeros(DATES.size, bool)
    since = np.datetime64("2020-01-01")
    if where == "host":
        gaps[1, 32](DATES, since, out, late)
    else:
        given = [cuda.to_device(x) for x in (DATES, out, late)]
        gaps[1, 32](given[0], since, given[1], given[2])
        out, late = given[1].copy_to_host(), given[2].copy_to_host()
    same(out, (DATES - since) * 2)
    same(late, DATES > since)


def test_arrays_of_ours_come_back_as_such():
    f = njit(lambda a: a + np.timedelta64(1, "D"))
    a = bc.array(DATES, device="cpu")
    got = f(a)
    assert isinstance(got, bc.ndarray)
    same(bc.asnumpy(got), DATES + np.timedelta64(1, "D"))


def test_min_and_max_of_an_array_are_pythons():
    f = njit(lambda a: (min(a), max(a)))
    for values in ([1.0, np.nan], [np.nan, 1.0], [3.0, np.nan, 1.0], [2.0]):
        a = np.array(values)
        np.testing.assert_array_equal(f(a), (min(a), max(a)))
    with pytest.raises(ValueError, match="empty"):
        f(np.empty(0))


def test_kernels_of_times_compile_for_cuda():
    def kernel(a, d, out, ratios):
        i = cuda.grid(1)
        if i < a.size and a[i] < np.datetime64("2020-03-01"):
            out[i] = a[i] + d[i] * 2
            ratios[i] = d[i] / d[0] + d[i] // d[0] + np.isnat(d[i])

    ptx, _ = cuda.compile_ptx(kernel, "void(datetime64[D][:], timedelta64[h][:], datetime64[h][:], float64[:])", cc=(9, 0))
    assert ".entry" in ptx


def test_units_that_are_too_far_apart_are_refused():
    days, picoseconds = np.array([400], "m8[D]"), np.array([1], "m8[ps]")
    for f in (operator.lt, operator.add, np.maximum):
        with pytest.raises(OverflowError):
            f(days, picoseconds)
        for x, y in ((days, picoseconds), (days[0], picoseconds[0])):
            with pytest.raises(TypingError, match="Integer overflow getting a common metadata divisor"):
                njit(lambda x, y, f=f: f(x, y))(x, y)


def test_parallel_loops_sum_up_times():
    @njit(parallel=True)
    def folded(a, date):
        least, most, late, known, nat, s, down, when = a[1], a[1], a[1], a[1], a[1], a[1] - a[1], a[1], date
        for i in prange(len(a)):
            s += a[i]
            down -= a[i]
            when = when + a[i]
            least = min(least, a[i])
            most = max(most, a[i])
            if late < a[i]:
                late = a[i]
            known = np.fmin(known, a[i])
            nat = np.maximum(nat, a[i])
        return s, down, when, least, most, late, known, nat

    date = np.datetime64("2020-01-01", "s")
    plain = np.random.default_rng(3).integers(-(10**6), 10**6, 5000).astype("m8[s]")
    with_nat = plain.copy()
    with_nat[[0, 4321]] = "NaT"
    for a in (plain, with_nat):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)
            known = a[~np.isnat(a)]
            want = (a.sum(), a[1] - a.sum(), date + a.sum(), known.min(), known.max(), known.max(), known.min(), a.max())
        for got, wanted in zip(folded(a, date), want, strict=True):
            same(got, wanted)

    @njit(parallel=True)
    def columns(a, s, most):
        for i in prange(len(a)):
            s += a[i]
            most = np.maximum(most, a[i])
        return s, most

    table = with_nat.reshape(-1, 5)
    for start in (np.arange(5).astype("m8[s]"), np.arange(5).astype("M8[s]")):
        got = columns(table, start.copy(), table[1])
        same(got[0], start + table.sum(0))
        same(got[1], table.max(0))

    @njit(parallel=True)
    def scaled(n):
        d = np.timedelta64(1, "s")
        for _ in prange(n):
            d *= 2
        return d

    with pytest.raises(TypingError, match=r"'d' cannot be joined over the turns by \*="):
        scaled(3)


@pytest.mark.parametrize("values", [[4, 1, 9, 4], [-7, 2, 4, 3, 0], [5], ["NaT", 3, -8], []])
@pytest.mark.parametrize("unit", ["s", "15m"])
def test_statistics_of_differences_match_numpy(values, unit):
    a = np.array(values, f"m8[{unit}]")
    functions = [
        lambda a: np.mean(a), lambda a: a.mean(), lambda a: np.median(a), lambda a: np.cumsum(a), lambda a: a.cumsum(),
        lambda a: np.nansum(a), lambda a: np.nanmean(a), lambda a: np.clip(a, np.timedelta64(1, "m"), np.timedelta64(90, "m")),
        lambda a: np.cumsum(a - a),
        lambda a: a.clip(np.timedelta64(-3, "s"), np.timedelta64(3, "s")), lambda a: np.mean(a + a), lambda a: np.cumsum(a, axis=0),
    ]  # fmt: skip
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        for f in functions:
            same(njit(f)(a), f(a))
    for f in functions[:5]:
        with pytest.raises(TypingError, match="does not take"):
            njit(f)(DATES)


def test_sums_of_differences_along_axes():
    a = np.arange(24).astype("m8[s]").reshape(2, 3, 4)
    for f in (
        lambda a: (np.cumsum(a), np.cumsum(a, 1), np.cumsum(a, axis=-1), a.mean(0), np.mean(a, axis=2), a.mean(), np.median(a)),
        lambda a: (np.cumsum(a.T, 0), np.mean(a.T, 1), np.clip(a.T, a[0, 1, 1], a[1, 0, 1]), np.median(a.T), np.nansum(a), a.cumsum(1)),
    ):
        for got, want in zip(njit(f)(a), f(a), strict=True):
            same(got, want)


def test_dates_are_clipped_and_a_bound_in_another_unit_is_joined():
    low, high = np.datetime64("1950-01-01"), np.datetime64("2020-02-01T12", "h")
    f = njit(lambda a, low, high: (np.clip(a, low, high), np.clip(a[0], low, high)))
    for got, want in zip(f(DATES, low, high), (np.clip(DATES, low, high), np.clip(DATES[0], low, high)), strict=True):
        same(got, want)


@pytest.mark.parametrize("unit", ["Y", "M", "W", "D", "3D", "h", "m", "15m", "s", "ms", "us", "7us", "ns", "ps", "fs", "as"])
def test_texts_of_times_are_numpys(unit, capfd):
    ticks = [0, 1, -1, 59, -60, 12345, -98765, 2**40, -(2**41) + 3, 10**15 + 7]
    dates = np.array([t for t in ticks if abs(t) < 2**60], "i8").astype(f"M8[{unit}]")
    if unit in ("Y", "M", "W", "D", "3D", "h", "m", "15m", "s"):
        dates = dates[:6].copy()
    deltas = dates.view("i8").astype(f"m8[{unit}]")
    text = njit(lambda d: str(d) + f"|{d}|")
    for d in (*dates, *deltas, np.datetime64("NaT", unit), np.timedelta64("NaT", unit)):
        assert text(d) == f"{d}|{d}|"
    printed = njit(lambda d, t: print("at", d, t, 1.5))
    printed(dates[1], deltas[2])
    assert capfd.readouterr().out == f"at {dates[1]} {deltas[2]} 1.5\n"


def test_texts_of_times_inside_other_values(capfd):
    d, t = np.datetime64("2020-01-01"), np.timedelta64(3, "h")
    for f in (lambda d, t: str((d, 1, t)), lambda d, t: repr(d) + repr(t), lambda d, t: f"{d!r} {(t,)} {[d, d]}"):
        assert njit(f)(d, t) == f(d, t)
    njit(lambda d, t: print((d, t), [t], "x"))(d, t)
    assert capfd.readouterr().out == f"{(d, t)} {[t]} x\n"
    with pytest.raises(TypingError, match="write no text of|specification does not take"):
        njit(lambda d: f"{d:>20}")(d)
