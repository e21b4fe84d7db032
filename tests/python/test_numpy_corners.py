"""Corners where NumPy's answer is exact and easily missed: outputs of scans, orders of memory, lost imaginary parts, flat iterators."""

from __future__ import annotations

import array
import collections
import operator
import warnings

import numpy as np
import pytest
from numpy.exceptions import ComplexWarning
from numpy.testing import assert_array_equal

import broadcloth as bc
from support import assert_like_numpy


def both(xp, function):
    """What NumPy and broadcloth do: a value's contents, or the exception's type."""
    results = []
    for m in (np, xp):
        try:
            r = function(m)
        except Exception as e:
            results.append(type(e))
            continue
        if hasattr(r, "flags"):
            host = r if m is np else r.get()
            r = (host.dtype, host.tolist(), r.flags.c_contiguous, r.flags.f_contiguous)
        results.append(r)
    return results


@pytest.mark.parametrize("name", ["cumsum", "cumprod", "cumulative_sum"])
@pytest.mark.parametrize("dtype", ["bool", "int8", "uint32", "float32"])
def test_scans_write_to_any_output(xp, name, dtype):
    for source in ("int64", "float64"):
        want, got = both(xp, lambda m, s=source: getattr(m, name)(m.arange(5, dtype=s), out=m.zeros(5, dtype=dtype)))
        assert got == want


def test_cumulative_of_a_number(xp):
    for options in ({}, {"include_initial": True}, {"axis": 0}):
        want, got = both(xp, lambda m, o=options: m.cumulative_sum(m.array(3), **o))
        assert got == want
    want, got = both(xp, lambda m: m.cumulative_prod(m.ones((2, 2))))
    assert got == want


@pytest.mark.parametrize("order", "CF")
@pytest.mark.parametrize("axis", [0, 1])
def test_gradients_lie_as_their_argument(xp, order, axis):
    n = np.asarray(np.arange(12.0).reshape(3, 4) ** 2, order=order)
    want, got = both(xp, lambda m: m.gradient(m.asarray(n, order=order), axis=axis))
    assert got == want
    want, got = both(xp, lambda m: m.gradient(m.asarray(n, order=order), np.array([0.0, 1, 3, 4])[: n.shape[axis]], axis=axis))
    assert got == want


@pytest.mark.parametrize("order", "CFAK")
def test_lists_of_arrays_are_stacked_in_order(xp, order):
    n = np.asfortranarray(np.arange(6.0).reshape(2, 3))
    for count in (1, 2):
        want, got = both(xp, lambda m, k=count: m.array([m.array(n, order="F")] * k, order=order))
        assert got == want
    for dtype, asked in (("float64", order), ("float32", order)):
        want, got = both(xp, lambda m, d=dtype, o=asked: m.array(m.ones((2, 3)), dtype=d, order=o, copy=False))
        assert got == want
    assert xp.array(xp.ones(2), blocking=True).tolist() == [1, 1]


def stored(m):
    a = m.zeros(2)
    a[:] = m.ones(2) * 1j
    return a


def masked(m):
    a = m.zeros(2)
    a[a == 0] = m.ones(2) * 1j
    return a


def copied(m):
    a = m.zeros(2)
    m.copyto(a, m.ones(2) * 1j, casting="unsafe")
    return a


LOSSES = [
    stored,
    masked,
    copied,
    lambda m: (m.ones(2) + 1j).astype("f4"),
    *[lambda m, f=f: getattr(m, f)([m.ones(2) + 1j, m.ones(2)], dtype="f4", casting="unsafe") for f in ("hstack", "vstack", "concatenate")],
]


@pytest.mark.parametrize("loss", LOSSES)
def test_lost_imaginary_parts_are_warned_of(xp, loss):
    with pytest.warns(ComplexWarning):
        want = loss(np)
    with pytest.warns(ComplexWarning):
        got = loss(xp)
    assert_array_equal(got.get(), want)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert (xp.ones(2) + 1j).astype(bool).tolist() == [True, True]


@pytest.mark.parametrize("dtype", ["int8", "bool", "float32"])
def test_moments_in_a_given_dtype(xp, dtype):
    for name in ("cov", "corrcoef"):
        want, got = both(xp, lambda m, f=name: getattr(m, f)(m.arange(4.0), dtype=dtype))
        if isinstance(want, type):
            assert issubclass(got, TypeError)
        else:
            assert got[0] == want[0]
            np.testing.assert_allclose(got[1], want[1], rtol=1e-6)


def test_bincount_takes_integers(xp):
    for given in (np.array([]), np.array([], int), np.array([1, 2], np.uint64), np.array([1.0]), np.array([True, False])):
        want, got = both(xp, lambda m, n=given: m.bincount(m.asarray(n), minlength=2))
        assert got == want
    assert xp.bincount([]).tolist() == []


def test_diagonals_far_outside(xp):
    for k in (2**63, -(2**63), 2**62, -(2**70)):
        want, got = both(xp, lambda m, k=k: m.eye(3, k=k))
        assert got == want
    assert xp.tri(3, k=2**63).tolist() == np.tri(3, k=2**63).tolist()
    assert xp.eye(3, k=2**64, order="F").tolist() == np.zeros((3, 3)).tolist()


def test_flat_is_an_iterator(xp):
    for n in (np.arange(6.0).reshape(2, 3), np.arange(6.0).reshape(2, 3).T, np.zeros((0, 2)), np.array(5.0)):
        a = xp.asarray(n)
        ours, theirs = a.flat, n.flat
        seen = []
        for x in ours:
            assert x == next(theirs)
            seen.append(float(x))
            if len(seen) < n.size:
                assert (ours.index, ours.coords) == (theirs.index, theirs.coords)
        assert seen == list(n.flat)
        with pytest.raises(StopIteration):
            next(ours)
    a = xp.arange(3)
    it = a.flat
    assert int(next(it)) == 0
    a[1] = 10
    assert [int(x) for x in it] == [10, 2]
    assert len(it) == 3


