"""The Python that functions under `jit` accept: strings, exceptions, classes, `None`, and names that are not bound."""

import enum
import gc
import math
import os
import random
import subprocess
import sys

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import broadcloth as bc
from broadcloth import njit, prange
from broadcloth.experimental import jitclass
from broadcloth.typed import Dict, List
from support import function_of_text


class Coded(ValueError):
    def __init__(self, message, code):
        super().__init__(message)
        self.code = code


# ---- strings


def test_strings():
    def plain(s, t):
        parts = s.split(",")
        letters = {}
        for c in s:
            letters[c] = letters.get(c, 0) + 1
        return (
            s + t, len(s), s == t, s < t, s[0], s[-1], s[1:3], s[::-1], t in s, s.upper(), s.startswith("a"), s.find("b"), t * 2, parts,
            "-".join(parts), s.replace("a", "xy"), "  x ".strip(), letters["a"], str(12), str(2.5), f"{t}: {len(s):>5}|{2.0:.3f}|{t!r}",
            int("42") + 1, float("2.5"), "7".zfill(3), ord("a"), chr(8364), "Ab".swapcase(), "12".isdigit(), "..a.".strip("."),
            ("X", "YZ")[len(t) % 2],
        )  # fmt: skip

    for s, t in (("a,bb,a", "bb"), ("aä€,b", "€")):
        assert njit(plain)(s, t) == plain(s, t)


def test_parts_of_strings_are_searched():
    def plain(s):
        return (
            s.replace("a", "b", 1), s.replace("", "-", 2), s.replace("a", "x", 0), s.count("a", 1), s.find("a", 2), s.find("a", -2, 9),
            s.find("", 99), s.rfind("a", 0, 3), s.startswith("a", 0), s.endswith("b", 0, 3), s.rindex("a"), {s: 1}[s],
            {1: 2.5}[len(s) - len(s) + 1],
        )  # fmt: skip

    for s in ("a,b a,c", "ab ab"):
        assert njit(plain)(s) == plain(s)
    with pytest.raises(ValueError, match="substring not found"):
        njit(lambda s: s.rindex("q"))("abc")


def test_a_starred_name_takes_what_the_others_leave():
    @njit
    def f(values):
        x, *y = values
        *p, q = values
        u, *v, w = values
        return x, y, p, q, u, v, w

    for values in ([1, 2, 3, 4, 5], [1, 2]):
        assert f(values) == f.py_func(values)
    with pytest.raises(ValueError, match="at least"):
        f([1])


def test_a_string_chooses_a_branch():
    @njit
    def f(x, mode):
        if mode == "sum":
            r = "total"
            v = x.sum()
        elif mode == "max":
            r = "largest"
            v = x.max()
        else:
            raise ValueError(f"unknown mode {mode!r}")
        return r, v

    a = np.arange(4.0)
    assert f(a, "sum") == ("total", 6.0)
    assert f(a, "max") == ("largest", 3.0)
    with pytest.raises(ValueError, match="unknown mode 'min'"):
        f(a, "min")
    assert len(f.signatures) == 1


def test_formats_are_those_of_python():
    @njit
    def f(x, i, s):
        return f"{x:8.3f}|{x:e}|{x:.4g}|{x:+.1f}|{i:05d}|{i:x}|{i:#b}|{i:,}|{s:>6}|{s:^7}|{s:*<5}|{x:.1%}|{i}|{x}|{s}"

    for x, i, s in ((3.14159, 12345, "ab"), (-0.5, -7, "ä"), (1e20, 0, "")):
        assert f(x, i, s) == f.py_func(x, i, s)


# ---- exceptions


def test_try_and_except():
    def plain(a, b):
        log = []
        for x in a:
            try:
                if x < 0:
                    raise ValueError("negative")
                log.append(math.sqrt(x) / b)
            except ZeroDivisionError:
                log.append(-1.0)
            except (KeyError, ValueError):
                log.append(-2.0)
            else:
                log.append(0.5)
            finally:
                log.append(9.0)
        return log

    f = njit(plain)
    values = np.array([4.0, -1.0, 9.0])
    assert f(values, 2.0) == plain([4.0, -1.0, 9.0], 2.0)
    assert f(values, 0.0) == plain([4.0, -1.0, 9.0], 0.0)


