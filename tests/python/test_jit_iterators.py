"""Generators, generator expressions and iterators in compiled functions: lazy, in Python's order, used up by their first walk."""

import gc

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import broadcloth as bc
from broadcloth import njit

# ruff: noqa: C400, C401, C416, C417


# ---- generators


def test_generators_inside_and_outside():
    @njit
    def fibonacci(n):
        a, b = 0, 1
        while a < n:
            yield a
            a, b = b, a + b

    @njit
    def f(n):
        s = 0
        for i, x in enumerate(fibonacci(n)):
            if x == 3:
                continue
            if x > 20:
                break
            s += i * x
        return s, list(fibonacci(n)), [x * 2 for x in fibonacci(5)], sum(fibonacci(10)), next(fibonacci(3))

    plain = list(fibonacci.py_func(50))
    assert list(fibonacci(50)) == plain
    assert f(50) == (sum(i * x for i, x in enumerate(plain) if x != 3 and x <= 20), plain, [0, 2, 2, 4, 6], 20, 0)
    half = fibonacci(50)
    assert [next(half), next(half)] == [0, 1]
    del half


def test_generators_keep_what_they_need_and_raise():
    @njit
    def rows(a, limit):
        scale = np.full(2, 2.0)
        for i in range(a.shape[0]):
            if i == limit:
                raise ValueError(f"row {i}")
            yield i, a[i] * scale

    g = rows(np.arange(6.0).reshape(3, 2), 2)
    gc.collect()
    i, row = next(g)
    assert i == 0
    assert_array_equal(row, [0, 2])
    assert next(g)[0] == 1
    with pytest.raises(ValueError, match="row 2"):
        next(g)
    assert list(g) == []


@njit
def _endless(step):
    i = 0
    while True:
        yield i
        i += step


@njit
def _up_to(n):
    i = 0
    while i < n:
        yield i
        i += 1


def test_generators_beside_other_iterables_are_asked_in_turn():
    """zip, enumerate and map take one value at a time: an endless generator ends with what stands beside it."""

    def walks(n):
        out = [a * b for a, b in zip([5, 6, 7], _endless(n))]
        for i, v in enumerate(_endless(n)):
            if i > 4:
                break
            out.append(v + i)
        for v in map(lambda a, b: a + b, _endless(n), [1, 2]):
            out.append(v)
        pairs = _endless(3)
        for a, b in zip(pairs, pairs):
            if b > 9:
                break
            out.append(a * 100 + b)
        out.append(next(pairs))
        first = _endless(1)
        out += [a for a, b in zip(first, range(3))]
        out.append(next(first))  # the generator was asked once more than the range gave
        grown = [1]
        grown.extend(_up_to(n))
        return out + grown

    def plain(n):
        namespace = {"_endless": _endless.py_func, "_up_to": _up_to.py_func}
        return type(walks)(walks.__code__, namespace | {"__builtins__": __builtins__})(n)

    assert njit(walks)(2) == plain(2)


def test_a_loop_owns_the_generator_that_it_calls():
    """Frames of generators that only a loop knows are part of it: memory is given back whether the loop ends, breaks or raises."""

    @njit
    def kept(n):
        a = np.ones(n)
        for i in range(3):
            yield a * i

    @njit
    def total(n, limit):
        s = 0.0
        for _ in range(n):
            for v in kept(4):
                if v[0] > limit:
                    break
                s += v.sum()
            for v in _up_to(3):
                s += 10 // (v + 1)
        return s

    @njit
    def fails(n):
        s = 0
        for i in range(n):
            for v in _up_to(4):
                s += 12 // (3 - v)
        return s

    assert total(5, 9.0) == 5 * (12 + 18)
    assert total(5, 0.5) == 5 * 18
    with pytest.raises(ZeroDivisionError):
        fails(3)
    assert fails(0) == 0


