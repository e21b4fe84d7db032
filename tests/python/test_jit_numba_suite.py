"""What Numba's own tests (tests/numba_suite.py) found wrong in compiled functions."""

from __future__ import annotations

import array as array_module
import ctypes
import threading

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
    for function in (lambda x: add.inner(x, x), lambda x: kept.nothing):
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


# ---- records

PAIR = np.dtype([("x", np.float64), ("n", np.int32), ("grid", np.float32, (3, 2))])


@njit
def fill(record):
    record["x"] = 2.5
    record.n += 3
    record.grid[1, :] = 7
    return record


def test_a_record_that_is_passed_is_changed_where_it_lies():
    for make in (np.zeros, np.recarray):
        array = make(3, PAIR)
        array["n"] = 1
        array["grid"] = 0
        returned = fill(array[1])
        assert array["x"][1] == 2.5 and array["n"].tolist() == [1, 4, 1] and array["grid"][1].tolist() == [[0, 0], [7, 7], [0, 0]]
        assert type(returned) is type(array[1]) and returned == array[1]
        returned["n"] = 9
        assert array["n"][1] == 9
    declared = njit((types.from_dtype(PAIR),))(fill.py_func)
    declared(array[2])
    assert array["x"][2] == 2.5


def test_records_in_tuples_and_records_of_read_only_arrays():
    array = np.zeros(2, PAIR)

    @njit
    def both(pair):
        pair[0].n = 5
        pair[1].n = pair[0].n + 1

    both((array[0], array[1]))
    assert array["n"].tolist() == [5, 6]
    array.flags.writeable = False
    with pytest.raises(bc.TypingError, match="read-only"):
        fill(array[0])
    assert njit(lambda r: r["grid"][2, 1])(array[0]) == 0
    whole = np.broadcast_to(np.ones(2, PAIR), (3, 2))
    assert_array_equal(njit(lambda a: a["grid"][1, 0])(whole), whole["grid"][1, 0])


def test_functions_of_a_record_take_records_with_more_fields():
    few, more = np.array([(1.0,)], [("a", "f8")]), np.array([(2.0, 3)], [("a", "f8"), ("b", "i4")])
    other = np.array([(3, 2.0)], [("b", "i4"), ("a", "f8")])
    get = njit((types.from_dtype(few.dtype),))(lambda r: r["a"])
    assert get(few[0]) == 1.0 and get(more[0]) == 2.0
    with pytest.raises(TypeError, match="no signature"):
        get(other[0])  # the field lies at another place


def test_titles_of_fields_are_names():
    titled = np.dtype([(("first", "a"), "i4"), (("second", "b"), "i4")])
    array = np.zeros(2, titled)

    @njit
    def store(array):
        array[0]["first"] = 4
        array[1]["b"] += 2
        return array["second"].sum()

    assert store(array) == 2 and array["a"].tolist() == [4, 0]
    made = types.from_dtype(titled)
    assert made.is_title("first") and not made.is_title("a") and made.offset("b") == 4 and len(made) == 2 and made.size == 8


# ---- what is changed where it is


@jitclass([("x", types.float64[:])])
class Holder:
    def __init__(self, x):
        self.x = x

    def grow(self):
        self.x += 1


def test_augmented_assignment_changes_arrays_where_they_are():
    array = np.zeros(2)
    Holder(array).grow()
    assert array.tolist() == [1, 1]

    @njit
    def in_containers(rows, named):
        first, one = rows[0], named["a"]
        rows[0] += 1
        named["a"] *= 3
        return first, one

    rows, named = [np.zeros(2), np.ones(2)], typed.Dict()
    named["a"] = np.ones(2)
    first, one = in_containers(rows, named)
    assert first.tolist() == [1, 1] and rows[0].tolist() == [1, 1] and one.tolist() == [3, 3] and named["a"].tolist() == [3, 3]


def test_items_come_out_of_a_dict_from_the_end():
    d = typed.Dict({"a": 1, "b": 2})
    assert d.popitem() == ("b", 2) and d.popitem() == ("a", 1)
    with pytest.raises(KeyError, match="empty"):
        d.popitem()


# ---- recursion


