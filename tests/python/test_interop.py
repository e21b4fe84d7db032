"""NumPy arrays in and out, DLPack, the buffer protocol, pickles and copies, NumPy's functions on our arrays."""

from __future__ import annotations

import copy
import gc
import hashlib
import io
import json
import math
import pickle
import random
import statistics
import struct
import textwrap
import warnings
from datetime import timedelta
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

import broadcloth as bc
from support import DTYPES, assert_same, base_values, run_python

cpu_only = pytest.mark.parametrize("device", ["cpu"], indirect=True)


@pytest.mark.parametrize("dtype", DTYPES)
def test_numpy_in_and_out(xp, dtype):
    n = base_values(dtype)
    x = xp.asarray(n)
    for back in (x.get(), xp.asnumpy(x), x.numpy(), np.array(x.get())):
        assert type(back) is np.ndarray
        assert_same(back, n)
    assert_same(x[::2, ::-1].get(), n[::2, ::-1])
    assert_same(xp.asarray(n[::2, ::-1]), n[::2, ::-1])
    out = np.zeros_like(n)
    assert x.get(out=out) is out
    assert_same(out, n)
    x.set(n[::-1])
    assert_same(x, n[::-1].copy())
    assert x.tobytes() == n[::-1].tobytes()


def test_numpy_scalars_and_zero_dimensional_arrays(xp):
    assert_same(xp.asarray(np.float32(2.5)), np.asarray(np.float32(2.5)))
    assert_same(xp.asarray(np.array(7)), np.array(7))


@cpu_only
def test_np_asarray_of_an_array_gives_its_elements(xp, device):
    x = xp.arange(6).reshape(2, 3) * 2
    assert_same(np.asarray(x), np.arange(6).reshape(2, 3) * 2)
    assert np.asarray(x, dtype=np.float32).dtype == np.float32
    assert_same(np.array(x, copy=True), np.arange(6).reshape(2, 3) * 2)


@cpu_only
def test_memoryview_shares_memory(xp, device):
    x = xp.arange(6.0).reshape(2, 3)
    view = memoryview(x)
    assert view.shape == (2, 3) and view.format == "d" and view.strides == (24, 8)
    n = np.frombuffer(view, float).reshape(2, 3)
    n[0, 0] = 42
    assert float(x[0, 0]) == 42
    x[1] = [7, 8, 9]
    assert n[1].tolist() == [7, 8, 9]
    assert_same(np.asarray(memoryview(x[::-1, ::2])), x.get()[::-1, ::2])


@cpu_only
def test_work_is_done_in_order_once_memory_is_visible(xp, device):
    """From then on an operation must not wait where the outside could see the difference."""
    x = xp.arange(4.0)
    n = np.asarray(memoryview(x))
    y = x * 10  # reads x as it is now
    n[0] = 100
    assert y.tolist() == [0, 10, 20, 30]
    x += 1
    assert n.tolist() == [101, 2, 3, 4]
    x[1:] = x[:-1]
    assert n.tolist() == [101, 101, 2, 3]


@cpu_only
def test_wrapping_numpy_memory_without_a_copy(xp, device):
    n = np.arange(5.0)
    x = xp.asarray(n, copy=False)
    n[0] = 9
    assert float(x[0]) == 9
    x *= 2
    assert n.tolist() == [18, 2, 4, 6, 8]
    y = x + 1
    n[1] = -1
    assert y.tolist() == [19, 3, 5, 7, 9]
    del n
    gc.collect()
    assert x.tolist() == [18, -1, 4, 6, 8]
    fixed = np.arange(3.0)
    fixed.flags.writeable = False
    z = xp.asarray(fixed, copy=False)
    with pytest.raises((ValueError, TypeError)):
        z[0] = 1
        z.get()
    assert fixed.tolist() == [0, 1, 2]


@pytest.mark.parametrize("dtype", ["int8", "int64", "float16", "float32", "float64", "complex64", "bool"])
def test_dlpack_with_numpy(xp, dtype):
    n = base_values(dtype)
    assert_same(xp.from_dlpack(n), n)
    x = xp.asarray(n)
    assert x.__dlpack_device__()[0] in (1, 2)
    if x.__dlpack_device__()[0] == 1:
        assert_same(np.from_dlpack(x), n)
        assert_same(np.from_dlpack(x[::2, ::-1]), n[::2, ::-1])
        shared = np.from_dlpack(x)
        x[0, 0] = 1
        assert shared[0, 0] == n.dtype.type(1)
    own = xp.from_dlpack(x)
    assert_same(own, x.get())


