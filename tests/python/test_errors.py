"""Bad input: NumPy's exception types, the call, what was expected and what came; nothing half written, nothing leaked."""

from __future__ import annotations

import gc
import warnings

import numpy as np
import pytest

from support import assert_same, device_of, host

AxisError = np.exceptions.AxisError

# name: (call on a (2, 3) float array, exception, parts of the message)
CASES = {
    "shapes that do not broadcast": (lambda x, xp: x + xp.ones(4), ValueError, ["(2, 3)", "(4,)"]),
    "in-place broadcast": (lambda x, xp: x.__iadd__(xp.ones((5, 2, 3))), ValueError, ["(2, 3)"]),
    "reshape": (lambda x, xp: x.reshape(4, 2), ValueError, ["6", "(4, 2)"]),
    "axis of a sum": (lambda x, xp: x.sum(axis=2), AxisError, ["axis 2", "dimension 2"]),
    "axis twice": (lambda x, xp: x.sum(axis=(0, 0)), ValueError, []),
    "axis of a float": (lambda x, xp: x.sum(axis=0.5), TypeError, []),
    "concatenate axis": (lambda x, xp: xp.concatenate([x, x], axis=3), AxisError, ["3"]),
    "concatenate shapes": (lambda x, xp: xp.concatenate([x, xp.ones((2, 4))]), ValueError, []),
    "matmul": (lambda x, xp: x @ x, ValueError, ["matmul"]),
    "matmul of scalars": (lambda x, xp: xp.matmul(x, 3.0), ValueError, ["matmul"]),
    "dot": (lambda x, xp: xp.dot(x, x), ValueError, ["(2,3)"]),
    "index": (lambda x, xp: x[2], IndexError, ["index 2", "size 2"]),
    "too many indices": (lambda x, xp: x[0, 0, 0], IndexError, ["too many indices"]),
    "float index": (lambda x, xp: x[1.0], IndexError, ["integers"]),
    "boolean index": (lambda x, xp: x[xp.array([True, False, True])], IndexError, ["boolean"]),
    "assign a shape": (lambda x, xp: x.__setitem__(0, [1, 2]), ValueError, ["broadcast"]),
    "bits of floats": (lambda x, xp: x & 1, TypeError, ["bitwise_and"]),
    "invert floats": (lambda x, xp: ~x, TypeError, ["invert"]),
    "shift floats": (lambda x, xp: x << 1, TypeError, ["left_shift"]),
    "subtract bools": (lambda x, xp: (x > 1) - (x > 2), TypeError, ["subtract"]),
    "negative bools": (lambda x, xp: -(x > 1), TypeError, ["negative"]),
    "floor of complex": (lambda x, xp: xp.floor(x * 1j), TypeError, ["floor"]),
    "gcd of floats": (lambda x, xp: xp.gcd(x, x), TypeError, ["gcd"]),
    "cast to int in place": (lambda x, xp: xp.arange(3).__iadd__(0.5), TypeError, ["add", "float64", "int64", "same_kind"]),
    "cast with safe": (lambda x, xp: x.astype(xp.int8, casting="safe"), TypeError, ["float64", "int8", "safe"]),
    "unknown casting": (lambda x, xp: x.astype(xp.int8, casting="sure"), ValueError, ["sure"]),
    "unknown dtype": (lambda x, xp: x.astype("float128x"), TypeError, ["float128x"]),
    "unsupported dtype": (lambda x, xp: xp.zeros(2, object), TypeError, ["object"]),
    "out of another shape": (lambda x, xp: xp.add(x, 1, out=xp.zeros(3)), ValueError, ["(2, 3)"]),
    "out of another library": (lambda x, xp: xp.add(x, 1, out=np.zeros((2, 3))), TypeError, []),
    "out is no array": (lambda x, xp: xp.add(x, 1, out=3), TypeError, []),
    "one operand too few": (lambda x, xp: xp.add(x), TypeError, ["add"]),
    "one operand too many": (lambda x, xp: xp.sin(x, x, x), TypeError, ["sin"]),
    "unknown keyword": (lambda x, xp: xp.add(x, 1, axis=0), TypeError, ["axis"]),
    "text operand": (lambda x, xp: xp.add(x, "a"), TypeError, []),
    "max of nothing": (lambda x, xp: x[:0].max(), ValueError, ["max", "identity"]),
    "argmax of nothing": (lambda x, xp: x[:0].argmax(), ValueError, ["empty"]),
    "mean axis": (lambda x, xp: xp.mean(x, axis=-3), AxisError, ["-3"]),
    "squeeze": (lambda x, xp: x.squeeze(0), ValueError, ["squeeze"]),
    "transpose": (lambda x, xp: x.transpose(0, 0), ValueError, []),
    "swapaxes": (lambda x, xp: x.swapaxes(0, 5), AxisError, ["5"]),
    "expand_dims": (lambda x, xp: xp.expand_dims(x, 7), AxisError, ["7"]),
    "broadcast_to": (lambda x, xp: xp.broadcast_to(x, (3, 3)), ValueError, ["(2, 3)", "(3, 3)"]),
    "truth value": (lambda x, xp: bool(x), ValueError, ["truth value", "any()", "all()"]),
    "float of many": (lambda x, xp: float(x), (TypeError, ValueError), []),
    "item of many": (lambda x, xp: x.item(), ValueError, ["size 1"]),
    "item index": (lambda x, xp: x.item(99), IndexError, []),
    "hash": (lambda x, xp: hash(x), TypeError, ["unhashable"]),
    "len of 0-d": (lambda x, xp: len(xp.array(1)), TypeError, ["unsized"]),
    "iterate 0-d": (lambda x, xp: list(xp.array(1)), TypeError, ["0-d"]),
    "take": (lambda x, xp: x.take([9], mode="nonsense"), ValueError, []),
    "split": (lambda x, xp: xp.split(x, 5), ValueError, ["equal division"]),
    "stack": (lambda x, xp: xp.stack([x, x[0]]), ValueError, ["same shape"]),
    "clip": (lambda x, xp: xp.clip(x, 1), TypeError, ["a_max"]),
    "arange step": (lambda x, xp: xp.arange(1, 2, 0), ZeroDivisionError, []),
    "arange float step": (lambda x, xp: xp.arange(1, 0, 0.0), ZeroDivisionError, []),
    "arange nothing": (lambda x, xp: xp.arange(), TypeError, []),
    "negative extent": (lambda x, xp: xp.zeros(-1), ValueError, ["negative"]),
    "ragged list": (lambda x, xp: xp.array([[1, 2], [3]]), ValueError, ["inhomogeneous"]),
    "r_ overflow": (lambda x, xp: xp.r_[xp.arange(5, dtype=xp.int8), 255], OverflowError, ["255", "int8"]),
    "integer powers": (lambda x, xp: xp.arange(3) ** -1, ValueError, ["negative integer powers"]),
    "overflow": (lambda x, xp: xp.ones(2, xp.int8) + 1000, OverflowError, ["1000", "int8"]),
    "view": (lambda x, xp: x[:, ::2].view(xp.complex128), ValueError, []),
    "where of two": (lambda x, xp: xp.where(x > 1, x), ValueError, []),
    "reduce of a unary": (lambda x, xp: xp.sin.reduce(x), ValueError, ["reduce", "binary"]),
    "unknown attribute": (lambda x, xp: x.nonsense, AttributeError, ["nonsense"]),
    "linspace": (lambda x, xp: xp.linspace(0, 1, -1), ValueError, ["-1"]),
    "norm": (lambda x, xp: xp.linalg.norm(x, 7), ValueError, ["norm"]),
    "put": (lambda x, xp: xp.put([1], 0, 1), TypeError, []),
    "device": (lambda x, xp: xp.zeros(1, device="tpu"), ValueError, ["tpu"]),
}