def test_shares_memory_is_exact_and_may_share_memory_is_not(xp):
    rng = np.random.default_rng(3)
    n = np.zeros((8, 9))
    a = xp.asarray(n)
    slices = [tuple(slice(*sorted(rng.integers(0, 9, 2)), int(rng.integers(1, 4))) for _ in range(2)) for _ in range(40)]
    for s in slices:
        for t in slices[:8]:
            assert bc.shares_memory(a[s], a[t]) == np.shares_memory(n[s], n[t]), (s, t)
            assert bc.may_share_memory(a[s], a[t]) == np.may_share_memory(n[s], n[t]), (s, t)
    assert bc.shares_memory(a.view("int32")[:, ::2], a) and not bc.shares_memory(a.real[::2].view("int16")[:, 1::4], a[1::2])
    with pytest.raises(np.exceptions.TooHardError):
        bc.shares_memory(a[::3, ::5], a[1:, 2::3], max_work=1)


def test_ndarray_with_strides_of_its_own(xp):
    a = bc.ndarray((2, 3), "f8", strides=(8, 16))
    assert a.strides == (8, 16)
    a[:] = 1
    assert a.sum() == 6
    assert bc.ndarray((3,), "f4", strides=(-4,)).strides == (-4,)
    assert bc.ndarray((0, 3), "f4", strides=(12, 4)).size == 0
    with pytest.raises(ValueError, match="whole elements"):
        bc.ndarray((2,), "f8", strides=(3,))


@pytest.mark.parametrize("name", ["1", "", "a b", "f()"])
def test_kernels_need_a_name_that_is_one(name):
    with pytest.raises(ValueError, match="Invalid kernel name"):
        bc.ElementwiseKernel("T x", "T y", "y = x", name)
    with pytest.raises(ValueError, match="Invalid kernel name"):
        bc.ReductionKernel("T x", "T y", "x", "a + b", "y = a", "0", name)


REAL = ["float32", "int32"]


@pytest.mark.parametrize("dtype", REAL)
@pytest.mark.parametrize(
    "loss",
    [
        lambda m, t: m.add(m.ones(2, "c16"), 1, dtype=t, casting="unsafe"),
        lambda m, t: m.add(m.ones(2, "c16"), 1, out=m.zeros(2, t), casting="unsafe"),
        lambda m, t: m.sum(m.ones(2, "c16"), dtype=t),
        lambda m, t: m.mean(m.ones(2, "c16"), out=m.zeros((), t)),
        lambda m, t: m.cumsum(m.ones(2, "c16"), dtype=t),
        lambda m, t: m.array(m.ones(2, "c16"), dtype=t),
        lambda m, t: m.full(2, m.ones((), "c16"), dtype=t),
    ],
)
def test_complex_results_made_real_are_warned_of(xp, loss, dtype):
    with pytest.warns(ComplexWarning):
        want = loss(np, dtype)
    with pytest.warns(ComplexWarning):
        got = loss(xp, dtype)
    assert got.dtype == want.dtype
    assert_array_equal(got.get(), want)


def test_magnitudes_lose_nothing(xp):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        xp.absolute(xp.ones(2, "c16"), out=xp.zeros(2, "f4"), casting="unsafe")
        xp.ones(2, "c16").var(out=xp.zeros(()))
        with pytest.raises(TypeError):
            xp.concatenate([xp.ones(2, "c16")], dtype="f4")


@pytest.mark.parametrize("name", ["place", "putmask"])
def test_arrays_put_where_a_mask_holds_fit(xp, name):
    def put(m, dtype, values):
        a = m.ones(3, dtype=dtype)
        getattr(m, name)(a, a > 0, values if not isinstance(values, np.ndarray) else m.asarray(values))
        return a

    for dtype in ("float32", "int8", "bool", "complex64"):
        for values in (np.ones(2), np.ones((), "i8"), np.ones(2, "f4"), [1.5], 2, True, np.float64(1.0), np.ones(2, bool)):
            want, got = both(xp, lambda m, d=dtype, v=values: put(m, d, v))
            assert got == want, (dtype, values)


@pytest.mark.parametrize("order", "CFAK")
def test_ravel_of_axes_that_do_not_move(xp, order):
    sources = [
        lambda m: m.broadcast_to(m.arange(2).reshape(2, 1), (3, 2, 4)),
        lambda m: m.broadcast_to(m.arange(6).reshape(2, 3).T, (2, 3, 2)),
        lambda m: m.broadcast_to(m.arange(6).reshape(3, 1, 2).transpose(2, 1, 0), (2, 4, 3)),
        lambda m: m.arange(24).reshape(2, 3, 4).transpose(2, 0, 1)[:, :1],
        lambda m: m.arange(24).reshape(2, 3, 4)[::-1].transpose(1, 2, 0),
    ]
    for source in sources:
        for name in ("ravel", "flatten"):
            assert getattr(source(xp), name)(order).tolist() == getattr(source(np), name)(order).tolist()


def test_replacements_of_nan_fit(xp):
    for given in ({"nan": 4}, {"nan": np.ones(3)}, {"nan": np.ones(4)}, {"posinf": np.ones((2, 2, 3))}, {"neginf": np.ones((1, 2, 3))}):

        def replaced(m, given=given):
            return m.nan_to_num(m.array([[0.0, np.nan, np.inf]] * 2), **{k: m.asarray(v) for k, v in given.items()})

        want, got = both(xp, replaced)
        assert got == want, given


def test_scans_with_an_initial_element_write_to_any_output(xp):
    want, got = both(xp, lambda m: m.cumulative_sum(m.arange(4), out=m.zeros(5, bool), include_initial=True))
    assert got == want


