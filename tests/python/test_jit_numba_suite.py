"""What Numba's own tests (tests/numba_suite.py) found wrong in compiled functions."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import broadcloth as bc
from broadcloth import jit, literal_unroll, njit, typed, types
from broadcloth.experimental import jitclass

# ---- lists as arguments


def test_a_list_that_is_passed_twice_is_one_list():
    @njit
    def append(a, b):
        a.append(1)
        b.append(2)
        return a, len(b)

    numbers = [0]
    first, length = append(numbers, numbers)
    assert numbers == [0, 1, 2] and first is numbers and length == 3


def test_lists_in_lists_are_changed_in_place():
    @njit
    def change(rows):
        rows[0].append(5)
        rows[1][0] = 7
        return rows

    rows = [[1], [2], [3]]
    first = rows[0]
    assert change(rows) is rows
    assert rows == [[1, 5], [7], [3]] and rows[0] is first

    @njit
    def double(rows):
        for row in rows:
            row.append(row[0])

    many = [[i] for i in range(100)]
    double(many)
    assert many == [[i, i] for i in range(100)]


def test_lists_in_lists_that_are_one_stay_one():
    @njit
    def change(rows):
        rows[0] = rows[1]
        rows[0].append(3)

    rows = [[1], [2]]
    change(rows)
    assert rows == [[2, 3], [2, 3]] and rows[0] is rows[1]


def test_arrays_stored_into_lists_in_lists_come_back():
    @njit
    def store(rows):
        rows[0][0] = np.arange(4)

    rows = [[np.zeros(2, np.int64)]]
    store(rows)
    assert_array_equal(rows[0][0], [0, 1, 2, 3])


def test_a_set_that_is_passed_twice_and_changed_is_refused():
    @njit
    def add(a, b):
        a.add(1)
        b.add(2)

    with pytest.raises(TypeError, match="the same set was passed twice"):
        add(*[{0}] * 2)
    assert njit(lambda a, b: a & b)(*[{0}] * 2) == {0}


def test_lists_of_unlike_numbers_compare_and_join():
    @njit
    def both(a, b):
        return a + b, a == b, a != b, a < b, a >= b

    assert both([1, 2], [1.0, 2.5]) == ([1, 2, 1, 2.5], False, True, True, False)
    assert both([1, 2], [1.0, 2.0]) == ([1, 2, 1, 2], True, False, False, True)


# ---- stores into arrays


def store(a, b):
    a[:] = b
    return a


@pytest.mark.parametrize("value", [[1, 2, 3], (1, 2, 3), (4,), np.arange(3).reshape(1, 3), np.arange(3).reshape(1, 1, 3)])
def test_lists_tuples_and_arrays_with_leading_axes_are_stored(value):
    assert_array_equal(njit(store)(np.zeros(3), value), store(np.zeros(3), value))


def test_a_tuple_is_stored_into_rows():
    assert_array_equal(njit(store)(np.zeros((2, 3)), (1, 2, 3)), [[1, 2, 3]] * 2)


@pytest.mark.parametrize("value", [(1, 2), (1, 2, 3, 4), [1, 2], np.zeros((2, 3))])
def test_what_does_not_fit_is_an_error(value):
    with pytest.raises(ValueError, match="could not"):
        njit(store)(np.zeros(3), value)


def test_a_slice_with_a_step_of_zero_is_an_error():
    @njit
    def every(a, step):
        a[1:4:step] = 7
        return a[1::step].sum()

    assert every(np.zeros(6), 2) == 14
    with pytest.raises(ValueError, match="slice step cannot be zero"):
        every(np.zeros(6), 0)


def test_a_range_with_a_step_of_zero_is_an_error():
    @njit
    def count(n, step):
        k = 0
        for _ in range(0, n, step):
            k += 1
        return k

    assert (count(6, 2), count(6, -1)) == (3, 0)
    with pytest.raises(ValueError, match="must not be zero"):
        count(6, 0)


def test_an_index_of_a_display_out_of_range_raises_when_it_runs():
    @njit
    def item():
        try:
            return [1][3]
        except IndexError:
            return -1

    assert item() == -1


def test_flat_is_kept_in_a_variable():
    @njit
    def double(x):
        made = np.empty_like(x)
        source, target = x.flat, made.flat
        for i in range(x.size):
            target[i] = source[i] * 2
        total = 0
        for v in source:
            total += v
        return made, total

    x = np.arange(6).reshape(2, 3)
    made, total = double(x)
    assert_array_equal(made, x * 2)
    assert total == 15
    with pytest.raises(bc.TypingError, match="C order"):
        double(x.T)


# ---- functions of NumPy


def test_complex_numbers_are_sorted_with_nan_last():
    parts = [0, 1, np.nan, -1, np.inf]
    x = np.array([complex(p, q) for p in parts for q in parts])
    np.random.default_rng(0).shuffle(x)
    values, order = njit(lambda x: (np.sort(x), np.argsort(x)))(x)
    assert list(map(repr, values)) == list(map(repr, np.sort(x)))
    assert_array_equal(x[order], np.sort(x))


@pytest.mark.parametrize("shape", [(3, 3), (5, 2), (2, 5), (9, 3), (3, 3, 3), (2, 2, 2, 2), (0, 0)])
@pytest.mark.parametrize("wrap", [False, True])
def test_fill_diagonal(shape, wrap):
    fill = njit(lambda a, v, w: np.fill_diagonal(a, v, w))
    for value in (5, 2.5, [1, 2], (1, 2, 3), np.arange(4.0), np.arange(4).reshape(2, 2)):
        expected, got = np.zeros(shape), np.zeros(shape)
        np.fill_diagonal(expected, value, wrap)
        fill(got, value, wrap)
        assert_array_equal(got, expected)


def test_inverse_of_an_empty_matrix():
    assert njit(lambda a: np.linalg.inv(a))(np.zeros((0, 0))).shape == (0, 0)


def test_axes_that_are_known_at_run_time():
    x = np.arange(6).reshape(2, 3).T
    expand, stack = njit(lambda a, k: np.expand_dims(a, k)), njit(lambda a, b, k: np.stack((a, b), k))
    for axis in range(-3, 3):
        assert_array_equal(expand(x, axis), np.expand_dims(x, axis))
        assert_array_equal(stack(x, x, axis), np.stack((x, x), axis))
    with pytest.raises(ValueError, match="out of bounds"):
        expand(x, 5)


@pytest.mark.parametrize(
    "x",
    [
        np.zeros((2, 0)), np.zeros((0, 2)), np.ones((3, 4)), np.arange(12.0).reshape(3, 4) ** 1.5, np.arange(6.0) * 1j,
        np.arange(6).reshape(2, 3) ** 2 + 1j * np.arange(6).reshape(2, 3), [4, 5, 6], [(1, 2, 3), (1, 3, 2)],
    ],
)  # fmt: skip
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_covariances(x):
    for function in (lambda x: np.cov(x), lambda x: np.corrcoef(x)):
        got, expected = njit(function)(x), function(x)
        assert np.allclose(got, expected, equal_nan=True) and np.asarray(got).dtype == np.asarray(expected).dtype


def test_digitize_takes_bins_with_nan_at_the_end():
    digitize = njit(lambda x, bins: np.digitize(x, bins))
    x = np.array([0, 1, 3, 9, np.nan, np.inf])
    rising = np.array([1, 3, 4.5, np.inf, np.nan, np.nan])
    for bins in (rising, rising[::-1].copy()):
        assert_array_equal(digitize(x, bins), np.digitize(x, bins))
    with pytest.raises(ValueError, match="monotonically"):
        digitize(x, np.array([np.nan, 1.5, 2.3, np.nan]))


def test_results_of_broadcast_to_are_not_to_be_stored_into():
    made = njit(lambda x: np.broadcast_to(x, (2, 3)))(np.arange(3))
    assert_array_equal(made, [[0, 1, 2]] * 2)
    assert not made.flags.writeable
    with pytest.raises(ValueError, match="negative"):
        njit(lambda x, n: np.broadcast_to(x, (n, 3)))(np.arange(3), -1)


# ---- the language


def test_literal_unroll_goes_through_a_list_of_one_type():
    @njit
    def total():
        values = [12, 12.7, 3j, 4]
        s = 0
        for v in literal_unroll(values):
            s += v
        return s

    assert total() == 28.7 + 3j


def test_raise_without_an_exception():
    @njit
    def again():
        raise

    with pytest.raises(RuntimeError, match="No active exception to reraise"):
        again()


def test_complex_numbers_are_printed_as_pythons(capfd):
    njit(lambda x, y: print(x, y))(1 + 1j, 2j)
    assert capfd.readouterr().out == "(1+1j) 2j\n"


def test_isinstance_of_typed_containers_and_bytes():
    kinds = njit(lambda x: (isinstance(x, typed.List), isinstance(x, list), isinstance(x, bytes)))
    assert kinds(typed.List([1])) == (True, False, False)
    assert kinds([1]) == (False, True, False)
    assert kinds(np.zeros(3)) == (False, False, False)


def test_an_attribute_that_a_function_does_not_have_is_refused():
    add = bc.vectorize(lambda a, b: a + b)
    for function in (lambda x: add.at(x, x, 1), lambda x: kept.nothing):
        with pytest.raises(bc.TypingError, match="has no attribute"):
            njit(function)(np.zeros(2))


@njit
def kept(x):
    return x


def test_subsets_of_fastmath():
    keeps = njit(fastmath={"reassoc", "nsz"})(lambda x, y: (x - y) + y)
    assert np.isnan(keeps(np.nan, 1.0))
    assert np.isnan(njit(fastmath={"contract"})(lambda x, y: (x - y) + y)(0.5, np.inf))
    with pytest.raises(ValueError, match="spqr"):
        njit(fastmath={"spqr"})(lambda x: x)


# ---- what functions and types tell


def test_signatures_are_types():
    @njit
    def f(x, y):
        return x[0] + y

    f(np.zeros(2, np.float32), 1)
    ((array, number),) = f.signatures
    assert isinstance(array, types.Array) and array.dtype == types.float32 and number == types.int64
    (signature,) = f.nopython_signatures
    assert signature.return_type == types.float64 and signature.args == (array, number)
    assert f.overloads[array, number].entry_point is f
    assert "define" in f.inspect_llvm((array, number))


def test_recompile_keeps_the_signatures():
    step = 1

    @jit("int32(int32)")
    def f(x):
        return x + step

    @njit
    def g(x):
        return x + step

    assert f(1.5) == 2 and g(1) == 2 and g(1.5) == 2.5
    step = 5
    f.recompile()
    g.recompile()
    assert f(1) == 6 and len(g.signatures) == 2 and g(1.5) == 6.5


def test_types_tell_what_they_are_of():
    array = types.float32[:, ::1]
    assert (array.dtype, array.ndim, array.layout, array.copy(layout="A")) == (types.float32, 2, "C", types.float32[:, :])
    assert isinstance(array.dtype, types.Float)
    pair = types.Tuple((types.int64, array))
    assert pair.types == (types.int64, array) and len(pair) == 2 and pair[1] == array
    words = types.DictType(types.unicode_type, types.int64[:])
    assert isinstance(words, types.DictType) and (words.key_type, words.value_type) == (types.unicode_type, types.int64[:])
    assert types.ListType(types.int8).item_type == types.int8 and types.Optional(types.int8).type == types.int8
    point = types.Record.make_c_struct([("x", types.int8), ("y", types.NestedArray(types.float64, (2,)))])
    assert point.dtype == np.dtype([("x", "i1"), ("y", "f8", 2)], align=True)
    assert types.typeof(np.zeros(2, point.dtype)).dtype == point


def test_carray_takes_types_and_numpys():
    x = np.arange(4, dtype=np.float32)
    pointer = x.ctypes.data_as(ctypes.POINTER(ctypes.c_float))
    assert_array_equal(bc.carray(pointer, (4,), np.float32), x)
    assert_array_equal(bc.carray(x.ctypes.data, (4,), types.float32), x)
    with pytest.raises(TypeError, match="not to int32"):
        bc.carray(pointer, (4,), np.int32)


def test_whole_numbers_that_a_declared_type_does_not_hold():
    unsigned, small = jit("uint64(uint64)")(lambda x: x), jit("int8(int8)")(lambda x: x)
    assert unsigned(2**63) == 2**63 and small(-128) == -128
    for function, value in ((unsigned, -1), (small, 128), (small, np.int64(-129))):
        with pytest.raises(OverflowError, match="argument 'x'"):
            function(value)


def test_signatures_without_parentheses():
    assert jit("int32, float64")(lambda x, y: x + y).signatures == [("int32", "float64")]


# ---- jitclass


class Base:
    def double(self):
        return self.a * 2

    def __hash__(self):
        return self.a % 10


def test_jitclass_has_the_members_of_its_bases_and_keyword_only_arguments():
    @jitclass([("a", types.int64), ("b", types.float64)])
    class Pair(Base):
        def __init__(self, a, *, b=2.5):
            self.a = a
            self.b = b

    pair = Pair(13, b=4.0)
    assert (pair.b, Pair(1).b, pair.double(), hash(pair)) == (4.0, 2.5, 26, 3)
    assert njit(lambda: Pair(3, b=7.5).b)() == 7.5
    with pytest.raises(TypeError, match="no subclasses"):
        type("Other", (Pair,), {})


def test_jitclass_with_private_names_and_annotated_containers():
    @jitclass
    class Bag:
        items: list[int]
        names: dict[str, float]
        last: float | None
        pair: tuple[int, float]
        __hidden: int

        def __init__(self):
            self.items = typed.List.empty_list(types.int64)
            self.names = typed.Dict.empty(types.unicode_type, types.float64)
            self.last = None
            self.pair = (1, 2.0)
            self.__hidden = 3

        def __secret(self):
            return self.__hidden

        def put(self, x):
            self.items.append(x)
            self.names["x"] = x
            self.last = x
            return self.__secret()

    bag = Bag()
    assert bag.put(5) == 3 and list(bag.items) == [5] and dict(bag.names) == {"x": 5.0} and bag.last == 5.0 and bag.pair == (1, 2.0)


@jitclass([("x", types.int64)])
class Told:
    def __init__(self, x):
        self.x = x

    def __str__(self):
        return "told"


@jitclass([("x", types.int64)])
class Untold:
    def __init__(self, x):
        self.x = x


def test_texts_and_identities_of_objects():
    assert njit(lambda o: (str(o), f"<{o}>"))(Told(1)) == ("told", "<told>")
    one, two = Untold(1), Untold(1)
    same = njit(lambda a, b: (a is b, a is not b, a == b, a != b, a is None))
    assert same(one, one) == (True, False, True, False, False)
    assert same(one, two) == (False, True, False, True, False)
    with pytest.raises(bc.TypingError, match="__str__"):
        njit(lambda o: str(o))(one)
    with pytest.raises(bc.TypingError, match="hash"):
        njit(lambda o: hash(o))(one)


def test_jitclass_refuses_what_it_cannot_have():
    plain = {"value": property(lambda self: 1), "__init__": lambda self: None}
    with pytest.raises(NameError, match="'value'"):
        jitclass([("value", types.int64)])(type("Shadowed", (), plain))
    with pytest.raises(TypeError, match="deleter"):
        jitclass(type("Deleting", (), {"value": property(lambda self: 1, None, lambda self: None)}))
    with pytest.raises(TypeError, match="a field is a name"):
        jitclass([(1, types.int64)])(type("Numbered", (), {}))
