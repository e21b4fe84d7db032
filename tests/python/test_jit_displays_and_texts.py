"""Compiled functions: displays with `*`, min and max by a key, powers with a modulus, formatted texts."""

# ruff: noqa: F507, F509, F521, F524, UP030, UP031, UP032 (older and wrong formats are tested, too)

import math
import random

import numpy as np
import pytest

import broadcloth as bc
from broadcloth import njit
from broadcloth.typed import List
from support import function_of_text


def _lists_of_parts(n, xs):
    log = xs.copy()

    def noted(v):
        log.append(v)
        return v

    made_of = [*[noted(1), noted(2)], noted(3), *range(noted(n)), *xs, noted(5)]
    copy = [*xs]
    copy.append(n)
    return made_of, log, copy, [*"ab", *["c"]], [*{3: 1, 4: 2}], [*(x * x for x in range(n) if x % 2)], [*zip(xs, xs)], (*(n, 2.5), "x")


def _sets_and_dicts_of_parts(n, xs):
    d, e = {1: 2, 3: n}, {3: 9, 5: 6}
    return (
        sorted({*xs, n, *(7, 8)}),
        list({**d, **e}.items()),
        list({3: 0, **d, 7: 8, **e, 1: 1}.items()),
        list({**d}.items()),
        list(({} | d).items()),
    )


def _best_by_key(n, xs):
    empty = [1]
    empty.pop()
    return (
        min(xs, key=abs),
        max(xs, key=lambda v: (v % 3, -v)),
        max(n, -7, 5, key=abs),
        max(empty, default=n),
        min((x for x in xs if x > 100), default=-1),
        max(xs, key=None),
        max(["a", "ccc", "bb"], key=len),
        min(range(3, 9)),
        max({1: 5, 2: 3}.items(), key=lambda t: t[1]),
        max("hello", key=lambda c: -ord(c)),
        max("a", "b"),
        min((n, 2), (n, 1)),
        max([[1, 2], [1]]),
        min((), default=2.5),
    )


def _powers_and_bits(n, xs):
    return (
        [pow(x, n, 7) for x in xs],
        [pow(x, n, -10) for x in xs],
        pow(10, -3, 7),
        pow(-(2**62), 2**62, 2**62 - 57),
        pow(n, 0, 1),
        pow(base=2, exp=n, mod=9),
        [x.bit_length() for x in xs],
        (-(2**63)).bit_length(),
        [hex(x) for x in xs],
        bin(n),
        oct(-n),
        list(filter(None, xs)),
    )


def _yields(n, xs):
    def inner(k):
        for i in range(k):
            yield i
            yield -i

    def outer(k):
        yield 100
        yield from inner(k)
        for j in range(2):
            yield from [j, j + 10]
        yield from (x * x for x in xs)
        try:
            yield from xs
        finally:
            yield 7

    return list(outer(n)), sum(outer(n)), [x for x in outer(1) if x > 0]


@pytest.mark.parametrize("f", [_lists_of_parts, _sets_and_dicts_of_parts, _best_by_key, _powers_and_bits, _yields])
def test_forms_of_python(f):
    for n, xs in ((3, [4, -9, 6]), (5, [0, 255, -1, 12])):
        assert njit(f)(n, List(xs)) == f(n, xs)


@pytest.mark.parametrize(
    ("arguments", "error"),
    [((2, -1, 4), "base is not invertible"), ((5, 2, 0), "3rd argument cannot be 0"), ((5, -2, 0), "3rd argument cannot be 0")],
)
def test_powers_with_a_modulus_that_python_refuses(arguments, error):
    for f in (pow, njit(lambda a, b, m: pow(a, b, m))):
        with pytest.raises(ValueError, match=error):
            f(*arguments)


