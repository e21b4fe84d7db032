"""`match` statements, bytes, and loops' `else` in compiled functions and kernels, against the interpreter."""

from __future__ import annotations

import enum

import numpy as np
import pytest

import broadcloth as bc
from broadcloth import cuda, njit, prange


class Kind(enum.IntEnum):
    SMALL = 1
    LARGE = 2


def number(x):
    match x:
        case 1:
            return 10
        case 2 | 3:
            return 20
        case -1:
            return -10
        case n if n > 100:
            return n
        case _:
            return 0


def word(s, k):
    match s:
        case "sum":
            r = 1
        case "product":
            r = 2
        case other if other == "x":
            r = len(other) + 100
        case _:
            r = 0
    match k:
        case Kind.SMALL:
            return r
        case Kind.LARGE as found:
            return r + 1000 * found
        case _:
            return -r


def pair(x, y):
    match x, y:
        case (0, 0):
            return 0
        case (0, b):
            return b
        case (a, 0 | 1):
            return a
        case (_, _, _):
            return -1
        case (a, b) if a < b:
            return a * b
        case c, d:
            return c - d


def searched(k):
    found = 0
    for i in range(5):
        match k, i:
            case "add", _:
                found += 10
            case "skip", (1 | 2 as z):
                found += z
                continue
            case "stop", 3:
                break
        found += 1
    else:
        found += 1000
    return found


def kept(x, y):
    """Names are given before the guard is asked; where the pattern fails they are not."""
    a, b = -1, -2
    match x, y:
        case (1, b) if b > 5:
            return b, b
        case (a, 2):
            return a, b
        case (2, b) if b > 7:
            a = 3
        case (a, _) if a > 100:
            b = 4
    return a, b


def maybe(x):
    match x:
        case None:
            return 0
        case True:
            return 1
        case False:
            return 2


@pytest.mark.parametrize(
    "function, calls",
    [
        (number, [(1,), (2,), (3,), (-1,), (200,), (50,)]),
        (word, [("sum", 1), ("product", 2), ("x", 3), ("y", 2)]),
        (pair, [(0, 0), (0, 5), (5, 1), (2, 3), (3, 2)]),
        (kept, [(1, 3), (1, 2), (2, 5), (2, 8), (101, 3)]),
        (searched, [("add",), ("skip",), ("stop",), ("other",)]),
        (maybe, [(None,), (True,), (False,)]),
    ],
)
def test_match_is_the_interpreters(function, calls):
    compiled = njit(function)
    assert [compiled(*c) for c in calls] == [function(*c) for c in calls]


def test_match_in_parallel_loops_and_kernels(device):
    @njit(parallel=True)
    def count(x):
        total = 0
        for i in prange(len(x)):
            match x[i]:
                case 1:
                    total += 1
                case 2:
                    total += 10
        return total

    assert count(np.array([1, 2, 2, 3])) == 21

    @cuda.jit
    def kernel(out, x):
        i = cuda.grid(1)
        if i < x.size:
            out[i] = b"hello"[i]
            match x[i]:
                case 1:
                    out[i] += 100
                case n if n > 10:
                    out[i] = n

    out = bc.zeros(5, dtype=np.int64)
    kernel[1, 8](out, bc.array([1, 2, 3, 20, 5]))
    assert out.tolist() == [204, 101, 108, 20, 111]


def test_patterns_that_are_not_read_say_what_to_write():
    @njit
    def items(x):
        match x:
            case [a, b]:
                return a + b

    @njit
    def classes(x):
        match x:
            case int():
                return 1

    for function, argument, words in ((items, (1, 2), "match \\(a, b\\)"), (classes, 1, "isinstance")):
        with pytest.raises(bc.TypingError, match=words) as e:
            function(argument)
        assert len(str(e.value).splitlines()) <= 15


WORD = b"xyz"


def test_bytes_hold_numbers():
    @njit
    def f(i):
        text = b"abc"
        total = 0
        for c in text[1:]:
            total += c
        return text[i], len(text), total, WORD[i], text

    assert f(1) == f.py_func(1)


def test_a_break_inside_try_skips_the_loops_else():
    def f(n):
        for i in range(n):
            try:
                if i == 3:
                    break
            except ValueError:
                pass
        else:
            return -1
        return i

    compiled = njit(f)
    assert [compiled(2), compiled(9)] == [f(2), f(9)]


def test_lists_of_none_are_refused_in_a_few_lines():
    @njit
    def f():
        return [None] * 3

    with pytest.raises(bc.TypingError, match="list of None") as e:
        f()
    assert len(str(e.value).splitlines()) <= 15

    @njit
    def g():
        n = 0
        for _ in (None, None):
            n += 1
        return n

    assert g() == 2