@pytest.mark.parametrize("name", CASES)
def test_bad_input(xp, name):
    function, kind, parts = CASES[name]
    n = np.arange(6.0).reshape(2, 3)
    x = xp.asarray(n)
    with pytest.raises(kind) as caught:
        host(function(x, xp))
    for part in parts:
        assert part in str(caught.value), f"{part!r} is not in {str(caught.value)!r}"
    assert_same(x, n, "the operand changed")


NUMPY_AGREES = [
    n
    for n in CASES
    if n not in ("device", "out of another library", "axis of a float", "unsupported dtype", "text operand", "hash", "norm", "view")
]


@pytest.mark.parametrize("name", NUMPY_AGREES)
def test_numpy_raises_the_same_type(xp, name):
    function, kind, _ = CASES[name]
    with pytest.raises(kind):
        function(np.arange(6.0).reshape(2, 3), np)


def test_a_thousand_failing_calls_leak_nothing(xp):
    """The memory pool, and the count of objects, are as they were."""
    x = xp.arange(6.0).reshape(2, 3)
    functions = [CASES[n][0] for n in CASES]

    def round_of_failures(count):
        for k in range(count):
            try:
                host(functions[k % len(functions)](x, xp))
            except Exception:
                pass
        xp.synchronize()
        gc.collect()

    round_of_failures(2 * len(functions))
    before, objects = xp.memory_stats(), len(gc.get_objects())
    round_of_failures(1000)
    after = xp.memory_stats()
    for key in before:
        if any(word in key for word in ("used", "in_use", "live", "active")) and "peak" not in key and "max" not in key:
            assert after[key] == before[key], f"{key}: {before[key]} before, {after[key]} after"
    assert len(gc.get_objects()) - objects < 200
    assert_same(x, np.arange(6.0).reshape(2, 3))


