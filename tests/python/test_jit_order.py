"""Compiled functions evaluate as Python does: from left to right, each part once, and nothing of what it does is lost."""

import numpy as np
import pytest

import broadcloth as bc


@bc.njit
def note(log, k):
    log[0] = log[0] * 10 + k
    return k


@bc.njit
def fails(log, k):
    log[0] = log[0] * 10 + k
    if k > 0:
        raise ValueError("told to")
    return k


@bc.njit
def operands(log):
    return note(log, 1) - note(log, 2) * note(log, 3)


@bc.njit
def read_before_call(log):
    return log[0] * 100 + note(log, 7)


@bc.njit
def negated_read_before_call(log):
    return -log[0] + note(log, 7)


@bc.njit
def read_in_tuple(log):
    return (log[0], 1), note(log, 4), log[0]


@bc.njit
def tuple_for_nothing(log):
    (note(log, 1), -note(log, 2), note(log, 3) < 2)
    return log[0]


@bc.njit
def attributes_for_nothing(log):
    note(log, 1) if log[0] == 0 else note(log, 2)
    not note(log, 5)
    note(log, 6) == 6 and note(log, 7)
    return log[0]


@bc.njit
def element_plus(log):
    log[0] += note(log, 5)
    return log[0]


@bc.njit
def element_times_list(log):
    values = [3, 4]
    values[1] *= note(log, 5) + len(values)
    return values[1], log[0]


@bc.njit
def value_before_index(log):
    log[note(log, 1)] = note(log, 2)
    return log[0], log[1]


@bc.njit
def value_read_before_index(log):
    log[note(log, 1)] = log[0]
    return log[0], log[1]


@bc.njit
def chained(log):
    return note(log, 1) < note(log, 3) < note(log, 2) < note(log, 9), log[0]


@bc.njit
def chosen(log):
    return (note(log, 1) if log[0] > 0 else note(log, 2)) + log[0]


@bc.njit
def object_before_arguments(log):
    rows = [[1], [2]]
    rows[note(log, 1)].append(note(log, 2))
    return rows[1][1], log[0]


@bc.njit
def choice_after_read(log):
    return log[0] + (10 if note(log, 3) == 3 else 20)


@bc.njit
def joined_choice(log):
    a, b, c = log[0] == 0, log[0] == 1, log[0] == 2
    return (a if b else c) and a, (b if a else c) or a, not (a if a else b), (a or b) and c, a or (b and c)


FUNCTIONS = [
    operands,
    read_before_call,
    negated_read_before_call,
    read_in_tuple,
    tuple_for_nothing,
    attributes_for_nothing,
    element_plus,
    element_times_list,
    value_before_index,
    value_read_before_index,
    chained,
    chosen,
    object_before_arguments,
    choice_after_read,
    joined_choice,
]


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("start", [0, 1, 2])
def test_order_is_pythons(function, start):
    python, compiled = np.array([start, 0]), np.array([start, 0])
    expected = function.py_func(python)
    assert function(compiled) == expected
    np.testing.assert_array_equal(compiled, python)


@bc.njit
def raises_second(log, k):
    return fails(log, k), note(log, 9)


@bc.njit
def raises_in_index(log, k):
    log[fails(log, k)] = note(log, 2)
    return log[0]


@pytest.mark.parametrize("function", [raises_second, raises_in_index], ids=lambda f: f.__name__)
def test_what_stands_behind_an_exception_is_not_done(function):
    python, compiled = np.array([0, 0]), np.array([0, 0])
    for log, f in ((python, function.py_func), (compiled, function)):
        with pytest.raises(ValueError, match="told to"):
            f(log, 1)
    np.testing.assert_array_equal(compiled, python)


class Growing:
    def __init__(self):
        self.data = np.zeros(2, np.int64)
        self.other = np.zeros(2, np.int64)

    def grow(self):
        self.data, self.other = np.full(3, 7), self.data
        return 5

    def value_first(self):
        self.data[0] = self.grow()
        return self.data[0], self.other[0]

    def element_first(self):
        self.data[1] += self.grow()
        return self.data[1], self.other[1]

    def array_before_index(self):
        self.data[self.grow() - 4] = 9
        return self.data[1], self.other[1]

    def read_between(self):
        return self.data[0] + self.grow() + self.data[0], self.data[self.grow() - 5]

    def array_first(self):
        self.data += self.grow()
        return self.data.sum(), self.other.sum(), len(self.data)

    def both_first(self):
        self.data[0], self.data[1] = self.grow(), self.data[1]
        return self.data[0], self.data[1]


@pytest.mark.parametrize("name", ["value_first", "element_first", "array_first", "array_before_index", "read_between", "both_first"])
def test_fields_that_a_call_gives_other_arrays(name):
    array = bc.types.int64[:]
    compiled = bc.experimental.jitclass([("data", array), ("other", array)])(Growing)
    assert getattr(compiled(), name)() == getattr(Growing(), name)()


@bc.experimental.jitclass([("value", bc.types.int64)])
class Leaf:
    def __init__(self, value):
        self.value = value


@bc.experimental.jitclass([("leaf", Leaf)])
class Branch:
    def __init__(self):
        self.leaf = Leaf(1)

    def replace(self):
        self.leaf = Leaf(100)
        return 50

    def next(self):
        self.leaf.value += 10
        return self.leaf


def test_object_of_a_field_is_read_before_the_value():
    @bc.njit
    def f():
        branch = Branch()
        first = branch.leaf
        branch.leaf.value += branch.replace()  # into the leaf that was there
        second = branch.leaf
        branch.leaf.value = branch.replace()  # into the new one
        third = branch.leaf
        branch.next().value += 1  # is called once
        return first.value, second.value, third.value

    assert f() == (51, 100, 61)
