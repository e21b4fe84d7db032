"""Elements of computed arrays: numbers that are computed at once, without arrays behind them."""

from __future__ import annotations

import operator
import warnings

import numpy as np
import pytest

import broadcloth as bc
from broadcloth import run

DTYPES = ["bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32", "float64", "complex128"]
BINARY = [
    operator.add, operator.sub, operator.mul, operator.truediv, operator.floordiv, operator.mod, operator.lt, operator.le, operator.eq,
    operator.ne, operator.gt, operator.ge, operator.and_, operator.or_, operator.xor, operator.pow,
]  # fmt: skip
UNARY = [operator.neg, operator.pos, abs, operator.invert, np.sqrt, np.exp, np.sin, np.isnan, np.sign, np.square]
VALUES = [3, 5, 0, 1, 7]


def element(dtype, k):
    """One element of a computed array, and the array without axes that recording has in its place."""
    a = bc.array(np.array(VALUES).astype(dtype))
    return a[k], bc.array(np.array(VALUES).astype(dtype)[k])


def outcome(call):
    try:
        with np.errstate(all="ignore"):
            made = call()
    except Exception as error:
        return type(error), str(error)
    host = made.get() if isinstance(made, bc.ndarray) else np.asarray(made)
    return host.dtype, host.shape, host.tobytes()


@pytest.mark.parametrize("left", DTYPES)
@pytest.mark.parametrize("op", BINARY, ids=lambda op: op.__name__)
def test_operators_give_the_dtypes_and_bits_of_recorded_ones(op, left):
    for right in DTYPES:
        for i, j in ((0, 1), (1, 2), (3, 4)):
            (x, x0), (y, y0) = element(left, i), element(right, j)
            assert outcome(lambda x=x, y=y: op(x, y)) == outcome(lambda x0=x0, y0=y0: op(x0, y0)), (left, right, i, j)
    for number in (2, -1, 0, 0.5, 3.0, -2, 300, 2**40, 2**63, 2**70, float("nan"), True, 1j):
        for k in range(len(VALUES)):
            x, x0 = element(left, k)
            assert outcome(lambda x=x, n=number: op(x, n)) == outcome(lambda x0=x0, n=number: op(x0, n)), (left, number)
            assert outcome(lambda x=x, n=number: op(n, x)) == outcome(lambda x0=x0, n=number: op(n, x0)), (number, left)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("op", UNARY, ids=lambda op: op.__name__)
def test_unary_operators_and_ufuncs(op, dtype):
    function = getattr(bc, op.__name__, op) if isinstance(op, np.ufunc) else op
    for k in range(len(VALUES)):
        x, x0 = element(dtype, k)
        assert outcome(lambda x=x: function(x)) == outcome(lambda x0=x0: function(x0))


def test_integers_wrap_around_and_floats_have_special_values():
    a = bc.array([2**63 - 1, -(2**63)])
    assert int(a[0] + 1) == -(2**63) and int(a[1] - a[0]) == 1 and int(a[1] * -1) == -(2**63)
    f = bc.array([np.inf, -0.0, np.nan])
    assert np.isnan(float(f[0] - f[0])) and np.signbit(float(f[1] * 1)) and not f[2] == f[2] and bool(f[2] != f[2])


def test_an_element_keeps_its_value_when_the_array_is_written():
    a = bc.arange(5.0)
    a.get()
    x = a[2]
    a[2] = 9
    a += 1
    assert float(x) == 2 and float(a[2]) == 10


def test_in_place_operators_make_new_numbers():
    a = bc.arange(3.0)
    a.get()
    x = y = a[1]
    x += 5
    assert (float(x), float(y), float(a[1])) == (6, 1, 1)


def test_an_element_is_an_array_without_axes():
    a = bc.arange(6, dtype="int32").reshape(2, 3)
    a.get()
    x = a[1, 2]
    assert type(x) is bc.ndarray and x.shape == () and x.dtype == np.int32 and x.ndim == 0 and x.size == 1 and x.device == a.device
    assert repr(x) == "array(5, dtype=int32)" and str(x) == "5" and f"{x:3d}" == "  5" and x.tolist() == 5 and x.item() == 5
    assert (x.reshape(1) + 1).tolist() == [6] and bc.stack([x, x]).tolist() == [5, 5] and (a + x)[0].tolist() == [5, 6, 7]
    x[...] = 8
    assert int(x) == 8 and int(x + 1) == 9 and int(a[1, 2]) == 5