@njit
def _pairs(n):
    """Loops over another generator, yields at several places, returns early."""
    for i in _up_to(n):
        if i == 4:
            return
        yield i, 0
        for j in _up_to(i):
            if j == 2:
                break
            yield i, j + 1


@njit
def _guarded(n):
    for i in range(n):
        try:
            yield i
        except ValueError:
            yield -1


@njit
def _cleaning(n, log):
    try:
        for i in range(n):
            yield i
            log.append(i)
        yield -1
    finally:
        log.append(100 + n)
    yield -2


@njit
def _rows(n):
    for i in range(n):
        yield [i] * i


@njit
def _failing(n):
    for i in range(n):
        yield 12 // (n - 2 - i)


def _sum_of_pairs(n):
    s = 0
    for i, j in _pairs(n):
        if j == 1:
            continue
        s += 10 * i + j
        n = i
    return s, i, n


def _first_large(n):
    for i, j in _pairs(9):
        for k in _up_to(i):
            if i * k > n:
                return i, j, k
    return -1, -1, n


def _else_of_a_loop(n):
    for i in _up_to(5):
        if i == n:
            break
    else:
        return -1
    return i


def _raises_inside(n):
    s = 0
    for i in _guarded(4):
        s += i
        if i == n:
            raise ValueError("mine")
    return s


def _catches_outside(n):
    s = 0
    try:
        for i in _guarded(4):
            s += 10 // (n - i)
    except ZeroDivisionError:
        return -s
    return s


def _catches_inside(n):
    s = 0
    for i in _failing(n):
        try:
            s += 60 // (i - 3)
        except ZeroDivisionError:
            s += 1000
        finally:
            s += 1
    return s


def _returns_from_try(n):
    log = [0]
    for i in _up_to(6):
        try:
            if i == n:
                return log, i
        finally:
            log.append(i)
    return log, -1


def _grows(n):
    names = [""]
    for row in _rows(n):
        for k, _ in enumerate(_up_to(len(row))):
            row.append(k)
        names.append(str(row))
    return names


def _asks(n):
    g = _pairs(5)
    a = next(g)
    for b in g:
        if b[0] == 2:
            break
    rest = 0
    for i, j in g:
        rest += i * j + n
    return a, b, rest


def _asks_too_often(n):
    g = _up_to(3)
    s = 0
    for _ in range(n):
        s += next(g)
    return s


def _cleans_up(n):
    log = [0]
    for i in _cleaning(3, log):
        if i == n:
            break
    log.append(-7)
    for k in range(2):
        for i in _cleaning(n, log):
            if i == k:
                break
        log.append(k)
    g = _cleaning(5, log)
    log.append(next(g))
    return _cleaned(n, log), log


@njit
def _cleaned(n, log):
    for i in _cleaning(9, log):
        if i == n:
            return len(log)
    return -1


def _in_a_loop(n):
    s = 0
    for k in range(n):
        g = _endless(k)
        s += next(g) + next(g) * next(g)
    return s


def _collects(n):
    odd = [i * j for i, j in _pairs(n) if j % 2]
    nested = [[a, b] for a in _up_to(n) if a for b in _up_to(a)]
    return odd, nested, sorted(set(_up_to(n))), sum(_up_to(n)), max(_up_to(n + 1)), {a: b + 1 for a, b in _pairs(n)}


def test_inner_generators_read_no_names_that_are_bound_again():
    @njit
    def changes(n):
        def multiples():
            for i in range(3):
                yield i * n

        s = 0
        for x in multiples():
            n += 1
            s += x
        return s

    @njit
    def stays(n):
        n = n * 2

        def multiples():
            for i in range(3):
                yield i * n

        return [x + n for x in multiples()]

    with pytest.raises(bc.core.errors.TypingError, match="the generator 'multiples' reads 'n', which is bound again"):
        changes(1)
    assert stays(1) == [2, 4, 6]