def _formatted(n, x, s):
    t = (n, x)
    return (
        "{:x} {:#X} {:08.3f} {:>6} {:<6}| {:^7}|".format(n, n, x, s, s, s),
        "{0!r} {0!s} {1!r} {2!r:>9}".format(s, x, s),
        "{:{}} {:.{}f} {:{w}d}".format(s, 5, x, 2, n, w=7),
        "{{}} {} {a:5}|{b}".format((1, 2.5), a=n, b=[1, 2]),
        "%s=%d" % (s, n),
        "%5.1f|%-8.2e|%+d|% d|%05d|%#o|%g|%.1s|%5s|%-5s|%r|%c%c" % (x, x, n, n, n, n, x, s, s, s, s, 65, "b"),
        "%d%% %s" % t,
        "%s" % (t,),
        "%d %i %f" % (x, True, n),
        "%s" % [n, n],
        format(n, "05d") + format(x, ".2e") + format(s, "*>5") + format(n) + format(x),
    )


@pytest.mark.parametrize("values", [(255, 3.14159, "ab"), (-7, -1e20, "hä"), (0, -0.5, "")])
def test_texts_by_format_and_percent_are_pythons(values):
    assert njit(_formatted)(*values) == _formatted(*values)


def test_percent_formats_of_numbers_that_are_not_whole():
    f = njit(lambda x: "%d" % x)
    for x, error in ((math.inf, OverflowError), (math.nan, ValueError)):
        with pytest.raises(error, match="cannot convert float"):
            f(x)


def test_percent_formats_are_pythons():
    chosen = random.Random(6)
    values = {
        "diu": [0, -1, 255, 2.75, True],
        "xXo": [0, 255, -300],
        "eEfFgG": [0.0, -2.25, 1e16, math.nan, -math.inf, 7],
        "sr": ["", "a\u00e9b", 1.5],
    }
    cases = []
    for types, given in values.items():
        for _ in range(50):
            flags = "".join(c for c in "+- #0" if chosen.random() < 0.2 and not (types in ("diu", "sr") and c == "#"))
            precision = chosen.choice(["", "", ".0", ".2"]) if types in ("eEfFgG", "sr") else ""
            cases.append((chosen.choice(given), "%" + flags + chosen.choice(["", "1", "7", "12"]) + precision + chosen.choice(types)))
    f = function_of_text(
        "\n".join(
            ["def f(given):", "    r = []", *(f"    r.append('{how}' % (given[{k}],))" for k, (_, how) in enumerate(cases)), "    return r"]
        )
        + "\n"
    )
    given = tuple(v for v, _ in cases)
    for case, mine, pythons in zip(cases, njit(f)(given), f(given), strict=True):
        assert mine == pythons, case


@pytest.mark.parametrize(
    ("f", "message"),
    [
        (lambda xs: (*xs, 1), "only a tuple can be unpacked here"),
        (lambda xs: "%d %d" % xs[0], "not enough arguments"),
        (lambda xs: "%d" % (xs[0], 2), "not all arguments"),
        (lambda xs: "%y" % xs[0], "the format '%y' is not supported"),
        (lambda xs: "%x" % 2.5, "does not take float64"),
        (lambda xs: "{} {}".format(xs[0]), "there is no argument 1"),
        (lambda xs: "{0.real}".format(xs[0]), "there is no argument '0.real'"),
        (lambda xs: "{".format(), "a single '{'"),
        (lambda xs: max(1, 2, default=xs[0]), "a default with one iterable only"),
        (lambda xs: max(xs, default="a"), "types that do not unify"),
        (lambda xs: pow(2.5, 2, xs[0]), "pow"),
        (lambda xs: max(np.ones((2, 2)), key=abs), "values have no order"),
        (lambda xs: sorted([xs[0] * 1j]), "complex128 values have no order"),
        (lambda xs: sorted(xs, key=lambda v: v * 1j), "complex128 values have no order"),
    ],
)
def test_forms_that_cannot_be_compiled_are_refused(f, message):
    with pytest.raises(bc.TypingError, match=message):
        njit(f)(List([1, 2]))


def test_nothing_is_replaced_by_a_text_between_characters():
    @njit
    def f(s, t):
        return s.replace("", t), s.replace("", t, -1), s.replace("", t, 2), s.replace("", ""), s.replace("zz", t)

    for s in ("abcab", "", "ß", "日本語x"):
        for t in ("-", "", "ö", "ab"):
            assert f(s, t) == f.py_func(s, t)


