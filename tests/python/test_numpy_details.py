"""Details that NumPy's own tests ask for, against NumPy."""

from __future__ import annotations

import copy
import io
import subprocess
import sys
import textwrap
import warnings

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import broadcloth as bc
from support import assert_like_numpy


def same(ours, theirs):
    assert np.asarray(ours).dtype == np.asarray(theirs).dtype
    assert_array_equal(bc.asnumpy(ours), theirs)


# ---- Times with gaps -------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["quantile", "nanquantile"])
@pytest.mark.parametrize("dtype", ["M8[s]", "m8[D]"])
@pytest.mark.parametrize("place", [0, 10, 23])
def test_quantiles_of_times_with_gaps(xp, name, dtype, place):
    a = np.arange(0, 480, 20).astype(dtype)
    a[place] = "NaT"
    for q in (0.5, 0.3, [0.25, 1.0]):
        same(getattr(xp, name)(xp.asarray(a), q), getattr(np, name)(a, q))


@pytest.mark.parametrize("name", ["median", "nanmedian"])
def test_medians_of_time_differences_with_gaps(xp, name):
    a = np.array([[5, "NaT", 1], [2, 8, 4]], "m8[D]")
    same(getattr(xp, name)(xp.asarray(a), axis=1), getattr(np, name)(a, axis=1))


def test_time_differences_are_close_within_their_unit(xp):
    a, b = np.array([1, 2, "NaT"], "m8[ns]"), np.array([1, 3, "NaT"], "m8[ns]")
    for atol in (0, 1, np.timedelta64(1, "ns")):
        same(xp.isclose(xp.asarray(a), xp.asarray(b), atol=atol, equal_nan=True), np.isclose(a, b, atol=atol, equal_nan=True))
    assert xp.allclose(xp.asarray(a[:2]), xp.asarray(a[:2]), atol=0)


def test_arrays_of_times_with_gaps_are_equal(xp):
    t = xp.asarray(np.array([1, "NaT"], "m8[s]"))
    assert xp.array_equal(t, t, equal_nan=True) and not xp.array_equal(t, t)


@pytest.mark.parametrize("value", [np.timedelta64(3, "s"), np.timedelta64("NaT"), np.datetime64(1, "D"), np.timedelta64(3, "ns")])
@pytest.mark.parametrize("dtype", ["i4", "i8", "f8", "?"])
def test_stores_of_times_are_refused_where_numpy_refuses_them(xp, value, dtype):
    a, host = xp.zeros(2, dtype), np.zeros(2, dtype)
    try:
        host[0] = value
    except TypeError:
        with pytest.raises(TypeError):
            a[0] = value
    else:
        a[0] = value
    same(a, host)


# ---- What functions take ---------------------------------------------------------------------------------------------------------------


class Wrapped:
    """An object that gives an array when it is asked."""

    def __init__(self, array):
        self.array, self.copies = array, []

    def __array__(self, dtype=None, copy=None):
        self.copies.append(copy)
        return self.array


def test_objects_may_give_arrays_of_ours(xp):
    w = Wrapped(xp.arange(4))
    assert_array_equal(bc.asnumpy(xp.sin(w)), np.sin(np.arange(4)))
    same(xp.concatenate([w, w]), [0, 1, 2, 3, 0, 1, 2, 3])
    same(xp.asarray(w, dtype="f4"), np.arange(4, dtype="f4"))
    shared = xp.asarray(w)
    shared[0] = 9
    assert w.array.tolist() == [9, 1, 2, 3]
    own = xp.array(w)
    own[1] = 9
    assert w.array.tolist() == [9, 1, 2, 3]


def test_objects_are_asked_for_no_copy():
    w = Wrapped(bc.arange(3))
    bc.asarray(w, copy=False)[0] = 5
    assert w.copies == [False] and w.array.tolist() == [5, 1, 2]

    class Old:
        def __array__(self):
            return np.arange(3)

    with pytest.raises(ValueError, match="avoid copy"):
        bc.asarray(Old(), copy=False)