@pytest.mark.parametrize(
    "function",
    [
        _sum_of_pairs, _first_large, _else_of_a_loop, _raises_inside, _catches_outside, _catches_inside, _returns_from_try, _grows, _asks,
        _asks_too_often, _in_a_loop, _collects, _cleans_up,
    ],
)  # fmt: skip
def test_loops_over_generators_are_pythons(function):
    """Loops hand their bodies to generators, or resume them: however a loop is left, variables, results and exceptions are Python's."""
    names = ("_endless", "_up_to", "_pairs", "_guarded", "_rows", "_failing", "_cleaning", "_cleaned")
    namespace = {"__builtins__": __builtins__}
    for name in names:
        made = globals()[name].py_func
        namespace[name] = type(made)(made.__code__, namespace)
    plain = type(function)(function.__code__, namespace)

    def outcome(f, n):
        try:
            return f(n)
        except Exception as error:
            return type(error), str(error)

    for n in (1, 2, 3, 4, 7):
        assert outcome(njit(function), n) == outcome(plain, n), n


# ---- generator expressions, and iterators in variables


@njit
def _seen(log, x):
    log.append(x)
    return x


def _any_and_all_stop(xs, k):
    log = [0]
    some = any(_seen(log, x) > k for x in xs)
    every = all(_seen(log, x) < k for x in xs if x != 2)
    return some, every, k in (_seen(log, x) for x in xs), 99 not in (x for x in xs), log