@njit
def deep(n, taken):
    taken.append(n)
    return 1 + deep(n + 1, taken) + len(taken) if n >= 0 else 0


def test_recursion_without_an_end_is_an_error():
    for _ in range(2):
        with pytest.raises(RecursionError, match="maximum recursion depth"):
            deep(0, typed.List([1]))
    failures = []

    def run():
        with pytest.raises(RecursionError):
            deep(0, typed.List([1]))
        failures.append(0)

    threads = [threading.Thread(target=run) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == [0, 0]


@njit
def endless(x):
    return endless(x)


@njit
def even(n):
    if n > 0:
        return not odd(n - 1)
    return True


@njit
def odd(n):
    if n > 0:
        return not even(n - 1)
    return True


def test_recursion_through_two_functions_has_a_type():
    assert even(4) is even.py_func(4) and odd(4) is odd.py_func(4)
    with pytest.raises(bc.TypingError, match="never ends"):
        endless(1)


# ---- buffers, flags and numbers


def test_an_array_of_the_array_module_is_shared():
    @njit
    def halve(buffer):
        for i in range(len(buffer)):
            buffer[i] /= 2
        return buffer[0] + buffer[-1]

    numbers = array_module.array("d", [2.0, 4.0, 8.0])
    assert halve(numbers) == 5.0 and numbers.tolist() == [1.0, 2.0, 4.0]
    tell = njit(lambda m: (m.readonly, m.contiguous))
    assert tell(memoryview(b"ab")) == (True, True) and tell(memoryview(np.zeros((4, 4)))[::2]) == (False, False)


@pytest.mark.parametrize("columns", [False, True])
def test_flags_tell_how_the_array_lies(columns):
    flags = njit(lambda a: (a.flags.c_contiguous, a.flags.f_contiguous, a.flags.contiguous))
    cube = np.zeros((3, 4, 5), order="F" if columns else "C")
    for a in (cube, cube[:1], cube[:, :1], cube[:, :, :1], cube[::2], cube[:0], cube[0, 0], cube[1:2, 1:2, 1:2], cube.T):
        part = a[:]
        assert flags(part) == (part.flags.c_contiguous, part.flags.f_contiguous, part.flags.contiguous), part.strides
        inside = njit(lambda a: (a[..., 1:].flags.c_contiguous, a[..., 1:].flags.f_contiguous))
        assert inside(part) == (part[..., 1:].flags.c_contiguous, part[..., 1:].flags.f_contiguous)


def test_views_and_classes_of_numbers():
    assert njit(lambda x: np.float32(x).view(np.int32))(1.0) == 0x3F800000
    with pytest.raises(bc.TypingError, match="sizes"):
        njit(lambda x: np.float64(x).view(np.int32))(1.0)
    got = njit(lambda: np.int8((1.0, 2.0)))()
    assert got.dtype == np.int8 and got.tolist() == [1, 2]
    assert njit(lambda a: sorted(set(a)))(("b", "a", "b")) == ["a", "b"]
    x = np.zeros(2)
    assert njit(lambda a: a.ctypes.data)(x) == x.ctypes.data


@pytest.mark.parametrize("same", [False, True])
def test_divmod_with_outputs_reads_before_it_writes(same):
    a, b = np.array([7, -7, 9]), np.array([2, 2, -4])
    expected = np.divmod(a, b)
    q, r = (a, b) if same else (np.zeros(3, np.int64), np.zeros(3, np.int64))
    njit(lambda a, b, q, r: np.divmod(a, b, q, r))(a, b, q, r)
    assert_array_equal(q, expected[0])
    assert_array_equal(r, expected[1])


def test_options_that_numba_does_not_have_are_errors():
    with pytest.raises(KeyError, match="Unrecognized options"):
        bc.vectorize(nonexistent=2)(lambda x: x)


def test_typed_containers_are_pythons_while_functions_stay_python():
    bc.config.DISABLE_JIT = True
    try:
        assert type(typed.List([1])) is list and type(typed.Dict({"a": 1})) is dict and typed.List.empty_list(types.int64) == []
        assert typed.Dict.empty(types.int64, types.int64) == {}
    finally:
        bc.config.DISABLE_JIT = False