@pytest.mark.parametrize(
    "code",
    [
        "[1] * xp.arange(4)[3]",
        "xp.arange(4)[3] * [1]",
        "(1, 2) * xp.arange(4)[2]",
        "'ab' * xp.arange(4)[3]",
        "xp.arange(4)[3] * b'ab'",
        "[1] * xp.arange(4).sum()",
        "[1] * xp.array(3)",
        "[1] * xp.arange(4.0)[3]",
        "x = [1]; x *= xp.arange(4)[3]; x",
        "list(range(xp.arange(4)[3]))",
        "[10, 20, 30][xp.arange(4)[2]]",
        "'%d %s' % (xp.arange(4)[3], xp.arange(4)[2])",
        "xp.arange(4)[3] + [1]",
        "int(xp.array([[3]]))",
        "float(xp.array([1.5]))",
        "complex(xp.array([1.5]))",
        "int(xp.array(3.7))",
        "float(xp.arange(4)[3])",
        "float(xp.array([3.75 + 1j])[0])",
        "int(xp.array([3.75 + 1j], 'c8')[0])",
        "float(xp.array(3.75 + 1j))",
        "xp.insert(xp.array([1, 2], 'u1'), 0, -1)",
        "xp.insert(xp.array([1, 2], 'u1'), 0, [1.5, 2])",
        "xp.insert([1, 2], 0, [1.5, 2])",
        "xp.repeat(xp.array(3), 2, 0)",
        "xp.choose([0.5, 1], [1, 2])",
        "xp.choose([-1, 0], [xp.zeros((2, 0, 2)), 2])",
        "xp.compress([True, False, True], xp.zeros((1, 0)), 0)",
        "xp.put(xp.arange(3), [], 5)",
        "a = xp.zeros(2, 'u1'); a.setflags(write=False); xp.place(a, xp.zeros(2, bool), [1]); a",
        "bool(xp.array([[3]]))",
        "xp.array([[3]]).__index__()",
        "xp.array([[3]]).item()",
        "xp.choose([0, 1], [xp.array([1, 2], 'f4'), -1.5])",
        "xp.choose([0, 1], [xp.array([1, 2], 'i1'), 3])",
        "xp.choose([0, 1], [1.5, 2])",
        "xp.choose([0, 1], xp.arange(4).reshape(2, 2))",
        "xp.gradient(xp.array([True, False, True]))",
        "xp.gradient(xp.array([1, 2, 4], 'u1'))",
    ],
)
def test_elements_act_as_numpys_scalars(xp, code):
    assert_like_numpy(xp, code)


@pytest.mark.parametrize("function", ["atleast_1d", "atleast_2d", "atleast_3d", "squeeze"])
def test_an_array_that_is_not_changed_is_given_itself(xp, function):
    for shape in ((2, 3, 4), (3,), (), (1, 3), (2, 1, 4)):
        n, x = np.zeros(shape), xp.zeros(shape)
        assert (getattr(xp, function)(x) is x) == (getattr(np, function)(n) is n), shape
    assert xp.ones((2, 3)).squeeze(axis=()).shape == (2, 3)
    x = xp.ones((2, 3))
    assert x.squeeze() is x
    assert [b is a for a, b in zip((x, x), xp.broadcast_arrays(x, x))] == [True, True]
    assert xp.broadcast_arrays(x, x[0])[0] is not x


@pytest.mark.parametrize(
    "make",
    ["xp.atleast_1d(s)", "xp.flip(s)", "xp.ravel(s)", "xp.asarray(s)", "s.reshape(1)", "s[None]", "xp.broadcast_arrays(s, s)[0]", "s.T"],
)
def test_what_is_made_of_a_scalar_is_an_array_of_its_own(xp, make):
    s = xp.arange(4).sum()
    made = eval(make, {"xp": xp, "s": s})
    made[...] = 50
    assert int(s) == 6 and made.sum().item() == 50


@pytest.mark.parametrize("order", "CF")
def test_select_gives_an_array_in_c_order(xp, order):
    want, got = both(xp, lambda m: m.select([m.ones((2, 3), bool, order=order)], [m.zeros((2, 3), order=order)], 1))
    assert got == want
    kept = chosen = xp.select([xp.asarray(True)], [xp.asarray(5)], 0)
    chosen += 1
    assert kept is chosen and int(kept) == 6


def test_isin_of_a_number_is_an_array(xp):
    found = xp.isin(3, [1, 3])
    kept = found
    found |= False
    assert kept is found and bool(found)


@pytest.mark.parametrize("function", ["mean", "var", "std", "sum", "max"])
@pytest.mark.parametrize(
    "out", ["xp.zeros((3, 1))", "xp.zeros(1)", "xp.zeros((1, 1))", "xp.zeros(3)", "xp.broadcast_to(xp.zeros(1), (1,))"]
)
def test_outputs_of_masked_reductions_have_the_results_shape(xp, function, out):
    initial = ", initial=0" if function == "max" else ""
    for where in ("", ", where=a > 0"):
        for keepdims in (False, True):
            assert_like_numpy(xp, f"a = xp.ones((3, 1)); xp.{function}(a, axis=0, out={out}, keepdims={keepdims}{where}{initial})")


@pytest.mark.parametrize("function", ["argmax", "argmin", "nanargmax"])
@pytest.mark.parametrize("dtype", ["bool", "int8", "uint32", "int64", "uint64", "float64", "complex64"])
def test_outputs_of_places_cast_safely_to_integers(xp, function, dtype):
    assert_like_numpy(xp, f"a = xp.arange(6.0).reshape(3, 2); xp.{function}(a, axis=0, out=xp.zeros(2, '{dtype}'))")


@pytest.mark.parametrize("function", ["argsort", "argpartition"])
def test_places_of_a_number(xp, function):
    kth = "0, " if function == "argpartition" else ""
    for axis in ("0", "-1", "None", "1"):
        assert_like_numpy(xp, f"xp.{function}(xp.asarray(5.0), {kth}axis={axis})")
        assert_like_numpy(xp, f"xp.{function.removeprefix('arg')}(xp.asarray(5.0), {kth}axis={axis})")