def test_numbers_bring_no_dtype_where_parts_are_flattened(xp):
    for parts in ([np.float32(1), 1.0], [np.int8(1), 1], [np.int8(1), 1.5], [1, 2.5], [np.float32(1), [1.0]], [np.uint8(3), True],
                  [np.uint8(1), 300], [np.uint8(1), -1]):  # fmt: skip
        same(xp.concatenate(parts, axis=None), np.concatenate(parts, axis=None))


def test_one_element_with_an_infinite_step(xp):
    same(xp.arange(0, 1, np.inf), np.arange(0, 1, np.inf))


def test_quantiles_stretch_to_their_output(xp):
    out = xp.ones((2, 3))
    assert xp.quantile(xp.asarray([[1.0, 2.0, 3.0], [3.0, 4.0, 5.0]]), 0.5, axis=0, out=out) is out
    same(out, [[2.0, 3.0, 4.0], [2.0, 3.0, 4.0]])
    with pytest.raises(ValueError):
        xp.median(xp.arange(9.0), out=xp.ones(1))


def test_arguments_that_numpy_refuses(xp):
    with pytest.raises(TypeError):
        xp.digitize([1], [1.0j])
    with pytest.raises(TypeError):
        xp.place([1, 2, 3], [True, False], [0, 1])
    with pytest.raises(ValueError, match="casting"):
        xp.einsum("", 0, casting="blah")
    with pytest.raises(ValueError):
        xp.histogramdd(xp.ones((1, 10)), bins=2**10)
    with pytest.raises(ValueError):
        xp.broadcast(1, x=1)


def test_seeds_may_be_arrays():
    assert bc.random.default_rng(bc.arange(3)).random() == np.random.default_rng(np.arange(3)).random()


def test_slices_are_permuted_in_place_through_strides():
    x, theirs = bc.arange(24).reshape(4, 6)[:, ::2], np.arange(24).reshape(4, 6)[:, ::2]
    made = bc.random.Generator(np.random.MT19937(3)).permuted(x, axis=1, out=x)
    assert made is x
    same(x, np.random.Generator(np.random.MT19937(3)).permuted(theirs, axis=1, out=theirs))


class Prior:
    """An object with operators of its own and a priority above that of arrays, in NumPy's old way."""

    __array_priority__ = 11

    def __array__(self, dtype=None, copy=None):
        raise RuntimeError("asked for its elements")

    def __radd__(self, other):
        return "added"


def test_operators_leave_objects_of_higher_priority_alone(xp):
    a = xp.ones(3)
    assert a + Prior() == "added"
    assert (a == Prior()) is False and (a != Prior()) is True
    with pytest.raises(TypeError):
        _ = a < Prior()
    with pytest.raises(TypeError):
        _ = a * Prior()
    with pytest.raises(RuntimeError, match="asked"):
        xp.add(a, Prior())


def test_axes_of_no_axes(xp):
    assert int(xp.lexsort((xp.array(1),), axis=-1)) == 0
    with pytest.raises(np.exceptions.AxisError):
        xp.lexsort((xp.array(1),), axis=10)


# ---- Memory and files ------------------------------------------------------------------------------------------------------------------


def test_like_functions_take_the_order_of_arrays_with_fewer_axes(xp):
    a = xp.asarray(np.ones((2, 3), order="F"))
    for shape in ((5, 6), (5, 6, 7)):
        assert xp.ones_like(a, shape=shape, order="A").flags.f_contiguous
        assert xp.ones_like(a.T, shape=shape, order="A").flags.c_contiguous


def test_copies_keep_fortrans_order(xp):
    a = xp.asarray(np.asfortranarray(np.ones((2, 3))))
    assert copy.copy(a).flags.f_contiguous and copy.deepcopy(a).flags.f_contiguous