@pytest.mark.parametrize("to", DTYPES)
def test_stores_of_elements_cast_as_stores_of_arrays_do(to):
    for dtype in DTYPES:
        for k in range(len(VALUES)):
            x, x0 = element(dtype, k)

            def store(value, to=to):
                a = bc.zeros(3, to)
                a.get()
                a[1] = value
                return a

            with warnings.catch_warnings():
                warnings.simplefilter("ignore", np.exceptions.ComplexWarning)
                assert outcome(lambda x=x, store=store: store(x)) == outcome(lambda x0=x0, store=store: store(x0)), (dtype, to)


def test_pending_writes_come_before_reads_and_stores():
    a = bc.arange(4.0)
    b = a * 2  # waits
    a[0] = a[3] * 0.5
    assert b.tolist() == [0, 2, 4, 6] and a.tolist() == [1.5, 1, 2, 3]
    view = a[::2]
    a[2] = view[0] + 1
    assert view.tolist() == [1.5, 2.5]


def test_integer_elements_index_as_python_integers():
    a = bc.zeros((3, 2), device="cpu")
    places = bc.array([2, 0], device="cpu")
    places.get()
    row = a[places[0]]
    row[...] = 1  # a view, as with NumPy's scalars
    a[places[1], 1] = 5
    assert a.tolist() == [[0, 5], [0, 0], [1, 1]]
    k = places[0]
    assert k.dtype == np.int64  # which makes its array
    a[k][0] = 7
    assert a.tolist() == [[0, 5], [0, 0], [7, 1]]
    assert [10, 11, 12][places[0]] == 12 and list(range(places[0])) == [0, 1]
    with pytest.raises(IndexError, match="index 2 is out of bounds for axis 0 with size 2"):
        a[0][places[0]]


def test_integers_that_wait_index_as_those_that_are_computed():
    x = bc.array([1.0, 5.0, 2.0], device="cpu")
    a = bc.zeros((3, 2), device="cpu")
    row = a[(x * 2).argmax()]
    row[...] = 1  # a view
    places = bc.array([2, 0], device="cpu") * 1
    a[places[0]][1] = 5
    assert a.tolist() == [[0, 0], [1, 1], [0, 5]]
    with pytest.raises(IndexError):
        a[bc.array([2**63], dtype="uint64", device="cpu")[0]]


def test_truth_conversions_and_iteration():
    a = bc.array([0.0, 2.5, -1.0])
    a.get()
    assert [bool(x) for x in a] == [False, True, True] and [float(x) for x in a] == [0, 2.5, -1] and int(a[1]) == 2
    assert max(a).item() == 2.5 and sorted(a)[0].item() == -1 and float(sum(a)) == 1.5
    with pytest.raises(TypeError, match="only integer scalar arrays"):
        range(a[1])
    z = bc.array([1 + 2j])
    z.get()
    assert complex(z[0]) == 1 + 2j and bool(z[0])


def test_elements_of_arrays_with_derivatives_remember_them():
    a = bc.arange(3.0)
    a.requires_grad = True
    y = a[1] * a[2] + a[0]
    y.backward()
    assert a.grad.tolist() == [1, 2, 1]
    x = bc.arange(3.0)[1]
    x.requires_grad = True
    (x * x * 3).backward()
    assert float(x.grad) == 6


def test_many_threads_ask_one_element_for_its_array():
    from concurrent.futures import ThreadPoolExecutor

    a = bc.arange(100.0)
    a.get()
    with ThreadPoolExecutor(4) as pool:
        for k in range(100):
            x = a[k]
            assert [float(v) for v in pool.map(lambda _, x=x: (x.reshape(1) + 1)[0], range(4))] == [k + 1] * 4