def test_what_is_raised_in_called_functions_is_caught():
    @njit
    def root(x):
        if x == -9:
            raise Coded(f"no root of {x}", 7)
        if x < 0:
            raise ValueError(f"no root of {x}")
        return math.sqrt(x)

    @njit
    def f(x, table, k):
        try:
            return root(x) + table[k]
        except KeyError:
            return -1.0
        except ValueError as e:
            return len(str(e)) * 1.0
        except Exception:
            return -3.0

    d = Dict({1: 2.0})
    assert f(4.0, d, 1) == 4.0
    assert f(4.0, d, 5) == -1.0
    assert f(-4.0, d, 1) == len("no root of -4.0")

    @njit
    def again(x):
        try:
            root(x)
        except ValueError:
            raise
        return 0

    with pytest.raises(Coded, match=r"no root of -9\.0") as e:
        again(-9.0)
    assert e.value.code == 7


def test_finally_runs_on_every_way_out():
    def plain(n, log):
        for i in range(n):
            try:
                if i == 1:
                    continue
                if i == 3:
                    break
                if i == 9:
                    return -5
                log.append(i)
            finally:
                log.append(100 + i)
        try:
            if n == 2:
                return 77
            x = 1
        except ValueError:
            x = 2.5
        finally:
            log.append(1000)
        return x

    f = njit(plain)
    for n in (1, 2, 5):
        mine, theirs = [0], [0]
        assert f(n, mine) == plain(n, theirs)
        assert mine == theirs


def test_a_variable_has_one_type_in_a_try_and_its_handlers():
    @njit
    def f(x):
        y = 1
        try:
            y = 2.5
            if x:
                raise ValueError("x")
            y = 3
        except ValueError:
            return y
        return y * 2

    assert f(True) == 2.5
    assert f(False) == 6.0


def test_exceptions_keep_their_class_and_arguments():
    @njit
    def f(k):
        if k == 0:
            raise Coded("coded", 42)
        if k == 1:
            raise ValueError("bad", k, 2.5)
        if k == 2:
            raise IndexError
        assert k == 3, "three"
        return k

    with pytest.raises(Coded) as e:
        f(0)
    assert e.value.code == 42
    with pytest.raises(ValueError, match="bad") as e:
        f(1)
    assert e.value.args == ("bad", 1, 2.5)
    with pytest.raises(IndexError):
        f(2)
    with pytest.raises(AssertionError, match="three"):
        f(4)
    assert f(3) == 3


def test_exceptions_inside_parallel_loops_are_caught_outside():
    @njit(parallel=True)
    def f(a):
        try:
            for i in prange(a.size):
                if a[i] < 0:
                    raise ValueError("negative")
        except ValueError:
            return -1
        return a.size

    assert f(np.arange(100.0)) == 100
    assert f(-np.arange(100.0)) == -1


@pytest.mark.parametrize("name", ["value", "result", "set0", "failure", "generator"])
def test_a_function_may_have_any_name(name, tmp_path):
    path = tmp_path / "named.py"
    path.write_text(f"def {name}(s):\n    s.add(3)\n    return len(s)\n")
    names = {}
    exec(compile(path.read_text(), str(path), "exec"), names)
    assert njit(names[name])({1, 2}) == 3


def test_extra_arguments_come_as_a_tuple():
    @njit
    def f(a, b=2, *rest):
        return a * b + len(rest)

    assert (f(1), f(1, 3), f(1, 3, 4, 5), f(a=2)) == (2, 3, 5, 4)

    @njit
    def g(a, b=2, *rest, c=3):
        return a + b * 10 + c * 100 + sum(rest)

    for arguments, keywords in (((1,), {}), ((1, 2, 7, 8), {}), ((1, 2, 7), {"c": 5}), ((1,), {"b": 4})):
        assert g(*arguments, **keywords) == g.py_func(*arguments, **keywords)


def test_object_mode_is_python():
    @bc.jit(forceobj=True)
    def f(d):
        return {k: v + 1 for k, v in d.items()}

    assert f({"a": 1}) == {"a": 2}


def test_exceptions_pass_whatever_was_compiled_before(tmp_path):
    script = """
import numpy as np
import broadcloth as bc

with bc.device("cpu"):
    x = bc.arange(100000.0)
    float((x * 2 + bc.sin(x)).sum())  # compiled without exceptions

@bc.njit
def f(d, k):
    try:
        return d[k]
    except KeyError:
        return -1

print(f(bc.typed.Dict({1: 5}), 2))
"""
    program = tmp_path / "program.py"
    program.write_text(script)
    environment = dict(os.environ, BROADCLOTH_CACHE_DIR=str(tmp_path))
    done = subprocess.run([sys.executable, str(program)], capture_output=True, text=True, env=environment)
    assert done.stdout == "-1\n", done.stderr


# ---- classes