def test_files_keep_fortrans_order(xp):
    f = io.BytesIO()
    xp.save(f, xp.asarray(np.asfortranarray(np.arange(6.0).reshape(2, 3))))
    f.seek(0)
    made = xp.load(f)
    assert made.flags.f_contiguous and made.tolist() == [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]


def test_an_archive_takes_numpys_arguments(tmp_path):
    path = tmp_path / "a.npz"
    bc.savez(path, bc.arange(2), x=bc.ones(2), allow_pickle=False)
    with bc.load(path, max_header_size=20_000, encoding="latin1") as found:
        assert found.files == ["x", "arr_0"] and isinstance(found, np.lib.npyio.NpzFile)
        assert isinstance(found.f.x, bc.ndarray) and found.f.x.tolist() == [1.0, 1.0]
        assert repr(found).startswith(f"NpzFile {str(path)!r}")


def test_masks_of_files_are_not_lost():
    made = bc.genfromtxt(["1,", "3,4"], delimiter=",", usemask=True)
    assert made.mask.tolist() == [[False, True], [False, False]]
    same(bc.genfromtxt(["1 2 3"], usecols=bc.array([0, 2])), [1.0, 3.0])


def test_getsizeof_counts_what_an_array_owns():
    a = bc.zeros(1000)
    assert sys.getsizeof(a) > 8000 > sys.getsizeof(a[:500])


# ---- Ufuncs and NumPy's ----------------------------------------------------------------------------------------------------------------


def test_ufuncs_equal_numpys_of_the_same_name():
    assert bc.add == np.add and np.add == bc.add and bc.add != np.subtract and bc.add != bc.subtract
    assert {bc.add: 1}[np.add] == 1 and {np.abs: 2}[bc.abs] == 2 and bc.add in [np.add]
    assert bc.add != "add" and hash(bc.add) == hash(np.add)


def test_types_of_ufuncs_are_ones_that_numpy_knows():
    for text in bc.add.types:
        assert all(np.dtype(code) for code in text.replace("->", ""))
    assert bc.add.resolve_dtypes((np.dtype("i4"), np.dtype("f4"), None)) == np.add.resolve_dtypes((np.dtype("i4"), np.dtype("f4"), None))
    with pytest.raises(TypeError):
        bc.add.resolve_dtypes((np.dtype("i4"), np.dtype("f4")))


PROGRAM = """
import numpy as np

class Quantity(np.lib.mixins.NDArrayOperatorsMixin):
    def __init__(self, value):
        self.value = np.asarray(value)

    def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
        assert isinstance(ufunc, np.ufunc)
        if ufunc == np.divide:
            return "divided"
        inputs = tuple(x.value if isinstance(x, Quantity) else x for x in inputs)
        return Quantity(getattr(ufunc, method)(*inputs, **kwargs))

class Plain:
    make = np.array
    add_up = np.sum

a = np.arange(3.0)
for made in (a + Quantity(1), Quantity(1) + a, np.add(a, Quantity(1))):
    print(type(made).__name__, made.value.tolist())
a += Quantity(1)
print(type(a).__name__, np.ones(2) / Quantity(2))
print(Plain().make([1, 2]).tolist(), isinstance(np.add, np.ufunc), Plain.add_up(np.ones(3)) == 3)
"""


def test_programs_meet_classes_with_ufuncs_of_their_own(tmp_path):
    path = tmp_path / "program.py"
    path.write_text(textwrap.dedent(PROGRAM))
    theirs = subprocess.run([sys.executable, path], capture_output=True, text=True, check=True).stdout
    ours = subprocess.run([sys.executable, "-m", "broadcloth", path], capture_output=True, text=True, check=True).stdout
    assert ours == theirs