@pytest.mark.parametrize(
    "code",
    [
        "xp.zeros(0, bool) ** xp.asarray([-1], 'int16')",
        "xp.zeros((0, 3), int) ** xp.asarray([1, 2, -3])",
        "xp.arange(1, 4, dtype='uint64') ** xp.asarray([1, 2, -3])",
        "a = xp.zeros((2, 0), int); a **= xp.asarray([[-1], [-2]]); a",
        "xp.power(xp.arange(3), xp.asarray([-1, -2, -1]), out=xp.zeros(3, int), where=False)",
        "xp.power(xp.arange(3), xp.asarray([-1, 2, -1]), out=xp.zeros(3, int), where=xp.asarray([False, True, False]))",
        "xp.power(xp.arange(3), xp.asarray([-1, 2, -1]), out=xp.zeros(3, int), where=xp.asarray([True, True, False]))",
    ],
)
def test_exponents_that_are_not_used_may_be_negative(xp, code):
    assert_like_numpy(xp, code)


@pytest.mark.parametrize(
    "code",
    [
        "xp.where(xp.asarray([True, False]), 2**64 - 1, xp.asarray([True, False]))",
        "xp.where(xp.asarray([True, False]), xp.asarray([True, False]), 2**63)",
        "xp.squeeze(xp.asarray(5), (0, 0))",
        "xp.squeeze(xp.asarray(5), 0)",
        "xp.take(xp.asarray(5), [2, 0], axis=0)",
        "xp.take(xp.asarray(5), [0, 0], axis=0)",
    ],
)
def test_numbers_beside_arrays(xp, code):
    if "2**6" in code and np.lib.NumpyVersion(np.__version__) >= "2.5.0":
        pytest.skip("NumPy 2.5 refuses the number beside bools, earlier versions and broadcloth wrap it")
    assert_like_numpy(xp, code)


@pytest.mark.parametrize(
    "code",
    [
        "xp.delete(a, 2, axis=1)",
        "xp.delete(a, 0, axis=1)",
        "xp.sort(a, axis=0)",
        "xp.sort(a)",
        "a.round()",
        "xp.round(a)",
        "xp.pad(a, 0, mode='reflect')",
    ],
)
@pytest.mark.parametrize("order", ["xp.asfortranarray(a)", "a", "a.transpose(1, 2, 0)", "a[:, :, ::-1]"])
def test_copies_lie_in_numpys_order(xp, code, order):
    if "delete" in code and "transpose" in order:
        pytest.skip("joins keep the order of what they join, NumPy's delete does not")
    want, got = both(xp, lambda m: eval(code, {"xp": m, "a": eval(order, {"xp": m, "a": m.arange(24).reshape(2, 3, 4)})}))
    assert got == want


def outcome(f, xp):
    """What a call gives, or the type of its exception."""
    try:
        made = f(xp)
    except Exception as error:
        return type(error).__name__
    return repr(np.asarray(made)) if isinstance(made, (np.ndarray, np.generic, bc.ndarray)) else repr(made)


@pytest.mark.parametrize(
    "f",
    [
        lambda xp: xp.array([1, 2], copy="never"),
        lambda xp: xp.asarray([1, 2], copy="if_needed"),
        lambda xp: xp.arange(3).__dlpack__(copy="x"),
        lambda xp: xp.from_dlpack(xp.arange(3), copy="x"),
        lambda xp: xp.zeros(True),
        lambda xp: xp.zeros((2, True)),
        lambda xp: xp.arange(4).reshape(True, -1),
        lambda xp: xp.broadcast_to(xp.ones(1), (True,)),
        lambda xp: xp.zeros(3)[(True,) * 65],
        lambda xp: xp.array([[1, 2]], ndmax=1),
        lambda xp: xp.array([[1, 2]], ndmax=2),
        lambda xp: xp.array(xp.ones((2, 2)), ndmax=1),
        lambda xp: xp.array([1], ndmin=2, ndmax=1),
        lambda xp: xp.array([1], ndmax=-1),
        lambda xp: xp.array([1], ndmax=65),
    ],
)
def test_arguments_that_are_no_copy_no_extent_no_depth_are_refused(f, device):
    assert outcome(f, bc) == outcome(f, np)


@pytest.mark.parametrize(
    "key",
    [None, (), (1,), (1, 2), (..., 1), (None, 1), ..., True, False, 2, -1, slice(1, 9, 2)]
    + [[0, 2], [], [True, True], [True, 1], [[0, 1]], 6, [9]],
)
def test_flat_takes_one_index(key, device):
    def got(xp):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            return outcome(lambda xp: xp.arange(6).reshape(2, 3).flat[key], xp), [w.category for w in caught]

    def stored(xp):
        a = xp.arange(6).reshape(2, 3)

        def store(xp):
            a.flat[key] = 7

        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            return outcome(store, xp), a.tolist(), [w.category for w in caught]

    assert got(bc) == got(np)
    assert stored(bc) == stored(np)


@pytest.mark.parametrize("name", ["maximum", "minimum", "fmax", "fmin", "add"])
@pytest.mark.parametrize("values", [["2001-01-01", "2005-01-01", "1999-01-01"], ["2001-01-01", "NaT", "1999-01-01"]])
def test_folds_of_times_keep_their_dtype(name, values, device):
    x = np.array(values, dtype="M8[D]") if name != "add" else np.array(values, dtype="M8[D]") - np.datetime64("2000-01-01")
    y = bc.asarray(x)
    theirs, ours = getattr(np, name), getattr(bc, name)
    for made, expected in (
        (ours.reduce(y), theirs.reduce(x)),
        (ours.accumulate(y), theirs.accumulate(x)),
        (ours.reduceat(y, [0, 1, 0]), theirs.reduceat(x, [0, 1, 0])),
    ):
        assert made.dtype == expected.dtype
        np.testing.assert_array_equal(np.asarray(made), expected)


def test_sums_of_dates_by_reduceat_are_refused(device):
    with pytest.raises(TypeError):
        bc.add.reduceat(bc.array(["2001-01-01", "2005-01-01"], dtype="M8[D]"), [0])