# Texts whose characters change their number with their case, have blanks, digits and line ends beyond ASCII, or a form at a word's end.
UNUSUAL = [
    "", "abc DEF 12", "\xc4rger \xd6L", "stra\xdfe \xdf", "\u0391\u03a3 \u03a3\u0391\u03a3 \u03a3 \u0391\u03a3.",
    "\u0149 \ufb01x \u0390", "\u0130i", "\u01c5a \u01c4", "\uab73 \xb5\u017f", "\u4e2d\u6587 abc", "\U00010400\U00010428",
    "\u0663\u0664", "\xb2", "\xbd", "\u20ac1", "\u3000a\u3000 b c\u3000", "a\xa0b\u2003", " a  b c ",
    "a\x0bb\x0cc\x1cd\x85e\u2028f\u2029", "a\n\nb\r\r\nc\n", "\n", "a\x7f\x80\u200b\U000e0001", "\u00e9" * 70 + "\u00df",
    "\xc9a Bc", "Ab c",
]  # fmt: skip


def _cases(s):
    return [
        s.lower(),
        s.upper(),
        s.title(),
        s.capitalize(),
        s.swapcase(),
        s.casefold(),
        repr(s),
        s.replace("", "-"),
        s.replace("", "\u00e9"),
    ]


def _classes(s):
    return [
        s.isalpha(), s.isalnum(), s.isdecimal(), s.isdigit(), s.isnumeric(), s.isspace(), s.isupper(), s.islower(), s.istitle(),
        s.isprintable(), s.isascii(),
    ]  # fmt: skip


def _parts(s):
    return (
        [s.split(), s.split(None, 1), s.split(maxsplit=5), s.rsplit(None, 1), s.rsplit(maxsplit=0), s.rsplit(), s.splitlines()],
        [s.splitlines(True), s.splitlines(keepends=False), [s.strip(), s.lstrip(), s.rstrip(), s.strip("\u00e9a")]],
    )


@pytest.mark.parametrize("function", [_cases, _classes, _parts])
def test_characters_beyond_ascii_are_pythons(function):
    compiled = njit(function)
    for text in UNUSUAL:
        assert compiled(text) == function(text), text


def test_every_character_has_pythons_case_and_classes():
    def f(first, last):
        r = []
        for code in range(first, last):
            c = chr(code)
            r.append(c.lower() + c.upper() + c.title() + c.casefold() + c.swapcase())
        return r

    compiled = njit(f)
    for first in (0, 0x370, 0x1C80, 0x1E00, 0x2C00, 0xA640, 0xAB70, 0xFB00, 0x10400, 0x1E900):
        assert compiled(first, first + 0x180) == f(first, first + 0x180)


def test_threads_ask_for_characters_without_pythons_lock():
    @njit(parallel=True)
    def count(texts, out):
        for i in bc.prange(len(texts)):
            out[i] = len(texts[i].upper()) + texts[i].isalpha()

    texts, out = List(["\u00df" * (i % 7) for i in range(500)]), np.zeros(500, np.int64)
    count(texts, out)
    np.testing.assert_array_equal(out, [len(t.upper()) + t.isalpha() for t in texts])


def _tuples_and_ranges(n):
    r, back = range(n), range(9, 0, -n)
    s, t = slice(-n, None, 2), slice(None, 1, -1)
    return (
        tuple([1, 2.5, n]),  # noqa: C409
        tuple([n, n + 1]),  # noqa: C409
        (2 in r, n in r, 6 in back, 6.5 in back, back.index(9), r.count(1), r.count(-1)),
        (s.indices(5), t.indices(n), slice(n).indices(2)),
        (set() == set(), set() != set(), [] == [], set() <= set()),  # noqa: PLR0124
    )


@pytest.mark.parametrize("n", [3, 8])
def test_tuples_of_lists_and_ranges_in_variables(n):
    ours, theirs = njit(_tuples_and_ranges)(n), _tuples_and_ranges(n)
    assert ours == theirs
    assert [type(v) for v in ours] == [type(v) for v in theirs]