def test_files_are_not_mapped_for_writing(xp, tmp_path):
    path = str(tmp_path / "a.npy")
    np.save(path, np.arange(3.0))
    for mode in (None, "r", "c"):
        np.testing.assert_array_equal(xp.load(path, mmap_mode=mode).get(), [0, 1, 2])
    for mode in ("r+", "w+"):
        with pytest.raises(NotImplementedError, match="would have to reach the file"):
            xp.load(path, mmap_mode=mode)


@pytest.mark.parametrize("number", [10**30, 2**63, -(2**63) - 1])
def test_integers_beyond_int64_are_no_truth_values(xp, number):
    flags = xp.zeros(2, dtype=bool)
    calls = (
        lambda: xp.copyto(flags, number, casting="unsafe"), lambda: xp.full(2, number, dtype=bool), lambda: xp.full_like(flags, number)
    )  # fmt: skip
    for call in calls:
        with pytest.raises(OverflowError, match="too large"):
            call()
    assert not flags.any()
    xp.copyto(flags, 2**63 - 1, casting="unsafe")
    assert flags.all()


def test_limits_and_words_of_indices():
    a = bc.ones((1,) * 4)
    for index in (True, False, np.array([0])):
        with pytest.raises(IndexError):
            a[(index,) * 64]
        with pytest.raises(IndexError):
            a[(index,) * 64] = 1
    with pytest.raises(IndexError, match="too many indices for array: array is 4-dimensional, but 64 were indexed"):
        a[(np.array([0]),) * 64]

    class Index:
        def __array__(self, dtype=None, copy=None):
            return np.array(2)

    assert int(bc.arange(5)[Index()]) == 2
    flat = bc.arange(9).reshape(3, 3).flat
    for use in (lambda: flat[bc.ones(10, bool)], lambda: flat.__setitem__(bc.ones(10, bool), 1)):
        with pytest.raises(IndexError, match="boolean index did not match indexed flat iterator"):
            use()


def test_memory_of_objects_that_stand_for_arrays():
    class ByInterface:
        def __init__(self, data):
            self.data = data

        @property
        def __array_interface__(self):
            return self.data.__array_interface__

    class ByMethod(ByInterface):
        __array_interface__ = property()  # type: ignore[assignment]

        def __array__(self, dtype=None, copy=None):
            return self.data

    x = bc.arange(5, device="cpu")
    for cls in (ByInterface, ByMethod):
        assert bc.may_share_memory(cls(x[::2]), x[1::2]) and bc.may_share_memory(cls(x[1::3]), x[::2])
        assert bc.shares_memory(cls(x[1::3]), x[::2]) and not bc.shares_memory(cls(x[::2]), x[1::2])
        assert not bc.shares_memory(cls(x), bc.arange(5, device="cpu"))
    for f in (bc.may_share_memory, bc.shares_memory):
        with pytest.raises(OverflowError):
            f(x, x, max_work=10**100)


def test_words_of_ufuncs_and_sums_of_nothing():
    with pytest.raises(TypeError, match="both 'sig' and 'signature'"):
        bc.add(1, 2, sig="ii->i", signature="ii->i")
    with pytest.raises(TypeError, match="the signature object to ufunc must be a string or"):
        bc.add(3, 4, signature=123.0)
    with pytest.raises(TypeError, match="keepdims"):
        bc.vecdot([1, 2], [3, 4], keepdims="true")
    for dtype in ("float16", "float32", "float64", "complex64"):
        for n in (0, 1, 150):
            total = bc.sum(bc.full(n, -0.0, dtype), initial=-0.0).get()
            assert np.signbit(total.real) and total.dtype == dtype
    assert bc.sum(bc.zeros((0, 3)), axis=0, initial=2.0).get().tolist() == [2.0, 2.0, 2.0]

    class Counts:
        def __init__(self):
            self.calls = []

        def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
            self.calls.append((ufunc.__name__, method, len(inputs)))

    counts = Counts()
    assert bc.negative.at(counts, [0, 1]) is None and bc.add.at(counts, [0], 2) is None
    assert counts.calls == [("negative", "at", 2), ("add", "at", 3)]