@pytest.mark.parametrize("method", ["accumulate", "reduceat"])
@pytest.mark.parametrize("shape", [(3,), (2, 3), ()])
@pytest.mark.parametrize("axis", [None, 0, -1, (0,), (), (0, 1), 2, 1.0])
def test_accumulate_and_reduceat_take_one_axis(method, shape, axis, device):
    indices = () if method == "accumulate" else ([0, 1],)
    assert outcome(lambda xp: getattr(xp.add, method)(xp.ones(shape), *indices, axis=axis), bc) == outcome(
        lambda xp: getattr(xp.add, method)(xp.ones(shape), *indices, axis=axis), np
    )


def test_a_third_positional_argument_of_maximum_is_deprecated(device):
    out = bc.zeros(2)
    with pytest.warns(DeprecationWarning, match="positional arguments to np.maximum"):
        bc.maximum(bc.ones(2), bc.zeros(2), out)
    assert out.tolist() == [1, 1]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        bc.maximum(bc.ones(2), bc.zeros(2), out=out)
        bc.add(bc.ones(2), bc.zeros(2), out)


@pytest.mark.parametrize("kth", [0, 3, -1, [0, 5]])
@pytest.mark.parametrize("axis", [0, 1, -1, None])
def test_partitions_of_nothing_take_any_rank(kth, axis, device):
    for name in ("partition", "argpartition"):
        made = getattr(bc, name)(bc.zeros((3, 0, 2)), kth, axis=axis)
        expected = getattr(np, name)(np.zeros((3, 0, 2)), kth, axis=axis)
        assert (made.shape, made.dtype) == (expected.shape, expected.dtype)
    with pytest.raises(TypeError):
        bc.partition(bc.ones(3), 0, kind=1)


def test_choose_and_conjugate_have_their_methods_forms(device):
    place = bc.array([0, 1, 2, 0])
    assert place.choose(bc.arange(4), 10, [7, 7, 7, 7]).tolist() == [0, 10, 7, 3]
    assert place.choose([bc.arange(4), 10, 5]).tolist() == [0, 10, 5, 3]
    z, out = bc.array([1 + 2j, 3]), bc.zeros(2, dtype=complex)
    assert z.conj(out) is out and z.conjugate(out) is out and out.tolist() == [1 - 2j, 3]
    x = bc.ones(2)
    assert x.conj() is x
    with pytest.raises(TypeError, match="conjugate"):
        bc.zeros(1, dtype="M8[D]").conj()


@pytest.mark.parametrize("order", ["W", "cc", 1])
def test_einsum_checks_its_order(order, device):
    for operands in (("", 0), ("ij->ji", [[1, 2]]), ("ij,jk", [[1, 2]], [[3], [4]])):
        with pytest.raises((ValueError, TypeError)):
            bc.einsum(*operands, order=order)
    assert bc.einsum("ij,jk->ik", bc.ones((2, 2)), bc.ones((2, 3)), order="f").flags.f_contiguous


def test_a_dtype_of_subarrays_is_named(device):
    with pytest.raises(TypeError, match="subarrays"):
        bc.zeros(2, dtype="(2,4)i4")


@pytest.mark.parametrize("axis", [0, -1])
def test_unique_along_the_only_axis_counts_nans_once(axis, device):
    x = [np.nan, 0, 0, np.nan]
    assert_array_equal(bc.unique(bc.array(x), axis=axis).get(), np.unique(x, axis=axis))
    assert len(bc.unique(bc.array(x), axis=axis, equal_nan=False)) == len(np.unique(x, axis=axis, equal_nan=False)) == 3
    for made, expected in zip(bc.unique([2, 1, 2], True, True, True, axis), np.unique([2, 1, 2], True, True, True, axis)):
        assert_array_equal(made.get(), expected)
    with pytest.raises(np.exceptions.AxisError):
        bc.unique([1], axis=1)


@pytest.mark.parametrize("mode", ["maximum", "minimum"])
@pytest.mark.parametrize("width", [0, 1])
@pytest.mark.parametrize("length", [0, (1, 0)])
def test_pads_by_extremes_of_nothing_are_refused(mode, width, length, device):
    with pytest.raises(ValueError, match="stat_length of 0"):
        bc.pad([1.0, 2.0], width, mode, stat_length=length)


@pytest.mark.parametrize("edge_order", [1, 2])
def test_gradients_of_dates_are_differences(edge_order, device):
    x = np.array(["1910-08-16", "1910-08-11", "1910-08-10", "1910-08-12", "1910-10-12", "1910-12-12", "1912-12-12"], dtype="M8[D]")
    expected, made = np.gradient(x, edge_order=edge_order), bc.gradient(bc.asarray(x), edge_order=edge_order)
    assert made.dtype == expected.dtype
    assert_array_equal(made.get(), expected)


@pytest.mark.parametrize(
    "code",
    [
        "xp.clip(3, xp.array([1, 5], 'i4'), None)",
        "xp.clip(3.0, xp.array([1, 5], 'f4'), 4)",
        "xp.clip(3, min=xp.array(1, 'i4'))",
        "xp.isin([[1.0, 2.0]], xp.zeros(0), invert=1)",
        "xp.take(xp.arange(3), [])",
        "xp.arange(3).take(())",
        "xp.take(xp.arange(3), [1.0])",
        "xp.take(xp.arange(3), xp.array([]))",
        "a = xp.arange(3); xp.put(a, [1.0], 9); a",
        "a = xp.arange(3); a.put([], 9); a",
        "xp.cov(xp.zeros((0, 3), 'c8'))",
        "a = xp.zeros(3); xp.copyto(a, 5, where=None); a",
        "a = xp.zeros(3); xp.copyto(a, 5, where=1); a",
        "a = xp.ones((3, 3)); xp.fill_diagonal(a, xp.zeros(0)); a",
        "a = xp.ones((3, 3)); xp.fill_diagonal(a, [2, 3]); a",
        "a = xp.arange(3); xp.reshape(xp.unstack(a)[0], -1)[...] = 7; a",
        "a = xp.array(3.0); xp.reshape(xp.nan_to_num(a, copy=False), -1)[...] = 7; a",
        "a = xp.arange(3); a.flags.writeable = False; xp.nan_to_num(a, copy=False)",
        "xp.sum(xp.ones((2, 3)), axis=xp.array(1))",
        "xp.median(xp.ones((2, 3)), axis=np.array(1))",
        "a = xp.array(3 + 1j); xp.reshape(xp.einsum('...', a), -1)[...] = 7; a",
        "a = xp.array(3.0); xp.trim_zeros(a)[...] = 7; a",
        "a = xp.zeros((2, 2)); xp.trim_zeros(a, axis=())[...] = 7; a",
        "xp.nanquantile(xp.ones((4, 2), 'f4'), [], 0)",
    ],
)
def test_forms_with_numbers_masks_and_lists(xp, code):
    assert_like_numpy(xp, code)