def test_a_failed_operation_does_not_hurt_what_waits(xp):
    x = xp.arange(4.0)
    y = x * 2
    with pytest.raises(ValueError):
        y + xp.ones(3)
    y += 1
    with pytest.raises(TypeError):
        y <<= 1
    assert_same(y, np.arange(4.0) * 2 + 1)


def only_on_host(xp):
    if device_of(xp) != "cpu":
        pytest.skip("there such an error comes later")


def test_an_index_error_that_comes_late_leaves_arrays_alone(xp):
    """Indices that are not computed yet are checked when they are used, with all else that waits."""
    only_on_host(xp)
    a, before = xp.arange(6.0), xp.arange(6.0) + 1
    index = xp.arange(10)[7:8] + 0
    a[index] = 3
    doubled, after = a * 2, xp.ones(4) + 2
    with pytest.raises(IndexError, match="index 7"):
        a.tolist()
    assert a.tolist() == [0, 1, 2, 3, 4, 5], "as NumPy's, which checks before it writes"
    assert doubled.tolist() == [0, 2, 4, 6, 8, 10]
    assert before.tolist() == [1, 2, 3, 4, 5, 6] and after.tolist() == [3] * 4
    a += 1
    a[index - 3] = -1
    assert a.tolist() == [1, 2, 3, 4, -1, 6]


def test_what_a_late_index_error_kept_from_being_computed_says_so(xp):
    only_on_host(xp)
    x = xp.arange(6.0)
    taken = x[xp.arange(10)[7:8] + 0]
    chain, apart = xp.sqrt(taken + 1), x * 3 + 1
    with pytest.raises(IndexError):
        chain.tolist()
    assert apart.tolist() == [1, 4, 7, 10, 13, 16]
    for use in (
        taken.tolist,
        lambda: taken + 1,
        lambda: taken.sum().item(),
        lambda: taken.__iadd__(1),
        chain.tolist,
        lambda: x.__setitem__([0], taken),
    ):
        with pytest.raises(RuntimeError, match="lost in an error"):
            use()
    taken[:] = 4  # a new value
    assert taken.tolist() == [4] and x.tolist() == [0, 1, 2, 3, 4, 5]


def test_a_matrix_without_an_inverse_spoils_nothing_else(xp):
    only_on_host(xp)
    good, singular = xp.eye(2) * 2, xp.ones((2, 2)) + 0
    first, other = xp.linalg.inv(good), good + singular
    with pytest.raises(np.linalg.LinAlgError):
        xp.linalg.inv(singular).tolist()
    last = xp.linalg.inv(good + 0) * 4
    assert first.tolist() == [[0.5, 0], [0, 0.5]] and last.tolist() == [[2, 0], [0, 2]]
    assert other.tolist() == [[3, 1], [1, 3]] and singular.tolist() == [[1, 1], [1, 1]]


def test_more_memory_than_there_is(xp):
    with pytest.raises(MemoryError) as caught:
        x = xp.zeros(1 << 46, xp.uint8)
        x += 1
        host(x[:1])
        xp.synchronize()
    assert str(caught.value)
    del caught
    assert_same(xp.arange(3) + 1, np.arange(3) + 1)


def test_exceptions_have_numpys_types(xp):
    assert issubclass(xp.exceptions.UFuncTypeError, TypeError)
    assert xp.exceptions.AxisError is np.exceptions.AxisError
    assert xp.linalg.LinAlgError is np.linalg.LinAlgError


WARNED = {
    "mean of nothing": lambda x, xp: x[:0].mean(),
    "mean of nothing, as a function": lambda x, xp: xp.mean(x[:0]),
    "spread of nothing": lambda x, xp: xp.std(x[:0], axis=0),
    "mean of nothing but NaN": lambda x, xp: float(xp.nanmean(x * xp.nan)),
    "percentile of nothing": lambda x, xp: xp.nanpercentile(x[:0], 50),
    "median of nothing": lambda x, xp: xp.nanmedian(x[:0]),
    "weighted covariance of one observation": lambda x, xp: xp.cov(x, fweights=[1, 0, 0]),
    "complex as real": lambda x, xp: (x * 1j).astype("f4"),
    "complex into real": lambda x, xp: x.__setitem__(slice(None), x * 1j),
}


@pytest.mark.parametrize("name", WARNED)
def test_warnings_name_the_line_of_the_program(xp, name):
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        WARNED[name](xp.ones((2, 3)), xp)
    assert seen and {w.filename for w in seen} == {__file__}, [(w.filename, str(w.message)) for w in seen]