@cpu_only
def test_dlpack_shares_and_keeps_alive(xp, device):
    n = np.arange(4.0)
    x = xp.from_dlpack(n)
    n[0] = 5
    assert float(x[0]) == 5
    m = np.from_dlpack(xp.arange(4.0) * 3)
    gc.collect()
    assert m.tolist() == [0, 3, 6, 9]
    pending = xp.arange(3.0) + 1
    assert np.from_dlpack(pending).tolist() == [1, 2, 3]


def test_dlpack_with_torch(xp):
    torch = pytest.importorskip("torch")
    if xp.default_device().type == "cuda" and not torch.cuda.is_available():
        pytest.skip("torch has no GPU")
    x = xp.arange(6.0).reshape(2, 3)
    t = torch.from_dlpack(x)
    assert t.tolist() == x.tolist()
    t[0, 0] = 7
    assert float(x[0, 0]) == 7
    y = xp.from_dlpack(torch.arange(4, dtype=torch.bfloat16, device=t.device))
    assert y.dtype == xp.bfloat16 and y.astype(xp.float32).tolist() == [0, 1, 2, 3]


def test_cuda_array_interface(xp):
    x = xp.arange(4.0)
    if x.device.type == "cpu":
        assert not hasattr(x, "__cuda_array_interface__")
        return
    interface = x.__cuda_array_interface__
    assert interface["shape"] == (4,) and interface["typestr"] == "<f8" and interface["data"][0] == x.data.ptr

    class Foreign:
        __cuda_array_interface__ = interface

    y = xp.asarray(Foreign())
    y[0] = 9
    xp.synchronize()
    assert float(x[0]) == 9


@pytest.mark.parametrize("dtype", [*DTYPES, "bfloat16"])
def test_pickle(xp, dtype):
    x = xp.asarray(base_values("float32" if dtype == "bfloat16" else dtype)).astype(dtype)
    for protocol in (2, pickle.HIGHEST_PROTOCOL):
        for a in (x, x[::2, ::-1], x[:0], x[1, 1:2].reshape(())):
            b = pickle.loads(pickle.dumps(a, protocol))
            assert isinstance(b, xp.ndarray) and b.dtype == a.dtype and b.tobytes() == a.tobytes() and b.shape == a.shape


def test_copies_are_independent(xp):
    x = xp.arange(6.0).reshape(2, 3)
    for y in (x.copy(), copy.copy(x), copy.deepcopy(x), xp.copy(x), xp.array(x), +x, x.astype(float)):
        y[0, 0] = 99
        assert float(x[0, 0]) == 0
    assert_same(x.T.copy("F"), x.get().T)
    assert x.T.copy().flags.c_contiguous
    assert copy.deepcopy({"a": x})["a"].tolist() == x.tolist()


NUMPY_CALLS = {
    "sum": lambda a: np.sum(a, axis=0),
    "mean": lambda a: np.mean(a, axis=1, keepdims=True),
    "std": lambda a: np.std(a, ddof=1),
    "max": lambda a: np.max(a),
    "concatenate": lambda a: np.concatenate([a, a], axis=1),
    "stack": lambda a: np.stack((a, a)),
    "where": lambda a: np.where(a > 3, a, -a),
    "clip": lambda a: np.clip(a, 1, 4),
    "transpose": lambda a: np.transpose(a),
    "reshape": lambda a: np.reshape(a, (3, 2)),
    "dot": lambda a: np.dot(a, a.T),
    "matmul": lambda a: np.matmul(a, a.T),
    "linalg.norm": lambda a: np.linalg.norm(a),
    "zeros_like": lambda a: np.zeros_like(a),
    "full_like": lambda a: np.full_like(a, 3),
    "cumsum": lambda a: np.cumsum(a, axis=1),
    "diff": lambda a: np.diff(a, axis=0),
    "roll": lambda a: np.roll(a, 1),
    "flip": lambda a: np.flip(a, 0),
    "round": lambda a: np.round(a, 1),
    "tensordot": lambda a: np.tensordot(a, a.T, 1),
    "take": lambda a: np.take(a, [0, 2]),
    "argmax": lambda a: np.argmax(a, axis=1),
    "broadcast_to": lambda a: np.broadcast_to(a, (2, 2, 3)),
    "isclose": lambda a: np.isclose(a, a + 1e-12),
    "sin": lambda a: np.sin(a),
    "add.reduce": lambda a: np.add.reduce(a),
    "multiply.outer": lambda a: np.multiply.outer(a[0], a[1]),
    "maximum.accumulate": lambda a: np.maximum.accumulate(a, axis=1),
    "nansum": lambda a: np.nansum(a),
    "expand_dims": lambda a: np.expand_dims(a, 0),
    "tril": lambda a: np.tril(a),
    "like": lambda a: np.ones((2,), like=a),
    "array2string": lambda a: None,
}