@pytest.mark.parametrize("dtype", ["bool", "int8", "int32", "float16", "float64", "complex128"])
def test_small_rows_are_stored_in_program_order(dtype):
    base = np.arange(24).reshape(4, 6).astype(dtype)
    row = (np.arange(6) % 4).astype(dtype)
    for key in (1, (2, slice(None)), (slice(None), 3), (slice(None, None, -2), 1), (0, slice(1, 5, 2)), (3, slice(0, 0))):
        for n in (0, 1, 2, 3, 4, 6):
            for value in (row[:n], row[::-1][:n]):
                a, host = bc.array(base), base.copy()
                a.get()
                theirs = outcome(lambda host=host, key=key, value=value: operator.setitem(host, key, value))
                ours = bc.array(value)
                ours.get()
                if isinstance(theirs[0], type):
                    with pytest.raises(theirs[0]):
                        a[key] = ours
                    continue
                before, view = a * 1, a[1]  # what waits reads the old values, what is a view sees the new ones
                a[key] = ours
                np.testing.assert_array_equal(a.get(), host)
                np.testing.assert_array_equal(before.get(), base)
                np.testing.assert_array_equal(view.get(), host[1])
                a[key] = ours
                ours[...] = 1
                np.testing.assert_array_equal(a.get(), host)


def test_rows_of_one_array_are_moved_as_if_copied():
    a = bc.arange(12.0).reshape(3, 4)
    a.get()
    a[1] = a[0]
    a[2, 1:] = a[2, :-1]
    a[:, 0] = a[0, :3]
    assert a.tolist() == [[0, 1, 2, 3], [1, 1, 2, 3], [2, 8, 9, 10]]


def test_loops_over_elements_of_arrays_that_wait_give_what_numpy_gives():
    # After a few nodes for single elements the array is computed: neither values nor what others see of it may change.
    def program(xp):
        a = xp.arange(40.0) * 0.5
        b, view, total = a + 1, a[3:9], 0.0
        for k in range(30):
            a[k] = a[k + 1] * 0.5
        before = a * 2
        for k in range(12):
            a[k] += k
            total = total + a[k]
        c = xp.zeros((5, 4))
        for k in range(20):
            c[k % 5, k % 4] = k
        for k in range(4):
            c[k, :] = a[k : k + 4]
            c[:, k] = c[k + 1, 0]
        d = xp.ones(30, dtype=xp.int32)
        seen = [d[k] + d[-1] for k in range(20)]
        for x in xp.arange(12) + 1:
            total = total + x
        return [a, b, view, before, c, d, total, *seen]

    for ours, theirs in zip(program(bc), program(np)):
        host = np.asarray(ours)
        assert host.dtype == np.asarray(theirs).dtype
        np.testing.assert_array_equal(host, theirs)


def test_sums_that_are_computed_by_now_are_elements_too():
    a = bc.arange(6.0)
    for pending in (False, True):
        total = a.sum()
        if not pending:
            assert float(total) == 15
        seen = total + a[2], a[1] * total, total > a[3]
        assert [x.item() for x in seen] == [17, 15, True]
        assert all(isinstance(x, bc.ndarray) and x.shape == () for x in seen)
        kept = total
        total += a[1]
        assert float(kept) == 15 and float(total) == 16


@pytest.mark.parametrize("start", ["sum", "var", "max"])
def test_loops_that_compute_with_numbers_compute_a_waiting_sum_once(start):
    numbers = np.random.default_rng(2).normal(size=3000)
    factors = numbers[:40].tolist()

    def loop(xp):
        s = getattr(xp.asarray(numbers), start)()
        total = 0.0
        for x in factors:
            total += xp.sqrt(abs(s)) + x * x / s
            s = 0.5 + 0.1 * x + 0.8 * s
        return s, total

    got = loop(bc)
    with bc.profiler.record() as seen:
        bc.synchronize()
    assert not seen.kernels  # nothing of the loop waits on the tape
    np.testing.assert_allclose([float(v) for v in got], loop(np), rtol=1e-12)