def test_order_of_einsums_and_dtypes_that_are_none():
    a, b, c = bc.array(np.ones((2, 3), order="F")), bc.array(np.ones((3, 4), order="F")), bc.ones((3, 4))
    assert bc.einsum("ij,jk->ik", a, b, order="A").flags.f_contiguous
    assert bc.einsum("ij,jk->ki", a, c, order="A").flags.c_contiguous
    with pytest.raises(TypeError):
        bc.einsum("", 0, dtype="no dtype")


def test_results_without_axes_of_einsum_and_norms_are_elements(xp):
    # `x += 1` makes a new value of an element; an array without axes would change, and its other names with it.
    m = xp.array([[1.0, 2.0], [3.0, 4.0]])
    for made in (
        xp.einsum("ii", m),
        xp.einsum("ij,ij", m, m),
        xp.einsum("ij,jk,ki", m, m, m),
        xp.linalg.norm(m, 1),
        xp.linalg.norm(m, -xp.inf),
        xp.linalg.cond(m),
        xp.linalg.cond(m, 1),
        xp.linalg.matrix_norm(m, ord=1),
    ):
        other = made
        other += 1
        assert float(other) == float(made) + 1


def test_texts_are_compared_by_numpy():
    assert bc.array_equal(["a"], ["a"]) and not bc.array_equal(["a"], ["b"]) and bc.array_equiv("a", ["a", "a"])
    assert not bc.array_equal(bc.arange(2), ["a", "b"])
    assert list(bc.ndenumerate(["a"])) == [((0,), "a")]


def test_steps_and_parts_of_numbers_are_numbers():
    assert type(bc.linspace(0, 1, 5, retstep=True)[1]) is np.float64
    assert type(bc.imag(1 + 2j)) is float and type(bc.real(3)) is int
    assert_array_equal(bc.asnumpy(bc.fromfunction(lambda i: i, (3,), like=bc.ones(1))), np.arange(3.0))


@pytest.mark.parametrize(
    "code",
    [
        "a = xp.arange(10).reshape(2, 5); a.partition(2, axis=None)",
        "a = xp.arange(10).reshape(2, 5); a.partition(2, None)",
        "a = xp.arange(5).reshape(1, 5); a.sort(axis=None)",
        "a = xp.arange(5).reshape(1, 5)[:, ::-1].copy(); a.sort(None)",
        "a = xp.arange(6)[::-1].reshape(2, 3).copy(); a.sort(axis=0); a",
        "a = xp.arange(3); xp.putmask(a=a, mask=[1, 0, 1], values=5)",
        "a = xp.arange(3); xp.putmask(a, values=5, mask=[1, 0, 1]); a",
        "xp.take(xp.arange(3), [0, 1], out=xp.zeros(2, 'i4'))",
        "xp.take(xp.arange(3.0), [0, 1], out=xp.zeros(2, 'i4'))",
        "xp.unravel_index(1, (2**32 - 1, 2**31 + 1))",
        "xp.unravel_index(7, (3, 2**31))[1]",
    ],
)
def test_methods_in_place_and_outputs_refuse_what_numpy_refuses(xp, code):
    assert_like_numpy(xp, code)


def test_few_observations_and_vectors_of_two_components_warn(xp):
    for form in (
        lambda: xp.cov([1.0]),
        lambda: xp.corrcoef([1.0]),
        lambda: xp.cov([[1.0, 2, 3]], ddof=3),
        lambda: xp.cov(xp.ones((1, 3)), rowvar=False),
    ):
        with pytest.warns(RuntimeWarning, match="Degrees of freedom <= 0 for slice"):
            form()
    with pytest.warns(DeprecationWarning, match="2-dimensional vectors are deprecated"):
        xp.cross([1, 2], [3, 4])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert float(xp.cov([1.0, 2.0])) == 0.5 and xp.cov(xp.zeros((0, 3))).shape == (0, 0)
