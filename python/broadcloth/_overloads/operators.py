"""Functions of Python's operator and functools modules, for what the compiler has no operator for, and methods of slices and ranges."""

from __future__ import annotations

from .._source import from_source
from ._table import stands_for


@stands_for("operator.contains")
def contains(a, b):
    return b in a


@stands_for("operator.setitem")
def setitem(a, b, c):
    a[b] = c


@stands_for("operator.delitem")
def delitem(a, b):
    del a[b]


@stands_for("operator.truth")
def truth(a):
    return bool(a)


@stands_for("operator.abs")
def absolute(a):
    return abs(a)


@stands_for("operator.is_")
def is_(a, b):
    return a is b


@stands_for("operator.is_not")
def is_not(a, b):
    return a is not b


@stands_for("operator.concat")
def concat(a, b):
    return a + b


@stands_for("slice.indices")
def slice_indices(s, length):
    if length < 0:
        raise ValueError("length should not be negative")
    step = 1 if s.step is None else s.step
    if step == 0:
        raise ValueError("slice step cannot be zero")
    low, high = (0, length) if step > 0 else (-1, length - 1)
    first, last = (low, high) if step > 0 else (high, low)
    start = first if s.start is None else _within(s.start, length, low, high)
    stop = last if s.stop is None else _within(s.stop, length, low, high)
    return start, stop, step


def _within(i, length, low, high):
    return max(i + length, low) if i < 0 else min(i, high)


@stands_for("range.index")
def range_index(r, x):
    if x not in r:
        raise ValueError("sequence.index(x): x not in sequence")
    return (x - r.start) // r.step


@stands_for("range.count")
def range_count(r, x):
    return 1 if x in r else 0


# Statements like +=, which change lists, sets and arrays where they are.
for _name, _operator in {
    "add": "+", "sub": "-", "mul": "*", "matmul": "@", "truediv": "/", "floordiv": "//", "mod": "%", "pow": "**",
    "and": "&", "or": "|", "xor": "^", "lshift": "<<", "rshift": ">>",
}.items():  # fmt: skip
    stands_for(f"operator.i{_name}")(from_source(f"def i{_name}(a, b):\n    a {_operator}= b\n    return a\n", f"i{_name}", {}))


@stands_for("functools.reduce")
def reduce(function, iterable, *initial):
    if len(initial) > 0:
        result = initial[0]
        for x in iterable:
            result = function(result, x)
        return result
    empty = True
    for x in iterable:
        first = x if empty else function(first, x)  # type: ignore[has-type]  # noqa: F821
        empty = False
    if empty:
        raise TypeError("reduce() of empty iterable with no initial value")
    return first