@pytest.mark.parametrize("name", NUMPY_CALLS)
def test_numpy_functions_stay_on_the_device(xp, name):
    n = np.arange(6.0).reshape(2, 3)
    want, got = NUMPY_CALLS[name](n), NUMPY_CALLS[name](xp.asarray(n))
    if want is None:
        return
    assert isinstance(got, xp.ndarray), f"np.{name} gave {type(got)}"
    np.testing.assert_allclose(got.get(), want, rtol=1e-14)


def test_numpy_functions_with_plain_answers(xp):
    x = xp.arange(6.0).reshape(2, 3)
    assert np.shape(x) == (2, 3) and np.ndim(x) == 2 and np.size(x) == 6
    assert np.allclose(x, x + 1e-12) is True and np.array_equal(x, x) is True
    assert np.result_type(x.dtype, np.float32) == np.float64
    assert np.iscomplexobj(x) is False and np.may_share_memory(x, x[1:]) is True


def test_numpy_functions_that_are_missing_compute_on_a_host_copy(xp):
    x = xp.array([3.0, 1.0, 2.0])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", xp.exceptions.PerformanceWarning)
        made = np.emath.sqrt(x - 2)
        assert type(made) is np.ndarray and made.tolist() == [1, 1j, 0] and x.tolist() == [3, 1, 2]
        assert np.emath.logn(xp.array(2), [xp.array(4), xp.array(8)]).tolist() == [2, 3]
    with pytest.raises(AttributeError, match="numpy.emath"):
        xp.emath  # noqa: B018
    with pytest.raises(AttributeError):
        xp.no_such_name  # noqa: B018


def test_a_copy_from_the_gpu_for_numpy_is_warned_of(xp):
    x = xp.array([3.0, 1.0])
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        np.emath.sqrt(x)
    assert [w.category for w in seen] == ([xp.exceptions.PerformanceWarning] if x.device.type == "cuda" else [])
    assert all(w.filename == __file__ for w in seen)


def test_numpy_functions_write_into_numpy_arrays(xp):
    x, at = xp.array([1.0, 2.0]), xp.array([0, 2])
    made = np.zeros(3)
    np.put(made, at, x)
    assert made.tolist() == [1, 0, 2]
    np.add.at(made, at, x)
    assert made.tolist() == [2, 0, 4]
    np.copyto(made[:2], x)
    assert made.tolist() == [1, 2, 4]
    assert np.concatenate([x, x[:1]], out=made) is made and made.tolist() == [1, 2, 1]


def test_numpy_functions_with_objects_and_text_beside_arrays(xp):
    x, names = np.broadcast_arrays(xp.array([1.0, 2.0]), np.array(["a"]))
    assert type(x) is np.ndarray and x.tolist() == [1, 2] and names.tolist() == ["a", "a"]
    x, nothing = np.broadcast_arrays(xp.array([1.0, 2.0]), None)
    assert x.tolist() == [1, 2] and nothing.tolist() == [None, None]


def test_ufuncs_of_scipy_take_arrays(xp):
    special = pytest.importorskip("scipy.special")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", xp.exceptions.PerformanceWarning)
        on_host = special.itstruve0(xp.array([0.0, 1.0])), special.itmodstruve0(xp.array([0.0]))
    assert [type(made) for made in on_host] == [np.ndarray, np.ndarray] and on_host[0][0] == 0
    made = special.erf(xp.array([0.0, 10.0]))  # broadcloth.scipy.special has it
    assert type(made) is xp.ndarray and made.tolist() == [0, 1]


def test_elements_calculate_with_other_numbers(xp):
    half, three = xp.array(0.5), xp.array(3)
    assert timedelta(days=1) * half == half * timedelta(days=1) == timedelta(hours=12)
    assert timedelta(days=3) / three == timedelta(days=1)
    assert Fraction(1, 4) + half == 0.75 and half - Fraction(1, 4) == 0.25 and Fraction(1, 2) == half and bool(half == Fraction(1, 2))
    assert half.as_integer_ratio() == (1, 2) and not half.is_integer() and three.is_integer()
    with pytest.raises(TypeError):
        half + object()
    assert (xp.ones(2) * timedelta(1)).tolist() == [timedelta(1)] * 2
    with pytest.raises(TypeError, match="0-dimensional"):
        xp.ones(2).is_integer()