def test_jitclasses_inside_and_outside():
    @jitclass([("total", bc.types.float64), ("n", bc.types.int64), ("last", bc.types.float64[:])])
    class Acc:
        def __init__(self, n, start=1.5):
            self.total = start
            self.n = 0
            self.last = np.zeros(n)

        def add(self, v):
            self.total += v
            self.last[self.n % self.last.size] = v
            self.n += 1
            return self

        @property
        def mean(self):
            if self.n == 0:
                raise ValueError("nothing was added")
            return self.total / self.n

        @staticmethod
        def double(x):
            return 2 * x

    @njit
    def run(acc, k):
        for i in range(k):
            acc.add(i * 1.0)
        other = Acc(2)
        other.add(acc.double(4))
        several = [other, acc]
        return acc.mean, other, len(several), several[0].n

    acc = Acc(3)
    with pytest.raises(ValueError, match="nothing was added"):
        acc.mean
    acc.add(5.0)
    mean, other, n, m = run(acc, 4)
    assert (mean, n, m) == (2.5, 2, 1)
    assert (acc.total, acc.n, acc.mean, acc.double(3)) == (12.5, 5, 2.5, 6)
    assert_array_equal(acc.last, [2, 3, 1])
    assert (type(other), other.total, Acc(1, start=2.0).total) == (Acc, 9.5, 2.0)
    acc.total = 1
    acc.last = np.full(2, 7.0)
    gc.collect()
    assert acc.total == 1.0
    assert_array_equal(acc.last, [7, 7])
    with pytest.raises(AttributeError):
        acc.unknown = 3


def test_operators_of_jitclasses_work_in_compiled_functions():
    @jitclass([("x", bc.types.float64), ("v", bc.types.float64[:])])
    class Row:
        def __init__(self, x, n):
            self.x = x
            self.v = np.zeros(n)

        def __len__(self):
            return self.v.size

        def __getitem__(self, i):
            return self.v[i]

        def __setitem__(self, i, value):
            self.v[i] = value

        def __eq__(self, other):
            return self.x == other.x

        def __lt__(self, other):
            return self.x < other.x

        def __contains__(self, value):
            return value == self.x

        def __call__(self, y):
            return y * self.x

        def __add__(self, y):
            return self.x + y

        def __rsub__(self, y):
            return y - self.x

        def __neg__(self):
            return -self.x

        def __abs__(self):
            return abs(self.x)

        def __int__(self):
            return 7

    def f(row, other):
        row[1] = 4.0
        row[1] += 1.0
        return (
            len(row), row[1], row == other, row != other, row < other, row > other, 2.0 in row, 3.0 not in row, row(3.0), row + 1.0,
            10.0 - row, -row, abs(row), int(row), bool(row), 1 if Row(1.0, 0) else 2,
        )  # fmt: skip

    assert njit(f)(Row(2.0, 3), Row(3.0, 1)) == (3, 5.0, False, True, True, False, True, True, 6.0, 3.0, 8.0, -2.0, 2.0, 7, True, 2)


def test_in_place_operators_of_jitclasses():
    @jitclass([("x", bc.types.float64)])
    class Sum:
        def __init__(self, x):
            self.x = x

        def __add__(self, other):
            return Sum(self.x + other.x)

        def __iadd__(self, other):
            self.x += other.x
            return self

        def __imul__(self, k):
            self.x *= k
            return self

        def __sub__(self, other):
            return Sum(self.x - other.x)

    @njit
    def f():
        a, b = Sum(1.0), Sum(2.0)
        same = a
        a += b  # in place
        a *= 3.0
        changed = same.x
        a -= b  # by __sub__: another object
        return changed, same.x, a.x

    assert f() == (9.0, 9.0, 7.0)


# ---- branches and names


def test_a_loop_whose_condition_is_known_to_be_false_is_left_out():
    @njit
    def f(n):
        c = 0
        while c < 4 and False:
            c += 1
        while False:
            c += 2
        while n < 3 or False:
            n += 1
        else:
            c += 10
        return c, n

    assert f(1) == f.py_func(1) == (10, 3)


def test_exchanged_names_whose_values_are_known():
    def f(n):
        i, j = 1, n + 2
        i, j = j, i
        i, j = j, i
        return i, j

    assert bc.njit(f)(5) == f(5)


