"""The Python that functions under `jit` accept: lists, sets, dicts, strings, exceptions, and what stands for library functions."""

import gc
import heapq
import math
import os
import random
import subprocess
import sys
from collections import namedtuple

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import broadcloth as bc
from broadcloth import cuda, njit, prange
from broadcloth.experimental import jitclass
from broadcloth.typed import Dict, List
from support import function_of_text


class Coded(ValueError):
    def __init__(self, message, code):
        super().__init__(message)
        self.code = code


def resident():
    with open("/proc/self/statm") as f:
        return int(f.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


# ---- lists


def test_lists_are_made_grown_changed_and_returned():
    @njit
    def f(n):
        counts = [0] * n
        grid = [[0] * 2 for _ in range(n)]
        pairs = []
        for i in range(n):
            counts[i] = i * i
            grid[i][1] += i
            pairs.append((i, i / 2))
        counts[-1] += 100
        x, y = pairs[1]
        return counts, grid, pairs, [x + y, 1.0], counts[1:], len(grid)

    assert f(3) == ([0, 1, 104], [[0, 0], [0, 1], [0, 2]], [(0, 0.0), (1, 0.5), (2, 1.0)], [1.5, 1.0], [1, 104], 3)


def test_containers_ranges_and_tuples_as_values():
    point = namedtuple("point", "x y")

    @njit
    def f(n, pair, at):
        some = list(range(n))
        steps = iter(some)
        first = next(steps)
        total = 0
        for v in steps:
            total += v
        unlike = ["a", 1].copy()
        return (
            bool(some), bool(set(some)), bool("x"), bool(()), bool(pair), n in range(5), n in range(0, n + 1, 2), 7 not in range(9, 0, -n),
            first, total, pair.index(at), (1, n) < (1, 3.5), (n,) <= (n, 1), type(n) == int, type(2.0) == int,  # noqa: E721, UP003
            point(n, 1) > point(2, 5), unlike[1],
        )  # fmt: skip

    for n in (2, 3, 4):
        assert f(n, (5, 6, 7), 6) == f.py_func(n, (5, 6, 7), 6)
    with pytest.raises(ValueError, match="not in tuple"):
        f(2, (5, 6, 7), 8)

    @njit
    def item(values, at):
        return values[at]

    assert item((1, 2, 3), -3) == 1
    for at in (3, -4):
        with pytest.raises(IndexError, match="out of range"):
            item((1, 2, 3), at)
    with pytest.raises(ValueError, match="step cannot be zero"):
        njit(lambda values: values[::0])([1, 2])


def test_the_methods_of_lists():
    def plain(x):
        x = x.copy()
        seen = (x.count(5), x.index(3), 9 in x, 77 not in x)
        x.remove(5)
        x.reverse()
        x.insert(1, 9)
        y = x + [1, 2]
        last, first = x.pop(), x.pop(0)
        x.extend([4, 4])
        x += [7]
        del x[0]
        z = sorted(y, reverse=True)
        y.sort(key=lambda v: -v % 5)
        return seen, x, y, z, last, first, y[::-1], y[::2], y * 2, max(y), min(y), sum(y), x == [5, 3], x < y

    assert njit(plain)([5, 3, 5, 1, 9]) == plain([5, 3, 5, 1, 9])


def test_a_list_argument_is_changed_in_place_and_holds_what_python_lists_hold():
    @njit
    def grow(x):
        x.append(x[0])
        x[0] = x[1]

    for values in ([1, 2], [1.5, 2.5], ["a", "bc"], [(1, 2.0), (3, 4.0)], [[1], [2, 3]], [True, False]):
        mine, theirs = list(values), list(values)
        grow(mine)
        grow.py_func(theirs)
        assert mine == theirs
    untouched = [1, 2, 3]
    assert njit(lambda x: sum(x))(untouched) == 6
    with pytest.raises(IndexError, match="list index out of range"):
        njit(lambda x: x[7])([1])
    with pytest.raises(ValueError, match="empty list"):
        grow([])
    with pytest.raises(TypeError, match="one type"):
        grow([1, "a"])


def test_lists_of_arrays_share_their_memory():
    @njit
    def f(arrays):
        made = [a * 2 for a in arrays]
        made.append(arrays[0])
        made[-1][0] = 50.0
        return made

    first = np.arange(3.0)
    made = f([first, np.ones(2)])
    assert first[0] == 50.0
    assert made[2] is first
    assert_array_equal(made[1], [2, 2])
    del made
    gc.collect()


def test_an_empty_list_takes_the_type_of_what_comes_into_it():
    @njit
    def neighbours(edges, n):
        near = [[] for _ in range(n)]
        for i in range(edges.shape[0]):
            near[edges[i, 0]].append(edges[i, 1])
        stack = [(0, 0)]
        found = []
        while stack:
            node, depth = stack.pop()
            found.append((depth, node))
            for other in near[node]:
                stack.append((other, depth + 1))
        return near, found

    assert neighbours(np.array([[0, 1], [0, 2], [1, 3]]), 4) == ([[1, 2], [3], [], []], [(0, 0), (1, 2), (1, 1), (2, 3)])

    @njit
    def nothing():
        x = []
        return len(x)

    with pytest.raises(bc.exceptions.TypingError, match="nothing is ever put into it"):
        nothing()


# ---- dicts and sets


def test_a_dict_counts_and_keeps_the_order_of_its_keys():
    @njit
    def f(values):
        counts = {}
        for v in values:
            counts[v] = counts.get(v, 0) + 1
        total = 0
        for k, v in counts.items():
            total += k * v
        return counts, total, list(counts), sum(counts.values()), 3 in counts

    counts, total, keys, n, there = f(np.array([3, 1, 3, 2, 1, 3]))
    assert dict(counts) == {3: 3, 1: 2, 2: 1}
    assert (total, keys, n, there) == (13, [3, 1, 2], 6, True)


def test_the_methods_of_dicts():
    def plain():
        d = {"a": 1.0, "b": 2.0, "c": 3.0}
        del d["b"]
        first, none = d.pop("a"), d.pop("zz", -1.0)
        d.setdefault("d", 4.0)
        d["c"] += 1
        other = d.copy()
        d.update({"e": 5.0})
        key, value = other.popitem()
        squares = {i: i * i for i in range(4) if i != 2}
        d2 = {(1, 2): 3}
        return first, none, key, value, list(d.keys()), [v + 0 for v in d.values()], len(d), list(squares.values()), d2[(1, 2)], d == other

    assert njit(plain)() == plain()


def test_dicts_grow_and_shrink_as_a_model():
    @njit
    def f(n, seed):
        np.random.seed(seed)
        d = {}
        for i in range(n):
            k = np.random.randint(0, 200)
            if i % 3 == 2 and k in d:
                del d[k]
            else:
                d[k] = i
        return list(d.items())

    pairs = f(5000, 1)
    assert len({k for k, _ in pairs}) == len(pairs)
    assert f(5000, 1) == pairs

    @njit
    def model(keys, gone):
        d = {}
        for i in range(keys.size):
            if gone[i] and keys[i] in d:
                d.pop(keys[i])
            else:
                d[keys[i]] = i
        return list(d.items())

    rng = np.random.default_rng(0)
    keys, gone = rng.integers(-50, 50, 3000), rng.random(3000) < 0.4
    assert model(keys, gone) == [(int(k), v) for k, v in model.py_func(keys, gone)]


def test_sets_and_what_they_do_together():
    def plain(values):
        seen = set()
        out = []
        for v in values:
            if v not in seen:
                seen.add(v)
                out.append(v)
        a, b = {1, 2, 3}, {2, 3, 4}
        a.discard(9)
        return out, sorted(a | b), sorted(a & b), sorted(a - b), sorted(a ^ b), a <= b, {2} <= a, sorted({v % 3 for v in values}), len(seen)

    assert njit(plain)(np.array([3, 1, 3, 2])) == plain([3, 1, 3, 2])

    @njit
    def change(s):
        s.add("new")
        return s

    mine = {"a", "b"}
    assert change(mine) == {"a", "b", "new"} == mine


def test_typed_containers_are_worked_on_in_place():
    @njit
    def f(d, values):
        for k in d:
            d[k] *= 2
        d["new"] = 1.0
        values.append(d["x"])

    d = Dict.empty(bc.types.unicode_type, bc.types.float64)
    d["x"] = 1.5
    values = List([0.5])
    f(d, values)
    assert dict(d) == {"x": 3.0, "new": 1.0}
    assert list(values) == [0.5, 3.0]
    assert (len(d), "new" in d, d.get("none"), values[-1], values.pop(), len(values)) == (2, True, None, 3.0, 3.0, 1)
    with pytest.raises(KeyError, match="none"):
        d["none"]
    with pytest.raises(TypeError, match="needs a type"):
        f(Dict(), values)

    arrays = List()
    for i in range(3):
        arrays.append(np.full(2, float(i)))  # nobody else keeps them
    gc.collect()
    assert njit(lambda x: x[0][0] + x[1][0] + x[2].sum())(arrays) == 5.0
    assert_array_equal(arrays[2], [2, 2])


def test_typed_lists_are_ordered_and_name_types_of_others():
    assert List([1, 2]) < List([1, 3]) <= [1, 3] and List([2]) > List([1, 9]) >= List([1])

    @njit
    def f():
        groups = Dict.empty(bc.types.string, List.empty_list(bc.types.int64))
        groups["a"] = List([1, 2])
        return len(groups["a"])

    assert f() == 2


def test_containers_in_parallel_loops():
    @njit(parallel=True)
    def f(n):
        out = np.zeros(n)
        for i in prange(n):
            found = {}
            values = [0.0]
            for k in range(10):
                found[k % 3] = k
                values.append(k * 1.0)
            out[i] = len(found) + sum(values) + i
        return out

    assert_array_equal(f(100), 48 + np.arange(100))


def test_memory_of_containers_comes_back():
    @njit
    def f(n, fail):
        words = ["word"] * 3
        table = {}
        for i in range(n):
            table[str(i) + words[0]] = [np.ones(100), np.zeros(50)]
        if fail:
            raise ValueError(f"after {len(table)}")
        return len(table)

    assert f(5, False) == 5
    with pytest.raises(ValueError, match="after 5"):
        f(5, True)
    before = resident()
    for i in range(60):
        try:
            f(2000, i % 2 == 0)
        except ValueError:
            pass
    assert resident() - before < 40 << 20  # a call makes 3 MB


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


# ---- what stands for library functions


def test_random_orders_of_lists():
    @njit
    def f(n):
        words = [str(i) for i in range(n)]
        random.shuffle(words)
        return words, random.choice(words) in words

    words, there = f(30)
    assert there
    assert words != sorted(words, key=int)
    assert sorted(words, key=int) == [str(i) for i in range(30)]


def test_heapq():
    @njit
    def f(values):
        heap = [(values[0], 0)]
        for i in range(1, len(values)):
            heapq.heappush(heap, (values[i], i))
        out = []
        while heap:
            out.append(heapq.heappop(heap))
        return out

    values = [0.5, -1.0, 3.0, 0.5, 2.0]
    assert f(np.array(values)) == sorted((v, i) for i, v in enumerate(values))


def test_numpy_functions_written_in_python():
    def plain(a, m):
        return (
            np.percentile(a, 30), np.quantile(a, np.array([0.1, 0.9])), np.histogram(a, 3)[0], np.interp(1.5, np.arange(4.0), a[:4]),
            np.digitize(a, np.array([1.0, 2.0])), np.cross(a[:3], a[1:4]), np.kron(m, m), np.tril(m), np.diag(m), np.delete(a, 1),
            np.convolve(a, a[:2]), np.cov(m), np.isin(a, a[:2]), np.rot90(m), np.trapezoid(a), np.roll(a, 2), np.nanmedian(a),
            np.diff(a, n=2), np.average(a, weights=a), m[[1, 0]], a.tolist(), np.linalg.norm(m, 1), np.tile(a, 2), np.gradient(a),
            np.bincount(np.array([0, 2, 2]), weights=a[:3]), np.nonzero(m > 2)[1], np.flip(m, 0), math.comb(5, 2), math.factorial(5),
            math.isqrt(a.size * 7),
        )  # fmt: skip

    a, m = np.array([3.0, 1.0, 2.5, 0.5, 4.0]), np.array([[4.0, 1.0], [1.0, 3.0]])
    for mine, theirs in zip(njit(plain)(a, m), plain(a, m), strict=True):
        assert_allclose(mine, theirs, rtol=1e-12)


def test_decompositions():
    @njit
    def f(m):
        w, v = np.linalg.eigh(m @ m.T)
        q, r = np.linalg.qr(m)
        u, s, t = np.linalg.svd(m)
        x, left, rank, _ = np.linalg.lstsq(m, m[:, 0])
        return w, v, q, r, u, s, t, np.linalg.cholesky(m @ m.T + np.eye(3)), np.linalg.pinv(m), rank, x, np.linalg.eigvals(m)

    m = np.random.default_rng(1).random((3, 3))
    w, v, q, r, u, s, t, c, p, rank, x, e = f(m)
    assert_allclose(w, np.linalg.eigvalsh(m @ m.T), atol=1e-12)
    assert_allclose(v * w @ v.T, m @ m.T, atol=1e-12)
    assert_allclose(q, np.linalg.qr(m)[0], atol=1e-12)
    assert_allclose(q @ r, m, atol=1e-12)
    assert_allclose(s, np.linalg.svd(m)[1], atol=1e-12)
    assert_allclose(u * s @ t, m, atol=1e-12)
    assert_allclose(c, np.linalg.cholesky(m @ m.T + np.eye(3)), atol=1e-12)
    assert_allclose(p, np.linalg.pinv(m), atol=1e-10)
    assert rank == 3
    assert_allclose(x, [1, 0, 0], atol=1e-10)
    assert_allclose(sorted(e, key=abs), sorted(np.linalg.eigvals(m), key=abs), atol=1e-10)


def test_walks_over_indices():
    def plain(a):
        s = 0.0
        for (i, j), x in np.ndenumerate(a):
            s += x * (i + 1) * (j + 2)
        for i, j in np.ndindex(2, 3):
            s += a[i, j]
        for x in a.flat:
            s += x
        return s, np.iinfo(np.int32).max, np.finfo(np.float64).eps, np.stack((a, a), axis=-1).shape, ~(a > 2)

    a = np.arange(6.0).reshape(2, 3)
    for mine, theirs in zip(njit(plain)(a), plain(a), strict=True):
        assert_array_equal(mine, theirs)


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


def test_where_with_integer_literals():
    a, x = np.array([3, 1, 2]), np.array([1.5, 0.5, 2.5], np.float32)
    assert_array_equal(njit(lambda a: np.where(a > 1, a, 0))(a), [3, 0, 2])
    assert_array_equal(njit(lambda a: np.where(a > 1, 0, a))(a.astype(np.int32)), [0, 1, 0])
    assert_array_equal(njit(lambda x, a: np.where(x > 1, a, 0))(x, a), [3, 0, 2])
    assert njit(lambda t, b: np.where(t, b, 0))(True, 3) == 3


def test_complex_numbers_are_true_or_false():
    f = njit(lambda z: (bool(z), np.bool_(z), not z, 1 if z else 2))
    assert [f(1j), f(0j)] == [(True, True, False, 1), (False, False, True, 2)]


def test_hashes_of_numbers_are_pythons():
    f = njit(lambda x: hash(x))
    values = [0, 1, -1, -2, 2**61 - 1, 2**61, -(2**61), -(2**63), True]
    values += [2.5, -1.0, 0.1, -7e300, 5e-324, 1e-310, math.inf, -math.inf, 1e17, 123456.75]
    assert [f(v) for v in values] == [hash(v) for v in values]
    assert f(np.uint64(2**63 + 5)) == hash(2**63 + 5)
    assert f(np.float32(0.1)) == hash(float(np.float32(0.1)))


def test_dtypes_by_letter_and_their_type():
    assert njit(lambda x: np.dtype("f").type(x))(0.1) == np.float32(0.1)
    g = bc.vectorize(lambda x: np.dtype("b").type(x))
    assert int(g(np.array([300]))[0]) == 44


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


def test_the_length_of_an_array_expression():
    @njit
    def f(a):
        return len(a * 2), len(a // -7), len(a[1:] + 1)

    assert f(np.arange(5)) == (5, 5, 4)


def test_exchanged_names_whose_values_are_known():
    def f(n):
        i, j = 1, n + 2
        i, j = j, i
        i, j = j, i
        return i, j

    assert bc.njit(f)(5) == f(5)


def test_items_of_lists_and_arrays_are_read_before_stores():
    def f(x, y):
        y[1], y[0] = y
        x[0], x[1] = x[::-1]
        return y

    x, items = np.array([1.0, 2.0]), [3, 4]
    assert bc.njit(f)(x, [3, 4]) == f(x.copy(), items)
    assert x.tolist() == [2.0, 1.0]


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


def test_a_loop_goes_on_over_what_it_began_with():
    """What a loop walks over may be given another value in its body."""

    def over_rows(m, a, xs, n):
        s = 0.0
        for row in m:
            s += row[0]
            m = m - 100.0
        for i, v in enumerate(a):
            s += i * v
            a = np.zeros(1)
        for x, y in zip(xs, xs):
            s += x * y
            xs = [9, 9, 9, 9]
        steps = range(n)
        for i in steps:
            s += i
            steps = range(100)
        pair = (n, n + 1)
        for p in pair:
            s += p
            pair = (50, 60)
        for q in (1, n, 3):
            s += q
            n += 10
        table = {1: 2, 3: 4}
        for k, v in table.items():
            s += k * v
            table = {7: 8}
        for i, v in enumerate(xs, start=n):
            s = s * 2 + i * v
            n += 10
        return s

    given = np.arange(6.0).reshape(2, 3), np.arange(4.0), [1, 2], 4
    assert njit(over_rows)(*given) == over_rows(*given)

    @cuda.jit
    def kernel(out, x, y):
        for v in x:
            out[0] += v
            x = y

    with bc.device("cpu"):
        out = bc.zeros(1)
        kernel[1, 1](out, bc.arange(4.0), bc.array([50.0, 60.0, 70.0, 80.0]))
    assert float(out[0]) == 6.0


def test_a_comprehension_goes_on_over_what_it_began_with():
    def f(xs, n):
        key = 0
        return [(xs := [5, 5, 5, 5])[0] + v for v in xs], xs, [max(n, key := n + v) for v in (n, 7) if (n := n + 1)], n, key

    assert njit(f)([1, 2, 3], 4) == f([1, 2, 3], 4)

    def numbered(xs, k):
        return [(k := i + 100) + v for i, v in enumerate(xs, start=k)], k

    assert njit(numbered)([1, 2, 3], 5) == numbered([1, 2, 3], 5)


def test_unpacking_takes_every_iterable_and_a_star_gives_a_list():
    def f(s, n, xs, a):
        i, *some = (n, 3, 4)
        some.append(5)
        *most, last = s
        x, *rest = a
        u, w = a[:2] * 2
        p, q = range(2)
        c, d = zip(xs, xs)
        e, *more = (v * 2 for v in xs)
        g, h = reversed(xs)
        return i, some, most, last, x, rest, u, w, p, q, c, d, e, more, g, h

    given = "hello", 2, [4, 1], np.arange(3.0)
    assert njit(f)(*given) == f(*given)

    def one(s):
        a, b = s
        return a + b

    assert njit(one)("xy") == "xy"
    with pytest.raises(ValueError, match="too many values to unpack"):
        njit(one)("xyz")


def test_complex_numbers_divide_as_pythons():
    def f(a, b):
        return a / b, a / (2 + 2j)

    assert njit(f)(1 + 2j, 2) == f(1 + 2j, 2)
    for b in (0, 0.0, 0j):
        with pytest.raises(ZeroDivisionError, match="complex division by zero"):
            njit(f)(1 + 2j, b)


def test_what_may_be_none_is_no_key():
    @njit
    def first(xs, n):
        for x in xs:
            if x > n:
                return x
        return None

    def f(xs, n):
        d = {1: [1]}
        d.setdefault(first(xs, n), [2]).append(3)
        return len(d)

    with pytest.raises(bc.TypingError, match="cannot be a key"):
        njit(f)([1, 5], 3)


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


def test_dict_of_a_display_is_a_dict():
    def f(n):
        d = dict({1: n, 2: 3})  # noqa: C418
        d[4] = 5
        return list(d.items())

    assert njit(f)(7) == f(7)


def test_comprehensions_of_known_length_are_filled():
    """A list of numbers over a counted iterable is filled in strips; what it holds, and which error ends it, is Python's."""

    def lists(n, a, xs):
        long = [i * 0.5 for i in range(n)]
        pairs = [x + i for i, x in enumerate(a)]
        nested = [[i * j for j in range(i)] for i in range(5)]
        kept = [x for x in xs if x > 1]
        flags = [x > 1 for x in (3, 1, 2)]
        long.append(-1.0)
        return long, pairs, nested, kept, flags, [i + 1 for i in range(0)], [u + w for u, w in zip(xs, xs[1:])]

    a = np.array([0.5, 1.5, 2.5])
    for n in (0, 1, 8191, 8192, 8193, 70_000, (1 << 20) + 9000):
        assert njit(lists)(n, a, [3, 1, 2]) == lists(n, a, [3, 1, 2])

    def ends(n):
        try:
            return [10 // (3 - i) for i in range(n)]
        except ZeroDivisionError:
            return [-1]

    assert njit(ends)(10**15) == ends(10**15)
    assert njit(ends)(3) == ends(3)


def test_an_array_of_a_comprehension_takes_its_memory():
    def arrays(n):
        a = np.array([i * 0.5 for i in range(n)])
        b = np.asarray([i for i in range(n) if i % 3])
        xs = [1, 2, 3]
        c = np.array(xs)
        xs[0] = 9
        a[1] = 7.0
        return a, b, c, np.array([[i + j * 0.5 for j in range(3)] for i in range(n)]), np.array([(i, i + 1) for i in range(n)])

    for mine, numpys in zip(njit(arrays)(9000), arrays(9000), strict=True):
        assert mine.dtype == numpys.dtype and np.array_equal(mine, numpys)

    @njit
    def ragged(n):
        return np.array([[j + 1 for j in range(i)] for i in range(n)])

    with pytest.raises(ValueError, match="differ in length"):
        ragged(3)
    assert ragged(0).size == ragged(1).size == 0


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


def test_full_takes_an_array_without_dimensions():
    assert_array_equal(njit(lambda x: np.full(3, x))(np.array(2)), [2, 2, 2])
    assert_array_equal(njit(lambda x: np.full((1, 2), x, np.float32))(np.array(2.5)), [[2.5, 2.5]])
    assert_array_equal(njit(lambda x: np.full((2, 3), x))(np.arange(3)), [[0, 1, 2], [0, 1, 2]])


def _agrees(function, *arguments):
    ours, numpys = njit(function)(*arguments), function(*arguments)
    for mine, theirs in zip(ours, numpys, strict=True):
        assert mine.dtype == theirs.dtype and mine.shape == theirs.shape and np.array_equal(mine, theirs)


def test_arrays_of_nested_comprehensions_are_written_in_place():
    """One axis for each comprehension, and one for a display as the element; a loop that ends with an error leaves nothing."""

    def arrays(n, m, a, xs):
        return (
            np.array([[i * 0.5 + j for j in range(m)] for i in range(n)]),
            np.array([[[i + j + k for k in range(2)] for j in range(m)] for i in range(n)], np.int32),
            np.array([[i + j for j in range(m)] for i in range(n)], dtype=np.float32),
            np.array([[i, i * 0.5, 1] for i in range(n)]),
            np.array([(i, i + 1) for i in range(n)], dtype=np.int16),
            np.asarray([[v, w] for v, w in zip(a, a[::-1])]),
            np.array([(i, v) for i, v in enumerate(a)]),
            np.array([[x + y for y in xs] for x in xs]),
            np.array([[x for x in xs if x > 1] for i in range(n)]),
            np.array([[i for j in range(m)] for i in range(n) for k in range(2)]),
            np.array([i * 1j for i in range(n)]),
            np.array([i ^ 1 for i in range(n)], dtype=np.uint16),
        )

    for n, m in ((1, 1), (4, 3), (3, 9000), (9000, 2)):
        _agrees(arrays, n, m, np.arange(5.0), [1, 2, 3])

    @njit
    def ends(n):
        try:
            return np.array([[10 // (2 - i) for j in range(3)] for i in range(n)])
        except ZeroDivisionError:
            return np.zeros((0, 0), np.int64)

    assert ends(10**15).shape == (0, 0)
    assert ends(2).tolist() == [[5] * 3, [10] * 3]
    assert ends(0).size == 0


def test_arrays_of_lists_of_rows():
    def arrays(n):
        lists = [[i, 7] for i in range(n)]
        pairs = [(i, 2 * i) for i in range(n)]
        rows = [np.arange(3.0)[::-1] * i for i in range(n)]
        return (
            np.array(lists), np.asarray(lists, dtype=np.float64), np.array(lists, np.int8), np.array(pairs), np.array(pairs, np.float32),
            np.array(rows), np.array(rows, dtype=np.int64),
        )  # fmt: skip

    _agrees(arrays, 4)

    @njit
    def empty(n):
        pairs = [(i, i + 1) for i in range(n)]
        rows = [np.arange(3.0) for i in range(n)]
        return np.array(pairs), np.array(rows), np.array([[i] for i in range(n)])

    assert [a.size for a in empty(0)] == [0, 0, 0]
    assert [len(a) for a in empty(0)] == [0, 0, 0]


def test_chained_comparisons_stop_where_one_fails():
    def chained(n, xs, log):
        def noted(v):
            log.append(v)
            return v

        first = -3 < n < xs[n] if n < 3 else n < -3 <= xs[n]
        second = noted(n) < noted(2) < noted(1) < noted(0)
        third = 0 <= n < len(xs) and 0 < xs[n] <= 3 < noted(7)
        if n > 5 > xs[n]:
            log.append(-1)
        return first, second, third, 1 < 2 < n, 2 < 1 < xs[n + 100]

    for n in (0, 1, 2, 5):
        ours, theirs = bc.typed.List([-7]), [-7]
        assert njit(chained)(n, [1, 2, 3], ours) == chained(n, [1, 2, 3], theirs)
        assert list(ours) == theirs


def _stored(c):
    numbers = [1, 2, 3]
    numbers[c] = 5
    return numbers


@pytest.mark.parametrize(
    "function",
    [
        lambda c: (1, 2, 3)[c],
        lambda c: [1, 2, 3][c],
        _stored,
        lambda c: [1, 2, 3].pop(c),
        lambda c: [1, 2, 3].insert(c, 1),
        lambda c: [1, 2].index(2, c),
        lambda c: "abc".center(c),
        lambda c: "abc".zfill(c),
        lambda c: "a b".split(" ", c),
        lambda c: int("12", c),
        lambda c: chr(c),
        lambda c: np.eye(c),
        lambda c: np.identity(c),
        lambda c: np.random.seed(c),
    ],
)
@pytest.mark.parametrize("number", [2.0, 1e9, -7.5])
def test_floats_are_no_indices_and_no_counts(function, number):
    with pytest.raises((TypeError, ValueError)):
        function(number)
    with pytest.raises(bc.core.errors.TypingError, match="must be an integer"):
        njit(function)(number)


WHOLE_NUMBERS = ["1_", "1__0", "_1", "1_0", "0x10", "-0X1f", "0b11", "0o17", "012", "00", "0_0", "0_1", "+5", "- 5", "-", "", "  7 ", "7a"]
WHOLE_NUMBERS += ["z", "0x", "0x_1f", "0x1__f", "9223372036854775807", "-9223372036854775808", "0b", "1 2", "\n3\t", "0b2"]


def test_texts_are_read_as_whole_numbers_in_any_base():
    @njit
    def compiled(text, base):
        return int(text, base)

    def outcome(f, *args):
        try:
            return f(*args)
        except ValueError:
            return "ValueError"

    for text in WHOLE_NUMBERS:
        for base in (0, 2, 8, 10, 36, 16, 1, 37, -1):
            want = outcome(int, text, base)
            if isinstance(want, str) or abs(want) < 2**63:
                assert outcome(compiled, text, base) == want, (text, base)
    assert compiled("-9223372036854775808", 10) == -(2**63)


@pytest.mark.parametrize("value", [2.5, 3, np.int8(2), np.float32(2.0)])
def test_ranges_to_an_array_without_dimensions(value):
    number = np.array(value)
    for function in (lambda c: np.arange(c), lambda c: np.arange(1, c), lambda c: np.arange(0, 7, c), lambda c: np.arange(c, 7)):
        got, want = njit(function)(number), function(number)
        assert_array_equal(got, want)
        assert got.dtype.kind == want.dtype.kind


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


# ---- integers of fewer than 64 bits


@pytest.mark.parametrize("dtype", ["uint8", "uint16", "uint32", "uint64", "int8", "int16", "int32", "int64"])
def test_negatives_and_complements_wrap_in_their_own_width(dtype):
    """As NumPy's scalars and Numba's compiled functions have it."""

    @njit
    def of_elements(a, i):
        x = a[i]
        return -x, ~x, -x == a[i], ~x // 7, float(-x)

    @cuda.jit
    def of_threads(a, out):
        i = cuda.grid(1)
        if i < a.size:
            out[0, i] = -a[i]
            out[1, i] = ~a[i]

    info = np.iinfo(dtype)
    a = np.array([info.min, info.max, 5, 0, 1, info.max // 3], dtype)
    out = bc.zeros((2, a.size))
    of_threads[1, 32](bc.asarray(a), out)
    with np.errstate(over="ignore"):
        for i, x in enumerate(a):
            got = of_elements(a, i)
            assert got == (int(-x), int(~x), bool(-x == x), int(~x) // 7, float(-x)), (dtype, x)
            assert out.get()[:, i].tolist() == [float(-x), float(~x)]


def _remainders(xs):
    zero, counts, digits, bits = 0, [0] * 7, 0, 0
    for x in xs:
        if x % 3 == 0:
            continue
        if x % 4 != 0 and 0 != x % 10:
            zero += x
        held = x % 5
        if held == 0:
            zero -= 1
        counts[x % 7] += 1
        counts[-(x % 7) - 1] += 2
    for x in xs:
        n = x
        while n > 0:
            digits += n % 10
            if n % 2 == 0:
                bits += 1
            n //= 10
        n = abs(x)
        while n:
            n &= n - 1
            bits += 1
        n = x
        while n >= 1:
            n >>= 2
            bits += 1
    return zero, counts, digits, bits


def test_remainders_that_are_zero_and_loops_over_digits_and_bits():
    xs = np.array([*range(-40, 40), 2**62 + 1, -(2**62), 999999999999], np.int64)
    assert njit(_remainders)(xs) == _remainders([int(x) for x in xs])


@pytest.mark.parametrize(
    ("loop", "asks"),
    [
        ("while n > 0:\n        n //= 10", False),
        ("while n != 0:\n        n &= n - 1", False),
        ("while n:\n        n //= 10", True),  # ends at -1 from below zero
        ("while n != 5:\n        n &= n - 1", True),  # stays at 0
        ("while n > 0:\n        n //= 1", True),
        ("while n > 0:\n        n >>= k", True),
        ("while n > 0:\n        if n % 3 == 0:\n            continue\n        n //= 10", True),
        ("while n > 0:\n        n //= 2\n        n += 1", True),
        ("while n > 0:\n        m = n\n        m //= 2", True),
        ("while n > 0:\n        if n > 5:\n            n //= 2", True),
        ("while n >= 0:\n        n >>= 1", True),
    ],
)
def test_loops_of_few_turns_do_not_ask_whether_to_go_on(loop, asks):
    f = function_of_text(f"def f(n, k):\n    {loop}\n    return n\n")
    compiled = njit("int64(int64, int64)")(f)
    assert ("bc_poll()" in next(iter(compiled.inspect_source().values()))) == asks


def test_loops_with_powers_ask_between_strips_of_turns():
    @njit
    def f(a, out):
        for i in range(a.shape[0]):
            for j in range(a.shape[1]):
                out[i] += a[i, j] ** 2 + math.erf(a[i, j])
        return out

    f(np.ones((3, 4)), np.zeros(3))
    assert "py::strip" in next(iter(f.inspect_source().values()))


def test_items_of_lists_are_found_from_both_ends():
    @njit
    def item(xs, i):
        return xs[i]

    xs = [1, 2, 3]
    for i in range(-3, 3):
        assert item(xs, i) == xs[i]
    for i in (3, 4, -4, 2**62, -(2**62), 2**63 - 1, -(2**63)):
        with pytest.raises(IndexError):
            item(xs, i)


def test_sums_of_columns_are_added_in_their_order():
    def product(a, b):
        c = np.zeros((a.shape[0], b.shape[1]))
        for i in range(a.shape[0]):
            for j in range(b.shape[1]):
                s = 0.0
                for k in range(a.shape[1]):
                    s += a[i, k] * b[k, j]
                c[i, j] = s
        return c

    rng = np.random.default_rng(0)
    for n in (1, 7, 33, 70):
        a, b = rng.normal(size=(5, n)), rng.normal(size=(n, 5))
        np.testing.assert_array_equal(njit(product)(a, b), product(a, b))


def _cases_of_numbers(g):
    out = np.zeros_like(g)
    chosen = np.zeros_like(g)
    total, last = 0, 0
    for i in range(1, g.shape[0] - 1):
        for j in range(1, g.shape[1] - 1):
            c = g[i - 1, j] + g[i + 1, j] + g[i, j - 1] + g[i, j + 1]
            if c == 3 or (c == 2 and g[i, j] == 1):
                out[i, j] = 1
        for j in range(g.shape[1]):
            c = g[i, j] + g[i - 1, j]
            if c == 1:
                v = 7
            elif c == 2 or c == 4:
                v = c + 3
            elif c == 3:
                v = 9
                total += 1
            else:
                v = c
                last = j
            chosen[i, j] = v
    return out, chosen, total, last


@pytest.mark.parametrize("dtype", ["int64", "uint8", "int16"])
def test_comparisons_with_several_values_in_loops(dtype):
    g = np.random.default_rng(0).integers(0, 4, (40, 53)).astype(dtype)
    ours, theirs = njit(_cases_of_numbers)(g), _cases_of_numbers(g)
    assert_array_equal(ours[0], theirs[0])
    assert_array_equal(ours[1], theirs[1])
    assert ours[2:] == theirs[2:]


def test_scans_for_the_least_and_the_largest():
    def f(a):
        low = high = a[0]
        for x in a:
            if x < low:
                low = x
            if x > high:
                high = x
        return low, high

    rng = np.random.default_rng(0)
    for a in (rng.normal(size=999), np.array([1.0, np.nan, -2.0, np.inf]), np.array([np.nan, 1.0, 2.0]), np.array([0.0, -0.0])):
        assert_array_equal(njit(f)(a), f(a))