def test_one_host_copy_is_enough_where_python_asks_for_floats(xp):
    half, three = xp.array([0.5]).sum(), xp.arange(3).sum()
    for make in (Decimal, Fraction, lambda x: timedelta(seconds=x)):
        for x in (half, three):
            assert make(x.item()) == make(float(x)) == make(float(x.get()))
            try:
                made = make(x)
            except TypeError:  # Python takes floats and integers of its own alone
                continue
            assert made == make(x.item())


def test_elements_where_python_asks_for_numbers(xp):
    x, k = xp.array([0.5, 1.5]), xp.array([1, 2])
    assert [10, 20, 30][k[1]] == 30 and list(range(k[1])) == [0, 1] and [1, 2].index(k[1]) == 1 and "ab" * k[1] == "abab"
    assert f"{x[0]:.2f} {k[0]:03d} {x.sum():>5}" == "0.50 001   2.0" and "%.1f" % x[1] == "1.5"  # noqa: UP031
    assert math.floor(x[1]) == 1 and math.sqrt(x[0] + x[0]) == 1 and math.fsum(x) == 2 and round(x[1], 0) == 2
    assert struct.pack("<di", x[0], k[0]) == struct.pack("<di", 0.5, 1)
    assert statistics.fmean(x) == 1 and sorted(range(2), key=lambda i: -x[i]) == [1, 0]
    assert random.Random(1).choice(x) in (0.5, 1.5) and {1: "one"}[k[0]] == "one"
    assert copy.deepcopy({"a": x})["a"].tolist() == pickle.loads(pickle.dumps(x)).tolist() == [0.5, 1.5]


def test_json_writes_elements_as_numbers(xp):
    x = xp.array([0.5, 1.5])
    assert json.dumps({"mean": x.mean(), "n": xp.array([2]).sum(), "any": (x > 1).any()}) == '{"mean": 1.0, "n": 2, "any": true}'
    with pytest.raises(TypeError, match=r"tolist\(\)"):
        json.dumps(x)
    with pytest.raises(TypeError, match="object"):
        json.dumps(object())


def test_other_array_types_keep_their_say(xp):
    class Mine:
        __array_priority__ = 1000.0
        __array_ufunc__ = None

        def __radd__(self, other):
            return "mine"

    assert xp.arange(3) + Mine() == "mine"
    with pytest.raises(TypeError):
        xp.arange(3) + object()


def test_array_namespace(xp):
    assert xp.arange(3).__array_namespace__() is xp


def test_moving_between_devices(xp):
    x = xp.arange(5.0) * 2
    y = x.to_device("cpu")
    assert y.device == "cpu" and y.tolist() == [0, 2, 4, 6, 8]
    assert xp.asarray(x, device="cpu").device == "cpu"
    assert x.to(dtype=xp.float32).dtype == np.float32 and x.cpu().device == "cpu"


def test_operands_on_two_devices_are_an_error(xp):
    if xp.default_device().type == "cpu":
        pytest.skip("one device only")
    with pytest.raises((ValueError, RuntimeError)):
        xp.arange(3.0) + xp.arange(3.0, device="cpu")


def test_numpy_array_on_the_left_in_place(xp):
    n = same = np.zeros(3)
    n += xp.arange(3.0)
    assert n is same and type(n) is np.ndarray and n.tolist() == [0, 1, 2]


def test_frombuffer_and_bytes(xp):
    data = np.arange(5, dtype=np.int16).tobytes()
    assert_same(xp.frombuffer(data, xp.int16), np.arange(5, dtype=np.int16))
    assert_same(xp.frombuffer(data, xp.int16, count=2, offset=2), np.array([1, 2], np.int16))
    with pytest.raises(ValueError):
        xp.frombuffer(data, xp.int32)