@pytest.mark.parametrize("axis", ["True", "[1]", "[]", "range(2)", "np.array([1])", "(True,)", "1.0", "np.array(1)", "(np.int64(1),)"])
@pytest.mark.parametrize(
    "code",
    [
        "xp.sum(a, axis={})",
        "a.mean({})",
        "xp.std(a, axis={})",
        "xp.any(a, {})",
        "xp.nanmax(a, axis={})",
        "xp.count_nonzero(a, axis={})",
        "xp.ptp(a, axis={})",
        "xp.add.reduce(a, {})",
        "xp.add.accumulate(a, {})",
        "xp.add.reduceat(a, [0], {})",
        "a.argmax({})",
        "a.argsort({})",
        "xp.cumsum(a, {})",
        "a.take([0], {})",
        "a.repeat(2, {})",
        "xp.compress([1], a, {})",
        "xp.concatenate([a, a], {})",
        "a[:, :1].squeeze({})",
    ],
)
def test_axes_are_no_lists_and_no_booleans(xp, code, axis):
    assert_like_numpy(xp, "a = xp.arange(6.0).reshape(2, 3); " + code.format(axis))


@pytest.mark.parametrize("keepdims", ["None", "'yes'", "1.0", "[]", "2", "np.int64(1)", "np.bool_(True)", "np.array(True)"])
@pytest.mark.parametrize(
    "code",
    [
        "a.sum({})",
        "xp.max(a, {})",
        "xp.var(a, {})",
        "xp.all(a, {})",
        "xp.ptp(a, {})",
        "xp.nanmean(a, {})",
        "xp.average(a, {})",
        "xp.argmax(a, {})",
        "a.argmin({})",
        "xp.count_nonzero(a, {})",
        "xp.median(a, {})",
        "xp.linalg.norm(a, {})",
        "xp.linalg.vector_norm(a, {})",
    ],
)
def test_keepdims_is_an_integer_or_a_truth_as_numpy_asks(xp, code, keepdims):
    assert_like_numpy(xp, "a = xp.arange(6.0).reshape(2, 3); " + code.format(f"keepdims={keepdims}"))


@pytest.mark.parametrize("order", ["'A'", "'K'", "'k'", "'f'", "None", "'FC'", "1"])
@pytest.mark.parametrize("code", ["xp.zeros((2, 2), order={})", "xp.ones(3, order={})", "xp.full(3, 1, order={})", "xp.eye(3, order={})"])
def test_arrays_like_no_other_have_one_of_two_orders(xp, code, order):
    assert_like_numpy(xp, code.format(order))


@pytest.mark.parametrize(
    "code",
    [
        "xp.select([[True, False]], [xp.array([1, 2], 'i1')], default=300)",
        "xp.select([[True, False], [True, True]], [xp.array([1, 2], 'i1'), 300], default=-200)",
        "xp.choose([0, 1], [xp.ones(2, 'u1'), -1])",
        "xp.choose([0, 1], [300, xp.ones(2, 'i1')])",
        "xp.choose([0, 1], [xp.ones(2, 'u1'), 2**70])",
        "xp.pad(xp.arange(4, dtype='u1'), 1, constant_values=300)",
        "xp.pad(xp.arange(4, dtype='u1'), 1, constant_values=(300, -1))",
        "xp.pad(xp.arange(4, dtype='u1').reshape(2, 2), 1, constant_values=((300, 1), (2, 3)))",
        "a = xp.arange(4, dtype='u1'); xp.add.at(a, [0, 0], 300); a",
        "a = xp.arange(4, dtype='u1'); xp.maximum.at(a, [0], -1); a",
        "a = xp.arange(4, dtype='i4'); xp.subtract.at(a, [0, 0], 2**40); a",
        "xp.zeros(4).reshape(2**63, 2)",
        "xp.zeros(4).reshape(-(2**64), 2)",
        "xp.cov(xp.arange(6.0).reshape(2, 3), bias=None)",
        "xp.cov(xp.arange(6.0).reshape(2, 3), bias='')",
        "xp.cov(xp.arange(6.0).reshape(2, 3), bias=None, aweights=[1, 2, 3.0])",
        "xp.nan_to_num([1.0, np.nan], copy=False)",
        "xp.nan_to_num(xp.broadcast_to(xp.array([1.0, np.nan]), (2, 2)))",
        "a = np.array([1.0, np.nan]); xp.nan_to_num(a, copy=None)",
        "xp.linalg.norm(xp.ones((2, 3)), axis=[0, 1])",
        "xp.linalg.vector_norm(xp.ones((2, 3)), axis=[0, 1])",
        "xp.packbits(xp.ones((2, 8), bool), axis=True)",
        "xp.nancumsum(xp.ones((2, 3)), axis=True)",
    ],
)
def test_numbers_that_numpy_casts_and_arguments_that_it_refuses(xp, code):
    assert_like_numpy(xp, code)


def test_replacing_nan_in_place_changes_numpys_array(device):
    if device != "cpu":
        pytest.skip("a GPU does not share memory with NumPy")
    a = np.array([1.0, np.nan])
    bc.nan_to_num(a, copy=False)
    assert_array_equal(a, [1.0, 0.0])