def test_numbers_with_derivatives_are_recorded_in_chains():
    w = bc.array([1.5, 2.0])
    w.requires_grad = True
    s = w.sum()
    for _ in range(9):
        s = 0.5 * s + w[0]
    s.backward()
    np.testing.assert_allclose(bc.asarray(w.grad).get(), [0.5**9 + sum(0.5**k for k in range(9)), 0.5**9])


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", ["argmax", "argmin", "max", "min", "any", "all", "count_nonzero", "sum", "mean"])
def test_reductions_of_few_elements_are_those_of_recorded_ones(name, dtype):
    lists = [[3, 1, 2, 3], [0], [0, 0, 0], [5, 5], [0, 7, 0, 1, 7]]
    if np.dtype(dtype).kind in "fc":
        lists += [[1, np.nan, 3, np.nan], [0.0, -0.0], [-0.0, 0.0], [np.inf, -np.inf], [-0.0]]
    if np.dtype(dtype).kind == "i":
        lists += [[-4, 3, -4]]
    for values in lists:
        host = np.array(values).astype(dtype)
        for step in (1, -1, 2):
            computed = bc.array(host)
            computed.get()
            waits = bc.array(host)[::step].copy() if step == 1 else bc.stack([bc.array(host), bc.array(host)])[1, ::step]
            function = getattr(bc, name)
            expected = outcome(lambda f=function, x=waits: f(x))
            assert outcome(lambda f=function, x=computed[::step]: f(x)) == expected, (values, step)
            assert expected[0] == np.asarray(getattr(np, name)(host[::step])).dtype
            if name != "count_nonzero":
                method = operator.methodcaller(name)
                assert outcome(lambda m=method, x=computed[::step]: m(x)) == expected
    x = bc.array(np.array([1, 2, 3]).astype(dtype))
    x.get()
    made = getattr(bc, name)(x)
    assert isinstance(made, bc.ndarray) and made.shape == () and made.flags.writeable is not None
    kept = made
    made += 1
    assert outcome(lambda: kept) == outcome(lambda: getattr(bc, name)(x))


def test_flags_of_elements():
    a = bc.arange(3.0)
    a.get()
    x = a[1]
    x.setflags(write=True)
    assert float(x) == 1


@pytest.mark.parametrize(
    "left, right", [("int64", "float64"), ("float64", "int64"), ("bool", "float64"), ("int16", "float32"), ("float32", "float64")]
)
def test_small_products_of_two_types(left, right):
    rng = np.random.default_rng(0)
    a, b = rng.integers(-4, 5, (5, 7)).astype(left), rng.integers(-4, 5, (7, 3)).astype(right)
    pairs = [(a, b), (a[::2], b[:, ::-1]), (b.T, a.T), (a[0], b), (a, b[:, 1]), (a[:, ::3], b[::3]), (a[:, :1], b[:1])]
    for x, y in pairs:
        for wait in (False, True):
            ours = []
            for host in (x, y):
                base = bc.array(np.ascontiguousarray(host.base if host.base is not None else host))
                if not wait:
                    base.get()
                made = bc.array(host)
                if not wait:
                    made.get()
                ours.append(made)
            product = ours[0] @ ours[1]
            assert product.dtype == (x @ y).dtype
            np.testing.assert_array_equal(product.get(), x @ y)
    f = bc.array(np.asfortranarray(a))
    f.get()
    np.testing.assert_array_equal((f.T @ f).get(), a.T.astype(f.dtype) @ a)


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_whole_powers_of_complex_numbers_are_numpys(dtype):
    rng = np.random.default_rng(1)
    host = (rng.standard_normal(50) + 1j * rng.standard_normal(50)).astype(dtype)
    for exponent in [*range(-3, 18), 3.0, 5.0, 2.5]:
        with np.errstate(all="ignore"):
            theirs = host**exponent
            a = bc.array(host)
            made = a**exponent
            np.testing.assert_allclose(made.get(), theirs, rtol=60 * np.finfo(dtype).eps, err_msg=str(exponent))
            assert made.dtype == theirs.dtype
            np.testing.assert_allclose(complex(a[3] ** exponent), theirs[3], rtol=60 * np.finfo(dtype).eps)
            a **= exponent
            np.testing.assert_array_equal(a.get(), made.get())