@pytest.mark.parametrize("name", ["args", "steps", "dims", "count", "failure", "poll", "k", "n", "j", "o", "p", "p0", "step0"])
def test_ufuncs_of_any_name(name):
    functions = {}
    exec(f"def {name}(x, y):\n    return x + 2 * y", functions)
    numbers = bc.vectorize(["float64(float64, float64)"])(functions[name])
    assert_array_equal(numbers(np.arange(4.0), 1.0), [2, 3, 4, 5])
    assert numbers.reduce(np.arange(4.0)) == 12
    exec(f"def {name}(x, out):\n    out[0] = x.sum()", functions)
    cores = bc.guvectorize(["void(float64[:], float64[:])"], "(n)->()")(functions[name])
    assert_array_equal(cores(np.arange(6.0).reshape(3, 2)), [1, 5, 9])


# ---- formats


def test_conversions_before_format_specifications():
    def f(s, n):
        return f"{s!r:>6}|{n!s:>5}|{n!r:<4}|{s!s:^7}|{3.5!r:>6}"

    assert bc.njit(f)("ab", 12) == f("ab", 12)


def test_format_specifications_are_pythons():
    """Fill, alignment, sign, `z`, `#`, zeros, width, groups, precision, type: of floats, integers, booleans and texts, right and wrong."""
    chosen = random.Random(5)
    values = {
        "feEFgG%n": [0.0, -0.0, 1.5, -2.25, 1e16, 123456.789, 1e-5, math.nan, -math.inf, 9.9999, 1e100, -1e-9],
        "dxXobncfg": [0, -1, 97, 255, -300, 1234567, -123456789],
        "sd": ["", "a", "h\u00e9llo", "abcdef"],
        "dxs": [True, False],
    }

    def specification(types):
        fill, align = chosen.choice(["", "", "*", "\u00e9", "0"]), chosen.choice("<>^=")
        text = fill + align if chosen.random() < 0.4 else ""
        for part, often in (("+- ", 0.3), ("z", 0.05), ("#", 0.2), ("0", 0.25)):
            text += chosen.choice(part) if chosen.random() < often else ""
        text += chosen.choice(["", "1", "3", "7", "12", "20"]) + (chosen.choice(",_") if chosen.random() < 0.25 else "")
        text += chosen.choice(["", "", "", ".0", ".1", ".2", ".5", ".17"]) + (chosen.choice(types) if chosen.random() < 0.8 else "")
        return text

    cases = [(chosen.choice(v), specification(types)) for types, v in values.items() for _ in range(60)]
    lines = ["def f(given):", "    r = []"]
    for k, (_, how) in enumerate(cases):
        lines += [
            "    try:",
            f'        r.append(f"{{given[{k}]:{how}}}")',
            "    except (ValueError, OverflowError):",
            "        r.append('refused')",
        ]
    f = function_of_text("\n".join([*lines, "    return r"]) + "\n")
    given = tuple(v for v, _ in cases)
    for case, mine, pythons in zip(cases, njit(f)(given), f(given), strict=True):
        assert mine == pythons, case
    assert njit(repr_of)("a\x00\x1f\x7f'b") == repr_of("a\x00\x1f\x7f'b")


def repr_of(s):
    return repr(s), f"{s!r}", str([s])


# ---- None


def _given_or(xs, n):
    def first(values):
        for v in values:
            if v > n:
                return v
        return None

    h = first(xs)
    i = h if h is not None else -7
    if h is None:
        h = 50
    rows = [(h, 1.0), (3, 2.0)]
    rows.append((i, 0.5))
    return sorted(rows), rows[::2] < rows


def _left_early(xs, n):
    h = xs.get(n)
    if h is None:
        return [n]
    values = [h]
    values.append(n)
    return values


def _in_conditions(xs, n):
    h = xs.get(n)
    if h is not None and h > 1:
        return h
    if not (h is not None) or h < 100:
        return 50
    return 7


def _in_a_loop(xs, n):
    turns = 0
    while (h := xs.get(n)) is not None:
        n = h
        turns += 1
        if turns > 20:
            break
    h = xs.get(1)
    for _ in range(3):
        if h is not None:
            h = h - 1
            if h < 0:
                h = None
    return turns, n, h


def _in_comprehensions_and_handlers(xs, n):
    h = xs.get(n)
    values = [xs.get(k) for k in range(4)]
    found = [v + 1 for v in values if v is not None]
    try:
        assert h is not None
        x = 10 // h
    except ZeroDivisionError:
        x = h
        h = None
    except AssertionError:
        return found, -1
    if h is None:
        return found, x
    return found, h + x


def _equal(xs, n):
    h, g = xs.get(n), xs.get(2)
    return (
        bool(h),
        not g,
        h or 7,
        "%s" % (h if h else 0),
        h == g,
        h != g,
        h == 0,
        0 != h,
        h is None,
        [(h, 1)] == [(g, 1)],
        (h, 1) == (None, 1),
    )


