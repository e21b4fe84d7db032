"""Compiled functions: forms of library functions beside the plain ones, values that may be None, tuples without items, inner functions."""

import numpy as np
import pytest

import broadcloth as bc
import call_forms
from broadcloth import njit, types
from broadcloth.exceptions import TypingError
from support import function_of_text

TAKEN = [
    ("np.zeros_like(x, order='F')", ("a2",)),
    ("np.full_like(x, 3, order='F')", ("a3",)),
    ("np.ones_like(x, np.int32, 'F')", ("a2",)),
    ("np.empty_like(x, order='F')", ("a1",)),
    ("np.full_like(x, x)", ("u1",)),
    ("np.full((2, 3), x)", ("list",)),
    ("np.full((2, 5), x, np.float32, order='F')", ("a1",)),
    ("np.eye(3, 4, 1, order='F')", ("a1",)),
    ("np.array(x, order='F')", ("a2",)),
    ("np.array(x, ndmin=3)", ("a1",)),
    ("np.array(x, copy=False)", ("a2",)),
    ("np.array(x, subok=True)", ("a2",)),
    ("np.asarray(x, order='F')", ("a2",)),
    ("np.asarray(x, copy=True)", ("a1",)),
    ("x.astype(np.float32, order='F')", ("a2",)),
    ("x.astype(np.float64, casting='safe')", ("i1",)),
    ("np.frombuffer(x, np.int32, 3, 4)", ("i1",)),
    ("np.unique(x, axis=0)", ("i2",)),
    ("np.inner(x, x)", ("a3",)),
    ("np.median(x, (0, 2))", ("a3",)),
    ("np.nanmedian(x, axis=(0, 1))", ("nan2",)),
    ("2.0 in x", ("a2",)),
    ("x not in y", ("negative", "i2")),
    ("x in y", ("i1", "i0")),
    ("x.view().sum(0)", ("a2",)),
    ("complex(imag=x, real=2)", ("half",)),
    ("complex(imag=x)", ("whole",)),
    ("np.inner(x, y)", ("a2", "F2")),
    ("np.tensordot(x, y)", ("a2", "F2")),
    ("np.tensordot(x, y, 0)", ("a1", "a2")),
    ("np.tensordot(x, y, axes=1)", ("T2", "a3")),
    ("np.tensordot(x, y, ((0, 2), (1, 2)))", ("a3", "c3")),
    ("np.tensordot(x, x, axes=(-1, 1))", ("T2",)),
    ("np.tensordot(x, x, 3)", ("a3",)),
    ("np.choose([2, 0, 1], (x, y, 7))", ("below", "a0")),
    ("np.choose(x - 1, y)", ("i0", "a3")),
    ("np.choose(x % 2, y, mode='wrap')", ("i2", "T2")),
    ("np.choose(x, (y, y + 1), mode='clip')", ("below", "b1")),
    ("x.choose(y)", ("b1", "a2")),
    ("np.convolve(x, y)", ("number", "a1")),
    ("np.nansum(x, axis=0, initial=2, where=y)", ("nan2", "b1")),
    ("np.nansum(x, dtype=np.float32, where=x > 1)", ("nan1",)),
    ("np.nanprod(x, 1, initial=3.0)", ("nan2",)),
    ("np.nanmean(x, 0, np.float32)", ("nan2",)),
    ("np.nanmean(x, where=y)", ("nan2", "b1")),
    ("np.nanmax(x, axis=1, initial=4)", ("nan2",)),
    ("np.nanmin(x, initial=9.0, where=x != 1)", ("nan1",)),
    ("np.nanmin(x, 0, initial=9)", ("empty2",)),
    ("np.max(x, 0, initial=9)", ("empty2",)),
    ("np.nanvar(x, (0, 1), ddof=1)", ("nan2",)),
    ("np.nanvar(x, where=x > 0, mean=1.5)", ("nan1",)),
    ("np.nanstd(x, 1, np.float32, correction=1)", ("nan2",)),
    ("np.nanvar(x, axis=0)", ("f4",)),
    ("np.var(x, where=x > 1, ddof=1)", ("a2",)),
    ("np.std(x, 0, mean=x.mean(0))", ("a2",)),
    ("np.nancumsum(x, dtype=float)", ("whole",)),
    ("np.cov(x, dtype=np.float32)", ("a2",)),
    ("np.unique(x, axis=-1, return_index=True, return_inverse=True, return_counts=True)", ("a3",)),
    ("np.unique(x, equal_nan=False)", ("nan1",)),
    ("np.take(x, (0, 9, -9), mode='clip')", ("a1",)),
    ("x.take(indices=(0, 9, -9), axis=1, mode='wrap')", ("a2",)),
    ("np.take(x, np.array([[0, 1], [1, 0]]), axis=1)", ("a3",)),
    ("np.take(x, np.array([[1]]), 1)", ("a2",)),
    ("np.roll(x, (1, 2), (0, 1))", ("a2",)),
    ("np.roll(x, (1, 1), axis=0)", ("a2",)),
    ("np.roll(x, 1, axis=(0, 1))", ("a2",)),
    ("np.roll(x, (1, 2))", ("a2",)),
    ("np.rot90(x, 1, (1, 2))", ("a3",)),
    ("np.diagonal(x, 1)", ("a2",)),
    ("x.diagonal(-1, axis1=1, axis2=2)", ("a3",)),
    ("np.trace(x, 0, 1, 2)", ("a3",)),
    ("np.partition(x, 1, axis=0)", ("a2",)),
    ("np.argpartition(x, 0, axis=-1)", ("empty",)),
    ("np.size(x, (0, 1))", ("a2",)),
    ("np.insert(x, 1, 9.0, axis=1)", ("a2",)),
    ("np.insert(x, [0, 2], [7.0, 8.0])", ("a1",)),
    ("np.insert(x, [1], [7.0, 8.0])", ("a1",)),
    ("np.insert(x, 0, y, axis=1)", ("S2", "i2")),
    ("np.asarray(x, order='F', copy=False)", ("F2",)),
    ("np.frombuffer(x)", ("empty",)),
    ("np.insert(x, (2, 0, -1), 8, axis=0)", ("a1",)),
    ("np.delete(x, slice(1, 3))", ("a1",)),
    ("np.gradient(x, axis=0)", ("a2",)),
    ("np.gradient(x)", ("a2",)),
    ("np.gradient(x, 2.0, np.array([0.0, 1.0, 3.0]), edge_order=1)", ("a2",)),
    ("np.gradient(x, np.cumsum(x), edge_order=2)", ("a1",)),
    ("np.interp(x, x, x, left=-1.0, right=-2.0)", ("sorted",)),
    ("np.interp(x, x, x, period=2.5)", ("sorted",)),
    ("np.trapezoid(x, axis=0)", ("a2",)),
    ("np.average(x, weights=x, returned=True)", ("a1",)),
    ("np.average(x, 1, returned=True)", ("a2",)),
    ("np.average(x, 0, np.array([1.0, 3.0]), returned=True)", ("a2",)),
    ("np.histogram(x, 4, density=True)", ("a1",)),
    ("np.histogram(x, 3, weights=x)", ("a1",)),
    ("np.cross(x, y, axis=1)", ("a3", "a3")),
    ("np.linalg.norm(x, axis=1)", ("a2",)),
    ("np.linalg.norm(x, 1, axis=0, keepdims=True)", ("a2",)),
    ("np.linalg.norm(x, np.inf, -1)", ("a3",)),
    ("np.linalg.norm(x, axis=(0, 1))", ("a3",)),
    ("np.percentile(x, 50, axis=0)", ("a2",)),
    ("np.percentile(x, [25, 75], axis=1)", ("a3",)),
    ("np.quantile(x, 0.3, method='lower')", ("a1",)),
    ("np.quantile(x, (0.3, 0.5), method='nearest')", ("a1",)),
    ("np.quantile(x, 0.7, axis=1, method='midpoint', keepdims=True)", ("a2",)),
    ("np.nanpercentile(x, 50, axis=0)", ("a2",)),
    ("np.nanquantile(x, 0.5, axis=0)", ("empty",)),
    ("np.nanquantile(x, 0.5, axis=1)", ("empty2",)),
    ("np.quantile(x, 0.5, axis=0)", ("a1",)),
    ("np.quantile(x, (0.5, 0.3), axis=(0, 2))", ("a3",)),
    ("np.nanquantile(x, 0.5, axis=(0, 1), keepdims=True)", ("nan2",)),
    ("np.nanquantile(x, (0.3, 0.5), axis=1, method='higher')", ("nan2",)),
    ("np.sum(x, axis=(0, 2), keepdims=True)", ("a3",)),
    ("np.nonzero(x)", ("a3",)),
    ("np.pad(x, 1)", ("a2",)),
    ("np.pad(x, ((1, 0), (0, 2)), constant_values=7)", ("a2",)),
    ("np.pad(x, (2, 7), mode='reflect')", ("a1",)),
    ("np.pad(x, 7, 'symmetric')", ("a1",)),
    ("np.pad(x, (7, 1), 'wrap')", ("a1",)),
    ("np.pad(x, 2, 'edge')", ("a2",)),
    ("np.compress(x > 1, x)", ("a1",)),
    ("np.searchsorted(x, 2.0, sorter=np.argsort(x))", ("a1",)),
    ("np.linspace(0, 1, 5, retstep=True)", ("a1",)),
    ("x @ x", ("c3",)),
    ("np.matmul(x, y)", ("c3", "T2")),
    ("np.dot(x, y)", ("a3", "T2")),
    ("np.dot(x, y)", ("a3", "c3")),
    ("np.setdiff1d(x, [1], assume_unique=True)", ("i1",)),
    ("x.transpose(None)", ("a2",)),
    ("np.unravel_index(5, (2, 3))", ("a1",)),
    ("np.unravel_index(x, (3, 4))", ("i1",)),
    ("np.polyfit(x, x * x, 2)", ("sorted",)),
    ("range(9)[2], range(1, 9, 3)[-1]", ("a1",)),
    ("x.dtype.itemsize, np.dtype(np.int16).itemsize", ("f4",)),
    ("math.ulp(x)", ("number",)),
    ("list(zip(x, x, strict=True))", ("list",)),
]  # fmt: skip