def test_the_module_of_arrays_and_what_was_called_before(xp):
    assert bc.get_array_module(xp.zeros(1), np.zeros(1)) is bc and bc.get_array_module(xp.asarray(2.0)) is bc
    assert bc.get_array_module() is np and bc.get_array_module(np.zeros(1), None, [1]) is np
    assert bc.is_available() is (bc.device_count("cuda") > 0)
    calls = []

    @bc.memoize(for_each_device=True)
    def made(n, scale=1):
        """What it does."""
        calls.append(n)
        return bc.arange(n) * scale

    assert made.__name__ == "made" and made.__doc__ == "What it does."
    assert made(3) is made(3) and made(3, scale=2) is not made(3)
    assert made(3, scale=2).tolist() == [0, 2, 4] and calls == [3, 3]
    with bc.device("null"):
        made(3)
    assert calls == [3, 3, 3]
    with pytest.raises(TypeError, match="unhashable"):
        made([3])
    bc.clear_memo()
    made(3)
    assert len(calls) == 4


def test_array_interface_and_ctypes_are_numpys(xp, device):
    import ctypes

    a = xp.arange(12.0).reshape(3, 4)[:, ::2]
    if device != "cpu":
        for name in ("__array_interface__", "ctypes"):
            assert not hasattr(a, name)
        return
    n = np.asarray(a)
    assert a.__array_interface__ == n.__array_interface__
    assert (a.ctypes.data, list(a.ctypes.shape), list(a.ctypes.strides)) == (n.ctypes.data, [3, 2], [32, 16])

    class Holder:
        __array_interface__ = a.__array_interface__

    np.asarray(Holder())[0, 1] = 77
    assert a[0, 1] == 77
    b = xp.arange(4.0)
    pointer = b.ctypes.data_as(ctypes.POINTER(ctypes.c_double))
    pointer[1] = 9
    b += 1
    assert b[1] == 10
    assert pointer[2] == 3
    ctypes.memset(b.ctypes, 0, 16)
    assert b.tolist() == [0, 0, 3, 4]
    assert not hasattr(xp.arange(3, dtype="bfloat16"), "ctypes")