@pytest.mark.parametrize("dtype", [">i2", ">u4", ">f4", ">c8", ">f8"])
def test_numbers_of_the_other_byte_order_are_converted_where_they_are_read(xp, dtype, tmp_path):
    values = np.arange(-3, 5).astype(dtype)
    (tmp_path / "numbers").write_bytes(values.tobytes())
    for ours in (
        xp.frombuffer(values.tobytes(), dtype=dtype),
        xp.frombuffer(values.tobytes(), dtype=np.dtype(dtype), count=8),
        xp.fromfile(tmp_path / "numbers", dtype=dtype),
        xp.asarray(values),
    ):
        assert_array_equal(bc.asnumpy(ours), values)
        assert ours.dtype == values.dtype.newbyteorder("=")
    if xp is not np:
        with pytest.raises(TypeError, match="byte order"):
            xp.zeros(3, dtype)


@pytest.mark.parametrize("dtype", ["f4", "c8", "f8", "c16"])
@pytest.mark.parametrize("n", [2, 3, 7])
def test_pseudo_inverses_of_singular_matrices_keep_no_rounding_errors(xp, dtype, n):
    found = xp.linalg.pinv(xp.ones((n, n), dtype))
    np.testing.assert_allclose(bc.asnumpy(found), np.full((n, n), 1 / n**2), rtol=1e-5)


@pytest.mark.parametrize("where", ["False", "np.array(False)", "[False, False]", "[False, True]", "True"])
@pytest.mark.parametrize("out", ["v", "xp.ones(2)"])
def test_a_negative_exponent_that_is_not_used_is_no_error(xp, where, out):
    where = f"xp.asarray({where})" if "[" in where or "(" in where else where
    assert_like_numpy(xp, f"v = xp.array([1, 2]); xp.power(v, -1, out={out}, where={where})")


@pytest.mark.parametrize("initial", ["2**40", "-1", "3"])
@pytest.mark.parametrize("out", ["u4", "i8", "u1", "f4"])
@pytest.mark.parametrize("name", ["sum", "prod"])
def test_an_initial_number_fits_the_outputs_dtype(xp, name, out, initial):
    assert_like_numpy(xp, f"xp.{name}(xp.array([1, 2], 'u4'), initial={initial}, out=xp.zeros((), '{out}'))")


def test_a_range_ends_at_a_number(xp):
    for code in ("xp.arange(xp.array([2.5]))", "xp.arange(xp.array(2.5))", "xp.arange(0, xp.array([[3]]))", "xp.arange(np.array([3]))"):
        assert_like_numpy(xp, code)


@pytest.mark.parametrize(
    "key",
    [
        (slice(0.0, None), 0.0),
        (slice(0, 0.5), 0.0, 0, 0),
        (slice(0.0, None), 0, 0, 0),
        (slice(0.0, None), "x"),
        (slice(0.0, None), 0),
        (slice(0.0, None), [0, 1]),
        slice(0.0, None),
    ],
)
def test_items_that_are_no_index_are_named_before_ends_of_slices(xp, key):
    want, got = both(xp, lambda m: m.zeros((4, 4))[key])
    assert got == want
    want, got = both(xp, lambda m: m.zeros((4, 4)).__setitem__(key, 1))
    assert got == want


@pytest.mark.parametrize("shape", [(-2, 8), (2, -3), (-1, -2), (-2, -8), (-7,), (-2, 5)])
def test_any_negative_extent_is_the_unknown_one(xp, shape):
    want, got = both(xp, lambda m: m.arange(16).reshape(shape))
    assert got == want


@pytest.mark.parametrize("value", [-1, 300, 1.5, 7])
@pytest.mark.parametrize("key", [1, slice(0, 2), [0, 1], Ellipsis])
def test_flat_refuses_numbers_beyond_the_dtype_as_numpy(xp, key, value):
    def store(m):
        a = m.zeros((2, 3), "uint8")
        a.flat[key] = value
        return a

    want, got = both(xp, store)
    assert got == want


@pytest.mark.parametrize("name", ["trapezoid", "nanargmax", "nanargmin", "unwrap", "argmax", "cumsum", "sum"])
def test_true_is_no_axis(xp, name):
    want, got = both(xp, lambda m: getattr(m, name)(m.ones((2, 3)), axis=True))
    assert got is want is TypeError


@pytest.mark.parametrize("name", ["vecdot", "append"])
def test_true_is_no_axis_of_two_operands(xp, name):
    want, got = both(xp, lambda m: getattr(m, name)(m.ones((2, 3)), m.ones((2, 3)), axis=True))
    assert got is want is TypeError


@pytest.mark.parametrize("n", [2**40, 2**62])
def test_identity_matrices_beyond_all_memory_are_refused(xp, n):
    for name in ("eye", "identity"):
        want, got = both(xp, lambda m, name=name: getattr(m, name)(n))
        assert got is want is ValueError


@pytest.mark.parametrize("key", ["[:]", "[::3]", "[1:0]", "[[5, -2, 0]]", "[::-2]", "[np.array([True, False] * 3)]", ""])
@pytest.mark.parametrize("value", ["[7, 8]", "[[7], [8], [9]]", "[]", "np.arange(20.0)", "(True,)", "range(3)", "xp.arange(4)[::-1]"])
@pytest.mark.parametrize("make", ["xp.arange(6)", "xp.arange(6.0).reshape(2, 3).T", "xp.zeros((3, 2), 'c8')[::-1]"])
def test_flat_repeats_values_until_all_are_written(xp, make, key, value):
    assert_like_numpy(xp, f"a = {make}; a.flat{key} = {value}; a")


@pytest.mark.parametrize("out", ["3", "(2, 3)", "(1, 3)", "(0, 3)", "()"])
@pytest.mark.parametrize("options", ["dtype='i8'", "dtype='i8', axis=0", "dtype='i4', axis=0, keepdims=True"])
@pytest.mark.parametrize("name", ["mean", "var", "std"])
def test_outputs_of_moments_in_integers_have_the_results_shape(xp, name, options, out):
    assert_like_numpy(xp, f"o = xp.zeros({out}); xp.{name}(xp.arange(6).reshape(2, 3), {options}, out=o)")