def test_forms_are_taken():
    outcomes = call_forms.outcomes(TAKEN)
    wrong = [(form, what) for form, what in zip(TAKEN, outcomes, strict=True) if what[0] != "equal" and not call_forms.known(form, *what)]
    assert not wrong


def _agrees(f, *arguments):
    copies = [a.copy() if hasattr(a, "copy") else a for a in arguments]
    np.testing.assert_equal(njit(f)(*arguments), f(*copies))
    np.testing.assert_equal(arguments, copies)


def _into_out(x):
    total, table, middle = np.zeros(x.shape[1]), np.zeros(x.shape), np.zeros(x.shape[0])
    same = np.sum(x, axis=0, out=total)
    x.cumsum(axis=0, out=table)
    np.median(x, axis=1, out=middle)
    np.clip(x, 2, 3, out=x)
    return total, same, table, middle


def test_out_takes_the_result():
    _agrees(_into_out, np.arange(12.0).reshape(3, 4))

    @njit
    def wrong(x):
        return np.sum(x, axis=0, out=x)

    with pytest.raises(ValueError, match="shape of out"):
        wrong(np.ones((2, 3)))


def _joined_lists(x):
    rows = [x, x + 1, x * 2]
    tables = [x.reshape(1, -1), x.reshape(1, -1) * 3]
    return (
        np.stack(rows), np.stack(rows, axis=1), np.concatenate(rows), np.vstack(rows), np.hstack(rows), np.column_stack(rows),
        np.array(rows), np.concatenate(tables, axis=1), np.vstack(tables), np.hstack(tables), np.array(tables),
    )  # fmt: skip