ALIASES = {
    "shifted": lambda m, a, b: a.__setitem__(slice(1, None), b[:-1]),
    "shifted back": lambda m, a, b: a.__setitem__(slice(None, -1), b[1:]),
    "reversed": lambda m, a, b: a.__setitem__(slice(None), b[::-1]),
    "converted": lambda m, a, b: a.__setitem__(slice(2, None), b[:-2].astype("f8")),
    "computed": lambda m, a, b: a.__setitem__(slice(1, None), b[:-1] * 2 + a[1:]),
    "in place": lambda m, a, b: a.__iadd__(b[::-1]),
    "out": lambda m, a, b: m.multiply(b[:-1], 2, out=a[1:]),
    "chosen": lambda m, a, b: a.__setitem__(slice(1, None), m.where(b[:-1] > 5, b[:-1], 0)),
    "spread": lambda m, a, b: a.__setitem__(m.asarray(np.arange(a.size)[::-2]), b[: a.size // 2]),
    "rows": lambda m, a, b: a.reshape(-1, 8)[:, 1:].__setitem__(slice(None), b.reshape(-1, 8)[:, :-1]),
}


@cpu_only
@pytest.mark.parametrize("size", [8, 16384])
@pytest.mark.parametrize("case", ALIASES)
def test_two_imports_of_one_array_are_read_before_they_are_written(xp, device, mode, case, size):
    """Each is an array of its own to the engine, but they have memory in common."""
    memory = np.arange(size, dtype=np.float32)
    expected = memory.copy()
    ALIASES[case](np, expected, memory.copy())
    ALIASES[case](bc, bc.from_dlpack(memory), bc.from_dlpack(memory))
    bc.flush()
    assert_same(memory, expected)


@cpu_only
def test_a_plan_for_separate_imports_is_not_used_for_overlapping_ones(xp, device):
    memory = np.arange(100, dtype=np.float32)
    for at in (50, 1, 49, 2, 0):
        expected = memory.copy()
        expected[:50] = memory[at : at + 50].copy()
        bc.from_dlpack(memory[:50])[:] = bc.from_dlpack(memory[at : at + 50])
        bc.flush()
        assert_same(memory, expected)
        expected = memory.copy()
        expected[at : at + 50] = memory[:50].copy()
        bc.from_dlpack(memory[at : at + 50])[:] = bc.from_dlpack(memory[:50])
        bc.flush()
        assert_same(memory, expected)


@pytest.mark.parametrize("order", ["C", "F"])
def test_pickles_hold_bytes_that_are_checked(xp, order):
    n = np.asarray(np.arange(6.0).reshape(2, 3), order=order)
    a = xp.array(n)
    text = pickle.dumps(a)
    assert b"numpy" not in text  # whose own __setstate__ trusts what it reads
    back = pickle.loads(text)
    assert_same(back, n)
    assert back.flags.f_contiguous == n.flags.f_contiguous
    rebuild, (data, dtype, shape, kept) = a.__reduce__()
    damaged = [
        (data[:-1], dtype, shape, kept),
        (data, "float32", shape, kept),
        (data, "record", shape, kept),
        (data, dtype, (2, 4), kept),
        (data, dtype, (2**40, 2**40), kept),
        (data, dtype, (-2, -3), kept),
        (data, dtype, shape, "X"),
        (n, dtype, shape, kept),
    ]
    for wrong in damaged:
        with pytest.raises((ValueError, TypeError)):
            rebuild(*wrong)


def test_corrupt_pickles_raise(device):
    """In a process of its own, which must end well."""
    program = """
        import pickle, random
        import numpy as np, broadcloth as bc
        rng = random.Random(5)
        texts = [pickle.dumps(a, p) for p in (2, 4, 5) for a in (bc.arange(7), bc.ones((3, 4), "f4"), bc.zeros((2, 0)), bc.array([True]))]
        for _ in range(1500):
            text = bytearray(rng.choice(texts))
            for _ in range(rng.randint(1, 4)):
                text[rng.randrange(len(text))] = rng.randrange(256)
            try:
                made = pickle.loads(bytes(text))
            except BaseException:
                continue
            if isinstance(made, bc.ndarray):
                (made + 1).tolist()
        """
    run_python(textwrap.dedent(program))


def test_as_strided_reads_the_hosts_copy_with_the_strides_of_the_view(xp):
    a = np.arange(400.0).reshape(20, 20)
    x = xp.asarray(a)
    for view, expected in [(x[1:, :-1], a[1:, :-1]), (x[:, ::2], a[:, ::2]), (x[2:9, 3].T, a[2:9, 3]), (x[::-1, 1:], a[::-1, 1:])]:
        copy = np.array(view)
        np.testing.assert_array_equal(copy, expected)
        if min(view.strides) > 0 and np.prod(view.shape) > 10:
            assert np.asarray(view).strides == view.strides == expected.strides
    x = x[1:, :-1]
    squares = np.lib.stride_tricks.as_strided(x, (9, 9, 2, 2), (2 * x.strides[0], 2 * x.strides[1], *x.strides))
    np.testing.assert_array_equal(squares, a[1:19, :18].reshape(9, 2, 9, 2).transpose(0, 2, 1, 3))


@pytest.mark.parametrize("size", [4, 100_000])
@pytest.mark.parametrize("shown", ["asarray", "memoryview", "from_dlpack"])
def test_what_was_recorded_reads_elements_from_before_the_memory_was_shown(shown, size):
    """Another library writes to memory of ours: ops that were recorded earlier have read it."""
    with bc.device("cpu"):
        a = bc.arange(float(size)) + 1
        bc.synchronize()
        b = a * 2 + 1
        show = {"asarray": np.asarray, "memoryview": memoryview, "from_dlpack": np.from_dlpack}[shown]
        view = show(a)
        view[0] = 100.0
        assert float(a[0]) == 100.0
        assert float(b[0]) == 3.0


def test_memory_with_gaps_is_refused_as_by_numpy():
    for a in (np.arange(8)[::2], bc.arange(8, device="cpu")[::2]):
        for take in (io.BytesIO().write, hashlib.md5):
            with pytest.raises(ValueError, match="not C-contiguous"):
                take(a)


def test_masks_are_not_lost_in_operators_and_ufuncs():
    m = np.ma.array([1.0, 4.0, 9.0], mask=[False, True, False])
    b, host = bc.array([1.0, 2.0, 3.0]), np.array([1.0, 2.0, 3.0])
    for ours, theirs in (
        (lambda: b + m, lambda: host + m),
        (lambda: m * b, lambda: m * host),
        (lambda: b**m, lambda: host**m),
        (lambda: b < m, lambda: host < m),
        (lambda: bc.sqrt(m), lambda: np.sqrt(m)),
        (lambda: bc.add(b, m), lambda: np.add(host, m)),
        (lambda: np.add(b, m), lambda: np.add(host, m)),
    ):
        got, wanted = ours(), theirs()
        assert isinstance(got, np.ma.MaskedArray) and got.tolist() == wanted.tolist()
    kept = bc.array([1.0, 2.0, 3.0])
    kept += np.asarray(m)
    assert kept.tolist() == [2.0, 6.0, 12.0]
    assert isinstance(b + np.matrix([[1.0, 2.0, 3.0]]), bc.ndarray)