def test_iterators_see_what_is_written_meanwhile():
    """Elements are read ahead of their use, but never behind a write: to the array, a view, NumPy's view of it, or by resize."""

    def walk(xp, write):
        x = xp.arange(40.0)
        seen = []
        for k, v in enumerate(x):
            seen.append(float(v))
            x = write(xp, x, k) if k in (2, 5, 6, 20) else x
        return seen

    def in_place(xp, x, k):
        x += 1
        x += 1
        return x

    def element(xp, x, k):
        x[k + 1] = -1.0
        return x

    def of_view(xp, x, k):
        x[::2][k // 2 + 1 :] = 7.0
        return x

    def masked(xp, x, k):
        x[x > 30] = 0.0
        return x

    def sorted_down(xp, x, k):
        x[:] = x[::-1].copy()
        return x

    for write in (in_place, element, of_view, masked, sorted_down):
        assert walk(bc, write) == walk(np, write), write.__name__

    x = bc.arange(40.0)
    seen, host = [], None
    for k, v in enumerate(x):
        seen.append(float(v))
        if k == 3:
            host = np.asarray(x, copy=False) if x.device.type == "cpu" else None
        if host is not None and k < 39:
            host[k + 1] = 100.0 + k
    if host is not None:
        assert seen == [0.0, 1.0, 2.0, 3.0, *(100.0 + k for k in range(3, 39))]

    x = bc.arange(20)
    for k, v in enumerate(x):
        if k == 4:
            x.dtype = np.float64
        if k > 4:
            assert v.dtype == np.float64
    assert [int(v) for v in bc.arange(100)[::-3]] == list(range(99, -1, -3))
    flags = bc.arange(40) % 3 == 0
    assert [bool(v) for v in flags] == [k % 3 == 0 for k in range(40)]
    assert [complex(v) for v in bc.arange(20) * 1j] == [k * 1j for k in range(20)]


@pytest.mark.parametrize("dtype", ["float64", "int64"])
@pytest.mark.parametrize("program", [False, True], ids=["package", "program"])
def test_elements_of_vectors_are_read_and_stored_by_pythons_integers(dtype, program):
    if program:
        run.enable(run.Owner(()))
    try:
        base, theirs = bc.arange(12).astype(dtype), np.arange(12).astype(dtype)
        float(base.sum())
        for view in (np.s_[:], np.s_[2:], np.s_[::-1], np.s_[1:9:3], np.s_[:0], np.s_[::-2]):
            x, y = base[view], theirs[view]
            for at in (0, -1, 1, 2, 11, -12, 12, -13, 2**70):
                for value in (3, 2.5, np.float64(4.5), np.int64(6), np.dtype(dtype).type(7), y.sum(), bc.arange(9).astype(dtype)[8]):
                    stored_as_numpy(x, y, at, value)
        copy = base.copy()
        copy[3] = np.dtype(dtype).type(100)
        assert base[3] == theirs[3] and copy[3] == 100
        base.flags.writeable = False
        with pytest.raises(ValueError, match="read-only"):
            base[0] = np.dtype(dtype).type(1)
    finally:
        if program:
            run.disable()


def stored_as_numpy(x, y, at, value):
    """Stores and reads an element of both: both raise the same, or hold the same."""
    errors = []
    for a, v in ((x, value), (y, np.asarray(value)[()] if isinstance(value, bc.ndarray) else value)):
        try:
            a[at] = v
            errors.append(None)
        except (IndexError, OverflowError, ValueError) as error:
            errors.append(type(error))
    assert errors[0] == errors[1], (at, value, errors)
    if errors[0] is None:
        assert x[at] == y[at] and np.asarray(x[at]).dtype == y.dtype
    np.testing.assert_array_equal(np.asarray(x), y)


@pytest.mark.parametrize("count", [50, 5000])
def test_elements_of_a_pending_copy_are_those_of_its_time(count):
    a = bc.arange(float(count))
    bc.synchronize()
    kept = a[::-1].copy()
    a[:] = 7
    assert float(kept[3]) == count - 4
    kept[3] = 0.5
    assert [float(x) for x in kept[2:5]] == [count - 3, 0.5, count - 5]
    assert float(a[3]) == 7
    if count == 50:
        fresh = a[1:].copy()
        assert float(fresh[0]) == 7
        with bc.profiler.record() as seen:
            bc.synchronize()
        assert not seen.kernels  # the look at one element has computed the copy


@pytest.mark.parametrize("dtype", ["int64", "float64"])
@pytest.mark.parametrize("name", ["sum", "prod"])
def test_sums_of_few_computed_elements_have_the_bits_of_kernels(name, dtype):
    for n in (1, 2, 7, 8, 33, 255, 256):
        a = bc.asarray((np.random.default_rng(n).random(n) * 3 + 0.5).astype(dtype))
        bc.synchronize()
        now = getattr(a, name)()
        with bc.profiler.record() as seen:
            by_kernel = getattr(a, name)()
            bc.synchronize()
        assert now.dtype == by_kernel.dtype and now.get().tobytes() == by_kernel.get().tobytes()
        assert seen.kernels