def test_lists_of_arrays_are_joined():
    _agrees(_joined_lists, np.arange(4.0))


def _written(x):
    np.put(x, [0, -1], [8.0, 9.0])
    np.putmask(x, x == 2, 7.0)
    np.copyto(x, 3.0, where=x == 3)
    y = x.copy()
    y.partition(1)
    return y[1], y.argpartition(0)[0]


def test_functions_that_write_into_arrays():
    _agrees(_written, np.arange(6.0))


def test_a_diagonal_is_a_view_that_cannot_be_written_to():
    @njit
    def f(x):
        d = x.diagonal()
        x[0, 0] = 5.0
        return d[0]

    assert f(np.ones((2, 2))) == 5.0

    @njit
    def g(x):
        x.diagonal()[0] = 5.0

    with pytest.raises(TypingError, match="read-only"):
        g(np.ones((2, 2)))


def _strict(n, kind):
    out = []

    def some(count):
        yield from range(count)

    try:
        if kind == 0:
            for a, b in zip(some(n), range(2), strict=True):
                out.append(a + b)
        elif kind == 1:
            for a, b, c in zip([1, 2], (3, 4), np.arange(n), strict=True):
                out.append(a + b + c)
        else:
            out.extend([a * b for a, b in zip(np.arange(n), some(2), strict=True)])
    except ValueError as e:
        return out, str(e)
    return out, ""