def _errors_behind_the_stop(xs, k):
    try:
        return any(10 // (x - k) < -5 for x in xs), any(10 // (x - k) > 100 for x in xs)
    except ZeroDivisionError:
        return True, True


def _whole(xs, k):
    a = sum(x * k for x in xs), min(x - k for x in xs), max(-x for x in xs), sum((x for x in xs), k)
    b = list(x * k for x in xs), sorted(-x for x in xs), set(x % 2 for x in xs), ",".join(str(x) for x in xs)
    grown = [k]
    grown.extend(x for x in xs if x > k)
    return a, b, grown


def _walked_twice(xs, k):
    g = (x + k for x in xs)
    s = 0
    for v in g:
        s += v
    return s, [y for y in g], sum(g), next(g, -5)


def _asked_and_walked(xs, k):
    g = (x * x for x in xs if x)
    first = next(g)
    found = any(v > k for v in g)
    return first, found, list(g), next((x for x in xs if x > k), -1), next((x for x in xs if x > k), None)


def _none_left(xs, k):
    return next(x for x in xs if x > 10 * k)


def _nested(xs, k):
    rows = [[x, x + k] for x in xs]
    deep = any(any(x > k for x in row) for row in rows), [sum(x * k for x in row) for row in rows]
    return deep, sum(x for row in rows for x in row if x > 1), [y for y in (z * 2 for z in (x + 1 for x in xs))]


def _in_loops(xs, k):
    s = 0
    for i, v in enumerate(x * x for x in xs):
        s += i * v
    for v in (y for y in xs if y > 1):
        s += v
        if v == k:
            break
    else:
        s += 1000
    for p, q in zip((x + 1 for x in xs), (y for y in xs)):
        s += p * q
    return s, [v for v in (x * y for x, y in zip(xs, xs))], sum(i * x for i, x in enumerate(xs, 1)), sum(i for i in range(10, 0, -3))


def _first_part_is_evaluated_first(xs, k):
    log = [0]
    g = (_seen(log, x) for x in range(_seen(log, 70), 72))
    log.append(k)
    pairs = {x: x * x for x in xs}
    h = (a + b for a, b in pairs.items())
    return list(g), log, sorted(h)


def _two_at_once(xs, k):
    g, h = (x for x in xs), (x * k for x in xs)
    double = lambda y: y * 2  # noqa: E731
    return next(g), next(h), next(g), any(double(x) > 5 for x in xs), [z for z in (double(x) for x in xs)]


@njit
def _taken(values, limit):
    s = 0
    for v in values:
        s += v
        if v > limit:
            break
    return s


def _given_to_functions(xs, k):
    s = _taken((x * k for x in xs), 3)
    g = (x for x in xs)
    s += 100 * _taken(g, 1)
    k = 9
    return s + k, list(g)


def _iterators_in_variables(xs, k):
    z, m, e, r, f = zip(xs, xs), map(lambda x: x + 1, xs), enumerate(xs, 2), reversed(xs), filter(lambda x: x > 1, xs)
    s = 0
    for _ in range(2):
        for x, y in z:
            s += x * y
    either = zip(xs, xs) if k > 1 else zip(xs, xs[1:])
    return s, next(m), list(m), list(m), list(e), list(e), list(r), list(r), next(f), list(f), list(f), list(either), list(either)


@njit
def _finishes(log):
    try:
        yield 1
        yield 2
        yield 3
    finally:
        log.append(100)


def _generators_end_with_their_loop(xs, k):
    """What walks over zip() leaves the generator in it behind: its `finally` runs there."""
    log = [0]
    a = [x * y for x, y in zip(xs[:1], _finishes(log))]
    log.append(1)
    b = any(x * y > 1 for x, y in zip(xs, _finishes(log))), sum([x + y for x, y in zip(xs[:k], _finishes(log))])
    log.append(2)
    for x, y in zip(xs[:2], _finishes(log)):
        log.append(x + y)
    log.append(3)
    c = any(_finishes(log)), list(zip(xs[:2], _finishes(log)))
    log.append(4)
    return a, b, c, log


@pytest.mark.parametrize(
    "function",
    [
        _generators_end_with_their_loop, _any_and_all_stop, _errors_behind_the_stop, _whole, _walked_twice, _asked_and_walked, _none_left,
        _nested, _in_loops, _first_part_is_evaluated_first, _two_at_once, _given_to_functions, _iterators_in_variables,
    ],
)  # fmt: skip
def test_generator_expressions_are_pythons(function):
    namespace = globals() | {"_seen": _seen.py_func, "_taken": _taken.py_func, "_finishes": _finishes.py_func}
    plain = type(function)(function.__code__, namespace)

    def outcome(f, *given):
        try:
            return f(*given)
        except Exception as error:
            return type(error), str(error)

    for k in (2, 1, 9):
        assert outcome(njit(function), [1, 2, 3, 4], k) == outcome(plain, [1, 2, 3, 4], k), k


def test_a_generator_expression_comes_back_as_an_iterator():
    @njit
    def f(a, k):
        return (x * k for x in a if x)

    g = f(np.arange(4), 3)
    assert [next(g), list(g), list(g)] == [3, [6, 9], []]


def test_what_generator_expressions_cannot_do_is_said():
    def bound_again(xs):
        k = 1
        g = (x * k for x in xs)
        k = 3
        return sum(g)

    def bound_in_the_loop(xs):
        k, s = 1, 0
        for v in (x * k for x in xs):
            k += 1
            s += v
        return s

    def hidden_in_zip(xs):
        k, s = 1, 0
        for v, w in zip((x * k for x in xs), xs):
            k += w
            s += v
        return s

    def through_a_function(xs):
        def same(values):
            return values

        k = 1
        g = same(x * k for x in xs)
        k = 2
        return sum(g)

    def binds(xs):
        return any((w := x) > 3 for x in xs)  # noqa: F841

    def view(xs):
        d = {1: 2}
        v = d.items()
        return list(v)

    again = "the generator reads 'k', which is bound again"
    for f, message in (
        (bound_again, again),
        (bound_in_the_loop, again),
        (hidden_in_zip, again),
        (through_a_function, again),
        (binds, "bind the name before, or write the loop"),
        (view, "keep list"),
    ):
        with pytest.raises(bc.core.errors.TypingError, match=message):
            njit(f)([1, 2, 3, 4])


def test_a_loop_over_a_reversed_list_sees_what_it_changes():
    def assigned(n):
        a, seen = [i for i in range(n)], []
        for v in reversed(a):
            a[0] = 99
            seen.append(v)
        return seen, a

    def shortened(n):
        a, seen = [i for i in range(n)], []
        for v in reversed(a):
            seen.append(v)
            if v % 3 == 0 and len(a) > 1:
                a.pop(0)
                a.pop()
        return seen, a

    def grown(n):
        a, seen = [float(i) for i in range(n)], []
        for k, v in enumerate(reversed(a)):
            a.append(v + k)
            a[1] = -1.0
            seen.append((k, v))
            if k == 5:
                break
        else:
            seen.append((-1, -1.0))
        return seen, a

    def beside(n):
        a, b, seen = [i for i in range(n)], [[i] for i in range(n)], []
        for x, y in zip(reversed(a), reversed(b)):
            a[0], b[0] = 7, [x]
            y.append(x)
            seen.append(y[0] + y[-1] + x)
        return seen, a, b

    def rebound(n):
        a, seen = [i for i in range(n)], []
        for v in reversed(a):
            a = [v]
            seen.append(v)
        return seen, a, [x for x in reversed(seen)], list(reversed(seen)), sum(reversed(seen))

    for plain in (assigned, shortened, grown, beside, rebound):
        for n in (1, 2, 6, 9):
            if plain is grown and n == 1:
                continue
            assert njit(plain)(n) == plain(n)


def test_a_reversed_list_in_a_variable_ends_where_it_did_when_it_was_made():
    def kept(n):
        a = [i for i in range(n)]
        r, z = reversed(a), zip(reversed(a), enumerate(reversed(a)))
        a.append(100)
        first = [x for x in r]
        b = [i for i in range(n)]
        s = reversed(b)
        b.pop(0)
        t = list(s)
        u, v, w = reversed((1, 2)), reversed(range(n)), reversed("abc")
        return first, list(z), t, list(u), list(v), list(w), a

    for n in (1, 2, 5):
        assert njit(kept)(n) == kept(n)


def test_indices_of_all_axes_count_on_where_a_turn_goes_on_early():
    def walked(a):
        seen, picked = [], []
        for i, j, k in np.ndindex(a.shape):
            if (i + j + k) % 2:
                continue
            seen.append((i, j, k))
        for (i, j, k), v in np.ndenumerate(a):
            if v > 20:
                break
            picked.append((k, j, i, v))
        both = [(p, q, i) for (p, q), i in zip(np.ndindex(2, 3), range(5))]
        return seen, picked, both, [t for t in np.ndindex(3)], [t for t in np.ndindex(2, 0, 3)]

    for shape in ((2, 3, 4), (1, 1, 1), (3, 0, 2), (4, 1, 5)):
        a = np.arange(np.prod(shape)).reshape(shape)
        assert njit(walked)(a) == walked(a)


def test_loops_over_short_tuples_end_and_go_on_as_in_python():
    def walked(g):
        n, m = g.shape
        seen, out = [], np.zeros_like(g)
        for i in range(n):
            for j in range(m):
                s = 0
                for di in (-1, 0, 1):
                    for dj in (-1, 0, 1):
                        if di == 0 and dj == 0:
                            continue
                        if s > 3:
                            break
                        s += g[(i + di) % n, (j + dj) % m]
                for at, step in enumerate((5, 7, 11)):
                    if s == at:
                        break
                else:
                    step = 13
                out[i, j] = s + step
        for x in (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12):
            if x % 5 == 0:
                continue
            seen.append(x)
            if x > 8:
                break
        return seen, out.sum(), x

    g = (np.random.default_rng(2).random((9, 7)) > 0.5).astype(np.int64)
    assert njit(walked)(g) == walked(g)