@pytest.mark.parametrize("f", [_given_or, _left_early, _in_conditions, _in_a_loop, _in_comprehensions_and_handlers, _equal])
@pytest.mark.parametrize("values", [{1: 2, 2: 3, 3: 1, 0: 0}, {1: 0, 2: 150}, {0: 0}, {5: 1}])
def test_what_may_be_none_is_a_value_where_a_test_tells_so(f, values):
    for n in (0, 1, 2, 5):
        given = list(values) if f is _given_or else values
        assert njit(f)(List(given) if f is _given_or else Dict(values), n) == f(given, n)


def test_none_in_the_place_of_a_value_raises():
    d = Dict({1: 2})

    @njit
    def more(d, n):
        return d.get(n) + 1

    @njit
    def less(d, n):
        return [(d.get(n), 1.0)] < [(d.get(1), 2.0)], [(d.get(n), 1.0)] < [(d.get(3), 2.0)]

    assert more(d, 1) == 3
    with pytest.raises(TypeError):
        more(d, 2)
    with pytest.raises(TypeError):
        less(d, 2)


# ---- variables that a path leaves unbound


def reads_after(x):
    if x > 0:
        y = 1
    return y


def reads_after_loop(n):
    for i in range(n):
        last = i * 2
    return last + i


def bound_by_an_earlier_turn(n):
    s = 0
    if n < 0:
        kept = 0
    for i in range(n):
        if i > n - 3:
            s += kept
        if i % 4 == 1:
            kept = i
    return s


def deleted(n):
    x = n
    if n > 1:
        del x
    return x


def caught(n):
    try:
        if n > 0:
            raise ValueError
        r = 1.5
    except ValueError:
        n += 1
    return r + n


def objects(n):
    if n > 0:
        names = ["a"]
    for _ in range(n):
        names.append("b")
    return len(names)


@pytest.mark.parametrize("f", [reads_after, reads_after_loop, bound_by_an_earlier_turn, deleted, caught, objects])
def test_a_variable_that_is_not_bound_raises_as_in_python(f):
    for n in (-1, 0, 1, 2, 3, 5, 9):
        try:
            expected = f(n)
        except UnboundLocalError as e:
            with pytest.raises(UnboundLocalError) as raised:
                njit(f)(n)
            assert str(raised.value) == str(e)
        else:
            assert njit(f)(n) == expected


def test_members_of_enumerations_are_equal_to_themselves_alone():
    class Colour(enum.Enum):
        RED = 1
        BLUE = 2

    class Other(enum.Enum):
        RED = 1

    class Number(enum.IntEnum):
        ONE = 1

    def compared(x, member, one):
        return (
            Colour.RED == 1, Colour.RED != 1, 1 == Colour.RED, x == Colour.RED, Colour.BLUE != x, member == 1, 1.0 != member,
            member == Colour.RED, member is Colour.BLUE, Colour.RED is Colour.RED, Colour.RED == Other.RED, member == Other.RED,
            Colour.RED == Number.ONE, Number.ONE == 1, one == Colour.RED, Colour.RED in (1, Colour.RED), Colour.RED in (1, 2.5),
            Colour.RED == "RED", Colour.RED is None, Number.ONE.value + x, Colour.BLUE.value,
        )  # fmt: skip

    for member in Colour:
        assert njit(compared)(1, member, Number.ONE) == compared(1, member, Number.ONE)

    class Size(float, enum.Enum):
        SMALL = 0.5

    class Loose(enum.Enum):
        A = 1

        def __eq__(self, other):
            return True

    assert njit(lambda: Size.SMALL == 0.5)() is True
    with pytest.raises(bc.TypingError, match="no operator =="):
        njit(lambda: Loose.A == 3)()


def test_identity_of_members_that_are_numbers():
    class Gear(enum.IntEnum):
        FIRST = 1
        SECOND = 2

    class Lamp(enum.IntEnum):
        ON = 1

    def compared(k):
        kept = Lamp.ON
        either = Gear.FIRST if k else Gear.SECOND
        return (
            Gear.FIRST is Lamp.ON, Gear.FIRST is not Lamp.ON, Gear.FIRST is Gear.FIRST, Gear.FIRST is Gear.SECOND, Gear.FIRST == Lamp.ON,
            kept is Gear.FIRST, kept is Lamp.ON, kept == Gear.FIRST, either is Gear.FIRST, either is not Gear.SECOND,
        )  # fmt: skip

    for k in (0, 1):
        assert njit(compared)(k) == compared(k)