@pytest.mark.parametrize("n", [0, 1, 2, 3])
@pytest.mark.parametrize("kind", [0, 1, 2])
def test_strict_zips_raise_where_one_ends_first(n, kind):
    _agrees(_strict, n, kind)


def _cuts(n):
    h = n if n >= 0 else None
    k = 1
    lo, s, x, m = [1, 2, 3, 4], "hello", np.arange(6), np.arange(12).reshape(3, 4)
    cut = slice(h, 3, h)
    kept = (cut, 1)
    x[h:3] = 7
    m[h:2, :h] = 9
    other = lo.copy()
    other[h:2] = [9, 9]
    del lo[h:k]
    lists = lo[h:], lo[:h], lo[cut], lo[kept[0]], other
    texts = s[h:], s[:h], s[::h], s.find("l", h), s.count("l", h, h)
    return lists, texts, x, x[h:], x[:h], x[::h], m, m[h:, 1:h], cut, kept[0].start, cut.step is None


@pytest.mark.parametrize("n", [-1, 1, 2])
def test_none_as_a_bound_is_no_bound(n):
    _agrees(_cuts, n)


def _chosen_slice(n):
    s = slice(None, n) if n > 2 else slice(1, None)
    return [1, 2, 3, 4][s], "abcd"[s], np.arange(5)[s], s


@pytest.mark.parametrize("n", [1, 3])
def test_slices_with_other_bounds_meet(n):
    _agrees(_chosen_slice, n)


def _optionals(n):
    h = n if n < 5 else None
    text = "abc" if n < 5 else None
    items = [1, 2, 3] if n < 5 else None
    told = (isinstance(h, int), isinstance(h, float), isinstance(h, (float, type(None))), repr(h), f"{h}", str(text))
    if n < 5:
        a = np.zeros(4)
        a[h] = 2
        a[h] += 1
        items[h] = 7
        return told, a, items[h], [v + 1 for v in items], text.upper(), len(text), [c + "." for c in text]
    return told, np.zeros(1), 0, [0], "", 0, [""]


@pytest.mark.parametrize("n", [1, 6])
def test_what_may_be_none_is_used_as_its_value(n):
    _agrees(_optionals, n)


def test_texts_and_keys_that_may_be_none(capfd):
    @njit
    def f(n):
        s = "abc" if n < 5 else None
        h = n if n < 5 else None
        print(s, h)
        keys = {0}
        counts = {0: 1}
        if h is not None:
            keys.add(h)
            counts[h] = counts.get(h, 7)
        return f"{s}|{s!r}|{h}", "%s %s" % (s, h), "{} {}".format(s, h), str(s), repr(s), sorted(keys), len(counts)  # noqa: UP030, UP031, UP032

    assert f(1) == f.py_func(1)
    assert f(7) == f.py_func(7)
    assert capfd.readouterr().out == 2 * "abc 1\n" + 2 * "None None\n"


def test_none_where_a_value_is_needed_raises():
    f = njit(function_of_text("def f(n):\n    h = n if n < 5 else None\n    return [1, 2, 3][h]\n"))
    assert f(1) == 2
    with pytest.raises(TypeError, match="None"):
        f(7)


@pytest.mark.parametrize(
    "expression",
    ["((), n)", "((n, ()), n)", "((None,), n)", "(n, (), (None, None), 2.5, ((),))", "[((), n), ((), 2)]"],
)
def test_tuples_without_items_keep_their_place(expression):
    f = function_of_text(f"def f(n):\n    return {expression}\n")
    assert njit(f)(3) == f(3)
    g = function_of_text("def f(t):\n    return t, t[-1], t[0]\n")
    if expression[0] == "(":
        assert njit(g)(f(3)) == g(f(3))


def _calls_with_rest(n):
    def inner(a, b=2, *rest):
        return a, b, rest

    short = lambda a, *rest: (a, rest)  # noqa: E731
    return inner(n), inner(1, n), inner(1, 2, n, 4), short(n), short(1, n)


def test_inner_functions_with_rest():
    _agrees(_calls_with_rest, 5)


def test_a_default_that_reads_what_is_bound_again_is_refused():
    f = function_of_text("def f(n):\n    g = lambda a, b=n: a + b\n    n = 7\n    return g(1)\n")
    with pytest.raises(TypingError, match="bound again"):
        njit(f)(5)
    loop = "    for i in range(n):\n        g = lambda a, b=i: a + b\n        s += g(1)\n"
    g = function_of_text(f"def f(n):\n    s = 0\n{loop}    return s\n")
    assert njit(g)(4) == g(4)


