"""Lists, dicts and sets of functions under `jit`, what goes over them, and arrays that are made of them."""

import gc
import heapq
import os
import random
from collections import namedtuple

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import broadcloth as bc
from broadcloth import cuda, njit, prange, types
from broadcloth.experimental import jitclass
from broadcloth.typed import Dict, List
from support import function_of_text


def resident():
    with open("/proc/self/statm") as f:
        return int(f.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


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


def test_typed_containers_print_their_elements_as_numba_does():
    names, counts = List(["a", "b"]), Dict()
    counts["the"], counts["cat"] = 1.5, 2.0
    assert f"{names} {counts}" == "[a, b] {the: 1.5, cat: 2.0}"
    assert repr(names).endswith("([a, b])") and repr(counts).endswith("({the: 1.5, cat: 2.0})")


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


def test_items_of_lists_and_arrays_are_read_before_stores():
    def f(x, y):
        y[1], y[0] = y
        x[0], x[1] = x[::-1]
        return y

    x, items = np.array([1.0, 2.0]), [3, 4]
    assert bc.njit(f)(x, [3, 4]) == f(x.copy(), items)
    assert x.tolist() == [2.0, 1.0]


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


def test_loops_see_lists_that_change_their_length_meanwhile():
    """A body that changes no list's length is walked in strips; all others look at the length in each turn."""

    def put(xs, x):
        xs.append(x)

    put = njit(put)

    def summed(xs):
        s = 0
        for x in xs:
            s += x
        return s

    def counted(xs, counts):
        for i, x in enumerate(xs):
            if x < 0:
                continue
            counts[x % 7] += i
        return counts.tolist()

    def stored(xs):
        for i, x in enumerate(xs):
            xs[i] = x + 1
        return xs

    def appended(xs):
        for x in xs:
            if len(xs) < 40:
                xs.append(x)
        return xs

    def popped(xs):
        s = 0
        for x in xs:
            s += xs.pop() + x
        return s, xs

    def deleted(xs):
        s = 0
        for x in xs:
            s += x
            del xs[0]
        return s, xs

    def cut(xs):
        s = 0
        for x in xs:
            s += x
            xs[2:4] = [x]
        return s, xs

    def extended(xs):
        for x in xs:
            if x < 3:
                xs += [x + 1]
        return xs

    def by_a_function(xs):
        for x in xs:
            if x < 3:
                put(xs, x + 1)
        return xs

    def by_another_name(xs):
        ys = xs
        for x in xs:
            if x < 3:
                ys.append(x + 1)
        return xs

    def inside_another(xs):
        outer = [xs, [1]]
        for x in xs:
            if x < 3:
                outer[0] += [x + 1]
        return xs

    def by_heapq(xs):
        for x in xs:
            if x < 3:
                heapq.heappush(xs, x + 4)
        return xs

    walks = stored, appended, popped, deleted, cut, extended, by_a_function, by_another_name, inside_another, by_heapq
    for walk in walks:
        got, want = njit(walk)([0, 1, 2, 3, 4]), walk([0, 1, 2, 3, 4])
        assert got == want, walk.__name__
    long = [i * 5 % 31 - 3 for i in range(3 * 8192 + 5)]
    for n in (1, 8191, 8192, 8193, len(long)):
        assert njit(summed)(long[:n]) == sum(long[:n])
        assert njit(counted)(long[:n], np.zeros(7, int)) == counted(long[:n], np.zeros(7, int))
        assert njit(stored)(long[:n]) == [x + 1 for x in long[:n]]


def test_what_sets_do_together_with_many_elements():
    @njit
    def together(a, b):
        s, t = set(a), set(b)
        u = s.copy()
        u ^= t
        return sorted(s | t), sorted(s & t), sorted(s - t), sorted(u), len(s), len(t)

    for seed in range(6):
        rng = np.random.default_rng(seed)
        a, b = rng.integers(0, 400, 10**seed % 997), rng.integers(200, 900, 300)
        if a.size:
            s, t = set(a.tolist()), set(b.tolist())
            assert together(a, b) == (sorted(s | t), sorted(s & t), sorted(s - t), sorted(s ^ t), len(s), len(t))


@pytest.mark.parametrize("key", ["i", "i << 40", "i * 2654435761", "i - 40", "(i, i * 3)", "i * 0.5 - 3.0", "str(i)"])
def test_sets_of_keys_at_any_distances_are_combined_as_in_python(key):
    plain = function_of_text(f"""
def f(n, begin, m, gone):
    a, b = set(), set()
    for i in range(n):
        a.add({key})
    for i in range(begin, begin + m):
        b.add({key})
    for i in range(0, gone):
        a.discard({key})
        b.discard({key})
    c, d, e, g = a.copy(), a.copy(), a.copy(), a.copy()
    c |= b
    d &= b
    e -= b
    g ^= b
    h = a - b
    for i in range(begin - 3, begin + 3):
        h.add({key})
    return a | b, a & b, a - b, a ^ b, b - a, c, d, e, g, h, a <= b, a.isdisjoint(b), a ^ a, a - a, a & a, a | a
""")  # fmt: skip
    f = njit(plain)
    for arguments in [(0, 0, 1, 0), (1, 0, 0, 0), (9, 5, 9, 2), (300, 100, 20, 7), (20, 10, 300, 15), (900, 450, 900, 0), (60, 3, 5, 60)]:
        assert f(*arguments) == plain(*arguments)


def test_dicts_of_erased_and_many_keys():
    def plain(step, n):
        d = {}
        for i in range(n):
            d[i * step] = i
        for i in range(0, n, 3):
            del d[i * step]
        for i in range(n, n + n // 2):
            d[i * step] = -i
        d[0] = 7
        e = d.copy()
        for i in range(1, n, 3):
            e.pop(i * step)
        return d, e, list(d.keys()), list(e.values()), sum([d.get(i * step, 1) for i in range(2 * n)])

    f = njit(plain)
    for step in (1, 3, 1 << 20, 1 << 50, 2654435761, -7):
        for n in (1, 8, 100, 3000):
            assert f(step, n) == plain(step, n)


def test_several_empty_containers_in_one_statement():
    def pair(n):
        a, b, c, d = [], set(), {}, [0.5]
        for i in range(n):
            a.append(i)
            b.add(i + 0.5)
            c[i] = a
            d.append(i)
        return a, b, c[1], d

    def one(n):
        a = b = []
        for i in range(n):
            a.append(i)
        b.append(7)
        return a, b, a is b

    def swapped(n):
        a, b = [], [1]
        for _ in range(n):
            a, b = b, a
            a.append(len(b))
        return a, b

    for plain in (pair, one, swapped):
        assert njit(plain)(3) == plain(3)


def test_kept_arrays_are_those_that_later_ops_change():
    """Generators, containers and objects know the address of an array of ours, also when a lazy copy shared its elements."""

    @njit
    def items(x):
        for i in range(len(x)):
            yield x[i]

    @njit
    def put(kept, x):
        kept.append(x)

    @jitclass([("a", types.float64[:])])
    class Holder:
        def __init__(self, a):
            self.a = a

        def third(self):
            return self.a[3]

    arrays = [bc.arange(2000.0, device="cpu") for _ in range(5)]
    root = arrays[4]
    arrays[4] = bc.broadcast_to(root[3:4], (5,))  # read-only
    generator, from_python, from_njit, holder, fixed = (
        items(arrays[0]),
        List([arrays[1]]),
        List([np.zeros(2)]),
        Holder(arrays[3]),
        items(arrays[4]),
    )
    put(from_njit, arrays[2])
    assert next(generator) == 0 and next(fixed) == 3
    copies = [x.copy() for x in arrays]
    for x in (*arrays[:4], root):
        x += 100
    bc.flush()
    other = [bc.full(2000, 7.0, device="cpu") for _ in range(8)]
    bc.flush()
    assert next(generator) == 101 and next(fixed) == 103
    assert from_python[0][3] == from_njit[1][3] == holder.third() == 103
    holder.a[4] = -1
    assert arrays[3][4] == -1
    assert [c[3].tolist() for c in copies] == [3.0] * 5 and other[0][0] == 7


def test_a_typed_list_of_optional_values():
    items = List.empty_list(bc.types.optional(bc.types.int64))
    items.append(None)
    items.append(3)
    assert list(items) == [None, 3]
    with pytest.raises(TypeError, match="optional"):
        List().append(None)