@pytest.mark.parametrize("dtype", ["i8", "u1", "?", "f4", "c8"])
@pytest.mark.parametrize("options", ["", ", axis=0", ", dtype='f4'"])
def test_a_standard_deviation_is_not_written_to_integers(xp, dtype, options):
    shape = 3 if "axis" in options else "()"
    assert_like_numpy(xp, f"xp.std(xp.arange(6.0).reshape(2, 3){options}, out=xp.zeros({shape}, {dtype!r})).dtype.char")


@pytest.mark.parametrize(
    "code",
    [
        "xp.trapezoid((1.5, 2), x=xp.array([[1], [3], [8]]))",
        "xp.trapezoid([1.0, 2, 4], x=xp.arange(6.0).reshape(2, 3) ** 2)",
        "xp.trapezoid([1.0, 2, 4], x=xp.arange(6.0).reshape(2, 3) ** 2, axis=0)",
        "xp.broadcast_arrays(xp.ones(2), 1, subok=True)[1] + 0",  # NumPy's is writable still, and warns of that
        "xp.broadcast_arrays(xp.ones(2), 1, subclass=True)",
        "xp.linspace(xp.ones(2, 'c8'), 0, retstep=True)[1].dtype.char",
        "xp.linspace(np.float32(1), 3, 3, retstep=True)[1].dtype.char",
        "xp.fft.irfft2(xp.ones((2, 3), 'f2')).dtype.char",
        "xp.fft.irfftn(xp.ones((2, 3), 'f2'), axes=[1]).dtype.char",
        "xp.linalg.multi_dot([xp.eye(2), xp.eye(2)], out=xp.ones((3, 2, 2)))",
        "xp.linalg.multi_dot([xp.eye(2), xp.eye(2)], out=xp.ones((2, 2), 'f4'))",
        "xp.linalg.multi_dot([xp.eye(2), xp.eye(2)], out=xp.ones((2, 2)))",
    ],
)
def test_rare_arguments(xp, code):
    assert_like_numpy(xp, code)


@pytest.mark.parametrize(
    "make",
    [range, lambda n: array.array("d", range(n)), lambda n: collections.deque(range(n)), bytearray],
    ids=["range", "array", "deque", "bytearray"],
)
@pytest.mark.parametrize("op", ["add", "gt", "sub", "matmul"])
def test_any_sequence_is_an_operand(xp, make, op):
    other = make(3)
    want, got = both(xp, lambda m: getattr(operator, op)(m.arange(3.0) + 1, other))
    assert got == want


def test_gcd_of_one_element(xp):
    for values in ([-3], [-3, 6], [0], [-3, 0]):
        for name in ("gcd", "lcm"):
            want, got = both(xp, lambda m, v=values, n=name: getattr(m, n).reduce(m.array(v)))
            assert got == want, (name, values)
            want, got = both(xp, lambda m, v=values, n=name: getattr(m, n).accumulate(m.array(v)))
            assert got == want, (name, values)
    want, got = both(xp, lambda m: m.gcd.reduceat(m.array([-3, 6, -2]), [0, 1]))
    assert got == want


def test_results_of_choose_are_in_c_order(xp):
    columns = np.asfortranarray(np.arange(6).reshape(3, 2))
    for indices, more in (([1, 0], [2]), ([[1, 0]], [2]), (1, [2]), ([0, 0], [])):
        want, got = both(xp, lambda m, i=indices, x=more: m.choose(i, [m.asarray(columns), *x]))
        assert got == want, (indices, more)


def test_powers_into_no_elements_look_at_no_exponent(xp):
    want, got = both(xp, lambda m: m.power(m.array([-2]), m.array([-2]), out=m.array([1])[:0]))
    assert got == want


LOSING_CALLS = """
m.add.reduce(c, dtype="f4")|m.multiply.accumulate(c, dtype="f8")|m.add.reduceat(c, [0, 1], dtype="f8")|m.add.accumulate(c, out=m.zeros(3))
m.add.at(m.zeros(3), [0], c[:1])|m.nansum(c, dtype="f8")|m.nanprod(c, out=m.zeros(()))|m.nanmean(c, dtype="f4")|m.nanvar(c, dtype="f8")
m.nancumsum(c, dtype="f8")|m.nancumprod(c, dtype="f8")|m.var(c, dtype="f8")|c.std(dtype="f4")|m.trace(m.diag(c), dtype="f8")
m.diag(c).trace(dtype="f8")|m.einsum("i,i->", c, c, dtype="f8", casting="unsafe")|m.put(m.zeros(3), [0], c)|m.insert(m.zeros(3), 0, c)
m.fill_diagonal(m.zeros((3, 3)), c)|m.put_along_axis(m.zeros(3), m.array([0, 1]), c[:2], 0)|m.linspace(0, c[0], 3, dtype=float)
m.array([c, c], dtype="f8")|m.take(c, [0], out=m.zeros(1))|m.clip(c, 0, 1, out=m.zeros(3), casting="unsafe")
"""


@pytest.mark.parametrize("call", LOSING_CALLS.replace("\n", "|").strip("|").split("|"))
def test_lost_imaginary_parts_warn(xp, call):
    for m in (np, xp):
        with pytest.warns(ComplexWarning, match="discards the imaginary part"):
            eval(call, {"m": m, "c": m.array([1 + 2j, -1j, 0])})


@pytest.mark.parametrize(
    "call",
    ["m.logical_or.reduce(c, out=m.zeros(()))", "m.add.reduce(c, dtype=bool)", "m.std(c, out=m.zeros(()))", "m.nanvar(c, out=m.zeros(()))"],
)
def test_calls_that_lose_nothing_do_not_warn(xp, call):
    for m in (np, xp):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            eval(call, {"m": m, "c": m.array([1 + 2j, -1j, 0])})