def _formatted(n):
    d = {"a": "x", "b": "y"}
    d["c"] = str(n)
    return "%(a)s-%(b)5s|%(c)-4s%%" % d, "%(n)03d" % {"n": n}  # noqa: UP031


def test_formats_with_names():
    _agrees(_formatted, 7)


def _chosen_lists(n, kept):
    x = [1, 2] if n > 2 else [3]
    x.append(4)
    y = [] if n > 2 else [n]
    y.append(n)
    z = [1, 2] if n > 2 else [3, 4]
    z.append(5)
    w = [1.5] if n > 2 else None
    d = {} if n > 2 else {1: 2}
    d[7] = n
    v = kept if n > 2 else []
    v.append(n)
    a, b = [1, n] if n > 2 else [n, 1]
    total = 0
    for k in [1, 2] if n > 2 else [3]:
        total += k
    return x, y, z, w, sorted(d.items()), v, a, b, total, len([1] if n > 2 else [2, 3]), kept or [8]


@pytest.mark.parametrize("n", [1, 3])
def test_lists_written_out_on_the_sides_of_a_choice(n):
    mine, theirs = [9], [9]
    assert njit(_chosen_lists)(n, mine) == _chosen_lists(n, theirs)
    assert mine == theirs


def _grouped(n):
    groups = {}
    for i in range(n):
        groups.setdefault(i % 3, []).append(i)
    return groups[0], groups[1]


def test_setdefault_with_a_list_tells_what_it_holds():
    _agrees(_grouped, 8)


DTYPE = np.dtype([("a", "i4"), ("b", "f8")])


def _records(r):
    made = r[r["a"] > 1]
    made["b"] *= 2
    return made, r.copy(), r[::-1].copy()


def test_new_arrays_of_records_come_back():
    r = np.array([(1, 2.5), (3, 4.5)], dtype=DTYPE)
    for got, expected in zip(njit(_records)(r), _records(r), strict=True):
        assert got.dtype == DTYPE
        np.testing.assert_array_equal(got, expected)


@pytest.mark.parametrize("signature", [types.float64(types.optional(types.int64)), "float64(optional(int64))"])
def test_signatures_with_optional_arguments(signature):
    @njit(signature)
    def f(a):
        return 1.0 if a is None else a * 2.0

    assert (f(None), f(3), f(2.5)) == (1.0, 6.0, 4.0)

    @njit
    def g(a):
        return f(a) + f(None)

    assert g(4) == 9.0


def test_optional_arguments_of_other_types():
    @njit("int64(optional(int64[:]), optional(unicode_type), optional(UniTuple(int64, 2)))")
    def f(x, s, t):
        return (0 if x is None else x.sum()) + (0 if s is None else len(s)) + (0 if t is None else t[1])

    assert f(np.arange(4), "abc", (1, 20)) == 29
    assert f(None, None, None) == 0
    assert f(np.arange(9)[::2], None, (1, 2)) == 22

    @njit([types.int64(types.int64), types.int64(types.optional(types.int64))])
    def both(a):
        return -1 if a is None else a

    assert both(5) == 5 and both(None) == -1


def test_types_of_lists_and_sets():
    assert types.List(types.int64) == types.List(types.int64, reflected=True) and isinstance(types.List(types.int64), types.List)
    assert str(types.Set(types.float64)) == "set(float64)" and bc.types.optional is types.Optional


def test_interpolation_at_places_in_any_order_and_beside_infinities():
    compiled = njit(lambda x, xp, fp: np.interp(x, xp, fp))
    rng = np.random.default_rng(5)
    for n in (1, 2, 3, 17, 400):
        xp, fp = np.sort(rng.random(n)), rng.random(n)
        for x in (rng.random(200) * 1.2 - 0.1, np.linspace(0, 1, 50), xp, xp[::-1].copy(), np.array([np.nan, 0.5, np.inf, -np.inf])):
            np.testing.assert_allclose(compiled(x, xp, fp), np.interp(x, xp, fp), rtol=1e-12)
    xp = np.array([0.0, 1.0, 1.0, 2.0, 3.0, 4.0])
    for fp in ([np.inf, 1.0, 2.0, -np.inf, -np.inf, 0.0], [1.0, np.inf, np.inf, np.nan, 2.0, np.inf]):
        x = np.linspace(-0.5, 4.5, 21)
        with np.errstate(invalid="ignore"):
            np.testing.assert_array_equal(compiled(x, xp, np.array(fp)), np.interp(x, xp, fp))
